/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as JSON.  What is taken strictly is taken the same way with liberties; brackets are
 * even; every token lies in the text; and a string says what it is written as.
 */
#include "../lib/cut.h"
#include "json_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_string(struct span written)
{
	char plain[64];

	if (written.len >= sizeof(plain) || memchr(written.ptr, '\\', written.len) ||
	    memchr(written.ptr, 0, written.len))
		return;
	memcpy(plain, written.ptr, written.len);
	plain[written.len] = '\0';
	CUT_MUST(json_walk_is(written, plain));
	plain[written.len] = 'x';
	plain[written.len + 1 < sizeof(plain) ? written.len + 1 : written.len] = '\0';
	CUT_MUST(written.len + 1 >= sizeof(plain) || !json_walk_is(written, plain));
}

/* The value at the beginning, passed over in one go. */
static void check_pass(struct span text, bool good)
{
	struct json_walk w = {.left = text};
	struct span began = w.left;
	enum json_walk_token t = json_walk_pass(&w, json_walk_next(&w), began);

	CUT_MUST(!good || t > JSON_WALK_END);
	CUT_MUST(!good || json_walk_next(&w) == JSON_WALK_END);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_walk w = {.left = {data, size}},
			 free_one = {.left = {data, size}, .relaxed = true};
	enum json_walk_token t, other;
	size_t opened = 0;

	do {
		t = json_walk_next(&w);
		other = json_walk_next(&free_one);
		CUT_MUST(t == JSON_WALK_BAD || (t == other && span_equal(w.text, free_one.text)));
		if (t <= JSON_WALK_END)
			break;
		CUT_MUST(w.text.ptr >= data && w.text.ptr + w.text.len <= data + size);
		opened += t == JSON_WALK_OPEN;
		opened -= t == JSON_WALK_CLOSE;
		CUT_MUST(opened == w.depth);
		if (t == JSON_WALK_STRING || t == JSON_WALK_KEY)
			check_string(w.text);
	} while (true);
	CUT_MUST(t == JSON_WALK_BAD || (opened == 0 && w.left.len == 0));
	CUT_MUST(json_walk_next(&w) == t);
	while (json_walk_next(&free_one) > JSON_WALK_END)
		;
	check_pass((struct span){data, size}, t == JSON_WALK_END);
	return 0;
}
