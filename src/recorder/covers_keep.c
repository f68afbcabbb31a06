/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child of covers.h.  It sees the box's root and mounts and has the rights over them.  It reads
 * the plan, the names that inotify tells, and what the kernel says about the box's processes.
 */
#include "covers_keep.h"

#include "channel.h"
#include "fd.h"
#include "mounts.h"
#include "open.h"
#include "process.h"
#include "profile.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/stat.h>
#include <poll.h>
#include <stdio.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	KEEP_AWAY = 16, /* above all KEEP_ numbers: free while we put them in order */
	KEEP_BYTES = 64 << 10,
	KEEP_TRIES = 64,  /* how often we try to lay one cover while others change its place */
	KEEP_FORGETS = 3, /* the tries at which we make an overlay look again */
	/* A name that leads to something else, and another name for the same thing. */
	KEEP_FOLDER = IN_CREATE | IN_MOVE | IN_MOVE_SELF | IN_ONLYDIR,
};

enum { KEEP_NEW, KEEP_SERVING };

void keep_say(struct covers_report report)
{
	(void)channel_send(KEEP_CHANNEL, COVERS_REPORT,
			   (struct span){(const uint8_t *)&report, sizeof(report)}, NULL, 0);
}

/* --- one cover ------------------------------------------------------------------------ */

/* Where the lookup of a cover's name got to. */
struct keep_place {
	int dir; /* its parent */
	int fd;  /* what is there */
	struct statx parent, object;
};

static void keep_place_close(struct keep_place *p)
{
	fd_close(&p->dir);
	fd_close(&p->fd);
}
#define _cleanup_keep_place_ _cleanup_(keep_place_close)

static int keep_statx(int fd, struct statx *ret)
{
	if (statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID, ret) <
	    0)
		return -errno;
	return ret->stx_mask & STATX_MNT_ID ? 0 : -EOPNOTSUPP;
}

int keep_listen(struct keep *k, int dir, const char *name, uint32_t flags)
{
	if (fchdir(dir) < 0)
		return -errno;
	/* Each call with the same object gives the same number. */
	int number = inotify_add_watch(KEEP_EVENTS, name, flags | IN_MASK_ADD);

	if (number < 0 || inotify_add_watch(KEEP_HEARD, name, flags | IN_MASK_ADD) < 0)
		return -errno;
	if (number > k->last) {
		k->last = number;
		k->folders++;
	}
	return k->folders > COVERS_FOLDERS_MAX ? -E2BIG : number;
}

/* The user's programs do not replace files in a folder that is another user's and that we cannot
 * read. */
int keep_listen_folder(struct keep *k, int dir)
{
	struct stat st;
	int number = keep_listen(k, dir, ".", KEEP_FOLDER);

	return number == -EACCES && fstat(dir, &st) == 0 && st.st_uid != geteuid() ? 0 : number;
}

int keep_part(const char **at, char into[NAME_MAX + 1])
{
	size_t len = **at == '/' ? strcspn(*at + 1, "/") : 0;

	if (len == 0)
		return -ENOENT;
	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(into, *at + 1, len);
	into[len] = '\0';
	*at += 1 + len;
	return 0;
}

/* Looks up the cover's path.  It listens to every folder on the way before it looks up a name in
 * it.  The folders of an overlay are the box's alone; outside we listen to those beneath it. */
static int keep_find(struct keep *k, const struct cover *c, struct keep_place *ret)
{
	char part[NAME_MAX + 1], base[PATH_MAX];
	const char *at = c->target + c->base;

	(void)snprintf(base, sizeof(base), "%.*s", (int)c->base, c->target);
	ret->fd = open_no_links(base, O_PATH | O_DIRECTORY);
	while (ret->fd >= 0 && *at == '/') {
		int r = keep_part(&at, part);

		if (r < 0)
			return r;
		fd_close(&ret->dir);
		ret->dir = TAKE_FD(ret->fd);
		r = c->layered ? 0 : keep_listen_folder(k, ret->dir);

		if (r < 0)
			return r;
		ret->fd = open_beneath(ret->dir, part, O_PATH, 0);
	}
	if (ret->fd < 0)
		return ret->fd;
	int r = keep_statx(ret->dir, &ret->parent);

	return r < 0 ? r : keep_statx(ret->fd, &ret->object);
}

