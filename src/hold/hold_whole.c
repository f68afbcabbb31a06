/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tools make, and make again.
 *
 * Compiled Python is left out.
 *
 * A virtual environment of Python and a folder node_modules are each one thing: a tool made all of
 * it, half of it is of no use, and nobody reads it file by file.  So it lands whole, or not at all.
 *
 *	venv		a folder with pyvenv.cfg and bin, or with the name of one (made.h).  It is
 *			held, by one change that stands for it (pyvenv.cfg, if that is new), and the
 *			reason names what is rare in it.  Only files that such a folder always has
 *			belong to it, and nothing that is held for another reason does: a file
 *			pyvenv.cfg does not make one thing of another folder.  It may be in
 *			node_modules.  A link that leads into it waits with it, and so does what was
 *			moved out of it.  What a commit brings into one is held at its own path
 *	node_modules	flagged by one line.  In it only what really runs counts (hold_whole_most):
 *			install scripts, programs in .bin, git's own files, what your files name.
 *			If something in it is held, all the rest waits for that
 *
 * The rules python-venv and node-modules say which level the whole has.
 */
#include "hold_parts.h"

#include "compiled.h"
#include "fnv.h"
#include "made.h"
#include "str.h"

#include <stdio.h>

enum { WHOLE_TOLD = 4, WHOLE_LIST = 512, WHOLE_BUCKETS = 1 << 12 };

#define WHOLE_DOOR                                                                                \
	"it leads into node_modules: by its name npm install, your shell or an editor would run " \
	"what is passed over there"

enum whole_kind { WHOLE_VENV, WHOLE_MODULES };

static const char *const whole_rules[] = {
	[WHOLE_VENV] = "python-venv",
	[WHOLE_MODULES] = HOLD_MODULES,
};

/* The first few names of a list. */
struct whole_list {
	char text[WHOLE_LIST];
	size_t len, count;
};

struct whole {
	struct whole *next;   /* the next in the list of all */
	struct whole *beside; /* the next in its bucket */
	enum whole_kind kind;
	const char *path; /* begins with the folder */
	size_t len;
	struct change *lead; /* the change that stands for it */
	struct change *held; /* in node_modules: a change that is held for a reason of its own */
	struct change *first, *last; /* the first and the last of those */
	const char *linked;          /* the first held package.json of a linked package */
	size_t files, programs;
	struct whole_list start, install, odd;
	const char *why;
};

struct wholes {
	struct whole *first;
	struct whole *buckets[WHOLE_BUCKETS]; /* by their paths */
};

/* --- compiled Python ------------------------------------------------------------------------ */

/*
 * Python runs these bytes instead of the source, and nobody can see whether they come from the
 * source beside them.  So the file never lands: it is left out, and Python makes it again from the
 * text that the user read.  Without a source beside it Python cannot make it again: if Python would
 * load it by itself, it is held.
 */
int hold_by_compiled(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	char source[PATH_MAX];

	/* A commit that has one was made to bring it. */
	if (j->brought || !compiled_source(c->path, source))
		return 0;
	unsigned int type = hold_type(j->view, source);

	if (type == OBJECT_FILE || type == OBJECT_LINK) {
		v->most = HOLD_LEAVE;
		v->why = "compiled from the source beside it; Python makes it again";
		return 0;
	}
	if (!compiled_is_cached(c->path))
		return hold_say(j, v, "python3 would run it, and there is no source %.200s",
				source);
	v->most = HOLD_LEAVE;
	v->why = "compiled from a source that is not here; Python would not load it";
	return 0;
}

/* --- where -------------------------------------------------------------------------------- */

size_t hold_modules_len(const char *path)
{
	static const char name[] = "node_modules";
	const size_t len = sizeof(name) - 1;

	for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
		if (strncmp(at, name, len) == 0 && (at[len] == '/' || !at[len]))
			return (size_t)(at - path) + len;
	return 0;
}

