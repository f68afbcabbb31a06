/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the box sees of an answer does not depend on the value of a secret: two values of the
 * same shape and the same answers give the same bytes in the same pieces, at every layer, as
 * long as neither value is there as a whole.  The answers are made of what somebody would send
 * who guesses: beginnings of either value in every spelling, near misses, cut anywhere.
 *
 * As a control the same answers go past a finder that is told the values are known to everybody:
 * there the pieces differ.
 */
#include "cmocka_lead.h"

#include "../lib/side_owner.h"
#include "../lib/spell.h"
#include "message_keys.h"
#include "scrub.h"
#include "take_out.h"
#include "websocket.h"

#include <zlib.h>

enum { ROUNDS = 400, SECRETS = 4, PIECES_MAX = 24 };

static uint64_t seed;

static size_t pick(size_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed % below);
}

/* A key that is known by its beginning, one of which nothing is known, one with odd letters, one
 * with letters that begin escapes. */
static const char *const placeholders[SECRETS] = {
	"ghp_Pl4c3h0ld3rPl4c3h0ld3rPl4c3h0ld3r000",
	"Qq7Pl4c3h0ld3rPl4c3h0ld3r0123456",
	"p{P}l4c3,h0ld3r",
	"Pl4c3h0ld3r%l4c3==",
};
static const char *const values[2][SECRETS] = {
	{"ghp_Zk3Vq8Xw1Bn6Mt5Rj2Ld9Hc4Gs7Fy0PpAbCd", "mZk3Vq8Xw1Bn6Mt5Rj2Ld9Hc4Gs7Fy0P",
	 "a\"Zk3[Vq8],Xw1B", "q\\Zk3+Vq8/Xw1B6M=="},
	{"ghp_9Yt2Wm7Ks4Qd8Nf1Bv5Xc3Lz6Hj0Rg2TeUiO", "T9Yt2Wm7Ks4Qd8Nf1Bv5Xc3Lz6Hj0Rg2",
	 "b<9Yt{2Wm7}Ks4Q", "r/9Yt%2Wm&Ks4\\Qd&="},
};

/* ---- answers ---- */

struct script {
	struct buf text;
	size_t count, ends[PIECES_MAX]; /* of its pieces; the last is that of the text */
};

/* Of one of the two values: its beginning, or a part of it, some of it wrong. */
static void put_guess(struct buf *into, size_t secret)
{
	const char *value = values[pick(2)][secret];
	uint8_t guess[64];
	size_t len = 1 + pick(strlen(value) - 1), from = pick(4) == 0 ? pick(len) : 0;

	memcpy(guess, value + from, len - from);
	if (pick(4) == 0)
		guess[pick(len - from)] ^= 1;
	const struct spelling *one = &spellings_all[pick(BAWN_ARRAY_SIZE(spellings_all))];
	const struct spelling *two = &spellings_all[pick(BAWN_ARRAY_SIZE(spellings_all))];

	if (pick(3) > 0) {
		one->write(into, (struct span){guess, len - from});
		return;
	}
	/* One spelling within another. */
	_cleanup_buf_ struct buf inner = BUF_INIT(1 << 12);

	one->write(&inner, (struct span){guess, len - from});
	two->write(into, buf_span(&inner));
}

static void put_other(struct buf *into)
{
	static const char *const others[] = {
		" ",  "\n\n", "}\n", "\",\"",    "data: ", ".",    "\r\n", "\\", "%",
		"&#", "=",    "0a:", "hello wo", "\\u0",   "ghp_", "ghp",  "{",  "cafe "};

	buf_put_str(into, others[pick(BAWN_ARRAY_SIZE(others))]);
}

static void script_make(struct script *s, size_t secret)
{
	buf_clear(&s->text);
	for (size_t i = 0, n = 1 + pick(6); i < n; i++) {
		size_t before = s->text.len;

		if (pick(3) == 0)
			put_other(&s->text);
		put_guess(&s->text, secret);
		/* An end of base64 or of an escape is not where the guess ends. */
		if (pick(3) == 0)
			s->text.len -= pick(s->text.len - before < 4 ? s->text.len - before : 4);
	}
	assert_int_equal(buf_error(&s->text), 0);
	s->count = 0;
	for (size_t at = 0; s->count + 1 < PIECES_MAX && at < s->text.len;) {
		at += 1 + pick(pick(3) == 0 ? 4 : s->text.len);
		if (at < s->text.len)
			s->ends[s->count++] = at;
	}
	s->ends[s->count++] = s->text.len;
}

