/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "dir.h"
#include "encode.h"
#include "facts.h"
#include "fd.h"
#include "open.h"
#include "own.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { FIXTURE_LISTENERS = 16, FIXTURE_FILES = 8, FIXTURE_DEPTH = 8, FIXTURE_TMP_MAX = 40 };

/* What the fixture's process owns. */
struct fixture_state {
	char dir[FIXTURE_TMP_MAX + 40];
	char id[24]; /* a name nobody else has */
	int dir_fd;
	int moving_fd;
	int watch;
	int listeners[FIXTURE_LISTENERS];
	size_t listener_count;
	char files[FIXTURE_FILES][PATH_MAX]; /* outside dir, to be removed */
	size_t file_count;
	int shm, sem, msg;
	char mqueue[40];
	int master, slave;
	struct buf *facts;
};

/* --- files ---------------------------------------------------------------------------- */

static int fixture_file(int dir, const char *name, mode_t mode)
{
	_cleanup_fd_ int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd_write_all(fd, "canary\n", 7);
}

static const char *const fixture_files[] = {"file", "victim", "source", "target", "away",
					    "left", "right",  "marked", "mover"};
static const char *const fixture_dirs[] = {"empty", "empty-too", "hidden"};

/* exhibit and twin: everything that the ways of rows_readonly.c need. */
static int fixture_tree(const struct fixture_state *s, const char *name)
{
	if (mkdirat(s->dir_fd, name, 0700) < 0)
		return -errno;
	_cleanup_fd_ int dir = open_beneath(s->dir_fd, name, O_RDONLY | O_DIRECTORY, 0);
	int r = dir < 0 ? dir : 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(fixture_files); i++)
		r = fixture_file(dir, fixture_files[i], 0600);
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(fixture_dirs); i++)
		r = mkdirat(dir, fixture_dirs[i], 0700) < 0 ? -errno : 0;
	if (r == 0)
		r = fixture_file(dir, "hidden/secret", 0600);
	if (r == 0)
		r = fixture_file(dir, "program", 0700);
	if (r == 0 && symlinkat("file", dir, "link") < 0)
		r = -errno;
	if (r < 0)
		return r;
	_cleanup_fd_ int marked = open_beneath(dir, "marked", O_RDONLY, 0);

	/* Without attributes the rows about them have no control. */
	if (marked >= 0)
		(void)fsetxattr(marked, "user.bawn", "x", 1, 0);
	return 0;
}

static int fixture_trees(struct fixture_state *s)
{
	static const struct {
		const char *dir, *file;
	} plain[] = {{"private", "private/file"},
		     {"moving", "moving/mark"},
		     {"other", "other/stranger"}};
	int r = fixture_tree(s, "exhibit");

	if (r == 0)
		r = fixture_tree(s, "twin");
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(plain); i++) {
		r = mkdirat(s->dir_fd, plain[i].dir, 0700) < 0 ? -errno : 0;
		if (r == 0)
			r = fixture_file(s->dir_fd, plain[i].file, 0600);
	}
	if (r < 0)
		return r;
	s->moving_fd = open_beneath(s->dir_fd, "moving", O_RDONLY | O_DIRECTORY, 0);
	if (s->moving_fd < 0)
		return s->moving_fd;
	facts_putf(s->facts, "exhibit", "%s/exhibit", s->dir);
	facts_putf(s->facts, "twin", "%s/twin", s->dir);
	facts_putf(s->facts, "moving", "%s/moving", s->dir);
	facts_putf(s->facts, "private", "%s/private", s->dir);
	facts_putf(s->facts, "private.file", "%s/private/file", s->dir);
	return 0;
}

/* Makes a file with a unique name in a directory that is not ours.  A missing directory is no
 * error. */
static void fixture_canary(struct fixture_state *s, const char *key, const char *dir)
{
	char *path = s->files[s->file_count];

	if (!dir || snprintf(path, PATH_MAX, "%s/.bawn-verify-%s", dir, s->id) >= PATH_MAX ||
	    fixture_file(AT_FDCWD, path, 0600) < 0)
		return;
	s->file_count++;
	facts_put(s->facts, key, path);
}

/* --- sockets and servers -------------------------------------------------------------- */

