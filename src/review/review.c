/* SPDX-License-Identifier: Apache-2.0 */
#include "review.h"

#include "dir.h"
#include "fd.h"
#include "folder_notes.h"
#include "hold.h"
#include "home_store.h"
#include "json.h"
#include "layering.h"
#include "moved.h"
#include "open.h"
#include "prepare.h"
#include "session_names.h"
#include "settle.h"
#include "shared.h"
#include "str.h"
#include "text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { REVIEW_BYTES_MAX = 4 << 20, REVIEW_LISTED = 8 };

/* The sessions among which we choose. */
struct review_choice {
	const struct review *review;
	struct layers_session newest;
	struct layers_session stray;  /* the newest that worked on another folder of this path */
	struct layers_session idle;   /* the newest without changes that does not run */
	struct layers_session quiet;  /* the newest without changes that runs */
	struct layers_session landed; /* the newest direct one: its writes have landed */
	size_t count;
	struct { /* the newest of them, newest first */
		char name[LAYERS_NAME_MAX + 1];
		int64_t began;
	} listed[REVIEW_LISTED];
};

static void review_list(struct review_choice *c, const struct layers_session *s)
{
	size_t at = c->count < REVIEW_LISTED ? c->count : REVIEW_LISTED;

	while (at > 0 && c->listed[at - 1].began < s->began)
		at--;
	if (at == REVIEW_LISTED)
		return;
	memmove(&c->listed[at + 1], &c->listed[at],
		(REVIEW_LISTED - 1 - at) * sizeof(c->listed[0]));
	(void)snprintf(c->listed[at].name, sizeof(c->listed[at].name), "%s", s->name);
	c->listed[at].began = s->began;
}

static int review_consider(void *context, const struct layers_session *s)
{
	struct review_choice *c = context;

	/* What is of a worktree is meant there, or by its name. */
	if (shared_has_worktree(&c->review->layers, s))
		return 0;
	/* Nothing of a direct session waits: it is meant by its name, or when there is no other. */
	if (s->mode == LAYERS_DIRECT) {
		if (c->landed.name[0] == '\0' || s->began > c->landed.began)
			c->landed = *s;
		return 0;
	}
	if (!layers_session_waits(&c->review->layers, s)) {
		struct layers_session *of =
			layers_session_runs(&c->review->layers, s->name) ? &c->quiet : &c->idle;

		if (of->name[0] == '\0' || s->began > of->began)
			*of = *s;
		return 0;
	}
	/* We take it if it is named, or if there is no other. */
	if (!layers_session_is_of(s, c->review->tree)) {
		if (c->stray.name[0] == '\0' || s->began > c->stray.began)
			c->stray = *s;
		return 0;
	}
	review_list(c, s);
	if (c->count == 0 || s->began > c->newest.began)
		c->newest = *s;
	c->count++;
	return 0;
}

/* Something that landed was undone, and not redone.  If all of its session had landed, the session
 * is gone, and only redo has it. */
static bool review_was_undone(const struct review *r)
{
	_cleanup_fd_ int journal = layers_journal(&r->layers, false);
	struct land_undo *undone = NULL;
	struct error ignored = ERROR_INIT;
	size_t unread = 0, count = 0;

	if (journal < 0 || land_redo_open(journal, &undone, &unread, &ignored) < 0)
		return false;
	(void)land_undo_steps(undone, &count);
	land_undo_free(&undone);
	return count > 0;
}

