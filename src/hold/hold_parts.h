/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of hold share with each other and with nobody else. */
#ifndef BAWN_HOLD_PARTS_H
#define BAWN_HOLD_PARTS_H

#include "buf.h"
#include "hold.h"

#include <limits.h>

/* Who has the last word when a rule's name matches. */
enum hold_content {
	HOLD_BY_NAME, /* nobody: the name is enough */
	HOLD_BY_HOOK,
	HOLD_BY_GIT_CONFIG,
	HOLD_BY_ATTRIBUTES,
	HOLD_BY_BARE,
	HOLD_BY_SUBMODULES,
	HOLD_BY_POINTER,
	HOLD_BY_PACKAGE,
	HOLD_BY_HOSTS,
	HOLD_BY_SCHEMA,
	HOLD_BY_INVISIBLE,
	HOLD_BY_STAGED,
	HOLD_BY_LINK,
	HOLD_BY_COMMITS,
	HOLD_BY_OBJECTS,
	HOLD_BY_IGNORED,
	HOLD_BY_BEING_LINK, /* links alone, by their names */
	HOLD_BY_KNOWN,
	HOLD_BY_WORKTREES, /* removals alone */
	HOLD_BY_KEPT,      /* likewise */
	HOLD_BY_COMPILED,
	HOLD_BY_WHOLE, /* hold_whole.c asks it, once all are judged, and of what commits bring */
	HOLD_CONTENT_COUNT,
};

/* A rule as share/holds.yaml has it; the lists end in NULL. */
struct hold_row {
	const char *name, *corpus, *what, *why;
	enum hold_level level, gone;
	enum hold_content content;
	bool hook; /* git runs it, and so what it names or puts in PATH */
	const char *const *paths, *const *but, *const *direct;
};

extern const struct hold_row hold_rows[];
extern const size_t hold_row_count;

enum {
	HOLD_ROWS_MAX = 64,
	HOLD_PATTERNS_MAX = 4096,
	HOLD_BUCKETS = 1024,
};

/* One pattern of one rule.  Those whose first part is a plain word are found by it. */
struct hold_pattern {
	const char *text;
	size_t first; /* length of its first part */
	unsigned int row;
	bool top;      /* only at the top of the workspace */
	bool single;   /* one part: only the last of a path can be it */
	uint32_t next; /* in its bucket: index + 1 */
};

/* One of the settings of git that stand outside the workspace: hold_user.c. */
struct hold_setting {
	struct hold_setting *next;
	const char *file, *section, *subsection, *key, *value;
	const char *by; /* which command would obey it; NULL: it runs nothing */
	bool has_subsection;
};

struct hold_outside {
	struct hold_setting *settings;
	size_t count;
};

struct hold_rules {
	struct hold_outside user;
	const char *home;   /* NULL: not known */
	const char *config; /* XDG_CONFIG_HOME; NULL: in the home */
	const char **files; /* of git's settings, absolute */
	size_t file_count;
	int64_t most_ms;
	int64_t since; /* when the session began, in ns; 0: not known */
	struct arena arena;
	enum hold_level levels[HOLD_ROWS_MAX];
	struct hold_pattern *patterns;
	size_t count;
	uint32_t buckets[HOLD_BUCKETS];
	uint32_t loose; /* those whose first part has a star */
	uint64_t every; /* rows that are about every path */
};

/*
 * A path as the filesystems see it that leave something out: in lower case, without characters
 * that are not seen (HFS+, APFS, ext4 casefold), without dots and spaces at the end of a part and
 * with the long name for NTFS's short one.  What `into` had before is gone.
 */
void hold_fold(const char *path, struct buf *into);

/* The pattern is this path from its first part to its last.  Both folded. */
bool hold_matches(const char *pattern, const char *path);

/* Adds a folded pattern, which lives as long; there is room. */
void hold_pattern_put(struct hold_rules *r, const char *pattern, unsigned int row);

/* The rows that are about a folded path, as a set. */
uint64_t hold_find(const struct hold_rules *r, const char *folded);

