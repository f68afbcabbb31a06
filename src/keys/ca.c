/* SPDX-License-Identifier: Apache-2.0 */
#include "ca.h"

#include "address.h"
#include "arena.h"
#include "limit.h"
#include "str.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <time.h>

enum {
	CA_SERIAL_BYTES = 16,
	CA_DAY = 24 * 60 * 60,
	CA_CN_MAX = 64, /* of a common name, by X.520 */
};

struct ca_kept {
	char *host;
	uint8_t *der;
	size_t len;
	uint64_t expires;
};

struct ca {
	EVP_PKEY *key, *leaf_key;
	X509 *certificate;
	uint8_t *certificate_der, *crl_der, *leaf_key_der;
	size_t certificate_len, crl_len, leaf_key_len;
	struct limit limit;
	struct arena arena;
	struct ca_kept kept[CA_KEPT];
	size_t next_kept;
};

static int ca_bad(struct error *e, const char *what)
{
	const char *why = ERR_reason_error_string(ERR_peek_last_error());

	(void)error_set(e, -EIO, "%s: %s", what, why ? why : "no reason given");
	ERR_clear_error();
	return -EIO;
}

static void ca_free_x509(X509 **x)
{
	X509_free(*x);
}

static void ca_free_names(GENERAL_NAMES **names)
{
	GENERAL_NAMES_free(*names);
}

/* --- what certificates are made of ---------------------------------------------------- */

static bool ca_set_serial(X509 *x)
{
	uint8_t bytes[CA_SERIAL_BYTES];
	BIGNUM *number = NULL;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return false;
	bytes[0] = (uint8_t)((bytes[0] & 0x7f) | 0x40); /* positive, and always as long */
	number = BN_bin2bn(bytes, sizeof(bytes), NULL);
	bool ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x));

	BN_free(number);
	return ok;
}

/* Valid from a day ago, for clients whose clock is behind. */
static bool ca_set_days(X509 *x, int days)
{
	return X509_gmtime_adj(X509_getm_notBefore(x), -CA_DAY) &&
	       X509_gmtime_adj(X509_getm_notAfter(x), (long)days * CA_DAY);
}

static bool ca_add_text(X509_NAME *name, const char *field, const char *text)
{
	return X509_NAME_add_entry_by_txt(name, field, MBSTRING_ASC, (const uint8_t *)text, -1, -1,
					  0) == 1;
}

static bool ca_add_basic(X509 *x, bool ca)
{
	BASIC_CONSTRAINTS basic = {.ca = ca ? 0xff : 0};
	ASN1_INTEGER *path = ca ? ASN1_INTEGER_new() : NULL;

	if (ca && (!path || !ASN1_INTEGER_set(path, 0))) {
		ASN1_INTEGER_free(path);
		return false;
	}
	basic.pathlen = path;
	bool ok = X509_add1_ext_i2d(x, NID_basic_constraints, &basic, 1, X509V3_ADD_DEFAULT) == 1;

	ASN1_INTEGER_free(path);
	return ok;
}

static bool ca_add_usage(X509 *x, const int *bits, size_t count)
{
	ASN1_BIT_STRING *usage = ASN1_BIT_STRING_new();
	bool ok = usage != NULL;

	for (size_t i = 0; ok && i < count; i++)
		ok = ASN1_BIT_STRING_set_bit(usage, bits[i], 1) == 1;
	ok = ok && X509_add1_ext_i2d(x, NID_key_usage, usage, 1, X509V3_ADD_DEFAULT) == 1;
	ASN1_BIT_STRING_free(usage);
	return ok;
}

/* RFC 7093: the first 160 bits of the SHA-256 of the public key. */
static ASN1_OCTET_STRING *ca_key_id(const X509 *x)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned int len = 0;
	ASN1_OCTET_STRING *id = ASN1_OCTET_STRING_new();

	if (id && X509_pubkey_digest(x, EVP_sha256(), digest, &len) == 1 && len >= 20 &&
	    ASN1_OCTET_STRING_set(id, digest, 20) == 1)
		return id;
	ASN1_OCTET_STRING_free(id);
	return NULL;
}

