/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user reads when a layer is missing: a whole sentence for every layer
 * and cause, the cause that the machine's switches tell, and only such ways out
 * as bawn really takes.
 */
#include "cmocka_lead.h"

#include "advice.h"
#include "grammar.h"
#include "str.h"

static const struct feature_facts nothing_told = {
	.apparmor_restricts = -1,
	.userns_clone = -1,
	.max_user_namespaces = 15000,
	.tiocsti = -1,
	.yama = -1,
};

static bool is_offered_by_the_grammar(const char *layer)
{
	const char *const *words = grammar_rows[GRAMMAR_WITHOUT].words;

	for (; *words; words++)
		if (str_equal(*words, layer))
			return true;
	return false;
}

static void test_table_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLAN_LAYER_COUNT; i++) {
		const struct advice *a = &advice_table[i];

		assert_non_null(a->title);
		assert_int_equal(a->protects[strlen(a->protects) - 1], '.');
		assert_int_not_equal(a->missing[strlen(a->missing) - 1], '.');
		assert_true(!a->next[0] || a->next[strlen(a->next) - 1] == '.');
		assert_int_equal(a->optional, is_offered_by_the_grammar(plan_layer_words[i]));
	}
}

/* Nothing is cut off, whatever is missing and whyever. */
static void test_sentences_fit(void **state)
{
	static const int codes[] = {-EPERM,  -EACCES, -ENOSYS, -EOPNOTSUPP,      -ENOSPC,
				    -EUSERS, -EINVAL, -ENOMEM, FEATURE_NO_EFFECT};
	const struct feature_facts facts[] = {
		nothing_told,
		{.apparmor_restricts = 1, .userns_clone = -1, .max_user_namespaces = -1},
		{.apparmor_restricts = -1, .userns_clone = 0, .max_user_namespaces = -1},
		{.apparmor_restricts = -1, .userns_clone = -1, .max_user_namespaces = 0},
		{.apparmor_restricts = 0,
		 .userns_clone = 1,
		 .max_user_namespaces = 9,
		 .seccomp = 2},
		{.apparmor_restricts = 0,
		 .userns_clone = 1,
		 .max_user_namespaces = 9,
		 .profile = "login"},
		{.apparmor_restricts = 0,
		 .userns_clone = 1,
		 .max_user_namespaces = 9,
		 .seccomp = 2,
		 .proc_masked = true},
	};

	(void)state;
	for (size_t layer = 0; layer < PLAN_LAYER_COUNT; layer++)
		for (size_t c = 0; c < BAWN_ARRAY_SIZE(codes); c++)
			for (size_t f = 0; f < BAWN_ARRAY_SIZE(facts); f++) {
				struct error e = ERROR_INIT;

				assert_int_equal(advice_about((enum plan_layer)layer, codes[c],
							      &facts[f], &e),
						 codes[c]);
				assert_int_equal(e.code, codes[c]);
				assert_int_equal(e.text[strlen(e.text) - 1], '.');
				assert_int_equal(e.next[strlen(e.next) - 1], '.');
				assert_true(strlen(e.next) < sizeof(e.next) - 64);
			}
}

struct told {
	enum plan_layer layer;
	int code;
	struct feature_facts facts;
	const char *text, *next;
};

