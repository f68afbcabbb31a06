/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The box's root, built in namespaces of the test's own and looked at from inside: what the plan
 * names is there as the plan says, nothing else is, and every mount of it is nosuid and private.
 * What cannot be made so ends the launch.
 */
#include "cmocka_lead.h"

#include "box_lead.h"
#include "tree_lead.h"

#include "grant.h"
#include "landlock.h"
#include "root.h"
#include "str.h"
#include "tree.h"

#include <dirent.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

enum { MOUNTS = 32 };

static const uint64_t small = 1 << 20; /* bytes of a tmpfs */

static char base[64];

struct world {
	struct plan plan;
	struct plan_mount mounts[MOUNTS];
	struct plan_string layers[2];
	char paths[MOUNTS][96];
	size_t path_count;
	int trust; /* handed to the launcher; -1 none */
	int code;  /* what root_build answers */
};

static int setup_all(void **state)
{
	(void)state;
	(void)snprintf(base, sizeof(base), "/var/tmp/bawn-root-XXXXXX");
	assert_non_null(mkdtemp(base));
	_cleanup_fd_ int dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(dir >= 0);
	assert_int_equal(mkdirat(dir, "read", 0755), 0);
	assert_int_equal(mkdirat(dir, "write", 0755), 0);
	assert_int_equal(mkdirat(dir, "write/closed", 0755), 0);
	assert_int_equal(mkdirat(dir, "write/place", 0755), 0);
	assert_int_equal(mkdirat(dir, "other", 0755), 0);
	assert_int_equal(mkdirat(dir, "layer", 0755), 0);
	assert_int_equal(mkdirat(dir, "layer/up", 0755), 0);
	assert_int_equal(mkdirat(dir, "layer/work", 0755), 0);
	assert_int_equal(mkdirat(dir, "sealed", 0755), 0);
	assert_int_equal(symlinkat("read", dir, "link"), 0);
	put_at(dir, "read/one", "read one");
	put_at(dir, "write/one", "write one");
	put_at(dir, "other/one", "other one");
	put_at(dir, "write/secret", "a secret");
	put_at(dir, "write/closed/secret", "a secret");
	put_at(dir, "sealed/two", "sealed two");
	put_at(dir, "file", "a file");
	return 0;
}

static int teardown_all(void **state)
{
	_cleanup_fd_ int parent = open("/var/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	return tree_remove(parent, base + strlen("/var/tmp/"));
}

/* --- a plan ---------------------------------------------------------------------------- */

static struct plan_mount *add(struct world *w, enum plan_mount_kind kind, enum plan_access access,
			      const char *target)
{
	struct plan_mount *m = &w->mounts[w->plan.mounts.count++];

	assert_true(w->plan.mounts.count <= MOUNTS);
	*m = (struct plan_mount){.kind = kind,
				 .access = access,
				 .target = target,
				 .source = "",
				 .upper = "",
				 .role = "",
				 .origin = "the test"};
	return m;
}

static const char *below_base(struct world *w, const char *name)
{
	char *path = w->paths[w->path_count++];

	assert_true(w->path_count <= MOUNTS);
	(void)snprintf(path, sizeof(w->paths[0]), "%s/%s", base, name);
	return path;
}

static struct plan_mount *bind_of(struct world *w, const char *name, enum plan_access access,
				  const char *target)
{
	struct plan_mount *m = add(w, PLAN_MOUNT_BIND, access, target);

	m->source = below_base(w, name);
	return m;
}

static struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->plan.host_uid = w->plan.uid = getuid();
	w->plan.mounts.items = w->mounts;
	w->trust = -1;
	return w;
}

/* --- looking, in the box --------------------------------------------------------------- */

static bool has_text(const char *path, const char *text)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char have[64];
	ssize_t n = fd < 0 ? -1 : read(fd, have, sizeof(have));

	return n == (ssize_t)strlen(text) && memcmp(have, text, strlen(text)) == 0;
}

/* What opening it for writing answers: 0 or -errno. */
static int write_code(const char *path, int more)
{
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC | more, 0644);

	return fd < 0 ? -errno : 0;
}

static int read_code(const char *path)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : 0;
}

