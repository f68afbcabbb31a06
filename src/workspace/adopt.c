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

/* --- the list of all ------------------------------------------------------------------- */

#define ADOPT_LIST ".folders"

enum { ADOPT_LIST_MAX = 16 << 20 };

/* A line of the list; said has a newline at its end. */
static void adopt_put(struct buf *into, const char *said, const char *name)
{
	buf_putf(into, "%.*s %s\n", (int)strcspn(said, "\n"), said, name);
}

/* Adds a line to a list that is there. */
static void adopt_list_add(int all, const char *said, const char *name)
{
	_cleanup_fd_ int fd = open_file(all, ADOPT_LIST, O_WRONLY | O_APPEND, 0);
	_cleanup_buf_ struct buf line = BUF_INIT(512);

	adopt_put(&line, said, name);
	if (fd >= 0 && buf_error(&line) == 0)
		(void)fd_write_all(fd, buf_str(&line), line.len);
}

/* Looks at every entry. */
static void adopt_list_make(int all, struct buf *into)
{
	_cleanup_dir_ DIR *dir = dir_open(all, ".", NULL);

	for (const struct dirent *d; (d = dir_next(dir, NULL));) {
		_cleanup_buf_ struct buf said = BUF_INIT(64);
		_cleanup_fd_ int entry =
			d->d_name[0] == '.' ? -ENOENT : layers_dir(all, d->d_name, false);

		if (entry >= 0 && layers_read_text(entry, "folder", &said) == 0)
			adopt_put(into, buf_str(&said), d->d_name);
	}
}

/* The lines of the list, behind its first one; it is made where there is none of this boot. */
static const char *adopt_list_get(int all, struct buf *list)
{
	_cleanup_buf_ struct buf boot = BUF_INIT(64);
	int r = fd_read_file_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &boot);
	const char *rest = r == 0 && boot.len > 0 && layers_read_text(all, ADOPT_LIST, list) == 0
				   ? str_after(buf_str(list), buf_str(&boot))
				   : NULL;

	if (rest)
		return rest;
	buf_clear(list);
	buf_put(list, boot.ptr, boot.len);
	adopt_list_make(all, list);
	/* If it cannot be written, the next one looks again. */
	if (boot.len > 0 && buf_error(list) == 0)
		(void)layers_replace(all, ADOPT_LIST, buf_span(list));
	return buf_str(list) + boot.len;
}

void adopt_note(int all, const char *name, int entry, const char *workspace)
{
	_cleanup_fd_ int tree = open_no_links(workspace, O_PATH | O_DIRECTORY);
	char said[64];

	adopt_say(tree, said);
	if (said[0] && !adopt_is(entry, said) &&
	    layers_replace(entry, "folder", span_of_str(said)) == 0)
		adopt_list_add(all, said, name);
}

/* --- who was it ------------------------------------------------------------------------ */

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

/* Takes this entry if it is of that very folder: 1, else 0. */
static int adopt_try(int all, const char *from, const char *said, const char *workspace,
		     const char *name, char ret_was[PATH_MAX])
{
	_cleanup_buf_ struct buf path = BUF_INIT(PATH_MAX);
	_cleanup_fd_ int entry = layers_dir(all, from, false);

	if (entry < 0 || !adopt_is(entry, said) || layers_read_text(entry, "path", &path) < 0)
		return 0;
	bool cut_off = str_equal(buf_str(&path), workspace);

	if (!cut_off && adopt_leads_there(buf_str(&path), said))
		return 0;
	if (adopt_take(all, from, entry, workspace, name) < 0)
		return 0;
	adopt_list_add(all, said, name);
	(void)snprintf(ret_was, PATH_MAX, "%s", cut_off ? "" : buf_str(&path));
	return 1;
}

int adopt_entry(int all, const char *workspace, const char *name, char ret_was[PATH_MAX])
{
	_cleanup_fd_ int tree = open_no_links(workspace, O_PATH | O_DIRECTORY);
	_cleanup_buf_ struct buf list = BUF_INIT(ADOPT_LIST_MAX);
	char said[64];

	adopt_say(tree, said);
	if (!said[0])
		return 0;
	const size_t len = strcspn(said, "\n");

	for (const char *line = adopt_list_get(all, &list); *line;) {
		const char *end = strchrnul(line, '\n');
		char from[NAME_MAX + 1];

		if (strncmp(line, said, len) == 0 && line[len] == ' ') {
			(void)snprintf(from, sizeof(from), "%.*s", (int)(end - line - len - 1),
				       line + len + 1);
			if (from[0] != '.' && !strchr(from, '/') &&
			    adopt_try(all, from, said, workspace, name, ret_was))
				return 1;
		}
		line = *end ? end + 1 : end;
	}
	return 0;
}
