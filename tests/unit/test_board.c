/* SPDX-License-Identifier: Apache-2.0 */
/* What a session says on its board is read as it was written, or not at all. */
#include "cmocka_lead.h"

#include "board.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char place[] = "/tmp/test_board.XXXXXX";

static const struct plan_string words[] = {{"sleep"}, {"infinity"}};
static const struct plan_limit limits[] = {
	{.kind = PLAN_LIMIT_PROCESSES, .value = 7, .origin = "x"}};
static const struct message_session state_now = {.name = "calm-otter",
						 .since = 11,
						 .pid = 12,
						 .box = 13,
						 .gate = true,
						 .terminal = true,
						 .viewers = 2};

static struct plan small_plan(void)
{
	return (struct plan){.workspace = "/home/u/p",
			     .home = "/home/u",
			     .preset = "",
			     .argv = {words, 2},
			     .limits = {limits, 1}};
}

static size_t board_of(const struct plan *plan, uint8_t into[BOARD_BYTES])
{
	_cleanup_fd_ int folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)unlinkat(folder, BOARD_FILE, 0);
	_cleanup_fd_ int board = board_open(folder);

	assert_true(board >= 0);
	assert_int_equal(board_open(folder), -EEXIST);
	assert_int_equal(board_write(board, &state_now, plan), 0);
	assert_int_equal(board_write(board, &state_now, plan), 0);
	_cleanup_fd_ int again = openat(folder, BOARD_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(again, into, BOARD_BYTES);

	assert_int_equal(n, BOARD_BYTES);
	return (size_t)n;
}

static int read_back(const uint8_t *bytes, size_t len, struct message_session *s,
		     const struct plan **p, struct arena *arena)
{
	return board_read((struct span){bytes, len}, s, p, arena);
}

static void what_is_written_is_read(void **state)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 16);
	uint8_t bytes[BOARD_BYTES];
	const struct plan plan = small_plan();
	size_t len = board_of(&plan, bytes);
	struct message_session s;
	const struct plan *p = NULL;

	(void)state;
	assert_int_equal(read_back(bytes, len, &s, &p, &arena), 0);
	assert_string_equal(s.name, "calm-otter");
	assert_int_equal(s.since, 11);
	assert_int_equal(s.pid, 12);
	assert_int_equal(s.box, 13);
	assert_int_equal(s.viewers, 2);
	assert_true(s.gate && s.terminal && !s.held && !s.plain);
	assert_string_equal(p->workspace, "/home/u/p");
	assert_string_equal(p->home, "/home/u");
	assert_int_equal(p->argv.count, 2);
	assert_string_equal(p->argv.items[1].text, "infinity");
	assert_int_equal(p->limits.count, 1);
	assert_int_equal(p->limits.items[0].value, 7);
}

/* Every byte that counts is summed: one that is another one is a board that is being written. */
static void what_is_torn_is_not_read(void **state)
{
	uint8_t bytes[BOARD_BYTES];
	const struct plan plan = small_plan();
	size_t len = board_of(&plan, bytes), used = len;
	struct message_session s;
	const struct plan *p = NULL;

	(void)state;
	while (used > 0 && bytes[used - 1] == 0)
		used--;
	for (size_t i = 0; i < used; i++) {
		_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 16);

		bytes[i] ^= 0x41;
		assert_int_equal(read_back(bytes, len, &s, &p, &arena), -EBADMSG);
		bytes[i] ^= 0x41;
	}
	for (size_t i = 0; i < used; i++) {
		_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 16);

		assert_int_equal(read_back(bytes, i, &s, &p, &arena), -EBADMSG);
	}
}

static void what_does_not_fit_is_empty(void **state)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 16);
	static char text[BOARD_BYTES];
	uint8_t bytes[BOARD_BYTES];
	struct plan plan = small_plan();
	struct message_session s;
	const struct plan *p = NULL;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	const struct plan_string much[] = {{"echo"}, {text}};

	plan.argv.items = much;
	size_t len = board_of(&plan, bytes);

	assert_int_equal(read_back(bytes, len, &s, &p, &arena), -EBADMSG);
	assert_int_equal(bytes[0], 0);
}

static int make_place(void **state)
{
	(void)state;
	return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state)
{
	char path[sizeof(place) + 16];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/" BOARD_FILE, place);
	(void)unlink(path);
	return rmdir(place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_is_torn_is_not_read),
		cmocka_unit_test(what_does_not_fit_is_empty),
	};

	return cmocka_run_group_tests_name("board", tests, make_place, remove_place);
}
