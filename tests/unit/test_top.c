/* SPDX-License-Identifier: Apache-2.0 */
/* src/top: what `bawn top` shows, and what a key does, without a terminal and without a session. */
#include "cmocka_lead.h"

#include "page.h"
#include "str.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct model_row *put(struct model *m, const char *name, enum model_state state)
{
	struct model_row *row = model_put(m, name);

	assert_non_null(row);
	row->state = state;
	row->since = 1000;
	return row;
}

/* "a b c": the names in their order. */
static const char *names(struct model *m)
{
	static char said[4096];

	said[0] = '\0';
	model_arrange(m);
	for (size_t i = 0; i < m->count; i++)
		(void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s%s",
			       i ? " " : "", m->rows[i].name);
	return said;
}

static const char *size_of(uint64_t bytes)
{
	static char said[64];
	_cleanup_buf_ struct buf b = BUF_INIT(64);

	page_put_size(&b, bytes);
	(void)snprintf(said, sizeof(said), "%s", buf_str(&b));
	return said;
}

static void sizes_and_ages_are_short(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *words;
	} sizes[] = {{0, "0"},           {1, "1K"},       {1023, "1K"},        {4096, "4.0K"},
		     {870400, "850K"},   {1 << 20, "1M"}, {300 << 20, "300M"}, {1400000000, "1.3G"},
		     {UINT64_MAX, "15E"}};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(sizes); i++)
		assert_string_equal(size_of(sizes[i].bytes), sizes[i].words);
	for (int bit = 0; bit < 64; bit++)
		for (uint64_t more = 0; more < 3; more++) {
			_cleanup_buf_ struct buf count = BUF_INIT(64), age = BUF_INIT(64);
			uint64_t value = (UINT64_C(1) << bit) - 1 + more;

			assert_true(strlen(size_of(value)) <= 5);
			page_put_count(&count, value);
			page_put_age(&age, value);
			if (value < UINT64_C(10000000000)) {
				assert_true(count.len <= 5);
				assert_true(age.len <= 7);
			}
		}
}

static void what_runs_stands_above_what_is_over(void **state)
{
	struct model m = {.count = 0};

	(void)state;
	put(&m, "b", MODEL_RUNS)->memory = 5;
	put(&m, "a", MODEL_ENDED)->memory = 9;
	put(&m, "c", MODEL_PAUSED)->memory = 7;
	assert_string_equal(names(&m), "b c a");
	m.order = MODEL_BY_MEMORY;
	assert_string_equal(names(&m), "c b a");
	m.order = MODEL_BY_AGE;
	model_find(&m, "c")->since = 2000;
	assert_string_equal(names(&m), "b c a");
	m.order = MODEL_BY_REFUSED;
	model_find(&m, "c")->refused = 1;
	assert_string_equal(names(&m), "c b a");
	model_fini(&m);
}

static void the_choice_stays_with_its_session(void **state)
{
	struct model m = {.count = 0, .room = 10};

	(void)state;
	put(&m, "b", MODEL_RUNS);
	put(&m, "d", MODEL_RUNS);
	model_arrange(&m);
	assert_string_equal(m.chosen, "b");
	(void)model_key(&m, MODEL_KEY_DOWN);
	put(&m, "a", MODEL_RUNS);
	put(&m, "c", MODEL_RUNS);
	put(&m, "e", MODEL_RUNS);
	model_arrange(&m);
	assert_string_equal(m.chosen, "d");
	model_remove(&m, "d");
	assert_string_equal(m.chosen, "e"); /* who took its place */
	model_remove(&m, "e");
	assert_string_equal(m.chosen, "c");
	model_remove(&m, "a");
	assert_string_equal(m.chosen, "c");
	model_remove(&m, "b");
	model_remove(&m, "c");
	assert_string_equal(m.chosen, "");
	assert_int_equal(model_key(&m, 'p').act, MODEL_NOTHING);
	assert_int_equal(model_key(&m, MODEL_KEY_ENTER).act, MODEL_NOTHING);
	assert_int_equal(m.mode, MODEL_LIST);
	model_fini(&m);
}

