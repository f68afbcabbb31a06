/* SPDX-License-Identifier: Apache-2.0 */
/* What index.c (the file, and questions) and index_take.c (takes events) share. */
#ifndef BAWN_INDEX_PARTS_H
#define BAWN_INDEX_PARTS_H

#include "index.h"
#include "keyed.h"

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
	INDEX_ADD_RUN,
	INDEX_END_RUN,
	INDEX_ADD_FACT,
	INDEX_ASK_WORD,
	INDEX_ASK_NAMES,
	INDEX_ASK_BENEATH,
	INDEX_ASK_EXEC,
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

enum {
	INDEX_FACTS = 1 << 17,  /* places in the table; at most half are used */
	INDEX_TEXTS = 32 << 20, /* bytes of names of a chunk */
};

/* A text among those of the chunk. */
struct index_text {
	uint32_t at, len;
};

/* A fact of the chunk at hand. */
struct index_fact {
	uint64_t hash; /* 0: the place is free */
	uint64_t exec, mask, count, first, last;
	struct index_text name, reason, allow;
	uint32_t what;
};

struct index {
	sqlite3 *db;
	int dir; /* the folder of all records; -1: it is in memory */
	sqlite3_stmt *statements[INDEX_STATEMENT_COUNT];
	/* While a record is taken: */
	struct keyed key; /* of the table's hash: the box cannot choose where its names go */
	struct index_fact *facts; /* open addressing */
	uint32_t *order;          /* the used places, to be sorted */
	size_t fact_count;
	struct buf texts;
	struct event event;
	uint8_t scratch[FRAME_EVENT_MAX];
	int failed; /* the first error of SQLite */
};

/* Runs a statement with these numbers to its end; texts are bound before. */
void index_run_statement(struct index *x, enum index_statement s, const int64_t *numbers,
			 size_t count);

int index_fail(struct index *x, int code, struct error *e);

#endif
