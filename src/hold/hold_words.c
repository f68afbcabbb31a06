/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a hook, a script or a settings file, and the files that they name: each becomes a
 * name (hold_names.c), whether it changed or not.
 *
 * We parse no language.  A word is what is between blanks, quotes and similar signs.  It has a key
 * (`run:`, `"args":`, `linker =`) and a word before it.  By these we know what a word means that is
 * not a path by itself:
 *
 *	python3 -m a.b		a/b.py, a/b/__main__.py, a/b/__init__.py, a/__init__.py
 *	import a.b, c, from a import b, pytest -p a.b	the same
 *	python3 a		a/__main__.py
 *	perl -MA::B, use A::B	A/B.pm
 *	node -r ./a, ruby -r a	a.js, a/index.js, a.rb and their like
 *	go run ./a		all that is in the folder
 *	cwd: a, cd a, -C a, -Ia	a folder that the other words of the text are looked for in, too
 *	cd "$A", $A/b, more folders than are noted	a folder that is not known: files that have the
 *				last name of a word that can be run count wherever they are
 *	os.chdir(a), path.join(a, "b"), sys.path	the same, of code: its strings can all be run
 *	$A.sh			each other word with this end
 *	tools/$A		any file there, where it is run; else those that other words name
 *	for a in tools/x*.sh	what matches
 *	extends: [a.yml]	more settings: held like those that name them, and read as well
 *	uses: ./a		all that is in the folder
 *	git show :a		the file a
 *
 * A quoted blank (`"my scripts/x"`, `my\ scripts/x`) is one of the word's letters: we go through
 * the text a second time for such words only.
 */
#include "hold_word.h"

#include "fd.h"
#include "git_place.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { WORDS_DIRS_MAX = 16, WORDS_ENDINGS_MAX = 8 };

struct following {
	struct hold_judge *j;
	const struct hold_naming *naming;
	const char *by;
	const char *dirs[WORDS_DIRS_MAX];
	size_t dir_count;
	size_t own_count; /* how many of them it does not change to */
	bool lists;       /* its code lists a folder */
	bool anywhere;    /* we do not know one of its folders */
	bool code;        /* because its code computes the folder */
	bool unquoted;    /* one of the folders may be a variable of the code */
	bool programs;    /* we do not know a folder of PATH */
	const char *endings[WORDS_ENDINGS_MAX]; /* ends of names that begin with a variable */
	size_t ending_count;
	bool file;                  /* they are the words of a file, not of a setting */
	bool node;                  /* its words can be programs of node_modules/.bin */
	bool tails;                 /* the word that we look at can be in any folder */
	const char *script;         /* the script of package.json that has it; NULL: none */
	struct hold_includes *more; /* NULL: settings that it names are not read */
	unsigned int row;
	struct words words;
	struct buf joined; /* the text, with quoted blanks as letters */
};

/* The words before a folder, and keys of one. */
static const char *const words_folder[] = {
	"cwd",      "--cwd",     "--directory",
	"-C",       "cd",        "pushd",
	"root",     "dir",       "--dir",
	"--chdir",  "workdir",   "working-directory",
	"--prefix", "--project", "workingdirectory",
	"-I",       "-Mlib",     "pythonpath",
	"rubylib",  "perl5lib",  "node-path",
	NULL,
};
/* Commands and flags whose argument is the folder in which something runs; below, such keys. */
static const char *const words_goes[] = {
	"cd",    "pushd",   "chdir",    "-C",    "--directory",
	"--cwd", "--chdir", "--prefix", "--dir", "--working-directory",
	NULL,
};
static const char *const words_goes_by_key[] = {
	"cwd", "workdir", "working-directory", "workingdirectory", NULL,
};
/* Words before a module of Python, besides -m, import and from. */
static const char *const words_modules[] = {
	"-p", /* pytest's plugins */
	"unittest",
	"__import__",
	"import_module",
	"importlib.import_module",
	"run_module",
	"runpy.run_module",
	NULL,
};
/* Ends of files that nobody runs. */
static const char *const words_texts[] = {".md", ".rst", ".txt", ".log", ".lock", ".adoc"};
static const char *const words_load[] = {
	"node", "-r",  "--require", "--import", "--loader", "--experimental-loader",
	"bun",  "tsx", "ts-node",   "require",  "preload",  NULL,
};
static const char *const words_loaded[] = {
	".js", ".cjs", ".mjs", ".ts", ".rb", "/index.js", "/index.cjs", "/index.mjs", "/index.ts",
};
static const char *const words_settings[] = {
	".yml", ".yaml", ".json", ".jsonc", ".toml", ".bazelrc",
};

static bool words_said(const struct words *w, const char *const *names)
{
	return hold_word_has(names, w->key) || hold_word_has(names, w->before);
}

/* --- what they name --------------------------------------------------------------------- */

/* The file can be code: by its end, or because it has none. */
static bool words_is_code(const char *path)
{
	static const char *const ends[] = {".js",  ".cjs",  ".mjs", ".ts",  ".cts", ".mts", ".jsx",
					   ".tsx", ".sh",   ".py",  ".rb",  ".pl",  ".php", ".lua",
					   ".ps1", ".bash", ".bat", ".cmd", ".node"};
	const char *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ends); i++)
		if (str_ends_with(last, ends[i]))
			return true;
	return *last && !strchr(last + 1, '.');
}

