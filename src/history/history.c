/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include "past.h"
#include "record_folder.h"

#include "str.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
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

/* --- by a day --------------------------------------------------------------------------- */

/* Reads "2026-11-17", "today" or "yesterday": from when to when, in seconds since 1970.  False: it
 * is no day. */
static bool history_is_day(const char *typed, int64_t *ret_from, int64_t *ret_until)
{
	static const char shape[] = "0000-00-00";
	time_t now = time(NULL);
	struct tm day;

	memset(&day, 0, sizeof(day));
	(void)localtime_r(&now, &day);
	day.tm_hour = day.tm_min = day.tm_sec = 0;
	day.tm_isdst = -1;
	if (str_equal(typed, "yesterday")) {
		day.tm_mday--;
	} else if (!str_equal(typed, "today")) {
		for (size_t i = 0; i < sizeof(shape); i++)
			if (shape[i] == '0' ? typed[i] < '0' || typed[i] > '9'
					    : typed[i] != shape[i])
				return false;
		day.tm_year = (int)strtol(typed, NULL, 10) - 1900;
		day.tm_mon = (int)strtol(typed + 5, NULL, 10) - 1;
		day.tm_mday = (int)strtol(typed + 8, NULL, 10);
	}
	struct tm next = day;

	next.tm_mday++;
	*ret_from = (int64_t)mktime(&day);
	*ret_until = (int64_t)mktime(&next);
	return true;
}

/* The sessions of a day, each once. */
struct history_day {
	const struct store_session *newest;
	size_t count;
	char list[400];
};

static void history_add(struct history_day *d, const struct store_session *s)
{
	size_t at = strlen(d->list);
	time_t began = (time_t)s->start;
	struct tm t;

	memset(&t, 0, sizeof(t));
	(void)localtime_r(&began, &t);
	if (d->count++ == 0)
		d->newest = s;
	if (at + STORE_FOLDER_SIZE + 16 < sizeof(d->list))
		(void)snprintf(d->list + at, sizeof(d->list) - at, "%s%s (%02d:%02d)",
			       at ? ", " : "", s->name, t.tm_hour, t.tm_min);
}

/* Lists the sessions of a day.  `workspace`: only those of that folder; "": all. */
static void history_list_day(const struct store *s, int64_t from, int64_t until,
			     const char *workspace, struct history_day *ret)
{
	_cleanup_free_ struct past *p = malloc(sizeof(*p));
	char its[PATH_MAX];

	*ret = (struct history_day){.count = 0};
	for (size_t i = s->count; p && i-- > 0;) {
		const struct store_session *at = &s->sessions[i];
		bool seen = false;

		if (at->start < from || at->start >= until || !store_is_session(at))
			continue;
		for (size_t n = i + 1; n < s->count && s->sessions[n].start < until && !seen; n++)
			seen = str_equal(s->sessions[n].name, at->name);
		if (seen)
			continue;
		its[0] = '\0';
		if (workspace[0] && past_open(p, s, at) == 0)
			past_workspace(p, its, sizeof(its));
		if (workspace[0])
			past_close(p);
		if (str_equal(its, workspace))
			history_add(ret, at);
	}
}

/* The session of that day; only those of this folder count, if it has any of that day. */
static const struct store_session *history_find_day(const struct history *a, const char *typed,
						    int64_t from, int64_t until, struct error *e)
{
	_cleanup_free_ struct past *p = malloc(sizeof(*p));
	char here[PATH_MAX], workspace[PATH_MAX] = "";
	struct history_day day;
	const struct store_session *own =
		p && getcwd(here, sizeof(here)) ? past_here(&a->store, here, NULL) : NULL;

	if (own && past_open(p, &a->store, own) == 0)
		past_workspace(p, workspace, sizeof(workspace));
	if (own)
		past_close(p);
	history_list_day(&a->store, from, until, workspace, &day);
	if (day.count == 0 && workspace[0])
		history_list_day(&a->store, from, until, "", &day);
	if (day.count == 1)
		return day.newest;
	if (day.count == 0) {
		(void)error_set(e, -ENOENT, "no session of %s is recorded", typed);
		error_next(e, "'bawn sessions --all' lists what is.");
	} else {
		(void)error_set(
			e, -ENOTUNIQ, "%zu sessions ran on %s: %s%s", day.count, typed, day.list,
			strlen(day.list) + STORE_FOLDER_SIZE + 16 < sizeof(day.list) ? ""
										     : ", ...");
		error_next(e, "Name one; 'bawn sessions --all' says more about each.");
	}
	return NULL;
}

/* --- which one --------------------------------------------------------------------------- */

/* Warns of a newer record that we cannot read: else the one before it would pass for the newest. */
static void history_say_unread(const struct store_session *unread)
{
	struct error e = ERROR_INIT;

	(void)error_set(&e, -EBADMSG,
			"the newer record %s cannot be read, and may be of this folder",
			unread->folder);
	error_next(&e, "'bawn record verify %s' says more.", unread->folder);
	verb_complain(&e);
}

const struct store_session *history_find(const struct history *a, const char *wanted,
					 struct error *e)
{
	char here[PATH_MAX];
	const struct store_session *found = NULL, *unread = NULL;
	int64_t from, until;

	if (wanted && history_is_day(wanted, &from, &until))
		return history_find_day(a, wanted, from, until, e);
	const struct store_session *last = store_find(&a->store, wanted ? wanted : "last", e);

	/* If we do not know the current folder, or there are only records of verbs, take the
	 * newest. */
	if (wanted || !last || !store_is_session(last) || !getcwd(here, sizeof(here)))
		return last;
	found = past_here(&a->store, here, &unread);
	if (unread)
		history_say_unread(unread);
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
