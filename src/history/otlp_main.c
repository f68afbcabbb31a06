/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-otlp: sends records to the collector that the variables of OpenTelemetry name.
 *
 *	bawn-otlp follow STATE SESSION	beside a session, which holds the other end of 3; sends the
 *					session's record as it grows, and in between what earlier
 *					ones left.  When 3 is closed it has two seconds; then it
 *					writes one line to 3 when there is something to say
 *	bawn-otlp send STATE [SESSION]	from the command line: sends that session's, or all that
 *					began to be sent and are not complete
 *
 * It is outside every box, and nobody waits for it: a record is written whether or not it is sent.
 * It is linked dynamically, like bawn-resolver, because glibc finds its name services that way.
 *
 * May: read the records, keep how far it came (otlp_cursor.h), talk to the one collector.  Must
 * not: write anything else, start a program.
 */
#include "dir.h"
#include "fd.h"
#include "landlock.h"
#include "open.h"
#include "otlp_send.h"
#include "process.h"
#include "profile.h"
#include "str.h"
#include "text.h"
#include "verbs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAIN_OWNER = 3,
	MAIN_GATHER_MS = 1000, /* how long events wait for others to go with */
	MAIN_END_STEP_MS = 20,
	MAIN_TRIES = 5, /* in a row, from the command line */
	MAIN_COUNT_MOST = 1000000,
	MAIN_NEVER = 1 << 30, /* milliseconds */
};

struct main {
	struct otlp_settings settings;
	struct otlp_sender sender;
	struct store store;
	int sent; /* STATE/sent */
	char host[256];
};

/* --- what it gives up ----------------------------------------------------------------- */

/* It runs before the program reads a record or talks to anybody.  After it the program can read
 * what name services and OpenSSL read and the records, write only STATE/sent, and start no
 * program. */

static int confine_grant(int ruleset, int abi, const char *path)
{
	_cleanup_fd_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	/* What does not exist needs no grant. */
	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	return landlock_grant(ruleset, abi, fd, S_ISDIR(st.st_mode), LANDLOCK_GRANT_READ);
}

static int confine_files(int sent, int records, const char *certificate)
{
	static const char *const readable[] = {"/etc", "/usr", "/lib", "/lib64", "/run",
					       "/var", "/opt", "/nix", "/proc",  "/dev"};
	int abi = landlock_abi();

	if (abi < 0)
		return 0;
	_cleanup_fd_ int ruleset = landlock_new(abi, false);
	int r = ruleset < 0 ? ruleset : 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(readable); i++)
		r = confine_grant(ruleset, abi, readable[i]);
	if (r == 0 && certificate)
		r = confine_grant(ruleset, abi, certificate);
	if (r == 0)
		r = landlock_grant(ruleset, abi, records, true, LANDLOCK_GRANT_READ);
	if (r == 0)
		r = landlock_grant(ruleset, abi, sent, true, LANDLOCK_GRANT_WRITE);
	return r < 0 ? r : landlock_restrict(ruleset);
}

/* certificate: one more file to read; NULL: none.  0 or -errno. */
static int main_confine(int sent, int records, const char *certificate)
{
	int r = process_no_new_privs();

	if (r == 0)
		r = process_not_dumpable();
	if (r == 0)
		r = confine_files(sent, records, certificate);
	if (r == 0)
		r = process_filter(profile_bpf(PROFILE_SENDER));
	/* On a kernel without filters there is no session whose record we could send, unless the
	 * user asked for one by name. */
	return r == -ENOSYS || r == -EINVAL ? 0 : r;
}

/* --- opening -------------------------------------------------------------------------- */

