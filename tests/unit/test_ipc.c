/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The channel: a message that its table does not permit, now, in this size and
 * with these descriptors, ends the conversation.  And the loop: an event for a
 * source that is gone finds nobody.
 */
#include "cmocka_lead.h"

#include "channel.h"
#include "fd.h"
#include "loop.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { TYPE_PLAIN = 7, TYPE_WITH_FD = 8, TYPE_LATER = 9, STATE_FIRST = 0, STATE_SECOND = 1 };

struct seen {
	int plain, with_fd, later;
	int kept;
	size_t len;
};

static int on_plain(void *context, struct channel_packet *packet, struct error *e)
{
	struct seen *s = context;

	(void)e;
	s->plain++;
	s->len = packet->body.len;
	return 0;
}

static int on_with_fd(void *context, struct channel_packet *packet, struct error *e)
{
	struct seen *s = context;

	(void)e;
	s->with_fd++;
	s->kept = TAKE_FD(packet->fds[0]);
	return 0;
}

static int on_later(void *context, struct channel_packet *packet, struct error *e)
{
	struct seen *s = context;

	(void)packet;
	(void)e;
	s->later++;
	return 0;
}

static const struct channel_rule rules[] = {
	{TYPE_PLAIN, "PLAIN", 8, 0, 0, 1u << STATE_FIRST | 1u << STATE_SECOND, on_plain},
	{TYPE_WITH_FD, "WITH_FD", 0, 1, 2, 1u << STATE_FIRST, on_with_fd},
	{TYPE_LATER, "LATER", 0, 0, 0, 1u << STATE_SECOND, on_later},
};

struct fixture {
	int peer;
	struct channel channel;
	struct seen seen;
	struct error e;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int ends[2];

	if (!f)
		return -1;
	if (channel_pair(ends) < 0) {
		free(f);
		return -1;
	}
	f->peer = ends[0];
	f->seen.kept = -1;
	f->channel = (struct channel){.fd = ends[1],
				      .rules = rules,
				      .rule_count = BAWN_ARRAY_SIZE(rules),
				      .context = &f->seen};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fd_close(&f->peer);
	fd_close(&f->channel.fd);
	fd_close(&f->seen.kept);
	free(f);
	return 0;
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			n++;
	return n;
}

static void test_permitted_message_is_handled(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(channel_send(f->peer, TYPE_PLAIN, SPAN_LITERAL("12345678"), NULL, 0), 0);
	assert_int_equal(channel_receive(&f->channel, &f->e), 1);
	assert_int_equal(f->seen.plain, 1);
	assert_int_equal(f->seen.len, 8);
}

static void test_unknown_type_ends_it(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(channel_send(f->peer, 1234, (struct span){NULL, 0}, NULL, 0), 0);
	assert_int_equal(channel_receive(&f->channel, &f->e), -EPROTO);
}

static void test_too_large_a_body_ends_it(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(channel_send(f->peer, TYPE_PLAIN, SPAN_LITERAL("123456789"), NULL, 0), 0);
	assert_int_equal(channel_receive(&f->channel, &f->e), -EPROTO);
	assert_int_equal(f->seen.plain, 0);
}

static void test_wrong_state_ends_it(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(channel_send(f->peer, TYPE_LATER, (struct span){NULL, 0}, NULL, 0), 0);
	assert_int_equal(channel_receive(&f->channel, &f->e), -EPROTO);
	assert_int_equal(f->seen.later, 0);
	assert_non_null(strstr(f->e.text, "LATER"));
}

static void test_right_state_is_handled(void **state)
{
	struct fixture *f = *state;

	f->channel.state = STATE_SECOND;
	assert_int_equal(channel_send(f->peer, TYPE_LATER, (struct span){NULL, 0}, NULL, 0), 0);
	assert_int_equal(channel_receive(&f->channel, &f->e), 1);
	assert_int_equal(f->seen.later, 1);
}

