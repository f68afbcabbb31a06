/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every file of bawn may use without asking: attributes, ownership by
 * scope, and nothing that allocates.  Libc only.
 */
#ifndef BAWN_BASE_H
#define BAWN_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define BAWN_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BAWN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define BAWN_UNUSED __attribute__((unused))
#define BAWN_MUST_USE __attribute__((warn_unused_result))

/*
 * Ownership follows scope: a variable marked _cleanup_(f) is released by f
 * when it leaves scope; TAKE_PTR and TAKE_FD hand it on.  Never mixed with
 * goto: gcc 12 compiles a jump over one in silence.
 */
#define _cleanup_(f) __attribute__((cleanup(f)))

#define TAKE_PTR(p)                               \
	({                                        \
		__typeof__(p) *_take_p = &(p);    \
		__typeof__(p) _take_v = *_take_p; \
		*_take_p = NULL;                  \
		_take_v;                          \
	})

#define TAKE_FD(fd)                      \
	({                               \
		int *_take_fd = &(fd);   \
		int _take_v = *_take_fd; \
		*_take_fd = -1;          \
		_take_v;                 \
	})

/* For qsort and bsearch over uint64_t. */
static inline int order_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline void free_ptr(void *p)
{
	free(*(void **)p);
}
#define _cleanup_free_ _cleanup_(free_ptr)

#endif
