/* SPDX-License-Identifier: Apache-2.0 */
#include "tool.h"

#include "clean_path.h"
#include "fd.h"
#include "git_config.h"
#include "pager.h"
#include "str.h"
#include "tree.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOOL_COMMAND_MAX = 8192, TOOL_NAME_MAX = 64, TOOL_CONFIG_MAX = 1 << 20 };

/* The one tool of this process. */
static struct {
	pid_t pid;
	int go; /* gets a name for each pair of files; its end means that this is all */
	int folder;
	char path[PATH_MAX]; /* of the folder */
} tool_own = {.go = -1, .folder = -1};

/* --- which one --------------------------------------------------------------------------- */

struct tool_choice {
	char name[TOOL_NAME_MAX];
	char command[TOOL_COMMAND_MAX];
	bool folders; /* it takes both folders at once */
};

/* Tools that git knows, too, with the arguments that they take. */
static const struct {
	const char *name, *command;
	bool folders;
} tool_known[] = {
	{"meld", "meld \"$LOCAL\" \"$REMOTE\"", true},
	{"kdiff3", "kdiff3 \"$LOCAL\" \"$REMOTE\"", true},
	{"bcompare", "bcompare \"$LOCAL\" \"$REMOTE\"", true},
	{"bc", "bcompare \"$LOCAL\" \"$REMOTE\"", true},
	{"diffuse", "diffuse \"$LOCAL\" \"$REMOTE\"", false},
	{"kompare", "kompare \"$LOCAL\" \"$REMOTE\"", true},
	{"vimdiff", "vim -R -d \"$LOCAL\" \"$REMOTE\"", false},
	{"nvimdiff", "nvim -R -d \"$LOCAL\" \"$REMOTE\"", false},
	{"emerge", "emacs -f emerge-files-command \"$LOCAL\" \"$REMOTE\"", false},
	{"vscode", "code --wait --diff \"$LOCAL\" \"$REMOTE\"", false},
};

/* Reads a settings file: first for the name, then for that tool's command. */
static void tool_read_config(const char *path, struct tool_choice *c, bool command)
{
	_cleanup_buf_ struct buf text = BUF_INIT(TOOL_CONFIG_MAX);
	_cleanup_free_ struct git_config *g = calloc(1, sizeof(*g));

	if (!g || fd_read_file_at(AT_FDCWD, path, &text) < 0)
		return;
	g->left = buf_span(&text);
	while (git_config_next(g) > 0) {
		if (!command && str_equal(g->section, "diff") && !g->has_subsection &&
		    str_equal(g->key, "tool"))
			(void)snprintf(c->name, sizeof(c->name), "%.*s", TOOL_NAME_MAX - 1,
				       g->value);
		if (command && str_equal(g->section, "difftool") && g->has_subsection &&
		    str_equal(g->subsection, c->name) && str_equal(g->key, "cmd"))
			(void)snprintf(c->command, sizeof(c->command), "%s", g->value);
	}
}

static void tool_from_git(struct tool_choice *c)
{
	const char *global = getenv("GIT_CONFIG_GLOBAL"), *home = getenv("HOME");
	const char *xdg = getenv("XDG_CONFIG_HOME"), *machine = getenv("GIT_CONFIG_SYSTEM");
	char files[3][PATH_MAX] = {"", "", ""};

	(void)snprintf(files[0], PATH_MAX, "%s", machine ? machine : "/etc/gitconfig");
	if (global) {
		(void)snprintf(files[1], PATH_MAX, "%s", global);
	} else if (home) {
		(void)snprintf(files[1], PATH_MAX, "%s%s", xdg && *xdg ? xdg : home,
			       xdg && *xdg ? "/git/config" : "/.config/git/config");
		(void)snprintf(files[2], PATH_MAX, "%s/.gitconfig", home);
	}
	for (size_t n = 0; n < 2 * BAWN_ARRAY_SIZE(files); n++)
		if (files[n % BAWN_ARRAY_SIZE(files)][0] == '/')
			tool_read_config(files[n % BAWN_ARRAY_SIZE(files)], c,
					 n >= BAWN_ARRAY_SIZE(files));
}

