/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a session when its user logs out, by what systemd's files say. */
#include "fake_home.h"

#include "linger.h"
#include "str.h"

#define IN_LOGIN "0::/user.slice/user-1000.slice/session-3.scope\n"
#define IN_MANAGER "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-term-1.scope\n"
#define IN_SERVICE "0::/system.slice/cron.service\n"

static struct linger_conf conf_of(const char *text, const char *user, bool shipped)
{
	struct linger_conf c = LINGER_CONF_INIT(str_equal(user, "root"));

	linger_read_conf(span_of_str(text), user, shipped, &c);
	return c;
}

static void test_judge(void **state)
{
	static const struct {
		bool systemd, lingers;
		const char *cgroup, *conf, *user;
		enum linger_end is;
	} rows[] = {
		{false, false, IN_LOGIN, "KillUserProcesses=yes\n", "jo", LINGER_STAYS},
		{true, true, IN_LOGIN, "KillUserProcesses=yes\n", "jo", LINGER_STAYS},
		{true, true, IN_MANAGER, "", "jo", LINGER_STAYS},
		{true, false, IN_LOGIN, "KillUserProcesses=yes\n", "jo", LINGER_ENDS_WITH_LOGIN},
		{true, false, IN_LOGIN, "", "jo", LINGER_ENDS_WITH_LOGIN},
		{true, false, IN_LOGIN, "KillUserProcesses=no\n", "jo", LINGER_STAYS},
		{true, false, IN_LOGIN, "#KillUserProcesses=no\n", "jo", LINGER_STAYS},
		{true, false, IN_LOGIN, "#KillUserProcesses=no\nKillUserProcesses = On", "jo",
		 LINGER_ENDS_WITH_LOGIN},
		{true, false, IN_LOGIN, "KillUserProcesses=yes\n#KillUserProcesses=no\n", "jo",
		 LINGER_ENDS_WITH_LOGIN},
		{true, false, IN_LOGIN, "KillUserProcesses=yes\nKillExcludeUsers=al jo\n", "jo",
		 LINGER_STAYS},
		{true, false, IN_LOGIN, "KillUserProcesses=yes\nKillExcludeUsers=joe\n", "jo",
		 LINGER_ENDS_WITH_LOGIN},
		{true, false, IN_LOGIN, "KillUserProcesses=yes\nKillOnlyUsers=al\n", "jo",
		 LINGER_STAYS},
		{true, false, IN_LOGIN, "KillUserProcesses=yes\nKillOnlyUsers=al jo\n", "jo",
		 LINGER_ENDS_WITH_LOGIN},
		{true, false, IN_LOGIN, "KillUserProcesses=yes\n", "root", LINGER_STAYS},
		{true, false, IN_LOGIN, "KillUserProcesses=yes\nKillExcludeUsers=\n", "root",
		 LINGER_ENDS_WITH_LOGIN},
		{true, false, IN_LOGIN, "; KillUserProcesses=no\nKillUserProcessesX=no\n", "jo",
		 LINGER_ENDS_WITH_LOGIN},
		{true, false, IN_MANAGER, "KillUserProcesses=no\n", "jo", LINGER_ENDS_WITH_MANAGER},
		{true, false, IN_SERVICE, "KillUserProcesses=yes\n", "jo", LINGER_STAYS},
		{true, false, "", "KillUserProcesses=yes\n", "jo", LINGER_STAYS},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const struct linger_facts f = {
			.systemd = rows[i].systemd,
			.lingers = rows[i].lingers,
			.cgroup = rows[i].cgroup,
			.conf = conf_of(rows[i].conf, rows[i].user, true),
		};

		print_message("# row %zu\n", i);
		assert_int_equal(linger_judge(&f), rows[i].is);
		assert_true((linger_words(rows[i].is) == NULL) == (rows[i].is == LINGER_STAYS));
	}
	/* In a drop-in a comment is a comment. */
	assert_int_equal(conf_of("#KillUserProcesses=no\n", "jo", false).kills, -1);
}

static void put(const struct fake_home *f, const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX], at[PATH_MAX];

	fake_dir(f->root, dir);
	FILE *file = fopen(fake_path(path, fake_path(at, f->root, dir), name), "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* The files in their places, each of which can change it. */
static void test_look(void **state)
{
	const struct fake_home *f = *state;

	assert_int_equal(linger_look(f->root, "jo", false), LINGER_STAYS);
	fake_dir(f->root, "run/systemd/system");
	put(f, "proc/self", "cgroup", IN_LOGIN);
	assert_int_equal(linger_look(f->root, "jo", false), LINGER_ENDS_WITH_LOGIN);
	put(f, "usr/lib/systemd", "logind.conf", "[Login]\n#KillUserProcesses=no\n");
	assert_int_equal(linger_look(f->root, "jo", false), LINGER_STAYS);
	put(f, "usr/lib/systemd/logind.conf.d", "50-kill.conf", "[Login]\nKillUserProcesses=yes\n");
	assert_int_equal(linger_look(f->root, "jo", false), LINGER_ENDS_WITH_LOGIN);
	put(f, "run/systemd/logind.conf.d", "40-no.conf", "KillUserProcesses=no\n");
	assert_int_equal(linger_look(f->root, "jo", false), LINGER_ENDS_WITH_LOGIN);
	put(f, "etc/systemd/logind.conf.d", "50-kill.conf", "");
	assert_int_equal(linger_look(f->root, "jo", false), LINGER_STAYS);
	put(f, "etc/systemd/logind.conf.d", "60-yes.txt", "KillUserProcesses=yes\n");
	assert_int_equal(linger_look(f->root, "jo", false), LINGER_STAYS);
	put(f, "etc/systemd/logind.conf.d", "60-yes.conf", "KillUserProcesses=yes\n");
	assert_int_equal(linger_look(f->root, "jo", false), LINGER_ENDS_WITH_LOGIN);
	assert_int_equal(linger_look(f->root, "root", true), LINGER_STAYS);
	put(f, "proc/self", "cgroup", IN_MANAGER);
	assert_int_equal(linger_look(f->root, "jo", false), LINGER_ENDS_WITH_MANAGER);
	put(f, "var/lib/systemd/linger", "jo", "");
	assert_int_equal(linger_look(f->root, "jo", false), LINGER_STAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judge),
		cmocka_unit_test_setup_teardown(test_look, fake_home_setup, fake_home_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
