/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include "str.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>

void page_fini(struct page *p)
{
	for (size_t i = 0; i < p->rows; i++)
		buf_fini(&p->lines[i].text);
	free(p->lines);
	*p = (struct page){.lines = NULL};
}

int page_begin(struct page *p, size_t rows, size_t columns)
{
	rows = rows < PAGE_ROWS_MAX ? rows : PAGE_ROWS_MAX;
	if (p->rows != rows) {
		page_fini(p);
		p->lines = calloc(rows + 1, sizeof(*p->lines));
		if (!p->lines)
			return -ENOMEM;
		p->rows = rows;
		for (size_t i = 0; i < rows; i++)
			p->lines[i].text = BUF_INIT(PAGE_LINE_MAX);
	}
	p->columns = columns < PAGE_COLUMNS_MAX ? columns : PAGE_COLUMNS_MAX;
	for (size_t i = 0; i < rows; i++) {
		buf_clear(&p->lines[i].text);
		p->lines[i].style = PAGE_PLAIN;
	}
	return 0;
}

bool page_equal(const struct page *a, const struct page *b)
{
	if (a->rows != b->rows || a->columns != b->columns)
		return false;
	for (size_t i = 0; i < a->rows; i++)
		if (a->lines[i].style != b->lines[i].style ||
		    !str_equal(buf_str(&a->lines[i].text), buf_str(&b->lines[i].text)))
			return false;
	return true;
}

/* --- cells ------------------------------------------------------------------------------ */

