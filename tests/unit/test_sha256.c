/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 says what OpenSSL's says, for every length around its blocks and however the bytes
 * come in, both in C and by the processor's own instructions.
 */
#include "cmocka_lead.h"

#include "sha256_x86.h"

static bool by_instructions;

static bool choose(void)
{
	return by_instructions;
}

#define sha256_x86_is_there choose
#include "../../src/base/sha256.c" /* NOLINT(bugprone-suspicious-include) */
#undef sha256_x86_is_there

#include <openssl/evp.h>

enum { LENGTH_MAX = 400 };

static uint8_t bytes[LENGTH_MAX];

static void check(size_t length, size_t first)
{
	uint8_t ours[SHA256_SIZE], theirs[SHA256_SIZE];
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, (struct span){bytes, first});
	sha256_add(&s, (struct span){bytes + first, length - first});
	sha256_end(&s, ours);
	assert_int_equal(EVP_Digest(bytes, length, theirs, NULL, EVP_sha256(), NULL), 1);
	assert_memory_equal(ours, theirs, SHA256_SIZE);
}

static void check_all(void)
{
	for (size_t length = 0; length <= LENGTH_MAX; length++)
		for (size_t first = 0; first <= length; first += 1 + length / 8)
			check(length, first);
}

static void test_in_c(void **state)
{
	(void)state;
	by_instructions = false;
	check_all();
}

static void test_by_instructions(void **state)
{
	(void)state;
	if (!sha256_x86_is_there()) {
		print_message("this processor has no instructions for it\n");
		return;
	}
	by_instructions = true;
	check_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_c),
		cmocka_unit_test(test_by_instructions),
	};

	for (size_t i = 0; i < LENGTH_MAX; i++)
		bytes[i] = (uint8_t)(i * 131 + 7);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
