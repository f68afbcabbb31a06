/* SPDX-License-Identifier: Apache-2.0 */
#include "record_folder.h"

#include "clock.h"
#include "fd.h"
#include "home_store.h"
#include "open.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RECORD_FOLDER "record"

enum { RECORD_FOLDER_TRIES = 100 };

/* Opens RECORD_FOLDER in the folder `state` (its path is state_dir).  Only the user may have
 * access.  The descriptor, or -errno. */
static int record_folder_in(int state, const char *state_dir, bool create, struct error *e)
{
	if (create && mkdirat(state, RECORD_FOLDER, 0700) < 0 && errno != EEXIST)
		return error_sys(e, -errno, "cannot make %s/" RECORD_FOLDER, state_dir);
	_cleanup_fd_ int fd = open_beneath(state, RECORD_FOLDER, O_RDONLY | O_DIRECTORY, 0);
	struct stat st;

	if (fd == -ENOENT && !create)
		return fd;
	if (fd < 0)
		return error_sys(e, fd, "cannot open %s/" RECORD_FOLDER, state_dir);
	if (fstat(fd, &st) < 0)
		return error_sys(e, -errno, "cannot look at %s/" RECORD_FOLDER, state_dir);
	if (st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
		int r = error_set(e, -EPERM,
				  "%s/" RECORD_FOLDER " is not yours alone (owner %u, mode %04o)",
				  state_dir, st.st_uid, st.st_mode & 07777);

		error_next(e, "chmod 700 %s/" RECORD_FOLDER, state_dir);
		return r;
	}
	return TAKE_FD(fd);
}

int record_folder_open(const struct host *h, bool create, struct arena *arena, struct error *e)
{
	_cleanup_fd_ int state = home_store_state(h, create, arena, e);

	return state < 0 ? state : record_folder_in(state, h->state_dir, create, e);
}

/* Makes a new folder and locks it before it gets its final name: whoever finds it by that name sees
 * that somebody works on it.  The descriptor, or -errno. */
static int record_folder_locked(int all, char name[RECORD_FOLDER_NAME_MAX + 1])
{
	(void)snprintf(name, RECORD_FOLDER_NAME_MAX + 1, ".new-%ld-%ld", (long)getpid(),
		       (long)(clock_ns(CLOCK_MONOTONIC) % CLOCK_SECOND));
	if (mkdirat(all, name, 0700) < 0)
		return -errno;
	_cleanup_fd_ int fd = open_beneath(all, name, O_RDONLY | O_DIRECTORY, 0);
	int r = fd < 0 ? fd : flock(fd, LOCK_EX) < 0 ? -errno : 0;

	if (r < 0)
		(void)unlinkat(all, name, AT_REMOVEDIR);
	return r < 0 ? r : TAKE_FD(fd);
}

static int record_folder_own(int all, const char *session, char *ret_name)
{
	char made[RECORD_FOLDER_NAME_MAX + 1];
	time_t now = (time_t)clock_s(CLOCK_REALTIME);
	struct tm utc;
	char second[32];

	if (!gmtime_r(&now, &utc) || strftime(second, sizeof(second), "%Y%m%d-%H%M%S", &utc) == 0)
		return -EINVAL;
	_cleanup_fd_ int own = record_folder_locked(all, made);
	int r = own < 0 ? own : -EEXIST;

	for (int i = 1; r == -EEXIST && i <= RECORD_FOLDER_TRIES; i++) {
		char again[8] = "";

		if (i > 1)
			(void)snprintf(again, sizeof(again), "-%d", i);
		int len = snprintf(ret_name, RECORD_FOLDER_NAME_MAX + 1, "%s-%s%s", second, session,
				   again);

		if (len < 0 || len > RECORD_FOLDER_NAME_MAX)
			r = -ENAMETOOLONG;
		else
			r = renameat2(all, made, all, ret_name, RENAME_NOREPLACE) < 0 ? -errno : 0;
		/* A filesystem without RENAME_NOREPLACE: make an empty folder, which a plain rename
		 * replaces. */
		if (r == -EINVAL)
			r = mkdirat(all, ret_name, 0700) < 0 ||
					    renameat(all, made, all, ret_name) < 0
				    ? -errno
				    : 0;
	}
	if (r == 0)
		return TAKE_FD(own);
	if (own >= 0)
		(void)unlinkat(all, made, AT_REMOVEDIR);
	return r;
}

int record_folder_make(const char *state_dir, const char *session, struct record_folder *ret,
		       struct error *e)
{
	mode_t mask = umask(077);
	_cleanup_fd_ int state = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	*ret = RECORD_FOLDER_INIT;
	ret->session = session;
	ret->all = state < 0 ? error_sys(e, -errno, "cannot open %s", state_dir)
			     : record_folder_in(state, state_dir, true, e);
	if (ret->all >= 0)
		ret->own = record_folder_own(ret->all, session, ret->name);
	(void)umask(mask);
	if (ret->all >= 0 && ret->own < 0)
		(void)error_sys(e, ret->own, "cannot make a folder in %s/" RECORD_FOLDER,
				state_dir);
	int r = ret->all < 0 ? ret->all : ret->own;

	if (r < 0 && !e->next[0])
		error_next(e, "Make room there, or set XDG_STATE_HOME; --without record runs "
			      "without one.");
	return r < 0 ? r : 0;
}

int record_folder_say_changed(const char *state_dir, const char *name, struct span words)
{
	struct error e = ERROR_INIT;
	_cleanup_fd_ int state = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_fd_ int all = state < 0 ? -errno : record_folder_in(state, state_dir, false, &e);
	_cleanup_fd_ int own =
		all < 0 ? all : openat(all, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return own < 0 ? -errno
		       : fd_replace_at(own, RECORD_FOLDER_CHANGED, ".changed", words, 0600);
}

void record_folder_fini(struct record_folder *f)
{
	fd_close(&f->own);
	fd_close(&f->all);
}
