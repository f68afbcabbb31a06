/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of hold share with each other and with nobody else. */
#ifndef BAWN_HOLD_PARTS_H
#define BAWN_HOLD_PARTS_H

#include "buf.h"
#include "hold.h"

#include <limits.h>

/* What decides when a rule's name matches. */
enum hold_content {
	HOLD_BY_NAME, /* nothing more: the name is enough */
	HOLD_BY_HOOK,
	HOLD_BY_GIT_CONFIG,
	HOLD_BY_ATTRIBUTES,
	HOLD_BY_BARE,
	HOLD_BY_SUBMODULES,
	HOLD_BY_POINTER,
	HOLD_BY_PACKAGE,
	HOLD_BY_HOSTS,
	HOLD_BY_ARCHIVES,
	HOLD_BY_SCHEMA,
	HOLD_BY_INVISIBLE,
	HOLD_BY_STAGED,
	HOLD_BY_LINK,
	HOLD_BY_COMMITS,
	HOLD_BY_OBJECTS,
	HOLD_BY_IGNORED,
	HOLD_BY_BEING_LINK, /* only links, by their names */
	HOLD_BY_KNOWN,
	HOLD_BY_WORKTREES, /* only removals */
	HOLD_BY_KEPT,      /* only removals */
	HOLD_BY_COMPILED,
	HOLD_BY_WHOLE,   /* hold_whole.c judges it, after all others, and for what commits bring */
	HOLD_BY_STARTED, /* hold_started.c judges it, after all others */
	HOLD_CONTENT_COUNT,
};

/* A rule of share/holds.yaml; each list ends in NULL. */
struct hold_row {
	const char *name, *corpus, *what, *why;
	enum hold_level level, gone;
	enum hold_content content;
	bool hook; /* git runs it as a hook, with what the hook names or puts in PATH */
	const char *const *paths, *const *but, *const *direct;
};

extern const struct hold_row hold_rows[];
extern const size_t hold_row_count;

enum {
	HOLD_ROWS_MAX = 64,
	HOLD_PATTERNS_MAX = 4096,
	HOLD_BUCKETS = 1024,
};

/*
 * One pattern of one rule.  If its first part is a plain word, hold_find looks it up by that word.
 */
struct hold_pattern {
	const char *text;
	size_t first; /* length of its first part */
	unsigned int row;
	bool top;      /* only at the top of the workspace */
	bool single;   /* one part: it can match only the last part of a path */
	uint32_t next; /* the next in its bucket: index + 1 */
};

/* One of git's settings outside the workspace: hold_user.c. */
struct hold_setting {
	struct hold_setting *next;
	const char *file, *section, *subsection, *key, *value;
	const char *by; /* which command would obey it; NULL: nothing runs because of it */
	bool has_subsection;
};

struct hold_outside {
	struct hold_setting *settings;
	size_t count;
};

struct hold_rules {
	struct hold_outside user;
	const char *home;   /* NULL: not known */
	const char *config; /* XDG_CONFIG_HOME; NULL: it is .config of the home */
	const char **files; /* files of git's settings, as absolute paths */
	size_t file_count;
	int64_t most_ms;
	int64_t since; /* when the session began, in ns; 0: not known */
	struct arena arena;
	enum hold_level levels[HOLD_ROWS_MAX];
	struct hold_pattern *patterns;
	size_t count;
	uint32_t buckets[HOLD_BUCKETS];
	uint32_t loose; /* first pattern whose first part has a star: index + 1 */
	uint64_t every; /* rows that are about every path */
};

/*
 * Writes a path as filesystems see it that ignore differences: in lower case, without invisible
 * characters (HFS+, APFS, ext4 casefold), without dots and spaces at the end of a part, and with
 * the long name for NTFS's short one.  It replaces what `into` had.
 */
void hold_fold(const char *path, struct buf *into);

/* The pattern matches this path from its first part to its last.  Both are folded. */
bool hold_matches(const char *pattern, const char *path);

/* Adds a folded pattern.  The text must live as long as the rules, and there must be room. */
void hold_pattern_put(struct hold_rules *r, const char *pattern, unsigned int row);

/* The set of rows that are about a folded path. */
uint64_t hold_find(const struct hold_rules *r, const char *folded);

/* The set of rows that are about something in a folder of this path: a link at the path brings them
 * all. */
uint64_t hold_find_below(const struct hold_rules *r, const char *folded);

/* --- the judgement -------------------------------------------------------------------- */

enum {
	/* Most bytes of a file that we read as a whole.  We read as much of the user's files for
	 * what they name.  If a session makes one longer, that change is held or flagged. */
	HOLD_READ_MAX = 4 << 20,
	HOLD_SCAN_MAX = 256 << 20, /* most bytes of a text that we look through */
	HOLD_WORD_MAX = 80,        /* most letters of an agent's text in a reason */
};