static int main_open(struct main *m, const char *state, int owner, struct error *e)
{
	int r = otlp_settings_read(&m->settings, environ, e);

	if (r < 0)
		return r;
	if (!m->settings.on)
		return error_set(e, -ENOENT,
				 "no collector is named: set "
				 "OTEL_EXPORTER_OTLP_ENDPOINT to its address");
	_cleanup_fd_ int dir = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return error_sys(e, -errno, "opening %s", state);
	if (mkdirat(dir, "sent", 0700) < 0 && errno != EEXIST)
		return error_sys(e, -errno, "making %s/sent", state);
	m->sent = open_beneath(dir, "sent", O_RDONLY | O_DIRECTORY, 0);
	int records = open_beneath(dir, "record", O_RDONLY | O_DIRECTORY, 0);

	if (m->sent < 0 || records < 0) {
		r = m->sent < 0 ? m->sent : records;
		fd_close(&records);
		return error_sys(e, r, "opening the records in %s", state);
	}
	r = main_confine(m->sent, records, m->settings.certificate);
	if (r < 0) {
		fd_close(&records);
		return error_sys(e, r, "confining bawn-otlp");
	}
	if (gethostname(m->host, sizeof(m->host) - 1) < 0 || m->host[0] == '\0')
		(void)snprintf(m->host, sizeof(m->host), "localhost");
	otlp_sender_init(&m->sender, &m->settings, m->host, owner);
	return store_open(records, &m->store, e);
}

static void main_close(struct main *m)
{
	otlp_sender_fini(&m->sender);
	store_fini(&m->store);
	otlp_settings_fini(&m->settings);
	fd_close(&m->sent);
}

/* --- what earlier sessions left ------------------------------------------------------- */

/* The next session from *at on that began to be sent, is not complete, and that nobody else
 * sends. */
