/* SPDX-License-Identifier: Apache-2.0 */
/* Facts, the lines that come out of the box, deadlines, and how a verdict is made. */
#include "../unit/cmocka_lead.h"

#include "judge.h"
#include "start.h"
#include "str.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* --- facts ---------------------------------------------------------------------------- */

static void facts_keep_every_byte(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1u << 16);
	struct facts facts;
	char every[256];

	(void)state;
	for (int i = 1; i < 256; i++)
		every[i - 1] = (char)i;
	every[255] = '\0';
	facts_put(&text, "every", every);
	facts_put(&text, "twice", "one");
	facts_put(&text, "twice", "two\nforged\tline\n");
	facts_putf(&text, "number", "%d", 42);
	facts_put(&text, "empty", "");
	assert_int_equal(facts_parse(buf_span(&text), &facts), 0);
	assert_int_equal(facts.count, 5);
	assert_string_equal(facts_get(&facts, "every"), every);
	assert_string_equal(facts_nth(&facts, "twice", 1), "two\nforged\tline\n");
	assert_null(facts_nth(&facts, "twice", 2));
	assert_null(facts_get(&facts, "forged"));
	assert_string_equal(facts_get(&facts, "empty"), "");
	uint64_t number = 0;

	assert_int_equal(facts_u64(&facts, "number", &number), 0);
	assert_int_equal(number, 42);
	assert_int_equal(facts_u64(&facts, "nothing", &number), -ENOENT);
	facts_fini(&facts);
}

static void bad_facts_are_refused(void **state)
{
	static const char *const bad[] = {"no tab\n", "\tno key\n", "no end\tx",   "a\t%0g\n",
					  "a\t%4\n",  "a\t%00\n",   "a\tx\x01y\n", "a\t\x80\n"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		struct facts facts;

		assert_int_equal(facts_parse(span_of_str(bad[i]), &facts), -EBADMSG);
		facts_fini(&facts);
	}
}

/* --- lines ---------------------------------------------------------------------------- */

static const struct probe row = {
	.id = "KS-00",
	.name = "a-row",
	.sentence = "It holds.",
	.want = {-ENOSYS, PROBE_HELD},
	.also = {-EPERM},
	.control = PROBE_CONTROL_SAME,
};

static void a_line_comes_back_as_it_went(void **state)
{
	static const int outcomes[] = {PROBE_DONE, PROBE_HELD, PROBE_UNABLE,
				       -EPERM,     -ENOSYS,    -4000};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(outcomes); i++) {
		_cleanup_buf_ struct buf line = BUF_INIT(4096);
		struct run_result in = {.outcome = outcomes[i], .note = "\033[2J\ttab%"};
		struct run_result out;

		run_format(&line, &row, &in);
		assert_non_null(line.ptr);
		assert_null(strchr(line.ptr, '\033'));
		line.ptr[line.len - 1] = '\0';
		assert_int_equal(run_parse(line.ptr, &row, &out), 0);
		assert_int_equal(out.outcome, in.outcome);
		assert_string_equal(out.note, in.note);
	}
}

static void a_strange_line_is_refused(void **state)
{
	static const char *const bad[] = {"",
					  "a-row",
					  "a-row\tdone",
					  "b-row\tdone\t",
					  "a-row\tfine\t",
					  "a-row\t-1\t",
					  "a-row\tdone\tx\ty",
					  "a-row\tdone\t%1"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		_cleanup_buf_ struct buf line = BUF_INIT(4096);
		struct run_result out;

		buf_put_str(&line, bad[i]);
		buf_put_char(&line, '\0');
		assert_int_equal(run_parse(line.ptr, &row, &out), -EBADMSG);
	}
}

/* --- running -------------------------------------------------------------------------- */

static int attempt_hang(struct probe_run *run)
{
	(void)run;
	while (pause() < 0)
		continue;
	return PROBE_DONE;
}

static int attempt_die(struct probe_run *run)
{
	(void)run;
	(void)signal(SIGSYS, SIG_DFL); /* cmocka catches it */
	(void)raise(SIGSYS);
	return PROBE_DONE;
}

static int attempt_exit(struct probe_run *run)
{
	(void)run;
	_exit(0);
}

