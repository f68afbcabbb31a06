/* SPDX-License-Identifier: Apache-2.0 */
#include "elsewhere.h"

#include "helper.h"

#include <limits.h>
#include <unistd.h>

int elsewhere_run(const struct invocation *i, const char *program)
{
	struct error e = ERROR_INIT;
	char path[PATH_MAX];
	int r = helper_path(program, path, sizeof(path));

	if (r == 0) {
		(void)execv(path, i->words);
		r = -errno;
	}
	(void)error_sys(&e, r, "cannot start %s, whose verb that is", program);
	error_next(&e, "It belongs beside bawn, or in libexec/bawn; 'bawn doctor' says more.");
	verb_complain(&e);
	return EXIT_BAWN;
}

int verb_elsewhere(const struct invocation *i)
{
	return elsewhere_run(i, i->verb->program);
}