static int tool_choose(struct tool_choice *c, struct error *e)
{
	const char *own = getenv("BAWN_DIFF_TOOL");

	*c = (struct tool_choice){.name = ""};
	if (own && *own) {
		c->folders = true;
		return snprintf(c->command, sizeof(c->command), "%s \"$LOCAL\" \"$REMOTE\"", own) <
				       (int)sizeof(c->command)
			       ? 0
			       : error_set(e, -E2BIG, "$BAWN_DIFF_TOOL is too long");
	}
	tool_from_git(c);
	for (size_t i = 0; !c->command[0] && i < BAWN_ARRAY_SIZE(tool_known); i++)
		if (str_equal(c->name, tool_known[i].name)) {
			(void)snprintf(c->command, sizeof(c->command), "%s", tool_known[i].command);
			c->folders = tool_known[i].folders;
		}
	if (c->command[0])
		return 0;
	int r = c->name[0] ? error_set(e, -ENOENT, "bawn does not know the tool '%s'", c->name)
			   : error_set(e, -ENOENT, "no tool for differences is set");

	error_next(e,
		   "Set BAWN_DIFF_TOOL to a command that takes two folders, or diff.tool in your "
		   "~/.gitconfig. A repository's own settings do not count.");
	return r;
}

/* --- the process that becomes it ----------------------------------------------------------- */

