/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include "fd.h"
#include "parse.h"
#include "str.h"
#include "text.h"

#include <unistd.h>

enum {
	HELP_VERB_COLUMN = 14,
	HELP_OPTION_COLUMN = 28,
	HELP_EXAMPLE_COLUMN = 42,
};

static const char help_what[] =
	"bawn runs a coding agent, or any command, in a sandbox: the box.\n";

static const char help_try[] = "bawn run -- bash\ta shell in the box, in this folder\n"
			       "bawn explain\twhat the box may read, write and reach\n"
			       "bawn doctor\tcan this machine run the sandbox?";

void help_wrap(struct buf *into, const char *text, size_t indent, size_t width)
{
	size_t column = indent;
	bool first = true;

	for (;;) {
		text += strspn(text, " \n");
		size_t len = strcspn(text, " \n");

		if (len == 0)
			return;
		if (!first && column + 1 + len > width) {
			buf_putf(into, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			buf_put_char(into, ' ');
			column++;
		}
		buf_put(into, text, len);
		column += len;
		text += len;
		first = false;
	}
}

/* Lines "left\tright" as two columns; a left part that is too long gets a line of its own. */
static void help_columns(struct buf *into, const char *lines, size_t column)
{
	while (*lines) {
		size_t line = strcspn(lines, "\n");
		size_t left = strcspn(lines, "\t");

		buf_put_str(into, "  ");
		buf_put(into, lines, left);
		if (2 + left + 2 > column)
			buf_putf(into, "\n%*s", (int)column, "");
		else
			buf_putf(into, "%*s", (int)(column - 2 - left), "");
		buf_put(into, lines + left + 1, line - left - 1);
		buf_put_char(into, '\n');
		lines += line + (lines[line] == '\n');
	}
}

void help_first(struct buf *into)
{
	buf_put_str(into, help_what);
	buf_put_str(into, "\nTry first:\n");
	help_columns(into, help_try, HELP_EXAMPLE_COLUMN);
	buf_put_str(into, "\n'bawn --help' lists everything.\n");
}

void help_all(struct buf *into)
{
	_cleanup_buf_ struct buf rows = BUF_INIT(HELP_BYTES_MAX);

	for (size_t i = 0; i < verb_count; i++)
		if (!verbs[i].hidden)
			buf_putf(&rows, "%s\t%s\n", verbs[i].name, verbs[i].summary);
	buf_put_str(into, help_what);
	buf_put_str(into, "\nUsage: bawn VERB [OPTIONS] [ARGUMENT...]\n\n");
	help_columns(into, buf_str(&rows), HELP_VERB_COLUMN);
	buf_put_str(into,
		    "\n'bawn VERB --help' shows the options of a verb; 'man bawn' says more.\n");
	if (buf_error(&rows))
		into->error = buf_error(&rows);
}

void help_verb(struct buf *into, const struct verb *v)
{
	_cleanup_buf_ struct buf rows = BUF_INIT(HELP_BYTES_MAX);

	buf_putf(into, "bawn %s: %s\n\nExamples:\n", v->name, v->summary);
	help_columns(into, v->examples, HELP_EXAMPLE_COLUMN);
	buf_putf(into, "\nUsage: bawn %s %s\n\nOptions:\n", v->name, v->usage);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option *o = &options[i];

		if (!verb_takes(v, o->id))
			continue;
		if (o->letter)
			buf_putf(&rows, "-%c, ", o->letter);
		else
			buf_put_str(&rows, "    ");
		buf_putf(&rows, "--%s%s%s\t%s\n", o->name, o->value ? " " : "",
			 o->value ? o->value : "", o->help);
	}
	help_columns(into, buf_str(&rows), HELP_OPTION_COLUMN);
	if (buf_error(&rows))
		into->error = buf_error(&rows);
	if (!v->hidden)
		buf_putf(into, "\n'man bawn-%s' says more.\n", v->name);
}

int help_print(const struct buf *b)
{
	struct text out = text_open(STDOUT_FILENO);

	if (buf_error(b)) {
		struct error e = ERROR_INIT;

		(void)error_sys(&e, buf_error(b), "writing the help");
		verb_complain(&e);
		return EXIT_BAWN;
	}
	text_write(&out, b);
	return EXIT_OK;
}

void verb_complain(const struct error *e)
{
	struct text t = text_open(STDERR_FILENO);

	text_styled(&t, TEXT_STRONG, "bawn: ");
	text_printf(&t, "%s\n", e->text);
	if (e->next[0])
		text_printf(&t, "%s\n", e->next);
}

bool help_or_run(int argc, char **argv, struct invocation *ret, int *ret_status)
{
	_cleanup_buf_ struct buf help = BUF_INIT(HELP_BYTES_MAX);
	struct error e = ERROR_INIT;

	if (parse_command_line(argc, argv, ret, &e) < 0) {
		verb_complain(&e);
		/* For run and shell the other codes are those of the command, which did not run. */
		*ret_status = argc > 1 && (str_equal(argv[1], "run") || str_equal(argv[1], "shell"))
				      ? EXIT_BAWN
				      : EXIT_USAGE;
		return false;
	}
	if (!invocation_has(ret, OPTION_HELP))
		return true;
	help_verb(&help, ret->verb);
	*ret_status = help_print(&help);
	return false;
}
