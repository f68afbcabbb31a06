/* SPDX-License-Identifier: Apache-2.0 */
#include "shape.h"

#include "plan.h"
#include "sha256.h"

enum {
	SHAPE_SEPARATORS_MAX = 4, /* of - and _ that count as such; more are of the alphabet */
	SHAPE_SEPARATED_MIN = 20, /* the least length of a value whose shape shows its separators */
};

#define DIGITS "0123456789"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* From the smallest to the largest.  The first that has all characters of a run is its alphabet. */
static const struct {
	char name;
	const char *has;
} shape_alphabets[] = {
	{'d', DIGITS},
	{'x', DIGITS "abcdef"},
	{'X', DIGITS "ABCDEF"},
	{'l', LOWER},
	{'u', UPPER},
	{'a', DIGITS LOWER},
	{'A', DIGITS UPPER},
	{'n', DIGITS LOWER UPPER},
	{'w', DIGITS LOWER UPPER "_"},
	{'s', DIGITS LOWER UPPER "-_"},
	{'b', DIGITS LOWER UPPER "+/"},
	{'p', DIGITS LOWER UPPER "-_+/.~!*@^"},
};

/* Beginnings by which programs and scanners know a key; a longer one comes before its own start. */
static const char *const shape_prefixes[] = {
	"sk-ant-api03-", "sk-ant-admin01-",
	"sk-ant-oat01-", "sk-ant-ort01-",
	"sk-ant-",       "sk-proj-",
	"sk-svcacct-",   "sk-admin-",
	"sk-or-v1-",     "sk-lf-",
	"sk-",           "github_pat_",
	"ghp_",          "gho_",
	"ghu_",          "ghs_",
	"ghr_",          "glpat-",
	"gldt-",         "glptt-",
	"npm_",          "pypi-",
	"xoxb-",         "xoxp-",
	"xoxa-",         "xoxs-",
	"xoxe-",         "xapp-",
	"AKIA",          "ASIA",
	"AIza",          "ya29.",
	"GOCSPX-",       "e2b_",
	"hf_",           "gsk_",
	"r8_",           "xai-",
	"pplx-",         "tvly-",
	"nvapi-",        "fal-",
	"csk-",          "fw_",
	"sk_live_",      "sk_test_",
	"rk_live_",      "rk_test_",
	"pk_live_",      "pk_test_",
	"whsec_",        "dop_v1_",
	"shpat_",        "figd_",
	"lin_api_",      "ntn_",
	"secret_",       "SG.",
	"key-",          "dckr_pat_",
	"ATATT3",        "vercel_",
	"sbp_",          "phx_",
	"pat-",          "tskey-",
	"hvs.",          "eyJ",
};

static const char *shape_alphabet(char name)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(shape_alphabets); i++)
		if (shape_alphabets[i].name == name)
			return shape_alphabets[i].has;
	return NULL;
}

/* One piece of a shape: a literal byte, or a run. */
struct shape_piece {
	uint8_t literal;
	const char *alphabet; /* of a run */
	size_t count;         /* 1 of a literal */
};

/* "{95:s}" at the start of s; the bytes it takes, or 0. */
static size_t shape_read_run(struct span s, struct shape_piece *ret)
{
	size_t i = 1;
	size_t count = 0;

	for (; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9' && count <= PLAN_PLACEHOLDER_MAX;
	     i++)
		count = count * 10 + (size_t)(s.ptr[i] - '0');
	if (i + 2 >= s.len || s.ptr[i] != ':' || s.ptr[i + 2] != '}' || count == 0 ||
	    count > PLAN_PLACEHOLDER_MAX)
		return 0;
	*ret = (struct shape_piece){.alphabet = shape_alphabet((char)s.ptr[i + 1]), .count = count};
	return ret->alphabet ? i + 3 : 0;
}

/* The piece at the start of s (not empty); the bytes it takes, or 0 when it is none. */
static size_t shape_read(struct span s, struct shape_piece *ret)
{
	if (s.ptr[0] == '{')
		return shape_read_run(s, ret);
	*ret = (struct shape_piece){.literal = s.ptr[0], .count = 1};
	return s.ptr[0] > 0x20 && s.ptr[0] < 0x7f && s.ptr[0] != '}' && s.ptr[0] != '"' &&
			       s.ptr[0] != '\\' && s.ptr[0] != '\''
		       ? 1
		       : 0;
}