/* What an analyser decides.  It starts with what the list says. */
struct hold_verdict {
	enum hold_level most; /* the level is at most this, whatever the rule's level is */
	const char *why;      /* in the arena of the changes, or the list's text */
	/* The same as in struct change. */
	struct brought *brings;
	size_t brings_count;
	const char *with;
	bool takes_back;
};

/* What the rules have said of one change so far. */
struct hold_said {
	enum hold_level level;
	const char *rule, *why;
	struct brought *brings;
	size_t brings_count;
	const char *with;
	bool takes_back;
};

struct git_difference;
struct git_name;
struct hold_modules;
struct hold_news;
struct hold_repo;

/* A folder with a repository: where the files are, and where git keeps its own files. */
struct hold_root {
	struct hold_root *next;
	const char *path; /* "": the top */
	/* Path in the workspace; NULL: it is elsewhere.  If the session removed the .git, this is
	 * as it was before. */
	const char *gitdir;
};

/* A path that belongs to a rule, with all beneath it, because a setting or a link leads to it. */
struct hold_place {
	struct hold_place *next;
	const char *path;
	unsigned int row;
	enum hold_level most; /* at most this */
	bool but_git;         /* not git's own files in it */
	const char *why;
};

/* A path that a file of the user names: hold_names.c. */
enum hold_name_kind {
	HOLD_NAME_FILE,
	HOLD_NAME_PATTERN,
	HOLD_NAME_PROGRAMS,      /* a folder of PATH */
	HOLD_NAME_TAIL,          /* the end of a path, in a folder that we do not know */
	HOLD_NAME_PROGRAMS_TAIL, /* the end of the path of a folder of PATH */
	HOLD_NAME_TOOL,          /* no path: a word of a hook that may be a tool */
	HOLD_NAME_STARTED,       /* no path: a program of PATH that a hook starts */
	/* Only the sums of these are kept: hold_place.c. */
	HOLD_NAME_PLACE, /* a place */
	HOLD_NAME_ABOVE, /* a folder above a place */
};

struct hold_name {
	struct hold_name *next;    /* the next in its bucket */
	struct hold_name *other;   /* the next in the list of all */
	struct hold_name *pattern; /* the next of those that are patterns, or programs */
	const char *path;
	const char *what, *by; /* these two and `script` live as long as the judgement */
	const char *script;    /* the script of package.json that says it; NULL: no script does */
	unsigned int row;
	enum hold_level most; /* at most this */
	enum hold_name_kind kind;
	bool plain; /* does not count for files that other rules know by name */
};

enum { HOLD_NAME_BUCKETS = 1 << 14, HOLD_NAME_BITS = 1 << 22 };

/* A folder that hold_look_around or hold_look_at saw. */
struct hold_ignore;

struct hold_dir {
	struct hold_dir *next; /* the next in its bucket */
	const char *path;
	size_t len;
	const struct hold_root *root;       /* the nearest repository at or above it; NULL: none */
	bool member, is_gitdir, was_gitdir; /* the last two are known once `member` is set */
	/* hold_ignored.c.  Known once `ignores_read` is set; [1]: before the session. */
	const struct hold_ignore *ignores[2];
	bool ignores_read[2];
	bool venv_read, venv; /* hold_whole.c */
};

/* Folders, in what a commit or an index brings, that have a part of a repository: hold_place.c. */
struct hold_part;

enum { HOLD_PART_BUCKETS = 256, HOLD_PART_BYTES = 64 << 20 };

struct hold_parts {
	struct arena arena;
	struct hold_part *buckets[HOLD_PART_BUCKETS];
};

enum { HOLD_DIR_BUCKETS = 4096, HOLD_ROOTS_MAX = 256, HOLD_PLACES_MAX = 4096, HOLD_VENVS = 64 };

/* A folder without a change, and whether it is a virtual environment: hold_whole.c. */
struct hold_venv {
	const char *path;
	bool is;
};

