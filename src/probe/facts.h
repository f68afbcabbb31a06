/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the probes inside must know about the outside (a process number, a path,
 * a port), as lines of text:
 *
 *	key TAB value NEWLINE
 *
 * A byte of the value that is not printable ASCII, and '%', leaves as %XX, so a
 * hostile name cannot make a line of its own.  A key may come more than once.
 */
#ifndef BAWN_FACTS_H
#define BAWN_FACTS_H

#include "base.h"
#include "buf.h"

#include <limits.h>

enum { FACTS_MAX = 512, FACTS_BYTES_MAX = 256 << 10 };

struct fact {
	const char *key;
	const char *value;
};

struct facts {
	char *bytes;
	struct fact items[FACTS_MAX];
	size_t count;
};

void facts_fini(struct facts *f);

/* Appends one line. */
void facts_put(struct buf *into, const char *key, const char *value);
void facts_putf(struct buf *into, const char *key, const char *fmt, ...) BAWN_PRINTF(3, 4);

/* Takes a copy of text apart; 0, -EBADMSG or -ENOMEM. */
int facts_parse(struct span text, struct facts *ret_facts);

/* The value, or NULL.  The n-th one of that key for facts_nth. */
const char *facts_get(const struct facts *f, const char *key);
const char *facts_nth(const struct facts *f, const char *key, size_t n);
int facts_u64(const struct facts *f, const char *key, uint64_t *ret_value);

/*
 * The path that a row's `text` means on this machine: "~/x" is in the fact `home`, "@key" is the
 * value of that fact, all else is absolute.  False when the fact is missing.
 */
bool facts_path(const struct facts *facts, const char *text, char into[PATH_MAX]);

/* The same escapes for one field of a line: a value that stays on its line. */
void facts_escape(struct buf *into, const char *value);
int facts_unescape(char *value); /* in place; 0 or -EBADMSG */

#endif
