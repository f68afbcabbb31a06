/* SPDX-License-Identifier: Apache-2.0 */
#include "http_message.h"

struct http_message_field *http_message_find(struct http_message *m, const char *name, size_t from)
{
	struct span wanted = span_of_str(name);

	for (size_t i = from; i < m->field_count; i++)
		if (span_equal(m->fields[i].name, wanted))
			return &m->fields[i];
	return NULL;
}

int http_message_add(struct http_message *m, struct span name, struct span value)
{
	if (m->field_count == HTTP_MESSAGE_FIELDS_MAX)
		return -E2BIG;
	m->fields[m->field_count++] = (struct http_message_field){.name = name, .value = value};
	return 0;
}

void http_message_remove(struct http_message *m, const char *name)
{
	struct span unwanted = span_of_str(name);
	size_t kept = 0;

	for (size_t i = 0; i < m->field_count; i++)
		if (!span_equal(m->fields[i].name, unwanted))
			m->fields[kept++] = m->fields[i];
	m->field_count = kept;
}

static void keep_span(struct span *s, uint8_t **at)
{
	if (s->len > 0)
		memcpy(*at, s->ptr, s->len);
	s->ptr = *at;
	*at += s->len;
}

void *http_message_keep(struct http_message *m, size_t *ret_len)
{
	size_t len = m->method.len + m->scheme.len + m->authority.len + m->target.len;

	for (size_t i = 0; i < m->field_count; i++)
		len += m->fields[i].name.len + m->fields[i].value.len;
	uint8_t *block = malloc(len + 1);
	uint8_t *at = block;

	if (!block)
		return NULL;
	keep_span(&m->method, &at);
	keep_span(&m->scheme, &at);
	keep_span(&m->authority, &at);
	keep_span(&m->target, &at);
	for (size_t i = 0; i < m->field_count; i++) {
		keep_span(&m->fields[i].name, &at);
		keep_span(&m->fields[i].value, &at);
	}
	if (ret_len)
		*ret_len = len;
	return block;
}
