/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate: the only way from the box to the network.  Names in, verdicts out.
 *
 *	gate.c	    accepts connections, keeps time, talks to keeper and resolver, tells what the
 *		    kernel refused at connect
 *	gate_core.c its clock, dialling, lookups and byte limit, which the other files call
 *	answer.c    DNS inside
 *	flow.c	    one connection: who decides, dialling, ending
 *	relay.c	    its bytes
 *	proxy.c	    CONNECT and SOCKS5, for programs that insist
 *	intercept.c a connection that is opened, with leg.c, exchange.c, side.h, tls.c
 *	upstream.c  the proxy of the user's network, if there is one
 *	key_ask.c   what keys is asked for
 *	refusal.c   what a refused program is told, and the count of refusals
 *	mute.c	    askers that flood, silenced by the kernel
 *	made_up.c   addresses that stand for names
 *	change.c    other rules, while the session runs
 *	tell.c	    the notes for the record; account.c sends them, fold.c counts
 *		    notes that repeat
 */
#ifndef BAWN_GATE_H
#define BAWN_GATE_H

#include "account.h"
#include "bucket.h"
#include "channel.h"
#include "key_ask.h"
#include "loop.h"
#include "made_up.h"
#include "message.h"
#include "mute.h"
#include "plan.h"
#include "rules.h"
#include "upstream.h"

struct flow;
struct put_in_book;
struct refusals;

/* What one session may use at most. */
enum {
	GATE_FLOWS_MAX = 16384,
	GATE_NEW_PER_SECOND = 4000,
	GATE_NEW_BURST = 16384,
	GATE_QUESTIONS_PER_SECOND = 200, /* of one asker */
	GATE_QUESTIONS_BURST = 2000,
	GATE_ANSWERS_PER_SECOND = 20000, /* to all of them */
	GATE_ANSWERS_BURST = 4000,
	GATE_ASKERS = 16384,   /* an asker is known by the port that it asks from */
	GATE_CHECK_MS = 15000, /* time for a connection to pass CHECK */
	GATE_DIAL_MS = 20000,
	GATE_CACHE_MS = 3000, /* how long the gate uses an answer of the resolver again */
	GATE_TICK_MS = 50,
	GATE_DOORS_MAX = 48,
};

/* Where the box's connections arrive: one listener, or without nf_tables one for each port. */
struct gate_door {
	struct gate *gate;
	int fd;
	struct loop_handle handle;
	int accepts; /* how many to try the next time */
};

struct gate {
	struct loop loop;
	struct channel keeper, resolver;
	struct key_ask_link keys;
	struct upstream_link upstream;
	struct put_in_book *book;        /* the plan's placeholders; NULL: it has no secrets */
	struct take_out *taken;          /* NULL while no connection is opened, or no secret */
	size_t opened;                   /* connections */
	bool released[PLAN_SECRETS_MAX]; /* the value went out in this session */
	struct loop_handle keeper_handle, resolver_handle, dns_handle, timer_handle;
	struct loop_handle log_handle;
	int dns, timer;
	struct gate_door doors[GATE_DOORS_MAX];
	size_t door_count;
	int log; /* -1: this kernel does not report what it refuses */
	bool ticking;
	bool full; /* no descriptors left: nothing is accepted until the next tick */
	const struct plan *plan;
	struct rules *rules;
	uint64_t changes; /* how often the rules were changed */
	struct made_up made_up;
	struct refusals *refusals;
	struct account *account; /* NULL: the session goes without record */
	bool flushing;           /* DONE is due when the account is out */
	struct flow *waiting;    /* flows that have a deadline: not yet relaying */
	struct flow *flows;      /* all */
	size_t flow_count;
	uint64_t next_lookup;
	struct bucket new_flows, answers, questions[GATE_ASKERS];
	struct mute mute;
	const struct plan_limit *bytes; /* of the session; NULL: unlimited */
	uint64_t bytes_left;
	uint64_t moved; /* bytes that went through, both ways */
	struct arena arena;
};

/* Serves the keeper until it is gone; returns the exit code.  resolver and recorder may be -1. */
int gate_run(int keeper, int resolver, int recorder, int plan_fd);

/* gate_core.c */
int gate_tick(struct gate *g); /* starts the clock when something has a deadline */
/* A socket to outside that is connected or connecting; -errno. */
int gate_dial(const struct address *to, uint16_t port);
/* Asks the resolver for a name's addresses, unless it was asked already; flow_resolved follows. */
int gate_ask(struct gate *g, struct made_up_name *name);
/* How many bytes may be read from a connection: at least one, so that a reader notices its end. */
size_t gate_room(const struct gate *g, size_t most);

#endif
