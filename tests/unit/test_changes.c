/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What layers change of a tree: each difference is listed once, with what it is, and nothing else
 * is, however many layers say something about a path.
 */
#include "cmocka_lead.h"

#include "layers_lead.h"

#include "str.h"

#include <sys/socket.h>
#include <sys/un.h>

/* The list in short: one letter for the kind, another for the group, the path. */
static void listed(const struct world *w, bool hash, char *into, size_t len)
{
	_cleanup_changes_ struct changes c = {.count = 0};
	struct error e = ERROR_INIT;
	size_t at = 0;

	into[0] = '\0';
	assert_int_equal(changes_read(&w->view, &(struct changes_how){.hash = hash}, &c, &e), 0);
	for (size_t i = 0; i < c.count; i++) {
		const struct change *one = &c.items[i];
		int n = snprintf(into + at, len - at, "%s%c%s%s%s%s", i ? " " : "",
				 "ACDRM"[one->kind], one -> group == CHANGE_DROPPED ? "!" : ":",
				 one->from ? one->from : "", one->from ? ">" : "", one->path);

		assert_true(n > 0 && (size_t)n < len - at);
		at += (size_t)n;
	}
	assert_false(c.moved);
}

#define assert_listed(w, hash, want)                     \
	do {                                             \
		char have[4096];                         \
		listed((w), (hash), have, sizeof(have)); \
		assert_string_equal(have, (want));       \
	} while (0)

static void test_nothing_is_nothing(void **state)
{
	struct world *w = *state;

	put_at(w->view.base, "a", "one");
	folder_at(w->view.base, "d");
	assert_listed(w, true, "");
}

static void test_each_kind_is_told(void **state)
{
	struct world *w = *state;
	int base = w->view.base;
	int up = w->view.layers[2];

	put_at(base, "changed", "one");
	put_at(base, "deleted", "gone");
	put_at(base, "mode", "same");
	put_at(base, "touched", "same");
	folder_at(base, "only-copied-up");
	assert_int_equal(symlinkat("x", base, "link"), 0);
	assert_int_equal(symlinkat("x", base, "same-link"), 0);

	put_at(up, "added", "new");
	put_at(up, "changed", "two");
	whiteout_at(up, "deleted");
	whiteout_at(up, "never-was");
	put_at(up, "mode", "same");
	assert_int_equal(fchmodat(up, "mode", 0755, 0), 0);
	put_at(up, "touched", "same");
	folder_at(up, "only-copied-up");
	folder_at(up, "empty");
	assert_int_equal(symlinkat("y", up, "link"), 0);
	assert_int_equal(symlinkat("x", up, "same-link"), 0);
	for (int hash = 0; hash < 2; hash++)
		assert_listed(w, hash, "A:added C:changed D:deleted A:empty C:link M:mode");
}

/* Times are the agent's to set: the same size and time, and other bytes. */
static void test_times_do_not_hide_a_change(void **state)
{
	struct world *w = *state;
	struct stat st;

	put_at(w->view.base, "f", "one");
	put_at(w->view.layers[2], "f", "two");
	assert_int_equal(fstatat(w->view.base, "f", &st, 0), 0);
	const struct timespec times[2] = {st.st_atim, st.st_mtim};

	assert_int_equal(utimensat(w->view.layers[2], "f", times, 0), 0);
	assert_listed(w, false, "C:f");
	assert_listed(w, true, "C:f");
}

static void test_the_top_layer_wins(void **state)
{
	struct world *w = *state;
	const int *l = w->view.layers;

	put_at(w->view.base, "a", "base");
	put_at(w->view.base, "b", "base");
	put_at(w->view.base, "c", "base");
	put_at(l[0], "a", "lowest");
	put_at(l[1], "a", "middle");
	put_at(l[2], "a", "base"); /* back to what it was */
	put_at(l[0], "b", "other");
	whiteout_at(l[1], "b"); /* gone */
	whiteout_at(l[0], "c");
	put_at(l[1], "c", "anew");
	put_at(l[0], "d", "came");
	whiteout_at(l[2], "d"); /* and went */
	assert_listed(w, true, "D:b C:c");
}

