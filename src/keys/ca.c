/* SPDX-License-Identifier: Apache-2.0 */
#include "ca.h"

#include "address.h"
#include "arena.h"
#include "crypto.h"
#include "der.h"
#include "limit.h"
#include "locked_value.h"
#include "str.h"

#include <stdio.h>
#include <time.h>

enum {
	CA_SERIAL_BYTES = 16,
	CA_DAY = 24 * 60 * 60,
	CA_COMMON_NAME_MAX = 64, /* by X.520 */
	CA_ID_BYTES = 20,        /* of a key identifier */
	CA_CERTIFICATE_MAX = 48 << 10,
	CA_NAME_MAX = 64,
};

#define CA_OID(bytes) ((struct span){(const uint8_t *)(bytes), sizeof(bytes) - 1})
#define CA_ECDSA_SHA256 CA_OID("\x2a\x86\x48\xce\x3d\x04\x03\x02")
#define CA_EC_PUBLIC_KEY CA_OID("\x2a\x86\x48\xce\x3d\x02\x01")
#define CA_P256 CA_OID("\x2a\x86\x48\xce\x3d\x03\x01\x07")
#define CA_SERVER_AUTH CA_OID("\x2b\x06\x01\x05\x05\x07\x03\x01")

/* The last byte of 2.5.4.x, a part of a name, and of 2.5.29.x, an extension. */
enum { CA_COMMON_NAME = 3, CA_ORGANISATION = 10 };
enum {
	CA_SUBJECT_KEY = 14,
	CA_KEY_USAGE = 15,
	CA_ALT_NAME = 17,
	CA_BASIC_CONSTRAINTS = 19,
	CA_CRL_NUMBER = 20,
	CA_NAME_CONSTRAINTS = 30,
	CA_CRL_PLACES = 31,
	CA_AUTHORITY_KEY = 35,
	CA_EXTENDED_KEY_USAGE = 37,
};

/* What a general name is, by its number. */
enum { CA_NAME_DNS = 2, CA_NAME_URI = 6, CA_NAME_IP = 7 };

struct ca_kept {
	char *host;
	struct buf der;
	uint64_t expires;
};

struct ca {
	struct crypto_key *key, *leaf_key;
	uint8_t point[CRYPTO_POINT], leaf_point[CRYPTO_POINT];
	char name[CA_NAME_MAX];
	struct buf certificate, crl;
	struct locked_value leaf_key_der;
	struct limit limit;
	struct arena arena;
	struct ca_kept kept[CA_KEPT];
	size_t next_kept;
};

/* --- what certificates are made of ---------------------------------------------------- */

static void ca_put_algorithm(struct buf *b)
{
	size_t at = der_open(b, DER_SEQUENCE);

	der_put(b, DER_OID, CA_ECDSA_SHA256);
	der_close(b, at);
}

static void ca_put_name_part(struct buf *b, uint8_t kind, const char *text)
{
	const uint8_t oid[] = {0x55, 4, kind};
	size_t set = der_open(b, DER_SET);
	size_t part = der_open(b, DER_SEQUENCE);

	der_put(b, DER_OID, (struct span){oid, sizeof(oid)});
	der_put(b, DER_UTF8_STRING, span_of_str(text));
	der_close(b, part);
	der_close(b, set);
}

static void ca_put_own_name(struct buf *b, const struct ca *ca)
{
	size_t at = der_open(b, DER_SEQUENCE);

	ca_put_name_part(b, CA_ORGANISATION, "bawn");
	ca_put_name_part(b, CA_COMMON_NAME, ca->name);
	der_close(b, at);
}

/* Valid from a day ago, for clients whose clock is behind. */
static void ca_put_days(struct buf *b, int days)
{
	int64_t now = (int64_t)time(NULL);
	size_t at = der_open(b, DER_SEQUENCE);

	der_put_time(b, now - CA_DAY);
	der_put_time(b, now + (int64_t)days * CA_DAY);
	der_close(b, at);
}

static void ca_put_curve(struct buf *b)
{
	size_t at = der_open(b, DER_SEQUENCE);

	der_put(b, DER_OID, CA_EC_PUBLIC_KEY);
	der_put(b, DER_OID, CA_P256);
	der_close(b, at);
}

static void ca_put_public_key(struct buf *b, const uint8_t point[CRYPTO_POINT])
{
	size_t at = der_open(b, DER_SEQUENCE);

	ca_put_curve(b);
	der_put_bits(b, (struct span){point, CRYPTO_POINT});
	der_close(b, at);
}

