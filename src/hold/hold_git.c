/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git would make of a changed file: hooks, settings, attributes, submodules, and the pointers
 * by which a repository says where its parts are.  Nothing here runs git.  We never assume that git
 * would refuse a file: what cannot be read is held.
 */
#include "hold_parts.h"

#include "git_attributes.h"
#include "git_config.h"
#include "str.h"

#include <stdio.h>

enum { HOLD_SETTINGS_COUNT = 4096, HOLD_SCRATCH_MAX = 16 << 20, HOLD_REMOTE_MAX = 512 };

/* --- hooks ---------------------------------------------------------------------------- */

static const struct {
	const char *hook, *command;
} hold_hooks[] = {
	{"applypatch-msg", "git am"},
	{"pre-applypatch", "git am"},
	{"post-applypatch", "git am"},
	{"pre-commit", "git commit"},
	{"pre-merge-commit", "git merge"},
	{"prepare-commit-msg", "git commit"},
	{"commit-msg", "git commit"},
	{"post-commit", "git commit"},
	{"pre-rebase", "git rebase"},
	{"post-checkout", "git checkout, git switch, git clone and git worktree add"},
	{"post-merge", "git merge and git pull"},
	{"pre-push", "git push"},
	{"pre-receive", "a git push to this repository"},
	{"update", "a git push to this repository"},
	{"proc-receive", "a git push to this repository"},
	{"post-receive", "a git push to this repository"},
	{"post-update", "a git push to this repository"},
	{"reference-transaction",
	 "git commit, git checkout, git fetch and whatever moves a branch"},
	{"push-to-checkout", "a git push to this repository"},
	{"pre-auto-gc", "git gc"},
	{"post-rewrite", "git commit --amend and git rebase"},
	{"sendemail-validate", "git send-email"},
	{"fsmonitor-watchman", "git status"},
	{"post-index-change", "git status, git add and git checkout"},
};

const char *hold_hook_at(size_t i)
{
	return i < BAWN_ARRAY_SIZE(hold_hooks) ? hold_hooks[i].hook : NULL;
}

int hold_by_hook(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	const char *slash = strrchr(c->path, '/');
	const char *name = slash ? slash + 1 : c->path;

	/* git runs no file whose name ends in .sample. */
	if (str_ends_with(name, ".sample")) {
		v->most = HOLD_NOT;
		return 0;
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hold_hooks); i++)
		if (strcasecmp(hold_hooks[i].hook, name) == 0)
			return hold_say(j, v, "%s would run it", hold_hooks[i].command);
	return 0;
}

/* --- settings ------------------------------------------------------------------------- */

/* The settings of a text that are not harmless, in order. */
struct hold_settings {
	struct arena arena;
	struct hold_entry {
		const char *name, *value, *by;
		enum hold_key key;
	} items[HOLD_SETTINGS_COUNT];
	size_t count, branches; /* branches: how many of them say where a branch leads */
	const char *bad;        /* why the text cannot be read; NULL: it can */
};

static void hold_settings_free(struct hold_settings **s)
{
	if (*s)
		arena_fini(&(*s)->arena);
	free(*s);
}

static int hold_settings_read(struct span text, struct hold_settings **ret)
{
	_cleanup_(hold_settings_free) struct hold_settings *s = calloc(1, sizeof(*s));
	struct git_config g = {.left = text};
	int r;

	if (!s)
		return -ENOMEM;
	s->arena = ARENA_INIT(HOLD_SCRATCH_MAX);
	while ((r = git_config_next(&g)) > 0) {
		struct hold_entry one = {.key = hold_key_of(&g, &one.by)};

		if (one.key == HOLD_KEY_HARMLESS)
			continue;
		one.name = arena_printf(&s->arena, "%s%s%s.%s", g.section,
					g.has_subsection ? "." : "", g.subsection, g.key);
		one.value = arena_str(&s->arena, g.value);
		if (!one.name || !one.value)
			return -ENOMEM;
		if (s->count == HOLD_SETTINGS_COUNT) {
			s->bad = "it has too many settings";
			break;
		}
		s->items[s->count++] = one;
		s->branches += one.key == HOLD_KEY_LEADS;
	}
	if (r < 0)
		s->bad = g.why;
	*ret = TAKE_PTR(s);
	return 0;
}

