/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a record as a session would leave it, for tests and measurements that need a large or a
 * strange one: segments, ledger and all, through the recorder's own writer.
 *
 *	make_record RECORDS NAME EVENTS [open]		a morning's work, over and over, about so
 *							many events
 *	make_record RECORDS NAME strings FILE		each line of FILE, hexadecimal, as a text
 *							in every place
 *
 * RECORDS is the folder of all records, which exists; NAME is the session's folder in it, and
 * what follows its time the session's name.  With `open` the session has no end.
 * The writer waits for a disk that is none (a memfd): a large record is copied out in segments.
 */
#include "encode.h"
#include "event.h"
#include "fd.h"
#include "ledger.h"
#include "str.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENT = 64 << 20, LINE = 16 << 10 };

struct maker {
	int folder, memory;
	unsigned int segment;
	uint64_t exec, turn;
	struct writer w;
	struct note n;
	int r; /* the first failure */
};

/* What was written so far becomes the next segment. */
static int take_out(struct maker *m)
{
	char name[32];
	struct stat st;
	off_t at = 0;

	(void)snprintf(name, sizeof(name), "%06u.log", ++m->segment);
	_cleanup_fd_ int fd =
		openat(m->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || fstat(m->memory, &st) < 0)
		return -errno;
	while (at < st.st_size)
		if (sendfile(fd, m->memory, &at, (size_t)(st.st_size - at)) <= 0)
			return -errno;
	if (ftruncate(m->memory, 0) < 0 || lseek(m->memory, 0, SEEK_SET) < 0)
		return -errno;
	return 0;
}

static void put(struct maker *m)
{
	if (m->r == 0)
		m->r = event_write(&m->w, &m->n.m);
	if (m->r == 0 && m->w.waiting == 0 && lseek(m->memory, 0, SEEK_CUR) >= SEGMENT)
		m->r = take_out(m);
}

/* --- a session's events --------------------------------------------------------------- */

/* The notes point at these until they are put. */
BAWN_PRINTF(2, 3)
static struct span words(char *into, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(into, 256, fmt, ap);

	va_end(ap);
	return (struct span){(const uint8_t *)into, len < 256 ? (size_t)len : 255};
}

static void begin(struct maker *m, enum note_kind kind, const char *op, const char *how,
		  const char *verdict)
{
	note_begin(&m->n, kind, op);
	note_word(&m->n, NOTE_FIELD_HOW, how);
	note_word(&m->n, NOTE_FIELD_VERDICT, verdict);
}

static void begin_by(struct maker *m, enum note_kind kind, const char *op, const char *how,
		     const char *verdict)
{
	begin(m, kind, op, how, verdict);
	note_number(&m->n, NOTE_FIELD_EXEC, m->exec);
	note_number(&m->n, NOTE_FIELD_PID, 4000 + m->exec % 20000);
}

static void put_session(struct maker *m, const char *name, uint64_t number)
{
	static const char plan[] =
		"b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c";

	begin(m, NOTE_SESSION, "begin", "kernel", NULL);
	note_text(&m->n, NOTE_FIELD_ARGV, SPAN_LITERAL("claude"));
	note_text(&m->n, NOTE_FIELD_ARGV, SPAN_LITERAL("--continue"));
	note_text(&m->n, NOTE_FIELD_CWD, SPAN_LITERAL("/home/someone/src/project"));
	note_text(&m->n, NOTE_FIELD_NAME, span_of_str(name));
	note_number(&m->n, NOTE_FIELD_NUMBER, number);
	note_word(&m->n, NOTE_FIELD_PLAN, plan);
	note_word(&m->n, NOTE_FIELD_VERSION, "0.1.0");
	note_number(&m->n, NOTE_FIELD_FORMAT, 1);
	note_text(&m->n, NOTE_FIELD_WORKSPACE, SPAN_LITERAL("/home/someone/src/project"));
	note_word(&m->n, NOTE_FIELD_ACCESS, "direct");
	note_text(&m->n, NOTE_FIELD_AGENT, SPAN_LITERAL("claude"));
	note_word(&m->n, NOTE_FIELD_BACKEND, "namespace");
	put(m);
	begin(m, NOTE_SESSION, "ready", "kernel", NULL);
	note_number(&m->n, NOTE_FIELD_PROBES, 24);
	note_word(&m->n, NOTE_FIELD_WATCHED, "all");
	put(m);
}

