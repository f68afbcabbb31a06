/* SPDX-License-Identifier: Apache-2.0 */
/* src/sys/user_manager.c against a manager of our own, which reads what it is sent by the rules of
 * D-Bus.  tests/kernels/limits has a real one. */
#include "cmocka_lead.h"

#include "fd.h"
#include "str.h"
#include "user_manager.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PID = 0x01020304 };

/* --- a reader of our own ---------------------------------------------------------------- */

struct wire {
	const uint8_t *ptr;
	size_t at, len;
};

static void align(struct wire *w, size_t to)
{
	while (w->at % to != 0)
		assert_int_equal(w->ptr[w->at++], 0);
}

static uint32_t number(struct wire *w)
{
	align(w, 4);
	assert_true(w->at + 4 <= w->len);
	const uint8_t *p = w->ptr + w->at;

	w->at += 4;
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void assert_words(struct wire *w, size_t len, const char *want)
{
	assert_true(w->at + len < w->len);
	assert_int_equal(w->ptr[w->at + len], 0);
	assert_string_equal((const char *)w->ptr + w->at, want);
	w->at += len + 1;
}

static void assert_string(struct wire *w, const char *want)
{
	uint32_t len = number(w);

	assert_words(w, len, want);
}

static void assert_signature(struct wire *w, const char *want)
{
	size_t len = w->ptr[w->at++];

	assert_words(w, len, want);
}

static void assert_property(struct wire *w, const char *name, const char *signature)
{
	align(w, 8);
	assert_string(w, name);
	assert_signature(w, signature);
}

static void the_question_is_a_message_of_dbus(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT(16 << 10);
	static const struct {
		uint8_t field;
		const char *signature, *value;
	} fields[] = {{1, "o", "/org/freedesktop/systemd1"},
		      {2, "s", "org.freedesktop.systemd1.Manager"},
		      {3, "s", "StartTransientUnit"},
		      {8, "g", "ssa(sv)a(sa(sv))"}};

	(void)state;
	user_manager_put(&b, "bawn-calm-otter-7.scope", PID);
	assert_int_equal(buf_error(&b), 0);
	struct wire w = {(const uint8_t *)b.ptr, 0, b.len};

	assert_memory_equal(w.ptr, "l\1\0\1", 4);
	w.at = 4;
	uint32_t body = number(&w);

	assert_int_equal(number(&w), 1);
	uint32_t head = number(&w);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(fields); i++) {
		align(&w, 8);
		assert_int_equal(w.ptr[w.at++], fields[i].field);
		assert_signature(&w, fields[i].signature);
		if (str_equal(fields[i].signature, "g"))
			assert_signature(&w, fields[i].value);
		else
			assert_string(&w, fields[i].value);
	}
	assert_int_equal(w.at, 16 + head);
	align(&w, 8);
	assert_int_equal(w.at + body, w.len);
	/* The body counts from its own beginning. */
	w = (struct wire){w.ptr + w.at, 0, body};
	assert_string(&w, "bawn-calm-otter-7.scope");
	assert_string(&w, "fail");
	uint32_t properties = number(&w);

	align(&w, 8);
	size_t first = w.at;

	assert_property(&w, "Description", "s");
	assert_string(&w, "a session of bawn");
	assert_property(&w, "PIDs", "au");
	assert_int_equal(number(&w), 4);
	assert_int_equal(number(&w), PID);
	assert_property(&w, "Delegate", "b");
	assert_int_equal(number(&w), 1);
	assert_property(&w, "CollectMode", "s");
	assert_string(&w, "inactive-or-failed");
	assert_int_equal(w.at - first, properties);
	assert_int_equal(number(&w), 0);
	align(&w, 8);
	assert_int_equal(w.at, w.len);
}

/* --- answers ---------------------------------------------------------------------------- */

/* Asks a manager that has said all this already. */
static int ask(const char *welcome, const void *answer, size_t len, struct error *e)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	_cleanup_fd_ int ours = ends[0];
	_cleanup_fd_ int theirs = ends[1];

	assert_int_equal(fd_write_all(theirs, welcome, strlen(welcome)), 0);
	assert_int_equal(fd_write_all(theirs, answer, len), 0);
	assert_int_equal(shutdown(theirs, SHUT_WR), 0);
	*e = ERROR_INIT;
	int r = user_manager_ask(ours, "bawn-x-1.scope", PID, e);
	char said[64] = "";

	assert_true(read(theirs, said, sizeof(said) - 1) > 20);
	assert_int_equal(said[0], 0);
	assert_non_null(str_after(said + 1, "AUTH EXTERNAL 3"));
	return r;
}

#define OK "OK 0123456789abcdef0123456789abcdef\r\n"
#define SIGNAL "l\4\0\1\3\0\0\0\5\0\0\0\5\0\0\0fieldpadxyz"
#define RETURN "l\2\0\1\4\0\0\0\2\0\0\0\0\0\0\0abcd"
#define REFUSAL "l\3\0\1\7\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0No\0"

static void an_answer_may_come_after_signals(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(ask(OK, RETURN, sizeof(RETURN) - 1, &e), 0);
	assert_int_equal(ask(OK, SIGNAL SIGNAL RETURN, sizeof(SIGNAL SIGNAL RETURN) - 1, &e), 0);
}

static void a_refusal_is_an_error_with_its_sentence(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(ask(OK, REFUSAL, sizeof(REFUSAL) - 1, &e), -EREMOTEIO);
	assert_non_null(strstr(e.text, "No"));
	assert_int_equal(ask("REJECTED EXTERNAL\r\n", "", 0, &e), -EACCES);
}

static void half_an_answer_is_none(void **state)
{
	struct error e;

	(void)state;
	for (size_t len = 0; len < sizeof(SIGNAL RETURN) - 1; len++)
		assert_int_equal(ask(OK, SIGNAL RETURN, len, &e), -ECONNRESET);
	assert_int_equal(ask("", "", 0, &e), -ECONNRESET);
	/* Longer than anything that is ours to read; and of another byte order. */
	assert_int_equal(ask(OK, "l\2\0\1\377\377\377\377\2\0\0\0\377\377\377\377", 16, &e),
			 -EPROTO);
	assert_int_equal(ask(OK, "B\2\0\1\0\0\0\0\2\0\0\0\0\0\0\0", 16, &e), -EPROTO);
}

static void without_a_manager_there_is_none(void **state)
{
	(void)state;
	assert_int_equal(user_manager_open("/nowhere"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_question_is_a_message_of_dbus),
		cmocka_unit_test(an_answer_may_come_after_signals),
		cmocka_unit_test(a_refusal_is_an_error_with_its_sentence),
		cmocka_unit_test(half_an_answer_is_none),
		cmocka_unit_test(without_a_manager_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
