/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packages that lie in the workspace.  `npm ci` takes what the lock file says: an entry that leads
 * to file:vendor/a.tgz is unpacked, and its install scripts run, though package.json says nothing
 * of it.  Nobody reads an archive in a diff.  So a lock file that newly names one is held, and so
 * is the archive, also when it changes under a name that the user's own files have.  pip, bundle
 * and their like run code of an archive as well.
 *
 * A folder is not held by this: its files are there to be read, and rules judge them (package.json,
 * setup.py).  A lock file of Python, Ruby or PHP that newly names a folder is flagged.
 *
 * We parse no format.  We cut the text into words, and a word is local when it has "file:" before
 * it or the end of an archive, and is no address.
 */
#include "hold_parts.h"

#include "str.h"

#include <stdio.h>
#include <strings.h>

enum { ARCHIVE_SAID_MAX = 1024, ARCHIVE_TEXT_MAX = 64 << 20, ARCHIVE_WORD_MAX = 1024 };

/* How a lock file is written. */
enum archive_form {
	ARCHIVE_NODE,
	ARCHIVE_PIP,   /* a line is a package or an option */
	ARCHIVE_OTHER, /* only paths count: poetry.lock has the names of all archives */
};

struct archive_words {
	struct span text;
	enum archive_form form;
	size_t at;
	char word[ARCHIVE_WORD_MAX], before[64];
};

struct archive_said {
	const char *path;
	enum hold_level level;
};

struct archive_set {
	struct archive_said items[ARCHIVE_SAID_MAX];
	size_t count;
	bool full;
};

static bool archive_is_archive(const char *name)
{
	static const char *const ends[] = {".tgz",    ".tar.gz",  ".tar", ".tar.bz2", ".tbz2",
					   ".tar.xz", ".txz",     ".zip", ".whl",     ".egg",
					   ".gem",    ".tar.zst", ".phar"};
	size_t len = strlen(name);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ends); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && strcasecmp(name + len - end, ends[i]) == 0)
			return true;
	}
	return false;
}

static const char *archive_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static enum archive_form archive_form_of(const char *path)
{
	static const char *const node[] = {"package.json",        "package-lock.json", "yarn.lock",
					   "npm-shrinkwrap.json", "pnpm-lock.yaml",    "bun.lock"};
	const char *last = archive_last(path);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(node); i++)
		if (strcasecmp(last, node[i]) == 0)
			return ARCHIVE_NODE;
	return str_ends_with(last, ".txt") ? ARCHIVE_PIP : ARCHIVE_OTHER;
}

/* --- words ------------------------------------------------------------------------------------ */

