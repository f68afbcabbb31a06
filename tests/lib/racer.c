/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that does not play fair with who looks at its memory:
 *
 *	racer open COUNT GOOD EVIL	opens a path that another thread flips all the while, and
 *					says how often each was opened in truth
 *	racer exec COUNT GOOD EVIL	executes it likewise
 *	racer which			ends with 3 where its own name ends in "good", else with 4
 *	racer swap COUNT PATH		connects a socket of the internet that another thread
 *					exchanges for one of PATH, and says whether it came there
 *	racer bad			calls with pointers that lead nowhere, and paths without end
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
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

/* --- a descriptor that is another one by then --- */

union address {
	struct sockaddr_in inet;
	struct sockaddr_un path;
};

struct swap {
	union address to, inet, path;
	int at, inet_fd, path_fd;
	volatile int stop;
};

static void *swap_flip(void *context)
{
	struct swap *s = context;

	for (unsigned int i = 1; !s->stop; i = i * 1103515245 + 12345) {
		s->to = s->inet;
		(void)dup2(s->inet_fd, s->at);
		for (volatile unsigned int wait = 0; wait < (i >> 16) % 4000; wait++)
			continue;
		s->to = s->path;
		(void)dup2(s->path_fd, s->at);
		for (volatile unsigned int wait = 0; wait < (i >> 8) % 4000; wait++)
			continue;
	}
	return NULL;
}

static int swap(unsigned long count, const char *path)
{
	static struct swap s;
	pthread_t thread;
	unsigned long tries = 0;
	int came = 0;

	if (strlen(path) >= sizeof(s.path.path.sun_path))
		return 2;
	s.inet.inet = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(9)};
	s.inet.inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s.path.path.sun_family = AF_UNIX;
	memcpy(s.path.path.sun_path, path, strlen(path) + 1);
	s.inet_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	s.path_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	s.at = fcntl(s.inet_fd, F_DUPFD_CLOEXEC, 0);
	if (s.inet_fd < 0 || s.path_fd < 0 || s.at < 0 ||
	    pthread_create(&thread, NULL, swap_flip, &s) != 0)
		return 1;
	for (; tries < count && !came; tries++) {
		(void)connect(s.at, (const struct sockaddr *)&s.to, sizeof(s.to.path));
		came = send(s.path_fd, "x", 1, MSG_NOSIGNAL) == 1;
	}
	s.stop = 1;
	(void)pthread_join(thread, NULL);
	(void)printf("%s after %lu\n", came ? "came there" : "did not come there", tries);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "swap") == 0)
		return swap(strtoul(argv[2], NULL, 10), argv[3]);
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
