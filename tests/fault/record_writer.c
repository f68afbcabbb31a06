/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scripted session of the record, to be killed, starved of space or cut from power, and the
 * judge of what is left.
 *
 *	record_writer session DIR NAME EVENTS	writes one session into the records in DIR; says
 *						"ack N" for each N that became durable, and "end"
 *	record_writer check DIR EVENTS		reads "NAME ACKNOWLEDGED ENDED" lines and judges
 *						these sessions, then begins another one
 *	record_writer kills DIR COUNT SEED	so many sessions, each killed at a random moment
 *						and judged
 *
 * What must hold, however a session ended: each event that was acknowledged is there and is the
 * one that was written, the ledger is one chain that knows the session, no number was taken
 * twice, and verify says "whole" only to a session that wrote its last event.
 *
 * The judge ends with 0 when nothing is wrong; else each trouble is one line, and 1.
 */
#include "event.h"
#include "fd.h"
#include "ledger.h"
#include "seal.h"
#include "str.h"
#include "verify.h"
#include "writer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	EXIT_TROUBLE = 1,
	EXIT_FAILED = 2, /* the session could not be written, and says why */
	EXIT_USAGE = 99,
	DECISION_EVERY = 17, /* each of these waits for the disk, as a decision does */
	PATH_MAX_LEN = 3000,
	KILLED_EVENTS = 260,
	ROUND = 500, /* kills in one folder of records */
};

#define SEGMENT "000001.log"

static int usage(void)
{
	(void)fputs("usage: record_writer session DIR NAME EVENTS | check DIR EVENTS | "
		    "kills DIR COUNT SEED\n",
		    stderr);
	return EXIT_USAGE;
}

static int open_folder(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* --- the session ------------------------------------------------------------------------ */

/* The path of the i-th event: short, long and not UTF-8 by turns, and always the same. */
static struct span scripted_path(unsigned long i, char into[PATH_MAX_LEN + 1])
{
	int len = snprintf(into, PATH_MAX_LEN, "/home/someone/project/file-%lu", i);
	size_t end = i % 31 == 7 ? PATH_MAX_LEN : (size_t)len;

	memset(into + len, 'x', end - (size_t)len);
	if (i % 13 == 5)
		into[3] = (char)0xff;
	return (struct span){(const uint8_t *)into, end};
}

static int put_event(struct writer *w, unsigned long i)
{
	char path[PATH_MAX_LEN + 1];
	struct buf *event = event_begin(w, NOTE_FILE);

	event_put_word(event, NOTE_FIELD_OP, "write");
	event_put_number(event, NOTE_FIELD_PID, 1000 + i);
	event_put_text(event, NOTE_FIELD_PATH, scripted_path(i, path));
	return writer_end(w);
}

/* One line, one call. */
__attribute__((format(printf, 2, 3))) static int say(int fd, const char *fmt, ...)
{
	char text[64];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return fd_write_all(fd, text, strlen(text));
}

static int say_durable(struct writer *w, int acks, uint64_t *said)
{
	if (w->durable == *said)
		return 0;
	*said = w->durable;
	return say(acks, "ack %llu\n", (unsigned long long)*said);
}

static int write_events(struct writer *w, unsigned long events, int acks)
{
	uint64_t said = 0;
	int r;

	(void)writer_begin(w, "session");
	r = writer_end(w);
	if (r == 0)
		r = writer_commit(w);
	for (unsigned long i = 0; r == 0 && i < events; i++) {
		r = put_event(w, i);
		if (r == 0 && i % DECISION_EVERY == 3)
			r = writer_commit(w);
		if (r == 0)
			r = say_durable(w, acks, &said);
	}
	if (r == 0) {
		(void)writer_begin(w, "end");
		r = writer_end(w);
	}
	if (r == 0)
		r = writer_commit(w);
	return r < 0 ? r : say_durable(w, acks, &said);
}

static int write_session(int records, const char *name, unsigned long events, int acks,
			 struct error *e)
{
	uint64_t number = 0;
	struct hash key;

	if (mkdirat(records, name, 0700) < 0)
		return error_sys(e, -errno, "making the folder of %s", name);
	_cleanup_fd_ int folder = open_folder(records, name);
	_cleanup_fd_ int ledger = ledger_open(records, e);

	if (folder < 0 || ledger < 0)
		return folder < 0 ? error_sys(e, -errno, "opening the folder") : ledger;
	int r = ledger_begin(records, ledger, name, &number, &key, e);

	if (r < 0)
		return r;
	_cleanup_fd_ int fd =
		openat(folder, SEGMENT, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || fsync(folder) < 0)
		return error_sys(e, -errno, "making the record");
	struct writer w;

	writer_init(&w, fd, &key);
	r = write_events(&w, events, acks);
	struct ledger_end end = {
		.session = name, .number = number, .events = w.seq, .head = w.prev};

	merkle_root(&w.tree, &end.root);
	writer_fini(&w);
	if (r < 0)
		return error_sys(e, r, "writing the record");
	r = ledger_enter_end(ledger, &end, e);
	if (r < 0)
		return r;
	r = say(acks, "end\n");
	return r < 0 ? error_sys(e, r, "saying that it ended") : 0;
}

/* --- the judge -------------------------------------------------------------------------- */

struct left { /* what a session must have left behind */
	const char *name;
	uint64_t acknowledged;
	bool ended; /* the ledger's entry was acknowledged too */
};

struct judge {
	int records;
	unsigned long events;
	unsigned int troubles;
	unsigned int whole, interrupted, missing; /* how sessions ended, for the summary */
};

__attribute__((format(printf, 3, 4))) static void trouble(struct judge *j, const char *name,
							  const char *fmt, ...)
{
	char text[300];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	(void)printf("%s: %s\n", name, text);
	j->troubles++;
}

struct file {
	struct span bytes; /* mapped */
	int error;
};

static struct file file_map(int at, const char *path)
{
	_cleanup_fd_ int fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct file f = {.error = fd < 0 ? -errno : 0};
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0)
		return f;
	void *at_bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (at_bytes == MAP_FAILED)
		f.error = -errno;
	else
		f.bytes = (struct span){at_bytes, (size_t)st.st_size};
	return f;
}