static int fixture_keep(struct fixture_state *s, int fd)
{
	if (s->listener_count == FIXTURE_LISTENERS) {
		(void)close(fd);
		return -ENOSPC;
	}
	s->listeners[s->listener_count++] = fd;
	return 0;
}

/* name begins with '@' for an abstract one. */
static int fixture_socket(struct fixture_state *s, const char *key, const char *name, int type)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t len = strlen(name);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (len >= sizeof(a.sun_path)) {
		(void)close(fd);
		return -ENAMETOOLONG;
	}
	memcpy(a.sun_path, name, len);
	if (name[0] == '@')
		a.sun_path[0] = '\0';
	if (bind(fd, (const struct sockaddr *)&a,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0 ||
	    (type != SOCK_DGRAM && listen(fd, 64) < 0)) {
		int r = -errno;

		(void)close(fd);
		return r;
	}
	facts_put(s->facts, key, name);
	return fixture_keep(s, fd);
}

static int fixture_sockets(struct fixture_state *s, const char *runtime)
{
	static const struct {
		const char *key, *format;
		int type;
	} below[] = {
		{"socket.path", "%s/private/socket", SOCK_STREAM},
		{"socket.datagram", "%s/private/datagram", SOCK_DGRAM},
		{"socket.packets", "%s/private/packets", SOCK_SEQPACKET},
		{"socket.shown", "%s/exhibit/socket", SOCK_STREAM},
	};
	char name[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(below); i++) {
		(void)snprintf(name, sizeof(name), "%s%s", s->dir, below[i].format + 2);
		r = fixture_socket(s, below[i].key, name, below[i].type);
	}
	(void)snprintf(name, sizeof(name), "@bawn-verify-%s", s->id);
	if (r == 0)
		r = fixture_socket(s, "socket.abstract", name, SOCK_STREAM);
	(void)snprintf(name, sizeof(name), "@bawn-verify-datagram-%s", s->id);
	if (r == 0)
		r = fixture_socket(s, "socket.abstract-datagram", name, SOCK_DGRAM);
	(void)snprintf(name, sizeof(name), "@/tmp/.X11-unix/X-bawn-%s", s->id);
	if (r == 0)
		r = fixture_socket(s, "socket.abstract-display", name, SOCK_STREAM);
	if (r < 0 || !runtime)
		return r;
	char *path = s->files[s->file_count];

	(void)snprintf(path, PATH_MAX, "%s/.bawn-verify-socket-%s", runtime, s->id);
	if (fixture_socket(s, "socket.runtime", path, SOCK_STREAM) == 0)
		s->file_count++;
	return 0;
}

/* A server on loopback; a machine without IPv6 has one less. */
static void fixture_server(struct fixture_state *s, const char *key, int family, int type,
			   uint32_t v4)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a;
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len = family == AF_INET ? sizeof(a.v4) : sizeof(a.v6);

	if (fd < 0)
		return;
	memset(&a, 0, sizeof(a));
	a.any.sa_family = (sa_family_t)family;
	if (family == AF_INET)
		a.v4.sin_addr.s_addr = htonl(v4);
	else
		a.v6.sin6_addr = in6addr_loopback;
	if (bind(fd, &a.any, len) < 0 || (type == SOCK_STREAM && listen(fd, 16) < 0) ||
	    getsockname(fd, &a.any, &len) < 0) {
		(void)close(fd);
		return;
	}
	/* The port is at the same place in both. */
	facts_putf(s->facts, key, "%u", ntohs(a.v4.sin_port));
	(void)fixture_keep(s, fd);
}

static void fixture_servers(struct fixture_state *s)
{
	fixture_server(s, "port.tcp4", AF_INET, SOCK_STREAM, INADDR_LOOPBACK);
	fixture_server(s, "port.tcp4-2", AF_INET, SOCK_STREAM, INADDR_LOOPBACK + 1);
	fixture_server(s, "port.udp4", AF_INET, SOCK_DGRAM, INADDR_LOOPBACK);
	fixture_server(s, "port.tcp6", AF_INET6, SOCK_STREAM, 0);
}

