/* SPDX-License-Identifier: Apache-2.0 */
/* What the host_*.c files share with each other and with nobody else. */
#ifndef BAWN_HOST_PARTS_H
#define BAWN_HOST_PARTS_H

#include "host.h"

#include <sys/stat.h>

/*
 * path without doubled slashes, "." and a slash at its end.  ".." stays, and
 * *ret_plain says whether there was none: only the kernel knows where it leads.
 */
char *host_tidy(const char *path, struct arena *arena, bool *ret_plain);

/*
 * Looks at path (absolute): its name made normal, its resolved path, its identity.
 * -ENOENT and the like when nothing is there, -EINVAL when it is not absolute.
 */
int host_look(const char *path, struct arena *arena, struct host_object *ret_object);

/* The absolute path of what fd holds, from the kernel; -ENOENT when it was removed. */
int host_path_of(int fd, struct arena *arena, const char **ret_path);

/*
 * Of what is not there: name is where it would be made, behind all links, and link is path when
 * links lead there.  NULL as name: they lead nowhere.
 */
int host_look_ahead(const char *path, struct arena *arena, struct host_object *ret_object);

/* Adds each link that a path goes through, and each place behind one: who puts something else there
 * decides where it leads. */
int host_note_way(const char *path, struct host_list *into, struct arena *arena);

/* The text of a symbolic link; NULL when it is none or cannot be read. */
const char *host_link_text(const char *name, struct arena *arena);

/* A path that begins with $HOME as it was set, rewritten to begin with the resolved home. */
const char *host_rehome(const struct host *h, const char *path, struct arena *arena);

/* path, and every folder above it, is known by identity from now on. */
int host_know(struct host *h, const char *path, struct arena *arena);

/* The same thing by the name under which it is known (host_known.c); path itself when it has no
 * other. */
const char *host_known_as(const struct host *h, const char *path, struct arena *arena);

/* The name of a file in a private place or one of bawn's own folders, where it has a link there;
 * else path itself. */
const char *host_linked_as(const struct host *h, const char *path, struct arena *arena);

/* Reads the table of mounts; the two below know it from then on. */
int host_find_mounts(struct host *h, struct arena *arena);

/* Adds to list the further names, by way of mounts, of what is in it from there on; with parts also
 * the mounts that show a part of it. */
int host_add_again(struct host *h, struct host_list *list, size_t from, bool parts,
		   struct arena *arena);

/* Adds the further names of o to another list, with this origin; of what is not there yet (path
 * NULL) those that it will have. */
int host_find_again(const struct host *h, const struct host_object *o, const char *origin,
		    struct host_list *into, struct arena *arena);

/* Homes and what lies around them: path is one, or holds one. */
bool host_holds_home(const struct host *h, const char *path);

/* How a path stands to the private places of the home, existing or not. */
bool host_is_private(const struct host *h, const char *path);    /* is one, or lies in one */
bool host_holds_private(const struct host *h, const char *path); /* has one beneath it */

/*
 * Which names three folders of the home have, as bits: a lookup of what is surely not there
 * costs no system call.  May say yes wrongly, never no.
 */
struct host_names {
	uint64_t bits[32];
	bool partly; /* too large to be read: every name may be there */
};

struct host_home_names {
	struct host_names top, config, share; /* ~, ~/.config, ~/.local/share */
};

void host_read_names(const char *home, struct host_home_names *ret_names);

/* Below the home: name in dir, which is "" for the home itself. */
bool host_may_have(const struct host_home_names *names, const char *dir, const char *name);

int host_find_user(struct host *h, struct arena *arena, struct error *e);
/* Why path cannot be a workspace, or 0. */
int host_check_workspace(const struct host *h, const char *path, struct error *e);
void host_find_git(struct host *h, struct arena *arena);
/* The top of the repository of the user's own around a folder of this device, where it can be a
 * workspace; NULL: there is none, or path is it. */
const char *host_git_top(struct host *h, const char *path, uint64_t dev, struct arena *arena);
int host_find_system(struct host *h, struct arena *arena);
int host_find_tools(struct host *h, const struct host_home_names *names, struct arena *arena);
int host_find_sockets(struct host *h, struct arena *arena);
/* Of every home; names: of h->home. */
int host_find_private(struct host *h, const struct host_home_names *names, struct arena *arena);

#endif
