/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the box shows read-only stays read-only.  verify shows one folder of its
 * own (`exhibit`, as with `--read`) with a hidden folder in it, and
 * keeps a copy beside it that is not shown (`twin`).  Each way of changing a
 * file is tried on the exhibit inside, and on the twin outside, where it works.
 */
#include "attempt.h"
#include "fd.h"
#include "own.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* One way of changing something below the current directory. */
typedef int readonly_fn(void);

static int readonly_write(void)
{
	return attempt_fd(open("file", O_WRONLY | O_CLOEXEC));
}

static int readonly_append(void)
{
	return attempt_fd(open("file", O_WRONLY | O_APPEND | O_CLOEXEC));
}

static int readonly_truncate_open(void)
{
	return attempt_fd(open("file", O_WRONLY | O_TRUNC | O_CLOEXEC));
}

static int readonly_truncate(void)
{
	return attempt_result(truncate("file", 0));
}

static int readonly_through_link(void)
{
	return attempt_fd(open("link", O_WRONLY | O_CLOEXEC));
}

static int readonly_create(void)
{
	return attempt_fd(open("created", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

static int readonly_tmpfile(void)
{
	return attempt_fd(open(".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
}

static int readonly_unlink(void)
{
	return attempt_result(unlink("victim"));
}

static int readonly_rename_over(void)
{
	return attempt_result(rename("source", "target"));
}

static int readonly_rename_away(void)
{
	return attempt_result(rename("away", "gone"));
}

static int readonly_exchange(void)
{
	return attempt_result(renameat2(AT_FDCWD, "left", AT_FDCWD, "right", RENAME_EXCHANGE));
}

static int readonly_link(void)
{
	return attempt_result(link("file", "second"));
}

static int readonly_symlink(void)
{
	return attempt_result(symlink("file", "another"));
}

static int readonly_mkdir(void)
{
	return attempt_result(mkdir("made", 0700));
}

static int readonly_rmdir(void)
{
	return attempt_result(rmdir("empty"));
}

static int readonly_fifo(void)
{
	return attempt_result(mkfifo("fifo", 0600));
}

static int readonly_bind(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "bound"};
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return PROBE_UNABLE;
	return attempt_result(bind(fd, (const struct sockaddr *)&address, sizeof(address)));
}

static int readonly_chmod(void)
{
	return attempt_result(chmod("file", 0600));
}

/* Through a descriptor that is open for reading only. */
static int readonly_fchmod(void)
{
	_cleanup_fd_ int fd = open("file", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? PROBE_UNABLE : attempt_result(fchmod(fd, 0600));
}

static int readonly_chown(void)
{
	return attempt_result(chown("file", getuid(), getgid()));
}

static int readonly_utimes(void)
{
	return attempt_result(utimensat(AT_FDCWD, "file", NULL, 0));
}

static int readonly_futimes(void)
{
	_cleanup_fd_ int fd = open("file", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? PROBE_UNABLE : attempt_result(futimens(fd, NULL));
}

static int readonly_setxattr(void)
{
	return attempt_result(setxattr("file", "user.bawn", "x", 1, 0));
}

static int readonly_removexattr(void)
{
	return attempt_result(removexattr("marked", "user.bawn"));
}

/* Sets inode flags to their current value: the kernel still checks write access. */
static int readonly_flags(void)
{
	_cleanup_fd_ int fd = open("file", O_RDONLY | O_CLOEXEC);
	int flags = 0;

	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return PROBE_UNABLE;
	return attempt_result(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

/* The same on a file that this attempt made and may write. */
static int readonly_own_flags(struct probe_run *run)
{
	_cleanup_fd_ int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int flags = 0;

	(void)run;
	if (fd < 0)
		return PROBE_UNABLE;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		flags = 0;
	return attempt_result(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static int readonly_reopen_as(int flags)
{
	char link[64];
	_cleanup_fd_ int fd = open("file", flags | O_CLOEXEC);

	if (fd < 0)
		return PROBE_UNABLE;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return attempt_fd(open(link, O_RDWR | O_CLOEXEC));
}

static int readonly_reopen(void)
{
	return readonly_reopen_as(O_RDONLY);
}

static int readonly_reopen_path(void)
{
	return readonly_reopen_as(O_PATH);
}

static int readonly_read_hidden(void)
{
	return attempt_fd(open("hidden/secret", O_RDONLY | O_CLOEXEC));
}

static int readonly_list_hidden(void)
{
	return attempt_fd(open("hidden", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static readonly_fn *const readonly_ways[] = {
	readonly_write,        readonly_append,      readonly_truncate_open, readonly_truncate,
	readonly_through_link, readonly_create,      readonly_tmpfile,       readonly_unlink,
	readonly_rename_over,  readonly_rename_away, readonly_exchange,      readonly_link,
	readonly_symlink,      readonly_mkdir,       readonly_rmdir,         readonly_fifo,
	readonly_bind,         readonly_chmod,       readonly_fchmod,        readonly_chown,
	readonly_utimes,       readonly_futimes,     readonly_setxattr,      readonly_removexattr,
	readonly_flags,        readonly_reopen,      readonly_reopen_path,   readonly_read_hidden,
	readonly_list_hidden,
};

enum readonly_way {
	WRITE,
	APPEND,
	TRUNCATE_OPEN,
	TRUNCATE,
	THROUGH_LINK,
	CREATE,
	TMPFILE,
	UNLINK,
	RENAME_OVER,
	RENAME_AWAY,
	EXCHANGE,
	LINK,
	SYMLINK,
	MKDIR,
	RMDIR,
	FIFO,
	BIND,
	CHMOD,
	FCHMOD,
	CHOWN,
	UTIMES,
	FUTIMES,
	SETXATTR,
	REMOVEXATTR,
	FLAGS,
	REOPEN,
	REOPEN_PATH,
	READ_HIDDEN,
	LIST_HIDDEN,
};

static int readonly_in(struct probe_run *run, const char *key)
{
	const char *dir = facts_get(run->facts, key);

	if (!dir)
		return PROBE_UNABLE;
	if (chdir(dir) < 0) {
		probe_note(run, "the folder cannot be entered: %s", error_name(errno));
		return PROBE_UNABLE;
	}
	return readonly_ways[run->probe->number]();
}

static int readonly_attempt(struct probe_run *run)
{
	return readonly_in(run, "exhibit");
}

static int readonly_control(struct probe_run *run)
{
	return readonly_in(run, "twin");
}

/* A second name for a shown file, in a writable place of the box, would make it writable. */
static int readonly_link_across(struct probe_run *run)
{
	char path[64];
	const char *dir = facts_get(run->facts, "exhibit");

	if (!dir || chdir(dir) < 0)
		return PROBE_UNABLE;
	(void)snprintf(path, sizeof(path), "/tmp/bawn-probe-%d", getpid());
	int r = run->probe->number ? rename("file", path) : link("file", path);

	return attempt_result(r);
}

static int readonly_control_across(struct probe_run *run)
{
	char path[PATH_MAX];
	const char *dir = facts_get(run->facts, "twin");

	if (!dir || chdir(dir) < 0)
		return PROBE_UNABLE;
	(void)snprintf(path, sizeof(path), "empty-too/%ld", run->probe->number);
	return attempt_result(run->probe->number ? rename("mover", path) : link("marked", path));
}

enum { MOVING_TRIES = 150, MOVING_PAUSE_NS = 10 * 1000 * 1000 };

/*
 * The box shows the folder `moving` writable.  A file `go` asks the fixture outside to move it away
 * and to put another in its place; `done` appears in the moved one.  If we see `done`,
 * we still have the right folder; if we see `stranger`, we got the other.
 */
static int readonly_moved(struct probe_run *run)
{
	const char *dir = facts_get(run->facts, "moving");
	char path[PATH_MAX];
	static const struct timespec pause = {0, MOVING_PAUSE_NS};

	if (!dir || snprintf(path, sizeof(path), "%s/go", dir) >= PATH_MAX)
		return PROBE_UNABLE;
	_cleanup_fd_ int go = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (go < 0) {
		probe_note(run, "the folder cannot be written: %s", error_name(errno));
		return PROBE_UNABLE;
	}
	(void)snprintf(path, sizeof(path), "%s/done", dir);
	for (int i = 0; i < MOVING_TRIES && access(path, F_OK) < 0; i++)
		(void)nanosleep(&pause, NULL);
	if (access(path, F_OK) == 0)
		return PROBE_HELD;
	(void)snprintf(path, sizeof(path), "%s/stranger", dir);
	return access(path, F_OK) == 0 ? PROBE_DONE : PROBE_UNABLE;
}

/* Outside, after the box: the name now leads to the other folder. */
static int readonly_control_moved(struct probe_run *run)
{
	return attempt_fd(own_open_in(run, "moving", "stranger", O_RDONLY));
}

#define STAYS(label, way, held, what)                                                     \
	{                                                                                 \
		.id = "FS-12", .name = "readonly-" label, .sentence = (what),             \
		.promise = PROBE_FILES, .layers = PROBE_LAYER(MOUNT_NS) | (held),         \
		.attempt = readonly_attempt, .want = {-EROFS}, .also = {-EACCES, -EPERM}, \
		.control = PROBE_CONTROL_OWN, .control_fn = readonly_control,             \
		.flags = PROBE_EXHIBIT, .number = (way)                                   \
	}
/* On a system the filter pretends it. */
#define STAYS_OWNED(label, way, what)                                                     \
	{                                                                                 \
		.id = "FS-12", .name = "readonly-" label, .sentence = (what),             \
		.promise = PROBE_FILES, .layers = PROBE_LAYER(MOUNT_NS),                  \
		.attempt = readonly_attempt, .want = {-EROFS}, .also = {-EACCES, -EPERM}, \
		.control = PROBE_CONTROL_OWN, .control_fn = readonly_control,             \
		.flags = PROBE_EXHIBIT | PROBE_SYSTEM, .number = (way)                    \
	}
/* Not every filesystem has these. */
#define STAYS_MAYBE(label, way, what)                                                     \
	{                                                                                 \
		.id = "FS-12", .name = "readonly-" label, .sentence = (what),             \
		.promise = PROBE_FILES, .layers = PROBE_LAYER(MOUNT_NS),                  \
		.attempt = readonly_attempt, .want = {-EROFS}, .also = {-EACCES, -EPERM}, \
		.control = PROBE_CONTROL_OWN, .control_fn = readonly_control,             \
		.flags = PROBE_EXHIBIT | PROBE_MAY_LACK, .number = (way)                  \
	}
#define ACROSS(label, way, what)                                                                 \
	{                                                                                        \
		.id = "FS-05", .name = "across-" label, .sentence = (what),                      \
		.promise = PROBE_FILES, .layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK), \
		.attempt = readonly_link_across, .want = {-EXDEV}, .also = {-EROFS, -EACCES},    \
		.control = PROBE_CONTROL_OWN, .control_fn = readonly_control_across,             \
		.flags = PROBE_EXHIBIT, .number = (way)                                          \
	}
#define HIDDEN(label, way, more, what)                                             \
	{                                                                          \
		.id = "FS-13", .name = "hidden-" label, .sentence = (what),        \
		.promise = PROBE_FILES, .layers = PROBE_LAYER(MOUNT_NS) | (more),  \
		.attempt = readonly_attempt, .want = {-EACCES}, .also = {-ENOENT}, \
		.control = PROBE_CONTROL_OWN, .control_fn = readonly_control,      \
		.flags = PROBE_EXHIBIT, .number = (way)                            \
	}
#define LOCK PROBE_LAYER(LANDLOCK)

static const struct probe rows[] = {
	STAYS("write", WRITE, LOCK, "A file shown read-only cannot be written."),
	STAYS("append", APPEND, LOCK, "A file shown read-only cannot be added to."),
	STAYS("truncate-open", TRUNCATE_OPEN, LOCK, "A file shown read-only cannot be emptied."),
	STAYS("truncate", TRUNCATE, LOCK, "A file shown read-only cannot be cut."),
	STAYS("through-link", THROUGH_LINK, LOCK, "A link to a read-only file changes nothing."),
	STAYS("create", CREATE, LOCK, "Nothing can be created in a read-only folder."),
	STAYS("tmpfile", TMPFILE, LOCK, "Not even a file without a name can be created there."),
	STAYS("unlink", UNLINK, LOCK, "Nothing can be removed from a read-only folder."),
	STAYS("rename-over", RENAME_OVER, LOCK, "Nothing can be replaced in a read-only folder."),
	STAYS("rename-away", RENAME_AWAY, LOCK, "Nothing can be renamed in a read-only folder."),
	STAYS("exchange", EXCHANGE, LOCK, "Nothing can be exchanged in a read-only folder."),
	STAYS("link", LINK, LOCK, "No second name can be made in a read-only folder."),
	STAYS("symlink", SYMLINK, LOCK, "No link can be made in a read-only folder."),
	STAYS("mkdir", MKDIR, LOCK, "No folder can be made in a read-only folder."),
	STAYS("rmdir", RMDIR, LOCK, "No folder can be removed from a read-only folder."),
	STAYS("fifo", FIFO, LOCK, "No pipe can be made in a read-only folder."),
	STAYS("bind", BIND, LOCK, "No socket can be made in a read-only folder."),
	STAYS("chmod", CHMOD, 0, "The mode of a read-only file cannot be changed."),
	STAYS("fchmod", FCHMOD, 0, "Nor through a descriptor."),
	STAYS_OWNED("chown", CHOWN, "The owner of a read-only file cannot be changed."),
	STAYS("utimes", UTIMES, 0, "The times of a read-only file cannot be changed."),
	STAYS("futimes", FUTIMES, 0, "Nor through a descriptor that is open."),
	STAYS("reopen", REOPEN, LOCK, "Reopening a read-only file does not make it writable."),
	STAYS("reopen-path", REOPEN_PATH, LOCK, "Nor does reopening a bare name of it."),
	STAYS_MAYBE("setxattr", SETXATTR, "No attribute can be set on a read-only file."),
	STAYS_MAYBE("removexattr", REMOVEXATTR, "No attribute of a read-only file can be removed."),
	/* The filter refuses it before the mount does. */
	{.id = "FS-12",
	 .name = "readonly-flags",
	 .sentence = "The inode flags of a read-only file cannot be changed.",
	 .promise = PROBE_FILES,
	 .layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(SECCOMP),
	 .attempt = readonly_attempt,
	 .want = {-ENOTTY},
	 .also = {-EROFS, -EACCES, -EPERM},
	 .control = PROBE_CONTROL_OWN,
	 .control_fn = readonly_control,
	 .flags = PROBE_EXHIBIT | PROBE_MAY_LACK,
	 .number = FLAGS},
	{.id = "FS-12",
	 .name = "own-flags",
	 .sentence =
		 "Not even of its own files can a box change the inode flags, which no event would "
		 "tell.",
	 .promise = PROBE_RECORD,
	 .layers = PROBE_LAYER(SECCOMP),
	 .attempt = readonly_own_flags,
	 .want = {-ENOTTY},
	 .control = PROBE_CONTROL_SAME,
	 .flags = PROBE_MAY_LACK},
	ACROSS("link", 0, "A shown file gets no second name elsewhere in the box."),
	ACROSS("rename", 1, "A shown file cannot be moved elsewhere in the box."),
	HIDDEN("read", READ_HIDDEN, 0, "What the policy hides cannot be read."),
	/* An empty folder of mode 0 covers it, which a capability would open. */
	HIDDEN("list", LIST_HIDDEN, PROBE_LAYER(CAPS), "What the policy hides cannot be listed."),
	{
		.id = "FS-14",
		.name = "moved-folder",
		.sentence = "A folder that is exchanged outside after the start is not followed.",
		.promise = PROBE_FILES,
		.layers = PROBE_LAYER(MOUNT_NS),
		.attempt = readonly_moved,
		.want = {PROBE_HELD},
		.control = PROBE_CONTROL_OWN,
		.control_fn = readonly_control_moved,
		.flags = PROBE_AFTER | PROBE_EXHIBIT,
	},
};

const struct probe_group probe_rows_readonly = PROBE_GROUP(rows);
