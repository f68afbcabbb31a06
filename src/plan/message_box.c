/* SPDX-License-Identifier: Apache-2.0 */
#include "message_box.h"

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
	SCHEMA_FIELD_U64(struct message_spawn, mask),
	SCHEMA_FIELD_STR(struct message_spawn, cwd),
	SCHEMA_FIELD_LIST(struct message_spawn, argv, &message_string_schema),
};
const struct schema message_spawn_schema = SCHEMA_OF(struct message_spawn, message_spawn_fields);

static const struct schema_field message_job_fields[] = {
	SCHEMA_FIELD_U64(struct message_job, job),
	SCHEMA_FIELD_U64(struct message_job, value),
};
const struct schema message_job_schema = SCHEMA_OF(struct message_job, message_job_fields);

static const struct schema_field message_limits_fields[] = {
	SCHEMA_FIELD_BOOL(struct message_limits, memory),
	SCHEMA_FIELD_BOOL(struct message_limits, processes),
	SCHEMA_FIELD_BOOL(struct message_limits, kill),
};
const struct schema message_limits_schema = SCHEMA_OF(struct message_limits, message_limits_fields);

static const struct schema_field message_resize_fields[] = {
	SCHEMA_FIELD_U64(struct message_resize, job),
	SCHEMA_FIELD_U64(struct message_resize, rows),
	SCHEMA_FIELD_U64(struct message_resize, columns),
};
const struct schema message_resize_schema = SCHEMA_OF(struct message_resize, message_resize_fields);

static const struct schema_field message_attach_fields[] = {
	SCHEMA_FIELD_U64(struct message_attach, rows),
	SCHEMA_FIELD_U64(struct message_attach, columns),
	SCHEMA_FIELD_BOOL(struct message_attach, watches),
};
const struct schema message_attach_schema = SCHEMA_OF(struct message_attach, message_attach_fields);

static const struct schema_field message_capture_fields[] = {
	SCHEMA_FIELD_U64(struct message_capture, listeners),
	SCHEMA_FIELD_BOOL(struct message_capture, dns),
	SCHEMA_FIELD_BOOL(struct message_capture, log),
	SCHEMA_FIELD_BOOL(struct message_capture, rules),
	SCHEMA_FIELD_BOOL(struct message_capture, plain),
};
const struct schema message_capture_schema =
	SCHEMA_OF(struct message_capture, message_capture_fields);
