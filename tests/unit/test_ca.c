/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session's CA: what it signs passes the strictest checks that clients make, and it
 * signs for the hosts that the plan opens and for nothing else.
 */
#include "cmocka_lead.h"

#include "ca.h"
#include "crypto.h"
#include "limit.h"

#include <limits.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIST(array)                             \
	{                                       \
		(array), BAWN_ARRAY_SIZE(array) \
	}

static struct plan_string get[] = {{"GET"}};
static const uint8_t v4[16] = {[10] = 0xff, 0xff, 192, 0, 2, 7};
static const uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
static struct plan_rule rules[] = {
	{.action = PLAN_ACTION_ALLOW, .host = "api.example", .methods = LIST(get)},
	{.action = PLAN_ACTION_DENY, .host = "*.git.example", .paths = LIST(get)},
	{.action = PLAN_ACTION_ALLOW, .host = "closed.example"},
	{.action = PLAN_ACTION_ALLOW,
	 .host = "pinned.example",
	 .methods = LIST(get),
	 .passthrough = true},
};
static struct plan_rule address_rules[] = {
	{.host = "192.0.2.7", .address = {v4, 16}, .methods = LIST(get)},
	{.host = "2001:db8::1", .address = {v6, 16}, .methods = LIST(get)},
};
static struct plan_rule any_rule[] = {{.host = "*", .methods = LIST(get), .ceiling = true}};
static struct plan_binding bindings[] = {{.host = "secret.example"}};
static struct plan_secret secrets[] = {{.name = "s", .bindings = LIST(bindings)}};

static const struct plan plan = {.network = LIST(rules), .secrets = LIST(secrets)};
static const struct plan address_plan = {.network = LIST(address_rules)};
static const struct plan any_plan = {.network = LIST(any_rule)};

static struct ca *ca_of(const struct plan *p)
{
	struct error e = ERROR_INIT;
	struct ca *ca = NULL;

	if (ca_new(p, &ca, &e) < 0)
		fail_msg("%s", e.text);
	return ca;
}

static X509 *x509_of(struct span der)
{
	const uint8_t *at = der.ptr;
	X509 *x = d2i_X509(NULL, &at, (long)der.len);

	assert_non_null(x);
	assert_ptr_equal(at, der.ptr + der.len);
	assert_true(X509_check_purpose(x, -1, 0) == 1); /* reads the extensions */
	return x;
}

static X509 *leaf_of(struct ca *ca, const char *host)
{
	struct error e = ERROR_INIT;
	struct ca_leaf leaf;

	if (ca_leaf(ca, host, &leaf, &e) < 0)
		fail_msg("%s: %s", host, e.text);
	return x509_of(leaf.certificate);
}

/* What a strict client does: Python 3.13, .NET with revocation, Go, all in one. */
static int verify(const struct ca *ca, X509 *leaf, const char *host, const char *ip)
{
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *context = X509_STORE_CTX_new();
	X509 *root = x509_of(ca_certificate(ca));
	const uint8_t *at = ca_crl(ca).ptr;
	X509_CRL *crl = d2i_X509_CRL(NULL, &at, (long)ca_crl(ca).len);

	assert_non_null(crl);
	assert_int_equal(X509_STORE_add_cert(store, root), 1);
	assert_int_equal(X509_STORE_add_crl(store, crl), 1);
	assert_int_equal(X509_STORE_CTX_init(context, store, leaf, NULL), 1);
	X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(context);

	(void)X509_VERIFY_PARAM_set_flags(param,
					  X509_V_FLAG_X509_STRICT | X509_V_FLAG_CHECK_SS_SIGNATURE |
						  X509_V_FLAG_CRL_CHECK | X509_V_FLAG_POLICY_CHECK);
	(void)X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_SSL_SERVER);
	X509_VERIFY_PARAM_set_auth_level(param, 2);
	if (host)
		assert_int_equal(X509_VERIFY_PARAM_set1_host(param, host, 0), 1);
	if (ip)
		assert_int_equal(X509_VERIFY_PARAM_set1_ip_asc(param, ip), 1);
	int ok = X509_verify_cert(context);
	int code = ok == 1 ? X509_V_OK : X509_STORE_CTX_get_error(context);

	X509_CRL_free(crl);
	X509_free(root);
	X509_STORE_CTX_free(context);
	X509_STORE_free(store);
	return code;
}

