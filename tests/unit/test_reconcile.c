/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened in a workspace, with events and without: what an event explains is confirmed, by
 * whatever name; what none explains is named, exactly.  The scanner is the real one.
 */
#include "cmocka_lead.h"

#include "tree_lead.h"

#include "fd.h"
#include "reconcile.h"
#include "seal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct world {
	char path[64];
	int root, file;
	struct plan plan;
	struct plan_mount mount;
	struct loop loop;
	struct writer writer;
	struct reconcile r;
	struct reconcile_result result;
	unsigned int digests;
	struct hash digest;
	int digest_result;
	struct buf record;
};

static void put(const struct world *w, const char *name, const char *text)
{
	put_at(w->root, name, text);
}

static int on_digest(void *context, const struct scanner_digest *digest)
{
	struct world *w = context;

	w->digests++;
	w->digest = digest->digest;
	w->digest_result = digest->result;
	return 0;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct hash key = {{7}};

	assert_non_null(w);
	(void)snprintf(w->path, sizeof(w->path), "/tmp/bawn-reconcile-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->root = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->root >= 0);
	assert_int_equal(mkdirat(w->root, "d", 0755), 0);
	assert_int_equal(mkdirat(w->root, "d/e", 0755), 0);
	put(w, "a", "one");
	put(w, "b", "two");
	put(w, "d/c", "three");
	put(w, "d/e/f", "four");
	assert_int_equal(symlinkat("d", w->root, "way"), 0);
	w->mount = (struct plan_mount){.kind = PLAN_MOUNT_BIND,
				       .access = PLAN_ACCESS_WRITE,
				       .target = "/w",
				       .source = w->path,
				       .upper = "",
				       .role = "workspace"};
	w->plan = (struct plan){.workspace = "/w", .mounts = {&w->mount, 1}};
	w->file = memfd_create("record", MFD_CLOEXEC);
	assert_int_equal(loop_init(&w->loop), 0);
	writer_init(&w->writer, w->file, &key);
	w->record = BUF_INIT(64 << 20);
	/* On a machine that is very busy the clock of files may be behind by more than a tick. */
	(void)usleep(40000);
	next_tick();
	*state = w;
	return 0;
}

static void remove_all(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)execlp("rm", "rm", "-rf", "--", path, NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int teardown(void **state)
{
	struct world *w = *state;

	reconcile_fini(&w->r);
	writer_fini(&w->writer);
	loop_fini(&w->loop);
	buf_fini(&w->record);
	(void)close(w->file);
	(void)close(w->root);
	remove_all(w->path);
	free(w);
	return 0;
}

/* The session begins, and the first look is finished before anything happens. */
static void begin(struct world *w, bool scanned)
{
	const struct scanner_to to = {.loop = &w->loop, .on_digest = on_digest, .context = w};
	struct error e = ERROR_INIT;

	assert_int_equal(reconcile_begin(&w->r, &w->plan, &e), 0);
	if (scanned) {
		reconcile_serve(&w->r, -1, &to);
		assert_int_equal(reconcile_scan(&w->r), 0);
		for (int i = 0; i < 30000 && !w->r.trees[0].before.head->done; i++)
			(void)usleep(1000);
		assert_true(w->r.trees[0].before.head->done);
	}
	next_tick();
}

static void end(struct world *w)
{
	assert_int_equal(reconcile_end(&w->r, &w->writer, &w->result), 0);
	assert_int_equal(writer_commit(&w->writer), 0);
	assert_int_equal(lseek(w->file, 0, SEEK_SET), 0);
	assert_int_equal(fd_read_all(w->file, &w->record), 0);
	assert_true(w->result.compared);
}

static bool says(const struct world *w, const char *text)
{
	return memmem(w->record.ptr, w->record.len, text, strlen(text)) != NULL;
}

/* One event of the record has all of this. */
static bool names(const struct world *w, const char *op, const char *path, const char *kind)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		       "\"kind\":\"%s\",\"op\":\"%s\",\"how\":\"kernel\",\"path\":\"%s\",\"",
		       strcmp(op, "times") == 0 ? "file" : "tamper", op, path);
	const char *at = memmem(w->record.ptr, w->record.len, text, strlen(text));

	(void)snprintf(text, sizeof(text), "\"type\":\"%s\"", kind);
	return at && strstr(at, text) != NULL && strstr(at, text) - at < 300;
}