static bool ca_add_key_id(X509 *x)
{
	ASN1_OCTET_STRING *id = ca_key_id(x);
	bool ok = id &&
		  X509_add1_ext_i2d(x, NID_subject_key_identifier, id, 0, X509V3_ADD_DEFAULT) == 1;

	ASN1_OCTET_STRING_free(id);
	return ok;
}

static AUTHORITY_KEYID *ca_issuer_id(const X509 *issuer)
{
	AUTHORITY_KEYID *id = AUTHORITY_KEYID_new();

	if (id)
		id->keyid = ca_key_id(issuer);
	if (id && id->keyid)
		return id;
	AUTHORITY_KEYID_free(id);
	return NULL;
}

static GENERAL_NAME *ca_dns_name(const char *text)
{
	GENERAL_NAME *name = GENERAL_NAME_new();
	ASN1_IA5STRING *string = ASN1_IA5STRING_new();

	if (name && string && ASN1_STRING_set(string, text, -1) == 1) {
		GENERAL_NAME_set0_value(name, GEN_DNS, string);
		return name;
	}
	ASN1_IA5STRING_free(string);
	GENERAL_NAME_free(name);
	return NULL;
}

static GENERAL_NAME *ca_ip_name(const void *bytes, size_t len)
{
	GENERAL_NAME *name = GENERAL_NAME_new();
	ASN1_OCTET_STRING *string = ASN1_OCTET_STRING_new();

	if (name && string && ASN1_OCTET_STRING_set(string, bytes, (int)len) == 1) {
		GENERAL_NAME_set0_value(name, GEN_IPADD, string);
		return name;
	}
	ASN1_OCTET_STRING_free(string);
	GENERAL_NAME_free(name);
	return NULL;
}

/* --- name constraints ----------------------------------------------------------------- */

static bool ca_add_subtree(STACK_OF(GENERAL_SUBTREE) * *list, GENERAL_NAME *base)
{
	GENERAL_SUBTREE *tree = base ? GENERAL_SUBTREE_new() : NULL;

	if (!*list)
		*list = sk_GENERAL_SUBTREE_new_null();
	if (!tree || !*list) {
		GENERAL_NAME_free(base);
		GENERAL_SUBTREE_free(tree);
		return false;
	}
	GENERAL_NAME_free(tree->base);
	tree->base = base;
	if (sk_GENERAL_SUBTREE_push(*list, tree) > 0)
		return true;
	GENERAL_SUBTREE_free(tree);
	return false;
}

/* An address with a mask of all ones. */
static GENERAL_NAME *ca_ip_subtree(const struct address *a)
{
	uint8_t bytes[32];
	size_t len = address_is_v4(a) ? 4 : 16;

	memcpy(bytes, a->bytes + 16 - len, len);
	memset(bytes + len, 0xff, len);
	return ca_ip_name(bytes, 2 * len);
}

/* A form that is not named is not limited: where no address is opened, all are excluded. */
static bool ca_limit_addresses(NAME_CONSTRAINTS *limits, const struct limit *l)
{
	static const uint8_t none[32];
	bool ok = true;

	for (size_t i = 0; ok && i < l->addresses.count; i++)
		ok = ca_add_subtree(&limits->permittedSubtrees,
				    ca_ip_subtree(&l->addresses.items[i]));
	if (l->addresses.count == 0)
		ok = ca_add_subtree(&limits->excludedSubtrees, ca_ip_name(none, 8)) &&
		     ca_add_subtree(&limits->excludedSubtrees, ca_ip_name(none, 32));
	return ok;
}

static bool ca_add_limits(X509 *x, const struct limit *l)
{
	if (l->any || l->names.count > CA_NAMES_MAX || l->addresses.count > CA_NAMES_MAX)
		return true;
	NAME_CONSTRAINTS *limits = NAME_CONSTRAINTS_new();
	bool ok = limits != NULL;

	for (size_t i = 0; ok && i < l->names.count; i++)
		ok = ca_add_subtree(&limits->permittedSubtrees,
				    ca_dns_name(l->names.items[i].text));
	/* Only addresses are opened: no name at all, said as one that cannot be looked up. */
	if (ok && l->names.count == 0)
		ok = ca_add_subtree(&limits->permittedSubtrees, ca_dns_name("none.invalid"));
	ok = ok && ca_limit_addresses(limits, l) &&
	     X509_add1_ext_i2d(x, NID_name_constraints, limits, 1, X509V3_ADD_DEFAULT) == 1;
	NAME_CONSTRAINTS_free(limits);
	return ok;
}

