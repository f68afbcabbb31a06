/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn help [VERB]` and the hidden `bawn man [VERB]`. */
#include "help.h"
#include "parse.h"

int verb_help(const struct invocation *i)
{
	_cleanup_buf_ struct buf b = BUF_INIT(HELP_BYTES_MAX);
	struct error e = ERROR_INIT;

	if (i->argument_count == 0) {
		help_all(&b);
		return help_print(&b);
	}
	const struct verb *v = verb_find(i->arguments[0], &e);

	if (!v) {
		verb_complain(&e);
		return EXIT_USAGE;
	}
	help_verb(&b, v);
	return help_print(&b);
}

int verb_man(const struct invocation *i)
{
	_cleanup_buf_ struct buf b = BUF_INIT(HELP_BYTES_MAX);
	struct error e = ERROR_INIT;

	if (i->argument_count == 0) {
		man_all(&b);
		return help_print(&b);
	}
	const struct verb *v = verb_find(i->arguments[0], &e);

	if (!v) {
		verb_complain(&e);
		return EXIT_USAGE;
	}
	man_verb(&b, v);
	return help_print(&b);
}
