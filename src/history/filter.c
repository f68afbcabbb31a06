/* SPDX-License-Identifier: Apache-2.0 */
#include "filter.h"

#include "str.h"

#include <fnmatch.h>
#include <stdio.h>
#include <time.h>

enum { FILTER_TEXT_MAX = 8192, FILTER_NAME_MAX = 256 };

static bool filter_is_pattern(const char *wanted)
{
	return strpbrk(wanted, "*?[") != NULL;
}

/* fnmatch needs a string: what comes after a NUL or the maximum does not count. */
static bool filter_matches(const char *pattern, struct span text)
{
	char copy[FILTER_TEXT_MAX];
	size_t len = text.len < sizeof(copy) - 1 ? text.len : sizeof(copy) - 1;

	if (len > 0)
		memcpy(copy, text.ptr, len);
	copy[len] = '\0';
	return fnmatch(pattern, copy, 0) == 0;
}

bool filter_path(const char *wanted, struct span path)
{
	size_t len = strlen(wanted);

	if (filter_is_pattern(wanted))
		return filter_matches(wanted, path);
	while (len > 1 && wanted[len - 1] == '/')
		len--;
	if (str_equal(wanted, "/"))
		return path.len > 0 && path.ptr[0] == '/';
	for (size_t at = 0; at + len <= path.len; at++) {
		bool begins = at == 0 || (wanted[0] != '/' && path.ptr[at - 1] == '/');

		if (begins && memcmp(path.ptr + at, wanted, len) == 0 &&
		    (at + len == path.len || path.ptr[at + len] == '/'))
			return true;
		if (wanted[0] == '/')
			return false;
	}
	return false;
}

/* Splits "evil.test:8443"; returns the port; 0: any. */
static uint64_t filter_split(const char *wanted, char *ret_name, size_t size)
{
	const char *colon = strrchr(wanted, ':');
	uint64_t port = 0;

	/* An address has colons too: the last one begins a port only after a bracket. */
	if (!colon || colon == wanted || (strchr(wanted, ':') != colon && colon[-1] != ']') ||
	    str_parse_u64(colon + 1, &port) < 0)
		port = 0;
	size_t len = port ? (size_t)(colon - wanted) : strlen(wanted);

	if (wanted[0] == '[' && len > 1 && wanted[len - 1] == ']') {
		wanted++;
		len -= 2;
	}
	(void)snprintf(ret_name, size, "%.*s", (int)len, wanted);
	return port;
}

bool filter_host_anywhere(const char *wanted, struct span host)
{
	char name[FILTER_NAME_MAX];

	(void)filter_split(wanted, name, sizeof(name));
	return filter_is_pattern(name) ? filter_matches(name, host)
				       : span_equal(span_of_str(name), host);
}

bool filter_host(const char *wanted, struct span host, uint64_t port)
{
	char name[FILTER_NAME_MAX];
	uint64_t wanted_port = filter_split(wanted, name, sizeof(name));

	return (wanted_port == 0 || wanted_port == port) && filter_host_anywhere(wanted, host);
}

bool filter_program(const struct filter_list *l, struct span program)
{
	uint64_t exec;

	for (size_t i = 0; i < l->count; i++)
		if (program.len > 0 && filter_process(l->items[i], &exec) < 0 &&
		    filter_matches(l->items[i], program))
			return true;
	return false;
}

int filter_process(const char *wanted, uint64_t *ret_exec)
{
	return str_parse_u64(wanted, ret_exec);
}

static bool filter_lets_process(const struct filter_list *l, const struct event *ev,
				struct span program)
{
	uint64_t exec;

	for (size_t i = 0; i < l->count; i++)
		if (event_has(ev, NOTE_FIELD_EXEC) && filter_process(l->items[i], &exec) == 0 &&
		    event_number(ev, NOTE_FIELD_EXEC) == exec)
			return true;
	return l->count == 0 || filter_program(l, program);
}

