/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over the files given, and over every file of the directories
 * given, as an ordinary test: what the fuzzer once found stays found with every
 * compiler.  A directory without a file is an error, so that the test cannot pass
 * by being empty.
 */
#include "base.h"
#include "buf.h"
#include "fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void dir_close(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

static int replay_file(int dir, const char *name)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(16u << 20);
	int r = fd_read_file_at(dir, name, &bytes);

	if (r < 0)
		return r;
	/* A copy of the exact size, so that a sanitizer sees a read past the end. */
	uint8_t *copy = malloc(bytes.len ? bytes.len : 1);

	if (!copy)
		return -ENOMEM;
	if (bytes.len > 0)
		memcpy(copy, bytes.ptr, bytes.len);
	(void)LLVMFuzzerTestOneInput(copy, bytes.len);
	free(copy);
	return 0;
}

static int replay_directory(const char *path)
{
	_cleanup_(dir_close) DIR *d = opendir(path);
	int count = 0;

	if (!d)
		return -errno;
	for (const struct dirent *entry; (entry = readdir(d));) {
		if (entry->d_name[0] == '.')
			continue;
		int r = replay_file(dirfd(d), entry->d_name);

		if (r < 0)
			return r;
		count++;
	}
	return count > 0 ? count : -ENOENT;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int r = replay_directory(argv[i]);

		if (r == -ENOTDIR)
			r = replay_file(AT_FDCWD, argv[i]);
		if (r < 0) {
			(void)fprintf(stderr, "%s: %s\n", argv[i], strerror(-r));
			return 1;
		}
		(void)printf("%s: taken\n", argv[i]);
	}
	return argc > 1 ? 0 : 2;
}