bool hold_is_in_modules(const char *path)
{
	return hold_modules_len(path) > 0;
}

/* The folder is a virtual environment, or was: what is left of one runs as well. */
static bool whole_is_venv(struct hold_judge *j, const char *path, size_t len)
{
	/* Only this file writes to these fields. */
	struct hold_dir *d = (struct hold_dir *)(uintptr_t)hold_dir_find(j, path, len);

	if (!d || d->venv_read)
		return d && d->venv;
	d->venv_read = true;
	d->venv = made_is_venv(j->view, d->path) || made_is_venv(&j->before, d->path);
	return d->venv;
}

/* Length of the path of the thing that a path belongs to; 0: to none. */
static size_t whole_of_path(struct hold_judge *j, const char *path, enum whole_kind *ret)
{
	size_t modules = hold_modules_len(path);

	*ret = WHOLE_VENV;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		size_t len = (size_t)(slash - path);

		if (made_is_venvs(slash + 1) && whole_is_venv(j, path, len))
			return len;
	}
	if (whole_is_venv(j, path, strlen(path)))
		return strlen(path);
	*ret = WHOLE_MODULES;
	return modules;
}

static size_t whole_of(struct hold_judge *j, const struct change *c, enum whole_kind *ret)
{
	size_t modules = hold_modules_len(c->path);

	/* If it is not a folder, it is judged by itself. */
	if (modules && !c->path[modules] && c->after.type != OBJECT_DIR)
		return 0;
	if (!c->git)
		return whole_of_path(j, c->path, ret);
	/* One of git's own files, in a folder node_modules. */
	*ret = WHOLE_MODULES;
	return modules && c->path + modules < c->git ? modules : 0;
}

/* --- what counts in node_modules ---------------------------------------------------------- */

enum hold_level hold_whole_most(const char *path, size_t row)
{
	static const struct {
		const char *name;
		enum hold_level most;
	} count[] = {
		{"git-hooks", HOLD_HOLD},
		{"git-config", HOLD_HOLD},
		{"git-state", HOLD_HOLD},
		{"git-attributes", HOLD_HOLD},
		{"git-bare", HOLD_HOLD},
		{"git-staged", HOLD_HOLD},
		{"git-worktrees", HOLD_HOLD},
		{"git-commits", HOLD_HOLD},
		{"git-objects", HOLD_HOLD},
		{"git-contents", HOLD_HOLD},
		{"git-unknown", HOLD_HOLD},
		{"git-links", HOLD_HOLD},
		{"git-pointer", HOLD_HOLD},
		{"other-vcs", HOLD_HOLD},
		{HOLD_OWN, HOLD_HOLD},
		{"package-scripts", HOLD_FLAG},
		{"package-settings", HOLD_FLAG},
		{"agent-settings", HOLD_FLAG},
		{"agent-instructions", HOLD_FLAG},
		{"link-outside", HOLD_FLAG},
		{"invisible", HOLD_FLAG},
	};
	const char *name = hold_rows[row].name;

	/* npm obeys no settings of an installed package but those of a build. */
	if (str_equal(name, "package-settings") && !str_ends_with(path, "/binding.gyp"))
		return HOLD_NOT;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(count); i++)
		if (str_equal(count[i].name, name))
			return count[i].most;
	return HOLD_NOT;
}

/* --- what is told --------------------------------------------------------------------------- */

static void whole_tell(struct whole_list *l, const char *name, size_t len)
{
	size_t room = sizeof(l->text) - l->len;

	if (l->count++ >= WHOLE_TOLD || len + 3 > room)
		return;
	l->len += (size_t)snprintf(l->text + l->len, room, "%s%.*s", l->len ? ", " : "", (int)len,
				   name);
}

/* The list with `lead` before it: "a, b and 3 more"; "" if the list is empty. */
static const char *whole_told(struct hold_judge *j, const char *lead, const struct whole_list *l)
{
	char more[48] = "";

	if (l->count > WHOLE_TOLD)
		(void)snprintf(more, sizeof(more), " and %zu more", l->count - WHOLE_TOLD);
	return l->count ? arena_printf(&j->arena, "%s%s%s", lead, l->text, more) : "";
}

