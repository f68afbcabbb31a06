/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the command inside gets its 0, 1 and 2.
 *
 *	/dev/null	becomes the box's own /dev/null, and so does a closed one
 *	a terminal	becomes a terminal of the box's own; the keeper holds its master
 *			and we carry the bytes (with --stdio: as the next line)
 *	anything else	(a pipe, a file, a socket, a device) stays outside.  The box gets a pipe of its
 *			own, and we copy the bytes one way (pump.h).  Else the box could open it for
 *			writing through /proc, and change flags that all its holders share
 *
 * When 1 and 2 are the same thing outside, they are one pipe inside, which keeps the order of
 * writes.  After the end of the box we still copy what its pipes hold, as long as somebody reads
 * it and no signal ends us.
 *
 * When both ends of the command are our terminal we go raw at once and every key belongs to the
 * box.  In a pipeline (`bawn run -- ls | less`) somebody else may want the keys: the command starts
 * in the background of its terminal.  When it is stopped for wanting to read (SIGTTIN), we go raw
 * and give it the foreground.
 */
#include "client.h"

#include "advice.h"
#include "asked_snapshot.h"
#include "carried.h"
#include "channel.h"
#include "detach_key.h"
#include "fd.h"
#include "forward.h"
#include "helper.h"
#include "host_run.h"
#include "introduce.h"
#include "limited.h"
#include "listening.h"
#include "loop.h"
#include "measuring.h"
#include "message_box.h"
#include "message_gate.h"
#include "message_control.h"
#include "outward.h"
#include "plan_read.h"
#include "process.h"
#include "pump.h"
#include "session_store.h"
#include "str.h"
#include "terminal.h"
#include "terminal_sight.h"
#include "text.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CLIENT_STARTING, CLIENT_RUNNING };
enum { CLIENT_ROWS = 24, CLIENT_COLUMNS = 80 }; /* of a terminal that nobody sees yet */
enum { CLIENT_JOB = 1, CLIENT_GRACE_SECONDS = 2, CLIENT_UNWRITTEN = 125 }; /* the last: EXIT_BAWN */
/* A command that cannot be started ends at once; so long --detach looks. */
enum {
	CLIENT_FIRST_MS = 100,
	CLIENT_FIRST_BYTES = 4096,
	CLIENT_NOT_RUNNABLE = 126,
	CLIENT_NOT_FOUND = 127,
};

struct client {
	struct loop loop;
	struct channel keeper;
	pid_t keeper_pid;
	int keeper_ends;    /* a pidfd of it, where it is not our child any more; or -1 */
	pid_t resolver_pid; /* 0: not ours */
	pid_t measurer_pid; /* likewise */
	struct loop_handle keeper_handle, signal_handle, input_handle, grace_handle, first_handle;
	struct terminal terminal;
	struct terminal_sight sight; /* of the box's terminal, in ours */
	bool byte_letters;           /* terminal_has_byte_letters */
	bool watches;                /* nothing that is typed here reaches the box */
	int output;                  /* where the box's terminal is shown; -1 without one */
	bool reading;                /* keys go to the box */
	bool input_waits;            /* the loop waits for the terminal */
	bool asked_to_stop;          /* a stop signal was passed on; the job's stop is ours too */
	bool asked_to_end;           /* a signal that ends most commands was passed on */
	int signals;
	int grace;       /* a clock, once the terminal is gone; else -1 */
	int first;       /* a clock, until --detach lets go; else -1 */
	struct buf said; /* by the command until then */
	struct pump pumps[3];
	bool pumped[3];                       /* it was started */
	struct carried carried;               /* by them */
	bool carries;                         /* and the keeper is told of it */
	struct terminal_sight pump_sights[3]; /* of those that write to a terminal */
	bool draining; /* the box is gone, and its last bytes are on their way */
	struct message_spawn spawn;
	struct handover handover;
	struct cgroup group; /* of the box */
	int given[6];        /* plan, keys' end, 0, 1, 2, program: as many as there are */
	size_t given_count;
	struct detach_key detach_key;
	bool ended;
	bool attached; /* to a session of somebody else's */
	bool detached; /* the tender: nobody sees the terminal here */
	bool left;     /* the user detached */
	int status;
	struct error *error;
	const struct client_options *options;
	const struct plan *plan;
	const char *ssh_agent;
	const char *workspace;
	struct asked_snapshot asked_snapshot; /* by the box */
	struct forwards forwards;             /* its published ports */
};

static int client_send_job(struct client *c, enum message_type type, uint64_t value)
{
	struct message_job m = {CLIENT_JOB, value};
	int r = message_send(c->keeper.fd, type, &message_job_schema, &m, NULL, 0);

	return channel_if_there(r);
}

/* --- the terminal --------------------------------------------------------------------- */

/* Writes what the box wrote, as far as it may be shown. */
static int client_show(struct client *c, struct span bytes)
{
	struct span passed = {NULL, 0};

	/* An answer that nobody types into the box would be left for the user's shell. */
	c->sight.filter.questions = c->terminal.raw && !c->watches;
	c->sight.filter.bytes = c->byte_letters;
	c->sight.terminal = c->terminal.fd;
	int r = terminal_sight_pass(&c->sight, bytes, &passed);

	if (r == 0 && c->output >= 0 && fd_write_all(c->output, passed.ptr, passed.len) == -EPIPE)
		c->output = -1;
	return r;
}

