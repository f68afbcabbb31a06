/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of the finder share: finder_make.c makes it, finder.c searches with it. */
#ifndef BAWN_FINDER_PARTS_H
#define BAWN_FINDER_PARTS_H

#include "finder.h"
#include "finder_unit.h"

enum lead { PERCENT = 1, BACKSLASH = 2, AMPERSAND = 4, EQUALS = 8, LEADS = 15 };

enum family { TEXT, BASE64, HEX };

/* The alphabet of a word.  The first two are large, so that they show little of a secret. */
enum alphabet { TOKEN, PRINTABLE, BASE64_LETTERS, HEX_DIGITS, ALPHABETS };

enum { PAIRS = 1 << 16 };

struct needle {
	enum family family;
	unsigned int leads; /* set of enum lead: bytes that begin an escape */
	bool once;          /* a percent that comes out of an escape is a plain percent */
	bool peels;         /* it is read by unit_peel */
	size_t word;
	size_t len;
	size_t known;            /* how many symbols at the start are no secret */
	const uint8_t *alphabet; /* a map of bytes: the alphabet of the other symbols */
	uint8_t *symbols, *mask; /* mask: NULL, or as many, or more of TEXT */
	size_t mask_len;
	/* base64: how many bits of the word are in the letters before and after, and the mask's
	 * bits. */
	uint8_t before_bits, before, behind_bits, behind;
};

struct finder {
	uint8_t pairs[PAIRS / 8];   /* the first two bytes of a needle */
	uint8_t wild[PAIRS / 8];    /* those that any byte may follow */
	uint8_t triples[PAIRS / 8]; /* of the others, with the third: by triple_of */
	uint8_t first[256 / 8];     /* bytes with which a pair begins */
	uint8_t sieve[4][16];       /* by the halves of a pair's bytes: see next_place */
	uint8_t inside[256 / 8];    /* bytes that can be in a word, in any form */
	uint8_t alphabets[ALPHABETS][256 / 8];
	bool unknown;        /* some word has no known bytes */
	bool peels;          /* some needle does */
	size_t reach;        /* how far before the end a word that goes on may have begun */
	uint32_t begin[257]; /* by the symbol's own spellings, into `starting` */
	uint32_t *starting;  /* needles by their first symbol */
	size_t count;
	struct needle *needles;
	uint8_t *memory; /* of all symbols and masks */
	size_t memory_len;
};

static inline uint8_t normal(enum family family, uint8_t c)
{
	if (family == BASE64)
		return c == '-' ? '+' : c == '_' ? '/' : c;
	if (family == HEX && c >= 'A' && c <= 'F')
		return (uint8_t)(c + ('a' - 'A'));
	return c;
}

/* Whether c may come before symbol k, which is not the first. */
static inline bool between(enum family family, size_t k, uint8_t c)
{
	if (c == '\0') /* UTF-16, UTF-32 */
		return true;
	if (family == BASE64)
		return c == '\r' || c == '\n';
	/* Never between the two digits of a byte. */
	return family == HEX && k % 2 == 0 && c != '\0' && strchr(" :-\r\n", c);
}

static inline bool is_lead(const struct needle *n, uint8_t c)
{
	switch (c) {
	case '%':
		return n->leads & PERCENT;
	case '\\':
		return n->leads & BACKSLASH;
	case '&':
		return n->leads & AMPERSAND;
	case '=':
		return n->leads & EQUALS;
	default:
		return false;
	}
}

static inline bool has_bit(const uint8_t *map, size_t i)
{
	return map[i >> 3] >> (i & 7) & 1;
}

static inline void set_bit(uint8_t *map, size_t i)
{
	map[i >> 3] |= (uint8_t)(1 << (i & 7));
}

static inline size_t pair_of(uint8_t first, uint8_t second)
{
	return (size_t)first | (size_t)second << 8;
}

static inline size_t triple_of(uint8_t first, uint8_t second, uint8_t third)
{
	uint32_t v = (uint32_t)first | (uint32_t)second << 8 | (uint32_t)third << 16;

	return v * 2654435761u >> 16;
}

#endif