static void keys_act_on_the_chosen_session(void **state)
{
	struct model m = {.count = 0, .room = 10};

	(void)state;
	put(&m, "a", MODEL_RUNS);
	put(&m, "b", MODEL_PAUSED);
	put(&m, "c", MODEL_ENDED);
	put(&m, "s", MODEL_SILENT);
	model_arrange(&m);
	struct model_wish w = model_key(&m, 'p');

	assert_int_equal(w.act, MODEL_PAUSE);
	assert_string_equal(w.name, "a");
	assert_int_equal(model_key(&m, 'a').act, MODEL_ATTACH);
	(void)model_key(&m, 'j');
	w = model_key(&m, 'p');
	assert_int_equal(w.act, MODEL_RESUME);
	assert_string_equal(w.name, "b");
	/* One that does not answer, and one that is over. */
	static const char keys[] = "aps+";

	for (int i = 0; i < 2; i++) {
		(void)model_key(&m, 'j');
		for (size_t k = 0; keys[k]; k++) {
			assert_int_equal(model_key(&m, keys[k]).act, MODEL_NOTHING);
			assert_int_equal(m.asks, MODEL_NOTHING);
			assert_string_not_equal(m.said, "");
		}
		assert_int_equal(model_key(&m, 'd').act, MODEL_DIFF);
	}
	assert_string_equal(m.chosen, "c");
	assert_int_equal(model_key(&m, 'q').act, MODEL_QUIT);
	model_fini(&m);
}

static void a_stop_is_asked_about(void **state)
{
	struct model m = {.count = 0, .room = 10};
	static const int others[] = {'n', MODEL_KEY_ENTER, MODEL_KEY_BACK, 'q',
				     ' ', MODEL_KEY_DOWN};

	(void)state;
	put(&m, "a", MODEL_RUNS);
	put(&m, "b", MODEL_RUNS);
	model_arrange(&m);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(others); i++) {
		assert_int_equal(model_key(&m, 's').act, MODEL_NOTHING);
		assert_int_equal(m.asks, MODEL_STOP);
		assert_int_equal(model_key(&m, others[i]).act, MODEL_NOTHING);
		assert_int_equal(m.asks, MODEL_NOTHING);
		assert_string_equal(m.chosen, "a");
	}
	(void)model_key(&m, 's');
	/* Rows come and go meanwhile: the answer is about who was asked about. */
	put(&m, "0", MODEL_RUNS);
	model_arrange(&m);
	struct model_wish w = model_key(&m, 'y');

	assert_int_equal(w.act, MODEL_STOP);
	assert_string_equal(w.name, "a");
	(void)model_key(&m, 's');
	model_remove(&m, "a");
	assert_int_equal(m.asks, MODEL_NOTHING);
	assert_int_equal(model_key(&m, 'y').act, MODEL_NOTHING);
	model_fini(&m);
}

static void a_host_is_typed(void **state)
{
	struct model m = {.count = 0, .room = 10};

	(void)state;
	(void)snprintf(put(&m, "a", MODEL_RUNS)->refused_host, MODEL_HOST, "x.test:8");
	model_arrange(&m);
	(void)model_key(&m, '+');
	assert_string_equal(m.typed, "x.test:8");
	(void)model_key(&m, '0');
	(void)model_key(&m, '\033');
	(void)model_key(&m, ' ');
	(void)model_key(&m, MODEL_KEY_UP);
	const struct model_wish w = model_key(&m, MODEL_KEY_ENTER);

	assert_int_equal(w.act, MODEL_ALLOW);
	assert_string_equal(w.host, "x.test:80");
	(void)model_key(&m, '+');
	for (int i = 0; i < 20; i++)
		(void)model_key(&m, MODEL_KEY_ERASE);
	assert_int_equal(model_key(&m, MODEL_KEY_ENTER).act, MODEL_NOTHING);
	(void)model_key(&m, '+');
	for (int i = 0; i < 1000; i++)
		(void)model_key(&m, 'q');
	assert_int_equal(strlen(m.typed), MODEL_HOST - 1);
	assert_int_equal(model_key(&m, MODEL_KEY_BACK).act, MODEL_NOTHING);
	assert_int_equal(m.asks, MODEL_NOTHING);
	model_fini(&m);
}

