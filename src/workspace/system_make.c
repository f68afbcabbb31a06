/* SPDX-License-Identifier: Apache-2.0 */
#include "system_make.h"

#include "fd.h"
#include "process.h"
#include "profile.h"
#include "str.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where tools of a system lie, whatever the user's own PATH says: some are not for users. */
#define SYSTEM_MAKE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

enum { SYSTEM_MAKE_NOT_FOUND = 127, SYSTEM_MAKE_NO_NAMESPACE = 126, SYSTEM_ARGUMENTS_MAX = 32 };

const struct system_tool system_tools[SYSTEM_TOOL_COUNT] = {
	{"mmdebstrap", "mmdebstrap", "a Debian"},
	{"umoci", "umoci", "one from an image"},
	{"skopeo", "skopeo", "one from a registry's image"},
};

/*
 * The devices and /proc that maintainer scripts expect.  mmdebstrap would mount its own, for which
 * one id is not enough; these are gone with the namespace.
 */
#define SYSTEM_MAKE_HOOK                                     \
	"--extract-hook=mkdir -p \"$1/dev\" \"$1/proc\" && " \
	"mount --rbind /proc \"$1/proc\" && "                \
	"for d in null zero full random urandom tty; do "    \
	": >\"$1/dev/$d\" && mount --bind \"/dev/$d\" \"$1/dev/$d\" || exit 1; done"

struct system_source system_source_parse(const char *text)
{
	const char *rest = NULL;

	if (str_equal(text, "debian"))
		return (struct system_source){SYSTEM_DEBIAN, ""};
	if ((rest = str_after(text, "debian:")))
		return (struct system_source){SYSTEM_DEBIAN, rest};
	if ((rest = str_after(text, "oci:")))
		return (struct system_source){SYSTEM_OCI, rest};
	if (str_after(text, "docker://"))
		return (struct system_source){SYSTEM_DOCKER, text};
	return (struct system_source){SYSTEM_PATH, text};
}

bool system_tool_find(const char *name, char *into, size_t size)
{
	for (const char *at = SYSTEM_MAKE_PATH; *at;) {
		size_t len = strcspn(at, ":");
		int n = snprintf(into, size, "%.*s/%s", (int)len, at, name);

		if (n > 0 && (size_t)n < size && access(into, X_OK) == 0)
			return true;
		at += len;
		at += *at == ':';
	}
	return false;
}

/* --- running a tool ------------------------------------------------------------------- */

struct system_run {
	const char *argv[SYSTEM_ARGUMENTS_MAX];
	size_t count;
	bool as_root; /* in a namespace of its own, where the user is root */
};

static void system_word(struct system_run *run, const char *word)
{
	if (run->count < SYSTEM_ARGUMENTS_MAX - 1)
		run->argv[run->count++] = word;
}

static int system_write(const char *path, const char *text)
{
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
}

/* One id, and changes of owner that only seem to happen. */
static int system_become_root(void)
{
	unsigned int uid = geteuid();
	unsigned int gid = getegid();
	char map[32];

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -errno;
	int r = system_write("/proc/self/setgroups", "deny");

	(void)snprintf(map, sizeof(map), "0 %u 1\n", uid);
	if (r == 0)
		r = system_write("/proc/self/uid_map", map);
	(void)snprintf(map, sizeof(map), "0 %u 1\n", gid);
	if (r == 0)
		r = system_write("/proc/self/gid_map", map);
	if (r == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		r = -errno;
	if (r == 0)
		r = process_no_new_privs();
	return r < 0 ? r : process_filter(profile_bpf(PROFILE_MAKER));
}

static _Noreturn void system_child(const struct system_run *run, const char *program)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* What they print is for the person who waits, not for who reads our output. */
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(SYSTEM_MAKE_NO_NAMESPACE);
	(void)umask(022);
	if (run->as_root && system_become_root() < 0)
		_exit(SYSTEM_MAKE_NO_NAMESPACE);
	(void)process_die_with_parent();
	process_reset_signals();
	(void)setenv("PATH", SYSTEM_MAKE_PATH, 1);
	(void)execv(program, (char *const *)(uintptr_t)run->argv);
	_exit(SYSTEM_MAKE_NOT_FOUND);
}

