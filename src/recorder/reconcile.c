/* SPDX-License-Identifier: Apache-2.0 */
#include "reconcile.h"

#include "clock.h"
#include "event.h"
#include "fd.h"
#include "open.h"
#include "str.h"
#include "twice.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum {
	RECONCILE_STEP_BACK = 100000000, /* ns; a larger step back of the clock is told */
	RECONCILE_PROGRESS = 1000000000, /* ns between two reports of progress */
	RECONCILE_AT_ONCE = 64,          /* folders of a layer that we look at before all else */
	RECONCILE_DEPTH = 4,             /* how many renames of one file we follow back */
};

/* Not in Debian 12's magic.h, or not in that header. */
enum { RECONCILE_CIFS = 0xff534d42, RECONCILE_SMB2 = 0xfe534d42, RECONCILE_CEPH = 0x00c36400 };

/* --- begin ---------------------------------------------------------------------------- */

/* Whether this machine's clock makes the times of the files; false: another machine, or a program,
 * does. */
static bool reconcile_has_local_clock(int root)
{
	struct statfs fs;

	if (fstatfs(root, &fs) < 0)
		return false;
	switch ((uint32_t)fs.f_type) {
	case NFS_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case (uint32_t)RECONCILE_CIFS:
	case (uint32_t)RECONCILE_SMB2:
	case RECONCILE_CEPH:
	case V9FS_MAGIC:
	case AFS_SUPER_MAGIC:
	case CODA_SUPER_MAGIC:
	case FUSE_SUPER_MAGIC:
		return false;
	default:
		return true;
	}
}

/* Opens the folder that we compare: the one that the box writes. */
static int reconcile_open(struct reconcile_tree *t, const struct plan_mount *m, struct error *e)
{
	char up[PATH_MAX];
	struct stat st;
	int ret = 0;

	t->root = open_no_links(m->source, O_RDONLY | O_DIRECTORY);
	if (t->root < 0 || fstat(t->root, &st) < 0)
		return t->root < 0 ? t->root : -errno;
	if (m->ino != 0 && (st.st_ino != m->ino || st.st_dev != m->dev))
		return error_set(e, -ESTALE, "%s is not the folder that was meant", m->source);
	if (m->upper[0] == '\0')
		return 0;
	fd_close(&t->root);
	ret = reconcile_layer_open(&t->layer, m);
	if (ret < 0)
		return ret;
	if (snprintf(up, sizeof(up), "%s/%s", m->upper, plan_mount_up(m)) >= (int)sizeof(up))
		return -ENAMETOOLONG;
	t->root = open_no_links(up, O_RDONLY | O_DIRECTORY);
	return t->root < 0 ? t->root : 0;
}

/* Adds a tree that the box writes.  If we cannot open it, the end says so. */
static int reconcile_add(struct reconcile *r, const struct plan_mount *m, struct error *e)
{
	struct reconcile_tree *t = &r->trees[r->count];

	*t = (struct reconcile_tree){.root = -1, .target = m->target};
	r->count++;
	int ret = reconcile_open(t, m, e);

	if (ret < 0) {
		fd_close(&t->root);
		t->failed = ret;
		return e->code < 0 ? e->code : 0;
	}
	t->clock = reconcile_has_local_clock(t->root);
	ret = manifest_init(&t->before, t->root, r->since);
	if (ret < 0)
		return error_sys(e, ret, "preparing to compare %s", m->target);
	/* A layer is new and empty, or has a few folders: we look now, before anything can
	 * change. */
	for (int i = 0; t->layer.count > 0 && i < RECONCILE_AT_ONCE && manifest_step(&t->before);)
		i++;
	return 0;
}

/* Whether the user named a link: then the box sees the folder by that name and by its own. */
static bool reconcile_is_link(const struct reconcile *r, const struct plan_mount *m)
{
	const struct plan *plan = r->plan;

	for (size_t i = 0; m->source && !str_equal(m->target, m->source) && i < plan->mounts.count;
	     i++) {
		const struct plan_mount *own = &plan->mounts.items[i];

		if (own->kind == PLAN_MOUNT_BIND && own->access == m->access &&
		    str_equal(own->target, m->source) && str_equal(own->source, m->source))
			return true;
	}
	return false;
}

/* What the box does by the name of such a link it does to the folder. */
static void reconcile_follow_links(struct reconcile *r)
{
	for (size_t i = 0; i < r->plan->mounts.count; i++) {
		const struct plan_mount *m = &r->plan->mounts.items[i];

		if (m->kind == PLAN_MOUNT_BIND && m->access == PLAN_ACCESS_WRITE &&
		    reconcile_is_link(r, m))
			touched_linked(&r->touched, span_of_str(m->target), span_of_str(m->source));
	}
}

