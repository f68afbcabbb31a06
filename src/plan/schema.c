/* SPDX-License-Identifier: Apache-2.0 */
#include "schema.h"

#include "encode.h"

/* Any LIST_OF has this layout. */
struct schema_list {
	void *items;
	size_t count;
};

/* A list item takes at least this many bytes, so a count cannot promise more than there is. */
enum { SCHEMA_ITEM_MIN = 4 };

#define FIELD(type, object, f) (*(type *)(void *)((char *)(object) + (f)->offset))
#define FIELD_CONST(type, object, f) \
	(*(type const *)(const void *)((const char *)(object) + (f)->offset))

void schema_encode(struct buf *into, const struct schema *s, const void *object)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct schema_field *f = &s->fields[i];

		switch (f->kind) {
		case SCHEMA_U64:
			buf_put_u64(into, FIELD_CONST(uint64_t, object, f));
			break;
		case SCHEMA_BOOL:
			buf_put_u64(into, FIELD_CONST(bool, object, f) ? 1 : 0);
			break;
		case SCHEMA_ENUM:
			buf_put_u64(into, FIELD_CONST(unsigned int, object, f));
			break;
		case SCHEMA_STR: {
			const char *str = FIELD_CONST(char *, object, f);
			size_t len = str ? strlen(str) : 0;

			buf_put_u32(into, (uint32_t)len);
			buf_put(into, str ? str : "", len + 1);
			break;
		}
		case SCHEMA_BYTES: {
			struct span bytes = FIELD_CONST(struct span, object, f);

			buf_put_u32(into, (uint32_t)bytes.len);
			buf_put(into, bytes.ptr, bytes.len);
			break;
		}
		case SCHEMA_LIST: {
			struct schema_list list = FIELD_CONST(struct schema_list, object, f);

			buf_put_u32(into, (uint32_t)list.count);
			for (size_t n = 0; n < list.count; n++)
				schema_encode(into, f->item,
					      (const char *)list.items + n * f->item->size);
			break;
		}
		}
	}
}

static int schema_bad(struct error *e, const struct schema_field *f, const char *why)
{
	return error_set(e, -EBADMSG, "field %s: %s", f->name, why);
}

static int schema_decode_list(struct reader *r, const struct schema_field *f, void *object,
			      struct arena *arena, struct error *e)
{
	struct schema_list list = {NULL, reader_u32(r)};

	if (r->bad || list.count > reader_left(r) / SCHEMA_ITEM_MIN)
		return schema_bad(e, f, "count is larger than what follows");
	if (list.count > 0) {
		list.items = arena_alloc(arena, list.count * f->item->size);
		if (!list.items)
			return error_set(e, -ENOMEM, "field %s: no memory", f->name);
	}
	for (size_t n = 0; n < list.count; n++) {
		int r2 =
			schema_decode(r, f->item, (char *)list.items + n * f->item->size, arena, e);
		if (r2 < 0)
			return r2;
	}
	memcpy((char *)object + f->offset, &list, sizeof(list));
	return 0;
}

static int schema_decode_str(struct reader *r, const struct schema_field *f, void *object,
			     struct error *e)
{
	uint32_t len = reader_u32(r);
	struct span s = reader_take(r, (size_t)len + 1);

	if (r->bad)
		return schema_bad(e, f, "string runs past the end");
	if (memchr(s.ptr, '\0', s.len) != s.ptr + len)
		return schema_bad(e, f, "string is not closed by its only NUL");
	FIELD(const char *, object, f) = (const char *)s.ptr;
	return 0;
}

static int schema_decode_number(struct reader *r, const struct schema_field *f, void *object,
				struct error *e)
{
	uint64_t v = reader_u64(r);

	if (r->bad)
		return schema_bad(e, f, "number runs past the end");
	if (f->kind == SCHEMA_U64) {
		FIELD(uint64_t, object, f) = v;
		return 0;
	}
	if (v >= (f->kind == SCHEMA_BOOL ? 2 : f->word_count))
		return schema_bad(e, f, "value is out of range");
	if (f->kind == SCHEMA_BOOL)
		FIELD(bool, object, f) = v == 1;
	else
		FIELD(unsigned int, object, f) = (unsigned int)v;
	return 0;
}

int schema_decode(struct reader *r, const struct schema *s, void *object, struct arena *arena,
		  struct error *e)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct schema_field *f = &s->fields[i];
		int ret = 0;

		switch (f->kind) {
		case SCHEMA_U64:
		case SCHEMA_BOOL:
		case SCHEMA_ENUM:
			ret = schema_decode_number(r, f, object, e);
			break;
		case SCHEMA_STR:
			ret = schema_decode_str(r, f, object, e);
			break;
		case SCHEMA_BYTES: {
			uint32_t len = reader_u32(r);

			FIELD(struct span, object, f) = reader_take(r, len);
			if (r->bad)
				ret = schema_bad(e, f, "bytes run past the end");
			break;
		}
		case SCHEMA_LIST:
			ret = schema_decode_list(r, f, object, arena, e);
			break;
		}
		if (ret < 0)
			return ret;
	}
	return 0;
}

static void schema_json_value(struct json *j, const struct schema_field *f, const void *object)
{
	switch (f->kind) {
	case SCHEMA_U64:
		json_u64(j, FIELD_CONST(uint64_t, object, f));
		break;
	case SCHEMA_BOOL:
		json_bool(j, FIELD_CONST(bool, object, f));
		break;
	case SCHEMA_ENUM: {
		unsigned int v = FIELD_CONST(unsigned int, object, f);

		json_str(j, v < f->word_count ? f->words[v] : "?");
		break;
	}
	case SCHEMA_STR: {
		const char *str = FIELD_CONST(char *, object, f);

		json_str(j, str ? str : "");
		break;
	}
	case SCHEMA_BYTES: {
		struct span bytes = FIELD_CONST(struct span, object, f);
		_cleanup_buf_ struct buf hex = BUF_INIT(j->out->max);

		encode_hex(&hex, bytes);
		json_str(j, buf_str(&hex));
		break;
	}
	case SCHEMA_LIST: {
		struct schema_list list = FIELD_CONST(struct schema_list, object, f);

		json_open(j, '[');
		for (size_t n = 0; n < list.count; n++)
			schema_json(j, f->item, (const char *)list.items + n * f->item->size);
		json_close(j, ']');
		break;
	}
	}
}

void schema_json(struct json *j, const struct schema *s, const void *object)
{
	/* A struct of one field is its value: a list of strings reads as one. */
	if (s->count == 1) {
		schema_json_value(j, &s->fields[0], object);
		return;
	}
	json_open(j, '{');
	for (size_t i = 0; i < s->count; i++) {
		json_key(j, s->fields[i].name);
		schema_json_value(j, &s->fields[i], object);
	}
	json_close(j, '}');
}
