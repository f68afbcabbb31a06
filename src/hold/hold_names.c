/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths that files of the user name, whether something changed there or not.  A change can come
 * by the tree, by the index, or by a commit on a branch that is not checked out.  One function
 * answers for all of them.
 *
 *	a file		the path itself
 *	a pattern	paths that match it: settings that settings name
 *	a tail		paths that end with it: what runs in a folder that we do not know
 *	programs' tail	what is in a folder of PATH whose path ends so
 *	a tool		no path: a word of a hook, for hold_tools.c
 *	started		no path: a program that a hook starts, for hold_started.c
 *	programs	what is in a folder of PATH.  A program under the name of one that the user
 *			has is what that name means from then on, and is held; others are flagged.
 *			If a hook puts the folder there, all are held.  Of node_modules/.bin, which
 *			npx and similar tools put there, only the first kind is held
 *
 * Beyond NAMES_MAX paths we keep only a sum of each.  A change whose path has such a sum may be one
 * of them, and is held.
 *
 * A link in the place of a folder above such a path, or of a folder of PATH, leads to another one.
 * We write the reason only when a change is found: most names are never asked for.
 */
#include "hold_parts.h"

#include "fnv.h"
#include "str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NAMES_MAX = 1 << 17, NAMES_COMPARED = 256 };

static struct hold_name **names_bucket(struct hold_judge *j, const char *path, size_t len)
{
	return &j->names[fnv_bytes(FNV_START, path, len) % HOLD_NAME_BUCKETS];
}

static bool names_is(const struct hold_name *n, enum hold_name_kind kind, const char *path,
		     size_t len)
{
	return n->kind == kind && strncmp(n->path, path, len) == 0 && !n->path[len];
}

/* Where the last part of a path begins. */
static size_t names_last(const char *path, size_t len)
{
	while (len > 0 && path[len - 1] != '/')
		len--;
	return len;
}

static struct hold_name **names_bucket_tail(struct hold_judge *j, const char *path, size_t len)
{
	size_t last = names_last(path, len);

	return names_bucket(j, path + last, len - last);
}

/* Where the bit of a path's sum is.  Of a tail only the last part counts. */
static size_t names_bit(const char *path, size_t len, enum hold_name_kind kind)
{
	size_t last = kind == HOLD_NAME_TAIL ? names_last(path, len) : 0;
	const uint8_t of = (uint8_t)kind;

	return fnv_bytes(fnv_bytes(FNV_START, &of, 1), path + last, len - last) % HOLD_NAME_BITS;
}

void hold_sum_add(struct hold_judge *j, const char *path, size_t len, enum hold_name_kind kind)
{
	size_t bit = names_bit(path, len, kind);

	j->name_more[bit / 8] |= (uint8_t)(1u << bit % 8);
}

bool hold_sum_has(const struct hold_judge *j, const char *path, size_t len,
		  enum hold_name_kind kind)
{
	size_t bit = names_bit(path, len, kind);

	return j->name_more[bit / 8] >> bit % 8 & 1;
}

static bool names_same(const char *a, const char *b)
{
	return a == b || (a && b && str_equal(a, b));
}

int hold_give_up(struct hold_judge *j, const char *fmt, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (!j->unread)
		j->unread = arena_str(&j->changes->arena, why);
	return j->unread ? 0 : hold_no_memory(j);
}

/* The bucket of a name.  Nobody looks a tool up by its bucket, so its script counts, too, and tools
 * of many scripts are in different buckets. */
static struct hold_name **names_bucket_of(struct hold_judge *j, const struct hold_name *name,
					  size_t len)
{
	uint32_t sum = fnv_bytes(FNV_START, name->path, len);

	if (name->kind == HOLD_NAME_TAIL || name->kind == HOLD_NAME_PROGRAMS_TAIL)
		return names_bucket_tail(j, name->path, len);
	if (name->kind != HOLD_NAME_TOOL || !name->script)
		return names_bucket(j, name->path, len);
	return &j->names[fnv_bytes(sum, name->script, strlen(name->script)) % HOLD_NAME_BUCKETS];
}

/* Handles a name for which there is no room. */
static int names_beyond(struct hold_judge *j, const struct hold_name *name, size_t len)
{
	if (name->kind == HOLD_NAME_FILE || name->kind == HOLD_NAME_TAIL) {
		hold_sum_add(j, name->path, len, name->kind);
		return 0;
	}
	return hold_give_up(j,
			    "%.150s and others of yours name more than bawn keeps apart: what they "
			    "run is not known",
			    name->by);
}

int hold_name_add(struct hold_judge *j, const struct hold_name *name)
{
	size_t len = strlen(name->path), most = NAMES_COMPARED;
	struct hold_name **bucket = names_bucket_of(j, name, len);

	/* We compare with a few only: a name that is there twice costs only memory. */
	for (const struct hold_name *n = *bucket; n && most > 0; n = n->next, most--)
		if (n->row == name->row && n->most == name->most && n->plain == name->plain &&
		    names_same(n->script, name->script) && names_is(n, name->kind, name->path, len))
			return 1;
	if (name->row >= hold_row_count)
		return 0;
	bool is_path = name->kind == HOLD_NAME_FILE || name->kind == HOLD_NAME_TAIL;
	size_t *count = is_path ? &j->name_count : &j->word_count;

	if (*count == NAMES_MAX)
		return names_beyond(j, name, len);
	(*count)++;
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
	if (n->kind == HOLD_NAME_STARTED) {
		n->pattern = j->name_started;
		j->name_started = n;
	}
	return n->path ? 0 : hold_no_memory(j);
}

