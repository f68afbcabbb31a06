/* SPDX-License-Identifier: Apache-2.0 */
#include "log_tree.h"

#include "array.h"
#include "event_words.h"
#include "inquiry.h"
#include "json.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum {
	TREE_NAMES = 3, /* names of each kind; the others are only counted */
	TREE_RUNS_MAX = 1 << 22,
	TREE_OUT_MAX = 4 << 20,
	TREE_FLUSH = 64 << 10,
	TREE_DEEPEST = 24, /* levels that are indented */
};

/* In the order in which we show them. */
static const struct {
	enum index_what what;
	const char *did;
	bool bad;
} tree_rows[] = {
	{INDEX_DID_CHANGE, "changed", false},      {INDEX_DID_READ, "read", false},
	{INDEX_DID_REACH, "reached", false},       {INDEX_DID_SECRET, "used secret", false},
	{INDEX_DID_REFUSED_HOST, "refused", true}, {INDEX_DID_REFUSED_FILE, "refused", true},
	{INDEX_DID_REFUSED_CALL, "refused", true}, {INDEX_DID_LEAK, "LEAK", true},
	{INDEX_DID_TAMPER, "ALARM", true},
};

enum { TREE_ROWS = BAWN_ARRAY_SIZE(tree_rows) };

/* What one execution did, of one kind: the first names in words, and how many in all. */
struct tree_deeds {
	char *words;
	uint64_t names;
};

struct tree_run {
	struct index_run run; /* its spans are not valid any more */
	char *command;
	size_t parent, child, last_child, next; /* indexes into the list; 0 is the root */
	struct tree_deeds deeds[TREE_ROWS];
	bool did; /* it did something */
};

struct tree {
	struct inquiry q;
	struct tree_run *runs;
	size_t count;
	size_t at; /* the deeds that come next are of this one */
	struct text text;
	struct buf out;
};

static void tree_free(struct tree **t)
{
	struct tree *it = *t;

	if (!it)
		return;
	for (size_t i = 0; i < it->count; i++) {
		free(it->runs[i].command);
		for (size_t n = 0; n < TREE_ROWS; n++)
			free(it->runs[i].deeds[n].words);
	}
	free(it->runs);
	buf_fini(&it->out);
	inquiry_close(&it->q);
	free(it);
}

/* --- gathering ------------------------------------------------------------------------ */

/* The index of an execution; 0: not known.  They are sorted. */
static size_t tree_find(const struct tree *t, uint64_t exec)
{
	size_t low = 1, high = t->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->runs[middle].run.exec < exec)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->count && t->runs[low].run.exec == exec ? low : 0;
}

static int tree_add(struct tree *t, const struct index_run *run)
{
	if (t->count == TREE_RUNS_MAX || !ARRAY_GROW(t->runs, t->count))
		return -ENOMEM;
	memset(&t->runs[t->count], 0, sizeof(*t->runs));
	t->runs[t->count].run = *run;
	return (int)t->count++;
}

static int tree_on_run(void *context, const struct index_run *run)
{
	struct tree *t = context;
	_cleanup_buf_ struct buf words = BUF_INIT(EVENT_WORDS_MAX);
	int at = tree_add(t, run);

	if (at < 0)
		return at;
	struct tree_run *own = &t->runs[at];
	/* A child has a higher number than its parent: so there is no circle. */
	size_t parent = run->parent < run->exec ? tree_find(t, run->parent) : 0;

	text_escape(&words, run->command);
	own->command = strdup(buf_str(&words));
	own->parent = parent == (size_t)at ? 0 : parent;
	struct tree_run *above = &t->runs[own->parent];

	if (above->last_child)
		t->runs[above->last_child].next = (size_t)at;
	else
		above->child = (size_t)at;
	above->last_child = (size_t)at;
	return own->command ? 0 : -ENOMEM;
}

