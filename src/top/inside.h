/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of one session: what its row says at length, its processes as a tree, and the last
 * events of its record, which bawn-history reads and puts into words (`bawn log -n`).
 */
#ifndef BAWN_TOP_INSIDE_H
#define BAWN_TOP_INSIDE_H

#include "model.h"
#include "task.h"

enum { INSIDE_EVENTS = 50 };

struct inside {
	char name[MODEL_NAME]; /* of the session that is shown; "": none */
	struct buf text;       /* lines, for page_draw */
	struct buf events;     /* as bawn-history put them */
	bool cut;              /* the older ones of them do not fit */
	struct task log;       /* reads them now */
	uint64_t seen;         /* how many events the record had when they were read */
	int64_t again;         /* not before then */
};

void inside_init(struct inside *s);
void inside_fini(struct inside *s);

/* Makes the lines about the chosen session, when the model shows them; asks for its events when
 * there are new ones. */
void inside_look(struct inside *s, struct model *m, int64_t now);

/* `log` has something: 1, when the lines are to be made anew. */
int inside_read(struct inside *s);

#endif
