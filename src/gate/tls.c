/* SPDX-License-Identifier: Apache-2.0 */
#include "tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>

enum {
	TLS_SESSIONS = 64,   /* origins that are remembered, for a shorter handshake */
	TLS_CHAIN_DEPTH = 8, /* certificates between the origin's and an authority's */
	TLS_AUTHORITIES = 4096,
};

struct tls_session {
	struct name name;
	uint16_t port;
	SSL_SESSION *session;
};

struct tls_world {
	SSL_CTX *server, *client;
	BIO_METHOD *method;
	size_t authorities;
	size_t next_session; /* the oldest */
	struct tls_session sessions[TLS_SESSIONS];
};

struct tls_leaf {
	X509 *certificate;
	EVP_PKEY *key;
};

struct tls {
	struct tls_world *world;
	SSL *ssl;
	struct span in;
	struct buf *out;
	enum tls_alpn alpn; /* of a server: what it will choose */
	bool resumable;     /* its session is worth keeping, for this name and port: */
	struct name name;
	uint16_t port;
	bool bad_certificate;
	char why[160];
	bool other_alpn;
};

/* --- the bytes ------------------------------------------------------------------------ */

static int tls_bio_read(BIO *bio, char *into, size_t size, size_t *ret_len)
{
	struct tls *t = BIO_get_data(bio);
	size_t n = t->in.len < size ? t->in.len : size;

	BIO_clear_retry_flags(bio);
	*ret_len = n;
	if (n == 0) {
		BIO_set_retry_read(bio);
		return 0;
	}
	memcpy(into, t->in.ptr, n);
	t->in.ptr += n;
	t->in.len -= n;
	return 1;
}

static int tls_bio_write(BIO *bio, const char *bytes, size_t len, size_t *ret_len)
{
	struct tls *t = BIO_get_data(bio);

	BIO_clear_retry_flags(bio);
	*ret_len = 0;
	if (!t->out)
		return 0;
	buf_put(t->out, bytes, len);
	if (buf_error(t->out))
		return 0;
	*ret_len = len;
	return 1;
}

static long tls_bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
	(void)bio;
	(void)number;
	(void)pointer;
	return command == BIO_CTRL_FLUSH;
}

/* --- what all share ------------------------------------------------------------------- */

/*
 * Allows two things that X509_STRICT refuses.  A missing authority key identifier: many
 * companies' own authorities have none, and refusing it gains nothing.  Faults of an authority
 * in the plan: the user trusts it, however it was made.
 */
static int tls_on_verify(int good, X509_STORE_CTX *store)
{
	int error = X509_STORE_CTX_get_error(store);
	X509 *certificate = X509_STORE_CTX_get_current_cert(store);
	bool own = certificate && (X509_get_extension_flags(certificate) & EXFLAG_SS);

	if (good)
		return 1;
	bool only_form = error == X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER ||
			 error == X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER ||
			 (own && (error == X509_V_ERR_CA_BCONS_NOT_CRITICAL ||
				  error == X509_V_ERR_CA_CERT_MISSING_KEY_USAGE));

	if (only_form)
		X509_STORE_CTX_set_error(store, X509_V_OK);
	return only_form;
}

static int tls_on_session(SSL *ssl, SSL_SESSION *session)
{
	struct tls *t = SSL_get_app_data(ssl);

	if (!t->resumable || !SSL_SESSION_is_resumable(session))
		return 0;
	struct tls_world *w = t->world;
	struct tls_session *at = NULL;

	for (size_t i = 0; i < TLS_SESSIONS && !at; i++)
		if (w->sessions[i].port == t->port && name_equal(&w->sessions[i].name, &t->name))
			at = &w->sessions[i];
	if (!at)
		at = &w->sessions[w->next_session++ % TLS_SESSIONS];
	SSL_SESSION_free(at->session);
	*at = (struct tls_session){.name = t->name, .port = t->port, .session = session};
	return 1; /* it is ours now */
}

