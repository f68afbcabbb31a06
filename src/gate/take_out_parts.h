/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inflates a compressed body piece by piece, within TAKE_OUT_RATIO.  Only this file uses zlib.
 * Its memory may have a value that an origin echoed, so it is wiped.
 */
#ifndef BAWN_TAKE_OUT_PARTS_H
#define BAWN_TAKE_OUT_PARTS_H

#include "span.h"

enum inflater_kind { INFLATER_NONE, INFLATER_GZIP, INFLATER_DEFLATE };

struct inflater;

struct inflater *inflater_new(enum inflater_kind kind); /* NULL: no memory */
void inflater_free(struct inflater *i);

/* The next bytes of the body; they stay until inflater_next has said 0. */
void inflater_input(struct inflater *i, struct span in);

/* 1: a piece, good until the next call.  0: more input is needed.  -EPROTO: it is not in this
 * encoding; -EMSGSIZE: over TAKE_OUT_RATIO; -ENOMEM. */
int inflater_next(struct inflater *i, struct span *ret_piece) BAWN_MUST_USE;

/* Whether the body may end here. */
bool inflater_is_whole(const struct inflater *i);

#endif
