/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does connect() for the caller.
 *
 * A unix server answers through any view of its socket's file: a read-only mount does not stop
 * that, nor does the network namespace, nor Landlock of the kernels we know.  So the recorder,
 * which is asked about every connect, decides.  If the call went on, the kernel would read the
 * address again from memory that others may change; so it does not go on.  The recorder takes the
 * caller's descriptor (pidfd_getfd), finds the file in the box's root, and connects to that very
 * file, if it is the box's: it is where only the box can make one (its tmpfs, its layers), or a
 * socket of the box's network namespace is bound to it (sys/unix_bound.h).  All others answer
 * ECONNREFUSED, whatever their names are and whenever they were bound.
 *
 * A name that is no path (abstract) belongs to the network namespace.  If the box has none of its
 * own, and for a process that has confined itself with Landlock, it answers EPERM: the caller's
 * Landlock should decide, and it does not bind us.
 *
 * A server in the box asks for the process id of its client and gets 0, because it cannot see our
 * process; the user is the same.
 *
 * We connect sockets of other families as well: if their call went on, a program with two threads
 * could exchange the descriptor for that of a unix socket at just that moment.  A caller that waits
 * for an answer from the network waits alone.  Landlock may say to which ports a process may
 * connect, and that does not bind us either: once a process in the box has made such rules, a
 * confined process cannot connect by TCP.
 *
 * Messages that name a path themselves (sendto, sendmsg of datagrams) need no connect: see
 * watch_on_datagram.
 */
#ifndef BAWN_WATCH_CONNECT_H
#define BAWN_WATCH_CONNECT_H

#include "loop.h"
#include "notify.h"
#include "plan.h"
#include "watch_call.h"
#include "watch_root.h"

#include <sys/un.h>

enum {
	WATCH_CONNECTING_MAX = 1024, /* callers that wait for a server at once */
	WATCH_CONNECT_OWN_MAX = 32,
};

/* A caller that waits: the server's queue is full, or it is far away. */
struct watch_connecting {
	struct watch_connects *all;
	uint64_t call; /* the id of the notification; 0: this place is free */
	pid_t thread;
	int socket, file; /* file: of a path; -1 */
	int domain;
	union {
		struct sockaddr_storage any;
		struct sockaddr_un un;
	} to;
	socklen_t len;
	int64_t until;             /* clock_ms; 0: without an end */
	struct loop_handle handle; /* of the socket, when the loop tells us about it */
};

struct watch_connects {
	struct loop *loop;
	const struct plan *plan;
	struct watch_root *root;
	int listener; /* for notifications */
	int bound;    /* sys/unix_bound.h; -1: none */
	int timer;
	struct loop_handle handle;
	bool looked;
	uint64_t own[WATCH_CONNECT_OWN_MAX]; /* mounts that only the box fills */
	size_t own_count;
	struct watch_connecting waiting[WATCH_CONNECTING_MAX];
	size_t waiting_count; /* places that were ever used */
};

/* What a connect was, for an event. */
struct watch_connected {
	bool inet; /* address and port are known */
	uint8_t address[WATCH_ADDRESS];
	uint16_t port;
	char path[WATCH_CALL_PATH]; /* "": to no path; else the file's own name */
	bool refused;
	bool missing; /* nothing is there */
};

/* Call it on zeroed memory: most of its pages are never touched. */
int watch_connects_init(struct watch_connects *c, struct loop *loop, const struct plan *plan,
			struct watch_root *root);
void watch_connects_fini(struct watch_connects *c);

/* Answers the call, now or later.  0 or -errno. */
int watch_connects_take(struct watch_connects *c, const struct watch_processes *all,
			const struct profile_watched *what, const struct notify_call *call,
			const struct watch_process *p, struct watch_connected *ret);

/* The port that the TCP socket of a call is bound to; 0: none, or it is no such socket. */
uint16_t watch_connects_port(const struct watch_process *p, const struct notify_call *call);

#endif
