/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as git's index: never read past its end; and what only caches is not part of it. */
#include "../lib/cut.h"
#include "buf.h"
#include "git_index_believed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_undo(void *context, const char *path, uint32_t mode, const struct git_name *object)
{
	CUT_MUST(strlen(path) < 1 << 19 && mode && object->len >= 20);
	(void)context;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf more = BUF_INIT(1 << 20);
	uint8_t first[SHA256_SIZE], second[SHA256_SIZE];

	if (size > 1 << 19 || git_index_digest((struct span){data, size}, first) < 0)
		return 0;
	struct git_index x = GIT_INDEX_INIT;
	uint32_t count = 0;

	/* What was read to its end once is walked to its end. */
	CUT_MUST(git_index_open(&x, (struct span){data, size}) == 0);
	while (git_index_next(&x)) {
		CUT_MUST(strlen(buf_str(&x.path)) == x.path.len);
		CUT_MUST(x.object.ptr > data && x.object.ptr + x.object.len <= data + size);
		count++;
	}
	CUT_MUST(count == ((uint32_t)data[8] << 24 | (uint32_t)data[9] << 16 |
			   (uint32_t)data[10] << 8 | data[11]));
	git_index_close(&x);
	CUT_MUST(git_index_open(&x, (struct span){data, size}) == 0);
	_cleanup_buf_ struct buf folder = BUF_INIT(1 << 20);

	(void)git_index_believed(&x, &folder);
	(void)git_index_undo(&x, on_undo, NULL);
	git_index_close(&x);
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
