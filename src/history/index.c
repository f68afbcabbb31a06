/* SPDX-License-Identifier: Apache-2.0 */
#include "index_parts.h"

#include "fd.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { INDEX_VERSION = 6 };

static const char index_tables[] =
	"CREATE TABLE session(id INTEGER PRIMARY KEY, folder TEXT NOT NULL UNIQUE,"
	" first BLOB NOT NULL, segment INT NOT NULL, offset INT NOT NULL, seq INT NOT NULL,"
	" ready_segment INT NOT NULL, ready_offset INT NOT NULL,"
	" end_segment INT NOT NULL, end_offset INT NOT NULL, head BLOB NOT NULL);"
	"CREATE TABLE block(session INT NOT NULL, number INT NOT NULL, segment INT NOT NULL,"
	" offset INT NOT NULL, low INT NOT NULL, high INT NOT NULL,"
	" last INT NOT NULL, head BLOB NOT NULL,"
	" PRIMARY KEY(session, number)) WITHOUT ROWID;"
	"CREATE TABLE run(session INT NOT NULL, exec INT NOT NULL, parent INT NOT NULL,"
	" pid INT NOT NULL, seq INT NOT NULL, program BLOB NOT NULL, command BLOB NOT NULL,"
	" begin INT NOT NULL, finish INT NOT NULL, exit INT NOT NULL, signal INT NOT NULL,"
	" PRIMARY KEY(session, exec)) WITHOUT ROWID;"
	"CREATE TABLE fact(session INT NOT NULL, what INT NOT NULL, chunk INT NOT NULL,"
	" name BLOB NOT NULL, exec INT NOT NULL, mask INT NOT NULL, count INT NOT NULL,"
	" first INT NOT NULL, last INT NOT NULL, reason BLOB, allow BLOB,"
	" PRIMARY KEY(session, what, chunk, name, exec)) WITHOUT ROWID;";

