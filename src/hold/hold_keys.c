/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git's settings do.  Two lists: those that run something or lead somewhere, each with the
 * command that would do it; and those that are known to do neither.  A setting on neither list
 * counts as one that runs something: every version of git adds some, and so do its extensions.
 *
 * A row is "section.key", or "section.*.key" for one with a subsection; a key of "*" is any.
 */
#include "hold_parts.h"

#include "git_config.h"
#include "sha1.h"
#include "str.h"

struct hold_key_row {
	const char *section;
	bool sub; /* with a subsection */
	const char *key;
	const char *by;
};

#define HOLD_COMMIT "git commit, git checkout, git merge and git push"
#define HOLD_STATUS "git status, git diff and git add"
#define HOLD_FETCH "git fetch, git pull and git push"
#define HOLD_MISSING "git log, git checkout and others would fetch from there what is missing"
#define HOLD_DIFF "git diff, git log -p and git show"

static const struct hold_key_row hold_keys_run[] = {
	{"include", false, "path", "every git command would read more settings from there"},
	{"includeif", true, "path", "every git command would read more settings from there"},
	{"core", false, "hookspath", HOLD_COMMIT " would run the hooks there"},
	{"hook", true, "*", HOLD_COMMIT " would run it"},
	{"core", false, "fsmonitor", HOLD_STATUS " would run it"},
	{"core", false, "sshcommand", HOLD_FETCH " would run it"},
	{"core", false, "gitproxy", HOLD_FETCH " would run it"},
	{"core", false, "askpass", HOLD_FETCH " would run it"},
	{"core", false, "alternaterefscommand", HOLD_FETCH " would run it"},
	{"core", false, "pager", "git log, git diff and git show would run it"},
	{"pager", false, "*", "that git command would run it"},
	{"core", false, "editor", "git commit, git merge and git rebase would run it"},
	{"sequence", false, "editor", "git rebase -i would run it"},
	{"core", false, "worktree", "git checkout would write files there"},
	{"core", false, "attributesfile", HOLD_STATUS " would take drivers from there"},
	{"alias", false, "*", "git with that word would run it"},
	{"alias", true, "*", "git with that word would run it"},
	{"credential", false, "*", HOLD_FETCH " would run it, or give your password to it"},
	{"credential", true, "*", HOLD_FETCH " would run it, or give your password to it"},
	{"diff", false, "external", HOLD_DIFF " would run it"},
	{"diff", true, "command", HOLD_DIFF " would run it"},
	{"diff", true, "textconv", HOLD_DIFF " would run it"},
	{"filter", true, "clean", HOLD_STATUS " would run it"},
	{"filter", true, "smudge", "git checkout, git clone and git merge would run it"},
	{"filter", true, "process", HOLD_STATUS " would run it"},
	{"merge", true, "driver", "git merge, git rebase and git pull would run it"},
	{"merge", false, "tool", "git mergetool would run it"},
	{"mergetool", true, "*", "git mergetool would run it"},
	{"difftool", true, "*", "git difftool would run it"},
	{"diff", false, "tool", "git difftool would run it"},
	{"guitool", true, "*", "git gui would run it"},
	{"gpg", false, "program", "git commit -S and git log --show-signature would run it"},
	{"gpg", true, "*", "git commit -S and git log --show-signature would run it"},
	{"remote", true, "uploadpack", HOLD_FETCH " would run it"},
	{"remote", true, "receivepack", "git push would run it"},
	{"remote", true, "vcs", HOLD_FETCH " would run it"},
	{"remote", true, "proxy", HOLD_FETCH " would go through it"},
	{"remote", true, "pushurl", "git push would send your commits there"},
	{"url", true, "*", HOLD_FETCH " would go there instead"},
	{"protocol", false, "allow", HOLD_FETCH " would run what an address names"},
	{"protocol", true, "allow", HOLD_FETCH " would run what an address names"},
	{"http", false, "*", HOLD_FETCH " would go through it, or send to it"},
	{"http", true, "*", HOLD_FETCH " would go through it, or send to it"},
	{"gc", false, "recentobjectshook",
	 "git gc would run it, as many commands do by themselves"},
	{"uploadpack", false, "*", "a git fetch from here would run it"},
	{"extensions", false, "partialclone", HOLD_MISSING},
	{"submodule", true, "update", "git submodule update would run it"},
	{"submodule", true, "url", "git submodule update would fetch from there"},
	{"browser", true, "*", "git help -w would run it"},
	{"web", false, "browser", "git help -w would run it"},
	{"man", true, "*", "git help would run it"},
	{"instaweb", false, "*", "git instaweb would run it"},
	{"interactive", false, "difffilter", "git add -p would run it"},
	{"sendemail", false, "*", "git send-email would run it"},
	{"sendemail", true, "*", "git send-email would run it"},
	{"imap", false, "*", "git imap-send would run it"},
	{"trailer", true, "*", "git commit --trailer would run it"},
	{"tar", true, "*", "git archive would run it"},
	{"init", false, "templatedir", "git init and git clone would copy hooks from there"},
	{"branch", true, "mergeoptions", "git merge and git pull would obey it"},
	{"pull", false, "twohead", "git pull would run it"},
	{"lfs", false, "*", "git lfs would obey it"},
	{"lfs", true, "*", "git lfs would obey it"},
};

