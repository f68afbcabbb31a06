/* SPDX-License-Identifier: Apache-2.0 */
#include "written.h"

#include "buf.h"
#include "str.h"

#include <limits.h>
#include <stdlib.h>

void written_fini(struct written *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i].folder);
	w->count = 0;
}

bool written_on_event(struct written *w, const struct message_event *event)
{
	if (event->kind != MESSAGE_EVENT_WROTE)
		return false;
	char *folder = w->count < WRITTEN_MAX ? strdup(event->host) : NULL;

	if (folder) {
		w->items[w->count].folder = folder;
		w->items[w->count++].count = event->count;
	}
	return true;
}

/* The user asked for it by an option, or in a file. */
static bool written_is_named(const struct plan *plan, const char *folder)
{
	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		if (str_equal(m->target, folder))
			return m->origin && (m->origin[0] == '-' || m->origin[0] == '/');
	}
	return false;
}

void written_summary(const struct written *w, const struct plan *plan, const struct text *t)
{
	for (size_t i = 0; i < w->count; i++) {
		_cleanup_buf_ struct buf name = BUF_INIT((size_t)4 * PATH_MAX);
		char number[STR_GROUPED];

		if (!written_is_named(plan, w->items[i].folder))
			continue;
		text_name(&name, span_of_str(w->items[i].folder));
		str_group(w->items[i].count, number);
		text_styled(t, TEXT_FAINT, "bawn: %s file%s changed in %s, in place\n", number,
			    w->items[i].count == 1 ? "" : "s", buf_str(&name));
	}
}
