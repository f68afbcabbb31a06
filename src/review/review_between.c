/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn diff --between A B`: paths that two sessions of one workspace both changed.  When the
 * second of them is applied, it meets the first there.  If both made the same of a path, nothing is
 * lost.
 */
#include "diff_parts.h"

#include "pager.h"
#include "str.h"

#include <stdio.h>
#include <unistd.h>

enum { BETWEEN_ARGUMENTS = 2 };

struct between {
	struct diff sides[BETWEEN_ARGUMENTS];
	struct layers_session sessions[BETWEEN_ARGUMENTS];
	bool runs[BETWEEN_ARGUMENTS];
	size_t both, differ;
};

/* What a session did to a path: its change, or it moved the file away. */
struct between_deed {
	const struct change *change;
	bool away;
};

static int between_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All paths that a session touched, sorted. */
static const char **between_paths(const struct changes *c, size_t *ret_count)
{
	const char **paths = calloc(2 * c->count + 1, sizeof(*paths));
	size_t count = 0;

	for (size_t i = 0; paths && i < c->count; i++) {
		/* New directories do not matter. */
		if (!folding_is_file(&c->items[i]) && c->items[i].kind == CHANGE_ADDED)
			continue;
		paths[count++] = c->items[i].path;
		if (c->items[i].from)
			paths[count++] = c->items[i].from;
	}
	if (paths)
		qsort(paths, count, sizeof(*paths), between_order);
	*ret_count = count;
	return paths;
}

static struct between_deed between_deed(const struct changes *c, const char *path)
{
	const struct change *own = changes_find(c, path);

	return (struct between_deed){own, own == NULL};
}

static bool between_same(const struct between_deed deeds[BETWEEN_ARGUMENTS])
{
	const struct object gone = {.type = OBJECT_ABSENT};
	const struct object *a = deeds[0].away ? &gone : &deeds[0].change->after;
	const struct object *b = deeds[1].away ? &gone : &deeds[1].change->after;

	if (a->type != b->type || (a->type != OBJECT_ABSENT && a->mode != b->mode))
		return false;
	if (a->type == OBJECT_FILE)
		return a->hashed && b->hashed && memcmp(a->digest, b->digest, SHA256_SIZE) == 0;
	return a->type != OBJECT_LINK || str_equal(a->link, b->link);
}

static const char *between_word(const struct between_deed *d)
{
	return d->away ? "moved away" : change_kind_words[d->change->kind];
}

static void between_put(struct between *b, struct json *j, const char *path)
{
	struct diff *d = &b->sides[0];
	const struct between_deed deeds[BETWEEN_ARGUMENTS] = {
		between_deed(&b->sides[0].changes, path), between_deed(&b->sides[1].changes, path)};
	bool same = between_same(deeds);

	b->both++;
	b->differ += !same;
	if (j) {
		json_open(j, '{');
		diff_json_bytes(j, "path", path);
		json_key_str(j, "first", between_word(&deeds[0]));
		json_key_str(j, "second", between_word(&deeds[1]));
		json_key_bool(j, "same", same);
		json_close(j, '}');
	} else {
		diff_put(d, same ? TEXT_PLAIN : TEXT_WARN, "%-*s", DIFF_STATUS,
			 same ? "same" : "differs");
		diff_put(d, TEXT_STRONG, "%s", path);
		diff_put(d, TEXT_PLAIN, " (%s: %s, %s: %s)", b->sessions[0].name,
			 between_word(&deeds[0]), b->sessions[1].name, between_word(&deeds[1]));
		diff_end_line(d);
	}
	diff_flush(d, false);
}

/* Both lists are sorted: one pass is enough. */
static int between_compare(struct between *b, struct json *j, struct error *e)
{
	size_t counts[BETWEEN_ARGUMENTS];
	_cleanup_free_ const char **first = between_paths(&b->sides[0].changes, &counts[0]);
	_cleanup_free_ const char **second = between_paths(&b->sides[1].changes, &counts[1]);
	size_t i = 0;
	size_t k = 0;

	if (!first || !second)
		return error_sys(e, -ENOMEM, "cannot compare the sessions");
	while (i < counts[0] && k < counts[1]) {
		int order = strcmp(first[i], second[k]);

		if (order == 0 && (i == 0 || !str_equal(first[i], first[i - 1])) &&
		    picks_has(&b->sides[0].picks, first[i]))
			between_put(b, j, first[i]);
		i += order <= 0;
		k += order >= 0;
	}
	return 0;
}

static void between_json_session(struct json *j, const struct between *b, size_t i)
{
	json_open(j, '{');
	json_key_str(j, "name", b->sessions[i].name);
	json_key_bool(j, "runs", b->runs[i]);
	json_close(j, '}');
}

static int between_put_json(struct between *b, struct error *e)
{
	struct diff *d = &b->sides[0];
	struct json j = JSON_INIT(&d->out, true);

	json_open(&j, '{');
	json_key(&j, "sessions");
	json_open(&j, '[');
	between_json_session(&j, b, 0);
	between_json_session(&j, b, 1);
	json_close(&j, ']');
	json_key(&j, "both");
	json_open(&j, '[');
	int r = between_compare(b, &j, e);

	json_close(&j, ']');
	json_key_u64(&j, "differ", b->differ);
	json_close(&j, '}');
	diff_end_line(d);
	return r;
}

static int between_put_words(struct between *b, struct error *e)
{
	struct diff *d = &b->sides[0];

	for (size_t i = 0; i < BETWEEN_ARGUMENTS; i++)
		diff_put_session(d, &b->sessions[i], b->runs[i]);
	diff_end_line(d);
	int r = between_compare(b, NULL, e);

	if (b->both > 0)
		diff_end_line(d);
	if (b->both == 0)
		diff_put(d, TEXT_PLAIN, "no path was changed by both");
	else
		diff_put(d, TEXT_STRONG, "%zu path%s changed by both, %zu of them differently",
			 b->both, b->both == 1 ? "" : "s", b->differ);
	diff_end_line(d);
	if (b->differ > 0) {
		diff_put(d, TEXT_PLAIN,
			 "Whichever you apply second will meet the first there as a conflict.");
		diff_end_line(d);
	}
	return r;
}

static int between_open(struct between *b, struct review *review, const char *name, size_t i,
			struct error *e)
{
	int r = layers_is_name(name)
			? layers_session_read(&review->layers, name, &b->sessions[i], e)
			: -ENOENT;

	if (r == -ENOENT) {
		r = error_set(e, -ENOENT, "there is no session '%s' with changes in %s", name,
			      review->layers.workspace);
		error_next(e,
			   "'bawn sessions' lists those that run; 'bawn diff' names the others.");
	}
	if (r < 0)
		return r;
	b->sides[i] = (struct diff){
		.review = review,
		.view = VIEW_INIT,
		.text = pager_text(),
		.out = BUF_INIT(DIFF_OUT_MAX),
	};
	b->runs[i] = layers_session_runs(&review->layers, name);
	return diff_read(&b->sides[i], &b->sessions[i], true, e);
}

static int between_run(const struct invocation *i, struct review *review, struct between *b,
		       struct error *e)
{
	int r = 0;

	for (size_t n = 0; r == 0 && n < BETWEEN_ARGUMENTS; n++)
		r = between_open(b, review, i->arguments[n], n, e);
	if (r == 0)
		r = picks_read(review, i->arguments + BETWEEN_ARGUMENTS,
			       (size_t)i->argument_count - BETWEEN_ARGUMENTS, &b->sides[0].picks,
			       e);
	if (r == 0)
		r = invocation_has(i, OPTION_JSON) ? between_put_json(b, e)
						   : between_put_words(b, e);
	diff_flush(&b->sides[0], true);
	return r;
}

int review_between(const struct invocation *i)
{
	_cleanup_review_ struct review review = {.layers = LAYERS_INIT, .tree = -1};
	static struct between b;
	struct error e = ERROR_INIT;

	if (i->argument_count < BETWEEN_ARGUMENTS) {
		(void)error_set(&e, -EINVAL, "--between wants the names of two sessions");
		error_next(&e, "bawn diff --between calm-otter odd-heron");
		verb_complain(&e);
		return EXIT_USAGE;
	}
	for (size_t n = 0; n < BETWEEN_ARGUMENTS; n++)
		b.sides[n].view = VIEW_INIT;
	int r = review_open(i, REVIEW_NOTHING, &review, &e);

	if (r == 0)
		r = between_run(i, &review, &b, &e);
	for (size_t n = 0; n < BETWEEN_ARGUMENTS; n++)
		diff_fini(&b.sides[n]);
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	return b.differ > 0 ? EXIT_FOUND : EXIT_OK;
}
