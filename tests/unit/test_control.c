/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket of a session: one change of the rules at a time, from the rules that hold, and
 * none that was not kept first; pauses that end with whoever asked for them; and room for peers.
 * Gate, init and peers are this test.
 */
#include "cmocka_lead.h"

#include "loop_lead.h"
#include "message_box.h"
#include "message_control.h"
#include "message_gate.h"
#include "plan_lead.h"

#include "clock.h"
#include "control.h"
#include "recording.h"
#include "signing.h"

#include <errno.h>
#include <linux/netlink.h>
#include <sys/stat.h>

enum { TIMER_MS = 20 };

struct pause_call {
	uint64_t id;
	unsigned int value;
};

struct world {
	struct loop loop;
	struct channel gate;
	int gate_end;
	struct control c;
	int plan;
	/* What the session was told. */
	size_t told;
	bool told_allowed;
	char told_host[64], told_reason[64];
	/* What was asked of us. */
	size_t decided;
	int decide_result;
	ino_t decided_plan;
	uint64_t decided_generation;
	struct pause_call pauses[16];
	size_t pause_count;
	struct recording recording;
	int recorder; /* its other end */
};

static ino_t number_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

static void on_tell(void *context, const struct message_event *event)
{
	struct world *w = context;

	w->told++;
	w->told_allowed = event->allowed;
	assert_int_equal(event->kind, MESSAGE_EVENT_POLICY);
	(void)snprintf(w->told_host, sizeof(w->told_host), "%s", event->host);
	(void)snprintf(w->told_reason, sizeof(w->told_reason), "%s", event->reason);
}

static int on_decide(void *context, const struct message_change *change, int plan, struct error *e)
{
	struct world *w = context;

	w->decided++;
	w->decided_plan = number_of(plan);
	w->decided_generation = change->generation;
	return w->decide_result < 0 ? error_set(e, w->decide_result, "the record is full") : 0;
}

static int on_pause(void *context, uint64_t id, unsigned int value)
{
	struct world *w = context;

	assert_in_range(w->pause_count, 0, BAWN_ARRAY_SIZE(w->pauses) - 1);
	w->pauses[w->pause_count++] = (struct pause_call){id, value};
	return 0;
}

static void on_look(void *context, struct message_session *session)
{
	(void)context;
	session->terminal = true;
	session->viewers = 3;
}

/* --- the world ------------------------------------------------------------------------- */

static struct plan_ports any_port[] = {{1, UINT16_MAX}};

static int plan_of(struct plan_rule *rules, size_t count)
{
	struct plan_string command[] = {{"true"}};
	struct plan p = {.cwd = "/", .argv = {command, 1}, .network = {rules, count}};

	for (size_t i = 0; i < count; i++)
		rules[i].ports.items = any_port, rules[i].ports.count = 1;
	return plan_sealed(&p);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error e = ERROR_INIT;
	int ends[2];

	assert_non_null(w);
	assert_int_equal(loop_init(&w->loop), 0);
	assert_int_equal(channel_pair(ends), 0);
	w->gate.fd = ends[0];
	w->gate_end = ends[1];
	control_init(&w->c, &w->loop, &w->gate, on_tell, w);
	w->c.decide = on_decide;
	w->c.pause = on_pause;
	w->c.look = on_look;
	w->recording = RECORDING_INIT;
	assert_int_equal(channel_pair(ends), 0);
	w->recording.channel.fd = ends[0];
	w->recorder = ends[1];
	w->c.recording = &w->recording;
	w->c.metered = true;
	_cleanup_buf_ struct buf body = BUF_INIT(4096);
	const struct message_session m = {.name = "fox", .since = 5, .pid = 6, .generation = 9};
	int listener = lead_listen("control", SOCK_SEQPACKET);

	assert_int_equal(chmod(lead_address("control").sun_path, 0777), 0);
	schema_encode(&body, &message_session_schema, &m);
	struct channel_packet packet = {.body = buf_span(&body),
					.fds = {listener, fcntl(listener, F_DUPFD_CLOEXEC, 3)},
					.fd_count = 2};

	assert_int_equal(control_open(&w->c, &packet, &e), 0);
	w->plan = plan_of(NULL, 0);
	assert_int_equal(control_start(&w->c, fcntl(w->plan, F_DUPFD_CLOEXEC, 3), &plan_none, &e),
			 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < CONTROL_PEERS; i++)
		fd_close(&w->c.peers[i].channel.fd);
	loop_fini(&w->loop);
	fd_close(&w->c.listener);
	fd_close(&w->c.folder);
	fd_close(&w->c.plan);
	fd_close(&w->c.capture);
	fd_close(&w->c.change.plan);
	fd_close(&w->c.pause_timer);
	fd_close(&w->c.room_timer);
	fd_close(&w->gate.fd);
	fd_close(&w->gate_end);
	fd_close(&w->recording.channel.fd);
	fd_close(&w->recorder);
	(void)close(w->plan);
	(void)unlink(lead_address("control").sun_path);
	free(w);
	return 0;
}

static int peer(struct world *w)
{
	int fd = lead_connect("control", SOCK_SEQPACKET);

	lead_run(&w->loop);
	return fd;
}

