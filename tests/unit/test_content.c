/* SPDX-License-Identifier: Apache-2.0 */
/* What `bawn diff` shows of a file: a text with its lines, and of anything else its kind. */
#include "cmocka_lead.h"

#include "layers_lead.h"

#include "content.h"

#include <sys/mman.h>

/* The file `f` of both sides. */
static struct change change_of(const struct world *w, const char *before, const char *after)
{
	struct change c = {.path = "f",
			   .kind = !before ? CHANGE_ADDED
				   : after ? CHANGE_CHANGED
					   : CHANGE_DELETED};
	const struct view base = {.base = w->view.base};

	if (before)
		put_at(w->view.base, "f", before);
	if (after)
		put_at(w->view.layers[0], "f", after);
	else
		whiteout_at(w->view.layers[0], "f");
	if (before)
		assert_int_equal(view_look(&base, "f", &c.before), 0);
	assert_int_equal(view_look(&w->view, "f", &c.after), 0);
	return c;
}

static void grow(const struct world *w, struct change *c, off_t size)
{
	_cleanup_fd_ int fd = openat(w->view.layers[0], "f", O_WRONLY | O_CLOEXEC);

	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(view_look(&w->view, "f", &c->after), 0);
}

static void lines_that_differ(void **state)
{
	const struct world *w = *state;
	const struct change c = change_of(w, "1\n2\n3\n", "1\n3\n4\n5\n");
	_cleanup_content_ struct content content;

	assert_int_equal(content_read(&w->view, &c, -1, &content), 0);
	assert_int_equal(content.kind, CONTENT_TEXT);
	assert_int_equal(content.diff.added, 2);
	assert_int_equal(content.diff.removed, 1);
	assert_false(content.crlf);
}

static void one_side_alone(void **state)
{
	const struct world *w = *state;
	const struct change c = change_of(w, NULL, "1\r\n2\r\n");
	_cleanup_content_ struct content content;

	assert_int_equal(content_read(&w->view, &c, -1, &content), 0);
	assert_int_equal(content.kind, CONTENT_TEXT);
	assert_int_equal(content.diff.added, 2);
	assert_int_equal(content.diff.removed, 0);
	assert_true(content.crlf);
	assert_null(content.type[CHANGE_BEFORE]);
	assert_string_equal(content.type[CHANGE_AFTER], "text");
}

static void a_file_that_is_gone(void **state)
{
	const struct world *w = *state;
	const struct change c = change_of(w, "1\n", NULL);
	_cleanup_content_ struct content content;

	assert_int_equal(content_read(&w->view, &c, -1, &content), 0);
	assert_int_equal(content.kind, CONTENT_TEXT);
	assert_int_equal(content.diff.removed, 1);
}

/* What is to land is shown, not the layer's file. */
static void what_lands_instead(void **state)
{
	const struct world *w = *state;
	const struct change c = change_of(w, "1\n", "2\n");
	_cleanup_fd_ int instead = memfd_create("instead", MFD_CLOEXEC);
	_cleanup_content_ struct content content;

	assert_int_equal(fd_write_all(instead, "1\n9\n", 4), 0);
	assert_int_equal(content_read(&w->view, &c, instead, &content), 0);
	assert_int_equal(content.diff.added, 1);
	assert_int_equal(content.diff.removed, 0);
}

static void data_is_told_by_its_kind(void **state)
{
	const struct world *w = *state;
	struct change c = change_of(w, "text\n", "x");
	_cleanup_content_ struct content content;

	grow(w, &c, 100);
	assert_int_equal(content_read(&w->view, &c, -1, &content), 0);
	assert_int_equal(content.kind, CONTENT_BINARY);
	assert_non_null(content.type[CHANGE_AFTER]);
	assert_string_not_equal(content.type[CHANGE_AFTER], "text");
}

/* A shell runs a script up to a NUL and behind it, so it is shown, however many there are. */
static void a_script_is_shown_with_its_zeros(void **state)
{
	const struct world *w = *state;
	struct change c = change_of(w, NULL, "#!/bin/sh\nrun\n");
	_cleanup_content_ struct content content;

	grow(w, &c, 1000);
	assert_int_equal(content_read(&w->view, &c, -1, &content), 0);
	assert_int_equal(content.kind, CONTENT_TEXT);
}

