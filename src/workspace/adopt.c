/* SPDX-License-Identifier: Apache-2.0 */
#include "adopt.h"

#include "dir.h"
#include "fd.h"
#include "layers_parts.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes "INODE MARK\n" of a folder; "" if we cannot know it: without the time of its birth the
 * number may be another folder's by now. */
static void adopt_say(int tree, char into[64])
{
	struct layers_session s = {.name = ""};
	struct stat st;

	into[0] = '\0';
	if (tree >= 0 && layers_session_mark(&s, tree) == 0 && fstat(tree, &st) == 0 &&
	    s.dev != st.st_dev)
		(void)snprintf(into, 64, "%" PRIu64 " %" PRIu64 "\n", s.ino, s.dev);
}

static bool adopt_is(int entry, const char *said)
{
	_cleanup_buf_ struct buf text = BUF_INIT(64);

	return said[0] && layers_read_text(entry, "folder", &text) == 0 &&
	       str_equal(buf_str(&text), said);
}

void adopt_note(int entry, const char *workspace)
{
	_cleanup_fd_ int tree = open_no_links(workspace, O_PATH | O_DIRECTORY);
	char said[64];

	adopt_say(tree, said);
	if (said[0] && !adopt_is(entry, said))
		(void)layers_replace(entry, "folder", span_of_str(said));
}

/* A box of it runs, and has locked its session's folder. */
static bool adopt_runs(int entry)
{
	_cleanup_dir_ DIR *dir = dir_read(layers_dir(entry, "sessions", false), NULL);

	for (const struct dirent *d; (d = dir_next(dir, NULL));) {
		_cleanup_fd_ int one = layers_dir(dirfd(dir), d->d_name, false);

		if (one >= 0 && flock(one, LOCK_SH | LOCK_NB) < 0)
			return true;
	}
	return false;
}

/* The path still leads to the folder: then the folder has two names, and was not renamed. */
static bool adopt_leads_there(const char *path, const char *said)
{
	_cleanup_fd_ int tree = open_no_links(path, O_PATH | O_DIRECTORY);
	char is[64];

	adopt_say(tree, is);
	return str_equal(is, said);
}

/* Writes the path first.  If it is cut short here, the entry is found by the path, and gets its
 * name. */
static int adopt_take(int all, const char *from, int entry, const char *workspace, const char *name)
{
	_cleanup_fd_ int lock = open_file(entry, "lock", O_RDWR | O_CREAT, 0600);

	while (lock >= 0 && flock(lock, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	if (lock < 0 || adopt_runs(entry))
		return -EBUSY;
	_cleanup_buf_ struct buf was = BUF_INIT(PATH_MAX);
	int r = layers_read_text(entry, "path", &was);

	if (r == 0)
		r = layers_replace(entry, "path", span_of_str(workspace));
	if (r == 0 && renameat2(all, from, all, name, RENAME_NOREPLACE) < 0) {
		r = -errno;
		/* Back to the old path, so that it is found by that. */
		(void)layers_replace(entry, "path", buf_span(&was));
	}
	return r;
}

int adopt_entry(int all, const char *workspace, const char *name, char ret_was[PATH_MAX])
{
	_cleanup_fd_ int tree = open_no_links(workspace, O_PATH | O_DIRECTORY);
	_cleanup_dir_ DIR *dir = dir_open(all, ".", NULL);
	char said[64];

	adopt_say(tree, said);
	for (const struct dirent *d; said[0] && (d = dir_next(dir, NULL));) {
		_cleanup_buf_ struct buf path = BUF_INIT(PATH_MAX);
		_cleanup_fd_ int entry =
			d->d_name[0] == '.' ? -ENOENT : layers_dir(all, d->d_name, false);

		if (entry < 0 || !adopt_is(entry, said) ||
		    layers_read_text(entry, "path", &path) < 0)
			continue;
		bool cut_off = str_equal(buf_str(&path), workspace);

		if (!cut_off && adopt_leads_there(buf_str(&path), said))
			continue;
		if (adopt_take(all, d->d_name, entry, workspace, name) < 0)
			continue;
		(void)snprintf(ret_was, PATH_MAX, "%s", cut_off ? "" : buf_str(&path));
		return 1;
	}
	return 0;
}
