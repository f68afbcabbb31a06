/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates for tests, made on the spot. */
#ifndef BAWN_TEST_CERTIFICATE_H
#define BAWN_TEST_CERTIFICATE_H

#include "buf.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

struct certificate_made {
	X509 *certificate;
	EVP_PKEY *key;
};

struct certificate_wish {
	const char *name;    /* "DNS:a.test", "IP:192.0.2.1"; NULL: an authority */
	const char *usage;   /* extended; "serverAuth" when NULL */
	const char *subject; /* common name; "test" when NULL */
	long from, to;       /* seconds from now; both 0: one hour around it */
};

static inline void certificate_extend(X509 *x, X509 *issuer, int kind, const char *value)
{
	X509V3_CTX context;

	X509V3_set_ctx(&context, issuer, x, NULL, NULL, 0);
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &context, kind, value);

	if (!e || X509_add_ext(x, e, -1) != 1)
		abort();
	X509_EXTENSION_free(e);
}

/* by NULL: signed by itself. */
static inline struct certificate_made certificate_make(const struct certificate_wish *w,
						       const struct certificate_made *by)
{
	static long serial = 1;
	struct certificate_made made = {X509_new(), EVP_EC_gen("P-256")};
	X509 *issuer = by ? by->certificate : made.certificate;
	const char *subject = w->subject ? w->subject : "test";

	if (!made.certificate || !made.key)
		abort();
	(void)X509_set_version(made.certificate, 2);
	(void)ASN1_INTEGER_set(X509_get_serialNumber(made.certificate), serial++);
	bool usual = w->from == 0 && w->to == 0;

	(void)X509_gmtime_adj(X509_getm_notBefore(made.certificate), usual ? -3600 : w->from);
	(void)X509_gmtime_adj(X509_getm_notAfter(made.certificate), usual ? 3600 : w->to);
	(void)X509_NAME_add_entry_by_txt(X509_get_subject_name(made.certificate), "CN",
					 MBSTRING_ASC, (const unsigned char *)subject, -1, -1, 0);
	(void)X509_set_issuer_name(made.certificate, X509_get_subject_name(issuer));
	(void)X509_set_pubkey(made.certificate, made.key);
	certificate_extend(made.certificate, issuer, NID_subject_key_identifier, "hash");
	if (by)
		certificate_extend(made.certificate, issuer, NID_authority_key_identifier,
				   "keyid:always");
	if (w->name) {
		certificate_extend(made.certificate, issuer, NID_basic_constraints,
				   "critical,CA:FALSE");
		certificate_extend(made.certificate, issuer, NID_ext_key_usage,
				   w->usage ? w->usage : "serverAuth");
		certificate_extend(made.certificate, issuer, NID_subject_alt_name, w->name);
	} else {
		certificate_extend(made.certificate, issuer, NID_basic_constraints,
				   "critical,CA:TRUE");
		certificate_extend(made.certificate, issuer, NID_key_usage,
				   "critical,keyCertSign,cRLSign");
	}
	if (X509_sign(made.certificate, by ? by->key : made.key, EVP_sha256()) == 0)
		abort();
	return made;
}

static inline void certificate_free(struct certificate_made *m)
{
	X509_free(m->certificate);
	EVP_PKEY_free(m->key);
}

static inline void certificate_put_pem(struct buf *into, X509 *x)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *bytes = NULL;

	if (!bio || PEM_write_bio_X509(bio, x) != 1)
		abort();
	long len = BIO_get_mem_data(bio, &bytes);

	buf_put(into, bytes, (size_t)len);
	BIO_free(bio);
}

static inline void certificate_put_der(struct buf *certificate, struct buf *key,
				       const struct certificate_made *m)
{
	unsigned char *bytes = NULL;
	int len = i2d_X509(m->certificate, &bytes);

	buf_put(certificate, bytes, (size_t)len);
	OPENSSL_free(bytes);
	PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(m->key);

	bytes = NULL;
	len = i2d_PKCS8_PRIV_KEY_INFO(info, &bytes);
	buf_put(key, bytes, (size_t)len);
	OPENSSL_free(bytes);
	PKCS8_PRIV_KEY_INFO_free(info);
}

#endif
