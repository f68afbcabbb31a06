/* SPDX-License-Identifier: Apache-2.0 */
/* Making a finder: every word becomes needles (finder.c), and every needle bits in the tables. */
#include "finder_parts.h"

#include "encode.h"
#include "finder_writing.h"

enum {
	REACH_MIN = 4096, /* of bytes; a power of two */
	REACH_TIMES = 24, /* no program writes a word in more than so many times its length */
};

/* ---- needles ---- */

/* The base64 letters that depend only on the word, when `skew` bytes come before it. */
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

/* Writes the symbols of a needle (not with NULL), and returns how many. */
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
	/* Only for a word that has one of these characters itself. */
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

/* The alphabet of a word; ALPHABETS: it has a byte that no secret has. */
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

/* How many of a needle's symbols depend only on the word's first `known` bytes. */
static size_t known_symbols(const struct kind *k, size_t known)
{
	if (k->family == BASE64) {
		size_t first = (8 * k->skew + 5) / 6, end = 8 * (k->skew + known) / 6;

		return end > first ? end - first : 0;
	}
	return k->family == HEX ? 2 * known : known;
}

/* Adds a word, with `known` first bytes, to what the finder knows of all words. */
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

/* Writes a mask with its word's length and in the word's form.  Returns its length. */
static size_t put_mask(struct span word, struct span mask, enum writing how, size_t len,
		       uint8_t *into)
{
	mask.len = mask.len < word.len ? mask.len : word.len;
	len = len < word.len ? word.len : len;
	for (size_t i = 0; i < len; i++)
		into[i] = writing_mask(mask, len, how == WRITING_FORM, i);
	return len;
}

/* How many bytes of a spelling depend only on the word's first `known` bytes. */
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

/* After a first symbol the second begins with an escape for this byte. */
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

/* After a first letter of base64 comes an escaped line end. */
static void add_escaped_line(struct finder *f, uint8_t first)
{
	add_triple(f, first, '%', '0');
	add_triple(f, first, '\\', 'n');
	add_triple(f, first, '\\', 'r');
}

/* A needle that peels may also begin with a lead that is escaped itself. */
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

/* Whether c may come before symbol k. */
static bool is_other(const struct needle *n, size_t k, uint8_t c)
{
	return between(n->family, k, c) || is_lead(n, c);
}

/* Adds triples after these two bytes: the third is symbol k, or what may come before it. */
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
		/* Neighbours share the high half: in one group they match few other bytes. */
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
 * Counts the memory that a word needs before it is made, so that no growing buffer copies a part of
 * it.  Returns how many needles it has.
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