/* Exact keys, or all keys of a section whose other keys are above. */
static const struct hold_key_row hold_keys_harmless[] = {
	{"core", false, "repositoryformatversion", NULL},
	{"core", false, "ignorecase", NULL},
	{"core", false, "precomposeunicode", NULL},
	{"core", false, "symlinks", NULL},
	{"core", false, "autocrlf", NULL},
	{"core", false, "eol", NULL},
	{"core", false, "safecrlf", NULL},
	{"core", false, "quotepath", NULL},
	{"core", false, "whitespace", NULL},
	{"core", false, "abbrev", NULL},
	{"core", false, "commentchar", NULL},
	{"core", false, "compression", NULL},
	{"core", false, "preloadindex", NULL},
	{"core", false, "untrackedcache", NULL},
	{"core", false, "splitindex", NULL},
	{"core", false, "commitgraph", NULL},
	{"core", false, "multipackindex", NULL},
	{"core", false, "sparsecheckoutcone", NULL},
	{"core", false, "longpaths", NULL},
	{"extensions", false, "objectformat", NULL},
	{"extensions", false, "relativeworktrees", NULL},
	{"user", false, "name", NULL},
	{"user", false, "email", NULL},
	{"user", false, "useconfigonly", NULL},
	{"author", false, "*", NULL},
	{"committer", false, "*", NULL},
	{"init", false, "defaultbranch", NULL},
	{"branch", false, "*", NULL},
	{"branch", true, "merge", NULL},
	{"branch", true, "rebase", NULL},
	{"branch", true, "description", NULL},
	{"branch", true, "vscode-merge-base", NULL},
	{"branch", true, "github-pr-owner-number", NULL},
	{"remote", true, "tagopt", NULL},
	{"remote", true, "partialclonefilter", NULL},
	{"submodule", true, "active", NULL},
	{"submodule", false, "active", NULL},
	{"pull", false, "rebase", NULL},
	{"pull", false, "ff", NULL},
	{"push", false, "autosetupremote", NULL},
	{"push", false, "followtags", NULL},
	{"fetch", false, "fsckobjects", NULL},
	{"fetch", false, "parallel", NULL},
	{"fetch", false, "negotiationalgorithm", NULL},
	{"fetch", false, "output", NULL},
	{"fetch", false, "showforcedupdates", NULL},
	{"fetch", false, "writecommitgraph", NULL},
	{"fetch", false, "recursesubmodules", NULL},
	{"fetch", false, "unpacklimit", NULL},
	{"fetch", false, "all", NULL},
	{"rebase", false, "autosquash", NULL},
	{"rebase", false, "autostash", NULL},
	{"rebase", false, "updaterefs", NULL},
	{"rebase", false, "stat", NULL},
	{"rerere", false, "*", NULL},
	{"merge", false, "conflictstyle", NULL},
	{"merge", false, "ff", NULL},
	{"merge", false, "log", NULL},
	{"merge", false, "renames", NULL},
	{"merge", false, "stat", NULL},
	{"diff", false, "algorithm", NULL},
	{"diff", false, "renames", NULL},
	{"diff", false, "colormoved", NULL},
	{"diff", false, "noprefix", NULL},
	{"diff", false, "mnemonicprefix", NULL},
	{"diff", false, "context", NULL},
	{"diff", false, "submodule", NULL},
	{"commit", false, "verbose", NULL},
	{"commit", false, "cleanup", NULL},
	{"tag", false, "sort", NULL},
	{"color", false, "*", NULL},
	{"color", true, "*", NULL},
	{"column", false, "*", NULL},
	{"status", false, "*", NULL},
	{"log", false, "*", NULL},
	{"format", false, "pretty", NULL},
	{"advice", false, "*", NULL},
	{"index", false, "*", NULL},
	{"feature", false, "*", NULL},
	{"pack", false, "*", NULL},
	{"gc", false, "auto", NULL},
	{"gc", false, "autodetach", NULL},
	{"gc", false, "autopacklimit", NULL},
	{"gc", false, "aggressivedepth", NULL},
	{"gc", false, "aggressivewindow", NULL},
	{"gc", false, "bigpackthreshold", NULL},
	{"gc", false, "cruftpacks", NULL},
	{"gc", false, "logexpiry", NULL},
	{"gc", false, "maxcruftsize", NULL},
	{"gc", false, "packrefs", NULL},
	{"gc", false, "rerereresolved", NULL},
	{"gc", false, "rerereunresolved", NULL},
	{"gc", false, "writecommitgraph", NULL},
	{"maintenance", false, "auto", NULL},
	{"maintenance", false, "strategy", NULL},
	{"i18n", false, "*", NULL},
	{"stash", false, "*", NULL},
	{"versionsort", false, "*", NULL},
	{"worktree", false, "*", NULL},
	{"gui", false, "*", NULL},
	{"lfs", false, "repositoryformatversion", NULL},
};