static void put_exec(struct maker *m, uint64_t parent, const char *path, const char *const *argv)
{
	m->exec++;
	begin(m, NOTE_PROCESS, "exec", "reported", NULL);
	note_number(&m->n, NOTE_FIELD_EXEC, m->exec);
	note_number(&m->n, NOTE_FIELD_PARENT, parent);
	note_number(&m->n, NOTE_FIELD_PID, 4000 + m->exec % 20000);
	note_text(&m->n, NOTE_FIELD_PATH, span_of_str(path));
	for (; *argv; argv++)
		note_text(&m->n, NOTE_FIELD_ARGV, span_of_str(*argv));
	note_text(&m->n, NOTE_FIELD_CWD, SPAN_LITERAL("/home/someone/src/project"));
	put(m);
	begin_by(m, NOTE_PROCESS, "ran", "kernel", NULL);
	note_text(&m->n, NOTE_FIELD_PATH, span_of_str(path));
	note_number(&m->n, NOTE_FIELD_DEVICE, 2049);
	note_number(&m->n, NOTE_FIELD_INODE, 131072 + m->exec % 50);
	put(m);
}

static void put_file(struct maker *m, const char *op, const char *verdict, struct span path)
{
	begin_by(m, NOTE_FILE, op, "reported", verdict);
	note_text(&m->n, NOTE_FIELD_PATH, path);
	put(m);
}

static void put_exit(struct maker *m, uint64_t status)
{
	begin_by(m, NOTE_PROCESS, "exit", "kernel", NULL);
	note_number(&m->n, NOTE_FIELD_EXIT, status);
	put(m);
}

static void put_host(struct maker *m, enum note_kind kind, const char *op, const char *host,
		     bool allowed)
{
	char line[256];

	begin(m, kind, op, "kernel", allowed ? "allowed" : "refused");
	note_number(&m->n, NOTE_FIELD_EXEC, m->exec);
	note_word(&m->n, NOTE_FIELD_BY, "reported");
	if (str_equal(op, "request"))
		note_text(&m->n, NOTE_FIELD_PATH, SPAN_LITERAL("/v1/messages"));
	note_text(&m->n, NOTE_FIELD_HOST, span_of_str(host));
	if (kind == NOTE_NETWORK)
		note_number(&m->n, NOTE_FIELD_PORT, 443);
	if (str_equal(op, "connect") && allowed)
		note_text(&m->n, NOTE_FIELD_ADDRESS, SPAN_LITERAL("192.0.2.7"));
	if (str_equal(op, "connect"))
		note_word(&m->n, NOTE_FIELD_SCHEME, "tls");
	if (str_equal(op, "request")) {
		note_text(&m->n, NOTE_FIELD_METHOD, SPAN_LITERAL("POST"));
		note_number(&m->n, NOTE_FIELD_STATUS, 200);
	}
	if (str_equal(op, "request") || str_equal(op, "close")) {
		note_number(&m->n, NOTE_FIELD_SENT, 20480 + m->turn);
		note_number(&m->n, NOTE_FIELD_RECEIVED, 1536);
		note_number(&m->n, NOTE_FIELD_MS, 840);
	}
	if (kind == NOTE_DNS)
		note_word(&m->n, NOTE_FIELD_TYPE, "A");
	if (allowed) {
		note_text(&m->n, NOTE_FIELD_RULE, SPAN_LITERAL("preset claude"));
	} else {
		note_text(&m->n, NOTE_FIELD_REASON, SPAN_LITERAL("no rule names it"));
		note_text(&m->n, NOTE_FIELD_ALLOW, words(line, "- allow: %s", host));
	}
	put(m);
}

