/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn sessions`: lists what runs, and what has ended and left changes.  It also tidies up after
 * sessions that were killed. */
#include "bawn_verbs.h"
#include "box_use.h"
#include "cgroup.h"
#include "elsewhere.h"
#include "fd.h"
#include "help.h"
#include "home_store.h"
#include "host.h"
#include "json.h"
#include "land.h"
#include "listening.h"
#include "session_names.h"
#include "settle.h"
#include "shared.h"
#include "session_talk.h"
#include "text.h"
#include "verbs.h"
#include "waiting.h"
#include "words.h"
#include "worktree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	SESSIONS_BYTES_MAX = 16 << 20,
	SESSIONS_NAME = 16,
	SESSIONS_SINCE = 12,
	SESSIONS_SHARE = 100, /* as many sessions are worth a process of their own */
	SESSIONS_SHARES_MAX = 8,
};

static void sessions_print_name(const struct text *t, const char *shown)
{
	text_styled(t, TEXT_STRONG, "%-*s", SESSIONS_NAME - 1, shown);
	text_printf(t, " ");
}

static void sessions_json_name(struct json *j, const char *name, const char *label)
{
	json_key_str(j, "name", name);
	if (label[0])
		json_key_str(j, "label", label);
}

static void sessions_print_listening(const struct text *t, const struct session *s)
{
	_cleanup_buf_ struct buf words = BUF_INIT(4096);
	struct listening l;

	listening_read(s, &l);
	listening_words(&l, s->shown, &words);
	if (words.len > 0)
		text_printf(t, "%*s%s\n", SESSIONS_NAME, "", buf_str(&words));
}

static void sessions_json_listening(struct json *j, const struct session *s)
{
	struct listening l;

	listening_read(s, &l);
	json_key(j, "listens");
	json_open(j, '[');
	for (size_t i = 0; i < l.count; i++)
		json_u64(j, l.ports[i]);
	json_close(j, ']');
}

static const struct plan_limit *sessions_limit(const struct plan *plan, enum plan_limit_kind kind)
{
	for (size_t i = 0; i < plan->limits.count; i++)
		if (plan->limits.items[i].kind == kind)
			return &plan->limits.items[i];
	return NULL;
}

/* ", layers 3 MiB of 1 GiB", where that is limited. */
static void sessions_put_size(struct buf *into, const struct session *s, enum plan_limit_kind kind,
			      const char *lead, uint64_t now)
{
	const struct plan_limit *limit = sessions_limit(s->plan, kind);

	if (!limit)
		return;
	buf_put_str(into, lead);
	words_size(into, now);
	buf_put_str(into, " of ");
	words_size(into, limit->value);
}

/* "12 of 1024 processes, 34 MiB of 2 GiB". */
static void sessions_use(struct buf *into, const struct session *s, const struct box_use *use)
{
	const struct plan_limit *processes = sessions_limit(s->plan, PLAN_LIMIT_PROCESSES);
	const struct plan_limit *memory = sessions_limit(s->plan, PLAN_LIMIT_BOX_MEMORY);
	const struct plan_limit *idle = sessions_limit(s->plan, PLAN_LIMIT_IDLE_TIME);

	buf_putf(into, "%" PRIu64, use->processes);
	if (processes)
		buf_putf(into, " of %" PRIu64, processes->value);
	buf_putf(into, " process%s, ", use->processes == 1 && !processes ? "" : "es");
	words_size(into, use->memory);
	if (memory) {
		buf_put_str(into, " of ");
		words_size(into, memory->value);
	}
	if (idle) {
		buf_put_str(into, ", idle for ");
		words_duration(into, s->state.idle);
		buf_put_str(into, " of ");
		words_duration(into, idle->value);
	}
	sessions_put_size(into, s, PLAN_LIMIT_OUTPUT, ", output ", s->state.output);
	sessions_put_size(into, s, PLAN_LIMIT_LAYERS, ", layers ", s->state.layers);
	sessions_put_size(into, s, PLAN_LIMIT_RECORD, ", record ", s->state.record);
}

static void sessions_print_one(const struct text *t, const struct session *s)
{
	struct box_use use;

	_cleanup_buf_ struct buf line = BUF_INIT(SESSIONS_BYTES_MAX);
	_cleanup_buf_ struct buf age = BUF_INIT(64);

	if (!s->plan) {
		sessions_print_name(t, s->shown);
		if (s->code == -EPROTO || s->code == -EPROTONOSUPPORT)
			text_printf(t, "was started by another version of bawn\n");
		else
			text_printf(t, "does not answer (%s)\n", error_words(s->code));
		return;
	}
	words_age(&age, s->state.since);
	buf_putf(&line, "%-*s", SESSIONS_SINCE, buf_str(&age));
	words_path(&line, s->plan, s->plan->workspace);
	buf_put_str(&line, "  ");
	size_t width = (size_t)t->width;

	if (s->state.held || (s->state.terminal && s->state.viewers == 0))
		buf_put_str(&line, s->state.held ? "paused" : "detached");
	if (s->state.held && s->why[0])
		buf_putf(&line, " by %s", s->why);
	if (s->state.held || (s->state.terminal && s->state.viewers == 0))
		buf_put_str(&line, "  ");
	size_t used = line.len + SESSIONS_NAME;
	size_t from = line.len;

	worktree_put_command(&line, s->plan);
	text_cut(&line, from, width > used + 20 ? width - used : 20);
	sessions_print_name(t, s->shown);
	text_printf(t, "%s\n", buf_str(&line));
	sessions_print_listening(t, s);
	if (box_use_of((pid_t)s->state.box, &use) < 0)
		return;
	buf_clear(&line);
	sessions_use(&line, s, &use);
	text_styled(t, TEXT_FAINT, "%*s%s\n", SESSIONS_NAME, "", buf_str(&line));
}

/* Where its cgroup knows: for how much of the last ten seconds something of it waited, in percent. */
static void sessions_json_pressure(struct json *j, const struct box_use *use)
{
	json_key(j, "pressure");
	json_open(j, '{');
	for (size_t i = 0; i < BOX_USE_PRESSURES; i++) {
		_cleanup_buf_ struct buf percent = BUF_INIT(64);

		if (!use->pressure[i].known)
			continue;
		box_use_put_percent(&percent, use->pressure[i].some);
		json_key(j, box_use_pressure_words[i]);
		json_raw(j, buf_span(&percent));
	}
	json_close(j, '}');
}

static void sessions_json_use(struct json *j, const struct session *s, const struct box_use *use)
{
	json_key(j, "use");
	json_open(j, '{');
	json_key_u64(j, "processes", use->processes);
	json_key_u64(j, "memory", use->memory);
	json_key_bool(j, "cgroup", use->grouped);
	sessions_json_pressure(j, use);
	if (sessions_limit(s->plan, PLAN_LIMIT_IDLE_TIME))
		json_key_u64(j, "idle", s->state.idle);
	if (sessions_limit(s->plan, PLAN_LIMIT_OUTPUT))
		json_key_u64(j, "output", s->state.output);
	if (sessions_limit(s->plan, PLAN_LIMIT_LAYERS))
		json_key_u64(j, "layers", s->state.layers);
	if (sessions_limit(s->plan, PLAN_LIMIT_RECORD))
		json_key_u64(j, "record", s->state.record);
	json_close(j, '}');
	json_key(j, "limits");
	json_open(j, '{');
	for (size_t i = 0; i < s->plan->limits.count; i++)
		json_key_u64(j, plan_limit_words[s->plan->limits.items[i].kind],
			     s->plan->limits.items[i].value);
	json_close(j, '}');
}

static void sessions_json_one(struct json *j, const struct session *s)
{
	struct box_use use;

	json_open(j, '{');
	sessions_json_name(j, s->name, s->label);
	json_key_bool(j, "running", true);
	json_key_bool(j, "answers", s->fd >= 0);
	if (s->fd >= 0) {
		json_key_str(j, "workspace", s->plan->workspace);
		json_key(j, "command");
		json_open(j, '[');
		for (size_t i = worktree_before(s->plan); i < s->plan->argv.count; i++)
			json_str(j, s->plan->argv.items[i].text);
		json_close(j, ']');
		json_key_u64(j, "since", s->state.since);
		json_key_u64(j, "pid", s->state.pid);
		json_key_str(j, "backend", plan_backend_words[s->plan->backend]);
		json_key_str(j, "preset", s->plan->preset);
		json_key_bool(j, "gate", s->state.gate);
		json_key_bool(j, "paused", s->state.held);
		if (s->why[0])
			json_key_str(j, "paused-by", s->why);
		json_key_bool(j, "terminal", s->state.terminal);
		json_key_u64(j, "viewers", s->state.viewers);
		json_key_u64(j, "changes", s->state.generation);
		sessions_json_listening(j, s);
		if (box_use_of((pid_t)s->state.box, &use) == 0)
			sessions_json_use(j, s, &use);
	}
	json_close(j, '}');
}

/* --- sessions that do not run and have changes ------------------------------------------ */

struct sessions_stopped {
	const struct text *t; /* NULL: JSON goes to `j` */
	struct json *j;
	const char *home, *state;
	const struct layers *layers;
	struct error *e;
	size_t count;
	size_t room; /* for names of changes that are still looked at */
};

static bool sessions_is_gone(const struct sessions_stopped *s)
{
	return faccessat(AT_FDCWD, s->layers->workspace, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

/* What the user can do about a session that has ended. */
static void sessions_left(struct sessions_stopped *s, const struct layers_session *session,
			  struct buf *into)
{
	const bool review = session->mode == LAYERS_REVIEW;

	if (sessions_is_gone(s)) {
		buf_put_str(into, review ? "its folder is gone, its changes are kept"
					 : "its folder is gone");
	} else if (!review) {
		buf_put_str(into, layers_session_has_first(s->layers, session) ? "can be undone"
									       : "changes unseen");
	} else if (!layers_session_waits(s->layers, session)) {
		buf_put_str(into, "it changed nothing");
	} else {
		(void)waiting_count_within(s->layers, session, &s->room, into);
		buf_put_str(into, " changed, not applied");
	}
}

static void sessions_print_stopped(struct sessions_stopped *s, const struct layers_session *session)
{
	_cleanup_buf_ struct buf line = BUF_INIT(SESSIONS_BYTES_MAX);
	_cleanup_buf_ struct buf age = BUF_INIT(64), left = BUF_INIT(SESSIONS_BYTES_MAX);
	int64_t ended = session->ended ? session->ended : session->began;
	const struct plan shown = {.home = s->home}; /* has only what words_path needs */

	words_age(&age, (uint64_t)(ended / 1000000000));
	buf_putf(&line, "%-*s", SESSIONS_SINCE, buf_str(&age));
	words_path(&line, &shown, s->layers->workspace);
	sessions_left(s, session, &left);
	const char *how =
		layers_session_was_interrupted(s->layers, session) ? "interrupted" : "ended";

	char called[LAYERS_NAME_MAX + 1];

	session_label_shown(s->state, session->name, called);
	sessions_print_name(s->t, called);
	/* What does not fit beside the rest stands below it. */
	if (s->t->tty &&
	    SESSIONS_NAME + line.len + strlen(how) + 4 + left.len > (size_t)s->t->width) {
		_cleanup_buf_ struct buf words = BUF_INIT(SESSIONS_BYTES_MAX),
					 wrapped = BUF_INIT(SESSIONS_BYTES_MAX);

		buf_putf(&words, "%s; %s", how, buf_str(&left));
		help_wrap(&wrapped, buf_str(&words), SESSIONS_NAME, (size_t)s->t->width);
		text_printf(s->t, "%s\n%*s%s\n", buf_str(&line), SESSIONS_NAME, "",
			    buf_str(&wrapped));
	} else {
		text_printf(s->t, "%s  %s; %s\n", buf_str(&line), how, buf_str(&left));
	}
}

static void sessions_json_stopped(const struct sessions_stopped *s,
				  const struct layers_session *session)
{
	char label[SESSION_NAME_MAX];

	session_label_of(s->state, session->name, label);
	json_open(s->j, '{');
	sessions_json_name(s->j, session->name, label);
	json_key_bool(s->j, "running", false);
	json_key_str(s->j, "workspace", s->layers->workspace);
	json_key_str(s->j, "mode", layers_mode_words[session->mode]);
	json_key_u64(s->j, "since", (uint64_t)(session->began / 1000000000));
	json_key_u64(s->j, "ended", (uint64_t)(session->ended / 1000000000));
	json_key_bool(s->j, "interrupted", layers_session_was_interrupted(s->layers, session));
	json_key_bool(s->j, "gone", sessions_is_gone(s));
	json_key_bool(s->j, "waits",
		      session->mode == LAYERS_REVIEW && layers_session_waits(s->layers, session));
	json_close(s->j, '}');
}

static int sessions_on_session(void *context, const struct layers_session *session)
{
	struct sessions_stopped *s = context;

	if (layers_session_runs(s->layers, session->name) ||
	    shared_has_worktree(s->layers, session) ||
	    !(layers_session_has_changes(s->layers, session) || shared_waits(s->layers, session)))
		return 0;
	s->count++;
	if (s->j)
		sessions_json_stopped(s, session);
	else
		sessions_print_stopped(s, session);
	return 0;
}

/* A landing was cut short, and nobody has run a command there since. */
static bool sessions_is_cut_short(const struct sessions_stopped *s)
{
	_cleanup_fd_ int journal = layers_journal(s->layers, false);

	return journal >= 0 && land_is_cut_short(journal);
}

static void sessions_print_cut(const struct sessions_stopped *s)
{
	_cleanup_buf_ struct buf line = BUF_INIT(SESSIONS_BYTES_MAX);
	const struct plan shown = {.home = s->home};

	words_path(&line, &shown, s->layers->workspace);
	text_styled(s->t, TEXT_WARN, "%s", buf_str(&line));
	text_printf(s->t,
		    "  an apply or undo was cut short: the next command there, 'bawn diff' for "
		    "one, takes it back or finishes it\n");
}

static int sessions_on_workspace(void *context, const struct layers *l)
{
	struct sessions_stopped *s = context;

	s->layers = l;
	/* If one cannot be read, the others are still listed. */
	if (layers_each_session(l, sessions_on_session, s, s->e) < 0) {
		verb_complain(s->e);
		*s->e = ERROR_INIT;
	}
	if (s->t && sessions_is_cut_short(s))
		sessions_print_cut(s);
	return 0;
}

static int sessions_stopped(struct sessions_stopped *s, const struct host *h, struct arena *arena)
{
	_cleanup_fd_ int state = home_store_state(h, false, arena, s->e);

	s->home = h->home;
	s->state = h->state_dir;
	if (state == -ENOENT)
		return 0;
	return state < 0 ? state
			 : layers_each_left(state, h->state_dir, sessions_on_workspace, s, s->e);
}

static int sessions_print_json(const struct session_list *l, const struct host *h,
			       struct arena *arena, struct error *e)
{
	_cleanup_buf_ struct buf out = BUF_INIT(SESSIONS_BYTES_MAX);
	struct text t = text_open(STDOUT_FILENO);
	struct json j = JSON_INIT(&out, true);

	json_open(&j, '[');
	for (size_t i = 0; i < l->count; i++)
		sessions_json_one(&j, &l->items[i]);
	struct sessions_stopped stopped = {.j = &j, .e = e};
	int r = sessions_stopped(&stopped, h, arena);

	json_close(&j, ']');
	if (r < 0 || buf_error(&out))
		return EXIT_BAWN;
	text_write(&t, &out);
	return EXIT_OK;
}

/* --- a list for a person ---------------------------------------------------------------- */

/* Prints the sessions from `from` on: how many, or -errno. */
static int sessions_print_some(const struct text *t, const struct session_places *places,
			       const struct session_call *call, size_t from, size_t count)
{
	_cleanup_session_list_ struct session_list list = {NULL, 0};
	_cleanup_buf_ struct buf kept = BUF_INIT(SESSIONS_BYTES_MAX);
	struct error e = ERROR_INIT;
	struct text own = *t;
	int r = session_list_glance(places, call, from, count, &list, &e);

	if (r < 0) {
		verb_complain(&e);
		return r;
	}
	own.kept = &kept;
	for (size_t n = 0; n < list.count; n++)
		sessions_print_one(&own, &list.items[n]);
	text_flush(&own);
	return (int)list.count;
}

/*
 * Of hundreds of sessions each processor prints a share: to memory, from where we take one after the
 * other.  A share that nobody else has printed we print ourselves.
 */
struct sessions_share {
	size_t from, count;
	pid_t pid; /* -1: nobody prints it */
	int out;
};

static void sessions_begin_share(struct sessions_share *s, const struct text *t,
				 const struct session_places *places,
				 const struct session_call *call)
{
	s->out = memfd_create("bawn-sessions", MFD_CLOEXEC);
	s->pid = s->out < 0 ? -1 : fork();
	if (s->pid == 0) {
		struct text own = *t;

		own.fd = s->out;
		_exit(sessions_print_some(&own, places, call, s->from, s->count) < 0);
	}
}

/* Prints what another process has printed: 0, or -errno. */
static int sessions_end_share(struct sessions_share *s, const struct text *t)
{
	_cleanup_buf_ struct buf text = BUF_INIT(SESSIONS_BYTES_MAX);
	int status = 0;

	while (s->pid > 0 && waitpid(s->pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (s->pid < 0 || status != 0 || lseek(s->out, 0, SEEK_SET) < 0)
		return -EIO;
	int r = fd_read_all(s->out, &text);

	if (r == 0)
		text_write(t, &text);
	return r;
}

static size_t sessions_shares(size_t count)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = count / SESSIONS_SHARE;

	if (processors < 1 || most < 2)
		return 1;
	most = most < (size_t)processors ? most : (size_t)processors;
	return most < SESSIONS_SHARES_MAX ? most : SESSIONS_SHARES_MAX;
}

/* How many were printed, or -errno. */
static int sessions_print_all(const struct text *t, const struct session_places *places,
			      const struct session_call *call)
{
	struct sessions_share shares[SESSIONS_SHARES_MAX];
	const size_t count = sessions_shares(call->count);
	int done = 0;

	for (size_t i = 0; i < count; i++) {
		shares[i] = (struct sessions_share){.from = call->count * i / count, .out = -1};
		shares[i].count = call->count * (i + 1) / count - shares[i].from;
		if (i > 0)
			sessions_begin_share(&shares[i], t, places, call);
	}
	for (size_t i = 0; i < count; i++) {
		int r = i > 0 ? sessions_end_share(&shares[i], t) : -EAGAIN;

		r = r == 0 ? (int)shares[i].count
			   : sessions_print_some(t, places, call, shares[i].from, shares[i].count);
		fd_close(&shares[i].out);
		done = done < 0 || r < 0 ? -EIO : done + r;
	}
	return done;
}

static int sessions_print(const struct host *host, const struct session_places *places,
			  struct arena *arena, struct error *e)
{
	_cleanup_session_call_ struct session_call call = {NULL, 0};
	const struct text t = text_open(STDOUT_FILENO);
	struct sessions_stopped stopped = {.t = &t, .e = e, .room = WAITING_LISTED};
	int count = session_call_get(places, &call, e);

	if (count == 0)
		count = sessions_print_all(&t, places, &call);
	int r = count < 0 ? count : sessions_stopped(&stopped, host, arena);

	if (r < 0) {
		if (e->code < 0)
			verb_complain(e);
		return EXIT_BAWN;
	}
	if (count == 0)
		text_printf(&t, stopped.count ? "none of them is running\n"
					      : "no session is running\n");
	return EXIT_OK;
}

int verb_sessions(const struct invocation *i)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	_cleanup_session_list_ struct session_list list = {NULL, 0};
	struct error e = ERROR_INIT;
	struct host host;

	if (invocation_has(i, OPTION_ALL))
		return elsewhere_run(i, "bawn-history");
	int r = host_gather_user(&arena, &host, &e);
	bool json = invocation_has(i, OPTION_JSON);
	struct session_places places = {NULL, NULL};

	if (r == 0)
		places = session_places_of(&host);
	if (r == 0 && json)
		r = session_list_get(&places, &list, &e);
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	cgroup_sweep_own();
	if (!json)
		return sessions_print(&host, &places, &arena, &e);
	int code = sessions_print_json(&list, &host, &arena, &e);

	if (e.code < 0)
		verb_complain(&e);
	return code;
}
