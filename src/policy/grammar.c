/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of keys, and the one reader that follows it for files and for the
 * command line.  The reader checks a value whole, in every layer of policy, also
 * when the layer may not use it: a file is right or it is an error.
 * Only then merge.c decides which layer may say what.
 */
#include "grammar.h"

#include "holds.h"
#include "rule.h"
#include "secret.h"
#include "str.h"
#include "yaml_tree.h"
#include "value.h"

#include <stdio.h>

/* Ten years: far from any overflow of a clock. */
#define GRAMMAR_DURATION_MOST (3650ull * 86400)
#define GRAMMAR_SIZE_MOST ((uint64_t)INT64_MAX)

static const char *const grammar_backend_words[] = {"namespace", "host", NULL};
static const char *const grammar_access_words[] = {"read", "write", NULL};
static const char *const grammar_mode_words[] = {"review", "direct", NULL};
static const char *const grammar_reads_words[] = {"all", "outside", "none", NULL};
static const char *const grammar_missing_words[] = {"refuse", "say", NULL};
static const char *const grammar_proxy_words[] = {"environment", "none", NULL};
static const char *const grammar_bool_words[] = {"false", "true", NULL};

/* Layers that a box can be built without.  The others are the box. */
static const char *const grammar_without_words[] = {
	"landlock",      "seccomp",          "net-namespace", "pid-namespace", "ipc-namespace",
	"uts-namespace", "cgroup-namespace", "nested-off",    "record",        NULL,
};

static const char *const grammar_terminal_words[] = {"clipboard", "title",  "notices",
						     "colours",   "images", NULL};

#define LIMIT(kind) (GRAMMAR_LIMITS + (kind))

