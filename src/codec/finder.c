/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every word becomes a few needles: strings of symbols in one family's alphabet.
 *
 *	TEXT	the word; when it holds a byte that could be taken for the beginning of an
 *		escape, once more without escapes, and once with each kind of them alone
 *	BASE64	those letters, at each of three alignments, that depend on the word alone
 *	HEX	its digits, lower case
 *
 * A family says which bytes count as one symbol (`normal`) and which may stand between two
 * (`between`).  The inner loop looks at no needle, only at tables of the bytes with which some
 * needle can begin, in any spelling.
 */
#include "finder.h"

#include "encode.h"
#include "finder_unit.h"

#ifdef __x86_64__
#include <tmmintrin.h>
#endif

const char *const finder_form_words[4] = {"as it is", "escaped", "in base64", "in hex"};

enum lead { PERCENT = 1, BACKSLASH = 2, AMPERSAND = 4, EQUALS = 8, LEADS = 15 };

enum family { TEXT, BASE64, HEX };

enum { PAIRS = 1 << 16, BETWEEN_MAX = 4 };

struct needle {
	enum family family;
	unsigned int leads; /* set of enum lead: bytes that begin an escape */
	bool once;          /* a percent that comes out of an escape is one */
	size_t word;
	size_t len;
	uint8_t *symbols, *mask; /* mask: NULL, or as many */
};

struct finder {
	uint8_t pairs[PAIRS / 8];   /* the first two bytes of a needle */
	uint8_t wild[PAIRS / 8];    /* those of them behind which anything may follow */
	uint8_t triples[PAIRS / 8]; /* of the others, with the third: by triple_of */
	uint8_t first[256 / 8];     /* bytes with which a pair begins */
	uint8_t sieve[4][16];       /* by the halves of a pair's bytes: see next_place */
	uint32_t begin[257];        /* by the symbol's own spellings, into `starting` */
	uint32_t *starting;         /* needles by their first symbol */
	size_t count;
	struct needle *needles;
	uint8_t *memory; /* of all symbols and masks */
	size_t memory_len;
};

static uint8_t normal(enum family family, uint8_t c)
{
	if (family == BASE64)
		return c == '-' ? '+' : c == '_' ? '/' : c;
	if (family == HEX && c >= 'A' && c <= 'F')
		return (uint8_t)(c + ('a' - 'A'));
	return c;
}

/* Whether c may stand before symbol k, which is not the first. */
static bool between(enum family family, size_t k, uint8_t c)
{
	if (c == '\0') /* UTF-16, UTF-32 */
		return true;
	if (family == BASE64)
		return c == '\r' || c == '\n';
	/* A byte's two digits are never parted. */
	return family == HEX && k % 2 == 0 && c != '\0' && strchr(" :-\r\n", c);
}

static bool is_lead(const struct needle *n, uint8_t c)
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

enum match { MATCH_NO, MATCH_BEGUN, MATCH_WHOLE };

/* One symbol at *at, behind what may stand before it; *ret_unit is it, at *at. */
static enum match read_symbol(const struct needle *n, size_t k, struct span bytes, size_t *at,
			      bool end, struct unit *ret_unit)
{
	for (int i = 0; i <= BETWEEN_MAX; i++) {
		if (*at == bytes.len)
			return end ? MATCH_NO : MATCH_BEGUN;
		*ret_unit = (struct unit){bytes.ptr[*at], 1, UNIT_ITSELF, 0, 0};
		if (is_lead(n, ret_unit->byte) &&
		    !unit_read((struct span){bytes.ptr + *at, bytes.len - *at}, end, n->once,
			       ret_unit))
			return MATCH_BEGUN;
		if (normal(n->family, ret_unit->byte) == n->symbols[k])
			return MATCH_WHOLE;
		if (k == 0 || !between(n->family, k, ret_unit->byte))
			return MATCH_NO;
		*at += ret_unit->len;
	}
	return MATCH_NO;
}

static enum match match(const struct needle *n, struct span bytes, size_t from, bool end,
			struct finder_hit *hit)
{
	bool escaped = false;
	size_t at = from;

