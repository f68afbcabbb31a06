/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The refs of a repository, as git has them before and after.  It does not matter whether they are
 * in files of their own or in packed-refs, so git gc neither deletes a branch nor hides one.
 */
#include "diff_parts.h"

#include "array.h"
#include "git_refs.h"
#include "str.h"

enum { REFS_NAMED = 12, REFS_SHORT = 10, REFS_WORDS = GIT_REF_NAME_MAX + 32 };

struct refs_one {
	const char *name;
	struct git_name object;
	const char *symbolic; /* the ref that a symbolic one names; "": it is an object */
};

struct refs_side {
	struct arena arena;
	struct refs_one *items;
	size_t count;
};

static int refs_take(void *context, const char *name, const struct git_ref_value *value)
{
	struct refs_side *s = context;

	if (!ARRAY_GROW(s->items, s->count))
		return -ENOMEM;
	struct refs_one *one = &s->items[s->count];

	*one = (struct refs_one){
		.name = arena_str(&s->arena, name),
		.object = value->object,
		.symbolic = value->symbolic[0] ? arena_str(&s->arena, value->symbolic) : ""};
	if (!one->name || !one->symbolic)
		return -ENOMEM;
	s->count++;
	return 0;
}

static int refs_by_name(const void *a, const void *b)
{
	return strcmp(((const struct refs_one *)a)->name, ((const struct refs_one *)b)->name);
}

static int refs_read_side(const struct view *v, const char *gitdir, struct refs_side *ret)
{
	struct git_refs refs = GIT_REFS_INIT;
	int r = git_refs_open(v, gitdir, &refs);

	*ret = (struct refs_side){.arena = ARENA_INIT((size_t)4 * GIT_REFS_BYTES_MAX)};
	if (r == 0)
		r = git_refs_each(&refs, refs_take, ret);
	git_refs_close(&refs);
	if (r == 0 && ret->count > 1)
		qsort(ret->items, ret->count, sizeof(*ret->items), refs_by_name);
	return r;
}

static void refs_side_fini(struct refs_side *s)
{
	free(s->items);
	arena_fini(&s->arena);
}

/* The change that moves it is held. */
static bool refs_is_held(const struct diff *d, const char *gitdir, const char *name)
{
	char path[PATH_MAX];
	const struct change *c =
		git_join(path, gitdir, name) ? changes_find(&d->changes, path) : NULL;

	if ((!c || c->after.type == OBJECT_ABSENT) && git_join(path, gitdir, "packed-refs"))
		c = changes_find(&d->changes, path);
	return c && c->group == CHANGE_HELD;
}

/* "1234567890", or "another name for refs/heads/main". */
static void refs_words(const struct refs_one *one, char into[REFS_WORDS])
{
	char hex[GIT_HEX_MAX + 1] = "";

	if (one && one->symbolic[0]) {
		(void)snprintf(into, REFS_WORDS, "another name for %s", one->symbolic);
		return;
	}
	if (one)
		git_name_hex(&one->object, hex);
	(void)snprintf(into, REFS_WORDS, "%.*s", REFS_SHORT, hex);
}

static bool refs_same(const struct refs_one *a, const struct refs_one *b)
{
	return a->symbolic[0] || b->symbolic[0] ? str_equal(a->symbolic, b->symbolic)
						: git_name_equal(&a->object, &b->object);
}

static void refs_put(struct diff *d, const char *gitdir, const struct refs_one *was,
		     const struct refs_one *is)
{
	char before[REFS_WORDS], after[REFS_WORDS];
	const char *name = is ? is->name : was ? was->name : "";

	refs_words(was, before);
	refs_words(is, after);
	diff_put(d, TEXT_PLAIN, "%*s%s ", DIFF_STATUS, "", name);
	if (!was)
		diff_put(d, TEXT_PLAIN, "is new: %s", after);
	else if (!is)
		diff_put(d, TEXT_PLAIN, "is deleted: was %s", before);
	else if (was->symbolic[0] || is->symbolic[0])
		diff_put(d, TEXT_PLAIN, "becomes %s: was %s", after, before);
	else
		diff_put(d, TEXT_PLAIN, "moved %s -> %s", before, after);
	if (refs_is_held(d, gitdir, name))
		diff_put(d, TEXT_WARN, " (held)");
	diff_end_line(d);
}

int diff_put_refs(struct diff *d, const char *gitdir, struct error *e)
{
	_cleanup_(refs_side_fini) struct refs_side was = {.count = 0}, is = {.count = 0};
	const struct view before = {.base = d->view.base};
	size_t named = 0;
	int r = refs_read_side(&before, gitdir, &was);

	if (r == 0)
		r = refs_read_side(&d->view, gitdir, &is);
	if (r < 0)
		return error_sys(e, r, "cannot read the refs of %s", gitdir);
	for (size_t i = 0, j = 0; i < was.count || j < is.count;) {
		int order = i == was.count  ? 1
			    : j == is.count ? -1
					    : refs_by_name(&was.items[i], &is.items[j]);
		const struct refs_one *old = order <= 0 ? &was.items[i++] : NULL;
		const struct refs_one *new = order >= 0 ? &is.items[j++] : NULL;

		if (old && new &&refs_same(old, new))
			continue;
		if (named++ < REFS_NAMED)
			refs_put(d, gitdir, old, new);
	}
	if (named > REFS_NAMED) {
		diff_put(d, TEXT_PLAIN, "%*sand %zu more; name .git to see them", DIFF_STATUS, "",
			 named - REFS_NAMED);
		diff_end_line(d);
	}
	return 0;
}
