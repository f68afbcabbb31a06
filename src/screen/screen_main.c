/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-screen: started by the keeper of a session that has a terminal, with an empty environment and
 * one descriptor: 3, the keeper.
 */
#include "process.h"
#include "screen.h"

#include <signal.h>
#include <unistd.h>

enum { SCREEN_KEEPER = 3 };

int main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	(void)setsid();
	if (process_not_dumpable() < 0)
		return 1;
	return screen_run(SCREEN_KEEPER);
}
