/* SPDX-License-Identifier: Apache-2.0 */
#include "sharing.h"

#include "clock.h"
#include "fd.h"
#include "home_store.h"
#include "landed.h"
#include "layering.h"
#include "open.h"
#include "settle.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int sharing_look(struct sharing *s, const char *git, const struct host *h, struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	struct land_found found = {.way = LAND_NOTHING};
	const char *top = arena_strn(&arena, git, strlen(git) - strlen("/.git"));
	_cleanup_fd_ int state = top ? home_store_state(h, true, &arena, e) : -ENOMEM;
	int r = state < 0 ? state : layers_open(state, h->state_dir, top, true, &s->layers, e);

	if (r < 0)
		return r;
	s->tree = open_no_links(top, O_PATH | O_DIRECTORY);
	if (s->tree < 0)
		return error_sys(e, s->tree, "cannot open %s", top);
	_cleanup_fd_ int lock = layers_lock(&s->layers, e);

	r = lock < 0 ? lock : layers_recover(&s->layers, &found, e);
	if (r == 0)
		layering_say_recovered(&s->layers, &found);
	return r < 0 ? r : layers_settle_all(&s->layers, e);
}

int sharing_open(const struct prepared *p, struct sharing **ret, struct error *e)
{
	const struct plan_mount *m = plan_mount_of(p->plan, PLAN_REPOSITORY);

	*ret = NULL;
	if (!m)
		return 0;
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return error_set(e, -ENOMEM, "no memory");
	**ret = (struct sharing){.layers = LAYERS_INIT, .hold = -1, .tree = -1};
	return sharing_look(*ret, m->source, &p->sources.host, e);
}

/* What the session left there, without what has landed; -ENOENT: nothing. */
static int sharing_resume(struct sharing *s, const char *name, struct error *e)
{
	int r = layers_session_read(&s->layers, name, &s->session, e);

	if (r < 0)
		return r;
	if (s->session.linked[0] == '\0' || !layers_session_is_of(&s->session, s->tree)) {
		r = error_set(e, -ESTALE,
			      "the session %s has commits for another repository than %s", name,
			      s->layers.workspace);
		error_next(e,
			   "Start clean: bawn run --fresh. 'bawn discard --session %s' forgets it.",
			   name);
		return r;
	}
	return landed_leave(&s->layers, &s->session, s->tree, e);
}

/* The folder .git of a layer: what is written goes there. */
static int sharing_dress(const struct sharing *s, const char *id)
{
	_cleanup_fd_ int up = layers_open_up(&s->layers, id);
	struct stat st;
	int r = up < 0 ? up : layers_dress(&s->layers, id, s->tree);

	if (r < 0)
		return r;
	if (fstatat(s->tree, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	const struct timespec times[2] = {st.st_atim, st.st_mtim};

	if (mkdirat(up, ".git", 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	return fchmodat(up, ".git", st.st_mode & 0777, 0) < 0 ||
			       utimensat(up, ".git", times, AT_SYMLINK_NOFOLLOW) < 0
		       ? -errno
		       : 0;
}

static int sharing_layer(struct sharing *s, struct error *e)
{
	struct stack *project = &s->session.project;
	char id[LAYER_ID_LEN + 1];
	int r = 0;

	if (project->count == 0) {
		r = layers_new(&s->layers, id, e);
		if (r == 0)
			r = stack_push(project, id);
	}
	for (size_t i = 0; r == 0 && i < project->count; i++)
		r = sharing_dress(s, project->ids[i]);
	return r < 0 && !e->code ? error_sys(e, r, "cannot make a layer in %s", s->layers.path) : r;
}

int sharing_begin(struct sharing *s, struct layers_session *of, const struct prepared *p,
		  struct error *e)
{
	const char *linked = p->sources.host.git_shared.name;

	if (!s)
		return 0;
	_cleanup_fd_ int lock = layers_lock(&s->layers, e);
	int r = lock < 0 ? lock : sharing_resume(s, of->name, e);

	if (r == -ENOENT) {
		*e = ERROR_INIT;
		s->session = (struct layers_session){.mode = LAYERS_REVIEW,
						     .began = clock_ns(CLOCK_REALTIME)};
		memcpy(s->session.name, of->name, sizeof(s->session.name));
		r = layers_session_mark(&s->session, s->tree);
	}
	if (r == 0)
		r = sharing_layer(s, e);
	if (r < 0)
		return e->code ? r : error_sys(e, r, "cannot begin in %s", s->layers.workspace);
	s->session.ended = 0;
	int n = snprintf(s->session.linked, sizeof(s->session.linked), "%s", linked);
	int m = snprintf(of->repository, sizeof(of->repository), "%s", s->layers.workspace);

	if (n < 0 || (size_t)n >= sizeof(s->session.linked) || m < 0 ||
	    (size_t)m >= sizeof(of->repository))
		return error_sys(e, -ENAMETOOLONG, "cannot begin in %s", s->layers.workspace);
	r = layers_session_write(&s->layers, &s->session, e);
	if (r < 0)
		return r;
	s->hold = layers_session_hold(&s->layers, s->session.name);
	return s->hold < 0 ? error_sys(e, s->hold, "cannot hold the session %s", of->name) : 0;
}

int sharing_end(struct sharing *s, bool forget, struct error *e)
{
	bool kept = false;

	if (sharing_hold(s) < 0)
		return 0;
	_cleanup_fd_ int lock = layers_lock(&s->layers, e);
	int r = lock < 0 || forget ? lock : landed_leave(&s->layers, &s->session, s->tree, e);

	if (r >= 0)
		r = layers_settle(&s->layers, &s->session, forget, &kept, e);
	fd_close(&s->hold);
	return r < 0 ? r : 0;
}

bool sharing_is_taken(const struct sharing *s, const char *name)
{
	struct layers_session other;
	struct error e = ERROR_INIT;

	return s && layers_session_read(&s->layers, name, &other, &e) != -ENOENT;
}

int sharing_first(const struct sharing *s, int *ret_dir, struct error *e)
{
	*ret_dir = -1;
	if (sharing_hold(s) < 0)
		return 0;
	int r = layers_session_first(&s->layers, s->session.name);

	if (r < 0)
		return error_sys(e, r, "keeping first versions of files");
	*ret_dir = r;
	return 0;
}

int sharing_hold(const struct sharing *s)
{
	return s ? s->hold : -1;
}

void sharing_free(struct sharing **s)
{
	if (!*s)
		return;
	fd_close(&(*s)->hold);
	fd_close(&(*s)->tree);
	layers_close(&(*s)->layers);
	free(*s);
	*s = NULL;
}
