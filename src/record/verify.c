/* SPDX-License-Identifier: Apache-2.0 */
#include "verify.h"

#include "seal.h"
#include "writer.h"

static bool verify_kind_is(const struct frame *f, const char *kind)
{
	return span_equal(f->kind, span_of_str(kind));
}

static bool verify_op_is(const struct frame *f, const char *op)
{
	return span_equal(frame_plain_member(f, "op"), span_of_str(op));
}

enum { VERIFY_UNSEALED_MAX = 2 * WRITER_BATCH };

/* NULL, or what is wrong with the seal. */
static const char *verify_seal(struct verify *v, const struct frame *f)
{
	struct hash said_root, said_mac, root, mac;
	struct span covered;

	if (!frame_hash_member(f, "root", &said_root) || !frame_split_mac(f, &covered, &said_mac))
		return "the seal has no root or no mac";
	merkle_root(&v->tree, &root);
	if (!hash_equal(&root, &said_root))
		return "the seal is over other events";
	if (v->ret->macs) {
		seal_make(&v->key, covered, &mac);
		if (!hash_equal(&mac, &said_mac))
			return "the seal was not made with the session's key";
	}
	return NULL;
}

/* The first event, and only the first, says which session this is. */
static const char *verify_session(struct verify *v, const struct frame *f)
{
	bool begin = verify_op_is(f, "begin");

	if (v->seq > 0 && begin)
		return "a second session in one record";
	if (v->seq == 0 && (!begin || frame_number_member(f, "number", &v->ret->number) < 0))
		return "the record does not begin with its session";
	return NULL;
}

static const char *verify_frame(struct verify *v, const struct frame *f)
{
	bool session = verify_kind_is(f, "session"), seal = verify_kind_is(f, "seal");

	const char *follows = frame_follows(f, v->seq, v->prev_hex);

	if (follows)
		return follows;
	if (f->boot < v->boot)
		return "the clock goes back";
	if (v->ret->ended && !seal)
		return "events follow the end";
	if (session || v->seq == 0) {
		const char *why = verify_session(v, f);

		if (why || !session)
			return why ? why : "the record does not begin with its session";
	}
	/* Events are written together with their seal, so a kill leaves few events without one. */
	if (!seal && f->seq - v->ret->sealed > VERIFY_UNSEALED_MAX)
		return "more events stand behind the last seal than are written without one";
	return seal ? verify_seal(v, f) : NULL;
}

static void verify_take(struct verify *v, const struct frame *f)
{
	struct verify_result *ret = v->ret;

	v->prev = f->hash;
	memcpy(v->prev_hex, f->hex.ptr, HASH_HEX);
	v->seq = f->seq;
	v->boot = f->boot;
	merkle_add(&v->tree, &f->hash);
	ret->events++;
	ret->unsealed_bytes += f->len;
	for (size_t i = 0; i < v->mark_count; i++)
		if (v->marks[i].size == v->tree.size)
			merkle_root(&v->tree, &v->marks[i].found);
	if (verify_kind_is(f, "session") && verify_op_is(f, "end"))
		ret->ended = true;
	if (!verify_kind_is(f, "seal"))
		return;
	ret->seals++;
	ret->sealed = f->seq;
	ret->unsealed_bytes = 0;
	ret->head = f->hash;
	merkle_root(&v->tree, &ret->root);
}

static bool verify_break(struct verify *v, const char *why, uint64_t offset)
{
	struct verify_result *ret = v->ret;

	ret->state = VERIFY_BROKEN;
	ret->why = why;
	ret->segment = v->segment;
	ret->offset = offset;
	ret->seq = v->seq + 1;
	return false;
}

void verify_begin(struct verify *v, const struct hash *key, struct verify_result *ret)
{
	memset(ret, 0, sizeof(*ret));
	memset(v, 0, sizeof(*v));
	v->ret = ret;
	ret->macs = key != NULL;
	hash_format(&v->prev, v->prev_hex);
	if (key)
		v->key = *key;
}

void verify_mark(struct verify *v, uint64_t size, const struct hash *root)
{
	if (v->mark_count < VERIFY_MARKS_MAX)
		v->marks[v->mark_count++] = (struct verify_mark){.size = size, .root = *root};
}

bool verify_segment(struct verify *v, struct span bytes)
{
	size_t at = 0;

	if (v->ret->state == VERIFY_BROKEN)
		return false;
	if (v->torn)
		return verify_break(v, "the segment ends within an event", 0);
	v->segment++;
	while (at < bytes.len) {
		struct frame f;
		enum feed said = frame_read(span_skip(bytes, at), &f);

		if (said == FEED_MORE) {
			v->torn = true;
			v->ret->unsealed_bytes += bytes.len - at;
			return true;
		}
		const char *why = said == FEED_DONE ? verify_frame(v, &f) : f.why;

		if (why)
			return verify_break(v, why, at);
		at += f.len;
		verify_take(v, &f);
	}
	return true;
}

void verify_end(struct verify *v)
{
	struct verify_result *ret = v->ret;

	explicit_bzero(&v->key, sizeof(v->key));
	if (ret->state == VERIFY_BROKEN)
		return;
	ret->state = ret->ended && ret->unsealed_bytes == 0 ? VERIFY_WHOLE : VERIFY_INTERRUPTED;
}

void verify_frames(struct span bytes, const struct hash *key, struct verify_result *ret)
{
	struct verify v;

	verify_begin(&v, key, ret);
	(void)verify_segment(&v, bytes);
	verify_end(&v);
}