int review_choose(struct review *r, const char *name, struct error *e)
{
	struct review_choice choice = {.review = r};
	char list[REVIEW_LISTED * (LAYERS_NAME_MAX + 3)] = "";
	size_t at = 0;

	int code = layers_each_session(&r->layers, review_consider, &choice, e);
	/* We report a session that cannot be read, and go on with the others. */
	if (code == -EBADMSG) {
		verb_complain(e);
		*e = ERROR_INIT;
		code = 0;
	}
	if (code < 0)
		return code;
	if (name && *name) {
		code = layers_is_name(name) ? layers_session_read(&r->layers, name, &r->session, e)
					    : -ENOENT;
		if (code != -ENOENT)
			return code;
		code = error_set(e, -ENOENT, "there is no session '%s' with changes in %s", name,
				 r->layers.workspace);
	} else if (choice.count == 1) {
		r->session = choice.newest;
		return 0;
	} else if (choice.count == 0 && choice.quiet.name[0]) {
		r->session = choice.quiet;
		return 0;
	} else if (choice.count == 0 && choice.stray.name[0]) {
		r->session = choice.stray;
		return 0;
	} else if (choice.count == 0 && choice.landed.name[0]) {
		r->session = choice.landed;
		return 0;
	} else if (choice.count == 0 && choice.idle.name[0] &&
		   layers_session_is_of(&choice.idle, r->tree)) {
		r->session = choice.idle;
		return 0;
	} else if (choice.count == 0) {
		r->nothing = true;
		code = error_set(e, -ENOENT, "no session has changes in %s",
				 r->host.workspace.path);
		if (review_was_undone(r))
			error_next(e, "What had landed there last was undone: 'bawn undo --redo' "
				      "applies it again.");
		return code;
	} else {
		code = error_set(e, -ENOTUNIQ, "%zu sessions have changes in %s", choice.count,
				 r->layers.workspace);
	}
	for (size_t i = 0; i < choice.count && i < REVIEW_LISTED; i++) {
		session_label_shown(r->places.state, choice.listed[i].name, r->shown);
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i ? ", " : "",
				       r->shown);
	}
	if (choice.count > 0)
		error_next(e, "Name one with --session: %s%s.", list,
			   choice.count > REVIEW_LISTED
				   ? " are the newest; 'bawn sessions' lists all"
				   : "");
	return code;
}

/* Whether a workspace has something that a verb could be about. */
struct review_has {
	const struct layers *layers;
	const char *name; /* --session, or NULL */
	bool landed;      /* what landed counts, and what waits does not */
	bool found;
};

static int review_has_one(void *context, const struct layers_session *s)
{
	struct review_has *h = context;

	if (h->name)
		h->found = h->found || str_equal(h->name, s->name);
	else if (shared_has_worktree(h->layers, s))
		return 0;
	else if (h->landed)
		h->found = h->found ||
			   (s->mode == LAYERS_DIRECT && layers_session_has_changes(h->layers, s));
	else
		h->found = h->found ||
			   (s->mode != LAYERS_DIRECT && layers_session_waits(h->layers, s));
	return 0;
}

static bool review_has_any(const struct invocation *i, enum review_want want,
			   const struct layers *l)
{
	struct review_has h = {.layers = l,
			       .name = invocation_value(i, OPTION_SESSION),
			       .landed = want == REVIEW_NOTHING};
	struct error ignored = ERROR_INIT;

	(void)layers_each_session(l, review_has_one, &h, &ignored);
	if (!h.found && h.landed && !h.name) {
		_cleanup_dir_ DIR *journal = dir_read(layers_journal(l, false), NULL);

		h.found = dir_next(journal, NULL);
	}
	return h.found;
}

/*
 * In a folder of a repository the person may have had sessions of the folder alone, by --workspace;
 * and sessions of the repository, if that is not the workspace by itself.  If only the other one
 * has something, takes that; if both have, says so.
 */
static int review_find_other(const struct invocation *i, enum review_want want, int state,
			     struct review *r, struct error *e)
{
	const char *other = r->host.wider ? r->host.wider : r->host.cwd;
	struct layers found = LAYERS_INIT;
	struct text err = text_open(STDERR_FILENO);

	if (str_equal(other, r->host.workspace.path))
		return 0;
	int code = layers_open(state, r->host.state_dir, other, false, &found, e);

