/* SPDX-License-Identifier: Apache-2.0 */
#include "linked.h"

#include "dir.h"
#include "fd.h"
#include "git_object.h"
#include "home_store.h"
#include "land.h"
#include "land_undo.h"
#include "open.h"
#include "review.h"
#include "settle.h"
#include "sha1.h"
#include "shared.h"
#include "str.h"
#include "text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKED_NOTE_MAX = 512, LINKED_FILE_MAX = 16 << 20 };

/* One verb as it is said of one of the two places. */
struct linked_part {
	struct invocation i;
	bool meant;
};

struct linked {
	struct review review;          /* of the worktree */
	struct layers_session session; /* there; name "": none is meant */
	struct layers shared;          /* of the repository's folder; dir -1: there is none */
	struct layers_session shared_session; /* there, likewise */
	struct linked_part files, commits;
};

static void linked_fini(struct linked *l)
{
	free(l->files.i.values);
	free(l->files.i.arguments);
	free(l->commits.i.values);
	free(l->commits.i.arguments);
	layers_close(&l->shared);
	review_close(&l->review);
}
#define _cleanup_linked_ _cleanup_(linked_fini)

#define LINKED_INIT ((struct linked){.review = REVIEW_INIT, .shared = LAYERS_INIT})

/* --- which ------------------------------------------------------------------------------ */

/* The worktree, and the session that the verb would be about.  1; 0: it is about no such thing;
 * -ESTALE and a sentence: the repository of its commits is gone. */
static int linked_find(const struct invocation *i, struct linked *l, struct error *e)
{
	struct error ignored = ERROR_INIT;

	if (review_look(i, &l->review, &ignored) < 0 ||
	    review_choose(&l->review, invocation_value(i, OPTION_SESSION), &ignored) < 0)
		return 0;
	l->session = l->review.session;
	int r = shared_find(&l->review.layers, &l->session, &l->shared, &l->shared_session, e);

	return r > 0 || r == -ESTALE ? r : 0;
}

/* Files that are named are shown, and land, without the commits. */
static bool linked_is_refused(const struct invocation *i, int found, const struct error *e)
{
	if (found >= 0 || i->argument_count > 0)
		return false;
	verb_complain(e);
	return true;
}

/* The same by where the repository is: what landed may have no session any more. */
static bool linked_find_folder(const struct invocation *i, struct linked *l)
{
	struct error e = ERROR_INIT;
	char top[PATH_MAX];

	if (review_look(i, &l->review, &e) < 0 || !l->review.host.git_shared.path)
		return false;
	(void)snprintf(top, sizeof(top), "%s", l->review.host.git_shared.path);
	char *slash = strrchr(top, '/');

	if (slash)
		*slash = '\0';
	_cleanup_fd_ int state = home_store_state(&l->review.host, false, &l->review.arena, &e);

	return state >= 0 &&
	       layers_open(state, l->review.host.state_dir, top, false, &l->shared, &e) == 0;
}

/* --- said of each ------------------------------------------------------------------------- */

static bool linked_is_git(const char *path)
{
	while (str_after(path, "./"))
		path += strlen("./");
	const char *rest = str_after(path, ".git");

	return rest && (*rest == '\0' || *rest == '/');
}

/* A value that only the other place could have. */
static bool linked_is_others(const struct invocation_value *v, bool git)
{
	switch ((unsigned int)v->id) {
	case OPTION_RELEASE:
	case OPTION_OURS:
	case OPTION_THEIRS:
	case OPTION_MERGE:
		/* A commit has files, too. */
		return !git && linked_is_git(v->value);
	case OPTION_SESSION:
	case OPTION_WORKSPACE:
		return true;
	default:
		return false;
	}
}

static int linked_say(const struct invocation *i, const struct layers *l, const char *session,
		      bool git, struct linked_part *ret)
{
	struct invocation_value *values = calloc(i->value_count + 3, sizeof(*values));
	char **arguments = calloc((size_t)i->argument_count + 1, sizeof(*arguments));

	ret->i = *i;
	ret->i.values = values;
	ret->i.arguments = arguments;
	ret->i.value_count = 0;
	ret->i.argument_count = 0;
	if (!values || !arguments)
		return -ENOMEM;
	for (size_t n = 0; n < i->value_count; n++)
		if (!linked_is_others(&i->values[n], git))
			values[ret->i.value_count++] = i->values[n];
	values[ret->i.value_count++] = (struct invocation_value){OPTION_WORKSPACE, l->workspace};
	if (session[0])
		values[ret->i.value_count++] = (struct invocation_value){OPTION_SESSION, session};
	for (int n = 0; n < i->argument_count; n++)
		if (linked_is_git(i->arguments[n]) == git)
			arguments[ret->i.argument_count++] = i->arguments[n];
	ret->meant = i->argument_count == 0 || ret->i.argument_count > 0;
	return 0;
}

