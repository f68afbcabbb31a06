/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What undo of a direct session would do: what the session did goes back, byte by byte; what
 * somebody has changed since stays, with everything that hangs upon it, and is named.
 */
#include "cmocka_lead.h"

#include "undo_lead.h"

#include "str.h"

#include <errno.h>
#include <sys/types.h>

/* --- the workspace --------------------------------------------------------------------- */

static void put(const struct world *w, const char *path, const char *text)
{
	put_at(w->lead.tree, path, text);
}

static void folder(const struct world *w, const char *path)
{
	assert_int_equal(mkdirat(w->lead.tree, path, 0755), 0);
}

static void gone(const struct world *w, const char *path)
{
	assert_int_equal(unlinkat(w->lead.tree, path, 0), 0);
}

static void folder_gone(const struct world *w, const char *path)
{
	assert_int_equal(unlinkat(w->lead.tree, path, AT_REMOVEDIR), 0);
}

static void mode(const struct world *w, const char *path, mode_t to)
{
	assert_int_equal(fchmodat(w->lead.tree, path, to, 0), 0);
}

static void touch(const struct world *w, const char *path, time_t to)
{
	const struct timespec times[2] = {{.tv_sec = to}, {.tv_sec = to}};

	assert_int_equal(utimensat(w->lead.tree, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void keep(struct world *w, const char *path)
{
	lead_keep(&w->lead, path);
}

static void leave(struct world *w, const char *path)
{
	lead_leave(&w->lead, path);
}

/* What no entry speaks of counts as the session's until now. */
static void end(struct world *w)
{
	next_tick();
	w->session.ended = now();
	next_tick();
}

/* --- what undo says -------------------------------------------------------------------- */

static void say_step(struct world *w, size_t i)
{
	const struct land_step *s = &w->undo.steps[i];

	buf_putf(&w->said, "%s: %s", s->path, object_type_words[s->before.type]);
	if (s->after.type == s->before.type && s->after.type != OBJECT_LINK)
		buf_putf(&w->said, " %o", s->before.mode);
	buf_putf(&w->said, " -> %s", object_type_words[s->after.type]);
	if (s->after.type == OBJECT_FILE) {
		_cleanup_fd_ int fd = undo_direct_content(&w->undo, i);
		_cleanup_buf_ struct buf content = BUF_INIT(4096);

		assert_true(fd >= 0);
		assert_int_equal(fd_read_all(fd, &content), 0);
		assert_int_equal(content.len, s->after.size);
		buf_putf(&w->said, " %o %s", s->after.mode, buf_str(&content));
	}
	if (s->after.type == OBJECT_DIR)
		buf_putf(&w->said, " %o", s->after.mode);
	if (s->after.type == OBJECT_LINK)
		buf_putf(&w->said, " %s", s->after.link);
	buf_put_char(&w->said, '\n');
}

static const char *undo(struct world *w)
{
	struct review r = REVIEW_INIT;
	struct error e = ERROR_INIT;

	r.layers = w->lead.layers;
	r.tree = w->lead.tree;
	undo_direct_fini(&w->undo);
	if (undo_direct_read(&r, &w->session, NULL, &w->undo, &e) < 0)
		fail_msg("%s", e.text);
	buf_clear(&w->said);
	for (size_t i = 0; i < w->undo.opening_count; i++)
		buf_putf(&w->said, "open %s %o -> %o\n", w->undo.opening[i].path,
			 w->undo.opening[i].before.mode, w->undo.opening[i].after.mode);
	for (size_t i = 0; i < w->undo.count; i++)
		say_step(w, i);
	for (size_t i = 0; i < w->undo.skipped_count; i++)
		buf_putf(&w->said, "not %s: %s\n", w->undo.skipped[i].path, w->undo.skipped[i].why);
	return buf_str(&w->said);
}

/* --- one file -------------------------------------------------------------------------- */

static void test_files(void **state)
{
	struct world *w = *state;

	put(w, "added-to", "one");
	put(w, "removed", "two");
	put(w, "same", "three");
	put(w, "empty", "");
	keep(w, "added-to");
	keep(w, "made");
	keep(w, "removed");
	keep(w, "same");
	keep(w, "empty");
	keep(w, "never");
	put(w, "added-to", "one and more");
	put(w, "made", "new");
	put(w, "empty", "x");
	gone(w, "removed");
	for (size_t i = 0; i < 6; i++)
		leave(w, (const char *const[]){"added-to", "made", "removed", "same", "empty",
					       "never"}[i]);
	assert_string_equal(undo(w), "added-to: file 644 -> file 644 one\n"
				     "empty: file 644 -> file 644 \n"
				     "made: file -> nothing\n"
				     "removed: nothing -> file 644 two\n");
	/* The first version counts, whatever was kept of it later. */
	keep(w, "added-to");
	put(w, "added-to", "and more again");
	leave(w, "added-to");
	assert_string_equal(undo(w), "added-to: file 644 -> file 644 one\n"
				     "empty: file 644 -> file 644 \n"
				     "made: file -> nothing\n"
				     "removed: nothing -> file 644 two\n");
}

static void test_what_was_changed_since_stays(void **state)
{
	struct world *w = *state;

	put(w, "a", "one");
	put(w, "b", "two");
	put(w, "c", "three");
	put(w, "m", "four");
	keep(w, "a");
	keep(w, "b");
	keep(w, "c");
	keep(w, "m");
	keep(w, "n");
	put(w, "a", "session's");
	put(w, "b", "session's");
	gone(w, "c");
	put(w, "m", "session's");
	put(w, "n", "session's");
	leave(w, "a");
	leave(w, "b");
	leave(w, "c");
	leave(w, "m");
	leave(w, "n");
	put(w, "a", "user's, s"); /* as long as before */
	put(w, "c", "user's");
	mode(w, "m", 0600);
	gone(w, "n");
	assert_string_equal(undo(w), "b: file 644 -> file 644 two\n"
				     "not a: it was changed since\n"
				     "not c: it was changed since\n"
				     "not m: it was changed since\n");
	/* The user wrote again what had been there: there is nothing to do. */
	put(w, "a", "one");
	assert_null(strstr(undo(w), "a: "));
	assert_null(strstr(undo(w), "not a"));
}

/* Without an END nobody knows how it was left, but when the session ended. */
static void test_sessions_that_were_killed(void **state)
{
	struct world *w = *state;
	struct object o;

	put(w, "a", "one");
	keep(w, "a");
	put(w, "a", "two");
	assert_int_equal(undo_look(w->lead.tree, "a", &o), 0);
	w->session.ended = o.ctime;
	assert_string_equal(undo(w), "a: file 644 -> file 644 one\n");
	w->session.ended = o.ctime - 1;
	assert_string_equal(undo(w), "not a: it was changed since\n");
	gone(w, "a");
	assert_string_equal(undo(w), "a: nothing -> file 644 one\n");
}

static void test_modes_and_times(void **state)
{
	struct world *w = *state;

	put(w, "m", "text");
	put(w, "t", "text");
	put(w, "u", "text");
	touch(w, "m", 1000);
	touch(w, "t", 1000);
	touch(w, "u", 1000);
	lead_keep_meta(&w->lead, "m");
	lead_keep_meta(&w->lead, "t");
	lead_keep_meta(&w->lead, "u");
	mode(w, "m", 0600);
	touch(w, "t", 2000);
	touch(w, "u", 2000);
	leave(w, "m");
	leave(w, "t");
	leave(w, "u");
	touch(w, "u", 3000); /* the user's own */
	assert_string_equal(undo(w), "m: file 600 -> file 644 text\n"
				     "t: file 644 -> file 644 text\n");
	assert_int_equal(w->undo.steps[0].after.mtime, 1000000000000);
	assert_int_equal(w->undo.steps[1].after.mtime, 1000000000000);
	assert_int_equal(w->undo.steps[1].before.mtime, 2000000000000);
}

/* First the mode was changed, then the content: both go back, each from its entry. */
static void test_mode_and_content(void **state)
{
	struct world *w = *state;

	put(w, "a", "one");
	touch(w, "a", 1000);
	lead_keep_meta(&w->lead, "a");
	mode(w, "a", 0600);
	touch(w, "a", 2000);
	keep(w, "a");
	put(w, "a", "two");
	leave(w, "a");
	assert_string_equal(undo(w), "a: file 600 -> file 644 one\n");
	assert_int_equal(w->undo.steps[0].after.mtime, 1000000000000);
}

/* And the other way round: the entry that comes first has both. */
static void test_content_and_mode(void **state)
{
	struct world *w = *state;

	put(w, "a", "one");
	touch(w, "a", 1000);
	keep(w, "a");
	put(w, "a", "two");
	mode(w, "a", 0600);
	touch(w, "a", 2000);
	lead_keep_meta(&w->lead, "a");
	mode(w, "a", 0640);
	leave(w, "a");
	assert_string_equal(undo(w), "a: file 640 -> file 644 one\n");
	assert_int_equal(w->undo.steps[0].after.mtime, 1000000000000);
}

static void test_what_was_not_kept(void **state)
{
	static const unsigned int whys[] = {FIRST_WHY_NOT, FIRST_WHY_LARGE, FIRST_WHY_LIMIT,
					    FIRST_WHY_UNREADABLE, FIRST_WHY_FAILED};
	struct world *w = *state;
	struct buf want = BUF_INIT(4096);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(whys); i++) {
		char path[8], text[PATH_MAX];

		(void)snprintf(path, sizeof(path), "f%zu", i);
		put(w, path, "one");
		struct first_entry e = lead_look(&w->lead, path, text);

		e.why = whys[i];
		lead_put(&w->lead, &e);
		put(w, path, "two and more");
		leave(w, path);
		buf_putf(&want, "not %s: %s\n", path,
			 whys[i] ? first_why_words[whys[i]] : "it was not kept");
	}
	assert_string_equal(undo(w), buf_str(&want));
	buf_fini(&want);
}

/* Its digest is known, and its content lost: nothing is put in its place. */
static void test_content_that_is_lost(void **state)
{
	struct world *w = *state;

	put(w, "a", "one");
	put(w, "b", "two");
	keep(w, "a");
	keep(w, "b");
	put(w, "a", "session's");
	gone(w, "b");
	leave(w, "a");
	leave(w, "b");
	assert_int_equal(ftruncate(w->lead.data, 3), 0);
	assert_string_equal(undo(w), "a: file 644 -> file 644 one\n"
				     "not b: it was not kept\n");
	assert_int_equal(ftruncate(w->lead.data, 2), 0);
	assert_string_equal(undo(w), "not a: it was not kept\n"
				     "not b: it was not kept\n");
}

/* What was not hashed while a call waited is hashed now. */
static void test_content_without_digest(void **state)
{
	struct world *w = *state;
	char text[PATH_MAX];

	put(w, "a", "one");
	struct first_entry e = lead_look(&w->lead, "a", text);

	assert_int_equal(pwrite(w->lead.data, "one", 3, 0), 3);
	e.flags |= FIRST_PACKED;
	lead_put(&w->lead, &e);
	put(w, "a", "two");
	leave(w, "a");
	assert_string_equal(undo(w), "a: file 644 -> file 644 one\n");
}

static void test_links(void **state)
{
	struct world *w = *state;

	assert_int_equal(symlinkat("old", w->lead.tree, "l"), 0);
	assert_int_equal(symlinkat("old", w->lead.tree, "m"), 0);
	put(w, "f", "file");
	keep(w, "l");
	keep(w, "m");
	keep(w, "f");
	gone(w, "l");
	gone(w, "m");
	gone(w, "f");
	assert_int_equal(symlinkat("new", w->lead.tree, "l"), 0);
	put(w, "m", "file");
	assert_int_equal(symlinkat("new", w->lead.tree, "f"), 0);
	leave(w, "l");
	leave(w, "m");
	leave(w, "f");
	assert_string_equal(undo(w), "f: link -> file 644 file\n"
				     "l: link -> link old\n"
				     "m: file -> link old\n");
	gone(w, "l");
	assert_int_equal(symlinkat("neW", w->lead.tree, "l"), 0);
	assert_non_null(strstr(undo(w), "not l: it was changed since\n"));
}

static void test_pipes(void **state)
{
	struct world *w = *state;

	keep(w, "p");
	keep(w, "q");
	put(w, "was", "x");
	assert_int_equal(mkfifoat(w->lead.tree, "p", 0600), 0);
	assert_int_equal(mkfifoat(w->lead.tree, "q", 0600), 0);
	leave(w, "p");
	leave(w, "q");
	mode(w, "q", 0640);
	assert_string_equal(undo(w), "p: fifo -> nothing\n"
				     "not q: it was changed since\n");
	gone(w, "p");
	put(w, "p", "a file now");
	assert_string_equal(undo(w), "not p: it was changed since\n"
				     "not q: it was changed since\n");
}

static void test_our_own_names(void **state)
{
	static const char own[] = ".bawn-landing-1";
	struct world *w = *state;

	keep(w, own);
	put(w, own, "x");
	leave(w, own);
	assert_string_equal(undo(w),
			    "not .bawn-landing-1: its name is one that bawn itself uses\n");
}

/* --- folders --------------------------------------------------------------------------- */

static void make_folder(struct world *w)
{
	keep(w, "d");
	folder(w, "d");
	keep(w, "d/e");
	folder(w, "d/e");
	keep(w, "d/e/f");
	put(w, "d/e/f", "new");
	keep(w, "d/g");
	put(w, "d/g", "new");
	leave(w, "d");
	leave(w, "d/e");
	leave(w, "d/e/f");
	leave(w, "d/g");
}

static void test_a_new_folder_goes(void **state)
{
	struct world *w = *state;

	make_folder(w);
	assert_string_equal(undo(w), "d: directory -> nothing\n"
				     "d/e: directory -> nothing\n"
				     "d/e/f: file -> nothing\n"
				     "d/g: file -> nothing\n");
}

static void test_a_new_folder_stays_with_what_is_the_users(void **state)
{
	struct world *w = *state;

	make_folder(w);
	put(w, "d/e/own", "user's");
	assert_string_equal(undo(w), "d/e/f: file -> nothing\n"
				     "d/g: file -> nothing\n"
				     "not d: something that is in it stays\n"
				     "not d/e: something that is in it stays\n");
	gone(w, "d/e/own");
	put(w, "d/e/f", "user's");
	assert_string_equal(undo(w), "d/g: file -> nothing\n"
				     "not d: something that is in it stays\n"
				     "not d/e: something that is in it stays\n"
				     "not d/e/f: it was changed since\n");
}

static void remove_folder(struct world *w)
{
	static const char *const all[] = {"p/d/c", "p/d/b", "p/d/a", "p/d", "p"};

	folder(w, "p");
	folder(w, "p/d");
	put(w, "p/d/a", "A");
	put(w, "p/d/b", "B");
	put(w, "p/d/c", "C");
	mode(w, "p/d", 0750);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(all); i++)
		keep(w, all[i]);
	gone(w, "p/d/a");
	gone(w, "p/d/b");
	gone(w, "p/d/c");
	folder_gone(w, "p/d");
	folder_gone(w, "p");
	keep(w, "p");
	put(w, "p", "a file");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(all); i++)
		leave(w, all[i]);
}

