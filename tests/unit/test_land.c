/* SPDX-License-Identifier: Apache-2.0 */
/* Promises about landing: all or nothing, never outside, and nothing of the user's is covered. */
#include "cmocka_lead.h"

#include "clock.h"
#include "journal.h"
#include "land.h"
#include "process.h"
#include "str.h"
#include "tree.h"
#include "tree_lead.h"

#include <dirent.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

struct world {
	char root[64];
	int top, tree, journal, outside, source;
	struct error e;
	struct land_result result;
	size_t unread; /* landings that undo passed over */
};

static int world_make(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	(void)snprintf(w->root, sizeof(w->root), "/tmp/bawn-test-XXXXXX");
	assert_non_null(mkdtemp(w->root));
	w->top = open(w->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
			mkdirat(w->top, (const char *const[]){"tree", "journal", "out"}[i], 0755),
			0);
	w->tree = openat(w->top, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->journal = openat(w->top, "journal", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->outside = openat(w->top, "out", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put_at(w->outside, "canary", "canary");
	put_at(w->top, "source", "landed");
	w->source = openat(w->top, "source", O_RDONLY | O_CLOEXEC);
	assert_true(w->source >= 0);
	*state = w;
	return 0;
}

static int world_remove(void **state)
{
	struct world *w = *state;
	const char *name = strrchr(w->root, '/') + 1;
	int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(tree_remove(tmp, name), 0);
	(void)close(tmp);
	for (size_t i = 0; i < 5; i++)
		(void)close((const int[]){w->top, w->tree, w->journal, w->outside, w->source}[i]);
	free(w);
	return 0;
}

static struct object file_of(const char *text, uint32_t mode)
{
	struct object o = {.type = OBJECT_FILE, .mode = mode, .hashed = true};
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, span_of_str(text));
	sha256_end(&s, o.digest);
	return o;
}

static struct object link_of(const char *text)
{
	struct object o = file_of(text, 0777);

	o.type = OBJECT_LINK;
	o.link = text;
	return o;
}

static const struct object nothing = {.type = OBJECT_ABSENT};
static const struct object folder = {.type = OBJECT_DIR, .mode = 0755};

static int land_steps(struct world *w, const struct land_step *steps, size_t count)
{
	struct land_how how = {.tree = w->tree, .journal = w->journal, .what = "apply"};

	w->e = ERROR_INIT;
	return land(&how, steps, count, &w->result, &w->e);
}

#define LAND(w, ...)                                             \
	land_steps((w), (const struct land_step[]){__VA_ARGS__}, \
		   sizeof((const struct land_step[]){__VA_ARGS__}) / sizeof(struct land_step))

static struct land_step step(const struct world *w, const char *path, struct object before,
			     struct object after)
{
	return (struct land_step){
		.path = path, .before = before, .after = after, .source = w->source};
}

static void holds(int dir, const char *path, const char *text)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1 << 16);

	if (fd_read_file_at(dir, path, &b) < 0)
		fail_msg("%s is not there", path);
	assert_string_equal(buf_str(&b), text);
}

static bool is_there(int dir, const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* How many names there are; of the journal's folder those that are not kept. */
static size_t entries(int dir, bool kept_too)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fdopendir(fd);
	size_t count = 0;

	assert_non_null(d);
	for (const struct dirent *e; (e = readdir(d));)
		count += e->d_name[0] != '.' ||
					 (!str_equal(e->d_name, ".") && !str_equal(e->d_name, ".."))
				 ? kept_too || !str_after(e->d_name, "kept-")
				 : 0;
	(void)closedir(d);
	return count;
}

static int64_t mtime_of(int dir, const char *path)
{
	struct stat st;

	assert_int_equal(fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW), 0);
	return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* --- paths ----------------------------------------------------------------------------- */

