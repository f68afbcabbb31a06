/* SPDX-License-Identifier: Apache-2.0 */
#include "gather.h"

#include "box_use.h"
#include "clock.h"
#include "fd.h"
#include "home_store.h"
#include "layering.h"
#include "layers.h"
#include "session_names.h"
#include "session_talk.h"
#include "shared.h"
#include "str.h"
#include "text.h"
#include "words.h"
#include "worktree.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
	GATHER_NAMES_MS = 5000,
	GATHER_ENDED_MS = 30000,
	GATHER_SILENT_MS = 30000,
	GATHER_COUNT_MS = 10000,
	GATHER_LONG_MS = 500, /* who waits longer for an answer asks nobody else in this turn */
	GATHER_RECOUNT_MS = 120000, /* what was applied elsewhere is in no record of the session */
};

/* How often, for rows that are on the screen and for others. */
static const struct {
	int64_t ask, grown, look; /* grown: when its record has */
} gather_often[] = {{15000, 5000, 10000}, {5000, 2000, 2000}};

int gather_open(struct gather *g, struct error *e)
{
	g->arena = ARENA_INIT(1 << 20);
	int r = host_gather_user(&g->arena, &g->host, e);

	if (r == 0)
		g->places = session_places_of(&g->host);
	return r;
}

void gather_close(struct gather *g)
{
	arena_fini(&g->arena);
}

/* Copies an escaped text as far as it fits. */
static void gather_put(char *into, size_t size, struct buf *text)
{
	text_cut(text, 0, size / 4 - 1);
	(void)snprintf(into, size, "%s", buf_str(text));
}

/* A path is whole or not there. */
static void gather_put_path(char into[MODEL_TEXT], const char *path)
{
	(void)snprintf(into, MODEL_TEXT, "%.*s", MODEL_TEXT - 1,
		       strlen(path) < MODEL_TEXT ? path : "");
}

/* The name of a program without its folder. */
static void gather_put_agent(struct model_row *row, const char *word)
{
	_cleanup_buf_ struct buf agent = BUF_INIT(1 << 20);
	const char *slash = strrchr(word, '/');

	text_escape(&agent, span_of_str(slash && slash[1] ? slash + 1 : word));
	gather_put(row->agent, sizeof(row->agent), &agent);
}

/* --- those that run --------------------------------------------------------------------- */

struct gather_names {
	struct gather *g;
	struct model *m;
};

static int gather_on_name(void *context, const char *name)
{
	struct gather_names *n = context;
	struct model_row *row = model_find(n->m, name);
	bool came = !row || !model_is_live(row);

	/* A session that goes on begins anew. */
	if (row && came)
		model_remove(n->m, name);
	row = model_put(n->m, name);
	if (!row)
		return 0;
	row->watch.seen = true;
	if (came) {
		session_label_of(n->g->host.state_dir, name, row->label);
		n->g->tell(n->g->context, name, true);
	}
	return 0;
}

/* When the folder last changed, in nanoseconds; 0: it is not there. */
static int64_t gather_changed(const char *folder)
{
	struct stat st;

	return folder && stat(folder, &st) == 0 ? CLOCK_NS(st.st_mtim) : 0;
}

static bool gather_is_due(struct gather *g, int64_t now)
{
	char run[PATH_MAX];
	int len = snprintf(run, sizeof(run), "%s/run", g->places.state);
	int64_t changed[] = {gather_changed(g->places.runtime),
			     len > 0 && (size_t)len < sizeof(run) ? gather_changed(run) : 0};
	bool due = now >= g->names_at || changed[0] != g->changed[0] || changed[1] != g->changed[1];

	memcpy(g->changed, changed, sizeof(changed));
	return due;
}

static void gather_names(struct gather *g, struct model *m, int64_t now)
{
	struct gather_names n = {g, m};
	struct error e = ERROR_INIT;

	for (size_t i = 0; i < m->count; i++)
		m->rows[i].watch.seen = false;
	if (session_store_each(&g->places, gather_on_name, &n, &e) < 0) {
		model_say(m, "%s", e.text);
		return;
	}
	g->names_at = now + GATHER_NAMES_MS;
	for (size_t i = m->count; i-- > 0;) {
		const struct model_row *row = &m->rows[i];
		char name[MODEL_NAME];

		if (!model_is_live(row) || row->watch.seen)
			continue;
		(void)snprintf(name, sizeof(name), "%s", row->name);
		g->tell(g->context, name, false);
		model_remove(m, name);
		g->ended_at = now; /* it may have left changes */
	}
}

static void gather_take(struct model_row *row, const struct session *s)
{
	_cleanup_buf_ struct buf command = BUF_INIT(1 << 20), folder = BUF_INIT(1 << 20);
	size_t first = worktree_before(s->plan);

	row->state = s->state.held                                ? MODEL_PAUSED
		     : s->state.terminal && s->state.viewers == 0 ? MODEL_DETACHED
								  : MODEL_RUNS;
	row->since = s->state.since;
	row->review = s->plan->workspace_mode != PLAN_MODE_DIRECT;
	gather_put_path(row->workspace, s->plan->workspace);
	worktree_put_command(&command, s->plan);
	words_path(&folder, s->plan, s->plan->workspace);
	if (s->plan->preset[0])
		gather_put_agent(row, s->plan->preset);
	else if (first < s->plan->argv.count)
		gather_put_agent(row, s->plan->argv.items[first].text);
	gather_put(row->command, sizeof(row->command), &command);
	gather_put(row->folder, sizeof(row->folder), &folder);
}

