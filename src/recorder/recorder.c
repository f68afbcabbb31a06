/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder.h"

#include "advice.h"
#include "channel.h"
#include "config.h"
#include "event.h"
#include "fd.h"
#include "first_keep.h"
#include "ledger.h"
#include "logfile.h"
#include "loop.h"
#include "message_box.h"
#include "message_gate.h"
#include "message_control.h"
#include "plan_read.h"
#include "process.h"
#include "profile.h"
#include "reconcile.h"
#include "syncer.h"
#include "watch.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDER_NEW, RECORDER_SERVING };
enum {
	RECORDER_FORMAT = 1,
	RECORDER_COMMAND_MAX = 4096, /* bytes of the command; escaped at most six times as many */
	RECORDER_LISTENS = 64,       /* ports that are shown */
	RECORDER_PATIENCE_MS = 2000, /* for a gate that is being ended */
	RECORDER_BEHIND_MAX = 50000, /* when the disk is this many events behind, senders wait */
};

/* A sender of notes, and up to where we answered it. */
struct recorder_sender {
	struct channel channel; /* fd -1: there is none */
	uint32_t kinds;         /* the set of kinds of notes that it may send */
	struct loop_handle handle;
	uint64_t asked; /* the last id that it waits for, and the event of that note */
	uint64_t asked_seq;
	uint64_t promised; /* the last id that is on the disk when the syncer answers */
	uint64_t answered;
	bool paused;
};

struct recorder {
	struct loop loop;
	struct recorder_sender keeper, gate;
	struct arena arena;
	const struct plan *plan;
	struct hash plan_hash;
	struct writer writer;
	struct logfile logfile;
	struct syncer syncer;
	uint64_t syncing; /* the syncer is working on the events up to this one */
	size_t listens;   /* ports of the box at which somebody has listened */
	int all, own;     /* folders: all records, this one */
	int ledger;
	char folder[LEDGER_NAME_MAX + 1], name[LEDGER_NAME_MAX + 1];
	uint64_t number;
	int timer;
	bool settled; /* the start is over, and its memory is given back */
	bool timer_set, begun, ended;
	bool full;       /* there is room for the end alone, and the keeper knows */
	uint64_t status; /* of the session's command; as wait(2) */
	bool has_status;
	struct watch *watch;      /* NULL: the box is not watched */
	struct wishes *wishes;    /* NULL: nobody asks */
	struct who_made *made;    /* likewise */
	struct first_keep shared; /* of a repository: first_keep_begin_shared */
	struct first_keep first;
	struct reconcile reconcile;
	struct reconcile_result compared;
	struct error failure;
};

/* --- the disk ------------------------------------------------------------------------- */

static bool recorder_is_disk_trouble(int code)
{
	return code == -ENOSPC || code == -EDQUOT || code == -EFBIG || code == -EROFS ||
	       code == -EIO;
}

static int recorder_fail(struct recorder *r, int code, const char *what)
{
	if (r->failure.code == 0 && (code == -EPIPE || code == -ECONNRESET))
		(void)error_set(&r->failure, code, "%s: a process of the recorder's was ended",
				what);
	else if (r->failure.code == 0)
		(void)error_sys(&r->failure, code, "%s", what);
	loop_stop(&r->loop);
	return 0;
}

static void recorder_answer(struct recorder *r, struct recorder_sender *s)
{
	const struct message_recorded m = {s->promised};

	if (s->channel.fd < 0 || s->promised == s->answered)
		return;
	int ret = message_send(s->channel.fd, MESSAGE_RECORDED, &message_recorded_schema, &m, NULL,
			       0);

	/* If a sender does not read its answers, we do not wait for it. */
	if (ret == 0)
		s->answered = s->promised;
	else if (ret != -EAGAIN && ret != -EPIPE && ret != -ECONNRESET)
		(void)recorder_fail(r, ret, "answering a process that waits for the record");
}

/* Notes what will be on the disk when the running sync is done. */
static void recorder_promise(struct recorder *r)
{
	r->syncing = r->writer.seq - r->writer.waiting;
	if (r->keeper.asked_seq <= r->syncing)
		r->keeper.promised = r->keeper.asked;
	if (r->gate.asked_seq <= r->syncing)
		r->gate.promised = r->gate.asked;
}

static bool recorder_is_behind(const struct recorder *r)
{
	return r->writer.seq - r->writer.durable > RECORDER_BEHIND_MAX;
}

static void recorder_pace(struct recorder *r, struct recorder_sender *s)
{
	bool wait = recorder_is_behind(r);

	if (s->channel.fd < 0 || wait == s->paused)
		return;
	s->paused = wait;
	(void)loop_set_events(&r->loop, s->handle, wait ? 0 : EPOLLIN);
}

