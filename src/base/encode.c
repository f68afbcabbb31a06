/* SPDX-License-Identifier: Apache-2.0 */
#include "encode.h"

#include <sys/random.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char digits[] = "0123456789abcdef";
static const char upper_digits[] = "0123456789ABCDEF";

char encode_base64_letter(unsigned int bits)
{
	return letters[bits & 63];
}

void encode_base64(struct buf *into, struct span bytes)
{
	for (size_t i = 0; i < bytes.len; i += 3) {
		size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
		uint32_t group = (uint32_t)bytes.ptr[i] << 16;
		char text[4];

		if (n > 1)
			group |= (uint32_t)bytes.ptr[i + 1] << 8;
		if (n > 2)
			group |= bytes.ptr[i + 2];
		text[0] = letters[group >> 18];
		text[1] = letters[group >> 12 & 63];
		text[2] = n > 1 ? letters[group >> 6 & 63] : '=';
		text[3] = n > 2 ? letters[group & 63] : '=';
		buf_put(into, text, sizeof(text));
	}
}

static int base64_value(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int decode_base64_letter(uint8_t c)
{
	return base64_value(c == '-' ? '+' : c == '_' ? '/' : c);
}

ssize_t decode_base64(struct span text, uint8_t *into, size_t size)
{
	size_t len = text.len, out = 0;
	uint32_t bits = 0;
	unsigned int have = 0;

	if (len % 4 == 0 && len > 0 && text.ptr[len - 1] == '=')
		len -= text.ptr[len - 2] == '=' ? 2 : 1;
	if (len % 4 == 1)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		int v = base64_value(text.ptr[i]);

		if (v < 0)
			return -EINVAL;
		bits = bits << 6 | (uint32_t)v;
		have += 6;
		if (have < 8)
			continue;
		if (out == size)
			return -E2BIG;
		have -= 8;
		into[out++] = (uint8_t)(bits >> have);
	}
	return (bits & ((1u << have) - 1)) == 0 ? (ssize_t)out : -EINVAL;
}

void encode_hex(struct buf *into, struct span bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		char two[2];

		(void)encode_hex_at(two, &bytes.ptr[i], 1);
		buf_put(into, two, sizeof(two));
	}
}

char *encode_hex_at(char *into, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i++) {
		*into++ = digits[at[i] >> 4];
		*into++ = digits[at[i] & 15];
	}
	return into;
}

int encode_random(char *ret, size_t len)
{
	uint8_t bytes[ENCODE_RANDOM_MAX] = {0};

	if (len > sizeof(bytes))
		return -EINVAL;
	ssize_t n = getrandom(bytes, len, 0);

	if (n != (ssize_t)len)
		return n < 0 ? -errno : -EIO;
	*encode_hex_at(ret, bytes, len) = '\0';
	return 0;
}

static bool is_unreserved(uint8_t c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

void encode_percent(struct buf *into, struct span bytes, const char *keep)
{
	for (size_t i = 0; i < bytes.len; i++) {
		uint8_t c = bytes.ptr[i];
		char text[3] = {'%', upper_digits[c >> 4], upper_digits[c & 15]};

		if (is_unreserved(c) || (c != '\0' && strchr(keep, c)))
			buf_put_char(into, (char)c);
		else
			buf_put(into, text, sizeof(text));
	}
}

ssize_t decode_percent(struct span text, uint8_t *into, size_t size)
{
	size_t out = 0;

	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.ptr[i];

		if (c == '%') {
			int high = i + 2 < text.len ? decode_hex_digit(text.ptr[i + 1]) : -1;
			int low = i + 2 < text.len ? decode_hex_digit(text.ptr[i + 2]) : -1;

			if (high < 0 || low < 0)
				return -EINVAL;
			c = (uint8_t)(high << 4 | low);
			i += 2;
		}
		if (out == size)
			return -E2BIG;
		into[out++] = c;
	}
	return (ssize_t)out;
}

void encode_json(struct buf *into, struct span bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		uint8_t c = bytes.ptr[i];
		char text[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};

		if (c == '"' || c == '\\')
			buf_put_char(into, '\\');
		if (c < 0x20)
			buf_put(into, text, sizeof(text));
		else
			buf_put_char(into, (char)c);
	}
}
