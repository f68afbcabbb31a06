/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about the way from a command line to a plan, and about showing it. */
#include "fake_home.h"

#include "banner.h"
#include "bawn_verbs.h"
#include "config.h"
#include "fd.h"
#include "prepare.h"
#include "str.h"

#include <sys/mman.h>

struct
try {
	struct prepared prepared;
	struct invocation_value values[8];
	size_t count;
	struct invocation invocation;
	struct error e;
	int r;
};

static const struct verb *verb(const char *name)
{
	for (size_t i = 0; i < verb_count; i++)
		if (str_equal(verbs[i].name, name))
			return &verbs[i];
	fail_msg("there is no verb %s", name);
	return NULL;
}

static void try_init(struct try *t)
{
	memset(t, 0, sizeof(*t));
	t->prepared = PREPARED_INIT;
	t->invocation.verb = verb("run");
	t->invocation.values = t->values;
}

static void try_option(struct try *t, enum option_id id, const char *value)
{
	assert_true(t->count < BAWN_ARRAY_SIZE(t->values));
	t->values[t->count++] = (struct invocation_value){id, value};
	t->invocation.value_count = t->count;
}

static void try_plan(struct try *t, bool create)
{
	static char command[] = "true";
	char *argv[] = {command, NULL};

	t->e = ERROR_INIT;
	t->r = prepare_plan(&t->invocation, argv, create, &t->prepared, &t->e);
}

static void try_end(struct try *t)
{
	if (t->r == 0)
		prepared_fini(&t->prepared);
}

static void expect_plan(struct try *t, bool create)
{
	try_plan(t, create);
	if (t->r < 0)
		fail_msg("%s", t->e.text);
}

static void expect_error(struct try *t, const char *sentence)
{
	try_plan(t, false);
	if (t->r >= 0)
		fail_msg("there is a plan: %s", sentence);
	if (!strstr(t->e.text, sentence))
		fail_msg("\"%s\" does not say \"%s\"", t->e.text, sentence);
}

static const struct plan_mount *at(const struct try *t, const char *target)
{
	for (size_t i = 0; i < t->prepared.plan->mounts.count; i++)
		if (str_equal(t->prepared.plan->mounts.items[i].target, target))
			return &t->prepared.plan->mounts.items[i];
	return NULL;
}

static unsigned int access_at(const struct try *t, const char *target)
{
	const struct plan_mount *m = at(t, target);

	if (!m)
		fail_msg("nothing is mounted at %s", target);
	return m ? m->access : 0;
}

static bool has_note(const struct try *t, enum plan_note_kind kind, const char *words)
{
	for (size_t i = 0; i < t->prepared.plan->notes.count; i++) {
		const struct plan_note *n = &t->prepared.plan->notes.items[i];

		if (n->kind == kind &&
		    (strstr(n->what, words) || strstr(n->why, words) || strstr(n->origin, words)))
			return true;
	}
	return false;
}

static void a_plan_without_any_file(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	try_init(&t);
	expect_plan(&t, true);
	assert_int_equal(t.prepared.plan->backend, PLAN_BACKEND_NAMESPACE);
	assert_int_equal(access_at(&t, f->project), PLAN_ACCESS_WRITE);
	assert_true(t.prepared.plan->seccomp.len > 0);
	assert_int_equal(t.prepared.plan->argv.count, 1);
	if (t.prepared.plan->argv.items)
		assert_string_equal(t.prepared.plan->argv.items[0].text, "true");
	assert_false(t.prepared.plan->trusted);
	/* The launcher takes it. */
	_cleanup_buf_ struct buf bytes = BUF_INIT(PLAN_BYTES_MAX);
	_cleanup_arena_ struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	const struct plan *again = NULL;
	assert_int_equal(plan_encode(t.prepared.plan, &bytes), 0);
	assert_int_equal(plan_decode(buf_span(&bytes), &again, &arena, &t.e), 0);
	try_end(&t);
}

