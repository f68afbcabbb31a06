/* SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include "clock.h"
#include "config.h"
#include "fd.h"
#include "nft.h"
#include "plan_read.h"
#include "str.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { CONTROL_SERVING };

void control_init(struct control *c, struct loop *loop, const struct channel *gate,
		  void (*tell)(void *context, const struct message_event *event), void *context)
{
	memset(c, 0, sizeof(*c));
	c->loop = loop;
	c->gate = gate;
	c->tell = tell;
	c->context = context;
	c->uid = geteuid();
	c->session.why = c->shown.why = "";
	c->listener = c->folder = c->layers = c->shared = c->plan = c->capture = c->board = -1;
	c->change.plan = c->pause_timer = c->room_timer = -1;
	for (size_t i = 0; i < CONTROL_PEERS; i++)
		c->peers[i].channel.fd = -1;
}

/* --- peers ---------------------------------------------------------------------------- */

static void control_update_pause(struct control *c);
static void control_drop_spawn(struct control_peer *p);

/* Accepts new peers again. */
static void control_hear(struct control *c)
{
	if (c->full)
		(void)loop_set_events(c->loop, c->listener_handle, EPOLLIN);
	c->full = false;
}

static void control_drop(struct control_peer *p)
{
	bool paused = p->pauses != 0;

	control_hear(p->control);
	loop_remove(p->control->loop, &p->handle);
	fd_close(&p->channel.fd);
	control_drop_spawn(p);
	p->waiting = p->note = 0;
	p->pauses = 0;
	p->pause_waits = p->pause_ends = p->waits = false;
	if (paused)
		control_update_pause(p->control);
}

/* Answers a peer.  The keeper does not wait for a peer whose socket is full. */
static void control_answer(struct control_peer *p, enum message_type type, const struct schema *s,
			   const void *object, const int *fds, size_t fd_count)
{
	static const struct message_failed too_many = {
		ETOOMANYREFS, "boxes have so many descriptors on their way that none can be sent",
		"End a session that you do not need."};
	int r = message_send(p->channel.fd, type, s, object, fds, fd_count);

	/* The box can use up the user's descriptors in flight.  Answer without ours then. */
	if (r == -ETOOMANYREFS && fd_count > 0)
		r = message_send(p->channel.fd, MESSAGE_FAILED, &message_failed_schema, &too_many,
				 NULL, 0);
	if (r < 0)
		control_drop(p);
}

static void control_fail_as(struct control_peer *p, int code, const char *text, const char *next)
{
	struct message_failed m = {(uint64_t)-code, text, next};

	control_answer(p, MESSAGE_FAILED, &message_failed_schema, &m, NULL, 0);
}

static void control_fail(struct control_peer *p, int code, const char *text)
{
	control_fail_as(p, code, text, "");
}

static struct control_peer *control_waiting(struct control *c, uint64_t id)
{
	for (size_t i = 0; i < CONTROL_PEERS; i++)
		if (c->peers[i].channel.fd >= 0 && c->peers[i].waiting == id)
			return &c->peers[i];
	return NULL;
}

/* Sends to the gate, which may be gone, or whose socket may be full. */
static int control_ask_gate(struct control *c, enum message_type type, const struct schema *s,
			    const void *object, const int *fds, size_t fd_count)
{
	return c->gate->fd < 0 ? -ENOTCONN
			       : message_send(c->gate->fd, type, s, object, fds, fd_count);
}

static const char *control_no_gate(int code)
{
	return code == -ENOTCONN ? "this session has no gate: nothing of its network can change"
				 : "the gate of this session does not take messages";
}

/* The peer speaks another version of these messages: says so, and what to do. */
static void control_refuse_version(struct control_peer *p, const struct message_hello *hello)
{
	const struct control *c = p->control;
	char text[256], next[256];

	(void)snprintf(text, sizeof(text),
		       "the session %s was started by bawn %s, which speaks version %d of its "
		       "messages, and this is bawn %.32s with version %llu",
		       c->name, BAWN_VERSION, MESSAGE_CONTROL_VERSION,
		       hello->program[0] ? hello->program : "of an older kind",
		       (unsigned long long)hello->version);
	(void)snprintf(next, sizeof(next),
		       "Use the bawn that started it; or 'kill %llu' ends it, and its changes and "
		       "its record stay.",
		       (unsigned long long)c->session.pid);
	control_fail_as(p, -EPROTONOSUPPORT, text, next);
}

