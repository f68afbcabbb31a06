/* SPDX-License-Identifier: Apache-2.0 */
#include "signer.h"

#include "channel.h"
#include "fd.h"
#include "host_key.h"
#include "loop.h"
#include "message_box.h"
#include "message_gate.h"
#include "plan_read.h"
#include "process.h"
#include "profile.h"
#include "ssh_agent.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIGNER_WAITING, SIGNER_SERVING };
enum { SIGNER_PEERS_MAX = 16, SIGNER_REFUSALS_MAX = 64 };

/*
 * One program inside, with its own connection to the agent: a session that is bound at the agent is
 * bound for that connection only.
 *
 *	READ	 the signer reads the next request from the box
 *	CONNECT	 it has asked the keeper for a connection, to pass the request on
 *	ANSWER	 it has passed it on, and does not read from the box until the answer is there
 */
enum signer_state { SIGNER_READ, SIGNER_CONNECT, SIGNER_ANSWER };

struct signer_peer {
	struct signer *signer;
	uint64_t id; /* 0: the place is free; never used again for another */
	enum signer_state state;
	int box, agent;
	struct loop_handle box_handle, agent_handle;
	struct buf request, answer; /* bytes of one message so far */
	enum ssh_agent_kind asked;
	const struct plan_ssh_key *host; /* the host it is bound to; NULL: none yet */
	size_t session_len;
	uint8_t session[SSH_AGENT_SESSION_MAX];
};

/* Hosts and reasons are compared by address: both are ours and do not move. */
struct signer_refusal {
	const struct plan_ssh_key *host;
	const char *why;
	uint64_t count, next;
};

struct signer {
	struct loop loop;
	struct channel keeper;
	struct loop_handle keeper_handle, listen_handle;
	int listen;
	uint64_t next_id;
	const struct plan *plan;
	struct arena arena;
	struct signer_peer peers[SIGNER_PEERS_MAX];
	struct signer_refusal refusals[SIGNER_REFUSALS_MAX];
};

static void signer_end_peer(struct signer_peer *p)
{
	loop_close(&p->signer->loop, &p->box_handle, &p->box);
	loop_close(&p->signer->loop, &p->agent_handle, &p->agent);
	buf_fini(&p->request);
	buf_fini(&p->answer);
	p->id = 0;
}

/* --- what was decided ----------------------------------------------------------------- */

/* Counts a refusal.  Returns the count when it is to be shown (the first, then each tenfold),
 * else 0. */
static uint64_t signer_count(struct signer *s, const struct plan_ssh_key *host, const char *why)
{
	for (size_t i = 0; i < SIGNER_REFUSALS_MAX; i++) {
		struct signer_refusal *r = &s->refusals[i];

		if (r->count > 0 && (r->host != host || r->why != why))
			continue;
		r->host = host;
		r->why = why;
		if (++r->count < r->next)
			return 0;
		r->next = r->count * 10;
		return r->count;
	}
	return 0;
}

static void signer_tell(struct signer *s, const struct plan_ssh_key *host, const char *refused)
{
	uint64_t count = refused ? signer_count(s, host, refused) : 1;
	struct message_event m = {.kind = MESSAGE_EVENT_SIGN,
				  .allowed = refused == NULL,
				  .host = host ? host->host : "your ssh agent",
				  .port = host ? host->port : 0,
				  .count = count,
				  .origin = host ? host->origin : "",
				  .reason = refused ? refused : "a login with a key of your agent",
				  .line = ""};

	if (count > 0)
		(void)message_send(s->keeper.fd, MESSAGE_EVENT, &message_event_schema, &m, NULL, 0);
}

/* --- to the box ----------------------------------------------------------------------- */

/* Answers the box.  The message is small and the box waits for it, so the socket takes it whole
 * or is broken. */
static void signer_reply(struct signer_peer *p, struct span message)
{
	_cleanup_buf_ struct buf b = BUF_INIT(SSH_AGENT_MESSAGE_MAX + 4);

	ssh_put_string(&b, message);
	if (buf_error(&b) || send(p->box, b.ptr, b.len, MSG_NOSIGNAL) != (ssize_t)b.len) {
		signer_end_peer(p);
		return;
	}
	p->state = SIGNER_READ;
	if (loop_set_events(&p->signer->loop, p->box_handle, EPOLLIN) < 0)
		signer_end_peer(p);
}