/* One zero does not make data of what was a text; of something new, or of many, it does. */
static void a_zero_in_a_text_is_shown(void **state)
{
	static const char text[] = "a line of a text that is long enough\n";
	const struct world *w = *state;
	struct change c = change_of(w, "old text\n", text);

	for (int few = 1; few >= 0; few--) {
		_cleanup_content_ struct content content;

		grow(w, &c, (off_t)strlen(text) + (few ? 1 : 9));
		assert_int_equal(content_read(&w->view, &c, -1, &content), 0);
		assert_int_equal(content.kind, few ? CONTENT_TEXT : CONTENT_BINARY);
	}
	_cleanup_content_ struct content content;

	grow(w, &c, (off_t)strlen(text) + 1);
	c.kind = CHANGE_ADDED;
	c.before = (struct object){.type = OBJECT_ABSENT};
	assert_int_equal(content_read(&w->view, &c, -1, &content), 0);
	assert_int_equal(content.kind, CONTENT_BINARY);
}

static void what_has_nothing_to_show(void **state)
{
	const struct world *w = *state;
	struct change c = change_of(w, "1\n", "2\n");
	const unsigned int kinds[] = {CHANGE_RENAMED, CHANGE_MODE};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(kinds); i++) {
		_cleanup_content_ struct content content;

		c.kind = kinds[i];
		assert_int_equal(content_read(&w->view, &c, -1, &content), 0);
		assert_int_equal(content.kind, CONTENT_NONE);
	}
	_cleanup_content_ struct content content;

	c.kind = CHANGE_CHANGED;
	c.before.type = c.after.type = OBJECT_DIR;
	assert_int_equal(content_read(&w->view, &c, -1, &content), 0);
	assert_int_equal(content.kind, CONTENT_NONE);
}

/* Another file than the one that was looked at is not shown for it. */
static void another_file_by_now(void **state)
{
	const struct world *w = *state;
	struct change c = change_of(w, "1\n", "2\n");
	_cleanup_content_ struct content content;

	c.after.ino++;
	assert_int_equal(content_read(&w->view, &c, -1, &content), 0);
	assert_int_equal(content.kind, CONTENT_UNREADABLE);
}

static void what_is_large_is_told_by_its_size(void **state)
{
	const struct world *w = *state;
	struct change c = change_of(w, "1\n", "#!/bin/sh\n");
	_cleanup_content_ struct content content;

	grow(w, &c, CONTENT_TEXT_MAX + 1);
	assert_int_equal(content_read(&w->view, &c, -1, &content), 0);
	assert_int_equal(content.kind, CONTENT_LARGE);
}

static void two_texts(void **state)
{
	static const struct {
		const char *before, *after;
		size_t added, removed;
		bool crlf;
	} rows[] = {
		{"a\r\nb\r\n", "a\r\nc\r\n", 1, 1, true},
		{"a\r\n", "a\n", 1, 1, false},
		{"a\n", "a\r\n", 1, 1, false},
		{"", "", 0, 0, false},
		{"a\r\nb", "a\r\nb\r\n", 1, 1, false},
		{"", "\r\n", 1, 0, true},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_content_ struct content content;

		assert_int_equal(content_of_texts(rows[i].before, rows[i].after, &content), 0);
		assert_int_equal(content.kind, CONTENT_TEXT);
		assert_int_equal(content.diff.added, rows[i].added);
		assert_int_equal(content.diff.removed, rows[i].removed);
		assert_int_equal(content.crlf, rows[i].crlf);
	}
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		ONE(lines_that_differ),         ONE(one_side_alone),
		ONE(a_file_that_is_gone),       ONE(what_lands_instead),
		ONE(data_is_told_by_its_kind),  ONE(a_script_is_shown_with_its_zeros),
		ONE(a_zero_in_a_text_is_shown), ONE(what_has_nothing_to_show),
		ONE(another_file_by_now),       ONE(what_is_large_is_told_by_its_size),
		cmocka_unit_test(two_texts),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
