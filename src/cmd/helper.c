/* SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

#include "config.h"
#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { HELPER_BYTES_MAX = 64 << 20 };

int helper_path(const char *name, char *ret_path, size_t size)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(self, '/');

	if (slash)
		*slash = '\0';
	const char *last = strrchr(self, '/');
	const struct {
		const char *dir;
		size_t len;
		const char *below;
	} places[] = {
		{self, strlen(self), ""},
		{self, last ? (size_t)(last - self) : 0, "/libexec/bawn"},
		{BAWN_LIBEXEC_DIR, strlen(BAWN_LIBEXEC_DIR), ""},
	};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(places); i++) {
		int len = snprintf(ret_path, size, "%.*s%s/%s", (int)places[i].len, places[i].dir,
				   places[i].below, name);

		if (len > 0 && (size_t)len < size && access(ret_path, X_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

int helper_version(const char *path, char *ret_version, size_t size)
{
	_cleanup_buf_ struct buf file = BUF_INIT(HELPER_BYTES_MAX);
	int r = fd_read_file_at(AT_FDCWD, path, &file);

	if (r < 0)
		return r;
	const char *at = memmem(buf_str(&file), file.len, HELPER_MARK, sizeof(HELPER_MARK) - 1);

	if (!at)
		return -ENOMSG;
	/* The buffer ends in a NUL, so this stops at the latest there. */
	(void)snprintf(ret_version, size, "%.32s", at + sizeof(HELPER_MARK) - 1);
	return 0;
}
