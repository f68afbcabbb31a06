/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree, looked at twice: every difference is found and named, and nothing else is; whatever
 * shape the tree has and whenever the first look came.
 */
#include "cmocka_lead.h"

#include "tree_lead.h"

#include "compare.h"
#include "fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct world {
	char path[64];
	int root;
};

static void put(const struct world *w, const char *name, const char *text)
{
	put_at(w->root, name, text);
}

static void folder(const struct world *w, const char *name)
{
	assert_int_equal(mkdirat(w->root, name, 0755), 0);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	(void)snprintf(w->path, sizeof(w->path), "/tmp/bawn-manifest-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->root = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->root >= 0);
	folder(w, "d");
	folder(w, "d/e");
	put(w, "a", "one");
	put(w, "d/b", "two");
	put(w, "d/e/c", "three");
	assert_int_equal(symlinkat("d/b", w->root, "l"), 0);
	/* Further back than what a look counts as its own moment (compare.h). */
	(void)usleep(40000);
	next_tick();
	*state = w;
	return 0;
}

/* Everything beneath, level by level: paths may be longer than can be named. */
static void remove_all(int parent, const char *name)
{
	struct manifest m;

	assert_int_equal(fchmodat(parent, name, 0700, 0), 0);
	int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	assert_true(dir >= 0);
	assert_int_equal(manifest_init(&m, dir, 0), 0);
	(void)manifest_step(&m); /* one level */
	for (uint32_t i = 1; i < m.head->count; i++) {
		const char *child = m.names + m.entries[i].name;

		if (S_ISDIR(m.entries[i].mode))
			remove_all(dir, child);
		else
			assert_int_equal(unlinkat(dir, child, 0), 0);
	}
	manifest_fini(&m);
	(void)close(dir);
	assert_int_equal(unlinkat(parent, name, AT_REMOVEDIR), 0);
}

static int teardown(void **state)
{
	struct world *w = *state;

	(void)close(w->root);
	remove_all(AT_FDCWD, w->path);
	free(w);
	return 0;
}

static void walk(const struct world *w, struct manifest *m, int64_t since)
{
	assert_int_equal(manifest_init(m, w->root, since), 0);
	while (manifest_step(m))
		continue;
	assert_true(m->head->done);
}

static int order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "created d/x, deleted a": what is different, in the order of the alphabet. */
static void check(const struct world *w, const struct manifest *before, bool clock,
		  const char *expect)
{
	_cleanup_manifest_ struct manifest after = {0};
	_cleanup_compare_ struct compare c;
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20), line = BUF_INIT(1 << 20);
	char *lines[32] = {NULL};

	walk(w, &after, before->since);
	assert_int_equal(compare_init(&c, before, &after, clock), 0);
	assert_int_equal(compare_run(&c), 0);
	assert_true(c.count <= BAWN_ARRAY_SIZE(lines));
	for (size_t i = 0; i < c.count; i++) {
		const struct compare_change *change = &c.changes[i];
		bool gone = change->after == MANIFEST_NONE;

		buf_clear(&line);
		buf_putf(&line, "%s ", compare_words[change->kind]);
		manifest_path(gone ? before : &after, gone ? change->before : change->after, &line);
		lines[i] = strdup(buf_str(&line));
		assert_non_null(lines[i]);
	}
	qsort(lines, c.count, sizeof(lines[0]), order);
	for (size_t i = 0; i < c.count; i++) {
		buf_putf(&text, "%s%s", i ? ", " : "", lines[i]);
		free(lines[i]);
	}
	assert_string_equal(buf_str(&text), expect);
}

static void test_a_tree_that_nobody_touches_is_the_same(void **state)
{
	_cleanup_manifest_ struct manifest m = {0};

	walk(*state, &m, now());
	assert_int_equal(m.head->count, 7);
	check(*state, &m, true, "");
	check(*state, &m, false, "");
}