static bool main_next_left(struct main *m, size_t *at, const struct store_session *but,
			   struct otlp_stream *ret)
{
	for (; *at < m->store.count; ++*at) {
		const struct store_session *s = &m->store.sessions[*at];
		struct error e = ERROR_INIT;

		if (s == but || faccessat(m->sent, s->folder, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ||
		    otlp_stream_open(ret, &m->sender, &m->store, s, m->sent, false, &e) < 0)
			continue;
		if (!ret->cursor.whole)
			return true;
		otlp_stream_close(ret);
	}
	return false;
}

/* Removes the cursors of sessions whose record is gone. */
static void main_forget_gone(struct main *m)
{
	_cleanup_dir_ DIR *dir = dir_open(m->sent, ".", NULL);

	for (const struct dirent *entry; (entry = dir_next(dir, NULL));) {
		struct store_session s;
		size_t i = 0;

		if (!store_parse_folder(entry->d_name, &s))
			continue;
		while (i < m->store.count && !str_equal(m->store.sessions[i].folder, s.folder))
			i++;
		_cleanup_fd_ int gone =
			i < m->store.count
				? -1
				: open_beneath(m->sent, s.folder, O_RDONLY | O_DIRECTORY, 0);

		if (gone < 0)
			continue;
		(void)unlinkat(gone, "cursor", 0);
		(void)unlinkat(gone, "cursor.new", 0);
		(void)unlinkat(m->sent, s.folder, AT_REMOVEDIR);
	}
}

/* --- beside a session ----------------------------------------------------------------- */

struct follow {
	struct main *main;
	struct otlp_stream own, left;
	bool has_left;
	size_t left_at;
	int watch;   /* inotify, for the session's folder */
	int64_t due; /* when we look again for events of the session */
};

/* Waits for the pause after a failure.  False: the end is near, and we have tried once since
 * then. */
static bool follow_pause(struct follow *f, bool *tried_at_end)
{
	struct otlp_sender *s = &f->main->sender;

	if (!otlp_clock_is_ending(&s->clock))
		(void)otlp_clock_wait(&s->clock, -1, 0, s->not_before);
	if (!otlp_clock_is_ending(&s->clock))
		return true;
	bool again = !*tried_at_end;

	*tried_at_end = true;
	return again;
}

/* Nothing of ours is left: sends something of earlier sessions.  Returns what otlp_send returns. */
static int follow_left(struct follow *f, struct error *e)
{
	struct main *m = f->main;

	if (!f->has_left) {
		f->has_left = main_next_left(m, &f->left_at, f->own.session, &f->left);
		f->left_at++;
	}
	if (!f->has_left)
		return 0;
	int r = otlp_send(&m->sender, &f->left, e);

	if (r == 0 && !store_is_running(&m->store, f->left.session))
		r = otlp_stream_finish(&f->left, e);
	if (r == 0 || (r < 0 && r != -EAGAIN)) {
		otlp_stream_close(&f->left);
		f->has_left = false;
		r = 1; /* look for another; one that cannot be read must not stop them */
	}
	return r;
}

/* Waits until the session's folder changes, and then a moment for more to come. */
static void follow_wait(struct follow *f)
{
	struct otlp_clock *c = &f->main->sender.clock;
	char events[4096];
	int64_t never = otlp_clock_now() + MAIN_NEVER;

	if (otlp_clock_wait(c, f->watch, POLLIN, never) == 1 && !otlp_clock_is_ending(c))
		(void)otlp_clock_wait(c, -1, 0, otlp_clock_now() + MAIN_GATHER_MS);
	while (read(f->watch, events, sizeof(events)) > 0)
		continue;
}

/* 1: go on.  0: all is sent and the session is over.  -errno: it makes no sense to go on. */
static int follow_step(struct follow *f, bool *tried_at_end, struct error *e)
{
	struct otlp_sender *s = &f->main->sender;
	bool over = otlp_clock_is_ending(&s->clock) &&
		    !store_is_running(&f->main->store, f->own.session);

	f->own.over = over;
	int r = otlp_clock_now() >= f->due || otlp_clock_is_ending(&s->clock)
			? otlp_send(s, &f->own, e)
			: 0;

	if (r == 0 && over)
		return otlp_stream_finish(&f->own, e);
	if (r == 0 && otlp_clock_is_ending(&s->clock)) {
		if (otlp_clock_now() >= s->clock.ends)
			return -ECANCELED;
		(void)poll(NULL, 0, MAIN_END_STEP_MS);
		return 1;
	}
	if (r == 0) {
		f->due = otlp_clock_now() + MAIN_GATHER_MS;
		r = follow_left(f, e);
	}
	if (r == 0) {
		f->due = 0;
		follow_wait(f);
		return 1;
	}
	if (r == -EAGAIN)
		return follow_pause(f, tried_at_end) ? 1 : -ECANCELED;
	return r;
}

/* Writes one line for the session's terminal, when there is something to say. */
static void follow_report(struct follow *f, bool whole)
{
	const struct otlp_sender *s = &f->main->sender;
	char line[512] = "";

	if (!whole) {
		uint64_t left = otlp_stream_left(&f->own, MAIN_COUNT_MOST);

		(void)snprintf(line, sizeof(line),
			       "%" PRIu64 " events of this session are not sent yet%s%s; the next "
			       "session or 'bawn record send' sends them",
			       left, s->problem[0] ? ": " : "", s->problem);
	} else if (f->own.refused > 0) {
		(void)snprintf(line, sizeof(line),
			       "%" PRIu64 " events of this session were refused%s%s",
			       f->own.refused, s->problem[0] ? ": " : "", s->problem);
	}
	if (line[0])
		(void)fd_write_all(MAIN_OWNER, line, strlen(line));
}

static int main_follow(struct main *m, const char *session, struct error *e)
{
	struct follow f = {
		.main = m, .own = OTLP_STREAM_INIT, .left = OTLP_STREAM_INIT, .watch = -1};
	const struct store_session *s = store_find(&m->store, session, e);
	bool tried_at_end = false;
	int r = s ? otlp_stream_open(&f.own, &m->sender, &m->store, s, m->sent, true, e) : e->code;

	if (r < 0)
		return r;
	/* From now on the next session knows of this one. */
	r = otlp_cursor_keep(&f.own.cursor, e);
	f.watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (r == 0) {
		char path[64];

		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", f.own.record.folder);
		if (f.watch < 0 ||
		    inotify_add_watch(f.watch, path, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
			r = error_sys(e, -errno, "watching the record of %s", session);
	}
	if (r == 0)
		main_forget_gone(m);
	while (r == 0) {
		int step = follow_step(&f, &tried_at_end, e);

		if (step == 1)
			continue;
		follow_report(&f, step == 0);
		break;
	}
	if (f.has_left)
		otlp_stream_close(&f.left);
	otlp_stream_close(&f.own);
	fd_close(&f.watch);
	return r;
}

/* --- from the command line ------------------------------------------------------------ */

/* Sends all of one session: 0; 1 when some is left; or -errno. */
static int send_one(struct main *m, struct otlp_stream *s, const struct text *t, struct error *e)
{
	struct otlp_sender *sender = &m->sender;
	int r;

	while ((r = otlp_send(sender, s, e)) == 1 ||
	       (r == -EAGAIN && sender->failures < MAIN_TRIES))
		if (r == -EAGAIN)
			(void)otlp_clock_wait(&sender->clock, -1, 0, sender->not_before);
	if (r == 0 && !store_is_running(&m->store, s->session))
		r = otlp_stream_finish(s, e);
	text_printf(t, "%s  %" PRIu64 " events sent", s->session->folder, s->sent);
	if (s->refused > 0)
		text_printf(t, ", %" PRIu64 " refused", s->refused);
	if (r < 0)
		text_printf(t, ", %" PRIu64 " left: %s", otlp_stream_left(s, MAIN_COUNT_MOST),
			    sender->problem);
	text_printf(t, "\n");
	return r == -EAGAIN || r == -EREMOTEIO ? 1 : r;
}

static int main_send(struct main *m, const char *session, struct error *e)
{
	struct text t = text_open(STDOUT_FILENO);
	struct otlp_stream s = OTLP_STREAM_INIT;
	int worst = 0;

	if (session) {
		const struct store_session *one = store_find(&m->store, session, e);
		int r = one ? otlp_stream_open(&s, &m->sender, &m->store, one, m->sent, true, e)
			    : e->code;

		if (r < 0)
			return r;
		r = send_one(m, &s, &t, e);
		otlp_stream_close(&s);
		return r;
	}
	size_t at = 0, count = 0;

	for (; worst >= 0 && main_next_left(m, &at, NULL, &s); at++, count++) {
		int r = send_one(m, &s, &t, e);

		otlp_stream_close(&s);
		worst = r < 0 || worst == 0 ? r : worst;
		if (r == 1)
			break; /* the collector will not take the others either */
	}
	if (count == 0)
		text_printf(&t, "nothing is left to send\n");
	return worst;
}

int main(int argc, char **argv)
{
	static struct main m = {.settings = {.arena = {.max = OTLP_SETTINGS_BYTES}},
				.store = {.dir = -1},
				.sent = -1};
	bool follow = argc == 4 && str_equal(argv[1], "follow");
	struct error e = ERROR_INIT;

	if (!follow && !((argc == 3 || argc == 4) && str_equal(argv[1], "send")))
		return EXIT_USAGE;
	(void)signal(SIGPIPE, SIG_IGN);
	if (follow) {
		(void)setsid();
		(void)fd_set_cloexec(MAIN_OWNER, true);
	}
	int r = main_open(&m, argv[2], follow ? MAIN_OWNER : -1, &e);

	if (r == 0)
		r = follow ? main_follow(&m, argv[3], &e) : main_send(&m, argv[3], &e);
	if (r < 0 && follow) {
		char line[700];
		int len = snprintf(line, sizeof(line), "the record is not sent: %.640s", e.text);

		(void)fd_write_all(MAIN_OWNER, line, (size_t)(len > 0 ? len : 0));
	} else if (r < 0) {
		struct text t = text_open(STDERR_FILENO);

		text_printf(&t, "bawn: %s\n", e.text);
		if (e.next[0])
			text_printf(&t, "      %s\n", e.next);
	}
	main_close(&m);
	return r < 0 ? EXIT_BAWN : r;
}
