/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of hosts, found by hash; each host is a run of rows, one for each range
 * of ports of each of its rules.  A question walks from the whole name to its last
 * label and stops at the first host that has a row for the port.
 *
 * The hash runs from the last byte of a name to the first, so that one pass over a
 * name gives the hash of each of its tails.
 *
 * Words are put together without printf: a refusal must cost no more than a verdict.
 */
#include "rules.h"

#include "str.h"

enum {
	RULES_BYTES_MAX = 16 << 20,
	RULES_LABELS_MAX = NAME_TEXT_MAX / 2 + 1,
	RULES_HOST_SHOWN = 80, /* bytes of a pattern in a reason */
};

enum rules_kind { RULES_EXACT, RULES_WILDCARD, RULES_ADDRESS, RULES_ANY };

/* One range of ports of one rule. */
struct rules_row {
	uint16_t from, to;
	uint8_t action;
	uint8_t scheme;
	bool named;
	bool private;
	const struct plan_rule *rule;
};

struct rules_host {
	enum rules_kind kind;
	uint32_t hash;
	const void *key; /* a name (of a wildcard: what follows "*."), or 16 bytes */
	size_t key_len;
	struct rules_row *rows;
	size_t count;
};

struct rules_set {
	struct rules_host *hosts;
	size_t count;
	uint32_t *slots; /* number of a host and 1, or 0 */
	uint32_t mask;
	bool wildcards, any;
};

struct rules {
	struct arena arena;
	struct rules_set asked;   /* everyone's */
	struct rules_set ceiling; /* the administrator's */
	bool bounded;             /* there is a ceiling */
};

/* --- making a set --- */

#define RULES_HASH_START 2166136261u

static uint32_t rules_hash_byte(uint32_t hash, uint8_t byte)
{
	return (hash ^ byte) * 16777619u;
}

static uint32_t rules_hash(const void *key, size_t len)
{
	const uint8_t *bytes = key;
	uint32_t hash = RULES_HASH_START;

	while (len > 0)
		hash = rules_hash_byte(hash, bytes[--len]);
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
static int rules_copy_words(struct plan_string **items, size_t count, struct arena *arena)
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

int rules_of_plan(const struct plan *plan, struct rules **ret_rules, struct error *e)
{
	return rules_new(plan->network.items, plan->network.count, ret_rules, e);
}

void rules_free(struct rules *r)
{
	if (!r)
		return;
	arena_fini(&r->arena);
	free(r);
}

/* --- deciding --- */

/* The hosts of a set that match a question, the most specific first. */
struct rules_match {
	const struct rules_host *hosts[RULES_LABELS_MAX + 2];
	size_t count;
};

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
	uint32_t hash = RULES_HASH_START;

	/* From the end: one tail for each label, the last of them the whole name. */
	for (size_t i = name->len; i > 0; i--) {
		hash = rules_hash_byte(hash, (uint8_t)name->text[i - 1]);
		if (i > 1 && name->text[i - 2] != '.')
			continue;
		hashes[tails] = hash;
		starts[tails++] = (uint8_t)(i - 1);
	}
	if (tails == 0)
		return;
	rules_match_add(m, rules_find(s, RULES_EXACT, hash, name->text, name->len));
	for (size_t i = tails - 1; s->wildcards && i > 0; i--)
		rules_match_add(m, rules_find(s, RULES_WILDCARD, hashes[i - 1],
					      name->text + starts[i - 1],
					      name->len - (size_t)starts[i - 1]));
}

static void rules_match(const struct rules_set *s, const struct rules_question *q,
			struct rules_match *m)
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
		rules_match_add(m, rules_find(s, RULES_ANY, RULES_HASH_START, "", 0));
}

/* What a set says: the rule that decides, and what those beside it add. */
struct rules_pick {
	const struct plan_rule *rule; /* NULL: nothing matched */
	const struct rules_host *host;
	unsigned int action;
	unsigned int schemes;
	bool named, private;
};

