/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS with both ends in one process: an origin is believed only with a good certificate for
 * the very name that was dialled, and the reason is told when it is not.
 */
#include "cmocka_lead.h"

#include "../lib/certificate.h"
#include "str.h"
#include "tls.h"

#include <stdio.h>

struct ends {
	struct tls_world *world;
	struct tls *server, *client;
	enum tls_state server_state, client_state;
	char why[200]; /* of the client */
	bool certificate;
};

static struct name name_of(const char *text)
{
	struct name n;

	assert_int_equal(name_parse(span_of_str(text), &n), 0);
	return n;
}

static struct tls_world *world_of(const struct certificate_made *authority)
{
	_cleanup_buf_ struct buf pem = BUF_INIT(1 << 16);
	struct tls_world *w = NULL;

	buf_put_str(&pem, "# what is no certificate is passed over\n");
	certificate_put_pem(&pem, authority->certificate);
	const struct span all[] = {buf_span(&pem)};

	assert_int_equal(tls_world_new(all, 1, &w), 0);
	assert_int_equal(tls_world_authorities(w), 1);
	return w;
}

static struct tls_leaf *leaf_of(const struct certificate_made *m)
{
	_cleanup_buf_ struct buf certificate = BUF_INIT(1 << 16), key = BUF_INIT(1 << 16);

	certificate_put_der(&certificate, &key, m);
	struct tls_leaf *leaf = tls_leaf_new(buf_span(&certificate), buf_span(&key));

	assert_non_null(leaf);
	return leaf;
}

/* Both shake hands, one flight after the other. */
static void shake(struct ends *e)
{
	struct buf up = BUF_INIT(1 << 20), down = BUF_INIT(1 << 20);

	for (int i = 0; i < 8; i++) {
		buf_clear(&up);
		tls_feed(e->client, buf_span(&down));
		e->client_state = tls_handshake(e->client, &up);
		buf_clear(&down);
		tls_feed(e->server, buf_span(&up));
		e->server_state = tls_handshake(e->server, &down);
		if (e->client_state != TLS_WAITS)
			break;
	}
	/* What comes behind the handshake: tickets. */
	uint8_t nothing[16];
	size_t len = 0;

	if (e->client_state == TLS_READY) {
		tls_feed(e->client, buf_span(&down));
		assert_int_equal(tls_read(e->client, nothing, sizeof(nothing), &len, &up),
				 TLS_WAITS);
	}
	buf_fini(&up);
	buf_fini(&down);
	if (e->client_state == TLS_FAILED)
		(void)snprintf(e->why, sizeof(e->why), "%s", tls_why(e->client, &e->certificate));
}

static void drop(struct ends *e)
{
	tls_free(e->server);
	tls_free(e->client);
	tls_world_free(e->world);
}

