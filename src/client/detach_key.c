/* SPDX-License-Identifier: Apache-2.0 */
#include "detach_key.h"

#include <string.h>

enum { KEY_ESCAPE = 0x1b, KEY_CTRL = 5, KEY_LOCKS = 64 | 128, KEY_NUMBERS = 3 };

/* What stands between ESC [ and the last byte: up to three numbers, the second with a part after ':'. */
struct key_numbers {
	unsigned int number[KEY_NUMBERS], part[KEY_NUMBERS];
	size_t count;
};

static bool key_read_numbers(const uint8_t *at, const uint8_t *end, struct key_numbers *n)
{
	bool part = false;

	*n = (struct key_numbers){.count = 1};
	for (; at < end; at++) {
		unsigned int *into = part ? &n->part[n->count - 1] : &n->number[n->count - 1];

		if (*at >= '0' && *at <= '9' && *into < 100000)
			*into = *into * 10 + (*at - '0');
		else if (*at == ':' && !part)
			part = true;
		else if (*at == ';' && n->count < KEY_NUMBERS)
			n->count++, part = false;
		else
			return false;
	}
	return true;
}

/* The number that a report has for the letter of the key: as it is, or small. */
static bool key_is_letter(int key, unsigned int number)
{
	unsigned int letter = (unsigned int)key + 64;

	return number == letter || (letter >= 'A' && letter <= 'Z' && number == letter + 32);
}

/* Modifiers are one more than the sum of their bits. */
static bool key_is_ctrl(unsigned int modifiers)
{
	return modifiers > 0 && (((modifiers - 1) & ~(unsigned int)KEY_LOCKS) + 1) == KEY_CTRL;
}

/* A whole sequence: whether it is the key, pressed.  It also says where a paste begins and ends. */
static bool key_is_it(struct detach_key *d)
{
	const uint8_t *p = d->pending;
	size_t count = d->pending_count;
	uint8_t last = p[count - 1];
	struct key_numbers n;

	if (!key_read_numbers(p + 2, p + count - 1, &n))
		return false;
	if (last == '~' && n.count == 1 && (n.number[0] == 200 || n.number[0] == 201)) {
		d->pasted = n.number[0] == 200;
		return false;
	}
	if (d->pasted)
		return false;
	if (last == 'u')
		return n.count >= 2 && key_is_letter(d->key, n.number[0]) &&
		       key_is_ctrl(n.number[1]) && n.part[1] < 3;
	return last == '~' && n.count == 3 && n.number[0] == 27 && key_is_ctrl(n.number[1]) &&
	       key_is_letter(d->key, n.number[2]);
}

/* One byte more; true: the key is complete. */
static bool key_take(struct detach_key *d, uint8_t byte)
{
	if (byte == KEY_ESCAPE && d->key != KEY_ESCAPE) {
		d->pending[0] = byte;
		d->pending_count = 1;
		return false;
	}
	if (d->pending_count == 0 || (d->pending_count == 1 && byte != '[')) {
		d->pending_count = 0;
		return byte == d->key && !d->pasted;
	}
	if (d->pending_count == DETACH_KEY_PENDING || byte < 0x20) {
		d->pending_count = 0;
		return byte == d->key && !d->pasted;
	}
	d->pending[d->pending_count++] = byte;
	if (d->pending_count == 2 || byte < 0x40 || byte > 0x7e)
		return false;
	bool is = key_is_it(d);

	d->pending_count = 0;
	return is;
}

bool detach_key_feed(struct detach_key *d, const uint8_t *bytes, size_t count, size_t *ret_before)
{
	size_t began = 0; /* of the sequence, in these bytes; 0 also of one from before */

	*ret_before = count;
	for (size_t i = 0; d->key >= 0 && i < count; i++) {
		if (d->pending_count == 0 || bytes[i] == KEY_ESCAPE)
			began = i;
		if (key_take(d, bytes[i])) {
			*ret_before = bytes[i] == d->key ? i : began;
			return true;
		}
		if (d->pending_count == 0)
			began = i + 1;
	}
	return false;
}