/* clang-format off */
const struct grammar_row grammar_rows[GRAMMAR_KEY_COUNT] = {
	[GRAMMAR_BACKEND] = {
		.name = "backend", .type = GRAMMAR_WORD, .words = grammar_backend_words,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_MOST,
		.standard = "namespace",
		.help = "where it runs: namespace is the box, host is no box at all (UNSAFE)",
	},
	[GRAMMAR_PRESET] = {
		.name = "preset", .type = GRAMMAR_NAME,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_NO,
		.help = "the preset to start from",
	},
	[GRAMMAR_WORKSPACE_ACCESS] = {
		.name = "workspace.access", .type = GRAMMAR_WORD, .words = grammar_access_words,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "write",
		.help = "what it may do with the workspace",
	},
	[GRAMMAR_WORKSPACE_MODE] = {
		.name = "workspace.mode", .type = GRAMMAR_WORD, .words = grammar_mode_words,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "review",
		.help = "whether what it writes lands when you apply it (review), or at once",
	},
	[GRAMMAR_WORKSPACE_SNAPSHOTS] = {
		.name = "workspace.snapshots", .type = GRAMMAR_BOOL, .words = grammar_bool_words,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "false",
		.help = "whether it may ask for snapshots of itself, and read earlier ones",
	},
	[GRAMMAR_FILES_READ] = {
		.name = "files.read", .type = GRAMMAR_PATHS,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_WITHIN,
		.in_preset = true,
		.help = "files and folders it may also read and run",
	},
	[GRAMMAR_FILES_WRITE] = {
		.name = "files.write", .type = GRAMMAR_PATHS,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_WITHIN,
		.in_preset = true,
		.help = "files and folders it may also read, run and write",
	},
	[GRAMMAR_FILES_HIDE] = {
		.name = "files.hide", .type = GRAMMAR_PATHS,
		.narrow = GRAMMAR_NARROW_ADD, .ceiling = GRAMMAR_CEILING_ADD,
		.in_preset = true,
		.help = "files and folders it must not see, also inside the workspace",
	},
	[GRAMMAR_ENV_PASS] = {
		.name = "env.pass", .type = GRAMMAR_NAMES,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_WITHIN,
		.in_preset = true,
		.help = "variables of your environment that it also gets",
	},
	[GRAMMAR_ENV_DROP] = {
		.name = "env.drop", .type = GRAMMAR_NAMES,
		.narrow = GRAMMAR_NARROW_ADD, .ceiling = GRAMMAR_CEILING_ADD,
		.in_preset = true,
		.help = "variables that it never gets, whoever passes or sets them",
	},
	[GRAMMAR_ENV_SET] = {
		.name = "env.set", .type = GRAMMAR_MAP,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_NO,
		.in_preset = true,
		.help = "variables that it gets with this value",
	},
	[GRAMMAR_TOOLS] = {
		.name = "tools", .type = GRAMMAR_BOOL, .words = grammar_bool_words,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "true",
		.help = "whether it may use the tool folders of your home (nvm, cargo, pyenv, ...)",
	},
	[GRAMMAR_NETWORK] = {
		.name = "network", .type = GRAMMAR_RULES,
		.narrow = GRAMMAR_NARROW_DENY, .ceiling = GRAMMAR_CEILING_RULES,
		.in_preset = true,
		.help = "rules for what it may reach; what no rule allows is closed",
	},
	[GRAMMAR_SECRETS] = {
		.name = "secrets", .type = GRAMMAR_SECTIONS,
		.narrow = GRAMMAR_NARROW_PLACES, .ceiling = GRAMMAR_CEILING_PLACES,
		.help = "values that it can use and never see, and where",
	},
	[GRAMMAR_PROXY] = {
		.name = "proxy", .type = GRAMMAR_URL, .words = grammar_proxy_words,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_NO,
		.standard = "environment",
		.help = "the proxy by which it reaches what rules allow; environment: https_proxy and its kin",
	},
	[LIMIT(PLAN_LIMIT_PROCESSES)] = {
		.name = "limits.processes", .type = GRAMMAR_NUMBER,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "1024", .least = 16, .most = 4 << 20,
		.help = "processes and threads at one time",
	},
	[LIMIT(PLAN_LIMIT_OPEN_FILES)] = {
		.name = "limits.open-files", .type = GRAMMAR_NUMBER,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "16384", .least = 64, .most = 1 << 30,
		.help = "open files of each process",
	},
	[LIMIT(PLAN_LIMIT_FILE_SIZE)] = {
		.name = "limits.file-size", .type = GRAMMAR_SIZE,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited", .least = 1, .most = GRAMMAR_SIZE_MOST,
		.help = "size of each file it writes",
	},
	[LIMIT(PLAN_LIMIT_MEMORY)] = {
		.name = "limits.memory-per-process", .type = GRAMMAR_SIZE,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited",
		.least = 16 << 20, .most = GRAMMAR_SIZE_MOST,
		.help = "memory for the data of each process",
	},
	[LIMIT(PLAN_LIMIT_CPU_TIME)] = {
		.name = "limits.cpu-time", .type = GRAMMAR_DURATION,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited",
		.least = 1, .most = GRAMMAR_DURATION_MOST,
		.help = "processor time of each process",
	},
	[LIMIT(PLAN_LIMIT_WALL_TIME)] = {
		.name = "limits.wall-time", .type = GRAMMAR_DURATION,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited",
		.least = 1, .most = GRAMMAR_DURATION_MOST,
		.help = "time by the clock, of the whole session",
	},
	[LIMIT(PLAN_LIMIT_IDLE_TIME)] = {
		.name = "limits.idle-time", .type = GRAMMAR_DURATION,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited",
		.least = 1, .most = GRAMMAR_DURATION_MOST,
		.help = "time without a sign of life, after which the session ends",
	},
	[LIMIT(PLAN_LIMIT_OUTPUT)] = {
		.name = "limits.output", .type = GRAMMAR_SIZE,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited", .least = 1, .most = GRAMMAR_SIZE_MOST,
		.help = "bytes that its commands write to terminals and streams, of the whole session",
	},
	[LIMIT(PLAN_LIMIT_NETWORK)] = {
		.name = "limits.network-bytes", .type = GRAMMAR_SIZE,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited", .least = 1, .most = GRAMMAR_SIZE_MOST,
		.help = "bytes sent and received over the network, of the whole session",
	},
	[LIMIT(PLAN_LIMIT_LAYERS)] = {
		.name = "limits.layers-size", .type = GRAMMAR_SIZE,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited",
		.least = 1 << 20, .most = GRAMMAR_SIZE_MOST,
		.help = "room on the disk for what it writes to its layers; above it the session pauses",
	},
	[LIMIT(PLAN_LIMIT_RECORD)] = {
		.name = "limits.record-size", .type = GRAMMAR_SIZE,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited",
		.least = 8 << 20, .most = GRAMMAR_SIZE_MOST,
		.help = "room on the disk for its record; above it the session pauses",
	},
	[LIMIT(PLAN_LIMIT_DISK_FREE)] = {
		.name = "limits.disk-free", .type = GRAMMAR_SIZE,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_NO,
		.in_preset = true, .standard = "64M", .least = 1 << 20, .most = GRAMMAR_SIZE_MOST,
		.help = "room that is left on the disk of its layers; below it the session pauses",
	},
	[LIMIT(PLAN_LIMIT_BOX_MEMORY)] = {
		.name = "limits.memory", .type = GRAMMAR_SIZE,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited",
		.least = 16 << 20, .most = GRAMMAR_SIZE_MOST,
		.help = "memory of the whole box; by a cgroup",
	},
	[LIMIT(PLAN_LIMIT_BOX_MEMORY_SOFT)] = {
		.name = "limits.memory-soft", .type = GRAMMAR_SIZE,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited",
		.least = 16 << 20, .most = GRAMMAR_SIZE_MOST,
		.help = "memory of the whole box above which it is slowed down; by a cgroup",
	},
	[LIMIT(PLAN_LIMIT_BOX_CPU)] = {
		.name = "limits.cpu-percent", .type = GRAMMAR_NUMBER,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited", .least = 1, .most = 1 << 20,
		.help = "processor time of the whole box, in percent of one processor; by a cgroup",
	},
	[LIMIT(PLAN_LIMIT_BOX_CPU_WEIGHT)] = {
		.name = "limits.cpu-weight", .type = GRAMMAR_NUMBER,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited", .least = 1, .most = 10000,
		.help = "its share of busy processors, where other programs have 100; by a cgroup",
	},
	[LIMIT(PLAN_LIMIT_BOX_IO_WEIGHT)] = {
		.name = "limits.io-weight", .type = GRAMMAR_NUMBER,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "unlimited", .least = 1, .most = 10000,
		.help = "its share of busy disks, where other programs have 100; by a cgroup",
	},
	[GRAMMAR_LIMITS_MISSING] = {
		.name = "limits.missing", .type = GRAMMAR_WORD, .words = grammar_missing_words,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "refuse",
		.help = "what to do about a limit that this machine cannot keep: not start, or say so",
	},
	[GRAMMAR_TMP_SIZE] = {
		.name = "limits.tmp-size", .type = GRAMMAR_SIZE,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "2G", .least = 1 << 20, .most = GRAMMAR_SIZE_MOST,
		.help = "size of the private /tmp, which is memory",
	},
	[GRAMMAR_DEBUG] = {
		.name = "debug", .type = GRAMMAR_BOOL, .words = grammar_bool_words,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.in_preset = true, .standard = "false",
		.help = "whether its processes may trace each other (gdb, strace)",
	},
	[GRAMMAR_RECORD_READS] = {
		.name = "record.reads", .type = GRAMMAR_WORD, .words = grammar_reads_words,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.standard = "outside",
		.help = "which files that it reads are recorded; outside: granted, marked or hidden ones",
	},
	[GRAMMAR_RECORD_MARK] = {
		.name = "record.mark", .type = GRAMMAR_PATHS,
		.narrow = GRAMMAR_NARROW_ADD, .ceiling = GRAMMAR_CEILING_ADD,
		.in_preset = true,
		.help = "files and folders whose reading is recorded, also inside the workspace",
	},
	[GRAMMAR_HOLDS_RULES] = {
		.name = "holds.rules", .type = GRAMMAR_LEVELS, .words = policy_hold_words,
		.narrow = GRAMMAR_NARROW_RAISE, .ceiling = GRAMMAR_CEILING_LEAST,
		.help = "what becomes of changes that would run later, rule by rule",
	},
	[GRAMMAR_HOLDS_PATHS] = {
		.name = "holds.paths", .type = GRAMMAR_PATTERNS,
		.narrow = GRAMMAR_NARROW_ADD, .ceiling = GRAMMAR_CEILING_ADD,
		.help = "changes of these paths are held as well, at any depth",
	},
	[GRAMMAR_TERMINAL_ALLOW] = {
		.name = "terminal.allow", .type = GRAMMAR_CHOICES, .words = grammar_terminal_words,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_WITHIN,
		.in_preset = true,
		.help = "what it may do with your terminal besides showing text",
	},
	[GRAMMAR_SYSTEM_KEEP] = {
		.name = "system.keep", .type = GRAMMAR_BOOL, .words = grammar_bool_words,
		.narrow = GRAMMAR_NARROW_LESS, .ceiling = GRAMMAR_CEILING_MOST,
		.standard = "false",
		.help = "whether what it changes of its system (--system) stays, for this workspace",
	},
	[GRAMMAR_KEEP_DAYS] = {
		.name = "keep.days", .type = GRAMMAR_NUMBER,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_NO,
		.standard = "unlimited", .least = 1, .most = 36500,
		.help = "for how many days 'bawn prune' keeps records and what undo needs",
	},
	[GRAMMAR_KEEP_SIZE] = {
		.name = "keep.size", .type = GRAMMAR_SIZE,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_NO,
		.standard = "unlimited", .least = 1 << 20, .most = GRAMMAR_SIZE_MOST,
		.help = "how much of all that 'bawn prune' keeps; the oldest goes first",
	},
	[GRAMMAR_WITHOUT] = {
		.name = "without", .type = GRAMMAR_WORDS, .words = grammar_without_words,
		.narrow = GRAMMAR_NARROW_NEVER, .ceiling = GRAMMAR_CEILING_ONLY,
		.help = "layers of protection to go without",
	},
};
/* clang-format on */