/* What came: its type, 0 for nothing, -1 when the other end is gone. */
static int receive(int fd, struct span *ret_body, int *ret_fd)
{
	static uint8_t bytes[4 + CHANNEL_BYTES_MAX];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {bytes, sizeof(bytes)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	if (n < 4)
		return -1;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int got = -1;

	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&got, CMSG_DATA(c), sizeof(got));
	if (ret_fd)
		*ret_fd = got;
	else
		fd_close(&got);
	*ret_body = (struct span){bytes + 4, (size_t)n - 4};
	return bytes[0];
}

static void assert_silent(int fd)
{
	struct span body = {NULL, 0};

	assert_int_equal(receive(fd, &body, NULL), 0);
}

static void assert_failed(int fd, int code, const char *text)
{
	struct error e = ERROR_INIT, said = ERROR_INIT;
	struct span body = {NULL, 0};

	assert_int_equal(receive(fd, &body, NULL), MESSAGE_FAILED);
	assert_int_equal(message_decode_failed(body, &said, &e), 0);
	assert_int_equal(said.code, code);
	assert_string_equal(said.text, text);
}

/* --- status ---------------------------------------------------------------------------- */

static int say_hello(int fd, uint64_t version, const char *program)
{
	const struct message_hello m = {version, program};

	return message_send(fd, MESSAGE_STATUS, &message_hello_schema, &m, NULL, 0);
}

static void status(struct world *w, int fd, uint64_t generation, bool gate, ino_t plan)
{
	struct error e = ERROR_INIT;
	struct message_session m;
	struct span body = {NULL, 0};
	int got = -1;

	assert_int_equal(say_hello(fd, MESSAGE_CONTROL_VERSION, "0.9"), 0);
	lead_run(&w->loop);
	assert_int_equal(receive(fd, &body, &got), MESSAGE_STATE);
	assert_int_equal(message_decode(body, &message_session_schema, &m, NULL, &e), 0);
	assert_string_equal(m.name, "fox");
	assert_int_equal(m.since, 5);
	assert_int_equal(m.pid, 6);
	assert_int_equal(m.generation, generation);
	assert_int_equal(m.gate, gate);
	assert_int_equal(number_of(got), plan);
	(void)close(got);
}

static void test_status(void **state)
{
	struct world *w = *state;
	int fd = peer(w);

	/* Whatever the client said: the rules are those of the start. */
	status(w, fd, 0, true, number_of(w->plan));
	fd_close(&w->gate.fd);
	status(w, fd, 0, false, number_of(w->plan));
	(void)close(fd);
}

/* --- changes --------------------------------------------------------------------------- */

static void change(struct world *w, int fd, uint64_t generation, int plan)
{
	const struct message_change m = {
		.generation = generation, .allowed = true, .what = "web.test", .reason = "allow"};

	assert_int_equal(message_send(fd, MESSAGE_CHANGE, &message_change_schema, &m, &plan, 1), 0);
	lead_run(&w->loop);
}

/* What the gate was asked for; 0: nothing. */
static uint64_t gate_asked(const struct world *w, ino_t plan)
{
	struct error e = ERROR_INIT;
	struct message_job m;
	struct span body = {NULL, 0};
	int got = -1;
	int type = receive(w->gate_end, &body, &got);

	if (type == 0)
		return 0;
	assert_int_equal(type, MESSAGE_RULES);
	assert_int_equal(message_decode(body, &message_job_schema, &m, NULL, &e), 0);
	assert_int_equal(number_of(got), plan);
	(void)close(got);
	return m.job;
}

static int gate_says(struct world *w, uint64_t id, uint64_t failure)
{
	_cleanup_buf_ struct buf body = BUF_INIT(4096);
	const struct message_changed m = {
		.id = id, .failure = failure, .text = failure ? "no" : "", .ended = 3};
	struct error e = ERROR_INIT;

	schema_encode(&body, &message_changed_schema, &m);
	return control_on_changed(&w->c, buf_span(&body), &e);
}

static void assert_changed(int fd, uint64_t failure)
{
	struct error e = ERROR_INIT;
	struct message_changed m;
	struct span body = {NULL, 0};

	assert_int_equal(receive(fd, &body, NULL), MESSAGE_CHANGED);
	assert_int_equal(message_decode(body, &message_changed_schema, &m, NULL, &e), 0);
	assert_int_equal(m.failure, failure);
	assert_int_equal(m.ended, 3);
}

static const char overtaken[] = "the rules were changed by somebody else meanwhile";