/* What a peer is told now. */
static struct message_session control_now(struct control *c)
{
	c->session.gate = c->gate->fd >= 0;
	c->look(c->context, &c->session);
	struct message_session now = c->session;

	now.held = now.held && c->pause_state == CONTROL_PAUSED;
	return now;
}

/* Whether who reads the board would see the same.  Of the output a little more or less is no reason to write. */
static bool control_is_same(const struct message_session *a, const struct message_session *b)
{
	enum { OUTPUT_STEP = 64 << 10 };

	return a->pid == b->pid && a->generation == b->generation && a->gate == b->gate &&
	       a->plain == b->plain && a->held == b->held && a->terminal == b->terminal &&
	       a->viewers == b->viewers && a->box == b->box && str_equal(a->why, b->why) &&
	       a->idle == b->idle && a->layers == b->layers && a->record == b->record &&
	       a->output / OUTPUT_STEP == b->output / OUTPUT_STEP;
}

/* After what has happened, the session's board is true again. */
static int control_on_turn(void *context, uint32_t events)
{
	struct control *c = context;
	const struct message_session now = control_now(c);

	(void)events;
	/* A disk that does not take it is tried again at the next turn. */
	if (!control_is_same(&now, &c->shown) && board_write(c->board, &now, c->brief) == 0)
		c->shown = now;
	return 0;
}

static int control_on_status(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;
	struct control *c = p->control;
	struct message_hello hello = {.program = ""};
	int r = packet->body.len == 0
			? 0
			: message_decode(packet->body, &message_hello_schema, &hello, NULL, e);

	if (r < 0)
		return r;
	if (hello.version != MESSAGE_CONTROL_VERSION) {
		control_refuse_version(p, &hello);
		return 0;
	}
	const struct message_session now = control_now(c);

	control_answer(p, MESSAGE_STATE, &message_session_schema, &now, &c->plan, 1);
	return 0;
}

/* --- handing on ----------------------------------------------------------------------- */

/* Hands the peer on: from now on it is somebody else's. */
static void control_hand_on(struct control_peer *p, const struct channel_packet *packet,
			    int (*to)(void *context, int fd, struct loop_handle handle,
				      const struct channel_packet *packet, struct error *e))
{
	struct error why = ERROR_INIT;

	if (to(p->control->context, p->channel.fd, p->handle, packet, &why) < 0) {
		control_fail_as(p, why.code, why.text, why.next);
		return;
	}
	p->channel.fd = -1;
	p->handle = (struct loop_handle){0, 0};
	control_hear(p->control);
}

static void control_drop_spawn(struct control_peer *p)
{
	for (size_t i = 0; i < p->spawn_fd_count; i++)
		fd_close(&p->spawn_fds[i]);
	buf_fini(&p->spawn);
	p->spawn_fd_count = 0;
	p->spawn_waits = false;
}

static void control_keep_spawn(struct control_peer *p, struct channel_packet *packet)
{
	if (p->spawn_waits) {
		control_fail(p, -EPROTO, "two commands at once");
		return;
	}
	p->spawn = BUF_INIT(CHANNEL_BYTES_MAX);
	buf_put(&p->spawn, packet->body.ptr, packet->body.len);
	for (size_t i = 0; i < packet->fd_count; i++)
		p->spawn_fds[i] = TAKE_FD(packet->fds[i]);
	p->spawn_fd_count = packet->fd_count;
	p->spawn_waits = true;
}

/* The box goes on: commands that waited for that start. */
static void control_start_kept(struct control *c)
{
	for (size_t i = 0; i < CONTROL_PEERS; i++) {
		struct control_peer *p = &c->peers[i];
		struct channel_packet packet = {.body = buf_span(&p->spawn),
						.fd_count = p->spawn_fd_count};

		if (p->channel.fd < 0 || !p->spawn_waits)
			continue;
		memcpy(packet.fds, p->spawn_fds, sizeof(p->spawn_fds));
		control_hand_on(p, &packet, c->join);
		control_drop_spawn(p);
	}
}

