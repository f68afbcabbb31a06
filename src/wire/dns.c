/* SPDX-License-Identifier: Apache-2.0 */
#include "dns.h"

enum {
	HEADER_SIZE = 12,
	ADDRESS_RECORD_HEAD = 12, /* of a record whose name is a pointer to the question */
	OPT_SIZE = 11,
	CLASS_IN = 1,
	FLAG_QR = 1 << 15,
	OPCODE_MASK = 15 << 11,
	FLAG_TC = 1 << 9,
	FLAG_RD = 1 << 8,
	FLAG_RA = 1 << 7,
	FLAG_AD = 1 << 5,
	FLAG_CD = 1 << 4,
	EDNS_DO = 1 << 15,
	POINTER_TO_QUESTION = 0xc000 | HEADER_SIZE,
};

static uint16_t read_u8(struct reader *r)
{
	struct span s = reader_take(r, 1);

	return s.len == 1 ? s.ptr[0] : 0;
}

static uint16_t read_u16(struct reader *r)
{
	struct span s = reader_take(r, 2);

	return s.len == 2 ? (uint16_t)(s.ptr[0] << 8 | s.ptr[1]) : 0;
}

/* The next label; empty at the end of the name, and when it is none (reader is bad then). */
static struct span read_label(struct reader *r)
{
	uint16_t len = read_u8(r);

	if (len > NAME_LABEL_MAX) /* a pointer, or a reserved kind of label */
		r->bad = true;
	return reader_take(r, len);
}

/* Labels to text with dots.  Refuses a dot or a NUL inside a label: the text would mean another
 * name. */
static int parse_name(struct reader *r, struct name *ret)
{
	uint8_t text[DNS_NAME_WIRE_MAX];
	size_t len = 0, wire = 1;
	bool plain = true;

	for (struct span label; (label = read_label(r)).len > 0;) {
		wire += 1 + label.len;
		if (wire > DNS_NAME_WIRE_MAX) {
			r->bad = true;
			break;
		}
		if (memchr(label.ptr, '.', label.len))
			plain = false;
		if (len > 0)
			text[len++] = '.';
		memcpy(text + len, label.ptr, label.len);
		len += label.len;
	}
	if (r->bad || !plain)
		return -EINVAL;
	return name_parse((struct span){text, len}, ret);
}

/* EDNS options do not matter here, but their lengths must agree. */
static void parse_opt(struct reader *r, struct dns_question *q)
{
	uint16_t root = read_u8(r), type = read_u16(r), size = read_u16(r);
	uint16_t version = read_u16(r) & 0xff, flags = read_u16(r);
	struct reader options = reader_of(reader_take(r, read_u16(r)));

	if (root != 0 || type != DNS_OPT || version != 0)
		r->bad = true;
	while (!options.bad && reader_left(&options) > 0) {
		(void)read_u16(&options);
		(void)reader_take(&options, read_u16(&options));
	}
	r->bad |= options.bad;
	if (r->bad)
		return;
	q->edns = true;
	q->dnssec_ok = flags & EDNS_DO;
	if (size > DNS_UDP_MIN)
		q->udp_size = size < DNS_MESSAGE_MAX ? size : DNS_MESSAGE_MAX;
}

/* Parses the rest after the header; 0 or an rcode. */
static int parse_body(struct reader *r, uint16_t additional, struct dns_question *q)
{
	const uint8_t *start = r->at;

	q->name_error = parse_name(r, &q->name);
	q->type = read_u16(r);
	uint16_t class = read_u16(r);

	if (r->bad)
		return DNS_FORMERR;
	q->wire_len = (uint16_t)(r->at - start);
	memcpy(q->wire, start, q->wire_len);
	if (additional == 1)
		parse_opt(r, q);
	if (r->bad || reader_left(r) > 0)
		return DNS_FORMERR;
	return class == CLASS_IN ? 0 : DNS_REFUSED;
}

int dns_parse_question(struct span message, struct dns_question *ret)
{
	struct reader r = reader_of(message);
	struct dns_question q = {.id = read_u16(&r), .udp_size = DNS_UDP_MIN};
	uint16_t flags = read_u16(&r), questions = read_u16(&r), answers = read_u16(&r);
	uint16_t authorities = read_u16(&r), additional = read_u16(&r);
	int rcode = 0;

	if (r.bad || (flags & FLAG_QR))
		return -EBADMSG;
	q.flags = flags & (OPCODE_MASK | FLAG_RD | FLAG_CD);
	if (flags & OPCODE_MASK)
		rcode = DNS_NOTIMP;
	else if ((flags & ~(FLAG_RD | FLAG_AD | FLAG_CD)) || questions != 1 || answers != 0 ||
		 authorities != 0 || additional > 1 || message.len > DNS_MESSAGE_MAX)
		rcode = DNS_FORMERR;
	else
		rcode = parse_body(&r, additional, &q);
	*ret = q;
	return rcode;
}

/* A writer that never goes past its end; the sizes are checked before each record. */
struct out {
	uint8_t *start, *at;
	size_t max;
};

static size_t out_left(const struct out *o)
{
	return o->max - (size_t)(o->at - o->start);
}

static void put(struct out *o, const void *bytes, size_t len)
{
	if (len > 0 && len <= out_left(o)) {
		memcpy(o->at, bytes, len);
		o->at += len;
	}
}