/* The rows that are about something in a folder of this path: a link there brings all of them. */
uint64_t hold_find_below(const struct hold_rules *r, const char *folded);

/* --- the judgement -------------------------------------------------------------------- */

enum {
	/* Of a file that is understood as a whole.  What files of the user's name is read as far:
	 * one that a session made longer would be held, or pointed out, for that. */
	HOLD_READ_MAX = 4 << 20,
	HOLD_SCAN_MAX = 256 << 20, /* of a text that is looked through */
	HOLD_WORD_MAX = 80,        /* of an agent's words in a reason */
};

/* What an analyser says.  It begins as what the list says. */
struct hold_verdict {
	enum hold_level most; /* at most this, whatever the rule's level is */
	const char *why;      /* in the arena of the changes, or the list's own */
	/* As of a change. */
	struct brought *brings;
	size_t brings_count;
	const char *with;
	bool takes_back;
};

/* What has been said of one change so far. */
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

/* A folder with a repository: where its files are, and where git keeps its own. */
struct hold_root {
	struct hold_root *next;
	const char *path; /* "": the top */
	/* Within the workspace; NULL: elsewhere.  Where the session took its .git away, as it was. */
	const char *gitdir;
};

/* A path, and all beneath it, that a setting or a link makes one of a rule's. */
struct hold_place {
	struct hold_place *next;
	const char *path;
	unsigned int row;
	enum hold_level most; /* at most this */
	bool but_git;         /* not what git keeps in it */
	const char *why;
};

/* A path that a file of the user's names: hold_names.c. */
enum hold_name_kind {
	HOLD_NAME_FILE,
	HOLD_NAME_PATTERN,
	HOLD_NAME_PROGRAMS,      /* a folder of PATH */
	HOLD_NAME_TAIL,          /* the end of a path: in a folder that is not known */
	HOLD_NAME_PROGRAMS_TAIL, /* of the path of a folder of PATH */
	HOLD_NAME_TOOL,          /* no path, but a word of a hook that may be a tool */
	/* Of these there are sums alone: hold_place.c. */
	HOLD_NAME_PLACE, /* a place */
	HOLD_NAME_ABOVE, /* a folder above one */
};

struct hold_name {
	struct hold_name *next;    /* in its bucket */
	struct hold_name *other;   /* of all */
	struct hold_name *pattern; /* of those that are patterns */
	const char *path;
	const char *what, *by; /* these live as long as the judgement, and so does the next */
	const char *script;    /* of package.json, which says it; NULL: no script does */
	unsigned int row;
	enum hold_level most; /* at most this */
	enum hold_name_kind kind;
	bool plain; /* not what other rules know by its name */
};

enum { HOLD_NAME_BUCKETS = 1 << 14, HOLD_NAME_BITS = 1 << 22 };

/* A folder that was looked at. */
struct hold_ignore;

struct hold_dir {
	struct hold_dir *next; /* in its bucket */
	const char *path;
	size_t len;
	const struct hold_root *root;       /* the nearest one at or above; NULL: none */
	bool member, is_gitdir, was_gitdir; /* known once `member` is set */
	/* hold_ignored.c, once `ignores_read` is set; [1]: as it was before the session. */
	const struct hold_ignore *ignores[2];
	bool ignores_read[2];
	bool venv_read, venv; /* hold_whole.c */
};

