/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the root is made.
 *
 * 1. Every source is opened first, while the host's tree is still in view: no
 *    link is followed, the object must be the one the plan was made for (device
 *    and inode), and a detached copy of its mount is taken, already read-only
 *    where the plan says so.  There is no moment at which a writable copy of a
 *    read-only source stands anywhere.
 * 2. An empty tmpfs is laid over "/".  Mount points are made in it and nowhere
 *    else: where a mount point lies in something that came from the host it
 *    must exist there already, or the launch ends.
 * 3. The copies are attached, in the plan's order.
 *    Where the plan has a system, that one (an overlay, written to a layer of the session) is
 *    laid there instead, and what we make up stands in a small tmpfs on its /.bawn.
 * 4. pivot_root, and the old root is detached: from here the host's tree does
 *    not exist.  Last, the tmpfs itself becomes read-only.
 *
 * Any failure ends the launch; the namespace dies with us, so there is nothing
 * to undo.
 */
#include "root.h"

#include "fd.h"
#include "mountinfo.h"
#include "mounts.h"
#include "open.h"
#include "overlay.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* <sys/mount.h> and <linux/mount.h> cannot both be included on Debian 12. */
enum { ROOT_PRIVATE = 1 << 18, ROOT_DETACH = 2 };
int umount2(const char *target, int flags);
int mount(const char *source, const char *target, const char *type, unsigned long flags,
	  const void *data);

const char *const root_devices[ROOT_DEVICE_COUNT] = {"null",   "zero",    "full",
						     "random", "urandom", "tty"};

/* Files of a read-only /proc that still tell too much about the host: keys, memory, timers. */
static const struct {
	const char *path;
	bool only_root; /* the kernel shows it to nobody else */
} root_proc_masked[] = {
	{"proc/keys", false},           {"proc/key-users", false},  {"proc/timer_list", false},
	{"proc/kcore", false},          {"proc/kmsg", false},       {"proc/kpageflags", true},
	{"proc/kpagecount", true},      {"proc/kpagecgroup", true}, {"proc/slabinfo", true},
	{"proc/slab_allocators", true}, {"proc/vmallocinfo", true}, {"proc/pagetypeinfo", true},
	{"proc/allocinfo", true},
};

