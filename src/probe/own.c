/* SPDX-License-Identifier: Apache-2.0 */
#include "own.h"

#include "fd.h"
#include "process.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

static int own_loopback_up(void)
{
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request;

	memset(&request, 0, sizeof(request));
	memcpy(request.ifr_name, "lo", sizeof("lo"));
	request.ifr_flags = IFF_UP;
	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}

int own_namespaces(void)
{
	const struct process_ids ids = {geteuid(), geteuid(), getegid(), getegid()};

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
		return -errno;
	int r = process_map_ids(-1, &ids);

	if (r == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		r = -errno;
	return r == 0 ? own_loopback_up() : r;
}

int own_terminal(int *ret_master, int *ret_slave)
{
	_cleanup_fd_ int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int unlocked = 0;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked) < 0)
		return -errno;
	_cleanup_fd_ int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (slave < 0)
		return -errno;
	(void)setsid();
	/* Closing the master sends SIGHUP to its session, and only we are in it. */
	(void)signal(SIGHUP, SIG_IGN);
	if (ioctl(slave, TIOCSCTTY, 0) < 0)
		return -errno;
	*ret_master = TAKE_FD(master);
	*ret_slave = TAKE_FD(slave);
	return 0;
}

bool own_path(const struct probe_run *run, const char *key, const char *name, char into[PATH_MAX])
{
	const char *dir = facts_get(run->facts, key);

	if (!dir)
		return false;
	int n = snprintf(into, PATH_MAX, "%s/%s", dir, name);

	return n > 0 && n < PATH_MAX;
}

int own_open_in(const struct probe_run *run, const char *key, const char *name, int flags)
{
	char path[PATH_MAX];

	if (!own_path(run, key, name, path)) {
		errno = ENOKEY;
		return -1;
	}
	return open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
}

/* Whether a line of a table in /proc/net has `word` as its field number `field`, from 0. */
static bool own_table_has(const char *path, int field, const char *word)
{
	_cleanup_buf_ struct buf table = BUF_INIT(1u << 20);
	size_t len = strlen(word);

	if (fd_read_file_at(AT_FDCWD, path, &table) < 0)
		return false;
	for (const char *line = buf_str(&table); line; line = strchr(line, '\n')) {
		const char *at = line + strspn(line, " \n");

		for (int i = 0; i < field; i++) {
			at += strcspn(at, " \n");
			at += strspn(at, " ");
		}
		if (strcspn(at, " \n") == len && memcmp(at, word, len) == 0)
			return true;
		line += strspn(line, "\n");
	}
	return false;
}

int own_control_socket(struct probe_run *run)
{
	const struct probe *p = run->probe;
	char protocol[24];
	bool there;

	(void)snprintf(protocol, sizeof(protocol), "%d", (int)p->args[2].number);
	if (p->text)
		there = own_table_has("/proc/net/protocols", 0, p->text);
	else
		there = own_table_has("/proc/net/netlink", 1, protocol);
	if (!there) {
		probe_note(run, "this kernel has it not, or not loaded");
		return PROBE_ABSENT;
	}
	int r = p->attempt(run);

	return probe_in_set(p->want, r) ? r : PROBE_DONE;
}

long own_number(const struct probe_run *run, const char *key)
{
	uint64_t value = 0;

	if (facts_u64(run->facts, key, &value) < 0 || value > LONG_MAX)
		return -1;
	return (long)value;
}
