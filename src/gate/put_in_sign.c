/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signing anew.  The box signs with a placeholder key; its signature tells which fields, region
 * and service it meant.  The gate puts in id and token like any other value, writes the text of
 * a new signature from the changed head (sigv4.h), and keys signs it.  The secret key itself
 * never comes here.
 *
 * The body's hash: S3 requests have it in a field, or say that it is not signed.  Other services
 * sign the hash without a field, so the gate gathers the body first, up to PUT_IN_GATHER_MAX.
 * Chunks that are signed one by one would need a signature each; the gate refuses them and names
 * the setting that switches them off.
 */
#include "message_keys.h"
#include "put_in_parts.h"

#include "encode.h"
#include "http_field.h"

#include <openssl/sha.h>

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written through the buf */
static void hash_hex(struct span bytes, char into[SHA256_DIGEST_LENGTH * 2 + 1])
{
	uint8_t hash[SHA256_DIGEST_LENGTH];
	struct buf text = {
		.ptr = into, .cap = SHA256_DIGEST_LENGTH * 2 + 1, .max = SHA256_DIGEST_LENGTH * 2};

	(void)SHA256(bytes.len > 0 ? bytes.ptr : (const uint8_t *)"", bytes.len, hash);
	encode_hex(&text, (struct span){hash, sizeof(hash)});
}

/* The secret of kind aws whose id the request was signed with; -1: none. */
static ssize_t signed_by(const struct put_in *p, struct span id)
{
	struct finder_hit hit;

	if (finder_next(p->book->finder, id, 0, true, &hit) != FINDER_FOUND || hit.at != 0)
		return -1;
	const struct put_in_word *word = &p->book->words[hit.word];

	return p->book->secrets[word->secret].kind == PLAN_SECRET_AWS &&
			       word->part == PLAN_SECRET_AWS_ID
		       ? (ssize_t)word->secret
		       : -1;
}

int put_in_look_signed(struct put_in *p, const struct http_message *m)
{
	struct sigv4 s;
	const char *why = NULL;
	int r = sigv4_read(m, &s, &why);

	/*
	 * A request without a readable signature of one of our secrets is not signed anew: a
	 * placeholder in it is judged as anywhere, and a credential is a foreign one.
	 */
	ssize_t secret = r == 0 ? signed_by(p, s.id) : -1;

	if (secret < 0)
		return 0;
	enum sigv4_payload payload = sigv4_payload_of(&s);

	if (payload == SIGV4_PAYLOAD_CHUNKS || payload == SIGV4_PAYLOAD_TRAILER) {
		put_in_refuse(p, p->book->secrets[secret].name,
			      "its body is signed in chunks, which cannot be signed anew; a plain"
			      " upload, or one with an unsigned payload, can");
		return -EPERM;
	}
	p->signs = true;
	p->signer = (size_t)secret;
	p->gathers = !s.presigned && payload == SIGV4_PAYLOAD_HASH && m->body != HTTP_MESSAGE_NONE;
	if (p->gathers && m->body == HTTP_MESSAGE_LENGTH && m->length > PUT_IN_GATHER_MAX) {
		put_in_refuse(
			p, p->book->secrets[secret].name,
			"its body is larger than the %d MiB that can be hashed before they are"
			" sent",
			PUT_IN_GATHER_MAX >> 20);
		return -EPERM;
	}
	return 0;
}

bool put_in_gathers(const struct put_in *p)
{
	return p->gathers;
}

void put_in_gathered(struct put_in *p, struct span body)
{
	hash_hex(body, p->body_hash);
	p->gathers = false;
}

/* The text that the signature has for the body's hash. */
static struct span payload_of(const struct put_in *p)
{
	static const char unsigned_payload[] = "UNSIGNED-PAYLOAD";

	if (p->sigv4.payload.len > 0)
		return p->sigv4.payload;
	return p->sigv4.presigned && sigv4_is_s3(&p->sigv4) ? span_of_str(unsigned_payload)
							    : span_of_str(p->body_hash);
}

/*
 * A temporary key needs a session token, which the box need not know: when the
 * value has one and the request has none, the gate adds it and signs it too.
 */
