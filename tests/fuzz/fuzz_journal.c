/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the journal of a landing: what is read has one spelling, every path stays in the
 * tree, and what is written from what was read is what was there.  The digests stand in the way of
 * a fuzzer, so bytes that begin with "!" get them: each line that is "check" and nothing else.
 */
#include "../lib/cut.h"
#include "encode.h"
#include "journal.h"
#include "str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_hold(const struct journal *j)
{
	for (size_t i = 0; i < j->dir_count; i++) {
		const char *path = j->dirs[i].path;

		CUT_MUST(*path == '\0' || journal_is_path(path));
		CUT_MUST(journal_find_dir(j, path, strlen(path)) == (ssize_t)i);
	}
	for (size_t i = 0; i < j->count; i++) {
		const struct journal_step *s = &j->steps[i];

		CUT_MUST(journal_is_path(s->path) && s->path[0] != '/' && !strstr(s->path, "/../"));
		CUT_MUST(s->dir < j->dir_count &&
			 strlen(j->dirs[s->dir].path) == journal_folder_len(s->path));
		CUT_MUST(journal_find_step(j, s->path) == (ssize_t)i);
		CUT_MUST(s->before.mode <= 07777 && s->after.mode <= 07777);
	}
}

static void read_again(struct span bytes)
{
	_cleanup_journal_ struct journal j = JOURNAL_INIT;
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 22);

	if (journal_parse(bytes, &j) < 0)
		return;
	must_hold(&j);
	journal_put_head(&text, &j);
	if (j.state >= JOURNAL_STAGED)
		journal_put_steps(&text, &j);
	if (j.state == JOURNAL_COMMITTED)
		journal_put_commit(&text);
	CUT_MUST(buf_error(&text) < 0 ||
		 (text.len <= bytes.len &&
		  span_equal(buf_span(&text), (struct span){bytes.ptr, text.len})));
}

/* With the digests that belong there. */
static void complete(struct span bytes, struct buf *into)
{
	while (bytes.len > 0) {
		const uint8_t *end = memchr(bytes.ptr, '\n', bytes.len);
		size_t len = end ? (size_t)(end - bytes.ptr) + 1 : bytes.len;

		if (span_equal((struct span){bytes.ptr, len}, SPAN_LITERAL("check\n"))) {
			uint8_t digest[SHA256_SIZE];
			struct sha256 s;

			sha256_begin(&s);
			sha256_add(&s, buf_span(into));
			sha256_end(&s, digest);
			buf_put_str(into, "check ");
			encode_hex(into, (struct span){digest, sizeof(digest)});
			buf_put_char(into, '\n');
		} else {
			buf_put(into, bytes.ptr, len);
		}
		bytes = span_skip(bytes, len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span bytes = {data, size};

	read_again(bytes);
	if (size > 0 && data[0] == '!') {
		_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

		complete(span_skip(bytes, 1), &text);
		if (buf_error(&text) == 0)
			read_again(buf_span(&text));
	}
	return 0;
}