void page_put_size(struct buf *into, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	size_t unit = 0;
	uint64_t tenths = bytes / 1024 * 10 + bytes % 1024 * 10 / 1024;

	if (bytes == 0) {
		buf_put_char(into, '0');
		return;
	}
	for (; tenths >= 10000 && units[unit + 1]; unit++)
		tenths /= 1024;
	/* Megabytes stand still where kilobytes flicker. */
	if (unit == 1 || tenths >= 100)
		buf_putf(into, "%" PRIu64 "%c", tenths / 10, units[unit]);
	else if (tenths < 10)
		buf_put_str(into, "1K");
	else
		buf_putf(into, "%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10, units[unit]);
}

void page_put_age(struct buf *into, uint64_t seconds)
{
	if (seconds < 60)
		buf_put_str(into, "<1m");
	else if (seconds < 3600)
		buf_putf(into, "%" PRIu64 "m", seconds / 60);
	else if (seconds < 86400)
		buf_putf(into, "%" PRIu64 "h", seconds / 3600);
	else
		buf_putf(into, "%" PRIu64 "d", seconds / 86400);
}

void page_put_count(struct buf *into, uint64_t count)
{
	if (count < 100000)
		buf_putf(into, "%" PRIu64, count);
	else if (count < 10000000)
		buf_putf(into, "%" PRIu64 "k", count / 1000);
	else
		buf_putf(into, "%" PRIu64 "M", count / 1000000);
}

static size_t page_width(const char *s)
{
	struct span rest = span_of_str(s);
	size_t width = 0;

	while (rest.len > 0) {
		uint32_t cp = 0;
		size_t len = text_utf8(rest, &cp);

		width += len ? text_columns(cp) : 1;
		rest = span_skip(rest, len ? len : 1);
	}
	return width;
}

/* Appends text in that many columns, and a blank. */
static void page_cell(struct buf *line, const char *text, size_t width, bool right)
{
	size_t from = line->len, wide = page_width(text);
	int blanks = wide < width ? (int)(width - wide) : 0;

	if (right)
		buf_putf(line, "%*s", blanks, "");
	from = right ? line->len : from;
	buf_put_str(line, text);
	if (wide > width)
		text_cut(line, from, width);
	if (!right)
		buf_putf(line, "%*s", blanks, "");
	buf_put_char(line, ' ');
}

/* --- the list --------------------------------------------------------------------------- */

enum page_column {
	PAGE_NAME,
	PAGE_STATE,
	PAGE_AGE,
	PAGE_PROCESSES,
	PAGE_MEMORY,
	PAGE_NETWORK,
	PAGE_REFUSED,
	PAGE_WAITS,
	PAGE_AGENT,
	PAGE_FOLDER,
	PAGE_COLUMN_COUNT,
};

/* Together they fit into 80 columns; what a terminal has beyond that goes to the last two. */
static const struct {
	const char *title;
	size_t width;
	bool right;
} page_columns[PAGE_COLUMN_COUNT] = {
	[PAGE_NAME] = {"NAME", 15, false},     [PAGE_STATE] = {"STATE", 8, false},
	[PAGE_AGE] = {"AGE", 4, true},         [PAGE_PROCESSES] = {"PROC", 4, true},
	[PAGE_MEMORY] = {"MEM", 5, true},      [PAGE_NETWORK] = {"NET", 5, true},
	[PAGE_REFUSED] = {"REFUSED", 7, true}, [PAGE_WAITS] = {"WAITS", 5, true},
	[PAGE_AGENT] = {"AGENT", 7, false},    [PAGE_FOLDER] = {"FOLDER", 8, false},
};

enum {
	PAGE_LEAST = 80,
	PAGE_AGENT_MOST = 24,
	PAGE_HOST = 48,  /* bytes of a host among other words */
	PAGE_AROUND = 4, /* lines that are no rows */
};

static size_t page_column_width(enum page_column c, size_t columns)
{
	size_t more = columns > PAGE_LEAST ? columns - PAGE_LEAST : 0;
	size_t agent = more / 3 < PAGE_AGENT_MOST ? more / 3 : PAGE_AGENT_MOST;

	return page_columns[c].width + (c == PAGE_AGENT    ? agent
					: c == PAGE_FOLDER ? more - agent
							   : 0);
}

/* "2 files, 1 commit" as "2+": how many files, and that there is more. */
static void page_put_waits(struct buf *into, const struct model_row *r)
{
	size_t digits = strspn(r->waits, "0123456789,");

	while (digits > 0 && r->waits[digits - 1] == ',')
		digits--;
	if (str_equal(r->waits, "nothing"))
		buf_put_char(into, '0');
	else if (digits > 0)
		buf_putf(into, "%.*s%s", (int)digits, r->waits,
			 strchr(r->waits + digits, ',') ? "+" : "");
	else
		buf_put_str(into, r->waits[0] ? "yes" : "-");
}

/* The end of a path says more than its beginning: "~/src/app", ".../app", or "app" alone. */
static void page_put_folder(struct buf *into, const char *folder, size_t width)
{
	const char *at = page_width(folder) > width ? strchr(folder, '/') : NULL;
	const char *last = strrchr(folder, '/');

	while (at && page_width(at) + 3 > width)
		at = strchr(at + 1, '/');
	if (at)
		buf_putf(into, "...%s", at);
	else
		buf_put_str(into, page_width(folder) > width && last ? last + 1 : folder);
}

static void page_put_value(struct buf *into, const struct model_row *r, enum page_column c,
			   size_t width, uint64_t now)
{
	const char *dash = "-";

	switch (c) {
	case PAGE_NAME:
		buf_put_str(into, r->label[0] ? r->label : r->name);
		break;
	case PAGE_STATE:
		buf_put_str(into, model_state_words[r->state]);
		break;
	case PAGE_AGE:
		if (r->since)
			page_put_age(into, now > r->since ? now - r->since : 0);
		else
			buf_put_str(into, dash);
		break;
	case PAGE_PROCESSES:
		r->has_processes ? page_put_count(into, r->processes) : buf_put_str(into, dash);
		break;
	case PAGE_MEMORY:
		r->has_processes ? page_put_size(into, r->memory) : buf_put_str(into, dash);
		break;
	case PAGE_NETWORK:
		r->has_counts ? page_put_size(into, r->sent + r->received)
			      : buf_put_str(into, dash);
		break;
	case PAGE_REFUSED:
		r->has_counts ? page_put_count(into, r->refused) : buf_put_str(into, dash);
		break;
	case PAGE_WAITS:
		page_put_waits(into, r);
		break;
	case PAGE_AGENT:
		buf_put_str(into, r->agent[0] ? r->agent : dash);
		break;
	case PAGE_FOLDER:
		page_put_folder(into, r->folder, width);
		break;
	case PAGE_COLUMN_COUNT:
		break;
	}
}

static void page_row(struct page *p, struct buf *line, const struct model_row *r, uint64_t now)
{
	for (enum page_column c = 0; c < PAGE_COLUMN_COUNT; c++) {
		_cleanup_buf_ struct buf value = BUF_INIT(PAGE_LINE_MAX);
		size_t width = page_column_width(c, p->columns);

		page_put_value(&value, r, c, width, now);
		page_cell(line, buf_str(&value), width, page_columns[c].right);
	}
}

static void page_titles(struct page *p, struct buf *line)
{
	buf_put_str(line, "  ");
	for (enum page_column c = 0; c < PAGE_COLUMN_COUNT; c++)
		page_cell(line, page_columns[c].title, page_column_width(c, p->columns),
			  page_columns[c].right);
}

/* "3 sessions run, 1 of them paused; 2 have ended and left changes". */
static void page_put_sum(struct buf *into, const struct model *m)
{
	size_t live = 0, paused = 0;

	for (size_t i = 0; i < m->count; i++) {
		live += model_is_live(&m->rows[i]);
		paused += m->rows[i].state == MODEL_PAUSED;
	}
	if (!m->counted)
		return;
	if (live == 0)
		buf_put_str(into, "no session is running");
	else
		buf_putf(into, "%zu session%s", live, live == 1 ? " runs" : "s run");
	if (paused > 0)
		buf_putf(into, ", %zu paused", paused);
	if (m->count > live)
		buf_putf(into, "; %zu ended and left changes", m->count - live);
}

static void page_put_chosen(struct buf *line, const struct model_row *r)
{
	buf_putf(line, "%s%s%s%s  %s  %s", r->name, r->label[0] ? " (" : "", r->label,
		 r->label[0] ? ")" : "", r->folder, r->command);
}

static void page_list(struct page *p, struct model *m, uint64_t now)
{
	const struct model_row *chosen = model_chosen(m);

	buf_put_str(&p->lines[0].text, "bawn top  ");
	page_put_sum(&p->lines[0].text, m);
	p->lines[0].style = PAGE_STRONG;
	page_titles(p, &p->lines[1].text);
	p->lines[1].style = PAGE_STRONG;
	for (size_t i = 0; i < m->room && m->first + i < m->count; i++) {
		const struct model_row *r = &m->rows[m->first + i];
		struct page_line *line = &p->lines[2 + i];

		/* The mark is for terminals that show no styles. */
		buf_put_str(&line->text, r == chosen ? "> " : "  ");
		page_row(p, &line->text, r, now);
		line->style = r == chosen ? PAGE_CHOSEN : PAGE_PLAIN;
	}
	if (m->counted && m->count == 0)
		buf_put_str(&p->lines[2].text, "  'bawn run' and 'bawn shell' start one.");
	if (chosen)
		page_put_chosen(&p->lines[p->rows - 2].text, chosen);
}

/* --- the inside ------------------------------------------------------------------------- */

void page_put_facts(struct buf *into, const struct model_row *r)
{
	_cleanup_buf_ struct buf sent = BUF_INIT(64), received = BUF_INIT(64);

	page_put_size(&sent, r->sent);
	page_put_size(&received, r->received);
	buf_putf(into, "command   %s\nfolder    %s\n", r->command, r->folder);
	size_t host = strlen(r->refused_host), over = host > PAGE_HOST ? host - PAGE_HOST : 0;

	if (r->has_counts) {
		buf_putf(into, "network   %" PRIu64 " connection%s, %s sent, %s received\n",
			 r->connections, r->connections == 1 ? "" : "s", buf_str(&sent),
			 buf_str(&received));
		/* Whose domain it is stands at its end. */
		buf_putf(into, "refused   %" PRIu64 "%s%s%s\n", r->refused,
			 host > 0 ? ", at last " : "", over > 0 ? "..." : "",
			 r->refused_host + over);
	}
	if (r->waits[0])
		buf_putf(into, "waits     %s%s\n", r->waits,
			 str_equal(r->waits, "nothing") ? "" : "  (d shows it)");
}

static size_t page_count_lines(const struct buf *b)
{
	size_t count = 0;

	for (const char *at = buf_str(b); (at = strchr(at, '\n')) != NULL; at++)
		count++;
	return count;
}

static void page_inside(struct page *p, struct model *m, const struct buf *inside, uint64_t now)
{
	const struct model_row *r = model_chosen(m);
	struct buf *title = &p->lines[0].text;
	const char *at = buf_str(inside);

	p->lines[0].style = PAGE_STRONG;
	if (!r)
		return;
	buf_putf(title, "%s  %s  ", r->label[0] ? r->label : r->name, model_state_words[r->state]);
	page_put_age(title, now > r->since ? now - r->since : 0);
	if (r->has_processes) {
		buf_putf(title, "  %" PRIu64 " %s  ", r->processes,
			 r->processes == 1 ? "process" : "processes and threads");
		page_put_size(title, r->memory);
	}
	for (size_t i = 0; i < m->inside_first && *at; i++)
		at = strchr(at, '\n') + 1;
	for (size_t i = 0; i < m->inside_room && *at; i++) {
		const char *end = strchr(at, '\n');

		if (!end)
			break;
		size_t len = (size_t)(end - at);

		/* Of what is longer no terminal shows more. */
		buf_put(&p->lines[1 + i].text, at, len < PAGE_LINE_MAX ? len : PAGE_LINE_MAX - 1);
		at = end + 1;
	}
}

/* --- the keys --------------------------------------------------------------------------- */

static const char *const page_keys[] = {
	"Up Down j k        choose a session; PgUp, PgDn, Home, End go further",
	"Enter              look inside: what it is, its processes, its last events",
	"a                  attach: its terminal is yours; Ctrl-\\ comes back here",
	"p                  pause it, or let it go on",
	"s                  stop it; asks first",
	"+                  allow a host; the last one that was refused stands there",
	"d                  show what it changed",
	"o                  sort by name, age, memory, refusals",
	"Esc                go back",
	"q                  quit",
	"",
	"PROC  processes and threads       MEM    their memory, as ps has it",
	"NET   bytes of its connections    WAITS  changed files that nobody applied",
};

static void page_help(struct page *p)
{
	buf_put_str(&p->lines[0].text, "bawn top: keys");
	p->lines[0].style = PAGE_STRONG;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(page_keys) && 2 + i < p->rows - 1; i++)
		buf_put_str(&p->lines[2 + i].text, page_keys[i]);
}

