/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version that a session's version of a path was made from, if that is not what the session
 * found at its start: something of the session landed, or undo took it back.
 *
 *	sessions/NAME/basis	 "bawn-basis-1\n", then an entry for each path, sorted by path,
 *				 each ended by a NUL:
 *				 TYPE MODE SIZE DIGEST PATH
 *				 -    0    0    -      gone.txt
 *				 f    644  120  3a7b.. src/main.c
 *	sessions/NAME/basis.d/	 content of such files, by digest, as far as it is kept
 *	sessions/NAME/decided	 in the same form: what landed where both sides had changed
 *				 something and the user decided.  Once that is undone it is a
 *				 conflict again, without an entry in basis, and here is the one
 *				 that it gets back when it is redone
 *
 *	sessions/NAME/stayed	 in the same form: what counts as landed because something else did,
 *				 the user's version that stayed in landing N.  N/is/PATH is the
 *				 entry in basis that PATH got then, N/was/PATH the one that it had;
 *				 without such a line there was none.  undo exchanges the two
 *
 *	sessions/NAME/seen	 in the same form: what `bawn diff` showed of it; its time is when
 *
 * TYPE is f, d, l (a file, a directory, a link) or - (nothing is there); MODE is octal, SIZE
 * decimal, DIGEST 64 hexadecimal digits of what the file holds or the link says.
 *
 * If the session's version is the one here, nothing is left to apply, whatever the user did to the
 * file since.  To merge two versions, this is the one that both came from.
 */
#ifndef BAWN_BASIS_H
#define BAWN_BASIS_H

#include "buf.h"
#include "changes.h"

enum {
	BASIS_BYTES_MAX = 64 << 20,
	BASIS_ENTRIES_MAX = 1 << 20,
	BASIS_CONTENT_MAX = 1 << 20, /* of a larger file only the digest is kept */
};

struct basis_entry {
	const char *path;
	struct object object; /* type, mode, size, digest */
};

struct basis {
	struct arena arena;
	struct basis_entry *items; /* sorted */
	size_t count;
};

#define BASIS_INIT ((struct basis){.arena = ARENA_INIT(4ul * BASIS_BYTES_MAX)})

/* `session` is the session's folder.  Without such a file the basis is empty. */
int basis_read(int session, struct basis *ret, struct error *e);
/* Writes all of it, or leaves the file as it was. */
int basis_write(int session, const struct basis *b, struct error *e);
int basis_read_decided(int session, struct basis *ret, struct error *e);
int basis_write_decided(int session, const struct basis *b, struct error *e);
int basis_read_stayed(int session, struct basis *ret, struct error *e);
int basis_write_stayed(int session, const struct basis *b, struct error *e);
#define BASIS_SEEN_NAME "seen"
/* Returns a lock, or -errno.  A caller that reads `seen` to write it again holds the lock
 * meanwhile, and closes it. */
int basis_lock_seen(int session);
int basis_read_seen(int session, struct basis *ret, struct error *e);
int basis_write_seen(int session, const struct basis *b, struct error *e);
void basis_fini(struct basis *b);
#define _cleanup_basis_ _cleanup_(basis_fini)

const struct basis_entry *basis_find(const struct basis *b, const char *path);
int basis_set(struct basis *b, const char *path, const struct object *object);
void basis_remove(struct basis *b, const char *path);

/* Keeps the content of a file, which is open at `from`.  A file that is too large is not kept; that
 * is no error. */
int basis_keep(int session, const struct object *object, int from);
/* Opens the kept content; -ENOENT: there is none. */
int basis_content(int session, const struct object *object);

/* For fuzzing and tests. */
int basis_parse(struct span text, struct basis *into);
void basis_format(const struct basis *b, struct buf *into);

/* Both are the same: type, content, or the text of a link. */
bool basis_same_content(const struct object *a, const struct object *b);
/* And they have the same mode.  Links and absent objects have none. */
bool basis_same(const struct object *a, const struct object *b);

#endif
