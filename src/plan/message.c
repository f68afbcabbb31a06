/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

static const struct schema_field message_failed_fields[] = {
	SCHEMA_FIELD_U64(struct message_failed, code),
	SCHEMA_FIELD_STR(struct message_failed, text),
	SCHEMA_FIELD_STR(struct message_failed, next),
};
const struct schema message_failed_schema = SCHEMA_OF(struct message_failed, message_failed_fields);

int message_decode(struct span body, const struct schema *s, void *object, struct arena *arena,
		   struct error *e)
{
	struct reader r = reader_of(body);
	int ret = schema_decode(&r, s, object, arena, e);

	if (ret == 0 && reader_left(&r) != 0)
		ret = error_set(e, -EBADMSG, "%zu bytes follow the message", reader_left(&r));
	return ret;
}

int message_decode_failed(struct span body, struct error *ret_failure, struct error *e)
{
	struct message_failed m;
	int r = message_decode(body, &message_failed_schema, &m, NULL, e);

	if (r < 0)
		return r;
	(void)error_set(ret_failure, m.code && m.code < 4096 ? -(int)m.code : -EIO, "%s", m.text);
	error_next(ret_failure, "%s", m.next);
	return 0;
}

int message_take_failed(struct span body, struct error *e)
{
	struct error failure = ERROR_INIT;
	int r = message_decode_failed(body, &failure, e);

	if (r < 0)
		return r;
	*e = failure;
	return failure.code;
}

int message_send(int fd, enum message_type type, const struct schema *s, const void *object,
		 const int *fds, size_t fd_count)
{
	_cleanup_buf_ struct buf b = BUF_INIT(CHANNEL_BYTES_MAX);

	schema_encode(&b, s, object);
	return buf_error(&b) ? buf_error(&b)
			     : channel_send(fd, (uint32_t)type, buf_span(&b), fds, fd_count);
}

int message_send_secret(int fd, enum message_type type, const struct schema *s, const void *object)
{
	/* The buf never grows, so it never moves: wiping it wipes the only copy. */
	static char bytes[CHANNEL_BYTES_MAX + 1];
	struct buf b = {bytes, 0, sizeof(bytes), CHANNEL_BYTES_MAX, 0};

	schema_encode(&b, s, object);
	int r = buf_error(&b) ? buf_error(&b)
			      : channel_send(fd, (uint32_t)type, buf_span(&b), NULL, 0);

	explicit_bzero(bytes, b.len);
	return r;
}
