/* SPDX-License-Identifier: Apache-2.0 */
/*
 * src/sys/cgroup.c and src/host/box_limits.c, on a tree of plain files that looks like one of cgroups:
 * which place is chosen, what is written, what is removed.  tests/kernels/limits has the kernel's own.
 */
#include "cmocka_lead.h"

#include "box_limits.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SELF = 4711, NOBODY = 65534 };

struct tree {
	char path[64];
};

static void put(const struct tree *t, const char *where, const char *file, const char *text)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s%s/%s", t->path, where, file);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

static void assert_has(const struct tree *t, const char *path, const char *want)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	char whole[256];

	(void)snprintf(whole, sizeof(whole), "%s%s", t->path, path);
	assert_int_equal(fd_read_file_at(AT_FDCWD, whole, &text), 0);
	assert_string_equal(buf_str(&text), want);
}

static bool is_there(const struct tree *t, const char *path)
{
	char whole[256];

	(void)snprintf(whole, sizeof(whole), "%s%s", t->path, path);
	return access(whole, F_OK) == 0;
}

/* A cgroup: what it could hand down, what it does, and who stands in it. */
static void group(const struct tree *t, const char *where, const char *can, const char *does,
		  const char *who)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s%s", t->path, where);
	assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
	put(t, where, "cgroup.controllers", can);
	put(t, where, "cgroup.subtree_control", does);
	put(t, where, "cgroup.procs", who);
	if (where[0])
		put(t, where, "cgroup.type", "domain\n");
}

