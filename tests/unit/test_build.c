/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about the plan: what is shown, with which access, and what never is. */
#include "fake_world.h"

static void expect_access(struct world *w, const char *path, const char *source,
			  enum plan_access access)
{
	const struct plan_mount *m = world_over(w, path);

	if (!m || m->kind != PLAN_MOUNT_BIND || m->access != access)
		fail_msg("%s: %s, access %u", path, m ? m->target : "nothing", m ? m->access : 0);
	/* It is what the host has there. */
	if (m) {
		const char *rest = str_after(source, m->source);

		assert_non_null(rest);
		assert_string_equal(rest, path + strlen(m->target));
	}
}

static bool is_shown(const struct world *w, const char *path)
{
	const struct plan_mount *m = world_over(w, path);

	return m && m->kind == PLAN_MOUNT_BIND && !str_equal(m->role, "home");
}

static void the_frame_is_there(void **state)
{
	struct world *w = *state;

	world_build(w);
	assert_int_equal(world_mount(w, "/usr").access, PLAN_ACCESS_READ);
	assert_int_equal(world_mount(w, "/bin").kind, PLAN_MOUNT_LINK);
	assert_string_equal(world_mount(w, "/bin").source, "usr/bin");
	assert_int_equal(world_mount(w, "/proc").kind, PLAN_MOUNT_PROC);
	assert_int_equal(world_mount(w, "/dev").kind, PLAN_MOUNT_DEV);
	assert_int_equal(world_mount(w, "/tmp").kind, PLAN_MOUNT_TMPFS);
	assert_int_equal(world_mount(w, "/tmp").size, 1 << 30);
	assert_int_equal(world_mount(w, "/run/user/1000").kind, PLAN_MOUNT_TMPFS);
	assert_int_equal(world_mount(w, "/var/tmp").kind, PLAN_MOUNT_LINK);
	assert_string_equal(world_mount(w, WORLD_HOME).source, WORLD_STORE);
	assert_int_equal(world_mount(w, WORLD_HOME).access, PLAN_ACCESS_WRITE);
	assert_int_equal(world_mount(w, WORLD_HOME).ino, 9);
	expect_access(w, WORLD_WORKSPACE, WORLD_WORKSPACE, PLAN_ACCESS_WRITE);
	assert_int_equal(world_mount(w, WORLD_WORKSPACE).ino, 7);
	assert_string_equal(w->plan.cwd, WORLD_WORKSPACE);
	/* No /sys, nothing of the home, nothing else. */
	assert_null(world_over(w, "/sys"));
	assert_null(world_over(w, "/root"));
	assert_null(world_over(w, "/home/other"));
	assert_false(is_shown(w, WORLD_HOME "/.ssh"));
	assert_false(is_shown(w, WORLD_HOME "/code/other"));
}

static const char *file(struct world *w, const char *target)
{
	const struct plan_mount *m = world_at(w, target);
	char *text;

	if (!m || m->kind != PLAN_MOUNT_FILE)
		fail_msg("%s is not made up", target);
	text = arena_strn(&w->arena, m ? (const char *)m->data.ptr : "", m ? m->data.len : 0);
	assert_non_null(text);
	return text;
}

