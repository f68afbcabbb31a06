/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name service that tries what a name service should not be able to do in bawn's resolver.
 * tests/scenario/network puts it in the place of one that nobody uses.  It knows one
 * name: that leads to a server when everything was refused, does not exist when nothing
 * was, and else leads nowhere.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <nss.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVERYTHING = 6 };

/* True: a program could be started. */
static int starts_program(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		char name[] = "true";
		char *const argv[] = {name, NULL};
		char *const envp[] = {NULL};

		(void)execve("/usr/bin/true", argv, envp);
		_exit(1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int traces(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int writes_file(void)
{
	char path[] = "/var/tmp/bawn-nss-probe";
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return 0;
	(void)close(fd);
	(void)unlink(path);
	return 1;
}

/* A signal to a process of the same user: this one itself, by number. */
static int signals(void)
{
	return kill(getpid(), 0) == 0;
}

/* The same by its folder in /proc, which that call takes for a pidfd. */
static int signals_folder(void)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)getpid());
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int done = fd >= 0 && syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0;

	if (fd >= 0)
		(void)close(fd);
	return done;
}

/* And by way of a descriptor whose owner it is. */
static int owns(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	int done = fcntl(ends[0], F_SETOWN, getpid()) == 0;

	(void)close(ends[0]);
	(void)close(ends[1]);
	return done;
}

static int count_possible(void)
{
	return starts_program() + traces() + writes_file() + signals() + signals_folder() + owns();
}

/* The form that getaddrinfo asks for. */
enum nss_status _nss_hesiod_gethostbyname4_r(const char *name, struct gaih_addrtuple **pat,
					     char *buffer, size_t size, int *error, int *h_error,
					     int *ttl);

enum nss_status _nss_hesiod_gethostbyname4_r(const char *name, struct gaih_addrtuple **pat,
					     char *buffer, size_t size, int *error, int *h_error,
					     int *ttl)
{
	static const char probed[] = "probed.test";
	struct gaih_addrtuple one = {.family = AF_INET};

	int possible = strcmp(name, probed) == 0 ? count_possible() : EVERYTHING;

	if (possible == EVERYTHING) {
		*error = ENOENT;
		*h_error = HOST_NOT_FOUND;
		return NSS_STATUS_NOTFOUND;
	}
	if (size < sizeof(one) + sizeof(probed)) {
		*error = ERANGE;
		*h_error = NETDB_INTERNAL;
		return NSS_STATUS_TRYAGAIN;
	}
	one.name = memcpy(buffer + sizeof(one), probed, sizeof(probed));
	one.addr[0] = inet_addr(possible == 0 ? "198.51.100.10" : "203.0.113.99");
	if (*pat)
		**pat = one;
	else
		*pat = memcpy(buffer, &one, sizeof(one));
	if (ttl)
		*ttl = 0;
	return NSS_STATUS_SUCCESS;
}
