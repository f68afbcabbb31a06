/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of what is served by a loop: it runs until nobody has anything to say. */
#ifndef BAWN_TEST_LOOP_LEAD_H
#define BAWN_TEST_LOOP_LEAD_H

#include "fd.h"
#include "loop.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOOP_TURNS = 8 };

static inline int lead_on_stop(void *context, uint32_t events)
{
	(void)events;
	loop_stop(context);
	return 0;
}

static inline void lead_run(struct loop *l)
{
	for (int i = 0; i < LOOP_TURNS; i++) {
		struct loop_handle handle;
		_cleanup_fd_ int stop = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);

		assert_true(stop >= 0);
		assert_int_equal(loop_add(l, stop, EPOLLIN, lead_on_stop, l, &handle), 0);
		l->stop = false;
		assert_int_equal(loop_run(l), 0);
		loop_remove(l, &handle);
	}
}

static inline struct sockaddr_un lead_address(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/tmp/bawn-%s-%d", name, (int)getpid());
	return a;
}

static inline int lead_listen(const char *name, int type)
{
	struct sockaddr_un a = lead_address(name);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)unlink(a.sun_path);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 128), 0);
	return fd;
}

static inline int lead_connect(const char *name, int type)
{
	struct sockaddr_un a = lead_address(name);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

#endif