static void signer_reply_type(struct signer_peer *p, uint8_t type)
{
	signer_reply(p, (struct span){&type, 1});
}

static void signer_refuse(struct signer_peer *p, const struct plan_ssh_key *host, const char *why)
{
	signer_tell(p->signer, host, why);
	signer_reply_type(p, SSH_AGENT_FAILURE);
}

/* --- the rules of the host that a connection is bound to ------------------------------ */

/* The entry of the plan after `last` (NULL: the first) for the key of the bound host. */
static const struct plan_ssh_key *signer_next_rule(const struct signer_peer *p,
						   const struct plan_ssh_key *last)
{
	const struct plan *plan = p->signer->plan;

	for (size_t i = last ? (size_t)(last - plan->ssh_keys.items) + 1 : 0;
	     i < plan->ssh_keys.count; i++)
		if (span_equal(plan->ssh_keys.items[i].key, p->host->key))
			return &plan->ssh_keys.items[i];
	return NULL;
}

/* --- to the agent --------------------------------------------------------------------- */

static void signer_send(struct signer_peer *p)
{
	p->state = SIGNER_ANSWER;
	if (send(p->agent, p->request.ptr, p->request.len, MSG_NOSIGNAL) != (ssize_t)p->request.len)
		signer_end_peer(p);
	else
		buf_clear(&p->request);
}

/* Passes the request on to the agent.  The first request asks for the connection. */
static void signer_pass(struct signer_peer *p, enum ssh_agent_kind asked)
{
	struct message_job m = {.job = p->id};

	p->asked = asked;
	if (loop_set_events(&p->signer->loop, p->box_handle, 0) < 0) {
		signer_end_peer(p);
	} else if (p->agent >= 0) {
		signer_send(p);
	} else {
		p->state = SIGNER_CONNECT;
		if (message_send(p->signer->keeper.fd, MESSAGE_SSH_CONNECT, &message_job_schema, &m,
				 NULL, 0) < 0)
			signer_end_peer(p);
	}
}

/* Whether some rule for the bound host allows this key. */
static bool signer_may_use(const void *context, struct span key)
{
	const struct signer_peer *p = context;

	for (const struct plan_ssh_key *h = NULL; (h = signer_next_rule(p, h));)
		if (!h->login_key[0] || ssh_key_is(key, h->login_key))
			return true;
	return false;
}

static void signer_answered(struct signer_peer *p, struct span message)
{
	_cleanup_buf_ struct buf list = BUF_INIT(SSH_AGENT_MESSAGE_MAX);

	switch (p->asked) {
	case SSH_AGENT_BIND:
		/* We checked the binding ourselves.  An agent that is too old for it refuses it. */
		signer_reply_type(p, SSH_AGENT_SUCCESS);
		return;
	case SSH_AGENT_LIST:
		if (ssh_agent_copy_list(message, signer_may_use, p, &list) < 0)
			signer_reply_type(p, SSH_AGENT_FAILURE);
		else
			signer_reply(p, buf_span(&list));
		return;
	case SSH_AGENT_SIGN:
	case SSH_AGENT_OTHER:
		break;
	}
	signer_reply(p, message);
}

/* Reads what there is of one message.  DONE: *ret_len bytes of `into` are it. */
static enum feed signer_receive(int fd, struct buf *into, size_t *ret_len)
{
	char bytes[4096];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return FEED_MORE;
	if (n <= 0)
		return FEED_BAD;
	buf_put(into, bytes, (size_t)n);
	return buf_error(into) ? FEED_BAD : ssh_agent_frame(buf_span(into), ret_len);
}

static int signer_on_agent(void *context, uint32_t events)
{
	struct signer_peer *p = context;
	size_t len = 0;
	enum feed said = signer_receive(p->agent, &p->answer, &len);

	(void)events;
	/* The agent may only answer, one message at a time. */
	if (said == FEED_BAD || p->state != SIGNER_ANSWER ||
	    (said == FEED_DONE && p->answer.len != len)) {
		signer_end_peer(p);
	} else if (said == FEED_DONE) {
		struct buf whole = p->answer;

		p->answer = BUF_INIT(SSH_AGENT_MESSAGE_MAX + 4);
		signer_answered(p, (struct span){(uint8_t *)whole.ptr + 4, len - 4});
		buf_fini(&whole);
	}
	return 0;
}