/* Once the terminal is the user's again. */
static void client_say_spared(struct client *c)
{
	struct text err = text_open(STDERR_FILENO);

	if (!c->options->quiet)
		terminal_sight_say(&c->sight, &err);
}

/* With --stdio: what goes to a terminal all the same. */
static struct span client_filter_pumped(void *context, struct span read)
{
	struct span passed = {NULL, 0};

	(void)terminal_sight_pass(context, read, &passed);
	return passed;
}

/* The grace is over: nobody can reach the command any more, so we end it. */
static int client_on_grace(void *context, uint32_t events)
{
	struct client *c = context;

	(void)events;
	if (!c->draining)
		c->status = SIGHUP;
	loop_stop(&c->loop);
	return 0;
}

static int client_start_grace(struct client *c)
{
	const struct itimerspec grace = {.it_value.tv_sec = CLIENT_GRACE_SECONDS};

	if (c->grace >= 0)
		return 0;
	c->grace = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (c->grace < 0 || timerfd_settime(c->grace, 0, &grace, NULL) < 0)
		return -errno;
	return loop_add(&c->loop, c->grace, EPOLLIN, client_on_grace, c, &c->grace_handle);
}

static bool client_can_detach(const struct client *c)
{
	return c->attached ||
	       (c->options->session && c->options->detach_key >= 0 && c->spawn.terminal &&
		!c->pumped[0] && !c->pumped[1] && !c->pumped[2]);
}

static int client_watch_signals(struct client *c);
static int client_take_terminal(struct client *c);
static void client_end_terminal(struct client *c);

/* From here on this process tends the session and has no terminal. */
static int client_become_tender(struct client *c)
{
	const struct message_job m = {CLIENT_JOB, (uint64_t)getpid()};
	_cleanup_fd_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (c->reading)
		loop_remove(&c->loop, &c->input_handle);
	c->reading = false;
	(void)setsid();
	for (int i = 0; null >= 0 && i < 3; i++)
		(void)dup2(null, i);
	/* A lock or a pipe of the caller's does not live as long as the session. */
	process_close_inherited();
	c->terminal.fd = c->output = -1;
	c->detached = true;
	/* Those of a descriptor that was made before a fork are the parent's. */
	loop_remove(&c->loop, &c->signal_handle);
	fd_close(&c->signals);
	int r = client_watch_signals(c);

	return r < 0 ? r
		     : channel_if_there(message_send(c->keeper.fd, MESSAGE_DETACH,
						     &message_job_schema, &m, NULL, 0));
}

void client_say_detached(const char *session)
{
	struct text err = text_open(STDERR_FILENO);

	text_printf(&err, "\nbawn: detached from %s, which goes on. Back to it: bawn attach %s\n",
		    session, session);
	listening_say(session, &err);
}

/*
 * The user goes, the session stays.  Who was attached just leaves.  Who started it leaves a child
 * behind, since the shell waits for this process; the keeper is not the child's to wait for.
 */
static int client_detach(struct client *c)
{
	struct text err = text_open(STDERR_FILENO);

	client_end_terminal(c);
	client_say_spared(c);
	if (c->attached) {
		c->left = true;
		loop_stop(&c->loop);
		return 0;
	}
	c->keeper_ends = (int)syscall(SYS_pidfd_open, c->keeper_pid, 0);
	int ready[2] = {-1, -1};
	pid_t child = c->keeper_ends < 0 || pipe2(ready, O_CLOEXEC) < 0 ? -1 : fork();
	uint8_t byte = 0;

	if (child < 0) {
		text_printf(&err, "bawn: detaching: %s\n", error_words(-errno));
		fd_close(&c->keeper_ends);
		fd_close(&ready[0]);
		fd_close(&ready[1]);
		return client_take_terminal(c);
	}
	if (child == 0) {
		c->keeper_pid = c->resolver_pid = c->measurer_pid = 0;
		int r = client_become_tender(c);

		fd_close(&ready[0]);
		fd_close(&ready[1]);
		return r;
	}
	/* Until the child has it: the pipe ends. */
	fd_close(&ready[1]);
	while (read(ready[0], &byte, 1) < 0 && errno == EINTR)
		continue;
	if (c->options->detach) {
		struct text out = text_open(STDOUT_FILENO);

		text_printf(&out, "%s\n", c->options->session->name);
	} else {
		client_say_detached(c->options->session->name);
	}
	_exit(0);
}

/* The terminal is gone.  A session that can be reached by another goes on; else the command is told,
 * and has a moment to put its things in order. */
static int client_hang_up(struct client *c)
{
	if (c->attached) {
		loop_stop(&c->loop);
		return 0;
	}
	if (client_can_detach(c)) {
		c->terminal.raw = false;
		return client_become_tender(c);
	}
	int r = client_start_grace(c);

	return r < 0 ? r : client_send_job(c, MESSAGE_SIGNAL, 0x100 | SIGHUP);
}

static int client_type(struct client *c, const uint8_t *keys, size_t len)
{
	return len == 0 ? 0
			: channel_if_there(channel_send(c->keeper.fd, MESSAGE_INPUT,
							(struct span){keys, len}, NULL, 0));
}

