/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include "encode.h"
#include "str.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#define JOURNAL_MAGIC "bawn-landing-1\n"

static const char journal_types[OBJECT_TYPE_COUNT + 1] = "-fdlpsc";

const char *const journal_what_words[JOURNAL_WHAT_COUNT] = {"apply", "undo", "redo"};

void journal_fini(struct journal *j)
{
	arena_fini(&j->arena);
	j->steps = NULL;
	j->dirs = NULL;
	j->count = j->dir_count = 0;
	j->at = "";
}

/* --- paths ---------------------------------------------------------------------------- */

bool journal_is_path(const char *path)
{
	if (*path == '\0' || strlen(path) >= PATH_MAX || str_after(path, JOURNAL_STAGE_PREFIX))
		return false;
	for (const char *at = path;;) {
		size_t len = strcspn(at, "/");

		if (len == 0 || len > JOURNAL_NAME_MAX || (len == 1 && at[0] == '.') ||
		    (len == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		if (at[len] == '\0')
			return true;
		at += len + 1;
	}
}

static unsigned int journal_rank(char c)
{
	return c == '\0' ? 0 : c == '/' ? 1 : (unsigned int)(uint8_t)c + 1;
}

int journal_compare(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (int)journal_rank(*a) - (int)journal_rank(*b);
}

size_t journal_folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static int journal_compare_dir(const void *path, const void *dir)
{
	return journal_compare(path, ((const struct journal_dir *)dir)->path);
}

static int journal_compare_step(const void *path, const void *step)
{
	return journal_compare(path, ((const struct journal_step *)step)->path);
}

ssize_t journal_find_dir(const struct journal *j, const char *path, size_t len)
{
	char key[PATH_MAX];

	if (j->dir_count == 0 || len >= sizeof(key))
		return -1;
	memcpy(key, path, len);
	key[len] = '\0';
	const struct journal_dir *found =
		bsearch(key, j->dirs, j->dir_count, sizeof(*j->dirs), journal_compare_dir);

	return found ? found - j->dirs : -1;
}

ssize_t journal_find_step(const struct journal *j, const char *path)
{
	if (j->count == 0)
		return -1;
	const struct journal_step *found =
		bsearch(path, j->steps, j->count, sizeof(*j->steps), journal_compare_step);

	return found ? found - j->steps : -1;
}

/* --- writing -------------------------------------------------------------------------- */

static void journal_put_check(struct buf *text)
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, buf_span(text));
	sha256_end(&s, digest);
	buf_put_str(text, "check ");
	encode_hex(text, (struct span){digest, sizeof(digest)});
	buf_put_char(text, '\n');
}

static void journal_put_path(struct buf *text, const char *path)
{
	if (*path)
		encode_percent(text, span_of_str(path), "/");
	else
		buf_put_char(text, '.');
}

void journal_put_head(struct buf *text, const struct journal *j)
{
	buf_putf(text, JOURNAL_MAGIC "what %s\nid %s\n", journal_what_words[j->what], j->id);
	buf_putf(text, "number %" PRIu64 "\nundoes %" PRIu64 "\n", j->number, j->undoes);
	buf_putf(text, "tree %" PRIu64 " %" PRIo32 " %" PRId64 " %" PRId64 "\n", j->tree_ino,
		 j->top_mode, j->top_before, j->top_after);
	buf_putf(text, "stamp %" PRId64 "\nkept %s\n", j->stamp, j->copied ? "copied" : "moved");
	if (*j->at) {
		buf_put_str(text, "at ");
		journal_put_path(text, j->at);
		buf_put_char(text, '\n');
	}
	if (*j->of) {
		buf_put_str(text, "of ");
		journal_put_path(text, j->of);
		buf_put_char(text, '\n');
	}
	journal_put_check(text);
}

static bool journal_is_hashed(const struct journal_object *o)
{
	return o->type == OBJECT_FILE || o->type == OBJECT_LINK;
}

