/* SPDX-License-Identifier: Apache-2.0 */
#include "limiting.h"

#include "cgroup.h"
#include "fd.h"
#include "message_box.h"
#include "message_gate.h"

#include <unistd.h>

int limiting_take(struct limiting *l, struct channel_packet *packet, struct error *e)
{
	struct message_limits m;
	int r = message_decode(packet->body, &message_limits_schema, &m, NULL, e);
	size_t at = 0;

	if (r < 0)
		return r;
	if (l->procs >= 0 ||
	    packet->fd_count != 2 + (size_t)m.memory + (size_t)m.processes + (size_t)m.kill)
		return error_set(e, -EPROTO, "limits that do not fit");
	l->dir = TAKE_FD(packet->fds[at++]);
	l->procs = TAKE_FD(packet->fds[at++]);
	if (m.memory)
		l->memory = TAKE_FD(packet->fds[at++]);
	if (m.processes)
		l->processes = TAKE_FD(packet->fds[at++]);
	if (m.kill)
		l->kill = TAKE_FD(packet->fds[at++]);
	return 0;
}

/* What a file counts under a word; what was there before if it cannot be read. */
static uint64_t limiting_read(int fd, const char *word, uint64_t before)
{
	char text[1024];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text), 0);

	return n < 0 ? before : cgroup_count((struct span){(uint8_t *)text, (size_t)n}, word);
}

void limiting_note(struct recording *recording, const char *what, const char *reason)
{
	const struct message_event m = {.kind = MESSAGE_EVENT_LIMIT,
					.host = what,
					.count = 1,
					.origin = "",
					.reason = reason,
					.line = ""};

	recording_event(recording, &m);
}

static void limiting_tell(struct limiting *l, const char *what, uint64_t before, uint64_t now,
			  const char *reason)
{
	struct message_event m = {.kind = MESSAGE_EVENT_LIMIT,
				  .host = what,
				  .count = now - before,
				  .origin = "",
				  .reason = reason,
				  .line = ""};

	_cleanup_buf_ struct buf b = BUF_INIT(4096);

	if (!l->show)
		return;
	recording_event(l->recording, &m);
	m.count = now; /* screens show how often so far */
	schema_encode(&b, &message_event_schema, &m);
	l->show(l->context, buf_span(&b));
}

static void limiting_look_memory(struct limiting *l)
{
	uint64_t ended = limiting_read(l->memory, "oom_kill", l->ended);

	if (ended > l->ended)
		limiting_tell(l, "memory", l->ended, ended,
			      "the box was out of memory, and the kernel ended a process of it");
	l->ended = ended;
}

/* A program that makes processes without end is told of once; how often at the end. */
static void limiting_look_processes(struct limiting *l, bool last)
{
	uint64_t refused = limiting_read(l->processes, "max", l->refused);

	if (refused <= l->refused || (l->refused > 0 && !last))
		return;
	limiting_tell(l, "processes", l->refused, refused,
		      "the box has as many processes and threads as it may");
	l->refused = refused;
}

static int limiting_on_memory(void *context, uint32_t events)
{
	(void)events;
	limiting_look_memory(context);
	return 0;
}

static int limiting_on_processes(void *context, uint32_t events)
{
	(void)events;
	limiting_look_processes(context, false);
	return 0;
}

int limiting_watch(struct limiting *l, struct loop *loop, struct recording *recording,
		   void (*show)(void *context, struct span event), void *context)
{
	int r = 0;

	fd_close(&l->procs);
	l->recording = recording;
	l->show = show;
	l->context = context;
	if (l->memory >= 0)
		r = loop_add(loop, l->memory, EPOLLPRI, limiting_on_memory, l, &l->memory_handle);
	if (r == 0 && l->processes >= 0)
		r = loop_add(loop, l->processes, EPOLLPRI, limiting_on_processes, l,
			     &l->processes_handle);
	return r;
}

void limiting_kill(const struct limiting *l)
{
	if (l->kill >= 0)
		(void)!write(l->kill, "1", 1);
}

void limiting_end(struct limiting *l)
{
	limiting_look_memory(l);
	limiting_look_processes(l, true);
	fd_close(&l->dir);
	fd_close(&l->procs);
	fd_close(&l->memory);
	fd_close(&l->processes);
	fd_close(&l->kill);
}
