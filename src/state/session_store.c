/* SPDX-License-Identifier: Apache-2.0 */
#include "session_store.h"

#include "board.h"
#include "clock.h"
#include "dir.h"
#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	STORE_TRIES = 64,   /* names that are tried */
	STORE_BACKLOG = 64, /* a client waits no longer than until the keeper accepts */
	STORE_CONNECT_SECONDS = 2,
	STORE_LOCK_TRIES = 200,
	STORE_LOCK_MS = 10,
	STORE_LOCK_PATIENCE_MS = STORE_LOCK_TRIES * STORE_LOCK_MS,
	STORE_TIDY_MAX = 32, /* entries that a start looks at: it must be quick */
};

/* Words that are easy to say, to type and to tell apart. */
static const char *const store_first[] = {
	"able",   "airy",  "amber",  "apt",   "bold",   "brave",  "brief",  "bright", "brisk",
	"calm",   "civil", "clear",  "cosy",  "crisp",  "deft",   "dry",    "eager",  "early",
	"easy",   "even",  "fair",   "fast",  "fine",   "firm",   "fond",   "frank",  "fresh",
	"gentle", "glad",  "good",   "grand", "green",  "happy",  "hardy",  "hazel",  "ideal",
	"jolly",  "keen",  "kind",   "large", "light",  "lively", "loyal",  "lucky",  "mellow",
	"merry",  "mild",  "neat",   "noble", "plain",  "polite", "proud",  "quick",  "quiet",
	"rapid",  "ready", "robust", "sage",  "sharp",  "shy",    "silver", "sleek",  "smart",
	"snug",   "sober", "solid",  "spry",  "steady", "still",  "sunny",  "swift",  "tall",
	"tidy",   "trim",  "true",   "vivid", "warm",   "wise",   "witty",  "young",
};

static const char *const store_second[] = {
	"adder",  "badger", "bat",   "bear",   "beaver", "bee",    "bison",  "bream",  "carp",
	"cat",    "cod",    "coot",  "crane",  "crow",   "curlew", "deer",   "dipper", "dove",
	"duck",   "eagle",  "eel",   "egret",  "elk",    "falcon", "ferret", "finch",  "fox",
	"frog",   "gannet", "goat",  "goose",  "grouse", "gull",   "hare",   "hawk",   "heron",
	"horse",  "ibex",   "jay",   "kite",   "lark",   "lemur",  "linnet", "lynx",   "magpie",
	"marten", "merlin", "mole",  "moose",  "moth",   "mouse",  "newt",   "otter",  "owl",
	"perch",  "pike",   "pipit", "plover", "pony",   "puffin", "quail",  "raven",  "robin",
	"rook",   "salmon", "seal",  "shrew",  "snipe",  "stoat",  "stork",  "swan",   "teal",
	"tern",   "thrush", "toad",  "trout",  "vole",   "whale",  "wolf",   "wren",
};

struct session_places session_places_of(const struct host *h)
{
	return (struct session_places){.runtime = h->runtime_dir, .state = h->state_dir};
}

/* --- the folder above ----------------------------------------------------------------- */

/* 0 when the folder is the user's and nobody else may write it, else -errno. */
static int store_check_own(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid == geteuid() && (st.st_mode & 022) == 0 ? 0 : -EPERM;
}