static void journal_put_object(struct buf *text, const struct journal_object *o)
{
	buf_put_char(text, ' ');
	buf_put_char(text, journal_types[o->type]);
	if (o->type == OBJECT_ABSENT)
		return;
	buf_putf(text, ":%" PRIo32 ":%" PRIu64 ":%" PRId64 ":%" PRIu64 ":", o->mode, o->size,
		 o->mtime, o->ino);
	if (journal_is_hashed(o))
		encode_hex(text, (struct span){o->digest, sizeof(o->digest)});
	else
		buf_put_char(text, '-');
}

void journal_put_steps(struct buf *text, const struct journal *j)
{
	for (size_t i = 0; i < j->dir_count; i++) {
		const struct journal_dir *d = &j->dirs[i];

		buf_putf(text, "dir %" PRIu64 " %" PRIo32 " %" PRId64 " ", d->ino, d->mode,
			 d->mtime);
		journal_put_path(text, d->path);
		buf_put_char(text, '\n');
	}
	for (size_t i = 0; i < j->count; i++) {
		buf_put_str(text, "step");
		journal_put_object(text, &j->steps[i].before);
		journal_put_object(text, &j->steps[i].after);
		buf_put_char(text, ' ');
		journal_put_path(text, j->steps[i].path);
		buf_put_char(text, '\n');
	}
	journal_put_check(text);
}

void journal_put_commit(struct buf *text)
{
	buf_put_str(text, "commit\n");
	journal_put_check(text);
}

/* --- reading -------------------------------------------------------------------------- */

/* Takes the bytes of s, which must come next; else sets `bad`. */
static void take_literal(struct reader *r, const char *s)
{
	if (!span_equal(reader_take(r, strlen(s)), span_of_str(s)))
		r->bad = true;
}

static bool next_is(const struct reader *r, const char *s)
{
	size_t len = strlen(s);

	return !r->bad && reader_left(r) >= len && memcmp(r->at, s, len) == 0;
}

static uint64_t take_number(struct reader *r)
{
	uint64_t value = 0;

	if (r->bad || !reader_decimal(r, &value))
		r->bad = true;
	return r->bad ? 0 : value;
}

static int64_t take_time(struct reader *r)
{
	bool minus = next_is(r, "-");

	if (minus)
		take_literal(r, "-");
	uint64_t value = take_number(r);

	if (value > (uint64_t)INT64_MAX + minus || (minus && value == 0))
		r->bad = true;
	return r->bad ? 0 : minus ? (int64_t)-value : (int64_t)value;
}

static uint32_t take_mode(struct reader *r)
{
	uint32_t mode = 0;
	size_t digits = 0;

	for (; !r->bad && reader_left(r) > 0 && *r->at >= '0' && *r->at <= '7'; digits++) {
		/* No zero before other digits. */
		if (digits == 4 || (digits > 0 && mode == 0))
			r->bad = true;
		else
			mode = mode << 3 | (uint32_t)(*r->at++ - '0');
	}
	r->bad = r->bad || digits == 0;
	return mode;
}

static void take_digest(struct reader *r, uint8_t ret[SHA256_SIZE])
{
	struct span hex = reader_take(r, (size_t)SHA256_SIZE * 2);

	for (size_t i = 0; !r->bad && i < hex.len; i++) {
		int digit = decode_hex_digit(hex.ptr[i]);

		if (digit < 0 || (hex.ptr[i] >= 'A' && hex.ptr[i] <= 'F'))
			r->bad = true;
		else
			ret[i / 2] = (uint8_t)(ret[i / 2] << 4 | digit);
	}
}

/* Takes one of the words; returns its index. */
static unsigned int take_word(struct reader *r, const char *const *words, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (next_is(r, words[i])) {
			take_literal(r, words[i]);
			return i;
		}
	r->bad = true;
	return 0;
}