static void touch(struct world *w, const char *path, unsigned int effects)
{
	touched_add(&w->r.touched, span_of_str(path), effects);
}

static void expect(const struct world *w, uint64_t confirmed, uint64_t unattributed, uint64_t times)
{
	assert_int_equal(w->result.confirmed, confirmed);
	assert_int_equal(w->result.unattributed, unattributed);
	assert_int_equal(w->result.times, times);
}

static void test_nothing_happens(void **state)
{
	struct world *w = *state;

	begin(w, true);
	end(w);
	expect(w, 0, 0, 0);
	assert_int_equal(w->result.files, 7);
	assert_int_equal(w->result.unknown, 0);
	assert_int_equal(w->writer.seq, 0);
}

static void test_what_events_explain(void **state)
{
	struct world *w = *state;

	begin(w, true);
	put(w, "a", "uno");
	touch(w, "/w/a", TOUCHED_MADE);
	put(w, "new", "");
	touch(w, "/w/new", TOUCHED_MADE);
	assert_int_equal(unlinkat(w->root, "b", 0), 0);
	touch(w, "/w/b", TOUCHED_GONE);
	assert_int_equal(fchmodat(w->root, "d/c", 0600, 0), 0);
	touch(w, "/w/d/c", TOUCHED_META);
	end(w);
	expect(w, 4, 0, 0);
}

static void test_what_none_explains_is_named(void **state)
{
	struct world *w = *state;

	begin(w, true);
	put(w, "a", "uno");
	put(w, "new", "");
	assert_int_equal(unlinkat(w->root, "b", 0), 0);
	assert_int_equal(fchmodat(w->root, "d/c", 0600, 0), 0);
	touch(w, "/w/a", TOUCHED_META); /* of another kind */
	touch(w, "/w/other", TOUCHED_MADE);
	end(w);
	expect(w, 0, 4, 0);
	assert_true(names(w, "unattributed", "/w/a", "changed"));
	assert_true(names(w, "unattributed", "/w/new", "created"));
	assert_true(names(w, "unattributed", "/w/b", "deleted"));
	assert_true(names(w, "unattributed", "/w/d/c", "attributes"));
	assert_int_equal(w->writer.seq, 4 + 1); /* and the seal */
	assert_int_equal(w->result.shown_count, 4);
	assert_memory_equal(w->result.shown[0].path, "/w/", 3);
}

static void test_times_are_counted_and_no_alarm(void **state)
{
	struct world *w = *state;
	const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	begin(w, true);
	assert_int_equal(utimensat(w->root, "a", old, 0), 0);
	assert_int_equal(utimensat(w->root, "b", NULL, 0), 0);
	touch(w, "/w/b", TOUCHED_TIMES);
	end(w);
	/* b's times say "now", as if it had been written; an event says that they were set */
	expect(w, 0, 0, 2);
	assert_true(names(w, "times", "/w/a", "times"));
	assert_true(names(w, "times", "/w/b", "times"));
}

static void test_a_renamed_folder(void **state)
{
	struct world *w = *state;

	begin(w, true);
	put(w, "d/c", "3");
	touch(w, "/w/d/c", TOUCHED_MADE);
	assert_int_equal(renameat(w->root, "d", w->root, "g"), 0);
	touched_renamed(&w->r.touched, span_of_str("/w/d"), span_of_str("/w/g"));
	end(w);
	assert_int_equal(w->result.unattributed, 0);
	assert_int_equal(w->result.times, 0);
	assert_true(w->result.confirmed > 0);
}