static void test_a_folder_comes_back(void **state)
{
	struct world *w = *state;

	remove_folder(w);
	assert_string_equal(undo(w), "p: file -> directory 755\n"
				     "p/d: nothing -> directory 750\n"
				     "p/d/a: nothing -> file 644 A\n"
				     "p/d/b: nothing -> file 644 B\n"
				     "p/d/c: nothing -> file 644 C\n");
}

/* A folder that cannot come back keeps away all that was in it, however deep, and each of many. */
static void test_without_a_folder_nothing_comes_back(void **state)
{
	struct world *w = *state;

	remove_folder(w);
	put(w, "p", "the user's file");
	assert_string_equal(undo(w), "not p: it was changed since\n"
				     "not p/d: the folder that it was in is not there\n"
				     "not p/d/a: the folder that it was in is not there\n"
				     "not p/d/b: the folder that it was in is not there\n"
				     "not p/d/c: the folder that it was in is not there\n");
}

static void test_a_folder_that_no_entry_speaks_of(void **state)
{
	struct world *w = *state;

	folder(w, "d");
	put(w, "d/a", "A");
	keep(w, "d/a");
	gone(w, "d/a");
	leave(w, "d/a");
	assert_string_equal(undo(w), "d/a: nothing -> file 644 A\n");
	folder_gone(w, "d");
	assert_string_equal(undo(w), "not d/a: the folder that it was in is not there\n");
	put(w, "d", "a file");
	assert_string_equal(undo(w), "not d/a: the folder that it was in is not there\n");
}