static int words_put(struct following *f, const char *path, bool settings, enum hold_name_kind kind)
{
	if (f->naming->code && (!words_is_code(path) || hold_is_in_modules(path) || git_rest(path)))
		return 0;
	const struct hold_name n = {.path = path,
				    .kind = kind,
				    .what = f->naming->what,
				    .by = f->by,
				    .script = f->script,
				    .row = f->row,
				    .most = f->naming->quiet               ? HOLD_NOT
					    : f->naming->flag && !settings ? HOLD_FLAG
									   : HOLD_HOLD,
				    .plain = f->naming->plain && !settings};

	return hold_name_add(f->j, &n);
}

/* Adds a folder, with all that is in it. */
static int words_place(struct following *f, const char *path)
{
	const struct hold_place *before = f->j->places;
	char all[PATH_MAX + 4];

	/* What a script names is held only where something runs that script. */
	if (f->script) {
		(void)snprintf(all, sizeof(all), "%s/**", path);
		return words_put(f, all, false, HOLD_NAME_PATTERN) < 0 ? hold_no_memory(f->j) : 0;
	}
	int r = hold_place_add(f->j, path, f->naming->rule, "%s: %.150s names it", f->naming->what,
			       f->by);

	for (struct hold_place *p = f->j->places; f->naming->flag && p != before; p = p->next)
		p->most = HOLD_FLAG;
	return r;
}

/* Adds a file of this name in a folder that we do not know.  For names that every package has, the
 * folder above counts, too.  1: it is there already. */
static int words_try_tail(struct following *f, const char *name)
{
	static const char *const common[] = {"__init__.py", "__main__.py", "index.js",
					     "index.cjs",   "index.mjs",   "index.ts"};
	const char *last = strrchr(name, '/');
	bool is_common = false;

	last = last ? last + 1 : name;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(common); i++)
		is_common = is_common || str_equal(last, common[i]);
	if (is_common && last > name + 1)
		for (last--; last > name && last[-1] != '/'; last--)
			continue;
	if (!*last || str_equal(last, ".") || str_equal(last, ".."))
		return 0;
	const struct hold_name n = {.path = last,
				    .kind = HOLD_NAME_TAIL,
				    .what = f->naming->what,
				    .by = f->by,
				    .row = f->row,
				    .most = HOLD_HOLD,
				    .plain = true};

	return hold_name_add(f->j, &n);
}

/* Adds a file of this name, and what it leads to. */
static int words_try(struct following *f, const char *dir, const char *name, bool settings)
{
	char path[PATH_MAX], leads[PATH_MAX];
	int r = f->tails ? words_try_tail(f, name) : 0;

	if (r < 0 || hold_resolve(f->j, dir, name, path) < 0 || !*path)
		return r < 0 ? r : 0;
	r = words_put(f, path, settings, HOLD_NAME_FILE);

	if (r == 0 && hold_leads(f->j, path, leads))
		r = words_put(f, leads, settings, HOLD_NAME_FILE);
	return r < 0 ? r : 0;
}

/* python3 -m a.b: adds what runs, and the packages that Python loads before it. */
static int words_module(struct following *f, const char *dir, const char *module)
{
	char at[PATH_MAX], file[PATH_MAX + 16];
	size_t len = strlen(module);
	int r = 0;

	for (size_t i = 0; r == 0 && i <= len; i++) {
		at[i] = module[i] == '.' ? '/' : module[i];
		if (at[i] && at[i] != '/')
			continue;
		(void)snprintf(file, sizeof(file), "%.*s/__init__.py", (int)i, at);
		r = words_try(f, dir, file, false);
	}
	(void)snprintf(file, sizeof(file), "%s.py", at);
	if (r == 0)
		r = words_try(f, dir, file, false);
	(void)snprintf(file, sizeof(file), "%s/__main__.py", at);
	return r < 0 ? r : words_try(f, dir, file, false);
}

/* node a, where a is a package: adds what its package.json says that it runs. */
static int words_main(struct following *f, const char *dir, const char *name)
{
	char folder[PATH_MAX], file[PATH_MAX + 16];
	_cleanup_buf_ struct buf said = BUF_INIT(HOLD_READ_MAX);
	int r = hold_resolve(f->j, dir, name, folder) < 0 ? 0
							  : hold_package_main(f->j, folder, &said);

	for (size_t at = 0; r == 0 && at < said.len; at += strlen(said.ptr + at) + 1) {
		const char *main = said.ptr + at;

		if (strlen(main) >= PATH_MAX)
			continue;
		r = words_try(f, folder, main, false);
		for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(words_loaded); i++) {
			(void)snprintf(file, sizeof(file), "%s%s", main, words_loaded[i]);
			r = words_try(f, folder, file, false);
		}
	}
	return r;
}

/* node -r ./a: adds files whose names have more letters. */
static int words_loads(struct following *f, const char *dir, const char *name)
{
	char file[PATH_MAX + 16];
	int r = 0;

	if (hold_resolve(f->j, dir, name, file) == 0 &&
	    hold_type(&f->j->before, file) == OBJECT_FILE)
		return 0;
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(words_loaded); i++) {
		(void)snprintf(file, sizeof(file), "%s%s", name, words_loaded[i]);
		r = words_try(f, dir, file, false);
	}
	return r < 0 ? r : words_main(f, dir, name);
}