/* Folders of what a commit or an index brings that have a part of a repository: hold_where.c. */
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
	const struct hold_kind *kinds; /* of hold_judge.c, by enum hold_content */
	/* All that the rules say of a change; also of one that a commit brings. */
	int (*judge)(struct hold_judge *j, const struct change *c, struct hold_said *said);
	const struct view *view;
	struct view before; /* the base alone; borrowed */
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
	size_t root_count; /* of those that were not there before */
	struct hold_place *places;
	size_t place_count;
	const char *unread; /* why it is not known all that files of the user's name */
	struct hold_name *names[HOLD_NAME_BUCKETS];
	struct hold_name *name_list, *name_patterns;
	size_t name_count, word_count;         /* paths, and the others */
	struct hold_tools *tools;              /* hold_tools.c, once it was asked */
	uint8_t name_more[HOLD_NAME_BITS / 8]; /* by their sums, those beyond that are kept */
	struct hold_repo *repos;
	/* hold_module.c: where submodules of a repository have their own, once it was asked. */
	struct hold_modules *modules;
	int (*judge_commit)(struct hold_judge *j, struct hold_repo *repo,
			    const struct git_name *old, const struct git_name *new,
			    struct hold_news *n);
	struct hold_linked *linked; /* hold_linked.c; NULL: there is no node_modules */
	const char *ignored;        /* the folder that was told last: hold_ignored.c */
	const char *made; /* the folder that was looked for last, and whether it is new: likewise */
	bool made_new;
	bool ignored_before; /* patterns are read as they were before the session */
	const char **froms;  /* old names of what was renamed, sorted: hold_commits.c */
	size_t from_count;
	/* Set while a file that a commit brings is judged: both sides are read from its objects. */
	const struct git_difference *brought;
	struct hold_repo *brought_by;
	struct hold_parts *parts; /* of all that it brings; NULL: not known */
	struct hold_venv venvs[HOLD_VENVS];
	/* hold_late.c */
	int64_t deadline;
	bool late;
	unsigned int late_asked;
	const char *late_why; /* of each change that was not judged */
	size_t brought_shown; /* how much text of such files is kept to be shown */
};

/* 0 or -errno; sets what it knows better than the list. */
typedef int hold_analyser(struct hold_judge *j, const struct change *c, struct hold_verdict *v);

hold_analyser hold_by_hook, hold_by_git_config, hold_by_attributes, hold_by_submodules,
	hold_by_pointer, hold_by_package, hold_by_hosts, hold_by_schema, hold_by_invisible,
	hold_by_link, hold_by_staged, hold_by_commits, hold_by_objects, hold_by_ignored,
	hold_by_known, hold_by_compiled;

/* Which changes lie in a folder that git ignored before the session. */
void hold_mark_ignored(struct hold_judge *j);

/* The hooks that git knows, by their names; NULL: there are no more. */
const char *hold_hook_at(size_t i);

/* The same of what is gone from a path, which a repository may have had. */
typedef int hold_gone(struct hold_judge *j, const char *path, struct hold_verdict *v);

hold_gone hold_gone_ref, hold_gone_worktree, hold_gone_kept, hold_gone_pointer;

/* It is the .git of the workspace itself. */
bool hold_is_own_git(const char *path);

/*
 * A kind of content: the analyser, what it is asked about, what the rule is about at all (the rest
 * of it goes by its name), and whether a change of the mode alone counts.
 */
struct hold_kind {
	hold_analyser *ask;
	unsigned int asked, about; /* sets of enum object_type */
	bool mode;
	hold_gone *gone; /* the last word on a removal; NULL: the rule's own level */
};

/* Says why, from now on; -ENOMEM when that is too much. */
int hold_say(struct hold_judge *j, struct hold_verdict *v, const char *fmt, ...) BAWN_PRINTF(3, 4);

/* It lands with `lead`, a change that is held, or not at all. */
int hold_say_with(struct hold_judge *j, struct hold_verdict *v, const char *lead);

/* Reads a side of a change whole, into j->after or j->old; an absent one is empty.  -E2BIG, -ESTALE
 * and the like: it cannot be judged by what it says. */
int hold_read(struct hold_judge *j, const struct change *c, enum change_side side);

/* Reads both.  1: the verdict stands as the list has it, with why it could not be looked at. */
int hold_read_both(struct hold_judge *j, const struct change *c, struct hold_verdict *v);

/* A file of a view, whether it changed or not; -ENOENT for what is no file. */
int hold_read_path(const struct view *v, const char *path, size_t max, struct buf *into);

/* A file of the user's, for what it names.  1: it cannot be read; where it is too large, that is
 * said of all that changes. */
