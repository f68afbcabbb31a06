/* SPDX-License-Identifier: Apache-2.0 */
/* The box's root, built from nothing by the plan's mount list. */
#ifndef BAWN_ROOT_H
#define BAWN_ROOT_H

#include "error.h"
#include "plan.h"

/* The devices in the box's /dev. */
enum { ROOT_DEVICE_COUNT = 6 };
extern const char *const root_devices[ROOT_DEVICE_COUNT];

/* The trust files that the plan names, in the order of their formats. */
struct root_trust {
	int fds[PLAN_TRUST_COUNT];
	size_t count;
};

/*
 * The second /proc is mounted nowhere.  Only init has it, to see
 * also the processes that hide from the first.  -1 without a pid namespace.
 */
struct root_made {
	int ssh;       /* the box's listening socket of the ssh agent; -1 none */
	int ask;       /* that of PLAN_ASK_SOCKET; -1 none */
	int processes; /* a second /proc; -1 none */
};

#define ROOT_MADE_INIT ((struct root_made){.ssh = -1, .ask = -1, .processes = -1})

/*
 * In a mount namespace of our own, with CAP_SYS_ADMIN over it, the steps that make the root, in
 * this order (launch.c says why).  On an error the caller ends; nothing was changed outside.
 */
struct root;

/* Resets and returns the one struct root.  root_mount reads the trust files and fills `made`. */
struct root *root_begin(const struct plan *plan, const struct root_trust *trust,
			struct root_made *made);
int root_part(struct error *e);                               /* from the host's mounts */
int root_open_sources(struct root *root, struct error *e);    /* while they are in view */
int root_make(struct root *root, struct error *e);            /* empty, or a system's */
int root_mount(struct root *root, struct error *e);           /* all that the plan names */
int root_mask_proc(const struct root *root, struct error *e); /* what /proc should not tell */
int root_enter(struct root *root, struct error *e);           /* and detaches the old one */

#endif