/* LONG stands for 255 bytes, TOO for 256. */
static const char *const hostile[] = {
	"",
	"/",
	"/etc/passwd",
	"/tmp",
	"//etc/passwd",
	".",
	"..",
	"./a",
	"../a",
	"../../../../../../tmp/x",
	"a/..",
	"a/../..",
	"a/../../out/canary",
	"a/./b",
	"a//b",
	"a/",
	"a/b/",
	"a/b//",
	"a/.",
	"a/b/..",
	"a/b/../../../out/x",
	"...//x",
	"TOO",
	"a/TOO",
	"TOO/a",
	".bawn-landing-0123456789abcdef",
	".bawn-landing-0123456789abcdef/0",
	".bawn-landing-",
	"link/a",        /* to a folder outside */
	"link/canary",   /* over what is there */
	"link/new/deep", /* further down */
	"here/a",        /* to a folder inside */
	"dangling/a",    /* to nothing */
	"loop/a",        /* to itself */
	"self/a",        /* "." */
	"up/out/canary", /* ".." */
	"root/etc/x",    /* "/" */
	"magic/x",       /* /proc/self/root */
	"cwd/x",         /* /proc/self/cwd */
	"file/a",        /* a file is no folder */
	"file/a/b",
	"pipe/a",
	"missing/a", /* nobody makes it */
	"missing/a/b",
	"real/link/a", /* a link further down */
	"real/link/b/c",
	"real/file/x",
	"file", /* all of these exist already */
	"link",
	"dangling",
	"loop",
	"pipe",
	"real",
	"real/file",
	"real/link",
	"magic",
	"self",
	"up",
	"root",
	"here",
};

static const char *spelled(const char *path, char into[PATH_MAX])
{
	const char *at = strstr(path, "TOO");

	if (!at)
		return path;
	(void)snprintf(into, PATH_MAX, "%.*s%0256d%s", (int)(at - path), path, 0, at + 3);
	return into;
}

static void make_hostile_tree(const struct world *w)
{
	static const char *const links[][2] = {
		{"../out", "link"},
		{"real", "here"},
		{"nowhere", "dangling"},
		{"loop", "loop"},
		{".", "self"},
		{"..", "up"},
		{"/", "root"},
		{"/proc/self/root", "magic"},
		{"/proc/self/cwd", "cwd"},
	};

	assert_int_equal(mkdirat(w->tree, "real", 0755), 0);
	assert_int_equal(mkdirat(w->tree, "a", 0755), 0);
	put_at(w->tree, "file", "file");
	put_at(w->tree, "real/file", "file");
	assert_int_equal(mkfifoat(w->tree, "pipe", 0600), 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(links); i++)
		assert_int_equal(symlinkat(links[i][0], w->tree, links[i][1]), 0);
	assert_int_equal(symlinkat("../../out", w->tree, "real/link"), 0);
}

static void test_hostile_names_refuse_the_whole(void **state)
{
	struct world *w = *state;
	char path[PATH_MAX];

	make_hostile_tree(w);
	size_t before = entries(w->tree, true), real = entries(w->outside, true);
	int64_t then = mtime_of(w->tree, ".");

	assert_true(BAWN_ARRAY_SIZE(hostile) >= 60);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hostile); i++) {
		const char *name = spelled(hostile[i], path);
		int r = LAND(w, step(w, "good", nothing, file_of("landed", 0644)),
			     step(w, name, nothing, file_of("landed", 0644)));

		if (r >= 0)
			fail_msg("%s was landed", name);
		if (!*w->e.text)
			fail_msg("%s is refused without a word", name);
		if (is_there(w->tree, "good") || entries(w->tree, true) != before ||
		    entries(w->outside, true) != real || mtime_of(w->tree, ".") != then)
			fail_msg("%s changed something", name);
		assert_int_equal(entries(w->journal, true), 0);
	}
	holds(w->outside, "canary", "canary");
	holds(w->tree, "file", "file");
	/* The control: the good one alone. */
	assert_int_equal(LAND(w, step(w, "good", nothing, file_of("landed", 0644))), 0);
	holds(w->tree, "good", "landed");
}