/* The letter that an escape (backslash and u, or a percent sign) of these digits stands for. */
static size_t archive_escape(struct span text, size_t at, size_t digits, char *into)
{
	static const char all[] = "0123456789abcdef";
	unsigned int code = 0;

	for (size_t i = 0; i < digits; i++) {
		uint8_t c = at + i < text.len ? text.ptr[at + i] : 0;
		const char *d = c ? strchr(all, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;

		if (!d)
			return 0;
		code = code << 4 | (unsigned int)(d - all);
	}
	*into = (char)(code > ' ' && code < 0x7f ? code : '?');
	return digits;
}

/* Reads one word, with its escapes decoded.  In a text of pip a comment is none. */
static bool archive_word(struct archive_words *w)
{
	static const char between[] = " \t\r\n\"'`,{}()[]#;<>=?";
	size_t len = 0;

	while (w->at < w->text.len &&
	       (!w->text.ptr[w->at] || strchr(between, w->text.ptr[w->at]))) {
		bool remark = w->form == ARCHIVE_PIP && w->text.ptr[w->at] == '#';

		while (remark && w->at < w->text.len && w->text.ptr[w->at] != '\n')
			w->at++;
		w->at += w->at < w->text.len;
	}
	if (w->at >= w->text.len)
		return false;
	while (w->at < w->text.len && w->text.ptr[w->at] && !strchr(between, w->text.ptr[w->at])) {
		char c = (char)w->text.ptr[w->at++];
		size_t skip = 0;

		if (c == '\\' && w->at < w->text.len) {
			c = (char)w->text.ptr[w->at++];
			if (c == 'u')
				skip = archive_escape(w->text, w->at, 4, &c);
		} else if (c == '%') {
			skip = archive_escape(w->text, w->at, 2, &c);
		}
		w->at += skip;
		if (len < sizeof(w->word) - 1)
			w->word[len++] = c;
	}
	while (len > 1 && w->word[len - 1] == ':')
		len--;
	w->word[len] = '\0';
	/* yarn: vendor/a.tgz::hash */
	char *more = strstr(w->word, "::");

	if (more && more > w->word)
		*more = '\0';
	return true;
}

/* The next word that is not a colon alone. */
static bool archive_next(struct archive_words *w)
{
	(void)snprintf(w->before, sizeof(w->before), "%.63s", w->word);
	while (archive_word(w))
		if (!str_equal(w->word, ":"))
			return true;
	return false;
}

static bool archive_is_before(const struct archive_words *w, const char *const *names)
{
	while (*names && !str_equal(*names, w->before))
		names++;
	return *names;
}

/* What follows "file:" and its like; NULL: the word has none. */
static const char *archive_behind(const char *word)
{
	static const char *const leads[] = {"file:", "link:", "portal:"};
	const char *rest = NULL;

	for (size_t i = 0; !rest && i < BAWN_ARRAY_SIZE(leads); i++) {
		rest = strcasestr(word, leads[i]);
		rest = rest ? rest + strlen(leads[i]) : NULL;
	}
	while (rest && rest[0] == '/' && rest[1] == '/')
		rest++;
	return rest;
}

/* How much the word weighs; *ret: the path that it names. */
static enum hold_level archive_weigh(struct hold_judge *j, const char *dir,
				     const struct archive_words *w, const char **ret)
{
	static const char *const paths[] = {"path", "url", NULL};
	static const char *const resolved[] = {"resolved", "tarball", NULL};
	static const char *const folders[] = {"path", "editable",   "directory",    "remote", "-e",
					      "-f",   "--editable", "--find-links", NULL};
	const char *behind = archive_behind(w->word), *word = w->word;
	char path[PATH_MAX];

	if (w->form == ARCHIVE_PIP && word[0] == '-' && (word[1] == 'e' || word[1] == 'f') &&
	    word[2])
		word += 2;
	*ret = behind ? behind : word;
	if (!behind && strstr(word, "://"))
		return HOLD_NOT;
	if (strstr(word, "git+file:"))
		return HOLD_HOLD;
	if (archive_is_archive(*ret) && (behind || w->form != ARCHIVE_OTHER || strchr(word, '/') ||
					 archive_is_before(w, paths)))
		return HOLD_HOLD;
	unsigned int type = behind && hold_resolve(j, dir, behind, path) == 0
				    ? hold_type(j->view, path)
				    : OBJECT_ABSENT;

	/* What is not there yet can come later. */
	if (behind &&
	    (type == OBJECT_FILE ||
	     (type != OBJECT_DIR && archive_is_before(w, resolved) && strcasestr(word, "file:"))))
		return HOLD_HOLD;
	if (w->form == ARCHIVE_NODE)
		return HOLD_NOT;
	/* pip takes archives from there. */
	if (w->form == ARCHIVE_PIP &&
	    (str_equal(w->before, "-f") || str_equal(w->before, "--find-links") ||
	     (word != w->word && w->word[1] == 'f')))
		return HOLD_HOLD;
	if (str_equal(word, ".") || str_equal(word, "./"))
		return HOLD_NOT;
	/* "type": "path" of composer, type = "directory" of poetry */
	if (str_equal(w->before, "type"))
		return str_equal(word, "path") || str_equal(word, "directory") ? HOLD_FLAG
									       : HOLD_NOT;
	return behind || archive_is_before(w, folders) || word != w->word ||
			       (w->form == ARCHIVE_PIP &&
				(word[0] == '/' || (word[0] == '.' && strchr(word, '/'))))
		       ? HOLD_FLAG
		       : HOLD_NOT;
}

/* The local packages that a text names. */
static int archive_read(struct hold_judge *j, const char *dir, struct span text,
			enum archive_form form, struct archive_set *s)
{
	struct archive_words w = {.text = text, .form = form};
	const char *path;

	while (!s->full && !hold_is_late_soon(j) && archive_next(&w)) {
		enum hold_level level = archive_weigh(j, dir, &w, &path);

		if (level == HOLD_NOT)
			continue;
		if (s->count == ARCHIVE_SAID_MAX) {
			s->full = true;
			break;
		}
		s->items[s->count] = (struct archive_said){arena_str(&j->arena, path), level};
		if (!s->items[s->count++].path)
			return hold_no_memory(j);
	}
	return 0;
}

/* --- lock files ------------------------------------------------------------------------------- */

static bool archive_had(const struct archive_set *s, const struct archive_said *one)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i].level >= one->level && str_equal(s->items[i].path, one->path))
			return true;
	return false;
}