	if (code < 0 || !review_has_any(i, want, &found)) {
		layers_close(&found);
		return code == -ENOENT ? 0 : code;
	}
	if (review_has_any(i, want, &r->layers)) {
		_cleanup_buf_ struct buf name = BUF_INIT((size_t)8 * PATH_MAX);

		layers_close(&found);
		text_name(&name, span_of_str(other));
		if (!r->silent)
			text_printf(
				&err,
				"bawn: there is something of %s by itself, too: --workspace %s\n",
				buf_str(&name), r->host.wider ? buf_str(&name) : ".");
		return 0;
	}
	layers_close(&r->layers);
	r->layers = found;
	return 0;
}

/* Finds the workspace: the folder that was asked for, as `bawn run` would take it, or the nearest
 * folder above with layers. */
static int review_find(const struct invocation *i, enum review_want want, struct review *r,
		       struct error *e)
{
	_cleanup_fd_ int state = home_store_state(&r->host, false, &r->arena, e);
	bool by_hand = invocation_value(i, OPTION_WORKSPACE);
	char path[PATH_MAX];
	int code = -ENOENT;

	if (state < 0 && state != -ENOENT)
		return state;
	if (state >= 0)
		code = layers_open(state, r->host.state_dir, r->host.workspace.path, false,
				   &r->layers, e);
	if (code == 0 && !by_hand)
		code = review_find_other(i, want, state, r, e);
	(void)snprintf(path, sizeof(path), "%s", r->host.cwd);
	while (state >= 0 && code == -ENOENT && !by_hand && path[0] == '/' && path[1]) {
		code = layers_open(state, r->host.state_dir, path, false, &r->layers, e);
		*strrchr(path, '/') = '\0';
	}
	if (code == -ENOENT) {
		r->nothing = !invocation_has(i, OPTION_SESSION);
		return error_set(e, -ENOENT, "no session has changes in %s",
				 r->host.workspace.path);
	}
	return code;
}

/* Settles a landing during which a process was killed or the power failed. */
static int review_recover(const struct review *r, struct error *e)
{
	_cleanup_fd_ int lock = layers_lock(&r->layers, e);
	struct land_found found = {.way = LAND_NOTHING};
	int code = lock < 0 ? lock : layers_recover(&r->layers, &found, e);

	if (code == 0)
		layering_say_recovered(&r->layers, &found);
	return code;
}

/*
 * A session of that name worked elsewhere: says where, and what can be done.  0: the review is of
 * that session, because its folder is gone and the verb wants it all the same, or because it was
 * this folder.
 */
static int review_elsewhere(const struct invocation *i, enum review_want want, struct review *r,
			    int code, struct error *e)
{
	const char *name = invocation_value(i, OPTION_SESSION);
	struct layers found = LAYERS_INIT;
	struct error own = ERROR_INIT;
	_cleanup_fd_ int state = name && r->host.state_dir
					 ? home_store_state(&r->host, false, &r->arena, &own)
					 : -ENOENT;

	if (state < 0 || layers_find_session(state, r->host.state_dir, name, &found, &own) != 1)
		return code;
	code = layers_session_read(&found, name, &r->session, e);
	if (code < 0) {
		layers_close(&found);
		return code;
	}
	/* It was this folder, which has its own layers by this path, too: both belong to it. */
	if (r->tree >= 0 && layers_session_is_of(&r->session, r->tree)) {
		memcpy(found.was, found.workspace, sizeof(found.was));
		memcpy(found.workspace, r->layers.workspace, sizeof(found.workspace));
		layers_close(&r->layers);
		r->layers = found;
		*e = ERROR_INIT;
		return 0;
	}
	bool gone = faccessat(AT_FDCWD, found.workspace, F_OK, AT_SYMLINK_NOFOLLOW) < 0;

	if (gone && want == REVIEW_STRAY) {
		layers_close(&r->layers);
		r->layers = found;
		r->gone = true;
		*e = ERROR_INIT;
		return 0;
	}
	layers_close(&found);
	code = error_set(e, -ENOENT, "the session %s worked on %s%s", name, found.workspace,
			 gone ? ", which is gone" : ", which is not this folder");
	if (gone)
		error_next(e,
			   "If it was moved, run this there, or move it back. 'bawn discard "
			   "--session %s' forgets its changes.",
			   name);
	else
		error_next(e, "Run this there, or with --workspace %s.", found.workspace);
	return code;
}