struct hold_judge {
	const struct hold_rules *rules;
	const struct hold_kind *kinds; /* the table in hold_judge.c, by enum hold_content */
	/* Asks all rules about a change, in the tree or brought by a commit. */
	int (*judge)(struct hold_judge *j, const struct change *c, struct hold_said *said);
	const struct view *view;
	struct view before; /* the base without the session's changes; borrowed */
	struct changes *changes;
	struct error *error;
	struct arena arena;
	char workspace[PATH_MAX]; /* its absolute path; "" when it is not known */
	dev_t device;
	ino_t inode;
	struct hold_outside around; /* settings of the repository around the workspace */
	struct hold_outside here;   /* drivers that the user's own repositories here set up */
	struct buf folded, after, old;
	struct hold_dir *dirs[HOLD_DIR_BUCKETS];
	struct hold_root *roots;
	size_t root_count; /* how many were not there before */
	struct hold_place *places;
	size_t place_count;
	const char *unread; /* why we do not know all that the user's files name; NULL: we do */
	struct hold_name *names[HOLD_NAME_BUCKETS];
	struct hold_name *name_list, *name_patterns;
	struct hold_name *name_started; /* programs that bawn does not know: hold_started.c */
	size_t name_count, word_count;  /* paths that are kept, and names of other kinds */
	struct hold_tools *tools;       /* hold_tools.c makes it at the first question */
	uint8_t name_more[HOLD_NAME_BITS / 8]; /* sums of the names for which there was no room */
	struct hold_repo *repos;
	/* hold_module.c: where submodules have their repositories.  Made at the first question. */
	struct hold_modules *modules;
	int (*judge_commit)(struct hold_judge *j, struct hold_repo *repo,
			    const struct git_name *old, const struct git_name *new,
			    struct hold_news *n);
	struct hold_linked *linked; /* hold_linked.c; NULL: there is no node_modules */
	const char *ignored;        /* the folder that was named last: hold_ignored.c */
	/* hold_ignored.c: the folder that was looked for last, and whether it is new. */
	const char *made;
	bool made_new;
	bool ignored_before; /* patterns are read as before the session */
	const char **froms;  /* old names of renamed files, sorted: hold_commits.c */
	size_t from_count;
	/* Set while we judge a file that a commit brings: hold_read reads both sides from the
	 * objects. */
	const struct git_difference *brought;
	struct hold_repo *brought_by;
	struct hold_parts *parts; /* parts of repositories in all that it brings; NULL: not known */
	struct hold_venv venvs[HOLD_VENVS];
	/* hold_late.c */
	int64_t deadline;
	bool late;
	unsigned int late_asked;
	const char *late_why; /* the reason for each change that was not judged in time */
	size_t brought_shown; /* how many bytes of such files are kept for the screens */
};

/* An analyser returns 0 or -errno, and sets what it knows better than the list. */
typedef int hold_analyser(struct hold_judge *j, const struct change *c, struct hold_verdict *v);

hold_analyser hold_by_hook, hold_by_git_config, hold_by_attributes, hold_by_submodules,
	hold_by_pointer, hold_by_package, hold_by_hosts, hold_by_archives, hold_by_schema,
	hold_by_invisible, hold_by_link, hold_by_staged, hold_by_commits, hold_by_objects,
	hold_by_ignored, hold_by_known, hold_by_compiled;

/* Marks the changes in a folder that git ignored before the session. */
void hold_mark_ignored(struct hold_judge *j);

/* The names of git's hooks, one by one; NULL: there are no more. */
const char *hold_hook_at(size_t i);

/* The same for a removed path, which a repository may have had. */
typedef int hold_gone(struct hold_judge *j, const char *path, struct hold_verdict *v);

hold_gone hold_gone_ref, hold_gone_worktree, hold_gone_kept, hold_gone_pointer;

/* The path is the .git of the workspace itself. */
bool hold_is_own_git(const char *path);

/*
 * A kind of content: the analyser, which types of objects it judges, which types the rule is about
 * (those that the analyser does not judge go by their name), and whether a change of the mode alone
 * counts.
 */
struct hold_kind {
	hold_analyser *ask;
	unsigned int asked, about; /* sets of enum object_type */
	bool mode;
	hold_gone *gone; /* decides on a removal; NULL: the rule's level does */
};

/* Sets the reason.  -ENOMEM: there is no room for it. */
int hold_say(struct hold_judge *j, struct hold_verdict *v, const char *fmt, ...) BAWN_PRINTF(3, 4);

/* The change lands with `lead`, a held change, or not at all. */
int hold_say_with(struct hold_judge *j, struct hold_verdict *v, const char *lead);

/* Reads one side of a change whole, into j->after or j->old; an absent side is empty.  -E2BIG,
 * -ESTALE and others: its content cannot be judged. */
int hold_read(struct hold_judge *j, const struct change *c, enum change_side side);

/* Reads both sides.  1: one cannot be read; the verdict stays as the list has it, and says why. */
int hold_read_both(struct hold_judge *j, const struct change *c, struct hold_verdict *v);

/* Reads a file of a view, changed or not; -ENOENT if it is not a file. */
int hold_read_path(const struct view *v, const char *path, size_t max, struct buf *into);

/* Reads a file of the user for what it names.  1: it cannot be read.  If it is too large,
 * hold_give_up is called: every change is then held with that reason. */
