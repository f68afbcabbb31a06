/* SPDX-License-Identifier: Apache-2.0 */
#include "seal.h"

#include <stdio.h>

enum { SEAL_NAME_MAX = 128 }; /* more than a folder's name has */

static void seal_step(struct hash *key, const char *word, struct hash *ret)
{
	struct hash next;

	if (ret)
		hash_mac(key, span_of_str(word), ret);
	hash_mac(key, SPAN_LITERAL("next"), &next);
	*key = next;
	explicit_bzero(&next, sizeof(next));
}

void seal_take_session(struct hash *user, struct hash *ret)
{
	seal_step(user, "session", ret);
}

void seal_skip(struct hash *user, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		seal_step(user, "session", NULL);
}

void seal_ledger(const struct hash *user, uint64_t seq, const struct hash *prev, uint64_t number,
		 struct span session, struct hash *ret_mac)
{
	char text[64 + HASH_HEX + SEAL_NAME_MAX], prev_hex[HASH_HEX];
	struct hash key;
	size_t name = session.len < SEAL_NAME_MAX ? session.len : SEAL_NAME_MAX;

	hash_format(prev, prev_hex);
	int len = snprintf(text, sizeof(text), "%llu %.*s %llu %.*s", (unsigned long long)seq,
			   HASH_HEX, prev_hex, (unsigned long long)number, (int)name,
			   (const char *)session.ptr);

	hash_mac(user, SPAN_LITERAL("ledger"), &key);
	hash_mac(&key, (struct span){(const uint8_t *)text, (size_t)len}, ret_mac);
	explicit_bzero(&key, sizeof(key));
}

void seal_session_key(const struct hash *verification, uint64_t number, struct hash *ret)
{
	struct hash user = *verification;

	seal_skip(&user, number);
	seal_take_session(&user, ret);
	explicit_bzero(&user, sizeof(user));
}

void seal_make(struct hash *key, uint64_t seq, const struct hash *prev, const struct hash *root,
	       struct hash *ret_mac)
{
	char text[32 + 2 * HASH_HEX], prev_hex[HASH_HEX], root_hex[HASH_HEX];

	hash_format(prev, prev_hex);
	hash_format(root, root_hex);
	int len = snprintf(text, sizeof(text), "%llu %.*s %.*s", (unsigned long long)seq, HASH_HEX,
			   prev_hex, HASH_HEX, root_hex);

	hash_mac(key, (struct span){(const uint8_t *)text, (size_t)len}, ret_mac);
	seal_step(key, "seal", NULL);
}
