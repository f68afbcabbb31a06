/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn doctor`: can this machine run the sandbox?  We try every row, and do not look it up.  A row
 * is ok, missing (bawn would refuse to start: exit code 1) or info.  The sentences about a missing
 * layer are those of the launcher (advice.h).
 */
#include "bawn_verbs.h"
#include "advice.h"
#include "buf.h"
#include "config.h"
#include "dir.h"
#include "fd.h"
#include "feature.h"
#include "help.h"
#include "helper.h"
#include "host.h"
#include "inotify_limit.h"
#include "json.h"
#include "landlock.h"
#include "linger.h"
#include "overlay.h"
#include "room.h"
#include "session_talk.h"
#include "str.h"
#include "system_make.h"
#include "system_run.h"
#include "text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

enum doctor_state { DOCTOR_OK, DOCTOR_MISSING, DOCTOR_INFO };

static const char *const doctor_state_words[] = {"ok", "missing", "info"};

struct doctor_row {
	const char *group;
	const char *check;
	enum doctor_state state;
	char detail[sizeof(((struct error *)0)->text)];
	char next[sizeof(((struct error *)0)->next)];
};

enum { DOCTOR_ROWS_MAX = 48, DOCTOR_HOME_MAX = 4 << 20, DOCTOR_KEEPERS = 4096 };

struct doctor {
	struct feature_facts facts;
	const char *group; /* of the rows that are being added */
	struct doctor_row rows[DOCTOR_ROWS_MAX];
	size_t count;
	size_t missing;
	size_t untried;  /* how many of the missing were not tried */
	uint32_t absent; /* set of 1u << enum feature */
};

_Static_assert(FEATURE_COUNT <= 32, "a set of features fits into 32 bits");

/* next may be NULL. */
static void doctor_add(struct doctor *d, const char *check, enum doctor_state state,
		       const char *next, const char *fmt, ...) BAWN_PRINTF(5, 6);

static void doctor_add(struct doctor *d, const char *check, enum doctor_state state,
		       const char *next, const char *fmt, ...)
{
	if (d->count == DOCTOR_ROWS_MAX)
		return;
	struct doctor_row *row = &d->rows[d->count++];
	va_list ap;

	row->group = d->group;
	row->check = check;
	row->state = state;
	va_start(ap, fmt);
	(void)vsnprintf(row->detail, sizeof(row->detail), fmt, ap);
	va_end(ap);
	(void)snprintf(row->next, sizeof(row->next), "%s", next ? next : "");
	d->missing += state == DOCTOR_MISSING;
}

/* ---- what the kernel gives ---- */

struct doctor_feature {
	enum feature feature;
	uint32_t needs; /* set of 1u << enum feature: without them we do not even try it */
	const char *check;
	const char *fine; /* what we saw */
};

#define NEEDS(feature) (1u << FEATURE_##feature)

static const struct doctor_feature doctor_namespaces[] = {
	{FEATURE_USER_NS, 0, "user namespace", "made, with the same uid inside"},
	{FEATURE_MOUNT_NS, NEEDS(USER_NS), "mount namespace", "made, and something mounted in it"},
	{FEATURE_PID_NS, NEEDS(USER_NS), "pid namespace", "made, with a process 1 of its own"},
	{FEATURE_NET_NS, NEEDS(USER_NS), "net namespace", "made, with a loopback of its own"},
	{FEATURE_IPC_NS, NEEDS(USER_NS), "ipc namespace", "made"},
	{FEATURE_UTS_NS, NEEDS(USER_NS), "uts namespace", "made, with a host name of its own"},
	{FEATURE_CGROUP_NS, NEEDS(USER_NS), "cgroup namespace", "made"},
	{FEATURE_NF_TABLES, NEEDS(NET_NS), "nf_tables", "hands every connection to the gate"},
};

static const struct doctor_feature doctor_files[] = {
	{FEATURE_MOUNT_API, NEEDS(MOUNT_NS), "mount calls",
	 "open_tree, mount_setattr, fsopen, move_mount"},
	{FEATURE_PROC, NEEDS(MOUNT_NS) | NEEDS(PID_NS), "own /proc", "mounted"},
	{FEATURE_DEVPTS, NEEDS(MOUNT_API), "own terminals", "mounted, and a terminal opened"},
	{FEATURE_OPENAT2, 0, "openat2", "stops at links and at the folder's edge"},
	{FEATURE_MEMFD, 0, "sealed memory file", "refuses a write once sealed"},
	{FEATURE_CLOSE_RANGE, 0, "close_range", "closes every descriptor"},
};

static const struct doctor_feature doctor_restrictions[] = {
	{FEATURE_NO_NEW_PRIVS, 0, "no new privileges", "set, and stays"},
	{FEATURE_LANDLOCK, NEEDS(NO_NEW_PRIVS), "Landlock", "refuses what it does not grant"},
	{FEATURE_SECCOMP, NEEDS(NO_NEW_PRIVS), "seccomp filters", "answer a system call"},
	{FEATURE_CAPABILITIES, NEEDS(USER_NS), "capabilities", "given up for good"},
	{FEATURE_NESTED_OFF, NEEDS(USER_NS), "no namespaces inside",
	 "a count of 0 refuses another one"},
	{FEATURE_PROCESS_LIMIT, NEEDS(USER_NS), "process limit", "holds"},
	{FEATURE_PIDFD, NEEDS(USER_NS), "pidfd",
	 "names, signals and waits for a process, and takes a descriptor of it"},
};

static void doctor_landlock_detail(char *into, size_t size)
{
	static const char *const since[] = {
		[1] = "files", [2] = ", moves",          [3] = ", truncation",
		[4] = "",      [5] = ", device control", [6] = ", signals, abstract sockets",
	};
	int abi = landlock_abi();
	size_t len = (size_t)snprintf(into, size, "ABI %d: ", abi);

	for (int i = 1; i <= abi && i < (int)BAWN_ARRAY_SIZE(since); i++)
		len += (size_t)snprintf(into + len, size - len, "%s", since[i]);
}

static void doctor_feature(struct doctor *d, const struct doctor_feature *f, int answer)
{
	/* A box can do without this one, and still holds. */
	bool optional = f->feature == FEATURE_NF_TABLES;
	struct error e = ERROR_INIT;
	char detail[128];

	if (answer < 0) {
		(void)advice_about_feature(f->feature, answer, &d->facts, &e);
		doctor_add(d, f->check, optional ? DOCTOR_INFO : DOCTOR_MISSING, e.next, "%s",
			   e.text);
		return;
	}
	(void)snprintf(detail, sizeof(detail), "%s", f->fine);
	if (f->feature == FEATURE_LANDLOCK)
		doctor_landlock_detail(detail, sizeof(detail));
	doctor_add(d, f->check, DOCTOR_OK, NULL, "%s", detail);
}

static void doctor_try(struct doctor *d, const struct doctor_feature *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct doctor_feature *f = &table[i];
		int answer = -ECANCELED;

		if (f->needs & d->absent) {
			d->untried++;
			doctor_add(d, f->check, DOCTOR_MISSING, NULL,
				   "not tried: it needs what is missing above");
		} else {
			answer = feature_check(f->feature);
			doctor_feature(d, f, answer);
		}
		if (answer < 0)
			d->absent |= 1u << f->feature;
	}
}

static void doctor_kernel(struct doctor *d)
{
	d->group = "Namespaces";
	doctor_try(d, doctor_namespaces, BAWN_ARRAY_SIZE(doctor_namespaces));
	d->group = "Files, mounts and terminals";
	doctor_try(d, doctor_files, BAWN_ARRAY_SIZE(doctor_files));
	d->group = "Restrictions";
	doctor_try(d, doctor_restrictions, BAWN_ARRAY_SIZE(doctor_restrictions));
}

/* ---- this installation ---- */

static const char *const doctor_helpers[] = {
	"bawn-keeper",  "bawn-box",    "bawn-probe", "bawn-recorder",
	"bawn-history", "bawn-review", "bawn-gate",  "bawn-resolver",
	"bawn-keys",    "bawn-signer", "bawn-otlp",
};

static void doctor_helper(struct doctor *d, const char *name)
{
	static const char again[] = "Install bawn again, all of it: meson install -C BUILD.";
	char path[PATH_MAX];
	char version[40];
	struct error e = ERROR_INIT;
	int r = helper_path(name, path, sizeof(path));

	if (r < 0) {
		doctor_add(d, name, DOCTOR_MISSING, again, "not beside bawn and not in %s",
			   BAWN_LIBEXEC_DIR);
		return;
	}
	r = helper_version(path, version, sizeof(version));
	if (r < 0) {
		(void)error_sys(&e, r, "%s does not say its version", path);
		doctor_add(d, name, DOCTOR_MISSING, again, "%s", e.text);
	} else if (!str_equal(version, BAWN_VERSION)) {
		doctor_add(d, name, DOCTOR_MISSING, again, "%s is of version %s, and bawn of %s",
			   path, version, BAWN_VERSION);
	} else {
		doctor_add(d, name, DOCTOR_OK, NULL, "%s, of the same version", path);
	}
}

static const char *const doctor_copies[] = {
	[FEATURE_COPIES_APART] = "copies take room of their own",
	[FEATURE_COPIES_SHARED] = "copies share their blocks",
	[FEATURE_COPIES_SNAPSHOT] = "copies share blocks; direct mode makes btrfs snapshots",
};

/* Layers are in memory if overlayfs cannot use the filesystem of the state folder
 * (src/workspace/afar.h). */
static void doctor_layers_afar(struct doctor *d, const char *at, const char *advice)
{
	const char *of_memory = NULL;
	struct statvfs fs;
	int r = feature_layers("/dev/shm", &of_memory);
	char next[512];

	(void)snprintf(next, sizeof(next), "%s Without layers direct mode works: --direct.",
		       advice);
	if (r < 0 || statvfs("/dev/shm", &fs) < 0)
		doctor_add(d, "layers", DOCTOR_MISSING, next,
			   "the filesystem of %s holds no layers, and neither does /dev/shm: %s",
			   at, error_words(r < 0 ? r : -EIO));
	else
		doctor_add(d, "layers", DOCTOR_OK, NULL,
			   "the filesystem of %s holds none: they stand in memory (/dev/shm, %llu "
			   "MiB free) and are kept on disk when a session ends; the private home "
			   "is a plain folder",
			   at, (unsigned long long)fs.f_bavail * fs.f_frsize >> 20);
}

/* Tries layers: what sessions write is kept there. */
static void doctor_layers(struct doctor *d, const char *at)
{
	_cleanup_fd_ int fd = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *advice = NULL;
	int r = d->absent & (NEEDS(USER_NS) | NEEDS(MOUNT_API)) ? -EAGAIN
								: feature_layers(at, &advice);

	if (r == -EAGAIN) {
		doctor_add(d, "layers", DOCTOR_MISSING, NULL,
			   "not tried: it needs what is missing above");
		d->untried++;
	} else if (r < 0 && !overlay_can_hold(fd)) {
		doctor_layers_afar(d, at, advice);
	} else if (r < 0) {
		doctor_add(d, "layers", DOCTOR_MISSING, advice, "%s cannot hold layers: %s", at,
			   error_words(r));
	} else {
		doctor_add(d, "layers", DOCTOR_OK, NULL,
			   "overlayfs can keep what is written in %s; %s", at,
			   doctor_copies[feature_copies(at)]);
	}
}

/* Homes of boxes, layers, snapshots and records grow unnoticed. */
static void doctor_state_size(struct doctor *d, const char *state)
{
	_cleanup_buf_ struct buf words = BUF_INIT(4096);
	struct room room;

	room_measure(state, &room);
	room_put(&words, &room);
	doctor_add(d, "kept there", DOCTOR_OK, NULL, "%s; 'bawn prune --older-than 90d' makes room",
		   buf_str(&words));
}

static void doctor_state_dir(struct doctor *d)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(DOCTOR_HOME_MAX);
	struct error e = ERROR_INIT;
	struct host h;

	if (d->absent & NEEDS(OPENAT2)) {
		doctor_add(d, "state folder", DOCTOR_MISSING, NULL,
			   "not tried: it needs what is missing above");
		d->untried++;
		return;
	}
	if (host_gather_user(&arena, &h, &e) < 0) {
		doctor_add(d, "your folders", DOCTOR_MISSING, e.next, "%s", e.text);
		return;
	}
	char at[PATH_MAX];

	(void)snprintf(at, sizeof(at), "%s", h.state_dir);
	/* The folder is made at the first start; look where that would be. */
	while (access(at, F_OK) < 0 && errno == ENOENT && strrchr(at, '/') != at)
		*strrchr(at, '/') = '\0';
	struct stat st;

	if (stat(at, &st) < 0 || !S_ISDIR(st.st_mode) || access(at, R_OK | W_OK | X_OK) < 0)
		doctor_add(d, "state folder", DOCTOR_MISSING,
			   "Make it yours to write, or set XDG_STATE_HOME to a folder that is.",
			   "%s cannot be written", at);
	else if (st.st_uid != geteuid() && str_equal(at, h.state_dir))
		doctor_add(d, "state folder", DOCTOR_MISSING,
			   "Give it back to yourself with chown, or set XDG_STATE_HOME.",
			   "%s belongs to another user", at);
	else {
		bool made = str_equal(at, h.state_dir);

		doctor_add(d, "state folder", DOCTOR_OK, NULL, "%s%s", h.state_dir,
			   made ? "" : " (made at the first start)");
		if (made)
			doctor_state_size(d, at);
		doctor_layers(d, at);
	}
}

/* ---- sessions, and what may be left of one ---- */

struct doctor_process {
	char name[32];
	uint64_t parent, uid;
};

/* The number after "\nKEY:\t" in a status file; UINT64_MAX: there is none. */
static uint64_t doctor_status_number(const char *status, const char *key)
{
	const char *at = strstr(status, key);
	char digits[24];
	uint64_t value;

	if (!at)
		return UINT64_MAX;
	at += strlen(key);
	(void)snprintf(digits, sizeof(digits), "%.*s", (int)strspn(at, "0123456789"), at);
	return str_parse_u64(digits, &value) < 0 ? UINT64_MAX : value;
}

/* -ESRCH: it has ended, and its parent has not waited for it yet. */
static int doctor_read_process(uint64_t pid, struct doctor_process *ret_process)
{
	_cleanup_buf_ struct buf b = BUF_INIT(64 << 10);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%" PRIu64 "/status", pid);
	int r = fd_read_file_at(AT_FDCWD, path, &b);
	const char *name = str_after(buf_str(&b), "Name:\t");

	if (r < 0 || !name)
		return r < 0 ? r : -EBADMSG;
	if (strstr(buf_str(&b), "\nState:\tZ") || strstr(buf_str(&b), "\nState:\tX"))
		return -ESRCH;
	(void)snprintf(ret_process->name, sizeof(ret_process->name), "%.*s",
		       (int)strcspn(name, "\n"), name);
	ret_process->parent = doctor_status_number(buf_str(&b), "\nPPid:\t");
	ret_process->uid = doctor_status_number(buf_str(&b), "\nUid:\t");
	return 0;
}

/* The keepers of this user, by their parents. */
struct doctor_keepers {
	size_t count, lost;               /* lost: the parent is no bawn */
	uint64_t parents[DOCTOR_KEEPERS]; /* of those that are not */
	struct buf pids;                  /* of the lost ones */
};

static void doctor_find_keepers(struct doctor_keepers *k)
{
	_cleanup_dir_ DIR *dir = dir_open(AT_FDCWD, "/proc", NULL);

	for (const struct dirent *entry; (entry = dir_next(dir, NULL));) {
		struct doctor_process keeper, parent;
		uint64_t pid;

		if (str_parse_u64(entry->d_name, &pid) < 0 ||
		    doctor_read_process(pid, &keeper) < 0 || keeper.uid != geteuid() ||
		    !str_equal(keeper.name, "bawn-keeper"))
			continue;
		if (doctor_read_process(keeper.parent, &parent) < 0 ||
		    !str_equal(parent.name, "bawn")) {
			buf_putf(&k->pids, " %" PRIu64, pid);
			k->lost++;
		} else if (k->count - k->lost < DOCTOR_KEEPERS) {
			k->parents[k->count - k->lost] = keeper.parent;
		}
		k->count++;
	}
}

/* Sessions whose bawn is no keeper's parent: who started them has left, and another tends them. */
static size_t doctor_tended(const struct doctor_keepers *k)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	_cleanup_session_list_ struct session_list list = {NULL, 0};
	struct error e = ERROR_INIT;
	struct host host;
	size_t count = 0;

	if (k->lost == 0 || host_gather_user(&arena, &host, &e) < 0)
		return 0;
	const struct session_places places = session_places_of(&host);

	if (session_list_get(&places, &list, &e) < 0)
		return 0;
	for (size_t i = 0; i < list.count; i++) {
		bool parent = list.items[i].fd < 0;

		for (size_t n = 0; n < k->count - k->lost && n < DOCTOR_KEEPERS; n++)
			parent = parent || k->parents[n] == list.items[i].state.pid;
		count += !parent;
	}
	return count;
}

/* A keeper lives as long as the bawn that started it, or that tends it; one without is stale. */
static void doctor_sessions(struct doctor *d)
{
	_cleanup_free_ struct doctor_keepers *k = calloc(1, sizeof(*k));

	if (!k)
		return;
	k->pids = BUF_INIT(64 << 10);
	doctor_find_keepers(k);
	size_t tended = doctor_tended(k);

	if (k->lost > tended) {
		_cleanup_buf_ struct buf next = BUF_INIT(64 << 10);

		buf_putf(&next,
			 "Nobody waits for them any more; to end them and their boxes:\n  kill%s",
			 buf_str(&k->pids));
		doctor_add(d, "sessions", DOCTOR_INFO, buf_str(&next),
			   "%zu running, of which these have lost their bawn:%s", k->count,
			   buf_str(&k->pids));
	} else if (k->count > 0) {
		doctor_add(d, "sessions", DOCTOR_INFO, NULL, "%zu running, none stale", k->count);
	} else {
		doctor_add(d, "sessions", DOCTOR_INFO, NULL, "none running, nothing left behind");
	}
	buf_fini(&k->pids);
}

/* What becomes of those that nobody looks at. */
static void doctor_linger(struct doctor *d)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct error e = ERROR_INIT;
	struct host host;

	if (host_gather_user(&arena, &host, &e) < 0)
		return;
	const char *words = linger_words(linger_look("", host.user, host.uid == 0));

	if (words)
		doctor_add(d, "logging out", DOCTOR_INFO, LINGER_NEXT, "%s", words);
	else
		doctor_add(d, "logging out", DOCTOR_INFO, NULL, "detached sessions go on");
}

/* How many fit beside one another; memory is what all of them need. */
static void doctor_many(struct doctor *d)
{
	_cleanup_buf_ struct buf b = BUF_INIT(64);

	if (fd_read_file_at(AT_FDCWD, INOTIFY_LIMIT_PATH, &b) < 0)
		return;
	unsigned long most = strtoul(buf_str(&b), NULL, 10) / INOTIFY_LIMIT_EACH;

	doctor_add(d, "many sessions", DOCTOR_INFO,
		   most < INOTIFY_LIMIT_MANY ? INOTIFY_LIMIT_NEXT : NULL,
		   "room for %lu that hide or protect files, less what your other programs "
		   "listen to; no limit for others",
		   most);
}

/* ---- for information ---- */

static void doctor_kernel_release(struct doctor *d)
{
	struct utsname name;

	if (uname(&name) == 0)
		doctor_add(d, "kernel", DOCTOR_INFO, NULL, "%s %s, %s", name.sysname, name.release,
			   name.machine);
}

static void doctor_switches(struct doctor *d)
{
	const struct feature_facts *f = &d->facts;

	if (f->profile[0])
		doctor_add(d, "AppArmor", DOCTOR_INFO, NULL, "the profile %s confines bawn",
			   f->profile);
	else if (f->apparmor_restricts > 0)
		doctor_add(d, "AppArmor", DOCTOR_INFO, NULL,
			   "restricts user namespaces to programs with a profile");
	else
		doctor_add(d, "AppArmor", DOCTOR_INFO, NULL, "does not restrict user namespaces");
	if (f->seccomp > 0 || f->proc_masked)
		doctor_add(d, "container", DOCTOR_INFO, NULL,
			   "this looks like the inside of one:%s%s",
			   f->seccomp > 0 ? " filtered calls" : "",
			   f->proc_masked ? " covered /proc" : "");
	if (f->tiocsti != 0)
		doctor_add(d, "TIOCSTI", DOCTOR_INFO, NULL,
			   "switched on; the box has a terminal of its own");
	else
		doctor_add(d, "TIOCSTI", DOCTOR_INFO, NULL, "switched off");
	if (f->yama >= 0)
		doctor_add(d, "Yama", DOCTOR_INFO, NULL,
			   "ptrace_scope is %" PRId64 "; not relied upon", f->yama);
	else
		doctor_add(d, "Yama", DOCTOR_INFO, NULL, "not there; not relied upon");
}

/* The user may make cgroups below the own one: cgroup v2, delegated by systemd. */
static bool doctor_has_cgroup(void)
{
	_cleanup_buf_ struct buf b = BUF_INIT(64 << 10);
	char path[PATH_MAX];

	if (fd_read_file_at(AT_FDCWD, "/proc/self/cgroup", &b) < 0)
		return false;
	const char *own = str_after(buf_str(&b), "0::");

	if (!own)
		return false;
	(void)snprintf(path, sizeof(path), "/sys/fs/cgroup%.*s", (int)strcspn(own, "\n"), own);
	return access(path, W_OK) == 0;
}

/* This user has more ids than one; nothing needs them, but people ask. */
static bool doctor_has_subordinate(const char *file, const char *user)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	char line[LOGIN_NAME_MAX + 8];

	(void)snprintf(line, sizeof(line), "\n%s:", user);
	return fd_read_file_at(AT_FDCWD, file, &text) == 0 &&
	       (str_after(buf_str(&text), line + 1) || strstr(buf_str(&text), line));
}

/* What `bawn system` and --system can do here. */
static void doctor_systems(struct doctor *d)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(DOCTOR_HOME_MAX);
	struct error e = ERROR_INIT;
	char path[PATH_MAX];
	struct host host;

	d->group = "Systems (--system)";
	for (size_t i = 0; i < SYSTEM_TOOL_COUNT; i++) {
		const struct system_tool *t = &system_tools[i];
		char next[128];

		(void)snprintf(next, sizeof(next), "Install the package %s to make %s.", t->package,
			       t->what);
		if (system_tool_find(t->name, path, sizeof(path)))
			doctor_add(d, t->name, DOCTOR_OK, NULL, "%s: makes %s", path, t->what);
		else
			doctor_add(d, t->name, DOCTOR_INFO, next, "not installed");
	}
	bool more = host_gather_user(&arena, &host, &e) == 0 &&
		    system_tool_find("newuidmap", path, sizeof(path)) &&
		    doctor_has_subordinate("/etc/subuid", host.user) &&
		    doctor_has_subordinate("/etc/subgid", host.user);

	doctor_add(d, "owners inside", DOCTOR_OK, NULL,
		   "one id, and changes of owner are pretended; subordinate ids %s",
		   more ? "are there and are not used" : "are not there and are not needed");
}

static void doctor_information(struct doctor *d)
{
	d->group = "For information";
	doctor_sessions(d);
	doctor_linger(d);
	doctor_many(d);
	doctor_kernel_release(d);
	doctor_switches(d);
	doctor_add(d, "cgroup delegation", DOCTOR_INFO, NULL, "%s; not needed in this version",
		   doctor_has_cgroup() ? "there" : "not there");
}

/* ---- showing it ---- */

/* Prints the way out: wraps sentences, and leaves a command (two blanks before it) on its line. */
static void doctor_print_next(const struct text *t, const char *next)
{
	while (*next) {
		_cleanup_buf_ struct buf line = BUF_INIT(4096);
		_cleanup_buf_ struct buf out = BUF_INIT(8192);
		size_t len = strcspn(next, "\n");

		buf_put(&line, next, len);
		buf_put_str(&out, "           ");
		if (next[0] == ' ')
			buf_put_str(&out, buf_str(&line));
		else
			help_wrap(&out, buf_str(&line), 11, (size_t)t->width);
		text_printf(t, "%s\n", buf_str(&out));
		next += len + (next[len] == '\n');
	}
}

static void doctor_print_end(const struct text *t, const struct doctor *d)
{
	size_t failed = d->missing - d->untried;
	char untried[64] = "";

	if (d->untried > 0)
		(void)snprintf(untried, sizeof(untried), " and %zu could not be tried", d->untried);
	text_styled(t, TEXT_BAD, "\n%zu %s failed%s: bawn will refuse to start.\n", failed,
		    failed == 1 ? "check" : "checks", untried);
}

static void doctor_print(const struct doctor *d)
{
	static const enum text_style styles[] = {TEXT_GOOD, TEXT_BAD, TEXT_FAINT};
	struct text t = text_open(STDOUT_FILENO);
	const char *group = "";

	for (size_t i = 0; i < d->count; i++) {
		const struct doctor_row *row = &d->rows[i];
		_cleanup_buf_ struct buf detail = BUF_INIT(8192);

		if (!str_equal(group, row->group))
			text_styled(&t, TEXT_STRONG, "%s%s\n", i ? "\n" : "", row->group);
		group = row->group;
		text_styled(&t, styles[row->state], "  %-7s", doctor_state_words[row->state]);
		help_wrap(&detail, row->detail, 33, (size_t)t.width);
		text_printf(&t, "  %-21s %s\n", row->check, buf_str(&detail));
		doctor_print_next(&t, row->next);
	}
	if (d->missing == 0)
		text_styled(&t, TEXT_GOOD, "\nThis machine can run the sandbox.\n");
	else
		doctor_print_end(&t, d);
}

static int doctor_print_json(const struct doctor *d)
{
	_cleanup_buf_ struct buf b = BUF_INIT(HELP_BYTES_MAX);
	struct json j = JSON_INIT(&b, true);

	json_open(&j, '[');
	for (size_t i = 0; i < d->count; i++) {
		json_open(&j, '{');
		json_key_str(&j, "check", d->rows[i].check);
		json_key_str(&j, "state", doctor_state_words[d->rows[i].state]);
		json_key_str(&j, "detail", d->rows[i].detail);
		json_key_str(&j, "next", d->rows[i].next);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	return help_print(&b);
}

int verb_doctor(const struct invocation *i)
{
	_cleanup_free_ struct doctor *d = calloc(1, sizeof(*d));
	struct error e = ERROR_INIT;

	if (!d) {
		(void)error_sys(&e, -ENOMEM, "checking this machine");
		verb_complain(&e);
		return EXIT_FOUND;
	}
	feature_read_facts(&d->facts);
	doctor_kernel(d);
	d->group = "This installation";
	for (size_t n = 0; n < BAWN_ARRAY_SIZE(doctor_helpers); n++)
		doctor_helper(d, doctor_helpers[n]);
	doctor_state_dir(d);
	doctor_systems(d);
	doctor_information(d);
	if (invocation_has(i, OPTION_JSON)) {
		int r = doctor_print_json(d);

		if (r != EXIT_OK)
			return r;
	} else {
		doctor_print(d);
	}
	return d->missing ? EXIT_FOUND : EXIT_OK;
}
