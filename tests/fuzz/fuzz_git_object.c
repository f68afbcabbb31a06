/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as objects of git, each reader of them by the first byte: never past the end, and what
 * is read twice says the same.
 */
#include "../lib/cut.h"
#include "buf.h"
#include "git_object.h"
#include "sha1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void cut_tree(struct span text, uint8_t len)
{
	struct git_tree t = {.left = text, .len = len};
	size_t left = text.len;

	while (git_tree_next(&t) > 0) {
		CUT_MUST(t.name.len > 0 && !memchr(t.name.ptr, '/', t.name.len));
		CUT_MUST(t.name.ptr > text.ptr && t.name.ptr + t.name.len < text.ptr + text.len);
		CUT_MUST(t.left.len < left && t.object.len == len);
		left = t.left.len;
	}
}

/* The first two bytes say how long the base is; the rest is the delta. */
static void cut_delta(struct span text)
{
	_cleanup_buf_ struct buf into = BUF_INIT(1 << 16);

	if (text.len < 2)
		return;
	size_t len = (size_t)text.ptr[0] << 8 | text.ptr[1];

	text = span_skip(text, 2);
	len = len < text.len ? len : text.len;
	if (git_delta((struct span){text.ptr, len}, span_skip(text, len), &into) == 0)
		CUT_MUST(into.len <= 1 << 16 && !buf_error(&into));
}

static void cut_packed(struct span text)
{
	struct git_packed p = {.left = text};

	while (git_packed_next(&p) > 0) {
		char hex[GIT_HEX_MAX + 1];
		struct git_name again;

		git_name_hex(&p.object, hex);
		CUT_MUST(git_name_parse(span_of_str(hex), &again));
		CUT_MUST(git_name_equal(&again, &p.object) && p.name.len > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct git_commit commit;
	struct git_entry entry;
	struct git_name name;
	enum git_kind kind;
	uint64_t length = 0;

	if (size < 1 || size > 1 << 16)
		return 0;
	struct span text = {data + 1, size - 1};
	uint8_t len = data[0] & 1 ? SHA1_SIZE : GIT_NAME_MAX;

	switch (data[0] >> 1 & 7) {
	case 0:
		cut_tree(text, len);
		break;
	case 1:
		if (git_commit_parse(text, &commit) == 0)
			CUT_MUST(commit.tree.len && commit.parent_count <= GIT_PARENTS_MAX);
		break;
	case 2:
		if (git_tag_parse(text, &name) == 0)
			CUT_MUST(name.len == SHA1_SIZE || name.len == GIT_NAME_MAX);
		break;
	case 3:
		cut_delta(text);
		break;
	case 4:
		if (git_entry_parse(text, len, &entry) == 0)
			CUT_MUST(entry.head > 0 && entry.head <= text.len);
		break;
	case 5:
		cut_packed(text);
		break;
	case 6: {
		int head = git_loose_head(text, &kind, &length);

		CUT_MUST(head < 0 || (size_t)head <= text.len);
		break;
	}
	default:
		git_name_of(GIT_KIND_BLOB, text, len, &name);
		CUT_MUST(name.len == len);
	}
	return 0;
}
