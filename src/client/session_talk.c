/* SPDX-License-Identifier: Apache-2.0 */
#include "session_talk.h"

#include "array.h"
#include "clock.h"
#include "config.h"
#include "fd.h"
#include "message_box.h"
#include "plan_read.h"
#include "process.h"
#include "session_names.h"
#include "str.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	TALK_MS = 2000,        /* for an answer */
	TALK_PAUSE_MS = 10000, /* a process may be in a long write */
	TALK_END_MS = 700000,  /* the command has a moment, and its record has to end */
	TALK_TENDER_MS = 3000, /* for it to put the changes in order; its terminal may be frozen */
	TALK_AGAIN_MS = 15000, /* for others who change the rules at the same time */
	TALK_MOMENT_MS = 32,
	TALK_DEAF_TRIES = 2,
	TALK_SESSIONS_MAX = 4096,
	TALK_AT_ONCE = 64, /* sessions that are asked before the first answer is read */
};

/* An answer on its way from the channel's table to who asked. */
struct talk {
	struct session *session;
	struct message_changed changed;
	struct message_counted counted;
	struct error failure; /* what the keeper says went wrong */
	int status;           /* of the session's command */
	int ms;               /* to wait; 0: TALK_MS; -1: for ever */
};

void session_fini(struct session *s)
{
	fd_close(&s->fd);
	arena_fini(&s->arena);
}

void session_list_fini(struct session_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		session_fini(&l->items[i]);
	free(l->items);
	*l = (struct session_list){NULL, 0};
}

/* --- what comes back ------------------------------------------------------------------ */

static int talk_read_plan(struct session *s, int fd, struct error *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > PLAN_BYTES_MAX)
		return error_set(e, -EFBIG, "the plan has an impossible size");
	uint8_t *bytes = arena_alloc(&s->arena, (size_t)st.st_size);

	if (!bytes)
		return error_sys(e, -ENOMEM, "reading the session's plan");
	if (pread(fd, bytes, (size_t)st.st_size, 0) != st.st_size)
		return error_set(e, -EIO, "the session's plan is cut");
	return plan_decode((struct span){bytes, (size_t)st.st_size}, &s->plan, &s->arena, e);
}

/* The texts of a state last as long as the session. */
static void talk_take_texts(struct session *s)
{
	s->state.name = s->name;
	(void)snprintf(s->why, sizeof(s->why), "%s", s->state.why);
	s->state.why = "";
}

static int talk_on_state(void *context, struct channel_packet *packet, struct error *e)
{
	struct talk *t = context;
	struct session *s = t->session;
	int r = message_decode(packet->body, &message_session_schema, &s->state, NULL, e);

	if (r < 0)
		s->state.why = "";
	talk_take_texts(s);
	return r < 0 ? r : talk_read_plan(s, packet->fds[0], e);
}

static int talk_on_changed(void *context, struct channel_packet *packet, struct error *e)
{
	struct talk *t = context;
	int r = message_decode(packet->body, &message_changed_schema, &t->changed, NULL, e);

	if (r == 0 && t->changed.failure != 0 && t->changed.failure < 4096)
		(void)error_set(&t->failure, -(int)t->changed.failure, "%s", t->changed.text);
	t->changed.text = "";
	return r;
}

static int talk_on_counted(void *context, struct channel_packet *packet, struct error *e)
{
	struct talk *t = context;
	int r = message_decode(packet->body, &message_counted_schema, &t->counted, NULL, e);

	if (r < 0)
		return r;
	t->counted.reason = arena_str(&t->session->arena, t->counted.reason);
	return t->counted.reason ? 0 : error_sys(e, -ENOMEM, "reading the session's answer");
}

static int talk_on_failed(void *context, struct channel_packet *packet, struct error *e)
{
	struct talk *t = context;

	return message_decode_failed(packet->body, &t->failure, e);
}

static int talk_on_paused(void *context, struct channel_packet *packet, struct error *e)
{
	struct message_paused m;

	(void)context;
	return message_decode(packet->body, &message_paused_schema, &m, NULL, e);
}

