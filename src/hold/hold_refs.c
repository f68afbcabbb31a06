/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refs that go, refs that become symbolic, and the logs of refs.
 *
 * When a branch, a tag or a stash is removed, the way to its commits is gone: the objects stay, but
 * nobody finds them again.  So we compute what every ref reaches after the landing.  If that is
 * all, the removal is ordinary.  If it leaves commits that nothing reaches, the removal is held,
 * and so is the move of a ref that has no log.  What came from a remote can be fetched again.
 *
 * A held ref stays where it was, and reaches what it reached.
 *
 * Stashes are the lines of the log of refs/stash.  git does not list a stash without a line, though
 * refs/stash may reach it: when the next stash is dropped, it is gone.  So another ref must reach
 * it.
 *
 * A log has a line for each commit that HEAD or a branch was at.  A line about a held commit waits
 * with the ref that brings the commit: `git checkout HEAD@{1}` would take the files from there.
 */
#include "hold_commits.h"

#include "str.h"

#include <stdio.h>

enum {
	REFS_TIPS_MAX = 5000,
	REFS_LINES_MAX = 4096, /* most lines of a log that we look at */
	REFS_SHORT = 7,
	REFS_FILE_MAX = 4 << 20,
};

static const char refs_stash[] = "refs/stash", refs_stash_log[] = "logs/refs/stash";

/* --- what is reached -------------------------------------------------------------------- */

struct refs_reach {
	struct hold_judge *j;
	struct hold_repo *repo;
	struct hold_reach *reach;
	size_t tips;
};

/* Marks what a ref reaches after the landing: a held ref stays where it was. */
static int refs_know_one(struct refs_reach *r, const char *own, const char *name,
			 const struct git_name *object)
{
	struct git_name old;
	bool had = git_refs_value(&r->repo->before, own, name, &old) == 0, held = false;

	if (r->reach == &r->repo->reach_unstashed && str_equal(name, refs_stash))
		return 0;
	if (!had || !git_name_equal(&old, object)) {
		int code = hold_ref_is_held(r->j, r->repo, own, name, &held);

		if (code < 0)
			return code;
	}
	if (held && !had)
		return 0;
	return r->tips++ < REFS_TIPS_MAX ? git_walk_know(&r->reach->walk, held ? &old : object) : 0;
}

static int refs_on_tip(void *context, const char *name, const struct git_ref_value *value)
{
	struct refs_reach *r = context;

	/* What a symbolic ref names is a ref as well, and is counted there. */
	return value->symbolic[0] ? 0 : refs_know_one(r, r->repo->gitdir, name, &value->object);
}

/* Marks what is checked out in a worktree. */
static int refs_on_worktree(void *context, const char *name)
{
	struct refs_reach *r = context;
	char dir[PATH_MAX], own[PATH_MAX];
	struct git_name head;

	if (!git_join(dir, r->repo->gitdir, "worktrees") || !git_join(own, dir, name) ||
	    git_refs_value(&r->repo->after, own, "HEAD", &head) < 0)
		return 0;
	return refs_know_one(r, own, "HEAD", &head);
}

static int refs_know(struct hold_judge *j, struct hold_repo *repo, struct hold_reach *by)
{
	struct refs_reach reach = {j, repo, by, 0};
	char dir[PATH_MAX];
	struct git_name head;
	int r = 0;

	if (by->asked)
		return 0;
	by->asked = true;
	by->walk.store = repo->walk.store;
	by->walk.thorough = true;
	if (git_refs_value(&repo->after, "", "HEAD", &head) == 0)
		r = refs_know_one(&reach, repo->gitdir, "HEAD", &head);
	if (r == 0)
		r = git_refs_each(&repo->after, refs_on_tip, &reach);
	if (r == 0 && git_join(dir, repo->gitdir, "worktrees")) {
		r = view_list(j->view, dir, refs_on_worktree, &reach);
		r = r == -ENOENT || r == -ENOTDIR ? 0 : r;
	}
	return r;
}

/*
 * *ret: how many commits of this one nothing reaches any more; *ret_bad: why we do not know that.
 */
