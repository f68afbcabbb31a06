/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a landing.  Only the files land*.c include this.
 *
 * In the staging folder S, for step i:
 *
 *	i	what shall land, until it does; then, where two things were exchanged or one was
 *		taken out, what came out
 *	i.old	what came out, on a filesystem that cannot exchange two names
 *
 * The inode says which of the two `i` is, and the journal knows the inode.  So the tree itself
 * shows how far a landing came.  To put back (or to keep) what is found is right at any moment and
 * any number of times.
 */
#ifndef BAWN_LAND_PARTS_H
#define BAWN_LAND_PARTS_H

#include "journal.h"
#include "land.h"

enum {
	LAND_HELD_MAX = 256, /* most folders that are held open; others are opened again */
	LAND_NAME_SIZE = 40,
	LAND_KEPT_MAX = 10,        /* most landings that can be undone */
	LAND_SYNC_MANY = 12,       /* from this number of objects on we sync the whole filesystem */
	LAND_INDEX_MAX = 64 << 20, /* most bytes of git's index */
	LAND_TRIES = 200, /* how often rolling back looks for a folder that somebody keeps moving */
};

#define LAND_RACY 20000000 /* ns: what changed so lately may have changed again unseen */
#define LAND_ASIDE_PREFIX "bawn-set-aside-"
#define LAND_IGNORE ".gitignore" /* in the staging folder */
/* A signal is waiting that calls the landing off. */
bool land_is_called_off(void);
#define LAND_CALLED_OFF "it was interrupted, and nothing was changed"

#define LAND_LOG "landing"
#define LAND_LOG_KEPT "steps"
#define LAND_REFS "refs"     /* beside the log: land_refs.c */
#define LAND_PASSED "passed" /* beside the log: land_undo_pass */

/* What is at a name. */
struct land_seen {
	struct journal_object o; /* without digest */
	int64_t ctime;
	uint32_t uid, gid, links;
	uint64_t mount;
};

/*
 * The name, i.index, of a file for undo.  It has what git's index says that landed in step i
 * (git_index.h), because `git status` writes the index anew with the same meaning.  It is beside
 * what step i took out.
 */
void land_index_name(size_t i, char ret[LAND_NAME_SIZE]);

/* The name, i.has, of a file with what a folder had that stays and gets something else
 * (land_step.has).  It is beside what steps took out.  Rolling back and undo give it back. */
void land_has_name(size_t i, char ret[LAND_NAME_SIZE]);

/* The name, i.copy, of a copy of what step i took out.  It is made if the file has another name by
 * which somebody may write to it. */
void land_copy_name(size_t i, char ret[LAND_NAME_SIZE]);

/* Keeps what becomes of git's refs (land_refs.c), once all is staged. */
struct landing;
void land_keep_refs(const struct landing *l);

/* What we know of a step besides the journal. */
struct land_mind {
	size_t origin; /* index in the caller's list */
	size_t first;  /* one more than the number of an earlier step with the same file; 0: none */
	struct land_seen seen;
	bool again; /* its times cannot show whether it was written since, so it is hashed again */
};

/* How a folder is left. */
struct land_rest {
	bool made;                  /* by this landing */
	bool gone;                  /* this landing takes it out */
	bool touched;               /* a name in it changes */
	bool timed;                 /* `folder_time` was asked */
	const struct land_has *has; /* for a folder that stays; or NULL */
	uint32_t mode;
	uint32_t gid;
	int64_t mtime;
};

