/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forgers without a plan: records that are changed in many small ways, by whom the ledger's entry
 * and the verification key are not to be had.  None makes verify crash, and none that differs from
 * what was written is called valid.
 *
 *	mutate [COUNT [SEED]]
 *
 * Of the changes some are blind (bits, bytes, cuts, pieces moved), others know the format: they
 * change events and make lengths and hashes, or the whole chain with its seals' roots, fit again.
 */
#include "fd.h"
#include "seal.h"
#include "verify.h"
#include "writer.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MUTATE_MAX = 64 << 10, MUTATE_EVENTS = 12 };

struct mutate {
	uint64_t dice;
	struct hash key;
	struct buf original;
	struct verify_result truth;
	uint64_t states[3], caught_late; /* caught by ledger or key alone */
};

static uint64_t mutate_dice(struct mutate *m, uint64_t sides)
{
	/* xorshift64*: the same again for a seed. */
	m->dice ^= m->dice >> 12;
	m->dice ^= m->dice << 25;
	m->dice ^= m->dice >> 27;
	return (m->dice * 0x2545f4914f6cdd1dull >> 16) % sides;
}

static int mutate_write(struct mutate *m)
{
	int fd = memfd_create("record", MFD_CLOEXEC);
	struct hash key = m->key;
	struct writer w;
	int r = 0;

	writer_init(&w, fd, &key);
	for (unsigned int i = 0; r == 0 && i < MUTATE_EVENTS; i++) {
		bool edge = i == 0 || i == MUTATE_EVENTS - 1;
		struct buf *event = writer_begin(&w, edge ? "session" : "file");

		frame_put_bytes(event, "op",
				span_of_str(i == 0 ? "begin"
					    : edge ? "end"
						   : "write"));
		frame_put_u64(event, "number", 0);
		frame_put_bytes(event, "path", SPAN_LITERAL("/home/someone/project/file"));
		r = writer_end(&w);
		if (r == 0 && i % 4 == 3)
			r = writer_commit(&w);
	}
	if (r == 0)
		r = writer_commit(&w);
	writer_fini(&w);
	if (r == 0 && lseek(fd, 0, SEEK_SET) == 0)
		r = fd_read_all(fd, &m->original);
	(void)close(fd);
	return r;
}

/* --- blind ---------------------------------------------------------------------------- */

static void mutate_bytes(struct mutate *m, struct buf *b)
{
	for (uint64_t n = 1 + mutate_dice(m, 4); n > 0 && b->len > 0; n--) {
		size_t at = mutate_dice(m, b->len);

		if (mutate_dice(m, 2))
			b->ptr[at] = (char)(b->ptr[at] ^ (1 << mutate_dice(m, 8)));
		else
			b->ptr[at] = (char)mutate_dice(m, 256);
	}
}

static void mutate_cut(struct mutate *m, struct buf *b)
{
	b->len = mutate_dice(m, b->len + 1);
}

/* A piece is taken out, or put in once more elsewhere. */
static void mutate_piece(struct mutate *m, struct buf *b)
{
	_cleanup_buf_ struct buf old = BUF_INIT(MUTATE_MAX);
	size_t from = mutate_dice(m, b->len), len = 1 + mutate_dice(m, b->len - from);
	bool drop = mutate_dice(m, 2);
	size_t to = drop ? from : mutate_dice(m, b->len);

	buf_put(&old, b->ptr, b->len);
	buf_clear(b);
	buf_put(b, old.ptr, to);
	if (!drop)
		buf_put(b, old.ptr + from, len);
	buf_put(b, old.ptr + to + (drop ? len : 0), old.len - to - (drop ? len : 0));
}

/* --- by who knows the format ---------------------------------------------------------- */

struct mutate_lines {
	struct span at[64];
	size_t count;
};

static struct mutate_lines mutate_lines(const struct buf *b)
{
	struct mutate_lines l = {.count = 0};
	struct span rest = buf_span(b);
	struct frame f;

	while (l.count < BAWN_ARRAY_SIZE(l.at) && frame_read(rest, &f) == FEED_DONE) {
		l.at[l.count++] = f.event;
		rest = span_skip(rest, f.len);
	}
	return l;
}

/* Frames taken out, doubled or swapped. */
static void mutate_frames(struct mutate *m, struct buf *b)
{
	_cleanup_buf_ struct buf old = BUF_INIT(MUTATE_MAX);

	buf_put(&old, b->ptr, b->len);
	const struct mutate_lines l = mutate_lines(&old);
	uint64_t how = mutate_dice(m, 3), x = mutate_dice(m, l.count), y = mutate_dice(m, l.count);
	struct hash h;

	buf_clear(b);
	for (size_t i = 0; i < l.count; i++) {
		size_t from = how == 2 && i == x ? y : how == 2 && i == y ? x : i;

		if (how == 0 && i == x)
			continue;
		frame_put(b, l.at[from], &h);
		if (how == 1 && i == x)
			frame_put(b, l.at[y], &h);
	}
}