/* Adds more settings.  A pattern may name them. */
static int words_more(struct following *f, const char *dir, const char *name)
{
	struct hold_judge *j = f->j;
	char path[PATH_MAX];
	int r = words_try(f, dir, name, true);

	if (r < 0 || hold_resolve(j, dir, name, path) < 0 || !*path)
		return r;
	if (strchr(path, '*'))
		r = words_put(f, path, true, HOLD_NAME_PATTERN);
	/* 1: it is there already. */
	r = r > 0 ? 0 : r;
	return r < 0 || !f->more || hold_type(&j->before, path) != OBJECT_FILE
		       ? r
		       : hold_includes_add(j, f->more, path);
}

static bool words_is_folder(const struct hold_judge *j, const char *path)
{
	return *path && (hold_type(&j->before, path) == OBJECT_DIR ||
			 hold_type(j->view, path) == OBJECT_DIR);
}

/* perl -MA::B */
static int words_perl(struct following *f, const char *dir, const char *name)
{
	char file[PATH_MAX + 4];
	size_t len = 0;

	for (; *name && len < PATH_MAX - 1; name++) {
		bool colons = name[0] == ':' && name[1] == ':';

		file[len++] = (char)(colons ? '/' : *name);
		name += colons;
	}
	(void)snprintf(file + len, sizeof(file) - len, ".pm");
	return words_try(f, dir, file, false);
}

/* Adds what a word means after the words before it, from one folder. */
static int words_meant(struct following *f, const struct words *w, const char *dir,
		       const char *name)
{
	size_t flag = strlen(w->before);
	bool import = str_equal(w->before, "import");
	bool module = (flag > 1 && flag < 5 && w->before[0] == '-' && w->before[1] != '-' &&
		       w->before[flag - 1] == 'm') ||
		      import || str_equal(w->before, "from") ||
		      hold_word_has(words_modules, w->before);
	const char *attached = str_after(name, "-m"), *loaded = str_after(name, "-r");
	bool loads = words_said(w, words_load) || str_after(name, "./") || str_after(name, "../") ||
		     (str_equal(name, ".") && !w->go) || str_ends_with(w->before, "fork") ||
		     ((f->code || w->glued) && hold_code_loads(w->text, w->start));
	char whole[PATH_MAX + HOLD_WORD_NAME_MAX + 16];
	int r = 0;

	if (module || attached)
		r = words_module(f, dir, attached ? attached : name);
	if (r == 0 && import && w->from[0]) {
		(void)snprintf(whole, PATH_MAX, "%s.%s", w->from, name);
		r = words_module(f, dir, whole);
	}
	if (r == 0 && w->python) {
		(void)snprintf(whole, sizeof(whole), "%s/__main__.py", name);
		r = words_try(f, dir, whole, false);
	}
	if (r == 0 && (str_after(name, "-M") || attached))
		r = words_perl(f, dir, name + 2);
	if (r == 0 && hold_word_is_perl(w->before))
		r = words_perl(f, dir, name);
	if (r == 0 && (loads || loaded))
		r = words_loads(f, dir, loaded ? loaded : name);
	return r;
}

static bool words_is_near(const char *name)
{
	return str_after(name, "./") || str_after(name, "../");
}

/* for a in tools/x*.sh; do; sh tools/x? */
static bool words_is_pattern(const struct following *f, const struct words *w, const char *name)
{
	const char *program = strrchr(w->before, '/');

	program = program ? program + 1 : w->before;
	if (f->naming->flag || f->naming->keys || f->naming->lead || !strpbrk(name, "*?["))
		return false;
	return hold_word_has(f->naming->patterns, w->key) ||
	       (strchr(name, '/') &&
		(str_equal(w->before, "in") || hold_word_is_runner(program) ||
		 str_after(program, "python") || str_after(w->before, "run-parts")));
}

/* Adds a shell's pattern: what the pattern leaves open matches any part of a name. */
static int words_match(struct following *f, const char *path)
{
	char pattern[PATH_MAX];
	size_t len = 0;

	for (; *path; path++) {
		const char *end = *path == '[' ? strchr(path, ']') : NULL;

		pattern[len++] = (char)(*path == '?' || end ? '*' : *path);
		path = end ? end : path;
	}
	pattern[len] = '\0';
	int r = words_put(f, pattern, false, HOLD_NAME_PATTERN);

	return r < 0 ? r : 0;
}

/* Adds a word in one of its spellings, from each folder. */
static int words_name_in(struct following *f, const struct words *w, const char *name)
{
	const struct hold_naming *n = f->naming;
	bool settings = false;
	int r = 0;

	for (size_t i = 0; words_said(w, n->settings) && i < BAWN_ARRAY_SIZE(words_settings); i++)
		settings = settings || str_ends_with(name, words_settings[i]);
	for (size_t i = 0; r == 0 && i < f->dir_count; i++) {
		char path[PATH_MAX];
		const char *dir = f->dirs[i];
		bool pattern = words_is_pattern(f, w, name);
		bool there = (pattern ? hold_reaches(f->j, dir, name, path)
				      : hold_resolve(f->j, dir, name, path) == 0) &&
			     *path;

		if (settings)
			r = words_more(f, dir, name);
		/* The folder need not be there: a commit may bring it. */
		if (r == 0 && there &&
		    ((words_said(w, n->folders) &&
		      (words_is_near(name) || words_is_folder(f->j, path))) ||
		     (w->go && (words_is_near(name) || str_equal(name, ".") || w->variable))))
			r = words_place(f, path);
		/* go run . at the top */
		if (r == 0 && w->go && str_equal(name, ".") && !*path)
			r = words_match(f, "*.go");
		if (r == 0 && there && pattern)
			r = words_match(f, path);
		if (r == 0 && (!n->keys || words_said(w, n->keys)))
			r = words_try(f, dir, name, false);
		else
			continue;
		if (r == 0 && n->depth && there && f->more &&
		    hold_type(&f->j->before, path) == OBJECT_FILE)
			r = hold_includes_add(f->j, f->more, path);
		if (r == 0)
			r = words_meant(f, w, dir, name);
	}
	return r;
}

