/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-recorder: the keeper starts it with an empty environment and these descriptors: 3, the
 * keeper; 4, the plan; 5, the gate, if there is one.
 */
#include "process.h"
#include "recorder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORDER_KEEPER = 3, RECORDER_PLAN = 4, RECORDER_GATE = 5 };

int main(void)
{
	bool gate = fcntl(RECORDER_GATE, F_GETFD) >= 0;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow gives an error, which we tell */
	(void)setsid();
	/* The user's umask is for the command; we choose the modes of what we make. */
	(void)umask(0);
	/* We outlive a keeper that is killed, to write that down. */
	(void)prctl(PR_SET_PDEATHSIG, 0ul, 0ul, 0ul, 0ul);
	if (process_not_dumpable() < 0)
		return 1;
	return recorder_run(RECORDER_KEEPER, RECORDER_PLAN, gate ? RECORDER_GATE : -1);
}
