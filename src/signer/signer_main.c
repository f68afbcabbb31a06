/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-signer: started by the keeper with an empty environment and two descriptors: 3, the
 * keeper; 4, the plan.
 */
#include "process.h"
#include "signer.h"

#include <signal.h>
#include <unistd.h>

enum { SIGNER_KEEPER = 3, SIGNER_PLAN = 4 };

int main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	(void)setsid();
	if (process_not_dumpable() < 0)
		return 1;
	return signer_run(SIGNER_KEEPER, SIGNER_PLAN);
}