static int tls_on_alpn(SSL *ssl, const unsigned char **ret_out, unsigned char *ret_len,
		       const unsigned char *offered, unsigned int offered_len, void *context)
{
	const struct tls *t = SSL_get_app_data(ssl);
	struct span wanted = t->alpn == TLS_ALPN_H2 ? SPAN_LITERAL("h2") : SPAN_LITERAL("http/1.1");

	(void)context;
	for (unsigned int at = 0; t->alpn != TLS_ALPN_NONE && at < offered_len;
	     at += 1u + offered[at])
		if (at + 1u + offered[at] <= offered_len &&
		    span_equal((struct span){offered + at + 1, offered[at]}, wanted)) {
			*ret_out = offered + at + 1;
			*ret_len = offered[at];
			return SSL_TLSEXT_ERR_OK;
		}
	return SSL_TLSEXT_ERR_NOACK;
}

static size_t tls_load(X509_STORE *store, struct span pem)
{
	BIO *bio = BIO_new_mem_buf(pem.ptr, pem.len < INT32_MAX ? (int)pem.len : 0);
	size_t count = 0;

	while (bio && count < TLS_AUTHORITIES) {
		X509 *one = PEM_read_bio_X509(bio, NULL, NULL, NULL);

		if (!one && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE)
			break;
		count += one && X509_STORE_add_cert(store, one) == 1;
		X509_free(one);
		if (!one && BIO_eof(bio))
			break;
		ERR_clear_error();
	}
	ERR_clear_error();
	BIO_free(bio);
	return count;
}

static bool tls_set_up(SSL_CTX *context)
{
	static const char suites[] = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
				     "TLS_CHACHA20_POLY1305_SHA256";
	static const char ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20";
	char groups[] = "X25519:P-256:P-384"; /* the macro takes a const away */

	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
					     SSL_OP_CIPHER_SERVER_PREFERENCE);
	SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY |
					  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
	       SSL_CTX_set_ciphersuites(context, suites) == 1 &&
	       SSL_CTX_set_cipher_list(context, ciphers) == 1 &&
	       SSL_CTX_set1_groups_list(context, groups) == 1;
}

static void tls_set_up_client(struct tls_world *w)
{
	X509_VERIFY_PARAM *param = SSL_CTX_get0_param(w->client);

	SSL_CTX_set_verify(w->client, SSL_VERIFY_PEER, tls_on_verify);
	/* An authority of the plan may be an intermediate one: the user named it, so trust it. */
	(void)X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT |
							 X509_V_FLAG_PARTIAL_CHAIN |
							 X509_V_FLAG_TRUSTED_FIRST);
	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
						       X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	X509_VERIFY_PARAM_set_depth(param, TLS_CHAIN_DEPTH);
	(void)SSL_CTX_set_session_cache_mode(w->client,
					     SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(w->client, tls_on_session);
}

static bool tls_make_method(struct tls_world *w)
{
	w->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "gate");
	return w->method && BIO_meth_set_read_ex(w->method, tls_bio_read) == 1 &&
	       BIO_meth_set_write_ex(w->method, tls_bio_write) == 1 &&
	       BIO_meth_set_ctrl(w->method, tls_bio_ctrl) == 1;
}

int tls_world_new(const struct span *authorities, size_t count, struct tls_world **ret_world)
{
	struct tls_world *w = calloc(1, sizeof(*w));

	/* Do not load the host's openssl.cnf. */
	if (!w || OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1) {
		free(w);
		return -ENOMEM;
	}
	w->server = SSL_CTX_new(TLS_server_method());
	w->client = SSL_CTX_new(TLS_client_method());
	if (!w->server || !w->client || !tls_make_method(w) || !tls_set_up(w->server) ||
	    !tls_set_up(w->client)) {
		tls_world_free(w);
		return -ENOMEM;
	}
	SSL_CTX_set_options(w->server, SSL_OP_NO_TICKET);
	(void)SSL_CTX_set_num_tickets(w->server, 0);
	(void)SSL_CTX_set_session_cache_mode(w->server, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_alpn_select_cb(w->server, tls_on_alpn, NULL);
	tls_set_up_client(w);
	for (size_t i = 0; i < count; i++)
		w->authorities += tls_load(SSL_CTX_get_cert_store(w->client), authorities[i]);
	*ret_world = w;
	return 0;
}

void tls_world_free(struct tls_world *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < TLS_SESSIONS; i++)
		SSL_SESSION_free(w->sessions[i].session);
	SSL_CTX_free(w->server);
	SSL_CTX_free(w->client);
	BIO_meth_free(w->method);
	free(w);
}

