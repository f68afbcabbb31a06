/* SPDX-License-Identifier: Apache-2.0 */
/* What `bawn diff` and `bawn diff --between` begin with: they read and judge the changes of a
 * session; and how their parts put words, a few at a time. */
#include "diff_parts.h"

#include "fd.h"
#include "hold.h"
#include "moved.h"
#include "session_names.h"
#include "settled.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void diff_flush(struct diff *d, bool all)
{
	if (d->out.len == 0 || (!all && d->out.len < DIFF_FLUSH))
		return;
	progress_clear(d->progress);
	text_write(&d->text, &d->out);
	buf_clear(&d->out);
}

void diff_put(struct diff *d, enum text_style style, const char *fmt, ...)
{
	_cleanup_free_ char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&words, fmt, ap);
	va_end(ap);
	if (n < 0) {
		words = NULL;
		return;
	}
	text_put(&d->text, &d->out, style, (struct span){(const uint8_t *)words, (size_t)n});
}

void diff_fini(struct diff *d)
{
	view_close(&d->view);
	changes_fini(&d->changes);
	folding_fini(&d->folding);
	new_commits_fini(&d->commits);
	buf_fini(&d->out);
}

static int diff_judge(struct diff *d, struct error *e)
{
	_cleanup_(hold_rules_free) struct hold_rules *rules = NULL;
	int r = review_holds(d->review, &rules, e);

	return r < 0 ? r : hold_judge(rules, &d->view, &d->changes, e);
}

int diff_read(struct diff *d, const struct layers_session *s, bool hash_all, struct error *e)
{
	struct progress *progress = d->progress;
	const struct changes_how how = {
		.hash = true, .lazy = !hash_all, .progress = progress_on_read, .context = progress};
	int r = view_open(&d->review->layers, &s->project, d->review->tree, &d->view, e);

	if (r == 0)
		r = changes_read(&d->view, &how, &d->changes, e);
	progress_say(progress, "judging what changed", 0, 0);
	if (r == 0)
		r = settled_drop(d->review, s, &d->view, &d->changes, &d->strays, e);
	if (r == 0)
		r = diff_judge(d, e);
	_cleanup_fd_ int dir = layers_session_dir(&d->review->layers, s->name, false);

	if (r == 0)
		r = moved_hold(dir, &d->changes, e);
	progress_clear(progress);
	return r;
}

static void diff_when(int64_t at, char *into, size_t len)
{
	time_t seconds = (time_t)(at / 1000000000);
	struct tm t;

	if (!localtime_r(&seconds, &t) || strftime(into, len, "%Y-%m-%d %H:%M", &t) == 0)
		into[0] = '\0';
}

void diff_put_session(struct diff *d, const struct layers_session *s, bool runs)
{
	char when[32], shown[LAYERS_NAME_MAX + 1];

	session_label_shown(d->review->places.state, s->name, shown);
	diff_put(d, TEXT_STRONG, "session %s", shown);
	diff_put(d, TEXT_PLAIN, " in %s", d->review->layers.workspace);
	if (runs) {
		diff_put(d, TEXT_WARN, " (it runs: this may change while you read)");
	} else if (s->ended) {
		diff_when(s->ended, when, sizeof(when));
		diff_put(d, TEXT_PLAIN, " (it ended %s)", when);
	} else {
		diff_when(s->began, when, sizeof(when));
		diff_put(d, TEXT_PLAIN, " (begun %s, and cut short)", when);
	}
	diff_end_line(d);
}
