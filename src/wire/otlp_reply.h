/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a collector says in the body of its answer, as JSON:
 *
 *	{"partialSuccess":{"rejectedLogRecords":"3","errorMessage":"..."}}	with 200
 *	{"code":3,"message":"..."}						with an error
 *
 * The reader skips everything else.  A body that is no such JSON says nothing.
 */
#ifndef BAWN_OTLP_REPLY_H
#define BAWN_OTLP_REPLY_H

#include "span.h"

struct otlp_reply {
	uint64_t rejected;   /* log records that it did not keep */
	struct span message; /* why, as it is written between the quotes; points into the body */
};

/* false: it is not JSON. */
bool otlp_reply_read(struct span body, struct otlp_reply *ret);

#endif