/* After a variable the word also counts from its first slash on: $ROOT/scripts/x, "$(git rev-parse
 * --show-toplevel)"/scripts/x, %workspace%/x. */
static const char *words_behind(const struct words *w, const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && (w->variable || slash == name || *name == '%') ? slash + strspn(slash, "/")
								       : NULL;
}

/* The word can be a file that runs: by its folder, by its end or by the word before it. */
static bool words_is_run(const struct words *w)
{
	const char *program = strrchr(w->before, '/');
	const char *slash = strchr(w->bare, '/');

	program = program ? program + 1 : w->before;
	/* Absolute paths, addresses and flags are not names in a folder. */
	if (w->bare[0] == '-' || (*w->bare == '/' && !w->glued) || strstr(w->bare, "://"))
		return false;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words_texts); i++)
		if (str_ends_with(w->bare, words_texts[i]))
			return false;
	return slash || strchr(w->bare + 1, '.') || hold_word_is_runner(program) ||
	       str_after(program, "python") || str_equal(program, "-m");
}

/* The word counts in code that gets to an unknown folder: its strings, and what it imports. */
static bool words_is_run_by_code(const struct words *w)
{
	return w->bare[0] != '-' &&
	       (hold_code_is_string(w->text, w->start, w->start + strlen(w->word)) ||
		str_equal(w->before, "import") || str_equal(w->before, "from") ||
		hold_word_has(words_modules, w->before) || hold_word_is_perl(w->before));
}

/* We do not know the folder before the word.  We know $PWD/x and $HOME/x, and what hold_goes_to
 * knows. */
static bool words_is_behind_unknown(const struct words *w)
{
	if (w->glued)
		return !w->known;
	if (*w->bare == '%' && strchr(w->bare, '/'))
		return true;
	return w->variable && strchr(w->bare, '/') && !str_after(w->bare, "PWD/") &&
	       !str_after(w->bare, "HOME/");
}

/* The word is in a comment. */
static bool words_is_remark(const struct words *w)
{
	size_t at = w->start, most = 400;

	for (; at > 0 && most > 0 && w->text.ptr[at - 1] != '\n'; at--, most--)
		if (w->text.ptr[at - 1] == '#' && (at == 1 || strchr(" \t\n", w->text.ptr[at - 2])))
			return true;
	return false;
}

/* The word can be a program of PATH. */
static bool words_is_program(const struct words *w)
{
	return w->bare[0] != '-' && !w->variable && !strpbrk(w->bare, "/\\*?[]%@:") &&
	       !words_is_remark(w);
}

/* The word is one of a command that runs by itself.  Of a git hook and its settings all words count;
 * of .envrc those of a command that is a tool; of an agent's settings those of a command's key. */
static bool words_is_command(const struct following *f, const struct words *w)
{
	static const char *const keys[] = {"command", "args", "arguments", "cmd",
					   "notify",  "exec", "bash",      NULL};

	if (f->naming->flag || f->row >= hold_row_count)
		return false;
	return hold_rows[f->row].hook ||
	       (f->row == hold_row_of("direnv") && hold_starts_tool(w->text, w->start)) ||
	       (f->row == hold_row_of("agent-settings") && hold_word_has(keys, w->setting));
}

static int words_add_tool(struct following *f, const char *word)
{
	const struct hold_name n = {.path = word,
				    .kind = HOLD_NAME_TOOL,
				    .what = f->naming->what,
				    .by = f->by,
				    .script = f->script,
				    .row = f->script ? hold_row_of("git-hook-folders") : f->row,
				    .most = HOLD_HOLD};
	int r = hold_name_add(f->j, &n);

	return r < 0 ? r : 0;
}

/* npm t, npm restart; npm start in a folder whose package.json has no such script. */
static int words_npm(struct following *f, const struct words *w, const char *word)
{
	const char *const *means = hold_npm_means(word);
	int r = 0;

	if (!means && !str_equal(word, "start"))
		return 0;
	if (!hold_says_npm(w->text, w->start))
		return 0;
	for (; r == 0 && means && *means; means++)
		r = words_add_tool(f, *means);
	for (size_t i = 0; r == 0 && i < f->dir_count && str_ends_with(word, "start"); i++)
		if (f->dirs[i][0] != '/' && !hold_package_starts(f->j, f->dirs[i]))
			r = words_try(f, f->dirs[i], "server.js", false);
	return r;
}