static const char *const index_sql[INDEX_STATEMENT_COUNT] = {
	[INDEX_BEGIN] = "BEGIN IMMEDIATE",
	[INDEX_COMMIT] = "COMMIT",
	[INDEX_ROLLBACK] = "ROLLBACK",
	[INDEX_FIND_SESSION] = "SELECT id, segment, offset, seq, ready_segment, ready_offset,"
			       " end_segment, end_offset, first, head FROM session WHERE folder=?1",
	[INDEX_ADD_SESSION] = "INSERT INTO session VALUES(NULL, ?1, ?2, 0, 0, 0, 0, 0, 0, 0, x'')",
	[INDEX_MOVE_SESSION] =
		"UPDATE session SET segment=?2, offset=?3, seq=?4, ready_segment=?5,"
		" ready_offset=?6, end_segment=?7, end_offset=?8, head=?9 WHERE id=?1",
	[INDEX_DROP_SESSION] = "DELETE FROM session WHERE id=?1",
	[INDEX_ADD_BLOCK] = "INSERT OR IGNORE INTO block VALUES(?1, ?2, ?3, ?4, ?5, ?5, 0, x'')",
	[INDEX_STRETCH_BLOCK] = "UPDATE block SET low=min(low, ?3), high=max(high, ?4),"
				" last=?5, head=?6 WHERE session=?1 AND number=?2",
	[INDEX_ADD_RUN] = "INSERT OR IGNORE INTO run VALUES(?1, ?2, ?3, ?4, ?5, ?7, ?8, ?6,"
			  " 0, -1, -1)",
	[INDEX_END_RUN] = "UPDATE run SET finish=?3, exit=?4, signal=?5"
			  " WHERE session=?1 AND exec=?2",
	[INDEX_ADD_FACT] = "INSERT INTO fact VALUES(?1, ?2, ?3, ?9, ?4, ?5, ?6, ?7, ?8, ?10, ?11)"
			   " ON CONFLICT DO UPDATE SET mask=mask|excluded.mask,"
			   " count=count+excluded.count, last=excluded.last,"
			   " reason=excluded.reason, allow=excluded.allow",
	[INDEX_ASK_WORD] = "SELECT mask FROM fact WHERE session=?1 AND what=?2 AND chunk=?3"
			   " AND name=?4",
	[INDEX_ASK_NAMES] = "SELECT mask, name FROM fact WHERE session=?1 AND what=?2 AND chunk=?3",
	[INDEX_ASK_BENEATH] = "SELECT mask FROM fact WHERE session=?1 AND what=?2 AND chunk=?3"
			      " AND name>=?4 AND name<?5",
	[INDEX_ASK_EXEC] = "SELECT mask FROM fact WHERE session=?1 AND what=?2 AND chunk=?3"
			   " AND name=x'' AND exec=?4",
	[INDEX_ASK_PROGRAMS] = "SELECT f.mask, r.program FROM fact f JOIN run r ON"
			       " r.session=f.session AND r.exec=f.exec WHERE f.session=?1"
			       " AND f.what=?2 AND f.chunk=?3",
	[INDEX_ASK_TIMES] = "SELECT 1<<(number-?2) FROM block WHERE session=?1 AND"
			    " number>=?2 AND number<?3 AND high>=?4 AND low<?5",
	[INDEX_ASK_BLOCK] =
		"SELECT segment, offset, last, head FROM block WHERE session=?1 AND number=?2",
	[INDEX_ASK_PROGRAM] = "SELECT program FROM run WHERE session=?1 AND exec=?2",
	[INDEX_ASK_RUNS] = "SELECT exec, parent, pid, seq, begin, finish, exit, signal, program,"
			   " command FROM run WHERE session=?1 ORDER BY exec",
	/* SQLite takes the other columns from a row that has the minimum or the maximum. */
	[INDEX_ASK_SUM] = "SELECT 0, sum(count), min(first), max(last), name, reason, allow,"
			  " count(*) OVER (), 0 FROM fact WHERE session=?1 AND what=?2"
			  " GROUP BY name ORDER BY 2 DESC, 3 LIMIT ?3",
	[INDEX_ASK_DEEDS] =
		"SELECT what, sum(count), min(first), max(last), name, reason, allow, 1,"
		" exec FROM fact WHERE session=?1 AND what>=?2"
		" GROUP BY exec, what, name ORDER BY exec, 3",
	[INDEX_ASK_DEEDS_OF] = "SELECT what, count, first, last, name, reason, allow, 1, exec"
			       " FROM fact WHERE session=?1 AND what=?2 AND chunk=?3 AND name=?4"
			       " ORDER BY first",
	[INDEX_ASK_PARENT] = "SELECT parent, command FROM run WHERE session=?1 AND exec=?2",
};

const char *index_what_word(enum index_what what)
{
	static const char *const words[] = {
		[INDEX_USED_KIND] = "kind",
		[INDEX_USED_VERDICT] = "verdict",
		[INDEX_USED_EXEC] = "exec",
		[INDEX_USED_HOST] = "host",
		[INDEX_USED_PATH] = "path",
		[INDEX_DID_CHANGE] = "changed",
		[INDEX_DID_READ] = "read",
		[INDEX_DID_RUN] = "commands",
		[INDEX_DID_REACH] = "reached",
		[INDEX_DID_REFUSED_HOST] = "refused-hosts",
		[INDEX_DID_REFUSED_FILE] = "refused-files",
		[INDEX_DID_REFUSED_CALL] = "refused-calls",
		[INDEX_DID_SECRET] = "secrets",
		[INDEX_DID_LEAK] = "leaks",
		[INDEX_DID_TAMPER] = "alarms",
		[INDEX_DID_GAP] = "gaps",
		[INDEX_DID_LIMIT] = "limits",
		[INDEX_DID_DECISION] = "decisions",
	};

	return words[what];
}

/* --- the file --------------------------------------------------------------------------- */

static void index_delete(int dir)
{
	static const char *const names[] = {"index.sqlite", "index.sqlite-wal", "index.sqlite-shm",
					    "index.sqlite-journal"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names); i++)
		(void)unlinkat(dir, names[i], 0);
}

static bool index_is_broken(int r)
{
	r &= 0xff;
	return r == SQLITE_CORRUPT || r == SQLITE_NOTADB || r == SQLITE_ERROR || r == SQLITE_SCHEMA;
}

