/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First versions: files of the workspace as they were before a session first changed them.  The
 * recorder writes them (first_keep.h) while the call that is about to change something waits.
 * apply reads them as the base of a three-way merge; undo of a direct session puts them back.
 *
 * The folder sessions/NAME/first has these files:
 *
 *	index	entries, one after the other, only ever appended to
 *	data	contents of small files, likewise
 *	HEX	the content of a larger file; HEX is its number, 16 digits
 *	tree	if the filesystem can, a snapshot of the workspace from before the session
 *		(subvolume.h); then the recorder keeps few files by themselves
 *	unseen	direct: entries of what changed while the session ran although the recorder saw no
 *		call that did it (reconcile.h): ABSENT for a new file, else what it was, with UNSEEN
 *
 * An entry, numbers little endian:
 *
 *	offset	bytes
 *	0	4	"BFV1"; "BFV2": with a time of birth; "BFV3": with attributes
 *	4	4	length of the whole entry
 *	8	4	kind: enum first_kind
 *	12	4	flags: enum first_flag
 *	16	4	why there is no content: enum first_why
 *	20	4	mode
 *	24	4	uid
 *	28	4	gid
 *	32	4	links
 *	36	4	length of the path
 *	40	4	length of the text that follows it
 *	44	4	BFV3: length of the attributes, not 0; else 0
 *	48	8	size
 *	56	8	device
 *	64	8	inode
 *	72	8	mtime, nanoseconds since 1970
 *	80	8	ctime
 *	88	8	atime
 *	96	8	where the content is: offset in data, or number
 *	104	32	SHA-256
 *	136	8	BFV2: when the file was made, nanoseconds since 1970, not 0; BFV3: or 0
 *	144	8	BFV3: where the attributes are: offset in data, in the form of attributes.h
 *	then		path and text
 *	end-4	4	check: FNV-1a of all before
 *
 * A writer cuts off an entry that does not fit.  A reader skips what is no whole entry, goes on
 * with the next whole one, and counts the skipped bytes (`unread`); its caller tells the user.
 * The numbers of a head have bytes that are 0, and paths have none: so no name can look like an
 * entry.
 *
 * LISTED: the attributes are known; in BFV1 and BFV2 there are none.  Set in direct mode, for
 * files and folders that can be read.
 *
 * An entry has the file's time of birth if the filesystem knows it (in review mode only for a
 * file with several names).  Inode numbers are used again, so two entries are of one file when
 * number and birth are the same.  A file that was made in the very moment in which the recorder
 * looked gets no time of birth: another file could get the same number and moment after it.
 *
 * The entries are a journal: each says what was at a path at that moment.  undo goes through
 * them backwards: at the end each path is as its earliest entry says.  MOVED says that the
 * session asked to rename a folder, so that paths of earlier entries beneath it may have other
 * names now; then a path may have a further entry.  The rename may have failed: the inode says
 * which folder it was, and so whether that folder has the new name.  A path also has a second
 * entry when first only its mode changed and later its content.
 *
 * In review mode a path may leave the session: it landed or was discarded, and the layers do not
 * have it any more.  When the session changes it once more, it gets an entry with AGAIN: what
 * was there then is its first version.  In review mode MOVED also has entries for the user's
 * files, so that it is known where they went.  And before the session makes a ref of git that
 * has no file, the recorder enters the packed-refs that may have it, even if the session never
 * changes packed-refs.
 *
 * Paths are below the workspace, relative, of any bytes but NUL, and have no "", "." or ".."
 * part; the workspace's own folder is ".".  In direct mode the recorder enters a folder (META)
 * before a name in it first changes, to keep its time; the workspace's own folder also before
 * its mode changes.
 */
#ifndef BAWN_FIRST_H
#define BAWN_FIRST_H

#include "buf.h"
#include "error.h"
#include "sha256.h"

enum {
	FIRST_PATH_MAX = 8192,
	FIRST_INDEX_MAX = 1 << 29, /* bytes of the index that are read */
	FIRST_HEAD = 136,          /* of BFV1 */
	FIRST_HEAD_BORN = 144,
	FIRST_HEAD_HAS = 152,
};

enum first_kind {
	FIRST_ABSENT, /* nothing was there */
	FIRST_FILE,
	FIRST_DIR,
	FIRST_LINK,  /* text: what it says */
	FIRST_OTHER, /* a socket, a pipe, a device */
	FIRST_MOVED, /* a folder, in review mode also a file, was renamed; text: to what path */
	FIRST_KIND_COUNT,
};

enum first_flag {
	FIRST_HASHED = 1 << 0,    /* the digest is the content's */
	FIRST_PACKED = 1 << 1,    /* the content is in `data` */
	FIRST_APART = 1 << 2,     /* the content is a file of its own */
	FIRST_META = 1 << 3,      /* only mode, owner or times were about to change */
	FIRST_END = 1 << 4,       /* not a first version: how the session left it */
	FIRST_DIRECT = 1 << 5,    /* of a session in direct mode */
	FIRST_EXCHANGED = 1 << 6, /* of MOVED: what was at `text` went to `path` */
	FIRST_IN_TREE = 1 << 7,   /* the content is at this path in the snapshot */
	FIRST_AGAIN = 1 << 8,     /* review: earlier entries of the path do not count any more */
	FIRST_LISTED = 1 << 9,    /* direct: the attributes are known */
	FIRST_FLAGS = (1 << 10) - 1,
};

