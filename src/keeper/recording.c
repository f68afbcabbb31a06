/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include "clock.h"
#include "encode.h"
#include "fd.h"
#include "plan_read.h"
#include "profile.h"
#include "sha256.h"

#include <poll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { RECORDING_SERVING };
enum {
	RECORDING_PATIENCE = 20,      /* seconds, for a machine that is very busy */
	RECORDING_END_PATIENCE = 600, /* a large workspace is compared with the record */
	RECORDING_HASTE = 5,          /* seconds after a first signal; after a second one none */
};

static int recording_on_ready(void *context, struct channel_packet *packet, struct error *e)
{
	struct recording *r = context;

	(void)packet;
	(void)e;
	r->ready = true;
	return 0;
}

static int recording_on_done(void *context, struct channel_packet *packet, struct error *e)
{
	struct recording *r = context;

	(void)packet;
	(void)e;
	r->done = true;
	return 0;
}

static int recording_on_recorded(void *context, struct channel_packet *packet, struct error *e)
{
	struct recording *r = context;
	struct message_recorded m;
	int ret = message_decode(packet->body, &message_recorded_schema, &m, NULL, e);

	if (ret < 0)
		return ret;
	r->recorded = m.id;
	if (r->on_recorded)
		r->on_recorded(r->recorded_context, m.id);
	return 0;
}

static int recording_on_failed(void *context, struct channel_packet *packet, struct error *e)
{
	struct recording *r = context;
	struct error failure = ERROR_INIT;
	int ret = message_decode_failed(packet->body, &failure, e);

	if (ret < 0)
		return ret;
	r->failure = failure;
	*e = failure;
	return failure.code;
}

/* The recorder says that the box has to end.  The recorder itself goes on. */
static int recording_on_uncovered(void *context, struct channel_packet *packet, struct error *e)
{
	struct recording *r = context;
	struct error why = ERROR_INIT;
	int ret = message_decode_failed(packet->body, &why, e);

	if (ret == 0 && r->on_gone)
		r->on_gone(r->context, &why);
	return ret;
}

static int recording_on_event(void *context, struct channel_packet *packet, struct error *e)
{
	struct recording *r = context;

	(void)e;
	if (r->on_event)
		r->on_event(r->context, packet->body);
	return 0;
}

static const struct channel_rule recording_rules[] = {
	{MESSAGE_EVENT, "EVENT", 4096, 0, 0, 1u << RECORDING_SERVING, recording_on_event},
	{MESSAGE_READY, "READY", 0, 0, 0, 1u << RECORDING_SERVING, recording_on_ready},
	{MESSAGE_DONE, "DONE", 0, 0, 0, 1u << RECORDING_SERVING, recording_on_done},
	{MESSAGE_RECORDED, "RECORDED", 8, 0, 0, 1u << RECORDING_SERVING, recording_on_recorded},
	{MESSAGE_FAILED, "FAILED", 4096, 0, 0, 1u << RECORDING_SERVING, recording_on_failed},
	{MESSAGE_UNCOVERED, "UNCOVERED", 4096, 0, 0, 1u << RECORDING_SERVING,
	 recording_on_uncovered},
};

int recording_take(struct recording *r, struct channel_packet *packet, struct error *e)
{
	if (r->folders[0] >= 0)
		return error_set(e, -EPROTO, "a second record for one session");
	for (size_t i = 0; i < packet->fd_count; i++)
		r->folders[i] = TAKE_FD(packet->fds[i]);
	r->folder_count = packet->fd_count;
	buf_put(&r->record, packet->body.ptr, packet->body.len);
	return buf_error(&r->record);
}

int recording_start(struct recording *r, int programs, int plan_fd, struct error *e)
{
	int channel = -1;

	if (r->folders[0] < 0)
		return error_set(e, -EPROTO, "a plan with a record, and no place for it");
	int ret = make_recorder(programs, plan_fd, &r->made, &channel, &r->gate, e);

	if (ret < 0)
		return ret;
	r->channel = (struct channel){.fd = channel,
				      .rules = recording_rules,
				      .rule_count = BAWN_ARRAY_SIZE(recording_rules),
				      .state = RECORDING_SERVING,
				      .context = r};
	ret = channel_send(channel, MESSAGE_RECORD, buf_span(&r->record), r->folders,
			   r->folder_count);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(r->folders); i++)
		fd_close(&r->folders[i]);
	return ret < 0 ? error_sys(e, ret, "starting the recorder") : 0;
}

