/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"

#include <stdarg.h>
#include <stdio.h>

/*
 * Under AddressSanitizer a program may touch only the bytes it asked for: the arena poisons the
 * rest of each block, and leaves a gap between two pieces.
 */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ARENA_IS_WATCHED
#endif
#endif
#if defined(ARENA_IS_WATCHED) || defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
enum { ARENA_STRIP = _Alignof(max_align_t) };
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
enum { ARENA_STRIP = 0 };
#endif

struct arena_block {
	struct arena_block *next;
	size_t len;
	size_t cap;
	_Alignas(max_align_t) uint8_t bytes[];
};

enum { ARENA_BLOCK = 8192 };

void arena_fini(struct arena *a)
{
	struct arena_block *b = a ? a->blocks : NULL;

	while (b) {
		struct arena_block *next = b->next;

		free(b);
		b = next;
	}
	if (a) {
		a->blocks = NULL;
		a->used = 0;
	}
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t aligned;
	size_t taken;
	size_t total;

	if (__builtin_add_overflow(size, _Alignof(max_align_t) - 1, &aligned))
		return NULL;
	aligned &= ~(_Alignof(max_align_t) - 1);
	if (__builtin_add_overflow(aligned, (size_t)ARENA_STRIP, &taken))
		return NULL;
	if (__builtin_add_overflow(a->used, aligned, &total) || total > a->max)
		return NULL;

	struct arena_block *b = a->blocks;
	if (!b || b->cap - b->len < taken) {
		size_t cap = taken > ARENA_BLOCK ? taken : ARENA_BLOCK;
		size_t whole;

		if (__builtin_add_overflow(sizeof(*b), cap, &whole))
			return NULL;
		b = calloc(1, whole);
		if (!b)
			return NULL;
		b->cap = cap;
		b->next = a->blocks;
		a->blocks = b;
		ASAN_POISON_MEMORY_REGION(b->bytes, cap);
	}
	void *p = b->bytes + b->len;
	ASAN_UNPOISON_MEMORY_REGION(p, size);
	b->len += taken;
	a->used = total;
	return p;
}

char *arena_strn(struct arena *a, const char *s, size_t len)
{
	char *p = len < SIZE_MAX ? arena_alloc(a, len + 1) : NULL;

	if (p && len)
		memcpy(p, s, len);
	return p;
}

char *arena_str(struct arena *a, const char *s)
{
	return arena_strn(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	char *p = arena_alloc(a, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	(void)vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}
