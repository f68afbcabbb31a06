/* SPDX-License-Identifier: Apache-2.0 */
#include "unattributed.h"

#include "str.h"

#include <inttypes.h>
#include <stdio.h>

void unattributed_fini(struct unattributed *u)
{
	for (size_t i = 0; i < u->shown; i++)
		free(u->lines[i]);
	u->shown = 0;
}

bool unattributed_on_event(struct unattributed *u, const struct message_event *event)
{
	char number[STR_GROUPED];

	if (event->kind == MESSAGE_EVENT_COMPARING) {
		str_group(event->count, number);
		if (u->live && !u->comparing)
			text_styled(u->live, TEXT_FAINT,
				    "bawn: comparing what changed with the record: %s files\n",
				    number);
		u->comparing = true;
		return true;
	}
	if (event->kind != MESSAGE_EVENT_UNATTRIBUTED)
		return false;
	u->count = event->count;
	if (u->shown < UNATTRIBUTED_SHOWN_MAX) {
		size_t size = strlen(event->reason) + strlen(event->host) + 16;
		char *line = malloc(size);

		if (line) {
			(void)snprintf(line, size, "%-10s  %s", event->reason, event->host);
			u->lines[u->shown++] = line;
		}
	}
	return true;
}

void unattributed_summary(const struct unattributed *u, const struct text *t, const char *session)
{
	char number[STR_GROUPED];

	if (u->count == 0)
		return;
	str_group(u->count, number);
	text_styled(t, TEXT_BAD, "bawn: %s without an event in the record:",
		    u->count == 1 ? "a change" : "changes");
	text_printf(t, " done by something outside the box, or by a way that was not seen.\n");
	for (size_t i = 0; i < u->shown; i++)
		text_printf(t, "  %s\n", u->lines[i]);
	if (u->count > u->shown)
		text_printf(t, "  and more: %s in all\n", number);
	text_printf(t, "To see %s and what the session did: bawn show %s\n",
		    u->count == 1 ? "it" : "them", session);
}