int index_fail(struct index *x, int code, struct error *e)
{
	int why = (code & 0xff) == SQLITE_FULL       ? -ENOSPC
		  : (code & 0xff) == SQLITE_NOMEM    ? -ENOMEM
		  : (code & 0xff) == SQLITE_BUSY     ? -EBUSY
		  : (code & 0xff) == SQLITE_READONLY ? -EROFS
						     : -EIO;

	(void)error_set(e, why, "the index of the records: %s", sqlite3_errstr(code));
	if (index_is_broken(code) && x->dir >= 0) {
		index_delete(x->dir);
		error_next(e, "It was removed: ask again, and it is made again.");
	}
	return why;
}

void index_close(struct index **x)
{
	struct index *it = *x;

	if (!it)
		return;
	for (size_t i = 0; i < INDEX_STATEMENT_COUNT; i++)
		(void)sqlite3_finalize(it->statements[i]);
	(void)sqlite3_close(it->db);
	free(it->facts);
	free(it->order);
	buf_fini(&it->texts);
	free(it);
	*x = NULL;
}

static int index_get_version(struct index *x, int *ret)
{
	sqlite3_stmt *s = NULL;
	int r = sqlite3_prepare_v2(x->db, "PRAGMA user_version", -1, &s, NULL);

	if (r == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		*ret = sqlite3_column_int(s, 0);
	(void)sqlite3_finalize(s);
	return r;
}

static int index_make_tables(struct index *x)
{
	char version[40];

	(void)snprintf(version, sizeof(version), "PRAGMA user_version=%d", INDEX_VERSION);
	int r = sqlite3_exec(x->db, "BEGIN IMMEDIATE", NULL, NULL, NULL), made = 0;

	if (r == SQLITE_OK)
		r = index_get_version(x, &made);
	/* Another process may have made them meanwhile. */
	if (r == SQLITE_OK && made != INDEX_VERSION)
		r = sqlite3_exec(x->db, index_tables, NULL, NULL, NULL);
	if (r == SQLITE_OK && made != INDEX_VERSION)
		r = sqlite3_exec(x->db, version, NULL, NULL, NULL);
	if (r == SQLITE_OK)
		r = sqlite3_exec(x->db, "COMMIT", NULL, NULL, NULL);
	return r;
}

static int index_prepare(struct index *x)
{
	int r = SQLITE_OK;

	for (size_t i = 0; r == SQLITE_OK && i < INDEX_STATEMENT_COUNT; i++)
		r = sqlite3_prepare_v3(x->db, index_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &x->statements[i], NULL);
	return r;
}

/* NORMAL and a write-ahead log: a power loss may cost the last batches, never the file. */
static int index_open_file(const char *path, struct index **ret)
{
	_cleanup_index_ struct index *x = calloc(1, sizeof(*x));
	int version = 0;

	if (!x)
		return SQLITE_NOMEM;
	x->dir = -1;
	x->facts = calloc(INDEX_FACTS, sizeof(*x->facts));
	x->order = calloc(INDEX_FACTS, sizeof(*x->order));
	x->texts = BUF_INIT(INDEX_TEXTS);
	bool there = x->facts && x->order && keyed_init(&x->key) == 0;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	int r = there ? sqlite3_open_v2(path, &x->db, flags, NULL) : SQLITE_NOMEM;

	if (r == SQLITE_OK)
		r = sqlite3_busy_timeout(x->db, 200);
	if (r == SQLITE_OK)
		r = sqlite3_exec(x->db,
				 "PRAGMA page_size=8192; PRAGMA journal_mode=WAL;"
				 "PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536;"
				 "PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=4000;"
				 "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON",
				 NULL, NULL, NULL);
	if (r == SQLITE_OK)
		r = index_get_version(x, &version);
	if (r == SQLITE_OK && version == 0)
		r = index_make_tables(x);
	else if (r == SQLITE_OK && version != INDEX_VERSION)
		r = SQLITE_NOTADB;
	if (r == SQLITE_OK)
		r = index_prepare(x);
	if (r == SQLITE_OK)
		*ret = TAKE_PTR(x);
	return r;
}

int index_open(const struct store *s, struct index **ret, struct error *e)
{
	char path[64];
	int r = SQLITE_CANTOPEN;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/index.sqlite", s->dir);
	for (int round = 0; round < 2 && r != SQLITE_OK && s->dir >= 0; round++) {
		/* SQLite gives its other files the mode of this one. */
		_cleanup_fd_ int fd = open_file(s->dir, "index.sqlite", O_RDWR | O_CREAT, 0600);

		r = fd < 0 ? SQLITE_CANTOPEN : index_open_file(path, ret);
		if (r == SQLITE_OK)
			(*ret)->dir = s->dir;
		if (r != SQLITE_OK && round == 0 && index_is_broken(r))
			index_delete(s->dir);
		else if (r != SQLITE_OK)
			break;
	}
	if (r != SQLITE_OK)
		r = index_open_file(":memory:", ret);
	return r == SQLITE_OK ? 0 : error_set(e, -EIO, "the index: %s", sqlite3_errstr(r));
}

/* --- statements --------------------------------------------------------------------------- */

void index_run_statement(struct index *x, enum index_statement s, const int64_t *numbers,
			 size_t count)
{
	sqlite3_stmt *st = x->statements[s];

	for (size_t i = 0; i < count; i++)
		(void)sqlite3_bind_int64(st, (int)i + 1, numbers[i]);
	int r = sqlite3_step(st);

	if (r != SQLITE_DONE && r != SQLITE_ROW && x->failed == SQLITE_OK)
		x->failed = r;
	(void)sqlite3_reset(st);
}

/* --- questions ---------------------------------------------------------------------------- */

static sqlite3_stmt *index_ask(struct index *x, enum index_statement s, const int64_t *numbers,
			       size_t count)
{
	sqlite3_stmt *st = x->statements[s];

	(void)sqlite3_reset(st);
	for (size_t i = 0; i < count; i++)
		(void)sqlite3_bind_int64(st, (int)i + 1, numbers[i]);
	return st;
}

static struct span index_column(sqlite3_stmt *st, int column)
{
	const void *ptr = sqlite3_column_blob(st, column);

	return (struct span){ptr, ptr ? (size_t)sqlite3_column_bytes(st, column) : 0};
}

/* All zeros when there is none. */
static struct hash index_column_hash(sqlite3_stmt *st, int column)
{
	struct span bytes = index_column(st, column);
	struct hash hash = {{0}};

	if (bytes.len == sizeof(hash.bytes))
		memcpy(hash.bytes, bytes.ptr, bytes.len);
	return hash;
}

int index_find(struct index *x, const struct store_session *session, struct index_place *ret)
{
	sqlite3_stmt *st = x->statements[INDEX_FIND_SESSION];

	(void)sqlite3_bind_text(st, 1, session->folder, -1, SQLITE_TRANSIENT);
	int r = sqlite3_step(st);

	if (r == SQLITE_ROW)
		*ret = (struct index_place){
			.id = sqlite3_column_int64(st, 0),
			.segment = (uint32_t)sqlite3_column_int64(st, 1),
			.offset = (uint64_t)sqlite3_column_int64(st, 2),
			.seq = (uint64_t)sqlite3_column_int64(st, 3),
			.ready_segment = (uint64_t)sqlite3_column_int64(st, 4),
			.ready_offset = (uint64_t)sqlite3_column_int64(st, 5),
			.end_segment = (uint64_t)sqlite3_column_int64(st, 6),
			.end_offset = (uint64_t)sqlite3_column_int64(st, 7),
			.head = index_column_hash(st, 9),
		};
	(void)sqlite3_reset(st);
	return r == SQLITE_ROW ? 0 : -ENOENT;
}

int index_block(struct index *x, const struct index_place *place, uint64_t block,
		struct index_block *ret, struct error *e)
{
	sqlite3_stmt *st = index_ask(x, INDEX_ASK_BLOCK, (int64_t[]){place->id, (int64_t)block}, 2);
	int r = sqlite3_step(st);

	if (r == SQLITE_ROW)
		*ret = (struct index_block){.segment = (uint32_t)sqlite3_column_int64(st, 0),
					    .offset = (uint64_t)sqlite3_column_int64(st, 1),
					    .last = (uint64_t)sqlite3_column_int64(st, 2),
					    .head = index_column_hash(st, 3)};
	(void)sqlite3_reset(st);
	/* Every block before the place has its row. */
	return r == SQLITE_ROW ? 0 : index_fail(x, r == SQLITE_DONE ? SQLITE_CORRUPT : r, e);
}

int index_program(struct index *x, const struct index_place *place, uint64_t exec, struct buf *into)
{
	sqlite3_stmt *st =
		index_ask(x, INDEX_ASK_PROGRAM, (int64_t[]){place->id, (int64_t)exec}, 2);
	int r = sqlite3_step(st);

	if (r == SQLITE_ROW) {
		struct span program = index_column(st, 0);

		buf_put(into, program.ptr, program.len);
	}
	(void)sqlite3_reset(st);
	return r == SQLITE_ROW ? 0 : -ENOENT;
}

/* --- blocks ------------------------------------------------------------------------------- */

/* Asks one question about one chunk; the caller binds a text as its fourth. */
static sqlite3_stmt *index_ask_chunk(struct index *x, enum index_statement s, int64_t session,
				     enum index_what what, uint64_t chunk)
{
	return index_ask(x, s, (int64_t[]){session, what, (int64_t)chunk}, 3);
}

/* Ends the rows.  If the last step was a failure and not the end, every block may have it. */
static uint64_t index_rows_end(sqlite3_stmt *st, int step, uint64_t mask)
{
	(void)sqlite3_reset(st);
	return step == SQLITE_DONE ? mask : UINT64_MAX;
}

static uint64_t index_rows(sqlite3_stmt *st)
{
	uint64_t mask = 0;
	int step;

	while ((step = sqlite3_step(st)) == SQLITE_ROW)
		mask |= (uint64_t)sqlite3_column_int64(st, 0);
	return index_rows_end(st, step, mask);
}

static uint64_t index_chunk_words(struct index *x, int64_t session, uint64_t chunk,
				  enum index_what what, const struct filter_list *l)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < l->count; i++) {
		sqlite3_stmt *st = index_ask_chunk(x, INDEX_ASK_WORD, session, what, chunk);

		(void)sqlite3_bind_blob(st, 4, l->items[i], (int)strlen(l->items[i]),
					SQLITE_STATIC);
		mask |= index_rows(st);
	}
	return mask;
}

