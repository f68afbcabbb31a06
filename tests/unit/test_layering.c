/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about a session's layers: what is written is kept, found again, and nothing else is. */
#include "fake_home.h"

#include "layering.h"
#include "settle.h"
#include "str.h"
#include "worktree.h"

#include <dirent.h>

struct
try {
	struct invocation_value values[4];
	struct invocation invocation;
	struct prepared prepared;
	const struct plan *plan; /* the session's */
	struct layering layering;
	struct error e;
};

static char name_of_program[] = "true";
static char *const try_argv[] = {name_of_program, NULL};

static void try_init(struct try *t)
{
	*t = (struct try){.prepared = PREPARED_INIT,
			  .plan = &plan_none,
			  .layering = LAYERING_INIT,
			  .e = ERROR_INIT};
	t->invocation.values = t->values;
}

static void try_option(struct try *t, enum option_id id, const char *value)
{
	t->values[t->invocation.value_count++] = (struct invocation_value){id, value};
}

/* The name that it has when it is new.  However it starts, the command's plan stays as it was built:
 * the session's is another one. */
static int try_start(struct try *t, const char *name)
{
	_cleanup_buf_ struct buf built = BUF_INIT(PLAN_BYTES_MAX);
	_cleanup_buf_ struct buf now = BUF_INIT(PLAN_BYTES_MAX);
	int r = prepare_plan(&t->invocation, try_argv, true, &t->prepared, &t->e);

	if (r == 0)
		assert_int_equal(plan_encode(t->prepared.plan, &built), 0);
	if (r == 0)
		r = layering_choose(&t->layering, &t->invocation, &t->prepared, &t->e);
	if (r == 0)
		r = layering_begin(&t->layering, name, &t->prepared, &t->plan, &t->e);
	if (built.len > 0) {
		assert_int_equal(plan_encode(t->prepared.plan, &now), 0);
		assert_true(span_equal(buf_span(&built), buf_span(&now)));
	}
	if (r == 0)
		assert_ptr_not_equal(t->plan, t->prepared.plan);
	return r;
}

static void expect_start(struct try *t, const char *name)
{
	if (try_start(t, name) < 0)
		fail_msg("%s", t->e.text);
}

static bool try_finish(struct try *t, bool forget)
{
	bool kept = false;

	if (layering_end(&t->layering, forget, &kept, &t->e) < 0)
		fail_msg("%s", t->e.text);
	prepared_fini(&t->prepared);
	return kept;
}

/* As a box would: into the layer that the plan names for this role. */
static void try_write(const struct try *t, const char *role, const char *name)
{
	const struct plan_mount *m = plan_mount_of(t->plan, role);
	char path[PATH_MAX];

	assert_non_null(m);
	fake_file(fake_path(path, m->upper, "up"), name, "x");
}

static size_t count_layers(const struct try *t)
{
	char path[PATH_MAX];
	size_t count = 0;
	DIR *d = opendir(fake_path(path, t->prepared.layers.path, "layers"));

	for (const struct dirent *entry; d && (entry = readdir(d));)
		count += entry->d_name[0] != '.';
	if (d)
		(void)closedir(d);
	return count;
}

static void writes_go_to_layers_outside_of_the_workspace(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	try_init(&t);
	expect_start(&t, "calm-otter");
	const struct plan_mount *home = plan_mount_of(t.plan, "home");
	const struct plan_mount *work = plan_mount_of(t.plan, "workspace");

	if (!home || !work) {
		fail_msg("there is no home, or no workspace");
		return;
	}
	assert_true(plan_mount_has_layers(home) && plan_mount_has_layers(work));
	assert_true(str_path_beneath(work->upper, t.prepared.layers.path));
	assert_string_equal(work->source, f->project);
	assert_string_not_equal(work->upper, home->upper);
	try_write(&t, "workspace", "new");
	assert_true(try_finish(&t, false));
}

static void direct_writes_have_no_layer(void **state)
{
	struct try t;

	(void)state;
	try_init(&t);
	try_option(&t, OPTION_DIRECT, "");
	expect_start(&t, "calm-otter");
	assert_false(plan_mount_has_layers(plan_mount_of(t.plan, "workspace")));
	assert_true(plan_mount_has_layers(plan_mount_of(t.plan, "home")));
	assert_false(try_finish(&t, false));
}

static void nothing_written_leaves_nothing(void **state)
{
	struct try t;

	(void)state;
	try_init(&t);
	expect_start(&t, "calm-otter");
	assert_int_equal(count_layers(&t), 2);
	bool kept = true;

	assert_int_equal(layering_end(&t.layering, false, &kept, &t.e), 0);
	assert_false(kept);
	assert_int_equal(count_layers(&t), 0);
	assert_false(layering_is_taken(&t.layering, "calm-otter"));
	prepared_fini(&t.prepared);
}