static struct signer_peer *signer_peer_by_id(struct signer *s, uint64_t id)
{
	for (int i = 0; i < SIGNER_PEERS_MAX; i++)
		if (id != 0 && s->peers[i].id == id)
			return &s->peers[i];
	return NULL;
}

/* The keeper sends a connection to the agent; without a descriptor there is no agent. */
static int signer_on_connected(void *context, struct channel_packet *packet, struct error *e)
{
	struct signer *s = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0)
		return r;
	struct signer_peer *p = signer_peer_by_id(s, m.job);

	if (!p || p->state != SIGNER_CONNECT)
		return 0;
	buf_clear(&p->answer);
	if (packet->fd_count == 0) {
		buf_clear(&p->request);
		signer_refuse(p, p->host, "your ssh agent does not answer");
		return 0;
	}
	p->agent = TAKE_FD(packet->fds[0]);
	r = loop_add(&s->loop, p->agent, EPOLLIN, signer_on_agent, p, &p->agent_handle);
	if (r < 0)
		signer_end_peer(p);
	else
		signer_send(p);
	return 0;
}

/* --- from the box --------------------------------------------------------------------- */

static const struct plan_ssh_key *signer_host_of(const struct signer *s, struct span key)
{
	for (size_t i = 0; i < s->plan->ssh_keys.count; i++)
		if (span_equal(s->plan->ssh_keys.items[i].key, key))
			return &s->plan->ssh_keys.items[i];
	return NULL;
}

static void signer_bind(struct signer_peer *p, const struct ssh_agent_request *q)
{
	const struct plan_ssh_key *host = signer_host_of(p->signer, q->host_key);

	if (!host)
		signer_refuse(p, NULL, "a login at a host that no rule names for ssh");
	else if (q->forwarding)
		signer_refuse(p, host, "the agent is not forwarded to other hosts");
	else if (p->host)
		signer_refuse(p, host, "a second host on one connection to the agent");
	else if (host_key_verify(q->host_key, q->session, q->signature) < 0)
		signer_refuse(p, host, "the host's signature over the session is not good");
	else {
		p->host = host;
		p->session_len = q->session.len;
		memcpy(p->session, q->session.ptr, q->session.len);
		signer_pass(p, SSH_AGENT_BIND);
	}
}

/*
 * Why no rule allows to sign this login; NULL: one does.  A host can sign a session that it only
 * relays, so the host's signature alone does not show where the
 * login goes.  The login itself has to name the host's key: then every other host refuses it.
 */
static const char *signer_why_not(const struct signer_peer *p, const struct ssh_login *login)
{
	const char *why = "a login with another key than the rule names";

	for (const struct plan_ssh_key *h = NULL; (h = signer_next_rule(p, h));) {
		if (h->login_key[0] && !ssh_key_is(login->key, h->login_key))
			continue;
		if (login->host_key.len > 0 || h->unbound)
			return NULL;
		why = "a login that does not name its host, and so would be good elsewhere; "
		      "unbound: true signs it";
	}
	return why;
}

static void signer_sign(struct signer_peer *p, const struct ssh_agent_request *q)
{
	struct ssh_login login;
	const char *why = NULL;

	if (!p->host)
		signer_refuse(
			p, NULL,
			"a signature before ssh said for which host; OpenSSH 8.9 or newer does");
	else if (ssh_login_parse(q->data, &login) < 0)
		signer_refuse(p, p->host, "something else than a login was to be signed");
	else if (!span_equal(login.session, (struct span){p->session, p->session_len}))
		signer_refuse(p, p->host, "a login in another session than the one it is bound to");
	else if (!span_equal(login.key, q->key) ||
		 (login.host_key.len > 0 && !span_equal(login.host_key, p->host->key)))
		signer_refuse(p, p->host, "a login that names other keys than it is bound to");
	else if ((why = signer_why_not(p, &login)))
		signer_refuse(p, p->host, why);
	else {
		signer_tell(p->signer, p->host, NULL);
		signer_pass(p, SSH_AGENT_SIGN);
	}
}

