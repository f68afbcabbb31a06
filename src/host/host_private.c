/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private places of a home: where keys, tokens, sessions, histories and mail are kept.  The box
 * shows none of the home anyway; the table says which folders can never become a tool or a
 * workspace, when we warn because the user names one, and what `explain` lists as hidden.
 *
 * A file with several hard links may have one of them in a private folder: only then we look
 * through the private folders, as far as that is quick.
 */
#include "host_parts.h"

#include "dir.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <unistd.h>

enum { HOST_LINKS_DEPTH = 6, HOST_LINKS_MOST = 20000 };

/* In the home itself. */
static const char *const host_private_home[] = {
	/* keys and what unlocks other machines */
	".ssh",
	".gnupg",
	".pki",
	".password-store",
	".vault-token",
	".netrc",
	".authinfo",
	".authinfo.gpg",
	".git-credentials",
	".Xauthority",
	".ICEauthority",
	/* clouds and clusters */
	".aws",
	".azure",
	".boto",
	".bunfig.toml",
	".condarc",
	".databrickscfg",
	".docker",
	".fly",
	".kube",
	".oci",
	".pulumi/credentials.json",
	".s3cfg",
	".terraform.d/credentials.tfrc.json",
	".terraformrc",
	/* registries and databases */
	".cargo/credentials",
	".cargo/credentials.toml",
	".gem/credentials",
	".gradle/gradle.properties",
	".kaggle",
	".m2/settings-security.xml",
	".m2/settings.xml",
	".my.cnf",
	".npmrc",
	".nuget/NuGet/NuGet.Config",
	".pgpass",
	".pypirc",
	".yarnrc.yml",
	/* agents: their logins and what the user said to them */
	".aider",
	".claude",
	".claude.json",
	".codex",
	".continue",
	".copilot",
	".cursor",
	".gemini",
	".pi",
	".qwen",
	/* histories */
	".bash_history",
	".lesshst",
	".mysql_history",
	".node_repl_history",
	".psql_history",
	".python_history",
	".rediscli_history",
	".sqlite_history",
	".viminfo",
	".zsh_history",
	/* browsers, mail, wallets */
	".bitcoin",
	".electrum",
	".ethereum",
	".mozilla",
	".msmtprc",
	".mutt",
	".thunderbird",
	"Mail",
	"Maildir",
	/* where the system keeps all application data of a user */
	".var",
	"snap",
};

static const char *const host_private_config[] = {
	"1Password",
	"BraveSoftware",
	"Bitwarden",
	"Signal",
	"Slack",
	"Code",
	"age",
	"amp",
	"anthropic",
	"chromium",
	"configstore",
	"containers",
	"cursor",
	"discord",
	"doctl",
	"gcloud",
	"gh",
	"github-copilot",
	"git/credentials",
	"glab-cli",
	"google-chrome",
	"goose",
	"hub",
	"keepassxc",
	"microsoft-edge",
	"ngrok",
	"op",
	"opencode",
	"pnpm",
	"pypoetry",
	"rclone",
	"sops",
	"stripe",
	"vivaldi",
};

static const char *const host_private_share[] = {
	"amp",
	"cursor-agent",
	"evolution",
	"fish/fish_history",
	"goose",
	"keyrings",
	"kwalletd",
	"opencode",
	"pass",
	"password-store",
	"recently-used.xbel",
	"TelegramDesktop",
	"uv/credentials",
	"Trash",
	"zsh/history",
};

static const char *const host_private_cache[] = {
	"chromium", "google-chrome", "huggingface/token", "keyring", "mozilla", "thunderbird",
};

static const struct {
	const char *dir; /* in the home; "" is the home itself */
	const char *const *names;
	size_t count;
} host_private[] = {
	{"", host_private_home, BAWN_ARRAY_SIZE(host_private_home)},
	{".config", host_private_config, BAWN_ARRAY_SIZE(host_private_config)},
	{".local/share", host_private_share, BAWN_ARRAY_SIZE(host_private_share)},
	{".cache", host_private_cache, BAWN_ARRAY_SIZE(host_private_cache)},
};

/* What follows dir in path, "" when they are the same; NULL when path is elsewhere. */
static const char *host_below(const char *path, const char *dir)
{
	const char *rest = *dir ? str_after(path, dir) : path;

	if (!rest || (*dir && rest[0] != '\0' && rest[0] != '/'))
		return NULL;
	return rest + (rest[0] == '/');
}

