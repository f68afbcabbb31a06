/* SPDX-License-Identifier: Apache-2.0 */
#include "finder_writing.h"

#include "finder.h"
#include "finder_unit.h"

static const char writing_digits[] = "0123456789ABCDEF";

static bool is_unreserved(uint8_t c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' ||
	       c == '.' || c == '_' || c == '~';
}

static size_t put_json(struct span word, uint8_t *into)
{
	size_t len = 0;

	for (size_t i = 0; i < word.len; i++) {
		uint8_t c = word.ptr[i];

		/* No value has a control character. */
		if (c == '"' || c == '\\') {
			if (into)
				into[len] = '\\';
			len++;
		}
		if (into)
			into[len] = c;
		len++;
	}
	return len > word.len ? len : 0;
}

static size_t put_form(struct span word, uint8_t *into)
{
	size_t len = 0;

	for (size_t i = 0; i < word.len; i++) {
		uint8_t c = word.ptr[i];
		const char text[3] = {'%', writing_digits[c >> 4], writing_digits[c & 15]};

		if (into && is_unreserved(c))
			into[len] = c;
		else if (into)
			memcpy(into + len, text, sizeof(text));
		len += is_unreserved(c) ? 1 : sizeof(text);
	}
	return len > word.len ? len : 0;
}

/* A word that has unprintable characters after this is only looked for as it is. */
static size_t put_peeled(struct span word, uint8_t *into)
{
	size_t len = 0;
	bool escapes = false;

	for (size_t at = 0; at < word.len;) {
		struct unit u;

		escapes |= !is_unreserved(word.ptr[at]);
		(void)unit_peel(span_skip(word, at), true, UNIT_LAYERS, &u);
		if (u.byte <= 0x20 || u.byte >= 0x7f)
			return 0;
		if (into)
			into[len] = u.byte;
		len++;
		at += u.len;
	}
	return escapes && len >= FINDER_WORD_MIN ? len : 0;
}

size_t writing_put(enum writing how, struct span word, uint8_t *into)
{
	switch (how) {
	case WRITING_JSON:
		return put_json(word, into);
	case WRITING_FORM:
		return put_form(word, into);
	case WRITING_PEELED:
		return put_peeled(word, into);
	case WRITING_ITSELF:
	case WRITINGS:
		break;
	}
	if (into)
		memcpy(into, word.ptr, word.len);
	return word.len;
}

uint8_t writing_mask(struct span mask, size_t room, bool percent, size_t i)
{
	size_t extra = room > mask.len ? room - mask.len : 0;
	size_t escaped = !percent ? 0 : extra / 2 < mask.len ? extra / 2 : mask.len;
	size_t plain = mask.len - escaped;

	if (i < plain)
		return mask.ptr[i];
	if (i - plain >= 3 * escaped)
		return '*';
	uint8_t c = mask.ptr[plain + (i - plain) / 3];

	switch ((i - plain) % 3) {
	case 0:
		return '%';
	case 1:
		return (uint8_t)writing_digits[c >> 4];
	default:
		return (uint8_t)writing_digits[c & 15];
	}
}
