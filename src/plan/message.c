/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

static const struct schema_field message_string_fields[] = {
	SCHEMA_FIELD_STR(struct plan_string, text),
};
static const struct schema message_string_schema =
	SCHEMA_OF(struct plan_string, message_string_fields);

static const struct schema_field message_spawn_fields[] = {
	SCHEMA_FIELD_U64(struct message_spawn, job),
	SCHEMA_FIELD_U64(struct message_spawn, gives),
	SCHEMA_FIELD_U64(struct message_spawn, nulls),
	SCHEMA_FIELD_BOOL(struct message_spawn, terminal),
	SCHEMA_FIELD_BOOL(struct message_spawn, foreground),
	SCHEMA_FIELD_U64(struct message_spawn, rows),
	SCHEMA_FIELD_U64(struct message_spawn, columns),
	SCHEMA_FIELD_BYTES(struct message_spawn, modes),
	SCHEMA_FIELD_STR(struct message_spawn, cwd),
	SCHEMA_FIELD_LIST(struct message_spawn, argv, &message_string_schema),
};
const struct schema message_spawn_schema = SCHEMA_OF(struct message_spawn, message_spawn_fields);

static const struct schema_field message_job_fields[] = {
	SCHEMA_FIELD_U64(struct message_job, job),
	SCHEMA_FIELD_U64(struct message_job, value),
};
const struct schema message_job_schema = SCHEMA_OF(struct message_job, message_job_fields);

static const struct schema_field message_resize_fields[] = {
	SCHEMA_FIELD_U64(struct message_resize, job),
	SCHEMA_FIELD_U64(struct message_resize, rows),
	SCHEMA_FIELD_U64(struct message_resize, columns),
};
const struct schema message_resize_schema = SCHEMA_OF(struct message_resize, message_resize_fields);

static const struct schema_field message_failed_fields[] = {
	SCHEMA_FIELD_U64(struct message_failed, code),
	SCHEMA_FIELD_STR(struct message_failed, text),
	SCHEMA_FIELD_STR(struct message_failed, next),
};
const struct schema message_failed_schema = SCHEMA_OF(struct message_failed, message_failed_fields);

static const struct schema_field message_resolve_fields[] = {
	SCHEMA_FIELD_U64(struct message_resolve, id),
	SCHEMA_FIELD_STR(struct message_resolve, name),
};
const struct schema message_resolve_schema =
	SCHEMA_OF(struct message_resolve, message_resolve_fields);

static const struct schema_field message_resolved_fields[] = {
	SCHEMA_FIELD_U64(struct message_resolved, id),
	SCHEMA_FIELD_U64(struct message_resolved, failure),
	SCHEMA_FIELD_BYTES(struct message_resolved, addresses),
	SCHEMA_FIELD_U64(struct message_resolved, near),
};
const struct schema message_resolved_schema =
	SCHEMA_OF(struct message_resolved, message_resolved_fields);

static const char *const message_event_words[MESSAGE_EVENT_KIND_COUNT] = {
	"dns",     "connect", "limit",       "keys",   "more",      "sign",
	"request", "secret",  "certificate", "policy", "comparing", "unattributed"};
static const struct schema_field message_event_fields[] = {
	SCHEMA_FIELD_ENUM(struct message_event, kind, message_event_words),
	SCHEMA_FIELD_BOOL(struct message_event, allowed),
	SCHEMA_FIELD_STR(struct message_event, host),
	SCHEMA_FIELD_U64(struct message_event, port),
	SCHEMA_FIELD_U64(struct message_event, count),
	SCHEMA_FIELD_STR(struct message_event, origin),
	SCHEMA_FIELD_STR(struct message_event, reason),
	SCHEMA_FIELD_STR(struct message_event, line),
};
const struct schema message_event_schema = SCHEMA_OF(struct message_event, message_event_fields);

static const struct schema_field message_authority_fields[] = {
	SCHEMA_FIELD_BYTES(struct message_authority, certificate),
	SCHEMA_FIELD_BYTES(struct message_authority, crl),
};
const struct schema message_authority_schema =
	SCHEMA_OF(struct message_authority, message_authority_fields);

