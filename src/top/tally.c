/* SPDX-License-Identifier: Apache-2.0 */
#include "tally.h"

#include "str.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

/* Reads a number and the blank behind it; NULL: there is none. */
static const char *tally_number(const char *at, uint64_t *ret)
{
	char *end = NULL;

	if (!at || *at < '0' || *at > '9')
		return NULL;
	*ret = strtoull(at, &end, 10);
	return *end == ' ' ? end + 1 : NULL;
}

struct model_row *tally_take(struct model *m, const char *line)
{
	char name[MODEL_NAME];
	size_t len = strcspn(line, " ");
	uint64_t events = 0, refused = 0, connections = 0, sent = 0, received = 0;

	if (len == 0 || len >= sizeof(name) || !line[len])
		return NULL;
	memcpy(name, line, len);
	name[len] = '\0';
	struct model_row *row = model_find(m, name);
	const char *at = tally_number(line + len + 1, &events);

	at = tally_number(at, &refused);
	at = tally_number(at, &connections);
	at = tally_number(at, &sent);
	at = tally_number(at, &received);
	if (!row || !at)
		return NULL;
	row->has_counts = true;
	row->events = events;
	row->refused = refused;
	row->connections = connections;
	row->sent = sent;
	row->received = received;
	(void)snprintf(row->refused_host, sizeof(row->refused_host), "%.*s", MODEL_HOST - 1,
		       str_equal(at, "-") ? "" : at);
	return row;
}
