/* SPDX-License-Identifier: Apache-2.0 */
#include "carried.h"

#include "clock.h"
#include "message_box.h"

bool carried_begin(struct carried *c, const struct plan *plan)
{
	bool counted = false;

	c->left = UINT64_MAX;
	for (size_t i = 0; plan && i < plan->limits.count; i++) {
		const struct plan_limit *limit = &plan->limits.items[i];

		if (limit->kind == PLAN_LIMIT_OUTPUT)
			c->left = limit->value + 1;
		counted = counted || limit->kind == PLAN_LIMIT_OUTPUT ||
			  limit->kind == PLAN_LIMIT_IDLE_TIME;
	}
	return counted;
}

void carried_tell(struct carried *c, int channel, size_t out)
{
	int64_t now = clock_ms(CLOCK_MONOTONIC);

	c->out += out;
	if (c->left > 0 && c->out < CARRIED_BYTES && now - c->told < CARRIED_MS)
		return;
	const struct message_job m = {0, c->out};

	if (message_send(channel, MESSAGE_CARRIED, &message_job_schema, &m, NULL, 0) < 0)
		return;
	c->told = now;
	c->out = 0;
}
