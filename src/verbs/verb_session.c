/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn stop`, `kill`, `wait`, `pause`, `resume` and `send`: act on a running session from outside.
 */
#include "bawn_verbs.h"
#include "host.h"
#include "session_names.h"
#include "session_talk.h"
#include "str.h"
#include "text.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEND_BYTES_MAX = 1 << 20, WAIT_BYTES_MAX = 64 << 20 };

/* What is done with one session.  Returns the exit code, or -errno with e set. */
typedef int (*session_act)(struct session *s, const struct invocation *i, struct error *e);

static int session_with(const struct invocation *i, const char *name, session_act act)
{
	_cleanup_session_ struct session session = {.fd = -1};
	struct error e = ERROR_INIT;
	int r = session_find(name, &session, &e);

	if (r == 0)
		r = act(&session, i, &e);
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	return r;
}

static const char *session_named(const struct invocation *i)
{
	return i->argument_count ? i->arguments[0] : NULL;
}

/* --- its end ---------------------------------------------------------------------------- */

static void session_say_end(const struct session *s, int status)
{
	struct text out = text_open(STDOUT_FILENO);

	if (WIFSIGNALED(status))
		text_printf(&out, "ended  %s  (signal %d)\n", s->shown, WTERMSIG(status));
	else
		text_printf(&out, "ended  %s  (exit code %d)\n", s->shown, WEXITSTATUS(status));
}

static int session_end_it(struct session *s, bool now, struct error *e)
{
	int status = 0;
	int r = session_end(s, now, &status, e);

	if (r == 0)
		session_say_end(s, status);
	return r;
}

static int session_stop(struct session *s, const struct invocation *i, struct error *e)
{
	(void)i;
	return session_end_it(s, false, e);
}

static int session_kill(struct session *s, const struct invocation *i, struct error *e)
{
	(void)i;
	return session_end_it(s, true, e);
}

int verb_stop(const struct invocation *i)
{
	return session_with(i, session_named(i), session_stop);
}

int verb_kill(const struct invocation *i)
{
	return session_with(i, session_named(i), session_kill);
}

/* A number of the session's object in the output of bawn-history; -1: it has none. */
static int wait_number(const char *from, const char *until, const char *key)
{
	const char *at = memmem(from, (size_t)(until - from), key, strlen(key));

	return at ? (int)strtol(at + strlen(key), NULL, 10) : -1;
}

/* How the newest session of that name ended, by its record: an exit code, or -1: not known. */
static int wait_recorded(const char *name)
{
	static const char *const words[] = {"bawn", "sessions", "--all", "--json", NULL};
	_cleanup_buf_ struct buf said = BUF_INIT(WAIT_BYTES_MAX);
	char key[128];

	/* In JSON every quote in a name is escaped. */
	(void)snprintf(key, sizeof(key), "\"name\": \"%s\",", name);
	if (elsewhere_read("bawn-history", words, true, &said) != EXIT_OK)
		return -1;
	const char *from = strstr(buf_str(&said), key);

	if (!from)
		return -1;
	const char *until = strchr(from, '}');

	if (!until)
		return -1;
	int code = wait_number(from, until, "\"exit\": ");
	int number = wait_number(from, until, "\"signal\": ");

	return code >= 0 ? code : number >= 0 ? 128 + number : -1;
}

/* How one ended that is over: an exit code, or -1: not known.  own: the name is not just what was typed. */
static int wait_over(const char *typed, bool own)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct error ignored = ERROR_INIT;
	struct host host;
	char name[LAYERS_NAME_MAX + 1];

	if (host_gather_user(&arena, &host, &ignored) < 0)
		return -1;
	const struct session_places places = session_places_of(&host);

	if (own || session_names_find(&places, typed, SESSION_RECORDED, session_typed_now(), name,
				      &ignored) < 0)
		(void)snprintf(name, sizeof(name), "%s", typed);
	/* Only then it can be removed, or its name be used again. */
	session_wait_tended(&places, name);
	return wait_recorded(name);
}

/* A session that is over, or ends before it has answered, has an end all the same. */
int verb_wait(const struct invocation *i)
{
	_cleanup_session_ struct session session = {.fd = -1};
	const char *name = session_named(i);
	struct error e = ERROR_INIT;
	int status = 0;
	int r;

	/* While it ends it answers nobody, and its record may take its time. */
	do {
		session_fini(&session);
		e = ERROR_INIT;
		r = session_find(name, &session, &e);
	} while (r == -ETIME);
	const bool found = r == 0;

	if (found) {
		name = session.name;
		r = session_wait(&session, &status, &e);
	}
	if (r == 0)
		return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	int code = name && (r == -ENOENT || r == -ECONNRESET || r == -EPROTO)
			   ? wait_over(name, found)
			   : -1;

	if (code >= 0)
		return code;
	verb_complain(&e);
	return EXIT_BAWN;
}

/* --- standing still --------------------------------------------------------------------- */

static int session_pause_it(struct session *s, const struct invocation *i, struct error *e)
{
	struct text out = text_open(STDOUT_FILENO);
	int r = session_hold(s, true, e);

	(void)i;
	if (r == 0)
		text_printf(&out, "paused  %s  (bawn resume %s lets it go on)\n", s->shown,
			    s->shown);
	return r;
}

static int session_resume(struct session *s, const struct invocation *i, struct error *e)
{
	struct text out = text_open(STDOUT_FILENO);
	int r = session_hold(s, false, e);

	(void)i;
	if (r == 0)
		text_printf(&out, "goes on  %s\n", s->shown);
	return r;
}

int verb_pause(const struct invocation *i)
{
	return session_with(i, session_named(i), session_pause_it);
}

int verb_resume(const struct invocation *i)
{
	return session_with(i, session_named(i), session_resume);
}

/* --- typing ----------------------------------------------------------------------------- */

const char *verb_session_before(const struct invocation *i, int *ret_words)
{
	const char *named = invocation_value(i, OPTION_SESSION);

	*ret_words = 0;
	if (named || i->dashed || i->argument_count < 3 || !str_equal(i->arguments[1], "--"))
		return named;
	*ret_words = 2;
	return i->arguments[0];
}

/* Reads the words as typed, and Enter; "-": standard input as it is. */
static int send_read(const struct invocation *i, struct buf *into, struct error *e)
{
	int first;

	(void)verb_session_before(i, &first);
	if (i->argument_count == first + 1 && str_equal(i->arguments[first], "-")) {
		char bytes[4096];
		ssize_t n = 0;

		while ((n = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
			buf_put(into, bytes, (size_t)n);
		if (n < 0)
			return error_sys(e, -errno, "reading standard input");
	} else {
		for (int n = first; n < i->argument_count; n++) {
			if (n > first)
				buf_put_char(into, ' ');
			buf_put_str(into, i->arguments[n]);
		}
		buf_put_char(into, '\r');
	}
	return buf_error(into) ? error_set(e, -EFBIG, "that is more than %d bytes", SEND_BYTES_MAX)
			       : 0;
}

static int session_send(struct session *s, const struct invocation *i, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(SEND_BYTES_MAX);
	int r = send_read(i, &text, e);

	return r < 0 ? r : session_type(s, buf_span(&text), e);
}

/* "send NAME text" would type both words into the session of this folder. */
static bool send_forgot_dashes(const struct invocation *i)
{
	_cleanup_session_ struct session session = {.fd = -1};
	struct error e = ERROR_INIT;

	if (i->dashed || invocation_has(i, OPTION_SESSION) || i->argument_count < 2 ||
	    str_equal(i->arguments[1], "--") || session_find(i->arguments[0], &session, &e) < 0)
		return false;
	(void)error_set(&e, -EINVAL, "%s is a session, or text for the one of this folder",
			i->arguments[0]);
	error_next(&e, "Say 'bawn send %s -- TEXT', or 'bawn send -- TEXT'.", i->arguments[0]);
	verb_complain(&e);
	return true;
}

int verb_send(const struct invocation *i)
{
	int words;

	if (send_forgot_dashes(i))
		return EXIT_BAWN;
	return session_with(i, verb_session_before(i, &words), session_send);
}