static void file_unmap(struct file *f)
{
	if (f->bytes.len > 0)
		(void)munmap((void *)(uintptr_t)f->bytes.ptr, f->bytes.len);
}
#define _cleanup_file_ _cleanup_(file_unmap)

/* What the ledger says of one session. */
struct entered {
	bool begun, ended;
	struct ledger_entry begin, end;
};

/* The whole ledger; `torn` says whether bytes may stand behind its last entry. */
static struct entered judge_ledger(struct judge *j, const struct file *ledger, const char *name,
				   bool torn)
{
	struct ledger_reader r = {.bytes = ledger->bytes};
	struct entered ret = {.begun = false};
	struct ledger_entry entry;
	uint64_t next = 0;
	enum feed said;

	while ((said = ledger_next(&r, &entry)) == FEED_DONE) {
		bool begin = span_equal(entry.frame.kind, SPAN_LITERAL("begin"));

		if (begin && entry.number < next)
			trouble(j, name, "the number %llu was taken twice",
				(unsigned long long)entry.number);
		if (begin)
			next = entry.number + 1;
		if (!span_equal(entry.session, span_of_str(name)))
			continue;
		if (begin) {
			ret.begin = entry;
			ret.begun = true;
		} else {
			ret.end = entry;
			ret.ended = true;
		}
	}
	if (!torn && (said == FEED_BAD || r.at != ledger->bytes.len))
		trouble(j, name, "the ledger: %s, at byte %zu of %zu",
			said == FEED_BAD ? r.why : "a torn end", r.at, ledger->bytes.len);
	return ret;
}

/* The user's first key; zeros when there is none yet. */
static struct hash first_key(int records)
{
	_cleanup_buf_ struct buf text = BUF_INIT(256);
	struct hash key = {{0}};

	if (fd_read_file_at(records, "verification", &text) < 0 || text.len != HASH_HEX + 3 ||
	    hash_parse(text.ptr + 2, &key) < 0)
		memset(&key, 0, sizeof(key));
	return key;
}

/* The events that stand are those of the script, in its order; the seals are not counted. */
static bool is_scripted(struct span bytes, uint64_t events)
{
	char path[PATH_MAX_LEN + 1];
	unsigned long i = 0;

	for (uint64_t n = 0; n < events; n++) {
		_cleanup_buf_ struct buf want = BUF_INIT(FRAME_EVENT_MAX);
		struct frame f;

		if (frame_read(bytes, &f) != FEED_DONE)
			return false;
		bytes.ptr += f.len;
		bytes.len -= f.len;
		if (!span_equal(f.kind, SPAN_LITERAL("file")))
			continue;
		event_put_text(&want, NOTE_FIELD_PATH, scripted_path(i++, path));
		if (!memmem(f.rest.ptr, f.rest.len, want.ptr, want.len))
			return false;
	}
	return true;
}

