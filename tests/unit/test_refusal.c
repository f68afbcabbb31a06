/* SPDX-License-Identifier: Apache-2.0 */
/* What the gate tells of its refusals, in src/gate/refusal.c: each once, none uncounted. */
#include "cmocka_lead.h"

#include "dns.h"
#include "fd.h"
#include "gate.h"
#include "message_gate.h"
#include "refusal.h"
#include "rules.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct told {
	int keeper;
	size_t events;
	uint64_t last_count, more;
	char last_host[256], last_reason[160];
};

static struct gate gate;
static struct told told;

static void open_gate(void)
{
	struct error e = ERROR_INIT;
	int pair[2];

	memset(&gate, 0, sizeof(gate));
	memset(&told, 0, sizeof(told));
	assert_int_equal(channel_pair(pair), 0);
	gate.keeper.fd = pair[0];
	told.keeper = pair[1];
	assert_int_equal(rules_new(NULL, 0, &gate.rules, &e), 0);
}

static void close_gate(void)
{
	fd_close(&gate.keeper.fd);
	fd_close(&told.keeper);
	rules_free(gate.rules);
	free(gate.refusals);
}

static void listen_to_gate(void)
{
	uint8_t bytes[4096];
	ssize_t n;

	while ((n = recv(told.keeper, bytes, sizeof(bytes), MSG_DONTWAIT)) > 4) {
		struct error e = ERROR_INIT;
		struct message_event m;

		assert_int_equal(bytes[0], MESSAGE_EVENT);
		assert_int_equal(message_decode((struct span){bytes + 4, (size_t)n - 4},
						&message_event_schema, &m, NULL, &e),
				 0);
		if (m.kind == MESSAGE_EVENT_MORE) {
			told.more = m.count;
			continue;
		}
		told.events++;
		told.last_count = m.count;
		(void)snprintf(told.last_host, sizeof(told.last_host), "%s", m.host);
		(void)snprintf(told.last_reason, sizeof(told.last_reason), "%s", m.reason);
	}
}

static void refuse(const char *host, uint16_t port)
{
	struct rules_verdict v = {.reason = "because", .allow_line = "- allow: it"};

	refusal_note(&gate, MESSAGE_EVENT_CONNECT, host, port, &v);
	listen_to_gate();
}

static void ask(const char *name, uint16_t type)
{
	struct dns_question q = {.type = type};

	assert_int_equal(name_parse(span_of_str(name), &q.name), 0);
	refusal_question(&gate, &q);
	listen_to_gate();
}

/* The same again is counted, and told when it has grown tenfold and at the end. */
static void test_same_is_counted(void **state)
{
	(void)state;
	open_gate();
	for (int i = 0; i < 1234; i++)
		refuse("one.test", 443);
	assert_int_equal(told.events, 4);
	assert_int_equal(told.last_count, 1000);
	refuse("one.test", 80);
	refuse("two.test", 443);
	assert_int_equal(told.events, 6);
	refusal_flush(&gate);
	listen_to_gate();
	assert_int_equal(told.events, 7);
	assert_int_equal(told.last_count, 1234);
	assert_string_equal(told.last_host, "one.test");
	assert_string_equal(told.last_reason, "because");
	assert_int_equal(told.more, 0);
	close_gate();
}

/* However many names the box makes up, none is lost: told, or in the number at the end. */
static void test_many_are_added_up(void **state)
{
	enum { MANY = 20000 };
	char host[64];

	(void)state;
	open_gate();
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(host, sizeof(host), "n%d.test", i);
		refuse(host, 443);
	}
	size_t apart = told.events;

	assert_in_range(apart, 100, 1000);
	/* Those that have a place are still found. */
	refuse("n0.test", 443);
	refusal_flush(&gate);
	listen_to_gate();
	assert_int_equal(told.events, apart + 1);
	assert_int_equal(told.last_count, 2);
	assert_int_equal(told.more, MANY - apart);
	close_gate();
}

/* One lookup asks for A and for AAAA, and is one refusal. */
static void test_pair_is_one(void **state)
{
	(void)state;
	open_gate();
	for (int i = 0; i < 3; i++) {
		ask("pair.test", DNS_A);
		ask("pair.test", DNS_AAAA);
	}
	ask("other.test", DNS_AAAA);
	refusal_flush(&gate);
	listen_to_gate();
	assert_string_equal(told.last_host, "pair.test");
	assert_int_equal(told.last_count, 3);
	ask("same.test", DNS_A);
	ask("same.test", DNS_A);
	ask("same.test", 16);
	refusal_flush(&gate);
	listen_to_gate();
	assert_string_equal(told.last_host, "same.test");
	assert_int_equal(told.last_count, 3);
	close_gate();
}

static void test_limit_says_of_what(void **state)
{
	(void)state;
	open_gate();
	for (int i = 0; i < 10; i++)
		refusal_limit(&gate, "connections");
	listen_to_gate();
	assert_int_equal(told.events, 2);
	assert_string_equal(told.last_reason, "more connections than one session may have");
	close_gate();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_is_counted),
		cmocka_unit_test(test_many_are_added_up),
		cmocka_unit_test(test_pair_is_one),
		cmocka_unit_test(test_limit_says_of_what),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
