/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers of all build_*.c: lists that grow, text, notes, made-up files; and what the
 * box shows with the mounts that are in the plan so far.
 */
#include "build_parts.h"

#include "str.h"

#include <stdarg.h>
#include <stdio.h>

enum { BUILD_LIST_FIRST = 16 };

void *build_grow(struct build *b, void **items, size_t *count, size_t size)
{
	size_t n = *count;

	/* Full at each power of two from the first size on, as host_list_add has it. */
	if (n == 0 || (n >= BUILD_LIST_FIRST && (n & (n - 1)) == 0)) {
		void *more = arena_alloc(b->arena, (n ? 2 * n : BUILD_LIST_FIRST) * size);

		if (!more) {
			b->no_memory = true;
			memset(&b->spare, 0, sizeof(b->spare));
			return &b->spare;
		}
		if (n > 0)
			memcpy(more, *items, n * size);
		*items = more;
	}
	(*count)++;
	void *item = (char *)*items + n * size;
	memset(item, 0, size);
	return item;
}

const char *build_printf(struct build *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *text = n < 0 ? NULL : arena_alloc(b->arena, (size_t)n + 1);
	if (!text) {
		b->no_memory = true;
		return "";
	}
	va_start(ap, fmt);
	(void)vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}

void build_note(struct build *b, enum plan_note_kind kind, const char *what, const char *why,
		const char *origin)
{
	struct plan_note *note = build_grow(b, BUILD_LIST(b->plan.notes));

	*note = (struct plan_note){.kind = kind, .what = what, .why = why, .origin = origin};
}

const struct plan_mount *build_mount_over(const struct build *b, const char *path)
{
	const struct plan_mount *over = NULL;
	size_t longest = 0;

	/* Of two at one place the later one is on top. */
	for (size_t i = 0; i < b->plan.mounts.count; i++) {
		const struct plan_mount *m = &b->plan.mounts.items[i];

		/* This runs many times at every start: compare one letter first. */
		if (m->target[1] != path[1] || !str_path_beneath(path, m->target))
			continue;
		size_t len = strlen(m->target);

		if (len >= longest) {
			over = m;
			longest = len;
		}
	}
	return over;
}

bool build_shows(const struct build *b, const char *path)
{
	if (b->plan.backend == PLAN_BACKEND_HOST)
		return true;
	/* A hide above the path hides it, whatever was mounted beneath before. */
	for (size_t i = 0; i < b->plan.mounts.count; i++)
		if (b->plan.mounts.items[i].kind == PLAN_MOUNT_HIDE &&
		    str_path_beneath(path, b->plan.mounts.items[i].target))
			return false;
	const struct plan_mount *m = build_mount_over(b, path);

	if (!m)
		return false;
	if (m->kind == PLAN_MOUNT_LINK)
		return str_equal(m->role, "system");
	return m->kind == PLAN_MOUNT_BIND && !str_equal(m->role, "home");
}

const char *build_shell(const struct build *b)
{
	return build_shows(b, b->host->shell) ? b->host->shell : "/bin/sh";
}

void build_file(struct build *b, const char *target, const char *content)
{
	const struct plan_mount *over = build_mount_over(b, target);

	/* The user named the host's own file: show that one instead. */
	if (over && str_equal(over->target, target))
		return;
	*build_add_mount(b) = (struct plan_mount){
		.kind = PLAN_MOUNT_FILE,
		.access = PLAN_ACCESS_READ,
		.target = target,
		.data = span_of_str(content),
		.role = "made-up",
		.origin = "default",
	};
}
