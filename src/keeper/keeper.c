/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper stands outside the box and keeps one session: it makes the box,
 * holds the terminal's master (master.h), passes bytes and signals between the client
 * and init, watches the clock, and cleans up.  Its sides of the other processes are
 * keyring.h, signing.h and recording.h, what the client is told in toward.h; who asks it later is in control.h and asked.h,
 * and what else runs in the box in joined.h.
 *
 *	state NEW	waits for START from the client; CONTROL may come before
 *	state RUNNING	the box is being made or is there; messages go both ways
 *	(end)		the job ended, the client or init is gone, or time is up:
 *			init is killed, and with it the box; then EXITED or FAILED
 *
 * May: spawn, watch, hold the terminal.  Must not: read files, parse network
 * bytes, hold keys.  Once the box is started it gives up everything that opens
 * a file or makes a process (process_confine).
 *
 * In the file system a session has a folder with a socket (control.h), which
 * the client made and removes; its lock is ours too, so it ends with us both.
 * When the keeper dies at any point the kernel ends init (parent-death signal, and the closed
 * channel), and init's end is the box's end.
 */
#include "keeper.h"

#include "asked.h"
#include "channel.h"
#include "control.h"
#include "ending.h"
#include "fd.h"
#include "filling.h"
#include "joined.h"
#include "keyring.h"
#include "lasting.h"
#include "limiting.h"
#include "loop.h"
#include "make.h"
#include "message_box.h"
#include "message_gate.h"
#include "message_control.h"
#include "plan_read.h"
#include "process.h"
#include "profile.h"
#include "master.h"
#include "recording.h"
#include "screening.h"
#include "signing.h"
#include "toward.h"
#include "viewers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEEPER_NEW, KEEPER_RUNNING };
enum { KEEPER_JOB = 1 }; /* the session's own command */
enum {
	KEEPER_END_MS = 10000, /* a client that takes nothing is waited for */
	KEEPER_KILLED_MS = 500,
};
enum { KEEPER_INTERRUPT = 'C' - 64 }; /* as a terminal types it */

struct keeper {
	struct loop loop;
	struct channel client, init;
	struct loop_handle init_handle;
	int programs; /* the folder of the programs that we start */
	struct master master;
	struct master_view client_view;
	struct screening screening; /* where the command has a terminal */
	struct viewers viewers;     /* who attached */
	struct toward toward;       /* what the client is told */
	bool detached;              /* the client sees the terminal no more */
	struct ending ending;       /* if the command was asked to end */
	bool killed;
	struct make_result made, gate_made, resolver_made;
	struct channel gate; /* fd -1: the box has no gate */
	struct loop_handle gate_handle;
	bool gate_done;
	struct keyring keyring; /* if the plan needs keys */
	struct signing signing; /* if the plan has ssh keys */
	struct recording recording;
	struct limiting limiting; /* if the box has a cgroup */
	struct lasting lasting;   /* its clocks */
	struct filling filling;   /* how full the disk is */
	struct control control;
	struct joined joined; /* other commands in the box */
	struct asked asked;   /* for snapshots, by the box */
	int parent;           /* the client's process, a pidfd */
	bool stopped;         /* it was once: the client stopped, too */
	bool ended;           /* the job has ended, status is its own */
	bool called;          /* a signal for the command came: once that has ended, it is for us */
	uint64_t status;
	struct arena arena;
	const struct plan *plan; /* START brings it */
	struct error failure;
};

static int keeper_tell_client(struct keeper *k, uint32_t type, struct span body)
{
	return toward_tell(&k->toward, type, body);
}

static int keeper_end(struct keeper *k)
{
	loop_stop(&k->loop);
	return 0;
}

static int keeper_fail(struct keeper *k, const struct error *e)
{
	k->failure = *e;
	return keeper_end(k);
}

/* --- the terminal --------------------------------------------------------------------- */

static int keeper_on_terminal(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	return m.job == KEEPER_JOB
		       ? master_take(&k->master, TAKE_FD(packet->fds[0]), e)
		       : joined_on_terminal(&k->joined, m.job, TAKE_FD(packet->fds[0]), e);
}

static int keeper_on_input(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	(void)e;
	k->called = k->called || memchr(packet->body.ptr, KEEPER_INTERRUPT, packet->body.len);
	master_type(&k->master, &k->client_view, packet->body);
	return 0;
}

static int keeper_on_resize(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	struct message_resize m;
	int r = message_decode(packet->body, &message_resize_schema, &m, NULL, e);

	if (r == 0)
		master_resize(&k->master, &k->client_view, m.rows, m.columns);
	return r;
}

/* --- from init ------------------------------------------------------------------------ */

static int keeper_on_ready(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	recording_ready(&k->recording, k->plan, m.value);
	process_forget_start();
	return keeper_tell_client(k, MESSAGE_READY, packet->body);
}

static int keeper_on_watch(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	(void)e;
	return recording_watch(&k->recording, packet);
}

static int keeper_on_failed(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	struct error failure = ERROR_INIT;
	int r = message_decode_failed(packet->body, &failure, e);

	return r < 0 ? r : keeper_fail(k, &failure);
}

