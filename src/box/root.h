/* SPDX-License-Identifier: Apache-2.0 */
/* The box's root, built from nothing by the plan's mount list. */
#ifndef BAWN_ROOT_H
#define BAWN_ROOT_H

#include "error.h"
#include "plan.h"

/* The devices in the box's /dev. */
enum { ROOT_DEVICE_COUNT = 6 };
extern const char *const root_devices[ROOT_DEVICE_COUNT];

/* One of the trust files that the plan names, in the order of their formats; at most
 * PLAN_TRUST_COUNT of them, before root_build. */
void root_give_trust(int fd);

/*
 * The second /proc is attached nowhere: for init alone, to see
 * also the processes that hide from the first.  -1 without processes of the box's own.
 */
struct root_made {
	int ssh;       /* the box's listening socket of the ssh agent; -1 none */
	int ask;       /* that of PLAN_ASK_SOCKET; -1 none */
	int processes; /* a second /proc; -1 none */
};

#define ROOT_MADE_INIT ((struct root_made){.ssh = -1, .ask = -1, .processes = -1})

/*
 * In a mount namespace of our own, with CAP_SYS_ADMIN over it: builds the root, enters it and
 * lets go of the old one.  On an error the caller ends; nothing was changed outside.
 */
int root_build(const struct plan *plan, struct root_made *ret, struct error *e);

#endif
