/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that does not play fair with who looks at its memory:
 *
 *	racer open COUNT GOOD EVIL	opens a path that another thread flips all the while, and
 *					says how often each was opened in truth
 *	racer exec COUNT GOOD EVIL	executes it likewise
 *	racer which			ends with 3 where its own name ends in "good", else with 4
 *	racer bad			calls with pointers that lead nowhere, and paths without end
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_ROOM = 512, LONG = 5000, ARGUMENT = 100000 };

struct race {
	const char *good, *evil;
	char *path; /* shared with children */
	volatile int stop;
};

static void put(volatile char *into, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i <= len; i++)
		into[i] = text[i];
}

/* GOOD and EVIL have one length: at every moment it is one of them, or a mix that does not exist.
 */
static void *flip(void *context)
{
	struct race *r = context;

	while (!r->stop) {
		put(r->path, r->evil);
		put(r->path, r->good);
	}
	return NULL;
}

static int race_open(struct race *r, unsigned long count)
{
	unsigned long good = 0, evil = 0, none = 0;
	struct stat is_good, is_evil, st;

	if (stat(r->good, &is_good) < 0 || stat(r->evil, &is_evil) < 0)
		return 1;
	for (unsigned long i = 0; i < count; i++) {
		int fd = open(r->path, O_WRONLY | O_CLOEXEC);

		if (fd < 0 || fstat(fd, &st) < 0)
			none++;
		else if (st.st_ino == is_good.st_ino)
			good++;
		else
			evil++;
		if (fd >= 0)
			(void)close(fd);
	}
	(void)printf("%lu %lu %lu\n", good, evil, none);
	return 0;
}

static int race_exec(struct race *r, unsigned long count)
{
	static char name[] = "program", word[] = "which";
	char *const argv[] = {name, word, NULL};
	char *const envp[] = {NULL};
	unsigned long ends[3] = {0, 0, 0};

	for (unsigned long i = 0; i < count; i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0) {
			(void)execve(r->path, argv, envp);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0)
			return 1;
		ends[WEXITSTATUS(status) == 3 ? 0 : WEXITSTATUS(status) == 4 ? 1 : 2]++;
	}
	(void)printf("%lu %lu %lu\n", ends[0], ends[1], ends[2]);
	return 0;
}

static int which(void)
{
	char path[PATH_ROOM];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 4)
		return 5;
	path[n] = '\0';
	return strcmp(path + n - 4, "good") == 0 ? 3 : 4;
}

/* Each answers as it would without anybody watching. */
static int bad(void)
{
	const size_t page = 4096;
	char *two =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *endless = malloc(LONG), *argument = malloc(ARGUMENT + 1);

	if (two == MAP_FAILED || munmap(two + page, page) < 0 || !endless || !argument)
		return 1;
	memset(two, 'a', page); /* no end before the page that is not there */
	memset(endless, 'b', LONG);
	endless[LONG - 1] = '\0';
	memset(argument, 'c', ARGUMENT);
	argument[ARGUMENT] = '\0';
	const long calls[] = {
		syscall(SYS_openat, AT_FDCWD, 8, O_WRONLY, 0) < 0 ? errno : 0,
		syscall(SYS_openat, AT_FDCWD, two, O_WRONLY, 0) < 0 ? errno : 0,
		syscall(SYS_openat, AT_FDCWD, endless, O_WRONLY, 0) < 0 ? errno : 0,
		syscall(SYS_openat, 77, "x", O_WRONLY, 0) < 0 ? errno : 0,
		syscall(SYS_openat2, AT_FDCWD, "x", 8, 24) < 0 ? errno : 0,
		syscall(SYS_execve, "/", 8, 8) < 0 ? errno : 0,
		syscall(SYS_execve, 8, 8, 8) < 0 ? errno : 0,
		syscall(SYS_renameat2, AT_FDCWD, 8, AT_FDCWD, 16, 0) < 0 ? errno : 0,
		syscall(SYS_connect, 0, 8, 0xffffffff) < 0 ? errno : 0,
		syscall(SYS_bind, 0, 8, 0xffffffff) < 0 ? errno : 0,
	};
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		(void)printf("%ld ", calls[i]);
	(void)printf("\n");
	(void)fflush(stdout);
	char *const argv[] = {argument, argument, argument, NULL};
	char *const envp[] = {NULL};

	(void)execve("/bin/true", argv, envp);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "which") == 0)
		return which();
	if (argc == 2 && strcmp(argv[1], "bad") == 0)
		return bad();
	if (argc != 5 || strlen(argv[3]) != strlen(argv[4]) || strlen(argv[3]) >= PATH_ROOM)
		return 2;
	struct race r = {.good = argv[3], .evil = argv[4]};
	pthread_t thread;
	unsigned long count = strtoul(argv[2], NULL, 10);
	void *shared =
		mmap(NULL, PATH_ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return 1;
	r.path = shared;
	put(r.path, r.good);
	if (pthread_create(&thread, NULL, flip, &r) != 0)
		return 1;
	int ret = strcmp(argv[1], "open") == 0 ? race_open(&r, count) : race_exec(&r, count);

	r.stop = 1;
	(void)pthread_join(thread, NULL);
	return ret;
}
