/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes DER, the encoding of certificates: tag, length, content, one inside the
 * other.  To write a thing with parts, the caller opens it, writes its parts and closes
 * it; der_close then fills in its length.  Check buf_error at the end.
 */
#ifndef BAWN_DER_H
#define BAWN_DER_H

#include "buf.h"
#include "span.h"

enum der_tag {
	DER_BOOLEAN = 0x01,
	DER_INTEGER = 0x02,
	DER_BIT_STRING = 0x03,
	DER_OCTET_STRING = 0x04,
	DER_OID = 0x06,
	DER_UTF8_STRING = 0x0c,
	DER_UTC_TIME = 0x17,
	DER_GENERALIZED_TIME = 0x18,
	DER_SEQUENCE = 0x30,
	DER_SET = 0x31,
	DER_CONTEXT = 0x80,     /* [0], with its number added: a plain thing */
	DER_CONTEXT_SEQ = 0xa0, /* the same, with parts */
};

/* Returns where the content begins, for der_close. */
size_t der_open(struct buf *b, unsigned int tag);
void der_close(struct buf *b, size_t content);

void der_put(struct buf *b, unsigned int tag, struct span content);

/* A number that is not negative, big endian; leading zeros do not matter. */
void der_put_integer(struct buf *b, struct span number);
void der_put_small(struct buf *b, uint8_t number);

/* Of whole bytes. */
void der_put_bits(struct buf *b, struct span bytes);
void der_put_time(struct buf *b, int64_t seconds);

#endif