static int keep_put(const struct keep *k, const struct cover *c, const struct keep_place *p)
{
	uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	int from = p->fd;

	if (c->kind == COVER_HIDE) {
		from = S_ISDIR(p->object.stx_mode) ? k->empty_dir : k->empty_file;
		attributes |= MOUNT_ATTR_NOEXEC;
	}
	if (c->kind != COVER_WRITE)
		attributes |= MOUNT_ATTR_RDONLY;
	_cleanup_fd_ int tree = mounts_clone(from, attributes);

	return tree < 0 ? tree : mounts_attach(tree, p->fd);
}

int keep_forget(const struct cover *c)
{
	char base[PATH_MAX];

	(void)snprintf(base, sizeof(base), "%.*s", (int)c->base, c->target);
	_cleanup_fd_ int fd = open_no_links(base, O_PATH | O_DIRECTORY);

	return fd < 0 ? fd : mounts_forget_names(fd);
}

/* Whether the lookup of the name finds the cover.  A hidden thing may itself be a mount: then the
 * fact that a mount is there says nothing. */
static bool keep_is_laid(const struct keep *k, const struct cover *c, const struct keep_place *p)
{
	const int empty[] = {k->empty_dir, k->empty_file};
	struct statx st;

	if (p->parent.stx_mnt_id == p->object.stx_mnt_id || c->kind != COVER_HIDE)
		return p->parent.stx_mnt_id != p->object.stx_mnt_id;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(empty); i++)
		if (keep_statx(empty[i], &st) == 0 && st.stx_ino == p->object.stx_ino &&
		    st.stx_dev_major == p->object.stx_dev_major &&
		    st.stx_dev_minor == p->object.stx_dev_minor)
			return true;
	return false;
}

/*
 * Lays the cover.  1: it had to.  0: the cover was there, or there is nothing to cover.  Or -errno.
 * It looks again until the name leads to the cover: a program may replace the thing at that moment.
 */
static int keep_settle(struct keep *k, size_t index)
{
	const struct cover *c = &k->all->items[index];
	int put = 0;

	for (int i = 0; i < KEEP_TRIES; i++) {
		_cleanup_keep_place_ struct keep_place p = {.dir = -1, .fd = -1};
		int there = c->kind == COVER_HIDE ? keep_outside_find(k, index) : 0;
		int r = there < 0 ? there : keep_find(k, c, &p);

		/* The thing is there outside, but the box looked before it was: make the overlay
		 * look again.  Or the box made or removed something of its own here: then we stop
		 * after a few tries. */
		if ((r == -ENOENT || r == -ENOTDIR) && c->layered && there > 0 &&
		    i < KEEP_FORGETS) {
			r = keep_forget(c);
			if (r < 0)
				return r;
			continue;
		}
		if (r == -ENOENT || r == -ENOTDIR)
			return put;
		/* What a link leads to is not what was protected. */
		if (r == -ELOOP && c->kind != COVER_HIDE)
			return put;
		if (r < 0)
			return r;
		if (keep_is_laid(k, c, &p) || (c->late && k->all->own[c - k->all->items]))
			return put;
		r = keep_put(k, c, &p);
		k->held[index] = (struct covers_held){.target = c->target,
						      .folders_alone = c->kind == COVER_WRITE,
						      .hides = c->kind == COVER_HIDE,
						      .is_dir = S_ISDIR(p.object.stx_mode),
						      .mount = p.object.stx_mnt_id,
						      .inode = p.object.stx_ino,
						      .major = p.object.stx_dev_major,
						      .minor = p.object.stx_dev_minor};
		/* It went away while we looked at it. */
		if (r < 0 && r != -ENOENT && r != -EINVAL)
			return r;
		put |= r == 0;
	}
	return -EBUSY;
}

/* --- what is heard -------------------------------------------------------------------- */

void keep_renew(struct keep *k, size_t index)
{
	int r = keep_settle(k, index);
	struct covers_report report = {.word = COVERS_PUT, .index = (uint32_t)index};

	if (r == 0)
		return;
	if (r < 0) {
		report.word = COVERS_LOST;
		report.error = r;
	}
	keep_say(report);
}

/* Whether a folder on the way to something hidden in an overlay was renamed, or may have been. */
static bool keep_is_renamed(const struct keep *k, size_t index, const struct inotify_event *event)
{
	if (event->mask & IN_Q_OVERFLOW)
		return k->all->items[index].layered;
	for (size_t i = 0; event->mask & IN_MOVE_SELF && i < k->way_count; i++)
		if (k->ways[i].number == event->wd && k->ways[i].cover == index)
			return true;
	return false;
}