static struct span script_piece(const struct script *s, size_t i)
{
	size_t from = i > 0 ? s->ends[i - 1] : 0;

	return (struct span){(const uint8_t *)s->text.ptr + from, s->ends[i] - from};
}

/* ---- what is seen of them ---- */

/* Pieces as they come: how large each is, and what is in it. */
static void see(struct buf *seen, struct span bytes)
{
	buf_putf(seen, "[%zu]", bytes.len);
	buf_put(seen, bytes.ptr, bytes.len);
}

struct sink {
	struct buf *seen;
	struct side_stream *stream; /* NULL: what is given is what is seen */
};

static int sink_give(void *context, struct span bytes, bool end)
{
	struct sink *s = context;

	if (s->stream)
		return side_send_body(s->stream, bytes, end);
	see(s->seen, bytes);
	buf_putf(s->seen, "%s", end ? "(end)" : "");
	return 0;
}

static struct plan_ports https = {443, 443};
static struct plan_binding at_host[] = {
	{.host = "api.test", .ports = {&https, 1}, .scheme = PLAN_SCHEME_TLS}};

/* What a gate knows that has put in one of the values. */
static struct take_out *knowing(size_t which, size_t secret)
{
	struct plan_secret_part part = {.placeholder = placeholders[secret]};
	struct plan_string header = {"x-key"};
	const struct plan_secret plan = {.name = "KEY",
					 .parts = {&part, 1},
					 .bindings = {at_host, 1},
					 .headers = {&header, 1}};
	const struct message_value value = {.value = span_of_str(values[which][secret])};
	struct secrets_place at = {.port = 443,
				   .scheme = PLAN_SCHEME_TLS,
				   .method = SPAN_LITERAL("GET"),
				   .path = SPAN_LITERAL("/"),
				   .sure = 1};
	static struct http_message m;
	struct put_in_book *book = NULL;
	struct take_out *t = take_out_new();

	m = (struct http_message){.method = SPAN_LITERAL("GET"), .target = SPAN_LITERAL("/")};
	assert_int_equal(http_message_add(&m, SPAN_LITERAL("x-key"), span_of_str(part.placeholder)),
			 0);
	assert_int_equal(name_parse(SPAN_LITERAL("api.test"), &at.host), 0);
	assert_int_equal(put_in_book_new(&plan, 1, &book), 0);
	struct put_in *p = put_in_new(book);

	assert_true(t && p);
	assert_int_equal(put_in_look(p, &m, &at, true, false), PUT_IN_NEEDS);
	assert_int_equal(put_in_give(p, &value), 0);
	assert_int_equal(put_in_apply(p, &m), PUT_IN_NOTHING);
	assert_int_equal(take_out_add(t, p), 0);
	put_in_free(p);
	put_in_book_free(book);
	return t;
}

static void see_body(struct take_out_answer *a, const struct script *s, struct buf *seen)
{
	struct sink sink = {seen, NULL};
	const struct put_in_sink give = {sink_give, &sink};

	for (size_t i = 0; i < s->count; i++) {
		buf_put_str(seen, "\n>");
		assert_int_equal(take_out_body(a, script_piece(s, i), i + 1 == s->count, &give), 0);
	}
}

static struct span packed(const struct script *s, uint8_t *into, size_t size)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = into;
	z.avail_out = (uInt)size;
	for (size_t i = 0; i < s->count; i++) {
		struct span piece = script_piece(s, i);

		z.next_in = (z_const Bytef *)(uintptr_t)piece.ptr;
		z.avail_in = (uInt)piece.len;
		(void)deflate(&z, i + 1 == s->count ? Z_FINISH : Z_SYNC_FLUSH);
	}
	size_t len = z.total_out;

	(void)deflateEnd(&z);
	return (struct span){into, len};
}

/* The same pieces, packed and then cut in other places. */
static void see_packed(struct take_out_answer *a, const struct script *s, struct buf *seen)
{
	static uint8_t bytes[1 << 16];
	struct span all = packed(s, bytes, sizeof(bytes));
	struct http_message m = {.status = 200, .body = HTTP_MESSAGE_UNKNOWN};
	struct sink sink = {seen, NULL};
	const struct put_in_sink give = {sink_give, &sink};

	assert_int_equal(
		http_message_add(&m, SPAN_LITERAL("content-encoding"), SPAN_LITERAL("gzip")), 0);
	assert_int_equal(take_out_head(a, &m, true), 0);
	for (size_t at = 0, n; at < all.len; at += n) {
		n = all.len - at < 37 ? all.len - at : 37;
		buf_put_str(seen, "\n>");
		assert_int_equal(
			take_out_body(a, (struct span){all.ptr + at, n}, at + n == all.len, &give),
			0);
	}
}