static bool recorder_is_waited_for(const struct recorder *r)
{
	return r->keeper.asked_seq > r->writer.durable || r->gate.asked_seq > r->writer.durable;
}

static int recorder_set_timer(struct recorder *r)
{
	const struct itimerspec when = {.it_value = {.tv_sec = WRITER_WAIT_MS / 1000,
						     .tv_nsec = WRITER_WAIT_MS % 1000 * 1000000L}};

	if (r->timer_set)
		return 0;
	r->timer_set = true;
	return timerfd_settime(r->timer, 0, &when, NULL) < 0 ? -errno : 0;
}

/* Ends a full segment with a seal: nobody has to look at two files for one seal. */
static int recorder_next_segment(struct recorder *r)
{
	int ret = writer_commit(&r->writer);

	if (ret == 0)
		ret = logfile_next(&r->logfile, r->own, &r->writer);
	if (ret == 0) {
		recorder_promise(r);
		recorder_answer(r, &r->keeper);
		recorder_answer(r, &r->gate);
	}
	return ret;
}

/* Asks the keeper to end the box.  The recorder itself works: the record goes on to its end. */
static void recorder_end_box(void *context, const struct error *why)
{
	struct recorder *r = context;
	const struct message_failed m = {(uint64_t)-why->code, why->text, why->next};

	(void)message_send(r->keeper.channel.fd, MESSAGE_UNCOVERED, &message_failed_schema, &m,
			   NULL, 0);
}

/* What to do about a record that cannot be written. */
static void recorder_advise(struct error *e)
{
	error_next(e, "%s--without record runs without one.",
		   recorder_is_disk_trouble(e->code)
			   ? "Make room where your records are, or set XDG_STATE_HOME; "
			   : "");
}

/* The disk is full, and what was reserved is for the end: writes down why, and asks the keeper to end
 * the box. */
static int recorder_tell_full(struct recorder *r, int code)
{
	struct error why = ERROR_INIT;
	struct note n;

	r->full = true;
	(void)error_sys(&why, code, "writing the record");
	recorder_advise(&why);
	note_begin(&n, NOTE_LIMIT, "reached");
	note_word(&n, NOTE_FIELD_HOW, "kernel");
	note_word(&n, NOTE_FIELD_VERDICT, "refused");
	note_word(&n, NOTE_FIELD_HOST, "disk");
	note_word(&n, NOTE_FIELD_REASON, why.text);
	recorder_end_box(r, &why);
	return event_write(&r->writer, &n.m);
}

/* Sees to it that there is room for the end, whatever comes. */
static int recorder_look_ahead(struct recorder *r)
{
	int ret = r->full ? 0 : logfile_ahead(&r->logfile, &r->writer);

	if (ret == 0 && !r->full && logfile_is_full(&r->logfile, &r->writer) && !r->syncer.busy)
		ret = recorder_next_segment(r);
	return recorder_is_disk_trouble(ret) && r->writer.failed == 0 ? recorder_tell_full(r, ret)
								      : ret;
}

/* After something was written: makes sure that it gets to the disk in time. */
static int recorder_settle(struct recorder *r, bool now)
{
	struct writer *w = &r->writer;
	int ret = 0;

	if (now || recorder_is_waited_for(r))
		ret = writer_flush(w);
	if (ret == 0)
		ret = recorder_look_ahead(r);
	/* What is not flushed yet is a batch that still fills; the timer gives it a second. */
	if (ret == 0 && w->seq - w->waiting > w->durable && !r->syncer.busy) {
		recorder_promise(r);
		ret = syncer_ask(&r->syncer, &w->fd, 1);
	}
	if (ret == 0 && w->waiting > 0)
		ret = recorder_set_timer(r);
	recorder_pace(r, &r->keeper);
	recorder_pace(r, &r->gate);
	if (r->watch)
		watch_pause(r->watch, recorder_is_behind(r));
	return ret < 0 ? recorder_fail(r, ret, "writing the record") : 0;
}

static int recorder_on_synced(void *context, uint32_t events)
{
	struct recorder *r = context;
	int result = 0;
	int ret = syncer_answer(&r->syncer, &result);

	(void)events;
	if (ret == 0)
		ret = result;
	if (ret < 0) {
		r->writer.failed = ret;
		return recorder_fail(r, ret, "writing the record to the disk");
	}
	writer_synced(&r->writer, r->syncing);
	recorder_answer(r, &r->keeper);
	recorder_answer(r, &r->gate);
	return recorder_settle(r, false);
}