	for (size_t k = 0; k < n->len; k++) {
		struct unit u;
		enum match m = read_symbol(n, k, bytes, &at, end, &u);

		if (m == MATCH_BEGUN && bytes.len - from > FINDER_KEPT_MAX)
			return MATCH_NO;
		if (m != MATCH_WHOLE)
			return m;
		escaped |= u.kind != UNIT_ITSELF;
		at += u.len;
	}
	/* At one place the longest counts. */
	if (at - from <= hit->len)
		return MATCH_WHOLE;
	hit->at = from;
	hit->len = at - from;
	hit->word = n->word;
	hit->form = n->family == BASE64            ? FINDER_BASE64
		    : n->family == HEX             ? FINDER_HEX
		    : escaped || hit->len > n->len ? FINDER_ESCAPED
						   : FINDER_PLAIN;
	return MATCH_WHOLE;
}

/* Needles that begin with `symbol`: those for which `lead` begins an escape, or the others. */
static bool match_starting(const struct finder *f, uint8_t symbol, uint8_t lead, bool escapes,
			   struct span bytes, size_t at, bool end, struct finder_hit *hit)
{
	bool begun = false;

	for (uint32_t i = f->begin[symbol]; i < f->begin[symbol + 1]; i++) {
		const struct needle *n = &f->needles[f->starting[i]];
		size_t before = hit->len;

		if (is_lead(n, lead) != escapes)
			continue;
		begun |= match(n, bytes, at, end, hit) == MATCH_BEGUN;
		if (hit->len > before)
			hit->needle = f->starting[i];
	}
	return begun;
}

static enum finder_outcome try_at(const struct finder *f, struct span bytes, size_t at, bool end,
				  struct finder_hit *ret_hit)
{
	struct finder_hit hit = {0};
	struct unit u = {0};
	uint8_t c = bytes.ptr[at];
	bool begun = match_starting(f, c, c, false, bytes, at, end, &hit);

	if (unit_is_lead(c)) {
		struct span from = {bytes.ptr + at, bytes.len - at};

		begun |= !unit_read(from, end, false, &u);
		begun |= match_starting(f, u.byte, c, true, bytes, at, end, &hit);
		/* The word of which the first byte is a percent. */
		if (u.byte != '%' && unit_read(from, end, true, &u) && u.byte == '%')
			begun |= match_starting(f, u.byte, c, true, bytes, at, end, &hit);
	}
	if (begun)
		ret_hit->at = at;
	else if (hit.len > 0)
		*ret_hit = hit;
	return begun ? FINDER_BEGUN : hit.len > 0 ? FINDER_FOUND : FINDER_NOTHING;
}

static bool has_bit(const uint8_t *map, size_t i)
{
	return map[i >> 3] >> (i & 7) & 1;
}

static void set_bit(uint8_t *map, size_t i)
{
	map[i >> 3] |= (uint8_t)(1 << (i & 7));
}

static size_t pair_of(uint8_t first, uint8_t second)
{
	return (size_t)first | (size_t)second << 8;
}

static size_t triple_of(uint8_t first, uint8_t second, uint8_t third)
{
	uint32_t v = (uint32_t)first | (uint32_t)second << 8 | (uint32_t)third << 16;

	return v * 2654435761u >> 16;
}

/* Of a place with two bytes behind it. */
static bool may_begin(const struct finder *f, const uint8_t *at)
{
	return has_bit(f->triples, triple_of(at[0], at[1], at[2])) ||
	       has_bit(f->wild, pair_of(at[0], at[1]));
}

static size_t next_place_plain(const struct finder *f, struct span bytes, size_t at)
{
	while (at + 2 < bytes.len && !may_begin(f, bytes.ptr + at))
		at++;
	if (at + 2 == bytes.len && !has_bit(f->pairs, pair_of(bytes.ptr[at], bytes.ptr[at + 1])))
		at++;
	return at;
}

