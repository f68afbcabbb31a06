/* SPDX-License-Identifier: Apache-2.0 */
#include "hidden_git.h"

#include "buf.h"
#include "fd.h"
#include "git_index.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HIDDEN_GIT_INDEX_MAX = 256 << 20, HIDDEN_GIT_NOTES_MAX = 16, HIDDEN_GIT_READ = 1 << 14 };

/* Reads the index of the repository at the first `len` bytes of the path; false: there is none. */
static bool hidden_git_read(const char *path, size_t len, struct buf *into)
{
	char file[PATH_MAX];
	uint8_t piece[HIDDEN_GIT_READ];
	ssize_t n;

	if (snprintf(file, sizeof(file), "%.*s/.git/index", (int)len, path) >= (int)sizeof(file))
		return false;
	_cleanup_fd_ int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		buf_put(into, piece, (size_t)n);
	return n == 0 && !buf_error(into);
}

/* Whether the index has the file, or something in the folder. */
static bool hidden_git_has(struct span bytes, const char *path)
{
	struct git_index x = GIT_INDEX_INIT;
	bool has = false;

	for (int r = git_index_open(&x, bytes); r == 0 && !has && git_index_next(&x);)
		has = x.path.len > 0 && str_path_beneath(buf_str(&x.path), path);
	git_index_close(&x);
	return has;
}

/* Whether the repository that it is in tracks it; we look up to the workspace. */
static bool hidden_git_tracks(const char *top, const char *path)
{
	size_t least = strlen(top), len = strlen(path);

	if (!str_path_beneath(path, top) || len == least)
		return false;
	while (len > least) {
		_cleanup_buf_ struct buf bytes = BUF_INIT(HIDDEN_GIT_INDEX_MAX);

		for (len--; len > least && path[len] != '/'; len--)
			continue;
		if (hidden_git_read(path, len, &bytes))
			return hidden_git_has(buf_span(&bytes), path + len + 1);
	}
	return false;
}

int hidden_git(struct plan *plan, struct arena *arena)
{
	size_t count = plan->notes.count, found = 0;
	struct plan_note *notes =
		arena_alloc(arena, (count + HIDDEN_GIT_NOTES_MAX) * sizeof(*notes));

	if (!notes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct plan_note *n = notes + i;

		notes[i] = plan->notes.items[i];
		if (found < HIDDEN_GIT_NOTES_MAX && n->kind == PLAN_NOTE_HIDDEN &&
		    str_equal(n->why, "hidden by name") &&
		    hidden_git_tracks(plan->workspace, n->what))
			notes[count + found++] = (struct plan_note){
				.kind = PLAN_NOTE_WARNING,
				.what = n->what,
				.why = "the file is hidden, but git tracks it: what was added or "
				       "committed can be read inside (git show)",
				.origin = n->origin,
				.said = true};
	}
	if (found > 0) {
		plan->notes.items = notes;
		plan->notes.count = count + found;
	}
	return 0;
}