static void test_a_whiteout_ends_what_is_beneath_it(void **state)
{
	struct world *w = *state;
	const int *l = w->view.layers;

	folder_at(w->view.base, "d");
	put_at(w->view.base, "d/old", "1");
	folder_at(w->view.base, "d/sub");
	put_at(w->view.base, "d/sub/deep", "22");
	whiteout_at(l[0], "d");
	opaque_at(l[1], "d");
	put_at(l[1], "d/new", "333");
	folder_at(l[2], "d");
	put_at(l[2], "d/newer", "4444");
	assert_listed(w, true, "A:d/new A:d/newer D:d/old D:d/sub D:d/sub/deep");
}

/* The upper layer's directory is not opaque, but one between it and the base is. */
static void test_an_opaque_directory_in_the_middle(void **state)
{
	struct world *w = *state;
	const int *l = w->view.layers;

	folder_at(w->view.base, "d");
	put_at(w->view.base, "d/base", "1");
	folder_at(l[0], "d");
	put_at(l[0], "d/lowest", "22");
	opaque_at(l[1], "d");
	put_at(l[1], "d/middle", "333");
	folder_at(l[2], "d");
	assert_listed(w, true, "D:d/base A:d/middle");
}

static void test_a_deleted_directory_lists_what_was_in_it(void **state)
{
	struct world *w = *state;

	folder_at(w->view.base, "d");
	put_at(w->view.base, "d/f", "1");
	folder_at(w->view.base, "d/e");
	assert_int_equal(symlinkat("/", w->view.base, "d/e/l"), 0);
	whiteout_at(w->view.layers[2], "d");
	assert_listed(w, true, "D:d D:d/e D:d/e/l D:d/f");
}

static void test_types_change_both_ways(void **state)
{
	struct world *w = *state;
	int up = w->view.layers[2];

	folder_at(w->view.base, "dir");
	put_at(w->view.base, "dir/in", "1");
	put_at(w->view.base, "file", "2");
	put_at(w->view.base, "plain", "3");
	put_at(up, "dir", "now a file");
	folder_at(up, "file");
	put_at(up, "file/in", "deep");
	assert_int_equal(symlinkat("plain", up, "plain"), 0);
	assert_listed(w, true, "C:dir D:dir/in C:file A:file/in C:plain");
}

/* A directory upon a file of a lower layer hides whatever is further down. */
static void test_a_file_between_directories_cuts(void **state)
{
	struct world *w = *state;
	const int *l = w->view.layers;

	folder_at(w->view.base, "d");
	put_at(w->view.base, "d/base", "1");
	put_at(l[1], "d", "a file");
	folder_at(l[2], "d");
	put_at(l[2], "d/new", "22");
	assert_listed(w, true, "D:d/base A:d/new");
}

static void test_links_are_not_followed(void **state)
{
	struct world *w = *state;
	int up = w->view.layers[2];

	folder_at(w->view.base, "d");
	put_at(w->view.base, "d/f", "1");
	folder_at(w->view.base, "aside");
	put_at(w->view.base, "aside/g", "22");
	/* In the layer the directory is a link: what is in the other is not seen through it. */
	assert_int_equal(symlinkat("aside", up, "d"), 0);
	assert_int_equal(symlinkat("/etc/passwd", up, "out"), 0);
	assert_listed(w, true, "C:d D:d/f A:out");
	struct object o;

	assert_int_equal(view_look(&w->view, "d/g", &o), 0);
	assert_int_equal(o.type, OBJECT_ABSENT);
	assert_int_equal(view_look(&w->view, "out", &o), 0);
	assert_int_equal(o.type, OBJECT_LINK);
	assert_int_equal(view_openat(&w->view, "out", O_RDONLY), -ELOOP);
}

