/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-top: `bawn top`.  `bawn` knows the verb by the same table and starts this program with the
 * words that it got (src/cli/elsewhere.c).
 *
 * May ask the keepers of the user's sessions, read the host's /proc and the list of sessions, and
 * start other programs of bawn.  Must not read a record or what is in a layer: bawn-history and
 * bawn-review do, confined.  It sets no filter: `bawn attach` and a pager are its children, and
 * would inherit it.
 */
#include "top.h"

#include "elsewhere.h"

int main(int argc, char **argv)
{
	static const struct verb_act verbs_here[] = {{"top", top_run}};
	const struct elsewhere_program own = {"bawn-top", NULL, verbs_here,
					      BAWN_ARRAY_SIZE(verbs_here)};

	return elsewhere_main(argc, argv, &own);
}