/* A folder is renamed, and behind everybody's back something in it is changed. */
static void test_a_renamed_folder_does_not_hide_a_change(void **state)
{
	struct world *w = *state;

	begin(w, true);
	put(w, "d/e/f", "4444");
	assert_int_equal(renameat(w->root, "d", w->root, "g"), 0);
	touched_renamed(&w->r.touched, span_of_str("/w/d"), span_of_str("/w/g"));
	put(w, "g/extra", "");
	end(w);
	assert_int_equal(w->result.unattributed, 2);
	assert_true(names(w, "unattributed", "/w/g/e/f", "changed"));
	assert_true(names(w, "unattributed", "/w/g/extra", "created"));
}

/* As a package manager does: made aside, the old one put away, moved in, the old one removed. */
static void test_a_dance_of_folders(void **state)
{
	struct world *w = *state;

	begin(w, true);
	assert_int_equal(mkdirat(w->root, ".new", 0755), 0);
	touch(w, "/w/.new", TOUCHED_MADE);
	put(w, ".new/c", "fresh");
	touch(w, "/w/.new/c", TOUCHED_MADE);
	assert_int_equal(renameat(w->root, "d", w->root, ".old"), 0);
	touched_renamed(&w->r.touched, span_of_str("/w/d"), span_of_str("/w/.old"));
	assert_int_equal(renameat(w->root, ".new", w->root, "d"), 0);
	touched_renamed(&w->r.touched, span_of_str("/w/.new"), span_of_str("/w/d"));
	assert_int_equal(unlinkat(w->root, ".old/c", 0), 0);
	touch(w, "/w/.old/c", TOUCHED_GONE);
	assert_int_equal(unlinkat(w->root, ".old/e/f", 0), 0);
	touch(w, "/w/.old/e/f", TOUCHED_GONE);
	assert_int_equal(unlinkat(w->root, ".old/e", AT_REMOVEDIR), 0);
	touch(w, "/w/.old/e", TOUCHED_GONE);
	assert_int_equal(unlinkat(w->root, ".old", AT_REMOVEDIR), 0);
	touch(w, "/w/.old", TOUCHED_GONE);
	end(w);
	assert_int_equal(w->result.unattributed, 0);
	assert_int_equal(w->result.times, 0);
}

static void test_names_through_links(void **state)
{
	struct world *w = *state;

	begin(w, true);
	put(w, "d/c", "3");
	touch(w, "/w/way/c", TOUCHED_MADE); /* way -> d stood there all along */
	assert_int_equal(linkat(w->root, "a", w->root, "d/hard", 0), 0);
	touch(w, "/w/d/hard", TOUCHED_MADE);
	put(w, "d/hard", "changed by its other name");
	end(w);
	expect(w, 3, 0, 0);
}

static void on_unattributed(void *context, const char *path, uint32_t kind)
{
	buf_putf(context, "%s %o\n", path, kind & S_IFMT);
}

/* Direct: what was not kept is told, and what only had its times set, by whichever name, is kept
 * well enough. */
static void test_what_is_told_to_undo(void **state)
{
	const struct first_kept none = FIRST_KEPT_INIT;
	struct world *w = *state;
	_cleanup_buf_ struct buf told = BUF_INIT(4096);

	assert_int_equal(linkat(w->root, "a", w->root, "again", 0), 0);
	w->r.kept = NULL;
	begin(w, true);
	w->r.kept = &none;
	w->r.on_unattributed = on_unattributed;
	w->r.unattributed_context = &told;
	assert_int_equal(utimensat(w->root, "a", NULL, 0), 0);
	touch(w, "/w/a", TOUCHED_TIMES);
	put(w, "b", "dos");
	touch(w, "/w/b", TOUCHED_MADE);
	assert_int_equal(unlinkat(w->root, "d/c", 0), 0);
	put(w, "d/extra", "");
	/* It is there, but by a name of which nobody has heard. */
	assert_int_equal(renameat(w->root, "d/e/f", w->root, "d/e/g"), 0);
	put(w, "d/e/f", "new");
	touch(w, "/w/d/e/f", TOUCHED_MADE);
	end(w);
	assert_non_null(strstr(buf_str(&told), "b 100000\n"));
	assert_non_null(strstr(buf_str(&told), "d/extra 0\n"));
	assert_non_null(strstr(buf_str(&told), "d/e/f 100000\n"));
	assert_non_null(strstr(buf_str(&told), "d/e/g 0\n"));
	assert_non_null(strstr(buf_str(&told), "d/c 100000\n"));
	assert_null(strstr(buf_str(&told), "again"));
}