static int store_child(int dir, const char *name, bool create)
{
	if (create && mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	return open_beneath(dir, name, O_RDONLY | O_DIRECTORY, 0);
}

/* Opens $XDG_RUNTIME_DIR/bawn (which: 0) or STATE/run (which: 1): the descriptor, or -errno. */
static int store_open_above(const struct session_places *p, int which, bool create)
{
	const char *path = which == 0 ? p->runtime : p->state;
	char parent[PATH_MAX];

	if (!path)
		return -ENOENT;
	(void)snprintf(parent, sizeof(parent), "%s", path);
	if (which == 0)
		*strrchr(parent, '/') = '\0'; /* its last name is bawn */
	_cleanup_fd_ int base = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = base < 0 ? -errno : store_check_own(base);

	if (r < 0)
		return r;
	_cleanup_fd_ int above = store_child(base, which == 0 ? "bawn" : "run", create);

	r = above < 0 ? above : store_check_own(above);
	return r < 0 ? r : TAKE_FD(above);
}

static void store_wait(void)
{
	const struct timespec moment = {.tv_nsec = STORE_LOCK_MS * 1000000L};

	(void)nanosleep(&moment, NULL);
}

/* Locks the folder above.  Whoever makes or removes a folder holds this lock for a moment. */
static int store_lock_above(int above)
{
	for (int i = 0; i < STORE_LOCK_TRIES; i++) {
		if (flock(above, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		store_wait();
	}
	return -EBUSY;
}

/* --- one session ---------------------------------------------------------------------- */

static void store_remove(int above, int folder, const char *name)
{
	(void)unlinkat(folder, BOARD_FILE, 0);
	(void)unlinkat(folder, "control", 0);
	(void)unlinkat(above, name, AT_REMOVEDIR);
}

/* 1: the session lives.  0: it does not, and its folder is removed.  Or -errno. */
static int store_look(int above, const char *name)
{
	_cleanup_fd_ int folder = open_beneath(above, name, O_RDONLY | O_DIRECTORY, 0);

	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	if (flock(folder, LOCK_EX | LOCK_NB) == 0) {
		store_remove(above, folder, name);
		return 0;
	}
	return errno == EWOULDBLOCK ? 1 : -errno;
}

/* The address of the control socket, by a path that is short however long the folder's path is. */
static void store_address(int folder, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	(void)snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/control", folder);
}

static int store_listen(int folder)
{
	struct sockaddr_un address;
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	store_address(folder, &address);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (fchmodat(folder, "control", 0600, 0) < 0 || listen(fd, STORE_BACKLOG) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* The keeper's queue is full: waits for a place there. */
static int store_connect_later(int fd, const struct sockaddr_un *address)
{
	const struct timeval patience = {.tv_sec = STORE_CONNECT_SECONDS};
	int r = fd_set_nonblock(fd, false);

	if (r == 0 && (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
		       connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0))
		r = -errno;
	return r < 0 ? r : fd_set_nonblock(fd, true);
}

static int store_connect(int folder)
{
	struct sockaddr_un address;
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	store_address(folder, &address);
	if (fd < 0)
		return -errno;
	int r = connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;

	if (r == -EAGAIN)
		r = store_connect_later(fd, &address);
	return r < 0 ? r : TAKE_FD(fd);
}

void session_store_reach(const struct session_places *places, struct session_reach *ret)
{
	for (int which = 0; which < 2; which++)
		ret->above[which] = store_open_above(places, which, false);
}

void session_store_leave(struct session_reach *r)
{
	for (int which = 0; which < 2; which++)
		fd_close(&r->above[which]);
}

int session_store_connect_in(const struct session_reach *reach, const char *name)
{
	if (name[0] == '\0' || name[0] == '.' || strchr(name, '/'))
		return -ENOENT;
	for (int which = 0; which < 2; which++) {
		int above = reach->above[which];
		_cleanup_fd_ int folder =
			above < 0 ? above : open_beneath(above, name, O_PATH | O_DIRECTORY, 0);

		if (folder >= 0)
			return store_connect(folder);
	}
	return -ENOENT;
}

ssize_t session_store_read_board(const struct session_reach *reach, const char *name,
				 uint8_t into[BOARD_BYTES])
{
	char path[SESSION_NAME_MAX + sizeof(BOARD_FILE) + 1];
	int n = snprintf(path, sizeof(path), "%s/" BOARD_FILE, name);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	for (int which = 0; which < 2; which++) {
		int above = reach->above[which];
		_cleanup_fd_ int fd =
			above < 0 ? above : open_beneath(above, path, O_RDONLY | O_NONBLOCK, 0);

		if (fd < 0)
			continue;
		ssize_t len = read(fd, into, BOARD_BYTES);

		return len < 0 ? -errno : len;
	}
	return -ENOENT;
}

int session_store_connect(const struct session_places *places, const char *name)
{
	_cleanup_session_reach_ struct session_reach reach;

	session_store_reach(places, &reach);
	return session_store_connect_in(&reach, name);
}

/* --- all of them ---------------------------------------------------------------------- */

/* Looks at up to `most` entries of the folder, which the caller has locked.  Removes dead
 * sessions. */
static int store_scan(int above, size_t most, int (*found)(void *context, const char *name),
		      void *context)
{
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_open(above, ".", &r);

	for (const struct dirent *entry; r >= 0 && most > 0 && (entry = dir_next(dir, NULL));
	     most--) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= SESSION_NAME_MAX)
			continue;
		if (store_look(above, entry->d_name) > 0 && found)
			r = found(context, entry->d_name);
	}
	return r < 0 ? r : 0;
}

int session_store_each(const struct session_places *places,
		       int (*found)(void *context, const char *name), void *context,
		       struct error *e)
{
	for (int which = 0; which < 2; which++) {
		_cleanup_fd_ int above = store_open_above(places, which, false);

		/* No session can be there: the folder does not exist, or is not the user's
		 * alone. */
		if (above < 0)
			continue;
		int r = store_lock_above(above);

		if (r == 0)
			r = store_scan(above, SIZE_MAX, found, context);
		if (r < 0)
			return error_sys(e, r, "looking for sessions in %s",
					 which == 0 ? places->runtime : places->state);
	}
	return 0;
}

bool session_store_lives(const struct session_places *places, const char *name)
{
	bool lives = false;

	for (int which = 0; !lives && which < 2; which++) {
		_cleanup_fd_ int above = store_open_above(places, which, false);

		if (above >= 0 && store_lock_above(above) == 0)
			lives = store_look(above, name) > 0;
	}
	return lives;
}

/* --- making one ----------------------------------------------------------------------- */

static int store_pick_name(char *ret_name)
{
	uint32_t dice[2];

	if (getrandom(dice, sizeof(dice), 0) != sizeof(dice))
		return -EIO;
	(void)snprintf(ret_name, SESSION_NAME_MAX, "%s-%s",
		       store_first[dice[0] % BAWN_ARRAY_SIZE(store_first)],
		       store_second[dice[1] % BAWN_ARRAY_SIZE(store_second)]);
	return 0;
}

/* Whether the other folder, when there is one, has a session of that name. */
static bool store_is_taken(int other, const char *name)
{
	struct stat st;

	return other >= 0 && fstatat(other, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Makes a folder and locks it: the descriptor, or -errno.  The caller has locked `above`. */
static int store_make_folder(int above, int other, const struct session_name *name, char *ret_name)
{
	for (int i = 0; i < STORE_TRIES; i++) {
		int r = 0;

		if (name->wanted)
			(void)snprintf(ret_name, SESSION_NAME_MAX, "%s", name->wanted);
		else
			r = store_pick_name(ret_name);
		if (r < 0)
			return r;
		if (name->wanted &&
		    (store_is_taken(other, ret_name) || store_look(above, ret_name) != 0))
			return -EBUSY;
		if (!name->wanted && (store_is_taken(other, ret_name) ||
				      (name->is_taken && name->is_taken(name->context, ret_name))))
			continue;
		if (mkdirat(above, ret_name, 0700) < 0) {
			if (errno == EEXIST)
				continue;
			return -errno;
		}
		_cleanup_fd_ int folder = open_beneath(above, ret_name, O_RDONLY | O_DIRECTORY, 0);

		r = folder < 0 ? folder : flock(folder, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
		if (r == 0)
			return TAKE_FD(folder);
		(void)unlinkat(above, ret_name, AT_REMOVEDIR);
		return r;
	}
	return -EEXIST;
}

static int store_make_in(int above, int other, const struct session_name *name,
			 struct session_store *s)
{
	int r = store_lock_above(above);

	if (r < 0)
		return r;
	(void)store_scan(above, STORE_TIDY_MAX, NULL, NULL);
	s->folder = store_make_folder(above, other, name, s->name);
	r = s->folder;
	if (r >= 0) {
		s->above = fcntl(above, F_DUPFD_CLOEXEC, 3);
		s->listener = s->above < 0 ? -errno : store_listen(s->folder);
		r = s->listener;
		if (r < 0) {
			store_remove(above, s->folder, s->name);
			fd_close(&s->folder);
			fd_close(&s->above);
		}
	}
	(void)flock(above, LOCK_UN);
	return r < 0 ? r : 0;
}

/* Makes the session in the first of the two folders in which that works. */
static int store_make_anywhere(const struct session_places *places, const struct session_name *name,
			       struct session_store *s)
{
	int r = -ENOENT;

	for (int which = 0; r < 0 && r != -EBUSY && which < 2; which++) {
		_cleanup_fd_ int above = store_open_above(places, which, true);
		_cleanup_fd_ int other = store_open_above(places, !which, false);

		r = above < 0 ? above : store_make_in(above, other, name, s);
	}
	return r;
}

int session_store_make(const struct session_places *places, const struct session_name *name,
		       struct session_store *ret_store, struct error *e)
{
	struct session_store s = SESSION_STORE_INIT;
	/* We choose the modes ourselves; the user's umask is for the command. */
	mode_t mask = umask(077);
	int64_t deadline = clock_ms(CLOCK_BOOTTIME) + STORE_LOCK_PATIENCE_MS;
	int r;

	/* When a client was killed, its keeper keeps the name for a moment longer than the
	 * layers. */
	while ((r = store_make_anywhere(places, name, &s)) == -EBUSY && name->wanted &&
	       clock_ms(CLOCK_BOOTTIME) < deadline)
		store_wait();
	(void)umask(mask);
	if (r == -EBUSY && name->wanted) {
		(void)error_set(e, r, "another command is at work on the session %s", name->wanted);
		error_next(e, "Try again in a moment.");
		return r;
	}
	if (r < 0) {
		(void)error_sys(e, r, "cannot make the session's folder in %s%s%s/run",
				places->runtime ? places->runtime : "",
				places->runtime ? " or " : "", places->state);
		return r;
	}
	*ret_store = s;
	return 0;
}

void session_store_fini(struct session_store *s)
{
	if (s->above >= 0)
		store_remove(s->above, s->folder, s->name);
	fd_close(&s->listener);
	fd_close(&s->folder);
	fd_close(&s->above);
}
