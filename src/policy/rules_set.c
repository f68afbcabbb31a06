/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of hosts, found by hash; each host is a run of rows, one for each range
 * of ports of each of its rules.  A question walks from the whole name to its last
 * label and stops at the first host that has a row for the port.
 *
 * The hash runs from the last byte of a name to the first, so that one pass over a
 * name gives the hash of each of its tails.
 */
#include "fnv.h"
#include "rules_parts.h"

#include "str.h"

enum { RULES_BYTES_MAX = 16 << 20 };

/* --- making a set --- */

static uint32_t rules_hash(const void *key, size_t len)
{
	const uint8_t *bytes = key;
	uint32_t hash = FNV_START;

	while (len > 0)
		hash = fnv_mix(hash, bytes[--len]);
	return hash;
}

/* A host that the rules have, or NULL. */
static const struct rules_host *rules_find(const struct rules_set *s, enum rules_kind kind,
					   uint32_t hash, const void *key, size_t len)
{
	if (s->count == 0)
		return NULL;
	for (uint32_t at = hash + kind;; at++) {
		uint32_t slot = s->slots[at & s->mask];

		if (slot == 0)
			return NULL;
		const struct rules_host *host = &s->hosts[slot - 1];

		if (host->hash == hash && host->kind == kind && host->key_len == len &&
		    (len == 0 || memcmp(host->key, key, len) == 0))
			return host;
	}
}

static void rules_insert(struct rules_set *s, uint32_t number)
{
	uint32_t at = s->hosts[number].hash + s->hosts[number].kind;

	while (s->slots[at & s->mask] != 0)
		at++;
	s->slots[at & s->mask] = number + 1;
}

static struct rules_host rules_host_of(const struct plan_rule *rule)
{
	struct rules_host h = {.kind = RULES_EXACT, .key = rule->host};

	if (rule->address.len > 0) {
		h.kind = RULES_ADDRESS;
		h.key = rule->address.ptr;
		h.key_len = rule->address.len;
	} else if (str_equal(rule->host, "*")) {
		h.kind = RULES_ANY;
		h.key = "";
	} else {
		if (rule->host[0] == '*') {
			h.kind = RULES_WILDCARD;
			h.key = rule->host + 2;
		}
		h.key_len = strlen(h.key);
	}
	h.hash = rules_hash(h.key, h.key_len);
	return h;
}

/* Written as the parser of names writes it. */
static bool rules_is_canonical(const struct plan_rule *rule)
{
	struct name_pattern pattern;

	if (rule->address.len > 0)
		return rule->address.len == sizeof(struct address);
	if (str_equal(rule->host, "*"))
		return rule->ceiling;
	return name_parse_pattern(span_of_str(rule->host), &pattern) == 0 &&
	       str_equal(pattern.text, rule->host);
}

/* Puts a copy of a list's items and of their texts in its place. */
static int rules_copy_words(const struct plan_string **items, size_t count, struct arena *arena)
{
	struct plan_string *copy = arena_alloc(arena, count * sizeof(*copy));

	for (size_t i = 0; copy && i < count; i++) {
		copy[i].text = arena_str(arena, (*items)[i].text);
		if (!copy[i].text)
			return -ENOMEM;
	}
	*items = copy;
	return copy ? 0 : -ENOMEM;
}

static struct plan_rule *rules_copy_one(const struct plan_rule *from, struct arena *arena)
{
	struct plan_rule *rule = arena_alloc(arena, sizeof(*rule));
	char *host = arena_str(arena, from->host);
	char *bundle = arena_str(arena, from->bundle ? from->bundle : "");
	char *origin = arena_str(arena, from->origin ? from->origin : "");
	uint8_t *address = arena_alloc(arena, from->address.len);
	struct plan_ports *ports =
		arena_alloc(arena, from->ports.count * sizeof(*from->ports.items));

