/* SPDX-License-Identifier: Apache-2.0 */
#include "start.h"

#include "probe.h"

static bool start_skips(const struct plan *plan, const struct probe *p)
{
	if ((plan->debug && (p->flags & PROBE_DEBUG)) ||
	    (plan->root.count > 0 && (p->flags & PROBE_SYSTEM)))
		return true;
	for (unsigned int layer = 0; layer < PLAN_LAYER_COUNT; layer++)
		if ((p->layers & 1u << layer) && plan_goes_without(plan, layer))
			return true;
	return false;
}

int probe_start(const struct plan *plan, bool filtered, struct error *e)
{
	int held = 0;

	for (size_t i = 0; i < probe_rows_start.count; i++) {
		const struct probe *p = &probe_rows_start.rows[i];
		struct probe_run run = {.probe = p};

		if (start_skips(plan, p))
			continue;
		int outcome = p->attempt(&run);

		bool also = (plan->root.count > 0 && (p->flags & PROBE_SYSTEM_ALSO)) ||
			    (filtered && (p->layers & PROBE_LAYER(SECCOMP)));

		if (!probe_in_set(p->want, outcome) && !(also && probe_in_set(p->also, outcome))) {
			char word[24];

			(void)error_set(e, -EPERM,
					"the box is open: probe %s (%s) answered \"%s\"%s%s; it "
					"should show: %s",
					p->name, p->id,
					probe_outcome_word(outcome, word, sizeof(word)),
					run.note[0] ? ", " : "", run.note, p->sentence);
			error_next(e, "nothing was run; `bawn verify` shows the whole table, and "
				      "this is a fault of bawn worth reporting");
			return -EPERM;
		}
		held++;
	}
	return held;
}