static int recorder_on_timer(void *context, uint32_t events)
{
	struct recorder *r = context;
	uint64_t times;

	(void)events;
	if (read(r->timer, &times, sizeof(times)) < 0)
		return 0;
	r->timer_set = false;
	if (!r->settled) {
		r->settled = true;
		process_forget_start();
	}
	return recorder_settle(r, true);
}

/* --- notes ---------------------------------------------------------------------------- */

static int recorder_write(struct recorder *r, const struct message_note *note)
{
	int ret = event_write(&r->writer, note);

	if (ret != -EMSGSIZE)
		return ret;
	/* Too long for one event: only a broken sender sends such a note. */
	struct note gap;

	note_begin(&gap, NOTE_GAP, NULL);
	note_number(&gap, NOTE_FIELD_COUNT_OF, 1);
	note_word(&gap, NOTE_FIELD_REASON, "an event was too long");
	return event_write(&r->writer, &gap.m);
}

/* What a note of the gate says about a name or a connection. */
struct recorder_refusal {
	bool refused;
	bool connect;
	uint16_t port;
	struct span host;
};

static struct recorder_refusal recorder_refusal_of(const struct message_note *note)
{
	struct recorder_refusal ret = {.refused = false};
	bool refused = false;

	for (size_t i = 0; i < note->items.count; i++) {
		const struct note_item *item = &note->items.items[i];

		if (item->field == NOTE_FIELD_OP)
			ret.connect = span_equal(item->text, SPAN_LITERAL("connect"));
		else if (item->field == NOTE_FIELD_VERDICT)
			refused = span_equal(item->text, SPAN_LITERAL("refused"));
		else if (item->field == NOTE_FIELD_HOST)
			ret.host = item->text;
		else if (item->field == NOTE_FIELD_PORT)
			ret.port = (uint16_t)item->number;
	}
	ret.refused = refused && (note->kind == NOTE_DNS || note->kind == NOTE_NETWORK);
	return ret;
}

/*
 * The execution that asked for what was refused; 0: unknown.  Of a connection the gate only tells
 * the port.  A program asks for a name by a connection to the gate, and the last one was just now;
 * but when a name is asked for again, the gate counts and tells it later, when another program may
 * have been the last.
 */
static uint64_t recorder_who_tried(const struct recorder *r, const struct message_note *note,
				   const struct recorder_refusal *tried)
{
	if (!tried->refused || wishes_has(r->wishes, MESSAGE_WANTED_HOST, tried->host))
		return 0;
	if (note->kind == NOTE_DNS)
		return watch_who_asked(r->watch);
	return tried->connect && tried->port ? watch_who_connected(r->watch, NULL, tried->port) : 0;
}

/* Adds to a note about a connection or a name which execution asked for it, as far as the watch has
 * seen.  Returns that execution; 0: nobody knows.  `room` is for the longer note. */
static uint64_t recorder_attribute(const struct recorder *r, struct message_note *note,
				   const struct recorder_refusal *tried,
				   struct note_item room[NOTE_ITEMS_MAX])
{
	static const char by[] = "reported";
	const uint8_t *inside = note->inside.ptr;
	uint64_t exec = 0;
	size_t before = 0;

	if (!r->watch || note->items.count + 2 > NOTE_ITEMS_MAX)
		return 0;
	if (note->inside.len == NOTE_INSIDE)
		exec = watch_who_connected(r->watch, inside,
					   (uint16_t)(inside[16] << 8 | inside[17]));
	else
		exec = recorder_who_tried(r, note, tried);
	if (exec == 0)
		return 0;
	while (before < note->items.count && note->items.items[before].field < NOTE_FIELD_EXEC)
		before++;
	if (before < note->items.count && note->items.items[before].field <= NOTE_FIELD_BY)
		return 0; /* the note says it itself */
	memcpy(room, note->items.items, before * sizeof(room[0]));
	room[before] = (struct note_item){.field = NOTE_FIELD_EXEC, .number = exec};
	room[before + 1] = (struct note_item){.field = NOTE_FIELD_BY,
					      .text = {(const uint8_t *)by, sizeof(by) - 1}};
	memcpy(room + before + 2, note->items.items + before,
	       (note->items.count - before) * sizeof(room[0]));
	note->items.items = room;
	note->items.count += 2;
	return exec;
}

