/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn diff --patch`, and `bawn diff > FILE`: a patch that `git apply` takes, and that makes the
 * workspace byte for byte what the session made of it.  So nothing is escaped, folded or left out
 * that has a form in a patch.  What has none is named on standard error: git's own files, fifos and
 * other special files, empty folders, modes that git does not know, and files of which git's
 * attributes make other bytes.  What is held is in the patch, and is named there as well: git apply
 * holds nothing back.
 *
 * A file with a NUL in it, or one that is too long to compare, becomes a binary patch: both
 * contents, compressed, in git's base 85.
 */
#include "diff_parts.h"
#include "patch_attributes.h"

#include "fd.h"
#include "git_object.h"
#include "linediff.h"
#include "sha1.h"
#include "str.h"
#include "unified.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
	PATCH_FILE_MAX = 128 << 20,
	PATCH_LINE = 52, /* bytes of a line of base 85 */
	PATCH_NAMED = 20,
	PATCH_LINK = 0120000,
	PATCH_FILE = 0100000,
};

struct patch_notes {
	size_t count;
	size_t both;       /* how many the user changed, too */
	size_t held;       /* how many of the patch are held */
	const char *thing; /* the one that was named last, and how long its name is */
	size_t thing_len;
	mode_t umask;
	struct patch_settings settings;
	struct text err;
	struct progress *progress; /* a line of it may stand there */
};

/* One side of a change, as git has it. */
struct patch_side {
	bool there;
	uint32_t mode; /* git's: 100644, 100755, 120000 */
	struct buf text;
	char name[GIT_HEX_MAX + 1];
};

/* --- what has no form ------------------------------------------------------------------- */

static void patch_note(struct patch_notes *n, const char *path, const char *why)
{
	char shown[REVIEW_PATH_SHOWN];

	if (n->count++ >= PATCH_NAMED)
		return;
	progress_clear(n->progress);
	text_styled(&n->err, TEXT_WARN, "not in the patch: ");
	text_printf(&n->err, "%s (%s)\n", review_shown_path(path, shown), why);
}

static void patch_end_notes(struct patch_notes *n, const struct diff *d)
{
	size_t git = 0;

	for (size_t i = 0; i < d->changes.count; i++)
		git += d->folding.fates[i] != DIFF_AWAY && d->changes.items[i].git != NULL;
	if (n->count > PATCH_NAMED)
		text_printf(&n->err, "and %zu more that are not in the patch\n",
			    n->count - PATCH_NAMED);
	if (n->held > PATCH_NAMED)
		text_printf(&n->err, "and %zu more that are held\n", n->held - PATCH_NAMED);
	if (n->held)
		text_printf(&n->err,
			    "'bawn apply' keeps what is held back; 'git apply' does not\n");
	if (n->both > PATCH_NAMED)
		text_printf(&n->err, "and %zu more that you changed, too\n", n->both - PATCH_NAMED);
	if (n->both)
		text_printf(&n->err,
			    "'bawn apply' shows these as conflicts; --merge puts both together\n");
	if (d->commits.count)
		text_printf(&n->err,
			    "not in the patch: %zu commit%s, but what changed by %s; 'bawn apply' "
			    "brings commits\n",
			    d->commits.count, d->commits.count == 1 ? "" : "s",
			    d->commits.count == 1 ? "it is" : "them is");
	else if (git)
		text_printf(&n->err, "not in the patch: %zu of git's own files\n", git);
}

/* git itself refuses to write to such a name. */
static bool patch_is_refused(const char *path)
{
	for (const char *part = path; *part;) {
		size_t len = strcspn(part, "/");

		if ((len == 4 && strncasecmp(part, ".git", 4) == 0) ||
		    (len == 5 && strncasecmp(part, "git~1", 5) == 0))
			return true;
		part += len + (part[len] == '/');
	}
	return false;
}

/* Sets *context: the folder has a name in it. */
static int patch_on_name(void *context, const char *name)
{
	bool *any = context;

	(void)name;
	*any = true;
	return -ECANCELED;
}

static void patch_note_emptied(struct patch_notes *n, const struct diff *d, const char *gone,
			       char last[PATH_MAX])
{
	char folder[PATH_MAX];
	const char *slash = strrchr(gone, '/');
	size_t len = slash ? (size_t)(slash - gone) : 0;
	struct object o;
	bool any = false;

	if (len == 0 || len >= sizeof(folder))
		return;
	memcpy(folder, gone, len);
	folder[len] = '\0';
	if (str_equal(folder, last))
		return;
	memcpy(last, folder, sizeof(folder));
	if (view_look(&d->view, folder, &o) < 0 || o.type != OBJECT_DIR)
		return;
	(void)view_list(&d->view, folder, patch_on_name, &any);
	if (!any)
		patch_note(n, folder, "a folder that is empty now");
}

/* The folder came or went, and nothing in it did. */
static bool patch_is_hollow(const struct diff *d, const struct change *c)
{
	char beneath[PATH_MAX + 1];
	int len = snprintf(beneath, sizeof(beneath), "%s/", c->path);
	size_t i = diff_first(d, beneath);

	return i == d->changes.count ||
	       strncmp(d->changes.items[i].path, beneath, (size_t)len) != 0;
}

/*
 * Warns: the patch is against what the user has now, so git apply undoes what the user wrote since.
 */
static void patch_note_both(struct patch_notes *n, const struct change *c)
{
	char shown[REVIEW_PATH_SHOWN];

	if (!c->both || n->both++ >= PATCH_NAMED)
		return;
	progress_clear(n->progress);
	text_styled(&n->err, TEXT_WARN, "you changed it, too: ");
	text_printf(&n->err, "%s (the patch puts the session's version in the place of yours)\n",
		    review_shown_path(c->path, shown));
}

/*
 * Names what is held, where a person does not read the patch itself.  Of what lands as one thing
 * it names the thing, once.
 */
static void patch_note_held(struct patch_notes *n, const struct diff *d, const struct change *c)
{
	char shown[REVIEW_PATH_SHOWN], thing[PATH_MAX];
	const char *why = c->why;

	if (c->group != CHANGE_HELD || d->text.tty || c->whole >= sizeof(thing))
		return;
	if (c->whole && n->thing && strncmp(c->path, n->thing, c->whole) == 0 &&
	    n->thing_len == c->whole)
		return;
	n->thing = c->path;
	n->thing_len = c->whole;
	if (n->held++ >= PATCH_NAMED)
		return;
	(void)snprintf(thing, sizeof(thing), "%.*s",
		       c->whole ? (int)c->whole : (int)strlen(c->path), c->path);
	for (size_t i = 0; c->whole && i < d->changes.count; i++) {
		const struct change *x = &d->changes.items[i];

		if (x->whole == c->whole && strncmp(x->path, c->path, c->whole) == 0 &&
		    (x->tells || !x->part) && x->why) {
			why = x->why;
			break;
		}
	}
	progress_clear(n->progress);
	text_styled(&n->err, TEXT_WARN, "held, and in the patch: ");
	text_printf(&n->err, "%s%s%s%s%s\n", review_shown_path(thing, shown), c->whole ? "/" : "",
		    why ? " (" : "", why ? why : "", why ? ")" : "");
}

/* --- names, as git quotes them ---------------------------------------------------------- */

static bool patch_is_plain(const char *path)
{
	for (const char *p = path; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f || *p == '"' ||
		    *p == '\\')
			return false;
	return true;
}

static void patch_put_name(struct buf *out, const char *side, const char *path)
{
	if (patch_is_plain(path)) {
		buf_putf(out, "%s%s", side, path);
		return;
	}
	buf_putf(out, "\"%s", side);
	for (const char *p = path; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			buf_putf(out, "\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			buf_putf(out, "\\%03o", c);
		else
			buf_put_char(out, (char)c);
	}
	buf_put_char(out, '"');
}

/* --- contents ----------------------------------------------------------------------------- */

static void patch_side_fini(struct patch_side *s)
{
	buf_fini(&s->text);
}

/* Reads one side.  1: it is too large; else 0 or -errno. */
static int patch_read(const struct diff *d, const struct change *c, enum change_side side,
		      struct patch_side *ret)
{
	const struct object *o = side == CHANGE_BEFORE ? &c->before : &c->after;

	*ret = (struct patch_side){.there = o->type == OBJECT_FILE || o->type == OBJECT_LINK,
				   .text = BUF_INIT(PATCH_FILE_MAX)};
	memset(ret->name, '0', 2 * (size_t)SHA1_SIZE);
	if (!ret->there)
		return 0;
	ret->mode =
		o->type == OBJECT_LINK ? PATCH_LINK : PATCH_FILE | (o->mode & 0100 ? 0755U : 0644U);
	if (o->type == OBJECT_LINK) {
		buf_put_str(&ret->text, o->link);
	} else {
		_cleanup_fd_ int fd = changes_open(&d->view, c, side);

		if (o->size > PATCH_FILE_MAX)
			return 1;
		int r = fd < 0 ? fd : fd_read_all(fd, &ret->text);

		if (r < 0)
			return r;
	}
	struct git_name name;

	git_name_of(GIT_KIND_BLOB, buf_span(&ret->text), SHA1_SIZE, &name);
	git_name_hex(&name, ret->name);
	return 0;
}

static void patch_put_base85(struct buf *out, const uint8_t *bytes, size_t len)
{
	static const char digits[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"!#$%&()*+-;<=>?@^_`{|}~";

	for (size_t at = 0; at < len;) {
		size_t n = len - at < PATCH_LINE ? len - at : PATCH_LINE;

		buf_put_char(out, (char)(n <= 26 ? 'A' + n - 1 : 'a' + n - 27));
		for (size_t i = 0; i < n; i += 4) {
			uint32_t word = 0;
			char five[5];

			for (size_t b = 0; b < 4; b++)
				word = word << 8 | (i + b < n ? bytes[at + i + b] : 0U);
			for (size_t b = 5; b-- > 0; word /= 85)
				five[b] = digits[word % 85];
			buf_put(out, five, sizeof(five));
		}
		buf_put_char(out, '\n');
		at += n;
	}
}