/* "PATH@OBJECT" of what stands in the worktree at a path that was released; NULL: it is no such file. */
static const char *linked_version(struct linked *l, const char *typed)
{
	char *words[] = {(char *)(uintptr_t)typed};
	_cleanup_buf_ struct buf text = BUF_INIT(LINKED_FILE_MAX);
	char hex[GIT_HEX_MAX + 1];
	struct git_name name;
	struct picks picks;
	struct error e = ERROR_INIT;
	struct stat st;

	if (picks_read(&l->review, words, 1, &picks, &e) < 0)
		return NULL;
	_cleanup_fd_ int fd =
		open_beneath(l->review.tree, picks.specs[0].path, O_RDONLY | O_NONBLOCK, 0);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fd_read_all(fd, &text) < 0)
		return NULL;
	git_name_of(GIT_KIND_BLOB, buf_span(&text), SHA1_SIZE, &name);
	git_name_hex(&name, hex);
	return arena_printf(&l->review.arena, "%s@%s", picks.specs[0].path, hex);
}

/* A file of the worktree's that was released is released in the commits that have it. */
static void linked_release(struct linked *l)
{
	struct invocation *i = &l->commits.i;

	for (size_t n = 0; n < i->value_count; n++) {
		struct invocation_value *v = &i->values[n];
		const char *version = v->id == OPTION_RELEASE && !linked_is_git(v->value)
					      ? linked_version(l, v->value)
					      : NULL;

		v->value = version ? version : v->value;
	}
}

static int linked_say_both(const struct invocation *i, struct linked *l)
{
	int r = linked_say(i, &l->review.layers, l->session.name, false, &l->files);

	return r < 0 ? r : linked_say(i, &l->shared, l->shared_session.name, true, &l->commits);
}

static int linked_no_memory(void)
{
	struct error e = ERROR_INIT;

	(void)error_set(&e, -ENOMEM, "no memory");
	verb_complain(&e);
	return EXIT_BAWN;
}

/* --- diff --------------------------------------------------------------------------------- */

/* A place without changes is not spoken of, unless it was named or there is no other. */
static void linked_leave_empty(struct linked *l)
{
	bool files = layers_session_waits_here(&l->review.layers, &l->session);
	bool commits = layers_session_waits_here(&l->shared, &l->shared_session);

	if (l->files.i.argument_count + l->commits.i.argument_count > 0)
		return;
	l->commits.meant = commits;
	l->files.meant = files || !commits;
}

int linked_diff(const struct invocation *i)
{
	_cleanup_linked_ struct linked l = LINKED_INIT;
	struct text out = text_open(STDOUT_FILENO);
	struct error e = ERROR_INIT;

	/* A tool, and a patch, are about files. */
	if (invocation_has(i, OPTION_TOOL) || invocation_has(i, OPTION_BETWEEN))
		return review_diff(i);
	int found = linked_find(i, &l, &e);

	if (linked_is_refused(i, found, &e))
		return EXIT_BAWN;
	if (found <= 0)
		return review_diff(i);
	if (linked_say_both(i, &l) < 0)
		return linked_no_memory();
	linked_leave_empty(&l);
	int status = l.commits.meant ? review_diff(&l.commits.i) : EXIT_OK;

	if (status == EXIT_BAWN || !l.files.meant)
		return status;
	if (l.commits.meant && !invocation_has(i, OPTION_HOW_MANY) &&
	    !invocation_has(i, OPTION_JSON))
		text_printf(&out, "\n");
	int files = review_diff(&l.files.i);

	return files == EXIT_OK ? status : files;
}

/* --- what landed together ------------------------------------------------------------------ */

/*
 * JOURNAL/kept-N/worktree, in the repository's folder: which worktree it landed with, and by which
 * number files landed there (0: none did).
 */
struct linked_note {
	char name[NAME_MAX + 1];
	uint64_t number;
};

/* Of the last landing that can be undone, or of the last undo: its number, and its time; 0: none. */
static uint64_t linked_last(const struct layers *l, bool redo, int64_t *ret_stamp)
{
	_cleanup_fd_ int journal = layers_journal(l, false);
	struct land_undo *kept = NULL;
	struct error e = ERROR_INIT;
	size_t unread = 0;
	uint64_t number = 0;
	int r = journal < 0 ? journal
		: redo      ? land_redo_open(journal, &kept, &unread, &e)
			    : land_undo_open(journal, &kept, &unread, &e);

	while (r == 0 && land_undo_is_passed(kept))
		r = land_undo_before(journal, &kept, &unread, &e);
	*ret_stamp = 0;
	if (r == 0) {
		number = land_undo_journal(kept)->number;
		*ret_stamp = land_undo_journal(kept)->stamp;
	}
	land_undo_free(&kept);
	return number;
}

