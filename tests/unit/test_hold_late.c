/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent made to take long.  Each of these would be looked at for minutes or hours; all of
 * it ends soon after its time, and what was not judged is held, and says why.
 */
#include "cmocka_lead.h"

#include "hold_lead.h"

#include "clock.h"
#include "git_object.h"

#include <zlib.h>

/* How long it may take, and how long it must not: a machine can be busy. */
enum { LATE_MS = 200, LATE_MOST_MS = 4000, LOG_MOST_MS = 2000 };

static void judge_late(struct world *w)
{
	int64_t began = clock_ms(CLOCK_MONOTONIC);

	judge_within(w, NULL, LATE_MS);
	int64_t took = clock_ms(CLOCK_MONOTONIC) - began;

	if (took < LATE_MS)
		fail_msg("it took only %lld ms: it is no test of what takes long", (long long)took);
	if (took > LATE_MOST_MS)
		fail_msg("it took %lld ms", (long long)took);
}

static void put_bytes(int dir, const char *path, struct span bytes, size_t times)
{
	put(dir, path, "");
	_cleanup_fd_ int fd = openat(dir, path, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_true(fd >= 0);
	for (size_t i = 0; i < times; i++)
		assert_int_equal(fd_write_all(fd, bytes.ptr, bytes.len), 0);
}

/* A loose object; its name. */
static struct git_name put_object(int dir, enum git_kind kind, struct span content)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(1 << 20);
	struct git_name name;
	char hex[GIT_HEX_MAX + 1], path[128];
	uint8_t packed[4096];
	uLongf len = sizeof(packed);

	git_name_of(kind, content, 20, &name);
	git_name_hex(&name, hex);
	buf_putf(&whole, "%s %zu", git_kind_words[kind], content.len);
	buf_put(&whole, "", 1);
	buf_put(&whole, content.ptr, content.len);
	assert_int_equal(compress(packed, &len, (const Bytef *)whole.ptr, whole.len), Z_OK);
	(void)snprintf(path, sizeof(path), ".git/objects/%.2s/%s", hex, hex + 2);
	put_bytes(dir, path, (struct span){packed, len}, 1);
	return name;
}

static void put_repository(struct world *w)
{
	put(w->base, ".git/HEAD", "ref: refs/heads/main\n");
	put(w->base, ".git/refs/heads/other", "");
	put(w->base, ".git/objects/info/packs", "");
}

/* Folders of folders of folders: of eleven objects they have more files than anybody reads. */
static void put_tree_without_end(int dir)
{
	static const char kinds[2][8] = {"100644 ", "40000 "};
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);
	struct git_name at = put_object(dir, GIT_KIND_BLOB, SPAN_LITERAL("x"));
	char hex[GIT_HEX_MAX + 1];

	for (int depth = 0; depth < 10; depth++) {
		buf_clear(&text);
		for (int c = 'a'; c <= 'z'; c++) {
			buf_putf(&text, "%s%c", kinds[depth > 0], c);
			buf_put(&text, "", 1);
			buf_put(&text, at.bytes, at.len);
		}
		at = put_object(dir, GIT_KIND_TREE, buf_span(&text));
	}
	git_name_hex(&at, hex);
	buf_clear(&text);
	buf_putf(&text,
		 "tree %s\nauthor A <a@x.test> 5 +0000\ncommitter A <a@x.test> 5 +0000\n\nx\n",
		 hex);
	at = put_object(dir, GIT_KIND_COMMIT, buf_span(&text));
	git_name_hex(&at, hex);
	buf_clear(&text);
	buf_putf(&text, "%s\n", hex);
	put(dir, ".git/refs/heads/main", buf_str(&text));
}

static void test_trees(void **state)
{
	struct world *w = *state;

	put_repository(w);
	put_tree_without_end(w->up);
	put(w->up, "src/main.c", "x");
	put(w->up, ".envrc", "x");
	judge_late(w);
	found(w, ".git/refs/heads/main", HELD, NULL, "takes too long");
	/* The files were judged before. */
	found(w, "src/main.c", ORDINARY, NULL, NULL);
	found(w, ".envrc", HELD, "direnv", NULL);
}

/* Eight megabytes that are eight gigabytes, and unpacked in every piece. */
static void test_object(void **state)
{
	static uint8_t zeros[1 << 20], packed[1 << 12];
	struct world *w = *state;
	z_stream z = {.zalloc = NULL};

	put_repository(w);
	assert_int_equal(deflateInit(&z, Z_BEST_COMPRESSION), Z_OK);
	z.next_in = (Bytef *)(uintptr_t) "blob 9999999999";
	z.avail_in = 16;
	z.next_out = packed;
	z.avail_out = sizeof(packed);
	assert_int_equal(deflate(&z, Z_FULL_FLUSH), Z_OK);
	static const char path[] = ".git/objects/00/11223344556677889900112233445566778899";

	put_bytes(w->up, path, (struct span){packed, sizeof(packed) - z.avail_out}, 1);
	z.next_in = zeros;
	z.avail_in = sizeof(zeros);
	z.next_out = packed;
	z.avail_out = sizeof(packed);
	assert_int_equal(deflate(&z, Z_FULL_FLUSH), Z_OK);
	const struct span piece = {packed, sizeof(packed) - z.avail_out};
	_cleanup_fd_ int fd = openat(w->up, path, O_WRONLY | O_APPEND | O_CLOEXEC);

	(void)deflateEnd(&z);
	for (size_t i = 0; i < 8192; i++)
		assert_int_equal(fd_write_all(fd, piece.ptr, piece.len), 0);
	put(w->up, ".git/refs/heads/other", "0011223344556677889900112233445566778899\n");
	put(w->up, ".git/hooks/pre-commit", "x");
	put(w->up, "a", "x");
	judge_late(w);
	found(w, path, HELD, "git-objects", "takes too long");
	/* Nothing of the repository lands without the rest of it. */
	found(w, ".git/refs/heads/other", HELD, NULL, "was not looked at");
	found(w, "a", ORDINARY, NULL, NULL);
}

