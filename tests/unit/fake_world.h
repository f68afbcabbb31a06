/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy and a host out of thin air, for tests of plan_build, which is pure:
 * what is "there" is what a test adds here.
 */
#ifndef BAWN_TEST_FAKE_WORLD_H
#define BAWN_TEST_FAKE_WORLD_H

#include "cmocka_lead.h"

#include "build.h"
#include "str.h"

#define WORLD_HOME "/home/jo"
#define WORLD_WORKSPACE "/home/jo/code/project"
#define WORLD_STORE "/home/jo/.local/state/bawn/homes/project-1234/home"

struct world {
	struct arena arena;
	struct host host;
	struct policy policy;
	struct host_object store;
	struct plan plan;
	struct error e;
	uint64_t next_ino;
	char *environ[128];
	size_t environ_count;
	int r;
};

static inline struct host_object *world_add(struct world *w, struct host_list *list,
					    const char *path)
{
	struct host_object o = {.name = path,
				.path = path,
				.dev = 1,
				.ino = w->next_ino++,
				.is_dir = true,
				.origin = "test"};
	struct host_object *items =
		arena_alloc(&w->arena, (list->count + 1) * sizeof(struct host_object));

	assert_non_null(items);
	if (list->count)
		memcpy(items, list->items, list->count * sizeof(*items));
	items[list->count] = o;
	list->items = items;
	return &items[list->count++];
}

/* A path of the policy, which exists outside unless missing. */
#define WORLD_GRANT(w, list, text, from)                                                         \
	do {                                                                                     \
		struct policy_path *grown = arena_alloc(                                         \
			&(w)->arena, ((w)->policy.list.count + 1) * sizeof(struct policy_path)); \
		assert_non_null(grown);                                                          \
		if ((w)->policy.list.count)                                                      \
			memcpy(grown, (w)->policy.list.items,                                    \
			       (w)->policy.list.count * sizeof(struct policy_path));             \
		grown[(w)->policy.list.count++] = (struct policy_path){(text), (from), false};   \
		(w)->policy.list.items = grown;                                                  \
	} while (0)

static inline struct host_object *world_named(struct world *w, const char *path)
{
	struct host_object *o = world_add(w, &w->host.named, path);

	o->origin = path;
	return o;
}

static inline void world_read(struct world *w, const char *path)
{
	(void)world_named(w, path);
	WORLD_GRANT(w, read, path, "config.yaml:1");
}

static inline void world_write(struct world *w, const char *path)
{
	(void)world_named(w, path);
	WORLD_GRANT(w, write, path, "config.yaml:2");
}

static inline void world_hide(struct world *w, const char *path)
{
	(void)world_named(w, path);
	WORLD_GRANT(w, hide, path, "config.yaml:3");
}

static inline void world_init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->arena = ARENA_INIT(16 << 20);
	w->next_ino = 100;
	w->host = (struct host){.uid = 1000,
				.gid = 1000,
				.user = "jo",
				.home = WORLD_HOME,
				.home_name = WORLD_HOME,
				.shell = "/bin/bash",
				.config_dir = WORLD_HOME "/.config/bawn",
				.state_dir = WORLD_HOME "/.local/state/bawn",
				.cwd = WORLD_WORKSPACE,
				.workspace_owner = 1000,
				.workspace_writable = true};
	w->host.workspace = (struct host_object){.name = WORLD_WORKSPACE,
						 .path = WORLD_WORKSPACE,
						 .dev = 1,
						 .ino = 7,
						 .is_dir = true,
						 .origin = "current folder"};
	(void)world_add(w, &w->host.homes, WORLD_HOME);
	(void)world_add(w, &w->host.programs, "/usr");
	world_add(w, &w->host.programs, "/bin")->link = "usr/bin";
	(void)world_add(w, &w->host.programs, "/opt");
	(void)world_add(w, &w->host.etc, "/etc/ssl/certs");
	world_add(w, &w->host.etc, "/etc/localtime")->link = "/usr/share/zoneinfo/UTC";
	(void)world_add(w, &w->host.guarded, w->host.state_dir);
	(void)world_add(w, &w->host.guarded, w->host.config_dir);
	(void)world_add(w, &w->host.search, "/usr/bin");
	(void)world_add(w, &w->host.search, "/bin");
	w->policy = (struct policy){.backend = PLAN_BACKEND_NAMESPACE,
				    .backend_origin = "default",
				    .preset = "",
				    .workspace_access = PLAN_ACCESS_WRITE,
				    .workspace_origin = "default",
				    .tools = true,
				    .tools_origin = "default",
				    .debug_origin = "default"};
	w->policy.tmp_size = (struct policy_number){true, 1 << 30, "default"};
	w->store = (struct host_object){
		.name = WORLD_STORE, .path = WORLD_STORE, .dev = 1, .ino = 9, .is_dir = true};
	w->host.environ = w->environ;
}