size_t tls_world_authorities(const struct tls_world *w)
{
	return w->authorities;
}

struct tls_leaf *tls_leaf_new(struct span certificate, struct span key)
{
	struct tls_leaf *leaf = calloc(1, sizeof(*leaf));
	const uint8_t *at = certificate.ptr, *key_at = key.ptr;

	if (!leaf)
		return NULL;
	leaf->certificate = d2i_X509(NULL, &at, (long)certificate.len);
	leaf->key = d2i_AutoPrivateKey(NULL, &key_at, (long)key.len);
	if (leaf->certificate && leaf->key &&
	    X509_check_private_key(leaf->certificate, leaf->key) == 1)
		return leaf;
	ERR_clear_error();
	tls_leaf_free(leaf);
	return NULL;
}

void tls_leaf_free(struct tls_leaf *leaf)
{
	if (!leaf)
		return;
	X509_free(leaf->certificate);
	EVP_PKEY_free(leaf->key);
	free(leaf);
}

/* --- one connection ------------------------------------------------------------------- */

static struct tls *tls_new(struct tls_world *w, SSL_CTX *context)
{
	struct tls *t = calloc(1, sizeof(*t));
	BIO *bio = t ? BIO_new(w->method) : NULL;

	if (!bio) {
		free(t);
		return NULL;
	}
	t->world = w;
	t->ssl = SSL_new(context);
	if (!t->ssl) {
		BIO_free(bio);
		free(t);
		return NULL;
	}
	BIO_set_data(bio, t);
	BIO_set_init(bio, 1);
	SSL_set_bio(t->ssl, bio, bio);
	(void)SSL_set_app_data(t->ssl, t);
	return t;
}

struct tls *tls_new_server(struct tls_world *w, const struct tls_leaf *leaf, enum tls_alpn alpn)
{
	struct tls *t = tls_new(w, w->server);

	if (!t)
		return NULL;
	t->alpn = alpn;
	if (SSL_use_certificate(t->ssl, leaf->certificate) != 1 ||
	    SSL_use_PrivateKey(t->ssl, leaf->key) != 1) {
		tls_free(t);
		return NULL;
	}
	SSL_set_accept_state(t->ssl);
	return t;
}

/* Resumes the session of the last connection to the same name and port; each is used once. */
static void tls_resume(struct tls *t)
{
	struct tls_world *w = t->world;

	for (size_t i = 0; i < TLS_SESSIONS; i++) {
		struct tls_session *s = &w->sessions[i];

		if (!s->session || s->port != t->port || !name_equal(&s->name, &t->name))
			continue;
		(void)SSL_set_session(t->ssl, s->session);
		SSL_SESSION_free(s->session);
		*s = (struct tls_session){.port = 0};
	}
}

static bool tls_expect(struct tls *t, const struct name *name, const struct address *address)
{
	if (name) {
		struct name own = *name; /* as above */

		return SSL_set_tlsext_host_name(t->ssl, own.text) == 1 &&
		       SSL_set1_host(t->ssl, own.text) == 1;
	}
	bool v4 = address_is_v4(address);

	return X509_VERIFY_PARAM_set1_ip(SSL_get0_param(t->ssl), address->bytes + (v4 ? 12 : 0),
					 v4 ? 4 : 16) == 1;
}

