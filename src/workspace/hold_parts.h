/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of hold share with each other and with nobody else. */
#ifndef BAWN_HOLD_PARTS_H
#define BAWN_HOLD_PARTS_H

#include "buf.h"
#include "hold.h"

#include <limits.h>

/* Who has the last word when a rule's name matches. */
enum hold_content {
	HOLD_BY_NAME, /* nobody: the name is enough */
	HOLD_BY_HOOK,
	HOLD_BY_GIT_CONFIG,
	HOLD_BY_ATTRIBUTES,
	HOLD_BY_BARE,
	HOLD_BY_SUBMODULES,
	HOLD_BY_POINTER,
	HOLD_BY_PACKAGE,
	HOLD_BY_HOSTS,
	HOLD_BY_SCHEMA,
	HOLD_BY_INVISIBLE,
	HOLD_BY_STAGED,
	HOLD_BY_LINK,
	HOLD_CONTENT_COUNT,
};

/* A rule as share/holds.yaml has it; the lists end in NULL. */
struct hold_row {
	const char *name, *corpus, *what, *why;
	enum hold_level level, gone;
	enum hold_content content;
	const char *const *paths, *const *but, *const *direct;
};

extern const struct hold_row hold_rows[];
extern const size_t hold_row_count;

enum {
	HOLD_ROWS_MAX = 64,
	HOLD_PATTERNS_MAX = 4096,
	HOLD_BUCKETS = 1024,
};

/* One pattern of one rule.  Those whose first part is a plain word are found by it. */
struct hold_pattern {
	const char *text;
	size_t first; /* length of its first part */
	unsigned int row;
	bool top;      /* only at the top of the workspace */
	bool single;   /* one part: only the last of a path can be it */
	uint32_t next; /* in its bucket: index + 1 */
};

struct hold_rules {
	struct arena arena;
	enum hold_level levels[HOLD_ROWS_MAX];
	struct hold_pattern *patterns;
	size_t count;
	uint32_t buckets[HOLD_BUCKETS];
	uint32_t loose; /* those whose first part has a star */
	uint64_t every; /* rows that are about every path */
};

/*
 * A path as the filesystems see it that leave something out: in lower case, without characters
 * that are not seen (HFS+, APFS, ext4 casefold), without dots and spaces at the end of a part and
 * with the long name for NTFS's short one.  What `into` had before is gone.
 */
void hold_fold(const char *path, struct buf *into);

/* The pattern is this path from its first part to its last.  Both folded. */
bool hold_matches(const char *pattern, const char *path);

/* Adds a folded pattern, which lives as long; there is room. */
void hold_pattern_put(struct hold_rules *r, const char *pattern, unsigned int row);

/* The rows that are about a folded path, as a set. */
uint64_t hold_find(const struct hold_rules *r, const char *folded);

/* The rows that are about something in a folder of this path: a link there brings all of them. */
uint64_t hold_find_below(const struct hold_rules *r, const char *folded);

/* --- the judgement -------------------------------------------------------------------- */

enum {
	HOLD_READ_MAX = 4 << 20,   /* of a file that is understood as a whole */
	HOLD_SCAN_MAX = 256 << 20, /* of a text that is looked through */
	HOLD_WORD_MAX = 80,        /* of an agent's words in a reason */
};

/* What an analyser says.  It begins as what the list says. */
struct hold_verdict {
	enum hold_level most; /* at most this, whatever the rule's level is */
	const char *why;      /* in the arena of the changes, or the list's own */
};

/* A folder with a repository: where its files are, and where git keeps its own. */
struct hold_root {
	struct hold_root *next;
	const char *path;   /* "": the top */
	const char *gitdir; /* within the workspace; NULL: elsewhere */
};

/* A path, and all beneath it, that a setting or a link makes one of a rule's. */
struct hold_place {
	struct hold_place *next;
	const char *path;
	unsigned int row;
	const char *why;
};

