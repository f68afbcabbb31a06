/* SPDX-License-Identifier: Apache-2.0 */
#include "sigv4.h"

#include "encode.h"
#include "http_field.h"

/* The span of a string that is never NULL. */
static struct span text_of(const char *s)
{
	return (struct span){(const uint8_t *)s, strlen(s)};
}

static const char algorithm[] = "AWS4-HMAC-SHA256";

static struct span take_until(struct span *s, uint8_t c)
{
	const uint8_t *at = s->len > 0 ? memchr(s->ptr, c, s->len) : NULL;
	struct span part = {s->ptr, at ? (size_t)(at - s->ptr) : s->len};
	size_t skip = part.len + (at != NULL);

	*s = (struct span){s->ptr + skip, s->len - skip};
	return part;
}

static int wrong(const char **ret_why, const char *why)
{
	*ret_why = why;
	return -EINVAL;
}

/* ---- reading ---- */

static bool is_made_of(struct span s, const char *of)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] == '\0' || !strchr(of, s.ptr[i]))
			return false;
	return s.len > 0;
}

static bool copy(struct span s, char *into, size_t size)
{
	if (s.len >= size)
		return false;
	memcpy(into, s.ptr, s.len);
	into[s.len] = '\0';
	return true;
}

/* ID/DATE/REGION/SERVICE/aws4_request; the id may itself hold a slash, so it is read from the end.
 */
static int read_credential(struct sigv4 *s, struct span text, const char **ret_why)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	struct span parts[4] = {{NULL, 0}};

	for (int i = 3; i >= 0; i--) {
		const uint8_t *slash = text.len > 0 ? memrchr(text.ptr, '/', text.len) : NULL;

		if (!slash)
			return wrong(ret_why, "its credential has too few parts");
		size_t before = (size_t)(slash - text.ptr);

		parts[i] = (struct span){slash + 1, text.len - before - 1};
		text.len = before;
	}
	if (text.len == 0 || !is_made_of(parts[0], "0123456789") || parts[0].len != 8 ||
	    !is_made_of(parts[1], word) || !is_made_of(parts[2], word) ||
	    !span_equal(parts[3], SPAN_LITERAL("aws4_request")))
		return wrong(ret_why, "its credential is not as it should be");
	s->id = text;
	if (!copy(parts[0], s->date, sizeof(s->date)) ||
	    !copy(parts[1], s->region, sizeof(s->region)) ||
	    !copy(parts[2], s->service, sizeof(s->service)))
		return wrong(ret_why, "its credential is too long");
	return 0;
}

static int read_time(struct sigv4 *s, struct span time, const char **ret_why)
{
	bool good = time.len == 16 && time.ptr[8] == 'T' && time.ptr[15] == 'Z' &&
		    is_made_of((struct span){time.ptr, 8}, "0123456789") &&
		    is_made_of((struct span){time.ptr + 9, 6}, "0123456789");

	if (!good || !copy(time, s->time, sizeof(s->time)))
		return wrong(ret_why, "it has no time, or not as it should be");
	return memcmp(s->time, s->date, 8) == 0
		       ? 0
		       : wrong(ret_why, "its time and its credential are of two days");
}

/* Names in lower case, in order, each once, host among them. */
static int read_fields(struct sigv4 *s, struct span list, const char **ret_why)
{
	struct span before = {NULL, 0};
	size_t count = 0;
	bool host = false;

	if (!copy(list, s->signed_fields, sizeof(s->signed_fields)))
		return wrong(ret_why, "it signs too many fields");
	while (list.len > 0) {
		struct span name = take_until(&list, ';');

		if (!http_is_token(name) || ++count > SIGV4_FIELDS_MAX)
			return wrong(ret_why, "its list of fields is not as it should be");
		for (size_t i = 0; i < name.len; i++)
			if (name.ptr[i] >= 'A' && name.ptr[i] <= 'Z')
				return wrong(ret_why, "its list of fields has capitals");
		size_t n = before.len < name.len ? before.len : name.len;
		int order = n > 0 ? memcmp(before.ptr, name.ptr, n) : 0;

		if (count > 1 && (order > 0 || (order == 0 && before.len >= name.len)))
			return wrong(ret_why, "its list of fields is not in order");
		host |= span_equal(name, SPAN_LITERAL("host"));
		before = name;
	}
	return host ? 0 : wrong(ret_why, "it does not sign the host");
}

