/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a landing: bytes <-> struct, and nothing else.
 *
 * It is text, in up to three parts.  Each part ends in a line with the digest of all before that
 * line.  A landing appends and syncs a part before it begins what the part describes.  So nothing
 * was done yet for a part that is cut off: it counts as not written.
 *
 *	bawn-landing-1
 *	what apply		or undo, redo
 *	id ID			16 hexadecimal digits: the folder .bawn-landing-ID in the tree
 *	number N		what comes out of the tree is kept in kept-N
 *	undoes N		kept-N is what lands, and is forgotten; 0: none
 *	tree INO MODE BEFORE AFTER
 *				the tree's own folder, and its time of change on both sides
 *	stamp TIME		that of every folder in which something was changed
 *	kept moved		or copied: the journal lies on another filesystem
 *	at PATH			only where it lands on something that is mounted in the tree: all
 *				of it lies there, and that folder is meant by ID and by `tree`
 *	of NAME			the session whose changes they are, where that is known
 *	check DIGEST
 *	dir INO MODE TIME PATH	a folder in which something changes: as it was
 *	step BEFORE AFTER PATH	one for each path
 *	check DIGEST
 *	commit
 *	check DIGEST
 *
 * BEFORE and AFTER of a step are `-` (nothing) or TYPE:MODE:SIZE:TIME:INO:DIGEST, where TYPE is one
 * of f d l p s c, DIGEST is `-` of all but files and links.  Times are nanoseconds since 1970,
 * modes octal, digests SHA-256.  A path is relative, percent-encoded; the tree's own folder is
 * `.`.  Dirs and steps are sorted by path, the slash before every other byte.  Each path is there
 * once, and the folder of each step is among the dirs.  We do not read a text that has a second
 * spelling.
 */
#ifndef BAWN_JOURNAL_H
#define BAWN_JOURNAL_H

#include "arena.h"
#include "buf.h"
#include "changes.h"

enum {
	JOURNAL_ID_LEN = 16,
	JOURNAL_STEPS_MAX = CHANGES_MAX,
	JOURNAL_BYTES_MAX = 1 << 29,
	JOURNAL_NAME_MAX = 255,
};

#define JOURNAL_STAGE_PREFIX ".bawn-landing-"

enum journal_what { JOURNAL_APPLY, JOURNAL_UNDO, JOURNAL_REDO, JOURNAL_WHAT_COUNT };

extern const char *const journal_what_words[JOURNAL_WHAT_COUNT];

/* What is at a path.  `ino` of what lands is that of the staged file. */
struct journal_object {
	unsigned int type; /* enum object_type */
	uint32_t mode;     /* 07777 */
	uint64_t size;
	int64_t mtime;
	uint64_t ino;
	uint8_t digest[SHA256_SIZE]; /* of files and links */
};

struct journal_dir {
	const char *path; /* "" is the tree's own */
	uint64_t ino;
	uint32_t mode;
	int64_t mtime;
};

struct journal_step {
	const char *path;
	size_t dir; /* index of its folder */
	struct journal_object before, after;
};

enum journal_state {
	JOURNAL_BEGUN,     /* the staging folder may be there, the tree is untouched */
	JOURNAL_STAGED,    /* any of the steps may be done */
	JOURNAL_COMMITTED, /* all are done */
};

struct journal {
	struct arena arena;
	enum journal_state state;
	unsigned int what; /* enum journal_what */
	char id[JOURNAL_ID_LEN + 1];
	uint64_t number, undoes;
	uint64_t tree_ino;
	uint32_t top_mode;
	int64_t top_before, top_after; /* mtime of the tree's own folder */
	int64_t stamp;
	bool copied;
	const char *at; /* the folder in which the staging folder is; "": the tree's own */
	const char *of; /* the session; "": not known */
	struct journal_dir *dirs;
	size_t dir_count;
	struct journal_step *steps;
	size_t count;
};

#define JOURNAL_INIT ((struct journal){.arena = ARENA_INIT(JOURNAL_BYTES_MAX), .at = "", .of = ""})

void journal_fini(struct journal *j);
#define _cleanup_journal_ _cleanup_(journal_fini)

/* Appends a part to the text, which has the parts before it. */
void journal_put_head(struct buf *text, const struct journal *j);
void journal_put_steps(struct buf *text, const struct journal *j);
void journal_put_commit(struct buf *text);

/* 0, with the parts that are complete; -EBADMSG: not even the head is; -ENOMEM. */
int journal_parse(struct span text, struct journal *ret);

/* Relative, shorter than PATH_MAX, each part 1 to 255 bytes and neither "." nor ".."; not beneath
 * one of our staging folders. */
bool journal_is_path(const char *path);

/* Compares in the order of the journal: what is in a folder directly follows it. */
int journal_compare(const char *a, const char *b);

/* Length of the path of the folder that a path is in: 0 at the top. */
size_t journal_folder_len(const char *path);

/* The dir of that path; -1: there is none. */
ssize_t journal_find_dir(const struct journal *j, const char *path, size_t len);

/* The step of that path; -1: there is none. */
ssize_t journal_find_step(const struct journal *j, const char *path);

#endif