/* Takes a path up to the end of the line; NULL, with `bad` set: it is not a path. */
static const char *take_path(struct reader *r, struct arena *arena, bool top_may)
{
	const uint8_t *end = r->bad ? NULL : memchr(r->at, '\n', reader_left(r));
	char path[PATH_MAX];
	_cleanup_buf_ struct buf again = BUF_INIT((size_t)3 * PATH_MAX);

	r->bad = !end;
	if (r->bad)
		return NULL;
	struct span text = reader_take(r, (size_t)(end - r->at));

	take_literal(r, "\n");
	if (top_may && span_equal(text, SPAN_LITERAL(".")))
		return "";
	ssize_t n = decode_percent(text, (uint8_t *)path, sizeof(path) - 1);

	r->bad = n <= 0 || memchr(path, '\0', (size_t)n);
	if (r->bad)
		return NULL;
	path[n] = '\0';
	journal_put_path(&again, path);
	r->bad = !journal_is_path(path) || !span_equal(buf_span(&again), text);
	const char *kept = r->bad ? NULL : arena_strn(arena, path, (size_t)n);

	r->bad = !kept;
	return kept;
}

static void take_object(struct reader *r, struct journal_object *ret)
{
	struct span letter = reader_take(r, 1);
	const char *type = r->bad ? NULL : memchr(journal_types, letter.ptr[0], OBJECT_TYPE_COUNT);

	r->bad = !type;
	if (r->bad)
		return;
	ret->type = (unsigned int)(type - journal_types);
	if (ret->type == OBJECT_ABSENT)
		return;
	take_literal(r, ":");
	ret->mode = take_mode(r);
	take_literal(r, ":");
	ret->size = take_number(r);
	take_literal(r, ":");
	ret->mtime = take_time(r);
	take_literal(r, ":");
	ret->ino = take_number(r);
	take_literal(r, ":");
	if (journal_is_hashed(ret))
		take_digest(r, ret->digest);
	else
		take_literal(r, "-");
}

/* Takes the line that ends a part.  It was checked before. */
static void take_check(struct reader *r)
{
	uint8_t digest[SHA256_SIZE] = {0};

	take_literal(r, "check ");
	take_digest(r, digest);
	take_literal(r, "\n");
}

/* The part that begins at r ends in the digest of all that is before that line. */
static bool part_is_whole(const struct reader *r, struct span text)
{
	struct reader at = *r;
	uint8_t said[SHA256_SIZE] = {0}, is[SHA256_SIZE];
	struct sha256 s;

	while (!next_is(&at, "check ")) {
		const uint8_t *end = at.bad || reader_left(&at) == 0
					     ? NULL
					     : memchr(at.at, '\n', reader_left(&at));

		if (!end)
			return false;
		at.at = end + 1;
	}
	sha256_begin(&s);
	sha256_add(&s, (struct span){text.ptr, (size_t)(at.at - text.ptr)});
	sha256_end(&s, is);
	take_literal(&at, "check ");
	take_digest(&at, said);
	take_literal(&at, "\n");
	return !at.bad && memcmp(said, is, sizeof(is)) == 0;
}

static void take_head(struct reader *r, struct journal *j)
{
	static const char *const kept[] = {"moved", "copied"};

	take_literal(r, JOURNAL_MAGIC "what ");
	j->what = take_word(r, journal_what_words, JOURNAL_WHAT_COUNT);
	take_literal(r, "\nid ");
	struct span id = reader_take(r, JOURNAL_ID_LEN);

	for (size_t i = 0; i < id.len; i++) {
		r->bad = r->bad || decode_hex_digit(id.ptr[i]) < 0 ||
			 (id.ptr[i] >= 'A' && id.ptr[i] <= 'F');
		j->id[i] = (char)id.ptr[i];
	}
	take_literal(r, "\nnumber ");
	j->number = take_number(r);
	take_literal(r, "\nundoes ");
	j->undoes = take_number(r);
	take_literal(r, "\ntree ");
	j->tree_ino = take_number(r);
	take_literal(r, " ");
	j->top_mode = take_mode(r);
	take_literal(r, " ");
	j->top_before = take_time(r);
	take_literal(r, " ");
	j->top_after = take_time(r);
	take_literal(r, "\nstamp ");
	j->stamp = take_time(r);
	take_literal(r, "\nkept ");
	j->copied = take_word(r, kept, 2) == 1;
	take_literal(r, "\n");
	if (next_is(r, "at ")) {
		take_literal(r, "at ");
		j->at = take_path(r, &j->arena, false);
	}
	if (next_is(r, "of ")) {
		take_literal(r, "of ");
		j->of = take_path(r, &j->arena, false);
	}
	take_check(r);
}