/* The names in a folder are these, and no other. */
static void check_names(const char *path, const char *const *names, size_t count)
{
	DIR *dir = opendir(path);
	size_t found = 0;

	CHECK(dir);
	for (const struct dirent *d; (d = readdir(dir));) {
		bool known = str_equal(d->d_name, ".") || str_equal(d->d_name, "..");

		for (size_t i = 0; !known && i < count; i++)
			if (str_equal(d->d_name, names[i])) {
				known = true;
				found++;
			}
		if (!known)
			(void)fprintf(stderr, "%s/%s\n", path, d->d_name);
		CHECK(known);
	}
	(void)closedir(dir);
	CHECK_NUMBER(found, count);
}

static void check_link(const char *path, const char *text)
{
	char have[64];
	ssize_t n = readlink(path, have, sizeof(have));

	CHECK_NUMBER(n, (long long)strlen(text));
	CHECK(memcmp(have, text, (size_t)n) == 0);
}

/* Every mount: nosuid, of nobody's group; and nodev, unless it is a device or has some. */
static void check_mounts(size_t least)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	size_t count = 0;
	char line[4096];

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		char target[512], options[256], more[512];

		CHECK(sscanf(line, "%*d %*d %*s %*s %511s %255s %511[^\n]", target, options,
			     more) == 3);
		CHECK(strstr(options, "nosuid"));
		CHECK(strstr(options, "nodev") || strncmp(target, "/dev/", 5) == 0 ||
		      strncmp(target, "/proc/", 6) == 0);
		CHECK(more[0] == '-' && more[1] == ' ');
		count++;
	}
	(void)fclose(f);
	CHECK(count >= least);
}

static void check_devices(void)
{
	static const struct {
		const char *name;
		unsigned int major, minor;
	} devices[] = {{"null", 1, 3},   {"zero", 1, 5},    {"full", 1, 7},
		       {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}};
	static const char *const names[] = {"null",  "zero",   "full",  "random", "urandom",
					    "tty",   "pts",    "shm",   "ptmx",   "fd",
					    "stdin", "stdout", "stderr"};
	char path[32];
	struct stat st;

	check_names("/dev", names, BAWN_ARRAY_SIZE(names));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(devices); i++) {
		(void)snprintf(path, sizeof(path), "/dev/%s", devices[i].name);
		CHECK(stat(path, &st) == 0 && S_ISCHR(st.st_mode));
		CHECK(st.st_rdev == makedev(devices[i].major, devices[i].minor));
		/* The host's inode. */
		CHECK(chmod(path, 0600) < 0 && errno == EROFS);
	}
	CHECK_NUMBER(write_code("/dev/null", 0), 0);
	CHECK_NUMBER(write_code("/dev/more", O_CREAT), -EROFS);
	check_link("/dev/ptmx", "pts/ptmx");
	check_link("/dev/fd", "/proc/self/fd");
	check_link("/dev/stdin", "/proc/self/fd/0");
	check_link("/dev/stdout", "/proc/self/fd/1");
	check_link("/dev/stderr", "/proc/self/fd/2");
	/* Terminals of the box's own: there is none yet. */
	CHECK(access("/dev/pts/0", F_OK) < 0);
	_cleanup_fd_ int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);

	CHECK(master >= 0 && stat("/dev/pts/0", &st) == 0 && S_ISCHR(st.st_mode));
}

/* As many bytes as it was given, and a page or two. */
static void check_room(const char *folder, uint64_t size)
{
	struct statvfs fs;
	struct stat st;

	CHECK(statvfs(folder, &fs) == 0);
	CHECK_NUMBER((long long)(fs.f_blocks * fs.f_frsize), (long long)size);
	CHECK(stat(folder, &st) == 0);
	CHECK_NUMBER(st.st_mode & 07777, str_after(folder, "/run/") ? 0700 : 01777);
	CHECK(fs.f_flag & ST_NOSUID && fs.f_flag & ST_NODEV && !(fs.f_flag & ST_RDONLY));
}

static void check_proc(void)
{
	static const char *const masked[] = {"keys", "key-users", "timer_list", "kcore", "kmsg"};
	char path[64];
	struct stat st;

	check_link("/proc/self", "1");
	CHECK_NUMBER(write_code("/proc/self/oom_score_adj", 0), -EROFS);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(masked); i++) {
		(void)snprintf(path, sizeof(path), "/proc/%s", masked[i]);
		if (stat(path, &st) < 0)
			continue; /* this kernel has none */
		CHECK(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
	}
}

/* A program inside reaches it, and whoever has the socket outside is told. */
static void check_socket(const char *path, int listener)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	CHECK(fd >= 0 && listener >= 0);
	CHECK(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
	_cleanup_fd_ int other = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	CHECK(other >= 0);
}

/* --- what is there --------------------------------------------------------------------- */

