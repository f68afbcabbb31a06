/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A struct described by a table of fields.  From the one table come its bytes,
 * its reader and its JSON, so that what is enforced, what is recorded and what
 * is shown cannot drift apart.
 *
 * Bytes, all numbers little endian:
 *
 *	u64, enum, bool	8 bytes (enum below its count, bool 0 or 1)
 *	string		u32 length, the bytes, one NUL that is not counted; no NUL inside
 *	bytes		u32 length, the bytes
 *	list		u32 count, then each item's fields in order
 *
 * Fields stand in table order with nothing between them.  There is exactly one
 * encoding of a struct; the reader refuses anything else.
 */
#ifndef BAWN_SCHEMA_H
#define BAWN_SCHEMA_H

#include "arena.h"
#include "buf.h"
#include "error.h"
#include "json.h"
#include "span.h"

enum schema_kind {
	SCHEMA_U64,   /* uint64_t */
	SCHEMA_BOOL,  /* bool */
	SCHEMA_ENUM,  /* unsigned int, named by words */
	SCHEMA_STR,   /* const char *, never NULL once decoded; NULL encodes as "" */
	SCHEMA_BYTES, /* struct span */
	SCHEMA_LIST,  /* LIST_OF(struct ...) */
};

struct schema_field {
	const char *name;
	enum schema_kind kind;
	size_t offset;
	const struct schema *item; /* of a list */
	const char *const *words;  /* of an enum */
	size_t word_count;
};

struct schema {
	size_t size; /* of the struct */
	const struct schema_field *fields;
	size_t count;
};

/* Items live in an arena or in static data; a list never owns them. */
#define LIST_OF(type)         \
	struct {              \
		type *items;  \
		size_t count; \
	}

#define SCHEMA_FIELD_U64(type, f)                                \
	{                                                        \
#f, SCHEMA_U64, offsetof(type, f), NULL, NULL, 0 \
	}
#define SCHEMA_FIELD_BOOL(type, f)                                \
	{                                                         \
#f, SCHEMA_BOOL, offsetof(type, f), NULL, NULL, 0 \
	}
#define SCHEMA_FIELD_STR(type, f)                                \
	{                                                        \
#f, SCHEMA_STR, offsetof(type, f), NULL, NULL, 0 \
	}
#define SCHEMA_FIELD_BYTES(type, f)                                \
	{                                                          \
#f, SCHEMA_BYTES, offsetof(type, f), NULL, NULL, 0 \
	}
#define SCHEMA_FIELD_ENUM(type, f, w)                                             \
	{                                                                         \
#f, SCHEMA_ENUM, offsetof(type, f), NULL, (w), BAWN_ARRAY_SIZE(w) \
	}
#define SCHEMA_FIELD_LIST(type, f, s)                            \
	{                                                        \
#f, SCHEMA_LIST, offsetof(type, f), (s), NULL, 0 \
	}
#define SCHEMA_OF(type, table)                                \
	{                                                     \
		sizeof(type), (table), BAWN_ARRAY_SIZE(table) \
	}

void schema_encode(struct buf *into, const struct schema *s, const void *object);

/* Strings and bytes point into the reader's span; lists come from the arena. */
int schema_decode(struct reader *r, const struct schema *s, void *object, struct arena *arena,
		  struct error *e);

void schema_json(struct json *j, const struct schema *s, const void *object);

#endif
