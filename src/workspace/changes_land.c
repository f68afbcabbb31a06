/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What never lands, whatever the user says: special files, files of other owners, names that bawn
 * uses.  And what is left out while the rest lands: bits beyond 0777, attributes that mean
 * something to the kernel, the link between two names of one file.
 */
#include "changes_parts.h"
#include "str.h"

#include <endian.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LAND_ATTRIBUTES = 64 << 10, LAND_WORDS = 256, LAND_LIST_MAX = 512 };

/* The folder of a landing (land.h). */
static const char land_staging[] = ".bawn-landing-";

static const char land_bits[] = "bits beyond 0777 never land";

struct land_words {
	char text[LAND_WORDS];
	size_t len;
};

static void land_say(struct land_words *w, const char *what)
{
	size_t left = sizeof(w->text) - w->len;
	int n = snprintf(w->text + w->len, left, "%s%s", w->len ? ", " : "", what);

	if (n > 0 && (size_t)n < left)
		w->len += (size_t)n;
	else
		w->text[w->len] = '\0';
}

/* Security modules put these labels on every file, so they say nothing about this one. */
static bool land_is_label(const char *name)
{
	static const char *const labels[] = {"security.selinux", "security.apparmor",
					     "security.ima", "security.evm"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(labels); i++)
		if (str_equal(name, labels[i]))
			return true;
	return str_after(name, "security.SMACK64") != NULL;
}

/* The group bits of the mode that are only the mask of this access list: its group does not have
 * them. */
static uint32_t land_masked(const char *path)
{
	struct {
		uint32_t version;
		struct {
			uint16_t tag, bits;
			uint32_t id;
		} items[LAND_LIST_MAX];
	} list;
	enum { OF_GROUP = 0x04 }; /* ACL_GROUP_OBJ of linux/posix_acl.h */
	ssize_t n = lgetxattr(path, "system.posix_acl_access", &list, sizeof(list));
	size_t count = n < 4 ? 0 : ((size_t)n - 4) / sizeof(list.items[0]);

	if (n < 0 && errno == ENODATA)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (le16toh(list.items[i].tag) == OF_GROUP)
			return ~((uint32_t)le16toh(list.items[i].bits) << 3) & 070;
	return 070;
}

/* Notes its access list and other attributes, and whether overlayfs made it from a file beneath. */
static void land_attributes(int dir, const char *name, struct land_words *w, struct change *one)
{
	static char list[LAND_ATTRIBUTES];
	char path[NAME_MAX + 40];

	/*
	 * The kernel does not follow the last part of a path; before it is only our own descriptor.
	 */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, name);
	ssize_t n = llistxattr(path, list, sizeof(list));

	if (n < 0 && errno == ERANGE)
		land_say(w, "attributes");
	for (const char *at = list; n > 0 && at < list + n; at += strlen(at) + 1) {
		if (str_equal(at, "system.posix_acl_access"))
			one->masked = land_masked(path) & one->after.mode;
		if (str_equal(at, "user.overlay.origin"))
			one->copied_up = true;
		else if (str_equal(at, "security.capability"))
			land_say(w, "capabilities");
		else if (str_after(at, "system.posix_acl_"))
			land_say(w, "access list");
		else if (!str_after(at, "user.") && !land_is_label(at))
			land_say(w, "attributes");
	}
}

static bool land_is_own_group(uint32_t gid, uint32_t before, bool was)
{
	static gid_t groups[1024];
	static int count = -1;

	if ((was && gid == before) || gid == getegid())
		return true;
	if (count < 0)
		count = getgroups(BAWN_ARRAY_SIZE(groups), groups);
	for (int i = 0; i < count; i++)
		if (groups[i] == gid)
			return true;
	return false;
}