/* Notes the package of a path in node_modules: a, or @b/c. */
static void whole_tell_package(struct whole_list *l, const char *rest)
{
	const char *inner = rest;

	for (const char *at = rest; (at = strstr(at, "node_modules/")); at++)
		inner = at + strlen("node_modules/");
	size_t len = strcspn(inner, "/");

	if (*inner == '@' && inner[len])
		len += 1 + strcspn(inner + len + 1, "/");
	whole_tell(l, inner, len);
}

/* The link leads from bin/python to a Python, as in every such folder. */
static bool whole_is_python(const struct change *c, const char *rest)
{
	const char *name = c->after.link ? strrchr(c->after.link, '/') : NULL;

	return c->after.type == OBJECT_LINK && str_after(rest, "bin/python") && name &&
	       str_after(name, "/python");
}

/* The change is a link in the place of one of its parts: bin that leads to bin2. */
static bool whole_is_part_link(const struct whole *w, const struct change *c)
{
	return c->after.type == OBJECT_LINK && strlen(c->path) > w->len &&
	       !strchr(c->path + w->len + 1, '/');
}

static void whole_look_venv(struct whole *w, struct change *c, const char *rest)
{
	bool lead = str_equal(rest, "pyvenv.cfg") && c->after.type == OBJECT_FILE;

	if (c->group == CHANGE_HELD && !lead && whole_is_part_link(w, c))
		whole_tell(&w->odd, rest, strlen(rest));
	else if (c->group == CHANGE_HELD && !lead)
		whole_tell(&w->start, rest, strlen(rest));
	if (c->group == CHANGE_FLAGGED && c->rule && !whole_is_python(c, rest) &&
	    (str_equal(c->rule, "link-outside") || str_equal(c->rule, "invisible")))
		whole_tell(&w->odd, rest, strlen(rest));
	if (lead || (!w->lead && c->after.type != OBJECT_DIR && c->after.type != OBJECT_ABSENT))
		w->lead = c;
}

static void whole_look_modules(struct hold_judge *j, struct whole *w, struct change *c,
			       const char *rest)
{
	if (c->group == CHANGE_HELD) {
		/*
		 * There may be hundreds of linked packages: the user answers one question for all.
		 */
		if (!c->with && hold_is_linked(j, c->path)) {
			c->with = w->linked;
			w->linked = w->linked ? w->linked : c->path;
		}
		/* A change that waits with another cannot be one that others wait with. */
		if (!w->held || (w->held->with && !c->with))
			w->held = c;
		/* They land together: each needs the next one, and the last needs the first. */
		if (!c->with && !c->needs) {
			if (w->last)
				w->last->needs = c->path;
			w->first = w->first ? w->first : c;
			w->last = c;
		}
		return;
	}
	if (c->git)
		return;
	if (c->group == CHANGE_FLAGGED && c->rule) {
		if (str_after(c->rule, "package-"))
			whole_tell_package(&w->install, rest);
		else
			whole_tell(&w->odd, rest, strlen(rest));
	}
	w->programs += str_after(rest, ".bin/") != NULL || strstr(rest, "/.bin/") != NULL;
	/* A file that was moved there may wait with another thing. */
	if ((!w->lead || (w->lead->from && !c->from)) && c->after.type != OBJECT_DIR &&
	    c->after.type != OBJECT_ABSENT)
		w->lead = c;
}

/* The change is held, and not for something that such a folder always has. */
static bool whole_is_apart(const struct whole *w, const struct change *c)
{
	return c->group == CHANGE_DROPPED ||
	       (w->kind == WHOLE_VENV && c->group == CHANGE_HELD && c->rule &&
		!str_after(c->rule, "python-") && !whole_is_part_link(w, c));
}

