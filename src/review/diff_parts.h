/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn diff`, by what each file knows:
 *
 *	review_diff.c	the verb: picks, counts; the order of things
 *	diff_parts.c	what all others use: the changes read and judged, words put
 *	diff_show.c	one change as a person reads it
 *	folding.c	what is not worth a line of its own, here and in apply; one way of counting
 *	diff_fold.c	the lines for it: git's own files, heaps, directories moved as a whole
 *	diff_refs.c	branches, tags and the like that moved
 *	diff_stat.c	--stat
 *	diff_patch.c	--patch
 *	diff_word.c	--word
 *	diff_json.c	--json
 *	review_between.c	--between
 */
#ifndef BAWN_DIFF_PARTS_H
#define BAWN_DIFF_PARTS_H

#include "content.h"
#include "folding.h"
#include "json.h"
#include "new_commits.h"
#include "review.h"
#include "text.h"
#include "unified.h"

enum { DIFF_FLUSH = 64 << 10, DIFF_OUT_MAX = 256 << 20, DIFF_STATUS = 9 };

struct diff_totals {
	size_t kinds[CHANGE_KIND_COUNT];
	size_t groups[CHANGE_GROUP_COUNT];
	struct tally tally;
	uint64_t added, removed; /* lines */
};

struct diff {
	bool only_held;            /* the rest is left out */
	bool as_text;              /* what is none, too */
	bool by_word;              /* words are marked within lines */
	struct review *review;     /* NULL: of apply, which has the changes read */
	struct progress *progress; /* NULL: nobody waits */
	struct view view;
	/* Content that lands in the place of the layer's file (content.h); or NULL. */
	const int *instead;
	const int *instead_at; /* the same for each change, -1: the layer's; or NULL */
	struct changes changes;
	struct folding folding;
	struct new_commits commits;
	struct branch_strays strays;
	struct picks picks;
	struct text text;
	struct buf out;
	struct diff_totals totals;
	/* How much of the change that is shown now is the same, in percent; 0: not asked. */
	uint8_t alike;
};

/* --- review_diff.c --- */

/* Puts all changes, in groups, and the sum at the end; call it after diff_fold. */
int diff_put_all(struct diff *d, struct error *e);

/* --- diff_parts.c --- */

/* Opens the view of a session and reads its changes, judged by the rules that are valid now. */
int diff_read(struct diff *d, const struct layers_session *s, bool hash_all, struct error *e);
void diff_fini(struct diff *d);
#define _cleanup_diff_ _cleanup_(diff_fini)

void diff_flush(struct diff *d, bool all);
/* Appends a styled text, escaped. */
void diff_put(struct diff *d, enum text_style style, const char *fmt, ...) BAWN_PRINTF(3, 4);
static inline void diff_end_line(struct diff *d)
{
	buf_put_char(&d->out, '\n');
}

/* Puts "session calm-otter in /home/me/project (it stopped ...)". */
void diff_put_session(struct diff *d, const struct layers_session *s, bool runs);

/* --- diff_fold.c --- */

/* Decides what becomes of each change on the screen, and finds the commits. */
int diff_fold(struct diff *d, struct error *e);
int diff_fold_by(struct diff *d, const struct folding_how *how, struct error *e);
/* The next three put the lines for directories that moved, for commits and git's own files, and for
 * heaps. */
/* The first change at this path or after it. */
size_t diff_first(const struct diff *d, const char *path);
int diff_put_moves(struct diff *d, struct error *e);
int diff_put_git(struct diff *d, struct error *e);
void diff_put_heaps(struct diff *d);
/* Puts lines for heaps that wait for a held change. */
void diff_put_waiting(struct diff *d);
/* Puts what is flagged in heaps: a line for each rule. */
void diff_put_heaped_rules(struct diff *d);

/* --- diff_refs.c --- */

/* Puts a line for each ref of a repository that is new, gone or moved. */
int diff_put_refs(struct diff *d, const char *gitdir, struct error *e);

/* --- diff_show.c --- */

/* Puts all of a change, and counts its lines. */
int diff_put_change(struct diff *d, const struct change *c, struct error *e);
/* The same for one of the list: if it was renamed and edited, both halves. */
int diff_put_at(struct diff *d, size_t i, struct error *e);

/* --- diff_stat.c, diff_patch.c, diff_json.c, review_between.c --- */

int diff_put_stat(struct diff *d, struct error *e);
int diff_put_patch(struct diff *d, struct error *e);
/* --- diff_word.c: the lines of a region, once, with removed and added words marked in them --- */
int diff_put_words(struct diff *d, const struct content *content, const struct hunk *h);
int diff_put_json(struct diff *d, struct error *e);
/* Puts a path as JSON of the record: text, or {"b64": ...} if it is no UTF-8. */
void diff_json_bytes(struct json *j, const char *key, const char *bytes);
int review_between(const struct invocation *i);

#endif