static void gather_ask(struct gather *g, struct model_row *row, bool shown, int64_t now)
{
	_cleanup_session_ struct session s = {.fd = -1};
	struct error e = ERROR_INIT;
	int r = session_choose(&g->places, row->name, NULL, &s, &e);

	row->watch.asked = now;
	row->watch.ask = now + gather_often[shown].ask;
	row->watch.asked_events = row->events;
	/* It has just ended, and another one is meant by the name: the folders will say so. */
	if (r == -ENOENT || r == -ECONNRESET || (r == 0 && !str_equal(s.name, row->name))) {
		g->names_at = now;
		return;
	}
	if (r < 0) {
		row->state = r == -EPROTO || r == -EPROTONOSUPPORT ? MODEL_OTHER : MODEL_SILENT;
		row->watch.ask = now + GATHER_SILENT_MS;
		return;
	}
	gather_take(row, &s);
	session_label_of(g->host.state_dir, row->name, row->label);
	row->watch.init = (pid_t)s.state.box;
}

static void gather_box(struct model_row *row, bool shown, int64_t now)
{
	struct box_use seen;

	row->watch.look = now + gather_often[shown].look;
	row->has_processes = box_use_of(row->watch.init, &seen) == 0;
	if (!row->has_processes) {
		row->processes = row->memory = 0;
		return;
	}
	row->processes = seen.processes;
	row->memory = seen.memory;
}

/* --- those that have ended -------------------------------------------------------------- */

struct gather_ended {
	struct gather *g;
	struct model *m;
	const struct layers *layers;
	struct error e;
};

static int gather_on_session(void *context, const struct layers_session *session)
{
	struct gather_ended *n = context;
	const struct layers *l = n->layers;
	const struct plan shown = {.home = n->g->host.home}; /* has only what words_path needs */
	_cleanup_buf_ struct buf folder = BUF_INIT(1 << 20);
	char first[MODEL_TEXT];

	if (layers_session_runs(l, session->name) || shared_has_worktree(l, session) ||
	    !(layers_session_has_changes(l, session) || shared_waits(l, session)))
		return 0;
	struct model_row *row = model_put(n->m, session->name);

	if (!row || (row->watch.seen && model_is_live(row)))
		return 0;
	row->watch.seen = true;
	row->state = layers_session_was_interrupted(l, session) ? MODEL_INTERRUPTED : MODEL_ENDED;
	row->since = (uint64_t)((session->ended ? session->ended : session->began) / CLOCK_SECOND);
	row->review = session->mode == LAYERS_REVIEW;
	gather_put_path(row->workspace, l->workspace);
	words_path(&folder, &shown, l->workspace);
	gather_put(row->folder, sizeof(row->folder), &folder);
	layering_command(l, session->name, row->command, sizeof(row->command));
	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(row->command, " "), row->command);
	gather_put_agent(row, first);
	session_label_of(n->g->host.state_dir, session->name, row->label);
	return 0;
}

static int gather_on_workspace(void *context, const struct layers *l)
{
	struct gather_ended *n = context;

	n->layers = l;
	/* If one cannot be read, the others are still shown; 'bawn sessions' says why. */
	(void)layers_each_session(l, gather_on_session, n, &n->e);
	n->e = ERROR_INIT;
	return 0;
}

static void gather_ended(struct gather *g, struct model *m, int64_t now)
{
	struct gather_ended n = {.g = g, .m = m, .e = ERROR_INIT};
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	_cleanup_fd_ int state = home_store_state(&g->host, false, &arena, &n.e);

	g->ended_at = now + GATHER_ENDED_MS;
	for (size_t i = 0; i < m->count; i++)
		if (!model_is_live(&m->rows[i]))
			m->rows[i].watch.seen = false;
	if (state >= 0)
		(void)layers_each_workspace(state, g->host.state_dir, gather_on_workspace, &n,
					    &n.e);
	for (size_t i = m->count; i-- > 0;)
		if (!model_is_live(&m->rows[i]) && !m->rows[i].watch.seen) {
			char name[MODEL_NAME];

			(void)snprintf(name, sizeof(name), "%s", m->rows[i].name);
			model_remove(m, name);
		}
}

/* --- all of it -------------------------------------------------------------------------- */

void gather_look(struct gather *g, struct model *m, int64_t now)
{
	if (gather_is_due(g, now))
		gather_names(g, m, now);
	if (now >= g->ended_at)
		gather_ended(g, m, now);
	m->counted = true;
	model_arrange(m);
	for (size_t i = 0; i < m->count; i++) {
		struct model_row *row = &m->rows[i];
		bool shown = i >= m->first && i < m->first + m->room;

		if (!model_is_live(row))
			continue;
		if (clock_now() - now < GATHER_LONG_MS &&
		    (now >= row->watch.ask ||
		     (row->events != row->watch.asked_events &&
		      now >= row->watch.asked + gather_often[shown].grown)))
			gather_ask(g, row, shown, now);
		if (now >= row->watch.look)
			gather_box(row, shown, now);
	}
}

void gather_hurry(struct gather *g, struct model *m, const char *name)
{
	struct model_row *row = model_find(m, name);

	g->names_at = g->ended_at = 0;
	if (row)
		row->watch.ask = row->watch.look = row->watch.count = 0;
}

struct model_row *gather_uncounted(struct model *m, int64_t now)
{
	for (size_t i = m->first; i < m->count && i < m->first + m->room; i++) {
		struct model_row *row = &m->rows[i];
		bool grown = row->events != row->watch.counted_events || !row->waits[0] ||
			     now >= row->watch.count + GATHER_RECOUNT_MS;

		if (row->review && row->workspace[0] && grown && row->state != MODEL_SILENT &&
		    row->state != MODEL_OTHER && now >= row->watch.count) {
			row->watch.count = now + GATHER_COUNT_MS;
			row->watch.counted_events = row->events;
			return row;
		}
	}
	return NULL;
}
