/* SPDX-License-Identifier: Apache-2.0 */
#include "record_folder.h"

#include "fd.h"
#include "home_store.h"
#include "open.h"

#include <fcntl.h>
#include <sys/stat.h>

#define RECORD_FOLDER "record"

int record_folder_open(const struct host *h, bool create, struct arena *arena, struct error *e)
{
	_cleanup_fd_ int state = home_store_state(h, create, arena, e);

	if (state < 0)
		return state;
	if (create && mkdirat(state, RECORD_FOLDER, 0700) < 0 && errno != EEXIST)
		return error_sys(e, -errno, "cannot make %s/" RECORD_FOLDER, h->state_dir);
	_cleanup_fd_ int fd = open_beneath(state, RECORD_FOLDER, O_RDONLY | O_DIRECTORY, 0);
	struct stat st;

	if (fd == -ENOENT && !create)
		return fd;
	if (fd < 0)
		return error_sys(e, fd, "cannot open %s/" RECORD_FOLDER, h->state_dir);
	if (fstat(fd, &st) < 0)
		return error_sys(e, -errno, "cannot look at %s/" RECORD_FOLDER, h->state_dir);
	if (st.st_uid != h->uid || (st.st_mode & 077) != 0) {
		int r = error_set(e, -EPERM,
				  "%s/" RECORD_FOLDER " is not yours alone (owner %u, mode %04o)",
				  h->state_dir, st.st_uid, st.st_mode & 07777);

		error_next(e, "chmod 700 %s/" RECORD_FOLDER, h->state_dir);
		return r;
	}
	return TAKE_FD(fd);
}