/* Receives one message; else e says why there is none. */
static int recording_receive(struct recording *r, int64_t deadline, struct error *e)
{
	struct pollfd answer = {.fd = r->channel.fd, .events = POLLIN};
	int64_t now = clock_s(CLOCK_BOOTTIME);
	const struct timespec left = {.tv_sec = deadline > now ? deadline - now : 0};
	int ret = ppoll(&answer, 1, &left, NULL);

	if (ret < 0)
		return errno == EINTR ? 0 : error_sys(e, -errno, "waiting for the recorder");
	if (ret == 0)
		return error_set(e, -ETIMEDOUT, "the recorder does not answer");
	ret = channel_receive(&r->channel, e);
	if (ret == 0 || ret == -ECONNRESET)
		return error_set(e, -ECONNRESET, "the recorder ended by itself");
	return ret < 0 && ret != -EAGAIN ? ret : 0;
}

static int64_t recording_deadline(int seconds)
{
	return clock_s(CLOCK_BOOTTIME) + seconds;
}

int recording_wait(struct recording *r, struct error *e)
{
	int64_t deadline = recording_deadline(RECORDING_PATIENCE);
	int ret = 0;

	while (r->channel.fd >= 0 && !r->ready && ret == 0)
		ret = recording_receive(r, deadline, e);
	return ret;
}

static int recording_on_channel(void *context, uint32_t events)
{
	struct recording *r = context;
	struct error e = ERROR_INIT;
	int ret = channel_receive(&r->channel, &e);

	(void)events;
	if (ret > 0 || ret == -EAGAIN)
		return 0;
	if (ret == 0 || ret == -ECONNRESET)
		(void)error_set(&e, -ECONNRESET, "the recorder was killed");
	if (!e.next[0])
		error_next(&e, "Without a record the box does not go on.");
	loop_remove(r->loop, &r->handle);
	r->on_gone(r->context, &e);
	return 0;
}

int recording_serve(struct recording *r, struct loop *loop,
		    void (*on_gone)(void *context, const struct error *why), void *context)
{
	if (r->channel.fd < 0)
		return 0;
	r->loop = loop;
	r->on_gone = on_gone;
	r->context = context;
	return loop_add(loop, r->channel.fd, EPOLLIN, recording_on_channel, r, &r->handle);
}

/* Sends to the recorder.  One that has ended is no error here: we learn it from its channel. */
static int recording_send(struct recording *r, uint32_t type, struct span body, const int *fds,
			  size_t fd_count)
{
	if (r->channel.fd < 0)
		return 0;
	int ret = channel_send(r->channel.fd, type, body, fds, fd_count);

	return channel_if_there(ret);
}

int recording_watch(struct recording *r, struct channel_packet *packet)
{
	return recording_send(r, MESSAGE_WATCH, packet->body, packet->fds, packet->fd_count);
}

void recording_note(struct recording *r, const struct note *n)
{
	_cleanup_buf_ struct buf b = BUF_INIT(CHANNEL_BYTES_MAX);

	if (r->channel.fd < 0)
		return;
	note_encode(&b, n);
	if (buf_error(&b) == 0)
		(void)recording_send(r, MESSAGE_NOTES, buf_span(&b), NULL, 0);
}

int recording_decide(struct recording *r, struct note *n, struct error *e)
{
	int64_t deadline = recording_deadline(RECORDING_PATIENCE);
	int ret = 0;

	if (r->channel.fd < 0)
		return 0;
	n->m.id = ++r->asked;
	recording_note(r, n);
	while (r->recorded < r->asked && ret == 0)
		ret = recording_receive(r, deadline, e);
	return ret;
}

/* Of what the keeper knows by itself: the kernel told it. */
static void recording_begin(struct note *n, enum note_kind kind, const char *op)
{
	note_begin(n, kind, op);
	note_word(n, NOTE_FIELD_HOW, "kernel");
}