static void test_causes_are_told_apart(void **state)
{
	const struct told rows[] = {
		{PLAN_LAYER_USER_NS, -EPERM, nothing_told, "(EPERM)", "--backend host"},
		{PLAN_LAYER_USER_NS, -EPERM, nothing_told, "(EPERM)", "In a chroot"},
		{PLAN_LAYER_USER_NS,
		 -EACCES,
		 {.userns_clone = -1, .max_user_namespaces = 9, .profile = "login"},
		 "(EACCES)",
		 "apparmor_parser -r"},
		{PLAN_LAYER_MOUNT_NS,
		 -EACCES,
		 {.userns_clone = -1, .max_user_namespaces = 9, .profile = "docker-default"},
		 "(EACCES)",
		 "apparmor=unconfined"},
		{PLAN_LAYER_USER_NS,
		 -EPERM,
		 {.apparmor_restricts = 1},
		 "refuses user namespaces",
		 "apparmor_parser -r"},
		/* Ubuntu 24.04 gives the namespace and withholds what can be done in it. */
		{PLAN_LAYER_MOUNT_NS,
		 -EACCES,
		 {.apparmor_restricts = 1},
		 "without authority",
		 "apparmor_parser"},
		{PLAN_LAYER_USER_NS,
		 -EPERM,
		 {.userns_clone = 0, .max_user_namespaces = 9},
		 "(EPERM)",
		 "unprivileged_userns_clone=1"},
		{PLAN_LAYER_USER_NS,
		 -ENOSPC,
		 {.userns_clone = 1},
		 "(ENOSPC)",
		 "max_user_namespaces=15000"},
		{PLAN_LAYER_USER_NS, -ENOSPC, nothing_told, "(ENOSPC)", "Too many are in use"},
		{PLAN_LAYER_USER_NS,
		 -EPERM,
		 {.userns_clone = -1, .max_user_namespaces = 9, .seccomp = 2},
		 "(EPERM)",
		 "seccomp=unconfined"},
		{PLAN_LAYER_PID_NS,
		 -EPERM,
		 {.userns_clone = -1, .max_user_namespaces = 9, .seccomp = 2, .proc_masked = true},
		 "/proc of its own",
		 "systempaths=unconfined"},
		{PLAN_LAYER_LANDLOCK, -ENOSYS, nothing_told, "(ENOSYS)",
		 "CONFIG_SECURITY_LANDLOCK"},
		{PLAN_LAYER_LANDLOCK,
		 -EPERM,
		 {.userns_clone = -1, .max_user_namespaces = 9, .seccomp = 2},
		 "(EPERM)",
		 "--system-call-filter="},
		{PLAN_LAYER_LANDLOCK, -EOPNOTSUPP, nothing_told, "(EOPNOTSUPP)", "lsm="},
		{PLAN_LAYER_LANDLOCK, -ENOSYS, nothing_told, "Landlock", "--without landlock"},
		{PLAN_LAYER_SECCOMP, FEATURE_NO_EFFECT, nothing_told, "has no effect",
		 "--without seccomp"},
		{PLAN_LAYER_CAPS,
		 -EPERM,
		 {.apparmor_restricts = 1},
		 "capabilities",
		 "--backend host"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct error e = ERROR_INIT;

		(void)advice_about(rows[i].layer, rows[i].code, &rows[i].facts, &e);
		if (!strstr(e.text, rows[i].text) || !strstr(e.next, rows[i].next))
			fail_msg("row %zu: %s | %s", i, e.text, e.next);
	}
}

/* Each feature has a sentence, and a way out that begins with a capital or is a command. */
static void test_features_have_words(void **state)
{
	(void)state;
	for (size_t f = 0; f < FEATURE_COUNT; f++) {
		struct error e = ERROR_INIT;

		assert_int_equal(advice_about_feature((enum feature)f, -ENOSYS, &nothing_told, &e),
				 -ENOSYS);
		assert_non_null(strstr(e.text, "(ENOSYS)."));
		assert_true(strlen(e.next) > 0);
		(void)advice_about_feature((enum feature)f, FEATURE_NO_EFFECT, &nothing_told, &e);
		assert_int_equal(e.text[strlen(e.text) - 1], '.');
		assert_null(strstr(e.text, "EBADE"));
	}
}

/* The facts are this machine's: the one switch that every kernel since 4.9 has was read. */
static void test_facts_are_read(void **state)
{
	struct feature_facts facts;

	(void)state;
	feature_read_facts(&facts);
	assert_true(facts.max_user_namespaces >= 0);
	assert_true(facts.seccomp >= 0 && facts.seccomp <= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_whole),
		cmocka_unit_test(test_sentences_fit),
		cmocka_unit_test(test_causes_are_told_apart),
		cmocka_unit_test(test_features_have_words),
		cmocka_unit_test(test_facts_are_read),
	};

	return cmocka_run_group_tests_name("advice", tests, NULL, NULL);
}
