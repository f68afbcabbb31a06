/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included in front of every file by the build.  Each name here has a
 * replacement that cannot overrun, follow a link unseen or leak a descriptor;
 * using one is a compile error, not a review comment.
 */
#ifndef BAWN_BANNED_H
#define BAWN_BANNED_H

/* The headers that declare them come first, or poisoning would break libc's own lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* With clang, _FORTIFY_SOURCE makes macros of these. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat strncpy strncat stpcpy sprintf vsprintf gets
#pragma GCC poison atoi atol atoll atof strtok
#pragma GCC poison system popen mktemp tmpnam tempnam
#pragma GCC poison accept dup

#endif