/* Opens the workspace's layers and its folder. */
static int review_open_folder(const struct invocation *i, enum review_want want, struct review *ret,
			      struct error *e)
{
	int code = host_gather_user(&ret->arena, &ret->host, e);

	if (code == 0)
		code = host_find_workspace(&ret->host, invocation_value(i, OPTION_WORKSPACE),
					   &ret->arena, e);
	if (code < 0)
		return code;
	ret->places = session_places_of(&ret->host);
	code = review_find(i, want, ret, e);
	if (code < 0)
		return code;
	layering_say_renamed(&ret->layers);
	ret->tree = open_no_links(ret->layers.workspace, O_RDONLY | O_DIRECTORY);
	code = ret->tree < 0                                       ? ret->tree
	       : faccessat(ret->tree, "", X_OK, AT_EMPTY_PATH) < 0 ? -errno
								   : 0;
	if (code < 0) {
		(void)error_sys(e, code, "cannot look into %s", ret->layers.workspace);
		if (code == -EACCES)
			host_advise_closed(e);
	}
	return code;
}

static int review_open_here(const struct invocation *i, enum review_want want, struct review *ret,
			    struct error *e)
{
	int code = review_open_folder(i, want, ret, e);

	if (code == 0)
		code = review_recover(ret, e);
	if (code < 0 || want == REVIEW_NOTHING)
		return code;
	code = review_choose(ret, invocation_value(i, OPTION_SESSION), e);
	if (code < 0)
		return code;
	if (want != REVIEW_STRAY && !invocation_has(i, OPTION_ANYWAY) &&
	    !layers_session_is_of(&ret->session, ret->tree)) {
		code = error_set(e, -ESTALE,
				 "%s is another folder than the one that the session %s worked on",
				 ret->layers.workspace, ret->session.name);
		error_next(e, "Its changes are kept. Say --anyway to see them against this folder, "
			      "move the old one back, or forget them with 'bawn discard'.");
		return code;
	}
	return 0;
}

int review_look(const struct invocation *i, struct review *ret, struct error *e)
{
	*ret = (struct review){.arena = ARENA_INIT(REVIEW_BYTES_MAX),
			       .layers = LAYERS_INIT,
			       .tree = -1,
			       .silent = true};
	return review_open_folder(i, REVIEW_SESSION, ret, e);
}

/* Which program made which files, as the recorder noted it.  Without it nothing is said of that. */
static void review_read_makers(struct review *r)
{
	_cleanup_fd_ int dir = layers_session_dir(&r->layers, r->session.name, false);
	_cleanup_fd_ int first =
		dir < 0 ? dir : open_beneath(dir, "first", O_RDONLY | O_DIRECTORY, 0);
	_cleanup_buf_ struct buf lines = BUF_INIT(MAKERS_BYTES_MAX);

	if (first < 0 || fd_read_file_at(first, MAKERS_NOTE, &lines) < 0)
		return;
	r->makers = makers_new();
	makers_take(r->makers, buf_span(&lines));
}

int review_open(const struct invocation *i, enum review_want want, struct review *ret,
		struct error *e)
{
	*ret = (struct review){
		.arena = ARENA_INIT(REVIEW_BYTES_MAX), .layers = LAYERS_INIT, .tree = -1};
	int code = review_open_here(i, want, ret, e);

