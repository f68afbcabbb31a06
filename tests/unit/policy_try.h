/* SPDX-License-Identifier: Apache-2.0 */
/* Merging in a test: texts in, a policy or an error out. */
#ifndef BAWN_TEST_POLICY_TRY_H
#define BAWN_TEST_POLICY_TRY_H

#include "cmocka_lead.h"

#include "policy.h"

/* What a test writes in each layer; NULL for no file. */
struct try_layers {
	const char *preset, *user, *repository, *ceiling, *store;
	struct policy_flag flags[4];
};

struct try_outcome {
	struct arena arena;
	struct policy policy;
	struct error e;
	int r;
};

static inline void try_fini(struct try_outcome *o)
{
	arena_fini(&o->arena);
}
#define _cleanup_try_ _cleanup_(try_fini)

static inline struct try_outcome try_merge(struct try_layers l)
{
	struct try_outcome o = {.arena = ARENA_INIT(PLAN_ARENA_MAX), .e = ERROR_INIT};
	struct policy_source sources[5] = {0};
	size_t n = 0;
	size_t flags = 0;
	const struct policy_source all[] = {
		{POLICY_CEILING, "/etc/bawn/policy.yaml", span_of_str(l.ceiling)},
		{POLICY_REPOSITORY, ".bawn.yaml", span_of_str(l.repository)},
		{POLICY_USER, "config.yaml", span_of_str(l.user)},
		{POLICY_PRESET, "preset test", span_of_str(l.preset)},
		{POLICY_STORE, "secrets.yaml", span_of_str(l.store)},
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(all); i++)
		if (all[i].text.ptr)
			sources[n++] = all[i];
	while (flags < BAWN_ARRAY_SIZE(l.flags) && l.flags[flags].key)
		flags++;
	o.r = policy_merge(sources, n, l.flags, flags, &o.arena, &o.policy, &o.e);
	return o;
}

#define TRY(...) try_merge((struct try_layers){__VA_ARGS__})

/* The merge went well. */
static inline void try_good(const struct try_outcome *o)
{
	if (o->r != 0)
		fail_msg("refused: %s", o->e.text);
}

/* The merge was refused with exactly this sentence. */
static inline void try_refused(const struct try_outcome *o, const char *sentence)
{
	if (o->r >= 0)
		fail_msg("taken, and should have been refused: %s", sentence);
	assert_int_equal(o->r, o->e.code);
	assert_string_equal(o->e.text, sentence);
}

#endif
