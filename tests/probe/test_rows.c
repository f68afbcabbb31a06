/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of probes keeps its own rules, and leaves no refused system call of
 * the box's profile untried.
 */
#include "../unit/cmocka_lead.h"

#include "probe.h"
#include "profile_table.h"
#include "str.h"

#include <ctype.h>
#include <seccomp.h>
#include <stdio.h>

/* Refused, and not tried: no kernel that bawn runs on has them any more. */
static const char *const dead_calls[] = {
	"_sysctl",        "afs_syscall",     "create_module",   "epoll_ctl_old",
	"epoll_wait_old", "get_kernel_syms", "get_thread_area", "getpmsg",
	"putpmsg",        "query_module",    "security",        "set_thread_area",
	"tuxcall",        "vserver",         "uretprobe",       "uprobe",
};

static void names_are_unique(void **state)
{
	(void)state;
	for (size_t i = 0; probe_at(i); i++)
		for (size_t n = i + 1; probe_at(n); n++)
			if (str_equal(probe_at(i)->name, probe_at(n)->name))
				fail_msg("two rows are called %s", probe_at(i)->name);
}

static void every_row_is_whole(void **state)
{
	(void)state;
	assert_true(probe_count() > 150);
	for (size_t i = 0; probe_at(i); i++) {
		const struct probe *p = probe_at(i);
		size_t len = strlen(p->sentence);

		if (!p->id || strlen(p->id) != 5 || p->id[2] != '-' || !isupper(p->id[0]))
			fail_msg("%s: what of the corpus is \"%s\"?", p->name, p->id);
		if (strpbrk(p->name, "\t\n %"))
			fail_msg("%s: not a name for a line", p->name);
		if (len < 10 || p->sentence[len - 1] != '.' || strlen(p->name) > 60)
			fail_msg("%s: \"%s\" is no sentence", p->name, p->sentence);
		if (!p->attempt || p->want[0] == 0 || p->promise >= PROBE_PROMISE_COUNT)
			fail_msg("%s: no attempt, no expectation or no promise", p->name);
		if ((p->control == PROBE_CONTROL_NONE) != (p->no_control != NULL))
			fail_msg("%s: a control, or the reason why there is none", p->name);
		if ((p->control == PROBE_CONTROL_OWN) != (p->control_fn != NULL))
			fail_msg("%s: its own control, or another's", p->name);
		if (probe_in_set(p->want, PROBE_DONE) || probe_in_set(p->want, PROBE_UNABLE) ||
		    probe_in_set(p->also, PROBE_DONE))
			fail_msg("%s: a success is expected", p->name);
	}
}

static void every_promise_has_probes(void **state)
{
	size_t count[PROBE_PROMISE_COUNT] = {0};

	(void)state;
	for (size_t i = 0; probe_at(i); i++)
		count[probe_at(i)->promise]++;
	for (int p = 0; p < PROBE_PROMISE_COUNT; p++)
		assert_true(count[p] >= 3);
}

/* The groups that this part of bawn answers for, complete as far as they concern the box. */
static void every_case_of_the_corpus_is_there(void **state)
{
	static const char *const cases[] = {
		"PR-01", "PR-02", "PR-03", "PR-04", "PR-05", "PR-06", "TT-01", "TT-02", "TT-03",
		"KS-01", "KS-02", "KS-03", "KS-04", "KS-05", "KS-06", "KS-07", "KS-08", "KS-10",
		"FS-05", "FS-12", "FS-13", "FS-14", "SK-01", "SK-02", "SK-03", "SK-04", "SK-05",
		"SK-06", "SK-07", "SK-08", "RX-01", "NW-04", "NW-06", "NW-07", "NW-12",
	};

	(void)state;
	for (size_t c = 0; c < BAWN_ARRAY_SIZE(cases); c++) {
		size_t found = 0;

		for (size_t i = 0; probe_at(i); i++)
			found += str_equal(probe_at(i)->id, cases[c]);
		if (found == 0)
			fail_msg("no probe for %s", cases[c]);
	}
}

static bool is_tried(long number)
{
	for (size_t i = 0; probe_at(i); i++)
		if (str_after(probe_at(i)->name, "call-") && probe_at(i)->number == number)
			return true;
	return false;
}

static bool is_allowed(const char *name, int number)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(profile_calls); i++)
		if ((str_equal(profile_calls[i].name, name) || profile_calls[i].number == number) &&
		    (profile_calls[i].in & IN_BOX))
			return true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(profile_rules); i++)
		if (str_equal(profile_rules[i].call, name) && (profile_rules[i].in & IN_BOX))
			return true;
	return false;
}

static bool is_dead(const char *name)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(dead_calls); i++)
		if (str_equal(dead_calls[i], name))
			return true;
	return str_equal(name, "clone3"); /* rows_namespaces.c tries it with each flag */
}

static void every_refused_call_is_tried(void **state)
{
	size_t refused = 0;

	(void)state;
	for (int number = 0; number < 600; number++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

		if (!name)
			continue;
		bool allowed = is_allowed(name, number);

		if (!allowed && !is_dead(name) && !is_tried(number))
			fail_msg("the box refuses %s (%d), and no probe tries it", name, number);
		if (allowed && is_tried(number))
			fail_msg("the box allows %s (%d), and a probe expects a refusal", name,
				 number);
		refused += !allowed && is_tried(number);
		free(name);
	}
	(void)printf("# %zu refused calls are tried by name\n", refused);
	assert_true(refused >= 60);
}

static void every_family_is_tried(void **state)
{
	(void)state;
	for (int family = 0; family < 46; family++) {
		char name[24];
		bool allowed = family == 1 || family == 2 || family == 10 || family == 16;
		bool found = false;

		(void)snprintf(name, sizeof(name), "family-%d", family);
		for (size_t i = 0; probe_at(i); i++)
			found = found || (str_equal(probe_at(i)->name, name) &&
					  probe_at(i)->args[0].number == family);
		assert_int_equal(found, !allowed);
	}
}

/* Init has no facts and may not wait. */
static void the_start_up_probes_are_few_and_need_nothing(void **state)
{
	(void)state;
	assert_in_range(probe_rows_start.count, 12, 24);
	for (size_t i = 0; i < probe_rows_start.count; i++) {
		const struct probe *p = &probe_rows_start.rows[i];

		assert_int_not_equal(p->layers, 0);
		assert_int_equal(p->flags & (PROBE_PATH | PROBE_VARIABLE | PROBE_EXHIBIT), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(every_row_is_whole),
		cmocka_unit_test(every_promise_has_probes),
		cmocka_unit_test(every_case_of_the_corpus_is_there),
		cmocka_unit_test(every_refused_call_is_tried),
		cmocka_unit_test(every_family_is_tried),
		cmocka_unit_test(the_start_up_probes_are_few_and_need_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
