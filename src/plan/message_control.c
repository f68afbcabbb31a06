/* SPDX-License-Identifier: Apache-2.0 */
#include "message_control.h"

static const struct schema_field message_session_fields[] = {
	SCHEMA_FIELD_STR(struct message_session, name),
	SCHEMA_FIELD_U64(struct message_session, since),
	SCHEMA_FIELD_U64(struct message_session, pid),
	SCHEMA_FIELD_U64(struct message_session, generation),
	SCHEMA_FIELD_BOOL(struct message_session, gate),
	SCHEMA_FIELD_BOOL(struct message_session, plain),
	SCHEMA_FIELD_BOOL(struct message_session, held),
	SCHEMA_FIELD_BOOL(struct message_session, terminal),
	SCHEMA_FIELD_U64(struct message_session, viewers),
	SCHEMA_FIELD_U64(struct message_session, box),
	SCHEMA_FIELD_STR(struct message_session, why),
	SCHEMA_FIELD_U64(struct message_session, idle),
	SCHEMA_FIELD_U64(struct message_session, output),
	SCHEMA_FIELD_U64(struct message_session, layers),
	SCHEMA_FIELD_U64(struct message_session, record),
};
const struct schema message_session_schema =
	SCHEMA_OF(struct message_session, message_session_fields);

static const struct schema_field message_hello_fields[] = {
	SCHEMA_FIELD_U64(struct message_hello, version),
	SCHEMA_FIELD_STR(struct message_hello, program),
};
const struct schema message_hello_schema = SCHEMA_OF(struct message_hello, message_hello_fields);

static const struct schema_field message_change_fields[] = {
	SCHEMA_FIELD_U64(struct message_change, generation),
	SCHEMA_FIELD_BOOL(struct message_change, allowed),
	SCHEMA_FIELD_STR(struct message_change, what),
	SCHEMA_FIELD_STR(struct message_change, reason),
};
const struct schema message_change_schema = SCHEMA_OF(struct message_change, message_change_fields);

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
	SCHEMA_FIELD_U64(struct message_counted, port),
	SCHEMA_FIELD_STR(struct message_counted, reason),
};
const struct schema message_counted_schema =
	SCHEMA_OF(struct message_counted, message_counted_fields);

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

static const struct schema_field message_record_fields[] = {
	SCHEMA_FIELD_STR(struct message_record, name),
	SCHEMA_FIELD_STR(struct message_record, folder),
	SCHEMA_FIELD_BOOL(struct message_record, first),
	SCHEMA_FIELD_BOOL(struct message_record, shared),
};
const struct schema message_record_schema = SCHEMA_OF(struct message_record, message_record_fields);