static void test_certificates(void **state)
{
	static const struct {
		const char *what;
		struct certificate_wish wish;
		enum { BY_OURS, BY_ANOTHER, BY_ITSELF, BY_A_LEAF } by;
		const char *why; /* NULL: good */
	} rows[] = {
		{"good", {.name = "DNS:a.b.test"}, BY_OURS, NULL},
		{"wildcard", {.name = "DNS:*.b.test"}, BY_OURS, NULL},
		{"one of several", {.name = "DNS:b.test,DNS:a.b.test"}, BY_OURS, NULL},
		{"wrong name", {.name = "DNS:b.test"}, BY_OURS, "hostname mismatch"},
		{"part of a label", {.name = "DNS:a*.b.test"}, BY_OURS, "hostname mismatch"},
		{"name in the subject alone",
		 {.name = "DNS:b.test", .subject = "a.b.test"},
		 BY_OURS,
		 "hostname mismatch"},
		{"an address", {.name = "IP:192.0.2.1"}, BY_OURS, "hostname mismatch"},
		{"expired",
		 {.name = "DNS:a.b.test", .from = -7200, .to = -3600},
		 BY_OURS,
		 "certificate has expired"},
		{"not yet",
		 {.name = "DNS:a.b.test", .from = 3600, .to = 7200},
		 BY_OURS,
		 "certificate is not yet valid"},
		{"for clients",
		 {.name = "DNS:a.b.test", .usage = "clientAuth"},
		 BY_OURS,
		 "unsuitable certificate purpose"},
		{"by itself", {.name = "DNS:a.b.test"}, BY_ITSELF, "self-signed certificate"},
		{"by another",
		 {.name = "DNS:a.b.test"},
		 BY_ANOTHER,
		 "unable to get local issuer certificate"},
	};
	struct certificate_made ours =
		certificate_make(&(struct certificate_wish){.name = NULL}, NULL);
	struct certificate_made other =
		certificate_make(&(struct certificate_wish){.subject = "other"}, NULL);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const struct certificate_made *by = rows[i].by == BY_OURS      ? &ours
						    : rows[i].by == BY_ANOTHER ? &other
									       : NULL;
		struct certificate_made made = certificate_make(&rows[i].wish, by);
		struct tls_leaf *leaf = leaf_of(&made);
		struct name a = name_of("a.b.test");
		struct ends e = {.world = world_of(&ours)};

		e.server = tls_new_server(e.world, leaf, TLS_ALPN_HTTP11);
		e.client = tls_new_client(e.world, &a, NULL, 443, true, true);
		assert_non_null(e.server);
		assert_non_null(e.client);
		shake(&e);
		if (rows[i].why ? e.client_state != TLS_FAILED || !e.certificate ||
					  !str_equal(e.why, rows[i].why)
				: e.client_state != TLS_READY)
			fail_msg("%s: state %d, %s", rows[i].what, e.client_state, e.why);
		if (!rows[i].why)
			assert_int_equal(tls_alpn(e.client), TLS_ALPN_HTTP11);
		drop(&e);
		tls_leaf_free(leaf);
		certificate_free(&made);
	}
	certificate_free(&ours);
	certificate_free(&other);
}

static void test_a_leaf_signs_for_nobody(void **state)
{
	struct certificate_made ours =
		certificate_make(&(struct certificate_wish){.name = NULL}, NULL);
	struct certificate_made middle =
		certificate_make(&(struct certificate_wish){.name = "DNS:m.test"}, &ours);
	struct certificate_made made =
		certificate_make(&(struct certificate_wish){.name = "DNS:a.b.test"}, &middle);
	struct tls_leaf *leaf = leaf_of(&made);
	struct name a = name_of("a.b.test");
	struct ends e = {.world = world_of(&ours)};

	(void)state;
	e.server = tls_new_server(e.world, leaf, TLS_ALPN_NONE);
	e.client = tls_new_client(e.world, &a, NULL, 443, false, false);
	shake(&e);
	assert_int_equal(e.client_state, TLS_FAILED);
	assert_true(e.certificate);
	drop(&e);
	tls_leaf_free(leaf);
	certificate_free(&ours);
	certificate_free(&middle);
	certificate_free(&made);
}

static void test_an_address_is_proven_too(void **state)
{
	static const struct {
		const char *name;
		struct address dialled;
		bool good;
	} rows[] = {
		{"IP:192.0.2.1", {{[10] = 0xff, [11] = 0xff, 192, 0, 2, 1}}, true},
		{"IP:192.0.2.1", {{[10] = 0xff, [11] = 0xff, 192, 0, 2, 2}}, false},
		{"IP:192.0.2.1", {{[10] = 0xff, [11] = 0xff, 193, 0, 2, 1}}, false},
		{"IP:2001:db8::1", {{0x20, 0x01, 0x0d, 0xb8, [15] = 1}}, true},
		{"IP:2001:db8::1", {{0x20, 0x01, 0x0d, 0xb8, [15] = 2}}, false},
		/* All sixteen bytes count, and where they stand. */
		{"IP:2001:db8::1", {{0x20, 0x02, 0x0d, 0xb8, [15] = 1}}, false},
		{"IP:2001:db8::c000:201", {{0x20, 0x01, 0x0d, 0xb8, [12] = 192, 0, 2, 1}}, true},
		{"IP:192.0.2.1", {{0x20, 0x01, 0x0d, 0xb8, [12] = 192, 0, 2, 1}}, false},
		{"IP:32.1.13.184", {{0x20, 0x01, 0x0d, 0xb8, [12] = 192, 0, 2, 1}}, false},
		{"IP:2001:db8::c000:201", {{[10] = 0xff, [11] = 0xff, 192, 0, 2, 1}}, false},
		{"DNS:2001.db8.test", {{0x20, 0x01, 0x0d, 0xb8, [15] = 1}}, false},
	};
	struct certificate_made ours =
		certificate_make(&(struct certificate_wish){.name = NULL}, NULL);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct certificate_made made =
			certificate_make(&(struct certificate_wish){.name = rows[i].name}, &ours);
		struct tls_leaf *leaf = leaf_of(&made);
		struct ends e = {.world = world_of(&ours)};

		e.server = tls_new_server(e.world, leaf, TLS_ALPN_NONE);
		e.client = tls_new_client(e.world, NULL, &rows[i].dialled, 443, false, true);
		assert_non_null(e.client);
		shake(&e);
		if (e.client_state != (rows[i].good ? TLS_READY : TLS_FAILED) ||
		    !str_equal(e.why, rows[i].good ? "" : "IP address mismatch"))
			fail_msg("row %zu, %s: state %d, %s", i, rows[i].name, e.client_state,
				 e.why);
		drop(&e);
		tls_leaf_free(leaf);
		certificate_free(&made);
	}
	certificate_free(&ours);
}

