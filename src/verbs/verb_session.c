/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn stop`, `kill`, `wait`, `pause`, `resume` and `send`: a session that runs, from outside. */
#include "bawn_verbs.h"
#include "fd.h"
#include "host.h"
#include "session_talk.h"
#include "str.h"
#include "text.h"
#include "verbs.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEND_BYTES_MAX = 1 << 20, WAIT_BYTES_MAX = 64 << 20 };

/* What is done with one session: the exit code, or -errno and e. */
typedef int (*session_act)(struct session *s, const struct invocation *i, struct error *e);

static int session_with(const struct invocation *i, const char *name, session_act act)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	_cleanup_session_ struct session session = {.fd = -1};
	struct error e = ERROR_INIT;
	char here[PATH_MAX];
	struct host host;
	int r = host_gather_user(&arena, &host, &e);

	if (r == 0) {
		const struct session_places places = session_places_of(&host);

		r = session_choose(&places, name, getcwd(here, sizeof(here)), &session, &e);
	}
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

/* Whether there is a session of that name to be asked. */
static bool session_runs(const char *name)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct error e = ERROR_INIT;
	struct host host;

	if (host_gather_user(&arena, &host, &e) < 0)
		return false;
	const struct session_places places = session_places_of(&host);
	_cleanup_fd_ int fd = session_store_connect(&places, name);

	return fd >= 0;
}

/* --- its end ---------------------------------------------------------------------------- */

static void session_say_end(const struct session *s, const char *how, int status)
{
	struct text out = text_open(STDOUT_FILENO);

	if (WIFSIGNALED(status))
		text_printf(&out, "%s  %s  (signal %d)\n", how, s->name, WTERMSIG(status));
	else
		text_printf(&out, "%s  %s  (exit code %d)\n", how, s->name, WEXITSTATUS(status));
}

static int session_stop(struct session *s, const struct invocation *i, struct error *e)
{
	int status = 0;
	int r = session_end(s, str_equal(i->verb->name, "kill"), &status, e);

	if (r == 0)
		session_say_end(s, "ended", status);
	return r;
}

int verb_stop(const struct invocation *i)
{
	return session_with(i, session_named(i), session_stop);
}

/* A number of the session's object in what bawn-history says; -1: it has none. */
static int wait_number(const char *from, const char *until, const char *key)
{
	const char *at = memmem(from, (size_t)(until - from), key, strlen(key));

	return at ? (int)strtol(at + strlen(key), NULL, 10) : -1;
}

/* How the newest session of that name ended, by its record: an exit code, or -1 when nobody knows. */
static int wait_recorded(const char *name)
{
	static const char *const words[] = {"bawn", "sessions", "--all", "--json", NULL};
	_cleanup_buf_ struct buf said = BUF_INIT(WAIT_BYTES_MAX);
	char key[64];

	/* In a name of JSON every quote is escaped. */
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

static int session_await(struct session *s, const struct invocation *i, struct error *e)
{
	int status = 0;
	int r = session_wait(s, &status, e);

	(void)i;
	if (r == -ECONNRESET || r == -EPROTO) {
		int code = wait_recorded(s->name);

		return code >= 0 ? code : r;
	}
	return r < 0 ? r : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A session that is over before anybody waits for it has an end all the same. */
int verb_wait(const struct invocation *i)
{
	const char *name = session_named(i);
	int code = name && !session_runs(name) ? wait_recorded(name) : -1;

	return code >= 0 ? code : session_with(i, name, session_await);
}

/* --- standing still --------------------------------------------------------------------- */

static int session_hold_or_go(struct session *s, const struct invocation *i, struct error *e)
{
	bool hold = str_equal(i->verb->name, "pause");
	struct text out = text_open(STDOUT_FILENO);
	int r = session_hold(s, hold, e);

	if (r == 0 && hold)
		text_printf(&out, "paused  %s  (bawn resume %s lets it go on)\n", s->name, s->name);
	else if (r == 0)
		text_printf(&out, "goes on  %s\n", s->name);
	return r;
}

int verb_pause(const struct invocation *i)
{
	return session_with(i, session_named(i), session_hold_or_go);
}

/* --- typing ----------------------------------------------------------------------------- */

/* The words as typed, and Enter; "-": standard input as it is. */
static int send_read(const struct invocation *i, struct buf *into, struct error *e)
{
	if (i->argument_count == 1 && str_equal(i->arguments[0], "-")) {
		char bytes[4096];
		ssize_t n = 0;

		while ((n = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
			buf_put(into, bytes, (size_t)n);
		if (n < 0)
			return error_sys(e, -errno, "reading standard input");
	} else {
		for (int n = 0; n < i->argument_count; n++) {
			if (n > 0)
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

int verb_send(const struct invocation *i)
{
	return session_with(i, invocation_value(i, OPTION_SESSION), session_send);
}