/* A random serial number, positive and of fixed length. */
static int ca_put_serial(struct buf *b)
{
	uint8_t bytes[CA_SERIAL_BYTES];
	int r = crypto_random(bytes, sizeof(bytes));

	bytes[0] = (uint8_t)((bytes[0] & 0x7f) | 0x40);
	der_put_integer(b, (struct span){bytes, sizeof(bytes)});
	return r;
}

/* An open extension: the caller writes its content between begin and end. */
struct ca_extension {
	size_t whole, content;
};

static struct ca_extension ca_open_extension(struct buf *b, uint8_t kind, bool critical)
{
	const uint8_t oid[] = {0x55, 0x1d, kind};
	struct ca_extension x = {.whole = der_open(b, DER_SEQUENCE)};

	der_put(b, DER_OID, (struct span){oid, sizeof(oid)});
	if (critical)
		der_put(b, DER_BOOLEAN, (struct span){(const uint8_t *)"\xff", 1});
	x.content = der_open(b, DER_OCTET_STRING);
	return x;
}

static void ca_close_extension(struct buf *b, struct ca_extension x)
{
	der_close(b, x.content);
	der_close(b, x.whole);
}

/* Writes an extension with constant content. */
static void ca_put_extension(struct buf *b, uint8_t kind, bool critical, const char *der,
			     size_t len)
{
	struct ca_extension x = ca_open_extension(b, kind, critical);

	buf_put(b, der, len);
	ca_close_extension(b, x);
}

#define CA_PUT_EXTENSION(b, kind, critical, der) \
	ca_put_extension((b), (kind), (critical), (der), sizeof(der) - 1)

/* RFC 7093: the first 160 bits of the SHA-256 of the public key. */
static void ca_put_key_id(struct buf *b, unsigned int tag, const uint8_t point[CRYPTO_POINT])
{
	uint8_t digest[CRYPTO_SHA256];

	crypto_sha256((struct span){point, CRYPTO_POINT}, digest);
	der_put(b, tag, (struct span){digest, CA_ID_BYTES});
}

static void ca_put_subject_key(struct buf *b, const uint8_t point[CRYPTO_POINT])
{
	struct ca_extension x = ca_open_extension(b, CA_SUBJECT_KEY, false);

	ca_put_key_id(b, DER_OCTET_STRING, point);
	ca_close_extension(b, x);
}

static void ca_put_authority_key(struct buf *b, const struct ca *ca)
{
	struct ca_extension x = ca_open_extension(b, CA_AUTHORITY_KEY, false);
	size_t at = der_open(b, DER_SEQUENCE);

	ca_put_key_id(b, DER_CONTEXT, ca->point);
	der_close(b, at);
	ca_close_extension(b, x);
}

/* Writes the signed part, the algorithm and the signature as one sequence. */
static int ca_put_signed(struct buf *b, const struct ca *ca, struct span signed_part)
{
	uint8_t unused_bits = 0;
	size_t whole = der_open(b, DER_SEQUENCE);

	buf_put(b, signed_part.ptr, signed_part.len);
	ca_put_algorithm(b);
	size_t bits = der_open(b, DER_BIT_STRING);

	buf_put(b, &unused_bits, 1);
	int r = crypto_key_sign(ca->key, signed_part, b);

	der_close(b, bits);
	der_close(b, whole);
	return r < 0 ? r : buf_error(b);
}

/* --- name constraints ----------------------------------------------------------------- */

static void ca_put_subtree(struct buf *b, unsigned int kind, struct span name)
{
	size_t at = der_open(b, DER_SEQUENCE);

	der_put(b, DER_CONTEXT + kind, name);
	der_close(b, at);
}

/* An address with a mask of all ones. */
static void ca_put_address_subtree(struct buf *b, const struct address *a)
{
	uint8_t bytes[32];
	size_t len = address_is_v4(a) ? 4 : 16;

	memcpy(bytes, a->bytes + 16 - len, len);
	memset(bytes + len, 0xff, len);
	ca_put_subtree(b, CA_NAME_IP, (struct span){bytes, 2 * len});
}

static bool ca_is_limited(const struct limit *l)
{
	return !l->any && l->names.count <= CA_NAMES_MAX && l->addresses.count <= CA_NAMES_MAX;
}

