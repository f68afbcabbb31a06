/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extended attributes that an owner sets: access lists (system.posix_acl_access and
 * _default) and user.*, without overlayfs's own.  As bytes, sorted by name, so that two equal
 * lists have the same bytes; numbers little endian:
 *
 *	4	length of the name
 *	4	length of the value
 *	then	name, value
 *
 * In the mode of a file with an access list, the group's bits are the list's mask.  So a caller
 * that sets a list sets the mode afterwards.
 */
#ifndef BAWN_ATTRIBUTES_H
#define BAWN_ATTRIBUTES_H

#include "buf.h"

enum { ATTRIBUTES_MAX = 1 << 20 }; /* bytes of all of one thing */

/* Appends the attributes of an open file.  A filesystem without attributes has none.  0 or -errno;
 * -EMSGSIZE: there are more than fit. */
int attributes_read(int fd, struct buf *into);

/* Sets these attributes and removes all others.  Leaves out those that the filesystem or the kernel
 * does not let us set.  0 or -errno; -EBADMSG: the list is malformed. */
int attributes_set(int fd, struct span list);

#endif
