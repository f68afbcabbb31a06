/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that make programs in the box trust the session's CA: the
 * host's own authorities and the CA, in each form that some program reads.  Never
 * the CA alone: a variable that replaces a program's list would
 * then break every host that is not opened.
 */
#ifndef BAWN_TRUST_H
#define BAWN_TRUST_H

#include "buf.h"
#include "plan.h"
#include "span.h"

enum { TRUST_BYTES_MAX = 3 << 20 };

/* One file: `host` is PEM, `certificate` the session's CA in DER. */
int trust_write(enum plan_trust format, struct span host, struct span certificate, uint64_t now_ms,
		struct buf *into);

#endif
