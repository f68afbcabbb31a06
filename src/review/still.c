/* SPDX-License-Identifier: Apache-2.0 */
#include "still.h"

#include "fd.h"
#include "session_store.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

/* A session that has ended may hold the lock for a moment longer, by a child that is about to end,
 * too.  One that begins holds it for a moment before it can answer. */
enum { STILL_TRIES = 200, STILL_WAIT_NS = 10 * 1000 * 1000 };

static int still_pause(const struct review *r, struct still *s, struct error *e)
{
	int code = session_choose(&r->places, r->session.name, NULL, &s->session, e);

	if (code < 0) {
		(void)error_set(e, -EBUSY, "the session %s runs and cannot be reached",
				r->session.name);
		error_next(e, "Try again when it has ended.");
		return -EBUSY;
	}
	code = session_pause(&s->session, true, e);
	s->live = code == 0;
	if (code != -ECONNRESET)
		return code;
	/* It ended meanwhile. */
	session_fini(&s->session);
	s->session.fd = -1;
	return -EBUSY;
}

static int still_hold(const struct review *r, struct still *ret, struct error *e)
{
	*ret = STILL_INIT;
	for (int n = 0; n < STILL_TRIES; n++) {
		ret->hold = layers_session_hold(&r->layers, r->session.name);
		if (ret->hold != -EBUSY)
			break;
		*e = ERROR_INIT;
		int code = still_pause(r, ret, e);

		if (code != -EBUSY || ret->session.fd >= 0)
			return code;
		(void)nanosleep(&(struct timespec){.tv_nsec = STILL_WAIT_NS}, NULL);
	}
	if (ret->hold == -EBUSY)
		return -EBUSY; /* with the sentence of the last try */
	return ret->hold < 0 && ret->hold != -ENOENT
		       ? error_sys(e, ret->hold, "cannot hold the session %s", r->session.name)
		       : 0;
}

int still_begin(struct review *r, struct still *ret, struct error *e)
{
	int code = still_hold(r, ret, e);
	char name[sizeof(r->session.name)];

	(void)snprintf(name, sizeof(name), "%s", r->session.name);
	/* Another command may have applied, discarded or restored it since it was chosen. */
	if (code == 0)
		code = ret->hold == -ENOENT ? -ENOENT
					    : layers_session_read(&r->layers, name, &r->session, e);
	if (code != -ENOENT)
		return code;
	(void)error_set(e, code, "there is no session '%s' with changes in %s", name,
			r->layers.workspace);
	error_next(e, "Another command has just taken them; 'bawn sessions' lists what waits.");
	return code;
}

int still_say_busy(const struct review *r, const char *name, const char *next, struct error *e)
{
	_cleanup_fd_ int fd = session_store_connect(&r->places, name);

	if (fd >= 0)
		(void)error_set(e, -EBUSY, "the session %s is running", name);
	else
		(void)error_set(e, -EBUSY, "another command is at work on the session %s", name);
	error_next(e, "%s", fd >= 0 ? next : "Try again in a moment.");
	return -EBUSY;
}

void still_end(struct still *s)
{
	struct error ignored = ERROR_INIT;

	/* It also goes on when its keeper sees that we are gone. */
	if (s->live)
		(void)session_pause(&s->session, false, &ignored);
	s->live = false;
	if (s->session.fd >= 0)
		session_fini(&s->session);
	s->session.fd = -1;
	fd_close(&s->hold);
}
