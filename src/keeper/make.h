/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a session: the box in its namespaces, the gate and those
 * beside it. */
#ifndef BAWN_MAKE_H
#define BAWN_MAKE_H

#include "error.h"
#include "plan.h"

struct make_result {
	pid_t pid;
	int pidfd;
};

/* Descriptors for the box: 3, 4, and the file that takes it into its cgroup, which it does not keep;
 * -1: it has none. */
struct make_box_fds {
	int channel, plan, group;
};

/*
 * Starts the program bawn-box of the folder `programs` as pid 1 of new namespaces, with descriptors
 * 3 (channel) and 4 (the plan) and nothing else.  When a namespace is refused, e names it and the
 * way out.
 */
int make_box(const struct plan *plan, int programs, const struct make_box_fds *given,
	     struct make_result *ret_result, struct error *e);

/* Descriptors for the gate besides its channels to us and to the resolver: 4, and 6 or -1. */
struct make_gate_fds {
	int plan, record;
};

/*
 * Starts bawn-gate with a channel to us (ret_channel), and bawn-resolver with a channel to the
 * gate.  When no rule allows a name, it starts no resolver; *ret_lookups (else -1) is then the
 * resolver's end of that channel, for a change of the rules.
 */
int make_gate(const struct plan *plan, int programs, const struct make_gate_fds *given,
	      struct make_result *ret_gate, struct make_result *ret_resolver, int *ret_channel,
	      int *ret_lookups, struct error *e);

/* Descriptors for keys besides its channels to us and to the gate: 4, 6, and from 7 on. */
struct make_keys_fds {
	int plan, values;
	int authorities[PLAN_AUTHORITIES_MAX];
	size_t authority_count;
};

/* Starts bawn-keys with a channel to us and one whose other end (ret_gate) is for the gate. */
int make_keys(int programs, const struct make_keys_fds *fds, struct make_result *ret_keys,
	      int *ret_channel, int *ret_gate, struct error *e);

/* Starts bawn-recorder with a channel to us and one whose other end (ret_gate) is for the gate. */
int make_recorder(int programs, int plan_fd, struct make_result *ret_recorder, int *ret_channel,
		  int *ret_gate, struct error *e);

/* Starts bawn-signer with a channel to us. */
int make_signer(int programs, int plan_fd, struct make_result *ret_signer, int *ret_channel,
		struct error *e);

/* Starts bawn-screen with a channel to us. */
int make_screen(int programs, struct make_result *ret_screen, int *ret_channel, struct error *e);

/* Ends a process and waits for it; nothing happens to one that was never made. */
void make_end(struct make_result *made);

#endif
