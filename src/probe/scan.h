/* SPDX-License-Identifier: Apache-2.0 */
/* Looks over whole trees: descriptors, /proc. */
#ifndef BAWN_SCAN_H
#define BAWN_SCAN_H

#include "base.h"

/* The numbers of open descriptors above 2, as words; "" when there is none.  Returns into. */
const char *scan_descriptors(char *into, size_t size);

/*
 * Visits every regular file below path, not through links, at most `most` of them; fn gets the
 * path and returns false to stop.  Returns the number of files visited.
 */
size_t scan_files(const char *path, size_t most, bool (*fn)(const char *path, void *data),
		  void *data);

#endif
