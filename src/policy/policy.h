/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy: what the user, the preset, the repository and the administrator
 * asked for, merged into one value per question.  Every value remembers where
 * it came from ("default", "preset claude", "/path/file.yaml:12", "--write").
 * Pure data and pure decisions: nothing here opens a file or asks the kernel.
 *
 * Layers of policy, in the order they are merged:
 *
 *	default		built in
 *	preset		for one agent, shipped as data
 *	store		what `bawn secret` keeps: secrets, and nothing else
 *	user		$XDG_CONFIG_HOME/bawn/config.yaml: may widen
 *	repository	.bawn.yaml in the workspace: may only narrow; what would
 *			widen is not given, and noted
 *	flags		of this command line: may widen
 *	ceiling		/etc/bawn/policy.yaml: an error when exceeded, naming both places
 */
#ifndef BAWN_POLICY_H
#define BAWN_POLICY_H

#include "plan.h"

enum policy_layer {
	POLICY_DEFAULT,
	POLICY_PRESET,
	POLICY_STORE,
	POLICY_USER,
	POLICY_REPOSITORY,
	POLICY_FLAGS,
	POLICY_CEILING,
};

/*
 * A path in its one spelling (no empty, "." or ".." component, no trailing slash):
 * absolute, "~", "~/..." or, in a repository's file only, relative to the workspace.
 */
struct policy_path {
	const char *path;
	const char *origin;
	bool repository; /* from a repository's file */
};

struct policy_env_set {
	const char *name;
	const char *value;
	const char *origin;
};

struct policy_number {
	bool set; /* false: unlimited */
	uint64_t value;
	const char *origin;
};

/* Where a secret's value is, outside. */
enum policy_from {
	POLICY_FROM_STORE,   /* `bawn secret add` put it into a file of bawn's own */
	POLICY_FROM_KEYRING, /* or into the user's keyring, by the Secret Service */
	POLICY_FROM_ENV,     /* a variable */
	POLICY_FROM_FILE,    /* a file, whole */
	POLICY_FROM_COMMAND, /* what a command prints */
	POLICY_FROM_SETTINGS, /* settings of a package manager (prepare/mirror.h); nobody writes it */
	POLICY_FROM_COUNT,
};

struct policy_secret_file {
	const char *path; /* inside; absolute, or "~/..." */
	const char *text; /* "{}" stands for the placeholder, "{1}" for another part's, "\\n" for a
			     new line */
};

/* A variable inside that has the placeholder within other text: "{}" stands for it, "{basic:USER}"
 * for base64 of USER, a colon and it. */
struct policy_secret_text {
	const char *variable;
	const char *text;
};

/* A secret as the policy asks for it, without its value. */
struct policy_secret {
	const char *name;
	unsigned int kind; /* enum plan_secret_kind */
	LIST_OF(struct plan_binding) bindings;
	bool in_authorization, in_query, in_body, in_websocket;
	LIST_OF(struct plan_string) headers;    /* lower case */
	LIST_OF(struct plan_string) parameters; /* of query and body; none: anywhere in them */
	LIST_OF(struct plan_string) variables;  /* inside; of kind aws one for each part */
	LIST_OF(struct policy_secret_file) files;
	LIST_OF(struct policy_secret_text) texts;
	LIST_OF(struct plan_string) shapes; /* one for each part (shape.h) */
	unsigned int from;                  /* enum policy_from */
	const char *from_text;              /* the variable, the path, the command; else "" */
	uint64_t expires;                   /* of a stored value: seconds since 1970; 0: never */
	uint64_t refresh;                   /* of the others: seconds; 0: read once */
	const char *origin;
};

