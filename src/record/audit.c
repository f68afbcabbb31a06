/* SPDX-License-Identifier: Apache-2.0 */
#include "audit.h"

#include "array.h"
#include "fd.h"
#include "seal.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const audit_words[AUDIT_STATE_COUNT] = {
	[AUDIT_VALID] = "valid",     [AUDIT_UNANCHORED] = "unanchored",
	[AUDIT_RUNNING] = "running", [AUDIT_INTERRUPTED] = "interrupted",
	[AUDIT_REMOVED] = "removed", [AUDIT_WRONG] = "wrong",
};

void audit_fini(struct audit *a)
{
	free(a->sessions);
	free(a->leaves);
	explicit_bzero(a, sizeof(*a));
}

/* The user's key as it was before the session of that number.  Callers mostly ask in order. */
static const struct hash *audit_user_key(struct audit *a, uint64_t number)
{
	if (number < a->at) {
		a->user = a->key;
		a->at = 0;
	}
	seal_skip(&a->user, number - a->at);
	a->at = number;
	return &a->user;
}

/* --- the ledger ----------------------------------------------------------------------- */

static int audit_compare_folder(const void *x, const void *y)
{
	const struct audit_session *a = x, *b = y;

	return strcmp(a->folder, b->folder);
}

/* Order of the list: by name; of one name, the newest last. */
static int audit_compare(const void *x, const void *y)
{
	const struct audit_session *a = x, *b = y;
	int r = audit_compare_folder(x, y);

	return r ? r : a->number < b->number ? -1 : a->number > b->number;
}

/* The name of a removed session can be used again: this returns the newest. */
const struct audit_session *audit_find(const struct audit *a, const char *folder)
{
	struct audit_session key = {.number = 0};

	(void)snprintf(key.folder, sizeof(key.folder), "%s", folder);
	const struct audit_session *found =
		a->count ? bsearch(&key, a->sessions, a->count, sizeof(key), audit_compare_folder)
			 : NULL;

	while (found && found + 1 < a->sessions + a->count && str_equal(found[1].folder, folder))
		found++;
	return found;
}

