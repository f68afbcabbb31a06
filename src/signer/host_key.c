/* SPDX-License-Identifier: Apache-2.0 */
#include "host_key.h"

#include "ssh_agent.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

enum { HOST_KEY_RSA_BITS_MIN = 2048, HOST_KEY_RSA_BITS_MAX = 16384, HOST_KEY_POINT_MAX = 133 };

static void host_key_free(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}
#define _cleanup_key_ _cleanup_(host_key_free)

/* What is in a key of one kind, and the hash that its signatures are made with. */
struct host_key_kind {
	const char *key;       /* the key's own word */
	const char *signature; /* the signature's */
	const char *curve;     /* of ECDSA, in the key */
	const char *group;     /* the same for OpenSSL */
	const char *digest;    /* NULL: the kind has its own */
};

static const struct host_key_kind host_key_kinds[] = {
	{"ssh-ed25519", "ssh-ed25519", NULL, NULL, NULL},
	{"ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256", "nistp256", "P-256", "SHA256"},
	{"ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384", "nistp384", "P-384", "SHA384"},
	{"ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521", "nistp521", "P-521", "SHA512"},
	{"ssh-rsa", "rsa-sha2-256", NULL, NULL, "SHA256"},
	{"ssh-rsa", "rsa-sha2-512", NULL, NULL, "SHA512"},
};

static const struct host_key_kind *host_key_kind_of(struct span key, struct span signature)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(host_key_kinds); i++)
		if (span_equal(key, span_of_str(host_key_kinds[i].key)) &&
		    span_equal(signature, span_of_str(host_key_kinds[i].signature)))
			return &host_key_kinds[i];
	return NULL;
}

static EVP_PKEY *host_key_from(const char *type, OSSL_PARAM *params)
{
	EVP_PKEY *key = NULL;
	EVP_PKEY_CTX *context = params ? EVP_PKEY_CTX_new_from_name(NULL, type, NULL) : NULL;

	if (context && EVP_PKEY_fromdata_init(context) == 1)
		(void)EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params);
	EVP_PKEY_CTX_free(context);
	return key;
}

static EVP_PKEY *host_key_ec(const struct host_key_kind *kind, struct reader *r)
{
	struct span curve = ssh_take_string(r);
	struct span point = ssh_take_string(r);
	char group[8];
	uint8_t copy[HOST_KEY_POINT_MAX];

	if (r->bad || !span_equal(curve, span_of_str(kind->curve)) || point.len > sizeof(copy))
		return NULL;
	(void)snprintf(group, sizeof(group), "%s", kind->group);
	memcpy(copy, point.ptr, point.len);
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
		OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, copy, point.len),
		OSSL_PARAM_construct_end(),
	};

	return host_key_from("EC", params);
}

static EVP_PKEY *host_key_rsa(struct reader *r)
{
	struct span e = ssh_take_string(r);
	struct span n = ssh_take_string(r);
	EVP_PKEY *key = NULL;

	if (r->bad || e.len > 8 || n.len > HOST_KEY_RSA_BITS_MAX / 8 + 1)
		return NULL;
	BIGNUM *exponent = BN_bin2bn(e.ptr, (int)e.len, NULL);
	BIGNUM *modulus = BN_bin2bn(n.ptr, (int)n.len, NULL);
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();

	if (exponent && modulus && build && BN_num_bits(modulus) >= HOST_KEY_RSA_BITS_MIN &&
	    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
	    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, exponent) == 1) {
		OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);

		key = host_key_from("RSA", params);
		OSSL_PARAM_free(params);
	}
	OSSL_PARAM_BLD_free(build);
	BN_free(exponent);
	BN_free(modulus);
	return key;
}

static EVP_PKEY *host_key_read(const struct host_key_kind *kind, struct reader *r)
{
	EVP_PKEY *key = NULL;

	if (kind->curve) {
		key = host_key_ec(kind, r);
	} else if (kind->digest) {
		key = host_key_rsa(r);
	} else {
		struct span point = ssh_take_string(r);

		key = r->bad ? NULL
			     : EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, point.ptr,
							   point.len);
	}
	if (key && (r->bad || reader_left(r) != 0)) {
		EVP_PKEY_free(key);
		key = NULL;
	}
	return key;
}

/* ssh writes the two numbers of an ECDSA signature as strings, OpenSSL reads DER. */
static int host_key_der(struct span signature, uint8_t **ret_der)
{
	struct reader r = reader_of(signature);
	struct span numbers[2] = {ssh_take_string(&r), ssh_take_string(&r)};
	ECDSA_SIG *both = ECDSA_SIG_new();
	int len = -1;

	if (both && !r.bad && reader_left(&r) == 0 && numbers[0].len <= HOST_KEY_POINT_MAX &&
	    numbers[1].len <= HOST_KEY_POINT_MAX) {
		BIGNUM *first = BN_bin2bn(numbers[0].ptr, (int)numbers[0].len, NULL);
		BIGNUM *second = BN_bin2bn(numbers[1].ptr, (int)numbers[1].len, NULL);

		if (first && second && ECDSA_SIG_set0(both, first, second) == 1) {
			len = i2d_ECDSA_SIG(both, ret_der);
		} else {
			BN_free(first);
			BN_free(second);
		}
	}
	ECDSA_SIG_free(both);
	return len;
}

static bool host_key_check(EVP_PKEY *key, const struct host_key_kind *kind, struct span data,
			   struct span signature)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	uint8_t *der = NULL;
	bool good = context && EVP_DigestVerifyInit_ex(context, NULL, kind->digest, NULL, NULL, key,
						       NULL) == 1;

	if (good && kind->curve) {
		int len = host_key_der(signature, &der);

		good = len > 0;
		signature = (struct span){der, good ? (size_t)len : 0};
	}
	good = good &&
	       EVP_DigestVerify(context, signature.ptr, signature.len, data.ptr, data.len) == 1;
	OPENSSL_free(der);
	EVP_MD_CTX_free(context);
	return good;
}

int host_key_verify(struct span key, struct span data, struct span signature)
{
	struct reader k = reader_of(key), s = reader_of(signature);
	struct span key_word = ssh_take_string(&k);
	struct span signature_word = ssh_take_string(&s);
	struct span bytes = ssh_take_string(&s);

	if (k.bad || s.bad || reader_left(&s) != 0)
		return -EBADMSG;
	const struct host_key_kind *kind = host_key_kind_of(key_word, signature_word);

	if (!kind)
		return -EOPNOTSUPP;
	_cleanup_key_ EVP_PKEY *public = host_key_read(kind, &k);

	if (!public)
		return -EBADMSG;
	return host_key_check(public, kind, data, bytes) ? 0 : -EKEYREJECTED;
}
