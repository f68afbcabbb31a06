/* SPDX-License-Identifier: Apache-2.0 */
/* What comes again is counted, and no count is lost: src/gate/fold.c. */
#include "cmocka_lead.h"

#include "fold.h"

#include <stdio.h>

/* What was told: the events, and all counts together. */
struct told {
	size_t events;
	uint64_t counted, sent, received, ms;
	char last_type[8], last_reason[64];
	bool in_order;
};

static struct told told;

static void on_note(void *context, const struct note *n)
{
	struct buf bytes = BUF_INIT(1 << 16);
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 16);
	struct error e = ERROR_INIT;
	struct message_note m;
	uint64_t count = 1;

	(void)context;
	/* Every field in its place, or the recorder would refuse it. */
	note_encode(&bytes, n);
	assert_int_equal(buf_error(&bytes), 0);
	struct reader r = reader_of(buf_span(&bytes));

	assert_int_equal(note_decode(&r, &m, &arena, &e), 1);
	told.events++;
	for (size_t i = 0; i < m.items.count; i++) {
		const struct note_item *item = &m.items.items[i];

		if (item->field == NOTE_FIELD_COUNT_OF)
			count = item->number;
		if (item->field == NOTE_FIELD_SENT)
			told.sent += item->number;
		if (item->field == NOTE_FIELD_RECEIVED)
			told.received += item->number;
		if (item->field == NOTE_FIELD_MS)
			told.ms += item->number;
		if (item->field == NOTE_FIELD_TYPE)
			(void)snprintf(told.last_type, sizeof(told.last_type), "%.*s",
				       (int)item->text.len, (const char *)item->text.ptr);
		if (item->field == NOTE_FIELD_REASON)
			(void)snprintf(told.last_reason, sizeof(told.last_reason), "%.*s",
				       (int)item->text.len, (const char *)item->text.ptr);
	}
	told.counted += count;
	buf_fini(&bytes);
}

static struct fold *begin(void)
{
	struct fold *f = fold_new(on_note, NULL);

	assert_non_null(f);
	memset(&told, 0, sizeof(told));
	return f;
}

/* A request, with sums on either side of its other fields. */
static void request(struct fold *f, const char *path, unsigned int status, int64_t now)
{
	const struct fold_more more = {
		.has = 1u << FOLD_SENT | 1u << FOLD_RECEIVED | 1u << FOLD_TIME,
		.sums = {10, 200, 3},
	};
	struct note n;

	note_begin(&n, NOTE_NETWORK, "request");
	note_word(&n, NOTE_FIELD_VERDICT, "allowed");
	note_word(&n, NOTE_FIELD_PATH, path);
	note_word(&n, NOTE_FIELD_HOST, "web.test");
	note_number(&n, NOTE_FIELD_STATUS, status);
	note_word(&n, NOTE_FIELD_RULE, "config.yaml:3");
	fold_put(f, &n, &more, now);
}

static void refusal(struct fold *f, const char *reason, int64_t now)
{
	static const struct fold_more nothing;
	struct note n;

	note_begin(&n, NOTE_NETWORK, "connect");
	note_word(&n, NOTE_FIELD_VERDICT, "refused");
	note_word(&n, NOTE_FIELD_HOST, "web.test");
	note_word(&n, NOTE_FIELD_REASON, reason);
	fold_put(f, &n, &nothing, now);
}

static bool question(struct fold *f, const char *type, unsigned int half, bool put)
{
	const struct fold_more more = {.half = half};
	struct note n;

	note_begin(&n, NOTE_DNS, "question");
	note_word(&n, NOTE_FIELD_HOST, "web.test");
	note_word(&n, NOTE_FIELD_TYPE, type);
	if (fold_again(f, &n, &more))
		return true;
	note_word(&n, NOTE_FIELD_REASON, "looked up when it was new");
	if (put)
		fold_put(f, &n, &more, 0);
	return false;
}

/* The first at once, the others in one note when their time is over, and the sums are whole. */
static void test_same_is_counted(void **state)
{
	struct fold *f = begin();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		request(f, "/a", 200, 100);
		assert_int_equal(told.events, 1);
	}
	assert_true(fold_on_time(f, 100 + FOLD_MS - 1));
	assert_int_equal(told.events, 1);
	assert_true(fold_on_time(f, 100 + FOLD_MS));
	assert_int_equal(told.events, 2);
	assert_int_equal(told.counted, 1000);
	assert_int_equal(told.sent, 10000);
	assert_int_equal(told.received, 200000);
	assert_int_equal(told.ms, 3000);
	/* It goes on: counted again, and told again a while later. */
	request(f, "/a", 200, 1200);
	assert_int_equal(told.events, 2);
	assert_true(fold_on_time(f, 100 + 2 * FOLD_MS));
	assert_int_equal(told.counted, 1001);
	/* It has ended: forgotten, and new when it comes again. */
	assert_false(fold_on_time(f, 100 + 3 * FOLD_MS));
	assert_int_equal(told.events, 3);
	request(f, "/a", 200, 9000);
	assert_int_equal(told.events, 4);
	fold_free(f);
}

/* Another path, another status, another reason: another event, at once. */
static void test_other_is_told(void **state)
{
	struct fold *f = begin();

	(void)state;
	request(f, "/a", 200, 0);
	request(f, "/b", 200, 0);
	request(f, "/a", 404, 0);
	refusal(f, "one", 0);
	refusal(f, "two", 0);
	assert_string_equal(told.last_reason, "two");
	assert_int_equal(told.events, 5);
	refusal(f, "one", 0);
	assert_int_equal(told.events, 5);
	fold_flush(f);
	assert_int_equal(told.events, 6);
	assert_int_equal(told.counted, 6);
	fold_flush(f);
	assert_int_equal(told.events, 6);
	fold_free(f);
}

/* However many the box makes up, all are told: what finds no place is not folded. */
static void test_table_is_bounded(void **state)
{
	enum { MANY = 5 * FOLD_MAX };
	struct fold *f = begin();
	char path[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < MANY; i++) {
			(void)snprintf(path, sizeof(path), "/%d", i);
			request(f, path, 200, 0);
		}
	assert_int_equal(told.events, 2 * MANY - FOLD_MAX);
	fold_flush(f);
	assert_int_equal(told.events, 2 * MANY);
	assert_int_equal(told.counted, 2 * MANY);
	assert_int_equal(told.sent, 20 * MANY);
	fold_free(f);
}

/* One lookup asks for A and AAAA, and is one event; another type is another. */
static void test_pair_is_one(void **state)
{
	struct fold *f = begin();

	(void)state;
	assert_false(question(f, "AAAA", 2, true));
	assert_true(question(f, "A", 1, true));
	assert_int_equal(told.events, 1);
	assert_string_equal(told.last_type, "AAAA");
	assert_string_equal(told.last_reason, "looked up when it was new");
	fold_flush(f);
	assert_int_equal(told.counted, 1);
	for (int i = 0; i < 3; i++) {
		assert_true(question(f, "A", 1, true));
		assert_true(question(f, "AAAA", 2, true));
	}
	assert_true(question(f, "A", 1, true));
	assert_true(question(f, "A", 1, true));
	assert_false(question(f, "15", 0, true));
	fold_flush(f);
	assert_int_equal(told.counted, 1 + 3 + 2 + 1);
	fold_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_is_counted),
		cmocka_unit_test(test_other_is_told),
		cmocka_unit_test(test_table_is_bounded),
		cmocka_unit_test(test_pair_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
