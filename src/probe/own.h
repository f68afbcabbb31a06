/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of our own to try an action on: namespaces, a terminal, files of the fixture. */
#ifndef BAWN_OWN_H
#define BAWN_OWN_H

#include "probe.h"

#include <limits.h>

/* New user, mount, net, ipc and uts namespaces with all authority in them; loopback up. */
int own_namespaces(void);

/* A pseudo terminal, made this process's controlling terminal; 0 or -errno. */
int own_terminal(int *ret_master, int *ret_slave);

/* DIR/name, where DIR is the fact `key`; false when there is no such fact. */
bool own_path(const struct probe_run *run, const char *key, const char *name, char into[PATH_MAX]);

/* open() of the same; -1 and errno, ENOKEY when there is no such fact. */
int own_open_in(const struct probe_run *run, const char *key, const char *name, int flags);

/*
 * The control of rows about sockets: the same call is not refused outside.  text is the
 * protocol's name in /proc/net/protocols, or NULL for the netlink protocol args[2].  A protocol
 * that is not there is not tried, because that would make the kernel load a module.
 */
probe_fn own_control_socket;

/* The fact `key` as a number, or -1. */
long own_number(const struct probe_run *run, const char *key);

#endif