static const struct {
	const char *name, *text;
} root_dev_links[] = {
	{"ptmx", "pts/ptmx"},          {"fd", "/proc/self/fd"},       {"stdin", "/proc/self/fd/0"},
	{"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
};

enum {
	ROOT_PRIVATE_MAX = 8,
	ROOT_TRUST_MAX = 4 << 20,
	ROOT_SOCKET_QUEUE = 16,
	ROOT_SCRATCH_MAX = 16 << 20, /* of our own tmpfs: mount points and made-up files */
};

#define ROOT_TERMINALS "256"

struct root {
	const struct plan *plan;
	int fd;    /* the new root */
	dev_t dev; /* its filesystem; we create things only in it and in private_devs */
	dev_t private_devs[ROOT_PRIVATE_MAX]; /* the plan's own tmpfs, such as /tmp */
	size_t private_count;
	int parent; /* the directory of the last mount point; -1 none */
	bool parent_is_ours;
	char parent_path[PATH_MAX];
	int proc; /* the host's /proc, when there is no pid namespace; else -1 */
	int devices[ROOT_DEVICE_COUNT];
	const struct root_trust *trust;
	bool trust_made[PLAN_TRUST_COUNT];
	struct root_made *made;
	int scratch;                  /* .bawn: files that we make and then show at other places */
	bool given;                   /* the root is a system, of the plan */
	int sources[PLAN_MOUNTS_MAX]; /* detached copies, by index in the plan; -1 none */
};

/* Says which overlay failed, and what to do, if we know it. */
static int root_layers_failed(const struct plan_mount *m, int layer, int r, struct error *e)
{
	_cleanup_buf_ struct buf mounted = BUF_INIT(PATH_MAX);

	/* The kernel does not show what is below mounts of another user namespace. */
	if (r == -EINVAL)
		mountinfo_beneath(m->source, &mounted);
	if (mounted.len > 0) {
		(void)error_set(e, r, "%s is mounted in %s, so that no layer can be laid over it",
				buf_str(&mounted), m->source);
		error_next(e, "Go to a folder without it, unmount it, or let what is written land "
			      "at once: bawn run --direct.");
		return r;
	}
	(void)error_sys(e, r, "laying %s over %s", *m->upper ? m->upper : "layers", m->source);
	error_next(e, "%s 'bawn doctor' tries the same.", layer < 0 ? "" : overlay_advice(layer));
	return r;
}

/* Makes the overlay of a source and its layers: its detached mount, or -errno.  base: the source,
 * open and checked. */
static int root_open_layers(const struct plan_mount *m, int base, struct error *e)
{
	_cleanup_fd_ int layer = *m->upper ? open_no_links(m->upper, O_PATH | O_DIRECTORY) : -1;
	int fds[PLAN_MOUNT_LAYERS_MAX + 1];
	size_t count = 0;
	int r = 0;

	if (*m->upper && layer < 0)
		return error_sys(e, layer, "opening the layer %s", m->upper);
	for (size_t i = m->layers.count; r == 0 && i-- > 0;) {
		const char *path = m->layers.items[i].text;
		int fd = open_no_links(path, O_PATH | O_DIRECTORY);

		if (fd < 0)
			r = error_sys(e, fd, "opening the layer %s", path);
		else
			fds[count++] = fd;
	}
	if (r == 0) {
		uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

		fds[count] = base;
		if (m->access != PLAN_ACCESS_WRITE)
			attributes |= MOUNT_ATTR_RDONLY;
		r = overlay_new(fds, count + 1, layer, plan_mount_up(m), attributes);
		if (r < 0)
			(void)root_layers_failed(m, layer, r, e);
	}
	while (count-- > 0)
		(void)close(fds[count]);
	return r;
}

/* The detached copy of a source's mount; or -errno. */
static int root_open_source(const struct plan_mount *m, struct error *e)
{
	const char *source = m->kind == PLAN_MOUNT_PROC ? "/proc" : m->source;
	_cleanup_fd_ int fd = open_no_links(source, O_PATH);
	struct stat st;

	if (fd < 0)
		return error_sys(e, fd, "opening %s for the box (asked for by %s)", source,
				 m->origin);
	if (m->ino != 0) {
		if (fstat(fd, &st) < 0)
			return error_sys(e, -errno, "looking at %s", m->source);
		if (st.st_ino != m->ino || st.st_dev != m->dev)
			return error_set(e, -ESTALE,
					 "%s is not the object it was when the plan was made",
					 m->source);
	}
	if (plan_mount_has_layers(m))
		return root_open_layers(m, fd, e);
	uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

	if (m->access != PLAN_ACCESS_WRITE)
		attributes |= MOUNT_ATTR_RDONLY;
	int tree = mounts_clone(fd, attributes);
	if (tree < 0)
		return error_sys(e, tree, "taking %s into the box", m->source);
	return tree;
}

int root_open_sources(struct root *root, struct error *e)
{
	for (size_t i = 0; i < root->plan->mounts.count; i++) {
		const struct plan_mount *m = &root->plan->mounts.items[i];

		root->sources[i] = -1;
		/* Ablation: without a pid namespace the box cannot have a /proc of its own. */
		bool host_proc = m->kind == PLAN_MOUNT_PROC &&
				 plan_goes_without(root->plan, PLAN_LAYER_PID_NS);

		if (m->kind != PLAN_MOUNT_BIND && !host_proc)
			continue;
		root->sources[i] = root_open_source(m, e);
		if (root->sources[i] < 0)
			return root->sources[i];
	}
	if (plan_goes_without(root->plan, PLAN_LAYER_PID_NS)) {
		_cleanup_fd_ int fd = open_no_links("/proc", O_PATH);

		root->proc =
			fd < 0 ? fd
			       : mounts_clone(fd, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
							  MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
		if (root->proc < 0)
			return error_sys(e, root->proc, "taking /proc into the box");
	}
	for (size_t i = 0; i < ROOT_DEVICE_COUNT; i++) {
		char path[32];

		(void)snprintf(path, sizeof(path), "/dev/%s", root_devices[i]);
		_cleanup_fd_ int fd = open_no_links(path, O_PATH);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode))
			return error_set(e, -ENODEV, "%s is not a device on this machine", path);
		/* The inode is the host's.  Read-only, so that the box cannot change its mode,
		 * owner and times.  Writing to the device itself still works. */
		root->devices[i] =
			mounts_clone(fd, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
		if (root->devices[i] < 0)
			return error_sys(e, root->devices[i], "taking %s into the box", path);
	}
	return 0;
}

static bool root_made(const struct root *root, dev_t dev)
{
	for (size_t i = 0; i < root->private_count; i++)
		if (root->private_devs[i] == dev)
			return true;
	return dev == root->dev;
}

/* Whether this directory is in a tmpfs that we made. */
static bool root_owns(const struct root *root, int dir)
{
	struct stat st;

	return fstat(dir, &st) == 0 && root_made(root, st.st_dev);
}

/* Opens the directory name in dir.  Makes it when it is missing and dir is in a tmpfs of ours.  Its
 * descriptor, or -errno. */
static int root_step(const struct root *root, int dir, const char *name)
{
	int next = open_beneath(dir, name, O_PATH | O_DIRECTORY, 0);

	if (next != -ENOENT)
		return next;
	if (!root_owns(root, dir))
		return -EROFS;
	if (mkdirat(dir, name, 0755) < 0)
		return -errno;
	return open_beneath(dir, name, O_PATH | O_DIRECTORY, 0);
}

/*
 * The parent directory of target in the new root, or -errno.  The last one is kept: neighbours in
 * the plan are neighbours in the tree.  Nobody but root_forget_parent closes it.
 */
static int root_parent(struct root *root, const char *target, const char **ret_name)
{
	const char *slash = strrchr(target, '/');
	size_t parent_len = (size_t)(slash - target);
	char name[NAME_MAX + 1];

	*ret_name = slash + 1;
	if (root->parent >= 0 && strlen(root->parent_path) == parent_len &&
	    memcmp(root->parent_path, target, parent_len) == 0)
		return root->parent;
	if (parent_len >= sizeof(root->parent_path))
		return -ENAMETOOLONG;

	_cleanup_fd_ int dir = open_beneath(root->fd, "", O_PATH | O_DIRECTORY, 0);

	for (const char *at = target + 1; dir >= 0 && at < slash;) {
		size_t len = strcspn(at, "/");

		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, at, len);
		name[len] = '\0';
		int next = root_step(root, dir, name);

		fd_close(&dir);
		dir = next;
		at += len + 1;
	}
	if (dir < 0)
		return dir;
	memcpy(root->parent_path, target, parent_len);
	root->parent_path[parent_len] = '\0';
	fd_close(&root->parent);
	root->parent = TAKE_FD(dir);
	root->parent_is_ours = root_owns(root, root->parent);
	return root->parent;
}

