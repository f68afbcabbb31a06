/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

int steps_take(const struct step *steps, size_t count, const struct plan *plan, void *context,
	       struct error *e)
{
	for (size_t i = 0; i < count; i++) {
		const struct step *s = &steps[i];

		if (s->layer != STEP_ALWAYS && plan_goes_without(plan, (enum plan_layer)s->layer))
			continue;
		int r = s->take(context, e);

		if (r < 0)
			return e->code == 0 ? error_sys(e, r, "%s", s->name) : r;
	}
	return 0;
}