static void whole_look(struct hold_judge *j, struct whole *w, struct change *c)
{
	const char *rest = c->path + w->len;

	rest += *rest == '/';
	if (whole_is_apart(w, c) || c->group == CHANGE_LEAVE)
		return;
	w->files += c->after.type != OBJECT_DIR && (!c->git || c->group == CHANGE_HELD);
	if (w->kind == WHOLE_VENV)
		whole_look_venv(w, c, rest);
	else
		whole_look_modules(j, w, c, rest);
}

/* --- how it is made again -------------------------------------------------------------------- */

/* A shell takes the path as it is. */
static bool whole_is_plain(const char *path, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@+",
			    path[i]) &&
		    (path[i] != '-' || i == 0 || path[i - 1] == '/'))
			return false;
	return len > 0;
}

static bool whole_has(struct hold_judge *j, const char *dir, const char *name)
{
	return hold_type(j->view, hold_join(j, dir, name)) == OBJECT_FILE;
}

static const char *whole_command(struct hold_judge *j, const struct whole *w)
{
	static const struct {
		const char *lock, *command;
	} managers[] = {
		{"package-lock.json", "npm ci"},
		{"npm-shrinkwrap.json", "npm ci"},
		{"pnpm-lock.yaml", "pnpm install --frozen-lockfile"},
		{"yarn.lock", "yarn install"},
		{"bun.lock", "bun install"},
		{"bun.lockb", "bun install"},
	};
	char dir[PATH_MAX], folder[PATH_MAX];

	if (w->len >= sizeof(folder) || !whole_is_plain(w->path, w->len))
		return w->kind == WHOLE_VENV ? "python3 -m venv" : "npm ci";
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)w->len, w->path);
	if (hold_parent(folder, dir) < 0)
		return NULL;
	const char *name = folder + strlen(dir) + (*dir != '\0');
	const char *cd = *dir ? arena_printf(&j->arena, "cd %s && ", dir) : "";

	if (w->kind == WHOLE_VENV) {
		const char *from =
			whole_has(j, dir, "requirements.txt") ? "-r requirements.txt"
			: whole_has(j, dir, "pyproject.toml") || whole_has(j, dir, "setup.py")
				? "-e ."
				: NULL;

		return from ? arena_printf(&j->arena,
					   "%spython3 -m venv %s && %s/bin/pip install %s", cd,
					   name, name, from)
			    : arena_printf(&j->arena, "%spython3 -m venv %s", cd, name);
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(managers); i++)
		if (whole_has(j, dir, managers[i].lock))
			return arena_printf(&j->arena, "%s%s", cd, managers[i].command);
	return arena_printf(&j->arena, "%snpm install", cd);
}

/* --- what is said of it ----------------------------------------------------------------------- */

static enum hold_level whole_level(const struct hold_judge *j, const struct whole *w)
{
	unsigned int row = hold_row_of(whole_rules[w->kind]);

	return row < hold_row_count ? j->rules->levels[row] : HOLD_NOT;
}

static const char *whole_words(struct hold_judge *j, const struct whole *w, enum hold_level level)
{
	const char *command = whole_command(j, w);
	int len = w->len < 200 ? (int)w->len : 200;
	bool venv = w->kind == WHOLE_VENV;

	if (!command)
		return NULL;
	if (level == HOLD_LEAVE)
		return arena_printf(&j->changes->arena,
				    "%.*s is one thing; it is made again by: %s", len, w->path,
				    command);
	const char *start = whole_told(j, "; python3 runs at its start: ", &w->start);
	const char *install =
		whole_told(j, "; npm rebuild would run install scripts of: ", &w->install);
	const char *odd = whole_told(j, "; rare in it: ", &w->odd);
	const char *released =
		level == HOLD_HOLD
			? arena_printf(&j->arena, "; --release %.*s/ lands all of it", len, w->path)
			: "";

	return start && install && odd && released
		       ? arena_printf(
				 &j->changes->arena,
				 "%.*s is one thing, %zu file%s ('bawn diff %.*s' shows them): "
				 "%s%s%s%s%s; made again by: %s",
				 len, w->path, w->files, w->files == 1 ? "" : "s", len, w->path,
				 venv ? "python3, pip and activate in it are what your shell "
					"would run"
				      : arena_printf(&j->arena,
						     "your commands would run what is in it "
						     "(%zu in .bin)",
						     w->programs),
				 start, install, odd, released, command)
		       : NULL;
}