/* A mount now covers target: forgets the kept parent if it lies there. */
static void root_forget_parent(struct root *root, const char *target)
{
	if (root->parent >= 0 && str_path_beneath(root->parent_path, target))
		fd_close(&root->parent);
}

static int root_attach_at(struct root *root, int mount_fd, const char *target, bool is_dir,
			  struct error *e)
{
	const char *name = NULL;
	int parent = root_parent(root, target, &name);
	int r = parent < 0 ? parent : 0;

	if (r == 0 && root->parent_is_ours) {
		r = is_dir ? mkdirat(parent, name, 0755) : mknodat(parent, name, S_IFREG | 0444, 0);
		r = r < 0 && errno != EEXIST ? -errno : 0;
	}
	_cleanup_fd_ int fd = r < 0 ? r : open_beneath(parent, name, O_PATH, 0);

	if (fd == -EROFS || fd == -ENOENT)
		return error_set(e, -EROFS,
				 "there is no %s to mount on, and nothing is made outside bawn's "
				 "own root",
				 target);
	if (fd < 0)
		return error_sys(e, fd, "making the mount point %s", target);
	r = mounts_attach(mount_fd, fd);
	root_forget_parent(root, target);
	return r < 0 ? error_sys(e, r, "mounting at %s", target) : 0;
}

