/* SPDX-License-Identifier: Apache-2.0 */
#include "who_made.h"

#include "fd.h"
#include "made_name.h"
#include "open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	WHO_NAMES = 4096, /* executions that are remembered, by their number */
	WHO_DEPTH = 3,    /* folders that count whatever they are called */
};

struct who_name {
	uint64_t exec;
	char program[MAKERS_NAME_MAX + 1];
};

struct who_made {
	int note;
	const char *inside;
	struct makers *makers;
	struct who_name names[WHO_NAMES];
};

struct who_made *who_made_new(int first, const char *inside)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(MAKERS_BYTES_MAX);
	struct who_made *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->note = open_file(first, MAKERS_NOTE, O_WRONLY | O_CREAT | O_APPEND, 0600);
	w->inside = inside;
	w->makers = makers_new();
	bool read = fd_read_file_at(first, MAKERS_NOTE, &lines) == 0;

	if (w->note < 0 || ftruncate(w->note, 0) < 0 || !w->makers || !read) {
		who_made_free(w);
		return NULL;
	}
	makers_take(w->makers, buf_span(&lines));
	return w;
}

void who_made_free(struct who_made *w)
{
	if (!w)
		return;
	fd_close(&w->note);
	makers_free(w->makers);
	free(w);
}

/* --- names ---------------------------------------------------------------------------- */

static struct span who_last_part(struct span path)
{
	size_t from = path.len;

	while (from > 0 && path.ptr[from - 1] != '/')
		from--;
	return span_skip(path, from);
}

static bool who_is(struct span name, const char *word)
{
	return span_equal(name, span_of_str(word));
}

/* "python3.11" as well. */
static bool who_begins(struct span name, const char *word)
{
	return name.len >= strlen(word) && memcmp(name.ptr, word, strlen(word)) == 0;
}

static bool who_is_interpreter(struct span name)
{
	static const char *const names[] = {"node", "nodejs", "ruby", "perl", "php",
					    "sh",   "bash",   "dash", "zsh"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		if (who_is(name, names[i]))
			return true;
	return who_begins(name, "python");
}

/* Options of Python that have no value. */
static bool who_is_switch(struct span word)
{
	return word.len >= 2 && word.ptr[0] == '-' &&
	       strspn((const char *)word.ptr + 1, "bBdEiIOPqsSuvx") == word.len - 1;
}

static bool who_next(struct span *rest, struct span *ret)
{
	const uint8_t *end = rest->len ? memchr(rest->ptr, '\0', rest->len) : NULL;

	if (!end)
		return false;
	*ret = (struct span){rest->ptr, (size_t)(end - rest->ptr)};
	*rest = span_skip(*rest, ret->len + 1);
	return true;
}

/* The file or module that an interpreter runs; or its own name, where that is not plain. */
static struct span who_script(struct span name, struct span argv)
{
	bool python = who_begins(name, "python");
	struct span word;

	if (!who_next(&argv, &word))
		return name;
	while (who_next(&argv, &word) && word.len > 0) {
		if (word.ptr[0] != '-')
			return who_last_part(word);
		if (python && who_is_switch(word))
			continue;
		/* -m, -Im */
		if (python && word.ptr[word.len - 1] == 'm' && word.ptr[1] != '-' &&
		    who_next(&argv, &word) && word.len > 0)
			return word;
		break;
	}
	return name;
}

void who_made_name(struct who_made *w, uint64_t exec, struct span path, struct span argv)
{
	if (!w || exec == 0)
		return;
	struct who_name *n = &w->names[exec % WHO_NAMES];
	struct span name = who_last_part(path);

	if (who_is_interpreter(name))
		name = who_script(name, argv);
	size_t len = name.len < MAKERS_NAME_MAX ? name.len : MAKERS_NAME_MAX;

	n->exec = exec;
	if (len)
		memcpy(n->program, name.ptr, len);
	n->program[len] = '\0';
}

/* --- files ---------------------------------------------------------------------------- */

void who_made_add(struct who_made *w, uint64_t exec, struct span path)
{
	size_t inside = w ? strlen(w->inside) : 0, depth = 0;

	if (!w || path.len <= inside + 1 || memcmp(path.ptr, w->inside, inside) != 0 ||
	    path.ptr[inside] != '/')
		return;
	const struct who_name *n = &w->names[exec % WHO_NAMES];
	const char *program = exec && n->exec == exec ? n->program : "";
	struct span below = span_skip(path, inside + 1);

	for (size_t at = 0, end; at < below.len; at = end + 1) {
		const uint8_t *slash = memchr(below.ptr + at, '/', below.len - at);

		if (!slash)
			break;
		end = (size_t)(slash - below.ptr);
		const char *part = (const char *)below.ptr + at;
		bool made = made_by_name(part, end - at) != MADE_NOT;

		if (end - at == strlen(".git") && memcmp(part, ".git", end - at) == 0)
			break;
		if (made || depth < WHO_DEPTH)
			makers_add(w->makers, (struct span){below.ptr, end}, span_of_str(program),
				   1);
		if (made)
			break;
		depth++;
	}
}

int who_made_note(const struct who_made *w)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(MAKERS_BYTES_MAX);

	if (!w)
		return 0;
	makers_put(w->makers, &lines);
	int r = buf_error(&lines);

	if (r == 0)
		r = fd_write_all(w->note, lines.ptr, lines.len);
	/* Half of it would be said of all. */
	if (r < 0 && ftruncate(w->note, 0) < 0)
		return -errno;
	return r;
}