int hold_read_named(struct hold_judge *j, const char *path, struct buf *into);

/* Reads the target of a link of a view; -EINVAL if it is not a link. */
int hold_read_link(const struct view *v, const char *path, char into[PATH_MAX]);

/*
 * Finds where `target`, named in the folder `dir`, is in the workspace: its path, "" for the top.
 * Inside the workspace it follows no links; it follows links outside that lead into it.  `dir` is a
 * path in the workspace or an absolute path.  -EXDEV: the target is outside.
 */
int hold_resolve(const struct hold_judge *j, const char *dir, const char *target,
		 char into[PATH_MAX]);

/* The target is outside the workspace: its absolute path, without ".." and with its links. */
bool hold_is_outside(const struct hold_judge *j, const char *dir, const char *target,
		     char into[PATH_MAX]);

/* What is at an absolute path outside (S_IFMT of its mode); 0: nothing, or it would have to be
 * mounted first. */
mode_t hold_type_outside(const struct hold_judge *j, const char *path);

/* Like hold_resolve, for a pattern whose stars can stand for folders above the workspace. */
bool hold_reaches(const struct hold_judge *j, const char *dir, const char *pattern,
		  char into[PATH_MAX]);

/* Where a path of the workspace leads by links of the user, the last part or parts before it;
 * false: by none. */
bool hold_leads(const struct hold_judge *j, const char *path, char into[PATH_MAX]);

/* The same, by the links of a view. */
bool hold_leads_in(const struct hold_judge *j, const struct view *v, const char *path,
		   char into[PATH_MAX]);

/* The folder that a path is in; "" for the top. */
int hold_parent(const char *path, char into[PATH_MAX]);

/* The rule's exceptions (`but`) do not have this folded path. */
bool hold_is_meant(const struct hold_row *h, const char *folded);

static inline enum hold_level hold_less(enum hold_level a, enum hold_level b)
{
	return a < b ? a : b;
}

/* Asks one rule, with the reason `why` (NULL: that of the list) and at most the level `most`. */
int hold_ask_at(struct hold_judge *j, const struct change *c, size_t row, const char *why,
		enum hold_level most, struct hold_said *said);

/* --- commits: hold_commits.c ---------------------------------------------------------- */

/* Reads one side of the file that a commit brings. */
int hold_read_brought(struct hold_judge *j, enum change_side side, size_t max, struct buf *into);

/* Closes the repositories that were opened: hold_repo.c. */
void hold_repos_end(struct hold_judge *j);

/* --- time: hold_late.c ------------------------------------------------------------------ */

void hold_late_begin(struct hold_judge *j);

/* The time is over: the caller stops, and what it did not judge is held.  hold_is_late_soon looks
 * at the clock only now and then, for steps that take almost no time. */
bool hold_is_late(struct hold_judge *j);
bool hold_is_late_soon(struct hold_judge *j);

/* Sets what is said of a change that was not judged in time. */
int hold_late_say(struct hold_judge *j, struct hold_said *said);

/* After all others: holds repositories of which a part was not judged, or which are gone. */
int hold_late_end(struct hold_judge *j);

/* After all others: a lock file lands with its package.json.  hold_package.c */
int hold_locks_end(struct hold_judge *j);

/* --- what git ignores: hold_ignored.c --------------------------------------------------- */

/* After all others: makes one line for each folder that git ignores. */
int hold_ignored_end(struct hold_judge *j);

/* --- folders that land as one thing: hold_whole.c ---------------------------------------- */

#define HOLD_MODULES "node-modules"

/* Length of the path of the outermost folder node_modules that the path is in; 0: it is in none. */
size_t hold_modules_len(const char *path);
bool hold_is_in_modules(const char *path);

/* --- hold_linked.c --- */

/* Finds the packages in node_modules whose install scripts npm runs by itself. */
int hold_look_linked(struct hold_judge *j);
/* The path is package.json or binding.gyp of a linked package. */
bool hold_is_linked(const struct hold_judge *j, const char *path);
/* The value, as the package.json at `path` has it, is a path into node_modules. */
bool hold_takes_from_modules(struct hold_judge *j, const char *path, struct span written);
/* The path is in node_modules, where only what really runs counts, and is no such file of a linked
 * package. */
bool hold_is_lax(const struct hold_judge *j, const char *path);

/* --- */

/* The highest level that a rule may give to a path in node_modules. */
enum hold_level hold_whole_most(const char *path, size_t row);

/* Judges a file that a commit or an index brings into a virtual environment. */
int hold_ask_whole(struct hold_judge *j, const struct change *c, struct hold_said *said);

/* After all others: makes one change of each folder that lands as one thing. */
int hold_whole_end(struct hold_judge *j);

