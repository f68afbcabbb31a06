/* SPDX-License-Identifier: Apache-2.0 */
#include "new_commits.h"

#include "array.h"
#include "clock.h"
#include "git_refs.h"
#include "git_walk.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NEW_COMMITS_MS = 3000,
	NEW_COMMITS_TIPS_MAX = 1000,
	NEW_COMMITS_TEXT_MAX = 1 << 20,
	NEW_COMMITS_WORDS = 200, /* most bytes of a subject or a name */
	NEW_COMMITS_ARENA = 4 << 20,
	NEW_COMMITS_SHORT = 7,
};

/* One repository while we look at it. */
struct commits_repo {
	const char *gitdir;
	struct git_refs before, after;
	struct git_walk walk;
	struct new_commits *into;
	const struct branch_strays *strays;
	int64_t deadline;
	size_t tips;
};

static void commits_repo_fini(struct commits_repo *r)
{
	git_walk_fini(&r->walk);
	git_store_close(&r->walk.store);
	git_refs_close(&r->before);
	git_refs_close(&r->after);
}

/* --- what a commit says ----------------------------------------------------------------- */

static const char *commits_words(struct arena *a, const char *from, size_t len)
{
	const char *words = arena_strn(a, from, len < NEW_COMMITS_WORDS ? len : NEW_COMMITS_WORDS);

	return words ? words : "";
}

static void commits_read_words(struct commits_repo *r, const struct git_name *name,
			       struct new_commit *one)
{
	_cleanup_buf_ struct buf text = BUF_INIT(NEW_COMMITS_TEXT_MAX);
	enum git_kind kind = GIT_KIND_NONE;

	one->subject = one->author = "";
	if (git_store_read(r->walk.store, name, NEW_COMMITS_TEXT_MAX, &kind, &text) < 0 ||
	    kind != GIT_KIND_COMMIT)
		return;
	const char *head = buf_str(&text), *body = strstr(head, "\n\n");
	const char *author = strstr(head, "\nauthor ");
	const char *end = author ? strstr(author, " <") : NULL;

	if (body) {
		body += strspn(body, "\n");
		one->subject = commits_words(&r->into->arena, body, strcspn(body, "\n"));
	}
	if (end && (!body || end < body))
		one->author = commits_words(&r->into->arena, author + strlen("\nauthor "),
					    (size_t)(end - author) - strlen("\nauthor "));
}

/* --- which are new ---------------------------------------------------------------------- */

static int commits_on_known(void *context, const char *name, const struct git_ref_value *value)
{
	struct commits_repo *r = context;

	(void)name;
	if (value->object.len == 0 || r->tips++ >= NEW_COMMITS_TIPS_MAX)
		return 0;
	return git_walk_know(&r->walk, &value->object);
}

/* What cannot be read is left out; that the time is over is said.  0 or -ENOMEM. */
static int commits_failed(struct commits_repo *r, int code)
{
	r->into->cut = r->into->cut || code == -ETIME;
	return code == -ENOMEM ? code : 0;
}

static int commits_add(struct commits_repo *r, const struct git_name *tip)
{
	_cleanup_git_news_ struct git_news news = {.count = 0};
	int code = git_walk_news(&r->walk, tip, &news);

	if (code < 0)
		return commits_failed(r, code);
	r->into->cut = r->into->cut || news.cut;
	for (size_t i = 0; i < news.count; i++) {
		struct new_commit one = {.gitdir = r->gitdir};
		char hex[GIT_HEX_MAX + 1];

		if (r->into->count == NEW_COMMITS_MAX) {
			r->into->cut = true;
			break;
		}
		if (!ARRAY_GROW(r->into->items, r->into->count))
			return -ENOMEM;
		git_name_hex(&news.items[i].name, hex);
		(void)snprintf(one.name, sizeof(one.name), "%.*s", NEW_COMMITS_SHORT, hex);
		commits_read_words(r, &news.items[i].name, &one);
		r->into->items[r->into->count++] = one;
	}
	/* Another ref may have the same. */
	return commits_failed(r, git_walk_know(&r->walk, tip));
}

/* Notes commits of the user that a branch had, and that the session's branch does not reach. */
static int commits_lose(struct commits_repo *r, const char *name, size_t change,
			const struct git_name *tip)
{
	_cleanup_git_news_ struct git_news news = {.count = 0};
	struct git_walk walk = {.store = r->walk.store};
	struct new_commits *into = r->into;
	const char *branch = str_after(name, "refs/heads/");
	struct lost_commits one = {.gitdir = r->gitdir, .change = change};
	struct git_name was;
	char hex[GIT_HEX_MAX + 1];

	if (!branch || git_refs_value(&r->before, "", name, &was) < 0 || git_name_equal(&was, tip))
		return 0;
	int code = git_walk_know(&walk, tip);

	if (code == 0)
		code = git_walk_news(&walk, &was, &news);
	git_walk_fini(&walk);
	if (code < 0 || (news.count == 0 && !news.cut))
		return commits_failed(r, code);
	one.branch = arena_str(&into->arena, branch);
	one.count = news.count;
	one.cut = news.cut;
	git_name_hex(&was, hex);
	(void)snprintf(one.first.name, sizeof(one.first.name), "%.*s", NEW_COMMITS_SHORT, hex);
	commits_read_words(r, &was, &one.first);
	if (!one.branch || !ARRAY_GROW(into->lost, into->lost_count))
		return -ENOMEM;
	into->lost[into->lost_count++] = one;
	return 0;
}