static void test_names_that_only_look_odd_land(void **state)
{
	static const char *const odd[] = {
		"...", "..a", "a..", " ",        "\n", "-rf", "%2e%2e", "\xff", "\\..\\",
		"A",   "a",   "CON", "\x1b[31m", "~",  "*",   "$HOME",  "a\tb", ".bawn-landing"};
	struct world *w = *state;
	struct land_step steps[BAWN_ARRAY_SIZE(odd) + 1];
	char longest[256];

	(void)snprintf(longest, sizeof(longest), "%0255d", 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(odd); i++)
		steps[i] = step(w, odd[i], nothing, file_of("landed", 0600));
	steps[BAWN_ARRAY_SIZE(odd)] = step(w, longest, nothing, file_of("landed", 0600));
	assert_int_equal(land_steps(w, steps, BAWN_ARRAY_SIZE(steps)), 0);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(steps); i++)
		holds(w->tree, steps[i].path, "landed");
	assert_int_equal(entries(w->tree, true), BAWN_ARRAY_SIZE(steps));
}

static void test_lists_that_contradict_themselves(void **state)
{
	struct world *w = *state;
	struct object file = file_of("landed", 0644), special = {.type = OBJECT_FIFO, .mode = 0600};
	struct object unread = file, device = {.type = OBJECT_DEVICE};

	unread.hashed = false;
	assert_int_equal(LAND(w, step(w, "x", nothing, file), step(w, "x", nothing, file)),
			 -EINVAL);
	assert_int_equal(LAND(w, step(w, "x", nothing, file), step(w, "x/y", nothing, file)),
			 -EINVAL);
	assert_int_equal(
		LAND(w, step(w, "x/y", nothing, file), step(w, "x", nothing, link_of("/"))),
		-EINVAL);
	assert_int_equal(LAND(w, step(w, "x", nothing, folder), step(w, "x/y", file, nothing)),
			 -EINVAL);
	assert_int_equal(LAND(w, step(w, "x", nothing, nothing)), -EINVAL);
	assert_int_equal(LAND(w, step(w, "x", nothing, special)), -EINVAL);
	assert_int_equal(LAND(w, step(w, "x", nothing, device)), -EINVAL);
	assert_int_equal(LAND(w, step(w, "x", unread, nothing)), -EINVAL);
	assert_int_equal(LAND(w, step(w, "x", nothing, link_of(""))), -EINVAL);
	assert_int_equal(entries(w->tree, true), 0);
	assert_int_equal(entries(w->journal, true), 0);
}

/* --- conflicts --------------------------------------------------------------------------- */

static void test_what_the_user_did_meanwhile_stays(void **state)
{
	struct world *w = *state;
	struct object file = file_of("landed", 0644);

	put_at(w->tree, "edited", "mine");
	assert_int_equal(mkdirat(w->tree, "full", 0755), 0);
	put_at(w->tree, "full/known", "known");
	put_at(w->tree, "full/unknown", "mine");
	/* Another content, another mode, another type, something where nothing was, nothing where
	 * something was, a folder with more in it than is known. */
	assert_int_equal(LAND(w, step(w, "a", nothing, file),
			      step(w, "edited", file_of("theirs", 0644), file)),
			 -ESTALE);
	assert_true(w->result.is_conflict && w->result.conflict == 1);
	assert_non_null(strstr(w->e.text, "edited"));
	assert_int_equal(LAND(w, step(w, "edited", file_of("mine", 0600), file)), -ESTALE);
	assert_int_equal(LAND(w, step(w, "edited", folder, nothing)), -ESTALE);
	assert_int_equal(LAND(w, step(w, "edited", nothing, file)), -EEXIST);
	assert_int_equal(LAND(w, step(w, "missing", file, nothing)), -ESTALE);
	assert_int_equal(LAND(w, step(w, "full", folder, nothing),
			      step(w, "full/known", file_of("known", 0644), nothing)),
			 -ESTALE);
	holds(w->tree, "edited", "mine");
	holds(w->tree, "full/known", "known");
	holds(w->tree, "full/unknown", "mine");
	assert_int_equal(entries(w->tree, true), 2);
	assert_int_equal(entries(w->journal, true), 0);
}

static void test_content_that_is_not_what_was_shown(void **state)
{
	struct world *w = *state;

	assert_int_equal(LAND(w, step(w, "x", nothing, file_of("what was shown", 0644))), -ESTALE);
	assert_true(w->result.is_conflict);
	assert_int_equal(entries(w->tree, true), 0);
}

static int say_no(void *context)
{
	struct world *w = context;

	/* All is staged, nothing is swapped. */
	holds(w->tree, "x", "old");
	return -ECANCELED;
}

