/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about the facts: who, where, and what is never a workspace. */
#include "fake_home.h"

#include "host_parts.h"
#include "str.h"

#include <pwd.h>

struct
try {
	struct arena arena;
	struct host host;
	struct error e;
	int r;
};

static void try_gather(struct try *t, const char *workspace)
{
	*t = (struct try){.arena = ARENA_INIT(1 << 20), .e = ERROR_INIT};
	t->r = host_gather(workspace, &t->arena, &t->host, &t->e);
}

static void try_end(struct try *t)
{
	arena_fini(&t->arena);
}

static void expect_refused(const char *workspace, const char *sentence)
{
	struct try t;

	try_gather(&t, workspace);
	if (t.r >= 0)
		fail_msg("%s was taken as the workspace", workspace);
	if (!strstr(t.e.text, sentence))
		fail_msg("%s: \"%s\" does not say \"%s\"", workspace, t.e.text, sentence);
	try_end(&t);
}

static void user_home_and_shell_are_found(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	try_gather(&t, NULL);
	assert_int_equal(t.r, 0);
	assert_int_equal(t.host.uid, geteuid());
	assert_string_equal(t.host.home, f->home);
	assert_string_equal(t.host.shell, "/bin/sh");
	assert_true(t.host.user[0] != '\0');
	if (geteuid() == 0)
		assert_string_equal(t.host.user, "root");
	try_end(&t);
}

/* Whatever a private file is called as well, and however many names it has. */
static void another_name_of_a_private_file_is_known(void **state)
{
	struct fake_home *f = *state;
	char key[PATH_MAX], other[PATH_MAX], plain[PATH_MAX];

	fake_dir(f->home, ".ssh");
	fake_file(f->home, ".ssh/id", "key");
	fake_dir(f->home, "project");
	fake_file(f->home, "project/one", "plain");
	assert_int_equal(link(fake_path(plain, f->home, "project/one"),
			      fake_path(other, f->home, "project/two")),
			 0);
	for (int names = 2; names < 5; names++) {
		char name[32];
		struct try t;

		(void)snprintf(name, sizeof(name), "project/key-%d", names);
		assert_int_equal(
			link(fake_path(key, f->home, ".ssh/id"), fake_path(other, f->home, name)),
			0);
		try_gather(&t, NULL);
		assert_int_equal(t.r, 0);
		assert_string_equal(host_linked_as(&t.host, other, &t.arena), key);
		assert_string_equal(host_linked_as(&t.host, key, &t.arena), key);
		assert_string_equal(host_linked_as(&t.host, plain, &t.arena), plain);
		try_end(&t);
	}
}

static void an_unusable_shell_is_not_taken(void **state)
{
	static const char *const shells[] = {"/no/such/shell", "bash", "/usr/sbin/nologin",
					     "/bin/sh:/bin/bash", "/bin/false"};
	struct try t;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(shells); i++) {
		assert_int_equal(setenv("SHELL", shells[i], 1), 0);
		try_gather(&t, NULL);
		assert_int_equal(t.r, 0);
		assert_string_not_equal(t.host.shell, shells[i]);
		assert_int_equal(access(t.host.shell, X_OK), 0);
		try_end(&t);
	}
}

static void a_home_that_cannot_be_one_is_refused(void **state)
{
	struct try t;

	(void)state;
	assert_int_equal(setenv("HOME", "/", 1), 0);
	expect_refused(NULL, "your home cannot be /");
	/* One that is not there is looked up in passwd instead. */
	assert_int_equal(setenv("HOME", "/no/such/home", 1), 0);
	try_gather(&t, NULL);
	if (t.r == 0)
		assert_string_not_equal(t.host.home, "/no/such/home");
	else
		assert_non_null(strstr(t.e.text, "home"));
	try_end(&t);
}

