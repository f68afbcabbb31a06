/* SPDX-License-Identifier: Apache-2.0 */
/* Who the user is to git: his own files say it, and what they include; nothing else is read. */
#include "fake_home.h"

#include "buf.h"
#include "git_identity.h"
#include "str.h"

#include <time.h>

#define PROMISE(f) cmocka_unit_test_setup_teardown(f, fake_home_setup, fake_home_teardown)

struct
try {
	struct arena arena;
	struct host host;
	struct error e;
};

static void try_read(struct try *t)
{
	(void)unsetenv("EMAIL");
	(void)unsetenv("GIT_CONFIG_GLOBAL");
	*t = (struct try){.arena = ARENA_INIT(4 << 20), .e = ERROR_INIT};
	if (host_gather(NULL, &t->arena, &t->host, &t->e) < 0)
		fail_msg("%s", t->e.text);
	static const struct policy none;

	if (git_identity_read(&t->host, &none, &t->arena, &t->e) < 0)
		fail_msg("%s", t->e.text);
}

static void says(const char *name, const char *email)
{
	struct try t;

	try_read(&t);
	const char *got[] = {t.host.git.values[HOST_GIT_NAME].text,
			     t.host.git.values[HOST_GIT_EMAIL].text};

	if (!str_equal(got[0] ? got[0] : "-", name) || !str_equal(got[1] ? got[1] : "-", email))
		fail_msg("%s <%s>, and not %s <%s>", got[0], got[1], name, email);
	arena_fini(&t.arena);
}

static void the_later_word_counts(void **state)
{
	const struct fake_home *f = *state;

	says("-", "-");
	fake_file(f->home, ".config/git/config", "[user]\nname = x\nemail = x@x.test\n");
	says("x", "x@x.test");
	fake_file(f->home, ".gitconfig",
		  "[user]\nname = a\n[user \"sub\"]\nname = b\n[USER]Name=c\n");
	says("c", "x@x.test");
}

static void includes_are_those_of_the_user(void **state)
{
	const struct fake_home *f = *state;

	fake_file(f->home, ".gitconfig",
		  "[user]\nname = a\n[include]\npath = one\n[includeIf \"gitdir:~/code/\"]\n"
		  "path = ~/two\n[includeIf \"gitdir:~/elsewhere/\"]\npath = three\n"
		  "[includeIf \"onbranch:main\"]\npath = three\n[includeIf \"\"]\npath = three\n"
		  "[include]\npath = nowhere\n[include]\npath = ~root/x\n[include]\npath =\n");
	fake_file(f->home, "one", "[user]\nemail = one@x.test\n");
	fake_file(f->home, "two", "[user]\nname = two\n");
	fake_file(f->home, "three", "[user]\nname = three\n");
	says("two", "one@x.test");
	/* What an agent may have written includes nothing. */
	fake_file(f->home, ".gitconfig", "[include]\npath = ~/code/project/own\n");
	fake_file(f->project, "own", "[user]\nname = own\n[include]\npath = ~/three\n");
	says("own", "-");
	fake_link(f->home, "link", "code/project/own");
	fake_file(f->home, ".gitconfig", "[include]\npath = link\n");
	says("own", "-");
}

static void circles_and_crowds_end(void **state)
{
	const struct fake_home *f = *state;
	_cleanup_buf_ struct buf text = BUF_INIT(1024);

	buf_put_str(&text, "[user]\nname = me\n");
	for (int i = 0; i < 8; i++)
		buf_put_str(&text, "[include]\npath = .gitconfig\n");
	fake_file(f->home, ".gitconfig", buf_str(&text));
	says("me", "-");
	fake_file(f->home, ".gitconfig",
		  "[include]\npath = .\n[include]\npath = fifo\n[user]\nname = b\n");
	char path[PATH_MAX];

	assert_int_equal(mkfifo(fake_path(path, f->home, "fifo"), 0600), 0);
	says("b", "-");
}

static void what_is_not_gits_is_named(void **state)
{
	const struct fake_home *f = *state;
	struct try t;

	fake_file(f->home, ".gitconfig", "[user]\nname = a\n[bad\n");
	try_read(&t);
	assert_non_null(t.host.git.bad);
	assert_true(str_ends_with(t.host.git.bad, "/.gitconfig"));
	arena_fini(&t.arena);
}

/* As git's wildmatch has it. */
static void patterns(void **state)
{
	static const struct {
		const char *pattern, *path;
		bool matches, any_case;
	} rows[] = {
		{"/a/**", "/a/b/.git", true, true},
		{"/a/**", "/a", false, false},
		{"/a/*", "/a/b/.git", false, false},
		{"/a/*/.git", "/a/b/.git", true, true},
		{"**/b/**", "/a/b/.git", true, true},
		{"**/a", "a", true, true},
		{"/a/**/c", "/a/c", true, true},
		{"/a/**/c", "/a/b/b/c", true, true},
		{"/A/b", "/a/b", false, true},
		{"/a/?", "/a/b", true, true},
		{"/a?b", "/a/b", false, false},
		{"/a/[a-c]", "/a/b", true, true},
		{"/a/[!a-c]", "/a/b", false, false},
		{"/a[/]b", "/a/b", false, false},
		{"/a/[b", "/a/b", false, false},
		{"/a/\\*", "/a/*", true, true},
		{"/a/\\*", "/a/b", false, false},
		{"", "", true, true},
		{"*", "", true, true},
		{"/a", "/a/", false, false},
	};
	_cleanup_buf_ struct buf stars = BUF_INIT(1024);
	char letters[2048];

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		for (int any = 0; any < 2; any++)
			if (git_identity_matches(rows[i].pattern, rows[i].path, any) !=
			    (any ? rows[i].any_case : rows[i].matches))
				fail_msg("%s and %s", rows[i].pattern, rows[i].path);
	/* One that would take for ever says no. */
	for (int i = 0; i < 100; i++)
		buf_put_str(&stars, "**a*");
	memset(letters, 'a', sizeof(letters) - 1);
	letters[sizeof(letters) - 1] = '\0';
	letters[sizeof(letters) - 2] = 'b';
	clock_t before = clock();

	assert_false(git_identity_matches(buf_str(&stars), "c", false));
	buf_put_str(&stars, "c");
	assert_false(git_identity_matches(buf_str(&stars), letters, false));
	assert_true((clock() - before) / CLOCKS_PER_SEC < 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(the_later_word_counts),  PROMISE(includes_are_those_of_the_user),
		PROMISE(circles_and_crowds_end), PROMISE(what_is_not_gits_is_named),
		cmocka_unit_test(patterns),
	};

	return cmocka_run_group_tests_name("git_identity", tests, NULL, NULL);
}
