/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing a head: what was looked at and found good is written anew with the values in it.
 * Each new text is measured first and written into memory of exactly its size, which is
 * wiped with the request.
 */
#include "message_keys.h"
#include "put_in_parts.h"

#include "encode.h"
#include "http_field.h"

struct put_in_target put_in_split(struct span target)
{
	const uint8_t *mark = target.len > 0 ? memchr(target.ptr, '?', target.len) : NULL;
	size_t len = mark ? (size_t)(mark - target.ptr) : target.len;

	return (struct put_in_target){
		{target.ptr, len},
		{mark ? mark + 1 : target.ptr + len, mark ? target.len - len - 1 : 0}};
}

bool put_in_is_basic(struct span value, struct span *ret_rest)
{
	if (value.len < 6 || !http_same_word((struct span){value.ptr, 5}, "basic") ||
	    value.ptr[5] != ' ')
		return false;
	*ret_rest = http_trim((struct span){value.ptr + 6, value.len - 6});
	return true;
}

int put_in_decode_basic(struct put_in *p, struct span rest, struct span *ret_text)
{
	uint8_t *into = put_in_alloc(p, rest.len);

	if (!into)
		return -ENOMEM;
	ssize_t n = decode_base64(rest, into, rest.len);

	if (n < 0)
		return -EINVAL;
	*ret_text = (struct span){into, (size_t)n};
	return 0;
}

/* A buf over memory of the request, which takes `size` bytes and never moves. */
static struct buf fixed(struct put_in *p, size_t size)
{
	uint8_t *bytes = put_in_alloc(p, size);

	if (!bytes)
		return (struct buf){.error = -ENOMEM};
	return (struct buf){.ptr = (char *)bytes, .cap = size + 1, .max = size};
}

/* text with every placeholder in it replaced; the same span when there is none. */
static int replace(struct put_in *p, struct span text, enum put_in_writing how,
		   struct span *ret_text)
{
	struct finder_hit hit;
	size_t size = text.len, from = 0, hits = 0;

	*ret_text = text;
	for (; finder_next(p->book->finder, text, from, true, &hit) == FINDER_FOUND; hits++) {
		struct span part = put_in_part(p, &hit);

		if (part.len == 0) {
			put_in_refuse(p, "", "a placeholder in the request has no value");
			return -EPERM;
		}
		size += part.len * (how == PUT_IN_RAW ? 1 : 3);
		from = hit.at + hit.len;
	}
	if (hits == 0)
		return 0;
	struct buf into = fixed(p, size);
	size_t done = 0;

	while (finder_next(p->book->finder, text, done, true, &hit) == FINDER_FOUND) {
		buf_put(&into, text.ptr + done, hit.at - done);
		if (how == PUT_IN_PERCENT)
			encode_percent(&into, put_in_part(p, &hit), "");
		else
			buf_put(&into, put_in_part(p, &hit).ptr, put_in_part(p, &hit).len);
		done = hit.at + hit.len;
	}
	buf_put(&into, text.ptr + done, text.len - done);
	*ret_text = buf_span(&into);
	return buf_error(&into);
}

static int replace_basic(struct put_in *p, struct http_message_field *f, struct span rest)
{
	struct span text, changed;
	int r = put_in_decode_basic(p, rest, &text);

	if (r < 0)
		return r == -EINVAL ? 0 : r; /* put_in_look found no placeholder in it */
	r = replace(p, text, PUT_IN_RAW, &changed);
	if (r < 0 || changed.ptr == text.ptr)
		return r;
	struct buf into = fixed(p, 6 + ENCODE_BASE64_LEN(changed.len));

	buf_put_str(&into, "Basic ");
	encode_base64(&into, changed);
	f->value = buf_span(&into);
	f->secret = true;
	return buf_error(&into);
}

