/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a live session, amended: what is said last holds, the ceiling bounds it. */
#include "cmocka_lead.h"

#include "amend.h"
#include "policy.h"
#include "rules.h"
#include "str.h"

#include <stdio.h>

struct
try {
	struct arena arena;
	struct amend_list list;
};

static struct plan_rule said(struct try *t, const char *word, const char *host)
{
	struct policy policy;
	struct error e = ERROR_INIT;
	const struct policy_flag flag = {.key = arena_printf(&t->arena, "network.%s", word),
					 .value = host,
					 .origin = str_equal(word, "allow") ? AMEND_ALLOW
									    : AMEND_DENY};

	memset(&policy, 0, sizeof(policy));
	if (policy_merge(NULL, 0, &flag, 1, &t->arena, &policy, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(policy.network.count, 1);
	return policy.network.items[0];
}

/* Rules of files: `text` of the user's, and of the ceiling (NULL for none). */
static struct amend_list files(struct try *t, const char *text, const char *ceiling)
{
	const struct policy_source sources[] = {
		{.layer = POLICY_USER, .name = "config.yaml", .text = span_of_str(text)},
		{.layer = POLICY_CEILING, .name = "ceiling.yaml", .text = span_of_str(ceiling)},
	};
	struct policy *policy = arena_alloc(&t->arena, sizeof(*policy));
	struct error e = ERROR_INIT;

	if (policy_merge(sources, ceiling ? 2 : 1, NULL, 0, &t->arena, policy, &e) < 0)
		fail_msg("%s", e.text);
	return (struct amend_list){policy->network.items, policy->network.count};
}

static void say(struct try *t, const char *word, const char *host)
{
	struct plan_rule rule = said(t, word, host);

	assert_int_equal(amend_add(&t->list, &rule, &t->arena), 0);
}

static bool reaches(const struct try *t, const char *host, uint16_t port)
{
	_cleanup_rules_ struct rules *rules = NULL;
	struct rules_question q = {.port = port};
	struct rules_verdict v;
	struct error e = ERROR_INIT;

	assert_int_equal(rules_new(t->list.items, t->list.count, &rules, &e), 0);
	assert_int_equal(name_parse(span_of_str(host), &q.name), 0);
	rules_decide(rules, &q, &v);
	return v.action == PLAN_ACTION_ALLOW;
}

#define TRY                                                       \
	{                                                         \
		.arena = ARENA_INIT(8 << 20), .list = { NULL, 0 } \
	}

static void test_what_is_said_last_holds(void **state)
{
	struct try t = TRY;

	(void)state;
	t.list = files(&t, "network:\n  - allow: a.test:443\n  - allow: a.test\n", NULL);
	assert_true(reaches(&t, "a.test", 443));
	say(&t, "deny", "a.test");
	/* Also where the file names the port, which would stand above an ordinary deny. */
	assert_false(reaches(&t, "a.test", 443));
	assert_false(reaches(&t, "a.test", 80));
	say(&t, "allow", "a.test");
	assert_true(reaches(&t, "a.test", 443));
	assert_true(reaches(&t, "a.test", 80));
	for (int i = 0; i < 10; i++) {
		say(&t, "deny", "a.test");
		say(&t, "allow", "a.test");
	}
	assert_int_equal(t.list.count, 3); /* what was taken back is gone */
	arena_fini(&t.arena);
}

static void test_one_port_of_a_closed_host(void **state)
{
	struct try t = TRY;

	(void)state;
	t.list = files(&t, "network:\n  - allow: a.test\n", NULL);
	say(&t, "deny", "a.test");
	say(&t, "allow", "a.test:443");
	assert_true(reaches(&t, "a.test", 443));
	assert_false(reaches(&t, "a.test", 80));
	say(&t, "deny", "a.test:443");
	assert_false(reaches(&t, "a.test", 443));
	assert_false(reaches(&t, "a.test", 80));
	say(&t, "allow", "a.test:8443");
	assert_true(reaches(&t, "a.test", 8443));
	assert_false(reaches(&t, "a.test", 443));
	say(&t, "deny", "a.test");
	assert_false(reaches(&t, "a.test", 8443));
	arena_fini(&t.arena);
}

static void test_rules_from_elsewhere_stay(void **state)
{
	struct try t = TRY;

	(void)state;
	t.list = files(&t, "network:\n  - deny: a.test:443\n  - deny: '*.b.test'\n", NULL);
	say(&t, "allow", "a.test:443");
	assert_false(reaches(&t, "a.test", 443));
	say(&t, "allow", "x.b.test"); /* more specific than the wildcard */
	assert_true(reaches(&t, "x.b.test", 443));
	assert_false(reaches(&t, "y.b.test", 443));
	assert_int_equal(t.list.count, 4);
	arena_fini(&t.arena);
}

static void test_the_ceiling_bounds_it_and_stands_last(void **state)
{
	struct try t = TRY;

	(void)state;
	t.list = files(&t, "network: []\n", "network:\n  - allow: '*.in.test'\n");
	say(&t, "allow", "a.out.test");
	say(&t, "allow", "a.in.test");
	assert_false(reaches(&t, "a.out.test", 443));
	assert_true(reaches(&t, "a.in.test", 443));
	assert_true(t.list.items[t.list.count - 1].ceiling);
	assert_false(t.list.items[0].ceiling);
	arena_fini(&t.arena);
}

static void test_reading_again_keeps_what_was_said(void **state)
{
	struct try t = TRY;
	struct amend_list list;

	(void)state;
	t.list = files(&t, "network:\n  - allow: old.test\n", NULL);
	struct plan_rule option = said(&t, "allow", "option.test");

	option.origin = "--allow";
	assert_int_equal(amend_add(&t.list, &option, &t.arena), 0);
	say(&t, "allow", "said.test");

	const struct amend_list fresh =
		files(&t, "network:\n  - allow: new.test:443\n",
		      "network:\n  - allow: '*'\n    ports: [443]\n  - deny: said.test\n");

	assert_int_equal(amend_reload(&t.list, &fresh, &t.arena, &list), 0);
	t.list = list;
	assert_false(reaches(&t, "old.test", 443));
	assert_true(reaches(&t, "new.test", 443));
	assert_true(reaches(&t, "option.test", 443));
	assert_false(reaches(&t, "option.test", 80)); /* by the new ceiling */
	assert_false(reaches(&t, "said.test", 443));
	arena_fini(&t.arena);
}

static void test_there_is_an_end_to_it(void **state)
{
	struct try t = TRY;
	int r = 0;

	(void)state;
	struct plan_rule rule = said(&t, "allow", "a.test");
	struct plan_rule *many = calloc(PLAN_RULES_MAX, sizeof(*many));

	assert_non_null(many);
	for (size_t i = 0; i < PLAN_RULES_MAX; i++)
		many[i] = rule;
	t.list = (struct amend_list){many, PLAN_RULES_MAX};
	r = amend_add(&t.list, &rule, &t.arena);
	assert_int_equal(r, -E2BIG);
	free(many);
	arena_fini(&t.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_said_last_holds),
		cmocka_unit_test(test_one_port_of_a_closed_host),
		cmocka_unit_test(test_rules_from_elsewhere_stay),
		cmocka_unit_test(test_the_ceiling_bounds_it_and_stands_last),
		cmocka_unit_test(test_reading_again_keeps_what_was_said),
		cmocka_unit_test(test_there_is_an_end_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
