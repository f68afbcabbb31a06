/* SPDX-License-Identifier: Apache-2.0 */
#include "joined.h"

#include "fd.h"

#include <signal.h>
#include <stdlib.h>

enum { JOINED_SERVING, JOINED_STREAMS = 1 << 3, JOINED_GROUP = 0x100, JOINED_NOT_STARTED = 0xffff };

void joined_init(struct joined *j, struct loop *loop,
		 int (*send)(void *context, uint32_t type, struct span body, const int *fds,
			     size_t fd_count),
		 void (*on_bytes)(void *context, size_t count), void *context)
{
	*j = (struct joined){.loop = loop,
			     .send = send,
			     .on_bytes = on_bytes,
			     .context = context,
			     .last = JOINED_FIRST - 1};
}

static struct joined_job *joined_by_id(const struct joined *j, uint64_t id)
{
	for (size_t i = 0; i < JOINED_MAX; i++)
		if (j->jobs[i] && j->jobs[i]->id == id)
			return j->jobs[i];
	return NULL;
}

/* Forgets the job.  Closing the master hangs its terminal up. */
static void joined_free(struct joined_job *job)
{
	struct joined *j = job->all;

	loop_remove(j->loop, &job->master.handle);
	fd_close(&job->master.fd);
	buf_fini(&job->master.input);
	loop_remove(j->loop, &job->view.handle);
	fd_close(&job->peer.fd);
	for (size_t i = 0; i < JOINED_MAX; i++)
		if (j->jobs[i] == job)
			j->jobs[i] = NULL;
	free(job);
}

static int joined_send_job(struct joined_job *job, uint32_t type, uint64_t value)
{
	const struct message_job m = {job->id, value};
	_cleanup_buf_ struct buf b = BUF_INIT(64);

	schema_encode(&b, &message_job_schema, &m);
	return job->all->send(job->all->context, type, buf_span(&b), NULL, 0);
}

/* Nobody waits for the command any more. */
static void joined_lose_peer(struct joined_job *job)
{
	if (!job->ended)
		(void)joined_send_job(job, MESSAGE_SIGNAL, JOINED_GROUP | SIGHUP);
	joined_free(job);
}

static void joined_on_gone(void *context, struct master_view *view)
{
	(void)view;
	joined_lose_peer(context);
}

static void joined_on_bytes(void *context, size_t count)
{
	const struct joined_job *job = context;

	job->all->on_bytes(job->all->context, count);
}

/* The command has ended: says so when its last output has been taken.  The job may be gone then. */
static void joined_mind_end(struct joined_job *job)
{
	const struct message_job m = {job->id, job->status};
	int r = -EAGAIN;

	if (!job->ended)
		return;
	if (master_drain(&job->master))
		r = message_send(job->peer.fd, MESSAGE_EXITED, &message_job_schema, &m, NULL, 0);
	if (r == -EAGAIN)
		r = loop_set_events(job->all->loop, job->view.handle, EPOLLIN | EPOLLOUT);
	else
		r = -ESHUTDOWN;
	if (r < 0)
		joined_free(job);
}

/* --- what the peer says --------------------------------------------------------------- */

static int joined_on_input(void *context, struct channel_packet *packet, struct error *e)
{
	struct joined_job *job = context;

	(void)e;
	master_type(&job->master, &job->view, packet->body);
	return 0;
}

static int joined_on_resize(void *context, struct channel_packet *packet, struct error *e)
{
	struct joined_job *job = context;
	struct message_resize m;
	int r = message_decode(packet->body, &message_resize_schema, &m, NULL, e);

	if (r == 0)
		master_resize(&job->master, &job->view, m.rows, m.columns);
	return r;
}

/* About its own job, whatever number it says. */
static int joined_pass(struct joined_job *job, uint32_t type, struct channel_packet *packet,
		       struct error *e)
{
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	return r < 0 || job->ended ? r : joined_send_job(job, type, m.value);
}

static int joined_on_signal(void *context, struct channel_packet *packet, struct error *e)
{
	return joined_pass(context, MESSAGE_SIGNAL, packet, e);
}

static int joined_on_continue(void *context, struct channel_packet *packet, struct error *e)
{
	return joined_pass(context, MESSAGE_CONTINUE, packet, e);
}

static int joined_on_carried(void *context, struct channel_packet *packet, struct error *e)
{
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r == 0)
		joined_on_bytes(context, m.value);
	return r;
}

static const struct channel_rule joined_rules[] = {
	{MESSAGE_INPUT, "INPUT", MESSAGE_DATA_MAX, 0, 0, 1u << JOINED_SERVING, joined_on_input},
	{MESSAGE_RESIZE, "RESIZE", 24, 0, 0, 1u << JOINED_SERVING, joined_on_resize},
	{MESSAGE_SIGNAL, "SIGNAL", 16, 0, 0, 1u << JOINED_SERVING, joined_on_signal},
	{MESSAGE_CONTINUE, "CONTINUE", 16, 0, 0, 1u << JOINED_SERVING, joined_on_continue},
	{MESSAGE_CARRIED, "CARRIED", 16, 0, 0, 1u << JOINED_SERVING, joined_on_carried},
};

