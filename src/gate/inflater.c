/* SPDX-License-Identifier: Apache-2.0 */
#include "take_out.h"
#include "take_out_parts.h"

#include <zlib.h>

enum { PIECE = 32 << 10, GZIP_BITS = 15 + 16, ZLIB_BITS = 15, BARE_BITS = -15 };

struct inflater {
	z_stream z;
	enum inflater_kind kind;
	bool begun; /* some of the body has come */
	bool ended; /* at the end of a member */
	bool bare;  /* "deflate" without its wrapper, as some servers send it */
	uint64_t in, out;
	uint8_t piece[PIECE];
};

/* Each block has its size before it, for wiping. */
struct block {
	size_t size;
	max_align_t bytes[];
};

static void *block_new(void *context, unsigned int count, unsigned int size)
{
	size_t bytes = 0;

	(void)context;
	if (__builtin_mul_overflow((size_t)count, (size_t)size, &bytes))
		return NULL;
	struct block *b = calloc(1, sizeof(*b) + bytes);

	if (!b)
		return NULL;
	b->size = bytes;
	return b->bytes;
}

static void block_free(void *context, void *bytes)
{
	struct block *b = (void *)((uint8_t *)bytes - offsetof(struct block, bytes));

	(void)context;
	explicit_bzero(b->bytes, b->size);
	free(b);
}

struct inflater *inflater_new(enum inflater_kind kind)
{
	struct inflater *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->kind = kind;
	i->z.zalloc = block_new;
	i->z.zfree = block_free;
	if (inflateInit2(&i->z, kind == INFLATER_GZIP ? GZIP_BITS : ZLIB_BITS) != Z_OK) {
		free(i);
		return NULL;
	}
	return i;
}

void inflater_free(struct inflater *i)
{
	if (!i)
		return;
	(void)inflateEnd(&i->z);
	explicit_bzero(i, sizeof(*i));
	free(i);
}

void inflater_input(struct inflater *i, struct span in)
{
	/* zlib does not write to its input. */
	i->z.next_in = (z_const Bytef *)(uintptr_t)in.ptr;
	i->z.avail_in = (uInt)in.len;
	i->in += in.len;
	/* The first byte shows whether "deflate" has the zlib wrapper: method 8, a window size. */
	if (in.len > 0 && !i->begun && i->kind == INFLATER_DEFLATE &&
	    ((in.ptr[0] & 15) != 8 || in.ptr[0] >> 4 > 7))
		i->bare = inflateReset2(&i->z, BARE_BITS) == Z_OK;
	i->begun |= in.len > 0;
}

/* One call of zlib: how many bytes came out of it. */
static ssize_t inflate_once(struct inflater *i)
{
	if (i->ended) {
		/* Only gzip may have another member. */
		if (i->kind != INFLATER_GZIP || inflateReset(&i->z) != Z_OK)
			return -EPROTO;
		i->ended = false;
	}
	i->z.next_out = i->piece;
	i->z.avail_out = PIECE;
	int r = inflate(&i->z, Z_SYNC_FLUSH);

	i->out += PIECE - i->z.avail_out;
	i->ended = r == Z_STREAM_END;
	if (r == Z_MEM_ERROR)
		return -ENOMEM;
	if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
		return -EPROTO;
	if (i->out > TAKE_OUT_INFLATED && i->out / TAKE_OUT_RATIO > i->in)
		return -EMSGSIZE;
	return (ssize_t)(PIECE - i->z.avail_out);
}

int inflater_next(struct inflater *i, struct span *ret_piece)
{
	/* With room left over after the last call, zlib has nothing more without input. */
	while (i->z.avail_in > 0 || (i->begun && !i->ended && i->z.avail_out == 0)) {
		ssize_t len = inflate_once(i);

		if (len < 0)
			return (int)len;
		*ret_piece = (struct span){i->piece, (size_t)len};
		if (len > 0)
			return 1;
	}
	return 0;
}

bool inflater_is_whole(const struct inflater *i)
{
	return i->ended || !i->begun;
}
