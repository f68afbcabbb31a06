/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AWS Signature Version 4: reads how a request was signed, and writes the texts for a new
 * signature.  It computes no hash; the caller hashes the texts.
 *
 *	Authorization: AWS4-HMAC-SHA256 Credential=ID/DATE/REGION/SERVICE/aws4_request,
 *		SignedHeaders=a;b, Signature=HEX
 *	?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=...&X-Amz-Date=...
 *		&X-Amz-SignedHeaders=...&X-Amz-Signature=HEX		(presigned)
 *
 *	canonical request	method, path, query, fields, names of fields, hash of the body
 *	string to sign		algorithm, time, scope, hash of the canonical request
 *
 * Paths: S3 signs the path as it is sent; every other service signs it without dot segments
 * and empty ones, and escaped once more.  Fields that a proxy changes (accept-encoding and
 * those that say how a message travels) are left out of a new signature; in a presigned
 * request, whose list is part of the query, such a field is refused.
 */
#ifndef BAWN_SIGV4_H
#define BAWN_SIGV4_H

#include "buf.h"
#include "http_message.h"

enum {
	SIGV4_SIGNATURE_LEN = 64, /* hex */
	SIGV4_FIELDS_MAX = 64,
	SIGV4_QUERY_MAX = 256, /* parameters */
	SIGV4_TEXT_MAX = 128 << 10,
};

/* Spans lie in the message; those of a presigned one are as they were escaped. */
struct sigv4 {
	bool presigned;
	struct span id;
	char date[9];  /* YYYYMMDD */
	char time[17]; /* YYYYMMDDTHHMMSSZ, of the same day */
	char region[64], service[64];
	char signed_fields[1024]; /* "a;b;c" */
	struct span signature;    /* where it stands */
	struct span payload;      /* x-amz-content-sha256; empty: there is none */
};

/* What the body's hash is, by what the request says. */
enum sigv4_payload {
	SIGV4_PAYLOAD_SAID,     /* it is in x-amz-content-sha256: a hash, or UNSIGNED-PAYLOAD */
	SIGV4_PAYLOAD_HASH,     /* of the bytes of the body, which have to be known first */
	SIGV4_PAYLOAD_CHUNKS,   /* STREAMING-AWS4-HMAC-SHA256-PAYLOAD: each chunk is signed */
	SIGV4_PAYLOAD_TRAILER,  /* the same with a signed trailer */
	SIGV4_PAYLOAD_UNSIGNED, /* STREAMING-UNSIGNED-PAYLOAD-TRAILER: chunks without signatures */
};

/* -ENOENT: it has no such signature.  -EINVAL: the signature is malformed; ret_why says how. */
int sigv4_read(const struct http_message *m, struct sigv4 *ret, const char **ret_why) BAWN_MUST_USE;

enum sigv4_payload sigv4_payload_of(const struct sigv4 *s);

bool sigv4_is_s3(const struct sigv4 *s);

/* The names that the new signature covers, into s->signed_fields.  -EINVAL as above. */
int sigv4_choose_fields(struct sigv4 *s, const struct http_message *m, const char **ret_why);

/* One more field, in its place in the list.  -EINVAL: there is no room. */
int sigv4_sign_also(struct sigv4 *s, const char *name) BAWN_MUST_USE;

/* payload: the hash in hex, or the word in its place.  -EINVAL: a field is missing, or too much. */
int sigv4_canonical(const struct sigv4 *s, const struct http_message *m, struct span payload,
		    struct buf *into) BAWN_MUST_USE;

/* hash: hex of the SHA-256 of the canonical request. */
void sigv4_string_to_sign(const struct sigv4 *s, struct span hash, struct buf *into);

/* The whole value of Authorization. */
void sigv4_authorization(const struct sigv4 *s, struct span signature, struct buf *into);

#endif
