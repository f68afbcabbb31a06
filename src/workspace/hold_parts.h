/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of hold share with each other and with nobody else. */
#ifndef BAWN_HOLD_PARTS_H
#define BAWN_HOLD_PARTS_H

#include "buf.h"
#include "hold.h"

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
	HOLD_PATTERN_MAX = 256,
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

/* What of a policy's patterns can be one: NULL, or why it cannot. */
const char *hold_pattern_wrong(const char *pattern);

/* Adds a folded pattern, which lives as long; there is room. */
void hold_pattern_put(struct hold_rules *r, const char *pattern, unsigned int row);

/* The rows that are about a folded path, as a set. */
uint64_t hold_find(const struct hold_rules *r, const char *folded);

#endif
