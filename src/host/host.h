/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine and this user have, found and not guessed: the facts that a plan is built
 * from.  Gathered once, at the start, outside the box, with a few dozen system calls and no walk
 * over directories: it is part of every start.
 *
 * Nothing that the agent can write adds a fact.  A folder becomes a tool because the user's own
 * PATH, variables or home name it, never because a link inside a project leads to it.
 */
#ifndef BAWN_HOST_H
#define BAWN_HOST_H

#include "arena.h"
#include "base.h"
#include "error.h"
#include "span.h"
#include "plan.h"

struct plan_ssh_key;
struct mountinfo;

/* The user's settings of git that reach the box: name and e-mail, and nothing else. */
enum host_git_key {
	HOST_GIT_NAME, /* user.name */
	HOST_GIT_EMAIL,
	HOST_GIT_AUTHOR_NAME,
	HOST_GIT_AUTHOR_EMAIL,
	HOST_GIT_COMMITTER_NAME,
	HOST_GIT_COMMITTER_EMAIL,
	HOST_GIT_KEY_COUNT,
};

/* git's names for them; variable: git's own, which wins; NULL: there is none. */
extern const struct host_git_name {
	const char *section, *key, *name, *variable;
} host_git_keys[HOST_GIT_KEY_COUNT];

struct host_git {
	struct host_git_value {
		const char *text, *origin; /* NULL: it is not set; origin: a file, or EMAIL */
	} values[HOST_GIT_KEY_COUNT];
	const char *bad, *why; /* a settings file that cannot be read, and why; NULL: none */
};

/* An existing thing outside, by name and by identity. */
struct host_object {
	const char *name; /* absolute, normal: where programs look for it */
	const char *path; /* the same with links resolved: what we mount there */
	uint64_t dev, ino;
	bool is_dir, is_file; /* neither: a socket, a device, a pipe */
	const char *link;     /* when the name itself is a symbolic link: its text; else NULL */
	const char *origin;   /* why we looked: "PATH", "NVM_DIR", "~/.cargo" */
	const char *why;      /* in left_out: why it is not shown */
};

struct host_list {
	struct host_object *items;
	size_t count;
};

struct host {
	uint64_t uid, gid;
	const char *user;
	const char *home;        /* absolute, normal, resolved */
	struct host_list homes;  /* that one, those that the system lists for this user and for the
				  * user behind sudo, and further names of each */
	const char *home_name;   /* as $HOME has it; differs when a link leads to home */
	const char *shell;       /* of the user; "/bin/sh" when it is not there */
	const char *config_dir;  /* $XDG_CONFIG_HOME/bawn */
	const char *state_dir;   /* $XDG_STATE_HOME/bawn */
	const char *runtime_dir; /* $XDG_RUNTIME_DIR/bawn, if that is the user's; or NULL */
	struct host_object workspace;
	uint64_t workspace_owner;
	bool workspace_writable; /* the user owns it and may write it */
	const char
		*wider;  /* the repository around the current folder, where it is the user's to say
			    * that it is the workspace (folder_notes.h); or NULL */
	bool wider_said; /* he said no */
	const char *git_dir; /* its git repository, where that lies outside of it; or NULL */
	const char *git_top; /* the folder of that one's files, where it is around; or NULL */
	struct host_object
		git_shared;  /* of a linked worktree: the .git of the user's repository that it
					* is of, name: that worktree's there; path NULL: it is none */
	struct host_git git; /* what git would say of the user, by git_identity_read */
	const char *cwd;     /* the current directory when it lies in the workspace, or that */
	char *const *environ;
	struct host_list programs; /* top-level directories and links: /usr /bin /lib ... */
	struct host_list etc;      /* the small part of /etc that the box sees */
	struct host_list tools;    /* folders of the user's own tools; outermost only */
	struct host_list search;   /* what PATH names and exists, in its order */
	struct host_list links;    /* links on the way to home and workspace: /home -> var/home */
	struct host_list left_out; /* they looked like tools, and are not shown: `why` */
	struct host_list
		private_places; /* those of ~/.ssh and the like that exist: hidden, and listed */
	struct host_list named; /* what the policy names, set by host_name; origin: as written */
	const char *
		limit_missing[PLAN_LIMIT_COUNT]; /* why this machine cannot keep it; NULL: it can */
	const char *ssh_agent;         /* the socket of the user's ssh agent; NULL for none */
	struct plan_ssh_key *ssh_keys; /* of the hosts that the policy names for ssh */
	size_t ssh_key_count;
	struct span placeholder_key; /* this user's; empty when there is none yet */
	struct host_list trust;      /* authorities, set by host_gather_trust; origin: the format */
	struct host_object
		stands_on;        /* --system: its name, and its root as path; path NULL: none */
	struct host_list sockets; /* the host's, by path: covered wherever the box would see them */
	struct host_list known;   /* homes, private places, guarded, and all above: by identity */
	struct host_list worked;  /* folders that sessions worked in; only if a link is named */
	struct host_list guarded; /* never shown: bawn's own state and configuration */
	struct host_list self;    /* bawn's own programs, if they are this user's */
	struct host_list ways;    /* links, and what is behind them, on the way to these */
	struct mountinfo *mounts; /* of filesystems that are mounted more than once */
	size_t mount_count;
	struct host_list again; /* further names of what is named, with the same origin, and of the
				 * workspace, origin "workspace" */
};