#define HOLD_GC \
	"git gc, which many commands start, would remove commits that only logs and stashes have"
#define HOLD_HIDES "git status would not say all that has changed"

/* Settings that can lose or hide work, or lead somewhere, unless their value is one of the harmless
 * words. */
static const struct {
	struct hold_key_row row;
	const char *harmless;
	enum hold_key key;
} hold_keys_lose[] = {
	{{"submodule", false, "recurse",
	  "git switch, git checkout and git pull would write the files of submodules, too"},
	 "false",
	 HOLD_KEY_SHOWN},
	{{"commit", false, "gpgsign", "git commit would not sign any more"},
	 "true",
	 HOLD_KEY_SHOWN},
	{{"tag", false, "gpgsign", "git tag would not sign any more"}, "true", HOLD_KEY_SHOWN},
	{{"core", false, "filemode", "git would not see which files can be run"},
	 "true",
	 HOLD_KEY_SHOWN},
	{{"core", false, "excludesfile", HOLD_HIDES}, "", HOLD_KEY_SHOWN},
	{{"push", false, "default", "git push would push all branches of the same names"},
	 "simple|current|upstream|tracking|nothing",
	 HOLD_KEY_SHOWN},
	{{"gc", false, "pruneexpire", HOLD_GC}, "never", HOLD_KEY_RUNS},
	{{"gc", false, "reflogexpire", HOLD_GC}, "never", HOLD_KEY_RUNS},
	{{"gc", false, "reflogexpireunreachable", HOLD_GC}, "never", HOLD_KEY_RUNS},
	{{"gc", false, "worktreepruneexpire", HOLD_GC}, "never", HOLD_KEY_RUNS},
	{{"remote", true, "promisor", HOLD_MISSING}, "false", HOLD_KEY_RUNS},
	{{"core", false, "logallrefupdates", "git would no longer log where branches were"},
	 "true",
	 HOLD_KEY_SHOWN},
	{{"core", false, "bare", "git would think that this repository has no files"},
	 "false",
	 HOLD_KEY_SHOWN},
	{{"core", false, "sparsecheckout", HOLD_HIDES}, "false", HOLD_KEY_SHOWN},
	{{"core", false, "checkstat", HOLD_HIDES}, "default", HOLD_KEY_SHOWN},
	{{"core", false, "trustctime", HOLD_HIDES}, "true", HOLD_KEY_SHOWN},
	{{"status", false, "showuntrackedfiles", HOLD_HIDES}, "normal", HOLD_KEY_SHOWN},
	{{"remote", true, "prune", "git fetch would remove branches that the remote does not have"},
	 "false",
	 HOLD_KEY_SHOWN},
	{{"remote", true, "gh-resolved", "gh pr, gh issue and others would use it"},
	 "base",
	 HOLD_KEY_SHOWN},
	{{"fetch", false, "prune", "git fetch would remove branches that the remote does not have"},
	 "false",
	 HOLD_KEY_SHOWN},
	{{"fetch", false, "prunetags", "git fetch would remove tags that the remote does not have"},
	 "false",
	 HOLD_KEY_SHOWN},
};