static inline void world_env(struct world *w, const char *entry)
{
	assert_true(w->environ_count + 1 < BAWN_ARRAY_SIZE(w->environ));
	w->environ[w->environ_count] = arena_str(&w->arena, entry);
	assert_non_null(w->environ[w->environ_count++]);
}

static inline const struct plan_mount *world_over(const struct world *w, const char *path)
{
	const struct plan_mount *over = NULL;

	for (size_t i = 0; i < w->plan.mounts.count; i++) {
		const struct plan_mount *m = &w->plan.mounts.items[i];

		if (str_path_beneath(path, m->target) &&
		    (!over || strlen(m->target) >= strlen(over->target) ||
		     m->kind == PLAN_MOUNT_HIDE))
			over = m;
	}
	return over;
}

static inline const struct plan_mount *world_at(const struct world *w, const char *target)
{
	const struct plan_mount *m = world_over(w, target);

	return m && str_equal(m->target, target) ? m : NULL;
}

/* The mount at a place, which must be there. */
static inline struct plan_mount world_mount(const struct world *w, const char *target)
{
	const struct plan_mount *m = world_at(w, target);

	if (!m)
		fail_msg("nothing is mounted at %s", target);
	return m ? *m : (struct plan_mount){.target = ""};
}

/* What must hold of every plan. */
static inline void world_check(struct world *w)
{
	for (size_t i = 0; i < w->plan.mounts.count; i++) {
		const struct plan_mount *m = &w->plan.mounts.items[i];

		if (!str_path_is_normal(m->target))
			fail_msg("%s is not a normal path", m->target);
		for (size_t n = i + 1; n < w->plan.mounts.count; n++)
			if (w->plan.mounts.items[n].kind != PLAN_MOUNT_HIDE &&
			    str_path_beneath(m->target, w->plan.mounts.items[n].target))
				fail_msg("%s is covered by %s, which comes later", m->target,
					 w->plan.mounts.items[n].target);
		/* Nothing can be made beneath a link, nor in what came from the host. */
		for (size_t n = 0; n < i; n++)
			if (w->plan.mounts.items[n].kind == PLAN_MOUNT_LINK &&
			    str_path_beneath(m->target, w->plan.mounts.items[n].target))
				fail_msg("%s lies beneath the link %s", m->target,
					 w->plan.mounts.items[n].target);
	}
	_cleanup_buf_ struct buf bytes = BUF_INIT(PLAN_BYTES_MAX);
	const struct plan *again = NULL;

	assert_int_equal(plan_encode(&w->plan, &bytes), 0);
	if (plan_decode(buf_span(&bytes), &again, &w->arena, &w->e) < 0)
		fail_msg("the launcher would not take it: %s", w->e.text);
}

static inline void world_try(struct world *w)
{
	w->e = ERROR_INIT;
	w->r = plan_build(&w->policy, &w->host, (const char *const[]){"true", NULL}, &w->store,
			  &w->arena, &w->plan, &w->e);
}

static inline void world_build(struct world *w)
{
	world_try(w);
	if (w->r < 0)
		fail_msg("no plan: %s", w->e.text);
	world_check(w);
}

static inline void world_refused(struct world *w, const char *sentence)
{
	world_try(w);
	if (w->r >= 0)
		fail_msg("there is a plan, and there should be none: %s", sentence);
	if (!strstr(w->e.text, sentence))
		fail_msg("\"%s\" does not say \"%s\"", w->e.text, sentence);
}

static inline const struct plan_note *world_note(const struct world *w, enum plan_note_kind kind,
						 const char *what)
{
	for (size_t i = 0; i < w->plan.notes.count; i++)
		if (w->plan.notes.items[i].kind == kind &&
		    (strstr(w->plan.notes.items[i].what, what) ||
		     str_equal(w->plan.notes.items[i].origin, what)))
			return &w->plan.notes.items[i];
	return NULL;
}

static inline const char *world_value(const struct world *w, const char *name)
{
	for (size_t i = 0; i < w->plan.env.count; i++)
		if (str_equal(w->plan.env.items[i].name, name))
			return w->plan.env.items[i].value;
	return NULL;
}

static inline int world_setup(void **state)
{
	struct world *w = malloc(sizeof(*w));

	if (!w)
		return -1;
	world_init(w);
	*state = w;
	return 0;
}

static inline int world_teardown(void **state)
{
	struct world *w = *state;

	arena_fini(&w->arena);
	free(w);
	return 0;
}

#define PROMISE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

#endif