static int read_signature(struct sigv4 *s, struct span signature, const char **ret_why)
{
	if (signature.len != SIGV4_SIGNATURE_LEN || !is_made_of(signature, "0123456789abcdef"))
		return wrong(ret_why, "its signature is not as it should be");
	s->signature = signature;
	return 0;
}

static int read_authorization(struct sigv4 *s, struct span value, const char **ret_why)
{
	struct span credential = {NULL, 0}, fields = {NULL, 0}, signature = {NULL, 0};

	while (value.len > 0) {
		struct span one = http_trim(take_until(&value, ','));
		struct span name = take_until(&one, '=');
		struct span *into = span_equal(name, SPAN_LITERAL("Credential"))      ? &credential
				    : span_equal(name, SPAN_LITERAL("SignedHeaders")) ? &fields
				    : span_equal(name, SPAN_LITERAL("Signature"))     ? &signature
										      : NULL;

		if (!into || into->ptr)
			return wrong(ret_why, "it has a part that no signature has, or one twice");
		*into = one;
	}
	if (!credential.ptr || !fields.ptr || !signature.ptr)
		return wrong(ret_why, "a part of its signature is missing");
	int r = read_credential(s, credential, ret_why);

	if (r == 0)
		r = read_fields(s, fields, ret_why);
	return r == 0 ? read_signature(s, signature, ret_why) : r;
}

static struct span query_of(struct span target)
{
	(void)take_until(&target, '?');
	return target;
}

/* A parameter's value as it was sent.  -EINVAL: it is there twice. */
static int find_parameter(struct span query, const char *name, struct span *ret_value)
{
	bool found = false;

	*ret_value = (struct span){NULL, 0};
	while (query.len > 0) {
		struct span one = take_until(&query, '&');
		struct span key = take_until(&one, '=');

		if (!http_same_word(key, name))
			continue;
		if (found)
			return -EINVAL;
		found = true;
		*ret_value = one;
	}
	return 0;
}

/* Decoded into `into`; false: it is not there, or not as it should be. */
static bool decoded_parameter(struct span query, const char *name, uint8_t *into, size_t size,
			      struct span *ret_raw, struct span *ret_text)
{
	if (find_parameter(query, name, ret_raw) < 0 || ret_raw->len == 0)
		return false;
	ssize_t n = decode_percent(*ret_raw, into, size);

	*ret_text = (struct span){into, n > 0 ? (size_t)n : 0};
	return n > 0;
}

static int read_presigned(struct sigv4 *s, struct span query, const char **ret_why)
{
	uint8_t text[1024];
	struct span raw, value;

	s->presigned = true;
	if (!decoded_parameter(query, "x-amz-algorithm", text, sizeof(text), &raw, &value) ||
	    !span_equal(value, text_of(algorithm)))
		return wrong(ret_why, "its algorithm is not AWS4-HMAC-SHA256");
	if (!decoded_parameter(query, "x-amz-credential", text, sizeof(text), &raw, &value))
		return wrong(ret_why, "its credential is missing");
	int r = read_credential(s, value, ret_why);

	s->id = raw; /* up to its first %2F, which only the caller's reader needs to know */
	if (r == 0 &&
	    !decoded_parameter(query, "x-amz-signedheaders", text, sizeof(text), &raw, &value))
		return wrong(ret_why, "its list of fields is missing");
	if (r == 0)
		r = read_fields(s, value, ret_why);
	if (r == 0 && find_parameter(query, "x-amz-signature", &raw) < 0)
		return wrong(ret_why, "it has two signatures");
	if (r == 0)
		r = read_signature(s, raw, ret_why);
	if (r == 0 && !decoded_parameter(query, "x-amz-date", text, sizeof(text), &raw, &value))
		return wrong(ret_why, "its time is missing");
	return r == 0 ? read_time(s, value, ret_why) : r;
}