/* --- folders that were renamed --------------------------------------------------------- */

static void move_folder(struct world *w)
{
	folder(w, "d");
	put(w, "d/a", "A");
	put(w, "d/b", "B");
	lead_move(&w->lead, "d", "e", false);
}

static void test_renames(void **state)
{
	struct world *w = *state;

	move_folder(w);
	end(w);
	assert_string_equal(undo(w), "d: nothing -> directory 755\n"
				     "d/a: nothing -> file 644 A\n"
				     "d/b: nothing -> file 644 B\n"
				     "e: directory -> nothing\n"
				     "e/a: file -> nothing\n"
				     "e/b: file -> nothing\n");
	/* What was touched since is named where it is, and not brought back to where it was. */
	put(w, "e/b", "user's");
	assert_string_equal(undo(w), "d: nothing -> directory 755\n"
				     "d/a: nothing -> file 644 A\n"
				     "e/a: file -> nothing\n"
				     "not e: something that is in it stays\n"
				     "not e/b: it was changed since\n");
}

/* What was written by the new name goes back to the old one, as it was. */
static void test_renames_and_writes(void **state)
{
	struct world *w = *state;

	move_folder(w);
	keep(w, "e/a");
	put(w, "e/a", "session's");
	keep(w, "e/c");
	put(w, "e/c", "session's");
	keep(w, "e/b");
	gone(w, "e/b");
	leave(w, "e/a");
	leave(w, "e/b");
	leave(w, "e/c");
	assert_string_equal(undo(w), "d: nothing -> directory 755\n"
				     "d/a: nothing -> file 644 A\n"
				     "d/b: nothing -> file 644 B\n"
				     "e: directory -> nothing\n"
				     "e/a: file -> nothing\n"
				     "e/c: file -> nothing\n");
}