static int talk_on_exited(void *context, struct channel_packet *packet, struct error *e)
{
	struct talk *t = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	t->status = r < 0 ? 0 : (int)m.value;
	return r;
}

static const struct channel_rule talk_rules[] = {
	{MESSAGE_STATE, "STATE", 1024, 1, 1, 1u << 0, talk_on_state},
	{MESSAGE_CHANGED, "CHANGED", 1024, 0, 0, 1u << 0, talk_on_changed},
	{MESSAGE_COUNTED, "COUNTED", 1024, 0, 0, 1u << 0, talk_on_counted},
	{MESSAGE_PAUSED, "PAUSED", 2048, 0, 0, 1u << 0, talk_on_paused},
	{MESSAGE_EXITED, "EXITED", 16, 0, 0, 1u << 0, talk_on_exited},
	{MESSAGE_FAILED, "FAILED", 4096, 0, 0, 1u << 0, talk_on_failed},
};

/* What came of a message that was sent with r: the one that comes back. */
static int talk_answer(struct talk *t, int r, struct error *e)
{
	struct channel channel = {.fd = t->session->fd,
				  .rules = talk_rules,
				  .rule_count = BAWN_ARRAY_SIZE(talk_rules),
				  .context = t};
	struct pollfd answer = {.fd = channel.fd, .events = POLLIN};

	if (r == 0)
		r = channel_receive(&channel, e);
	else if (r == -EAGAIN)
		r = -ETIME;
	if (r == -EAGAIN)
		r = poll(&answer, 1, t->ms ? t->ms : TALK_MS) <= 0 ? -ETIME
								   : channel_receive(&channel, e);
	if (r == 0 || r == -EPIPE || r == -ECONNRESET)
		return error_set(e, -ECONNRESET, "the session %s has ended", t->session->shown);
	if (r == -ETIME || r == -EAGAIN)
		return error_set(e, -ETIME, "the session %s does not answer", t->session->shown);
	if (r < 0)
		return e->code ? r : error_sys(e, r, "asking the session %s", t->session->shown);
	if (t->failure.code != 0) {
		*e = t->failure;
		return e->code;
	}
	return 0;
}

static int talk_bytes(struct talk *t, enum message_type type, struct span bytes, struct error *e)
{
	return talk_answer(t, channel_send(t->session->fd, (uint32_t)type, bytes, NULL, 0), e);
}

/* One message out, one back. */
static int talk_once(struct talk *t, enum message_type type, const struct schema *s,
		     const void *object, const int *plan, struct error *e)
{
	/* What all of the user's programs have on their way is compared with our own limit. */
	if (plan)
		process_raise_files();
	if (!s)
		return talk_bytes(t, type, (struct span){NULL, 0}, e);
	return talk_answer(t, message_send(t->session->fd, type, s, object, plan, plan ? 1 : 0), e);
}

/* Asks what it is now; 0 or -errno of the question. */
static int talk_ask(struct session *s)
{
	const struct message_hello hello = {MESSAGE_CONTROL_VERSION, BAWN_VERSION};

	arena_fini(&s->arena);
	s->arena = ARENA_INIT(2 * (size_t)PLAN_ARENA_MAX);
	return message_send(s->fd, MESSAGE_STATUS, &message_hello_schema, &hello, NULL, 0);
}

/* What it is now. */
static int session_ask(struct session *s, struct error *e)
{
	struct talk t = {.session = s, .failure = ERROR_INIT};

	return talk_answer(&t, talk_ask(s), e);
}

int session_change(struct session *s, const struct plan *plan, const struct message_change *what,
		   uint64_t *ret_ended, struct error *e)
{
	struct talk t = {.session = s, .failure = ERROR_INIT};
	_cleanup_fd_ int fd = plan_seal(plan, e);

	if (fd < 0)
		return fd;
	int r = talk_once(&t, MESSAGE_CHANGE, &message_change_schema, what, &fd, e);

	if (r == 0)
		*ret_ended = t.changed.ended;
	return r;
}

