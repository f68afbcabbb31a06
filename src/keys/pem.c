/* SPDX-License-Identifier: Apache-2.0 */
#include "pem.h"

enum { PEM_LINE = 48 }; /* bytes a line, 64 characters */

static const char pem_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { PEM_BLANK = 64, PEM_BAD = 255 };

/* The six bits of each base64 character; made at the first use. */
static const uint8_t *pem_table(void)
{
	static uint8_t table[256];

	if (table[0] == 0) {
		memset(table, PEM_BAD, sizeof(table));
		for (uint8_t i = 0; i < 64; i++)
			table[(uint8_t)pem_digits[i]] = i;
		table['\n'] = table['\r'] = table[' '] = table['\t'] = PEM_BLANK;
	}
	return table;
}

/* Appends the bytes of a group with up to two '='.  Unused bits must be 0, so that a certificate
 * has only one text. */
static bool pem_put_group(struct buf *into, uint32_t group, unsigned int pads)
{
	const uint8_t bytes[3] = {(uint8_t)(group >> 16), (uint8_t)(group >> 8), (uint8_t)group};

	if ((pads == 1 && bytes[2] != 0) || (pads == 2 && (bytes[1] | bytes[2]) != 0))
		return false;
	buf_put(into, bytes, 3 - pads);
	return true;
}

static int pem_decode(struct span text, struct buf *into)
{
	const uint8_t *table = pem_table();
	uint8_t piece[192] = {0}; /* many groups at a time: fewer calls of buf_put */
	size_t piece_len = 0, before = into->len;
	uint32_t group = 0;
	unsigned int digits = 0, pads = 0;

	for (size_t i = 0; i < text.len; i++) {
		uint8_t v = table[text.ptr[i]];

		if (v == PEM_BLANK)
			continue;
		if (text.ptr[i] == '=' && digits >= 2) {
			pads++;
			v = 0;
		} else if (v == PEM_BAD || pads > 0) {
			return -EBADMSG;
		}
		group = group << 6 | v;
		if (++digits < 4)
			continue;
		if (pads > 0) {
			buf_put(into, piece, piece_len);
			piece_len = 0;
			if (!pem_put_group(into, group, pads))
				return -EBADMSG;
		} else {
			piece[piece_len++] = (uint8_t)(group >> 16);
			piece[piece_len++] = (uint8_t)(group >> 8);
			piece[piece_len++] = (uint8_t)group;
		}
		if (piece_len == sizeof(piece)) {
			buf_put(into, piece, piece_len);
			piece_len = 0;
		}
		group = 0;
		digits = 0;
	}
	buf_put(into, piece, piece_len);
	return digits == 0 && into->len > before ? 0 : -EBADMSG;
}

/* Where `word` begins in s, or NULL. */
static const uint8_t *pem_find(struct span s, struct span word)
{
	return s.len ? memmem(s.ptr, s.len, word.ptr, word.len) : NULL;
}

int pem_next(struct span *rest, struct buf *into)
{
	const struct span begin = SPAN_LITERAL("-----BEGIN CERTIFICATE-----");
	const struct span end = SPAN_LITERAL("-----END CERTIFICATE-----");
	const uint8_t *at = pem_find(*rest, begin);
	size_t before = into->len;

	if (!at) {
		*rest = (struct span){NULL, 0};
		return 0;
	}
	const uint8_t *stop = rest->ptr + rest->len;
	struct span text = {at + begin.len, (size_t)(stop - at) - begin.len};
	const uint8_t *close = pem_find(text, end);

	if (!close) {
		*rest = (struct span){NULL, 0};
		return -EBADMSG;
	}
	text.len = (size_t)(close - text.ptr);
	*rest = (struct span){close + end.len, (size_t)(stop - close) - end.len};
	int r = pem_decode(text, into);

	if (r < 0)
		into->len = before;
	return r < 0 ? r : 1;
}

void pem_put_base64(struct buf *into, struct span bytes)
{
	for (size_t i = 0; i < bytes.len; i += 3) {
		size_t have = bytes.len - i < 3 ? bytes.len - i : 3;
		uint32_t group = (uint32_t)bytes.ptr[i] << 16 |
				 (have > 1 ? (uint32_t)bytes.ptr[i + 1] << 8 : 0) |
				 (have > 2 ? (uint32_t)bytes.ptr[i + 2] : 0);
		const char text[4] = {pem_digits[group >> 18], pem_digits[group >> 12 & 63],
				      have > 1 ? pem_digits[group >> 6 & 63] : '=',
				      have > 2 ? pem_digits[group & 63] : '='};

		buf_put(into, text, sizeof(text));
	}
}

void pem_put(struct buf *into, struct span der)
{
	buf_put_str(into, "-----BEGIN CERTIFICATE-----\n");
	for (size_t i = 0; i < der.len; i += PEM_LINE) {
		size_t len = der.len - i < PEM_LINE ? der.len - i : PEM_LINE;

		pem_put_base64(into, (struct span){der.ptr + i, len});
		buf_put_char(into, '\n');
	}
	buf_put_str(into, "-----END CERTIFICATE-----\n");
}
