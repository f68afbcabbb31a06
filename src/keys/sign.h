/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AWS Signature Version 4, the part that needs the secret key: the key of one
 * day, region and service, and the signature of a string.  The gate makes the
 * string.
 */
#ifndef BAWN_SIGN_H
#define BAWN_SIGN_H

#include "message_keys.h"
#include "span.h"

enum { SIGN_BYTES = 32 };

/* NULL, or what is wrong with the question: a date that is not today's (a day more or less), a
 * scope that is not that of the text. */
const char *sign_refuse(const struct message_sign *m, int64_t now);

/* Whether answers have real keys of the same account: by the service that the scope names, or by
 * the host, because not every server looks at the scope. */
bool sign_gives_keys(const char *service, const char *host);

/* 0 or -EIO. */
int sign_aws(struct span key, const char *date, const char *region, const char *service,
	     struct span text, uint8_t ret_signature[SIGN_BYTES]);

#endif