void lost_commits_put(struct buf *into, const struct lost_commits *l)
{
	bool one = l->count == 1 && !l->cut;

	buf_putf(into, "%s%zu commit%s of yours come%s off %s", l->cut ? "more than " : "",
		 l->count, one ? "" : "s", one ? "s" : "", l->branch);
	if (!str_equal(l->gitdir, ".git"))
		buf_putf(into, " of %s", l->gitdir);
	buf_putf(into, ": %s %s", l->first.name, l->first.subject);
	if (l->count > 1)
		buf_putf(into, ", and %zu more", l->count - 1);
}

static bool commits_is_about(const char *name)
{
	return str_after(name, "refs/heads/") || str_after(name, "refs/tags/");
}

/* For a session with a branch of its own: this log has commits that are on no branch. */
static bool commits_is_stray_log(const struct change *c)
{
	return str_equal(c->path, ".git/logs/HEAD");
}

static int commits_add_strays(struct commits_repo *r)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < r->strays->count; i++)
		code = commits_add(r, &r->strays->items[i]);
	return code;
}

static int commits_on_packed(void *context, const char *name, const struct git_ref_value *value)
{
	struct commits_repo *r = context;
	struct git_name was;

	if (!commits_is_about(name) || value->object.len == 0 ||
	    (git_refs_value(&r->before, "", name, &was) == 0 &&
	     git_name_equal(&was, &value->object)))
		return 0;
	return commits_add(r, &value->object);
}

static int commits_repo_open(struct commits_repo *r, const struct view *v,
			     const struct view *before)
{
	char objects[PATH_MAX];
	struct git_name head;

	r->before = r->after = GIT_REFS_INIT;
	if (!git_join(objects, r->gitdir, "objects") ||
	    git_refs_open(before, r->gitdir, &r->before) < 0 ||
	    git_refs_open(v, r->gitdir, &r->after) < 0 ||
	    git_store_open(v, before, objects, r->deadline, &r->walk.store) < 0)
		return -ENOENT;
	if (git_refs_value(&r->before, "", "HEAD", &head) == 0)
		(void)git_walk_know(&r->walk, &head);
	return git_refs_each(&r->before, commits_on_known, r);
}

static int commits_add_moved(struct commits_repo *r, const char *name, size_t change,
			     const struct git_name *tip)
{
	int code = commits_add(r, tip);

	return code < 0 ? code : commits_lose(r, name, change, tip);
}

/* Adds each changed ref of this repository, from change i on. */
static int commits_of(struct commits_repo *r, const struct changes *c, size_t i,
		      bool (*meant)(const void *context, size_t i), const void *context)
{
	size_t len = strlen(r->gitdir);
	int code = 0;

	for (; code >= 0 && i < c->count; i++) {
		const struct change *x = &c->items[i];
		struct git_name tip;

		if (!x->git || (size_t)(x->git - x->path) != len + (len > 0) ||
		    memcmp(x->path, r->gitdir, len) != 0 || x->after.type != OBJECT_FILE ||
		    (meant && !meant(context, i)))
			continue;
		if (str_equal(x->git, "packed-refs"))
			code = git_refs_each(&r->after, commits_on_packed, r);
		else if ((commits_is_about(x->git) || str_equal(x->git, "HEAD")) &&
			 git_refs_value(&r->after, "", x->git, &tip) == 0)
			code = commits_add_moved(r, x->git, i, &tip);
		else if (commits_is_stray_log(x))
			code = commits_add_strays(r);
	}
	return code;
}

/* Finds the repository of a change to a ref or HEAD; false: it is no such change, or we looked at
 * it already. */
static bool commits_is_next(struct new_commits *n, const struct change *c, const char **seen,
			    size_t *seen_count, const char **ret)
{
	if (!c->git || !(commits_is_about(c->git) || str_equal(c->git, "HEAD") ||
			 str_equal(c->git, "packed-refs") || commits_is_stray_log(c)))
		return false;
	size_t len = (size_t)(c->git - c->path);

	*ret = arena_strn(&n->arena, c->path, len > 0 ? len - 1 : 0);
	for (size_t i = 0; *ret && i < *seen_count; i++)
		if (str_equal(seen[i], *ret))
			return false;
	if (!*ret || *seen_count == NEW_COMMITS_TIPS_MAX)
		return false;
	seen[(*seen_count)++] = *ret;
	return true;
}

int new_commits_read(const struct view *v, const struct changes *c,
		     bool (*meant)(const void *context, size_t i), const void *context,
		     const struct branch_strays *strays, struct new_commits *ret)
{
	const struct view before = {.base = v->base};
	const int64_t deadline = clock_now() + NEW_COMMITS_MS; /* for all repositories */
	_cleanup_free_ const char **seen = calloc(NEW_COMMITS_TIPS_MAX, sizeof(*seen));
	size_t seen_count = 0;
	int code = seen ? 0 : -ENOMEM;

	*ret = (struct new_commits){.arena = ARENA_INIT(NEW_COMMITS_ARENA)};
	for (size_t i = 0; code == 0 && i < c->count; i++) {
		_cleanup_(commits_repo_fini) struct commits_repo r = {
			.into = ret, .strays = strays, .deadline = deadline};

		if (!commits_is_next(ret, &c->items[i], seen, &seen_count, &r.gitdir))
			continue;
		code = commits_repo_open(&r, v, &before);
		if (code == 0)
			code = commits_of(&r, c, i, meant, context);
		code = commits_failed(&r, code);
	}
	if (code < 0)
		new_commits_fini(ret);
	return code;
}

void new_commits_fini(struct new_commits *n)
{
	free(n->items);
	free(n->lost);
	arena_fini(&n->arena);
	*n = (struct new_commits){.count = 0};
}