static int keeper_go_on(void *context, uint64_t foreground)
{
	struct keeper *k = context;
	const struct message_job m = {KEEPER_JOB, foreground};

	return k->init.fd < 0 ? 0
			      : channel_if_there(message_send(k->init.fd, MESSAGE_CONTINUE,
							      &message_job_schema, &m, NULL, 0));
}

static int keeper_on_stopped(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (m.job != KEEPER_JOB) {
		joined_on_stopped(&k->joined, m.job, packet->body);
		return 0;
	}
	/* What it wrote before comes before: who sees the terminal leaves it as it should be. */
	master_settle(&k->master);
	const struct master_view *who = master_viewer(&k->master);

	if (!k->detached && (!who || who == &k->client_view)) {
		k->stopped = true;
		return keeper_tell_client(k, MESSAGE_STOPPED, packet->body);
	}
	/* Nobody is there who could let it go on. */
	if (!viewers_on_stopped(&k->viewers, who, packet->body))
		return keeper_go_on(k, 1);
	return 0;
}

static int keeper_on_exited(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (m.job != KEEPER_JOB) {
		joined_on_exited(&k->joined, m.job, m.value);
		return 0;
	}
	if (m.value > 0xffff) {
		struct error failure = ERROR_INIT;

		(void)error_sys(&failure, -(int)(m.value & 0xffff),
				"starting the command in the box");
		return keeper_fail(k, &failure);
	}
	k->ended = true;
	k->status = m.value;
	return keeper_end(k);
}

/* --- the gate ------------------------------------------------------------------------- */

/* The netlink of nf_tables stays here; the sockets go on to the gate. */
static int keeper_on_capture(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	struct message_capture m;
	int r = message_decode(packet->body, &message_capture_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (m.dns + m.log + m.listeners + m.rules != packet->fd_count)
		return error_set(e, -EPROTO, "sockets that do not fit");
	if (m.rules)
		control_take_capture(&k->control, TAKE_FD(packet->fds[packet->fd_count - 1]));
	else if (m.dns && m.plain)
		control_say_plain(&k->control, k->plan->network.count > 0);
	if (k->gate.fd < 0)
		return 0;
	size_t count = packet->fd_count - m.rules;

	m.rules = false;
	return channel_if_there(message_send(k->gate.fd, MESSAGE_CAPTURE, &message_capture_schema,
					     &m, packet->fds, count));
}

static int keeper_on_event(void *context, struct channel_packet *packet, struct error *e)
{
	(void)e;
	return keeper_tell_client(context, MESSAGE_EVENT, packet->body);
}

static int keeper_on_done(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	(void)packet;
	(void)e;
	k->gate_done = true;
	return 0;
}

static int keeper_on_changed(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	return control_on_changed(&k->control, packet->body, e);
}

static int keeper_on_moved(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r == 0)
		lasting_moved(&k->lasting, m.value);
	return r;
}

static int keeper_on_counted(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	return control_on_counted(&k->control, packet->body, e);
}

static int keeper_on_spent(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	return control_on_spent(&k->control, packet->body, e);
}

static const struct channel_rule keeper_gate_rules[] = {
	{MESSAGE_EVENT, "EVENT", 4096, 0, 0, 1u << KEEPER_RUNNING, keeper_on_event},
	{MESSAGE_DONE, "DONE", 0, 0, 0, 1u << KEEPER_RUNNING, keeper_on_done},
	{MESSAGE_CHANGED, "CHANGED", 1024, 0, 0, 1u << KEEPER_RUNNING, keeper_on_changed},
	{MESSAGE_COUNTED, "COUNTED", 1024, 0, 0, 1u << KEEPER_RUNNING, keeper_on_counted},
	{MESSAGE_USED, "USED", 16, 0, 0, 1u << KEEPER_RUNNING, keeper_on_moved},
	{MESSAGE_SPENT, "SPENT", 16, 0, 0, 1u << KEEPER_RUNNING, keeper_on_spent},
};

/* Shows that a part of bawn ended too early. */
static void keeper_tell_lost(struct keeper *k, const char *part, const char *what)
{
	const struct message_event m = {
		.kind = MESSAGE_EVENT_LOST, .host = part, .count = 1, .reason = what};
	_cleanup_buf_ struct buf b = BUF_INIT(4096);

	recording_event(&k->recording, &m);
	schema_encode(&b, &message_event_schema, &m);
	(void)keeper_tell_client(k, MESSAGE_EVENT, buf_span(&b));
}

/* The gate has ended: the box has no network any more.  The session goes on. */
static void keeper_lose_gate(struct keeper *k)
{
	loop_remove(&k->loop, &k->gate_handle);
	fd_close(&k->gate.fd);
	control_lose_gate(&k->control);
	lasting_lose_gate(&k->lasting);
	keeper_tell_lost(k, "gate",
			 "the network is closed from now on, and what is refused is not recorded");
}

