/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds folders of which a hook runs all files: `for h in "$ROOT"/a/x?`, `run-parts a`, `find a
 * -exec sh {} \;`, os.listdir("a").
 *
 * We cut the text into statements and words as a shell would, and run none of it.  A string in
 * quotes that has blanks, and the inside of a substitution, are statements as well.  We put a word
 * together from its pieces.  A variable is each value that the text gives to it.  The top of the
 * repository, the folder of the hook and the folder where it was started are ".".  A piece that
 * nobody can know stands for anything.  So a word that is not wholly known names all that it could
 * be.
 *
 * Such a word counts where the file that it names is run: in the place of a command, behind a
 * program that runs a file, or where it goes into a variable or a loop from which it is run.
 * `black src/a?` runs none of its files.
 */
#include "hold_parts.h"

#include "str.h"

#include <stdlib.h>

enum {
	ALL_ANY = '\1',  /* a piece that nobody can know */
	ALL_NAME = '\2', /* a variable: its name follows, what is cut off its end, then ALL_END */
	ALL_END = '\3',
	ALL_DEPTH = 6,
	ALL_VALUES = 8, /* how many values of a variable we try */
	ALL_NESTED = 4, /* how deep variables may be in variables */
	ALL_ASKED = 512,
	ALL_STEPS = 1 << 26, /* more than any real hook needs */
};

struct all_word {
	const char *text;
	bool pipe; /* it is the sign of a pipe, not a word */
};

struct all_line {
	size_t from, to; /* its words */
	size_t outer;    /* the statement that it is substituted in; its own number: none */
	bool called;     /* it is in the brackets of a call in code */
	bool ends;       /* a subshell ends before it */
	bool data;       /* it is no command: a string, a document, a pattern of case, a number */
};

struct all_text {
	struct span text;
	size_t outer;
	unsigned int depth;
	bool inner; /* it is the inside of a substitution */
	bool data;
};

struct all_value {
	const char *name, *value;
};

struct all {
	struct arena arena;
	struct all_word *words;
	size_t word_count, word_room;
	struct all_line *lines;
	size_t line_count, line_room;
	struct all_text *texts;
	size_t text_count, text_room;
	struct all_value *values;
	size_t value_count, value_room;
	size_t asked, steps;
	bool no_memory;
	hold_all_found *found;
	void *context;
};

/* Programs that run a file of any name, or the words that they get as arguments. */
static const char *const all_runners[] = {
	"sh",      "bash",   "dash",   "ksh",       "zsh",       "fish",     "ash",
	"busybox", "source", ".",      "eval",      "node",      "ruby",     "perl",
	"php",     "deno",   "bun",    "tsx",       "run-parts", "parallel", "pwsh",
	"lua",     "tclsh",  "expect", "osascript", "Rscript",   NULL,
};
/* Words that may be before a program. */
static const char *const all_wrappers[] = {
	"exec",   "env",    "nice",   "timeout", "command", "sudo",  "time", "nohup", "then",
	"do",     "else",   "if",     "elif",    "while",   "until", "!",    "{",     "builtin",
	"setsid", "stdbuf", "ionice", "xargs",   "coproc",  "flock", NULL,
};
static const char *const all_listers[] = {"find", "ls", "run-parts", "fd", "fdfind", "tree",
					  "dir",  "rg", "grep",      "ag", "ack",    NULL};
static const char *const all_declares[] = {"export",  "local",   "readonly",
					   "declare", "typeset", NULL};
/* Keys of settings whose value is a command. */
static const char *const all_commands[] = {"run:",     "command:", "cmd:",  "entry:", "script:",
					   "scripts:", "exec:",    "args:", "shell:", NULL};

static bool all_has(const char *const *names, const char *name)
{
	while (*names && !str_equal(*names, name))
		names++;
	return *names;
}

static const char *all_last(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash ? slash + 1 : word;
}

static bool all_is_runner(const char *word)
{
	const char *last = all_last(word);

	return all_has(all_runners, last) || str_after(last, "python") || str_after(last, "pypy");
}

static bool all_is_open(const char *word)
{
	return strpbrk(word, "\1\2");
}

/* --- cutting it up ------------------------------------------------------------------------ */

static void *all_room(struct all *a, void *items, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return items;
	size_t more = *room ? *room * 2 : 64;
	void *grown = reallocarray(items, more, size);

	a->no_memory = a->no_memory || !grown;
	if (grown)
		*room = more;
	return grown;
}

static void all_put_text(struct all *a, struct span text, size_t outer, unsigned int depth,
			 bool inner, bool data)
{
	if (depth > ALL_DEPTH || text.len == 0)
		return;
	void *grown = all_room(a, a->texts, a->text_count, &a->text_room, sizeof(*a->texts));

	if (!grown)
		return;
	a->texts = grown;
	a->texts[a->text_count++] = (struct all_text){text, outer, depth, inner, data};
}

static void all_put_word(struct all *a, struct buf *word, bool pipe)
{
	void *grown = all_room(a, a->words, a->word_count, &a->word_room, sizeof(*a->words));
	const char *text = pipe        ? "|"
			   : word->len ? arena_strn(&a->arena, word->ptr, word->len)
				       : "";

	if (!grown)
		return;
	a->words = grown;
	a->no_memory = a->no_memory || !text || buf_error(word);
	if (!a->no_memory)
		a->words[a->word_count++] = (struct all_word){text, pipe};
}