static void test_renames_of_what_is_not_that_folder(void **state)
{
	struct world *w = *state;
	char text[PATH_MAX];

	folder(w, "d");
	folder(w, "e");
	put(w, "e/a", "A");
	struct first_entry e = lead_look(&w->lead, "d", text);

	/* It was asked for, and failed. */
	e.kind = FIRST_MOVED;
	e.text = "e";
	lead_put(&w->lead, &e);
	assert_string_equal(undo(w), "");
}

static void test_a_rename_that_the_user_went_on_with(void **state)
{
	struct world *w = *state;

	move_folder(w);
	keep(w, "e/a");
	put(w, "e/a", "session's");
	leave(w, "e/a");
	put(w, "e/a", "user's");
	put(w, "e/own", "user's");
	const char *said = undo(w);

	/* Nothing of the user's goes, and nothing goes that it lies in. */
	assert_non_null(strstr(said, "not e/a: it was changed since\n"));
	assert_non_null(strstr(said, "not e: "));
	assert_null(strstr(said, "\ne: "));
	assert_null(strstr(said, "\ne/a: "));
	assert_null(strstr(said, "\ne/own: "));
}

/* Where something of the user's stands now, nothing comes back; what it became stays where it is,
 * and so does the folder that it is in. */
static void test_a_rename_whose_place_is_taken(void **state)
{
	struct world *w = *state;

	folder(w, "d");
	put(w, "d/x", "X");
	keep(w, "z");
	folder(w, "z");
	lead_move(&w->lead, "d", "z/d", false);
	leave(w, "d");
	leave(w, "z");
	leave(w, "z/d");
	end(w);
	assert_string_equal(undo(w), "d: nothing -> directory 755\n"
				     "d/x: nothing -> file 644 X\n"
				     "z: directory -> nothing\n"
				     "z/d: directory -> nothing\n"
				     "z/d/x: file -> nothing\n");
	put(w, "d", "user's");
	assert_string_equal(undo(w), "not d: it was changed since\n"
				     "not d/x: the folder that it was in is not there\n"
				     "not z: something that is in it stays\n"
				     "not z/d: it cannot go back to where it was\n"
				     "not z/d/x: it cannot go back to where it was\n");
}

