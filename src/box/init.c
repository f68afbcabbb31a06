/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pid 1 of the box: it reaps, starts what the keeper names, passes signals on,
 * reports ends, pauses the others (pause.h) and counts their processor time (used.h) when asked.  It does nothing else, and it has
 * no more rights than the agent.  When the keeper is gone, init ends, and the kernel ends every
 * process of the box with it.
 */
#include "init.h"

#include "channel.h"
#include "fd.h"
#include "job.h"
#include "loop.h"
#include "message_box.h"
#include "message_control.h"
#include "pause.h"
#include "process.h"
#include "used.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INIT_JOBS_MAX = 48, INIT_LATER_MAX = 64, INIT_SERVING = 0 };

struct init;

struct init_job {
	struct init *init;
	uint64_t id;   /* 0: free */
	pid_t pid;     /* the command, or its terminal's leader */
	pid_t command; /* of a job with a terminal, once the leader told; else pid */
	int report;
	struct loop_handle report_handle;
};

struct init {
	const struct plan *plan;
	struct loop loop;
	struct channel channel;
	struct loop_handle channel_handle, signal_handle;
	int processes; /* a /proc that shows all of them; -1 none */
	int signals;
	struct init_job jobs[INIT_JOBS_MAX];
	struct pause pause;
	uint64_t pause_id;
	/* SIGNAL and CONTINUE that came during a pause. */
	struct {
		enum message_type type;
		struct message_job message;
	} later[INIT_LATER_MAX];
	size_t later_count;
};

static int init_send_job(struct init *in, enum message_type type, uint64_t job, uint64_t value)
{
	struct message_job m = {job, value};

	return message_send(in->channel.fd, type, &message_job_schema, &m, NULL, 0);
}

static struct init_job *init_job_by_id(struct init *in, uint64_t id)
{
	for (size_t i = 0; id != 0 && i < INIT_JOBS_MAX; i++)
		if (in->jobs[i].id == id)
			return &in->jobs[i];
	return NULL;
}

static struct init_job *init_job_free_slot(struct init *in)
{
	for (size_t i = 0; i < INIT_JOBS_MAX; i++)
		if (in->jobs[i].id == 0)
			return &in->jobs[i];
	return NULL;
}

static void init_job_end(struct init_job *job)
{
	loop_remove(&job->init->loop, &job->report_handle);
	fd_close(&job->report);
	job->id = 0;
}

/* A leader wrote: the command's pid, or that it stopped. */
static int init_on_report(void *context, uint32_t events)
{
	struct init_job *job = context;
	struct job_report report;

	(void)events;
	ssize_t n = read(job->report, &report, sizeof(report));

	if (n != (ssize_t)sizeof(report)) {
		/* The leader is gone; init learns its status after SIGCHLD. */
		loop_remove(&job->init->loop, &job->report_handle);
		return 0;
	}
	if (report.stopped)
		return init_send_job(job->init, MESSAGE_STOPPED, job->id, (uint64_t)report.value);
	job->command = report.value;
	return 0;
}

static int init_watch_reports(struct init *in, struct init_job *job, int *ret_write)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	int r = loop_add(&in->loop, ends[0], EPOLLIN, init_on_report, job, &job->report_handle);

	job->report = ends[0];
	*ret_write = ends[1];
	return r;
}

/* Puts the given descriptors where the spawn message says. */
static int init_sort_fds(const struct message_spawn *spawn, const struct channel_packet *packet,
			 int ret_sorted[4])
{
	size_t next = 0;

	for (int i = 0; i < 4; i++) {
		ret_sorted[i] = -1;
		if (!(spawn->gives >> i & 1))
			continue;
		if (next == packet->fd_count)
			return -EPROTO;
		ret_sorted[i] = packet->fds[next++];
	}
	return next == packet->fd_count && spawn->gives < 16 ? 0 : -EPROTO;
}

static int init_start_job(struct init *in, struct init_job *job, struct job_start *start,
			  struct error *e)
{
	_cleanup_fd_ int master = -1;
	_cleanup_fd_ int slave = -1;
	_cleanup_fd_ int report = -1;
	int r = 0;

	if (start->spawn->terminal) {
		struct message_job terminal = {start->spawn->job, 0};

		r = job_open_terminal(start->spawn, &master, &slave, e);
		if (r == 0)
			r = init_watch_reports(in, job, &report);
		if (r == 0)
			r = message_send(in->channel.fd, MESSAGE_TERMINAL, &message_job_schema,
					 &terminal, &master, 1);
		if (r < 0)
			return r;
	}
	start->slave = slave;
	start->report = report;
	job->pid = fork();
	if (job->pid < 0)
		return error_sys(e, -errno, "starting a process");
	if (job->pid == 0)
		job_become(start);
	job->command = start->spawn->terminal ? 0 : job->pid;
	job->id = start->spawn->job;
	return 0;
}

