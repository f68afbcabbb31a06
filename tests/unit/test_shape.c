/* SPDX-License-Identifier: Apache-2.0 */
/* A placeholder looks like the key it stands for, and is not it. */
#include "cmocka_lead.h"

#include "plan.h"
#include "sha256.h"
#include "shape.h"
#include "str.h"

#include <stdio.h>

static void hex(const uint8_t digest[SHA256_SIZE], char ret[2 * SHA256_SIZE + 1])
{
	for (size_t i = 0; i < SHA256_SIZE; i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

static void test_sha256(void **state)
{
	static const struct {
		const char *text, *digest;
	} rows[] = {
		/* FIPS 180-4 */
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	uint8_t digest[SHA256_SIZE];
	char text[2 * SHA256_SIZE + 1];
	struct sha256 s;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		sha256_begin(&s);
		for (size_t n = 0; rows[i].text[n]; n++)
			sha256_add(&s, (struct span){(const uint8_t *)rows[i].text + n, 1});
		sha256_end(&s, digest);
		hex(digest, text);
		assert_string_equal(text, rows[i].digest);
	}
	sha256_begin(&s);
	for (int i = 0; i < 1000000 / 50; i++)
		sha256_add(&s, SPAN_LITERAL("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
	sha256_end(&s, digest);
	hex(digest, text);
	assert_string_equal(text,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_hmac(void **state)
{
	uint8_t digest[SHA256_SIZE];
	uint8_t key[131];
	char text[2 * SHA256_SIZE + 1];

	(void)state;
	/* RFC 4231, cases 2 and 6 */
	sha256_hmac(SPAN_LITERAL("Jefe"), SPAN_LITERAL("what do ya want for nothing?"), digest);
	hex(digest, text);
	assert_string_equal(text,
			    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	sha256_hmac((struct span){key, sizeof(key)},
		    SPAN_LITERAL("Test Using Larger Than Block-Size Key - Hash Key First"), digest);
	hex(digest, text);
	assert_string_equal(text,
			    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void test_shapes(void **state)
{
	static const struct {
		const char *value, *shape;
	} rows[] = {
		{"sk-ant-api03-AbCdEfGh0123-_xyz-_-_-_AA", "sk-ant-api03-{25:s}"},
		{"sk-ant-api03-AbCdEfGhIjKlMnOp-QrStUvWx_Yz", "sk-ant-api03-{28:s}"},
		{"ghp_0123456789abcdefABCDEF0123456789abcd", "ghp_{36:n}"},
		{"AKIAIOSFODNN7EXAMPLE", "AKIA{16:A}"},
		{"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "{40:b}"},
		{"123e4567-e89b-12d3-a456-426614174000", "{8:x}-{4:x}-{4:x}-{4:x}-{12:d}"},
		{"xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
		 "xoxb-{12:d}-{13:d}-{24:n}"},
		{"github_pat_0123456789abcdefABCDEF_abcdefghijklmnopqrstuvwxyz0123456789",
		 "github_pat_{22:n}_{36:a}"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN",
		 "eyJ{17:n}.eyJ{16:n}.{16:n}"},
		{"0123456789", "{10:d}"},
		{"deadbeef00", "{10:x}"},
		{"pass-word1", "{10:s}"},
		{"p\"ss'w{rd}", "{10:p}"},
		{"c2VjcmV0c2VjcmV0c2VjcmU=", "{23:n}="},
		{"12345678:ABCDEFGHabcdefgh", "{8:d}:{16:n}"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf shape = BUF_INIT(1 << 16);
		_cleanup_buf_ struct buf made = BUF_INIT(1 << 16);

		shape_of(span_of_str(rows[i].value), &shape);
		assert_string_equal(buf_str(&shape), rows[i].shape);
		assert_null(shape_check(buf_span(&shape)));
		shape_fill(buf_span(&shape), SPAN_LITERAL("key"), "/w NAME 0", &made);
		assert_int_equal(made.len, strlen(rows[i].value));
		assert_string_not_equal(buf_str(&made), rows[i].value);
		/* What was made has the shape that it was made from, or a narrower one by chance.
		 */
		size_t literal = strcspn(rows[i].shape, "{");

		assert_memory_equal(made.ptr, rows[i].value, literal);
	}
}

static void test_same_for_the_same(void **state)
{
	static const char *const contexts[] = {"/w NAME 0", "/w NAME 1", "/v NAME 0", "/w OTHER 0"};
	char seen[BAWN_ARRAY_SIZE(contexts) + 1][64];

	(void)state;
	for (size_t i = 0; i <= BAWN_ARRAY_SIZE(contexts); i++) {
		_cleanup_buf_ struct buf made = BUF_INIT(1 << 16);
		bool other_key = i == BAWN_ARRAY_SIZE(contexts);

		shape_fill(SPAN_LITERAL("sk-{40:n}"),
			   other_key ? SPAN_LITERAL("other") : SPAN_LITERAL("key"),
			   contexts[other_key ? 0 : i], &made);
		assert_int_equal(made.len, 43);
		(void)snprintf(seen[i], sizeof(seen[i]), "%s", buf_str(&made));
		for (size_t n = 0; n < i; n++)
			assert_string_not_equal(seen[n], seen[i]);
		_cleanup_buf_ struct buf again = BUF_INIT(1 << 16);

		shape_fill(SPAN_LITERAL("sk-{40:n}"),
			   other_key ? SPAN_LITERAL("other") : SPAN_LITERAL("key"),
			   contexts[other_key ? 0 : i], &again);
		assert_string_equal(buf_str(&again), seen[i]);
	}
}

static void test_what_is_no_shape(void **state)
{
	static const char *const rows[] = {
		"",     "abcdefghi", "{7:n}",    "{8:q}",    "{8n}",    "{:n}",         "{0:n}",
		"{8:n", "}{8:n}",    "a b{8:n}", "{9999:n}", "\"{8:n}", "{8192:n}{1:n}"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		if (!shape_check(span_of_str(rows[i])))
			fail_msg("%s is taken", rows[i]);
	assert_null(shape_check(SPAN_LITERAL("{8:n}")));
	assert_null(shape_check(SPAN_LITERAL("{8192:n}")));
	assert_null(shape_check(SPAN_LITERAL(SHAPE_UNKNOWN)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha256),           cmocka_unit_test(test_hmac),
		cmocka_unit_test(test_shapes),           cmocka_unit_test(test_same_for_the_same),
		cmocka_unit_test(test_what_is_no_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