static void lines_of_the_tally_are_read(void **state)
{
	static const char *const bad[] = {"",
					  "a",
					  "a 1",
					  "a 1 2 3 4",
					  "a 1 2 3 4 x -",
					  "b 1 2 3 4 5 -",
					  " 1 2 3 4 5 -",
					  "a -1 2 3 4 5 -",
					  "a 1 2 3 4 5"};
	struct model m = {.count = 0};
	struct model_row *row = put(&m, "a", MODEL_RUNS);

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		assert_null(model_take_tally(&m, bad[i]));
		assert_false(row->has_counts);
	}
	assert_ptr_equal(model_take_tally(&m, "a 1 2 3 4 5 evil.test:443"), row);
	assert_true(row->has_counts);
	assert_int_equal(row->events, 1);
	assert_int_equal(row->refused, 2);
	assert_int_equal(row->connections, 3);
	assert_int_equal(row->sent, 4);
	assert_int_equal(row->received, 5);
	assert_string_equal(row->refused_host, "evil.test:443");
	assert_ptr_equal(model_take_tally(&m, "a 9 2 3 4 5 -"), row);
	assert_string_equal(row->refused_host, "");
	model_fini(&m);
}

static size_t wide(const char *s)
{
	struct span rest = span_of_str(s);
	size_t width = 0;

	while (rest.len > 0) {
		uint32_t cp = 0;
		size_t len = text_utf8(rest, &cp);

		assert_true(len > 0);
		width += text_columns(cp);
		rest = span_skip(rest, len);
	}
	return width;
}

static void the_list_fits_into_80_columns(void **state)
{
	struct model m = {.count = 0, .counted = true};
	_cleanup_page_ struct page p = {.rows = 0};
	_cleanup_buf_ struct buf inside = BUF_INIT(64);

	(void)state;
	struct model_row *row = put(&m, "calm-otter", MODEL_DETACHED);

	row->has_processes = row->has_counts = true;
	row->processes = 12;
	row->memory = 210 << 20;
	row->received = 3 << 20;
	row->refused = 4;
	(void)snprintf(row->waits, sizeof(row->waits), "12 files, 1 commit");
	(void)snprintf(row->agent, sizeof(row->agent), "claude");
	(void)snprintf(row->folder, sizeof(row->folder), "~/src/app");
	(void)snprintf(row->command, sizeof(row->command), "claude --resume");
	assert_int_equal(page_begin(&p, 24, 80), 0);
	page_draw(&p, &m, &inside, 1000 + 3 * 3600);
	assert_string_equal(buf_str(&p.lines[0].text), "bawn top  1 session runs");
	assert_string_equal(
		buf_str(&p.lines[1].text),
		"  NAME            STATE     AGE PROC   MEM   NET REFUSED WAITS AGENT   "
		"FOLDER   ");
	assert_string_equal(
		buf_str(&p.lines[2].text),
		"> calm-otter      detached   3h   12  210M    3M       4   12+ claude  "
		".../app  ");
	assert_int_equal(p.lines[2].style, PAGE_CHOSEN);
	assert_string_equal(buf_str(&p.lines[22].text), "calm-otter  ~/src/app  claude --resume");
	model_fini(&m);
}

/* The box chooses how long a line is: the beginning of it is there all the same. */
static void a_line_of_any_length_is_shown(void **state)
{
	struct model m = {.count = 0, .counted = true, .mode = MODEL_INSIDE};
	_cleanup_page_ struct page p = {.rows = 0};
	_cleanup_buf_ struct buf inside = BUF_INIT(1 << 20);

	(void)state;
	(void)put(&m, "calm-otter", MODEL_RUNS);
	model_arrange(&m);
	for (size_t len = PAGE_LINE_MAX - 20; len < PAGE_LINE_MAX + 20; len++) {
		buf_clear(&inside);
		buf_put_str(&inside, "12:00  wrote  ");
		for (size_t i = 0; i < len; i++)
			buf_put_char(&inside, 'x');
		buf_put_str(&inside, "\nnext\n");
		assert_int_equal(page_begin(&p, 24, 80), 0);
		page_draw(&p, &m, &inside, 5000);
		assert_non_null(str_after(buf_str(&p.lines[1].text), "12:00  wrote  xxx"));
		assert_int_equal(wide(buf_str(&p.lines[1].text)), 80);
		assert_string_equal(buf_str(&p.lines[2].text), "next");
	}
	model_fini(&m);
}

/* Whose it is stands at the end of a host. */
static void a_long_host_shows_its_end(void **state)
{
	struct model m = {.count = 0};
	struct model_row *row = put(&m, "a", MODEL_RUNS);
	_cleanup_buf_ struct buf facts = BUF_INIT(4096);

	(void)state;
	row->has_counts = true;
	row->refused = 7;
	(void)snprintf(row->refused_host, sizeof(row->refused_host),
		       "packages.example.%0150d.evil.test:443", 0);
	page_put_facts(&facts, row);
	const char *line = strstr(buf_str(&facts), "refused   7, at last ...");

	assert_non_null(line);
	assert_true(strcspn(line, "\n") < 80);
	assert_non_null(strstr(line, "0.evil.test:443\n"));
	model_fini(&m);
}