static void linked_note_path(uint64_t number, char path[64])
{
	(void)snprintf(path, 64, "kept-%llu/worktree", (unsigned long long)number);
}

static bool linked_read_note(const struct linked *l, uint64_t number, struct linked_note *ret)
{
	_cleanup_fd_ int journal = layers_journal(&l->shared, false);
	_cleanup_buf_ struct buf text = BUF_INIT(LINKED_NOTE_MAX);
	char path[64];

	linked_note_path(number, path);
	_cleanup_fd_ int fd =
		journal < 0 || number == 0 ? -1 : open_beneath(journal, path, O_RDONLY, 0);

	if (fd < 0 || fd_read_all(fd, &text) < 0)
		return false;
	const char *words = buf_str(&text), *end = strchr(words, ' ');
	size_t len = end ? strcspn(end + 1, "\n") : 0;

	if (!end || len == 0 || strlen(end + 1 + len) != 1 || len > NAME_MAX)
		return false;
	char digits[32];

	if (snprintf(digits, sizeof(digits), "%.*s", (int)(end - words), words) >=
		    (int)sizeof(digits) ||
	    str_parse_u64(digits, &ret->number) < 0)
		return false;
	memcpy(ret->name, end + 1, len);
	ret->name[len] = '\0';
	return true;
}

/* Without it each is undone by itself, in its own folder. */
static void linked_write_note(const struct linked *l, uint64_t number, uint64_t files)
{
	_cleanup_fd_ int journal = layers_journal(&l->shared, false);
	_cleanup_buf_ struct buf text = BUF_INIT(LINKED_NOTE_MAX);
	char path[64];

	if (number == 0 || journal < 0)
		return;
	linked_note_path(number, path);
	buf_putf(&text, "%llu %s\n", (unsigned long long)files, l->review.host.git_shared.name);
	_cleanup_fd_ int fd = open_beneath(journal, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd >= 0 && !buf_error(&text))
		(void)fd_write_all(fd, buf_str(&text), text.len);
}

static bool linked_is_ours(const struct linked *l, const struct linked_note *n)
{
	return str_equal(n->name, l->review.host.git_shared.name);
}

/* Which landing of the repository came with this one of files; 0: none did. */
static uint64_t linked_came_with(const struct linked *l, uint64_t files)
{
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_read(layers_journal(&l->shared, false), &r);
	uint64_t found = 0;

	for (const struct dirent *d; dir && files && (d = dir_next(dir, &r));) {
		const char *digits = str_after(d->d_name, "kept-");
		struct linked_note note;
		uint64_t number = 0;

		if (digits && str_parse_u64(digits, &number) == 0 &&
		    linked_read_note(l, number, &note) && linked_is_ours(l, &note) &&
		    note.number == files)
			found = number;
	}
	return found;
}

/* --- apply -------------------------------------------------------------------------------- */

/* Both have landed, so nothing of the session is left. */
static void linked_tidy(const struct linked *l)
{
	struct error e = ERROR_INIT;
	_cleanup_fd_ int lock = layers_lock(&l->review.layers, &e);
	struct layers_session now;

	if (lock < 0 || layers_session_read(&l->review.layers, l->session.name, &now, &e) < 0)
		return;
	_cleanup_fd_ int hold = layers_session_hold(&l->review.layers, now.name);

	if (hold < 0 || layers_session_stays(&l->review.layers, &now) ||
	    layers_session_remove(&l->review.layers, now.name, &e) < 0)
		return;
	(void)layers_collect(&l->review.layers, &e);
}

int linked_apply(const struct invocation *i)
{
	_cleanup_linked_ struct linked l = LINKED_INIT;
	struct error e = ERROR_INIT;
	int64_t stamp;
	int status = EXIT_OK, found = linked_find(i, &l, &e);

	if (linked_is_refused(i, found, &e))
		return EXIT_BAWN;
	if (found <= 0)
		return review_apply(i);
	if (linked_say_both(i, &l) < 0)
		return linked_no_memory();
	linked_leave_empty(&l);
	uint64_t files = linked_last(&l.review.layers, false, &stamp);
	uint64_t commits = linked_last(&l.shared, false, &stamp);

	if (l.files.meant)
		status = review_apply(&l.files.i);
	if (status != EXIT_OK || !l.commits.meant)
		return status;
	linked_release(&l);
	status = review_apply(&l.commits.i);
	uint64_t new_files = linked_last(&l.review.layers, false, &stamp);
	uint64_t new_commits = linked_last(&l.shared, false, &stamp);

	if (new_commits != commits)
		linked_write_note(&l, new_commits, new_files != files ? new_files : 0);
	if (status == EXIT_OK && !invocation_has(i, OPTION_DRY_RUN))
		linked_tidy(&l);
	return status;
}

