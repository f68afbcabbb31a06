/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled Python.  Whether its bytes come from the source beside it nobody can see, and Python runs
 * them instead of that.  So it never lands: it is left out, and Python makes it again from the text
 * that was read.  What has no source beside it is not made again: where Python would load it by
 * itself it is held.
 */
#include "hold_parts.h"

#include "compiled.h"

int hold_by_compiled(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	char source[PATH_MAX];

	/* A commit that brings one was made to bring it. */
	if (j->brought || !compiled_source(c->path, source))
		return 0;
	unsigned int type = hold_type(j->view, source);

	if (type == OBJECT_FILE || type == OBJECT_LINK) {
		v->most = HOLD_LEAVE;
		v->why = "compiled from the source beside it; Python makes it again";
		return 0;
	}
	if (!compiled_is_cached(c->path))
		return hold_say(j, v, "python3 would run it, and there is no source %.200s",
				source);
	v->most = HOLD_LEAVE;
	v->why = "compiled from a source that is not here; Python would not load it";
	return 0;
}
