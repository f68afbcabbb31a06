/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan arrives at the launcher exactly as it was made, or not at all: it comes
 * back byte for byte; cut at any length it is refused; with any byte changed it is
 * refused or is exactly the plan that those bytes say, never something between.
 */
#include "cmocka_lead.h"

#include "plan.h"

#include <stdio.h>

static struct plan_string argv[] = {{"sh"}, {"-c"}, {"echo \033[31m \"$HOME\""}, {""}};
static struct plan_mount mounts[] = {
	{.kind = PLAN_MOUNT_BIND,
	 .access = PLAN_ACCESS_READ,
	 .target = "/usr",
	 .source = "/usr",
	 .role = "system",
	 .origin = "default"},
	{.kind = PLAN_MOUNT_BIND,
	 .access = PLAN_ACCESS_WRITE,
	 .target = "/home/a/project",
	 .source = "/home/a/project",
	 .dev = 64769,
	 .ino = UINT64_MAX,
	 .role = "workspace",
	 .origin = "--workspace"},
	{.kind = PLAN_MOUNT_TMPFS,
	 .access = PLAN_ACCESS_WRITE,
	 .target = "/tmp",
	 .size = 1u << 30,
	 .role = "tmp",
	 .origin = "default"},
	{.kind = PLAN_MOUNT_FILE,
	 .access = PLAN_ACCESS_READ,
	 .target = "/etc/hosts",
	 .data = {(const uint8_t *)"127.0.0.1\tlocalhost\n\0\377", 22},
	 .role = "etc",
	 .origin = "default"},
	{.kind = PLAN_MOUNT_LINK, .target = "/bin", .source = "usr/bin", .role = "system"},
	{.kind = PLAN_MOUNT_HIDE, .target = "/usr/local/secret", .origin = "/a/b.yaml:7"},
	{.kind = PLAN_MOUNT_TRUST, .target = "/etc/ssl/certs/a.crt", .source = "bundle"},
};
static struct plan_string authorities[] = {{"/etc/ssl/certs/a.crt"}};
static struct plan_env env[] = {{"PATH", "/usr/bin:/bin", "default"}, {"EMPTY", "", "--env"}};
static struct plan_limit limits[] = {{PLAN_LIMIT_PROCESSES, 4096, "default"},
				     {PLAN_LIMIT_WALL_TIME, 0, "--limit"}};
static struct plan_without without[] = {{PLAN_LAYER_LANDLOCK, "--without"}};
static struct plan_note notes[] = {
	{PLAN_NOTE_NOT_GIVEN, "/x", "it widens", ".bawn.yaml:3", false, false}};
static const uint64_t filter[] = {0x0000000000000006, 0x7fff000000000006};

static struct plan plan_sample(void)
{
	struct plan p = {
		.backend = PLAN_BACKEND_NAMESPACE,
		.backend_origin = "default",
		.preset = "",
		.workspace = "/home/a/project",
		.workspace_access = PLAN_ACCESS_WRITE,
		.workspace_origin = "--workspace",
		.trusted = true,
		.home = "/home/a",
		.home_store = "/home/a/.local/state/bawn/workspaces/x/home",
		.cwd = "/home/a/project",
		.uid = 1000,
		.gid = UINT32_MAX,
		.user = "a",
		.hostname = "bawn",
		.debug = true,
		.debug_origin = "--debug",
		.seccomp_profile = "default",
		.seccomp = {(const uint8_t *)filter, sizeof(filter)},
	};

	p.argv.items = argv;
	p.argv.count = BAWN_ARRAY_SIZE(argv);
	p.mounts.items = mounts;
	p.mounts.count = BAWN_ARRAY_SIZE(mounts);
	p.env.items = env;
	p.env.count = BAWN_ARRAY_SIZE(env);
	p.limits.items = limits;
	p.limits.count = BAWN_ARRAY_SIZE(limits);
	p.without.items = without;
	p.without.count = BAWN_ARRAY_SIZE(without);
	p.authorities.items = authorities;
	p.authorities.count = BAWN_ARRAY_SIZE(authorities);
	p.notes.items = notes;
	p.notes.count = BAWN_ARRAY_SIZE(notes);
	return p;
}

static void put_plan(struct buf *into, const struct plan *p)
{
	assert_int_equal(plan_encode(p, into), 0);
}

