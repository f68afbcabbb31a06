/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git's index has of the files that are held by their names.  A session that stages or commits
 * a workflow brings it in git's objects: the file stays out, and git would take it from there.  So
 * the index as it would be is compared with the user's own, both sorted by path, and each entry
 * that is new or has another object is judged by its name.
 */
#include "hold_parts.h"

#include "git_index.h"

#include <stdio.h>

enum { STAGED_INDEX_MAX = 64 << 20, STAGED_TOLD = 3 };

/* Which files were found; the first few are told. */
struct hold_staged {
	char list[STAGED_TOLD * (HOLD_WORD_MAX + 2) + 1];
	size_t at, count;
};

static void staged_found(struct hold_staged *s, struct span path)
{
	int len = path.len < HOLD_WORD_MAX ? (int)path.len : HOLD_WORD_MAX;

	if (s->count++ >= STAGED_TOLD)
		return;
	s->at += (size_t)snprintf(s->list + s->at, sizeof(s->list) - s->at, "%s%.*s",
				  s->at ? ", " : "", len, (const char *)path.ptr);
}

/* A rule holds files of this name, whatever they say. */
static bool staged_is_held(struct hold_judge *j, const char *path)
{
	hold_fold(path, &j->folded);
	if (buf_error(&j->folded))
		return true;
	const char *folded = buf_str(&j->folded);
	uint64_t rows = hold_find(j->rules, folded);

	for (size_t row = 0; row < hold_row_count; row++)
		if ((rows >> row & 1) && hold_rows[row].content == HOLD_BY_NAME &&
		    j->rules->levels[row] == HOLD_HOLD && hold_is_meant(&hold_rows[row], folded))
			return true;
	return false;
}

static int staged_compare(const struct git_index *a, const struct git_index *b)
{
	size_t len = a->path.len < b->path.len ? a->path.len : b->path.len;
	int order = memcmp(buf_str(&a->path), buf_str(&b->path), len);

	return order ? order : (a->path.len > b->path.len) - (a->path.len < b->path.len);
}

static void staged_walk(struct hold_judge *j, struct git_index *before, struct git_index *after,
			struct hold_staged *s)
{
	bool had = git_index_next(before);

	while (git_index_next(after)) {
		while (had && staged_compare(before, after) < 0)
			had = git_index_next(before);
		if (had && staged_compare(before, after) == 0 &&
		    span_equal(before->object, after->object))
			continue;
		if (staged_is_held(j, buf_str(&after->path)))
			staged_found(s, buf_span(&after->path));
	}
}

static int staged_say(struct hold_judge *j, const struct hold_staged *s, struct hold_verdict *v)
{
	if (s->count > STAGED_TOLD)
		return hold_say(j, v, "%s: %s and %zu more", v->why, s->list,
				s->count - STAGED_TOLD);
	return hold_say(j, v, "%s: %s", v->why, s->list);
}

int hold_by_staged(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	_cleanup_buf_ struct buf was = BUF_INIT(STAGED_INDEX_MAX), is = BUF_INIT(STAGED_INDEX_MAX);
	struct git_index before = GIT_INDEX_INIT, after = GIT_INDEX_INIT;
	struct hold_staged s = {.count = 0};
	int r = hold_read_path(j->view, c->path, STAGED_INDEX_MAX, &is);

	if (r == 0)
		r = git_index_open(&after, buf_span(&is));
	if (r == 0) {
		/* Without one that can be read, all of it is new. */
		if (hold_read_path(&j->before, c->path, STAGED_INDEX_MAX, &was) < 0 ||
		    git_index_open(&before, buf_span(&was)) < 0)
			before.left = 0;
		staged_walk(j, &before, &after, &s);
	}
	git_index_close(&before);
	git_index_close(&after);
	if (r == -EPROTO || r == -ENOTSUP || r == -E2BIG)
		return hold_say(j, v, "%s, and it cannot be looked into", v->why);
	if (s.count > 0)
		return staged_say(j, &s, v);
	v->most = HOLD_NOT;
	return 0;
}
