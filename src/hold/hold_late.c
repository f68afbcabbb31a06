/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One deadline for the whole judgement.  An agent made the changes, and it can make them take any
 * time: a history without end, a small pack that unpacks to terabytes, patterns that match slowly.
 * Every loop whose length an agent decides asks here.  Once it is late, we look at nothing more.
 * What was not judged by then is held, and the reason says so.
 *
 * A repository lands with all its parts or not at all: without its objects a branch is broken.  So
 * if a part of one was not judged, all that the session changed there waits with one change.  The
 * same is true when the session removed a repository of the user, with the branches, stashes and
 * logs by which git finds all commits: the change of its HEAD stands for it.
 */
#include "hold_parts.h"

#include "clock.h"
#include "str.h"

#include <stdio.h>

enum { LATE_SELDOM = 64 };

static const char late_rule[] = "git-commits";

struct late_repo {
	struct late_repo *next;
	const char *path; /* the change by which it was found */
	size_t len;       /* of the part of the path that is the repository's folder */
	struct change *lead;
	bool gone; /* the session removed it */
};

void hold_late_begin(struct hold_judge *j)
{
	j->deadline = clock_ms(CLOCK_MONOTONIC) + j->rules->most_ms;
}

bool hold_is_late(struct hold_judge *j)
{
	j->late = j->late || clock_ms(CLOCK_MONOTONIC) > j->deadline;
	return j->late;
}

bool hold_is_late_soon(struct hold_judge *j)
{
	return ++j->late_asked % LATE_SELDOM ? j->late : hold_is_late(j);
}

int hold_late_say(struct hold_judge *j, struct hold_said *said)
{
	if (!j->late_why)
		j->late_why = arena_printf(&j->changes->arena,
					   "it was not looked at: to look at all that the session "
					   "changed takes more than %lld seconds",
					   (long long)(j->rules->most_ms + 999) / 1000);
	*said = (struct hold_said){.level = HOLD_HOLD, .why = j->late_why};
	return j->late_why ? 0 : error_set(j->error, -ENOMEM, "no memory to say what is held");
}

/* Length of the path of the change's repository; -1: it is not one of git's files. */
static ssize_t late_gitdir(const struct change *c)
{
	return c->git ? c->git - c->path - (c->git > c->path) : -1;
}

static struct late_repo *late_find(struct late_repo *repos, const char *path, size_t len)
{
	while (repos && !(repos->len == len && memcmp(repos->path, path, len) == 0))
		repos = repos->next;
	return repos;
}

static bool late_is_ref(const struct change *c, size_t len)
{
	const char *rest = c->path + len + (len > 0);

	return str_after(rest, "refs/") || str_equal(rest, "packed-refs");
}

static bool late_is_pack(const struct change *c)
{
	return strstr(c->path, "objects/pack/") && str_ends_with(c->path, ".idx");
}

/* The change removes HEAD of a repository of the user that has its own objects. */
static bool late_is_gone(struct hold_judge *j, const struct change *c)
{
	char path[PATH_MAX];
	struct object o;
	size_t row = hold_row_of(late_rule);

	if (!c->git || !str_equal(c->git, "HEAD") || c->after.type != OBJECT_ABSENT ||
	    c->before.type == OBJECT_ABSENT || strlen(c->path) + 8 > sizeof(path))
		return false;
	(void)snprintf(path, sizeof(path), "%.*sobjects", (int)(c->git - c->path), c->path);
	return row < hold_row_count && j->rules->levels[row] == HOLD_HOLD &&
	       view_look(&j->before, path, &o) == 0 && o.type == OBJECT_DIR;
}

/* Finds repositories with a part that was not judged, each with one change that stands for it (a
 * ref, if there is one); and repositories that are gone. */
static int late_repos(struct hold_judge *j, struct late_repo **ret)
{
	for (size_t i = 0; i < j->changes->count; i++) {
		struct change *c = &j->changes->items[i];
		bool gone = late_is_gone(j, c);
		ssize_t len = gone || (c->why && c->why == j->late_why) ? late_gitdir(c) : -1;

		if (len < 0)
			continue;
		struct late_repo *r = late_find(*ret, c->path, (size_t)len);

		if (!r) {
			r = arena_alloc(&j->arena, sizeof(*r));
			if (!r)
				return error_set(j->error, -ENOMEM, "no memory to judge changes");
			*r = (struct late_repo){*ret, c->path, (size_t)len, c, false};
			*ret = r;
		} else if (gone ||
			   (!r->gone && !late_is_ref(r->lead, r->len) && late_is_ref(c, r->len))) {
			r->lead = c;
		}
		r->gone = r->gone || gone;
	}
	return 0;
}

/* Sets what is said of the change that stands for the others. */
static int late_lead(struct hold_judge *j, const struct late_repo *repo, struct change *c)
{
	c->group = CHANGE_HELD;
	c->rule = repo->gone ? late_rule : NULL;
	c->with = NULL;
	c->why = repo->gone
			 ? "the session removed this repository: your branches, stashes and logs, "
			   "by which commits are found, would be gone; what is not held for "
			   "itself goes with this"
			 : arena_printf(&j->changes->arena,
					"what the session did in this repository was not looked "
					"at: that takes more than %lld seconds; what is not held "
					"for itself goes with this",
					(long long)(j->rules->most_ms + 999) / 1000);
	return c->why ? 0 : -ENOMEM;
}

static int late_follow(struct hold_judge *j, const struct late_repo *repo, struct change *c)
{
	if (c->group == CHANGE_HELD && c->why != j->late_why) {
		/* It is held for a reason of its own.  A pack: the rest is broken without it.
		 * Anything else is of no use without the rest. */
		if (late_is_pack(c))
			repo->lead->needs = c->path;
		else
			c->needs = repo->lead->path;
		return 0;
	}
	c->group = CHANGE_HELD;
	c->rule = NULL;
	c->with = repo->lead->path;
	c->why = arena_printf(&j->changes->arena, "it belongs to %.200s, which is held", c->with);
	return c->why ? 0 : -ENOMEM;
}

int hold_late_end(struct hold_judge *j)
{
	struct late_repo *repos = NULL;
	int r = late_repos(j, &repos);

	for (size_t i = 0; r == 0 && repos && i < j->changes->count; i++) {
		struct change *c = &j->changes->items[i];
		ssize_t len = c->group == CHANGE_DROPPED ? -1 : late_gitdir(c);
		const struct late_repo *repo =
			len < 0 ? NULL : late_find(repos, c->path, (size_t)len);

		if (repo)
			r = c == repo->lead ? late_lead(j, repo, c) : late_follow(j, repo, c);
		if (r < 0)
			return error_set(j->error, r, "no memory to say what is held");
	}
	return r;
}