static const struct schema_field message_leaf_fields[] = {
	SCHEMA_FIELD_U64(struct message_leaf, id),
	SCHEMA_FIELD_STR(struct message_leaf, name),
};
const struct schema message_leaf_schema = SCHEMA_OF(struct message_leaf, message_leaf_fields);

static const struct schema_field message_certificate_fields[] = {
	SCHEMA_FIELD_U64(struct message_certificate, id),
	SCHEMA_FIELD_BYTES(struct message_certificate, certificate),
	SCHEMA_FIELD_BYTES(struct message_certificate, key),
	SCHEMA_FIELD_U64(struct message_certificate, expires),
};
const struct schema message_certificate_schema =
	SCHEMA_OF(struct message_certificate, message_certificate_fields);

static const struct schema_field message_release_fields[] = {
	SCHEMA_FIELD_U64(struct message_release, id),
	SCHEMA_FIELD_U64(struct message_release, index),
	SCHEMA_FIELD_STR(struct message_release, host),
	SCHEMA_FIELD_U64(struct message_release, port),
	SCHEMA_FIELD_ENUM(struct message_release, scheme, plan_scheme_words),
	SCHEMA_FIELD_STR(struct message_release, method),
	SCHEMA_FIELD_STR(struct message_release, path),
	SCHEMA_FIELD_STR(struct message_release, unclear),
};
const struct schema message_release_schema =
	SCHEMA_OF(struct message_release, message_release_fields);

static const struct schema_field message_again_fields[] = {
	SCHEMA_FIELD_U64(struct message_again, id),
	SCHEMA_FIELD_U64(struct message_again, index),
};
const struct schema message_again_schema = SCHEMA_OF(struct message_again, message_again_fields);

static const struct schema_field message_value_fields[] = {
	SCHEMA_FIELD_U64(struct message_value, id),
	SCHEMA_FIELD_U64(struct message_value, index),
	SCHEMA_FIELD_U64(struct message_value, expires),
	SCHEMA_FIELD_BYTES(struct message_value, value),
};
const struct schema message_value_schema = SCHEMA_OF(struct message_value, message_value_fields);

static const struct schema_field message_refused_fields[] = {
	SCHEMA_FIELD_U64(struct message_refused, id),
	SCHEMA_FIELD_U64(struct message_refused, index),
	SCHEMA_FIELD_STR(struct message_refused, reason),
};
const struct schema message_refused_schema =
	SCHEMA_OF(struct message_refused, message_refused_fields);

static const struct schema_field message_sign_fields[] = {
	SCHEMA_FIELD_U64(struct message_sign, id),
	SCHEMA_FIELD_U64(struct message_sign, index),
	SCHEMA_FIELD_STR(struct message_sign, host),
	SCHEMA_FIELD_U64(struct message_sign, port),
	SCHEMA_FIELD_ENUM(struct message_sign, scheme, plan_scheme_words),
	SCHEMA_FIELD_STR(struct message_sign, method),
	SCHEMA_FIELD_STR(struct message_sign, path),
	SCHEMA_FIELD_STR(struct message_sign, unclear),
	SCHEMA_FIELD_STR(struct message_sign, date),
	SCHEMA_FIELD_STR(struct message_sign, region),
	SCHEMA_FIELD_STR(struct message_sign, service),
	SCHEMA_FIELD_BYTES(struct message_sign, text),
};
const struct schema message_sign_schema = SCHEMA_OF(struct message_sign, message_sign_fields);

static const struct schema_field message_signature_fields[] = {
	SCHEMA_FIELD_U64(struct message_signature, id),
	SCHEMA_FIELD_BYTES(struct message_signature, signature),
};
const struct schema message_signature_schema =
	SCHEMA_OF(struct message_signature, message_signature_fields);

static const struct schema_field message_need_fields[] = {
	SCHEMA_FIELD_U64(struct message_need, index),
};
const struct schema message_need_schema = SCHEMA_OF(struct message_need, message_need_fields);
static const struct schema_field message_capture_fields[] = {
	SCHEMA_FIELD_U64(struct message_capture, listeners),
	SCHEMA_FIELD_BOOL(struct message_capture, dns),
	SCHEMA_FIELD_BOOL(struct message_capture, log),
	SCHEMA_FIELD_BOOL(struct message_capture, rules),
	SCHEMA_FIELD_BOOL(struct message_capture, plain),
};
const struct schema message_capture_schema =
	SCHEMA_OF(struct message_capture, message_capture_fields);

