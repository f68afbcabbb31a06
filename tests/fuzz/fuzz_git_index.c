/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as git's index: never read past its end; and what only caches is not part of it. */
#include "../lib/cut.h"
#include "buf.h"
#include "git_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf more = BUF_INIT(1 << 20);
	uint8_t first[SHA256_SIZE], second[SHA256_SIZE];

	if (size > 1 << 19 || git_index_digest((struct span){data, size}, first) < 0)
		return 0;
	CUT_MUST(git_index_digest((struct span){data, size}, second) == 0);
	CUT_MUST(memcmp(first, second, sizeof(first)) == 0);
	/* Another checksum says nothing else. */
	buf_put(&more, data, size);
	CUT_MUST(buf_error(&more) == 0);
	more.ptr[size - 1] ^= 1;
	if (git_index_digest(buf_span(&more), second) == 0)
		CUT_MUST(memcmp(first, second, sizeof(first)) == 0);
	return 0;
}