static void test_special_files_are_dropped(void **state)
{
	struct world *w = *state;
	int up = w->view.layers[2];
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/l2/socket", w->path);
	assert_int_equal(bind(s, (const struct sockaddr *)&a, sizeof(a)), 0);
	(void)close(s);
	assert_int_equal(mkfifoat(up, "fifo", 0644), 0);
	put_at(w->view.base, "bits", "same");
	put_at(up, "bits", "same");
	assert_int_equal(fchmodat(up, "bits", 04644, 0), 0);
	folder_at(up, ".bawn-landing-x");
	put_at(up, ".bawn-landing-x/f", "1");
	assert_listed(w, true, "A!.bawn-landing-x A!.bawn-landing-x/f M!bits A!fifo A!socket");
}

static void test_what_does_not_land_is_named(void **state)
{
	struct world *w = *state;
	int up = w->view.layers[2];
	_cleanup_changes_ struct changes c = {.count = 0};
	struct error e = ERROR_INIT;

	put_at(up, "suid", "1");
	assert_int_equal(fchmodat(up, "suid", 06755, 0), 0);
	put_at(up, "one", "22");
	assert_int_equal(linkat(up, "one", up, "two", 0), 0);
	put_at(up, "plain", "333");
	assert_int_equal(changes_read(&w->view, &(struct changes_how){.hash = true}, &c, &e), 0);
	assert_int_equal(c.count, 4);
	assert_string_equal(changes_find(&c, "suid")->without, "setuid bit, setgid bit");
	assert_non_null(strstr(changes_find(&c, "one")->without, "hard link"));
	assert_non_null(strstr(changes_find(&c, "two")->without, "hard link"));
	assert_null(changes_find(&c, "plain")->without);
	assert_null(changes_find(&c, "none"));
	assert_int_equal(c.bytes, 1 + 2 + 2 + 3);
}

static void test_renames_are_found(void **state)
{
	struct world *w = *state;
	int base = w->view.base;
	int up = w->view.layers[2];

	folder_at(base, "src");
	folder_at(base, "src/a");
	folder_at(base, "src/b");
	put_at(base, "src/a/init", "the same");
	put_at(base, "src/b/init", "the same");
	put_at(base, "src/main", "main");
	put_at(base, "src/empty", "");
	put_at(base, "src/void", "");
	whiteout_at(up, "src");
	folder_at(up, "lib");
	folder_at(up, "lib/a");
	folder_at(up, "lib/b");
	put_at(up, "lib/a/init", "the same");
	put_at(up, "lib/b/init", "the same");
	put_at(up, "lib/other", "main");
	put_at(up, "lib/empty", "");
	put_at(up, "lib/blank", "");
	assert_listed(
		w, true,
		"A:lib A:lib/a R:src/a/init>lib/a/init A:lib/b R:src/b/init>lib/b/init "
		"A:lib/blank R:src/empty>lib/empty R:src/main>lib/other D:src D:src/a D:src/b "
		"D:src/void");
}

/* Of several deletions the one of the same name, be one of the two at the top or not. */
static void test_a_rename_keeps_its_name(void **state)
{
	struct world *w = *state;
	int base = w->view.base;
	int up = w->view.layers[2];

	folder_at(base, "x");
	folder_at(up, "x");
	put_at(base, "x/down", "same");
	put_at(base, "x/other", "same");
	whiteout_at(up, "x/down");
	whiteout_at(up, "x/other");
	put_at(up, "down", "same");
	put_at(base, "top", "another");
	put_at(base, "stop", "another");
	whiteout_at(up, "top");
	whiteout_at(up, "stop");
	put_at(up, "x/top", "another");
	assert_listed(w, true, "R:x/down>down D:stop D:x/other R:top>x/top");
}

