/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One loop waits for keys, signals and the programs that it started, and looks at the sessions once
 * in TOP_TICK_MS.  After each of these the page is made anew, and drawn if it is another one.
 *
 * The terminal is given back on every way out: signals are read from a descriptor, so that none
 * ends us before display_close.
 */
#include "top.h"

#include "clock.h"
#include "fd.h"
#include "gather.h"
#include "inside.h"
#include "page.h"
#include "str.h"
#include "task.h"
#include "text.h"
#include "display.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { TOP_TICK_MS = 1000, TOP_LEFT_MS = 500, TOP_TALLY_TRIES = 5 };

struct top {
	struct model model;
	struct gather gather;
	struct page page, shown;
	struct inside inside;
	struct task tally; /* counts what records say, as long as we run */
	int tally_tries;   /* how often it was started */
	struct task act;   /* what the user asked for */
	struct task count; /* how much waits in a session */
	char acts_on[MODEL_NAME], counts[MODEL_NAME];
	int signals;
	int64_t tick;    /* when we look again */
	int ended_by;    /* a signal; 0: none */
	int64_t left_at; /* when the person came back from `model.left` */
	bool quit;
};

/* --- the record's numbers --------------------------------------------------------------- */

static void top_tell(void *context, const char *name, bool came)
{
	struct top *t = context;
	char line[MODEL_NAME + 2];
	int len = snprintf(line, sizeof(line), "%c%s\n", came ? '+' : '-', name);

	/* Nothing to count with: the columns have dashes. */
	if (t->tally.in >= 0 && len > 0 && (size_t)len < sizeof(line))
		(void)fd_write_all(t->tally.in, line, (size_t)len);
}

static void top_start_tally(struct top *t)
{
	static const char *const words[] = {"bawn", "tally", NULL};

	t->tally_tries++;
	(void)task_start(&t->tally, "bawn-history", words, true);
}

/* It ended, and we did not: numbers that stand still look true.  It is started anew, a few times. */
static void top_recount(struct top *t)
{
	if (t->tally.pid > 0 || t->tally_tries >= TOP_TALLY_TRIES)
		return;
	top_start_tally(t);
	for (size_t i = 0; i < t->model.count; i++)
		if (model_is_live(&t->model.rows[i]))
			top_tell(t, t->model.rows[i].name, true);
}

/* Takes whole lines; the beginning of the next one stays. */
static void top_on_tally(struct top *t)
{
	int ended = task_read(&t->tally);
	char *line = t->tally.said.ptr, *end;

	while (line && (end = strchr(line, '\n')) != NULL) {
		*end = '\0';
		(void)model_take_tally(&t->model, line);
		line = end + 1;
	}
	if (line) {
		size_t left = strlen(line);

		memmove(t->tally.said.ptr, line, left + 1);
		t->tally.said.len = left;
	}
	if (!ended)
		return;
	buf_clear(&t->tally.said);
	for (size_t i = 0; i < t->model.count; i++)
		t->model.rows[i].has_counts = false;
}

/* --- acts ------------------------------------------------------------------------------- */

/* The first line of what a program said; `into` has MODEL_TEXT bytes. */
static void top_first_line(const struct buf *said, char *into)
{
	const char *at = buf_str(said);

	at += strspn(at, "\n");
	(void)snprintf(into, MODEL_TEXT, "%.*s", (int)strcspn(at, "\n"), at);
}