static void test_changes(void **state)
{
	struct world *w = *state;
	int one = peer(w), two = peer(w), plan = plan_of(NULL, 0), next = plan_of(NULL, 0);

	change(w, one, 0, plan);
	assert_int_equal(w->decided, 1);
	assert_int_equal(w->decided_plan, number_of(plan));
	uint64_t id = gate_asked(w, number_of(plan));

	assert_int_not_equal(id, 0);
	/* It does not hold yet, and nobody else comes in between, whatever he departs from. */
	status(w, two, 0, true, number_of(w->plan));
	for (uint64_t generation = 0; generation < 3; generation++) {
		change(w, two, generation, next);
		assert_failed(two, -EAGAIN, overtaken);
	}
	assert_int_equal(w->decided, 1);
	assert_int_equal(w->told, 0);
	assert_silent(one);
	assert_silent(w->gate_end);
	assert_int_equal(gate_says(w, id, 0), 0);
	assert_changed(one, 0);
	assert_silent(two);
	assert_int_equal(w->told, 1);
	assert_true(w->told_allowed);
	assert_string_equal(w->told_host, "web.test");
	assert_string_equal(w->told_reason, "allow");
	status(w, two, 1, true, number_of(plan));
	/* From rules that hold no more, and from some that never did. */
	change(w, two, 0, next);
	assert_failed(two, -EAGAIN, overtaken);
	change(w, two, 2, next);
	assert_failed(two, -EAGAIN, overtaken);
	assert_int_equal(w->decided, 1);
	assert_silent(w->gate_end);
	change(w, two, 1, next);
	assert_int_equal(w->decided_generation, 1);
	uint64_t later = gate_asked(w, number_of(next));

	assert_true(later > id);
	assert_int_equal(gate_says(w, later, 0), 0);
	assert_changed(two, 0);
	assert_silent(one);
	status(w, one, 2, true, number_of(next));
	(void)close(plan);
	(void)close(next);
	(void)close(one);
	(void)close(two);
}

static void test_changes_that_the_gate_refuses(void **state)
{
	struct world *w = *state;
	int fd = peer(w), plan = plan_of(NULL, 0);

	change(w, fd, 0, plan);
	assert_int_equal(gate_says(w, gate_asked(w, number_of(plan)), EIO), 0);
	assert_changed(fd, EIO);
	assert_int_equal(w->told, 0);
	assert_int_equal(w->c.change.plan, -1);
	status(w, fd, 0, true, number_of(w->plan));
	/* The next may come. */
	change(w, fd, 0, plan);
	assert_int_equal(gate_says(w, gate_asked(w, number_of(plan)), 0), 0);
	assert_changed(fd, 0);
	(void)close(plan);
	(void)close(fd);
}

/* What is not kept is not made. */
static void test_changes_that_are_not_kept(void **state)
{
	struct world *w = *state;
	int fd = peer(w), plan = plan_of(NULL, 0);

	w->decide_result = -ENOSPC;
	change(w, fd, 0, plan);
	assert_failed(fd, -ENOSPC, "the record is full");
	assert_silent(w->gate_end);
	w->decide_result = 0;
	change(w, fd, 0, plan);
	assert_int_not_equal(gate_asked(w, number_of(plan)), 0);
	(void)close(plan);
	(void)close(fd);
}

/* What comes as a plan is one, and cannot change any more. */
static void test_changes_without_a_plan(void **state)
{
	struct world *w = *state;
	int fd = peer(w), plan = memfd_create("plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	change(w, fd, 0, plan);
	assert_failed(fd, -EPERM, "the plan is not sealed");
	assert_silent(w->gate_end);
	(void)close(plan);
	(void)close(fd);
}

static void test_answers_that_nobody_asked_for(void **state)
{
	struct world *w = *state;
	int fd = peer(w), plan = plan_of(NULL, 0);

	assert_int_equal(gate_says(w, 0, 0), -EPROTO);
	assert_int_equal(gate_says(w, 1, 0), -EPROTO);
	change(w, fd, 0, plan);
	uint64_t id = gate_asked(w, number_of(plan));

	assert_int_equal(gate_says(w, id + 1, 0), -EPROTO);
	assert_int_equal(gate_says(w, id - 1, 0), -EPROTO);
	assert_int_equal(w->told, 0);
	/* Whoever asked is gone: it holds all the same. */
	(void)close(fd);
	lead_run(&w->loop);
	assert_int_equal(gate_says(w, id, 0), 0);
	assert_int_equal(w->c.session.generation, 1);
	assert_int_equal(gate_says(w, id, 0), -EPROTO);
	(void)close(plan);
}

static void test_without_a_gate(void **state)
{
	static const char none[] = "this session has no gate: nothing of its network can change";
	struct world *w = *state;
	int one = peer(w), two = peer(w), plan = plan_of(NULL, 0);

	change(w, one, 0, plan);
	control_lose_gate(&w->c);
	assert_failed(one, -ENOTCONN, none);
	assert_silent(two);
	assert_int_equal(w->c.change.id, 0);
	assert_int_equal(w->c.change.plan, -1);
	fd_close(&w->gate.fd);
	change(w, two, 0, plan);
	assert_failed(two, -ENOTCONN, none);
	assert_int_equal(w->c.change.id, 0);
	(void)close(plan);
	(void)close(one);
	(void)close(two);
}

/* --- addresses ------------------------------------------------------------------------- */

static void answer(int kernel)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr body;
	} m = {.head = {.nlmsg_len = sizeof(m), .nlmsg_type = NLMSG_ERROR}};

	assert_int_equal(send(kernel, &m, sizeof(m), 0), sizeof(m));
}

static bool was_opened(int kernel, const void *address, size_t len)
{
	static char bytes[16 << 10];
	ssize_t n = recv(kernel, bytes, sizeof(bytes), MSG_DONTWAIT);

	/* All of it, not a part. */
	return n > 0 && memmem(bytes, (size_t)n, address, len) &&
	       !memmem(bytes, (size_t)n, "bitwise", strlen("bitwise"));
}

