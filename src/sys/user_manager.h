/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's own systemd (systemd --user), where there is one: it can give a process a cgroup of its
 * own, a scope, that is delegated to the user.
 *
 * We say one thing to it, StartTransientUnit, at the socket that systemctl uses
 * ($XDG_RUNTIME_DIR/systemd/private).  It speaks D-Bus there, without a bus: after a line that says who
 * we are, a message is a head and a body.  We write the one message byte by byte, and of the answer we
 * read whether it is one, and the sentence of an error.
 */
#ifndef BAWN_USER_MANAGER_H
#define BAWN_USER_MANAGER_H

#include "buf.h"
#include "error.h"

#include <sys/types.h>

/* A connection to the manager of this user; its descriptor, or -errno.  runtime: $XDG_RUNTIME_DIR;
 * NULL or "": the usual place. */
int user_manager_open(const char *runtime);

/* The controllers of cgroups (cgroup.h) that the manager at the other end can hand down. */
unsigned int user_manager_controllers(int fd);

/* The message that asks for a scope of this name with one process in it. */
void user_manager_put(struct buf *into, const char *scope, pid_t pid);

/* Asks for it, and waits until the manager has taken the question.  0 or -errno. */
int user_manager_ask(int fd, const char *scope, pid_t pid, struct error *e);

/* Moves this process into a scope of its own, and waits until it stands there. */
int user_manager_enter(int fd, const char *session, struct error *e);

#endif
