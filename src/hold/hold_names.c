/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths that files of the user's name, whether anything is changed there or not: a change can
 * come by the tree, by the index, or by a commit on a branch that nobody has checked out, and all
 * of them are asked about here, by one function.
 *
 *	a file		the path itself
 *	a pattern	paths that match it: settings that settings name
 *	programs	what is in a folder of PATH.  A program under the name of one that the user
 *			has is what that name means from then on, and is held; others are flagged
 *
 * A link in the place of a folder above such a path, or of a folder of PATH, brings another one.
 * What is said of a change is put into words when it is found: most names are never asked for.
 */
#include "hold_parts.h"

#include "fnv.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NAMES_MAX = 1 << 18 };

static struct hold_name **names_bucket(struct hold_judge *j, const char *path, size_t len)
{
	return &j->names[fnv_bytes(FNV_START, path, len) % HOLD_NAME_BUCKETS];
}

static bool names_is(const struct hold_name *n, enum hold_name_kind kind, const char *path,
		     size_t len)
{
	return n->kind == kind && strncmp(n->path, path, len) == 0 && !n->path[len];
}

int hold_name_add(struct hold_judge *j, const struct hold_name *name)
{
	size_t len = strlen(name->path);
	struct hold_name **bucket = names_bucket(j, name->path, len);

	for (const struct hold_name *n = *bucket; n; n = n->next)
		if (n->row == name->row && n->most == name->most && n->plain == name->plain &&
		    names_is(n, name->kind, name->path, len))
			return 1;
	if (name->row >= hold_row_count || ++j->name_count > NAMES_MAX)
		return 0;
	struct hold_name *n = arena_alloc(&j->arena, sizeof(*n));

	if (!n)
		return hold_no_memory(j);
	*n = *name;
	n->path = arena_strn(&j->arena, name->path, len);
	n->next = *bucket;
	n->other = j->name_list;
	*bucket = j->name_list = n;
	if (n->kind == HOLD_NAME_PATTERN) {
		n->pattern = j->name_patterns;
		j->name_patterns = n;
	}
	return n->path ? 0 : hold_no_memory(j);
}

/* --- what is asked about them ------------------------------------------------------------- */

/* The name is one of a program that stands in the user's PATH, elsewhere than in the workspace. */
static bool names_has_program(const struct hold_judge *j, const char *name)
{
	const char *at = getenv("PATH");
	char file[PATH_MAX];

	for (at = at && *at ? at : "/usr/local/bin:/usr/bin:/bin"; *at;) {
		size_t len = strcspn(at, ":");
		size_t top = strlen(j->workspace);
		bool inside = top && strncmp(at, j->workspace, top) == 0 &&
			      (at[top] == '/' || at[top] == ':' || !at[top]);

		if (*at == '/' && !inside &&
		    snprintf(file, sizeof(file), "%.*s/%s", (int)len, at, name) <
			    (int)sizeof(file) &&
		    access(file, X_OK) == 0)
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

/* Another rule knows it by its name. */
static bool names_is_known(struct hold_judge *j, const char *path)
{
	hold_fold(path, &j->folded);
	return buf_error(&j->folded) == 0 &&
	       hold_find(j->rules, buf_str(&j->folded)) & ~j->rules->every;
}

/* A program of this name in the folder; NULL: the folder itself is another one. */
static int names_ask_program(struct hold_judge *j, const struct change *c,
			     const struct hold_name *n, const char *program, struct hold_said *said)
{
	bool held = !program || names_has_program(j, program);

	if (said->level >= (held ? HOLD_HOLD : HOLD_FLAG))
		return 0;
	const char *why =
		!program ? arena_printf(&j->changes->arena, "%.150s puts it in PATH", n->by)
			 : arena_printf(&j->changes->arena,
					held ? "%.150s puts its folder in PATH: it is what %.60s "
					       "means from then on"
					     : "%.150s puts its folder in PATH, as %.60s",
					n->by, program);

	return why ? hold_ask_at(j, c, n->row, why, held ? HOLD_HOLD : HOLD_FLAG, said)
		   : hold_no_memory(j);
}

static int names_ask(struct hold_judge *j, const struct change *c, const struct hold_name *n,
		     struct hold_said *said)
{
	if (n->kind == HOLD_NAME_PROGRAMS)
		return names_ask_program(j, c, n, NULL, said);
	if (n->most <= said->level || (n->plain && names_is_known(j, c->path)))
		return 0;
	const char *why = arena_printf(&j->changes->arena, "%s: %.150s names it", n->what, n->by);

	return why ? hold_ask_at(j, c, n->row, why, n->most, said) : hold_no_memory(j);
}

/* Everything that it stands in the place of, or above. */
static int names_ask_link(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	int r = 0;

	for (const struct hold_name *n = j->name_list; r == 0 && n && !hold_is_late_soon(j);
	     n = n->other) {
		const char *below = str_after(n->path, c->path);

		if (below && (*below == '/' || (!*below && n->kind == HOLD_NAME_PROGRAMS)))
			r = names_ask(j, c, n, said);
	}
	return r;
}

int hold_ask_names(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	size_t len = strlen(c->path), above = len;
	int r = 0;

	while (above > 0 && c->path[above - 1] != '/')
		above--;
	const char *program = c->path + above;

	above -= above > 0;
	for (const struct hold_name *n = *names_bucket(j, c->path, len); r == 0 && n; n = n->next)
		if (names_is(n, HOLD_NAME_FILE, c->path, len))
			r = names_ask(j, c, n, said);
	for (const struct hold_name *n = *names_bucket(j, c->path, above); r == 0 && n; n = n->next)
		if (names_is(n, HOLD_NAME_PROGRAMS, c->path, above))
			r = names_ask_program(j, c, n, program, said);
	for (const struct hold_name *n = j->name_patterns; r == 0 && n; n = n->pattern)
		if (hold_matches(n->path, c->path))
			r = names_ask(j, c, n, said);
	return r == 0 && c->after.type == OBJECT_LINK ? names_ask_link(j, c, said) : r;
}