/* Each piece is a frame, and all of them a message; a ping between two. */
static void see_websocket(struct take_out_answer *a, const struct script *s, struct buf *seen)
{
	struct sink sink = {seen, NULL};
	const struct put_in_sink give = {sink_give, &sink};

	for (size_t i = 0; i < s->count; i++) {
		_cleanup_buf_ struct buf frame = BUF_INIT(1 << 16);
		struct span piece = script_piece(s, i);
		bool last = i + 1 == s->count;

		websocket_put_head(&frame, last, 0, i > 0 ? WEBSOCKET_CONTINUATION : WEBSOCKET_TEXT,
				   NULL, piece.len);
		buf_put(&frame, piece.ptr, piece.len);
		if (!last)
			buf_put(&frame, "\x89\x00", 2);
		buf_put_str(seen, "\n>");
		assert_int_equal(take_out_websocket(a, buf_span(&frame), last, &give), 0);
	}
}

/* Each piece is the value of a field, and the name of one. */
static void see_fields(struct take_out_answer *a, const struct script *s, struct buf *seen)
{
	struct http_message m = {.status = 200};

	for (size_t i = 0; i < s->count; i++)
		assert_int_equal(http_message_add(&m, script_piece(s, i), script_piece(s, i)), 0);
	assert_int_equal(take_out_head(a, &m, false), 0);
	for (size_t i = 0; i < m.field_count; i++) {
		see(seen, m.fields[i].name);
		see(seen, m.fields[i].value);
	}
}

static void see_wire(struct side_owner *box, struct side_owner *gate, struct buf *seen)
{
	struct span out;

	while ((out = side_output(gate->side)).len > 0) {
		see(seen, out);
		(void)side_feed(box->side, out, clock_now());
		side_sent(gate->side, out.len);
		out = side_output(box->side);
		(void)side_feed(gate->side, out, clock_now());
		side_sent(box->side, out.len);
	}
}

/* All that goes over the wire to the box; known: the answer says its length. */
static void see_side(struct take_out_answer *a, const struct script *s, bool h2, bool known,
		     struct buf *seen)
{
	struct side *(*make)(enum side_role, bool, const struct side_events *, void *) =
		h2 ? side_h2_new : side_h1_new;
	struct side_owner *box = side_owner_new(SIDE_CLIENT, make);
	struct side_owner *gate = side_owner_new(SIDE_SERVER, make);
	const struct http_message request = {.method = SPAN_LITERAL("GET"),
					     .scheme = SPAN_LITERAL("https"),
					     .authority = SPAN_LITERAL("api.test"),
					     .target = SPAN_LITERAL("/")};
	struct http_message answer = {.status = 200,
				      .body = known ? HTTP_MESSAGE_LENGTH : HTTP_MESSAGE_UNKNOWN,
				      .length = s->text.len};

	box->keeps = gate->keeps = true;
	assert_int_equal(side_owner_open(box), 1);
	assert_int_equal(side_send_head(box->streams[1], &request, true), 0);
	side_owner_pump(box, gate, 1 << 16);
	struct sink sink = {seen, gate->streams[1]};
	const struct put_in_sink give = {sink_give, &sink};

	assert_int_equal(take_out_head(a, &answer, true), 0);
	assert_int_equal(side_send_head(gate->streams[1], &answer, false), 0);
	for (size_t i = 0; i < s->count; i++) {
		buf_put_str(seen, "\n>");
		assert_int_equal(take_out_body(a, script_piece(s, i), i + 1 == s->count, &give), 0);
		see_wire(box, gate, seen);
	}
	side_owner_free(box);
	side_owner_free(gate);
}

static void see_h1(struct take_out_answer *a, const struct script *s, struct buf *seen)
{
	see_side(a, s, false, false, seen);
}

static void see_h1_length(struct take_out_answer *a, const struct script *s, struct buf *seen)
{
	see_side(a, s, false, true, seen);
}

static void see_h2(struct take_out_answer *a, const struct script *s, struct buf *seen)
{
	see_side(a, s, true, false, seen);
}

typedef void (*see_fn)(struct take_out_answer *a, const struct script *s, struct buf *seen);

