/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a text, one after the other, each with its key and the word before it.  A word is
 * what is between blanks, quotes and similar signs.  hold_words.c knows what it names.
 */
#include "hold_word.h"

#include "str.h"

enum { WORDS_BLANK = '\1' };

/* Words before a module of Perl. */
static const char *const words_perls[] = {"use", "require", NULL};
/* Programs that run a file of any name. */
static const char *const words_runners[] = {
	"sh",   "bash", "dash", "ksh",  "zsh",  "fish", "source",
	"exec", "env",  "node", "ruby", "perl", NULL,
};
/* Programs that run the package in a folder: node . */
static const char *const words_dots[] = {
	"node", "nodejs", "bun", "tsx", "ts-node", "npx", "bunx", NULL,
};

bool hold_word_has(const char *const *names, const char *name)
{
	while (names && *names && !str_equal(*names, name))
		names++;
	return names && *names;
}

bool hold_word_is_runner(const char *program)
{
	return hold_word_has(words_runners, program);
}

bool hold_word_is_perl(const char *word)
{
	return hold_word_has(words_perls, word);
}

void hold_word_name(char into[HOLD_WORD_NAME_MAX], const char *word, size_t len, bool key)
{
	into[0] = '\0';
	if (len >= HOLD_WORD_NAME_MAX)
		return;
	for (size_t i = 0; i <= len; i++) {
		char c = i < len ? word[i] : '\0';

		if (key)
			c = (char)(c == '_' ? '-' : c >= 'A' && c <= 'Z' ? c | 0x20 : c);
		into[i] = c;
	}
	/* build.rustc-wrapper */
	char *dot = key ? strrchr(into, '.') : NULL;

	if (dot)
		memmove(into, dot + 1, strlen(dot));
}

/* The word that ends at `end` may be a key, by what follows. */
static bool words_is_key(struct span text, size_t end)
{
	if (end < text.len && strchr("\"'", text.ptr[end]))
		end++;
	while (end < text.len && (text.ptr[end] == ' ' || text.ptr[end] == '\t'))
		end++;
	return end < text.len &&
	       (text.ptr[end] == ':' ||
		(text.ptr[end] == '=' && (end + 1 == text.len || text.ptr[end + 1] != '=')));
}

/* Notes what this word says about the next ones. */
static void words_mark(struct words *w)
{
	const char *slash = strrchr(w->bare, '/');
	const char *program = slash ? slash + 1 : w->bare;

	w->python = w->python || str_after(program, "python") || str_after(program, "pypy");
	/* Arguments can come before their command. */
	if (str_equal(w->bare, "run") &&
	    (str_equal(w->before, "go") || (str_equal(w->key, "args") && w->text.len > 0 &&
					    memmem(w->text.ptr, w->text.len, "\"go\"", 4))))
		w->go = true;
	if (str_equal(w->before, "from"))
		hold_word_name(w->from, w->bare, strlen(w->bare), false);
	else if (!str_equal(w->bare, "import") && !str_equal(w->before, "import"))
		w->from[0] = '\0';
}

/* "$(x)"/y, ${x}/y, `x`/y, "$x"/y */
static bool words_is_glued(struct span text, size_t at)
{
	if (at == 0 || at >= text.len || text.ptr[at] != '/')
		return false;
	bool quoted = at > 1 && (text.ptr[at - 1] == '"' || text.ptr[at - 1] == '\'');
	uint8_t c = text.ptr[at - 1 - quoted];

	return c == ')' || c == '}' || c == '`' ||
	       (quoted && (c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
			   (c >= 'a' && c <= 'z')));
}

/* A comma is before it. */
static bool words_is_listed(struct span text, size_t at)
{
	while (at > 0 && text.ptr[at - 1] == ' ')
		at--;
	return at > 0 && text.ptr[at - 1] == ',';
}

/* The word is only signs of JSON: "a":["b"]. */
static bool words_is_signs(struct span text, size_t at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr("[]:", text.ptr[at + i]))
			return false;
	return true;
}

/* A name of one letter counts behind a word that loads or runs a file. */
static bool words_is_letter(const struct words *w, size_t at)
{
	const char *slash = strrchr(w->bare, '/');
	const char *program = slash ? slash + 1 : w->bare;
	uint8_t c = w->text.ptr[at] | 0x20;

	/* node .; go run .; npx . */
	if (w->text.ptr[at] == '.')
		return w->go || hold_word_has(words_dots, program);
	/* npm t, npm run a */
	return c >= 'a' && c <= 'z' &&
	       (hold_says_npm(w->text, at) || str_equal(w->bare, "import") ||
		str_equal(w->bare, "from") || str_equal(w->bare, "-m") ||
		hold_word_is_perl(w->bare) || hold_word_is_runner(program) ||
		str_after(program, "python") ||
		(str_equal(w->before, "import") && words_is_listed(w->text, at)));
}

