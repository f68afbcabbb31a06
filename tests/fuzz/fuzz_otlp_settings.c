/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the variables of OpenTelemetry, one in a line.  What is taken can be sent as it is:
 * no header and no path ends a line, every attribute is text, the address has a host and a port.
 */
#include "../lib/cut.h"
#include "otlp_settings.h"
#include "text.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 16 };

static bool is_one_line(const char *text)
{
	return text[strcspn(text, "\r\n")] == '\0';
}

static void check(const struct otlp_settings *s)
{
	CUT_MUST(s->host && s->host[0] && s->authority && s->path && s->path[0] == '/');
	CUT_MUST(s->at.port > 0 && s->timeout_ms > 0 && s->timeout_ms <= OTLP_TIMEOUT_MAX_MS);
	CUT_MUST(is_one_line(s->path) && is_one_line(s->authority) && !strchr(s->path, ' '));
	CUT_MUST(s->headers.count <= OTLP_PAIRS_MAX && s->attributes.count <= OTLP_PAIRS_MAX);
	for (size_t i = 0; i < s->headers.count; i++)
		CUT_MUST(is_one_line(s->headers.items[i].name) && s->headers.items[i].name[0] &&
			 is_one_line(s->headers.items[i].value));
	for (size_t i = 0; i < s->attributes.count; i++) {
		struct span left = span_of_str(s->attributes.items[i].value);
		uint32_t cp;

		CUT_MUST(s->attributes.items[i].name[0]);
		while (left.len > 0) {
			size_t len = text_utf8(left, &cp);

			CUT_MUST(len > 0);
			left = span_skip(left, len);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_otlp_settings_ struct otlp_settings s = OTLP_SETTINGS_INIT;
	_cleanup_free_ char *text = malloc(size + 1);
	char *environment[LINES + 1] = {NULL};
	struct error e = ERROR_INIT;
	size_t count = 0;

	CUT_MUST(text);
	memcpy(text, data, size);
	text[size] = '\0';
	for (char *line = text; line && count < LINES;) {
		char *end = strchr(line, '\n');

		if (end)
			*end++ = '\0';
		environment[count++] = line;
		line = end;
	}
	int r = otlp_settings_read(&s, environment, &e);

	CUT_MUST((r < 0) == (e.code < 0));
	CUT_MUST(s.on == otlp_settings_wanted(environment));
	if (r == 0 && s.on)
		check(&s);
	return 0;
}
