/* SPDX-License-Identifier: Apache-2.0 */
#include "sign.h"

#include "crypto.h"
#include "str.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <time.h>

enum { SIGN_DAY = 24 * 60 * 60, SIGN_SCOPE_MAX = 200 };

/* Whether the date is today in UTC, yesterday or tomorrow: clocks differ. */
static bool sign_is_near(const char *date, int64_t now)
{
	for (int64_t off = -SIGN_DAY; off <= SIGN_DAY; off += SIGN_DAY) {
		time_t at = (time_t)(now + off);
		struct tm day;
		char text[16];

		if (gmtime_r(&at, &day) && strftime(text, sizeof(text), "%Y%m%d", &day) == 8 &&
		    str_equal(text, date))
			return true;
	}
	return false;
}

static bool sign_is_word(const char *s)
{
	return s[0] != '\0' && s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

/* The line after the first `skip` lines of text. */
static struct span sign_line(struct span text, unsigned int skip)
{
	while (skip-- > 0) {
		const uint8_t *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;

		if (!end)
			return (struct span){NULL, 0};
		text.len -= (size_t)(end + 1 - text.ptr);
		text.ptr = end + 1;
	}
	const uint8_t *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;

	return (struct span){text.ptr, end ? (size_t)(end - text.ptr) : text.len};
}

const char *sign_refuse(const struct message_sign *m, int64_t now)
{
	char scope[SIGN_SCOPE_MAX];
	struct span first = sign_line(m->text, 0);

	if (!sign_is_near(m->date, now))
		return "its date is not today's";
	if (!sign_is_word(m->region) || !sign_is_word(m->service) ||
	    snprintf(scope, sizeof(scope), "%s/%s/%s/aws4_request", m->date, m->region,
		     m->service) >= (int)sizeof(scope))
		return "its region or service is no word";
	/* AWS4-HMAC-SHA256, and -PAYLOAD and -TRAILER for what is signed piece by piece. */
	if (first.len < 16 || memcmp(first.ptr, "AWS4-HMAC-SHA256", 16) != 0 ||
	    !span_equal(sign_line(m->text, 2), span_of_str(scope)))
		return "what is to be signed is of another scope";
	return NULL;
}

/* sts.eu-west-1.amazonaws.com, iam-fips.amazonaws.com, vpce-1.sts.eu-west-1.vpce.amazonaws.com:
 * one of the labels is the service. */
static bool sign_is_label(const char *label, size_t len, const char *service)
{
	static const char fips[] = "-fips";
	size_t own = strlen(service);

	return len >= own && memcmp(label, service, own) == 0 &&
	       (len == own || (len == own + sizeof(fips) - 1 &&
			       memcmp(label + own, fips, sizeof(fips) - 1) == 0));
}

bool sign_gives_keys(const char *service, const char *host)
{
	static const char *const services[] = {"sts", "iam"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(services); i++) {
		if (str_equal(service, services[i]))
			return true;
		for (const char *label = host; *label;) {
			size_t len = strcspn(label, ".");

			if (sign_is_label(label, len, services[i]))
				return true;
			label += len;
			label += strspn(label, ".");
		}
	}
	return false;
}

static void sign_step(uint8_t key[SIGN_BYTES], struct span bytes)
{
	crypto_hmac_sha256((struct span){key, SIGN_BYTES}, bytes, key);
}

int sign_aws(struct span key, const char *date, const char *region, const char *service,
	     struct span text, uint8_t ret_signature[SIGN_BYTES])
{
	static const char prefix[] = "AWS4";
	const size_t room = sizeof(prefix) - 1 + key.len;
	uint8_t *first = OPENSSL_secure_malloc(room);
	uint8_t step[SIGN_BYTES];

	if (!first)
		return -EIO;
	memcpy(first, prefix, sizeof(prefix) - 1);
	if (key.len)
		memcpy(first + sizeof(prefix) - 1, key.ptr, key.len);
	crypto_hmac_sha256((struct span){first, room}, span_of_str(date), step);
	sign_step(step, span_of_str(region));
	sign_step(step, span_of_str(service));
	sign_step(step, SPAN_LITERAL("aws4_request"));
	sign_step(step, text);
	memcpy(ret_signature, step, sizeof(step));
	OPENSSL_secure_clear_free(first, room);
	OPENSSL_cleanse(step, sizeof(step));
	return 0;
}
