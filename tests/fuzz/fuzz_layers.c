/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what a session or a snapshot is: what is read is written as the same. */
#include "../lib/cut.h"
#include "layers_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_session(struct span text)
{
	_cleanup_buf_ struct buf again = BUF_INIT((size_t)2 * LAYERS_TEXT_MAX);
	_cleanup_buf_ struct buf third = BUF_INIT((size_t)2 * LAYERS_TEXT_MAX);
	struct layers_session s, t;

	if (layers_session_parse(text, &s) < 0)
		return;
	CUT_MUST(layers_is_name(s.name) && s.mode < LAYERS_MODE_COUNT);
	CUT_MUST(s.project.count <= STACK_MAX && s.home.count <= STACK_MAX);
	layers_session_put(&again, &s);
	CUT_MUST(buf_error(&again) == 0);
	CUT_MUST(layers_session_parse(buf_span(&again), &t) == 0);
	layers_session_put(&third, &t);
	CUT_MUST(third.len == again.len && memcmp(third.ptr, again.ptr, again.len) == 0);
}

static void check_snapshot(struct span text)
{
	_cleanup_buf_ struct buf again = BUF_INIT((size_t)2 * LAYERS_TEXT_MAX);
	_cleanup_buf_ struct buf third = BUF_INIT((size_t)2 * LAYERS_TEXT_MAX);
	struct layers_snapshot s, t;

	if (layers_snapshot_parse(text, &s) < 0)
		return;
	CUT_MUST(layers_is_name(s.name));
	layers_snapshot_put(&again, &s);
	CUT_MUST(buf_error(&again) == 0);
	CUT_MUST(layers_snapshot_parse(buf_span(&again), &t) == 0);
	layers_snapshot_put(&third, &t);
	CUT_MUST(third.len == again.len && memcmp(third.ptr, again.ptr, again.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_session((struct span){data, size});
	check_snapshot((struct span){data, size});
	return 0;
}
