/* SPDX-License-Identifier: Apache-2.0 */
/* Not in feature.c, because one file cannot include both <linux/fs.h> and <sys/mount.h>. */
#include "feature.h"

#include "fd.h"
#include "subvolume.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether files share blocks: tries it with two files without names, and one block. */
static bool feature_shares(const char *folder)
{
	static const char block[4096] = {1};
	_cleanup_fd_ int from = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	_cleanup_fd_ int to = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return from >= 0 && to >= 0 && fd_write_all(from, block, sizeof(block)) == 0 &&
	       ioctl(to, FICLONE, from) == 0;
}

enum feature_copies feature_copies(const char *folder)
{
	static const char name[] = ".copies";
	_cleanup_fd_ int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum feature_copies found =
		feature_shares(folder) ? FEATURE_COPIES_SHARED : FEATURE_COPIES_APART;

	if (found == FEATURE_COPIES_SHARED && mkdirat(dir, name, 0700) == 0) {
		if (subvolume_can_go(dir, name))
			found = FEATURE_COPIES_SNAPSHOT;
		(void)unlinkat(dir, name, AT_REMOVEDIR);
	}
	return found;
}
