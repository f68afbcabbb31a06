/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about the sums of what was refused: by program, cut to their room, and never without a count. */
#include "cmocka_lead.h"

#include "wishes.h"

#include <stdio.h>

struct told {
	struct message_event events[1024];
	char texts[1024][2][300];
	size_t count;
};

static void on_told(void *context, const struct message_event *event)
{
	struct told *t = context;

	assert_int_equal(event->kind, MESSAGE_EVENT_WANTED);
	assert_true(t->count < BAWN_ARRAY_SIZE(t->events));
	(void)snprintf(t->texts[t->count][0], 300, "%s", event->host);
	(void)snprintf(t->texts[t->count][1], 300, "%s", event->origin);
	t->events[t->count++] = *event;
}

static struct told *tell(const struct wishes *t)
{
	struct told *ret = calloc(1, sizeof(*ret));

	assert_non_null(ret);
	wishes_tell(t, on_told, ret);
	return ret;
}

static void test_by_program(void **state)
{
	struct wishes *t = wishes_new();

	(void)state;
	wishes_name(t, 1, SPAN_LITERAL("/usr/bin/curl"));
	wishes_name(t, 2, SPAN_LITERAL("wget"));
	for (int i = 0; i < 3; i++)
		wishes_add(t, MESSAGE_WANTED_HOST, 1, SPAN_LITERAL("a.test"));
	wishes_add(t, MESSAGE_WANTED_HOST, 2, SPAN_LITERAL("a.test"));
	wishes_add(t, MESSAGE_WANTED_CALL, 1, SPAN_LITERAL("a.test"));
	wishes_add(t, MESSAGE_WANTED_HOST, 3, SPAN_LITERAL("b.test"));
	wishes_add(t, MESSAGE_WANTED_HOST, 0, SPAN_LITERAL("b.test"));
	assert_true(wishes_has(t, MESSAGE_WANTED_HOST, SPAN_LITERAL("a.test")));
	assert_false(wishes_has(t, MESSAGE_WANTED_FILE, SPAN_LITERAL("a.test")));
	struct told *got = tell(t);
	static const struct {
		const char *name, *program, *what;
		uint64_t count;
	} want[] = {{"a.test", "curl", "host", 3},
		    {"a.test", "wget", "host", 1},
		    {"a.test", "curl", "call", 1},
		    {"b.test", "", "host", 2}};

	assert_int_equal(got->count, BAWN_ARRAY_SIZE(want));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(want); i++) {
		assert_string_equal(got->texts[i][0], want[i].name);
		assert_string_equal(got->texts[i][1], want[i].program);
		assert_string_equal(got->events[i].reason, want[i].what);
		assert_int_equal(got->events[i].count, want[i].count);
	}
	free(got);
	wishes_free(t);
}

/* A number that is given to another execution later names nobody wrongly. */
static void test_old_executions(void **state)
{
	struct wishes *t = wishes_new();

	(void)state;
	wishes_name(t, 1, SPAN_LITERAL("first"));
	wishes_name(t, 1 + 4096, SPAN_LITERAL("second"));
	wishes_add(t, MESSAGE_WANTED_FILE, 1, SPAN_LITERAL("/x"));
	wishes_add(t, MESSAGE_WANTED_FILE, 1 + 4096, SPAN_LITERAL("/x"));
	struct told *got = tell(t);

	assert_int_equal(got->count, 2);
	assert_string_equal(got->texts[0][1], "");
	assert_string_equal(got->texts[1][1], "second");
	free(got);
	wishes_free(t);
}

/* However many, all are counted; and long names are cut. */
static void test_many(void **state)
{
	struct wishes *t = wishes_new();
	uint64_t sum = 0;
	char name[2000];

	(void)state;
	for (unsigned int i = 0; i < 5000; i++) {
		memset(name, 'x', sizeof(name));
		(void)snprintf(name, sizeof(name), "%u", i % 700);
		wishes_name(t, i + 1, (struct span){(const uint8_t *)name, sizeof(name)});
		wishes_add(
			t, (enum message_wanted)(i % MESSAGE_WANTED_COUNT), i + 1,
			(struct span){(const uint8_t *)name, i % 2 ? strlen(name) : sizeof(name)});
	}
	struct told *got = tell(t);

	for (size_t i = 0; i < got->count; i++)
		sum += got->events[i].count;
	assert_int_equal(sum, 5000);
	assert_string_equal(got->texts[got->count - 1][0], "");
	free(got);
	wishes_free(t);
}

static void test_nobody_asks(void **state)
{
	(void)state;
	wishes_name(NULL, 1, SPAN_LITERAL("x"));
	wishes_add(NULL, MESSAGE_WANTED_HOST, 1, SPAN_LITERAL("x"));
	assert_false(wishes_has(NULL, MESSAGE_WANTED_HOST, SPAN_LITERAL("x")));
	wishes_tell(NULL, on_told, NULL);
	wishes_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_program),
		cmocka_unit_test(test_old_executions),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_nobody_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
