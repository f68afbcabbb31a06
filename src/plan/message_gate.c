/* SPDX-License-Identifier: Apache-2.0 */
#include "message_gate.h"

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
	"dns",       "connect",      "limit",  "keys",        "more",
	"sign",      "request",      "secret", "certificate", "policy",
	"comparing", "unattributed", "wanted", "listens",     "wrote"};
const char *const message_wanted_words[MESSAGE_WANTED_COUNT] = {"host", "file", "call"};
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
