/* SPDX-License-Identifier: Apache-2.0 */
/* What the build_*.c files share with each other and with nobody else. */
#ifndef BAWN_BUILD_PARTS_H
#define BAWN_BUILD_PARTS_H

#include "build.h"

struct build {
	const struct policy *policy;
	const struct host *host;
	const struct host_object *home_store;
	struct arena *arena;
	struct error *e;
	struct plan plan;
	const char
		*trust_bundle;  /* inside: the authorities to trust; NULL where nothing is opened */
	const char *git_config; /* inside: git's settings of the box's own; NULL: none */
	const char *git_passwords; /* the part of them that build_git_password made; NULL: none */
	bool no_memory;            /* sticks; what is added after it goes to `spare` */
	union {
		struct plan_mount mount;
		struct plan_env env;
		struct plan_note note;
		struct plan_limit limit;
		struct plan_string string;
		struct plan_secret secret;
		struct plan_secret_part part;
		struct plan_ssh_key ssh_key;
	} spare;
};

/* A new, zeroed item at the end of a list; never NULL. */
void *build_grow(struct build *b, void **items, size_t *count, size_t size);

#define BUILD_LIST(list) (void **)(void *)&(list).items, &(list).count, sizeof(*(list).items)

static inline struct plan_mount *build_add_mount(struct build *b)
{
	return build_grow(b, BUILD_LIST(b->plan.mounts));
}

static inline struct plan_env *build_add_env(struct build *b)
{
	return build_grow(b, BUILD_LIST(b->plan.env));
}

/* A string of the arena; "" when memory is gone. */
const char *build_printf(struct build *b, const char *fmt, ...) BAWN_PRINTF(2, 3);

void build_note(struct build *b, enum plan_note_kind kind, const char *what, const char *why,
		const char *origin);

/* The innermost mount at or above path, as the box will have it; NULL when there is none. */
const struct plan_mount *build_mount_over(const struct build *b, const char *path);

/* Whether the box sees at path what the host has there. */
bool build_shows(const struct build *b, const char *path);

/* A shell that the box has. */
const char *build_shell(const struct build *b);

/* build_mounts makes the frame and /etc and calls the two after it. */
int build_mounts(struct build *b);
int build_named(struct build *b); /* tools, named paths, workspace */
int build_hides(struct build *b);
void build_secrets(struct build *b); /* before build_env: placeholders win over what is passed */
void build_env(struct build *b);

/* The secret of the policy that has this variable, inside or as its source; NULL for none. */
const char *build_secret_of(const struct build *b, const char *variable);
/* Sets a variable, unless it is set already or env.drop names it. */
void build_env_put(struct build *b, const char *name, const char *value, const char *origin);

int build_trust(struct build *b);      /* mounts, when rules and secrets are known */
void build_trust_env(struct build *b); /* variables, before all others */
void build_ssh(struct build *b);       /* after build_env and the rules */

/* Makes git's settings for the box: who the user is, and placeholders as passwords; after
 * build_secrets.  build_git_env: its variables. */
void build_git(struct build *b);
void build_git_env(struct build *b);

/* Has git use the secret's placeholder at its hosts; returns the file inside, or NULL. */
const char *build_git_password(struct build *b, const struct plan_secret *s);

/* A made-up file, unless the user named the host's own there. */
void build_file(struct build *b, const char *target, const char *content);

#endif
