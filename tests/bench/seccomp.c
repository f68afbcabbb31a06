/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What installing a system call filter costs at every start: ours, assembled as
 * a binary search over ranges, against the same allow list compiled by
 * libseccomp, plain and with its own tree.  The rules on arguments are left out
 * of libseccomp's (it cannot express them all), which only helps it.
 *
 * Each round forks, installs and ends, interleaved; medians and minimums.
 */
#include "process.h"
#include "profile.h"
#include "profile_table.h"

#include <linux/filter.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KINDS = 3, ROUNDS_MAX = 1000, BYTES_MAX = 64 << 10 };

struct candidate {
	const char *name;
	int optimise; /* libseccomp's level; 0: ours */
	struct span bpf;
	double micros[ROUNDS_MAX];
};

static struct span libseccomp_filter(uint32_t level)
{
	static uint8_t bytes[2][BYTES_MAX];
	uint8_t *into = bytes[level - 1];
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int fd = memfd_create("bpf", MFD_CLOEXEC);

	if (!ctx || fd < 0 || seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, level) < 0)
		return (struct span){NULL, 0};
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(profile_calls); i++) {
		int number = seccomp_syscall_resolve_name(profile_calls[i].name);

		if ((profile_calls[i].in & IN_BOX) && number >= 0)
			(void)seccomp_rule_add(ctx, SCMP_ACT_ALLOW, number, 0);
	}
	int r = seccomp_export_bpf(ctx, fd);
	ssize_t n = r < 0 ? -1 : pread(fd, into, BYTES_MAX, 0);

	seccomp_release(ctx);
	(void)close(fd);
	return (struct span){into, n > 0 ? (size_t)n : 0};
}

static double install_micros(struct span bpf)
{
	int ends[2];
	double micros = -1;

	if (pipe(ends) < 0)
		return -1;
	pid_t pid = fork();

	if (pid == 0) {
		struct timespec a;
		struct timespec b;

		(void)process_no_new_privs();
		(void)clock_gettime(CLOCK_MONOTONIC, &a);
		int r = process_filter(bpf);

		(void)clock_gettime(CLOCK_MONOTONIC, &b);
		micros =
			(double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3;
		if (r < 0 || write(ends[1], &micros, sizeof(micros)) < 0)
			_exit(1);
		_exit(0);
	}
	(void)close(ends[1]);
	if (pid < 0 || read(ends[0], &micros, sizeof(micros)) != (ssize_t)sizeof(micros))
		micros = -1;
	(void)close(ends[0]);
	(void)waitpid(pid, NULL, 0);
	return micros;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static struct candidate all[KINDS] = {
		{.name = "bawn, ranges", .optimise = 0},
		{.name = "libseccomp, tree", .optimise = 2},
		{.name = "libseccomp, plain", .optimise = 1},
	};
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 200;

	rounds = rounds < 3 ? 3 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	for (size_t k = 0; k < KINDS; k++) {
		all[k].bpf = all[k].optimise ? libseccomp_filter((uint32_t)all[k].optimise)
					     : profile_bpf(PROFILE_BOX);
		if (all[k].bpf.len == 0)
			return 1;
	}
	for (long i = 0; i < rounds; i++)
		for (size_t k = 0; k < KINDS; k++) {
			all[k].micros[i] = install_micros(all[k].bpf);
			if (all[k].micros[i] < 0)
				return 1;
		}
	(void)printf("# installing the filter, %ld rounds, interleaved\n", rounds);
	(void)printf("# %-20s %12s %10s %10s\n", "", "instructions", "median us", "min us");
	for (size_t k = 0; k < KINDS; k++) {
		qsort(all[k].micros, (size_t)rounds, sizeof(double), compare);
		(void)printf("# %-20s %12zu %10.0f %10.0f\n", all[k].name,
			     all[k].bpf.len / sizeof(struct sock_filter), all[k].micros[rounds / 2],
			     all[k].micros[0]);
	}
	bool held = all[0].micros[0] <= all[1].micros[0];

	(void)printf("%s 1 - seccomp: our filter installs no slower than libseccomp's\n1..1\n",
		     held ? "ok" : "not ok");
	return held ? 0 : 1;
}
