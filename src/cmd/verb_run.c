/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn run` and `bawn shell`: a command, or a shell, in a box. */
#include "banner.h"
#include "client.h"
#include "fd.h"
#include "layering.h"
#include "outward.h"
#include "prepare.h"
#include "process.h"
#include "record_folder.h"
#include "refused.h"
#include "session_store.h"
#include "str.h"
#include "text.h"
#include "unattributed.h"
#include "verbs.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* No full box: said on every screen, asked for quiet or not. */
static bool run_is_weaker(const struct plan *plan)
{
	return plan->backend == PLAN_BACKEND_HOST || plan->without.count > 0 ||
	       plan->ablate.count > 0;
}

/* Ends as the command did: its exit code, or its signal. */
static int run_end_like(int status)
{
	if (WIFSIGNALED(status)) {
		process_reset_signals();
		(void)signal(WTERMSIG(status), SIG_DFL);
		(void)raise(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

/* What is told while it runs and at its end. */
struct run_told {
	struct refused refused;
	struct unattributed unattributed;
};

static void run_told_fini(struct run_told *t)
{
	refused_fini(&t->refused);
	unattributed_fini(&t->unattributed);
}

static void run_on_event(void *context, const struct message_event *event, bool quiet)
{
	struct run_told *t = context;

	if (!unattributed_on_event(&t->unattributed, event))
		refused_on_event(&t->refused, event, quiet);
}

static bool run_is_taken(const void *context, const char *name)
{
	return layering_is_taken(context, name);
}

/* The session's name, folder and layers. */
static int run_begin(const struct invocation *i, struct prepared *p, struct layering *layering,
		     struct session_store *session, struct error *e)
{
	int r = layering_choose(layering, i, p, e);
	const struct session_name name = {.wanted =
						  layering->goes_on ? layering->session.name : NULL,
					  .is_taken = run_is_taken,
					  .context = layering};

	if (r == 0)
		r = session_store_make(&p->places, &name, session, e);
	return r < 0 ? r : layering_begin(layering, session->name, p, e);
}

/* What was written finds its place; what waits to be applied is said, and how. */
static void run_settle(struct layering *layering, const struct text *err)
{
	struct error e = ERROR_INIT;
	bool kept = false;

	if (layering_end(layering, false, &kept, &e) < 0)
		verb_complain(&e);
	else if (kept && err)
		layering_print_kept(layering, err);
}

static void run_let_go(struct layering *layering)
{
	run_settle(layering, NULL);
	layering_fini(layering);
}

static int run_in_box(const struct invocation *i, char *const *argv)
{
	_cleanup_prepared_ struct prepared prepared = PREPARED_INIT;
	struct client_options how = CLIENT_OPTIONS_INIT;
	struct text err = text_open(STDERR_FILENO);
	struct error e = ERROR_INIT;
	int status = 0;

	if (prepare_plan(i, argv, true, &prepared, &e) < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	how.stdio = invocation_has(i, OPTION_STDIO);
	bool weaker = run_is_weaker(&prepared.plan);
	bool quiet = how.stdio || invocation_has(i, OPTION_QUIET);
	const struct text *live = err.tty && !quiet ? &err : NULL;
	_cleanup_(run_told_fini) struct run_told told = {.refused = {.live = live},
							 .unattributed = {.live = live}};

	_cleanup_session_store_ struct session_store session = SESSION_STORE_INIT;
	_cleanup_(run_let_go) struct layering layering = LAYERING_INIT;

	if (prepared.plan.backend != PLAN_BACKEND_HOST) {
		if (run_begin(i, &prepared, &layering, &session, &e) < 0) {
			verb_complain(&e);
			return EXIT_BAWN;
		}
		how.session = &session;
		how.layers = layering.hold;
	}
	_cleanup_record_folder_ struct record_folder record = RECORD_FOLDER_INIT;

	if (!plan_goes_without(&prepared.plan, PLAN_LAYER_RECORD)) {
		const char *name = how.session ? session.name : "host";

		if (record_folder_make(prepared.places.state, name, &record, &e) < 0) {
			verb_complain(&e);
			return EXIT_BAWN;
		}
		how.record = &record;
	}
	_cleanup_fd_ int first = how.record ? layering_first(&layering, &e) : -1;

	if (first < 0 && e.code < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	how.first = first;
	struct outward outward = OUTWARD_INIT;

	if (how.record && outward_is_wanted()) {
		outward.state = prepared.places.state;
		outward.session = record.name;
		how.outward = &outward;
	}
	how.on_event = run_on_event;
	how.event_context = &told;
	how.read_value = secret_source_read;
	how.value_context = &prepared.sources;
	if (weaker || (err.tty && !quiet))
		banner_print(&err, &prepared.plan, session.name);
	if (!quiet)
		layering_print_choice(&layering, &err);
	int r = client_run(&prepared.plan, &how, &status, &e);

	/* The recorder's lock was ours too. */
	record_folder_fini(&record);
	outward_end(&outward, &err);
	/* Before we end as the command did, which may be by a signal. */
	session_store_fini(&session);
	run_settle(&layering, quiet ? NULL : &err);
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	if (!quiet)
		refused_summary(&told.refused, &err);
	unattributed_summary(&told.unattributed, &err, session.name);
	if (weaker)
		banner_summary(&err, &prepared.plan);
	return run_end_like(status);
}

int verb_run(const struct invocation *i)
{
	return run_in_box(i, i->arguments);
}

int verb_shell(const struct invocation *i)
{
	return run_in_box(i, NULL);
}
