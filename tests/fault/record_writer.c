/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scripted session of the real recorder, to be killed, starved of space or cut from power, and
 * the judge of what is left.  This program stands where the keeper does.
 *
 *	record_writer session PROGRAMS ROOT NAME EVENTS
 *			one session into the records in ROOT/records; says "ack N" when the
 *			first N of its events were acknowledged, and "end"
 *	record_writer check PROGRAMS ROOT EVENTS
 *			reads "NAME ACKNOWLEDGED ENDED" lines and judges these sessions, then
 *			begins another one
 *	record_writer kills PROGRAMS ROOT COUNT SEED
 *			so many sessions, each with its recorder or its keeper killed at a
 *			random moment, and judged
 *	record_writer gate PROGRAMS ROOT KIND
 *			one session whose gate sends a note of its own, one of this kind, and one
 *			of its own again; says of each whether it is in the record: 1 or 0
 *
 * PROGRAMS is the folder of bawn-recorder; ROOT/workspace is the workspace of the sessions.
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
#include "logfile.h"
#include "message_control.h"
#include "plan_read.h"
#include "recording.h"
#include "seal.h"
#include "str.h"
#include "verify.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
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

/* Where all happens. */
struct place {
	int programs, records;
	char workspace[PATH_MAX];
};

static int usage(void)
{
	(void)fputs("usage: record_writer session PROGRAMS ROOT NAME EVENTS | check PROGRAMS ROOT "
		    "EVENTS | kills PROGRAMS ROOT COUNT SEED | gate PROGRAMS ROOT KIND\n",
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

static void scripted_note(struct note *n, unsigned long i, char path[PATH_MAX_LEN + 1])
{
	note_begin(n, NOTE_FILE, "write");
	note_word(n, NOTE_FIELD_HOW, "kernel");
	note_number(n, NOTE_FIELD_PID, 1000 + i);
	note_text(n, NOTE_FIELD_PATH, scripted_path(i, path));
}

/* Some wait for the disk; most do not. */
static int send_events(struct recording *r, unsigned long events, int acks, struct error *e)
{
	char path[PATH_MAX_LEN + 1];
	int ret = 0;

	for (unsigned long i = 0; ret == 0 && i < events; i++) {
		struct note n;

		scripted_note(&n, i, path);
		if (i % DECISION_EVERY != 3) {
			recording_note(r, &n);
			continue;
		}
		ret = recording_decide(r, &n, e);
		if (ret == 0)
			ret = say(acks, "ack %lu\n", i + 1);
	}
	return ret;
}

/* As the client does: the folder of the session, and what the recorder is told. */
static int give_folders(struct recording *r, const struct place *p, const char *name,
			struct error *e)
{
	const struct message_record m = {.name = name, .folder = name};
	_cleanup_buf_ struct buf body = BUF_INIT(512);
	struct channel_packet packet = {.fd_count = 2, .fds = {-1, -1}};

	if (mkdirat(p->records, name, 0700) < 0)
		return error_sys(e, -errno, "making the folder of %s", name);
	schema_encode(&body, &message_record_schema, &m);
	packet.body = buf_span(&body);
	packet.fds[0] = fcntl(p->records, F_DUPFD_CLOEXEC, 3);
	packet.fds[1] = open_folder(p->records, name);
	if (packet.fds[0] < 0 || packet.fds[1] < 0)
		return error_sys(e, -errno, "opening the folder of %s", name);
	return recording_take(r, &packet, e);
}

static int make_plan(const struct place *p, struct error *e)
{
	static struct plan_string argv[] = {{"script"}};
	struct plan plan = {.backend_origin = "",
			    .preset = "",
			    .workspace = p->workspace,
			    .workspace_access = PLAN_ACCESS_WRITE,
			    .workspace_origin = "",
			    .home = "/home/someone",
			    .home_store = "",
			    .cwd = p->workspace,
			    .user = "someone",
			    .hostname = "bawn",
			    .debug_origin = "",
			    .seccomp_profile = "default",
			    .argv = {argv, 1}};

	return plan_seal(&plan, e);
}

static int write_session(const struct place *p, const char *name, unsigned long events, int acks,
			 struct error *e)
{
	struct recording r = RECORDING_INIT;
	const uint64_t status = 0;
	_cleanup_fd_ int plan = make_plan(p, e);
	int ret = plan < 0 ? plan : give_folders(&r, p, name, e);

	if (ret == 0)
		ret = recording_start(&r, p->programs, plan, e);
	fd_close(&r.gate); /* this session has none */
	if (ret == 0)
		ret = say(acks, "recorder %d\n", (int)r.made.pid);
	if (ret == 0)
		ret = recording_wait(&r, e);
	if (ret == 0)
		ret = send_events(&r, events, acks, e);
	r.failure.code = ret;
	recording_end(&r, &status, NULL, e);
	if (ret == 0 && !r.done)
		ret = e->code ? e->code : -EPROTO;
	if (ret == 0)
		ret = say(acks, "end\n");
	return ret < 0 && e->code == 0 ? error_sys(e, ret, "recording the session") : ret;
}

/* --- the judge -------------------------------------------------------------------------- */

struct left { /* what a session must have left behind */
	const char *name;
	uint64_t acknowledged;
	bool ended; /* the ledger's entry was acknowledged too */
};

struct judge {
	const struct place *place;
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

/* What stands of the script. */
struct stands {
	unsigned long events; /* of the script, in its order */
	uint64_t asked;       /* number of the event that was acknowledged last */
	bool foreign;         /* there are others, too */
	bool exited;          /* the end says that all was sent */
};

static struct stands read_script(struct span bytes, uint64_t events, uint64_t acknowledged)
{
	struct stands ret = {.events = 0};
	char path[PATH_MAX_LEN + 1];

	for (uint64_t n = 0; n < events && !ret.foreign; n++) {
		_cleanup_buf_ struct buf want = BUF_INIT(FRAME_EVENT_MAX);
		uint64_t status;
		struct frame f;

		ret.foreign = frame_read(bytes, &f) != FEED_DONE;
		bytes.ptr += f.len;
		bytes.len -= f.len;
		if (span_equal(f.kind, SPAN_LITERAL("session")) &&
		    frame_number_member(&f, "exit", &status) == 0)
			ret.exited = true;
		if (!span_equal(f.kind, SPAN_LITERAL("file")))
			continue;
		event_put_text(&want, NOTE_FIELD_PATH, scripted_path(ret.events, path));
		if (!memmem(f.rest.ptr, f.rest.len, want.ptr, want.len))
			ret.foreign = true;
		if (++ret.events == acknowledged)
			ret.asked = f.seq;
	}
	return ret;
}

static void judge_events(struct judge *j, const struct left *l, const struct file *log,
			 const struct entered *in, const struct verify_result *v)
{
	struct stands s = read_script(log->bytes, v->events, l->acknowledged);

	if (s.events < l->acknowledged || v->sealed < s.asked)
		trouble(j, l->name, "%llu events were acknowledged, %lu stand, sealed to %llu (%s)",
			(unsigned long long)l->acknowledged, s.events,
			(unsigned long long)v->sealed, v->why ? v->why : "no trouble");
	if (s.foreign)
		trouble(j, l->name, "events that were never sent");
	if (v->state == VERIFY_WHOLE && s.exited && s.events != j->events)
		trouble(j, l->name, "whole with %lu of %lu events", s.events, j->events);
	if (l->ended && (v->state != VERIFY_WHOLE || !s.exited || !in->ended))
		trouble(j, l->name, "ended well, but the record or the ledger has no end");
	if (in->ended && (v->state != VERIFY_WHOLE || !hash_equal(&in->end.head, &v->head) ||
			  !hash_equal(&in->end.root, &v->root) || in->end.events != v->events))
		trouble(j, l->name, "the ledger knows another end than the record has");
	j->whole += v->state == VERIFY_WHOLE;
	j->interrupted += v->state != VERIFY_WHOLE;
}

static void judge_session(struct judge *j, const struct left *l, bool torn)
{
	_cleanup_fd_ int folder = open_folder(j->place->records, l->name);
	char name[LOGFILE_NAME_SIZE];

	/* A recorder whose keeper was killed writes that down. */
	if (folder >= 0 && flock(folder, LOCK_SH) < 0)
		trouble(j, l->name, "its folder cannot be locked");
	logfile_name(1, name);
	_cleanup_file_ struct file ledger = file_map(j->place->records, "ledger");
	_cleanup_file_ struct file log = file_map(folder, name);
	struct entered in = judge_ledger(j, &ledger, l->name, torn);
	struct hash first = first_key(j->place->records), key;
	struct verify_result v;

	if (log.error || log.bytes.len == 0) {
		j->missing++;
		if (l->acknowledged > 0)
			trouble(j, l->name, "%llu events were acknowledged, and no record is there",
				(unsigned long long)l->acknowledged);
		return;
	}
	if (!in.begun) {
		/* Nothing of it was acknowledged: the disk may have one without the other. */
		j->missing++;
		if (l->acknowledged > 0)
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
	struct left l = {.name = name, .acknowledged = j->events, .ended = true};
	struct error e = ERROR_INIT;
	_cleanup_fd_ int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (write_session(j->place, name, j->events, nowhere, &e) < 0)
		trouble(j, name, "the next session does not begin: %s", e.text);
	judge_session(j, &l, false);
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

/* The recorder's pid, which is the first that a session says; 0 when it does not. */
static pid_t read_recorder(int fd)
{
	char line[32] = "";
	uint64_t pid = 0;

	for (size_t n = 0; n + 1 < sizeof(line) && read(fd, line + n, 1) == 1; n++)
		if (line[n] == '\n') {
			line[n] = '\0';
			const char *number = str_after(line, "recorder ");

			return number && str_parse_u64(number, &pid) == 0 ? (pid_t)pid : 0;
		}
	return 0;
}

/* One session of which recorder or keeper are killed after `ns` (0: neither); how long it lived,
 * 0 when it was refused. */
static uint64_t kill_session(const struct place *p, struct left *l, uint64_t ns, bool keeper)
{
	struct timespec wait = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	int acks[2], status = 0;

	if (pipe2(acks, O_CLOEXEC) < 0)
		return 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct error e = ERROR_INIT;
		int r = write_session(p, l->name, KILLED_EVENTS, acks[1], &e);

		if (r < 0 && ns == 0)
			(void)printf("%s: %s\n", l->name, e.text);
		(void)fflush(stdout);
		_exit(r < 0 ? EXIT_FAILED : 0);
	}
	(void)close(acks[1]);
	pid_t recorder = pid > 0 ? read_recorder(acks[0]) : 0;
	uint64_t began = now_ns();

	if (recorder > 0 && ns > 0) {
		(void)nanosleep(&wait, NULL);
		/* Nobody waited for it yet, or it is the keeper's zombie: the pid is still its. */
		(void)kill(keeper ? pid : recorder, SIGKILL);
	}
	read_acks(acks[0], l);
	(void)close(acks[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || recorder == 0)
		return 0;
	return now_ns() - began;
}

/* Sessions in one folder of records; each is judged, then only the ledger keeps it. */
static void kill_round(struct judge *j, unsigned long count, uint64_t *random)
{
	const struct place *p = j->place;
	struct left l = {.name = "undisturbed"};
	uint64_t whole = kill_session(p, &l, 0, false);
	char name[32], file[LOGFILE_NAME_SIZE];

	if (whole == 0 || !l.ended)
		trouble(j, l.name, "the session was not written");
	logfile_name(1, file);
	for (unsigned long i = 0; i < count && whole > 0; i++) {
		uint64_t ns = 1 + random_next(random) % (whole + whole / 9);

		(void)snprintf(name, sizeof(name), "session-%lu", i);
		l = (struct left){.name = name};
		if (kill_session(p, &l, ns, random_next(random) % 4 == 0) == 0)
			trouble(j, name, "the session was refused");
		/* The machine is not always as busy as it was for the first: one of three ends. */
		whole = l.ended ? whole - whole / 16 : whole + whole / 32;
		judge_session(j, &l, true);
		_cleanup_fd_ int folder = open_folder(p->records, name);

		(void)unlinkat(folder, file, 0);
		(void)unlinkat(p->records, name, AT_REMOVEDIR);
	}
	judge_next(j, "after");
}

static int open_place(struct place *p, const char *programs, const char *root)
{
	_cleanup_fd_ int dir = open_folder(AT_FDCWD, root);
	int len = snprintf(p->workspace, sizeof(p->workspace), "%s/workspace", root);

	if (dir < 0 || len < 0 || (size_t)len >= sizeof(p->workspace))
		return -EINVAL;
	if ((mkdirat(dir, "records", 0700) < 0 || mkdirat(dir, "workspace", 0700) < 0) &&
	    errno != EEXIST)
		return -errno;
	p->programs = open_folder(AT_FDCWD, programs);
	p->records = open_folder(dir, "records");
	return p->programs < 0 || p->records < 0 ? -ENOENT : 0;
}

static int do_kills(const char *programs, const char *root, unsigned long count, uint64_t seed)
{
	struct judge j = {.events = KILLED_EVENTS};
	uint64_t random = seed * 2 + 1;
	char path[PATH_MAX];

	for (unsigned long done = 0; done < count && j.troubles == 0; done += ROUND) {
		struct place p = {.programs = -1, .records = -1};
		int len = snprintf(path, sizeof(path), "%s/round-%lu", root, done / ROUND);

		if (len < 0 || (size_t)len >= sizeof(path) || mkdir(path, 0700) < 0 ||
		    open_place(&p, programs, path) < 0)
			return EXIT_USAGE;
		j.place = &p;
		kill_round(&j, count - done < ROUND ? count - done : ROUND, &random);
		(void)close(p.records);
		(void)close(p.programs);
	}
	(void)printf("# %lu kills: %u whole, %u interrupted, %u with nothing written yet\n", count,
		     j.whole, j.interrupted, j.missing);
	return j.troubles ? EXIT_TROUBLE : 0;
}

/* --- the words -------------------------------------------------------------------------- */

static int do_session(const struct place *p, const char *name, unsigned long events)
{
	struct error e = ERROR_INIT;

	if (write_session(p, name, events, STDOUT_FILENO, &e) == 0)
		return 0;
	(void)fprintf(stderr, "%s\n%s\n", e.text, e.next);
	return EXIT_FAILED;
}

static int do_check(const struct place *p, unsigned long events)
{
	struct judge j = {.place = p, .events = events};
	char line[LEDGER_NAME_MAX + 32];

	while (fgets(line, sizeof(line), stdin)) {
		char *rest = NULL, *name = strtok_r(line, " ", &rest);
		const char *acknowledged = strtok_r(NULL, " ", &rest);
		struct left l = {.name = name, .ended = rest && rest[0] == '1'};

		if (!acknowledged || str_parse_u64(acknowledged, &l.acknowledged) < 0)
			return usage();
		judge_session(&j, &l, true);
	}
	judge_next(&j, "after");
	(void)printf("# %u whole, %u interrupted, %u with nothing written yet\n", j.whole,
		     j.interrupted, j.missing);
	return j.troubles ? EXIT_TROUBLE : 0;
}

/* --- a gate that was taken over ------------------------------------------------------------ */

static int send_as_gate(int fd, enum note_kind kind, const char *op)
{
	_cleanup_buf_ struct buf body = BUF_INIT(4096);
	struct note n;

	note_begin(&n, kind, op);
	note_word(&n, NOTE_FIELD_HOW, "kernel");
	note_encode(&body, &n);
	return channel_if_there(channel_send(fd, MESSAGE_NOTES, buf_span(&body), NULL, 0));
}

static int do_gate(const struct place *p, uint64_t kind)
{
	struct recording r = RECORDING_INIT;
	struct error e = ERROR_INIT;
	const uint64_t status = 0;
	const char *const name = "20261118-000000-gate";
	_cleanup_fd_ int plan = make_plan(p, &e);
	int ret = plan < 0 || kind >= NOTE_KIND_COUNT ? -EINVAL : give_folders(&r, p, name, &e);

	if (ret == 0)
		ret = recording_start(&r, p->programs, plan, &e);
	if (ret == 0)
		ret = recording_wait(&r, &e);
	if (ret == 0)
		ret = send_as_gate(r.gate, NOTE_DNS, "first");
	if (ret == 0)
		ret = send_as_gate(r.gate, (enum note_kind)kind, "tried");
	if (ret == 0)
		ret = send_as_gate(r.gate, NOTE_DNS, "last");
	fd_close(&r.gate);
	recording_end(&r, &status, NULL, &e);
	_cleanup_fd_ int folder = open_folder(p->records, name);
	_cleanup_file_ struct file log = file_map(folder, "000001.log");
	static const char *const ops[] = {"\"first\"", "\"tried\"", "\"last\""};

	if (ret < 0 || log.bytes.len == 0)
		return EXIT_FAILED;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ops); i++)
		(void)printf("%d%c",
			     memmem(log.bytes.ptr, log.bytes.len, ops[i], strlen(ops[i])) != NULL,
			     i == 2 ? '\n' : ' ');
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t first = 0, second = 0;
	struct place p = {.programs = -1, .records = -1};

	/* A recorder that was killed is seen by what it does not answer. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (argc < 5)
		return usage();
	if (str_equal(argv[1], "kills"))
		return argc == 6 && str_parse_u64(argv[4], &first) == 0 &&
				       str_parse_u64(argv[5], &second) == 0
			       ? do_kills(argv[2], argv[3], first, second)
			       : usage();
	if (str_parse_u64(argv[argc - 1], &first) < 0 || open_place(&p, argv[2], argv[3]) < 0)
		return usage();
	if (str_equal(argv[1], "gate") && argc == 5)
		return do_gate(&p, first);
	if (str_equal(argv[1], "session") && argc == 6)
		return do_session(&p, argv[4], first);
	return str_equal(argv[1], "check") && argc == 5 ? do_check(&p, first) : usage();
}