#define RULES_SCHEME(scheme) (1u << (scheme))
#define RULES_EVERY_SCHEME                                                \
	(RULES_SCHEME(PLAN_SCHEME_TLS) | RULES_SCHEME(PLAN_SCHEME_HTTP) | \
	 RULES_SCHEME(PLAN_SCHEME_TCP))

/* Who may send any bytes may send those of TLS and HTTP. */
static unsigned int rules_schemes(unsigned int scheme, uint16_t port)
{
	if (scheme == PLAN_SCHEME_BY_PORT)
		scheme = plan_scheme_of_port(port);
	return scheme == PLAN_SCHEME_TCP ? RULES_EVERY_SCHEME : RULES_SCHEME(scheme);
}

static void rules_weigh(struct rules_pick *p, const struct rules_row *row, uint16_t port)
{
	if (!p->rule || row->action < p->action)
		*p = (struct rules_pick){.rule = row->rule, .action = row->action};
	if (row->action == p->action && row->action != PLAN_ACTION_DENY) {
		p->schemes |= rules_schemes(row->scheme, port);
		p->private = p->private || row->private;
	}
}

static struct rules_pick rules_pick(const struct rules_match *m, uint16_t port, bool literal)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct rules_host *host = m->hosts[i];
		struct rules_pick best[2] = {{.rule = NULL}, {.rule = NULL}};

		for (size_t n = 0; n < host->count; n++) {
			const struct rules_row *row = &host->rows[n];

			if (port < row->from || port > row->to)
				continue;
			/* "*" gives names; a bare address is given by nothing but its own rule. */
			if (literal && host->kind == RULES_ANY && row->action != PLAN_ACTION_DENY)
				continue;
			rules_weigh(&best[row->named], row, port);
		}
		for (int named = 1; named >= 0; named--) {
			if (!best[named].rule)
				continue;
			best[named].host = host;
			best[named].named = named == 1;
			return best[named];
		}
	}
	return (struct rules_pick){.rule = NULL, .action = PLAN_ACTION_DENY};
}

/* It may be reached, but not by what is spoken, if that is known. */
static bool rules_is_mute(const struct rules_pick *p, unsigned int scheme)
{
	return p->action == PLAN_ACTION_ALLOW && scheme != PLAN_SCHEME_BY_PORT &&
	       !(p->schemes & RULES_SCHEME(scheme));
}

/* What both sets say of one question. */
struct rules_answer {
	struct rules_match asked_match;
	struct rules_pick asked;
	struct rules_pick ceiling;
};

static void rules_answer(const struct rules *r, const struct rules_question *q,
			 struct rules_answer *a)
{
	struct rules_match match;

	rules_match(&r->asked, q, &a->asked_match);
	a->asked = rules_pick(&a->asked_match, q->port, q->literal);
	if (!r->bounded) {
		a->ceiling = (struct rules_pick){.action = PLAN_ACTION_ALLOW,
						 .schemes = RULES_EVERY_SCHEME,
						 .private = true};
		return;
	}
	rules_match(&r->ceiling, q, &match);
	a->ceiling = rules_pick(&match, q->port, q->literal);
}

/* --- words --- */

struct rules_words {
	char *text;
	size_t size, len;
};

static void rules_put_some(struct rules_words *w, const char *s, size_t len)
{
	size_t room = w->size - 1 - w->len;

	if (len > room)
		len = room;
	memcpy(w->text + w->len, s, len);
	w->len += len;
	w->text[w->len] = '\0';
}

static void rules_put(struct rules_words *w, const char *s)
{
	rules_put_some(w, s, strlen(s));
}

static void rules_put_port(struct rules_words *w, uint16_t port)
{
	char digits[6];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + port % 10);
		port /= 10;
	} while (port > 0);
	rules_put_some(w, digits + at, sizeof(digits) - at);
}

static void rules_put_host(struct rules_words *w, const struct plan_rule *rule)
{
	size_t len = strlen(rule->host);

	rules_put_some(w, rule->host, len < RULES_HOST_SHOWN ? len : RULES_HOST_SHOWN);
	if (len > RULES_HOST_SHOWN)
		rules_put(w, "...");
}