/* Waits until the user has read what stands there; the signal that ends us instead, or 0. */
static int top_await_enter(const struct top *t)
{
	struct text out = text_open(STDOUT_FILENO);
	struct pollfd on[] = {{t->signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
	struct signalfd_siginfo info;
	char bytes[64];

	text_printf(&out, "\nPress Enter to go back to bawn top. ");
	for (;;) {
		(void)poll(on, BAWN_ARRAY_SIZE(on), -1);
		if (on[0].revents &&
		    read(t->signals, &info, sizeof(info)) == (ssize_t)sizeof(info) &&
		    info.ssi_signo != SIGCHLD && info.ssi_signo != SIGWINCH)
			return info.ssi_signo == SIGTSTP ? 0 : (int)info.ssi_signo;
		if (on[1].revents)
			return read(STDIN_FILENO, bytes, sizeof(bytes)) > 0 ? 0 : SIGHUP;
	}
}

/* The terminal is the program's until it ends.  stays: what it wrote is to be read. */
static void top_act_here(struct top *t, const char *const *words, bool stays)
{
	int by = 0;

	display_leave();
	int r = task_run_here("bawn", words, t->signals, &by);

	if (by == 0 && (stays || r == EXIT_BAWN))
		by = top_await_enter(t);
	display_return();
	page_fini(&t->shown);
	if (r < 0)
		model_say(&t->model, "cannot start bawn: %s", error_words(r));
	t->ended_by = by ? by : t->ended_by;
	t->quit = t->quit || by;
}

static void top_act(struct top *t, const struct model_wish *w)
{
	static const char *const verbs_of[] = {[MODEL_PAUSE] = "pause",
					       [MODEL_RESUME] = "resume",
					       [MODEL_STOP] = "stop",
					       [MODEL_ALLOW] = "allow"};
	const char *const simple[] = {"bawn", verbs_of[w->act], w->name, NULL};
	const char *const allow[] = {"bawn", "allow", "--session", w->name, "--", w->host, NULL};

	if (t->act.pid > 0) {
		model_say(&t->model, "wait: %s is not done yet", t->acts_on);
		return;
	}
	int r = task_start(&t->act, "bawn", w->act == MODEL_ALLOW ? allow : simple, false);

	(void)snprintf(t->acts_on, sizeof(t->acts_on), "%s", w->name);
	if (r < 0)
		model_say(&t->model, "cannot start bawn: %s", error_words(r));
	else
		model_say(&t->model, "%s %s ...", verbs_of[w->act], w->name);
}

/* What a person types to a session that has just ended is for no other.  One that ends goes on for a
 * moment, and answers nobody. */
static void top_after_attach(struct top *t, const char *name)
{
	gather_hurry(&t->gather, &t->model, name);
	(void)snprintf(t->model.left, sizeof(t->model.left), "%s", name);
	t->left_at = clock_now();
}

static void top_check_left(struct top *t, int64_t now)
{
	struct model *m = &t->model;
	const struct model_row *row = m->left[0] ? model_find(m, m->left) : NULL;

	if (!m->left[0])
		return;
	if (now < t->left_at + TOP_LEFT_MS) {
		gather_hurry(&t->gather, m, m->left);
		t->tick = t->left_at + TOP_LEFT_MS;
		return;
	}
	if (!row || !model_is_live(row)) {
		if (!m->said[0])
			model_say(m, "%s has ended. Esc goes on", m->left);
	} else if (model_answers(row) && row->watch.asked >= t->left_at + TOP_LEFT_MS) {
		m->left[0] = '\0';
	} else {
		gather_hurry(&t->gather, m, m->left);
	}
}

static void top_do(struct top *t, const struct model_wish *w)
{
	const char *const attach[] = {"bawn", "attach", w->name, NULL};
	const struct model_row *row = model_find(&t->model, w->name);
	const char *const diff[] = {"bawn",  "diff",        "--session",
				    w->name, "--workspace", row ? row->workspace : "",
				    NULL};

	switch (w->act) {
	case MODEL_NOTHING:
		break;
	case MODEL_QUIT:
		t->quit = true;
		break;
	case MODEL_REDRAW:
		display_resize();
		page_fini(&t->shown);
		break;
	case MODEL_ATTACH:
		top_act_here(t, attach, false);
		top_after_attach(t, w->name);
		t->tick = 0;
		break;
	case MODEL_DIFF:
		top_act_here(t, diff, true);
		gather_hurry(&t->gather, &t->model, w->name);
		t->tick = 0;
		break;
	case MODEL_PAUSE:
	case MODEL_RESUME:
	case MODEL_STOP:
	case MODEL_ALLOW:
		top_act(t, w);
		break;
	}
}

static void top_on_act(struct top *t)
{
	if (task_read(&t->act) == 0)
		return;
	top_first_line(&t->act.said, t->model.said);
	gather_hurry(&t->gather, &t->model, t->acts_on);
	t->tick = 0;
}

/* --- how much waits --------------------------------------------------------------------- */

static void top_start_count(struct top *t, int64_t now)
{
	const struct model_row *row = t->count.pid > 0 ? NULL : gather_uncounted(&t->model, now);

	if (!row)
		return;
	const char *const words[] = {"bawn",         "diff",      "--count", "--no-pager",
				     "--anyway",     "--session", row->name, "--workspace",
				     row->workspace, NULL};

	(void)snprintf(t->counts, sizeof(t->counts), "%s", row->name);
	(void)task_start(&t->count, "bawn-review", words, false);
}

static void top_on_count(struct top *t)
{
	if (task_read(&t->count) == 0)
		return;
	struct model_row *row = model_find(&t->model, t->counts);

	if (row && (t->count.status == EXIT_OK || t->count.status == EXIT_FOUND))
		top_first_line(&t->count.said, row->waits);
	else if (row)
		(void)snprintf(row->waits, sizeof(row->waits), "files"); /* how many is not known */
	top_start_count(t, clock_now());
}

/* --- the loop --------------------------------------------------------------------------- */

static void top_draw(struct top *t)
{
	size_t rows, columns;

	display_size(&rows, &columns);
	inside_look(&t->inside, &t->model, clock_now());
	if (page_begin(&t->page, rows, columns) < 0)
		return;
	page_draw(&t->page, &t->model, &t->inside.text, (uint64_t)clock_s(CLOCK_REALTIME));
	if (page_equal(&t->page, &t->shown))
		return;
	display_draw(&t->page);
	struct page swap = t->shown;

	t->shown = t->page;
	t->page = swap;
}

static void top_on_signal(struct top *t)
{
	struct signalfd_siginfo info;

	if (read(t->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGWINCH:
		display_resize();
		page_fini(&t->shown);
		break;
	case SIGTSTP:
		display_leave();
		(void)raise(SIGSTOP);
		display_return();
		page_fini(&t->shown);
		break;
	case SIGCHLD:
		break;
	default:
		/* Ctrl-\ leaves a session: it was pressed once more than that took. */
		if (info.ssi_signo == SIGQUIT && info.ssi_code == SI_KERNEL)
			break;
		t->ended_by = (int)info.ssi_signo;
		t->quit = true;
	}
}

static void top_on_keys(struct top *t, short events)
{
	for (int key; !t->quit && (key = display_key()) >= 0;) {
		struct model_wish w = model_key(&t->model, key);

		top_do(t, &w);
	}
	if (events & (POLLHUP | POLLERR | POLLNVAL)) {
		t->ended_by = SIGHUP;
		t->quit = true;
	}
}

static void top_wait(struct top *t)
{
	enum { KEYS, SIGNALS, TALLY, ACT, COUNT, LOG, ALL };
	struct pollfd on[ALL] = {
		[KEYS] = {STDIN_FILENO, POLLIN, 0},  [SIGNALS] = {t->signals, POLLIN, 0},
		[TALLY] = {t->tally.out, POLLIN, 0}, [ACT] = {t->act.out, POLLIN, 0},
		[COUNT] = {t->count.out, POLLIN, 0}, [LOG] = {t->inside.log.out, POLLIN, 0},
	};
	int64_t left = t->tick - clock_now();

	if (poll(on, ALL, left > 0 ? (int)left : 0) <= 0)
		return;
	if (on[SIGNALS].revents)
		top_on_signal(t);
	if (on[TALLY].revents)
		top_on_tally(t);
	if (on[ACT].revents)
		top_on_act(t);
	if (on[COUNT].revents)
		top_on_count(t);
	if (on[LOG].revents)
		(void)inside_read(&t->inside);
	if (on[KEYS].revents && !t->quit)
		top_on_keys(t, on[KEYS].revents);
	/* The record's numbers alone wait for the next look. */
	if (on[KEYS].revents || on[SIGNALS].revents || on[LOG].revents)
		top_draw(t);
}

static void top_loop(struct top *t)
{
	while (!t->quit) {
		int64_t now = clock_now();

		if (now >= t->tick) {
			top_recount(t);
			gather_look(&t->gather, &t->model, now);
			top_start_count(t, now);
			t->tick = now + TOP_TICK_MS;
			top_check_left(t, now);
			top_draw(t);
		}
		top_wait(t);
	}
}

static int top_take_signals(void)
{
	static const int numbers[] = {SIGINT,   SIGTERM, SIGHUP,  SIGQUIT,
				      SIGWINCH, SIGTSTP, SIGCHLD, SIGPIPE};
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(numbers); i++)
		(void)sigaddset(&set, numbers[i]);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)sigdelset(&set, SIGPIPE); /* the write that fails says so */
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/* Ends as the signal would have ended us. */
static int top_end(int by)
{
	sigset_t none;

	if (by == 0)
		return EXIT_OK;
	(void)signal(by, SIG_DFL);
	(void)sigemptyset(&none);
	(void)raise(by);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	return 128 + by;
}

int top_run(const struct invocation *i)
{
	_cleanup_free_ struct top *t = calloc(1, sizeof(*t));
	struct error e = ERROR_INIT;

	(void)i;
	if (!t)
		return EXIT_BAWN;
	t->tally = t->act = t->count = TASK_INIT;
	t->gather.tell = top_tell;
	t->gather.context = t;
	inside_init(&t->inside);
	t->signals = top_take_signals();
	int r = t->signals < 0 ? error_sys(&e, t->signals, "waiting for signals")
			       : gather_open(&t->gather, &e);

	if (r == 0)
		r = display_open(&e);
	if (r == 0) {
		top_start_tally(t);
		top_loop(t);
	}
	display_close();
	task_fini(&t->tally);
	task_fini(&t->act);
	task_fini(&t->count);
	inside_fini(&t->inside);
	page_fini(&t->page);
	page_fini(&t->shown);
	model_fini(&t->model);
	gather_close(&t->gather);
	fd_close(&t->signals);
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	return top_end(t->ended_by);
}
