/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled into every file of a build with mutants (tests/mutants/run): all of them are there, and
 * the one whose number stands behind the mark is the one that counts.  The number is written into
 * the file of the program, since a box gives its programs no environment that could say it.
 *
 * What is reached is noted in a file that every program maps, if there is one: BAWN_MUTANT_HITS,
 * a path, and BAWN_MUTANT_COUNT are given by the build.
 */
#ifndef BAWN_MUTANT_H
#define BAWN_MUTANT_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct bawn_mutant_state {
	char mark[16];
	volatile unsigned int number; /* 0: none */
};

__attribute__((weak)) struct bawn_mutant_state bawn_mutant_state = {"BAWN-MUTANT-HERE", 0};
__attribute__((weak)) volatile unsigned char *bawn_mutant_hits;
__attribute__((weak)) int bawn_mutant_tried;

__attribute__((constructor, used)) static void bawn_mutant_open(void)
{
	if (bawn_mutant_tried)
		return;
	bawn_mutant_tried = 1;
	int fd = open(BAWN_MUTANT_HITS, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	void *p = mmap(NULL, BAWN_MUTANT_COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	bawn_mutant_hits = p == MAP_FAILED ? NULL : (unsigned char *)p;
	(void)close(fd);
}

static inline int bawn_mutant(unsigned int number)
{
	if (bawn_mutant_hits)
		bawn_mutant_hits[number] = 1;
	return bawn_mutant_state.number == number;
}

#endif
