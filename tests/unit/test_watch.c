/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the watch that need no box: paths and places, repeats, who does what. */
#include "cmocka_lead.h"

#include "watch_fold.h"
#include "watch_outside.h"
#include "watch_path.h"
#include "watch_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int run_shell(const char *script)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* --- paths ---------------------------------------------------------------------------- */

static void test_paths_are_joined_and_cleaned(void **state)
{
	static const struct {
		const char *folder, *path, *whole;
	} cases[] = {
		{"/a/b", "c", "/a/b/c"},
		{"/a/b", "/c", "/c"},
		{"/a/b", "../c", "/a/c"},
		{"/a/b", "../../../../c", "/c"},
		{"/a/b", "./././c//d/", "/a/b/c/d"},
		{"/a/b", "", "/a/b"},
		{"/", "", "/"},
		{"/", "..", "/"},
		{"/a", "..", "/"},
		{"/a", "...", "/a/..."},
		{"/a", "..b/.c", "/a/..b/.c"},
		{"/a (deleted)", "x", "/a (deleted)/x"},
		{"not looked at", "/x/./y/../z", "/x/z"},
	};
	char got[WATCH_PATH_MAX];

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		size_t len = watch_path_join(cases[i].folder, cases[i].path, got, sizeof(got));

		assert_string_equal(got, cases[i].whole);
		assert_int_equal(len, strlen(cases[i].whole));
	}
}

static void test_a_path_that_does_not_fit_is_none(void **state)
{
	char got[8];

	(void)state;
	assert_int_equal(watch_path_join("/", "123456", got, sizeof(got)), 7);
	assert_int_equal(watch_path_join("/", "1234567", got, sizeof(got)), 0);
	assert_int_equal(watch_path_join("/123", "4567", got, sizeof(got)), 0);
	assert_int_equal(watch_path_join("/123", "../4567", got, sizeof(got)), 5);
}

/* --- what lies outside ------------------------------------------------------------------ */

static void test_only_filesystems_of_this_machine_are_entered(void **state)
{
	static const char mounts[] =
		"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
		"30 22 0:40 / /srv/far rw - nfs4 host:/x rw\n"
		"31 22 0:41 / /home/u/ext4\\040x rw,nosuid - fuse.sshfs host:/ext4 rw\n"
		"32 22 8:2 / /home rw - xfs /dev/sda2 rw\n"
		"33 22 0:42 / /net rw - autofs /etc/auto.net rw\n"
		"34 22 8:3 / /over rw - ext4 /dev/sda3 rw\n"
		"35 34 0:43 / /over rw - fuse ext4 rw\n"
		"36 22 8:4 / /with\\040blank rw - btrfs /dev/sda4 rw\n";

	(void)state;
	assert_true(watch_outside_is_local(mounts, "/"));
	assert_true(watch_outside_is_local(mounts, "/home"));
	assert_true(watch_outside_is_local(mounts, "/with blank"));
	assert_false(watch_outside_is_local(mounts, "/srv/far"));
	assert_false(watch_outside_is_local(mounts, "/home/u/ext4 x"));
	assert_false(watch_outside_is_local(mounts, "/net"));
	assert_false(watch_outside_is_local(mounts, "/over"));
	assert_false(watch_outside_is_local(mounts, "/not-mounted"));
	assert_false(watch_outside_is_local("", "/"));
}

