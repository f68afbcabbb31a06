/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two looks at a workspace cost: the walk, and the comparison of two manifests.
 *
 *	bench_compare FOLDER [TIMES]
 */
#include "compare.h"

#include "fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int measure(int root)
{
	_cleanup_manifest_ struct manifest before = {0}, after = {0};
	_cleanup_compare_ struct compare c = {0};
	double start = now();

	if (manifest_init(&before, root, INT64_MAX) < 0 ||
	    manifest_init(&after, root, INT64_MAX) < 0)
		return 1;
	while (manifest_step(&before))
		continue;
	double walked = now();

	while (manifest_step(&after))
		continue;
	double again = now();

	if (compare_init(&c, &before, &after, true) < 0 || compare_run(&c) < 0)
		return 1;
	double compared = now();
	double bytes = (double)before.head->count * sizeof(struct manifest_entry);

	(void)printf("%u entries, %.1f MB: first look %.3f s, second %.3f s, compared %.3f s\n",
		     before.head->count, (bytes + before.head->names) / 1e6, walked - start,
		     again - walked, compared - again);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long times = argc > 2 ? strtoul(argv[2], NULL, 10) : 3;
	_cleanup_fd_ int root = argc > 1 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (root < 0)
		return 2;
	for (unsigned long i = 0; i < times; i++)
		if (measure(root) != 0)
			return 1;
	return 0;
}