static void test_paths_and_links(void **state)
{
	_cleanup_manifest_ struct manifest m = {0};
	_cleanup_compare_ struct compare c;
	_cleanup_buf_ struct buf path = BUF_INIT(4096);

	walk(*state, &m, now());
	assert_int_equal(compare_init(&c, &m, &m, true), 0);
	uint32_t l = compare_find(&c, SPAN_LITERAL("l"));

	assert_int_not_equal(l, MANIFEST_NONE);
	assert_true(span_equal(manifest_link(&m, &m.entries[l]), SPAN_LITERAL("d/b")));
	uint32_t deep = compare_find(&c, SPAN_LITERAL("d/e/c"));

	assert_int_not_equal(deep, MANIFEST_NONE);
	manifest_path(&m, deep, &path);
	assert_string_equal(buf_str(&path), "d/e/c");
	assert_int_equal(m.entries[deep].size, 5);
	assert_int_equal(compare_find(&c, SPAN_LITERAL("d/e/c/f")), MANIFEST_NONE);
	assert_int_equal(compare_find(&c, SPAN_LITERAL("nothing")), MANIFEST_NONE);
}

static void test_every_kind_of_change(void **state)
{
	const struct world *w = *state;
	_cleanup_manifest_ struct manifest m = {0};

	for (int clock = 0; clock < 2; clock++) {
		manifest_fini(&m);
		put(w, "a", "one");
		next_tick();
		walk(w, &m, now());
		next_tick();
		put(w, "a", "uno"); /* the same size */
		check(w, &m, clock, "changed a");
	}
	put(w, "d/new", "");
	assert_int_equal(unlinkat(w->root, "d/b", 0), 0);
	assert_int_equal(fchmodat(w->root, "d/e", 0700, 0), 0);
	check(w, &m, true, "attributes d/e, changed a, created d/new, deleted d/b");
}

static void test_times_alone(void **state)
{
	const struct world *w = *state;
	const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	_cleanup_manifest_ struct manifest m = {0};

	walk(w, &m, now());
	next_tick();
	assert_int_equal(utimensat(w->root, "a", old, 0), 0);
	check(w, &m, true, "times a");
	/* but times that say "now" look like a write */
	assert_int_equal(utimensat(w->root, "a", NULL, 0), 0);
	check(w, &m, true, "changed a");
	/* and a write stays one, whatever the times say, when the size tells */
	put(w, "a", "more than one");
	assert_int_equal(utimensat(w->root, "a", old, 0), 0);
	check(w, &m, true, "changed a");
}

static void test_links_and_what_they_say(void **state)
{
	const struct world *w = *state;
	_cleanup_manifest_ struct manifest m = {0};

	walk(w, &m, now());
	next_tick();
	assert_int_equal(unlinkat(w->root, "l", 0), 0);
	assert_int_equal(symlinkat("d/c", w->root, "l"), 0);
	check(w, &m, true, "changed l");
	/* the other name of a file changes its ctime, and no more */
	assert_int_equal(linkat(w->root, "a", w->root, "d/a", 0), 0);
	check(w, &m, true, "changed l, created d/a, times a");
}

static void test_a_renamed_folder_moves_what_is_in_it(void **state)
{
	const struct world *w = *state;
	_cleanup_manifest_ struct manifest m = {0};

	walk(w, &m, now());
	next_tick();
	assert_int_equal(renameat(w->root, "d/e", w->root, "f"), 0);
	check(w, &m, true, "created f, created f/c, deleted d/e, deleted d/e/c");
}

/* What was changed before the first look is found by ctime. */
static void test_a_first_look_that_comes_late(void **state)
{
	const struct world *w = *state;
	_cleanup_manifest_ struct manifest m = {0};
	int64_t since = now();

	next_tick();
	put(w, "a", "uno");
	put(w, "d/new", "x");
	folder(w, "g");
	walk(w, &m, since);
	check(w, &m, true, "changed a, created d/new, created g");
	assert_true(m.entries[0].flags & MANIFEST_LATE);
	/* without a clock only what is different afterwards */
	check(w, &m, false, "");
}

/* A first look that was not finished: what it did not see counts by ctime alone. */
static void test_a_first_look_that_was_cut(void **state)
{
	const struct world *w = *state;
	_cleanup_manifest_ struct manifest m = {0};

	assert_int_equal(manifest_init(&m, w->root, now()), 0);
	assert_true(manifest_step(&m)); /* the tree's own names, not those of d */
	check(w, &m, true, "");
	next_tick();
	put(w, "d/b", "2");
	put(w, "d/new", "x");
	assert_int_equal(unlinkat(w->root, "a", 0), 0);
	check(w, &m, true, "changed d/b, created d/new, deleted a");
}