static void explaining_leaves_no_trace(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	fake_dir(f->home, ".nvm");
	try_init(&t);
	expect_plan(&t, false);
	assert_false(fake_exists(f->home, ".local"));
	assert_false(fake_exists(f->home, ".config"));
	try_end(&t);
	/* And it says what a run would do. */
	struct try made;
	try_init(&made);
	expect_plan(&made, true);
	expect_plan(&t, false);
	assert_string_equal(made.prepared.plan->home_store, t.prepared.plan->home_store);
	assert_int_equal(made.prepared.plan->mounts.count, t.prepared.plan->mounts.count);
	try_end(&t);
	try_end(&made);
}

static void options_become_policy(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	char name[PATH_MAX];
	struct try t;

	fake_dir(f->home, "data/in");
	fake_dir(f->home, "code/out");
	fake_file(f->project, "secret", "x");
	assert_int_equal(setenv("PASSED", "yes", 1), 0);
	try_init(&t);
	try_option(&t, OPTION_READ_ONLY, "");
	try_option(&t, OPTION_READ, "~/data");
	try_option(&t, OPTION_WRITE, "../out"); /* as typed, from the current folder */
	try_option(&t, OPTION_HIDE, "./secret");
	try_option(&t, OPTION_ENV, "PASSED");
	try_option(&t, OPTION_ENV, "SET=to this");
	try_option(&t, OPTION_LIMIT, "processes=77");
	try_option(&t, OPTION_DEBUG, "");
	expect_plan(&t, true);
	const struct plan *p = t.prepared.plan;
	assert_int_equal(access_at(&t, f->project), PLAN_ACCESS_READ);
	assert_int_equal(access_at(&t, fake_path(path, f->home, "data")), PLAN_ACCESS_READ);
	assert_int_equal(access_at(&t, fake_path(path, f->home, "code/out")), PLAN_ACCESS_WRITE);
	assert_int_equal(access_at(&t, fake_path(path, f->project, "secret")), PLAN_ACCESS_NONE);
	assert_true(p->debug);
	assert_true(p->debug_origin && str_equal(p->debug_origin, "--debug"));
	assert_string_equal(p->workspace_origin, "--read-only");
	bool limit = false;
	for (size_t i = 0; i < p->limits.count; i++)
		limit = limit || (p->limits.items[i].kind == PLAN_LIMIT_PROCESSES &&
				  p->limits.items[i].value == 77);
	assert_true(limit);
	size_t seen = 0;
	for (size_t i = 0; i < p->env.count; i++)
		seen += (str_equal(p->env.items[i].name, "PASSED") &&
			 str_equal(p->env.items[i].value, "yes")) ||
			(str_equal(p->env.items[i].name, "SET") &&
			 str_equal(p->env.items[i].value, "to this"));
	assert_int_equal(seen, 2);
	(void)name;
	(void)unsetenv("PASSED");
	try_end(&t);
}