static void a_session_with_changes_goes_on(void **state)
{
	struct try t;
	char upper[PATH_MAX];

	(void)state;
	try_init(&t);
	expect_start(&t, "calm-otter");
	try_write(&t, "workspace", "new");
	(void)snprintf(upper, sizeof(upper), "%s", plan_mount_of(t.plan, "workspace")->upper);
	assert_true(try_finish(&t, false));
	try_init(&t);
	expect_start(&t, "other-name");
	assert_true(t.layering.goes_on);
	assert_string_equal(t.layering.session.name, "calm-otter");
	/* What it had is sealed beneath what it writes now. */
	const struct plan_mount *work = plan_mount_of(t.plan, "workspace");
	char sealed[PATH_MAX];

	assert_string_not_equal(work->upper, upper);
	assert_int_equal(work->layers.count, 1);
	assert_string_equal(work->layers.items[0].text, fake_path(sealed, upper, "up"));
	assert_true(try_finish(&t, false));
	/* Unless it shall not; then both are there, and neither goes on by itself. */
	try_init(&t);
	try_option(&t, OPTION_FRESH, "");
	expect_start(&t, "other-name");
	assert_string_equal(t.layering.session.name, "other-name");
	try_write(&t, "workspace", "new");
	assert_true(try_finish(&t, false));
	try_init(&t);
	expect_start(&t, "third-name");
	assert_int_equal(t.layering.waiting, 2);
	assert_false(t.layering.goes_on);
	assert_false(try_finish(&t, false));
	try_init(&t);
	try_option(&t, OPTION_CONTINUE, "other-name");
	expect_start(&t, "fourth-name");
	assert_string_equal(t.layering.session.name, "other-name");
	assert_true(try_finish(&t, false));
}

static void one_that_runs_is_left_alone(void **state)
{
	struct try first;
	struct try second;

	(void)state;
	try_init(&first);
	expect_start(&first, "calm-otter");
	try_write(&first, "workspace", "new");
	try_init(&second);
	expect_start(&second, "other-name");
	assert_false(second.layering.goes_on);
	assert_string_not_equal(plan_mount_of(first.plan, "workspace")->upper,
				plan_mount_of(second.plan, "workspace")->upper);
	assert_false(try_finish(&second, false));
	try_init(&second);
	try_option(&second, OPTION_CONTINUE, "calm-otter");
	assert_int_equal(try_start(&second, "other-name"), -EBUSY);
	layering_fini(&second.layering);
	prepared_fini(&second.prepared);
	assert_true(try_finish(&first, false));
}

static void what_is_written_to_the_home_stays(void **state)
{
	struct try t;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		try_init(&t);
		expect_start(&t, "calm-otter");
		const struct plan_mount *home = plan_mount_of(t.plan, "home");

		/* Those of before, and the mount points. */
		assert_int_equal(home->layers.count, i + 1);
		assert_true(str_ends_with(home->layers.items[i].text, "/points"));
		try_write(&t, "home", "settings");
		assert_false(try_finish(&t, false));
	}
}

static void what_is_forgotten_is_gone(void **state)
{
	struct try t;
	bool kept = true;

	(void)state;
	try_init(&t);
	expect_start(&t, "verify-1");
	try_write(&t, "home", "settings");
	try_write(&t, "workspace", "new");
	assert_int_equal(layering_end(&t.layering, true, &kept, &t.e), 0);
	assert_false(kept);
	assert_int_equal(count_layers(&t), 0);
	prepared_fini(&t.prepared);
}

static void one_that_was_killed_is_settled_by_the_next(void **state)
{
	struct try t;
	struct stack home;

	(void)state;
	try_init(&t);
	expect_start(&t, "calm-otter");
	try_write(&t, "home", "settings");
	try_write(&t, "workspace", "new");
	layering_fini(&t.layering);
	prepared_fini(&t.prepared);
	try_init(&t);
	try_option(&t, OPTION_FRESH, "");
	expect_start(&t, "other-name");
	assert_int_equal(layers_home_read(&t.prepared.layers, &home, &t.e), 0);
	assert_int_equal(home.count, 1);
	assert_true(layering_is_taken(&t.layering, "calm-otter"));
	assert_false(try_finish(&t, false));
}

/* Those of the box that runs. */
static const char *points_of(const struct try *t)
{
	const struct plan_mount *home = plan_mount_of(t->plan, "home");

	return home->layers.items[home->layers.count - 1].text;
}

