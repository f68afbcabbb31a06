/* SPDX-License-Identifier: Apache-2.0 */
#include "branch.h"

#include "str.h"

#include <stdio.h>

enum { BRANCH_PATH_MAX = LAYERS_BRANCH_MAX + 64 };

/* The branch as a file of its own; `git gc` in the box may have put all refs into one. */
static bool branch_is_loose(const struct choices *c, const char *ref)
{
	struct object o;

	return view_look(&c->view, ref, &o) == 0 && o.type == OBJECT_FILE;
}

/* Folders on the way land with what is in them: choices_settle. */
static bool branch_is_of_it(const char *path, const char *ref, const char *log, bool loose)
{
	return str_after(path, ".git/objects/") || str_equal(path, ref) || str_equal(path, log) ||
	       (!loose && str_equal(path, ".git/packed-refs"));
}

void branch_pick(struct choices *c)
{
	const char *branch = c->review->session.branch;
	char ref[BRANCH_PATH_MAX], log[BRANCH_PATH_MAX];

	if (branch[0] == '\0')
		return;
	(void)snprintf(ref, sizeof(ref), ".git/refs/heads/%s", branch);
	(void)snprintf(log, sizeof(log), ".git/logs/refs/heads/%s", branch);
	bool loose = branch_is_loose(c, ref);

	for (size_t i = 0; i < c->count; i++) {
		struct choice *x = &c->items[i];

		if (x->state == CHOICE_SETTLED || branch_is_of_it(x->change->path, ref, log, loose))
			continue;
		choice_pass(x, "it is not part of the branch");
	}
	choices_call_above(c);
}
