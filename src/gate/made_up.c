/* SPDX-License-Identifier: Apache-2.0 */
#include "made_up.h"

#include "fnv.h"

enum { MADE_UP_FIRST = 64 };

static const uint8_t made_up_mapped[12] = {[10] = 0xff, [11] = 0xff};

/* A rule allowed these names, so the box cannot choose names that collide. */
static uint32_t made_up_hash(const struct name *name)
{
	return fnv_bytes(FNV_START, name->text, name->len);
}

static int made_up_grow(struct made_up *m)
{
	uint32_t capacity = m->capacity ? m->capacity * 2 : MADE_UP_FIRST;
	struct made_up_name **by_hash = calloc(capacity, sizeof(struct made_up_name *));
	struct made_up_name **by_number =
		reallocarray(m->by_number, capacity, sizeof(struct made_up_name *));

	if (by_number)
		m->by_number = by_number;
	if (!by_hash || !by_number) {
		free(by_hash);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < m->count; i++) {
		struct made_up_name *n = m->by_number[i];
		uint32_t bucket = made_up_hash(&n->name) & (capacity - 1);

		n->next = by_hash[bucket];
		by_hash[bucket] = n;
	}
	free(m->by_hash);
	m->by_hash = by_hash;
	m->capacity = capacity;
	return 0;
}

struct made_up_name *made_up_get(struct made_up *m, const struct name *name)
{
	uint32_t hash = made_up_hash(name);

	if (m->capacity > 0)
		for (struct made_up_name *n = m->by_hash[hash & (m->capacity - 1)]; n; n = n->next)
			if (n->name.len == name->len &&
			    memcmp(n->name.text, name->text, name->len) == 0)
				return n;
	if (m->count == MADE_UP_MAX || (m->count == m->capacity && made_up_grow(m) < 0))
		return NULL;
	struct made_up_name *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->name = *name;
	n->number = m->count + 1;
	m->by_number[m->count++] = n;
	n->next = m->by_hash[hash & (m->capacity - 1)];
	m->by_hash[hash & (m->capacity - 1)] = n;
	return n;
}

static void made_up_put_number(uint8_t *last_four, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		last_four[i] = (uint8_t)(number >> (24 - 8 * i));
}

struct address made_up_v4(const struct made_up_name *n)
{
	struct address a;

	memcpy(a.bytes, made_up_mapped, sizeof(made_up_mapped));
	made_up_put_number(a.bytes + 12, (198u << 24 | 18u << 16) + n->number);
	return a;
}

struct address made_up_v6(const struct made_up_name *n)
{
	struct address a = {{0xfd, 0x5a}};

	made_up_put_number(a.bytes + 12, n->number);
	return a;
}

/* Whether the address is in our range, given out or not. */
static bool made_up_is_one(const struct address *a)
{
	if (memcmp(a->bytes, made_up_mapped, sizeof(made_up_mapped)) == 0)
		return a->bytes[12] == 198 && (a->bytes[13] & 0xfe) == 18;
	return a->bytes[0] == 0xfd && a->bytes[1] == 0x5a && a->bytes[2] == 0;
}

struct made_up_name *made_up_by_number(const struct made_up *m, uint32_t number)
{
	return number > 0 && number <= m->count ? m->by_number[number - 1] : NULL;
}

struct made_up_name *made_up_find(const struct made_up *m, const struct address *a)
{
	uint32_t number = 0;

	if (!made_up_is_one(a))
		return NULL;
	for (int i = 0; i < 4; i++)
		number = number << 8 | a->bytes[12 + i];
	if (memcmp(a->bytes, made_up_mapped, sizeof(made_up_mapped)) == 0)
		number -= 198u << 24 | 18u << 16;
	else if (memcmp(a->bytes + 2, (uint8_t[10]){0}, 10) != 0)
		return NULL;
	return made_up_by_number(m, number);
}