/* --- pausing -------------------------------------------------------------------------- */

/* Lets the box go on when no peer pauses it any more.  Else sets the clock to when the next pause
 * ends by itself. */
static void control_update_pause(struct control *c)
{
	struct itimerspec when = {.it_value.tv_sec = 0};
	int64_t first = 0, now = clock_ms(CLOCK_BOOTTIME);

	for (size_t i = 0; i < CONTROL_PEERS; i++)
		if (c->peers[i].pauses && (first == 0 || c->peers[i].pauses < first))
			first = c->peers[i].pauses;
	if (first == 0 && !c->session.held && c->pause_state != CONTROL_GOES) {
		/* An answer that is on its way is to a number that is no longer asked for. */
		c->pause_state = CONTROL_GOES;
		c->pause_id = 0;
		(void)c->pause(c->context, 0, 0);
		control_start_kept(c);
	}
	if (first != 0) {
		int64_t ms = first > now ? first - now : 1;

		when.it_value =
			(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	}
	(void)timerfd_settime(c->pause_timer, 0, &when, NULL);
}

static int control_on_pause_timer(void *context, uint32_t events)
{
	struct control *c = context;
	int64_t now = clock_ms(CLOCK_BOOTTIME);
	uint64_t times;

	(void)events;
	if (read(c->pause_timer, &times, sizeof(times)) < 0)
		return 0;
	for (size_t i = 0; i < CONTROL_PEERS; i++)
		if (c->peers[i].pauses && c->peers[i].pauses <= now) {
			c->peers[i].pauses = 0;
			c->peers[i].pause_waits = c->peers[i].pause_ends = false;
		}
	control_update_pause(c);
	return 0;
}

static void control_say_paused(struct control_peer *p, uint64_t count)
{
	const struct message_paused m = {.text = "", .next = "", .count = count};

	p->pause_waits = false;
	control_answer(p, MESSAGE_PAUSED, &message_paused_schema, &m, NULL, 0);
}

/* Asks init whether nothing ran during the pause.  Until init answers the box stays paused. */
static int control_resume(struct control_peer *p)
{
	struct control *c = p->control;

	if (p->pauses && c->pause_state == CONTROL_PAUSED) {
		p->pause_ends = true;
		return c->pause(c->context, c->pause_id, MESSAGE_PAUSE_HELD);
	}
	p->pauses = 0;
	p->pause_waits = false;
	control_update_pause(c);
	control_fail(p, -ESTALE, "the session went on before this: the pause was too long");
	return 0;
}

/* Asks init, where nobody else has. */
static int control_begin_pause(struct control *c)
{
	if (c->pause_state != CONTROL_GOES)
		return 0;
	c->pause_state = CONTROL_STOPPING;
	c->pause_id = ++c->next;
	return c->pause(c->context, c->pause_id, 1);
}

/* The peer is told when the box stands still. */
static int control_hold_still(struct control_peer *p)
{
	struct control *c = p->control;

	if (c->pause_state == CONTROL_PAUSED) {
		control_say_paused(p, c->pause_count);
		return 0;
	}
	p->pause_waits = true;
	return control_begin_pause(c);
}

static int control_on_pause(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (m.value == 0)
		return control_resume(p);
	p->pauses = clock_ms(CLOCK_BOOTTIME) + CONTROL_PAUSE_MS;
	control_update_pause(p->control);
	return control_hold_still(p);
}

/* From now on it is held still, or not; `why` for a limit. */
static void control_set_held(struct control *c, bool held, const char *why)
{
	c->session.held = held;
	c->session.why = held ? why : "";
}

int control_hold(struct control *c, const char *why)
{
	/* Who is asked to end has to go on for that. */
	if (c->session.held || c->ends)
		return 0;
	control_set_held(c, true, why);
	int r = control_begin_pause(c);

	return r < 0 ? r : c->pause(c->context, c->pause_id, MESSAGE_PAUSE_FIRM);
}

/* Whoever paused for a moment lets go by himself; this is for good. */
static int control_on_hold(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;
	struct control *c = p->control;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	control_set_held(c, m.value != 0, "");
	c->holds(c->context, c->session.held);
	if (!c->session.held) {
		control_update_pause(c);
		control_say_paused(p, 0);
		return 0;
	}
	r = control_hold_still(p);
	return r < 0 ? r : c->pause(c->context, c->pause_id, MESSAGE_PAUSE_FIRM);
}

static void control_tell_paused(struct control_peer *p, const struct message_paused *m)
{
	if (m->failure)
		control_fail_as(p, -(int)(m->failure & 0xfff), m->text, m->next);
	else
		control_say_paused(p, m->count);
}

/* Init says whether nothing ran during the pause.  If something ran, that counts for every peer. */
static void control_on_held(struct control *c, const struct message_paused *m)
{
	for (size_t i = 0; i < CONTROL_PEERS; i++) {
		struct control_peer *p = &c->peers[i];

		if (p->pause_ends || m->failure)
			p->pauses = 0;
		if (!p->pause_ends)
			continue;
		p->pause_ends = false;
		control_tell_paused(p, m);
	}
	control_update_pause(c);
}

int control_on_paused(struct control *c, struct span body, struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(4096);
	struct message_paused m;
	int r = message_decode(body, &message_paused_schema, &m, &arena, e);

	if (r < 0)
		return r;
	if (m.id != c->pause_id || c->pause_state == CONTROL_GOES)
		return 0;
	if (c->pause_state == CONTROL_PAUSED) {
		control_on_held(c, &m);
		return 0;
	}
	c->pause_state = m.failure ? CONTROL_GOES : CONTROL_PAUSED;
	control_set_held(c, c->session.held && !m.failure, c->session.why);
	c->pause_count = m.count;
	for (size_t i = 0; i < CONTROL_PEERS; i++) {
		struct control_peer *p = &c->peers[i];

		if (m.failure)
			p->pauses = 0;
		if (!p->pause_waits)
			continue;
		p->pause_waits = false;
		control_tell_paused(p, &m);
	}
	control_update_pause(c);
	return 0;
}

/* --- addresses ------------------------------------------------------------------------ */

static bool control_has_opened(const struct control *c, const struct address *a)
{
	for (size_t i = 0; i < c->opened_count; i++)
		if (memcmp(c->opened[i].bytes, a->bytes, sizeof(a->bytes)) == 0)
			return true;
	return false;
}

/* Lets the box's connections to an address through to the gate, which decides. */
static int control_open_address(struct control *c, const struct plan_rule *rule)
{
	struct nft_prefix to = {.bits = 128};
	struct address a;

	memcpy(a.bytes, rule->address.ptr, sizeof(a.bytes));
	if (control_has_opened(c, &a))
		return 0;
	if (c->opened_count == CONTROL_ADDRESSES_MAX)
		return -ENOSPC;
	to.v4 = address_is_v4(&a);
	if (to.v4) {
		to.bits = 32;
		memcpy(to.bytes, a.bytes + 12, 4);
	} else {
		memcpy(to.bytes, a.bytes, sizeof(a.bytes));
	}
	int r = nft_capture_more(c->capture, &to);

	if (r == 0)
		c->opened[c->opened_count++] = a;
	return r;
}

static int control_open_addresses(struct control *c, const struct plan *plan)
{
	int r = 0;

	for (size_t i = 0; r == 0 && c->capture >= 0 && i < plan->network.count; i++) {
		const struct plan_rule *rule = &plan->network.items[i];

		if (rule->action == PLAN_ACTION_ALLOW && rule->address.len == 16)
			r = control_open_address(c, rule);
	}
	return r;
}

static bool control_has_names(const struct plan *plan)
{
	for (size_t i = 0; i < plan->network.count; i++)
		if (plan_rule_is_looked_up(&plan->network.items[i]))
			return true;
	return false;
}

/* The same for a plan that came; 0 or -errno. */
static int control_open_of(struct control *c, int fd, struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	struct span bytes;
	const struct plan *plan = NULL;
	int r = plan_map(fd, &bytes, e);

	if (r < 0)
		return r;
	r = plan_decode(bytes, &plan, &arena, e);
	if (r == 0) {
		c->change.names = control_has_names(plan);
		r = control_open_addresses(c, plan);
		if (r < 0)
			(void)error_sys(e, r, "opening the box to another address");
	}
	(void)munmap((void *)(uintptr_t)bytes.ptr, bytes.len);
	return r;
}

void control_take_capture(struct control *c, int netlink)
{
	fd_close(&c->capture);
	c->capture = netlink;
}

void control_say_plain(struct control *c, bool opens)
{
	struct message_event event = {
		.kind = MESSAGE_EVENT_POLICY,
		.allowed = false,
		.host = "only ports that a rule names are open, and 80 and 443",
		.count = 1,
		.origin = "kernel",
		.reason = "no nf_tables here: bawn doctor",
		.line = ""};

	c->session.plain = true;
	if (opens)
		c->tell(c->context, &event);
}

/* --- what peers ask ------------------------------------------------------------------- */

static int control_on_change(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;
	struct control *c = p->control;
	struct message_change m;
	int r = message_decode(packet->body, &message_change_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (c->change.id != 0 || m.generation != c->session.generation) {
		control_fail(p, -EAGAIN, "the rules were changed by somebody else meanwhile");
		return 0;
	}
	struct message_job rules = {.job = ++c->next};
	struct error why = ERROR_INIT;

	r = c->decide(c->context, &m, packet->fds[0], &why);
	if (r == 0)
		r = control_open_of(c, packet->fds[0], &why);
	if (r < 0) {
		control_fail(p, r, why.text);
		return 0;
	}
	r = control_ask_gate(c, MESSAGE_RULES, &message_job_schema, &rules, packet->fds, 1);
	if (r < 0) {
		control_fail(p, r, control_no_gate(r));
		return 0;
	}
	c->change.id = p->waiting = rules.job;
	c->change.plan = TAKE_FD(packet->fds[0]);
	c->change.allowed = m.allowed;
	(void)snprintf(c->change.what, sizeof(c->change.what), "%s", m.what);
	(void)snprintf(c->change.reason, sizeof(c->change.reason), "%s", m.reason);
	return 0;
}

static int control_on_count(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;
	struct control *c = p->control;
	struct message_count m;
	int r = message_decode(packet->body, &message_count_schema, &m, NULL, e);

	if (r < 0)
		return r;
	m.id = ++c->next;
	r = control_ask_gate(c, MESSAGE_COUNT, &message_count_schema, &m, NULL, 0);
	if (r < 0)
		control_fail(p, r, control_no_gate(r));
	else
		p->waiting = m.id;
	return 0;
}

/* Nothing starts in a box that is held still: who looks at it would see it move. */
static int control_on_spawn(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;

	(void)e;
	if (p->control->session.held)
		control_fail_as(p, -EBUSY, "the session is paused", "'bawn resume' lets it go on.");
	else if (p->control->pause_state != CONTROL_GOES)
		control_keep_spawn(p, packet);
	else
		control_hand_on(p, packet, p->control->join);
	return 0;
}

static int control_on_attach(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;

	(void)e;
	control_hand_on(p, packet, p->control->attach);
	return 0;
}

/* For a connection from outside to a port of the box. */
static int control_on_reach(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	_cleanup_buf_ struct buf body = BUF_INIT(64);

	m.job = ++p->control->next;
	schema_encode(&body, &message_job_schema, &m);
	r = p->control->to_init(p->control->context, MESSAGE_REACH, buf_span(&body), NULL, 0);
	if (r < 0)
		control_fail(p, r, "the box of this session does not take messages");
	else
		p->waiting = m.job;
	return 0;
}

static void control_answer_taken(struct control_peer *p)
{
	const struct message_job m = {.value = p->control->metered};

	p->note = 0;
	control_answer(p, MESSAGE_TAKEN, &message_job_schema, &m, NULL, 0);
}

static int control_on_taken(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	p->note = recording_taken(p->control->recording, &m);
	if (p->note == 0)
		control_answer_taken(p);
	return 0;
}

/* The disk has the notes up to this one. */
static void control_on_recorded(void *context, uint64_t id)
{
	struct control *c = context;

	for (size_t i = 0; i < CONTROL_PEERS; i++) {
		struct control_peer *p = &c->peers[i];

		if (p->channel.fd >= 0 && p->note != 0 && p->note <= id)
			control_answer_taken(p);
	}
}

static int control_on_spend(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;
	struct control *c = p->control;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	m.job = ++c->next;
	r = control_ask_gate(c, MESSAGE_SPEND, &message_job_schema, &m, NULL, 0);
	if (r < 0)
		control_fail(p, r, control_no_gate(r));
	else
		p->waiting = m.job;
	return 0;
}

static int control_on_end(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	p->waits = true;
	p->control->ends = true;
	/* Who is held still cannot end by himself. */
	if (p->control->session.held) {
		control_set_held(p->control, false, "");
		control_update_pause(p->control);
	}
	return p->control->end(p->control->context, m.value != 0);
}

static int control_on_input(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;
	const struct message_changed done = {.text = ""};

	(void)e;
	if (p->control->type(p->control->context, packet->body) < 0)
		control_fail(p, -ENOTTY, "this session has no terminal to type into");
	else
		control_answer(p, MESSAGE_CHANGED, &message_changed_schema, &done, NULL, 0);
	return 0;
}

static int control_on_wait(void *context, struct channel_packet *packet, struct error *e)
{
	struct control_peer *p = context;

	size_t count = 0;

	(void)packet;
	(void)e;
	for (size_t i = 0; i < CONTROL_PEERS; i++)
		count += p->control->peers[i].channel.fd >= 0 && p->control->peers[i].waits;
	if (count >= CONTROL_PEERS / 2)
		control_fail(p, -EUSERS, "too many wait for this session's end already");
	else
		p->waits = true;
	return 0;
}

/* Of one whose command waits for the end of a pause: it is not served yet. */
static int control_on_carried(void *context, struct channel_packet *packet, struct error *e)
{
	(void)context;
	(void)packet;
	(void)e;
	return 0;
}

static const struct channel_rule control_rules[] = {
	{MESSAGE_STATUS, "STATUS", 256, 0, 0, 1u << CONTROL_SERVING, control_on_status},
	{MESSAGE_CHANGE, "CHANGE", 1024, 1, 1, 1u << CONTROL_SERVING, control_on_change},
	{MESSAGE_COUNT, "COUNT", 512, 0, 0, 1u << CONTROL_SERVING, control_on_count},
	{MESSAGE_PAUSE, "PAUSE", 16, 0, 0, 1u << CONTROL_SERVING, control_on_pause},
	{MESSAGE_SPAWN, "SPAWN", CHANNEL_BYTES_MAX, 0, 3, 1u << CONTROL_SERVING, control_on_spawn},
	{MESSAGE_END, "END", 16, 0, 0, 1u << CONTROL_SERVING, control_on_end},
	{MESSAGE_INPUT, "INPUT", MESSAGE_DATA_MAX, 0, 0, 1u << CONTROL_SERVING, control_on_input},
	{MESSAGE_WAIT, "WAIT", 0, 0, 0, 1u << CONTROL_SERVING, control_on_wait},
	{MESSAGE_HOLD, "HOLD", 16, 0, 0, 1u << CONTROL_SERVING, control_on_hold},
	{MESSAGE_REACH, "REACH", 16, 0, 0, 1u << CONTROL_SERVING, control_on_reach},
	{MESSAGE_TAKEN, "TAKEN", 16, 0, 0, 1u << CONTROL_SERVING, control_on_taken},
	{MESSAGE_SPEND, "SPEND", 16, 0, 0, 1u << CONTROL_SERVING, control_on_spend},
	{MESSAGE_ATTACH, "ATTACH", 32, 0, 0, 1u << CONTROL_SERVING, control_on_attach},
	{MESSAGE_CARRIED, "CARRIED", 16, 0, 0, 1u << CONTROL_SERVING, control_on_carried},
};

static int control_on_peer(void *context, uint32_t events)
{
	struct control_peer *p = context;

	(void)events;
	p->stays = clock_ms(CLOCK_BOOTTIME) + CONTROL_SPOKEN_MS;
	if (!channel_serve(&p->channel))
		control_drop(p);
	return 0;
}

/* A free place; else that of the peer that has been silent for the longest time; or NULL. */
static struct control_peer *control_place(struct control *c)
{
	int64_t now = clock_ms(CLOCK_BOOTTIME);
	struct control_peer *first = NULL;

	for (size_t i = 0; i < CONTROL_PEERS; i++) {
		struct control_peer *p = &c->peers[i];

		if (p->channel.fd < 0)
			return p;
		if (p->waiting == 0 && p->note == 0 && p->pauses == 0 && !p->waits &&
		    !p->spawn_waits && p->stays <= now && (!first || p->stays < first->stays))
			first = p;
	}
	if (first)
		control_drop(first);
	return first;
}

static int control_on_room_timer(void *context, uint32_t events)
{
	struct control *c = context;
	uint64_t times;

	(void)events;
	if (read(c->room_timer, &times, sizeof(times)) > 0)
		control_hear(c);
	return 0;
}

/* Peers that are being served have all places: new ones wait in the socket. */
static void control_wait_for_room(struct control *c)
{
	const struct itimerspec when = {.it_value.tv_nsec = CONTROL_ROOM_MS * 1000000L};

	if (timerfd_settime(c->room_timer, 0, &when, NULL) == 0 &&
	    loop_set_events(c->loop, c->listener_handle, 0) == 0)
		c->full = true;
}

static bool control_is_ours(const struct control *c, int fd)
{
	struct ucred who = {.uid = (uid_t)-1};
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 || len != sizeof(who))
		return false;
	return who.uid == c->uid || who.uid == 0;
}

static int control_on_listener(void *context, uint32_t events)
{
	struct control *c = context;
	struct control_peer *p = control_place(c);

	(void)events;
	if (!p) {
		control_wait_for_room(c);
		return 0;
	}
	_cleanup_fd_ int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 || !control_is_ours(c, fd))
		return 0;
	*p = (struct control_peer){.control = c,
				   .stays = clock_ms(CLOCK_BOOTTIME) + CONTROL_SILENT_MS};
	p->channel = (struct channel){.fd = TAKE_FD(fd),
				      .rules = control_rules,
				      .rule_count = BAWN_ARRAY_SIZE(control_rules),
				      .state = CONTROL_SERVING,
				      .context = p};
	if (loop_add(c->loop, p->channel.fd, EPOLLIN, control_on_peer, p, &p->handle) < 0)
		control_drop(p);
	return 0;
}