static void test_exchanges(void **state)
{
	static const struct timespec same[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct world *w = *state;

	folder(w, "d");
	folder(w, "e");
	put(w, "d/a", "A");
	put(w, "e/b", "B");
	/* Else their own times may have to be exchanged, too. */
	assert_int_equal(utimensat(w->lead.tree, "d", same, 0), 0);
	assert_int_equal(utimensat(w->lead.tree, "e", same, 0), 0);
	lead_move(&w->lead, "d", "e", true);
	end(w);
	assert_string_equal(undo(w), "d/a: nothing -> file 644 A\n"
				     "d/b: file -> nothing\n"
				     "e/a: file -> nothing\n"
				     "e/b: nothing -> file 644 B\n");
}

/* --- files of several names ------------------------------------------------------------ */

static bool has_births(const struct world *w)
{
	put(w, "birth", "");
	bool has = first_born(w->lead.tree, "birth") != 0;

	gone(w, "birth");
	return has;
}

static void link_to(const struct world *w, const char *from, const char *to)
{
	assert_int_equal(linkat(w->lead.tree, from, w->lead.tree, to, 0), 0);
}

static void test_other_names(void **state)
{
	struct world *w = *state;

	if (!has_births(w))
		skip();
	folder(w, "d");
	put(w, "a", "one");
	link_to(w, "a", "d/b");
	put(w, "c", "one");
	keep(w, "a");
	put(w, "a", "two");
	leave(w, "a");
	end(w);
	assert_string_equal(undo(w), "a: file 644 -> file 644 one\n"
				     "d/b: file 644 -> file 644 one\n");
	/* What was kept later by the other name is not what it was at first. */
	keep(w, "d/b");
	put(w, "d/b", "three");
	leave(w, "a");
	leave(w, "d/b");
	assert_string_equal(undo(w), "a: file 644 -> file 644 one\n"
				     "d/b: file 644 -> file 644 one\n");
}

/* The number of an inode is used again: the other file is the user's. */
static void test_numbers_that_are_used_again(void **state)
{
	struct world *w = *state;
	char text[PATH_MAX];

	if (!has_births(w))
		skip();
	put(w, "mine", "user's");
	link_to(w, "mine", "mine-too");
	struct first_entry e = lead_look(&w->lead, "mine", text);

	/* Another file, that had this number before, and is gone. */
	e.path = "a";
	e.flags |= FIRST_PACKED;
	e.size = 3;
	e.born -= 1000;
	assert_int_equal(pwrite(w->lead.data, "one", 3, 0), 3);
	lead_put(&w->lead, &e);
	e.path = "b";
	e.born += 2000;
	lead_put(&w->lead, &e);
	assert_string_equal(undo(w), "a: nothing -> file 644 one\n"
				     "b: nothing -> file 644 one\n");
}

static void test_entries_without_a_birth(void **state)
{
	struct world *w = *state;
	char text[PATH_MAX];

	if (!has_births(w))
		skip();
	put(w, "a", "one");
	link_to(w, "a", "b");
	(void)usleep(20000);
	struct first_entry e = lead_look(&w->lead, "a", text);
	const int64_t born = e.born;

	e.flags |= FIRST_PACKED;
	e.born = 0;
	e.ctime = born + 1; /* it was there when this one was changed: the same */
	assert_int_equal(pwrite(w->lead.data, "one", 3, 0), 3);
	lead_put(&w->lead, &e);
	put(w, "a", "two");
	leave(w, "a");
	leave(w, "b");
	assert_string_equal(undo(w), "a: file 644 -> file 644 one\n"
				     "b: file 644 -> file 644 one\n");
}

/* An entry that may be another file's changes nothing, and is named. */
static void test_doubt(void **state)
{
	struct world *w = *state;
	char text[PATH_MAX];

	if (!has_births(w))
		skip();
	put(w, "a", "one");
	link_to(w, "a", "b");
	struct first_entry e = lead_look(&w->lead, "a", text);

	e.flags |= FIRST_PACKED;
	e.ctime = e.born; /* in the very moment */
	e.born = 0;
	assert_int_equal(pwrite(w->lead.data, "one", 3, 0), 3);
	lead_put(&w->lead, &e);
	put(w, "a", "two");
	leave(w, "a");
	leave(w, "b");
	assert_string_equal(undo(w),
			    "a: file 644 -> file 644 one\n"
			    "not b: the session may have written it by another name, and the "
			    "filesystem does not tell\n");
}

/* --- git ------------------------------------------------------------------------------- */

static void make_repository(struct world *w)
{
	static const char *const folders[] = {"r",
					      "r/.git",
					      "r/.git/logs",
					      "r/.git/objects",
					      "r/.git/objects/aa",
					      "r/.git/objects/bb"};
	static const char *const files[] = {
		"r/.git/HEAD", "r/.git/logs/HEAD",
		"r/.git/objects/aa/11111111111111111111111111111111111111",
		"r/.git/objects/aa/22222222222222222222222222222222222222",
		"r/.git/objects/bb/33333333333333333333333333333333333333"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(folders); i++) {
		keep(w, folders[i]);
		folder(w, folders[i]);
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(files); i++) {
		keep(w, files[i]);
		put(w, files[i], "x");
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(folders); i++)
		leave(w, folders[i]);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(files); i++)
		leave(w, files[i]);
}