static int patch_put_literal(struct buf *out, const struct patch_side *s)
{
	uLongf len = compressBound(s->text.len);
	_cleanup_free_ uint8_t *packed = malloc(len);

	if (!packed ||
	    compress(packed, &len, (const Bytef *)buf_str(&s->text), s->text.len) != Z_OK)
		return -ENOMEM;
	buf_putf(out, "literal %zu\n", s->text.len);
	patch_put_base85(out, packed, len);
	buf_put_char(out, '\n');
	return 0;
}

static void patch_put_line(void *context, char sign, const struct span *text)
{
	struct buf *out = context;

	buf_put_char(out, sign);
	buf_put(out, text->ptr, text->len);
	if (text->len == 0 || text->ptr[text->len - 1] != '\n')
		buf_put_str(out, "\n\\ No newline at end of file\n");
}

/* Puts the difference of two texts; -E2BIG: they are too long for that. */
static int patch_put_hunks(struct buf *out, const struct patch_side *was,
			   const struct patch_side *is)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(LINEDIFF_ARENA);
	struct lines lines[2];
	struct linediff diff;
	struct hunks hunks;
	int r = lines_cut(buf_span(&was->text), &arena, &lines[0]);

	if (r == 0)
		r = lines_cut(buf_span(&is->text), &arena, &lines[1]);
	if (r == 0)
		r = linediff(&lines[0], &lines[1], &arena, &diff);
	if (r == 0)
		r = unified_hunks(&lines[0], &diff, &arena, &hunks);
	for (size_t i = 0; r == 0 && i < hunks.count; i++) {
		const struct hunk *h = &hunks.items[i];

		buf_putf(out, "@@ -%zu,%zu +%zu,%zu @@\n", h->before + (h->before_count > 0),
			 h->before_count, h->after + (h->after_count > 0), h->after_count);
		unified_lines(&lines[0], &lines[1], &diff, h, patch_put_line, out);
	}
	return r;
}

