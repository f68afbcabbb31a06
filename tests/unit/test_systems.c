/* SPDX-License-Identifier: Apache-2.0 */
/* The store of systems: made whole or not at all, found again, and removed. */
#include "cmocka_lead.h"

#include "fd.h"
#include "str.h"
#include "system_make.h"
#include "systems.h"
#include "tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct world {
	char path[64];
	int dir;
	struct systems systems;
	struct error e;
};

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	(void)snprintf(w->path, sizeof(w->path), "/tmp/bawn-systems-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->dir = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->dir >= 0);
	assert_int_equal(systems_open(w->dir, w->path, true, &w->systems, &w->e), 0);
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;

	systems_close(&w->systems);
	fd_close(&w->dir);
	_cleanup_fd_ int above = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(tree_remove(above, strrchr(w->path, '/') + 1), 0);
	free(w);
	return 0;
}

static void put(int dir, const char *name, const char *text)
{
	_cleanup_fd_ int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

/* A small tree that looks like one. */
static void fill(const struct system_new *n)
{
	assert_int_equal(mkdirat(n->dir, "root/usr", 0755), 0);
	assert_int_equal(mkdirat(n->dir, "root/usr/sbin", 0755), 0);
	put(n->dir, "root/usr/hello", "hello\n");
}

static int count_one(void *context, const struct system_about *about, enum system_state state)
{
	(void)about;
	*(size_t *)context += state == SYSTEM_MADE ? 1 : 0;
	return 0;
}

static size_t count(struct world *w)
{
	size_t n = 0;

	assert_int_equal(systems_each(&w->systems, count_one, &n, &w->e), 0);
	return n;
}

struct asked {
	const char *name;
	int state; /* -1: there is none */
};

static int ask_one(void *context, const struct system_about *about, enum system_state state)
{
	struct asked *a = context;

	if (str_equal(about->name, a->name)) {
		assert_int_equal(a->state, -1); /* each once */
		a->state = (int)state;
	}
	return 0;
}

static int state_of(struct world *w, const char *name)
{
	struct asked a = {name, -1};

	assert_int_equal(systems_each(&w->systems, ask_one, &a, &w->e), 0);
	return a.state;
}

static void one_is_made_found_and_removed(void **state)
{
	struct world *w = *state;
	struct system_new n;
	struct system_about about;
	struct stat st;

	assert_int_equal(systems_begin(&w->systems, "base", &n, &w->e), 0);
	fill(&n);
	assert_int_equal(systems_read(&w->systems, "base", &about, &w->e), -ENOENT);
	assert_int_equal(count(w), 0);
	assert_int_equal(systems_commit(&w->systems, &n, "a test", 5000000000, &about, &w->e), 0);
	assert_int_equal(n.dir, -1);
	memset(&about, 0xff, sizeof(about));
	assert_int_equal(systems_read(&w->systems, "base", &about, &w->e), 0);
	assert_string_equal(about.name, "base");
	assert_string_equal(about.from, "a test");
	assert_true(about.made == 5000000000);
	assert_true(about.files > 8);
	assert_int_equal(count(w), 1);
	/* What a box mounts on is there, and nothing starts by being installed. */
	assert_int_equal(fstatat(w->systems.dir, "base/root/proc", &st, 0), 0);
	assert_int_equal(fstatat(w->systems.dir, "base/root/usr/sbin/policy-rc.d", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	assert_int_equal(systems_begin(&w->systems, "base", &n, &w->e), -EEXIST);
	assert_int_equal(systems_remove(&w->systems, "base", &w->e), 0);
	assert_int_equal(systems_remove(&w->systems, "base", &w->e), -ENOENT);
	assert_int_equal(count(w), 0);
}

static void what_is_no_root_is_not_kept(void **state)
{
	struct world *w = *state;
	struct system_new n;
	struct system_about about;
	struct stat st;

	assert_int_equal(systems_begin(&w->systems, "base", &n, &w->e), 0);
	put(n.dir, "root/file", "");
	assert_int_equal(systems_commit(&w->systems, &n, "x", 1, &about, &w->e), -ENOTDIR);
	systems_abort(&w->systems, &n);
	assert_int_equal(fstatat(w->systems.dir, ".base.new", &st, 0), -1);
	/* Where something is mounted no link may stand. */
	assert_int_equal(systems_begin(&w->systems, "base", &n, &w->e), 0);
	fill(&n);
	assert_int_equal(symlinkat("/etc", n.dir, "root/proc"), 0);
	assert_true(systems_commit(&w->systems, &n, "x", 1, &about, &w->e) < 0);
	systems_abort(&w->systems, &n);
	assert_int_equal(count(w), 0);
}

static void a_link_in_it_is_not_followed(void **state)
{
	struct world *w = *state;
	struct system_new n;
	struct system_about about;
	struct stat st;

	assert_int_equal(systems_begin(&w->systems, "base", &n, &w->e), 0);
	assert_int_equal(mkdirat(n.dir, "root/usr", 0755), 0);
	assert_int_equal(mkdirat(w->dir, "outside", 0755), 0);
	assert_int_equal(symlinkat(w->path, n.dir, "root/usr/sbin"), 0);
	assert_int_equal(systems_commit(&w->systems, &n, "x", 1, &about, &w->e), 0);
	assert_int_equal(fstatat(w->dir, "policy-rc.d", &st, 0), -1);
}

static void one_name_is_made_by_one_at_a_time(void **state)
{
	struct world *w = *state;
	struct system_new first;
	struct system_new second;
	struct stat st;

	assert_int_equal(systems_begin(&w->systems, "base", &first, &w->e), 0);
	put(first.dir, "root/half", "");
	assert_int_equal(systems_begin(&w->systems, "base", &second, &w->e), -EBUSY);
	/* Killed, and a program that it had started goes on. */
	fd_close(&first.dir);
	assert_int_equal(state_of(w, "base"), SYSTEM_BEING_MADE);
	assert_int_equal(systems_begin(&w->systems, "base", &second, &w->e), -EBUSY);
	assert_int_equal(systems_remove(&w->systems, "base", &w->e), -EBUSY);
	/* That is gone too: what they made is not taken over. */
	fd_close(&first.lock);
	assert_int_equal(state_of(w, "base"), SYSTEM_UNFINISHED);
	assert_int_equal(systems_begin(&w->systems, "base", &second, &w->e), 0);
	assert_int_equal(fstatat(second.dir, "root/half", &st, 0), -1);
	systems_abort(&w->systems, &second);
	assert_int_equal(state_of(w, "base"), -1);
}

static void what_a_killed_one_left_is_removed_by_name(void **state)
{
	struct world *w = *state;
	struct system_about about;
	struct system_new n;
	struct stat st;

	assert_int_equal(systems_begin(&w->systems, "base", &n, &w->e), 0);
	fill(&n);
	assert_int_equal(fchmodat(n.dir, "root/usr", 0, 0), 0);
	fd_close(&n.dir);
	fd_close(&n.lock);
	assert_int_equal(systems_remove(&w->systems, "base", &w->e), 0);
	assert_int_equal(fstatat(w->systems.dir, ".base.new", &st, 0), -1);
	/* One whose removal was killed. */
	assert_int_equal(mkdirat(w->systems.dir, ".base.old", 0700), 0);
	assert_int_equal(mkdirat(w->systems.dir, ".base.old/root", 0700), 0);
	assert_int_equal(state_of(w, "base"), SYSTEM_UNFINISHED);
	assert_int_equal(systems_remove(&w->systems, "base", &w->e), 0);
	assert_int_equal(systems_remove(&w->systems, "base", &w->e), -ENOENT);
	/* One of which nobody knows what it is. */
	assert_int_equal(systems_begin(&w->systems, "base", &n, &w->e), 0);
	fill(&n);
	put(n.dir, "image", "large");
	assert_int_equal(systems_commit(&w->systems, &n, "x", 1, &about, &w->e), 0);
	assert_int_equal(fstatat(w->systems.dir, "base/image", &st, 0), -1);
	assert_int_equal(fstatat(w->systems.dir, "base/making", &st, 0), -1);
	put(w->systems.dir, "base/about", "rubbish");
	assert_int_equal(state_of(w, "base"), SYSTEM_UNREADABLE);
	assert_int_equal(systems_remove(&w->systems, "base", &w->e), 0);
	assert_int_equal(state_of(w, "base"), -1);
}

static void names_are_checked(void **state)
{
	static const char *const bad[] = {"", "..", ".new", "a/b", "A", "a b", "-a", "a\n"};
	struct world *w = *state;
	struct system_new n;
	struct system_about about;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		assert_int_equal(systems_begin(&w->systems, bad[i], &n, &w->e), -EINVAL);
		assert_int_equal(systems_read(&w->systems, bad[i], &about, &w->e), -ENOENT);
		assert_int_equal(systems_remove(&w->systems, bad[i], &w->e), -ENOENT);
	}
}

static void what_is_said_of_one_has_one_spelling(void **state)
{
	static const char good[] = "bawn-system-1\nname a\nmade 1\nbytes 2\nfiles 3\nfrom x y\n";
	struct system_about about;
	char text[sizeof(good)];

	(void)state;
	assert_int_equal(systems_parse(span_of_str(good), &about), 0);
	assert_string_equal(about.from, "x y");
	/* No byte of it can be left out. */
	for (size_t i = 0; i < sizeof(good) - 1; i++) {
		if (strchr("123xy ", good[i]))
			continue;
		memcpy(text, good, i);
		memcpy(text + i, good + i + 1, sizeof(good) - i - 1);
		assert_int_equal(systems_parse(span_of_str(text), &about), -EBADMSG);
	}
	assert_int_equal(systems_parse((struct span){(const uint8_t *)good, sizeof(good)}, &about),
			 -EBADMSG);
}

static void sources_are_told_apart(void **state)
{
	static const struct {
		const char *text;
		enum system_source_kind kind;
		const char *what;
	} cases[] = {
		{"debian", SYSTEM_DEBIAN, ""},
		{"debian:sid", SYSTEM_DEBIAN, "sid"},
		{"debian:deb [trusted=yes] copy:/x ./", SYSTEM_DEBIAN,
		 "deb [trusted=yes] copy:/x ./"},
		{"oci:a/b:c", SYSTEM_OCI, "a/b:c"},
		{"docker://a/b", SYSTEM_DOCKER, "docker://a/b"},
		{"./debian", SYSTEM_PATH, "./debian"},
		{"/x.tar", SYSTEM_PATH, "/x.tar"},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		struct system_source s = system_source_parse(cases[i].text);

		assert_int_equal(s.kind, cases[i].kind);
		assert_string_equal(s.what, cases[i].what);
	}
}

static void a_name_says_its_source_or_none(void **state)
{
	static const char *const releases[] = {"bookworm", "trixie", "sid", "stable"};
	static const char *const others[] = {"ubuntu", "nosuch", "debian12", "alpine", ""};
	char source[SYSTEM_SOURCE_MAX], spelled[SYSTEM_SOURCE_MAX];

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(releases); i++) {
		assert_int_equal(system_source_of_name(releases[i], source), 0);
		assert_string_equal(str_after(source, "debian:"), releases[i]);
	}
	/* The release of this machine, whichever it is, is said. */
	assert_int_equal(system_source_of_name("debian", source), 0);
	assert_true(strlen(source) > strlen("debian:"));
	assert_string_equal(system_source_spell("debian", spelled), source);
	assert_string_equal(system_source_spell("oci:x", spelled), "oci:x");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(others); i++)
		assert_int_equal(system_source_of_name(others[i], source), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_is_made_found_and_removed, begin, end),
		cmocka_unit_test_setup_teardown(what_is_no_root_is_not_kept, begin, end),
		cmocka_unit_test_setup_teardown(a_link_in_it_is_not_followed, begin, end),
		cmocka_unit_test_setup_teardown(one_name_is_made_by_one_at_a_time, begin, end),
		cmocka_unit_test_setup_teardown(what_a_killed_one_left_is_removed_by_name, begin,
						end),
		cmocka_unit_test_setup_teardown(names_are_checked, begin, end),
		cmocka_unit_test(what_is_said_of_one_has_one_spelling),
		cmocka_unit_test(sources_are_told_apart),
		cmocka_unit_test(a_name_says_its_source_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