/* Of a folder of our own: what is there by any way, and what is not. */
static void test_names_are_found_in_lists(void **state)
{
	static struct watch_outsides o;
	const struct plan plan = {.home = "/nobody"};
	char folder[] = "/tmp/bawn-outside-XXXXXX", name[256], got[WATCH_PATH_MAX];
	static const struct {
		const char *path, *name; /* NULL: nothing */
	} cases[] = {
		{"", ""},
		{"/a", "/a"},
		{"/a/file", "/a/file"},
		{"/b", NULL},
		{"/a/b", NULL},
		{"/a/file/x", NULL},
		{"/l", "/l"},
		{"/l/file", "/a/file"},
		{"/l/none", NULL},
		{"/up/file", "/a/file"},
		{"/round/x", "?"},
	};

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(
		name, sizeof(name),
		"cd %s && mkdir a && touch a/file && ln -s a l && ln -s ../${PWD##*/}/a up && "
		"ln -s round round",
		folder);
	assert_int_equal(run_shell(name), 0);
	watch_outsides_init(&o, &plan);
	if (!o.local)
		skip(); /* the root is no filesystem that is entered */
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		(void)snprintf(name, sizeof(name), "%s%s", folder, cases[i].path);
		enum watch_outside r = watch_outside_find(&o, name, got);

		if (!cases[i].name || cases[i].name[0] == '?') {
			assert_int_equal(r, cases[i].name ? WATCH_OUTSIDE_UNKNOWN
							  : WATCH_OUTSIDE_NOTHING);
			continue;
		}
		assert_int_equal(r, WATCH_OUTSIDE_THERE);
		(void)snprintf(name, sizeof(name), "%s%s", folder, cases[i].name);
		assert_string_equal(got, name);
	}
	/* What is made later is seen. */
	(void)snprintf(name, sizeof(name), "%s/a/later", folder);
	assert_int_equal(watch_outside_find(&o, name, got), WATCH_OUTSIDE_NOTHING);
	assert_int_equal(mkdir(name, 0700), 0);
	assert_int_equal(watch_outside_find(&o, name, got), WATCH_OUTSIDE_THERE);
	(void)snprintf(name, sizeof(name), "rm -r %s", folder);
	assert_int_equal(run_shell(name), 0);
	watch_outsides_fini(&o);
}

static struct plan_mount mounts[] = {
	{.kind = PLAN_MOUNT_BIND, .access = PLAN_ACCESS_READ, .target = "/usr", .role = "system"},
	{.kind = PLAN_MOUNT_LINK,
	 .access = PLAN_ACCESS_READ,
	 .target = "/bin",
	 .source = "usr/bin",
	 .role = "system"},
	{.kind = PLAN_MOUNT_PROC, .access = PLAN_ACCESS_READ, .target = "/proc", .role = "private"},
	{.kind = PLAN_MOUNT_TMPFS,
	 .access = PLAN_ACCESS_WRITE,
	 .target = "/tmp",
	 .role = "private"},
	{.kind = PLAN_MOUNT_BIND, .access = PLAN_ACCESS_WRITE, .target = "/home/u", .role = "home"},
	{.kind = PLAN_MOUNT_BIND,
	 .access = PLAN_ACCESS_READ,
	 .target = "/home/u/.cargo/bin",
	 .role = "tool"},
	{.kind = PLAN_MOUNT_BIND,
	 .access = PLAN_ACCESS_WRITE,
	 .target = "/home/u/p",
	 .role = "workspace"},
	{.kind = PLAN_MOUNT_BIND,
	 .access = PLAN_ACCESS_READ,
	 .target = "/data/set",
	 .role = "named"},
	{.kind = PLAN_MOUNT_LINK,
	 .access = PLAN_ACCESS_READ,
	 .target = "/set",
	 .source = "/data/../data/set",
	 .role = "link"},
	{.kind = PLAN_MOUNT_HIDE, .target = "/home/u/p/.env", .role = "hidden"},
};

