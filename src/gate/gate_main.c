/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-gate: started by the keeper with an empty environment and these
 * descriptors: 3, the keeper; 4, the plan; 5, the resolver; 6, the recorder.
 */
#include "fd.h"
#include "gate.h"
#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { GATE_KEEPER = 3, GATE_PLAN = 4, GATE_RESOLVER = 5, GATE_RECORDER = 6 };

int main(void)
{
	bool resolver = fcntl(GATE_RESOLVER, F_GETFD) >= 0;
	bool recorder = fcntl(GATE_RECORDER, F_GETFD) >= 0;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)setsid();
	if (process_not_dumpable() < 0)
		return 1;
	return gate_run(GATE_KEEPER, resolver ? GATE_RESOLVER : -1, recorder ? GATE_RECORDER : -1,
			GATE_PLAN);
}