/* --- the authority -------------------------------------------------------------------- */

static bool ca_make_certificate(struct ca *a)
{
	static const int usage[] = {5, 6}; /* keyCertSign, cRLSign */
	uint8_t mark[4];
	char name[64];

	a->certificate = X509_new();
	if (!a->certificate || RAND_bytes(mark, sizeof(mark)) != 1)
		return false;
	(void)snprintf(name, sizeof(name), "bawn session %02x%02x%02x%02x", mark[0], mark[1],
		       mark[2], mark[3]);
	X509 *x = a->certificate;

	return X509_set_version(x, X509_VERSION_3) == 1 && ca_set_serial(x) &&
	       ca_set_days(x, CA_DAYS) && ca_add_text(X509_get_subject_name(x), "O", "bawn") &&
	       ca_add_text(X509_get_subject_name(x), "CN", name) &&
	       X509_set_issuer_name(x, X509_get_subject_name(x)) == 1 &&
	       X509_set_pubkey(x, a->key) == 1 && ca_add_basic(x, true) &&
	       ca_add_usage(x, usage, BAWN_ARRAY_SIZE(usage)) && ca_add_key_id(x) &&
	       ca_add_limits(x, &a->limit) && X509_sign(x, a->key, EVP_sha256()) > 0;
}

static bool ca_fill_crl(const struct ca *a, X509_CRL *crl)
{
	ASN1_TIME *from = X509_gmtime_adj(NULL, -CA_DAY);
	ASN1_TIME *to = X509_gmtime_adj(NULL, (long)CA_DAYS * CA_DAY);
	AUTHORITY_KEYID *id = ca_issuer_id(a->certificate);
	ASN1_INTEGER *number = ASN1_INTEGER_new();

	bool ok = from && to && id && number && ASN1_INTEGER_set(number, 1) == 1 &&
		  X509_CRL_set_version(crl, X509_CRL_VERSION_2) == 1 &&
		  X509_CRL_set_issuer_name(crl, X509_get_subject_name(a->certificate)) == 1 &&
		  X509_CRL_set1_lastUpdate(crl, from) == 1 &&
		  X509_CRL_set1_nextUpdate(crl, to) == 1 &&
		  X509_CRL_add1_ext_i2d(crl, NID_authority_key_identifier, id, 0,
					X509V3_ADD_DEFAULT) == 1 &&
		  X509_CRL_add1_ext_i2d(crl, NID_crl_number, number, 0, X509V3_ADD_DEFAULT) == 1 &&
		  X509_CRL_sign(crl, a->key, EVP_sha256()) > 0;

	ASN1_TIME_free(from);
	ASN1_TIME_free(to);
	AUTHORITY_KEYID_free(id);
	ASN1_INTEGER_free(number);
	return ok;
}

static bool ca_make_crl(struct ca *a)
{
	X509_CRL *crl = X509_CRL_new();
	bool ok = crl && ca_fill_crl(a, crl);
	int len = ok ? i2d_X509_CRL(crl, &a->crl_der) : -1;

	X509_CRL_free(crl);
	a->crl_len = len > 0 ? (size_t)len : 0;
	return len > 0;
}

static bool ca_make_leaf_key(struct ca *a)
{
	a->leaf_key = EVP_EC_gen("P-256");
	PKCS8_PRIV_KEY_INFO *info = a->leaf_key ? EVP_PKEY2PKCS8(a->leaf_key) : NULL;
	int len = info ? i2d_PKCS8_PRIV_KEY_INFO(info, &a->leaf_key_der) : -1;

	PKCS8_PRIV_KEY_INFO_free(info);
	a->leaf_key_len = len > 0 ? (size_t)len : 0;
	return len > 0;
}

