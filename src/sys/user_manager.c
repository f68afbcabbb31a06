/* SPDX-License-Identifier: Apache-2.0 */
#include "user_manager.h"

#include "cgroup.h"
#include "clock.h"
#include "fd.h"
#include "str.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	MANAGER_PATIENCE = 5, /* seconds */
	MANAGER_TRY_MS = 10,
	MANAGER_HEAD = 16,          /* bytes: endianness, type, flags, version, three numbers */
	MANAGER_ANSWER = 256 << 10, /* a larger one is not read */
	MANAGER_LINE = 256,
	MANAGER_CALL = 1,
	MANAGER_RETURN = 2,
	MANAGER_ERROR = 3,
	MANAGER_PATH = 1, /* fields of the head */
	MANAGER_INTERFACE = 2,
	MANAGER_MEMBER = 3,
	MANAGER_SIGNATURE = 8,
};

int user_manager_open(const char *runtime)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const struct timeval patience = {.tv_sec = MANAGER_PATIENCE};
	struct ucred who;
	socklen_t len = sizeof(who);
	int n = runtime && runtime[0] == '/'
			? snprintf(to.sun_path, sizeof(to.sun_path), "%s/systemd/private", runtime)
			: snprintf(to.sun_path, sizeof(to.sun_path), "/run/user/%u/systemd/private",
				   geteuid());

	if (n < 0 || (size_t)n >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* The patience holds for connect, too. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
	    connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return -errno;
	/* Nobody else moves our processes. */
	return who.uid == geteuid() ? TAKE_FD(fd) : -EPERM;
}

unsigned int user_manager_controllers(int fd)
{
	struct ucred who;
	socklen_t len = sizeof(who);
	char path[PATH_MAX];

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 ||
	    cgroup_path_of(who.pid, path) < 0)
		return 0;
	/* It stands in a child of its own, beside those that it makes. */
	if (str_ends_with(path, "/init.scope"))
		*strrchr(path, '/') = '\0';
	return cgroup_controllers_of(path);
}

/* --- the question ----------------------------------------------------------------------- */

static void manager_pad(struct buf *b, size_t to)
{
	while (b->len % to != 0 && buf_error(b) == 0)
		buf_put_char(b, '\0');
}

static void manager_u32(struct buf *b, uint32_t number)
{
	manager_pad(b, sizeof(number));
	buf_put_u32(b, number);
}

static void manager_string(struct buf *b, const char *s)
{
	manager_u32(b, (uint32_t)strlen(s));
	buf_put(b, s, strlen(s) + 1);
}

static void manager_signature(struct buf *b, const char *s)
{
	buf_put_char(b, (char)strlen(s));
	buf_put(b, s, strlen(s) + 1);
}

/* Where the number of bytes of an array is written once they are known: from `first` on. */
static void manager_fill(struct buf *b, size_t at, size_t first)
{
	uint32_t len = (uint32_t)(b->len - first);

	for (size_t i = 0; i < 4 && buf_error(b) == 0; i++)
		b->ptr[at + i] = (char)(len >> (8 * i));
}

/* A name and what kind of value follows it. */
static void manager_property(struct buf *b, const char *name, const char *signature)
{
	manager_pad(b, 8);
	manager_string(b, name);
	manager_signature(b, signature);
}

static void manager_body(struct buf *b, const char *scope, pid_t pid)
{
	manager_string(b, scope);
	manager_string(b, "fail");
	manager_u32(b, 0);
	size_t count = b->len - 4;

	manager_pad(b, 8);
	size_t first = b->len;

	manager_property(b, "Description", "s");
	manager_string(b, "a session of bawn");
	manager_property(b, "PIDs", "au");
	manager_u32(b, 4);
	manager_u32(b, (uint32_t)pid);
	manager_property(b, "Delegate", "b");
	manager_u32(b, 1);
	manager_property(b, "CollectMode", "s");
	manager_string(b, "inactive-or-failed");
	manager_fill(b, count, first);
	manager_u32(b, 0); /* no other units */
	manager_pad(b, 8);
}

static void manager_field(struct buf *b, uint8_t field, const char *signature, const char *value)
{
	manager_pad(b, 8);
	buf_put_char(b, (char)field);
	manager_signature(b, signature);
	if (str_equal(signature, "g"))
		manager_signature(b, value);
	else
		manager_string(b, value);
}