/* --- the session ---------------------------------------------------------------------- */

int control_open(struct control *c, struct channel_packet *packet, struct error *e)
{
	int r = message_decode(packet->body, &message_session_schema, &c->session, NULL, e);

	if (r < 0)
		return r;
	if (c->listener >= 0)
		return error_set(e, -EPROTO, "a second control socket");
	(void)snprintf(c->name, sizeof(c->name), "%s", c->session.name);
	c->session.name = c->name;
	c->session.why = "";
	c->session.generation = 0;
	c->listener = TAKE_FD(packet->fds[0]);
	c->folder = TAKE_FD(packet->fds[1]);
	if (packet->fd_count > 2)
		c->layers = TAKE_FD(packet->fds[2]);
	if (packet->fd_count > 3)
		c->shared = TAKE_FD(packet->fds[3]);
	return 0;
}

int control_start(struct control *c, int plan, const struct plan *brief, struct error *e)
{
	c->plan = plan;
	c->brief = brief;
	if (c->listener < 0)
		return 0;
	c->recording->on_recorded = control_on_recorded;
	c->recording->recorded_context = c;
	/* Without a board everybody asks. */
	c->board = board_open(c->folder);
	if (c->board >= 0) {
		c->loop->turn = control_on_turn;
		c->loop->turn_context = c;
	}
	c->pause_timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	int r = c->pause_timer < 0 ? -errno
				   : loop_add(c->loop, c->pause_timer, EPOLLIN,
					      control_on_pause_timer, c, &c->pause_handle);

	if (r == 0) {
		c->room_timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
		r = c->room_timer < 0 ? -errno
				      : loop_add(c->loop, c->room_timer, EPOLLIN,
						 control_on_room_timer, c, &c->room_handle);
	}
	if (r == 0)
		r = loop_add(c->loop, c->listener, EPOLLIN, control_on_listener, c,
			     &c->listener_handle);

	return r < 0 ? error_sys(e, r, "opening the session's control socket") : 0;
}