static void own_folders_follow_xdg(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	struct try t;

	try_gather(&t, NULL);
	assert_string_equal(t.host.state_dir, fake_path(path, f->home, ".local/state/bawn"));
	assert_string_equal(t.host.config_dir, fake_path(path, f->home, ".config/bawn"));
	try_end(&t);
	assert_int_equal(setenv("XDG_STATE_HOME", "/srv/state", 1), 0);
	assert_int_equal(setenv("XDG_CONFIG_HOME", "relative/config", 1), 0);
	try_gather(&t, NULL);
	assert_string_equal(t.host.state_dir, "/srv/state/bawn");
	assert_string_equal(t.host.config_dir, fake_path(path, f->home, ".config/bawn"));
	try_end(&t);
}

static void the_current_folder_is_the_workspace(void **state)
{
	struct fake_home *f = *state;
	struct stat st;
	struct try t;

	try_gather(&t, NULL);
	assert_int_equal(t.r, 0);
	assert_string_equal(t.host.workspace.path, f->project);
	assert_string_equal(t.host.cwd, f->project);
	assert_int_equal(stat(f->project, &st), 0);
	assert_int_equal(t.host.workspace.ino, st.st_ino);
	assert_int_equal(t.host.workspace.dev, st.st_dev);
	assert_true(t.host.workspace_writable);
	try_end(&t);
}

static void the_current_folder_is_kept_inside_a_named_workspace(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	struct try t;

	fake_dir(f->project, "src/deep");
	assert_int_equal(chdir(fake_path(path, f->project, "src/deep")), 0);
	try_gather(&t, f->project);
	assert_string_equal(t.host.workspace.path, f->project);
	assert_string_equal(t.host.cwd, path);
	try_end(&t);
	/* From elsewhere, the command starts in the workspace. */
	assert_int_equal(chdir(f->home), 0);
	try_gather(&t, f->project);
	assert_string_equal(t.host.cwd, f->project);
	try_end(&t);
}

static void system_places_are_never_a_workspace(void **state)
{
	static const char *const places[] = {
		"/usr",           "/usr/bin", "/usr/lib", "/usr/share", "/usr/local",
		"/usr/local/bin", "/etc",     "/etc/ssl", "/proc",      "/proc/self",
		"/proc/self/fd",  "/dev",     "/dev/shm", "/sys",       "/run",
		"/boot",          "/var",     "/var/lib", "/var/log",   "/var/tmp",
		"/tmp",           "/home",    "/opt",     "/mnt",       "/srv",
	};
	const struct passwd *own = getpwuid(geteuid());
	struct stat st;

	(void)state;
	/* The home of this test is in /tmp, and the one that the system lists is a home too. */
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(places); i++) {
		bool holds = str_equal(places[i], "/tmp") ||
			     (own && str_path_beneath(own->pw_dir, places[i]));

		if (stat(places[i], &st) == 0)
			expect_refused(places[i],
				       holds ? "your home lies in it" : "place of the system");
	}
}

static void home_and_what_holds_it_are_never_a_workspace(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];

	expect_refused(f->home, "it is your home");
	expect_refused(fake_path(path, f->root, "home"), "your home lies in it");
	expect_refused(f->root, "your home lies in it");
	expect_refused("/", "your home lies in it");
}

static void private_places_are_never_a_workspace(void **state)
{
	static const char *const in[] = {".ssh",
					 ".ssh/keys",
					 ".gnupg",
					 ".aws",
					 ".config/gh",
					 ".claude/skills",
					 ".mozilla/firefox",
					 ".password-store",
					 ".local/share/keyrings",
					 ".docker",
					 ".kube"};
	static const char *const around[] = {".config", ".local", ".local/share", ".cargo", ".m2"};
	struct fake_home *f = *state;
	char path[PATH_MAX];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(in); i++) {
		fake_dir(f->home, in[i]);
		expect_refused(fake_path(path, f->home, in[i]), "private place");
	}
	/* Also when what is private in it is not there yet. */
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(around); i++) {
		fake_dir(f->home, around[i]);
		expect_refused(fake_path(path, f->home, around[i]), "private places");
	}
}

