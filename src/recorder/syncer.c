/* SPDX-License-Identifier: Apache-2.0 */
#include "syncer.h"

#include "channel.h"
#include "fd.h"
#include "process.h"
#include "profile.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SYNCER_ASK = 1, SYNCER_SERVING = 0 };

struct syncer_side {
	int fd;
	int kept; /* -1: none */
};

static int syncer_on_ask(void *context, struct channel_packet *packet, struct error *e)
{
	struct syncer_side *side = context;
	int32_t result = 0;

	if (packet->fd_count == 1) {
		fd_close(&side->kept);
		side->kept = TAKE_FD(packet->fds[0]);
	}
	if (packet->fd_count <= 1)
		result = fdatasync(side->kept) < 0 ? -errno : 0;
	for (size_t i = 0; packet->fd_count > 1 && i < packet->fd_count && result == 0; i++)
		result = fdatasync(packet->fds[i]) < 0 ? -errno : 0;

	(void)e;
	return channel_send(side->fd, SYNCER_ASK, (struct span){(uint8_t *)&result, sizeof(result)},
			    NULL, 0);
}

/* Confines the child.  True also on a kernel without filters: there the user has asked by name for
 * a session without them, or there is no session. */
static bool syncer_confine(void)
{
	int r = process_confine(profile_bpf(PROFILE_SYNCER));

	return r == 0 || r == -ENOSYS || r == -EINVAL;
}

static _Noreturn void syncer_serve(int fd)
{
	static const struct channel_rule rules[] = {
		{SYNCER_ASK, "SYNC", 0, 0, CHANNEL_FDS_MAX, 1u << SYNCER_SERVING, syncer_on_ask},
	};
	struct syncer_side side = {fd, -1};
	struct channel c = {.fd = fd, .rules = rules, .rule_count = 1, .context = &side};
	struct error e = ERROR_INIT;

	(void)prctl(PR_SET_NAME, "bawn-syncer");
	process_forget_start();
	if (!syncer_confine())
		_exit(1);
	while (channel_receive(&c, &e) > 0)
		continue;
	_exit(0);
}

int syncer_start(struct syncer *s)
{
	int ends[2];
	int r = channel_pair(ends);

	if (r < 0)
		return r;
	pid_t pid = fork();

	if (pid == 0) {
		(void)close(ends[0]);
		/* Close all else that came from the recorder: a session must end when its parts
		 * have ended. */
		int fd = ends[1] == 3 ? 3 : dup2(ends[1], 3);

		(void)close_range(4, ~0u, 0);
		(void)process_die_with_parent();
		syncer_serve(fd);
	}
	(void)close(ends[1]);
	if (pid < 0) {
		r = -errno;
		(void)close(ends[0]);
		return r;
	}
	*s = (struct syncer){.fd = ends[0], .pid = pid};
	return 0;
}

void syncer_end(struct syncer *s)
{
	if (s->fd < 0)
		return;
	fd_close(&s->fd);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

int syncer_ask(struct syncer *s, const int *files, size_t count)
{
	if (s->busy)
		return -EBUSY;
	struct stat st = {.st_ino = 0};
	bool alone = count == 1 && fstat(files[0], &st) == 0;

	if (alone && st.st_ino != 0 && st.st_ino == s->ino && st.st_dev == s->dev)
		count = 0;
	int r = channel_send(s->fd, SYNCER_ASK, (struct span){NULL, 0}, files, count);

	if (r == 0 && alone) {
		s->dev = st.st_dev;
		s->ino = st.st_ino;
	}
	s->busy = r == 0;
	return r;
}

static int syncer_on_answer(void *context, struct channel_packet *packet, struct error *e)
{
	int32_t result = -EPROTO;

	(void)e;
	if (packet->body.len == sizeof(result))
		memcpy(&result, packet->body.ptr, sizeof(result));
	*(int *)context = result;
	return 0;
}

int syncer_answer(struct syncer *s, int *ret_result)
{
	static const struct channel_rule rules[] = {
		{SYNCER_ASK, "SYNC", sizeof(int32_t), 0, 0, 1u << SYNCER_SERVING, syncer_on_answer},
	};
	int result = -EPROTO;
	struct channel c = {.fd = s->fd, .rules = rules, .rule_count = 1, .context = &result};
	struct error e = ERROR_INIT;
	int r = channel_receive(&c, &e);

	s->busy = false;
	*ret_result = result;
	return r > 0 ? 0 : r == 0 ? -ECONNRESET : r;
}
