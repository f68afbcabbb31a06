/* SPDX-License-Identifier: Apache-2.0 */
#include "refused.h"

#include "refused_hosts.h"
#include "str.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { REFUSED_MAX = 512 }; /* as many as the gate distinguishes */

void refused_fini(struct refused *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->items[i].host);
		free(r->items[i].reason);
		free(r->items[i].line);
		free(r->items[i].origin);
	}
	for (size_t i = 0; i < r->wanted_count; i++) {
		free(r->wanted[i].name);
		free(r->wanted[i].program);
	}
	for (size_t i = 0; i < r->change_count; i++)
		free(r->changes[i]);
	free(r->items);
	free(r->wanted);
	free(r->lost);
	r->items = NULL;
	r->wanted = NULL;
	r->lost = NULL;
	r->count = r->wanted_count = r->change_count = 0;
}

static bool refused_is_request(unsigned int kind)
{
	return kind == MESSAGE_EVENT_REQUEST || kind == MESSAGE_EVENT_SECRET;
}

/* Finds an item as the gate distinguishes them: requests also by their reason. */
static struct refused_item *refused_find(struct refused *r, const struct message_event *e)
{
	bool request = refused_is_request(e->kind);

	for (size_t i = 0; i < r->count; i++)
		if (r->items[i].kind == e->kind && r->items[i].port == e->port &&
		    str_equal(r->items[i].host, e->host) &&
		    (!request || str_equal(r->items[i].reason, e->reason)))
			return &r->items[i];
	return NULL;
}

static struct refused_item *refused_add(struct refused *r, const struct message_event *e)
{
	if (!r->items)
		r->items = calloc(REFUSED_MAX, sizeof(*r->items));
	if (!r->items || r->count == REFUSED_MAX) {
		r->left_out++;
		return NULL;
	}
	struct refused_item item = {.kind = e->kind,
				    .port = e->port,
				    .host = strdup(e->host),
				    .reason = strdup(e->reason),
				    .line = strdup(e->line),
				    .origin = strdup(e->origin)};

	r->items[r->count] = item;
	if (!item.host || !item.reason || !item.line || !item.origin) {
		r->left_out++;
		free(item.host);
		free(item.reason);
		free(item.line);
		free(item.origin);
		return NULL;
	}
	return &r->items[r->count++];
}

void refused_name(const struct refused_item *item, char *text, size_t size)
{
	/* For a request: method, host and path, with the port if it is not the usual one. */
	bool request = refused_is_request(item->kind);
	bool usual = item->port == 0 || (request && (item->port == 443 || item->port == 80));

	if (usual)
		(void)snprintf(text, size, "%s", item->host);
	else if (request)
		(void)snprintf(text, size, "%s, port %" PRIu64, item->host, item->port);
	else
		(void)snprintf(text, size,
			       strchr(item->host, ':') ? "[%s]:%" PRIu64 : "%s:%" PRIu64,
			       item->host, item->port);
}

void refused_question(const struct refused_item *item, char *text, size_t size)
{
	if (refused_is_request(item->kind) || item->port == 443)
		(void)snprintf(text, size, "%s", item->host);
	else
		refused_name(item, text, size);
}

/* A program wanted something: notes it. */
static void refused_on_wanted(struct refused *r, const struct message_event *event)
{
	enum message_wanted what = MESSAGE_WANTED_HOST;

	while (what < MESSAGE_WANTED_COUNT && !str_equal(event->reason, message_wanted_words[what]))
		what++;
	if (what == MESSAGE_WANTED_COUNT)
		return;
	if (!r->wanted)
		r->wanted = calloc(REFUSED_WANTED_MAX, sizeof(*r->wanted));
	struct refused_wanted w = {.what = what, .count = event->count};

	if (event->host[0] && r->wanted && r->wanted_count < REFUSED_WANTED_MAX) {
		w.name = strdup(event->host);
		w.program = strdup(event->origin);
	}
	if (w.name && w.program) {
		r->wanted[r->wanted_count++] = w;
		return;
	}
	free(w.name);
	free(w.program);
	r->unwanted[what] += event->count;
}

/* A part of bawn ended: notes it. */
static void refused_on_lost(struct refused *r, const struct message_event *event)
{
	char text[512];

	if (r->lost)
		return;
	(void)snprintf(text, sizeof(text), "bawn-%s ended: %s", event->host, event->reason);
	r->lost = strdup(text);
	if (r->live)
		text_styled(r->live, TEXT_WARN, "bawn: %s\n", text);
}

/* A limit paused the session: who has it on his screen cannot see why nothing moves. */
static void refused_on_paused(const struct message_event *event, bool quiet)
{
	const struct text err = text_open(STDERR_FILENO);
	const char *end = quiet ? "\r\n" : "\n";

	text_styled(&err, TEXT_WARN, "%sbawn: paused by the limit %s: %s%s", quiet ? end : "",
		    event->host, event->reason, end);
	text_printf(&err, "bawn: %s%s", event->line, end);
}

/* Somebody outside changed the rules of the session while it runs: notes it. */
static void refused_on_change(struct refused *r, const struct message_event *event, bool quiet)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%s (%s)", event->host, event->reason);
	if (!quiet && r->live)
		text_styled(r->live, TEXT_FAINT, "bawn: %s\n", text);
	/* What counts from the start is no change. */
	if (event->origin[0])
		return;
	char *kept = r->change_count < BAWN_ARRAY_SIZE(r->changes) ? strdup(text) : NULL;

	if (kept)
		r->changes[r->change_count++] = kept;
	else
		r->changes_left_out++;
}

void refused_on_event(void *context, const struct message_event *event, bool quiet)
{
	struct refused *r = context;
	char name[320], question[320];

	if (event->kind == MESSAGE_EVENT_WANTED) {
		refused_on_wanted(r, event);
		return;
	}
	if (event->kind == MESSAGE_EVENT_PAUSED) {
		refused_on_paused(event, quiet);
		return;
	}
	if (event->kind == MESSAGE_EVENT_LOST) {
		refused_on_lost(r, event);
		return;
	}
	if (event->kind == MESSAGE_EVENT_POLICY) {
		refused_on_change(r, event, quiet);
		return;
	}
	if (event->allowed)
		return;
	if (event->kind == MESSAGE_EVENT_MORE) {
		r->left_out += event->count;
		return;
	}
	struct refused_item *item = refused_find(r, event);
	bool first = !item;

	if (!item)
		item = refused_add(r, event);
	if (!item)
		return;
	item->count = event->count;
	if (!first || quiet || !r->live || refused_hosts_is_telemetry(item->host))
		return;
	if (event->kind == MESSAGE_EVENT_LIMIT) {
		text_styled(r->live, TEXT_WARN, "bawn: the limit %s was reached: %s\n", item->host,
			    item->reason);
		return;
	}
	refused_name(item, name, sizeof(name));
	refused_question(item, question, sizeof(question));
	text_styled(r->live, TEXT_FAINT, "bawn: refused %s: %s (bawn why %s)\n", name, item->reason,
		    question);
}

void refused_alarm(const struct refused *r, const struct text *t)
{
	if (r->lost)
		text_styled(t, TEXT_WARN, "bawn: %s\n", r->lost);
}
