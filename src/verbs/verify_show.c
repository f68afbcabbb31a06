/* SPDX-License-Identifier: Apache-2.0 */
#include "verify_show.h"

#include "fd.h"
#include "json.h"
#include "words.h"

#include <stdio.h>
#include <unistd.h>

enum { VERIFY_JSON_MAX = 8 << 20 };

static size_t verify_total(const struct verify_result *v, enum judge_verdict verdict)
{
	size_t total = 0;

	for (int p = 0; p < PROBE_PROMISE_COUNT; p++)
		total += v->totals[p][verdict];
	return total;
}

bool verify_holds(const struct verify_result *v)
{
	return verify_total(v, JUDGE_OPEN) == 0 && verify_total(v, JUDGE_UNPROVEN) == 0 &&
	       verify_total(v, JUDGE_CLOSED) > 0;
}

static void verify_show_line(const struct text *t, const char *title, const size_t *totals,
			     enum text_style style)
{
	text_styled(t, style, "  %-22s%8zu%8zu%12zu%16zu\n", title, totals[JUDGE_CLOSED],
		    totals[JUDGE_OPEN], totals[JUDGE_UNPROVEN], totals[JUDGE_NO_CONTROL]);
}

static void verify_show_table(const struct text *t, const struct verify_result *v)
{
	size_t all[JUDGE_VERDICT_COUNT] = {0};

	text_styled(t, TEXT_STRONG, "  %-22s%8s%8s%12s%16s\n", "promise", "closed", "open",
		    "not proven", "not comparable");
	for (int p = 0; p < PROBE_PROMISE_COUNT; p++) {
		bool bad = v->totals[p][JUDGE_OPEN] || v->totals[p][JUDGE_UNPROVEN];

		verify_show_line(t, probe_promise_titles[p], v->totals[p],
				 bad ? TEXT_BAD : TEXT_PLAIN);
		for (int i = 0; i < JUDGE_VERDICT_COUNT; i++)
			all[i] += v->totals[p][i];
	}
	verify_show_line(t, "together", all, TEXT_STRONG);
}

/* Shows those of one verdict in full, with the heading if there is one. */
static void verify_show_rows(const struct text *t, const struct verify_result *v,
			     enum judge_verdict verdict, enum text_style style, const char *heading)
{
	bool first = true;

	for (size_t i = 0; i < v->count; i++) {
		const struct verify_row *row = &v->rows[i];
		const struct probe *p = row->facts.probe;

		if (row->verdict != verdict)
			continue;
		if (first)
			text_styled(t, style, "\n%s\n", heading);
		first = false;
		text_printf(t, "  %s %s: this should hold: %s\n", p->id, p->name, p->sentence);
		text_styled(t, TEXT_FAINT, "      %s\n", row->why);
	}
}

static void verify_show_given(const struct text *t, const struct verify_result *v)
{
	size_t given = verify_total(v, JUDGE_GIVEN);

	if (given == 0)
		return;
	text_printf(t, "\nGiven by the plan, so not tried:");
	for (size_t i = 0; i < v->count; i++)
		if (v->rows[i].verdict == JUDGE_GIVEN)
			text_printf(t, " %s", v->rows[i].facts.probe->name);
	text_printf(t, "\n");
}

void verify_show(const struct text *t, const struct plan *plan, const struct verify_result *v)
{
	_cleanup_buf_ struct buf head = BUF_INIT(1u << 16);
	_cleanup_buf_ struct buf gone = BUF_INIT(1u << 12);

	buf_put_str(&head, "The box for ");
	words_path(&head, plan, plan->workspace);
	buf_put_str(&head, ", attacked from inside:\n\n");
	text_write(t, &head);
	words_gone_without(&gone, plan);
	if (gone.len > 0)
		text_styled(t, TEXT_WARN, "This box goes without: %s\n\n", buf_str(&gone));
	verify_show_table(t, v);
	verify_show_rows(t, v, JUDGE_OPEN, TEXT_BAD, "OPEN");
	verify_show_rows(t, v, JUDGE_UNPROVEN, TEXT_BAD, "NOT PROVEN");
	verify_show_given(t, v);
	if (verify_holds(v))
		text_styled(t, TEXT_GOOD,
			    "\nClosed: %zu attempts were refused exactly as expected;\n"
			    "outside, none of them was.\n",
			    verify_total(v, JUDGE_CLOSED));
	else if (verify_total(v, JUDGE_OPEN) == 0)
		text_styled(t, TEXT_BAD,
			    "\nNot proven: nothing was found open, and not all of it could be "
			    "tried.\n");
	else
		text_styled(t, TEXT_BAD, "\nThe box does not hold what bawn promises.\n");
	if (verify_total(v, JUDGE_NO_CONTROL) > 0)
		text_styled(
			t, TEXT_FAINT,
			"%zu more were refused, but cannot be compared here: outside the box this\n"
			"machine refuses them too, or does not have them. --json lists them.\n",
			verify_total(v, JUDGE_NO_CONTROL));
}

