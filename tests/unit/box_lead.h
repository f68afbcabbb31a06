/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of what a launcher does: a child in namespaces of its own, as the keeper starts one,
 * which does the work and looks at it from inside.  It ends where a check fails, and says where.
 */
#ifndef BAWN_BOX_LEAD_H
#define BAWN_BOX_LEAD_H

#include "error.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BOX_SECONDS = 60 };

/* In the child: cmocka's own way out of a failure would run the parent's other tests there. */
#define CHECK(what)                                                                       \
	do {                                                                              \
		if (!(what)) {                                                            \
			(void)fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, \
				      __LINE__, #what, errno);                            \
			_exit(1);                                                         \
		}                                                                         \
	} while (0)

#define CHECK_NUMBER(left, right)                                                                  \
	do {                                                                                       \
		long long check_left = (left), check_right = (right);                              \
		if (check_left != check_right) {                                                   \
			(void)fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, \
				      #left, check_left, check_right);                             \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/*
 * Calls act as pid 1 of new namespaces (of users and processes, and those of flags) and waits for
 * its end.  mapped: it is the user who started the test; else nobody yet, as a launcher is.
 */
static inline void in_namespaces(int flags, bool mapped, void (*act)(void *context), void *context)
{
	struct process_ids ids = {getuid(), getuid(), getgid(), getgid()};
	pid_t pid = fork();
	int status = -1;

	assert_true(pid >= 0);
	if (pid == 0) {
		CHECK(unshare(CLONE_NEWUSER | CLONE_NEWPID | flags) == 0);
		CHECK(!mapped || process_map_ids(-1, &ids) == 0);
		/* What hangs ends; a first process of a namespace is not ended by its own alarm. */
		CHECK(process_die_with_parent() == 0);
		(void)alarm(BOX_SECONDS);
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			CHECK(process_die_with_parent() == 0);
			act(context);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* With mounts of its own. */
static inline void in_box(void (*act)(void *context), void *context)
{
	in_namespaces(CLONE_NEWNS | CLONE_NEWIPC, true, act, context);
}

#endif
