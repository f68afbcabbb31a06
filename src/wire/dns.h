/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS as far as a box needs it: one question in, one answer out.
 *
 *	header		u16 id, u16 flags, u16 counts of questions, answers, authority, additional
 *	question	labels (u8 length 1..63, bytes), u8 0, u16 type, u16 class
 *	OPT (EDNS)	u8 0, u16 41, u16 size, u32 flags, u16 length, options
 *	over TCP	u16 length in front of each message
 *
 * The reader is strict: exactly one question, of class IN, without compression,
 * nothing after it but an OPT record, and nothing after that.  An answer repeats the
 * question byte for byte, with the asker's spelling, and says "recursion available":
 * without that Go takes an empty answer for a broken server.  A negative answer
 * has no SOA record; resolvers then take it as final and do not cache it.  To refuse a
 * name, answer NXDOMAIN: glibc, musl, c-ares and Go stop there, while REFUSED and SERVFAIL make
 * them ask again (musl for five seconds).
 */
#ifndef BAWN_DNS_H
#define BAWN_DNS_H

#include "address.h"
#include "feed.h"
#include "name.h"

enum {
	DNS_MESSAGE_MAX = 1232, /* of what we take and what we send; fits any link unfragmented */
	DNS_UDP_MIN = 512,      /* what every asker can take */
	DNS_NAME_WIRE_MAX = 255,
	DNS_NAME_TEXT_SIZE = 4 * DNS_NAME_WIRE_MAX + 1,
};

enum dns_type {
	DNS_A = 1,
	DNS_AAAA = 28,
	DNS_OPT = 41,
};

enum dns_rcode {
	DNS_NOERROR = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
};

struct dns_question {
	uint16_t id;
	uint16_t flags; /* those that an answer repeats */
	uint16_t type;  /* as asked: any number */
	struct name name;
	int name_error; /* 0; else `name` is empty and this is what name_parse said */
	bool edns, dnssec_ok;
	uint16_t udp_size; /* the largest answer the asker takes over UDP, DNS_UDP_MIN.. */
	uint16_t wire_len; /* of the question; 0 when it could not be read */
	uint8_t wire[DNS_NAME_WIRE_MAX + 4];
};

struct dns_answer {
	enum dns_rcode rcode;
	uint32_t ttl; /* seconds, of each address */
	const struct address
		*addresses; /* those of the asked type are given, the others left out */
	size_t count;
};

/*
 * 0: a question.  Its name may be no host name (_service._tcp, the root): see name_error.
 * Above 0: answer with this enum dns_rcode; nothing else of *ret is known.  -EBADMSG: do not
 * answer (too short, or itself an answer).
 */
int dns_parse_question(struct span message, struct dns_question *ret) BAWN_MUST_USE;

/*
 * Writes the answer and returns its length; at most max and DNS_MESSAGE_MAX bytes, with
 * the TC flag when not every address fits.  max must be DNS_UDP_MIN or more.
 */
size_t dns_format_answer(const struct dns_question *q, const struct dns_answer *a, uint8_t *ret,
			 size_t max);

/* The asked name as it was spelled, for showing: bytes that are not LDH as \DDD. */
void dns_format_name(const struct dns_question *q, char ret[DNS_NAME_TEXT_SIZE]);

/* One message of a TCP connection. */
struct dns_frame {
	enum feed state;
	const char *why;
	uint16_t have; /* of bytes */
	uint8_t bytes[2 + DNS_MESSAGE_MAX];
};

/* Takes the next piece up to the end of one message; dns_frame_message then has it. */
enum feed dns_frame_feed(struct dns_frame *f, struct span in, size_t *ret_used);
struct span dns_frame_message(const struct dns_frame *f);

/* Ready for the next message. */
void dns_frame_next(struct dns_frame *f);

/* The two bytes that stand in front of a message of len bytes. */
void dns_format_length(size_t len, uint8_t ret[2]);

#endif
