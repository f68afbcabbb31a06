/* SPDX-License-Identifier: Apache-2.0 */
#include "publish.h"

static int publish_note(struct arena *arena, const struct published *p, struct plan_note *note)
{
	_cleanup_buf_ struct buf where = BUF_INIT(256);

	published_words(&where, p);
	*note = (struct plan_note){
		.kind = PLAN_NOTE_PUBLISHED,
		.what = arena_printf(arena, "port %u of the box", p->inside),
		.why = arena_printf(arena, "reached at %s%s", buf_str(&where),
				    p->everywhere ? ", from other machines, too" : ""),
		.origin = "--publish",
		.said = p->everywhere};
	return note->what && note->why ? 0 : -ENOMEM;
}

int publish_read(const struct invocation *i, struct arena *arena, struct plan *plan,
		 struct publish *ret, struct error *e)
{
	size_t count = plan->notes.count;
	struct plan_note *notes = arena_alloc(arena, (count + PUBLISH_MAX) * sizeof(*notes));

	ret->count = 0;
	if (!notes)
		return error_sys(e, -ENOMEM, "reading --publish");
	for (size_t n = 0; n < count; n++)
		notes[n] = plan->notes.items[n];
	for (size_t n = 0; n < i->value_count; n++) {
		if (i->values[n].id != OPTION_PUBLISH)
			continue;
		if (ret->count == PUBLISH_MAX)
			return error_set(e, -E2BIG, "--publish is there more than %d times",
					 PUBLISH_MAX);
		if (plan->backend == PLAN_BACKEND_HOST)
			return error_set(e, -EINVAL,
					 "--publish needs a box: with --backend host the "
					 "command's ports are this machine's already");
		struct published *p = &ret->items[ret->count];
		int r = published_parse(i->values[n].value, p, e);

		if (r == 0 && publish_note(arena, p, &notes[count + ret->count]) < 0)
			r = error_sys(e, -ENOMEM, "reading --publish");
		if (r < 0)
			return r;
		ret->count++;
	}
	if (ret->count > 0) {
		plan->notes.items = notes;
		plan->notes.count = count + ret->count;
	}
	return 0;
}
