/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What crosses the wall of the box: facts on the way in, results on the way out.
 * Any bytes: refused, or read back as what they say.
 */
#include "run.h"

#include "str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_facts(struct span text)
{
	static struct facts facts;
	static struct facts again;
	_cleanup_buf_ struct buf copy = BUF_INIT((size_t)4 * FACTS_BYTES_MAX);

	if (facts_parse(text, &facts) == 0) {
		for (size_t i = 0; i < facts.count; i++)
			facts_put(&copy, facts.items[i].key, facts.items[i].value);
		if (buf_error(&copy) ||
		    (copy.len <= FACTS_BYTES_MAX && facts_parse(buf_span(&copy), &again) < 0))
			__builtin_trap();
		for (size_t i = 0; copy.len <= FACTS_BYTES_MAX && i < facts.count; i++)
			if (!str_equal(facts.items[i].value, again.items[i].value))
				__builtin_trap();
		facts_fini(&again);
	}
	facts_fini(&facts);
}

static void fuzz_line(struct span text)
{
	_cleanup_buf_ struct buf line = BUF_INIT(1u << 20);
	_cleanup_buf_ struct buf copy = BUF_INIT(1u << 20);
	struct run_result result;
	struct run_result again;

	buf_put(&line, text.ptr, text.len);
	buf_put_char(&line, '\0');
	if (buf_error(&line) || run_parse(line.ptr, probe_at(0), &result) < 0)
		return;
	run_format(&copy, probe_at(0), &result);
	if (buf_error(&copy) || copy.len == 0)
		__builtin_trap();
	copy.ptr[copy.len - 1] = '\0';
	if (run_parse(copy.ptr, probe_at(0), &again) < 0 || again.outcome != result.outcome ||
	    !str_equal(again.note, result.note))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_facts((struct span){data, size});
	fuzz_line((struct span){data, size});
	return 0;
}