static size_t steps_in_objects(const struct world *w)
{
	size_t count = 0;

	for (size_t i = 0; i < w->undo.count; i++)
		count += str_after(w->undo.steps[i].path, "r/.git/objects") != NULL;
	return count;
}

static void test_a_repository_goes_whole(void **state)
{
	struct world *w = *state;

	make_repository(w);
	(void)undo(w);
	assert_int_equal(w->undo.count, 11);
	assert_int_equal(w->undo.skipped_count, 0);
	assert_int_equal(steps_in_objects(w), 6);
}

/* The repository stays, and that is known late: all of its objects stay, each of them. */
static void test_objects_stay_with_their_repository(void **state)
{
	struct world *w = *state;

	make_repository(w);
	put(w, "r/.git/logs/mine", "user's");
	assert_string_equal(undo(w), "r/.git/HEAD: file -> nothing\n"
				     "r/.git/logs/HEAD: file -> nothing\n"
				     "not r: something that is in it stays\n"
				     "not r/.git: something that is in it stays\n"
				     "not r/.git/logs: something that is in it stays\n"
				     "not r/.git/objects: something that is in it stays\n");
	assert_int_equal(steps_in_objects(w), 0);
}

/* Likewise of objects that hang together by nothing but their repository. */
static void test_objects_stay_without_their_folders(void **state)
{
	static const char *const objects[] = {
		"g/.git/objects/aa/11111111111111111111111111111111111111",
		"g/.git/objects/bb/22222222222222222222222222222222222222",
		"g/.git/objects/cc/33333333333333333333333333333333333333"};
	struct world *w = *state;

	folder(w, "g");
	keep(w, "g/.git");
	folder(w, "g/.git");
	folder(w, "g/.git/objects");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(objects); i++) {
		char above[32];

		(void)snprintf(above, sizeof(above), "%.17s", objects[i]);
		folder(w, above);
		keep(w, objects[i]);
		put(w, objects[i], "x");
		leave(w, objects[i]);
	}
	leave(w, "g/.git");
	assert_string_equal(undo(w), "not g/.git: something that is in it stays\n");
}

