/* SPDX-License-Identifier: Apache-2.0 */
#include "der.h"

#include <time.h>

enum { DER_YEAR_2050 = 150 }; /* as struct tm counts: from here on with four digits */

size_t der_open(struct buf *b, unsigned int tag)
{
	buf_put_char(b, (char)tag);
	buf_put_char(b, 0); /* the length, where one byte is enough for it */
	return b->len;
}

void der_close(struct buf *b, size_t content)
{
	if (buf_error(b))
		return;
	size_t len = b->len - content;
	size_t more = len < 0x80 ? 0 : len < 0x100 ? 1 : len < 0x10000 ? 2 : 3;

	for (size_t i = 0; i < more; i++)
		buf_put_char(b, 0);
	if (buf_error(b))
		return;
	uint8_t *at = (uint8_t *)b->ptr + content;

	if (more > 0)
		memmove(at + more, at, len);
	at[-1] = (uint8_t)(more ? 0x80 | more : len);
	for (size_t i = 0; i < more; i++)
		at[i] = (uint8_t)(len >> 8 * (more - 1 - i));
}

void der_put(struct buf *b, unsigned int tag, struct span content)
{
	size_t at = der_open(b, tag);

	buf_put(b, content.ptr, content.len);
	der_close(b, at);
}

void der_put_integer(struct buf *b, struct span number)
{
	size_t at = der_open(b, DER_INTEGER);

	while (number.len > 1 && number.ptr[0] == 0) {
		number.ptr++;
		number.len--;
	}
	if (number.len == 0 || number.ptr[0] & 0x80)
		buf_put_char(b, 0);
	buf_put(b, number.ptr, number.len);
	der_close(b, at);
}

void der_put_small(struct buf *b, uint8_t number)
{
	der_put_integer(b, (struct span){&number, 1});
}

void der_put_bits(struct buf *b, struct span bytes)
{
	size_t at = der_open(b, DER_BIT_STRING);

	buf_put_char(b, 0); /* no bit of the last byte is unused */
	buf_put(b, bytes.ptr, bytes.len);
	der_close(b, at);
}

void der_put_time(struct buf *b, int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	char text[32];

	if (!gmtime_r(&t, &tm)) {
		b->error = -EINVAL;
		return;
	}
	bool late = tm.tm_year >= DER_YEAR_2050;
	size_t len = strftime(text, sizeof(text), "%Y%m%d%H%M%SZ", &tm);
	size_t skip = late ? 0 : 2; /* the older form has no century */

	der_put(b, late ? DER_GENERALIZED_TIME : DER_UTC_TIME,
		(struct span){(const uint8_t *)text + skip, len - skip});
}
