/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"
#include "change.h"
#include "clock.h"
#include "fd.h"
#include "flow.h"
#include "message_box.h"
#include "message_gate.h"
#include "nflog.h"
#include "plan_read.h"
#include "process.h"
#include "profile.h"
#include "put_in.h"
#include "refusal.h"
#include "relay.h"

#include <linux/netlink.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { GATE_WAITING, GATE_SERVING, GATE_IN_ANY = 1u << GATE_WAITING | 1u << GATE_SERVING };
enum { GATE_EAGER_NS = 25000 };
enum { GATE_REJECTED_TURNS = 32 };
enum { GATE_ACCEPTS = 32 }; /* connections in a row at most; then other sources have their turn */

static void gate_watch_doors(struct gate *g, uint32_t events)
{
	for (size_t i = 0; i < g->door_count; i++)
		(void)loop_set_events(&g->loop, g->doors[i].handle, events);
}

/* --- time ----------------------------------------------------------------------------- */

static int gate_on_timer(void *context, uint32_t events)
{
	struct gate *g = context;
	uint64_t ticks = 0;
	int64_t now = clock_now();
	struct flow *next = NULL;

	(void)events;
	(void)!read(g->timer, &ticks, sizeof(ticks));
	for (struct flow *f = g->waiting; f; f = next) {
		next = f->next_waiting;
		flow_on_time(f, now);
	}
	g->ticking = false;
	if (g->full) {
		g->full = false;
		gate_watch_doors(g, EPOLLIN);
	}
	bool muted = mute_on_time(g, now);
	bool telling = account_on_time(g->account, now);

	return g->waiting || muted || telling ? gate_tick(g) : 0;
}

/* --- what the kernel refused ----------------------------------------------------------- */

/*
 * The kernel refuses a connection to an address that no rule can allow, so that connect() fails.
 * It sends the gate a copy of the beginning of each such packet, so that the gate can tell the
 * user.  Nothing is decided here.
 */
static void gate_note_rejected(struct gate *g, const struct nflog_packet *p)
{
	struct rules_question q = {.literal = true, .address = p->to, .port = p->port};
	struct rules_verdict v = {.action = PLAN_ACTION_DENY};
	char host[ADDRESS_TEXT_SIZE];

	address_format(&p->to, host);
	if (p->protocol == NFLOG_TCP)
		rules_decide(g->rules, &q, &v);
	else
		(void)snprintf(v.reason, sizeof(v.reason), "only TCP and DNS pass, and this is %s",
			       p->protocol == NFLOG_UDP ? "UDP" : "neither");
	if (v.action != PLAN_ACTION_ALLOW)
		refusal_note(g, MESSAGE_EVENT_CONNECT, host, p->port, &v);
}

static int gate_on_rejected(void *context, uint32_t events)
{
	struct gate *g = context;
	uint8_t bytes[4096];

	(void)events;
	for (int i = 0; i < GATE_REJECTED_TURNS && g->log >= 0; i++) {
		struct sockaddr_nl from = {.nl_pid = 0};
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(g->log, bytes, sizeof(bytes), MSG_DONTWAIT,
				     (struct sockaddr *)&from, &len);

		/* ENOBUFS: some were lost, others wait. */
		if (n < 0 && errno == ENOBUFS)
			continue;
		if (n < 0)
			break;
		struct span messages = {bytes, (size_t)n};
		struct nflog_packet packet;

		while (from.nl_pid == 0 && nflog_next(&messages, &packet) > 0)
			gate_note_rejected(g, &packet);
	}
	return 0;
}

/* --- the resolver --------------------------------------------------------------------- */

