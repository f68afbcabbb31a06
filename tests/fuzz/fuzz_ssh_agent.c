/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a program in the box sends to its ssh agent, and as what the agent
 * answers.  Spans lie within the message; a copied list parses to itself.
 */
#include "../lib/cut.h"
#include "ssh_agent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_within(struct span s, struct span all)
{
	CUT_MUST(s.len == 0 ||
		 (s.ptr >= all.ptr && s.len <= all.len && s.ptr + s.len <= all.ptr + all.len));
}

static void check_request(struct span message)
{
	struct ssh_agent_request q;
	struct ssh_login login;

	if (ssh_agent_parse(message, &q) < 0)
		return;
	check_within(q.key, message);
	check_within(q.data, message);
	check_within(q.host_key, message);
	check_within(q.session, message);
	check_within(q.signature, message);
	CUT_MUST(q.session.len <= SSH_AGENT_SESSION_MAX);
	if (q.kind != SSH_AGENT_SIGN || ssh_login_parse(q.data, &login) < 0)
		return;
	check_within(login.session, q.data);
	check_within(login.key, q.data);
	check_within(login.host_key, q.data);
	CUT_MUST(login.session.len > 0 && login.key.len > 0);
}

static void check_list(struct span message)
{
	_cleanup_buf_ struct buf once = BUF_INIT(SSH_AGENT_MESSAGE_MAX);
	_cleanup_buf_ struct buf twice = BUF_INIT(SSH_AGENT_MESSAGE_MAX);

	if (ssh_agent_copy_list(message, NULL, NULL, &once) < 0)
		return;
	CUT_MUST(once.len <= message.len);
	CUT_MUST(ssh_agent_copy_list(buf_span(&once), NULL, NULL, &twice) == 0);
	CUT_MUST(span_equal(buf_span(&once), buf_span(&twice)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span bytes = {data, size};
	struct ssh_login login;
	size_t len = 0;

	if (ssh_agent_frame(bytes, &len) == FEED_DONE) {
		CUT_MUST(len > 4 && len <= size);
		check_request((struct span){data + 4, len - 4});
		check_list((struct span){data + 4, len - 4});
	}
	check_request(bytes);
	check_list(bytes);
	(void)!ssh_login_parse(bytes, &login);
	return 0;
}