static bool hold_setting_equal(const struct hold_entry *a, const struct hold_entry *b)
{
	return str_equal(a->name, b->name) && str_equal(a->value, b->value);
}

static bool hold_settings_have(const struct hold_settings *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (str_equal(s->items[i].name, name))
			return true;
	return false;
}

/* The entry names a remote that was there already. */
static bool hold_leads_home(const struct hold_settings *before, const struct hold_entry *one)
{
	char name[HOLD_REMOTE_MAX];

	/* Not when the branch had another remote before, and not for pushremote: pushes can go
	 * where fetches do not. */
	if (one->key != HOLD_KEY_LEADS || str_ends_with(one->name, ".pushremote") ||
	    hold_settings_have(before, one->name))
		return false;
	if (str_equal(one->value, "."))
		return true;
	int n = snprintf(name, sizeof(name), "remote.%s.url", one->value);

	return n > 0 && n < (int)sizeof(name) && hold_settings_have(before, name);
}

/* How much a new setting weighs.  2: it runs something.  1: it leads elsewhere than before, and
 * takes the user's commits there.  0: it is worth a look, for a new remote runs nothing. */
static int hold_setting_weight(const struct hold_settings *before, const struct hold_entry *one)
{
	if (one->key == HOLD_KEY_RUNS)
		return 2;
	return hold_settings_have(before, one->name) || str_ends_with(one->name, ".pushremote");
}

/* The entry that is new, changed or moved; NULL: the settings after are those before with some left
 * out.  Of several it returns the one that weighs most. */
static const struct hold_entry *hold_settings_new(const struct hold_settings *before,
						  const struct hold_settings *after)
{
	const struct hold_entry *found = NULL;
	size_t at = 0;

	for (size_t i = 0; i < after->count; i++) {
		const struct hold_entry *one = &after->items[i];
		size_t n = at;

		while (n < before->count && !hold_setting_equal(&before->items[n], one))
			n++;
		if (n < before->count)
			at = n + 1;
		else if (!hold_leads_home(before, one) &&
			 (!found ||
			  hold_setting_weight(before, found) < hold_setting_weight(before, one)))
			found = one;
	}
	return found;
}

static int hold_say_setting(struct hold_judge *j, struct hold_verdict *v,
			    const struct hold_settings *before, const struct hold_entry *one)
{
	if (hold_setting_weight(before, one) == 0)
		v->most = HOLD_FLAG;
	return hold_say(j, v, "%s: %.*s = %.*s", one->by, HOLD_WORD_MAX, one->name, HOLD_WORD_MAX,
			one->value);
}

int hold_by_git_config(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	_cleanup_(hold_settings_free) struct hold_settings *before = NULL;
	_cleanup_(hold_settings_free) struct hold_settings *after = NULL;
	int r = hold_read_both(j, c, v);

	if (r != 0)
		return r < 0 ? r : 0;
	r = hold_settings_read(buf_span(&j->old), &before);
	if (r == 0)
		r = hold_settings_read(buf_span(&j->after), &after);
	if (r < 0 || !before || !after)
		return error_set(j->error, -ENOMEM, "no memory to look into %.200s", c->path);
	if (after->bad)
		return hold_say(j, v, "git's settings that cannot be read: %s", after->bad);
	/* We judged the index with names of the old length. */
	if (c->before.type == OBJECT_FILE && str_ends_with(c->path, "config") &&
	    hold_name_len(buf_span(&j->old)) != hold_name_len(buf_span(&j->after)))
		return hold_say(j, v,
				"git would read all that it keeps there in another way: "
				"extensions.objectFormat");
	const struct hold_entry *one = hold_settings_new(before, after);

	if (one)
		return hold_say_setting(j, v, before, one);
	if (before->count - before->branches == after->count - after->branches) {
		v->most = HOLD_NOT;
		return 0;
	}
	/* When a setting goes, what it kept away comes back: without core.hooksPath, .git/hooks
	 * counts again. */
	if (hold_settings_have(before, "core.hookspath") &&
	    !hold_settings_have(after, "core.hookspath"))
		return hold_say(j, v, "without core.hooksPath git would run .git/hooks again");
	v->most = HOLD_FLAG;
	return hold_say(j, v, "settings of git are removed");
}

