/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extended attributes that an owner sets: access lists (system.posix_acl_access and _default)
 * and user.*, but for overlayfs's own.  As bytes, by name, so that two lists that say the same are
 * the same bytes; numbers little endian:
 *
 *	4	length of the name
 *	4	length of the value
 *	then	name, value
 *
 * The group's bits in the mode of what has an access list are the list's mask: whoever sets one
 * sets the mode afterwards, which then changes nothing.
 */
#ifndef BAWN_ATTRIBUTES_H
#define BAWN_ATTRIBUTES_H

#include "buf.h"

enum { ATTRIBUTES_MAX = 1 << 20 }; /* bytes of all of one thing */

/* Appends those of what is open for reading.  A filesystem without has none.  0 or -errno; -EMSGSIZE
 * where there are more than fit. */
int attributes_read(int fd, struct buf *into);

/* It gets these, and has no others.  Those that the filesystem, or the kernel, does not let us set
 * are left out.  0 or -errno; -EBADMSG: nobody wrote such a list. */
int attributes_set(int fd, struct span list);

#endif