/* --- JSON ----------------------------------------------------------------------------- */

static void verify_json_outcome(struct json *j, const char *key, const struct run_result *r)
{
	char word[24];

	json_key(j, key);
	json_open(j, '{');
	json_key_str(j, "outcome", probe_outcome_word(r->outcome, word, sizeof(word)));
	if (r->note[0])
		json_key_str(j, "note", r->note);
	json_close(j, '}');
}

static void verify_json_set(struct json *j, const char *key, const int *set)
{
	char word[24];

	json_key(j, key);
	json_open(j, '[');
	for (int i = 0; i < PROBE_WANT_MAX && set[i] != 0; i++)
		json_str(j, probe_outcome_word(set[i], word, sizeof(word)));
	json_close(j, ']');
}

static void verify_json_row(struct json *j, const struct verify_row *row)
{
	const struct probe *p = row->facts.probe;

	json_open(j, '{');
	json_key_str(j, "id", p->id);
	json_key_str(j, "name", p->name);
	json_key_str(j, "promise", probe_promise_words[p->promise]);
	json_key_str(j, "sentence", p->sentence);
	json_key_str(j, "verdict", judge_words[row->verdict]);
	if (row->why[0])
		json_key_str(j, "why", row->why);
	verify_json_set(j, "expected", p->want);
	if (row->facts.ran)
		verify_json_outcome(j, "inside", &row->facts.inside);
	if (p->control != PROBE_CONTROL_NONE)
		verify_json_outcome(j, "control", &row->facts.outside);
	json_key(j, "layers");
	json_open(j, '[');
	for (unsigned int layer = 0; layer < PLAN_LAYER_COUNT; layer++)
		if (p->layers & 1u << layer)
			json_str(j, plan_layer_words[layer]);
	json_close(j, ']');
	json_close(j, '}');
}

static void verify_json_totals(struct json *j, const size_t *totals)
{
	json_open(j, '{');
	for (int i = 0; i < JUDGE_VERDICT_COUNT; i++)
		json_key_u64(j, judge_words[i], totals[i]);
	json_close(j, '}');
}

int verify_show_json(const struct plan *plan, const struct verify_result *v)
{
	_cleanup_buf_ struct buf out = BUF_INIT(VERIFY_JSON_MAX);
	struct json j = JSON_INIT(&out, true);
	size_t all[JUDGE_VERDICT_COUNT] = {0};

	json_open(&j, '{');
	json_key_bool(&j, "holds", verify_holds(v));
	json_key_str(&j, "workspace", plan->workspace);
	json_key_u64(&j, "milliseconds", v->milliseconds);
	json_key(&j, "without");
	json_open(&j, '[');
	for (unsigned int layer = 0; layer < PLAN_LAYER_COUNT; layer++)
		if (plan_goes_without(plan, layer))
			json_str(&j, plan_layer_words[layer]);
	json_close(&j, ']');
	json_key(&j, "promises");
	json_open(&j, '{');
	for (int p = 0; p < PROBE_PROMISE_COUNT; p++) {
		json_key(&j, probe_promise_words[p]);
		verify_json_totals(&j, v->totals[p]);
		for (int i = 0; i < JUDGE_VERDICT_COUNT; i++)
			all[i] += v->totals[p][i];
	}
	json_close(&j, '}');
	json_key(&j, "together");
	verify_json_totals(&j, all);
	json_key(&j, "probes");
	json_open(&j, '[');
	for (size_t i = 0; i < v->count; i++)
		verify_json_row(&j, &v->rows[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	int r = buf_error(&out);

	return r < 0 ? r : fd_write_all(STDOUT_FILENO, out.ptr, out.len);
}
