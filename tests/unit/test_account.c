/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's channel to the recorder, in src/gate/account.c: notes go together, nothing is lost
 * when the recorder does not read, and what waits for the disk waits.
 */
#include "cmocka_lead.h"

#include "account.h"
#include "fd.h"
#include "message.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* The recorder, as far as it is needed here. */
struct recorder {
	int fd;
	size_t packets, notes;
	uint64_t counted, gap, last_id;
};

static struct loop loop;
static struct recorder recorder;
static struct account *account;
static int gate_fd;

static void begin(void)
{
	int pair[2];

	memset(&recorder, 0, sizeof(recorder));
	assert_int_equal(loop_init(&loop), 0);
	assert_int_equal(channel_pair(pair), 0);
	gate_fd = pair[0];
	recorder.fd = pair[1];
	account = account_new(gate_fd, &loop);
	assert_non_null(account);
}

static void end(void)
{
	account_free(account);
	loop_fini(&loop);
	fd_close(&gate_fd);
	fd_close(&recorder.fd);
}

static void take_note(const struct message_note *m)
{
	uint64_t count = 1;

	for (size_t i = 0; i < m->items.count; i++)
		if (m->items.items[i].field == NOTE_FIELD_COUNT_OF)
			count = m->items.items[i].number;
	if (m->kind == NOTE_GAP)
		recorder.gap += count;
	else
		recorder.counted += count;
	recorder.notes++;
	if (m->id != 0) {
		assert_true(m->id > recorder.last_id);
		recorder.last_id = m->id;
	}
}

