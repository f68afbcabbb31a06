/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program in the box can ask of its session: a snapshot, of a plain name, not often, and
 * nothing that it sends makes anything else of it.
 */
#include "cmocka_lead.h"

#include "loop_lead.h"

#include "asked.h"
#include "clock.h"

#include <errno.h>
#include <fcntl.h>

struct world {
	struct loop loop;
	struct asked a;
	size_t made;
	uint64_t id;
	int result;
	char name[64];
};

static int on_make(void *context, uint64_t id, const char *name)
{
	struct world *w = context;

	w->made++;
	w->id = id;
	(void)snprintf(w->name, sizeof(w->name), "%s", name);
	return w->result;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error e = ERROR_INIT;

	assert_non_null(w);
	assert_int_equal(loop_init(&w->loop), 0);
	asked_init(&w->a, &w->loop, on_make, w);
	assert_int_equal(asked_open(&w->a, lead_listen("asked", SOCK_STREAM), &e), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < ASKED_PEERS; i++)
		fd_close(&w->a.peers[i].fd);
	loop_fini(&w->loop);
	fd_close(&w->a.listener);
	(void)unlink(lead_address("asked").sun_path);
	free(w);
	return 0;
}

static int say(struct world *w, const char *text)
{
	int fd = lead_connect("asked", SOCK_STREAM);

	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
	lead_run(&w->loop);
	return fd;
}

