/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn discard`: forgets what a session changed, all of it or the paths that are named.  It does
 * not touch the workspace: nothing of this had landed there.  With --home the private home, which
 * is kept from run to run, loses the layer that the session's last run put on it.
 */
#include "choice_show.h"
#include "decision.h"
#include "fd.h"
#include "forget.h"
#include "prompt.h"
#include "snapshot.h"
#include "squash.h"
#include "still.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DISCARD_SHOWN = 20 };

struct discard {
	const struct invocation *i;
	struct review review;
	struct still still;
	struct choices choices;
	struct decision decision;
	struct prompt prompt;
	struct text out;
	struct buf tally; /* how many there are, in words */
	bool json, dry, whole, done;
	bool swept;   /* layers were set aside, to be removed */
	bool home;    /* the private home lost a layer */
	size_t count; /* how many changes are meant */
};

static void discard_fini(struct discard *d)
{
	decision_fini(&d->decision);
	prompt_close(&d->prompt);
	choices_fini(&d->choices);
	buf_fini(&d->tally);
	still_end(&d->still);
	review_close(&d->review);
}

/* Picks what is named, whatever apply would do with it. */
static int discard_pick(struct discard *d, struct error *e)
{
	struct pathspecs specs;
	int r = choices_specs(&d->choices, d->i, OPTION_COUNT, &specs, e);

	if (r == 0)
		r = choices_tell_committed(&d->choices, e);
	for (size_t n = 0; n < d->choices.count; n++) {
		struct choice *x = &d->choices.items[n];

		if (x->state == CHOICE_SETTLED)
			continue;
		/* What the user's own branch has is not lost. */
		x->state = d->whole && x->old ? CHOICE_SETTLED : CHOICE_LANDS;
	}
	if (r == 0)
		r = choices_pick(&d->choices, &specs, e);
	d->count = choices_in(&d->choices, CHOICE_LANDS);
	if (r == 0)
		choices_put_tally(&d->tally, &d->choices, CHOICE_LANDS);
	return r;
}

/* Each by its name.  If the disk has no room for that, their number: discarding makes room. */
static int discard_record_paths(struct discard *d)
{
	uint64_t bytes = 0;
	struct note n;
	int r = 0;

	for (size_t i = 0; i < d->choices.count; i++)
		bytes += strlen(d->choices.items[i].change->path);
	if (!decision_has_room(&d->decision, d->choices.count, bytes)) {
		note_begin(&n, NOTE_GAP, "discarded");
		note_word(&n, NOTE_FIELD_HOW, "kernel");
		note_number(&n, NOTE_FIELD_COUNT_OF, d->count);
		note_word(&n, NOTE_FIELD_REASON, "the disk has no room for the name of each");
		return decision_note(&d->decision, &n);
	}
	for (size_t i = 0; r == 0 && i < d->choices.count; i++) {
		const struct choice *x = &d->choices.items[i];

		if (x->state == CHOICE_LANDS)
			r = decision_path(&d->decision,
					  &(struct decision_path){.kind = NOTE_APPLY,
								  .op = "discarded",
								  .path = x->change->path,
								  .object = &x->change->after});
	}
	return r;
}

static int discard_record(struct discard *d, struct error *e)
{
	struct note n;
	int r = decision_open(&d->review, d->i, &d->decision, e);

	if (r < 0)
		return r;
	note_begin(&n, NOTE_APPLY, "discard");
	note_number(&n, NOTE_FIELD_COUNT_OF, d->count);
	note_text(&n, NOTE_FIELD_NAME, span_of_str(d->review.session.name));
	note_text(&n, NOTE_FIELD_WORKSPACE, span_of_str(d->review.layers.workspace));
	r = decision_note(&d->decision, &n);
	if (r == 0)
		r = discard_record_paths(d);
	return r < 0 ? error_sys(e, r, "writing a record of this")
		     : decision_settle(&d->decision, e);
}

/* Paths that come back, sorted. */
struct discard_back {
	const char **paths;
	size_t count;
};

static int discard_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool discard_is_meant(void *context, const char *path)
{
	const struct discard_back *b = context;

	return b->count && bsearch(&path, b->paths, b->count, sizeof(*b->paths), discard_order);
}

static void discard_note_back(const struct discard *d, struct discard_back *b)
{
	for (size_t n = 0; n < d->choices.count; n++) {
		const struct change *c = d->choices.items[n].change;

		if (d->choices.items[n].state != CHOICE_LANDS)
			continue;
		if (c->before.type != OBJECT_ABSENT && !c->from)
			b->paths[b->count++] = c->path;
		if (c->from)
			b->paths[b->count++] = c->from;
	}
	if (b->count > 1)
		qsort(b->paths, b->count, sizeof(*b->paths), discard_order);
}

/* What is in the place of a folder above a path; NULL: nothing. */
static const char *discard_blocker(struct discard *d, const struct view *v, const char *path)
{
	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		const char *above = arena_strn(&d->choices.arena, path, (size_t)(at - path));
		struct object o;

		if (above && view_look(v, above, &o) == 0 && o.type != OBJECT_DIR)
			return above;
	}
	return NULL;
}

static int discard_say_failed(struct discard *d, const struct view *v, const char *path, int r,
			      struct error *e)
{
	const char *blocker = r == -ENOTDIR ? discard_blocker(d, v, path) : NULL;

	(void)error_sys(e, r, "cannot discard the change of %s alone", path);
	if (blocker)
		error_next(e, "The session replaced %s: discard that, or the whole session.",
			   blocker);
	return r;
}

/* A folder of the workspace is gone, or is something else: it comes back before what is in it. */
static bool discard_is_folder(const struct change *c)
{
	return !c->from && c->before.type == OBJECT_DIR && c->after.type != OBJECT_DIR;
}

/* Brings folders back first, from the top: then what was in one that is gone has a place again. */
static int discard_folders(struct discard *d, const struct view *v, struct discard_back *back,
			   struct error *e)
{
	const struct forget_back meant = {discard_is_meant, back};
	int r = 0;

	for (size_t n = 0; r == 0 && n < d->choices.count; n++) {
		const struct change *c = d->choices.items[n].change;
		const char *path = c->from ? c->from : c->path;

		if (d->choices.items[n].state != CHOICE_LANDS)
			continue;
		if (c->from || c->before.type != OBJECT_ABSENT)
			r = forget_above(v, path, &meant);
		if (r == 0 && discard_is_folder(c))
			r = forget_change(v, c);
		if (r < 0)
			return discard_say_failed(d, v, path, r, e);
	}
	return r;
}

static int discard_one(struct discard *d, const struct view *v, const struct choice *x,
		       struct error *e)
{
	struct change gone = *x->change;
	int r = discard_is_folder(&gone) ? 0 : forget_change(v, &gone);

	/* The old name comes back, too. */
	if (r == 0 && gone.from) {
		gone.path = gone.from;
		r = forget_change(v, &gone);
	}
	if (r == 0) {
		basis_remove(&d->choices.basis, x->change->path);
		return 0;
	}
	return discard_say_failed(d, v, gone.path, r, e);
}

/* Then takes out the deepest first: a directory goes after what is in it. */
static int discard_from(struct discard *d, const struct stack *one, struct error *e)
{
	_cleanup_view_ struct view v = VIEW_INIT;
	_cleanup_free_ const char **paths = calloc(2 * d->choices.count + 1, sizeof(*paths));
	struct discard_back back = {.paths = paths};
	int r = paths ? view_open(&d->review.layers, one, d->review.tree, &v, e)
		      : error_set(e, -ENOMEM, "no memory");

	if (r == 0) {
		discard_note_back(d, &back);
		r = discard_folders(d, &v, &back, e);
	}
	for (size_t n = d->choices.count; r == 0 && n-- > 0;)
		if (d->choices.items[n].state == CHOICE_LANDS)
			r = discard_one(d, &v, &d->choices.items[n], e);
	return r;
}

/* All of them or none: takes them out of a new layer of hard links to the session's files, and that
 * layer replaces the old ones in one step. */
static int discard_paths(struct discard *d, struct error *e)
{
	const struct layers *l = &d->review.layers;
	struct layers_session s = d->review.session;
	mode_t mask = umask(0);
	int r = squash_all(l, &s.project, e);

	layers_session_forget_makers(l, s.name);
	if (r == 0)
		r = discard_from(d, &s.project, e);
	/* Its files may belong to a snapshot: later writes must go elsewhere. */
	if (r == 0)
		r = snapshot_push(l, &s.project, -1, e);
	if (r == 0)
		r = layers_session_write(l, &s, e);
	(void)umask(mask);
	return r < 0 ? r : basis_write(d->choices.session, &d->choices.basis, e);
}

/* Removes the layer that the session's last run put on the home; without a session, the topmost
 * one. */
static int discard_home(struct discard *d, struct error *e)
{
	const struct layers_session *s = &d->review.session;
	struct stack home;
	int r = layers_home_read(&d->review.layers, &home, e);
	size_t at = home.count;

	if (r < 0 || home.count == 0)
		return r;
	if (!s->name[0])
		at--;
	else
		for (size_t n = 0; s->home.count > 0 && n < home.count; n++)
			if (str_equal(home.ids[n], s->home.ids[s->home.count - 1]))
				at = n;
	if (at == home.count)
		return 0;
	home.count--;
	memmove(home.ids[at], home.ids[at + 1], (home.count - at) * sizeof(home.ids[0]));
	r = layers_home_write(&d->review.layers, &home, e);
	d->home = r == 0;
	return r;
}

static int discard_do(struct discard *d, struct error *e)
{
	_cleanup_fd_ int lock = layers_lock(&d->review.layers, e);
	struct error ignored = ERROR_INIT;
	int r = lock < 0 ? lock : discard_record(d, e);

	if (r == 0 && invocation_has(d->i, OPTION_HOME))
		r = discard_home(d, e);
	if (r == 0 && d->whole)
		r = layers_session_remove(&d->review.layers, d->review.session.name, e);
	else if (r == 0)
		r = discard_paths(d, e);
	d->done = r == 0;
	d->swept = lock >= 0;
	/* Also what was begun and is not used. */
	if (d->swept) {
		int retired = layers_retire(&d->review.layers, r == 0 ? e : &ignored);

		r = r == 0 ? retired : r;
	}
	struct error late = ERROR_INIT;
	int end = decision_close(&d->decision, r < 0 ? EXIT_BAWN : EXIT_OK, &late);

	if (r == 0 && end < 0)
		*e = late;
	return r < 0 ? r : end;
}

static int discard_confirm(struct discard *d)
{
	char question[PATH_MAX + 128];

	if (d->prompt.tty < 0)
		return 1;
	(void)snprintf(question, sizeof(question), "Forget %s of %s? It cannot be undone. [y/N]",
		       d->whole        ? "everything"
		       : d->count == 1 ? "this change"
				       : "these changes",
		       d->review.shown);
	return prompt_key(&d->prompt, question, "ny", "y  forget it\nn  keep it") == 'y';
}

static void discard_say(const struct discard *d)
{
	_cleanup_buf_ struct buf out = BUF_INIT(256 << 20);
	struct json j = JSON_INIT(&out, true);

	if (!d->json) {
		if (d->done)
			text_printf(&d->out, "Discarded %s of %s. %s %s.\n",
				    d->tally.len ? buf_str(&d->tally) : "nothing", d->review.shown,
				    d->review.layers.workspace,
				    d->review.gone ? "is gone" : "stays as it is");
		if (d->home)
			text_printf(&d->out, "Its private home is as it was before that run.\n");
		return;
	}
	json_open(&j, '{');
	json_key_str(&j, "session", d->review.session.name);
	json_key_str(&j, "workspace", d->review.layers.workspace);
	json_key_bool(&j, "discarded", d->done);
	json_key_bool(&j, "whole", d->whole);
	json_key_bool(&j, "home", d->home);
	json_key(&j, "changes");
	choices_put_json(&j, &d->choices);
	json_close(&j, '}');
	buf_put_char(&out, '\n');
	text_write(&d->out, &out);
}

/* No session has changes: only the private home is meant. */
static int discard_only_home(struct discard *d, struct error *e)
{
	review_close(&d->review);
	d->review = REVIEW_INIT;
	*e = ERROR_INIT;
	int r = review_open(d->i, REVIEW_NOTHING, &d->review, e);

	if (r == 0)
		r = prompt_open_for(d->i, &d->prompt, e);
	if (r < 0)
		return r;
	if (d->prompt.tty >= 0 &&
	    prompt_key(&d->prompt, "Forget what the last run wrote in the private home? [y/N]",
		       "ny", "y  forget it\nn  keep it") != 'y')
		return EXIT_FOUND;
	_cleanup_fd_ int lock = layers_lock(&d->review.layers, e);

	r = lock < 0 ? lock : d->dry ? 0 : discard_home(d, e);
	if (r == 0 && d->home)
		r = layers_retire(&d->review.layers, e);
	if (r == 0)
		discard_say(d);
	return r;
}

/* Without its folder we cannot know what the session changed of it: shows the first names. */
static int discard_look(struct discard *d, struct error *e)
{
	_cleanup_view_ struct view v = VIEW_INIT;
	_cleanup_changes_ struct changes c = {.count = 0};
	char shown[REVIEW_PATH_SHOWN];
	int r = view_open(&d->review.layers, &d->review.session.project, -1, &v, e);

	if (r == 0)
		r = changes_read(&v, &(struct changes_how){.hash = false}, &c, e);
	d->count = c.count;
	if (r < 0 || d->json)
		return r;
	text_printf(&d->out, "%s worked on %s, which is gone. It wrote:\n", d->review.shown,
		    d->review.layers.workspace);
	for (size_t n = 0; n < c.count && n < DISCARD_SHOWN; n++)
		text_printf(&d->out, "  %s\n", review_shown_path(c.items[n].path, shown));
	if (c.count > DISCARD_SHOWN)
		text_printf(&d->out, "  and %zu more\n", c.count - DISCARD_SHOWN);
	return 0;
}

static int discard_run(struct discard *d, struct error *e)
{
	/* All of it can be discarded if its folder is gone; for a part we need the folder's
	 * version. */
	int r = review_open(d->i, d->whole ? REVIEW_STRAY : REVIEW_SESSION, &d->review, e);

	if (r == -ENOENT && d->whole && invocation_has(d->i, OPTION_HOME) &&
	    !invocation_has(d->i, OPTION_SESSION))
		return discard_only_home(d, e);
	if (r < 0)
		return r;
	if (d->review.runs)
		return still_say_busy(&d->review, d->review.session.name,
				      "End it first; its changes are nowhere but in its box.", e);
	r = prompt_open_for(d->i, &d->prompt, e);
	if (r == 0)
		r = still_begin(&d->review, &d->still, e);
	if (r == 0 && d->review.gone)
		r = discard_look(d, e);
	if (r == 0 && !d->review.gone)
		r = choices_read(&d->review, &d->choices, e);
	if (r == 0 && !d->review.gone)
		r = discard_pick(d, e);
	if (r < 0)
		return r;
	if (!d->json && !d->review.gone)
		choices_show(&d->out, &d->choices, false);
	if (!d->dry && !discard_confirm(d)) {
		text_printf(&d->out, "Nothing was forgotten.\n");
		return EXIT_FOUND;
	}
	r = d->dry ? 0 : discard_do(d, e);
	if (r == 0)
		discard_say(d);
	return r;
}

int review_discard(const struct invocation *i)
{
	struct error e = ERROR_INIT;
	struct discard d = {.i = i,
			    .review = REVIEW_INIT,
			    .still = STILL_INIT,
			    .choices = CHOICES_INIT,
			    .decision = DECISION_INIT,
			    .prompt = PROMPT_INIT,
			    .out = text_open(STDOUT_FILENO),
			    .tally = BUF_INIT(64 << 10),
			    .json = invocation_has(i, OPTION_JSON),
			    .dry = invocation_has(i, OPTION_DRY_RUN),
			    .whole = i->argument_count == 0};
	int r = discard_run(&d, &e);

	/* Release the session before another process can inherit its lock. */
	still_end(&d.still);
	if (d.swept)
		review_sweep(&d.review.layers);
	discard_fini(&d);
	if (r >= 0)
		return r;
	verb_complain(&e);
	return EXIT_BAWN;
}
