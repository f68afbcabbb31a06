/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that botocore signed (tests/data/sigv4.tsv) are read, and the texts written from
 * them give the very signature they came with.  AWS's own published examples of chunks.
 */
#include "cmocka_lead.h"

#include "encode.h"
#include "fd.h"
#include "sign.h"
#include "sigv4.h"

#include <fcntl.h>
#include <openssl/sha.h>
#include <stdio.h>

static const char *source_root;

#define KEY "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

static void sha256_hex(struct span bytes, struct buf *into)
{
	uint8_t hash[SHA256_DIGEST_LENGTH];

	(void)SHA256(bytes.ptr, bytes.len, hash);
	buf_clear(into);
	encode_hex(into, (struct span){hash, sizeof(hash)});
}

static void sign_hex(const char *key, const struct sigv4 *s, struct span text, struct buf *into)
{
	uint8_t signature[SIGN_BYTES];

	assert_int_equal(
		sign_aws(span_of_str(key), s->date, s->region, s->service, text, signature), 0);
	buf_clear(into);
	encode_hex(into, (struct span){signature, sizeof(signature)});
}

/* In place: \n and \\ become what they stand for. */
static struct span unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++)
		if (*at == '\\')
			*to++ = *++at == 'n' ? '\n' : *at == 't' ? '\t' : *at;
		else
			*to++ = *at;
	*to = '\0';
	return (struct span){(const uint8_t *)text, (size_t)(to - text)};
}

static void set_fields(struct http_message *m, const char *text)
{
	while (*text) {
		const char *colon = strstr(text, ": "), *end = strchr(text, '\n');

		assert_non_null(colon);
		assert_non_null(end);
		assert_int_equal(http_message_add(m,
						  (struct span){(const uint8_t *)text,
								(size_t)(colon - text)},
						  (struct span){(const uint8_t *)colon + 2,
								(size_t)(end - colon - 2)}),
				 0);
		text = end + 1;
	}
}

enum { NAME, METHOD, HOST, TARGET, FIELDS, PAYLOAD, CANONICAL, COLUMNS };

static void try_row(char *columns[COLUMNS])
{
	static struct http_message m;
	struct sigv4 s;
	const char *why = "";
	struct span cells[COLUMNS];
	struct buf text = BUF_INIT(1 << 16), hash = BUF_INIT(256), got = BUF_INIT(256);

	for (size_t i = 0; i < COLUMNS; i++)
		cells[i] = unescape(columns[i]);
	m = (struct http_message){
		.method = cells[METHOD], .authority = cells[HOST], .target = cells[TARGET]};
	set_fields(&m, columns[FIELDS]);
	if (sigv4_read(&m, &s, &why) < 0)
		fail_msg("%s: %s", columns[NAME], why);
	assert_int_equal(sigv4_choose_fields(&s, &m, &why), 0);
	assert_int_equal(sigv4_canonical(&s, &m, cells[PAYLOAD], &text), 0);
	if (!span_equal(buf_span(&text), cells[CANONICAL]))
		fail_msg("%s:\n%s\nis not\n%s", columns[NAME], buf_str(&text), columns[CANONICAL]);
	sha256_hex(buf_span(&text), &hash);
	buf_clear(&text);
	sigv4_string_to_sign(&s, buf_span(&hash), &text);
	sign_hex(KEY, &s, buf_span(&text), &got);
	if (!span_equal(buf_span(&got), s.signature))
		fail_msg("%s: another signature: %s", columns[NAME], buf_str(&got));
	if (!s.presigned) {
		buf_clear(&text);
		sigv4_authorization(&s, s.signature, &text);
		assert_true(span_equal(buf_span(&text),
				       http_message_find(&m, "authorization", 0)->value));
	}
	buf_fini(&text);
	buf_fini(&hash);
	buf_fini(&got);
}

static void test_as_botocore(void **state)
{
	char path[512];
	struct buf table = BUF_INIT(1 << 20);
	size_t rows = 0;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/tests/data/sigv4.tsv", source_root);
	assert_int_equal(fd_read_file_at(AT_FDCWD, path, &table), 0);
	for (char *line = table.ptr, *end; (end = strchr(line, '\n')); line = end + 1) {
		char *columns[COLUMNS], *rest = line;

		*end = '\0';
		if (line[0] == '#' || strncmp(line, "name\t", 5) == 0)
			continue;
		for (size_t i = 0; i < COLUMNS; i++)
			assert_non_null(columns[i] = strsep(&rest, "\t"));
		try_row(columns);
		rows++;
	}
	assert_true(rows >= 25);
	buf_fini(&table);
}