	if (!rule || !host || !bundle || !origin || !address || !ports)
		return NULL;
	*rule = *from;
	rule->host = host;
	rule->bundle = bundle;
	rule->origin = origin;
	if (from->address.len > 0)
		memcpy(address, from->address.ptr, from->address.len);
	rule->address.ptr = address;
	if (from->ports.count > 0)
		memcpy(ports, from->ports.items, from->ports.count * sizeof(*ports));
	rule->ports.items = ports;
	if (rules_copy_words(&rule->methods.items, rule->methods.count, arena) < 0 ||
	    rules_copy_words(&rule->paths.items, rule->paths.count, arena) < 0)
		return NULL;
	return rule;
}

/* A rule on its way into a set. */
struct rules_made {
	struct rules_host host;
	const struct plan_rule *rule;
	size_t number;
};

static int rules_compare_hosts(const struct rules_host *a, const struct rules_host *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->key_len != b->key_len)
		return a->key_len < b->key_len ? -1 : 1;
	return a->key_len > 0 ? memcmp(a->key, b->key, a->key_len) : 0;
}

static int rules_compare(const void *x, const void *y)
{
	const struct rules_made *a = x;
	const struct rules_made *b = y;
	int order = rules_compare_hosts(&a->host, &b->host);

	if (order != 0)
		return order;
	return a->number < b->number ? -1 : a->number > b->number;
}

static struct rules_row *rules_add_rows(struct rules_row *at, const struct plan_rule *rule)
{
	for (size_t i = 0; i < rule->ports.count; i++)
		*at++ = (struct rules_row){
			.from = (uint16_t)rule->ports.items[i].from,
			.to = (uint16_t)rule->ports.items[i].to,
			.action = (uint8_t)rule->action,
			.scheme = (uint8_t)rule->scheme,
			.named = rule->ports_named,
			.private = rule->private,
			.limited = rule->methods.count > 0 || rule->paths.count > 0,
			.rule = rule,
		};
	return at;
}

/* Sorts what was made into hosts with rows, and hashes them. */
static int rules_fill(struct rules_set *s, struct rules_made *made, size_t count,
		      struct arena *arena)
{
	size_t rows = 0;
	uint32_t slots = 4;

	for (size_t i = 0; i < count; i++)
		rows += made[i].rule->ports.count;
	while (slots < 2 * count)
		slots *= 2;
	struct rules_row *row = arena_alloc(arena, rows * sizeof(*row));

	s->hosts = arena_alloc(arena, count * sizeof(*s->hosts));
	s->slots = arena_alloc(arena, slots * sizeof(*s->slots));
	if (!row || !s->hosts || !s->slots)
		return -ENOMEM;
	s->mask = slots - 1;
	qsort(made, count, sizeof(*made), rules_compare);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || rules_compare_hosts(&made[i - 1].host, &made[i].host) != 0) {
			s->hosts[s->count] = made[i].host;
			s->hosts[s->count].rows = row;
			rules_insert(s, (uint32_t)s->count++);
		}
		struct rules_host *host = &s->hosts[s->count - 1];

		row = rules_add_rows(row, made[i].rule);
		host->count = (size_t)(row - host->rows);
		s->wildcards = s->wildcards || host->kind == RULES_WILDCARD;
		s->any = s->any || host->kind == RULES_ANY;
	}
	return 0;
}

/* One set out of the rules that are the ceiling's, or that are not. */
static int rules_make(struct rules *r, struct rules_set *s, bool ceiling,
		      const struct plan_rule *items, size_t count)
{
	_cleanup_arena_ struct arena scratch = ARENA_INIT(RULES_BYTES_MAX);
	struct rules_made *made = arena_alloc(&scratch, count * sizeof(*made));
	size_t n = 0;

	for (size_t i = 0; made && i < count; i++) {
		if (items[i].ceiling != ceiling)
			continue;
		const struct plan_rule *rule = rules_copy_one(&items[i], &r->arena);

		if (!rule)
			return -ENOMEM;
		made[n] = (struct rules_made){rules_host_of(rule), rule, n};
		n++;
	}
	return made ? rules_fill(s, made, n, &r->arena) : -ENOMEM;
}

int rules_new(const struct plan_rule *items, size_t count, struct rules **ret_rules,
	      struct error *e)
{
	for (size_t i = 0; i < count; i++)
		if (!rules_is_canonical(&items[i]))
			return error_set(e, -EINVAL, "%.64s is not how a rule names a host",
					 items[i].host);
	struct rules *r = calloc(1, sizeof(*r));

