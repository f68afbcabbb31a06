/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the other programs of bawn (bawn-keeper, bawn-box, bawn-probe), in this order: beside bawn
 * itself (a build tree), in its prefix, and where this build was configured to put them.  Never in
 * PATH, which the user shapes.
 */
#ifndef BAWN_HELPER_H
#define BAWN_HELPER_H

#include "base.h"

/* Comes before the version in the file of each program (mark.c). */
#define HELPER_MARK "bawn-version="

/* The first place that has an executable file of that name; 0, or -ENOENT. */
int helper_path(const char *name, char *ret_path, size_t size);

/* Bawn itself, for its other programs: beside them, in the bin of their prefix, or where this build
 * puts it.  0, or -ENOENT. */
int helper_bawn(char *ret_path, size_t size);

/* The version in the file at path; 0; -ENOMSG: it has none; or another -errno. */
int helper_version(const char *path, char *ret_version, size_t size);

/* Starts one, with only a channel at 3: no streams, no blocked signals, and with close_others no
 * other descriptor. */
int helper_spawn(const char *path, char *const argv[], char *const envp[], int channel,
		 bool close_others, pid_t *ret_pid);

#endif
