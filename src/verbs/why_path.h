/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn why PATH`, first half: which entry of a plan shows a path to the box, or hides it. */
#ifndef BAWN_WHY_PATH_H
#define BAWN_WHY_PATH_H

#include "json.h"
#include "plan.h"
#include "text.h"

#include <limits.h>

enum why_seen {
	WHY_NOT_SHOWN, /* the user's is not seen: nothing is there, or something of the box's own */
	WHY_READABLE,
	WHY_WRITABLE,
	WHY_CLOSED, /* it is there, and cannot be opened */
	WHY_HIDDEN,
	WHY_OWN, /* the box has one of its own, whatever the user has there */
	WHY_SEEN_COUNT,
};

extern const char *const why_seen_words[WHY_SEEN_COUNT];

struct why_view {
	enum why_seen seen;
	const struct plan_mount *mount; /* the entry that decides; NULL: none does */
	const char *meaning;
	char leads[PATH_MAX]; /* where the path leads in the box, by links */
	bool there;           /* the user has something there */
};

/* The mount that path is in, as the box sees it: the last that covers it.  NULL: none does. */
const struct plan_mount *why_path_mount(const struct plan *p, const char *path);

/* What a command of the box can do with a path of the user's; links are followed as inside. */
void why_path_look(const struct plan *p, const char *path, struct why_view *ret);

/* where: "session calm-otter", "your files". */
void why_path_print(const struct text *t, const struct plan *p, const char *path,
		    const char *where);
/* Members of an object that the caller has open. */
void why_path_json(struct json *j, const struct plan *p, const char *path);

#endif