static void test_a_repository_that_was_used_since_stays(void **state)
{
	struct world *w = *state;

	make_repository(w);
	put(w, "r/.git/HEAD", "user's");
	(void)undo(w);
	assert_int_equal(w->undo.count, 0);
	assert_non_null(strstr(buf_str(&w->said), "not r/.git/HEAD: it was changed since\n"));
	assert_non_null(strstr(buf_str(&w->said),
			       "not r/.git/logs/HEAD: something of this repository was "
			       "changed since\n"));
	assert_null(strstr(buf_str(&w->said), "not r/.git/objects/aa/1"));
}

/* --- times of folders ------------------------------------------------------------------ */

static void test_times_of_folders(void **state)
{
	struct world *w = *state;

	folder(w, "d");
	folder(w, "u");
	put(w, "d/a", "one");
	put(w, "u/a", "one");
	touch(w, "d", 1000);
	touch(w, "u", 1000);
	touch(w, ".", 1500);
	lead_keep_meta(&w->lead, ".");
	lead_keep_meta(&w->lead, "d");
	lead_keep_meta(&w->lead, "u");
	keep(w, "d/b");
	put(w, "d/b", "new");
	keep(w, "u/b");
	put(w, "u/b", "new");
	touch(w, "d", 2000);
	touch(w, "u", 2000);
	touch(w, ".", 2500);
	leave(w, ".");
	leave(w, "d");
	leave(w, "d/b");
	leave(w, "u");
	leave(w, "u/b");
	touch(w, "u", 3000); /* somebody did something in it since */
	(void)undo(w);
	assert_int_equal(undo_direct_folder_time(&w->undo, "d", 0), 1000000000000);
	assert_int_equal(undo_direct_folder_time(&w->undo, "u", 0), 0);
	assert_int_equal(undo_direct_folder_time(&w->undo, "other", 0), 0);
	assert_int_equal(undo_direct_folder_time(&w->undo, "", 2500000000000), 1500000000000);
	assert_int_equal(undo_direct_folder_time(&w->undo, "", 2500000000001), 0);
}

/* --- folders that were closed ---------------------------------------------------------- */

static void test_closed_folders_are_opened_first(void **state)
{
	struct world *w = *state;

	if (geteuid() == 0)
		skip();
	folder(w, "d");
	folder(w, "e");
	put(w, "d/a", "one");
	keep(w, "d/a");
	put(w, "d/a", "two");
	leave(w, "d/a");
	lead_keep_meta(&w->lead, "d");
	mode(w, "d", 0);
	leave(w, "d");
	/* This one was closed before. */
	mode(w, "e", 0100);
	lead_keep_meta(&w->lead, "e");
	mode(w, "e", 0);
	leave(w, "e");
	const char *said = undo(w);

	assert_ptr_equal(strstr(said, "open d 0 -> 700\n"), said);
	assert_null(strstr(said, "open e"));
	/* The user opened it: then it is as it was left, and there is nothing to open. */
	mode(w, "d", 0700);
	said = undo(w);
	assert_null(strstr(said, "open"));
	assert_non_null(strstr(said, "d: directory 700 -> directory 755\n"));
	assert_non_null(strstr(said, "d/a: file 644 -> file 644 one\n"));
	mode(w, "e", 0700);
}

/* --- what is compared ------------------------------------------------------------------ */