static int root_bind(struct root *root, size_t index, struct error *e)
{
	const struct plan_mount *m = &root->plan->mounts.items[index];
	struct stat st;

	if (fstat(root->sources[index], &st) < 0)
		return error_sys(e, -errno, "looking at %s", m->source);
	int r = root_attach_at(root, root->sources[index], m->target, S_ISDIR(st.st_mode), e);
	fd_close(&root->sources[index]);
	return r;
}

static int root_tmpfs(struct root *root, const struct plan_mount *m, struct error *e)
{
	/* Shared space like /tmp is sticky; a folder below /run is the user's alone. */
	const char *mode = str_after(m->target, "/run/") ? "0700" : "1777";
	_cleanup_fd_ int fd = mounts_new_tmpfs(mode, m->size, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);

	if (fd < 0)
		return error_sys(e, fd, "making the private %s", m->target);
	struct stat st;

	/* We may make mount points in it. */
	if (root->private_count < ROOT_PRIVATE_MAX && fstat(fd, &st) == 0)
		root->private_devs[root->private_count++] = st.st_dev;
	return root_attach_at(root, fd, m->target, true, e);
}

/* As root_parent, for a file that we make: the parent must be in a tmpfs of ours. */
static int root_own_parent(struct root *root, const char *target, const char **ret_name,
			   struct error *e)
{
	int parent = root_parent(root, target, ret_name);

	if (parent < 0)
		return error_sys(e, parent, "making %s", target);
	if (!root->parent_is_ours)
		return error_set(e, -EROFS, "%s cannot be made up: it lies in a mount", target);
	return parent;
}

/*
 * Mounts a made-up file over an existing one.  A system may have a file of that name, and its
 * packages may change the folder.  In the private home bawn has made a mount point for it.
 */
static int root_file_over(struct root *root, const struct plan_mount *m, struct error *e)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "made-%zu", (size_t)(m - root->plan->mounts.items));
	_cleanup_fd_ int file = openat(root->scratch, name,
				       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	int r = file < 0 ? -errno : fd_write_all(file, m->data.ptr, m->data.len);

	if (r < 0)
		return error_sys(e, r, "writing %s", m->target);
	_cleanup_fd_ int tree =
		mounts_clone(file, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);

	return tree < 0 ? error_sys(e, tree, "taking %s", m->target)
			: root_attach_at(root, tree, m->target, false, e);
}

static int root_file(struct root *root, const struct plan_mount *m, struct error *e)
{
	const char *name = NULL;
	int parent = root_parent(root, m->target, &name);

	if (parent < 0)
		return error_sys(e, parent, "making %s", m->target);
	if (root->given || !root->parent_is_ours)
		return root_file_over(root, m, e);
	_cleanup_fd_ int fd =
		openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	int r = fd < 0 ? -errno : fd_write_all(fd, m->data.ptr, m->data.len);

	return r < 0 ? error_sys(e, r, "writing %s", m->target) : 0;
}

static int root_link(struct root *root, const struct plan_mount *m, struct error *e)
{
	const char *name = NULL;
	int parent = root_own_parent(root, m->target, &name, e);

	if (parent < 0)
		return parent;
	if (symlinkat(m->source, parent, name) < 0)
		return error_sys(e, -errno, "making the link %s", m->target);
	return 0;
}

