/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a landing, for the files land*.c alone.
 *
 * In the staging folder S, for step i:
 *
 *	i	what shall land, until it does; then, where two things were exchanged or one was
 *		taken out, what came out
 *	i.old	what came out, on a filesystem that cannot exchange two names
 *
 * Which of the two `i` is, is told by the inode, which the journal knows.  So how far a landing
 * came is read from the tree itself, and putting back (or keeping) what is found is right at any
 * moment and any number of times.
 */
#ifndef BAWN_LAND_PARTS_H
#define BAWN_LAND_PARTS_H

#include "journal.h"
#include "land.h"

enum {
	LAND_HELD_MAX = 256, /* folders that are held open; further ones are opened again */
	LAND_NAME_SIZE = 40,
	LAND_KEPT_MAX = 10,        /* landings that can be undone */
	LAND_SYNC_MANY = 12,       /* as many things are synced with the whole filesystem */
	LAND_INDEX_MAX = 64 << 20, /* bytes of git's index */
	LAND_TRIES = 200, /* to find a folder that somebody keeps moving, when rolling back */
};

#define LAND_RACY 20000000 /* ns: what changed as lately as this may have changed again unseen */
#define LAND_ASIDE_PREFIX "bawn-set-aside-"
#define LAND_IGNORE ".gitignore" /* in the stage */
/* A signal waits that calls the landing off. */
bool land_is_called_off(void);
#define LAND_CALLED_OFF "it was interrupted, and nothing was changed"

#define LAND_LOG "landing"
#define LAND_LOG_KEPT "steps"
#define LAND_REFS "refs"     /* beside it: land_refs.c */
#define LAND_PASSED "passed" /* beside it: land_undo_pass */

/* What stands at a name. */
struct land_seen {
	struct journal_object o; /* without digest */
	int64_t ctime;
	uint32_t uid, gid, links;
	uint64_t mount;
};

/* What git's index says that landed in step i (git_index.h), for undo: `git status` writes it anew,
 * with the same meaning.  Beside what step i took out, as i.index. */
void land_index_name(size_t i, char ret[LAND_NAME_SIZE]);

/* What a folder had that stays and gets something else (land_step.has): beside what steps took out,
 * as i.has.  Rolling back and undo give it back. */
void land_has_name(size_t i, char ret[LAND_NAME_SIZE]);

/* A copy of what step i took out, as i.copy, where that has another name which somebody may write
 * by. */
void land_copy_name(size_t i, char ret[LAND_NAME_SIZE]);

/* What becomes of git's refs (land_refs.c), once all is staged. */
struct landing;
void land_keep_refs(const struct landing *l);

/* What is known of a step besides the journal. */
struct land_mind {
	size_t origin; /* index in the caller's list */
	size_t first;  /* one more than the step before it that is the same file; 0: none */
	struct land_seen seen;
	bool again; /* its times cannot tell whether it was written since: it is hashed again */
};

/* Of a folder: how it is left. */
struct land_rest {
	bool made;                  /* by this landing */
	bool gone;                  /* taken out by this landing */
	bool touched;               /* a name in it changes */
	bool timed;                 /* its time was asked for */
	const struct land_has *has; /* of one that stays; or NULL */
	uint32_t mode;
	uint32_t gid;
	int64_t mtime;
};

struct landing {
	int tree, journal; /* the caller's */
	int top;           /* the folder in which the staging folder is: `at` of the journal */
	size_t top_dir;    /* of the journal's dirs that one */
	int stage, kept, log, lock;
	uint64_t mount; /* of `top` */
	int *dirs;      /* of the journal's dirs those that are held, else -1 */
	size_t held;
	int spare; /* one that is not held */
	size_t spare_of;
	struct journal j;
	struct buf text; /* of the journal */
	/* None of these when it was found in a journal. */
	const struct land_how *how;
	const struct land_step *given;
	struct land_mind *minds;
	struct land_rest *rests;
	bool staging; /* something of ours may be in the tree */
	bool patient; /* rolling back: a folder may come back */
	bool aside;   /* something could not be put back where it was */
};

#define LANDING_INIT                         \
	((struct landing){.tree = -1,        \
			  .journal = -1,     \
			  .top = -1,         \
			  .stage = -1,       \
			  .kept = -1,        \
			  .log = -1,         \
			  .lock = -1,        \
			  .spare = -1,       \
			  .j = JOURNAL_INIT, \
			  .text = BUF_INIT(JOURNAL_BYTES_MAX)})