int linked_discard(const struct invocation *i)
{
	_cleanup_linked_ struct linked l = LINKED_INIT;
	struct error e = ERROR_INIT;
	int status = EXIT_OK;

	if (linked_find(i, &l, &e) <= 0)
		return review_discard(i);
	if (linked_say_both(i, &l) < 0)
		return linked_no_memory();
	linked_leave_empty(&l);
	if (l.commits.meant)
		status = review_discard(&l.commits.i);
	if (status == EXIT_OK && l.files.meant)
		status = review_discard(&l.files.i);
	if (status == EXIT_OK && !invocation_has(i, OPTION_DRY_RUN))
		linked_tidy(&l);
	return status;
}

/* --- undo --------------------------------------------------------------------------------- */

static int linked_on_direct(void *context, const struct layers_session *s)
{
	bool *found = context;

	*found = *found || s->mode == LAYERS_DIRECT;
	return 0;
}

static int linked_refuse(const struct linked *l, bool redo)
{
	struct error e = ERROR_INIT;

	(void)error_set(&e, -EBUSY,
			"commits landed in %s together with the files here, and something else "
			"was %s there since",
			l->shared.workspace, redo ? "undone" : "applied");
	error_next(&e,
		   "Say 'bawn undo%s' there first, or 'bawn undo%s PATH...' here for files alone.",
		   redo ? " --redo" : "", redo ? " --redo" : "");
	verb_complain(&e);
	return EXIT_BAWN;
}

/* Which of the two the last landing came to: both, or one of them. */
static int linked_undo_which(struct linked *l, bool redo)
{
	struct linked_note note = {.number = 0};
	int64_t files_at, commits_at;
	uint64_t files = linked_last(&l->review.layers, redo, &files_at);
	uint64_t commits = linked_last(&l->shared, redo, &commits_at);
	uint64_t with = linked_came_with(l, files);
	bool ours = linked_read_note(l, commits, &note) && linked_is_ours(l, &note);
	bool direct = false;
	struct error e = ERROR_INIT;

	(void)layers_each_session(&l->review.layers, linked_on_direct, &direct, &e);
	if (with && with != commits)
		return -EBUSY;
	l->commits.meant = ours && (with || (note.number == 0 && commits_at > files_at && !direct));
	l->files.meant = !l->commits.meant || with;
	return 0;
}

/* A direct session is of the worktree alone.  What was applied may have commits in the other folder. */
static int linked_undo_session(const struct invocation *i, const struct linked *l)
{
	const char *name = invocation_value(i, OPTION_SESSION);
	struct layers_session s;
	struct error e = ERROR_INIT;

	if (layers_is_name(name) && layers_session_read(&l->review.layers, name, &s, &e) == 0 &&
	    s.mode == LAYERS_DIRECT)
		return review_undo(i);
	e = ERROR_INIT;
	(void)error_set(&e, -EOPNOTSUPP,
			"in a linked worktree --session is for direct sessions: what %s applied "
			"may have commits in %s",
			name, l->shared.workspace);
	error_next(&e,
		   "'bawn undo' takes back the last apply, files and commits; --dry-run shows it.");
	verb_complain(&e);
	return EXIT_BAWN;
}

int linked_undo(const struct invocation *i)
{
	_cleanup_linked_ struct linked l = LINKED_INIT;
	bool redo = invocation_has(i, OPTION_REDO);
	int status = EXIT_OK;
	int64_t stamp;

	if (!linked_find_folder(i, &l))
		return review_undo(i);
	if (invocation_has(i, OPTION_SESSION))
		return linked_undo_session(i, &l);
	if (linked_say_both(i, &l) < 0)
		return linked_no_memory();
	if (i->argument_count == 0 && linked_undo_which(&l, redo) < 0)
		return linked_refuse(&l, redo);
	uint64_t files = linked_last(&l.review.layers, redo, &stamp);
	uint64_t commits = linked_last(&l.shared, !redo, &stamp);

	if (l.files.meant)
		status = review_undo(&l.files.i);
	/* A direct session was the last: nothing landed with that. */
	if (status != EXIT_OK || !l.commits.meant ||
	    (l.files.meant && !invocation_has(i, OPTION_DRY_RUN) && i->argument_count == 0 &&
	     linked_last(&l.review.layers, redo, &stamp) == files))
		return status;
	status = review_undo(&l.commits.i);
	uint64_t new_commits = linked_last(&l.shared, !redo, &stamp);

	if (new_commits != commits && i->argument_count == 0)
		linked_write_note(&l, new_commits,
				  l.files.meant ? linked_last(&l.review.layers, !redo, &stamp) : 0);
	return status;
}