int hold_by_archives(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	_cleanup_free_ struct archive_set *had = calloc(1, sizeof(*had));
	_cleanup_free_ struct archive_set *has = calloc(1, sizeof(*has));
	enum archive_form form = archive_form_of(c->path);
	const struct archive_said *told = NULL;
	char dir[PATH_MAX];

	/* The archive itself. */
	if (archive_is_archive(c->path))
		return 0;
	int r = hold_read_both(j, c, v);

	/* One that was too large before is flagged by its hosts. */
	if (r > 0 && c->before.type == OBJECT_FILE && c->before.size > HOLD_READ_MAX)
		v->most = HOLD_FLAG;
	if (r != 0)
		return r < 0 ? r : 0;
	if (!had || !has)
		return hold_no_memory(j);
	if (hold_parent(c->path, dir) < 0)
		return 0;
	r = archive_read(j, dir, buf_span(&j->old), form, had);
	if (r == 0)
		r = archive_read(j, dir, buf_span(&j->after), form, has);
	for (size_t i = 0; r == 0 && i < has->count; i++) {
		const struct archive_said *one = &has->items[i];

		if (!archive_had(had, one) && (!told || one->level > told->level))
			told = one;
	}
	if (r < 0)
		return r;
	if (has->full)
		return hold_say(j, v, "it names more packages of this folder than can be told");
	v->most = told ? told->level : HOLD_NOT;
	return !told ? 0
	       : told->level == HOLD_HOLD
		       ? hold_say(
				 j, v,
				 "the next install would unpack an archive of this folder, and run "
				 "its scripts: %.*s",
				 HOLD_WORD_MAX, told->path)
		       : hold_say(j, v,
				  "the next install would take a package from your folder: %.*s",
				  HOLD_WORD_MAX, told->path);
}

/* One of the archives that are named from the folder `dir` is this one. */
static bool archive_is_of(struct hold_judge *j, const struct archive_set *s, const char *dir,
			  const char *archive)
{
	char at[PATH_MAX];

	for (size_t i = 0; i < s->count; i++)
		if (hold_resolve(j, dir, s->items[i].path, at) == 0 && str_equal(at, archive))
			return true;
	return false;
}

bool hold_archives_are_of(struct hold_judge *j, const char *lock, const char *package)
{
	/* Of the lock file before and after, and of package.json. */
	_cleanup_free_ struct archive_set *s = calloc(3, sizeof(*s));
	const struct {
		const struct view *view;
		const char *path;
	} files[] = {{&j->before, lock}, {j->view, lock}, {j->view, package}};
	char dir[PATH_MAX], at[PATH_MAX];

	for (size_t i = 0; s && i < BAWN_ARRAY_SIZE(files); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(0);

		if (hold_parent(files[i].path, dir) < 0 ||
		    (hold_read_path(files[i].view, files[i].path, HOLD_READ_MAX, &text) < 0 &&
		     i > 0) ||
		    archive_read(j, dir, buf_span(&text), ARCHIVE_NODE, &s[i]) < 0 || s[i].full)
			return false;
	}
	if (!s || hold_parent(lock, at) < 0)
		return false;
	const char *of_lock = arena_str(&j->arena, at);

	for (size_t i = 0; of_lock && i < s[1].count; i++) {
		const struct archive_said *one = &s[1].items[i];
		bool here = hold_resolve(j, of_lock, one->path, at) == 0 &&
			    hold_type(j->view, at) != OBJECT_ABSENT;

		/* npm writes the words of package.json as they are, too: they begin at its folder. */
		if (!archive_had(&s[0], one) &&
		    (here ? !archive_is_of(j, &s[2], dir, at) : !archive_had(&s[2], one)))
			return false;
	}
	return of_lock;
}