#ifdef __x86_64__
/* Bytes that are as much as all of a needle's beginnings, as second bytes: is_special. */
__attribute__((target("ssse3"))) static __m128i special_16(__m128i b)
{
	__m128i a = _mm_or_si128(_mm_cmpeq_epi8(b, _mm_set1_epi8('%')),
				 _mm_cmpeq_epi8(b, _mm_set1_epi8('\\')));
	__m128i c = _mm_or_si128(_mm_cmpeq_epi8(b, _mm_set1_epi8('&')),
				 _mm_cmpeq_epi8(b, _mm_set1_epi8('=')));
	__m128i d = _mm_or_si128(_mm_cmpeq_epi8(b, _mm_set1_epi8('\r')),
				 _mm_cmpeq_epi8(b, _mm_set1_epi8('\n')));

	return _mm_or_si128(_mm_or_si128(a, c),
			    _mm_or_si128(d, _mm_cmpeq_epi8(b, _mm_setzero_si128())));
}

/* Which groups each byte may be in, by its two halves. */
__attribute__((target("ssse3"))) static __m128i groups_16(const uint8_t sieve[2][16], __m128i b)
{
	const __m128i half = _mm_set1_epi8(15);
	__m128i low = _mm_loadu_si128((const __m128i *)(const void *)sieve[0]);
	__m128i high = _mm_loadu_si128((const __m128i *)(const void *)sieve[1]);

	return _mm_and_si128(_mm_shuffle_epi8(low, _mm_and_si128(b, half)),
			     _mm_shuffle_epi8(high, _mm_and_si128(_mm_srli_epi16(b, 4), half)));
}

/*
 * Sixteen places at once.  The pairs are sorted into eight groups by their first byte.  A
 * byte's low and its high half each look up in which groups it may be first, or second.  A
 * group that all four agree on, or a first byte and a special second one, makes a place worth
 * a look into the tables.
 */
__attribute__((target("ssse3"))) static size_t next_place_16(const struct finder *f,
							     struct span bytes, size_t at)
{
	for (; bytes.len - at > 17; at += 16) {
		const void *p = bytes.ptr + at, *q = bytes.ptr + at + 1;
		__m128i b = _mm_loadu_si128((const __m128i *)q);
		__m128i first = groups_16(f->sieve, _mm_loadu_si128((const __m128i *)p));
		__m128i second = _mm_or_si128(groups_16(f->sieve + 2, b), special_16(b));
		__m128i none = _mm_cmpeq_epi8(_mm_and_si128(first, second), _mm_setzero_si128());

		for (unsigned int left = ~(unsigned int)_mm_movemask_epi8(none) & 0xffff; left;
		     left &= left - 1) {
			const uint8_t *place = bytes.ptr + at + __builtin_ctz(left);

			if (may_begin(f, place))
				return (size_t)(place - bytes.ptr);
		}
	}
	return next_place_plain(f, bytes, at);
}
#endif

/* The first place at or behind `at` where a pair of the table is; bytes.len - 1: none. */
static size_t next_place(const struct finder *f, struct span bytes, size_t at)
{
#ifdef __x86_64__
	if (bytes.len - at > 17 && __builtin_cpu_supports("ssse3"))
		return next_place_16(f, bytes, at);
#endif
	return next_place_plain(f, bytes, at);
}

enum finder_outcome finder_next(const struct finder *f, struct span bytes, size_t from, bool end,
				struct finder_hit *ret_hit)
{
	if (f->count == 0)
		return FINDER_NOTHING;
	for (size_t at = from; at < bytes.len; at++) {
		at = next_place(f, bytes, at);
		if (at + 1 == bytes.len) {
			ret_hit->at = at;
			return !end && has_bit(f->first, bytes.ptr[at]) ? FINDER_BEGUN
									: FINDER_NOTHING;
		}
		enum finder_outcome o = try_at(f, bytes, at, end, ret_hit);

		if (o != FINDER_NOTHING)
			return o;
	}
	return FINDER_NOTHING;
}

