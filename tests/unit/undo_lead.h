/* SPDX-License-Identifier: Apache-2.0 */
/* A workspace with first versions of a session, and the undo of it. */
#ifndef BAWN_UNDO_LEAD_H
#define BAWN_UNDO_LEAD_H

#include "first_lead.h"

#include "undo_direct.h"

struct world {
	struct first_lead lead;
	struct layers_session session;
	struct undo_direct undo;
	struct buf said;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	lead_open(&w->lead);
	(void)snprintf(w->session.name, sizeof(w->session.name), "%s", LEAD_SESSION);
	w->undo = UNDO_DIRECT_INIT;
	w->said = BUF_INIT(1 << 16);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	undo_direct_fini(&w->undo);
	buf_fini(&w->said);
	lead_close(&w->lead);
	free(w);
	return 0;
}

#endif
