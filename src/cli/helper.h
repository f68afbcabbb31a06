/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other programs of bawn (bawn-keeper, bawn-box, bawn-probe), looked for in
 * one order: beside bawn itself (a build tree), in its prefix, and where this
 * build was configured to put them.  Never in PATH, which is the user's to shape.
 */
#ifndef BAWN_HELPER_H
#define BAWN_HELPER_H

#include "base.h"

/* Stands in front of the version in the file of each program (mark.c). */
#define HELPER_MARK "bawn-version="

/* The first place where an executable file of that name stands; 0, or -ENOENT. */
int helper_path(const char *name, char *ret_path, size_t size);

/* The version that the file at path carries; 0, -ENOMSG when it carries none, or -errno. */
int helper_version(const char *path, char *ret_version, size_t size);

/* Starts one, with nothing but a channel at 3: no streams, no signals blocked, and with
 * close_others no other descriptor. */
int helper_spawn(const char *path, char *const argv[], char *const envp[], int channel,
		 bool close_others, pid_t *ret_pid);

#endif
