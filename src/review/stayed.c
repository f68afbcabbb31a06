/* SPDX-License-Identifier: Apache-2.0 */
#include "stayed.h"

#include "str.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	STAYED_NAME = PATH_MAX + 40,
	STAYED_LANDINGS = 64, /* of older landings nothing is kept that could be undone */
};

static int stayed_set(struct basis *b, uint64_t number, const char *what, const char *path,
		      const struct object *object)
{
	char name[STAYED_NAME];
	int n = snprintf(name, sizeof(name), "%" PRIu64 "/%s/%s", number, what, path);

	return n < 0 || n >= (int)sizeof(name) ? -ENAMETOOLONG : basis_set(b, name, object);
}

static const struct object *stayed_find(const struct basis *b, uint64_t number, const char *what,
					const char *path)
{
	char name[STAYED_NAME];
	int n = snprintf(name, sizeof(name), "%" PRIu64 "/%s/%s", number, what, path);
	const struct basis_entry *found =
		n < 0 || n >= (int)sizeof(name) ? NULL : basis_find(b, name);

	return found ? &found->object : NULL;
}

/* The path that a line is about, and the landing; NULL: it is no line of ours. */
static const char *stayed_path(const char *name, uint64_t *ret_number, bool *ret_is)
{
	char *rest = NULL;

	*ret_number = strtoull(name, &rest, 10);
	*ret_is = str_after(rest, "/is/") != NULL;
	return *ret_is ? str_after(rest, "/is/") : str_after(rest, "/was/");
}

static int stayed_put(struct basis *into, uint64_t number, const char *path,
		      const struct object *was, const struct object *is)
{
	int r = was ? stayed_set(into, number, "was", path, was) : 0;

	return r == 0 && is ? stayed_set(into, number, "is", path, is) : r;
}

int stayed_note(struct basis *stayed, uint64_t number, const char *path, const struct object *was,
		const struct object *is)
{
	return stayed_put(stayed, number, path, was, is);
}

void stayed_forget_old(struct basis *stayed, uint64_t number)
{
	for (size_t i = stayed->count; i-- > 0;) {
		const char *name = stayed->items[i].path;
		uint64_t of = 0;
		bool own = false;

		if (!stayed_path(name, &of, &own) || of + STAYED_LANDINGS < number)
			basis_remove(stayed, name);
	}
}

static bool stayed_same(const struct object *a, const struct object *b)
{
	return a && b ? basis_same_content(a, b) : a == b;
}

static int stayed_turn_one(const struct stayed_turn *t, const char *path, const struct object *was,
			   const struct object *is, struct basis *b, struct basis *into)
{
	const struct basis_entry *now = basis_find(b, path);

	if (!t->is_meant(t->context, path))
		return stayed_put(into, t->from, path, was, is);
	/* The session has run since, or landed again. */
	if (!stayed_same(now ? &now->object : NULL, is))
		return 0;
	int r = stayed_put(into, t->to, path, is, was);

	if (r < 0)
		return r;
	if (was)
		return basis_set(b, path, was);
	basis_remove(b, path);
	return 0;
}

int stayed_turn(const struct stayed_turn *t, const struct basis *stayed, struct basis *b,
		struct basis *into)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < stayed->count; i++) {
		const struct basis_entry *one = &stayed->items[i];
		uint64_t number = 0;
		bool own = false;
		const char *path = stayed_path(one->path, &number, &own);

		if (!path || number != t->from) {
			r = basis_set(into, one->path, &one->object);
			continue;
		}
		const struct object *is = stayed_find(stayed, number, "is", path);

		/* Once for both lines. */
		if (own || !is)
			r = stayed_turn_one(t, path, stayed_find(stayed, number, "was", path), is,
					    b, into);
	}
	return r;
}
