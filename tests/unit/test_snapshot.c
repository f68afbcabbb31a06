/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about snapshots: what was is found again, whole; nothing else is touched. */
#include "fake_home.h"

#include "copy.h"
#include "dir.h"
#include "fd.h"
#include "settle.h"
#include "basis.h"
#include "snapshot.h"
#include "squash.h"
#include "str.h"

#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>

struct world {
	struct fake_home *fake;
	int state;
	struct layers layers;
	struct layers_session session;
	struct error e;
};

#define OK(call)                                   \
	do {                                       \
		if ((call) < 0)                    \
			fail_msg("%s", w->e.text); \
	} while (0)

static void up_path(const struct world *w, const char *id, char into[PATH_MAX])
{
	int n = snprintf(into, PATH_MAX, "%s/%s/up", w->layers.all_path, id);

	assert_true(n > 0 && n < PATH_MAX);
}

static const char *top(const struct stack *s)
{
	assert_true(s->count > 0);
	return s->ids[s->count - 1];
}

/* As a box would, into the layer on top. */
static void put(const struct world *w, const struct stack *s, const char *name, const char *text)
{
	char path[PATH_MAX];

	up_path(w, top(s), path);
	fake_file(path, name, text);
}

static void push(struct world *w, struct stack *s)
{
	char id[LAYER_ID_LEN + 1];

	OK(layers_new(&w->layers, id, &w->e));
	assert_int_equal(stack_push(s, id), 0);
}