/* The first address of each family that is neither loopback nor link-local. */
static void fixture_addresses(struct fixture_state *s)
{
	struct ifaddrs *all = NULL;
	bool found4 = false;
	bool found6 = false;

	if (getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		char text[INET6_ADDRSTRLEN];

		if (!i->ifa_addr || (i->ifa_flags & IFF_LOOPBACK))
			continue;
		if (i->ifa_addr->sa_family == AF_INET && !found4) {
			struct sockaddr_in v4;

			memcpy(&v4, i->ifa_addr, sizeof(v4));
			found4 = inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text)) != NULL;
			facts_put(s->facts, "host.address", text);
		} else if (i->ifa_addr->sa_family == AF_INET6 && !found6) {
			struct sockaddr_in6 v6;

			memcpy(&v6, i->ifa_addr, sizeof(v6));
			if (IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr))
				continue;
			found6 = inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text)) != NULL;
			facts_put(s->facts, "host.address6", text);
		}
	}
	freeifaddrs(all);
}

/* --- queues, terminal, names ---------------------------------------------------------- */

static void fixture_queues(struct fixture_state *s)
{
	key_t key = 0;

	(void)!getrandom(&key, sizeof(key), 0);
	key &= 0x7fffffff;
	s->shm = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0600);
	s->sem = semget(key, 1, IPC_CREAT | IPC_EXCL | 0600);
	s->msg = msgget(key, IPC_CREAT | IPC_EXCL | 0600);
	facts_putf(s->facts, "ipc.key", "%d", key);
	facts_putf(s->facts, "ipc.shm", "%d", s->shm);
	(void)snprintf(s->mqueue, sizeof(s->mqueue), "/bawn-verify-%s", s->id);
	mqd_t queue = mq_open(s->mqueue, O_RDWR | O_CREAT | O_EXCL, 0600, NULL);

	if (queue == (mqd_t)-1) {
		s->mqueue[0] = '\0';
		return;
	}
	(void)mq_close(queue);
	facts_put(s->facts, "mqueue", s->mqueue);
}

static void fixture_terminal(struct fixture_state *s)
{
	int number = -1;

	s->master = -1;
	s->slave = -1;
	if (own_terminal(&s->master, &s->slave) == 0 && ioctl(s->master, TIOCGPTN, &number) == 0)
		facts_putf(s->facts, "pts", "%d", number);
}