/* in: whether path is a private place or is in one; else: whether one is in path. */
static bool host_private_match(const char *home, const char *path, bool in)
{
	if (!str_path_beneath(path, home)) {
		const char *above = path;

		return !in && str_path_beneath(home, above);
	}
	const char *rest = host_below(path, home);

	for (size_t g = 0; g < BAWN_ARRAY_SIZE(host_private); g++) {
		const char *tail = host_below(rest, host_private[g].dir);

		/* The folder of the group, or one above it, has all that the group names in it. */
		if (!tail || tail[0] == '\0') {
			if (!in && host_below(host_private[g].dir, rest))
				return true;
			continue;
		}
		for (size_t i = 0; i < host_private[g].count; i++) {
			const char *name = host_private[g].names[i];

			if (in ? host_below(tail, name) != NULL
			       : host_below(name, tail) && !str_equal(name, tail))
				return true;
		}
	}
	return false;
}

bool host_is_private(const struct host *h, const char *path)
{
	for (size_t i = 0; i < h->homes.count; i++)
		if (host_private_match(h->homes.items[i].path, path, true))
			return true;
	for (size_t i = 0; i < h->private_places.count; i++)
		if (str_path_beneath(path, h->private_places.items[i].path))
			return true;
	return false;
}

bool host_holds_private(const struct host *h, const char *path)
{
	for (size_t i = 0; i < h->homes.count; i++)
		if (host_private_match(h->homes.items[i].path, path, false))
			return true;
	for (size_t i = 0; i < h->private_places.count; i++)
		if (str_path_beneath(h->private_places.items[i].path, path))
			return true;
	return false;
}

static int host_add_private(struct host *h, const char *home, const char *dir, const char *name,
			    struct arena *arena)
{
	char *path = arena_printf(arena, "%s/%s%s%s", home, dir, *dir ? "/" : "", name);
	struct stat st;
	struct host_object object;

	if (!path)
		return -ENOMEM;
	if (lstat(path, &st) < 0)
		return 0;
	object = (struct host_object){.name = path,
				      .path = path,
				      .dev = st.st_dev,
				      .ino = st.st_ino,
				      .is_dir = S_ISDIR(st.st_mode),
				      .is_file = S_ISREG(st.st_mode)};
	/* It is a link: what it leads to is private, too. */
	if (S_ISLNK(st.st_mode) && host_look(path, arena, &object) < 0)
		return 0;
	object.origin = "private place";
	int r = host_list_add(&h->private_places, arena, &object);

	return r < 0 ? r : host_know(h, object.path, arena);
}

static int host_find_private_of(struct host *h, const char *home,
				const struct host_home_names *names, struct arena *arena)
{
	for (size_t g = 0; g < BAWN_ARRAY_SIZE(host_private); g++) {
		const char *dir = host_private[g].dir;

		for (size_t i = 0; i < host_private[g].count; i++) {
			const char *name = host_private[g].names[i];
			int r = host_may_have(names, dir, name)
					? host_add_private(h, home, dir, name, arena)
					: 0;
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int host_find_private(struct host *h, const struct host_home_names *names, struct arena *arena)
{
	int r = host_find_private_of(h, h->home, names, arena);

	for (size_t i = 1; r == 0 && i < h->homes.count; i++) {
		struct host_home_names others;

		host_read_names(h->homes.items[i].path, &others);
		r = host_find_private_of(h, h->homes.items[i].path, &others, arena);
	}
	return r < 0 ? r : host_add_again(h, &h->private_places, 0, true, arena);
}

/* The name of a file in this folder, or beneath it; NULL when there is none. */
static const char *host_linked_in(const char *folder, const struct stat *file, int depth,
				  size_t *left, struct arena *arena)
{
	int fd = open_no_links(folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	_cleanup_dir_ DIR *dir = dir_read(fd, NULL);
	const char *found = NULL;
	struct stat st;

	for (const struct dirent *d; !found && *left > 0 && (d = dir_next(dir, NULL));) {
		(*left)--;
		if ((d->d_type != DT_DIR && d->d_type != DT_UNKNOWN && d->d_ino != file->st_ino) ||
		    fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		bool same = st.st_ino == file->st_ino && st.st_dev == file->st_dev;
		const char *name = same || (S_ISDIR(st.st_mode) && depth > 0)
					   ? arena_printf(arena, "%s/%s", folder, d->d_name)
					   : NULL;

		found = same || !name ? name : host_linked_in(name, file, depth - 1, left, arena);
	}
	return found;
}

const char *host_linked_as(const struct host *h, const char *path, struct arena *arena)
{
	const struct host_list *const lists[] = {&h->private_places, &h->guarded};
	size_t left = HOST_LINKS_MOST;
	const char *found = NULL;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink < 2 ||
	    host_is_private(h, path))
		return path;
	for (size_t n = 0; n < BAWN_ARRAY_SIZE(lists); n++)
		for (size_t i = 0; !found && i < lists[n]->count; i++)
			if (lists[n]->items[i].is_dir)
				found = host_linked_in(lists[n]->items[i].path, &st,
						       HOST_LINKS_DEPTH, &left, arena);
	return found ? found : path;
}