static int client_on_key(void *context, uint32_t events)
{
	struct client *c = context;
	uint8_t keys[4096];
	ssize_t n = read(c->terminal.fd, keys, sizeof(keys));

	(void)events;
	if (n <= 0) {
		bool gone = n == 0 || errno == EIO;

		loop_remove(&c->loop, &c->input_handle);
		c->reading = false;
		return gone ? client_hang_up(c) : 0;
	}
	size_t before = (size_t)n;
	bool detach =
		client_can_detach(c) && detach_key_feed(&c->detach_key, keys, (size_t)n, &before);
	int r = client_type(c, keys, before);

	return r < 0 || !detach ? r : client_detach(c);
}

static int client_resize(struct client *c)
{
	struct message_resize m = {.job = CLIENT_JOB};

	terminal_size(&c->terminal, &m.rows, &m.columns);
	int r = c->terminal.fd < 0 || m.rows == 0
			? 0
			: message_send(c->keeper.fd, MESSAGE_RESIZE, &message_resize_schema, &m,
				       NULL, 0);

	return channel_if_there(r);
}

/* From here on the keyboard belongs to the box. */
static int client_take_terminal(struct client *c)
{
	int r = terminal_make_raw(&c->terminal);

	if (r == 0 && !c->reading) {
		r = loop_add(&c->loop, c->terminal.fd, EPOLLIN, client_on_key, c, &c->input_handle);
		c->reading = r == 0;
	}
	return r < 0 ? r : client_resize(c);
}

/* flush: what came in meanwhile may be an answer, and is dropped. */
static void client_leave_terminal(struct client *c, bool flush)
{
	if (c->reading)
		loop_remove(&c->loop, &c->input_handle);
	c->reading = false;
	if (c->terminal.raw && terminal_state_is_asked(&c->sight.shown))
		terminal_restore_asked(&c->terminal, c->output);
	else
		terminal_restore(&c->terminal, flush);
}

/* Sets the terminal right: the box is gone or stopped and cannot undo what it switched on. */
static void client_end_terminal(struct client *c)
{
	bool undone = terminal_sight_undo(&c->sight, c->output);

	client_leave_terminal(c, undone);
}

/*
 * Stops as the job did, so that the user's shell takes over; returns when continued.  all: the
 * stop is for the whole pipeline (Ctrl-Z, or a read of the terminal in the background).  A
 * command that stops itself stops nobody else.
 */
static void client_stop_too(struct client *c, bool all)
{
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	sigset_t tstp;

	/* The next reader of the input starts where the command stopped reading. */
	if (c->pumped[0])
		pump_settle(&c->pumps[0]);
	if (c->asked_to_stop || !all) {
		c->asked_to_stop = false;
		(void)kill(getpid(), SIGSTOP);
		return;
	}
	(void)sigaction(SIGTSTP, &by_default, NULL);
	(void)sigemptyset(&tstp);
	(void)sigaddset(&tstp, SIGTSTP);
	(void)kill(0, SIGTSTP);
	(void)sigprocmask(SIG_UNBLOCK, &tstp, NULL); /* here we stop */
	(void)sigprocmask(SIG_BLOCK, &tstp, NULL);
}

static int client_on_stopped(void *context, struct channel_packet *packet, struct error *e)
{
	struct client *c = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	bool wants_terminal = m.value == SIGTTIN || m.value == SIGTTOU;

	if (!wants_terminal || !terminal_is_ours(&c->terminal)) {
		bool was_raw = c->terminal.raw;

		client_end_terminal(c);
		client_stop_too(c, wants_terminal || (was_raw && m.value == SIGTSTP));
		/* Continued: in the foreground again, or sent on its way with `bg`. */
		if (!terminal_is_ours(&c->terminal) || !(was_raw || wants_terminal))
			return client_send_job(c, MESSAGE_CONTINUE, 0);
	}
	r = client_take_terminal(c);
	return r < 0 ? r : client_send_job(c, MESSAGE_CONTINUE, 1);
}

/* --- what the keeper says ------------------------------------------------------------- */

static int client_on_output(void *context, struct channel_packet *packet, struct error *e)
{
	struct client *c = context;

	(void)e;
	if (c->first >= 0 && c->said.len + packet->body.len <= CLIENT_FIRST_BYTES)
		buf_put(&c->said, packet->body.ptr, packet->body.len);
	return client_show(c, packet->body);
}

static int client_on_event(void *context, struct channel_packet *packet, struct error *e)
{
	struct client *c = context;
	struct message_event m;
	int r = message_decode(packet->body, &message_event_schema, &m, NULL, e);

	/* The box is gone, so the terminal need not be raw any more. */
	if (r == 0 && (m.kind == MESSAGE_EVENT_COMPARING || m.kind == MESSAGE_EVENT_UNATTRIBUTED))
		client_end_terminal(c);
	if (r == 0 && c->options->on_event)
		c->options->on_event(c->options->event_context, &m, c->terminal.raw);
	return r;
}

/* The signer may not open sockets: the client connects to the user's agent for it. */
static int client_on_ssh_connect(void *context, struct channel_packet *packet, struct error *e)
{
	struct client *c = context;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = c->ssh_agent;
	_cleanup_fd_ int fd = -1;

	(void)e;
	if (*path && strlen(path) < sizeof(address.sun_path)) {
		memcpy(address.sun_path, path, strlen(path));
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
			fd_close(&fd);
	}
	int r = channel_send(c->keeper.fd, MESSAGE_SSH_CONNECTED, packet->body, &fd,
			     fd >= 0 ? 1 : 0);

	return channel_if_there(r);
}