/* Adds the word, without its folder, as a tool that a hook starts, or a script that one may run. */
static int words_tool(struct following *f, const struct words *w)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789._:+-#*";
	const char *slash = strrchr(w->bare, '/');
	const char *last = slash ? slash + 1 : w->bare;
	char word[HOLD_WORD_NAME_MAX];

	if (!f->script && !words_is_command(f, w))
		return 0;
	/* In a string of JSON a quote has a backslash before it. */
	hold_word_name(word, last, strcspn(last, "\\"), false);
	for (char *c = word; *c; c++)
		*c = (char)(*c >= 'A' && *c <= 'Z' ? *c | 0x20 : *c);
	if (!*word || *word == '-' || word[strspn(word, letters)] || words_is_remark(w))
		return 0;
	/* web:lint, web#lint, npm:lint */
	const char *of = word + strcspn(word, ":#");
	int r = words_add_tool(f, word);

	const char *behind = hold_word_behind(word, of);

	if (r == 0 && behind)
		r = words_add_tool(f, behind);
	return r < 0 ? r : words_npm(f, w, word);
}

/* Adds the program of node_modules/.bin in this folder, and what that leads to. */
static int words_node_in(struct following *f, const char *dir, const char *name)
{
	char path[PATH_MAX], leads[PATH_MAX];
	struct hold_name n = {.kind = HOLD_NAME_FILE,
			      .path = path,
			      .what = f->naming->what,
			      .by = f->by,
			      .script = f->script,
			      .row = f->row,
			      .most = f->script ? HOLD_NOT : HOLD_HOLD};

	if (hold_resolve(f->j, dir, name, path) < 0)
		return 0;
	/* There are many scripts, and most of their words are not programs. */
	if (f->script && hold_type(f->j->view, path) == OBJECT_ABSENT &&
	    hold_type(&f->j->before, path) == OBJECT_ABSENT)
		return 0;
	int r = hold_name_add(f->j, &n);

	n.path = leads;
	if (r == 0 && hold_leads(f->j, path, leads))
		r = hold_name_add(f->j, &n);
	return r < 0 ? r : 0;
}

/* Adds the word as a program of node_modules/.bin: a hook runs it, or a script that a hook may run.
 * For a script npm has the folders above in PATH, too. */
static int words_node(struct following *f, const struct words *w)
{
	char name[PATH_MAX + sizeof(HOLD_MODULES_BIN) + 1], at[PATH_MAX];
	int r = 0;

	if (!(f->node || f->script) || !words_is_program(w))
		return 0;
	(void)snprintf(name, sizeof(name), HOLD_MODULES_BIN "/%s", w->bare);
	for (size_t i = 0; r == 0 && i < f->dir_count; i++) {
		r = words_node_in(f, f->dirs[i], name);
		if (!f->script || f->dirs[i][0] == '/' || strlen(f->dirs[i]) >= sizeof(at))
			continue;
		memcpy(at, f->dirs[i], strlen(f->dirs[i]) + 1);
		while (r == 0 && *at) {
			char *slash = strrchr(at, '/');

			*(slash ? slash : at) = '\0';
			r = words_node_in(f, at, name);
		}
	}
	return r;
}

/* npx and similar tools put the folder in PATH for what they run. */
static int words_node_path(struct following *f)
{
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; f->node && r >= 0 && i < f->dir_count; i++) {
		const struct hold_name n = {.kind = HOLD_NAME_PROGRAMS,
					    .path = path,
					    .by = f->by,
					    .row = f->row,
					    .most = HOLD_HOLD,
					    .plain = true};

		if (hold_resolve(f->j, f->dirs[i], HOLD_MODULES_BIN, path) == 0)
			r = hold_name_add(f->j, &n);
	}
	return r < 0 ? r : 0;
}

/* The words that follow belong to this script. */
static int words_script(struct following *f, const struct words *w)
{
	f->script = arena_str(&f->j->arena, w->bare + 1);
	return f->script ? 0 : hold_no_memory(f->j);
}

/* What follows the sign by which instructions take in a file; NULL: the word has none. */
static const char *words_led(char lead, const char *word)
{
	const char *behind = str_after(word, "mdc:");

	behind = behind ? behind : str_after(word, "#[[file:");
	return *word == lead ? word + 1 : behind;
}

static int words_spell(struct following *f, struct words *w)
{
	char in_home[PATH_MAX], other[PATH_MAX];
	const char *names[] = {w->word, w->bare, other};
	int r = 0;

	f->tails = !f->naming->flag && !f->naming->keys && !f->naming->lead &&
		   (hold_word_has(f->naming->anywhere, w->key) ||
		    ((f->anywhere || words_is_behind_unknown(w)) &&
		     (words_is_run(w) || (f->code && words_is_run_by_code(w)) ||
		      (f->programs && words_is_program(w)))));
	/* scripts\x.ps1 */
	for (size_t i = 0; i == 0 || w->bare[i - 1]; i++)
		other[i] = (char)(w->bare[i] == '\\' ? '/' : w->bare[i]);
	/* See @docs/a.md. */
	for (size_t len = strlen(other); f->naming->lead && len > 1 && other[len - 1] == '.';)
		other[--len] = '\0';
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(names); i++) {
		const char *name = names[i];

		if ((i == 1 && str_equal(w->word, w->bare)) ||
		    (i == 2 && str_equal(w->bare, other)))
			continue;
		name = f->naming->lead ? words_led(f->naming->lead, name) : name;
		if (!name)
			continue;
		const char *behind = words_behind(w, name);

		if (strlen(name) > 1 || name == w->bare || name == w->word)
			r = words_name_in(f, w, name);
		if (r == 0 && behind && *behind)
			r = words_name_in(f, w, behind);
		/* The variable may be HOME. */
		if (r == 0 && behind && *behind &&
		    snprintf(in_home, sizeof(in_home), "~/%s", behind) < (int)sizeof(in_home))
			r = words_name_in(f, w, in_home);
	}
	if (r == 0)
		r = words_tool(f, w);
	if (r == 0)
		r = words_node(f, w);
	/* The first path after `go run` is what it runs; flags and their values are not. */
	w->go = w->go && !(w->bare[0] != '-' && (strchr(w->bare, '/') || str_equal(w->bare, ".")));
	return r;
}

