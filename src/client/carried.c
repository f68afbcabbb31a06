/* SPDX-License-Identifier: Apache-2.0 */
#include "carried.h"

#include "clock.h"
#include "message_box.h"

bool carried_is_counted(const struct plan *plan)
{
	for (size_t i = 0; plan && i < plan->limits.count; i++)
		if (plan->limits.items[i].kind == PLAN_LIMIT_IDLE_TIME ||
		    plan->limits.items[i].kind == PLAN_LIMIT_OUTPUT)
			return true;
	return false;
}

void carried_tell(struct carried *c, int channel, size_t out)
{
	int64_t now = clock_ms(CLOCK_MONOTONIC);

	c->out += out;
	if (c->out < CARRIED_BYTES && now - c->told < CARRIED_MS)
		return;
	const struct message_job m = {0, c->out};

	if (message_send(channel, MESSAGE_CARRIED, &message_job_schema, &m, NULL, 0) < 0)
		return;
	c->told = now;
	c->out = 0;
}