static int recorder_take_notes(struct recorder *r, struct recorder_sender *s, struct span body,
			       struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1u << 20);
	struct reader in = reader_of(body);
	struct message_note note;
	struct note_item room[NOTE_ITEMS_MAX];
	int more, ret = 0;

	while (ret == 0 && (more = note_decode(&in, &note, &arena, e)) != 0) {
		if (more < 0)
			return more;
		if (!(s->kinds >> note.kind & 1))
			return error_set(e, -EBADMSG, "it sent a note about %s, which others write",
					 note_kinds[note.kind]);
		const struct recorder_refusal refusal = recorder_refusal_of(&note);
		uint64_t exec = recorder_attribute(r, &note, &refusal, room);

		if (refusal.refused && refusal.host.len > 0)
			wishes_add(r->wishes, MESSAGE_WANTED_HOST, exec, refusal.host);
		ret = recorder_write(r, &note);
		if (note.id > s->asked) {
			s->asked = note.id;
			s->asked_seq = r->writer.seq;
		}
	}
	if (ret < 0)
		return recorder_fail(r, ret, "writing the record");
	return recorder_settle(r, false);
}

static int recorder_on_keeper_notes(void *context, struct channel_packet *packet, struct error *e)
{
	struct recorder *r = context;

	return recorder_take_notes(r, &r->keeper, packet->body, e);
}

static int recorder_on_gate_notes(void *context, struct channel_packet *packet, struct error *e)
{
	struct recorder *r = context;

	return recorder_take_notes(r, &r->gate, packet->body, e);
}

/* What the gate knows by itself.  Others know what ran in the box, what was done to files and who
 * changed the rules: a gate that somebody took over must not be able to invent that. */
#define RECORDER_GATE_KINDS                                                           \
	(1u << NOTE_NETWORK | 1u << NOTE_DNS | 1u << NOTE_SECRET | 1u << NOTE_LIMIT | \
	 1u << NOTE_POLICY | 1u << NOTE_GAP)

static const struct channel_rule recorder_gate_rules[] = {
	{MESSAGE_NOTES, "NOTES", CHANNEL_BYTES_MAX, 0, 0, 1u << RECORDER_SERVING,
	 recorder_on_gate_notes},
};

/* The gate is gone, or sent something wrong: we stop listening, and the keeper sees to the rest. */
static int recorder_lose_gate(struct recorder *r)
{
	loop_remove(&r->loop, &r->gate.handle);
	fd_close(&r->gate.channel.fd);
	return 0;
}

static int recorder_on_gate(void *context, uint32_t events)
{
	struct recorder *r = context;

	(void)events;
	return channel_serve(&r->gate.channel) ? 0 : recorder_lose_gate(r);
}

/* --- the workspace -------------------------------------------------------------------- */

static int recorder_on_digest(void *context, const struct scanner_digest *digest)
{
	struct recorder *r = context;
	int ret = reconcile_write_digest(&r->writer, digest);

	return ret < 0 ? recorder_fail(r, ret, "writing the record") : recorder_settle(r, false);
}

/* Runs in the scanner: the sealing key is not for it. */
static void recorder_forget(void *context)
{
	struct recorder *r = context;

	explicit_bzero(&r->writer.key, sizeof(r->writer.key));
}

static void recorder_serve_digests(struct recorder *r)
{
	const struct scanner_to to = {.loop = &r->loop,
				      .on_digest = recorder_on_digest,
				      .forget = recorder_forget,
				      .context = r};

	reconcile_serve(&r->reconcile, r->all, &to);
}

static void recorder_show(struct recorder *r, const struct message_event *m)
{
	(void)message_send(r->keeper.channel.fd, MESSAGE_EVENT, &message_event_schema, m, NULL, 0);
}

static void recorder_on_wanted(void *context, const struct message_event *m)
{
	recorder_show(context, m);
}

/* A box may listen at every port that there is: the first ones are shown, and the record has all. */
static void recorder_on_listens(void *context, uint16_t port)
{
	struct recorder *r = context;

	if (r->listens++ < RECORDER_LISTENS)
		recorder_show(r, &(struct message_event){.kind = MESSAGE_EVENT_LISTENS,
							 .allowed = true,
							 .port = port});
}

static void recorder_on_crowded(void *context, const char *why)
{
	recorder_show(context, &(struct message_event){.kind = MESSAGE_EVENT_LIMIT,
						       .host = "processes",
						       .count = 1,
						       .reason = why});
}

static void recorder_on_progress(void *context, uint64_t files)
{
	recorder_show(context,
		      &(struct message_event){.kind = MESSAGE_EVENT_COMPARING, .count = files});
}

/* For `bawn undo`.  What does not fit there is in the record. */
static void recorder_on_unattributed(void *context, const char *path, uint32_t mode)
{
	struct recorder *r = context;

	(void)first_keep_unseen(&r->first, path, mode);
}

