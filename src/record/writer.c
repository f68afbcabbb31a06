/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

#include "fd.h"
#include "seal.h"

#include <unistd.h>

enum { WRITER_FRAMES_MAX = (WRITER_BATCH + 2) * FRAME_MAX };

void writer_init(struct writer *w, int fd, struct hash *key)
{
	memset(w, 0, sizeof(*w));
	w->fd = fd;
	w->event = BUF_INIT(FRAME_EVENT_MAX);
	w->frames = BUF_INIT(WRITER_FRAMES_MAX);
	w->key = *key;
	explicit_bzero(key, sizeof(*key));
}

void writer_fini(struct writer *w)
{
	buf_fini(&w->event);
	buf_fini(&w->frames);
	explicit_bzero(&w->key, sizeof(w->key));
}

struct buf *writer_begin(struct writer *w, const char *kind)
{
	w->event.error = 0;
	buf_clear(&w->event);
	frame_begin(&w->event, &w->clock, w->seq + 1, &w->prev, kind);
	return &w->event;
}

/* Adds the event to chain and tree. */
static int writer_add(struct writer *w)
{
	buf_put_char(&w->event, '}');
	if (w->failed || buf_error(&w->event))
		return w->failed ? w->failed : buf_error(&w->event);
	frame_put(&w->frames, buf_span(&w->event), &w->prev);
	if (buf_error(&w->frames)) {
		w->failed = buf_error(&w->frames);
		return w->failed;
	}
	merkle_add(&w->tree, &w->prev);
	w->seq++;
	return 0;
}

/* How many refusals the event counts.  Texts have every quote escaped, so these bytes can only
 * be the field. */
static uint64_t writer_refused(struct span event)
{
	static const char refused[] = ",\"verdict\":\"refused\"", times[] = ",\"count\":";
	const uint8_t *at = memmem(event.ptr, event.len, refused, sizeof(refused) - 1);
	uint64_t count = 0;

	if (!at)
		return 0;
	struct span rest = span_skip(event, (size_t)(at - event.ptr) + sizeof(refused) - 1);

	if (rest.len < sizeof(times) || memcmp(rest.ptr, times, sizeof(times) - 1) != 0)
		return 1;
	for (size_t i = sizeof(times) - 1;
	     i < rest.len && rest.ptr[i] >= '0' && rest.ptr[i] <= '9' && count < UINT32_MAX; i++)
		count = count * 10 + (uint64_t)(rest.ptr[i] - '0');
	return count;
}

int writer_end(struct writer *w)
{
	int r = writer_add(w);

	if (r < 0)
		return r;
	w->refused += writer_refused(buf_span(&w->event));
	if (++w->waiting < WRITER_BATCH)
		return 0;
	return w->deferred ? writer_flush(w) : writer_commit(w);
}

static int writer_seal(struct writer *w)
{
	struct hash root, mac;
	struct buf *event = writer_begin(w, "seal");

	merkle_root(&w->tree, &root);
	frame_put_hash(event, "root", &root);
	seal_make(&w->key, buf_span(event), &mac);
	frame_put_hash(event, "mac", &mac);
	return writer_add(w);
}

int writer_flush(struct writer *w)
{
	if (w->failed || w->waiting == 0)
		return w->failed;
	int r = writer_seal(w);

	if (r == 0)
		r = fd_write_all(w->fd, w->frames.ptr, w->frames.len);
	if (r < 0) {
		w->failed = r;
		return r;
	}
	w->bytes += w->frames.len;
	buf_clear(&w->frames);
	w->waiting = 0;
	return 0;
}

void writer_synced(struct writer *w, uint64_t seq)
{
	if (seq > w->durable)
		w->durable = seq;
}

int writer_commit(struct writer *w)
{
	int r = writer_flush(w);

	if (r < 0 || w->durable == w->seq)
		return r;
	if (fdatasync(w->fd) < 0) {
		w->failed = -errno;
		return w->failed;
	}
	writer_synced(w, w->seq);
	return 0;
}