bool grammar_is_list(const struct grammar_row *row)
{
	return row->type == GRAMMAR_WORDS || row->type == GRAMMAR_CHOICES ||
	       row->type == GRAMMAR_PATHS || row->type == GRAMMAR_NAMES ||
	       row->type == GRAMMAR_MAP || row->type == GRAMMAR_RULES ||
	       row->type == GRAMMAR_SECTIONS || row->type == GRAMMAR_LEVELS ||
	       row->type == GRAMMAR_PATTERNS;
}

int grammar_append(struct grammar_value *v, const struct grammar_row *row,
		   const struct grammar_item *item, struct arena *arena)
{
	size_t n = v->items.count;

	v->set = true;
	for (size_t i = 0; i < n; i++) {
		if (!str_equal(v->items.items[i].text, item->text))
			continue;
		if (row->type == GRAMMAR_MAP || row->type == GRAMMAR_SECTIONS ||
		    row->type == GRAMMAR_LEVELS)
			v->items.items[i] = *item;
		return 0;
	}
	/* Full at every power of two: then twice the room. */
	if ((n & (n - 1)) == 0) {
		struct grammar_item *more =
			arena_alloc(arena, (n ? 2 * n : 1) * sizeof(struct grammar_item));

		if (!more)
			return -ENOMEM;
		if (n > 0)
			memcpy(more, v->items.items, n * sizeof(*more));
		v->items.items = more;
	}
	v->items.items[v->items.count++] = *item;
	return 0;
}

