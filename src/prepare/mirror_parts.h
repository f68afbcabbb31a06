/* SPDX-License-Identifier: Apache-2.0 */
/* What the mirror*.c files share only with each other. */
#ifndef BAWN_MIRROR_PARTS_H
#define BAWN_MIRROR_PARTS_H

#include "authority.h"
#include "mirror.h"

enum {
	MIRROR_FILE_MAX = 256 << 10, /* of the user's file, and of ours */
	MIRROR_FOLDERS_MAX = 40,     /* of one login */
};

/* One address of a mirror, taken apart.  The texts are in the arena. */
struct mirror_url {
	const char *clean;           /* without its login */
	const char *before;          /* "https://", perhaps with "sparse+" before it */
	const char *after;           /* host, port and path */
	const char *path;            /* "/npm/", at least "/" */
	const char *user, *password; /* decoded; NULL: none */
	bool plain;                  /* http */
	struct authority at;
};

/* Where at its host a login works. */
struct mirror_folders {
	struct plan_string globs[MIRROR_FOLDERS_MAX];
	size_t count;
	bool all;        /* anywhere: a setting names no path */
	bool unreadable; /* a path is none that can be compared */
};

/* The work on one bundle. */
struct mirror {
	struct policy *policy;
	const struct host *host;
	struct arena *arena;
	struct mirrors *made;
	const char *bundle;
	const char *use_origin; /* who asked for the bundle */
	size_t secrets;         /* that we made for it */
	bool replaced;          /* we removed the bundle's own rules */
	bool no_memory;
};

/* mirror_text.c */
/* Reads the whole file, or NULL. ~/ is the user's home.  We do not read what an agent may have
 * written. */
const char *mirror_read(struct mirror *m, const char *path);
/* The next line from *at on, without blanks around it; NULL at the end. */
const char *mirror_line(struct mirror *m, const char **at);
/* "key = value" of one line, without quotes around the value; false: it is none. */
bool mirror_pair(struct mirror *m, const char *line, const char **ret_key, const char **ret_value);
/* Replaces ${NAME} by the user's environment; "" when the result is too long. */
const char *mirror_expand(struct mirror *m, const char *text);
/* Puts the login of the host from ~/.netrc into url when it has none. */
void mirror_netrc(struct mirror *m, struct mirror_url *url);
/* Takes an address apart: http or https, with a host, and no token in its path.  False: it cannot
 * go inside. */
bool mirror_url_parse(struct mirror *m, const char *text, struct mirror_url *ret);
const char *mirror_printf(struct mirror *m, const char *fmt, ...) BAWN_PRINTF(2, 3);

/* mirror.c */
/* Allows the mirror's host as the bundle's hosts were; `instead`: those are not allowed any
 * more. */
void mirror_allow(struct mirror *m, const struct mirror_url *url, const char *origin, bool instead);
void mirror_set(struct mirror *m, const char *variable, const char *value, const char *origin);
void mirror_file(struct mirror *m, const char *path, const char *text);
void mirror_note(struct mirror *m, const char *what, const char *why, const char *origin);
/* Notes that the login of this mirror is not given. */
void mirror_note_login(struct mirror *m, const struct mirror_url *url, const char *why,
		       const char *origin);
extern const char mirror_in_address[]; /* why: it is in an address that has no room for it */
/* Adds all that is beneath a path. */
void mirror_beneath(struct mirror *m, struct mirror_folders *f, const char *path);
/* All that belongs to this mirror: what is beneath its path, or beneath the folder of its index. */
struct mirror_folders mirror_folders_of(struct mirror *m, const struct mirror_url *url);
/* Makes a secret for a login, bound to that host and those folders of it; NULL: it cannot, and
 * notes why. */
struct policy_secret *mirror_secret(struct mirror *m, const struct mirror_url *url,
				    const struct mirror_folders *folders, const char *value,
				    bool basic, const char *origin);
void mirror_variable(struct mirror *m, struct policy_secret *s, const char *variable);
void mirror_text(struct mirror *m, struct policy_secret *s, const char *variable, const char *text);

/* Makes up a file that has the placeholder in place of "{}". */
void mirror_secret_file(struct mirror *m, struct policy_secret *s, const char *path,
			const char *text);

/* mirror_read.c, mirror_maven.c: one function for each ecosystem */
void mirror_npm(struct mirror *m);
void mirror_pypi(struct mirror *m);
void mirror_go(struct mirror *m);
void mirror_crates(struct mirror *m);
void mirror_apt(struct mirror *m);
void mirror_maven(struct mirror *m);

#endif
