/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about sockets of the host: found where the kernel lists them, covered where they show.
 */
#include "fake_world.h"

#include "fake_home.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void a_socket_in_the_workspace_is_covered(void **state)
{
	struct world *w = *state;

	(void)world_add(w, &w->host.sockets, WORLD_WORKSPACE "/server.sock");
	world_build(w);
	assert_int_equal(world_mount(w, WORLD_WORKSPACE "/server.sock").kind, PLAN_MOUNT_HIDE);
	assert_non_null(world_note(w, PLAN_NOTE_HIDDEN, WORLD_WORKSPACE "/server.sock"));
}

static void a_socket_in_a_folder_that_is_read_is_covered(void **state)
{
	struct world *w = *state;

	world_read(w, "/srv/data");
	(void)world_add(w, &w->host.sockets, "/srv/data/deep/db.sock");
	world_build(w);
	assert_int_equal(world_mount(w, "/srv/data/deep/db.sock").kind, PLAN_MOUNT_HIDE);
}

static void a_socket_that_is_not_shown_is_not_mentioned(void **state)
{
	struct world *w = *state;

	world_build(w);
	size_t mounts = w->plan.mounts.count;
	size_t notes = w->plan.notes.count;

	(void)world_add(w, &w->host.sockets, "/srv/elsewhere.sock");
	(void)world_add(w, &w->host.sockets, WORLD_HOME "/.ssh/agent.sock");
	world_build(w);
	assert_int_equal(w->plan.mounts.count, mounts);
	assert_int_equal(w->plan.notes.count, notes);
}

static void a_socket_of_the_host_is_found_once(void **state)
{
	struct fake_home *f = *state;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	_cleanup_arena_ struct arena arena = ARENA_INIT(16 << 20);
	struct error e = ERROR_INIT;
	struct host h;
	size_t found = 0;
	int fds[3];

	int n = snprintf(a.sun_path, sizeof(a.sun_path), "%s/server.sock", f->project);

	assert_in_range(n, 1, sizeof(a.sun_path) - 1);
	fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fds[0], (const struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fds[0], 4), 0);
	/* A connection is a line of its own, with the same name. */
	fds[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fds[1], (const struct sockaddr *)&a, sizeof(a)), 0);
	fds[2] = accept4(fds[0], NULL, NULL, SOCK_CLOEXEC);
	assert_true(fds[2] >= 0);
	assert_int_equal(host_gather(NULL, &arena, &h, &e), 0);
	for (size_t i = 0; i < h.sockets.count; i++)
		found += str_equal(h.sockets.items[i].path, a.sun_path);
	assert_int_equal(found, 1);
	for (int i = 0; i < 3; i++)
		(void)close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(a_socket_in_the_workspace_is_covered),
		PROMISE(a_socket_in_a_folder_that_is_read_is_covered),
		PROMISE(a_socket_that_is_not_shown_is_not_mentioned),
		cmocka_unit_test_setup_teardown(a_socket_of_the_host_is_found_once, fake_home_setup,
						fake_home_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
