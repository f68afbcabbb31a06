/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the processes of a box have stood still, read from a /proc that the test makes: a state
 * in which a thread can still write is never taken for one in which it cannot.  And the end wakes
 * those that the pause had stopped, and no other.
 */
#include "cmocka_lead.h"

#include "tree_lead.h"

#include "pause.h"
#include "tree.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct world {
	char path[64];
	int proc;
	struct loop loop;
	struct pause p;
	int code; /* of the last `done` */
};

static int on_done(void *context, size_t count, const struct error *e)
{
	struct world *w = context;

	assert_int_equal(count, 0);
	w->code = e->code;
	return 0;
}

static int on_ended(void *context, pid_t pid)
{
	struct world *w = context;

	w->code = (int)pid;
	return 0;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	(void)snprintf(w->path, sizeof(w->path), "/tmp/bawn-pause-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->proc = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->proc >= 0);
	assert_int_equal(loop_init(&w->loop), 0);
	assert_int_equal(pause_init(&w->p, &w->loop, w->proc, on_done, on_ended, w), 0);
	w->p.state = PAUSE_ON;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	_cleanup_fd_ int parent = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	loop_fini(&w->loop);
	(void)close(w->p.timer);
	free(w->p.found.items);
	free(w->p.before.items);
	(void)close(w->proc);
	assert_int_equal(tree_remove(parent, w->path + strlen("/tmp/")), 0);
	free(w);
	return 0;
}

/* --- a /proc --------------------------------------------------------------------------- */

static void folder(const struct world *w, const char *path)
{
	assert_true(mkdirat(w->proc, path, 0755) == 0 || errno == EEXIST);
}

static void file(const struct world *w, const char *folder, const char *name, const char *text)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	put_at(w->proc, path, text);
}

static void thread(const struct world *w, const char *path, const char *name, char state,
		   int threads, int turns)
{
	char text[256];

	folder(w, path);
	(void)snprintf(text, sizeof(text),
		       "7 (%s) %c 3 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 100 0 0\n", name, state,
		       threads);
	file(w, path, "stat", text);
	(void)snprintf(text, sizeof(text), "900 800 %d\n", turns);
	file(w, path, "schedstat", text);
}

static void process(const struct world *w, const char *pid, char state, int turns)
{
	thread(w, pid, "sh", state, 1, turns);
}

static int held(struct world *w, uint64_t turns)
{
	struct error e = ERROR_INIT;

	w->p.turns = turns;
	return pause_has_held(&w->p, &e);
}

/* --- the tests ------------------------------------------------------------------------- */

static void test_states(void **state)
{
	static const char still[] = "TtZX", moves[] = "RSDIWKPx";
	struct world *w = *state;

	for (const char *at = still; *at; at++) {
		process(w, "5", *at, 0);
		assert_int_equal(held(w, 0), 0);
	}
	for (const char *at = moves; *at; at++) {
		process(w, "5", *at, 0);
		assert_int_equal(held(w, 0), -EBUSY);
	}
}

/* One among many, wherever it stands. */
static void test_one_of_many(void **state)
{
	static const char *const pids[] = {"2", "30", "400"};
	struct world *w = *state;

	for (size_t moving = 0; moving <= BAWN_ARRAY_SIZE(pids); moving++) {
		for (size_t i = 0; i < BAWN_ARRAY_SIZE(pids); i++)
			process(w, pids[i], i == moving ? 'S' : 'T', 0);
		assert_int_equal(held(w, 0), moving == BAWN_ARRAY_SIZE(pids) ? 0 : -EBUSY);
	}
	/* init itself goes on, and what is no process is passed over. */
	process(w, "1", 'R', 9);
	process(w, "self", 'R', 9);
	process(w, "2147483648", 'R', 9);
	assert_int_equal(held(w, 0), 0);
	process(w, "2147483647", 'R', 0);
	assert_int_equal(held(w, 0), -EBUSY);
}

/* It waits for a child that it makes, and for nothing else. */
static void test_cloning(void **state)
{
	static const long calls[] = {SYS_clone, SYS_clone3,
#ifdef SYS_vfork
				     SYS_vfork
#endif
	};
	struct world *w = *state;
	char text[64];

	process(w, "5", 'D', 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(calls); i++) {
		(void)snprintf(text, sizeof(text), "%ld 0x11 0x0 0x0\n", calls[i]);
		file(w, "5", "syscall", text);
		assert_int_equal(held(w, 0), 0);
		/* Only while it is held up by that. */
		process(w, "5", 'S', 0);
		assert_int_equal(held(w, 0), -EBUSY);
		process(w, "5", 'D', 0);
	}
	(void)snprintf(text, sizeof(text), "%ld 0x11 0x0 0x0\n", (long)SYS_write);
	file(w, "5", "syscall", text);
	assert_int_equal(held(w, 0), -EBUSY);
	file(w, "5", "syscall", "running\n");
	assert_int_equal(held(w, 0), -EBUSY);
	file(w, "5", "syscall", "");
	assert_int_equal(held(w, 0), -EBUSY);
}

/* A program is called what it likes. */
static void test_names(void **state)
{
	struct world *w = *state;

	thread(w, "5", "a) T 3 (b", 'R', 1, 0);
	assert_int_equal(held(w, 0), -EBUSY);
	thread(w, "5", ") R 3 (", 'T', 1, 0);
	assert_int_equal(held(w, 0), 0);
	thread(w, "5", "", 'T', 1, 0);
	assert_int_equal(held(w, 0), 0);
}