int hold_read_named(struct hold_judge *j, const char *path, struct buf *into);

/* What a link of a view says; -EINVAL for what is none. */
int hold_read_link(const struct view *v, const char *path, char into[PATH_MAX]);

/*
 * Where `target`, named in the folder `dir`, is in the workspace: its path, "" for the top.  In the
 * workspace by the letters alone; links that lead there are followed.  `dir` is one of the
 * workspace's, or an absolute path.  -EXDEV: it leads outside.
 */
int hold_resolve(const struct hold_judge *j, const char *dir, const char *target,
		 char into[PATH_MAX]);

/* What a path of the workspace leads to by links of the user's, in it or on the way; false: by
 * none. */
bool hold_leads(const struct hold_judge *j, const char *path, char into[PATH_MAX]);

/* The same by the links of a view. */
bool hold_leads_in(const struct hold_judge *j, const struct view *v, const char *path,
		   char into[PATH_MAX]);

/* The folder that a path is in; "" for the top. */
int hold_parent(const char *path, char into[PATH_MAX]);

/* The rule does not leave out a folded path that it matches. */
bool hold_is_meant(const struct hold_row *h, const char *folded);

static inline enum hold_level hold_less(enum hold_level a, enum hold_level b)
{
	return a < b ? a : b;
}

/* Asks one, which says `why` (NULL: what the list says) and `most` at most. */
int hold_ask_at(struct hold_judge *j, const struct change *c, size_t row, const char *why,
		enum hold_level most, struct hold_said *said);

/* --- commits: hold_commits.c ---------------------------------------------------------- */

/* A side of the file that a commit brings. */
int hold_read_brought(struct hold_judge *j, enum change_side side, size_t max, struct buf *into);

/* Closes the repositories that were looked into: hold_repo.c. */
void hold_repos_end(struct hold_judge *j);

/* --- time: hold_late.c ------------------------------------------------------------------ */

void hold_late_begin(struct hold_judge *j);

/* The time is over: whoever asks stops, and what it was about is held.  `soon` looks at the clock
 * now and then, for what takes no time by itself. */
bool hold_is_late(struct hold_judge *j);
bool hold_is_late_soon(struct hold_judge *j);

/* What is said of a change that was not judged. */
int hold_late_say(struct hold_judge *j, struct hold_said *said);

/* Once all are judged: repositories of which a part was not, or which are gone. */
int hold_late_end(struct hold_judge *j);

/* Once all are judged: a lock file lands with its package.json.  hold_package.c */
int hold_locks_end(struct hold_judge *j);

/* --- what git ignores: hold_ignored.c --------------------------------------------------- */

/* Once all are judged: one line for each folder that git ignores. */
int hold_ignored_end(struct hold_judge *j);

/* --- what is one thing: hold_whole.c ---------------------------------------------------- */

#define HOLD_MODULES "node-modules"

/* How long the path of the outermost folder node_modules is that it is in; 0: it is in none. */
size_t hold_modules_len(const char *path);
bool hold_is_in_modules(const char *path);

/* --- hold_linked.c --- */

/* Finds the packages in node_modules whose install scripts npm runs by itself. */
int hold_look_linked(struct hold_judge *j);
/* It is package.json or binding.gyp of one of them. */
bool hold_is_linked(const struct hold_judge *j, const char *path);
/* A value of the package.json at `path`, as it is written, is a path into node_modules. */
bool hold_takes_from_modules(struct hold_judge *j, const char *path, struct span written);
/* It is in node_modules, where only what really runs counts, and of none of them. */
bool hold_is_lax(const struct hold_judge *j, const char *path);

/* --- */

/* At most this is said by a rule of a path in node_modules. */
enum hold_level hold_whole_most(const char *path, size_t row);

/* A file that a commit or an index brings into a virtual environment. */
int hold_ask_whole(struct hold_judge *j, const struct change *c, struct hold_said *said);

/* Once all are judged: what is one thing lands as one. */
int hold_whole_end(struct hold_judge *j);

