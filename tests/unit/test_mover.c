/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of a lower layer is renamed as if there were no layers: whole, with all that is in
 * it, or not at all; and nothing but this overlay is ever touched.
 */
#include "cmocka_lead.h"

#include "mount_lead.h"

#include "mover.h"

#include <dirent.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

enum { MANY = 300, RACES = 300 };

struct world {
	char path[64];
	int lower, top; /* the lower layer, and the overlay */
};

static int setup_all(void **state)
{
	(void)state;
	enter_mounts();
	return 0;
}

static int open_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void make_in(const struct world *w, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", w->path, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void mount_overlay(struct world *w, const char *upper)
{
	char options[512], path[128];

	(void)snprintf(options, sizeof(options),
		       "userxattr,lowerdir=%s/lower,upperdir=%s/%s/up,workdir=%s/%s/work", w->path,
		       w->path, upper, w->path, upper);
	(void)snprintf(path, sizeof(path), "%s/top", w->path);
	assert_int_equal(mount("overlay", path, "overlay", 0, options), 0);
	w->top = open_dir(path);
}

/* d/{a,s/b,s/t/c,link,fifo}, d2/{x}, empty, plain */
static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	static const char *const folders[] = {"lower",       "upper",    "upper/up",   "upper/work",
					      "top",         "outside",  "lower/d",    "lower/d/s",
					      "lower/d/s/t", "lower/d2", "lower/empty"};

	assert_non_null(w);
	(void)snprintf(w->path, sizeof(w->path), "/tmp/bawn-mover-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		make_in(w, folders[i]);
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/lower", w->path);
	w->lower = open_dir(path);
	put_at(w->lower, "d/a", "one");
	put_at(w->lower, "d/s/b", "two");
	put_at(w->lower, "d/s/t/c", "three");
	put_at(w->lower, "d2/x", "other");
	put_at(w->lower, "plain", "file");
	assert_int_equal(symlinkat("../../outside", w->lower, "d/link"), 0);
	assert_int_equal(mkfifoat(w->lower, "d/fifo", 0600), 0);
	(void)snprintf(path, sizeof(path), "%s/lower/d/s", w->path);
	assert_int_equal(setxattr(path, "user.note", "kept", 4, 0), 0);
	assert_int_equal(chmod(path, 0750), 0);
	const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1100000000}};

	assert_int_equal(utimensat(w->lower, "d/s", old, 0), 0);
	assert_int_equal(utimensat(w->lower, "d", old, 0), 0);
	next_tick();
	mount_overlay(w, "upper");
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	char command[160];

	(void)close(w->lower);
	(void)close(w->top);
	(void)snprintf(command, sizeof(command), "%s/top", w->path);
	assert_int_equal(umount2(command, MNT_DETACH), 0);
	/* The kernel makes one without a mode, and a test a folder that is read-only. */
	(void)snprintf(command, sizeof(command), "%s/upper/work/work", w->path);
	(void)chmod(command, 0700);
	(void)snprintf(command, sizeof(command), "%s/lower/d/s", w->path);
	(void)chmod(command, 0700);
	pid_t pid = fork();

	if (pid == 0) {
		(void)execl("/bin/rm", "rm", "-rf", w->path, (char *)NULL);
		_exit(127);
	}
	(void)waitpid(pid, NULL, 0);
	free(w);
	return 0;
}