static void test_addresses_are_opened_once(void **state)
{
	static const uint8_t v4[16] = {[10] = 0xff, 0xff, 192, 0, 2, 7};
	static const uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
	static const uint8_t denied[16] = {[10] = 0xff, 0xff, 192, 0, 2, 8};
	struct plan_rule rules[] = {
		{.action = PLAN_ACTION_DENY, .host = "192.0.2.8", .address = {denied, 16}},
		{.action = PLAN_ACTION_ASK, .host = "192.0.2.8", .address = {denied, 16}},
		{.action = PLAN_ACTION_ALLOW, .host = "192.0.2.7", .address = {v4, 16}},
		{.action = PLAN_ACTION_ALLOW, .host = "2001:db8::1", .address = {v6, 16}},
		{.action = PLAN_ACTION_ALLOW, .host = "web.test"},
	};
	struct world *w = *state;
	int fd = peer(w), ends[2];
	int plan = plan_of(rules, 4), named = plan_of(rules, BAWN_ARRAY_SIZE(rules));

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	control_take_capture(&w->c, ends[0]);
	answer(ends[1]);
	answer(ends[1]);
	change(w, fd, 0, plan);
	assert_true(was_opened(ends[1], v4 + 12, 4));
	assert_true(was_opened(ends[1], v6, 16));
	assert_int_equal(recv(ends[1], &(char){0}, 1, MSG_DONTWAIT), -1);
	assert_int_equal(w->c.opened_count, 2);
	assert_int_equal(gate_says(w, gate_asked(w, number_of(plan)), 0), 0);
	assert_changed(fd, 0);
	assert_false(w->c.names);
	/* They are open already; names come only with rules that hold. */
	change(w, fd, 1, named);
	assert_int_equal(recv(ends[1], &(char){0}, 1, MSG_DONTWAIT), -1);
	assert_false(w->c.names);
	assert_int_equal(gate_says(w, gate_asked(w, number_of(named)), 0), 0);
	assert_true(w->c.names);
	assert_changed(fd, 0);
	change(w, fd, 2, plan);
	assert_int_equal(gate_says(w, gate_asked(w, number_of(plan)), 0), 0);
	assert_true(w->c.names);
	(void)close(plan);
	(void)close(named);
	(void)close(ends[1]);
	(void)close(fd);
}

static void test_addresses_are_not_without_end(void **state)
{
	static const uint8_t last[16] = {[10] = 0xff, 0xff, 192, 0, 2, 7};
	static const uint8_t more[16] = {[10] = 0xff, 0xff, 192, 0, 2, 8};
	struct plan_rule rules[] = {
		{.action = PLAN_ACTION_ALLOW, .host = "192.0.2.7", .address = {last, 16}}};
	struct plan_rule others[] = {
		{.action = PLAN_ACTION_ALLOW, .host = "192.0.2.8", .address = {more, 16}}};
	struct world *w = *state;
	int fd = peer(w), ends[2], plan = plan_of(rules, 1), other = plan_of(others, 1);

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	control_take_capture(&w->c, ends[0]);
	w->c.opened_count = CONTROL_ADDRESSES_MAX - 1;
	answer(ends[1]);
	change(w, fd, 0, plan);
	assert_int_equal(w->c.opened_count, CONTROL_ADDRESSES_MAX);
	assert_int_equal(gate_says(w, gate_asked(w, number_of(plan)), 0), 0);
	assert_changed(fd, 0);
	change(w, fd, 1, other);
	struct span body = {NULL, 0};

	assert_int_equal(receive(fd, &body, NULL), MESSAGE_FAILED);
	assert_silent(w->gate_end);
	/* What is open stays so. */
	change(w, fd, 1, plan);
	assert_int_equal(gate_says(w, gate_asked(w, number_of(plan)), 0), 0);
	assert_changed(fd, 0);
	(void)close(plan);
	(void)close(other);
	(void)close(ends[1]);
	(void)close(fd);
}

static void test_without_nf_tables(void **state)
{
	struct world *w = *state;

	control_say_plain(&w->c, false);
	assert_true(w->c.session.plain);
	assert_int_equal(w->told, 0);
	control_say_plain(&w->c, true);
	assert_int_equal(w->told, 1);
	assert_false(w->told_allowed);
}

/* --- counts ---------------------------------------------------------------------------- */

static uint64_t count(struct world *w, int fd, const char *host, uint64_t port)
{
	const struct message_count m = {.id = 77, .host = host, .port = port};
	struct error e = ERROR_INIT;
	struct message_count asked;
	struct span body = {NULL, 0};

	assert_int_equal(message_send(fd, MESSAGE_COUNT, &message_count_schema, &m, NULL, 0), 0);
	lead_run(&w->loop);
	assert_int_equal(receive(w->gate_end, &body, NULL), MESSAGE_COUNT);
	assert_int_equal(message_decode(body, &message_count_schema, &asked, NULL, &e), 0);
	assert_string_equal(asked.host, host);
	assert_int_equal(asked.port, port);
	return asked.id;
}