static bool filter_lets_word(const struct filter_list *l, struct span word)
{
	for (size_t i = 0; i < l->count; i++)
		if (span_equal(word, span_of_str(l->items[i])))
			return true;
	return l->count == 0;
}

static bool filter_lets_host(const struct filter_list *l, const struct event *ev)
{
	for (size_t i = 0; i < l->count; i++)
		if (event_has(ev, NOTE_FIELD_HOST) &&
		    filter_host(l->items[i], event_text(ev, NOTE_FIELD_HOST),
				event_number(ev, NOTE_FIELD_PORT)))
			return true;
	return l->count == 0;
}

static bool filter_lets_path(const struct filter_list *l, const struct event *ev)
{
	for (size_t i = 0; i < l->count; i++)
		if ((event_has(ev, NOTE_FIELD_PATH) &&
		     filter_path(l->items[i], event_text(ev, NOTE_FIELD_PATH))) ||
		    (event_has(ev, NOTE_FIELD_TO) &&
		     filter_path(l->items[i], event_text(ev, NOTE_FIELD_TO))) ||
		    (event_has(ev, NOTE_FIELD_SAID) &&
		     filter_path(l->items[i], event_text(ev, NOTE_FIELD_SAID))))
			return true;
	return l->count == 0;
}

static bool filter_lets_time(const struct filter *f, const struct event *ev)
{
	int64_t seconds;
	uint32_t nanoseconds;

	if (f->since == 0 && f->until == 0)
		return true;
	if (event_wall_seconds(ev->wall, &seconds, &nanoseconds) < 0)
		return false;
	return (f->since == 0 || seconds >= f->since) && (f->until == 0 || seconds < f->until);
}

bool filter_lets(const struct filter *f, const struct event *ev, struct span program)
{
	return filter_lets_word(&f->kinds, ev->word) &&
	       filter_lets_word(&f->verdicts, event_text(ev, NOTE_FIELD_VERDICT)) &&
	       filter_lets_process(&f->processes, ev, program) && filter_lets_host(&f->hosts, ev) &&
	       filter_lets_path(&f->paths, ev) && filter_lets_time(f, ev);
}

/* --- times ---------------------------------------------------------------------------- */

/* Reads "10m": so long ago.  False: it has another form. */
static bool filter_ago(const char *typed, int64_t now, int64_t *ret)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
	size_t len = strlen(typed);
	char digits[16];
	uint64_t count;

	if (len < 2 || len > 10)
		return false;
	(void)snprintf(digits, sizeof(digits), "%.*s", (int)len - 1, typed);
	if (str_parse_u64(digits, &count) < 0)
		return false;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(units); i++)
		if (typed[len - 1] == units[i].unit) {
			*ret = now - (int64_t)count * units[i].seconds;
			return true;
		}
	return false;
}

int filter_time(const char *typed, int64_t now, int64_t *ret, struct error *e)
{
	static const char *const shapes[] = {"%Y-%m-%dT%H:%M:%S",
					     "%Y-%m-%dT%H:%M",
					     "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%d %H:%M",
					     "%Y-%m-%d",
					     "%H:%M:%S",
					     "%H:%M"};

	if (filter_ago(typed, now, ret))
		return 0;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(shapes); i++) {
		time_t today = (time_t)now;
		struct tm t;

		(void)localtime_r(&today, &t);
		t.tm_hour = t.tm_min = t.tm_sec = 0;
		t.tm_isdst = -1;
		const char *rest = strptime(typed, shapes[i], &t);

		if (!rest || (rest[0] && !str_equal(rest, "Z")))
			continue;
		*ret = (int64_t)(rest[0] ? timegm(&t) : mktime(&t));
		return 0;
	}
	int r = error_set(e, -EINVAL, "'%s' is no time", typed);

	error_next(e, "Write it as 08:45, 2026-11-15, 2026-11-15T08:45 or 10m (ago).");
	return r;
}