static int keeper_on_gate(void *context, uint32_t events)
{
	struct keeper *k = context;

	(void)events;
	if (!channel_serve(&k->gate))
		keeper_lose_gate(k);
	return 0;
}

static int keeper_make_gate(struct keeper *k, int plan_fd, struct error *e)
{
	/* Close our copy also when there is no gate: the recorder waits until it is closed. */
	_cleanup_fd_ int record = TAKE_FD(k->recording.gate);
	int channel = -1;

	if (!PLAN_GATE_PRESENT || plan_goes_without(k->plan, PLAN_LAYER_NET_NS))
		return 0;
	const struct make_gate_fds given = {plan_fd, record};
	int r = make_gate(k->plan, k->programs, &given, &k->gate_made, &k->resolver_made, &channel,
			  &k->toward.lookups, e);

	if (r < 0)
		return r;
	k->gate = (struct channel){.fd = channel,
				   .rules = keeper_gate_rules,
				   .rule_count = BAWN_ARRAY_SIZE(keeper_gate_rules),
				   .state = KEEPER_RUNNING,
				   .context = k};
	/* A gate that does not read its messages must not block the keeper. */
	r = fd_set_nonblock(channel, true);
	if (r == 0)
		r = loop_add(&k->loop, channel, EPOLLIN, keeper_on_gate, k, &k->gate_handle);
	return r < 0 ? error_sys(e, r, "watching the gate") : 0;
}

/* Lets the gate send its last events, and ends it. */
static void keeper_end_gate(struct keeper *k)
{
	struct error e = ERROR_INIT;
	/* Its last counts belong into the record. */
	struct timespec patience = {.tv_sec = 5};

	if (k->gate.fd >= 0 &&
	    channel_send(k->gate.fd, MESSAGE_FLUSH, (struct span){NULL, 0}, NULL, 0) == 0)
		while (!k->gate_done) {
			struct pollfd answer = {.fd = k->gate.fd, .events = POLLIN};

			if (ppoll(&answer, 1, &patience, NULL) <= 0 ||
			    channel_receive(&k->gate, &e) <= 0)
				break;
		}
	fd_close(&k->gate.fd);
	make_end(&k->gate_made);
	make_end(&k->resolver_made);
	signing_end(&k->signing);
	screening_end(&k->screening);
	keyring_end(&k->keyring);
}

/* --- keys ----------------------------------------------------------------------------- */

/* The gate sees by itself that keys is gone, and refuses what it would have to open.  Tell the
 * user. */
static void keeper_on_keys_gone(void *context)
{
	keeper_tell_lost(context, "keys", "hosts that have to be opened are closed from now on");
}

/* Starts keys first, so that it makes its CA while the box and the gate start. */
static int keeper_make_keys(struct keeper *k, struct channel_packet *packet, struct error *e)
{
	if (packet->fd_count < 2)
		return error_set(e, -EPROTO, "a plan with secrets, and no way to bring them");
	int r = keyring_start(&k->keyring, k->plan, k->programs, packet->fds[0], packet->fds[1], e);

	fd_close(&packet->fds[1]);
	return r;
}

/* When keys and gate run: gives each the channel to the other, and gives the box its trust
 * files. */
static int keeper_introduce_keys(struct keeper *k, struct error *e)
{
	int r = keyring_meet(&k->keyring, k->gate.fd, e);

	if (r == 0)
		r = keyring_trust(&k->keyring, k->plan, e);
	if (r < 0)
		return r;
	r = channel_if_there(channel_send(k->init.fd, MESSAGE_TRUST, (struct span){NULL, 0},
					  k->keyring.trust, k->keyring.trust_count));
	if (r == 0)
		r = keyring_watch(&k->keyring, &k->loop, keeper_on_keys_gone, k);
	return r < 0 ? error_sys(e, r, "handing the box its trust files") : 0;
}

/* --- the signer ----------------------------------------------------------------------- */

static int keeper_on_ssh_socket(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	(void)e;
	return signing_pass(&k->signing, MESSAGE_SSH_SOCKET, packet);
}

static int keeper_on_ssh_connect(void *context, struct channel_packet *packet, struct error *e)
{
	(void)e;
	return keeper_tell_client(context, MESSAGE_SSH_CONNECT, packet->body);
}

static int keeper_on_ssh_connected(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	(void)e;
	return signing_pass(&k->signing, MESSAGE_SSH_CONNECTED, packet);
}

/* The gate sends its notes itself.  The keeper makes the signer's notes from its events. */
static int keeper_on_signer_event(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	_cleanup_arena_ struct arena arena = ARENA_INIT(4096);
	struct message_event m;
	int r = message_decode(packet->body, &message_event_schema, &m, &arena, e);

	if (r < 0)
		return r;
	recording_event(&k->recording, &m);
	return keeper_tell_client(k, MESSAGE_EVENT, packet->body);
}

static int keeper_make_signer(struct keeper *k, int plan_fd, struct error *e)
{
	const struct signing_to to = {keeper_on_signer_event, keeper_on_ssh_connect, k};

	if (k->plan->ssh_keys.count == 0)
		return 0;
	return signing_start(&k->signing, k->programs, plan_fd, &k->loop, &to, e);
}