static void gate_counts(struct world *w, uint64_t id, uint64_t connections)
{
	_cleanup_buf_ struct buf body = BUF_INIT(4096);
	const struct message_counted m = {.id = id, .connections = connections, .reason = ""};
	struct error e = ERROR_INIT;

	schema_encode(&body, &message_counted_schema, &m);
	assert_int_equal(control_on_counted(&w->c, buf_span(&body), &e), 0);
}

static void assert_counted(int fd, uint64_t connections)
{
	struct error e = ERROR_INIT;
	struct message_counted m;
	struct span body = {NULL, 0};

	assert_int_equal(receive(fd, &body, NULL), MESSAGE_COUNTED);
	assert_int_equal(message_decode(body, &message_counted_schema, &m, NULL, &e), 0);
	assert_int_equal(m.connections, connections);
}

static void test_counts_reach_who_asked(void **state)
{
	struct world *w = *state;
	int one = peer(w), two = peer(w);
	uint64_t first = count(w, one, "a.test", 443), second = count(w, two, "b.test", 0);

	assert_int_not_equal(first, second);
	gate_counts(w, second, 2);
	assert_counted(two, 2);
	assert_silent(one);
	gate_counts(w, second, 3); /* he has his answer */
	assert_silent(two);
	gate_counts(w, first, 1);
	assert_counted(one, 1);
	assert_silent(two);
	(void)close(one);
	(void)close(two);
}

/* --- pauses ---------------------------------------------------------------------------- */

static void say_pause(struct world *w, int fd, uint64_t value)
{
	const struct message_job m = {.value = value};

	assert_int_equal(message_send(fd, MESSAGE_PAUSE, &message_job_schema, &m, NULL, 0), 0);
	lead_run(&w->loop);
}

static void init_says(struct world *w, uint64_t id, uint64_t failure, uint64_t held)
{
	_cleanup_buf_ struct buf body = BUF_INIT(4096);
	const struct message_paused m = {.id = id,
					 .failure = failure,
					 .text = failure ? "it moved" : "",
					 .next = "",
					 .count = held};
	struct error e = ERROR_INIT;

	schema_encode(&body, &message_paused_schema, &m);
	assert_int_equal(control_on_paused(&w->c, buf_span(&body), &e), 0);
}

static void assert_paused(int fd, uint64_t held)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(4096);
	struct error e = ERROR_INIT;
	struct message_paused m;
	struct span body = {NULL, 0};

	assert_int_equal(receive(fd, &body, NULL), MESSAGE_PAUSED);
	assert_int_equal(message_decode(body, &message_paused_schema, &m, &arena, &e), 0);
	assert_int_equal(m.failure, 0);
	assert_int_equal(m.count, held);
}

static struct pause_call last_pause(const struct world *w, size_t count)
{
	assert_int_equal(w->pause_count, count);
	return w->pauses[count - 1];
}

static void test_pauses(void **state)
{
	struct world *w = *state;
	int one = peer(w), two = peer(w);

	say_pause(w, one, 1);
	uint64_t id = last_pause(w, 1).id;

	assert_int_not_equal(id, 0);
	assert_int_equal(last_pause(w, 1).value, 1);
	assert_silent(one);
	/* An answer to another pause is none to this one. */
	init_says(w, id + 1, 0, 3);
	assert_silent(one);
	init_says(w, id, 0, 3);
	assert_paused(one, 3);
	/* A second one has it at once. */
	say_pause(w, two, 1);
	assert_paused(two, 3);
	assert_int_equal(w->pause_count, 1);
	/* The first lets go, and is told whether it has held; the box stays still. */
	say_pause(w, one, 0);
	assert_int_equal(last_pause(w, 2).id, id);
	assert_int_equal(last_pause(w, 2).value, MESSAGE_PAUSE_HELD);
	assert_silent(one);
	init_says(w, id, 0, 4);
	assert_paused(one, 4);
	assert_silent(two);
	assert_int_equal(w->pause_count, 2);
	/* The last of them is gone: it goes on. */
	(void)close(two);
	lead_run(&w->loop);
	assert_int_equal(last_pause(w, 3).id, 0);
	assert_int_equal(last_pause(w, 3).value, 0);
	/* And an answer that comes late says nothing. */
	init_says(w, id, 0, 4);
	assert_silent(one);
	assert_int_equal(w->pause_count, 3);
	/* The next pause is another one. */
	say_pause(w, one, 1);
	assert_true(last_pause(w, 4).id > id);
	(void)close(one);
}

static void test_a_pause_that_fails(void **state)
{
	struct world *w = *state;
	int one = peer(w), two = peer(w);

	say_pause(w, one, 1);
	say_pause(w, two, 1);
	assert_int_equal(w->pause_count, 1);
	init_says(w, w->pauses[0].id, EBUSY, 0);
	assert_failed(one, -EBUSY, "it moved");
	assert_failed(two, -EBUSY, "it moved");
	/* It goes, and nobody has to be told. */
	assert_int_equal(w->c.pause_state, CONTROL_GOES);
	assert_int_equal(w->pause_count, 1);
	say_pause(w, one, 1);
	assert_int_equal(last_pause(w, 2).value, 1);
	(void)close(one);
	(void)close(two);
}

