/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn undo`: the last apply of this workspace is taken back, byte for byte, with times and modes.
 * A file that is not as apply left it was changed since: it is named, and nothing is done.  Or what
 * a direct session did is taken back (undo_direct.h), whichever came last; there a file that was
 * changed since is left as it is, and named.
 *
 * Sessions that still have what landed depart again from what stands there then (basis.h), so it is
 * pending once more.
 */
#include "basis.h"
#include "decision.h"
#include "fd.h"
#include "json.h"
#include "land.h"
#include "prompt.h"
#include "review.h"
#include "settle.h"
#include "undo_direct.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UNDO_SHOWN_MAX = 40, UNDO_WORDS = 20 };

struct undo {
	const struct invocation *i;
	struct review review;
	struct decision decision;
	struct prompt prompt;
	struct text out;
	int journal;
	struct land_undo *kept;
	bool is_direct; /* of this session, not of an apply */
	struct layers_session session;
	struct undo_direct direct;
	const struct land_step *steps;
	size_t count;
	bool *changed; /* each: it is not as it was left */
	size_t changed_count;
	bool json, dry, redo, done;
};

static void undo_fini(struct undo *u)
{
	decision_fini(&u->decision);
	prompt_close(&u->prompt);
	land_undo_free(&u->kept);
	undo_direct_fini(&u->direct);
	free(u->changed);
	fd_close(&u->journal);
	review_close(&u->review);
}

/* --- what stands there ----------------------------------------------------------------- */

/* Which paths the user changed since. */
static int undo_compare(struct undo *u, struct error *e)
{
	u->changed = calloc(u->count + 1, sizeof(*u->changed));
	if (!u->changed)
		return error_set(e, -ENOMEM, "no memory");
	for (size_t i = 0; i < u->count; i++) {
		struct object now = {.type = OBJECT_ABSENT};
		int r = undo_look(u->review.tree, u->steps[i].path, &now);

		if (r < 0)
			return error_sys(e, r, "cannot read %s", u->steps[i].path);
		u->changed[i] = !basis_same(&now, &u->steps[i].before);
		u->changed_count += u->changed[i];
	}
	return 0;
}

/* --- showing --------------------------------------------------------------------------- */

static const char *undo_words(const struct land_step *s)
{
	if (s->before.type == OBJECT_ABSENT)
		return "comes back";
	if (s->after.type == OBJECT_ABSENT)
		return "goes";
	if (!basis_same_content(&s->before, &s->after))
		return "as it was";
	return basis_same(&s->before, &s->after) ? "gets its time back" : "gets its mode back";
}

/* A folder whose time alone goes back needs no words. */
static bool undo_is_quiet(const struct land_step *s)
{
	return s->before.type == OBJECT_DIR && basis_same(&s->before, &s->after);
}

static size_t undo_count(const struct undo *u)
{
	size_t count = 0;

	for (size_t i = 0; i < u->count; i++)
		count += !undo_is_quiet(&u->steps[i]);
	return count;
}

static void undo_show(const struct undo *u, bool changed, const char *title)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	size_t shown = 0, objects = 0;

	for (size_t i = 0; i < u->count; i++) {
		if (changed ? !u->changed[i] : undo_is_quiet(&u->steps[i]))
			continue;
		/* Names of content: nobody reads them one by one. */
		if (!changed && change_is_git_object(&(struct change){.path = u->steps[i].path})) {
			objects += u->steps[i].before.type == OBJECT_FILE ||
				   u->steps[i].after.type == OBJECT_FILE;
			continue;
		}
		if (++shown > UNDO_SHOWN_MAX)
			continue;
		const char *words = undo_words(&u->steps[i]);

		if (u->redo && strcmp(words, "as it was") == 0)
			words = "as applied";
		buf_putf(&out, "  %-*s", changed ? 0 : UNDO_WORDS, changed ? "" : words);
		text_escape(&out, span_of_str(u->steps[i].path));
		buf_put_char(&out, '\n');
	}
	if (shown > UNDO_SHOWN_MAX)
		buf_putf(&out, "  ... and %zu more\n", shown - UNDO_SHOWN_MAX);
	if (objects)
		buf_putf(&out, "  %-*s%zu object%s in .git/objects\n", UNDO_WORDS, "git", objects,
			 objects == 1 ? "" : "s");
	if (shown + objects) {
		text_styled(&u->out, changed ? TEXT_BAD : TEXT_STRONG, "%s\n", title);
		text_write(&u->out, &out);
	}
}

static void undo_show_skipped(const struct undo *u)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	size_t count = u->direct.skipped_count;

	for (size_t i = 0; i < count && i < UNDO_SHOWN_MAX; i++) {
		buf_put_str(&out, "  ");
		text_escape(&out, span_of_str(u->direct.skipped[i].path));
		buf_putf(&out, "  %s\n", u->direct.skipped[i].why);
	}
	if (count > UNDO_SHOWN_MAX)
		buf_putf(&out, "  ... and %zu more\n", count - UNDO_SHOWN_MAX);
	if (count == 0 || u->json)
		return;
	text_styled(&u->out, TEXT_WARN, "Left as they are:\n");
	text_write(&u->out, &out);
}

static void undo_put_json(const struct undo *u)
{
	_cleanup_buf_ struct buf out = BUF_INIT(256 << 20);
	struct json j = JSON_INIT(&out, true);

	json_open(&j, '{');
	json_key_str(&j, "workspace", u->review.layers.workspace);
	json_key_bool(&j, "undone", u->done);
	json_key_u64(&j, "changed_since", u->changed_count);
	json_key(&j, "paths");
	json_open(&j, '[');
	for (size_t i = 0; i < u->count; i++) {
		json_open(&j, '{');
		json_key_str(&j, "path", u->steps[i].path);
		json_key_str(&j, "what", undo_words(&u->steps[i]));
		json_key_bool(&j, "changed_since", u->changed[i]);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_key(&j, "skipped");
	json_open(&j, '[');
	for (size_t i = 0; i < u->direct.skipped_count; i++) {
		json_open(&j, '{');
		json_key_str(&j, "path", u->direct.skipped[i].path);
		json_key_str(&j, "why", u->direct.skipped[i].why);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	buf_put_char(&out, '\n');
	text_write(&u->out, &out);
}

/* --- doing ----------------------------------------------------------------------------- */

static int undo_record(struct undo *u, struct error *e)
{
	struct note n;
	int r = decision_open(&u->review, u->i, &u->decision, e);

	if (r < 0)
		return r;
	note_begin(&n, NOTE_APPLY, u->redo ? "redo" : "undo");
	note_number(&n, NOTE_FIELD_COUNT_OF, u->count);
	note_text(&n, NOTE_FIELD_WORKSPACE, span_of_str(u->review.layers.workspace));
	r = decision_note(&u->decision, &n);
	for (size_t i = 0; r == 0 && i < u->count; i++)
		r = decision_path(&u->decision,
				  &(struct decision_path){.kind = NOTE_APPLY,
							  .op = "restored",
							  .path = u->steps[i].path,
							  .object = &u->steps[i].after});
	return r < 0 ? error_sys(e, r, "writing a record of this")
		     : decision_settle(&u->decision, e);
}

struct undo_landing {
	struct undo *u;
	struct error e;
};

static int undo_on_decide(void *context)
{
	struct undo_landing *l = context;

	return undo_record(l->u, &l->e);
}

static int undo_on_open(void *context, size_t i)
{
	struct undo_landing *l = context;

	return l->u->is_direct ? undo_direct_content(&l->u->direct, i)
			       : land_undo_content(l->u->kept, i);
}

static int64_t undo_on_folder_time(void *context, const char *path, int64_t now)
{
	const struct undo_landing *l = context;

	return l->u->is_direct ? undo_direct_folder_time(&l->u->direct, path, now) : 0;
}

/* A session that stood upon what was taken back stands upon what is there now. */
static int undo_rebase_one(const struct undo *u, int session, struct basis *b,
			   struct basis *decided, const struct land_step *s)
{
	const struct basis_entry *entry = basis_find(b, s->path);
	const struct basis_entry *made = basis_find(decided, s->path);
	const struct view base = {.base = u->review.tree};

	/* What was decided is open again, and is decided again by redo. */
	if (made && (entry ? basis_same_content(&made->object, &s->before) : u->redo)) {
		const struct object own = entry ? entry->object : made->object;

		if (entry)
			basis_remove(b, s->path);
		int r = entry ? 0 : basis_set(b, s->path, &own);

		return r < 0 ? r : basis_set(decided, s->path, entry ? &own : &s->after);
	}
	if (!entry || !basis_same_content(&entry->object, &s->before))
		return 0;
	int r = basis_set(b, s->path, &s->after);

	if (r < 0 || s->after.type != OBJECT_FILE)
		return r;
	_cleanup_fd_ int fd = view_openat(&base, s->path, O_RDONLY);

	return fd < 0 ? fd : basis_keep(session, &s->after, fd);
}

static int undo_rebase(void *context, const struct layers_session *session)
{
	const struct undo *u = context;
	_cleanup_fd_ int dir = layers_session_dir(&u->review.layers, session->name, false);
	_cleanup_basis_ struct basis b = BASIS_INIT, decided = BASIS_INIT;
	struct error e = ERROR_INIT;
	int r = dir < 0 ? dir : basis_read(dir, &b, &e);

	if (r == 0)
		r = basis_read_decided(dir, &decided, &e);
	if (r < 0 || b.count + decided.count == 0)
		return r;
	for (size_t i = 0; r == 0 && i < u->count; i++)
		r = undo_rebase_one(u, dir, &b, &decided, &u->steps[i]);
	if (r == 0 && decided.count)
		r = basis_write_decided(dir, &decided, &e);
	return r < 0 ? r : basis_write(dir, &b, &e);
}

static int undo_do(struct undo *u, struct error *e)
{
	struct undo_landing context = {.u = u, .e = ERROR_INIT};

	fd_close(&u->journal);
	u->journal = layers_journal(&u->review.layers, true);
	if (u->journal < 0)
		return error_sys(e, u->journal, "cannot open the journal in %s",
				 u->review.layers.path);
	const struct land_how how = {.tree = u->review.tree,
				     .journal = u->journal,
				     .what = u->redo ? "redo" : "undo",
				     .undo = u->kept,
				     .whole_modes = u->is_direct,
				     .open = undo_on_open,
				     .folder_time = undo_on_folder_time,
				     .decide = undo_on_decide,
				     .context = &context};
	struct land_result result = {.landed = 0};
	int r = land(&how, u->steps, u->count, &result, e);

	if (r < 0 && context.e.code < 0)
		*e = context.e;
	u->done = r == 0;
	struct error late = ERROR_INIT;

	(void)decision_close(&u->decision, r < 0 ? EXIT_BAWN : EXIT_OK, &late);
	if (r < 0)
		return r;
	if (u->is_direct)
		return layers_session_remove(&u->review.layers, u->session.name, e);
	return layers_each_session(&u->review.layers, undo_rebase, u, e);
}

/* --- which -------------------------------------------------------------------------------- */

/* The direct session that ended last, and has something to undo. */
static int undo_consider(void *context, const struct layers_session *s)
{
	struct undo *u = context;
	const char *named = invocation_value(u->i, OPTION_SESSION);

	if (s->mode != LAYERS_DIRECT || (named && strcmp(named, s->name) != 0) ||
	    layers_session_runs(&u->review.layers, s->name) ||
	    !layers_session_has_changes(&u->review.layers, s))
		return 0;
	if (!u->is_direct || s->ended > u->session.ended)
		u->session = *s;
	u->is_direct = true;
	return 0;
}

/* Whether an apply, or an undo, came after it. */
static bool undo_landed_later(const struct undo *u)
{
	struct stat st;

	return !invocation_has(u->i, OPTION_SESSION) && u->journal >= 0 &&
	       fstat(u->journal, &st) == 0 &&
	       (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec > u->session.ended;
}

static int undo_open_direct(struct undo *u, struct error *e)
{
	int r = undo_direct_read(&u->review, &u->session, &u->direct, e);

	if (r < 0)
		return r;
	land_undo_free(&u->kept);
	u->steps = u->direct.steps;
	u->count = u->direct.count;
	u->changed = calloc(u->count + 1, sizeof(*u->changed));
	return u->changed ? 0 : error_set(e, -ENOMEM, "no memory");
}

static int undo_open(struct undo *u, struct error *e)
{
	int r = review_open(u->i, REVIEW_NOTHING, &u->review, e);

	if (r < 0)
		return r;
	u->journal = layers_journal(&u->review.layers, false);
	if (!u->redo)
		r = layers_each_session(&u->review.layers, undo_consider, u, e);
	if (r < 0)
		return r;
	r = u->journal < 0 ? u->journal
	    : u->redo      ? land_redo_open(u->journal, &u->kept, e)
			   : land_undo_open(u->journal, &u->kept, e);
	u->is_direct = u->is_direct && (r == -ENOENT || !undo_landed_later(u));
	if (u->is_direct)
		return undo_open_direct(u, e);
	if (r == -ENOENT) {
		(void)error_set(e, r,
				u->redo ? "the last thing that happened to %s was no undo"
					: "nothing that was applied to %s can be undone",
				u->review.layers.workspace);
		error_next(e, u->redo ? "'bawn apply' applies what a session changed."
				      : "'bawn undo --redo' applies again what was undone last.");
		return r;
	}
	if (r < 0)
		return e->code ? r : error_sys(e, r, "cannot read the journal");
	u->steps = land_undo_steps(u->kept, &u->count);
	return undo_compare(u, e);
}

/* The exit code, or -errno. */
static int undo_run(struct undo *u, struct error *e)
{
	int r = prompt_open_for(u->i, &u->prompt, e);

	if (r == 0)
		r = undo_open(u, e);
	_cleanup_fd_ int lock = r < 0 ? r : layers_lock(&u->review.layers, e);

	if (lock < 0)
		return lock;
	if (!u->json && !u->changed_count)
		undo_show(u, false, u->redo ? "To apply again:" : "To undo:");
	if (u->changed_count) {
		if (!u->json)
			undo_show(u, true, "These were changed since, so nothing of it is undone:");
		text_printf(&u->out, "%s",
			    u->json ? "" : "Move them aside, or put them back, and try again.\n");
		return EXIT_FOUND;
	}
	undo_show_skipped(u);
	if (u->count == 0)
		text_printf(&u->out, "%s", u->json ? "" : "Nothing is to be undone.\n");
	if (u->dry || u->count == 0)
		return EXIT_OK;
	char question[PATH_MAX + 64];
	size_t count = undo_count(u);

	(void)snprintf(question, sizeof(question), "%s %zu change%s to %s? [y/N]",
		       u->redo ? "Apply again" : "Take back", count, count == 1 ? "" : "s",
		       u->review.layers.workspace);
	if (u->prompt.tty >= 0 &&
	    prompt_key(&u->prompt, question, "ny", "y  do it\nn  change nothing") != 'y') {
		text_printf(&u->out, "Nothing was changed.\n");
		return EXIT_FOUND;
	}
	r = undo_do(u, e);
	if (r == 0 && !u->json)
		text_printf(&u->out, "%s is as it was %s it. 'bawn undo%s\n",
			    u->review.layers.workspace, u->redo ? "after" : "before",
			    u->redo ? "' takes it back." : " --redo' does it again.");
	return r;
}

int review_undo(const struct invocation *i)
{
	struct error e = ERROR_INIT;
	struct undo u = {.i = i,
			 .review = REVIEW_INIT,
			 .decision = DECISION_INIT,
			 .prompt = PROMPT_INIT,
			 .out = text_open(STDOUT_FILENO),
			 .journal = -1,
			 .direct = UNDO_DIRECT_INIT,
			 .json = invocation_has(i, OPTION_JSON),
			 .dry = invocation_has(i, OPTION_DRY_RUN),
			 .redo = invocation_has(i, OPTION_REDO)};
	int r = undo_run(&u, &e);

	if (r >= 0 && u.json && u.changed)
		undo_put_json(&u);
	undo_fini(&u);
	if (r >= 0)
		return r;
	verb_complain(&e);
	return EXIT_BAWN;
}
