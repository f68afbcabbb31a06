/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes manual pages from the tables.  It uses the man macros, and only what every troff and mandoc
 * knows; tests/scenario/manual.sh lints every page.
 */
#include "config.h"
#include "help.h"
#include "parse.h"
#include "str.h"

enum { MAN_WIDTH = 68 }; /* of a source line, before escaping */

/* The day of the version: a page must not depend on the day when it is built. */
static const char man_day[] = "2026-11-15";

static const char man_files[] =
	"~/.config/bawn/config.yaml\tyour own policy; may widen\n"
	"WORKSPACE/.bawn.yaml\tthe policy of a repository; may only narrow\n"
	"/etc/bawn/policy.yaml\tthe administrator's ceiling; exceeding it is an error\n"
	"~/.local/state/bawn\tthe private homes, one for each workspace";

static const char man_variables[] =
	"XDG_CONFIG_HOME, XDG_STATE_HOME\twhere the files above are, when set\n"
	"NO_COLOR\twhen set and not empty, no emphasis is used\n"
	"CLICOLOR_FORCE\twhen set and neither empty nor 0, emphasis is used in pipes too";

static const char man_about[] =
	"bawn runs a coding agent, or any command, in a box on Linux. It needs no root, no daemon "
	"and no account. What the box may do is one plan, made from built-in defaults, a preset, "
	"your "
	"policy, the repository's policy and the command line; 'bawn explain' prints it, the "
	"launcher "
	"applies it, and 'bawn verify' attacks it from inside.\n"
	"\n"
	"The network is closed but for the hosts that are named. Secrets are put into requests on "
	"the "
	"way, so that the box never has them. What the box writes to the folder waits until 'bawn "
	"apply', unless --direct is said. 'bawn log' shows what happened, from a record that "
	"cannot "
	"be cut unnoticed.";

/* Puts text as troff text: no request, no escape, no hyphen to break at. */
static void man_text(struct buf *into, const char *text, size_t len)
{
	bool start = true; /* of an output line: a dot or quote there would be a request */

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (start && (c == '.' || c == '\''))
			buf_put_str(into, "\\&");
		if (c == '-')
			buf_put_str(into, "\\-");
		else if (c == '\\')
			buf_put_str(into, "\\e");
		else if (c == '~')
			buf_put_str(into, "\\(ti");
		else if (c == '\'')
			buf_put_str(into, "\\(aq");
		else
			buf_put_char(into, c);
		start = c == '\n';
	}
}

static void man_str(struct buf *into, const char *text)
{
	man_text(into, text, strlen(text));
}

static void man_sentence(struct buf *into, const char *text, size_t len)
{
	_cleanup_buf_ struct buf sentence = BUF_INIT(HELP_BYTES_MAX);
	_cleanup_buf_ struct buf lines = BUF_INIT(HELP_BYTES_MAX);

	buf_put(&sentence, text, len);
	help_wrap(&lines, buf_str(&sentence), 0, MAN_WIDTH);
	man_str(into, buf_str(&lines));
	buf_put_char(into, '\n');
	if (buf_error(&lines))
		into->error = buf_error(&lines);
}

/* Puts paragraphs that an empty line separates; each sentence begins a line, as troff likes it. */
static void man_paragraphs(struct buf *into, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t len = end ? (size_t)(end - text) : strlen(text);

		for (size_t at = 0; at < len;) {
			const char *stop = memmem(text + at, len - at, ". ", 2);
			size_t n = stop ? (size_t)(stop - text) + 1 - at : len - at;

			man_sentence(into, text + at, n);
			at += n + (stop ? 1 : 0);
		}
		text += len;
		if (end) {
			buf_put_str(into, ".PP\n");
			text += 2;
		}
	}
}

/* Puts lines "term\tmeaning" as a list. */
static void man_list(struct buf *into, const char *lines)
{
	while (*lines) {
		size_t line = strcspn(lines, "\n");
		size_t left = strcspn(lines, "\t");

		buf_put_str(into, ".TP\n\\fB");
		man_text(into, lines, left);
		buf_put_str(into, "\\fR\n");
		man_text(into, lines + left + 1, line - left - 1);
		buf_put_char(into, '\n');
		lines += line + (lines[line] == '\n');
	}
}

