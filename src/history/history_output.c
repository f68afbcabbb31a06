/* SPDX-License-Identifier: Apache-2.0 */
#include "history_output.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* One process writes one file: the verb finds here what was opened before it began. */
static struct {
	const char *path; /* as the user gave it; NULL: standard output */
	int fd;
	int ask, answer; /* pipes to the child; -1: no file needs a name */
} output = {.fd = -1, .ask = -1, .answer = -1};

/* What the child knows: a folder, the name while it is written, and its final name. */
struct output_place {
	int dir;
	char part[NAME_MAX + 8];
	const char *name;
};

/* --- the child ------------------------------------------------------------------------ */

static int output_name_it(const struct output_place *p, bool good)
{
	int r = 0;

	if (good && !str_equal(p->part, p->name) && renameat(p->dir, p->part, p->dir, p->name) < 0)
		r = -errno;
	if (!good || r < 0)
		(void)unlinkat(p->dir, p->part, 0);
	/* If the folder cannot be read, it cannot be synced either. */
	_cleanup_fd_ int again = openat(p->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return r == 0 && good && again >= 0 && fsync(again) < 0 ? -errno : r;
}

/* Waits for a byte: 1 is good; everything else, also the end, is not. */
_Noreturn static void output_child(const struct output_place *p, int ask, int answer)
{
	char word = 0;
	ssize_t n;

	/* A signal from the terminal that ends the other does not end this one: it removes what is
	 * left. */
	(void)setsid();
	while ((n = read(ask, &word, 1)) < 0 && errno == EINTR)
		;
	int r = output_name_it(p, n == 1 && word == 1);

	(void)!write(answer, &r, sizeof(r));
	_exit(0);
}

static int output_fork(const struct output_place *p)
{
	int ask[2], answer[2];

	if (pipe2(ask, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(answer, O_CLOEXEC) < 0) {
		int r = -errno;

		(void)close(ask[0]);
		(void)close(ask[1]);
		return r;
	}
	pid_t pid = fork();
	int r = pid < 0 ? -errno : 0;

	if (pid == 0) {
		(void)close(ask[1]);
		(void)close(answer[0]);
		output_child(p, ask[0], answer[1]);
	}
	(void)close(ask[0]);
	(void)close(answer[1]);
	output.ask = ask[1];
	output.answer = answer[0];
	return r;
}

/* --- the process ---------------------------------------------------------------------- */

/* Finds the folder, and the name in it. */
static int output_find(const char *path, bool replaces, struct output_place *ret)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int len = snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1,
			   slash ? path : ".");

	if (len < 0 || (size_t)len >= sizeof(folder))
		return -ENAMETOOLONG;
	ret->name = slash ? slash + 1 : path;
	len = snprintf(ret->part, sizeof(ret->part), "%s%s", ret->name, replaces ? ".part" : "");
	if (len < 0 || (size_t)len >= sizeof(ret->part))
		return -ENAMETOOLONG;
	ret->dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ret->dir < 0 ? -errno : 0;
}

static int output_open(const char *path, bool replaces)
{
	struct output_place p = {.dir = -1};
	struct stat st;

	if (replaces && stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		output.fd = open(path, O_WRONLY | O_CLOEXEC);
		return output.fd < 0 ? -errno : 0;
	}
	int r = output_find(path, replaces, &p);
	_cleanup_fd_ int dir = p.dir;

	if (r < 0)
		return r;
	output.fd = openat(
		dir, p.part,
		O_WRONLY | O_CREAT | (replaces ? O_TRUNC : O_EXCL) | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (output.fd < 0)
		return -errno;
	r = output_fork(&p);
	if (r < 0)
		(void)unlinkat(dir, p.part, 0);
	return r;
}

int history_output_prepare(const struct invocation *i, struct error *e)
{
	const char *path = invocation_value(i, OPTION_TO);
	bool replaces = path && str_equal(i->arguments[0], "export");

	if (!path)
		return 0;
	int r = output_open(path, replaces);

	output.path = path;
	return r < 0 ? error_sys(e, r, replaces ? "writing %s" : "cannot make %s", path) : 0;
}

int history_output_fd(void)
{
	return output.path ? output.fd : STDOUT_FILENO;
}

int history_output_close(int r, struct error *e)
{
	int code = 0, named = -EIO;
	char good;

	if (output.fd < 0)
		return r;
	if (r >= 0 && output.ask >= 0 && fsync(output.fd) < 0)
		code = -errno;
	good = r >= 0 && code == 0;
	fd_close(&output.fd);
	if (output.ask >= 0) {
		if (fd_write_all(output.ask, &good, 1) < 0 ||
		    read(output.answer, &named, sizeof(named)) != sizeof(named))
			named = -EIO;
		fd_close(&output.ask);
		fd_close(&output.answer);
		code = code ? code : named;
	}
	if (r < 0 || code == 0)
		return r;
	return error_sys(e, code, "writing %s", output.path);
}