static void ca_put_limits(struct buf *b, const struct limit *l)
{
	static const uint8_t none[32];
	struct ca_extension x = ca_open_extension(b, CA_NAME_CONSTRAINTS, true);
	size_t whole = der_open(b, DER_SEQUENCE);
	size_t permitted = der_open(b, DER_CONTEXT_SEQ);

	for (size_t i = 0; i < l->names.count; i++)
		ca_put_subtree(b, CA_NAME_DNS, span_of_str(l->names.items[i].text));
	/* The plan opens only addresses.  So permit one name that nobody can look up. */
	if (l->names.count == 0)
		ca_put_subtree(b, CA_NAME_DNS, SPAN_LITERAL("none.invalid"));
	for (size_t i = 0; i < l->addresses.count; i++)
		ca_put_address_subtree(b, &l->addresses.items[i]);
	der_close(b, permitted);
	/* A kind of name that is not listed is not limited.  So when no address is opened,
	 * exclude all addresses. */
	if (l->addresses.count == 0) {
		size_t excluded = der_open(b, DER_CONTEXT_SEQ + 1);

		ca_put_subtree(b, CA_NAME_IP, (struct span){none, 8});
		ca_put_subtree(b, CA_NAME_IP, (struct span){none, 32});
		der_close(b, excluded);
	}
	der_close(b, whole);
	ca_close_extension(b, x);
}

/* The beginning of each certificate: version, serial number, issuer. */
static int ca_put_head(struct buf *b, const struct ca *ca)
{
	size_t version = der_open(b, DER_CONTEXT_SEQ);

	der_put_small(b, 2); /* version 3 */
	der_close(b, version);
	int r = ca_put_serial(b);

	ca_put_algorithm(b);
	ca_put_own_name(b, ca);
	return r;
}

/* --- the authority -------------------------------------------------------------------- */

static int ca_make_certificate(struct ca *ca)
{
	_cleanup_buf_ struct buf b = BUF_INIT(CA_CERTIFICATE_MAX);
	size_t whole = der_open(&b, DER_SEQUENCE);
	int r = ca_put_head(&b, ca);

	ca_put_days(&b, CA_DAYS);
	ca_put_own_name(&b, ca);
	ca_put_public_key(&b, ca->point);
	size_t outer = der_open(&b, DER_CONTEXT_SEQ + 3);
	size_t extensions = der_open(&b, DER_SEQUENCE);

	CA_PUT_EXTENSION(&b, CA_BASIC_CONSTRAINTS, true, "\x30\x06\x01\x01\xff\x02\x01\x00");
	CA_PUT_EXTENSION(&b, CA_KEY_USAGE, true, "\x03\x02\x01\x06"); /* keyCertSign, cRLSign */
	ca_put_subject_key(&b, ca->point);
	if (ca_is_limited(&ca->limit))
		ca_put_limits(&b, &ca->limit);
	der_close(&b, extensions);
	der_close(&b, outer);
	der_close(&b, whole);
	return r < 0 ? r : ca_put_signed(&ca->certificate, ca, buf_span(&b));
}

static int ca_make_crl(struct ca *ca)
{
	_cleanup_buf_ struct buf b = BUF_INIT(CA_CERTIFICATE_MAX);
	int64_t now = (int64_t)time(NULL);
	size_t whole = der_open(&b, DER_SEQUENCE);

	der_put_small(&b, 1); /* version 2 */
	ca_put_algorithm(&b);
	ca_put_own_name(&b, ca);
	der_put_time(&b, now - CA_DAY);
	der_put_time(&b, now + (int64_t)CA_DAYS * CA_DAY);
	size_t outer = der_open(&b, DER_CONTEXT_SEQ);
	size_t extensions = der_open(&b, DER_SEQUENCE);

	ca_put_authority_key(&b, ca);
	CA_PUT_EXTENSION(&b, CA_CRL_NUMBER, false, "\x02\x01\x01");
	der_close(&b, extensions);
	der_close(&b, outer);
	der_close(&b, whole);
	return ca_put_signed(&ca->crl, ca, buf_span(&b));
}

