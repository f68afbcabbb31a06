/* SPDX-License-Identifier: Apache-2.0 */
#include "show_runs.h"

#include "audit.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>

static void show_run_read(struct past *p, const struct history *a, struct show_run *run)
{
	uint32_t nanoseconds;

	(void)!event_wall_seconds(p->event.wall, &run->began, &nanoseconds);
	run->ended = past_to_end(p) == 0;
	run->running = !run->ended && store_is_running(&a->store, run->session);
	if (!run->ended)
		return;
	(void)!event_wall_seconds(p->event.wall, &run->finished, &nanoseconds);
	run->has_exit = event_has(&p->event, NOTE_FIELD_EXIT);
	run->exit = event_number(&p->event, NOTE_FIELD_EXIT);
	run->has_signal = event_has(&p->event, NOTE_FIELD_SIGNAL);
	run->signal = event_number(&p->event, NOTE_FIELD_SIGNAL);
}

/* Checks that its record is what the ledger has. */
static void show_run_check(struct show_runs *runs, struct audit *ledger, const struct inquiry *q,
			   const struct show_run *run, uint64_t number, const struct error *read)
{
	struct error why = ERROR_INIT;
	char head[HASH_HEX];

	hash_format(&run->place.head, head);
	if (read->code == 0 && !run->running)
		(void)audit_vouch(ledger, &q->ask.store, run->session, number, run->place.seq, head,
				  &why);
	const struct error *bad = read->code ? read : &why;

	if (bad->code && !runs->unread[0])
		(void)snprintf(runs->unread, sizeof(runs->unread), "%s: %.400s",
			       run->session->folder, bad->text);
}

static int show_runs_add(struct inquiry *q, struct past *p, const struct store_session *session,
			 struct audit *ledger, struct show_runs *runs)
{
	struct show_run *run = &runs->items[runs->count];
	struct error read = ERROR_INIT;
	uint64_t number = event_number(&p->event, NOTE_FIELD_NUMBER);

	if (runs->count == SHOW_RUNS_MAX) {
		runs->left_out++;
		return 0;
	}
	*run = (struct show_run){.session = session, .began = session->start};
	show_run_read(p, &q->ask, run);
	int r = index_update(q->index, &q->ask.store, session, 0, NULL, &read);

	if (r < 0 && r != -EBADMSG)
		return r;
	if (index_find(q->index, session, &run->place) < 0)
		return 0; /* it has no event yet */
	show_run_check(runs, ledger, q, run, number, &read);
	runs->count++;
	return 0;
}

int show_runs_find(struct inquiry *q, bool alone, struct show_runs *ret, struct error *e)
{
	_cleanup_audit_ struct audit ledger = {.count = 0};
	_cleanup_free_ struct past *p = malloc(sizeof(*p));
	const struct store *s = &q->ask.store;
	int r = p ? 0 : error_set(e, -ENOMEM, "no memory");

	*ret = (struct show_runs){.count = 0};
	for (size_t i = s->count; p && r == 0 && i-- > 0;) {
		const struct store_session *at = &s->sessions[i];
		bool own = at == q->session;

		if (!own && (alone || at > q->session || !str_equal(at->name, q->session->name)))
			continue;
		if (past_open(p, s, at) == 0 &&
		    (own ||
		     span_equal(event_text(&p->event, NOTE_FIELD_WORKSPACE), inquiry_workspace(q))))
			r = show_runs_add(q, p, at, &ledger, ret);
		past_close(p);
	}
	if (r < 0 && e->code == 0)
		return error_sys(e, r, "the runs of %s", q->session->name);
	return r;
}

int show_runs_sum(struct inquiry *q, const struct show_runs *runs, enum index_what what,
		  size_t most, int (*found)(void *context, const struct index_deed *deed),
		  void *context, struct error *e)
{
	int64_t ids[SHOW_RUNS_MAX];

	for (size_t i = 0; i < runs->count; i++)
		ids[i] = runs->items[i].place.id;
	return runs->count > 1
		       ? index_sum_of(q->index, ids, runs->count, what, most, found, context, e)
		       : index_sum(q->index, &q->place, what, most, found, context, e);
}
