/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trust files: the host's authorities are all in them, the session's CA too, and the
 * programs they are for can read them (Java's own keytool, where there is one).
 */
#include "cmocka_lead.h"

#include "ca.h"
#include "fd.h"
#include "jks.h"
#include "pem.h"
#include "trust.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct plan_string get[] = {{"GET"}};
static struct plan_rule rules[] = {{.host = "api.example", .methods = {get, 1}}};
static const struct plan plan = {.network = {rules, 1}};

struct world {
	struct ca *ca[3];
	struct buf host; /* PEM of two of them */
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error e = ERROR_INIT;

	w->host = BUF_INIT(TRUST_BYTES_MAX);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(w->ca); i++)
		assert_int_equal(ca_new(&plan, &w->ca[i], &e), 0);
	buf_put_str(&w->host, "# a comment, as some bundles have\n");
	pem_put(&w->host, ca_certificate(w->ca[1]));
	pem_put(&w->host, ca_certificate(w->ca[2]));
	w->host.len--; /* no line end at the end: the next one must not stick to it */
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(w->ca); i++)
		ca_free(w->ca[i]);
	buf_fini(&w->host);
	free(w);
	return 0;
}

static void test_bundle_has_all(void **state)
{
	struct world *w = *state;
	_cleanup_buf_ struct buf file = BUF_INIT(TRUST_BYTES_MAX);
	static const size_t order[] = {1, 2, 0};
	struct span rest;

	assert_int_equal(trust_write(PLAN_TRUST_BUNDLE, buf_span(&w->host),
				     ca_certificate(w->ca[0]), 0, &file),
			 0);
	rest = buf_span(&file);
	for (size_t i = 0; i < 3; i++) {
		_cleanup_buf_ struct buf der = BUF_INIT(TRUST_BYTES_MAX);

		assert_int_equal(pem_next(&rest, &der), 1);
		assert_true(span_equal(buf_span(&der), ca_certificate(w->ca[order[i]])));
	}
	_cleanup_buf_ struct buf none = BUF_INIT(16);

	assert_int_equal(pem_next(&rest, &none), 0);
}

static void test_pem_is_strict_and_goes_on(void **state)
{
	static const char *const bad[] = {
		"-----BEGIN CERTIFICATE-----\nMIIA=AAA\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMI!A\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMIIB====\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMB==\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMIIA\n",
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(TRUST_BYTES_MAX);
		_cleanup_buf_ struct buf der = BUF_INIT(TRUST_BYTES_MAX);

		buf_put_str(&text, bad[i]);
		bool closed = strstr(bad[i], "-----END") != NULL;

		if (closed)
			pem_put(&text, ca_certificate(w->ca[0]));
		struct span rest = buf_span(&text);

		assert_int_equal(pem_next(&rest, &der), -EBADMSG);
		assert_int_equal(der.len, 0);
		assert_int_equal(pem_next(&rest, &der), closed ? 1 : 0);
	}
}

static void test_chromium_has_the_certificate(void **state)
{
	struct world *w = *state;
	_cleanup_buf_ struct buf file = BUF_INIT(TRUST_BYTES_MAX);
	_cleanup_buf_ struct buf expected = BUF_INIT(TRUST_BYTES_MAX);

	assert_int_equal(trust_write(PLAN_TRUST_CHROMIUM, buf_span(&w->host),
				     ca_certificate(w->ca[0]), 0, &file),
			 0);
	buf_put_str(&expected, "{\"CACertificates\":[\"");
	pem_put_base64(&expected, ca_certificate(w->ca[0]));
	buf_put_str(&expected, "\"]}\n");
	assert_string_equal(buf_str(&file), buf_str(&expected));
}

static void test_base64_of_every_length(void **state)
{
	static const char *const text[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
					   "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(text); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT(64);

		pem_put_base64(&b, (struct span){(const uint8_t *)"foobar", i});
		assert_string_equal(buf_str(&b), text[i]);
	}
}

/* Runs keytool over the file; its output. */
static void keytool_list(const char *path, char *text, size_t size)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();

	if (pid == 0) {
		(void)dup2(ends[1], 1);
		(void)dup2(ends[1], 2);
		(void)execlp("keytool", "keytool", "-list", "-keystore", path, "-storetype", "JKS",
			     "-storepass", "changeit", (char *)NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	size_t len = 0;

	for (ssize_t n; len < size - 1 && (n = read(ends[0], text + len, size - 1 - len)) > 0;)
		len += (size_t)n;
	text[len] = '\0';
	(void)close(ends[0]);
	int status = 0;

	(void)waitpid(pid, &status, 0);
	if (status != 0)
		fail_msg("keytool: %d: %s", status, text);
}

static void test_java_reads_its_store(void **state)
{
	struct world *w = *state;
	_cleanup_buf_ struct buf file = BUF_INIT(TRUST_BYTES_MAX);
	char path[] = "/tmp/bawn-test-jks.XXXXXX";
	char text[8192];

	assert_int_equal(trust_write(PLAN_TRUST_JAVA, buf_span(&w->host), ca_certificate(w->ca[0]),
				     1700000000000, &file),
			 0);
	/* Without Java: the head, the count, and the length of the sum at least. */
	static const uint8_t head[] = {0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2};

	assert_true(file.len > sizeof(head));
	assert_memory_equal(file.ptr, head, sizeof(head));
	if (access("/usr/bin/keytool", X_OK) != 0) {
		print_message("# no keytool: the store was not given to Java\n");
		return;
	}
	_cleanup_fd_ int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, file.ptr, file.len), 0);
	keytool_list(path, text, sizeof(text));
	(void)unlink(path);
	assert_non_null(strstr(text, "3 entries"));
	assert_non_null(strstr(text, "bawn-session"));
	assert_non_null(strstr(text, "host-2"));
	assert_non_null(strstr(text, "trustedCertEntry"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_has_all),
		cmocka_unit_test(test_pem_is_strict_and_goes_on),
		cmocka_unit_test(test_chromium_has_the_certificate),
		cmocka_unit_test(test_base64_of_every_length),
		cmocka_unit_test(test_java_reads_its_store),
	};

	return cmocka_run_group_tests_name("trust", tests, setup, teardown);
}