/* PKCS #8, around the form of RFC 5915.  Written in one place, which is wiped. */
static int ca_write_leaf_key(struct ca *ca)
{
	char bytes[256];
	struct buf b = {bytes, 0, sizeof(bytes), sizeof(bytes) - 1, 0};
	uint8_t scalar[CRYPTO_SCALAR];
	int r = crypto_key_scalar(ca->leaf_key, scalar);
	size_t whole = der_open(&b, DER_SEQUENCE);

	der_put_small(&b, 0);
	ca_put_curve(&b);
	size_t wrapped = der_open(&b, DER_OCTET_STRING);
	size_t key = der_open(&b, DER_SEQUENCE);

	der_put_small(&b, 1);
	der_put(&b, DER_OCTET_STRING, (struct span){scalar, sizeof(scalar)});
	size_t public = der_open(&b, DER_CONTEXT_SEQ + 1);

	der_put_bits(&b, (struct span){ca->leaf_point, CRYPTO_POINT});
	der_close(&b, public);
	der_close(&b, key);
	der_close(&b, wrapped);
	der_close(&b, whole);
	if (r == 0)
		r = buf_error(&b);
	if (r == 0)
		r = locked_value_set(&ca->leaf_key_der, buf_span(&b), 0);
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(scalar, sizeof(scalar));
	return r;
}

static int ca_make_keys(struct ca *ca)
{
	uint8_t mark[4];
	int r = crypto_key_new(&ca->key);

	if (r == 0)
		r = crypto_key_new(&ca->leaf_key);
	if (r == 0)
		r = crypto_key_point(ca->key, ca->point);
	if (r == 0)
		r = crypto_key_point(ca->leaf_key, ca->leaf_point);
	if (r == 0)
		r = crypto_random(mark, sizeof(mark));
	if (r == 0)
		(void)snprintf(ca->name, sizeof(ca->name), "bawn session %02x%02x%02x%02x", mark[0],
			       mark[1], mark[2], mark[3]);
	return r;
}

int ca_new(const struct plan *plan, struct ca **ret_ca, struct error *e)
{
	_cleanup_ca_ struct ca *ca = calloc(1, sizeof(*ca));

	if (!ca)
		return error_sys(e, -ENOMEM, "making the session's authority");
	ca->arena = ARENA_INIT(PLAN_ARENA_MAX);
	ca->certificate = BUF_INIT(CA_CERTIFICATE_MAX);
	ca->crl = BUF_INIT(CA_CERTIFICATE_MAX);
	int r = limit_of_plan(plan, &ca->arena, &ca->limit, e);

	if (r < 0)
		return r;
	r = ca_make_keys(ca);
	if (r == 0)
		r = ca_write_leaf_key(ca);
	if (r == 0)
		r = ca_make_certificate(ca);
	if (r == 0)
		r = ca_make_crl(ca);
	if (r < 0)
		return error_sys(e, r, "making the session's authority");
	*ret_ca = TAKE_PTR(ca);
	return 0;
}

void ca_free(struct ca *ca)
{
	if (!ca)
		return;
	for (size_t i = 0; i < CA_KEPT; i++) {
		free(ca->kept[i].host);
		buf_fini(&ca->kept[i].der);
	}
	crypto_key_free(ca->key);
	crypto_key_free(ca->leaf_key);
	buf_fini(&ca->certificate);
	buf_fini(&ca->crl);
	locked_value_wipe(&ca->leaf_key_der);
	arena_fini(&ca->arena);
	free(ca);
}

struct span ca_certificate(const struct ca *ca)
{
	return buf_span(&ca->certificate);
}

struct span ca_crl(const struct ca *ca)
{
	return buf_span(&ca->crl);
}

bool ca_may_sign(const struct ca *ca, const char *host)
{
	return limit_has(&ca->limit, host);
}

/* --- leaves --------------------------------------------------------------------------- */

/*
 * An address, or a name too long for a common name, goes only into subjectAltName, which is
 * critical then: OpenSSL checks a common name against the limits for names even when it is an
 * address.
 */
static void ca_put_subject(struct buf *b, const char *host, bool named)
{
	size_t at = der_open(b, DER_SEQUENCE);

	if (named)
		ca_put_name_part(b, CA_COMMON_NAME, host);
	der_close(b, at);
}

static void ca_put_alt_name(struct buf *b, const char *host, const struct address *a, bool critical)
{
	struct ca_extension x = ca_open_extension(b, CA_ALT_NAME, critical);
	size_t at = der_open(b, DER_SEQUENCE);
	size_t len = a && address_is_v4(a) ? 4 : 16;

	if (a)
		der_put(b, DER_CONTEXT + CA_NAME_IP, (struct span){a->bytes + 16 - len, len});
	else
		der_put(b, DER_CONTEXT + CA_NAME_DNS, span_of_str(host));
	der_close(b, at);
	ca_close_extension(b, x);
}