/* --- files --- */

struct grammar_file {
	const struct policy_source *source;
	struct grammar_values *values;
	struct arena *arena;
	struct error *e;
};

static struct value_place grammar_place_value(const struct grammar_file *f,
					      const struct tree_node *n)
{
	return (struct value_place){f->source->name, n->line, n->column, f->source->layer};
}

static struct value_place grammar_place_key(const struct grammar_file *f, const struct tree_node *n)
{
	return (struct value_place){f->source->name, n->key_line, n->key_column, f->source->layer};
}

/* Refuses a scalar that was left out. */
static int grammar_need_scalar(const struct value_site *s, const struct tree_node *n)
{
	if (n->kind != TREE_SCALAR)
		return value_error(&s->at, s->e, "%s takes single values, not a %s here",
				   s->row->name, n->kind == TREE_LIST ? "list" : "section");
	if (n->empty)
		return value_error(&s->at, s->e, "%s has no value here", s->row->name);
	return 0;
}

static int grammar_read_item(const struct value_site *s, const struct tree_node *n,
			     struct grammar_value *value)
{
	if (s->row->type == GRAMMAR_RULES)
		return rule_read(s, n, value);
	if (s->row->type == GRAMMAR_SECTIONS)
		return secret_read(s, n, value);
	int r = grammar_need_scalar(s, n);

	return r < 0 ? r : value_read_item(s, n->key, n->text, value);
}