int ca_new(const struct plan *plan, struct ca **ret_ca, struct error *e)
{
	_cleanup_ca_ struct ca *a = calloc(1, sizeof(*a));

	if (!a)
		return error_sys(e, -ENOMEM, "making the session's authority");
	a->arena = ARENA_INIT(PLAN_ARENA_MAX);
	int r = limit_of_plan(plan, &a->arena, &a->limit, e);

	if (r < 0)
		return r;
	a->key = EVP_EC_gen("P-256");
	if (!a->key || !ca_make_certificate(a))
		return ca_bad(e, "making the session's authority");
	int len = i2d_X509(a->certificate, &a->certificate_der);

	a->certificate_len = len > 0 ? (size_t)len : 0;
	if (len <= 0 || !ca_make_crl(a) || !ca_make_leaf_key(a))
		return ca_bad(e, "making the session's authority");
	*ret_ca = TAKE_PTR(a);
	return 0;
}

void ca_free(struct ca *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < CA_KEPT; i++) {
		free(a->kept[i].host);
		OPENSSL_free(a->kept[i].der);
	}
	EVP_PKEY_free(a->key);
	EVP_PKEY_free(a->leaf_key);
	X509_free(a->certificate);
	OPENSSL_free(a->certificate_der);
	OPENSSL_free(a->crl_der);
	OPENSSL_clear_free(a->leaf_key_der, a->leaf_key_len);
	arena_fini(&a->arena);
	free(a);
}

struct span ca_certificate(const struct ca *a)
{
	return (struct span){a->certificate_der, a->certificate_len};
}

struct span ca_crl(const struct ca *a)
{
	return (struct span){a->crl_der, a->crl_len};
}

bool ca_may_sign(const struct ca *a, const char *host)
{
	return limit_has(&a->limit, host);
}

/* --- leaves --------------------------------------------------------------------------- */

static GENERAL_NAME *ca_host_name(const char *host)
{
	struct address a;

	if (address_parse(span_of_str(host), 0, &a) < 0)
		return ca_dns_name(host);
	size_t len = address_is_v4(&a) ? 4 : 16;

	return ca_ip_name(a.bytes + 16 - len, len);
}

/* What is no name, or too long for a common name, is in subjectAltName alone, which is critical
 * then: OpenSSL holds a common name against the limits for names even when it is an address. */
static bool ca_add_host(X509 *x, const char *host)
{
	_cleanup_(ca_free_names) GENERAL_NAMES *names = GENERAL_NAMES_new();
	GENERAL_NAME *name = names ? ca_host_name(host) : NULL;
	bool named = name && name->type == GEN_DNS && strlen(host) <= CA_CN_MAX;

	if (!name || sk_GENERAL_NAME_push(names, name) <= 0) {
		GENERAL_NAME_free(name);
		return false;
	}
	return (!named || ca_add_text(X509_get_subject_name(x), "CN", host)) &&
	       X509_add1_ext_i2d(x, NID_subject_alt_name, names, named ? 0 : 1,
				 X509V3_ADD_DEFAULT) == 1;
}

static bool ca_add_server_use(X509 *x)
{
	EXTENDED_KEY_USAGE *uses = EXTENDED_KEY_USAGE_new();
	ASN1_OBJECT *use = OBJ_nid2obj(NID_server_auth); /* static: not ours to free */
	bool ok = uses && sk_ASN1_OBJECT_push(uses, use) > 0 &&
		  X509_add1_ext_i2d(x, NID_ext_key_usage, uses, 0, X509V3_ADD_DEFAULT) == 1;

	EXTENDED_KEY_USAGE_free(uses);
	return ok;
}