const char *shape_check(struct span shape)
{
	size_t len = 0;
	size_t random = 0;

	while (shape.len > 0) {
		struct shape_piece piece;
		size_t n = shape_read(shape, &piece);

		if (n == 0)
			return "a shape is characters and runs, as in sk-{40:n}";
		len += piece.count;
		random += piece.alphabet ? piece.count : 0;
		if (len > PLAN_PLACEHOLDER_MAX)
			return "a shape of more than 8192 characters";
		shape = (struct span){shape.ptr + n, shape.len - n};
	}
	return random < PLAN_PLACEHOLDER_MIN
		       ? "a shape has at least 8 characters that are not given"
		       : NULL;
}

/* --- of a value --- */

size_t shape_known(struct span value)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(shape_prefixes); i++) {
		size_t len = strlen(shape_prefixes[i]);

		if (value.len >= len + PLAN_PLACEHOLDER_MIN &&
		    memcmp(value.ptr, shape_prefixes[i], len) == 0)
			return len;
	}
	return 0;
}

/* Known keys that have parts; in the others a dash is a character like any other. */
static bool shape_is_separated(struct span value)
{
	static const char *const beginnings[] = {"github_pat_", "xox", "xapp-", "pat-", "tskey-"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(beginnings); i++) {
		size_t len = strlen(beginnings[i]);

		if (value.len > len && memcmp(value.ptr, beginnings[i], len) == 0)
			return true;
	}
	return false;
}

static bool shape_is_dash(uint8_t c)
{
	return c == '-' || c == '_';
}

static void shape_put_run(struct span run, struct buf *into)
{
	char name = 'p';

	for (size_t i = BAWN_ARRAY_SIZE(shape_alphabets); i > 0; i--) {
		bool all = true;

		for (size_t n = 0; n < run.len; n++)
			all = all && strchr(shape_alphabets[i - 1].has, run.ptr[n]);
		if (all)
			name = shape_alphabets[i - 1].name;
	}
	if (run.len > 0)
		buf_putf(into, "{%zu:%c}", run.len, name);
}

void shape_of(struct span value, struct buf *into)
{
	size_t start = shape_known(value);
	size_t dashes = 0;

	for (size_t i = start; i < value.len; i++)
		dashes += shape_is_dash(value.ptr[i]);
	bool dashed = dashes <= SHAPE_SEPARATORS_MAX && value.len >= SHAPE_SEPARATED_MIN &&
		      (start == 0 || shape_is_separated(value));
	size_t end = value.len;

	while (end > start && value.ptr[end - 1] == '=')
		end--;
	buf_put(into, value.ptr, start);
	for (size_t i = start; i < end; i++) {
		uint8_t c = value.ptr[i];

		if (c != '.' && c != ':' && !(dashed && shape_is_dash(c)))
			continue;
		shape_put_run((struct span){value.ptr + start, i - start}, into);
		buf_put_char(into, (char)c);
		start = i + 1;
		/* Each part of a JSON web token but the last begins as the first one. */
		if (c == '.' && end - start > 3 && memcmp(value.ptr + start, "eyJ", 3) == 0) {
			buf_put_str(into, "eyJ");
			start += 3;
			i = start - 1;
		}
	}
	shape_put_run((struct span){value.ptr + start, end - start}, into);
	buf_put(into, value.ptr + end, value.len - end);
}

/* --- a placeholder --- */

/* Bytes that nobody can predict without the key. */
struct shape_stream {
	struct span key;
	const char *context;
	unsigned int round;
	uint8_t bytes[SHA256_SIZE];
	size_t used;
};

static uint8_t shape_next(struct shape_stream *s)
{
	if (s->used == SHA256_SIZE) {
		_cleanup_buf_ struct buf text = BUF_INIT(64 << 10);

		buf_putf(&text, "bawn placeholder 1 %u ", s->round++);
		buf_put_str(&text, s->context);
		sha256_hmac(s->key, buf_span(&text), s->bytes);
		s->used = 0;
	}
	return s->bytes[s->used++];
}

static char shape_pick(struct shape_stream *s, const char *alphabet)
{
	size_t size = strlen(alphabet);
	unsigned int fair = (unsigned int)(256 / size * size);
	uint8_t byte = shape_next(s);

	while (byte >= fair)
		byte = shape_next(s);
	return alphabet[byte % size];
}

void shape_fill(struct span shape, struct span key, const char *context, struct buf *into)
{
	struct shape_stream s = {.key = key, .context = context, .used = SHA256_SIZE};

	while (shape.len > 0) {
		struct shape_piece piece;
		size_t n = shape_read(shape, &piece);

		if (n == 0)
			return;
		for (size_t i = 0; i < piece.count; i++)
			buf_put_char(into, piece.alphabet ? shape_pick(&s, piece.alphabet)
							  : (char)piece.literal);
		shape = (struct span){shape.ptr + n, shape.len - n};
	}
}