static int replace_field(struct put_in *p, struct http_message_field *f)
{
	struct span rest, changed;

	if (put_in_is_basic(f->value, &rest))
		return replace_basic(p, f, rest);
	int r = replace(p, f->value, PUT_IN_RAW, &changed);

	if (r == 0 && changed.ptr != f->value.ptr) {
		f->value = changed;
		f->secret = true;
	}
	return r;
}

static int replace_query(struct put_in *p, struct http_message *m)
{
	struct put_in_target target = put_in_split(m->target);
	struct span changed;
	int r = replace(p, target.query, PUT_IN_PERCENT, &changed);

	if (r < 0 || changed.ptr == target.query.ptr)
		return r;
	struct buf into = fixed(p, target.path.len + 1 + changed.len);

	buf_put(&into, target.path.ptr, target.path.len);
	buf_put_char(&into, '?');
	buf_put(&into, changed.ptr, changed.len);
	m->target = buf_span(&into);
	return buf_error(&into);
}

/* How values are written in the body, by what it says it is. */
static enum put_in_writing writing_of(const struct http_message *m)
{
	for (size_t i = 0; i < m->field_count; i++) {
		struct span v = m->fields[i].value;

		if (!http_same_word(m->fields[i].name, "content-type"))
			continue;
		if (memmem(v.ptr, v.len, "json", 4))
			return PUT_IN_JSON;
		if (memmem(v.ptr, v.len, "x-www-form-urlencoded", 21))
			return PUT_IN_PERCENT;
	}
	return PUT_IN_RAW;
}

/* Whether every value that may go into the body is as long there as its placeholder. */
static bool keeps_length(struct put_in *p)
{
	for (size_t i = 0; i < p->need_count; i++) {
		const struct plan_secret *s = &p->book->secrets[p->values[i].secret];
		struct buf text = BUF_INIT(3 * (size_t)MESSAGE_VALUE_MAX);

		if (!p->values[i].in_body)
			continue;
		if (p->how == PUT_IN_PERCENT)
			encode_percent(&text, p->values[i].value, "");
		else if (p->how == PUT_IN_JSON)
			encode_json(&text, p->values[i].value);
		size_t len = p->how == PUT_IN_RAW ? p->values[i].value.len : text.len;

		if (text.ptr)
			explicit_bzero(text.ptr, text.cap);
		buf_fini(&text);
		if (s->parts.count != 1 || len != strlen(s->parts.items[0].placeholder))
			return false;
	}
	return true;
}

static void note_names(struct put_in *p)
{
	struct buf b = {.ptr = p->names, .cap = sizeof(p->names), .max = sizeof(p->names) - 1};

	for (size_t i = 0; i < p->need_count; i++) {
		if (i > 0)
			buf_put_str(&b, ", ");
		buf_put_str(&b, p->book->secrets[p->values[i].secret].name);
	}
}

enum put_in_outcome put_in_apply(struct put_in *p, struct http_message *m)
{
	int r = 0;

	for (size_t i = 0; i < p->need_count; i++)
		if (p->values[i].value.len == 0)
			return put_in_refuse(p, p->book->secrets[p->values[i].secret].name,
					     "the secret %s has no value",
					     p->book->secrets[p->values[i].secret].name);
	for (size_t i = 0; r == 0 && i < m->field_count; i++)
		r = replace_field(p, &m->fields[i]);
	if (r == 0)
		r = replace_query(p, m);
	if (r == -EPERM)
		return PUT_IN_REFUSED;
	if (r < 0)
		return put_in_refuse(p, "", "there is no memory to change the request");
	p->how = writing_of(m);
	if (p->replaces && m->body == HTTP_MESSAGE_LENGTH && !keeps_length(p))
		m->body = HTTP_MESSAGE_UNKNOWN;
	/* Compressed frames could not be changed. */
	if (p->replaces && m->websocket)
		http_message_remove(m, "sec-websocket-extensions");
	note_names(p);
	return p->signs ? put_in_begin_signing(p, m) : PUT_IN_NOTHING;
}