/* `"name":"` and 64 digits: put in place. */
static void mutate_set_hash(struct buf *event, const char *name, const struct hash *h)
{
	char *at = memmem(event->ptr, event->len, name, strlen(name));

	if (at && (size_t)(event->ptr + event->len - at) >= strlen(name) + HASH_HEX)
		hash_format(h, at + strlen(name));
}

/* Some letters of some events, and everything after them made to fit; macs cannot be. */
static void mutate_anew(struct mutate *m, struct buf *b)
{
	_cleanup_buf_ struct buf old = BUF_INIT(MUTATE_MAX);
	struct merkle tree = {.size = 0};
	struct hash prev = {{0}}, root;

	buf_put(&old, b->ptr, b->len);
	const struct mutate_lines l = mutate_lines(&old);
	uint64_t which = mutate_dice(m, l.count);

	buf_clear(b);
	for (size_t i = 0; i < l.count; i++) {
		_cleanup_buf_ struct buf event = BUF_INIT(FRAME_EVENT_MAX);

		buf_put(&event, l.at[i].ptr, l.at[i].len);
		if (i == which) {
			size_t at = mutate_dice(m, event.len);

			event.ptr[at] = (char)('0' + mutate_dice(m, 75));
		}
		mutate_set_hash(&event, "\"prev\":\"", &prev);
		merkle_root(&tree, &root);
		mutate_set_hash(&event, "\"root\":\"", &root);
		frame_put(b, buf_span(&event), &prev);
		merkle_add(&tree, &prev);
	}
}

/* --- the run -------------------------------------------------------------------------- */

static void (*const mutate_ways[])(struct mutate *m, struct buf *b) = {
	mutate_bytes, mutate_cut, mutate_piece, mutate_frames, mutate_anew,
};

/* False: a forgery was accepted. */
static bool mutate_judge(struct mutate *m, const struct buf *b)
{
	bool same = span_equal(buf_span(b), buf_span(&m->original));
	struct verify_result plain, sealed;

	verify_frames(buf_span(b), NULL, &plain);
	verify_frames(buf_span(b), &m->key, &sealed);
	m->states[plain.state]++;
	/* As the ledger has its end. */
	bool agrees = plain.state == VERIFY_WHOLE && plain.events == m->truth.events &&
		      hash_equal(&plain.head, &m->truth.head) &&
		      hash_equal(&plain.root, &m->truth.root);

	m->caught_late += plain.state == VERIFY_WHOLE && !same;
	return same ? agrees && sealed.state == VERIFY_WHOLE
		    : !agrees && sealed.state != VERIFY_WHOLE;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	struct mutate m = {.dice = argc > 2 ? strtoul(argv[2], NULL, 10) * 2 + 1
					    : 88172645463325253u,
			   .key = {{9, 8, 7}},
			   .original = BUF_INIT(MUTATE_MAX)};

	if (mutate_write(&m) < 0)
		return 99;
	verify_frames(buf_span(&m.original), &m.key, &m.truth);
	if (m.truth.state != VERIFY_WHOLE)
		return 99;
	for (unsigned long i = 0; i < count; i++) {
		_cleanup_buf_ struct buf b = BUF_INIT((size_t)4 * MUTATE_MAX);

		buf_put(&b, m.original.ptr, m.original.len);
		for (uint64_t n = 1 + mutate_dice(&m, 2); n > 0 && b.len > 0; n--) {
			size_t way = mutate_dice(&m, BAWN_ARRAY_SIZE(mutate_ways));

			/* The last three need whole frames to begin with. */
			if (way < 3 || mutate_lines(&b).count > 0)
				mutate_ways[way](&m, &b);
		}
		if (buf_error(&b) || !mutate_judge(&m, &b)) {
			(void)printf("record %lu: a forgery was taken for the original\n", i);
			(void)fwrite(b.ptr, 1, b.len, stderr);
			return 1;
		}
	}
	(void)printf(
		"%lu records: %llu broken, %llu interrupted, %llu whole in themselves; of these "
		"%llu were other than the original, and named by ledger and key\n",
		count, (unsigned long long)m.states[VERIFY_BROKEN],
		(unsigned long long)m.states[VERIFY_INTERRUPTED],
		(unsigned long long)m.states[VERIFY_WHOLE], (unsigned long long)m.caught_late);
	buf_fini(&m.original);
	/* A run in which no forgery got as far as the seals has shown nothing about them. */
	return m.caught_late > 0 ? 0 : 98;
}