static int grammar_read_items(const struct grammar_file *f, const struct value_site *site,
			      const struct tree_node *n, struct grammar_value *value)
{
	bool sections = site->row->type == GRAMMAR_SECTIONS;
	bool is_map = site->row->type == GRAMMAR_MAP || sections;

	if (n->kind != (is_map ? TREE_MAP : TREE_LIST))
		return value_error(
			&site->at, f->e, "%s takes %s", site->row->name,
			sections ? "a section for each secret, beneath its name, {} for none"
			: is_map ? "names and values, {} for none"
			: site->row->type == GRAMMAR_RULES
				? "a list of rules, as \"- allow: github.com\", or [] for none"
				: "a list, as [one, two], or [] for none");
	value->set = true;
	value->layer = f->source->layer;
	value->origin = value_origin(&site->at, f->arena);
	if (!value->origin)
		return value_no_memory(f->e);
	for (const struct tree_node *c = n->children; c; c = c->next) {
		struct value_site item = *site;

		item.at = is_map ? grammar_place_key(f, c) : grammar_place_value(f, c);
		int r = grammar_read_item(&item, c, value);

		if (r < 0)
			return r;
	}
	return 0;
}

static int grammar_read_row(const struct grammar_file *f, enum grammar_key key,
			    const struct tree_node *n)
{
	const struct value_site site = {&grammar_rows[key], grammar_place_value(f, n), f->arena,
					f->e};
	const struct value_place key_at = grammar_place_key(f, n);

	if (f->source->layer == POLICY_CEILING && site.row->ceiling == GRAMMAR_CEILING_NO)
		return value_error(&key_at, f->e, "%s has no place in the administrator's ceiling",
				   site.row->name);
	if (f->source->layer == POLICY_PRESET && !site.row->in_preset)
		return value_error(&key_at, f->e, "%s has no place in a preset", site.row->name);
	if (f->source->layer == POLICY_STORE && key != GRAMMAR_SECRETS)
		return value_error(&key_at, f->e, "%s has no place among stored secrets",
				   site.row->name);
	if (grammar_is_list(site.row))
		return grammar_read_items(f, &site, n, &f->values->of[key]);
	int r = grammar_need_scalar(&site, n);

	return r < 0 ? r : value_read_scalar(&site, n->text, &f->values->of[key]);
}

/* The row of that name, or GRAMMAR_KEY_COUNT. */
static enum grammar_key grammar_find(const char *name)
{
	unsigned int key = 0;

	while (key < GRAMMAR_KEY_COUNT && !str_equal(grammar_rows[key].name, name))
		key++;
	return key;
}

/* The part of a row's name at this level: "read" of files.read beneath "files.". */
static bool grammar_level_word(const struct grammar_row *row, const char *prefix, char *word,
			       size_t size)
{
	const char *rest = str_after(row->name, prefix);

	if (!rest || strcspn(rest, ".") >= size)
		return false;
	memcpy(word, rest, strcspn(rest, "."));
	word[strcspn(rest, ".")] = '\0';
	return true;
}

/* The key that the user probably meant, at its right place: for "read" at the top, or
 * "files.read" in one word; or NULL. */
static const char *grammar_misplaced(const char *key)
{
	for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++) {
		const char *name = grammar_rows[i].name;
		const char *dot = strchr(name, '.');

		if (str_equal(name, key) || (dot && str_equal(dot + 1, key)))
			return name;
	}
	return NULL;
}

static int grammar_unknown_key(const struct grammar_file *f, const char *prefix,
			       const struct tree_node *n)
{
	const struct value_place at = grammar_place_key(f, n);
	const char *misplaced = grammar_misplaced(n->key);
	const char *dot = misplaced ? strchr(misplaced, '.') : NULL;
	char words[GRAMMAR_KEY_COUNT][64];
	const char *list[GRAMMAR_KEY_COUNT];
	size_t count = 0;

	if (dot)
		return value_error(
			&at, f->e, "unknown key %s%.64s; %s stands in the section %.*s, as its %s",
			prefix, n->key, misplaced, (int)(dot - misplaced), misplaced, dot + 1);
	if (misplaced)
		return value_error(&at, f->e, "unknown key %s%.64s; %s stands in no section",
				   prefix, n->key, misplaced);
	for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++) {
		if (!grammar_level_word(&grammar_rows[i], prefix, words[count], sizeof(words[0])))
			continue;
		list[count] = words[count];
		count++;
	}
	int r = value_error(&at, f->e, "unknown key %s%.64s", prefix, *n->key ? n->key : "(empty)");

	return value_suggest(f->e, r, n->key, list, count);
}

