/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter that silences ports, in src/gate/mute.c: run here by a small interpreter over
 * every port there is.  That the kernel runs it too is shown by tests/fault/storm.
 */
#include "cmocka_lead.h"

#include "mute.h"

#include <linux/filter.h>

enum { CODE_MAX = 1024 };

/* True: the datagram is dropped. */
static bool drops(const struct sock_filter *code, size_t len, uint16_t port)
{
	uint32_t a = 0;

	for (size_t at = 0; at < len; at++) {
		bool jump = false;

		switch (code[at].code) {
		case BPF_LD | BPF_H | BPF_ABS:
			assert_int_equal(code[at].k, 0);
			a = port;
			continue;
		case BPF_RET | BPF_K:
			return code[at].k == 0;
		case BPF_JMP | BPF_JGT | BPF_K:
			jump = a > code[at].k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			jump = a == code[at].k;
			break;
		default:
			fail_msg("unknown code %u", code[at].code);
		}
		at += jump ? code[at].jt : code[at].jf;
	}
	fail_msg("it runs past its end");
	return false;
}

/* Every count's `step`th port from `first` on is muted, and no other. */
static void try_ports(size_t count, uint32_t first, uint32_t step)
{
	static struct sock_filter code[CODE_MAX];
	uint16_t ports[MUTE_PORTS];

	for (size_t i = 0; i < count; i++)
		ports[i] = (uint16_t)(first + i * step);
	size_t len = mute_program(ports, count, code);

	assert_in_range(len, 2, CODE_MAX);
	for (uint32_t port = 0; port <= UINT16_MAX; port++) {
		bool muted = port >= first && (port - first) % step == 0 &&
			     (port - first) / step < count;

		if (drops(code, len, (uint16_t)port) != muted)
			fail_msg("%zu ports from %u by %u: port %u", count, first, step, port);
	}
}

static void test_muted_ports_and_no_others(void **state)
{
	static const size_t counts[] = {0, 1, 2, 119, 120, 121, 239, 240, 241, 511, MUTE_PORTS};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(counts); i++) {
		try_ports(counts[i], 0, 1);
		try_ports(counts[i], 1024, 3);
		try_ports(counts[i], 32768, 64);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_muted_ports_and_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