/* For an absolute path without a pattern: it, and what is beneath it. */
static uint64_t index_chunk_beneath(struct index *x, int64_t session, uint64_t chunk,
				    const char *path)
{
	size_t len = strlen(path);
	char low[PATH_MAX + 2], high[PATH_MAX + 2];
	struct filter_list one = {{low}, 1};

	while (len > 1 && path[len - 1] == '/')
		len--;
	(void)snprintf(low, sizeof(low), "%.*s", (int)len, path);
	uint64_t mask = index_chunk_words(x, session, chunk, INDEX_USED_PATH, &one);
	sqlite3_stmt *st = index_ask_chunk(x, INDEX_ASK_BENEATH, session, INDEX_USED_PATH, chunk);

	/* '0' is the character after '/'. */
	(void)snprintf(low, sizeof(low), "%.*s/", (int)len, path);
	(void)snprintf(high, sizeof(high), "%.*s0", (int)len, path);
	(void)sqlite3_bind_blob(st, 4, low, (int)len + 1, SQLITE_STATIC);
	(void)sqlite3_bind_blob(st, 5, high, (int)len + 1, SQLITE_STATIC);
	return mask | index_rows(st);
}

static bool index_is_place(const char *path)
{
	return path[0] == '/' && path[1] && strlen(path) < PATH_MAX && !strpbrk(path, "*?[");
}

