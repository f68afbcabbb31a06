/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_wire.h"

#include "config.h"
#include "fd.h"
#include "host.h"
#include "http_body.h"
#include "http_field.h"
#include "http_reply.h"
#include "str.h"
#include "tls.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum {
	WIRE_READ = 16 << 10,
	WIRE_IN_MAX = 1 << 20,
	WIRE_OUT_MAX = 64 << 20,
	WIRE_TRUST_MAX = 8 << 20,
	WIRE_TRUST_FILES = 8,
	WIRE_GZIP_BITS = 15 + 16,
	WIRE_RETRY_MAX_S = 3600,
};

void otlp_wire_init(struct otlp_wire *w, const struct otlp_settings *settings,
		    struct otlp_clock *clock)
{
	*w = (struct otlp_wire){.settings = settings, .clock = clock, .fd = -1};
	w->in = BUF_INIT(WIRE_IN_MAX);
	w->out = w->packed = BUF_INIT(WIRE_OUT_MAX);
}

static void wire_disconnect(struct otlp_wire *w)
{
	tls_free(w->tls);
	w->tls = NULL;
	fd_close(&w->fd);
	w->read = 0;
	buf_clear(&w->in);
	buf_clear(&w->out);
}

void otlp_wire_fini(struct otlp_wire *w)
{
	wire_disconnect(w);
	tls_world_free(w->world);
	w->world = NULL;
	buf_fini(&w->in);
	buf_fini(&w->out);
	buf_fini(&w->packed);
}

/* --- bytes ---------------------------------------------------------------------------- */

