/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every word becomes a few needles: strings of symbols in one family's alphabet.
 *
 *	TEXT	the word; when it holds a byte that could be taken for the beginning of an
 *		escape, once more without escapes, and once with each kind of them alone
 *	BASE64	those letters, at each of three alignments, that depend on the word alone
 *	HEX	its digits, lower case
 *
 * A word with letters that have to be escaped somewhere has more (finder_writing.h): BASE64 and HEX
 * of what JSON and a form make of it, and TEXT that is compared below several layers of escapes.
 *
 * A family says which bytes count as one symbol (`normal`) and which may stand between two
 * (`between`).  The inner loop looks at no needle, only at tables of the bytes with which some
 * needle can begin, in any spelling.
 */
#include "finder.h"

#include "encode.h"
#include "finder_unit.h"
#include "finder_writing.h"

#ifdef __x86_64__
#include <tmmintrin.h>
#endif

const char *const finder_form_words[4] = {"as it is", "escaped", "in base64", "in hex"};

enum lead { PERCENT = 1, BACKSLASH = 2, AMPERSAND = 4, EQUALS = 8, LEADS = 15 };

enum family { TEXT, BASE64, HEX };

/* Of a word's letters: coarse, so that it says little which of the first two a secret has. */
enum alphabet { TOKEN, PRINTABLE, BASE64_LETTERS, HEX_DIGITS, ALPHABETS };

enum {
	PAIRS = 1 << 16,
	BETWEEN_MAX = 4,
	REACH_MIN = 4096, /* of bytes; a power of two */
	REACH_TIMES = 24, /* so much longer than itself a word is written by no program */
};

struct needle {
	enum family family;
	unsigned int leads; /* set of enum lead: bytes that begin an escape */
	bool once;          /* a percent that comes out of an escape is one */
	bool peels;         /* it is read by unit_peel */
	size_t word;
	size_t len;
	size_t known;            /* symbols that everybody may know, from the first on */
	const uint8_t *alphabet; /* a map of bytes: what the others are taken from */
	uint8_t *symbols, *mask; /* mask: NULL, or as many, or more of TEXT */
	size_t mask_len;
	/* Of base64: how many bits of the word the letters before and behind have, and the mask's.
	 */
	uint8_t before_bits, before, behind_bits, behind;
};

