/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about what sessions are called: which words may be names, and which session is meant. */
#include "fake_home.h"

#include "session_names.h"
#include "store.h"
#include "str.h"

static void test_what_may_be_a_name(void **state)
{
	static const char *const good[] = {
		"api",  "fix-login", "ab",         "a2",
		"try2", "x-y-z",     "calm-otter", "abcdefghijklmnopqrstuvwxyz01234"};
	static const char *const bad[] = {
		"",      "a",     "A",     "Api",
		"a b",   "a/b",   "..",    ".x",
		"-x",    "x-",    "2nd",   "try-2",
		"a-0",   "a\n",   "a\x1b", "\xc3\xa4\xc3\xa4",
		"apply", "undo",  "last",  "all",
		"host",  "today", "run",   "abcdefghijklmnopqrstuvwxyz012345"};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(good); i++) {
		struct error e = ERROR_INIT;

		if (session_names_check(good[i], &e) < 0)
			fail_msg("%s: %s", good[i], e.text);
		/* Then it is one in the layers and in the records as well. */
		char folder[STORE_FOLDER_SIZE];
		struct store_session s;

		(void)snprintf(folder, sizeof(folder), "20261115-084532-%s-2", good[i]);
		assert_true(layers_is_name(good[i]));
		assert_true(store_parse_folder(folder, &s));
		assert_string_equal(s.name, good[i]);
		assert_true(store_is_session(&s));
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(bad); i++) {
		struct error e = ERROR_INIT;

		if (session_names_check(bad[i], &e) != -EINVAL)
			fail_msg("%s is taken", bad[i]);
		assert_non_null(strstr(e.text, "cannot be called"));
	}
}

static void test_which_is_meant(void **state)
{
	struct session_known items[] = {{"amber-fox", "", SESSION_RUNS},
					{"amber-owl", "build", SESSION_KEPT},
					{"build", "", SESSION_RECORDED},
					{"calm", "zest", SESSION_KEPT},
					{"calm-otter", "", SESSION_KEPT}};
	const struct session_names names = {items, BAWN_ARRAY_SIZE(items)};
	static const struct {
		const char *typed, *meant;
		int code;
	} rows[] = {
		{"amber-fox", "amber-fox", 0},
		{"amber-o", "amber-owl", 0},
		{"amber", NULL, -ENOTUNIQ},
		{"build", "build", 0}, /* a name before a label */
		{"buil", NULL, -ENOTUNIQ},
		{"calm", "calm", 0}, /* whole before a beginning */
		{"cal", NULL, -ENOTUNIQ},
		{"calm-", "calm-otter", 0},
		{"z", "calm", 0},
		{"x", NULL, -ENOENT},
		{"", NULL, -ENOENT},
		{"amber-foxes", NULL, -ENOENT},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct error e = ERROR_INIT;
		const struct session_known *found =
			session_names_match(&names, rows[i].typed, SESSION_TYPED_BEGINNING, &e);

		print_message("# %s\n", rows[i].typed);
		assert_int_equal(e.code, rows[i].code);
		if (rows[i].meant)
			assert_string_equal(found->name, rows[i].meant);
		else
			assert_null(found);
	}
}

/* Where nobody looks, the beginning of a name is none. */
static void test_whole_names(void **state)
{
	struct session_known items[] = {{"api2", "", SESSION_RUNS}, {"calm", "site", SESSION_KEPT}};
	const struct session_names names = {items, BAWN_ARRAY_SIZE(items)};
	struct error e = ERROR_INIT;

	(void)state;
	assert_null(session_names_match(&names, "api", SESSION_TYPED_WHOLE, &e));
	assert_int_equal(e.code, -ENOENT);
	assert_non_null(strstr(e.next, "api2 begins so"));
	assert_ptr_equal(session_names_match(&names, "api2", SESSION_TYPED_WHOLE, &e), &items[0]);
	assert_ptr_equal(session_names_match(&names, "site", SESSION_TYPED_WHOLE, &e), &items[1]);
}

/* One label for a session; it goes where it is told, and leads nowhere else. */
static void test_labels(void **state)
{
	const struct fake_home *f = *state;
	char name[LAYERS_NAME_MAX + 1], label[SESSION_NAME_MAX], path[PATH_MAX];
	struct error e = ERROR_INIT;

	assert_int_equal(session_label_read(f->root, "api", name), -ENOENT);
	session_label_of(f->root, "calm-otter", label);
	assert_string_equal(label, "");
	assert_int_equal(session_label_give(f->root, "calm-otter", "", &e), 0);
	assert_int_equal(session_label_give(f->root, "calm-otter", "api", &e), 0);
	assert_int_equal(session_label_give(f->root, "shy-wren", "web", &e), 0);
	assert_int_equal(session_label_read(f->root, "api", name), 0);
	assert_string_equal(name, "calm-otter");
	assert_int_equal(session_label_give(f->root, "calm-otter", "api2", &e), 0);
	assert_int_equal(session_label_read(f->root, "api", name), -ENOENT);
	session_label_of(f->root, "calm-otter", label);
	assert_string_equal(label, "api2");
	assert_int_equal(session_label_give(f->root, "calm-otter", "", &e), 0);
	session_label_of(f->root, "calm-otter", label);
	assert_string_equal(label, "");
	session_label_of(f->root, "shy-wren", label);
	assert_string_equal(label, "web");
	/* What leads out of the names of sessions is none. */
	(void)snprintf(path, sizeof(path), "%s/names/evil", f->root);
	assert_int_equal(symlink("../../etc/passwd", path), 0);
	assert_int_equal(session_label_read(f->root, "evil", name), -ENOENT);
	assert_int_equal(session_label_read(f->root, "../names/web", name), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_may_be_a_name),
		cmocka_unit_test(test_which_is_meant),
		cmocka_unit_test(test_whole_names),
		cmocka_unit_test_setup_teardown(test_labels, fake_home_setup, fake_home_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