static int client_spawn_at(const char *path, const char *name, int channel, bool close_others,
			   pid_t *ret_pid);

/* Starts a resolver.  If that fails, names stay refused and the session goes on. */
static int client_on_resolver(void *context, struct channel_packet *packet, struct error *e)
{
	struct client *c = context;
	char path[PATH_MAX];

	(void)e;
	if (c->resolver_pid == 0 && helper_path("bawn-resolver", path, sizeof(path)) == 0)
		(void)client_spawn_at(path, "bawn-resolver", packet->fds[0], true,
				      &c->resolver_pid);
	return 0;
}

static void client_on_asked_snapshot(void *context, uint64_t id, bool made, const char *text)
{
	struct client *c = context;
	const struct message_ask m = {.id = id, .made = made, .text = text};

	(void)message_send(c->keeper.fd, MESSAGE_ASKED, &message_ask_schema, &m, NULL, 0);
}

/* The box wants a snapshot of itself. */
static int client_on_ask(void *context, struct channel_packet *packet, struct error *e)
{
	struct client *c = context;
	struct message_ask m;
	int r = message_decode(packet->body, &message_ask_schema, &m, NULL, e);

	if (r < 0)
		return r;
	r = c->options->session
		    ? asked_snapshot_start(&c->asked_snapshot, c->options->session->name,
					   c->workspace, m.id, m.text)
		    : -ENOENT;
	if (r < 0)
		client_on_asked_snapshot(c, m.id, false, "the session cannot make one");
	return 0;
}

/* The command has started, as far as anybody can tell: from now on it is on its own. */
static int client_on_first(void *context, uint32_t events)
{
	struct client *c = context;

	(void)events;
	loop_remove(&c->loop, &c->first_handle);
	fd_close(&c->first);
	return client_detach(c);
}

static int client_start_first(struct client *c)
{
	const struct itimerspec moment = {.it_value.tv_nsec = CLIENT_FIRST_MS * 1000000L};

	c->first = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (c->first < 0 || timerfd_settime(c->first, 0, &moment, NULL) < 0)
		return -errno;
	return loop_add(&c->loop, c->first, EPOLLIN, client_on_first, c, &c->first_handle);
}

/* It was over before it was let go.  What could not be started is told as without --detach. */
static void client_end_first(struct client *c)
{
	_cleanup_buf_ struct buf shown = BUF_INIT((size_t)CLIENT_FIRST_BYTES * 4);
	struct text err = text_open(STDERR_FILENO), out = text_open(STDOUT_FILENO);

	if (WIFEXITED(c->status) && (WEXITSTATUS(c->status) == CLIENT_NOT_FOUND ||
				     WEXITSTATUS(c->status) == CLIENT_NOT_RUNNABLE)) {
		while (c->said.len > 0 && strchr("\r\n", c->said.ptr[c->said.len - 1]))
			c->said.len--;
		text_escape(&shown, buf_span(&c->said));
		if (shown.len > 0)
			text_printf(&err, "%s\n", buf_str(&shown));
		return;
	}
	text_printf(&out, "%s\n", c->options->session->name);
	c->status = 0;
}

static int client_on_ready(void *context, struct channel_packet *packet, struct error *e)
{
	struct client *c = context;

	(void)packet;
	(void)e;
	c->keeper.state = CLIENT_RUNNING;
	if (c->options->outward)
		outward_start(c->options->outward);
	process_forget_start();
	return c->options->detach ? client_start_first(c) : 0;
}

static int client_on_failed(void *context, struct channel_packet *packet, struct error *e)
{
	(void)context;
	return message_take_failed(packet->body, e);
}

static int client_on_exited(void *context, struct channel_packet *packet, struct error *e)
{
	struct client *c = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	c->ended = true;
	c->status = (int)m.value;
	if (c->first >= 0)
		client_end_first(c);
	loop_stop(&c->loop);
	return 0;
}

enum {
	CLIENT_IN_RUNNING = 1u << CLIENT_RUNNING,
	CLIENT_IN_ANY = 1u << CLIENT_STARTING | 1u << CLIENT_RUNNING,
};

static const struct channel_rule client_rules[] = {
	{MESSAGE_READY, "READY", 16, 0, 0, 1u << CLIENT_STARTING, client_on_ready},
	{MESSAGE_FAILED, "FAILED", 4096, 0, 0, CLIENT_IN_ANY, client_on_failed},
	{MESSAGE_EVENT, "EVENT", 4096, 0, 0, CLIENT_IN_ANY, client_on_event},
	/* Other commands may cause these before the keeper says READY. */
	{MESSAGE_RESOLVER, "RESOLVER", 0, 1, 1, CLIENT_IN_ANY, client_on_resolver},
	{MESSAGE_SSH_CONNECT, "SSH_CONNECT", 16, 0, 0, CLIENT_IN_ANY, client_on_ssh_connect},
	{MESSAGE_OUTPUT, "OUTPUT", MESSAGE_DATA_MAX, 0, 0, CLIENT_IN_RUNNING, client_on_output},
	{MESSAGE_STOPPED, "STOPPED", 16, 0, 0, CLIENT_IN_RUNNING, client_on_stopped},
	{MESSAGE_ASK, "ASK", 256, 0, 0, CLIENT_IN_ANY, client_on_ask},
	{MESSAGE_EXITED, "EXITED", 16, 0, 0, CLIENT_IN_RUNNING, client_on_exited},
};