/* Two that fit as well as one another: it is not guessed. */
static void test_a_rename_is_not_guessed(void **state)
{
	struct world *w = *state;
	int up = w->view.layers[2];

	put_at(w->view.base, "a", "same");
	put_at(w->view.base, "b", "same");
	whiteout_at(up, "a");
	whiteout_at(up, "b");
	put_at(up, "c", "same");
	assert_listed(w, true, "D:a D:b A:c");
	put_at(up, "other", "new");
	assert_listed(w, true, "D:a D:b A:c A:other");
}

static void test_a_hole_of_any_size_is_hashed(void **state)
{
	struct world *w = *state;
	uint8_t digest[3][SHA256_SIZE];
	uint64_t size = 0;
	int fd = openat(w->view.layers[2], "huge", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	/* As much as the filesystem lets a file have. */
	off_t end = (off_t)8 << 40;

	assert_int_equal(ftruncate(fd, end), 0);
	assert_int_equal(changes_hash(fd, digest[0], &size), 0);
	assert_int_equal(size, (uint64_t)end);
	/* Zeros that are written are no other content. */
	assert_int_equal(pwrite(fd, "\0\0", 2, end / 2), 2);
	assert_int_equal(changes_hash(fd, digest[1], &size), 0);
	assert_memory_equal(digest[0], digest[1], SHA256_SIZE);
	assert_int_equal(pwrite(fd, "x", 1, end / 2 + 9), 1);
	assert_int_equal(changes_hash(fd, digest[2], &size), 0);
	assert_memory_not_equal(digest[0], digest[2], SHA256_SIZE);
	(void)close(fd);
	assert_listed(w, true, "A:huge");
}

static void test_a_deep_tree_is_read_to_its_bound(void **state)
{
	struct world *w = *state;
	char name[200];
	int at = fcntl(w->view.layers[2], F_DUPFD_CLOEXEC, 3);

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < CHANGES_DEPTH_MAX + 5; i++) {
		folder_at(at, name);
		int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		(void)close(at);
		at = next;
	}
	(void)close(at);
	_cleanup_changes_ struct changes c = {.count = 0};
	struct error e = ERROR_INIT;

	assert_int_equal(changes_read(&w->view, &(struct changes_how){.hash = true}, &c, &e), 0);
	assert_int_equal(c.count, CHANGES_DEPTH_MAX + 1);
	assert_int_equal(c.items[c.count - 1].group, CHANGE_DROPPED);
	assert_non_null(strstr(c.items[c.count - 1].why, "deep"));
	/* All of it is read, and what a path can lead to lands. */
	for (size_t i = 0; i + 1 < c.count; i++) {
		bool is_long = strlen(c.items[i].path) >= PATH_MAX;

		assert_int_equal(c.items[i].group, is_long ? CHANGE_DROPPED : CHANGE_ORDINARY);
		if (is_long)
			assert_string_equal(c.items[i].why, "its path is too long");
	}
	assert_int_equal(c.items[PATH_MAX / sizeof(name) - 1].group, CHANGE_ORDINARY);
}

static void test_what_cannot_be_read_is_dropped(void **state)
{
	struct world *w = *state;
	int up = w->view.layers[2];

	const bool root = geteuid() == 0;

	put_at(up, "file", "1");
	folder_at(up, "dir");
	/* What is in this one can be listed, and not looked at. */
	folder_at(up, "names");
	put_at(up, "names/in", "1");
	/* Root may read anything: then somebody else looks. */
	if (root) {
		assert_int_equal(fchownat(up, "file", 65534, 65534, 0), 0);
		assert_int_equal(fchownat(up, "dir", 65534, 65534, 0), 0);
		assert_int_equal(fchownat(up, "names", 65534, 65534, 0), 0);
	}
	assert_int_equal(fchmodat(up, "file", 0, 0), 0);
	assert_int_equal(fchmodat(up, "dir", 0, 0), 0);
	assert_int_equal(fchmodat(up, "names", 0644, 0), 0);
	assert_int_equal(root ? seteuid(65534) : 0, 0);
	assert_listed(w, true, "A!dir A!file A!names");
	assert_int_equal(root ? seteuid(0) : 0, 0);
}

