/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other rules while the session runs.  The keeper passes on a whole plan, sealed; the gate takes
 * only the rules for the network from it.  It never changes a set of rules in place: it makes a
 * new set, replaces the old one and checks every connection against it.  A plan that it cannot
 * read changes nothing.
 *
 * DNS uses the new rules at once, because it always asks the current set.
 */
#include "change.h"

#include "flow.h"
#include "message_box.h"
#include "message_control.h"
#include "plan_read.h"
#include "refusal.h"
#include "tell.h"

#include <sys/mman.h>

static int change_read(int fd, struct rules **ret_rules, struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	struct span bytes;
	const struct plan *plan = NULL;
	int r = plan_map(fd, &bytes, e);

	if (r < 0)
		return r;
	r = plan_decode(bytes, &plan, &arena, e);
	if (r == 0)
		r = rules_of_plan(plan, ret_rules, e);
	(void)munmap((void *)(uintptr_t)bytes.ptr, bytes.len);
	return r;
}

/* Checks every connection against the rules and ends those that they refuse.  Returns how many. */
static uint64_t change_flows(struct gate *g)
{
	uint64_t ended = 0;
	struct flow *next = NULL;

	for (struct flow *f = g->flows; f; f = next) {
		next = f->next;
		ended += flow_decide_again(f);
	}
	return ended;
}

int change_on_rules(void *context, struct channel_packet *packet, struct error *e)
{
	struct gate *g = context;
	struct message_job m;
	struct error why = ERROR_INIT;
	struct rules *rules = NULL;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	r = change_read(packet->fds[0], &rules, &why);

	struct message_changed answer = {
		.id = m.job, .failure = (uint64_t)(r < 0 ? -r : 0), .text = why.text};

	if (r == 0) {
		struct rules *old = g->rules;

		g->rules = rules;
		g->changes++;
		answer.ended = change_flows(g);
		rules_free(old);
		tell_applied(g, answer.ended);
	}
	return message_send(g->keeper.fd, MESSAGE_CHANGED, &message_changed_schema, &answer, NULL,
			    0);
}

int change_on_count(void *context, struct channel_packet *packet, struct error *e)
{
	struct gate *g = context;
	struct message_count m;
	struct message_counted sum;
	int r = message_decode(packet->body, &message_count_schema, &m, NULL, e);

	if (r < 0)
		return r;
	refusal_sum(g, m.host, m.port, &sum);
	sum.id = m.id;
	return message_send(g->keeper.fd, MESSAGE_COUNTED, &message_counted_schema, &sum, NULL, 0);
}

int change_on_used(void *context, struct channel_packet *packet, struct error *e)
{
	struct gate *g = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	m.value = g->moved;
	return r < 0 ? r
		     : message_send(g->keeper.fd, MESSAGE_USED, &message_job_schema, &m, NULL, 0);
}