static int edit_meanwhile(void *context)
{
	struct world *w = context;

	put_at(w->tree, "x", "edited");
	return 0;
}

static void test_the_last_word(void **state)
{
	struct world *w = *state;
	struct land_step s = step(w, "x", file_of("old", 0644), file_of("landed", 0644));
	struct land_how how = {.tree = w->tree,
			       .journal = w->journal,
			       .what = "apply",
			       .decide = say_no,
			       .context = w};

	put_at(w->tree, "x", "old");
	assert_int_equal(land(&how, &s, 1, &w->result, &w->e), -ECANCELED);
	holds(w->tree, "x", "old");
	how.decide = edit_meanwhile;
	assert_int_equal(land(&how, &s, 1, &w->result, &w->e), -ESTALE);
	holds(w->tree, "x", "edited");
	assert_int_equal(entries(w->tree, true), 1);
	assert_int_equal(entries(w->journal, true), 0);
}

/* Someone writes at one of the paths at the last moment, each in its turn and each in every way:
 * nothing of the list lands, and what they wrote stays. */
struct meanwhile {
	struct world *w;
	const char *path;
	int way;
};

static int touch_meanwhile(void *context)
{
	const struct meanwhile *m = context;

	(void)unlinkat(m->w->tree, m->path, 0);
	if (m->way == 0)
		put_at(m->w->tree, m->path, "theirs");
	else if (m->way == 1)
		assert_int_equal(symlinkat("theirs", m->w->tree, m->path), 0);
	else if (m->way == 2)
		assert_int_equal(mkdirat(m->w->tree, m->path, 0755), 0);
	return 0;
}

static void put_meanwhile(const struct world *w)
{
	assert_int_equal(mkdirat(w->tree, "d", 0755), 0);
	put_at(w->tree, "a", "a");
	put_at(w->tree, "d/b", "b");
	put_at(w->tree, "d/c", "c");
	put_at(w->tree, "z", "z");
	assert_int_equal(symlinkat("old", w->tree, "way"), 0);
}

static void check_meanwhile(const struct meanwhile *m)
{
	static const struct {
		const char *path, *text;
	} rows[] = {{"a", "a"}, {"d/b", "b"}, {"d/c", "c"}, {"z", "z"}};
	int tree = m->w->tree;
	char text[8];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++)
		if (!str_equal(m->path, rows[i].path))
			holds(tree, rows[i].path, rows[i].text);
	if (!str_equal(m->path, "way"))
		assert_int_equal(readlinkat(tree, "way", text, sizeof(text)), 3);
	if (!str_equal(m->path, "d/new"))
		assert_false(is_there(tree, "d/new"));
	assert_false(is_there(tree, "n"));
	assert_int_equal(is_there(tree, m->path), m->way < 3);
	if (m->way == 0)
		holds(tree, m->path, "theirs");
	if (m->way == 1)
		assert_int_equal(readlinkat(tree, m->path, text, sizeof(text)), 6);
}

static void test_meanwhile_at_every_path(void **state)
{
	static const char *const paths[] = {"a", "d/b", "d/c", "d/new", "way", "z"};

	world_remove(state);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(paths); i++)
		for (int way = 0; way < 4; way++) {
			world_make(state);
			struct world *w = *state;
			struct object file = file_of("landed", 0644);
			struct meanwhile m = {w, paths[i], way};
			const struct land_step steps[] = {
				step(w, "a", file_of("a", 0644), file),
				step(w, "d/b", file_of("b", 0644), nothing),
				step(w, "d/c", file_of("c", 0644), link_of("text")),
				step(w, "d/new", nothing, file),
				step(w, "n", nothing, folder),
				step(w, "n/x", nothing, file),
				step(w, "way", link_of("old"), link_of("new")),
				step(w, "z", file_of("z", 0644), file),
			};
			struct land_how how = {.tree = w->tree,
					       .journal = w->journal,
					       .what = "apply",
					       .decide = touch_meanwhile,
					       .context = &m};
			bool same = way == 3 && str_equal(paths[i], "d/new");

			put_meanwhile(w);
			int r = land(&how, steps, BAWN_ARRAY_SIZE(steps), &w->result, &w->e);

			/* The control: nothing where nothing was lands. */
			assert_true(same ? r == 0 : r == -ESTALE || r == -EEXIST);
			if (!same)
				check_meanwhile(&m);
			assert_int_equal(entries(w->journal, false), 0);
			world_remove(state);
		}
	world_make(state);
}