/* Nobody looked before the session changed things. */
static void test_without_a_first_look(void **state)
{
	struct world *w = *state;

	begin(w, false);
	put(w, "a", "uno");
	touch(w, "/w/a", TOUCHED_MADE);
	put(w, "b", "dos");
	assert_int_equal(unlinkat(w->root, "d/c", 0), 0);
	end(w);
	assert_int_equal(w->result.unattributed, 1);
	assert_true(names(w, "unattributed", "/w/b", "changed"));
	/* d/c is gone, and nobody can know; but the folder says that something was */
	assert_true(w->result.unknown > 0);
	assert_true(says(w, "\"path\":\"/w/d\""));
	assert_true(says(w, "what was removed there is not known"));
}

/* Nor before a program set times to now: that they say so has its event. */
static void test_times_without_a_first_look(void **state)
{
	struct world *w = *state;

	begin(w, false);
	assert_int_equal(utimensat(w->root, "b", NULL, 0), 0);
	touch(w, "/w/b", TOUCHED_TIMES);
	end(w);
	expect(w, 0, 0, 1);
	assert_true(names(w, "times", "/w/b", "times"));
}

static void test_more_than_are_named(void **state)
{
	struct world *w = *state;
	char name[32];

	begin(w, true);
	for (unsigned int i = 0; i < RECONCILE_NAMED_MAX + 7; i++) {
		(void)snprintf(name, sizeof(name), "d/e/%u", i);
		put(w, name, "");
	}
	end(w);
	expect(w, 0, RECONCILE_NAMED_MAX + 7, 0);
	assert_true(says(w, "\"count\":7,\"reason\":\"changes without an event"));
}

static void test_a_workspace_that_may_not_be_written(void **state)
{
	struct world *w = *state;
	const struct scanner_to to = {.loop = &w->loop, .on_digest = on_digest, .context = w};
	struct error e = ERROR_INIT;

	w->mount.access = PLAN_ACCESS_READ;
	assert_int_equal(reconcile_begin(&w->r, &w->plan, &e), 0);
	reconcile_serve(&w->r, -1, &to);
	assert_int_equal(reconcile_scan(&w->r), 0);
	assert_int_equal(reconcile_end(&w->r, &w->writer, &w->result), 0);
	assert_false(w->result.compared);
}

/* What was saved before the start, however shortly, is not of the session: times of files that
 * somebody asked about are finer than the coarse clock, and later. */
static void test_what_was_saved_just_before(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;
	struct stat st;

	for (int i = 0; i < 100; i++) {
		put(w, "a", "saved");
		assert_int_equal(fstatat(w->root, "a", &st, 0), 0);
		put(w, "a", "and again");
		assert_int_equal(reconcile_begin(&w->r, &w->plan, &e), 0);
		assert_int_equal(fstatat(w->root, "a", &st, 0), 0);
		assert_true(st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec <= w->r.since);
		reconcile_fini(&w->r);
	}
	begin(w, true);
	put(w, "b", "by somebody else");
	end(w);
	assert_int_equal(w->result.unattributed, 1);
	assert_true(names(w, "unattributed", "/w/b", "changed"));
}

static void test_a_workspace_that_cannot_be_opened(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;

	w->mount.source = "/nowhere-at-all";
	assert_int_equal(reconcile_begin(&w->r, &w->plan, &e), 0);
	assert_int_equal(reconcile_end(&w->r, &w->writer, &w->result), 0);
	assert_false(w->result.compared);
	assert_int_equal(w->writer.seq, 1); /* and it is said */
}

static void test_another_folder_than_was_meant(void **state)
{
	struct world *w = *state;
	struct error e = ERROR_INIT;

	w->mount.ino = 1;
	assert_int_equal(reconcile_begin(&w->r, &w->plan, &e), -ESTALE);
}

