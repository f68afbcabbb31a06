/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets in the layers of policy.  A repository's file adds none, and can take places from
 * those that are there; a ceiling bounds names and places.
 */
#include "merge_parts.h"

#include "secret.h"
#include "str.h"

/* Replaces an item's secret with a copy that has other places. */
static int merge_put_bindings(struct merge *m, struct grammar_item *item,
			      struct plan_binding *bindings, size_t count)
{
	struct secret_said *said = arena_alloc(m->arena, sizeof(*said));

	if (!said)
		return merge_no_memory(m->e);
	*said = *item->secret;
	said->secret.bindings.items = bindings;
	said->secret.bindings.count = count;
	item->secret = said;
	return 0;
}

static struct grammar_item *merge_find_secret(struct grammar_value *v, const char *name)
{
	for (size_t i = 0; i < v->items.count; i++)
		if (str_equal(v->items.items[i].text, name))
			return &v->items.items[i];
	return NULL;
}

/* Removes secrets that have no place left. */
static void merge_drop_placeless(struct grammar_value *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->items.count; i++)
		if (v->items.items[i].secret->secret.bindings.count > 0)
			v->items.items[kept++] = v->items.items[i];
	v->items.count = kept;
}

static int merge_narrow_secret(struct merge *m, const struct grammar_item *by)
{
	struct grammar_item *item = merge_find_secret(&m->values.of[GRAMMAR_SECRETS], by->text);
	const char *shown = arena_printf(m->arena, "secrets: %s", by->text);
	struct plan_binding *bindings = NULL;
	bool beyond = false;

	if (!item)
		return merge_note(
			m, shown,
			arena_printf(m->arena, "%s, and brings no secrets", merge_only_narrow),
			by->origin);
	int count = secret_narrow(&item->secret->secret, by->secret, m->arena, &bindings, &beyond);

	if (count < 0)
		return merge_no_memory(m->e);
	int r = merge_put_bindings(m, item, bindings, (size_t)count);

	if (r == 0 && beyond)
		r = merge_note(m, shown, merge_only_narrow, by->origin);
	if (r == 0 && count == 0)
		r = merge_note(m, shown, "this file leaves it no place", by->origin);
	return r;
}

int merge_narrow_secrets(struct merge *m, const struct grammar_value *v)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < v->items.count; i++)
		r = merge_narrow_secret(m, &v->items.items[i]);
	merge_drop_placeless(&m->values.of[GRAMMAR_SECRETS]);
	return r;
}

/* The ceiling's section for a name: its own, or that of "*"; NULL: none. */
static const struct grammar_item *merge_ceiling_of(const struct grammar_value *c, const char *name)
{
	const struct grammar_item *every = NULL;

	for (size_t i = 0; i < c->items.count; i++) {
		if (str_equal(c->items.items[i].text, name))
			return &c->items.items[i];
		if (str_equal(c->items.items[i].text, "*"))
			every = &c->items.items[i];
	}
	return every;
}

/* Whether the ceiling permits a place.  A section without hosts permits any host; its methods and
 * paths still apply. */
static bool merge_place_is_given(const struct grammar_item *most, const struct plan_binding *b)
{
	const struct secret_said *said = most ? most->secret : NULL;

	if (!said)
		return false;
	if (said->said >> SECRET_HOSTS & 1)
		return secret_is_given(said->secret.bindings.items, said->secret.bindings.count, b);
	const struct plan_binding any = {
		.host = b->host,
		.ports = {b->ports.items, b->ports.count},
		.scheme = b->scheme,
		.methods = {said->methods.items, said->methods.count},
		.paths = {said->paths.items, said->paths.count},
	};

	return secret_is_given(&any, 1, b);
}

static int merge_ceiling_secret(struct merge *m, struct grammar_item *item,
				const struct grammar_item *most, const char *place)
{
	const struct policy_secret *secret = &item->secret->secret;
	struct plan_binding *kept = arena_alloc(m->arena, secret->bindings.count * sizeof(*kept));
	size_t count = 0;

	if (!kept)
		return merge_no_memory(m->e);
	for (size_t i = 0; i < secret->bindings.count; i++) {
		const struct plan_binding *b = &secret->bindings.items[i];
		_cleanup_buf_ struct buf shown = BUF_INIT(4096);

		if (merge_place_is_given(most, b)) {
			kept[count++] = *b;
			continue;
		}
		secret_show_binding(b, &shown);
		if (merge_is_explicit(item->layer)) {
			(void)error_set(m->e, -EPERM,
					"secrets has %s at %.200s by %s; the administrator's "
					"ceiling, %s, does not allow it",
					item->text, buf_str(&shown), item->origin, place);
			return merge_beyond(m);
		}
		int r = merge_note(
			m, arena_printf(m->arena, "secrets: %s at %s", item->text, buf_str(&shown)),
			arena_printf(m->arena, "the administrator's ceiling, %s", place),
			item->origin);
		if (r < 0)
			return r;
	}
	return merge_put_bindings(m, item, kept, count);
}

int merge_ceiling_secrets(struct merge *m, const struct grammar_value *c)
{
	struct grammar_value *now = &m->values.of[GRAMMAR_SECRETS];
	int r = 0;

	if (!c->set)
		return 0;
	for (size_t i = 0; r == 0 && i < now->items.count; i++) {
		const struct grammar_item *most = merge_ceiling_of(c, now->items.items[i].text);

		r = merge_ceiling_secret(m, &now->items.items[i], most,
					 most ? most->origin : c->origin);
	}
	merge_drop_placeless(now);
	return r;
}

int merge_copy_secrets(struct merge *m, struct policy *p)
{
	const struct grammar_value *v = &m->values.of[GRAMMAR_SECRETS];

	if (v->items.count > PLAN_SECRETS_MAX)
		return error_set(m->e, -E2BIG, "there are %zu secrets; at most %d are possible",
				 v->items.count, PLAN_SECRETS_MAX);
	p->secrets.items = arena_alloc(m->arena, v->items.count * sizeof(*p->secrets.items));
	if (!p->secrets.items)
		return merge_no_memory(m->e);
	for (size_t i = 0; i < v->items.count; i++)
		p->secrets.items[p->secrets.count++] = v->items.items[i].secret->secret;
	return 0;
}