static void bawns_own_folders_are_never_a_workspace(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];

	fake_dir(f->home, ".local/state/bawn/homes/x/home");
	fake_dir(f->home, ".config/bawn");
	expect_refused(fake_path(path, f->home, ".local/state/bawn"), "its own state");
	expect_refused(fake_path(path, f->home, ".local/state/bawn/homes/x/home"), "its own state");
	expect_refused(fake_path(path, f->home, ".local/state"), "its own state");
	expect_refused(fake_path(path, f->home, ".config/bawn"), "configuration");
}

static void what_is_no_folder_is_never_a_workspace(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];

	fake_file(f->home, "file", "x");
	expect_refused(fake_path(path, f->home, "file"), "cannot use");
	expect_refused(fake_path(path, f->home, "missing"), "cannot use");
}

static void a_link_to_the_workspace_is_resolved_once(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	struct try t;

	fake_link(f->home, "shortcut", f->project);
	try_gather(&t, fake_path(path, f->home, "shortcut"));
	assert_int_equal(t.r, 0);
	assert_string_equal(t.host.workspace.path, f->project);
	try_end(&t);
	/* What is refused by its name is refused behind a link. */
	fake_link(f->home, "everything", "/");
	fake_link(f->home, "me", f->home);
	fake_link(f->home, "system", "/etc");
	expect_refused(fake_path(path, f->home, "everything"), "your home lies in it");
	expect_refused(fake_path(path, f->home, "me"), "it is your home");
	expect_refused(fake_path(path, f->home, "system"), "place of the system");
}

static void a_removed_folder_is_never_a_workspace(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];

	fake_dir(f->home, "code/gone");
	assert_int_equal(chdir(fake_path(path, f->home, "code/gone")), 0);
	assert_int_equal(rmdir(path), 0);
	expect_refused(NULL, "it was removed");
	/* Nor is one that has the name of what was removed. */
	fake_dir(f->home, "code/gone");
	expect_refused(NULL, "it was removed");
}

static void a_folder_of_someone_else_is_not_writable(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	if (geteuid() == 0) {
		assert_int_equal(chown(f->project, 12345, 12345), 0);
		assert_int_equal(chmod(f->project, 0777), 0);
	} else {
		assert_int_equal(chmod(f->project, 0555), 0);
	}
	try_gather(&t, NULL);
	assert_int_equal(t.r, 0);
	assert_false(t.host.workspace_writable);
	try_end(&t);
	assert_int_equal(chmod(f->project, 0755), 0);
}

static void links_on_the_way_to_home_are_kept(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	char link[PATH_MAX];
	struct try t;

	fake_link(f->root, "homes", "home");
	assert_int_equal(setenv("HOME", fake_path(path, f->root, "homes/jo"), 1), 0);
	try_gather(&t, NULL);
	assert_int_equal(t.r, 0);
	assert_string_equal(t.host.home, f->home);
	assert_int_equal(t.host.links.count, 1);
	assert_string_equal(t.host.links.items[0].name, fake_path(link, f->root, "homes"));
	assert_string_equal(t.host.links.items[0].link, "home");
	try_end(&t);
	expect_refused(f->home, "it is your home");
	expect_refused(path, "it is your home");
}

static void the_system_is_programs_and_a_small_etc(void **state)
{
	static const char *const never[] = {"/etc/shadow",     "/etc/passwd",      "/etc/hosts",
					    "/etc/machine-id", "/etc/ssl/private", "/etc/ssl",
					    "/etc/npmrc",      "/etc/pip.conf",    "/etc/ssh",
					    "/etc/sudoers",    "/etc/resolv.conf", "/etc"};
	struct try t;
	size_t mounts = 0;
	bool usr = false;

	(void)state;
	try_gather(&t, NULL);
	for (size_t i = 0; i < t.host.programs.count; i++)
		usr = usr || str_equal(t.host.programs.items[i].name, "/usr");
	assert_true(usr);
	for (size_t i = 0; i < t.host.etc.count; i++) {
		mounts += t.host.etc.items[i].link == NULL;
		for (size_t n = 0; n < BAWN_ARRAY_SIZE(never); n++)
			assert_false(str_path_beneath(never[n], t.host.etc.items[i].name));
	}
	/* Each costs a mount at every start. */
	assert_in_range(mounts, 1, 30);
	try_end(&t);
}

