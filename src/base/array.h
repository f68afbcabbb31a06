/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays on the heap that grow at their end.  Such an array doubles when its count is a power of
 * two, so its owner need not store how much room it has.  It may become shorter in between.
 */
#ifndef BAWN_ARRAY_H
#define BAWN_ARRAY_H

#include "base.h"

enum { ARRAY_FIRST = 16 };

/* Room for one item behind `count`; false: there is no memory, and the array is as it was. */
static inline BAWN_MUST_USE bool array_grow(void *array, size_t count, size_t size)
{
	void *items, *more;

	if (count > 0 && (count < ARRAY_FIRST || (count & (count - 1)) != 0))
		return true;
	memcpy(&items, array, sizeof(items));
	more = reallocarray(items, count ? 2 * count : ARRAY_FIRST, size);
	if (more)
		memcpy(array, &more, sizeof(more));
	return more != NULL;
}

#define ARRAY_GROW(items, count) array_grow(&(items), (count), sizeof(*(items)))

#endif