/* Something hidden may be mounted a second time.  Then the kernel removes the cover there together
 * with the first name, and no event of a folder tells us about the other one. */
static bool keep_may_be_off(const struct cover *c, const struct inotify_event *event)
{
	return event->mask & COVERS_OBJECT && c->kind == COVER_HIDE && !c->layered;
}

static void keep_on_event(struct keep *k, const struct inotify_event *event)
{
	struct covers_report lost = {.word = COVERS_LOST, .error = -ESTALE};

	if (event->mask & IN_IGNORED && k->folders > 0)
		k->folders--;
	k->look |= event->mask & (COVERS_OBJECT | IN_Q_OVERFLOW);
	keep_outside_moved(k, event);
	for (size_t i = 0; i < k->all->count; i++) {
		lost.index = (uint32_t)i;
		if (keep_is_renamed(k, i, event))
			keep_say(lost);
		else if (cover_is_about(&k->all->items[i], event) ||
			 keep_may_be_off(&k->all->items[i], event))
			keep_renew(k, i);
	}
}

/* Reads and handles events.  False: there were none. */
static bool keep_hear(struct keep *k)
{
	static _Alignas(struct inotify_event) char bytes[KEEP_BYTES];
	ssize_t n = read(KEEP_EVENTS, bytes, sizeof(bytes));

	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *event = (const void *)(bytes + at);

		at += (ssize_t)(sizeof(*event) + event->len);
		keep_on_event(k, event);
	}
	if (n > 0 && k->look)
		keep_outside_look(k);
	return n > 0;
}

/* One turn: handles the events, and the recorder's questions, for whose answers calls wait. */
static void keep_turn(struct keep *k, int timeout)
{
	struct pollfd fds[] = {{.fd = KEEP_CHANNEL, .events = POLLIN},
			       {.fd = KEEP_EVENTS, .events = POLLIN}};
	struct error e = ERROR_INIT;

	if (poll(fds, BAWN_ARRAY_SIZE(fds), timeout) < 0 && errno != EINTR)
		_exit(1);
	if (fds[1].revents)
		(void)keep_hear(k);
	if (fds[0].revents && channel_receive(k->channel, &e) <= 0)
		_exit(0);
}

static void keep_meanwhile(void *context)
{
	keep_turn(context, 0);
}

/* Looks who holds uncovered things.  Runs when all covers are laid: it takes longer, and some may
 * have to be laid again meanwhile. */
static void keep_look(struct keep *k)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < k->all->count; i++) {
			struct covers_report report = {.word = COVERS_HELD, .index = (uint32_t)i};
			struct covers_held what = k->held[i];

			if (what.mount == 0)
				continue;
			more = true;
			k->held[i].mount = 0;
			what.meanwhile = keep_meanwhile;
			what.context = k;
			report.pid = covers_held(KEEP_PROC, &what, report.name);
			if (report.pid != 0)
				keep_say(report);
		}
	}
}

/* --- the beginning -------------------------------------------------------------------- */

static int keep_join(pid_t first, const char *name, int type)
{
	char path[32];
	struct stat own, other;

	(void)snprintf(path, sizeof(path), "self/ns/%s", name);
	if (fstatat(KEEP_PROC, path, &own, 0) < 0)
		return -errno;
	(void)snprintf(path, sizeof(path), "%d/ns/%s", (int)first, name);
	_cleanup_fd_ int fd = openat(KEEP_PROC, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &other) < 0)
		return -errno;
	if (own.st_ino == other.st_ino)
		return 0;
	return setns(fd, type) < 0 ? -errno : 0;
}