int recording_change(struct recording *r, const struct message_change *change, int plan,
		     struct error *e)
{
	_cleanup_buf_ struct buf hex = BUF_INIT(2 * SHA256_SIZE + 1);
	uint8_t digest[SHA256_SIZE];
	struct sha256 s;
	struct span bytes;
	struct note n;

	if (r->channel.fd < 0)
		return 0;
	int ret = plan_map(plan, &bytes, e);

	if (ret < 0)
		return ret;
	sha256_begin(&s);
	sha256_add(&s, bytes);
	sha256_end(&s, digest);
	(void)munmap((void *)(uintptr_t)bytes.ptr, bytes.len);
	encode_hex(&hex, (struct span){digest, sizeof(digest)});
	recording_begin(&n, NOTE_GRANT, change->allowed ? "allow" : "deny");
	note_word(&n, NOTE_FIELD_VERDICT, change->allowed ? "allowed" : "refused");
	note_word(&n, NOTE_FIELD_HOST, change->what);
	note_word(&n, NOTE_FIELD_REASON, change->reason);
	note_word(&n, NOTE_FIELD_PLAN, buf_str(&hex));
	return recording_decide(r, &n, e);
}

static const struct {
	enum note_kind kind;
	const char *op;
} recording_kinds[MESSAGE_EVENT_KIND_COUNT] = {
	[MESSAGE_EVENT_DNS] = {NOTE_DNS, "question"},
	[MESSAGE_EVENT_CONNECT] = {NOTE_NETWORK, "connect"},
	[MESSAGE_EVENT_LIMIT] = {NOTE_LIMIT, "reached"},
	[MESSAGE_EVENT_PAUSED] = {NOTE_LIMIT, "paused"},
	[MESSAGE_EVENT_LOST] = {NOTE_TAMPER, "lost"},
	[MESSAGE_EVENT_MORE] = {NOTE_GAP, "more"},
	[MESSAGE_EVENT_SIGN] = {NOTE_SECRET, "sign"},
	[MESSAGE_EVENT_REQUEST] = {NOTE_NETWORK, "request"},
	[MESSAGE_EVENT_SECRET] = {NOTE_SECRET, "use"},
	[MESSAGE_EVENT_CERTIFICATE] = {NOTE_NETWORK, "certificate"},
	[MESSAGE_EVENT_POLICY] = {NOTE_POLICY, "change"},
};

/* How much of what happens inside is seen. */
static const char *recording_watched(const struct plan *plan)
{
	static const char *const words[PROFILE_WATCH_COUNT] = {"nothing", "changes", "opens",
							       "reads"};
	enum profile_kind kind;
	enum profile_watch watch = PROFILE_WATCH_NOTHING;

	if (plan_goes_without(plan, PLAN_LAYER_SECCOMP) ||
	    profile_by_name(plan->seccomp_profile, &kind, &watch) < 0)
		return words[PROFILE_WATCH_NOTHING];
	return words[watch];
}

void recording_ready(struct recording *r, const struct plan *plan, uint64_t probes)
{
	struct note n;

	recording_begin(&n, NOTE_SESSION, "ready");
	note_number(&n, NOTE_FIELD_PROBES, probes);
	note_word(&n, NOTE_FIELD_WATCHED, recording_watched(plan));
	recording_note(r, &n);
}

void recording_outside(struct recording *r, const char *what)
{
	struct note n;

	recording_begin(&n, NOTE_SESSION, what);
	recording_note(r, &n);
}

void recording_restless(struct recording *r)
{
	struct note n;

	recording_begin(&n, NOTE_TAMPER, "restless");
	note_word(&n, NOTE_FIELD_REASON,
		  "a process went on during a pause, again and again, and was ended");
	recording_note(r, &n);
}

