/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "array.h"
#include "str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *const model_state_words[MODEL_STATE_COUNT] = {
	"runs", "detached", "paused", "silent", "other", "ended", "cut off",
};

static const char *const model_order_words[MODEL_ORDER_COUNT] = {"name", "age", "memory",
								 "refused"};

void model_fini(struct model *m)
{
	free(m->rows);
	m->rows = NULL;
	m->count = 0;
}

/* --- rows ------------------------------------------------------------------------------- */

struct model_row *model_find(struct model *m, const char *name)
{
	for (size_t i = 0; i < m->count; i++)
		if (str_equal(m->rows[i].name, name))
			return &m->rows[i];
	return NULL;
}

struct model_row *model_chosen(struct model *m)
{
	return model_find(m, m->chosen);
}

struct model_row *model_put(struct model *m, const char *name)
{
	struct model_row *row = model_find(m, name);

	if (row || m->count == MODEL_ROWS_MAX || !ARRAY_GROW(m->rows, m->count))
		return row;
	row = &m->rows[m->count++];
	*row = (struct model_row){.state = MODEL_RUNS};
	(void)snprintf(row->name, sizeof(row->name), "%s", name);
	return row;
}

static size_t model_at(const struct model *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (str_equal(m->rows[i].name, m->chosen))
			return i;
	return 0;
}

static void model_choose(struct model *m, size_t at)
{
	if (m->count == 0)
		m->chosen[0] = '\0';
	else
		(void)snprintf(m->chosen, sizeof(m->chosen), "%s",
			       m->rows[at < m->count ? at : m->count - 1].name);
}

/* The choice goes on to the row that takes its place. */
void model_remove(struct model *m, const char *name)
{
	struct model_row *row = model_find(m, name);

	if (!row)
		return;
	size_t at = (size_t)(row - m->rows);
	bool chosen = str_equal(m->chosen, name);

	memmove(row, row + 1, (m->count - at - 1) * sizeof(*row));
	m->count--;
	if (str_equal(m->asked, name))
		m->asks = MODEL_NOTHING;
	if (!chosen)
		return;
	model_choose(m, at);
	if (m->mode == MODEL_INSIDE) {
		m->mode = MODEL_LIST;
		model_say(m, "%s is over", name);
	}
}

static uint64_t model_measure(const struct model_row *r, enum model_order order)
{
	switch (order) {
	case MODEL_BY_AGE:
		return UINT64_MAX - r->since;
	case MODEL_BY_MEMORY:
		return r->memory;
	case MODEL_BY_REFUSED:
		return r->refused;
	case MODEL_BY_NAME:
	case MODEL_ORDER_COUNT:
		break;
	}
	return 0;
}

/* Those that run stand above those that are over; then the largest first; then by name. */
static int model_compare(const void *a, const void *b, void *context)
{
	const enum model_order *order = context;
	const struct model_row *x = a, *y = b;
	uint64_t of_x = model_measure(x, *order), of_y = model_measure(y, *order);

	if (model_is_live(x) != model_is_live(y))
		return model_is_live(x) ? -1 : 1;
	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return strcmp(x->name, y->name);
}

void model_arrange(struct model *m)
{
	if (m->count > 0)
		qsort_r(m->rows, m->count, sizeof(*m->rows), model_compare, &m->order);
	if (!model_chosen(m))
		model_choose(m, 0);
	size_t at = model_at(m), room = m->room ? m->room : 1;

	if (m->first > at)
		m->first = at;
	if (at >= m->first + room)
		m->first = at - room + 1;
	if (m->first + room > m->count)
		m->first = m->count > room ? m->count - room : 0;
	room = m->inside_room ? m->inside_room : 1;
	if (m->inside_first + room > m->inside_count)
		m->inside_first = m->inside_count > room ? m->inside_count - room : 0;
}

void model_say(struct model *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(m->said, sizeof(m->said), fmt, ap);
	va_end(ap);
}

/* --- the record's numbers ---------------------------------------------------------------- */

/* Reads a number and the blank behind it; NULL: there is none. */
static const char *model_number(const char *at, uint64_t *ret)
{
	char *end = NULL;

	if (!at || *at < '0' || *at > '9')
		return NULL;
	*ret = strtoull(at, &end, 10);
	return *end == ' ' ? end + 1 : NULL;
}

struct model_row *model_take_tally(struct model *m, const char *line)
{
	char name[MODEL_NAME];
	size_t len = strcspn(line, " ");
	uint64_t events = 0, refused = 0, connections = 0, sent = 0, received = 0;

	if (len == 0 || len >= sizeof(name) || !line[len])
		return NULL;
	memcpy(name, line, len);
	name[len] = '\0';
	struct model_row *row = model_find(m, name);
	const char *at = model_number(line + len + 1, &events);

	at = model_number(at, &refused);
	at = model_number(at, &connections);
	at = model_number(at, &sent);
	at = model_number(at, &received);
	if (!row || !at)
		return NULL;
	row->has_counts = true;
	row->events = events;
	row->refused = refused;
	row->connections = connections;
	row->sent = sent;
	row->received = received;
	(void)snprintf(row->refused_host, sizeof(row->refused_host), "%.*s", MODEL_HOST - 1,
		       str_equal(at, "-") ? "" : at);
	return row;
}

/* --- keys ------------------------------------------------------------------------------- */

static struct model_wish model_wish(const struct model *m, enum model_act act)
{
	struct model_wish w = {.act = act};

	(void)snprintf(w.name, sizeof(w.name), "%s", m->chosen);
	return w;
}

/* Asks about the chosen session; `typed` stands there already. */
static void model_ask(struct model *m, enum model_act act, const char *typed)
{
	m->asks = act;
	(void)snprintf(m->asked, sizeof(m->asked), "%s", m->chosen);
	(void)snprintf(m->typed, sizeof(m->typed), "%s", typed);
	m->typed_len = strlen(m->typed);
}