/* Makes a part wait with one change that is held. */
static void whole_with(const struct whole *w, struct change *c, const struct change *lead)
{
	c->group = CHANGE_HELD;
	c->rule = whole_rules[w->kind];
	/* If the change that stands for it is another one, this part says what is in it. */
	c->tells = c == w->lead && w->why != NULL;
	c->why = c->tells ? w->why : "it is a part of what lands as one thing";
	c->with = lead->path;
	c->part = true;
	c->whole = w->len;
}

static void whole_set(const struct whole *w, enum hold_level level, struct change *c)
{
	const char *rule = whole_rules[w->kind];
	bool held = w->held != NULL;

	if (whole_is_apart(w, c) || (c->group == CHANGE_LEAVE && level != HOLD_LEAVE) ||
	    (w->kind == WHOLE_MODULES && c->group == CHANGE_HELD))
		return;
	if (held || level == HOLD_HOLD) {
		if (held || c != w->lead) {
			whole_with(w, c, held ? w->held : w->lead);
			if (w->first != w->last && !c->needs)
				c->needs = w->first->path;
			return;
		}
	}
	if (c->git)
		return;
	c->with = NULL;
	c->group = level == HOLD_LEAVE  ? CHANGE_LEAVE
		   : c != w->lead       ? CHANGE_ORDINARY
		   : level == HOLD_FLAG ? CHANGE_FLAGGED
					: CHANGE_HELD;
	c->part = c != w->lead;
	c->whole = w->len;
	c->rule = c->group == CHANGE_ORDINARY ? NULL : rule;
	c->why = c->group == CHANGE_ORDINARY ? NULL : w->why;
}

/*
 * --- what waits with it from elsewhere ---------------------------------------------------------
 */

/* The thing with this path; NULL: there is none. */
static struct whole *whole_known(const struct wholes *all, const char *path, size_t len)
{
	struct whole *w = all->buckets[fnv_bytes(FNV_START, path, len) % WHOLE_BUCKETS];

	while (w && !(w->len == len && memcmp(w->path, path, len) == 0))
		w = w->beside;
	return w;
}

/* The thing that a path belongs to, if it has a change; NULL: there is none. */
static struct whole *whole_at(struct hold_judge *j, const struct wholes *all, const char *path)
{
	enum whole_kind kind;
	size_t len = whole_of_path(j, path, &kind);

	return len > 0 ? whole_known(all, path, len) : NULL;
}

/* The held change that all of it waits with; NULL: it lands. */
static struct change *whole_waits(const struct hold_judge *j, const struct whole *w)
{
	return !w                               ? NULL
	       : w->held                        ? w->held
	       : !w->lead                       ? NULL
	       : whole_level(j, w) == HOLD_HOLD ? w->lead
						: NULL;
}

/* Holds a link with the name of a virtual environment, if it leads to a folder that would be taken
 * for one. */
static void whole_set_link(struct hold_judge *j, struct change *c, const char *leads)
{
	unsigned int row = hold_row_of(whole_rules[WHOLE_VENV]);
	const char *bin = hold_join(j, leads, "bin");

	if (row == hold_row_count || j->rules->levels[row] != HOLD_HOLD ||
	    !made_is_venv_name(c->path, strlen(c->path)) || hold_is_in_modules(c->path) ||
	    (hold_type(j->view, bin) == OBJECT_ABSENT && !made_is_venv(j->view, leads)))
		return;
	c->group = CHANGE_HELD;
	c->rule = whole_rules[WHOLE_VENV];
	c->why = "a link in the place of a virtual environment: your shell would run python3, pip "
		 "and activate of the folder that it leads to";
	c->with = NULL;
}