static int attempt_answer(struct probe_run *run)
{
	probe_note(run, "seen");
	return getpid() == getsid(0) ? -EPERM : PROBE_DONE;
}

static void an_end_is_an_outcome(void **state)
{
	static const struct {
		probe_fn *attempt;
		int outcome;
	} ends[] = {{attempt_hang, PROBE_HUNG},
		    {attempt_die, PROBE_KILLED},
		    {attempt_exit, PROBE_UNABLE},
		    {attempt_answer, -EPERM}};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ends); i++) {
		struct probe p = row;
		struct run_result result;
		struct timespec begin;
		struct timespec end;

		p.attempt = ends[i].attempt;
		p.patience_ms = 500;
		(void)clock_gettime(CLOCK_MONOTONIC, &begin);
		run_attempt(&p, NULL, &result);
		(void)clock_gettime(CLOCK_MONOTONIC, &end);
		assert_int_equal(result.outcome, ends[i].outcome);
		assert_true(end.tv_sec - begin.tv_sec <= 1 + PROBE_DEADLINE_MS / 1000);
	}
}

/* Slower than the deadline, as everything is on an emulated processor. */
static int attempt_slowly(struct probe_run *run)
{
	(void)run;
	(void)usleep((PROBE_DEADLINE_MS + 300) * 1000);
	return -EPERM;
}

static void what_is_slow_is_tried_again(void **state)
{
	struct probe p = row;
	struct run_result result;

	(void)state;
	p.attempt = attempt_slowly;
	run_attempt(&p, NULL, &result);
	assert_int_equal(result.outcome, -EPERM);
	/* The control: with no more time than before it is not answered. */
	p.patience_ms = 100;
	run_attempt(&p, NULL, &result);
	assert_int_equal(result.outcome, PROBE_HUNG);
}

/* --- verdicts ------------------------------------------------------------------------- */

struct verdict {
	const char *what;
	enum probe_control control;
	unsigned int flags;
	int inside, outside;
	bool ran, given, weaker, unshown;
	enum judge_verdict verdict;
};

#define SAME PROBE_CONTROL_SAME
#define DIFFERS PROBE_CONTROL_DIFFERS

static const struct verdict verdicts[] = {
	{"refused, control works", SAME, 0, -ENOSYS, PROBE_DONE, 1, 0, 0, 0, JUDGE_CLOSED},
	{"the other exact answer", SAME, 0, PROBE_HELD, PROBE_DONE, 1, 0, 0, 0, JUDGE_CLOSED},
	{"it worked inside", SAME, 0, PROBE_DONE, PROBE_DONE, 1, 0, 0, 0, JUDGE_OPEN},
	{"another errno is not the refusal", SAME, 0, -EINVAL, PROBE_DONE, 1, 0, 0, 0, JUDGE_OPEN},
	{"a weaker answer, box whole", SAME, 0, -EPERM, PROBE_DONE, 1, 0, 0, 0, JUDGE_OPEN},
	{"a weaker answer, box weaker", SAME, 0, -EPERM, PROBE_DONE, 1, 0, 1, 0, JUDGE_CLOSED},
	{"killed is not the refusal", SAME, 0, PROBE_KILLED, PROBE_DONE, 1, 0, 0, 0, JUDGE_OPEN},
	{"what hung proves nothing", SAME, 0, PROBE_HUNG, PROBE_DONE, 1, 0, 0, 0, JUDGE_UNPROVEN},
	{"control refused too", SAME, 0, -ENOSYS, -EPERM, 1, 0, 0, 0, JUDGE_UNPROVEN},
	{"nothing there outside", SAME, PROBE_MAY_LACK, -ENOSYS, -ENOENT, 1, 0, 0, 0,
	 JUDGE_NO_CONTROL},
	{"open, whatever the control", SAME, PROBE_MAY_LACK, PROBE_DONE, -ENOENT, 1, 0, 0, 0,
	 JUDGE_OPEN},
	{"no attempt possible", SAME, 0, PROBE_UNABLE, PROBE_DONE, 1, 0, 0, 0, JUDGE_UNPROVEN},
	{"nothing to try anywhere", SAME, PROBE_MAY_LACK, PROBE_UNABLE, PROBE_UNABLE, 1, 0, 0, 0,
	 JUDGE_NO_CONTROL},
	{"not reported", SAME, 0, PROBE_DONE, PROBE_DONE, 0, 0, 0, 0, JUDGE_UNPROVEN},
	{"the plan gives it", SAME, 0, PROBE_DONE, PROBE_DONE, 1, 1, 0, 0, JUDGE_GIVEN},
	{"not shown", SAME, PROBE_EXHIBIT, PROBE_UNABLE, PROBE_DONE, 1, 0, 0, 1, JUDGE_NO_CONTROL},
	{"the call reaches the kernel", DIFFERS, 0, -ENOSYS, -EPERM, 1, 0, 0, 0, JUDGE_CLOSED},
	{"the kernel lacks the call", DIFFERS, 0, -ENOSYS, -ENOSYS, 1, 0, 0, 0, JUDGE_NO_CONTROL},
	{"a broken control", DIFFERS, 0, -ENOSYS, PROBE_UNABLE, 1, 0, 0, 0, JUDGE_UNPROVEN},
	{"no control by design", PROBE_CONTROL_NONE, 0, -ENOSYS, 0, 1, 0, 0, 0, JUDGE_NO_CONTROL},
};