static size_t count_lines(const struct reader *r, const char *word)
{
	struct reader at = *r;
	size_t count = 0;

	while (next_is(&at, word)) {
		const uint8_t *end = memchr(at.at, '\n', reader_left(&at));

		if (!end)
			break;
		at.at = end + 1;
		count++;
	}
	return count;
}

static void take_dirs(struct reader *r, struct journal *j)
{
	size_t count = count_lines(r, "dir ");

	r->bad = r->bad || count > JOURNAL_STEPS_MAX;
	j->dirs = r->bad ? NULL : arena_alloc(&j->arena, (count + 1) * sizeof(*j->dirs));
	r->bad = !j->dirs;
	for (; !r->bad && j->dir_count < count; j->dir_count++) {
		struct journal_dir *d = &j->dirs[j->dir_count];

		take_literal(r, "dir ");
		d->ino = take_number(r);
		take_literal(r, " ");
		d->mode = take_mode(r);
		take_literal(r, " ");
		d->mtime = take_time(r);
		take_literal(r, " ");
		d->path = take_path(r, &j->arena, true);
		if (!r->bad && j->dir_count > 0)
			r->bad = journal_compare(d[-1].path, d->path) >= 0;
	}
}

static void take_steps(struct reader *r, struct journal *j)
{
	take_dirs(r, j);
	r->bad = r->bad || (*j->at && journal_find_dir(j, j->at, strlen(j->at)) < 0);
	size_t count = count_lines(r, "step ");

	r->bad = r->bad || count > JOURNAL_STEPS_MAX;
	j->steps = r->bad ? NULL : arena_alloc(&j->arena, (count + 1) * sizeof(*j->steps));
	r->bad = !j->steps;
	for (; !r->bad && j->count < count; j->count++) {
		struct journal_step *s = &j->steps[j->count];

		take_literal(r, "step ");
		take_object(r, &s->before);
		take_literal(r, " ");
		take_object(r, &s->after);
		take_literal(r, " ");
		s->path = take_path(r, &j->arena, false);
		if (r->bad)
			break;
		ssize_t dir = journal_find_dir(j, s->path, journal_folder_len(s->path));

		s->dir = (size_t)dir;
		r->bad = dir < 0 || (s->after.type > OBJECT_LINK && j->what == JOURNAL_APPLY) ||
			 (j->count > 0 && journal_compare(s[-1].path, s->path) >= 0);
	}
	take_check(r);
}

int journal_parse(struct span text, struct journal *ret)
{
	struct reader r = reader_of(text);

	*ret = JOURNAL_INIT;
	if (text.len > JOURNAL_BYTES_MAX || !part_is_whole(&r, text))
		return -EBADMSG;
	take_head(&r, ret);
	if (r.bad) {
		journal_fini(ret);
		return -EBADMSG;
	}
	ret->state = JOURNAL_BEGUN;
	if (!part_is_whole(&r, text))
		return 0;
	take_steps(&r, ret);
	if (r.bad) {
		journal_fini(ret);
		return -EBADMSG;
	}
	ret->state = JOURNAL_STAGED;
	if (!part_is_whole(&r, text))
		return 0;
	take_literal(&r, "commit\n");
	take_check(&r);
	if (r.bad || reader_left(&r) > 0) {
		journal_fini(ret);
		return -EBADMSG;
	}
	ret->state = JOURNAL_COMMITTED;
	return 0;
}