static bool patch_is_text(const struct patch_side *s)
{
	return s->text.len == 0 || !memchr(s->text.ptr, '\0', s->text.len);
}

/* --- one change --------------------------------------------------------------------------- */

struct patch_names {
	const char *from, *to;
	unsigned int alike; /* percent, for a rename; 0: it is none */
};

static void patch_put_head(struct buf *out, const struct patch_names *names,
			   const struct patch_side *was, const struct patch_side *is)
{
	buf_put_str(out, "diff --git ");
	patch_put_name(out, "a/", names->from);
	buf_put_char(out, ' ');
	patch_put_name(out, "b/", names->to);
	buf_put_char(out, '\n');
	if (!was->there)
		buf_putf(out, "new file mode %06" PRIo32 "\n", is->mode);
	else if (!is->there)
		buf_putf(out, "deleted file mode %06" PRIo32 "\n", was->mode);
	else if (was->mode != is->mode)
		buf_putf(out, "old mode %06" PRIo32 "\nnew mode %06" PRIo32 "\n", was->mode,
			 is->mode);
	if (names->alike) {
		buf_putf(out, "similarity index %u%%\nrename from ", names->alike);
		patch_put_name(out, "", names->from);
		buf_put_str(out, "\nrename to ");
		patch_put_name(out, "", names->to);
		buf_put_char(out, '\n');
	}
}