static void expect(const struct world *w, const char *name, const char *text)
{
	char is[64] = "";
	int fd = openat(w->top, name, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	ssize_t n = read(fd, is, sizeof(is) - 1);

	assert_int_equal(n, (ssize_t)strlen(text));
	assert_string_equal(is, text);
	(void)close(fd);
}

static bool is_there(const struct world *w, const char *name)
{
	struct stat st;

	return fstatat(w->top, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static size_t count_in(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fdopendir(fd);
	size_t count = 0;

	assert_non_null(d);
	for (const struct dirent *e; (e = readdir(d));)
		count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	(void)closedir(d);
	return count;
}

static void expect_tree(const struct world *w, const char *name)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/a", name);
	expect(w, path, "one");
	(void)snprintf(path, sizeof(path), "%s/s/b", name);
	expect(w, path, "two");
	(void)snprintf(path, sizeof(path), "%s/s/t/c", name);
	expect(w, path, "three");
	(void)snprintf(path, sizeof(path), "%s/fifo", name);
	assert_int_equal(fstatat(w->top, path, &st, 0), 0);
	assert_true(S_ISFIFO(st.st_mode));
	(void)snprintf(path, sizeof(path), "%s/link", name);
	assert_true(readlinkat(w->top, path, (char[64]){0}, 63) == strlen("../../outside"));
	assert_int_equal(count_in(w->top, name), 4);
	assert_int_equal(fstatat(w->top, name, &st, 0), 0);
	assert_int_equal(st.st_mtim.tv_sec, 1100000000);
	(void)snprintf(path, sizeof(path), "%s/s", name);
	assert_int_equal(fstatat(w->top, path, &st, 0), 0);
	assert_int_equal(st.st_mtim.tv_sec, 1100000000);
	assert_int_equal(st.st_mode & 07777, 0750);
}

static int rename_in(const struct world *w, const char *from, const char *to, unsigned int flags)
{
	return mover_rename(w->top, from, w->top, to, flags);
}

/* Nothing of a made-up name stays behind. */
static void expect_clean(const struct world *w, size_t count)
{
	assert_int_equal(count_in(w->top, "."), count);
}

static void test_whole(void **state)
{
	const struct world *w = *state;
	char value[8] = "", path[128];

	/* The control: alone the kernel does not do it. */
	assert_int_equal(renameat(w->top, "d", w->top, "new"), -1);
	assert_int_equal(errno, EXDEV);
	assert_int_equal(rename_in(w, "d", "new", 0), 0);
	assert_false(is_there(w, "d"));
	expect_tree(w, "new");
	(void)snprintf(path, sizeof(path), "%s/top/new/s", w->path);
	assert_int_equal(getxattr(path, "user.note", value, sizeof(value)), 4);
	expect_clean(w, 4);
	/* Again: now it lies in the upper layer alone; and back. */
	assert_int_equal(rename_in(w, "new", "d2/newer", 0), 0);
	assert_int_equal(rename_in(w, "d2", "d3", 0), 0);
	expect_tree(w, "d3/newer");
	assert_int_equal(rename_in(w, "d3/newer", "d", 0), 0);
	expect_tree(w, "d");
	/* What lies below is as it was. */
	assert_int_equal(count_in(w->lower, "d"), 4);
}

static void test_onto_empty(void **state)
{
	const struct world *w = *state;

	assert_int_equal(rename_in(w, "d", "empty", RENAME_NOREPLACE), -EEXIST);
	expect_tree(w, "d");
	assert_int_equal(rename_in(w, "d", "empty", 0), 0);
	expect_tree(w, "empty");
	expect_clean(w, 3);
}

/* As the kernel answers in a tree without layers. */
static void test_answers(void **state)
{
	const struct world *w = *state;

	assert_int_equal(rename_in(w, "d", "d2", 0), -ENOTEMPTY);
	assert_int_equal(rename_in(w, "d", "plain", 0), -ENOTDIR);
	assert_int_equal(rename_in(w, "d", "d/s/new", 0), -EINVAL);
	assert_int_equal(rename_in(w, "d/s", "d", 0), -ENOTEMPTY);
	assert_int_equal(rename_in(w, "none", "new", 0), -ENOENT);
	assert_int_equal(rename_in(w, "d", "none/new", 0), -ENOENT);
	assert_int_equal(rename_in(w, "d", "d", 0), 0);
	assert_int_equal(rename_in(w, "d", "d2", RENAME_EXCHANGE), -EXDEV);
	assert_int_equal(rename_in(w, "plain", "file", 0), 0);
	expect(w, "file", "file");
	expect_tree(w, "d");
	expect_clean(w, 4);
}

/* A mode that forbids it to who is not its owner's self. */
static void test_read_only_inside(void **state)
{
	const struct world *w = *state;
	struct stat st;

	assert_int_equal(fchmodat(w->lower, "d/s", 0555, 0), 0);
	assert_int_equal(rename_in(w, "d", "new", 0), 0);
	expect(w, "new/s/b", "two");
	assert_int_equal(fstatat(w->top, "new/s", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0555);
	assert_int_equal(fchmodat(w->top, "new/s", 0755, 0), 0);
}

/* A mount beneath is never moved, nor what it stands on. */
static void test_mount_beneath(void **state)
{
	const struct world *w = *state;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/top/d/s/t", w->path);
	assert_int_equal(mount("none", path, "tmpfs", 0, NULL), 0);
	assert_int_equal(rename_in(w, "d", "new", 0), -EBUSY);
	assert_int_equal(mover_rename(w->top, "d/s/t", w->top, "new", 0), -EBUSY);
	assert_int_equal(rename_in(w, "d2", "d/s/t", 0), -EBUSY);
	assert_int_equal(umount2(path, 0), 0);
	expect_tree(w, "d");
	expect_clean(w, 4);
}

/* The disk is full in the middle: everything is where it was. */
static void test_no_room(void **state)
{
	struct world *w = *state;
	char path[128], name[32];
	static char big[64 << 10];

	memset(big, 'x', sizeof(big) - 1);
	assert_int_equal(mkdirat(w->lower, "many", 0755), 0);
	assert_int_equal(mkdirat(w->lower, "many/sub", 0755), 0);
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "many/%s%03d", i % 2 ? "sub/" : "", i);
		put_at(w->lower, name, big);
	}
	make_in(w, "small");
	(void)snprintf(path, sizeof(path), "%s/small", w->path);
	assert_int_equal(mount("none", path, "tmpfs", 0, "size=4m"), 0);
	make_in(w, "small/up");
	make_in(w, "small/work");
	(void)close(w->top);
	(void)snprintf(path, sizeof(path), "%s/top", w->path);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	mount_overlay(w, "small");
	assert_int_equal(rename_in(w, "many", "new", 0), -ENOSPC);
	assert_false(is_there(w, "new"));
	assert_int_equal(count_in(w->top, "many"), MANY / 2 + 1);
	assert_int_equal(count_in(w->top, "many/sub"), MANY / 2);
	expect_clean(w, 5);
	(void)snprintf(path, sizeof(path), "%s/small", w->path);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
}

/* Where overlayfs can note nothing on a folder it renames none, not even one that is all new. */
static void test_no_attributes(void **state)
{
	struct world *w = *state;
	char path[128];

	make_in(w, "ram");
	(void)snprintf(path, sizeof(path), "%s/ram", w->path);
	assert_int_equal(mount("none", path, "ramfs", 0, "mode=0755"), 0);
	make_in(w, "ram/up");
	make_in(w, "ram/work");
	(void)close(w->top);
	(void)snprintf(path, sizeof(path), "%s/top", w->path);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	mount_overlay(w, "ram");
	assert_int_equal(mkdirat(w->top, "q", 0755), 0);
	assert_int_equal(mkdirat(w->top, "q/w", 0755), 0);
	put_at(w->top, "q/w/f", "mine");
	/* The control: alone the kernel does not do it. */
	assert_int_equal(renameat(w->top, "q", w->top, "qq"), -1);
	assert_int_equal(errno, EXDEV);
	assert_int_equal(rename_in(w, "q", "qq", 0), 0);
	assert_false(is_there(w, "q"));
	expect(w, "qq/w/f", "mine");
	expect_clean(w, 5);
	/* And where it cannot be done, it is where it was: no folder can be made on a whiteout. */
	assert_int_equal(unlinkat(w->top, "empty", AT_REMOVEDIR), 0);
	assert_int_equal(rename_in(w, "qq", "empty", 0), -EIO);
	expect(w, "qq/w/f", "mine");
	expect_clean(w, 4);
	(void)snprintf(path, sizeof(path), "%s/ram", w->path);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
}

/* Somebody goes on making files there: none is lost. */
static void test_others_at_work(void **state)
{
	const struct world *w = *state;
	int made[2];

	assert_int_equal(pipe2(made, O_CLOEXEC), 0);
	pid_t pid = fork();

	if (pid == 0) {
		int count = 0;

		/* Until the directory is gone under its feet. */
		for (int i = 0; i < 100000; i++) {
			char name[32];

			(void)snprintf(name, sizeof(name), "d/s/n%d", i);
			int fd = openat(w->top, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

			if (fd < 0)
				break;
			(void)close(fd);
			count++;
			/* One that is quicker than the move, all the while, is told: busy. */
			(void)usleep(20);
		}
		_exit(write(made[1], &count, sizeof(count)) < 0);
	}
	(void)usleep(5000);
	int r = rename_in(w, "d", "new", 0);
	int count = 0;

	if (r < 0)
		(void)kill(pid, SIGKILL);
	assert_int_equal(r, 0);
	assert_int_equal(read(made[0], &count, sizeof(count)), sizeof(count));
	(void)waitpid(pid, NULL, 0);
	assert_true(count > 0);
	/* Those, and b and t. */
	assert_int_equal(count_in(w->top, "new/s"), (size_t)count + 2);
	(void)close(made[0]);
	(void)close(made[1]);
}

/* A link takes the place of a directory and gives it back, all the while. */
static void test_racing_links(void **state)
{
	const struct world *w = *state;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/outside", w->path);
	int outside = open_dir(path);

	put_at(outside, "b", "not yours");
	put_at(outside, "keep", "not yours");
	assert_int_equal(symlinkat(path, w->top, "evil"), 0);
	assert_int_equal(rename_in(w, "d/s", "d/s2", 0), 0);
	pid_t pid = fork();

	if (pid == 0)
		for (;;) {
			(void)renameat2(w->top, "d/s2", w->top, "evil", RENAME_EXCHANGE);
			(void)renameat2(w->top, "e/s2", w->top, "evil", RENAME_EXCHANGE);
		}
	/* A new lower layer for each move: files of the lower one move only once. */
	for (int i = 0; i < RACES; i++)
		(void)mover_rename(w->top, i % 2 ? "e" : "d", w->top, i % 2 ? "d" : "e", 0);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	assert_int_equal(count_in(outside, "."), 2);
	(void)close(outside);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_onto_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_only_inside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mount_beneath, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_attributes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others_at_work, setup, teardown),
		cmocka_unit_test_setup_teardown(test_racing_links, setup, teardown),
	};

	return cmocka_run_group_tests(tests, setup_all, NULL);
}