uint64_t recording_taken(struct recording *r, const struct message_job *taken)
{
	bool failed = taken->job != 0;
	struct note n;

	if (r->channel.fd < 0)
		return 0;
	recording_begin(&n, NOTE_NETWORK, "reach");
	note_word(&n, NOTE_FIELD_VERDICT, failed ? "failed" : "allowed");
	note_word(&n, NOTE_FIELD_HOST, "localhost");
	note_number(&n, NOTE_FIELD_PORT, taken->value & 0xffff);
	if (failed)
		note_word(&n, NOTE_FIELD_REASON,
			  taken->job == ECONNREFUSED ? "nobody listens there in the box"
						     : "it could not be connected in the box");
	else
		note_word(&n, NOTE_FIELD_ADDRESS,
			  taken->value & MESSAGE_TAKEN_V6 ? "::1" : "127.0.0.1");
	n.m.id = failed ? 0 : ++r->asked;
	recording_note(r, &n);
	return n.m.id;
}

void recording_event(struct recording *r, const struct message_event *event)
{
	struct note n;

	recording_begin(&n, recording_kinds[event->kind].kind, recording_kinds[event->kind].op);
	if (event->kind != MESSAGE_EVENT_LOST)
		note_word(&n, NOTE_FIELD_VERDICT, event->allowed ? "allowed" : "refused");
	if (event->count > 1)
		note_number(&n, NOTE_FIELD_COUNT_OF, event->count);
	note_word(&n, NOTE_FIELD_HOST, event->host);
	if (event->port)
		note_number(&n, NOTE_FIELD_PORT, event->port);
	note_word(&n, NOTE_FIELD_RULE, event->origin);
	note_word(&n, NOTE_FIELD_REASON, event->reason);
	note_word(&n, NOTE_FIELD_ALLOW, event->line);
	recording_note(r, &n);
}

/* The waiter may say that there is less time. */
static void recording_hear(const struct recording_waiter *waiter, enum recording_haste *haste,
			   int64_t *deadline)
{
	static const int seconds[] = {[RECORDING_WAITS] = RECORDING_END_PATIENCE,
				      [RECORDING_GONE] = RECORDING_PATIENCE,
				      [RECORDING_CALLED] = RECORDING_HASTE};
	enum recording_haste now = waiter->on_word(waiter->context);
	bool again = now == RECORDING_CALLED && *haste == RECORDING_CALLED;
	int64_t until = recording_deadline(again ? -1 : seconds[now]);

	*haste = now > *haste ? now : *haste;
	*deadline = until < *deadline ? until : *deadline;
}

/* Waits until the record has ended, or the time is over. */
static int recording_wait_end(struct recording *r, const struct recording_waiter *waiter,
			      struct error *e)
{
	int64_t deadline = recording_deadline(RECORDING_END_PATIENCE);
	enum recording_haste haste = RECORDING_WAITS;
	int ret = 0;

	while (ret == 0 && !r->done) {
		struct pollfd fds[] = {{.fd = r->channel.fd, .events = POLLIN},
				       {.fd = waiter ? waiter->fd : -1, .events = POLLIN}};
		int64_t left = deadline - recording_deadline(0);

		if (haste == RECORDING_GONE)
			fds[1].fd = -1; /* it would be readable again and again */
		if (left < 0 ||
		    ppoll(fds, BAWN_ARRAY_SIZE(fds), &(struct timespec){.tv_sec = left}, NULL) == 0)
			return haste == RECORDING_CALLED
				       ? error_set(e, -EINTR,
						   "the record was not ended: a signal came first")
				       : error_set(e, -ETIMEDOUT, "the recorder does not answer");
		if (waiter && fds[1].revents)
			recording_hear(waiter, &haste, &deadline);
		if (fds[0].revents)
			ret = recording_receive(r, deadline, e);
	}
	return ret;
}

void recording_end(struct recording *r, const uint64_t *status,
		   const struct recording_waiter *waiter, struct error *e)
{
	const struct message_job m = {status ? 1 : 0, status ? *status : 0};
	_cleanup_buf_ struct buf b = BUF_INIT(64);

	if (r->channel.fd >= 0 && r->ready && r->failure.code == 0) {
		schema_encode(&b, &message_job_schema, &m);
		if (recording_send(r, MESSAGE_FLUSH, buf_span(&b), NULL, 0) == 0)
			(void)recording_wait_end(r, waiter, e);
	}
	fd_close(&r->channel.fd);
	fd_close(&r->gate);
	make_end(&r->made);
	buf_fini(&r->record);
}
