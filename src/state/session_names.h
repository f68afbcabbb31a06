/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sessions are called, and which one a person means.
 *
 * A session has one name of its own, from its start to its end: two plain words, or what `bawn run
 * --name` said.  Its record bears that name for good, and the ledger of records knows it by that.  So
 * `bawn rename` changes nothing there.  It gives the session a label, a second name:
 *
 *	STATE/names/LABEL -> NAME	a symbolic link that nobody follows
 *
 * One session has one label at most.  A label whose session is gone is nobody's and may be given again.
 */
#ifndef BAWN_SESSION_NAMES_H
#define BAWN_SESSION_NAMES_H

#include "layers.h"
#include "session_store.h"

/* Whether a person may call a session so; if not, why. */
int session_names_check(const char *name, struct error *e);

enum session_where {
	SESSION_RUNS = 1u << 0,
	SESSION_KEPT = 1u << 1,     /* its changes are, or what undoes them */
	SESSION_RECORDED = 1u << 2, /* it has a record */
	SESSION_ANYWHERE = SESSION_RUNS | SESSION_KEPT | SESSION_RECORDED,
};

/* What a person may type for a name. */
enum session_typed {
	SESSION_TYPED_BEGINNING, /* its beginning will do */
	SESSION_TYPED_WHOLE,     /* nobody looks, so it is the whole name: 'api' is never 'api2' */
};

/* By whether standard error is a terminal. */
enum session_typed session_typed_now(void);

struct session_known {
	char name[LAYERS_NAME_MAX + 1];
	char label[SESSION_NAME_MAX]; /* or "" */
	unsigned int where;           /* set of enum session_where */
};

struct session_names {
	struct session_known *items; /* by name */
	size_t count;
};

void session_names_fini(struct session_names *n);
#define _cleanup_session_names_ _cleanup_(session_names_fini)

/* Those that are in one of these places; `where` of each has no others. */
int session_names_get(const struct session_places *places, unsigned int where,
		      struct session_names *ret, struct error *e);

/* The one of this name or label, or else the only one that begins so.  NULL: -ENOENT, or -ENOTUNIQ, with
 * a sentence. */
const struct session_known *session_names_match(const struct session_names *n, const char *typed,
						enum session_typed how, struct error *e);

/* Both: the own name of the session that is meant.  The whole name of one that is elsewhere is no
 * beginning of another's. */
int session_names_find(const struct session_places *places, const char *typed, unsigned int where,
		       enum session_typed how, char ret_name[LAYERS_NAME_MAX + 1], struct error *e);

/* The session that has this label; -ENOENT. */
int session_label_read(const char *state, const char *label, char ret_name[LAYERS_NAME_MAX + 1]);
/* The label of a session, or "". */
void session_label_of(const char *state, const char *name, char ret_label[SESSION_NAME_MAX]);
/* What a person is shown: its label, or else its own name. */
void session_label_shown(const char *state, const char *name, char ret[LAYERS_NAME_MAX + 1]);

/* All labels, for who asks about many sessions.  What cannot be read has none. */
struct session_labels {
	struct session_known *items; /* by name */
	size_t count;
};
void session_labels_get(const char *state, struct session_labels *ret);
/* The label of a session, or "". */
const char *session_labels_find(const struct session_labels *l, const char *name);
void session_labels_fini(struct session_labels *l);
#define _cleanup_session_labels_ _cleanup_(session_labels_fini)

/* Gives a session this label in the place of any other; "": it has none. */
int session_label_give(const char *state, const char *name, const char *label, struct error *e);

#endif