static void judge_events(struct judge *j, const struct left *l, const struct file *log,
			 const struct entered *in, const struct verify_result *v)
{
	unsigned long long stand = v->events;

	if (v->events < l->acknowledged)
		trouble(j, l->name, "%llu events were acknowledged, %llu stand (%s)",
			(unsigned long long)l->acknowledged, stand, v->why ? v->why : "no trouble");
	if (v->sealed < l->acknowledged)
		trouble(j, l->name, "acknowledged up to %llu, sealed up to %llu",
			(unsigned long long)l->acknowledged, (unsigned long long)v->sealed);
	if (!is_scripted(log->bytes, v->events))
		trouble(j, l->name, "events that were never written");
	if (v->state == VERIFY_WHOLE && v->events - v->seals != j->events + 2)
		trouble(j, l->name, "whole with %llu events and %llu seals", stand,
			(unsigned long long)v->seals);
	if (l->ended && (v->state != VERIFY_WHOLE || !in->ended))
		trouble(j, l->name, "ended well, but the record or the ledger has no end");
	if (in->ended && (v->state != VERIFY_WHOLE || !hash_equal(&in->end.head, &v->head) ||
			  !hash_equal(&in->end.root, &v->root) || in->end.events != v->events))
		trouble(j, l->name, "the ledger knows another end than the record has");
	j->whole += v->state == VERIFY_WHOLE;
	j->interrupted += v->state != VERIFY_WHOLE;
}

static void judge_session(struct judge *j, const struct left *l, const struct file *ledger,
			  bool torn)
{
	struct entered in = judge_ledger(j, ledger, l->name, torn);
	_cleanup_fd_ int folder = open_folder(j->records, l->name);
	_cleanup_file_ struct file log = file_map(folder, SEGMENT);
	struct verify_result v;
	struct hash first = first_key(j->records), key;

	if (log.error || log.bytes.len == 0) {
		j->missing++;
		if (l->acknowledged > 0)
			trouble(j, l->name, "%llu events were acknowledged, and no record is there",
				(unsigned long long)l->acknowledged);
		return;
	}
	if (!in.begun) {
		trouble(j, l->name, "a record that the ledger does not know");
		return;
	}
	seal_session_key(&first, in.begin.number, &key);
	verify_frames(log.bytes, &key, &v);
	judge_events(j, l, &log, &in, &v);
}

/* Another session on top of what is left: begins, ends, and is whole. */
static void judge_next(struct judge *j, const char *name)
{
	struct left l = {.name = name, .acknowledged = j->events + 2, .ended = true};
	struct error e = ERROR_INIT;
	_cleanup_fd_ int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (write_session(j->records, name, j->events, nowhere, &e) < 0)
		trouble(j, name, "the next session does not begin: %s", e.text);
	_cleanup_file_ struct file ledger = file_map(j->records, "ledger");

	judge_session(j, &l, &ledger, false);
}

/* --- killing ---------------------------------------------------------------------------- */

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What was said on the pipe up to its end. */
static void read_acks(int fd, struct left *l)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	if (fd_read_all(fd, &text) < 0)
		return;
	for (char *line = text.ptr; line && *line;) {
		char *end = strchr(line, '\n');

		if (!end)
			return;
		*end = '\0';
		const char *number = str_after(line, "ack ");

		if (number)
			(void)str_parse_u64(number, &l->acknowledged);
		else if (str_equal(line, "end"))
			l->ended = true;
		line = end + 1;
	}
}

/* One session, killed after `ns` (0: not at all); how long it lived, 0 when it was refused. */
static uint64_t kill_session(int records, struct left *l, uint64_t ns)
{
	struct timespec wait = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	uint64_t began = now_ns();
	int acks[2], status = 0;

	if (pipe2(acks, O_CLOEXEC) < 0)
		return 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct error e = ERROR_INIT;
		int r = write_session(records, l->name, KILLED_EVENTS, acks[1], &e);

		if (r < 0)
			(void)printf("%s: %s\n", l->name, e.text);
		(void)fflush(stdout);
		_exit(r < 0 ? EXIT_FAILED : 0);
	}
	(void)close(acks[1]);
	if (pid > 0 && ns > 0) {
		(void)nanosleep(&wait, NULL);
		(void)kill(pid, SIGKILL);
	}
	read_acks(acks[0], l);
	(void)close(acks[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid ||
	    (WIFEXITED(status) && WEXITSTATUS(status) != 0))
		return 0;
	return now_ns() - began;
}

