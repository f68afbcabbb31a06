/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to DNS that come at once, more than one batch of them: each is answered, by itself. */
#include "cmocka_lead.h"

#include "answer.h"
#include "dns.h"
#include "gate.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ASKERS = 100, ANSWER_LEN_MIN = 12 };

/* As the gate's own: of both families, and told the address that was asked. */
static int open_dns(struct sockaddr_in *ret_at)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6,
				  .sin6_addr = {{{[10] = 0xff, [11] = 0xff, 127, 0, 0, 1}}}};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1, off = 0;

	if (fd < 0)
		skip(); /* a kernel without IPv6 */
	assert_int_equal(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)), 0);
	assert_int_equal(setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*ret_at = (struct sockaddr_in){.sin_family = AF_INET,
				       .sin_port = at.sin6_port,
				       .sin_addr = {htonl(INADDR_LOOPBACK)}};
	return fd;
}

/* Number n asks for a name of n letters, in a class that there is not. */
static void ask(int fd, const struct sockaddr_in *at, unsigned int n)
{
	uint8_t bytes[128] = {(uint8_t)(n >> 8), (uint8_t)n, 1, 0, 0, 1};
	size_t len = 12, letters = 1 + n % 50;

	bytes[len++] = (uint8_t)letters;
	memset(bytes + len, 'a', letters);
	len += letters + 1;
	bytes[len + 1] = 1; /* A */
	bytes[len + 3] = 3; /* CHAOS */
	len += 4;
	assert_int_equal(sendto(fd, bytes, len, 0, (const struct sockaddr *)at, sizeof(*at)), len);
}

static void test_a_burst_is_answered(void **state)
{
	struct gate *g = calloc(1, sizeof(*g));
	struct sockaddr_in at;
	int askers[ASKERS];

	(void)state;
	assert_non_null(g);
	g->dns = open_dns(&at);
	for (unsigned int i = 0; i < ASKERS; i++) {
		askers[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		assert_true(askers[i] >= 0);
		ask(askers[i], &at, i);
	}
	/* As often as the loop would. */
	for (int i = 0; i < ASKERS; i++)
		assert_int_equal(answer_on_dns(g, 0), 0);
	for (unsigned int i = 0; i < ASKERS; i++) {
		uint8_t answer[512] = {0};
		ssize_t len = recv(askers[i], answer, sizeof(answer), MSG_DONTWAIT);

		if (len < ANSWER_LEN_MIN || (answer[0] << 8 | answer[1]) != (int)i ||
		    !(answer[2] & 0x80))
			fail_msg("question %u has no answer: %zd bytes, id %d", i, len,
				 answer[0] << 8 | answer[1]);
		assert_int_equal(answer[3] & 15, DNS_REFUSED);
		assert_int_equal(recv(askers[i], answer, sizeof(answer), MSG_DONTWAIT), -1);
		(void)close(askers[i]);
	}
	(void)close(g->dns);
	free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_burst_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
