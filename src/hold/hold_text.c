/* SPDX-License-Identifier: Apache-2.0 */
/* For any file: invisible characters, and links that lead out of the workspace. */
#include "hold_parts.h"

#include "fd.h"
#include "invisible.h"

#include <stdio.h>
#include <unistd.h>

enum { HOLD_PIECE = 32 << 10 };

/* A hole reads as zeros, costs nothing to make and much time to read: one zero stands for all. */
static void hold_pass_hole(int fd, struct invisible *v)
{
	off_t at = lseek(fd, 0, SEEK_CUR), data = lseek(fd, at, SEEK_DATA);

	if (data < 0 && errno == ENXIO)
		data = lseek(fd, 0, SEEK_END);
	if (at >= 0 && data > at)
		invisible_feed(v, SPAN_LITERAL("\0"));
	else if (at >= 0)
		(void)lseek(fd, at, SEEK_SET);
}

/* Looks through one side for invisible characters.  1: it is longer than the limit, and the rest
 * was not read; else 0 or -errno. */
static int hold_scan(struct hold_judge *j, const struct change *c, enum change_side side,
		     struct invisible *ret)
{
	const struct object *o = side == CHANGE_BEFORE ? &c->before : &c->after;
	uint8_t piece[HOLD_PIECE];
	uint64_t all = 0;

	*ret = (struct invisible){.count = 0};
	if (o->type != OBJECT_FILE)
		return 0;
	_cleanup_fd_ int fd = changes_open(j->view, c, side);

	while (fd >= 0 && all < HOLD_SCAN_MAX && !hold_is_late(j)) {
		hold_pass_hole(fd, ret);
		ssize_t n = read(fd, piece, sizeof(piece));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		invisible_feed(ret, (struct span){piece, (size_t)n});
		all += (uint64_t)n;
		/* The first bytes show whether it is a program or a picture. */
		if (all <= sizeof(piece) && !invisible_is_text(ret))
			break;
	}
	invisible_end(ret);
	return fd < 0 ? fd : all >= HOLD_SCAN_MAX && o->size > all;
}

static int hold_say_invisible(struct hold_judge *j, struct hold_verdict *v, const char *what,
			      const struct invisible *found, bool line)
{
	char list[INVISIBLE_KINDS * 10 + 1] = "", where[48] = "";
	size_t at = 0;

	for (size_t i = 0; i < found->kind_count; i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%sU+%04X", i ? " " : "",
				       found->kinds[i]);
	if (line)
		(void)snprintf(where, sizeof(where), ", first in line %llu",
			       (unsigned long long)found->first_line);
	return hold_say(j, v, "%s has %llu characters that are not seen (%s)%s", what,
			(unsigned long long)found->count, list, where);
}

int hold_by_invisible(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	struct invisible found = {.count = 0}, old;

	invisible_feed(&found, span_of_str(c->path));
	invisible_end(&found);
	if (found.count > 0)
		return hold_say_invisible(j, v, "its name", &found, false);
	/* It is compressed and nobody reads it, and a short one can look like text. */
	if (change_is_git_object(c)) {
		v->most = HOLD_NOT;
		return 0;
	}
	int r = hold_scan(j, c, CHANGE_AFTER, &found);
	bool cut = r > 0;

	r = cut ? 0 : r;
	if (r == 0 && found.nul && c->after.type == OBJECT_FILE &&
	    hold_scan(j, c, CHANGE_BEFORE, &old) >= 0 && old.begun && !old.nul)
		return hold_say(j, v,
				"it was text, and has bytes now that are none: a shell runs it "
				"all the same, and most tools do not show it");
	/* Other rules say when it cannot be read. */
	if (r == 0 && found.count > 0 && invisible_is_text(&found)) {
		r = hold_scan(j, c, CHANGE_BEFORE, &old);
		if (r < 0 || found.count > old.count || found.kind_count > old.kind_count ||
		    !invisible_is_text(&old))
			return hold_say_invisible(j, v, "it", &found, true);
	}
	if (r >= 0 && cut && invisible_is_text(&found))
		return hold_say(j, v,
				"it is so long that characters that are not seen were looked for "
				"in its first %d MiB only",
				HOLD_SCAN_MAX >> 20);
	v->most = HOLD_NOT;
	return 0;
}

/* A rule holds files of this name. */
static bool hold_names(struct hold_judge *j, const char *path)
{
	hold_fold(path, &j->folded);
	if (buf_error(&j->folded))
		return true;
	const char *folded = buf_str(&j->folded);
	uint64_t rows = hold_find(j->rules, folded) & ~j->rules->every;

	for (size_t row = 0; row < hold_row_count; row++)
		if ((rows >> row & 1) && j->rules->levels[row] == HOLD_HOLD &&
		    hold_is_meant(&hold_rows[row], folded))
			return true;
	return false;
}

int hold_by_link(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	char dir[PATH_MAX], path[PATH_MAX];
	const char *link = c->after.link ? c->after.link : "";

	if (hold_parent(c->path, dir) == 0 && hold_resolve(j, dir, link, path) == 0) {
		if (hold_names(j, path))
			return hold_say(j, v,
					"it leads to %.*s: who writes to it writes what is "
					"held",
					2 * HOLD_WORD_MAX, path);
		v->most = HOLD_NOT;
		return 0;
	}
	return hold_say(j, v,
			"it leads out of the workspace, to %.*s: what follows it later reads "
			"and writes there",
			2 * HOLD_WORD_MAX, link);
}
