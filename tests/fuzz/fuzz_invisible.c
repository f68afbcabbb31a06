/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a text with characters that are not seen: however it is cut the same ones are
 * found, at the same line; what is plain ASCII has none; and each is one that hides.
 */
#include "../lib/cut.h"
#include "invisible.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum feed feed(void *reader, struct span in, size_t *ret_used)
{
	invisible_feed(reader, in);
	*ret_used = in.len;
	return FEED_MORE;
}

static bool is_same(const void *a, const void *b)
{
	struct invisible x = *(const struct invisible *)a, y = *(const struct invisible *)b;

	invisible_end(&x);
	invisible_end(&y);
	return x.count == y.count && x.first_line == y.first_line && x.line == y.line &&
	       x.kind_count == y.kind_count && x.nul == y.nul && x.odd == y.odd &&
	       memcmp(x.kinds, y.kinds, sizeof(x.kinds)) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct invisible fresh;
	static const struct cut_reader reader = {sizeof(fresh), &fresh, feed, is_same};
	struct invisible v;
	enum feed state;
	size_t used, lines = 0;
	bool ascii = true;

	CUT_MUST(cut_everywhere(&reader, &v, (struct span){data, size}, size / 64 + 1, &state,
				&used) < 0);
	invisible_end(&v);
	for (size_t i = 0; i < size; i++) {
		lines += data[i] == '\n';
		ascii &= data[i] < 0x80;
	}
	CUT_MUST(v.line == lines && (!ascii || (v.count == 0 && !v.odd)));
	CUT_MUST((v.count > 0) == (v.kind_count > 0) && v.kind_count <= v.count);
	CUT_MUST(v.count == 0 || (v.first_line > 0 && v.first_line <= lines + 1));
	for (size_t i = 0; i < v.kind_count; i++)
		CUT_MUST(v.kinds[i] >= 0x80 && text_is_hidden(v.kinds[i]));
	return 0;
}
