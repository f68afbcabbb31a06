/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about the private homes: one per workspace. */
#include "fake_home.h"

#include "home_store.h"
#include "str.h"

struct
try {
	struct arena arena;
	struct host host;
	struct host_object store;
	struct error e;
	struct layers layers;
	int r;
};

static void try_open(struct try *t, bool create)
{
	*t = (struct try){.arena = ARENA_INIT(1 << 20), .e = ERROR_INIT, .layers = LAYERS_INIT};
	if (host_gather(NULL, &t->arena, &t->host, &t->e) < 0)
		fail_msg("%s", t->e.text);
	t->r = home_store_open(&t->host, create, &t->arena, &t->layers, &t->store, &t->e);
}

static void try_end(struct try *t)
{
	layers_close(&t->layers);
	arena_fini(&t->arena);
}

static mode_t mode_of(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	assert_int_equal(lstat(fake_path(path, dir, name), &st), 0);
	return st.st_mode;
}

static void it_is_made_for_nobody_else_to_read(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	(void)umask(0);
	try_open(&t, true);
	assert_int_equal(t.r, 0);
	assert_true(t.layers.dir >= 0);
	assert_true(str_path_beneath(t.store.path, t.host.state_dir));
	assert_int_equal(mode_of(f->home, ".local/state/bawn") & 0777, 0700);
	assert_int_equal(mode_of(f->home, ".local/state/bawn/workspaces") & 0777, 0700);
	assert_int_equal(mode_of("", t.store.path + 1) & 0777, 0700);
	try_end(&t);
	(void)umask(022);
}

static void the_same_workspace_has_the_same_home(void **state)
{
	struct fake_home *f = *state;
	struct try first;
	struct try second;
	struct try other;
	char path[PATH_MAX];

	try_open(&first, true);
	try_open(&second, true);
	assert_string_equal(first.store.path, second.store.path);
	assert_int_equal(first.store.ino, second.store.ino);
	/* Another folder of the same name has another. */
	fake_dir(f->home, "elsewhere/project");
	assert_int_equal(chdir(fake_path(path, f->home, "elsewhere/project")), 0);
	try_open(&other, true);
	assert_string_not_equal(first.store.path, other.store.path);
	try_end(&first);
	try_end(&second);
	try_end(&other);
}

static void looking_makes_nothing(void **state)
{
	struct fake_home *f = *state;
	struct try looked;
	struct try made;

	try_open(&looked, false);
	assert_int_equal(looked.r, 0);
	assert_int_equal(looked.layers.dir, -1);
	assert_int_equal(looked.store.ino, 0);
	assert_false(fake_exists(f->home, ".local"));
	/* It names the place where the home would be. */
	try_open(&made, true);
	assert_string_equal(looked.store.path, made.store.path);
	try_end(&looked);
	try_open(&looked, false);
	assert_int_equal(looked.store.ino, made.store.ino);
	try_end(&looked);
	try_end(&made);
}

static void two_workspaces_with_one_hash_are_told_apart(void **state)
{
	struct try first;
	struct try second;
	char path[PATH_MAX];

	(void)state;
	try_open(&first, true);
	(void)snprintf(path, sizeof(path), "%s/../path", first.store.path);
	fake_file("", path + 1, "/some/other/workspace");
	try_open(&second, true);
	assert_int_equal(second.r, 0);
	assert_true(str_ends_with(second.store.path, "-2/home"));
	/* Found again, and found without making anything. */
	struct try third;
	try_open(&third, false);
	assert_string_equal(third.store.path, second.store.path);
	assert_int_equal(third.store.ino, second.store.ino);
	try_end(&first);
	try_end(&second);
	try_end(&third);
}

static void names_of_workspaces_are_made_plain(void **state)
{
	struct fake_home *f = *state;
	static const char strange[] = ".h\x1b[31m \xc3\xa4:$(x)";
	char path[PATH_MAX];
	struct try t;

	fake_dir(f->home, "code/.x");
	assert_int_equal(mkdir(fake_path(path, f->home, strange), 0755), 0);
	assert_int_equal(chdir(path), 0);
	try_open(&t, true);
	assert_int_equal(t.r, 0);
	for (const char *c = t.store.path + strlen(t.host.state_dir); *c; c++)
		assert_true(*c > ' ' && *c < 0x7f && !strchr(":$()[;", *c));
	try_end(&t);
}

static void a_state_directory_that_others_can_write_is_refused(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	struct try t;

	fake_dir(f->home, ".local/state/bawn");
	assert_int_equal(chmod(fake_path(path, f->home, ".local/state/bawn"), 0770), 0);
	try_open(&t, true);
	assert_int_equal(t.r, -EPERM);
	try_end(&t);
	if (geteuid() != 0)
		return;
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(chown(path, 12345, 12345), 0);
	try_open(&t, true);
	assert_int_equal(t.r, -EPERM);
	assert_non_null(strstr(t.e.text, "12345"));
	try_end(&t);
}

static void nothing_is_made_in_the_home_of_someone_else(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	/* Root's, for a user; a user's, for root. */
	if (geteuid() == 0)
		assert_int_equal(chown(f->home, 12345, 12345), 0);
	else
		assert_int_equal(setenv("HOME", "/usr/share", 1), 0);
	try_open(&t, true);
	assert_int_equal(t.r, -EPERM);
	assert_non_null(strstr(t.e.next, "sudo -H"));
	assert_false(fake_exists(t.host.home, ".local"));
	try_end(&t);
}

static void links_in_the_state_directory_are_not_followed(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	struct try t;

	fake_dir(f->home, ".local/state/bawn");
	fake_dir(f->root, "outside");
	assert_int_equal(chmod(fake_path(path, f->home, ".local/state/bawn"), 0700), 0);
	fake_link(f->home, ".local/state/bawn/workspaces", "../../../../../outside");
	try_open(&t, true);
	assert_true(t.r < 0);
	assert_false(fake_exists(f->root, "outside/home"));
	try_end(&t);
}

#define PROMISE(f) cmocka_unit_test_setup_teardown(f, fake_home_setup, fake_home_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(it_is_made_for_nobody_else_to_read),
		PROMISE(the_same_workspace_has_the_same_home),
		PROMISE(looking_makes_nothing),
		PROMISE(two_workspaces_with_one_hash_are_told_apart),
		PROMISE(names_of_workspaces_are_made_plain),
		PROMISE(a_state_directory_that_others_can_write_is_refused),
		PROMISE(nothing_is_made_in_the_home_of_someone_else),
		PROMISE(links_in_the_state_directory_are_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
