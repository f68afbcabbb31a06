/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of put_in share. */
#ifndef BAWN_PUT_IN_PARTS_H
#define BAWN_PUT_IN_PARTS_H

#include "buf.h"
#include "finder.h"
#include "put_in.h"
#include "sigv4.h"

enum {
	PUT_IN_WORDS_MAX = PLAN_SECRETS_MAX * PLAN_SECRET_PARTS_MAX,
	PUT_IN_WHY_SIZE = 240,
	PUT_IN_BEHIND = 256,   /* bytes before a placeholder, where we look for a name */
	PUT_IN_COOKIES = 1024, /* remembered; the oldest are forgotten */
};

/* A placeholder: whose it is. */
struct put_in_word {
	size_t secret, part;
};

struct put_in_book {
	const struct plan_secret *secrets;
	size_t count;
	size_t word_count;
	struct put_in_word words[PUT_IN_WORDS_MAX];
	struct finder *finder; /* of all placeholders, in the order of `words` */
	/* Cookies that origins of this session set: digests of host and cookie. */
	size_t cookie_next;
	uint8_t cookies[PUT_IN_COOKIES][16];
};

/* Bytes that are wiped with the put_in. */
struct put_in_memory {
	struct put_in_memory *next;
	size_t len;
	uint8_t bytes[];
};

struct put_in_value {
	size_t secret;
	struct span value; /* empty until it was given */
	bool in_body, in_websocket;
};

/* How a value is written where it goes. */
enum put_in_writing { PUT_IN_RAW, PUT_IN_PERCENT, PUT_IN_JSON };

/* A parameter of a form, as far as it has come. */
struct put_in_form {
	bool looked_at; /* the body is a form, and foreign credentials are refused there */
	bool in_value;
	size_t name_len, value_len;
	uint8_t name[200], value[600]; /* what is longer is cut off */
};

struct put_in {
	const struct put_in_book *book;
	struct put_in_memory *memory;
	size_t found;      /* placeholders, in the head */
	size_t last_found; /* the secret of the last */
	size_t need_count;
	size_t needs[PUT_IN_NEEDS_MAX];
	struct put_in_value values[PUT_IN_NEEDS_MAX]; /* in the order of needs */
	const char *secret;                           /* of the refusal: a name, or "" */
	char why[PUT_IN_WHY_SIZE];
	char names[PUT_IN_WHY_SIZE];

	/* Of a request that is signed. */
	bool signs, gathers;
	size_t signer; /* its secret */
	struct sigv4 sigv4;
	struct span signing; /* the text that keys signs */
	char body_hash[SIGV4_SIGNATURE_LEN + 1];

	/* Of the body, and of WebSocket text. */
	bool mask;               /* what is not put in is blotted out, in the body */
	bool masked;             /* something was */
	bool replaces;           /* some secret goes into it */
	enum put_in_writing how; /* it is written there */
	bool ended;
	struct put_in_form form;
	/* The last bytes before `kept`, or before what comes next. */
	size_t behind_len;
	uint8_t behind[PUT_IN_BEHIND];
	struct buf kept;
	size_t sent; /* of kept: bytes that are out already */
	struct reframe *frames;
};

/* Where in a request a placeholder was found. */
enum put_in_spot {
	PUT_IN_AT_LINE, /* method, authority, path */
	PUT_IN_AT_QUERY,
	PUT_IN_AT_AUTHORIZATION,
	PUT_IN_AT_BASIC, /* within what Basic decodes to */
	PUT_IN_AT_FIELD,
	PUT_IN_AT_NAME, /* of a field */
	PUT_IN_AT_TRAILER,
	PUT_IN_AT_BODY,
	PUT_IN_AT_WEBSOCKET,
	PUT_IN_AT_BINARY,
	PUT_IN_SPOTS,
};

/* put_in.c */
uint8_t *put_in_alloc(struct put_in *p, size_t len);
enum put_in_outcome put_in_refuse(struct put_in *p, const char *secret, const char *fmt, ...)
	BAWN_PRINTF(3, 4);
/* 0: this placeholder may be replaced there.  -EPERM with the reason. */
int put_in_judge(struct put_in *p, const struct finder_hit *hit, enum put_in_spot spot,
		 struct span field);
/* Refuses a placeholder because other text is beside it; wanted: what put_in_unless_whole said. */
void put_in_refuse_part(struct put_in *p, const struct finder_hit *hit, enum put_in_spot spot,
			struct span field, const char *wanted);
struct put_in_value *put_in_value_of(struct put_in *p, size_t secret);
/* The part of the value that replaces a hit; empty: the value has no such part. */
struct span put_in_part(struct put_in *p, const struct finder_hit *hit);

/* put_in_named.c: whether the text before a placeholder names a parameter of its secret. */
bool put_in_is_named(const struct plan_secret *s, struct span before, enum put_in_writing how);

/* put_in_whole.c: what a placeholder must be the whole of. */
enum put_in_as {
	PUT_IN_AS_FIELD,
	PUT_IN_AS_COOKIE,
	PUT_IN_AS_BASIC,
	PUT_IN_AS_PARAMETER,
	PUT_IN_AS_STRING, /* of JSON */
	PUT_IN_AS_WORD,
	PUT_IN_AS_CREDENTIAL, /* of a request that is signed */
};
/* Looks at the text before and after it.  NULL: it is whole; else words for what it should be. */
const char *put_in_unless_whole(enum put_in_as as, struct span before, struct span behind);
/* Whether no other field has the name of this one; cookies may stand in several. */
bool put_in_is_once(const struct http_message *m, size_t field);

/* put_in_head.c: the parts of a head that are looked at apart. */
struct put_in_target {
	struct span path, query; /* query: without the '?' */
};
struct put_in_target put_in_split(struct span target);
bool put_in_is_basic(struct span value, struct span *ret_rest);
/* Decoded into memory of p; -EINVAL: it is none. */
int put_in_decode_basic(struct put_in *p, struct span rest, struct span *ret_text);

/* put_in_sign.c */
int put_in_look_signed(struct put_in *p, const struct http_message *m);
enum put_in_outcome put_in_begin_signing(struct put_in *p, struct http_message *m);

/* put_in_foreign.c: -EPERM with the reason when the request has a foreign credential. */
int put_in_check_foreign(struct put_in *p, const struct http_message *m,
			 const struct secrets_place *at);
/* The same for a piece of a form, before it goes on. */
int put_in_check_form(struct put_in *p, struct span in, bool end);

#endif
