/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a box has all the processes that it may have: a tree of processes of the test's own, and a
 * clock that the test sets. */
#include "cmocka_lead.h"

#include "process_tree.h"
#include "watch_crowd.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 8 };

#define SECOND ((int64_t)1000000000)

/* A process that outlives the test would keep its output open. */
static void stay(void)
{
	(void)alarm(60);
	for (;;)
		(void)pause();
}

/* A process with children, half of them of its first child: its pid. */
static pid_t crowd(int ready[2])
{
	pid_t top = fork();

	if (top != 0)
		return top;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < CHILDREN / 2; i++)
		if (fork() == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (fork() == 0) {
				(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
				(void)!write(ready[1], "x", 1);
			}
			stay();
		}
	stay();
	return -1;
}

static void end(pid_t top)
{
	assert_int_equal(kill(top, SIGKILL), 0);
	assert_int_equal(waitpid(top, NULL, 0), top);
}

static pid_t crowd_is_there(void)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid_t top = crowd(ready);

	assert_true(top > 0);
	for (int i = 0; i < CHILDREN / 2; i++)
		assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return top;
}

struct found {
	size_t count;
	int depth;
};

static bool on_found(void *context, const struct process_tree_place *at)
{
	struct found *f = context;

	f->count += at->threads;
	f->depth = at->depth > f->depth ? at->depth : f->depth;
	return true;
}

static void all_that_descend_are_found(void **state)
{
	struct found f = {0, 0};
	pid_t top = crowd_is_there();

	(void)state;
	process_tree_each(top, on_found, &f);
	assert_int_equal(f.count, CHILDREN);
	assert_int_equal(f.depth, 1);
	end(top);
}

static struct watch_crowd of(uint64_t most)
{
	struct plan_limit limit = {.kind = PLAN_LIMIT_PROCESSES, .value = most};
	struct plan plan = {.limits = {.items = &limit, .count = 1}};
	struct watch_crowd c;

	watch_crowd_init(&c, &plan);
	return c;
}

static void a_full_box_is_told_once(void **state)
{
	struct watch_crowd c = of(CHILDREN + 1); /* with pid 1 */
	pid_t top = crowd_is_there();
	int64_t now = 5 * SECOND;

	(void)state;
	assert_false(watch_crowd_look(&c, top, now)); /* nobody has made a call */
	assert_true(watch_crowd_stir(&c, now));
	assert_false(watch_crowd_stir(&c, now));
	assert_false(watch_crowd_look(&c, top, now)); /* too early */
	now += SECOND;
	assert_true(watch_crowd_look(&c, top, now));
	assert_true(watch_crowd_stir(&c, now));
	now += SECOND;
	assert_false(watch_crowd_look(&c, top, now)); /* it was told */
	end(top);
	/* It had room meanwhile: then it counts as new. */
	assert_true(watch_crowd_stir(&c, now));
	now += SECOND;
	assert_false(watch_crowd_look(&c, top, now));
	top = crowd_is_there();
	assert_true(watch_crowd_stir(&c, now));
	now += SECOND;
	assert_true(watch_crowd_look(&c, top, now));
	end(top);
}

static void one_with_room_is_looked_at_less_and_less(void **state)
{
	struct watch_crowd c = of((uint64_t)CHILDREN * 4);
	pid_t top = crowd_is_there();
	int64_t now = 5 * SECOND, before = 0;
	int looks = 0;

	(void)state;
	assert_true(watch_crowd_stir(&c, now));
	for (int i = 0; i < 600; i++, now += SECOND) {
		assert_false(watch_crowd_look(&c, top, now));
		looks += c.at != before;
		before = c.at;
	}
	assert_true(looks > 8 && looks < 20);
	/* A call, and it is looked at soon again. */
	assert_true(watch_crowd_stir(&c, now));
	assert_int_equal(c.at, now + SECOND);
	end(top);
}

static void without_a_limit_nobody_looks(void **state)
{
	const struct plan plan = {.argv = {.count = 0}};
	struct watch_crowd c;

	(void)state;
	watch_crowd_init(&c, &plan);
	assert_false(watch_crowd_stir(&c, SECOND));
	assert_false(watch_crowd_look(&c, getpid(), 9 * SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_descend_are_found),
		cmocka_unit_test(a_full_box_is_told_once),
		cmocka_unit_test(one_with_room_is_looked_at_less_and_less),
		cmocka_unit_test(without_a_limit_nobody_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
