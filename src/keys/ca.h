/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session's own certificate authority: one EC key that lives and dies with
 * this process, the certificate that the box trusts, leaves for the names that
 * the gate opens, and an empty revocation list for clients that want one.
 *
 *	CA	P-256, SHA-256, 30 days, pathlen 0; where the rules name hosts it is
 *		limited to them (nameConstraints, critical), and so is what it signs
 *	leaf	7 days; subjectAltName, authority and subject key identifier, serverAuth,
 *		and where the revocation list is; one key for all leaves of a session
 *
 * This module reads no file.
 */
#ifndef BAWN_CA_H
#define BAWN_CA_H

#include "error.h"
#include "plan.h"
#include "span.h"

enum {
	CA_DAYS = 30,
	CA_LEAF_DAYS = 7,
	CA_NAMES_MAX = 256, /* with more hosts than this the CA has no limit */
	CA_KEPT = 256,      /* leaves that are kept for the next question */
};

struct ca;

/* The authority owns the bytes. */
struct ca_leaf {
	struct span certificate; /* DER */
	struct span key;         /* DER, PKCS #8 */
	uint64_t expires;        /* seconds since 1970 */
};

/* Makes a CA that is limited to the hosts that the plan's rules and secrets open. */
int ca_new(const struct plan *plan, struct ca **ret_ca, struct error *e);
void ca_free(struct ca *a);

static inline void ca_free_ptr(struct ca **a)
{
	ca_free(*a);
}
#define _cleanup_ca_ _cleanup_(ca_free_ptr)

struct span ca_certificate(const struct ca *a); /* DER */
struct span ca_crl(const struct ca *a);         /* DER */

/* Whether a leaf for this host may be made: it is a name or an address that the plan opens. */
bool ca_may_sign(const struct ca *a, const char *host);

/* A leaf for the host, good until the next call.  -EACCES: the CA may not sign for this host. */
int ca_leaf(struct ca *a, const char *host, struct ca_leaf *ret_leaf, struct error *e);

#endif