static bool grammar_is_section(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++)
		if (strncmp(grammar_rows[i].name, name, len) == 0 &&
		    grammar_rows[i].name[len] == '.')
			return true;
	return false;
}

/* The keys of one section; prefix is "" or "section.". */
static int grammar_read_section(const struct grammar_file *f, const char *prefix,
				const struct tree_node *section)
{
	for (const struct tree_node *n = section->children; n; n = n->next) {
		const struct value_place at = grammar_place_value(f, n);
		char name[128];
		int len = snprintf(name, sizeof(name), "%s%s", prefix, n->key);
		bool fits = len > 0 && (size_t)len < sizeof(name) - 1 && !strchr(n->key, '.');
		enum grammar_key key = fits ? grammar_find(name) : GRAMMAR_KEY_COUNT;
		int r = 0;

		if (key < GRAMMAR_KEY_COUNT) {
			r = grammar_read_row(f, key, n);
		} else if (!fits || !grammar_is_section(name)) {
			r = grammar_unknown_key(f, prefix, n);
		} else if (n->kind == TREE_MAP) {
			name[len] = '.';
			name[len + 1] = '\0';
			r = grammar_read_section(f, name, n);
		} else if (!n->empty) {
			r = value_error(&at, f->e, "%s is a section with keys beneath it", name);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int grammar_read(const struct policy_source *source, struct grammar_values *ret_values,
		 struct arena *arena, struct error *e)
{
	struct grammar_values values;
	const struct grammar_file f = {source, &values, arena, e};
	const struct tree_node *root = NULL;
	int r = tree_parse(source->name, source->text, arena, &root, e);

	if (r < 0)
		return r;
	memset(&values, 0, sizeof(values));
	if (root) {
		r = grammar_read_section(&f, "", root);
		if (r < 0)
			return r;
	}
	*ret_values = values;
	return 0;
}

/* --- what is not a file --- */

int grammar_standard(struct grammar_values *ret_values, struct arena *arena, struct error *e)
{
	struct grammar_values values;

	memset(&values, 0, sizeof(values));
	for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++) {
		const struct value_site site = {
			&grammar_rows[i], {.name = "default", .layer = POLICY_DEFAULT}, arena, e};
		int r = site.row->standard
				? value_read_scalar(&site, site.row->standard, &values.of[i])
				: 0;
		if (r < 0)
			return r;
	}
	*ret_values = values;
	return 0;
}

static int grammar_read_flag_value(const struct value_site *site, const char *text,
				   struct grammar_value *value)
{
	if (!grammar_is_list(site->row))
		return value_read_scalar(site, text, value);
	if (site->row->type != GRAMMAR_MAP)
		return value_read_item(site, NULL, text, value);
	const char *equals = strchr(text, '=');

	if (!equals)
		return value_error(&site->at, site->e, "%s takes NAME=VALUE, not %.64s",
				   site->row->name, text);
	const char *name = arena_strn(site->arena, text, (size_t)(equals - text));

	return name ? value_read_item(site, name, equals + 1, value) : value_no_memory(site->e);
}

int grammar_read_flag(const struct policy_flag *flag, struct grammar_values *values,
		      struct arena *arena, struct error *e)
{
	struct value_site site = {NULL, {.name = flag->origin, .layer = POLICY_FLAGS}, arena, e};
	const char *word = str_after(flag->key, "network.");
	enum grammar_key key = word ? GRAMMAR_NETWORK : grammar_find(flag->key);

	if (key == GRAMMAR_KEY_COUNT) {
		const char *names[GRAMMAR_KEY_COUNT];

		for (size_t i = 0; i < GRAMMAR_KEY_COUNT; i++)
			names[i] = grammar_rows[i].name;
		int r = value_error(&site.at, e, "unknown key %.64s", flag->key);

		return value_suggest(e, r, flag->key, names, GRAMMAR_KEY_COUNT);
	}
	site.row = &grammar_rows[key];
	if (!tree_text_is_plain(span_of_str(flag->value)))
		return value_error(&site.at, e,
				   "%s is one line, without control or invisible characters",
				   site.row->name);
	if (site.row->type == GRAMMAR_RULES)
		return rule_read_flag(&site, word ? word : "", flag->value, &values->of[key]);
	return grammar_read_flag_value(&site, flag->value, &values->of[key]);
}
