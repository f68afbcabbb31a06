/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session that stands still: it has ended, and cannot go on while this is held; or it runs, and
 * every process of its box is stopped until this is let go.
 */
#ifndef BAWN_STILL_H
#define BAWN_STILL_H

#include "review.h"

struct still {
	int hold;  /* of one that has ended; -1 */
	bool live; /* it runs, and is paused */
	struct session session;
};

#define STILL_INIT ((struct still){.hold = -1, .session = {.fd = -1}})

int still_begin(const struct review *r, struct still *ret, struct error *e);
void still_end(struct still *s);

#endif