static int setup(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	(void)snprintf(t->path, sizeof(t->path), "/tmp/bawn-cgroup.XXXXXX");
	assert_non_null(mkdtemp(t->path));
	group(t, "", "cpu memory pids\n", "cpu memory pids\n", "1\n2\n");
	*state = t;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	struct tree *t = *state;

	assert_int_equal(nftw(t->path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
	free(t);
	return 0;
}

static int find(const struct tree *t, const char *own, unsigned int wanted,
		struct cgroup_place *ret)
{
	return cgroup_find(t->path, own, SELF, wanted, ret);
}

static void assert_place(const struct tree *t, const struct cgroup_place *p, const char *where)
{
	assert_string_equal(str_after(p->path, t->path), where);
}

/* --- where ------------------------------------------------------------------------------ */

static void a_cgroup_above_that_hands_down_is_the_place(void **state)
{
	const struct tree *t = *state;
	struct cgroup_place p;

	group(t, "/own", "cpu memory pids\n", "memory pids\n", "");
	group(t, "/own/shell", "memory pids\n", "\n", "4711\n99\n");
	assert_int_equal(find(t, "/own/shell", CGROUP_MEMORY, &p), 0);
	assert_place(t, &p, "/own");
	assert_int_equal(p.enable, 0);
	assert_false(p.aside);
	/* Nobody stands there, so it can hand down more. */
	assert_int_equal(find(t, "/own/shell", CGROUP_MEMORY | CGROUP_CPU, &p), 0);
	assert_place(t, &p, "/own");
	assert_int_equal(p.enable, CGROUP_CPU);
	assert_false(p.aside);
}

static void alone_in_a_cgroup_we_step_aside(void **state)
{
	const struct tree *t = *state;
	struct cgroup_place p;

	group(t, "/own", "cpu memory pids\n", "\n", "4711\n");
	assert_int_equal(find(t, "/own", CGROUP_MEMORY, &p), 0);
	assert_place(t, &p, "/own");
	assert_int_equal(p.enable, CGROUP_MEMORY);
	assert_true(p.aside);
}

/* The root hands down whatever stands in it; here it is "above", and all could write it. */
static void with_others_beside_us_the_next_one_above_counts(void **state)
{
	const struct tree *t = *state;
	struct cgroup_place p;

	group(t, "/own", "cpu memory pids\n", "\n", "4711\n99\n");
	assert_int_equal(find(t, "/own", CGROUP_MEMORY, &p), 0);
	assert_place(t, &p, "");
	put(t, "", "cgroup.controllers", "pids\n");
	put(t, "", "cgroup.subtree_control", "pids\n");
	put(t, "/own", "cgroup.controllers", "memory\n");
	assert_int_equal(find(t, "/own", CGROUP_MEMORY, &p), -EBUSY);
}

static void a_controller_that_is_nowhere_is_said(void **state)
{
	const struct tree *t = *state;
	struct cgroup_place p;

	put(t, "", "cgroup.controllers", "cpuset hugetlb memoryless\n");
	put(t, "", "cgroup.subtree_control", "\n");
	group(t, "/own", "\n", "\n", "4711\n");
	assert_int_equal(find(t, "/own", CGROUP_MEMORY, &p), -EOPNOTSUPP);
	assert_int_equal(find(t, "/own", CGROUP_CPU, &p), -EOPNOTSUPP);
}

/* What is mounted may be another part of the tree than /proc speaks of. */
static void a_cgroup_in_which_we_do_not_stand_is_not_ours(void **state)
{
	const struct tree *t = *state;
	struct cgroup_place p;

	group(t, "/own", "cpu memory pids\n", "\n", "99\n");
	assert_int_equal(find(t, "/own", CGROUP_MEMORY, &p), -ENOENT);
	assert_int_equal(find(t, "/none", CGROUP_MEMORY, &p), -ENOENT);
}

static void what_we_may_not_write_is_no_place(void **state)
{
	const struct tree *t = *state;
	struct cgroup_place p;
	char path[256];

	group(t, "/own", "cpu memory pids\n", "memory\n", "4711\n");
	assert_int_equal(find(t, "/own", CGROUP_MEMORY, &p), 0);
	(void)snprintf(path, sizeof(path), "%s/own/cgroup.procs", t->path);
	assert_int_equal(chmod(path, 0444), 0);
	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", t->path);
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(chmod(t->path, 0755), 0);
	/* Root may write whatever the mode says. */
	bool root = geteuid() == 0;

	assert_true(!root || seteuid(NOBODY) == 0);
	int r = find(t, "/own", CGROUP_MEMORY, &p);

	assert_true(!root || seteuid(0) == 0);
	assert_int_equal(r, -EACCES);
}

/* --- what is written -------------------------------------------------------------------- */

static void limits_are_written_as_the_kernel_reads_them(void **state)
{
	const struct tree *t = *state;
	static const struct plan_limit limits[] = {
		{PLAN_LIMIT_PROCESSES, 40, ""},         {PLAN_LIMIT_OPEN_FILES, 7, ""},
		{PLAN_LIMIT_BOX_MEMORY, 200 << 20, ""}, {PLAN_LIMIT_BOX_MEMORY_SOFT, 1 << 20, ""},
		{PLAN_LIMIT_BOX_CPU, 150, ""},          {PLAN_LIMIT_BOX_CPU_WEIGHT, 50, ""},
		{PLAN_LIMIT_BOX_IO_WEIGHT, 60, ""}};
	struct plan plan = plan_none;
	struct error e = ERROR_INIT;
	static const char *const files[] = {"memory.max",   "memory.high", "memory.swap.max",
					    "cpu.max",      "cpu.weight",  "pids.max",
					    "io.bfq.weight"};

	plan.limits.items = limits;
	plan.limits.count = BAWN_ARRAY_SIZE(limits);
	assert_int_equal(box_limits_wanted(&plan), CGROUP_MEMORY | CGROUP_CPU | CGROUP_IO);
	group(t, "/box", "", "", "");
	_cleanup_fd_ int dir = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fd_ int box = openat(dir, "box", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* A limit without its file is not kept, and that is an error. */
	assert_int_equal(box_limits_write(box, &plan, &e), -ENOENT);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(files); i++)
		put(t, "/box", files[i], "");
	e = ERROR_INIT;
	assert_int_equal(box_limits_write(box, &plan, &e), 0);
	assert_has(t, "/box/memory.max", "209715200");
	assert_has(t, "/box/memory.high", "1048576");
	assert_has(t, "/box/memory.swap.max", "0");
	assert_has(t, "/box/cpu.max", "150000 100000");
	assert_has(t, "/box/cpu.weight", "50");
	assert_has(t, "/box/pids.max", "40");
	assert_has(t, "/box/io.bfq.weight", "60");
	put(t, "/box", "io.weight", "");
	assert_int_equal(box_limits_write(box, &plan, &e), 0);
	assert_has(t, "/box/io.weight", "60");
}

static void limits_of_processes_alone_need_no_cgroup(void **state)
{
	static const struct plan_limit limits[] = {{PLAN_LIMIT_PROCESSES, 40, ""},
						   {PLAN_LIMIT_MEMORY, 1 << 20, ""}};
	struct plan plan = plan_none;

	(void)state;
	plan.limits.items = limits;
	plan.limits.count = BAWN_ARRAY_SIZE(limits);
	assert_int_equal(box_limits_wanted(&plan), 0);
}

/* --- what is removed -------------------------------------------------------------------- */

static void what_is_locked_or_not_ours_is_not_swept(void **state)
{
	const struct tree *t = *state;
	static const char *const names[] = {"bawn-dead.1", "bawn-lives.2", "other"};
	int fds[BAWN_ARRAY_SIZE(names)];
	_cleanup_fd_ int dir = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		assert_int_equal(mkdirat(dir, names[i], 0755), 0);
		fds[i] = openat(dir, names[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	assert_int_equal(flock(fds[1], LOCK_EX | LOCK_NB), 0);
	cgroup_sweep(t->path);
	assert_false(is_there(t, "/bawn-dead.1"));
	assert_true(is_there(t, "/bawn-lives.2") && is_there(t, "/other"));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		fd_close(&fds[i]);
	cgroup_sweep(t->path);
	assert_false(is_there(t, "/bawn-lives.2"));
}

static void one_that_is_made_is_locked_and_removed(void **state)
{
	const struct tree *t = *state;
	struct cgroup_place p = {.enable = CGROUP_MEMORY};
	struct cgroup c;
	char name[CGROUP_NAME + 1];

	(void)snprintf(p.path, sizeof(p.path), "%s", t->path);
	put(t, "", "cgroup.subtree_control", "");
	assert_int_equal(cgroup_make(&p, "calm-otter", &c), 0);
	(void)snprintf(name, sizeof(name), "/%s", c.name);
	assert_non_null(str_after(name, "/bawn-calm-otter."));
	assert_true(cgroup_is_ours(name) && !cgroup_is_ours("/own/shell"));
	/* A plain file keeps what is written over it: "+memory", then "+pids". */
	assert_has(t, "/cgroup.subtree_control", "+pidsry");
	cgroup_sweep(t->path);
	assert_true(is_there(t, name));
	cgroup_remove(&c);
	assert_false(is_there(t, name));
	assert_int_equal(c.dir, -1);
}

static void a_share_of_disks_needs_a_kernel_that_weighs(void **state)
{
	const struct tree *t = *state;
	struct cgroup_place p;

	put(t, "", "cgroup.controllers", "\n");
	put(t, "", "cgroup.subtree_control", "\n");
	group(t, "/own", "cpu io memory\n", "io memory\n", "");
	group(t, "/own/shell", "io memory\n", "\n", "4711\n");
	put(t, "/own/shell", "cgroup.type", "domain\n");
	put(t, "/own", "cgroup.type", "domain\n");
	assert_int_equal(find(t, "/own/shell", CGROUP_MEMORY, &p), 0);
	assert_int_equal(find(t, "/own/shell", CGROUP_MEMORY | CGROUP_IO, &p), -EOPNOTSUPP);
	put(t, "/own", "io.weight", "default 100\n");
	assert_int_equal(find(t, "/own/shell", CGROUP_MEMORY | CGROUP_IO, &p), 0);
}

static void pressure_is_read_in_hundredths(void **state)
{
	static const struct {
		const char *text;
		bool known;
		uint64_t some;
	} rows[] = {
		{"some avg10=0.00 avg60=2.48 avg300=9.27 total=42\nfull avg10=7.00", true, 0},
		{"some avg10=12.34 avg60=0.00", true, 1234},
		{"some avg10=100.00 ", true, 10000},
		{"full avg10=1.00 avg60=0.00\n", false, 0},
		{"some avg10=", false, 0},
		{"some avg10=1", false, 0},
		{"some avg10=1.2", false, 0},
		{"some avg10=.", false, 0},
		{"some avg10=99999999999999999999999.99", false, 0},
		{"", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		uint64_t some = 0;

		assert_int_equal(cgroup_pressure(span_of_str(rows[i].text), &some), rows[i].known);
		if (rows[i].known)
			assert_int_equal(some, rows[i].some);
	}
}

/* Units of systemd may be called bawn-..., too. */
static void units_are_not_ours(void **state)
{
	static const char *const others[] = {"bawn-nightly.service",
					     "bawn-calm-otter-12.scope",
					     "bawn-.slice",
					     "bawn-",
					     "bawn-12",
					     "bawn-a.",
					     "bawn-a.12b",
					     "bawn.12"};
	const struct tree *t = *state;
	_cleanup_fd_ int dir = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(others); i++)
		assert_int_equal(mkdirat(dir, others[i], 0755), 0);
	assert_int_equal(mkdirat(dir, "bawn-.outside.12", 0755), 0);
	cgroup_sweep(t->path);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(others); i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "/%s", others[i]);
		assert_true(is_there(t, path));
		assert_false(cgroup_is_ours(path));
	}
	assert_false(is_there(t, "/bawn-.outside.12"));
	/* In that one stands bawn, and no box. */
	assert_false(cgroup_is_ours("/a/bawn-.outside.12"));
	assert_true(cgroup_is_ours("/a/bawn-outside.12"));
}

/* Without its controllers the place would keep no limit of the other any more. */
static void controllers_stay_while_another_session_needs_them(void **state)
{
	const struct tree *t = *state;

	for (int alone = 0; alone < 2; alone++) {
		struct cgroup c = CGROUP_INIT;

		c.place = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		c.enabled = CGROUP_MEMORY;
		(void)snprintf(c.name, sizeof(c.name), "bawn-own.1");
		(void)snprintf(c.outside_name, sizeof(c.outside_name), "bawn-.outside.1");
		assert_true(mkdirat(c.place, c.outside_name, 0755) == 0 || errno == EEXIST);
		assert_true(mkdirat(c.place, "bawn-other.2", 0755) == 0 || errno == EEXIST);
		c.outside = openat(c.place, c.outside_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		_cleanup_fd_ int other =
			openat(c.place, "bawn-other.2", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		assert_int_equal(flock(other, alone ? LOCK_UN : LOCK_EX | LOCK_NB), 0);
		put(t, "", "cgroup.subtree_control", "");
		cgroup_remove(&c);
		assert_has(t, "/cgroup.subtree_control", alone ? "-memory" : "");
		assert_int_equal(is_there(t, "/bawn-.outside.1"), !alone);
	}
}

static void counts_are_read_by_their_whole_word(void **state)
{
	static const char text[] = "low 0\nhigh 12\nmax 3\noom 4\noom_kill 56\noom_group_kill 7\n";
	const struct span s = span_of_str(text);

	(void)state;
	assert_int_equal(cgroup_count(s, "oom_kill"), 56);
	assert_int_equal(cgroup_count(s, "oom"), 4);
	assert_int_equal(cgroup_count(s, "low"), 0);
	assert_int_equal(cgroup_count(s, "kill"), 0);
	assert_int_equal(cgroup_count((struct span){s.ptr, 0}, "low"), 0);
	for (size_t len = 0; len < s.len; len++) /* however it is cut */
		(void)cgroup_count((struct span){s.ptr, len}, "oom_group_kill");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_cgroup_above_that_hands_down_is_the_place, setup,
						teardown),
		cmocka_unit_test_setup_teardown(alone_in_a_cgroup_we_step_aside, setup, teardown),
		cmocka_unit_test_setup_teardown(with_others_beside_us_the_next_one_above_counts,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_controller_that_is_nowhere_is_said, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_cgroup_in_which_we_do_not_stand_is_not_ours,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_we_may_not_write_is_no_place, setup, teardown),
		cmocka_unit_test_setup_teardown(limits_are_written_as_the_kernel_reads_them, setup,
						teardown),
		cmocka_unit_test(limits_of_processes_alone_need_no_cgroup),
		cmocka_unit_test_setup_teardown(what_is_locked_or_not_ours_is_not_swept, setup,
						teardown),
		cmocka_unit_test_setup_teardown(one_that_is_made_is_locked_and_removed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_share_of_disks_needs_a_kernel_that_weighs, setup,
						teardown),
		cmocka_unit_test(pressure_is_read_in_hundredths),
		cmocka_unit_test_setup_teardown(units_are_not_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(controllers_stay_while_another_session_needs_them,
						setup, teardown),
		cmocka_unit_test(counts_are_read_by_their_whole_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