/* Reads what is there, at most so many messages. */
static void listen_to_gate(size_t most)
{
	static uint8_t bytes[4 + CHANNEL_BYTES_MAX];
	ssize_t n = 0;

	while (most-- > 0 && (n = recv(recorder.fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 4) {
		_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
		struct error e = ERROR_INIT;
		struct message_note m;
		struct reader r = reader_of((struct span){bytes + 4, (size_t)n - 4});
		int left = 0;

		assert_int_equal(bytes[0], MESSAGE_NOTES);
		while ((left = note_decode(&r, &m, &arena, &e)) > 0)
			take_note(&m);
		assert_int_equal(left, 0);
		recorder.packets++;
	}
}

static void recorded(uint64_t id)
{
	const struct message_recorded m = {id};

	assert_int_equal(
		message_send(recorder.fd, MESSAGE_RECORDED, &message_recorded_schema, &m, NULL, 0),
		0);
}

static void put(int number, const char *more)
{
	char host[64];
	struct note n;

	(void)snprintf(host, sizeof(host), "n%d.test", number);
	note_begin(&n, NOTE_NETWORK, "connect");
	note_word(&n, NOTE_FIELD_PATH, more);
	note_word(&n, NOTE_FIELD_HOST, host);
	account_put(account, &n, NULL, 0);
}

static int on_turn(void *context, uint32_t events)
{
	(void)context;
	(void)events;
	return account_turn(account);
}

static int stop(void *context, uint32_t events)
{
	(void)events;
	loop_stop(context);
	return 0;
}

/* One turn of the loop, or more, until what is in the pipe has been seen. */
static int run_once(bool kept)
{
	struct loop_handle handle = {0, 0};
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(loop_add(&loop, ends[0], EPOLLIN, stop, &loop, &handle), 0);
	if (kept)
		assert_int_equal(loop_keep(&loop, handle), 0);
	loop.stop = false;
	loop.turn = on_turn;
	int r = loop_run(&loop);

	loop_remove(&loop, &handle);
	(void)close(ends[0]);
	(void)close(ends[1]);
	return r;
}

/* Of one turn there is one message; of many notes few. */
static void test_notes_go_together(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 20; i++)
		put(i, "");
	listen_to_gate(100);
	assert_int_equal(recorder.packets, 0);
	assert_int_equal(account_turn(account), 0);
	assert_true(account_is_out(account));
	listen_to_gate(100);
	assert_int_equal(recorder.packets, 1);
	assert_int_equal(recorder.notes, 20);
	assert_int_equal(account_turn(account), 0);
	listen_to_gate(100);
	assert_int_equal(recorder.packets, 1);
	end();
}

/* A recorder that does not read: the loop is held, and when it reads again nothing is missing. */
static void test_full_socket_holds(void **state)
{
	enum { MANY = 20000 };

	(void)state;
	begin();
	for (int i = 0; i < MANY; i++)
		put(i, "/a/path/of/some/length/so/that/it/does/not/fit");
	assert_int_equal(account_turn(account), 0);
	assert_false(account_is_out(account));
	assert_true(loop.held);
	/* What is not kept is not heard, what is kept is. */
	assert_int_equal(run_once(true), 0);
	assert_true(loop.held);
	for (int i = 0; i < 10000 && !account_is_out(account); i++) {
		listen_to_gate(1);
		assert_int_equal(account_turn(account), 0);
	}
	assert_true(account_is_out(account));
	assert_false(loop.held);
	listen_to_gate(1000);
	assert_int_equal(recorder.counted, MANY);
	assert_int_equal(recorder.gap, 0);
	assert_in_range(recorder.packets, 10, MANY / 20);
	assert_int_equal(run_once(false), 0);
	end();
}

/* More than there is room for: the number of what is missing follows. */
static void test_gap_is_counted(void **state)
{
	enum { MANY = 4000 };
	char path[NOTE_TEXT_MAX];

	(void)state;
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	begin();
	for (int i = 0; i < MANY; i++)
		put(i, path);
	for (int i = 0; i < 10000 && !account_is_out(account); i++) {
		assert_int_equal(account_turn(account), 0);
		listen_to_gate(4);
	}
	listen_to_gate(100);
	assert_true(recorder.gap > 0);
	assert_int_equal(recorder.counted + recorder.gap, MANY);
	end();
}

struct waiter {
	int yes, no;
};

static void on_recorded(void *context, bool yes)
{
	struct waiter *w = context;

	w->yes += yes;
	w->no += !yes;
}

static uint64_t decide(const char *host, uint64_t generation)
{
	const struct account_decision d = {.generation = generation, .port = 443, .host = host};
	struct note n;
	uint64_t id = account_decided(account, &d);

	if (id != 0)
		return id;
	note_begin(&n, NOTE_NETWORK, "decision");
	note_word(&n, NOTE_FIELD_HOST, host);
	return account_decide(account, &d, &n);
}

/* A decision waits for its own note, and the same decision for the same. */
static void test_decision_waits(void **state)
{
	struct waiter who[3] = {{0, 0}};
	struct account_wait waits[3] = {{.id = 0}};

	(void)state;
	begin();
	uint64_t one = decide("one.test", 0), two = decide("two.test", 0);

	assert_int_equal(decide("one.test", 0), one);
	assert_false(account_has(account, one));
	account_wait(account, &waits[0], one, 0, on_recorded, &who[0]);
	account_wait(account, &waits[1], one, 0, on_recorded, &who[1]);
	account_wait(account, &waits[2], two, 0, on_recorded, &who[2]);
	assert_int_equal(account_turn(account), 0);
	listen_to_gate(10);
	assert_int_equal(recorder.notes, 2);
	recorded(one);
	assert_int_equal(run_once(false), 0);
	assert_int_equal(who[0].yes + who[1].yes, 2);
	assert_int_equal(who[2].yes + who[2].no, 0);
	assert_true(account_has(account, decide("one.test", 0)));
	/* The record does not answer. */
	assert_true(account_on_time(account, ACCOUNT_WAIT_MS - 1));
	assert_int_equal(who[2].no, 0);
	(void)account_on_time(account, ACCOUNT_WAIT_MS);
	assert_int_equal(who[2].no, 1);
	/* Other rules: to be decided anew. */
	assert_true(decide("one.test", 1) > two);
	assert_false(account_has(account, decide("one.test", 1)));
	/* Who is gone is not told. */
	account_wait(account, &waits[0], decide("one.test", 1), 0, on_recorded, &who[0]);
	account_drop(&waits[0]);
	recorded(decide("one.test", 1));
	assert_int_equal(run_once(false), 0);
	assert_int_equal(who[0].yes, 1);
	end();
}

/* The table of decisions is bounded; what it forgot waits again. */
static void test_decisions_are_forgotten(void **state)
{
	char host[32];

	(void)state;
	begin();
	uint64_t first = decide("first.test", 0);

	for (int i = 0; i < ACCOUNT_DECIDED_MAX; i++) {
		(void)snprintf(host, sizeof(host), "n%d.test", i);
		(void)decide(host, 0);
		assert_int_equal(account_turn(account), 0);
		listen_to_gate(10);
	}
	assert_true(decide("first.test", 0) > first);
	end();
}

/* No network without a record: the loop ends. */
static void test_recorder_is_gone(void **state)
{
	(void)state;
	begin();
	fd_close(&recorder.fd);
	assert_int_equal(run_once(false), -ECONNRESET);
	end();
	begin();
	recorded(7);
	assert_int_equal(run_once(false), -ECONNRESET);
	end();
	begin();
	fd_close(&recorder.fd);
	put(1, "");
	assert_true(account_turn(account) < 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes_go_together),
		cmocka_unit_test(test_full_socket_holds),
		cmocka_unit_test(test_gap_is_counted),
		cmocka_unit_test(test_decision_waits),
		cmocka_unit_test(test_decisions_are_forgotten),
		cmocka_unit_test(test_recorder_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