/* A link lands with the text that was shown, and with no other. */
static void test_links_land_as_shown(void **state)
{
	struct world *w = *state;
	struct object other = link_of("another"), unknown = link_of("text");
	char text[16];

	other.link = "text";
	assert_int_equal(
		LAND(w, step(w, "x", nothing, link_of("text")), step(w, "y", nothing, other)),
		-ESTALE);
	assert_int_equal(entries(w->tree, true), 0);
	unknown.hashed = false;
	assert_int_equal(
		LAND(w, step(w, "x", nothing, link_of("text")), step(w, "y", nothing, unknown)), 0);
	for (int i = 0; i < 2; i++) {
		ssize_t n = readlinkat(w->tree, i ? "x" : "y", text, sizeof(text));

		assert_int_equal(n, 4);
		assert_memory_equal(text, "text", 4);
	}
}

/* --- modes, undo ------------------------------------------------------------------------- */

static void test_modes_beyond_0777_never_land(void **state)
{
	struct world *w = *state;
	struct object root_shell = file_of("landed", 06755),
		      sticky = {.type = OBJECT_DIR, .mode = 01777};
	struct stat st;

	assert_int_equal(LAND(w, step(w, "x", nothing, root_shell), step(w, "d", nothing, sticky)),
			 0);
	assert_int_equal(fstatat(w->tree, "x", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(fstatat(w->tree, "d", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0777);
}

static int undo(struct world *w, bool redo)
{
	struct land_undo *u = NULL;
	size_t count = 0;
	int r = redo ? land_redo_open(w->journal, &u, &w->unread, &w->e)
		     : land_undo_open(w->journal, &u, &w->unread, &w->e);

	if (r < 0)
		return r;
	const struct land_step *steps = land_undo_steps(u, &count);
	struct land_how how = {.tree = w->tree,
			       .journal = w->journal,
			       .what = redo ? "redo" : "undo",
			       .undo = u,
			       .open = land_undo_content,
			       .context = u};

	r = land(&how, steps, count, &w->result, &w->e);
	land_undo_free(&u);
	return r;
}

static void test_undo_goes_back_one_by_one(void **state)
{
	struct world *w = *state;
	struct object landed = file_of("landed", 0644);
	char name[16];

	for (int i = 0; i < 12; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(LAND(w, step(w, name, nothing, landed)), 0);
	}
	assert_int_equal(undo(w, true), -ENOENT);
	for (int i = 11; i >= 2; i--) {
		assert_int_equal(undo(w, false), 0);
		(void)snprintf(name, sizeof(name), "f%d", i);
		assert_false(is_there(w->tree, name));
		if (i == 11) { /* there and back */
			assert_int_equal(undo(w, true), 0);
			holds(w->tree, name, "landed");
			assert_int_equal(undo(w, false), 0);
		}
	}
	/* Ten are kept, an undo that can be taken back is one of them. */
	assert_true(is_there(w->tree, "f0"));
}

static uint64_t inode_of(int dir, const char *path)
{
	struct stat st;

	assert_int_equal(fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st.st_ino;
}

/* Files of several names each, in an order in which no two neighbours are the same one. */
static void check_names_come_back(struct world *w)
{
	enum { FILES = 7, NAMES = 3, ALL = FILES * NAMES };
	struct land_step steps[ALL];
	char names[ALL][16], texts[FILES][16];

	for (int i = 0; i < ALL; i++) {
		int file = (i * 3 + i / FILES) % FILES;

		(void)snprintf(names[i], sizeof(names[i]), "n%02d-%d", i, file);
		(void)snprintf(texts[file], sizeof(texts[file]), "file %d", file);
		if (i < FILES)
			put_at(w->tree, names[i], texts[file]);
		for (int k = 0; k < FILES && i >= FILES; k++)
			if (names[k][4] == names[i][4])
				assert_int_equal(linkat(w->tree, names[k], w->tree, names[i], 0),
						 0);
	}
	for (int i = 0; i < ALL; i++)
		steps[i] = step(w, names[i], file_of(texts[names[i][4] - '0'], 0644),
				file_of("landed", 0644));
	assert_int_equal(land_steps(w, steps, ALL), 0);
	for (int i = 0; i < ALL; i++)
		holds(w->tree, names[i], "landed");
	assert_int_equal(undo(w, false), 0);
	for (int i = 0; i < ALL; i++) {
		holds(w->tree, names[i], texts[names[i][4] - '0']);
		for (int k = 0; k < i; k++)
			assert_int_equal(inode_of(w->tree, names[i]) == inode_of(w->tree, names[k]),
					 names[i][4] == names[k][4]);
	}
}

static void test_undo_brings_back_one_file_with_its_names(void **state)
{
	check_names_come_back(*state);
}

/* Also where what is kept cannot be linked, and is copied back. */
static void test_names_come_back_from_afar(void **state)
{
	char path[] = "/dev/shm/bawn-test-XXXXXX";
	struct world *w = *state;
	struct stat here = {0}, there = {0};

	if (!mkdtemp(path))
		skip();
	(void)close(w->journal);
	w->journal = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->journal >= 0 && fstat(w->journal, &there) == 0);
	assert_int_equal(fstat(w->tree, &here), 0);
	if (here.st_dev != there.st_dev)
		check_names_come_back(w);
	_cleanup_fd_ int shm = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(tree_remove(shm, strrchr(path, '/') + 1), 0);
}

static void test_undo_does_not_cover_later_edits(void **state)
{
	struct world *w = *state;

	put_at(w->tree, "x", "old");
	put_at(w->tree, "y", "old");
	assert_int_equal(LAND(w, step(w, "x", file_of("old", 0644), file_of("landed", 0644)),
			      step(w, "y", file_of("old", 0644), file_of("landed", 0644))),
			 0);
	put_at(w->tree, "y", "edited since");
	assert_int_equal(undo(w, false), -ESTALE);
	holds(w->tree, "x", "landed");
	holds(w->tree, "y", "edited since");
}

static void test_undo_passes_over_what_it_cannot_read(void **state)
{
	struct world *w = *state;
	struct object landed = file_of("landed", 0644);

	for (size_t i = 0; i < 3; i++) {
		const char *name = (const char *const[]){"one", "two", "three"}[i];

		assert_int_equal(LAND(w, step(w, name, nothing, landed)), 0);
	}
	put_at(w->journal, "kept-2/steps", "torn");
	assert_int_equal(undo(w, false), 0);
	assert_false(is_there(w->tree, "three"));
	assert_int_equal(w->unread, 0);
	assert_int_equal(undo(w, false), 0);
	assert_false(is_there(w->tree, "one"));
	assert_true(is_there(w->tree, "two"));
	assert_int_equal(w->unread, 1);
}

/* A file may bear any time. */
/* What is kept of a file with another name is that file: whoever writes it by the other name does
 * not take away what undo brings back. */
static void test_another_name_is_written_before_undo(void **state)
{
	struct world *w = *state;
	struct object landed = file_of("landed", 0644);
	struct stat a = {0}, b = {0};

	put_at(w->tree, "a", "mine");
	assert_int_equal(linkat(w->tree, "a", w->outside, "b", 0), 0);
	assert_int_equal(LAND(w, step(w, "a", file_of("mine", 0644), landed)), 0);
	/* Nobody wrote it: it is the same file again. */
	assert_int_equal(undo(w, false), 0);
	assert_int_equal(fstatat(w->tree, "a", &a, 0), 0);
	assert_int_equal(fstatat(w->outside, "b", &b, 0), 0);
	assert_int_equal(a.st_ino, b.st_ino);
	assert_int_equal(LAND(w, step(w, "a", file_of("mine", 0644), landed)), 0);
	_cleanup_fd_ int fd = openat(w->outside, "b", O_WRONLY | O_CLOEXEC);

	assert_int_equal(write(fd, "LATE", 4), 4);
	assert_int_equal(undo(w, false), 0);
	holds(w->tree, "a", "mine");
	holds(w->outside, "b", "LATE");
	assert_int_equal(LAND(w, step(w, "a", file_of("mine", 0644), landed)), 0);
	assert_int_equal(fchmodat(w->outside, "b", 0600, 0), 0);
	assert_int_equal(undo(w, false), 0);
	assert_int_equal(fstatat(w->tree, "a", &a, 0), 0);
	assert_int_equal(a.st_mode & 07777, 0644);
}

/* A folder that stays gets attributes, and undo gives it back those that it had. */
static void test_attributes_of_a_folder(void **state)
{
	struct world *w = *state;
	static const uint8_t list[] = "\x06\0\0\0\x03\0\0\0user.xnew";
	const struct land_has has = {
		.uid = geteuid(), .gid = getegid(), .attributes = {list, sizeof(list) - 1}};
	struct land_step s = step(w, "d", folder, folder);
	char value[8] = "";

	assert_int_equal(mkdirat(w->tree, "d", 0755), 0);
	_cleanup_fd_ int d = openat(w->tree, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fsetxattr(d, "user.y", "old", 3, 0) < 0)
		skip();
	s.has = &has;
	assert_int_equal(LAND(w, s), 0);
	assert_int_equal(fgetxattr(d, "user.x", value, sizeof(value)), 3);
	assert_memory_equal(value, "new", 3);
	assert_int_equal(fgetxattr(d, "user.y", value, sizeof(value)), -1);
	assert_int_equal(undo(w, false), 0);
	assert_int_equal(fgetxattr(d, "user.x", value, sizeof(value)), -1);
	assert_int_equal(fgetxattr(d, "user.y", value, sizeof(value)), 3);
	assert_memory_equal(value, "old", 3);
}

static void test_times_that_are_far_away(void **state)
{
	static const struct timespec far[] = {
		{INT64_C(9223372036), 854775807},
		{INT64_C(9223372036), 854775808},
		{INT64_C(13000000000), 5},
		{-1, 999999999},
		{-1, 5},
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		put_at(w->tree, "x", "old");
		assert_int_equal(fchmodat(w->tree, "x", 0644, 0), 0);
		assert_int_equal(
			utimensat(w->tree, "x", (const struct timespec[]){far[i], far[i]}, 0), 0);
		const struct timespec is = clock_split(CLOCK_NS(far[i]));

		assert_true(i == 2 ||
			    (is.tv_nsec - far[i].tv_nsec <= 0 &&
			     is.tv_nsec - far[i].tv_nsec >= -1 && is.tv_sec == far[i].tv_sec));
		assert_int_equal(
			LAND(w, step(w, "x", file_of("old", 0644), file_of("landed", 0644))), 0);
		holds(w->tree, "x", "landed");
		assert_int_equal(undo(w, false), 0);
		holds(w->tree, "x", "old");
		assert_int_equal(w->unread, 0);
	}
	assert_true(clock_join(INT64_MAX, 0) == INT64_MAX && clock_join(INT64_MIN, 5) == INT64_MIN);
	assert_int_equal(clock_split(INT64_MIN).tv_nsec, 145224192);
}

static void test_a_journal_of_another_folder(void **state)
{
	struct world *w = *state;
	struct land_found found = {.way = LAND_FINISHED};

	assert_int_equal(land_recover(w->tree, w->journal, &found, &w->e), 0);
	assert_int_equal(found.way, LAND_NOTHING);
	put_at(w->journal, "landing", "bawn-landing-1\nwhat ever\n");
	assert_int_equal(land_recover(w->tree, w->journal, &found, &w->e), -EBADMSG);
	assert_int_equal(LAND(w, step(w, "x", nothing, file_of("landed", 0644))), -EBUSY);
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	struct journal j = {
		.id = "0123456789abcdef", .number = 1, .tree_ino = 1, .at = "", .of = ""};

	journal_put_head(&text, &j);
	put_at(w->journal, "landing", buf_str(&text));
	assert_int_equal(land_recover(w->tree, w->journal, &found, &w->e), -ESTALE);
}

/* A part that is not whole is none, wherever it was cut. */
static void test_a_journal_torn_at_every_byte(void **state)
{
	static struct journal_dir dirs[] = {{"", 1, 0755, INT64_MIN}, {"a", 2, 0700, INT64_MAX}};
	struct journal_step steps[] = {
		{"a/b c", 1, {.type = OBJECT_ABSENT}, {.type = OBJECT_DIR, .mode = 0755, .ino = 9}},
		{"z", 0, {.type = OBJECT_FILE, .mode = 04755, .size = 3}, {.type = OBJECT_ABSENT}},
	};
	struct journal j = {.id = "0123456789abcdef",
			    .number = 1,
			    .at = "a",
			    .of = "calm-otter",
			    .dirs = dirs,
			    .dir_count = 2};
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);

	(void)state;
	j.steps = steps;
	j.count = 2;
	journal_put_head(&text, &j);
	size_t head = text.len;

	journal_put_steps(&text, &j);
	size_t staged = text.len;

	journal_put_commit(&text);
	for (size_t len = 0; len <= text.len; len++) {
		_cleanup_journal_ struct journal again = JOURNAL_INIT;
		int r = journal_parse((struct span){(const uint8_t *)text.ptr, len}, &again);

		assert_int_equal(r, len < head ? -EBADMSG : 0);
		if (r == 0)
			assert_int_equal(again.state, len < staged     ? JOURNAL_BEGUN
						      : len < text.len ? JOURNAL_STAGED
								       : JOURNAL_COMMITTED);
		if (r == 0 && again.state >= JOURNAL_STAGED)
			assert_string_equal(again.steps[0].path, "a/b c");
		if (r == 0)
			assert_string_equal(again.of, "calm-otter");
	}
	/* One byte that is another anywhere: never more than was there. */
	for (size_t at = 0; at < text.len; at++) {
		_cleanup_journal_ struct journal again = JOURNAL_INIT;

		text.ptr[at] ^= 1;
		int r = journal_parse(buf_span(&text), &again);

		assert_true(r < 0 || again.state < JOURNAL_COMMITTED);
		assert_true(r < 0 || at >= head);
		text.ptr[at] ^= 1;
	}
}

/* --- the same without exchanging --------------------------------------------------------- */

static void forbid_exchange(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, RENAME_EXCHANGE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct span bpf = {(const uint8_t *)code, sizeof(code)};

	if (process_no_new_privs() < 0 || process_filter(bpf) < 0)
		exit(1);
}

/* The same on a filesystem that cannot exchange two names. */
static int run_all(bool exchange)
{
#define LAND_TEST(f) cmocka_unit_test_setup_teardown(f, world_make, world_remove)
	const struct CMUnitTest tests[] = {
		LAND_TEST(test_hostile_names_refuse_the_whole),
		LAND_TEST(test_names_that_only_look_odd_land),
		LAND_TEST(test_lists_that_contradict_themselves),
		LAND_TEST(test_what_the_user_did_meanwhile_stays),
		LAND_TEST(test_content_that_is_not_what_was_shown),
		LAND_TEST(test_the_last_word),
		LAND_TEST(test_meanwhile_at_every_path),
		LAND_TEST(test_links_land_as_shown),
		LAND_TEST(test_modes_beyond_0777_never_land),
		LAND_TEST(test_undo_goes_back_one_by_one),
		LAND_TEST(test_undo_brings_back_one_file_with_its_names),
		LAND_TEST(test_names_come_back_from_afar),
		LAND_TEST(test_undo_does_not_cover_later_edits),
		LAND_TEST(test_undo_passes_over_what_it_cannot_read),
		LAND_TEST(test_another_name_is_written_before_undo),
		LAND_TEST(test_attributes_of_a_folder),
		LAND_TEST(test_times_that_are_far_away),
		LAND_TEST(test_a_journal_of_another_folder),
		cmocka_unit_test(test_a_journal_torn_at_every_byte),
	};

	if (!exchange)
		forbid_exchange();
	return cmocka_run_group_tests_name(exchange ? "exchanging" : "moving", tests, NULL, NULL);
}

int main(void)
{
	int r = run_all(true), status = -1;
	pid_t pid = r == 0 ? fork() : -1;

	if (pid == 0)
		exit(run_all(false));
	return r != 0 || waitpid(pid, &status, 0) != pid || status != 0;
}