static void full_plan(struct world *w)
{
	static const char made[] = "made up";

	(void)add(w, PLAN_MOUNT_TMPFS, PLAN_ACCESS_WRITE, "/tmp");
	w->mounts[0].size = small;
	(void)add(w, PLAN_MOUNT_TMPFS, PLAN_ACCESS_WRITE, "/run/user/7");
	w->mounts[1].size = 2 * small;
	(void)bind_of(w, "read", PLAN_ACCESS_READ, "/deep/down/read");
	(void)bind_of(w, "write", PLAN_ACCESS_WRITE, "/deep/down/write");
	(void)bind_of(w, "file", PLAN_ACCESS_READ, "/etc/file");
	(void)bind_of(w, "read", PLAN_ACCESS_READ, "/deep/down/write/place");
	(void)bind_of(w, "read", PLAN_ACCESS_READ, "/tmp/below/read");
	(void)add(w, PLAN_MOUNT_DIR, PLAN_ACCESS_READ, "/empty");
	add(w, PLAN_MOUNT_FILE, PLAN_ACCESS_READ, "/etc/made")->data =
		(struct span){(const uint8_t *)made, strlen(made)};
	/* On a mount point that was made for it. */
	add(w, PLAN_MOUNT_FILE, PLAN_ACCESS_READ, "/deep/down/write/one")->data =
		(struct span){(const uint8_t *)made, strlen(made)};
	add(w, PLAN_MOUNT_LINK, PLAN_ACCESS_READ, "/etc/link")->source = "deep/down";
	(void)add(w, PLAN_MOUNT_HIDE, PLAN_ACCESS_NONE, "/deep/down/write/secret");
	(void)add(w, PLAN_MOUNT_HIDE, PLAN_ACCESS_NONE, "/deep/down/write/closed");
	(void)add(w, PLAN_MOUNT_HIDE, PLAN_ACCESS_NONE, "/deep/down/write/not-there");
	add(w, PLAN_MOUNT_DEV, PLAN_ACCESS_WRITE, "/dev")->size = 3 * small;
	(void)add(w, PLAN_MOUNT_PROC, PLAN_ACCESS_READ, "/proc");
	add(w, PLAN_MOUNT_SOCKET, PLAN_ACCESS_WRITE, "/run/bawn/ask")->role = "ask";
	(void)add(w, PLAN_MOUNT_SOCKET, PLAN_ACCESS_WRITE, "/run/bawn/agent");
	add(w, PLAN_MOUNT_TRUST, PLAN_ACCESS_READ, "/etc/bundle")->source = "bundle";
	add(w, PLAN_MOUNT_TRUST, PLAN_ACCESS_READ, "/etc/again")->source = "bundle";
}