/* Every process of the box is gone: compares what changed with what the events say. */
static int recorder_compare(struct recorder *r)
{
	struct reconcile_result *c = &r->compared;

	r->reconcile.on_progress = recorder_on_progress;
	r->reconcile.progress_context = r;
	_cleanup_first_kept_ struct first_kept kept = FIRST_KEPT_INIT;

	if (r->first.dir >= 0 && r->first.direct) {
		r->reconcile.on_unattributed = recorder_on_unattributed;
		r->reconcile.unattributed_context = r;
		if (first_kept_open(&kept, r->first.dir, r->reconcile.since) == 0)
			r->reconcile.kept = &kept;
	}
	int ret = reconcile_end(&r->reconcile, &r->writer, c);

	r->reconcile.kept = NULL;

	for (size_t i = 0; i < c->shown_count; i++)
		recorder_show(r,
			      &(struct message_event){.kind = MESSAGE_EVENT_UNATTRIBUTED,
						      .host = c->shown[i].path,
						      .count = c->unattributed,
						      .reason = compare_words[c->shown[i].kind]});
	for (size_t i = 0; i < r->reconcile.count; i++)
		if (r->reconcile.trees[i].changed > 0)
			recorder_show(
				r, &(struct message_event){.kind = MESSAGE_EVENT_WROTE,
							   .host = r->reconcile.trees[i].target,
							   .count = r->reconcile.trees[i].changed});
	return ret;
}

/* --- the box -------------------------------------------------------------------------- */

static int recorder_on_watched(void *context)
{
	return recorder_settle(context, false);
}

/* A program runs: asks for its digest.  The scanner asks for each file once. */
static void recorder_on_ran(void *context, pid_t pid, struct span path)
{
	struct recorder *r = context;
	char name[64];

	(void)snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		scanner_digest(&r->reconcile.scanner, fd, path);
}

static int recorder_make_watch(struct recorder *r, struct error *e)
{
	r->wishes = wishes_new();
	if (r->first.dir >= 0)
		r->made = who_made_new(r->first.dir, r->first.inside);
	const struct watch_to to = {.loop = &r->loop,
				    .writer = &r->writer,
				    .plan = r->plan,
				    .touched = r->reconcile.count ? &r->reconcile.touched : NULL,
				    .first = &r->first,
				    .shared = &r->shared,
				    .wishes = r->wishes,
				    .made = r->made,
				    .since = r->reconcile.count ? r->reconcile.since : 0,
				    .wrote = recorder_on_watched,
				    .ran = recorder_on_ran,
				    .listens = recorder_on_listens,
				    .crowded = recorder_on_crowded,
				    .forget = recorder_forget,
				    .end = recorder_end_box,
				    .context = r};

	r->watch = watch_new(&to, e);
	return r->watch ? 0 : e->code;
}

static int recorder_on_watch(void *context, struct channel_packet *packet, struct error *e)
{
	struct recorder *r = context;

	if (!r->watch)
		return error_set(e, -EPROTO, "a watch over a box that has none");
	const bool bound = packet->fd_count > 1;

	return watch_take(r->watch, TAKE_FD(packet->fds[0]), bound ? TAKE_FD(packet->fds[1]) : -1,
			  e);
}

/* --- begin and end -------------------------------------------------------------------- */

/* Puts as much of the command as fits, and how much is missing. */
static void recorder_put_command(struct buf *event, const struct plan *p)
{
	size_t room = RECORDER_COMMAND_MAX, missing = 0;

	event_put_list_begin(event, NOTE_FIELD_ARGV);
	for (size_t i = 0; i < p->argv.count; i++) {
		struct span word = span_of_str(p->argv.items[i].text);
		size_t n = word.len < room ? word.len : room;

		missing += word.len - n;
		room -= n;
		if (n > 0 || word.len == 0)
			event_put_list_item(event, (struct span){word.ptr, n});
		room -= room > 0;
	}
	event_put_list_end(event);
	if (missing > 0)
		event_put_number(event, NOTE_FIELD_CUT, missing);
}

static int recorder_write_begin(struct recorder *r)
{
	const struct plan *p = r->plan;
	struct buf *event = event_begin(&r->writer, NOTE_SESSION);
	char hex[HASH_HEX + 1];

	hash_format(&r->plan_hash, hex);
	hex[HASH_HEX] = '\0';
	event_put_word(event, NOTE_FIELD_OP, "begin");
	event_put_word(event, NOTE_FIELD_HOW, "kernel");
	recorder_put_command(event, p);
	event_put_text(event, NOTE_FIELD_CWD, span_of_str(p->cwd));
	event_put_text(event, NOTE_FIELD_NAME, span_of_str(r->name));
	event_put_number(event, NOTE_FIELD_NUMBER, r->number);
	event_put_word(event, NOTE_FIELD_PLAN, hex);
	event_put_word(event, NOTE_FIELD_VERSION, BAWN_VERSION);
	event_put_number(event, NOTE_FIELD_FORMAT, RECORDER_FORMAT);
	event_put_text(event, NOTE_FIELD_WORKSPACE, span_of_str(p->workspace));
	event_put_word(event, NOTE_FIELD_ACCESS, plan_access_words[p->workspace_access]);
	event_put_word(event, NOTE_FIELD_AGENT, p->preset);
	event_put_word(event, NOTE_FIELD_BACKEND, plan_backend_words[p->backend]);
	event_put_list_begin(event, NOTE_FIELD_WITHOUT);
	for (size_t i = 0; i < p->without.count; i++)
		event_put_list_item(event,
				    span_of_str(plan_layer_words[p->without.items[i].layer]));
	event_put_list_end(event);
	return writer_end(&r->writer);
}

