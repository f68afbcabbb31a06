/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in a tree of files, at one time: names, types, sizes, times, modes, owners, inodes and
 * the texts of links; never the content of a file.
 *
 * We walk the tree from a directory that the caller holds.  We follow no link, reach nothing above
 * the directory and do not enter other filesystems that are mounted beneath.  The walk is breadth
 * first and the manifest is its own queue: whoever stops after any manifest_step has a manifest of
 * what was read so far, and each directory says whether its names are complete (MANIFEST_READ).  So
 * a tree of any shape needs no stack and no more than two descriptors.
 *
 * The tree may change while we walk it, and whoever changes it may mean harm:
 *
 *	a directory is opened again by its names and has to be the same inode, else it is unread
 *	one whose times say that it changed since the session began is MANIFEST_LATE: names may
 *	be missing or double
 *	names have any bytes but '/' and NUL; they are kept as they are
 *	MANIFEST_DEPTH_MAX, MANIFEST_ENTRIES_MAX and MANIFEST_NAMES_MAX limit its size
 *
 * What was not read is counted by reason (enum manifest_reason): a manifest never hides that
 * something is missing.
 *
 * An entry is 56 bytes and its name.  The memory is one mapping that is shared with children, so
 * that one may walk for its parent (scanner.h); pages that were never written cost nothing.
 */
#ifndef BAWN_MANIFEST_H
#define BAWN_MANIFEST_H

#include "buf.h"
#include "span.h"

enum {
	MANIFEST_ENTRIES_MAX = 2 << 20,
	MANIFEST_NAMES_MAX = 192 << 20,
	MANIFEST_DEPTH_MAX = 400,
	MANIFEST_PATH_MAX = (MANIFEST_DEPTH_MAX + 1) * 256,
};

#define MANIFEST_NONE UINT32_MAX

enum manifest_flag {
	MANIFEST_READ = 1 << 0,  /* directory: all its names are here */
	MANIFEST_LATE = 1 << 1,  /* directory: changed in the session before we read it */
	MANIFEST_BORN = 1 << 2,  /* made since the session began, as the filesystem says */
	MANIFEST_OTHER = 1 << 3, /* directory: another filesystem is mounted on it */
};

/* Why something is missing in the manifest. */
enum manifest_reason {
	MANIFEST_DENIED,   /* a directory that we may not read */
	MANIFEST_VANISHED, /* a directory that was gone, or another one, when it was opened */
	MANIFEST_MOUNT,    /* another filesystem is mounted there */
	MANIFEST_DEEP,     /* too deep */
	MANIFEST_FULL,     /* too many entries: counted per directory that was cut or not begun */
	MANIFEST_FAILED,   /* the filesystem failed */
	MANIFEST_REASON_COUNT,
};

extern const char *const manifest_reason_words[MANIFEST_REASON_COUNT];

struct manifest_entry {
	uint64_t inode, size;
	int64_t mtime, ctime; /* nanoseconds since 1970 */
	uint32_t parent;      /* index; of the first entry, the tree itself, 0 */
	uint32_t name;        /* offset; ends in NUL, and after it comes the text of a link */
	uint32_t mode, uid, gid;
	uint16_t name_len;
	uint8_t flags; /* enum manifest_flag */
	uint8_t links; /* names that it has; 2 for more */
};

struct manifest_head {
	uint32_t count, next; /* entries; the next one for manifest_step */
	uint32_t names;       /* bytes */
	bool done;
	uint64_t unread[MANIFEST_REASON_COUNT];
	uint64_t entries_left_out;
};

struct manifest {
	struct manifest_head *head;
	struct manifest_head *shared; /* once frozen: the one that `head` is a copy of; or NULL */
	struct manifest_head frozen;
	struct manifest_entry *entries;
	char *names;
	int root;              /* the directory; the caller closes it */
	int64_t since;         /* when the session began, nanoseconds since 1970 */
	struct manifest *next; /* for a caller that walks several; NULL */
};

/* 0 or -errno. */
int manifest_init(struct manifest *m, int root, int64_t since);
void manifest_fini(struct manifest *m);
#define _cleanup_manifest_ _cleanup_(manifest_fini)

/* Reads one more directory; false when there is none left. */
bool manifest_step(struct manifest *m);

/* For a process that does not walk itself: from now on it sees only what is here now, even while
 * the walker goes on for a moment. */
void manifest_freeze(struct manifest *m);

/* Whether a directory's names are those that it had when the session began. */
bool manifest_is_known(const struct manifest *m, uint32_t index);

static inline struct span manifest_name(const struct manifest *m, const struct manifest_entry *e)
{
	return (struct span){(const uint8_t *)m->names + e->name, e->name_len};
}

/* The text of a symbolic link. */
struct span manifest_link(const struct manifest *m, const struct manifest_entry *e);

/* The path of an entry below the tree, "a/b"; empty for the tree itself. */
void manifest_path(const struct manifest *m, uint32_t index, struct buf *into);

#endif