static void verdicts_are_as_they_should(void **state)
{
	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(verdicts); i++) {
		const struct verdict *v = &verdicts[i];
		struct probe p = row;
		struct judge_case c = {.probe = &p,
				       .ran = v->ran,
				       .given = v->given,
				       .weaker = v->weaker,
				       .unshown = v->unshown};
		char why[320];

		p.control = v->control;
		p.flags = v->flags;
		c.inside.outcome = v->inside;
		c.outside.outcome = v->outside;
		enum judge_verdict verdict = judge(&c, why, sizeof(why));

		if (verdict != v->verdict)
			fail_msg("%s: %s, not %s", v->what, judge_words[verdict],
				 judge_words[v->verdict]);
		assert_int_equal(why[0] == '\0', verdict == JUDGE_CLOSED);
	}
}

/* Outside any box the start-up probes must find it open, and name what they found. */
static void no_box_does_not_start(void **state)
{
	static struct plan plan;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(probe_start(&plan, false, &e), -EPERM);
	assert_non_null(strstr(e.text, "the box is open: probe "));
	assert_true(e.next[0] != '\0');
}

/* In a container whose filter answers before the box's own: that it refuses is enough, and that it
 * lets something through is not. */
static void the_filter_of_a_container_counts(void **state)
{
	static struct plan plan;
	struct error e = ERROR_INIT;

	(void)state;
	if (geteuid() == 0)
		skip();
	assert_int_equal(probe_start(&plan, false, &e), -EPERM);
	assert_non_null(strstr(e.text, "call-mount"));
	assert_int_equal(probe_start(&plan, true, &e), -EPERM);
	assert_non_null(strstr(e.text, "call-unshare"));
}

/* Whoever openly goes without every layer is not stopped by probes of those layers. */
static void what_is_gone_without_is_not_asked_for(void **state)
{
	static struct plan_without all[PLAN_LAYER_COUNT];
	static struct plan plan;
	struct error e = ERROR_INIT;

	(void)state;
	for (unsigned int i = 0; i < PLAN_LAYER_COUNT; i++)
		all[i].layer = i;
	plan.ablate.items = all;
	plan.ablate.count = PLAN_LAYER_COUNT;
	assert_true(probe_start(&plan, false, &e) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_keep_every_byte),
		cmocka_unit_test(bad_facts_are_refused),
		cmocka_unit_test(a_line_comes_back_as_it_went),
		cmocka_unit_test(a_strange_line_is_refused),
		cmocka_unit_test(an_end_is_an_outcome),
		cmocka_unit_test(what_is_slow_is_tried_again),
		cmocka_unit_test(verdicts_are_as_they_should),
		cmocka_unit_test(no_box_does_not_start),
		cmocka_unit_test(the_filter_of_a_container_counts),
		cmocka_unit_test(what_is_gone_without_is_not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