static int refs_lost(struct hold_judge *j, struct hold_repo *repo, struct hold_reach *by,
		     const struct git_name *tip, size_t *ret, const char **ret_bad)
{
	_cleanup_git_news_ struct git_news news = {.count = 0};
	int r = repo->trouble ? repo->trouble : refs_know(j, repo, by);

	*ret = 0;
	*ret_bad = NULL;
	if (r == 0)
		r = git_walk_news(&by->walk, tip, &news);
	/* It names a tree or a blob, or something that is not there. */
	if (r == -EINVAL || r == -ENOENT)
		return 0;
	if (r == -ENOMEM)
		return error_set(j->error, r, "no memory to look into commits");
	*ret = news.count;
	*ret_bad = r < 0 ? git_store_words(r) : news.cut ? "there are too many" : NULL;
	return 0;
}

static int refs_say(struct hold_judge *j, struct hold_verdict *v, const char *name,
		    const char *what, const struct git_name *tip, size_t lost, const char *bad)
{
	char hex[GIT_HEX_MAX + 1];

	git_name_hex(tip, hex);
	if (bad)
		return hold_say(
			j, v,
			"%.200s is %s, and whether anything else reaches its commits (%.*s) "
			"cannot be looked into: %s",
			name, what, REFS_SHORT, hex, bad);
	return hold_say(j, v,
			"%.200s is %s: %zu %s (the last is %.*s) would be reached by no branch, "
			"tag or stash any more",
			name, what, lost, lost == 1 ? "commit" : "commits", REFS_SHORT, hex);
}

/* --- stashes ---------------------------------------------------------------------------- */

/* The object of a log's line: the new one is the second.  False: the line has none. */
static bool refs_line(struct span *text, struct git_name *ret)
{
	const uint8_t *end = text->len ? memchr(text->ptr, '\n', text->len) : NULL;
	struct span line = {text->ptr, end ? (size_t)(end - text->ptr) : text->len};

	*text = span_skip(*text, line.len + (end != NULL));
	struct git_log_line one;

	if (!git_log_parse(line, &one))
		return false;
	*ret = one.new;
	return true;
}

static bool refs_has_line(struct span text, const struct git_name *object)
{
	struct git_name one;

	for (size_t n = 0; text.len > 0 && n < REFS_LINES_MAX; n++)
		if (refs_line(&text, &one) && git_name_equal(&one, object))
			return true;
	return false;
}

struct refs_stashes {
	struct buf old, new; /* the log, before and after */
	size_t lost;
	struct git_name last; /* the last one that is lost */
	const char *bad;
};

/* Looks for a stash of the user: it is listed, or another ref reaches it, or it is lost. */
static int refs_look_for_stash(struct hold_judge *j, struct hold_repo *repo, struct refs_stashes *s,
			       const struct git_name *one)
{
	size_t count = 0;

	if (s->bad || refs_has_line(buf_span(&s->new), one))
		return 0;
	int r = refs_lost(j, repo, &repo->reach_unstashed, one, &count, &s->bad);

	s->lost += count > 0;
	s->last = count > 0 || s->bad ? *one : s->last;
	return r;
}

/* Finds the stashes that are not listed any more and that no other ref reaches.  What refs/stash
 * names counts even if its line is gone: `git stash show` shows it. */
static int refs_find_lost(struct hold_judge *j, struct hold_repo *repo, struct refs_stashes *s)
{
	char path[PATH_MAX];
	struct git_name one, is;
	size_t lines = 0;
	int r = 0;

	if (!git_join(path, repo->gitdir, refs_stash_log))
		return 0;
	if (hold_read_path(&j->before, path, REFS_FILE_MAX, &s->old) < 0)
		buf_clear(&s->old);
	/* Without the ref git lists no stash. */
	if (hold_read_path(j->view, path, REFS_FILE_MAX, &s->new) < 0 ||
	    git_refs_value(&repo->after, "", refs_stash, &one) < 0)
		buf_clear(&s->new);
	for (struct span text = buf_span(&s->old); r == 0 && text.len > 0; lines++) {
		bool is_line = refs_line(&text, &one);

		if (is_line && lines < REFS_LINES_MAX)
			r = refs_look_for_stash(j, repo, s, &one);
		else if (is_line && !s->bad && !refs_has_line(buf_span(&s->new), &one)) {
			s->bad = "there are too many";
			s->last = one;
		}
	}
	if (r == 0 && git_refs_value(&repo->before, "", refs_stash, &one) == 0 &&
	    !refs_has_line(buf_span(&s->old), &one) &&
	    (git_refs_value(&repo->after, "", refs_stash, &is) < 0 || !git_name_equal(&is, &one)))
		r = refs_look_for_stash(j, repo, s, &one);
	return r;
}