static void private_places_are_listed_when_they_exist(void **state)
{
	struct fake_home *f = *state;
	char ssh[PATH_MAX];
	char gh[PATH_MAX];
	char netrc[PATH_MAX];
	struct try t;

	try_gather(&t, NULL);
	/* Whoever runs the test has a home that the system lists, and its places count as well. */
	size_t others = t.host.private_places.count;

	for (size_t i = 0; i < others; i++)
		assert_false(str_path_beneath(t.host.private_places.items[i].name, f->home));
	try_end(&t);
	fake_dir(f->home, ".config/gh");
	fake_link(f->home, ".ssh", "/etc/ssl");
	fake_file(f->home, ".netrc", "x");
	(void)fake_path(ssh, f->home, ".ssh");
	(void)fake_path(gh, f->home, ".config/gh");
	(void)fake_path(netrc, f->home, ".netrc");
	try_gather(&t, NULL);
	assert_int_equal(t.host.private_places.count, 3 + others);
	for (size_t i = 0; i < 3; i++) {
		const struct host_object *o = &t.host.private_places.items[i];

		assert_true(str_equal(o->name, ssh) || str_equal(o->name, gh) ||
			    str_equal(o->name, netrc));
		/* Behind a link, where it leads is as private. */
		if (str_equal(o->name, ssh))
			assert_string_equal(o->path, "/etc/ssl");
	}
	try_end(&t);
}

static struct host_object named(const struct try *t, const char *written)
{
	const struct host_object *o = host_named(&t->host, written);

	if (!o)
		fail_msg("%s was not looked up", written);
	return o ? *o : (struct host_object){.name = NULL};
}

static void paths_of_the_policy_are_looked_up(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	struct try t;

	fake_dir(f->home, "data");
	fake_link(f->home, "link", "data");
	fake_file(f->project, "sub/file", "x");
	try_gather(&t, NULL);
	assert_int_equal(host_name(&t.host, "~/data", &t.arena, &t.e), 0);
	assert_int_equal(host_name(&t.host, "~/link", &t.arena, &t.e), 0);
	assert_int_equal(host_name(&t.host, "sub/file", &t.arena, &t.e), 0);
	assert_int_equal(host_name(&t.host, "/no/such", &t.arena, &t.e), 0);
	(void)fake_path(path, f->home, "data");
	assert_string_equal(named(&t, "~/data").path, path);
	assert_true(named(&t, "~/data").is_dir);
	assert_string_equal(named(&t, "~/link").path, path);
	assert_string_equal(named(&t, "~/link").name, fake_path(path, f->home, "link"));
	assert_true(named(&t, "sub/file").is_file);
	assert_null(named(&t, "/no/such").path);
	assert_null(host_named(&t.host, "never looked up"));
	try_end(&t);
}

#define PROMISE(f) cmocka_unit_test_setup_teardown(f, fake_home_setup, fake_home_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(another_name_of_a_private_file_is_known),
		PROMISE(user_home_and_shell_are_found),
		PROMISE(an_unusable_shell_is_not_taken),
		PROMISE(a_home_that_cannot_be_one_is_refused),
		PROMISE(own_folders_follow_xdg),
		PROMISE(the_current_folder_is_the_workspace),
		PROMISE(the_current_folder_is_kept_inside_a_named_workspace),
		PROMISE(system_places_are_never_a_workspace),
		PROMISE(home_and_what_holds_it_are_never_a_workspace),
		PROMISE(private_places_are_never_a_workspace),
		PROMISE(bawns_own_folders_are_never_a_workspace),
		PROMISE(what_is_no_folder_is_never_a_workspace),
		PROMISE(a_link_to_the_workspace_is_resolved_once),
		PROMISE(a_removed_folder_is_never_a_workspace),
		PROMISE(a_folder_of_someone_else_is_not_writable),
		PROMISE(links_on_the_way_to_home_are_kept),
		PROMISE(the_system_is_programs_and_a_small_etc),
		PROMISE(private_places_are_listed_when_they_exist),
		PROMISE(paths_of_the_policy_are_looked_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