/* --- hold_exchanged.c --- */

/* Once all are judged: where what took the place of a folder is held, what was in that waits. */
void hold_exchanged_end(struct hold_judge *j);

/* --- where: hold_where.c -------------------------------------------------------------- */

/* Looks at every folder that has a change: repositories, and what they and links name.  Sets `git`
 * of each change. */
int hold_look_around(struct hold_judge *j);

/* The folder at this path as well, where nothing is changed: its repository, and what that names. */
int hold_look_at(struct hold_judge *j, const char *path);

/* Where git keeps its own for a folder, as a view has it; NULL: it is no repository, or elsewhere. */
const char *hold_gitdir_at(struct hold_judge *j, const struct view *v, const char *root);

/* Says that there is no memory to look. */
int hold_no_memory(struct hold_judge *j);

/* dir/name, in the arena; "" is the top. */
const char *hold_join(struct hold_judge *j, const char *dir, const char *name);

/* What is at a path; NULL is nothing. */
unsigned int hold_type(const struct view *v, const char *path);

/* The folder, which was looked at; NULL: it was not. */
const struct hold_dir *hold_dir_find(const struct hold_judge *j, const char *path, size_t len);

/* One that is looked at now; NULL: there is no memory. */
struct hold_dir *hold_dir_new(struct hold_judge *j, const char *path, size_t len);

/* A change is called like a part of a repository: whether the folder is one, or could be when not all
 * lands, and was.  had, has: the parts that are known to be there (git_place.h). */
void hold_look_member(struct hold_judge *j, struct hold_dir *d, unsigned int had, unsigned int has);

/* A folder of a path that a commit or an index brings (NULL: nothing is known of it): what it
 * brings there counts with what stands there. */
int hold_brought_dir(struct hold_judge *j, const char *path, size_t len,
		     const struct hold_dir **ret);

/* The folder at this path has these parts of a repository (git_place.h); -ENOMEM. */
int hold_part_note(struct hold_parts *p, const char *path, size_t len, unsigned int was,
		   unsigned int is);

/* What the hooks in a folder of the workspace name ("": the top), in the repository at `root`. */
int hold_look_hook_folder(struct hold_judge *j, const char *root, const char *dir);

/* It is in a place beyond those that are kept, or may be. */
bool hold_is_place_beyond(const struct hold_judge *j, const struct change *c);

/* The word of settings, hooks and links: a place that is a rule's from now on. */
int hold_place_add(struct hold_judge *j, const char *path, const char *rule, const char *fmt, ...)
	BAWN_PRINTF(4, 5);

/* The same for what a path of the home leads to: not what git keeps in it. */
int hold_place_home(struct hold_judge *j, const char *path, const char *rule, const char *fmt, ...)
	BAWN_PRINTF(4, 5);

/* --- hold_names.c ----------------------------------------------------------------------- */

/* One more of them, copied but for its words.  1: it is known. */
int hold_name_add(struct hold_judge *j, const struct hold_name *name);

/* What they say of a change, in the tree or brought by a commit. */
int hold_ask_names(struct hold_judge *j, const struct change *c, struct hold_said *said);

/* The sum of a path is kept, or was, of one that is beyond those that are kept. */
void hold_sum_add(struct hold_judge *j, const char *path, size_t len, enum hold_name_kind kind);
bool hold_sum_has(const struct hold_judge *j, const char *path, size_t len,
		  enum hold_name_kind kind);

/* Not all is known that files of the user's name: whatever changes may be one of these, and is held
 * with this reason.  The first one counts. */
int hold_give_up(struct hold_judge *j, const char *fmt, ...) BAWN_PRINTF(2, 3);

/* --- hold_tools.c ----------------------------------------------------------------------- */

/* What a tool runs or reads that a hook starts. */
int hold_ask_tools(struct hold_judge *j, const struct change *c, struct hold_said *said);

/* A hook runs this script of package.json. */
bool hold_runs_script(struct hold_judge *j, const char *script);

/* Or would, were there one of this name. */
bool hold_would_run_script(struct hold_judge *j, const char *script);