static void test_leaf_passes_strict_verification(void **state)
{
	static const char *const hosts[] = {"api.example", "a.git.example", "a.b.git.example",
					    "git.example", "secret.example"};
	_cleanup_ca_ struct ca *ca = ca_of(&plan);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hosts); i++) {
		/* The name beneath which a wildcard stands is in the limit, and no host of it. */
		if (!ca_may_sign(ca, hosts[i]))
			fail_msg("%s is not signed for", hosts[i]);
		X509 *leaf = leaf_of(ca, hosts[i]);
		int code = verify(ca, leaf, hosts[i], NULL);

		if (code != X509_V_OK)
			fail_msg("%s: %s", hosts[i], X509_verify_cert_error_string(code));
		assert_int_equal(verify(ca, leaf, "other.example", NULL),
				 X509_V_ERR_HOSTNAME_MISMATCH);
		X509_free(leaf);
	}
}

static void test_leaf_has_what_clients_ask_for(void **state)
{
	_cleanup_ca_ struct ca *ca = ca_of(&plan);
	X509 *leaf = leaf_of(ca, "api.example");
	X509 *root = x509_of(ca_certificate(ca));
	int days = 0, seconds = 0;

	(void)state;
	/* Python 3.13: an authority key identifier, and the one of this CA. */
	assert_non_null(X509_get0_authority_key_id(leaf));
	assert_int_equal(ASN1_OCTET_STRING_cmp(X509_get0_authority_key_id(leaf),
					       X509_get0_subject_key_id(root)),
			 0);
	/* .NET: where the list is. */
	assert_true(X509_get_ext_by_NID(leaf, NID_crl_distribution_points, -1) >= 0);
	assert_int_equal(X509_get_extended_key_usage(leaf), XKU_SSL_SERVER);
	assert_int_equal(X509_check_ca(leaf), 0);
	int basic = X509_get_ext_by_NID(leaf, NID_basic_constraints, -1);

	assert_true(basic >= 0 && X509_EXTENSION_get_critical(X509_get_ext(leaf, basic)));
	assert_int_equal(X509_get_pathlen(root), 0);
	/* Short-lived. */
	assert_int_equal(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(leaf),
					X509_get0_notAfter(leaf)),
			 1);
	assert_int_equal(days, CA_LEAF_DAYS + 1);
	assert_int_equal(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(root),
					X509_get0_notAfter(root)),
			 1);
	assert_int_equal(days, CA_DAYS + 1);
	X509_free(leaf);
	X509_free(root);
}

static void test_signs_for_nothing_else(void **state)
{
	static const char *const others[] = {"closed.example",
					     "pinned.example",
					     "example",
					     "xapi.example",
					     "a.api.example",
					     "API.example",
					     "api.example.",
					     "*.git.example",
					     "*",
					     "",
					     "agit.example",
					     "api.example\n",
					     "192.0.2.7",
					     "localhost",
					     "api.example/x",
					     "0x7f.1",
					     "a.secret.example"};
	_cleanup_ca_ struct ca *ca = ca_of(&plan);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(others); i++) {
		struct error e = ERROR_INIT;
		struct ca_leaf leaf;

		if (ca_leaf(ca, others[i], &leaf, &e) != -EACCES)
			fail_msg("a certificate for \"%s\" was made", others[i]);
	}
}