int session_again(struct session *s, int64_t *began, struct error *e)
{
	int64_t now = clock_ms(CLOCK_BOOTTIME);
	uint8_t dice = 0;

	if (*began == 0)
		*began = now;
	if (now - *began > TALK_AGAIN_MS)
		return error_set(e, -EAGAIN, "the rules of the session %s never stand still",
				 s->name);
	/* A random wait, so that several commands do not ask again at the same time. */
	if (getrandom(&dice, sizeof(dice), 0) < 0)
		dice = 0;
	const struct timespec moment = {.tv_nsec = (1 + dice % TALK_MOMENT_MS) * 1000000L};

	(void)nanosleep(&moment, NULL);
	*e = ERROR_INIT;
	return session_ask(s, e);
}

int session_count(struct session *s, const char *host, uint16_t port,
		  struct message_counted *ret_counted, struct error *e)
{
	struct talk t = {.session = s, .failure = ERROR_INIT};
	struct message_count m = {.host = host, .port = port};
	int r = talk_once(&t, MESSAGE_COUNT, &message_count_schema, &m, NULL, e);

	if (r == 0)
		*ret_counted = t.counted;
	return r;
}

int session_pause(struct session *s, bool pause, struct error *e)
{
	struct talk t = {.session = s, .failure = ERROR_INIT, .ms = TALK_PAUSE_MS};
	const struct message_job m = {.value = pause};

	return talk_once(&t, MESSAGE_PAUSE, &message_job_schema, &m, NULL, e);
}

/* The bawn that tends a session puts its changes in order after it: only then is all of it over. */
static int talk_tender(const struct session *s)
{
	return s->state.pid > 0 && s->state.pid <= INT_MAX
		       ? (int)syscall(SYS_pidfd_open, (pid_t)s->state.pid, 0)
		       : -1;
}

static int talk_until_end(struct talk *t, enum message_type type, const struct schema *s,
			  const void *object, int *ret_status, struct error *e)
{
	_cleanup_fd_ int tender = talk_tender(t->session);
	struct pollfd end = {.fd = tender, .events = POLLIN};
	int r = talk_once(t, type, s, object, NULL, e);

	*ret_status = t->status;
	if (r == 0 && tender >= 0)
		(void)poll(&end, 1, TALK_TENDER_MS);
	return r;
}

int session_end(struct session *s, bool now, int *ret_status, struct error *e)
{
	struct talk t = {.session = s, .failure = ERROR_INIT, .ms = TALK_END_MS};
	const struct message_job m = {.value = now};

	return talk_until_end(&t, MESSAGE_END, &message_job_schema, &m, ret_status, e);
}

int session_wait(struct session *s, int *ret_status, struct error *e)
{
	struct talk t = {.session = s, .failure = ERROR_INIT, .ms = -1};

	return talk_until_end(&t, MESSAGE_WAIT, NULL, NULL, ret_status, e);
}

void session_wait_tended(const struct session_places *places, const char *name)
{
	const struct timespec moment = {.tv_nsec = TALK_MOMENT_MS * 1000000L};

	for (int64_t until = clock_ms(CLOCK_BOOTTIME) + TALK_TENDER_MS;
	     clock_ms(CLOCK_BOOTTIME) < until && session_store_lives(places, name);)
		(void)nanosleep(&moment, NULL);
}

int session_type(struct session *s, struct span bytes, struct error *e)
{
	int r = 0;

	for (size_t at = 0; r == 0 && at < bytes.len; at += MESSAGE_DATA_MAX) {
		struct talk t = {.session = s, .failure = ERROR_INIT, .ms = TALK_MS};
		size_t len = bytes.len - at < MESSAGE_DATA_MAX ? bytes.len - at : MESSAGE_DATA_MAX;

		r = talk_bytes(&t, MESSAGE_INPUT, (struct span){bytes.ptr + at, len}, e);
	}
	return r;
}

int session_hold(struct session *s, bool hold, struct error *e)
{
	struct talk t = {.session = s, .failure = ERROR_INIT, .ms = TALK_PAUSE_MS};
	const struct message_job m = {.value = hold};

	return talk_once(&t, MESSAGE_HOLD, &message_job_schema, &m, NULL, e);
}