static struct model_wish model_answer_stop(struct model *m, int key)
{
	struct model_wish w = {.act = MODEL_NOTHING};

	if (key == 'y' || key == 'Y') {
		w.act = MODEL_STOP;
		(void)snprintf(w.name, sizeof(w.name), "%s", m->asked);
	}
	m->asks = MODEL_NOTHING;
	return w;
}

/* A host is plain ASCII; other keys type nothing. */
static struct model_wish model_answer_allow(struct model *m, int key)
{
	struct model_wish w = {.act = MODEL_NOTHING};

	if (key == MODEL_KEY_BACK) {
		m->asks = MODEL_NOTHING;
	} else if (key == MODEL_KEY_ENTER) {
		m->asks = MODEL_NOTHING;
		if (m->typed_len == 0)
			return w;
		w.act = MODEL_ALLOW;
		(void)snprintf(w.name, sizeof(w.name), "%s", m->asked);
		(void)snprintf(w.host, sizeof(w.host), "%s", m->typed);
	} else if (key == MODEL_KEY_ERASE && m->typed_len > 0) {
		m->typed[--m->typed_len] = '\0';
	} else if (key == 'u' - 'a' + 1) {
		m->typed[m->typed_len = 0] = '\0';
	} else if (key > ' ' && key < 0x7f && m->typed_len + 1 < sizeof(m->typed)) {
		m->typed[m->typed_len++] = (char)key;
		m->typed[m->typed_len] = '\0';
	}
	return w;
}

/* Where a move of that key leads from `at`, among `count` of which `room` are seen. */
static size_t model_move(int key, size_t at, size_t count, size_t room)
{
	size_t page = room > 1 ? room - 1 : 1;
	size_t last = count ? count - 1 : 0;

	switch (key) {
	case MODEL_KEY_UP:
	case 'k':
		return at ? at - 1 : 0;
	case MODEL_KEY_DOWN:
	case 'j':
		return at < last ? at + 1 : last;
	case MODEL_KEY_PAGE_UP:
		return at > page ? at - page : 0;
	case MODEL_KEY_PAGE_DOWN:
	case ' ':
		return at + page < last ? at + page : last;
	case MODEL_KEY_HOME:
	case 'g':
		return 0;
	case MODEL_KEY_END:
	case 'G':
		return last;
	default:
		return at;
	}
}

/* What can be done with a session, whether it is chosen in the list or looked into. */
static struct model_wish model_key_session(struct model *m, int key)
{
	const struct model_row *row = model_chosen(m);
	const struct model_wish none = {.act = MODEL_NOTHING};

	if (!row || key <= ' ' || key >= 0x7f || !strchr("apsd+", key))
		return none;
	if (key == 'd')
		return model_wish(m, MODEL_DIFF);
	if (!model_answers(row)) {
		model_say(m, model_is_live(row) ? "%s does not answer" : "%s has ended", row->name);
		return none;
	}
	switch (key) {
	case 'a':
		return model_wish(m, MODEL_ATTACH);
	case 'p':
		return model_wish(m, row->state == MODEL_PAUSED ? MODEL_RESUME : MODEL_PAUSE);
	case 's':
		model_ask(m, MODEL_STOP, "");
		return none;
	default:
		model_ask(m, MODEL_ALLOW, row->refused_host);
		return none;
	}
}

static struct model_wish model_key_list(struct model *m, int key)
{
	size_t at = model_at(m), to = model_move(key, at, m->count, m->room);

	if (to != at)
		model_choose(m, to);
	else if (key == MODEL_KEY_ENTER && model_chosen(m)) {
		m->mode = MODEL_INSIDE;
		m->inside_first = m->inside_count = 0;
	} else if (key == 'o') {
		m->order = (m->order + 1) % MODEL_ORDER_COUNT;
		model_say(m, "sorted by %s", model_order_words[m->order]);
	}
	return model_key_session(m, key);
}

static struct model_wish model_key_inside(struct model *m, int key)
{
	size_t room = m->inside_room;
	size_t last = m->inside_count > room ? m->inside_count - room + 1 : 1;

	if (key == MODEL_KEY_BACK || key == MODEL_KEY_ERASE || key == MODEL_KEY_ENTER)
		m->mode = MODEL_LIST;
	else
		m->inside_first = model_move(key, m->inside_first, last, room);
	return model_key_session(m, key);
}

struct model_wish model_key(struct model *m, int key)
{
	struct model_wish w = {.act = MODEL_NOTHING};

	if (key == MODEL_KEY_REDRAW) {
		w.act = MODEL_REDRAW;
		return w;
	}
	m->said[0] = '\0';
	if (m->left[0] && key != MODEL_KEY_BACK) {
		const struct model_row *row = model_find(m, m->left);

		model_say(m, "%s %s. What you typed went nowhere; Esc goes on", m->left,
			  row && model_is_live(row) ? "was left" : "has ended");
		return w;
	}
	if (m->left[0]) {
		m->left[0] = '\0';
		return w;
	}
	if (m->asks == MODEL_STOP) {
		w = model_answer_stop(m, key);
	} else if (m->asks == MODEL_ALLOW) {
		w = model_answer_allow(m, key);
	} else if (key == 'q' || key == 'Q') {
		w.act = MODEL_QUIT;
	} else if (m->mode == MODEL_HELP) {
		m->mode = m->before; /* any key */
	} else if (key == '?') {
		m->before = m->mode;
		m->mode = MODEL_HELP;
	} else {
		w = m->mode == MODEL_INSIDE ? model_key_inside(m, key) : model_key_list(m, key);
	}
	model_arrange(m);
	return w;
}