static int client_on_keeper(void *context, uint32_t events)
{
	struct client *c = context;
	int r = channel_receive(&c->keeper, c->error);

	(void)events;
	if (r == 0)
		return error_set(c->error, -ECONNRESET, "%s",
				 c->attached ? "the session does not show its terminal any more"
					     : "the session's keeper is gone, and the box with it");
	return r < 0 ? r : 0;
}

/* The command has ended, so the signal is for us. */
static int client_on_late_signal(struct client *c, int number)
{
	if (number == SIGTSTP) {
		(void)kill(getpid(), SIGSTOP);
	} else if (number != SIGWINCH) {
		c->status = number;
		loop_stop(&c->loop);
	}
	return 0;
}

static int client_on_signal(void *context, uint32_t events)
{
	struct client *c = context;
	struct signalfd_siginfo info;

	(void)events;
	if (read(c->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return 0;
	if (c->draining)
		return client_on_late_signal(c, (int)info.ssi_signo);
	if (info.ssi_signo == SIGWINCH)
		return client_resize(c);
	/* That the terminal is gone may be told twice. */
	if (info.ssi_signo == SIGHUP && c->detached)
		return 0;
	if (info.ssi_signo == SIGHUP && client_can_detach(c))
		return client_hang_up(c);
	if (c->attached && info.ssi_signo != SIGTSTP) {
		c->status = (int)info.ssi_signo;
		loop_stop(&c->loop);
		return 0;
	}
	/* From the keyboard it is for the whole group, from kill(1) for one process. */
	uint64_t group = info.ssi_code == SI_KERNEL ? 0x100 : 0;

	if (info.ssi_signo == SIGTSTP && c->attached) {
		client_end_terminal(c);
		(void)kill(getpid(), SIGSTOP);
		return client_take_terminal(c);
	}
	if (info.ssi_signo == SIGTSTP) {
		c->asked_to_stop = true;
		/* Without a terminal the command's group has no parent in its session: only
		 * SIGSTOP stops it. */
		return client_send_job(c, MESSAGE_SIGNAL,
				       0x100 | (c->spawn.terminal ? SIGTSTP : SIGSTOP));
	}
	c->asked_to_end = true;
	return client_send_job(c, MESSAGE_SIGNAL, group | info.ssi_signo);
}

/* --- start ---------------------------------------------------------------------------- */

static bool client_is_null(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && major(st->st_rdev) == 1 && minor(st->st_rdev) == 3;
}

static int client_give(struct client *c, int number, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy < 0)
		return -errno;
	c->given[c->given_count++] = copy;
	c->spawn.gives |= 1u << number;
	return 0;
}

/*
 * A stream is over.  Closes our own copy of the caller's descriptor: then a writer gets EPIPE
 * when the command reads no more, and a reader sees the end.  2 stays open for our own messages.
 */
static void client_release(struct client *c, int number)
{
	_cleanup_fd_ int null = -1;

	if (number < 2 && c->options->fds[number] == number)
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0)
		(void)dup2(null, number);
}

/* Its streams have carried more than they may, and carry nothing more. */
static bool client_is_spent(const struct client *c)
{
	return c->carries && c->carried.left == 0;
}

static bool client_is_drained(const struct client *c)
{
	return client_is_spent(c) ||
	       (!(c->pumped[1] && !c->pumps[1].done) && !(c->pumped[2] && !c->pumps[2].done));
}

/* A terminal that a stream went to is set right when that has ended. */
static void client_undo_pumped(struct client *c, int number)
{
	if (c->pumps[number].filter)
		(void)terminal_sight_undo(&c->pump_sights[number], c->options->fds[number]);
	c->pumps[number].filter = NULL;
}

static void client_on_pumped(void *context)
{
	struct client *c = context;

	for (int i = 0; i < 3; i++)
		if (c->pumped[i] && c->pumps[i].done) {
			client_undo_pumped(c, i);
			client_release(c, i);
		}
	if (c->draining && client_is_drained(c))
		loop_stop(&c->loop);
}

static void client_on_bytes(void *context, bool inward, size_t count)
{
	struct client *c = context;

	if (!c->draining)
		carried_tell(&c->carried, c->keeper.fd, inward ? 0 : count);
	else if (client_is_spent(c))
		loop_stop(&c->loop);
}

/* A pipe in between: the command gets one end, a pump of ours the other. */
static int client_give_pumped(struct client *c, int number, int fd)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	int inside = number == 0 ? ends[0] : ends[1];
	int outside = number == 0 ? ends[1] : ends[0];
	int r = client_give(c, number, inside);

	(void)close(inside);
	if (r < 0) {
		(void)close(outside);
		return r;
	}
	r = pump_start(&c->pumps[number], &c->loop, fd, outside, number == 0);
	c->pumps[number].on_done = client_on_pumped;
	c->pumps[number].on_bytes = c->carries ? client_on_bytes : NULL;
	c->pumps[number].left = c->carries && number > 0 ? &c->carried.left : NULL;
	c->pumps[number].context = c;
	c->pumped[number] = r == 0;
	if (r < 0 || number == 0 || isatty(fd) != 1)
		return r;
	r = terminal_sight_init(&c->pump_sights[number], c->plan, c->error);
	c->pump_sights[number].filter.bytes = c->byte_letters;
	c->pump_sights[number].terminal = c->options->fds[number];
	c->pumps[number].filter = client_filter_pumped;
	c->pumps[number].filter_context = &c->pump_sights[number];
	return r;
}