/*
 * Sends keys and names of this session to the disk, in an order in which any part of it is a valid
 * ledger and record.  The command does not wait for that; whatever we acknowledge does.
 */
static int recorder_sync_begin(struct recorder *r, int seal)
{
	const int files[] = {r->ledger, seal, r->writer.fd, r->own, r->all};
	int ret = writer_flush(&r->writer);

	recorder_promise(r);
	return ret < 0 ? ret : syncer_ask(&r->syncer, files, BAWN_ARRAY_SIZE(files));
}

static int recorder_open(struct recorder *r, struct error *e)
{
	struct ledger_begun begun;

	/* Whoever holds this lock works on the session: nobody compresses or removes it.  We may
	 * wait a moment for a process that looks whether it is held. */
	if (flock(r->own, LOCK_EX) < 0)
		return error_sys(e, -errno, "locking the session's record");
	r->ledger = ledger_open(r->all, e);
	if (r->ledger < 0)
		return r->ledger;
	int ret = ledger_begin_unsynced(r->all, r->ledger, r->folder, &begun, e);

	if (ret < 0)
		return ret;
	r->number = begun.number;
	ret = logfile_first(&r->logfile, r->own, true);
	if (ret == 0) {
		writer_init(&r->writer, r->logfile.fd, &begun.key);
		r->writer.deferred = true;
		r->begun = true;
		ret = recorder_write_begin(r);
	}
	if (ret == 0)
		ret = recorder_sync_begin(r, begun.seal);
	fd_close(&begun.seal);
	explicit_bzero(&begun, sizeof(begun));
	return ret < 0 ? error_sys(e, ret, "beginning the session's record") : 0;
}

static int recorder_on_record(void *context, struct channel_packet *packet, struct error *e)
{
	struct recorder *r = context;
	struct message_record m;
	_cleanup_arena_ struct arena arena = ARENA_INIT(4096);
	int ret = message_decode(packet->body, &message_record_schema, &m, &arena, e);

	if (ret < 0)
		return ret;
	if (strlen(m.folder) > LEDGER_NAME_MAX || strlen(m.name) > LEDGER_NAME_MAX)
		return error_set(e, -EPROTO, "a name that is too long");
	(void)snprintf(r->folder, sizeof(r->folder), "%s", m.folder);
	(void)snprintf(r->name, sizeof(r->name), "%s", m.name);
	r->all = TAKE_FD(packet->fds[0]);
	r->own = TAKE_FD(packet->fds[1]);
	if (packet->fd_count != 2u + m.first + m.shared || (m.shared && !m.first))
		return error_set(e, -EPROTO, "first versions without a folder for them");
	ret = first_keep_begin(&r->first, m.first ? TAKE_FD(packet->fds[2]) : -1, r->plan, e);
	if (ret == 0 && m.shared)
		ret = first_keep_begin_shared(&r->shared, TAKE_FD(packet->fds[3]), r->plan, e);
	if (ret < 0)
		return ret;
	ret = reconcile_begin(&r->reconcile, r->plan, e);
	if (ret == 0)
		ret = recorder_open(r, e);
	if (ret < 0)
		return ret;
	recorder_serve_digests(r);
	ret = recorder_make_watch(r, e);
	if (ret < 0)
		return ret;
	/* The user may choose to run without filters because this machine has none. */
	if (!plan_goes_without(r->plan, PLAN_LAYER_SECCOMP))
		ret = process_filter(profile_bpf(PROFILE_RECORDER));
	if (ret < 0)
		return advice_missing(PLAN_LAYER_SECCOMP, ret, e);
	r->keeper.channel.state = RECORDER_SERVING;
	r->gate.channel.state = RECORDER_SERVING;
	if (r->gate.channel.fd >= 0)
		ret = fd_set_nonblock(r->gate.channel.fd, true);
	if (ret == 0 && r->gate.channel.fd >= 0)
		ret = loop_add(&r->loop, r->gate.channel.fd, EPOLLIN, recorder_on_gate, r,
			       &r->gate.handle);
	if (ret == 0)
		ret = channel_send(r->keeper.channel.fd, MESSAGE_READY, (struct span){NULL, 0},
				   NULL, 0);
	/* Nobody waits for the first look: the box is being made meanwhile. */
	if (ret == 0)
		(void)reconcile_scan(&r->reconcile);
	return ret < 0 ? error_sys(e, ret, "serving the session") : 0;
}

