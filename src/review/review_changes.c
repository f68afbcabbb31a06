/* SPDX-License-Identifier: Apache-2.0 */
#include "fd.h"
#include "hold.h"
#include "moved.h"
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
	_cleanup_fd_ int session = layers_session_dir(&r->layers, r->session.name, false);

	if (code == 0)
		code = moved_hold(session, ret_changes, e);
	return code;
}
