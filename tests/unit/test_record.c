/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record is what was written, or verify says where it is not: whatever is cut, changed,
 * moved, doubled or written anew.
 */
#include "cmocka_lead.h"

#include "event.h"
#include "fd.h"
#include "seal.h"
#include "verify.h"
#include "writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct hash verification = {{1, 2, 3}};

/* A record of a session with so many events, in memory. */
static struct buf make_record(unsigned int events, bool ended)
{
	struct buf bytes = BUF_INIT(64 << 20);
	struct writer w;
	struct hash key;
	int fd = memfd_create("record", MFD_CLOEXEC);

	assert_true(fd >= 0);
	seal_session_key(&verification, 0, &key);
	writer_init(&w, fd, &key);
	struct buf *first = writer_begin(&w, "session");

	frame_put_bytes(first, "op", SPAN_LITERAL("begin"));
	frame_put_bytes(first, "name", SPAN_LITERAL("calm-otter"));
	frame_put_u64(first, "number", 0);
	assert_int_equal(writer_end(&w), 0);
	for (unsigned int i = 0; i < events; i++) {
		struct buf *event = writer_begin(&w, "network");

		frame_put_bytes(event, "host", SPAN_LITERAL("example.test"));
		frame_put_u64(event, "port", i);
		assert_int_equal(writer_end(&w), 0);
	}
	if (ended) {
		frame_put_bytes(writer_begin(&w, "session"), "op", SPAN_LITERAL("end"));
		assert_int_equal(writer_end(&w), 0);
	}
	assert_int_equal(writer_commit(&w), 0);
	assert_int_equal(w.durable, w.seq);
	writer_fini(&w);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(fd, &bytes), 0);
	(void)close(fd);
	return bytes;
}

static struct verify_result check(struct span bytes, bool with_key)
{
	struct verify_result r;
	struct hash key;

	seal_session_key(&verification, 0, &key);
	verify_frames(bytes, with_key ? &key : NULL, &r);
	return r;
}

static void test_whole(void **state)
{
	(void)state;
	for (unsigned int events = 0; events < 300; events += 37) {
		_cleanup_buf_ struct buf whole = make_record(events, true);
		_cleanup_buf_ struct buf open = make_record(events, false);

		assert_int_equal(check(buf_span(&whole), true).state, VERIFY_WHOLE);
		assert_int_equal(check(buf_span(&whole), false).state, VERIFY_WHOLE);
		assert_int_equal(check(buf_span(&open), true).state, VERIFY_INTERRUPTED);
	}
}

/* Cut at every byte: never whole, never broken by what stands before the cut. */
static void test_cut(void **state)
{
	_cleanup_buf_ struct buf b = make_record(8, true);

	(void)state;
	for (size_t len = 0; len < b.len; len++) {
		struct verify_result r = check((struct span){(uint8_t *)b.ptr, len}, true);

		assert_int_equal(r.state, VERIFY_INTERRUPTED);
		assert_true(r.events <= 10);
	}
}

/* Any bit of any byte. */
static void test_changed(void **state)
{
	_cleanup_buf_ struct buf b = make_record(3, true);

	(void)state;
	for (size_t at = 0; at < b.len; at++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			b.ptr[at] = (char)(b.ptr[at] ^ (1 << bit));
			assert_int_not_equal(check(buf_span(&b), true).state, VERIFY_WHOLE);
			b.ptr[at] = (char)(b.ptr[at] ^ (1 << bit));
		}
	assert_int_equal(check(buf_span(&b), true).state, VERIFY_WHOLE);
}

struct lines {
	struct span at[512];
	size_t count;
};

static struct lines lines_of(const struct buf *b)
{
	struct lines l = {.count = 0};
	size_t at = 0;
	struct frame f;

	while (frame_read((struct span){(uint8_t *)b->ptr + at, b->len - at}, &f) == FEED_DONE) {
		l.at[l.count++] = (struct span){(uint8_t *)b->ptr + at, f.len};
		at += f.len;
	}
	return l;
}

