/* SPDX-License-Identifier: Apache-2.0 */
#include "shared.h"

#include "fd.h"
#include "open.h"
#include "settle.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>

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

int shared_find(const struct layers *l, const struct layers_session *s, struct layers *ret,
		struct layers_session *ret_session, struct error *e)
{
	_cleanup_layers_ struct layers found = LAYERS_INIT;
	char path[PATH_MAX];

	if (s->repository[0] == '\0')
		return 0;
	shared_state(l, path);
	_cleanup_fd_ int state = open_no_links(path, O_PATH | O_DIRECTORY);
	int r = state < 0 ? error_sys(e, state, "cannot open %s", path)
			  : layers_open(state, path, s->repository, false, &found, e);

	if (r == 0)
		r = layers_session_read(&found, s->name, ret_session, e);
	if (r == -ENOENT || (r == 0 && ret_session->linked[0] == '\0')) {
		*e = ERROR_INIT;
		return 0;
	}
	if (r < 0)
		return r;
	*ret = found;
	found = LAYERS_INIT;
	return 1;
}

bool shared_has_worktree(const struct layers *l, const struct layers_session *s)
{
	_cleanup_layers_ struct layers own = LAYERS_INIT;
	struct layers_session session;
	struct error e = ERROR_INIT;
	char path[PATH_MAX];

	if (s->linked[0] == '\0')
		return false;
	shared_state(l, path);
	_cleanup_fd_ int state = open_no_links(path, O_PATH | O_DIRECTORY);

	return state >= 0 && layers_find_session(state, path, s->name, &own, &e) == 1 &&
	       layers_session_read(&own, s->name, &session, &e) == 0 &&
	       str_equal(session.repository, l->workspace);
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
