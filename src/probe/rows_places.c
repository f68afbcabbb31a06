/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The usual places in which people keep what must not be read, and the files
 * that their own tools run later.  A name may exist in the box, which has a
 * home of its own.  So the object counts, by device and
 * inode: the control outside finds it and gives its identity to the attempt.
 *
 * A place that this machine does not have cannot be proven here; the fixture
 * adds canaries of its own in a few places that every machine has.
 */
#include "attempt.h"
#include "fd.h"
#include "own.h"
#include "str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens the place; fills text with the identity of what it found. */
static int places_open(struct probe_run *run, char *text, size_t size)
{
	char path[PATH_MAX];
	struct stat st;

	if (!facts_path(run->facts, run->probe->text, path))
		return PROBE_UNABLE;
	_cleanup_fd_ int fd =
		open(path, (int)run->probe->number | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return PROBE_UNABLE;
	(void)snprintf(text, size, "%" PRIu64 ":%" PRIu64, (uint64_t)st.st_dev,
		       (uint64_t)st.st_ino);
	return PROBE_DONE;
}

static int places_attempt(struct probe_run *run)
{
	char key[96];
	char found[64] = "";
	int r = places_open(run, found, sizeof(found));

	(void)snprintf(key, sizeof(key), "object.%s", run->probe->name);
	const char *theirs = facts_get(run->facts, key);

	if (r != PROBE_DONE)
		return r;
	/* Without a control there is no identity to compare, so finding something proves
	 * nothing. */
	return theirs && str_equal(theirs, found) ? PROBE_DONE : PROBE_OWN;
}

/* Puts the identity into the note; verify passes it to the attempt. */
static int places_control(struct probe_run *run)
{
	char found[64] = "";
	int r = places_open(run, found, sizeof(found));

	probe_note(run, "%s", found);
	return r;
}

#define PLACE(label, where, which, what, mode, extra)                                          \
	{                                                                                      \
		.id = "FS-13", .name = "place-" label, .sentence = (what), .promise = (which), \
		.layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK),                       \
		.attempt = places_attempt, .want = {-ENOENT, PROBE_OWN, -EACCES, -EROFS},      \
		.control = PROBE_CONTROL_OWN, .control_fn = places_control,                    \
		.flags = PROBE_PATH | (extra), .text = (where), .number = (mode)               \
	}
#define SECRET(label, where, what) \
	PLACE(label, where, PROBE_SECRETS, what " cannot be read.", O_RDONLY, PROBE_MAY_LACK)
#define FILES(label, where, what) \
	PLACE(label, where, PROBE_FILES, what " cannot be read.", O_RDONLY, PROBE_MAY_LACK)
#define LATER(label, where, what) \
	PLACE(label, where, PROBE_LATER, what " cannot be written.", O_WRONLY, PROBE_MAY_LACK)
#define CANARY(label, where, what) \
	PLACE(label, where, PROBE_FILES, what " cannot be read.", O_RDONLY, 0)
/* A place that some machines do not have, or not for this user. */
#define CANARY_MAYBE(label, where, what) \
	PLACE(label, where, PROBE_FILES, what " cannot be read.", O_RDONLY, PROBE_MAY_LACK)