static void the_users_file_is_read_when_it_is_only_his(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	struct try t;

	fake_file(f->home, ".config/bawn/config.yaml", "workspace:\n  access: read\n");
	(void)fake_path(path, f->home, ".config/bawn/config.yaml");
	try_init(&t);
	expect_plan(&t, false);
	assert_int_equal(access_at(&t, f->project), PLAN_ACCESS_READ);
	const char *origin = t.prepared.plan->workspace_origin;
	assert_true(origin && strstr(origin, "config.yaml:2"));
	try_end(&t);
	assert_int_equal(chmod(path, 0664), 0);
	expect_error(&t, "can be written by others");
	assert_non_null(strstr(t.e.next, "chmod go-w"));
	assert_int_equal(chmod(path, 0646), 0);
	expect_error(&t, "can be written by others");
	if (geteuid() == 0) {
		assert_int_equal(chmod(path, 0644), 0);
		assert_int_equal(chown(path, 12345, 12345), 0);
		expect_error(&t, "belongs to user 12345");
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_error(&t, "not a regular file");
}

static void a_large_file_is_refused(void **state)
{
	struct fake_home *f = *state;
	char *text = malloc((64 << 10) + 2);
	struct try t;

	assert_non_null(text);
	memset(text, '#', (64 << 10) + 1);
	text[(64 << 10) + 1] = '\0';
	fake_file(f->home, ".config/bawn/config.yaml", text);
	try_init(&t);
	expect_error(&t, "larger than 64 KiB");
	fake_file(f->home, ".config/bawn/config.yaml", "");
	fake_file(f->project, ".bawn.yaml", text);
	expect_error(&t, "larger than 64 KiB");
	free(text);
}

static void the_repositorys_file_only_narrows(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	struct try t;

	fake_dir(f->home, "private-notes");
	fake_file(f->project, "key", "x");
	fake_file(f->project, ".bawn.yaml",
		  "files:\n  write:\n    - ~/private-notes\n  hide:\n    - key\ntools: false\n");
	try_init(&t);
	expect_plan(&t, false);
	assert_null(at(&t, fake_path(path, f->home, "private-notes")));
	assert_true(has_note(&t, PLAN_NOTE_NOT_GIVEN, ".bawn.yaml:3"));
	assert_int_equal(access_at(&t, fake_path(path, f->project, "key")), PLAN_ACCESS_NONE);
	try_end(&t);
	fake_file(f->project, ".bawn.yaml", "backend: host\n");
	expect_plan(&t, false);
	assert_int_equal(t.prepared.plan->backend, PLAN_BACKEND_NAMESPACE);
	assert_true(has_note(&t, PLAN_NOTE_NOT_GIVEN, ".bawn.yaml:1"));
	try_end(&t);
}

static void a_strange_repository_file_stops_the_start(void **state)
{
	struct fake_home *f = *state;
	char path[PATH_MAX];
	struct try t;

	try_init(&t);
	(void)fake_path(path, f->project, ".bawn.yaml");
	fake_file(f->project, "real.yaml", "tools: false\n");
	assert_int_equal(symlink("real.yaml", path), 0);
	expect_error(&t, "symbolic link");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/proc/self/environ", path), 0);
	expect_error(&t, "symbolic link");
	assert_int_equal(unlink(path), 0);
	/* A pipe that nobody writes must not hold us. */
	assert_int_equal(mkfifo(path, 0644), 0);
	expect_error(&t, "not a regular file");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	expect_error(&t, "not a regular file");
	assert_int_equal(rmdir(path), 0);
	fake_file(f->project, ".bawn.yaml", "files:\n  raed: [x]\n");
	expect_error(&t, ".bawn.yaml:2");
	assert_int_equal(unlink(path), 0);
	expect_plan(&t, false);
	try_end(&t);
}

static void configuration_that_lies_in_the_workspace_stops_a_writing_box(void **state)
{
	struct fake_home *f = *state;
	struct try t;

	fake_file(f->project, "bawn/config.yaml", "debug: false\n");
	fake_link(f->home, ".config/bawn/config.yaml", "../../code/project/bawn/config.yaml");
	try_init(&t);
	expect_error(&t, "bawn's own");
	try_option(&t, OPTION_READ_ONLY, "");
	expect_plan(&t, false);
	try_end(&t);
}

static void a_shell_has_its_own_preset(void **state)
{
	struct try t;

	(void)state;
	try_init(&t);
	t.invocation.verb = verb("shell");
	expect_plan(&t, false);
	assert_string_equal(t.prepared.plan->preset, "shell");
	try_end(&t);
	try_option(&t, OPTION_PRESET, "minimal");
	expect_plan(&t, false);
	assert_string_equal(t.prepared.plan->preset, "minimal");
	try_end(&t);
}

static void ablation_is_for_builds_of_that_kind_only(void **state)
{
	struct try t;

	(void)state;
	assert_int_equal(setenv("BAWN_ABLATE", "landlock,seccomp", 1), 0);
	try_init(&t);
	expect_plan(&t, false);
	assert_int_equal(t.prepared.plan->ablate.count, BAWN_ABLATION ? 2 : 0);
	try_end(&t);
#if BAWN_ABLATION
	assert_int_equal(setenv("BAWN_ABLATE", "landlok", 1), 0);
	expect_error(&t, "landlok");
#endif
	(void)unsetenv("BAWN_ABLATE");
}

/* --- what is shown ------------------------------------------------------------ */

static void read_back(int fd, struct buf *into)
{
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(fd, into), 0);
}