static void test_another_object_is_not_opened(void **state)
{
	struct world *w = *state;
	int up = w->view.layers[2];
	_cleanup_changes_ struct changes c = {.count = 0};
	struct error e = ERROR_INIT;

	put_at(w->view.base, "f", "base");
	put_at(up, "f", "layer");
	put_at(up, "g", "other");
	assert_int_equal(changes_read(&w->view, &(struct changes_how){.hash = true}, &c, &e), 0);
	struct change *f = changes_find(&c, "f");
	int fd = changes_open(&w->view, f, CHANGE_BEFORE);

	assert_true(fd >= 0);
	(void)close(fd);
	fd = changes_open(&w->view, f, CHANGE_AFTER);
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(renameat(up, "g", up, "f"), 0);
	assert_int_equal(changes_open(&w->view, f, CHANGE_AFTER), -ESTALE);
	assert_int_equal(unlinkat(up, "f", 0), 0);
	assert_int_equal(symlinkat("/etc/passwd", up, "f"), 0);
	assert_int_equal(changes_open(&w->view, f, CHANGE_AFTER), -ESTALE);
	assert_int_equal(unlinkat(up, "f", 0), 0);
	assert_int_equal(mkfifoat(up, "f", 0644), 0);
	assert_int_equal(changes_open(&w->view, f, CHANGE_AFTER), -ESTALE);
}

static int collect(void *context, const char *name)
{
	char *all = context;
	size_t len = strlen(all);

	(void)snprintf(all + len, 256 - len, "%s;", name);
	return 0;
}

static void test_the_view_is_what_the_box_sees(void **state)
{
	struct world *w = *state;
	const int *l = w->view.layers;
	struct object o;
	char names[256] = "";

	folder_at(w->view.base, "d");
	put_at(w->view.base, "d/base", "1");
	put_at(w->view.base, "d/both", "1");
	put_at(w->view.base, "d/gone", "1");
	folder_at(l[0], "d");
	put_at(l[0], "d/both", "22");
	folder_at(l[2], "d");
	whiteout_at(l[2], "d/gone");
	assert_int_equal(view_look(&w->view, "d/both", &o), 0);
	assert_int_equal(o.layer, 0);
	assert_int_equal(o.size, 2);
	assert_int_equal(view_look(&w->view, "d/base", &o), 0);
	assert_int_equal(o.layer, -1);
	assert_int_equal(o.type, OBJECT_FILE);
	assert_int_equal(view_look(&w->view, "d/gone", &o), 0);
	assert_int_equal(o.type, OBJECT_ABSENT);
	assert_int_equal(view_look(&w->view, "", &o), 0);
	assert_int_equal(o.type, OBJECT_DIR);
	assert_int_equal(view_look(&w->view, "d/../d", &o), -EINVAL);
	assert_int_equal(view_openat(&w->view, "d/gone", O_RDONLY), -ENOENT);
	assert_int_equal(view_list(&w->view, "d", collect, names), 0);
	assert_non_null(strstr(names, "base;"));
	assert_non_null(strstr(names, "both;"));
	assert_int_equal(strlen(names), strlen("base;both;"));
	assert_int_equal(view_list(&w->view, "d/both", collect, names), -ENOTDIR);
	assert_int_equal(view_list(&w->view, "none", collect, names), -ENOENT);
	/* Beneath an opaque directory the base is not seen. */
	opaque_at(l[1], "e");
	folder_at(w->view.base, "e");
	put_at(w->view.base, "e/f", "1");
	assert_int_equal(view_look(&w->view, "e/f", &o), 0);
	assert_int_equal(o.type, OBJECT_ABSENT);
}