static void test_places_are_the_plans(void **state)
{
	static const struct {
		const char *path;
		enum watch_place place;
		bool writable;
	} cases[] = {
		{"/usr/bin/git", WATCH_PLACE_SYSTEM, false},
		{"/bin/sh", WATCH_PLACE_SYSTEM, false},
		{"/usrlocal", WATCH_PLACE_HIDDEN, false},
		{"/proc/1/mem", WATCH_PLACE_OWN, false},
		{"/tmp", WATCH_PLACE_OWN, true},
		{"/tmp/a/b", WATCH_PLACE_OWN, true},
		{"/home/u/.ssh/id", WATCH_PLACE_HOME, true},
		{"/home/u/.cargo/bin/x", WATCH_PLACE_SYSTEM, false},
		{"/home/u/p", WATCH_PLACE_WORKSPACE, true},
		{"/home/u/p/src/x.c", WATCH_PLACE_WORKSPACE, true},
		{"/home/u/px", WATCH_PLACE_HOME, true},
		{"/home/u/p/.env", WATCH_PLACE_HIDDEN, false},
		{"/home/u/p/.envrc", WATCH_PLACE_WORKSPACE, true},
		{"/home/u/p/.env/x", WATCH_PLACE_HIDDEN, false},
		{"/data/set/1", WATCH_PLACE_GRANTED, false},
		{"/set/1", WATCH_PLACE_GRANTED, false},
		/* folders on the way are the box's own root */
		{"/", WATCH_PLACE_SYSTEM, false},
		{"/home", WATCH_PLACE_SYSTEM, false},
		{"/data", WATCH_PLACE_SYSTEM, false},
		{"/data/other", WATCH_PLACE_HIDDEN, false},
		{"/etc/shadow", WATCH_PLACE_HIDDEN, false},
		{"/home/other", WATCH_PLACE_HIDDEN, false},
	};
	struct plan_string marks[] = {{"/home/u/p/keys"}};
	struct plan plan = {.mounts = {mounts, BAWN_ARRAY_SIZE(mounts)},
			    .record_marks = {marks, 1}};
	struct watch_map map;

	(void)state;
	assert_int_equal(watch_map_init(&map, &plan), 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		struct watch_where where = watch_map_find(&map, cases[i].path);

		if (where.place != cases[i].place || where.writable != cases[i].writable)
			fail_msg("%s: place %d, writable %d", cases[i].path, (int)where.place,
				 where.writable);
	}
	assert_true(watch_map_is_marked(&map, "/home/u/p/keys"));
	assert_true(watch_map_is_marked(&map, "/home/u/p/keys/a"));
	assert_false(watch_map_is_marked(&map, "/home/u/p/keysa"));
	watch_map_fini(&map);
}

static void test_links_of_the_plan_that_go_round_end(void **state)
{
	struct plan_mount round[] = {
		{.kind = PLAN_MOUNT_LINK, .target = "/a", .source = "/b", .role = "link"},
		{.kind = PLAN_MOUNT_LINK, .target = "/b", .source = "a", .role = "link"},
	};
	struct plan plan = {.mounts = {round, 2}};
	struct watch_map map;

	(void)state;
	assert_int_equal(watch_map_init(&map, &plan), 0);
	assert_false(watch_map_find(&map, "/a/x").writable);
	watch_map_fini(&map);
}

/* --- repeats -------------------------------------------------------------------------- */

static uint64_t written, repeats_written;

static int count_repeats(void *context, const struct watch_fold_entry *e)
{
	(void)context;
	written++;
	repeats_written += e->repeats;
	return 0;
}

static int add(struct watch_fold *f, uint64_t exec, const char *op, const char *path,
	       const char *to)
{
	const struct watch_fold_entry what = {.exec = exec, .kind = 1, .op = op};

	return watch_fold_add(f, &what, span_of_str(path), span_of_str(to));
}

static void test_repeats_are_counted_and_never_lost(void **state)
{
	static const char *const ops[] = {"write", "delete"};
	static struct watch_fold f;
	uint64_t first = 0;
	const uint64_t total = 200000;

	(void)state;
	written = repeats_written = 0;
	assert_int_equal(watch_fold_init(&f, count_repeats, NULL), 0);
	/* Many more different things than there is room for, in an order that comes back. */
	for (uint64_t i = 0; i < total; i++) {
		char path[32];

		(void)snprintf(path, sizeof(path), "/p/%u", (unsigned int)(i / 10 * 7919 % 5003));
		int r = add(&f, i / 20 % 3 + 1, ops[i % 2], path, "");

		assert_true(r == 0 || r == 1);
		first += r == 0;
		if (i % 1000 == 0)
			assert_int_equal(watch_fold_flush(&f, i % 3 + 1), 0);
		if (i % 7001 == 0)
			assert_int_equal(watch_fold_flush(&f, 0), 0);
	}
	assert_int_equal(watch_fold_flush(&f, 0), 0);
	assert_int_equal(first + repeats_written, total);
	assert_true(first < total && repeats_written > 0);
	watch_fold_fini(&f);
}

