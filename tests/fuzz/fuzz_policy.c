/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a repository's file, as a ceiling, as a preset, as a user's file:
 * read or refused with a sentence, never more.  And the two promises: a
 * repository's file gives nothing that was not given without it, and a ceiling
 * neither.
 */
#include "policy.h"
#include "policy_within.h"
#include "rule.h"
#include "rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                        \
	do {                              \
		if (!(what))              \
			__builtin_trap(); \
	} while (0)

/* What the user may have said before the text comes. */
static const char *const users[] = {
	"",
	"workspace: {access: read}\ntools: false\nlimits: {processes: 20, wall-time: 1h}\n",
	"backend: host\ndebug: true\nwithout: [landlock, seccomp]\nlimits: {processes: unlimited}\n"
	"files: {read: [/a, ~/b], write: [~/c], hide: [/d]}\n"
	"env: {pass: [A, B_*], drop: [C_*], set: {D: e, F: ''}}\n",
	"network: [allow: a.test, {allow: '*.b.test', ports: [1-1000], scheme: tcp}, deny: "
	"x.b.test,\n"
	" ask: c.test, {allow: d.test, private: true}, allow: 10.0.0.1, use: openrouter]\n",
	"network: [{allow: a.test, methods: [GET, POST], paths: [/v1/**, /x]}, {deny: a.test, "
	"paths: [/v1/admin/**]}]\n"
	"secrets: {A: {hosts: ['*.a.test', b.test], methods: [GET, POST], paths: [/v1/**]}, AWS: "
	"{}}\n",
};

static const struct policy_flag flags[] = {
	{"files.read", "/flag", "--read"},
	{"limits.open-files", "100", "--limit"},
	{"network.allow", "*.flag.test:22", "--allow"},
	{"network.deny", "y.b.test", "--deny"},
};

struct outcome {
	struct arena arena;
	struct policy policy;
	int r;
};

static void outcome_fini(struct outcome *o)
{
	arena_fini(&o->arena);
}

static struct outcome merge(const struct policy_source *sources, size_t count, size_t flag_count)
{
	struct outcome o = {.arena = ARENA_INIT(PLAN_ARENA_MAX)};
	struct error e = ERROR_INIT;

	o.r = policy_merge(sources, count, flags, flag_count, &o.arena, &o.policy, &e);
	/* A refusal is a number and a sentence. */
	MUST(o.r <= 0 && o.r == e.code && (o.r == 0) == (e.text[0] == '\0'));
	return o;
}

/* The text in one layer, on top of each user: never wider than without it. */
static void check_within(enum policy_layer layer, struct span text)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(users); i++) {
		const struct policy_source sources[] = {
			{POLICY_USER, "user", span_of_str(users[i])},
			{layer, "text", text},
		};

		for (size_t n = 0; n <= BAWN_ARRAY_SIZE(flags); n += BAWN_ARRAY_SIZE(flags)) {
			_cleanup_(outcome_fini) struct outcome after = merge(sources, 2, n);

			/* What is not understood is not, whatever the user said. */
			if (after.r == -EINVAL)
				return;
			if (after.r < 0)
				continue;
			_cleanup_(outcome_fini) struct outcome before = merge(sources, 1, n);

			MUST(before.r == 0);
			MUST(policy_is_within(&after.policy, &before.policy));
		}
	}
}

/* Rules that were read can be asked, in this plan and in the one that arrives. */
static void check_rules(const struct policy *p)
{
	_cleanup_rules_ struct rules *rules = NULL;
	struct error e = ERROR_INIT;

	MUST(rules_new(p->network.items, p->network.count, &rules, &e) == 0);
	for (size_t i = 0; i < p->network.count && i < 64; i++) {
		struct rules_question q = {
			.port = (uint16_t)p->network.items[i].ports.items[0].from};
		struct rules_verdict v;

		if (!rule_example(&p->network.items[i], &q.name))
			continue;
		rules_decide(rules, &q, &v);
		MUST(v.reason[0] != '\0' && v.action <= PLAN_ACTION_ALLOW);
		MUST(v.action != PLAN_ACTION_ALLOW || rules_may_resolve(rules, &q.name));
		MUST(v.action != PLAN_ACTION_ALLOW || v.allow_line[0] == '\0');
	}
}

/* The text as the word of somebody who may widen. */
static void check_reads(enum policy_layer layer, struct span text)
{
	const struct policy_source source = {layer, "text", text};
	_cleanup_(outcome_fini) struct outcome o = merge(&source, 1, 0);

	if (o.r < 0)
		return;
	MUST(policy_is_within(&o.policy, &o.policy));
	check_rules(&o.policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span text = {data, size};

	check_within(POLICY_REPOSITORY, text);
	check_within(POLICY_CEILING, text);
	check_reads(POLICY_PRESET, text);
	check_reads(POLICY_USER, text);
	return 0;
}