static int keep_enter(struct keep *k, pid_t first)
{
	int r = keep_outside_start(k);

	if (r == 0)
		r = keep_join(first, "user", CLONE_NEWUSER);
	if (r == 0)
		r = keep_join(first, "mnt", CLONE_NEWNS);
	/* Rights to mount, and to look at the box's processes. */
	if (r == 0)
		r = process_keep_capabilities(1u << CAP_SYS_ADMIN | 1u << CAP_SYS_PTRACE);
	if (r == 0)
		r = process_not_dumpable();
	if (r == 0)
		r = process_die_with_parent();
	if (r < 0)
		return r;
	_cleanup_fd_ int proc = open_no_links("/proc", O_RDONLY | O_DIRECTORY);

	if (proc >= 0 && dup3(proc, KEEP_PROC, O_CLOEXEC) < 0)
		return -errno;
	k->empty_dir = open_no_links("/.bawn/dir", O_PATH);
	k->empty_file = open_no_links("/.bawn/file", O_PATH);
	if (proc < 0 || k->empty_dir < 0 || k->empty_file < 0)
		return -ENOENT;
	r = k->all->unfiltered ? 0 : process_filter(profile_bpf(PROFILE_COVERS));
	if (r < 0)
		return r;
	/* No process of the box has run yet, so none holds anything. */
	for (; k->failed < k->all->count; k->failed++) {
		r = keep_settle(k, k->failed);
		if (r < 0)
			return r;
		k->held[k->failed].mount = 0;
	}
	return 0;
}

static int keep_on_enter(void *context, struct channel_packet *packet, struct error *e)
{
	struct keep *k = context;
	struct covers_report report = {.word = COVERS_READY};
	pid_t first;

	if (packet->body.len != sizeof(first))
		return error_set(e, -EPROTO, "no process");
	memcpy(&first, packet->body.ptr, sizeof(first));
	int r = keep_enter(k, first);

	if (r < 0) {
		report.word = COVERS_FAILED;
		report.index = k->failed < k->all->count ? (uint32_t)k->failed : 0;
		report.error = r;
	}
	keep_say(report);
	return r;
}

/* Answers when all events from before the question are handled. */
static int keep_on_sync(void *context, struct channel_packet *packet, struct error *e)
{
	struct covers_report report = {.word = COVERS_SYNCED};

	if (packet->body.len != sizeof(report.index))
		return error_set(e, -EPROTO, "no number");
	memcpy(&report.index, packet->body.ptr, sizeof(report.index));
	while (keep_hear(context))
		continue;
	keep_say(report);
	return 0;
}

static int keep_on_cover(void *context, struct channel_packet *packet, struct error *e)
{
	struct keep *k = context;
	uint32_t index;

	if (packet->body.len != sizeof(index))
		return error_set(e, -EPROTO, "no number");
	memcpy(&index, packet->body.ptr, sizeof(index));
	if (index >= k->all->count)
		return error_set(e, -EPROTO, "no cover");
	keep_renew(k, index);
	return 0;
}

static _Noreturn void keep_serve(struct keep *k)
{
	static const struct channel_rule rules[] = {
		{COVERS_ENTER, "ENTER", sizeof(pid_t), 0, 0, 1u << KEEP_NEW, keep_on_enter},
		{COVERS_SYNC, "SYNC", sizeof(uint32_t), 0, 0, 1u << KEEP_SERVING, keep_on_sync},
		{COVERS_LOOK, "LOOK", sizeof(uint32_t), 0, 0, 1u << KEEP_SERVING, keep_on_cover},
	};
	static struct channel channel;
	struct error e = ERROR_INIT;

	channel = (struct channel){.fd = KEEP_CHANNEL,
				   .rules = rules,
				   .rule_count = BAWN_ARRAY_SIZE(rules),
				   .context = k};
	if (channel_receive(&channel, &e) <= 0)
		_exit(1);
	channel.state = KEEP_SERVING;
	k->channel = &channel;
	process_forget_start();
	for (;;) {
		keep_turn(k, -1);
		keep_look(k);
	}
}

_Noreturn void covers_keep(struct covers *c, int channel, int events)
{
	static struct keep k;
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int self = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fds[] = {channel, events, c->heard, proc, self};

	k = (struct keep){.all = c, .empty_dir = -1, .empty_file = -1};
	k.held = calloc(c->count + COVERS_ALSO_MAX, sizeof(*k.held));
	if (!k.held)
		_exit(1);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(fds); i++)
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, KEEP_AWAY);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(fds); i++)
		if (fds[i] < 0 || dup3(fds[i], KEEP_CHANNEL + (int)i, O_CLOEXEC) < 0)
			_exit(1);
	/* Close all else that came from the recorder: a session must end when its parts have
	 * ended. */
	if (close_range(KEEP_COUNT, ~0u, 0) < 0)
		_exit(1);
	keep_serve(&k);
}
