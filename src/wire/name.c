/* SPDX-License-Identifier: Apache-2.0 */
#include "name.h"

#include "address.h"

/* The byte in its canonical form, or 0 when no name has it. */
static char name_byte(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.')
		return (char)c;
	return 0;
}

static bool label_is_valid(const char *label, size_t len)
{
	return len >= 1 && len <= NAME_LABEL_MAX && label[0] != '-' && label[len - 1] != '-';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Digits, or 0x and hex digits: every spelling of an address that inet_aton takes
 * ends in such a label, and no top-level domain is one.
 */
static bool label_is_number(const char *label, size_t len)
{
	bool hex = len >= 2 && label[0] == '0' && label[1] == 'x';

	for (size_t i = hex ? 2 : 0; i < len; i++)
		if (!is_digit(label[i]) && !(hex && label[i] >= 'a' && label[i] <= 'f'))
			return false;
	return true;
}

/* Canonical bytes without their last dot: labels, of which the last is no number. */
static int name_check(const char *text, size_t len)
{
	size_t label = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && text[i] != '.')
			continue;
		if (!label_is_valid(text + label, i - label))
			return -EINVAL;
		if (i == len && label_is_number(text + label, i - label))
			return -EADDRNOTAVAIL;
		label = i + 1;
	}
	return 0;
}

int name_parse(struct span raw, struct name *ret)
{
	struct name n = {0};
	struct address address;

	/* v6 has bytes that no name has, but the caller gets -EADDRNOTAVAIL for it too. */
	if (address_parse(raw, ADDRESS_BRACKETS, &address) == 0)
		return -EADDRNOTAVAIL;
	if (raw.len > 0 && raw.ptr[raw.len - 1] == '.')
		raw.len--;
	if (raw.len == 0 || raw.len > NAME_TEXT_MAX)
		return -EINVAL;
	for (size_t i = 0; i < raw.len; i++) {
		n.text[i] = name_byte(raw.ptr[i]);
		if (n.text[i] == 0)
			return -EINVAL;
	}
	n.len = (uint8_t)raw.len;
	int r = name_check(n.text, n.len);

	if (r == 0)
		*ret = n;
	return r;
}

bool name_equal(const struct name *a, const struct name *b)
{
	return a->len > 0 && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

int name_parse_pattern(struct span raw, struct name_pattern *ret)
{
	struct name_pattern p = {0};
	struct name host = {0};
	size_t star = raw.len >= 2 && raw.ptr[0] == '*' && raw.ptr[1] == '.' ? 2 : 0;
	int r = name_parse((struct span){raw.ptr + star, raw.len - star}, &host);

	if (r < 0)
		return r;
	/* At least "x." has to fit in front, or the pattern covers nothing. */
	if (star + host.len > NAME_TEXT_MAX)
		return -EINVAL;
	if (star > 0)
		memcpy(p.text, "*.", star);
	memcpy(p.text + star, host.text, host.len);
	p.len = (uint8_t)(star + host.len);
	*ret = p;
	return 0;
}

bool name_matches(const struct name *n, const char *pattern)
{
	if (n->len == 0)
		return false;
	if (pattern[0] != '*')
		return strcmp(n->text, pattern) == 0;
	if (pattern[1] != '.')
		return false;
	/* ".example.org" with something in front: a canonical name has no empty label there. */
	const char *tail = pattern + 1;
	size_t len = strlen(tail);

	return len > 1 && n->len > len && memcmp(n->text + n->len - len, tail, len) == 0;
}