static int words_dir(struct following *f, const char *path)
{
	for (size_t i = 0; i < f->dir_count; i++)
		if (str_equal(f->dirs[i], path))
			return 0;
	/* Those beyond the limit we do not know. */
	if (f->dir_count == WORDS_DIRS_MAX) {
		f->anywhere = true;
		return 0;
	}
	f->dirs[f->dir_count] = arena_str(&f->j->arena, path);
	return f->dirs[f->dir_count++] ? 0 : hold_no_memory(f->j);
}

/* A folder outside counts, too: the next words can lead from it into the workspace. */
static int words_runs_outside(struct following *f, const char *dir, const char *name)
{
	char path[PATH_MAX];

	return hold_is_outside(f->j, dir, name, path) && hold_type_outside(f->j, path) == S_IFDIR
		       ? words_dir(f, path)
		       : 0;
}

/*
 * Adds a folder in which something runs, or is looked for; also from one that was named before: cd
 * a; cd b.  A folder that is not there may come by a commit, if the word before says that it is a
 * folder, and if it is not among git's own files.  The folder may be the workspace itself, for a
 * hook of the repository around: cd sub.
 */
static int words_runs_in(struct following *f, const char *name, bool sure, size_t from)
{
	char path[PATH_MAX];
	size_t count = f->dir_count;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		if (hold_resolve(f->j, f->dirs[i], name, path) < 0)
			r = words_runs_outside(f, f->dirs[i], name);
		else if (!*path || words_is_folder(f->j, path) ||
			 (sure && i < from && !git_rest(path) &&
			  hold_type(&f->j->before, path) == OBJECT_ABSENT))
			r = words_dir(f, path);
	return r;
}

/* If the word is a command or a key that says where something runs, adds that folder. */
static int words_goes_on(struct following *f, const struct words *w, size_t from)
{
	bool goes = hold_word_has(words_goes, w->bare) &&
		    !(str_equal(w->before, "git") && str_equal(w->bare, "-C"));
	bool key = !goes && hold_word_has(words_goes_by_key, w->key) && str_equal(w->bare, w->key);
	size_t at = w->at - 1;
	char path[PATH_MAX];

	/* git submodule foreach CMD: in each submodule, and the workspace can be one. */
	f->anywhere = f->anywhere || (str_equal(w->bare, "foreach") &&
				      (str_equal(w->before, "submodule") || w->before[0] == '-'));
	if (!goes && !key)
		return 0;
	while (at < w->text.len && w->text.ptr[at] &&
	       strchr(key ? " \t=:\"'" : " \t=", w->text.ptr[at]))
		at++;
	/* The quote in front of a value belongs to it. */
	at -= key && at > 0 && strchr("\"'", w->text.ptr[at - 1]);
	enum hold_goes to = hold_goes_to(w->text, at, path);

	f->anywhere = f->anywhere || to == HOLD_GOES_ANYWHERE;
	/* A variable of the code; in a settings file it is a path. */
	if (key && to == HOLD_GOES_THERE && at < w->text.len && !strchr("\"'", w->text.ptr[at])) {
		f->unquoted = true;
		if (!words_is_folder(f->j, path))
			f->code = f->anywhere = true;
	}
	return to == HOLD_GOES_THERE ? words_runs_in(f, path, goes, from) : 0;
}

/* The word is in the place of a command, or an argument of a command that runs it. */
static bool words_is_started(const struct words *w)
{
	size_t at = w->start;

	while (at > 0 && w->text.ptr[at - 1] && strchr("\"' \t", w->text.ptr[at - 1]))
		at--;
	const char *slash = strrchr(w->before, '/');
	const char *program = slash ? slash + 1 : w->before;

	return at == 0 || strchr("\n;&|(", w->text.ptr[at - 1]) ||
	       (w->text.ptr[at - 1] == '.' &&
		(at == 1 || strchr("\n;&| \t(", w->text.ptr[at - 2]))) ||
	       hold_word_is_runner(program) || str_after(program, "python") ||
	       str_equal(program, "then") || str_equal(program, "do") || str_equal(program, "else");
}

static int words_ending(struct following *f, const char *ending)
{
	if (!ending)
		return 0;
	for (size_t i = 0; i < f->ending_count; i++)
		if (str_equal(f->endings[i], ending))
			return 0;
	if (f->ending_count == WORDS_ENDINGS_MAX)
		return hold_give_up(f->j, "%.150s puts together more names than bawn keeps apart",
				    f->by);
	f->endings[f->ending_count] = arena_str(&f->j->arena, ending);
	return f->endings[f->ending_count++] ? 0 : hold_no_memory(f->j);
}

