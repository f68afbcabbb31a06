/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as git's settings, and as attributes.  A setting that was read is read again, the
 * same, when it is written in the one plain way; a driver that was found stands in the text.
 */
#include "../lib/cut.h"
#include "buf.h"
#include "git_attributes.h"
#include "git_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_quoted(struct buf *b, const char *s, bool is_value)
{
	buf_put_char(b, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_putf(b, "\\%c", *s);
		else if (is_value && *s == '\n')
			buf_put_str(b, "\\n");
		else
			buf_put_char(b, *s);
	}
	buf_put_char(b, '"');
}

static void put_setting(struct buf *b, const struct git_config *g)
{
	buf_putf(b, "[%s", g->section);
	if (g->has_subsection) {
		buf_put_char(b, ' ');
		put_quoted(b, g->subsection, false);
	}
	buf_putf(b, "]\n\t%s", g->key);
	if (g->has_value) {
		buf_put_str(b, " = ");
		put_quoted(b, g->value, true);
	}
	buf_put_char(b, '\n');
}

static void check_again(const struct git_config *g)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1 << 16);
	struct git_config again = {.line = 0};

	put_setting(&b, g);
	CUT_MUST(buf_error(&b) == 0);
	again.left = buf_span(&b);
	CUT_MUST(git_config_next(&again) == 1);
	CUT_MUST(strcmp(g->section, again.section) == 0 && strcmp(g->key, again.key) == 0);
	CUT_MUST(g->has_subsection == again.has_subsection && g->has_value == again.has_value);
	CUT_MUST(strcmp(g->subsection, again.subsection) == 0);
	/* A carriage return before the quote that we add is one no more. */
	CUT_MUST(strcmp(g->value, again.value) == 0);
	CUT_MUST(git_config_next(&again) == 0);
}

static void check_attributes(struct span text)
{
	struct git_attributes a = {.left = text};
	size_t left = text.len + 1;

	while (git_attributes_next(&a)) {
		size_t len = strlen(git_driver_words[a.driver]);

		CUT_MUST(a.left.len < left && a.name.len > 0);
		left = a.left.len;
		CUT_MUST(a.name.ptr >= text.ptr + len + 1 &&
			 a.name.ptr + a.name.len <= text.ptr + text.len);
		CUT_MUST(memcmp(a.name.ptr - len - 1, git_driver_words[a.driver], len) == 0 &&
			 a.name.ptr[-1] == '=');
		CUT_MUST(a.driver != GIT_DRIVER_FILTER ||
			 !git_attributes_is_builtin(a.driver, a.name));
	}
	CUT_MUST(a.left.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct git_config g = {.left = {data, size}};
	int r;

	check_attributes(g.left);
	while ((r = git_config_next(&g)) > 0) {
		CUT_MUST(g.section[0] && g.key[0] && !g.why);
		check_again(&g);
	}
	CUT_MUST((r < 0) == (g.why != NULL) && git_config_next(&g) == r);
	CUT_MUST(r < 0 || g.left.len == 0);
	return 0;
}
