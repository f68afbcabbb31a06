/* SPDX-License-Identifier: Apache-2.0 */
#include "scanner.h"

#include "channel.h"
#include "clock.h"
#include "fd.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SCANNER_ASK = 1, SCANNER_SERVING = 0 };
enum {
	SCANNER_CHANNEL = 3, /* the child's descriptors */
	SCANNER_ROOT = 4,
	SCANNER_IN_FLIGHT = 4,
	SCANNER_EVERY = 16, /* directories between two looks at the channel */
};

struct scanner_answer {
	uint64_t index;
	int64_t result;
	struct digests_key key; /* of the file that it read */
	struct hash digest;
};

static int scanner_look(int fd, struct digests_key *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = (struct digests_key){.device = st.st_dev,
				    .inode = st.st_ino,
				    .size = (uint64_t)st.st_size,
				    .mtime = CLOCK_NS(st.st_mtim),
				    .ctime = CLOCK_NS(st.st_ctim)};
	return S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

/* Hashes a file.  -ESTALE: somebody changed it meanwhile.  Only its ctime tells: nobody can set
 * that. */
static int scanner_hash(int fd, int64_t deadline, struct digests_key *ret_key, struct hash *ret)
{
	struct digests_key after = {0};
	int r = scanner_look(fd, ret_key);

	if (r == 0 && ret_key->size > SCANNER_BYTES_MAX)
		r = -EFBIG;
	if (r == 0)
		r = hash_file(fd, SCANNER_BYTES_MAX, deadline, ret);
	if (r == 0)
		r = scanner_look(fd, &after);
	return r < 0 ? r : digests_is(ret_key, &after) ? 0 : -ESTALE;
}

/* --- the child ------------------------------------------------------------------------ */

static int scanner_on_ask(void *context, struct channel_packet *packet, struct error *e)
{
	struct scanner_answer answer = {.result = -EPROTO};

	(void)context;
	(void)e;
	if (packet->body.len != sizeof(answer.index))
		return -EPROTO;
	memcpy(&answer.index, packet->body.ptr, sizeof(answer.index));
	answer.result = scanner_hash(packet->fds[0], 0, &answer.key, &answer.digest);
	return channel_send(SCANNER_CHANNEL, SCANNER_ASK,
			    (struct span){(const uint8_t *)&answer, sizeof(answer)}, NULL, 0);
}

static void scanner_lower_priority(void)
{
	const struct sched_param none = {0};

	/* When the system does not let us lower something, we keep it. */
	(void)setpriority(PRIO_PROCESS, 0, 19);
	(void)sched_setscheduler(0, SCHED_IDLE, &none);
	(void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0,
		      IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

static _Noreturn void scanner_serve(struct manifest *m)
{
	static const struct channel_rule rules[] = {
		{SCANNER_ASK, "DIGEST", sizeof(uint64_t), 1, 1, 1u << SCANNER_SERVING,
		 scanner_on_ask},
	};
	struct channel c = {.fd = SCANNER_CHANNEL, .rules = rules, .rule_count = 1};
	struct error e = ERROR_INIT;
	struct pollfd asked = {.fd = SCANNER_CHANNEL, .events = POLLIN};
	const struct timespec at_once = {0};

	scanner_lower_priority();
	for (unsigned int i = 0; m; i++) {
		if (!manifest_step(m))
			m = m->next;
		if (i % SCANNER_EVERY != 0 || ppoll(&asked, 1, &at_once, NULL) <= 0)
			continue;
		if (channel_receive(&c, &e) <= 0)
			_exit(0);
	}
	const struct timespec rest = {.tv_sec = SCANNER_REST_MS / 1000,
				      .tv_nsec = SCANNER_REST_MS % 1000 * 1000000L};

	while (ppoll(&asked, 1, &rest, NULL) > 0 && channel_receive(&c, &e) > 0)
		continue;
	_exit(0);
}

static _Noreturn void scanner_become(int channel, struct manifest *first)
{
	int count = 0, away = SCANNER_ROOT;

	for (struct manifest *m = first; m; m = m->next)
		count++;
	/* First move all of them above the numbers that they will get. */
	channel = fcntl(channel, F_DUPFD_CLOEXEC, SCANNER_ROOT + count);
	if (channel < 0)
		_exit(1);
	for (struct manifest *m = first; m; m = m->next) {
		m->root = fcntl(m->root, F_DUPFD_CLOEXEC, SCANNER_ROOT + count);
		if (m->root < 0)
			_exit(1);
	}
	if (dup3(channel, SCANNER_CHANNEL, O_CLOEXEC) < 0)
		_exit(1);
	for (struct manifest *m = first; m; m = m->next) {
		if (dup3(m->root, away, O_CLOEXEC) < 0)
			_exit(1);
		m->root = away++;
	}
	/* Close all else that came from the recorder: a session must end when its parts have
	 * ended. */
	if (close_range((unsigned int)away, ~0u, 0) < 0)
		_exit(1);
	scanner_serve(first);
}

/* --- the recorder --------------------------------------------------------------------- */

static int scanner_fork(struct scanner *s, struct manifest *before);

static void scanner_send(struct scanner *s)
{
	if (!s->awake)
		return;
	if (s->fd < 0 && s->sent < s->count && s->deaths < SCANNER_DEATHS_MAX)
		(void)scanner_fork(s, NULL);
	while (s->fd >= 0 && s->sent < s->count && s->sent - s->answered < SCANNER_IN_FLIGHT) {
		uint64_t index = s->sent;

		if (channel_send(s->fd, SCANNER_ASK,
				 (struct span){(const uint8_t *)&index, sizeof(index)},
				 &s->files[index].fd, 1) < 0)
			return;
		s->sent++;
	}
}

/* Reports the digest of a file as it was when it ran; -ESTALE if another file was read by then. */
static int scanner_tell(struct scanner *s, const struct scanner_file *f,
			const struct digests_key *read, int result, const struct hash *hash)
{
	struct scanner_digest digest = {.path = f->path,
					.device = f->key.device,
					.inode = f->key.inode,
					.digest = *hash,
					.result = result};

	if (result == 0 && !digests_is(read, &f->key))
		digest.result = -ESTALE;
	if (digest.result == 0)
		digests_add(&s->known, &f->key, &digest.digest);
	return s->to.on_digest(s->to.context, &digest);
}

static int scanner_on_answer(void *context, struct channel_packet *packet, struct error *e)
{
	struct scanner *s = context;
	struct scanner_answer answer;

	if (packet->body.len != sizeof(answer))
		return error_set(e, -EPROTO, "this is not a digest");
	memcpy(&answer, packet->body.ptr, sizeof(answer));
	if (answer.index != s->answered || s->answered == s->sent)
		return error_set(e, -EPROTO, "a digest that nobody asked for");
	struct scanner_file *f = &s->files[s->answered++];
	int r = scanner_tell(s, f, &answer.key, (int)answer.result, &answer.digest);

	free(f->path);
	f->path = NULL;
	fd_close(&f->fd);
	scanner_send(s);
	return r;
}

static int scanner_receive(struct scanner *s)
{
	static const struct channel_rule rules[] = {
		{SCANNER_ASK, "DIGESTED", sizeof(struct scanner_answer), 0, 0,
		 1u << SCANNER_SERVING, scanner_on_answer},
	};
	struct channel c = {.fd = s->fd, .rules = rules, .rule_count = 1, .context = s};
	struct error e = ERROR_INIT;

	return channel_receive(&c, &e);
}

static void scanner_let_go(struct scanner *s, struct scanner_ended *child)
{
	if (s->to.loop)
		loop_remove(s->to.loop, &child->handle);
	fd_close(&child->pidfd);
	child->pid = 0;
}

/* Waits for children that have ended.  Returns a free place, or NULL. */
static struct scanner_ended *scanner_reap(struct scanner *s)
{
	struct scanner_ended *unused = NULL;

	for (size_t i = 0; i < SCANNER_ENDED_MAX; i++) {
		struct scanner_ended *child = &s->ended[i];

		if (child->pid && waitpid(child->pid, NULL, WNOHANG) != 0)
			scanner_let_go(s, child);
		if (!child->pid)
			unused = child;
	}
	return unused;
}

static int scanner_on_ended(void *context, uint32_t events)
{
	(void)events;
	(void)scanner_reap(context);
	return 0;
}

/* Forgets children that have not ended by now: nobody waits for them. */
static void scanner_forget_ended(struct scanner *s)
{
	(void)scanner_reap(s);
	for (size_t i = 0; i < SCANNER_ENDED_MAX; i++)
		if (s->ended[i].pid)
			scanner_let_go(s, &s->ended[i]);
}

/*
 * On a busy machine a child of the lowest priority may take long to end.  Whoever waits for the
 * recorder must not wait for that.
 */
static void scanner_take_leave(struct scanner *s)
{
	struct scanner_ended *child = scanner_reap(s);

	if (!child) {
		(void)waitpid(s->pid, NULL, 0);
	} else if (waitpid(s->pid, NULL, WNOHANG) == 0) {
		*child = (struct scanner_ended){.pid = s->pid, .pidfd = TAKE_FD(s->pidfd)};
		if (s->to.loop && child->pidfd >= 0)
			(void)loop_add(s->to.loop, child->pidfd, EPOLLIN, scanner_on_ended, s,
				       &child->handle);
	}
	fd_close(&s->pidfd);
	s->pid = 0;
}

/* The child is gone, or has to go. */
static void scanner_lose(struct scanner *s)
{
	if (s->pid <= 0)
		return;
	if (s->to.loop)
		loop_remove(s->to.loop, &s->handle);
	fd_close(&s->fd);
	if (s->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
	scanner_take_leave(s);
	s->deaths += s->sent > s->answered;
	/* It may have ended at the very moment when we asked it. */
	s->sent = s->answered;
}

static int scanner_on_channel(void *context, uint32_t events)
{
	struct scanner *s = context;
	int r = scanner_receive(s);

	(void)events;
	if (r <= 0 && r != -EAGAIN) {
		scanner_lose(s);
		scanner_send(s);
	}
	return 0;
}

static int scanner_fork(struct scanner *s, struct manifest *before)
{
	int ends[2];
	int r = channel_pair(ends);

	if (r < 0)
		return r;
	pid_t pid = fork();

	if (pid == 0) {
		if (s->to.forget)
			s->to.forget(s->to.context);
		scanner_become(ends[1], before);
	}
	(void)close(ends[1]);
	if (pid < 0) {
		r = -errno;
		(void)close(ends[0]);
		return r;
	}
	s->fd = ends[0];
	s->pid = pid;
	s->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return s->to.loop ? loop_add(s->to.loop, s->fd, EPOLLIN, scanner_on_channel, s, &s->handle)
			  : 0;
}

void scanner_init(struct scanner *s, int records, const struct scanner_to *to)
{
	*s = SCANNER_INIT;
	s->to = *to;
	s->since = clock_ns(CLOCK_REALTIME_COARSE);
	if (records >= 0)
		digests_open(&s->known, records);
}

int scanner_start(struct scanner *s, struct manifest *before)
{
	s->awake = true;
	int r = scanner_fork(s, before);

	scanner_send(s);
	return r;
}

/*
 * Nobody can write to a program while it runs.  As soon as it has ended somebody may, and its times
 * must tell that: who changed it within the present tick of the clock could do so again within the
 * same tick.  So this waits for the next one.
 */
static void scanner_await_tick(const struct digests_key *key)
{
	for (int i = 0; i < SCANNER_TICK_MS && key->ctime >= clock_ns(CLOCK_REALTIME_COARSE); i++)
		(void)ppoll(NULL, 0, &(const struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Hashes a small new file now, while nobody can write it; a moment later it may be gone.  False: it
 * is another kind of file. */
static bool scanner_hash_at_once(struct scanner *s, const struct digests_key *key, int fd,
				 struct span path)
{
	struct digests_key read = {0};
	struct hash hash = {{0}};

	if (key->size > SCANNER_AT_ONCE || key->ctime < s->since)
		return false;
	_cleanup_free_ char *name = strndup((const char *)path.ptr, path.len);
	const struct scanner_file f = {.key = *key, .path = name};

	if (!name)
		return false;
	int r = scanner_hash(fd, 0, &read, &hash);

	s->at_once[s->at_once_next++ % SCANNER_AT_ONCE_KNOWN] = *key;
	(void)scanner_tell(s, &f, &read, r, &hash);
	return true;
}

static bool scanner_is_asked(const struct scanner *s, const struct digests_key *key)
{
	for (size_t i = 0; i < SCANNER_AT_ONCE_KNOWN; i++)
		if (digests_is(&s->at_once[i], key))
			return true;
	for (size_t i = 0; i < s->count; i++)
		if (digests_is(&s->files[i].key, key))
			return true;
	return false;
}

/* Tells the digest that an earlier session took, at once, and once.  False: there is none. */
static bool scanner_tell_known(struct scanner *s, const struct digests_key *key, struct span path)
{
	struct scanner_digest digest = {
		.device = key->device, .inode = key->inode, .remembered = true};
	int r = digests_take(&s->known, key, &digest.digest);
	_cleanup_free_ char *name = r == 1 ? strndup((const char *)path.ptr, path.len) : NULL;

	digest.path = name;
	if (name)
		(void)s->to.on_digest(s->to.context, &digest);
	return r >= 0;
}

static bool scanner_has_room(struct scanner *s)
{
	if (s->count - s->sent == SCANNER_WAITING_MAX || s->count == SCANNER_FILES_MAX)
		return false;
	if (!s->files)
		s->files = calloc(SCANNER_FILES_MAX, sizeof(*s->files));
	return s->files != NULL;
}

void scanner_digest(struct scanner *s, int fd, struct span path)
{
	_cleanup_fd_ int taken = fd;
	struct scanner_file f = {.fd = -1};

	if (!s->to.on_digest || scanner_look(fd, &f.key) < 0)
		return;
	scanner_await_tick(&f.key);
	if (scanner_is_asked(s, &f.key) || scanner_tell_known(s, &f.key, path) ||
	    scanner_hash_at_once(s, &f.key, fd, path))
		return;
	f.path = scanner_has_room(s) ? strndup((const char *)path.ptr, path.len) : NULL;
	if (!f.path) {
		s->left_out++;
		return;
	}
	f.fd = TAKE_FD(taken);
	s->files[s->count++] = f;
	scanner_send(s);
}

/* Reads the answers that the child has sent and we have not read yet. */
static void scanner_drain(struct scanner *s)
{
	struct pollfd answer = {.fd = s->fd, .events = POLLIN};
	const struct timespec at_once = {0};

	while (s->fd >= 0 && s->answered < s->sent && ppoll(&answer, 1, &at_once, NULL) > 0 &&
	       scanner_receive(s) > 0)
		continue;
}

/* Hashes the files that the child has not: its turn may come late, and now we disturb nobody. */
static void scanner_finish(struct scanner *s)
{
	int64_t deadline = clock_ms(CLOCK_BOOTTIME) + SCANNER_PATIENCE_MS;

	for (; s->answered < s->count && clock_ms(CLOCK_BOOTTIME) < deadline; s->answered++) {
		struct scanner_file *f = &s->files[s->answered];
		struct digests_key read = {0};
		struct hash hash = {{0}};
		int r = scanner_hash(f->fd, deadline, &read, &hash);

		if (r == -ETIME)
			break;
		(void)scanner_tell(s, f, &read, r, &hash);
		free(f->path);
		fd_close(&f->fd);
	}
}

void scanner_end(struct scanner *s)
{
	scanner_drain(s);
	scanner_lose(s);
	scanner_forget_ended(s);
	scanner_finish(s);
	s->left_out += s->count - s->answered;
	for (size_t i = s->answered; i < s->count; i++) {
		fd_close(&s->files[i].fd);
		free(s->files[i].path);
	}
	free(s->files);
	s->files = NULL;
	s->count = s->sent = s->answered = 0;
	digests_close(&s->known);
}
