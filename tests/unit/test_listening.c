/* SPDX-License-Identifier: Apache-2.0 */
/* Ports at which somebody listens, from the kernel's table, and in words. */
#include "cmocka_lead.h"

#include "listening.h"

#include <limits.h>

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
#define ROW(address, peer, state) \
	"   0: " address " " peer " " state " 00000000:00000000 00:00000000 00000000  1000\n"
#define ANY6 "00000000000000000000000000000000"

static void listens(const char *table, const char *words)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096);
	struct listening l = {.count = 0};

	listening_parse(table, &l);
	listening_words(&l, "calm-otter", &b);
	assert_string_equal(buf_str(&b), words);
}

static void each_table_is_read(void **state)
{
	(void)state;
	listens("", "");
	listens(HEAD, "");
	listens(HEAD ROW("0100007F:0BB8", "00000000:0000", "0A"),
		"a server listens on port 3000 inside: bawn open calm-otter 3000");
	listens(HEAD ROW("0100007F:0BB8", "00000000:0000", "0A")
			HEAD ROW(ANY6 ":1451", ANY6 ":0000", "0A")
				ROW(ANY6 ":0BB8", ANY6 ":0000", "0A"),
		"servers listen on ports 3000, 5201 inside: bawn open calm-otter PORT");
}

/* A connection, the gate's own listener, a port that the kernel chose, a table that is cut. */
static void others_are_left_out(void **state)
{
	struct listening l = {.count = 0};

	(void)state;
	listens(HEAD ROW("0100007F:0BB8", "0100007F:9C40", "01"), "");
	listens(HEAD ROW(ANY6 ":0001", ANY6 ":0000", "0A"), "");
	listens(HEAD ROW("0100007F:8000", "00000000:0000", "0A"), "");
	listens(HEAD "   0: 0100007F:0BB8 00000000:0000", "");
	listening_parse(HEAD ROW("0100007F:8000", "00000000:0000", "0A"), &l);
	assert_int_equal(l.count, 1);
	assert_int_equal(l.ports[0], 32768);
}

/* More than there is room for: the rest is left out, and nothing else happens. */
static void a_full_table_is_cut(void **state)
{
	_cleanup_buf_ struct buf table = BUF_INIT(1 << 20);
	struct listening l = {.count = 0};

	(void)state;
	for (unsigned int port = 2000; port > 1500; port--)
		buf_putf(&table, "   0: 0100007F:%04X 00000000:0000 0A 0\n", port);
	listening_parse(buf_str(&table), &l);
	assert_int_equal(l.count, LISTENING_MAX);
	for (size_t i = 1; i < l.count; i++)
		assert_true(l.ports[i - 1] < l.ports[i]);
}

/* What the kernel counts, and a kernel that counts something else. */
static void sockets_are_counted(void **state)
{
	static const char counts[] = "sockets: used 5\nTCP: inuse 3 orphan 0 tw 0 alloc 4 mem 0\n";

	(void)state;
	assert_int_equal(listening_count(counts, "TCP: inuse "), 3);
	assert_int_equal(listening_count("TCP6: inuse 0\nUDP6: inuse 1\n", "TCP6: inuse "), 0);
	assert_true(listening_count(counts, "TCP6: inuse ") == ULONG_MAX);
	assert_true(listening_count("", "TCP: inuse ") == ULONG_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_table_is_read),
		cmocka_unit_test(others_are_left_out),
		cmocka_unit_test(a_full_table_is_cut),
		cmocka_unit_test(sockets_are_counted),
	};

	return cmocka_run_group_tests_name("listening", tests, NULL, NULL);
}