	if (code < 0 && code != -ESTALE && want != REVIEW_NOTHING)
		code = review_elsewhere(i, want, ret, code, e);
	if (code == 0 && want != REVIEW_NOTHING) {
		session_label_shown(ret->places.state, ret->session.name, ret->shown);
		ret->runs = layers_session_runs(&ret->layers, ret->session.name);
		review_read_makers(ret);
	}
	return code;
}

bool review_put_nothing(const struct invocation *i, const struct review *r, const char *key)
{
	_cleanup_buf_ struct buf out = BUF_INIT(8 * PATH_MAX + 256);
	struct json j = JSON_INIT(&out, true);
	struct text t = text_open(STDOUT_FILENO);

	if (!r->nothing || !invocation_has(i, OPTION_JSON))
		return false;
	json_open(&j, '{');
	if (str_equal(i->verb->name, "diff")) {
		json_key(&j, "session");
		json_raw(&j, SPAN_LITERAL("null"));
	}
	json_key_str(&j, "workspace",
		     r->layers.workspace[0] ? r->layers.workspace : r->host.workspace.path);
	json_key(&j, key);
	json_open(&j, '[');
	json_close(&j, ']');
	json_close(&j, '}');
	buf_put_char(&out, '\n');
	text_write(&t, &out);
	return true;
}

void review_close(struct review *r)
{
	makers_free(r->makers);
	fd_close(&r->tree);
	layers_close(&r->layers);
	arena_fini(&r->arena);
}

void review_note_gone(const struct review *r, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct error e = ERROR_INIT;
	char folder[PATH_MAX];

	if (!str_equal(name, ".git") && !str_equal(name, ".bawn.yaml"))
		return;
	int n = snprintf(folder, sizeof(folder), "%s/%.*s", r->layers.workspace,
			 slash ? (int)(slash - path) : 0, path);

	if (n < 0 || (size_t)n >= sizeof(folder))
		return;
	if (!slash)
		folder[n - 1] = '\0';
	/* The file went with the folder, or something else is there. */
	_cleanup_fd_ int there = open_no_links(folder, O_PATH | O_DIRECTORY);

	if (there < 0 || folder_note_add(r->host.state_dir, folder, FOLDER_OWN, &e) == 0)
		return;
	struct text err = text_open(STDERR_FILENO);

	text_printf(&err, "bawn: %s\n", e.text);
}

const char *review_shown_path(const char *path, char into[REVIEW_PATH_SHOWN])
{
	size_t len = strlen(path);

	if (len < PATH_MAX)
		return path;
	(void)snprintf(into, REVIEW_PATH_SHOWN, "%.*s[%zu bytes]%s", (int)REVIEW_PATH_END, path,
		       len - 2 * (size_t)REVIEW_PATH_END, path + len - REVIEW_PATH_END);
	return into;
}

const char *review_folder(const struct review *r, struct buf *into)
{
	text_escape(into, span_of_str(r->layers.workspace));
	return buf_str(into);
}

/* --- what was named -------------------------------------------------------------------- */

/* The folder where the person is, below the workspace. */
static const char *picks_here(const struct review *r)
{
	const char *cwd = r->host.cwd;

	if (!cwd || !str_path_beneath(cwd, r->layers.workspace))
		return "";
	cwd += strlen(r->layers.workspace);
	return *cwd == '/' ? cwd + 1 : cwd;
}

int picks_read(struct review *r, char *const *words, size_t count, struct picks *ret,
	       struct error *e)
{
	struct picks p = {.specs = arena_alloc(&r->arena, (count + 1) * sizeof(*p.specs))};

	if (!p.specs)
		return error_sys(e, -ENOMEM, "cannot read %zu paths", count);
	for (size_t i = 0; i < count; i++) {
		int code = pathspec_parse(words[i], r->layers.workspace, picks_here(r), &r->arena,
					  &p.specs[i], e);

		if (code < 0)
			return code;
		p.count++;
	}
	*ret = p;
	return 0;
}