/* Puts one entry of the patch: a file or link that comes, goes or changes. */
static int patch_put_entry(struct buf *out, const struct patch_names *names,
			   const struct patch_side *was, const struct patch_side *is)
{
	bool same = str_equal(was->name, is->name) && was->there && is->there;
	size_t before = 0;
	int r = 0;

	patch_put_head(out, names, was, is);
	if (same)
		return 0;
	buf_putf(out, "index %s..%s", was->name, is->name);
	if (was->there && is->there && was->mode == is->mode)
		buf_putf(out, " %06" PRIo32, is->mode);
	buf_put_char(out, '\n');
	if (was->text.len + is->text.len == 0)
		return 0;
	before = out->len;
	if (patch_is_text(was) && patch_is_text(is)) {
		buf_put_str(out, "--- ");
		if (was->there)
			patch_put_name(out, "a/", names->from);
		else
			buf_put_str(out, "/dev/null");
		buf_put_str(out, "\n+++ ");
		if (is->there)
			patch_put_name(out, "b/", names->to);
		else
			buf_put_str(out, "/dev/null");
		buf_put_char(out, '\n');
		r = patch_put_hunks(out, was, is);
		if (r != -E2BIG)
			return r;
		/* Too many lines: put it as bytes. */
		out->len = before;
	}
	buf_put_str(out, "GIT binary patch\n");
	r = patch_put_literal(out, is);
	return r < 0 ? r : patch_put_literal(out, was);
}

/* git knows of both sides the same: there is nothing to put. */
static bool patch_is_same(const struct patch_names *names, const struct patch_side *was,
			  const struct patch_side *is)
{
	return was->there && is->there && was->mode == is->mode && !names->alike &&
	       str_equal(was->name, is->name);
}

/* same: the patch does not have the file, so git leaves its mode as it is. */
static void patch_note_mode(struct patch_notes *n, const struct change *c, bool same)
{
	const uint32_t is = c->after.mode & 0777;
	const uint32_t gits = (is & 0100 ? 0777U : 0666U) & ~(uint32_t)n->umask;
	char why[64];

	if (c->after.type != OBJECT_FILE ||
	    (c->before.type == OBJECT_FILE && (c->before.mode & 0777) == is)) {
		if (same)
			patch_note(n, c->path,
				   c->without ? c->without
					      : "what changed of it, git does not know");
		return;
	}
	if (is == gits && !same)
		return;
	(void)snprintf(why, sizeof(why), "its mode %03" PRIo32 ", which git does not %s", is,
		       is == gits ? "set" : "know");
	patch_note(n, c->path, why);
}

/* Why it has no form in a patch; NULL: it has one. */
static const char *patch_why_not(const struct change *c)
{
	if (c->group == CHANGE_DROPPED)
		return c->why ? c->why : "it never lands";
	if (patch_is_refused(c->path) || (c->from && patch_is_refused(c->from)))
		return "git writes to no such name";
	return NULL;
}

