/* SPDX-License-Identifier: Apache-2.0 */
#include "jks.h"

#include "crypto.h"

enum { JKS_HEAD = 12, JKS_TRUSTED = 2, JKS_VERSION = 2 };

static void jks_put_number(struct buf *b, uint64_t v, unsigned int bytes)
{
	while (bytes-- > 0)
		buf_put_char(b, (char)(v >> 8 * bytes));
}

static void jks_put_text(struct buf *b, const char *text)
{
	jks_put_number(b, strlen(text), 2);
	buf_put_str(b, text);
}

void jks_begin(struct jks *j, struct buf *into, uint64_t now_ms)
{
	*j = (struct jks){.into = into, .start = into->len, .now_ms = now_ms};
	jks_put_number(into, 0xfeedfeed, 4);
	jks_put_number(into, JKS_VERSION, 4);
	jks_put_number(into, 0, 4); /* how many: known at the end */
}

void jks_add(struct jks *j, const char *alias, struct span der)
{
	jks_put_number(j->into, JKS_TRUSTED, 4);
	jks_put_text(j->into, alias);
	jks_put_number(j->into, j->now_ms, 8);
	jks_put_text(j->into, "X.509");
	jks_put_number(j->into, der.len, 4);
	buf_put(j->into, der.ptr, der.len);
	j->count++;
}

void jks_commit(struct jks *j)
{
	static const char password[] = "\0c\0h\0a\0n\0g\0e\0i\0t"; /* UTF-16BE */
	uint8_t sum[CRYPTO_SHA1];

	if (buf_error(j->into))
		return;
	uint8_t *head = (uint8_t *)j->into->ptr + j->start;

	for (unsigned int i = 0; i < 4; i++)
		head[JKS_HEAD - 1 - i] = (uint8_t)(j->count >> 8 * i);
	const struct span pieces[] = {{(const uint8_t *)password, sizeof(password) - 1},
				      SPAN_LITERAL("Mighty Aphrodite"),
				      {head, j->into->len - j->start}};

	crypto_sha1(pieces, BAWN_ARRAY_SIZE(pieces), sum);
	buf_put(j->into, sum, sizeof(sum));
}