static void signer_asked(struct signer_peer *p, struct span message)
{
	static const uint8_t no_keys[] = {12, 0, 0, 0, 0};
	struct ssh_agent_request q;

	if (ssh_agent_parse(message, &q) < 0) {
		signer_end_peer(p);
		return;
	}
	/* signer_pass sends the whole frame in `request`; the other cases are done with it. */
	switch (q.kind) {
	case SSH_AGENT_BIND:
		signer_bind(p, &q);
		break;
	case SSH_AGENT_SIGN:
		signer_sign(p, &q);
		break;
	case SSH_AGENT_LIST:
		if (p->host)
			signer_pass(p, SSH_AGENT_LIST);
		else
			signer_reply(p, (struct span){no_keys, sizeof(no_keys)});
		break;
	case SSH_AGENT_OTHER:
		signer_reply_type(p, SSH_AGENT_FAILURE);
		break;
	}
	if (p->id != 0 && p->state == SIGNER_READ)
		buf_clear(&p->request);
}

static int signer_on_box(void *context, uint32_t events)
{
	struct signer_peer *p = context;
	size_t len = 0;
	enum feed said =
		p->state == SIGNER_READ ? signer_receive(p->box, &p->request, &len) : FEED_BAD;

	(void)events;
	/* One request at a time: ssh waits for the answer, and so must others. */
	if (said == FEED_BAD || (said == FEED_DONE && p->request.len != len))
		signer_end_peer(p);
	else if (said == FEED_DONE)
		signer_asked(p, (struct span){(uint8_t *)p->request.ptr + 4, len - 4});
	return 0;
}

static int signer_on_listen(void *context, uint32_t events)
{
	struct signer *s = context;
	int fd = accept4(s->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct signer_peer *p = NULL;

	(void)events;
	if (fd < 0)
		return 0;
	for (int i = 0; i < SIGNER_PEERS_MAX && !p; i++)
		if (s->peers[i].id == 0)
			p = &s->peers[i];
	if (!p) {
		(void)close(fd);
		return 0;
	}
	*p = (struct signer_peer){.signer = s,
				  .id = ++s->next_id,
				  .box = fd,
				  .agent = -1,
				  .request = BUF_INIT(SSH_AGENT_MESSAGE_MAX + 4),
				  .answer = BUF_INIT(SSH_AGENT_MESSAGE_MAX + 4)};
	if (loop_add(&s->loop, fd, EPOLLIN, signer_on_box, p, &p->box_handle) < 0)
		signer_end_peer(p);
	return 0;
}

/* --- the keeper ----------------------------------------------------------------------- */

static int signer_on_socket(void *context, struct channel_packet *packet, struct error *e)
{
	struct signer *s = context;

	s->listen = TAKE_FD(packet->fds[0]);
	s->keeper.state = SIGNER_SERVING;
	int r = fd_set_nonblock(s->listen, true);

	if (r == 0)
		r = loop_add(&s->loop, s->listen, EPOLLIN, signer_on_listen, s, &s->listen_handle);
	return r < 0 ? error_sys(e, r, "listening in the box") : 0;
}

static const struct channel_rule signer_rules[] = {
	{MESSAGE_SSH_SOCKET, "SSH_SOCKET", 0, 1, 1, 1u << SIGNER_WAITING, signer_on_socket},
	{MESSAGE_SSH_CONNECTED, "SSH_CONNECTED", 16, 0, 1, 1u << SIGNER_SERVING,
	 signer_on_connected},
};

static int signer_on_keeper(void *context, uint32_t events)
{
	struct signer *s = context;

	(void)events;
	return channel_serve(&s->keeper) ? 0 : -ECONNRESET;
}

int signer_run(int keeper, int plan_fd)
{
	static struct signer s;
	struct error e = ERROR_INIT;

	s.listen = -1;
	s.arena = ARENA_INIT(PLAN_ARENA_MAX);
	s.keeper = (struct channel){.fd = keeper,
				    .rules = signer_rules,
				    .rule_count = BAWN_ARRAY_SIZE(signer_rules),
				    .state = SIGNER_WAITING,
				    .context = &s};
	if (plan_read(plan_fd, &s.plan, &s.arena, &e) < 0 || loop_init(&s.loop) < 0 ||
	    loop_add(&s.loop, keeper, EPOLLIN, signer_on_keeper, &s, &s.keeper_handle) < 0)
		return 1;
	(void)close(plan_fd);
	if (process_confine(plan_goes_without(s.plan, PLAN_LAYER_SECCOMP)
				    ? (struct span){NULL, 0}
				    : profile_bpf(PROFILE_SIGNER)) < 0)
		return 1;
	process_forget_start();
	(void)loop_run(&s.loop);
	return 0;
}
