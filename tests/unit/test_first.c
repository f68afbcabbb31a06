/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file was before a session changed it is kept, once, whatever the file is; and read again
 * as it was written.
 */
#include "cmocka_lead.h"

#include "tree_lead.h"

#include "first_keep.h"
#include "first_kept.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

struct world {
	char path[64], work[80], upper[80];
	int root, dir;
	struct plan_mount mount;
	struct plan plan;
	struct first_keep k;
	struct first f;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	(void)snprintf(w->path, sizeof(w->path), "/tmp/bawn-first-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	(void)snprintf(w->work, sizeof(w->work), "%s/w", w->path);
	assert_int_equal(mkdir(w->work, 0755), 0);
	w->root = open(w->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->root >= 0);
	assert_int_equal(mkdirat(w->root, "d", 0750), 0);
	put_at(w->root, "a", "one");
	put_at(w->root, "d/b", "two");
	assert_int_equal(symlinkat("d", w->root, "way"), 0);
	assert_int_equal(symlinkat("a", w->root, "link"), 0);
	w->mount = (struct plan_mount){.kind = PLAN_MOUNT_BIND,
				       .access = PLAN_ACCESS_WRITE,
				       .target = "/w",
				       .source = w->work,
				       .upper = w->upper,
				       .role = "workspace"};
	w->plan = (struct plan){.workspace = "/w", .mounts = {&w->mount, 1}};
	w->k = FIRST_KEEP_INIT;
	w->f = FIRST_INIT;
	next_tick();
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	first_keep_fini(&w->k);
	first_close(&w->f);
	(void)close(w->root);
	pid_t pid = fork();

	if (pid == 0) {
		(void)execlp("rm", "rm", "-rf", "--", w->path, NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	free(w);
	return 0;
}

static void begin(struct world *w, bool direct)
{
	struct error e = ERROR_INIT;
	char path[96];

	(void)snprintf(path, sizeof(path), "%s/first", w->path);
	(void)mkdir(path, 0700);
	(void)snprintf(w->upper, sizeof(w->upper), "%s/layer", w->path);
	(void)mkdir(w->upper, 0700);
	(void)snprintf(path, sizeof(path), "%s/up", w->upper);
	(void)mkdir(path, 0700);
	if (direct)
		w->upper[0] = '\0';
	(void)snprintf(path, sizeof(path), "%s/first", w->path);
	assert_int_equal(first_keep_begin(&w->k, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
					  &w->plan, &e),
			 0);
	assert_true(w->k.dir >= 0);
	/* The box sees its /w, which is the folder itself while nothing is changed. */
	_cleanup_fd_ int root = open(w->path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	first_keep_see(&w->k, root);
}

static bool keep(struct world *w, const char *path, enum first_change change)
{
	return first_keep_path(&w->k, span_of_str(path), change);
}

static void read_all(struct world *w)
{
	struct error e = ERROR_INIT;

	assert_int_equal(first_keep_end(&w->k), 0);
	assert_int_equal(first_open(w->k.dir, &w->f, &e), 0);
}

static void expect_content(const struct world *w, const char *path, const char *text)
{
	struct first_entry e = {0};
	_cleanup_buf_ struct buf is = BUF_INIT(4 << 20);

	assert_true(first_find(&w->f, path, &e) >= 0);
	assert_int_equal(e.kind, FIRST_FILE);
	_cleanup_fd_ int fd = first_content(&w->f, &e);

	assert_true(fd >= 0);
	assert_int_equal(fd_read_all(fd, &is), 0);
	assert_string_equal(buf_str(&is), text);
}

static void test_what_stood_there(void **state)
{
	struct world *w = *state;
	struct first_entry e = {0};
	struct stat st = {0};

	begin(w, true);
	assert_int_equal(fstatat(w->root, "a", &st, 0), 0);
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	put_at(w->root, "a", "changed");
	/* Once is enough. */
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/new", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/link", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/d", FIRST_CHANGE_CONTENT));
	/* None of the workspace's. */
	assert_true(keep(w, "/w", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/wide", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/etc/passwd", FIRST_CHANGE_CONTENT));
	read_all(w);
	expect_content(w, "a", "one");
	assert_true(first_find(&w->f, "a", &e) == 1);
	assert_int_equal(e.ino, st.st_ino);
	assert_int_equal(e.mtime, st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
	assert_int_equal(e.mode, 0644);
	assert_true(e.flags & FIRST_HASHED && e.flags & FIRST_DIRECT);
	assert_true(first_find(&w->f, "new", &e) >= 0);
	assert_int_equal(e.kind, FIRST_ABSENT);
	assert_true(first_find(&w->f, "link", &e) >= 0);
	assert_int_equal(e.kind, FIRST_LINK);
	assert_string_equal(e.text, "a");
	assert_true(first_find(&w->f, "d", &e) >= 0);
	assert_int_equal(e.kind, FIRST_DIR);
	assert_int_equal(e.mode, 0750);
	assert_true(first_find(&w->f, "none", &e) == -ENOENT);
	/* And how they were left. */
	assert_true(first_find_end(&w->f, "a", &e) >= 0);
	assert_int_equal(e.size, strlen("changed"));
	assert_true(e.flags & FIRST_HASHED);
	assert_true(first_find_end(&w->f, "new", &e) >= 0);
	assert_int_equal(e.kind, FIRST_ABSENT);
	/* The folder itself, for its time. */
	first_at(&w->f, 0, &e);
	assert_string_equal(e.path, ".");
	assert_int_equal(e.kind, FIRST_DIR);
	assert_int_equal(w->f.count, 10);
}

/* What has no content has that as well: it comes back. */
static void test_empty(void **state)
{
	struct world *w = *state;
	struct first_entry e = {0};

	put_at(w->root, "a", "");
	next_tick();
	begin(w, true);
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/d/b", FIRST_CHANGE_CONTENT));
	put_at(w->root, "a", "changed");
	put_at(w->root, "d/b", "");
	read_all(w);
	expect_content(w, "a", "");
	expect_content(w, "d/b", "two");
	assert_true(first_find(&w->f, "a", &e) >= 0);
	assert_int_equal(e.size, 0);
	assert_true(e.flags & FIRST_HASHED);
}

/* A link is never followed; who asks says where it leads. */
static void test_links(void **state)
{
	struct world *w = *state;
	struct first_entry e = {0};

	begin(w, true);
	assert_false(keep(w, "/w/way/b", FIRST_CHANGE_CONTENT));
	assert_false(keep(w, "/w/way/b", FIRST_CHANGE_META));
	read_all(w);
	assert_int_equal(w->f.count, 0);
	assert_true(first_find(&w->f, "way/b", &e) == -ENOENT);
}

static void test_mode_and_then_content(void **state)
{
	struct world *w = *state;
	struct first_entry e = {0};

	begin(w, true);
	assert_true(keep(w, "/w/a", FIRST_CHANGE_META));
	assert_int_equal(fchmodat(w->root, "a", 0600, 0), 0);
	assert_true(keep(w, "/w/a", FIRST_CHANGE_META));
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	put_at(w->root, "a", "changed");
	assert_true(keep(w, "/w/a", FIRST_CHANGE_META));
	read_all(w);
	assert_true(first_find(&w->f, "a", &e) >= 0);
	assert_int_equal(e.mode, 0644);
	expect_content(w, "a", "one");
}

static void put_large(const struct world *w, const char *name, size_t size)
{
	char *text = malloc(size + 1);

	assert_non_null(text);
	memset(text, 'x', size);
	text[size] = '\0';
	put_at(w->root, name, text);
	free(text);
}

static void test_large(void **state)
{
	struct world *w = *state;
	struct first_entry e = {0};

	put_large(w, "large", 3 << 20);
	put_large(w, "larger", 3 << 20);
	begin(w, true);
	/* Left by somebody who was killed. */
	put_at(w->k.dir, "0000000000000000", "");
	w->k.limit = 4 << 20;
	assert_true(keep(w, "/w/large", FIRST_CHANGE_CONTENT));
	put_at(w->root, "large", "changed");
	assert_true(keep(w, "/w/larger", FIRST_CHANGE_CONTENT));
	read_all(w);
	assert_true(first_find(&w->f, "large", &e) >= 0);
	_cleanup_fd_ int fd = first_content(&w->f, &e);
	struct stat st = {0};

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	assert_int_equal(st.st_size, 3 << 20);
	/* Where blocks are shared it costs nothing, and there is no limit. */
	assert_true(first_find(&w->f, "larger", &e) >= 0);
	if (w->k.kept == 0)
		return;
	assert_int_equal(e.why, FIRST_WHY_LIMIT);
	assert_int_equal(first_content(&w->f, &e), -ENOENT);
	assert_int_equal(w->k.unkept, 1);
}

/* For a merge the small ones are enough; what stands there is the user's own folder. */
static void test_review(void **state)
{
	struct world *w = *state;
	struct first_entry e = {0};

	put_large(w, "small", 1 << 20);
	put_large(w, "large", (1 << 20) + 1);
	begin(w, false);
	assert_true(keep(w, "/w/small", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/large", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	first_keep_fini(&w->k);
	/* It goes on another time: what is known stays so, while the session has it. */
	struct plan_string sealed = {.text = w->path};

	w->mount.layers.items = &sealed;
	w->mount.layers.count = 1;
	begin(w, false);
	put_at(w->k.layers[0], "a", "by the session");
	put_at(w->root, "a", "by the user");
	put_at(w->root, "small", "by the user");
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/a", FIRST_CHANGE_META));
	assert_true(keep(w, "/w/d/b", FIRST_CHANGE_CONTENT));
	/* This one landed, and is changed again. */
	assert_true(keep(w, "/w/small", FIRST_CHANGE_META));
	assert_true(keep(w, "/w/small", FIRST_CHANGE_CONTENT));
	read_all(w);
	assert_int_equal(w->f.count, 5);
	expect_content(w, "a", "one");
	expect_content(w, "small", "by the user");
	expect_content(w, "d/b", "two");
	assert_true(first_find(&w->f, "large", &e) >= 0);
	assert_int_equal(e.why, FIRST_WHY_LARGE);
	assert_true(e.flags & FIRST_HASHED);
	assert_int_equal(w->k.unkept, 0);
}

/* What the user put in the place of a file that the box still has open is not what it departed
 * from; and neither is what stands in a layer already. */
static void test_review_sees_what_the_box_sees(void **state)
{
	struct world *w = *state;
	struct first_entry e = {0};
	char other[96], layer[112];

	(void)snprintf(other, sizeof(other), "%s/other", w->path);
	assert_int_equal(mkdir(other, 0755), 0);
	_cleanup_fd_ int folder = open(other, O_PATH | O_DIRECTORY | O_CLOEXEC);

	put_at(folder, "a", "by the user");
	put_at(folder, "own", "by the user");
	w->mount.source = other;
	begin(w, false);
	(void)snprintf(layer, sizeof(layer), "%s/up", w->upper);
	_cleanup_fd_ int up = open(layer, O_PATH | O_DIRECTORY | O_CLOEXEC);

	put_at(up, "own", "by the session");
	put_at(w->root, "own", "by the session");
	put_at(up, "made", "by the session");
	put_at(w->root, "made", "by the session");
	assert_true(keep(w, "/w/a", FIRST_CHANGE_META));
	assert_true(keep(w, "/w/own", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/made", FIRST_CHANGE_CONTENT));
	read_all(w);
	expect_content(w, "a", "one");
	assert_true(first_find(&w->f, "own", &e) == -ENOENT);
	assert_true(first_find(&w->f, "made", &e) >= 0);
	assert_int_equal(e.kind, FIRST_ABSENT);
}

/* After a folder was renamed names mean other things: the journal has both, in order. */
static void test_moved(void **state)
{
	struct world *w = *state;
	struct stat st = {0};
	struct first_entry e = {0};

	begin(w, true);
	assert_true(keep(w, "/w/d/b", FIRST_CHANGE_CONTENT));
	assert_true(first_keep_is_folder(&w->k, span_of_str("/w/d")));
	assert_false(first_keep_is_folder(&w->k, span_of_str("/w/a")));
	assert_true(keep(w, "/w/e", FIRST_CHANGE_CONTENT));
	first_keep_moved(&w->k, span_of_str("/w/d"), span_of_str("/w/e"), false);
	assert_int_equal(renameat(w->root, "d", w->root, "e"), 0);
	assert_true(keep(w, "/w/d", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/e/b", FIRST_CHANGE_CONTENT));
	read_all(w);
	first_at(&w->f, 4, &e);
	assert_int_equal(e.kind, FIRST_MOVED);
	assert_string_equal(e.path, "d");
	assert_string_equal(e.text, "e");
	assert_int_equal(fstatat(w->root, "e", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(e.ino, st.st_ino);
	first_at(&w->f, 5, &e);
	assert_string_equal(e.path, "d");
	assert_int_equal(e.kind, FIRST_ABSENT);
	expect_content(w, "e/b", "two");
}

/* Whatever was cut off, what is before it holds. */
static void test_cut_off(void **state)
{
	struct world *w = *state;
	struct error error = ERROR_INIT;
	struct first_entry e = {0};

	begin(w, false);
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/d/b", FIRST_CHANGE_CONTENT));
	struct stat st = {0};

	assert_int_equal(fstat(w->k.index.fd, &st), 0);
	for (off_t len = st.st_size - 1; len > 0; len -= 7) {
		assert_int_equal(ftruncate(w->k.index.fd, len), 0);
		assert_int_equal(first_open(w->k.dir, &w->f, &error), 0);
		assert_int_equal(w->f.count, len >= st.st_size / 2 ? 1 : 0);
		assert_true(first_find(&w->f, "d/b", &e) == -ENOENT);
		first_close(&w->f);
	}
}

/* What is damaged is passed over, and counted. */
static void test_damaged(void **state)
{
	struct world *w = *state;
	struct error error = ERROR_INIT;
	struct first_entry e = {0};
	struct stat st = {0};
	char bytes[8192];

	begin(w, false);
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	assert_int_equal(fstat(w->k.index.fd, &st), 0);
	const off_t one = st.st_size;

	assert_true(keep(w, "/w/BFV1BFV2", FIRST_CHANGE_CONTENT));
	assert_int_equal(fstat(w->k.index.fd, &st), 0);
	const off_t two = st.st_size;

	assert_true(keep(w, "/w/d/b", FIRST_CHANGE_CONTENT));
	_cleanup_fd_ int index = openat(w->k.dir, "index", O_RDWR | O_CLOEXEC);
	const ssize_t all = read(index, bytes, sizeof(bytes));

	assert_true(all > two && (size_t)all < sizeof(bytes));
	for (off_t cut = 1; cut <= two - one; cut += 3) {
		/* Of the entry in the middle only its start was written. */
		const off_t left = two - one - cut;

		assert_int_equal(ftruncate(index, 0), 0);
		assert_int_equal(pwrite(index, bytes, (size_t)(one + left), 0), one + left);
		assert_int_equal(pwrite(index, bytes + two, (size_t)(all - two), one + left),
				 all - two);
		assert_int_equal(first_open(w->k.dir, &w->f, &error), 0);
		assert_int_equal(w->f.count, 2);
		assert_int_equal(w->f.unread, left);
		assert_int_equal(first_find(&w->f, "a", &e), 0);
		assert_int_equal(first_find(&w->f, "d/b", &e), 1);
		first_close(&w->f);
	}
}

/* The index can have so many bytes more. */
static void leave_room(const struct world *w, rlim_t room)
{
	struct stat st = {0};

	assert_int_equal(fstat(w->k.index.fd, &st), 0);
	const struct rlimit limit = {.rlim_cur = (rlim_t)st.st_size + room,
				     .rlim_max = RLIM_INFINITY};

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* No room in the middle of an entry: it is cut off, the change is refused, and what follows is
 * entered and read. */
static void test_no_room(void **state)
{
	struct world *w = *state;
	struct first_entry e = {0};
	const struct rlimit all = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	(void)signal(SIGXFSZ, SIG_IGN);
	begin(w, true);
	assert_true(keep(w, "/w/new", FIRST_CHANGE_CONTENT));
	const uint64_t entered = w->k.index.len, packed = w->k.packed;

	leave_room(w, 50);
	(void)keep(w, "/w/a", FIRST_CHANGE_CONTENT);
	assert_int_equal(w->k.refused, FIRST_WHY_FAILED);
	w->k.refused = FIRST_WHY_NOT;
	first_keep_moved(&w->k, span_of_str("/w/d"), span_of_str("/w/e"), false);
	assert_int_equal(w->k.refused, FIRST_WHY_FAILED);
	w->k.refused = FIRST_WHY_NOT;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	assert_true(w->k.index.len == entered && w->k.packed == packed && !w->k.index.torn);
	/* Nothing is taken for known. */
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	assert_int_equal(w->k.refused, FIRST_WHY_NOT);
	assert_int_equal(w->k.unkept, 0);
	read_all(w);
	assert_int_equal(w->f.unread, 0);
	expect_content(w, "a", "one");
	assert_true(first_find_end(&w->f, "a", &e) >= 0);
}

/* As many entries as undo can go through, and those of the end besides. */
static void test_bounded(void **state)
{
	struct world *w = *state;
	struct first_entry e = {0};

	begin(w, true);
	assert_int_equal(w->k.enter_limit, FIRST_KEEP_INDEX);
	w->k.enter_limit = 1000;
	for (int i = 0; i < 100 && !w->k.refused; i++)
		first_keep_moved(&w->k, span_of_str("/w/d"), span_of_str("/w/e"), false);
	assert_int_equal(w->k.refused, FIRST_WHY_LIMIT);
	assert_true(w->k.index.len <= 1000);
	w->k.refused = FIRST_WHY_NOT;
	(void)keep(w, "/w/a", FIRST_CHANGE_CONTENT);
	assert_int_equal(w->k.refused, FIRST_WHY_LIMIT);
	read_all(w);
	assert_int_equal(w->f.unread, 0);
	assert_true(first_find(&w->f, "a", &e) == -ENOENT);
	assert_true(first_find_end(&w->f, ".", &e) >= 0);
}

/* Second names of the files do for a snapshot: the same inodes, with the times that they had. */
static void make_tree(struct world *w)
{
	char made[96], first[96];

	(void)snprintf(made, sizeof(made), "%s/made", w->path);
	(void)snprintf(first, sizeof(first), "%s/first", w->path);
	assert_int_equal(mkdir(made, 0700), 0);
	_cleanup_fd_ int tree = open(made, O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(linkat(w->root, "a", tree, "a", 0), 0);
	assert_int_equal(linkat(w->root, "d/b", tree, "b", 0), 0);
	next_tick();
	assert_int_equal(mkdir(first, 0700), 0);
	_cleanup_fd_ int dir = open(first, O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(linkat(w->root, "large", tree, "large", 0), 0);
	assert_int_equal(renameat(AT_FDCWD, made, dir, "tree"), 0);
}

/* What a snapshot has is not kept again; what it has not, or was touched since, is. */
static void test_snapshot(void **state)
{
	struct world *w = *state;
	struct first_entry e = {0};

	put_large(w, "large", 3 << 20);
	make_tree(w);
	begin(w, true);
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/d/b", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/large", FIRST_CHANGE_CONTENT));
	assert_int_equal(unlinkat(w->root, "a", 0), 0);
	read_all(w);
	assert_true(first_find(&w->f, "a", &e) >= 0);
	assert_int_equal(e.flags & (FIRST_IN_TREE | FIRST_PACKED | FIRST_APART), FIRST_IN_TREE);
	expect_content(w, "a", "one");
	assert_true(first_find(&w->f, "d/b", &e) >= 0);
	assert_int_equal(e.flags & (FIRST_IN_TREE | FIRST_PACKED | FIRST_APART), FIRST_PACKED);
	assert_true(first_find(&w->f, "large", &e) >= 0);
	assert_int_equal(e.flags & (FIRST_IN_TREE | FIRST_PACKED | FIRST_APART), FIRST_APART);
	/* Another file has come to its place. */
	assert_int_equal(unlinkat(w->k.dir, "tree/a", 0), 0);
	put_at(w->k.dir, "tree/a", "another");
	assert_true(first_find(&w->f, "a", &e) >= 0);
	assert_int_equal(first_content(&w->f, &e), -ESTALE);
}

static struct first_place place_of(uint64_t name, uint64_t is, int64_t changed)
{
	return (struct first_place){.name = name, .now = {is, changed}};
}

static bool is_taken(const struct first_taken *t, uint64_t is, int64_t changed)
{
	const struct first_place at = place_of(7, is, changed);

	return first_taken_is(t, &at);
}

/* What stands at a name is the box's or somebody else's, whatever calls of the box failed. */
static void test_taken(void **state)
{
	static const struct {
		const char *calls; /* g: gone, c: came, x: came where nothing may be */
		uint64_t stood[3]; /* at each: what */
		int64_t changed[3];
		uint64_t is; /* and at the end */
		int64_t at;
		bool taken;
	} cases[] = {
		{"", {0}, {0}, 1, 1, false},
		{"g", {1}, {1}, 1, 1, false},        /* it failed */
		{"g", {1}, {1}, 1, 9, false},        /* and the box went on with it */
		{"g", {1}, {1}, 2, 2, true},         /* somebody made another */
		{"g", {0}, {0}, 2, 2, true},         /* of nothing */
		{"gc", {1, 0}, {1}, 2, 2, false},    /* the box made another */
		{"gc", {1, 1}, {1, 1}, 2, 2, false}, /* or replaced it */
		{"gx", {1, 2}, {1, 2}, 2, 9, true},  /* it cannot have */
		{"gc", {1, 2}, {1, 2}, 2, 2, true},  /* it did not */
		{"gc", {1, 2}, {1, 2}, 2, 3, false}, /* it wrote there */
		{"gc", {1, 2}, {1, 2}, 3, 3, false}, /* it replaced it */
		{"gcc", {1, 2, 2}, {1, 2, 2}, 2, 2, true},
		{"gcc", {1, 2, 2}, {1, 2, 3}, 2, 3, false},
		{"gg", {1, 2}, {1, 2}, 2, 2, true}, /* nor was it taken away again */
		{"gg", {1, 1}, {1, 1}, 1, 1, false},
		{"gg", {1, 0}, {1, 0}, 1, 5, true}, /* it was gone: somebody brought it back */
		{"gcg", {1, 2, 2}, {1, 2, 2}, 2, 2, true},
		{"gcg", {1, 2, 2}, {1, 2, 3}, 2, 3, false},
		{"gcg", {1, 0, 2}, {1, 0, 2}, 2, 2, false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		struct first_taken t;

		assert_int_equal(first_taken_init(&t), 0);
		for (size_t n = 0; cases[i].calls[n]; n++) {
			const struct first_place at =
				place_of(7, cases[i].stood[n], cases[i].changed[n]);

			if (cases[i].calls[n] == 'g')
				first_taken_gone(&t, &at);
			else
				first_taken_came(&t, &at, cases[i].calls[n] == 'x');
		}
		if (is_taken(&t, cases[i].is, cases[i].at) != cases[i].taken)
			fail_msg("case %zu, %s", i, cases[i].calls);
		const struct first_place from = place_of(9, 5, 0), to = place_of(7, 0, 0);

		first_taken_moved(&t, &from, &to, false);
		assert_true(is_taken(&t, cases[i].is, cases[i].at) == cases[i].taken);
		first_taken_fini(&t);
	}
}

struct taken_world {
	struct first_taken t;
	int root;
};

static struct first_place find_place(const struct taken_world *w, const char *path)
{
	struct first_place at = {0};

	assert_int_equal(first_taken_find(&w->t, w->root, path, &at), 0);
	return at;
}

static void do_gone(struct taken_world *w, const char *path)
{
	const struct first_place at = find_place(w, path);

	first_taken_gone(&w->t, &at);
}

static void do_came(struct taken_world *w, const char *path)
{
	const struct first_place at = find_place(w, path);

	first_taken_came(&w->t, &at, false);
}

/* The box renames a folder. */
static void do_move(struct taken_world *w, const char *path, const char *to)
{
	do_gone(w, path);
	do_came(w, to);
	const struct first_place from = find_place(w, path), into = find_place(w, to);

	first_taken_moved(&w->t, &from, &into, false);
	assert_int_equal(renameat(w->root, path, w->root, to), 0);
}

static bool is_others(const struct taken_world *w, const char *path)
{
	const struct first_place at = find_place(w, path);

	return first_taken_is(&w->t, &at);
}

/* What was taken out of a folder is so wherever that goes, and what stands in its place is not the
 * box's but for what the box puts there. */
static void test_taken_folders(void **state)
{
	const struct world *world = *state;
	struct taken_world w = {.root = world->root};

	assert_int_equal(first_taken_init(&w.t), 0);
	assert_int_equal(mkdirat(w.root, "x", 0700), 0);
	put_at(w.root, "x/f", "one");
	put_at(w.root, "x/k", "one");
	do_gone(&w, "x/f");
	assert_int_equal(unlinkat(w.root, "x/f", 0), 0);
	do_move(&w, "x", "z");
	put_at(w.root, "z/f", "of somebody else");
	assert_true(is_others(&w, "z/f"));
	assert_false(is_others(&w, "z/k"));
	/* In its place: the box writes one file. */
	assert_int_equal(mkdirat(w.root, "x", 0700), 0);
	put_at(w.root, "x/f", "of somebody else");
	do_came(&w, "x/n");
	put_at(w.root, "x/n", "of the box");
	assert_true(is_others(&w, "x") && is_others(&w, "x/f"));
	assert_false(is_others(&w, "x/n"));
	/* And moves it. */
	do_move(&w, "x", "y");
	assert_true(is_others(&w, "y/f"));
	assert_false(is_others(&w, "y/n"));
	/* The former one comes back. */
	do_move(&w, "z", "x");
	assert_true(is_others(&w, "x/f"));
	assert_false(is_others(&w, "x") || is_others(&w, "x/k"));
	/* The box makes it anew. */
	do_move(&w, "x", "q");
	do_came(&w, "x");
	assert_int_equal(mkdirat(w.root, "x", 0700), 0);
	put_at(w.root, "x/k", "of somebody else");
	assert_true(is_others(&w, "x/k"));
	assert_false(is_others(&w, "x"));
	first_taken_fini(&w.t);
}

/* A number that is given again is another thing. */
static void test_taken_thing(void **state)
{
	struct world *w = *state;
	struct first_taken t;
	struct first_thing one = {0}, other = {0}, nothing = {1, 1};
	struct statx st = {0};
	_cleanup_fd_ int a = openat(w->root, "a", O_RDONLY | O_CLOEXEC);

	assert_int_equal(first_taken_init(&t), 0);
	assert_int_equal(first_taken_look(&t, a, &one), 0);
	assert_int_equal(fchmod(a, 0600), 0);
	assert_int_equal(first_taken_look(&t, a, &other), 0);
	assert_true(one.is != 0 && one.changed < other.changed);
	assert_int_equal(statx(a, "", AT_EMPTY_PATH, STATX_BTIME, &st), 0);
	assert_true(one.is == other.is || !(st.stx_mask & STATX_BTIME));
	assert_int_equal(close(TAKE_FD(a)), 0);
	assert_int_equal(unlinkat(w->root, "a", 0), 0);
	next_tick();
	put_at(w->root, "a", "another");
	a = openat(w->root, "a", O_RDONLY | O_CLOEXEC);
	assert_int_equal(first_taken_look(&t, a, &other), 0);
	assert_true(one.is != other.is);
	assert_int_equal(first_taken_look(&t, -1, &nothing), 0);
	assert_true(nothing.is == 0);
	/* Many names, each by itself. */
	for (uint64_t i = 1; i < 2000; i++) {
		const struct first_place at = {.name = i, .now = one};

		first_taken_gone(&t, &at);
	}
	for (uint64_t i = 1; i <= 2000; i++) {
		const struct first_place at = {.name = i, .now = other};

		assert_true(first_taken_is(&t, &at) == (i < 2000));
	}
	first_taken_fini(&t);
}

/* Attributes are known, also that there are none; of what had mode alone changed, too. */
static void test_attributes(void **state)
{
	struct world *w = *state;
	_cleanup_buf_ struct buf list = BUF_INIT(ATTRIBUTES_MAX);
	struct first_entry e = {0};
	_cleanup_fd_ int a = openat(w->root, "a", O_RDONLY | O_CLOEXEC);
	_cleanup_fd_ int d = openat(w->root, "d", O_RDONLY | O_CLOEXEC);

	if (fsetxattr(a, "user.b", "2", 1, 0) < 0)
		skip();
	assert_int_equal(fsetxattr(a, "user.a", "", 0, 0), 0);
	assert_int_equal(fsetxattr(d, "user.c", "of it", 5, 0), 0);
	begin(w, true);
	assert_true(keep(w, "/w/d", FIRST_CHANGE_META));
	assert_true(keep(w, "/w/a", FIRST_CHANGE_META));
	assert_true(keep(w, "/w/d/b", FIRST_CHANGE_CONTENT));
	assert_int_equal(fremovexattr(a, "user.b"), 0);
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	read_all(w);
	assert_true(first_find(&w->f, "a", &e) >= 0);
	assert_int_equal(first_attributes(&w->f, &e, &list), 0);
	/* By name. */
	const struct span both = SPAN_LITERAL("\x06\0\0\0\0\0\0\0user.a\x06\0\0\0\1\0\0\0user.b2");

	assert_true(span_equal(buf_span(&list), both));
	expect_content(w, "a", "one");
	buf_clear(&list);
	assert_true(first_find_end(&w->f, "a", &e) >= 0);
	assert_int_equal(first_attributes(&w->f, &e, &list), 0);
	assert_int_equal(list.len, 14);
	buf_clear(&list);
	assert_true(first_find(&w->f, "d", &e) >= 0);
	assert_int_equal(first_attributes(&w->f, &e, &list), 0);
	assert_int_equal(list.len, 8 + 6 + 5);
	buf_clear(&list);
	assert_true(first_find(&w->f, "d/b", &e) >= 0);
	assert_true(e.flags & FIRST_LISTED);
	assert_int_equal(first_attributes(&w->f, &e, &list), 0);
	assert_int_equal(list.len, 0);
	/* Whoever is asked to set a list that nobody wrote sets nothing. */
	for (size_t len = 1; len < both.len; len++)
		if (len != 14)
			assert_int_equal(attributes_set(a, (struct span){both.ptr, len}), -EBADMSG);
	assert_int_equal(attributes_set(a, SPAN_LITERAL("\x0b\0\0\0\1\0\0\0trusted.abc2")),
			 -EBADMSG);
	assert_int_equal(attributes_set(d, both), 0);
	buf_clear(&list);
	assert_int_equal(attributes_read(d, &list), 0);
	assert_true(span_equal(buf_span(&list), both));
}

/* A path of which entries speak was kept when one of them is of the file that stood there; names and
 * numbers are used again. */
static void test_kept_by_its_own_name(void **state)
{
	struct world *w = *state;
	_cleanup_first_kept_ struct first_kept kept = FIRST_KEPT_INIT;
	struct stat a = {0}, b = {0};

	begin(w, true);
	assert_int_equal(fstatat(w->root, "a", &a, 0), 0);
	assert_int_equal(fstatat(w->root, "d/b", &b, 0), 0);
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/new", FIRST_CHANGE_CONTENT));
	assert_true(keep(w, "/w/d/b", FIRST_CHANGE_META));
	assert_int_equal(first_kept_open(&kept, w->k.dir, w->k.began), 0);
	assert_true(first_kept_has(&kept, a.st_ino));
	assert_false(first_kept_has(&kept, b.st_ino)); /* its mode alone */
	assert_false(first_kept_is_other(&kept, "a", a.st_ino));
	assert_true(first_kept_is_other(&kept, "a", b.st_ino));
	assert_true(first_kept_is_other(&kept, "new", b.st_ino));
	assert_true(first_kept_is_other(&kept, "d/b", a.st_ino));
	assert_false(first_kept_is_other(&kept, "d/unheard", a.st_ino));
	first_kept_close(&kept);
	/* What a path means beneath a folder that was renamed is not known so. */
	first_keep_moved(&w->k, span_of_str("/w/d"), span_of_str("/w/e"), false);
	assert_int_equal(first_kept_open(&kept, w->k.dir, w->k.began), 0);
	assert_false(first_kept_is_other(&kept, "d/b", a.st_ino));
	assert_true(first_kept_is_other(&kept, "new", b.st_ino));
}

/* A file counts by its blocks, and is kept with its holes. */
static void test_holes(void **state)
{
	struct world *w = *state;
	struct first_entry e = {0};
	struct stat st = {0}, kept = {0};
	_cleanup_fd_ int a = openat(w->root, "a", O_WRONLY | O_CLOEXEC);

	assert_int_equal(ftruncate(a, (off_t)1 << 40), 0);
	assert_int_equal(pwrite(a, "end", 3, ((off_t)1 << 40) - 3), 3);
	assert_int_equal(fstat(a, &st), 0);
	if (st.st_blocks > 1024)
		skip(); /* no holes here */
	begin(w, true);
	assert_true(keep(w, "/w/a", FIRST_CHANGE_CONTENT));
	assert_true(w->k.refused == FIRST_WHY_NOT);
	assert_int_equal(w->k.unkept, 0);
	assert_true(w->k.kept <= 1 << 20);
	read_all(w);
	assert_true(first_find(&w->f, "a", &e) >= 0);
	_cleanup_fd_ int fd = first_content(&w->f, &e);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &kept), 0);
	assert_int_equal(kept.st_size, (off_t)1 << 40);
	assert_true(kept.st_blocks <= st.st_blocks + 16);
	char end[4] = "";

	assert_int_equal(pread(fd, end, 3, ((off_t)1 << 40) - 3), 3);
	assert_string_equal(end, "end");
	assert_int_equal(lseek(fd, 1 << 20, SEEK_DATA), lseek(a, 1 << 20, SEEK_DATA));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_stood_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mode_and_then_content, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_review, setup, teardown),
		cmocka_unit_test_setup_teardown(test_review_sees_what_the_box_sees, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_snapshot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_attributes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kept_by_its_own_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_holes, setup, teardown),
		cmocka_unit_test(test_taken),
		cmocka_unit_test_setup_teardown(test_taken_folders, setup, teardown),
		cmocka_unit_test_setup_teardown(test_taken_thing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
