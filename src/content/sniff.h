/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of file it is, by the bytes at its start: for a person who cannot be shown the bytes
 * themselves.  Nothing is decided by it, for whoever made the file chose them.
 */
#ifndef BAWN_SNIFF_H
#define BAWN_SNIFF_H

#include "span.h"

enum { SNIFF_BYTES = 512 };

/* "PNG image"; "data" when it is nothing that we know. */
const char *sniff(struct span start);

#endif
