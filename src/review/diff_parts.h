/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn diff`, by what each file knows:
 *
 *	review_diff.c	the verb: picks, counts; the order of things
 *	diff_parts.c	what all others use: the changes read and judged, words put
 *	diff_show.c	one change as a person reads it
 *	diff_fold.c	what is not worth a line of its own: directories, git's own files, and
 *			directories that were moved as a whole
 *	diff_refs.c	branches, tags and the like that moved
 *	diff_stat.c	--stat
 *	diff_json.c	--json
 *	review_between.c	--between
 */
#ifndef BAWN_DIFF_PARTS_H
#define BAWN_DIFF_PARTS_H

#include "content.h"
#include "json.h"
#include "review.h"
#include "text.h"

enum { DIFF_FLUSH = 64 << 10, DIFF_OUT_MAX = 256 << 20, DIFF_STATUS = 9 };

/* What happens to a change on the screen. */
enum diff_fate {
	DIFF_SHOWN,
	DIFF_SILENT, /* a directory, told by what is in it */
	DIFF_GIT,    /* git's own, told by one group of lines */
	DIFF_MOVED,  /* in a directory that moved as a whole */
	DIFF_AWAY,   /* not picked */
};

struct diff_totals {
	size_t kinds[CHANGE_KIND_COUNT];
	size_t groups[CHANGE_GROUP_COUNT];
	size_t files;
	uint64_t added, removed; /* lines */
};

struct diff {
	bool only_held; /* the rest is left out */
	struct review *review;
	struct view view;
	const int *instead; /* what lands in place of the layer's file (content.h); or NULL */
	struct changes changes;
	uint8_t *fates; /* enum diff_fate of each change */
	struct picks picks;
	struct text text;
	struct buf out;
	struct diff_totals totals;
};

static inline bool diff_is_file(const struct change *c)
{
	return c->before.type != OBJECT_DIR && c->after.type != OBJECT_DIR;
}

/* --- diff_parts.c --- */

/* Opens the view of a session and reads its changes, judged by the holds that are in force. */
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

/* "session calm-otter in /home/me/project (it stopped ...)". */
void diff_put_session(struct diff *d, const struct layers_session *s, bool runs);

/* --- diff_fold.c --- */

/* Decides the fates; only those that are not AWAY are looked at. */
int diff_fold(struct diff *d, struct error *e);
/* The lines for directories that moved, and for git's own files. */
int diff_put_moves(struct diff *d, struct error *e);
int diff_put_git(struct diff *d, struct error *e);

/* --- diff_refs.c --- */

/* A line for each ref of a repository that is new, gone or moved. */
int diff_put_refs(struct diff *d, const char *gitdir, struct error *e);

/* --- diff_show.c --- */

/* All of a change; counts its lines. */
int diff_put_change(struct diff *d, const struct change *c, struct error *e);

/* --- diff_stat.c, diff_json.c, review_between.c --- */

int diff_put_stat(struct diff *d, struct error *e);
int diff_put_json(struct diff *d, struct error *e);
/* A path as the record's JSON has bytes: text, or {"b64": ...} when it is no UTF-8. */
void diff_json_bytes(struct json *j, const char *key, const char *bytes);
int review_between(const struct invocation *i);

#endif
