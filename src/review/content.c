/* SPDX-License-Identifier: Apache-2.0 */
#include "content.h"

#include "fd.h"
#include "sniff.h"

#include <fcntl.h>
#include <unistd.h>

/* One of so many bytes may be no text. */
enum { CONTENT_ODD = 20 };

void content_fini(struct content *c)
{
	buf_fini(&c->bytes[0]);
	buf_fini(&c->bytes[1]);
	arena_fini(&c->arena);
}

/* Shows it as text all the same, with other bytes written out: a shell runs a script up to a NUL
 * and after it, and one NUL does not make a text binary. */
static bool content_is_shown(struct span start, bool was_text)
{
	size_t odd = 0;

	if (start.len >= 2 && memcmp(start.ptr, "#!", 2) == 0)
		return true;
	for (size_t i = 0; i < start.len; i++)
		odd += start.ptr[i] < 0x20 && start.ptr[i] != '\n' && start.ptr[i] != '\t' &&
		       start.ptr[i] != '\r';
	return was_text && odd * CONTENT_ODD <= start.len;
}

/* Reads up to CONTENT_TEXT_MAX bytes; stops at once if it is no text. */
static enum content_kind content_take(int fd, bool was_text, bool force, struct buf *into,
				      const char **ret_type)
{
	char chunk[16 << 10];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return CONTENT_UNREADABLE;
		if (n == 0)
			return CONTENT_TEXT;
		if (into->len == 0) {
			struct span start = {(const uint8_t *)chunk, (size_t)n};

			if (!force && lines_is_binary(start) &&
			    !content_is_shown(start, was_text)) {
				*ret_type = sniff(start);
				return CONTENT_BINARY;
			}
		}
		if (into->len + (size_t)n > CONTENT_TEXT_MAX)
			return CONTENT_LARGE;
		buf_put(into, chunk, (size_t)n);
	}
}

static enum content_kind content_side(const struct view *v, const struct change *c,
				      enum change_side side, int instead, bool was_text, bool force,
				      struct content *ret)
{
	const struct object *o = side == CHANGE_BEFORE ? &c->before : &c->after;

	if (o->type != OBJECT_FILE)
		return CONTENT_TEXT;
	_cleanup_fd_ int fd =
		instead < 0 ? changes_open(v, c, side) : fcntl(instead, F_DUPFD_CLOEXEC, 3);

	ret->type[side] = "text";
	if (instead >= 0 && fd >= 0 && lseek(fd, 0, SEEK_SET) < 0)
		return CONTENT_UNREADABLE;
	return fd < 0 ? CONTENT_UNREADABLE
		      : content_take(fd, was_text, force, &ret->bytes[side], &ret->type[side]);
}

static bool content_is_crlf(const struct lines *l)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct span *s = &l->items[i];

		if (s->len < 2 || s->ptr[s->len - 1] != '\n' || s->ptr[s->len - 2] != '\r')
			return false;
	}
	return true;
}

/* Finds which lines of the two texts differ. */
static int content_compare(struct content *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < 2; i++) {
		if (buf_error(&ret->bytes[i]))
			return buf_error(&ret->bytes[i]);
		r = lines_cut(buf_span(&ret->bytes[i]), &ret->arena, &ret->lines[i]);
	}
	if (r == -E2BIG) {
		ret->kind = CONTENT_LARGE;
		return 0;
	}
	if (r == 0)
		r = linediff(&ret->lines[0], &ret->lines[1], &ret->arena, &ret->diff);
	ret->crlf = r == 0 && ret->lines[0].count + ret->lines[1].count > 0 &&
		    content_is_crlf(&ret->lines[0]) && content_is_crlf(&ret->lines[1]);
	return r;
}

static int content_read_by(const struct view *v, const struct change *c, int instead, bool force,
			   struct content *ret)
{
	*ret = (struct content){
		.bytes = {BUF_INIT(CONTENT_TEXT_MAX), BUF_INIT(CONTENT_TEXT_MAX)},
		.arena = ARENA_INIT(LINEDIFF_ARENA),
	};
	bool same = c->kind == CHANGE_MODE || (c->kind == CHANGE_RENAMED && !c->edited);

	if (same || (c->before.type != OBJECT_FILE && c->after.type != OBJECT_FILE))
		return 0;
	enum content_kind sides[2] = {content_side(v, c, CHANGE_BEFORE, -1, false, force, ret)};
	bool was_text = c->before.type == OBJECT_FILE && sides[0] == CONTENT_TEXT;

	sides[1] = content_side(v, c, CHANGE_AFTER, instead, was_text, force, ret);

	/* The kinds are in order: the side with less to show decides. */
	ret->kind = sides[0] > sides[1] ? sides[0] : sides[1];
	return ret->kind == CONTENT_TEXT ? content_compare(ret) : 0;
}

int content_read(const struct view *v, const struct change *c, int instead, struct content *ret)
{
	return content_read_by(v, c, instead, false, ret);
}

int content_read_as_text(const struct view *v, const struct change *c, int instead,
			 struct content *ret)
{
	return content_read_by(v, c, instead, true, ret);
}

int content_of_texts(const char *before, const char *after, struct content *ret)
{
	*ret = (struct content){
		.kind = CONTENT_TEXT,
		.bytes = {BUF_INIT(CONTENT_TEXT_MAX), BUF_INIT(CONTENT_TEXT_MAX)},
		.arena = ARENA_INIT(LINEDIFF_ARENA),
	};
	buf_put_str(&ret->bytes[0], before);
	buf_put_str(&ret->bytes[1], after);
	return content_compare(ret);
}
