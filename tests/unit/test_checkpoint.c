/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkpoint has one spelling, is signed as signed-note says, and whatever is changed in it is
 * no checkpoint of ours.
 */
#include "cmocka_lead.h"

#include "checkpoint.h"

#include <string.h>

/* The example of the specification's own key: golang.org/x/mod/sumdb/note. */
static const char peter[] =
	"PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz\n";
static const char peter_public[] =
	"PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

static void test_key_vector(void **state)
{
	_cleanup_checkpoint_key_ struct checkpoint_key k;
	_cleanup_buf_ struct buf public = BUF_INIT(256);

	(void)state;
	assert_int_equal(checkpoint_key_parse(span_of_str(peter), &k), 0);
	assert_string_equal(k.name, "PeterNeumann");
	checkpoint_key_public(&public, &k);
	assert_string_equal(buf_str(&public), peter_public);
}

static void test_keys(void **state)
{
	_cleanup_checkpoint_key_ struct checkpoint_key k, again;
	_cleanup_buf_ struct buf line = BUF_INIT(256);

	(void)state;
	assert_int_equal(checkpoint_key_make("bawn/a@b", &k), 0);
	checkpoint_key_format(&line, &k);
	assert_int_equal(checkpoint_key_parse(buf_span(&line), &again), 0);
	assert_memory_equal(&k, &again, sizeof(k));
	/* Any byte of it. */
	for (size_t at = 0; at < line.len; at++)
		for (int bit = 0; bit < 8; bit++) {
			line.ptr[at] = (char)(line.ptr[at] ^ (1 << bit));
			assert_true(checkpoint_key_parse(buf_span(&line), &again) < 0);
			line.ptr[at] = (char)(line.ptr[at] ^ (1 << bit));
		}
	assert_true(checkpoint_key_make("a b", &k) < 0);
	assert_true(checkpoint_key_make("a+b", &k) < 0);
	assert_true(checkpoint_key_make("", &k) < 0);
}

static void test_sign(void **state)
{
	_cleanup_checkpoint_key_ struct checkpoint_key k, other;
	_cleanup_buf_ struct buf note = BUF_INIT(CHECKPOINT_MAX);
	struct hash root = {{1, 2, 3}};
	struct checkpoint c;

	(void)state;
	assert_int_equal(checkpoint_key_make("bawn/a@b", &k), 0);
	assert_int_equal(checkpoint_key_make("bawn/a@b", &other), 0);
	assert_int_equal(checkpoint_sign(&note, &k, SPAN_LITERAL("bawn/a@b/x"), 17, &root), 0);
	assert_null(checkpoint_parse(buf_span(&note), &c));
	assert_int_equal(c.size, 17);
	assert_true(hash_equal(&c.root, &root));
	assert_true(checkpoint_is_by(&c, &k));
	assert_false(checkpoint_is_by(&c, &other));
	for (size_t at = 0; at < note.len; at++)
		for (int bit = 0; bit < 8; bit++) {
			note.ptr[at] = (char)(note.ptr[at] ^ (1 << bit));
			assert_true(checkpoint_parse(buf_span(&note), &c) ||
				    !checkpoint_is_by(&c, &k));
			note.ptr[at] = (char)(note.ptr[at] ^ (1 << bit));
		}
	/* A byte too many, anywhere. */
	for (size_t at = 0; at <= note.len; at++)
		for (const char *more = "x =\n\r"; *more; more++) {
			_cleanup_buf_ struct buf longer = BUF_INIT(CHECKPOINT_MAX);

			buf_put(&longer, note.ptr, at);
			buf_put_char(&longer, *more);
			buf_put(&longer, note.ptr + at, note.len - at);
			assert_true(checkpoint_parse(buf_span(&longer), &c) ||
				    !checkpoint_is_by(&c, &k));
		}
	for (size_t len = 0; len < note.len; len++)
		assert_non_null(checkpoint_parse((struct span){(uint8_t *)note.ptr, len}, &c));
}

#define ROOT "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
#define SIGNATURE                                                                           \
	"Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+" \
	"xeMcTOAYQ8="
#define GOOD "log.example/a\n20852163\n" ROOT "\n\n\xe2\x80\x94 log.example/a " SIGNATURE "\n"

static void test_spellings(void **state)
{
	static const char *const bad[] = {
		"",
		"log.example/a\n1\n" ROOT "\n\n",
		"log.example/a\n1\n" ROOT "\n\n\xe2\x80\x94 other.example " SIGNATURE "\n",
		"log.example/a\n01\n" ROOT "\n\n\xe2\x80\x94 log.example/a " SIGNATURE "\n",
		"log.example/a\n-1\n" ROOT "\n\n\xe2\x80\x94 log.example/a " SIGNATURE "\n",
		"log.example/a\n99999999999999999999\n" ROOT
		"\n\n\xe2\x80\x94 log.example/a " SIGNATURE "\n",
		"log example\n1\n" ROOT "\n\n\xe2\x80\x94 log " SIGNATURE "\n",
		"log.example/a\n1\n" ROOT "=\n\n\xe2\x80\x94 log.example/a " SIGNATURE "\n",
		"log.example/a\n1\n" ROOT "\n\n- log.example/a " SIGNATURE "\n",
		GOOD "\n",
		GOOD "\xe2\x80\x94 log.example/a " SIGNATURE "\n",
		GOOD "\xe2\x80\x94 witness.example",
	};
	struct checkpoint c;

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++)
		assert_non_null(checkpoint_parse(span_of_str(bad[i]), &c));
	assert_null(checkpoint_parse(span_of_str(GOOD), &c));
	assert_int_equal(c.size, 20852163);
	/* Witnesses sign as they like. */
	assert_null(checkpoint_parse(span_of_str(GOOD "\xe2\x80\x94 witness.example AAAA\n"), &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_vector),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_sign),
		cmocka_unit_test(test_spellings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