/* --- attributes ----------------------------------------------------------------------- */

/* A settings file of the final tree has a driver of this name. */
static bool hold_has_driver(struct hold_judge *j, const char *gitdir, const char *file,
			    enum git_driver driver, struct span name)
{
	_cleanup_buf_ struct buf text = BUF_INIT(HOLD_READ_MAX);
	char path[PATH_MAX];

	if (!gitdir || snprintf(path, sizeof(path), "%s/%s", gitdir, file) >= (int)sizeof(path) ||
	    hold_read_path(j->view, path, HOLD_READ_MAX, &text) < 0)
		return false;
	struct git_config g = {.left = buf_span(&text)};

	while (git_config_next(&g) > 0)
		if (str_equal(g.section, git_driver_words[driver]) && g.has_subsection &&
		    span_equal(span_of_str(g.subsection), name))
			return true;
	return false;
}

static bool hold_root_has(struct hold_judge *j, const struct hold_root *root,
			  enum git_driver driver, struct span name)
{
	return hold_has_driver(j, root->gitdir, "config", driver, name) ||
	       hold_has_driver(j, root->gitdir, "config.worktree", driver, name);
}

/* A repository that has the driver: the one around the file, or any other that we know. */
static const struct hold_root *hold_driver_root(struct hold_judge *j, const char *path,
						enum git_driver driver, struct span name)
{
	const char *slash = strrchr(path, '/');
	const struct hold_dir *dir = hold_dir_find(j, path, slash ? (size_t)(slash - path) : 0);

	if (dir && dir->root && hold_root_has(j, dir->root, driver, name))
		return dir->root;
	for (const struct hold_root *root = j->roots; root; root = root->next)
		if (hold_root_has(j, root, driver, name))
			return root;
	return NULL;
}

static bool hold_attributes_had(struct span text, enum git_driver driver, struct span name)
{
	struct git_attributes a = {.left = text};

	while (git_attributes_next(&a))
		if (a.driver == driver && span_equal(a.name, name))
			return true;
	return false;
}

/* The text has this word, with blanks around it. */
static bool hold_has_word(struct span text, struct span word)
{
	for (struct span left = text; left.len >= word.len && word.len > 0;) {
		const uint8_t *at = memmem(left.ptr, left.len, word.ptr, word.len);

		if (!at)
			return false;
		const uint8_t *behind = at + word.len, *end = text.ptr + text.len;

		if (at > text.ptr && strchr(" \t\"", at[-1]) &&
		    (behind == end || strchr(" \t\r\n=", *behind)))
			return true;
		left = span_skip(left, (size_t)(at - left.ptr) + 1);
	}
	return false;
}

/* The first line "[attr]NAME filter=X" of a file of macros that names a driver and whose NAME the
 * text uses; empty: there is none. */
static struct span hold_macro_of(struct span macros, struct span text)
{
	static const char lead[] = "[attr]";

	while (macros.len > 0) {
		const uint8_t *end = memchr(macros.ptr, '\n', macros.len);
		struct span line = {macros.ptr, end ? (size_t)(end - macros.ptr) : macros.len};
		const uint8_t *at = memmem(line.ptr, line.len, lead, sizeof(lead) - 1);

		macros = span_skip(macros, line.len + (end != NULL));
		if (!at)
			continue;
		struct span name = span_skip(line, (size_t)(at - line.ptr) + sizeof(lead) - 1);
		struct git_attributes a = {.left = name};
		size_t len = 0;

		while (len < name.len && !strchr(" \t\r", name.ptr[len]))
			len++;
		name.len = len;
		if (hold_has_word(text, name) && git_attributes_next(&a) &&
		    !git_attributes_is_builtin(a.driver, a.name))
			return line;
	}
	return (struct span){NULL, 0};
}

/* The attributes use a macro of the user's files that names a driver: returns 1, and sets the
 * verdict. */