void user_manager_put(struct buf *into, const char *scope, pid_t pid)
{
	_cleanup_buf_ struct buf body = BUF_INIT(4096);
	_cleanup_buf_ struct buf head = BUF_INIT(4096);
	const char begin[] = {'l', MANAGER_CALL, 0, 1};

	manager_body(&body, scope, pid);
	buf_put(&head, begin, sizeof(begin));
	manager_u32(&head, (uint32_t)body.len);
	manager_u32(&head, 1); /* the number of this message */
	manager_u32(&head, 0);
	manager_field(&head, MANAGER_PATH, "o", "/org/freedesktop/systemd1");
	manager_field(&head, MANAGER_INTERFACE, "s", "org.freedesktop.systemd1.Manager");
	manager_field(&head, MANAGER_MEMBER, "s", "StartTransientUnit");
	manager_field(&head, MANAGER_SIGNATURE, "g", "ssa(sv)a(sa(sv))");
	manager_fill(&head, MANAGER_HEAD - 4, MANAGER_HEAD);
	manager_pad(&head, 8);
	buf_put(into, head.ptr, head.len);
	buf_put(into, body.ptr, body.len);
	if (buf_error(&head) || buf_error(&body))
		into->error = buf_error(&head) ? buf_error(&head) : buf_error(&body);
}

/* --- the answer ------------------------------------------------------------------------- */

static int manager_read(int fd, void *into, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = read(fd, (char *)into + at, len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 ? -ECONNRESET : errno == EAGAIN ? -ETIMEDOUT : -errno;
		at += (size_t)n;
	}
	return 0;
}

/* One line, which says that we are who we say. */
static int manager_read_welcome(int fd)
{
	char line[MANAGER_LINE] = "";
	size_t len = 0;

	while (len < 2 || line[len - 1] != '\n') {
		int r = len == sizeof(line) ? -EPROTO : manager_read(fd, line + len, 1);

		if (r < 0)
			return r;
		len++;
	}
	return memcmp(line, "OK ", 3) == 0 ? 0 : -EACCES;
}

static uint32_t manager_number(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* Reads messages until one is the answer; signals come between. */
static int manager_read_answer(int fd, struct error *e)
{
	for (int64_t until = clock_s(CLOCK_BOOTTIME) + MANAGER_PATIENCE;
	     clock_s(CLOCK_BOOTTIME) <= until;) {
		uint8_t head[MANAGER_HEAD];
		int r = manager_read(fd, head, sizeof(head));

		if (r < 0)
			return r;
		uint64_t fields = ((uint64_t)manager_number(head + 12) + 7) & ~7ull;
		uint64_t body = manager_number(head + 4);

		if (head[0] != 'l' || fields + body > MANAGER_ANSWER)
			return -EPROTO;
		_cleanup_free_ char *rest = calloc(1, (size_t)(fields + body) + 1);

		r = rest ? manager_read(fd, rest, (size_t)(fields + body)) : -ENOMEM;
		if (r < 0 || head[1] == MANAGER_RETURN)
			return r;
		if (head[1] == MANAGER_ERROR) /* its sentence is a string: its length, then it */
			return error_set(e, -EREMOTEIO, "your systemd gives bawn no cgroup: %.200s",
					 body > 4 ? rest + fields + 4 : "");
	}
	return -ETIMEDOUT;
}

/* One that closes at once is an error, and no signal. */
static int manager_write(int fd, const char *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = send(fd, bytes + at, len - at, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int user_manager_ask(int fd, const char *scope, pid_t pid, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(16 << 10);
	char user[16];

	/* "AUTH EXTERNAL" and the digits of our uid, as bytes in hexadecimal. */
	(void)snprintf(user, sizeof(user), "%u", geteuid());
	buf_put(&text, "\0AUTH EXTERNAL ", 15);
	for (const char *at = user; *at; at++)
		buf_putf(&text, "%02x", (unsigned int)*at);
	buf_put_str(&text, "\r\nBEGIN\r\n");
	/* A message is padded from its own first byte on. */
	_cleanup_buf_ struct buf message = BUF_INIT(16 << 10);

	user_manager_put(&message, scope, pid);
	buf_put(&text, message.ptr, message.len);
	int r = buf_error(&message) ? -ENOMEM : buf_error(&text);

	if (r == 0)
		r = manager_write(fd, text.ptr, text.len);
	if (r == 0)
		r = manager_read_welcome(fd);
	if (r == 0)
		r = manager_read_answer(fd, e);
	return r < 0 && e->code == 0 ? error_sys(e, r, "asking your systemd for a cgroup") : r;
}

int user_manager_enter(int fd, const char *session, struct error *e)
{
	char scope[128];
	char own[PATH_MAX];

	(void)snprintf(scope, sizeof(scope), "bawn-%.64s-%d.scope", session, (int)getpid());
	int r = user_manager_ask(fd, scope, getpid(), e);

	/* It answers before it is done. */
	for (int i = 0; r == 0 && i < MANAGER_PATIENCE * 1000 / MANAGER_TRY_MS; i++) {
		if (cgroup_of(getpid(), own) == 0 && strstr(own, scope))
			return 0;
		(void)nanosleep(&(struct timespec){.tv_nsec = MANAGER_TRY_MS * 1000000L}, NULL);
	}
	return r < 0 ? r : error_set(e, -ETIMEDOUT, "your systemd has not made a cgroup in time");
}
