/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn apply`: what a session changed goes to the workspace, all of it or nothing.
 *
 *	1  nothing of the session runs: it has ended, or it is paused until we are done
 *	2  we read and hash its changes, judge them by the list of holds, and compare them with what
 *	   is in the workspace and what the session started from (choice.h)
 *	3  we show them; the user must decide conflicts, and release held changes by name;
 *	   then we judge once more what lands together with what stays (choice_judge.c)
 *	4  the user says yes, at the terminal or by --yes
 *	5  the decision goes to the record, and to the disk (decision.h)
 *	6  everything is hashed again while it lands (land.h): if it is not what was shown, it ends
 *	7  the session now starts from what landed (basis.h); a session that has nothing left, and
 *	   has ended, is removed.  What was replaced is kept for `bawn undo`
 */
#include "shared.h"
#include "choice_show.h"
#include "decision.h"
#include "fd.h"
#include "folder_notes.h"
#include "patch.h"
#include "prompt.h"
#include "seen.h"
#include "still.h"
#include "str.h"

#include <stdio.h>
#include <unistd.h>

enum { APPLY_RULES_MAX = 64 };

struct apply {
	const struct invocation *i;
	struct review review;
	struct progress progress;
	struct still still;
	struct choices choices;
	struct choice_steps steps;
	struct decision decision;
	struct prompt prompt; /* tty -1: we ask nobody */
	struct text out;
	struct buf sum;  /* what lands, in words, made before the landing */
	uint64_t number; /* number of the landing */
	bool json, dry, applied;
	bool over; /* nothing of the session is left */
};

static void apply_fini(struct apply *a)
{
	decision_fini(&a->decision);
	prompt_close(&a->prompt);
	buf_fini(&a->sum);
	choices_fini(&a->choices);
	still_end(&a->still);
	review_close(&a->review);
}

/* --- what is meant --------------------------------------------------------------------- */

static int apply_decide(struct apply *a, struct error *e)
{
	static const struct {
		enum option_id option;
		enum choice_side side;
	} sides[] = {{OPTION_OURS, CHOICE_OURS_SIDE},
		     {OPTION_THEIRS, CHOICE_THEIRS_SIDE},
		     {OPTION_MERGE, CHOICE_MERGE}};
	struct pathspecs specs;
	bool all = false;
	int r = choices_specs(&a->choices, a->i, OPTION_COUNT, &specs, e);

	if (r == 0)
		r = choices_pick(&a->choices, &specs, e);
	if (r == 0 && specs.count == 0) {
		all = true;
		choices_pick_branch(&a->choices);
	}
	if (r == 0)
		r = choices_tell_committed(&a->choices, e);
	if (r == 0)
		r = choices_specs(&a->choices, a->i, OPTION_RELEASE, &specs, e);
	if (r == 0)
		r = choices_release(&a->choices, &specs, e);
	if (r == 0 && all)
		r = choices_git_strays(&a->choices, e);
	for (size_t n = 0; r == 0 && n < BAWN_ARRAY_SIZE(sides); n++) {
		r = choices_specs(&a->choices, a->i, sides[n].option, &specs, e);
		if (r == 0)
			r = choices_decide(&a->choices, &specs, sides[n].side,
					   invocation_has(a->i, OPTION_MARKERS), e);
	}
	return r < 0 ? r : seen_check(&a->choices, invocation_has(a->i, OPTION_SEEN), e);
}

static bool apply_is_passed(const char *const *passed, size_t count, const struct choice *x)
{
	for (size_t i = 0; i < count; i++)
		if (x->change->rule && str_equal(passed[i], x->change->rule))
			return true;
	return false;
}

/* Asks about one held change; returns the key. */
static char apply_ask_one(struct apply *a, struct choice *x)
{
	static const char help[] = "y  let it land\nn  leave it out\nv  show it first\n"
				   "a  let all land that this rule holds\n"
				   "r  leave out the rest that this rule holds\n"
				   "q  leave out all that are held";
	_cleanup_buf_ struct buf line = BUF_INIT(1 << 20);
	char key = 0;

	choice_put_line(&line, x);
	buf_put_char(&line, '\n');
	choice_put_reason(&a->prompt.text, &line, x);
	choices_put_with(&line, &a->choices, x);
	text_styled(&a->prompt.text, TEXT_WARN, "Held: ");
	text_write(&a->prompt.text, &line);
	while ((key = prompt_key(&a->prompt, "Release it? [y/N/v/a/r/q/?]", "nyvarq", help)) == 'v')
		patch_show(&a->prompt, &a->choices, x);
	if (key == 'y' || key == 'a')
		choices_release_at(&a->choices, x);
	return key;
}

/* It is held for itself, by this rule; we ask about each ref by itself. */
static bool apply_is_held_by(const struct choice *x, const char *rule)
{
	return x->state == CHOICE_HELD && !x->change->with && x->change->brings_count == 0 &&
	       x->change->rule && str_equal(x->change->rule, rule);
}

/* Shows the others that a rule holds, and asks once for all. */
static void apply_release_rule(struct apply *a, const char *rule)
{
	static const char help[] = "y  let them land\nn  ask about each";
	size_t count = 0;

	for (size_t i = 0; i < a->choices.count; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT(1 << 20);

		if (!apply_is_held_by(&a->choices.items[i], rule))
			continue;
		count++;
		buf_put_str(&line, "  ");
		choice_put_line(&line, &a->choices.items[i]);
		buf_put_char(&line, '\n');
		choices_put_with(&line, &a->choices, &a->choices.items[i]);
		text_write(&a->prompt.text, &line);
	}
	if (count == 0 ||
	    prompt_key(&a->prompt,
		       count == 1 ? "Release this one, too? [y/N]" : "Release these, too? [y/N]",
		       "ny", help) != 'y')
		return;
	for (size_t i = 0; i < a->choices.count; i++)
		if (apply_is_held_by(&a->choices.items[i], rule))
			choices_release_at(&a->choices, &a->choices.items[i]);
}

/* Asks about held changes one by one, and then about the refs that bring more than was released;
 * "r" leaves the rest of the same rule, "q" all the rest.  True: one was released. */
static bool apply_ask_held(struct apply *a)
{
	const char *passed[APPLY_RULES_MAX];
	size_t passed_count = 0;
	bool released = false, refs = false;
	char key = 0;

	for (size_t i = 0; key != 'q' && i < 2 * a->choices.count; i++) {
		struct choice *x =
			&a->choices.items[i < a->choices.count ? i : i - a->choices.count];

		if (i == a->choices.count) {
			refs = true;
			released = choices_release_brought(&a->choices) || released;
		}
		if (x->state != CHOICE_HELD || x->change->with ||
		    (x->change->brings_count > 0) != refs ||
		    apply_is_passed(passed, passed_count, x))
			continue;
		key = apply_ask_one(a, x);
		if (key == 'r' && x->change->rule && passed_count < APPLY_RULES_MAX)
			passed[passed_count++] = x->change->rule;
		if (key == 'a' && x->change->rule)
			apply_release_rule(a, x->change->rule);
		released = released || key == 'y' || key == 'a';
	}
	return choices_release_brought(&a->choices) || released;
}

/* --- asking ---------------------------------------------------------------------------- */

/* Settles what was chosen so far. */
static int apply_settle(struct apply *a, struct error *e)
{
	/* Somebody may have been asked before, which is no work. */
	progress_begin(&a->progress, a->json);
	int r = choices_settle_judged(&a->choices, e);

	/* Hunks are not chosen yet. */
	if (r == 0 && !invocation_has(a->i, OPTION_PATCH))
		r = choices_check_ahead(&a->choices, e);
	return r < 0 ? r : choices_count_lines(&a->choices, e);
}

/* 1: go on; 0: the user said no; or -errno. */
static int apply_confirm(struct apply *a, struct error *e)
{
	static const char help[] = "y  apply them\nn  change nothing\nd  show the difference\n"
				   "p  choose by file and hunk\n"
				   "r  choose by rule, of what is flagged";
	char question[2 * PATH_MAX + 256];

	while (a->prompt.tty >= 0) {
		_cleanup_buf_ struct buf sum = BUF_INIT(64 << 10);

		if (choices_in(&a->choices, CHOICE_LANDS) == 0)
			return 0;
		choices_put_sum(&sum, &a->choices);
		(void)snprintf(question, sizeof(question), "Apply %s to %s? [y/N/d/p/r/?]",
			       buf_str(&sum), a->review.layers.workspace);
		char key = prompt_key(&a->prompt, question, "nydpr", help);
		int r = 0;

		if (key == 'y' || key == 'n')
			return key == 'y';
		if (key == 'd') {
			r = patch_show_all(&a->prompt, &a->choices, e);
			if (r < 0)
				return r;
			continue;
		}
		if (key == 'p')
			r = patch_choose(&a->prompt, &a->choices, e);
		else
			patch_choose_rules(&a->prompt, &a->choices);
		if (r == 0)
			r = apply_settle(a, e);
		if (r < 0)
			return r;
		choices_show(&a->prompt.text, &a->choices, false);
	}
	return 1;
}

/* --- landing --------------------------------------------------------------------------- */

static int apply_record_choice(struct apply *a, const struct choice *x)
{
	const struct change *c = x->change;
	const char *origin =
		a->prompt.tty >= 0 ? "the user, at the terminal" : "the user, by --yes";
	struct decision_path p = {.path = c->path,
				  .object = x->state == CHOICE_LANDS ? &x->lands : &c->after,
				  .rule = c->rule,
				  .reason = x->decided ? x->decided : c->why,
				  .origin = origin};
	int r = 0;

	if (c->group == CHANGE_HELD && (x->released || x->state == CHOICE_HELD)) {
		p.kind = NOTE_HOLD;
		p.op = x->released ? "released" : "kept";
		r = decision_path(&a->decision, &p);
	}
	if (r < 0 || x->state != CHOICE_LANDS)
		return r;
	p.kind = NOTE_APPLY;
	p.op = change_kind_words[c->kind];
	/* For a rename: from where, and to where. */
	if (c->kind == CHANGE_RENAMED) {
		p.path = c->from;
		p.to = c->path;
	}
	return decision_path(&a->decision, &p);
}

/* Before anything changes: writes to the disk who decided what, with digests. */
static int apply_record(struct apply *a, struct error *e)
{
	struct note n;
	int r = decision_open(&a->review, a->i, &a->decision, e);

	if (r < 0)
		return r;
	note_begin(&n, NOTE_APPLY, "begin");
	note_number(&n, NOTE_FIELD_COUNT_OF, choices_in(&a->choices, CHOICE_LANDS));
	note_text(&n, NOTE_FIELD_NAME, span_of_str(a->review.session.name));
	note_text(&n, NOTE_FIELD_WORKSPACE, span_of_str(a->review.layers.workspace));
	r = decision_note(&a->decision, &n);
	for (size_t i = 0; r == 0 && i < a->choices.count; i++)
		r = apply_record_choice(a, &a->choices.items[i]);
	for (size_t i = 0; r == 0 && i < a->choices.beside_count; i++)
		if (choice_beside_lands(&a->choices, &a->choices.beside[i]))
			r = decision_path(
				&a->decision,
				&(struct decision_path){.kind = NOTE_APPLY,
							.op = change_kind_words[CHANGE_ADDED],
							.path = a->choices.beside[i].path,
							.object = &a->choices.beside[i].lands,
							.reason = "beside the user's own"});
	return r < 0 ? error_sys(e, r, "writing a record of this")
		     : decision_settle(&a->decision, e);
}

static int apply_note_end(struct apply *a, int code, const struct error *why)
{
	struct note n;

	note_begin(&n, NOTE_APPLY, code < 0 ? "failed" : "landed");
	note_number(&n, NOTE_FIELD_COUNT_OF, code < 0 ? 0 : choices_in(&a->choices, CHOICE_LANDS));
	if (code < 0)
		note_text(&n, NOTE_FIELD_REASON, span_of_str(why->text));
	return decision_note(&a->decision, &n);
}

/* For the last question of the landing: the record must be on the disk. */
struct apply_landing {
	struct apply *a;
	struct error e;
};

static int apply_on_decide(void *context)
{
	struct apply_landing *l = context;

	return apply_record(l->a, &l->e);
}

static int apply_on_open(void *context, size_t i)
{
	struct apply_landing *l = context;

	return choices_open(&l->a->steps, i);
}

static int apply_on_open_folder(void *context, size_t i)
{
	struct apply_landing *l = context;

	return choices_open_folder(&l->a->steps, i);
}

static void apply_on_progress(void *context, size_t done, size_t all)
{
	struct apply_landing *l = context;

	progress_on_land(l->a->review.progress, done, all);
}

static int apply_land(struct apply *a, struct error *e)
{
	struct apply_landing context = {.a = a, .e = ERROR_INIT};
	_cleanup_fd_ int journal = layers_journal(&a->review.layers, true);
	const struct land_how how = {.tree = a->review.tree,
				     .journal = journal,
				     .what = "apply",
				     .of = a->review.session.name,
				     .open = apply_on_open,
				     .open_folder = apply_on_open_folder,
				     .decide = apply_on_decide,
				     .progress = apply_on_progress,
				     .context = &context};
	struct land_result result = {.landed = 0};

	if (journal < 0)
		return error_sys(e, journal, "cannot open the journal in %s",
				 a->review.layers.path);
	/* With --anyway this may be a folder that no session has written yet. */
	int r = folder_note_written(
		a->review.host.state_dir, a->review.layers.workspace,
		host_has_repository(&a->review.host, a->review.layers.workspace, &a->review.arena),
		e);

	if (r == 0)
		r = land(&how, a->steps.items, a->steps.count, &result, e);
	progress_clear(a->review.progress);

	for (size_t i = 0; r == 0 && i < a->steps.count; i++)
		if (a->steps.items[i].after.type == OBJECT_ABSENT)
			review_note_gone(&a->review, a->steps.items[i].path);
	a->number = result.number;
	if (r < 0 && context.e.code < 0)
		*e = context.e;
	if (r == -ESTALE || r == -EEXIST)
		error_next(e, "Something changed meanwhile, and nothing was applied. Run 'bawn "
			      "apply' again to see it as it is.");
	return r;
}

/* What landed does not belong to the session any more.  If this fails, the changes have landed all
 * the same. */
static int apply_finish(struct apply *a, struct error *e)
{
	a->over = !a->still.live && !choices_leave_something(&a->choices) &&
		  !shared_waits(&a->review.layers, &a->review.session);
	if (!a->over)
		return choices_rebase(&a->choices, a->number, e);
	int r = layers_session_remove(&a->review.layers, a->review.session.name, e);

	return r < 0 ? r : layers_retire(&a->review.layers, e);
}

static int apply_do(struct apply *a, struct error *e)
{
	_cleanup_fd_ int lock = layers_lock(&a->review.layers, e);
	int r = lock < 0 ? lock : choices_steps(&a->choices, &a->steps, e);

	if (r == 0)
		r = choices_pin(&a->choices, e);
	if (r == 0)
		r = apply_land(a, e);
	a->applied = r == 0;
	if (a->decision.open) {
		struct error late = ERROR_INIT;
		int noted = apply_note_end(a, r, e);

		if (noted == 0)
			noted = decision_close(&a->decision, r < 0 ? EXIT_BAWN : EXIT_OK, &late);
		if (noted < 0 && r == 0)
			text_printf(&a->out,
				    "The changes landed, but the end of the record could "
				    "not be written: %s\n",
				    late.text[0] ? late.text : error_words(noted));
	}
	return r < 0 ? r : apply_finish(a, e);
}

/* --- the verb -------------------------------------------------------------------------- */

/* Puts a branch of the session that lands beside the user's, and whether it may be merged. */
static void apply_put_beside(struct json *j, const struct apply *a, const struct choice_beside *b)
{
	if (!b->branch || !choice_beside_lands(&a->choices, b))
		return;
	json_open(j, '{');
	json_key_str(j, "branch", b->branch);
	json_key_bool(j, "takes_back", a->choices.items[b->of].change->takes_back);
	json_key_bool(j, "merges", b->merges && !a->choices.items[b->of].change->takes_back);
	json_close(j, '}');
}

static void apply_put_json(const struct apply *a)
{
	_cleanup_buf_ struct buf out = BUF_INIT(256 << 20);
	struct json j = JSON_INIT(&out, true);

	json_open(&j, '{');
	json_key_str(&j, "session", a->review.session.name);
	json_key_str(&j, "workspace", a->review.layers.workspace);
	json_key_bool(&j, "applied", a->applied);
	json_key_u64(&j, "conflicts", choices_in(&a->choices, CHOICE_CONFLICT));
	json_key_u64(&j, "held", choices_in(&a->choices, CHOICE_HELD));
	json_key(&j, "changes");
	choices_put_json(&j, &a->choices);
	json_key(&j, "branches");
	json_open(&j, '[');
	for (size_t i = 0; i < a->choices.beside_count; i++)
		apply_put_beside(&j, a, &a->choices.beside[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	buf_put_char(&out, '\n');
	text_write(&a->out, &out);
}

static void apply_say_conflicts(const struct apply *a)
{
	struct text err = text_open(STDERR_FILENO);
	size_t count = choices_in(&a->choices, CHOICE_CONFLICT);
	bool merges = choices_can_merge(&a->choices);

	text_printf(&err,
		    "%zu file%s in conflict, and nothing was changed. Say for each:\n%s%s%s"
		    "  --theirs PATH   take the session's\n"
		    "  --ours PATH     keep yours\n"
		    "or name what shall land without them: bawn apply PATH...\n",
		    count, count == 1 ? " is" : "s are",
		    merges ? "  --merge PATH    put both together, line by line" : "",
		    merges && invocation_has(a->i, OPTION_MERGE) &&
				    !invocation_has(a->i, OPTION_MARKERS)
			    ? "; with --markers where they clash"
			    : "",
		    merges ? "\n" : "");
}

/* Says which branch the session's commits are on, and what to do with them. */
static void apply_say_beside(const struct apply *a, const struct choice_beside *b)
{
	_cleanup_buf_ struct buf in = BUF_INIT(4 * PATH_MAX + 8);
	const char *rest = git_rest(b->path);
	size_t len = rest ? (size_t)(rest - b->path) - 1 : 0;
	bool top = len == strlen(".git"), takes_back = a->choices.items[b->of].change->takes_back;

	/* It is that of a submodule, or of another folder. */
	if (!top) {
		buf_put_str(&in, "In ");
		text_escape(&in, (struct span){(const uint8_t *)b->path, len});
		buf_put_str(&in, takes_back ? " the" : " your");
	}
	if (takes_back)
		text_printf(
			&a->out,
			"%s session's commits are on the branch %s. They take back what you "
			"committed: do not merge it. 'git diff HEAD %s' shows the difference.\n",
			top ? "The" : buf_str(&in), b->branch, b->branch);
	else if (b->merges)
		text_printf(&a->out,
			    "%s branch stays: the session's commits are on the branch %s. Commit "
			    "what landed%s, then 'git merge %s' puts them together.\n",
			    top ? "Your" : buf_str(&in), b->branch, top ? "" : " there", b->branch);
}

static void apply_say_done(const struct apply *a)
{
	_cleanup_buf_ struct buf folder = BUF_INIT(4 * PATH_MAX + 1);
	size_t with = 0, held = choices_held(&a->choices, &with), stranded = 0;

	text_styled(&a->out, TEXT_GOOD, "Applied");
	text_printf(&a->out, " %s to %s. 'bawn undo' takes it back.\n", buf_str(&a->sum),
		    review_folder(&a->review, &folder));
	for (size_t i = 0; i < a->choices.beside_count; i++) {
		const struct choice_beside *b = &a->choices.beside[i];

		if (b->branch && choice_beside_lands(&a->choices, b))
			apply_say_beside(a, b);
	}
	if (held)
		text_printf(&a->out, "%zu held change%s stay%s with the session", held,
			    held == 1 ? "" : "s", held == 1 ? "s" : "");
	if (held && with)
		text_printf(&a->out, ", and %zu file%s with %s", with, with == 1 ? "" : "s",
			    held == 1 ? "it" : "them");
	if (held)
		text_printf(&a->out, ".\n");
	for (size_t i = 0; i < a->choices.count; i++)
		stranded += choice_is_stranded(&a->choices.items[i]);
	if (stranded)
		text_printf(&a->out,
			    "%zu that cannot land stay%s with the session. 'bawn run -- chmod u+rw "
			    "FILE' "
			    "lets a file land that cannot be read, a copy of it ('bawn run -- cp "
			    "-r') a "
			    "folder; 'bawn discard' drops them.\n",
			    stranded, stranded == 1 ? "s" : "");
}

/* Removes a session that has ended and has nothing left: it undid its own changes, or they have
 * landed. */
static int apply_nothing(struct apply *a, struct error *e)
{
	bool over = !a->dry && !a->still.live && !a->i->argument_count &&
		    !choices_leave_something(&a->choices) &&
		    !choices_in(&a->choices, CHOICE_DROPPED) &&
		    !choices_in(&a->choices, CHOICE_KEPT);
	_cleanup_fd_ int lock = over ? layers_lock(&a->review.layers, e) : -1;
	int r = over && lock < 0 ? lock : 0;

	if (r == 0 && over)
		r = apply_finish(a, e);
	if (r == 0 && !a->json)
		text_printf(&a->out, "Nothing is to be applied%s%s%s\n",
			    a->over ? ", and nothing of " : ".", a->over ? a->review.shown : "",
			    a->over ? " is left: it is gone." : "");
	return r < 0 ? r : choices_in(&a->choices, CHOICE_HELD) ? EXIT_FOUND : EXIT_OK;
}

/* Returns the exit code, or -errno and a sentence. */
static int apply_go_on(struct apply *a, struct error *e)
{
	bool asks = a->prompt.tty >= 0;
	bool patch = asks && invocation_has(a->i, OPTION_PATCH);
	/* If there are conflicts to decide first, we ask about nothing else yet. */
	bool held = asks && !choices_in(&a->choices, CHOICE_CONFLICT);
	int r = apply_settle(a, e);

	if (r < 0)
		return r;
	if (!a->json && (!patch || !held))
		choices_show(&a->out, &a->choices, held);
	if (held && (apply_ask_held(a) || patch)) {
		r = patch ? patch_choose(&a->prompt, &a->choices, e) : 0;
		if (r == 0)
			r = apply_settle(a, e);
		/* What was released may be in conflict. */
		if (r == 0 && !a->json && (patch || choices_in(&a->choices, CHOICE_CONFLICT)))
			choices_show(&a->out, &a->choices, false);
		if (r < 0)
			return r;
	}
	if (choices_in(&a->choices, CHOICE_CONFLICT)) {
		apply_say_conflicts(a);
		return EXIT_FOUND;
	}
	if (choices_in(&a->choices, CHOICE_LANDS) == 0) {
		return apply_nothing(a, e);
	}
	if (a->dry)
		return EXIT_OK;
	r = apply_confirm(a, e);
	if (r < 0)
		return r;
	if (r == 0) {
		text_printf(&a->out, "Nothing was changed.\n");
		return EXIT_FOUND;
	}
	choices_put_sum(&a->sum, &a->choices);
	progress_begin(&a->progress, a->json);
	r = apply_do(a, e);
	if (r == 0 && !a->json)
		apply_say_done(a);
	return r < 0 ? r : EXIT_OK;
}

static int apply_run(struct apply *a, struct error *e)
{
	int r = review_open(a->i, REVIEW_SESSION, &a->review, e);

	if (r < 0)
		return r;
	progress_begin(&a->progress, a->json);
	a->review.progress = &a->progress;
	if (a->review.session.mode == LAYERS_DIRECT) {
		r = error_set(e, -EINVAL,
			      "%s keeps nothing apart: what it may write is in %s already",
			      a->review.shown, a->review.layers.workspace);
		error_next(e, "'bawn undo' takes back what a direct session wrote.");
		return r;
	}
	r = prompt_open_for(a->i, &a->prompt, e);
	if (r == 0)
		r = still_begin(&a->review, &a->still, e);
	if (r == 0)
		r = choices_read(&a->review, &a->choices, e);
	if (r == 0)
		r = apply_decide(a, e);
	if (r < 0)
		return r;
	r = apply_go_on(a, e);
	if (r >= 0 && a->json)
		apply_put_json(a);
	return r;
}

int review_apply(const struct invocation *i)
{
	struct error e = ERROR_INIT;
	struct apply a = {.i = i,
			  .review = REVIEW_INIT,
			  .still = STILL_INIT,
			  .choices = CHOICES_INIT,
			  .decision = DECISION_INIT,
			  .prompt = PROMPT_INIT,
			  .out = text_open(STDOUT_FILENO),
			  .sum = BUF_INIT(64 << 10),
			  .json = invocation_has(i, OPTION_JSON),
			  .dry = invocation_has(i, OPTION_DRY_RUN)};
	int r = apply_run(&a, &e);

	/* Release the session before another process can inherit its lock. */
	still_end(&a.still);
	if (a.over)
		review_sweep(&a.review.layers);
	apply_fini(&a);
	if (r >= 0)
		return r;
	verb_complain(&e);
	return r == -EINVAL && !e.code ? EXIT_USAGE : EXIT_BAWN;
}
