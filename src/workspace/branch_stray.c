/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stray.h"

#include "fd.h"
#include "git_refs.h"
#include "git_walk.h"
#include "str.h"

#include <fcntl.h>

enum { STRAY_LOG_MAX = 16 << 20, STRAY_LINES_MAX = 10000 };

struct stray {
	const struct view *view, *base;
	struct git_walk users; /* knows the user's refs */
	struct git_walk all;   /* and the session's */
	bool known;            /* both know them; done at the first question */
	/* The user's logs of HEAD and of the branch; the session's log of the branch. */
	struct buf mine, own;
	struct branch_strays *into;
};

static int stray_read(const struct view *v, const char *path, struct buf *into)
{
	struct object o;
	int r = view_look(v, path, &o);

	if (r < 0 || o.type != OBJECT_FILE)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	_cleanup_fd_ int fd = view_openat(v, path, O_RDONLY);

	return fd < 0 ? fd : fd_read_all(fd, into);
}

static int stray_on_user(void *context, const char *name, const struct git_ref_value *value)
{
	struct stray *s = context;

	(void)name;
	if (!value->object.len)
		return 0;
	int r = git_walk_know(&s->users, &value->object);

	return r < 0 ? r : git_walk_know(&s->all, &value->object);
}

static int stray_on_own(void *context, const char *name, const struct git_ref_value *value)
{
	struct stray *s = context;

	(void)name;
	return value->object.len ? git_walk_know(&s->all, &value->object) : 0;
}

/* Makes each ref of one side known, and the user's HEAD. */
static int stray_know(struct stray *s, const struct view *v, bool users)
{
	struct git_refs refs = GIT_REFS_INIT;
	struct git_ref_value head;
	int r = git_refs_open(v, ".git", &refs);

	if (r == 0 && users && git_refs_look(&refs, "", "HEAD", &head) == 0)
		r = stray_on_user(s, "HEAD", &head);
	if (r == 0)
		r = git_refs_each(&refs, users ? stray_on_user : stray_on_own, s);
	git_refs_close(&refs);
	return r;
}

/* 1: a tip has commits that are not known; 0: it has none; or -errno. */
static int stray_is_new(struct git_walk *w, const struct git_name *tip)
{
	_cleanup_git_news_ struct git_news news = {.count = 0};
	int r = git_walk_news(w, tip, &news);

	return r < 0 ? r : news.count > 0 || news.cut;
}

static bool stray_has(const struct buf *log, const struct git_name *name)
{
	char hex[GIT_HEX_MAX + 1];

	git_name_hex(name, hex);
	return log->len && strstr(buf_str(log), hex);
}

/*
 * Asks about one commit where the session's HEAD is, or was.  A commit that is gone cannot be kept.
 */
static int stray_ask(struct stray *s, const struct git_name *name, bool head)
{
	struct branch_strays *into = s->into;

	if (!name->len || stray_has(&s->mine, name))
		return 0;
	int r = s->known ? 0 : stray_know(s, s->base, true);

	if (r == 0 && !s->known)
		r = stray_know(s, s->view, false);
	s->known = true;
	if (r == 0)
		r = stray_is_new(&s->users, name);
	if (r <= 0)
		return r == -ENOENT ? 0 : r;
	into->waits = true;
	if (stray_has(&s->own, name) || into->count == BRANCH_STRAYS_MAX)
		return 0;
	r = stray_is_new(&s->all, name);
	if (r <= 0)
		return r;
	into->items[into->count++] = *name;
	into->at_head = into->at_head || head;
	return git_walk_know(&s->all, name);
}

/* A rebase makes commits on its way, and leaves them. */
static bool stray_is_passing(struct span words)
{
	static const char *const by[] = {"rebase", "pull --rebase", "pull -r"};
	const uint8_t *tab = words.len ? memchr(words.ptr, '\t', words.len) : NULL;
	struct span said = tab ? span_skip(words, (size_t)(tab + 1 - words.ptr)) : words;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(by); i++)
		if (said.len >= strlen(by[i]) && memcmp(said.ptr, by[i], strlen(by[i])) == 0)
			return true;
	return false;
}

/* Asks about the lines of a log, the last one first, except for those at its beginning that the
 * user's log has, too. */
static int stray_ask_log(struct stray *s, const struct buf *log)
{
	size_t end = log->len, lines = 0, same = 0;
	int r = 0;

	for (size_t i = 0; i < log->len && i < s->mine.len && log->ptr[i] == s->mine.ptr[i]; i++)
		same = log->ptr[i] == '\n' ? i + 1 : same;
	while (r == 0 && end > same) {
		const char *text = log->ptr;
		size_t from = end - 1;
		struct git_log_line line;

		while (from > 0 && text[from - 1] != '\n')
			from--;
		size_t len = end - from - (text[end - 1] == '\n');

		if (lines++ == STRAY_LINES_MAX)
			return -E2BIG;
		if (git_log_parse((struct span){(const uint8_t *)text + from, len}, &line) &&
		    !stray_is_passing(line.words))
			r = stray_ask(s, &line.new, false);
		end = from;
	}
	return r;
}

static int stray_ask_all(struct stray *s)
{
	_cleanup_buf_ struct buf log = BUF_INIT(STRAY_LOG_MAX);
	struct git_refs refs = GIT_REFS_INIT;
	struct git_ref_value head = GIT_REF_NONE;
	int r = git_refs_open(s->view, ".git", &refs);

	if (r == 0)
		(void)git_refs_look(&refs, "", "HEAD", &head);
	git_refs_close(&refs);
	if (r == 0 && !head.symbolic[0])
		r = stray_ask(s, &head.object, true);
	if (r == 0)
		r = stray_read(s->view, ".git/logs/HEAD", &log);
	return r < 0 ? r : stray_ask_log(s, &log);
}

int branch_strays_read(const struct view *v, const struct view *base, struct git_store *store,
		       const char *ref, struct branch_strays *ret)
{
	struct stray s = {.view = v,
			  .base = base,
			  .users = {.store = store},
			  .all = {.store = store},
			  .mine = BUF_INIT((size_t)2 * STRAY_LOG_MAX),
			  .own = BUF_INIT(STRAY_LOG_MAX),
			  .into = ret};
	char log[PATH_MAX];

	*ret = (struct branch_strays){.count = 0};
	int r = git_join(log, ".git/logs", ref) ? stray_read(base, ".git/logs/HEAD", &s.mine)
						: -ENAMETOOLONG;

	if (r == 0)
		r = stray_read(base, log, &s.mine);
	if (r == 0)
		r = stray_read(v, log, &s.own);
	if (r == 0)
		r = stray_ask_all(&s);
	buf_fini(&s.mine);
	buf_fini(&s.own);
	git_walk_fini(&s.users);
	git_walk_fini(&s.all);
	return r;
}