struct policy {
	unsigned int backend; /* enum plan_backend */
	const char *backend_origin;
	const char *preset; /* "" for none */
	unsigned int workspace_access;
	const char *workspace_origin;
	unsigned int workspace_mode; /* enum plan_mode */
	const char *workspace_mode_origin;
	bool snapshots;
	const char *snapshots_origin;
	LIST_OF(struct policy_path) read;       /* more to read */
	LIST_OF(struct policy_path) write;      /* more to write */
	LIST_OF(struct policy_path) hide;       /* not even to be seen; wins over read and write */
	LIST_OF(struct policy_path) env_pass;   /* names, or patterns with one trailing '*' */
	LIST_OF(struct policy_path) env_drop;   /* the same; never in the box, whoever passed it */
	LIST_OF(struct policy_env_set) env_set; /* none that env_drop names */
	bool tools;                             /* mount the user's own tool folders */
	const char *tools_origin;
	struct policy_number limits[PLAN_LIMIT_COUNT];
	bool limits_said; /* one that cannot be kept is said, and does not stop the start */
	struct policy_number tmp_size; /* bytes, of each private tmpfs */
	bool debug;
	const char *debug_origin;
	bool system_keep;
	struct policy_number keep_days, keep_size; /* for `bawn prune` */
	unsigned int record_reads;                 /* enum plan_reads */
	const char *record_origin;
	LIST_OF(struct policy_path) record_mark;   /* their reads are recorded, wherever they are */
	LIST_OF(struct policy_env_set) hold_rules; /* a rule's name and level (holds.h) */
	LIST_OF(struct policy_path) hold_paths;    /* patterns, held as well */
	LIST_OF(struct policy_path) terminal;      /* plan_terminal_words */
	LIST_OF(struct plan_rule)
	network; /* what no rule allows is refused; the ceiling's come last */
	LIST_OF(struct policy_secret) secrets;
	const char *proxy; /* "environment", "none" or an address (upstream_proxy.h) */
	const char *proxy_origin;
	LIST_OF(struct policy_secret_file) made_up; /* files inside, read-only, without a secret */
	bool secrets_bounded;                       /* the ceiling says which there may be */
	LIST_OF(struct plan_without) without;
	LIST_OF(struct plan_note) notes; /* not given, warnings */
};

/* One layer's text, as read from outside. */
struct policy_source {
	enum policy_layer layer;
	const char *name; /* shown in origins and errors: a path, or "preset claude" */
	struct span text; /* YAML */
};

/* What the command line said, already split into words. */
struct policy_flag {
	const char *key;    /* dotted key of the grammar, "files.write" */
	const char *value;  /* as typed */
	const char *origin; /* "--write" */
};

/*
 * Merges sources (any order; at most one per layer) and flags.  On an error e names
 * file, line, column and the nearest valid word.  All strings live in the arena.
 *
 * The preset is the source given for that layer; without one, the built-in preset that
 * the flags, or else the user's file, name by the key "preset".  A verb with a preset of
 * its own (bawn shell) passes it as its first flag.  Paths in flags are absolute or
 * begin with "~/": the caller makes relative ones absolute.
 */
int policy_merge(const struct policy_source *sources, size_t source_count,
		 const struct policy_flag *flags, size_t flag_count, struct arena *arena,
		 struct policy *ret_policy, struct error *e);

/* pattern is a name, or ends in '*' and stands for every name (or pattern) that begins so. */
bool policy_name_matches(const char *pattern, const char *name);

/* The presets that are built in, from share/presets. */
const struct policy_source *policy_preset(const char *name); /* NULL when there is none */
const char *const *policy_preset_names(void);                /* sorted, NULL-terminated */
const char *policy_preset_name(const struct policy_source *preset);

/* The bundles of rules for the network that are built in, from share/bundles. */
const struct policy_source *policy_bundle(const char *name);
const char *const *policy_bundle_names(void);

/* What is known of secrets by their names, built in, from share/secrets: keys of a section. */
const struct policy_source *policy_known_secret(const char *name); /* NULL when there is none */
const char *const *policy_known_secret_names(void);

extern const char *const policy_from_words[POLICY_FROM_COUNT];

#endif