static int init_on_spawn(void *context, struct channel_packet *packet, struct error *e)
{
	struct init *in = context;
	_cleanup_arena_ struct arena arena = ARENA_INIT(1u << 20);
	struct message_spawn spawn;
	struct job_start start = {.plan = in->plan, .spawn = &spawn};
	int r = message_decode(packet->body, &message_spawn_schema, &spawn, &arena, e);

	if (r < 0)
		return r;
	r = init_sort_fds(&spawn, packet, start.fds);
	if (r < 0 || spawn.job == 0 || init_job_by_id(in, spawn.job))
		return error_set(e, -EPROTO, "a spawn message that makes no sense");
	struct init_job *job = init_job_free_slot(in);

	if (!job)
		return init_send_job(in, MESSAGE_EXITED, spawn.job, 0x10000u | EAGAIN);
	*job = (struct init_job){.init = in, .report = -1};
	r = init_start_job(in, job, &start, e);
	if (r < 0) {
		init_job_end(job);
		return init_send_job(in, MESSAGE_EXITED, spawn.job, 0x10000u | (unsigned int)-r);
	}
	process_forget_start();
	return 0;
}

/* value: the signal; with 0x100, to the job's whole process group. */
static void init_signal(struct init *in, const struct message_job *m)
{
	const struct init_job *job = init_job_by_id(in, m->job);
	int number = (int)(m->value & 0xff);

	if (job && job->command > 0 && number > 0 && number < NSIG)
		(void)kill(m->value & 0x100 ? -job->command : job->command, number);
}

static void init_continue(struct init *in, const struct message_job *m)
{
	const struct init_job *job = init_job_by_id(in, m->job);

	if (job && job->report >= 0)
		(void)kill(job->pid, m->value ? SIGUSR1 : SIGUSR2);
	else if (job)
		(void)kill(-job->pid, SIGCONT);
}

/* --- holding still -------------------------------------------------------------------- */

/* Keeps a stop or a continuation until the end of the pause: now it would get lost, or wake a
 * process.  The same one twice counts once, as with signals. */
static bool init_keep_for_later(struct init *in, enum message_type type,
				const struct message_job *m)
{
	if (in->pause.state == PAUSE_OFF ||
	    (type == MESSAGE_SIGNAL && (m->value & 0xff) == SIGKILL))
		return false;
	for (size_t i = 0; i < in->later_count; i++)
		if (in->later[i].type == type && in->later[i].message.job == m->job &&
		    in->later[i].message.value == m->value)
			return true;
	if (in->later_count < INIT_LATER_MAX) {
		in->later[in->later_count].type = type;
		in->later[in->later_count++].message = *m;
	}
	return true;
}

static int init_reap(struct init *in);

static int init_go_on(struct init *in)
{
	pause_end(&in->pause);
	for (size_t i = 0; i < in->later_count; i++) {
		if (in->later[i].type == MESSAGE_SIGNAL)
			init_signal(in, &in->later[i].message);
		else
			init_continue(in, &in->later[i].message);
	}
	in->later_count = 0;
	/* Report the processes that stopped by themselves a moment before. */
	return init_reap(in);
}

static int init_tell_paused(struct init *in, uint64_t id, size_t count, const struct error *e)
{
	const struct message_paused m = {.id = id,
					 .failure = (uint64_t)-e->code,
					 .text = e->text,
					 .next = e->next,
					 .count = count};

	return message_send(in->channel.fd, MESSAGE_PAUSED, &message_paused_schema, &m, NULL, 0);
}

static int init_on_paused(void *context, size_t count, const struct error *e)
{
	struct init *in = context;
	int r = e->code != 0 ? init_go_on(in) : 0;

	return r < 0 ? r : init_tell_paused(in, in->pause_id, count, e);
}

static int init_on_restless(void *context, pid_t pid)
{
	return init_send_job(context, MESSAGE_RESTLESS, (uint64_t)pid, 0);
}

