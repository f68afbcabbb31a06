/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about direct mode: what your own commands would run cannot be written or moved. */
#include "fake_home.h"

#include "prepare.h"
#include "str.h"

static char name_of_program[] = "true";
static char *const argv[] = {name_of_program, NULL};

static void plan_it(struct prepared *ret, enum option_id mode)
{
	struct invocation_value value = {mode, ""};
	const struct invocation i = {.values = &value, .value_count = 1};
	struct error e = ERROR_INIT;

	*ret = PREPARED_INIT;
	if (prepare_plan(&i, argv, false, ret, &e) < 0)
		fail_msg("%s", e.text);
}

/* Where the mount of this path of the workspace stands, or -1. */
static int index_of(const struct plan *p, const char *name, enum plan_access access)
{
	for (size_t i = 0; i < p->mounts.count; i++) {
		const struct plan_mount *m = &p->mounts.items[i];

		if (str_equal(m->role, "held") && m->access == access &&
		    str_equal(m->target + strlen(p->workspace) + 1, name))
			return (int)i;
	}
	return -1;
}

static void what_would_run_later_is_read_only(void **state)
{
	struct fake_home *f = *state;
	struct prepared p;

	fake_file(f->project, ".git/config", "[core]\n");
	fake_file(f->project, ".git/hooks/pre-commit", "#!/bin/sh\n");
	fake_file(f->project, ".VSCode/Tasks.json", "{}\n");
	fake_file(f->project, "src/.envrc", "x\n");
	plan_it(&p, OPTION_DIRECT);
	int git = index_of(p.plan, ".git", PLAN_ACCESS_WRITE);

	/* The folder above it cannot be moved away, and is mounted first. */
	assert_true(git > 0);
	assert_true(index_of(p.plan, ".git/hooks", PLAN_ACCESS_READ) > git);
	assert_true(index_of(p.plan, ".git/config", PLAN_ACCESS_READ) > git);
	/* In whatever case it is written. */
	assert_true(index_of(p.plan, ".VSCode", PLAN_ACCESS_READ) > 0);
	/* What lies deeper is found at the end. */
	assert_int_equal(index_of(p.plan, "src/.envrc", PLAN_ACCESS_READ), -1);
	/* All of it lies on the workspace. */
	assert_true(git > (int)(plan_mount_of(p.plan, "workspace") - p.plan->mounts.items));
	prepared_fini(&p);
}

static void in_review_mode_nothing_is(void **state)
{
	struct fake_home *f = *state;
	struct prepared p;

	fake_file(f->project, ".git/config", "[core]\n");
	plan_it(&p, OPTION_REVIEW);
	assert_int_equal(index_of(p.plan, ".git/config", PLAN_ACCESS_READ), -1);
	prepared_fini(&p);
}

static void links_are_not_followed(void **state)
{
	struct fake_home *f = *state;
	struct prepared p;

	fake_file(f->home, "elsewhere/hooks/x", "x\n");
	fake_link(f->project, ".git", "../../elsewhere");
	plan_it(&p, OPTION_DIRECT);
	for (size_t i = 0; i < p.plan->mounts.count; i++)
		assert_false(str_equal(p.plan->mounts.items[i].role, "held"));
	prepared_fini(&p);
}

static void a_repository_without_hooks_cannot_be_moved(void **state)
{
	struct fake_home *f = *state;
	struct prepared p;

	fake_dir(f->project, ".git");
	fake_dir(f->project, ".github");
	plan_it(&p, OPTION_DIRECT);
	assert_true(index_of(p.plan, ".git", PLAN_ACCESS_WRITE) > 0);
	prepared_fini(&p);
}

#define PROMISE(f) cmocka_unit_test_setup_teardown(f, fake_home_setup, fake_home_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(what_would_run_later_is_read_only),
		PROMISE(in_review_mode_nothing_is),
		PROMISE(links_are_not_followed),
		PROMISE(a_repository_without_hooks_cannot_be_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