void finder_mask(const struct finder *f, const struct finder_hit *hit, uint8_t *bytes)
{
	const struct needle *n = &f->needles[hit->needle];
	struct span in = {bytes, hit->at + hit->len};
	size_t at = hit->at;

	for (size_t k = 0; k < n->len && n->mask; k++) {
		struct unit u;

		if (read_symbol(n, k, in, &at, true, &u) != MATCH_WHOLE)
			return;
		uint8_t byte = n->mask[k];

		/* The alphabet of a URL stays one. */
		if (n->family == BASE64 && (bytes[at] == '-' || bytes[at] == '_') &&
		    (byte == '+' || byte == '/'))
			byte = byte == '+' ? '-' : '_';
		if (normal(n->family, u.byte) != n->mask[k])
			unit_write(&u, bytes + at, byte);
		at += u.len;
	}
}

/* ---- making one ---- */

/* Letters of base64 that depend on the word alone when `skew` bytes stand before it. */
static size_t put_base64(struct span word, size_t skew, uint8_t *into)
{
	size_t first = (8 * skew + 5) / 6, end = 8 * (skew + word.len) / 6;

	for (size_t i = first; i < end && into; i++) {
		size_t bit = 6 * i - 8 * skew, byte = bit / 8;
		unsigned int two = (unsigned int)word.ptr[byte] << 8;

		if (byte + 1 < word.len)
			two |= word.ptr[byte + 1];
		into[i - first] = (uint8_t)encode_base64_letter(two >> (10 - bit % 8));
	}
	return end - first;
}

static size_t put_hex(struct span word, uint8_t *into)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < word.len && into; i++) {
		into[2 * i] = (uint8_t)digits[word.ptr[i] >> 4];
		into[2 * i + 1] = (uint8_t)digits[word.ptr[i] & 15];
	}
	return 2 * word.len;
}

static size_t put_text(struct span word, uint8_t *into)
{
	if (into)
		memcpy(into, word.ptr, word.len);
	return word.len;
}

/* The symbols of a needle; how many, with NULL only that. */
static size_t put_symbols(struct span word, enum family family, size_t skew, uint8_t *into)
{
	if (family == BASE64)
		return put_base64(word, skew, into);
	return family == HEX ? put_hex(word, into) : put_text(word, into);
}

static bool holds_lead(struct span word)
{
	for (size_t i = 0; i < word.len; i++)
		if (unit_is_lead(word.ptr[i]))
			return true;
	return false;
}

struct kind {
	enum family family;
	size_t skew; /* of base64 */
	unsigned int leads;
};

static const struct kind kinds[] = {
	{HEX, 0, LEADS},
	{BASE64, 0, LEADS},
	{BASE64, 1, LEADS},
	{BASE64, 2, LEADS},
	{TEXT, 0, LEADS},
	/* Only of a word that holds one of these itself. */
	{TEXT, 0, 0},
	{TEXT, 0, PERCENT},
	{TEXT, 0, BACKSLASH},
	{TEXT, 0, AMPERSAND},
	{TEXT, 0, EQUALS},
};

enum { KINDS_MAX = BAWN_ARRAY_SIZE(kinds), KINDS_USUAL = 5 };

static size_t kinds_of(struct span word)
{
	return holds_lead(word) ? KINDS_MAX : KINDS_USUAL;
}

/* A mask brought to its word's length. */
static void put_mask(struct span word, struct span mask, uint8_t *into)
{
	for (size_t i = 0; i < word.len; i++)
		into[i] = i < mask.len ? mask.ptr[i] : '*';
}

static void add_word(struct finder *f, size_t index, struct span word, const struct span *mask,
		     uint8_t **at)
{
	uint8_t *fitted = mask ? *at : NULL;

	if (fitted) {
		put_mask(word, *mask, fitted);
		*at += word.len;
	}
	for (const struct kind *k = kinds; k < kinds + kinds_of(word); k++) {
		struct needle *n = &f->needles[f->count++];

		*n = (struct needle){k->family, k->leads, k->leads == PERCENT, index, 0, *at, NULL};
		n->len = put_symbols(word, k->family, k->skew, n->symbols);
		*at += n->len;
		if (!fitted)
			continue;
		n->mask = *at;
		*at += put_symbols((struct span){fitted, word.len}, k->family, k->skew, n->mask);
	}
}

