/* SPDX-License-Identifier: Apache-2.0 */
#include "hold.h"
#include "review.h"

int review_changes(const struct review *r, const struct changes_how *how, struct view *ret_view,
		   struct changes *ret_changes, struct error *e)
{
	struct hold_rules *rules = NULL;
	int code = view_open(&r->layers, &r->session.project, r->tree, ret_view, e);

	if (code == 0)
		code = changes_read(ret_view, how, ret_changes, e);
	if (code == 0)
		code = review_holds(r, &rules, e);
	if (code == 0)
		code = hold_judge(rules, ret_view, ret_changes, e);
	hold_rules_free(&rules);
	return code;
}