/* --- finding -------------------------------------------------------------------------- */

/* One that hung up before it answered, and goes on taking callers, has not ended: it does not understand
 * us.  Bawns before the first version did so. */
static bool talk_is_deaf(const struct session_places *places, struct session *s)
{
	struct error ignored = ERROR_INIT;
	int r = -ECONNRESET;

	for (int i = 0; i < TALK_DEAF_TRIES && r == -ECONNRESET; i++) {
		const struct timespec moment = {.tv_nsec = TALK_MOMENT_MS * 1000000L};

		fd_close(&s->fd);
		(void)nanosleep(&moment, NULL);
		s->fd = session_store_connect(places, s->name);
		r = s->fd < 0 ? s->fd : session_ask(s, &ignored);
	}
	return r == -ECONNRESET;
}

static void talk_name(struct session *s, const char *name, const char *label)
{
	(void)snprintf(s->name, sizeof(s->name), "%.*s", SESSION_NAME_MAX - 1, name);
	(void)snprintf(s->label, sizeof(s->label), "%s", label);
	(void)snprintf(s->shown, sizeof(s->shown), "%s", label[0] ? label : s->name);
}

/* Asks a session; fd: the connection to it, or -errno.  talk_finish reads the answer. */
static void talk_begin(int fd, const char *name, const char *label, struct session *ret_session)
{
	struct session *s = ret_session;

	*s = (struct session){.fd = fd};
	talk_name(s, name, label);
	s->code = s->fd < 0 ? s->fd : talk_ask(s);
}

static int talk_finish(const struct session_places *places, struct session *s, struct error *e)
{
	struct talk t = {.session = s, .failure = ERROR_INIT};
	const char *name = s->name;

	if (s->fd == -ENOENT || s->fd == -ECONNREFUSED) {
		s->code = -ENOENT;
		s->fd = -1;
		return error_set(e, -ENOENT, "there is no session %s", name);
	}
	s->code = s->fd < 0 ? error_sys(e, s->fd, "reaching the session %s", name)
			    : talk_answer(&t, s->code, e);
	if (s->code == -ECONNRESET && talk_is_deaf(places, s))
		s->code = -EPROTO;
	if (s->code == -EPROTO) {
		(void)error_set(e, -EPROTO, "the session %s was started by another version of bawn",
				name);
		error_next(e, "Use that version, or end the session where it was started.");
	}
	if (s->code < 0)
		fd_close(&s->fd);
	return s->code;
}

static int talk_open(const struct session_places *places, const char *name,
		     struct session *ret_session, struct error *e)
{
	char label[SESSION_NAME_MAX];

	session_label_of(places->state, name, label);
	talk_begin(session_store_connect(places, name), name, label, ret_session);
	return talk_finish(places, ret_session, e);
}

void session_call_fini(struct session_call *c)
{
	free(c->names);
	*c = (struct session_call){NULL, 0};
}

static int talk_add_name(void *context, const char *name)
{
	struct session_call *c = context;

	if (c->count == TALK_SESSIONS_MAX)
		return 0;
	if (!ARRAY_GROW(c->names, c->count))
		return -ENOMEM;
	(void)snprintf(c->names[c->count++], SESSION_NAME_MAX, "%s", name);
	return 0;
}

static int talk_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

int session_call_get(const struct session_places *places, struct session_call *ret_call,
		     struct error *e)
{
	struct session_call call = {NULL, 0};
	int r = session_store_each(places, talk_add_name, &call, e);

	if (r < 0) {
		session_call_fini(&call);
		return r;
	}
	if (call.count > 0)
		qsort(call.names, call.count, SESSION_NAME_MAX, talk_compare);
	*ret_call = call;
	return 0;
}

/* Takes what its board says of a session whose box is there. */
static bool talk_glance(const struct session_reach *reach, const char *name, const char *label,
			struct session *s)
{
	struct session seen = {.fd = -1, .arena = ARENA_INIT(2 * (size_t)PLAN_ARENA_MAX)};
	uint8_t *page = arena_alloc(&seen.arena, BOARD_BYTES);
	ssize_t len = page ? session_store_read_board(reach, name, page) : -ENOMEM;

