/* SPDX-License-Identifier: Apache-2.0 */
#include "record_folder.h"

#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RECORD_FOLDER_TRIES = 100 };

/* The folder of all records, the user's alone. */
static int record_folder_all(const char *state_dir)
{
	_cleanup_fd_ int state = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (state < 0)
		return -errno;
	if (mkdirat(state, "record", 0700) < 0 && errno != EEXIST)
		return -errno;
	_cleanup_fd_ int all = open_beneath(state, "record", O_RDONLY | O_DIRECTORY, 0);

	if (all < 0)
		return all;
	if (fstat(all, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		return -EPERM;
	return TAKE_FD(all);
}

static int record_folder_own(int all, const char *session, char *ret_name)
{
	struct timespec now;
	struct tm utc;
	char second[32];

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (!gmtime_r(&now.tv_sec, &utc) ||
	    strftime(second, sizeof(second), "%Y%m%d-%H%M%S", &utc) == 0)
		return -EINVAL;
	for (int i = 1; i <= RECORD_FOLDER_TRIES; i++) {
		char again[8] = "";

		if (i > 1)
			(void)snprintf(again, sizeof(again), "-%d", i);
		int len = snprintf(ret_name, RECORD_FOLDER_NAME_MAX + 1, "%s-%s%s", second, session,
				   again);

		if (len < 0 || len > RECORD_FOLDER_NAME_MAX)
			return -ENAMETOOLONG;
		if (mkdirat(all, ret_name, 0700) == 0)
			return open_beneath(all, ret_name, O_RDONLY | O_DIRECTORY, 0);
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int record_folder_make(const char *state_dir, const char *session, struct record_folder *ret,
		       struct error *e)
{
	mode_t mask = umask(077);

	*ret = RECORD_FOLDER_INIT;
	ret->session = session;
	ret->all = record_folder_all(state_dir);
	if (ret->all >= 0)
		ret->own = record_folder_own(ret->all, session, ret->name);
	(void)umask(mask);
	int r = ret->all < 0 ? ret->all : ret->own;

	if (r >= 0)
		return 0;
	(void)error_sys(e, r, "cannot make a folder for the record in %s/record", state_dir);
	error_next(e, "%s",
		   r == -EPERM ? "It must be yours, and closed to others: chmod 700."
			       : "Make room there, or set XDG_STATE_HOME; --without record runs "
				 "without one.");
	return r;
}

void record_folder_fini(struct record_folder *f)
{
	fd_close(&f->own);
	fd_close(&f->all);
}
