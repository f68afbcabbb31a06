/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about the folders of live sessions: found while they live, gone when they do not. */
#include "fake_home.h"

#include "fd.h"
#include "session_store.h"
#include "str.h"

#include <sys/file.h>

struct seen {
	size_t count;
	char name[SESSION_NAME_MAX];
};

static const struct session_name any_name;

static int see(void *context, const char *name)
{
	struct seen *s = context;

	s->count++;
	(void)snprintf(s->name, sizeof(s->name), "%s", name);
	return 0;
}

static struct seen look(const struct session_places *places)
{
	struct seen s = {0};
	struct error e = ERROR_INIT;

	assert_int_equal(session_store_each(places, see, &s, &e), 0);
	return s;
}

static struct session_places places_of(struct arena *arena)
{
	struct host host;
	struct error e = ERROR_INIT;

	*arena = ARENA_INIT(1 << 20);
	if (host_gather_user(arena, &host, &e) < 0)
		fail_msg("%s", e.text);
	return session_places_of(&host);
}

static mode_t mode_of(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	assert_int_equal(lstat(fake_path(path, dir, name), &st), 0);
	return st.st_mode & 07777;
}

static void test_it_is_found_and_goes(void **state)
{
	const struct fake_home *f = *state;
	struct arena arena;
	struct session_places places = places_of(&arena);
	struct session_store s = SESSION_STORE_INIT;
	struct error e = ERROR_INIT;
	char name[PATH_MAX];

	fake_dir(f->home, ".local/state/bawn");
	assert_null(places.runtime);
	assert_int_equal(session_store_make(&places, &any_name, &s, &e), 0);
	assert_int_equal(mode_of(places.state, "run"), 0700);
	(void)snprintf(name, sizeof(name), "run/%s", s.name);
	assert_int_equal(mode_of(places.state, name), 0700);
	(void)snprintf(name, sizeof(name), "run/%s/control", s.name);
	assert_int_equal(mode_of(places.state, name), 0600);

	struct seen seen = look(&places);
	int fd = session_store_connect(&places, s.name);

	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.name, s.name);
	assert_true(fd >= 0);
	fd_close(&fd);
	session_store_fini(&s);
	assert_int_equal(look(&places).count, 0);
	assert_int_equal(session_store_connect(&places, seen.name), -ENOENT);
	assert_int_equal(session_store_connect(&places, "../run"), -ENOENT);
	assert_int_equal(session_store_connect(&places, ""), -ENOENT);
	arena_fini(&arena);
}

/* Killed: the descriptors are closed, and nobody tidied up. */
static void test_what_a_dead_one_left_is_removed(void **state)
{
	const struct fake_home *f = *state;
	struct arena arena;
	struct session_places places = places_of(&arena);
	struct session_store dead = SESSION_STORE_INIT;
	struct session_store live = SESSION_STORE_INIT;
	struct error e = ERROR_INIT;
	char path[PATH_MAX];
	char name[PATH_MAX];
	struct stat st;

	fake_dir(f->home, ".local/state/bawn");
	assert_int_equal(session_store_make(&places, &any_name, &dead, &e), 0);
	(void)snprintf(name, sizeof(name), "run/%s", dead.name);
	fd_close(&dead.listener);
	/* While somebody holds the lock, it lives. */
	assert_int_equal(look(&places).count, 1);
	fd_close(&dead.folder);
	fd_close(&dead.above);
	assert_int_equal(lstat(fake_path(path, places.state, name), &st), 0);
	/* A start tidies up as a list does. */
	assert_int_equal(session_store_make(&places, &any_name, &live, &e), 0);
	assert_int_equal(lstat(path, &st), -1);
	assert_int_equal(look(&places).count, 1);
	session_store_fini(&live);
	arena_fini(&arena);
}

static void test_the_runtime_folder_is_used_when_it_is_ours_alone(void **state)
{
	const struct fake_home *f = *state;
	struct session_store s = SESSION_STORE_INIT;
	struct session_store other = SESSION_STORE_INIT;
	struct error e = ERROR_INIT;
	struct arena arena;
	char path[PATH_MAX];
	char name[PATH_MAX];
	struct stat st;

	fake_dir(f->home, ".local/state/bawn");
	fake_dir(f->home, "runtime");
	(void)fake_path(path, f->home, "runtime");
	assert_int_equal(setenv("XDG_RUNTIME_DIR", path, 1), 0);
	assert_int_equal(chmod(path, 0770), 0);
	struct session_places places = places_of(&arena);

	assert_null(places.runtime); /* others could write it */
	arena_fini(&arena);
	assert_int_equal(chmod(path, 0700), 0);
	places = places_of(&arena);
	assert_non_null(places.runtime);
	assert_int_equal(session_store_make(&places, &any_name, &s, &e), 0);
	(void)snprintf(name, sizeof(name), "runtime/bawn/%s/control", s.name);
	assert_int_equal(lstat(fake_path(path, f->home, name), &st), 0);

	/* One that was started without the variable is found all the same. */
	struct session_places without = {.runtime = NULL, .state = places.state};

	assert_int_equal(session_store_make(&without, &any_name, &other, &e), 0);
	assert_int_equal(look(&places).count, 2);
	assert_int_equal(look(&without).count, 1);
	session_store_fini(&other);
	session_store_fini(&s);
	assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
	arena_fini(&arena);
}

static void test_names_are_two_words_and_differ(void **state)
{
	enum { MANY = 100 };
	const struct fake_home *f = *state;
	static struct session_store all[MANY];
	struct arena arena;
	struct session_places places = places_of(&arena);
	struct error e = ERROR_INIT;

	fake_dir(f->home, ".local/state/bawn");
	for (size_t i = 0; i < MANY; i++) {
		all[i] = SESSION_STORE_INIT;
		assert_int_equal(session_store_make(&places, &any_name, &all[i], &e), 0);
		assert_non_null(strchr(all[i].name, '-'));
		assert_int_equal(strspn(all[i].name, "abcdefghijklmnopqrstuvwxyz-"),
				 strlen(all[i].name));
		for (size_t n = 0; n < i; n++)
			assert_string_not_equal(all[n].name, all[i].name);
	}
	assert_int_equal(look(&places).count, MANY);
	for (size_t i = 0; i < MANY; i++)
		session_store_fini(&all[i]);
	assert_int_equal(look(&places).count, 0);
	arena_fini(&arena);
}

/* A folder that somebody else can write is nobody's place for sockets. */
static void test_a_folder_of_others_is_refused(void **state)
{
	const struct fake_home *f = *state;
	struct arena arena;
	struct session_places places = places_of(&arena);
	struct session_store s = SESSION_STORE_INIT;
	struct error e = ERROR_INIT;
	char path[PATH_MAX];

	fake_dir(f->home, ".local/state/bawn/run");
	assert_int_equal(chmod(fake_path(path, places.state, "run"), 0777), 0);
	assert_int_equal(session_store_make(&places, &any_name, &s, &e), -EPERM);
	assert_non_null(strstr(e.text, "/bawn"));
	assert_int_equal(look(&places).count, 0);
	arena_fini(&arena);
}

#define PROMISE(name) \
	cmocka_unit_test_setup_teardown(test_##name, fake_home_setup, fake_home_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(it_is_found_and_goes),
		PROMISE(what_a_dead_one_left_is_removed),
		PROMISE(the_runtime_folder_is_used_when_it_is_ours_alone),
		PROMISE(names_are_two_words_and_differ),
		PROMISE(a_folder_of_others_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
