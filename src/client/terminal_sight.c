/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal_sight.h"

#include "authority.h"
#include "fd.h"
#include "terminal.h"

enum { SIGHT_HTTP = 80, SIGHT_HTTPS = 443 };

static bool sight_may_link(void *rules, bool tls, struct span authority)
{
	struct rules_verdict verdict;
	struct authority to;

	if (authority_parse(authority, &to) < 0)
		return false;
	const struct rules_question q = {.name = to.name,
					 .literal = to.is_address,
					 .address = to.address,
					 .port = to.port ? to.port
						 : tls   ? SIGHT_HTTPS
							 : SIGHT_HTTP,
					 .scheme = tls ? PLAN_SCHEME_TLS : PLAN_SCHEME_HTTP};

	rules_decide(rules, &q, &verdict);
	return verdict.action == PLAN_ACTION_ALLOW && (verdict.schemes >> q.scheme & 1) != 0;
}

int terminal_sight_init(struct terminal_sight *s, const struct plan *plan, struct error *e)
{
	*s = (struct terminal_sight){
		.passed = BUF_INIT((size_t)TERMINAL_SIGHT_MAX * TERMINAL_FILTER_GROWTH),
		.terminal = -1};
	int r = rules_of_plan(plan, &s->links, e);

	if (r < 0)
		return r;
	s->filter.link = sight_may_link;
	s->filter.context = s->links;
	for (size_t i = 0; i < plan->terminal.count; i++)
		s->filter.allow |= 1u << plan->terminal.items[i].what;
	return 0;
}

void terminal_sight_fini(struct terminal_sight *s)
{
	rules_free(s->links);
	s->links = NULL;
	s->filter.link = NULL;
	buf_fini(&s->passed);
}

static bool sight_is_ours(const struct terminal_sight *s)
{
	const struct terminal there = {.fd = s->terminal};

	return terminal_is_ours(&there);
}

int terminal_sight_pass(struct terminal_sight *s, struct span bytes, struct span *ret)
{
	buf_clear(&s->passed);
	s->filter.behind = !sight_is_ours(s);
	terminal_filter_feed(&s->filter, bytes.ptr, bytes.len, &s->passed);
	if (buf_error(&s->passed))
		return buf_error(&s->passed);
	*ret = buf_span(&s->passed);
	terminal_state_feed(&s->shown, ret->ptr, ret->len);
	return 0;
}

bool terminal_sight_undo(struct terminal_sight *s, int output)
{
	_cleanup_buf_ struct buf undo = BUF_INIT(2048);

	terminal_state_undo(&s->shown, sight_is_ours(s), &undo);
	if (output >= 0 && undo.len > 0)
		(void)fd_write_all(output, undo.ptr, undo.len);
	terminal_filter_undone(&s->filter);
	return undo.len > 0;
}

void terminal_sight_say(struct terminal_sight *s, const struct text *to)
{
	_cleanup_buf_ struct buf what = BUF_INIT(1024);

	terminal_filter_say(&s->filter, &what);
	memset(s->filter.kept, 0, sizeof(s->filter.kept));
	if (what.len > 0)
		text_printf(to, "bawn: kept from your terminal: %s (terminal.allow)\n",
			    buf_str(&what));
}