static void test_removed_doubled_and_swapped(void **state)
{
	_cleanup_buf_ struct buf b = make_record(20, true);
	const struct lines l = lines_of(&b);

	(void)state;
	assert_int_equal(l.count, 23);
	for (size_t i = 0; i < l.count; i++)
		for (int how = 0; how < 3; how++) {
			_cleanup_buf_ struct buf other = BUF_INIT(1 << 20);

			for (size_t n = 0; n < l.count; n++) {
				size_t from = how == 2 && n == i ? (i + 1) % l.count
					      : how == 2 && n == (i + 1) % l.count ? i
										   : n;

				if (how == 0 && n == i)
					continue;
				buf_put(&other, l.at[from].ptr, l.at[from].len);
				if (how == 1 && n == i)
					buf_put(&other, l.at[n].ptr, l.at[n].len);
			}
			struct verify_result r = check(buf_span(&other), false);

			/* Without its last seal it is merely interrupted. */
			if (how == 0 && i == l.count - 1)
				assert_int_equal(r.state, VERIFY_INTERRUPTED);
			else
				assert_int_equal(r.state, VERIFY_BROKEN);
		}
}

/* Written anew with another key: only who has the verification key can tell, and does. */
static void test_forged(void **state)
{
	_cleanup_buf_ struct buf b = make_record(5, true);
	struct hash other;
	struct verify_result r;

	(void)state;
	seal_session_key(&verification, 1, &other);
	verify_frames(buf_span(&b), &other, &r);
	assert_int_equal(r.state, VERIFY_BROKEN);
	assert_string_equal(r.why, "the seal was not made with the session's key");
	assert_int_equal(check(buf_span(&b), false).state, VERIFY_WHOLE);
}

static void test_keys_go_forward(void **state)
{
	struct hash user = verification, taken, again;

	(void)state;
	for (uint64_t n = 0; n < 5; n++) {
		seal_take_session(&user, &taken);
		seal_session_key(&verification, n, &again);
		assert_true(hash_equal(&taken, &again));
	}
	assert_false(hash_equal(&user, &verification));
}

/* Anything comes back as it was, in one frame. */
static void test_bytes(void **state)
{
	static const struct {
		struct span bytes;
		const char *json;
	} rows[] = {
		{SPAN_LITERAL("plain"), ",\"x\":\"plain\""},
		{SPAN_LITERAL("a\nb"), ",\"x\":\"a\\u000ab\""},
		{SPAN_LITERAL("\x1b[31m"), ",\"x\":\"\\u001b[31m\""},
		{SPAN_LITERAL("\xe2\x80\xae"), ",\"x\":\"\\u202e\""},
		{SPAN_LITERAL("\"}\\"), ",\"x\":\"\\\"}\\\\\""},
		{SPAN_LITERAL("\xff\xfe"), ",\"x\":{\"b64\":\"//4=\"}"},
		{SPAN_LITERAL("\\xff"), ",\"x\":\"\\\\xff\""},
		{SPAN_LITERAL("\0"), ",\"x\":\"\\u0000\""},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(1024);

		frame_put_bytes(&b, "x", rows[i].bytes);
		assert_string_equal(buf_str(&b), rows[i].json);
	}
}

/* A note of another process: each field by its name, a list whole. */
static void test_note(void **state)
{
	static const char *const words[] = {"first", "second", "third"};
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
	struct hash key = {{0}};
	struct writer w;
	struct note n;
	int fd = memfd_create("record", MFD_CLOEXEC);

	(void)state;
	for (size_t count = 1; count <= BAWN_ARRAY_SIZE(words); count++) {
		note_begin(&n, NOTE_PROCESS, "exec");
		for (size_t i = 0; i < count; i++)
			note_text(&n, NOTE_FIELD_ARGV, span_of_str(words[i]));
		if (count == 1)
			writer_init(&w, fd, &key);
		assert_int_equal(event_write(&w, &n.m), 0);
	}
	assert_int_equal(writer_commit(&w), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(fd, &text), 0);
	assert_non_null(strstr(buf_str(&text), "\"argv\":[\"first\"]"));
	assert_non_null(strstr(buf_str(&text), "\"argv\":[\"first\",\"second\"]"));
	assert_non_null(strstr(buf_str(&text), "\"argv\":[\"first\",\"second\",\"third\"]"));
	writer_fini(&w);
	(void)close(fd);
}

