/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include "past.h"
#include "record_folder.h"

#include <limits.h>
#include <unistd.h>

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

const struct store_session *history_find(const struct history *a, const char *wanted,
					 struct error *e)
{
	char here[PATH_MAX];
	const struct store_session *found = NULL;
	const struct store_session *last = store_find(&a->store, wanted ? wanted : "last", e);

	/* Who stands nowhere, or has records of verbs alone, means the newest. */
	if (wanted || !last || !store_is_session(last) || !getcwd(here, sizeof(here)))
		return last;
	found = past_here(&a->store, here);
	if (!found) {
		(void)error_set(e, -ENOENT, "no session of %s is recorded", here);
		error_next(e, "The newest of any folder is %s: 'bawn show %s'.", last->name,
			   last->name);
	}
	return found;
}

void history_close(struct history *a)
{
	store_fini(&a->store);
	arena_fini(&a->arena);
}
