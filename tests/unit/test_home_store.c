/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about the private homes: one per workspace, and nothing planted there is followed. */
#include "fake_home.h"

#include "fd.h"
#include "home_store.h"
#include "str.h"

struct
try {
	struct arena arena;
	struct host host;
	struct host_object store;
	struct plan plan;
	struct error e;
	int fd;
	int r;
};

static void try_open(struct try *t, bool create)
{
	*t = (struct try){.arena = ARENA_INIT(1 << 20), .e = ERROR_INIT, .fd = -1};
	if (host_gather(NULL, &t->arena, &t->host, &t->e) < 0)
		fail_msg("%s", t->e.text);
	t->r = home_store_open(&t->host, create, &t->arena, &t->store, &t->fd, &t->e);
}

static void try_end(struct try *t)
{
	fd_close(&t->fd);
	arena_fini(&t->arena);
}

/* Opens the store and makes one mount point at ~/name. */
static int try_point(struct try *t, const char *name, bool is_dir)
{
	struct plan_mount *mounts = arena_alloc(&t->arena, 2 * sizeof(*mounts));
	char *target = arena_printf(&t->arena, "%s/%s", t->host.home, name);

	assert_true(mounts && target);
	mounts[0] = (struct plan_mount){.kind = PLAN_MOUNT_BIND,
					.target = t->host.home,
					.source = t->store.path,
					.role = "home"};
	mounts[1] = (struct plan_mount){
		.kind = PLAN_MOUNT_BIND, .target = target, .source = target, .role = "named"};
	t->plan = (struct plan){
		.home = t->host.home, .home_store = t->store.path, .mounts = {mounts, 2}};
	struct host_object named = {
		.name = target, .path = target, .is_dir = is_dir, .origin = target};
	assert_int_equal(host_list_add(&t->host.named, &t->arena, &named), 0);
	return home_store_make_mount_points(t->fd, &t->host, &t->plan, &t->arena, &t->e);
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
	assert_true(t.fd >= 0);
	assert_true(str_path_beneath(t.store.path, t.host.state_dir));
	assert_int_equal(mode_of(f->home, ".local/state/bawn") & 0777, 0700);
	assert_int_equal(mode_of(f->home, ".local/state/bawn/homes") & 0777, 0700);
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
	assert_int_equal(looked.fd, -1);
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
	fake_link(f->home, ".local/state/bawn/homes", "../../../../../outside");
	try_open(&t, true);
	assert_true(t.r < 0);
	assert_false(fake_exists(f->root, "outside/home"));
	try_end(&t);
}

static void mount_points_are_made_in_the_home(void **state)
{
	struct try t;

	(void)state;
	try_open(&t, true);
	assert_int_equal(try_point(&t, ".nvm", true), 0);
	assert_true(S_ISDIR(mode_of(t.store.path, ".nvm")));
	assert_int_equal(try_point(&t, "a/b/c", true), 0);
	assert_true(S_ISDIR(mode_of(t.store.path, "a/b/c")));
	assert_int_equal(try_point(&t, "d/file", false), 0);
	assert_true(S_ISREG(mode_of(t.store.path, "d/file")));
	/* A second time there is nothing to do, and nothing to say. */
	assert_int_equal(try_point(&t, "a/b/c", true), 0);
	assert_int_equal(t.plan.notes.count, 0);
	try_end(&t);
}