static int tree_on_deed(void *context, const struct index_deed *deed)
{
	struct tree *t = context;
	_cleanup_buf_ struct buf words = BUF_INIT(EVENT_WORDS_MAX);
	size_t row = 0;

	while (row < TREE_ROWS && tree_rows[row].what != deed->what)
		row++;
	if (row == TREE_ROWS)
		return 0;
	struct tree_run *own = &t->runs[tree_find(t, deed->exec)];
	struct tree_deeds *deeds = &own->deeds[row];

	own->did = true;
	if (deeds->names++ >= TREE_NAMES)
		return 0;
	if (deeds->words)
		buf_putf(&words, "%s, ", deeds->words);
	event_words_path(&words, inquiry_workspace(&t->q), deed->name);
	if (deed->count > 1 && deed->what != INDEX_DID_CHANGE)
		buf_putf(&words, " x%" PRIu64, deed->count);
	if (tree_rows[row].bad && deed->reason.len > 0) {
		buf_put_str(&words, " (");
		text_escape(&words, deed->reason);
		buf_put_char(&words, ')');
	}
	free(deeds->words);
	deeds->words = strdup(buf_str(&words));
	return deeds->words ? 0 : -ENOMEM;
}

/* --- showing -------------------------------------------------------------------------- */

static void tree_put_style(struct tree *t, const char *style)
{
	if (t->text.colour)
		buf_put_str(&t->out, style);
}

/* Ends the line that began at `from`. */
static void tree_end_line(struct tree *t, size_t from, size_t styles)
{
	if (t->text.tty && t->text.width > 20)
		text_cut(&t->out, from, (size_t)t->text.width + styles);
	tree_put_style(t, "\033[0m");
	buf_put_char(&t->out, '\n');
	if (t->out.len >= TREE_FLUSH) {
		text_write(&t->text, &t->out);
		buf_clear(&t->out);
	}
}

static void tree_put_deeds(struct tree *t, const struct tree_run *run, size_t indent)
{
	for (size_t row = 0; row < TREE_ROWS; row++) {
		const struct tree_deeds *d = &run->deeds[row];
		size_t from = t->out.len;

		if (d->names == 0)
			continue;
		tree_put_style(t, tree_rows[row].bad ? "\033[1;31m" : "\033[2m");
		size_t styles = t->out.len - from;

		buf_putf(&t->out, "%*s%s  %s", (int)indent, "", tree_rows[row].did,
			 d->words ? d->words : "");
		if (d->names > TREE_NAMES)
			buf_putf(&t->out, ", %" PRIu64 " more", d->names - TREE_NAMES);
		tree_end_line(t, from, styles);
	}
}

/* The execution that the same process became (exec), or 0.  The end of the process is that
 * one's. */
static uint64_t tree_became(const struct tree *t, const struct tree_run *own)
{
	for (size_t at = own->child; own->run.pid && at; at = t->runs[at].next)
		if (t->runs[at].run.pid == own->run.pid)
			return t->runs[at].run.exec;
	return 0;
}

static void tree_put_ending(struct tree *t, const struct tree_run *own)
{
	const struct index_run *run = &own->run;
	uint64_t became = run->finish == 0 ? tree_became(t, own) : 0;
	int64_t ms = run->finish > run->begin ? (run->finish - run->begin) / 1000000 : 0;

	if (run->signal >= 0)
		buf_putf(&t->out, "  signal %" PRId64, run->signal);
	else if (run->exit > 0)
		buf_putf(&t->out, "  exit %" PRId64, run->exit);
	else if (became)
		buf_putf(&t->out, "  became [%" PRIu64 "]", became);
	else if (run->finish == 0)
		buf_put_str(&t->out, t->q.running ? "  running" : "  no end seen");
	if (ms >= 1000)
		buf_putf(&t->out, "  %" PRId64 ".%" PRId64 " s", ms / 1000, ms / 100 % 10);
}

/* Whether two, one after the other, are the same and did nothing: they get one line. */
static bool tree_is_alike(const struct tree_run *a, const struct tree_run *b)
{
	return !a->did && !b->did && !a->child && !b->child && a->run.exit == b->run.exit &&
	       a->run.signal == b->run.signal && strcmp(a->command, b->command) == 0;
}