void hold_tools_end(struct hold_judge *j);

/* The place of a rule in the list; hold_row_count: there is none of this name. */
unsigned int hold_row_of(const char *rule);

/* Which words of a file count. */
enum hold_words_of {
	HOLD_WORDS,         /* all */
	HOLD_WORDS_SCRIPTS, /* of a package.json what npm run runs */
	HOLD_WORDS_HOOKS,   /* of a package.json what git hooks run */
	HOLD_WORDS_VALUES,  /* of JSON what is no key; of what is no JSON all */
};

/* The strings that count of a text, with spaces between, into `into`; of scripts with their names
 * in front, which begin with HOLD_WORDS_SCRIPT.  hold_package.c */
enum { HOLD_WORDS_SCRIPT = '\2' };

struct span hold_words(struct span text, enum hold_words_of of, struct buf *into);

/* Files of settings that one of them includes: they are followed to a depth, and so many. */
enum { HOLD_INCLUDES_MAX = 256 };

struct hold_includes {
	const char *files[HOLD_INCLUDES_MAX];
	size_t count;
};

/* One more of them, once. */
int hold_includes_add(struct hold_judge *j, struct hold_includes *more, const char *path);

/* Whose words are followed: the rule that what they name belongs to then, and which command would
 * run it.  `plain`: not what other rules know by its name, which are named for other reasons. */
struct hold_naming {
	const char *rule, *what;
	bool plain;
	bool flag; /* what is named is flagged, not held */
	bool node; /* its words can be programs of node_modules/.bin */
	char lead; /* of words that count; 0: all do */
	enum hold_words_of of;
	const char *const *files; /* whose words; NULL: the rule's own files */
	/* By their keys, or the word before; each list ends in NULL. */
	const char *const *keys;     /* words that count; NULL: all do */
	const char *const *settings; /* which name more settings: held, and read in turn */
	const char *const *folders;  /* which name a folder, with all that is in it */
};

/* What words of a command or a script name, from the folder `dir`, which is one of the workspace's
 * or an absolute path. */
int hold_follow_words(struct hold_judge *j, const char *dir, struct span text,
		      const struct hold_naming *naming, const char *by);

/* The same of a file, whose own folder counts as well; `more`: settings that it names. */
int hold_follow_file(struct hold_judge *j, const char *root, const char *file, struct span text,
		     const struct hold_naming *naming, struct hold_includes *more);

/* --- hold_goes.c ------------------------------------------------------------------------ */

enum hold_goes {
	HOLD_GOES_NOWHERE,  /* no other folder than those that are looked in anyway */
	HOLD_GOES_THERE,    /* to a path */
	HOLD_GOES_ANYWHERE, /* only a shell could tell where to */
};

/* Where `cd` or its like goes, whose arguments begin at `at`. */
enum hold_goes hold_goes_to(struct span text, size_t at, char into[PATH_MAX]);

/* What stands at `at` is behind a substitution that is such a folder: $(dirname "$0")/x. */
bool hold_goes_is_known(struct span text, size_t at);

/* --- hold_all.c ------------------------------------------------------------------------- */

enum hold_all_kind {
	HOLD_ALL_FILE,   /* one file */
	HOLD_ALL_FILES,  /* what matches a pattern */
	HOLD_ALL_FOLDER, /* all that is in it */
	HOLD_ALL_GOES,   /* a folder that is gone to */
};

/* `moved`: it was said in a folder that was gone to. */
typedef int hold_all_found(void *context, const char *path, enum hold_all_kind kind, bool moved);

/* What a text of a shell's, or one that has such texts in quotes, runs by a pattern or by its folder.
 * The first answer that is not 0 stops it, and is returned.  -E2BIG: it says more than can be told. */
int hold_all_look(struct span text, hold_all_found *found, void *context);

/* --- hold_code.c: of the word from `at` to `end` of a text ------------------------------- */

/* By it the code comes to a folder that is not told here. */
bool hold_code_computes(struct span text, size_t at, size_t end, const char *word);

