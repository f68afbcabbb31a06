/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules*.c files share with each other and with nobody else: rules_set.c makes the
 * table and finds in it, rules.c decides, rules_words.c says why.
 */
#ifndef BAWN_RULES_PARTS_H
#define BAWN_RULES_PARTS_H

#include "rules.h"

enum { RULES_LABELS_MAX = NAME_TEXT_MAX / 2 + 1 };

enum rules_kind { RULES_EXACT, RULES_WILDCARD, RULES_ADDRESS, RULES_ANY };

/* One range of ports of one rule. */
struct rules_row {
	uint16_t from, to;
	uint8_t action;
	uint8_t scheme;
	bool named;
	bool private;
	bool limited; /* it speaks of methods or paths */
	const struct plan_rule *rule;
};

struct rules_host {
	enum rules_kind kind;
	uint32_t hash;
	const void *key; /* a name (of a wildcard: what follows "*."), or 16 bytes */
	size_t key_len;
	struct rules_row *rows;
	size_t count;
};

struct rules_set {
	struct rules_host *hosts;
	size_t count;
	uint32_t *slots; /* number of a host and 1, or 0 */
	uint32_t mask;
	bool wildcards, any;
};

struct rules {
	struct arena arena;
	struct rules_set asked;   /* everyone's */
	struct rules_set ceiling; /* the administrator's */
	bool bounded;             /* there is a ceiling */
	/* The hosts where a secret is bound.  Its port does not count: what one port of a host was
	 * sent, another port of it can tell. */
	LIST_OF(const char *) bound;
};

/* The hosts of a set that match a question, the most specific first. */
struct rules_match {
	const struct rules_host *hosts[RULES_LABELS_MAX + 2];
	size_t count;
};

void rules_match(const struct rules_set *s, const struct rules_question *q, struct rules_match *m);

/* How well a rule fits a request.  Of two, the first member that differs decides: larger is
 * better. */
struct rules_fit {
	size_t path;
	bool method, port;
};

/* What a set says: the rule that decides, and what those beside it add. */
struct rules_pick {
	const struct plan_rule *rule; /* NULL: nothing matched */
	const struct rules_host *host;
	unsigned int action;
	unsigned int schemes;
	bool named, private;
	bool limited; /* of a connection: some rule there speaks of requests */
	bool passthrough, websocket, credentials, mask;
	bool unclear;         /* of a request: a rule names paths, and this path is none */
	bool others;          /* of a request: no rule matched, and some allow other requests */
	struct rules_fit fit; /* of a request */
};

/* What both sets say of one question. */
struct rules_answer {
	struct rules_match asked_match;
	struct rules_pick asked, asked_connection;
	struct rules_pick asked_request; /* also where no connection would be allowed */
	struct rules_pick ceiling, ceiling_connection;
};

#define RULES_SCHEME(scheme) (1u << (scheme))

/* Whether the pick allows the host, but not this scheme.  False while the scheme is not known. */
bool rules_bars_scheme(const struct rules_pick *p, unsigned int scheme);

/* Fills reason and allow_line; by_ceiling: it is the ceiling that refuses. */
void rules_words(const struct rules *r, const struct rules_question *q,
		 const struct rules_answer *a, bool by_ceiling, struct rules_verdict *v);

#endif
