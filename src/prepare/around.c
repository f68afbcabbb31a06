/* SPDX-License-Identifier: Apache-2.0 */
#include "around.h"

#include "fd.h"
#include "folder_notes.h"
#include "home_store.h"
#include "layering.h"
#include "prompt.h"
#include "settle.h"
#include "str.h"
#include "waiting.h"

#include <stdio.h>
#include <sys/stat.h>

enum { AROUND_QUESTION_MAX = 32 << 10 };

/* Whether what the box writes there is outside, or will be when it lands. */
static bool around_is_written(const struct plan_mount *m)
{
	return m->kind == PLAN_MOUNT_BIND && m->access == PLAN_ACCESS_WRITE &&
	       (str_equal(m->role, "workspace") || str_equal(m->role, "named") ||
		str_equal(m->role, "exposed"));
}

int around_note(const struct prepared *p, bool by_hand, struct error *e)
{
	const struct host *h = &p->sources.host;
	_cleanup_arena_ struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	_cleanup_fd_ int state = home_store_state(h, true, &arena, e);
	int r = state < 0 ? state : 0;

	for (size_t i = 0; r == 0 && i < p->plan->mounts.count; i++) {
		const struct plan_mount *m = &p->plan->mounts.items[i];
		struct stat st;

		if (!around_is_written(m) || stat(m->source, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		r = folder_note_written(h->state_dir, m->source,
					host_has_repository(h, m->source, &arena), e);
		if (r == 0 && !str_equal(m->role, "workspace"))
			r = folder_note_add(h->state_dir, m->source, FOLDER_UNSEEN, e);
	}
	if (r == 0 && !by_hand)
		r = folder_note_add(h->state_dir, h->workspace.path, FOLDER_OWN, e);
	return r;
}

struct around_look {
	const struct layers *layers;
	bool any;
};

static int around_look_at(void *context, const struct layers_session *s)
{
	struct around_look *a = context;
	_cleanup_buf_ struct buf counted = BUF_INIT(LAYERING_WORDS_MAX);

	if (s->mode != LAYERS_DIRECT || s->ended != 0 || layers_session_runs(a->layers, s->name))
		return 0;
	/* bawn-review looks, and notes what is gone.  We do not use the count. */
	(void)waiting_count_landed(a->layers, s, &counted);
	a->any = true;
	return 0;
}

/* Looks at killed direct sessions of a workspace.  Each is looked at once: then it has ended. */
static bool around_look_in(const struct layers *l)
{
	struct around_look a = {.layers = l};
	struct error ignored = ERROR_INIT;

	(void)layers_each_session(l, around_look_at, &a, &ignored);
	if (a.any) {
		_cleanup_fd_ int lock = layers_lock(l, &ignored);

		if (lock >= 0)
			(void)layers_settle_all(l, &ignored);
	}
	return a.any;
}

bool around_look(const struct prepared *p)
{
	const struct host *h = &p->sources.host;
	_cleanup_arena_ struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	struct error ignored = ERROR_INIT;
	bool any = p->layers.dir >= 0 && around_look_in(&p->layers);
	char path[PATH_MAX];

	/* Only the repository around the current folder depends on what others did. */
	if (str_equal(h->cwd, h->workspace.path))
		return any;
	_cleanup_fd_ int state = home_store_state(h, false, &arena, &ignored);

	(void)snprintf(path, sizeof(path), "%s", h->workspace.path);
	for (char *slash; state >= 0 && (slash = strrchr(path, '/')) && slash > path;) {
		_cleanup_layers_ struct layers l = LAYERS_INIT;

		*slash = '\0';
		if (folder_notes(h->state_dir, path) & FOLDER_WRITTEN &&
		    layers_open(state, h->state_dir, path, false, &l, &ignored) == 0)
			any = around_look_in(&l) || any;
	}
	return any;
}

int around_ask(const struct prepared *p, bool *ret_taken, struct error *e)
{
	const struct host *h = &p->sources.host;
	_cleanup_prompt_ struct prompt prompt = PROMPT_INIT;
	_cleanup_buf_ struct buf question = BUF_INIT(AROUND_QUESTION_MAX);
	struct error nobody = ERROR_INIT;

	*ret_taken = false;
	if (!h->wider || h->wider_said || prompt_open(&prompt, &nobody) < 0)
		return 0;
	buf_put_str(&question, "This folder lies in a repository that a session may have made, or "
			       "was a workspace by itself before.\nWork on all of ");
	text_escape(&question, span_of_str(h->wider));
	buf_put_str(&question, ", here and from now on? [y/N]");
	char key = prompt_key(&prompt, buf_str(&question), "ny",
			      "y: the repository is the workspace in this folder, always\n"
			      "n: this folder alone is; --workspace takes the other one\n");

	if (key != 'y')
		return folder_note_add(h->state_dir, h->workspace.path, FOLDER_ALONE, e);
	*ret_taken = true;
	return folder_note_taken(h->state_dir, h->wider, h->workspace.path, e);
}