static void all_put_value(struct all *a, const char *name, size_t len, const char *value)
{
	void *grown = all_room(a, a->values, a->value_count, &a->value_room, sizeof(*a->values));

	if (!grown)
		return;
	a->values = grown;
	const char *kept = arena_strn(&a->arena, name, len);

	a->no_memory = a->no_memory || !kept;
	if (kept)
		a->values[a->value_count++] = (struct all_value){kept, value};
}

static bool all_is_letter(uint8_t c)
{
	return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Where the bracket that is open at `at` is closed; the end of the text: nowhere. */
static size_t all_close(struct span text, size_t at, char open, char close)
{
	size_t depth = 0;

	for (; at < text.len; at++) {
		if (text.ptr[at] == '\\')
			at++;
		else if (text.ptr[at] == (uint8_t)open && open != close)
			depth++;
		else if (text.ptr[at] == (uint8_t)close && (open == close || --depth == 0))
			return at;
	}
	return text.len;
}

/* The string that follows is a script: sh -c "a b", eval "a b", run: "a b". */
static bool all_is_script(const struct all *a)
{
	const char *before = a->word_count ? a->words[a->word_count - 1].text : "";

	return str_equal(before, "-c") || str_equal(before, "eval") ||
	       all_has(all_commands, before);
}

/* Adds the inside of a quoted string as a text with statements of its own. */
static void all_quoted(struct all *a, struct span inside, const struct all_text *t, bool escapes)
{
	bool blank = false;

	for (size_t i = 0; i < inside.len && !blank; i++)
		blank = strchr(" \t\n;|&", inside.ptr[i]) && inside.ptr[i];
	if (!blank || t->depth >= ALL_DEPTH)
		return;
	char *copy = arena_alloc(&a->arena, inside.len + 1);
	size_t len = 0;

	a->no_memory = a->no_memory || !copy;
	for (size_t i = 0; copy && i < inside.len; i++) {
		if (escapes && inside.ptr[i] == '\\' && i + 1 < inside.len) {
			i++;
			copy[len++] = (char)(inside.ptr[i] == 'n' ? '\n' : inside.ptr[i]);
		} else {
			copy[len++] = (char)inside.ptr[i];
		}
	}
	if (copy)
		all_put_text(a, (struct span){(const uint8_t *)copy, len}, a->line_count,
			     t->depth + 1, false, t->data || !all_is_script(a));
}

/* Puts what follows the $ at `at` into the word.  Returns where it ends. */
static size_t all_dollar(struct all *a, const struct all_text *t, size_t at, struct buf *word)
{
	struct span text = t->text;
	size_t from = at + 1, end;

	if (from >= text.len) {
		buf_put_char(word, '$');
		return from;
	}
	if (text.ptr[from] == '(') {
		end = all_close(text, from, '(', ')');
		/* $((a + 1)) */
		bool number = from + 1 < text.len && text.ptr[from + 1] == '(';

		all_put_text(a, (struct span){text.ptr + from + 1, end - from - 1}, a->line_count,
			     t->depth + 1, true, t->data || number);
		buf_put_char(word,
			     end < text.len && hold_goes_is_known(text, end + 1) ? '.' : ALL_ANY);
		return end + 1;
	}
	bool brace = text.ptr[from] == '{';

	from += brace;
	end = from;
	while (end < text.len && all_is_letter(text.ptr[end]))
		end++;
	/* $@, $*, $0 */
	end += end == from && end < text.len && strchr("@*#?!", text.ptr[end]) && text.ptr[end];
	size_t close = brace ? all_close(text, from - 1, '{', '}') : end;
	size_t behind = end < close ? close - end : 0;
	const char *rest = (const char *)text.ptr + end;
	struct span name = {text.ptr + from, end - from};
	size_t sign = behind > 1 && rest[0] == ':';

	/* ${A:-x}, ${A-x}: x is a value of A, too. */
	if (behind > sign + 1 && strchr("-=+", rest[sign])) {
		const char *other = arena_strn(&a->arena, rest + sign + 1, behind - sign - 1);

		a->no_memory = a->no_memory || !other;
		if (other && !strpbrk(other, "$`"))
			all_put_value(a, (const char *)name.ptr, name.len, other);
		behind = 0;
	}
	/* ${a[@]} */
	behind = behind && rest[0] == '[' ? 0 : behind;
	if (name.len == 0 || (behind && rest[0] != '%') || (behind && memchr(rest, '#', behind))) {
		buf_put_char(word, ALL_ANY);
	} else if (span_equal(name, SPAN_LITERAL("PWD")) ||
		   (span_equal(name, SPAN_LITERAL("0")) && behind)) {
		buf_put_char(word, '.');
	} else if (span_equal(name, SPAN_LITERAL("HOME"))) {
		buf_put_char(word, '~');
	} else {
		/* All arguments are one variable, "@". */
		bool argument = strchr("123456789@*", name.ptr[0]);

		buf_put_char(word, ALL_NAME);
		buf_put(word, argument ? (const uint8_t *)"@" : name.ptr, argument ? 1 : name.len);
		/* ${a%.in} */
		buf_put(word, rest, behind);
		buf_put_char(word, ALL_END);
	}
	return close + brace;
}

/* Puts one quoted string into the word.  Returns where it ends. */
static size_t all_quote(struct all *a, const struct all_text *t, size_t at, struct buf *word)
{
	struct span text = t->text;
	uint8_t quote = text.ptr[at];
	size_t from = at + 1;

	for (at = from; at < text.len && text.ptr[at] != quote;) {
		uint8_t c = text.ptr[at];

		if (quote == '"' && c == '\\' && at + 1 < text.len) {
			buf_put_char(word, (char)text.ptr[at + 1]);
			at += 2;
		} else if (quote == '"' && c == '$') {
			at = all_dollar(a, t, at, word);
		} else if (quote == '"' && c == '`') {
			size_t end = all_close(text, at + 1, '`', '`');

			all_put_text(a, (struct span){text.ptr + at + 1, end - at - 1},
				     a->line_count, t->depth + 1, true, t->data);
			buf_put_char(word,
				     hold_goes_is_known(text, end + 1 < text.len ? end + 1 : end)
					     ? '.'
					     : ALL_ANY);
			at = end + 1;
		} else {
			buf_put_char(word, (char)c);
			at++;
		}
	}
	at = at < text.len ? at : text.len;
	all_quoted(a, (struct span){text.ptr + from, at - from}, t, quote == '"');
	return at + 1;
}

static void all_end_line(struct all *a, const struct all_text *t, size_t *from, bool called,
			 bool ends)
{
	if (a->word_count > *from && !a->no_memory) {
		void *grown =
			all_room(a, a->lines, a->line_count, &a->line_room, sizeof(*a->lines));

		if (!grown)
			return;
		a->lines = grown;
		a->lines[a->line_count] = (struct all_line){
			*from,  a->word_count, t->inner ? t->outer : a->line_count,
			called, ends,          t->data};
		a->line_count++;
	}
	*from = a->word_count;
}

static size_t all_remark(struct span text, size_t at)
{
	while (at < text.len && text.ptr[at] != '\n')
		at++;
	return at;
}

/* A document that follows: cat <<END.  Its lines are statements as any other, and data. */
struct all_document {
	struct span end; /* the word that ends it; empty: there is none */
	bool inside;
	bool last; /* the line is that word */
};

/* At `at` is a <.  Notes which word ends the document that follows, if one does. */
static void all_document_begins(struct all_document *d, struct span text, size_t at)
{
	size_t len = 0;

	if (d->end.len || at + 2 >= text.len || text.ptr[at + 1] != '<' ||
	    text.ptr[at + 2] == '<' || (at > 0 && text.ptr[at - 1] == '<'))
		return;
	for (at += 2; at < text.len && text.ptr[at] && strchr("- \t\"'\\", text.ptr[at]);)
		at++;
	while (at + len < text.len && all_is_letter(text.ptr[at + len]))
		len++;
	d->end = (struct span){text.ptr + at, len};
}

/* The string that begins here ends in its line. */
static bool all_is_closed(struct span text, size_t at)
{
	uint8_t quote = text.ptr[at++];

	while (at < text.len && text.ptr[at] != quote && text.ptr[at] != '\n')
		at++;
	return at < text.len && text.ptr[at] == quote;
}

/* A line ends before `at`: the document begins there, or goes on, or ends with the line there. */
static void all_document_line(struct all_document *d, struct span text, size_t at)
{
	if (d->last)
		*d = (struct all_document){.inside = false};
	d->inside = d->inside || d->end.len > 0;
	while (at < text.len && text.ptr[at] == '\t')
		at++;
	d->last = d->inside && text.len - at >= d->end.len &&
		  memcmp(text.ptr + at, d->end.ptr, d->end.len) == 0 &&
		  (at + d->end.len == text.len || strchr("\r\n", text.ptr[at + d->end.len]));
}

/* Cuts one text into statements. */
static void all_cut(struct all *a, struct all_text t)
{
	_cleanup_buf_ struct buf word = BUF_INIT(t.text.len + 64);
	size_t from = a->word_count, at = 0;
	bool in_word = false, called = false, ends = false, array = false;
	struct all_document document = {.inside = false};
	bool lists = false; /* the statement has x=(a b) */
	size_t open = 0;

	while (at <= t.text.len && !a->no_memory) {
		uint8_t c = at < t.text.len ? t.text.ptr[at] : '\n';
		bool between = c == '\0' || strchr(" \t\r\n;&|()<>", c);

		if (!between && !(c == '#' && !in_word)) {
			in_word = true;
			if ((c == '"' || c == '\'') &&
			    !(document.inside && !all_is_closed(t.text, at))) {
				at = all_quote(a, &t, at, &word);
			} else if (c == '$') {
				at = all_dollar(a, &t, at, &word);
			} else if (c == '`') {
				size_t end = all_close(t.text, at + 1, '`', '`');

				all_put_text(a, (struct span){t.text.ptr + at + 1, end - at - 1},
					     a->line_count, t.depth + 1, true, t.data);
				buf_put_char(&word,
					     end < t.text.len && hold_goes_is_known(t.text, end + 1)
						     ? '.'
						     : ALL_ANY);
				at = end + 1;
			} else if (c == '\\' && at + 1 < t.text.len) {
				if (t.text.ptr[at + 1] != '\n')
					buf_put_char(&word, (char)t.text.ptr[at + 1]);
				at += 2;
			} else {
				buf_put_char(&word, (char)c);
				at++;
			}
			/* What is not closed ends where the text ends. */
			at = at < t.text.len ? at : t.text.len;
			continue;
		}
		if (c == '#') {
			at = all_remark(t.text, at);
			continue;
		}
		bool glued = in_word;

		array = array ||
			(c == '(' && in_word && word.len > 0 && word.ptr[word.len - 1] == '=');
		lists = lists || array;
		if (in_word)
			all_put_word(a, &word, false);
		buf_clear(&word);
		in_word = false;
		/* x=(a b) */
		if (array) {
			array = c != ')';
		} else if (c == '|' && at + 1 < t.text.len && t.text.ptr[at + 1] != '|' &&
			   (at == 0 || t.text.ptr[at - 1] != '|')) {
			all_put_word(a, &word, true);
		} else if (c == '(' && at > 0 && t.text.ptr[at - 1] == '<') {
			/* done < <(find a) */
			size_t end = all_close(t.text, at, '(', ')');

			all_put_text(a, (struct span){t.text.ptr + at + 1, end - at - 1},
				     a->line_count, t.depth + 1, true, t.data);
			buf_put_char(&word, ALL_ANY);
			all_put_word(a, &word, false);
			buf_clear(&word);
			at = end;
		} else if (strchr("\n;&|()", c) &&
			   !(c == '&' && at > 0 && t.text.ptr[at - 1] == '>')) {
			size_t lines = a->line_count;
			/* case $a in b) */
			bool pattern = c == ')' && open == 0;

			all_end_line(a, &t, &from, called, ends);
			if (a->line_count > lines && !a->no_memory)
				a->lines[lines].data = t.data || pattern || document.inside ||
						       lists || (c == '(' && glued);
			lists = false;
			called = c == '(' && glued;
			/* The bracket of a function can be on the next line. */
			ends = c == ')' || (ends && c == '\n' && a->line_count == lines);
			open += c == '(' ? 1 : c == ')' && !pattern ? (size_t)-1 : 0;
			if (c == '\n')
				all_document_line(&document, t.text, at + 1);
		} else if (c == '<') {
			all_document_begins(&document, t.text, at);
		}
		at++;
	}
	all_end_line(a, &t, &from, called, ends);
}

/* --- what a statement runs ---------------------------------------------------------------- */

static bool all_is_assignment(const char *word)
{
	size_t len = 0;

	while (all_is_letter((uint8_t)word[len]))
		len++;
	len += word[len] == '+';
	return len > 0 && word[len] == '=';
}

/* The program in a part of a pipe, after the words that may be before it; `to`: there is none.
 * *ret_led: a sign of a list or a key that names no command is before it. */
static size_t all_program(const struct all *a, size_t from, size_t to, bool *ret_led)
{
	bool wrapped = false;

	*ret_led = false;
	for (; from < to; from++) {
		const char *word = a->words[from].text;

		if (str_equal(word, "-") || str_ends_with(word, ":")) {
			*ret_led = !all_has(all_commands, word);
			continue;
		}
		if (all_is_assignment(word) || (wrapped && word[0] == '-') ||
		    (wrapped && word[0] >= '0' && word[0] <= '9'))
			continue;
		if (!all_has(all_wrappers, word))
			return from;
		wrapped = true;
	}
	return from;
}

static bool all_is_function(struct all *a, const char *word)
{
	a->steps += a->value_count;
	for (size_t i = 0; i < a->value_count; i++)
		if (a->values[i].name[0] == '(' && str_equal(a->values[i].name + 1, word))
			return true;
	return false;
}

static size_t all_part(const struct all *a, size_t from, size_t to)
{
	while (from < to && !a->words[from].pipe)
		from++;
	return from;
}

static bool all_runs_variable(struct all *a, const char *name, unsigned int depth);

static bool all_says(const char *word, const char *name)
{
	size_t len = strlen(name);

	for (; (word = strchr(word, ALL_NAME)); word++)
		if (strncmp(word + 1, name, len) == 0 &&
		    (word[1 + len] == ALL_END || word[1 + len] == '%'))
			return true;
	return false;
}

/* After find's -exec and after xargs: this word is what runs. */
static bool all_is_given_to_run(const char *word)
{
	return all_is_open(word) || all_is_runner(word) || strstr(word, "{}");
}

/* The words of this part of a pipe are run: by its program, or by what reads from it. */
static bool all_part_runs(struct all *a, size_t from, size_t to, unsigned int depth)
{
	bool led;
	size_t program = all_program(a, from, to, &led);
	bool xargs = false;

	for (size_t i = from; i < program; i++)
		xargs = xargs || str_equal(a->words[i].text, "xargs");
	if (program == to)
		return false;
	const char *word = a->words[program].text;

	if (all_is_runner(word) || all_is_function(a, word) || str_equal(word, "set") ||
	    (xargs && all_is_given_to_run(word)))
		return true;
	/* while read -r a */
	if (str_equal(word, "read") || str_equal(word, "mapfile") || str_equal(word, "readarray")) {
		bool runs = program + 1 == to;

		for (size_t i = program + 1; !runs && i < to; i++)
			runs = a->words[i].text[0] != '-' &&
			       all_runs_variable(a, a->words[i].text, depth + 1);
		return runs;
	}
	/* xargs -I{} sh: the word after a flag that has a value. */
	for (size_t i = program; xargs && i < to; i++)
		if (all_is_runner(a->words[i].text))
			return true;
	bool fd = str_equal(all_last(word), "fd") || str_equal(all_last(word), "fdfind");

	for (size_t i = program; i + 1 < to; i++)
		if ((str_after(a->words[i].text, "-exec") || str_after(a->words[i].text, "-ok") ||
		     str_after(a->words[i].text, "--exec") ||
		     (fd &&
		      (str_equal(a->words[i].text, "-x") || str_equal(a->words[i].text, "-X")))) &&
		    (all_is_given_to_run(a->words[i + 1].text) ||
		     (all_has(all_wrappers, a->words[i + 1].text) && i + 2 < to &&
		      all_is_given_to_run(a->words[i + 2].text))))
			return true;
	return false;
}

/* The words of the statement are run. */
static bool all_line_runs(struct all *a, const struct all_line *l, unsigned int depth)
{
	bool led;

	/* For a substitution: where the outer statement has it. */
	for (unsigned int up = 0;
	     l->outer < a->line_count && l != a->lines + l->outer && up < ALL_DEPTH; up++) {
		const struct all_line *outer = a->lines + l->outer;

		if (all_line_runs(a, outer, depth + 1))
			return true;
		l = outer;
	}
	for (size_t from = l->from; from < l->to;) {
		size_t to = all_part(a, from, l->to);

		if (all_part_runs(a, from, to, depth))
			return true;
		from = to + 1;
	}
	size_t first = l->from;

	while (first < l->to &&
	       (str_equal(a->words[first].text, "do") || str_equal(a->words[first].text, "then") ||
		str_equal(a->words[first].text, "{") || str_ends_with(a->words[first].text, ":") ||
		str_equal(a->words[first].text, "-") ||
		all_has(all_declares, a->words[first].text)))
		first++;
	/* done < <(find a): the loops of the text read it. */
	if (first < l->to && str_equal(a->words[first].text, "done"))
		return first + 1 < l->to;
	if (first + 2 < l->to &&
	    (str_equal(a->words[first].text, "for") || str_equal(a->words[first].text, "select")))
		return all_runs_variable(a, a->words[first + 1].text, depth + 1);
	if (first < l->to && all_is_assignment(a->words[first].text)) {
		char name[64];
		size_t len = strcspn(a->words[first].text, "+=");

		if (len >= sizeof(name))
			return true;
		memcpy(name, a->words[first].text, len);
		name[len] = '\0';
		if (all_program(a, first, l->to, &led) == l->to ||
		    strchr(a->words[first].text, '('))
			return all_runs_variable(a, name, depth + 1);
		/* x=(a b) */
		return a->words[first].text[len + 1] == '\0' &&
		       all_runs_variable(a, name, depth + 1);
	}
	return false;
}

/* The value of the variable is run somewhere.  In doubt the answer is yes. */
static bool all_runs_variable(struct all *a, const char *name, unsigned int depth)
{
	if (depth > ALL_DEPTH || a->asked++ > ALL_ASKED)
		return true;
	a->steps += a->word_count;
	for (size_t i = 0; i < a->line_count; i++) {
		const struct all_line *l = a->lines + i;
		bool led, says = false;

		for (size_t from = l->from; from < l->to;) {
			size_t to = all_part(a, from, l->to);
			size_t program = all_program(a, from, to, &led);

			if (program < to && all_says(a->words[program].text, name))
				return true;
			from = to + 1;
		}
		for (size_t w = l->from; w < l->to && !says; w++)
			says = all_says(a->words[w].text, name);
		if (!says)
			continue;
		/* Do not ask about the variable itself: x=$x/a. */
		const char *first = a->words[l->from].text;
		size_t len = strlen(name);

		if (strncmp(first, name, len) == 0 && first[len] == '=')
			continue;
		if (all_line_runs(a, l, depth + 1))
			return true;
	}
	return false;
}

/* --- the values of its words -------------------------------------------------------------- */

/* The nth value of a variable, or its last when it has fewer; NULL: it has none. */
static const char *all_value(struct all *a, const char *name, size_t len, size_t nth)
{
	const char *found = NULL;
	size_t seen = 0;

	a->steps += a->value_count;

	for (size_t i = 0; i < a->value_count && seen <= nth; i++)
		if (strncmp(a->values[i].name, name, len) == 0 && !a->values[i].name[len]) {
			found = a->values[i].value;
			seen++;
		}
	return found;
}

/* Cuts off the end of a value, which begins at `from`: ${a%.in}, ${a%.*} (from the last dot),
 * ${a%%.*} (from the first).  A pattern of another form leaves it whole. */
static void all_cut_end(struct buf *value, size_t from, struct span cut)
{
	bool most = cut.len > 1 && cut.ptr[1] == '%';
	struct span end = span_skip(cut, 1 + (size_t)most);
	bool rest = end.len > 1 && end.ptr[end.len - 1] == '*';
	size_t len = end.len - rest, at = value->len;

	if (len == 0 || memchr(end.ptr, '*', len) || memchr(end.ptr, '[', len) ||
	    memchr(end.ptr, '?', len) || value->len - from < len)
		return;
	if (!rest && memcmp(value->ptr + value->len - len, end.ptr, len) == 0)
		at = value->len - len;
	for (size_t i = value->len - len + 1; rest && i-- > from && (most || at == value->len);)
		if (memcmp(value->ptr + i, end.ptr, len) == 0)
			at = i;
	value->len = at;
	value->ptr[at] = '\0';
}

/* Expands a word.  `nth` counts two things: its rest by ALL_VALUES is the value of the first
 * variable, its quotient that of the others. */
static void all_expand(struct all *a, const char *word, size_t nth, unsigned int depth,
		       size_t *variables, struct buf *into) /* NOLINT(misc-no-recursion) */
{
	for (; *word; word++) {
		const char *end = *word == ALL_NAME ? strchr(word, ALL_END) : NULL;

		if (!end) {
			buf_put_char(into, *word);
			continue;
		}
		size_t which = (*variables)++ ? nth / ALL_VALUES : nth % ALL_VALUES;
		struct span name = {(const uint8_t *)word + 1, (size_t)(end - word - 1)};
		const uint8_t *sign = memchr(name.ptr, '%', name.len);
		size_t len = sign ? (size_t)(sign - name.ptr) : name.len, from = into->len;
		const char *value = depth < ALL_NESTED ? all_value(a, word + 1, len, which) : NULL;

		if (value)
			all_expand(a, value, nth, depth + 1, variables, into);
		else
			buf_put_char(into, ALL_ANY);
		if (value && sign && buf_error(into) == 0)
			all_cut_end(into, from, span_skip(name, len));
		word = end;
	}
}

/* Makes a pattern of the path: what is not known of a name matches anything.  An unknown beginning
 * is a folder where we look for words anyway.  False: nothing of it is known. */
static bool all_pattern(char *path)
{
	char *to = path, *from = path;

	if (*from == ALL_ANY)
		from += 1 + (from[1] == '/');
	else if (*from == '.' && from[1] == ALL_ANY)
		return false;
	while (*from) {
		/* {a,b}, [ab] */
		char *end = *from == '{'   ? strchr(from, '}')
			    : *from == '[' ? strchr(from, ']')
					   : NULL;
		char c = *from;

		from = end ? end + 1 : from + 1;
		if (end || c == ALL_ANY || c == '?')
			c = '*';
		if (!(c == '*' && to > path && to[-1] == '*' && (to < path + 2 || to[-2] == '*')))
			*to++ = c;
	}
	*to = '\0';
	return *path && !strstr(path, "://");
}

static int all_say(struct all *a, const char *word, enum hold_all_kind kind, bool moved)
{
	char before[PATH_MAX] = "";
	size_t most = 0;
	int r = 0;

	for (size_t nth = 0; r == 0 && nth < (size_t)ALL_VALUES * ALL_VALUES; nth++) {
		if (a->steps > ALL_STEPS)
			return -E2BIG;
		_cleanup_buf_ struct buf path = BUF_INIT(PATH_MAX - 1);
		size_t variables = 0;

		all_expand(a, word, nth, 0, &variables, &path);
		if (buf_error(&path) || path.len == 0)
			return 0;
		char *text = path.ptr;
		bool behind = text[0] == ALL_ANY;
		bool open = strpbrk(text + behind, "*?[{\1");

		/* With one variable all its values were tried.  A value can have variables. */
		most = variables > most ? variables : most;
		if (most < 2 && nth >= ALL_VALUES)
			break;
		if (str_equal(text, before) && most == 0)
			break;
		if (str_equal(text, before))
			continue;
		memcpy(before, text, path.len + 1);
		if (!all_pattern(text) || text[0] == '-')
			continue;
		/* A word that is only an unknown variable could be any file, so we skip it. */
		if (behind && text[strspn(text, "*/")] == '\0')
			continue;
		r = a->found(a->context, text,
			     kind == HOLD_ALL_FILES && !open ? HOLD_ALL_FILE : kind, moved);
		if (!strchr(word, ALL_NAME))
			break;
	}
	return r;
}

/* find a -name "*.sh": the files below a. */
static int all_say_found(struct all *a, size_t program, size_t to, bool moved)
{
	size_t flags = program + 1;
	const char *name = NULL;
	int r = 0;

	while (flags < to && (!strchr("-(!\\", a->words[flags].text[0]) ||
			      (a->words[flags].text[0] == '-' && a->words[flags].text[1] &&
			       strchr("LHP", a->words[flags].text[1]))))
		flags++;
	for (size_t i = flags; i + 1 < to; i++)
		if (str_equal(a->words[i].text, "-name") || str_equal(a->words[i].text, "-iname"))
			name = name ? "*" : a->words[i + 1].text;
	for (size_t i = program + 1; r == 0 && i < flags; i++) {
		const char *word = a->words[i].text;
		const char *below = name ? arena_printf(&a->arena, "%s/**/%s", word, name) : NULL;

		if (name && !below)
			return -ENOMEM;
		if (word[0] != '-')
			r = name ? all_say(a, below, HOLD_ALL_FILES, moved)
				 : all_say(a, word, HOLD_ALL_FOLDER, moved);
	}
	return r;
}

/* Tells `found` the words of a statement whose words are run. */
static int all_say_line(struct all *a, const struct all_line *l, bool moved)
{
	int r = 0;

	for (size_t from = l->from; r == 0 && from < l->to;) {
		size_t to = all_part(a, from, l->to);
		bool led, lists = false;
		size_t program = all_program(a, from, to, &led), end = to;
		const char *last = program < to ? all_last(a->words[program].text) : "";

		lists = all_has(all_listers, last) ||
			(str_equal(last, "git") && program + 1 < to &&
			 (str_equal(a->words[program + 1].text, "ls-files") ||
			  str_equal(a->words[program + 1].text, "grep")));
		if (str_equal(last, "find")) {
			r = all_say_found(a, program, to, moved);
			end = program;
		}
		for (size_t i = from; r == 0 && i < end; i++) {
			const char *word = a->words[i].text;
			const char *value = all_is_assignment(word) ? strchr(word, '=') + 1 : word;

			/* tr '[:upper:]' '[:lower:]' */
			if (strpbrk(value, "/*?[\1\2") && !str_ends_with(word, ":") &&
			    !strstr(value, "[:"))
				r = all_say(a, value, HOLD_ALL_FILES, moved);
			if (r == 0 && lists && i > program && word[0] != '-')
				r = all_say(a, word, HOLD_ALL_FOLDER, moved);
		}
		from = to + 1;
	}
	return r;
}

/* Tells `found` what a word names behind `lead`, in the folder `in`, with this end. */
static int all_say_behind(struct all *a, const char *word, const char *lead, const char *in,
			  const char *end, enum hold_all_kind kind)
{
	const char *rest = str_after(word, lead);
	const char *path = rest ? arena_printf(&a->arena, "%s%s%s", in, rest, end) : NULL;

	if (rest && !path)
		return -ENOMEM;
	return path && *rest ? all_say(a, path, kind, false) : 0;
}

/* cargo run --bin a, --manifest-path a/Cargo.toml; java -cp a B; go run ./a/...; git -c
 * core.hooksPath=a: what these run by their arguments. */
static int all_say_arguments(struct all *a, size_t program, size_t to, bool moved)
{
	const char *last = all_last(a->words[program].text);
	bool cargo = str_equal(last, "cargo"), java = str_equal(last, "java");
	bool runs = false, named = false;
	int r = 0;

	if (!cargo && !java && !str_equal(last, "go") && !str_equal(last, "git"))
		return 0;
	for (size_t i = program + 1; r == 0 && i < to; i++) {
		const char *word = a->words[i].text;
		const char *value = i + 1 < to ? a->words[i + 1].text : "";
		size_t len = strlen(word);

		runs = runs || str_equal(word, "run");
		if (cargo && (str_equal(word, "--bin") || str_equal(word, "--example"))) {
			const char *in = word[2] == 'b' ? "src/bin/" : "examples/";

			named = true;
			r = all_say_behind(a, value, "", in, ".rs", HOLD_ALL_FILES);
			if (r == 0)
				r = all_say_behind(a, value, "", in, "", HOLD_ALL_FOLDER);
		} else if (cargo && str_equal(word, "--manifest-path")) {
			const char *slash = strrchr(value, '/');
			const char *dir =
				slash ? arena_strn(&a->arena, value, (size_t)(slash - value)) : "";

			named = true;
			r = dir ? all_say_behind(a, dir, "", "", "/src", HOLD_ALL_FOLDER) : -ENOMEM;
		} else if (java && (str_equal(word, "-cp") || str_equal(word, "-classpath") ||
				    str_equal(word, "--class-path"))) {
			r = all_say(a, value, HOLD_ALL_FOLDER, moved);
		} else if (str_equal(last, "go") && runs && len > 4 &&
			   str_ends_with(word, "/...")) {
			const char *dir = arena_strn(&a->arena, word, len - 4);

			r = dir ? all_say(a, dir, HOLD_ALL_FOLDER, moved) : -ENOMEM;
		} else if (str_equal(last, "git") && str_equal(word, "-c")) {
			r = all_say_behind(a, value, "core.hooksPath=", "", "", HOLD_ALL_FOLDER);
			if (r == 0)
				r = all_say_behind(a, value, "include.path=", "", "",
						   HOLD_ALL_FILES);
		}
	}
	if (r == 0 && cargo && runs && !named)
		r = all_say(a, "src/main.rs", HOLD_ALL_FILES, moved);
	return r;
}

/* Programs that start the one that follows, and words between them and it. */
static const char *const all_launchers[] = {"bundle", "poetry", "uv",     "uvx",  "pipx",  "pipenv",
					    "hatch",  "pdm",    "rye",    "pixi", "conda", "mise",
					    "asdf",   "devbox", "direnv", NULL};
static const char *const all_between[] = {"run", "exec", "tool", "x", "--", NULL};

static bool all_launches(const char *name)
{
	unsigned int npm = hold_npm_does(span_of_str(name));

	/* Behind `npm` and `yarn` there are scripts as well. */
	return all_has(all_launchers, name) || (npm & HOLD_NPM_STARTS && !(npm & HOLD_NPM_RUNS));
}

/* The name can be that of a program, and is wholly known. */
static bool all_is_name(const char *word)
{
	return ((*word | 0x20) >= 'a' && (*word | 0x20) <= 'z') &&
	       strpbrk(word, "abcdefghijklmnopqrstuvwxyz") &&
	       !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789._-")];
}

/* Tells `found` which program of PATH a part of a pipe starts, and which one that starts. */
static int all_say_program(struct all *a, const struct all_line *l, size_t from, size_t to)
{
	bool led;
	size_t at = all_program(a, from, to, &led);
	bool keyed = from < to && str_ends_with(a->words[l->from].text, ":");

	keyed = keyed || (l->from + 1 < to && str_ends_with(a->words[l->from + 1].text, ":"));
	if (led || l->data || at >= to)
		return 0;
	const char *word = a->words[at].text;
	const char *name = *word == '/' || *word == '~' ? all_last(word) : word;

	if (!all_is_name(name) || all_is_function(a, word) || str_after(word, "/dev/"))
		return 0;
	int r = a->found(a->context, name, HOLD_ALL_PROGRAM, keyed);
	bool module = all_is_runner(name) && at + 1 < to && str_equal(a->words[at + 1].text, "-m");
	size_t next = at + 1 + (size_t)module;

	while (next < to && !module &&
	       (a->words[next].text[0] == '-' || all_has(all_between, a->words[next].text)))
		next++;
	if (r == 0 && next < to && (module || all_launches(name)) &&
	    all_is_name(a->words[next].text))
		r = a->found(a->context, a->words[next].text, HOLD_ALL_PROGRAM, keyed);
	return r;
}

/* Tells `found` what is in the place of a command. */
static int all_say_commands(struct all *a, const struct all_line *l, bool moved)
{
	int r = 0;

	for (size_t from = l->from; r == 0 && from < l->to;) {
		size_t to = all_part(a, from, l->to);
		bool led;
		size_t program = all_program(a, from, to, &led);
		const char *word = program < to ? a->words[program].text : "";

		if (!led && strpbrk(word, "/\2"))
			r = all_say(a, word, HOLD_ALL_FILES, moved);
		if (r == 0)
			r = all_say_program(a, l, from, to);
		if (r == 0 && program < to)
			r = all_say_arguments(a, program, to, moved);
		from = to + 1;
	}
	return r;
}

/* Notes the values of variables, and which functions there are. */
static void all_note(struct all *a)
{
	for (size_t i = 0; i < a->line_count; i++) {
		const struct all_line *l = a->lines + i;
		const struct all_line *next = i + 1 < a->line_count ? l + 1 : NULL;
		size_t at = l->from;

		while (at < l->to && (str_equal(a->words[at].text, "do") ||
				      str_equal(a->words[at].text, "then") ||
				      all_has(all_declares, a->words[at].text)))
			at++;
		bool loop = at + 2 < l->to && str_equal(a->words[at].text, "for");

		for (size_t w = at + 3; loop && w < l->to; w++)
			all_put_value(a, a->words[at + 1].text, strlen(a->words[at + 1].text),
				      a->words[w].text);
		for (size_t w = at; w < l->to && all_is_assignment(a->words[w].text); w++) {
			const char *word = a->words[w].text;
			const char *value = strchr(word, '=') + 1;
			size_t len = strcspn(word, "+=");

			if (*value)
				all_put_value(a, word, len, value);
			/* x=(a b) */
			for (size_t v = w + 1; !*value && v < l->to; v++)
				all_put_value(a, word, len, a->words[v].text);
		}
		/* name() { */
		if (l->to == l->from + 1 && next && next->ends && next->from < next->to &&
		    str_equal(a->words[next->from].text, "{")) {
			char name[64] = "(";
			size_t len = strlen(a->words[l->from].text);

			if (len < sizeof(name) - 1) {
				memcpy(name + 1, a->words[l->from].text, len + 1);
				all_put_value(a, name, len + 1, "");
			}
		}
	}
	/* The arguments of functions, set and sh -c. */
	for (size_t i = 0; i < a->line_count && !a->no_memory; i++) {
		const struct all_line *l = a->lines + i;
		bool led, command = false;
		size_t program = all_program(a, l->from, l->to, &led);
		const char *word = program < l->to ? a->words[program].text : "";

		for (size_t w = program; w < l->to && !command; w++)
			command = str_equal(a->words[w].text, "-c") && all_is_runner(word);
		if (command || str_equal(word, "set") || all_is_function(a, word))
			for (size_t w = program + 1; w < l->to; w++)
				if (!strpbrk(a->words[w].text, " \n"))
					all_put_value(a, "@", 1, a->words[w].text);
	}
}

/* cd to a folder that is written out: sets *moved and tells `found`. */
static int all_goes(struct all *a, const struct all_line *l, bool *moved)
{
	bool led;
	size_t program = all_program(a, l->from, l->to, &led);

	if (program + 1 >= l->to || !(str_equal(a->words[program].text, "cd") ||
				      str_equal(a->words[program].text, "pushd")))
		return 0;
	const char *word = a->words[l->to - 1].text;

	for (size_t i = program + 1; i < l->to; i++)
		if (a->words[i].text[0] != '-') {
			word = a->words[i].text;
			break;
		}
	/* To the top: that is no other folder. */
	if (word[strspn(word, "./\1")] == '\0' || word[0] == '-')
		return 0;
	*moved = true;
	return all_say(a, word, HOLD_ALL_GOES, false);
}

static int all_say_all(struct all *a)
{
	bool moved = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->line_count; i++) {
		const struct all_line *l = a->lines + i;

		if (a->steps > ALL_STEPS)
			return -E2BIG;
		moved = moved && !l->ends;
		if (l->called)
			continue;
		r = all_goes(a, l, &moved);
		if (r == 0 && all_line_runs(a, l, 0))
			r = all_say_line(a, l, moved);
		if (r == 0)
			r = all_say_commands(a, l, moved);
	}
	return r;
}

int hold_all_look(struct span text, hold_all_found *found, void *context)
{
	struct all a = {.found = found, .context = context};
	int r = 0;

	a.arena = ARENA_INIT(text.len * 64 + (1 << 20));
	all_put_text(&a, text, SIZE_MAX, 0, false, false);
	for (size_t i = 0; i < a.text_count && !a.no_memory; i++)
		all_cut(&a, a.texts[i]);
	if (!a.no_memory)
		all_note(&a);
	r = a.no_memory ? -ENOMEM : all_say_all(&a);
	free(a.words);
	free(a.lines);
	free(a.texts);
	free(a.values);
	arena_fini(&a.arena);
	return r;
}