static void rules_put_schemes(struct rules_words *w, unsigned int schemes)
{
	bool tls = schemes & RULES_SCHEME(PLAN_SCHEME_TLS);
	bool http = schemes & RULES_SCHEME(PLAN_SCHEME_HTTP);

	rules_put(w, tls && http ? "TLS or plain HTTP" : tls ? "TLS" : "plain HTTP");
}

/* Why nothing matched. */
static void rules_put_unnamed(struct rules_words *w, const struct rules_question *q,
			      bool host_named)
{
	if (host_named) {
		rules_put(w, q->literal ? "no rule for this address names port "
					: "no rule for this host names port ");
		rules_put_port(w, q->port);
	} else {
		rules_put(w, q->literal ? "no rule names this address; rules for names do not "
					  "give addresses"
					: "no rule names this host");
	}
}

static void rules_put_rule(struct rules_words *w, const struct rules_pick *p)
{
	static const char *const verbs[] = {"denied by the rule for ", "the rule for ",
					    "allowed by the rule for "};

	rules_put(w, verbs[p->action]);
	rules_put_host(w, p->rule);
	if (p->action == PLAN_ACTION_ASK)
		rules_put(w, " asks first, and there is nobody to ask yet");
}

static void rules_put_ceiling(struct rules_words *w, const struct rules_pick *p)
{
	if (p->action == PLAN_ACTION_ALLOW) {
		rules_put(w, "the administrator's ceiling allows only ");
		rules_put_schemes(w, p->schemes);
		rules_put(w, " here");
	} else if (!p->rule || p->host->kind == RULES_ANY) {
		rules_put(w, "the administrator's ceiling does not allow it");
	} else {
		rules_put(w, "the administrator's ceiling: ");
		rules_put_rule(w, p);
	}
}

static void rules_put_reason(struct rules_words *w, const struct rules_question *q,
			     const struct rules_answer *a, bool by_ceiling)
{
	if (by_ceiling) {
		rules_put_ceiling(w, &a->ceiling);
	} else if (!a->asked.rule) {
		rules_put_unnamed(w, q, a->asked_match.count > 0);
	} else if (rules_is_mute(&a->asked, q->scheme)) {
		rules_put(w, "the rule for ");
		rules_put_host(w, a->asked.rule);
		rules_put(w, " allows only ");
		rules_put_schemes(w, a->asked.schemes);
		rules_put(w, " here");
	} else {
		rules_put_rule(w, &a->asked);
	}
}

static void rules_put_question(struct rules_words *w, const struct rules_question *q, bool port)
{
	bool v6 = q->literal && !address_is_v4(&q->address);
	char address[ADDRESS_TEXT_SIZE];

	if (v6)
		rules_put(w, "\"[");
	if (q->literal)
		address_format(&q->address, address);
	rules_put(w, q->literal ? address : q->name.text);
	if (v6)
		rules_put(w, "]");
	if (port) {
		rules_put(w, ":");
		rules_put_port(w, q->port);
	}
	if (v6)
		rules_put(w, "\"");
}

/* What the line would let be spoken: what is asked for, or what the ceiling has. */
static unsigned int rules_line_scheme(const struct rules_question *q, const struct rules_answer *a)
{
	if (q->scheme != PLAN_SCHEME_BY_PORT)
		return q->scheme;
	unsigned int usual = plan_scheme_of_port(q->port);

	if (a->ceiling.schemes & RULES_SCHEME(usual))
		return usual;
	return a->ceiling.schemes & RULES_SCHEME(PLAN_SCHEME_TLS) ? PLAN_SCHEME_TLS
								  : PLAN_SCHEME_HTTP;
}

/*
 * The line that would turn a refusal into an allow.  It names the very host, and so
 * stands above every wildcard; where a rule for that host is in the way, or a ceiling
 * above, it names the port too.  Where that is not enough, the rule itself has to go.
 */