static void fixture_names(struct fixture_state *s)
{
	static const char *const kinds[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
	char host[256] = "";

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(kinds); i++) {
		char path[64];
		char key[32];
		char link[64] = "";

		(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", kinds[i]);
		(void)snprintf(key, sizeof(key), "ns.%s", kinds[i]);
		if (readlink(path, link, sizeof(link) - 1) > 0)
			facts_put(s->facts, key, link);
	}
	if (gethostname(host, sizeof(host) - 1) == 0)
		facts_put(s->facts, "hostname", host);
	facts_putf(s->facts, "pid", "%d", getpid());
}

/* Sockets that the host's kernel lists by a name, as far as there is room. */
static void fixture_list_sockets(struct fixture_state *s)
{
	_cleanup_buf_ struct buf table = BUF_INIT(4u << 20);
	size_t count = 0;

	if (fd_read_file_at(AT_FDCWD, "/proc/net/unix", &table) < 0)
		return;
	for (char *line = table.ptr; line && *line && count < FACTS_MAX / 2;) {
		char *end = strchr(line, '\n');
		char *name = strpbrk(line, "/@");

		if (end)
			*end = '\0';
		/* "socket.shown" has its own row. */
		if (name && (!end || name < end) && name > line && name[-1] == ' ' &&
		    !strstr(name, "/exhibit/socket")) {
			facts_put(s->facts, "socket", name);
			count++;
		}
		line = end ? end + 1 : NULL;
	}
}

static void fixture_service(struct fixture_state *s, const char *key, const char *dir,
			    const char *name)
{
	if (dir && dir[0] == '/')
		facts_putf(s->facts, key, "%s%s%s", dir, name[0] ? "/" : "", name);
}

/* The places of this user's own services. */
static void fixture_services(struct fixture_state *s, const char *runtime)
{
	char text[PATH_MAX];
	const char *tmux = getenv("TMUX");

	fixture_service(s, "service.docker", runtime, "docker.sock");
	fixture_service(s, "service.podman", runtime, "podman/podman.sock");
	fixture_service(s, "service.bus", runtime, "bus");
	fixture_service(s, "service.systemd", runtime, "systemd/private");
	fixture_service(s, "service.gpg-agent", runtime, "gnupg/S.gpg-agent");
	fixture_service(s, "service.keyring", runtime, "keyring/control");
	fixture_service(s, "service.gvfs", runtime, "gvfsd");
	fixture_service(s, "service.wayland", runtime, "wayland-0");
	fixture_service(s, "service.pipewire", runtime, "pipewire-0");
	fixture_service(s, "service.pulse", runtime, "pulse/native");
	fixture_service(s, "service.emacs", runtime, "emacs/server");
	fixture_service(s, "service.ssh-agent", getenv("SSH_AUTH_SOCK"), "");
	fixture_service(s, "service.vscode", getenv("VSCODE_IPC_HOOK_CLI"), "");
	if (tmux && tmux[0] == '/') {
		(void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(tmux, ","), tmux);
	} else {
		(void)snprintf(text, sizeof(text), "/tmp/tmux-%u/default", getuid());
	}
	facts_put(s->facts, "service.tmux", text);
}

/* --- life ----------------------------------------------------------------------------- */

/* Removes what is below dir: the box may have written there, so no link is followed. */
static void fixture_empty(int dir, int depth)
{
	int again = depth > 0 ? open_beneath(dir, ".", O_RDONLY | O_DIRECTORY, 0) : -1;
	_cleanup_dir_ DIR *list = dir_read(again, NULL);

	for (const struct dirent *entry; (entry = dir_next(list, NULL));) {
		if (unlinkat(dir, entry->d_name, 0) == 0)
			continue;
		_cleanup_fd_ int child =
			open_beneath(dir, entry->d_name, O_RDONLY | O_DIRECTORY, 0);

		if (child >= 0)
			fixture_empty(child, depth - 1);
		(void)unlinkat(dir, entry->d_name, AT_REMOVEDIR);
	}
}

static void fixture_remove(struct fixture_state *s)
{
	for (size_t i = 0; i < s->file_count; i++)
		(void)unlink(s->files[i]);
	if (s->shm >= 0)
		(void)shmctl(s->shm, IPC_RMID, NULL);
	if (s->sem >= 0)
		(void)semctl(s->sem, 0, IPC_RMID);
	if (s->msg >= 0)
		(void)msgctl(s->msg, IPC_RMID, NULL);
	if (s->mqueue[0])
		(void)mq_unlink(s->mqueue);
	if (s->dir_fd >= 0) {
		fixture_empty(s->dir_fd, FIXTURE_DEPTH);
		(void)rmdir(s->dir);
	}
}

static int fixture_make(struct fixture_state *s, const char *home, const char *runtime)
{
	int r = encode_random(s->id, 8);

	if (r < 0)
		return r;
	const char *tmp = getenv("TMPDIR");

	/* The names of sockets must be short, so a long TMPDIR is not used. */
	if (!tmp || tmp[0] != '/' || strlen(tmp) > FIXTURE_TMP_MAX || access(tmp, W_OK) < 0)
		tmp = "/tmp";
	(void)snprintf(s->dir, sizeof(s->dir), "%s/bawn-verify-%s", tmp, s->id);
	if (mkdir(s->dir, 0700) < 0)
		return -errno;
	s->dir_fd = open_no_links(s->dir, O_RDONLY | O_DIRECTORY);
	if (s->dir_fd < 0)
		return s->dir_fd;
	r = fixture_trees(s);

	if (r == 0)
		r = fixture_sockets(s, runtime);
	if (r < 0)
		return r;
	fixture_canary(s, "canary.home", home);
	fixture_canary(s, "canary.var-tmp", "/var/tmp");
	fixture_canary(s, "canary.shm", "/dev/shm");
	fixture_canary(s, "canary.run", runtime);
	fixture_servers(s);
	fixture_addresses(s);
	fixture_queues(s);
	fixture_terminal(s);
	fixture_names(s);
	fixture_services(s, runtime);
	fixture_list_sockets(s);
	s->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (s->watch < 0)
		return -errno;
	char path[96];

	(void)snprintf(path, sizeof(path), "%s/moving", s->dir);
	return inotify_add_watch(s->watch, path, IN_CREATE) < 0 ? -errno : buf_error(s->facts);
}

/* Answers whoever calls: one byte for one byte. */
static void fixture_serve(int listener)
{
	char byte = 0;
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	_cleanup_fd_ int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0) {
		struct timeval patience = {.tv_usec = 500000};

		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		if (recv(fd, &byte, 1, 0) == 1)
			(void)send(fd, &byte, 1, MSG_NOSIGNAL);
	} else if (recvfrom(listener, &byte, 1, MSG_DONTWAIT, (struct sockaddr *)&from, &len) ==
		   1) {
		(void)sendto(listener, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL,
			     (const struct sockaddr *)&from, len);
	}
}