/* Why git would make other bytes of it, by its name before or after; NULL: it would not. */
static const char *patch_why_other(const struct diff *d, const struct patch_notes *n,
				   const struct patch_names *names, const struct patch_side *was,
				   const struct patch_side *is, bool *ret_apart)
{
	struct span texts[2] = {buf_span(&was->text), buf_span(&is->text)};
	const struct span *const sides[2] = {
		was->there && was->mode != PATCH_LINK ? &texts[0] : NULL,
		is->there && is->mode != PATCH_LINK ? &texts[1] : NULL};
	const char *why = patch_converts(d, &n->settings, names->to, sides, ret_apart);

	if (!why && !str_equal(names->from, names->to))
		why = patch_converts(d, &n->settings, names->from, sides, ret_apart);
	return why;
}

/* One change, read. */
struct patch_entry {
	struct change change;
	struct patch_names names;
	struct patch_side was, is;
	bool apart; /* of a file that stays the same: git would make other bytes of it on the way */
};

static void patch_entry_fini(struct patch_entry *x)
{
	patch_side_fini(&x->was);
	patch_side_fini(&x->is);
}

/* Reads a change.  Sets *ret_why when the patch does not have it; "" when there is nothing to
 * have. */
static int patch_entry_read(const struct diff *d, const struct patch_notes *n, size_t i,
			    struct patch_entry *x, const char **ret_why)
{
	const struct change c = folding_joined(&d->folding, &d->changes, i);

	*x = (struct patch_entry){.change = c,
				  .names = {.from = c.from ? c.from : c.path, .to = c.path}};
	*ret_why = patch_why_not(&c);
	if (!*ret_why && !folding_is_file(&c) && c.after.type == OBJECT_DIR &&
	    c.before.type == OBJECT_DIR)
		*ret_why = "the mode of a folder";
	if (*ret_why)
		return 0;
	int r = patch_read(d, &c, CHANGE_BEFORE, &x->was);

	if (r == 0)
		r = patch_read(d, &c, CHANGE_AFTER, &x->is);
	if (r == -ENOMEM)
		return r;
	if (r != 0)
		*ret_why = r == 1 ? "it is too large" : "it cannot be read now";
	else if (!x->was.there && !x->is.there)
		*ret_why = "";
	else
		*ret_why = patch_why_other(d, n, &x->names, &x->was, &x->is, &x->apart);
	return 0;
}

static bool patch_has(const struct diff *d, size_t i)
{
	const struct change *c = &d->changes.items[i];
	unsigned int fate = d->folding.fates[i];

	/* A silent one is a folder, or the old name of a renamed file. */
	return fate != DIFF_AWAY && !c->git && (fate != DIFF_SILENT || c->with);
}

/* Whether the path is in the folder, at any depth. */
static bool patch_is_beneath(const char *path, const char *folder)
{
	const char *rest = path ? str_after(path, folder) : NULL;

	return rest && *rest == '/';
}

/*
 * A file or link takes the place of a folder, and something in the folder is not in the patch: so
 * the folder stays, and git could not put anything in its place.  1 if so; else 0 or -errno.
 */
static int patch_folder_stays(const struct diff *d, const struct patch_notes *n,
			      const struct change *c)
{
	if (c->before.type != OBJECT_DIR || c->after.type == OBJECT_DIR)
		return 0;
	for (size_t i = 0; i < d->changes.count; i++) {
		const struct change x = folding_joined(&d->folding, &d->changes, i);
		const char *old = x.from ? x.from : x.path, *why = NULL;

		if (!patch_is_beneath(old, c->path) || x.before.type == OBJECT_DIR)
			continue;
		if (!patch_has(d, i)) {
			if (d->folding.fates[i] == DIFF_AWAY)
				return 1;
			continue;
		}
		_cleanup_(patch_entry_fini) struct patch_entry e = {.apart = false};
		int r = patch_entry_read(d, n, i, &e, &why);

		if (r < 0 || (why && *why))
			return r < 0 ? r : 1;
	}
	return 0;
}