/*
 * Gathers all of it.  workspace NULL: the current directory, or the top of the repository around
 * it.  Everything is in the arena.  An error says what is wrong with the workspace or the home, and
 * what to do.
 */
int host_gather(const char *workspace, struct arena *arena, struct host *ret_host, struct error *e);

/* Gathers only the user: name, home, shell and bawn's own folders.  Asks nothing about a
 * workspace. */
int host_gather_user(struct arena *arena, struct host *ret_host, struct error *e);

/* Adds the workspace; wanted NULL: the current directory, or the top of the user's own repository
 * around it. */
int host_find_workspace(struct host *h, const char *wanted, struct arena *arena, struct error *e);

/* Whether the folder has a repository of the user in it, as git would find it. */
bool host_has_repository(const struct host *h, const char *top, struct arena *arena);

/* Says what to do about a folder that its own user may not enter. */
void host_advise_closed(struct error *e);

/*
 * Looks up a path of the policy, absolute, "~/..." or relative to the workspace, and appends it to
 * h->named; its origin is the path as written.  When nothing is there: path is NULL; name is where
 * it would be made, behind all links (NULL: they lead nowhere); link is the path that has these
 * links (NULL: none).
 */
int host_name(struct host *h, const char *written, struct arena *arena, struct error *e);

/*
 * The same for a path that nobody we trust wrote: it is looked up only if it is in a folder that
 * the box sees (the workspace, what is in h->named so far, tools, the system), and no link on the
 * way leads out of that.  Else this asks for nothing, and appends nothing.
 */
int host_name_within(struct host *h, const char *written, struct arena *arena, struct error *e);

/* Adds the further names, through mounts, of what is at path, and the mounts that show a part of
 * it.  For what does not exist yet it adds the names that it will have (path NULL). */
int host_mounted_as(const struct host *h, const char *path, struct host_list *into,
		    struct arena *arena);

/* Guards one more file of bawn, besides what host_gather finds: the box must never write it. */
int host_guard_file(struct host *h, const struct host_object *file, struct arena *arena);

/* Fills h->trust: "bundle" (PEM), "java", "own" (an administrator's, PEM), and "chromium" or
 * "chrome" if there is one. */
int host_gather_trust(struct host *h, struct arena *arena, struct error *e);

/* Appends a copy of object; -ENOMEM when the arena is full. */
int host_list_add(struct host_list *list, struct arena *arena, const struct host_object *object);

/* The entry of h->named for a path as it was written; NULL when host_name was not called. */
static inline const struct host_object *host_named(const struct host *h, const char *written)
{
	for (size_t i = 0; i < h->named.count; i++)
		if (strcmp(h->named.items[i].origin, written) == 0)
			return &h->named.items[i];
	return NULL;
}

/* Whether others can replace what is in this folder. */
bool host_others_replace(const struct host *h, const char *folder);

/* The value of a variable in env, or NULL. */
static inline const char *host_env(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; env && env[i]; i++)
		if (strncmp(env[i], name, len) == 0 && env[i][len] == '=')
			return env[i] + len + 1;
	return NULL;
}

/* Whether it is a place of the system that is never a workspace nor, when PATH names it, a tool. */
bool host_is_system_place(const char *path);

#endif