bool hold_takes_archive(struct hold_judge *j, const char *path, struct span written)
{
	struct archive_words w = {.text = written, .form = ARCHIVE_NODE};
	const char *said;
	char dir[PATH_MAX];

	if (hold_parent(path, dir) < 0)
		return false;
	while (archive_next(&w))
		if (archive_weigh(j, dir, &w, &said) == HOLD_HOLD)
			return true;
	return false;
}

/* --- the archives ------------------------------------------------------------------------------ */

static bool archive_is_lock(const char *path)
{
	static const char *const names[] = {"poetry.lock",     "pdm.lock",     "uv.lock",
					    "pylock.toml",     "gemfile.lock", "composer.lock",
					    "requirements.txt"};
	const char *last = archive_last(path);

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		if (strcasecmp(last, names[i]) == 0)
			return true;
	return archive_form_of(path) == ARCHIVE_NODE;
}

/* Adds the archives that this file names, as it was or as it is. */
static int archive_follow(struct hold_judge *j, const struct view *v, const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	char dir[PATH_MAX], at[PATH_MAX];

	if (!path)
		return hold_no_memory(j);
	if (hold_is_in_modules(path) || hold_parent(path, dir) < 0 ||
	    hold_read_path(v, path, ARCHIVE_TEXT_MAX, &text) < 0)
		return 0;
	_cleanup_free_ struct archive_set *s = calloc(1, sizeof(*s));
	int r = s ? archive_read(j, dir, buf_span(&text), archive_form_of(path), s)
		  : hold_no_memory(j);

	for (size_t i = 0; s && r >= 0 && i < s->count; i++) {
		const struct hold_name n = {.path = at,
					    .what = "the next install would unpack it, and run its "
						    "scripts",
					    .by = path,
					    .row = hold_row_of("local-packages"),
					    .most = HOLD_HOLD};

		if (s->items[i].level == HOLD_HOLD &&
		    hold_resolve(j, dir, s->items[i].path, at) == 0 && *at)
			r = hold_name_add(j, &n);
	}
	return r < 0 ? r : 0;
}

/* Looks at all files of this folder that can name an archive. */
static int archive_look_in(struct hold_judge *j, const char *dir)
{
	static const char *const files[] = {
		"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock",
		"bun.lock",     "pnpm-lock.yaml",    "requirements.txt",    "poetry.lock",
		"uv.lock",      "pdm.lock",          "composer.lock",       "Gemfile.lock"};
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(files); i++)
		r = archive_follow(j, &j->before, hold_join(j, dir, files[i]));
	return r;
}

int hold_look_archives(struct hold_judge *j)
{
	char dir[PATH_MAX], last[PATH_MAX] = "/";
	bool any = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < j->changes->count && !hold_is_late_soon(j); i++) {
		const struct change *c = &j->changes->items[i];

		if (c->after.type == OBJECT_ABSENT || hold_is_in_modules(c->path) ||
		    !archive_is_archive(c->path) || hold_parent(c->path, dir) < 0)
			continue;
		if (!any)
			r = archive_look_in(j, "");
		any = true;
		/* Changes of one folder are next to each other. */
		if (str_equal(dir, last))
			continue;
		(void)snprintf(last, sizeof(last), "%s", dir);
		while (r == 0 && *dir) {
			const char *at = arena_str(&j->arena, dir);

			r = at ? archive_look_in(j, at) : hold_no_memory(j);
			if (r == 0 && hold_parent(at, dir) < 0)
				break;
		}
	}
	for (size_t i = 0; r == 0 && any && i < j->changes->count && !hold_is_late_soon(j); i++)
		if (j->changes->items[i].after.type == OBJECT_FILE &&
		    archive_is_lock(j->changes->items[i].path))
			r = archive_follow(j, j->view, j->changes->items[i].path);
	return r;
}
