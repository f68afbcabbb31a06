/* SPDX-License-Identifier: Apache-2.0 */
/* A file of its own, because `bawn diff` and `bawn apply` say it in the same words. */
#include "leave_show.h"

#include "str.h"
#include "text.h"

enum { LEAVE_REASONS = 32 };

struct leave_reason {
	const struct change *first;
	size_t count;
};

static void leave_line(struct buf *into, const struct leave_reason *r)
{
	buf_put_str(into, "  left out ");
	if (r->count == 1)
		text_escape(into, span_of_str(r->first->path));
	else
		buf_putf(into, "%zu files", r->count);
	buf_put_str(into, ": ");
	text_escape(into, span_of_str(r->first->why));
	buf_put_char(into, '\n');
}

void leave_put(struct buf *into, const struct changes *c,
	       bool (*away)(const void *context, size_t i), const void *context)
{
	struct leave_reason reasons[LEAVE_REASONS];
	size_t count = 0, more = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct change *x = &c->items[i];
		size_t at = 0;

		if (x->group != CHANGE_LEAVE || x->after.type == OBJECT_DIR || !x->why ||
		    (away && away(context, i)))
			continue;
		while (at < count && !str_equal(reasons[at].first->why, x->why))
			at++;
		if (at == count && count < LEAVE_REASONS)
			reasons[count++] = (struct leave_reason){x, 0};
		if (at < count)
			reasons[at].count++;
		else
			more++;
	}
	for (size_t i = 0; i < count; i++)
		leave_line(into, &reasons[i]);
	if (more)
		buf_putf(into, "  left out %zu more, for other reasons ('bawn diff --json')\n",
			 more);
}
