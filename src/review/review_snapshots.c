/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn snapshots`: lists them, and removes some. */
#include "review_snapshots.h"

#include "array.h"
#include "copy.h"
#include "dir.h"
#include "fd.h"
#include "json.h"
#include "open.h"
#include "snapshot.h"
#include "str.h"
#include "text.h"
#include "tree.h"
#include "words.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	SNAPSHOTS_BYTES_MAX = 16 << 20,
	SNAPSHOTS_NAME = 28,
	SNAPSHOTS_SESSION = 16,
	SNAPSHOTS_AGE = 12,
};

/* --- which snapshot is meant ------------------------------------------------------------- */

struct snapshots_newest {
	const char *session; /* NULL: any */
	bool start;
	bool found;
	struct layers_snapshot snapshot;
};

static int snapshots_is_newer(void *context, const struct layers_snapshot *s)
{
	struct snapshots_newest *n = context;
	bool wanted =
		n->start ? str_after(s->name, "start-") != NULL : !snapshot_is_automatic(s->name);

	if (!wanted || (n->session && !str_equal(n->session, s->session)))
		return 0;
	if (!n->found || s->made > n->snapshot.made)
		n->snapshot = *s;
	n->found = true;
	return 0;
}

int review_read_snapshot(const struct review *r, const char *name, struct layers_snapshot *ret,
			 struct error *e)
{
	int code = layers_snapshot_read(&r->layers, name, ret, e);

	if (code != -ENOENT)
		return code;
	code = error_set(e, -ENOENT, "there is no snapshot '%s' of %s", name, r->layers.workspace);
	error_next(e, "'bawn snapshots' lists those that there are.");
	return code;
}

int review_pick_snapshot(const struct review *r, const struct invocation *i, bool start,
			 struct layers_snapshot *ret, struct error *e)
{
	struct snapshots_newest n = {.session = invocation_value(i, OPTION_SESSION),
				     .start = start};
	int code;

	if (i->argument_count > 0)
		return review_read_snapshot(r, i->arguments[0], ret, e);
	code = layers_each_snapshot(&r->layers, snapshots_is_newer, &n, e);
	if (code < 0)
		return code;
	if (!n.found) {
		code = error_set(e, -ENOENT, "%s snapshot of %s%s%s",
				 start ? "there is no" : "you have made no",
				 n.session ? n.session : r->layers.workspace,
				 n.session ? " in " : "", n.session ? r->layers.workspace : "");
		error_next(e, start ? "One is made whenever a session starts."
				    : "'bawn snapshot' makes one. Those that were made by "
				      "themselves are taken by name: 'bawn snapshots' lists them.");
		return code;
	}
	*ret = n.snapshot;
	return 0;
}

/* --- how large ------------------------------------------------------------------------ */

static uint64_t snapshots_measure(const struct layers *l, const struct layers_snapshot *s)
{
	const struct stack *const stacks[] = {&s->project, &s->home, &s->root};
	uint64_t bytes = 0;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(stacks); i++)
		for (size_t n = 0; n < stacks[i]->count; n++) {
			_cleanup_fd_ int up = layers_open_up(l, stacks[i]->ids[n]);
			uint64_t more = 0, files = 0;

			if (up >= 0 && tree_measure(up, &more, &files) == 0)
				bytes += more;
		}
	return bytes;
}

/* --- the list ------------------------------------------------------------------------- */

struct snapshots_list {
	const struct layers *layers;
	struct layers_snapshot *items;
	size_t count;
};

static void snapshots_list_fini(struct snapshots_list *l)
{
	free(l->items);
}

static int snapshots_add(void *context, const struct layers_snapshot *s)
{
	struct snapshots_list *l = context;

	if (!ARRAY_GROW(l->items, l->count))
		return -ENOMEM;
	l->items[l->count++] = *s;
	return 0;
}

static int snapshots_by_age(const void *a, const void *b)
{
	const struct layers_snapshot *x = a, *y = b;

	return (x->made > y->made) - (x->made < y->made);
}

static void snapshots_print_one(const struct text *out, const struct layers *l,
				const struct layers_snapshot *s)
{
	_cleanup_buf_ struct buf age = BUF_INIT(64);
	_cleanup_buf_ struct buf size = BUF_INIT(64);

	words_age(&age, (uint64_t)(s->made / 1000000000));
	words_size(&size, snapshots_measure(l, s) >> 10 << 10);
	text_printf(out, "%-*s  %-*s  %-*s  %s%s\n", SNAPSHOTS_NAME, s->name, SNAPSHOTS_SESSION,
		    s->session, SNAPSHOTS_AGE, buf_str(&age), buf_str(&size),
		    s->live ? "  copied while it ran" : "");
}

static void snapshots_print_json(const struct text *out, const struct snapshots_list *l)
{
	_cleanup_buf_ struct buf b = BUF_INIT(SNAPSHOTS_BYTES_MAX);
	struct json j = JSON_INIT(&b, true);

	json_open(&j, '[');
	for (size_t i = 0; i < l->count; i++) {
		const struct layers_snapshot *s = &l->items[i];

		json_open(&j, '{');
		json_key_str(&j, "name", s->name);
		json_key_str(&j, "session", s->session);
		json_key_u64(&j, "made", (uint64_t)(s->made / 1000000000));
		json_key_bool(&j, "live", s->live);
		json_key_bool(&j, "automatic", snapshot_is_automatic(s->name));
		json_key_u64(&j, "bytes", snapshots_measure(l->layers, s));
		json_key_u64(&j, "layers", s->project.count + s->home.count + s->root.count);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	buf_put_char(&b, '\n');
	text_write(out, &b);
}

static int snapshots_print(const struct invocation *i, const struct review *r, struct error *e)
{
	_cleanup_(snapshots_list_fini) struct snapshots_list l = {.layers = &r->layers};
	struct text out = text_open(STDOUT_FILENO);
	int code = r->layers.dir < 0 ? 0 : layers_each_snapshot(&r->layers, snapshots_add, &l, e);

	if (code < 0)
		return code;
	if (l.count > 1)
		qsort(l.items, l.count, sizeof(*l.items), snapshots_by_age);
	if (invocation_has(i, OPTION_JSON)) {
		snapshots_print_json(&out, &l);
		return 0;
	}
	if (l.count > 0)
		text_styled(&out, TEXT_STRONG, "%-*s  %-*s  %-*s  %s\n", SNAPSHOTS_NAME, "NAME",
			    SNAPSHOTS_SESSION, "SESSION", SNAPSHOTS_AGE, "AGE", "SIZE");
	for (size_t n = 0; n < l.count; n++)
		snapshots_print_one(&out, &r->layers, &l.items[n]);
	return 0;
}

static int snapshots_remove(const struct review *r, char *const *names, struct error *e)
{
	_cleanup_fd_ int lock = layers_lock(&r->layers, e);
	struct text out = text_open(STDOUT_FILENO);
	int code = lock < 0 ? lock : 0;

	for (; code == 0 && *names; names++) {
		code = layers_snapshot_remove(&r->layers, *names, e);
		if (code == 0)
			text_printf(&out, "removed  %s\n", *names);
		if (code == -ENOENT) {
			(void)error_set(e, code, "there is no snapshot '%s' of %s", *names,
					r->layers.workspace);
			error_next(e, "'bawn snapshots' lists those that there are.");
		}
	}
	struct error ignored = ERROR_INIT;

	/* Also after a failure: what was removed before is gone. */
	if (lock >= 0)
		(void)layers_collect(&r->layers, &ignored);
	return code;
}

int review_snapshots(const struct invocation *i)
{
	_cleanup_review_ struct review r = {.layers = LAYERS_INIT, .tree = -1};
	struct error e = ERROR_INIT;
	bool remove = i->argument_count > 0;

	if (remove && i->argument_count < 2) {
		(void)error_set(&e, -EINVAL, "which snapshot shall be removed?");
		error_next(&e,
			   "'bawn snapshots' lists them; 'bawn snapshots rm NAME' removes one.");
		verb_complain(&e);
		return EXIT_USAGE;
	}
	int code = review_open(i, REVIEW_NOTHING, &r, &e);

	/* A folder in which no session ever worked has none. */
	if (code == -ENOENT && !remove) {
		e = ERROR_INIT;
		code = 0;
	}
	if (code == 0)
		code = remove ? snapshots_remove(&r, i->arguments + 1, &e)
			      : snapshots_print(i, &r, &e);
	if (code < 0)
		verb_complain(&e);
	return code < 0 ? EXIT_BAWN : EXIT_OK;
}