static void what_is_planted_is_moved_aside_and_never_followed(void **state)
{
	static const char *const kinds[] = {"link", "file", "fifo", "dangling", "loop", "up"};
	struct fake_home *f = *state;
	char path[PATH_MAX];

	fake_dir(f->root, "outside");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(kinds); i++) {
		struct try t;
		char aside[PATH_MAX];

		try_open(&t, true);
		(void)fake_path(path, t.store.path, kinds[i]);
		if (str_equal(kinds[i], "link"))
			assert_int_equal(symlink(f->root, path), 0);
		else if (str_equal(kinds[i], "file"))
			fake_file(t.store.path, kinds[i], "mine");
		else if (str_equal(kinds[i], "fifo"))
			assert_int_equal(mkfifo(path, 0600), 0);
		else if (str_equal(kinds[i], "dangling"))
			assert_int_equal(symlink("/nowhere", path), 0);
		else if (str_equal(kinds[i], "loop"))
			assert_int_equal(symlink("loop", path), 0);
		else
			assert_int_equal(symlink("../..", path), 0);
		/* Where a folder belongs, and on the way to one. */
		(void)snprintf(aside, sizeof(aside), "%s/outside/x", kinds[i]);
		assert_int_equal(try_point(&t, aside, true), 0);
		assert_true(S_ISDIR(mode_of(t.store.path, aside)));
		assert_true(S_ISDIR(mode_of(t.store.path, kinds[i])));
		(void)snprintf(aside, sizeof(aside), "%s.displaced-1", kinds[i]);
		assert_true(fake_exists(t.store.path, aside));
		/* It is said, and nothing was made outside. */
		assert_int_equal(t.plan.notes.count, 1);
		assert_int_equal(t.plan.notes.items[0].kind, PLAN_NOTE_WARNING);
		assert_false(fake_exists(f->root, "outside/x"));
		try_end(&t);
	}
}

static void what_was_moved_aside_before_is_kept(void **state)
{
	struct try t;

	(void)state;
	try_open(&t, true);
	fake_file(t.store.path, ".nvm.displaced-1", "old");
	fake_file(t.store.path, ".nvm", "new");
	assert_int_equal(try_point(&t, ".nvm", true), 0);
	assert_true(fake_exists(t.store.path, ".nvm.displaced-2"));
	assert_int_equal(mode_of(t.store.path, ".nvm.displaced-1") & S_IFMT, S_IFREG);
	try_end(&t);
}

static void a_folder_where_a_file_belongs_is_moved_aside(void **state)
{
	struct try t;

	(void)state;
	try_open(&t, true);
	fake_file(t.store.path, ".gitconfig/inside", "x");
	assert_int_equal(try_point(&t, ".gitconfig", false), 0);
	assert_true(S_ISREG(mode_of(t.store.path, ".gitconfig")));
	assert_true(fake_exists(t.store.path, ".gitconfig.displaced-1/inside"));
	try_end(&t);
}

static void a_mount_on_another_mount_needs_no_point(void **state)
{
	struct try t;
	struct plan_mount mounts[3];
	char folder[PATH_MAX];
	char inner[PATH_MAX];

	(void)state;
	try_open(&t, true);
	(void)fake_path(folder, t.host.home, "code");
	(void)fake_path(inner, t.host.home, "code/project");
	mounts[0] = (struct plan_mount){.kind = PLAN_MOUNT_BIND,
					.target = t.host.home,
					.source = t.store.path,
					.role = "home"};
	mounts[1] = (struct plan_mount){
		.kind = PLAN_MOUNT_BIND, .target = folder, .source = folder, .role = "named"};
	mounts[2] = (struct plan_mount){
		.kind = PLAN_MOUNT_BIND, .target = inner, .source = inner, .role = "workspace"};
	t.plan = (struct plan){
		.home = t.host.home, .home_store = t.store.path, .mounts = {mounts, 3}};
	assert_int_equal(home_store_make_mount_points(t.fd, &t.host, &t.plan, &t.arena, &t.e), 0);
	assert_true(fake_exists(t.store.path, "code"));
	assert_false(fake_exists(t.store.path, "code/project"));
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
		PROMISE(mount_points_are_made_in_the_home),
		PROMISE(what_is_planted_is_moved_aside_and_never_followed),
		PROMISE(what_was_moved_aside_before_is_kept),
		PROMISE(a_folder_where_a_file_belongs_is_moved_aside),
		PROMISE(a_mount_on_another_mount_needs_no_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
