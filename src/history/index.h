/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of all records: index.sqlite in their folder, made from them and never the other way
 * round.  It can be deleted at any time.  If it is broken, of another version or not about these
 * records, it is deleted and made again.
 *
 * It does not hold events.  It takes a record in blocks of INDEX_BLOCK events, and chunks of
 * INDEX_CHUNK blocks, and knows which kinds, verdicts, executions, hosts and paths each block of a
 * chunk has.  It tells a caller that filters which blocks to read; the caller reads the events
 * themselves, and decides on them.  A mistake in the index can only cost time; what comes after its
 * end is read without it.  It also keeps sums for `bawn show`: what each execution did, how often,
 * and to what.
 *
 *	session	id, folder, first (hash of its first event), segment, offset, seq, head: taken up
 *		to there, with the hash of the last event; ready and end: where those events are
 *	block	session, number: segment and offset of its first event; low and high: its times;
 *		last and head: number and hash of its last event, which the others lead to
 *	run	session, exec: parent, pid, seq, program, command, begin, finish, exit, signal
 *	fact	session, what, chunk, name, exec: mask (blocks of the chunk, a bit each) of what is
 *		used; count, first, last (numbers of events), reason, allow of what was done
 *
 * A chunk's facts are gathered in memory and entered in the order of their key, which grows with
 * the record: the file is written from its start to its end and not all over, at ten million events
 * as at ten thousand.
 *
 * One process writes at a time; others read what there is (SQLite's write-ahead log).
 */
#ifndef BAWN_INDEX_H
#define BAWN_INDEX_H

#include "event_read.h"
#include "filter.h"
#include "store.h"

enum {
	INDEX_BLOCK = 256,                       /* events */
	INDEX_CHUNK = 64,                        /* blocks */
	INDEX_BATCH = INDEX_BLOCK * INDEX_CHUNK, /* events in one transaction */
	INDEX_PROGRAM_MAX = 32,
	INDEX_COMMAND_MAX = 512,
};

/* What facts are about.  The numbers are in the file: new ones go to the end. */
enum index_what {
	INDEX_USED_KIND,
	INDEX_USED_VERDICT,
	INDEX_USED_EXEC,
	INDEX_USED_HOST,
	INDEX_USED_PATH,
	INDEX_DID_CHANGE,       /* a file */
	INDEX_DID_READ,         /* a file outside, or a marked one */
	INDEX_DID_RUN,          /* a program, by its name */
	INDEX_DID_REACH,        /* host:port */
	INDEX_DID_REFUSED_HOST, /* host:port, or a name that somebody asked for */
	INDEX_DID_REFUSED_FILE,
	INDEX_DID_REFUSED_CALL,
	INDEX_DID_SECRET, /* was used */
	INDEX_DID_LEAK,   /* a placeholder where it must not be */
	INDEX_DID_TAMPER, /* path or words */
	INDEX_DID_GAP,    /* reason; the count is of events */
	INDEX_DID_LIMIT,
	INDEX_DID_DECISION, /* changes of the rules that hold */
};

/* "changed", "refused-host"...: the name in --json. */
const char *index_what_word(enum index_what what);

struct index;

/* Opens the index in the folder of all records, or makes it.  If none can be kept there (a folder
 * that cannot be written), it is made in memory. */
int index_open(const struct store *s, struct index **ret, struct error *e);
void index_close(struct index **x);
#define _cleanup_index_ _cleanup_(index_close)

/* Called now and then while it takes long: how many events are done. */
struct index_progress {
	void (*tell)(void *context, uint64_t events);
	void *context;
};

/*
 * Takes what the session's record has beyond what is known, for at most budget_ms (0: all of it).
 * 1: all of it is there now.  0: the time was not enough, or another process writes.  Or -errno.
 */
int index_update(struct index *x, const struct store *s, const struct store_session *session,
		 unsigned int budget_ms, const struct index_progress *progress, struct error *e);

/* How far the index has a record. */
struct index_place {
	int64_t id;
	uint32_t segment;
	uint64_t offset, seq;                                          /* what is before is known */
	uint64_t ready_segment, ready_offset, end_segment, end_offset; /* segment 0: not seen */
	struct hash head;                                              /* of event `seq` */
};

/* 0, or -ENOENT: not known. */
int index_find(struct index *x, const struct store_session *session, struct index_place *ret);

/* How many chunks there are; the last is the one of place->seq. */
static inline uint64_t index_chunks(const struct index_place *place)
{
	return place->seq ? (place->seq - 1) / INDEX_BATCH + 1 : 0;
}

/* Which blocks of a chunk may have what the filter wants: the first block is bit 0. */
uint64_t index_chunk(struct index *x, const struct index_place *place, uint64_t chunk,
		     const struct filter *f);

/* Where a block begins, and the last event that it had when it was taken. */
struct index_block {
	uint32_t segment;
	uint64_t offset, last;
	struct hash head;
};
int index_block(struct index *x, const struct index_place *place, uint64_t block,
		struct index_block *ret, struct error *e);

/* The program of an execution: "git"; -ENOENT. */
int index_program(struct index *x, const struct index_place *place, uint64_t exec,
		  struct buf *into);

/* --- what happened ---------------------------------------------------------------------- */

struct index_deed {
	uint64_t exec;
	enum index_what what;
	struct span name, reason, allow;
	uint64_t count, first, last;
	uint64_t names; /* set by index_sum: how many different ones there are in all */
};

/*
 * Calls found for each name of that kind, over all executions: the most frequent first, at most
 * `most` (0: all).  A negative answer of `found` ends it.
 */
int index_sum(struct index *x, const struct index_place *place, enum index_what what, size_t most,
	      int (*found)(void *context, const struct index_deed *deed), void *context,
	      struct error *e);

/* The same over several records, by the ids of their places, at most INDEX_SUM_MAX.  `first` and
 * `last` then mean nothing. */
enum { INDEX_SUM_MAX = 64 };
int index_sum_of(struct index *x, const int64_t *ids, size_t count, enum index_what what,
		 size_t most, int (*found)(void *context, const struct index_deed *deed),
		 void *context, struct error *e);

/* Calls found for everything that each execution did, one execution after the other. */
int index_deeds(struct index *x, const struct index_place *place,
		int (*found)(void *context, const struct index_deed *deed), void *context,
		struct error *e);

/* Calls found for what was done to one name, execution by execution. */
int index_deeds_of(struct index *x, const struct index_place *place, enum index_what what,
		   struct span name, int (*found)(void *context, const struct index_deed *deed),
		   void *context, struct error *e);

/* The execution that started this one; and, if command is given, its command line.  -ENOENT. */
int index_parent(struct index *x, const struct index_place *place, uint64_t exec,
		 uint64_t *ret_parent, struct buf *command);

struct index_run {
	uint64_t exec, parent, pid, seq;
	struct span program, command;
	int64_t begin, finish; /* nanoseconds of the boot clock; finish 0: it has not ended */
	int64_t exit, signal;  /* -1: not known, or it ended in the other way */
};

/* Calls found for every execution, in the order in which they began. */
int index_runs(struct index *x, const struct index_place *place,
	       int (*found)(void *context, const struct index_run *run), void *context,
	       struct error *e);

#endif
