/* SPDX-License-Identifier: Apache-2.0 */
#include "shared.h"

#include "fd.h"
#include "open.h"
#include "settle.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* STATE of STATE/workspaces/NAME. */
static void shared_state(const struct layers *l, char ret[PATH_MAX])
{
	(void)snprintf(ret, PATH_MAX, "%s", l->path);
	for (int parts = 0; parts < 2; parts++) {
		char *slash = strrchr(ret, '/');

		if (slash)
			*slash = '\0';
	}
}

/* The folder of the repository that the worktree has now, by its file .git; false: none is said. */
static bool shared_said(const char *workspace, char ret[PATH_MAX])
{
	static const char lead[] = "gitdir: ", middle[] = "/.git/worktrees/";
	_cleanup_buf_ struct buf text = BUF_INIT(PATH_MAX);
	_cleanup_fd_ int tree = open_no_links(workspace, O_PATH | O_DIRECTORY);
	char path[2 * PATH_MAX];

	if (tree < 0 || fd_read_file_at(tree, ".git", &text) < 0)
		return false;
	const char *said = str_after(buf_str(&text), lead);
	const char *end = said ? strstr(said, middle) : NULL;

	if (!end || end == said || strchr(end + sizeof(middle) - 1, '/'))
		return false;
	/* Newer ones can be written as they lie to each other. */
	int n = snprintf(path, sizeof(path), "%s%s%.*s", *said == '/' ? "" : workspace,
			 *said == '/' ? "" : "/", (int)(end - said), said);

	return n > 0 && (size_t)n < sizeof(path) && realpath(path, ret);
}

/* Looks for the second one in this folder: 1, 0 or -errno. */
static int shared_find_in(int state, const char *state_path, const char *folder, const char *name,
			  struct layers *ret, struct layers_session *ret_session, struct error *e)
{
	int r = layers_open(state, state_path, folder, false, ret, e);

	if (r == 0)
		r = layers_session_read(ret, name, ret_session, e);
	if (r == 0 && ret_session->linked[0])
		return 1;
	layers_close(ret);
	if (r < 0 && r != -ENOENT)
		return r;
	*e = ERROR_INIT;
	return 0;
}

int shared_find(const struct layers *l, const struct layers_session *s, struct layers *ret,
		struct layers_session *ret_session, struct error *e)
{
	_cleanup_layers_ struct layers found = LAYERS_INIT;
	char path[PATH_MAX], now[PATH_MAX];

	if (s->repository[0] == '\0')
		return 0;
	shared_state(l, path);
	_cleanup_fd_ int state = open_no_links(path, O_PATH | O_DIRECTORY);

	if (state < 0)
		return error_sys(e, state, "cannot open %s", path);
	/* It may have been renamed since (adopt.h). */
	int r = shared_said(l->workspace, now) && !str_equal(now, s->repository)
			? shared_find_in(state, path, now, s->name, &found, ret_session, e)
			: 0;

	if (r == 0) {
		r = shared_find_in(state, path, s->repository, s->name, &found, ret_session, e);
		if (r > 0 && faccessat(AT_FDCWD, s->repository, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
			r = error_set(e, -ESTALE,
				      "the session %s has commits for the repository in %s, which "
				      "is not there any more",
				      s->name, s->repository);
			error_next(e, "If it was moved, say 'git worktree repair %s' there.",
				   l->workspace);
		}
	}
	if (r > 0) {
		*ret = found;
		found = LAYERS_INIT;
	}
	return r;
}

bool shared_has_worktree(const struct layers *l, const struct layers_session *s)
{
	_cleanup_layers_ struct layers own = LAYERS_INIT;
	struct layers_session session;
	struct error e = ERROR_INIT;
	char path[PATH_MAX], now[PATH_MAX];

	if (s->linked[0] == '\0')
		return false;
	shared_state(l, path);
	_cleanup_fd_ int state = open_no_links(path, O_PATH | O_DIRECTORY);

	return state >= 0 && layers_find_session(state, path, s->name, &own, &e) == 1 &&
	       layers_session_read(&own, s->name, &session, &e) == 0 && session.repository[0] &&
	       (str_equal(session.repository, l->workspace) ||
		(shared_said(own.workspace, now) && str_equal(now, l->workspace)));
}

bool shared_waits(const struct layers *l, const struct layers_session *s)
{
	_cleanup_layers_ struct layers own = LAYERS_INIT;
	struct layers_session session;
	struct error e = ERROR_INIT;
	int r = shared_find(l, s, &own, &session, &e);

	/* What cannot be told is there. */
	return r < 0 || (r > 0 && layers_session_waits_here(&own, &session));
}
