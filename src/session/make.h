/* SPDX-License-Identifier: Apache-2.0 */
/* Making the namespaces of a box and starting its launcher in them. */
#ifndef BAWN_MAKE_H
#define BAWN_MAKE_H

#include "error.h"
#include "plan.h"

struct make_result {
	pid_t pid;
	int pidfd;
};

/*
 * Starts the program `box` as pid 1 of new namespaces, with descriptors 3 (channel) and 4 (the
 * plan) and nothing else.  When a namespace is refused, e names it and the way out.
 */
int make_box(const struct plan *plan, int box, int channel, int plan_fd,
	     struct make_result *ret_result, struct error *e);

#endif
