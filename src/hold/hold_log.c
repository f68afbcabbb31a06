/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logs of refs.  git takes commits from there by HEAD@{1}.  A line's text says where `git
 * checkout -` goes back to.  By the log of a remote's branch `git pull --rebase` knows which
 * commits are no longer the user's own.  So we judge each line that the session brings as a new
 * ref.  We do not judge lines that the user had.
 */
#include "hold_commits.h"

#include "str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_LINES_MAX = 4096, LOG_SHORT_MIN = 4 };

struct hold_log {
	struct hold_judge *j;
	struct hold_repo *repo;
	struct hold_news news;
	/* For a remote's branch: where it was, and where it is now.  Else the length is 0. */
	struct git_name was, is;
	bool remote;
};

static bool log_is_hex(struct span word)
{
	for (size_t i = 0; i < word.len; i++)
		if (!isxdigit(word.ptr[i]))
			return false;
	return word.len >= LOG_SHORT_MIN;
}

/* git finds a commit by this word in another way than by a branch's name: 1234abc, v1-3-g1234abc,
 * main~3, :/text. */
static bool log_is_expression(struct span word)
{
	for (size_t i = 0; i < word.len; i++)
		if (strchr("~^:@{?*[\\ ", word.ptr[i]))
			return true;
	for (size_t i = word.len; i > 1; i--)
		if (word.ptr[i - 1] == 'g' && word.ptr[i - 2] == '-')
			return log_is_hex(span_skip(word, i));
	return log_is_hex(word);
}

static bool log_is_branch(const struct hold_log *l, struct span word)
{
	char name[GIT_REF_NAME_MAX];
	struct git_name object;
	int n = snprintf(name, sizeof(name), "refs/heads/%.*s", (int)word.len,
			 (const char *)word.ptr);

	return n > 0 && n < (int)sizeof(name) && strlen(name) == (size_t)n &&
	       (git_refs_value(&l->repo->after, "", name, &object) == 0 ||
		git_refs_value(&l->repo->before, "", name, &object) == 0);
}

static int log_object(struct hold_log *l, const struct git_name *object)
{
	static const struct git_name none = {.len = 0};
	struct git_commit commit;
	struct git_name name;

	/* git cannot take a commit that is not there. */
	if (git_name_is_null(object) || l->news.bad || l->repo->trouble ||
	    git_walk_commit(&l->repo->walk, object, &name, &commit) == -ENOENT)
		return 0;
	return hold_judge_commit(l->j, l->repo, &none, object, &l->news);
}

/* "checkout: moving from X to Y": X is where `git checkout -` goes. */
static int log_words(struct hold_log *l, struct span line)
{
	static const char lead[] = "moving from ", tail[] = " to ";
	const uint8_t *at = memmem(line.ptr, line.len, lead, sizeof(lead) - 1);
	struct git_name object;

	if (!at)
		return 0;
	struct span word = span_skip(line, (size_t)(at - line.ptr) + sizeof(lead) - 1);
	const uint8_t *end = memmem(word.ptr, word.len, tail, sizeof(tail) - 1);

	word.len = end ? (size_t)(end - word.ptr) : word.len;
	if (log_is_branch(l, word))
		return 0;
	if (git_name_parse(word, &object) && word.len == (size_t)2 * object.len)
		return log_object(l, &object);
	if (log_is_expression(word))
		l->news.bad = "a line of it says that a branch was left which is none: git "
			      "checkout - would go where that leads";
	return 0;
}

static int log_line(struct hold_log *l, struct span line)
{
	struct git_log_line one;

	if (!git_log_parse(line, &one) || memchr(line.ptr, '\0', line.len)) {
		l->news.bad = "it has a line that is none of a log";
		return 0;
	}
	if (l->remote && !git_name_is_null(&one.new) && !git_name_equal(&one.new, &l->was) &&
	    !git_name_equal(&one.new, &l->is)) {
		l->news.bad = "it says that the branch of the remote stood where it did not: git "
			      "pull --rebase would leave out commits of yours";
		return 0;
	}
	int r = log_object(l, &one.old);

	if (r == 0)
		r = log_object(l, &one.new);
	return r < 0 ? r : log_words(l, one.words);
}

/* The lines of the user's log, sorted. */
struct log_lines {
	struct span *items;
	size_t count;
};

static int log_compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	int r = memcmp(x->ptr, y->ptr, x->len < y->len ? x->len : y->len);

	return r ? r : (x->len > y->len) - (x->len < y->len);
}

/* Takes the next line, with its end. */
static struct span log_take(struct span *text)
{
	const uint8_t *end = memchr(text->ptr, '\n', text->len);
	struct span line = {text->ptr, end ? (size_t)(end - text->ptr) + 1 : text->len};

	*text = span_skip(*text, line.len);
	return line;
}

static bool log_sort(struct span text, struct log_lines *ret)
{
	size_t most = 1;

	for (size_t i = 0; i < text.len; i++)
		most += text.ptr[i] == '\n';
	ret->items = calloc(most, sizeof(*ret->items));
	while (ret->items && text.len > 0)
		ret->items[ret->count++] = log_take(&text);
	if (ret->count > 1)
		qsort(ret->items, ret->count, sizeof(*ret->items), log_compare);
	return ret->items != NULL;
}

/* The user's log has this line. */
static bool log_had(const struct log_lines *before, struct span line)
{
	return before->count &&
	       bsearch(&line, before->items, before->count, sizeof(*before->items), log_compare);
}

/* Judges each line that the user's log does not have. */
static int log_each(struct hold_log *l, struct span text, struct span before)
{
	struct log_lines had = {.count = 0};
	int r = 0;

	/* Mostly the log only grew. */
	if (before.len > 0 && before.len <= text.len && before.ptr[before.len - 1] == '\n' &&
	    memcmp(before.ptr, text.ptr, before.len) == 0)
		text = span_skip(text, before.len);
	if (text.len > 0 && !log_sort(before, &had))
		r = error_set(l->j->error, -ENOMEM, "no memory to look into a log");
	for (size_t lines = 0; r == 0 && text.len > 0 && !l->news.bad && !hold_is_late(l->j);) {
		struct span line = log_take(&text);

		if (log_had(&had, line))
			continue;
		if (++lines > LOG_LINES_MAX)
			l->news.bad = "it has more new lines than can be looked at";
		else
			r = log_line(l, line);
	}
	free(had.items);
	return r;
}

int hold_by_log(struct hold_judge *j, struct hold_repo *repo, const struct change *c,
		const char *ref, struct hold_verdict *v)
{
	struct hold_log l = {.j = j, .repo = repo, .remote = str_after(ref, "refs/remotes/")};
	int r = hold_read(j, c, CHANGE_AFTER);

	if (r == 0)
		r = hold_read(j, c, CHANGE_BEFORE);
	v->most = HOLD_HOLD;
	if (r < 0)
		return r == -ENOMEM
			       ? error_set(j->error, r, "no memory to look into a log")
			       : hold_say(j, v, "it cannot be looked into (%s)", error_words(r));
	if (l.remote && git_refs_value(&repo->before, "", ref, &l.was) < 0)
		l.was.len = 0;
	if (l.remote && git_refs_value(&repo->after, "", ref, &l.is) < 0)
		l.is.len = 0;
	r = log_each(&l, buf_span(&j->after), buf_span(&j->old));
	if (r < 0)
		return r;
	if (l.news.count || l.news.bad || l.news.cut)
		return hold_say_commit(j, &l.news, v);
	v->most = HOLD_NOT;
	return 0;
}