static void put_u16(struct out *o, unsigned int v)
{
	put(o, (const uint8_t[]){(uint8_t)(v >> 8), (uint8_t)v}, 2);
}

static void put_u32(struct out *o, uint32_t v)
{
	put_u16(o, v >> 16);
	put_u16(o, v & 0xffff);
}

static void put_record(struct out *o, uint16_t type, uint32_t ttl, struct span data)
{
	put_u16(o, POINTER_TO_QUESTION);
	put_u16(o, type);
	put_u16(o, CLASS_IN);
	put_u32(o, ttl);
	put_u16(o, (unsigned int)data.len);
	put(o, data.ptr, data.len);
}

/* Writes the addresses of the asked type, and leaves `reserve` bytes free; false: one did not
 * fit. */
static bool put_addresses(struct out *o, const struct dns_question *q, const struct dns_answer *a,
			  size_t reserve, uint16_t *ret_count)
{
	*ret_count = 0;
	for (size_t i = 0; i < a->count; i++) {
		bool v4 = address_is_v4(&a->addresses[i]);

		if (q->type != (v4 ? DNS_A : DNS_AAAA))
			continue;
		struct span data = {a->addresses[i].bytes + (v4 ? 12 : 0), v4 ? 4 : 16};

		if (out_left(o) < ADDRESS_RECORD_HEAD + data.len + reserve)
			return false;
		put_record(o, q->type, a->ttl, data);
		(*ret_count)++;
	}
	return true;
}

static void put_opt(struct out *o, const struct dns_question *q)
{
	put(o, "", 1); /* the root */
	put_u16(o, DNS_OPT);
	put_u16(o, DNS_MESSAGE_MAX);
	put_u16(o, 0);
	put_u16(o, q->dnssec_ok ? EDNS_DO : 0);
	put_u16(o, 0);
}

size_t dns_format_answer(const struct dns_question *q, const struct dns_answer *a, uint8_t *ret,
			 size_t max)
{
	struct out o = {ret, ret, max < DNS_MESSAGE_MAX ? max : DNS_MESSAGE_MAX};
	struct out header = {ret, ret, HEADER_SIZE};
	uint16_t count = 0;
	bool whole = true;

	if (max < DNS_UDP_MIN)
		return 0;
	memset(ret, 0, HEADER_SIZE);
	o.at += HEADER_SIZE;
	put(&o, q->wire, q->wire_len);
	if (a->rcode == DNS_NOERROR && q->wire_len > 0)
		whole = put_addresses(&o, q, a, q->edns ? OPT_SIZE : 0, &count);
	if (q->edns)
		put_opt(&o, q);
	put_u16(&header, q->id);
	put_u16(&header, (unsigned int)(FLAG_QR | FLAG_RA | q->flags | (whole ? 0 : FLAG_TC)) |
				 (unsigned int)a->rcode);
	put_u16(&header, q->wire_len > 0);
	put_u16(&header, count);
	put_u16(&header, 0);
	put_u16(&header, q->edns);
	return (size_t)(o.at - o.start);
}

static bool is_ldh(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

void dns_format_name(const struct dns_question *q, char ret[DNS_NAME_TEXT_SIZE])
{
	struct reader r = reader_of((struct span){q->wire, q->wire_len});
	char *at = ret;

	for (struct span label; (label = read_label(&r)).len > 0;) {
		for (size_t i = 0; i < label.len; i++) {
			uint8_t c = label.ptr[i];

			if (is_ldh(c)) {
				*at++ = (char)c;
				continue;
			}
			*at++ = '\\';
			*at++ = (char)('0' + c / 100);
			*at++ = (char)('0' + c / 10 % 10);
			*at++ = (char)('0' + c % 10);
		}
		*at++ = '.';
	}
	if (at == ret)
		*at++ = '.';
	else
		at--; /* without the dot of the root */
	*at = '\0';
}

enum feed dns_frame_feed(struct dns_frame *f, struct span in, size_t *ret_used)
{
	size_t used = 0;

	while (f->state == FEED_MORE && used < in.len) {
		size_t size = f->have < 2 ? 2u : 2u + (size_t)(f->bytes[0] << 8 | f->bytes[1]);
		size_t n = in.len - used < size - f->have ? in.len - used : size - f->have;

		memcpy(f->bytes + f->have, in.ptr + used, n);
		f->have = (uint16_t)(f->have + n);
		used += n;
		if (f->have < size)
			continue;
		size = 2u + (size_t)(f->bytes[0] << 8 | f->bytes[1]);
		if (size < 2 + HEADER_SIZE || size > sizeof(f->bytes)) {
			f->state = FEED_BAD;
			f->why = "the DNS message has an impossible length";
		} else if (f->have == size) {
			f->state = FEED_DONE;
		}
	}
	if (ret_used)
		*ret_used = used;
	return f->state;
}

struct span dns_frame_message(const struct dns_frame *f)
{
	return f->state == FEED_DONE ? (struct span){f->bytes + 2, f->have - 2u}
				     : (struct span){NULL, 0};
}

void dns_frame_next(struct dns_frame *f)
{
	f->state = FEED_MORE;
	f->have = 0;
}

void dns_format_length(size_t len, uint8_t ret[2])
{
	ret[0] = (uint8_t)(len >> 8);
	ret[1] = (uint8_t)len;
}