/* --- from the client ------------------------------------------------------------------ */

static int keeper_forward(struct keeper *k, uint32_t type, struct span body)
{
	return k->init.fd < 0 ? 0 : channel_if_there(channel_send(k->init.fd, type, body, NULL, 0));
}

static int keeper_on_signal(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	(void)e;
	k->called = true;
	return keeper_forward(k, MESSAGE_SIGNAL, packet->body);
}

static int keeper_on_continue(void *context, struct channel_packet *packet, struct error *e)
{
	(void)e;
	return keeper_forward(context, MESSAGE_CONTINUE, packet->body);
}

/* Another command pauses the box, asks whether nothing ran, or lets it go on. */
static int keeper_pause(void *context, uint64_t id, unsigned int value)
{
	struct keeper *k = context;
	const struct message_job m = {id, value};

	return channel_if_there(
		message_send(k->init.fd, MESSAGE_PAUSE, &message_job_schema, &m, NULL, 0));
}

static int keeper_to_init(void *context, uint32_t type, struct span body, const int *fds,
			  size_t fd_count)
{
	struct keeper *k = context;

	/* A connection from outside is a sign of life. */
	if (type == MESSAGE_REACH)
		lasting_stir(&k->lasting);
	return k->init.fd < 0 ? -ENOTCONN : channel_send(k->init.fd, type, body, fds, fd_count);
}

static int keeper_on_reached(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	return control_on_reached(&k->control, packet, e);
}

/* Another command of the user has one more for the box. */
static int keeper_join(void *context, int fd, struct loop_handle handle,
		       const struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	int r = joined_start(&k->joined, fd, handle, packet, e);

	if (r == 0)
		recording_outside(&k->recording, "exec");
	return r;
}

static int keeper_attach(void *context, int fd, struct loop_handle handle,
			 const struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	int r = viewers_add(&k->viewers, fd, handle, packet->body, e);

	if (r == 0)
		recording_outside(&k->recording, "attach");
	return r;
}

/* The session is over, and its command with it. */
static int keeper_kill(struct keeper *k)
{
	k->ended = k->killed = true;
	k->status = SIGKILL;
	return keeper_end(k);
}

static void keeper_tell_command(void *context, unsigned int number)
{
	struct keeper *k = context;
	const struct message_job m = {KEEPER_JOB, 0x100u | number};

	(void)message_send(k->init.fd, MESSAGE_SIGNAL, &message_job_schema, &m, NULL, 0);
	/* Who was stopped goes on to hear of it. */
	(void)keeper_go_on(k, 1);
}

static int keeper_on_patience(void *context)
{
	return keeper_kill(context);
}

/* `bawn stop` and `bawn kill`. */
static int keeper_stop(void *context, bool now)
{
	struct keeper *k = context;

	recording_outside(&k->recording, now ? "kill" : "stop");
	if (now || k->init.fd < 0)
		return keeper_kill(k);
	return ending_begin(&k->ending, k->master.had_one);
}

static int keeper_type(void *context, struct span bytes)
{
	struct keeper *k = context;

	if (!k->master.expected || (k->master.had_one && k->master.fd < 0))
		return -ENOTTY;
	master_put(&k->master, bytes);
	recording_outside(&k->recording, "send");
	return 0;
}

static void keeper_holds(void *context, bool still)
{
	struct keeper *k = context;

	recording_outside(&k->recording, still ? "pause" : "resume");
	if (!still)
		filling_resume(&k->filling);
}

static void keeper_look(void *context, struct message_session *session)
{
	struct keeper *k = context;

	session->box = k->made.pid > 0 ? (uint64_t)k->made.pid : 0;
	session->terminal = k->master.expected;
	session->idle = lasting_idle(&k->lasting);
	session->output = k->lasting.output;
	session->viewers = viewers_count(&k->viewers) + (k->master.expected && !k->detached);
}

/* The client lives on without its terminal. */
static int keeper_on_detach(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	k->control.session.pid = m.value;
	if (!k->detached)
		master_forget(&k->master, &k->client_view);
	k->detached = true;
	return loop_set_events(&k->loop, k->client_view.handle, EPOLLIN);
}

static int keeper_on_paused(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	int r = control_on_paused(&k->control, packet->body, e);

	if (r == 0)
		filling_settle(&k->filling);
	return r;
}

static int keeper_on_restless(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r == 0)
		recording_restless(&k->recording);
	return r;
}

/* The box asks for a snapshot.  The keeper may not write files, so the client makes it. */
static int keeper_make_asked(void *context, uint64_t id, const char *name)
{
	struct keeper *k = context;
	const struct message_ask m = {.id = id, .text = name};

	return message_send(k->client.fd, MESSAGE_ASK, &message_ask_schema, &m, NULL, 0);
}

static int keeper_on_asked(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	_cleanup_arena_ struct arena arena = ARENA_INIT(4096);
	struct message_ask m;
	int r = message_decode(packet->body, &message_ask_schema, &m, &arena, e);

	if (r == 0)
		asked_answer(&k->asked, m.id, m.made, m.text);
	return r;
}