/* It did not hold: for nobody who paused, and the next who lets go hears it. */
static void test_a_pause_that_did_not_hold(void **state)
{
	static const char late[] = "the session went on before this: the pause was too long";
	struct world *w = *state;
	int one = peer(w), two = peer(w);

	say_pause(w, one, 1);
	init_says(w, w->pauses[0].id, 0, 3);
	say_pause(w, two, 1);
	assert_paused(one, 3);
	assert_paused(two, 3);
	say_pause(w, one, 0);
	init_says(w, w->pauses[0].id, EBUSY, 0);
	assert_failed(one, -EBUSY, "it moved");
	assert_silent(two);
	assert_int_equal(last_pause(w, 3).value, 0);
	say_pause(w, two, 0);
	assert_failed(two, -ESTALE, late);
	/* Who never paused has nothing to let go of. */
	say_pause(w, one, 0);
	assert_failed(one, -ESTALE, late);
	assert_int_equal(w->pause_count, 3);
	(void)close(one);
	(void)close(two);
}

static void test_a_pause_ends_by_itself(void **state)
{
	struct world *w = *state;
	int one = peer(w), two = peer(w);
	int64_t start = clock_ms(CLOCK_BOOTTIME);

	say_pause(w, one, 1);
	init_says(w, w->pauses[0].id, 0, 3);
	assert_paused(one, 3);
	assert_in_range(w->c.peers[0].pauses, start + CONTROL_PAUSE_MS,
			clock_ms(CLOCK_BOOTTIME) + CONTROL_PAUSE_MS);
	/* Its time is over, and that of the other is not. */
	w->c.peers[0].pauses = 1;
	say_pause(w, two, 1);
	assert_paused(two, 3);
	(void)usleep(TIMER_MS * 1000);
	lead_run(&w->loop);
	assert_int_equal(w->c.peers[0].pauses, 0);
	assert_int_not_equal(w->c.peers[1].pauses, 0);
	assert_int_equal(w->pause_count, 1);
	say_pause(w, one, 0);
	assert_failed(one, -ESTALE, "the session went on before this: the pause was too long");
	assert_int_equal(w->pause_count, 1);
	/* The last one's, too: it goes on. */
	w->c.peers[1].pauses = 1;
	say_pause(w, one, 1);
	assert_paused(one, 3);
	w->c.peers[0].pauses = 1;
	say_pause(w, two, 0);
	(void)usleep(TIMER_MS * 1000);
	lead_run(&w->loop);
	assert_int_equal(w->c.pause_state, CONTROL_GOES);
	assert_int_equal(w->pauses[w->pause_count - 1].value, 0);
	(void)close(one);
	(void)close(two);
}

/* --- peers ----------------------------------------------------------------------------- */

static void test_others_are_not_heard(void **state)
{
	struct world *w = *state;
	const uid_t nobody = 65534, other = 1;
	struct span body = {NULL, 0};

	if (geteuid() != 0)
		skip();
	for (int i = 0; i < 2; i++) {
		w->c.uid = i ? other : nobody;
		assert_int_equal(seteuid(nobody), 0);
		int fd = lead_connect("control", SOCK_SEQPACKET);

		assert_int_equal(seteuid(0), 0);
		lead_run(&w->loop);
		if (i)
			assert_int_equal(receive(fd, &body, NULL), -1);
		else
			status(w, fd, 0, true, number_of(w->plan));
		(void)close(fd);
		lead_run(&w->loop);
	}
	/* Root may look into anyone's session. */
	int fd = peer(w);

	status(w, fd, 0, true, number_of(w->plan));
	(void)close(fd);
}

static void test_what_is_not_understood_ends_it(void **state)
{
	struct world *w = *state;
	struct span body = {NULL, 0};
	int fd = peer(w), plan = plan_of(NULL, 0);

	assert_int_equal(channel_send(fd, MESSAGE_START, (struct span){NULL, 0}, NULL, 0), 0);
	lead_run(&w->loop);
	assert_int_equal(receive(fd, &body, NULL), -1);
	(void)close(fd);
	fd = peer(w);
	assert_int_equal(channel_send(fd, MESSAGE_STATUS, (struct span){NULL, 0}, &plan, 1), 0);
	lead_run(&w->loop);
	assert_int_equal(receive(fd, &body, NULL), -1);
	(void)close(fd);
	(void)close(plan);
}

static void assert_refused_version(struct world *w, int fd, const char *text)
{
	struct error e = ERROR_INIT, said = ERROR_INIT;
	struct span body = {NULL, 0};

	lead_run(&w->loop);
	assert_int_equal(receive(fd, &body, NULL), MESSAGE_FAILED);
	assert_int_equal(message_decode_failed(body, &said, &e), 0);
	assert_int_equal(said.code, -EPROTONOSUPPORT);
	assert_non_null(strstr(said.text, "the session fox was started by bawn"));
	assert_non_null(strstr(said.text, text));
	assert_non_null(strstr(said.next, "'kill 6' ends it"));
}