/* The limit holds in the client too: another CA's leaf, checked by this CA's limit. */
static void test_limit_is_in_the_certificate(void **state)
{
	static const struct {
		const char *host;
		int code;
	} cases[] = {
		{"api.example", X509_V_OK},
		{"a.git.example", X509_V_OK},
		{"other.example", X509_V_ERR_PERMITTED_VIOLATION},
		{"closed.example", X509_V_ERR_PERMITTED_VIOLATION},
		{"pinned.example", X509_V_ERR_PERMITTED_VIOLATION},
	};
	_cleanup_ca_ struct ca *ca = ca_of(&plan);
	_cleanup_ca_ struct ca *any = ca_of(&any_plan);
	_cleanup_ca_ struct ca *addresses = ca_of(&address_plan);
	X509 *root = x509_of(ca_certificate(ca));
	X509 *unlimited = x509_of(ca_certificate(any));
	int critical = 0;
	NAME_CONSTRAINTS *limits = X509_get_ext_d2i(root, NID_name_constraints, &critical, NULL);

	(void)state;
	assert_non_null(limits);
	assert_int_equal(critical, 1);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		X509 *leaf = leaf_of(any, cases[i].host);

		assert_int_equal(NAME_CONSTRAINTS_check(leaf, limits), cases[i].code);
		X509_free(leaf);
	}
	X509 *leaf = leaf_of(addresses, "192.0.2.7");

	assert_int_equal(NAME_CONSTRAINTS_check(leaf, limits), X509_V_ERR_EXCLUDED_VIOLATION);
	assert_true(X509_get_ext_by_NID(unlimited, NID_name_constraints, -1) < 0);
	X509_free(leaf);
	NAME_CONSTRAINTS_free(limits);
	X509_free(root);
	X509_free(unlimited);
}

static void test_addresses(void **state)
{
	_cleanup_ca_ struct ca *ca = ca_of(&address_plan);
	X509 *four = leaf_of(ca, "192.0.2.7");
	X509 *six = leaf_of(ca, "2001:db8::1");

	(void)state;
	assert_int_equal(verify(ca, four, NULL, "192.0.2.7"), X509_V_OK);
	assert_int_equal(verify(ca, six, NULL, "2001:db8::1"), X509_V_OK);
	assert_int_equal(verify(ca, four, NULL, "192.0.2.8"), X509_V_ERR_IP_ADDRESS_MISMATCH);
	assert_false(ca_may_sign(ca, "192.0.2.8"));
	assert_false(ca_may_sign(ca, "api.example"));
	X509_free(four);
	X509_free(six);
}

static void test_long_names_are_in_alt_name_alone(void **state)
{
	static const char label[] = "a123456789012345678901234567890123456789";
	char host[NAME_MAX + 1];
	_cleanup_ca_ struct ca *ca = ca_of(&plan);

	(void)state;
	(void)snprintf(host, sizeof(host), "%s.%s.%s.git.example", label, label, label);
	X509 *leaf = leaf_of(ca, host);

	assert_int_equal(verify(ca, leaf, host, NULL), X509_V_OK);
	assert_int_equal(X509_NAME_entry_count(X509_get_subject_name(leaf)), 0);
	X509_free(leaf);
}

static void test_leaves_are_kept_and_keys_are_one(void **state)
{
	_cleanup_ca_ struct ca *ca = ca_of(&any_plan);
	_cleanup_ca_ struct ca *other = ca_of(&any_plan);
	struct error e = ERROR_INIT;
	struct ca_leaf first, again, second;
	char host[32];

	(void)state;
	assert_int_equal(ca_leaf(ca, "a.example", &first, &e), 0);
	assert_int_equal(ca_leaf(ca, "a.example", &again, &e), 0);
	assert_ptr_equal(first.certificate.ptr, again.certificate.ptr);
	assert_int_equal(ca_leaf(ca, "b.example", &second, &e), 0);
	assert_true(span_equal(first.key, second.key));
	assert_false(span_equal(first.certificate, second.certificate));
	/* As many as are kept, and some more: the oldest makes room. */
	for (int i = 0; i < CA_KEPT + 10; i++) {
		(void)snprintf(host, sizeof(host), "h%d.example", i);
		assert_int_equal(ca_leaf(ca, host, &second, &e), 0);
	}
	/* Another session has nothing of this one. */
	assert_int_equal(ca_leaf(other, "a.example", &again, &e), 0);
	assert_false(span_equal(again.key, second.key));
	X509 *leaf = x509_of(again.certificate);

	assert_int_not_equal(verify(ca, leaf, "a.example", NULL), X509_V_OK);
	X509_free(leaf);
}