static bool ca_add_crl_place(X509 *x)
{
	STACK_OF(DIST_POINT) *places = sk_DIST_POINT_new_null();
	DIST_POINT *place = DIST_POINT_new();
	GENERAL_NAME *url = GENERAL_NAME_new();
	ASN1_IA5STRING *text = ASN1_IA5STRING_new();
	bool ok = places && place && url && text && ASN1_STRING_set(text, PLAN_CRL_URL, -1) == 1;

	if (ok) {
		place->distpoint = DIST_POINT_NAME_new();
		ok = place->distpoint != NULL;
	}
	if (ok) {
		place->distpoint->type = 0; /* fullname */
		place->distpoint->name.fullname = GENERAL_NAMES_new();
		ok = place->distpoint->name.fullname != NULL;
	}
	if (ok) {
		GENERAL_NAME_set0_value(url, GEN_URI, text);
		text = NULL;
		ok = sk_GENERAL_NAME_push(place->distpoint->name.fullname, url) > 0;
		url = ok ? NULL : url;
	}
	if (ok) {
		ok = sk_DIST_POINT_push(places, place) > 0;
		place = ok ? NULL : place;
	}
	ok = ok &&
	     X509_add1_ext_i2d(x, NID_crl_distribution_points, places, 0, X509V3_ADD_DEFAULT) == 1;
	ASN1_IA5STRING_free(text);
	GENERAL_NAME_free(url);
	DIST_POINT_free(place);
	sk_DIST_POINT_pop_free(places, DIST_POINT_free);
	return ok;
}

static bool ca_add_issuer_id(X509 *x, const X509 *issuer)
{
	AUTHORITY_KEYID *id = ca_issuer_id(issuer);
	bool ok = id && X509_add1_ext_i2d(x, NID_authority_key_identifier, id, 0,
					  X509V3_ADD_DEFAULT) == 1;

	AUTHORITY_KEYID_free(id);
	return ok;
}

static bool ca_fill_leaf(const struct ca *a, const char *host, X509 *x)
{
	static const int usage[] = {0}; /* digitalSignature */

	return X509_set_version(x, X509_VERSION_3) == 1 && ca_set_serial(x) &&
	       ca_set_days(x, CA_LEAF_DAYS) &&
	       X509_set_issuer_name(x, X509_get_subject_name(a->certificate)) == 1 &&
	       X509_set_pubkey(x, a->leaf_key) == 1 && ca_add_host(x, host) &&
	       ca_add_basic(x, false) && ca_add_usage(x, usage, BAWN_ARRAY_SIZE(usage)) &&
	       ca_add_server_use(x) && ca_add_key_id(x) && ca_add_issuer_id(x, a->certificate) &&
	       ca_add_crl_place(x) && X509_sign(x, a->key, EVP_sha256()) > 0;
}

static const struct ca_kept *ca_make_leaf(struct ca *a, const char *host)
{
	struct ca_kept *kept = &a->kept[a->next_kept];
	_cleanup_(ca_free_x509) X509 *x = X509_new();
	_cleanup_free_ char *copy = strdup(host);
	uint8_t *der = NULL;

	if (!x || !copy || !ca_fill_leaf(a, host, x))
		return NULL;
	int len = i2d_X509(x, &der);

	if (len <= 0)
		return NULL;
	free(kept->host);
	OPENSSL_free(kept->der);
	*kept = (struct ca_kept){
		.host = TAKE_PTR(copy),
		.der = der,
		.len = (size_t)len,
		/* An hour before its end, so that nobody is given one that ends on the way. */
		.expires = (uint64_t)time(NULL) + CA_LEAF_DAYS * CA_DAY - 3600,
	};
	a->next_kept = (a->next_kept + 1) % CA_KEPT;
	return kept;
}

static const struct ca_kept *ca_find_leaf(const struct ca *a, const char *host)
{
	uint64_t now = (uint64_t)time(NULL);

	for (size_t i = 0; i < CA_KEPT && a->kept[i].host; i++)
		if (a->kept[i].expires > now && str_equal(a->kept[i].host, host))
			return &a->kept[i];
	return NULL;
}

int ca_leaf(struct ca *a, const char *host, struct ca_leaf *ret_leaf, struct error *e)
{
	if (!ca_may_sign(a, host))
		return error_set(e, -EACCES, "no rule of the plan opens %s", host);
	const struct ca_kept *kept = ca_find_leaf(a, host);

	if (!kept)
		kept = ca_make_leaf(a, host);
	if (!kept)
		return ca_bad(e, "making a certificate");
	*ret_leaf = (struct ca_leaf){.certificate = {kept->der, kept->len},
				     .key = {a->leaf_key_der, a->leaf_key_len},
				     .expires = kept->expires};
	return 0;
}
