/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child of the recorder that waits for the disk in its place.  It gets descriptors and syncs them
 * in their order; it answers when that is done, with what went wrong.  One request at a time.  It
 * keeps the last descriptor that came alone: the recorder asks for the same file again and again,
 * and a descriptor cannot be sent while boxes of this user have too many on their way.
 */
#ifndef BAWN_SYNCER_H
#define BAWN_SYNCER_H

#include "base.h"

#include <sys/types.h>

struct syncer {
	int fd; /* our end; -1: there is none */
	pid_t pid;
	bool busy;
	dev_t dev; /* the file that it keeps; */
	ino_t ino; /* 0: none */
};

#define SYNCER_INIT ((struct syncer){.fd = -1})

/* Forks.  Call it before the recorder confines itself, and before it reads a byte from the box. */
int syncer_start(struct syncer *s);
void syncer_end(struct syncer *s);

/* Begins a sync; -EBUSY while one is running. */
int syncer_ask(struct syncer *s, const int *files, size_t count);

/* Call it when fd is readable: *ret_result is what fdatasync said, 0 or -errno. */
int syncer_answer(struct syncer *s, int *ret_result);

#endif