/* Adds the names that begin with this word and end with one of the endings. */
static int words_begins(struct following *f, const struct words *w)
{
	char name[PATH_MAX];
	int r = 0;

	f->tails = f->anywhere && w->bare[0] != '-';
	for (size_t i = 0; r == 0 && i < f->ending_count; i++)
		if (snprintf(name, sizeof(name), "%s%s", w->bare, f->endings[i]) <
		    (int)sizeof(name))
			r = words_name_in(f, w, name);
	return r;
}

/* Follows what code says about the folders that it gets to. */
static int words_code(struct following *f, const struct words *w, size_t from)
{
	size_t end = w->start + strlen(w->word);
	char path[PATH_MAX];
	int r = 0;

	if (hold_code_goes(w->text, end, w->bare, path)) {
		f->code = true;
		f->anywhere = f->anywhere || !*path;
		return *path ? words_runs_in(f, path, true, from) : 0;
	}
	if (hold_code_computes(w->text, w->start, end, w->bare))
		f->code = f->anywhere = true;
	if (hold_code_sets_path(w->text, w->start, end, w->bare))
		f->programs = f->anywhere = true;
	r = words_ending(f, hold_code_ending(w->text, w->start, w->bare));
	if (r < 0 || !hold_code_is_folder(w->text, end, w->bare))
		return r;
	const char *behind = words_behind(w, w->bare);
	const char *name = behind && *behind ? behind : w->bare;

	/* Nobody can know which file there runs. */
	for (size_t i = 0; r == 0 && i < from && words_is_started(w) && !f->naming->flag &&
			   !f->naming->keys && !f->naming->lead;
	     i++)
		if (hold_resolve(f->j, f->dirs[i], name, path) == 0 && *path && !git_rest(path) &&
		    !str_equal(path, f->dirs[i]))
			r = words_place(f, path);
	return r < 0 ? r : words_runs_in(f, name, true, from);
}

/* Adds the folders that a word names; PYTHONPATH and similar variables name several. */
static int words_folders(struct following *f, const struct words *w, size_t from)
{
	const char *attached = str_after(w->bare, "-I");
	char name[PATH_MAX], before[HOLD_WORD_NAME_MAX];
	int r = 0;

	hold_word_name(before, w->before, strlen(w->before), true);
	bool sure = attached || hold_word_has(words_folder, w->before) ||
		    hold_word_has(words_folder, before);

	if (!sure && !words_said(w, words_folder))
		return 0;
	for (const char *at = attached ? attached : w->bare; r == 0 && *at;) {
		size_t len = strcspn(at, ":");

		memcpy(name, at, len);
		name[len] = '\0';
		at += len + (at[len] == ':');
		const char *behind = words_behind(w, name);

		if (len > 0)
			r = words_runs_in(f, name, sure, from);
		if (r == 0 && behind && *behind)
			r = words_runs_in(f, behind, sure, from);
	}
	return r;
}

/* Makes what follows the sign of a default (${X:-tools/x.sh}), an option (-fci/rules,
 * -javaagent:a.jar) or a version (git show HEAD:a) the word.  False: there is no such sign. */
static bool words_is_behind(const struct words *w, char *bare)
{
	static const char *const signs[] = {":-", ":=", ":+"};
	static const char *const shows[] = {"show", "cat-file", "-p", "blob", NULL};
	const char *from = NULL;

	for (size_t i = 0; !from && i < BAWN_ARRAY_SIZE(signs); i++)
		from = strstr(bare, signs[i]);
	if (from)
		from += 2;
	else if (bare[0] == '-' && strchr(bare, ':'))
		from = strchr(bare, ':') + 1;
	else if (bare[0] == '-' && bare[1] && bare[1] != '-' && strpbrk(bare + 2, "/."))
		from = bare + 2;
	else if (strchr(bare, ':') && (bare[0] == ':' || hold_word_has(shows, w->before)))
		from = strrchr(bare, ':') + 1;
	if (!from || !*from)
		return false;
	memmove(bare, from, strlen(from) + 1);
	return true;
}

/* Adds what runs by a pattern or by its folder, from each of the folders. */
static int words_all(void *context, const char *name, enum hold_all_kind kind, bool moved)
{
	struct following *f = context;
	size_t count = f->dir_count;
	int r = 0;

	if (kind == HOLD_ALL_PROGRAM)
		return f->file && f->row < hold_row_count && hold_rows[f->row].hook
			       ? hold_started_add(f->j, name, moved, f->words.text, f->by)
			       : 0;
	if (kind == HOLD_ALL_GOES)
		return strchr(name, '*') ? 0 : words_runs_in(f, name, true, count);
	/* cd a && for h in *: files in other folders are not meant. */
	const char *plain = str_after(name, "./") ? name + 2 : name;
	bool near = moved && !strchr(plain, '/') && count > f->own_count;

	for (size_t i = near ? f->own_count : 0; r == 0 && i < count; i++) {
		char path[PATH_MAX];

		if (hold_is_late_soon(f->j) || !hold_reaches(f->j, f->dirs[i], name, path) ||
		    git_rest(path))
			continue;
		/* Of the whole workspace only the repository around speaks. */
		if (!*path && (kind != HOLD_ALL_FOLDER || f->dirs[i][0] != '/' ||
			       str_equal(f->dirs[i], f->j->workspace)))
			continue;
		if (kind == HOLD_ALL_FILE)
			r = words_try(f, "", path, false);
		else if (kind == HOLD_ALL_FILES || strchr(path, '*'))
			r = words_match(f, path);
		else if (hold_type(&f->j->before, path) != OBJECT_FILE)
			r = words_place(f, path);
	}
	return r;
}

