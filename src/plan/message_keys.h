/* SPDX-License-Identifier: Apache-2.0 */
/* Between gate, keys and client.  An answer has the id of its question.  The asker numbers its
 * questions and may have several open.  `index` is the secret's in the plan, or
 * PLAN_PROXY_LOGIN. */
#ifndef BAWN_MESSAGE_KEYS_H
#define BAWN_MESSAGE_KEYS_H

#include "message.h"

enum {
	MESSAGE_VALUE_MAX = 16 << 10, /* bytes of one secret, all parts together */
	MESSAGE_SIGN_MAX = 4 << 10,   /* of a string to sign */
};

struct message_authority {
	struct span certificate; /* the session's CA, DER */
	struct span crl;         /* DER: what the gate serves at PLAN_CRL_PATH */
};

struct message_leaf {
	uint64_t id;
	const char *name; /* canonical host name, or a literal address */
};

struct message_certificate {
	uint64_t id;
	struct span certificate; /* DER; its issuer is the session's CA */
	struct span key;         /* DER, PKCS #8; one key for all leaves of a session */
	uint64_t expires;        /* seconds since 1970 */
};

/* One request, as keys sees it: it decides again whether this secret may go there. */
struct message_release {
	uint64_t id;
	uint64_t index;
	const char *host;
	uint64_t port;
	unsigned int scheme; /* enum plan_scheme: PLAN_SCHEME_TLS or PLAN_SCHEME_HTTP */
	const char *method;
	const char *path; /* decoded and normalised, without query */
	uint64_t sure;    /* how many bytes of the path all servers read alike */
};

/* The gate asks for a value that keys released before in this session, to look for it in
 * answers. */
struct message_again {
	uint64_t id;
	uint64_t index;
	uint64_t former; /* 0: the one that is used now; 1: the one before it; and so on */
};

/* The gate asks for the login of the user's proxy; the answer is a VALUE of PLAN_PROXY_LOGIN. */
struct message_login {
	uint64_t id;
};

/*
 * A secret's value, in the form of secrets.h.  For kind aws keys sends the gate an empty line in
 * place of the secret key, which never leaves keys.
 */
struct message_value {
	uint64_t id; /* of RELEASE or AGAIN; 0 from the client */
	uint64_t index;
	uint64_t expires; /* seconds since 1970; 0: does not */
	uint64_t
		formers; /* answer to AGAIN: how many earlier values of the secret keys still has */
	struct span value;
};

struct message_refused {
	uint64_t id;    /* of the question; 0 from the client */
	uint64_t index; /* of the secret; 0 for a leaf */
	const char *reason;
};

/* AWS SigV4: keys derives the day's key and signs; the gate made the string. */
struct message_sign {
	uint64_t id;
	uint64_t index;
	const char *host;
	uint64_t port;
	unsigned int scheme;
	const char *method;
	const char *path;
	uint64_t sure;
	const char *date; /* YYYYMMDD */
	const char *region;
	const char *service;
	struct span text; /* the string to sign */
};

struct message_signature {
	uint64_t id;
	struct span signature; /* 32 bytes */
};

struct message_need {
	uint64_t index;
};

extern const struct schema message_authority_schema;
extern const struct schema message_leaf_schema;
extern const struct schema message_certificate_schema;
extern const struct schema message_release_schema;
extern const struct schema message_again_schema;
extern const struct schema message_login_schema;
extern const struct schema message_value_schema;
extern const struct schema message_refused_schema;
extern const struct schema message_sign_schema;
extern const struct schema message_signature_schema;
extern const struct schema message_need_schema;

#endif