static void test_only_the_same_thing_is_a_repeat(void **state)
{
	static struct watch_fold f;

	(void)state;
	written = repeats_written = 0;
	assert_int_equal(watch_fold_init(&f, count_repeats, NULL), 0);
	assert_int_equal(add(&f, 1, "rename", "/a", "/b"), 0);
	assert_int_equal(add(&f, 1, "rename", "/a", "/b"), 1);
	assert_int_equal(add(&f, 1, "rename", "/a", "/c"), 0);
	assert_int_equal(repeats_written, 1); /* that made room */
	assert_int_equal(add(&f, 2, "rename", "/a", "/c"), 0);
	assert_int_equal(add(&f, 2, "write", "/a", ""), 0);
	assert_int_equal(add(&f, 2, "write", "/a", ""), 1);
	assert_int_equal(watch_fold_flush(&f, 1), 0);
	assert_int_equal(repeats_written, 1);
	assert_int_equal(watch_fold_flush(&f, 2), 0);
	assert_int_equal(repeats_written, 2);
	/* After a flush of all, the next time is a first time. */
	assert_int_equal(watch_fold_flush(&f, 0), 0);
	assert_int_equal(add(&f, 2, "write", "/a", ""), 0);
	watch_fold_fini(&f);
}

/* --- processes ------------------------------------------------------------------------ */

struct ends {
	struct loop *loop;
	int count, status;
	pid_t pid;
};

static int on_end(void *context, struct watch_process *p, int status)
{
	struct ends *e = context;

	e->count++;
	e->status = status;
	e->pid = p->pid;
	loop_stop(e->loop);
	return 0;
}

static void never(void *context, struct watch_process *p)
{
	(void)context;
	(void)p;
	fail();
}

static pid_t child_that_waits(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0ul, 0ul, 0ul);
		for (;;)
			(void)pause();
	}
	return pid;
}

static void test_a_child_is_its_parents_until_it_execs(void **state)
{
	static struct watch_processes all;
	struct loop loop;
	struct ends ends = {.loop = &loop};
	pid_t pid = child_that_waits();
	int status = 0;

	(void)state;
	assert_int_equal(loop_init(&loop), 0);
	watch_processes_init(&all, &loop, on_end, never, &ends);
	/* The first is pid 1 of the box, as far as the table knows: this test. */
	struct watch_process *us = watch_process_of(&all, getpid(), 1);

	assert_non_null(us);
	assert_int_equal(us->exec, 0);
	assert_int_equal(watch_process_execed(&all, us), 0);
	assert_int_equal(us->exec, 1);
	struct watch_process *p = watch_process_of(&all, pid, 1);

	assert_non_null(p);
	assert_ptr_equal(watch_process_of(&all, pid, 2), p);
	assert_int_equal(p->pid, pid);
	assert_false(p->owner);
	uint64_t parent = watch_process_execed(&all, p);

	assert_int_equal(p->exec, 2);
	assert_true(p->owner && parent != p->exec);
	struct watch_look look, ours;

	/* A fork has the stack of its parent, and a flag; only an exec changes them. */
	assert_int_equal(watch_process_look(p, &look), 0);
	assert_int_equal(watch_process_look(us, &ours), 0);
	assert_true(look.stack != 0 && look.stack == ours.stack);
	assert_true(look.forked && !look.ended);

	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(loop_run(&loop), 0);
	assert_int_equal(ends.count, 1);
	assert_int_equal(ends.pid, pid);
	assert_true(WIFSIGNALED(ends.status) && WTERMSIG(ends.status) == SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, ends.status);
	assert_null(watch_process_of(&all, pid, 3));
	watch_processes_fini(&all);
	loop_fini(&loop);
}