struct tls *tls_new_client(struct tls_world *w, const struct name *name,
			   const struct address *address, uint16_t port, bool offer_h2,
			   bool offer_http11)
{
	static const uint8_t offers[] = "\2h2\10http/1.1";
	struct tls *t = tls_new(w, w->client);

	if (!t)
		return NULL;
	t->port = port;
	t->resumable = name != NULL;
	if (name)
		t->name = *name;
	/* One array has both names; one name alone is a part of it. */
	unsigned int from = offer_h2 ? 0 : 3;
	unsigned int len = (offer_h2 ? 3u : 0) + (offer_http11 ? 9u : 0);

	if (!tls_expect(t, name, address) ||
	    (len > 0 && SSL_set_alpn_protos(t->ssl, offers + from, len) != 0)) {
		tls_free(t);
		return NULL;
	}
	SSL_set_connect_state(t->ssl);
	if (t->resumable)
		tls_resume(t);
	return t;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	t->out = NULL;
	SSL_free(t->ssl);
	free(t);
}

void tls_feed(struct tls *t, struct span bytes)
{
	t->in = bytes;
}

static enum tls_state tls_fail(struct tls *t)
{
	long verified = SSL_is_server(t->ssl) ? X509_V_OK : SSL_get_verify_result(t->ssl);
	unsigned long error = ERR_peek_last_error();
	const char *reason = ERR_reason_error_string(error);

	t->other_alpn = ERR_GET_REASON(error) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL;
	t->bad_certificate = verified != X509_V_OK;
	if (t->bad_certificate)
		reason = X509_verify_cert_error_string(verified);
	(void)snprintf(t->why, sizeof(t->why), "%s", reason ? reason : "the connection ended");
	ERR_clear_error();
	return TLS_FAILED;
}

/* The state after a call of OpenSSL that did not complete. */
static enum tls_state tls_state_of(struct tls *t, int result)
{
	switch (SSL_get_error(t->ssl, result)) {
	case SSL_ERROR_WANT_READ:
		return TLS_WAITS;
	case SSL_ERROR_ZERO_RETURN:
		return TLS_CLOSED;
	default:
		return tls_fail(t);
	}
}

enum tls_state tls_handshake(struct tls *t, struct buf *out)
{
	t->out = out;
	ERR_clear_error();
	int r = SSL_do_handshake(t->ssl);
	enum tls_state state = r == 1 ? TLS_READY : tls_state_of(t, r);

	t->out = NULL;
	return state;
}

enum tls_alpn tls_alpn(const struct tls *t)
{
	const unsigned char *chosen = NULL;
	unsigned int len = 0;

	SSL_get0_alpn_selected(t->ssl, &chosen, &len);
	struct span s = {chosen, len};

	return span_equal(s, SPAN_LITERAL("h2"))         ? TLS_ALPN_H2
	       : span_equal(s, SPAN_LITERAL("http/1.1")) ? TLS_ALPN_HTTP11
							 : TLS_ALPN_NONE;
}

enum tls_state tls_read(struct tls *t, uint8_t *into, size_t size, size_t *ret_len, struct buf *out)
{
	enum tls_state state = TLS_READY;
	size_t len = 0;

	t->out = out;
	ERR_clear_error();
	while (len < size && state == TLS_READY) {
		size_t n = 0;
		int r = SSL_read_ex(t->ssl, into + len, size - len, &n);

		len += n;
		if (r != 1)
			state = tls_state_of(t, r);
	}
	t->out = NULL;
	*ret_len = len;
	return state;
}

int tls_write(struct tls *t, struct span bytes, struct buf *out)
{
	size_t n = 0;

	t->out = out;
	ERR_clear_error();
	int r = SSL_write_ex(t->ssl, bytes.ptr, bytes.len, &n);

	t->out = NULL;
	ERR_clear_error();
	return r == 1 && n == bytes.len ? 0 : -EIO;
}

void tls_close(struct tls *t, struct buf *out)
{
	t->out = out;
	ERR_clear_error();
	(void)SSL_shutdown(t->ssl);
	ERR_clear_error();
	t->out = NULL;
}

bool tls_wants_other_alpn(const struct tls *t)
{
	return t->other_alpn;
}

const char *tls_why(const struct tls *t, bool *ret_certificate)
{
	*ret_certificate = t->bad_certificate;
	return t->why;
}