static int patch_put_change(struct diff *d, struct patch_notes *n, size_t i, char emptied[PATH_MAX])
{
	_cleanup_(patch_entry_fini) struct patch_entry x = {.apart = false};
	const struct patch_side none = {.there = false,
					.name = "0000000000000000000000000000000000000000"};
	const char *why = NULL;
	int r = patch_entry_read(d, n, i, &x, &why);
	const struct change *c = &x.change;
	struct patch_names *names = &x.names;

	if (r == 0 && !why) {
		r = patch_folder_stays(d, n, c);
		why = r == 1 ? "something in the folder before it is not, either" : NULL;
	}
	if (r < 0 || why) {
		if (r >= 0 && *why)
			patch_note(n, c->path, why);
		return r < 0 ? r : 0;
	}
	/* In an edit at one place git sees the end of a line anyway. */
	bool apart = x.apart && (c->from || str_equal(x.was.name, x.is.name));

	if (c->from)
		names->alike = d->folding.alike[i] ? d->folding.alike[i] : 100;
	const bool same = patch_is_same(names, &x.was, &x.is);

	/* If its kind changes, the patch removes it and adds it anew. */
	if (!same && x.was.there && x.is.there &&
	    (apart || ((x.was.mode ^ x.is.mode) & 0170000 & ~0U))) {
		const struct patch_names goes = {.from = names->from, .to = names->from},
					 comes = {.from = names->to, .to = names->to};

		r = patch_put_entry(&d->out, &goes, &x.was, &none);
		if (r == 0)
			r = patch_put_entry(&d->out, &comes, &none, &x.is);
	} else if (!same) {
		r = patch_put_entry(&d->out, names, &x.was, &x.is);
	}
	patch_note_both(n, c);
	patch_note_mode(n, c, same);
	if (c->kind == CHANGE_DELETED || c->from)
		patch_note_emptied(n, d, names->from, emptied);
	return r;
}

/* At a terminal a person reads it: then escape each line, as everywhere. */
static void patch_escape(struct diff *d, size_t from)
{
	_cleanup_buf_ struct buf raw = BUF_INIT(DIFF_OUT_MAX);

	if (!d->text.tty)
		return;
	buf_put(&raw, d->out.ptr + from, d->out.len - from);
	d->out.len = from;
	for (struct span s = buf_span(&raw); s.len > 0;) {
		const uint8_t *end = memchr(s.ptr, '\n', s.len);
		size_t len = end ? (size_t)(end - s.ptr) : s.len;

		text_put(&d->text, &d->out,
			 s.ptr[0] == '+'   ? TEXT_GOOD
			 : s.ptr[0] == '-' ? TEXT_BAD
					   : TEXT_PLAIN,
			 (struct span){s.ptr, len});
		diff_end_line(d);
		s = span_skip(s, len + (end != NULL));
	}
}

int diff_put_patch(struct diff *d, struct error *e)
{
	struct patch_notes notes = {.err = text_open(STDERR_FILENO), .progress = d->progress};
	char emptied[PATH_MAX] = "";
	int r = 0;

	notes.umask = umask(0);
	(void)umask(notes.umask);
	patch_settings_read(d, &notes.settings);
	for (size_t i = 0; r == 0 && i < d->changes.count; i++) {
		const struct change *c = &d->changes.items[i];

		if (!patch_has(d, i))
			continue;
		bool made = c->after.type == OBJECT_DIR && c->before.type == OBJECT_ABSENT;
		bool went = c->before.type == OBJECT_DIR && c->after.type == OBJECT_ABSENT;

		size_t from = d->out.len;

		if ((made || went) && patch_is_hollow(d, c))
			patch_note(&notes, c->path,
				   made ? "an empty folder" : "an empty folder that is gone");
		else if (!made && !went)
			r = patch_put_change(d, &notes, i, emptied);
		if (r == 0 && buf_error(&d->out))
			r = buf_error(&d->out);
		if (r == 0 && d->out.len > from) {
			patch_note_held(&notes, d, c);
			patch_escape(d, from);
		}
		diff_flush(d, false);
		progress_say(notes.progress, "comparing", i + 1, d->changes.count);
	}
	if (r < 0)
		return error_sys(e, r, "cannot write the patch");
	progress_clear(notes.progress);
	patch_end_notes(&notes, d);
	return 0;
}