static int init_on_pause(void *context, struct channel_packet *packet, struct error *e)
{
	struct init *in = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (m.value == MESSAGE_PAUSE_HELD) {
		struct error held = ERROR_INIT;

		(void)pause_has_held(&in->pause, &held);
		return init_tell_paused(in, m.job, 0, &held);
	}
	if (m.value == MESSAGE_PAUSE_FIRM) {
		in->pause.firm = true;
		return 0;
	}
	if (in->pause.state != PAUSE_OFF)
		r = init_go_on(in);
	if (r < 0 || m.value == 0)
		return r;
	in->pause_id = m.job;
	return pause_begin(&in->pause);
}

/* --- what the keeper says of a job ---------------------------------------------------- */

static int init_on_signal(void *context, struct channel_packet *packet, struct error *e)
{
	struct init *in = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r == 0 && !init_keep_for_later(in, MESSAGE_SIGNAL, &m))
		init_signal(in, &m);
	return r;
}

static int init_on_continue(void *context, struct channel_packet *packet, struct error *e)
{
	struct init *in = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r == 0 && !init_keep_for_later(in, MESSAGE_CONTINUE, &m))
		init_continue(in, &m);
	return r;
}

/* --- the box's network ---------------------------------------------------------------- */

/* A socket belongs to the network namespace that it was made in: whoever gets one of these connects inside the box. */
static int init_on_reach(void *context, struct channel_packet *packet, struct error *e)
{
	struct init *in = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	_cleanup_fd_ int v4 = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	_cleanup_fd_ int v6 = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int fds[2];
	size_t count = 0;

	m.value = 0;
	if (v4 >= 0) {
		fds[count++] = v4;
		m.value |= MESSAGE_REACH_V4;
	}
	if (v6 >= 0) {
		fds[count++] = v6;
		m.value |= MESSAGE_REACH_V6;
	}
	return message_send(in->channel.fd, MESSAGE_REACHED, &message_job_schema, &m, fds, count);
}

/* --- its use -------------------------------------------------------------------------- */

static int init_on_used(void *context, struct channel_packet *packet, struct error *e)
{
	struct init *in = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	return r < 0 ? r : init_send_job(in, MESSAGE_USED, m.job, used_in(in->processes));
}

static const struct channel_rule init_rules[] = {
	{MESSAGE_SPAWN, "SPAWN", CHANNEL_BYTES_MAX, 0, 4, 1u << INIT_SERVING, init_on_spawn},
	{MESSAGE_SIGNAL, "SIGNAL", 16, 0, 0, 1u << INIT_SERVING, init_on_signal},
	{MESSAGE_CONTINUE, "CONTINUE", 16, 0, 0, 1u << INIT_SERVING, init_on_continue},
	{MESSAGE_PAUSE, "PAUSE", 16, 0, 0, 1u << INIT_SERVING, init_on_pause},
	{MESSAGE_REACH, "REACH", 16, 0, 0, 1u << INIT_SERVING, init_on_reach},
	{MESSAGE_USED, "USED", 16, 0, 0, 1u << INIT_SERVING, init_on_used},
};

static int init_reap(struct init *in)
{
	/* Do not report a job as stopped that only our pause has stopped. */
	int how = WNOHANG | (in->pause.state == PAUSE_OFF ? WUNTRACED : 0);
	int status = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, how)) > 0) {
		for (size_t i = 0; i < INIT_JOBS_MAX; i++) {
			struct init_job *job = &in->jobs[i];
			int r = 0;

			if (job->id == 0 || job->pid != pid)
				continue;
			if (WIFSTOPPED(status)) {
				r = init_send_job(in, MESSAGE_STOPPED, job->id,
						  (uint64_t)WSTOPSIG(status));
			} else {
				uint64_t id = job->id;

				init_job_end(job);
				r = init_send_job(in, MESSAGE_EXITED, id, (uint64_t)status);
			}
			if (r < 0)
				return r;
		}
	}
	/* A child that cannot be waited for would never be reported. */
	return pid < 0 && errno != ECHILD ? -errno : 0;
}

static int init_on_signalfd(void *context, uint32_t events)
{
	struct init *in = context;
	struct signalfd_siginfo info;

	(void)events;
	/* One at a time: whoever sends us signals does not keep us from the keeper's messages. */
	return read(in->signals, &info, sizeof(info)) < 0 ? 0 : init_reap(in);
}

static int init_on_channel(void *context, uint32_t events)
{
	struct init *in = context;
	struct error e = ERROR_INIT;
	int r = channel_receive(&in->channel, &e);

	(void)events;
	/* The keeper is gone, or sent something wrong: this box has no keeper any more. */
	return r <= 0 ? -ECONNRESET : 0;
}

