/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn tally`, which `bawn top` starts and nobody types: counts what the records of running
 * sessions say, while they are written.
 *
 *	standard input	    +NAME	a session runs
 *			    -NAME	it does not any more
 *	standard output	    NAME EVENTS REFUSED CONNECTIONS SENT RECEIVED HOST
 *
 * A line is written when it is different from the one before, at most once in TALLY_MS; HOST is the
 * host that was refused last, escaped, or "-".  A record is counted from its begin: until that is
 * done, nothing is said of the session.  It ends with its input.
 *
 * It looks into the folder of all records only when that has changed or a session's record is not
 * found yet, so that a hundred sessions that do nothing cost a few calls each.
 */
#include "event_read.h"
#include "history.h"

#include "array.h"
#include "clock.h"
#include "fd.h"
#include "str.h"
#include "text.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TALLY_MS = 1000,
	TALLY_SLICE_MS = 100, /* how long one record is read before the next has its turn */
	TALLY_SESSIONS_MAX = 4096,
	TALLY_LINE_MAX = 256,
	TALLY_OUT_MAX = 8 << 20,
	TALLY_HOST = 256,
};

struct tally_one {
	char name[STORE_FOLDER_SIZE];
	bool found, bad;
	struct store_cursor cursor;
	uint64_t events, refused, connections, sent, received;
	char host[TALLY_HOST]; /* escaped */
	bool changed;
};

struct tally {
	struct history ask;
	struct event event;
	struct tally_one *sessions;
	size_t count;
	struct timespec listed; /* when the folder of all records had last changed */
	bool fresh;             /* a session came since */
	struct buf in, out;
	struct error e;
};

/* --- which sessions ------------------------------------------------------------------- */

static struct tally_one *tally_named(struct tally *t, const char *name)
{
	for (size_t i = 0; i < t->count; i++)
		if (str_equal(t->sessions[i].name, name))
			return &t->sessions[i];
	return NULL;
}

static void tally_add(struct tally *t, const char *name)
{
	if (strlen(name) >= sizeof(t->sessions->name) || tally_named(t, name) ||
	    t->count == TALLY_SESSIONS_MAX || !ARRAY_GROW(t->sessions, t->count))
		return;
	struct tally_one *one = &t->sessions[t->count++];

	*one = (struct tally_one){.cursor = STORE_CURSOR_INIT};
	(void)snprintf(one->name, sizeof(one->name), "%s", name);
	t->fresh = true;
}

static void tally_drop(struct tally *t, const char *name)
{
	struct tally_one *one = tally_named(t, name);

	if (!one)
		return;
	store_cursor_close(&one->cursor);
	*one = t->sessions[--t->count];
}

/* Reads what came.  1: go on; 0: there is nobody any more. */
static int tally_read(struct tally *t)
{
	char bytes[4096];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n <= 0)
		return n < 0 && errno == EINTR;
	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			buf_put_char(&t->in, bytes[i]);
			continue;
		}
		const char *line = buf_str(&t->in);

		if (line[0] == '+')
			tally_add(t, line + 1);
		else if (line[0] == '-')
			tally_drop(t, line + 1);
		buf_clear(&t->in);
	}
	return !buf_error(&t->in);
}

/* --- their records -------------------------------------------------------------------- */

/* The newest record of that name, if somebody writes it. */
static void tally_find(struct tally *t, struct tally_one *one)
{
	const struct store *s = &t->ask.store;
	const struct store_session *newest = NULL;

	for (size_t i = 0; i < s->count; i++)
		if (str_equal(s->sessions[i].name, one->name) &&
		    (!newest || store_is_newer(s, &s->sessions[i], newest)))
			newest = &s->sessions[i];
	if (newest && store_is_running(s, newest))
		one->found = store_cursor_open(s, newest, &one->cursor, &t->e) == 0;
}

/* Whether the folder of all records may have one that we look for. */
static bool tally_is_due(struct tally *t)
{
	struct stat st = {.st_size = 0};
	bool missing = false;

	for (size_t i = 0; i < t->count; i++)
		missing = missing || !t->sessions[i].found;
	if (!missing)
		return false;
	if (t->ask.store.dir < 0)
		return true;
	(void)fstat(t->ask.store.dir, &st);
	bool due = t->fresh || CLOCK_NS(st.st_mtim) != CLOCK_NS(t->listed);

	t->listed = st.st_mtim;
	return due;
}

static void tally_find_all(struct tally *t)
{
	if (!tally_is_due(t))
		return;
	t->fresh = false;
	history_close(&t->ask);
	if (history_open(&t->ask, &t->e) < 0)
		return;
	for (size_t i = 0; i < t->count; i++)
		if (!t->sessions[i].found)
			tally_find(t, &t->sessions[i]);
}

static void tally_put_host(struct tally_one *one, const struct event *ev)
{
	_cleanup_buf_ struct buf host = BUF_INIT((size_t)TALLY_HOST * 8);
	uint64_t port = event_number(ev, NOTE_FIELD_PORT);

	text_escape(&host, event_text(ev, NOTE_FIELD_HOST));
	if (port > 0)
		buf_putf(&host, ":%" PRIu64, port);
	if (!buf_error(&host) && host.len > 0 && host.len < sizeof(one->host))
		(void)snprintf(one->host, sizeof(one->host), "%s", buf_str(&host));
}

static void tally_count(struct tally_one *one, const struct event *ev)
{
	uint64_t times =
		event_has(ev, NOTE_FIELD_COUNT_OF) ? event_number(ev, NOTE_FIELD_COUNT_OF) : 1;

	if (event_is(ev, NOTE_FIELD_VERDICT, "refused")) {
		one->refused += times;
		if (ev->kind == NOTE_NETWORK || ev->kind == NOTE_DNS)
			tally_put_host(one, ev);
	}
	if (ev->kind == NOTE_NETWORK && event_is(ev, NOTE_FIELD_OP, "connect") &&
	    !event_is(ev, NOTE_FIELD_VERDICT, "refused") &&
	    !event_is(ev, NOTE_FIELD_VERDICT, "failed"))
		one->connections += times;
	if (ev->kind == NOTE_NETWORK && event_is(ev, NOTE_FIELD_OP, "close")) {
		one->sent += event_number(ev, NOTE_FIELD_SENT);
		one->received += event_number(ev, NOTE_FIELD_RECEIVED);
	}
}

/* Counts what one record has beyond what was counted.  False: there is more, and the time is over. */
static bool tally_follow(struct tally *t, struct tally_one *one)
{
	int64_t until = clock_now() + TALLY_SLICE_MS;
	struct frame f;
	enum feed said = FEED_MORE;

	while (!one->bad && (said = store_next(&one->cursor, &f)) == FEED_DONE) {
		one->changed = true;
		one->events++;
		if (event_read(&f, &t->event, NULL) == 0)
			tally_count(one, &t->event);
		if (one->events % 256 == 0 && clock_now() > until)
			return false;
	}
	/* It is told what was counted; 'bawn record verify' says what is wrong. */
	one->bad = one->bad || said == FEED_BAD;
	return true;
}

/* Reads each of them for a while, and writes what is new.  False: some have more to be read. */
static bool tally_all(struct tally *t)
{
	struct text out = text_open(STDOUT_FILENO);
	bool done = true;

	for (size_t i = 0; i < t->count; i++) {
		struct tally_one *one = &t->sessions[i];

		if (!one->found)
			continue;
		if (!tally_follow(t, one)) {
			done = false;
			continue;
		}
		if (!one->changed)
			continue;
		one->changed = false;
		buf_putf(&t->out,
			 "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
			 one->name, one->events, one->refused, one->connections, one->sent,
			 one->received, one->host[0] ? one->host : "-");
	}
	if (t->out.len > 0)
		text_write(&out, &t->out);
	buf_clear(&t->out);
	return done;
}

static void tally_fini(struct tally *t)
{
	for (size_t i = 0; i < t->count; i++)
		store_cursor_close(&t->sessions[i].cursor);
	free(t->sessions);
	buf_fini(&t->in);
	buf_fini(&t->out);
	history_close(&t->ask);
}

int history_tally(const struct invocation *i)
{
	_cleanup_free_ struct tally *t = calloc(1, sizeof(*t));
	bool there = true;

	(void)i;
	if (!t)
		return EXIT_BAWN;
	t->in = BUF_INIT(TALLY_LINE_MAX);
	t->out = BUF_INIT(TALLY_OUT_MAX);
	t->ask.store = STORE_INIT;
	for (int64_t due = 0; there;) {
		struct pollfd ends[] = {{.fd = STDIN_FILENO, .events = POLLIN},
					{.fd = STDOUT_FILENO, .events = 0}};
		int64_t left = due - clock_now();

		if (poll(ends, BAWN_ARRAY_SIZE(ends), left > 0 ? (int)left : 0) > 0) {
			there = !ends[1].revents && (!ends[0].revents || tally_read(t));
			continue;
		}
		tally_find_all(t);
		due = clock_now() + (tally_all(t) ? TALLY_MS : 0);
	}
	tally_fini(t);
	return EXIT_OK;
}