/* A folder that was looked at. */
struct hold_dir {
	struct hold_dir *next; /* in its bucket */
	const char *path;
	size_t len;
	const struct hold_root *root;       /* the nearest one at or above; NULL: none */
	bool member, is_gitdir, was_gitdir; /* known once `member` is set */
};

enum { HOLD_DIR_BUCKETS = 4096, HOLD_ROOTS_MAX = 256, HOLD_PLACES_MAX = 4096 };

struct hold_judge {
	const struct hold_rules *rules;
	const struct view *view;
	struct view before; /* the base alone; borrowed */
	struct changes *changes;
	struct error *error;
	struct arena arena;
	char workspace[PATH_MAX]; /* its absolute path; "" when it is not known */
	struct buf folded, after, old;
	struct hold_dir *dirs[HOLD_DIR_BUCKETS];
	struct hold_root *roots;
	size_t root_count; /* of those that were not there before */
	struct hold_place *places;
	size_t place_count;
};

/* 0 or -errno; sets what it knows better than the list. */
typedef int hold_analyser(struct hold_judge *j, const struct change *c, struct hold_verdict *v);

hold_analyser hold_by_hook, hold_by_git_config, hold_by_attributes, hold_by_submodules,
	hold_by_pointer, hold_by_package, hold_by_hosts, hold_by_schema, hold_by_invisible,
	hold_by_link, hold_by_staged;

/* Says why, from now on; -ENOMEM when that is too much. */
int hold_say(struct hold_judge *j, struct hold_verdict *v, const char *fmt, ...) BAWN_PRINTF(3, 4);

/* Reads a side of a change whole, into j->after or j->old; an absent one is empty.  -E2BIG, -ESTALE
 * and the like: it cannot be judged by what it says. */
int hold_read(struct hold_judge *j, const struct change *c, enum change_side side);

/* Reads both.  1: the verdict stands as the list has it, with why it could not be looked at. */
int hold_read_both(struct hold_judge *j, const struct change *c, struct hold_verdict *v);

/* A file of a view, whether it changed or not; -ENOENT for what is no file. */
int hold_read_path(const struct view *v, const char *path, size_t max, struct buf *into);

/* What a link of a view says; -EINVAL for what is none. */
int hold_read_link(const struct view *v, const char *path, char into[PATH_MAX]);

/*
 * Where `target`, named in the folder `dir`, is in the workspace: its path, "" for the top.  By the
 * letters alone.  -EXDEV: it leads outside.
 */
int hold_resolve(const struct hold_judge *j, const char *dir, const char *target,
		 char into[PATH_MAX]);

/* The folder that a path is in; "" for the top. */
int hold_parent(const char *path, char into[PATH_MAX]);

/* The rule does not leave out a folded path that it matches. */
bool hold_is_meant(const struct hold_row *h, const char *folded);

/* --- where: hold_where.c -------------------------------------------------------------- */

/* Looks at every folder that has a change: repositories, and what they and links name. */
int hold_look_around(struct hold_judge *j);

/* The folder, which was looked at; NULL: it was not. */
const struct hold_dir *hold_dir_find(const struct hold_judge *j, const char *path, size_t len);

/* The word of settings, hooks and links: a place that is a rule's from now on. */
int hold_place_add(struct hold_judge *j, const char *path, const char *rule, const char *fmt, ...)
	BAWN_PRINTF(4, 5);

/* --- settings: hold_keys.c ------------------------------------------------------------ */

enum hold_key {
	HOLD_KEY_HARMLESS,
	HOLD_KEY_LEADS, /* names a remote: worth a look when that is not one that was there */
	HOLD_KEY_SHOWN, /* runs nothing, and is worth a look */
	HOLD_KEY_RUNS,  /* or is not known */
};

struct git_config;

/* What a setting does; *ret_by: which command would obey it. */
enum hold_key hold_key_of(const struct git_config *g, const char **ret_by);

#endif