/* Sends all that is in w->out. */
static int wire_flush(struct otlp_wire *w, int64_t deadline)
{
	size_t sent = 0;

	if (buf_error(&w->out))
		return buf_error(&w->out);
	while (sent < w->out.len) {
		ssize_t n = send(w->fd, w->out.ptr + sent, w->out.len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		sent += n > 0 ? (size_t)n : 0;
		int r = n > 0 ? 1 : otlp_clock_wait(w->clock, w->fd, POLLOUT, deadline);

		if (r < 0)
			return r;
	}
	buf_clear(&w->out);
	return 0;
}

/* Reads some bytes from the socket: how many; 0 at its end; or -errno. */
static ssize_t wire_read_raw(struct otlp_wire *w, uint8_t *into, size_t size, int64_t deadline)
{
	for (;;) {
		ssize_t n = recv(w->fd, into, size, 0);

		if (n >= 0)
			return n;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		int r = otlp_clock_wait(w->clock, w->fd, POLLIN, deadline);

		if (r < 0)
			return r;
	}
}

/* Reads some more plain bytes into w->in: how many; 0 at the end; or -errno. */
static ssize_t wire_read(struct otlp_wire *w, int64_t deadline)
{
	uint8_t raw[WIRE_READ], plain[WIRE_READ];
	size_t before = w->in.len;

	while (w->in.len == before && buf_error(&w->in) == 0) {
		ssize_t n = wire_read_raw(w, raw, sizeof(raw), deadline);
		enum tls_state state = TLS_READY;

		if (n <= 0)
			return n;
		if (!w->tls)
			buf_put(&w->in, raw, (size_t)n);
		else
			tls_feed(w->tls, (struct span){raw, (size_t)n});
		while (w->tls && state == TLS_READY && buf_error(&w->in) == 0) {
			size_t len = 0;

			state = tls_read(w->tls, plain, sizeof(plain), &len, &w->out);
			buf_put(&w->in, plain, len);
		}
		if (state == TLS_FAILED)
			return -EPROTO;
		if (state == TLS_CLOSED && w->in.len == before)
			return 0;
	}
	int r = buf_error(&w->in) ? buf_error(&w->in) : wire_flush(w, deadline);

	return r < 0 ? r : (ssize_t)(w->in.len - before);
}

/* --- connecting ----------------------------------------------------------------------- */

static int wire_load_authorities(struct otlp_wire *w, struct error *e)
{
	struct arena arena = ARENA_INIT(1 << 20);
	struct host host = {.environ = NULL};
	struct span authorities[WIRE_TRUST_FILES];
	struct buf files[WIRE_TRUST_FILES];
	const char *one = w->settings->certificate;
	size_t count = 0;
	int r = 0;

	if (!one)
		r = host_gather_trust(&host, &arena, e);
	for (size_t i = 0; r == 0 && i < (one ? 1 : host.trust.count); i++) {
		const char *format = one ? "bundle" : host.trust.items[i].origin;

		if (count == WIRE_TRUST_FILES ||
		    (!str_equal(format, "bundle") && !str_equal(format, "own")))
			continue;
		files[count] = BUF_INIT(WIRE_TRUST_MAX);
		int got = fd_read_file_at(AT_FDCWD, one ? one : host.trust.items[i].path,
					  &files[count]);

		if (got < 0 && one)
			r = error_sys(e, got, "reading the authorities in %s", one);
		authorities[count] = buf_span(&files[count]);
		count++;
	}
	if (r == 0 && tls_world_new(authorities, count, &w->world) < 0)
		r = error_set(e, -ENOMEM, "no memory for TLS");
	for (size_t i = 0; i < count; i++)
		buf_fini(&files[i]);
	arena_fini(&arena);
	if (r == 0 && tls_world_authorities(w->world) == 0)
		r = error_set(e, -EKEYREJECTED,
			      "there is no certificate authority to verify the "
			      "collector with");
	return r;
}

static int wire_handshake(struct otlp_wire *w, int64_t deadline, struct error *e)
{
	const struct otlp_settings *s = w->settings;
	uint8_t raw[WIRE_READ];
	bool certificate = false;

	w->tls = tls_new_client(w->world, s->at.is_address ? NULL : &s->at.name,
				s->at.is_address ? &s->at.address : NULL, s->at.port, false, true);
	if (!w->tls)
		return error_set(e, -ENOMEM, "no memory for TLS");
	for (;;) {
		enum tls_state state = tls_handshake(w->tls, &w->out);
		int r = wire_flush(w, deadline);

		if (state == TLS_READY && r == 0)
			return 0;
		if (state == TLS_FAILED) {
			const char *why = tls_why(w->tls, &certificate);

			return error_set(e, certificate ? -EKEYREJECTED : -EPROTO,
					 "TLS with %s: %s", s->host, why);
		}
		ssize_t n = r < 0 ? r : wire_read_raw(w, raw, sizeof(raw), deadline);

		if (n <= 0)
			return error_sys(e, n < 0 ? (int)n : -ECONNRESET, "TLS with %s", s->host);
		tls_feed(w->tls, (struct span){raw, (size_t)n});
	}
}

static int wire_dial(struct otlp_wire *w, const struct addrinfo *a, int64_t deadline)
{
	int error = 0;
	socklen_t len = sizeof(error);

	w->fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (w->fd < 0)
		return -errno;
	if (connect(w->fd, a->ai_addr, a->ai_addrlen) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	int r = otlp_clock_wait(w->clock, w->fd, POLLOUT, deadline);

	if (r < 0)
		return r;
	return getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 ? -errno : -error;
}

static int wire_connect(struct otlp_wire *w, int64_t deadline, struct error *e)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char port[8];
	int r = -EHOSTUNREACH;

	if (w->settings->tls && !w->world) {
		int ready = wire_load_authorities(w, e);

		if (ready < 0)
			return ready;
	}
	(void)snprintf(port, sizeof(port), "%u", (unsigned int)w->settings->at.port);
	int failure = getaddrinfo(w->settings->host, port, &hints, &found);

	if (failure != 0)
		return error_set(e, -EHOSTUNREACH, "looking up %s: %s", w->settings->host,
				 gai_strerror(failure));
	for (struct addrinfo *a = found; a && r < 0 && r != -ECANCELED; a = a->ai_next) {
		fd_close(&w->fd);
		r = wire_dial(w, a, deadline);
	}
	freeaddrinfo(found);
	if (r < 0)
		return error_sys(e, r, "connecting to %s", w->settings->authority);
	return w->settings->tls ? wire_handshake(w, deadline, e) : 0;
}

/* --- the request ---------------------------------------------------------------------- */

static int wire_pack(struct otlp_wire *w, struct span body)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)body.ptr, .avail_in = (uInt)body.len};
	uint8_t piece[WIRE_READ];
	int r;

	buf_clear(&w->packed);
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WIRE_GZIP_BITS, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		r = deflate(&z, Z_FINISH);
		buf_put(&w->packed, piece, sizeof(piece) - z.avail_out);
	} while (r == Z_OK);
	(void)deflateEnd(&z);
	return r == Z_STREAM_END ? buf_error(&w->packed) : -EIO;
}

static int wire_put(struct otlp_wire *w, struct span bytes)
{
	if (w->tls)
		return tls_write(w->tls, bytes, &w->out);
	buf_put(&w->out, bytes.ptr, bytes.len);
	return buf_error(&w->out);
}

static int wire_send(struct otlp_wire *w, struct span body, int64_t deadline)
{
	const struct otlp_settings *s = w->settings;
	_cleanup_buf_ struct buf head = BUF_INIT(OTLP_SETTINGS_BYTES);

	buf_putf(&head, "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bawn/%s\r\n", s->path,
		 s->authority, BAWN_VERSION);
	for (size_t i = 0; i < s->headers.count; i++)
		buf_putf(&head, "%s: %s\r\n", s->headers.items[i].name, s->headers.items[i].value);
	buf_putf(&head, "Content-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n",
		 s->gzip ? "Content-Encoding: gzip\r\n" : "", body.len);
	int r = buf_error(&head) ? buf_error(&head) : wire_put(w, buf_span(&head));

	if (r == 0)
		r = wire_put(w, body);
	return r < 0 ? r : wire_flush(w, deadline);
}

/* --- the answer ----------------------------------------------------------------------- */