	if (!r)
		return error_set(e, -ENOMEM, "no memory for the rules of the network");
	r->arena = ARENA_INIT(RULES_BYTES_MAX);
	int ret = rules_make(r, &r->asked, false, items, count);

	if (ret == 0)
		ret = rules_make(r, &r->ceiling, true, items, count);
	if (ret < 0) {
		rules_free(r);
		return error_set(e, ret, "no memory for %zu rules of the network", count);
	}
	r->bounded = r->ceiling.count > 0;
	*ret_rules = r;
	return 0;
}

static int rules_bind(struct rules *r, const struct plan_secret *secret)
{
	for (size_t i = 0; i < secret->bindings.count; i++) {
		const struct plan_binding *b = &secret->bindings.items[i];
		const char *host = arena_str(&r->arena, b->host);

		if (!host)
			return -ENOMEM;
		r->bound.items[r->bound.count++] = host;
	}
	return 0;
}

static int rules_bind_all(struct rules *r, const struct plan *plan)
{
	size_t count = 0;
	int ret = 0;

	for (size_t i = 0; i < plan->secrets.count; i++)
		count += plan->secrets.items[i].bindings.count;
	r->bound.items = arena_alloc(&r->arena, count * sizeof(*r->bound.items));
	if (!r->bound.items)
		return -ENOMEM;
	for (size_t i = 0; ret == 0 && i < plan->secrets.count; i++)
		ret = rules_bind(r, &plan->secrets.items[i]);
	return ret;
}

int rules_of_plan(const struct plan *plan, struct rules **ret_rules, struct error *e)
{
	_cleanup_rules_ struct rules *r = NULL;
	int ret = rules_new(plan->network.items, plan->network.count, &r, e);

	if (ret < 0 || !r)
		return ret;
	if (rules_bind_all(r, plan) < 0)
		return error_set(e, -ENOMEM, "no memory for the rules of the network");
	*ret_rules = TAKE_PTR(r);
	return 0;
}

void rules_free(struct rules *r)
{
	if (!r)
		return;
	arena_fini(&r->arena);
	free(r);
}

/* --- finding in it --- */

static void rules_match_add(struct rules_match *m, const struct rules_host *host)
{
	if (host)
		m->hosts[m->count++] = host;
}

static void rules_match_name(const struct rules_set *s, const struct name *name,
			     struct rules_match *m)
{
	uint32_t hashes[RULES_LABELS_MAX];
	uint8_t starts[RULES_LABELS_MAX];
	size_t tails = 0;
	uint32_t hash = FNV_START;

	/* From the end: one tail for each label, the last of them the whole name. */
	for (size_t i = name->len; i > 0; i--) {
		hash = fnv_mix(hash, (uint8_t)name->text[i - 1]);
		if (i > 1 && name->text[i - 2] != '.')
			continue;
		hashes[tails] = hash;
		starts[tails++] = (uint8_t)(i - 1);
	}
	if (tails == 0)
		return;
	rules_match_add(m, rules_find(s, RULES_EXACT, hash, name->text, name->len));
	/* Only a rule for this very name is about this machine. */
	if (plan_is_own_machine(name->text))
		return;
	for (size_t i = tails - 1; s->wildcards && i > 0; i--)
		rules_match_add(m, rules_find(s, RULES_WILDCARD, hashes[i - 1],
					      name->text + starts[i - 1],
					      name->len - (size_t)starts[i - 1]));
}

void rules_match(const struct rules_set *s, const struct rules_question *q, struct rules_match *m)
{
	m->count = 0;
	if (q->literal)
		rules_match_add(m,
				rules_find(s, RULES_ADDRESS,
					   rules_hash(q->address.bytes, sizeof(q->address.bytes)),
					   q->address.bytes, sizeof(q->address.bytes)));
	else
		rules_match_name(s, &q->name, m);
	if (s->any)
		rules_match_add(m, rules_find(s, RULES_ANY, FNV_START, "", 0));
}