/* --- digests -------------------------------------------------------------------------- */

static void ask(struct world *w, const char *name)
{
	int fd = openat(w->root, name, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	scanner_digest(&w->r.scanner, fd, span_of_str(name));
}

static void test_digests_are_taken_once(void **state)
{
	struct world *w = *state;
	char hex[HASH_HEX + 1] = "";

	begin(w, true);
	for (unsigned int i = 0; i < 50; i++)
		ask(w, "a");
	end(w);
	assert_int_equal(w->digests, 1);
	assert_int_equal(w->digest_result, 0);
	hash_format(&w->digest, hex);
	assert_string_equal(hex,
			    "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed");
}

static void test_a_changed_file_is_another_one(void **state)
{
	struct world *w = *state;

	begin(w, true);
	ask(w, "a");
	put(w, "a", "another");
	ask(w, "a");
	ask(w, "b");
	end(w);
	assert_int_equal(w->digests, 3);
}

/* With nothing to do the scanner ends; the next question starts another one. */
static void test_the_scanner_rests(void **state)
{
	struct world *w = *state;

	begin(w, true);
	ask(w, "a");
	assert_int_equal(waitpid(w->r.scanner.pid, NULL, WNOHANG), 0);
	for (int i = 0; i < 300 && w->r.scanner.pid > 0; i++) {
		struct epoll_event event;

		/* the loop, for a moment */
		if (epoll_wait(w->loop.epoll, &event, 1, 100) > 0)
			(void)w->loop.sources[w->r.scanner.handle.slot].fn(&w->r.scanner, EPOLLIN);
	}
	assert_int_equal(w->r.scanner.pid, 0);
	assert_int_equal(w->digests, 1);
	ask(w, "a"); /* is known */
	assert_int_equal(w->r.scanner.pid, 0);
	ask(w, "b");
	assert_true(w->r.scanner.pid > 0);
	end(w);
	assert_int_equal(w->digests, 2);
	assert_int_equal(w->r.scanner.left_out, 0);
}

/* Killed with a question open, it is asked again; but not for ever. */
static void test_a_scanner_that_is_killed(void **state)
{
	struct world *w = *state;

	begin(w, true);
	pid_t first = w->r.scanner.pid;

	assert_int_equal(kill(first, SIGSTOP), 0);
	ask(w, "a");
	assert_int_equal(kill(first, SIGKILL), 0);
	end(w);
	assert_int_equal(w->digests, 1);
	assert_int_equal(w->digest_result, 0);
	assert_int_equal(w->r.scanner.deaths, 1);
}

static void test_too_many_digests_are_counted(void **state)
{
	struct world *w = *state;
	char name[32];

	begin(w, true);
	for (unsigned int i = 0; i < 500; i++) {
		(void)snprintf(name, sizeof(name), "p%u", i);
		put(w, name, "x");
		ask(w, name);
	}
	end(w);
	/* nothing is answered while the loop does not run */
	assert_int_equal(w->digests + w->r.scanner.left_out, 500);
	assert_true(w->digests >= SCANNER_WAITING_MAX);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_nothing_happens),
		T(test_what_events_explain),
		T(test_what_none_explains_is_named),
		T(test_times_are_counted_and_no_alarm),
		T(test_a_renamed_folder),
		T(test_a_renamed_folder_does_not_hide_a_change),
		T(test_a_dance_of_folders),
		T(test_names_through_links),
		T(test_what_is_told_to_undo),
		T(test_without_a_first_look),
		T(test_times_without_a_first_look),
		T(test_more_than_are_named),
		T(test_a_workspace_that_may_not_be_written),
		T(test_what_was_saved_just_before),
		T(test_a_workspace_that_cannot_be_opened),
		T(test_another_folder_than_was_meant),
		T(test_digests_are_taken_once),
		T(test_a_changed_file_is_another_one),
		T(test_the_scanner_rests),
		T(test_a_scanner_that_is_killed),
		T(test_too_many_digests_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
