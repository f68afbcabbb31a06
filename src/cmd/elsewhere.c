/* SPDX-License-Identifier: Apache-2.0 */
#include "elsewhere.h"

#include "help.h"
#include "helper.h"
#include "parse.h"
#include "str.h"

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

int elsewhere_main(int argc, char **argv, const char *program, const struct elsewhere_verb *own,
		   size_t count)
{
	_cleanup_invocation_ struct invocation i = {.verb = NULL};
	struct error e = ERROR_INIT;
	int status = EXIT_OK;

	if (!help_or_run(argc, argv, &i, &status))
		return status;
	for (size_t n = 0; n < count; n++)
		if (str_equal(own[n].name, i.verb->name))
			return own[n].run(&i);
	(void)error_set(&e, -EINVAL, "'bawn %s' is not a verb of %s", i.verb->name, program);
	verb_complain(&e);
	return EXIT_USAGE;
}