static int system_no_tool(const char *name, struct error *e)
{
	const char *package = name;

	for (size_t i = 0; i < SYSTEM_TOOL_COUNT; i++)
		if (str_equal(system_tools[i].name, name))
			package = system_tools[i].package;
	(void)error_set(e, -ENOENT, "%s is not installed, and this is made with it", name);
	error_next(e, "Install the package %s.", package);
	return -ENOENT;
}

static int system_run(struct system_run *run, struct error *e)
{
	char program[PATH_MAX];
	int status = 0;

	if (!system_tool_find(run->argv[0], program, sizeof(program)))
		return system_no_tool(run->argv[0], e);
	pid_t pid = fork();

	if (pid < 0)
		return error_sys(e, -errno, "cannot start %s", program);
	if (pid == 0)
		system_child(run, program);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_sys(e, -errno, "cannot wait for %s", program);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (run->as_root && WIFEXITED(status) && WEXITSTATUS(status) == SYSTEM_MAKE_NO_NAMESPACE) {
		(void)error_set(e, -EPERM, "cannot run %s as root of a user namespace", program);
		error_next(e, "'bawn doctor' says what this machine refuses.");
		return -EPERM;
	}
	if (WIFSIGNALED(status))
		return error_set(e, -EINTR, "%s was ended by signal %d", program, WTERMSIG(status));
	return error_set(e, -EIO, "%s failed (exit code %d); it says above why", program,
			 WEXITSTATUS(status));
}

/* --- the kinds of sources ------------------------------------------------------------- */

/* VERSION_CODENAME of this machine where that is a Debian, else "stable". */
static void system_suite(char *into, size_t size)
{
	_cleanup_buf_ struct buf text = BUF_INIT(16 << 10);
	const char *key = "\nVERSION_CODENAME=";
	const char *found = NULL;

	(void)snprintf(into, size, "stable");
	if (fd_read_file_at(AT_FDCWD, "/etc/os-release", &text) == 0 &&
	    (strstr(buf_str(&text), "\nID=debian\n") || str_after(buf_str(&text), "ID=debian\n")))
		found = strstr(buf_str(&text), key);
	if (!found)
		return;
	found += strlen(key);
	size_t len = strspn(found, "abcdefghijklmnopqrstuvwxyz");

	if (len > 0 && len < size)
		(void)snprintf(into, size, "%.*s", (int)len, found);
}

static int system_make_debian(const char *root, const char *what, bool quiet, struct error *e)
{
	struct system_run run = {.as_root = true};
	bool line = str_after(what, "deb ") != NULL;
	char suite[64];

	system_suite(suite, sizeof(suite));
	system_word(&run, "mmdebstrap");
	system_word(&run, "--mode=root"); /* of the namespace that it is started in */
	system_word(&run, "--variant=apt");
	system_word(&run, "--format=directory");
	system_word(&run, "--skip=chroot/mount");
	system_word(&run, "--aptopt=APT::Sandbox::User \"root\"");
	if (quiet)
		system_word(&run, "--quiet");
	system_word(&run, SYSTEM_MAKE_HOOK);
	system_word(&run, "--");
	system_word(&run, *what && !line ? what : suite);
	system_word(&run, root);
	if (line)
		system_word(&run, what);
	return system_run(&run, e);
}