/* Whose domain it is stands at the end of a name: if something is cut, then its beginning. */
static void page_put_asked(struct buf *line, const struct model *m, size_t columns)
{
	buf_putf(line, "Allow %s to reach (Enter; Esc: no): ", m->asked);
	size_t room = columns > line->len + 5 ? columns - line->len - 5 : 0, len = strlen(m->typed);

	buf_putf(line, "%s%s_", len > room ? "..." : "", m->typed + (len > room ? len - room : 0));
}

static void page_bottom(struct buf *line, const struct model *m, size_t columns)
{
	if (m->asks == MODEL_STOP)
		buf_putf(line, "Stop %s? y or n ", m->asked);
	else if (m->asks == MODEL_ALLOW)
		page_put_asked(line, m, columns);
	else if (m->said[0])
		buf_put_str(line, m->said);
	else if (m->mode == MODEL_HELP)
		buf_put_str(line, "any key goes back");
	else if (m->mode == MODEL_INSIDE)
		buf_put_str(line,
			    "Esc back  a attach  p pause  s stop  + allow  d diff  ? keys  q quit");
	else
		buf_put_str(
			line,
			"Enter look inside  a attach  p pause  s stop  + allow  d diff  ? keys  "
			"q quit");
}

void page_draw(struct page *p, struct model *m, const struct buf *inside, uint64_t now)
{
	if (p->rows == 0 || p->columns == 0)
		return;
	m->room = p->rows > PAGE_AROUND ? p->rows - PAGE_AROUND : 0;
	m->inside_room = p->rows > 2 ? p->rows - 2 : 0;
	m->inside_count = page_count_lines(inside);
	model_arrange(m);
	if (p->rows > PAGE_AROUND) {
		if (m->mode == MODEL_HELP)
			page_help(p);
		else if (m->mode == MODEL_INSIDE)
			page_inside(p, m, inside, now);
		else
			page_list(p, m, now);
	}
	page_bottom(&p->lines[p->rows - 1].text, m, p->columns);
	for (size_t i = 0; i < p->rows; i++)
		text_cut(&p->lines[i].text, 0, p->columns);
}