/* --- hold_exchanged.c --- */

/* Once all are judged: where what took the place of a folder is held, what was in that waits. */
void hold_exchanged_end(struct hold_judge *j);

/* --- where: hold_where.c -------------------------------------------------------------- */

/* Looks at every folder that has a change: finds repositories, and what they and links name.  Sets
 * `git` of each change. */
int hold_look_around(struct hold_judge *j);

/* Looks also at the folder at this path, where nothing changed: its repository, and what that
 * names. */
int hold_look_at(struct hold_judge *j, const char *path);

/* Looks at the folders above a path that a commit or the index brings. */
int hold_look_above(struct hold_judge *j, const char *path);

/* Where git keeps its own files for a folder, as a view has it; NULL: there is no repository, or it
 * keeps them outside. */
const char *hold_gitdir_at(struct hold_judge *j, const struct view *v, const char *root);

/* Sets the error "no memory" and returns it. */
int hold_no_memory(struct hold_judge *j);

/* dir/name, in the arena; "" is the top. */
const char *hold_join(struct hold_judge *j, const char *dir, const char *name);

/* The type of what is at a path.  A path that is NULL has nothing. */
unsigned int hold_type(const struct view *v, const char *path);

/* The folder, if we looked at it; else NULL. */
const struct hold_dir *hold_dir_find(const struct hold_judge *j, const char *path, size_t len);

/* Adds a folder that we look at now; NULL: no memory. */
struct hold_dir *hold_dir_new(struct hold_judge *j, const char *path, size_t len);

/*
 * A change has the name of a part of a repository.  Sets whether the folder is a repository, or
 * could be one when only some changes land, and whether it was one.  had, has: the parts that we
 * know are there (git_place.h).
 */
void hold_look_member(struct hold_judge *j, struct hold_dir *d, unsigned int had, unsigned int has);

/* *ret: a folder of a path that a commit or an index brings (NULL: nothing is known of it).  Parts
 * of a repository that it brings count together with those in the tree. */
int hold_brought_dir(struct hold_judge *j, const char *path, size_t len,
		     const struct hold_dir **ret);

/* Notes that the folder at this path has these parts of a repository (git_place.h).  -ENOMEM */
int hold_part_note(struct hold_parts *p, const char *path, size_t len, unsigned int was,
		   unsigned int is);

/* Follows what the hooks in a folder of the workspace name ("": the top), in the repository at
 * `root`.  The folder or a hook can be a link to the outside. */
int hold_look_hook_folder(struct hold_judge *j, const char *root, const char *dir);

/* The change is, or may be, in a place for which there was no room. */
bool hold_is_place_beyond(const struct hold_judge *j, const struct change *c);

/* Adds a place: from now on the path belongs to the rule, because settings, a hook or a link name
 * it. */
int hold_place_add(struct hold_judge *j, const char *path, const char *rule, const char *fmt, ...)
	BAWN_PRINTF(4, 5);

/* The same for what a path of the home leads to.  git's own files in it are not meant. */
int hold_place_home(struct hold_judge *j, const char *path, const char *rule, const char *fmt, ...)
	BAWN_PRINTF(4, 5);

/* --- hold_names.c ----------------------------------------------------------------------- */

/* Adds a name.  It copies it, but not its strings `what`, `by` and `script`.  1: it is there
 * already. */
int hold_name_add(struct hold_judge *j, const struct hold_name *name);

/* Asks what the names say of a change, in the tree or brought by a commit. */
int hold_ask_names(struct hold_judge *j, const struct change *c, struct hold_said *said);

/* hold_sum_add keeps the sum of a path for which there was no room; hold_sum_has asks for it. */
void hold_sum_add(struct hold_judge *j, const char *path, size_t len, enum hold_name_kind kind);
bool hold_sum_has(const struct hold_judge *j, const char *path, size_t len,
		  enum hold_name_kind kind);

/* We do not know all that the user's files name, so every change may be one of these: each is held
 * with this reason.  Only the first reason counts. */
int hold_give_up(struct hold_judge *j, const char *fmt, ...) BAWN_PRINTF(2, 3);

/* --- hold_tools.c ----------------------------------------------------------------------- */

/* Asks what a tool runs or reads that a hook starts. */
int hold_ask_tools(struct hold_judge *j, const struct change *c, struct hold_said *said);

/* A hook, .envrc or an agent's settings run this script of package.json.  Without memory the answer
 * is yes. */
bool hold_runs_script(struct hold_judge *j, const char *script);

/* What says so of a script that runs; NULL: it does not run, or there is no memory. */
const struct hold_name *hold_script_by(struct hold_judge *j, const char *script);