/* While the ledger is read, sessions are in the order of their numbers. */
static struct audit_session *audit_by_number(struct audit *a, uint64_t number)
{
	size_t low = 0, high = a->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a->sessions[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < a->count && a->sessions[low].number == number ? &a->sessions[low] : NULL;
}

static const char *audit_begin(struct audit *a, const struct ledger_entry *entry)
{
	struct audit_session *s = &a->sessions[a->count];
	struct hash mac;

	if (a->count > 0 && entry->number <= s[-1].number)
		return "a session's number comes twice";
	if (a->has_key) {
		seal_ledger(audit_user_key(a, entry->number), entry->covered, &mac);
		if (!hash_equal(&mac, &entry->mac))
			return "the entry was not made with your key: the ledger was written anew";
	}
	memset(s, 0, sizeof(*s));
	(void)snprintf(s->folder, sizeof(s->folder), "%.*s", (int)entry->session.len,
		       (const char *)entry->session.ptr);
	s->number = entry->number;
	a->count++;
	return NULL;
}

static const char *audit_entry(struct audit *a, const struct ledger_entry *entry)
{
	if (entry->kind == LEDGER_CUT)
		return NULL;
	if (entry->kind == LEDGER_BEGIN)
		return audit_begin(a, entry);
	struct audit_session *s = audit_by_number(a, entry->number);

	if (!s || !span_equal(span_of_str(s->folder), entry->session))
		return "it ends a session that was not begun";
	if (entry->kind == LEDGER_REMOVED) {
		s->removed = true;
		(void)snprintf(s->when, sizeof(s->when), "%.*s", (int)entry->frame.wall.len,
			       (const char *)entry->frame.wall.ptr);
		(void)snprintf(s->reason, sizeof(s->reason), "%.*s", (int)entry->reason.len,
			       (const char *)entry->reason.ptr);
		return NULL;
	}
	if (s->ended)
		return "it ends a session a second time";
	s->ended = true;
	s->events = entry->events;
	s->head = entry->head;
	s->root = entry->root;
	s->entry = a->entries;
	return NULL;
}

static int audit_read(struct audit *a, struct span bytes)
{
	struct ledger_reader r = {.bytes = bytes};
	struct ledger_entry entry;
	const char *why = NULL;

	while (!why && ledger_next(&r, &entry) == FEED_DONE) {
		if (!ARRAY_GROW(a->leaves, a->entries) || !ARRAY_GROW(a->sessions, a->count))
			return -ENOMEM;
		why = audit_entry(a, &entry);
		a->leaves[a->entries++] = entry.frame.hash;
	}
	a->torn = r.why || why ? 0 : bytes.len - r.at;
	if (r.why || why)
		(void)snprintf(a->why, sizeof(a->why), "entry %" PRIu64 ", offset %zu: %s",
			       r.seq + (why ? 0 : 1), why ? r.at - entry.frame.len : r.at,
			       why ? why : r.why);
	return 0;
}

/* What the file `seal` says. */
struct audit_seal {
	int state; /* 0, or -errno: then nothing else is known */
	uint64_t next;
	struct hash key;
};

/* Says what is wrong with the seal.  A writer adds an entry before it moves the seal on, and
 * makes the first seal before the first entry. */
static void audit_judge_seal(struct audit *a, const struct audit_seal *s)
{
	uint64_t last = a->count ? a->sessions[a->count - 1].number : 0;
	struct hash made = a->key;

	if (s->state < 0 && (a->entries > 0 || a->has_key))
		(void)snprintf(a->why, sizeof(a->why),
			       "the file seal %s: how many sessions were begun is not known",
			       s->state == -ENOENT ? "is gone" : "cannot be read");
	if (s->state < 0)
		return;
	if (s->next > (a->count ? last + 1 : 0)) {
		(void)snprintf(a->why, sizeof(a->why),
			       "it was cut: %" PRIu64 " sessions were begun, and the last that it "
			       "has is number %" PRIu64,
			       s->next, last);
		return;
	}
	if (!a->has_key)
		return;
	seal_skip(&made, s->next);
	if (!hash_equal(&made, &s->key))
		(void)snprintf(a->why, sizeof(a->why),
			       "the file seal was not made with this key: how many sessions were "
			       "begun is not known");
	explicit_bzero(&made, sizeof(made));
}

/* Reads the ledger's length and the seal under the lock, so that no entry is half written. */
static int audit_look(int dir, int ledger, struct stat *ret_st, struct audit_seal *ret)
{
	while (flock(ledger, LOCK_SH) < 0)
		if (errno != EINTR)
			break; /* a filesystem without locks has no writers either */
	int r = fstat(ledger, ret_st) < 0 ? -errno : 0;

	ret->state = ledger_read_seal(dir, &ret->next, &ret->key);
	(void)flock(ledger, LOCK_UN);
	return r;
}

/* Says why there is no ledger to read. */
static void audit_no_ledger(struct audit *a, int dir, int code)
{
	bool seal = faccessat(dir, "seal", F_OK, AT_SYMLINK_NOFOLLOW) == 0;

	if (code == ELOOP || code == ENXIO)
		(void)snprintf(a->why, sizeof(a->why), "the ledger is no plain file");
	else if (code != ENOENT)
		(void)snprintf(a->why, sizeof(a->why), "the ledger cannot be read: %s",
			       error_words(-code));
	/* Without a seal no session has begun: the first one makes the ledger before the seal, and
	 * then the user gets the key. */
	else if (seal || a->has_key)
		(void)snprintf(a->why, sizeof(a->why), "the ledger is gone%s",
			       seal ? "" : ", and the seal");
}

int audit_ledger(int dir, const struct hash *key, struct audit *ret, struct error *e)
{
	_cleanup_fd_ int fd = openat(dir, "ledger", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	void *bytes = MAP_FAILED;
	struct audit_seal seal = {.state = -ENOENT};
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	ret->has_key = key != NULL;
	if (key)
		ret->key = ret->user = *key;
	if (fd < 0) {
		audit_no_ledger(ret, dir, errno);
		return 0;
	}
	if (audit_look(dir, fd, &st, &seal) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size > LEDGER_MAX) {
		(void)snprintf(ret->why, sizeof(ret->why), "the ledger is no plain file");
		explicit_bzero(&seal, sizeof(seal));
		return 0;
	}
	ret->is_there = true;
	ret->bytes = (uint64_t)st.st_size;
	if (st.st_size > 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (st.st_size > 0 && bytes == MAP_FAILED) {
		explicit_bzero(&seal, sizeof(seal));
		return error_sys(e, -errno, "reading the ledger");
	}
	if (st.st_size > 0) {
		r = audit_read(ret, (struct span){bytes, (size_t)st.st_size});
		(void)munmap(bytes, (size_t)st.st_size);
	}
	if (r < 0)
		return error_sys(e, r, "reading the ledger");
	if (ret->why[0] == '\0')
		audit_judge_seal(ret, &seal);
	explicit_bzero(&seal, sizeof(seal));
	if (ret->count > 0)
		qsort(ret->sessions, ret->count, sizeof(*ret->sessions), audit_compare);
	return 0;
}

void audit_anchor(struct audit *a, const struct checkpoint *c)
{
	struct hash root;

	if (a->why[0])
		return;
	if (c->size > a->entries) {
		(void)snprintf(a->why, sizeof(a->why),
			       "it was cut: the checkpoint has %" PRIu64
			       " entries, and it has %" PRIu64,
			       c->size, a->entries);
		return;
	}
	merkle_root_of(a->leaves, c->size, &root);
	if (!hash_equal(&root, &c->root))
		(void)snprintf(a->why, sizeof(a->why),
			       "it was written anew: its first %" PRIu64
			       " entries are not those of the checkpoint",
			       c->size);
	else if (c->size > a->covered)
		a->covered = c->size;
}

/* --- a session ------------------------------------------------------------------------ */

static void audit_say(struct audit_finding *f, enum audit_state state, const char *why)
{
	f->state = state;
	(void)snprintf(f->why, sizeof(f->why), "%.300s", why);
}

/* Verifies all segments of a session. */
static int audit_read_session(const struct audit *a, const char *name, int folder, struct verify *v,
			      struct audit_finding *f, struct error *e)
{
	uint32_t behind = 0;
	uint32_t count = store_count_segments(folder, &behind);

	for (uint32_t number = 1; number <= count; number++) {
		_cleanup_segment_ struct segment segment = SEGMENT_INIT;
		struct error why = ERROR_INIT;
		int r = segment_open(folder, number, &segment, &why);

		if (r == -ENOENT || r == -ENOMEM)
			return error_sys(e, r, "reading segment %u", number);
		if (r < 0) {
			audit_say(f, AUDIT_WRONG, why.text);
			break;
		}
		f->bytes += segment.bytes.len;
		if (!verify_segment(v, segment.bytes))
			break;
		if (a->progress)
			a->progress(a->context, name, f->bytes);
	}
	verify_end(v);
	if (f->state == AUDIT_WRONG)
		return 0;
	if (f->record.state == VERIFY_BROKEN) {
		audit_say(f, AUDIT_WRONG, f->record.why);
		f->has_place = true;
	} else if (behind) {
		(void)snprintf(f->why, sizeof(f->why), "segment %u is missing, and %u is there",
			       count + 1, behind);
		f->state = AUDIT_WRONG;
	}
	return 0;
}

/* Compares the record with what the ledger says of its end. */
static void audit_hold_against(const struct audit_session *s, struct audit_finding *f)
{
	const struct verify_result *v = &f->record;

	if (v->events > 0 && v->number != s->number) {
		(void)snprintf(f->why, sizeof(f->why),
			       "this is the record of session number %" PRIu64
			       ", in the place of number %" PRIu64,
			       v->number, s->number);
		f->state = AUDIT_WRONG;
	} else if (!s->ended) {
		audit_say(f, AUDIT_INTERRUPTED,
			  v->state == VERIFY_WHOLE ? "its end is not entered in the ledger" : "");
	} else if (v->events >= s->events && v->state != VERIFY_WHOLE) {
		audit_say(f, AUDIT_WRONG, "bytes stand behind its end that bawn did not write");
	} else if (v->events < s->events) {
		(void)snprintf(f->why, sizeof(f->why),
			       "its tail was cut: it ended with event %" PRIu64
			       ", and event %" PRIu64 " is the last that is here",
			       s->events, v->events);
		f->state = AUDIT_WRONG;
	} else if (v->events > s->events || !hash_equal(&v->head, &s->head) ||
		   !hash_equal(&v->root, &s->root)) {
		(void)snprintf(f->why, sizeof(f->why),
			       "its chain was written anew: event %" PRIu64
			       " is not the one that the ledger has as its end",
			       s->events);
		f->state = AUDIT_WRONG;
	}
}

/* Compares the session's own checkpoints; true when one covers all of it. */
static bool audit_own_anchors(const struct verify *v, struct audit_finding *f)
{
	bool covered = false;

	for (size_t i = 0; i < v->mark_count && f->state != AUDIT_WRONG; i++) {
		const struct verify_mark *m = &v->marks[i];

		if (m->size > f->record.events)
			(void)snprintf(f->why, sizeof(f->why),
				       "its tail was cut: the checkpoint has %" PRIu64
				       " events, and it has %" PRIu64,
				       m->size, f->record.events);
		else if (!hash_equal(&m->root, &m->found))
			(void)snprintf(f->why, sizeof(f->why),
				       "its chain was written anew: its first %" PRIu64
				       " events are not those of the checkpoint",
				       m->size);
		else {
			covered = covered || m->size == f->record.events;
			continue;
		}
		f->state = AUDIT_WRONG;
	}
	return covered;
}

/* The ledger says that the session was removed, but its folder is there.  That is right when it
 * is empty, or when `bawn record prune` was stopped too early and the record is the one in the
 * ledger. */
static void audit_left(const struct audit *a, const struct audit_session *s,
		       struct audit_finding *f)
{
	const struct verify_result *v = &f->record;
	bool same = f->state != AUDIT_WRONG && s->ended && v->state == VERIFY_WHOLE &&
		    v->number == s->number && v->events == s->events &&
		    hash_equal(&v->head, &s->head);

	if (same || (f->state != AUDIT_WRONG && f->bytes == 0))
		audit_missing(a, s, f);
	else
		audit_say(f, AUDIT_WRONG,
			  "you removed it, and something stands in its place: 'bawn record prune' "
			  "removes that too");
}

static int audit_check_once(struct audit *a, const struct store *store,
			    const struct store_session *session, const struct checkpoint *anchors,
			    size_t anchor_count, struct audit_finding *ret, struct error *e)
{
	const struct audit_session *s = audit_find(a, session->folder);
	bool running = store_is_running(store, session);
	_cleanup_fd_ int folder = store_open_session(store, session, e);
	struct hash key;
	struct verify v;

	memset(ret, 0, sizeof(*ret));
	ret->state = AUDIT_UNANCHORED;
	if (folder == -ENOENT)
		return folder;
	if (s)
		a->sessions[s - a->sessions].seen = true;
	/* An error with one session is a finding; the caller goes on with the others. */
	if (folder < 0) {
		(void)snprintf(ret->why, sizeof(ret->why), "its folder cannot be opened: %s",
			       error_words(folder));
		ret->state = AUDIT_WRONG;
		*e = ERROR_INIT;
		return 0;
	}
	if (s && a->has_key) {
		struct hash user = *audit_user_key(a, s->number);

		seal_take_session(&user, &key);
		explicit_bzero(&user, sizeof(user));
	}
	verify_begin(&v, s && a->has_key ? &key : NULL, &ret->record);
	explicit_bzero(&key, sizeof(key));
	for (size_t i = 0; i < anchor_count; i++)
		verify_mark(&v, anchors[i].size, &anchors[i].root);
	int r = audit_read_session(a, session->folder, folder, &v, ret, e);

	if (r < 0)
		return r;
	if (s && s->removed) {
		audit_left(a, s, ret);
		return 0;
	}
	/* A session makes its folder a moment before its entry `begin`. */
	if (ret->state != AUDIT_WRONG && !s && (running || ret->bytes == 0))
		audit_say(ret, AUDIT_INTERRUPTED, "nothing was recorded");
	else if (ret->state != AUDIT_WRONG && !s)
		audit_say(ret, AUDIT_WRONG,
			  "the ledger does not know it: the ledger was cut, or the record is not "
			  "of this machine");
	if (ret->state != AUDIT_WRONG && s)
		audit_hold_against(s, ret);
	bool covered = audit_own_anchors(&v, ret);

	if (ret->state == AUDIT_INTERRUPTED && running)
		audit_say(ret, AUDIT_RUNNING, "");
	if (ret->state == AUDIT_UNANCHORED && s &&
	    (covered || s->entry < a->covered || a->has_key) && a->why[0] == '\0')
		ret->state = AUDIT_VALID;
	return 0;
}

/* Reads the ledger again if it has grown; 1 when it had, 0 or -errno. */
static int audit_again(struct audit *a, int dir, struct error *e)
{
	struct audit fresh;
	struct stat st;

	if (fstatat(dir, "ledger", &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (uint64_t)st.st_size <= a->bytes)
		return 0;
	int r = audit_ledger(dir, a->has_key ? &a->key : NULL, &fresh, e);

	if (r < 0 || fresh.entries < a->entries || a->why[0]) {
		audit_fini(&fresh);
		return r;
	}
	fresh.covered = a->covered;
	fresh.progress = a->progress;
	fresh.context = a->context;
	for (size_t i = 0; i < a->count; i++) {
		const struct audit_session *s = audit_find(&fresh, a->sessions[i].folder);

		if (s)
			fresh.sessions[s - fresh.sessions].seen = a->sessions[i].seen;
	}
	audit_fini(a);
	*a = fresh;
	return 1;
}

int audit_check(struct audit *a, const struct store *store, const struct store_session *session,
		const struct checkpoint *anchors, size_t anchor_count, struct audit_finding *ret,
		struct error *e)
{
	int r = audit_check_once(a, store, session, anchors, anchor_count, ret, e);

	if (r != -ENOENT &&
	    (r < 0 || (ret->state != AUDIT_WRONG && ret->state != AUDIT_INTERRUPTED)))
		return r;
	int grown = audit_again(a, store->dir, e);

	if (grown < 0)
		return grown;
	if (r == -ENOENT) {
		const struct audit_session *s = audit_find(a, session->folder);

		if (!s)
			return r;
		*e = ERROR_INIT;
		a->sessions[s - a->sessions].seen = true;
		audit_missing(a, s, ret);
		return 0;
	}
	return grown ? audit_check_once(a, store, session, anchors, anchor_count, ret, e) : 0;
}

/* NULL, or why the ledger contradicts the record. */
static const char *audit_against(const struct audit *a, const struct audit_session *s,
				 uint64_t number, uint64_t seq, const char head[HASH_HEX])
{
	char end[HASH_HEX];

	if (!s && a->why[0])
		return a->why;
	/* A session without an event need not be in the ledger. */
	if (!s)
		return seq > 0 ? "the ledger does not know it" : NULL;
	if (s->removed)
		return "the ledger says that you removed it";
	if (seq > 0 && number != s->number)
		return "it is the record of another session";
	if (!s->ended)
		return NULL;
	hash_format(&s->head, end);
	return seq < s->events ? "its tail was cut"
	       : seq > s->events || memcmp(head, end, HASH_HEX) != 0
		       ? "it does not end with the event that the ledger has as its end"
		       : NULL;
}

/* Reads the ledger if it has grown.  It only grows, so one of the same length has not changed. */
static int audit_hold(struct audit *held, int dir, struct error *e)
{
	struct stat st;

	if (held->is_there && fstatat(dir, "ledger", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (uint64_t)st.st_size == held->bytes)
		return 0;
	audit_fini(held);
	return audit_ledger(dir, NULL, held, e);
}

int audit_vouch(struct audit *held, const struct store *store, const struct store_session *session,
		uint64_t number, uint64_t seq, const char head[HASH_HEX], struct error *e)
{
	int r = audit_hold(held, store->dir, e);

	if (r < 0)
		return r;
	const char *why = audit_against(held, audit_find(held, session->folder), number, seq, head);

	return why ? error_set(e, -EBADMSG, "the record %s is not what was written: %s",
			       session->folder, why)
		   : 0;
}

void audit_missing(const struct audit *a, const struct audit_session *s, struct audit_finding *ret)
{
	(void)a;
	memset(ret, 0, sizeof(*ret));
	ret->state = s->removed ? AUDIT_REMOVED : AUDIT_WRONG;
	if (s->removed)
		(void)snprintf(ret->why, sizeof(ret->why), "by you on %.10s, for its %s", s->when,
			       s->reason);
	else
		(void)snprintf(
			ret->why, sizeof(ret->why),
			"its folder is gone, and the ledger does not say that you removed it");
}
