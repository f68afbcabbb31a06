/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn, the command line.  Reads the words against the table of verbs and hands
 * on to one verb; everything else is the verb's.
 *
 * May read configuration, make a plan, start a keeper and talk to it.  Must not
 * hold a descriptor of a box but for the streams that it lends.
 */
#include "bawn_verbs.h"
#include "help.h"
#include "parse.h"
#include "text.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* With 0, 1 or 2 closed, the next file opened would become a standard stream. */
static void main_fill_standard_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd)
			_exit(EXIT_BAWN);
}

int main(int argc, char **argv)
{
	_cleanup_invocation_ struct invocation i = {.verb = NULL};
	_cleanup_buf_ struct buf help = BUF_INIT(HELP_BYTES_MAX);
	int status = EXIT_OK;

	main_fill_standard_streams();
	/* Who started us may ignore it, and then no child of ours could be waited for. */
	(void)signal(SIGCHLD, SIG_DFL);
	if (argc < 2) {
		help_first(&help);
		status = help_print(&help);
	} else if (help_or_run(argc, argv, &i, &status)) {
		status = elsewhere_or_here(&i, &bawn_program);
	}
	return text_end(status, EXIT_BAWN);
}