static int refs_lost_stashes(struct hold_judge *j, struct hold_repo *repo, struct hold_verdict *v)
{
	struct refs_stashes s = {.old = BUF_INIT(0), .new = BUF_INIT(0)};
	char hex[GIT_HEX_MAX + 1];
	int r = refs_find_lost(j, repo, &s);

	buf_fini(&s.old);
	buf_fini(&s.new);
	v->most = HOLD_NOT;
	if (r < 0 || (s.lost == 0 && !s.bad))
		return r;
	v->most = HOLD_HOLD;
	if (s.bad)
		return refs_say(j, v, refs_stash, "changed", &s.last, s.lost, s.bad);
	git_name_hex(&s.last, hex);
	return hold_say(j, v,
			"%zu %s of yours (the last is %.*s) would be gone from git stash list: "
			"nothing else has what is in %s",
			s.lost, s.lost == 1 ? "stash" : "stashes", REFS_SHORT, hex,
			s.lost == 1 ? "it" : "them");
}

/* --- refs ------------------------------------------------------------------------------- */

/* The change at this name in the repository, which others wait with; NULL: there is none. */
static const struct change *refs_change(struct hold_judge *j, const struct hold_repo *repo,
					const char *name)
{
	char path[PATH_MAX];

	return git_join(path, repo->gitdir, name) ? changes_find(j->changes, path) : NULL;
}

static void refs_go_with(struct hold_verdict *v, const struct change *lead, const char *path)
{
	if (v->most == HOLD_HOLD && lead && !str_equal(lead->path, path))
		v->with = lead->path;
}

/* The log of the ref has its old value. */
static bool refs_has_log(struct hold_judge *j, const struct hold_repo *repo, const char *name,
			 const struct git_name *object)
{
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	char dir[PATH_MAX], path[PATH_MAX];

	return git_join(dir, repo->gitdir, "logs") && git_join(path, dir, name) &&
	       hold_read_path(&j->before, path, REFS_FILE_MAX, &text) == 0 &&
	       refs_has_line(buf_span(&text), object);
}

int hold_lost_ref(struct hold_judge *j, struct hold_repo *repo, const char *name,
		  struct hold_verdict *v)
{
	struct git_name old, new;
	const char *bad = NULL;
	size_t lost = 0;

	v->most = HOLD_NOT;
	if (!str_after(name, "refs/") || str_after(name, "refs/remotes/") ||
	    str_after(name, "refs/replace/") || git_refs_value(&repo->before, "", name, &old) < 0)
		return 0;
	bool gone = git_refs_value(&repo->after, "", name, &new) < 0;

	if (!gone && (git_name_equal(&old, &new) || refs_has_log(j, repo, name, &old)))
		return 0;
	int r = refs_lost(j, repo, &repo->reach, &old, &lost, &bad);

	if (r < 0 || (lost == 0 && !bad))
		return r;
	v->most = HOLD_HOLD;
	return refs_say(j, v, name, gone ? "removed" : "moved", &old, lost, bad);
}

/* A ref, or its log.  The log of stashes stands for all stashes, and packed-refs for the refs that
 * it lost. */
int hold_lost_by(struct hold_judge *j, struct hold_repo *repo, const char *path, const char *name,
		 struct hold_verdict *v)
{
	const char *of = str_after(name, "logs/");
	const char *ref = of ? of : name;
	const struct change *log = refs_change(j, repo, refs_stash_log);
	const struct change *lead = refs_change(j, repo, name);
	int r = 0;

	if (str_equal(ref, refs_stash)) {
		r = refs_lost_stashes(j, repo, v);
		refs_go_with(v, log, path);
		if (r < 0 || v->most == HOLD_HOLD || log)
			return r;
	}
	r = hold_lost_ref(j, repo, ref, v);
	if (of)
		lead = refs_change(j, repo, ref);
	if (git_refs_packed(&repo->before, ref) && !git_refs_packed(&repo->after, ref))
		lead = refs_change(j, repo, "packed-refs");
	/* A log without its ref lands: only the ref counts. */
	if (of && !lead)
		v->most = HOLD_NOT;
	refs_go_with(v, lead, path);
	return r;
}

int hold_lost_packed(struct hold_judge *j, struct hold_repo *repo, struct hold_verdict *v)
{
	int r = 0;

	v->most = HOLD_NOT;
	for (size_t i = 0;
	     r == 0 && v->most == HOLD_NOT && i < repo->before.packed_count && !hold_is_late(j);
	     i++) {
		const struct git_ref *was = &repo->before.packed[i];
		const struct git_ref *is = git_refs_packed(&repo->after, was->name);

		if (!is || !git_name_equal(&was->object, &is->object))
			r = hold_lost_ref(j, repo, was->name, v);
	}
	return r;
}

