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
 * A family says which bytes count as one symbol (`normal`) and which may come between two
 * (`between`).  The inner loop looks only at tables of the bytes with which some
 * needle can begin, in any spelling, not at the needles.
 */
#include "finder_parts.h"

#include "encode.h"
#include "finder_writing.h"

#ifdef __x86_64__
#include <tmmintrin.h>
#endif

const char *const finder_form_words[4] = {"as it is", "escaped", "in base64", "in hex"};

enum { BETWEEN_MAX = 4 };

enum match { MATCH_NO, MATCH_BEGUN, MATCH_WHOLE };

/* Whether this byte may be symbol k, judged only by what is no secret. */
static bool fits(const struct needle *n, size_t k, uint8_t byte)
{
	uint8_t symbol = normal(n->family, byte);

	return k < n->known ? symbol == n->symbols[k] : has_bit(n->alphabet, symbol);
}

/* Reads the character at `at`, with the escapes that this needle knows; false: more bytes are
 * needed. */
static bool read_unit(const struct needle *n, struct span at, bool end, struct unit *ret_unit)
{
	*ret_unit = (struct unit){at.ptr[0], 1, UNIT_ITSELF, 0, 0};
	if (!is_lead(n, at.ptr[0]))
		return true;
	return n->peels ? unit_peel(at, end, UNIT_LAYERS, ret_unit)
			: unit_read(at, end, n->once, ret_unit);
}

/* Skips what may come before a symbol, and reads one; *at and *ret_unit are its place and form. */
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
		/* No word goes on after an empty line, so that an event stream need not wait. */
		if (bytes.ptr[*at] == '\n' && ++lines > 1)
			return MATCH_NO;
		*at += ret_unit->len;
	}
	return MATCH_NO;
}

/*
 * Reads the last symbol of a needle that peels.  When it is a backslash, the text after the word
 * must not be taken as the thing that it escapes.  So it tries all layers and takes the longest
 * match.
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
 * Whether the needle is there.  It compares all symbols, also after a wrong one, so that
 * the time it takes depends only on what is no secret.
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
	/* The longest match at a place counts. */
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
 * Whether the needle may have begun there and go on after the bytes.  This must not depend on the
 * symbols of a secret, nor on their number.
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

/* How the first byte of a needle is read: as itself, or as the beginning of an escape. */
enum reading { AS_BYTE, AS_ESCAPE, PEELED };

/* With hit NULL: whether a word may go on after the bytes; else whether a word is there. */
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
		/* A word whose first byte is a percent. */
		if (u.byte != '%' && unit_read(from, hit != NULL, true, &u) && u.byte == '%')
			is |= try_starting(f, u.byte, c, AS_ESCAPE, bytes, at, hit);
		if (f->peels) {
			is |= !unit_peel(from, hit != NULL, UNIT_LAYERS, &u);
			is |= try_starting(f, u.byte, c, PEELED, bytes, at, hit);
		}
	}
	return is;
}

/* Whether c at `at` may come between two symbols, judged by the bytes before it. */
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
	/* Line ends may be inside base64 and hex; spaces inside hex, after the second digit of a
	 * byte. */
	return line ? encode_is_base64(before)
		    : decode_hex_digit(before) >= 0 &&
			       (decode_hex_digit(first) >= 0 || first == ';' || first == '\0');
}

/*
 * Where a word may begin that goes on after the bytes: at the start of the last run of bytes
 * that can be in a word.  This does not depend on the words, only on their alphabets.
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
	/* A word does not begin with a gap. */
	while (at < bytes.len && !has_bit(f->inside, bytes.ptr[at]))
		at++;
	return at;
}

/* Whether a word may begin here; two more bytes must follow. */
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
/* Second bytes that may follow any first byte: is_special. */
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
 * Looks at sixteen places at once.  The pairs are in eight groups by their first byte.  The
 * low and the high half of a byte each select the groups in which it may be first, or second.  When
 * all four agree on a group, or a special second byte follows a first byte, the place is
 * looked up in the tables.
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

/* The first place from `at` on with a pair of the table; bytes.len - 1: none. */
static size_t next_place(const struct finder *f, struct span bytes, size_t at)
{
#ifdef __x86_64__
	if (bytes.len - at > 17 && __builtin_cpu_supports("ssse3"))
		return next_place_16(f, bytes, at);
#endif
	return next_place_plain(f, bytes, at);
}

/*
 * Whether bytes from there on have to be kept until more have come.  It must not depend on the
 * secret part of a word: else a sender who sees how much was kept would learn whether its guess
 * at the end was right.  When the beginnings of all words are no secret, the tables that lead
 * here are none either.
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

/* Masks the base64 letter before `at`, which ends with the word's first bits. */
static void mask_before(const struct needle *n, size_t at, uint8_t *bytes)
{
	while (at > 0 && between(BASE64, 1, bytes[at - 1]))
		at--;
	int v = at > 0 ? decode_base64_letter(bytes[at - 1]) : -1;

	if (v >= 0)
		bytes[at - 1] = (uint8_t)encode_base64_letter(
			((unsigned int)v >> n->before_bits << n->before_bits) | n->before);
}

/* Masks the base64 letter at `at`, which begins with the word's last bits. */
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

/* How the secret letters of a hit are written. */
struct letters {
	bool alike;   /* all in one form, in which the mask can be written too */
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
 * Some letters are escaped and others are not, and that would show which letters they were.  So
 * the mask goes over the bytes of all of them together; bytes between letters stay.
 */
static size_t mask_unlike(const struct needle *n, const struct letters *l, struct span in,
			  uint8_t *bytes, size_t at, size_t from)
{
	enum { MARK = 1 }; /* a byte that is never between letters */
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

	/* If the word's first bytes are no secret, the letter before it may have gone already. */
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
		/*
		 * Write also where mask and word are the same: a difference in form would show
		 * that.  But the first letters, which are no secret, may have gone (scrub.h),
		 * and stay if the mask cannot be written in their form.
		 */
		if (u.kind != UNIT_FIXED || k >= FINDER_KNOWN_MIN || k >= n->known)
			unit_write(&u, bytes + at, n->mask[k]);
		at += u.len;
	}
	/* For a word that is no secret the letter after it may have gone. */
	if (n->behind_bits > 0 && n->known < n->len)
		mask_behind(n, at, bytes, len);
}