/* Whether the value was there as a whole. */
static bool run(see_fn fn, size_t which, size_t secret, const struct script *s, struct buf *seen)
{
	struct take_out *t = knowing(which, secret);
	struct take_out_answer *a = NULL;

	buf_clear(seen);
	assert_int_equal(take_out_begin(t, true, &a), 0);
	fn(a, s, seen);
	bool found = take_out_count(a) > 0;

	take_out_end(a);
	take_out_free(t);
	assert_int_equal(buf_error(seen), 0);
	return found;
}

static void two_values(see_fn fn)
{
	struct script s = {.text = BUF_INIT(1 << 16)};
	struct buf seen[2] = {BUF_INIT(1 << 20), BUF_INIT(1 << 20)};
	size_t compared = 0;

	seed = 88172645463325252u;
	for (size_t i = 0; i < ROUNDS; i++) {
		size_t secret = pick(SECRETS);

		script_make(&s, secret);
		bool found = run(fn, 0, secret, &s, &seen[0]);

		found |= run(fn, 1, secret, &s, &seen[1]);
		if (found)
			continue;
		compared++;
		if (seen[0].len != seen[1].len ||
		    memcmp(seen[0].ptr, seen[1].ptr, seen[0].len) != 0)
			fail_msg("round %zu, secret %zu: the box sees which value it is, in\n%s\n"
				 "with one%s\nwith the other%s",
				 i, secret, buf_str(&s.text), buf_str(&seen[0]), buf_str(&seen[1]));
	}
	/* A guess of all but the last letter may end with it by chance, not often. */
	assert_true(compared > ROUNDS * 9 / 10);
	buf_fini(&s.text);
	buf_fini(&seen[0]);
	buf_fini(&seen[1]);
}

static void test_a_body_tells_nothing(void **state)
{
	(void)state;
	two_values(see_body);
}

static void test_a_packed_body_tells_nothing(void **state)
{
	(void)state;
	two_values(see_packed);
}

static void test_a_websocket_tells_nothing(void **state)
{
	(void)state;
	two_values(see_websocket);
}

static void test_fields_tell_nothing(void **state)
{
	(void)state;
	two_values(see_fields);
}

static void test_chunks_tell_nothing(void **state)
{
	(void)state;
	two_values(see_h1);
}

static void test_a_length_tells_nothing(void **state)
{
	(void)state;
	two_values(see_h1_length);
}

static void test_http2_tells_nothing(void **state)
{
	(void)state;
	two_values(see_h2);
}

/* ---- the scrubber alone, and its control ---- */

static bool scrubbed(const char *value, const char *mask, const size_t *known,
		     const struct script *s, struct buf *seen)
{
	struct span w = span_of_str(value), m = span_of_str(mask), out;
	struct finder *f = NULL;

	assert_int_equal(finder_new(&w, &m, known, 1, &f), 0);
	struct scrub scrub = {.finder = f};

	buf_clear(seen);
	for (size_t i = 0; i < s->count; i++) {
		assert_int_equal(scrub_feed(&scrub, script_piece(s, i), i + 1 == s->count, &out),
				 0);
		see(seen, out);
	}
	scrub_fini(&scrub);
	finder_free(f);
	return scrub.found > 0;
}

/* How many of the rounds differ. */
static size_t scrub_rounds(bool secret_values)
{
	static const size_t known[SECRETS] = {4, 0, 0};
	struct script s = {.text = BUF_INIT(1 << 16)};
	struct buf seen[2] = {BUF_INIT(1 << 20), BUF_INIT(1 << 20)};
	size_t differ = 0;

	seed = 88172645463325252u;
	for (size_t i = 0; i < (size_t)10 * ROUNDS; i++) {
		size_t n = pick(SECRETS);
		bool found = false;

		script_make(&s, n);
		for (size_t which = 0; which < 2; which++)
			found |= scrubbed(values[which][n], placeholders[n],
					  secret_values ? &known[n] : NULL, &s, &seen[which]);
		if (!found && (seen[0].len != seen[1].len ||
			       memcmp(seen[0].ptr, seen[1].ptr, seen[0].len) != 0))
			differ++;
	}
	buf_fini(&s.text);
	buf_fini(&seen[0]);
	buf_fini(&seen[1]);
	return differ;
}

static void test_what_is_kept_tells_nothing(void **state)
{
	(void)state;
	assert_int_equal(scrub_rounds(true), 0);
	/* The control: of words that everybody knows only their own beginnings are kept. */
	assert_true(scrub_rounds(false) > ROUNDS);
}

/* ---- what stands in the place of a value ---- */