static int root_dir(struct root *root, const struct plan_mount *m, struct error *e)
{
	const char *name = NULL;
	int parent = root_own_parent(root, m->target, &name, e);

	if (parent < 0)
		return parent;
	if (mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
		return error_sys(e, -errno, "making %s", m->target);
	return 0;
}

/* Covers what is there with something empty that nobody may read. */
static int root_hide(const struct root *root, const struct plan_mount *m, struct error *e)
{
	_cleanup_fd_ int target = open_beneath(root->fd, m->target + 1, O_PATH, 0);
	struct stat st;

	/* It does not exist yet.  When it appears, the recorder covers it (recorder/covers.h). */
	if (target == -ENOENT || target == -ENOTDIR)
		return 0;
	if (target < 0 || fstat(target, &st) < 0)
		return error_sys(e, target < 0 ? target : -errno, "hiding %s (asked for by %s)",
				 m->target, m->origin);
	bool is_dir = S_ISDIR(st.st_mode);
	_cleanup_fd_ int empty = open_beneath(root->scratch, is_dir ? "dir" : "file", O_PATH, 0);

	if (empty < 0)
		return error_sys(e, empty, "making something empty");
	_cleanup_fd_ int tree = mounts_clone(empty, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
							    MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	int r = tree < 0 ? tree : mounts_attach(tree, target);

	return r < 0 ? error_sys(e, r, "hiding %s", m->target) : 0;
}

/* Copies a trust file into our own root once; the plan's mounts then show it at each target. */
static int root_copy_trust(const struct root *root, const char *name, int from)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	int have = fcntl(from, F_GET_SEALS);
	struct stat st;

	if (have < 0 || (have & seals) != seals || fstat(from, &st) < 0)
		return -EPERM;
	if (st.st_size <= 0 || st.st_size > ROOT_TRUST_MAX)
		return -EFBIG;
	_cleanup_fd_ int fd = openat(root->scratch, name,
				     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	if (fd < 0)
		return -errno;
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, from, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	int r = fd_write_all(fd, bytes, (size_t)st.st_size);

	(void)munmap(bytes, (size_t)st.st_size);
	return r;
}

static int root_trust(struct root *root, const struct plan_mount *m, struct error *e)
{
	unsigned int format = (unsigned int)plan_trust_of(m); /* plan_decode has looked */
	const char *name = m->source;
	size_t from = 0;

	for (unsigned int i = 0; i < format; i++)
		from += plan_has_trust(root->plan, i) ? 1 : 0;
	if (!root->trust_made[format]) {
		int r = from < root->trust->count
				? root_copy_trust(root, name, root->trust->fds[from])
				: -ENOENT;

		if (r < 0)
			return error_sys(e, r, "making the trust file %s", m->source);
		root->trust_made[format] = true;
	}
	_cleanup_fd_ int file = open_beneath(root->scratch, name, O_PATH, 0);
	_cleanup_fd_ int tree =
		file < 0 ? file
			 : mounts_clone(file, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
						      MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

	return tree < 0 ? error_sys(e, tree, "taking the trust file %s", m->source)
			: root_attach_at(root, tree, m->target, false, e);
}

/* Makes a socket.  Binds it by its bare name from its own directory, because the path may be
 * long. */
static int root_socket(struct root *root, const struct plan_mount *m, struct error *e)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *name = NULL;
	int parent = root_own_parent(root, m->target, &name, e);

	if (parent < 0)
		return parent;
	int *made = str_equal(m->role, "ask") ? &root->made->ask : &root->made->ssh;

	if (*made >= 0 || strlen(name) >= sizeof(address.sun_path))
		return error_set(e, -EINVAL, "%s cannot be made: one socket, of a short name",
				 m->target);
	memcpy(address.sun_path, name, strlen(name));
	*made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*made < 0 || fchdir(parent) < 0 ||
	    bind(*made, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(*made, ROOT_SOCKET_QUEUE) < 0)
		return error_sys(e, -errno, "making the socket %s", m->target);
	return 0;
}

static int root_proc(struct root *root, const struct plan_mount *m, struct error *e)
{
	static const struct mounts_option options[] = {{"hidepid", "invisible"}};
	/* Read-only: there is nothing below /proc that a program in the box needs to write. */
	const uint64_t attributes =
		MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;

	if (root->proc >= 0)
		return root_attach_at(root, root->proc, m->target, true, e);
	_cleanup_fd_ int fd = mounts_new("proc", options, 1, attributes);

	if (fd >= 0 && root->made->processes < 0)
		root->made->processes = mounts_new("proc", NULL, 0, attributes);
	if (fd < 0 || root->made->processes < 0) {
		fd = fd < 0 ? fd : root->made->processes;
		(void)error_sys(e, fd, "mounting a /proc of the box's own");
		error_next(e, "Inside a container the outer /proc must be whole: start it with "
			      "--security-opt systempaths=unconfined (Docker, Podman).");
		return fd;
	}
	return root_attach_at(root, fd, m->target, true, e);
}

int root_mask_proc(const struct root *root, struct error *e)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(root_proc_masked); i++) {
		const char *path = root_proc_masked[i].path;

		if (root_proc_masked[i].only_root && root->plan->host_uid != 0)
			continue;
		_cleanup_fd_ int target = open_beneath(root->fd, path, O_PATH, 0);

		if (target == -ENOENT)
			continue;
		_cleanup_fd_ int null = open_beneath(root->fd, "dev/null", O_PATH, 0);
		_cleanup_fd_ int tree =
			null < 0 ? null
				 : mounts_clone(null, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
							      MOUNT_ATTR_NOEXEC);
		int r = target < 0 ? target : tree < 0 ? tree : mounts_attach(tree, target);

		if (r < 0)
			return error_sys(e, r, "masking /%s", path);
	}
	return 0;
}