/* It is os.chdir( or its like: into the folder that is written out there; "": into none that is. */
bool hold_code_goes(struct span text, size_t end, const char *word, char into[PATH_MAX]);

/* It is PATH, and gets a folder that is not told here. */
bool hold_code_sets_path(struct span text, size_t at, size_t end, const char *word);

/* It is a whole string of the code's. */
bool hold_code_is_string(struct span text, size_t at, size_t end);

/* Its line loads something: require(path.join(a, "b")). */
bool hold_code_loads(struct span text, size_t at);

/* The code lists a folder, and runs something that it does not write out. */
bool hold_code_lists(struct span text);

/* The end of a name whose beginning is a variable: $n.sh; NULL: it is none. */
const char *hold_code_ending(struct span text, size_t at, const char *word);

/* It is a folder, and what follows tells which file there: tools/$NAME, "tools/" + name. */
bool hold_code_is_folder(struct span text, size_t end, const char *word);

/* What files of the user's in the folder `dir` name: hold_named.c. */
int hold_look_named(struct hold_judge *j, const char *dir);

/* What a file of settings of the user's says, and those that it includes; `root` as `dir`. */
int hold_look_files(struct hold_judge *j, const char *root, const char *file);

/* --- hold_around.c ---------------------------------------------------------------------- */

/* What the user's own settings of git name, in the repository whose top is `root`. */
int hold_look_user(struct hold_judge *j, const char *root);

/* What the repository names that the workspace lies in, or is a worktree of. */
int hold_look_outside(struct hold_judge *j);

/* core.hooksPath of `file` names this folder of the workspace. */
int hold_place_hooks(struct hold_judge *j, const char *root, const char *path, const char *file);

/* --- hold_home.c ------------------------------------------------------------------------ */

/* What of the workspace the home has by links, as one of a rule's files. */
int hold_look_home(struct hold_judge *j);

/* --- hold_path.c ------------------------------------------------------------------------ */

/* Programs that come into a folder that this text of the user's puts in PATH. */
int hold_look_programs(struct hold_judge *j, const char *root, struct span text, const char *rule,
		       const char *by);

#define HOLD_MODULES_BIN "node_modules/.bin"

struct hold_naming;

/* The same of a hook, and of the files that it sources, whose words count too. */
int hold_look_run(struct hold_judge *j, const char *root, const char *file, struct span text,
		  const struct hold_naming *naming);

/* npx, npm and their like run programs of node_modules/.bin, and these have it in PATH: so a text
 * that speaks of them does. */
bool hold_says_node(struct span text, const char *file);

/* --- the user's settings: hold_user.c -------------------------------------------------- */

/* A path as git takes it that `file` says: from the home, or from where the file is. */
bool hold_user_path(const char *home, const char *file, const char *value, char into[PATH_MAX]);

/* Adds the settings of a file outside the workspace, and of those that it includes.  One that git
 * cannot read either adds nothing. */
int hold_user_read(struct arena *arena, struct hold_outside *into, const char *home,
		   const char *path, struct error *e);

/* A section of git's settings that names what git runs. */
bool hold_user_runs(const char *section);

/* The file that sets up a driver; NULL: none. */
const char *hold_user_driver(const struct hold_outside *o, const char *section, struct span name);

/* --- settings: hold_keys.c ------------------------------------------------------------ */

enum hold_key {
	HOLD_KEY_HARMLESS,
	HOLD_KEY_LEADS, /* names a remote: worth a look when that is not one that was there */
	HOLD_KEY_SHOWN, /* runs nothing, and is worth a look */
	HOLD_KEY_RUNS,  /* or is not known */
};

struct git_config;

/* What a setting does; *ret_by: which command would obey it. */
enum hold_key hold_key_of(const struct git_config *g, const char **ret_by);

/* How long the names of objects are in a repository with these settings. */
uint8_t hold_name_len(struct span config);

/* By its settings git fetches what is missing. */
bool hold_is_partial(struct span config);

#endif