static uint64_t index_chunk_names(struct index *x, int64_t session, uint64_t chunk,
				  enum index_what what, const struct filter_list *l)
{
	uint64_t mask = 0;
	size_t places = 0;

	for (size_t i = 0; i < l->count && what == INDEX_USED_PATH; i++)
		if (index_is_place(l->items[i])) {
			mask |= index_chunk_beneath(x, session, chunk, l->items[i]);
			places++;
		}
	if (places == l->count)
		return mask;
	sqlite3_stmt *st = index_ask_chunk(x, INDEX_ASK_NAMES, session, what, chunk);

	int step;

	while ((step = sqlite3_step(st)) == SQLITE_ROW) {
		struct span text = index_column(st, 1);
		bool fits = false;

		/* The event itself decides about the port. */
		for (size_t i = 0; i < l->count && !fits; i++)
			fits = what == INDEX_USED_PATH ? filter_path(l->items[i], text)
						       : filter_host_anywhere(l->items[i], text);
		if (fits)
			mask |= (uint64_t)sqlite3_column_int64(st, 0);
	}
	return index_rows_end(st, step, mask);
}

static uint64_t index_chunk_processes(struct index *x, int64_t session, uint64_t chunk,
				      const struct filter_list *l)
{
	uint64_t mask = 0, exec;
	bool names = false;

	for (size_t i = 0; i < l->count; i++) {
		if (filter_process(l->items[i], &exec) < 0) {
			names = true;
			continue;
		}
		sqlite3_stmt *st =
			index_ask_chunk(x, INDEX_ASK_EXEC, session, INDEX_USED_EXEC, chunk);

		(void)sqlite3_bind_int64(st, 4, (int64_t)exec);
		mask |= index_rows(st);
	}
	if (!names)
		return mask;
	sqlite3_stmt *st = index_ask_chunk(x, INDEX_ASK_PROGRAMS, session, INDEX_USED_EXEC, chunk);

	int step;

	while ((step = sqlite3_step(st)) == SQLITE_ROW)
		if (filter_program(l, index_column(st, 1)))
			mask |= (uint64_t)sqlite3_column_int64(st, 0);
	return index_rows_end(st, step, mask);
}

