/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a body is looked through when nothing is in it: text, JSON with many escapes,
 * and random bytes, with one secret and with eight, in reads of 16 KiB as TLS gives them.
 * memchr for one byte over the same memory is the yardstick.  Measured in processor time, so
 * that others on the machine count for little.
 */
#include "scrub.h"

#include <stdio.h>
#include <time.h>

enum { TOTAL = 16 << 20, PIECE = 16 << 10, ROUNDS_MAX = 50 };

static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void fill_text(uint8_t *into)
{
	static const char *const words[] = {"the ",      "key ",   "of a request ",
					    "goes on, ", "skill ", "ghost\n",
					    "200 OK ",   "and ",   "base64 "};
	size_t at = 0;

	while (at < TOTAL) {
		const char *w = words[next() % BAWN_ARRAY_SIZE(words)];
		size_t len = strlen(w) < TOTAL - at ? strlen(w) : TOTAL - at;

		memcpy(into + at, w, len); /* NOLINT: bytes, not a string */
		at += len;
	}
}

static void fill_json(uint8_t *into)
{
	static const char *const words[] = {
		"{\"type\":\"delta\",", "\"text\":\"", "\\n\\n", "\\u4e2d",
		"say \\\"so\\\"",       " if (a[i] ",  "\"},",   "https:\\/\\/x\\/"};
	size_t at = 0;

	while (at < TOTAL) {
		const char *w = words[next() % BAWN_ARRAY_SIZE(words)];
		size_t len = strlen(w) < TOTAL - at ? strlen(w) : TOTAL - at;

		memcpy(into + at, w, len); /* NOLINT: bytes, not a string */
		at += len;
	}
}

static void fill_random(uint8_t *into)
{
	for (size_t at = 0; at < TOTAL; at += 8) {
		uint64_t v = next();

		memcpy(into + at, &v, 8);
	}
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* GB/s, or 0 when a byte went wrong. */
static double through(const struct finder *f, const uint8_t *bytes)
{
	struct scrub s = {.finder = f};
	double begin = now();
	size_t out = 0;

	for (size_t at = 0; at < TOTAL; at += PIECE) {
		struct span got;

		if (scrub_feed(&s, (struct span){bytes + at, PIECE}, at + PIECE == TOTAL, &got) < 0)
			return 0;
		out += got.len;
	}
	double seconds = now() - begin;

	scrub_fini(&s);
	return out == TOTAL && s.found == 0 ? TOTAL / seconds / 1e9 : 0;
}

static double yardstick(const uint8_t *bytes)
{
	double begin = now();
	size_t count = 0;

	for (size_t at = 0; at < TOTAL; at += PIECE)
		count += memchr(bytes + at, 0x01, PIECE) != NULL;
	double seconds = now() - begin;

	return count <= TOTAL ? TOTAL / seconds / 1e9 : 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fill)(uint8_t *into);
	} kinds[] = {{"text", fill_text}, {"JSON", fill_json}, {"random", fill_random}};
	static const char *const words[] = {
		"sk-ant-api03-Zx81jWkQ0vTn2m5r7YpLdE9hB4cKfU6aGsXo3iVq1wNzRtJbMyHgPeCl8",
		"ghp_0123456789abcdefABCDEFghijklmnopqrst",
		"sk-proj-4fKq29ZxW7tLm0PvB8yR3nHc",
		"AKIAIOSFODNN7EXAMPLE",
		"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"glpat-5xYz7WvUt3sRq9PoNm1L",
		"hf_QwErTyUiOpAsDfGhJkLzXcVbNm",
		"xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOHcbrzxgy"};
	/* As the gate knows them by their placeholders. */
	static const size_t known[] = {13, 4, 8, 4, 0, 6, 3, 5};
	static double got[ROUNDS_MAX];
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 15;
	uint8_t *bytes = malloc(TOTAL);
	bool held = true;

	rounds = rounds < 3 ? 3 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	if (!bytes)
		return 1;
	(void)printf("# looking through 16 MiB in pieces of 16 KiB, nothing found, %ld rounds\n"
		     "# %-8s %8s %12s %12s\n",
		     rounds, "", "secrets", "median GB/s", "best GB/s");
	for (size_t k = 0; k < BAWN_ARRAY_SIZE(kinds); k++) {
		kinds[k].fill(bytes);
		for (size_t count = 0; count <= 8; count = count ? count * 8 : 1) {
			struct span w[8];
			struct finder *f = NULL;

			for (size_t i = 0; i < count; i++)
				w[i] = span_of_str(words[i]);
			if (finder_new(w, w, known, count, &f) < 0)
				return 1;
			for (long i = 0; i < rounds; i++)
				got[i] = count ? through(f, bytes) : yardstick(bytes);
			qsort(got, (size_t)rounds, sizeof(double), compare);
			(void)printf("# %-8s %8s %12.2f %12.2f\n", kinds[k].name,
				     count == 0   ? "memchr"
				     : count == 1 ? "1"
						  : "8",
				     got[rounds / 2], got[rounds - 1]);
			held &= count != 1 || got[rounds - 1] >= 1.0;
			finder_free(f);
		}
	}
	(void)printf("%s 1 - scrub: with one secret, at least 1 GB/s when nothing is found\n1..1\n",
		     held ? "ok" : "not ok");
	free(bytes);
	return held ? 0 : 1;
}
