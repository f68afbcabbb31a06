/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the file that says what a session departs from.  What is taken is written again as
 * it was; every path in it lies below the workspace and is found; and what is set is found too.
 */
#include "../lib/cut.h"
#include "basis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct basis b = BASIS_INIT;
	struct buf again = BUF_INIT(BASIS_BYTES_MAX);

	if (basis_parse((struct span){data, size}, &b) == 0) {
		const struct object gone = {.type = OBJECT_ABSENT};
		size_t count = b.count;

		basis_format(&b, &again);
		CUT_MUST(buf_error(&again) == 0);
		CUT_MUST(span_equal(buf_span(&again), (struct span){data, size}));
		for (size_t i = 0; i < b.count; i++) {
			const char *path = b.items[i].path;

			CUT_MUST(basis_find(&b, path) == &b.items[i]);
			CUT_MUST(*path && *path != '/' && strcmp(path, "..") != 0 &&
				 strncmp(path, "../", 3) != 0 && !strstr(path, "/../"));
			CUT_MUST(b.items[i].object.mode <= 0777);
		}
		CUT_MUST(basis_set(&b, "m/new", &gone) == 0 && basis_find(&b, "m/new"));
		CUT_MUST(b.count == count || b.count == count + 1);
		basis_remove(&b, "m/new");
		CUT_MUST(!basis_find(&b, "m/new"));
	}
	basis_fini(&b);
	buf_fini(&again);
	return 0;
}