static int gate_on_resolved(void *context, struct channel_packet *packet, struct error *e)
{
	struct message_resolved m;
	int r = message_decode(packet->body, &message_resolved_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (m.addresses.len % sizeof(struct address) != 0)
		return error_set(e, -EPROTO, "an answer that is no list of addresses");
	flow_resolved(context, &m);
	return 0;
}

static const struct channel_rule gate_resolver_rules[] = {
	{MESSAGE_RESOLVED, "RESOLVED", 2048, 0, 0, 1u << GATE_SERVING, gate_on_resolved},
};

static int gate_on_resolver(void *context, uint32_t events)
{
	struct gate *g = context;

	(void)events;
	if (!channel_serve(&g->resolver)) {
		/* Without a resolver there are no new connections to names; existing ones go on. */
		loop_remove(&g->loop, &g->resolver_handle);
		fd_close(&g->resolver.fd);
	}
	return 0;
}

/* --- the box -------------------------------------------------------------------------- */

static int gate_on_tcp(void *context, uint32_t events)
{
	struct gate_door *door = context;
	struct gate *g = door->gate;

	(void)events;
	/* Mostly one connection waits.  When all tries found one, try twice as many the next
	 * time. */
	int turns = door->accepts > 0 ? door->accepts : 1;

	door->accepts = 1;
	for (int i = 0; i < turns; i++) {
		int fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 &&
		    (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)) {
			/* New connections wait in the queue until the next tick, so that we do
			 * not spin. */
			g->full = true;
			gate_watch_doors(g, 0);
			return gate_tick(g);
		}
		if (fd < 0)
			return 0;
		if (g->flow_count >= GATE_FLOWS_MAX ||
		    !bucket_take(&g->new_flows, clock_now(), GATE_NEW_PER_SECOND, GATE_NEW_BURST)) {
			struct linger now = {.l_onoff = 1, .l_linger = 0};

			(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
			(void)close(fd);
			refusal_limit(g, "connections");
			continue;
		}
		flow_accept(g, fd);
	}
	door->accepts = turns < GATE_ACCEPTS ? turns * 2 : GATE_ACCEPTS;
	return 0;
}

static int gate_open_door(struct gate *g, int fd)
{
	struct gate_door *door = &g->doors[g->door_count++];

	*door = (struct gate_door){.gate = g, .fd = fd};
	return loop_add(&g->loop, fd, EPOLLIN, gate_on_tcp, door, &door->handle);
}

static int gate_on_capture(void *context, struct channel_packet *packet, struct error *e)
{
	struct gate *g = context;
	struct message_capture m;
	int r = message_decode(packet->body, &message_capture_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (m.rules || m.dns != (g->keeper.state == GATE_WAITING) || (m.log && !m.dns) ||
	    m.listeners + m.dns + m.log != packet->fd_count ||
	    m.listeners > GATE_DOORS_MAX - g->door_count)
		return error_set(e, -EPROTO, "sockets that do not fit");
	for (size_t i = (size_t)m.dns + m.log; r == 0 && i < packet->fd_count; i++)
		r = gate_open_door(g, TAKE_FD(packet->fds[i]));
	if (r == 0 && m.dns) {
		g->dns = TAKE_FD(packet->fds[0]);
		r = loop_add(&g->loop, g->dns, EPOLLIN, answer_on_dns, g, &g->dns_handle);
	}
	if (r == 0 && m.log) {
		g->log = TAKE_FD(packet->fds[1]);
		r = loop_add(&g->loop, g->log, EPOLLIN, gate_on_rejected, g, &g->log_handle);
	}
	g->keeper.state = GATE_SERVING;
	return r < 0 ? error_sys(e, r, "opening the gate") : 0;
}

static int gate_on_flush(void *context, struct channel_packet *packet, struct error *e)
{
	struct gate *g = context;

	(void)packet;
	(void)e;
	(void)gate_on_rejected(g, 0);
	refusal_flush(g);
	/* The box is gone.  Ending its flows sends their notes. */
	while (g->flows)
		flow_end(g->flows);
	account_flush(g->account);
	g->flushing = true;
	return 0;
}

/* The end of a round of events: sends the notes, and calls those whose notes are on the disk. */
static int gate_on_turn(void *context, uint32_t events)
{
	struct gate *g = context;
	int r = account_turn(g->account);

	(void)events;
	if (r < 0 || !g->flushing || !account_is_out(g->account))
		return r;
	g->flushing = false;
	return channel_send(g->keeper.fd, MESSAGE_DONE, (struct span){NULL, 0}, NULL, 0);
}

static int gate_on_keys(void *context, struct channel_packet *packet, struct error *e)
{
	struct gate *g = context;
	int r = key_ask_open(&g->keys, &g->loop, packet->fds, packet->fd_count);

	if (r == 0)
		upstream_ask(&g->upstream, &g->keys);
	return r < 0 ? error_sys(e, r, "taking the channel to keys") : 0;
}

/* Bytes of connections to ports of the box, which pass outside of the gate, count like its own. */
static int gate_on_spend(void *context, struct channel_packet *packet, struct error *e)
{
	struct gate *g = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	m.value = flow_spend_most(g, m.value);
	return message_send(g->keeper.fd, MESSAGE_SPENT, &message_job_schema, &m, NULL, 0);
}

static const struct channel_rule gate_keeper_rules[] = {
	{MESSAGE_KEYS, "KEYS", 0, 1, 1 + PLAN_AUTHORITIES_MAX,
	 1u << GATE_WAITING | 1u << GATE_SERVING, gate_on_keys},
	{MESSAGE_CAPTURE, "CAPTURE", 40, 1, CHANNEL_FDS_MAX, GATE_IN_ANY, gate_on_capture},
	{MESSAGE_FLUSH, "FLUSH", 0, 0, 0, GATE_IN_ANY, gate_on_flush},
	{MESSAGE_RULES, "RULES", 16, 1, 1, GATE_IN_ANY, change_on_rules},
	{MESSAGE_COUNT, "COUNT", 512, 0, 0, GATE_IN_ANY, change_on_count},
	{MESSAGE_USED, "USED", 16, 0, 0, GATE_IN_ANY, change_on_used},
	{MESSAGE_SPEND, "SPEND", 16, 0, 0, GATE_IN_ANY, gate_on_spend},
};

static int gate_on_keeper(void *context, uint32_t events)
{
	struct gate *g = context;

	(void)events;
	/* Without a keeper there is no session: the gate ends, and the network with it. */
	return channel_serve(&g->keeper) ? 0 : -ECONNRESET;
}

/* --- start ---------------------------------------------------------------------------- */

static void gate_take_limits(struct gate *g)
{
	g->bytes = plan_limit_of(g->plan, PLAN_LIMIT_NETWORK);
	g->bytes_left = g->bytes ? g->bytes->value : UINT64_MAX;
}

static int gate_read_plan(struct gate *g, int plan_fd, struct error *e)
{
	int r = plan_read(plan_fd, &g->plan, &g->arena, e);

	if (r < 0)
		return r;
	gate_take_limits(g);
	r = rules_of_plan(g->plan, &g->rules, e);
	if (r == 0)
		r = upstream_init(&g->upstream, g->plan, &g->made_up);
	if (r == 0 && g->plan->secrets.count > 0)
		r = put_in_book_new(g->plan->secrets.items, g->plan->secrets.count, &g->book);
	return r;
}

/*
 * To wake up costs ten times as much as to pass on a small message.  So a busy loop looks for
 * the next one before it sleeps.  Not with one processor: there the sender could not run
 * meanwhile.
 */
static void gate_be_eager(struct gate *g)
{
	cpu_set_t processors;

	CPU_ZERO(&processors);
	if (sched_getaffinity(0, sizeof(processors), &processors) == 0 &&
	    CPU_COUNT(&processors) > 1)
		g->loop.eager_ns = GATE_EAGER_NS;
}

/* Keeper, clock and recorder are served also while the loop is held. */
static int gate_open_account(struct gate *g, int recorder)
{
	if (recorder < 0)
		return plan_goes_without(g->plan, PLAN_LAYER_RECORD) ? 0 : -ENOTCONN;
	g->account = account_new(recorder, &g->loop);
	if (!g->account)
		return -ENOMEM;
	int r = loop_keep(&g->loop, g->keeper_handle);

	return r < 0 ? r : loop_keep(&g->loop, g->timer_handle);
}

int gate_run(int keeper, int resolver, int recorder, int plan_fd)
{
	static struct gate g;
	struct error e = ERROR_INIT;

	g.dns = g.log = g.keys.channel.fd = -1;
	g.arena = ARENA_INIT(PLAN_ARENA_MAX);
	g.keeper = (struct channel){.fd = keeper,
				    .rules = gate_keeper_rules,
				    .rule_count = BAWN_ARRAY_SIZE(gate_keeper_rules),
				    .state = GATE_WAITING,
				    .context = &g};
	g.resolver = (struct channel){.fd = resolver,
				      .rules = gate_resolver_rules,
				      .rule_count = BAWN_ARRAY_SIZE(gate_resolver_rules),
				      .state = GATE_SERVING,
				      .context = &g};
	(void)process_raise_files(); /* two for each connection */
	relay_init();
	g.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (g.timer < 0 || gate_read_plan(&g, plan_fd, &e) < 0 || loop_init(&g.loop) < 0)
		return 1;
	(void)close(plan_fd);
	if (loop_add(&g.loop, keeper, EPOLLIN, gate_on_keeper, &g, &g.keeper_handle) < 0 ||
	    loop_add(&g.loop, g.timer, EPOLLIN, gate_on_timer, &g, &g.timer_handle) < 0)
		return 1;
	if (resolver >= 0 &&
	    loop_add(&g.loop, resolver, EPOLLIN, gate_on_resolver, &g, &g.resolver_handle) < 0)
		return 1;
	if (gate_open_account(&g, recorder) < 0)
		return 1;
	g.loop.turn = gate_on_turn;
	g.loop.turn_context = &g;
	gate_be_eager(&g);
	/* From here on the gate reads hostile bytes: no files, no programs, sockets only. */
	if (process_confine(plan_goes_without(g.plan, PLAN_LAYER_SECCOMP)
				    ? (struct span){NULL, 0}
				    : profile_bpf(PROFILE_GATE)) < 0)
		return 1;
	process_forget_start();
	(void)loop_run(&g.loop);
	upstream_forget(&g.upstream);
	return 0;
}