/* Sessions in one folder of records; each is judged, then only the ledger keeps it. */
static void kill_round(struct judge *j, unsigned long count, uint64_t *random)
{
	struct left l = {.name = "undisturbed"};
	uint64_t whole = kill_session(j->records, &l, 0);
	char name[32];

	if (whole == 0 || !l.ended)
		trouble(j, l.name, "the session was not written");
	for (unsigned long i = 0; i < count && whole > 0; i++) {
		(void)snprintf(name, sizeof(name), "session-%lu", i);
		l = (struct left){.name = name};
		uint64_t lived =
			kill_session(j->records, &l, 1 + random_next(random) % (whole + whole / 9));

		if (lived == 0)
			trouble(j, name, "the session was refused");
		/* The machine is not always as busy as it was for the first: one of three ends. */
		whole = l.ended ? whole - whole / 16 : whole + whole / 32;
		_cleanup_file_ struct file ledger = file_map(j->records, "ledger");

		judge_session(j, &l, &ledger, true);
		_cleanup_fd_ int folder = open_folder(j->records, name);

		(void)unlinkat(folder, SEGMENT, 0);
		(void)unlinkat(j->records, name, AT_REMOVEDIR);
	}
	judge_next(j, "after");
}

static int do_kills(int dir, unsigned long count, uint64_t seed)
{
	struct judge j = {.events = KILLED_EVENTS};
	uint64_t random = seed * 2 + 1;
	char name[32];

	for (unsigned long done = 0; done < count && j.troubles == 0; done += ROUND) {
		(void)snprintf(name, sizeof(name), "round-%lu", done / ROUND);
		if (mkdirat(dir, name, 0700) < 0)
			return EXIT_USAGE;
		_cleanup_fd_ int records = open_folder(dir, name);

		j.records = records;
		kill_round(&j, count - done < ROUND ? count - done : ROUND, &random);
	}
	(void)printf("# %lu kills: %u whole, %u interrupted, %u with nothing written yet\n", count,
		     j.whole, j.interrupted, j.missing);
	return j.troubles ? EXIT_TROUBLE : 0;
}

/* --- the words -------------------------------------------------------------------------- */

static int do_session(int records, const char *name, unsigned long events)
{
	struct error e = ERROR_INIT;

	if (write_session(records, name, events, STDOUT_FILENO, &e) == 0)
		return 0;
	(void)fprintf(stderr, "%s\n%s\n", e.text, e.next);
	return EXIT_FAILED;
}

static int do_check(int records, unsigned long events)
{
	struct judge j = {.records = records, .events = events};
	char name[LEDGER_NAME_MAX + 1];
	unsigned long long acknowledged;
	int ended;

	{
		_cleanup_file_ struct file ledger = file_map(records, "ledger");

		while (scanf("%64s %llu %d", name, &acknowledged, &ended) == 3) {
			struct left l = {name, acknowledged, ended != 0};

			judge_session(&j, &l, &ledger, true);
		}
	}
	judge_next(&j, "after");
	(void)printf("# %u whole, %u interrupted, %u with nothing written yet\n", j.whole,
		     j.interrupted, j.missing);
	return j.troubles ? EXIT_TROUBLE : 0;
}

int main(int argc, char **argv)
{
	_cleanup_fd_ int dir = argc > 3 ? open_folder(AT_FDCWD, argv[2]) : -1;
	uint64_t first = 0, second = 0;

	if (dir < 0 || hash_init() < 0)
		return usage();
	if (str_equal(argv[1], "session") && argc == 5 && str_parse_u64(argv[4], &first) == 0)
		return do_session(dir, argv[3], first);
	if (str_equal(argv[1], "check") && str_parse_u64(argv[3], &first) == 0)
		return do_check(dir, first);
	if (str_equal(argv[1], "kills") && argc == 5 && str_parse_u64(argv[3], &first) == 0 &&
	    str_parse_u64(argv[4], &second) == 0)
		return do_kills(dir, first, second);
	return usage();
}