struct finder {
	uint8_t pairs[PAIRS / 8];   /* the first two bytes of a needle */
	uint8_t wild[PAIRS / 8];    /* those of them behind which anything may follow */
	uint8_t triples[PAIRS / 8]; /* of the others, with the third: by triple_of */
	uint8_t first[256 / 8];     /* bytes with which a pair begins */
	uint8_t sieve[4][16];       /* by the halves of a pair's bytes: see next_place */
	uint8_t inside[256 / 8];    /* bytes that can stand in a word, however it is written */
	uint8_t alphabets[ALPHABETS][256 / 8];
	bool unknown;        /* of some word nothing is known */
	bool peels;          /* some needle does */
	size_t reach;        /* bytes before the end that a word which goes on may have begun at */
	uint32_t begin[257]; /* by the symbol's own spellings, into `starting` */
	uint32_t *starting;  /* needles by their first symbol */
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

static bool has_bit(const uint8_t *map, size_t i)
{
	return map[i >> 3] >> (i & 7) & 1;
}

static void set_bit(uint8_t *map, size_t i)
{
	map[i >> 3] |= (uint8_t)(1 << (i & 7));
}

enum match { MATCH_NO, MATCH_BEGUN, MATCH_WHOLE };

/* Whether this may be symbol k, as far as everybody may know. */
static bool fits(const struct needle *n, size_t k, uint8_t byte)
{
	uint8_t symbol = normal(n->family, byte);

	return k < n->known ? symbol == n->symbols[k] : has_bit(n->alphabet, symbol);
}

/* The character at `at`, by the escapes that this needle knows; false: more bytes would tell. */
static bool read_unit(const struct needle *n, struct span at, bool end, struct unit *ret_unit)
{
	*ret_unit = (struct unit){at.ptr[0], 1, UNIT_ITSELF, 0, 0};
	if (!is_lead(n, at.ptr[0]))
		return true;
	return n->peels ? unit_peel(at, end, UNIT_LAYERS, ret_unit)
			: unit_read(at, end, n->once, ret_unit);
}

/* One symbol at *at, behind what may stand before it; *ret_unit is it, at *at. */
static enum match read_symbol(const struct needle *n, size_t k, struct span bytes, size_t *at,
			      bool end, struct unit *ret_unit)
{
	int lines = 0;

	for (int i = 0; i <= BETWEEN_MAX; i++) {
		if (*at == bytes.len)
			return end ? MATCH_NO : MATCH_BEGUN;
		if (!read_unit(n, (struct span){bytes.ptr + *at, bytes.len - *at}, end, ret_unit))
			return MATCH_BEGUN;
		if (fits(n, k, ret_unit->byte))
			return MATCH_WHOLE;
		if (k == 0 || !between(n->family, k, ret_unit->byte))
			return MATCH_NO;
		/* An empty line ends everything: an event that ends in one need not wait. */
		if (bytes.ptr[*at] == '\n' && ++lines > 1)
			return MATCH_NO;
		*at += ret_unit->len;
	}
	return MATCH_NO;
}

/*
 * The last symbol of a needle that peels: where it is a backslash, what follows the word must not be
 * taken for what it escapes.  So below as many layers as it is there, the longest.
 */
static bool read_last(const struct needle *n, struct span bytes, size_t at, struct unit *u)
{
	bool is = false;

	for (int layers = 0; layers <= UNIT_LAYERS && at < bytes.len; layers++) {
		struct unit one;

		(void)unit_peel((struct span){bytes.ptr + at, bytes.len - at}, true, layers, &one);
		if (one.byte != n->symbols[n->len - 1] || (is && one.len < u->len))
			continue;
		*u = one;
		is = true;
	}
	return is;
}

/*
 * Whether the needle is there.  It is read to its end however early a symbol is wrong, so that
 * the time this takes tells nothing but what everybody may know.
 */
static bool match(const struct needle *n, struct span bytes, size_t from, struct finder_hit *hit)
{
	bool escaped = false;
	size_t at = from;
	uint8_t wrong = 0;

	for (size_t k = 0; k < n->len; k++) {
		struct unit u;
		bool last = n->peels && k + 1 == n->len && read_last(n, bytes, at, &u);

		if (!last && read_symbol(n, k, bytes, &at, true, &u) != MATCH_WHOLE)
			return false;
		wrong |= normal(n->family, u.byte) ^ n->symbols[k];
		escaped |= u.kind != UNIT_ITSELF;
		at += u.len;
	}
	/* At one place the longest counts. */
	if (wrong || at - from <= hit->len)
		return false;
	hit->at = from;
	hit->len = at - from;
	hit->word = n->word;
	hit->form = n->family == BASE64            ? FINDER_BASE64
		    : n->family == HEX             ? FINDER_HEX
		    : escaped || hit->len > n->len ? FINDER_ESCAPED
						   : FINDER_PLAIN;
	return true;
}

/*
 * Whether the needle may have begun there and go on behind the bytes.  Of a secret neither its
 * symbols nor their number count.
 */
static bool goes_on(const struct needle *n, struct span bytes, size_t at)
{
	for (size_t k = 0; n->known < n->len || k < n->len; k++) {
		struct unit u;
		enum match m = read_symbol(n, k, bytes, &at, false, &u);

		if (m != MATCH_WHOLE)
			return m == MATCH_BEGUN;
		at += u.len;
	}
	return false;
}

/* What the first byte is for a needle: itself, or the beginning of an escape. */
enum reading { AS_BYTE, AS_ESCAPE, PEELED };

/* NULL for hit: whether something goes on behind the bytes; else whether something is there. */
static bool try_starting(const struct finder *f, uint8_t symbol, uint8_t lead, enum reading how,
			 struct span bytes, size_t at, struct finder_hit *hit)
{
	bool is = false;

