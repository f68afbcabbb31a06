/* SPDX-License-Identifier: Apache-2.0 */
#include "refused.h"

#include "refused_hosts.h"
#include "str.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	REFUSED_MAX = 512,  /* as many as the gate tells apart */
	REFUSED_LINES = 50, /* of the summary; the others are added up */
	REFUSED_HOST_WIDTH = 32,
	REFUSED_HOSTS_MAX = 1024,
};

struct refused_item {
	unsigned int kind;
	uint64_t port, count;
	char *host, *reason, *line, *origin;
};

void refused_fini(struct refused *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->items[i].host);
		free(r->items[i].reason);
		free(r->items[i].line);
		free(r->items[i].origin);
	}
	for (size_t i = 0; i < r->change_count; i++)
		free(r->changes[i]);
	free(r->items);
	free(r->lost);
	r->items = NULL;
	r->lost = NULL;
	r->count = r->change_count = 0;
}

static bool refused_is_request(unsigned int kind)
{
	return kind == MESSAGE_EVENT_REQUEST || kind == MESSAGE_EVENT_SECRET;
}

/* As the gate tells them apart: requests by their reason, too. */
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

static void refused_name(const struct refused_item *item, char *text, size_t size)
{
	/* Of a request: method, host and path, with the port where it is not the usual one. */
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

/* What `bawn allow` must be told to allow it; empty when no such word would do. */
static void refused_command(const struct refused_item *item, char *text, size_t size)
{
	const char *host = str_after(item->line, "- allow: ");
	size_t len = host ? strlen(host) : 0;

	if (len > 1 && host[0] == '"') {
		host++;
		len -= 2;
	}
	(void)snprintf(text, size, "%.*s", (int)len, len ? host : "");
}

/* A part of bawn ended. */
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

/* The rules of the session were changed from outside, while it runs. */
static void refused_on_change(struct refused *r, const struct message_event *event, bool quiet)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%s (%s)", event->host, event->reason);
	if (!quiet && r->live)
		text_styled(r->live, TEXT_FAINT, "bawn: %s\n", text);
	/* What holds from the start is no change. */
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
	char name[320];
	char command[320];

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
	refused_name(item, name, sizeof(name));
	refused_command(item, command, sizeof(command));
	text_styled(r->live, TEXT_FAINT, "bawn: refused %s: %s%s%s\n", name, item->reason,
		    command[0] ? "; to allow it: bawn allow " : "", command);
}

static void refused_print_changes(const struct refused *r, const struct text *t)
{
	if (r->change_count == 0)
		return;
	text_printf(t, "bawn: changed while it ran:\n");
	for (size_t i = 0; i < r->change_count; i++)
		text_printf(t, "  %s\n", r->changes[i]);
	if (r->changes_left_out > 0)
		text_printf(t, "  and %" PRIu64 " times more\n", r->changes_left_out);
}

/* It is named by no rule, so a bundle or a rule would open it. */
static bool refused_is_open_to(const struct refused_item *item)
{
	return item->line[0] != '\0';
}

static const char *refused_bundle(const struct refused_hosts *known,
				  const struct refused_item *item)
{
	bool host = item->kind == MESSAGE_EVENT_DNS || item->kind == MESSAGE_EVENT_CONNECT;

	return host && refused_is_open_to(item)
		       ? refused_hosts_bundle(known, item->host, item->port)
		       : NULL;
}

static void refused_print_item(const struct refused_item *item, const char *bundle,
			       const struct text *t)
{
	char name[320];

	refused_name(item, name, sizeof(name));
	text_printf(t, "  %-*s %s%s%s%s", REFUSED_HOST_WIDTH, name, item->reason,
		    item->origin[0] ? " (" : "", item->origin, item->origin[0] ? ")" : "");
	if (item->count > 1)
		text_printf(t, ", %" PRIu64 " times", item->count);
	if (bundle)
		text_printf(t, "; bundle %s", bundle);
	text_printf(t, "\n");
}

/* The bundles, each once; and where to look before anything else is opened.  Names that the box
 * chose stand in no line that could be pasted. */
static void refused_print_ways(const struct refused *r, const struct refused_hosts *known,
			       const struct text *t, size_t shown)
{
	_cleanup_buf_ struct buf bundles = BUF_INIT(REFUSED_HOSTS_MAX);
	bool others = false;

	for (size_t i = 0; i < shown; i++) {
		const char *bundle = refused_bundle(known, &r->items[i]);
		char word[80];

		if (refused_hosts_is_telemetry(r->items[i].host))
			continue;
		others = others || (!bundle && refused_is_open_to(&r->items[i]));
		(void)snprintf(word, sizeof(word), " --use %s", bundle ? bundle : "");
		if (bundle && !strstr(buf_str(&bundles), word))
			buf_put_str(&bundles, word);
	}
	if (bundles.len > 0)
		text_printf(t, "What a bundle opens: bawn run%s\n", buf_str(&bundles));
	if (others)
		text_printf(t,
			    "To allow %s: 'bawn why HOST' says how, and 'bawn log --verdict "
			    "refused' who asked.\n",
			    bundles.len > 0 ? "another" : "one");
}

void refused_alarm(const struct refused *r, const struct text *t)
{
	if (r->lost)
		text_styled(t, TEXT_WARN, "bawn: %s\n", r->lost);
}

void refused_summary(const struct refused *r, const struct text *t)
{
	size_t shown = r->count < REFUSED_LINES ? r->count : REFUSED_LINES;
	struct refused_hosts known = REFUSED_HOSTS_INIT;
	uint64_t more = r->left_out;
	size_t telemetry = 0;

	refused_print_changes(r, t);
	if (r->count == 0)
		return;
	refused_hosts_read(&known);
	for (size_t i = shown; i < r->count; i++)
		more += r->items[i].count;
	text_printf(t, "bawn: refused on the network:\n");
	for (size_t i = 0; i < shown; i++) {
		if (refused_hosts_is_telemetry(r->items[i].host))
			telemetry++;
		else
			refused_print_item(&r->items[i], refused_bundle(&known, &r->items[i]), t);
	}
	if (telemetry > 0)
		text_printf(t, "  %zu of telemetry, as usual\n", telemetry);
	if (more > 0)
		text_printf(t, "  and %" PRIu64 " more\n", more);
	refused_print_ways(r, &known, t, shown);
	refused_hosts_fini(&known);
}