static void put_network(struct maker *m)
{
	put_host(m, NOTE_DNS, "question", "api.example.org", true);
	put_host(m, NOTE_NETWORK, "connect", "api.example.org", true);
	begin(m, NOTE_SECRET, "use", "kernel", "allowed");
	note_number(&m->n, NOTE_FIELD_EXEC, m->exec);
	note_text(&m->n, NOTE_FIELD_HOST, SPAN_LITERAL("api.example.org"));
	note_number(&m->n, NOTE_FIELD_PORT, 443);
	note_text(&m->n, NOTE_FIELD_SECRET, SPAN_LITERAL("anthropic"));
	put(m);
	put_host(m, NOTE_NETWORK, "request", "api.example.org", true);
	put_host(m, NOTE_NETWORK, "close", "api.example.org", true);
	if (m->turn % 10 == 0) {
		put_host(m, NOTE_DNS, "question", "telemetry.test", false);
		put_host(m, NOTE_NETWORK, "connect", "evil.test", false);
	}
}

/* The agent asks its model, looks around, writes, compiles. */
static void put_turn(struct maker *m)
{
	static const char *const git[] = {"git", "status", "--short", NULL};
	static const char *const make[] = {"make", "-j2", NULL};
	char path[256];
	uint64_t agent = 1, t = m->turn++;

	put_network(m);
	put_exec(m, agent, "/usr/bin/git", git);
	put_file(m, "read", NULL, SPAN_LITERAL("/etc/gitconfig"));
	if (t % 16 == 3)
		put_file(m, "read", "refused", SPAN_LITERAL("/home/someone/.ssh/id_ed25519"));
	put_exit(m, 0);
	put_exec(m, agent, "/usr/bin/make", make);
	for (unsigned int i = 0; i < 12; i++) {
		put_file(m, "create", NULL,
			 words(path, "/home/someone/src/project/build/part%llu/file%llu.o",
			       (unsigned long long)(t / 16 % 40),
			       (unsigned long long)(t * 12 + i) % 20000));
		put_file(m, "write", NULL,
			 words(path, "/home/someone/src/project/build/part%llu/file%llu.o",
			       (unsigned long long)(t / 16 % 40),
			       (unsigned long long)(t * 12 + i) % 20000));
	}
	if (t % 64 == 9) {
		begin_by(m, NOTE_CALL, NULL, "kernel", "refused");
		note_word(&m->n, NOTE_FIELD_CALLED, "mount");
		put(m);
	}
	put_exit(m, t % 8 == 0 ? 2 : 0);
}

static void put_work(struct maker *m, uint64_t events)
{
	static const char *const agent[] = {"claude", "--continue", NULL};

	put_exec(m, 0, "/usr/local/bin/claude", agent);
	while (m->r == 0 && m->w.seq + 40 < events)
		put_turn(m);
}

/* --- strange texts -------------------------------------------------------------------- */

/* One event for each place that takes a text. */
static void put_strange(struct maker *m, struct span text)
{
	static const struct {
		enum note_kind kind;
		const char *op;
		enum note_field field;
	} places[] = {
		{NOTE_PROCESS, "exec", NOTE_FIELD_PATH},
		{NOTE_PROCESS, "exec", NOTE_FIELD_ARGV},
		{NOTE_PROCESS, "exec", NOTE_FIELD_CWD},
		{NOTE_FILE, "write", NOTE_FIELD_PATH},
		{NOTE_FILE, "rename", NOTE_FIELD_TO},
		{NOTE_NETWORK, "connect", NOTE_FIELD_HOST},
		{NOTE_NETWORK, "connect", NOTE_FIELD_ADDRESS},
		{NOTE_NETWORK, "request", NOTE_FIELD_PATH},
		{NOTE_NETWORK, "request", NOTE_FIELD_METHOD},
		{NOTE_DNS, "question", NOTE_FIELD_HOST},
		{NOTE_SECRET, "use", NOTE_FIELD_SECRET},
		{NOTE_NETWORK, "connect", NOTE_FIELD_RULE},
		{NOTE_NETWORK, "connect", NOTE_FIELD_REASON},
		{NOTE_NETWORK, "connect", NOTE_FIELD_ALLOW},
		{NOTE_GRANT, "allow", NOTE_FIELD_ORIGIN},
		{NOTE_SESSION, "begin", NOTE_FIELD_NAME},
		{NOTE_SESSION, "begin", NOTE_FIELD_WORKSPACE},
		{NOTE_SESSION, "begin", NOTE_FIELD_AGENT},
		{NOTE_SESSION, "begin", NOTE_FIELD_WITHOUT},
		{NOTE_TAMPER, "unattributed", NOTE_FIELD_PATH},
		{NOTE_GAP, NULL, NOTE_FIELD_REASON},
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(places); i++) {
		begin(m, places[i].kind, places[i].op, "reported", i % 2 ? "refused" : NULL);
		if (places[i].kind == NOTE_PROCESS)
			m->exec++;
		note_number(&m->n, NOTE_FIELD_EXEC, m->exec);
		note_text(&m->n, places[i].field, text);
		put(m);
	}
}