struct landing {
	int tree, journal; /* the caller's */
	int top;           /* the folder in which the staging folder is: `at` of the journal */
	size_t top_dir;    /* which of the journal's dirs that is */
	int stage, kept, log, lock;
	uint64_t mount; /* of `top` */
	int *dirs;      /* descriptors of the journal's dirs that are held open, else -1 */
	size_t held;
	int spare; /* the last one that is not held */
	size_t spare_of;
	struct journal j;
	struct buf text; /* the text of the journal */
	/* These are NULL when the landing was found in a journal. */
	const struct land_how *how;
	const struct land_step *given;
	struct land_mind *minds;
	struct land_rest *rests;
	bool staging; /* something of ours may be in the tree */
	bool patient; /* rolling back: a moved folder may come back */
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

/* --- land_object.c: one object on the disk ------------------------------------------------ */

/* 0, with type ABSENT if there is nothing; the name "" is dir itself. */
int land_look(int dir, const char *name, struct land_seen *ret);

/* The same inode with the same content, as far as the times show. */
bool land_is(const struct journal_object *o, const struct land_seen *s);

/* Opens it for reading; does not change its time of access, if that is allowed.  -ELOOP etc. */
int land_open(int dir, const char *name);

/* Copies `from` to `to`, which is empty, and hashes the content (changes_hash); to is -1: only
 * hashes. */
int land_copy(int from, int to, uint8_t ret[SHA256_SIZE], uint64_t *ret_size);

/* Reads the target of a link, and its digest. */
int land_link(int dir, const char *name, char ret[PATH_MAX], uint8_t ret_digest[SHA256_SIZE]);
void land_digest(const char *text, uint8_t ret[SHA256_SIZE]);

/* Copies attributes user.*, but not overlayfs's own.  Returns how many, or -errno. */
int land_copy_attributes(int from, int to);

/* Sets the owner, as far as we may, and attributes.  Set the mode after it. */
int land_put_has(int fd, const struct land_has *has);

/* Reads these of an open file, in the form in which they are kept: its owner, 4 and 4 bytes, and
 * attributes.h. */
int land_read_has(int fd, struct buf *into);
int land_parse_has(struct span bytes, struct land_has *ret); /* ret points into the bytes */

int land_chmod(int fd, uint32_t mode); /* also of O_PATH descriptors */
int land_touch(int dir, const char *name, int64_t mtime);

/* Copies what is at a name, with mode, times and attributes; *ret_digest: of files and links. */
int land_clone(int from, const char *source, int to, const char *target, uint8_t *ret_digest);

int land_is_empty(int dir, const char *name); /* 1, 0 or -errno */

/* Moves it to a name that is free; -EEXIST: it is not. */
int land_move(int from, const char *source, int to, const char *target);

/* --- land_place.c: folders ------------------------------------------------------------ */

void land_name(size_t i, bool old, char ret[LAND_NAME_SIZE]);
void land_kept_name(uint64_t number, char ret[LAND_NAME_SIZE]);
void land_stage_name(const struct landing *l, const char *prefix, char ret[LAND_NAME_SIZE]);

int land_lock(struct landing *l, struct error *e);

/* The folder i of the journal, borrowed; -ESTALE: another one is there. */
int land_dir(struct landing *l, size_t i);

/* 0 if its path still leads to it, else -errno. */
int land_dir_is_there(struct landing *l, size_t i);

/* Changes its mode so that we can change names in it. */
int land_dir_open_up(int fd);

/* Gives a folder that is held open what it shall have. */
int land_dir_put_has(int fd, const struct land_has *has);

/* Opens `top`. */
int land_top_open(struct landing *l);

/* It is above `top`, on another mount: we change nothing in it, nor the folder itself. */
bool land_dir_is_above(const struct landing *l, size_t i);

/* Restores the folder `top`, when nothing of ours is in it any more. */
int land_top_restore(struct landing *l, int64_t mtime, uint32_t mode);

int land_sync(int fd); /* a folder, also of an O_PATH descriptor */
int land_sync_all(int fd);

/* The last part of a path. */
const char *land_last(const char *path);

/* Says which of the caller's steps it was; returns -ESTALE. */
int land_conflict(const struct landing *l, size_t i, struct land_result *ret);

/* --- land_back.c, land_keep.c --------------------------------------------------------- */

/* What step i took out, in the staging folder: 1 and its name, 0 if there is nothing, or -errno. */
int land_out(const struct landing *l, size_t i, char ret[LAND_NAME_SIZE]);

/* Removes S, from which all that we know was taken; sets aside what is left. */
int land_stage_end(struct landing *l);

int land_roll_back(struct landing *l);
int land_finish(struct landing *l);

/* The numbers of what is kept, below a number. */
struct land_kept {
	uint64_t oldest, newest;
	size_t count;
};
int land_kept_numbers(int journal, uint64_t below, struct land_kept *ret);

/* The number for what comes out of the next landing. */
int land_next_number(int journal, uint64_t *ret);

#endif