static void test_a_folder_that_may_not_be_read(void **state)
{
	const struct world *w = *state;
	_cleanup_manifest_ struct manifest m = {0}, closed = {0};

	walk(w, &m, now());
	next_tick();
	assert_int_equal(fchmodat(w->root, "d/e", 0, 0), 0);
	if (geteuid() == 0) /* to whom nothing is closed */
		return;
	check(w, &m, true, "attributes d/e");
	walk(w, &closed, now());
	assert_int_equal(closed.head->unread[MANIFEST_DENIED], 1);
}

static void test_names_of_any_bytes(void **state)
{
	const struct world *w = *state;
	char name[3] = "x";
	_cleanup_manifest_ struct manifest m = {0}, after = {0};
	_cleanup_compare_ struct compare c;
	unsigned int seen = 0;

	walk(w, &m, now());
	next_tick();
	for (unsigned int i = 1; i < 256; i++) {
		name[1] = (char)i;
		if (i != '/')
			put(w, name, "");
	}
	walk(w, &after, m.since);
	assert_int_equal(compare_init(&c, &m, &after, true), 0);
	assert_int_equal(compare_run(&c), 0);
	for (size_t i = 0; i < c.count; i++) {
		struct span got = manifest_name(&after, &after.entries[c.changes[i].after]);

		assert_int_equal(c.changes[i].kind, COMPARE_CREATED);
		assert_int_equal(got.len, 2);
		seen += got.ptr[1];
	}
	assert_int_equal(c.count, 254);
	assert_int_equal(seen, 255 * 128 - '/');
}

/* Deeper than a path can be, and deeper than is followed. */
static void test_a_tree_that_is_very_deep(void **state)
{
	const struct world *w = *state;
	char name[201];
	int dir = fcntl(w->root, F_DUPFD_CLOEXEC, 3);
	_cleanup_manifest_ struct manifest m = {0};
	_cleanup_buf_ struct buf path = BUF_INIT(MANIFEST_PATH_MAX);

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	for (unsigned int i = 0; i < MANIFEST_DEPTH_MAX + 5; i++) {
		const char *part = i < 50 ? name : "m"; /* 10,000 bytes in all, or so */

		assert_int_equal(mkdirat(dir, part, 0755), 0);
		int next = openat(dir, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		(void)close(dir);
		dir = next;
		assert_true(dir >= 0);
	}
	(void)close(dir);
	(void)usleep(40000);
	next_tick();
	walk(w, &m, now());
	assert_int_equal(m.head->count, 7 + MANIFEST_DEPTH_MAX + 1);
	assert_int_equal(m.head->unread[MANIFEST_DEEP], 1);
	manifest_path(&m, m.head->count - 2, &path);
	assert_true(path.len > 10000);
	check(w, &m, true, "");
}

static void test_no_link_is_followed(void **state)
{
	const struct world *w = *state;
	_cleanup_manifest_ struct manifest m = {0};

	assert_int_equal(symlinkat("..", w->root, "up"), 0);
	assert_int_equal(symlinkat("/", w->root, "d/all"), 0);
	walk(w, &m, now());
	assert_int_equal(m.head->count, 9);
}

/* A directory that became another one between the look at its name and the look into it. */
static void test_a_folder_that_is_exchanged(void **state)
{
	const struct world *w = *state;
	_cleanup_manifest_ struct manifest m = {0};

	assert_int_equal(manifest_init(&m, w->root, now()), 0);
	assert_true(manifest_step(&m));
	assert_int_equal(renameat(w->root, "d", w->root, "old"), 0);
	assert_int_equal(symlinkat("/etc", w->root, "d"), 0);
	while (manifest_step(&m))
		continue;
	assert_int_equal(m.head->count, 4);
	assert_int_equal(m.head->unread[MANIFEST_VANISHED], 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_tree_that_nobody_touches_is_the_same),
		T(test_paths_and_links),
		T(test_every_kind_of_change),
		T(test_times_alone),
		T(test_links_and_what_they_say),
		T(test_a_renamed_folder_moves_what_is_in_it),
		T(test_a_first_look_that_comes_late),
		T(test_a_first_look_that_was_cut),
		T(test_a_folder_that_may_not_be_read),
		T(test_names_of_any_bytes),
		T(test_a_tree_that_is_very_deep),
		T(test_no_link_is_followed),
		T(test_a_folder_that_is_exchanged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
