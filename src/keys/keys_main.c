/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-keys: started by the keeper, only for a plan that needs it, with an empty
 * environment and these descriptors: 3, the keeper; 4, the plan; 5, the gate;
 * 6, the client, which sends the values; from 7 on the plan's authorities.
 */
#include "keys.h"
#include "process.h"

#include <signal.h>
#include <unistd.h>

int main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	(void)setsid();
	if (process_not_dumpable() < 0)
		return 1;
	return keys_run();
}
