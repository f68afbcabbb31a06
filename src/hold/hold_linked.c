/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packages in node_modules whose install scripts npm runs by itself.
 *
 * npm install runs nothing of a package that is installed already; npm rebuild runs what the
 * package's line names (hold_whole.c).  But npm install runs the install scripts of a linked
 * package, `prepare` too, wherever it is.  A package is linked when
 *
 *	a link in node_modules leads to it,
 *	package.json, there or elsewhere, takes a dependency from its path,
 *	a lock file has its path.
 *
 * So we judge its package.json and its binding.gyp as we do outside node_modules.  We read the
 * files that name it as they are after the session: those that changed, and those in the folders
 * around each node_modules.  So it also counts when one session names a package and the next one
 * makes it.
 */
#include "hold_parts.h"

#include "fnv.h"
#include "json_walk.h"
#include "str.h"

#include <stdio.h>

enum {
	LINKED_FILE_MAX = 64 << 20, /* most bytes of a lock file */
	LINKED_BUCKETS = 1024,
	LINKED_LIST_MAX = 1 << 16, /* most entries of node_modules folders, together */
};

struct linked_package {
	struct linked_package *next;
	const char *path;
};

struct hold_linked {
	struct linked_package *buckets[LINKED_BUCKETS];
	struct linked_package *folders[LINKED_BUCKETS]; /* folders whose files were read */
	const char *seen; /* the node_modules around which we read the files last */
	size_t listed;
};

/* --- which packages are linked ---------------------------------------------------------------- */

static bool linked_set_has(struct linked_package *const *set, const char *path, size_t len)
{
	for (const struct linked_package *p = set[fnv_bytes(FNV_START, path, len) % LINKED_BUCKETS];
	     p; p = p->next)
		if (strlen(p->path) == len && memcmp(p->path, path, len) == 0)
			return true;
	return false;
}

static int linked_set_put(struct hold_judge *j, struct linked_package **set, const char *path)
{
	size_t bucket = fnv_bytes(FNV_START, path, strlen(path)) % LINKED_BUCKETS;
	struct linked_package *p = arena_alloc(&j->arena, sizeof(*p));

	if (p)
		p->path = arena_str(&j->arena, path);
	if (!p || !p->path)
		return hold_no_memory(j);
	p->next = set[bucket];
	set[bucket] = p;
	return 0;
}

/* The user has pnpm, which makes thousands of such links and runs nothing because of them. */
static bool linked_is_pnpms(struct hold_judge *j, const char *path)
{
	const char *at = strstr(path, "node_modules/.pnpm/");
	char lock[PATH_MAX];

	return at &&
	       snprintf(lock, sizeof(lock), "%.*spnpm-lock.yaml", (int)(at - path), path) <
		       (int)sizeof(lock) &&
	       hold_type(&j->before, lock) == OBJECT_FILE;
}

static int linked_add(struct hold_judge *j, const char *path)
{
	if (!hold_is_in_modules(path) || linked_set_has(j->linked->buckets, path, strlen(path)) ||
	    linked_is_pnpms(j, path))
		return 0;
	return linked_set_put(j, j->linked->buckets, path);
}

/* Adds the package that a path leads to.  A file in the folder `dir` names the path. */
static int linked_add_named(struct hold_judge *j, const char *dir, const char *said)
{
	char path[PATH_MAX], leads[PATH_MAX];

	if (hold_resolve(j, dir, said, path) < 0)
		return 0;
	return linked_add(j, hold_leads_in(j, j->view, path, leads) ? leads : path);
}

/*
 * --- which files name them ---------------------------------------------------------------------
 */

/* Decodes a string of JSON.  A character beyond ASCII becomes "?". */
static void linked_decode(struct span written, struct buf *into)
{
	static const char digits[] = "0123456789abcdef";
	unsigned int code = 0;

	for (size_t i = 0; i < written.len; i++) {
		char c = (char)written.ptr[i];

		if (c == '\\' && i + 1 < written.len) {
			c = (char)written.ptr[++i];
			code = 0;
			for (size_t n = 0; c == 'u' && n < 4 && i + 1 < written.len; n++) {
				const char *d = strchr(digits, written.ptr[++i] | 0x20);

				code = code << 4 | (d ? (unsigned int)(d - digits) : 0);
			}
			c = c == 'u' ? (char)(code > 0 && code < 0x80 ? code : '?') : c;
		}
		buf_put_char(into, c);
	}
}