static void show_banner(const struct plan *plan, struct buf *into, bool summary)
{
	_cleanup_fd_ int fd = memfd_create("banner", MFD_CLOEXEC);
	struct text t = {.fd = fd, .width = 80};

	assert_true(fd >= 0);
	if (summary)
		banner_summary(&t, plan);
	else
		banner_print(&t, plan, "calm-otter");
	read_back(fd, into);
}

/* Runs `bawn explain` with what t holds and gives its standard output. */
static int explain(struct try *t, struct buf *into)
{
	_cleanup_fd_ int fd = memfd_create("explain", MFD_CLOEXEC);
	_cleanup_fd_ int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	static char *none[] = {NULL};

	assert_true(fd >= 0 && kept >= 0);
	(void)fflush(stdout);
	assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	t->invocation.verb = verb("explain");
	t->invocation.arguments = none;
	int code = verb_explain(&t->invocation);
	assert_int_equal(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
	read_back(fd, into);
	return code;
}

static size_t lines(const struct buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->len; i++)
		n += b->ptr[i] == '\n';
	return n;
}

static void the_banner_is_calm_and_short(void **state)
{
	struct fake_home *f = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf end = BUF_INIT(1 << 20);
	struct try t;

	for (int i = 0; i < 40; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "a-rather-long-name-of-a-folder-%d", i);
		fake_dir(f->home, name);
	}
	fake_file(f->home, ".config/bawn/config.yaml",
		  "files:\n  read:\n    - ~/a-rather-long-name-of-a-folder-1\n"
		  "    - ~/a-rather-long-name-of-a-folder-2\n"
		  "    - ~/a-rather-long-name-of-a-folder-3\n"
		  "  write:\n    - ~/a-rather-long-name-of-a-folder-4\n"
		  "    - ~/a-rather-long-name-of-a-folder-5\n"
		  "  hide: [~/missing]\n");
	try_init(&t);
	expect_plan(&t, false);
	show_banner(t.prepared.plan, &out, false);
	assert_in_range(lines(&out), 6, 8);
	for (const char *line = buf_str(&out); *line; line = strchr(line, '\n') + 1)
		assert_in_range(strcspn(line, "\n"), 1, 80);
	assert_non_null(strstr(buf_str(&out), "the network is closed"));
	assert_non_null(strstr(buf_str(&out), "~/code/project"));
	assert_non_null(strstr(buf_str(&out), "more"));
	assert_null(strstr(buf_str(&out), "UNSAFE"));
	assert_null(strstr(buf_str(&out), "WEAKER"));
	show_banner(t.prepared.plan, &end, true);
	assert_int_equal(end.len, 0);
	try_end(&t);
}

static void no_box_is_called_unsafe_first(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf end = BUF_INIT(1 << 20);
	struct try t;

	(void)state;
	try_init(&t);
	try_option(&t, OPTION_BACKEND, "host");
	expect_plan(&t, true);
	show_banner(t.prepared.plan, &out, false);
	const char *unsafe = strstr(buf_str(&out), "UNSAFE");
	assert_true(unsafe && unsafe < strchr(buf_str(&out), '\n'));
	assert_in_range(lines(&out), 5, 8);
	assert_null(strstr(buf_str(&out), "closed"));
	show_banner(t.prepared.plan, &end, true);
	assert_non_null(strstr(buf_str(&end), "UNSAFE"));
	assert_int_equal(lines(&end), 1);
	try_end(&t);
}

static void a_secret_that_was_named_is_shown(void **state)
{
	struct fake_home *f = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf words = BUF_INIT(1 << 20);
	struct try t;

	fake_dir(f->home, ".aws");
	assert_int_equal(setenv("MY_TOKEN", "hunter2", 1), 0);
	try_init(&t);
	try_option(&t, OPTION_ENV, "MY_TOKEN");
	try_option(&t, OPTION_READ, "~/.aws");
	expect_plan(&t, false);
	show_banner(t.prepared.plan, &out, false);
	assert_non_null(strstr(buf_str(&out), "MY_TOKEN (--env), ~/.aws (--read)"));
	assert_null(strstr(buf_str(&out), "hunter2"));
	assert_in_range(lines(&out), 6, 8);
	try_end(&t);
	assert_int_equal(explain(&t, &words), EXIT_OK);
	assert_null(strstr(buf_str(&words), "None."));
	assert_null(strstr(buf_str(&words), "hunter2"));
	assert_non_null(strstr(buf_str(&words), "MY_TOKEN (--env)"));
	(void)unsetenv("MY_TOKEN");
}

