/* SPDX-License-Identifier: Apache-2.0 */
#include "seal.h"

#include <stdio.h>

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

void seal_session_key(const struct hash *verification, uint64_t number, struct hash *ret)
{
	struct hash user = *verification;

	for (uint64_t i = 0; i < number; i++)
		seal_step(&user, "session", NULL);
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