/* Which command of the user would run what this name is about. */
const char *hold_what_runs(const struct hold_name *n);

/* The rules know which files this tool runs or reads. */
bool hold_is_tool(const char *word);

/* A hook runs it, or would if package.json had a script of this name. */
bool hold_would_run_script(struct hold_judge *j, const char *script);

void hold_tools_end(struct hold_judge *j);

/* --- hold_started.c --------------------------------------------------------------------- */

/* Asks whether the file has the name of a program that a hook starts and that no rule knows. */
int hold_ask_started(struct hold_judge *j, const struct change *c, struct hold_said *said);

/* Flags one change where a hook starts a program that no rule knows. */
int hold_started_end(struct hold_judge *j);

/* A hook with this text starts a program: adds it, if bawn does not know it.  `keyed`: as in
 * HOLD_ALL_PROGRAM. */
int hold_started_add(struct hold_judge *j, const char *program, bool keyed, struct span text,
		     const char *by);

/* Where a rule is in the list; hold_row_count: there is no such rule. */
unsigned int hold_row_of(const char *rule);

/* Which words of a file count. */
enum hold_words_of {
	HOLD_WORDS,         /* all words */
	HOLD_WORDS_SCRIPTS, /* of a package.json, what `npm run` runs */
	HOLD_WORDS_HOOKS,   /* of a package.json, what git hooks run */
	HOLD_WORDS_VALUES,  /* of JSON, the values; of other text, all */
};

/* Puts the strings of a text that count into `into`, with spaces between.  Before a script is its
 * name, which begins with HOLD_WORDS_SCRIPT.  hold_package.c */
enum { HOLD_WORDS_SCRIPT = '\2' };

struct span hold_words(struct span text, enum hold_words_of of, struct buf *into);

/* Settings files that a settings file includes.  They are followed up to this number. */
enum { HOLD_INCLUDES_MAX = 256 };

struct hold_includes {
	const char *files[HOLD_INCLUDES_MAX];
	size_t count;
};

/* Adds a file once. */
int hold_includes_add(struct hold_judge *j, struct hold_includes *more, const char *path);

/*
 * How we follow the words of a file: the rule that the named files then belong to, and which
 * command would run them.  `plain`: not files that other rules know by name, which are named for
 * other reasons.
 */
struct hold_naming {
	const char *rule, *what;
	bool plain;
	bool flag;  /* what is named is flagged, not held */
	bool quiet; /* nor flagged, unless something runs the script that names it */
	bool node;  /* its words can name programs of node_modules/.bin */
	bool code;  /* only files that can be code count, and none of node_modules */
	char lead;  /* the first letter of words that count; 0: all words count */
	enum hold_words_of of;
	const char *const *files; /* whose words we follow; NULL: the rule's own files */
	/* By their keys, or by the word before them.  Each list ends in NULL. */
	const char *const *keys;     /* keys of words that count; NULL: all words do */
	const char *const *settings; /* keys that name more settings: held, and read, too */
	const char *const *folders;  /* keys that name a folder: all in it is held */
	const char *const *patterns; /* keys whose words can be patterns of files */
	const char *const *anywhere; /* keys whose words name a file in every folder */
	/* Of which files and which text (hold_named.c). */
	const char *beside; /* only where this file is, too */
	const char *says;   /* only if the text has this word */
	const char *value;  /* only the value of this key of JSON */
	unsigned int depth; /* files that it names are read, too, so deep; 0: they are not */
};

/* Follows what words of a command or a script name, from the folder `dir`.  `dir` is a path in the
 * workspace or an absolute path. */
int hold_follow_words(struct hold_judge *j, const char *dir, struct span text,
		      const struct hold_naming *naming, const char *by);

/* The same for a file; names also count from the file's own folder.  `more`: gets the settings that
 * it names. */
int hold_follow_file(struct hold_judge *j, const char *root, const char *file, struct span text,
		     const struct hold_naming *naming, struct hold_includes *more);

/* --- hold_goes.c ------------------------------------------------------------------------ */

enum hold_goes {
	HOLD_GOES_NOWHERE,  /* to no folder but those where we look anyway */
	HOLD_GOES_THERE,    /* to a path */
	HOLD_GOES_ANYWHERE, /* only a shell could know where */
};

/* Where `cd` or a similar command goes.  Its arguments begin at `at`. */
enum hold_goes hold_goes_to(struct span text, size_t at, char into[PATH_MAX]);

/* Before `at` is a substitution that is a folder where we look anyway: $(dirname "$0")/x. */
bool hold_goes_is_known(struct span text, size_t at);

/* --- hold_all.c ------------------------------------------------------------------------- */

