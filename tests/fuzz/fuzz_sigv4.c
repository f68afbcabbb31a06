/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target on the first line, fields on those that follow: what is read as signed can be
 * written again, is read as the same then, and its texts have no line that was not meant.
 */
#include "../lib/cut.h"
#include "http_field.h"
#include "sigv4.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct span line(struct span *rest)
{
	const uint8_t *end = rest->len > 0 ? memchr(rest->ptr, '\n', rest->len) : NULL;
	struct span one = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
	size_t skip = one.len + (end != NULL);

	*rest = (struct span){rest->ptr + skip, rest->len - skip};
	return one;
}

/* Names are lower case in a message. */
static bool is_name(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] >= 'A' && s.ptr[i] <= 'Z')
			return false;
	return http_is_token(s);
}

/* Only what the reader of requests lets through. */
static bool is_value(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!http_is_value_byte(s.ptr[i]))
			return false;
	return true;
}

static void check(struct sigv4 *s, struct http_message *m)
{
	struct buf text = BUF_INIT(SIGV4_TEXT_MAX), value = BUF_INIT(8192);
	const char *why = NULL;
	struct sigv4 again;

	CUT_MUST(strlen(s->date) == 8 && strlen(s->time) == 16 && s->region[0] && s->service[0]);
	CUT_MUST(s->signature.len == SIGV4_SIGNATURE_LEN);
	if (sigv4_choose_fields(s, m, &why) == 0 &&
	    sigv4_canonical(s, m, SPAN_LITERAL("UNSIGNED-PAYLOAD"), &text) == 0) {
		size_t lines = 0, fields = 1;

		for (size_t i = 0; i < text.len; i++)
			lines += text.ptr[i] == '\n';
		for (const char *c = s->signed_fields; *c; c++)
			fields += *c == ';';
		CUT_MUST(lines == fields + 5);
	}
	if (!s->presigned) {
		sigv4_authorization(s, s->signature, &value);
		struct http_message_field *f = http_message_find(m, "authorization", 0);

		CUT_MUST(f && !buf_error(&value));
		f->value = buf_span(&value);
		CUT_MUST(sigv4_read(m, &again, &why) == 0 &&
			 strcmp(again.signed_fields, s->signed_fields) == 0 &&
			 span_equal(again.id, s->id));
	}
	buf_fini(&text);
	buf_fini(&value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct http_message m;
	struct span rest = {data, size};
	struct sigv4 s;
	const char *why = NULL;

	m = (struct http_message){.method = SPAN_LITERAL("PUT"),
				  .authority = SPAN_LITERAL("x.test")};
	m.target = line(&rest);
	if (!is_value(m.target))
		return 0;
	while (rest.len > 0 && m.field_count < 32) {
		struct span value = line(&rest);
		const uint8_t *colon = value.len > 0 ? memchr(value.ptr, ':', value.len) : NULL;

		if (!colon)
			return 0;
		struct span name = {value.ptr, (size_t)(colon - value.ptr)};

		value = http_trim((struct span){colon + 1, value.len - name.len - 1});
		if (!is_name(name) || !is_value(value))
			return 0;
		(void)http_message_add(&m, name, value);
	}
	int r = sigv4_read(&m, &s, &why);

	CUT_MUST((r == -EINVAL) == (why != NULL));
	if (r == 0)
		check(&s, &m);
	return 0;
}
