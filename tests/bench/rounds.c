/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rounds COUNT NAME COMMAND [ARGUMENT...] ::: NAME COMMAND [ARGUMENT...] ...
 *
 * Times commands from spawn to the end, interleaved: each round runs each of them
 * once, beginning one further along, so that what the machine does meanwhile falls
 * on all alike.  Prints "NAME NANOSECONDS" per run.  A command that does not end
 * with status 0 ends the measurement.
 *
 * Words "N<PATH" in front of a COMMAND open PATH as its descriptor N.
 */
#include "base.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CASES_MAX = 16, WARM_UP = 2 };

struct bench_case {
	const char *name;
	char **argv;
	posix_spawn_file_actions_t actions;
};

static uint64_t now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Reads "N<PATH"; false when the word is something else. */
static bool case_open(struct bench_case *c, const char *word)
{
	const char *less = strchr(word, '<');
	char digits[8] = "";
	uint64_t fd = 0;

	if (!less || (size_t)(less - word) >= sizeof(digits))
		return false;
	memcpy(digits, word, (size_t)(less - word));
	if (str_parse_u64(digits, &fd) < 0 || fd > 1023)
		return false;
	return posix_spawn_file_actions_addopen(&c->actions, (int)fd, less + 1, O_RDONLY, 0) == 0;
}

static bool case_init(struct bench_case *c, char **words)
{
	c->name = *words++;
	if (posix_spawn_file_actions_init(&c->actions) != 0)
		return false;
	for (int fd = 0; fd < 3; fd++)
		if (posix_spawn_file_actions_addopen(&c->actions, fd, "/dev/null", O_RDWR, 0) != 0)
			return false;
	while (*words && case_open(c, *words))
		words++;
	c->argv = words;
	return *words != NULL;
}

/* Nanoseconds, or 0 when it failed. */
static uint64_t case_run(const struct bench_case *c)
{
	uint64_t start = now();
	int status = 0;
	pid_t pid = 0;

	if (posix_spawnp(&pid, c->argv[0], &c->actions, NULL, c->argv, environ) != 0)
		return 0;
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 0;
	return now() - start;
}

static int measure(const struct bench_case *cases, size_t count, uint64_t rounds)
{
	for (uint64_t round = 0; round < rounds + WARM_UP; round++) {
		for (size_t i = 0; i < count; i++) {
			const struct bench_case *c = &cases[(i + round) % count];
			uint64_t took = case_run(c);

			if (took == 0) {
				(void)fprintf(stderr, "rounds: %s failed\n", c->name);
				return 1;
			}
			if (round >= WARM_UP)
				(void)printf("%s %llu\n", c->name, (unsigned long long)took);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct bench_case cases[CASES_MAX];
	size_t count = 0;
	uint64_t rounds = 0;

	if (argc < 4 || str_parse_u64(argv[1], &rounds) < 0)
		return 2;
	for (int i = 2; i < argc; i++) {
		char **words = argv + i;

		while (argv[i] && !str_equal(argv[i], ":::"))
			i++;
		argv[i] = NULL;
		if (count == CASES_MAX || !words[0] || !case_init(&cases[count++], words))
			return 2;
	}
	return measure(cases, count, rounds);
}