void landing_fini(struct landing *l);
#define _cleanup_landing_ _cleanup_(landing_fini)

/* --- land_object.c: one thing on the disk --------------------------------------------- */

/* 0, with type ABSENT when there is nothing; name "" is dir itself. */
int land_look(int dir, const char *name, struct land_seen *ret);

/* The same inode with the same content, as far as the times tell. */
bool land_is(const struct journal_object *o, const struct land_seen *s);

/* For reading; times of access stay as they are where that is allowed.  -ELOOP etc. */
int land_open(int dir, const char *name);

/* Copies `from` to `to`, which is empty, and hashes that (changes_hash); to: -1: only hashes. */
int land_copy(int from, int to, uint8_t ret[SHA256_SIZE], uint64_t *ret_size);

/* What a link says; its digest. */
int land_link(int dir, const char *name, char ret[PATH_MAX], uint8_t ret_digest[SHA256_SIZE]);
void land_digest(const char *text, uint8_t ret[SHA256_SIZE]);

/* Attributes user.* but not overlayfs's own: how many, or -errno. */
int land_copy_attributes(int from, int to);

/* Owner, as far as we may, and attributes; the mode has to be set after it. */
int land_put_has(int fd, const struct land_has *has);

/* Those of what is open, as they are kept: its owner, 4 and 4 bytes, and attributes.h. */
int land_read_has(int fd, struct buf *into);
int land_parse_has(struct span bytes, struct land_has *ret); /* which are the bytes' */

int land_chmod(int fd, uint32_t mode); /* of O_PATH ones too */
int land_touch(int dir, const char *name, int64_t mtime);

/* A copy of what stands at a name with mode, times and attributes; *digest: of files and links.
 */
int land_clone(int from, const char *source, int to, const char *target, uint8_t *ret_digest);

int land_is_empty(int dir, const char *name); /* 1, 0 or -errno */

/* A name that is not taken; -EEXIST. */
int land_move(int from, const char *source, int to, const char *target);

/* --- land_place.c: folders ------------------------------------------------------------ */

void land_name(size_t i, bool old, char ret[LAND_NAME_SIZE]);
void land_kept_name(uint64_t number, char ret[LAND_NAME_SIZE]);
void land_stage_name(const struct landing *l, const char *prefix, char ret[LAND_NAME_SIZE]);

int land_lock(struct landing *l, struct error *e);

/* The folder i of the journal, borrowed; -ESTALE when another one stands there. */
int land_dir(struct landing *l, size_t i);

/* Its path still leads to it. */
int land_dir_is_there(struct landing *l, size_t i);

/* So that names in it can be changed. */
int land_dir_open_up(int fd);

/* A folder that is held gets what it shall have. */
int land_dir_put_has(int fd, const struct land_has *has);

/* Opens `top`. */
int land_top_open(struct landing *l);

/* It lies above `top`, on another mount: nothing in it is changed, nor it. */
bool land_dir_is_above(const struct landing *l, size_t i);

/* The folder `top`, when nothing of ours is in it any more. */
int land_top_restore(struct landing *l, int64_t mtime, uint32_t mode);

int land_sync(int fd); /* a folder, of O_PATH ones too */
int land_sync_all(int fd);

/* The last part of a path. */
const char *land_last(const char *path);

/* Says which of the caller's steps it was; -ESTALE. */
int land_conflict(const struct landing *l, size_t i, struct land_result *ret);

/* --- land_back.c, land_keep.c --------------------------------------------------------- */

/* What came out of step i, in the staging folder: 1 and its name, 0 when nothing did, -errno. */
int land_out(const struct landing *l, size_t i, char ret[LAND_NAME_SIZE]);

/* Removes S, of which all that we know was taken; what is left is set aside. */
int land_stage_end(struct landing *l);

int land_roll_back(struct landing *l);
int land_finish(struct landing *l);

/* The numbers of what is kept, below a number. */
struct land_kept {
	uint64_t oldest, newest;
	size_t count;
};
int land_kept_numbers(int journal, uint64_t below, struct land_kept *ret);

/* For what comes out of the next landing. */
int land_next_number(int journal, uint64_t *ret);

#endif