bool picks_has(const struct picks *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (pathspec_is(&p->specs[i], path) || pathspec_covers(&p->specs[i], path))
			return true;
	return p->count == 0;
}

bool picks_has_change(const struct picks *p, const struct change *c)
{
	return picks_has(p, c->path) || (c->from && picks_has(p, c->from));
}

/* --- what changed, and what is held of it ---------------------------------------------- */

static const char *holds_variable(const struct host *h, const char *name)
{
	for (char *const *at = h->environ; at && *at; at++) {
		const char *rest = str_after(*at, name);

		if (rest && *rest == '=' && rest[1])
			return rest + 1;
	}
	return NULL;
}

/* Reads the files in which git looks for settings that count everywhere. */
static int holds_user(const struct review *r, struct hold_rules *rules, struct error *e)
{
	const char *machine = holds_variable(&r->host, "GIT_CONFIG_SYSTEM");
	const char *global = holds_variable(&r->host, "GIT_CONFIG_GLOBAL");
	const char *config = holds_variable(&r->host, "XDG_CONFIG_HOME");
	char path[PATH_MAX] = "~/.config/git/config";

	if (config)
		(void)snprintf(path, sizeof(path), "%s/git/config", config);
	const char *const files[] = {machine ? machine : "/etc/gitconfig", path, "~/.gitconfig",
				     global};
	const struct hold_user user = {.home = r->host.home,
				       .config = config,
				       .files = files,
				       .file_count = BAWN_ARRAY_SIZE(files) - !global};

	return hold_rules_user(rules, &user, e);
}

int review_holds(const struct review *r, struct hold_rules **ret, struct error *e)
{
	_cleanup_prepared_ struct prepared made = PREPARED_INIT;
	struct invocation_value value = {.id = OPTION_WORKSPACE, .value = r->layers.workspace};
	/* The workspace may be above the folder in which this was called. */
	const struct invocation about = {.values = &value, .value_count = 1};
	int code = prepare_rules(&about, &made, e);

	if (code == 0)
		code = prepare_holds(made.plan, ret, e);
	if (code < 0)
		return code;
	hold_rules_since(*ret, r->session.began);
	return holds_user(r, *ret, e);
}

int review_changes(const struct review *r, const struct changes_how *how, struct view *ret_view,
		   struct changes *ret_changes, struct error *e)
{
	struct hold_rules *rules = NULL;
	struct changes_how told = *how;
	int code = view_open(&r->layers, &r->session.project, r->tree, ret_view, e);

	told.progress = progress_on_read;
	told.context = r->progress;
	if (code == 0)
		code = changes_read(ret_view, &told, ret_changes, e);
	progress_say(r->progress, "judging what changed", 0, 0);
	if (code == 0)
		code = review_holds(r, &rules, e);
	if (code == 0)
		code = hold_judge(rules, ret_view, ret_changes, e);
	hold_rules_free(&rules);
	_cleanup_fd_ int session = layers_session_dir(&r->layers, r->session.name, false);

	if (code == 0)
		code = moved_hold(session, ret_changes, e);
	progress_clear(r->progress);
	return code;
}

/* --- what is done with ------------------------------------------------------------------ */

void review_sweep(const struct layers *l)
{
	int keep = l->dir;
	pid_t pid = fork();

	if (pid != 0)
		return;
	/* It must not keep the terminal, a pipe of our caller, or a lock open. */
	(void)setsid();
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		(void)dup2(null, fd);
	(void)close_range(3, (unsigned int)keep - 1, 0);
	(void)close_range((unsigned int)keep + 1, ~0u, 0);
	(void)layers_sweep(l);
	_exit(0);
}

int review_lost(struct error *e, int code, const char *session)
{
	if (code != -ENOENT)
		return error_sys(e, code, "cannot open the session %s", session);
	(void)error_set(e, code, "another command has just changed the session %s", session);
	error_next(e, "Try again.");
	return code;
}