static void test_objects_of_entries(void **state)
{
	struct first_entry e = {.kind = FIRST_FILE,
				.flags = FIRST_DIRECT,
				.mode = 0100644,
				.size = 5,
				.ino = 7,
				.mtime = 8,
				.ctime = 9,
				.text = ""};
	const struct object now = {.type = OBJECT_FILE,
				   .size = 5,
				   .ino = 7,
				   .mtime = 8,
				   .ctime = 10,
				   .hashed = true,
				   .digest = {1, 2, 3}};
	struct object o = now, ret;

	(void)state;
	/* Not hashed, and nobody has written it since: what stands there is it. */
	assert_true(undo_object_of(&e, &now, &ret));
	assert_memory_equal(ret.digest, now.digest, SHA256_SIZE);
	assert_int_equal(ret.mode, 0644);
	assert_int_equal(ret.size, 5);
	o.ino = 8;
	assert_false(undo_object_of(&e, &o, &ret));
	o = now;
	o.mtime = 9;
	assert_false(undo_object_of(&e, &o, &ret));
	o = now;
	o.size = 6;
	assert_false(undo_object_of(&e, &o, &ret));
	o = now;
	o.hashed = false;
	assert_false(undo_object_of(&e, &o, &ret));
	o = now;
	o.type = OBJECT_LINK;
	assert_false(undo_object_of(&e, &o, &ret));
	/* An overlay has numbers of its own: there it is the time of the last change. */
	e.flags = 0;
	assert_false(undo_object_of(&e, &now, &ret));
	o = now;
	o.ctime = 9;
	o.ino = 8;
	assert_true(undo_object_of(&e, &o, &ret));
	/* With a digest what stands there is not asked. */
	e.flags = FIRST_HASHED;
	e.digest[0] = 9;
	assert_true(undo_object_of(&e, &now, &ret));
	assert_int_equal(ret.digest[0], 9);
	e.kind = FIRST_OTHER;
	assert_false(undo_object_of(&e, &now, &ret));
	e.kind = FIRST_MOVED;
	assert_false(undo_object_of(&e, &now, &ret));
	e.kind = FIRST_DIR;
	assert_true(undo_object_of(&e, &now, &ret));
	assert_int_equal(ret.type, OBJECT_DIR);
}

static void test_only_a_folder(void **state)
{
	const struct object dir = {.type = OBJECT_DIR}, file = {.type = OBJECT_FILE};
	struct first known = FIRST_INIT, none = FIRST_INIT;

	(void)state;
	known.dir = 0;
	assert_true(undo_is_only_folder(&known, &dir, &dir));
	assert_false(undo_is_only_folder(&none, &dir, &dir));
	assert_false(undo_is_only_folder(&known, &dir, &file));
	assert_false(undo_is_only_folder(&known, &file, &dir));
}

static void test_no_session(void **state)
{
	struct world *w = *state;
	struct review r = REVIEW_INIT;
	struct error e = ERROR_INIT;
	struct layers_session other = {.name = "other"};

	r.layers = w->lead.layers;
	r.tree = w->lead.tree;
	assert_int_equal(undo_direct_read(&r, &other, NULL, &w->undo, &e), -ENOENT);
	assert_string_equal(undo(w), "");
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_files),
		ONE(test_what_was_changed_since_stays),
		ONE(test_sessions_that_were_killed),
		ONE(test_modes_and_times),
		ONE(test_mode_and_content),
		ONE(test_content_and_mode),
		ONE(test_what_was_not_kept),
		ONE(test_content_that_is_lost),
		ONE(test_content_without_digest),
		ONE(test_links),
		ONE(test_pipes),
		ONE(test_our_own_names),
		ONE(test_a_new_folder_goes),
		ONE(test_a_new_folder_stays_with_what_is_the_users),
		ONE(test_a_folder_comes_back),
		ONE(test_without_a_folder_nothing_comes_back),
		ONE(test_a_folder_that_no_entry_speaks_of),
		ONE(test_renames),
		ONE(test_renames_and_writes),
		ONE(test_renames_of_what_is_not_that_folder),
		ONE(test_a_rename_that_the_user_went_on_with),
		ONE(test_a_rename_whose_place_is_taken),
		ONE(test_exchanges),
		ONE(test_other_names),
		ONE(test_numbers_that_are_used_again),
		ONE(test_entries_without_a_birth),
		ONE(test_doubt),
		ONE(test_a_repository_goes_whole),
		ONE(test_objects_stay_with_their_repository),
		ONE(test_objects_stay_without_their_folders),
		ONE(test_a_repository_that_was_used_since_stays),
		ONE(test_times_of_folders),
		ONE(test_closed_folders_are_opened_first),
		ONE(test_no_session),
		cmocka_unit_test(test_objects_of_entries),
		cmocka_unit_test(test_only_a_folder),
	};
#undef ONE
	const uid_t nobody = 65534;

	/* To root nothing is closed.  Where there is nobody else, what needs it is skipped. */
	if (geteuid() == 0 && setresuid(nobody, nobody, nobody) < 0)
		errno = 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
