/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn why PATH`, first half: which entry of a plan shows a path to the box, or hides it. */
#ifndef BAWN_WHY_PATH_H
#define BAWN_WHY_PATH_H

#include "json.h"
#include "plan.h"
#include "text.h"

/* The mount that path is in, as the box sees it: the last that covers it.  NULL: none does. */
const struct plan_mount *why_path_mount(const struct plan *p, const char *path);

/* The box sees what the user has there: then it was a write that was refused.  Only the plan
 * counts: we look up no name of the box outside. */
bool why_path_is_readable(const struct plan *p, const char *path);

/* where: "session calm-otter", "your files". */
void why_path_print(const struct text *t, const struct plan *p, const char *path,
		    const char *where);
/* Adds members to an object that the caller has opened. */
void why_path_json(struct json *j, const struct plan *p, const char *path);

#endif
