/* SPDX-License-Identifier: Apache-2.0 */
#include "locked_value.h"

#include <openssl/crypto.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	LOCKED_VALUE_LEAST = 4 << 20, /* how much the whole process needs to lock */
	LOCKED_VALUE_STACK = 64 << 10,
	LOCKED_VALUE_PIECE = 64, /* the smallest that is given out */
};

/* The linker's names for what the program can write to. */
extern char __data_start[];
extern char _end[];

static bool locked_value_lock_range(uintptr_t from, uintptr_t to)
{
	const uintptr_t page = 4096;

	from &= ~(page - 1);
	return mlock2((void *)from, ((to + page - 1) & ~(page - 1)) - from, MLOCK_ONFAULT) == 0;
}

/* Whether we may lock as much as we need: tries it, on pages that nobody touches. */
static bool locked_value_has_room(void)
{
	void *try = mmap(NULL, LOCKED_VALUE_LEAST, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (try == MAP_FAILED)
		return false;
	bool ok = mlock2(try, LOCKED_VALUE_LEAST, MLOCK_ONFAULT) == 0;

	(void)munmap(try, LOCKED_VALUE_LEAST);
	return ok;
}

static bool locked_value_lock_all(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	/* First lock all future mappings, then those that exist. */
	return locked_value_has_room() && mlockall(MCL_FUTURE | MCL_ONFAULT) == 0 &&
	       locked_value_lock_range((uintptr_t)__data_start, (uintptr_t)_end) &&
	       locked_value_lock_range(here - LOCKED_VALUE_STACK, here);
}

int locked_value_init(struct error *e)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_MEMLOCK, &limit);
	}
	bool all = locked_value_lock_all();

	if (!all)
		(void)munlockall();
	/* 1: locked; 2: there, and not locked */
	if (CRYPTO_secure_malloc_init(all ? LOCKED_VALUE_ROOM : LOCKED_VALUE_ROOM_SMALL,
				      LOCKED_VALUE_PIECE) != 1) {
		(void)error_set(e, -ENOMEM, "no memory can be locked, so secrets could be swapped");
		error_next(e, "Raise the limit of locked memory: `ulimit -l 64` or more. In a "
			      "container, let its filter allow mlock and mlock2.");
		return -ENOMEM;
	}
	return 0;
}

int locked_value_set(struct locked_value *v, struct span bytes, uint64_t expires)
{
	uint8_t *copy = OPENSSL_secure_malloc(bytes.len ? bytes.len : 1);

	if (!copy)
		return -ENOMEM;
	if (bytes.len)
		memcpy(copy, bytes.ptr, bytes.len);
	locked_value_wipe(v);
	*v = (struct locked_value){copy, bytes.len, expires};
	return 0;
}

void locked_value_wipe(struct locked_value *v)
{
	if (v->ptr)
		OPENSSL_secure_clear_free(v->ptr, v->len);
	*v = (struct locked_value){NULL, 0, 0};
}

bool locked_value_is_good(const struct locked_value *v, uint64_t now)
{
	return v->ptr && (v->expires == 0 || now < v->expires);
}