#define CREDENTIAL "Credential=AKID/20150830/us-east-1/s3/aws4_request"
#define SIGNATURE "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
#define FIELDS_SIGNED "SignedHeaders=host;x-amz-date"
#define DATE "x-amz-date: 20150830T123600Z\n"
#define V4 "authorization: AWS4-HMAC-SHA256 "
#define TEN(a) a "0;" a "1;" a "2;" a "3;" a "4;" a "5;" a "6;" a "7;" a "8;" a "9"
#define SIXTY TEN("a") ";" TEN("b") ";" TEN("c") ";" TEN("d") ";" TEN("e") ";" TEN("ee")
#define PRESIGNED(fields)                                                                         \
	"/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKID%2F20150830%2Fus-east-1%2Fs3"    \
	"%2Faws4_request&X-Amz-Date=20150830T123600Z&X-Amz-Expires=60" fields "&X-Amz-Signature=" \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_read(void **state)
{
	static const struct {
		const char *target, *fields;
		int r;
	} rows[] = {
		{"/", DATE V4 CREDENTIAL ", " FIELDS_SIGNED ", " SIGNATURE "\n", 0},
		{"/", DATE V4 CREDENTIAL "," FIELDS_SIGNED "," SIGNATURE "\n", 0},
		{"/", DATE V4 SIGNATURE "," FIELDS_SIGNED "," CREDENTIAL "\n", 0},
		{"/", "", -ENOENT},
		{"/", "authorization: Bearer x\n", -ENOENT},
		{"/?x-amz=1", "authorization: AWS4-HMAC-SHA256x y\n", -ENOENT},
		{"/", V4 CREDENTIAL ", " FIELDS_SIGNED ", " SIGNATURE "\n", -EINVAL},
		{"/", DATE V4 CREDENTIAL ", " FIELDS_SIGNED "\n", -EINVAL},
		{"/", DATE V4 CREDENTIAL ", " CREDENTIAL ", " FIELDS_SIGNED ", " SIGNATURE "\n",
		 -EINVAL},
		{"/", DATE V4 CREDENTIAL ", X=1, " FIELDS_SIGNED ", " SIGNATURE "\n", -EINVAL},
		{"/", DATE V4 CREDENTIAL ", SignedHeaders=x-amz-date, " SIGNATURE "\n", -EINVAL},
		{"/", DATE V4 CREDENTIAL ", SignedHeaders=x-amz-date;host, " SIGNATURE "\n",
		 -EINVAL},
		{"/", DATE V4 CREDENTIAL ", SignedHeaders=host;host, " SIGNATURE "\n", -EINVAL},
		{"/", DATE V4 CREDENTIAL ", SignedHeaders=Host, " SIGNATURE "\n", -EINVAL},
		{"/", DATE V4 CREDENTIAL ", SignedHeaders=, " SIGNATURE "\n", -EINVAL},
		{"/", DATE V4 "Credential=AKID/x, " FIELDS_SIGNED ", " SIGNATURE "\n", -EINVAL},
		{"/",
		 DATE V4 "Credential=A/2015083/r/s/aws4_request, " FIELDS_SIGNED ", " SIGNATURE
			 "\n",
		 -EINVAL},
		{"/",
		 DATE V4 "Credential=A/20150831/r/s/aws4_request, " FIELDS_SIGNED ", " SIGNATURE
			 "\n",
		 -EINVAL},
		{"/",
		 DATE V4 "Credential=A/20150830/R/s/aws4_request, " FIELDS_SIGNED ", " SIGNATURE
			 "\n",
		 -EINVAL},
		{"/", DATE V4 CREDENTIAL ", " FIELDS_SIGNED ", Signature=00\n", -EINVAL},
		{"/", DATE DATE V4 CREDENTIAL ", " FIELDS_SIGNED ", " SIGNATURE "\n", -EINVAL},
		/* twice */
		{"/?X-Amz-Signature=00", DATE V4 CREDENTIAL ", " FIELDS_SIGNED ", " SIGNATURE "\n",
		 -EINVAL},
		{"/?X-Amz-Signature=00&x-amz-signature=00", "", -EINVAL},
		{"/?X-Amz-Signature=00", "", -EINVAL},
		/* presigned: whole, and with each part missing */
		{PRESIGNED("&X-Amz-SignedHeaders=host"), "", 0},
		{PRESIGNED(""), "", -EINVAL},
		{PRESIGNED("&X-Amz-SignedHeaders=x-amz-date"), "", -EINVAL},
		/* 64 fields may be signed, and no more */
		{"/", DATE V4 CREDENTIAL ", SignedHeaders=" SIXTY ";f;g;h;host, " SIGNATURE "\n",
		 0},
		{"/", DATE V4 CREDENTIAL ", SignedHeaders=" SIXTY ";f;g;gg;h;host, " SIGNATURE "\n",
		 -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		static struct http_message m;
		struct sigv4 s;
		const char *why = NULL;

		m = (struct http_message){.method = SPAN_LITERAL("GET"),
					  .authority = SPAN_LITERAL("x.test"),
					  .target = span_of_str(rows[i].target)};
		set_fields(&m, rows[i].fields);
		if (sigv4_read(&m, &s, &why) != rows[i].r)
			fail_msg("row %zu: %s", i, why ? why : "taken");
		assert_int_equal(rows[i].r == -EINVAL, why != NULL);
	}
}

/* What a proxy changes is not signed anew; in a presigned request it cannot be left out. */
static void test_fields_that_change(void **state)
{
	static struct http_message m;
	struct sigv4 s;
	const char *why = NULL;

	(void)state;
	m = (struct http_message){.target = SPAN_LITERAL("/"), .authority = SPAN_LITERAL("x")};
	set_fields(&m, DATE "accept-encoding: gzip\nx-amz-meta: 1\n" V4 CREDENTIAL
			    ", SignedHeaders=accept-encoding;content-length;gone;host;x-amz-date;"
			    "x-amz-meta, " SIGNATURE "\n");
	assert_int_equal(sigv4_read(&m, &s, &why), 0);
	assert_int_equal(sigv4_choose_fields(&s, &m, &why), 0);
	assert_string_equal(s.signed_fields, "host;x-amz-date;x-amz-meta");
	s.presigned = true;
	(void)snprintf(s.signed_fields, sizeof(s.signed_fields), "accept-encoding;host");
	assert_int_equal(sigv4_choose_fields(&s, &m, &why), -EINVAL);
}

static void test_payloads(void **state)
{
	static const struct {
		const char *word;
		enum sigv4_payload payload;
	} rows[] = {
		{"", SIGV4_PAYLOAD_HASH},
		{"UNSIGNED-PAYLOAD", SIGV4_PAYLOAD_SAID},
		{"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		 SIGV4_PAYLOAD_SAID},
		{"STREAMING-AWS4-HMAC-SHA256-PAYLOAD", SIGV4_PAYLOAD_CHUNKS},
		{"STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", SIGV4_PAYLOAD_TRAILER},
		{"STREAMING-UNSIGNED-PAYLOAD-TRAILER", SIGV4_PAYLOAD_UNSIGNED},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const struct sigv4 s = {.payload = span_of_str(rows[i].word)};

		assert_int_equal(sigv4_payload_of(&s), rows[i].payload);
	}
}

/* A query that can be read in two ways, or has no end of parameters, is not signed. */
static void test_queries(void **state)
{
	static const struct {
		const char *target;
		int ret;
	} rows[] = {
		{"/?a=b", 0},       {"/?a=%41", 0},       {"/?%41=b", 0},     {"/?a=%4", -EINVAL},
		{"/?a=%", -EINVAL}, {"/?a=%zz", -EINVAL}, {"/?%=b", -EINVAL}, {"/?%4x=b", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(1 << 12);
		static struct http_message m;
		struct sigv4 s = {.presigned = false};

		m = (struct http_message){.method = SPAN_LITERAL("GET"),
					  .authority = SPAN_LITERAL("a.test"),
					  .target = span_of_str(rows[i].target)};
		int r = sigv4_canonical(&s, &m, SPAN_LITERAL("UNSIGNED-PAYLOAD"), &text);

		if (r != rows[i].ret)
			fail_msg("%s: %d", rows[i].target, r);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_botocore),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_fields_that_change),
		cmocka_unit_test(test_payloads),
		cmocka_unit_test(test_queries),
	};

	source_root = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests_name("sigv4", tests, NULL, NULL);
}
