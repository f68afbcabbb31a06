/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line added to a config.yaml of any kind (src/verbs/config_edit.h).  Where it is added, the
 * new text is the old one with something put in at one place, and is read as a policy file.
 */
#include "config_edit.h"
#include "yaml_tree.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	(void)fprintf(stderr, "fuzz_config_edit: %s\n", what);
	abort();
}

/* How many bytes are the same at the start, and behind that at the end. */
static bool is_one_insertion(struct span before, struct span after)
{
	size_t front = 0;
	size_t back = 0;

	while (front < before.len && before.ptr[front] == after.ptr[front])
		front++;
	while (back < before.len - front &&
	       before.ptr[before.len - 1 - back] == after.ptr[after.len - 1 - back])
		back++;
	return front + back == before.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(8 << 20);
	_cleanup_buf_ struct buf out = BUF_INIT(TREE_TEXT_MAX);
	const struct tree_node *root = NULL;
	struct error e = ERROR_INIT;
	struct span text = {data, size};
	size_t line = 0;

	if (config_add_line("config.yaml", text, "- allow: a.test", &out, &line, &e) < 0)
		return 0;
	bool opposed = size > 0 && memmem(data, size, "a.test", 6);

	must(opposed || out.len > size, "nothing was added");
	/* A rule that says the opposite goes. */
	must(opposed || is_one_insertion(text, buf_span(&out)), "something else was changed");
	must(tree_parse("config.yaml", buf_span(&out), &arena, &root, &e) == 0,
	     "what came out is not a policy file");
	must(line > 0, "it stands nowhere");
	return 0;
}