static void add_triple(struct finder *f, uint8_t first, uint8_t second, uint8_t third)
{
	set_bit(f->triples, triple_of(first, second, third));
	set_bit(f->pairs, pair_of(first, second));
	set_bit(f->first, first);
}

static void add_wild(struct finder *f, uint8_t first, uint8_t second)
{
	set_bit(f->wild, pair_of(first, second));
	set_bit(f->pairs, pair_of(first, second));
	set_bit(f->first, first);
}

/* The spellings of a symbol as one byte: one or two. */
static size_t spellings(enum family family, uint8_t symbol, uint8_t into[2])
{
	into[0] = symbol;
	if (family == BASE64 && (symbol == '+' || symbol == '/'))
		into[1] = symbol == '+' ? '-' : '_';
	else if (family == HEX && symbol >= 'a')
		into[1] = (uint8_t)(symbol - ('a' - 'A'));
	else
		return 1;
	return 2;
}

static uint8_t hex_digit(unsigned int v, bool upper)
{
	return (uint8_t)(v < 10 ? '0' + v : (upper ? 'A' : 'a') + v - 10);
}

/* The escapes of a needle's first symbol. */
static void add_escaped_first(struct finder *f, uint8_t byte)
{
	for (unsigned int i = 0; i < 4; i++) {
		uint8_t high = hex_digit(byte >> 4, i & 1), low = hex_digit(byte & 15, i & 2);

		add_triple(f, '%', high, low);
		add_triple(f, '=', high, low);
		add_triple(f, '\\', 'x', high);
	}
	add_triple(f, '%', '2', '5');
	for (const char *c = "0123456789xX"; *c; c++)
		add_triple(f, '&', '#', (uint8_t)*c);
	add_triple(f, '\\', 'u', '0');
	add_wild(f, '\\', '\\');
	if (unit_is_punctuation(byte))
		add_wild(f, '\\', byte);
	if (unit_entity(byte))
		add_wild(f, '&', unit_entity(byte));
}

/* Behind a first symbol, the second begins with an escape for this byte. */
static void add_escaped_second(struct finder *f, uint8_t first, uint8_t byte)
{
	for (unsigned int i = 0; i < 2; i++) {
		add_triple(f, first, '%', hex_digit(byte >> 4, i));
		add_triple(f, first, '=', hex_digit(byte >> 4, i));
	}
	add_triple(f, first, '%', '2');
	add_triple(f, first, '&', '#');
	add_triple(f, first, '\\', 'u');
	add_triple(f, first, '\\', 'x');
	add_triple(f, first, '\\', '\\');
	if (unit_is_punctuation(byte))
		add_triple(f, first, '\\', byte);
	if (unit_entity(byte))
		add_triple(f, first, '&', unit_entity(byte));
}

/* Behind a first letter of base64 a line ends, escaped. */
static void add_escaped_line(struct finder *f, uint8_t first)
{
	add_triple(f, first, '%', '0');
	add_triple(f, first, '\\', 'n');
	add_triple(f, first, '\\', 'r');
}

/* What may stand at the place of symbol k but for the symbol itself. */
static bool is_other(const struct needle *n, size_t k, uint8_t c)
{
	return between(n->family, k, c) || is_lead(n, c);
}

/* first and second are there; the third byte is symbol k, or what may stand before it. */
static void add_third(struct finder *f, const struct needle *n, size_t k, uint8_t first,
		      uint8_t second)
{
	uint8_t third[2];
	size_t thirds = spellings(n->family, n->symbols[k], third);

	for (size_t i = 0; i < thirds; i++)
		add_triple(f, first, second, third[i]);
	for (unsigned int c = 0; c < 256; c++)
		if (is_other(n, k, (uint8_t)c))
			add_triple(f, first, second, (uint8_t)c);
}