static const struct schema_field message_session_fields[] = {
	SCHEMA_FIELD_STR(struct message_session, name),
	SCHEMA_FIELD_U64(struct message_session, since),
	SCHEMA_FIELD_U64(struct message_session, pid),
	SCHEMA_FIELD_U64(struct message_session, generation),
	SCHEMA_FIELD_BOOL(struct message_session, gate),
	SCHEMA_FIELD_BOOL(struct message_session, plain),
};
const struct schema message_session_schema =
	SCHEMA_OF(struct message_session, message_session_fields);

static const struct schema_field message_change_fields[] = {
	SCHEMA_FIELD_U64(struct message_change, generation),
	SCHEMA_FIELD_BOOL(struct message_change, allowed),
	SCHEMA_FIELD_STR(struct message_change, what),
	SCHEMA_FIELD_STR(struct message_change, reason),
};
const struct schema message_change_schema = SCHEMA_OF(struct message_change, message_change_fields);

static const struct schema_field message_paused_fields[] = {
	SCHEMA_FIELD_U64(struct message_paused, id),
	SCHEMA_FIELD_U64(struct message_paused, failure),
	SCHEMA_FIELD_STR(struct message_paused, text),
	SCHEMA_FIELD_STR(struct message_paused, next),
	SCHEMA_FIELD_U64(struct message_paused, count),
};
const struct schema message_paused_schema = SCHEMA_OF(struct message_paused, message_paused_fields);

static const struct schema_field message_ask_fields[] = {
	SCHEMA_FIELD_U64(struct message_ask, id),
	SCHEMA_FIELD_BOOL(struct message_ask, made),
	SCHEMA_FIELD_STR(struct message_ask, text),
};
const struct schema message_ask_schema = SCHEMA_OF(struct message_ask, message_ask_fields);

static const struct schema_field message_changed_fields[] = {
	SCHEMA_FIELD_U64(struct message_changed, id),
	SCHEMA_FIELD_U64(struct message_changed, failure),
	SCHEMA_FIELD_STR(struct message_changed, text),
	SCHEMA_FIELD_U64(struct message_changed, ended),
};
const struct schema message_changed_schema =
	SCHEMA_OF(struct message_changed, message_changed_fields);

static const struct schema_field message_count_fields[] = {
	SCHEMA_FIELD_U64(struct message_count, id),
	SCHEMA_FIELD_STR(struct message_count, host),
	SCHEMA_FIELD_U64(struct message_count, port),
};
const struct schema message_count_schema = SCHEMA_OF(struct message_count, message_count_fields);

static const struct schema_field message_counted_fields[] = {
	SCHEMA_FIELD_U64(struct message_counted, id),
	SCHEMA_FIELD_U64(struct message_counted, questions),
	SCHEMA_FIELD_U64(struct message_counted, connections),
	SCHEMA_FIELD_U64(struct message_counted, last),
	SCHEMA_FIELD_STR(struct message_counted, reason),
};
const struct schema message_counted_schema =
	SCHEMA_OF(struct message_counted, message_counted_fields);

static const struct schema_field message_record_fields[] = {
	SCHEMA_FIELD_STR(struct message_record, name),
	SCHEMA_FIELD_STR(struct message_record, folder),
	SCHEMA_FIELD_BOOL(struct message_record, first),
};
const struct schema message_record_schema = SCHEMA_OF(struct message_record, message_record_fields);

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
	/* Never grown, so never moved: what is wiped is all there was. */
	static char bytes[CHANNEL_BYTES_MAX + 1];
	struct buf b = {bytes, 0, sizeof(bytes), CHANNEL_BYTES_MAX, 0};

	schema_encode(&b, s, object);
	int r = buf_error(&b) ? buf_error(&b)
			      : channel_send(fd, (uint32_t)type, buf_span(&b), NULL, 0);

	explicit_bzero(bytes, b.len);
	return r;
}