/* umoci writes a bundle; its rootfs becomes our root. */
static int system_unpack(const struct system_new *n, const char *image, struct error *e)
{
	struct system_run run = {.as_root = false};
	char bundle[PATH_MAX + 16];

	(void)snprintf(bundle, sizeof(bundle), "%s/bundle", n->path);
	system_word(&run, "umoci");
	system_word(&run, "unpack");
	system_word(&run, "--rootless"); /* no id but ours */
	system_word(&run, "--image");
	system_word(&run, image);
	system_word(&run, bundle);
	int r = system_run(&run, e);

	if (r < 0)
		return r;
	if (unlinkat(n->dir, "root", AT_REMOVEDIR) < 0 ||
	    renameat(n->dir, "bundle/rootfs", n->dir, "root") < 0)
		return error_sys(e, -errno, "cannot take %s/rootfs", bundle);
	return 0;
}

static int system_make_oci(const struct system_new *n, const char *what, struct error *e)
{
	char image[PATH_MAX + 16];
	char folder[PATH_MAX];
	const char *colon = strrchr(what, ':');
	bool tag = colon && !strchr(colon, '/');
	size_t len = tag ? (size_t)(colon - what) : strlen(what);
	struct stat st;

	if (len == 0 || len >= sizeof(folder))
		return error_set(e, -EINVAL, "oci: names a folder, and a tag: oci:DIR[:TAG]");
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)len, what);
	if (stat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
		return error_sys(e, -ENOTDIR, "cannot read the image in %s", folder);
	(void)snprintf(image, sizeof(image), "%s:%s", folder, tag ? colon + 1 : "latest");
	return system_unpack(n, image, e);
}

static int system_make_docker(const struct system_new *n, const char *what, bool quiet,
			      struct error *e)
{
	struct system_run run = {.as_root = false};
	char image[PATH_MAX + 32];
	char place[PATH_MAX + 64];

	(void)snprintf(image, sizeof(image), "%s/image:latest", n->path);
	(void)snprintf(place, sizeof(place), "oci:%s", image);
	system_word(&run, "skopeo");
	system_word(&run, "copy");
	if (quiet)
		system_word(&run, "--quiet");
	system_word(&run, what);
	system_word(&run, place);
	int r = system_run(&run, e);

	return r < 0 ? r : system_unpack(n, image, e);
}

static int system_make_path(const char *root, const char *path, struct error *e)
{
	struct system_run run = {.as_root = true};
	char real[PATH_MAX];
	char all[PATH_MAX + 2];
	struct stat st;

	/* Absolute, so that no path is an option. */
	if (!realpath(path, real) || stat(real, &st) < 0)
		return error_sys(e, -errno, "cannot make a system from %s", path);
	if (S_ISDIR(st.st_mode)) {
		(void)snprintf(all, sizeof(all), "%s/.", real);
		system_word(&run, "cp");
		system_word(&run, "--archive");
		system_word(&run, "--reflink=auto");
		system_word(&run, all);
		system_word(&run, root);
	} else if (S_ISREG(st.st_mode)) {
		system_word(&run, "tar");
		system_word(&run, "--extract");
		system_word(&run, "--preserve-permissions");
		system_word(&run, "--exclude=./dev/*"); /* devices are the box's own */
		system_word(&run, "--exclude=dev/*");
		system_word(&run, "--directory");
		system_word(&run, root);
		system_word(&run, "--file");
		system_word(&run, real);
	} else {
		return error_set(e, -EINVAL, "%s is neither a folder nor an archive", path);
	}
	return system_run(&run, e);
}

int system_make(const struct system_new *n, const char *source, bool quiet, struct error *e)
{
	struct system_source s = system_source_parse(source);
	char root[PATH_MAX + 8];

	(void)snprintf(root, sizeof(root), "%s/root", n->path);
	switch (s.kind) {
	case SYSTEM_DEBIAN:
		return system_make_debian(root, s.what, quiet, e);
	case SYSTEM_OCI:
		return system_make_oci(n, s.what, e);
	case SYSTEM_DOCKER:
		return system_make_docker(n, s.what, quiet, e);
	case SYSTEM_PATH:
		return system_make_path(root, s.what, e);
	}
	return -EINVAL;
}
