/* SPDX-License-Identifier: Apache-2.0 */
#include "patch_attributes.h"

#include "fd.h"
#include "git_config.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { CONVERT_FILE_MAX = 1 << 20, CONVERT_WORD_MAX = 512 };

enum convert {
	CONVERT_TEXT = 1 << 0, /* "text", "eol": lines end in LF inside git */
	CONVERT_AUTO = 1 << 1, /* the same if git takes it for text */
	CONVERT_CRLF = 1 << 2, /* and in CR LF outside */
	CONVERT_IDENT = 1 << 3,
	CONVERT_ENCODING = 1 << 4,
	CONVERT_FILTER = 1 << 5,
};

/* --- what the attributes say -------------------------------------------------------------- */

static unsigned int convert_word(const char *word)
{
	static const struct {
		const char *word;
		unsigned int is;
	} words[] = {
		{"text", CONVERT_TEXT},
		{"crlf", CONVERT_TEXT},
		{"text=auto", CONVERT_AUTO},
		{"crlf=auto", CONVERT_AUTO},
		{"crlf=input", CONVERT_TEXT},
		{"eol=lf", CONVERT_TEXT},
		{"eol=crlf", CONVERT_TEXT | CONVERT_CRLF},
		{"ident", CONVERT_IDENT},
	};
	const char *encoding = str_after(word, "working-tree-encoding=");

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words); i++)
		if (str_equal(word, words[i].word))
			return words[i].is;
	if (encoding)
		return strcasecmp(encoding, "utf-8") == 0 || strcasecmp(encoding, "utf8") == 0
			       ? 0
			       : CONVERT_ENCODING;
	return str_after(word, "filter=") ? CONVERT_FILTER : 0;
}

/* The pattern matches the path.  With "**" it may match more than git would. */
static bool convert_matches(const char *pattern, const char *path)
{
	char wide[CONVERT_WORD_MAX];
	const char *name = strrchr(path, '/');
	size_t at = 0;

	if (pattern[0] == '"')
		return true;
	while (str_after(pattern, "**/"))
		pattern += 3;
	if (!strchr(pattern, '/'))
		return fnmatch(pattern, name ? name + 1 : path, 0) == 0;
	pattern += pattern[0] == '/';
	if (!strstr(pattern, "**"))
		return fnmatch(pattern, path, FNM_PATHNAME) == 0;
	for (const char *p = pattern; *p && at < sizeof(wide) - 1;) {
		if (str_after(p, "/**/")) {
			wide[at++] = '*';
			p += 4;
		} else {
			wide[at++] = *p++;
		}
	}
	wide[at] = '\0';
	return fnmatch(wide, path, 0) == 0;
}

/* Takes the next word of a line; false: there are no more.  A word that is too long is cut. */
static bool convert_next(struct span *line, char word[CONVERT_WORD_MAX])
{
	size_t len = 0;

	while (line->len > 0 &&
	       (line->ptr[0] == ' ' || line->ptr[0] == '\t' || line->ptr[0] == '\r'))
		*line = span_skip(*line, 1);
	while (len < line->len && line->ptr[len] != ' ' && line->ptr[len] != '\t' &&
	       line->ptr[len] != '\r')
		len++;
	size_t kept = len < CONVERT_WORD_MAX - 1 ? len : CONVERT_WORD_MAX - 1;

	memcpy(word, line->ptr, kept);
	word[kept] = '\0';
	*line = span_skip(*line, len);
	return len > 0;
}

/* What one file of attributes says about a path below its folder.  We assume a macro on every line
 * that is about the path. */
static unsigned int convert_file(struct span text, const char *path)
{
	unsigned int is = 0, macros = 0;
	bool about = false;

	while (text.len > 0) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		size_t len = end ? (size_t)(end - text.ptr) : text.len;
		struct span line = {text.ptr, len};
		char word[CONVERT_WORD_MAX];

		text = span_skip(text, len + (end != NULL));
		if (!convert_next(&line, word) || word[0] == '#' || word[0] == '!')
			continue;
		bool macro = str_after(word, "[attr]") != NULL;

		if (!macro && !convert_matches(word, path))
			continue;
		about = about || !macro;
		while (convert_next(&line, word))
			*(macro ? &macros : &is) |= convert_word(word);
	}
	return is | (about ? macros : 0);
}

static unsigned int convert_open(int fd, const char *path)
{
	_cleanup_fd_ int file = fd;
	_cleanup_buf_ struct buf text = BUF_INIT(CONVERT_FILE_MAX);

	/* A file that cannot be read may say everything; git reads no link there. */
	if (file < 0)
		return 0;
	return fd_read_all(file, &text) < 0 ? ~0U : convert_file(buf_span(&text), path);
}

/*
 * Asks a file of attributes in the workspace, as the user's folder has it and as the session does.
 */
static unsigned int convert_at(const struct diff *d, const char *attributes, const char *path)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

	return convert_open(open_beneath(d->review->tree, attributes, flags, 0), path) |
	       convert_open(view_openat(&d->view, attributes, flags), path);
}