static void add_beginnings(struct finder *f, const struct needle *n)
{
	uint8_t first[2], second[2];
	size_t firsts = spellings(n->family, n->symbols[0], first);
	size_t seconds = spellings(n->family, n->symbols[1], second);

	for (size_t i = 0; i < firsts; i++) {
		for (size_t k = 0; k < seconds; k++)
			add_third(f, n, 2, first[i], second[k]);
		for (unsigned int c = 0; c < 256; c++)
			if (between(n->family, 1, (uint8_t)c))
				add_third(f, n, 1, first[i], (uint8_t)c);
		if (!n->leads)
			continue;
		add_escaped_first(f, first[i]);
		if (n->family == BASE64)
			add_escaped_line(f, first[i]);
		for (size_t k = 0; k < seconds; k++)
			add_escaped_second(f, first[i], second[k]);
	}
}

/* A second byte that next_place_16 looks for itself. */
static bool is_special(uint8_t c)
{
	return unit_is_lead(c) || c == '\0' || c == '\r' || c == '\n';
}

static void add_to_sieve(struct finder *f)
{
	size_t total = 0, seen = 0;

	for (unsigned int a = 0; a < 256; a++)
		total += has_bit(f->first, a);
	for (unsigned int a = 0; a < 256; a++) {
		if (!has_bit(f->first, a))
			continue;
		/* Neighbours have the same high half: in one group they let little else in. */
		uint8_t bit = (uint8_t)(1 << seen++ * 8 / total);

		f->sieve[0][a & 15] |= bit;
		f->sieve[1][a >> 4] |= bit;
		for (unsigned int b = 0; b < 256; b++)
			if (has_bit(f->pairs, pair_of((uint8_t)a, (uint8_t)b)) &&
			    !is_special((uint8_t)b)) {
				f->sieve[2][b & 15] |= bit;
				f->sieve[3][b >> 4] |= bit;
			}
	}
}

/* The table from a first symbol to its needles: counted, then filled. */
static int index_needles(struct finder *f)
{
	uint32_t total = 0;

	f->starting = calloc(2 * f->count, sizeof(*f->starting));
	if (!f->starting)
		return -ENOMEM;
	for (unsigned int c = 0; c < 256; c++) {
		f->begin[c] = total;
		for (size_t i = 0; i < f->count; i++) {
			uint8_t bytes[2];
			size_t n = spellings(f->needles[i].family, f->needles[i].symbols[0], bytes);

			for (size_t k = 0; k < n; k++)
				if (bytes[k] == c)
					f->starting[total++] = (uint32_t)i;
		}
	}
	f->begin[256] = total;
	return 0;
}

static int check_words(const struct span *words, size_t count)
{
	if (count > FINDER_WORDS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		if (words[i].len < FINDER_WORD_MIN || words[i].len > FINDER_WORD_MAX)
			return -EINVAL;
	return 0;
}

/* All that the words need; so that nothing of them is ever copied by a growing buffer. */
static size_t memory_needed(const struct span *words, size_t count, bool masks)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		for (const struct kind *k = kinds; k < kinds + kinds_of(words[i]); k++)
			sum += put_symbols(words[i], k->family, k->skew, NULL) * (masks ? 2 : 1);
		sum += masks ? words[i].len : 0;
	}
	return sum;
}

int finder_new(const struct span *words, const struct span *masks, size_t count,
	       struct finder **ret_finder)
{
	if (check_words(words, count) < 0)
		return -EINVAL;
	_cleanup_finder_ struct finder *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->memory_len = memory_needed(words, count, masks != NULL);
	f->memory = malloc(f->memory_len + 1);
	f->needles = calloc(count * KINDS_MAX + 1, sizeof(*f->needles));
	if (!f->memory || !f->needles)
		return -ENOMEM;
	uint8_t *at = f->memory;

	for (size_t i = 0; i < count; i++)
		add_word(f, i, words[i], masks ? &masks[i] : NULL, &at);
	for (size_t i = 0; i < f->count; i++)
		add_beginnings(f, &f->needles[i]);
	add_to_sieve(f);
	if (f->count > 0 && index_needles(f) < 0)
		return -ENOMEM;
	*ret_finder = TAKE_PTR(f);
	return 0;
}

void finder_free(struct finder *f)
{
	if (!f)
		return;
	if (f->memory)
		explicit_bzero(f->memory, f->memory_len);
	free(f->memory);
	free(f->needles);
	free(f->starting);
	explicit_bzero(f, sizeof(*f));
	free(f);
}