static uint64_t index_chunk_times(struct index *x, int64_t session, uint64_t chunk,
				  const struct filter *f)
{
	int64_t from = (int64_t)chunk * INDEX_CHUNK;

	return index_rows(index_ask(x, INDEX_ASK_TIMES,
				    (int64_t[]){session, from, from + INDEX_CHUNK, f->since,
						f->until ? f->until : INT64_MAX},
				    5));
}

uint64_t index_chunk(struct index *x, const struct index_place *place, uint64_t chunk,
		     const struct filter *f)
{
	uint64_t mask = UINT64_MAX;

	if (f->verdicts.count > 0)
		mask &= index_chunk_words(x, place->id, chunk, INDEX_USED_VERDICT, &f->verdicts);
	if (mask && f->kinds.count > 0)
		mask &= index_chunk_words(x, place->id, chunk, INDEX_USED_KIND, &f->kinds);
	if (mask && (f->since || f->until))
		mask &= index_chunk_times(x, place->id, chunk, f);
	if (mask && f->hosts.count > 0)
		mask &= index_chunk_names(x, place->id, chunk, INDEX_USED_HOST, &f->hosts);
	if (mask && f->processes.count > 0)
		mask &= index_chunk_processes(x, place->id, chunk, &f->processes);
	if (mask && f->paths.count > 0)
		mask &= index_chunk_names(x, place->id, chunk, INDEX_USED_PATH, &f->paths);
	return mask;
}

/* --- what happened ------------------------------------------------------------------------ */

static int index_deed_rows(struct index *x, sqlite3_stmt *st, int what,
			   int (*found)(void *context, const struct index_deed *deed),
			   void *context, struct error *e)
{
	int step, r = 0;

	while ((step = sqlite3_step(st)) == SQLITE_ROW && r >= 0) {
		struct index_deed deed = {
			.exec = (uint64_t)sqlite3_column_int64(st, 8),
			.what = (enum index_what)(what >= 0 ? what : sqlite3_column_int(st, 0)),
			.count = (uint64_t)sqlite3_column_int64(st, 1),
			.first = (uint64_t)sqlite3_column_int64(st, 2),
			.last = (uint64_t)sqlite3_column_int64(st, 3),
			.name = index_column(st, 4),
			.reason = index_column(st, 5),
			.allow = index_column(st, 6),
			.names = (uint64_t)sqlite3_column_int64(st, 7),
		};

		r = found(context, &deed);
	}
	(void)sqlite3_reset(st);
	return r < 0 ? r : step == SQLITE_DONE || step == SQLITE_ROW ? 0 : index_fail(x, step, e);
}

int index_sum(struct index *x, const struct index_place *place, enum index_what what, size_t most,
	      int (*found)(void *context, const struct index_deed *deed), void *context,
	      struct error *e)
{
	sqlite3_stmt *st = index_ask(x, INDEX_ASK_SUM,
				     (int64_t[]){place->id, what, most ? (int64_t)most : -1}, 3);

