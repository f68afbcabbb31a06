/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend `host`: no box.  The command runs as the user's shell would start it.  bawn
 * neither limits nor sees what it does.  The record says when it began and ended, what it was,
 * and that nothing was watched.
 */
#ifndef BAWN_HOST_RUN_H
#define BAWN_HOST_RUN_H

#include "error.h"
#include "plan.h"

struct record_folder;

/* Waits for the command; as client_run.  record: NULL when the plan goes without. */
int host_run(const struct plan *plan, const struct record_folder *record, int *ret_status,
	     struct error *e);

#endif