static int hold_by_macros(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	static const char *const files[] = {".gitattributes", ".git/info/attributes"};
	/* A line that the session removed may stay in the user's file. */
	const struct view *const views[] = {j->view, &j->before};
	char path[PATH_MAX];

	for (const struct hold_root *root = j->roots; root; root = root->next)
		for (size_t i = 0; i < BAWN_ARRAY_SIZE(files) * BAWN_ARRAY_SIZE(views); i++) {
			_cleanup_buf_ struct buf text = BUF_INIT(HOLD_READ_MAX);

			if (snprintf(path, sizeof(path), "%s%s%s", root->path,
				     *root->path ? "/" : "", files[i / 2]) >= (int)sizeof(path) ||
			    str_equal(path, c->path) ||
			    hold_read_path(views[i % 2], path, HOLD_READ_MAX, &text) < 0)
				continue;
			struct span line = hold_macro_of(buf_span(&text), buf_span(&j->after));

			if (!line.len)
				continue;
			v->most = HOLD_HOLD;
			int r = hold_say(
				j, v, "git would run the driver of a macro of %.200s: %.*s", path,
				(int)(line.len < HOLD_WORD_MAX ? line.len : HOLD_WORD_MAX),
				(const char *)line.ptr);

			return r < 0 ? r : 1;
		}
	return 0;
}