static bool hold_key_is(const struct hold_key_row *row, const struct git_config *g)
{
	return str_equal(row->section, g->section) && row->sub == g->has_subsection &&
	       (str_equal(row->key, "*") || str_equal(row->key, g->key));
}

static const struct hold_key_row *hold_key_find(const struct git_config *g,
						const struct hold_key_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (hold_key_is(&rows[i], g))
			return &rows[i];
	return NULL;
}

/* The value is a plain address or name of a remote: no helper, no option, no control characters. */
static bool hold_key_is_plain(const char *value)
{
	if (*value == '-' || strstr(value, "::"))
		return false;
	for (; *value; value++)
		if ((unsigned char)*value < 0x20 || *value == 0x7f)
			return false;
	return true;
}

/* git puts what it fetches among the remote's branches, not among the user's own. */
static bool hold_key_is_afar(const char *value)
{
	const char *colon = strchr(value, ':');

	return !colon || str_after(colon + 1, "refs/remotes/");
}

/* The value is one of the words, which have a bar between them. */
static bool hold_key_is_among(const char *value, const char *words)
{
	size_t len = strlen(value);

	for (;; words++) {
		size_t word = strcspn(words, "|");

		if (word == len && strncasecmp(words, value, len) == 0)
			return true;
		words += word;
		if (!*words)
			return false;
	}
}

enum hold_key hold_key_of(const struct git_config *g, const char **ret_by)
{
	*ret_by = "";
	if (str_equal(g->section, "remote") && g->has_subsection && str_equal(g->key, "fetch")) {
		*ret_by = "git fetch would write and remove branches of your own";
		return hold_key_is_afar(g->value) ? HOLD_KEY_HARMLESS : HOLD_KEY_RUNS;
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(hold_keys_lose); i++)
		if (hold_key_is(&hold_keys_lose[i].row, g)) {
			*ret_by = hold_keys_lose[i].row.by;
			return hold_key_is_among(g->value, hold_keys_lose[i].harmless)
				       ? HOLD_KEY_HARMLESS
				       : hold_keys_lose[i].key;
		}
	const struct hold_key_row *row =
		hold_key_find(g, hold_keys_harmless, BAWN_ARRAY_SIZE(hold_keys_harmless));

	if (row && hold_key_is_plain(g->value))
		return HOLD_KEY_HARMLESS;
	if (str_equal(g->section, "remote") && str_equal(g->key, "url")) {
		*ret_by = HOLD_FETCH " would go there";
		return hold_key_is_plain(g->value) ? HOLD_KEY_SHOWN : HOLD_KEY_RUNS;
	}
	if (str_equal(g->section, "branch") && g->has_subsection &&
	    (str_equal(g->key, "remote") || str_equal(g->key, "pushremote"))) {
		*ret_by = "git pull and git push on that branch would go there";
		return hold_key_is_plain(g->value) ? HOLD_KEY_LEADS : HOLD_KEY_RUNS;
	}
	row = hold_key_find(g, hold_keys_run, BAWN_ARRAY_SIZE(hold_keys_run));
	*ret_by = row ? row->by : "git would obey it, and bawn does not know it to be harmless";
	return HOLD_KEY_RUNS;
}

bool hold_key_at(size_t i, const char **section, const char **key, bool *sub)
{
	if (i >= BAWN_ARRAY_SIZE(hold_keys_run))
		return false;
	*section = hold_keys_run[i].section;
	*key = hold_keys_run[i].key;
	*sub = hold_keys_run[i].sub;
	return true;
}

uint8_t hold_name_len(struct span config)
{
	struct git_config g = {.left = config};
	uint8_t len = SHA1_SIZE;

	while (git_config_next(&g) > 0)
		if (str_equal(g.section, "extensions") && !g.has_subsection &&
		    str_equal(g.key, "objectformat"))
			len = strcasecmp(g.value, "sha256") == 0 ? SHA256_SIZE : SHA1_SIZE;
	return len;
}

bool hold_is_partial(struct span config)
{
	struct git_config g = {.left = config};

	while (git_config_next(&g) > 0)
		if ((str_equal(g.section, "extensions") && str_equal(g.key, "partialclone")) ||
		    (str_equal(g.section, "remote") && str_equal(g.key, "promisor") &&
		     strcasecmp(g.value, "false") != 0))
			return true;
	return false;
}