static void test_round_trip(void **state)
{
	(void)state;
	const struct plan p = plan_sample();
	_cleanup_buf_ struct buf bytes = BUF_INIT(PLAN_BYTES_MAX);
	_cleanup_buf_ struct buf again = BUF_INIT(PLAN_BYTES_MAX);
	_cleanup_arena_ struct arena a = ARENA_INIT(PLAN_ARENA_MAX);
	const struct plan *q = NULL;
	struct error e = ERROR_INIT;

	put_plan(&bytes, &p);
	if (plan_decode(buf_span(&bytes), &q, &a, &e) != 0)
		fail_msg("%s", e.text);
	put_plan(&again, q);
	assert_true(span_equal(buf_span(&bytes), buf_span(&again)));

	assert_int_equal(q->argv.count, 4);
	assert_string_equal(q->argv.items[2].text, argv[2].text);
	assert_int_equal(q->mounts.items[1].ino, UINT64_MAX);
	assert_int_equal(q->mounts.items[1].access, PLAN_ACCESS_WRITE);
	assert_true(span_equal(q->mounts.items[3].data, mounts[3].data));
	assert_string_equal(q->mounts.items[4].origin, "");
	assert_int_equal(q->gid, UINT32_MAX);
	assert_true(q->trusted);
	assert_int_equal(q->ablate.count, 0);
	assert_true(plan_has_trust(q, PLAN_TRUST_BUNDLE));
	assert_false(plan_has_trust(q, PLAN_TRUST_JAVA));
	assert_string_equal(q->authorities.items[0].text, authorities[0].text);
	assert_true(plan_goes_without(q, PLAN_LAYER_LANDLOCK));
	assert_false(plan_goes_without(q, PLAN_LAYER_SECCOMP));
	assert_true(span_equal(q->seccomp, p.seccomp));
}

static void test_cut_anywhere_is_refused(void **state)
{
	(void)state;
	const struct plan p = plan_sample();
	_cleanup_buf_ struct buf bytes = BUF_INIT(PLAN_BYTES_MAX);

	put_plan(&bytes, &p);
	for (size_t len = 0; len < bytes.len; len++) {
		_cleanup_arena_ struct arena a = ARENA_INIT(PLAN_ARENA_MAX);
		/* An exact copy, so that a sanitizer sees a read past the end. */
		_cleanup_free_ uint8_t *copy = malloc(len ? len : 1);
		struct error e = ERROR_INIT;
		const struct plan *q = NULL;

		memcpy(copy, bytes.ptr, len);
		if (plan_decode((struct span){copy, len}, &q, &a, &e) != -EBADMSG)
			fail_msg("cut at %zu of %zu was not refused", len, bytes.len);
		assert_true(e.text[0] != '\0');
	}
}

static void test_changed_bytes_never_mean_something_else(void **state)
{
	(void)state;
	const struct plan p = plan_sample();
	_cleanup_buf_ struct buf bytes = BUF_INIT(PLAN_BYTES_MAX);
	size_t refused = 0;

	put_plan(&bytes, &p);
	for (size_t i = 0; i < bytes.len * 8; i++) {
		_cleanup_arena_ struct arena a = ARENA_INIT(PLAN_ARENA_MAX);
		_cleanup_buf_ struct buf again = BUF_INIT(PLAN_BYTES_MAX);
		struct error e = ERROR_INIT;
		const struct plan *q = NULL;

		bytes.ptr[i / 8] = (char)(bytes.ptr[i / 8] ^ (1 << i % 8));
		if (plan_decode(buf_span(&bytes), &q, &a, &e) < 0) {
			refused++;
		} else {
			put_plan(&again, q);
			if (!span_equal(buf_span(&bytes), buf_span(&again)))
				fail_msg("bit %zu: two encodings of one plan", i);
		}
		bytes.ptr[i / 8] = (char)(bytes.ptr[i / 8] ^ (1 << i % 8));
	}
	assert_true(refused > bytes.len);
}

static void test_more_bytes_are_refused(void **state)
{
	(void)state;
	const struct plan p = plan_sample();
	_cleanup_buf_ struct buf bytes = BUF_INIT(PLAN_BYTES_MAX);
	_cleanup_arena_ struct arena a = ARENA_INIT(PLAN_ARENA_MAX);
	struct error e = ERROR_INIT;
	const struct plan *q = NULL;

	put_plan(&bytes, &p);
	buf_put_char(&bytes, '\0');
	assert_int_equal(plan_decode(buf_span(&bytes), &q, &a, &e), -EBADMSG);
}

