/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what box it stands in, the same words for the same box: capabilities, filters,
 * Landlock, namespaces, mounts, limits, descriptors, environment.  Run inside, once
 * with everything well and once with a fault: the two must not differ.
 *
 * The kernel does not tell whether a Landlock domain is there, but it allows 16 of
 * them and no more, so this counts how many still can be added.
 */
#include "base.h"
#include "buf.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <dirent.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_restrict_self 446
#endif

enum { LANDLOCK_LAYERS_MAX = 16 };

/* The lines of a file that begin with one of the words; all when there are none. */
static void show_file(const char *path, const char *const *words, size_t count)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1u << 20);
	int r = fd_read_file_at(AT_FDCWD, path, &b);

	if (r < 0)
		(void)printf("%s: %s\n", path, strerror(-r));
	for (char *line = b.ptr; line && *line;) {
		char *end = strchrnul(line, '\n');
		bool wanted = count == 0;

		for (size_t i = 0; i < count; i++)
			wanted = wanted || str_after(line, words[i]);
		if (wanted)
			(void)printf("%s: %.*s\n", path, (int)(end - line), line);
		line = *end ? end + 1 : end;
	}
}

/* Mounts without their numbers, which differ from box to box. */
static void show_mounts(void)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1u << 20);

	(void)fd_read_file_at(AT_FDCWD, "/proc/self/mountinfo", &b);
	for (char *line = b.ptr; line && *line;) {
		char *end = strchrnul(line, '\n');
		char *at = line;

		for (int skip = 0; skip < 3 && at < end; skip++)
			at = strchrnul(at, ' ') + 1;
		(void)printf("mount %.*s\n", (int)(end - at), at);
		line = *end ? end + 1 : end;
	}
}

static void show_namespaces(const char *outside)
{
	static const char *const kinds[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(kinds); i++) {
		char path[32];
		char link[64] = "";

		(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", kinds[i]);
		if (readlink(path, link, sizeof(link) - 1) < 0)
			(void)snprintf(link, sizeof(link), "unknown");
		(void)printf("namespace %s: %s\n", kinds[i],
			     strstr(outside, link) ? "THE HOST'S" : "own");
	}
}

static void show_landlock(void)
{
	const uint64_t handled[2] = {1ull << 0 /* EXECUTE */, 0};
	int layers = 0;

	(void)fflush(stdout);
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		for (; layers < LANDLOCK_LAYERS_MAX; layers++) {
			long fd = syscall(__NR_landlock_create_ruleset, handled, 8, 0);

			if (fd < 0 || syscall(__NR_landlock_restrict_self, fd, 0) < 0) {
				/* Who answers these calls is gone, and so is the box in a moment.
				 */
				if (errno == ENOSYS)
					(void)sleep(5);
				break;
			}
			(void)close((int)fd);
		}
		_exit(layers);
	}
	if (pid < 0 || waitpid(pid, &layers, 0) != pid || !WIFEXITED(layers))
		(void)printf("landlock: cannot tell\n");
	else
		(void)printf("landlock: %d domains can be added\n", WEXITSTATUS(layers));
}

static void show_descriptors(void)
{
	for (int fd = 0; fd < 4096; fd++) {
		struct stat st;

		if (fstat(fd, &st) == 0)
			(void)printf("descriptor %d: type %o\n", fd,
				     (unsigned int)st.st_mode & S_IFMT);
	}
}

static void show_surroundings(void)
{
	static const char *const places[] = {"/",     "/sys",  "/run", "/var", "/root",
					     "/home", "/boot", "/dev", "/tmp", "/proc/1/root"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(places); i++) {
		DIR *dir = opendir(places[i]);
		size_t count = 0;

		while (dir && readdir(dir))
			count++;
		(void)printf("folder %s: %s, %zu entries\n", places[i],
			     dir ? "open" : strerror(errno),
			     str_equal(places[i], "/tmp") ? 0 : count);
		if (dir)
			(void)closedir(dir);
	}
	for (char **e = environ; *e; e++)
		(void)printf("env %s\n", *e);
	(void)printf("ids %d %d %d %d\n", (int)getuid(), (int)geteuid(), (int)getgid(),
		     (int)getegid());
	(void)printf("session %s\n", getsid(0) == getpid() ? "own" : "shared");
	/* Opened, not asked about: to root its mode bits say yes and the kernel says no. */
	_cleanup_fd_ int environment = open("/proc/1/environ", O_RDONLY | O_CLOEXEC);
	char byte;

	(void)printf("pid 1: %s\n",
		     environment >= 0 && read(environment, &byte, 1) >= 0 ? "OPEN" : "closed");
}

int main(int argc, char **argv)
{
	static const char *const status[] = {"Cap", "NoNewPrivs", "Seccomp", "Groups", "Uid",
					     "Gid", "Umask",      "SigIgn",  "SigBlk"};

	show_file("/proc/self/status", status, BAWN_ARRAY_SIZE(status));
	show_file("/proc/self/limits", NULL, 0);
	show_file("/proc/self/uid_map", NULL, 0);
	show_file("/proc/self/gid_map", NULL, 0);
	show_file("/proc/self/setgroups", NULL, 0);
	show_file("/proc/sys/user/max_user_namespaces", NULL, 0);
	show_file("/proc/sys/user/max_net_namespaces", NULL, 0);
	show_file("/proc/sys/kernel/hostname", NULL, 0);
	show_file("/proc/net/dev", NULL, 0);
	show_namespaces(argc > 1 ? argv[1] : "");
	show_mounts();
	show_descriptors();
	show_surroundings();
	show_landlock();
	(void)printf("complete\n");
	return fflush(stdout) == 0 ? 0 : 1;
}