static void world_open(struct world *w, struct fake_home *fake)
{
	struct stat st;

	*w = (struct world){.fake = fake, .e = ERROR_INIT};
	w->state = open(fake->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	OK(layers_open(w->state, fake->root, fake->project, true, &w->layers, &w->e));
	assert_int_equal(stat(fake->project, &st), 0);
	w->session = (struct layers_session){
		.name = "calm-otter", .dev = st.st_dev, .ino = st.st_ino, .began = 7, .ended = 8};
	push(w, &w->session.project);
	OK(layers_session_write(&w->layers, &w->session, &w->e));
}

static void world_close(struct world *w)
{
	layers_close(&w->layers);
	(void)close(w->state);
}

static void reread(struct world *w)
{
	OK(layers_session_read(&w->layers, "calm-otter", &w->session, &w->e));
}

/* Whether some layer of the stack has the name; the topmost decides. */
static bool shows(const struct world *w, const struct stack *s, const char *name)
{
	for (size_t i = s->count; i-- > 0;) {
		char up[PATH_MAX], path[PATH_MAX];
		struct stat st;

		up_path(w, s->ids[i], up);
		if (lstat(fake_path(path, up, name), &st) == 0)
			return !S_ISCHR(st.st_mode);
	}
	return false;
}

static void a_snapshot_seals_and_stacks(void **state)
{
	struct world world, *w = &world;
	struct layers_snapshot s, again;

	world_open(w, *state);
	put(w, &w->session.project, "a", "one");
	OK(snapshot_take(&w->layers, &w->session, "first", &s, &w->e));
	reread(w);
	assert_int_equal(w->session.project.count, 2);
	assert_string_equal(s.project.ids[0], w->session.project.ids[0]);
	assert_true(layers_is_empty(&w->layers, top(&w->session.project)));
	/* Nothing new: the same layers, and no layer more. */
	OK(snapshot_take(&w->layers, &w->session, "second", &again, &w->e));
	reread(w);
	assert_int_equal(w->session.project.count, 2);
	assert_int_equal(again.project.count, 1);
	assert_int_equal(snapshot_take(&w->layers, &w->session, "first", &s, &w->e), -EEXIST);
	world_close(w);
}

static void a_restore_brings_back_and_can_be_taken_back(void **state)
{
	struct world world, *w = &world;
	struct layers_snapshot s, before, later;
	struct stack home = {.count = 0}, now;

	world_open(w, *state);
	put(w, &w->session.project, "a", "one");
	push(w, &home);
	put(w, &home, "dotfile", "mine");
	OK(layers_home_write(&w->layers, &home, &w->e));
	OK(snapshot_take(&w->layers, &w->session, "good", &s, &w->e));
	reread(w);
	put(w, &w->session.project, "b", "two");
	push(w, &home);
	put(w, &home, "worse", "theirs");
	OK(layers_home_write(&w->layers, &home, &w->e));

	OK(snapshot_restore(&w->layers, &s, true, &before, &w->e));
	reread(w);
	OK(layers_home_read(&w->layers, &now, &w->e));
	assert_true(shows(w, &w->session.project, "a"));
	assert_false(shows(w, &w->session.project, "b"));
	assert_true(shows(w, &now, "dotfile"));
	assert_false(shows(w, &now, "worse"));
	assert_true(layers_is_empty(&w->layers, top(&w->session.project)));
	OK(layers_collect(&w->layers, &w->e));

	OK(layers_snapshot_read(&w->layers, before.name, &later, &w->e));
	OK(snapshot_restore(&w->layers, &later, true, &before, &w->e));
	reread(w);
	OK(layers_home_read(&w->layers, &now, &w->e));
	assert_true(shows(w, &w->session.project, "b"));
	assert_true(shows(w, &now, "worse"));
	assert_int_equal(layers_snapshot_read(&w->layers, "restoring", &s, &w->e), -ENOENT);
	world_close(w);
}

static void a_restore_that_was_cut_off_is_finished_by_who_takes_the_lock(void **state)
{
	struct world world, *w = &world;
	struct layers_snapshot s, to;
	struct stack now;

	world_open(w, *state);
	put(w, &w->session.project, "a", "one");
	OK(snapshot_take(&w->layers, &w->session, "good", &s, &w->e));
	reread(w);
	put(w, &w->session.project, "b", "two");
	to = s;
	(void)snprintf(to.name, sizeof(to.name), "restoring");
	push(w, &to.project);
	push(w, &to.home);
	OK(layers_snapshot_write(&w->layers, &to, &w->e));
	int lock = layers_lock(&w->layers, &w->e);

	OK(lock);
	reread(w);
	OK(layers_home_read(&w->layers, &now, &w->e));
	assert_false(shows(w, &w->session.project, "b"));
	assert_string_equal(top(&now), top(&to.home));
	assert_int_equal(layers_snapshot_read(&w->layers, "restoring", &s, &w->e), -ENOENT);
	(void)close(lock);
	world_close(w);
}

static void a_session_that_is_gone_comes_back(void **state)
{
	struct world world, *w = &world;
	struct layers_snapshot s, before;

	world_open(w, *state);
	put(w, &w->session.project, "a", "one");
	OK(snapshot_take(&w->layers, &w->session, "good", &s, &w->e));
	OK(layers_session_remove(&w->layers, "calm-otter", &w->e));
	OK(layers_collect(&w->layers, &w->e));
	OK(snapshot_restore(&w->layers, &s, true, &before, &w->e));
	reread(w);
	assert_true(shows(w, &w->session.project, "a"));
	assert_int_equal(w->session.mode, LAYERS_REVIEW);
	/* What the user changed since then is a conflict. */
	assert_int_equal(w->session.began, 7);
	world_close(w);
}

/* The session's folder has this file. */
static void note(struct world *w, const char *name, const char *text)
{
	char folder[PATH_MAX + 64], path[PATH_MAX + 128];
	FILE *f = NULL;

	(void)snprintf(folder, sizeof(folder), "%s/sessions/calm-otter", w->layers.path);
	(void)snprintf(path, sizeof(path), "%s/first", folder);
	(void)mkdir(path, 0700);
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* How long that file is; -1: it is not there. */
static long noted(const struct world *w, const char *name)
{
	char path[PATH_MAX + 128];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/sessions/calm-otter/%s", w->layers.path, name);
	return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

/* A file and a branch landed. */
static void landed(struct world *w)
{
	_cleanup_basis_ struct basis b = BASIS_INIT;
	const struct object o = {.type = OBJECT_FILE, .mode = 0644, .hashed = true};
	int dir = layers_session_dir(&w->layers, "calm-otter", false);

	assert_int_equal(basis_set(&b, "a", &o), 0);
	assert_int_equal(basis_set(&b, ".git/refs/heads/main", &o), 0);
	OK(basis_write(dir, &b, &w->e));
	(void)close(dir);
}

static void landed_is_git(struct world *w)
{
	_cleanup_basis_ struct basis b = BASIS_INIT;
	int dir = layers_session_dir(&w->layers, "calm-otter", false);

	OK(basis_read(dir, &b, &w->e));
	assert_int_equal(b.count, 1);
	assert_string_equal(b.items[0].path, ".git/refs/heads/main");
	(void)close(dir);
}

static void a_restore_forgets_what_was_found_later(void **state)
{
	struct world world, *w = &world;
	struct layers_snapshot good, late, before;

	world_open(w, *state);
	put(w, &w->session.project, "a", "one");
	note(w, "first/index", "0123");
	OK(snapshot_take(&w->layers, &w->session, "good", &good, &w->e));
	assert_int_equal(good.first, 4);
	assert_int_equal(good.began, 7);
	note(w, "first/index", "01234567");
	landed(w);
	reread(w);
	OK(snapshot_take(&w->layers, &w->session, "late", &late, &w->e));
	OK(snapshot_restore(&w->layers, &good, true, &before, &w->e));
	assert_int_equal(noted(w, "first/index"), 4);
	landed_is_git(w);
	world_close(w);
}

static int take_one(void *context, const struct layers_snapshot *s)
{
	*(struct layers_snapshot *)context = *s;
	return 0;
}

/* How many paths landed. */
static size_t landed_count(struct world *w)
{
	_cleanup_basis_ struct basis b = BASIS_INIT;
	int dir = layers_session_dir(&w->layers, "calm-otter", false);

	OK(basis_read(dir, &b, &w->e));
	(void)close(dir);
	return b.count;
}

/* The file of the session says this. */
static void noted_is(const struct world *w, const char *name, const char *text)
{
	char path[PATH_MAX + 128], has[64] = "";

	(void)snprintf(path, sizeof(path), "%s/sessions/calm-otter/%s", w->layers.path, name);
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	has[fread(has, 1, sizeof(has) - 1, f)] = '\0';
	assert_int_equal(fclose(f), 0);
	assert_string_equal(has, text);
}

static size_t known_count(const struct world *w)
{
	char path[PATH_MAX + 64];
	size_t count = 0;
	int r = 0;

	(void)snprintf(path, sizeof(path), "%s/known", w->layers.path);
	_cleanup_dir_ DIR *dir = dir_read(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &r);

	while (dir_next(dir, &r))
		count++;
	return count;
}

/* Whatever is restored, and whether the session went on or is gone meanwhile. */
static void each_snapshot_comes_back_with_what_was_known(void **state)
{
	struct world world, *w = &world;
	struct layers_snapshot good, late, before, other, again;

	world_open(w, *state);
	put(w, &w->session.project, "a", "one");
	note(w, "first/data", "contents");
	note(w, "first/0000000000000003", "large");
	note(w, "first/index", "0123");
	OK(snapshot_take(&w->layers, &w->session, "good", &good, &w->e));
	note(w, "first/index", "01234567");
	landed(w);
	reread(w);
	put(w, &w->session.project, "a", "two");
	OK(snapshot_take(&w->layers, &w->session, "late", &late, &w->e));
	OK(snapshot_restore(&w->layers, &good, true, &before, &w->e));
	noted_is(w, "first/index", "0123");
	landed_is_git(w);
	/* It goes on another way. */
	note(w, "first/index", "0123ab");
	OK(snapshot_restore(&w->layers, &before, true, &other, &w->e));
	noted_is(w, "first/index", "01234567");
	assert_int_equal(landed_count(w), 2);
	OK(snapshot_restore(&w->layers, &other, true, &again, &w->e));
	noted_is(w, "first/index", "0123ab");
	OK(snapshot_restore(&w->layers, &late, true, &again, &w->e));
	noted_is(w, "first/index", "01234567");
	assert_int_equal(landed_count(w), 2);
	/* It is gone, and another one of its name is there. */
	OK(layers_session_remove(&w->layers, "calm-otter", &w->e));
	OK(snapshot_restore(&w->layers, &late, true, &again, &w->e));
	noted_is(w, "first/index", "01234567");
	noted_is(w, "first/data", "contents");
	noted_is(w, "first/0000000000000003", "large");
	assert_int_equal(landed_count(w), 2);
	note(w, "first/index", "else");
	reread(w);
	w->session.began = 9;
	OK(layers_session_write(&w->layers, &w->session, &w->e));
	OK(snapshot_restore(&w->layers, &good, true, &again, &w->e));
	noted_is(w, "first/index", "0123");
	assert_int_equal(noted(w, "basis"), -1);
	/* With the snapshots goes what was kept for them. */
	assert_true(known_count(w) > 0);
	while (known_count(w) > 0) {
		struct layers_snapshot one = {.name = ""};

		OK(layers_each_snapshot(&w->layers, take_one, &one, &w->e));
		assert_string_not_equal(one.name, "");
		OK(layers_snapshot_remove(&w->layers, one.name, &w->e));
	}
	world_close(w);
}

static void another_session_of_the_name_knows_nothing_of_the_snapshot(void **state)
{
	struct world world, *w = &world;
	struct layers_snapshot s, before;
	struct layers_session made;

	world_open(w, *state);
	put(w, &w->session.project, "a", "one");
	note(w, "first/index", "0123");
	OK(snapshot_take(&w->layers, &w->session, "good", &s, &w->e));
	reread(w);
	w->session.began = 9;
	OK(layers_session_write(&w->layers, &w->session, &w->e));
	OK(snapshot_fork(&w->layers, &s, "shy-bee", &made, &w->e));
	assert_int_equal(made.began, 7);
	OK(snapshot_restore(&w->layers, &s, true, &before, &w->e));
	reread(w);
	assert_int_equal(w->session.began, 7);
	assert_int_equal(noted(w, "first/index"), -1);
	world_close(w);
}

/* An older bawn did not write down when the session began. */
static void a_session_of_an_older_snapshot_may_have_seen_nothing(void **state)
{
	struct world world, *w = &world;
	struct layers_snapshot s, before;

	world_open(w, *state);
	put(w, &w->session.project, "a", "one");
	OK(snapshot_take(&w->layers, &w->session, "good", &s, &w->e));
	OK(layers_session_remove(&w->layers, "calm-otter", &w->e));
	s.began = 0;
	OK(snapshot_restore(&w->layers, &s, true, &before, &w->e));
	reread(w);
	assert_int_equal(w->session.began, 1);
	world_close(w);
}

static void each_start_is_kept_and_nothing_sealed_is_written(void **state)
{
	struct world world, *w = &world;
	struct layers_snapshot start;
	char first[LAYER_ID_LEN + 1];

	world_open(w, *state);
	OK(snapshot_at_start(&w->layers, &w->session, &w->e));
	assert_int_equal(w->session.project.count, 1);
	put(w, &w->session.project, "a", "one");
	memcpy(first, top(&w->session.project), sizeof(first));
	OK(snapshot_at_start(&w->layers, &w->session, &w->e));
	assert_int_equal(w->session.project.count, 2);
	assert_string_not_equal(top(&w->session.project), first);
	OK(layers_snapshot_read(&w->layers, "start-calm-otter-2", &start, &w->e));
	assert_int_equal(start.project.count, 1);
	assert_string_equal(top(&start.project), first);
	snapshot_forget_start(&w->layers, "calm-otter");
	assert_int_equal(layers_snapshot_read(&w->layers, "start-calm-otter-2", &start, &w->e),
			 -ENOENT);
	OK(layers_snapshot_read(&w->layers, "start-calm-otter-1", &start, &w->e));
	world_close(w);
}

static int count_one(void *context, const struct layers_snapshot *s)
{
	*(size_t *)context += snapshot_is_automatic(s->name);
	return 0;
}

static void ours_are_few(void **state)
{
	struct world world, *w = &world;
	struct layers_snapshot s, before;
	size_t count = 0;

	world_open(w, *state);
	put(w, &w->session.project, "a", "one");
	OK(snapshot_take(&w->layers, &w->session, "good", &s, &w->e));
	for (int i = 0; i < 3 * SNAPSHOT_BEFORES_MAX; i++) {
		char name[LAYERS_NAME_MAX + 1];

		OK(snapshot_restore(&w->layers, &s, true, &before, &w->e));
		reread(w);
		(void)snprintf(name, sizeof(name), "otter-%d", i);
		memcpy(w->session.name, name, sizeof(name));
		OK(snapshot_at_start(&w->layers, &w->session, &w->e));
	}
	OK(layers_each_snapshot(&w->layers, count_one, &count, &w->e));
	assert_int_equal(count, SNAPSHOT_BEFORES_MAX + SNAPSHOT_STARTS_MAX);
	world_close(w);
}

/* One more than the greatest of that name, whatever else there is. */
static void names_count_up(void **state)
{
	static const struct {
		const char *taken, *next;
	} rows[] = {{"other-7", "good-1"},  {"good-3", "good-4"},    {"good-2", "good-4"},
		    {"good-12", "good-13"}, {"good-x", "good-13"},   {"goodie-40", "good-13"},
		    {"good", "good-13"},    {"good-12x", "good-13"}, {"good-99", "good-100"}};
	struct world world, *w = &world;
	struct layers_snapshot s;
	char name[LAYERS_NAME_MAX + 1];

	world_open(w, *state);
	put(w, &w->session.project, "a", "one");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		OK(snapshot_take(&w->layers, &w->session, rows[i].taken, &s, &w->e));
		reread(w);
		OK(snapshot_next_name(&w->layers, "good", name, &w->e));
		assert_string_equal(name, rows[i].next);
	}
	world_close(w);
}

static void a_fork_has_what_the_snapshot_has_and_a_home_of_its_own(void **state)
{
	struct world world, *w = &world;
	struct layers_snapshot s;
	struct layers_session fork;
	struct stack home = {.count = 0};
	bool kept = false;

	world_open(w, *state);
	put(w, &w->session.project, "a", "one");
	push(w, &home);
	put(w, &home, "dotfile", "mine");
	OK(layers_home_write(&w->layers, &home, &w->e));
	OK(snapshot_take(&w->layers, &w->session, "good", &s, &w->e));
	OK(snapshot_fork(&w->layers, &s, "tidy-wren", &fork, &w->e));
	assert_true(shows(w, &fork.project, "a"));
	assert_true(shows(w, &fork.home, "dotfile"));
	assert_string_not_equal(top(&fork.project), top(&w->session.project));
	/* A box of it writes to its home, and ends: the workspace's home does not have it. */
	push(w, &fork.home);
	put(w, &fork.home, "fork-only", "x");
	OK(layers_settle(&w->layers, &fork, false, &kept, &w->e));
	assert_true(kept);
	OK(layers_home_read(&w->layers, &home, &w->e));
	assert_false(shows(w, &home, "fork-only"));
	OK(layers_session_read(&w->layers, "tidy-wren", &fork, &w->e));
	assert_true(shows(w, &fork.home, "fork-only"));
	world_close(w);
}

/* --- a copy --------------------------------------------------------------------------- */

static void make_odd_tree(const char *dir)
{
	char path[PATH_MAX], other[PATH_MAX];
	const struct timespec times[2] = {{.tv_sec = 1000000000, .tv_nsec = 5},
					  {.tv_sec = 1000000001, .tv_nsec = 7}};

	fake_file(dir, "plain", "text");
	fake_dir(dir, "d/deep");
	fake_file(dir, "d/deep/file", "below");
	assert_int_equal(link(fake_path(path, dir, "plain"), fake_path(other, dir, "d/same")), 0);
	/* Also one whose first name, whichever it is, stands in a folder. */
	fake_dir(dir, "e");
	fake_file(dir, "e/again", "linked");
	assert_int_equal(link(fake_path(path, dir, "e/again"), fake_path(other, dir, "d/again")),
			 0);
	assert_int_equal(symlink("/etc/passwd", fake_path(path, dir, "d/way")), 0);
	assert_int_equal(mknod(fake_path(path, dir, "gone"), S_IFCHR, makedev(0, 0)), 0);
	assert_int_equal(mkfifo(fake_path(path, dir, "pipe"), 0640), 0);
	assert_int_equal(setxattr(fake_path(path, dir, "d"), "user.overlay.opaque", "y", 1, 0), 0);
	assert_int_equal(setxattr(fake_path(path, dir, "plain"), "user.note", "hi", 2, 0), 0);
	int fd = open(fake_path(path, dir, "holes"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	assert_int_equal(pwrite(fd, "x", 1, 32 << 20), 1);
	(void)close(fd);
	assert_int_equal(chmod(fake_path(path, dir, "plain"), 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, fake_path(path, dir, "plain"), times, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, fake_path(path, dir, "d/deep"), times, 0), 0);
	assert_int_equal(chmod(fake_path(path, dir, "d/deep"), 0), 0);
}

static struct stat look(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	assert_int_equal(lstat(fake_path(path, dir, name), &st), 0);
	return st;
}

static void a_copy_has_everything_and_shares_no_name(void **state)
{
	static const char *const names[] = {"plain", "d",     "d/same",  "d/way",  "gone",
					    "pipe",  "holes", "e/again", "d/again"};
	struct world world, *w = &world;
	struct layers_snapshot s;
	char from[PATH_MAX], to[PATH_MAX], path[PATH_MAX], value[8];

	world_open(w, *state);
	up_path(w, top(&w->session.project), from);
	make_odd_tree(from);
	OK(snapshot_copy(&w->layers, &w->session, "live", NULL, NULL, &s, &w->e));
	assert_true(s.live);
	up_path(w, top(&s.project), to);
	assert_string_not_equal(from, to);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		struct stat a = look(from, names[i]), b = look(to, names[i]);

		assert_int_equal(a.st_mode, b.st_mode);
		assert_int_equal(a.st_size, b.st_size);
		assert_int_equal(a.st_nlink, b.st_nlink);
		assert_int_equal(a.st_rdev, b.st_rdev);
		assert_int_equal(a.st_mtim.tv_sec, b.st_mtim.tv_sec);
		assert_int_equal(a.st_mtim.tv_nsec, b.st_mtim.tv_nsec);
		assert_int_not_equal(a.st_ino, b.st_ino);
	}
	assert_int_equal(look(to, "plain").st_ino, look(to, "d/same").st_ino);
	assert_int_equal(look(to, "e/again").st_ino, look(to, "d/again").st_ino);
	assert_true(look(to, "holes").st_blocks * 512 < 1 << 20);
	assert_int_equal(getxattr(fake_path(path, to, "d"), "user.overlay.opaque", value, 8), 1);
	assert_int_equal(chmod(fake_path(path, to, "plain"), 0600), 0);
	assert_int_equal(getxattr(fake_path(path, to, "plain"), "user.note", value, 8), 2);
	/* What kept its owner out was read all the same, and is as it was on both sides. */
	assert_int_equal(look(from, "d/deep").st_mode & 0777, 0);
	assert_int_equal(look(to, "d/deep").st_mode & 0777, 0);
	assert_int_equal(chmod(fake_path(path, to, "d/deep"), 0700), 0);
	assert_int_equal(look(to, "d/deep/file").st_size, 5);
	assert_int_equal(chmod(fake_path(path, from, "d/deep"), 0700), 0);
	assert_int_equal(snapshot_copy(&w->layers, &w->session, "live", NULL, NULL, &s, &w->e),
			 -EEXIST);
	world_close(w);
}

static void copy_as(const char *from, const char *to, enum copy_form form)
{
	int in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int out = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error e = ERROR_INIT;
	struct copied done;

	assert_true(in >= 0 && out >= 0);
	if (copy_tree(in, out, form, &done, &e) < 0)
		fail_msg("%s", e.text);
	(void)close(in);
	(void)close(out);
}

/* Where nobody can make a whiteout a layer is kept without any, and is the same when it is back. */
static void a_layer_is_kept_and_comes_back(void **state)
{
	static const char *const names[] = {"plain", "d",     "d/same",  "d/way",
					    "gone",  "holes", "e/again", "d/again"};
	const struct fake_home *fake = *state;
	char from[PATH_MAX], kept[PATH_MAX], back[PATH_MAX], path[PATH_MAX], value[8];

	assert_int_equal(mkdir(fake_path(from, fake->root, "from"), 0700), 0);
	assert_int_equal(mkdir(fake_path(kept, fake->root, "kept"), 0700), 0);
	assert_int_equal(mkdir(fake_path(back, fake->root, "back"), 0700), 0);
	make_odd_tree(from);
	assert_int_equal(chmod(fake_path(path, from, "d/deep"), 0700), 0);
	assert_int_equal(chmod(fake_path(path, from, "plain"), 0600), 0);
	/* What an agent calls so itself is not taken for ours. */
	fake_file(from, "forged", "");
	assert_int_equal(setxattr(fake_path(path, from, "forged"), "user.bawn.whiteout", "y", 1, 0),
			 0);
	assert_int_equal(
		setxattr(fake_path(path, from, "forged"), "user.bawn.overlay.origin", "y", 1, 0),
		0);
	copy_as(from, kept, COPY_KEPT);
	assert_true(S_ISREG(look(kept, "gone").st_mode));
	assert_int_equal(getxattr(fake_path(path, kept, "d"), "user.overlay.opaque", value, 8), -1);
	copy_as(kept, back, COPY_BACK);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		struct stat a = look(from, names[i]), b = look(back, names[i]);

		assert_int_equal(a.st_mode, b.st_mode);
		assert_int_equal(a.st_size, b.st_size);
		assert_int_equal(a.st_nlink, b.st_nlink);
		assert_int_equal(a.st_rdev, b.st_rdev);
		assert_int_equal(a.st_mtim.tv_nsec, b.st_mtim.tv_nsec);
	}
	assert_int_equal(getxattr(fake_path(path, back, "d"), "user.overlay.opaque", value, 8), 1);
	assert_true(S_ISREG(look(back, "forged").st_mode));
	assert_int_equal(listxattr(fake_path(path, back, "forged"), value, 8), 0);
}

static void a_layer_that_is_being_filled_is_not_collected(void **state)
{
	struct world world, *w = &world;
	char id[LAYER_ID_LEN + 1];

	world_open(w, *state);
	OK(layers_new(&w->layers, id, &w->e));
	int hold = layers_hold(&w->layers, id);

	assert_true(hold >= 0);
	OK(layers_collect(&w->layers, &w->e));
	int up = layers_open_up(&w->layers, id);

	assert_true(up >= 0);
	(void)close(up);
	(void)close(hold);
	OK(layers_collect(&w->layers, &w->e));
	assert_int_equal(layers_open_up(&w->layers, id), -ENOENT);
	world_close(w);
}

/* --- merging -------------------------------------------------------------------------- */

static void whiteout(const struct world *w, const struct stack *s, const char *name)
{
	char up[PATH_MAX], path[PATH_MAX];

	up_path(w, top(s), up);
	assert_int_equal(mknod(fake_path(path, up, name), S_IFCHR, makedev(0, 0)), 0);
}

static void opaque(const struct world *w, const struct stack *s, const char *name)
{
	char up[PATH_MAX], path[PATH_MAX];

	up_path(w, top(s), up);
	fake_dir(up, name);
	assert_int_equal(setxattr(fake_path(path, up, name), "user.overlay.opaque", "y", 1, 0), 0);
}

static bool is_opaque(const char *dir, const char *name)
{
	char path[PATH_MAX], value = 0;

	return getxattr(fake_path(path, dir, name), "user.overlay.opaque", &value, 1) == 1 &&
	       value == 'y';
}

static bool has(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return access(fake_path(path, dir, name), F_OK) == 0;
}

static void merged_layers_show_the_same(void **state)
{
	struct world world, *w = &world;
	struct stack s = {.count = 0}, before;
	char to[PATH_MAX], low[PATH_MAX];
	struct stat st;

	world_open(w, *state);
	push(w, &s);
	put(w, &s, "a", "1");
	put(w, &s, "d/x", "1");
	put(w, &s, "o/old", "1");
	put(w, &s, "r/file", "1");
	put(w, &s, "gone", "1");
	up_path(w, top(&s), low);
	push(w, &s);
	put(w, &s, "a", "22");
	put(w, &s, "d/y", "2");
	whiteout(w, &s, "gone");
	whiteout(w, &s, "r");
	whiteout(w, &s, "base-only");
	opaque(w, &s, "o");
	put(w, &s, "o/new", "2");
	push(w, &s);
	put(w, &s, "r/again", "3");
	push(w, &s); /* the one that is written to */
	before = s;
	OK(squash_stack(&w->layers, &s, 1, &w->e));
	assert_int_equal(s.count, 2);
	assert_string_equal(s.ids[1], before.ids[3]);
	up_path(w, s.ids[0], to);
	assert_int_equal(look(to, "a").st_size, 2);
	assert_true(has(to, "d/x") && has(to, "d/y") && !is_opaque(to, "d"));
	st = look(to, "gone");
	assert_true(S_ISCHR(st.st_mode) && st.st_rdev == 0);
	assert_true(S_ISCHR(look(to, "base-only").st_mode));
	assert_true(has(to, "o/new") && !has(to, "o/old") && is_opaque(to, "o"));
	assert_true(has(to, "r/again") && !has(to, "r/file") && is_opaque(to, "r"));
	/* The old ones are as they were: a snapshot may name them. */
	assert_true(has(low, "gone") && has(low, "r/file") && look(low, "a").st_size == 1);
	assert_int_equal(look(low, "d/x").st_ino, look(to, "d/x").st_ino);
	world_close(w);
}

static void a_home_of_many_sessions_stays_short(void **state)
{
	struct world world, *w = &world;
	struct stack home;

	world_open(w, *state);
	for (int i = 0; i < 3 * STACK_MAX; i++) {
		struct layers_session s = {.name = "tidy-wren", .mode = LAYERS_DIRECT};
		char name[32];
		bool kept = false;

		OK(layers_home_read(&w->layers, &s.home, &w->e));
		push(w, &s.home);
		(void)snprintf(name, sizeof(name), "file-%d", i);
		put(w, &s.home, name, "x");
		OK(layers_settle(&w->layers, &s, false, &kept, &w->e));
	}
	OK(layers_home_read(&w->layers, &home, &w->e));
	assert_true(home.count <= LAYERS_SQUASH);
	assert_true(shows(w, &home, "file-0") && shows(w, &home, "file-100"));
	world_close(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_home_setup, fake_home_teardown)
		TEST(a_snapshot_seals_and_stacks),
		TEST(a_restore_brings_back_and_can_be_taken_back),
		TEST(a_restore_that_was_cut_off_is_finished_by_who_takes_the_lock),
		TEST(a_session_that_is_gone_comes_back),
		TEST(a_restore_forgets_what_was_found_later),
		TEST(each_snapshot_comes_back_with_what_was_known),
		TEST(another_session_of_the_name_knows_nothing_of_the_snapshot),
		TEST(a_session_of_an_older_snapshot_may_have_seen_nothing),
		TEST(each_start_is_kept_and_nothing_sealed_is_written),
		TEST(ours_are_few),
		TEST(names_count_up),
		TEST(a_fork_has_what_the_snapshot_has_and_a_home_of_its_own),
		TEST(a_copy_has_everything_and_shares_no_name),
		TEST(a_layer_is_kept_and_comes_back),
		TEST(a_layer_that_is_being_filled_is_not_collected),
		TEST(merged_layers_show_the_same),
		TEST(a_home_of_many_sessions_stays_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
