/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logins by ssh: the rules that say `ssh`, the keys of those hosts that the user knows, and
 * what a program in the box needs: a socket that looks like an agent, and a list of known
 * hosts.
 */
#include "build_parts.h"

#include "encode.h"
#include "str.h"

#define BUILD_SSH_SOCKET "/run/bawn/ssh-agent"
#define BUILD_SSH_KNOWN "/etc/ssh/ssh_known_hosts"

static void build_ssh_not_given(struct build *b, const struct plan_rule *rule, const char *why)
{
	build_note(b, PLAN_NOTE_NOT_GIVEN,
		   build_printf(b, "logins signed by your ssh agent at %s", rule->host), why,
		   rule->origin);
}

/* Adds the known keys of one rule's host to the plan.  Returns how many. */
static size_t build_ssh_keys(struct build *b, const struct plan_rule *rule)
{
	size_t count = 0;

	for (size_t i = 0; i < b->host->ssh_key_count; i++) {
		const struct plan_ssh_key *key = &b->host->ssh_keys[i];

		for (size_t n = 0; n < rule->ports.count; n++) {
			if (!str_equal(key->host, rule->host) ||
			    key->port < rule->ports.items[n].from ||
			    key->port > rule->ports.items[n].to)
				continue;
			struct plan_ssh_key *copy = build_grow(b, BUILD_LIST(b->plan.ssh_keys));

			*copy = *key;
			copy->unbound = rule->unbound;
			copy->login_key = rule->key;
			copy->origin = rule->origin;
			count++;
		}
	}
	return count;
}

/* So that ssh in the box knows the hosts as the user does. */
static void build_ssh_known_hosts(struct build *b)
{
	_cleanup_buf_ struct buf text = BUF_INIT(512 << 10);
	const struct plan_mount *over = build_mount_over(b, BUILD_SSH_KNOWN);

	if (over && str_equal(over->target, BUILD_SSH_KNOWN))
		return;
	for (size_t i = 0; i < b->plan.ssh_keys.count; i++) {
		const struct plan_ssh_key *key = &b->plan.ssh_keys.items[i];
		struct reader r = reader_of(key->key);
		struct span kind = reader_take(&r, 4);

		if (kind.len == 4)
			kind = reader_take(&r, kind.ptr[3]);
		if (key->port == 22)
			buf_put_str(&text, key->host);
		else
			buf_putf(&text, "[%s]:%llu", key->host, (unsigned long long)key->port);
		buf_putf(&text, " %.*s ", (int)kind.len, (const char *)kind.ptr);
		encode_base64(&text, key->key);
		buf_put_char(&text, '\n');
	}
	build_file(b, BUILD_SSH_KNOWN, build_printf(b, "%s", buf_str(&text)));
}

void build_ssh(struct build *b)
{
	bool asked = false;

	b->plan.ssh_agent = "";
	for (size_t i = 0; i < b->plan.network.count; i++) {
		const struct plan_rule *rule = &b->plan.network.items[i];

		if (!rule->sign || rule->ceiling)
			continue;
		asked = true;
		if (!b->host->ssh_agent)
			build_ssh_not_given(b, rule,
					    "no agent of yours answers: eval \"$(ssh-agent)\" and "
					    "ssh-add start one");
		else if (build_ssh_keys(b, rule) == 0)
			build_ssh_not_given(b, rule,
					    "its key is not in your known_hosts: log in there once "
					    "outside the box");
	}
	if (!asked || b->plan.ssh_keys.count == 0)
		return;
	b->plan.ssh_agent = b->host->ssh_agent;
	*build_add_mount(b) = (struct plan_mount){
		.kind = PLAN_MOUNT_SOCKET,
		.target = BUILD_SSH_SOCKET,
		.role = "made-up",
		.origin = b->plan.ssh_keys.items[0].origin,
	};
	build_ssh_known_hosts(b);
	*build_add_env(b) = (struct plan_env){.name = "SSH_AUTH_SOCK",
					      .value = BUILD_SSH_SOCKET,
					      .origin = b->plan.ssh_keys.items[0].origin};
}
