/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn verify`: does the box hold?
 *
 *	1. Starts itself again with a made-up value for every variable that must
 *	   not get in, so that this process has something to hide.
 *	2. Plans the box that `bawn run` with the same options would make, plus the
 *	   folders of the fixture (fixture.h).
 *	3. Opens two hundred descriptors that must not get in.
 *	4. Runs every control, each in a child of its own.
 *	5. Runs bawn-probe in the box, from a sealed copy in memory.  Its facts come
 *	   from a file that is open for reading; what it prints goes to memory.
 *	6. Compares, and shows.
 *
 * From the box we believe only one word and a note per row, in the table's order; anything else
 * counts as not run.
 */
#include "bawn_verbs.h"
#include "address.h"
#include "client.h"
#include "clock.h"
#include "encode.h"
#include "facts.h"
#include "fd.h"
#include "fixture.h"
#include "helper.h"
#include "layering.h"
#include "prepare.h"
#include "process.h"
#include "record_folder.h"
#include "str.h"
#include "text.h"
#include "verbs.h"
#include "verify_show.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VERIFY_CANARY "BAWN_VERIFY_CANARY"

enum {
	VERIFY_EXTRA_FDS = 200,
	VERIFY_HIGH_FD = 2000,
	VERIFY_OUTPUT_MAX = 4 << 20,
	VERIFY_CANARY_BYTES = 16,
};

struct verify {
	struct prepared prepared;
	struct fixture fixture;
	struct buf text; /* the facts, as lines */
	struct facts facts;
	struct verify_result result;
	bool unshown;
	struct error error;
};

static void verify_fini(struct verify *v)
{
	fixture_stop(&v->fixture);
	prepared_fini(&v->prepared);
	facts_fini(&v->facts);
	buf_fini(&v->text);
	free(v->result.rows);
}

/* --- something to hide ---------------------------------------------------------------- */

/* Our own arguments, as the kernel has them; they point into bytes. */
static char **verify_arguments(struct buf *bytes)
{
	if (fd_read_file_at(AT_FDCWD, "/proc/self/cmdline", bytes) < 0 || bytes->len == 0)
		return NULL;
	size_t count = 0;

	for (size_t i = 0; i < bytes->len; i++)
		count += bytes->ptr[i] == '\0';
	char **argv = calloc(count + 1, sizeof(*argv));
	char *at = bytes->ptr;

	for (size_t i = 0; argv && i < count; i++) {
		argv[i] = at;
		at += strlen(at) + 1;
	}
	return argv;
}

/*
 * /proc/PID/environ shows the environment with which a process was started, so the canary must be
 * there at the start: sets it, and every variable of the table that is not set, and starts this
 * program again.
 */
static int verify_start_over(struct error *e)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(1u << 20);
	char canary[2 * VERIFY_CANARY_BYTES + 1];
	int r = encode_random(canary, VERIFY_CANARY_BYTES);

	if (r < 0)
		return error_sys(e, r, "making a canary");
	for (size_t i = 0; probe_at(i); i++)
		if (probe_at(i)->flags & PROBE_VARIABLE)
			(void)setenv(probe_at(i)->text, "made-up-by-bawn-verify", 0);
	(void)setenv(VERIFY_CANARY, canary, 1);
	_cleanup_free_ char **argv = verify_arguments(&bytes);

	if (argv)
		(void)execv("/proc/self/exe", argv);
	return error_sys(e, argv ? -errno : -EIO, "starting over with a canary");
}

/* Puts the canary into the facts with every bit inverted: see rows_proc.c. */
static void verify_put_canary(struct buf *facts)
{
	const char *canary = getenv(VERIFY_CANARY);
	char turned[VERIFY_CANARY_BYTES * 2 + 1];
	size_t len = 0;

	for (; canary && canary[len] && len < sizeof(turned) - 1; len++)
		turned[len] = (char)((unsigned char)canary[len] ^ 0xffu);
	turned[len] = '\0';
	facts_put(facts, "canary", turned);
}

/*
 * Opens descriptors that an exec would pass on: files, a folder, a connected socket, a high number.
 */
static void verify_open_descriptors(void)
{
	struct rlimit limit;
	int pair[2];

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	int root = open("/", O_RDONLY | O_DIRECTORY); /* NOLINT: meant to be inherited */

	for (int i = 0; root >= 0 && i < VERIFY_EXTRA_FDS; i++)
		if (fcntl(root, F_DUPFD, 100) < 0)
			break;
	if (root >= 0)
		(void)fcntl(root, F_DUPFD, VERIFY_HIGH_FD);
	(void)!socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

/* --- the plan ------------------------------------------------------------------------- */

static char verify_name[] = "bawn-probe";
static char *const verify_argv[] = {verify_name, NULL};

/* Plans the user's own invocation with three more folders. */
static int verify_plan_with_exhibit(struct verify *v, const struct invocation *i)
{
	char hidden[PATH_MAX];
	const char *exhibit = facts_get(&v->facts, "exhibit");
	const char *moving = facts_get(&v->facts, "moving");
	_cleanup_arena_ struct arena arena = ARENA_INIT(1u << 20);
	struct invocation_value *values =
		arena_alloc(&arena, (i->value_count + 3) * sizeof(*values));
	struct invocation more = *i;

	if (!values || !exhibit || !moving)
		return -ENOMEM;
	if (i->value_count > 0)
		memcpy(values, i->values, i->value_count * sizeof(*values));
	(void)snprintf(hidden, sizeof(hidden), "%s/hidden", exhibit);
	values[more.value_count++] = (struct invocation_value){OPTION_READ, exhibit};
	values[more.value_count++] = (struct invocation_value){OPTION_HIDE, hidden};
	values[more.value_count++] = (struct invocation_value){OPTION_WRITE, moving};
	more.values = values;

	struct error e = ERROR_INIT;
	struct prepared prepared;
	int r = prepare_plan(&more, verify_argv, true, &prepared, &e);

	if (r < 0)
		return r;
	prepared_fini(&v->prepared);
	v->prepared = prepared;
	return 0;
}

static int verify_parse_facts(struct verify *v)
{
	facts_fini(&v->facts);
	int r = buf_error(&v->text) ? buf_error(&v->text)
				    : facts_parse(buf_span(&v->text), &v->facts);

	return r < 0 ? error_sys(&v->error, r, "gathering the facts for the probes") : 0;
}

static void verify_put_plan(struct verify *v)
{
	const struct plan *plan = v->prepared.plan;
	char path[PATH_MAX];

	facts_put(&v->text, "home", plan->home);
	facts_put(&v->text, "store", plan->home_store);
	/* STATE/workspaces/NAME/home */
	(void)snprintf(path, sizeof(path), "%s", plan->home_store);
	for (int i = 0; i < 3 && strrchr(path, '/'); i++)
		*strrchr(path, '/') = '\0';
	facts_put(&v->text, "state", path);
	for (size_t i = 0; i < plan->limits.count; i++)
		if (plan->limits.items[i].kind == PLAN_LIMIT_PROCESSES)
			facts_putf(&v->text, "limit.processes", "%llu",
				   (unsigned long long)plan->limits.items[i].value);
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n > 0) {
		path[n] = '\0';
		facts_put(&v->text, "program", path);
	}
}

static int verify_prepare(struct verify *v, const struct invocation *i)
{
	int r = prepare_plan(i, verify_argv, true, &v->prepared, &v->error);

	if (r < 0)
		return r;
	if (v->prepared.plan->backend == PLAN_BACKEND_HOST) {
		r = error_set(&v->error, -ENOTSUP,
			      "the backend is host: there is no box, and everything is open");
		error_next(&v->error, "UNSAFE.  Leave out --backend host to verify a real box.");
		return r;
	}
	r = fixture_start(&v->fixture, v->prepared.plan->home, getenv("XDG_RUNTIME_DIR"), &v->text,
			  &v->error);
	if (r == 0)
		r = verify_parse_facts(v);
	if (r < 0)
		return r;
	/* A ceiling may forbid more folders; then we try the box as it is. */
	v->unshown = verify_plan_with_exhibit(v, i) < 0;
	verify_put_canary(&v->text);
	verify_put_plan(v);
	return verify_parse_facts(v);
}

/* --- what the plan gives -------------------------------------------------------------- */

/* The plan shows exactly this path, from the same path outside, with at least this access. */
static bool verify_gives_path(const struct plan *plan, const char *path, bool write)
{
	const struct plan_mount *best = NULL;

	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		if (str_path_beneath(path, m->target) &&
		    (!best || strlen(m->target) >= strlen(best->target)))
			best = m;
	}
	if (!best || best->kind != PLAN_MOUNT_BIND || !str_equal(best->source, best->target))
		return false;
	return best->access == PLAN_ACCESS_WRITE || (!write && best->access == PLAN_ACCESS_READ);
}

/* A rule allows exactly this address; a rule about a name gives none. */
static bool verify_gives_address(const struct plan *plan, const char *text)
{
	struct address address;

	if (!text || address_parse(span_of_str(text), 0, &address) < 0)
		return false;
	for (size_t i = 0; i < plan->network.count; i++) {
		const struct plan_rule *rule = &plan->network.items[i];

		if (rule->action == PLAN_ACTION_ALLOW &&
		    rule->address.len == sizeof(address.bytes) &&
		    memcmp(rule->address.ptr, address.bytes, sizeof(address.bytes)) == 0)
			return true;
	}
	return false;
}

static bool verify_is_given(const struct verify *v, const struct probe *p)
{
	const struct plan *plan = v->prepared.plan;
	char path[PATH_MAX];

	if (((p->flags & PROBE_DEBUG) && plan->debug) ||
	    ((p->flags & PROBE_SYSTEM) && plan->root.count > 0))
		return true;
	if (p->flags & PROBE_VARIABLE) {
		for (size_t i = 0; i < plan->env.count; i++)
			if (str_equal(plan->env.items[i].name, p->text) &&
			    !str_equal(plan->env.items[i].origin, "BAWN_ABLATE"))
				return true;
	}
	if ((p->flags & PROBE_PATH) && facts_path(&v->facts, p->text, path))
		return verify_gives_path(plan, path, p->number != O_RDONLY);
	if (p->flags & PROBE_ADDRESS)
		return verify_gives_address(plan, str_after(p->text, "host.")
							  ? facts_get(&v->facts, p->text)
							  : p->text);
	return false;
}

/* --- outside, then inside ------------------------------------------------------------- */

static int verify_controls(struct verify *v)
{
	const struct plan *plan = v->prepared.plan;
	const bool filtered = process_is_filtered();

	v->result.count = probe_count();
	v->result.rows = calloc(v->result.count, sizeof(*v->result.rows));
	if (!v->result.rows)
		return error_set(&v->error, -ENOMEM, "no memory for the results");
	for (size_t i = 0; i < v->result.count; i++) {
		struct judge_case *c = &v->result.rows[i].facts;

		c->probe = probe_at(i);
		c->given = verify_is_given(v, c->probe);
		if (c->given && (c->probe->flags & PROBE_ADDRESS))
			facts_put(&v->text, "given", c->probe->name);
		c->unshown = v->unshown;
		c->weaker = plan->without.count + plan->ablate.count > 0 ||
			    (plan->debug && (c->probe->flags & PROBE_DEBUG_ALSO)) ||
			    (filtered && (c->probe->layers & PROBE_LAYER(SECCOMP))) ||
			    (plan->root.count > 0 && (c->probe->flags & PROBE_SYSTEM_ALSO));
		if (c->probe->control == PROBE_CONTROL_NONE || (c->probe->flags & PROBE_AFTER))
			continue;
		run_control(c->probe, &v->facts, &c->outside);
		if (c->probe->flags & PROBE_PATH && c->outside.outcome == PROBE_DONE) {
			char key[96];

			(void)snprintf(key, sizeof(key), "object.%s", c->probe->name);
			facts_put(&v->text, key, c->outside.note);
		}
	}
	return buf_error(&v->text) ? error_sys(&v->error, buf_error(&v->text), "gathering facts")
				   : 0;
}

static void verify_controls_after(struct verify *v)
{
	for (size_t i = 0; i < v->result.count; i++) {
		struct judge_case *c = &v->result.rows[i].facts;

		if (c->probe->flags & PROBE_AFTER)
			run_control(c->probe, &v->facts, &c->outside);
	}
}

/* Makes a copy of bawn-probe that nobody can change any more. */
static int verify_program(struct error *e)
{
	char path[PATH_MAX];
	struct stat st;
	int r = helper_path("bawn-probe", path, sizeof(path));
	_cleanup_fd_ int file = r < 0 ? r : open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0 || fstat(file, &st) < 0)
		return error_sys(e, r < 0 ? r : -errno, "opening bawn-probe");
	_cleanup_fd_ int fd = memfd_create("bawn-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return error_sys(e, -errno, "making a copy of bawn-probe");
	for (off_t at = 0; at < st.st_size;)
		if (sendfile(fd, file, &at, (size_t)(st.st_size - at)) <= 0)
			return error_sys(e, -errno, "copying bawn-probe");
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return error_sys(e, -errno, "sealing bawn-probe");
	return TAKE_FD(fd);
}

/*
 * What bawn-probe gets as 0, 1 and 2, and which rows try to use in the other direction: two pipes
 * of the host, as in a pipeline, and a file of the fixture.  Children of ours serve the other ends
 * of the pipes, because we are busy with the box meanwhile.
 */
struct verify_streams {
	int input, output, errors;
	int answers, complaints; /* to read what came out */
	pid_t feeder, collector;
};

#define VERIFY_STREAMS_INIT ((struct verify_streams){-1, -1, -1, -1, -1, -1, -1})

static void verify_streams_fini(struct verify_streams *s)
{
	fd_close(&s->input);
	fd_close(&s->output);
	fd_close(&s->errors);
	fd_close(&s->answers);
	fd_close(&s->complaints);
	if (s->feeder > 0)
		(void)kill(s->feeder, SIGKILL);
	if (s->feeder > 0)
		(void)waitpid(s->feeder, NULL, 0);
	if (s->collector > 0)
		(void)waitpid(s->collector, NULL, 0);
}

/* Starts a child that copies from one to the other, and has nothing else of ours. */
static pid_t verify_carry(int from, int to, int not_this)
{
	pid_t pid = fork();
	char bytes[4096];
	ssize_t n = 0;

	if (pid != 0)
		return pid;
	(void)close(not_this);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (fd_write_all(to, bytes, (size_t)n) < 0)
			break;
	_exit(0);
}

static void verify_put_lent(struct verify *v, int number, int fd)
{
	struct stat st;
	char key[16];

	(void)snprintf(key, sizeof(key), "lent.%d", number);
	if (fstat(fd, &st) == 0)
		facts_putf(&v->text, key, "%llu:%llu", (unsigned long long)st.st_dev,
			   (unsigned long long)st.st_ino);
}

static int verify_streams_open(struct verify *v, struct verify_streams *s)
{
	char path[PATH_MAX];
	const char *dir = facts_get(&v->facts, "private");
	int in[2] = {-1, -1};
	int out[2] = {-1, -1};

	if (!dir)
		return error_set(&v->error, -ENOENT, "the fixture has no private folder");
	(void)snprintf(path, sizeof(path), "%s/errors", dir);
	s->errors = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	s->complaints = open(path, O_RDONLY | O_CLOEXEC);
	s->answers = memfd_create("bawn-verify", MFD_CLOEXEC);
	_cleanup_fd_ int facts = memfd_create("bawn-verify", MFD_CLOEXEC);

	if (s->errors < 0 || s->complaints < 0 || s->answers < 0 || facts < 0 ||
	    pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return error_sys(&v->error, -errno, "making room for the answers");
	s->input = in[0];
	s->output = out[1];
	_cleanup_fd_ int feed = in[1];
	_cleanup_fd_ int collect = out[0];

	verify_put_lent(v, 0, s->input);
	verify_put_lent(v, 1, s->output);
	verify_put_lent(v, 2, s->errors);
	int r = buf_error(&v->text) ? buf_error(&v->text)
				    : fd_write_all(facts, v->text.ptr, v->text.len);

	if (r == 0 && lseek(facts, 0, SEEK_SET) == 0) {
		/*
		 * Neither child may keep a pipe open for whose end the box or the other one waits.
		 */
		s->feeder = verify_carry(facts, feed, s->output);
		fd_close(&feed);
		s->collector = verify_carry(collect, s->answers, s->output);
	}
	if (r < 0 || s->collector < 0 || s->feeder < 0)
		return error_sys(&v->error, r < 0 ? r : -errno, "handing over the facts");
	return 0;
}

/* Runs it in a box like any other, and drops its layers. */
static int verify_run_client(struct verify *v, struct client_options *lent, int *ret_status)
{
	_cleanup_record_folder_ struct record_folder record = RECORD_FOLDER_INIT;
	_cleanup_layering_ struct layering layering = LAYERING_INIT;
	struct invocation_value anew = {OPTION_FRESH, ""};
	const struct invocation fresh = {.values = &anew, .value_count = 1};
	struct error settled = ERROR_INIT;
	const struct plan *plan = NULL;
	char name[32];
	bool kept = false;
	int r = layering_choose(&layering, &fresh, &v->prepared, &v->error);

	(void)snprintf(name, sizeof(name), "verify-%d", (int)getpid());
	if (r == 0)
		r = layering_begin(&layering, name, &v->prepared, &plan, &v->error);
	/* The box that we prove is the one that is used, so it is recorded, too. */
	if (r == 0 && plan->backend != PLAN_BACKEND_HOST &&
	    !plan_goes_without(plan, PLAN_LAYER_RECORD)) {
		r = record_folder_make(v->prepared.places.state, "verify", &record, &v->error);
		lent->record = &record;
	}
	if (r == 0)
		r = client_run(plan, lent, ret_status, &v->error);
	lent->record = NULL;
	int ended = layering_end(&layering, true, &kept, &settled);

	if (r == 0 && ended < 0) {
		v->error = settled;
		r = ended;
	}
	return r;
}

static int verify_run_inside(struct verify *v, struct buf *output)
{
	struct client_options lent = CLIENT_OPTIONS_INIT;
	_cleanup_buf_ struct buf complaints = BUF_INIT(VERIFY_OUTPUT_MAX);
	_cleanup_(verify_streams_fini) struct verify_streams streams = VERIFY_STREAMS_INIT;
	_cleanup_fd_ int program = verify_program(&v->error);
	int status = 0;

	if (program < 0 || verify_streams_open(v, &streams) < 0)
		return v->error.code;
	lent.stdio = true;
	lent.exec_fd = program;
	lent.fds[0] = streams.input;
	lent.fds[1] = streams.output;
	lent.fds[2] = streams.errors;
	lent.read_value = secret_source_read;
	lent.value_context = &v->prepared.sources;
	int r = verify_run_client(v, &lent, &status);

	if (r < 0)
		return r;
	fd_close(&streams.output);
	while (waitpid(streams.collector, NULL, 0) < 0 && errno == EINTR)
		continue;
	streams.collector = -1;
	if (WIFSIGNALED(status))
		return error_set(&v->error, -EINTR, "bawn-probe was ended by signal %d",
				 WTERMSIG(status));
	if (lseek(streams.answers, 0, SEEK_SET) < 0)
		return error_sys(&v->error, -errno, "reading the answers");
	r = fd_read_all(streams.answers, output);
	if (r == 0 && fd_read_all(streams.complaints, &complaints) == 0 &&
	    (status != 0 || complaints.len > 0))
		(void)error_set(&v->error, -EIO, "bawn-probe ended with status %d inside: %.300s",
				WIFEXITED(status) ? WEXITSTATUS(status) : -1, buf_str(&complaints));
	return r;
}

/* Reads line by line, in the table's order; the first that does not fit ends it. */
static void verify_parse(struct verify *v, struct buf *output)
{
	char *line = output->len > 0 ? output->ptr : NULL;

	for (size_t i = 0; line && i < v->result.count; i++) {
		struct judge_case *c = &v->result.rows[i].facts;
		char *end = strchr(line, '\n');

		if (!end)
			return;
		*end = '\0';
		if (run_parse(line, c->probe, &c->inside) < 0)
			return;
		c->ran = true;
		line = end + 1;
	}
}

static void verify_judge(struct verify *v)
{
	for (size_t i = 0; i < v->result.count; i++) {
		struct verify_row *row = &v->result.rows[i];

		row->verdict = judge(&row->facts, row->why, sizeof(row->why));
		v->result.totals[row->facts.probe->promise][row->verdict]++;
	}
}

static void verify_progress(const struct text *t, const char *line)
{
	_cleanup_buf_ struct buf b = BUF_INIT(256);

	if (!t->tty)
		return;
	buf_putf(&b, "\r\033[K%s", line);
	text_write(t, &b);
}

static int verify_all(struct verify *v, const struct invocation *i)
{
	_cleanup_buf_ struct buf output = BUF_INIT(VERIFY_OUTPUT_MAX);
	struct text err = text_open(STDERR_FILENO);
	int64_t begin = clock_now();
	int r = verify_prepare(v, i);

	if (r < 0)
		return r;
	verify_open_descriptors();
	verify_progress(&err, "trying everything outside, where it must succeed ...");
	r = verify_controls(v);
	if (r == 0) {
		verify_progress(&err, "trying everything inside, where it must fail ...");
		r = verify_run_inside(v, &output);
	}
	verify_progress(&err, "");
	if (r < 0)
		return r;
	verify_parse(v, &output);
	verify_controls_after(v);
	verify_judge(v);
	v->result.milliseconds = (unsigned int)(clock_now() - begin);
	return 0;
}

int verb_verify(const struct invocation *i)
{
	_cleanup_(verify_fini) struct verify v = {
		.prepared = PREPARED_INIT,
		.fixture = FIXTURE_INIT,
		.text = BUF_INIT(FACTS_BYTES_MAX),
		.error = ERROR_INIT,
	};
	struct text out = text_open(STDOUT_FILENO);
	int r = getenv(VERIFY_CANARY) ? 0 : verify_start_over(&v.error);

	if (r == 0)
		r = verify_all(&v, i);
	if (r < 0) {
		verb_complain(&v.error);
		return r == -ENOTSUP ? EXIT_FOUND : EXIT_BAWN;
	}
	if (invocation_has(i, OPTION_JSON))
		r = verify_show_json(v.prepared.plan, &v.result);
	else
		verify_show(&out, v.prepared.plan, &v.result);
	if (v.error.code < 0)
		verb_complain(&v.error);
	return r == 0 && verify_holds(&v.result) ? EXIT_OK : EXIT_FOUND;
}