int64_t otlp_retry_after(struct span value, int64_t now_seconds)
{
	char text[64];
	uint64_t seconds;
	struct tm t;

	if (value.len == 0 || value.len >= sizeof(text))
		return -1;
	memcpy(text, value.ptr, value.len);
	text[value.len] = '\0';
	memset(&t, 0, sizeof(t));
	if (str_parse_u64(text, &seconds) < 0) {
		const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &t);

		if (!end || *end)
			return -1;
		int64_t at = timegm(&t);

		seconds = at > now_seconds ? (uint64_t)(at - now_seconds) : 0;
	}
	return (int64_t)(seconds < WIRE_RETRY_MAX_S ? seconds : WIRE_RETRY_MAX_S) * 1000;
}

static struct span wire_field(const struct http_reply *reply, struct span head, const char *name)
{
	for (size_t i = 0; i < reply->field_count; i++)
		if (http_same_word(http_piece_of(head, reply->fields[i].name), name))
			return http_trim(http_piece_of(head, reply->fields[i].value));
	return (struct span){NULL, 0};
}

static struct span wire_unread(const struct otlp_wire *w)
{
	return span_skip(buf_span(&w->in), w->read);
}

/* Reads the body's data; drops what does not fit. */
static int wire_read_body(struct otlp_wire *w, const struct http_reply *reply,
			  struct otlp_answer *ret, int64_t deadline)
{
	enum http_reply_body framing = http_reply_framing(reply, false);
	struct http_head like = {.framing = framing == HTTP_REPLY_CHUNKED ? HTTP_BODY_CHUNKED
									  : HTTP_BODY_LENGTH,
				 .content_length = reply->content_length};
	struct http_body body = http_body_of(&like);
	bool until_close = framing == HTTP_REPLY_UNTIL_CLOSE;

	body.answer = true;
	while (framing != HTTP_REPLY_NONE && (until_close || body.state == FEED_MORE)) {
		struct span in = wire_unread(w), before = in;

		while (in.len > 0 && (until_close || body.state == FEED_MORE)) {
			struct span data = until_close ? in : http_body_take(&body, &in, NULL);

			in = until_close ? span_skip(in, in.len) : in;
			if (data.len <= OTLP_ANSWER_MAX - ret->body.len)
				buf_put(&ret->body, data.ptr, data.len);
		}
		w->read += before.len - in.len;
		if (!until_close && body.state != FEED_MORE)
			break;
		buf_clear(&w->in);
		w->read = 0;
		ssize_t n = wire_read(w, deadline);

		if (n < 0)
			return (int)n;
		if (n == 0)
			return until_close ? 0 : -ECONNRESET;
	}
	return body.state == FEED_BAD ? -EBADMSG : 0;
}

static int wire_read_answer(struct otlp_wire *w, struct otlp_answer *ret, int64_t deadline,
			    bool *ret_keep)
{
	_cleanup_free_ struct http_reply *reply = calloc(1, sizeof(*reply));

	if (!reply)
		return -ENOMEM;
	do {
		enum feed state;

		memset(reply, 0, sizeof(*reply));
		while ((state = http_reply_read(reply, wire_unread(w))) == FEED_MORE) {
			ssize_t n = wire_read(w, deadline);

			if (n <= 0)
				return n < 0 ? (int)n : -ECONNRESET;
		}
		if (state == FEED_BAD)
			return -EBADMSG;
		if (reply->status < 200)
			w->read += reply->len;
	} while (reply->status < 200);
	struct span after = wire_field(reply, wire_unread(w), "retry-after");

	ret->status = reply->status;
	ret->retry_after_ms = otlp_retry_after(after, (int64_t)time(NULL));
	w->read += reply->len;
	*ret_keep = reply->keep_alive && http_reply_framing(reply, false) != HTTP_REPLY_UNTIL_CLOSE;
	return wire_read_body(w, reply, ret, deadline);
}

/* Tries once, on the present connection or a new one. */
static int wire_try(struct otlp_wire *w, struct span body, struct otlp_answer *ret, struct error *e)
{
	int64_t deadline = otlp_clock_now() + (int64_t)w->settings->timeout_ms;
	bool keep = false;
	int r = w->fd >= 0 ? 0 : wire_connect(w, deadline, e);

	if (r < 0) {
		wire_disconnect(w);
		return r;
	}
	w->read = 0;
	buf_clear(&w->in);
	buf_clear(&ret->body);
	r = wire_send(w, body, deadline);
	if (r == 0)
		r = wire_read_answer(w, ret, deadline, &keep);
	if (r < 0 || !keep)
		wire_disconnect(w);
	if (r == -EBADMSG)
		return error_set(e, r, "what answers at %s is no collector",
				 w->settings->authority);
	return r < 0 ? error_sys(e, r, "sending to %s", w->settings->authority) : 0;
}

int otlp_wire_post(struct otlp_wire *w, struct span body, struct otlp_answer *ret, struct error *e)
{
	bool kept = w->fd >= 0;

	if (w->settings->gzip) {
		int r = wire_pack(w, body);

		if (r < 0)
			return error_sys(e, r, "compressing the events");
		body = buf_span(&w->packed);
	}
	int r = wire_try(w, body, ret, e);

	/* The other side may have closed a kept connection meanwhile: so we try once more. */
	if (kept && (r == -ECONNRESET || r == -EPIPE)) {
		*e = ERROR_INIT;
		r = wire_try(w, body, ret, e);
	}
	return r;
}