/* --- what the gate answers ------------------------------------------------------------ */

static void control_accept_change(struct control *c)
{
	struct message_event event = {.kind = MESSAGE_EVENT_POLICY,
				      .allowed = c->change.allowed,
				      .host = c->change.what,
				      .count = 1,
				      .origin = "",
				      .reason = c->change.reason,
				      .line = ""};

	fd_close(&c->plan);
	c->plan = TAKE_FD(c->change.plan);
	c->session.generation++;
	c->names = c->names || c->change.names;
	c->tell(c->context, &event);
}

int control_on_changed(struct control *c, struct span body, struct error *e)
{
	struct message_changed m;
	int r = message_decode(body, &message_changed_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (c->change.id == 0 || m.id != c->change.id)
		return error_set(e, -EPROTO, "an answer to a change that nobody made");
	struct control_peer *p = control_waiting(c, m.id);

	c->change.id = 0;
	if (m.failure == 0)
		control_accept_change(c);
	fd_close(&c->change.plan);
	if (!p)
		return 0;
	p->waiting = 0;
	control_answer(p, MESSAGE_CHANGED, &message_changed_schema, &m, NULL, 0);
	return 0;
}

int control_on_counted(struct control *c, struct span body, struct error *e)
{
	struct message_counted m;
	int r = message_decode(body, &message_counted_schema, &m, NULL, e);

	if (r < 0)
		return r;
	struct control_peer *p = control_waiting(c, m.id);

	if (!p)
		return 0;
	p->waiting = 0;
	control_answer(p, MESSAGE_COUNTED, &message_counted_schema, &m, NULL, 0);
	return 0;
}

int control_on_spent(struct control *c, struct span body, struct error *e)
{
	struct message_job m;
	int r = message_decode(body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	struct control_peer *p = control_waiting(c, m.job);

	if (!p)
		return 0;
	p->waiting = 0;
	control_answer(p, MESSAGE_SPENT, &message_job_schema, &m, NULL, 0);
	return 0;
}

int control_on_reached(struct control *c, struct channel_packet *packet, struct error *e)
{
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	size_t sockets =
		(m.value & MESSAGE_REACH_V4 ? 1u : 0u) + (m.value & MESSAGE_REACH_V6 ? 1u : 0u);

	if (m.value > (MESSAGE_REACH_V4 | MESSAGE_REACH_V6) || packet->fd_count != sockets)
		return error_set(e, -EPROTO, "a socket that does not fit");
	struct control_peer *p = control_waiting(c, m.job);

	if (!p)
		return 0;
	p->waiting = 0;
	control_answer(p, MESSAGE_REACHED, &message_job_schema, &m, packet->fds, packet->fd_count);
	return 0;
}

void control_lose_gate(struct control *c)
{
	c->change.id = 0;
	fd_close(&c->change.plan);
	for (size_t i = 0; i < CONTROL_PEERS; i++) {
		struct control_peer *p = &c->peers[i];

		if (p->channel.fd < 0 || p->waiting == 0)
			continue;
		p->waiting = 0;
		control_fail(p, -ENOTCONN, control_no_gate(-ENOTCONN));
	}
}

void control_end(struct control *c, uint32_t type, struct span body)
{
	for (size_t i = 0; i < CONTROL_PEERS; i++)
		if (c->peers[i].channel.fd >= 0 && c->peers[i].waits)
			(void)channel_send(c->peers[i].channel.fd, type, body, NULL, 0);
}