/* A tmpfs at /dev; its mount, or -errno. */
static int root_private_dev(struct root *root, const struct plan_mount *m, struct error *e)
{
	_cleanup_fd_ int fd = mounts_new_tmpfs("0755", ROOT_SCRATCH_MAX, MOUNT_ATTR_NOSUID);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || root->private_count == ROOT_PRIVATE_MAX)
		return error_sys(e, fd < 0 ? fd : -ENFILE, "making the private %s", m->target);
	root->private_devs[root->private_count++] = st.st_dev;
	int r = root_attach_at(root, fd, m->target, true, e);

	return r < 0 ? r : TAKE_FD(fd);
}

static int root_dev(struct root *root, const struct plan_mount *m, struct error *e)
{
	/* The kernel counts the terminals of the whole machine together, and has 4,096. */
	static const struct mounts_option pts_options[] = {
		{"ptmxmode", "0666"}, {"mode", "0620"}, {"max", ROOT_TERMINALS}};
	char target[64];
	/* On a system we do not make devices in its own folder. */
	_cleanup_fd_ int own = root->given ? root_private_dev(root, m, e) : -1;

	if (root->given && own < 0)
		return own;
	for (size_t i = 0; i < ROOT_DEVICE_COUNT; i++) {
		(void)snprintf(target, sizeof(target), "%s/%s", m->target, root_devices[i]);
		int r = root_attach_at(root, root->devices[i], target, false, e);

		if (r < 0)
			return r;
		fd_close(&root->devices[i]);
	}
	_cleanup_fd_ int pts = mounts_new("devpts", pts_options, BAWN_ARRAY_SIZE(pts_options),
					  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	if (pts < 0)
		return error_sys(e, pts, "making the box's own terminals (devpts)");
	(void)snprintf(target, sizeof(target), "%s/pts", m->target);
	int r = root_attach_at(root, pts, target, true, e);
	if (r < 0)
		return r;

	_cleanup_fd_ int shm =
		mounts_new_tmpfs("1777", m->size, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (shm < 0)
		return error_sys(e, shm, "making the private /dev/shm");
	(void)snprintf(target, sizeof(target), "%s/shm", m->target);
	r = root_attach_at(root, shm, target, true, e);
	if (r < 0)
		return r;

	_cleanup_fd_ int dev = open_beneath(root->fd, m->target + 1, O_PATH | O_DIRECTORY, 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(root_dev_links); i++)
		if (symlinkat(root_dev_links[i].text, dev, root_dev_links[i].name) < 0)
			return error_sys(e, -errno, "making /dev/%s", root_dev_links[i].name);
	r = root->given ? mounts_set_attributes(own, 0, MOUNT_ATTR_RDONLY) : 0;
	return r < 0 ? error_sys(e, r, "making %s read-only", m->target) : 0;
}

static int root_apply(struct root *root, size_t index, struct error *e)
{
	const struct plan_mount *m = &root->plan->mounts.items[index];

	switch ((enum plan_mount_kind)m->kind) {
	case PLAN_MOUNT_BIND:
		return root_bind(root, index, e);
	case PLAN_MOUNT_TMPFS:
		return root_tmpfs(root, m, e);
	case PLAN_MOUNT_PROC:
		return root->sources[index] >= 0 ? root_bind(root, index, e)
						 : root_proc(root, m, e);
	case PLAN_MOUNT_DEV:
		return root_dev(root, m, e);
	case PLAN_MOUNT_DIR:
		return root_dir(root, m, e);
	case PLAN_MOUNT_FILE:
		return root_file(root, m, e);
	case PLAN_MOUNT_LINK:
		return root_link(root, m, e);
	case PLAN_MOUNT_HIDE:
		return root_hide(root, m, e);
	case PLAN_MOUNT_TRUST:
		return root_trust(root, m, e);
	case PLAN_MOUNT_SOCKET:
		return root_socket(root, m, e);
	}
	return error_set(e, -EBADMSG, "unknown kind of mount");
}

int root_enter(struct root *root, struct error *e)
{
	if (fchdir(root->fd) < 0)
		return error_sys(e, -errno, "entering the new root");
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return error_sys(e, -errno, "making it the root");
	if (umount2(".", ROOT_DETACH) < 0)
		return error_sys(e, -errno, "letting go of the old root");
	if (chdir("/") < 0)
		return error_sys(e, -errno, "entering /");
	/* Our own tmpfs holds only mount points and made-up files: nobody writes there. */
	int r = mounts_set_attributes(root->given ? root->scratch : root->fd, 0, MOUNT_ATTR_RDONLY);

	fd_close(&root->scratch);
	fd_close(&root->fd);
	return r < 0 ? error_sys(e, r, "making the root read-only") : 0;
}

/* Makes .bawn for the files that we make: a folder of our own root, or a tmpfs on a system. */
static int root_make_scratch(struct root *root, struct error *e)
{
	int r = mkdirat(root->fd, ".bawn", 0755) < 0 && errno != EEXIST ? -errno : 0;

	if (r == 0 && root->given) {
		_cleanup_fd_ int place = open_beneath(root->fd, ".bawn", O_PATH | O_DIRECTORY, 0);
		_cleanup_fd_ int fs = mounts_new_tmpfs("0755", ROOT_SCRATCH_MAX,
						       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);

		r = place < 0 ? place : fs < 0 ? fs : mounts_attach(fs, place);
	}
	root->scratch = r < 0 ? r : open_beneath(root->fd, ".bawn", O_PATH | O_DIRECTORY, 0);
	if (root->scratch < 0 || mkdirat(root->scratch, "dir", 0) < 0 ||
	    mknodat(root->scratch, "file", S_IFREG, 0) < 0)
		return error_sys(e, root->scratch < 0 ? root->scratch : -errno,
				 "making something empty");
	return 0;
}

int root_make(struct root *root, struct error *e)
{
	struct stat st;

	root->fd = root->given ? root_open_source(&root->plan->root.items[0], e)
			       : mounts_new_tmpfs("0755", ROOT_SCRATCH_MAX,
						  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (root->fd < 0)
		return root->given ? root->fd : error_sys(e, root->fd, "making an empty root");
	if (fstat(root->fd, &st) < 0)
		return error_sys(e, -errno, "looking at the new root");
	root->dev = st.st_dev;
	int r = mounts_attach_root(root->fd);

	if (r < 0)
		return error_sys(e, r, "laying the new root over the old");
	return root_make_scratch(root, e);
}

struct root *root_begin(const struct plan *plan, const struct root_trust *trust,
			struct root_made *made)
{
	static struct root root;

	root.plan = plan;
	root.parent = root.proc = root.scratch = -1;
	root.trust = trust;
	root.made = made;
	root.given = plan->root.count > 0;
	return &root;
}

int root_part(struct error *e)
{
	/* Our mounts do not appear on the host, and its later mounts do not appear here. */
	if (mount(NULL, "/", NULL, 0x4000 /* MS_REC */ | ROOT_PRIVATE, NULL) < 0)
		return error_sys(e, -errno, "parting from the host's mounts");
	return 0;
}

int root_mount(struct root *root, struct error *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < root->plan->mounts.count; i++)
		r = root_apply(root, i, e);
	return r;
}