enum hold_all_kind {
	HOLD_ALL_FILE,   /* one file */
	HOLD_ALL_FILES,  /* files that match a pattern */
	HOLD_ALL_FOLDER, /* all files of a folder */
	HOLD_ALL_GOES,   /* a folder that the text changes to */
	/* No path: a program of PATH that a statement starts.  `moved`: a key of settings is before
	 * it (run: a). */
	HOLD_ALL_PROGRAM,
};

/* Called for each path.  `moved`: the text had changed to another folder before it. */
typedef int hold_all_found(void *context, const char *path, enum hold_all_kind kind, bool moved);

/*
 * Finds what a shell text, or a text that has shell texts in quotes, runs by a pattern or by a
 * folder.  The first answer of `found` that is not 0 ends it and is returned.  -E2BIG: the text
 * names more than we can follow.
 */
int hold_all_look(struct span text, hold_all_found *found, void *context);

/* --- hold_code.c: about the word from `at` to `end` of a text ----------------------------- */

/* By this word the code gets to a folder that is not written out here. */
bool hold_code_computes(struct span text, size_t at, size_t end, const char *word);

/* The word is os.chdir( or a similar call.  `into`: the folder, if it is written out there; else
 * "". */
bool hold_code_goes(struct span text, size_t end, const char *word, char into[PATH_MAX]);

/* The word is PATH, and it gets a folder that is not written out here. */
bool hold_code_sets_path(struct span text, size_t at, size_t end, const char *word);

/* The word is a whole string in the code. */
bool hold_code_is_string(struct span text, size_t at, size_t end);

/* The line of the word loads something: require(path.join(a, "b")). */
bool hold_code_loads(struct span text, size_t at);

/* The code lists a folder, and runs a file that it does not write out. */
bool hold_code_lists(struct span text);

/* The end of a name that begins with a variable: $n.sh.  NULL: it is not such a name. */
const char *hold_code_ending(struct span text, size_t at, const char *word);

/* The word is a folder, and what follows says which file in it: tools/$NAME, "tools/" + name. */
bool hold_code_is_folder(struct span text, size_t end, const char *word);

/* Follows what the user's files in the folder `dir` name: hold_named.c. */
int hold_look_named(struct hold_judge *j, const char *dir);

/* Follows what the scripts of the user's package in this folder name, and the settings there of
 * programs that hooks run. */
int hold_look_scripts(struct hold_judge *j, const char *dir);

/* Follows what one of the user's settings files says, and the files that it includes.  `root` is
 * the folder that its names begin at. */
int hold_look_files(struct hold_judge *j, const char *root, const char *file);

/* --- hold_install.c --------------------------------------------------------------------- */

/* Follows what npm install runs of the user's package in this folder, and what scripts of it name
 * that a hook may run. */
int hold_look_package(struct hold_judge *j, const char *dir);

/* The same, and of the packages of its workspaces. */
int hold_look_install(struct hold_judge *j, const char *dir);

/* A script of package.json with this key runs at an install.  hold_package.c */
bool hold_is_install_script(struct span key);

/* --- hold_programs.c ---------------------------------------------------------------------- */

/* What npm and its like do.  All files ask this one table. */
enum hold_npm {
	HOLD_NPM_RUNS = 1,   /* runs scripts of package.json by their names */
	HOLD_NPM_STARTS = 2, /* starts the program that follows */
	HOLD_NPM_SHORT = 4,  /* has npm's short forms: t, restart */
	HOLD_NPM_BIN = 8,    /* has programs of node_modules/.bin in PATH */
};

/* Everything that this program does; 0: it is none of them. */
unsigned int hold_npm_does(struct span program);

/* What stands behind the colon of web:lint or npm:lint, which is at `colon`; NULL: nothing that counts.  Behind lint:* all
 * scripts would be meant, and they are not; with npm:* they are. */
const char *hold_word_behind(const char *word, const char *colon);

/* A word of the text is a program that does one of these. */
bool hold_npm_has(struct span text, unsigned int what);

/* --- hold_npm.c --------------------------------------------------------------------------- */

/* The command that the word at `at` belongs to is npm, or one like it. */
bool hold_says_npm(struct span text, size_t at);

/* The scripts that npm runs by this short form, up to NULL; NULL: it is none. */
const char *const *hold_npm_means(const char *word);

/* The command that the word at `at` belongs to is a tool that a rule knows, or runs one. */
bool hold_starts_tool(struct span text, size_t at);

/* Adds the files, each with a NUL, that the package in this folder is run by: `main` and its like.
 */
int hold_package_main(struct hold_judge *j, const char *dir, struct buf *into);

/* The package.json in this folder has a script `start`. */
bool hold_package_starts(struct hold_judge *j, const char *dir);

