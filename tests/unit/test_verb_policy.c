/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn policy`, and how rules for the network are shown wherever a plan is. */
#include "fake_home.h"

#include "banner.h"
#include "bawn_verbs.h"
#include "fd.h"
#include "parse.h"
#include "prepare.h"
#include "str.h"

#include <sys/mman.h>

enum { WORDS_MAX = 12 };

static const char rules[] = "network:\n"
			    "  - allow: github.com\n"
			    "  - allow: '*.example.org'\n"
			    "    ports: [443, 8000-8010]\n"
			    "  - deny: gist.github.com\n"
			    "  - ask: api.example.test\n"
			    "  - {allow: db.test, ports: [7000], scheme: tcp, private: true}\n"
			    "  - use: openai\n"
			    "  - allow: '*.test'\n";

/* Runs a command line, words separated by blanks; what it prints on both outputs comes back. */
static int run(const char *line, struct buf *out)
{
	_cleanup_fd_ int file = memfd_create("output", MFD_CLOEXEC);
	_cleanup_fd_ int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	_cleanup_fd_ int kept_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	_cleanup_invocation_ struct invocation i = {.verb = NULL};
	struct error e = ERROR_INIT;
	char words[512];
	char *argv[WORDS_MAX + 1] = {NULL};
	int argc = 0;

	(void)snprintf(words, sizeof(words), "bawn %s", line);
	for (char *rest = words, *word; (word = strsep(&rest, " ")) && argc < WORDS_MAX;)
		argv[argc++] = word;
	if (parse_command_line(argc, argv, &i, &e) < 0)
		fail_msg("%s: %s", line, e.text);
	assert_int_equal(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(dup2(file, STDERR_FILENO), STDERR_FILENO);
	int code = elsewhere_or_here(&i, &bawn_program);
	assert_int_equal(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(dup2(kept_error, STDERR_FILENO), STDERR_FILENO);
	buf_clear(out);
	assert_int_equal(lseek(file, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(file, out), 0);
	return code;
}

/* With this exit code, and these words in what is printed. */
/* words: what it must say, or behind a ! must not. */
static void expect(const char *line, int code, const char *const *words)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	int got = run(line, &out);

	if (got != code)
		fail_msg("bawn %s: exit %d, not %d:\n%s", line, got, code, buf_str(&out));
	for (; *words; words++)
		if (**words == '!' ? strstr(buf_str(&out), *words + 1) != NULL
				   : !strstr(buf_str(&out), *words))
			fail_msg("bawn %s does not say \"%s\":\n%s", line, *words, buf_str(&out));
}

#define SAYS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A URL is a request, and so is a host with a method. */
static void test_requests(void **state)
{
	struct fake_home *f = *state;

	fake_file(f->home, ".config/bawn/config.yaml",
		  "network:\n"
		  "  - {allow: api.example.org, methods: [GET, POST], paths: [/v1/**]}\n"
		  "  - {allow: pinned.example.org, passthrough: true}\n"
		  "  - allow: plain.example.org\n");
	expect("policy test https://api.example.org/v1/a?b=/..", EXIT_OK,
	       SAYS("allowed  GET api.example.org:443/v1/a?b=/..\n", "decided on"));
	expect("policy test http://api.example.org/v1/a", EXIT_OK,
	       SAYS("GET api.example.org:80/v1/a\n", "plain HTTP"));
	expect("policy test PUT https://api.example.org/v1/a", EXIT_FOUND,
	       SAYS("denied   PUT api.example.org:443/v1/a\n", "do not allow PUT with this path",
		    "- {allow: api.example.org, methods: [PUT], paths: [/v1/a]}"));
	expect("policy test https://api.example.org/v1/a --method POST --method DELETE", EXIT_FOUND,
	       SAYS("allowed  POST api.", "denied   DELETE api."));
	expect("policy test https://api.example.org/v1/../a", EXIT_FOUND,
	       SAYS("can be read in two ways"));
	expect("policy test https://api.example.org/%zz", EXIT_FOUND, SAYS("broken escape"));
	expect("policy test --method GET api.example.org", EXIT_FOUND,
	       SAYS("denied   GET api.example.org:443/\n"));
	expect("policy test api.example.org", EXIT_OK, SAYS("allowed  api.example.org:443\n"));
	expect("policy test pinned.example.org", EXIT_OK, SAYS("left closed"));
	expect("policy test plain.example.org/x", EXIT_FOUND, SAYS("behind https://"));
	expect("policy test --json https://api.example.org/v1/a", EXIT_OK,
	       SAYS("\"host\": \"GET api.example.org:443/v1/a\"", "\"open\": true"));
	expect("policy check", EXIT_OK,
	       SAYS("443, 80, only GET, POST, only paths /v1/**", "TLS left closed"));
}

static void test_says_verdict_rule_and_line(void **state)
{
	struct fake_home *f = *state;

	fake_file(f->home, ".config/bawn/config.yaml", rules);
	expect("policy test github.com", EXIT_OK,
	       SAYS("allowed  github.com:443\n", "the rule for github.com",
		    "(~/.config/bawn/config.yaml:2): TLS"));
	expect("policy test GitHub.com.:80", EXIT_OK,
	       SAYS("allowed  github.com:80\n", "plain HTTP"));
	expect("policy test a.openai.test api.openai.com", EXIT_OK,
	       SAYS("allowed  api.openai.com:443\n", "config.yaml:8,", "use openai)"));
	expect("policy test db.test:7000", EXIT_OK, SAYS("bytes, private addresses too"));
	expect("policy test evil.org", EXIT_FOUND,
	       SAYS("denied   evil.org:443\n", "no rule names this host",
		    "under network: in ~/.config/bawn/config.yaml:\n", "- allow: evil.org\n"));
	expect("policy test gist.github.com", EXIT_FOUND,
	       SAYS("denied by the rule for gist.github.com (~/.config/bawn/config.yaml:5)"));
	expect("policy test api.example.test", EXIT_FOUND, SAYS("nobody to ask"));
	expect("policy test 203.0.113.7 [2001:db8::1]:22", EXIT_FOUND,
	       SAYS("denied   203.0.113.7:443\n", "- allow: 203.0.113.7\n",
		    "denied   [2001:db8::1]:22\n", "- allow: \"[2001:db8::1]:22\"\n"));
	/* One that is denied among many. */
	expect("policy test github.com evil.org", EXIT_FOUND, SAYS("allowed", "denied"));
	expect("policy test github.com/x", EXIT_FOUND, SAYS("a path stands in a URL"));
	expect("policy test github.com@evil.test", EXIT_FOUND, SAYS("no host"));
	expect("policy test \033[31mred", EXIT_FOUND, SAYS("\\x1b[31mred"));
}

static void test_takes_the_options_of_a_run(void **state)
{
	(void)state;
	expect("policy test evil.org", EXIT_FOUND, SAYS("denied"));
	expect("policy test --allow evil.org evil.org", EXIT_OK, SAYS("(--allow)"));
	expect("policy test --allow evil.org --deny evil.org evil.org", EXIT_FOUND,
	       SAYS("(--deny)"));
	expect("policy test --use openai api.openai.com", EXIT_OK, SAYS("(--use, use openai)"));
	expect("policy test --backend host evil.org", EXIT_OK, SAYS("UNSAFE"));
	expect("policy test --allow evil.org --without net-namespace evil.org", EXIT_FOUND,
	       SAYS("there is no gate"));
	expect("policy test", EXIT_USAGE, SAYS("needs a HOST", "Usage:"));
	expect("policy check more", EXIT_USAGE, SAYS("one argument too many"));
	expect("policy check --allow a/b", EXIT_BAWN, SAYS("--allow: a/b: name the host alone"));
}

static void test_the_repository_is_asked_too(void **state)
{
	struct fake_home *f = *state;

	fake_file(f->home, ".config/bawn/config.yaml", rules);
	fake_file(f->project, ".bawn.yaml",
		  "network:\n  - deny: github.com\n  - allow: evil.org\n");
	expect("policy test github.com", EXIT_FOUND, SAYS("~/code/project/.bawn.yaml:2"));
	expect("policy test evil.org", EXIT_FOUND, SAYS("no rule names this host"));
	expect("policy check", EXIT_OK,
	       SAYS("github.com                denied (~/code/project/.bawn.yaml:2)",
		    "Not given\nnetwork: allow evil.org: a repository's file may only narrow "
		    "(~/code/project/.bawn.yaml:3)"));
}

static void test_check_shows_the_rules(void **state)
{
	struct fake_home *f = *state;

	expect("policy check", EXIT_OK, SAYS("No rules: nothing can be reached."));
	fake_file(f->home, ".config/bawn/config.yaml", rules);
	expect("policy check", EXIT_OK,
	       SAYS("github.com                443, 80 (~/.config/bawn/config.yaml:2)\n",
		    "*.example.org             443, 8000-8010 (~/.config/bawn/config.yaml:3)\n",
		    "gist.github.com           denied (~", "443, 80: asks first",
		    "db.test                   7000, any bytes, private addresses too",
		    "use openai                api.openai.com (443, WebSocket too), "
		    "auth.openai.com",
		    "Nothing else can be reached."));
	fake_file(f->home, ".config/bawn/config.yaml", "network: [allw: x]\n");
	expect("policy check", EXIT_BAWN, SAYS("config.yaml:1:11: unknown key allw in a rule"));
}

static void test_json(void **state)
{
	struct fake_home *f = *state;

	fake_file(f->home, ".config/bawn/config.yaml", rules);
	expect("policy test --json github.com evil.org", EXIT_FOUND,
	       SAYS("\"host\": \"github.com:443\"", "\"allowed\": true", "\"schemes\": [",
		    "\"tls\"", "\"host\": \"evil.org:443\"", "\"allowed\": false",
		    "\"allow_line\": \"- allow: evil.org\""));
	expect("policy check --json", EXIT_OK,
	       SAYS("\"network\": [", "\"host\": \"*.example.org\"", "\"from\": 8000",
		    "\"bundle\": \"openai\"", "\"notes\": ["));
}

/* --- on the screens of a plan --- */

static void test_explain_shows_rules(void **state)
{
	struct fake_home *f = *state;

	fake_file(f->home, ".config/bawn/config.yaml", rules);
	expect("explain", EXIT_OK,
	       SAYS("Can reach\n", "  github.com              443, 80 (~",
		    "  use openai              api.openai.com",
		    PLAN_GATE_PRESENT ? "Nothing else: what no rule allows is refused"
				      : "this build does not open the network yet",
		    "network: db.test, private: whoever answers for this name",
		    "network: *.test: a whole top-level domain"));
	expect("explain --without net-namespace", EXIT_OK, SAYS("by the system call filter alone"));
	expect("explain --json", EXIT_OK, SAYS("\"network\": [", "\"*.example.org\""));
}

/* A wildcard over names that anyone can have is said to be one, wherever rules are shown. */
static void test_wide_rules(void **state)
{
	static const char *const wide[] = {"com", "co.uk", "org.au", "github.io",
					   "s3.amazonaws.com"};
	static const char *const narrow[] = {"example.com", "co.example", "a.co.uk", "a.github.io"};
	struct fake_home *f = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(wide) + BAWN_ARRAY_SIZE(narrow); i++) {
		bool is = i < BAWN_ARRAY_SIZE(wide);
		const char *zone = is ? wide[i] : narrow[i - BAWN_ARRAY_SIZE(wide)];
		char text[128], command[128];

		(void)snprintf(text, sizeof(text), "network: [allow: '*.%s', deny: '*.deny']\n",
			       zone);
		fake_file(f->home, ".config/bawn/config.yaml", text);
		(void)snprintf(command, sizeof(command), "policy test any.%s", zone);
		(void)snprintf(text, sizeof(text), "*.%s is a", zone);
		if (is) {
			expect("policy check", EXIT_OK, SAYS("Warning: *.", "anyone can have"));
			expect(command, EXIT_OK, SAYS(text));
			expect("explain", EXIT_OK, SAYS("  network: *."));
		} else {
			expect("policy check", EXIT_OK, SAYS("!Warning"));
			expect("explain", EXIT_OK, SAYS("!  network: *."));
		}
	}
}

/* Rules that only deny open nothing, and are not said to. */
static void test_only_denied_is_closed(void **state)
{
	struct fake_home *f = *state;

	fake_file(f->home, ".config/bawn/config.yaml", "network: [deny: github.com]\n");
	expect("explain", EXIT_OK,
	       SAYS("Nothing: the network is closed.", "github.com              denied"));
}

static void test_banner_names_hosts(void **state)
{
	struct fake_home *f = *state;
	_cleanup_fd_ int fd = memfd_create("banner", MFD_CLOEXEC);
	struct text t = {.fd = fd, .width = 80};
	_cleanup_prepared_ struct prepared prepared = PREPARED_INIT;
	struct invocation i = {.verb = verb_find("run", NULL)};
	struct error e = ERROR_INIT;
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);

	fake_file(f->home, ".config/bawn/config.yaml", rules);
	if (prepare_plan(&i, NULL, false, &prepared, &e) < 0)
		fail_msg("%s", e.text);
	banner_print(&t, prepared.plan, "");
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(fd, &out), 0);
	const char *line = strstr(buf_str(&out), "reaches");

	assert_non_null(line);
	assert_true(strcspn(line, "\n") + 2 <= 80);
	assert_non_null(strstr(line, PLAN_GATE_PRESENT ? "github.com, *.example.org, db.test"
						       : "this build opens no rules yet"));
	if (PLAN_GATE_PRESENT)
		assert_non_null(strstr(line, "; nothing else\n"));
}

#define PROMISE(f) cmocka_unit_test_setup_teardown(f, fake_home_setup, fake_home_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROMISE(test_requests),
		PROMISE(test_says_verdict_rule_and_line),
		PROMISE(test_takes_the_options_of_a_run),
		PROMISE(test_the_repository_is_asked_too),
		PROMISE(test_check_shows_the_rules),
		PROMISE(test_json),
		PROMISE(test_explain_shows_rules),
		PROMISE(test_wide_rules),
		PROMISE(test_only_denied_is_closed),
		PROMISE(test_banner_names_hosts),
	};

	(void)setenv("NO_COLOR", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