static void test_descriptors_are_counted_and_closed(void **state)
{
	struct fixture *f = *state;
	int before = open_descriptors();
	const int fds[3] = {0, 1, 2};

	/* none where one is due, three where two are the most, one where none is due */
	assert_int_equal(channel_send(f->peer, TYPE_WITH_FD, (struct span){NULL, 0}, NULL, 0), 0);
	assert_int_equal(channel_receive(&f->channel, &f->e), -EPROTO);
	assert_int_equal(channel_send(f->peer, TYPE_WITH_FD, (struct span){NULL, 0}, fds, 3), 0);
	assert_int_equal(channel_receive(&f->channel, &f->e), -EPROTO);
	assert_int_equal(channel_send(f->peer, TYPE_PLAIN, (struct span){NULL, 0}, fds, 1), 0);
	assert_int_equal(channel_receive(&f->channel, &f->e), -EPROTO);
	assert_int_equal(open_descriptors(), before);

	/* the handler keeps one of two; the other is closed for it */
	assert_int_equal(channel_send(f->peer, TYPE_WITH_FD, (struct span){NULL, 0}, fds, 2), 0);
	assert_int_equal(channel_receive(&f->channel, &f->e), 1);
	assert_true(f->seen.kept >= 0);
	assert_int_equal(open_descriptors(), before + 1);
	assert_true(fcntl(f->seen.kept, F_GETFD) & FD_CLOEXEC);
}

static void test_short_packet_ends_it(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(send(f->peer, "abc", 3, 0), 3);
	assert_int_equal(channel_receive(&f->channel, &f->e), -EPROTO);
}

static void test_gone_peer_is_told_apart(void **state)
{
	struct fixture *f = *state;

	fd_close(&f->peer);
	assert_int_equal(channel_receive(&f->channel, &f->e), 0);
}

static void test_last_words_of_a_peer_are_heard(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(channel_send(f->channel.fd, TYPE_PLAIN, SPAN_LITERAL("unread"), NULL, 0),
			 0);
	assert_int_equal(channel_send(f->peer, TYPE_PLAIN, SPAN_LITERAL("why"), NULL, 0), 0);
	fd_close(&f->peer);
	assert_int_equal(channel_receive(&f->channel, &f->e), 1);
	assert_int_equal(f->seen.plain, 1);
	assert_int_equal(channel_receive(&f->channel, &f->e), 0);
}

/* --- the loop ------------------------------------------------------------------------- */

struct pair {
	struct loop *loop;
	struct loop_handle mine, other;
	int called;
	int *others;
};

static int remove_other(void *context, uint32_t events)
{
	struct pair *p = context;

	(void)events;
	p->called++;
	(*p->others)++;
	loop_remove(p->loop, &p->other);
	loop_stop(p->loop);
	return 0;
}

static void test_removed_source_gets_no_event(void **state)
{
	struct loop loop;
	int pipes[2][2];
	int total = 0;
	struct pair pairs[2] = {{.loop = &loop, .others = &total},
				{.loop = &loop, .others = &total}};

	(void)state;
	assert_int_equal(loop_init(&loop), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe2(pipes[i], O_CLOEXEC), 0);
		assert_int_equal(write(pipes[i][1], "x", 1), 1);
		assert_int_equal(loop_add(&loop, pipes[i][0], EPOLLIN, remove_other, &pairs[i],
					  &pairs[i].mine),
				 0);
	}
	pairs[0].other = pairs[1].mine;
	pairs[1].other = pairs[0].mine;
	/* Both are ready in the same round; whoever is first removes the other. */
	assert_int_equal(loop_run(&loop), 0);
	assert_int_equal(total, 1);
	loop_fini(&loop);
	for (int i = 0; i < 2; i++) {
		fd_close(&pipes[i][0]);
		fd_close(&pipes[i][1]);
	}
}

static int count_call(void *context, uint32_t events)
{
	(void)events;
	(*(int *)context)++;
	return 0;
}

static void test_slots_are_used_again_under_another_generation(void **state)
{
	enum { MANY = 300 };
	struct loop loop;
	struct loop_handle handles[MANY];
	int fds[MANY];
	int calls = 0;

	(void)state;
	assert_int_equal(loop_init(&loop), 0);
	for (int i = 0; i < MANY; i++) {
		int ends[2];

		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		fds[i] = ends[0];
		(void)close(ends[1]);
		assert_int_equal(loop_add(&loop, fds[i], EPOLLIN, count_call, &calls, &handles[i]),
				 0);
	}
	struct loop_handle old = handles[5];

	loop_remove(&loop, &handles[5]);
	assert_int_equal(handles[5].generation, 0);
	assert_int_equal(loop_add(&loop, fds[5], EPOLLIN, count_call, &calls, &handles[5]), 0);
	assert_int_equal(handles[5].slot, old.slot);
	assert_true(handles[5].generation != old.generation);
	assert_int_equal(loop_set_events(&loop, old, 0), -ENOENT);
	loop_fini(&loop);
	for (int i = 0; i < MANY; i++)
		fd_close(&fds[i]);
}

