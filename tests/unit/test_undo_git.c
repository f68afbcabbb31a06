/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a file stays that says what a repository is, all of that repository stays, and nothing of
 * others; and however many repositories a session left, each path is asked about a few times.
 */
#include "cmocka_lead.h"

#include "undo_git.h"

#include "str.h"

#include <stdio.h>

enum { PATHS_MAX = 60000, ASKED_MAX = 4 };

struct paths {
	char names[PATHS_MAX][48];
	bool stays[PATHS_MAX], left[PATHS_MAX];
	size_t count, asked;
};

static const char *path_of(const void *context, size_t i)
{
	struct paths *p = (struct paths *)(uintptr_t)context;

	p->asked++;
	return p->names[i];
}

static ssize_t number_of(const void *context, const char *path)
{
	const struct paths *p = context;

	for (size_t i = 0; i < p->count; i++)
		if (str_equal(p->names[i], path))
			return (ssize_t)i;
	return -ENOENT;
}

static bool stays(const void *context, size_t i)
{
	return ((const struct paths *)context)->stays[i];
}

static bool goes(const void *context, size_t i)
{
	return !((const struct paths *)context)->left[i];
}

static void leave(void *context, size_t i)
{
	((struct paths *)context)->left[i] = true;
}

static struct undo_git git_of(struct paths *p)
{
	return (struct undo_git){.count = p->count,
				 .context = p,
				 .path = path_of,
				 .find = number_of,
				 .stays = stays,
				 .goes = goes,
				 .leave = leave};
}

static void add(struct paths *p, const char *path, bool is_changed)
{
	(void)snprintf(p->names[p->count], sizeof(p->names[0]), "%s", path);
	p->stays[p->count++] = is_changed;
}

static void test_which(void **state)
{
	static struct paths p;

	(void)state;
	add(&p, ".git", false);
	add(&p, ".git/HEAD", true);
	add(&p, ".git/modules/m/HEAD", false);
	add(&p, ".git/objects/aa/bb", false);
	add(&p, ".git/refs/heads/main", false);
	add(&p, "a", true);
	add(&p, "b/.git", false);
	add(&p, "b/.git/logs/HEAD", true); /* says nothing of what it is */
	add(&p, "b/.git/objects/aa/bb", true);
	const struct undo_git g = git_of(&p);

	assert_int_equal(undo_git_leave(&g), 0);
	for (size_t i = 0; i < p.count; i++)
		assert_int_equal(p.left[i], str_after(p.names[i], ".git") != NULL);
	assert_false(undo_git_goes(&g, ".git/objects/aa/bb"));
	assert_true(undo_git_goes(&g, "b/.git/objects/aa/bb"));
	assert_false(undo_git_goes(&g, "c/.git/objects/aa/bb"));
}

static void test_many(void **state)
{
	static struct paths p;
	char path[48];

	(void)state;
	for (int i = 0; i < PATHS_MAX / 3; i++) {
		(void)snprintf(path, sizeof(path), "%06d/.git/HEAD", i);
		add(&p, path, true);
		(void)snprintf(path, sizeof(path), "r/.git/modules/%06d", i);
		add(&p, path, true);
		(void)snprintf(path, sizeof(path), "r/.git/modules/%06d/HEAD", i);
		add(&p, path, true);
	}
	const struct undo_git g = git_of(&p);

	assert_int_equal(undo_git_leave(&g), 0);
	for (size_t i = 0; i < p.count; i++)
		assert_true(p.left[i]);
	if (p.asked > ASKED_MAX * p.count)
		fail_msg("%zu paths were asked for %zu times", p.count, p.asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
