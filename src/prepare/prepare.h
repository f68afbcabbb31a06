/* SPDX-License-Identifier: Apache-2.0 */
/* From a command line to a plan: read the files, ask the host, merge, build. */
#ifndef BAWN_PREPARE_H
#define BAWN_PREPARE_H

#include "hold.h"
#include "layers.h"
#include "plan.h"
#include "publish.h"
#include "secret_source.h"
#include "session_store.h"
#include "verbs.h"

/* A plan and what it points into; released together, after the plan's last use. */
struct prepared {
	struct arena arena;
	const struct plan *plan; /* complete; nobody changes it. &plan_none before there is one */
	const char *config;      /* where the user's own file is, or would be */
	struct session_places places;
	struct publish publish;
	struct layers layers;          /* of the workspace; dir -1: there are none yet */
	struct secret_sources sources; /* where the values of the plan's secrets are */
};

#define PREPARED_INIT ((struct prepared){.plan = &plan_none, .layers = LAYERS_INIT})

void prepared_fini(struct prepared *p);
#define _cleanup_prepared_ _cleanup_(prepared_fini)

/*
 * argv is the command to run inside, NULL-terminated; NULL for the user's own shell.
 * Creates the private home (in bawn's own state directory) when create is true; explain
 * passes false and leaves no trace on the disk.
 */
int prepare_plan(const struct invocation *i, char *const *argv, bool create,
		 struct prepared *ret_prepared, struct error *e);

/*
 * Reads and merges the same files and options; looks up and makes nothing.  The plan has only what
 * the verdicts need: backend, workspace, home, without, network, holds, notes.
 */
int prepare_rules(const struct invocation *i, struct prepared *ret_prepared, struct error *e);

/* The user's own rule for what is kept (`keep`), and the file for it.  It needs no workspace: no
 * other file says anything about it. */
struct prepare_keep {
	struct policy_number days, size;
	const char *config;
};
int prepare_keep(struct arena *arena, struct prepare_keep *ret, struct error *e);

/* Makes the list of holds as the plan tunes it; it copies the paths. */
int prepare_holds(const struct plan *plan, struct hold_rules **ret, struct error *e);

#endif