static void a_layer_gone_without_is_shown(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf end = BUF_INIT(1 << 20);
	struct try t;

	(void)state;
	try_init(&t);
	try_option(&t, OPTION_WITHOUT, "landlock");
	try_option(&t, OPTION_WITHOUT, "net-namespace");
	expect_plan(&t, false);
	show_banner(t.prepared.plan, &out, false);
	assert_non_null(strstr(buf_str(&out), "WEAKER: without net-namespace, landlock"));
	assert_null(strstr(buf_str(&out), "the network is closed"));
	assert_in_range(lines(&out), 6, 8);
	show_banner(t.prepared.plan, &end, true);
	assert_non_null(strstr(buf_str(&end), "WEAKER: without net-namespace, landlock"));
	try_end(&t);
}

static void explain_says_everything_in_its_section(void **state)
{
	static const char *const sections[] = {
		"Runs\n",        "\nCan write\n",        "\nCan read\n",      "\nCan run\n",
		"\nCan reach\n", "\nCannot see\n",       "\nEnvironment\n",   "\nSecrets\n",
		"\nLimits\n",    "\nWhat protects it\n", "\nWhat does not\n", "\nNot given\n",
		"\nOrigins\n",
	};
	struct fake_home *f = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	struct try t;

	fake_dir(f->home, ".ssh");
	fake_dir(f->home, ".nvm");
	fake_dir(f->home, "data");
	fake_file(f->home, ".config/bawn/config.yaml", "files:\n  read:\n    - ~/data\n");
	fake_file(f->project, ".bawn.yaml", "files:\n  write: [/srv]\n");
	try_init(&t);
	assert_int_equal(explain(&t, &out), EXIT_OK);
	const char *from = buf_str(&out);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(sections); i++) {
		const char *found = strstr(from, sections[i]);

		if (!found)
			fail_msg("there is no section %s after the one before it", sections[i]);
		from = found ? found : "";
	}
	assert_non_null(strstr(buf_str(&out), "~/.ssh"));
	assert_non_null(strstr(buf_str(&out), "config.yaml:3"));
	assert_non_null(strstr(buf_str(&out), ".bawn.yaml:2"));
	assert_non_null(strstr(buf_str(&out), "the network is closed"));
	for (unsigned int layer = 0; layer < PLAN_LAYER_COUNT; layer++)
		assert_non_null(strstr(buf_str(&out), plan_layer_words[layer]));
	assert_false(fake_exists(f->home, ".local"));
}

static void explain_calls_no_box_unsafe_and_less_weaker(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf host = BUF_INIT(1 << 20);
	struct try t;

	(void)state;
	try_init(&t);
	try_option(&t, OPTION_WITHOUT, "seccomp");
	assert_int_equal(explain(&t, &out), EXIT_OK);
	assert_non_null(strstr(buf_str(&out), "WEAKER: without seccomp (--without)"));
	assert_null(strstr(buf_str(&out), "system calls by allow list"));
	try_init(&t);
	try_option(&t, OPTION_BACKEND, "host");
	assert_int_equal(explain(&t, &host), EXIT_OK);
	assert_non_null(strstr(buf_str(&host), "UNSAFE"));
	assert_null(strstr(buf_str(&host), "closed."));
}