static void rules_put_line(struct rules_words *w, const struct rules_question *q,
			   const struct rules_answer *a, bool bounded)
{
	const struct rules_pick *p = &a->asked;
	unsigned int scheme = rules_line_scheme(q, a);
	bool same_host = p->rule && p->host->kind != RULES_WILDCARD;

	if (same_host && p->named && p->action != PLAN_ACTION_ALLOW)
		return;
	if (scheme == plan_scheme_of_port(q->port)) {
		rules_put(w, "- allow: ");
		rules_put_question(w, q, same_host || bounded || (q->port != 443 && q->port != 80));
		return;
	}
	rules_put(w, "- {allow: ");
	rules_put_question(w, q, false);
	rules_put(w, ", ports: [");
	rules_put_port(w, q->port);
	rules_put(w, "], scheme: ");
	rules_put(w, plan_scheme_words[scheme]);
	rules_put(w, "}");
}

/* --- the verdict --- */

void rules_decide(const struct rules *r, const struct rules_question *q,
		  struct rules_verdict *ret_verdict)
{
	struct rules_verdict *v = ret_verdict;
	struct rules_words reason = {v->reason, sizeof(v->reason), 0};
	struct rules_words line = {v->allow_line, sizeof(v->allow_line), 0};
	struct rules_answer a;

	rules_answer(r, q, &a);
	unsigned int schemes = a.asked.schemes & a.ceiling.schemes;
	bool mute = rules_is_mute(&a.asked, q->scheme);
	bool ceiling_mute = rules_is_mute(&a.ceiling, q->scheme);
	/* What the rules refuse by themselves is said in their words. */
	bool by_ceiling = !mute && a.asked.action != PLAN_ACTION_DENY &&
			  (a.ceiling.action < a.asked.action || schemes == 0 || ceiling_mute);
	const struct rules_pick *p = by_ceiling ? &a.ceiling : &a.asked;

	v->action = mute || (by_ceiling && p->action == PLAN_ACTION_ALLOW) ? PLAN_ACTION_DENY
									   : p->action;
	v->rule = p->rule;
	v->private = a.asked.private && a.ceiling.private;
	v->schemes = v->action == PLAN_ACTION_DENY ? 0 : schemes;
	v->open = v->passthrough = v->websocket = v->credentials = false;
	v->reason[0] = '\0';
	v->allow_line[0] = '\0';
	rules_put_reason(&reason, q, &a, by_ceiling);
	if (v->action != PLAN_ACTION_ALLOW && a.ceiling.action == PLAN_ACTION_ALLOW &&
	    !ceiling_mute)
		rules_put_line(&line, q, &a, r->bounded);
}

unsigned int rules_ceiling(const struct rules *r, const struct rules_question *q,
			   const struct plan_rule **ret_rule)
{
	struct rules_answer a;

	rules_answer(r, q, &a);
	*ret_rule = a.ceiling.rule;
	return a.ceiling.action;
}

static bool rules_allows_at(const struct rules_match match[2], size_t sets, uint32_t port)
{
	if (port > UINT16_MAX)
		return false;
	for (size_t set = 0; set < sets; set++)
		if (rules_pick(&match[set], (uint16_t)port, false).action != PLAN_ACTION_ALLOW)
			return false;
	return true;
}

/* A verdict changes with the port only where a range begins, or behind its end. */
bool rules_may_resolve(const struct rules *r, const struct name *name)
{
	const struct rules_question q = {.name = *name};
	struct rules_match match[2];
	size_t sets = r->bounded ? 2 : 1;

	rules_match(&r->asked, &q, &match[0]);
	if (match[0].count == 0)
		return false;
	if (r->bounded)
		rules_match(&r->ceiling, &q, &match[1]);
	for (size_t set = 0; set < sets; set++)
		for (size_t i = 0; i < match[set].count; i++)
			for (size_t n = 0; n < match[set].hosts[i]->count; n++) {
				const struct rules_row *row = &match[set].hosts[i]->rows[n];

				if (rules_allows_at(match, sets, row->from) ||
				    rules_allows_at(match, sets, row->to + 1u))
					return true;
			}
	return false;
}
