/* SPDX-License-Identifier: Apache-2.0 */
/* What git's settings name: the user's own and the repository's, key by key. */
#include "cmocka_lead.h"

#include "hold_lead.h"
#include "hold_parts.h"

/* A setting in the repository's file, or in the user's own. */
static void set_up(struct world *w, bool own, const char *text)
{
	struct view v = {.base = w->base, .layers = {w->up}, .count = 1};
	const struct changes_how how = {.hash = true};
	const char *const files[] = {"~/gitconfig"};
	const struct hold_user user = {.home = w->path, .files = files, .file_count = 1};
	struct hold_rules *r = NULL;
	struct error e = ERROR_INIT;

	put(w->base, ".git/config", own ? "" : text);
	put(w->dir, "gitconfig", own ? text : "");
	changes_fini(&w->changes);
	assert_int_equal(hold_rules_new(NULL, &r, &e), 0);
	hold_rules_within(r, 600000);
	assert_int_equal(hold_rules_user(r, &user, &e), 0);
	assert_int_equal(changes_read(&v, &how, &w->changes, &e), 0);
	assert_int_equal(hold_judge(r, &v, &w->changes, &e), 0);
	hold_rules_free(&r);
	assert_int_equal(unlinkat(w->dir, "gitconfig", 0), 0);
}

/* Whatever the key and the value: the user's own settings and the repository's lead to the same
 * decisions. */
static void test_same_settings(void **state)
{
	static const char *const values[] = {
		"~/base/tools/x", "!~/base/tools/x",  "sh ~/base/tools/x -a", "ext::~/base/tools/x",
		"!sh lone.sh a",  "log --graph lone", "-c core.pager=lone a", "lone",
		"true",
	};
	static const char *const files[] = {"tools/x", "lone.sh", "lone", "tools/other", "true"};
	/* git takes drivers and templates from there; the file itself is no program. */
	static const char *const others[] = {"attributesfile", "templatedir", "path"};
	struct world *w = *state;
	enum change_group groups[BAWN_ARRAY_SIZE(files)];
	const char *section, *key;
	bool sub;

	put(w->base, ".git/HEAD", "ref: refs/heads/main\n");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(files); i++) {
		put(w->base, files[i], "x\n");
		put(w->up, files[i], "evil\n");
	}
	for (size_t row = 0; hold_key_at(row, &section, &key, &sub); row++)
		for (size_t i = 0; i < BAWN_ARRAY_SIZE(values); i++) {
			char text[256];
			bool other = false;

			(void)snprintf(text, sizeof(text), "[%s%s]\n\t%s = \"%s\"\n", section,
				       sub ? " \"s\"" : "", str_equal(key, "*") ? "cmd" : key,
				       values[i]);
			set_up(w, false, text);
			for (size_t n = 0; n < BAWN_ARRAY_SIZE(files); n++)
				groups[n] = changes_find(&w->changes, files[n])->group;
			set_up(w, true, text);
			for (size_t n = 0; n < BAWN_ARRAY_SIZE(files); n++)
				if (changes_find(&w->changes, files[n])->group != groups[n])
					fail_msg("%s%s is %s by yours, and %s by the repository's",
						 text, files[n],
						 change_group_words[changes_find(&w->changes,
										 files[n])
									    ->group],
						 change_group_words[groups[n]]);
			for (size_t n = 0; n < BAWN_ARRAY_SIZE(others); n++)
				other = other || str_equal(key, others[n]);
			if (i == 0 && !other)
				found(w, "tools/x", HELD, NULL, NULL);
			found(w, "tools/other", ORDINARY, NULL, NULL);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_same_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