static const struct probe rows[] = {
	CANARY("canary", "@private.file", "A private file"),
	CANARY_MAYBE("home-canary", "@canary.home", "A new file in the user's home"),
	CANARY_MAYBE("var-tmp-canary", "@canary.var-tmp", "A file in /var/tmp"),
	CANARY_MAYBE("shm-canary", "@canary.shm", "The host's shared memory"),
	CANARY_MAYBE("run-canary", "@canary.run", "A file in the user's runtime folder"),
	CANARY("other-project", "@private", "Another project on the same disk"),

	PLACE("store", "@store", PROBE_RECORD,
	      "Where bawn keeps this box's home cannot be reached.", O_RDONLY, 0),
	PLACE("state", "@state", PROBE_RECORD, "What bawn keeps about sessions cannot be reached.",
	      O_RDONLY, 0),

	SECRET("ssh", "~/.ssh", "SSH keys"),
	SECRET("ssh-key", "~/.ssh/id_ed25519", "The SSH private key"),
	SECRET("ssh-rsa", "~/.ssh/id_rsa", "The older SSH private key"),
	SECRET("known-hosts", "~/.ssh/known_hosts", "The list of known hosts"),
	SECRET("gnupg", "~/.gnupg", "PGP keys"),
	SECRET("aws", "~/.aws", "AWS credentials"),
	SECRET("aws-file", "~/.aws/credentials", "The AWS credentials file"),
	SECRET("gcloud", "~/.config/gcloud", "Google Cloud credentials"),
	SECRET("azure", "~/.azure", "Azure credentials"),
	SECRET("kube", "~/.kube/config", "Kubernetes credentials"),
	SECRET("docker", "~/.docker/config.json", "Docker's logins"),
	SECRET("gh", "~/.config/gh", "GitHub's token"),
	SECRET("glab", "~/.config/glab-cli", "GitLab's token"),
	SECRET("hub", "~/.config/hub", "hub's token"),
	SECRET("git-credentials", "~/.git-credentials", "Git's stored passwords"),
	SECRET("git-credentials-xdg", "~/.config/git/credentials", "Git's stored passwords (XDG)"),
	SECRET("npmrc", "~/.npmrc", "npm's token"),
	SECRET("pypirc", "~/.pypirc", "PyPI's token"),
	SECRET("cargo", "~/.cargo/credentials.toml", "Cargo's token"),
	SECRET("gem", "~/.gem/credentials", "RubyGems' token"),
	SECRET("netrc", "~/.netrc", "The netrc file"),
	SECRET("pgpass", "~/.pgpass", "PostgreSQL passwords"),
	SECRET("my-cnf", "~/.my.cnf", "MySQL passwords"),
	SECRET("vault", "~/.vault-token", "The Vault token"),
	SECRET("terraform", "~/.terraform.d/credentials.tfrc.json", "Terraform's token"),
	SECRET("password-store", "~/.password-store", "The password store"),
	SECRET("keyrings", "~/.local/share/keyrings", "The desktop's keyrings"),
	SECRET("kwallet", "~/.local/share/kwalletd", "The desktop's wallet"),
	SECRET("firefox", "~/.mozilla", "Firefox profiles"),
	SECRET("chrome", "~/.config/google-chrome", "Chrome profiles"),
	SECRET("chromium", "~/.config/chromium", "Chromium profiles"),
	SECRET("thunderbird", "~/.thunderbird", "Mail"),
	SECRET("claude", "~/.claude.json", "Claude's login"),
	SECRET("claude-dir", "~/.claude", "Claude's folder"),
	SECRET("codex", "~/.codex", "Codex's folder"),
	SECRET("gemini", "~/.gemini", "Gemini's folder"),
	SECRET("opencode", "~/.local/share/opencode", "OpenCode's folder"),
	SECRET("copilot", "~/.config/github-copilot", "Copilot's token"),
	SECRET("aider", "~/.aider", "aider's folder"),
	SECRET("bash-history", "~/.bash_history", "The shell's history"),
	SECRET("zsh-history", "~/.zsh_history", "zsh's history"),
	SECRET("python-history", "~/.python_history", "Python's history"),
	SECRET("psql-history", "~/.psql_history", "psql's history"),
	SECRET("xauthority", "~/.Xauthority", "The display's key"),
	SECRET("bitcoin", "~/.bitcoin", "A wallet"),
	SECRET("electrum", "~/.electrum", "Another wallet"),
	SECRET("shadow", "/etc/shadow", "The system's passwords"),
	SECRET("gshadow", "/etc/gshadow", "The system's group passwords"),
	SECRET("sudoers", "/etc/sudoers", "sudo's rules"),
	SECRET("host-keys", "/etc/ssh/ssh_host_ed25519_key", "The machine's SSH key"),
	SECRET("ssl-private", "/etc/ssl/private", "The machine's TLS keys"),
	FILES("root-home", "/root", "root's home"),
	FILES("passwd", "/etc/passwd", "The machine's list of users"),
	FILES("machine-id", "/etc/machine-id", "The machine's identity"),
	FILES("fstab", "/etc/fstab", "The machine's list of disks"),
	FILES("var-log", "/var/log", "The machine's logs"),
	FILES("var-lib", "/var/lib", "The machine's state"),
	FILES("var-spool", "/var/spool", "Mail and print queues"),
	FILES("boot", "/boot", "The kernel's images"),
	FILES("mnt", "/mnt", "Mounted disks"),
	FILES("media", "/media", "Removable disks"),
	FILES("srv", "/srv", "What the machine serves"),
	FILES("run-lock", "/run/lock", "The machine's locks"),
	FILES("host-tmp", "/tmp", "The host's /tmp"),
	FILES("documents", "~/Documents", "Documents"),
	FILES("downloads", "~/Downloads", "Downloads"),
	FILES("desktop", "~/Desktop", "The desktop"),
	FILES("bawn-config", "~/.config/bawn", "bawn's own configuration"),

	LATER("bashrc", "~/.bashrc", "The shell's start-up file"),
	LATER("profile", "~/.profile", "The login shell's start-up file"),
	LATER("bash-profile", "~/.bash_profile", "bash's login file"),
	LATER("zshrc", "~/.zshrc", "zsh's start-up file"),
	LATER("gitconfig", "~/.gitconfig", "Git's own settings"),
	LATER("authorized-keys", "~/.ssh/authorized_keys", "The list of keys that may log in"),
	LATER("ssh-config", "~/.ssh/config", "SSH's settings"),
	LATER("claude-settings", "~/.claude/settings.json", "Claude's settings and hooks"),
	LATER("vimrc", "~/.vimrc", "vim's start-up file"),
	LATER("etc-profile", "/etc/profile", "The system's shell start-up file"),
	LATER("etc-crontab", "/etc/crontab", "The system's timetable"),
	LATER("ld-preload", "/etc/ld.so.preload", "The list of preloaded libraries"),
	LATER("ld-cache", "/etc/ld.so.cache", "The list of system libraries"),
	LATER("usr-yes", "/usr/bin/yes", "A program of the system"),
	LATER("usr-nologin", "/usr/sbin/nologin", "A program of the system's own"),
};

const struct probe_group probe_rows_places = PROBE_GROUP(rows);