/* The key is one of the settings, and not of a command in them: "a":, a = */
static bool words_is_setting(struct span text, size_t at, size_t end)
{
	if (hold_code_is_string(text, at, end))
		return true;
	while (at > 0 &&
	       (text.ptr[at - 1] == ' ' || text.ptr[at - 1] == '\t' || text.ptr[at - 1] == '-'))
		at--;
	return at == 0 || text.ptr[at - 1] == '\n';
}

bool hold_word_next(struct words *w)
{
	static const char between[] = " \t\r\n\"'`;|&()<>${}=,!";
	size_t at, len;

	do {
		at = w->at;
		len = 0;
		if (at >= w->text.len)
			return false;
		while (at + len < w->text.len && w->text.ptr[at + len] &&
		       !strchr(between, w->text.ptr[at + len]))
			len++;
		w->at = at + len + 1;
	} while (len == 0 || (len == 1 && !words_is_letter(w, at)) || len >= sizeof(w->word) ||
		 words_is_signs(w->text, at, len));
	/* import a, b; "command": "go", "args": ["run"] */
	if (!(str_equal(w->before, "import") && words_is_listed(w->text, at)) &&
	    !(w->is_key && (str_equal(w->key, "args") || str_equal(w->key, "arguments"))))
		hold_word_name(w->before, w->bare, strlen(w->bare), false);
	memcpy(w->word, w->text.ptr + at, len);
	w->word[len] = '\0';
	w->start = at;
	w->blank = strchr(w->word, WORDS_BLANK);
	for (char *blank = w->word; (blank = strchr(blank, WORDS_BLANK));)
		*blank = ' ';
	size_t skip = strspn(w->word, "[");
	bool last = at + len >= w->text.len;
	/* "a:$B" is not a key. */
	bool key = w->word[len - 1] == ':' ? last || w->text.ptr[at + len] != '$'
					   : words_is_key(w->text, at + len);

	memcpy(w->bare, w->word + skip, len + 1 - skip);
	len -= skip;
	while (len > 0 && strchr("]:", w->bare[len - 1]))
		w->bare[--len] = '\0';
	w->is_key = key;
	if (key)
		hold_word_name(w->key, w->bare, len, true);
	if (key && words_is_setting(w->text, at, at + strlen(w->word)))
		hold_word_name(w->setting, w->bare, len, true);
	w->variable = at > 0 && w->text.ptr[at - 1] == '$';
	w->glued = words_is_glued(w->text, at);
	w->known = w->glued && hold_goes_is_known(w->text, at);
	words_mark(w);
	return true;
}

/* Where the quotation that begins here ends, in its line; 0: it does not.  *ret_blank: it has a
 * blank. */
static size_t words_quoted(struct span text, size_t at, bool *ret_blank)
{
	uint8_t quote = text.ptr[at];

	*ret_blank = false;
	for (size_t i = at + 1; i < text.len && text.ptr[i] != '\n'; i++) {
		if (text.ptr[i] == quote)
			return i;
		*ret_blank = *ret_blank || text.ptr[i] == ' ';
		i += quote == '"' && text.ptr[i] == '\\' && i + 1 < text.len;
	}
	return 0;
}

/* Copies the text with each quoted blank as a letter, and without the quotes around it; false: it
 * has none. */
bool hold_word_join(struct span text, struct buf *into)
{
	bool any = false;

	*into = BUF_INIT(text.len + 1);
	for (size_t i = 0; i < text.len; i++) {
		bool blank = false;
		size_t end = strchr("\"'", text.ptr[i]) && text.ptr[i]
				     ? words_quoted(text, i, &blank)
				     : 0;

		if (blank && end) {
			for (i++; i < end; i++)
				buf_put_char(into,
					     text.ptr[i] == ' ' ? WORDS_BLANK : (char)text.ptr[i]);
		} else if (text.ptr[i] == '\\' && i + 1 < text.len && text.ptr[i + 1] == ' ') {
			buf_put_char(into, WORDS_BLANK);
			blank = true;
			i++;
		} else {
			buf_put_char(into, (char)text.ptr[i]);
		}
		any = any || blank;
	}
	return any && !buf_error(into);
}
