/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a question, and as the frames of a TCP connection.  A question that is
 * taken is answered within bounds, with its own bytes in the answer, and the answer is
 * never taken for a question.
 */
#include "../lib/cut.h"
#include "dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_answer(const struct dns_question *q, const struct dns_answer *a, size_t max)
{
	uint8_t *out = malloc(max);
	struct dns_question again;

	CUT_MUST(out);
	size_t len = dns_format_answer(q, a, out, max);

	CUT_MUST(len >= 12 && len <= max && len <= DNS_MESSAGE_MAX);
	CUT_MUST(out[0] == q->id >> 8 && out[1] == (uint8_t)q->id);
	CUT_MUST((out[2] & 0x80) && (out[3] & 0x80) && (out[3] & 0xf) == (int)a->rcode);
	CUT_MUST(out[4] == 0 && out[5] == (q->wire_len > 0));
	CUT_MUST(memcmp(out + 12, q->wire, q->wire_len) == 0);
	CUT_MUST(dns_parse_question((struct span){out, len}, &again) == -EBADMSG);
	free(out);
}

static void check_answers(const struct dns_question *q, int rcode)
{
	struct address many[100] = {{{[10] = 0xff, [11] = 0xff, [12] = 198, [13] = 18}}};
	const struct dns_answer none = {.rcode = (enum dns_rcode)rcode};
	const struct dns_answer one = {DNS_NOERROR, 60, many, 1};
	const struct dns_answer all = {DNS_NOERROR, 60, many, BAWN_ARRAY_SIZE(many)};

	check_answer(q, &none, DNS_UDP_MIN);
	check_answer(q, &one, DNS_UDP_MIN);
	check_answer(q, &all, DNS_UDP_MIN);
	check_answer(q, &all, q->udp_size);
	check_answer(q, &all, DNS_MESSAGE_MAX);
}

static void check_question(struct span message)
{
	char shown[DNS_NAME_TEXT_SIZE];
	struct dns_question q;
	struct name again;
	int r = dns_parse_question(message, &q);

	CUT_MUST(r == -EBADMSG || (r >= 0 && r <= DNS_REFUSED));
	if (r < 0)
		return;
	CUT_MUST(q.udp_size >= DNS_UDP_MIN && q.udp_size <= DNS_MESSAGE_MAX);
	dns_format_name(&q, shown);
	check_answers(&q, r);
	if (r > 0)
		return;
	CUT_MUST((q.name.len > 0) == (q.name_error == 0));
	if (q.name.len == 0)
		return;
	CUT_MUST(name_parse(span_of_str(q.name.text), &again) == 0 && name_equal(&q.name, &again));
	/* What is shown is what was read, but for the case. */
	CUT_MUST(strcasecmp(shown, q.name.text) == 0);
	CUT_MUST(q.wire_len == q.name.len + 2u + 4u);
}

static enum feed feed(void *reader, struct span in, size_t *ret_used)
{
	return dns_frame_feed(reader, in, ret_used);
}

static bool is_same(const void *a, const void *b)
{
	const struct dns_frame *x = a, *y = b;

	return x->state == y->state && x->why == y->why &&
	       span_equal(dns_frame_message(x), dns_frame_message(y));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct dns_frame fresh;
	static const struct cut_reader reader = {sizeof(fresh), &fresh, feed, is_same};
	struct span left = {data, size};
	struct dns_frame f;
	enum feed state = FEED_DONE;

	check_question(left);
	while (state == FEED_DONE && left.len > 0) {
		size_t used = 0;

		CUT_MUST(cut_everywhere(&reader, &f, left, left.len / 8 + 1, &state, &used) < 0);
		if (state == FEED_DONE)
			check_question(dns_frame_message(&f));
		left.ptr += used;
		left.len -= used;
	}
	return 0;
}