static void test_memory_is_bounded(void **state)
{
	(void)state;
	const struct plan p = plan_sample();
	_cleanup_buf_ struct buf bytes = BUF_INIT(PLAN_BYTES_MAX);
	_cleanup_buf_ struct buf small = BUF_INIT(100);
	_cleanup_arena_ struct arena a = ARENA_INIT(64);
	struct error e = ERROR_INIT;
	const struct plan *q = NULL;

	put_plan(&bytes, &p);
	assert_int_equal(plan_decode(buf_span(&bytes), &q, &a, &e), -ENOMEM);
	assert_int_equal(plan_encode(&p, &small), -EMSGSIZE);
}

static void expect_refusal(const struct plan *p, const char *word)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(PLAN_BYTES_MAX);
	_cleanup_arena_ struct arena a = ARENA_INIT(PLAN_ARENA_MAX);
	struct error e = ERROR_INIT;
	const struct plan *q = NULL;

	put_plan(&bytes, p);
	assert_int_equal(plan_decode(buf_span(&bytes), &q, &a, &e), -EBADMSG);
	if (!strstr(e.text, word))
		fail_msg("\"%s\" does not say %s", e.text, word);
}

static void test_what_a_launcher_relies_on(void **state)
{
	static const char *const targets[] = {"",      "/",    "usr",   "/usr/", "/usr/../etc",
					      "//usr", "/./a", "/a/..", "~"};
	struct plan p = plan_sample();
	struct plan_mount one = mounts[0];

	(void)state;
	p.mounts.items = &one;
	p.mounts.count = 1;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(targets); i++) {
		one.target = targets[i];
		expect_refusal(&p, "target");
	}
	one = mounts[0];
	one.source = "../etc";
	expect_refusal(&p, "source");
	one = mounts[4];
	one.source = "";
	expect_refusal(&p, "nowhere");

	p = plan_sample();
	p.argv.count = 0;
	expect_refusal(&p, "command");
	p = plan_sample();
	p.cwd = "project";
	expect_refusal(&p, "project");
	p = plan_sample();
	p.seccomp.len = 12;
	expect_refusal(&p, "filter");
	p = plan_sample();
	p.backend = 99;
	expect_refusal(&p, "backend");
}

static void test_too_many_mounts(void **state)
{
	(void)state;
	static struct plan_mount many[PLAN_MOUNTS_MAX + 1];
	struct plan p = plan_sample();

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(many); i++)
		many[i] = mounts[0];
	p.mounts.items = many;
	p.mounts.count = BAWN_ARRAY_SIZE(many);
	expect_refusal(&p, "mounts");
}

/* Every field of the table is in the JSON, under its own name. */
static void test_json_is_whole(void **state)
{
	(void)state;
	const struct plan p = plan_sample();
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	struct json j = JSON_INIT(&out, false);

	schema_json(&j, &plan_schema, &p);
	assert_int_equal(buf_error(&out), 0);
	for (size_t i = 0; i < plan_schema.count; i++) {
		char key[64];

		(void)snprintf(key, sizeof(key), "\"%s\":", plan_schema.fields[i].name);
		if (!strstr(buf_str(&out), key))
			fail_msg("%s is missing", key);
	}
	assert_non_null(strstr(buf_str(&out), "\"argv\":[\"sh\",\"-c\",\"echo \\u001b[31m "));
	assert_non_null(strstr(buf_str(&out), "\"layer\":\"landlock\""));
	assert_non_null(strstr(buf_str(&out), "\"seccomp\":\"0600000000000000060000000000ff7f\""));
}

static void test_every_enum_has_its_word(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLAN_LAYER_COUNT; i++)
		assert_non_null(plan_layer_words[i]);
	for (size_t i = 0; i < PLAN_LIMIT_COUNT; i++)
		assert_non_null(plan_limit_words[i]);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(plan_backend_words); i++)
		assert_non_null(plan_backend_words[i]);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(plan_access_words); i++)
		assert_non_null(plan_access_words[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_cut_anywhere_is_refused),
		cmocka_unit_test(test_changed_bytes_never_mean_something_else),
		cmocka_unit_test(test_more_bytes_are_refused),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_what_a_launcher_relies_on),
		cmocka_unit_test(test_too_many_mounts),
		cmocka_unit_test(test_json_is_whole),
		cmocka_unit_test(test_every_enum_has_its_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
