/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn snapshot` gives a name to a session as it is now; `bawn fork` makes a session from a
 * snapshot. */
#include "review.h"
#include "review_snapshots.h"

#include "decision.h"
#include "fd.h"
#include "json.h"
#include "session_store.h"
#include "settle.h"
#include "snapshot.h"
#include "still.h"
#include "str.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SNAPSHOT_TRIES = 3, SNAPSHOT_TURNS = 200, SNAPSHOT_WAIT_NS = 10 * 1000 * 1000 };

int review_hold_stopped(struct review *r, const char *name, int *ret_lock, int *ret_hold,
			struct error *e)
{
	_cleanup_fd_ int lock = layers_lock(&r->layers, e);
	int code = lock < 0 ? lock : layers_settle_all(&r->layers, e);

	if (code < 0)
		return code;
	_cleanup_fd_ int hold = layers_session_hold(&r->layers, name);

	if (hold == -EBUSY)
		return still_say_busy(r, name, "End it first; what it has changed is kept.", e);
	if (hold < 0 && hold != -ENOENT)
		return error_sys(e, hold, "cannot hold the session %s", name);
	*ret_lock = TAKE_FD(lock);
	*ret_hold = hold < 0 ? -1 : TAKE_FD(hold);
	return 0;
}

static int snapshot_stopped(struct review *r, const char *name, struct layers_snapshot *ret,
			    struct error *e)
{
	_cleanup_fd_ int lock = -1;
	_cleanup_fd_ int hold = -1;
	int code = review_hold_stopped(r, r->session.name, &lock, &hold, e);

	if (code == 0)
		code = layers_session_read(&r->layers, r->session.name, &r->session, e);
	if (code == -ENOENT)
		return error_set(e, code, "there is no session '%s' with changes in %s",
				 r->session.name, r->layers.workspace);
	return code < 0 ? code : snapshot_take(&r->layers, &r->session, name, ret, e);
}

static int snapshot_go_on_waiting(void *context)
{
	struct error e = ERROR_INIT;

	return session_pause(context, true, &e);
}

/* Pauses the session only while its layers are copied. */
static int snapshot_try(struct review *r, const char *name, struct layers_snapshot *ret,
			struct error *e)
{
	_cleanup_session_ struct session session = {.fd = -1};
	int code = session_choose(&r->places, r->session.name, NULL, &session, e);

	if (code == 0)
		code = session_pause(&session, true, e);
	if (code == -ENOENT)
		return -ESRCH;
	if (code == 0)
		code = layers_session_read(&r->layers, r->session.name, &r->session, e);
	if (code < 0)
		return code;
	code = snapshot_copy(&r->layers, &r->session, name, snapshot_go_on_waiting, &session, ret,
			     e);
	/* If it ends, its layers are settled, even while we copy. */
	if (code < 0)
		return code != -EEXIST && snapshot_go_on_waiting(&session) == -ECONNRESET ? -ESRCH
											  : code;
	code = session_pause(&session, false, e);
	if (code < 0) {
		struct error ignored = ERROR_INIT;

		/* It went on while we copied: this is no snapshot. */
		(void)layers_snapshot_remove(&r->layers, name, &ignored);
	}
	return code;
}

/* On a busy machine a stopped thread may be seen to stop late: tries again. */
static int snapshot_running(struct review *r, const char *name, struct layers_snapshot *ret,
			    struct error *e)
{
	int code = -EBUSY;

	for (int n = 0; code == -EBUSY && n < SNAPSHOT_TRIES; n++) {
		*e = ERROR_INIT;
		code = snapshot_try(r, name, ret, e);
	}
	if (code != -ESRCH && code != -ECONNRESET)
		return code;
	*e = ERROR_INIT;
	(void)error_set(e, -ESRCH, "the session %s begins or ends just now", r->session.name);
	error_next(e, "Try again in a moment.");
	return -ESRCH;
}

/* The session may end or begin meanwhile: does what is right at that moment. */
static int snapshot_now(struct review *r, const char *name, struct layers_snapshot *ret,
			struct error *e)
{
	int code = 0;

	for (int n = 0; n < SNAPSHOT_TURNS; n++) {
		bool ran = r->runs;

		*e = ERROR_INIT;
		code = ran ? snapshot_running(r, name, ret, e) : snapshot_stopped(r, name, ret, e);
		if (code >= 0 || (code != -ESRCH && (code != -EBUSY || ran)))
			break;
		r->runs = layers_session_runs(&r->layers, r->session.name);
		if (r->runs == ran)
			(void)nanosleep(&(struct timespec){.tv_nsec = SNAPSHOT_WAIT_NS}, NULL);
	}
	return code;
}

static void snapshot_print(const struct invocation *i, const struct layers_snapshot *s,
			   const struct layers_session *session)
{
	struct text out = text_open(STDOUT_FILENO);

	if (invocation_has(i, OPTION_JSON)) {
		_cleanup_buf_ struct buf b = BUF_INIT(1 << 16);
		struct json j = JSON_INIT(&b, true);

		json_open(&j, '{');
		json_key_str(&j, "name", s->name);
		json_key_str(&j, "session", s->session);
		json_key_u64(&j, "made", (uint64_t)(s->made / 1000000000));
		json_key_bool(&j, "live", s->live);
		json_close(&j, '}');
		buf_put_char(&b, '\n');
		text_write(&out, &b);
		return;
	}
	text_printf(&out, "%s\n", s->name);
	struct text err = text_open(STDERR_FILENO);

	text_printf(&err, "bawn: %s as it is now is kept; 'bawn restore %s' goes back to it%s\n",
		    s->session, s->name,
		    session->mode == LAYERS_DIRECT ? " (its home: what it writes here has landed)"
						   : "");
}

/* -EINVAL, and a sentence that says what a name may be. */
static int review_check_name(const char *name, struct error *e)
{
	if (snapshot_is_name(name))
		return 0;
	(void)error_set(e, -EINVAL, "'%s' cannot be the name of a snapshot", name);
	error_next(e, "A name has small letters, digits, '.', '_' and '-'; 'start-...' and "
		      "'before-restore-...' are bawn's own.");
	return -EINVAL;
}

/* --- in a box ------------------------------------------------------------------------- */

/* Reads the answer up to the end of the connection. */
static int snapshot_read_answer(int fd, char *into, size_t size)
{
	size_t len = 0;

	for (ssize_t n = 1; n > 0 && len<size - 1; len += n> 0 ? (size_t)n : 0)
		n = read(fd, into + len, size - 1 - len);
	into[len] = '\0';
	into[strcspn(into, "\n")] = '\0';
	return len > 0 ? 0 : -ECONNRESET;
}

/* In a box whose policy allows it: asks the session for a snapshot of itself (asked.h).  -ENOENT:
 * this is no such box. */
static int snapshot_ask(const char *name, struct error *e)
{
	const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = PLAN_ASK_SOCKET};
	char line[256], answer[256];
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int n = snprintf(line, sizeof(line), "snapshot%s%s\n", name ? " " : "", name ? name : "");

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -ENOENT;
	if (n < 0 || (size_t)n >= sizeof(line) || fd_write_all(fd, line, (size_t)n) < 0 ||
	    snapshot_read_answer(fd, answer, sizeof(answer)) < 0)
		return error_set(e, -ECONNRESET, "the session does not answer");
	const char *made = str_after(answer, "made ");

	if (!made)
		return error_set(e, -EPERM, "there is no snapshot: %s",
				 str_after(answer, "no ") ? answer + 3
							  : "the session says nothing");
	struct text out = text_open(STDOUT_FILENO);

	text_printf(&out, "%s\n", made);
	return 0;
}

static int snapshot_name(const struct review *r, const char *wanted, char ret[LAYERS_NAME_MAX + 1],
			 struct error *e)
{
	char prefix[LAYERS_NAME_MAX + 1];

	(void)snprintf(prefix, sizeof(prefix), "%s", wanted ? wanted : r->session.name);
	if (wanted && !str_ends_with(wanted, "-")) {
		memcpy(ret, prefix, sizeof(prefix));
		return 0;
	}
	if (wanted)
		prefix[strlen(prefix) - 1] = '\0';
	return snapshot_next_name(&r->layers, prefix, ret, e);
}

/* In a linked worktree a session is in two places (src/workspace/shared.h), and a snapshot is of one. */
static int snapshot_check_linked(const struct review *r, struct error *e)
{
	if (!r->session.repository[0] && !r->session.linked[0])
		return 0;
	int code = error_set(e, -EOPNOTSUPP,
			     "the session %s is in a linked worktree, and there is no snapshot of "
			     "its commits",
			     r->session.name);

	error_next(e, "Commit inside, or use 'bawn run --worktree BRANCH' in the folder of the "
		      "repository.");
	return code;
}

/* It is recorded first, as every decision. */
static int snapshot_make(struct review *r, const struct invocation *i, const char *name,
			 struct layers_snapshot *ret, struct error *e)
{
	_cleanup_decision_ struct decision decision = DECISION_INIT;
	struct layers_snapshot meant = {.live = r->runs};
	struct error ignored = ERROR_INIT;

	(void)snprintf(meant.name, sizeof(meant.name), "%s", name);
	(void)snprintf(meant.session, sizeof(meant.session), "%s", r->session.name);
	int code = snapshot_check_linked(r, e);

	if (code < 0)
		return code;
	code = decision_about(r, i, "snapshot", &meant, &decision, e);
	if (code == 0)
		code = snapshot_now(r, name, ret, e);
	(void)decision_close(&decision, code < 0 ? EXIT_BAWN : EXIT_OK, &ignored);
	return code;
}

int review_snapshot(const struct invocation *i)
{
	_cleanup_review_ struct review r = {.layers = LAYERS_INIT, .tree = -1};
	const char *wanted = i->argument_count > 0 ? i->arguments[0] : NULL;
	struct layers_snapshot made = {.name = ""};
	char name[LAYERS_NAME_MAX + 1];
	struct error e = ERROR_INIT;

	if (wanted && review_check_name(wanted, &e) < 0) {
		verb_complain(&e);
		return EXIT_USAGE;
	}
	int code = snapshot_ask(wanted, &e);

	if (code != -ENOENT) {
		if (code < 0)
			verb_complain(&e);
		return code < 0 ? EXIT_FOUND : EXIT_OK;
	}
	mode_t mask = umask(0);

	code = review_open(i, REVIEW_SESSION, &r, &e);
	if (code == 0)
		code = snapshot_name(&r, wanted, name, &e);
	if (code == 0)
		code = snapshot_make(&r, i, name, &made, &e);
	(void)umask(mask);
	if (code < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	snapshot_print(i, &made, &r.session);
	return EXIT_OK;
}

/* --- fork ----------------------------------------------------------------------------- */

static bool fork_is_taken(const void *context, const char *name)
{
	struct layers_session s;
	struct error e = ERROR_INIT;

	return layers_session_read(context, name, &s, &e) != -ENOENT;
}

static int fork_make(struct review *r, const struct invocation *i,
		     const struct layers_snapshot *from, struct layers_session *ret,
		     struct error *e)
{
	_cleanup_decision_ struct decision decision = DECISION_INIT;
	struct error ignored = ERROR_INIT;
	_cleanup_fd_ int lock = layers_lock(&r->layers, e); /* until the name is released */
	_cleanup_session_store_ struct session_store store = SESSION_STORE_INIT;
	const struct session_name name = {.is_taken = fork_is_taken, .context = &r->layers};
	struct layers_snapshot again;
	int code = lock < 0 ? lock : review_read_snapshot(r, from->name, &again, e);

	if (code == 0)
		code = session_store_make(&r->places, &name, &store, e);

	if (code == 0)
		code = decision_about(r, i, "fork", from, &decision, e);
	if (code == 0)
		code = snapshot_fork(&r->layers, from, store.name, ret, e);
	(void)decision_close(&decision, code < 0 ? EXIT_BAWN : EXIT_OK, &ignored);
	return code;
}

int review_fork(const struct invocation *i)
{
	_cleanup_review_ struct review r = {.layers = LAYERS_INIT, .tree = -1};
	struct layers_snapshot from = {.name = ""};
	struct layers_session made = {.name = ""};
	struct error e = ERROR_INIT;
	mode_t mask = umask(0);
	int code = review_open(i, REVIEW_NOTHING, &r, &e);

	if (code == 0)
		code = review_pick_snapshot(&r, i, false, &from, &e);
	if (code == 0)
		code = fork_make(&r, i, &from, &made, &e);
	(void)umask(mask);
	if (code < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	struct text out = text_open(STDOUT_FILENO);
	struct text err = text_open(STDERR_FILENO);

	if (invocation_has(i, OPTION_JSON)) {
		_cleanup_buf_ struct buf b = BUF_INIT(1 << 16);
		struct json j = JSON_INIT(&b, true);

		json_open(&j, '{');
		json_key_str(&j, "session", made.name);
		json_key_str(&j, "from", from.name);
		json_close(&j, '}');
		buf_put_char(&b, '\n');
		text_write(&out, &b);
		return EXIT_OK;
	}
	text_printf(&out, "%s\n", made.name);
	text_printf(&err, "bawn: %s begins with what %s has: bawn run --continue %s -- COMMAND\n",
		    made.name, from.name, made.name);
	return EXIT_OK;
}
