/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn record verify`: compares every record with the ledger, the key and the checkpoints that the
 * user kept (audit.h), one line each.
 */
#include "history_record.h"
#include "room.h"
#include "audit.h"

#include "clock.h"
#include "dir.h"
#include "fd.h"
#include "json.h"
#include "str.h"
#include "text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	VERIFY_ANCHORS_MAX = 64,
	VERIFY_BYTES_MAX = 256 << 20, /* of JSON, for as many sessions as there can be */
	VERIFY_NAME = 34,
};

#define RECORD_LEDGER "ledger"

/* One run of verify: what the user gave, and what we found so far. */
struct record_run {
	const struct history *ask;
	struct audit audit;
	struct buf notes[VERIFY_ANCHORS_MAX];
	struct checkpoint anchors[VERIFY_ANCHORS_MAX];
	size_t anchor_count;
	struct text text;
	struct json *json; /* NULL: lines */
	size_t counts[AUDIT_STATE_COUNT];
	size_t total, done;
	int64_t began, shown; /* milliseconds */
	bool progress;        /* a line of progress is on the terminal */
};

static void record_run_fini(struct record_run *r)
{
	for (size_t i = 0; i < r->anchor_count; i++)
		buf_fini(&r->notes[i]);
	audit_fini(&r->audit);
}

/* --- what is given -------------------------------------------------------------------- */

static int record_load_key(const char *path, struct hash *ret, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1024);
	uint64_t number = 0;
	int r = record_read_file(path, &text, e);

	if (r == 0 && (ledger_parse_key(buf_span(&text), &number, ret) < 0 || number != 0))
		r = error_set(e, -EBADMSG,
			      "%s is not a verification key as 'bawn record key' "
			      "shows it",
			      path);
	if (text.ptr)
		explicit_bzero(text.ptr, text.cap);
	return r;
}

/* Reads the key that signs here; false: there is none.  We take checkpoints of others as they
 * are. */
static bool record_is_ours(const struct history *a, struct checkpoint_key *ret)
{
	_cleanup_buf_ struct buf line = BUF_INIT(1024);
	bool good = a->store.dir >= 0 && fd_read_file_at(a->store.dir, "anchor", &line) == 0 &&
		    checkpoint_key_parse(buf_span(&line), ret) == 0;

	if (line.ptr)
		explicit_bzero(line.ptr, line.cap);
	return good;
}

static int record_load_anchor(struct record_run *run, const char *path, struct error *e)
{
	_cleanup_checkpoint_key_ struct checkpoint_key key = {.name = ""};
	struct buf *note = &run->notes[run->anchor_count];
	struct checkpoint *c = &run->anchors[run->anchor_count];

	if (run->anchor_count == VERIFY_ANCHORS_MAX)
		return error_set(e, -E2BIG, "more than %d checkpoints", VERIFY_ANCHORS_MAX);
	*note = BUF_INIT(CHECKPOINT_MAX);
	run->anchor_count++;
	int r = record_read_file(path, note, e);

	if (r < 0)
		return r;
	const char *why = checkpoint_parse(buf_span(note), c);

	if (why)
		return error_set(e, -EBADMSG, "%s is no checkpoint: %s", path, why);
	if (record_is_ours(run->ask, &key) && memcmp(key.id, c->id, sizeof(c->id)) == 0 &&
	    !checkpoint_is_by(c, &key))
		return error_set(e, -EBADMSG, "%s is not as it was signed", path);
	return 0;
}

/* The folder in a checkpoint's name; NULL: it is of the ledger.  The ledger's is bawn/USER@HOST, a
 * session's has its folder after that. */
static const char *record_anchor_folder(const struct checkpoint *c, char ret[STORE_FOLDER_SIZE])
{
	if (c->signer.len >= c->origin.len ||
	    c->origin.len - c->signer.len - 1 >= STORE_FOLDER_SIZE)
		return NULL;
	struct span rest = span_skip(c->origin, c->signer.len + 1);

	memcpy(ret, rest.ptr, rest.len);
	ret[rest.len] = '\0';
	return ret;
}

static int record_load(struct record_run *run, const struct invocation *i, struct error *e)
{
	const char *path = invocation_value(i, OPTION_KEY);
	struct hash key;
	int r = path ? record_load_key(path, &key, e) : 0;

	for (size_t n = 0; r == 0 && n < i->value_count; n++)
		if (i->values[n].id == OPTION_ANCHOR)
			r = record_load_anchor(run, i->values[n].value, e);
	/* Who has the key has begun a session. */
	if (r == 0 && run->ask->store.dir < 0 && path)
		(void)snprintf(run->audit.why, sizeof(run->audit.why),
			       "there are no records at all");
	if (r == 0 && run->ask->store.dir >= 0)
		r = audit_ledger(run->ask->store.dir, path ? &key : NULL, &run->audit, e);
	explicit_bzero(&key, sizeof(key));
	for (size_t n = 0; r == 0 && n < run->anchor_count; n++) {
		char folder[STORE_FOLDER_SIZE];

		if (!record_anchor_folder(&run->anchors[n], folder))
			audit_anchor(&run->audit, &run->anchors[n]);
	}
	return r;
}

/* --- showing -------------------------------------------------------------------------- */

/* Shows progress after the first second, if somebody looks. */
static void record_progress(void *context, const char *folder, uint64_t bytes)
{
	struct record_run *run = context;
	_cleanup_buf_ struct buf size = BUF_INIT(64);
	int64_t now = clock_ms(CLOCK_MONOTONIC);

	if (!run->text.tty || run->json || now - run->began < 1000 || now - run->shown < 200)
		return;
	run->shown = now;
	run->progress = true;
	room_put_size(&size, bytes);
	text_printf(&run->text, "%zu of %zu: %s, %s", run->done, run->total, folder,
		    buf_str(&size));
	(void)fd_write_all(run->text.fd, "\033[K\r", 4);
}

static void record_clear_progress(struct record_run *run)
{
	if (run->progress)
		(void)fd_write_all(run->text.fd, "\r\033[K", 4);
	run->progress = false;
}

static enum text_style record_style(enum audit_state state)
{
	return state == AUDIT_WRONG         ? TEXT_BAD
	       : state == AUDIT_INTERRUPTED ? TEXT_WARN
	       : state == AUDIT_VALID       ? TEXT_GOOD
					    : TEXT_PLAIN;
}

static void record_show_line(struct record_run *run, const char *name,
			     const struct audit_finding *f)
{
	const char *what = str_equal(name, RECORD_LEDGER) ? "entries" : "events";

	record_clear_progress(run);
	text_printf(&run->text, "%-*s  ", VERIFY_NAME, name);
	text_styled(&run->text, record_style(f->state), "%s", audit_words[f->state]);
	if (f->record.events > 0)
		text_printf(&run->text, ", %" PRIu64 " %s", f->record.events, what);
	if (f->state == AUDIT_INTERRUPTED && f->record.sealed < f->record.events)
		text_printf(&run->text, ", sealed up to %" PRIu64, f->record.sealed);
	if (f->has_place)
		text_printf(&run->text, ", segment %u, offset %" PRIu64 ", event %" PRIu64,
			    f->record.segment, f->record.offset, f->record.seq);
	text_printf(&run->text, "%s%s\n", f->why[0] ? ": " : "", f->why);
}

static void record_show_json(struct json *j, const char *name, const struct audit_finding *f)
{
	char hex[HASH_HEX + 1];

	json_open(j, '{');
	json_key_str(j, "session", name);
	json_key_str(j, "state", audit_words[f->state]);
	json_key_u64(j, "events", f->record.events);
	json_key_u64(j, "sealed", f->record.sealed);
	json_key_bool(j, "macs", f->record.macs);
	json_key_u64(j, "bytes", f->bytes);
	if (f->record.seals > 0) {
		hash_format(&f->record.head, hex);
		hex[HASH_HEX] = '\0';
		json_key_str(j, "head", hex);
		hash_format(&f->record.root, hex);
		json_key_str(j, "root", hex);
	}
	if (f->why[0])
		json_key_str(j, "why", f->why);
	if (f->has_place) {
		json_key_u64(j, "segment", f->record.segment);
		json_key_u64(j, "offset", f->record.offset);
		json_key_u64(j, "event", f->record.seq);
	}
	json_close(j, '}');
}

static void record_found(struct record_run *run, const char *name, const struct audit_finding *f)
{
	run->counts[f->state]++;
	run->done++;
	if (run->json)
		record_show_json(run->json, name, f);
	else
		record_show_line(run, name, f);
}

/* --- other names ------------------------------------------------------------------------ */

/*
 * A hard link is no change: what is there is what was written.  But who has the other name can
 * change it, in a folder that bawn does not look at; a backup made of links is such a one.
 */
static void record_say_links(int folder, struct audit_finding *f)
{
	_cleanup_dir_ DIR *dir = dir_read(folder, NULL);
	size_t linked = 0;
	struct stat st;

	for (const struct dirent *d; (d = dir_next(dir, NULL));)
		if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_nlink > 1)
			linked++;
	if (linked > 0 && !f->why[0])
		(void)snprintf(f->why, sizeof(f->why),
			       "%zu of its files %s another name elsewhere (a hard link)", linked,
			       linked == 1 ? "has" : "have");
}

/* --- the run -------------------------------------------------------------------------- */

static int record_check_session(struct record_run *run, const struct store_session *s,
				struct error *e)
{
	struct checkpoint own[VERIFY_MARKS_MAX];
	char folder[STORE_FOLDER_SIZE];
	struct audit_finding f;
	size_t count = 0;

	for (size_t i = 0; i < run->anchor_count && count < VERIFY_MARKS_MAX; i++)
		if (record_anchor_folder(&run->anchors[i], folder) && str_equal(folder, s->folder))
			own[count++] = run->anchors[i];
	record_progress(run, s->folder, 0);
	int r = audit_check(&run->audit, &run->ask->store, s, own, count, &f, e);

	if (r == 0) {
		record_say_links(store_open_session(&run->ask->store, s, NULL), &f);
		record_found(run, s->folder, &f);
	}
	return r;
}

/* Reports sessions that the ledger has and the disk has not. */
static void record_check_missing(struct record_run *run)
{
	struct audit_finding f;

	for (size_t i = 0; i < run->audit.count; i++) {
		const char *folder = run->audit.sessions[i].folder;

		/* It exists now: it began after we listed them. */
		if (run->audit.sessions[i].seen ||
		    faccessat(run->ask->store.dir, folder, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		audit_missing(&run->audit, &run->audit.sessions[i], &f);
		record_found(run, run->audit.sessions[i].folder, &f);
	}
}

static bool record_has(const struct store *store, const char *folder)
{
	for (size_t i = 0; i < store->count; i++)
		if (str_equal(store->sessions[i].folder, folder))
			return true;
	return false;
}

/* Reports a checkpoint of a session that neither the disk nor the ledger has: somebody cut both. */
static void record_check_anchored(struct record_run *run)
{
	char folder[STORE_FOLDER_SIZE];

	for (size_t i = 0; i < run->anchor_count; i++) {
		struct audit_finding f = {.state = AUDIT_WRONG};

		if (!record_anchor_folder(&run->anchors[i], folder) ||
		    record_has(&run->ask->store, folder) || audit_find(&run->audit, folder))
			continue;
		(void)snprintf(f.why, sizeof(f.why),
			       "the checkpoint has %" PRIu64
			       " events of it, and it is gone, from the ledger as well",
			       run->anchors[i].size);
		record_found(run, folder, &f);
	}
}

/* Finds a record.  The whole name of a folder means that one, and no other whose name begins so. */
static const struct store_session *record_find(const struct record_run *run, const char *wanted,
					       struct error *e)
{
	const struct store_session *s = store_find(&run->ask->store, wanted, e);
	bool gone = s && !str_equal(s->folder, wanted) && audit_find(&run->audit, wanted);

	return gone ? NULL : s;
}

/* Reports a session whose folder is gone and which the ledger has, by the folder's name or the
 * session's.  False: there is none. */
static bool record_find_missing(struct record_run *run, const char *wanted, struct error *e)
{
	struct store_session named;
	struct audit_finding f;

	for (size_t i = run->audit.count; i-- > 0;) {
		const struct audit_session *s = &run->audit.sessions[i];

		if (!str_equal(s->folder, wanted) &&
		    (!store_parse_folder(s->folder, &named) || !str_equal(named.name, wanted)))
			continue;
		audit_missing(&run->audit, s, &f);
		record_found(run, s->folder, &f);
		*e = ERROR_INIT;
		return true;
	}
	return false;
}

static void record_check_ledger(struct record_run *run)
{
	struct audit_finding f = {
		.state = run->audit.why[0] ? AUDIT_WRONG
			 : run->audit.entries > 0 && (run->audit.covered > 0 || run->audit.has_key)
				 ? AUDIT_VALID
				 : AUDIT_UNANCHORED};

	if (!run->audit.is_there && !run->audit.why[0])
		return;
	memcpy(f.why, run->audit.why, sizeof(run->audit.why));
	if (!f.why[0] && run->audit.torn > 0)
		(void)snprintf(f.why, sizeof(f.why),
			       "%" PRIu64 " bytes behind its last entry are none", run->audit.torn);
	f.record.events = run->audit.entries;
	record_say_links(openat(run->ask->store.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), &f);
	record_found(run, RECORD_LEDGER, &f);
}

static int record_run_all(struct record_run *run, const struct invocation *i, struct error *e)
{
	const struct store *store = &run->ask->store;
	bool named = i->argument_count > 1;
	size_t count = named ? (size_t)i->argument_count - 1 : store->count;
	int r = 0;

	run->total = count + 1; /* and the ledger */
	run->audit.progress = record_progress;
	run->audit.context = run;
	run->began = clock_ms(CLOCK_MONOTONIC);
	record_check_ledger(run);
	for (size_t n = 0; r == 0 && n < count; n++) {
		const char *wanted = named ? i->arguments[n + 1] : NULL;
		const struct store_session *s =
			named ? record_find(run, wanted, e) : &store->sessions[n];

		if (s)
			r = record_check_session(run, s, e);
		else if (!named || !record_find_missing(run, wanted, e))
			r = e->code;
	}
	if (r == 0 && !named)
		record_check_missing(run);
	if (r == 0)
		record_check_anchored(run);
	record_clear_progress(run);
	return r;
}

/* Says the result in a sentence, and what to do if there was nothing from elsewhere to compare
 * with. */
static void record_sum_up(struct record_run *run)
{
	if (run->done == 0)
		text_printf(&run->text, "Nothing has been recorded yet.\n");
	else if (run->counts[AUDIT_UNANCHORED] > 0 && run->counts[AUDIT_WRONG] == 0)
		text_printf(
			&run->text,
			"Unanchored: whoever can write here could have written all of it. "
			"Keep what 'bawn record anchor' and 'bawn record key' give elsewhere.\n");
}

int record_verify(const struct history *a, const struct invocation *i, struct error *e)
{
	_cleanup_(record_run_fini) struct record_run run = {.ask = a,
							    .text = text_open(STDOUT_FILENO)};
	_cleanup_buf_ struct buf out = BUF_INIT(VERIFY_BYTES_MAX);
	struct json j = JSON_INIT(&out, true);
	int r = record_load(&run, i, e);

	if (invocation_has(i, OPTION_JSON))
		run.json = &j;
	json_open(&j, '[');
	if (r == 0)
		r = record_run_all(&run, i, e);
	json_close(&j, ']');
	/* The user named a record that nobody knows, while something is wrong: that may be the
	 * reason. */
	if (r < 0 && run.counts[AUDIT_WRONG] == 0)
		return r;
	if (run.json)
		text_write(&run.text, &out);
	else
		record_sum_up(&run);
	return run.counts[AUDIT_WRONG]         ? EXIT_FOUND
	       : run.counts[AUDIT_INTERRUPTED] ? EXIT_INTERRUPTED
					       : EXIT_OK;
}