/* Whatever an agent left in the home, what is mounted there has its place. */
static void mount_points_have_a_layer_of_their_own(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	fake_dir(f->home, ".nvm");
	fake_file(f->home, ".gitconfig", "[user]\n");
	try_init(&t);
	try_option(&t, OPTION_READ, "~/.gitconfig");
	expect_start(&t, "calm-otter");
	const char *points = points_of(&t);

	assert_true(fake_exists(points, ".nvm"));
	assert_true(fake_exists(points, ".gitconfig"));
	assert_true(fake_exists(points, "code/project"));
	/* Of the things on the way to it, nothing else. */
	assert_false(fake_exists(points, "code/project/.git"));
	assert_false(try_finish(&t, false));
	/* A folder today, a file tomorrow. */
	char path[PATH_MAX];

	assert_int_equal(unlink(fake_path(path, f->home, ".gitconfig")), 0);
	fake_dir(f->home, ".gitconfig");
	try_init(&t);
	try_option(&t, OPTION_READ, "~/.gitconfig");
	expect_start(&t, "calm-otter");
	struct stat st;

	assert_int_equal(stat(fake_path(path, points_of(&t), ".gitconfig"), &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_false(try_finish(&t, false));
	/* And no plan's are another's. */
	try_init(&t);
	expect_start(&t, "calm-otter");
	assert_true(fake_exists(points_of(&t), ".nvm"));
	assert_false(fake_exists(points_of(&t), ".gitconfig"));
	assert_false(try_finish(&t, false));
}

static void a_branch_has_a_session_of_its_own(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	fake_dir(f->project, ".git");
	try_init(&t);
	expect_start(&t, "calm-otter");
	try_write(&t, "workspace", "new");
	assert_true(try_finish(&t, false));
	/* Not the one that waits: it has another branch. */
	try_init(&t);
	try_option(&t, OPTION_WORKTREE, "feat/x");
	expect_start(&t, "other-name");
	assert_false(t.layering.goes_on);
	assert_string_equal(t.layering.session.branch, "feat/x");
	/* The branch comes before the command, and is a word of its own. */
	const struct plan_string *argv = t.plan->argv.items;

	if (!argv || t.plan->argv.count != 9) {
		fail_msg("the command has %zu words", t.plan->argv.count);
		return;
	}
	assert_string_equal(argv[2].text, "feat/x");
	assert_string_equal(argv[4].text, "unborn");
	assert_string_equal(argv[7].text, "fresh");
	assert_string_equal(argv[8].text, "true");
	assert_non_null(plan_mount_of(t.plan, "worktree"));
	/* It never came to the branch: nothing of it is kept. */
	try_write(&t, "workspace", "new");
	assert_false(try_finish(&t, false));
	try_init(&t);
	try_option(&t, OPTION_WORKTREE, "feat/x");
	expect_start(&t, "other-name");
	char path[PATH_MAX], git[PATH_MAX];

	fake_dir(fake_path(path, plan_mount_of(t.plan, "workspace")->upper, "up"), ".git");
	fake_file(fake_path(git, path, ".git"), "HEAD", "ref: refs/heads/feat/x\n");
	try_write(&t, "workspace", "new");
	assert_true(try_finish(&t, false));
	try_init(&t);
	try_option(&t, OPTION_WORKTREE, "feat/x");
	expect_start(&t, "third-name");
	assert_string_equal(t.layering.session.name, "other-name");
	assert_true(try_finish(&t, false));
	/* Names that git or a shell would take for something else. */
	static const char *const wrong[] = {"-x", "a..b", "/a",   "a/",   "a b", "HEAD", "a.lock/b",
					    ".a", "a/.b", "a//b", "$(x)", "",    "a.",   "x.lock"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(wrong); i++)
		assert_false(worktree_is_branch(wrong[i]));
	assert_true(worktree_is_branch("feat/issue-12_b.c"));
}

#define PROMISE(f) cmocka_unit_test_setup_teardown(f, fake_home_setup, fake_home_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(writes_go_to_layers_outside_of_the_workspace),
		PROMISE(direct_writes_have_no_layer),
		PROMISE(nothing_written_leaves_nothing),
		PROMISE(a_session_with_changes_goes_on),
		PROMISE(one_that_runs_is_left_alone),
		PROMISE(what_is_written_to_the_home_stays),
		PROMISE(what_is_forgotten_is_gone),
		PROMISE(one_that_was_killed_is_settled_by_the_next),
		PROMISE(mount_points_have_a_layer_of_their_own),
		PROMISE(a_branch_has_a_session_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