static int add_token(struct put_in *p, struct http_message *m)
{
	const struct put_in_value *v = put_in_value_of(p, p->signer);
	struct span token =
		v ? secrets_part(&p->book->secrets[p->signer], v->value, PLAN_SECRET_AWS_TOKEN)
		  : (struct span){NULL, 0};
	static const char parameter[] = "&X-Amz-Security-Token=";

	if (token.len == 0 || http_message_find(m, "x-amz-security-token", 0) ||
	    (p->sigv4.presigned &&
	     memmem(m->target.ptr, m->target.len, parameter + 1, sizeof(parameter) - 2)))
		return 0;
	if (!p->sigv4.presigned) {
		int r = http_message_add(m, SPAN_LITERAL("x-amz-security-token"), token);

		if (r == 0)
			m->fields[m->field_count - 1].secret = true;
		return r < 0 ? r : sigv4_sign_also(&p->sigv4, "x-amz-security-token");
	}
	size_t size = m->target.len + sizeof(parameter) - 1 + 3 * token.len;
	struct buf text = {.ptr = (char *)put_in_alloc(p, size), .cap = size + 1, .max = size};
	const uint8_t *signature = p->sigv4.signature.ptr;

	if (!text.ptr)
		return -ENOMEM;
	buf_put(&text, m->target.ptr, m->target.len);
	buf_put(&text, parameter, sizeof(parameter) - 1);
	encode_percent(&text, token, "");
	p->sigv4.signature.ptr = (const uint8_t *)text.ptr + (signature - m->target.ptr);
	m->target = buf_span(&text);
	return 0;
}

/* The head has its id and token: writes the text that keys signs. */
enum put_in_outcome put_in_begin_signing(struct put_in *p, struct http_message *m)
{
	const char *name = p->book->secrets[p->signer].name, *why = "";
	char hash[SHA256_DIGEST_LENGTH * 2 + 1];
	_cleanup_buf_ struct buf canonical = BUF_INIT(SIGV4_TEXT_MAX);
	struct buf text = BUF_INIT(MESSAGE_SIGN_MAX);

	if (p->body_hash[0] == '\0')
		hash_hex((struct span){NULL, 0}, p->body_hash);
	if (sigv4_read(m, &p->sigv4, &why) < 0 || sigv4_choose_fields(&p->sigv4, m, &why) < 0)
		return put_in_refuse(p, name, "the request cannot be signed anew: %s", why);
	int r = add_token(p, m);

	if (r == 0)
		r = sigv4_canonical(&p->sigv4, m, payload_of(p), &canonical);
	if (r == 0)
		hash_hex(buf_span(&canonical), hash);
	/* It holds the token, and for presigned requests the id. */
	if (canonical.ptr)
		explicit_bzero(canonical.ptr, canonical.cap);
	if (r < 0)
		return put_in_refuse(p, name, "the request cannot be signed anew");
	sigv4_string_to_sign(&p->sigv4, span_of_str(hash), &text);
	uint8_t *kept = buf_error(&text) ? NULL : put_in_alloc(p, text.len);

	if (kept) {
		memcpy(kept, text.ptr, text.len);
		p->signing = (struct span){kept, text.len};
	}
	buf_fini(&text);
	return kept ? PUT_IN_SIGN
		    : put_in_refuse(p, name, "there is no memory to sign the request");
}

void put_in_signing(const struct put_in *p, struct message_sign *ret_sign)
{
	ret_sign->index = p->signer;
	ret_sign->date = p->sigv4.date;
	ret_sign->region = p->sigv4.region;
	ret_sign->service = p->sigv4.service;
	ret_sign->text = p->signing;
}

/* The old signature has the same length as the new. */
static int sign_target(struct put_in *p, struct http_message *m, const char *hex)
{
	size_t at = (size_t)(p->sigv4.signature.ptr - m->target.ptr);
	uint8_t *target = put_in_alloc(p, m->target.len);

	if (!target)
		return -ENOMEM;
	memcpy(target, m->target.ptr, m->target.len);
	memcpy(target + at, hex, SIGV4_SIGNATURE_LEN);
	m->target.ptr = target;
	return 0;
}

static int sign_field(struct put_in *p, struct http_message *m, const char *hex)
{
	struct http_message_field *f = http_message_find(m, "authorization", 0);
	struct buf text = BUF_INIT(8192);
	int r = 0;

	sigv4_authorization(&p->sigv4, span_of_str(hex), &text);
	uint8_t *kept = buf_error(&text) || !f ? NULL : put_in_alloc(p, text.len);

	if (kept) {
		memcpy(kept, text.ptr, text.len);
		f->value = (struct span){kept, text.len};
		f->secret = true;
	} else {
		r = -ENOMEM;
	}
	if (text.ptr)
		explicit_bzero(text.ptr, text.cap);
	buf_fini(&text);
	return r;
}

enum put_in_outcome put_in_signed(struct put_in *p, struct http_message *m, struct span signature)
{
	const char *name = p->book->secrets[p->signer].name;
	char hex[SIGV4_SIGNATURE_LEN + 1];
	struct buf text = {.ptr = hex, .cap = sizeof(hex), .max = SIGV4_SIGNATURE_LEN};

	if (signature.len != SHA256_DIGEST_LENGTH || p->signing.len == 0)
		return put_in_refuse(p, name, "keys gave no signature");
	encode_hex(&text, signature);
	int r = p->sigv4.presigned ? sign_target(p, m, hex) : sign_field(p, m, hex);

	p->signing.len = 0;
	return r < 0 ? put_in_refuse(p, name, "there is no memory to sign the request")
		     : PUT_IN_NOTHING;
}