/* Why the content is not there. */
enum first_why {
	FIRST_WHY_NOT,        /* it is there, or the thing has no content */
	FIRST_WHY_LARGE,      /* larger than what is kept for a merge */
	FIRST_WHY_LIMIT,      /* the session's limit was reached */
	FIRST_WHY_UNREADABLE, /* it could not be read, or another file was at the path */
	FIRST_WHY_FAILED,     /* it could not be written: no room */
	FIRST_WHY_UNSEEN,     /* it was changed, and the recorder saw no call that did it */
	FIRST_WHY_COUNT,
};

extern const char *const first_why_words[FIRST_WHY_COUNT];

struct first_entry {
	unsigned int kind; /* enum first_kind */
	unsigned int flags, why;
	uint32_t mode, uid, gid, links;
	uint64_t size, dev, ino;
	int64_t mtime, ctime, atime;
	int64_t born; /* 0: not known, or of a file with one name */
	uint64_t at;
	uint64_t has_at;  /* the attributes */
	uint32_t has_len; /* 0: there are none, or (not LISTED) nobody knows */
	uint8_t digest[SHA256_SIZE];
	const char *path; /* ends in NUL */
	const char *text; /* of LINK and MOVED; else "" */
};

/* When the file of this name in a folder was made; name "": the file of the descriptor.  0: the
 * filesystem does not know. */
int64_t first_born(int dir, const char *name);

/* Appends an entry. */
void first_entry_put(struct buf *into, const struct first_entry *e);

/*
 * Reads an entry at the start of bytes.  Its length; 0: the bytes end before the entry does;
 * -EPROTO: it is no entry.  Clears scratch and puts path and text there.
 */
ssize_t first_entry_take(struct span bytes, struct first_entry *ret, struct buf *scratch);

/* --- writing -------------------------------------------------------------------------- */

/* The index, to be appended to. */
struct first_index {
	int fd;
	uint64_t len;
	bool torn; /* after that is a part of an entry, which could not be cut off */
	struct buf out;
};

#define FIRST_INDEX_INIT ((struct first_index){.fd = -1})

int first_index_open(struct first_index *x, int dir);
/* The same of `unseen`. */
int first_index_open_unseen(struct first_index *x, int dir);
void first_index_close(struct first_index *x);

/* Appends an entry whole, or nothing: cuts off a part that was written.  As long as that fails, it
 * appends nothing more.  FIRST_WHY_NOT, or why there is no entry. */
enum first_why first_index_put(struct first_index *x, const struct first_entry *e, uint64_t limit);

/* --- reading -------------------------------------------------------------------------- */

struct first {
	int dir;
	char *bytes; /* the index */
	size_t len;
	uint64_t unread; /* bytes of it that are no whole entry, or beyond what is read */
	size_t count;
	size_t *at;       /* of each entry */
	uint32_t *sorted; /* by path, earlier entries of one path first */
	char **paths;     /* of each entry */
	char *names;      /* the memory of paths and texts */
	char **texts;
};

#define FIRST_INIT ((struct first){.dir = -1})

/* Reads a folder first/, and keeps a copy of the descriptor.  An empty one has no entries; of a
 * damaged one it gets the whole entries, and `unread`.  0 or -errno, and a sentence. */
int first_open(int dir, struct first *ret, struct error *e);
/* The same of `unseen`. */
int first_open_unseen(int dir, struct first *ret, struct error *e);
void first_close(struct first *f);
#define _cleanup_first_ _cleanup_(first_close)

/* Entry i, in the order in which they were made. */
void first_at(const struct first *f, size_t i, struct first_entry *ret);

/* For each entry, earliest first; a negative answer ends it. */
int first_each(const struct first *f,
	       int (*found)(void *context, size_t i, const struct first_entry *e), void *context);

/* Calls found once for each path, in the order of paths: one path may have many entries.  A
 * negative answer ends it. */
int first_each_path(const struct first *f, int (*found)(void *context, const char *path),
		    void *context);

/*
 * What was at this path before the session: its first entry, with the content and digest of
 * the first entry that has them.  The entry's number, or -ENOENT.
 */
ssize_t first_find(const struct first *f, const char *path, struct first_entry *ret);

/* The last entry of this path before entry number `before`.  Its number, or -ENOENT. */
ssize_t first_find_before(const struct first *f, const char *path, size_t before,
			  struct first_entry *ret);

/* Calls found for each entry of this path, earliest first; a negative answer ends it. */
int first_each_of(const struct first *f, const char *path,
		  int (*found)(void *context, const struct first_entry *e), void *context);

/* How the session left it: its last END entry.  Its number, or -ENOENT. */
ssize_t first_find_end(const struct first *f, const char *path, struct first_entry *ret);

/* The content of an entry, at its start: a descriptor, or -ENOENT; -ESTALE: damaged. */
int first_content(const struct first *f, const struct first_entry *e);

/* Appends its attributes.  0, or -errno; -ENODATA: they are not known. */
int first_attributes(const struct first *f, const struct first_entry *e, struct buf *into);

#endif