	/* When the keeper was killed, the box is gone as well. */
	if (len < 0 ||
	    board_read((struct span){page, (size_t)len}, &seen.state, &seen.plan, &seen.arena) <
		    0 ||
	    seen.state.box == 0 || seen.state.box > INT_MAX ||
	    (kill((pid_t)seen.state.box, 0) < 0 && errno == ESRCH)) {
		arena_fini(&seen.arena);
		return false;
	}
	*s = seen;
	talk_name(s, name, label);
	talk_take_texts(s);
	return true;
}

static int talk_list(const struct session_places *places, const struct session_call *call,
		     size_t from, size_t count, bool glance, struct session_list *ret_list,
		     struct error *e)
{
	_cleanup_session_labels_ struct session_labels labels = {NULL, 0};
	_cleanup_session_reach_ struct session_reach reach = {{-1, -1}};
	struct session_list list = {calloc(count + 1, sizeof(*list.items)), 0};

	if (!list.items)
		return error_sys(e, -ENOMEM, "looking for sessions");
	session_labels_get(places->state, &labels);
	session_store_reach(places, &reach);
	process_raise_files(); /* one for each session */
	for (size_t i = 0, asked = 0; i < count; i++) {
		struct error why = ERROR_INIT;
		struct session *s = &list.items[i];

		/* While one is read, others answer. */
		for (; asked < count && asked < i + TALK_AT_ONCE; asked++) {
			const char *name = call->names[from + asked];
			const char *label = session_labels_find(&labels, name);
			struct session *to = &list.items[asked];

			if (!glance || !talk_glance(&reach, name, label, to))
				talk_begin(session_store_connect_in(&reach, name), name, label, to);
		}
		/* A session that has just ended does not count. */
		int r = s->plan ? 0 : talk_finish(places, s, &why);

		if (r == -ENOENT || r == -ECONNRESET) {
			session_fini(s);
			continue;
		}
		if (list.count != i)
			list.items[list.count] = *s;
		list.items[list.count].state.name = list.items[list.count].name;
		list.count++;
	}
	*ret_list = list;
	return 0;
}

int session_list_get(const struct session_places *places, struct session_list *ret_list,
		     struct error *e)
{
	_cleanup_session_call_ struct session_call call = {NULL, 0};
	int r = session_call_get(places, &call, e);

	return r < 0 ? r : talk_list(places, &call, 0, call.count, false, ret_list, e);
}

int session_list_glance(const struct session_places *places, const struct session_call *call,
			size_t from, size_t count, struct session_list *ret_list, struct error *e)
{
	return talk_list(places, call, from, count, true, ret_list, e);
}

static bool talk_is_at(const struct session *s, const char *at)
{
	return s->fd >= 0 && str_path_beneath(at, s->plan->workspace);
}

/* "calm-otter (~/src/a), tidy-wren (~/src/b)"; at NULL: all of them. */
static void talk_say_which(const struct session_list *l, const char *at, struct error *e)
{
	_cleanup_buf_ struct buf names = BUF_INIT(4096);
	bool more = false;

	for (size_t i = 0; i < l->count; i++) {
		const struct session *s = &l->items[i];

		if (at && !talk_is_at(s, at))
			continue;
		if (names.len < 200)
			buf_putf(&names, "%s%s (%.80s)", names.len ? ", " : "", s->name,
				 s->fd < 0 ? "does not answer" : s->plan->workspace);
		else
			more = true;
	}
	if (more)
		buf_put_str(&names, ", and more: 'bawn sessions' lists them");
	error_next(e, "Name one, as in 'bawn attach NAME' or 'bawn allow --session NAME': %s.",
		   buf_str(&names));
}

/* Picks the session that the user means; sets *ret when it returns 0. */
static int talk_pick(struct session_list *l, const char *at, bool only_here, struct session **ret,
		     struct error *e)
{
	struct session *here = NULL;
	size_t count = 0;