/* A peer of another version is told so, whatever else it would say; then others are served. */
static void test_versions(void **state)
{
	struct world *w = *state;
	int fd = peer(w);
	struct span body = {NULL, 0};

	assert_int_equal(say_hello(fd, 99, "99.0"), 0);
	assert_refused_version(w, fd, "this is bawn 99.0 with version 99");
	assert_int_equal(say_hello(fd, UINT64_MAX, ""), 0);
	assert_refused_version(w, fd, "bawn of an older kind with version 18446744073709551615");
	assert_int_equal(channel_send(fd, MESSAGE_STATUS, body, NULL, 0), 0);
	assert_refused_version(w, fd, "bawn of an older kind with version 0");
	assert_int_equal(say_hello(fd, 7, "a name that is much longer than anything that is shown"),
			 0);
	assert_refused_version(w, fd, "bawn a name that is much longer than");
	assert_int_equal(say_hello(fd, MESSAGE_CONTROL_VERSION, "0.9"), 0);
	lead_run(&w->loop);
	assert_int_equal(receive(fd, &body, NULL), MESSAGE_STATE);
	(void)close(fd);
}

/* What never changes, byte by byte: else two versions cannot tell each other that they are two. */
static void test_versions_for_ever(void **state)
{
	static const uint8_t hello[] = {1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, '0', '.', '9', 0};
	static const uint8_t failed[] = {5, 0,   0,   0, 0, 0, 0, 0, 2,   0, 0,
					 0, 'n', 'o', 0, 1, 0, 0, 0, '.', 0};
	struct message_hello m;
	struct message_failed f;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(MESSAGE_FAILED, 9);
	assert_int_equal(MESSAGE_STATUS, 34);
	assert_int_equal(message_decode((struct span){hello, sizeof(hello)}, &message_hello_schema,
					&m, NULL, &e),
			 0);
	assert_int_equal(m.version, 1);
	assert_string_equal(m.program, "0.9");
	assert_int_equal(message_decode((struct span){failed, sizeof(failed)},
					&message_failed_schema, &f, NULL, &e),
			 0);
	assert_int_equal(f.code, 5);
	assert_string_equal(f.text, "no");
	assert_string_equal(f.next, ".");
}

/* Sixty-four are there.  A new one has the place of who has been silent longest; and of nobody who
 * is served, or has just come. */
static void test_room(void **state)
{
	struct world *w = *state;
	int fds[CONTROL_PEERS];
	struct span body = {NULL, 0};

	for (size_t i = 0; i < CONTROL_PEERS; i++)
		fds[i] = peer(w);
	/* All have just come. */
	for (size_t i = 0; i < CONTROL_PEERS; i++)
		w->c.peers[i].stays = clock_ms(CLOCK_BOOTTIME) + 60000;
	int more = peer(w);

	assert_true(w->c.full);
	/* These have been silent; but two of them wait for something. */
	w->c.peers[7].stays = 5;
	w->c.peers[8].stays = 4;
	w->c.peers[9].stays = 3;
	w->c.peers[9].waiting = 1000;
	w->c.peers[10].stays = 2;
	w->c.peers[10].pauses = clock_ms(CLOCK_BOOTTIME) + 60000;
	(void)usleep((CONTROL_ROOM_MS + TIMER_MS) * 1000);
	lead_run(&w->loop);
	for (size_t i = 7; i < 12; i++)
		assert_int_equal(receive(fds[i], &body, NULL), i == 8 ? -1 : 0);
	assert_false(w->c.full);
	status(w, more, 0, true, number_of(w->plan));
	/* Who has spoken keeps its place for longer. */
	assert_true(w->c.peers[8].stays > clock_ms(CLOCK_BOOTTIME) + CONTROL_SPOKEN_MS - 1000);
	/* Whoever goes makes room at once. */
	w->c.peers[7].stays = clock_ms(CLOCK_BOOTTIME) + 60000;
	int last = peer(w);

	assert_true(w->c.full);
	(void)close(fds[20]);
	lead_run(&w->loop);
	status(w, last, 0, true, number_of(w->plan));
	w->c.peers[10].pauses = 0;
	for (size_t i = 0; i < CONTROL_PEERS; i++)
		if (i != 20)
			(void)close(fds[i]);
	(void)close(more);
	(void)close(last);
}

static void test_who_comes_is_given_a_moment(void **state)
{
	struct world *w = *state;
	int64_t start = clock_ms(CLOCK_BOOTTIME);
	int fd = peer(w);

	assert_in_range(w->c.peers[0].stays, start + CONTROL_SILENT_MS,
			clock_ms(CLOCK_BOOTTIME) + CONTROL_SILENT_MS);
	(void)close(fd);
}

static void test_one_socket(void **state)
{
	struct world *w = *state;
	_cleanup_buf_ struct buf body = BUF_INIT(4096);
	const struct message_session m = {.name = "wolf"};
	struct error e = ERROR_INIT;

	schema_encode(&body, &message_session_schema, &m);
	struct channel_packet packet = {.body = buf_span(&body), .fds = {-1, -1}, .fd_count = 2};

	assert_int_equal(control_open(&w->c, &packet, &e), -EPROTO);
}