static int sealed_memfd(const char *text, unsigned int seals)
{
	int fd = memfd_create("trust", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

static int build(const struct world *w, struct root_made *made)
{
	struct root_trust trust = {.count = 0};
	struct error e = ERROR_INIT;

	if (w->trust >= 0)
		trust.fds[trust.count++] = w->trust;
	struct root *root = root_begin(&w->plan, &trust, made);
	int r = root_part(&e);

	if (r == 0)
		r = root_open_sources(root, &e);
	if (r == 0)
		r = root_make(root, &e);
	if (r == 0)
		r = root_mount(root, &e);
	if (r == 0)
		r = root_mask_proc(root, &e);
	if (r == 0)
		r = root_enter(root, &e);
	CHECK_NUMBER(e.code, r);
	return r;
}

static void look_at_all(void *context)
{
	static const char *const top[] = {".bawn", "tmp",   "run", "deep",
					  "etc",   "empty", "dev", "proc"};
	static const char *const deep[] = {"read", "write"};
	static const char *const etc[] = {"file", "made", "link", "bundle", "again"};
	struct root_made made = ROOT_MADE_INIT;

	CHECK_NUMBER(build(context, &made), 0);
	check_names("/", top, BAWN_ARRAY_SIZE(top));
	check_names("/deep/down", deep, BAWN_ARRAY_SIZE(deep));
	check_names("/etc", etc, BAWN_ARRAY_SIZE(etc));
	check_names("/empty", NULL, 0);
	CHECK(access(base, F_OK) < 0 && errno == ENOENT);
	/* Nothing is made in what is bawn's own. */
	CHECK(mkdir("/new", 0755) < 0 && errno == EROFS);
	CHECK(mkdir("/empty/new", 0755) < 0 && errno == EROFS);
	CHECK(mkdir("/etc/new", 0755) < 0 && errno == EROFS);
	/* What is shown, and how. */
	CHECK(has_text("/deep/down/read/one", "read one"));
	CHECK_NUMBER(write_code("/deep/down/read/one", 0), -EROFS);
	CHECK(has_text("/deep/down/write/place/one", "read one"));
	CHECK_NUMBER(write_code("/deep/down/write/place/one", 0), -EROFS);
	CHECK(has_text("/tmp/below/read/one", "read one"));
	CHECK_NUMBER(write_code("/tmp/below/read/one", 0), -EROFS);
	CHECK_NUMBER(write_code("/deep/down/write/new", O_CREAT | O_EXCL), 0);
	CHECK(has_text("/etc/file", "a file"));
	CHECK_NUMBER(write_code("/etc/file", 0), -EROFS);
	/* What is made up. */
	CHECK(has_text("/etc/made", "made up"));
	CHECK_NUMBER(write_code("/etc/made", 0), -EROFS);
	CHECK(has_text("/deep/down/write/one", "made up"));
	CHECK_NUMBER(write_code("/deep/down/write/one", 0), -EROFS);
	check_link("/etc/link", "deep/down");
	CHECK(has_text("/etc/bundle", "authorities") && has_text("/etc/again", "authorities"));
	CHECK_NUMBER(write_code("/etc/bundle", 0), -EROFS);
	/* What is hidden. */
	CHECK(has_text("/deep/down/write/secret", ""));
	CHECK_NUMBER(write_code("/deep/down/write/secret", 0), -EROFS);
	check_names("/deep/down/write/closed", NULL, 0);
	CHECK_NUMBER(write_code("/deep/down/write/closed/new", O_CREAT), -EROFS);
	check_room("/tmp", small);
	check_room("/run/user/7", 2 * small);
	check_room("/dev/shm", 3 * small);
	check_proc();
	check_devices();
	check_mounts(20);
	check_socket("/run/bawn/ask", made.ask);
	check_socket("/run/bawn/agent", made.ssh);
	/* Init's own /proc shows the same processes, and is attached nowhere. */
	struct stat st;

	CHECK(made.processes >= 0 && fstatat(made.processes, "1/status", &st, 0) == 0);
	CHECK_NUMBER(openat(made.processes, "self/oom_score_adj", O_WRONLY | O_CLOEXEC), -1);
}

static void test_all(void **state)
{
	struct world *w = world_new();
	char path[96];
	struct stat st;

	(void)state;
	full_plan(w);
	w->trust = sealed_memfd("authorities", SEALS);
	in_box(look_at_all, w);
	/* What was written is outside, and only that. */
	(void)snprintf(path, sizeof(path), "%s/write/new", base);
	assert_int_equal(stat(path, &st), 0);
	(void)snprintf(path, sizeof(path), "%s/write/one", base);
	assert_true(has_text(path, "write one"));
	(void)snprintf(path, sizeof(path), "%s/write/secret", base);
	assert_true(has_text(path, "a secret"));
	(void)close(w->trust);
	free(w);
}

/* --- layers ---------------------------------------------------------------------------- */

static void look_at_layers(void *context)
{
	static const char *const names[] = {"one", "two"};
	struct root_made made = ROOT_MADE_INIT;

	CHECK_NUMBER(build(context, &made), 0);
	check_names("/layered", names, BAWN_ARRAY_SIZE(names));
	check_names("/seen", names, BAWN_ARRAY_SIZE(names));
	CHECK_NUMBER(write_code("/layered/three", O_CREAT | O_EXCL), 0);
	CHECK(unlink("/layered/one") == 0);
	CHECK_NUMBER(write_code("/seen/one", 0), -EROFS);
	CHECK(has_text("/seen/one", "read one"));
}

/* What is written upon layers stands in the upper one. */
static void test_layers(void **state)
{
	struct world *w = world_new();
	char path[96];
	struct stat st;

	(void)state;
	w->layers[0].text = below_base(w, "sealed");
	struct plan_mount *m = bind_of(w, "read", PLAN_ACCESS_WRITE, "/layered");

	m->upper = below_base(w, "layer");
	m->layers.items = w->layers;
	m->layers.count = 1;
	m = bind_of(w, "read", PLAN_ACCESS_READ, "/seen");
	m->layers.items = w->layers;
	m->layers.count = 1;
	in_box(look_at_layers, w);
	(void)snprintf(path, sizeof(path), "%s/layer/up/three", base);
	assert_int_equal(stat(path, &st), 0);
	(void)snprintf(path, sizeof(path), "%s/read/one", base);
	assert_int_equal(stat(path, &st), 0);
	free(w);
}

/* --- what ends the launch -------------------------------------------------------------- */

static void build_fails(void *context)
{
	const struct world *w = context;
	struct root_made made = ROOT_MADE_INIT;

	CHECK_NUMBER(build(w, &made), w->code);
}

static void fails(struct world *w, int code)
{
	w->code = code;
	in_box(build_fails, w);
	free(w);
}

static void test_objects(void **state)
{
	struct world *w = world_new();
	char path[96];
	struct stat st;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/read", base);
	assert_int_equal(stat(path, &st), 0);
	/* The object that was meant, and the control. */
	for (unsigned int wrong = 0; wrong < 3; wrong++) {
		struct plan_mount *m = bind_of(w, "read", PLAN_ACCESS_READ, "/read");

		m->ino = st.st_ino + (wrong == 1);
		m->dev = st.st_dev + (wrong == 2);
		fails(w, wrong ? -ESTALE : 0);
		w = world_new();
	}
	(void)bind_of(w, "link", PLAN_ACCESS_READ, "/read");
	fails(w, -ELOOP);
	w = world_new();
	(void)bind_of(w, "none", PLAN_ACCESS_READ, "/read");
	fails(w, -ENOENT);
	w = world_new();
	bind_of(w, "read", PLAN_ACCESS_WRITE, "/read")->upper = below_base(w, "none");
	fails(w, -ENOENT);
	w = world_new();
	struct plan_mount *m = bind_of(w, "read", PLAN_ACCESS_READ, "/read");

	w->layers[0].text = below_base(w, "none");
	m->layers.items = w->layers;
	m->layers.count = 1;
	fails(w, -ENOENT);
}

/* Nothing is made in what came from the host. */
static void test_places(void **state)
{
	static const enum plan_mount_kind kinds[] = {PLAN_MOUNT_LINK,   PLAN_MOUNT_DIR,
						     PLAN_MOUNT_SOCKET, PLAN_MOUNT_TMPFS,
						     PLAN_MOUNT_FILE,   PLAN_MOUNT_BIND};
	char path[96];
	struct stat st;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(kinds); i++)
		for (int deep = 0; deep < 2; deep++) {
			struct world *w = world_new();

			(void)bind_of(w, "write", PLAN_ACCESS_WRITE, "/write");
			add(w, kinds[i], PLAN_ACCESS_WRITE,
			    deep ? "/write/fresh/one" : "/write/fresh")
				->source =
				kinds[i] == PLAN_MOUNT_BIND ? below_base(w, "read") : "text";
			fails(w, -EROFS);
		}
	(void)snprintf(path, sizeof(path), "%s/write/fresh", base);
	assert_int_equal(lstat(path, &st), -1);
	/* One of each, and no file where a folder has to be. */
	struct world *w = world_new();

	(void)add(w, PLAN_MOUNT_LINK, PLAN_ACCESS_READ, "/same");
	(void)add(w, PLAN_MOUNT_LINK, PLAN_ACCESS_READ, "/same");
	w->mounts[0].source = w->mounts[1].source = "text";
	fails(w, -EEXIST);
	w = world_new();
	(void)add(w, PLAN_MOUNT_FILE, PLAN_ACCESS_READ, "/same");
	(void)add(w, PLAN_MOUNT_FILE, PLAN_ACCESS_READ, "/same");
	fails(w, -EEXIST);
	w = world_new();
	(void)add(w, PLAN_MOUNT_SOCKET, PLAN_ACCESS_WRITE, "/one");
	(void)add(w, PLAN_MOUNT_SOCKET, PLAN_ACCESS_WRITE, "/two");
	fails(w, -EINVAL);
	w = world_new();
	(void)bind_of(w, "file", PLAN_ACCESS_READ, "/file");
	(void)add(w, PLAN_MOUNT_DIR, PLAN_ACCESS_READ, "/file/below");
	fails(w, -ENOTDIR);
}

/* Only what can no longer change, and is not too large. */
static void test_trust(void **state)
{
	static const unsigned int less[] = {SEALS & ~F_SEAL_SHRINK, SEALS & ~F_SEAL_GROW,
					    SEALS & ~F_SEAL_WRITE, 0};

	(void)state;
	for (size_t i = 0; i <= BAWN_ARRAY_SIZE(less) + 1; i++) {
		struct world *w = world_new();

		add(w, PLAN_MOUNT_TRUST, PLAN_ACCESS_READ, "/bundle")->source = "bundle";
		if (i < BAWN_ARRAY_SIZE(less))
			w->trust = sealed_memfd("authorities", less[i]);
		else if (i == BAWN_ARRAY_SIZE(less))
			w->trust = sealed_memfd("", SEALS);
		int fd = w->trust;

		fails(w, i < BAWN_ARRAY_SIZE(less)    ? -EPERM
			 : i == BAWN_ARRAY_SIZE(less) ? -EFBIG
						      : -ENOENT);
		if (fd >= 0)
			(void)close(fd);
	}
}

/* --- the same said by Landlock --------------------------------------------------------- */

/* The root shows more than the second plan grants: what is not granted is refused. */
static void look_at_granted(void *context)
{
	struct world *w = context;
	struct root_made made = ROOT_MADE_INIT;
	struct error e = ERROR_INIT;

	CHECK_NUMBER(build(w, &made), 0);
	CHECK_NUMBER(write_code("/less/one", 0), 0);
	CHECK_NUMBER(read_code("/hidden/two"), 0);
	w->mounts[1].access = PLAN_ACCESS_READ; /* /less */
	w->mounts[2].kind = PLAN_MOUNT_HIDE;    /* /hidden */
	CHECK_NUMBER(grant_root(&w->plan, made.processes, &e), 0);
	CHECK_NUMBER(write_code("/more/one", 0), 0);
	CHECK_NUMBER(write_code("/more/made", O_CREAT | O_EXCL), 0);
	CHECK(unlink("/more/made") == 0);
	CHECK_NUMBER(read_code("/less/one"), 0);
	CHECK_NUMBER(write_code("/less/one", 0), -EACCES);
	CHECK_NUMBER(write_code("/less/made", O_CREAT), -EACCES);
	CHECK(mkdir("/less/made", 0755) < 0 && errno == EACCES);
	CHECK(unlink("/less/one") < 0 && errno == EACCES);
	CHECK_NUMBER(read_code("/hidden/two"), -EACCES);
	CHECK_NUMBER(write_code("/hidden/two", 0), -EACCES);
	/* Names are seen, and devices are used. */
	CHECK_NUMBER(read_code("/"), 0);
	for (size_t i = 0; i < ROOT_DEVICE_COUNT; i++) {
		char path[32];

		(void)snprintf(path, sizeof(path), "/dev/%s", root_devices[i]);
		int r = write_code(path, O_NOCTTY);

		CHECK(r == 0 || (str_equal(path, "/dev/tty") && r == -ENXIO));
	}
	CHECK_NUMBER(write_code("/dev/ptmx", O_NOCTTY), 0);
	CHECK_NUMBER(write_code("/dev/shm/new", O_CREAT), 0);
	CHECK_NUMBER(read_code("/proc/self/status"), 0);
	CHECK(openat(made.processes, "1/status", O_RDONLY | O_CLOEXEC) >= 0);
}

static void grant_fails(void *context)
{
	struct world *w = context;
	struct root_made made = ROOT_MADE_INIT;
	struct error e = ERROR_INIT;

	CHECK_NUMBER(build(w, &made), 0);
	(void)add(w, PLAN_MOUNT_BIND, PLAN_ACCESS_READ, "/not-there");
	CHECK_NUMBER(grant_root(&w->plan, made.processes, &e), -ENOENT);
}

static void test_landlock(void **state)
{
	(void)state;
	if (landlock_abi() < 1)
		skip();
	for (int missing = 0; missing < 2; missing++) {
		struct world *w = world_new();

		(void)bind_of(w, "write", PLAN_ACCESS_WRITE, "/more");
		(void)bind_of(w, "other", PLAN_ACCESS_WRITE, "/less");
		(void)bind_of(w, "sealed", PLAN_ACCESS_WRITE, "/hidden");
		add(w, PLAN_MOUNT_DEV, PLAN_ACCESS_WRITE, "/dev")->size = small;
		(void)add(w, PLAN_MOUNT_PROC, PLAN_ACCESS_READ, "/proc");
		in_box(missing ? grant_fails : look_at_granted, w);
		free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),     cmocka_unit_test(test_layers),
		cmocka_unit_test(test_objects), cmocka_unit_test(test_places),
		cmocka_unit_test(test_trust),   cmocka_unit_test(test_landlock),
	};

	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