static int keeper_on_ask_socket(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	return asked_open(&k->asked, TAKE_FD(packet->fds[0]), e);
}

/* --- how long it lasts ---------------------------------------------------------------- */

static int keeper_on_used(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r == 0)
		lasting_used(&k->lasting, m.value);
	return r;
}

/* The box wrote so many bytes, to a terminal or a stream, or (0) was given some. */
static void keeper_on_bytes(void *context, size_t count)
{
	struct keeper *k = context;

	lasting_carried(&k->lasting, count);
}

static int keeper_on_carried(void *context, struct channel_packet *packet, struct error *e)
{
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r == 0)
		keeper_on_bytes(context, m.value);
	return r;
}

static unsigned int keeper_ask_used(void *context)
{
	struct keeper *k = context;
	const struct message_job m = {0, 0};
	int init = message_send(k->init.fd, MESSAGE_USED, &message_job_schema, &m, NULL, 0);
	int gate = k->gate.fd < 0 ? -ENOTCONN
				  : message_send(k->gate.fd, MESSAGE_USED, &message_job_schema, &m,
						 NULL, 0);

	return (init == 0 ? LASTING_OF_INIT : 0u) | (gate == 0 ? LASTING_OF_GATE : 0u);
}

static bool keeper_is_held(void *context)
{
	const struct keeper *k = context;

	return k->control.session.held;
}

static int keeper_on_over(void *context, enum plan_limit_kind kind, const struct error *why)
{
	struct keeper *k = context;

	/* What is told of after the end comes too late for the record. */
	if (k->ended || k->failure.code != 0)
		return 0;
	limiting_note(&k->recording, plan_limit_words[kind], why->text);
	return keeper_fail(k, why);
}

static int keeper_start_clock(struct keeper *k)
{
	const struct lasting_to to = {keeper_ask_used, keeper_is_held, keeper_on_over, k};

	return lasting_start(&k->lasting, &k->loop, k->plan, &to);
}

static int keeper_on_init(void *context, uint32_t events)
{
	struct keeper *k = context;
	struct error e = ERROR_INIT;
	int r = channel_receive(&k->init, &e);

	(void)events;
	if (r == 0 || r == -ECONNRESET) {
		(void)error_set(&e, -ECONNRESET, "the box ended by itself: its pid 1 was killed");
		return keeper_fail(k, &e);
	}
	return r < 0 ? keeper_fail(k, &e) : 0;
}

static const struct channel_rule keeper_init_rules[] = {
	{MESSAGE_CAPTURE, "CAPTURE", 40, 1, CHANNEL_FDS_MAX, 1u << KEEPER_RUNNING,
	 keeper_on_capture},
	{MESSAGE_SSH_SOCKET, "SSH_SOCKET", 0, 1, 1, 1u << KEEPER_RUNNING, keeper_on_ssh_socket},
	{MESSAGE_ASK_SOCKET, "ASK_SOCKET", 0, 1, 1, 1u << KEEPER_RUNNING, keeper_on_ask_socket},
	{MESSAGE_WATCH, "WATCH", 0, 1, 2, 1u << KEEPER_RUNNING, keeper_on_watch},
	{MESSAGE_READY, "READY", 16, 0, 0, 1u << KEEPER_RUNNING, keeper_on_ready},
	{MESSAGE_FAILED, "FAILED", 4096, 0, 0, 1u << KEEPER_RUNNING, keeper_on_failed},
	{MESSAGE_TERMINAL, "TERMINAL", 16, 1, 1, 1u << KEEPER_RUNNING, keeper_on_terminal},
	{MESSAGE_STOPPED, "STOPPED", 16, 0, 0, 1u << KEEPER_RUNNING, keeper_on_stopped},
	{MESSAGE_RESTLESS, "RESTLESS", 16, 0, 0, 1u << KEEPER_RUNNING, keeper_on_restless},
	{MESSAGE_REACHED, "REACHED", 16, 0, 2, 1u << KEEPER_RUNNING, keeper_on_reached},
	{MESSAGE_EXITED, "EXITED", 16, 0, 0, 1u << KEEPER_RUNNING, keeper_on_exited},
	{MESSAGE_PAUSED, "PAUSED", 2048, 0, 0, 1u << KEEPER_RUNNING, keeper_on_paused},
	{MESSAGE_USED, "USED", 16, 0, 0, 1u << KEEPER_RUNNING, keeper_on_used},
};

/* Shows what the recorder found when it compared the workspace with the record. */
static void keeper_show(void *context, struct span event)
{
	(void)keeper_tell_client(context, MESSAGE_EVENT, event);
}

static void keeper_on_unmeasured(void *context)
{
	keeper_tell_lost(context, "measurer", "layers-size and record-size are not kept any more");
}

/* No box without a record. */
static void keeper_on_recorder_gone(void *context, const struct error *why)
{
	(void)keeper_fail(context, why);
}

