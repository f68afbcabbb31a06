/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program was told of that it cannot have: arguments that are paths of files outside which
 * the box does not show.  Not every way to ask for a file is watched (a folder that is listed, what
 * lies beneath an open one, what a compiler looks for): whoever has to name it to a program is
 * seen here.  That it was named is all that is known, and `named` says no more.
 */
#include "watch_parts.h"

enum { WATCH_NAMED_MAX = 16 }; /* of one execution */

/* "--file=PATH" too. */
static const char *watch_named_path(const char *argument)
{
	const char *value = argument[0] == '-' ? strchr(argument, '=') : NULL;

	return value ? value + 1 : argument[0] == '-' ? "" : argument;
}

static bool watch_named_is_withheld(struct watch *w, const char *path)
{
	enum watch_place place = watch_map_find(&w->map, path).place;

	return (place == WATCH_PLACE_HIDDEN || place == WATCH_PLACE_HOME) &&
	       watch_is_withheld(w, path);
}

int watch_named(struct watch *w, const struct watch_process *p, const struct watch_exec *x)
{
	const char *cwd = buf_str(&x->cwd); /* "": it is not known */
	const char *at = buf_str(&x->argv);
	const char *end = at + x->argv.len;
	size_t found = 0;
	int r = 0;

	if (w->to.plan->record_reads == PLAN_READS_NONE)
		return 0;
	for (at += strlen(at) + 1; r == 0 && at < end && found < WATCH_NAMED_MAX;
	     at += strlen(at) + 1) {
		char path[WATCH_PATH_MAX];
		const char *said = watch_named_path(at);
		bool known = *said == '/' || (*said && *cwd);
		size_t len = known ? watch_path_join(cwd, said, path, sizeof(path)) : 0;

		if (len == 0 || !watch_named_is_withheld(w, path))
			continue;
		found++;
		r = watch_event_named(w, p, (struct span){(const uint8_t *)path, len});
	}
	return r;
}