static void ca_put_server_use(struct buf *b)
{
	struct ca_extension x = ca_open_extension(b, CA_EXTENDED_KEY_USAGE, false);
	size_t at = der_open(b, DER_SEQUENCE);

	der_put(b, DER_OID, CA_SERVER_AUTH);
	der_close(b, at);
	ca_close_extension(b, x);
}

static void ca_put_crl_place(struct buf *b)
{
	struct ca_extension x = ca_open_extension(b, CA_CRL_PLACES, false);
	size_t places = der_open(b, DER_SEQUENCE);
	size_t place = der_open(b, DER_SEQUENCE);
	size_t point = der_open(b, DER_CONTEXT_SEQ);
	size_t full_name = der_open(b, DER_CONTEXT_SEQ);

	der_put(b, DER_CONTEXT + CA_NAME_URI, SPAN_LITERAL(PLAN_CRL_URL));
	der_close(b, full_name);
	der_close(b, point);
	der_close(b, place);
	der_close(b, places);
	ca_close_extension(b, x);
}

static int ca_write_leaf(const struct ca *ca, const char *host, struct buf *into)
{
	_cleanup_buf_ struct buf b = BUF_INIT(CA_CERTIFICATE_MAX);
	struct address address;
	bool is_address = address_parse(span_of_str(host), 0, &address) == 0;
	bool named = !is_address && strlen(host) <= CA_COMMON_NAME_MAX;
	size_t whole = der_open(&b, DER_SEQUENCE);
	int r = ca_put_head(&b, ca);

	ca_put_days(&b, CA_LEAF_DAYS);
	ca_put_subject(&b, host, named);
	ca_put_public_key(&b, ca->leaf_point);
	size_t outer = der_open(&b, DER_CONTEXT_SEQ + 3);
	size_t extensions = der_open(&b, DER_SEQUENCE);

	ca_put_alt_name(&b, host, is_address ? &address : NULL, !named);
	CA_PUT_EXTENSION(&b, CA_BASIC_CONSTRAINTS, true, "\x30\x00");
	CA_PUT_EXTENSION(&b, CA_KEY_USAGE, true, "\x03\x02\x07\x80"); /* digitalSignature */
	ca_put_server_use(&b);
	ca_put_subject_key(&b, ca->leaf_point);
	ca_put_authority_key(&b, ca);
	ca_put_crl_place(&b);
	der_close(&b, extensions);
	der_close(&b, outer);
	der_close(&b, whole);
	return r < 0 ? r : ca_put_signed(into, ca, buf_span(&b));
}

static const struct ca_kept *ca_make_leaf(struct ca *ca, const char *host)
{
	struct ca_kept *kept = &ca->kept[ca->next_kept];
	_cleanup_buf_ struct buf der = BUF_INIT(CA_CERTIFICATE_MAX);
	_cleanup_free_ char *copy = strdup(host);

	if (!copy || ca_write_leaf(ca, host, &der) < 0)
		return NULL;
	free(kept->host);
	buf_fini(&kept->der);
	*kept = (struct ca_kept){
		.host = TAKE_PTR(copy),
		.der = der,
		/* An hour early, so that a leaf does not expire while it is in use. */
		.expires = (uint64_t)time(NULL) + CA_LEAF_DAYS * (uint64_t)CA_DAY - 3600,
	};
	der = BUF_INIT(0);
	ca->next_kept = (ca->next_kept + 1) % CA_KEPT;
	return kept;
}

static const struct ca_kept *ca_find_leaf(const struct ca *ca, const char *host)
{
	uint64_t now = (uint64_t)time(NULL);

	for (size_t i = 0; i < CA_KEPT && ca->kept[i].host; i++)
		if (ca->kept[i].expires > now && str_equal(ca->kept[i].host, host))
			return &ca->kept[i];
	return NULL;
}

int ca_leaf(struct ca *ca, const char *host, struct ca_leaf *ret_leaf, struct error *e)
{
	if (!ca_may_sign(ca, host))
		return error_set(e, -EACCES, "no rule of the plan opens %s", host);
	const struct ca_kept *kept = ca_find_leaf(ca, host);

	if (!kept)
		kept = ca_make_leaf(ca, host);
	if (!kept)
		return error_set(e, -EIO, "a certificate for %s could not be made", host);
	*ret_leaf = (struct ca_leaf){.certificate = buf_span(&kept->der),
				     .key = locked_value_span(&ca->leaf_key_der),
				     .expires = kept->expires};
	return 0;
}