static int keeper_make(struct keeper *k, int plan_fd, struct error *e)
{
	int ends[2];
	int r = channel_pair(ends);

	if (r < 0)
		return error_sys(e, r, "making a channel to the box");
	k->init = (struct channel){.fd = ends[0],
				   .rules = keeper_init_rules,
				   .rule_count = BAWN_ARRAY_SIZE(keeper_init_rules),
				   .state = KEEPER_RUNNING,
				   .context = k};
	const struct make_box_fds given = {ends[1], plan_fd, k->limiting.procs};

	r = make_box(k->plan, k->programs, &given, &k->made, e);
	(void)close(ends[1]);
	if (r < 0)
		return r;
	r = loop_add(&k->loop, k->init.fd, EPOLLIN, keeper_on_init, k, &k->init_handle);
	return r < 0 ? error_sys(e, r, "watching the box") : 0;
}

/* Where the command has a terminal and the session can be reached, somebody may attach. */
static int keeper_make_screen(struct keeper *k, struct span start, struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT((size_t)CHANNEL_BYTES_MAX * 4);
	struct message_spawn m;
	int r = message_decode(start, &message_spawn_schema, &m, &arena, e);

	if (r < 0 || !m.terminal || k->control.listener < 0)
		return r;
	k->master.expected = true;
	k->client_view.rows = m.rows;
	k->client_view.columns = m.columns;
	r = screening_start(&k->screening, k->programs, &k->loop, &k->master, e);
	if (r == 0)
		screening_resize(&k->screening, m.rows, m.columns);
	return r;
}

static int keeper_on_start(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;
	int r = plan_read(packet->fds[0], &k->plan, &k->arena, e);
	bool keys = r == 0 && plan_needs_keys(k->plan);
	size_t first = keys ? 2 : 1; /* index of the first descriptor for the command */

	if (r == 0 && !plan_goes_without(k->plan, PLAN_LAYER_RECORD))
		r = recording_start(&k->recording, k->programs, packet->fds[0], e);
	if (r == 0 && keys)
		r = keeper_make_keys(k, packet, e);
	if (r == 0)
		r = keeper_make(k, packet->fds[0], e);
	if (r == 0)
		r = keeper_make_gate(k, packet->fds[0], e);
	if (r == 0 && keys)
		r = keeper_introduce_keys(k, e);
	if (r == 0)
		r = keeper_make_signer(k, packet->fds[0], e);
	if (r == 0)
		r = keeper_make_screen(k, packet->body, e);
	if (r == 0)
		r = recording_wait(&k->recording, e);
	if (r < 0)
		return r;
	/* The message waits in the socket until init reads it.  An init that has failed has sent
	 * the reason, which we read next. */
	r = channel_if_there(channel_send(k->init.fd, MESSAGE_SPAWN, packet->body,
					  packet->fds + first, packet->fd_count - first));
	if (r == 0)
		r = keeper_start_clock(k);
	if (r == 0)
		r = limiting_watch(&k->limiting, &k->loop, &k->recording, keeper_show, k);
	if (r == 0)
		r = recording_serve(&k->recording, &k->loop, keeper_on_recorder_gone, k);
	k->recording.on_event = keeper_show;
	k->control.metered = plan_limit_of(k->plan, PLAN_LIMIT_NETWORK) != NULL ||
			     plan_limit_of(k->plan, PLAN_LIMIT_IDLE_TIME) != NULL;
	if (r < 0)
		return error_sys(e, r, "starting the session");
	r = control_start(&k->control, TAKE_FD(packet->fds[0]), k->plan, e);
	if (r < 0)
		return r;
	r = filling_start(&k->filling, &k->loop, k->plan, &k->control, &k->recording, keeper_show,
			  keeper_on_unmeasured, k);
	if (r < 0)
		return error_sys(e, r, "watching the disk");
	k->client.state = KEEPER_RUNNING;
	fd_close(&k->programs);
	if (plan_goes_without(k->plan, PLAN_LAYER_HIDE_INIT))
		return 0;
	/* When the user goes without filters, the kernel may have none. */
	r = process_confine(plan_goes_without(k->plan, PLAN_LAYER_SECCOMP)
				    ? (struct span){NULL, 0}
				    : profile_bpf(PROFILE_KEEPER));
	return r < 0 ? error_sys(e, r, "confining the keeper") : 0;
}

static int keeper_on_control(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	return control_open(&k->control, packet, e);
}

static int keeper_on_limits(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	return limiting_take(&k->limiting, packet, e);
}

static int keeper_on_room(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	return filling_take(&k->filling, packet, e);
}

static int keeper_on_record(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	return recording_take(&k->recording, packet, e);
}