/* Patterns that match in no hurry, and as many names to match. */
static void test_patterns(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	struct world *w = *state;
	char path[256];

	put_repository(w);
	for (int i = 0; i < 4000; i++)
		buf_put_str(&text, "*a*a*a*a*a*a*a*a*b\n");
	put(w->up, ".gitignore", buf_str(&text));
	for (int i = 0; i < 200; i++) {
		(void)snprintf(path, sizeof(path), "bin/%0100d/%0100d.so", 0, i);
		for (char *c = path; *c; c++)
			*c = *c == '0' ? 'a' : *c;
		put(w->up, path, "x");
	}
	put(w->up, "zz", "x");
	judge_late(w);
	found(w, path, HELD, NULL, "it was not looked at: to look at all that the session changed");
	found(w, "zz", HELD, NULL, "it was not looked at");
}

/* More refs than can be told apart by looking at each of the others. */
static void test_refs(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(16 << 20);
	struct world *w = *state;

	put_repository(w);
	for (int i = 0; i < 90000; i++)
		buf_putf(&text, "%040x refs/heads/%06d\n", i + 1, i);
	put(w->up, ".git/packed-refs", buf_str(&text));
	judge_late(w);
	found(w, ".git/packed-refs", HELD, NULL, NULL);
}

/* As many that have a file each, and are asked about for each log. */
static void test_loose_refs(void **state)
{
	struct world *w = *state;
	static const char first[] = ".git/refs/tags/first";
	char path[64];

	put_repository(w);
	put(w->up, first, "0011223344556677889900112233445566778899\n");
	/* One file under as many names: a disk can be busy. */
	for (int i = 0; i < 20000; i++) {
		(void)snprintf(path, sizeof(path), ".git/refs/tags/%06d", i);
		assert_int_equal(linkat(w->up, first, w->up, path, 0), 0);
	}
	put(w->up, ".git/logs/HEAD", "none\n");
	judge_late(w);
	found(w, first, HELD, NULL, NULL);
}

/* A long log that lost its first line: what the user had is no work. */
static void test_log(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(8 << 20);
	struct world *w = *state;

	put_repository(w);
	for (int i = 0; i < 27000; i++)
		buf_putf(&text, "%040x %040x A <a@b.example> 1700000000 +0000\tcommit: %d\n", i,
			 i + 1, i);
	put(w->base, ".git/logs/HEAD", buf_str(&text));
	buf_putf(&text, "%040x %040x A <a@b.example> 1700000001 +0000\tcommit\n", 27000, 27001);
	put(w->up, ".git/logs/HEAD", strchr(buf_str(&text), '\n') + 1);
	int64_t began = clock_ms(CLOCK_PROCESS_CPUTIME_ID);

	judge(w, NULL);
	int64_t took = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - began;

	found(w, ".git/logs/HEAD", ORDINARY, NULL, NULL);
	if (took > LOG_MOST_MS)
		fail_msg("it took %lld ms", (long long)took);
}

/* No time at all: everything is held, and what is of one repository is one. */
static void test_together(void **state)
{
	struct world *w = *state;

	put_repository(w);
	put(w->up, ".git/objects/00/11223344556677889900112233445566778899", "x");
	put(w->up, ".git/index", "x");
	put(w->up, ".git/refs/heads/main", "0011223344556677889900112233445566778899\n");
	put(w->up, "sub/.git/HEAD", "ref: refs/heads/main\n");
	put(w->up, "sub/a", "x");
	judge_within(w, NULL, -1);
	found(w, "sub/a", HELD, NULL, "it was not looked at");
	found(w, ".git/refs/heads/main", HELD, NULL, "in this repository was not looked at");
	found(w, ".git/index", HELD, NULL, "it belongs to .git/refs/heads/main");
	assert_string_equal(changes_find(&w->changes, ".git/index")->with, ".git/refs/heads/main");
	found(w, "sub/.git/HEAD", HELD, NULL, "in this repository was not looked at");
	assert_null(changes_find(&w->changes, "sub/a")->with);
	/* Control: with time there is nothing to hold of this. */
	judge(w, NULL);
	found(w, "sub/a", ORDINARY, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_trees),    IN_WORLD(test_object),     IN_WORLD(test_patterns),
		IN_WORLD(test_refs),     IN_WORLD(test_loose_refs), IN_WORLD(test_log),
		IN_WORLD(test_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