static int joined_on_peer(void *context, uint32_t events)
{
	struct joined_job *job = context;

	if ((events & EPOLLOUT) && job->ended && !(events & (EPOLLHUP | EPOLLERR))) {
		joined_mind_end(job);
	} else if ((events & EPOLLOUT) && !(events & (EPOLLHUP | EPOLLERR))) {
		master_on_room(&job->master, &job->view);
	} else if (!channel_serve(&job->peer)) {
		joined_lose_peer(job);
	}
	return 0;
}

/* --- the start ------------------------------------------------------------------------- */

/* What init would not understand ends the box: a peer must not be able to say it. */
static bool joined_makes_sense(const struct message_spawn *m, size_t fd_count)
{
	return m->gives < JOINED_STREAMS && m->argv.count > 0 &&
	       (size_t)__builtin_popcountll(m->gives) == fd_count;
}

static struct joined_job *joined_make(struct joined *j, int fd, struct loop_handle handle)
{
	for (size_t i = 0; i < JOINED_MAX; i++) {
		if (j->jobs[i])
			continue;
		struct joined_job *job = j->jobs[i] = calloc(1, sizeof(*job));

		if (!job)
			return NULL;
		job->all = j;
		job->id = ++j->last;
		job->peer = (struct channel){.fd = fd,
					     .rules = joined_rules,
					     .rule_count = BAWN_ARRAY_SIZE(joined_rules),
					     .state = JOINED_SERVING,
					     .context = job};
		job->view = (struct master_view){.fd = fd, .handle = handle, .waited = true};
		master_init(&job->master, j->loop,
			    &(struct master_to){.on_gone = joined_on_gone,
						.on_bytes = joined_on_bytes,
						.context = job});
		(void)master_show(&job->master, &job->view, false);
		return job;
	}
	return NULL;
}

int joined_start(struct joined *j, int fd, struct loop_handle handle,
		 const struct channel_packet *packet, struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT((size_t)CHANNEL_BYTES_MAX * 4);
	_cleanup_buf_ struct buf b = BUF_INIT(CHANNEL_BYTES_MAX);
	struct message_spawn m;
	int r = message_decode(packet->body, &message_spawn_schema, &m, &arena, e);

	if (r < 0)
		return r;
	if (!joined_makes_sense(&m, packet->fd_count))
		return error_set(e, -EPROTO, "a command that makes no sense");
	struct joined_job *job = joined_make(j, fd, handle);

	if (!job)
		return error_set(e, -EUSERS, "%d other commands were started in this session",
				 JOINED_MAX);
	m.job = job->id;
	schema_encode(&b, &message_spawn_schema, &m);
	r = buf_error(&b) ? -E2BIG
			  : j->send(j->context, MESSAGE_SPAWN, buf_span(&b), packet->fds,
				    packet->fd_count);
	if (r < 0) {
		/* The descriptor and its place in the loop stay the caller's. */
		job->view.handle = (struct loop_handle){0, 0};
		job->peer.fd = -1;
		joined_free(job);
		return error_sys(e, r, "starting the command in the box");
	}
	loop_rebind(j->loop, handle, joined_on_peer, job);
	return 0;
}

/* --- what init says -------------------------------------------------------------------- */

int joined_on_terminal(struct joined *j, uint64_t job, int master, struct error *e)
{
	struct joined_job *found = joined_by_id(j, job);

	if (!found) {
		fd_close(&master);
		return 0;
	}
	return master_take(&found->master, master, e);
}

void joined_on_stopped(struct joined *j, uint64_t job, struct span body)
{
	struct joined_job *found = joined_by_id(j, job);

	if (!found)
		return;
	master_settle(&found->master);
	int r = channel_send(found->peer.fd, MESSAGE_STOPPED, body, NULL, 0);

	/* A peer that has no room to hear of it has nobody who could let the command go on. */
	if (r == -EAGAIN)
		(void)joined_send_job(found, MESSAGE_CONTINUE, 1);
	else if (r < 0)
		joined_lose_peer(found);
}

void joined_on_exited(struct joined *j, uint64_t job, uint64_t status)
{
	struct joined_job *found = joined_by_id(j, job);

	if (!found)
		return;
	found->ended = true;
	found->status = status;
	if (status <= JOINED_NOT_STARTED) {
		joined_mind_end(found);
		return;
	}
	struct error e = ERROR_INIT;

	(void)error_sys(&e, -(int)(status & 0xffff), "starting the command in the box");
	const struct message_failed m = {status & 0xffff, e.text, e.next};

	(void)message_send(found->peer.fd, MESSAGE_FAILED, &message_failed_schema, &m, NULL, 0);
	joined_free(found);
}

void joined_end(struct joined *j)
{
	static const struct message_failed over = {
		ESHUTDOWN, "the session has ended, and with it what ran in its box", ""};

	for (size_t i = 0; i < JOINED_MAX; i++) {
		if (!j->jobs[i])
			continue;
		(void)master_drain(&j->jobs[i]->master);
		(void)message_send(j->jobs[i]->peer.fd, MESSAGE_FAILED, &message_failed_schema,
				   &over, NULL, 0);
		joined_free(j->jobs[i]);
	}
}