/* The one field of that name; -EINVAL when there are two. */
static int find_field(const struct http_message *m, const char *name, struct span *ret_value)
{
	bool found = false;

	*ret_value = (struct span){NULL, 0};
	for (size_t i = 0; i < m->field_count; i++) {
		if (!http_same_word(m->fields[i].name, name))
			continue;
		if (found)
			return -EINVAL;
		found = true;
		*ret_value = m->fields[i].value;
	}
	return 0;
}

int sigv4_read(const struct http_message *m, struct sigv4 *ret, const char **ret_why)
{
	struct span value, time, query = query_of(m->target), presigned = {NULL, 0};
	size_t len = sizeof(algorithm) - 1;

	*ret = (struct sigv4){0};
	if (find_field(m, "authorization", &value) < 0 ||
	    find_parameter(query, "x-amz-signature", &presigned) < 0)
		return wrong(ret_why, "it is signed twice");
	bool by_field = value.len > len && memcmp(value.ptr, algorithm, len) == 0 &&
			(value.ptr[len] == ' ' || value.ptr[len] == '\t');

	if (!by_field && !presigned.ptr)
		return -ENOENT;
	if (presigned.ptr && value.ptr)
		return wrong(ret_why, "it is signed twice");
	if (find_field(m, "x-amz-content-sha256", &ret->payload) < 0)
		return wrong(ret_why, "it says its body's hash twice");
	if (!by_field)
		return read_presigned(ret, query, ret_why);
	int r = read_authorization(ret, (struct span){value.ptr + len, value.len - len}, ret_why);

	if (r < 0)
		return r;
	if (find_field(m, "x-amz-date", &time) < 0)
		return wrong(ret_why, "it has two times");
	return read_time(ret, time, ret_why);
}