/* Adds strings of code that lists a folder: patterns, and folders that are there. */
static int words_listed(struct following *f, const struct words *w)
{
	int r = 0;

	if (!f->lists || !hold_code_is_string(w->text, w->start, w->start + strlen(w->word)))
		return 0;
	for (size_t i = 0; r == 0 && i < f->dir_count; i++) {
		char path[PATH_MAX];

		if (hold_resolve(f->j, f->dirs[i], w->bare, path) < 0 || !*path || git_rest(path))
			continue;
		if (strpbrk(w->bare, "*?[") && strchr(w->bare, '/'))
			r = words_match(f, path);
		else if (words_is_folder(f->j, path))
			r = words_place(f, path);
	}
	return r;
}

static int words_follow(struct following *f, struct span text)
{
	size_t from = f->dir_count;
	bool runs = !f->naming->flag && !f->naming->keys && !f->naming->lead;
	bool joins = hold_word_join(text, &f->joined);
	const struct span texts[] = {text, buf_span(&f->joined)};
	int r = 0;

	for (size_t i = 0; i < 1 + (size_t)joins; i++) {
		f->words = (struct words){.text = texts[i]};
		while (r == 0 && hold_word_next(&f->words) && !hold_is_late_soon(f->j))
			if (i == 0 || f->words.blank) {
				r = words_folders(f, &f->words, from);
				if (r == 0 && i == 0)
					r = words_goes_on(f, &f->words, from);
				if (r == 0)
					r = words_code(f, &f->words, from);
			}
	}
	f->anywhere = f->anywhere || (f->code && f->unquoted);
	f->own_count = from;
	f->lists = runs && hold_code_lists(text);
	f->tails = false;
	if (r == 0 && runs)
		r = hold_all_look(text, words_all, f);
	if (r == -E2BIG)
		r = hold_give_up(f->j, "%.150s puts together more names than bawn keeps apart",
				 f->by);
	if (r == -ENOMEM)
		r = hold_no_memory(f->j);
	f->node =
		runs && f->row < hold_row_count && hold_rows[f->row].hook &&
		(f->naming->node ||
		 (f->naming->of == HOLD_WORDS_HOOKS ? text.len > 0 : hold_says_node(text, f->by)));
	if (r == 0)
		r = words_node_path(f);
	for (size_t i = 0; i < 1 + (size_t)joins; i++) {
		f->words = (struct words){.text = texts[i]};
		while (r == 0 && hold_word_next(&f->words) && !hold_is_late_soon(f->j))
			if (f->words.bare[0] == HOLD_WORDS_SCRIPT &&
			    f->naming->of == HOLD_WORDS_SCRIPTS)
				r = words_script(f, &f->words);
			else if (i == 0 || f->words.blank) {
				r = words_spell(f, &f->words);
				if (r == 0)
					r = words_listed(f, &f->words);
				if (r == 0 && runs)
					r = words_begins(f, &f->words);
				if (r == 0 && words_is_behind(&f->words, f->words.bare))
					r = words_spell(f, &f->words);
			}
	}
	buf_fini(&f->joined);
	return r;
}

int hold_follow_words(struct hold_judge *j, const char *dir, struct span text,
		      const struct hold_naming *naming, const char *by)
{
	_cleanup_free_ struct following *f = calloc(1, sizeof(*f));

	if (!f)
		return hold_no_memory(j);
	f->j = j;
	f->naming = naming;
	f->by = arena_str(&j->arena, by);
	f->row = hold_row_of(naming->rule);
	f->dirs[f->dir_count++] = dir;
	return f->by ? words_follow(f, text) : hold_no_memory(j);
}

int hold_follow_file(struct hold_judge *j, const char *root, const char *file, struct span text,
		     const struct hold_naming *naming, struct hold_includes *more)
{
	_cleanup_free_ struct following *f = calloc(1, sizeof(*f));
	char own[PATH_MAX];

	if (!f)
		return hold_no_memory(j);
	f->j = j;
	f->naming = naming;
	f->by = arena_str(&j->arena, file);
	f->row = hold_row_of(naming->rule);
	f->more = more;
	f->file = true;
	f->dirs[f->dir_count++] = root;
	int r = !f->by ? hold_no_memory(j) : hold_parent(file, own) == 0 ? words_dir(f, own) : 0;

	return r < 0 ? r : words_follow(f, text);
}

bool hold_says_node(struct span text, const char *file)
{
	static const char *const words[] = {"node_modules", "lint-staged", ".pnp"};
	bool says = (file && (strstr(file, ".husky/") || strstr(file, ".lintstagedrc"))) ||
		    hold_npm_has(text, HOLD_NPM_BIN);

	for (size_t i = 0; !says && text.len > 0 && i < BAWN_ARRAY_SIZE(words); i++)
		says = memmem(text.ptr, text.len, words[i], strlen(words[i])) != NULL;
	return says;
}
