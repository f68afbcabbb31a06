/* SPDX-License-Identifier: Apache-2.0 */
#include "scrub.h"

void scrub_fini(struct scrub *s)
{
	if (s->kept.ptr)
		explicit_bzero(s->kept.ptr, s->kept.cap);
	buf_fini(&s->kept);
	*s = (struct scrub){.finder = s->finder, .found = s->found};
}

void scrub_whole(const struct finder *f, uint8_t *bytes, size_t len, bool *ret_changed)
{
	struct finder_hit hit;
	bool changed = false;

	for (size_t at = 0;
	     finder_next(f, (struct span){bytes, len}, at, true, &hit) == FINDER_FOUND;) {
		finder_mask(f, &hit, bytes, len);
		at = hit.at + hit.len;
		changed = true;
	}
	if (ret_changed)
		*ret_changed = changed;
}

/* Makes room for so many more bytes, and wipes the old buffer. */
static int reserve(struct scrub *s, size_t more)
{
	struct buf larger = BUF_INIT(FINDER_KEPT_MAX + SCRUB_PIECE_MAX + 64);

	if (s->kept.ptr && s->kept.cap - s->kept.len > more)
		return 0;
	/* It has its full size at once, so that it does not move again. */
	larger.ptr = malloc(s->kept.len + more + 1);
	if (!larger.ptr)
		return -ENOMEM;
	larger.cap = s->kept.len + more + 1;
	buf_put(&larger, s->kept.ptr, s->kept.len);
	if (s->kept.ptr)
		explicit_bzero(s->kept.ptr, s->kept.cap);
	buf_fini(&s->kept);
	s->kept = larger;
	return 0;
}

/* Wipes and drops what the last call gave out. */
static void forget(struct scrub *s)
{
	size_t left = s->kept.len - s->begin;

	if (s->begin > 0 && left > 0)
		memmove(s->kept.ptr, s->kept.ptr + s->begin, left);
	if (s->begin > 0)
		explicit_bzero(s->kept.ptr + left, s->begin);
	s->kept.len = left;
	s->begin = 0;
}

/* How much of a kept tail may go at once: all of a tail that is short enough, or nothing. */
static size_t let(const struct scrub *s, size_t tail)
{
	return tail <= SCRUB_LET && tail <= finder_known(s->finder) ? tail : 0;
}

/* Keeps what follows `at`; the first `sent` of it are out. */
static int keep(struct scrub *s, struct span in, size_t at)
{
	size_t tail = in.len - at;

	if (reserve(s, tail) < 0)
		return -ENOMEM;
	buf_put(&s->kept, in.ptr + at, tail);
	s->sent = let(s, tail);
	return buf_error(&s->kept);
}

/* With nothing kept and nothing found, the bytes go on as they came. */
static int feed_through(struct scrub *s, struct span in, bool end, bool *ret_through,
			struct span *ret_out)
{
	struct finder_hit hit;
	enum finder_outcome o = finder_next(s->finder, in, 0, end, &hit);

	*ret_through = o != FINDER_FOUND;
	if (o == FINDER_FOUND)
		return 0;
	*ret_out = in;
	if (o == FINDER_NOTHING)
		return 0;
	int r = keep(s, in, hit.at);

	ret_out->len = hit.at + s->sent;
	return r;
}

int scrub_feed(struct scrub *s, struct span in, bool end, struct span *ret_out)
{
	struct finder_hit hit = {0};
	enum finder_outcome o = FINDER_FOUND;
	bool through = false;

	if (in.len > SCRUB_PIECE_MAX)
		return -E2BIG;
	forget(s);
	if (s->kept.len == 0) {
		int r = feed_through(s, in, end, &through, ret_out);

		if (through || r < 0)
			return r;
	}
	if (reserve(s, in.len) < 0)
		return -ENOMEM;
	buf_put(&s->kept, in.ptr, in.len);
	size_t from = s->sent, at = 0;

	while (o == FINDER_FOUND) {
		o = finder_next(s->finder, buf_span(&s->kept), at, end, &hit);
		if (o != FINDER_FOUND)
			break;
		finder_mask(s->finder, &hit, (uint8_t *)s->kept.ptr, s->kept.len);
		s->found++;
		at = hit.at + hit.len;
	}
	/* What stays begins at hit.at; what is out of it already is counted. */
	size_t stays = o == FINDER_BEGUN ? hit.at : s->kept.len, tail = s->kept.len - stays;
	size_t out = stays + let(s, tail);

	if (out < from) /* all of it was out before */
		out = from;
	*ret_out = (struct span){(const uint8_t *)s->kept.ptr + from, out - from};
	s->begin = stays;
	s->sent = out - stays;
	return buf_error(&s->kept);
}

void scrub_blot(const struct finder *f, uint8_t *bytes, size_t len)
{
	struct finder_hit hit;
	size_t from = 0;

	while (finder_next(f, (struct span){bytes, len}, from, true, &hit) == FINDER_FOUND) {
		memset(bytes + hit.at, '*', hit.len);
		from = hit.at + hit.len;
	}
}