/* What is asked of a process until its exec has happened. */
static void ask(struct watch_process *p)
{
	p->asked = calloc(1, sizeof(*p->asked));
	assert_non_null(p->asked);
	p->asked->path = p->asked->argv = p->asked->cwd = BUF_INIT(64);
	p->asked->memory = -1;
	watch_process_asks(p, p->asked);
}

/* One that executes what it is, twice, without chance in where its stack is, when it is told to. */
static pid_t child_that_execs(int *ret_go)
{
	int go[2];

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)dup2(go[0], 0);
		(void)close(go[1]);
		(void)personality(ADDR_NO_RANDOMIZE);
		(void)execl("/proc/self/exe", "again", "one", NULL);
		_exit(1);
	}
	(void)close(go[0]);
	*ret_go = go[1];
	return pid;
}

/* In the child, which says by its name how far it is. */
static void exec_again(const char *step)
{
	char byte;

	(void)prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0ul, 0ul, 0ul);
	(void)prctl(PR_SET_NAME, (unsigned long)(uintptr_t)step, 0ul, 0ul, 0ul);
	if (read(0, &byte, 1) == 1 && strcmp(step, "one") == 0)
		(void)execl("/proc/self/exe", "again", "two", NULL);
	_exit(0);
}

static void await_name(pid_t pid, const char *name)
{
	char path[64], text[32] = "";

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	for (int i = 0; i < 2000 && strncmp(text, name, strlen(name)) != 0; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		(void)usleep(1000);
		assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
		(void)close(fd);
	}
	assert_memory_equal(text, name, strlen(name));
}

static void test_two_execs_of_one_file_are_two(void **state)
{
	static struct watch_processes all;
	struct loop loop;
	struct ends ends = {.loop = &loop};
	struct watch_look before, after;
	int go = -1;

	(void)state;
	assert_int_equal(loop_init(&loop), 0);
	watch_processes_init(&all, &loop, on_end, never, &ends);
	pid_t pid = child_that_execs(&go);

	await_name(pid, "one");
	struct watch_process *p = watch_process_of(&all, pid, 1);

	assert_non_null(p);
	ask(p);
	assert_false(p->asked->forked);
	assert_int_equal(watch_process_has_execed(p), 0);
	assert_int_equal(watch_process_look(p, &before), 0);
	assert_int_equal(write(go, "x", 1), 1);
	await_name(pid, "two");
	assert_int_equal(watch_process_look(p, &after), 0);
	/* The same file, and the stack where it was: the memory is another. */
	assert_int_equal(before.stack, after.stack);
	assert_int_equal(watch_process_has_execed(p), 1);
	(void)close(go);
	(void)waitpid(pid, NULL, 0);
	watch_processes_fini(&all);
	loop_fini(&loop);
}

static void test_one_that_is_gone_is_nobody(void **state)
{
	static struct watch_processes all;
	struct loop loop;
	struct ends ends = {.loop = &loop};

	(void)state;
	assert_int_equal(loop_init(&loop), 0);
	watch_processes_init(&all, &loop, on_end, never, &ends);
	assert_null(watch_process_of(&all, 0, 1));
	assert_null(watch_process_of(&all, 0x3ffffffe, 1));
	watch_processes_fini(&all);
	loop_fini(&loop);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[0], "again") == 0)
		exec_again(argv[1]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths_are_joined_and_cleaned),
		cmocka_unit_test(test_a_path_that_does_not_fit_is_none),
		cmocka_unit_test(test_places_are_the_plans),
		cmocka_unit_test(test_links_of_the_plan_that_go_round_end),
		cmocka_unit_test(test_only_filesystems_of_this_machine_are_entered),
		cmocka_unit_test(test_names_are_found_in_lists),
		cmocka_unit_test(test_repeats_are_counted_and_never_lost),
		cmocka_unit_test(test_only_the_same_thing_is_a_repeat),
		cmocka_unit_test(test_a_child_is_its_parents_until_it_execs),
		cmocka_unit_test(test_two_execs_of_one_file_are_two),
		cmocka_unit_test(test_one_that_is_gone_is_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