/* What init or another part says and nobody can read is no word that all is well. */
static void test_what_cannot_be_read(void **state)
{
	static const uint8_t bytes[] = {1, 2, 3};
	struct world *w = *state;
	struct error e = ERROR_INIT, said = ERROR_INIT;

	for (size_t len = 0; len <= sizeof(bytes); len++) {
		const struct span body = {bytes, len};

		assert_true(control_on_paused(&w->c, body, &e) < 0);
		assert_true(message_decode_failed(body, &said, &e) < 0);
		assert_int_equal(said.code, 0);
	}
}

/* Without a signer, or a recorder, there is nobody to be told, which is no failure. */
static void test_nobody_to_tell(void **state)
{
	struct signing s = SIGNING_INIT;
	struct recording r = RECORDING_INIT;
	const struct channel_packet packet = {.fd_count = 0};
	const struct message_change change = {.generation = 1};
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(signing_pass(&s, MESSAGE_SSH_CONNECT, &packet), 0);
	assert_int_equal(recording_change(&r, &change, -1, &e), 0);
}

/* --- connections from outside ------------------------------------------------------------ */

static void say_job(struct world *w, int fd, enum message_type type, uint64_t job, uint64_t value)
{
	const struct message_job m = {job, value};

	assert_int_equal(message_send(fd, type, &message_job_schema, &m, NULL, 0), 0);
	lead_run(&w->loop);
}

static void assert_job(int fd, enum message_type type, uint64_t value, uint64_t *ret_job)
{
	struct error e = ERROR_INIT;
	struct message_job m;
	struct span body = {NULL, 0};

	assert_int_equal(receive(fd, &body, NULL), type);
	assert_int_equal(message_decode(body, &message_job_schema, &m, NULL, &e), 0);
	assert_int_equal(m.value, value);
	if (ret_job)
		*ret_job = m.job;
}

/* Nobody carries a byte of a connection before the disk has it. */
static void test_taken_waits_for_the_record(void **state)
{
	struct world *w = *state;
	int one = peer(w), two = peer(w), nobody = peer(w);

	say_job(w, one, MESSAGE_TAKEN, 0, 3000);
	say_job(w, two, MESSAGE_TAKEN, 0, 3000 | MESSAGE_TAKEN_V6);
	say_job(w, nobody, MESSAGE_TAKEN, ECONNREFUSED, 3000);
	assert_job(nobody, MESSAGE_TAKEN, 1, NULL);
	assert_silent(one);
	assert_silent(two);
	w->recording.on_recorded(w->recording.recorded_context, 1);
	assert_job(one, MESSAGE_TAKEN, 1, NULL);
	assert_silent(two);
	w->recording.on_recorded(w->recording.recorded_context, 2);
	assert_job(two, MESSAGE_TAKEN, 1, NULL);
	w->recording.on_recorded(w->recording.recorded_context, 3);
	assert_silent(one);
	assert_silent(two);
	(void)close(one);
	(void)close(two);
	(void)close(nobody);
}

/* The gate has the sum.  Without a gate nothing may pass. */
static void test_spend_is_the_gates(void **state)
{
	struct world *w = *state;
	int one = peer(w), two = peer(w);
	uint64_t first = 0, second = 0;
	_cleanup_buf_ struct buf body = BUF_INIT(64);
	struct error e = ERROR_INIT;

	say_job(w, one, MESSAGE_SPEND, 0, 1000);
	say_job(w, two, MESSAGE_SPEND, 0, 2000);
	assert_job(w->gate_end, MESSAGE_SPEND, 1000, &first);
	assert_job(w->gate_end, MESSAGE_SPEND, 2000, &second);
	assert_int_not_equal(first, second);
	schema_encode(&body, &message_job_schema, &(struct message_job){second, 700});
	assert_int_equal(control_on_spent(&w->c, buf_span(&body), &e), 0);
	assert_silent(one);
	assert_job(two, MESSAGE_SPENT, 700, NULL);
	fd_close(&w->gate.fd);
	control_lose_gate(&w->c);
	assert_failed(one, -ENOTCONN,
		      "this session has no gate: nothing of its network can change");
	say_job(w, two, MESSAGE_SPEND, 0, 1);
	assert_failed(two, -ENOTCONN,
		      "this session has no gate: nothing of its network can change");
	(void)close(one);
	(void)close(two);
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_status),
		ONE(test_versions),
		ONE(test_versions_for_ever),
		ONE(test_changes),
		ONE(test_changes_that_the_gate_refuses),
		ONE(test_changes_that_are_not_kept),
		ONE(test_changes_without_a_plan),
		ONE(test_answers_that_nobody_asked_for),
		ONE(test_without_a_gate),
		ONE(test_addresses_are_opened_once),
		ONE(test_addresses_are_not_without_end),
		ONE(test_without_nf_tables),
		ONE(test_counts_reach_who_asked),
		ONE(test_taken_waits_for_the_record),
		ONE(test_spend_is_the_gates),
		ONE(test_pauses),
		ONE(test_a_pause_that_fails),
		ONE(test_a_pause_that_did_not_hold),
		ONE(test_a_pause_ends_by_itself),
		ONE(test_others_are_not_heard),
		ONE(test_what_is_not_understood_ends_it),
		ONE(test_room),
		ONE(test_who_comes_is_given_a_moment),
		ONE(test_one_socket),
		ONE(test_what_cannot_be_read),
		ONE(test_nobody_to_tell),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