/* --- questions about them ------------------------------------------------------------------ */

/* The user's PATH has a program of this name, outside the workspace. */
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

/*
 * Another rule knows the path by its name, and not by its end alone (*.yml of json-schema, *.so).
 */
static bool names_is_known(struct hold_judge *j, const struct hold_name *n, const char *path)
{
	uint64_t by_end = 0;

	if (n->most == HOLD_HOLD)
		by_end |= 1ull << hold_row_of("json-schema");
	if (n->most == HOLD_HOLD && str_ends_with(path, ".so"))
		by_end |= 1ull << hold_row_of("python-names");
	hold_fold(path, &j->folded);
	return buf_error(&j->folded) == 0 &&
	       hold_find(j->rules, buf_str(&j->folded)) & ~(j->rules->every | by_end);
}

/* Judges a program of this name in a folder of PATH; NULL: the folder itself changed. */
static int names_ask_program(struct hold_judge *j, const struct change *c,
			     const struct hold_name *n, const char *program, struct hold_said *said)
{
	/* A hook puts the folder in PATH to run what is there. */
	bool hook = hold_rows[n->row].hook;
	bool held = !program || (hook && !n->plain) || names_has_program(j, program);

	if (!held && n->plain)
		return 0;
	if (said->level >= (held ? HOLD_HOLD : HOLD_FLAG))
		return 0;
	const char *why =
		hook ? arena_printf(
			       &j->changes->arena,
			       "git would run it through a hook: %.150s puts its folder in PATH",
			       n->by)
		: !program ? arena_printf(&j->changes->arena, "%.150s puts it in PATH", n->by)
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
	/* What a script names counts like what the hook names that runs the script. */
	if (n->script && said->level < HOLD_HOLD && !(n->plain && names_is_known(j, n, c->path)) &&
	    hold_runs_script(j, n->script)) {
		const struct hold_name *by = hold_script_by(j, n->script);
		const char *why =
			arena_printf(&j->changes->arena, "%s: the script %.60s of %.150s names it",
				     hold_what_runs(by), n->script, n->by);

		return why ? hold_ask_at(j, c, by ? by->row : hold_row_of("git-hook-folders"), why,
					 HOLD_HOLD, said)
			   : hold_no_memory(j);
	}
	if (n->most <= said->level || (n->plain && names_is_known(j, n, c->path)))
		return 0;
	const char *why = arena_printf(&j->changes->arena,
				       n->kind == HOLD_NAME_TAIL
					       ? "%s: %.150s names a file so, in a folder that is "
						 "not known"
					       : "%s: %.150s names it",
				       n->what, n->by);

	return why ? hold_ask_at(j, c, n->row, why, n->most, said) : hold_no_memory(j);
}

/* Judges a link: asks about every name at its path or below. */
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

/* The path is this tail, or ends with a slash and this tail. */
static bool names_ends(const char *path, size_t len, const char *tail)
{
	size_t n = strlen(tail);

	return n <= len && memcmp(path + len - n, tail, n) == 0 &&
	       (n == len || path[len - n - 1] == '/');
}

int hold_ask_names(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	size_t len = strlen(c->path), above = names_last(c->path, len);
	int r = 0;
	const char *program = c->path + above;

	above -= above > 0;
	for (const struct hold_name *n = *names_bucket(j, c->path, len); r == 0 && n; n = n->next)
		if (names_is(n, HOLD_NAME_FILE, c->path, len))
			r = names_ask(j, c, n, said);
	for (const struct hold_name *n = *names_bucket(j, c->path, above); r == 0 && n; n = n->next)
		if (names_is(n, HOLD_NAME_PROGRAMS, c->path, above))
			r = names_ask_program(j, c, n, program, said);
	for (const struct hold_name *n = *names_bucket_tail(j, c->path, above); r == 0 && n;
	     n = n->next)
		if (n->kind == HOLD_NAME_PROGRAMS_TAIL && names_ends(c->path, above, n->path))
			r = names_ask_program(j, c, n, program, said);
	for (const struct hold_name *n = *names_bucket_tail(j, c->path, len); r == 0 && n;
	     n = n->next)
		if (n->kind == HOLD_NAME_TAIL && names_ends(c->path, len, n->path))
			r = names_ask(j, c, n, said);
	for (const struct hold_name *n = j->name_patterns; r == 0 && n && !hold_is_late_soon(j);
	     n = n->pattern)
		if (hold_matches(n->path, c->path))
			r = names_ask(j, c, n, said);
	if (r == 0 && j->name_count == NAMES_MAX && said->level < HOLD_HOLD &&
	    (hold_sum_has(j, c->path, len, HOLD_NAME_FILE) ||
	     hold_sum_has(j, c->path, len, HOLD_NAME_TAIL)))
		r = hold_ask_at(j, c, hold_row_of("git-hook-folders"),
				"your hooks and settings name more files than bawn keeps apart, "
				"and this may be one of them",
				HOLD_HOLD, said);
	if (r == 0 && j->unread && said->level < HOLD_HOLD && !c->git)
		r = hold_ask_at(j, c, hold_row_of("git-hook-folders"), j->unread, HOLD_HOLD, said);
	return r == 0 && c->after.type == OBJECT_LINK ? names_ask_link(j, c, said) : r;
}
