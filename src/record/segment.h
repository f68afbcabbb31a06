/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment of a record: one file of frames, plain (000001.log) or compressed with zstd
 * (000001.log.zst), as bytes in memory.  A plain one is mapped, and can be mapped again when
 * it grew; a compressed one is one zstd frame that states its size, and is unpacked whole.
 */
#ifndef BAWN_SEGMENT_H
#define BAWN_SEGMENT_H

#include "error.h"
#include "span.h"

enum {
	SEGMENT_MAX = 256 << 20, /* bytes of frames; the recorder begins a new one long before */
	SEGMENT_NAME_SIZE = 24,
};

struct segment {
	struct span bytes; /* of frames */
	int fd;            /* of a plain one; -1 of a compressed one, or none */
	bool packed;
};

#define SEGMENT_INIT ((struct segment){.fd = -1})

void segment_close(struct segment *s);
#define _cleanup_segment_ _cleanup_(segment_close)

/* "000001.log", or "000001.log.zst". */
void segment_name(char ret[SEGMENT_NAME_SIZE], uint32_t number, bool packed);

/* -ENOENT when there is neither form of it; the plain one is taken where both are. */
int segment_open(int folder, uint32_t number, struct segment *ret, struct error *e);

/* Looks at a plain one again: 1 when it has grown, 0, or -errno.  Spans into it are void. */
int segment_grow(struct segment *s);

/* Unpacks one zstd frame into new pages (munmap); strict. -EBADMSG when it is none. */
int segment_unpack(struct span packed, struct span *ret, struct error *e);

#endif