/* What follows "file:" or a similar word; NULL: the text does not begin with one. */
static const char *linked_behind(const char *text)
{
	static const char *const before[] = {"file:", "link:", "portal:", "workspace:"};
	const char *rest = NULL;

	for (size_t i = 0; !rest && i < BAWN_ARRAY_SIZE(before); i++)
		rest = str_after(text, before[i]);
	while (rest && rest[0] == '/' && rest[1] == '/')
		rest++;
	return rest;
}

static bool linked_is_address(const char *text)
{
	return strstr(text, "://") != NULL;
}

static int linked_read_json(struct hold_judge *j, const char *dir, struct span text)
{
	_cleanup_buf_ struct buf value = BUF_INIT(PATH_MAX);
	struct json_walk w = {.left = text, .relaxed = true};
	enum json_walk_token t;
	int r = 0;

	if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0)
		w.left = span_skip(text, 3);
	while (r == 0 && !hold_is_late_soon(j) && (t = json_walk_next(&w)) > JSON_WALK_END) {
		if (t != JSON_WALK_STRING || w.text.len >= PATH_MAX ||
		    !memchr(w.text.ptr, '/', w.text.len))
			continue;
		buf_clear(&value);
		linked_decode(w.text, &value);
		const char *said = buf_str(&value), *behind = linked_behind(said);

		if (behind)
			r = linked_add_named(j, dir, behind);
		else if (!linked_is_address(said))
			r = linked_add_named(j, dir, said);
	}
	return r;
}

/* In text that is not JSON: adds what follows "file:", "link:" or "portal:". */
static int linked_read_text(struct hold_judge *j, const char *dir, struct span text)
{
	char said[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < text.len && !hold_is_late_soon(j); i++) {
		const uint8_t *at = memchr(text.ptr + i, ':', text.len - i);
		size_t len = 0;

		if (!at)
			break;
		i = (size_t)(at - text.ptr);
		if (i < 4 || (memcmp(at - 4, "file", 4) != 0 && memcmp(at - 4, "link", 4) != 0 &&
			      (i < 6 || memcmp(at - 6, "portal", 6) != 0)))
			continue;
		while (i + 1 + len < text.len && len < sizeof(said) - 1 &&
		       !strchr("\"',(){}[]#: \t\r\n", text.ptr[i + 1 + len]))
			len++;
		memcpy(said, at + 1, len);
		said[len] = '\0';
		if (len > 0)
			r = linked_add_named(j, dir, said);
	}
	return r;
}

static int linked_read(struct hold_judge *j, const char *path, const char *dir)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LINKED_FILE_MAX);

	if (!path || !dir)
		return hold_no_memory(j);
	if (hold_read_path(j->view, path, LINKED_FILE_MAX, &text) < 0)
		return 0;
	return str_ends_with(path, ".json") ? linked_read_json(j, dir, buf_span(&text))
					    : linked_read_text(j, dir, buf_span(&text));
}

bool hold_takes_from_modules(struct hold_judge *j, const char *path, struct span written)
{
	_cleanup_buf_ struct buf value = BUF_INIT(PATH_MAX);
	char dir[PATH_MAX], to[PATH_MAX], leads[PATH_MAX];

	/* Without its quotes, and without what is between it and its key. */
	while (written.len > 0 && strchr(": \t\r\n\"", written.ptr[0]))
		written = span_skip(written, 1);
	while (written.len > 0 && strchr(" \t\r\n\"", written.ptr[written.len - 1]))
		written.len--;
	if (written.len == 0 || written.len >= PATH_MAX || !memchr(written.ptr, '/', written.len))
		return false;
	linked_decode(written, &value);
	const char *said = buf_str(&value), *behind = linked_behind(said);

	if ((!behind && linked_is_address(said)) || hold_parent(path, dir) < 0 ||
	    hold_resolve(j, dir, behind ? behind : said, to) < 0)
		return false;
	return hold_is_in_modules(hold_leads_in(j, j->view, to, leads) ? leads : to);
}

