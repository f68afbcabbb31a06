/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of a policy, as one table.  From a row come the reading of its value
 * (in a file and on the command line), what each layer may do with it, and the
 * lines about it in docs/POLICY.md and man/bawn-policy.5, which a test compares.
 *
 * Every scalar is read by the type of its row, never guessed: "no" is a word
 * where words are wanted and an error where true or false is.
 *
 * A value that is one thing (a word, a number, true or false) is a number, and
 * of two such values the smaller one gives the agent less.  That one order is
 * what "narrow" and "ceiling" mean for it.
 */
#ifndef BAWN_GRAMMAR_H
#define BAWN_GRAMMAR_H

#include "policy.h"

enum grammar_key {
	GRAMMAR_BACKEND,
	GRAMMAR_PRESET,
	GRAMMAR_WORKSPACE_ACCESS,
	GRAMMAR_WORKSPACE_MODE,
	GRAMMAR_WORKSPACE_SNAPSHOTS,
	GRAMMAR_FILES_READ,
	GRAMMAR_FILES_WRITE,
	GRAMMAR_FILES_HIDE,
	GRAMMAR_ENV_PASS,
	GRAMMAR_ENV_DROP,
	GRAMMAR_ENV_SET,
	GRAMMAR_TOOLS,
	GRAMMAR_NETWORK,
	GRAMMAR_SECRETS,
	GRAMMAR_PROXY,
	GRAMMAR_LIMITS, /* the first of the limits; they follow in the order of plan_limit_kind */
	GRAMMAR_LIMITS_LAST = GRAMMAR_LIMITS + PLAN_LIMIT_COUNT - 1,
	GRAMMAR_LIMITS_MISSING,
	GRAMMAR_TMP_SIZE,
	GRAMMAR_DEBUG,
	GRAMMAR_RECORD_READS,
	GRAMMAR_RECORD_MARK,
	GRAMMAR_HOLDS_RULES,
	GRAMMAR_HOLDS_PATHS,
	GRAMMAR_TERMINAL_ALLOW,
	GRAMMAR_SYSTEM_KEEP,
	GRAMMAR_KEEP_DAYS,
	GRAMMAR_KEEP_SIZE,
	GRAMMAR_WITHOUT,
	GRAMMAR_KEY_COUNT,
};

enum grammar_type {
	GRAMMAR_WORD,     /* one of the row's words, which stand in order of what they give */
	GRAMMAR_BOOL,     /* true or false */
	GRAMMAR_NAME,     /* of a preset */
	GRAMMAR_URL,      /* of a proxy, or one of the row's words */
	GRAMMAR_NUMBER,   /* decimal, or "unlimited" */
	GRAMMAR_SIZE,     /* bytes, with K, M, G or T, or "unlimited" */
	GRAMMAR_DURATION, /* seconds, with s, m, h or d, or "unlimited" */
	GRAMMAR_WORDS,    /* list of layers, of which the row's words may be named */
	GRAMMAR_CHOICES,  /* list of the row's words */
	GRAMMAR_PATHS,    /* list */
	GRAMMAR_NAMES, /* list of names of the environment, each with at most one '*', at its end */
	GRAMMAR_MAP,   /* names of the environment and their values */
	GRAMMAR_RULES, /* list of rules for the network (rule.h) */
	GRAMMAR_SECTIONS, /* secrets by their names (secret.h) */
	GRAMMAR_LEVELS,   /* list of rules for holds, each with its level: RULE=LEVEL (holds.h) */
	GRAMMAR_PATTERNS, /* list of patterns of paths (holds.h) */
};

/* What a repository's own file may do with a key. */
enum grammar_narrow {
	GRAMMAR_NARROW_UNSAID, /* a row without this is a bug: a test fails */
	GRAMMAR_NARROW_LESS,   /* a smaller value counts; a larger one is not given */
	GRAMMAR_NARROW_ADD,    /* more of it gives the agent less: items are added */
	GRAMMAR_NARROW_DENY,   /* of rules only those that deny count */
	GRAMMAR_NARROW_PLACES, /* of secrets only fewer places */
	GRAMMAR_NARROW_RAISE,  /* of levels only higher ones count */
	GRAMMAR_NARROW_NEVER,  /* not given */
};

/* What a key means in the administrator's ceiling. */
enum grammar_ceiling {
	GRAMMAR_CEILING_UNSAID, /* a row without this is a bug: a test fails */
	GRAMMAR_CEILING_MOST,   /* the largest value */
	GRAMMAR_CEILING_WITHIN, /* only these, and what is beneath, may be asked for; absent = any
				 */
	GRAMMAR_CEILING_ONLY,   /* only these may be asked for; absent = none */
	GRAMMAR_CEILING_RULES,  /* only what they allow may be allowed; absent = any */
	GRAMMAR_CEILING_PLACES, /* of secrets only these, at most there; absent = any */
	GRAMMAR_CEILING_LEAST,  /* of levels these at least */
	GRAMMAR_CEILING_ADD,    /* added to everyone's */
	GRAMMAR_CEILING_NO,     /* has no place there */
};

struct grammar_row {
	const char *name; /* dotted: section.key */
	enum grammar_type type;
	enum grammar_narrow narrow;
	enum grammar_ceiling ceiling;
	bool in_preset;           /* may stand in a preset */
	const char *standard;     /* the built-in value, as it would be written; NULL for none */
	const char *const *words; /* NULL-terminated */
	uint64_t least, most;     /* of a number, size or duration */
	const char *help;         /* one line */
};

extern const struct grammar_row grammar_rows[GRAMMAR_KEY_COUNT];

/* "unlimited": larger than every number that can be written. */
#define GRAMMAR_UNLIMITED UINT64_MAX

struct secret_said;

struct grammar_item {
	const char *text;        /* the path (normal), the name or the word */
	const char *value;       /* of a map's entry, a rule's level */
	unsigned int layer_word; /* of GRAMMAR_WORDS: enum plan_layer */
	enum policy_layer layer;
	const char *origin;
	LIST_OF(const struct plan_rule) rules; /* of GRAMMAR_RULES; a bundle is many */
	const struct secret_said *secret;      /* of GRAMMAR_SECTIONS */
};

/* What one layer, or all layers so far, say about one key. */
struct grammar_value {
	bool set;
	uint64_t number;  /* word, bool, number, size, duration */
	const char *text; /* as it was written */
	enum policy_layer layer;
	const char *origin;
	LIST_OF(struct grammar_item) items; /* the types that are lists, and the map */
};

struct grammar_values {
	struct grammar_value of[GRAMMAR_KEY_COUNT];
};

bool grammar_is_list(const struct grammar_row *row); /* or a map */

/* Adds an item; one of the same text is replaced in a map and kept in a list.  0 or -ENOMEM. */
int grammar_append(struct grammar_value *v, const struct grammar_row *row,
		   const struct grammar_item *item, struct arena *arena);

/* The built-in values. */
int grammar_standard(struct grammar_values *ret_values, struct arena *arena, struct error *e);

/* One file, strictly. */
int grammar_read(const struct policy_source *source, struct grammar_values *ret_values,
		 struct arena *arena, struct error *e);

/*
 * One option of the command line: replaces a value, adds to a list.  A rule's key has its word:
 * "network.allow", "network.deny", "network.ask", "network.use".
 */
int grammar_read_flag(const struct policy_flag *flag, struct grammar_values *values,
		      struct arena *arena, struct error *e);

#endif