	/* Needles that begin with `symbol`, when `lead` is read so. */
	for (uint32_t i = f->begin[symbol]; i < f->begin[symbol + 1]; i++) {
		const struct needle *n = &f->needles[f->starting[i]];

		if (how != (!is_lead(n, lead) ? AS_BYTE : n->peels ? PEELED : AS_ESCAPE))
			continue;
		if (!hit) {
			is |= goes_on(n, bytes, at);
		} else if (match(n, bytes, at, hit)) {
			hit->needle = f->starting[i];
			is = true;
		}
	}
	return is;
}

static bool try_at(const struct finder *f, struct span bytes, size_t at, struct finder_hit *hit)
{
	struct unit u = {0};
	uint8_t c = bytes.ptr[at];
	bool is = try_starting(f, c, c, AS_BYTE, bytes, at, hit);

	if (unit_is_lead(c)) {
		struct span from = {bytes.ptr + at, bytes.len - at};

		is |= !unit_read(from, hit != NULL, false, &u);
		is |= try_starting(f, u.byte, c, AS_ESCAPE, bytes, at, hit);
		/* The word of which the first byte is a percent. */
		if (u.byte != '%' && unit_read(from, hit != NULL, true, &u) && u.byte == '%')
			is |= try_starting(f, u.byte, c, AS_ESCAPE, bytes, at, hit);
		if (f->peels) {
			is |= !unit_peel(from, hit != NULL, UNIT_LAYERS, &u);
			is |= try_starting(f, u.byte, c, PEELED, bytes, at, hit);
		}
	}
	return is;
}

/* Whether c, at `at`, may stand between two symbols, by what stands before it. */
static bool is_gap(struct span bytes, size_t at, size_t low, uint8_t c)
{
	bool line = c == '\r' || c == '\n';

	if (at == low || (!line && c != ' '))
		return false;
	uint8_t before = bytes.ptr[at - 1], first = at - 1 > low ? bytes.ptr[at - 2] : 'z';

	/* Another gap, or the end of an escape. */
	if (before == '\0' || strchr(" :-\r\n;", before) ||
	    (first == '\\' && strchr("nrt", before)))
		return true;
	/* Lines part base64 and hex; spaces part hex, behind the second digit of a byte. */
	return line ? encode_is_base64(before)
		    : decode_hex_digit(before) >= 0 &&
			       (decode_hex_digit(first) >= 0 || first == ';' || first == '\0');
}

/*
 * Where a word may begin that goes on behind the bytes: at the first of the last bytes without
 * one that can be in none.  What the words are does not count, only what they are made of.
 */
static size_t run_at_end(const struct finder *f, struct span bytes, size_t from)
{
	size_t low = bytes.len - from > f->reach ? bytes.len - f->reach : from;
	size_t at = bytes.len;

	for (int lines = 0; at > low; at--) {
		uint8_t c = bytes.ptr[at - 1];

		if (has_bit(f->inside, c)) {
			lines = c == '\0' ? lines : 0;
			continue;
		}
		lines += c == '\n';
		if (lines > 1 || !is_gap(bytes, at - 1, low, c))
			break;
	}
	/* A gap is no beginning. */
	while (at < bytes.len && !has_bit(f->inside, bytes.ptr[at]))
		at++;
	return at;
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

/*
 * Whether bytes from there on have to be kept until more have come.  It must not depend on what
 * only the secrets say: whoever sees how much was kept would learn by it whether a guess at the
 * end was right.  Where all words are known by their beginnings, so are the tables that lead here.
 */
static bool stays(const struct finder *f, struct span bytes, size_t at, bool end)
{
	return !end && !f->unknown && bytes.len - at <= f->reach && try_at(f, bytes, at, NULL);
}

enum finder_outcome finder_next(const struct finder *f, struct span bytes, size_t from, bool end,
				struct finder_hit *ret_hit)
{
	if (f->count == 0 || from >= bytes.len)
		return FINDER_NOTHING;
	size_t stop = end || !f->unknown ? bytes.len : run_at_end(f, bytes, from);

	for (size_t at = from; at < stop; at++) {
		struct finder_hit hit = {0};

		at = next_place(f, bytes, at);
		if (at >= stop)
			break;
		if (stays(f, bytes, at, end)) {
			stop = at;
			break;
		}
		if (at + 1 < bytes.len && try_at(f, bytes, at, &hit)) {
			*ret_hit = hit;
			return FINDER_FOUND;
		}
	}
	ret_hit->at = stop;
	return stop < bytes.len ? FINDER_BEGUN : FINDER_NOTHING;
}

size_t finder_known(const struct finder *f)
{
	return f->unknown ? 0 : FINDER_KNOWN_MIN;
}

/* The letter before `at` ends with the word's first bits. */
static void mask_before(const struct needle *n, size_t at, uint8_t *bytes)
{
	while (at > 0 && between(BASE64, 1, bytes[at - 1]))
		at--;
	int v = at > 0 ? decode_base64_letter(bytes[at - 1]) : -1;

	if (v >= 0)
		bytes[at - 1] = (uint8_t)encode_base64_letter(
			((unsigned int)v >> n->before_bits << n->before_bits) | n->before);
}

/* The letter at `at` begins with its last ones. */
static void mask_behind(const struct needle *n, size_t at, uint8_t *bytes, size_t len)
{
	unsigned int keeps = 6u - n->behind_bits;
	struct unit u;

	if (read_symbol(n, n->len, (struct span){bytes, len}, &at, true, &u) != MATCH_WHOLE)
		return;
	unsigned int v = (unsigned int)decode_base64_letter(u.byte) & ((1u << keeps) - 1);

	unit_write(&u, bytes + at,
		   (uint8_t)encode_base64_letter((unsigned int)n->behind << keeps | v));
}

/* How the letters of a hit that nobody may know are written. */
struct letters {
	bool alike;   /* all in one way, in which others can be written as well */
	bool percent; /* some as %XX, the others as they are */
	size_t room;  /* bytes of all of them together */
};

static struct letters letters_of(const struct needle *n, struct span in, size_t at, size_t from)
{
	struct letters l = {.alike = true, .percent = true};
	struct unit first = {0}, u;

	for (size_t k = from; k < n->len; k++, at += u.len) {
		if (read_symbol(n, k, in, &at, true, &u) != MATCH_WHOLE)
			break;
		if (k == from)
			first = u;
		l.alike = l.alike && u.kind != UNIT_FIXED && u.kind == first.kind &&
			  u.len == first.len && u.tail == first.tail && u.count == first.count;
		l.percent =
			l.percent && (u.kind == UNIT_ITSELF || (u.len == 3 && in.ptr[at] == '%'));
		l.room += u.len;
	}
	return l;
}

/*
 * Letters of which some are escaped: which they were would tell what they were.  So the mask goes
 * over the bytes of all of them as it fits; what stands between letters stays.
 */
static size_t mask_unlike(const struct needle *n, const struct letters *l, struct span in,
			  uint8_t *bytes, size_t at, size_t from)
{
	enum { MARK = 1 }; /* a byte that stands between no letters */
	struct span mask = {n->mask + from, n->mask_len - from};
	size_t begin = at, i = 0;

	for (size_t k = from; k < n->len; k++) {
		struct unit u;

		if (read_symbol(n, k, in, &at, true, &u) != MATCH_WHOLE)
			break;
		memset(bytes + at, MARK, u.len);
		at += u.len;
	}
	for (size_t k = begin; k < at; k++)
		if (bytes[k] == MARK)
			bytes[k] = writing_mask(mask, l->room, l->percent, i++);
	return at;
}

void finder_mask(const struct finder *f, const struct finder_hit *hit, uint8_t *bytes, size_t len)
{
	const struct needle *n = &f->needles[hit->needle];
	struct span in = {bytes, hit->at + hit->len};
	size_t at = hit->at;

	/* Where its first bytes are known to everybody the letter before may have gone already. */
	if (n->before_bits > 0 && f->unknown)
		mask_before(n, at, bytes);

	for (size_t k = 0; k < n->len && n->mask; k++) {
		struct unit u;

		if (k == n->known) {
			const struct letters l = letters_of(n, in, at, k);

			if (!l.alike) {
				at = mask_unlike(n, &l, in, bytes, at, k);
				break;
			}
		}
		if (read_symbol(n, k, in, &at, true, &u) != MATCH_WHOLE)
			return;
		/* Also where the two are the same: what is left as it was would tell that. */
		unit_write(&u, bytes + at, n->mask[k]);
		at += u.len;
	}
	/* A word that is no secret is not waited for behind its end. */
	if (n->behind_bits > 0 && n->known < n->len)
		mask_behind(n, at, bytes, len);
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
	enum writing writing;
	enum family family;
	size_t skew; /* of base64 */
	unsigned int leads;
};

/* In the order of their writings. */
static const struct kind kinds[] = {
	{WRITING_ITSELF, HEX, 0, LEADS},
	{WRITING_ITSELF, BASE64, 0, LEADS},
	{WRITING_ITSELF, BASE64, 1, LEADS},
	{WRITING_ITSELF, BASE64, 2, LEADS},
	{WRITING_ITSELF, TEXT, 0, LEADS},
	/* Only of a word that holds one of these itself. */
	{WRITING_ITSELF, TEXT, 0, 0},
	{WRITING_ITSELF, TEXT, 0, PERCENT},
	{WRITING_ITSELF, TEXT, 0, BACKSLASH},
	{WRITING_ITSELF, TEXT, 0, AMPERSAND},
	{WRITING_ITSELF, TEXT, 0, EQUALS},
	{WRITING_JSON, HEX, 0, LEADS},
	{WRITING_JSON, BASE64, 0, LEADS},
	{WRITING_JSON, BASE64, 1, LEADS},
	{WRITING_JSON, BASE64, 2, LEADS},
	{WRITING_FORM, HEX, 0, LEADS},
	{WRITING_FORM, BASE64, 0, LEADS},
	{WRITING_FORM, BASE64, 1, LEADS},
	{WRITING_FORM, BASE64, 2, LEADS},
	{WRITING_PEELED, TEXT, 0, LEADS},
};

/* Whether a word has a needle of this kind; its writing is needed. */
static bool kind_is_for(const struct kind *k, struct span word)
{
	return k->family != TEXT || k->leads == LEADS || holds_lead(word);
}

/* ---- what everybody may know of a word ---- */

static void fill_alphabets(struct finder *f)
{
	static const char beside[] = "+/=_-.~%\\&#;:@$!*?^|";

	for (unsigned int c = 0; c < 256; c++) {
		bool letter = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');

		if (c > 0 && c < 128 && (letter || strchr(beside, (int)c)))
			set_bit(f->alphabets[TOKEN], c);
		if (c > 0x20 && c < 0x7f)
			set_bit(f->alphabets[PRINTABLE], c);
		if (encode_is_base64((uint8_t)c))
			set_bit(f->alphabets[BASE64_LETTERS], c);
		if (c < 128 && decode_hex_digit((uint8_t)c) >= 0)
			set_bit(f->alphabets[HEX_DIGITS], c);
	}
	memcpy(f->inside, f->alphabets[TOKEN], sizeof(f->inside));
	set_bit(f->inside, '\0');
}

/* ALPHABETS: it has a byte that no secret has. */
static enum alphabet alphabet_of(const struct finder *f, struct span word)
{
	enum alphabet least = TOKEN;

	for (size_t i = 0; i < word.len; i++) {
		if (!has_bit(f->alphabets[PRINTABLE], word.ptr[i]))
			return ALPHABETS;
		if (!has_bit(f->alphabets[TOKEN], word.ptr[i]))
			least = PRINTABLE;
	}
	return least;
}

/* How many of a needle's symbols stand for nothing but the word's first `known` bytes. */
static size_t known_symbols(const struct kind *k, size_t known)
{
	if (k->family == BASE64) {
		size_t first = (8 * k->skew + 5) / 6, end = 8 * (k->skew + known) / 6;

		return end > first ? end - first : 0;
	}
	return k->family == HEX ? 2 * known : known;
}

/* What a finder knows of the words as a whole: of a word of `known` first bytes. */
static void note_word(struct finder *f, struct span word, size_t known, enum alphabet a)
{
	size_t reach = known < word.len ? REACH_MIN : FINDER_KEPT_MAX;

	while (reach < FINDER_KEPT_MAX && reach < REACH_TIMES * word.len)
		reach *= 2;
	f->reach = f->reach > reach ? f->reach : reach;
	f->unknown |= known < FINDER_KNOWN_MIN;
	for (unsigned int c = 0; a == PRINTABLE && c < sizeof(f->inside); c++)
		f->inside[c] |= f->alphabets[PRINTABLE][c];
	for (size_t i = 0; a == ALPHABETS && i < word.len; i++)
		set_bit(f->inside, word.ptr[i]);
}

/* A mask brought to its word's length, and written as the word is.  How long it is. */
static size_t put_mask(struct span word, struct span mask, enum writing how, size_t len,
		       uint8_t *into)
{
	mask.len = mask.len < word.len ? mask.len : word.len;
	len = len < word.len ? word.len : len;
	for (size_t i = 0; i < len; i++)
		into[i] = writing_mask(mask, len, how == WRITING_FORM, i);
	return len;
}

/* How much of a writing stands for nothing but the word's first `known` bytes. */
static size_t known_of(struct span text, struct span word, size_t known)
{
	size_t same = 0;

	if (known == word.len)
		return text.len;
	while (same < known && same < text.len && text.ptr[same] == word.ptr[same])
		same++;
	return same;
}

static void note_edges(struct needle *n, size_t skew, struct span mask)
{
	n->before_bits = (uint8_t)((8 * skew + 5) / 6 * 6 - 8 * skew);
	n->before = (uint8_t)(mask.ptr[0] >> (8 - n->before_bits));
	n->behind_bits = (uint8_t)(8 * (skew + mask.len) % 6);
	n->behind = (uint8_t)(mask.ptr[mask.len - 1] & ((1 << n->behind_bits) - 1));
}

/* One writing of a word, as a needle of this kind. */
struct text {
	size_t index; /* of the word */
	struct span text, mask;
	size_t known;
	enum alphabet letters;
};

static void add_needle(struct finder *f, const struct kind *k, const struct text *t, uint8_t **at)
{
	struct needle *n = &f->needles[f->count++];

	*n = (struct needle){.family = k->family,
			     .leads = k->leads,
			     .once = k->leads == PERCENT,
			     .peels = k->writing == WRITING_PEELED,
			     .word = t->index,
			     .known = known_symbols(k, t->known),
			     .symbols = *at};
	f->peels |= n->peels;
	n->alphabet = f->alphabets[k->family == BASE64   ? BASE64_LETTERS
				   : k->family == HEX    ? HEX_DIGITS
				   : t->letters == TOKEN ? TOKEN
							 : PRINTABLE];
	n->len = put_symbols(t->text, k->family, k->skew, n->symbols);
	*at += n->len;
	if (!t->mask.ptr)
		return;
	n->mask = *at;
	n->mask_len = put_symbols(t->mask, k->family, k->skew, n->mask);
	*at += n->mask_len;
	if (k->family == BASE64)
		note_edges(n, k->skew, t->mask);
}

static void add_word(struct finder *f, size_t index, struct span word, const struct span *mask,
		     size_t known, uint8_t **at)
{
	enum alphabet letters = alphabet_of(f, word);

	if (letters == ALPHABETS || known > word.len)
		known = word.len;
	else if (known < FINDER_KNOWN_MIN)
		known = 0;
	note_word(f, word, known, letters);

	for (enum writing how = WRITING_ITSELF; how < WRITINGS; how++) {
		struct text t = {.index = index,
				 .text = {*at, writing_put(how, word, NULL)},
				 .letters = letters};

		if (t.text.len == 0)
			continue;
		(void)writing_put(how, word, *at);
		t.known = known_of(t.text, word, known);
		f->unknown |= t.known < FINDER_KNOWN_MIN;
		*at += t.text.len;
		if (mask) {
			t.mask = (struct span){*at, put_mask(word, *mask, how, t.text.len, *at)};
			*at += t.mask.len;
		}
		for (size_t i = 0; i < BAWN_ARRAY_SIZE(kinds); i++)
			if (kinds[i].writing == how && kind_is_for(&kinds[i], word))
				add_needle(f, &kinds[i], &t, at);
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
	add_triple(f, '\\', (uint8_t)('0' + (byte >> 6)), (uint8_t)('0' + (byte >> 3 & 7)));
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
	add_triple(f, first, '\\', (uint8_t)('0' + (byte >> 6)));
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

/* What a needle that peels may begin with besides: a lead that is escaped in its turn. */
static void add_peeled(struct finder *f, uint8_t first)
{
	static const char leads[] = "%\\&=";

	for (const char *c = leads; *c; c++) {
		add_wild(f, '%', hex_digit((uint8_t)*c >> 4, false));
		add_wild(f, '=', hex_digit((uint8_t)*c >> 4, false));
		add_wild(f, '\\', (uint8_t)*c);
		add_wild(f, first, (uint8_t)*c);
	}
	add_wild(f, '&', unit_entity('&'));
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
		if (n->peels)
			add_peeled(f, first[i]);
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

/*
 * All that a word needs, counted before it is made; so that nothing of it is ever copied by a growing
 * buffer.  How many needles it has.
 */
static size_t count_word(struct span word, bool masks, size_t *memory)
{
	size_t needles = 0;

	for (enum writing how = WRITING_ITSELF; how < WRITINGS; how++) {
		struct span text = {NULL, writing_put(how, word, NULL)};
		struct span mask = {NULL, text.len < word.len ? word.len : text.len};

		if (text.len == 0)
			continue;
		*memory += text.len + (masks ? mask.len : 0);
		for (const struct kind *k = kinds; k < kinds + BAWN_ARRAY_SIZE(kinds); k++) {
			if (k->writing != how || !kind_is_for(k, word))
				continue;
			*memory += put_symbols(text, k->family, k->skew, NULL);
			*memory += masks ? put_symbols(mask, k->family, k->skew, NULL) : 0;
			needles++;
		}
	}
	return needles;
}

int finder_new(const struct span *words, const struct span *masks, const size_t *known,
	       size_t count, struct finder **ret_finder)
{
	if (check_words(words, count) < 0)
		return -EINVAL;
	_cleanup_finder_ struct finder *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	size_t needles = 0;

	for (size_t i = 0; i < count; i++)
		needles += count_word(words[i], masks != NULL, &f->memory_len);
	f->memory = malloc(f->memory_len + 1);
	f->needles = calloc(needles + 1, sizeof(*f->needles));
	if (!f->memory || !f->needles)
		return -ENOMEM;
	uint8_t *at = f->memory;

	fill_alphabets(f);
	for (size_t i = 0; i < count; i++)
		add_word(f, i, words[i], masks ? &masks[i] : NULL, known ? known[i] : SIZE_MAX,
			 &at);
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
