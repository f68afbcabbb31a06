/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From layers of policy to one policy.  The outcome so far is a struct grammar_values.
 * The grammar reads each layer whole; then the layer is merged into it:
 *
 *	default, preset, user, flags	replace a value, add to a list
 *	repository			by the row's `narrow`: less, more hidden, or a note
 *	ceiling				by the row's `ceiling`, last, over the outcome
 *
 * The table of grammar.c says what each layer may do.  This file names a single key
 * only where two keys meet (write implies read; env.drop wins) and where it copies the
 * outcome into struct policy.
 *
 * Invariants: a repository's file never makes the outcome wider, and a ceiling never does
 * (tests/lib/policy_within.c says so in other words, tested and fuzzed); ret_policy is written
 * only on success; every value names its origin.
 */
#include "merge_parts.h"

#include "rule.h"
#include "rules.h"
#include "str.h"

bool policy_name_matches(const char *pattern, const char *name)
{
	size_t len = strcspn(pattern, "*");

	if (pattern[len] == '\0')
		return str_equal(pattern, name);
	return strncmp(pattern, name, len) == 0;
}

const char *const merge_only_narrow = "a repository's file may only narrow";

int merge_no_memory(struct error *e)
{
	return error_set(e, -ENOMEM, "no memory to merge the policy");
}

/* Notes something that was asked for and not given; what and why are in the arena already. */
int merge_note(struct merge *m, const char *what, const char *why, const char *origin)
{
	if (!what || !why)
		return merge_no_memory(m->e);
	if (m->notes.count == m->note_room) {
		size_t room = m->note_room ? 2 * m->note_room : 8;
		struct plan_note *more = arena_alloc(m->arena, room * sizeof(*more));

		if (!more)
			return merge_no_memory(m->e);
		if (m->notes.count > 0)
			memcpy(more, m->notes.items, m->notes.count * sizeof(*more));
		m->notes.items = more;
		m->note_room = room;
	}
	m->notes.items[m->notes.count++] =
		(struct plan_note){PLAN_NOTE_NOT_GIVEN, what, why, origin, false, false};
	return 0;
}

/* How an item is shown: "files.write: ~/x", "env.set: NAME=value". */
static const char *merge_show_item(struct merge *m, const struct grammar_row *row,
				   const struct grammar_item *item)
{
	return arena_printf(m->arena, "%s: %s%s%s", row->name, item->text, item->value ? "=" : "",
			    item->value ? item->value : "");
}

static int merge_append_all(struct merge *m, enum grammar_key key, const struct grammar_value *from)
{
	for (size_t i = 0; i < from->items.count; i++)
		if (grammar_append(&m->values.of[key], &grammar_rows[key], &from->items.items[i],
				   m->arena) < 0)
			return merge_no_memory(m->e);
	return 0;
}