/* Whether the service signs paths as they are sent: S3 and services like it. */
bool sigv4_is_s3(const struct sigv4 *s)
{
	static const char *const names[] = {"s3", "s3express", "s3-outposts", "s3-object-lambda"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		if (strcmp(s->service, names[i]) == 0)
			return true;
	return false;
}

enum sigv4_payload sigv4_payload_of(const struct sigv4 *s)
{
	if (span_equal(s->payload, SPAN_LITERAL("STREAMING-AWS4-HMAC-SHA256-PAYLOAD")))
		return SIGV4_PAYLOAD_CHUNKS;
	if (span_equal(s->payload, SPAN_LITERAL("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER")))
		return SIGV4_PAYLOAD_TRAILER;
	if (span_equal(s->payload, SPAN_LITERAL("STREAMING-UNSIGNED-PAYLOAD-TRAILER")))
		return SIGV4_PAYLOAD_UNSIGNED;
	return s->payload.len > 0 ? SIGV4_PAYLOAD_SAID : SIGV4_PAYLOAD_HASH;
}

/* ---- writing ---- */

/* Fields that change on the way, or are not among the message's at all. */
static bool changes(struct span name)
{
	static const char *const names[] = {
		"accept-encoding",   "connection", "content-length",  "expect", "keep-alive", "te",
		"transfer-encoding", "upgrade",    "proxy-connection"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		if (http_same_word(name, names[i]))
			return true;
	return false;
}

static bool has_field(const struct http_message *m, struct span name)
{
	if (http_same_word(name, "host"))
		return true;
	for (size_t i = 0; i < m->field_count; i++)
		if (span_equal(m->fields[i].name, name))
			return true;
	return false;
}

int sigv4_choose_fields(struct sigv4 *s, const struct http_message *m, const char **ret_why)
{
	char list[sizeof(s->signed_fields)] = "";
	struct span rest = text_of(s->signed_fields);
	size_t len = 0;

	while (rest.len > 0) {
		struct span name = take_until(&rest, ';');

		if (!changes(name) && has_field(m, name)) {
			if (len > 0)
				list[len++] = ';';
			memcpy(list + len, name.ptr, name.len);
			len += name.len;
		} else if (s->presigned) {
			return wrong(ret_why, "it signs a field that cannot be signed here");
		}
	}
	memcpy(s->signed_fields, list, len);
	s->signed_fields[len] = '\0';
	return 0;
}

int sigv4_sign_also(struct sigv4 *s, const char *name)
{
	char list[sizeof(s->signed_fields)] = "";
	struct buf into = {.ptr = list, .cap = sizeof(list), .max = sizeof(list) - 1};
	struct span rest = text_of(s->signed_fields), wanted = text_of(name);
	bool done = false;

	while (rest.len > 0 || !done) {
		struct span one = rest.len > 0 ? take_until(&rest, ';') : wanted;
		size_t n = one.len < wanted.len ? one.len : wanted.len;
		int order = memcmp(one.ptr, wanted.ptr, n);
		bool same = span_equal(one, wanted);

		if (into.len > 0)
			buf_put_char(&into, ';');
		if (!done && !same && (order > 0 || (order == 0 && one.len > wanted.len))) {
			buf_put(&into, wanted.ptr, wanted.len);
			buf_put_char(&into, ';');
			done = true;
		}
		buf_put(&into, one.ptr, one.len);
		done |= same;
	}
	if (buf_error(&into))
		return -EINVAL;
	memcpy(s->signed_fields, list, into.len + 1);
	return 0;
}

/* Writes a path without dot segments and empty ones, and escapes each byte that is not plain. */
static int put_general_path(struct span path, struct buf *into)
{
	struct span segments[1024];
	size_t count = 0;
	bool slash = path.len > 0 && path.ptr[path.len - 1] == '/';

	while (path.len > 0) {
		struct span one = take_until(&path, '/');

		if (span_equal(one, SPAN_LITERAL("..")))
			count -= count > 0;
		else if (one.len == 0 || span_equal(one, SPAN_LITERAL(".")))
			continue;
		else if (count == BAWN_ARRAY_SIZE(segments))
			return -EINVAL;
		else
			segments[count++] = one;
	}
	for (size_t i = 0; i < count; i++) {
		buf_put_char(into, '/');
		encode_percent(into, segments[i], "");
	}
	if (slash || count == 0)
		buf_put_char(into, '/');
	return 0;
}

struct parameter {
	size_t at, name_len, len; /* "name=value" in a buf */
};

static int compare_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* By name, then by value. */
static bool is_before(const char *text, const struct parameter *a, const struct parameter *b)
{
	const char *x = text + a->at, *y = text + b->at;
	int order = compare_bytes(x, a->name_len, y, b->name_len);

	return (order ? order
		      : compare_bytes(x + a->name_len, a->len - a->name_len, y + b->name_len,
				      b->len - b->name_len)) < 0;
}

/* Writes a part of a parameter, decoded and escaped again in the one way. */
static int put_again(struct span part, struct buf *into)
{
	_cleanup_free_ uint8_t *text = malloc(part.len + 1);

	if (!text)
		return -ENOMEM;
	ssize_t n = decode_percent(part, text, part.len);

	if (n < 0)
		return -EINVAL;
	encode_percent(into, (struct span){text, (size_t)n}, "");
	return 0;
}

static int put_query(struct span query, bool presigned, struct buf *into)
{
	_cleanup_buf_ struct buf text = BUF_INIT(SIGV4_TEXT_MAX);
	struct parameter all[SIGV4_QUERY_MAX];
	size_t count = 0;

	while (query.len > 0) {
		struct span one = take_until(&query, '&');
		struct span name = take_until(&one, '=');
		struct parameter p = {.at = text.len};

		if (name.len == 0 && one.len == 0)
			continue;
		if (presigned && http_same_word(name, "x-amz-signature"))
			continue;
		if (count == SIGV4_QUERY_MAX)
			return -EINVAL;
		int r = put_again(name, &text);

		p.name_len = text.len - p.at;
		buf_put_char(&text, '=');
		if (r == 0)
			r = put_again(one, &text);
		if (r < 0 || buf_error(&text))
			return r < 0 ? r : buf_error(&text);
		p.len = text.len - p.at;
		size_t at = count++;

		for (; at > 0 && is_before(text.ptr, &p, &all[at - 1]); at--)
			all[at] = all[at - 1];
		all[at] = p;
	}
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			buf_put_char(into, '&');
		buf_put(into, text.ptr + all[i].at, all[i].len);
	}
	return 0;
}

/* Writes a value without blanks around it, and with one blank for each run of blanks. */
static void put_value(struct span value, struct buf *into)
{
	bool blank = false;

	value = http_trim(value);
	for (size_t i = 0; i < value.len; i++) {
		bool is = value.ptr[i] == ' ' || value.ptr[i] == '\t';

		if (!is || !blank)
			buf_put_char(into, is ? ' ' : (char)value.ptr[i]);
		blank = is;
	}
}

static void put_field(const struct http_message *m, struct span name, struct buf *into)
{
	size_t found = 0;

	buf_put(into, name.ptr, name.len);
	buf_put_char(into, ':');
	if (http_same_word(name, "host"))
		put_value(m->authority, into);
	for (size_t i = 0; i < m->field_count && !http_same_word(name, "host"); i++) {
		if (!span_equal(m->fields[i].name, name))
			continue;
		if (found++ > 0)
			buf_put_char(into, ',');
		put_value(m->fields[i].value, into);
	}
	buf_put_char(into, '\n');
}

int sigv4_canonical(const struct sigv4 *s, const struct http_message *m, struct span payload,
		    struct buf *into)
{
	struct span query = m->target, path = take_until(&query, '?');
	struct span names = text_of(s->signed_fields);
	int r = 0;

	buf_put(into, m->method.ptr, m->method.len);
	buf_put_char(into, '\n');
	if (sigv4_is_s3(s))
		buf_put(into, path.ptr, path.len);
	else
		r = put_general_path(path, into);
	buf_put_char(into, '\n');
	if (r == 0)
		r = put_query(query, s->presigned, into);
	buf_put_char(into, '\n');
	while (names.len > 0) {
		struct span name = take_until(&names, ';');

		if (!has_field(m, name))
			return -EINVAL;
		put_field(m, name, into);
	}
	buf_put_char(into, '\n');
	buf_put_str(into, s->signed_fields);
	buf_put_char(into, '\n');
	buf_put(into, payload.ptr, payload.len);
	return r < 0 ? r : buf_error(into);
}

void sigv4_string_to_sign(const struct sigv4 *s, struct span hash, struct buf *into)
{
	buf_putf(into, "%s\n%s\n%s/%s/%s/aws4_request\n", algorithm, s->time, s->date, s->region,
		 s->service);
	buf_put(into, hash.ptr, hash.len);
}

void sigv4_authorization(const struct sigv4 *s, struct span signature, struct buf *into)
{
	buf_putf(into, "%s Credential=", algorithm);
	buf_put(into, s->id.ptr, s->id.len);
	buf_putf(into, "/%s/%s/%s/aws4_request, SignedHeaders=%s, Signature=", s->date, s->region,
		 s->service, s->signed_fields);
	buf_put(into, signature.ptr, signature.len);
}
