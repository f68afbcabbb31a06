/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the index of first versions: what is read has one spelling, and no path of it
 * leads out of the workspace.
 */
#include "../lib/cut.h"
#include "first.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void is_below(const char *path)
{
	CUT_MUST(path[0] != '\0' && path[0] != '/');
	for (const char *at = path; *at;) {
		const char *end = strchrnul(at, '/');

		CUT_MUST(end != at && !(end - at == 1 && at[0] == '.'));
		CUT_MUST(!(end - at == 2 && at[0] == '.' && at[1] == '.'));
		CUT_MUST(!(*end && !end[1]));
		at = *end ? end + 1 : end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf scratch = BUF_INIT(2 * FIRST_PATH_MAX + 2);
	_cleanup_buf_ struct buf again = BUF_INIT(1 << 20);
	struct first_entry e;
	ssize_t n;

	for (size_t at = 0; at < size; at += (size_t)n) {
		struct span bytes = {data + at, size - at};

		n = first_entry_take(bytes, &e, &scratch);
		if (n <= 0)
			break;
		CUT_MUST((size_t)n <= bytes.len);
		if (e.kind != FIRST_DIR || strcmp(e.path, ".") != 0)
			is_below(e.path);
		if (e.kind == FIRST_MOVED)
			is_below(e.text);
		buf_clear(&again);
		first_entry_put(&again, &e);
		CUT_MUST(span_equal(buf_span(&again), (struct span){bytes.ptr, (size_t)n}));
	}
	return 0;
}