int hold_by_attributes(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	static const char *const commands[GIT_DRIVER_COUNT] = {
		[GIT_DRIVER_FILTER] = "git status, git diff, git add and git checkout",
		[GIT_DRIVER_DIFF] = "git diff, git log -p and git show",
		[GIT_DRIVER_MERGE] = "git merge and git pull",
	};
	int r = hold_read_both(j, c, v);

	if (r != 0)
		return r < 0 ? r : 0;
	r = hold_by_macros(j, c, v);
	if (r != 0)
		return r < 0 ? r : 0;
	struct git_attributes a = {.left = buf_span(&j->after)};

	v->most = HOLD_NOT;
	while (git_attributes_next(&a) && !hold_is_late(j)) {
		int len = a.name.len < HOLD_WORD_MAX ? (int)a.name.len : HOLD_WORD_MAX;
		const char *word = git_driver_words[a.driver], *name = (const char *)a.name.ptr;
		const struct hold_root *root = hold_driver_root(j, c->path, a.driver, a.name);
		const char *user = root ? NULL : hold_user_driver(&j->rules->user, word, a.name);

		if (!root && !user)
			user = hold_user_driver(&j->around, word, a.name);
		/* As the user's folder has it, because the session may have removed it from its own
		 * copy. */
		if (!root && !user)
			user = hold_user_driver(&j->here, word, a.name);
		if (user) {
			v->most = HOLD_HOLD;
			return hold_say(j, v, "%s would run the driver %s.%.*s that %.200s sets up",
					commands[a.driver], word, len, name, user);
		}
		if (!root && (git_attributes_is_builtin(a.driver, a.name) || v->most > HOLD_NOT))
			continue;
		/* The change may be about which files the driver is for.  So with a driver that is
		 * set up, any change of the attributes counts. */
		if (root) {
			v->most = HOLD_HOLD;
			return hold_say(j, v,
					"%s would run the driver %s.%.*s that %s%s.git/config "
					"sets up",
					commands[a.driver], word, len, name, root->path,
					*root->path ? "/" : "");
		}
		if (hold_attributes_had(buf_span(&j->old), a.driver, a.name))
			continue;
		v->most = HOLD_FLAG;
		r = hold_say(j, v, "%s would run a driver %s.%.*s, if your git has one",
			     commands[a.driver], word, len, name);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- submodules ----------------------------------------------------------------------- */

static bool hold_has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

/* The path is absolute, or a part of it is "..". */
static bool hold_climbs(const char *s)
{
	if (*s == '/')
		return true;
	while (*s) {
		size_t part = strcspn(s, "/\\");

		if (part == 2 && memcmp(s, "..", 2) == 0)
			return true;
		s += part;
		s += *s != '\0';
	}
	return false;
}

/* What is wrong with a submodule's setting; NULL: nothing. */
static const char *hold_submodule_wrong(const struct git_config *g)
{
	bool path = str_equal(g->key, "path"), url = str_equal(g->key, "url");

	if (hold_has_control(g->subsection) || hold_has_control(g->value))
		return "a name, path or address in it has control characters";
	if (hold_climbs(g->subsection))
		return "a name in it leads out of .git/modules";
	if (strcasestr(g->subsection, "hooks"))
		return "a name in it leads into hooks";
	if (path && hold_climbs(g->value))
		return "a path in it leads out of the repository";
	if ((path || url) && *g->value == '-')
		return "a path or address in it begins with a dash, as an option does";
	if (path && strcasestr(g->value, ".git"))
		return "a path in it leads into .git";
	if (url && strstr(g->value, "::"))
		return "git submodule update would run the program that its address names";
	if (str_equal(g->key, "update") && *g->value == '!')
		return "git submodule update would run a command that it names";
	return NULL;
}

int hold_by_submodules(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	int r = hold_read_both(j, c, v);

	if (r != 0)
		return r < 0 ? r : 0;
	struct git_config g = {.left = buf_span(&j->after)};

	while ((r = git_config_next(&g)) > 0) {
		const char *wrong =
			str_equal(g.section, "submodule") ? hold_submodule_wrong(&g) : NULL;

		if (wrong)
			return hold_say(j, v, "%s", wrong);
	}
	return r < 0 ? hold_say(j, v, "submodules that cannot be read: %s", g.why) : 0;
}

/* --- pointers ------------------------------------------------------------------------- */

/* Reads the content of the file or link, without "gitdir: " and the end of the line. */
static int hold_pointer_text(struct hold_judge *j, const struct change *c, char into[PATH_MAX])
{
	const char *text = c->after.link ? c->after.link : "";

	if (c->after.type == OBJECT_FILE) {
		int r = hold_read(j, c, CHANGE_AFTER);

		if (r < 0)
			return r;
		text = buf_str(&j->after);
		const char *rest = str_after(text, "gitdir:");

		text = rest ? rest + strspn(rest, " ") : text;
	}
	size_t len = strlen(text);

	while (c->after.type == OBJECT_FILE && len > 0 && text[len - 1] == '\n')
		len--;
	if (len >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(into, text, len);
	into[len] = '\0';
	return 0;
}

/* The path is in the workspace, where git itself would have put it. */
static bool hold_pointer_is_usual(const char *name, const char *path)
{
	if (str_equal(name, "commondir"))
		return hold_matches(".git", path) || hold_matches("**/.git", path);
	if (str_equal(name, "gitdir"))
		return hold_matches("**/.git", path);
	return hold_matches("**/.git/modules/**", path) ||
	       hold_matches("**/.git/worktrees/*", path);
}

int hold_by_pointer(struct hold_judge *j, const struct change *c, struct hold_verdict *v)
{
	const char *slash = strrchr(c->path, '/');
	const char *name = slash ? slash + 1 : c->path;
	char text[PATH_MAX], dir[PATH_MAX], path[PATH_MAX];
	int r = hold_pointer_text(j, c, text);

	if (r == -ENOMEM)
		return error_set(j->error, r, "no memory to look into %.200s", c->path);
	if (r < 0 || hold_has_control(text) || hold_parent(c->path, dir) < 0)
		return hold_say(j, v,
				"any git command run there would obey the repository that it "
				"names, which cannot be read");
	if (hold_resolve(j, dir, text, path) < 0)
		return hold_say(j, v,
				"it leads outside the workspace: any git command run there would "
				"obey the repository at %.*s",
				2 * HOLD_WORD_MAX, text);
	if (c->after.type == OBJECT_FILE && hold_pointer_is_usual(name, path))
		v->most = HOLD_FLAG;
	return hold_say(j, v, "any git command run there would obey the repository at %.*s",
			2 * HOLD_WORD_MAX, *path ? path : ".");
}

bool hold_is_own_git(const char *path)
{
	return str_equal(path, ".git");
}

/* Without its own .git the folder belongs to the repository around it: git works there, and so does
 * the next session.  hold_late.c judges the removal of a .git that has the objects. */
int hold_gone_pointer(struct hold_judge *j, const char *path, struct hold_verdict *v)
{
	unsigned int was = hold_type(&j->before, path);

	if (!hold_is_own_git(path))
		return 0;
	if (was == OBJECT_ABSENT ||
	    (was == OBJECT_DIR && hold_type(&j->before, ".git/objects") == OBJECT_DIR)) {
		v->most = HOLD_NOT;
		return 0;
	}
	return hold_say(j, v,
			"without it this folder belongs to the repository around it, if there is "
			"one: your git, and the next session here, would have all of that");
}

/* --- worktrees ------------------------------------------------------------------------ */

/*
 * The folder in which git keeps a worktree's files and in which the path is; false: there is none.
 */
static bool hold_worktree_of(const char *path, char into[PATH_MAX])
{
	const char *at = strstr(path + git_dir_of(path), "worktrees/");
	const char *name = at ? at + strlen("worktrees/") : NULL;
	size_t len = name ? (size_t)(name - path) + strcspn(name, "/") : 0;

	if (!name || (at > path && at[-1] != '/') || path[len] != '/' || len >= PATH_MAX)
		return false;
	memcpy(into, path, len);
	into[len] = '\0';
	return true;
}

/* The change that removed the first of the files without which git does not know the worktree;
 * NULL: none was removed. */
static const struct change *hold_worktree_lead(struct hold_judge *j, const char *dir)
{
	static const char *const parts[] = {"gitdir", "HEAD", "commondir"};
	char path[PATH_MAX];

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(parts); i++) {
		const struct change *c = NULL;
		struct object now, was;

		if (snprintf(path, sizeof(path), "%s/%s", dir, parts[i]) >= (int)sizeof(path))
			continue;
		c = changes_find(j->changes, path);
		/*
		 * It can be the old name of a moved file, and such a name has no change of its own.
		 */
		if (c && c->after.type == OBJECT_ABSENT)
			return c;
		if (c || view_look(&j->before, path, &was) < 0 || was.type != OBJECT_FILE ||
		    (view_look(j->view, path, &now) == 0 && now.type != OBJECT_ABSENT))
			continue;
		for (size_t n = 0; n < j->changes->count; n++)
			if (j->changes->items[n].from && str_equal(j->changes->items[n].from, path))
				return &j->changes->items[n];
	}
	return NULL;
}

/* The worktree's folder was in the workspace, and the session removed it, too: that removal has its
 * own change.  `where` gets the path that git has for it. */
static bool hold_worktree_went(struct hold_judge *j, const char *dir, char where[PATH_MAX])
{
	_cleanup_buf_ struct buf text = BUF_INIT(0);
	char path[PATH_MAX];
	struct object was, now;

	where[0] = '\0';
	if (snprintf(path, sizeof(path), "%s/gitdir", dir) >= (int)sizeof(path) ||
	    hold_read_path(&j->before, path, PATH_MAX - 1, &text) < 0)
		return false;
	for (size_t n = text.len; n > 0 && text.ptr[n - 1] == '\n'; n--)
		text.ptr[n - 1] = '\0';
	(void)snprintf(where, PATH_MAX, "%s", buf_str(&text));
	return hold_resolve(j, dir, buf_str(&text), path) == 0 &&
	       view_look(&j->before, path, &was) == 0 && was.type != OBJECT_ABSENT &&
	       (view_look(j->view, path, &now) < 0 || now.type == OBJECT_ABSENT);
}

/* `git worktree prune` thinks that a worktree is gone when it does not find its folder, and a box
 * shows no worktree beside the workspace. */
int hold_gone_worktree(struct hold_judge *j, const char *path, struct hold_verdict *v)
{
	char dir[PATH_MAX], where[PATH_MAX], head[PATH_MAX];
	struct object o;

	v->most = HOLD_NOT;
	if (!hold_worktree_of(path, dir))
		return 0;
	/* hold_late.c judges a repository that goes as a whole. */
	if (hold_resolve(j, dir, "../../HEAD", head) < 0 || view_look(j->view, head, &o) < 0 ||
	    o.type == OBJECT_ABSENT || hold_worktree_went(j, dir, where))
		return 0;
	const struct change *lead = hold_worktree_lead(j, dir);

	if (!lead)
		return 0;
	v->most = HOLD_HOLD;
	v->with = str_equal(lead->path, path) || (lead->from && str_equal(lead->from, path))
			  ? NULL
			  : lead->path;
	return hold_say(j, v,
			"your worktree at %.*s is not shown in a box, where git takes it for gone; "
			"without this, git knows nothing of it, of what is checked out and staged "
			"there",
			2 * HOLD_WORD_MAX, *where ? where : dir);
}
