/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON into a buf, with the commas and the indentation.  It writes controls
 * and invisible characters as \u escapes, so that the output is safe on
 * a terminal, and a byte that is no UTF-8 as the text \xNN.
 */
#ifndef BAWN_JSON_H
#define BAWN_JSON_H

#include "base.h"
#include "buf.h"

enum { JSON_DEPTH = 16 };

struct json {
	struct buf *out;
	int depth;
	bool pretty;
	bool first[JSON_DEPTH];
	bool after_key;
};

#define JSON_INIT(buffer, is_pretty) \
	((struct json){.out = (buffer), .depth = 0, .pretty = (is_pretty), .first = {true}})

void json_open(struct json *j, char bracket);  /* '{' or '[' */
void json_close(struct json *j, char bracket); /* '}' or ']' */
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *s);
void json_span(struct json *j, struct span s);
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_bool(struct json *j, bool v);

/* Adds a whole value that this writer wrote into another buf. */
void json_raw(struct json *j, struct span value);

/* A key and its value in one go. */
void json_key_str(struct json *j, const char *key, const char *s);
void json_key_u64(struct json *j, const char *key, uint64_t v);
void json_key_bool(struct json *j, const char *key, bool v);

#endif