/* Of these names the side is told; all others are the base's. */
static enum view_side part_says(const void *context, const char *path, int *ret_fd)
{
	const int *fd = context;

	if (str_equal(path, "d/none"))
		return VIEW_OF_NOBODY;
	if (!str_equal(path, "d/other"))
		return str_equal(path, "d/new") || str_equal(path, "e") || str_equal(path, "e/f")
			       ? VIEW_OF_LAYERS
			       : VIEW_OF_BASE;
	*ret_fd = *fd;
	return VIEW_OF_FILE;
}

static void test_a_part_of_the_view(void **state)
{
	struct world *w = *state;
	int top = w->view.layers[0];
	char text[8] = "", names[256] = "";
	struct object o;

	folder_at(w->view.base, "d");
	put_at(w->view.base, "d/gone", "1");
	put_at(w->view.base, "d/none", "1");
	put_at(w->view.base, "d/other", "1");
	put_at(w->view.base, "e", "1");
	folder_at(top, "d");
	whiteout_at(top, "d/gone");
	put_at(top, "d/new", "22");
	put_at(top, "d/left", "22");
	put_at(top, "d/file", "333");
	folder_at(top, "e");
	put_at(top, "e/f", "22");
	_cleanup_fd_ int other = openat(top, "d/file", O_RDONLY | O_CLOEXEC);

	assert_true(other >= 0);
	const struct view_part part = {.says = part_says, .context = &other};
	struct view v = w->view;

	v.part = &part;
	assert_int_equal(view_look(&v, "d/none", &o), 0);
	assert_int_equal(o.type, OBJECT_ABSENT);
	assert_int_equal(view_look(&v, "d/left", &o), 0);
	assert_int_equal(o.type, OBJECT_ABSENT);
	assert_int_equal(view_look(&v, "d/other", &o), 0);
	assert_int_equal(o.size, 3);
	/* Twice: from its start each time. */
	for (size_t i = 0; i < 2; i++) {
		_cleanup_fd_ int fd = view_openat(&v, "d/other", O_RDONLY);

		assert_int_equal(read(fd, text, sizeof(text)), 3);
	}
	assert_int_equal(view_openat(&v, "d/none", O_RDONLY), -ENOENT);
	assert_int_equal(view_list(&v, "d", collect, names), 0);
	assert_non_null(strstr(names, "gone;"));
	assert_non_null(strstr(names, "new;"));
	assert_non_null(strstr(names, "other;"));
	assert_int_equal(strlen(names), strlen("gone;new;other;"));
	/* A folder on one side alone. */
	names[0] = '\0';
	assert_int_equal(view_list(&v, "e", collect, names), 0);
	assert_string_equal(names, "f;");
	assert_int_equal(view_list(&v, "d/left", collect, names), -ENOENT);
	assert_int_equal(view_list(&v, "d/gone", collect, names), -ENOTDIR);
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		world_test(test_nothing_is_nothing),
		world_test(test_each_kind_is_told),
		world_test(test_times_do_not_hide_a_change),
		world_test(test_the_top_layer_wins),
		world_test(test_a_whiteout_ends_what_is_beneath_it),
		world_test(test_an_opaque_directory_in_the_middle),
		world_test(test_a_deleted_directory_lists_what_was_in_it),
		world_test(test_types_change_both_ways),
		world_test(test_a_file_between_directories_cuts),
		world_test(test_links_are_not_followed),
		world_test(test_special_files_are_dropped),
		world_test(test_what_does_not_land_is_named),
		world_test(test_renames_are_found),
		world_test(test_a_rename_keeps_its_name),
		world_test(test_a_rename_is_not_guessed),
		world_test(test_a_hole_of_any_size_is_hashed),
		world_test(test_a_deep_tree_is_read_to_its_bound),
		world_test(test_what_cannot_be_read_is_dropped),
		world_test(test_another_object_is_not_opened),
		world_test(test_the_view_is_what_the_box_sees),
		world_test(test_a_part_of_the_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