/* Two processes in the same state, as two sessions are that begin alike: what differs is the
 * kernel's word alone. */
static void test_keys_are_random(void **state)
{
	uint8_t scalar[2][CRYPTO_SCALAR] = {{0}};

	(void)state;
	for (int i = 0; i < 2; i++) {
		int ends[2];

		assert_int_equal(pipe(ends), 0);
		pid_t child = fork();

		if (child == 0) {
			struct crypto_key *key = NULL;
			uint8_t own[CRYPTO_SCALAR];
			bool made = crypto_key_new(&key) == 0 && crypto_key_scalar(key, own) == 0;

			_exit(made && write(ends[1], own, sizeof(own)) == sizeof(own) ? 0 : 1);
		}
		(void)close(ends[1]);
		assert_int_equal(read(ends[0], scalar[i], CRYPTO_SCALAR), CRYPTO_SCALAR);
		(void)close(ends[0]);
		assert_int_equal(waitpid(child, NULL, 0), child);
	}
	assert_memory_not_equal(scalar[0], scalar[1], CRYPTO_SCALAR);
}

static void name_of_ca(const struct ca *ca, char into[64])
{
	X509 *root = x509_of(ca_certificate(ca));
	X509_NAME *name = X509_get_subject_name(root);

	assert_true(X509_NAME_get_text_by_NID(name, NID_commonName, into, 64) > 0);
	/* It signs itself, and the list of what it takes back. */
	assert_int_equal(X509_NAME_cmp(name, X509_get_issuer_name(root)), 0);
	X509_free(root);
}

/* Two sessions at a time have two authorities: who keeps them apart by name must be able to. */
static void test_names_are_random(void **state)
{
	static const char start[] = "bawn session ";
	char names[3][64];

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++) {
		_cleanup_ca_ struct ca *ca = ca_of(&plan);

		name_of_ca(ca, names[i]);
		assert_memory_equal(names[i], start, strlen(start));
		assert_int_equal(strlen(names[i]), strlen(start) + 8);
		assert_int_equal(strspn(names[i] + strlen(start), "0123456789abcdef"), 8);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(names[i], names[k]);
		X509 *leaf = leaf_of(ca, "api.example");
		char issuer[64];

		assert_true(X509_NAME_get_text_by_NID(X509_get_issuer_name(leaf), NID_commonName,
						      issuer, sizeof(issuer)) > 0);
		assert_string_equal(issuer, names[i]);
		X509_free(leaf);
	}
	/* Each part of the mark is random by itself: not one byte said four times. */
	bool apart = false;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		apart = apart ||
			memcmp(names[i] + strlen(start), names[i] + strlen(start) + 2, 2) != 0;
	assert_true(apart);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_are_random),
		cmocka_unit_test(test_names_are_random),
		cmocka_unit_test(test_leaf_passes_strict_verification),
		cmocka_unit_test(test_leaf_has_what_clients_ask_for),
		cmocka_unit_test(test_signs_for_nothing_else),
		cmocka_unit_test(test_limit_is_in_the_certificate),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_long_names_are_in_alt_name_alone),
		cmocka_unit_test(test_leaves_are_kept_and_keys_are_one),
	};

	return cmocka_run_group_tests_name("ca", tests, NULL, NULL);
}
