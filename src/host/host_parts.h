/* SPDX-License-Identifier: Apache-2.0 */
/* What the host_*.c files share only with each other. */
#ifndef BAWN_HOST_PARTS_H
#define BAWN_HOST_PARTS_H

#include "host.h"

#include <sys/stat.h>

/*
 * path without doubled slashes, "." and a slash at its end.  ".." stays, and *ret_plain says
 * whether there was none: only the kernel knows where it leads.
 */
char *host_tidy(const char *path, struct arena *arena, bool *ret_plain);

/*
 * Looks at path (absolute): its name made normal, its resolved path, its identity.  -ENOENT and the
 * like: nothing is there.  -EINVAL: it is not absolute.
 */
int host_look(const char *path, struct arena *arena, struct host_object *ret_object);

/* The absolute path of what fd is open on, from the kernel; -ENOENT when it was removed. */
int host_path_of(int fd, struct arena *arena, const char **ret_path);

/*
 * For something that does not exist: name is where it would be made, behind all links, and link is
 * path when links lead there.  NULL as name: they lead nowhere.
 */
int host_look_ahead(const char *path, struct arena *arena, struct host_object *ret_object);

/* Adds each link that a path goes through, and each place behind one: whoever puts something else
 * there decides where it leads. */
int host_note_way(const char *path, struct host_list *into, struct arena *arena);

/* The text of a symbolic link; NULL when it is none or cannot be read. */
const char *host_link_text(const char *name, struct arena *arena);

/* Replaces $HOME, as it was set, at the begin of a path by the resolved home. */
const char *host_rehome(const struct host *h, const char *path, struct arena *arena);

/* Notes path, and every folder above it, by identity. */
int host_know(struct host *h, const char *path, struct arena *arena);

/* The same thing by the name under which we know it (host_known.c); path itself when it has no
 * other. */
const char *host_known_as(const struct host *h, const char *path, struct arena *arena);

/* The name of a file in a private place or in one of bawn's own folders, if it has a hard link
 * there; else path itself. */
const char *host_linked_as(const struct host *h, const char *path, struct arena *arena);

/* Reads the table of mounts, which the two functions below use. */
int host_find_mounts(struct host *h, struct arena *arena);

/* Adds to list the further names, through mounts, of its items from `from` on; with parts also the
 * mounts that show a part of them. */
int host_add_again(struct host *h, struct host_list *list, size_t from, bool parts,
		   struct arena *arena);

/* Adds the further names of o to another list, with this origin; if o does not exist yet (path
 * NULL), those that it will have. */
int host_find_again(const struct host *h, const struct host_object *o, const char *origin,
		    struct host_list *into, struct arena *arena);

/* Whether path is a home, or a home is in it. */
bool host_holds_home(const struct host *h, const char *path);

/* How a path relates to the private places of the home, existing or not. */
bool host_is_private(const struct host *h, const char *path);    /* it is one, or is in one */
bool host_holds_private(const struct host *h, const char *path); /* one is beneath it */

/*
 * The names in three folders of the home, as bits: a lookup of something that is surely not there
 * costs no system call.  It may say yes wrongly, never no.
 */
struct host_names {
	uint64_t bits[32];
	bool partly; /* too large to read: every name may be there */
};

struct host_home_names {
	struct host_names top, config, share; /* ~, ~/.config, ~/.local/share */
};

void host_read_names(const char *home, struct host_home_names *ret_names);

/* Whether dir of the home may have name; dir "" is the home itself. */
bool host_may_have(const struct host_home_names *names, const char *dir, const char *name);

int host_find_user(struct host *h, struct arena *arena, struct error *e);
/* 0, or -errno and why path cannot be a workspace. */
int host_check_workspace(const struct host *h, const char *path, struct error *e);
void host_find_git(struct host *h, struct arena *arena);
/* The top of the user's own repository around a folder of this device, if it can be a workspace;
 * NULL: there is none, or path is the top. */
const char *host_git_top(struct host *h, const char *path, uint64_t dev, struct arena *arena);
int host_find_system(struct host *h, struct arena *arena);
int host_find_tools(struct host *h, const struct host_home_names *names, struct arena *arena);
int host_find_sockets(struct host *h, struct arena *arena);
/* Finds those of every home; names: of h->home. */
int host_find_private(struct host *h, const struct host_home_names *names, struct arena *arena);

#endif
