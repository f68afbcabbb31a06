/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn run` and `bawn shell`: a command, or a shell, in a box. */
#include "around.h"
#include "bawn_verbs.h"
#include "banner.h"
#include "client.h"
#include "fd.h"
#include "host.h"
#include "layering.h"
#include "linger.h"
#include "listening.h"
#include "message_gate.h"
#include "outward.h"
#include "prepare.h"
#include "process.h"
#include "record_folder.h"
#include "refused.h"
#include "session_names.h"
#include "session_store.h"
#include "str.h"
#include "text.h"
#include "unattributed.h"
#include "verbs.h"
#include "withheld.h"
#include "written.h"
#include "words.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUN_PATH_BYTES = 64 << 10 };

/* The session has no full box: every screen says so, quiet or not. */
static bool run_is_weaker(const struct plan *plan)
{
	return plan->backend == PLAN_BACKEND_HOST || plan->without.count > 0 ||
	       plan->ablate.count > 0;
}

/* Prints which keys and tokens the command can read, and which it was promised and does not have.
 * Every screen says it, a terminal or not. */
static void run_warn(const struct text *err, const struct plan *plan, bool quiet)
{
	const char *last = "";

	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];
		_cleanup_buf_ struct buf path = BUF_INIT(RUN_PATH_BYTES);

		if (!str_equal(m->role, "exposed") || str_equal(m->source, last))
			continue;
		last = m->source;
		words_path(&path, plan, m->target);
		text_styled(err, TEXT_WARN,
			    "bawn: %s is a private place, and the command can read it (%s)\n",
			    buf_str(&path), m->origin);
	}
	for (size_t i = 0; i < plan->notes.count; i++) {
		const struct plan_note *n = &plan->notes.items[i];

		if (n->said || (n->softly && !quiet))
			text_styled(err, n->said ? TEXT_WARN : TEXT_PLAIN, "bawn: %s%s %s (%s)\n",
				    n->what,
				    n->kind == PLAN_NOTE_NOT_GIVEN ? " is not given:" : ":", n->why,
				    n->origin);
	}
}

int verb_end_like(int status)
{
	if (WIFSIGNALED(status)) {
		process_reset_signals();
		(void)signal(WTERMSIG(status), SIG_DFL);
		(void)raise(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

/* One run: its parts, and what is told while it runs and at its end. */
struct run {
	struct prepared prepared;
	const struct plan *plan; /* the session's plan, from run_begin on */
	struct session_store session;
	struct layering layering;
	struct record_folder record;
	int first, shared_first; /* folders of first versions; -1 */
	struct outward outward;
	struct refused refused;
	struct unattributed unattributed;
	struct written written;
	struct client_options how;
	struct text err;
	bool quiet;
};

#define RUN_INIT                                     \
	((struct run){.prepared = PREPARED_INIT,     \
		      .session = SESSION_STORE_INIT, \
		      .layering = LAYERING_INIT,     \
		      .record = RECORD_FOLDER_INIT,  \
		      .first = -1,                   \
		      .shared_first = -1,            \
		      .outward = OUTWARD_INIT,       \
		      .how = CLIENT_OPTIONS_INIT})

/* Settles what was written; says what waits to be applied, and how. */
static void run_settle(struct layering *layering, int status, const struct text *err)
{
	struct error e = ERROR_INIT;
	bool kept = false;

	if (layering_end(layering, false, &kept, &e) < 0) {
		verb_complain(&e);
		return;
	}
	if (kept)
		layering_count(layering);
	if (kept && err)
		layering_print_kept(layering,
				    !(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BAWN), err);
}

/* Keeps how much it changed beside its record, for later screens.  Without it they say less. */
static void run_keep_count(const struct run *run)
{
	const struct layering *g = &run->layering;

	if (run->record.name[0] && g->counted.len > 0 && g->left != WAITING_UNKNOWN)
		(void)record_folder_say_changed(run->prepared.places.state, run->record.name,
						buf_span(&g->counted));
}

static void run_fini(struct run *run)
{
	fd_close(&run->first);
	fd_close(&run->shared_first);
	record_folder_fini(&run->record);
	run_settle(&run->layering, 0, NULL);
	layering_fini(&run->layering);
	session_store_fini(&run->session);
	refused_fini(&run->refused);
	unattributed_fini(&run->unattributed);
	written_fini(&run->written);
	prepared_fini(&run->prepared);
}

/* A server inside: nobody needs to be told of one that was published.  Who shows the box's terminal
 * is not disturbed; `bawn ps` says it, and who detaches is told. */
static void run_on_listens(const struct run *run, uint64_t port, bool quiet)
{
	const struct publish *p = &run->prepared.publish;
	const struct listening l = {.ports = {(uint16_t)port}, .count = 1};
	_cleanup_buf_ struct buf words = BUF_INIT(4096);

	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].inside == port)
			return;
	if (quiet || !run->refused.live || port < LISTENING_FIRST)
		return;
	listening_words(&l, run->session.name, &words);
	if (words.len > 0)
		text_styled(&run->err, TEXT_FAINT, "bawn: %s\n", buf_str(&words));
}

static void run_on_event(void *context, const struct message_event *event, bool quiet)
{
	struct run *run = context;

	if (event->kind == MESSAGE_EVENT_LISTENS)
		run_on_listens(run, event->port, quiet);
	else if (!unattributed_on_event(&run->unattributed, event) &&
		 !written_on_event(&run->written, event))
		refused_on_event(&run->refused, event, quiet);
}

struct run_names {
	const struct layering *layering;
	const char *state;
};

/* One that a label leads to, or is one, is taken, too. */
static bool run_is_taken(const void *context, const char *name)
{
	const struct run_names *names = context;
	char other[LAYERS_NAME_MAX + 1], label[SESSION_NAME_MAX];

	session_label_of(names->state, name, label);
	return layering_is_taken(names->layering, name) || label[0] ||
	       session_label_read(names->state, name, other) == 0;
}

/* The name that the person chose is no other session's that is still there. */
static int run_check_name(const struct run *run, const char *name, struct error *e)
{
	_cleanup_session_names_ struct session_names names = {NULL, 0};
	int r = session_names_check(name, e);

	if (r == 0)
		r = session_names_get(&run->prepared.places, SESSION_ANYWHERE, &names, e);
	for (size_t i = 0; r == 0 && i < names.count; i++) {
		const struct session_known *at = &names.items[i];
		bool same = str_equal(at->name, name);

		if (same && (at->where & SESSION_RUNS)) {
			r = error_set(e, -EEXIST, "a session %s is running already", name);
			error_next(e, "'bawn attach %s' shows it; 'bawn stop %s' ends it.", name,
				   name);
		} else if (same && (at->where & SESSION_KEPT)) {
			r = error_set(e, -EEXIST, "there is a session %s already, which has ended",
				      name);
			error_next(e,
				   "'bawn run --continue %s' goes on with it, 'bawn rm %s' forgets "
				   "it; or choose another name.",
				   name, name);
		} else if (same && at->label[0]) {
			r = error_set(e, -EEXIST, "%s is the own name of the session %s", name,
				      at->label);
			error_next(e, "Choose another name; 'bawn rm %s' forgets that one.",
				   at->label);
		} else if (str_equal(at->label, name)) {
			r = error_set(e, -EEXIST, "the session %s is called %s", at->name, name);
			error_next(e, "'bawn rename %s %s' gives it its own name again.", name,
				   at->name);
		}
	}
	return r;
}

/* Without a box there is no session that could go on, or have a name. */
static int run_check_host(const struct invocation *i, struct error *e)
{
	bool detach = invocation_has(i, OPTION_DETACH);

	if (!detach && !invocation_has(i, OPTION_NAME))
		return 0;
	(void)error_set(e, -EINVAL, "--%s is for a session, and without a box there is none",
			detach ? "detach" : "name");
	error_next(e, "Leave it out, or --backend host.");
	return -EINVAL;
}

/* A detached command has a terminal of its own, and nothing else; and it may end with the login. */
static void run_say_detached(const struct text *err)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct error e = ERROR_INIT;
	struct host host;
	struct stat st;
	const char *ends = host_gather_user(&arena, &host, &e) < 0
				   ? NULL
				   : linger_words(linger_look("", host.user, host.uid == 0));

	if (ends)
		text_styled(err, TEXT_WARN, "bawn: %s\n" LINGER_NEXT "\n", ends);

	if (fstat(STDIN_FILENO, &st) == 0 && !S_ISCHR(st.st_mode))
		text_styled(err, TEXT_WARN,
			    "bawn: standard input is not given to a detached command; 'bawn send' "
			    "types into its terminal\n");
}

/* Makes the session's name, folder and layers. */
static int run_begin(struct run *run, const struct invocation *i, struct error *e)
{
	struct layering *layering = &run->layering;

	run->plan = run->prepared.plan;
	if (run->plan->backend == PLAN_BACKEND_HOST)
		return run_check_host(i, e);
	if (run->how.detach)
		run_say_detached(&run->err);
	const char *chosen = invocation_value(i, OPTION_NAME);
	int r = chosen ? run_check_name(run, chosen, e) : 0;

	if (r == 0)
		r = layering_choose(layering, i, &run->prepared, e);
	/* Who was here first has it: from now on the layers are locked. */
	if (r == 0 && chosen && layering_is_taken(layering, chosen))
		r = error_set(e, -EEXIST, "there is a session %s already", chosen);
	const struct run_names taken = {layering, run->prepared.places.state};
	const struct session_name name = {.wanted = layering->goes_on ? layering->session.name
								      : chosen,
					  .is_taken = run_is_taken,
					  .context = &taken};

	if (r == 0)
		r = session_store_make(&run->prepared.places, &name, &run->session, e);
	if (r == 0)
		r = layering_begin(layering, run->session.name, &run->prepared, &run->plan, e);
	if (r < 0)
		return r;
	run->how.session = &run->session;
	run->how.published = run->prepared.publish.items;
	run->how.published_count = run->prepared.publish.count;
	run->how.places = &run->prepared.places;
	run->how.layers = layering->hold;
	run->how.shared = sharing_hold(layering->sharing);
	return 0;
}

/* Makes the record's folder and that of first versions, and prepares to send records on. */
static int run_record(struct run *run, struct error *e)
{
	const char *state = run->prepared.places.state;
	const char *name = run->how.session ? run->session.name : "host";

	if (plan_goes_without(run->plan, PLAN_LAYER_RECORD)) {
		layering_unseen(&run->layering);
		return 0;
	}
	int r = record_folder_make(state, name, &run->record, e);

	if (r < 0)
		return r;
	run->how.record = &run->record;
	r = layering_first(&run->layering, run->plan, &run->first, e);
	if (r == 0)
		r = sharing_first(run->layering.sharing, &run->shared_first, e);
	if (r < 0)
		return r;
	run->how.first = run->first;
	run->how.shared_first = run->shared_first;
	if (outward_is_wanted()) {
		run->outward.state = state;
		run->outward.session = run->record.name;
		run->how.outward = &run->outward;
	}
	return 0;
}

static int run_client(struct run *run, int *ret_status, struct error *e)
{
	const struct plan *plan = run->plan;

	run->how.on_event = run_on_event;
	run->how.event_context = run;
	run->how.read_value = secret_source_read;
	run->how.value_context = &run->prepared.sources;
	if (run_is_weaker(plan) || (run->err.tty && !run->quiet))
		banner_print(&run->err, plan, run->session.name);
	run_warn(&run->err, plan, run->quiet);
	if (!run->quiet)
		layering_print_choice(&run->layering, &run->err);
	int r = client_run(plan, &run->how, ret_status, e);

	run->layering.interrupted = r == -ECONNRESET || r == -EPIPE;
	/* The recorder's lock was ours too. */
	record_folder_fini(&run->record);
	outward_end(&run->outward, &run->err);
	/* Do this before we end as the command did, which may be by a signal. */
	session_store_fini(&run->session);
	run_settle(&run->layering, *ret_status, run->quiet ? NULL : &run->err);
	run_keep_count(run);
	return r;
}

static int run_prepare_again(struct run *run, const struct invocation *i, char *const *argv,
			     struct error *e)
{
	prepared_fini(&run->prepared);
	run->prepared = PREPARED_INIT;
	return prepare_plan(i, argv, true, &run->prepared, e);
}

/* Makes the plan; once more if a session that was killed removed what made a folder a workspace by
 * itself, or if the person takes the repository around the folder. */
static int run_prepare(struct run *run, const struct invocation *i, char *const *argv,
		       struct error *e)
{
	bool taken = false;
	int r = prepare_plan(i, argv, true, &run->prepared, e);

	if (r == 0 && around_look(&run->prepared))
		r = run_prepare_again(run, i, argv, e);
	if (r == 0 && run->err.tty && !run->quiet)
		r = around_ask(&run->prepared, &taken, e);
	return r == 0 && taken ? run_prepare_again(run, i, argv, e) : r;
}

static int run_in_box(const struct invocation *i, char *const *argv)
{
	_cleanup_(run_fini) struct run run = RUN_INIT;
	struct error e = ERROR_INIT;
	int status = 0;

	run.err = text_open(STDERR_FILENO);
	run.how.stdio = invocation_has(i, OPTION_STDIO);
	run.how.detach = invocation_has(i, OPTION_DETACH);
	run.quiet = run.how.quiet = run.how.stdio || invocation_has(i, OPTION_QUIET);
	run.refused.live = run.unattributed.live = run.err.tty && !run.quiet ? &run.err : NULL;
	int r = verb_detach_key(i, &run.how.detach_key, &e);

	if (r == 0)
		r = run_prepare(&run, i, argv, &e);

	if (r == 0)
		r = around_note(&run.prepared, invocation_has(i, OPTION_WORKSPACE), &e);
	if (r == 0)
		r = run_begin(&run, i, &e);
	if (r == 0)
		r = run_record(&run, &e);
	if (r == 0)
		r = run_client(&run, &status, &e);
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	if (!run.quiet)
		refused_summary(&run.refused, run.plan, &run.err);
	if (!run.quiet && status != 0)
		withheld_summary(run.plan, environ, &run.err);
	if (!run.quiet)
		written_summary(&run.written, run.plan, &run.err);
	refused_alarm(&run.refused, &run.err);
	unattributed_summary(&run.unattributed, &run.err, run.session.name);
	if (run_is_weaker(run.plan))
		banner_summary(&run.err, run.plan);
	return verb_end_like(status);
}

int verb_run(const struct invocation *i)
{
	return run_in_box(i, i->arguments);
}

int verb_shell(const struct invocation *i)
{
	return run_in_box(i, NULL);
}