static int recorder_on_flush(void *context, struct channel_packet *packet, struct error *e)
{
	struct recorder *r = context;
	struct message_job m;
	int ret = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (ret < 0)
		return ret;
	r->has_status = m.job != 0;
	r->status = m.value;
	r->ended = true;
	loop_stop(&r->loop);
	return 0;
}

static const struct channel_rule recorder_keeper_rules[] = {
	{MESSAGE_RECORD, "RECORD", 512, 2, 4, 1u << RECORDER_NEW, recorder_on_record},
	{MESSAGE_NOTES, "NOTES", CHANNEL_BYTES_MAX, 0, 0, 1u << RECORDER_SERVING,
	 recorder_on_keeper_notes},
	{MESSAGE_WATCH, "WATCH", 0, 1, 2, 1u << RECORDER_SERVING, recorder_on_watch},
	{MESSAGE_FLUSH, "FLUSH", 16, 0, 0, 1u << RECORDER_SERVING, recorder_on_flush},
};

static int recorder_on_keeper(void *context, uint32_t events)
{
	struct recorder *r = context;
	struct error e = ERROR_INIT;
	int ret = channel_receive(&r->keeper.channel, &e);

	(void)events;
	if (ret == -EAGAIN)
		return 0;
	if (ret == 0)
		loop_stop(&r->loop); /* killed: the box is gone too, or will be in a moment */
	if (ret < 0) {
		r->failure = e;
		r->failure.code = ret;
		loop_stop(&r->loop);
	}
	return 0;
}

/* Reads everything that the gate said before it ended; nobody else can write to its channel. */
static void recorder_drain_gate(struct recorder *r)
{
	struct error e = ERROR_INIT;

	while (r->gate.channel.fd >= 0 && r->failure.code == 0) {
		struct pollfd gate = {.fd = r->gate.channel.fd, .events = POLLIN};

		if (poll(&gate, 1, RECORDER_PATIENCE_MS) <= 0 ||
		    channel_receive(&r->gate.channel, &e) <= 0)
			(void)recorder_lose_gate(r);
	}
}

static int recorder_write_end(struct recorder *r)
{
	struct buf *event = event_begin(&r->writer, NOTE_SESSION);
	int status = (int)r->status;

	event_put_word(event, NOTE_FIELD_OP, "end");
	event_put_word(event, NOTE_FIELD_HOW, "kernel");
	if (r->has_status && WIFSIGNALED(status))
		event_put_number(event, NOTE_FIELD_SIGNAL, (uint64_t)WTERMSIG(status));
	else if (r->has_status)
		event_put_number(event, NOTE_FIELD_EXIT, (uint64_t)WEXITSTATUS(status));
	else
		event_put_word(event, NOTE_FIELD_REASON,
			       r->ended ? "the box was ended" : "the keeper was killed");
	event_put_number(event, NOTE_FIELD_EVENTS, r->writer.seq + 1);
	if (r->compared.compared) {
		event_put_number(event, NOTE_FIELD_UNATTRIBUTED, r->compared.unattributed);
		event_put_number(event, NOTE_FIELD_CONFIRMED, r->compared.confirmed);
		event_put_number(event, NOTE_FIELD_TIMES, r->compared.times);
	}
	event_put_number(event, NOTE_FIELD_REFUSED, r->writer.refused);
	int ret = writer_end(&r->writer);

	return ret < 0 ? ret : writer_commit(&r->writer);
}

/* The box is gone: enters how it left what it changed, and tells what could not be kept. */
static int recorder_end_first(struct recorder *r)
{
	int ret = first_keep_end(&r->first);
	uint64_t count = r->first.unkept + r->shared.unkept + (ret < 0);
	struct note gap;

	if (count == 0)
		return 0;
	note_begin(&gap, NOTE_GAP, "first");
	note_word(&gap, NOTE_FIELD_HOW, "kernel");
	note_number(&gap, NOTE_FIELD_COUNT_OF, count);
	note_word(&gap, NOTE_FIELD_REASON,
		  r->first.unkept    ? first_why_words[r->first.why]
		  : r->shared.unkept ? first_why_words[r->shared.why]
				     : error_words(ret));
	return event_write(&r->writer, &gap.m);
}

