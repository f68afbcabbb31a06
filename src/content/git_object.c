/* SPDX-License-Identifier: Apache-2.0 */
#include "git_object.h"

#include "encode.h"
#include "sha1.h"
#include "sha256.h"

#include <stdio.h>

const char *const git_kind_words[GIT_KIND_COUNT] = {
	[GIT_KIND_COMMIT] = "commit",
	[GIT_KIND_TREE] = "tree",
	[GIT_KIND_BLOB] = "blob",
	[GIT_KIND_TAG] = "tag",
};

uint32_t git_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* --- names ----------------------------------------------------------------------------- */

bool git_name_is_null(const struct git_name *n)
{
	for (size_t i = 0; i < n->len; i++)
		if (n->bytes[i])
			return false;
	return true;
}

static int git_digit(uint8_t c)
{
	/* git reads capitals too. */
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

bool git_name_parse(struct span text, struct git_name *ret)
{
	size_t digits = 0;

	while (digits < text.len && git_digit(text.ptr[digits]) >= 0)
		digits++;
	if (digits != 40 && digits != GIT_HEX_MAX)
		return false;
	*ret = (struct git_name){.len = (uint8_t)(digits / 2)};
	for (size_t i = 0; i < ret->len; i++)
		ret->bytes[i] =
			(uint8_t)(git_digit(text.ptr[2 * i]) << 4 | git_digit(text.ptr[2 * i + 1]));
	return true;
}

bool git_log_parse(struct span line, struct git_log_line *ret)
{
	if (!git_name_parse(line, &ret->old))
		return false;
	line = span_skip(line, (size_t)2 * ret->old.len);
	if (line.len < 2 || !git_name_parse(span_skip(line, 1), &ret->new))
		return false;
	ret->words = span_skip(line, 1 + (size_t)2 * ret->new.len);
	return true;
}

void git_name_hex(const struct git_name *n, char ret[GIT_HEX_MAX + 1])
{
	*encode_hex_at(ret, n->bytes, n->len) = '\0';
}

void git_name_of(enum git_kind kind, struct span content, uint8_t len, struct git_name *ret)
{
	char head[32];
	int n = snprintf(head, sizeof(head), "%s %zu", git_kind_words[kind], content.len);
	struct span first = {(const uint8_t *)head, (size_t)n + 1};

	*ret = (struct git_name){.len = len};
	if (len == SHA1_SIZE) {
		struct sha1 s;

		sha1_begin(&s);
		sha1_add(&s, first);
		sha1_add(&s, content);
		sha1_end(&s, ret->bytes);
	} else {
		struct sha256 s;

		sha256_begin(&s);
		sha256_add(&s, first);
		sha256_add(&s, content);
		sha256_end(&s, ret->bytes);
	}
}

/* --- what objects say ------------------------------------------------------------------ */

int git_loose_head(struct span text, enum git_kind *ret_kind, uint64_t *ret_size)
{
	for (enum git_kind kind = GIT_KIND_COMMIT; kind <= GIT_KIND_TAG; kind++) {
		size_t word = strlen(git_kind_words[kind]);
		struct reader r;

		if (text.len <= word + 1 || memcmp(text.ptr, git_kind_words[kind], word) != 0 ||
		    text.ptr[word] != ' ')
			continue;
		r = reader_of(span_skip(text, word + 1));
		if (!reader_decimal(&r, ret_size) || reader_left(&r) == 0 || *r.at != '\0')
			return -EBADMSG;
		*ret_kind = kind;
		return (int)(r.at + 1 - text.ptr);
	}
	return -EBADMSG;
}

/* "tree 0123...\n": the name, and `text` is behind the line. */
static bool git_line(struct span *text, const char *word, struct git_name *ret)
{
	size_t len = strlen(word);

	if (text->len <= len || memcmp(text->ptr, word, len) != 0 || text->ptr[len] != ' ')
		return false;
	struct span rest = span_skip(*text, len + 1);

	if (!git_name_parse(rest, ret) || rest.len <= (size_t)2 * ret->len ||
	    rest.ptr[(size_t)2 * ret->len] != '\n')
		return false;
	*text = span_skip(rest, (size_t)2 * ret->len + 1);
	return true;
}

static int64_t git_when(struct span text)
{
	static const char word[] = "\ncommitter ";
	const uint8_t *at = text.len ? memmem(text.ptr, text.len, word, sizeof(word) - 1) : NULL;
	uint64_t when = 0;

	if (!at)
		return 0;
	struct span line = span_skip(text, (size_t)(at + 1 - text.ptr));
	const uint8_t *end = memchr(line.ptr, '\n', line.len);

	line.len = end ? (size_t)(end - line.ptr) : line.len;
	const uint8_t *mail = memrchr(line.ptr, '>', line.len);

	if (!mail || line.ptr + line.len - mail < 3)
		return 0;
	struct reader r =
		reader_of((struct span){mail + 2, (size_t)(line.ptr + line.len - mail - 2)});

	return reader_decimal(&r, &when) && when <= INT64_MAX ? (int64_t)when : 0;
}

int git_commit_parse(struct span text, struct git_commit *ret)
{
	*ret = (struct git_commit){.when = git_when(text)};
	if (!git_line(&text, "tree", &ret->tree))
		return -EBADMSG;
	struct git_name parent;

	while (git_line(&text, "parent", &parent)) {
		if (ret->parent_count == GIT_PARENTS_MAX || parent.len != ret->tree.len)
			return -EBADMSG;
		ret->parents[ret->parent_count++] = parent;
	}
	/* One that we cannot read is not none. */
	static const char word[] = "parent";

	return text.len >= sizeof(word) - 1 && memcmp(text.ptr, word, sizeof(word) - 1) == 0
		       ? -EBADMSG
		       : 0;
}

int git_tag_parse(struct span text, struct git_name *ret)
{
	return git_line(&text, "object", ret) ? 0 : -EBADMSG;
}

int git_tree_next(struct git_tree *t)
{
	size_t at = 0;

	if (t->left.len == 0)
		return 0;
	t->mode = 0;
	while (at < t->left.len && at < 7 && t->left.ptr[at] >= '0' && t->left.ptr[at] <= '7')
		t->mode = t->mode << 3 | (t->left.ptr[at++] - '0');
	if (at == 0 || at >= t->left.len || t->left.ptr[at] != ' ')
		return -EBADMSG;
	struct span rest = span_skip(t->left, at + 1);
	const uint8_t *end = rest.len ? memchr(rest.ptr, '\0', rest.len) : NULL;

	if (!end || end == rest.ptr)
		return -EBADMSG;
	t->name = (struct span){rest.ptr, (size_t)(end - rest.ptr)};
	rest = span_skip(rest, t->name.len + 1);
	if (rest.len < t->len || memchr(t->name.ptr, '/', t->name.len))
		return -EBADMSG;
	t->object = (struct git_name){.len = t->len};
	memcpy(t->object.bytes, rest.ptr, t->len);
	t->left = span_skip(rest, t->len);
	return 1;
}

/* --- packs ----------------------------------------------------------------------------- */

static int git_entry_back(struct span text, size_t *at, uint64_t *ret)
{
	uint64_t back = 0;

	for (size_t i = 0; *at < text.len && i < 9; i++) {
		uint8_t c = text.ptr[(*at)++];

		back = (i ? (back + 1) << 7 : 0) | (c & 0x7f);
		if (!(c & 0x80)) {
			*ret = back;
			return 0;
		}
	}
	return -EBADMSG;
}

int git_entry_parse(struct span text, uint8_t len, struct git_entry *ret)
{
	size_t at = 0;
	unsigned int shift = 4;

	*ret = (struct git_entry){.kind = GIT_KIND_NONE};
	if (text.len == 0)
		return -EBADMSG;
	uint8_t c = text.ptr[at++];

	ret->kind = (enum git_kind)(c >> 4 & 7);
	ret->size = c & 15;
	while (c & 0x80) {
		if (at >= text.len || shift > 56)
			return -EBADMSG;
		c = text.ptr[at++];
		ret->size |= (uint64_t)(c & 0x7f) << shift;
		shift += 7;
	}
	if (ret->kind == GIT_KIND_OFS) {
		if (git_entry_back(text, &at, &ret->back) < 0 || ret->back == 0)
			return -EBADMSG;
	} else if (ret->kind == GIT_KIND_REF) {
		if (text.len - at < len)
			return -EBADMSG;
		ret->base.len = len;
		memcpy(ret->base.bytes, text.ptr + at, len);
		at += len;
	} else if (!git_kind_words[ret->kind]) {
		return -EBADMSG;
	}
	ret->head = at;
	return 0;
}

static bool git_delta_size(struct reader *r, uint64_t *ret)
{
	unsigned int shift = 0;

	*ret = 0;
	while (reader_left(r) > 0 && shift < 63) {
		uint8_t c = *r->at++;

		*ret |= (uint64_t)(c & 0x7f) << shift;
		shift += 7;
		if (!(c & 0x80))
			return true;
	}
	return false;
}

/* A copy from the base: which bytes, by as many bytes as its bits say. */
static bool git_delta_copy(struct reader *r, uint8_t op, uint64_t *ret_at, uint64_t *ret_len)
{
	*ret_at = *ret_len = 0;
	for (unsigned int i = 0; i < 7; i++) {
		if (!(op >> i & 1))
			continue;
		if (reader_left(r) == 0)
			return false;
		uint64_t byte = *r->at++;

		if (i < 4)
			*ret_at |= byte << (8 * i);
		else
			*ret_len |= byte << (8 * (i - 4));
	}
	*ret_len = *ret_len ? *ret_len : 0x10000;
	return true;
}

int git_delta(struct span base, struct span delta, struct buf *into)
{
	struct reader r = reader_of(delta);
	uint64_t was = 0, is = 0, at = 0, len = 0;
	size_t start = into->len;

	if (!git_delta_size(&r, &was) || !git_delta_size(&r, &is) || was != base.len)
		return -EBADMSG;
	if (is > into->max)
		return -E2BIG;
	while (reader_left(&r) > 0) {
		uint8_t op = *r.at++;

		if (op == 0)
			return -EBADMSG;
		if (op & 0x80) {
			if (!git_delta_copy(&r, op, &at, &len) || at > base.len ||
			    len > base.len - at)
				return -EBADMSG;
			buf_put(into, len ? base.ptr + at : base.ptr, len);
		} else {
			if (reader_left(&r) < op)
				return -EBADMSG;
			buf_put(into, r.at, op);
			r.at += op;
		}
		if (buf_error(into) || into->len - start > is)
			return buf_error(into) == -ENOMEM ? -ENOMEM : -EBADMSG;
	}
	return into->len - start == is ? 0 : -EBADMSG;
}

/* --- refs ------------------------------------------------------------------------------ */

int git_packed_next(struct git_packed *p)
{
	while (p->left.len > 0) {
		const uint8_t *end = memchr(p->left.ptr, '\n', p->left.len);
		struct span line = {p->left.ptr, end ? (size_t)(end - p->left.ptr) : p->left.len};

		p->left = span_skip(p->left, line.len + (end != NULL));
		/* Its head, and what an annotated tag above is of. */
		if (line.len == 0 || line.ptr[0] == '#' || line.ptr[0] == '^')
			continue;
		if (!git_name_parse(line, &p->object) || line.len < (size_t)2 * p->object.len + 2 ||
		    line.ptr[(size_t)2 * p->object.len] != ' ')
			return -EBADMSG;
		p->name = span_skip(line, (size_t)2 * p->object.len + 1);
		if (memchr(p->name.ptr, '\0', p->name.len))
			return -EBADMSG;
		return 1;
	}
	return 0;
}