/* A link from elsewhere into node_modules: under its name everything counts that we pass over
 * there.  True: a rule is about it, and its level is set. */
static bool whole_set_door(struct hold_judge *j, struct change *c, const char *leads)
{
	static const char rule[] = "node-modules-links";
	unsigned int row = hold_row_of(rule);
	enum hold_level level = row < hold_row_count ? j->rules->levels[row] : HOLD_NOT;

	if (level == HOLD_NOT || hold_is_in_modules(c->path) || !hold_is_in_modules(leads))
		return false;
	c->group = level == HOLD_HOLD    ? CHANGE_HELD
		   : level == HOLD_LEAVE ? CHANGE_LEAVE
					 : CHANGE_FLAGGED;
	c->rule = rule;
	c->why = WHOLE_DOOR;
	c->with = NULL;
	return true;
}

/* A link in the place of a folder node_modules: what is in the folder that it leads to would be run. */
static void whole_set_modules_link(const struct hold_judge *j, struct change *c)
{
	unsigned int row = hold_row_of(HOLD_MODULES);
	enum hold_level level = row < hold_row_count ? j->rules->levels[row] : HOLD_NOT;

	if (c->group != CHANGE_ORDINARY || level == HOLD_NOT || level == HOLD_LEAVE)
		return;
	c->group = level == HOLD_HOLD ? CHANGE_HELD : CHANGE_FLAGGED;
	c->rule = HOLD_MODULES;
	c->why = "a link in the place of node_modules: your commands would run what is in the "
		 "folder that it leads to";
}

/* What was moved out of one, and a link outside that leads into one, lands with it. */
static void whole_set_other(struct hold_judge *j, const struct wholes *all, bool outside,
			    struct change *c)
{
	struct change *lead = c->from ? whole_waits(j, whole_at(j, all, c->from)) : NULL;
	char leads[PATH_MAX];

	if (c->group == CHANGE_HELD || c->group == CHANGE_DROPPED || c->group == CHANGE_LEAVE)
		return;
	bool link = !lead && outside && c->after.type == OBJECT_LINK &&
		    hold_leads_in(j, j->view, c->path, leads);
	const struct whole *to = link ? whole_at(j, all, leads) : NULL;

	if (to && to->kind == WHOLE_VENV)
		lead = whole_waits(j, to);
	if (lead && lead != c) {
		c->group = CHANGE_HELD;
		c->rule = lead->rule ? lead->rule : whole_rules[WHOLE_VENV];
		c->why = "it lands with what is one thing, and does not lie in it";
		c->with = lead->path;
		c->moved = true; /* it has a line of its own */
	} else if (link && !whole_set_door(j, c, leads)) {
		whole_set_link(j, c, leads);
	}
	if (outside && c->after.type == OBJECT_LINK && hold_modules_len(c->path) == strlen(c->path))
		whole_set_modules_link(j, c);
}

/* --- what a commit brings -------------------------------------------------------------------------- */

/* The folder, which has no change itself, is a virtual environment.  Keeps the answers. */
static bool whole_is_venv_there(struct hold_judge *j, const char *path, size_t len)
{
	if (hold_dir_find(j, path, len))
		return whole_is_venv(j, path, len);
	struct hold_venv *v = &j->venvs[fnv_bytes(FNV_START, path, len) % HOLD_VENVS];

	if (v->path && strlen(v->path) == len && memcmp(v->path, path, len) == 0)
		return v->is;
	v->path = arena_strn(&j->arena, path, len);
	v->is = v->path && (made_is_venv(j->view, v->path) || made_is_venv(&j->before, v->path));
	return v->is;
}

