/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a policy in a test: "github.com:22" in, a verdict out. */
#ifndef BAWN_TEST_RULES_ASK_H
#define BAWN_TEST_RULES_ASK_H

#include "policy_try.h"

#include "authority.h"
#include "rules.h"

static inline struct rules *ask_rules(const struct policy *p)
{
	struct rules *r = NULL;
	struct error e = ERROR_INIT;

	if (rules_new(p->network.items, p->network.count, &r, &e) < 0)
		fail_msg("%s", e.text);
	return r;
}

/* False: it is no host at all.  Without a port it is 443. */
static inline bool ask_parse(struct span host, struct rules_question *ret_question)
{
	struct authority a;

	if (authority_parse(host, &a) < 0)
		return false;
	*ret_question = (struct rules_question){.name = a.name,
						.literal = a.is_address,
						.address = a.address,
						.port = a.port ? a.port : 443};
	return true;
}

/* A name is a name, a number is an address, anything else is refused. */
static inline struct rules_verdict ask(const struct rules *r, const char *host, unsigned int scheme)
{
	struct rules_verdict v = {.action = PLAN_ACTION_DENY};
	struct rules_question q;

	if (!ask_parse(span_of_str(host), &q))
		fail_msg("%s is no host", host);
	q.scheme = scheme;
	rules_decide(r, &q, &v);
	return v;
}

#endif
