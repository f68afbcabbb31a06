/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_cursor.h"

#include "buf.h"
#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool cursor_take_text(struct reader *r, struct span text)
{
	return span_equal(reader_take(r, text.len), text);
}

/* Takes " name 12", without a leading zero. */
static bool cursor_take(struct reader *r, struct span name, uint64_t *ret)
{
	return cursor_take_text(r, name) && reader_decimal(r, ret);
}

int otlp_cursor_parse(struct span text, struct otlp_cursor *ret)
{
	struct reader r = reader_of(text);
	uint64_t whole = 0;

	if (!cursor_take(&r, SPAN_LITERAL("bawn-sent 1\nseq "), &ret->seq) ||
	    !cursor_take(&r, SPAN_LITERAL(" segment "), &ret->segment) ||
	    !cursor_take(&r, SPAN_LITERAL(" offset "), &ret->offset) ||
	    !cursor_take(&r, SPAN_LITERAL(" refused "), &ret->refused) ||
	    !cursor_take(&r, SPAN_LITERAL(" whole "), &whole) || whole > 1 ||
	    !cursor_take_text(&r, SPAN_LITERAL("\n")) || reader_left(&r) > 0 ||
	    ret->segment > UINT32_MAX)
		return -EBADMSG;
	ret->whole = whole;
	return 0;
}

int otlp_cursor_open(int sent, const char *session, bool create, struct otlp_cursor *ret,
		     struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(OTLP_CURSOR_MAX);

	*ret = OTLP_CURSOR_INIT;
	if (create && mkdirat(sent, session, 0700) < 0 && errno != EEXIST)
		return error_sys(e, -errno, "keeping how far %s was sent", session);
	_cleanup_fd_ int folder = open_beneath(sent, session, O_RDONLY | O_DIRECTORY, 0);

	if (folder < 0)
		return error_sys(e, folder, "looking how far %s was sent", session);
	if (flock(folder, LOCK_EX | LOCK_NB) < 0)
		return error_set(e, -EBUSY, "%s is being sent already", session);
	int r = fd_read_file_at(folder, "cursor", &text);

	if (r < 0 && r != -ENOENT && r != -EMSGSIZE)
		return error_sys(e, r, "looking how far %s was sent", session);
	/* If it cannot be read, we send all again: twice is better than never. */
	if (r < 0 || otlp_cursor_parse(buf_span(&text), ret) < 0)
		*ret = OTLP_CURSOR_INIT;
	ret->folder = TAKE_FD(folder);
	return 0;
}

int otlp_cursor_keep(const struct otlp_cursor *c, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(OTLP_CURSOR_MAX);

	buf_putf(&text,
		 "bawn-sent 1\nseq %" PRIu64 " segment %" PRIu64 " offset %" PRIu64
		 " refused %" PRIu64 " whole %d\n",
		 c->seq, c->segment, c->offset, c->refused, c->whole);
	int r = fd_replace_at(c->folder, "cursor", "cursor.new", buf_span(&text), 0600);

	return r < 0 ? error_sys(e, r, "keeping how far the record was sent") : 0;
}

void otlp_cursor_close(struct otlp_cursor *c)
{
	fd_close(&c->folder);
}
