/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of the command line and their options, as one table.  The parser,
 * --help, the man pages and the completions of bash, zsh and fish all come from
 * it; a verb is one row here, and in its program one file and a row of verb_act.
 */
#ifndef BAWN_VERBS_H
#define BAWN_VERBS_H

#include "base.h"
#include "error.h"

/* Exit codes that are ours.  A command run in the box gives its own. */
enum {
	EXIT_OK = 0,
	EXIT_FOUND = 1,  /* doctor, verify, policy, record: something is wrong, open or denied */
	EXIT_USAGE = 2,  /* the command line makes no sense */
	EXIT_BAWN = 125, /* run, shell: bawn itself failed; nothing was run */
	EXIT_NOT_RUNNABLE = 126,
	EXIT_NOT_FOUND = 127,
};

enum option_id {
	OPTION_HELP,
	OPTION_JSON,
	OPTION_QUIET,
	OPTION_PRESET,
	OPTION_BACKEND,
	OPTION_WORKSPACE,
	OPTION_READ_ONLY,
	OPTION_READ,
	OPTION_WRITE,
	OPTION_HIDE,
	OPTION_ALLOW,
	OPTION_DENY,
	OPTION_USE,
	OPTION_SSH,
	OPTION_ENV,
	OPTION_LIMIT,
	OPTION_WITHOUT,
	OPTION_DEBUG,
	OPTION_STDIO,
	OPTION_METHOD,
	OPTION_SESSION,
	OPTION_FOR,
	OPTION_HOST,
	OPTION_PATH,
	OPTION_HEADER,
	OPTION_IN,
	OPTION_KIND,
	OPTION_VARIABLE,
	OPTION_FILE,
	OPTION_FROM_ENV,
	OPTION_FROM_FILE,
	OPTION_FROM_COMMAND,
	OPTION_EXPIRES,
	OPTION_REFRESH,
	/* log */
	OPTION_FOLLOW,
	OPTION_LAST,
	OPTION_TREE,
	OPTION_EVENT_KIND,
	OPTION_EVENT_HOST,
	OPTION_EVENT_PATH,
	OPTION_PROCESS,
	OPTION_VERDICT,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_FORMAT,
	OPTION_TO,
	/* records */
	OPTION_KEY,
	OPTION_ANCHOR,
	OPTION_YES,
	OPTION_OLDER_THAN,
	OPTION_KEEP_SIZE,
	OPTION_DRY_RUN,
	OPTION_ALL,
	/* the workspace */
	OPTION_DIRECT,
	OPTION_REVIEW,
	OPTION_CONTINUE,
	OPTION_FRESH,
	OPTION_SYSTEM,
	OPTION_WORKTREE,
	OPTION_STAT,
	OPTION_HELD,
	OPTION_BETWEEN,
	OPTION_THEIRS,
	OPTION_OURS,
	OPTION_MERGE,
	OPTION_MARKERS,
	OPTION_RELEASE,
	OPTION_SEEN,
	OPTION_REDO,
	OPTION_ANYWAY,
	OPTION_LEAVE_CHANGED,
	OPTION_HOME,
	OPTION_PATCH,
	OPTION_FROM,
	OPTION_KEEP_SYSTEM,
	OPTION_NAME_ONLY,
	OPTION_HOW_MANY,
	OPTION_TEXT,
	OPTION_WORD,
	OPTION_TOOL,
	OPTION_NO_PAGER,
	/* sessions */
	OPTION_DETACH,
	OPTION_PUBLISH,
	OPTION_HOST_PORT,
	OPTION_DETACH_KEY,
	OPTION_WATCH,
	OPTION_NAME,
	OPTION_COUNT,
};

/* A set of options. */
__extension__ typedef unsigned __int128 option_set;
#define OPTION_BIT(id) ((option_set)1 << (id))

struct option {
	const char *name;  /* "workspace", typed --workspace */
	const char *value; /* "DIR"; NULL for a switch */
	const char *key;   /* the policy key it sets, "files.read"; NULL when it is not policy */
	const char *help;  /* one line */
	enum option_id id;
	char letter;  /* 0 for none */
	bool repeats; /* more than one is a list; else giving it twice is refused */
};

struct invocation;

struct verb {
	const char *name;
	const char *usage;        /* "[OPTIONS] -- COMMAND [ARGUMENT...]" */
	const char *summary;      /* one line */
	const char *description;  /* paragraphs, separated by blank lines; for man */
	const char *examples;     /* lines "command\tmeaning", for --help and man */
	const char *exits;        /* lines "code\tmeaning", for man */
	const char *const *words; /* what its arguments may be, or NULL when free */
	size_t word_count;
	const char *program; /* the program that does it; NULL: bawn itself */
	option_set options;
	int arguments_min;
	int arguments_max; /* -1: any number */
	bool first_word;   /* only the first of its arguments is one of the words */
	bool command;      /* its arguments are a command: the first word ends the options */
	bool hidden;
};

/* What a program does for a verb of its own; returns the exit code. */
struct verb_act {
	const char *name;
	int (*run)(const struct invocation *i);
};

struct invocation_value {
	enum option_id id;
	const char *value; /* "" for a switch */
};

/* A command line that was understood. */
struct invocation {
	const struct verb *verb;
	struct invocation_value *values;
	size_t value_count;
	char **arguments; /* what follows the options (or "--"); NULL-terminated */
	int argument_count;
	bool dashed;  /* all of them stand behind "--" */
	char **words; /* the whole command line, as we got it */
};

extern const struct verb verbs[];
extern const size_t verb_count;
extern const struct option options[OPTION_COUNT]; /* indexed by id */

/*
 * The words that an option's value can be (for NAME=VALUE: the names), as in the policy's grammar;
 * returns how many; 0 when any text is allowed.  At most OPTION_WORDS_MAX.
 */
enum { OPTION_WORDS_MAX = 32 };
size_t option_words(const struct option *o, const char *ret_words[OPTION_WORDS_MAX]);

bool invocation_has(const struct invocation *i, enum option_id id);
const char *invocation_value(const struct invocation *i, enum option_id id); /* last, or NULL */

/* The AGE (in seconds) or SIZE (in bytes) of an option, written like the policy's limits; *ret_has:
 * the user gave it, and it is not "unlimited". */
enum amount { AMOUNT_AGE, AMOUNT_SIZE };
int invocation_amount(const struct invocation *i, enum option_id id, enum amount what,
		      bool *ret_has, uint64_t *ret, struct error *e);

int verb_completion(const struct invocation *i);
int verb_help(const struct invocation *i);
int verb_version(const struct invocation *i);
int verb_man(const struct invocation *i); /* hidden: the build makes the manual pages with it */

/* Prints an error as every verb does: "bawn: sentence", then what to do next, on stderr. */
void verb_complain(const struct error *e);

#endif