static void test_turns(void **state)
{
	struct world *w = *state;

	process(w, "5", 'T', 40);
	process(w, "6", 'T', 2);
	process(w, "7", 'Z', 1000);
	assert_int_equal(held(w, 42), 0);
	/* Somebody has run since, however short. */
	assert_int_equal(held(w, 41), -EBUSY);
	assert_int_equal(held(w, 43), -EBUSY);
}

/* Where the kernel does not count turns: how often it has given way. */
static void test_switches(void **state)
{
	struct world *w = *state;

	process(w, "5", 'T', 0);
	assert_int_equal(unlinkat(w->proc, "5/schedstat", 0), 0);
	file(w, "5", "status",
	     "Name:\tsh\nState:\tT\nvoluntary_ctxt_switches:\t30\n"
	     "nonvoluntary_ctxt_switches:\t12\n");
	assert_int_equal(held(w, 42), 0);
	assert_int_equal(held(w, 30), -EBUSY);
	assert_int_equal(held(w, 12), -EBUSY);
}

static void test_threads(void **state)
{
	struct world *w = *state;

	/* The first has ended, which says nothing of the others. */
	thread(w, "5", "sh", 'Z', 3, 1000);
	folder(w, "5/task");
	thread(w, "5/task/5", "sh", 'Z', 3, 1000);
	thread(w, "5/task/6", "sh", 'T', 3, 4);
	thread(w, "5/task/7", "sh", 'T', 3, 5);
	assert_int_equal(held(w, 9), 0);
	assert_int_equal(held(w, 1009), -EBUSY);
	thread(w, "5/task/6", "sh", 'R', 3, 4);
	assert_int_equal(held(w, 9), -EBUSY);
	thread(w, "5/task/6", "sh", 'T', 3, 4);
	thread(w, "5/task/7", "sh", 'S', 3, 5);
	assert_int_equal(held(w, 9), -EBUSY);
	/* Two are more than one. */
	thread(w, "5", "sh", 'T', 2, 9);
	assert_int_equal(held(w, 9), -EBUSY);
	thread(w, "5", "sh", 'T', 1, 9);
	assert_int_equal(held(w, 9), 0);
}

static void test_what_cannot_be_read(void **state)
{
	static const char *const bad[] = {"7 sh T 3 7\n", "7 (sh) T 3 7 7 0 -1 0\n", "7 (sh)T 3\n"};
	struct world *w = *state;

	folder(w, "5");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		file(w, "5", "stat", bad[i]);
		assert_int_equal(held(w, 0), -EBADMSG);
	}
	/* It has ended meanwhile. */
	file(w, "5", "stat", "");
	assert_int_equal(held(w, 0), 0);
	assert_int_equal(unlinkat(w->proc, "5/stat", 0), 0);
	assert_int_equal(held(w, 0), 0);
}

static void test_no_pause(void **state)
{
	struct world *w = *state;

	process(w, "5", 'T', 0);
	w->p.state = PAUSE_OFF;
	assert_int_equal(held(w, 0), -EBUSY);
	w->p.state = PAUSE_STOPPING;
	assert_int_equal(held(w, 0), -EBUSY);
	w->p.state = PAUSE_OFF;
	/* Without a /proc of its own nobody is stopped. */
	w->p.proc = -1;
	assert_int_equal(pause_begin(&w->p), 0);
	assert_int_equal(w->code, -EOPNOTSUPP);
	assert_int_equal(w->p.state, PAUSE_OFF);
}

/* --- the end --------------------------------------------------------------------------- */

static pid_t stopped_child(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		for (;;)
			(void)pause();
	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

static bool goes_on(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, WCONTINUED | WNOHANG) == pid && WIFCONTINUED(status);
}

static struct pause_list list_of(const struct pause_process *items, size_t count)
{
	struct pause_list l = {calloc(count, sizeof(*items)), count, count};

	assert_non_null(l.items);
	memcpy(l.items, items, count * sizeof(*items));
	return l;
}

static void test_the_end(void **state)
{
	struct world *w = *state;
	pid_t ours = stopped_child(), before = stopped_child(), later = stopped_child();
	/* By rising pid, as they were made; and where numbers began again, sorted. */
	struct pause_process found[] = {{.pid = ours, .stopped = true},
					{.pid = before, .stopped = true},
					{.pid = later, .stopped = true}};
	struct pause_process were[] = {{.pid = ours}, {.pid = before, .stopped = true}};

	if (ours < before && before < later) {
		w->p.found = list_of(found, BAWN_ARRAY_SIZE(found));
		w->p.before = list_of(were, BAWN_ARRAY_SIZE(were));
		w->p.state = PAUSE_OFF;
		pause_end(&w->p);
		assert_false(goes_on(ours));
		w->p.state = PAUSE_ON;
		pause_end(&w->p);
		assert_true(goes_on(ours));
		assert_true(goes_on(later));
		assert_false(goes_on(before)); /* it had been stopped by somebody else */
		assert_int_equal(w->p.state, PAUSE_OFF);
		assert_int_equal(w->p.found.count, 0);
		assert_int_equal(w->p.before.count, 0);
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(found); i++) {
		assert_int_equal(kill(found[i].pid, SIGKILL), 0);
		assert_int_equal(waitpid(found[i].pid, NULL, 0), found[i].pid);
	}
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_states),   ONE(test_one_of_many),
		ONE(test_cloning),  ONE(test_names),
		ONE(test_turns),    ONE(test_switches),
		ONE(test_threads),  ONE(test_what_cannot_be_read),
		ONE(test_no_pause), ONE(test_the_end),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
