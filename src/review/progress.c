/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include "clock.h"
#include "str.h"

#include <stdlib.h>
#include <unistd.h>

enum { PROGRESS_AFTER_MS = 1000, PROGRESS_EACH_MS = 200 };

void progress_begin(struct progress *p, bool silent)
{
	const char *term = getenv("TERM");

	*p = (struct progress){.err = text_open(STDERR_FILENO)};
	/* A terminal that cannot go back in its line has none. */
	if (silent || (term && str_equal(term, "dumb")))
		p->err.tty = false;
	p->began = clock_now();
	p->next = p->began + PROGRESS_AFTER_MS;
}

void progress_say(struct progress *p, const char *what, size_t done, size_t all)
{
	_cleanup_buf_ struct buf line = BUF_INIT(512);
	int64_t now = p && p->err.tty ? clock_now() : 0;

	if (!p || !p->err.tty || now < p->next)
		return;
	buf_putf(&line, "bawn: %s", what);
	if (done && all)
		buf_putf(&line, ": %zu of %zu", done < all ? done : all, all);
	else if (done)
		buf_putf(&line, ": %zu file%s", done, done == 1 ? "" : "s");
	buf_putf(&line, " (%lld s)", (long long)((now - p->began) / 1000));
	/* A line that is broken cannot be written over. */
	text_cut(&line, 0, p->err.width > 1 ? (size_t)p->err.width - 1 : 1);
	_cleanup_buf_ struct buf out = BUF_INIT(600);

	buf_put_str(&out, "\r\033[K");
	buf_put(&out, line.ptr, line.len);
	text_write(&p->err, &out);
	p->shown = true;
	p->next = now + PROGRESS_EACH_MS;
}

void progress_clear(struct progress *p)
{
	_cleanup_buf_ struct buf out = BUF_INIT(16);

	if (!p || !p->shown)
		return;
	buf_put_str(&out, "\r\033[K");
	text_write(&p->err, &out);
	p->shown = false;
	/* What comes next may be short. */
	p->next = clock_now() + PROGRESS_EACH_MS;
}

void progress_on_read(void *progress, size_t done)
{
	progress_say(progress, "reading what changed", done, 0);
}

void progress_on_land(void *progress, size_t done, size_t all)
{
	progress_say(progress, 2 * done <= all ? "staging" : "landing",
		     2 * done <= all ? done : done - all / 2, all / 2);
}