/* What was said; "": the connection is over without a word; NULL: nothing yet. */
static const char *heard(int fd)
{
	static char line[512];
	ssize_t n = recv(fd, line, sizeof(line) - 1, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return NULL;
	line[n > 0 ? n : 0] = '\0';
	return line;
}

static void test_requests(void **state)
{
	static const char only[] =
		"no the only thing to ask for is 'snapshot' or 'snapshot NAME'\n";
	static const char letters[] = "no a name has small letters, digits, '.', '_' and '-'\n";
	static const char forty[] = "snapshot aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd\n";
	static const char more[] = "snapshot aaaaaaaaaabbbbbbbbbbccccccccccdddddddddde\n";
	static const struct {
		const char *line, *name, *heard; /* name NULL: none is made */
	} rows[] = {
		{"snapshot\n", "", NULL},
		{"snapshot a\n", "a", NULL},
		{"snapshot a.b_c-1\n", "a.b_c-1", NULL},
		{forty, "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd", NULL},
		{more, NULL, letters},
		{"snapshot \n", NULL, letters},
		{"snapshot .a\n", NULL, letters},
		{"snapshot -a\n", NULL, letters},
		{"snapshot A\n", NULL, letters},
		{"snapshot a/b\n", NULL, letters},
		{"snapshot a b\n", NULL, letters},
		{"snapshots\n", NULL, only},
		{"restore a\n", NULL, only},
		{"\n", NULL, only},
		{"snapshot\nsnapshot\n", NULL, ""},
		{"snapshot\n\n", NULL, ""},
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		w->a.last = 0;
		w->made = 0;
		int fd = say(w, rows[i].line);
		const char *got = heard(fd);

		assert_int_equal(w->made, rows[i].name != NULL);
		if (rows[i].name) {
			assert_null(got);
			assert_string_equal(w->name, rows[i].name);
			asked_answer(&w->a, w->id, true, "fox-1");
			assert_string_equal(heard(fd), "made fox-1\n");
			assert_string_equal(heard(fd), "");
		} else {
			assert_non_null(got);
			assert_string_equal(got, rows[i].heard);
		}
		(void)close(fd);
		lead_run(&w->loop);
	}
}

static void test_lines_in_parts(void **state)
{
	struct world *w = *state;
	int fd = say(w, "snap");

	assert_null(heard(fd));
	assert_int_equal(send(fd, "shot a", 6, 0), 6);
	lead_run(&w->loop);
	assert_int_equal(w->made, 0);
	assert_int_equal(send(fd, "b\n", 2, 0), 2);
	lead_run(&w->loop);
	assert_int_equal(w->made, 1);
	assert_string_equal(w->name, "ab");
	/* Who says more while it is made is sent away. */
	assert_int_equal(send(fd, "x", 1, 0), 1);
	lead_run(&w->loop);
	assert_string_equal(heard(fd), "");
	asked_answer(&w->a, w->id, true, "fox-1");
	(void)close(fd);
}

static void test_longest_line(void **state)
{
	struct world *w = *state;
	char line[ASKED_LINE + 1];

	memset(line, 'x', sizeof(line));
	line[ASKED_LINE - 2] = '\0';
	int fd = say(w, line); /* one byte less than there is room for */

	assert_null(heard(fd));
	assert_int_equal(send(fd, "x", 1, 0), 1);
	lead_run(&w->loop);
	assert_string_equal(heard(fd), "");
	(void)close(fd);
}

static void test_not_often(void **state)
{
	static const char often[] = "no one snapshot in ten seconds is the most: try again\n";
	struct world *w = *state;
	int first = say(w, "snapshot\n"), fd = say(w, "snapshot\n");

	/* One is being made. */
	assert_string_equal(heard(fd), often);
	(void)close(fd);
	assert_null(heard(first));
	w->a.last = clock_ms(CLOCK_BOOTTIME) - ASKED_EVERY_MS;
	fd = say(w, "snapshot\n");
	assert_string_equal(heard(fd), often);
	(void)close(fd);
	/* An answer to another says nothing. */
	asked_answer(&w->a, w->id + 1, true, "fox-1");
	asked_answer(&w->a, 0, true, "fox-1");
	assert_null(heard(first));
	asked_answer(&w->a, w->id, false, "the disk is full");
	assert_string_equal(heard(first), "no the disk is full\n");
	(void)close(first);
	/* It was made, and it is too early, or just not. */
	w->a.last = clock_ms(CLOCK_BOOTTIME);
	fd = say(w, "snapshot\n");
	assert_string_equal(heard(fd), often);
	(void)close(fd);
	w->a.last = clock_ms(CLOCK_BOOTTIME) - ASKED_EVERY_MS;
	fd = say(w, "snapshot\n");
	assert_null(heard(fd));
	assert_int_equal(w->made, 2);
	(void)close(fd);
}

static void test_not_without_end(void **state)
{
	struct world *w = *state;

	w->a.count = ASKED_MOST - 1;
	int fd = say(w, "snapshot\n");

	assert_int_equal(w->made, 1);
	asked_answer(&w->a, w->id, true, "fox-1");
	(void)close(fd);
	w->a.last = 0;
	fd = say(w, "snapshot\n");
	assert_string_equal(heard(fd),
			    "no this session has asked for as many snapshots as it may\n");
	assert_int_equal(w->made, 1);
	(void)close(fd);
}

static void test_it_cannot_be_made(void **state)
{
	struct world *w = *state;

	w->result = -EIO;
	int fd = say(w, "snapshot\n");

	assert_string_equal(heard(fd), "no the session cannot make one now\n");
	assert_int_equal(w->a.id, 0);
	(void)close(fd);
}

/* The oldest makes room, but for who waits for an answer. */
static void test_room(void **state)
{
	struct world *w = *state;
	int waits = say(w, "snapshot\n"), silent[ASKED_PEERS];

	for (size_t i = 0; i < ASKED_PEERS; i++)
		silent[i] = say(w, "snap");
	assert_string_equal(heard(silent[0]), "");
	for (size_t i = 1; i < ASKED_PEERS; i++)
		assert_null(heard(silent[i]));
	assert_null(heard(waits));
	asked_answer(&w->a, w->id, true, "fox-1");
	assert_string_equal(heard(waits), "made fox-1\n");
	for (size_t i = 0; i < ASKED_PEERS; i++)
		(void)close(silent[i]);
	(void)close(waits);
}

static void test_one_socket(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;
	int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), first = w->a.listener;

	assert_int_equal(asked_open(&w->a, other, &e), -EPROTO);
	assert_int_equal(w->a.listener, first);
	assert_int_equal(fcntl(other, F_GETFD), -1);
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_requests),  ONE(test_lines_in_parts),  ONE(test_longest_line),
		ONE(test_not_often), ONE(test_not_without_end), ONE(test_it_cannot_be_made),
		ONE(test_room),      ONE(test_one_socket),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
