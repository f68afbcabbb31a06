/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn rename` and `bawn rm`: what a session is called, and that it is forgotten.
 *
 * rm has nothing of its own that removes: changes that wait go as `bawn discard` has them go, which is
 * recorded; what undoes a direct session goes as `bawn prune` has it; records are bawn-history's, which
 * enters in the ledger that they were removed.
 */
#include "bawn_verbs.h"
#include "elsewhere.h"
#include "fd.h"
#include "home_store.h"
#include "host.h"
#include "prompt.h"
#include "session_names.h"
#include "settle.h"
#include "str.h"
#include "text.h"
#include "verbs.h"
#include "waiting.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { RM_OUT_MAX = 4 << 20, RM_QUESTION_MAX = 4096 };

static int rm_places(struct arena *arena, struct host *host, struct session_places *ret,
		     struct error *e)
{
	int r = host_gather_user(arena, host, e);

	if (r == 0)
		*ret = session_places_of(host);
	return r;
}

/* --- rename ------------------------------------------------------------------------------- */

/* Nobody else may be called so, now or in the records. */
static int rename_check(const struct session_names *names, const struct session_known *own,
			const char *label, struct error *e)
{
	int r = session_names_check(label, e);

	for (size_t i = 0; r == 0 && i < names->count; i++) {
		const struct session_known *at = &names->items[i];

		if (at == own || (!str_equal(at->name, label) && !str_equal(at->label, label)))
			continue;
		r = error_set(e, -EEXIST, "there is a session %s already%s%s", label,
			      str_equal(at->name, label) ? "" : ": it is another name of ",
			      str_equal(at->name, label) ? "" : at->name);
		error_next(e, "Choose another name; 'bawn sessions --all' lists them.");
	}
	return r;
}

static int rename_do(const struct invocation *i, struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	_cleanup_session_names_ struct session_names names = {NULL, 0};
	struct text out = text_open(STDOUT_FILENO);
	struct session_places places = {NULL, NULL};
	struct host host;
	const char *label = i->arguments[1];
	int r = rm_places(&arena, &host, &places, e);

	if (r == 0)
		r = session_names_get(&places, SESSION_ANYWHERE, &names, e);
	if (r < 0)
		return r;
	const struct session_known *own =
		session_names_match(&names, i->arguments[0], session_typed_now(), e);

	if (!own)
		return e->code;
	/* By its own name again. */
	if (str_equal(label, own->name))
		label = "";
	else
		r = rename_check(&names, own, label, e);
	if (r == 0)
		r = session_label_give(places.state, own->name, label, e);
	if (r == 0)
		text_printf(&out,
			    *label ? "%s is called %s now; its record keeps its own name\n"
				   : "%s has no other name any more\n",
			    own->name, label);
	return r;
}

int verb_rename(const struct invocation *i)
{
	struct error e = ERROR_INIT;

	if (rename_do(i, &e) == 0)
		return EXIT_OK;
	verb_complain(&e);
	return EXIT_BAWN;
}

/* --- rm ----------------------------------------------------------------------------------- */

struct rm {
	const struct invocation *i;
	struct arena arena;
	struct host host;
	struct session_places places;
	int state;
	struct prompt prompt;
	struct text out;
	/* The one at hand. */
	char name[LAYERS_NAME_MAX + 1];
	char shown[2 * LAYERS_NAME_MAX + 8]; /* "site (web)" where it has another name */
	unsigned int where;
	struct layers layers; /* dir -1: it keeps nothing */
	struct layers_session session;
	struct error e;
};

/* Which session it is, and what there is of it. */
static int rm_look(struct rm *rm, const char *typed)
{
	_cleanup_session_names_ struct session_names names = {NULL, 0};
	int r = session_names_get(&rm->places, SESSION_ANYWHERE, &names, &rm->e);
	enum session_typed how =
		invocation_has(rm->i, OPTION_YES) ? SESSION_TYPED_WHOLE : session_typed_now();
	const struct session_known *own =
		r < 0 ? NULL : session_names_match(&names, typed, how, &rm->e);

	if (!own) {
		if (rm->e.code == -ENOENT && !rm->e.next[0])
			error_next(&rm->e, "'bawn sessions --all' lists them.");
		return rm->e.code;
	}
	(void)snprintf(rm->name, sizeof(rm->name), "%s", own->name);
	(void)snprintf(rm->shown, sizeof(rm->shown), own->label[0] ? "%s (%s)" : "%s%.0s",
		       own->label[0] ? own->label : own->name, own->name);
	rm->where = own->where;
	if (own->where & SESSION_RUNS) {
		(void)error_set(&rm->e, -EBUSY, "the session %s is running", rm->shown);
		error_next(&rm->e, "'bawn stop %s' ends it.",
			   own->label[0] ? own->label : own->name);
		return -EBUSY;
	}
	layers_close(&rm->layers);
	rm->layers = LAYERS_INIT;
	if (!(own->where & SESSION_KEPT))
		return 0;
	r = layers_find_session(rm->state, rm->places.state, rm->name, &rm->layers, &rm->e);
	return r < 0 ? r : layers_session_read(&rm->layers, rm->name, &rm->session, &rm->e);
}

/* "calm-otter, with 2 files changed and NOT APPLIED, and its record" */
static void rm_put_what(const struct rm *rm, struct buf *into)
{
	buf_putf(into, "%s, with ", rm->shown);
	bool waits = rm->layers.dir >= 0 && layers_session_waits(&rm->layers, &rm->session);

	if (rm->layers.dir >= 0 && rm->session.mode != LAYERS_REVIEW) {
		buf_put_str(into, "what could undo it");
	} else if (!waits) {
		buf_put_str(into, "nothing that waits");
	} else {
		(void)waiting_count(&rm->layers, &rm->session, into);
		buf_put_str(into, " changed and NOT APPLIED");
	}
	if (rm->where & SESSION_RECORDED)
		buf_put_str(into, ", and its record");
}

/* Another of our programs does it; what it says is said only when it fails. */
static int rm_elsewhere(struct rm *rm, const char *program, const char *const *words)
{
	_cleanup_buf_ struct buf said = BUF_INIT(RM_OUT_MAX);
	int status = elsewhere_read(program, words, false, &said);

	if (status == EXIT_OK)
		return 0;
	return status < 0 ? error_sys(&rm->e, status, "starting %s", program)
			  : error_set(&rm->e, -EIO, "%s was not removed", rm->name);
}

static int rm_changes(struct rm *rm)
{
	/* The folder is named where it is there; where it is gone the session's name is enough. */
	bool there = faccessat(AT_FDCWD, rm->layers.workspace, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	const char *const words[] = {"bawn",
				     "discard",
				     "--yes",
				     "--session",
				     rm->name,
				     there ? "--workspace" : NULL,
				     rm->layers.workspace,
				     NULL};

	if (rm->session.mode == LAYERS_REVIEW)
		return rm_elsewhere(rm, "bawn-review", words);
	_cleanup_fd_ int lock = layers_lock(&rm->layers, &rm->e);
	_cleanup_fd_ int hold = lock < 0 ? lock : layers_session_hold(&rm->layers, rm->name);

	if (hold < 0)
		return lock < 0 ? lock : error_sys(&rm->e, hold, "removing %s", rm->name);
	int r = layers_session_remove(&rm->layers, rm->name, &rm->e);

	return r < 0 ? r : layers_collect(&rm->layers, &rm->e);
}

static int rm_record(struct rm *rm)
{
	const char *const words[] = {"bawn", "record", "prune", rm->name, NULL};

	return rm_elsewhere(rm, "bawn-history", words);
}

/* 0, 1 where the person says no, or -errno. */
static int rm_one(struct rm *rm, const char *typed)
{
	_cleanup_buf_ struct buf what = BUF_INIT(RM_QUESTION_MAX);
	_cleanup_buf_ struct buf question = BUF_INIT(RM_QUESTION_MAX);
	int r = rm_look(rm, typed);

	if (r < 0)
		return r;
	rm_put_what(rm, &what);
	if (invocation_has(rm->i, OPTION_DRY_RUN)) {
		text_printf(&rm->out, "would be removed  %s\n", buf_str(&what));
		return 0;
	}
	buf_putf(&question, "Remove %s? It cannot be undone. [y/N]", buf_str(&what));
	if (rm->prompt.tty >= 0 &&
	    prompt_key(&rm->prompt, buf_str(&question), "ny", "y  remove it\nn  keep it") != 'y')
		return 1;
	if (rm->layers.dir >= 0)
		r = rm_changes(rm);
	if (r == 0 && (rm->where & SESSION_RECORDED))
		r = rm_record(rm);
	if (r == 0)
		r = session_label_give(rm->places.state, rm->name, "", &rm->e);
	if (r == 0)
		text_printf(&rm->out, "removed  %s\n", buf_str(&what));
	return r;
}

static int rm_run(struct rm *rm)
{
	int r = rm_places(&rm->arena, &rm->host, &rm->places, &rm->e);
	bool kept = false;

	if (r == 0) {
		rm->state = home_store_state(&rm->host, false, &rm->arena, &rm->e);
		r = rm->state == -ENOENT ? error_set(&rm->e, -ENOENT, "there is no session %s",
						     rm->i->arguments[0])
		    : rm->state < 0      ? rm->state
					 : 0;
	}
	/* What cannot be removed is said before anybody is looked for who could be asked. */
	for (int n = 0; r == 0 && n < rm->i->argument_count; n++)
		r = rm_look(rm, rm->i->arguments[n]);
	if (r == 0)
		r = prompt_open_for(rm->i, &rm->prompt, &rm->e);
	for (int n = 0; r >= 0 && n < rm->i->argument_count; n++) {
		r = rm_one(rm, rm->i->arguments[n]);
		kept = kept || r == 1;
	}
	return r < 0 ? r : kept ? EXIT_FOUND : EXIT_OK;
}

int verb_rm(const struct invocation *i)
{
	struct rm rm = {.i = i,
			.arena = ARENA_INIT(1 << 20),
			.state = -1,
			.prompt = PROMPT_INIT,
			.out = text_open(STDOUT_FILENO),
			.layers = LAYERS_INIT};
	int r = rm_run(&rm);

	if (r < 0)
		verb_complain(&rm.e);
	prompt_close(&rm.prompt);
	layers_close(&rm.layers);
	fd_close(&rm.state);
	arena_fini(&rm.arena);
	return r < 0 ? EXIT_BAWN : r;
}