/* Prints the execution at `at`, and those like it after it; returns the last of them. */
static size_t tree_put_run(struct tree *t, size_t at, size_t depth)
{
	const struct tree_run *run = &t->runs[at];
	size_t indent = (depth < TREE_DEEPEST ? depth : TREE_DEEPEST) * 2, from = t->out.len;
	uint64_t alike = 1;

	while (t->runs[at].next && tree_is_alike(run, &t->runs[t->runs[at].next])) {
		at = t->runs[at].next;
		alike++;
	}
	buf_putf(&t->out, "%*s%s [%" PRIu64 "]", (int)indent, "", run->command, run->run.exec);
	if (alike > 1)
		buf_putf(&t->out, "  x%" PRIu64, alike);
	tree_put_ending(t, run);
	tree_end_line(t, from, 0);
	tree_put_deeds(t, run, indent + 4);
	return at;
}

/* Goes down the tree without recursion: the box can make it as deep as it likes. */
static void tree_put(struct tree *t)
{
	size_t at = t->runs[0].child, depth = 0;

	while (at) {
		at = tree_put_run(t, at, depth);
		if (t->runs[at].child) {
			at = t->runs[at].child;
			depth++;
			continue;
		}
		while (at && !t->runs[at].next) {
			at = t->runs[at].parent;
			depth -= depth > 0;
		}
		at = at ? t->runs[at].next : 0;
	}
	if (t->runs[0].did)
		buf_put_str(&t->out, "(by no execution that is known)\n");
	tree_put_deeds(t, &t->runs[0], 4);
	text_write(&t->text, &t->out);
}

static void tree_put_json(struct tree *t)
{
	struct json j = JSON_INIT(&t->out, false);

	for (size_t i = 1; i < t->count; i++) {
		const struct tree_run *run = &t->runs[i];

		json_open(&j, '{');
		json_key_str(&j, "session", t->q.session->folder);
		json_key_u64(&j, "exec", run->run.exec);
		json_key_u64(&j, "parent", run->run.parent);
		json_key_u64(&j, "pid", run->run.pid);
		json_key_u64(&j, "seq", run->run.seq);
		json_key_str(&j, "command", run->command);
		if (run->run.finish == 0 && tree_became(t, run))
			json_key_u64(&j, "became", tree_became(t, run));
		if (run->run.exit >= 0)
			json_key_u64(&j, "exit", (uint64_t)run->run.exit);
		if (run->run.signal >= 0)
			json_key_u64(&j, "signal", (uint64_t)run->run.signal);
		for (size_t row = 0; row < TREE_ROWS; row++)
			if (run->deeds[row].names > 0)
				json_key_u64(&j, index_what_word(tree_rows[row].what),
					     run->deeds[row].names);
		json_close(&j, '}');
		j.first[0] = true;
		buf_put_char(&t->out, '\n');
		if (t->out.len >= TREE_FLUSH) {
			text_write(&t->text, &t->out);
			buf_clear(&t->out);
		}
	}
	text_write(&t->text, &t->out);
}

int log_tree(const struct invocation *i)
{
	_cleanup_(tree_free) struct tree *t = calloc(1, sizeof(*t));
	const char *named = invocation_value(i, OPTION_SESSION);
	struct index_run nobody = {.exec = 0};
	struct error e = ERROR_INIT;

	if (!t)
		return EXIT_BAWN;
	t->text = text_open(STDOUT_FILENO);
	t->out = BUF_INIT(TREE_OUT_MAX);
	int r = inquiry_open(&t->q, i->argument_count ? i->arguments[0] : named, &e);

	if (r == 0)
		r = tree_add(t, &nobody);
	if (r == 0)
		r = index_runs(t->q.index, &t->q.place, tree_on_run, t, &e);
	if (r == 0)
		r = index_deeds(t->q.index, &t->q.place, tree_on_deed, t, &e);
	if (r < 0) {
		if (e.code == 0)
			(void)error_sys(&e, r, "the tree of processes");
		verb_complain(&e);
		return EXIT_BAWN;
	}
	if (invocation_has(i, OPTION_JSON))
		tree_put_json(t);
	else
		tree_put(t);
	return inquiry_answer(&t->q);
}
