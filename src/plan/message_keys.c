/* SPDX-License-Identifier: Apache-2.0 */
#include "message_keys.h"

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
	SCHEMA_FIELD_U64(struct message_release, sure),
};
const struct schema message_release_schema =
	SCHEMA_OF(struct message_release, message_release_fields);

static const struct schema_field message_again_fields[] = {
	SCHEMA_FIELD_U64(struct message_again, id),
	SCHEMA_FIELD_U64(struct message_again, index),
	SCHEMA_FIELD_U64(struct message_again, former),
};
const struct schema message_again_schema = SCHEMA_OF(struct message_again, message_again_fields);

static const struct schema_field message_login_fields[] = {
	SCHEMA_FIELD_U64(struct message_login, id),
};
const struct schema message_login_schema = SCHEMA_OF(struct message_login, message_login_fields);

static const struct schema_field message_value_fields[] = {
	SCHEMA_FIELD_U64(struct message_value, id),
	SCHEMA_FIELD_U64(struct message_value, index),
	SCHEMA_FIELD_U64(struct message_value, expires),
	SCHEMA_FIELD_U64(struct message_value, formers),
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
	SCHEMA_FIELD_U64(struct message_sign, sure),
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