/* A link that a commit brings leads into node_modules, by what the link says. */
static bool whole_is_door(struct hold_judge *j, const struct change *c)
{
	char dir[PATH_MAX], to[PATH_MAX], leads[PATH_MAX];

	if (c->after.type != OBJECT_LINK || !c->after.link || hold_is_in_modules(c->path) ||
	    hold_parent(c->path, dir) < 0 || hold_resolve(j, dir, c->after.link, to) < 0)
		return false;
	return hold_is_in_modules(hold_leads_in(j, j->view, to, leads) ? leads : to);
}

int hold_ask_whole(struct hold_judge *j, const struct change *c, struct hold_said *said)
{
	unsigned int row = hold_row_of(whole_rules[WHOLE_VENV]);

	if (whole_is_door(j, c) && hold_row_of("node-modules-links") < hold_row_count)
		return hold_ask_at(j, c, hold_row_of("node-modules-links"), WHOLE_DOOR, HOLD_HOLD,
				   said);

	for (const char *at = strchrnul(c->path, '/'); row < hold_row_count;
	     at = strchrnul(at + 1, '/')) {
		size_t len = (size_t)(at - c->path);

		if ((!*at || made_is_venvs(at + 1)) && whole_is_venv_there(j, c->path, len))
			return hold_ask_at(j, c, row,
					   "it comes into a virtual environment, which is one "
					   "thing: your shell would run what is in it",
					   HOLD_HOLD, said);
		if (!*at)
			break;
	}
	return 0;
}

/* --- all of them -------------------------------------------------------------------------------- */

/* *ret: the thing that a change belongs to, a known one or a new one; NULL: it belongs to none. */
static int whole_find(struct hold_judge *j, struct wholes *all, const struct change *c,
		      struct whole **ret)
{
	enum whole_kind kind;
	size_t len = c->group == CHANGE_DROPPED ? 0 : whole_of(j, c, &kind);
	struct whole *w = len > 0 ? whole_known(all, c->path, len) : NULL;

	*ret = NULL;
	if (len == 0)
		return 0;
	if (!w) {
		struct whole **bucket =
			&all->buckets[fnv_bytes(FNV_START, c->path, len) % WHOLE_BUCKETS];

		w = arena_alloc(&j->arena, sizeof(*w));
		/* Without it the change would land by no rule. */
		if (!w)
			return hold_no_memory(j);
		*w = (struct whole){.next = all->first,
				    .beside = *bucket,
				    .kind = kind,
				    .path = c->path,
				    .len = len};
		all->first = *bucket = w;
	}
	*ret = w;
	return 0;
}

int hold_whole_end(struct hold_judge *j)
{
	struct wholes *all = arena_alloc(&j->arena, sizeof(*all));

	if (!all)
		return hold_no_memory(j);
	/* What was not judged in time is held, each for itself. */
	if (j->late)
		return 0;
	for (size_t i = 0; i < j->changes->count; i++) {
		struct whole *w = NULL;
		int r = whole_find(j, all, &j->changes->items[i], &w);

		if (r < 0)
			return r;
		if (w)
			whole_look(j, w, &j->changes->items[i]);
	}
	for (struct whole *w = all->first; w; w = w->next) {
		enum hold_level level = whole_level(j, w);

		w->why = level == HOLD_NOT ? NULL : whole_words(j, w, level);
		if (w->last != w->first)
			w->last->needs = w->first->path;
		if (level != HOLD_NOT && !w->why)
			return hold_no_memory(j);
	}
	for (size_t i = 0; i < j->changes->count; i++) {
		struct whole *w = NULL;
		int r = whole_find(j, all, &j->changes->items[i], &w);

		if (r < 0)
			return r;
		/* Without a lead it has no new files: it is removed. */
		if (w && (w->lead || w->held) && whole_level(j, w) != HOLD_NOT)
			whole_set(w, whole_level(j, w), &j->changes->items[i]);
		whole_set_other(j, all, !w, &j->changes->items[i]);
	}
	return 0;
}
