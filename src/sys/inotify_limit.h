/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel lets a user have a number of inotify instances, 128 where nobody raised it.  A session that hides
 * or protects files takes two of them (src/recorder/covers.h), others none.  Here because those who hit the
 * limit (bawn-recorder) and those who tell of it before (`bawn doctor`) say the same words.
 */
#ifndef BAWN_INOTIFY_LIMIT_H
#define BAWN_INOTIFY_LIMIT_H

#define INOTIFY_LIMIT_PATH "/proc/sys/fs/inotify/max_user_instances"

#define INOTIFY_LIMIT_NEXT                                                        \
	"To have room for 1,000 such sessions and more, now and at every boot:\n" \
	"  echo fs.inotify.max_user_instances=4096 | sudo tee "                   \
	"/etc/sysctl.d/50-bawn-sessions.conf "                                    \
	"&& sudo sysctl --system"

enum { INOTIFY_LIMIT_EACH = 2, INOTIFY_LIMIT_MANY = 1000 };

#endif