static int put_strings(struct maker *m, const char *path)
{
	_cleanup_buf_ struct buf file = BUF_INIT(16 << 20);
	static uint8_t bytes[LINE];
	int r = fd_read_file_at(AT_FDCWD, path, &file);
	size_t len = 0;

	if (r < 0)
		return r;
	for (size_t i = 0; i < file.len && m->r == 0; i++) {
		if (file.ptr[i] == '\n') {
			put_strange(m, (struct span){bytes, len / 2});
			len = 0;
			continue;
		}
		int digit = decode_hex_digit((uint8_t)file.ptr[i]);

		if (digit < 0 || len / 2 == LINE)
			return -EINVAL;
		bytes[len / 2] = (uint8_t)(len % 2 ? bytes[len / 2] << 4 | digit : digit);
		len++;
	}
	return m->r;
}

/* --- the folder ----------------------------------------------------------------------- */

static int make(struct maker *m, int records, const char *folder, char **what)
{
	struct error e = ERROR_INIT;
	struct ledger_end end = {.session = folder};
	_cleanup_fd_ int ledger = ledger_open(records, &e);
	const char *name = strlen(folder) > 16 ? folder + 16 : folder;
	struct hash key;
	int r = ledger < 0 ? ledger : ledger_begin(records, ledger, folder, &end.number, &key, &e);

	if (r < 0)
		return r;
	writer_init(&m->w, m->memory, &key);
	put_session(m, name, end.number);
	if (str_equal(what[0], "strings"))
		m->r = what[1] ? put_strings(m, what[1]) : -EINVAL;
	else
		put_work(m, strtoull(what[0], NULL, 10));
	if (!what[1] || !str_equal(what[1], "open")) {
		begin(m, NOTE_SESSION, "end", "kernel", NULL);
		note_number(&m->n, NOTE_FIELD_EXIT, 0);
		note_number(&m->n, NOTE_FIELD_EVENTS, m->w.seq + 1);
		note_number(&m->n, NOTE_FIELD_UNATTRIBUTED, 0);
		put(m);
	}
	if (m->r == 0)
		m->r = writer_commit(&m->w);
	if (m->r == 0)
		m->r = take_out(m);
	end.events = m->w.seq;
	end.head = m->w.prev;
	merkle_root(&m->w.tree, &end.root);
	writer_fini(&m->w);
	if (m->r == 0 && (!what[1] || !str_equal(what[1], "open")))
		m->r = ledger_enter_end(ledger, &end, &e);
	return m->r;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		(void)fprintf(stderr, "make_record RECORDS NAME EVENTS [open] | strings FILE\n");
		return 2;
	}
	static struct maker m;
	_cleanup_fd_ int records = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (records < 0 || mkdirat(records, argv[2], 0700) < 0) {
		perror(argv[1]);
		return 1;
	}
	m.folder = openat(records, argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	m.memory = memfd_create("record", MFD_CLOEXEC);
	int r = m.folder < 0 || m.memory < 0 ? -errno : make(&m, records, argv[2], argv + 3);

	if (r < 0)
		(void)fprintf(stderr, "make_record: %s\n", strerror(-r));
	return r < 0;
}