/* --- hold_archive.c --------------------------------------------------------------------- */

/* Adds the changed archives that a package.json or a lock file names. */
int hold_look_archives(struct hold_judge *j);

/* Each archive that the lock file newly names is one that this package.json names. */
bool hold_archives_are_of(struct hold_judge *j, const char *lock, const char *package);

/* The value of a field, as the package.json at `path` has it, names an archive of the workspace. */
bool hold_takes_archive(struct hold_judge *j, const char *path, struct span written);

/* --- hold_around.c ---------------------------------------------------------------------- */

/* Follows what the user's own settings of git name, in the repository whose top is `root`. */
int hold_look_user(struct hold_judge *j, const char *root);

/* Follows what a setting names, in the repository whose top is `root`: the same for the user's own
 * settings and for the repository's.  An include is not followed here. */
int hold_follow_setting(struct hold_judge *j, const char *root, const struct hold_setting *s);

/* Follows what the repository names that the workspace is in, or is a worktree of. */
int hold_look_outside(struct hold_judge *j);

/* --- hold_hooks.c: hooks outside the workspace -------------------------------------------- */

/* core.hooksPath of `file` has this value: follows the hooks there, in the workspace or outside. */
int hold_look_hooks_path(struct hold_judge *j, const char *root, const char *value,
			 const char *file);

/* Follows what the hooks name that are in a folder outside (an absolute path), in the repository at
 * `root`. */
int hold_look_hooks_outside(struct hold_judge *j, const char *root, const char *dir);

/* The same for one hook, a file outside. */
int hold_look_hook_outside(struct hold_judge *j, const char *root, const char *path);

/* Follows what the programs outside name that a command of git's settings starts. */
int hold_look_started(struct hold_judge *j, const char *root, struct span command,
		      const struct hold_naming *naming);

/*
 * Adds the files outside the workspace that the words of a text name, as absolute paths; also from
 * the folder of `file`, if that is outside.  `all`: not only those that are hooks by their name or
 * their folder.
 */
int hold_outside_named(struct hold_judge *j, const char *file, struct span text, bool all,
		       struct hold_includes *files);

/* Reads a file of the user outside the workspace; false: it cannot be read, or is no text. */
bool hold_read_outside(const char *path, struct buf *into);

/* --- hold_home.c ------------------------------------------------------------------------ */

/* Finds what of the workspace the home has by links, and adds it to the rule of the link's name. */
int hold_look_home(struct hold_judge *j);

/* --- hold_path.c ------------------------------------------------------------------------ */

/* Adds the folders that this text of the user puts in PATH: programs that come into them are held
 * or flagged. */
int hold_look_programs(struct hold_judge *j, const char *root, struct span text, const char *rule,
		       const char *by);

#define HOLD_MODULES_BIN "node_modules/.bin"

struct hold_naming;

/* The same for a hook, and for the files that it sources, whose words count too. */
int hold_look_run(struct hold_judge *j, const char *root, const char *file, struct span text,
		  const struct hold_naming *naming);

/* The text speaks of npx, npm or a similar tool.  These run programs of node_modules/.bin, and put
 * that folder in PATH. */
bool hold_says_node(struct span text, const char *file);

/* --- the user's settings: hold_user.c -------------------------------------------------- */

/* A path that `file` has, as git understands it: from the home, or from the file's folder. */
bool hold_user_path(const char *home, const char *file, const char *value, char into[PATH_MAX]);

/* Adds the settings of a file outside the workspace, and of the files that it includes.  A file
 * that git cannot read either adds nothing. */
int hold_user_read(struct arena *arena, struct hold_outside *into, const char *home,
		   const char *path, struct error *e);

/* Which file sets up a driver; NULL: none does. */
const char *hold_user_driver(const struct hold_outside *o, const char *section, struct span name);

/* --- settings: hold_keys.c ------------------------------------------------------------ */

enum hold_key {
	HOLD_KEY_HARMLESS,
	HOLD_KEY_LEADS, /* names a remote: worth a look when the remote is new */
	HOLD_KEY_SHOWN, /* runs nothing, but is worth a look */
	HOLD_KEY_RUNS,  /* runs something, or is not known */
};

struct git_config;

/* What a setting does; *ret_by: which command would obey it. */
enum hold_key hold_key_of(const struct git_config *g, const char **ret_by);

/* The settings that run something, one by one: section and key, with a subsection if `sub` (for
 * tests).  False: there are no more. */
bool hold_key_at(size_t i, const char **section, const char **key, bool *sub);

/* How many bytes the names of objects have in a repository with these settings. */
uint8_t hold_name_len(struct span config);

/* These settings let git fetch missing objects. */
bool hold_is_partial(struct span config);

#endif
