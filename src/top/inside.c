/* SPDX-License-Identifier: Apache-2.0 */
#include "inside.h"

#include "box_use.h"
#include "fd.h"
#include "page.h"
#include "str.h"
#include "text.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { INSIDE_TEXT_MAX = 8 << 20, INSIDE_AGAIN_MS = 2000, INSIDE_COMMAND = 300 };

void inside_init(struct inside *s)
{
	*s = (struct inside){.text = BUF_INIT(INSIDE_TEXT_MAX),
			     .events = BUF_INIT(TASK_SAID_MAX),
			     .log = TASK_INIT};
}

void inside_fini(struct inside *s)
{
	task_fini(&s->log);
	buf_fini(&s->text);
	buf_fini(&s->events);
}

/* Another session is looked into. */
static void inside_turn(struct inside *s, const char *name)
{
	task_fini(&s->log);
	s->log = TASK_INIT;
	buf_clear(&s->text);
	buf_clear(&s->events);
	s->cut = false;
	s->again = 0;
	(void)snprintf(s->name, sizeof(s->name), "%s", name);
}

static void inside_ask(struct inside *s, const struct model_row *row, int64_t now)
{
	char most[16];
	const char *const words[] = {"bawn", "log", "-n", most, row->name, NULL};
	bool first = s->again == 0;

	if (s->log.pid > 0 || now < s->again || (!first && s->seen == row->events))
		return;
	(void)snprintf(most, sizeof(most), "%d", INSIDE_EVENTS);
	s->again = now + INSIDE_AGAIN_MS;
	s->seen = row->events;
	(void)task_start(&s->log, "bawn-history", words, false);
}

/* The newest first: what happens stands where it is seen. */
static void inside_put_events(struct inside *s)
{
	const char *from = buf_str(&s->events);

	for (size_t end = s->events.len; end > 0;) {
		const char *newline = memrchr(from, '\n', end - 1);
		size_t at = newline ? (size_t)(newline - from) + 1 : 0;

		buf_put(&s->text, from + at, end - at);
		if (from[end - 1] != '\n')
			buf_put_char(&s->text, '\n');
		end = at;
	}
}

/* A line for it; its words are escaped. */
static void inside_put_process(void *context, const struct box_use_process *p)
{
	struct buf *into = context;
	_cleanup_buf_ struct buf size = BUF_INIT(64);
	char words[INSIDE_COMMAND];

	page_put_size(&size, p->memory);
	ssize_t len = fd_read_first_at(p->dir, "cmdline", words, sizeof(words));
	/* A kernel's name for one that has no words, because it is about to end. */
	bool bare = len <= 0;

	if (bare)
		len = fd_read_first_at(p->dir, "comm", words, sizeof(words));
	while (len > 0 && (words[len - 1] == '\0' || words[len - 1] == '\n'))
		len--;
	for (ssize_t i = 0; i < len; i++)
		if (words[i] == '\0')
			words[i] = ' ';
	int depth = p->depth < 20 ? p->depth : 20;

	buf_putf(into, "%7d %5s  %*s%s", p->pid, buf_str(&size), 2 * depth, "", bare ? "[" : "");
	text_escape(into, (struct span){(const uint8_t *)words, len > 0 ? (size_t)len : 0});
	buf_put_str(into, bare ? "]\n" : "\n");
}

/* Where the box has a cgroup: for how much of the last ten seconds something of it waited for what. */
static void inside_put_pressure(struct buf *into, pid_t init)
{
	const char *lead = "\nwaited, of the last ten seconds: ";
	struct box_use use;

	if (box_use_of(init, &use) < 0)
		return;
	for (size_t i = 0; i < BOX_USE_PRESSURES; i++) {
		if (!use.pressure[i].known)
			continue;
		buf_putf(into, "%s%s ", lead, box_use_pressure_words[i]);
		box_use_put_percent(into, use.pressure[i].some);
		buf_put_str(into, " %");
		lead = ", ";
	}
	if (lead[0] == ',')
		buf_put_char(into, '\n');
}

void inside_look(struct inside *s, struct model *m, int64_t now)
{
	const struct model_row *row = model_chosen(m);
	bool shown = row && (m->mode == MODEL_INSIDE ||
			     (m->mode == MODEL_HELP && m->before == MODEL_INSIDE));

	if (!shown) {
		if (s->name[0])
			inside_turn(s, "");
		return;
	}
	if (!str_equal(s->name, row->name))
		inside_turn(s, row->name);
	inside_ask(s, row, now);
	buf_clear(&s->text);
	page_put_facts(&s->text, row);
	if (row->watch.init > 0 && row->has_processes) {
		inside_put_pressure(&s->text, row->watch.init);
		buf_put_str(&s->text, "\nprocesses\n");
		(void)box_use_each(row->watch.init, inside_put_process, &s->text);
	}
	buf_put_str(&s->text, "\nlast events, the newest first\n");
	inside_put_events(s);
	if (s->cut)
		buf_putf(&s->text, "  older ones do not fit here: bawn log %s\n", row->name);
}

int inside_read(struct inside *s)
{
	int r = task_read(&s->log);

	if (r == 1) {
		s->cut = s->log.cut;
		buf_clear(&s->events);
		buf_put(&s->events, s->log.said.ptr, s->log.said.len);
	}
	return r;
}