static void etc_says_nothing_about_the_machine(void **state)
{
	struct world *w = *state;

	world_build(w);
	assert_string_equal(file(w, "/etc/passwd"),
			    "root:x:0:0:root:/root:/usr/sbin/nologin\n"
			    "jo:x:1000:1000:jo:/home/jo:/bin/bash\n"
			    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
	assert_string_equal(file(w, "/etc/group"), "root:x:0:\njo:x:1000:\nnogroup:x:65534:\n");
	assert_string_equal(file(w, "/etc/hosts"),
			    "127.0.0.1 localhost bawn\n::1 localhost bawn\n");
	assert_string_equal(file(w, "/etc/hostname"), "bawn\n");
	assert_int_equal(strlen(file(w, "/etc/machine-id")), 33);
	/* Nobody is asked, or the gate: never a server of the host's. */
	if (!PLAN_GATE_PRESENT)
		assert_null(strstr(file(w, "/etc/resolv.conf"), "nameserver"));
	assert_non_null(strstr(file(w, "/etc/nsswitch.conf"), "hosts: files"));
}

static void root_is_named_once_in_passwd(void **state)
{
	struct world *w = *state;

	w->host.uid = w->host.gid = 0;
	w->host.user = "root";
	world_build(w);
	assert_string_equal(file(w, "/etc/passwd"),
			    "root:x:0:0:root:/home/jo:/bin/bash\n"
			    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
	assert_string_equal(file(w, "/etc/group"), "root:x:0:\nnogroup:x:65534:\n");
}

static void machine_id_belongs_to_the_workspace(void **state)
{
	struct world *w = *state;

	world_build(w);
	const char *first = file(w, "/etc/machine-id");
	world_build(w);
	assert_string_equal(file(w, "/etc/machine-id"), first);
	w->store.path = WORLD_HOME "/.local/state/bawn/homes/other-99/home";
	world_build(w);
	assert_string_not_equal(file(w, "/etc/machine-id"), first);
}

static void a_file_of_etc_that_the_user_names_is_the_hosts(void **state)
{
	struct world *w = *state;

	world_read(w, "/etc/hosts");
	w->host.named.items[0].is_dir = false;
	w->host.named.items[0].is_file = true;
	world_build(w);
	expect_access(w, "/etc/hosts", "/etc/hosts", PLAN_ACCESS_READ);
}

static void tools_are_read_only_at_their_own_place(void **state)
{
	struct world *w = *state;
	struct host_object *o;

	(void)world_add(w, &w->host.tools, WORLD_HOME "/.nvm");
	o = world_add(w, &w->host.tools, "/disk/pyenv");
	o->name = WORLD_HOME "/.pyenv";
	world_build(w);
	expect_access(w, WORLD_HOME "/.nvm/x", WORLD_HOME "/.nvm/x", PLAN_ACCESS_READ);
	/* Behind a link: under both names. */
	expect_access(w, WORLD_HOME "/.pyenv/x", "/disk/pyenv/x", PLAN_ACCESS_READ);
	expect_access(w, "/disk/pyenv/x", "/disk/pyenv/x", PLAN_ACCESS_READ);
	w->policy.tools = false;
	world_build(w);
	assert_false(is_shown(w, WORLD_HOME "/.nvm"));
}

static void a_workspace_in_a_read_folder_is_written_on_top(void **state)
{
	struct world *w = *state;

	world_read(w, WORLD_HOME "/code");
	world_build(w);
	expect_access(w, WORLD_HOME "/code/other", WORLD_HOME "/code/other", PLAN_ACCESS_READ);
	expect_access(w, WORLD_WORKSPACE "/x", WORLD_WORKSPACE "/x", PLAN_ACCESS_WRITE);
}

static void a_grant_takes_nothing_away(void **state)
{
	struct world *w = *state;

	world_read(w, WORLD_WORKSPACE "/docs");
	world_write(w, WORLD_HOME "/.cache/uv");
	(void)world_add(w, &w->host.tools, WORLD_HOME "/.cache/uv/bin");
	world_read(w, "/usr/share/doc");
	world_build(w);
	expect_access(w, WORLD_WORKSPACE "/docs", WORLD_WORKSPACE "/docs", PLAN_ACCESS_WRITE);
	expect_access(w, WORLD_HOME "/.cache/uv/bin", WORLD_HOME "/.cache/uv/bin",
		      PLAN_ACCESS_WRITE);
	/* And costs no mount where it adds nothing. */
	assert_null(world_at(w, WORLD_WORKSPACE "/docs"));
	assert_null(world_at(w, WORLD_HOME "/.cache/uv/bin"));
	assert_null(world_at(w, "/usr/share/doc"));
}

static void a_read_only_workspace_stays_so_in_a_written_folder(void **state)
{
	struct world *w = *state;

	w->policy.workspace_access = PLAN_ACCESS_READ;
	w->policy.workspace_origin = ".bawn.yaml:2";
	world_write(w, WORLD_HOME "/code");
	world_write(w, WORLD_WORKSPACE "/out");
	world_build(w);
	expect_access(w, WORLD_HOME "/code/other", WORLD_HOME "/code/other", PLAN_ACCESS_WRITE);
	expect_access(w, WORLD_WORKSPACE "/src", WORLD_WORKSPACE "/src", PLAN_ACCESS_READ);
	expect_access(w, WORLD_WORKSPACE "/out", WORLD_WORKSPACE "/out", PLAN_ACCESS_WRITE);
}

static void writing_a_read_only_workspace_is_not_given_and_said(void **state)
{
	struct world *w = *state;

	w->policy.workspace_access = PLAN_ACCESS_READ;
	world_write(w, WORLD_WORKSPACE);
	world_build(w);
	expect_access(w, WORLD_WORKSPACE, WORLD_WORKSPACE, PLAN_ACCESS_READ);
	assert_non_null(world_note(w, PLAN_NOTE_NOT_GIVEN, WORLD_WORKSPACE));
}

static void a_workspace_of_someone_else_is_only_read(void **state)
{
	struct world *w = *state;

	w->host.workspace_writable = false;
	w->host.workspace_owner = 33;
	world_build(w);
	expect_access(w, WORLD_WORKSPACE, WORLD_WORKSPACE, PLAN_ACCESS_READ);
	assert_int_equal(w->plan.workspace_access, PLAN_ACCESS_READ);
	assert_non_null(world_note(w, PLAN_NOTE_NOT_GIVEN, "write access"));
}

static void what_is_missing_is_an_error_that_names_its_line(void **state)
{
	struct world *w = *state;

	world_read(w, "/data/gone");
	w->host.named.items[0].path = NULL;
	world_refused(w, "config.yaml:1: there is no /data/gone");
}

static void home_and_what_holds_it_are_never_granted(void **state)
{
	static const char *const paths[] = {WORLD_HOME, "/home", "/"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(paths); i++)
		for (int write = 0; write < 2; write++) {
			struct world w;

			world_init(&w);
			if (write)
				world_write(&w, paths[i]);
			else
				world_read(&w, paths[i]);
			world_refused(&w, "it is your home or holds it");
			arena_fini(&w.arena);
		}
	(void)state;
}

static void places_of_the_box_are_never_granted(void **state)
{
	static const char *const paths[] = {
		"/etc",
		"/var",
		"/tmp",
		"/run",
		"/run/user/1000",
		"/run/docker.sock",
		"/proc",
		"/proc/sys",
		"/sys",
		"/sys/fs/cgroup",
		"/dev",
		"/dev/kvm",
		"/var/run/docker.sock",
		"/run/user/1000/bus",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(paths); i++)
		for (int write = 0; write < 2; write++) {
			struct world w;

			world_init(&w);
			if (write)
				world_write(&w, paths[i]);
			else
				world_read(&w, paths[i]);
			world_refused(&w, paths[i]);
			arena_fini(&w.arena);
		}
}

static void programs_of_the_system_are_never_written(void **state)
{
	struct world *w = *state;

	world_write(w, "/usr");
	world_refused(w, "a place of the system");
}

static void sockets_and_devices_are_never_granted(void **state)
{
	struct world *w = *state;

	world_read(w, "/srv/agent.sock");
	w->host.named.items[0].is_dir = false;
	world_refused(w, "no file and no folder");
}

static void bawns_own_folders_are_never_granted(void **state)
{
	static const char *const paths[] = {
		WORLD_HOME "/.local/state/bawn",
		WORLD_HOME "/.local/state",
		WORLD_HOME "/.local",
		WORLD_STORE,
		WORLD_HOME "/.config/bawn",
		WORLD_HOME "/.config",
		WORLD_HOME "/.config/bawn/config.yaml",
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(paths); i++)
		for (int write = 0; write < 2; write++) {
			struct world w;

			world_init(&w);
			if (write)
				world_write(&w, paths[i]);
			else
				world_read(&w, paths[i]);
			world_refused(&w, "bawn");
			arena_fini(&w.arena);
		}
}

static void the_users_configuration_is_never_written_wherever_it_lies(void **state)
{
	struct world *w = *state;
	struct host_object *o;

	/* ~/.config/bawn/config.yaml is a link into the project. */
	o = world_add(w, &w->host.guarded, WORLD_WORKSPACE "/bawn.yaml");
	o->is_dir = false;
	world_refused(w, "bawn's own");
	w->policy.workspace_access = PLAN_ACCESS_READ;
	world_build(w);
}

static void private_places_are_never_written(void **state)
{
	static const char *const paths[] = {WORLD_HOME "/.ssh",           WORLD_HOME "/.ssh/keys",
					    WORLD_HOME "/dotted",         WORLD_HOME "/dotted/aws",
					    WORLD_HOME "/dotted/aws/sub", WORLD_HOME "/.aws",
					    WORLD_HOME "/.aws/sub"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(paths); i++) {
		struct world w;

		world_init(&w);
		(void)world_add(&w, &w.host.private_places, WORLD_HOME "/.ssh");
		world_add(&w, &w.host.private_places, WORLD_HOME "/dotted/aws")->name =
			WORLD_HOME "/.aws";
		world_write(&w, paths[i]);
		world_refused(&w, "is a private place");
		arena_fini(&w.arena);
	}
}

static void a_private_place_that_is_named_is_read_with_a_warning(void **state)
{
	struct world *w = *state;

	(void)world_add(w, &w->host.private_places, WORLD_HOME "/.ssh");
	(void)world_add(w, &w->host.private_places, WORLD_HOME "/.aws");
	world_read(w, WORLD_HOME "/.ssh");
	world_build(w);
	expect_access(w, WORLD_HOME "/.ssh", WORLD_HOME "/.ssh", PLAN_ACCESS_READ);
	assert_non_null(world_note(w, PLAN_NOTE_WARNING, WORLD_HOME "/.ssh"));
	assert_non_null(world_note(w, PLAN_NOTE_WARNING, "config.yaml:1"));
	assert_null(world_note(w, PLAN_NOTE_HIDDEN, WORLD_HOME "/.ssh"));
	assert_non_null(world_note(w, PLAN_NOTE_HIDDEN, WORLD_HOME "/.aws"));
}

static void a_private_place_has_both_its_names(void **state)
{
	static const char *const paths[] = {WORLD_HOME "/dotted/aws", WORLD_HOME "/dotted/aws/sub",
					    WORLD_HOME "/.aws", WORLD_HOME "/.aws/sub"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(paths); i++) {
		struct world w;

		world_init(&w);
		world_add(&w, &w.host.private_places, WORLD_HOME "/dotted/aws")->name =
			WORLD_HOME "/.aws";
		world_read(&w, paths[i]);
		world_build(&w);
		assert_non_null(world_note(&w, PLAN_NOTE_WARNING, paths[i]));
		arena_fini(&w.arena);
	}
}

static void a_named_folder_does_not_show_the_private_places_in_it(void **state)
{
	struct world *w = *state;

	(void)world_add(w, &w->host.private_places, WORLD_HOME "/.m2/settings.xml");
	world_read(w, WORLD_HOME "/.m2");
	world_build(w);
	expect_access(w, WORLD_HOME "/.m2/repository", WORLD_HOME "/.m2/repository",
		      PLAN_ACCESS_READ);
	assert_int_equal(world_mount(w, WORLD_HOME "/.m2/settings.xml").kind, PLAN_MOUNT_HIDE);
	assert_non_null(world_note(w, PLAN_NOTE_HIDDEN, "settings.xml"));
}

static void a_private_place_that_is_named_shows_in_a_named_folder(void **state)
{
	struct world *w = *state;

	(void)world_add(w, &w->host.private_places, WORLD_HOME "/.m2/settings.xml");
	(void)world_add(w, &w->host.private_places, WORLD_HOME "/.m2/settings-security.xml");
	world_read(w, WORLD_HOME "/.m2");
	world_read(w, WORLD_HOME "/.m2/settings.xml");
	world_build(w);
	expect_access(w, WORLD_HOME "/.m2/settings.xml", WORLD_HOME "/.m2/settings.xml",
		      PLAN_ACCESS_READ);
	assert_false(is_shown(w, WORLD_HOME "/.m2/settings-security.xml"));
}

static void a_link_in_the_workspace_never_adds_a_mount(void **state)
{
	struct world *w = *state;

	world_read(w, WORLD_WORKSPACE "/data");
	w->host.named.items[0].path = WORLD_HOME "/Documents";
	world_refused(w, "where a session may have made it, leads to " WORLD_HOME "/Documents");
}

static void a_link_elsewhere_is_said(void **state)
{
	struct world *w = *state;

	world_read(w, "/disk/data");
	w->host.named.items[0].name = WORLD_HOME "/data";
	world_build(w);
	assert_non_null(world_note(w, PLAN_NOTE_WARNING, WORLD_HOME "/data"));
	expect_access(w, WORLD_HOME "/data/x", "/disk/data/x", PLAN_ACCESS_READ);
	expect_access(w, "/disk/data/x", "/disk/data/x", PLAN_ACCESS_READ);
}

static void nothing_is_mounted_on_a_link_that_is_in_sight(void **state)
{
	static const char *const names[] = {WORLD_WORKSPACE "/in", WORLD_HOME "/.nvm/link",
					    "/usr/local/link",     "/proc/self/cwd",
					    "/bin/link",           "/etc"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		struct world w;

		world_init(&w);
		(void)world_add(&w, &w.host.tools, WORLD_HOME "/.nvm");
		world_read(&w, i == 0 ? WORLD_WORKSPACE "/out" : "/disk/data");
		w.host.named.items[0].name = names[i];
		world_build(&w);
		if (world_at(&w, names[i]))
			fail_msg("%s is a mount point", names[i]);
		arena_fini(&w.arena);
	}
}

static void a_hide_wins_over_everything(void **state)
{
	struct world *w = *state;

	(void)world_add(w, &w->host.tools, WORLD_HOME "/.nvm");
	(void)world_add(w, &w->host.search, WORLD_HOME "/.nvm/bin");
	world_write(w, WORLD_HOME "/data");
	world_write(w, WORLD_HOME "/data/deep/er");
	world_hide(w, WORLD_WORKSPACE "/.env");
	world_hide(w, WORLD_HOME "/.nvm");
	world_hide(w, WORLD_HOME "/data/deep");
	world_hide(w, "/opt/secret");
	world_hide(w, WORLD_HOME "/unseen");
	world_build(w);
	assert_int_equal(world_mount(w, WORLD_WORKSPACE "/.env").kind, PLAN_MOUNT_HIDE);
	assert_int_equal(world_mount(w, WORLD_HOME "/data/deep").kind, PLAN_MOUNT_HIDE);
	assert_int_equal(world_mount(w, "/opt/secret").kind, PLAN_MOUNT_HIDE);
	assert_false(is_shown(w, WORLD_HOME "/data/deep/er"));
	assert_false(is_shown(w, WORLD_HOME "/.nvm"));
	/* What is not shown needs no cover, and PATH does not name it. */
	assert_null(world_at(w, WORLD_HOME "/.nvm"));
	assert_null(world_at(w, WORLD_HOME "/unseen"));
	assert_null(strstr(world_value(w, "PATH"), ".nvm"));
	expect_access(w, WORLD_HOME "/data/x", WORLD_HOME "/data/x", PLAN_ACCESS_WRITE);
}

static void a_hide_covers_every_name_of_a_thing(void **state)
{
	struct world *w = *state;

	world_read(w, "/disk/tree");
	w->host.named.items[0].name = WORLD_HOME "/tree";
	world_hide(w, "/disk/tree/key");
	world_build(w);
	assert_int_equal(world_mount(w, "/disk/tree/key").kind, PLAN_MOUNT_HIDE);
	assert_int_equal(world_mount(w, WORLD_HOME "/tree/key").kind, PLAN_MOUNT_HIDE);
}

static void hiding_what_is_not_there_is_a_warning(void **state)
{
	struct world *w = *state;

	world_hide(w, WORLD_WORKSPACE "/.env");
	w->host.named.items[0].path = NULL;
	world_build(w);
	assert_non_null(world_note(w, PLAN_NOTE_WARNING, ".env"));
}

static void what_the_box_needs_cannot_be_hidden(void **state)
{
	static const char *const paths[] = {"/usr",          "/etc",          WORLD_HOME,
					    WORLD_WORKSPACE, "/home/jo/code", "/proc"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(paths); i++) {
		struct world w;

		world_init(&w);
		world_hide(&w, paths[i]);
		world_refused(&w, "the box needs what lies there");
		arena_fini(&w.arena);
	}
}

static void a_hidden_folder_is_not_where_it_starts(void **state)
{
	struct world *w = *state;

	w->host.cwd = WORLD_WORKSPACE "/sub/dir";
	world_hide(w, WORLD_WORKSPACE "/sub");
	world_build(w);
	assert_string_equal(w->plan.cwd, WORLD_WORKSPACE);
}

static void var_tmp_has_room_for_a_workspace(void **state)
{
	struct world *w = *state;

	w->host.workspace.path = w->host.workspace.name = w->host.cwd = "/var/tmp/project";
	world_build(w);
	assert_int_equal(world_mount(w, "/var/tmp").kind, PLAN_MOUNT_TMPFS);
	expect_access(w, "/var/tmp/project", "/var/tmp/project", PLAN_ACCESS_WRITE);
}

static void links_to_the_home_are_made_again(void **state)
{
	struct world *w = *state;
	struct host_object *o = world_add(w, &w->host.links, "/users");

	o->link = "home";
	w->host.home_name = "/users/jo";
	world_env(w, "NVM_DIR=/users/jo/.nvm");
	(void)world_add(w, &w->host.tools, WORLD_HOME "/.nvm");
	world_build(w);
	assert_int_equal(world_mount(w, "/users").kind, PLAN_MOUNT_LINK);
	assert_string_equal(world_value(w, "NVM_DIR"), "/users/jo/.nvm");
	/* But not where something is to be mounted, or in what came from the host. */
	o = world_add(w, &w->host.links, "/usr/x");
	o->link = "y";
	world_read(w, "/users/other");
	world_build(w);
	assert_null(world_at(w, "/usr/x"));
	assert_null(world_at(w, "/users"));
}

static void a_tool_folder_in_place_of_the_frame_is_left_out(void **state)
{
	struct world *w = *state;

	(void)world_add(w, &w->host.tools, "/run/user/1000");
	(void)world_add(w, &w->host.tools, "/run/user/1000/bin");
	world_build(w);
	assert_int_equal(world_mount(w, "/run/user/1000").kind, PLAN_MOUNT_TMPFS);
	expect_access(w, "/run/user/1000/bin", "/run/user/1000/bin", PLAN_ACCESS_READ);
}

static void what_is_on_path_and_can_be_written_is_a_warning(void **state)
{
	struct world *w = *state;

	(void)world_add(w, &w->host.search, WORLD_WORKSPACE "/bin");
	world_build(w);
	assert_non_null(world_note(w, PLAN_NOTE_WARNING, WORLD_WORKSPACE "/bin"));
	assert_null(world_note(w, PLAN_NOTE_WARNING, "/usr/bin"));
}

static void limits_layers_and_notes_are_carried_over(void **state)
{
	struct world *w = *state;
	struct plan_without without = {PLAN_LAYER_LANDLOCK, "--without"};
	struct plan_note note = {PLAN_NOTE_NOT_GIVEN,
				 "files.write ~/x",
				 "a repository may only narrow",
				 ".bawn.yaml:4",
				 false,
				 false};

	w->policy.limits[PLAN_LIMIT_PROCESSES] = (struct policy_number){true, 64, "--limit"};
	w->policy.without.items = &without;
	w->policy.without.count = 1;
	w->policy.notes.items = &note;
	w->policy.notes.count = 1;
	w->policy.debug = true;
	world_add(w, &w->host.left_out, WORLD_HOME "/.docker/bin")->why = "it is a private place";
	world_build(w);
	assert_int_equal(w->plan.limits.count, 1);
	assert_int_equal(w->plan.limits.items[0].value, 64);
	assert_true(plan_goes_without(&w->plan, PLAN_LAYER_LANDLOCK));
	assert_true(w->plan.debug);
	assert_non_null(world_note(w, PLAN_NOTE_NOT_GIVEN, "files.write"));
	assert_non_null(world_note(w, PLAN_NOTE_NOT_GIVEN, ".docker/bin"));
}

/* Nothing is in the plan that is not kept. */
static void a_limit_that_cannot_be_kept_stops_the_start_or_is_said(void **state)
{
	struct world *w = *state;

	w->policy.limits[PLAN_LIMIT_BOX_MEMORY] = (struct policy_number){true, 1 << 30, "--limit"};
	w->policy.limits[PLAN_LIMIT_BOX_CPU] = (struct policy_number){true, 50, "--limit"};
	w->host.limit_missing[PLAN_LIMIT_BOX_MEMORY] = "of a reason";
	world_refused(w, "the limit memory (--limit) cannot be kept: of a reason");
	w->policy.limits_said = true;
	world_build(w);
	assert_int_equal(w->plan.limits.count, 1);
	assert_int_equal(w->plan.limits.items[0].kind, PLAN_LIMIT_BOX_CPU);
	const struct plan_note *note = world_note(w, PLAN_NOTE_NOT_GIVEN, "the limit memory");

	assert_true(note && note->said);
}

static void without_a_command_it_is_the_users_shell(void **state)
{
	struct world *w = *state;

	assert_int_equal(
		plan_build(&w->policy, &w->host, NULL, &w->store, &w->arena, &w->plan, &w->e), 0);
	assert_int_equal(w->plan.argv.count, 1);
	assert_string_equal(w->plan.argv.items[0].text, "/bin/bash");
	/* One that is not there inside is replaced. */
	w->host.shell = WORLD_HOME "/bin/fish";
	assert_int_equal(
		plan_build(&w->policy, &w->host, NULL, &w->store, &w->arena, &w->plan, &w->e), 0);
	assert_string_equal(w->plan.argv.items[0].text, "/bin/sh");
	assert_string_equal(world_value(w, "SHELL"), "/bin/sh");
	(void)world_add(w, &w->host.tools, WORLD_HOME "/bin");
	world_build(w);
	assert_string_equal(world_value(w, "SHELL"), WORLD_HOME "/bin/fish");
	assert_non_null(strstr(file(w, "/etc/passwd"), "/bin/fish"));
}

static void the_host_backend_has_no_mounts_and_hides_nothing(void **state)
{
	struct world *w = *state;

	w->policy.backend = PLAN_BACKEND_HOST;
	(void)world_add(w, &w->host.private_places, WORLD_HOME "/.ssh");
	world_env(w, "GITHUB_TOKEN=ghp_0123456789");
	world_env(w, "PATH=/weird");
	world_build(w);
	assert_int_equal(w->plan.mounts.count, 0);
	assert_null(world_note(w, PLAN_NOTE_HIDDEN, ".ssh"));
	assert_string_equal(world_value(w, "GITHUB_TOKEN"), "ghp_0123456789");
	assert_string_equal(world_value(w, "PATH"), "/weird");
	assert_string_equal(w->plan.home_store, "");
}

static void a_full_arena_is_an_error_and_no_plan(void **state)
{
	struct world *w = *state;

	for (size_t max = 0; max < 24000; max += 512) {
		struct arena small = ARENA_INIT(max);
		struct plan plan = {.user = "untouched"};
		int r = plan_build(&w->policy, &w->host, NULL, &w->store, &small, &plan, &w->e);

		if (r < 0)
			assert_string_equal(plan.user, "untouched");
		else
			assert_string_equal(plan.user, "jo");
		arena_fini(&small);
	}
}

/* Small numbers that are the same in every run. */
static uint32_t dice(uint32_t *seed, uint32_t sides)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % sides;
}

static const char *random_path(struct world *w, uint32_t *seed)
{
	static const char *const starts[] = {"/home/jo", "/home/jo/code",  "/srv",
					     "/opt",     "/usr",           "/var/tmp",
					     "/tmp",     "/home/jo/.local"};
	static const char *const names[] = {"a", "b", "c", "project", ".x"};
	const char *path = starts[dice(seed, BAWN_ARRAY_SIZE(starts))];
	uint32_t depth = 1 + dice(seed, 3);

	while (depth-- > 0)
		path = arena_printf(&w->arena, "%s/%s", path,
				    names[dice(seed, BAWN_ARRAY_SIZE(names))]);
	assert_non_null(path);
	return path;
}

/* Of any mixture of grants, tools and hides: order, access and privacy hold. */
static void any_mixture_keeps_the_promises(void **state)
{
	uint32_t seed = 20261115;
	size_t plans = 0;

	(void)state;
	for (int round = 0; round < 4000; round++) {
		struct world w;
		uint32_t n = dice(&seed, 6);

		world_init(&w);
		if (dice(&seed, 4) == 0)
			w.policy.workspace_access = PLAN_ACCESS_READ;
		(void)world_add(&w, &w.host.private_places, WORLD_HOME "/code/a/b");
		for (uint32_t i = 0; i < n; i++) {
			const char *path = random_path(&w, &seed);

			switch (dice(&seed, 4)) {
			case 0:
				(void)world_add(&w, &w.host.tools, path);
				break;
			case 1:
				world_read(&w, path);
				break;
			case 2:
				world_write(&w, path);
				break;
			default:
				world_hide(&w, path);
				break;
			}
		}
		world_try(&w);
		if (w.r == 0) {
			plans++;
			world_check(&w);
			expect_access(&w, WORLD_WORKSPACE, WORLD_WORKSPACE,
				      (enum plan_access)w.plan.workspace_access);
			for (size_t i = 0; i < w.policy.hide.count; i++)
				if (is_shown(&w, w.policy.hide.items[i].path))
					fail_msg("%s is shown", w.policy.hide.items[i].path);
			for (size_t i = 0; i < w.policy.write.count; i++) {
				const char *path = w.policy.write.items[i].path;
				const struct plan_mount *m = world_over(&w, path);
				bool hidden = false;

				for (size_t k = 0; k < w.policy.hide.count; k++)
					hidden =
						hidden ||
						str_path_beneath(path, w.policy.hide.items[k].path);
				if (hidden)
					continue;
				if (!m || (m->access != PLAN_ACCESS_WRITE &&
					   !str_equal(m->role, "workspace")))
					fail_msg("%s cannot be written", path);
			}
			const struct plan_mount *m = world_over(&w, WORLD_HOME "/code/a/b");
			assert_true(!m || m->access != PLAN_ACCESS_WRITE ||
				    str_equal(m->role, "home"));
			assert_false(is_shown(&w, WORLD_STORE));
		}
		arena_fini(&w.arena);
	}
	/* The dice are not so loaded that nothing was tried. */
	assert_true(plans > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(the_frame_is_there),
		PROMISE(etc_says_nothing_about_the_machine),
		PROMISE(root_is_named_once_in_passwd),
		PROMISE(machine_id_belongs_to_the_workspace),
		PROMISE(a_file_of_etc_that_the_user_names_is_the_hosts),
		PROMISE(tools_are_read_only_at_their_own_place),
		PROMISE(a_workspace_in_a_read_folder_is_written_on_top),
		PROMISE(a_grant_takes_nothing_away),
		PROMISE(a_read_only_workspace_stays_so_in_a_written_folder),
		PROMISE(writing_a_read_only_workspace_is_not_given_and_said),
		PROMISE(a_workspace_of_someone_else_is_only_read),
		PROMISE(what_is_missing_is_an_error_that_names_its_line),
		cmocka_unit_test(home_and_what_holds_it_are_never_granted),
		cmocka_unit_test(places_of_the_box_are_never_granted),
		PROMISE(programs_of_the_system_are_never_written),
		PROMISE(sockets_and_devices_are_never_granted),
		cmocka_unit_test(bawns_own_folders_are_never_granted),
		PROMISE(the_users_configuration_is_never_written_wherever_it_lies),
		cmocka_unit_test(private_places_are_never_written),
		PROMISE(a_private_place_that_is_named_is_read_with_a_warning),
		cmocka_unit_test(a_private_place_has_both_its_names),
		PROMISE(a_named_folder_does_not_show_the_private_places_in_it),
		PROMISE(a_private_place_that_is_named_shows_in_a_named_folder),
		PROMISE(a_link_in_the_workspace_never_adds_a_mount),
		PROMISE(a_link_elsewhere_is_said),
		cmocka_unit_test(nothing_is_mounted_on_a_link_that_is_in_sight),
		PROMISE(a_hide_wins_over_everything),
		PROMISE(a_hide_covers_every_name_of_a_thing),
		PROMISE(hiding_what_is_not_there_is_a_warning),
		cmocka_unit_test(what_the_box_needs_cannot_be_hidden),
		PROMISE(a_hidden_folder_is_not_where_it_starts),
		PROMISE(var_tmp_has_room_for_a_workspace),
		PROMISE(links_to_the_home_are_made_again),
		PROMISE(a_tool_folder_in_place_of_the_frame_is_left_out),
		PROMISE(what_is_on_path_and_can_be_written_is_a_warning),
		PROMISE(limits_layers_and_notes_are_carried_over),
		PROMISE(a_limit_that_cannot_be_kept_stops_the_start_or_is_said),
		PROMISE(without_a_command_it_is_the_users_shell),
		PROMISE(the_host_backend_has_no_mounts_and_hides_nothing),
		PROMISE(a_full_arena_is_an_error_and_no_plan),
		cmocka_unit_test(any_mixture_keeps_the_promises),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