struct soon {
	struct loop *loop;
	int timer;
	long delay; /* ns until the next */
	int left;
};

static int on_soon(void *context, uint32_t events)
{
	struct soon *s = context;
	struct itimerspec next = {.it_value.tv_nsec = s->delay};
	uint64_t count = 0;

	(void)events;
	assert_int_equal(read(s->timer, &count, sizeof(count)), sizeof(count));
	if (--s->left == 0)
		loop_stop(s->loop);
	assert_int_equal(timerfd_settime(s->timer, 0, &next, NULL), 0);
	return 0;
}

/* An eager loop looks for what comes at once, and gives that up when nothing does. */
static void test_eager_loop(void **state)
{
	static const struct {
		long delay;
		bool looks;
	} cases[] = {{1, true}, {3000000, false}};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		struct loop loop;
		struct loop_handle handle;
		struct soon s = {.loop = &loop, .delay = cases[i].delay, .left = 100};
		struct itimerspec first = {.it_value.tv_nsec = 1};

		assert_int_equal(loop_init(&loop), 0);
		loop.eager_ns = 200000;
		loop.looks_left = 4;
		s.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		assert_true(s.timer >= 0);
		assert_int_equal(loop_add(&loop, s.timer, EPOLLIN, on_soon, &s, &handle), 0);
		assert_int_equal(timerfd_settime(s.timer, 0, &first, NULL), 0);
		assert_int_equal(loop_run(&loop), 0);
		assert_int_equal(s.left, 0);
		assert_int_equal(loop.looks_left > 0, cases[i].looks);
		(void)close(s.timer);
		loop_fini(&loop);
	}
}

struct counted {
	struct loop *loop;
	int calls;
	int until; /* so often */
};

static int count_until(void *context, uint32_t events)
{
	struct counted *c = context;

	assert_int_equal(events, EPOLLIN);
	if (++c->calls == c->until)
		loop_stop(c->loop);
	return 0;
}

/* The nearest source is heard first, and keeps nobody else from being heard. */
static void test_the_nearest_source(void **state)
{
	struct loop loop;
	struct counted near = {.loop = &loop}, far = {.loop = &loop, .until = 3};
	struct loop_handle near_handle, far_handle;
	int pipes[2][2];

	(void)state;
	assert_int_equal(loop_init(&loop), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe2(pipes[i], O_CLOEXEC), 0);
		assert_int_equal(write(pipes[i][1], "x", 1), 1);
	}
	assert_int_equal(loop_add(&loop, pipes[0][0], EPOLLIN, count_until, &near, &near_handle),
			 0);
	assert_int_equal(loop_add(&loop, pipes[1][0], EPOLLIN, count_until, &far, &far_handle), 0);
	assert_int_equal(loop_near(&loop, near_handle), 0);
	assert_int_equal(loop_near(&loop, far_handle), -EEXIST);
	assert_int_equal(loop_run(&loop), 0);
	assert_int_equal(near.calls, 3);
	assert_int_equal(far.calls, 3);

	/* One that waits for nothing is not heard; one that is gone leaves its place. */
	loop.stop = false;
	far.until = 5;
	assert_int_equal(loop_set_events(&loop, near_handle, 0), 0);
	assert_int_equal(loop_run(&loop), 0);
	assert_int_equal(near.calls, 3);
	loop_remove(&loop, &near_handle);
	assert_int_equal(loop_near(&loop, far_handle), 0);
	loop.stop = false;
	far.until = 6;
	assert_int_equal(loop_run(&loop), 0);
	assert_int_equal(far.calls, 6);
	loop_fini(&loop);
	for (int i = 0; i < 2; i++) {
		fd_close(&pipes[i][0]);
		fd_close(&pipes[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_permitted_message_is_handled, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_type_ends_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_large_a_body_ends_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_state_ends_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_right_state_is_handled, setup, teardown),
		cmocka_unit_test_setup_teardown(test_descriptors_are_counted_and_closed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_short_packet_ends_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_peer_is_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last_words_of_a_peer_are_heard, setup,
						teardown),
		cmocka_unit_test(test_removed_source_gets_no_event),
		cmocka_unit_test(test_slots_are_used_again_under_another_generation),
		cmocka_unit_test(test_eager_loop),
		cmocka_unit_test(test_the_nearest_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