static int recorder_finish(struct recorder *r)
{
	struct error *e = &r->failure;
	int result = 0;
	int ret = r->syncer.busy ? syncer_answer(&r->syncer, &result) : 0;

	if (ret == 0)
		ret = result;
	if (ret == 0 && r->watch)
		ret = watch_finish(r->watch);
	if (ret == 0 && r->watch)
		(void)who_made_note(r->made);
	wishes_tell(r->wishes, recorder_on_wanted, r);
	if (ret == 0)
		ret = recorder_end_first(r);
	if (ret == 0 && r->watch)
		ret = recorder_compare(r);
	if (ret == 0)
		ret = recorder_write_end(r);
	if (ret < 0)
		return error_sys(e, ret, "writing the end of the record");
	logfile_last(&r->logfile, &r->writer);
	struct ledger_end end = {.session = r->folder,
				 .number = r->number,
				 .events = r->writer.seq,
				 .head = r->writer.prev};

	merkle_root(&r->writer.tree, &end.root);
	return ledger_enter_end(r->ledger, &end, e);
}

static void recorder_report(struct recorder *r)
{
	int fd = r->keeper.channel.fd;

	if (r->failure.code == 0) {
		(void)channel_send(fd, MESSAGE_DONE, (struct span){NULL, 0}, NULL, 0);
		return;
	}
	if (!r->failure.next[0])
		recorder_advise(&r->failure);
	const struct message_failed m = {(uint64_t)-r->failure.code, r->failure.text,
					 r->failure.next};

	(void)message_send(fd, MESSAGE_FAILED, &message_failed_schema, &m, NULL, 0);
}

static int recorder_read_plan(struct recorder *r, int fd, struct error *e)
{
	struct span bytes;
	int ret = plan_map(fd, &bytes, e);

	if (ret < 0)
		return ret;
	hash_of(bytes, &r->plan_hash);
	return plan_decode(bytes, &r->plan, &r->arena, e);
}

static int recorder_start(struct recorder *r, int plan, struct error *e)
{
	/* First, while nothing is in memory that the syncer does not need. */
	int ret = syncer_start(&r->syncer);

	if (ret == 0)
		ret = process_no_new_privs();
	if (ret == 0)
		ret = loop_init(&r->loop);
	if (ret == 0)
		ret = loop_add(&r->loop, r->keeper.channel.fd, EPOLLIN, recorder_on_keeper, r,
			       &r->keeper.handle);
	struct loop_handle synced, timer;

	if (ret == 0)
		ret = loop_add(&r->loop, r->syncer.fd, EPOLLIN, recorder_on_synced, r, &synced);
	r->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (ret == 0)
		ret = r->timer < 0
			      ? -errno
			      : loop_add(&r->loop, r->timer, EPOLLIN, recorder_on_timer, r, &timer);
	if (ret < 0)
		return error_sys(e, ret, "starting the recorder");
	return recorder_read_plan(r, plan, e);
}

int recorder_run(int keeper, int plan, int gate)
{
	static struct recorder r;
	struct error *e = &r.failure;

	r.arena = ARENA_INIT(PLAN_ARENA_MAX);
	r.syncer = SYNCER_INIT;
	r.reconcile = RECONCILE_INIT;
	r.first = FIRST_KEEP_INIT;
	r.shared = FIRST_KEEP_INIT;
	r.all = r.own = r.ledger = r.timer = r.logfile.fd = -1;
	r.keeper.channel = (struct channel){.fd = keeper,
					    .rules = recorder_keeper_rules,
					    .rule_count = BAWN_ARRAY_SIZE(recorder_keeper_rules),
					    .context = &r};
	r.keeper.kinds = UINT32_MAX;
	r.gate.kinds = RECORDER_GATE_KINDS;
	r.gate.channel = (struct channel){.fd = gate,
					  .rules = recorder_gate_rules,
					  .rule_count = BAWN_ARRAY_SIZE(recorder_gate_rules),
					  .context = &r};
	int ret = recorder_start(&r, plan, e);

	if (ret == 0)
		ret = loop_run(&r.loop);
	if (ret < 0 && e->code == 0)
		(void)error_sys(e, ret, "recording the session");
	if (r.begun) {
		if (e->code == 0)
			recorder_drain_gate(&r);
		if (e->code == 0)
			(void)recorder_finish(&r);
	}
	recorder_report(&r);
	syncer_end(&r.syncer);
	watch_free(r.watch);
	wishes_free(r.wishes);
	who_made_free(r.made);
	reconcile_fini(&r.reconcile);
	first_keep_fini(&r.first);
	first_keep_fini(&r.shared);
	writer_fini(&r.writer);
	return e->code == 0 ? 0 : 1;
}
