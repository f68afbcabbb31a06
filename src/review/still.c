/* SPDX-License-Identifier: Apache-2.0 */
#include "still.h"

#include "fd.h"

#include <time.h>

/* Who has ended may hold the lock for a moment longer, by a child that is about to end, too. */
enum { STILL_TRIES = 30, STILL_WAIT_NS = 10 * 1000 * 1000 };

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
	return code;
}

int still_begin(const struct review *r, struct still *ret, struct error *e)
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
	return ret->hold < 0
		       ? error_sys(e, ret->hold, "cannot hold the session %s", r->session.name)
		       : 0;
}

void still_end(struct still *s)
{
	struct error ignored = ERROR_INIT;

	/* It goes on by itself when its keeper sees us gone. */
	if (s->live)
		(void)session_pause(&s->session, false, &ignored);
	s->live = false;
	if (s->session.fd >= 0)
		session_fini(&s->session);
	s->session.fd = -1;
	fd_close(&s->hold);
}