/* Whether two descriptors lead to one thing that keeps the order of writes. */
static bool client_is_same(int a, int b, const struct stat *st)
{
	struct stat other;

	if (a < 0 || fstat(a, &other) < 0 || other.st_dev != st->st_dev ||
	    other.st_ino != st->st_ino)
		return false;
	if (!S_ISREG(st->st_mode))
		return true;
	/* A file that was opened twice has two offsets. */
	long apart = syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, a, b);

	return apart == 0 || (fcntl(a, F_GETFL) & fcntl(b, F_GETFL) & O_APPEND) ||
	       (apart < 0 && lseek(a, 0, SEEK_CUR) == lseek(b, 0, SEEK_CUR));
}

static int client_give_stdio(struct client *c, const struct client_options *options)
{
	/* Nobody is there: a terminal of its own, for whoever attaches. */
	if (options->detach) {
		c->spawn.terminal = true;
		return 0;
	}
	c->carries = carried_begin(&c->carried, c->plan);
	for (int i = 0; i < 3; i++) {
		int fd = options->fds[i];
		struct stat st;
		int r = 0;

		/* A descriptor that fstat refuses is an error. */
		int looked = fd < 0 ? -EBADF : fstat(fd, &st) < 0 ? -errno : 0;

		if (looked < 0 && looked != -EBADF)
			r = looked;
		else if (looked < 0 || client_is_null(&st))
			c->spawn.nulls |= 1u << i;
		else if (i == 2 && c->pumped[1] && client_is_same(options->fds[1], fd, &st))
			r = client_give(c, i, c->given[c->given_count - 1]);
		else if (options->stdio || isatty(fd) != 1)
			r = client_give_pumped(c, i, fd);
		else {
			c->spawn.terminal = true;
			if (i == 0 || c->terminal.fd < 0)
				c->terminal.fd = fd;
			if (i > 0 && c->output < 0)
				c->output = fd;
		}
		if (r < 0)
			return r;
	}
	if (options->exec_fd >= 0)
		return client_give(c, 3, options->exec_fd);
	return 0;
}

/* One of our programs, without arguments or environment. */
static int client_spawn_at(const char *path, const char *name, int channel, bool close_others,
			   pid_t *ret_pid)
{
	char *const argv[] = {(char *)(uintptr_t)name, NULL};
	char *const envp[] = {NULL};

	return helper_spawn(path, argv, envp, channel, close_others, ret_pid);
}

static int client_spawn_keeper(struct client *c, int channel, bool close_others, struct error *e)
{
	char path[PATH_MAX];
	int r = helper_path("bawn-keeper", path, sizeof(path));

	if (r == 0)
		r = client_spawn_at(path, "bawn-keeper", channel, close_others, &c->keeper_pid);
	if (r < 0) {
		(void)error_sys(e, r, "starting bawn-keeper");
		error_next(e, "`bawn doctor` says which parts of bawn are missing.");
	}
	return r;
}

