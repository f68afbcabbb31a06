/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java's own key store ("JKS", version 2), trusted certificates only: what a
 * JVM reads as its cacerts.  All numbers big endian:
 *
 *	u32 0xfeedfeed, u32 version 2, u32 entries
 *	each entry:	u32 tag 2 (trusted certificate)
 *			u16 length, alias
 *			u64 when it was made, in ms since 1970
 *			u16 5, "X.509"
 *			u32 length, the certificate in DER
 *	20 bytes	SHA-1 of the password in UTF-16BE, "Mighty Aphrodite", and all above
 *
 * The sum protects nothing.  Java checks it when a password is given, and the password
 * of a cacerts is "changeit" everywhere.
 */
#ifndef BAWN_JKS_H
#define BAWN_JKS_H

#include "buf.h"
#include "span.h"

struct jks {
	struct buf *into;
	size_t start; /* in into */
	uint32_t count;
	uint64_t now_ms;
};

void jks_begin(struct jks *j, struct buf *into, uint64_t now_ms);
void jks_add(struct jks *j, const char *alias, struct span der);
void jks_commit(struct jks *j); /* check buf_error after it */

#endif