	for (size_t i = 0; i < l->count; i++)
		if (at && talk_is_at(&l->items[i], at)) {
			here = &l->items[i];
			count++;
		}
	if (count == 0 && !only_here && l->count == 1 && l->items[0].fd >= 0)
		here = &l->items[0];
	if (here && count <= 1) {
		*ret = here;
		return 0;
	}
	if (l->count == 0 || (only_here && count == 0)) {
		(void)error_set(e, -ENOENT, "no session is running%s",
				l->count ? " in this folder" : "");
		error_next(e, "'bawn run' and 'bawn shell' start one.");
		return -ENOENT;
	}
	(void)error_set(e, -ENOTUNIQ,
			count ? "several sessions run in this workspace"
			      : "none of the running sessions works in this folder");
	talk_say_which(l, count ? at : NULL, e);
	return -ENOTUNIQ;
}

static int talk_choose(const struct session_places *places, const char *at, bool only_here,
		       struct session *ret_session, struct error *e)
{
	_cleanup_session_list_ struct session_list list = {NULL, 0};
	struct session *picked = NULL;
	int r = session_list_get(places, &list, e);

	if (r == 0)
		r = talk_pick(&list, at, only_here, &picked, e);
	if (r < 0 || !picked)
		return r;
	*ret_session = *picked;
	picked->fd = -1;
	picked->arena = ARENA_INIT(0);
	ret_session->state.name = ret_session->name;
	return 0;
}

/* It does not run: says whether it ever did, and how to go on. */
static int talk_say_none(const struct session_places *places, const char *typed, struct error *e)
{
	_cleanup_session_names_ struct session_names names = {NULL, 0};
	struct error own = ERROR_INIT;
	const struct session_known *known = NULL;

	if (session_names_get(places, SESSION_KEPT | SESSION_RECORDED, &names, &own) == 0)
		known = session_names_match(&names, typed, SESSION_TYPED_WHOLE, &own);
	if (!known) {
		if (!e->next[0])
			error_next(e, "'bawn sessions' lists those that run.");
	} else {
		*e = ERROR_INIT;
		(void)error_set(e, -ENOENT, "the session %s does not run any more", known->name);
		if (known->where & SESSION_KEPT)
			error_next(e,
				   "'bawn diff --session %s' shows what it changed, and 'bawn "
				   "run --continue %s -- COMMAND' goes on in a new box.",
				   known->name, known->name);
		else
			error_next(e, "'bawn show %s' tells what it did.", known->name);
	}
	return -ENOENT;
}

/* No session has this very name: a label will do, and the beginning of one if a person looks. */
static int talk_open_meant(const struct session_places *places, const char *typed,
			   struct session *ret_session, struct error *e)
{
	char name[LAYERS_NAME_MAX + 1];

	*e = ERROR_INIT;
	int r = session_names_find(places, typed, SESSION_RUNS, session_typed_now(), name, e);

	if (r == 0) {
		r = talk_open(places, name, ret_session, e);
		if (r < 0)
			session_fini(ret_session);
	}
	return r == -ENOENT ? talk_say_none(places, typed, e) : r;
}

int session_choose(const struct session_places *places, const char *name, const char *at,
		   struct session *ret_session, struct error *e)
{
	if (!name)
		return talk_choose(places, at, false, ret_session, e);
	int r = talk_open(places, name, ret_session, e);

	if (r < 0)
		session_fini(ret_session);
	return r == -ENOENT ? talk_open_meant(places, name, ret_session, e) : r;
}

int session_choose_at(const struct session_places *places, const char *at,
		      struct session *ret_session, struct error *e)
{
	return talk_choose(places, at, true, ret_session, e);
}

int session_find(const char *name, struct session *ret_session, struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	char here[PATH_MAX];
	struct host host;
	int r = host_gather_user(&arena, &host, e);

	if (r < 0)
		return r;
	const struct session_places places = session_places_of(&host);

	return session_choose(&places, name, getcwd(here, sizeof(here)), ret_session, e);
}