static void man_begin(struct buf *into, const char *name, const char *summary)
{
	buf_put_str(into, ".\\\" Made by 'bawn man' from the table of verbs; do not edit.\n.TH ");
	for (const char *c = name; *c; c++)
		buf_put_char(into, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
	buf_putf(into, " 1 %s \"bawn %s\" \"User Commands\"\n.SH NAME\n", man_day, BAWN_VERSION);
	man_str(into, name);
	buf_put_str(into, " \\- ");
	man_str(into, summary);
	buf_put_str(into, "\n.SH SYNOPSIS\n");
}

/* Puts which words a value may be, when there is a list of them. */
static void man_words(struct buf *into, const struct option *o)
{
	const char *words[OPTION_WORDS_MAX];
	size_t count = option_words(o, words);

	if (count == 0 || !o->value)
		return;
	buf_putf(into, "%s is one of", strchr(o->value, '=') ? "NAME" : o->value);
	for (size_t i = 0; i < count; i++) {
		buf_put_str(into, i == 0 ? "\n" : i + 1 < count ? ",\n" : "\nand\n");
		buf_put_str(into, "\\fB");
		man_str(into, words[i]);
		buf_put_str(into, "\\fR");
	}
	buf_put_str(into, ".\n");
}

static void man_option(struct buf *into, const struct option *o)
{
	buf_put_str(into, ".TP\n");
	if (o->letter)
		buf_putf(into, "\\fB\\-%c\\fR, ", o->letter);
	buf_put_str(into, "\\fB\\-\\-");
	man_str(into, o->name);
	buf_put_str(into, "\\fR");
	if (o->value) {
		buf_put_str(into, " \\fI");
		man_str(into, o->value);
		buf_put_str(into, "\\fR");
	}
	buf_put_char(into, '\n');
	/* A list entry is a sentence: "let it also read PATH" becomes "Let it also read PATH." */
	buf_put_char(into, (char)(o->help[0] - 'a' + 'A'));
	man_str(into, o->help + 1);
	buf_putf(into, ".\n%s", o->repeats ? "May be given more than once.\n" : "");
	man_words(into, o);
}

static void man_see_also(struct buf *into, const struct verb *but)
{
	buf_put_str(into, ".SH SEE ALSO\n");
	if (but)
		buf_put_str(into, ".BR bawn (1)");
	for (size_t i = 0, n = but ? 1 : 0; i < verb_count; i++) {
		if (verbs[i].hidden || &verbs[i] == but)
			continue;
		buf_putf(into, "%s.BR bawn\\-%s (1)", n++ ? ",\n" : "", verbs[i].name);
	}
	buf_put_str(into, ",\n.BR bawn\\-policy (5)\n");
}

void man_verb(struct buf *into, const struct verb *v)
{
	_cleanup_buf_ struct buf name = BUF_INIT(64);

	buf_putf(&name, "bawn-%s", v->name);
	man_begin(into, buf_str(&name), v->summary);
	buf_putf(into, "\\fBbawn %s\\fR ", v->name);
	man_str(into, v->usage);
	buf_put_str(into, "\n.SH DESCRIPTION\n");
	man_paragraphs(into, v->description);
	buf_put_str(into, ".SH OPTIONS\n");
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (verb_takes(v, options[i].id))
			man_option(into, &options[i]);
	buf_put_str(into, ".SH EXIT STATUS\n");
	man_list(into, v->exits);
	buf_put_str(into, ".SH EXAMPLES\n");
	man_list(into, v->examples);
	man_see_also(into, v);
}

void man_all(struct buf *into)
{
	man_begin(into, "bawn", "run a coding agent in a sandbox");
	buf_put_str(into, "\\fBbawn\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENT\\fR...]\n"
			  ".br\n\\fBbawn \\-\\-help\\fR\n.br\n\\fBbawn \\-\\-version\\fR\n"
			  ".SH DESCRIPTION\n");
	man_paragraphs(into, man_about);
	buf_put_str(into, ".SH VERBS\n");
	for (size_t i = 0; i < verb_count; i++) {
		if (verbs[i].hidden)
			continue;
		buf_putf(into, ".TP\n\\fB%s\\fR ", verbs[i].name);
		man_str(into, verbs[i].usage);
		buf_put_char(into, '\n');
		buf_put_char(into, (char)(verbs[i].summary[0] - 'a' + 'A'));
		man_str(into, verbs[i].summary + 1);
		buf_put_str(into, ".\n");
	}
	buf_put_str(into, ".SH FILES\n");
	man_list(into, man_files);
	buf_put_str(into, ".SH ENVIRONMENT\n");
	man_list(into, man_variables);
	man_see_also(into, NULL);
}