static unsigned int convert_of(const struct diff *d, const char *path)
{
	unsigned int is =
		convert_at(d, ".git/info/attributes", path) | convert_at(d, ".gitattributes", path);

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		char attributes[PATH_MAX];
		int n = snprintf(attributes, sizeof(attributes), "%.*s/.gitattributes",
				 (int)(at - path), path);

		if (n > 0 && (size_t)n < sizeof(attributes))
			is |= convert_at(d, attributes, at + 1);
	}
	return is;
}

/* --- settings ----------------------------------------------------------------------------- */

static void settings_take(int fd, struct patch_settings *s)
{
	_cleanup_fd_ int file = fd;
	_cleanup_buf_ struct buf text = BUF_INIT(CONVERT_FILE_MAX);
	_cleanup_free_ struct git_config *g = calloc(1, sizeof(*g));

	if (file < 0 || !g || fd_read_all(file, &text) < 0)
		return;
	g->left = buf_span(&text);
	while (git_config_next(g) == 1) {
		if (!str_equal(g->section, "core") || g->has_subsection)
			continue;
		bool input = strcasecmp(g->value, "input") == 0;

		if (str_equal(g->key, "autocrlf") && strcasecmp(g->value, "false") != 0 &&
		    !str_equal(g->value, "0"))
			*(input ? &s->autotext : &s->autocrlf) = true;
		s->eol_crlf = s->eol_crlf ||
			      (str_equal(g->key, "eol") && strcasecmp(g->value, "crlf") == 0);
	}
}

void patch_settings_read(const struct diff *d, struct patch_settings *ret)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	const char *home = d->review->host.home;
	char path[PATH_MAX];

	*ret = (struct patch_settings){.autocrlf = false};
	settings_take(open_beneath(d->review->tree, ".git/config", flags & ~O_CLOEXEC, 0), ret);
	for (size_t i = 0; home && i < 2; i++) {
		int n = snprintf(path, sizeof(path), "%s/%s", home,
				 i ? ".config/git/config" : ".gitconfig");

		if (n > 0 && (size_t)n < sizeof(path))
			settings_take(open(path, flags), ret);
	}
}

/* --- contents ----------------------------------------------------------------------------- */

/* How its lines end. */
struct convert_ends {
	bool lf, crlf, nul;
};

static struct convert_ends convert_ends(const struct span *s)
{
	struct convert_ends ends = {.nul = s->len > 0 && memchr(s->ptr, '\0', s->len)};

	for (size_t i = 0; i < s->len; i++) {
		if (s->ptr[i] != '\n')
			continue;
		bool after = i > 0 && s->ptr[i - 1] == '\r';

		ends.crlf = ends.crlf || after;
		ends.lf = ends.lf || !after;
	}
	return ends;
}

/* How the file is in the patch. */
struct convert_form {
	/* The file goes, and git only reads it: the patch has all its lines, and git leaves their
	 * ends as they are. */
	bool gone;
	bool binary; /* git compares all that it has read with a digest */
};

static const char *convert_side(unsigned int is, const struct span *s,
				const struct convert_form *form)
{
	struct convert_ends ends = convert_ends(s);

	if (is & CONVERT_FILTER)
		return "a filter of git's attributes is for it";
	if (is & CONVERT_ENCODING)
		return "git's attributes give it another encoding";
	if (is & CONVERT_IDENT && s->len > 0 && memmem(s->ptr, s->len, "$Id", 3))
		return "git's attribute ident rewrites its $Id$";
	/* git takes a file with a NUL for no text, unless the attributes say that it is text. */
	if (!(is & CONVERT_TEXT) && (!(is & CONVERT_AUTO) || ends.nul))
		return NULL;
	if ((form->binary && ends.crlf) ||
	    (!form->gone && ends.lf && (is & CONVERT_CRLF || ends.crlf)))
		return "git's attributes rewrite the ends of its lines";
	return NULL;
}

const char *patch_converts(const struct diff *d, const struct patch_settings *s, const char *path,
			   const struct span *const sides[2], bool *ret_apart)
{
	unsigned int is = convert_of(d, path) | (s->autocrlf ? CONVERT_AUTO | CONVERT_CRLF : 0) |
			  (s->autotext ? CONVERT_AUTO : 0);
	const char *why = NULL;

	if (s->eol_crlf && is & (CONVERT_TEXT | CONVERT_AUTO))
		is |= CONVERT_CRLF;
	struct convert_form form = {.gone = !sides[1]};

	for (size_t i = 0; is && i < 2; i++) {
		struct convert_ends ends = {.lf = false};

		if (sides[i])
			ends = convert_ends(sides[i]);
		form.binary = form.binary || ends.nul;
		*ret_apart = *ret_apart || (ends.crlf && is & (CONVERT_TEXT | CONVERT_AUTO));
	}
	for (size_t i = 0; !why && is && i < 2; i++)
		if (sides[i])
			why = convert_side(is, sides[i], &form);
	return why;
}