void init_report_failure(int channel, const struct error *e)
{
	struct message_failed m = {(uint64_t)-e->code, e->text, e->next};

	(void)message_send(channel, MESSAGE_FAILED, &message_failed_schema, &m, NULL, 0);
}

/* Without a pid namespace the kernel does not end our children with us. */
static void init_end_all(const struct plan *plan)
{
	if (!plan_goes_without(plan, PLAN_LAYER_PID_NS))
		return;
	for (int tries = 0; tries < 1000 && waitpid(-1, NULL, WNOHANG) >= 0; tries++) {
		char path[64];
		_cleanup_buf_ struct buf b = BUF_INIT(64u << 10);

		(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
		if (fd_read_file_at(AT_FDCWD, path, &b) < 0)
			return;
		/* "12 13 14 " */
		for (const char *at = buf_str(&b); *at;) {
			char *end = NULL;
			long pid = strtol(at, &end, 10);

			if (end == at || pid <= 1)
				break;
			(void)kill((pid_t)pid, SIGKILL);
			at = end + strspn(end, " \n");
		}
	}
}

/* --- the start ------------------------------------------------------------------------- */

static int init_take_signals(void *context, struct error *e)
{
	struct init *in = context;
	sigset_t set;

	(void)e;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	/* Any process of the box can send pid 1 signals.  The kernel drops those that it neither blocks nor handles;
	 * what is blocked would be queued, and real-time signals without end. */
	if (plan_goes_without(in->plan, PLAN_LAYER_PID_NS)) {
		(void)sigfillset(&set);
		(void)sigdelset(&set, SIGSYS);
	} else if (sigprocmask(SIG_SETMASK, &set, NULL) < 0) {
		return -errno;
	}
	in->signals = process_signalfd(&set);
	return in->signals < 0 ? in->signals : 0;
}

static int init_make_loop(void *context, struct error *e)
{
	struct init *in = context;

	(void)e;
	return loop_init(&in->loop);
}

static int init_make_pause(void *context, struct error *e)
{
	struct init *in = context;

	(void)e;
	return pause_init(&in->pause, &in->loop, in->processes, init_on_paused, init_on_restless,
			  in);
}

/* In a pid namespace the kernel makes orphans our children anyway. */
static int init_be_reaper(void *context, struct error *e)
{
	const struct init *in = context;

	(void)e;
	if (plan_goes_without(in->plan, PLAN_LAYER_PID_NS))
		(void)prctl(PR_SET_CHILD_SUBREAPER, 1ul, 0ul, 0ul, 0ul);
	return 0;
}

static int init_watch_channel(void *context, struct error *e)
{
	struct init *in = context;

	(void)e;
	return loop_add(&in->loop, in->channel.fd, EPOLLIN, init_on_channel, in,
			&in->channel_handle);
}

static int init_watch_signals(void *context, struct error *e)
{
	struct init *in = context;

	(void)e;
	return loop_add(&in->loop, in->signals, EPOLLIN, init_on_signalfd, in, &in->signal_handle);
}

/* clang-format off */
const struct step init_steps[] = {
	/* blocked before there is a child whose end could be missed */
	{"signals", STEP_ALWAYS, init_take_signals, {NULL}},
	{"loop", STEP_ALWAYS, init_make_loop, {NULL}},
	{"pause", STEP_ALWAYS, init_make_pause, {"loop"}},
	{"reaper", STEP_ALWAYS, init_be_reaper, {NULL}},
	/* what the keeper sends now may start a child: all that is above must be ready for it */
	{"channel", STEP_ALWAYS, init_watch_channel, {"signals", "loop", "pause", "reaper"}},
	{"children", STEP_ALWAYS, init_watch_signals, {"signals", "loop"}},
};
/* clang-format on */
const size_t init_step_count = BAWN_ARRAY_SIZE(init_steps);

int init_run(const struct plan *plan, int channel, int processes, uint64_t probes)
{
	static struct init in;
	struct error e = ERROR_INIT;

	in.plan = plan;
	in.processes = processes;
	in.channel = (struct channel){.fd = channel,
				      .rules = init_rules,
				      .rule_count = BAWN_ARRAY_SIZE(init_rules),
				      .state = INIT_SERVING,
				      .context = &in};
	if (steps_take(init_steps, init_step_count, plan, &in, &e) < 0)
		return 1;
	if (init_send_job(&in, MESSAGE_READY, 0, probes) == 0)
		(void)loop_run(&in.loop);
	init_end_all(plan);
	return 0;
}