static void tool_run(const struct tool_choice *c, const char *name)
{
	char side[2][TOOL_NAME_MAX + 8];

	(void)snprintf(side[0], sizeof(side[0]), "before%s%s", *name ? "/" : "", name);
	(void)snprintf(side[1], sizeof(side[1]), "after%s%s", *name ? "/" : "", name);
	pid_t pid = fork();

	if (pid == 0) {
		if (setenv("LOCAL", side[0], 1) == 0 && setenv("REMOTE", side[1], 1) == 0 &&
		    setenv("MERGED", side[1], 1) == 0)
			(void)execl("/bin/sh", "sh", "-c", c->command, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* Waits for names, one on each line, and shows each pair.  It never returns. */
static void tool_wait(const struct tool_choice *c, const char *path, int names)
{
	FILE *lines = fdopen(names, "r");
	char name[TOOL_NAME_MAX];
	size_t count = 0;

	if (!lines || !path || setenv("PATH", path, 1) < 0 || fchdir(tool_own.folder) < 0)
		_exit(127);
	while (fgets(name, sizeof(name), lines)) {
		name[strcspn(name, "\n")] = '\0';
		count++;
		if (!c->folders)
			tool_run(c, name);
	}
	if (c->folders && count > 0)
		tool_run(c, "");
	_exit(0);
}

static int tool_make_folder(struct error *e)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	struct stat st;
	bool own = run && run[0] == '/' && stat(run, &st) == 0 && st.st_uid == getuid() &&
		   (st.st_mode & 0077) == 0;

	(void)snprintf(tool_own.path, sizeof(tool_own.path), "%s/bawn-diff-XXXXXX",
		       own ? run : "/tmp");
	if (!mkdtemp(tool_own.path)) {
		tool_own.path[0] = '\0';
		return error_sys(e, -errno, "cannot make a folder for the tool");
	}
	tool_own.folder = open(tool_own.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (tool_own.folder < 0 || mkdirat(tool_own.folder, "before", 0700) < 0 ||
	    mkdirat(tool_own.folder, "after", 0700) < 0)
		return error_sys(e, -errno, "cannot make a folder for the tool");
	return 0;
}

int tool_begin(const struct invocation *i, struct error *e)
{
	struct tool_choice c;
	char here[PATH_MAX];
	int ends[2];

	if (!str_equal(i->verb->name, "diff") || !invocation_has(i, OPTION_TOOL))
		return 0;
	int r = tool_choose(&c, e);

	_cleanup_free_ char *clean = r == 0 && pager_here(i, here) ? clean_path_now(here) : NULL;

	if (r == 0 && !clean)
		r = error_set(e, -ENOENT, "there is no PATH to find the tool by");
	if (r == 0)
		r = tool_make_folder(e);
	if (r < 0)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(e, -errno, "cannot start the tool");
	tool_own.pid = fork();
	if (tool_own.pid == 0) {
		(void)close(ends[1]);
		tool_wait(&c, clean, ends[0]);
	}
	/* A key for the tool is not for us: we remove the folder when the tool has ended. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)close(ends[0]);
	tool_own.go = ends[1];
	return tool_own.pid < 0 ? error_sys(e, -errno, "cannot start the tool") : 0;
}

/* --- files --------------------------------------------------------------------------------- */

/* Writes "0007-main.c": nothing that a shell or a tool could misread. */
static void tool_name(size_t number, const char *path, char ret[TOOL_NAME_MAX])
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	int at = snprintf(ret, TOOL_NAME_MAX, "%04zu-%.40s", number, last);

	for (int i = 0; i < at && ret[i]; i++)
		if (!isalnum((unsigned char)ret[i]) && !strchr("._-", ret[i]))
			ret[i] = '_';
}

static int tool_put(const struct diff *d, const struct change *c, enum change_side side,
		    const char *name)
{
	const struct object *o = side == CHANGE_BEFORE ? &c->before : &c->after;
	_cleanup_buf_ struct buf text = BUF_INIT(CONTENT_TEXT_MAX);
	char path[TOOL_NAME_MAX + 8];

	(void)snprintf(path, sizeof(path), "%s/%s", side == CHANGE_BEFORE ? "before" : "after",
		       name);
	_cleanup_fd_ int out =
		openat(tool_own.folder, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (out < 0)
		return -errno;
	/* A link becomes a file with its target, and leads nowhere. */
	if (o->type == OBJECT_LINK)
		buf_put_str(&text, o->link);
	if (o->type != OBJECT_FILE)
		return fd_write_all(out, buf_str(&text), text.len);
	_cleanup_fd_ int in = changes_open(&d->view, c, side);
	int r = in < 0 ? in : fd_read_all(in, &text);

	/* A file that is too large, or cannot be read, is empty here. */
	return r < 0 ? 0 : fd_write_all(out, buf_str(&text), text.len);
}

int tool_show(struct diff *d, struct error *e)
{
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < d->changes.count; i++) {
		const struct change c = folding_joined(&d->folding, &d->changes, i);
		char name[TOOL_NAME_MAX], line[TOOL_NAME_MAX + 1];

		if (d->folding.fates[i] != DIFF_SHOWN || !folding_is_file(&c))
			continue;
		tool_name(++count, c.path, name);
		r = tool_put(d, &c, CHANGE_BEFORE, name);
		if (r == 0)
			r = tool_put(d, &c, CHANGE_AFTER, name);
		(void)snprintf(line, sizeof(line), "%s\n", name);
		if (r == 0)
			r = fd_write_all(tool_own.go, line, strlen(line));
		/* A person who left the tool has seen enough. */
		if (r == -EPIPE)
			break;
	}
	fd_close(&tool_own.go);
	while (tool_own.pid > 0 && waitpid(tool_own.pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	tool_own.pid = 0;
	return r < 0 && r != -EPIPE ? error_sys(e, r, "cannot write the files for the tool") : 0;
}

void tool_end(void)
{
	fd_close(&tool_own.go);
	while (tool_own.pid > 0 && waitpid(tool_own.pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	fd_close(&tool_own.folder);
	char *name = strrchr(tool_own.path, '/');

	if (!name)
		return;
	*name++ = '\0';
	_cleanup_fd_ int dir = open(tool_own.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir >= 0)
		(void)tree_remove(dir, name);
}