/* Merges a layer that may widen. */
static int merge_lay(struct merge *m, const struct grammar_values *from)
{
	for (unsigned int key = 0; key < GRAMMAR_KEY_COUNT; key++) {
		const struct grammar_value *v = &from->of[key];
		int r = 0;

		if (!v->set)
			continue;
		if (grammar_is_list(&grammar_rows[key]))
			r = merge_append_all(m, key, v);
		else
			m->values.of[key] = *v;
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the repository's file --- */

static int merge_narrow_less(struct merge *m, enum grammar_key key, const struct grammar_value *v)
{
	struct grammar_value *now = &m->values.of[key];

	if (v->number > now->number)
		return merge_note(m,
				  arena_printf(m->arena, "%s: %s", grammar_rows[key].name, v->text),
				  arena_printf(m->arena, "%s; %s stands, by %s", merge_only_narrow,
					       now->text, now->origin),
				  v->origin);
	if (v->number < now->number)
		*now = *v;
	return 0;
}

static int merge_narrow_never(struct merge *m, enum grammar_key key, const struct grammar_value *v)
{
	const struct grammar_row *row = &grammar_rows[key];

	if (!grammar_is_list(row))
		return merge_note(m, arena_printf(m->arena, "%s: %s", row->name, v->text),
				  merge_only_narrow, v->origin);
	for (size_t i = 0; i < v->items.count; i++) {
		const struct grammar_item *item = &v->items.items[i];
		int r = merge_note(m, merge_show_item(m, row, item), merge_only_narrow,
				   item->origin);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Takes the rules that deny: they only take away.  Nobody need have allowed the host. */
static int merge_narrow_deny(struct merge *m, enum grammar_key key, const struct grammar_value *v)
{
	const struct grammar_row *row = &grammar_rows[key];

	for (size_t i = 0; i < v->items.count; i++) {
		const struct grammar_item *item = &v->items.items[i];
		bool denies = true;
		int r;

		for (size_t n = 0; n < item->rules.count; n++)
			denies = denies && item->rules.items[n].action == PLAN_ACTION_DENY;
		if (denies)
			r = grammar_append(&m->values.of[key], row, item, m->arena);
		else
			r = merge_note(m, merge_show_item(m, row, item), merge_only_narrow,
				       item->origin);
		if (r < 0)
			return denies ? merge_no_memory(m->e) : r;
	}
	return 0;
}

static int merge_narrow(struct merge *m, const struct grammar_values *repository)
{
	for (unsigned int key = 0; key < GRAMMAR_KEY_COUNT; key++) {
		const struct grammar_value *v = &repository->of[key];
		int r = 0;

		if (!v->set)
			continue;
		switch (grammar_rows[key].narrow) {
		case GRAMMAR_NARROW_LESS:
			r = merge_narrow_less(m, key, v);
			break;
		case GRAMMAR_NARROW_ADD:
			r = merge_append_all(m, key, v);
			break;
		case GRAMMAR_NARROW_DENY:
			r = merge_narrow_deny(m, key, v);
			break;
		case GRAMMAR_NARROW_PLACES:
			r = merge_narrow_secrets(m, v);
			break;
		case GRAMMAR_NARROW_RAISE:
			r = merge_narrow_holds(m, v);
			break;
		case GRAMMAR_NARROW_UNSAID:
		case GRAMMAR_NARROW_NEVER:
			r = merge_narrow_never(m, key, v);
			break;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the ceiling --- */

/* Somebody chose it, as opposed to what comes without being asked for. */
bool merge_is_explicit(enum policy_layer layer)
{
	return layer == POLICY_USER || layer == POLICY_FLAGS;
}

int merge_beyond(struct merge *m)
{
	error_next(m->e, "ask for less, or ask the administrator");
	return -EPERM;
}

static int merge_ceiling_most(struct merge *m, enum grammar_key key, const struct grammar_value *c)
{
	struct grammar_value *now = &m->values.of[key];

	if (!c->set || now->number <= c->number)
		return 0;
	if (merge_is_explicit(now->layer)) {
		(void)error_set(m->e, -EPERM,
				"%s is %.64s by %s; the administrator's ceiling is %.64s by %s",
				grammar_rows[key].name, now->text, now->origin, c->text, c->origin);
		return merge_beyond(m);
	}
	*now = *c;
	return 0;
}

static bool merge_covers(enum grammar_type type, const char *outer, const char *inner)
{
	if (type == GRAMMAR_PATHS)
		return str_equal(outer, "/") || str_path_beneath(inner, outer);
	if (type == GRAMMAR_NAMES)
		return policy_name_matches(outer, inner);
	return str_equal(outer, inner);
}

static bool merge_list_covers(enum grammar_type type, const struct grammar_value *list,
			      const char *text)
{
	for (size_t i = 0; i < list->items.count; i++)
		if (merge_covers(type, list->items.items[i].text, text))
			return true;
	return false;
}

/*
 * Write implies read.  So files.read may also name a folder beneath the ceiling's
 * files.write; and a ceiling that has only files.read bounds writing as well.
 */
static bool merge_is_under_ceiling(const struct grammar_values *ceiling, enum grammar_key key,
				   const struct grammar_item *item)
{
	const struct grammar_value *c = &ceiling->of[key];
	const struct grammar_value *other =
		key == GRAMMAR_FILES_READ               ? &ceiling->of[GRAMMAR_FILES_WRITE]
		: key == GRAMMAR_FILES_WRITE && !c->set ? &ceiling->of[GRAMMAR_FILES_READ]
							: NULL;
	enum grammar_type type = grammar_rows[key].type;
	bool speaks = c->set || grammar_rows[key].ceiling == GRAMMAR_CEILING_ONLY ||
		      (key == GRAMMAR_FILES_WRITE && other && other->set);

	return !speaks || merge_list_covers(type, c, item->text) ||
	       (other && merge_list_covers(type, other, item->text));
}

static int merge_ceiling_list(struct merge *m, enum grammar_key key,
			      const struct grammar_values *ceiling, const char *ceiling_name)
{
	const struct grammar_row *row = &grammar_rows[key];
	struct grammar_value *now = &m->values.of[key];
	size_t kept = 0;

	for (size_t i = 0; i < now->items.count; i++) {
		const struct grammar_item item = now->items.items[i];
		const char *place = ceiling->of[key].set ? ceiling->of[key].origin : ceiling_name;

		if (merge_is_under_ceiling(ceiling, key, &item)) {
			now->items.items[kept++] = item;
			continue;
		}
		if (merge_is_explicit(item.layer)) {
			(void)error_set(
				m->e, -EPERM,
				"%s has %.128s by %s; the administrator's ceiling, %s, does "
				"not allow it",
				row->name, item.text, item.origin, place);
			return merge_beyond(m);
		}
		int r = merge_note(m, merge_show_item(m, row, &item),
				   arena_printf(m->arena, "the administrator's ceiling, %s", place),
				   item.origin);
		if (r < 0)
			return r;
	}
	now->items.count = kept;
	return 0;
}

/* Makes one list of the ceiling's rules.  An empty ceiling becomes a rule that denies all. */
static int merge_ceiling_flatten(struct merge *m, const struct grammar_value *c,
				 struct grammar_item *ret_item)
{
	static struct plan_ports every[] = {{1, UINT16_MAX}};
	struct grammar_item item = {.layer = POLICY_CEILING, .text = "", .origin = c->origin};
	size_t count = 0;

	for (size_t i = 0; i < c->items.count; i++)
		count += c->items.items[i].rules.count;
	struct plan_rule *rules = arena_alloc(m->arena, (count + 1) * sizeof(*rules));

	if (!rules)
		return merge_no_memory(m->e);
	for (size_t i = 0; i < c->items.count; i++)
		for (size_t n = 0; n < c->items.items[i].rules.count; n++)
			rules[item.rules.count++] = c->items.items[i].rules.items[n];
	if (count == 0)
		rules[item.rules.count++] = (struct plan_rule){.action = PLAN_ACTION_DENY,
							       .host = "*",
							       .ports = {every, 1},
							       .ceiling = true,
							       .bundle = "",
							       .key = "",
							       .origin = c->origin};
	item.rules.items = rules;
	*ret_item = item;
	return 0;
}

/*
 * Why the ceiling does not permit a rule; NULL when it does.  The rule must be within what the
 * ceiling allows, and not wholly within what it denies.  What the ceiling denies in part is
 * refused later, at each verdict.
 */
static const char *merge_against(const struct grammar_item *most, const struct rules *ceiling,
				 const struct plan_rule *rule)
{
	struct rules_question q = {.literal = rule->address.len > 0};
	const char *by = NULL;

	if (rule->action == PLAN_ACTION_DENY)
		return NULL;
	if (!rule_is_given(most->rules.items, most->rules.count, rule))
		return most->origin;
	if (q.literal)
		memcpy(q.address.bytes, rule->address.ptr, sizeof(q.address.bytes));
	else if (!rule_example(rule, &q.name))
		return NULL;
	for (size_t i = 0; i < rule->ports.count; i++) {
		const struct plan_rule *denies = NULL;

		q.port = (uint16_t)rule->ports.items[i].from;
		if (rules_ceiling(ceiling, &q, &denies) >= rule->action)
			return NULL;
		by = denies ? denies->origin : most->origin;
	}
	return by;
}

/* Keeps the rules of one item that the ceiling permits. */
static int merge_ceiling_item(struct merge *m, const struct grammar_item *most,
			      const struct rules *ceiling, struct grammar_item *item)
{
	struct plan_rule *kept = arena_alloc(m->arena, item->rules.count * sizeof(*kept));
	size_t count = 0;

	if (!kept)
		return merge_no_memory(m->e);
	for (size_t i = 0; i < item->rules.count; i++) {
		const struct plan_rule *rule = &item->rules.items[i];
		const char *against = merge_against(most, ceiling, rule);

		if (!against) {
			kept[count++] = *rule;
			continue;
		}
		const char *shown = rule_show(rule, m->arena);
		const char *with = rule->bundle[0] ? rule->bundle : NULL;

		if (shown && with)
			shown = arena_printf(m->arena, "%s (use %s)", shown, with);
		if (!shown)
			return merge_no_memory(m->e);
		if (merge_is_explicit(item->layer)) {
			(void)error_set(m->e, -EPERM,
					"network has %.300s by %s; the administrator's ceiling, "
					"%s, does not allow it",
					shown, item->origin, against);
			return merge_beyond(m);
		}
		int r = merge_note(
			m, arena_printf(m->arena, "network: %s", shown),
			arena_printf(m->arena, "the administrator's ceiling, %s", against),
			item->origin);
		if (r < 0)
			return r;
	}
	item->rules.items = kept;
	item->rules.count = count;
	return 0;
}

static int merge_ceiling_rules(struct merge *m, enum grammar_key key, const struct grammar_value *c)
{
	_cleanup_rules_ struct rules *ceiling = NULL;
	struct grammar_value *now = &m->values.of[key];
	struct grammar_item most = {.text = NULL};

	if (!c->set)
		return 0;
	int r = merge_ceiling_flatten(m, c, &most);

	if (r == 0)
		r = rules_new(most.rules.items, most.rules.count, &ceiling, m->e);
	for (size_t i = 0; r == 0 && i < now->items.count; i++)
		r = merge_ceiling_item(m, &most, ceiling, &now->items.items[i]);
	if (r < 0)
		return r;
	if (grammar_append(now, &grammar_rows[key], &most, m->arena) < 0)
		return merge_no_memory(m->e);
	return 0;
}

static int merge_ceiling(struct merge *m, const struct grammar_values *ceiling, const char *name)
{
	for (unsigned int key = 0; key < GRAMMAR_KEY_COUNT; key++) {
		int r = 0;

		switch (grammar_rows[key].ceiling) {
		case GRAMMAR_CEILING_MOST:
			r = merge_ceiling_most(m, key, &ceiling->of[key]);
			break;
		case GRAMMAR_CEILING_WITHIN:
		case GRAMMAR_CEILING_ONLY:
			r = merge_ceiling_list(m, key, ceiling, name);
			break;
		case GRAMMAR_CEILING_RULES:
			r = merge_ceiling_rules(m, key, &ceiling->of[key]);
			break;
		case GRAMMAR_CEILING_PLACES:
			r = merge_ceiling_secrets(m, &ceiling->of[key]);
			break;
		case GRAMMAR_CEILING_LEAST:
			r = merge_ceiling_holds(m, &ceiling->of[key]);
			break;
		case GRAMMAR_CEILING_ADD:
			r = merge_append_all(m, key, &ceiling->of[key]);
			break;
		case GRAMMAR_CEILING_UNSAID:
		case GRAMMAR_CEILING_NO:
			break;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the outcome --- */

/*
 * Removes what env.drop names, whoever set or passed it.  A pattern of
 * env.pass that it covers only in part stays: which names it matches is known
 * only with the environment.
 */
static int merge_drop(struct merge *m, enum grammar_key key)
{
	const struct grammar_value *drop = &m->values.of[GRAMMAR_ENV_DROP];
	struct grammar_value *now = &m->values.of[key];
	size_t kept = 0;

	for (size_t i = 0; i < now->items.count; i++) {
		const struct grammar_item item = now->items.items[i];
		const char *by = NULL;

		for (size_t n = 0; n < drop->items.count && !by; n++)
			if (policy_name_matches(drop->items.items[n].text, item.text))
				by = drop->items.items[n].origin;
		if (!by) {
			now->items.items[kept++] = item;
			continue;
		}
		int r = merge_note(m, merge_show_item(m, &grammar_rows[key], &item),
				   arena_printf(m->arena, "env.drop names it, by %s", by),
				   item.origin);
		if (r < 0)
			return r;
	}
	now->items.count = kept;
	return 0;
}

/* Copies a list of the outcome; the lists of struct policy that hold paths or names. */
static int merge_copy_paths(struct merge *m, enum grammar_key key, struct policy_path **ret_items,
			    size_t *ret_count)
{
	const struct grammar_value *v = &m->values.of[key];
	struct policy_path *items = arena_alloc(m->arena, v->items.count * sizeof(*items));

	if (!items)
		return merge_no_memory(m->e);
	for (size_t i = 0; i < v->items.count; i++)
		items[i] = (struct policy_path){v->items.items[i].text, v->items.items[i].origin,
						v->items.items[i].layer == POLICY_REPOSITORY};
	*ret_items = items;
	*ret_count = v->items.count;
	return 0;
}

static int merge_copy_rules(struct merge *m, struct policy *p)
{
	const struct grammar_value *v = &m->values.of[GRAMMAR_NETWORK];
	size_t count = 0;

	for (size_t i = 0; i < v->items.count; i++)
		count += v->items.items[i].rules.count;
	if (count > PLAN_RULES_MAX)
		return error_set(m->e, -E2BIG,
				 "network has %zu rules, bundles counted; at most %d "
				 "are possible",
				 count, PLAN_RULES_MAX);
	p->network.items = arena_alloc(m->arena, count * sizeof(*p->network.items));
	if (!p->network.items)
		return merge_no_memory(m->e);
	for (size_t i = 0; i < v->items.count; i++)
		for (size_t n = 0; n < v->items.items[i].rules.count; n++)
			p->network.items[p->network.count++] = v->items.items[i].rules.items[n];
	return 0;
}

static int merge_copy_lists(struct merge *m, struct policy *p)
{
	const struct grammar_value *set = &m->values.of[GRAMMAR_ENV_SET];
	const struct grammar_value *without = &m->values.of[GRAMMAR_WITHOUT];
	const struct {
		enum grammar_key key;
		struct policy_path **items;
		size_t *count;
	} lists[] = {
		{GRAMMAR_FILES_READ, &p->read.items, &p->read.count},
		{GRAMMAR_FILES_WRITE, &p->write.items, &p->write.count},
		{GRAMMAR_FILES_HIDE, &p->hide.items, &p->hide.count},
		{GRAMMAR_ENV_PASS, &p->env_pass.items, &p->env_pass.count},
		{GRAMMAR_ENV_DROP, &p->env_drop.items, &p->env_drop.count},
		{GRAMMAR_RECORD_MARK, &p->record_mark.items, &p->record_mark.count},
		{GRAMMAR_TERMINAL_ALLOW, &p->terminal.items, &p->terminal.count},
		{GRAMMAR_HOLDS_PATHS, &p->hold_paths.items, &p->hold_paths.count},
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(lists); i++) {
		int r = merge_copy_paths(m, lists[i].key, lists[i].items, lists[i].count);

		if (r < 0)
			return r;
	}
	p->env_set.items = arena_alloc(m->arena, set->items.count * sizeof(*p->env_set.items));
	p->without.items = arena_alloc(m->arena, without->items.count * sizeof(*p->without.items));
	if (!p->env_set.items || !p->without.items)
		return merge_no_memory(m->e);
	for (size_t i = 0; i < set->items.count; i++)
		p->env_set.items[p->env_set.count++] =
			(struct policy_env_set){set->items.items[i].text, set->items.items[i].value,
						set->items.items[i].origin};
	for (size_t i = 0; i < without->items.count; i++)
		p->without.items[p->without.count++] = (struct plan_without){
			without->items.items[i].layer_word, without->items.items[i].origin};
	int r = merge_copy_secrets(m, p);

	if (r == 0)
		r = merge_copy_holds(m, p);
	if (r < 0)
		return r;
	p->notes.items = m->notes.items;
	p->notes.count = m->notes.count;
	return merge_copy_rules(m, p);
}

static struct policy_number merge_number(const struct grammar_value *v)
{
	bool set = v->number != GRAMMAR_UNLIMITED;

	return (struct policy_number){set, set ? v->number : 0, v->origin};
}

static int merge_copy(struct merge *m, struct policy *ret_policy)
{
	const struct grammar_value *v = m->values.of;
	struct policy p;

	memset(&p, 0, sizeof(p));
	p.backend = (unsigned int)v[GRAMMAR_BACKEND].number;
	p.backend_origin = v[GRAMMAR_BACKEND].origin;
	p.preset = m->preset;
	p.workspace_access =
		v[GRAMMAR_WORKSPACE_ACCESS].number ? PLAN_ACCESS_WRITE : PLAN_ACCESS_READ;
	p.workspace_origin = v[GRAMMAR_WORKSPACE_ACCESS].origin;
	p.workspace_mode = (unsigned int)v[GRAMMAR_WORKSPACE_MODE].number;
	p.workspace_mode_origin = v[GRAMMAR_WORKSPACE_MODE].origin;
	p.snapshots = v[GRAMMAR_WORKSPACE_SNAPSHOTS].number != 0;
	p.snapshots_origin = v[GRAMMAR_WORKSPACE_SNAPSHOTS].origin;
	p.tools = v[GRAMMAR_TOOLS].number != 0;
	p.tools_origin = v[GRAMMAR_TOOLS].origin;
	p.debug = v[GRAMMAR_DEBUG].number != 0;
	p.debug_origin = v[GRAMMAR_DEBUG].origin;
	p.system_keep = v[GRAMMAR_SYSTEM_KEEP].number != 0;
	p.proxy = v[GRAMMAR_PROXY].text;
	p.proxy_origin = v[GRAMMAR_PROXY].origin;
	p.record_reads = (unsigned int)v[GRAMMAR_RECORD_READS].number;
	p.record_origin = v[GRAMMAR_RECORD_READS].origin;
	for (unsigned int i = 0; i < PLAN_LIMIT_COUNT; i++)
		p.limits[i] = merge_number(&v[GRAMMAR_LIMITS + i]);
	p.limits_said = v[GRAMMAR_LIMITS_MISSING].number != 0;
	p.tmp_size = merge_number(&v[GRAMMAR_TMP_SIZE]);
	p.secrets_bounded = m->secrets_bounded;
	p.keep_days = merge_number(&v[GRAMMAR_KEEP_DAYS]);
	p.keep_size = merge_number(&v[GRAMMAR_KEEP_SIZE]);
	int r = merge_copy_lists(m, &p);

	if (r < 0)
		return r;
	*ret_policy = p;
	return 0;
}

/* --- all of it --- */

/* The source of each layer, and what it says. */
struct merge_layers {
	const struct policy_source *source[POLICY_CEILING + 1];
	struct grammar_values values[POLICY_CEILING + 1];
};

static int merge_read_layer(struct merge *m, struct merge_layers *l, enum policy_layer layer)
{
	if (!l->source[layer])
		return 0;
	return grammar_read(l->source[layer], &l->values[layer], m->arena, m->e);
}

static int merge_sort(const struct policy_source *sources, size_t count, struct merge_layers *l,
		      struct error *e)
{
	for (size_t i = 0; i < count; i++) {
		enum policy_layer layer = sources[i].layer;

		if (layer == POLICY_DEFAULT || layer == POLICY_FLAGS)
			return error_set(e, -EINVAL, "%s: this layer is not read from a file",
					 sources[i].name);
		if (l->source[layer])
			return error_set(e, -EINVAL, "%s and %s are both given for one layer",
					 l->source[layer]->name, sources[i].name);
		l->source[layer] = &sources[i];
	}
	return 0;
}

/* The preset that the flags, or else the user's file, name. */
static int merge_find_preset(struct merge *m, struct merge_layers *l)
{
	const struct grammar_value *flag = &l->values[POLICY_FLAGS].of[GRAMMAR_PRESET];
	const struct grammar_value *named =
		flag->set ? flag : &l->values[POLICY_USER].of[GRAMMAR_PRESET];

	if (l->source[POLICY_PRESET] || !named->set)
		return 0;
	l->source[POLICY_PRESET] = policy_preset(named->text);
	if (l->source[POLICY_PRESET])
		return 0;
	const char *const *names = policy_preset_names();
	size_t count = 0;

	while (names[count])
		count++;
	const char *near = str_nearest(named->text, names, count);

	if (near)
		return error_set(m->e, -EINVAL, "%s: there is no preset %.64s; did you mean %s?",
				 named->origin, named->text, near);
	return error_set(m->e, -EINVAL, "%s: there is no preset %.64s", named->origin, named->text);
}

static int merge_read(struct merge *m, struct merge_layers *l, const struct policy_flag *flags,
		      size_t flag_count)
{
	static const enum policy_layer files[] = {POLICY_CEILING, POLICY_STORE, POLICY_USER,
						  POLICY_REPOSITORY};
	int r = grammar_standard(&l->values[POLICY_DEFAULT], m->arena, m->e);

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(files); i++)
		r = merge_read_layer(m, l, files[i]);
	for (size_t i = 0; r == 0 && i < flag_count; i++)
		r = grammar_read_flag(&flags[i], &l->values[POLICY_FLAGS], m->arena, m->e);
	if (r == 0)
		r = merge_find_preset(m, l);
	if (r < 0 || !l->source[POLICY_PRESET])
		return r;
	m->preset = policy_preset_name(l->source[POLICY_PRESET]);
	return merge_read_layer(m, l, POLICY_PRESET);
}

int policy_merge(const struct policy_source *sources, size_t source_count,
		 const struct policy_flag *flags, size_t flag_count, struct arena *arena,
		 struct policy *ret_policy, struct error *e)
{
	struct merge m = {.arena = arena, .e = e, .preset = ""};
	struct merge_layers *l = arena_alloc(arena, sizeof(*l));

	if (!l)
		return merge_no_memory(e);
	int r = merge_sort(sources, source_count, l, e);

	if (r == 0)
		r = merge_read(&m, l, flags, flag_count);
	for (unsigned int layer = POLICY_DEFAULT; r == 0 && layer <= POLICY_FLAGS; layer++)
		r = layer == POLICY_REPOSITORY ? merge_narrow(&m, &l->values[layer])
					       : merge_lay(&m, &l->values[layer]);
	m.secrets_bounded = l->values[POLICY_CEILING].of[GRAMMAR_SECRETS].set;
	if (r == 0 && l->source[POLICY_CEILING])
		r = merge_ceiling(&m, &l->values[POLICY_CEILING], l->source[POLICY_CEILING]->name);
	if (r == 0)
		r = merge_drop(&m, GRAMMAR_ENV_PASS);
	if (r == 0)
		r = merge_drop(&m, GRAMMAR_ENV_SET);
	return r == 0 ? merge_copy(&m, ret_policy) : r;
}