int hold_gone_ref(struct hold_judge *j, const char *path, struct hold_verdict *v)
{
	char gitdir[PATH_MAX], head[PATH_MAX];
	const char *name = NULL;
	struct object o;

	v->most = HOLD_NOT;
	/* hold_late.c judges a repository that goes as a whole. */
	if (!hold_gitdir_of(j, path, gitdir, &name) || !git_join(head, gitdir, "HEAD") ||
	    view_look(j->view, head, &o) < 0 || o.type == OBJECT_ABSENT)
		return 0;
	struct hold_repo *repo = hold_repo_of(j, gitdir);

	if (!repo)
		return error_set(j->error, -ENOMEM, "no memory to look into commits");
	return str_equal(name, "packed-refs") ? hold_lost_packed(j, repo, v)
					      : hold_lost_by(j, repo, path, name, v);
}

/* --- symbolic refs ------------------------------------------------------------------------- */

/* The ref may become symbolic: it was, or git itself makes such a one, or it is a new one for a
 * branch. */
static bool refs_may_stand_for(const struct git_ref_value *was, const char *name,
			       const char *symbolic)
{
	const char *end = strrchr(name, '/');

	if (str_equal(was->symbolic, symbolic))
		return true;
	if (str_after(name, "refs/remotes/") && str_equal(end, "/HEAD"))
		return strncmp(symbolic, name, (size_t)(end - name) + 1) == 0;
	return str_after(symbolic, "refs/heads/") &&
	       (str_equal(name, "HEAD") ||
		(str_after(name, "refs/heads/") && !git_ref_is_there(was)));
}

int hold_alias(struct hold_judge *j, const struct hold_repo *repo, const char *own,
	       const char *name, const char **ret)
{
	const struct hold_dir *dir = hold_dir_find(j, repo->gitdir, strlen(repo->gitdir));
	struct git_ref_value was, is;
	struct git_name leads;

	*ret = NULL;
	/* In a new repository it stands for nothing that the user has. */
	if (git_refs_look(&repo->after, own, name, &is) < 0 || !is.symbolic[0] ||
	    (dir && !dir->was_gitdir))
		return 0;
	(void)git_refs_look(&repo->before, own, name, &was);
	bool may = refs_may_stand_for(&was, name, is.symbolic);

	/* HEAD may name a branch that has no commit yet. */
	if (may && (str_equal(name, "HEAD") || str_equal(was.symbolic, is.symbolic) ||
		    git_refs_value(&repo->after, own, name, &leads) == 0))
		return 0;
	*ret = arena_printf(&j->changes->arena,
			    may ? "%.200s becomes another name for %.200s, which is not there: "
				  "what git writes to one would make the other"
				: "%.200s becomes another name for %.200s: what git writes to one "
				  "it would write to the other",
			    name, is.symbolic);
	return *ret ? 0 : error_set(j->error, -ENOMEM, "no memory to look into refs");
}

/* --- logs ------------------------------------------------------------------------------- */

int hold_follow_lines(struct hold_judge *j, struct hold_repo *repo, const struct change *c,
		      struct hold_verdict *v)
{
	struct git_name one;

	v->most = HOLD_NOT;
	if (hold_read(j, c, CHANGE_AFTER) < 0 || hold_read(j, c, CHANGE_BEFORE) < 0)
		return 0;
	struct span text = buf_span(&j->after), old = buf_span(&j->old);
	int r = hold_ask_refs(j, repo);

	/* Skip the lines that the user's log has. */
	if (old.len <= text.len && old.len > 0 && memcmp(text.ptr, old.ptr, old.len) == 0)
		text = span_skip(text, old.len);
	for (size_t n = 0; r == 0 && text.len > 0 && n < REFS_LINES_MAX && !hold_is_late(j); n++) {
		const struct change *mover = NULL;

		if (refs_line(&text, &one) && !git_name_is_null(&one))
			r = hold_brought_by(j, repo, &one, &mover);
		if (r < 0 || !mover)
			continue;
		v->most = HOLD_HOLD;
		v->with = mover->path;
		return hold_say(j, v, "it has a line of a commit that %.200s brings, which is held",
				mover->path);
	}
	return r;
}