/* Why nothing of it lands; NULL: it can. */
static const char *land_refusal(struct changes *c, const struct change *one)
{
	static const char *const special[OBJECT_TYPE_COUNT] = {
		[OBJECT_FIFO] = "a fifo never lands",
		[OBJECT_SOCKET] = "a socket never lands",
		[OBJECT_DEVICE] = "a device never lands",
	};
	const struct object *after = &one->after;

	if (special[after->type])
		return special[after->type];
	if (strlen(one->path) >= PATH_MAX)
		return "its path is too long";
	if (str_after(one->path, land_staging))
		return "the name is bawn's own";
	/* git takes trees and places of objects from there, and checks nothing. */
	if (git_place_of(one->path) == GIT_PLACE_CACHE)
		return "git makes it again from its objects, with 'git gc'";
	if (after->type != OBJECT_ABSENT && after->uid != geteuid() &&
	    (one->before.type == OBJECT_ABSENT || after->uid != one->before.uid)) {
		const char *why =
			arena_printf(&c->arena, "it belongs to somebody else (uid %u)", after->uid);

		return why ? why : "it belongs to somebody else";
	}
	if (one->kind == CHANGE_MODE && (one->before.mode & 0777) == (after->mode & 0777))
		return land_bits;
	return NULL;
}

void changes_judge(struct changes *c, struct change *one, int dir, const char *name)
{
	struct land_words w = {.len = 0};
	const struct object *after = &one->after;
	bool was = one->before.type != OBJECT_ABSENT;
	uint32_t bits = after->mode & ~(was ? one->before.mode : 0);

	if (one->group == CHANGE_DROPPED)
		return;
	one->why = land_refusal(c, one);
	if (one->why)
		one->group = CHANGE_DROPPED;
	if (after->type == OBJECT_ABSENT)
		return;
	if (after->type != OBJECT_LINK && bits & S_ISUID)
		land_say(&w, "setuid bit");
	/* A directory takes the bit from the directory that it is in. */
	if (after->type == OBJECT_FILE && bits & S_ISGID)
		land_say(&w, "setgid bit");
	if (after->type != OBJECT_LINK && bits & S_ISVTX)
		land_say(&w, "sticky bit");
	if (!land_is_own_group(after->gid, one->before.gid, was))
		land_say(&w, "group");
	land_attributes(dir, name, &w, one);
	if (w.len > 0 && one->group != CHANGE_DROPPED)
		one->without = arena_str(&c->arena, w.text);
}

static int land_order(const void *a, const void *b)
{
	const struct object *one = &(*(struct change *const *)a)->after;
	const struct object *other = &(*(struct change *const *)b)->after;

	if (one->dev != other->dev)
		return one->dev < other->dev ? -1 : 1;
	return (one->ino > other->ino) - (one->ino < other->ino);
}

static bool land_is_tied(const struct change *a, const struct change *b)
{
	return a->after.dev == b->after.dev && a->after.ino == b->after.ino;
}

int changes_tie(struct changes *c)
{
	static const char words[] = "hard link (it lands as a file of its own)";
	_cleanup_free_ struct change **ties = calloc(c->count + 1, sizeof(struct change *));
	size_t count = 0;

	if (!ties)
		return -ENOMEM;
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].after.type == OBJECT_FILE && c->items[i].after.links > 1)
			ties[count++] = &c->items[i];
	qsort(ties, count, sizeof(struct change *), land_order);
	for (size_t i = 0; i < count; i++) {
		struct change *one = ties[i];

		if (one->group == CHANGE_DROPPED ||
		    !((i > 0 && land_is_tied(one, ties[i - 1])) ||
		      (i + 1 < count && land_is_tied(one, ties[i + 1]))))
			continue;
		one->without = one->without ? arena_printf(&c->arena, "%s, %s", one->without, words)
					    : words;
		if (!one->without)
			return -ENOMEM;
	}
	return 0;
}

void changes_judge_mode(struct change *one)
{
	one->kind = one->before.mode == one->after.mode ? CHANGE_KIND_COUNT : CHANGE_MODE;
	if ((one->before.mode & 0777) != (one->after.mode & 0777) || one->group == CHANGE_DROPPED)
		return;
	one->group = CHANGE_DROPPED;
	one->why = land_bits;
	one->without = NULL;
}
