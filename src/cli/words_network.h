/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the rules for the network in words: the same on every screen. */
#ifndef BAWN_WORDS_NETWORK_H
#define BAWN_WORDS_NETWORK_H

#include "buf.h"
#include "json.h"
#include "plan.h"
#include "rules.h"

/* "TLS", "TLS or plain HTTP", "any bytes": a set of 1u << enum plan_scheme. */
const char *words_schemes(unsigned int schemes);

/*
 * Calls line for each rule that somebody wrote, and once for each bundle and for the ceiling: what
 * it is about on the left, what it does and who wrote it on the right; both escaped.
 */
void words_network(const struct plan *plan,
		   void (*line)(void *context, const char *left, const char *right), void *context);

/* Whether some rule allows something. */
bool words_reaches(const struct plan *plan);

/* The next host from *at on that a rule allows; NULL at the end.  For a bundle: "NAME (3 hosts)". */
const char *words_next_reach(const struct plan *plan, size_t *at, struct buf *into);

/*
 * "by the proxy proxy.example:3128", if the plan has one; whole: with its kind, its login and the
 * hosts that are reached without it.
 */
void words_proxy(struct buf *into, const struct plan *plan, bool whole);

/* Puts a verdict and its rule's origin, as members of the object that is open. */
void words_verdict(struct json *j, const struct rules_verdict *v);

#endif
