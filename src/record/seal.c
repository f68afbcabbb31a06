/* SPDX-License-Identifier: Apache-2.0 */
#include "seal.h"

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

void seal_ledger(const struct hash *user, struct span entry, struct hash *ret_mac)
{
	struct hash key;

	hash_mac(user, SPAN_LITERAL("ledger"), &key);
	hash_mac(&key, entry, ret_mac);
	explicit_bzero(&key, sizeof(key));
}

void seal_session_key(const struct hash *verification, uint64_t number, struct hash *ret)
{
	struct hash user = *verification;

	seal_skip(&user, number);
	seal_take_session(&user, ret);
	explicit_bzero(&user, sizeof(user));
}

void seal_make(struct hash *key, struct span event, struct hash *ret_mac)
{
	hash_mac(key, event, ret_mac);
	seal_step(key, "seal", NULL);
}