/* Any rows, keys and sizes: every line fits, the choice is on the screen, and two pages of one model
 * are the same. */
static void pages_fit_whatever_comes(void **state)
{
	static const char *const words[] = {"", "a", "/deep/er/and/deeper/than/that",
					    "\xc3\xa4\xe4\xb8\xad",
					    "a long command that is longer than any column is"};
	static const int keys[] = {MODEL_KEY_UP,
				   MODEL_KEY_DOWN,
				   MODEL_KEY_PAGE_UP,
				   MODEL_KEY_PAGE_DOWN,
				   MODEL_KEY_HOME,
				   MODEL_KEY_END,
				   MODEL_KEY_ENTER,
				   MODEL_KEY_BACK,
				   MODEL_KEY_ERASE,
				   MODEL_KEY_REDRAW,
				   'a',
				   'p',
				   's',
				   'y',
				   '+',
				   'd',
				   'o',
				   '?',
				   'j',
				   'k',
				   'g',
				   'G',
				   ' ',
				   0,
				   1,
				   0x7e};
	unsigned int seed = (unsigned int)time(NULL);
	struct model m = {.count = 0};
	_cleanup_page_ struct page one = {.rows = 0}, two = {.rows = 0};
	_cleanup_buf_ struct buf inside = BUF_INIT(1 << 16);

	(void)state;
	print_message("seed %u\n", seed);
	srandom(seed);
	for (int turn = 0; turn < 3000; turn++) {
		char name[8];
		size_t rows = (size_t)random() % 30, columns = (size_t)random() % 140;

		(void)snprintf(name, sizeof(name), "s%ld", random() % 40);
		if (random() % 3 == 0) {
			model_remove(&m, name);
		} else {
			struct model_row *row =
				put(&m, name, (enum model_state)(random() % MODEL_STATE_COUNT));
			const char *word = words[random() % (long)BAWN_ARRAY_SIZE(words)];

			row->has_processes = row->has_counts = random() % 2;
			row->memory = row->sent = (uint64_t)random() << (random() % 33);
			row->processes = row->refused = (uint64_t)random() >> (random() % 31);
			(void)snprintf(row->folder, sizeof(row->folder), "%s", word);
			(void)snprintf(row->agent, sizeof(row->agent), "%s", word);
			(void)snprintf(row->waits, sizeof(row->waits), "%s",
				       random() % 2 ? "1,234 files, 2 commits" : "nothing");
		}
		if (random() % 50 == 0)
			buf_clear(&inside);
		buf_putf(&inside, "line %d\n", turn);
		(void)model_key(&m, keys[random() % (long)BAWN_ARRAY_SIZE(keys)]);
		assert_int_equal(page_begin(&one, rows, columns), 0);
		assert_int_equal(page_begin(&two, rows, columns), 0);
		page_draw(&one, &m, &inside, 5000);
		page_draw(&two, &m, &inside, 5000);
		assert_true(page_equal(&one, &two));
		for (size_t i = 0; i < one.rows; i++)
			assert_true(wide(buf_str(&one.lines[i].text)) <= columns);
		bool chosen = false;

		for (size_t i = 0; i < one.rows; i++)
			chosen = chosen || one.lines[i].style == PAGE_CHOSEN;
		if (m.mode == MODEL_LIST && rows > 4 && columns > 0)
			assert_int_equal(chosen, m.count > 0);
	}
	model_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_and_ages_are_short),
		cmocka_unit_test(what_runs_stands_above_what_is_over),
		cmocka_unit_test(the_choice_stays_with_its_session),
		cmocka_unit_test(keys_act_on_the_chosen_session),
		cmocka_unit_test(a_stop_is_asked_about),
		cmocka_unit_test(a_host_is_typed),
		cmocka_unit_test(lines_of_the_tally_are_read),
		cmocka_unit_test(the_list_fits_into_80_columns),
		cmocka_unit_test(a_line_of_any_length_is_shown),
		cmocka_unit_test(a_long_host_shows_its_end),
		cmocka_unit_test(pages_fit_whatever_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
