/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn, the command line.  Reads the words against the table of verbs and calls one verb; the verb
 * does everything else.
 *
 * May read configuration, make a plan, start a keeper and talk to it.  Must not hold a descriptor
 * of a box, except for the streams that it lends.
 */
#include "bawn_verbs.h"
#include "feature.h"
#include "help.h"
#include "parse.h"
#include "plan.h"
#include "process.h"
#include "str.h"
#include "text.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* If 0, 1 or 2 is closed, the next opened file would become a standard stream: opens /dev/null
 * there. */
static void main_fill_standard_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd)
			_exit(EXIT_BAWN);
}

/*
 * We are in a box, and a box has no box in it: what bawn would say there about missing namespaces
 * sounds as if the machine had to be changed.  A box sets BAWN, and others may, too; a box also
 * enforces the rest.
 */
static bool main_is_inside(const struct invocation *i)
{
	static const char *const words[] = {"completion", "help", "man", "version"};
	const char *mark = getenv("BAWN");

	if (!mark || !str_equal(mark, "1") || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ||
	    (str_equal(i->verb->name, "snapshot") && access(PLAN_ASK_SOCKET, F_OK) == 0))
		return false;
	for (size_t n = 0; n < BAWN_ARRAY_SIZE(words); n++)
		if (str_equal(i->verb->name, words[n]))
			return false;
	return feature_check(FEATURE_USER_NS) < 0;
}

static int main_refuse_inside(const struct invocation *i)
{
	struct error e = ERROR_INIT;
	bool snapshot = str_equal(i->verb->name, "snapshot");

	(void)error_set(&e, -EPERM, "this is inside a box, where 'bawn %s' does nothing",
			i->verb->name);
	error_next(&e, snapshot ? "Snapshots of itself are for a box whose user's policy says "
				  "workspace.snapshots: true."
				: "Run the command itself: the box is around it. Nothing has to be "
				  "changed on this machine; bawn is for its user, outside.");
	verb_complain(&e);
	return EXIT_BAWN;
}

int main(int argc, char **argv)
{
	_cleanup_invocation_ struct invocation i = {.verb = NULL};
	_cleanup_buf_ struct buf help = BUF_INIT(HELP_BYTES_MAX);
	int status = EXIT_OK;

	main_fill_standard_streams();
	process_take_mask();
	/* Our parent may ignore it, and then we could wait for no child. */
	(void)signal(SIGCHLD, SIG_DFL);
	if (argc < 2) {
		help_first(&help);
		status = help_print(&help);
	} else if (help_or_run(argc, argv, &i, &status)) {
		status = main_is_inside(&i) ? main_refuse_inside(&i)
					    : elsewhere_or_here(&i, &bawn_program);
	}
	return text_end(status, EXIT_BAWN);
}
