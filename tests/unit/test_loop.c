/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop where the kernel has no room left in the user's epoll sets: what is added is heard all
 * the same.  A filter says so for the kernel; it cannot be taken away again, so each test is a
 * child.
 */
#include "cmocka_lead.h"

#include "fd.h"
#include "loop.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* No more is added to any set. */
static bool fill_up(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_ctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EPOLL_CTL_ADD, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {BAWN_ARRAY_SIZE(code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

struct ear {
	struct loop *loop;
	struct loop_handle handle;
	int ends[2];
	int heard;
	int ends_at; /* the loop stops when so many were heard */
	bool leaves; /* unread */
};

static int on_heard(void *context, uint32_t events)
{
	struct ear *e = context;
	char c;

	if (!(events & EPOLLIN))
		return -EPROTO;
	e->heard++;
	if (!e->leaves && read(e->ends[0], &c, 1) != 1)
		return -EIO;
	if (e->heard >= e->ends_at)
		loop_stop(e->loop);
	return 0;
}

static int listen_to(struct loop *l, struct ear *e, uint32_t events)
{
	*e = (struct ear){.loop = l, .ends_at = 1};
	if (pipe2(e->ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	return loop_add(l, e->ends[0], events, on_heard, e, &e->handle);
}

static bool say(const struct ear *e)
{
	return write(e->ends[1], "x", 1) == 1;
}

/* The line that failed first, or 0. */
#define MUST(what)                                 \
	do {                                       \
		if (!(what))                       \
			return __LINE__ % 250 + 1; \
	} while (0)

static int run_once(struct loop *l)
{
	l->stop = false;
	return loop_run(l);
}

static int in_no_set(void)
{
	struct loop l;
	struct ear in, late, other;

	MUST(loop_init(&l) == 0 && listen_to(&l, &in, EPOLLIN) == 0 && l.plain == 0);
	MUST(fill_up());
	MUST(listen_to(&l, &late, EPOLLIN) == 0 && listen_to(&l, &other, EPOLLIN) == 0);
	MUST(l.plain == 2);
	/* Each is heard, in the set or not, and only who has something to say. */
	MUST(say(&late) && run_once(&l) == 0 && late.heard == 1 && in.heard == 0);
	MUST(say(&in) && run_once(&l) == 0 && in.heard == 1 && late.heard == 1);
	MUST(say(&in) && say(&late) && say(&other));
	in.ends_at = late.ends_at = other.ends_at = 1000;
	l.turn = NULL;
	in.ends_at = 2;
	MUST(run_once(&l) == 0 && late.heard == 2 && other.heard == 1 && in.heard == 2);
	/* One that waits for nothing, and one that was removed, are not heard. */
	MUST(loop_set_events(&l, late.handle, 0) == 0 && say(&late));
	loop_remove(&l, &other.handle);
	MUST(l.plain == 1 && say(&other) && say(&in));
	in.ends_at = 3;
	MUST(run_once(&l) == 0 && late.heard == 2 && other.heard == 1 && in.heard == 3);
	MUST(loop_set_events(&l, late.handle, EPOLLIN) == 0);
	late.ends_at = 3;
	MUST(run_once(&l) == 0 && late.heard == 3);
	loop_fini(&l);
	return 0;
}

/* A descriptor that is always ready and wants edges does not make the loop run all the time. */
static int edges(void)
{
	struct loop l;
	struct ear ready, in;
	struct timespec spent;

	MUST(fill_up() && loop_init(&l) == 0);
	MUST(listen_to(&l, &ready, EPOLLIN | EPOLLET) == 0 && listen_to(&l, &in, EPOLLIN) == 0);
	ready.leaves = true;
	ready.ends_at = 5;
	MUST(say(&ready) && run_once(&l) == 0 && ready.heard == 5);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
	MUST(spent.tv_sec == 0 && spent.tv_nsec < 80 * 1000000L);
	ready.ends_at = 1000;
	MUST(say(&in) && run_once(&l) == 0 && in.heard == 1);
	loop_fini(&l);
	return 0;
}

static int held_and_near(void)
{
	struct loop l;
	struct ear near, kept, out;

	MUST(fill_up() && loop_init(&l) == 0);
	MUST(listen_to(&l, &near, EPOLLIN) == 0 && listen_to(&l, &kept, EPOLLIN) == 0 &&
	     listen_to(&l, &out, EPOLLIN) == 0);
	MUST(loop_near(&l, near.handle) == 0 && l.plain == 2);
	MUST(say(&near) && run_once(&l) == 0 && near.heard == 1);
	MUST(loop_keep(&l, kept.handle) == 0);
	loop_hold(&l, true);
	MUST(say(&near) && say(&out) && say(&kept) && run_once(&l) == 0);
	MUST(kept.heard == 1 && near.heard == 1 && out.heard == 0);
	loop_hold(&l, false);
	near.ends_at = 1000;
	MUST(run_once(&l) == 0 && out.heard == 1 && near.heard == 2);
	loop_fini(&l);
	return 0;
}

static void in_child(int (*test)(void))
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)alarm(20);
		_exit(test());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void what_finds_no_room_in_a_set_is_heard(void **state)
{
	(void)state;
	in_child(in_no_set);
}

static void edges_are_looked_for_and_cost_little(void **state)
{
	(void)state;
	in_child(edges);
}

static void a_held_loop_and_the_nearest_source_stay_what_they_are(void **state)
{
	(void)state;
	in_child(held_and_near);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_finds_no_room_in_a_set_is_heard),
		cmocka_unit_test(edges_are_looked_for_and_cost_little),
		cmocka_unit_test(a_held_loop_and_the_nearest_source_stay_what_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
