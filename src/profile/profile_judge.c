/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of profile_table.h, read for one call.  The filters are assembled from the same
 * table; tests/probe/test_bpf.c runs both on every number and compares.
 */
#include "profile.h"
#include "profile_table.h"

#include "base.h"

/* The index of a call in each table; -1: not in it. */
struct profile_number {
	const char *name;
	short call, rule, watched;
};

#include "profile_numbers.h"

static const int profile_in[] = {
	[PROFILE_BOX] = IN_BOX,
	[PROFILE_BOX_DEBUG] = IN_DEBUG,
	[PROFILE_BOX_CLOSED] = IN_CLOSED,
	[PROFILE_BOX_SYSTEM] = IN_BOX,
	[PROFILE_BOX_SYSTEM_DEBUG] = IN_DEBUG,
};

static bool profile_pretends(enum profile_kind kind, const char *name)
{
	if ((kind != PROFILE_BOX_SYSTEM && kind != PROFILE_BOX_SYSTEM_DEBUG) || !name)
		return false;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(profile_pretended); i++)
		if (strcmp(name, profile_pretended[i]) == 0)
			return true;
	return false;
}

static bool profile_rule_fits(const struct profile_rule *rule, const uint64_t args[6])
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rule->when) && rule->when[i].mask != 0; i++) {
		const struct profile_condition *c = &rule->when[i];
		uint32_t argument = (uint32_t)(args[c->argument] >> (c->upper ? 32 : 0)) & c->mask;

		if (c->any ? argument == 0 : argument != c->value)
			return false;
	}
	return true;
}

/* 0, PROFILE_ASK, or the errno of the first rule that fits. */
static int profile_rules_say(int in, int first, const uint64_t args[6])
{
	for (size_t i = (size_t)first; i < BAWN_ARRAY_SIZE(profile_rules); i++) {
		const struct profile_rule *rule = &profile_rules[i];

		if (strcmp(rule->call, profile_rules[first].call) != 0)
			break;
		if ((rule->in & in) && profile_rule_fits(rule, args))
			return rule->action;
	}
	return ENOSYS;
}

static bool profile_is_seen(const struct profile_watched *w, enum profile_watch watch,
			    const uint64_t args[6])
{
	if (w->seen == PROFILE_SEEN_DATAGRAM)
		return false; /* only if a rule asks */
	if (w->seen == PROFILE_SEEN_TIMES)
		return (uint32_t)args[w->mode] == 0;
	if (w->seen != PROFILE_SEEN_OPEN || w->flags < 0)
		return true;
	uint32_t flags = (uint32_t)args[w->flags];

	if (flags & PROFILE_OPEN_CHANGES)
		return true;
	if (watch == PROFILE_WATCH_CHANGES || (flags & PROFILE_OPEN_BARE))
		return false;
	if (watch == PROFILE_WATCH_READS)
		return true;
	return !(flags & PROFILE_OPEN_SEEKS) &&
	       (w->dir < 0 || (int32_t)args[w->dir] == PROFILE_AT_FDCWD);
}

struct profile_answer profile_judge(enum profile_kind kind, enum profile_watch watch, int number,
				    const uint64_t args[6])
{
	static const struct profile_number unknown = {NULL, -1, -1, -1};
	const struct profile_number *n =
		number >= 0 && (size_t)number < BAWN_ARRAY_SIZE(profile_numbers) &&
				profile_numbers[number].name
			? &profile_numbers[number]
			: &unknown;
	struct profile_answer a = {.name = n->name};
	int in = kind < BAWN_ARRAY_SIZE(profile_in) ? profile_in[kind] : 0;

	if (profile_pretends(kind, n->name)) {
		a.verdict = PROFILE_PRETENDED;
		return a;
	}
	if (n->call >= 0 && (profile_calls[n->call].in & in))
		a.error = 0;
	else
		a.error = n->rule >= 0 ? profile_rules_say(in, n->rule, args) : ENOSYS;
	bool asked = a.error == PROFILE_ASK;

	if (asked)
		a.error = 0;
	if (a.error) {
		a.verdict = PROFILE_REFUSED;
	} else if (watch != PROFILE_WATCH_NOTHING && n->watched >= 0 &&
		   (asked || profile_is_seen(&profile_watched[n->watched], watch, args))) {
		a.verdict = PROFILE_WATCHED;
		a.watched = &profile_watched[n->watched];
	}
	return a;
}