/* --- around a folder node_modules ---------------------------------------------------------------- */

struct linked_folder {
	struct hold_judge *j;
	const char *path;
	bool scope;
};

static int linked_look_entry(void *context, const char *name)
{
	const struct linked_folder *f = context;
	struct hold_judge *j = f->j;
	const char *path = hold_join(j, f->path, name);
	unsigned int type = hold_type(j->view, path);
	struct linked_folder in = {j, path, true};
	char leads[PATH_MAX];
	int r = path ? 0 : hold_no_memory(j);

	if (r < 0 || j->linked->listed++ >= LINKED_LIST_MAX || hold_is_late_soon(j))
		return r;
	if (type == OBJECT_LINK && hold_leads_in(j, j->view, path, leads))
		r = linked_add(j, leads);
	else if (type == OBJECT_DIR && *name == '@' && !f->scope)
		r = view_list(j->view, path, linked_look_entry, &in);
	return r;
}

static int linked_look_around(struct hold_judge *j, const char *modules)
{
	static const char *const files[] = {
		"package.json", "package-lock.json", "npm-shrinkwrap.json",
		"yarn.lock",    "pnpm-lock.yaml",    "pnpm-workspace.yaml",
		"bun.lock"};
	struct linked_folder f = {j, modules, false};
	char dir[PATH_MAX];
	int r = view_list(j->view, modules, linked_look_entry, &f);

	r = r < 0 && j->error->code == 0 ? 0 : r;
	if (r < 0 || hold_parent(modules, dir) < 0)
		return r;
	r = linked_read(j, hold_join(j, modules, ".package-lock.json"), dir);
	/* If a folder was read, those above it were, too. */
	for (bool top = false;
	     r == 0 && !top && !linked_set_has(j->linked->folders, dir, strlen(dir));) {
		top = !*dir;
		r = linked_set_put(j, j->linked->folders, dir);
		for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(files); i++)
			r = linked_read(j, hold_join(j, dir, files[i]), dir);
		if (!top && hold_parent(arena_str(&j->arena, dir), dir) < 0)
			break;
	}
	return r;
}

int hold_look_linked(struct hold_judge *j)
{
	char dir[PATH_MAX], leads[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < j->changes->count && !hold_is_late_soon(j); i++) {
		const struct change *c = &j->changes->items[i];
		size_t len = c->git ? 0 : hold_modules_len(c->path);

		if (len == 0 || c->after.type == OBJECT_ABSENT)
			continue;
		if (!j->linked) {
			j->linked = arena_alloc(&j->arena, sizeof(*j->linked));
			if (!j->linked)
				return hold_no_memory(j);
			*j->linked = (struct hold_linked){.seen = NULL};
		}
		const char *seen = j->linked->seen;

		if (!seen || strlen(seen) != len || memcmp(seen, c->path, len) != 0) {
			j->linked->seen = arena_strn(&j->arena, c->path, len);
			r = j->linked->seen ? linked_look_around(j, j->linked->seen)
					    : hold_no_memory(j);
		}
		if (r == 0 && c->after.type == OBJECT_LINK &&
		    hold_leads_in(j, j->view, c->path, leads))
			r = linked_add(j, leads);
	}
	/* A package.json elsewhere counts only if there is a node_modules. */
	for (size_t i = 0; r == 0 && j->linked && i < j->changes->count && !hold_is_late_soon(j);
	     i++) {
		const struct change *c = &j->changes->items[i];

		if (c->after.type == OBJECT_FILE && !c->git &&
		    (str_ends_with(c->path, "/package.json") ||
		     str_equal(c->path, "package.json")) &&
		    hold_parent(c->path, dir) == 0)
			r = linked_read(j, c->path, dir);
	}
	return r;
}

/*
 * --- what counts --------------------------------------------------------------------------------
 */

bool hold_is_linked(const struct hold_judge *j, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash &&
	       (str_equal(slash + 1, "package.json") || str_equal(slash + 1, "binding.gyp")) &&
	       j->linked && linked_set_has(j->linked->buckets, path, (size_t)(slash - path));
}

bool hold_is_lax(const struct hold_judge *j, const char *path)
{
	return hold_is_in_modules(path) && !hold_is_linked(j, path);
}