static int client_watch_signals(struct client *c)
{
	static const int passed[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGUSR1,
				     SIGUSR2, SIGALRM, SIGTSTP, SIGWINCH};
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(passed); i++) {
		struct sigaction now;

		/* What our caller ignores (nohup) stays ignored. */
		if (sigaction(passed[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			(void)sigaddset(&set, passed[i]);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN); /* a write past the limit is an error that we report */
	c->signals = process_signalfd(&set);
	if (c->signals < 0)
		return c->signals;
	return loop_add(&c->loop, c->signals, EPOLLIN, client_on_signal, c, &c->signal_handle);
}

/* What the box's terminal is to be like: as ours.  *modes is the caller's, and lives until the message
 * is sent. */
static void client_describe_terminal(struct client *c, struct termios *modes)
{
	const int *fds = c->options->fds;
	bool whole = c->terminal.fd == fds[0] && c->output == fds[1];

	c->spawn.mask = 1u + process_user_mask();
	if (c->options->detach) {
		c->spawn.foreground = true;
		c->spawn.rows = CLIENT_ROWS;
		c->spawn.columns = CLIENT_COLUMNS;
		return;
	}
	c->spawn.foreground = c->spawn.terminal && whole && terminal_is_ours(&c->terminal);
	terminal_size(&c->terminal, &c->spawn.rows, &c->spawn.columns);
	/* In the background they are of whoever has the terminal: a shell that edits lines. */
	if (c->spawn.terminal && terminal_is_ours(&c->terminal) &&
	    tcgetattr(c->terminal.fd, modes) == 0)
		c->spawn.modes = (struct span){(const uint8_t *)modes, sizeof(*modes)};
}

static int client_start(struct client *c, const struct plan *plan,
			const struct client_options *options, struct error *e)
{
	struct termios modes;
	int ends[2] = {-1, -1};
	_cleanup_fd_ int room = measuring_start(plan, options, &c->measurer_pid);

	if (room < 0 && room != -ENOENT)
		return error_sys(e, room, "starting to measure the layers");
	int r = plan_seal(plan, e);

	if (r < 0)
		return r;
	c->given[c->given_count++] = r;
	c->spawn.job = CLIENT_JOB;
	c->spawn.cwd = "";
	r = handover_open(&c->handover, plan, options->read_value, options->value_context,
			  &c->given[c->given_count], e);
	if (r == 0)
		r = handover_send(&c->handover, false, e);
	if (r == 0)
		r = limited_begin(plan, options->session, &c->group, e);
	if (r < 0)
		return r;
	c->given_count += c->given[c->given_count] >= 0;
	r = client_watch_signals(c);
	if (r == 0)
		r = client_give_stdio(c, options);
	if (r == 0)
		r = channel_pair(ends);
	if (r < 0)
		return error_sys(e, r, "preparing the session");
	c->keeper = (struct channel){.fd = ends[0],
				     .rules = client_rules,
				     .rule_count = BAWN_ARRAY_SIZE(client_rules),
				     .state = CLIENT_STARTING,
				     .context = c};
	r = client_spawn_keeper(c, ends[1], !plan_goes_without(plan, PLAN_LAYER_FDS), e);
	(void)close(ends[1]);
	if (r < 0)
		return r;

	client_describe_terminal(c, &modes);
	r = introduce_session(options, c->keeper.fd);
	if (r == 0)
		r = introduce_record(options, c->keeper.fd);
	if (r == 0)
		r = limited_send(&c->group, c->keeper.fd);
	if (r == 0)
		r = measuring_send(room, c->keeper.fd);
	if (r == 0)
		r = message_send(c->keeper.fd, MESSAGE_START, &message_spawn_schema, &c->spawn,
				 c->given, c->given_count);
	for (size_t i = 0; i < c->given_count; i++)
		fd_close(&c->given[i]);
	/* A keeper that failed has sent the reason; we read that first. */
	r = channel_if_there(r);
	if (r == 0 && handover_send(&c->handover, true, e) < 0)
		return e->code;
	if (r == 0)
		r = handover_watch(&c->handover, &c->loop);
	if (r == 0)
		r = loop_add(&c->loop, c->keeper.fd, EPOLLIN, client_on_keeper, c,
			     &c->keeper_handle);
	if (r == 0 && c->spawn.foreground && c->terminal.fd >= 0)
		r = client_take_terminal(c);
	return r < 0 ? error_sys(e, r, "starting the session") : 0;
}

/* The box is gone: copies the rest from its pipes. */
static void client_drain(struct client *c)
{
	loop_remove(&c->loop, &c->keeper_handle);
	c->draining = true;
	/* A user who ended the command does not want to wait for a reader that does not read. */
	if (c->asked_to_end || WIFSIGNALED(c->status))
		(void)client_start_grace(c);
	c->loop.stop = client_is_drained(c);
	(void)loop_run(&c->loop);
	struct text err = text_open(STDERR_FILENO);

	for (int i = 1; i < 3; i++)
		if (c->pumped[i] && c->pumps[i].error < 0)
			text_printf(&err, "bawn: writing the command's output: %s\n",
				    error_words(c->pumps[i].error));
	if (client_is_spent(c))
		text_printf(&err, "bawn: the limit output was reached: the rest is left out\n");
	/* The command could not see this error: it wrote to our pipe and ended. */
	if (((c->pumped[1] && c->pumps[1].error < 0) || client_is_spent(c)) && c->status == 0)
		c->status = W_EXITCODE(CLIENT_UNWRITTEN, 0);
}

static void client_end(struct client *c)
{
	client_end_terminal(c);
	client_say_spared(c);
	if (c->ended)
		client_drain(c);
	for (int i = 0; i < 3; i++) {
		if (c->pumped[i])
			pump_stop(&c->pumps[i]);
		terminal_sight_fini(&c->pump_sights[i]);
	}
	handover_close(&c->handover);
	asked_snapshot_end(&c->asked_snapshot);
	forwards_close(&c->forwards);
	fd_close(&c->keeper.fd);
	if (c->keeper_pid > 0)
		while (waitpid(c->keeper_pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	if (c->keeper_ends >= 0) {
		struct pollfd end = {.fd = c->keeper_ends, .events = POLLIN};

		while (poll(&end, 1, -1) < 0 && errno == EINTR)
			continue;
	}
	fd_close(&c->keeper_ends);
	/* It would end with the gate, once its own lookups are over. */
	if (c->resolver_pid > 0 && kill(c->resolver_pid, SIGKILL) == 0)
		while (waitpid(c->resolver_pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	measuring_end(c->measurer_pid);
	limited_end(&c->group);
	fd_close(&c->signals);
	fd_close(&c->grace);
	fd_close(&c->first);
	buf_fini(&c->said);
	terminal_sight_fini(&c->sight);
	loop_fini(&c->loop);
}

static struct client *client_new(const struct client_options *options, struct error *e)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c) {
		(void)error_set(e, -ENOMEM, "no memory");
		return NULL;
	}
	c->error = e;
	c->options = options;
	c->detach_key = DETACH_KEY_INIT(options->detach_key);
	c->ssh_agent = c->workspace = "";
	asked_snapshot_init(&c->asked_snapshot, &c->loop, client_on_asked_snapshot, c);
	c->handover = HANDOVER_INIT;
	c->group = CGROUP_INIT;
	c->byte_letters = terminal_has_byte_letters();
	c->plan = options->plan;
	c->terminal.fd = c->output = c->signals = c->keeper.fd = c->grace = c->keeper_ends = -1;
	c->first = -1;
	c->said = BUF_INIT(CLIENT_FIRST_BYTES);
	return c;
}

/* From the start, which came out as r, to the command's end. */
static int client_live(struct client *c, int r, int *ret_status)
{
	if (r == 0)
		r = loop_run(&c->loop);
	client_end(c);
	if (r < 0 && c->error->code == 0)
		(void)error_sys(c->error, r, "the session");
	*ret_status = c->status;
	return r;
}

int client_run(const struct plan *plan, const struct client_options *options, int *ret_status,
	       struct error *e)
{
	if (plan->backend == PLAN_BACKEND_HOST && options->outward)
		outward_start(options->outward);
	if (plan->backend == PLAN_BACKEND_HOST)
		return host_run(plan, options->record, ret_status, e);

	_cleanup_free_ struct client *c = client_new(options, e);

	if (!c)
		return e->code;
	(void)process_raise_files(); /* keeper, recorder, gate and keys have it from us */
	c->ssh_agent = plan->ssh_agent;
	c->workspace = plan->workspace;
	int r = loop_init(&c->loop);

	if (r < 0)
		return error_sys(e, r, "starting the session");
	c->plan = plan;
	r = terminal_sight_init(&c->sight, plan, e);
	if (r == 0)
		r = forwards_open(&c->forwards, &c->loop, options->places,
				  options->session ? options->session->name : "",
				  options->published, options->published_count, e);
	if (r == 0)
		forwards_say(&c->forwards, options->quiet);
	if (r == 0)
		r = client_start(c, plan, options, e);
	r = client_live(c, r, ret_status);
	if (r < 0)
		(void)advice_diagnose(plan, e);
	return r;
}

static int client_start_joined(struct client *c, int fd, const struct message_spawn *what)
{
	struct termios modes;
	int r = terminal_sight_init(&c->sight, c->options->plan, c->error);

	if (r == 0)
		r = client_watch_signals(c);
	c->spawn = *what;
	c->keeper = (struct channel){.fd = fd,
				     .rules = client_rules,
				     .rule_count = BAWN_ARRAY_SIZE(client_rules),
				     .state = CLIENT_RUNNING,
				     .context = c};
	if (r == 0)
		r = client_give_stdio(c, c->options);
	if (r == 0) {
		client_describe_terminal(c, &modes);
		r = message_send(fd, MESSAGE_SPAWN, &message_spawn_schema, &c->spawn, c->given,
				 c->given_count);
	}
	for (size_t i = 0; i < c->given_count; i++)
		fd_close(&c->given[i]);
	if (r == 0)
		r = loop_add(&c->loop, fd, EPOLLIN, client_on_keeper, c, &c->keeper_handle);
	if (r == 0 && c->spawn.foreground)
		r = client_take_terminal(c);
	return r < 0 ? error_sys(c->error, r, "starting the command") : 0;
}

int client_join(int fd, const struct message_spawn *what, const struct client_options *options,
		int *ret_status, struct error *e)
{
	_cleanup_free_ struct client *c = client_new(options, e);

	if (!c) {
		fd_close(&fd);
		return e->code;
	}
	int r = loop_init(&c->loop);

	if (r < 0) {
		fd_close(&fd);
		return error_sys(e, r, "starting the command");
	}
	return client_live(c, client_start_joined(c, fd, what), ret_status);
}

static int client_start_attached(struct client *c, int fd, bool watches)
{
	struct message_attach m = {.watches = watches};
	int r = terminal_sight_init(&c->sight, c->options->plan, c->error);

	if (r == 0)
		r = client_watch_signals(c);
	c->attached = true;
	c->watches = watches;
	c->keeper = (struct channel){.fd = fd,
				     .rules = client_rules,
				     .rule_count = BAWN_ARRAY_SIZE(client_rules),
				     .state = CLIENT_RUNNING,
				     .context = c};
	c->terminal.fd = c->options->fds[0];
	c->output = c->options->fds[1];
	terminal_size(&c->terminal, &m.rows, &m.columns);
	if (r == 0)
		r = message_send(fd, MESSAGE_ATTACH, &message_attach_schema, &m, NULL, 0);
	if (r == 0)
		r = loop_add(&c->loop, fd, EPOLLIN, client_on_keeper, c, &c->keeper_handle);
	if (r == 0)
		r = client_take_terminal(c);
	return r < 0 ? error_sys(c->error, r, "attaching") : 0;
}

int client_attach(int fd, bool watches, const struct client_options *options, bool *ret_left,
		  int *ret_status, struct error *e)
{
	_cleanup_free_ struct client *c = client_new(options, e);
	int r = c ? loop_init(&c->loop) : e->code;

	if (r < 0) {
		fd_close(&fd);
		return error_sys(e, r, "attaching");
	}
	r = client_start_attached(c, fd, watches);
	process_forget_start();
	r = client_live(c, r, ret_status);
	*ret_left = !c->ended;
	return r;
}
