/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git's objects are only ever added.  git names an object by the sum of its content, and does not
 * check the sum when it reads one.  So if a session puts other bytes in the place of one of the
 * user's objects, in its file or in a pack that git reads first, git checkout writes those bytes.
 *
 *	a file that changed	is held, unless it says the same in another way
 *	a loose one that is new	must be what its name says: the user may have it in a pack, or
 *				fetch it later, and git keeps what is there
 *	a pack that is new	must be so altogether: git gc puts the user's objects into it
 */
#include "hold_commits.h"

#include "str.h"

#include <stdio.h>

/* Reads the name of an object from "ab/cdef...". */
static bool objects_name(const char *path, struct git_name *ret)
{
	char hex[GIT_HEX_MAX + 1];

	return snprintf(hex, sizeof(hex), "%.2s%s", path, path + 3) < (int)sizeof(hex) &&
	       git_name_parse(span_of_str(hex), ret);
}

static int objects_say(struct hold_judge *j, struct hold_verdict *v, int r)
{
	if (r == 0) {
		v->most = HOLD_NOT;
		return 0;
	}
	if (r == -ENOMEM)
		return error_set(j->error, r, "no memory to look into git's objects");
	return hold_say(j, v, "%s: %s", v->why, git_store_words(r));
}

static int objects_by_loose(struct hold_judge *j, struct hold_repo *repo, const char *path,
			    struct hold_verdict *v)
{
	struct git_name name;

	if (!objects_name(path, &name))
		return 0;
	return objects_say(j, v, git_store_verify_loose(repo->walk.store, &name));
}

/* The name of a pack without its ending; false: the file is not part of a pack. */
static bool objects_stem(const char *name, char into[NAME_MAX + 1])
{
	static const char *const endings[] = {".pack",   ".idx",      ".rev", ".bitmap",
					      ".mtimes", ".promisor", ".keep"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(endings); i++) {
		size_t len = strlen(name);

		if (!str_ends_with(name, endings[i]) || len > NAME_MAX)
			continue;
		(void)snprintf(into, NAME_MAX + 1, "%.*s", (int)(len - strlen(endings[i])), name);
		return true;
	}
	return false;
}

/*
 * Returns 0 if each object of the pack is what its name says, else -errno.  A pack is checked once.
 */
static int hold_verify_pack(struct hold_judge *j, struct hold_repo *repo, const char *stem)
{
	for (struct hold_pack *p = repo->packs; p; p = p->next)
		if (str_equal(p->stem, stem))
			return p->verdict;
	struct hold_pack *p = arena_alloc(&j->arena, sizeof(*p));

	if (!p || !(p->stem = arena_str(&j->arena, stem)))
		return -ENOMEM;
	p->verdict = git_store_verify_pack(repo->walk.store, stem, repo->len);
	p->next = repo->packs;
	repo->packs = p;
	return p->verdict;
}

static int objects_by_pack(struct hold_judge *j, struct hold_repo *repo, const struct change *c,
			   const char *path, struct hold_verdict *v)
{
	char stem[NAME_MAX + 1];

	/* A pack has the sum of its content as its name, so a changed one is held. */
	if (c->before.type != OBJECT_ABSENT)
		return 0;
	/* git loads each index, whatever its name.  A file with any other name is not part of a
	 * pack. */
	if (strchr(path, '/') || !objects_stem(path, stem))
		return hold_say(j, v, "git has no such name among its packs");
	int r = hold_verify_pack(j, repo, stem);

	/* Without an index git does not see the pack. */
	r = objects_say(j, v, r == -ENOENT ? 0 : r);
	const char *idx = v->most == HOLD_NOT ? NULL : hold_bad_pack(j, repo);

	/* The other files of a pack wait with its index. */
	if (idx && !str_ends_with(path, ".idx"))
		v->with = idx;
	return r;
}

const char *hold_bad_pack(struct hold_judge *j, struct hold_repo *repo)
{
	char lead[PATH_MAX], stem[NAME_MAX + 1];

	if (repo->packs_asked || repo->trouble < 0 ||
	    !git_join(lead, repo->gitdir, "objects/pack/"))
		return repo->bad_pack;
	repo->packs_asked = true;
	for (size_t i = 0; i < j->changes->count && !repo->bad_pack; i++) {
		const struct change *c = &j->changes->items[i];
		const char *name = str_after(c->path, lead);

		if (!name || !str_ends_with(name, ".idx") || c->before.type != OBJECT_ABSENT ||
		    c->after.type != OBJECT_FILE || !objects_stem(name, stem))
			continue;
		int r = hold_verify_pack(j, repo, stem);

		if (r < 0 && r != -ENOENT)
			repo->bad_pack = c->path;
	}
	return repo->bad_pack;
}

/*
 * The name below objects/ of the repository that the path is in; NULL: there is none.  A new
 * repository inside another one does not count: a HEAD in .git/objects would make that folder one.
 */
static const char *objects_gitdir(const struct hold_judge *j, const char *path,
				  char gitdir[PATH_MAX])
{
	char at[PATH_MAX];
	const char *rest = NULL, *below = NULL;

	if (strlen(path) >= sizeof(at))
		return NULL;
	memcpy(at, path, strlen(path) + 1);
	while (hold_gitdir_of(j, at, gitdir, &rest)) {
		size_t len = strlen(gitdir);
		const struct hold_dir *dir = hold_dir_find(j, gitdir, len);

		below = str_after(path + len + (len > 0), "objects/");
		if (below && dir && dir->was_gitdir)
			return below;
		/* Try the next one above it. */
		char *slash = strrchr(gitdir, '/');

		if (len == 0)
			return NULL;
		len = slash ? (size_t)(slash - gitdir) : 0;
		memcpy(at, gitdir, len);
		at[len] = '\0';
	}
	return NULL;
}

int hold_by_objects(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	char gitdir[PATH_MAX];
	const char *name = objects_gitdir(j, c->path, gitdir);
	struct hold_repo *repo = NULL;

	/* A new repository has nothing of the user. */
	if (!name) {
		v->most = HOLD_NOT;
		return 0;
	}
	enum git_place place = git_place_below(name);

	repo = hold_repo_of(j, gitdir);
	if (!repo)
		return error_set(j->error, -ENOMEM, "no memory to look into git's objects");
	if (repo->trouble < 0)
		return objects_say(j, v, repo->trouble);
	if (place == GIT_PLACE_LOOSE)
		return objects_by_loose(j, repo, name, v);
	/* If the patterns know the repository, it never lands. */
	if (place == GIT_PLACE_CACHE && git_place_of(c->path) != GIT_PLACE_CACHE)
		return 0;
	if (place != GIT_PLACE_CACHE && str_after(name, "pack/"))
		return objects_by_pack(j, repo, c, name + strlen("pack/"), v);
	/* git knows no such name, or reads it only for others. */
	v->most = HOLD_NOT;
	return 0;
}