	return index_deed_rows(x, st, (int)what, found, context, e);
}

int index_sum_of(struct index *x, const int64_t *ids, size_t count, enum index_what what,
		 size_t most, int (*found)(void *context, const struct index_deed *deed),
		 void *context, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(64 << 10);
	sqlite3_stmt *st = NULL;

	buf_put_str(&text, "SELECT 0, sum(count), min(first), max(last), name, reason, allow,"
			   " count(*) OVER (), 0 FROM fact WHERE what=?1 AND session IN (");
	for (size_t i = 0; i < count && i < INDEX_SUM_MAX; i++)
		buf_putf(&text, "%s%" PRId64, i ? "," : "", ids[i]);
	buf_put_str(&text, ") GROUP BY name ORDER BY 2 DESC, name LIMIT ?2");
	int r = buf_error(&text) ? SQLITE_NOMEM
				 : sqlite3_prepare_v2(x->db, buf_str(&text), -1, &st, NULL);

	if (r != SQLITE_OK)
		return index_fail(x, r, e);
	(void)sqlite3_bind_int64(st, 1, what);
	(void)sqlite3_bind_int64(st, 2, most ? (int64_t)most : -1);
	r = index_deed_rows(x, st, (int)what, found, context, e);
	(void)sqlite3_finalize(st);
	return r;
}

int index_deeds(struct index *x, const struct index_place *place,
		int (*found)(void *context, const struct index_deed *deed), void *context,
		struct error *e)
{
	return index_deed_rows(
		x, index_ask(x, INDEX_ASK_DEEDS, (int64_t[]){place->id, INDEX_DID_CHANGE}, 2), -1,
		found, context, e);
}

int index_deeds_of(struct index *x, const struct index_place *place, enum index_what what,
		   struct span name, int (*found)(void *context, const struct index_deed *deed),
		   void *context, struct error *e)
{
	int r = 0;

	for (uint64_t chunk = 0; r == 0 && chunk < index_chunks(place); chunk++) {
		sqlite3_stmt *st = index_ask_chunk(x, INDEX_ASK_DEEDS_OF, place->id, what, chunk);

		(void)sqlite3_bind_blob(st, 4, name.ptr, (int)name.len, SQLITE_STATIC);
		r = index_deed_rows(x, st, (int)what, found, context, e);
	}
	return r;
}

int index_parent(struct index *x, const struct index_place *place, uint64_t exec,
		 uint64_t *ret_parent, struct buf *command)
{
	sqlite3_stmt *st = index_ask(x, INDEX_ASK_PARENT, (int64_t[]){place->id, (int64_t)exec}, 2);
	int r = sqlite3_step(st);

	if (r == SQLITE_ROW) {
		struct span text = index_column(st, 1);

		*ret_parent = (uint64_t)sqlite3_column_int64(st, 0);
		if (command && text.len > 0)
			buf_put(command, text.ptr, text.len);
	}
	(void)sqlite3_reset(st);
	return r == SQLITE_ROW ? 0 : -ENOENT;
}

int index_runs(struct index *x, const struct index_place *place,
	       int (*found)(void *context, const struct index_run *run), void *context,
	       struct error *e)
{
	sqlite3_stmt *st = index_ask(x, INDEX_ASK_RUNS, (int64_t[]){place->id}, 1);
	int step, r = 0;

	while ((step = sqlite3_step(st)) == SQLITE_ROW && r >= 0) {
		struct index_run run = {
			.exec = (uint64_t)sqlite3_column_int64(st, 0),
			.parent = (uint64_t)sqlite3_column_int64(st, 1),
			.pid = (uint64_t)sqlite3_column_int64(st, 2),
			.seq = (uint64_t)sqlite3_column_int64(st, 3),
			.begin = sqlite3_column_int64(st, 4),
			.finish = sqlite3_column_int64(st, 5),
			.exit = sqlite3_column_int64(st, 6),
			.signal = sqlite3_column_int64(st, 7),
			.program = index_column(st, 8),
			.command = index_column(st, 9),
		};

		r = found(context, &run);
	}
	(void)sqlite3_reset(st);
	return r < 0 ? r : step == SQLITE_DONE || step == SQLITE_ROW ? 0 : index_fail(x, step, e);
}