static const struct channel_rule keeper_client_rules[] = {
	{MESSAGE_RECORD, "RECORD", 512, 2, 4, 1u << KEEPER_NEW, keeper_on_record},
	{MESSAGE_CONTROL, "CONTROL", 256, 2, 4, 1u << KEEPER_NEW, keeper_on_control},
	{MESSAGE_LIMITS, "LIMITS", 24, 2, 5, 1u << KEEPER_NEW, keeper_on_limits},
	{MESSAGE_ROOM, "ROOM", 0, 1, 1, 1u << KEEPER_NEW, keeper_on_room},
	{MESSAGE_START, "START", CHANNEL_BYTES_MAX, 1, 6, 1u << KEEPER_NEW, keeper_on_start},
	{MESSAGE_INPUT, "INPUT", MESSAGE_DATA_MAX, 0, 0, 1u << KEEPER_RUNNING, keeper_on_input},
	{MESSAGE_RESIZE, "RESIZE", 24, 0, 0, 1u << KEEPER_RUNNING, keeper_on_resize},
	{MESSAGE_SSH_CONNECTED, "SSH_CONNECTED", 16, 0, 1, 1u << KEEPER_RUNNING,
	 keeper_on_ssh_connected},
	{MESSAGE_ASKED, "ASKED", 1024, 0, 0, 1u << KEEPER_RUNNING, keeper_on_asked},
	{MESSAGE_SIGNAL, "SIGNAL", 16, 0, 0, 1u << KEEPER_RUNNING, keeper_on_signal},
	{MESSAGE_CONTINUE, "CONTINUE", 16, 0, 0, 1u << KEEPER_RUNNING, keeper_on_continue},
	{MESSAGE_DETACH, "DETACH", 16, 0, 0, 1u << KEEPER_RUNNING, keeper_on_detach},
	{MESSAGE_CARRIED, "CARRIED", 16, 0, 0, 1u << KEEPER_RUNNING, keeper_on_carried},
};

/* Somebody does not take the terminal's output any more.  When it is the client, there is nobody to
 * keep the session for. */
static void keeper_on_view_gone(void *context, struct master_view *view)
{
	struct keeper *k = context;

	if (view == &k->client_view)
		(void)keeper_end(k);
	else if (view == &k->screening.view)
		screening_lose(&k->screening);
	else
		(void)viewers_lose(&k->viewers, view);
}

static void keeper_on_size(void *context, uint64_t rows, uint64_t columns)
{
	struct keeper *k = context;

	screening_resize(&k->screening, rows, columns);
}

static void keeper_hush(void *context, bool hush)
{
	struct keeper *k = context;

	screening_hush(&k->screening, hush);
}

static int keeper_paint(void *context)
{
	struct keeper *k = context;

	return screening_paint(&k->screening);
}

static int keeper_on_client(void *context, uint32_t events)
{
	struct keeper *k = context;
	struct error e = ERROR_INIT;

	/* One that is gone takes nothing: what it said last is read, and then its end. */
	if ((events & EPOLLOUT) && !(events & (EPOLLHUP | EPOLLERR))) {
		(void)toward_flush(&k->toward);
		master_on_room(&k->master, &k->client_view);
		return 0;
	}
	int r = channel_receive(&k->client, &e);

	/* -EAGAIN without words in e: nothing to read.  With words it is a handler's error. */
	if (r == -EAGAIN && e.code == 0)
		return 0;
	if (r == 0)
		return keeper_end(k); /* the client is gone: end the session */
	if (r < 0) {
		e.code = r;
		return keeper_fail(k, &e);
	}
	return 0;
}

/* Ends the box and waits until nothing of it runs. */
static void keeper_end_box(struct keeper *k)
{
	if (k->made.pid <= 0)
		return;
	/* Two ways to end init: its channel closes, and it is killed; a third where it has a cgroup. */
	fd_close(&k->init.fd);
	limiting_kill(&k->limiting);
	if (plan_goes_without(k->plan, PLAN_LAYER_PID_NS)) {
		/* Without a pid namespace it has children to end first. */
		struct pollfd wait_for = {.fd = k->made.pidfd, .events = POLLIN};

		(void)ppoll(&wait_for, 1, &(struct timespec){.tv_sec = 5}, NULL);
	}
	make_end(&k->made);
}

/* The last of the terminal's output and of what the client is told, for as long as the client takes
 * some of it.  One who takes nothing is not waited for long. */
static void keeper_drain(struct keeper *k)
{
	int ms = k->killed ? KEEPER_KILLED_MS : KEEPER_END_MS;

	for (;;) {
		bool done = master_drain(&k->master);
		struct pollfd room = {.fd = k->client.fd, .events = POLLOUT};
		struct timespec patience = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

		int r = toward_flush(&k->toward);

		if ((done && r != -EAGAIN) || ppoll(&room, 1, &patience, NULL) <= 0 ||
		    (room.revents & (POLLHUP | POLLERR)))
			return;
	}
}

