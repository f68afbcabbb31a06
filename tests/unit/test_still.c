/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session that has ended cannot go on while somebody works on it; one that runs is let go when
 * the work is done, and told so.
 */
#include "cmocka_lead.h"

#include "first_lead.h"

#include "message_box.h"
#include "message_control.h"
#include "still.h"

#include <errno.h>
#include <sys/socket.h>

struct world {
	struct first_lead lead;
	struct review review;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	lead_open(&w->lead);
	w->review = REVIEW_INIT;
	w->review.layers = w->lead.layers;
	(void)snprintf(w->review.session.name, sizeof(w->review.session.name), "%s", LEAD_SESSION);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	lead_close(&w->lead);
	free(w);
	return 0;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void test_one_that_has_ended(void **state)
{
	struct world *w = *state;
	const struct layers_session session = {
		.name = LEAD_SESSION, .mode = LAYERS_DIRECT, .began = 5, .ended = 7};
	struct still s = STILL_INIT;
	struct error e = ERROR_INIT;

	assert_int_equal(layers_session_write(&w->lead.layers, &session, &e), 0);
	assert_int_equal(still_begin(&w->review, &s, &e), 0);
	assert_true(s.hold >= 0);
	assert_false(s.live);
	/* As it is now, not as it was when it was chosen. */
	assert_int_equal(w->review.session.ended, 7);
	assert_int_equal(w->review.session.mode, LAYERS_DIRECT);
	assert_true(layers_session_runs(&w->lead.layers, LEAD_SESSION));
	int hold = s.hold;

	still_end(&s);
	assert_false(is_open(hold));
	assert_int_equal(s.hold, -1);
	assert_false(layers_session_runs(&w->lead.layers, LEAD_SESSION));
	still_end(&s);
}

static void test_one_that_is_gone(void **state)
{
	struct world *w = *state;
	struct still s = STILL_INIT;
	struct error e = ERROR_INIT;

	/* There is a folder, and nothing in it that says what it is. */
	assert_int_equal(still_begin(&w->review, &s, &e), -ENOENT);
	assert_non_null(strstr(e.text, "there is no session 'one' with changes"));
	still_end(&s);
	(void)snprintf(w->review.session.name, sizeof(w->review.session.name), "two");
	e = ERROR_INIT;
	assert_int_equal(still_begin(&w->review, &s, &e), -ENOENT);
	assert_non_null(strstr(e.text, "there is no session 'two' with changes"));
	still_end(&s);
}

/* Of one that is paused: it is told to go on, once, and nothing stays open. */
static void test_one_that_runs(void **state)
{
	(void)state;
	for (int live = 0; live < 2; live++) {
		const struct message_paused answer = {.text = "", .next = ""};
		struct error e = ERROR_INIT;
		struct message_job m = {.value = 9};
		uint8_t bytes[64];
		int ends[2];

		assert_int_equal(channel_pair(ends), 0);
		assert_int_equal(message_send(ends[1], MESSAGE_PAUSED, &message_paused_schema,
					      &answer, NULL, 0),
				 0);
		struct still s = STILL_INIT;

		s.live = live;
		s.session.fd = ends[0];
		still_end(&s);
		assert_false(s.live);
		assert_int_equal(s.session.fd, -1);
		assert_false(is_open(ends[0]));
		ssize_t n = recv(ends[1], bytes, sizeof(bytes), MSG_DONTWAIT);

		if (live) {
			assert_true(n > 4);
			assert_int_equal(bytes[0], MESSAGE_PAUSE);
			assert_int_equal(message_decode((struct span){bytes + 4, (size_t)n - 4},
							&message_job_schema, &m, NULL, &e),
					 0);
			assert_int_equal(m.value, 0);
		} else {
			assert_true(n <= 0);
		}
		/* And then it is over, whatever is called. */
		still_end(&s);
		assert_true(recv(ends[1], bytes, sizeof(bytes), MSG_DONTWAIT) <= 0);
		(void)close(ends[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_that_has_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_that_is_gone, setup, teardown),
		cmocka_unit_test(test_one_that_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