/* `go` appeared in the shown folder: exchanges it with other/, and writes `done` into the moved
 * one. */
static void fixture_move(struct fixture_state *s)
{
	char events[4096];

	while (read(s->watch, events, sizeof(events)) > 0)
		continue;
	if (faccessat(s->moving_fd, "go", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (renameat(s->dir_fd, "moving", s->dir_fd, "moved") == 0 &&
	    renameat(s->dir_fd, "other", s->dir_fd, "moving") == 0)
		(void)fixture_file(s->moving_fd, "done", 0600);
}

static void fixture_live(struct fixture_state *s, int hold)
{
	for (;;) {
		struct pollfd p[FIXTURE_LISTENERS + 2];

		p[0] = (struct pollfd){.fd = hold, .events = POLLIN};
		p[1] = (struct pollfd){.fd = s->watch, .events = POLLIN};
		for (size_t i = 0; i < s->listener_count; i++)
			p[i + 2] = (struct pollfd){.fd = s->listeners[i], .events = POLLIN};
		if (poll(p, (nfds_t)(s->listener_count + 2), -1) < 0 && errno != EINTR)
			return;
		if (p[0].revents)
			return;
		if (p[1].revents)
			fixture_move(s);
		for (size_t i = 0; i < s->listener_count; i++)
			if (p[i + 2].revents)
				fixture_serve(s->listeners[i]);
	}
}

/* The fixture's process: answers "-errno" or the facts, then lives until `hold` is closed. */
static _Noreturn void fixture_main(int hold, int answer, const char *home, const char *runtime)
{
	static struct fixture_state s;
	_cleanup_buf_ struct buf facts = BUF_INIT(FACTS_BYTES_MAX);
	sigset_t all;

	/* Ctrl-C is for verify.  When verify ends, we clean up and end. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	s = (struct fixture_state){.dir_fd = -1,
				   .moving_fd = -1,
				   .watch = -1,
				   .shm = -1,
				   .sem = -1,
				   .msg = -1,
				   .master = -1,
				   .slave = -1,
				   .facts = &facts};
	int r = fixture_make(&s, home, runtime);

	if (r < 0) {
		buf_clear(&facts);
		facts_putf(&facts, "failed", "%d", -r);
	}
	r = fd_write_all(answer, buf_str(&facts), facts.len);
	(void)close(answer);
	if (r == 0)
		fixture_live(&s, hold);
	fixture_remove(&s);
	_exit(0);
}

int fixture_start(struct fixture *f, const char *home, const char *runtime, struct buf *facts,
		  struct error *e)
{
	int hold[2];
	int answer[2];

	if (pipe2(hold, O_CLOEXEC) < 0)
		return error_sys(e, -errno, "making a pipe");
	if (pipe2(answer, O_CLOEXEC) < 0) {
		int r = error_sys(e, -errno, "making a pipe");

		(void)close(hold[0]);
		(void)close(hold[1]);
		return r;
	}
	f->pid = fork();
	if (f->pid == 0) {
		(void)close(hold[1]);
		(void)close(answer[0]);
		fixture_main(hold[0], answer[1], home, runtime);
	}
	(void)close(hold[0]);
	(void)close(answer[1]);
	f->hold = hold[1];
	int r = f->pid < 0 ? -errno : fd_read_all(answer[0], facts);

	(void)close(answer[0]);
	if (r == 0 && strncmp(buf_str(facts), "failed\t", 7) == 0)
		r = -EIO;
	return r < 0 ? error_set(e, r, "what the probes are tried on could not be made: %s",
				 r == -EIO ? buf_str(facts) + 7 : error_words(r))
		     : 0;
}

void fixture_stop(struct fixture *f)
{
	fd_close(&f->hold);
	if (f->pid > 0)
		while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	f->pid = -1;
}
