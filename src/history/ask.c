/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include "record_folder.h"

enum { ASK_BYTES_MAX = 1 << 20 };

int ask_open(struct ask *ret, struct error *e)
{
	*ret = (struct ask){.arena = ARENA_INIT(ASK_BYTES_MAX), .store = STORE_INIT};
	int r = host_gather_user(&ret->arena, &ret->host, e);
	int dir = r < 0 ? r : record_folder_open(&ret->host, false, &ret->arena, e);

	if (dir == -ENOENT)
		return 0;
	return dir < 0 ? dir : store_open(dir, &ret->store, e);
}

void ask_close(struct ask *a)
{
	store_fini(&a->store);
	arena_fini(&a->arena);
}