static void script_of(struct script *s, const struct spelling *how, const char *value, size_t cut)
{
	buf_clear(&s->text);
	buf_put_str(&s->text, "{\"key\": \"");
	how->write(&s->text, span_of_str(value));
	buf_put_str(&s->text, "\"}");
	s->count = 0;
	if (cut < s->text.len)
		s->ends[s->count++] = cut;
	s->ends[s->count++] = s->text.len;
}

/* Both values, whole, in one spelling, cut there; false: behind the end of the text. */
static bool try_place(const struct spelling *how, size_t n, size_t cut, struct buf seen[2])
{
	static const size_t known[SECRETS] = {4, 0, 0};
	struct script s = {.text = BUF_INIT(1 << 16)};
	size_t len[2];

	for (size_t which = 0; which < 2; which++) {
		script_of(&s, how, values[which][n], cut);
		len[which] = s.text.len;
		if (!scrubbed(values[which][n], placeholders[n], &known[n], &s, &seen[which]))
			fail_msg("%s: \"%s\" was not found", how->name, values[which][n]);
	}
	buf_fini(&s.text);
	/* Where letters are written longer than others the text itself tells. */
	if (len[0] != len[1])
		return false;
	if (seen[0].len != seen[1].len || memcmp(seen[0].ptr, seen[1].ptr, seen[0].len) != 0)
		fail_msg("%s, cut at %zu: the box sees which value it was:\n%s\n%s", how->name, cut,
			 buf_str(&seen[0]), buf_str(&seen[1]));
	return cut < len[0];
}

static void test_a_mask_tells_nothing(void **state)
{
	struct buf seen[2] = {BUF_INIT(1 << 16), BUF_INIT(1 << 16)};
	size_t compared = 0;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(spellings_all); i++)
		for (size_t n = 0; n < SECRETS; n++)
			for (size_t cut = 1; try_place(&spellings_all[i], n, cut, seen); cut++)
				compared++;
	assert_true(compared > 100 * BAWN_ARRAY_SIZE(spellings_all));
	buf_fini(&seen[0]);
	buf_fini(&seen[1]);
}

/* ---- nobody waits who need not ---- */

/* What a piece ends in, and how much of it waits for the next. */
static void test_what_waits(void **state)
{
	static const struct {
		const char *piece;
		size_t known, waits;
	} rows[] = {
		{"data: {\"type\":\"delta\",\"text\":\"hello\"}\n\n", 0, 0},
		{"data: hello\n\n", 0, 0},
		{"data: [DONE]\r\n\r\n", 0, 0},
		{": ping\n\n", 0, 0},
		{"{\"log\":\"line\"}\n", 0, 0},
		{"all of it.\n", 0, 0},
		{"{\"a\":[1,2]}", 0, 0},
		{"\"ok\"", 0, 0},
		{"x yz", 0, 2},
		{"data: hello g", 4, 0},
		{"data: {\"text\":\"hello", 0, 5},
		{"a line of words\n", 0, 6},
		/* By its beginning a key is known from other words. */
		{"data: {\"text\":\"hello", 4, 0},
		{"a line of words\n", 4, 0},
		{"data: hello ghp", 4, 0},
		{"data: hello ghp_", 4, 4},
		{"data: hello ghp_anything", 4, 12},
		{"data: hello ghp_any thing", 4, 0},
		{"hello \\u0067\\u0068\\u0070\\u005f\\u0041", 4, 30},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct span w = span_of_str(values[0][0]), m = span_of_str(placeholders[0]), out;
		struct finder *f = NULL;

		assert_int_equal(finder_new(&w, &m, &rows[i].known, 1, &f), 0);
		struct scrub s = {.finder = f};

		assert_int_equal(scrub_feed(&s, span_of_str(rows[i].piece), false, &out), 0);
		if (strlen(rows[i].piece) - out.len != rows[i].waits)
			fail_msg("of \"%s\" %zu bytes wait, and not %zu", rows[i].piece,
				 strlen(rows[i].piece) - out.len, rows[i].waits);
		scrub_fini(&s);
		finder_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_body_tells_nothing),
		cmocka_unit_test(test_a_packed_body_tells_nothing),
		cmocka_unit_test(test_a_websocket_tells_nothing),
		cmocka_unit_test(test_fields_tell_nothing),
		cmocka_unit_test(test_chunks_tell_nothing),
		cmocka_unit_test(test_a_length_tells_nothing),
		cmocka_unit_test(test_http2_tells_nothing),
		cmocka_unit_test(test_what_is_kept_tells_nothing),
		cmocka_unit_test(test_a_mask_tells_nothing),
		cmocka_unit_test(test_what_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
