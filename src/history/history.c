/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include "record_folder.h"

enum { HISTORY_BYTES_MAX = 1 << 20 };

int history_open(struct history *ret, struct error *e)
{
	*ret = (struct history){.arena = ARENA_INIT(HISTORY_BYTES_MAX), .store = STORE_INIT};
	int r = host_gather_user(&ret->arena, &ret->host, e);
	int dir = r < 0 ? r : record_folder_open(&ret->host, false, &ret->arena, e);

	if (dir == -ENOENT)
		return 0;
	return dir < 0 ? dir : store_open(dir, &ret->store, e);
}

void history_close(struct history *a)
{
	store_fini(&a->store);
	arena_fini(&a->arena);
}