static void test_bytes_both_ways(void **state)
{
	struct certificate_made ours =
		certificate_make(&(struct certificate_wish){.name = NULL}, NULL);
	struct certificate_made made =
		certificate_make(&(struct certificate_wish){.name = "DNS:a.b.test"}, &ours);
	struct tls_leaf *leaf = leaf_of(&made);
	struct name a = name_of("a.b.test");
	struct ends e = {.world = world_of(&ours)};
	static uint8_t sent[100000], got[200000];
	struct buf wire = BUF_INIT(1 << 20), back = BUF_INIT(1 << 20);
	size_t len = 0;

	(void)state;
	e.server = tls_new_server(e.world, leaf, TLS_ALPN_H2);
	e.client = tls_new_client(e.world, &a, NULL, 443, true, false);
	shake(&e);
	assert_int_equal(tls_alpn(e.server), TLS_ALPN_H2);
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (uint8_t)(i * 7);
	assert_int_equal(tls_write(e.client, (struct span){sent, sizeof(sent)}, &wire), 0);
	tls_close(e.client, &wire);
	tls_feed(e.server, buf_span(&wire));
	assert_int_equal(tls_read(e.server, got, sizeof(got), &len, &back), TLS_CLOSED);
	assert_int_equal(len, sizeof(sent));
	assert_memory_equal(sent, got, sizeof(sent));
	/* A byte that was changed on the way. */
	buf_clear(&wire);
	assert_int_equal(tls_write(e.server, (struct span){sent, 100}, &wire), 0);
	wire.ptr[50] ^= 1;
	tls_feed(e.client, buf_span(&wire));
	assert_int_equal(tls_read(e.client, got, sizeof(got), &len, &back), TLS_FAILED);
	buf_fini(&wire);
	buf_fini(&back);
	drop(&e);
	tls_leaf_free(leaf);
	certificate_free(&ours);
	certificate_free(&made);
}

static void test_a_key_that_is_not_the_leafs(void **state)
{
	struct certificate_made one =
		certificate_make(&(struct certificate_wish){.name = NULL}, NULL);
	struct certificate_made two =
		certificate_make(&(struct certificate_wish){.name = NULL}, NULL);
	_cleanup_buf_ struct buf certificate = BUF_INIT(1 << 16), key = BUF_INIT(1 << 16);
	_cleanup_buf_ struct buf rest = BUF_INIT(1 << 16), other = BUF_INIT(1 << 16);

	(void)state;
	certificate_put_der(&certificate, &key, &one);
	certificate_put_der(&rest, &other, &two);
	assert_null(tls_leaf_new(buf_span(&certificate), buf_span(&other)));
	assert_null(tls_leaf_new(buf_span(&key), buf_span(&key)));
	assert_null(tls_leaf_new((struct span){NULL, 0}, (struct span){NULL, 0}));
	certificate_free(&one);
	certificate_free(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_certificates),
		cmocka_unit_test(test_a_leaf_signs_for_nobody),
		cmocka_unit_test(test_an_address_is_proven_too),
		cmocka_unit_test(test_bytes_both_ways),
		cmocka_unit_test(test_a_key_that_is_not_the_leafs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