static void keeper_report_end(struct keeper *k)
{
	const struct message_job exited = {KEEPER_JOB, k->status};
	const struct message_failed failed = {(uint64_t)-k->failure.code, k->failure.text,
					      k->failure.next};
	uint32_t type = k->ended ? MESSAGE_EXITED : MESSAGE_FAILED;
	_cleanup_buf_ struct buf b = BUF_INIT(4096);

	if (k->ended)
		schema_encode(&b, &message_job_schema, &exited);
	else
		schema_encode(&b, &message_failed_schema, &failed);
	if (k->ended || k->failure.code != 0) {
		viewers_end(&k->viewers, type, buf_span(&b));
		control_end(&k->control, type, buf_span(&b));
		(void)keeper_tell_client(k, type, buf_span(&b));
		keeper_drain(k);
	}
	/* The client stopped when the command did.  Continue it: perhaps nobody else does. */
	if (k->stopped)
		(void)syscall(SYS_pidfd_send_signal, k->parent, SIGCONT, NULL, 0);
}

/* A message of the client while the record ends.  Ctrl-C counts as a signal: the terminal is
 * raw. */
static enum recording_haste keeper_on_word(void *context)
{
	struct keeper *k = context;
	struct error e = ERROR_INIT;

	k->called = false;
	int r = channel_receive(&k->client, &e);

	if (k->called)
		return RECORDING_CALLED;
	return r > 0 || (r == -EAGAIN && e.code == 0) ? RECORDING_WAITS : RECORDING_GONE;
}

/* Ends the record.  If that fails, the session fails, whatever the command's status. */
static void keeper_end_record(struct keeper *k)
{
	const struct recording_waiter waiter = {k->client.fd, keeper_on_word, k};
	struct error e = ERROR_INIT;

	recording_end(&k->recording, k->ended ? &k->status : NULL, &waiter, &e);
	if (e.code != 0 && k->failure.code == 0) {
		k->failure = e;
		k->ended = false;
	}
}

/* Shows in the session what another command did to it. */
static void keeper_tell_event(void *context, const struct message_event *event)
{
	struct keeper *k = context;
	_cleanup_buf_ struct buf b = BUF_INIT(4096);

	if (k->control.names)
		toward_want_resolver(&k->toward);
	recording_event(&k->recording, event);
	schema_encode(&b, &message_event_schema, event);
	if (buf_error(&b) == 0)
		(void)keeper_tell_client(k, MESSAGE_EVENT, buf_span(&b));
}

static int keeper_decide(void *context, const struct message_change *change, int plan,
			 struct error *e)
{
	struct keeper *k = context;

	return recording_change(&k->recording, change, plan, e);
}

int keeper_run(int channel, int programs)
{
	static struct keeper k;

	k.programs = programs;
	k.parent = (int)syscall(SYS_pidfd_open, getppid(), 0);
	k.made.pidfd = k.init.fd = k.gate.fd = -1;
	k.gate_made.pidfd = k.resolver_made.pidfd = -1;
	control_init(&k.control, &k.loop, &k.gate, keeper_tell_event, &k);
	k.control.decide = keeper_decide;
	k.control.pause = keeper_pause;
	k.control.join = keeper_join;
	k.control.holds = keeper_holds;
	k.control.to_init = keeper_to_init;
	k.control.recording = &k.recording;
	k.control.attach = keeper_attach;
	k.control.end = keeper_stop;
	k.control.type = keeper_type;
	k.control.look = keeper_look;
	ending_init(&k.ending, &k.loop, keeper_tell_command, keeper_on_patience, &k);
	k.screening = SCREENING_INIT;
	joined_init(&k.joined, &k.loop, keeper_to_init, keeper_on_bytes, &k);
	asked_init(&k.asked, &k.loop, keeper_make_asked, &k);
	k.keyring = KEYRING_INIT;
	k.signing = SIGNING_INIT;
	k.recording = RECORDING_INIT;
	k.limiting = LIMITING_INIT;
	k.lasting = LASTING_INIT;
	k.filling = FILLING_INIT;
	k.arena = ARENA_INIT(PLAN_ARENA_MAX);
	k.client = (struct channel){.fd = channel,
				    .rules = keeper_client_rules,
				    .rule_count = BAWN_ARRAY_SIZE(keeper_client_rules),
				    .state = KEEPER_NEW,
				    .context = &k};
	if (fd_set_nonblock(channel, true) < 0 || loop_init(&k.loop) < 0 ||
	    loop_add(&k.loop, channel, EPOLLIN, keeper_on_client, &k, &k.client_view.handle) < 0)
		return 1;
	k.client_view.fd = channel;
	toward_init(&k.toward, &k.loop, &k.client_view);
	master_init(&k.master, &k.loop,
		    &(struct master_to){keeper_on_view_gone, keeper_on_size, keeper_paint,
					keeper_hush, keeper_on_bytes, &k});
	k.client_view.waited = true;
	(void)master_show(&k.master, &k.client_view, false);
	viewers_init(&k.viewers, &k.loop, &k.master, keeper_go_on, &k);
	int r = loop_run(&k.loop);

	if (r < 0 && k.failure.code == 0)
		(void)error_sys(&k.failure, r, "keeping the session");
	keeper_end_box(&k);
	limiting_end(&k.limiting);
	joined_end(&k.joined);
	keeper_end_gate(&k);
	keeper_drain(&k);
	keeper_end_record(&k);
	keeper_drain(&k);
	keeper_report_end(&k);
	return 0;
}