static void nothing_that_is_shown_can_steer_a_terminal(void **state)
{
	struct fake_home *f = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf banner = BUF_INIT(1 << 20);
	char path[PATH_MAX];
	struct try t;

	assert_int_equal(mkdir(fake_path(path, f->home, "p\x1b]0;owned\x07\r\xe2\x80\xae"), 0755),
			 0);
	assert_int_equal(chdir(path), 0);
	try_init(&t);
	assert_int_equal(explain(&t, &out), EXIT_OK);
	expect_plan(&t, false);
	show_banner(t.prepared.plan, &banner, false);
	const struct buf *both[] = {&out, &banner};
	for (size_t b = 0; b < 2; b++) {
		assert_non_null(strstr(buf_str(both[b]), "owned"));
		for (size_t i = 0; i < both[b]->len; i++)
			assert_true(both[b]->ptr[i] == '\n' ||
				    (unsigned char)both[b]->ptr[i] >= ' ');
		assert_null(strstr(buf_str(both[b]), "\xe2\x80\xae"));
	}
	try_end(&t);
}

static void json_is_the_plan_whole(void **state)
{
	struct fake_home *f = *state;
	_cleanup_buf_ struct buf out = BUF_INIT(8 << 20);
	_cleanup_buf_ struct buf same = BUF_INIT(8 << 20);
	struct try t;

	(void)f;
	try_init(&t);
	try_option(&t, OPTION_JSON, "");
	assert_int_equal(explain(&t, &out), EXIT_OK);
	char *argv[] = {NULL};
	t.r = prepare_plan(&t.invocation, argv, false, &t.prepared, &t.e);
	assert_int_equal(t.r, 0);
	struct json j = JSON_INIT(&same, true);
	schema_json(&j, &plan_schema, t.prepared.plan);
	assert_string_equal(buf_str(&out), buf_str(&same));
	try_end(&t);
}

static void an_error_gives_no_plan_and_its_own_code(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	_cleanup_fd_ int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	_cleanup_fd_ int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct try t;

	(void)state;
	try_init(&t);
	try_option(&t, OPTION_WORKSPACE, "/");
	assert_int_equal(dup2(null, STDERR_FILENO), STDERR_FILENO);
	int code = explain(&t, &out);
	assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	assert_int_equal(code, EXIT_BAWN);
	assert_int_equal(out.len, 0);
}

/* A folder of settings that is given for writing: what lies in it opens no host. */
static void settings_that_the_box_may_write_open_nothing(void **state)
{
	const struct fake_home *f = *state;

	fake_file(f->home, ".cargo/config.toml",
		  "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\n"
		  "registry = \"https://evil.test/\"\n");
	for (int i = 0; i < 2; i++) {
		char path[PATH_MAX];
		size_t found = 0;
		struct try t;

		try_init(&t);
		try_option(&t, OPTION_USE, "crates");
		if (i == 1)
			try_option(&t, OPTION_WRITE, fake_path(path, f->home, ".cargo"));
		expect_plan(&t, false);
		for (size_t n = 0; n < t.prepared.plan->network.count; n++)
			found += str_equal(t.prepared.plan->network.items[n].host, "evil.test");
		assert_int_equal(found, i == 0 ? 1 : 0);
		try_end(&t);
	}
}

#define PROMISE(f) cmocka_unit_test_setup_teardown(f, fake_home_setup, fake_home_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(a_plan_without_any_file),
		PROMISE(explaining_leaves_no_trace),
		PROMISE(options_become_policy),
		PROMISE(settings_that_the_box_may_write_open_nothing),
		PROMISE(the_users_file_is_read_when_it_is_only_his),
		PROMISE(a_large_file_is_refused),
		PROMISE(the_repositorys_file_only_narrows),
		PROMISE(a_strange_repository_file_stops_the_start),
		PROMISE(configuration_that_lies_in_the_workspace_stops_a_writing_box),
		PROMISE(a_shell_has_its_own_preset),
		PROMISE(ablation_is_for_builds_of_that_kind_only),
		PROMISE(the_banner_is_calm_and_short),
		PROMISE(no_box_is_called_unsafe_first),
		PROMISE(a_secret_that_was_named_is_shown),
		PROMISE(a_layer_gone_without_is_shown),
		PROMISE(explain_says_everything_in_its_section),
		PROMISE(explain_calls_no_box_unsafe_and_less_weaker),
		PROMISE(nothing_that_is_shown_can_steer_a_terminal),
		PROMISE(json_is_the_plan_whole),
		PROMISE(an_error_gives_no_plan_and_its_own_code),
	};

	(void)setenv("NO_COLOR", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