/* A folder of the workspace may be mounted there twice.  Events about it use its first name; they
 * count for the place of the second mount. */
static void reconcile_follow_mounts(struct reconcile *r, const struct plan_mount *workspace)
{
	_cleanup_twice_ struct twice twice = TWICE_INIT;

	twice_read(&twice, workspace->source, workspace->target);
	for (size_t i = 0; i < twice.count; i++)
		touched_linked(&r->touched, span_of_str(twice.names[i].first),
			       span_of_str(twice.names[i].second));
}

/* Whether the user granted this folder for writing, and no tree that we compare has it in it. */
static bool reconcile_is_granted(const struct reconcile *r, const struct plan_mount *m)
{
	struct stat st;

	/* Upon it the box writes a layer, as upon the workspace. */
	if (str_equal(m->role, PLAN_REPOSITORY))
		return plan_mount_has_layers(m);
	if (m->kind != PLAN_MOUNT_BIND || m->access != PLAN_ACCESS_WRITE || m->upper[0] != '\0' ||
	    (!str_equal(m->role, "named") && !str_equal(m->role, "exposed")) ||
	    reconcile_is_link(r, m))
		return false;
	if (lstat(m->source, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	for (size_t i = 0; i < r->count; i++)
		if (r->trees[i].layer.count == 0 && str_path_beneath(m->target, r->trees[i].target))
			return false;
	return true;
}

int reconcile_begin(struct reconcile *r, const struct plan *plan, struct error *e)
{
	const struct plan_mount *workspace = plan_writable_workspace(plan);

	*r = RECONCILE_INIT;
	r->plan = plan;
	/* No file has a later time than this clock; a time may be as early as the coarse clock,
	 * which is why the box waits for that one (watch.h). */
	r->since = clock_ns(CLOCK_REALTIME);
	r->offset = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	int ret = workspace ? reconcile_add(r, workspace, e) : 0;

	/* In the order of their names: a folder comes after one that it is in. */
	for (size_t i = 0; ret == 0 && i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		if (!reconcile_is_granted(r, m))
			continue;
		if (r->count == RECONCILE_TREES_MAX)
			r->left_out++;
		else
			ret = reconcile_add(r, m, e);
	}
	if (ret == 0 && r->count > 0)
		ret = touched_init(&r->touched);
	if (ret == 0 && r->count > 0)
		reconcile_follow_links(r);
	if (ret == 0 && workspace && workspace->upper[0] == '\0')
		reconcile_follow_mounts(r, workspace);
	return ret < 0 && e->code == 0 ? error_sys(e, ret, "preparing to compare what changes")
				       : ret;
}

void reconcile_serve(struct reconcile *r, int records, const struct scanner_to *to)
{
	scanner_init(&r->scanner, records, to);
}

int reconcile_scan(struct reconcile *r)
{
	struct manifest *first = NULL;

	for (size_t i = r->count; i > 0; i--)
		if (r->trees[i - 1].root >= 0) {
			r->trees[i - 1].before.next = first;
			first = &r->trees[i - 1].before;
		}
	return scanner_start(&r->scanner, first);
}

void reconcile_fini(struct reconcile *r)
{
	scanner_end(&r->scanner);
	for (size_t i = 0; i < r->count; i++) {
		struct reconcile_tree *t = &r->trees[i];

		manifest_fini(&t->before);
		reconcile_layer_close(&t->layer);
		fd_close(&t->root);
	}
	r->count = 0;
	touched_fini(&r->touched);
}

/* --- what explains a difference ------------------------------------------------------- */

/* What we use while we go through the differences. */
struct reconcile_work {
	struct reconcile *r;
	struct reconcile_tree *t;
	struct compare c;
	struct manifest after;
	struct buf path;   /* of the difference at hand, as the box names it */
	struct buf inodes; /* files with several names, one of which has an event: uint64_t */
	struct buf timed;  /* files with several names, one of which has an event about times */
	struct writer *w;
	struct reconcile_result *result;
	uint64_t named;
};

/* False: it is a folder that the user granted. */
static bool reconcile_is_workspace(const struct reconcile_work *k)
{
	return str_equal(k->t->target, k->r->plan->workspace);
}

static void reconcile_put_path(struct reconcile_work *k, const struct manifest *m, uint32_t index)
{
	buf_clear(&k->path);
	k->path.error = 0;
	buf_put_str(&k->path, k->t->target);
	if (index == 0)
		return;
	buf_put_char(&k->path, '/');
	manifest_path(m, index, &k->path);
}

/* Finds the files with several names of which one has an event. */
static void reconcile_find_links(struct reconcile_work *k, const struct manifest *m)
{
	for (uint32_t i = 1; i < m->head->count; i++) {
		const struct manifest_entry *e = &m->entries[i];

		if (e->links < 2 || S_ISDIR(e->mode))
			continue;
		reconcile_put_path(k, m, i);
		if (touched_explains(&k->r->touched, buf_span(&k->path), TOUCHED_ANY))
			buf_put(&k->inodes, &e->inode, sizeof(e->inode));
		if (touched_explains(&k->r->touched, buf_span(&k->path), TOUCHED_TIMES))
			buf_put(&k->timed, &e->inode, sizeof(e->inode));
	}
}

static void reconcile_sort(struct buf *numbers)
{
	if (numbers->len > 0)
		qsort(numbers->ptr, numbers->len / sizeof(uint64_t), sizeof(uint64_t), order_u64);
}

static bool reconcile_is_among(const uint64_t *numbers, size_t count, uint64_t inode)
{
	return count > 0 && bsearch(&inode, numbers, count, sizeof(*numbers), order_u64) != NULL;
}

static bool reconcile_has(const struct buf *numbers, const struct manifest_entry *e)
{
	return reconcile_is_among((const uint64_t *)(const void *)numbers->ptr,
				  numbers->len / sizeof(uint64_t), e->inode);
}

static bool reconcile_has_linked(const struct reconcile_work *k, const struct manifest_entry *e)
{
	return reconcile_has(&k->inodes, e);
}

/* Whether an event made or moved a folder above this path. */
static bool reconcile_is_beneath_made(const struct reconcile_work *k)
{
	struct span path = buf_span(&k->path);
	size_t least = strlen(k->t->target);

	while (path.len > least) {
		while (path.len > least && path.ptr[path.len - 1] != '/')
			path.len--;
		path.len -= path.len > least;
		if (path.len > least &&
		    touched_effects(&k->r->touched, path) & (TOUCHED_MADE | TOUCHED_MOVED))
			return true;
	}
	return false;
}

/* The entry that this file had at the start, as far as renames of folders above it tell; or
 * MANIFEST_NONE. */
static uint32_t reconcile_origin(const struct reconcile_work *k, struct span path, uint64_t inode,
				 unsigned int depth)
{
	size_t least = strlen(k->t->target) + 1;
	size_t at = 0;
	_cleanup_buf_ struct buf name = BUF_INIT(MANIFEST_PATH_MAX);

	while (depth > 0 && touched_other_name(&k->r->touched, path, true, &at, &name)) {
		struct span other = buf_span(&name);
		uint32_t found = MANIFEST_NONE;

		if (other.len > least && memcmp(other.ptr, path.ptr, least) == 0)
			found = compare_find(&k->c, span_skip(other, least));
		if (found != MANIFEST_NONE && k->t->before.entries[found].inode == inode)
			return found;
		found = reconcile_origin(k, other, inode, depth - 1);
		if (found != MANIFEST_NONE)
			return found;
	}
	return MANIFEST_NONE;
}

/*
 * Something is where it was not before.  Did it move there with a folder above it, and is it the
 * same as it was? Then it is not gone from its old place either.  `kind` becomes what else is
 * different about it.
 */
static bool reconcile_is_moved(struct reconcile_work *k, struct compare_change *change,
			       uint32_t origin)
{
	const struct manifest_entry *e = &k->after.entries[change->after];

	if (origin != MANIFEST_NONE) {
		return !compare_pair(&k->c, origin, change->after, &change->kind) ||
		       (change->kind != COMPARE_CHANGED && change->kind != COMPARE_TIMES);
	}
	/* We never saw its old name; but nothing happened to it in this session. */
	return k->c.clock && !compare_is_fresh(&k->c, e) && reconcile_is_beneath_made(k);
}

static const unsigned int reconcile_effects[COMPARE_KIND_COUNT] = {
	[COMPARE_CREATED] = TOUCHED_MADE, [COMPARE_CHANGED] = TOUCHED_MADE,
	[COMPARE_DELETED] = TOUCHED_GONE, [COMPARE_ATTRIBUTES] = TOUCHED_MADE | TOUCHED_META,
	[COMPARE_TIMES] = TOUCHED_ANY,
};

/* Whether this inode was not at this place before. */
static bool reconcile_is_elsewhere(const struct reconcile_work *k,
				   const struct compare_change *change)
{
	return change->after != MANIFEST_NONE &&
	       (change->before == MANIFEST_NONE || k->t->before.entries[change->before].inode !=
							   k->after.entries[change->after].inode);
}

/* Whether an event says that the times were set, so that they do not prove a write.  linked: an
 * event on another of its names counts too.  origin: where it was before, if it came with a folder
 * above it. */
static bool reconcile_is_times_event(const struct reconcile_work *k,
				     const struct compare_change *change,
				     const struct manifest_entry *e, uint32_t origin, bool linked)
{
	if (!touched_explains(&k->r->touched, buf_span(&k->path), TOUCHED_TIMES) &&
	    !(linked && reconcile_has(&k->timed, e)))
		return false;
	/* The first look had not come there: we do not know what it was. */
	if (change->before == MANIFEST_NONE)
		return true;
	uint32_t was = reconcile_is_elsewhere(k, change) ? origin : change->before;

	return was != MANIFEST_NONE && k->t->before.entries[was].size == e->size;
}

/* --- what a layer has ----------------------------------------------------------------- */

/* Whether an event made, removed or renamed the path or a folder above it. */
static bool reconcile_is_beneath_event(const struct reconcile_work *k)
{
	struct span path = buf_span(&k->path);
	size_t least = strlen(k->t->target);

	while (path.len > least) {
		if (touched_effects(&k->r->touched, path) &
		    (TOUCHED_MADE | TOUCHED_GONE | TOUCHED_MOVED))
			return true;
		while (path.len > least && path.ptr[path.len - 1] != '/')
			path.len--;
		path.len -= path.len > least;
	}
	return false;
}

/* Whether it is a copy of what is beneath the layer, under this name or one that it had before a
 * folder above it was renamed.  May change `kind`. */
static bool reconcile_is_copied_up(struct reconcile_work *k, struct span path,
				   struct compare_change *change, unsigned int depth)
{
	const struct manifest_entry *e = &k->after.entries[change->after];
	size_t least = strlen(k->t->target) + 1, at = 0;
	_cleanup_buf_ struct buf name = BUF_INIT(MANIFEST_PATH_MAX);
	enum compare_kind kind;

	if (path.len > least && memcmp(path.ptr, k->t->target, least - 1) == 0) {
		buf_put(&name, path.ptr + least, path.len - least);
		enum reconcile_found found =
			buf_error(&name) ? RECONCILE_NEW
					 : reconcile_layer_look(&k->t->layer, buf_str(&name), e,
								k->r->since, &kind);

		if (found == RECONCILE_SAME)
			return true;
		/* Its own name comes first; else it came from here, and was changed. */
		if (found == RECONCILE_OTHER && change->kind == COMPARE_CREATED)
			change->kind = kind;
	}
	while (depth > 0 && touched_other_name(&k->r->touched, path, true, &at, &name))
		if (reconcile_is_copied_up(k, buf_span(&name), change, depth - 1))
			return true;
	return false;
}

/* Whether something else is mounted there in the box, which then does not see what is beneath. */
static bool reconcile_is_covered(const struct reconcile_work *k)
{
	const struct plan *plan = k->r->plan;

	for (size_t i = 0; !reconcile_is_workspace(k) && i < plan->mounts.count; i++) {
		const char *target = plan->mounts.items[i].target;

		if (!str_equal(target, k->t->target) && str_path_beneath(target, k->t->target) &&
		    str_path_beneath(buf_str(&k->path), target))
			return true;
	}
	return false;
}

/* True: an event explains it, or there is nothing to explain.  May change `kind` and `copied`. */
static bool reconcile_is_of_layer(struct reconcile_work *k, struct compare_change *change)
{
	if (change->after == MANIFEST_NONE) {
		const struct manifest_entry *e = &k->t->before.entries[change->before];

		return (S_ISDIR(e->mode) || S_ISCHR(e->mode)) && reconcile_is_beneath_event(k);
	}
	if (S_ISCHR(k->after.entries[change->after].mode)) {
		change->kind = COMPARE_DELETED;
		return touched_explains(&k->r->touched, buf_span(&k->path), TOUCHED_GONE);
	}
	if (change->before != MANIFEST_NONE ||
	    !reconcile_is_copied_up(k, buf_span(&k->path), change, RECONCILE_DEPTH))
		return false;
	change->copied = true;
	return true;
}

/*
 * Whether it was in a folder that we cannot read now: as far as anybody knows, it is still in
 * there.  reconcile_tell_unread says that the folder was not read.
 */
static bool reconcile_is_shut(const struct reconcile_work *k, const struct compare_change *change)
{
	if (change->kind != COMPARE_DELETED)
		return false;
	for (uint32_t at = change->before; at != 0;) {
		at = k->t->before.entries[at].parent;
		uint32_t now = k->c.to_after[at];

		if (now != MANIFEST_NONE)
			return S_ISDIR(k->after.entries[now].mode) &&
			       !(k->after.entries[now].flags & MANIFEST_READ);
	}
	return false;
}

static bool reconcile_is_explained(struct reconcile_work *k, struct compare_change *change)
{
	bool gone = change->after == MANIFEST_NONE;
	const struct manifest *m = gone ? &k->t->before : &k->after;
	const struct manifest_entry *e = &m->entries[gone ? change->before : change->after];

	reconcile_put_path(k, m, gone ? change->before : change->after);
	if (reconcile_is_covered(k)) {
		change->copied = true;
		return true;
	}
	uint32_t origin =
		reconcile_is_elsewhere(k, change)
			? reconcile_origin(k, buf_span(&k->path), e->inode, RECONCILE_DEPTH)
			: MANIFEST_NONE;

	/* What is here now is not gone from where it was. */
	if (origin != MANIFEST_NONE)
		k->c.to_after[origin] = change->after;
	unsigned int effects =
		change->kind < COMPARE_KIND_COUNT ? reconcile_effects[change->kind] : 0;

	if (touched_explains(&k->r->touched, buf_span(&k->path), effects))
		return true;
	if (k->t->layer.count > 0) {
		if (reconcile_is_of_layer(k, change))
			return true;
		if (change->after != MANIFEST_NONE && S_ISCHR(e->mode))
			return false;
		/* `kind` may be another one now, which an event explains. */
		if (touched_explains(&k->r->touched, buf_span(&k->path),
				     reconcile_effects[change->kind]))
			return true;
		if (change->kind == COMPARE_CHANGED &&
		    touched_explains(&k->r->touched, buf_span(&k->path), TOUCHED_TIMES)) {
			change->kind = COMPARE_TIMES;
			change->settled = true;
			return false;
		}
	}
	switch (change->kind) {
	case COMPARE_CREATED:
		return reconcile_is_moved(k, change, origin);
	case COMPARE_DELETED:
		return k->c.to_after[change->before] != MANIFEST_NONE ||
		       reconcile_is_shut(k, change);
	case COMPARE_CHANGED:
		if (reconcile_is_times_event(k, change, e, origin, false)) {
			change->kind = COMPARE_TIMES;
			change->settled = true;
			return false;
		}
		return reconcile_has_linked(k, e) ||
		       (reconcile_is_elsewhere(k, change) && reconcile_is_moved(k, change, origin));
	case COMPARE_ATTRIBUTES:
		return reconcile_has_linked(k, e);
	case COMPARE_TIMES:
		return reconcile_has_linked(k, e) ||
		       (change->before != MANIFEST_NONE &&
			reconcile_has_linked(k, &k->t->before.entries[change->before]));
	case COMPARE_KIND_COUNT:
		break;
	}
	return false;
}

/* --- what was kept ---------------------------------------------------------------------- */

/* Whether the file had this name before the session too, or an event gave it this name. */
static bool reconcile_is_known_name(struct reconcile_work *k, uint32_t index)
{
	uint32_t before = k->c.to_before[index];

	if (before < k->t->before.head->count &&
	    k->t->before.entries[before].inode == k->after.entries[index].inode)
		return true;
	reconcile_put_path(k, &k->after, index);
	return touched_explains(&k->r->touched, buf_span(&k->path), TOUCHED_MADE) ||
	       reconcile_is_beneath_made(k);
}

/* Whether a file with this number is there after the session, by a name that we know; not one that
 * was made since and got the number. */
static bool reconcile_is_there(struct reconcile_work *k, uint64_t inode)
{
	for (uint32_t i = 1; i < k->after.head->count; i++)
		if (k->after.entries[i].inode == inode &&
		    !(k->after.entries[i].flags & MANIFEST_BORN) && reconcile_is_known_name(k, i))
			return true;
	return false;
}

/* Direct: whether the file from before the session, which is gone or changed, was kept.  True also
 * when it did not need to be. */
static bool reconcile_was_kept(struct reconcile_work *k, const struct compare_change *change)
{
	if (!k->r->kept || !reconcile_is_workspace(k) || change->before == MANIFEST_NONE ||
	    (change->kind != COMPARE_DELETED && change->kind != COMPARE_CHANGED))
		return true;
	const struct manifest_entry *e = &k->t->before.entries[change->before];

	if (!S_ISREG(e->mode) || !k->c.clock || compare_is_fresh(&k->c, e) ||
	    reconcile_is_shut(k, change))
		return true;
	reconcile_put_path(k, &k->t->before, change->before);
	if (first_kept_is_other(k->r->kept, buf_str(&k->path) + strlen(k->t->target) + 1, e->inode))
		return false;
	if (first_kept_has(k->r->kept, e->inode))
		return true;
	bool same = change->after != MANIFEST_NONE &&
		    k->after.entries[change->after].inode == e->inode &&
		    !(k->after.entries[change->after].flags & MANIFEST_BORN);

	/* An event says that only its times were set. */
	if (same && reconcile_is_times_event(k, change, &k->after.entries[change->after],
					     MANIFEST_NONE, true))
		return true;
	return !same && reconcile_is_there(k, e->inode);
}

/* Keeps the differences that nothing explains. */
static void reconcile_sift(struct reconcile_work *k)
{
	size_t kept = 0, same = 0;

	for (size_t i = 0; i < k->c.count; i++) {
		struct compare_change change = k->c.changes[i];

		if (change.settled || !reconcile_is_explained(k, &change) ||
		    !reconcile_was_kept(k, &change))
			k->c.changes[kept++] = change;
		else if (change.copied)
			same++;
	}
	k->result->confirmed += k->c.count - kept - same;
	k->c.count = kept;
}

/* Links that were in the workspace all along lead to other names as well. */
static void reconcile_add_links(struct reconcile_work *k, const struct manifest *m)
{
	for (uint32_t i = 1; i < m->head->count; i++) {
		if (!S_ISLNK(m->entries[i].mode))
			continue;
		reconcile_put_path(k, m, i);
		touched_linked(&k->r->touched, buf_span(&k->path),
			       manifest_link(m, &m->entries[i]));
	}
}

/* How many files and links changed, whoever did it. */
static uint64_t reconcile_count_files(const struct reconcile_work *k)
{
	uint64_t files = 0;

	for (size_t i = 0; i < k->c.count; i++) {
		const struct compare_change *change = &k->c.changes[i];
		bool gone = change->after == MANIFEST_NONE;
		const struct manifest *m = gone ? &k->t->before : &k->after;
		uint32_t index = gone ? change->before : change->after;

		files += change->kind != COMPARE_TIMES && index < m->head->count &&
			 (S_ISREG(m->entries[index].mode) || S_ISLNK(m->entries[index].mode));
	}
	return files;
}

static int reconcile_explain(struct reconcile_work *k)
{
	k->t->changed = reconcile_is_workspace(k) ? 0 : reconcile_count_files(k);
	int ret = touched_settle(&k->r->touched);

	if (ret < 0)
		return ret;
	reconcile_sift(k);
	if (k->c.count == 0)
		return 0;
	/* Only for what is left do we do more work. */
	reconcile_add_links(k, &k->t->before);
	reconcile_add_links(k, &k->after);
	ret = touched_settle(&k->r->touched);
	if (ret < 0)
		return ret;
	reconcile_find_links(k, &k->t->before);
	reconcile_find_links(k, &k->after);
	reconcile_sort(&k->inodes);
	reconcile_sort(&k->timed);
	reconcile_sift(k);
	return 0;
}

/* --- events --------------------------------------------------------------------------- */

static const char *const reconcile_reasons[COMPARE_KIND_COUNT] = {
	[COMPARE_CREATED] = "it is new, and no event says who made it",
	[COMPARE_CHANGED] = "its content changed, and no event says who wrote it",
	[COMPARE_DELETED] = "it is gone, and no event says who removed it",
	[COMPARE_ATTRIBUTES] = "its mode or owner changed, and no event says by whom",
	[COMPARE_TIMES] = "its times changed, and as far as they tell nothing else",
};

/* An event has room for the longest path that the kernel takes; of a longer one we cut the end. */
static struct span reconcile_cut(struct span path, uint64_t *ret_cut)
{
	*ret_cut = path.len > NOTE_TEXT_MAX ? path.len - NOTE_TEXT_MAX : 0;
	return (struct span){path.ptr, path.len - *ret_cut};
}

static void reconcile_show(struct reconcile_work *k, enum compare_kind kind)
{
	struct reconcile_result *result = k->result;

	result->unattributed++;
	if (result->shown_count == RECONCILE_SHOWN_MAX)
		return;
	char *path = result->shown[result->shown_count].path;
	size_t max = sizeof(result->shown[0].path) - 1;

	memcpy(path, k->path.ptr, k->path.len < max ? k->path.len : max);
	if (k->path.len > max)
		(void)snprintf(path + max - 3, 4, "...");
	result->shown[result->shown_count++].kind = kind;
}

/* Tells the caller about a change in the workspace itself, not in a layer. */
static void reconcile_tell_change(const struct reconcile_work *k,
				  const struct compare_change *change)
{
	size_t top = strlen(k->t->target);
	const char *path = buf_str(&k->path);
	bool created = change->kind == COMPARE_CREATED;
	uint32_t index = change->before != MANIFEST_NONE ? change->before : change->after;
	const struct manifest *m = change->before != MANIFEST_NONE ? &k->t->before : &k->after;

	if (k->r->on_unattributed && reconcile_is_workspace(k) && k->t->layer.count == 0 &&
	    !buf_error(&k->path))
		k->r->on_unattributed(k->r->unattributed_context,
				      path[top] == '/' ? path + top + 1 : ".",
				      created ? 0 : m->entries[index].mode);
}

static int reconcile_name(struct reconcile_work *k, const struct compare_change *change)
{
	bool gone = change->after == MANIFEST_NONE;
	const struct manifest *m = gone ? &k->t->before : &k->after;
	const struct manifest_entry *e = &m->entries[gone ? change->before : change->after];
	bool times = change->kind == COMPARE_TIMES;
	uint64_t cut;

	reconcile_put_path(k, m, gone ? change->before : change->after);
	if (times)
		k->result->times++;
	else {
		reconcile_show(k, change->kind);
		reconcile_tell_change(k, change);
	}
	if (k->named++ >= RECONCILE_NAMED_MAX)
		return 0;
	struct buf *event = event_begin(k->w, times ? NOTE_FILE : NOTE_TAMPER);

	event_put_word(event, NOTE_FIELD_OP, times ? "times" : "unattributed");
	event_put_word(event, NOTE_FIELD_HOW, "kernel");
	event_put_text(event, NOTE_FIELD_PATH, reconcile_cut(buf_span(&k->path), &cut));
	if (cut > 0)
		event_put_number(event, NOTE_FIELD_CUT, cut);
	event_put_number(event, NOTE_FIELD_INODE, e->inode);
	event_put_number(event, NOTE_FIELD_MODE, e->mode);
	event_put_word(event, NOTE_FIELD_TYPE, compare_words[change->kind]);
	event_put_text(event, NOTE_FIELD_REASON, span_of_str(reconcile_reasons[change->kind]));
	return writer_end(k->w);
}

static int reconcile_gap(struct writer *w, uint64_t count, struct span path, const char *reason)
{
	struct buf *event = event_begin(w, NOTE_GAP);

	event_put_word(event, NOTE_FIELD_OP, "compare");
	event_put_word(event, NOTE_FIELD_HOW, "kernel");
	if (count > 0)
		event_put_number(event, NOTE_FIELD_COUNT_OF, count);
	if (path.len > 0)
		event_put_text(event, NOTE_FIELD_PATH, path);
	event_put_text(event, NOTE_FIELD_REASON, span_of_str(reason));
	return writer_end(w);
}

/* The path for a gap that is about the whole tree. */
static struct span reconcile_of_tree(const struct reconcile_work *k)
{
	return reconcile_is_workspace(k) ? (struct span){NULL, 0} : span_of_str(k->t->target);
}

/* Tells, by reason, what the second look could not read. */
static int reconcile_tell_unread(struct reconcile_work *k)
{
	for (int i = 0; i < MANIFEST_REASON_COUNT; i++) {
		uint64_t count = k->after.head->unread[i];
		char reason[128];

		if (count == 0)
			continue;
		k->result->unknown += count;
		(void)snprintf(reason, sizeof(reason), "not compared: in %s is a folder that %s",
			       reconcile_is_workspace(k) ? "the workspace" : "what was granted",
			       manifest_reason_words[i]);
		int ret = reconcile_gap(k->w, count, reconcile_of_tree(k), reason);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Tells folders that changed before the first look, without an event that says how: a file may have
 * been removed there that we know nothing of.
 */
static int reconcile_tell_late(struct reconcile_work *k)
{
	uint64_t count = 0;
	uint32_t first = 0;

	for (uint32_t i = 0; i < k->after.head->count; i++) {
		const struct manifest_entry *e = &k->after.entries[i];
		uint32_t before = k->c.to_before[i];

		if (!S_ISDIR(e->mode) || before == MANIFEST_NONE)
			continue;
		if ((before != COMPARE_UNKNOWN && manifest_is_known(&k->t->before, before)) ||
		    (k->c.clock && !compare_is_fresh(&k->c, e)))
			continue;
		reconcile_put_path(k, &k->after, i);
		if (reconcile_is_covered(k) ||
		    touched_effects(&k->r->touched, buf_span(&k->path)) &
			    (TOUCHED_CHILD | TOUCHED_MADE | TOUCHED_MOVED))
			continue;
		first = count++ == 0 ? i : first;
	}
	if (count == 0)
		return 0;
	uint64_t cut;

	k->result->unknown += count;
	reconcile_put_path(k, &k->after, first);
	return reconcile_gap(k->w, count, reconcile_cut(buf_span(&k->path), &cut),
			     "a folder changed before it was first looked at: what was removed "
			     "there is not known");
}

static int reconcile_tell(struct reconcile_work *k)
{
	int ret = 0;

	/* Files of which only the times changed come last: they matter least. */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; ret == 0 && i < k->c.count; i++)
			if ((k->c.changes[i].kind == COMPARE_TIMES) == (pass == 1))
				ret = reconcile_name(k, &k->c.changes[i]);
	if (ret == 0 && !k->c.clock)
		ret = reconcile_gap(k->w, 0, reconcile_of_tree(k),
				    reconcile_is_workspace(k)
					    ? "the workspace's times are not by this machine's "
					      "clock, or it was set back: what changed before the "
					      "first look is not known"
					    : "its times are not by this machine's clock, or it "
					      "was set back: what changed before the first look "
					      "is not known");
	if (ret == 0)
		ret = reconcile_tell_unread(k);
	return ret == 0 ? reconcile_tell_late(k) : ret;
}

int reconcile_write_digest(struct writer *w, const struct scanner_digest *d)
{
	struct buf *event = event_begin(w, NOTE_PROCESS);
	char hex[HASH_HEX + 1] = "";
	uint64_t cut;

	hash_format(&d->digest, hex);
	event_put_word(event, NOTE_FIELD_OP, "digest");
	event_put_word(event, NOTE_FIELD_HOW, d->remembered ? "remembered" : "kernel");
	event_put_text(event, NOTE_FIELD_PATH, reconcile_cut(span_of_str(d->path), &cut));
	if (cut > 0)
		event_put_number(event, NOTE_FIELD_CUT, cut);
	if (d->result == 0)
		event_put_word(event, NOTE_FIELD_DIGEST, hex);
	event_put_number(event, NOTE_FIELD_DEVICE, d->device);
	event_put_number(event, NOTE_FIELD_INODE, d->inode);
	if (d->result == -ESTALE)
		event_put_text(event, NOTE_FIELD_REASON,
			       SPAN_LITERAL("it was changed before it was read whole"));
	else if (d->result == -EFBIG)
		event_put_text(event, NOTE_FIELD_REASON,
			       SPAN_LITERAL("it is too large to be hashed"));
	else if (d->result < 0)
		event_put_text(event, NOTE_FIELD_REASON, span_of_str(error_words(d->result)));
	return writer_end(w);
}

/* --- end ------------------------------------------------------------------------------ */

static void reconcile_look_again(struct reconcile_work *k)
{
	int64_t word = clock_ns(CLOCK_MONOTONIC) + RECONCILE_PROGRESS;

	while (manifest_step(&k->after)) {
		if (!k->r->on_progress || clock_ns(CLOCK_MONOTONIC) < word)
			continue;
		k->r->on_progress(k->r->progress_context, k->after.head->count);
		word += RECONCILE_PROGRESS;
	}
	k->result->files += k->after.head->count - 1;
}

static int reconcile_compare(struct reconcile_work *k)
{
	int64_t offset = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	bool clock = k->t->clock && offset > k->r->offset - RECONCILE_STEP_BACK;

	manifest_freeze(&k->t->before);
	int ret = manifest_init(&k->after, k->t->root, k->r->since);

	if (ret == 0)
		reconcile_look_again(k);
	if (ret == 0)
		ret = compare_init(&k->c, &k->t->before, &k->after, clock);
	if (ret == 0)
		ret = compare_run(&k->c);
	return ret == 0 ? reconcile_explain(k) : ret;
}

static int reconcile_end_tree(struct reconcile_work *k)
{
	memset(&k->c, 0, sizeof(k->c));
	memset(&k->after, 0, sizeof(k->after));
	k->path = BUF_INIT(MANIFEST_PATH_MAX);
	k->inodes = BUF_INIT(64u << 20);
	k->timed = BUF_INIT(64u << 20);
	int failed = k->t->failed < 0 ? k->t->failed : reconcile_compare(k);

	k->result->compared |= failed == 0;
	int code = failed < 0 ? reconcile_gap(k->w, 0, reconcile_of_tree(k),
					      reconcile_is_workspace(k)
						      ? "the workspace could not be compared"
						      : "it could not be compared")
			      : reconcile_tell(k);

	compare_fini(&k->c);
	manifest_fini(&k->after);
	buf_fini(&k->path);
	buf_fini(&k->inodes);
	buf_fini(&k->timed);
	return code;
}

int reconcile_end(struct reconcile *r, struct writer *w, struct reconcile_result *ret)
{
	struct reconcile_work k = {.r = r, .w = w, .result = ret};
	const struct span none = {NULL, 0};
	int code = 0;

	memset(ret, 0, sizeof(*ret));
	scanner_end(&r->scanner);
	if (r->scanner.left_out > 0)
		code = reconcile_gap(w, r->scanner.left_out, none,
				     "programs whose digest was not taken");
	for (size_t i = 0; code == 0 && i < r->count; i++) {
		k.t = &r->trees[i];
		code = reconcile_end_tree(&k);
	}
	if (code == 0 && k.named > RECONCILE_NAMED_MAX)
		code = reconcile_gap(w, k.named - RECONCILE_NAMED_MAX, none,
				     "changes without an event that are too many to be named");
	if (code == 0 && r->touched.left_out > 0)
		code = reconcile_gap(w, r->touched.left_out, none,
				     "paths of events that are too many to be held against what "
				     "changed: what is called unattributed may be theirs");
	if (code == 0 && r->left_out > 0)
		code = reconcile_gap(w, r->left_out, none,
				     "granted folders that are too many to be compared");
	return code;
}
