/* SPDX-License-Identifier: Apache-2.0 */
/* What index.c (the file, and questions) and index_take.c (taking events in) share. */
#ifndef BAWN_INDEX_PARTS_H
#define BAWN_INDEX_PARTS_H

#include "index.h"

#include <sqlite3.h>

enum index_statement {
	INDEX_BEGIN,
	INDEX_COMMIT,
	INDEX_ROLLBACK,
	INDEX_FIND_SESSION,
	INDEX_ADD_SESSION,
	INDEX_MOVE_SESSION,
	INDEX_DROP_SESSION,
	INDEX_ADD_BLOCK,
	INDEX_STRETCH_BLOCK,
	INDEX_ADD_NAME,
	INDEX_ADD_USED,
	INDEX_ADD_RUN,
	INDEX_END_RUN,
	INDEX_ADD_DID,
	INDEX_ASK_USED,
	INDEX_ASK_NAMES,
	INDEX_ASK_PROGRAMS,
	INDEX_ASK_TIMES,
	INDEX_ASK_BLOCK,
	INDEX_ASK_PROGRAM,
	INDEX_ASK_RUNS,
	INDEX_ASK_SUM,
	INDEX_ASK_DEEDS,
	INDEX_ASK_DEEDS_OF,
	INDEX_ASK_PARENT,
	INDEX_STATEMENT_COUNT,
};

enum { INDEX_NAMES = 1 << 16, INDEX_USES = 1 << 12, INDEX_SUMS = 1 << 15 };

/* One thing that the block at hand has. */
struct index_use {
	uint64_t name;
	uint32_t what, stamp; /* stamp: of the block it was put in for */
};

/* One sum of the batch at hand. */
struct index_sum_of {
	uint64_t exec, name, reason, allow, count, first, last;
	uint32_t what;
	bool there;
};

struct index {
	sqlite3 *db;
	sqlite3_stmt *statements[INDEX_STATEMENT_COUNT];
	uint64_t key[2]; /* of the names' hash: nobody can make two names meet */

	/* while a record is taken in */
	uint64_t *names;        /* ids that are in the file, each in the place of its last bits */
	struct index_use *uses; /* of the block; open addressing */
	struct index_sum_of *sums;
	size_t use_count, sum_count;
	uint32_t stamp;
	struct event event;
	uint8_t scratch[FRAME_EVENT_MAX];
	int failed; /* of SQLite, the first */
};

uint64_t index_name_id(const struct index *x, struct span text);

/* A statement with its numbers bound, run to its end; texts are bound before. */
void index_run_statement(struct index *x, enum index_statement s, const int64_t *numbers,
			 size_t count);

int index_fail(struct index *x, int code, struct error *e);

#endif
