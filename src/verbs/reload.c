/* SPDX-License-Identifier: Apache-2.0 */
/*
 * We read the files as `bawn run` would read them in the session's workspace, with its preset.  The
 * session's own options, and changes that were made while it ran, stay.  We send only the rules for
 * the network.  The rest of a box is made at its start and does not change.  A file that cannot be
 * read changes nothing.
 */
#include "reload.h"

#include "amend.h"
#include "host.h"
#include "message_control.h"
#include "prepare.h"
#include "session_talk.h"
#include "text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { RELOAD_BYTES_MAX = 4 << 20 };

static void reload_encode(struct buf *into, const struct amend_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		schema_encode(into, &plan_rule_schema, &list->items[i]);
}

static bool reload_is_same(const struct amend_list *a, const struct amend_list *b)
{
	_cleanup_buf_ struct buf x = BUF_INIT(RELOAD_BYTES_MAX);
	_cleanup_buf_ struct buf y = BUF_INIT(RELOAD_BYTES_MAX);

	reload_encode(&x, a);
	reload_encode(&y, b);
	return !buf_error(&x) && !buf_error(&y) && span_equal(buf_span(&x), buf_span(&y));
}

/* Reads what the files say now, for that session. */
static int reload_read(const struct invocation *i, const struct session *s,
		       struct prepared *ret_prepared, struct error *e)
{
	struct invocation_value values[2] = {{OPTION_WORKSPACE, s->plan->workspace},
					     {OPTION_PRESET, s->plan->preset}};
	const struct invocation as_then = {
		.verb = i->verb, .values = values, .value_count = s->plan->preset[0] ? 2 : 1};

	return prepare_rules(&as_then, ret_prepared, e);
}

static int reload_send(struct session *s, const struct amend_list *list, const struct text *out,
		       struct error *e)
{
	const struct plan plan = amend_plan(s->plan, list);
	uint64_t ended = 0;
	char rules[64];
	char what[96];

	(void)snprintf(rules, sizeof(rules), "%zu rule%s for the network", list->count,
		       list->count == 1 ? "" : "s");
	(void)snprintf(what, sizeof(what), "read the policy files again: %s", rules);
	const struct message_change change = {.generation = s->state.generation,
					      .allowed = true,
					      .what = what,
					      .reason = "bawn policy reload"};
	int r = session_change(s, &plan, &change, &ended, e);

	if (r < 0)
		return r;
	/* bawn-keys starts with a session, for the hosts that are open then. */
	if (plan_needs_keys(&plan) && !plan_needs_keys(s->plan))
		text_printf(out,
			    "Hosts with rules about requests stay closed until another session "
			    "starts.\n");
	text_printf(out, "%s now has %s", s->name, rules);
	if (ended > 0)
		text_printf(out, "; %" PRIu64 " connection%s ended by it", ended,
			    ended == 1 ? " was" : "s were");
	text_printf(out, "\n");
	return 0;
}

static int reload_session(const struct invocation *i, struct session *s, struct error *e)
{
	_cleanup_prepared_ struct prepared prepared = PREPARED_INIT;
	struct text out = text_open(STDOUT_FILENO);
	struct amend_list list;
	int r = reload_read(i, s, &prepared, e);

	if (r < 0)
		return r;
	const struct amend_list now = {s->plan->network.items, s->plan->network.count};
	const struct amend_list files = {prepared.plan->network.items,
					 prepared.plan->network.count};

	r = amend_reload(&now, &files, &s->arena, &list);
	if (r < 0)
		return error_sys(e, r, "putting the rules of %s together", s->name);
	if (reload_is_same(&now, &list)) {
		text_printf(&out, "%s has these rules already\n", s->name);
		return 0;
	}
	return reload_send(s, &list, &out, e);
}

int reload_run(const struct invocation *i)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	_cleanup_session_ struct session s = {.fd = -1};
	struct error e = ERROR_INIT;
	struct host host;
	char cwd[PATH_MAX];
	int r = host_gather_user(&arena, &host, &e);

	if (r == 0) {
		struct session_places places = session_places_of(&host);

		r = session_choose(&places, invocation_value(i, OPTION_SESSION),
				   getcwd(cwd, sizeof(cwd)) ? cwd : NULL, &s, &e);
	}
	int64_t began = 0;

	if (r == 0)
		r = reload_session(i, &s, &e);
	while (r == -EAGAIN) {
		r = session_again(&s, &began, &e);
		if (r < 0)
			break;
		r = reload_session(i, &s, &e);
	}
	if (r < 0)
		verb_complain(&e);
	return r < 0 ? EXIT_BAWN : EXIT_OK;
}