static void test_too_large(void **state)
{
	static uint8_t large[FRAME_EVENT_MAX];
	struct writer w;
	struct hash key = {{0}};
	int fd = memfd_create("record", MFD_CLOEXEC);

	(void)state;
	memset(large, 'x', sizeof(large));
	writer_init(&w, fd, &key);
	frame_put_bytes(writer_begin(&w, "session"), "a", (struct span){large, sizeof(large)});
	assert_int_equal(writer_end(&w), -EMSGSIZE);
	assert_int_equal(w.seq, 0);
	/* It is left out, and the next is the first. */
	(void)writer_begin(&w, "session");
	assert_int_equal(writer_end(&w), 0);
	assert_int_equal(writer_commit(&w), 0);
	assert_int_equal(w.seq, 2);
	writer_fini(&w);
	(void)close(fd);
}

/* A disk that is full, or gone: nothing is acknowledged from there on. */
static void test_no_space(void **state)
{
	struct writer w;
	struct hash key = {{0}};
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	writer_init(&w, fd, &key);
	(void)writer_begin(&w, "session");
	assert_int_equal(writer_end(&w), 0);
	assert_int_equal(writer_commit(&w), -ENOSPC);
	assert_int_equal(w.durable, 0);
	(void)writer_begin(&w, "network");
	assert_int_equal(writer_end(&w), -ENOSPC);
	assert_int_equal(writer_commit(&w), -ENOSPC);
	writer_fini(&w);
	(void)close(fd);
}

/* RFC 9162, 2.1.3.2. */
static bool merkle_includes(const struct hash *root, uint64_t count, uint64_t index,
			    const struct hash *leaf, const struct hash *proof, size_t proof_len)
{
	uint64_t last = count - 1;
	struct hash h = *leaf;

	if (index >= count)
		return false;
	for (size_t i = 0; i < proof_len; i++) {
		if (last == 0)
			return false;
		if ((index & 1) || index == last) {
			hash_node(&proof[i], &h, &h);
			while (!(index & 1) && index != 0) {
				index >>= 1;
				last >>= 1;
			}
		} else {
			hash_node(&h, &proof[i], &h);
		}
		index >>= 1;
		last >>= 1;
	}
	return last == 0 && hash_equal(&h, root);
}

static void test_merkle(void **state)
{
	enum { LEAVES = 70 };
	struct hash leaves[LEAVES], proof[MERKLE_PROOF_MAX], root;

	(void)state;
	for (size_t i = 0; i < LEAVES; i++)
		hash_leaf((struct span){(const uint8_t *)&i, sizeof(i)}, &leaves[i]);
	for (uint64_t count = 1; count <= LEAVES; count++) {
		merkle_root_of(leaves, count, &root);
		for (uint64_t i = 0; i < count; i++) {
			size_t len = merkle_inclusion(leaves, count, i, proof);

			assert_true(merkle_includes(&root, count, i, &leaves[i], proof, len));
			/* At its own place, and at no other, there or not. */
			for (uint64_t at = 0; at < 2 * count + 2; at++)
				assert_int_equal(
					merkle_includes(&root, count, at, &leaves[i], proof, len),
					at == i);
			assert_false(merkle_includes(&root, count, i, &leaves[(i + 1) % LEAVES],
						     proof, len));
			if (len > 0) {
				proof[len / 2].bytes[0] ^= 1;
				assert_false(
					merkle_includes(&root, count, i, &leaves[i], proof, len));
			}
		}
	}
}

/* The two roots that RFC 6962's own tests have: of nothing, and of one empty leaf. */
static void test_merkle_vectors(void **state)
{
	struct merkle m = {.size = 0};
	struct hash h, leaf;
	char hex[HASH_HEX + 1] = "";

	(void)state;
	merkle_root(&m, &h);
	hash_format(&h, hex);
	assert_string_equal(hex,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	hash_leaf((struct span){NULL, 0}, &leaf);
	merkle_add(&m, &leaf);
	merkle_root(&m, &h);
	hash_format(&h, hex);
	assert_string_equal(hex,
			    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_removed_doubled_and_swapped),
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_keys_go_forward),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_note),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_no_space),
		cmocka_unit_test(test_merkle),
		cmocka_unit_test(test_merkle_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
