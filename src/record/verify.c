/* SPDX-License-Identifier: Apache-2.0 */
#include "verify.h"

#include "seal.h"

struct verify {
	struct verify_result *ret;
	struct merkle tree;
	struct hash prev, key;
	char prev_hex[HASH_HEX];
	uint64_t seq, boot;
	bool ended; /* the event "end" was there */
};

static bool verify_kind_is(const struct frame *f, const char *kind)
{
	return span_equal(f->kind, span_of_str(kind));
}

/* NULL, or what is wrong with the seal. */
static const char *verify_seal(struct verify *v, const struct frame *f)
{
	struct hash said_root, said_mac, root, mac;

	if (!frame_hash_member(f, "root", &said_root) || !frame_hash_member(f, "mac", &said_mac))
		return "the seal has no root or no mac";
	merkle_root(&v->tree, &root);
	if (!hash_equal(&root, &said_root))
		return "the seal is over other events";
	if (v->ret->macs) {
		seal_make(&v->key, f->seq, &v->prev, &root, &mac);
		if (!hash_equal(&mac, &said_mac))
			return "the seal was not made with the session's key";
	}
	return NULL;
}

static const char *verify_frame(struct verify *v, const struct frame *f)
{
	if (f->seq != v->seq + 1)
		return f->seq <= v->seq ? "an event comes twice, or out of its place"
					: "events are missing";
	if (memcmp(f->prev.ptr, v->prev_hex, HASH_HEX) != 0)
		return "the event does not follow the one before it";
	if (f->boot < v->boot)
		return "the clock goes back";
	if (v->seq == 0 && !verify_kind_is(f, "session"))
		return "the record does not begin with its session";
	if (v->seq > 0 && verify_kind_is(f, "session"))
		return "a second session in one record";
	if (v->ended && !verify_kind_is(f, "seal"))
		return "events follow the end";
	return verify_kind_is(f, "seal") ? verify_seal(v, f) : NULL;
}

static void verify_take(struct verify *v, const struct frame *f, uint64_t behind)
{
	struct verify_result *ret = v->ret;

	v->prev = f->hash;
	hash_format(&f->hash, v->prev_hex);
	v->seq = f->seq;
	v->boot = f->boot;
	v->ended = v->ended || verify_kind_is(f, "end");
	merkle_add(&v->tree, &f->hash);
	ret->events++;
	if (!verify_kind_is(f, "seal"))
		return;
	ret->seals++;
	ret->sealed = f->seq;
	ret->unsealed_bytes = behind;
	ret->head = f->hash;
	merkle_root(&v->tree, &ret->root);
}

void verify_frames(struct span bytes, const struct hash *key, struct verify_result *ret)
{
	struct verify v = {.ret = ret};
	size_t at = 0;

	memset(ret, 0, sizeof(*ret));
	ret->macs = key != NULL;
	ret->unsealed_bytes = bytes.len;
	hash_format(&v.prev, v.prev_hex);
	if (key)
		v.key = *key;
	while (at < bytes.len) {
		struct frame f;
		enum feed said = frame_read((struct span){bytes.ptr + at, bytes.len - at}, &f);
		const char *why = said == FEED_DONE ? verify_frame(&v, &f) : f.why;

		if (said == FEED_MORE)
			break;
		if (why) {
			*ret = (struct verify_result){.state = VERIFY_BROKEN,
						      .why = why,
						      .offset = at,
						      .seq = v.seq + 1,
						      .events = ret->events,
						      .seals = ret->seals,
						      .sealed = ret->sealed,
						      .macs = ret->macs,
						      .head = ret->head,
						      .root = ret->root};
			break;
		}
		at += f.len;
		verify_take(&v, &f, bytes.len - at);
	}
	explicit_bzero(&v.key, sizeof(v.key));
	if (ret->state == VERIFY_BROKEN)
		return;
	ret->state = v.ended && ret->unsealed_bytes == 0 ? VERIFY_WHOLE : VERIFY_INTERRUPTED;
}
