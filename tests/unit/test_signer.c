/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the signer passes on to the user's ssh agent, and what it refuses.  It runs in a process of
 * its own; the keeper, the agent and the program in the box are this test.
 */
#include "cmocka_lead.h"

#include "plan_lead.h"

#include "message_box.h"
#include "message_gate.h"
#include "signer.h"
#include "ssh_agent.h"
#include "str.h"

#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PEERS_MAX = 16, /* as the signer has */
	BLOB_MAX = 256,
	EVENTS_MAX = 32,
	PATIENCE_MS = 20000,
	LIST = 11,
	LISTED = 12,
	SIGN = 13,
	SIGNED = 14,
	EXTENSION = 27,
};

static const char hostbound[] = "publickey-hostbound-v00@openssh.com";
static const char second_host[] = "a second host on one connection to the agent";
static const char no_host[] = "a login at a host that no rule names for ssh";
static const char not_bound[] =
	"a signature before ssh said for which host; OpenSSH 8.9 or newer does";
static const char not_named[] =
	"a login that does not name its host, and so would be good elsewhere; "
	"unbound: true signs it";
static const char other_key[] = "a login with another key than the rule names";

/* A key pair of a host, or of the user. */
struct pair {
	EVP_PKEY *pkey;
	uint8_t bytes[BLOB_MAX];
	struct span blob;
	char fingerprint[64];
};

enum { PLAIN, PICKY, LOOSE, TWICE, STRANGER, HOST_COUNT };

struct event {
	bool allowed;
	uint64_t count, port;
	char host[64], reason[200];
};

struct world {
	struct pair hosts[HOST_COUNT], user[2];
	pid_t signer;
	int keeper, agent; /* agent: of the last connection; -1 */
	char path[64];
	struct event events[EVENTS_MAX];
	size_t event_count;
	bool has_agent;         /* when one is asked for */
	size_t connects, asked; /* how often one was, and what reached it */
	struct buf passed;      /* the last that did */
	struct buf answer;      /* what it says */
};

/* --- keys ------------------------------------------------------------------------------ */

static void take_blob(struct pair *p, const struct buf *b)
{
	assert_in_range(b->len, 1, BLOB_MAX);
	memcpy(p->bytes, b->ptr, b->len);
	p->blob = (struct span){p->bytes, b->len};
}

static void make_pair(struct pair *p)
{
	_cleanup_buf_ struct buf b = BUF_INIT(BLOB_MAX);
	uint8_t raw[32], digest[32];
	size_t len = sizeof(raw);
	char text[64];

	p->pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	assert_non_null(p->pkey);
	assert_int_equal(EVP_PKEY_get_raw_public_key(p->pkey, raw, &len), 1);
	ssh_put_string(&b, SPAN_LITERAL("ssh-ed25519"));
	ssh_put_string(&b, (struct span){raw, len});
	take_blob(p, &b);
	assert_int_equal(EVP_Digest(p->bytes, p->blob.len, digest, NULL, EVP_sha256(), NULL), 1);
	assert_int_equal(EVP_EncodeBlock((uint8_t *)text, digest, sizeof(digest)), 44);
	(void)snprintf(p->fingerprint, sizeof(p->fingerprint), "SHA256:%.43s", text);
}

static void put_signature(struct buf *into, const struct pair *p, struct span data)
{
	_cleanup_buf_ struct buf b = BUF_INIT(BLOB_MAX);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	uint8_t raw[64];
	size_t len = sizeof(raw);

	assert_non_null(context);
	assert_int_equal(EVP_DigestSignInit(context, NULL, NULL, NULL, p->pkey), 1);
	assert_int_equal(EVP_DigestSign(context, raw, &len, data.ptr, data.len), 1);
	EVP_MD_CTX_free(context);
	ssh_put_string(&b, SPAN_LITERAL("ssh-ed25519"));
	ssh_put_string(&b, (struct span){raw, len});
	ssh_put_string(into, buf_span(&b));
}

/* --- the world ------------------------------------------------------------------------- */

static int make_plan(const struct world *w)
{
	struct plan_string command[] = {{"true"}};
	struct plan_without without[] = {{PLAN_LAYER_SECCOMP, "test"}};
	struct plan_ssh_key keys[] = {
		{"plain.test", 22, w->hosts[PLAIN].blob, false, "", "p:1"},
		{"picky.test", 23, w->hosts[PICKY].blob, false, w->user[0].fingerprint, "p:2"},
		{"loose.test", 24, w->hosts[LOOSE].blob, true, "", "p:3"},
		/* Of one host two rules: the first for one key, the second for another. */
		{"twice.test", 25, w->hosts[TWICE].blob, false, w->user[0].fingerprint, "p:4"},
		{"twice.test", 25, w->hosts[TWICE].blob, true, w->user[1].fingerprint, "p:5"},
	};
	const struct plan plan = {.cwd = "/",
				  .argv = {command, 1},
				  .without = {without, 1},
				  .ssh_keys = {keys, BAWN_ARRAY_SIZE(keys)}};

	return plan_sealed(&plan);
}

static int listen_at(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 2 * PEERS_MAX), 0);
	return fd;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	int ends[2];

	assert_non_null(w);
	for (size_t i = 0; i < HOST_COUNT; i++)
		make_pair(&w->hosts[i]);
	make_pair(&w->user[0]);
	make_pair(&w->user[1]);
	w->agent = -1;
	w->has_agent = true;
	w->passed = w->answer = BUF_INIT(SSH_AGENT_MESSAGE_MAX + 4);
	int plan = make_plan(w);

	assert_int_equal(channel_pair(ends), 0);
	w->signer = fork();
	if (w->signer == 0) {
		(void)close(ends[0]);
		_exit(signer_run(ends[1], plan));
	}
	assert_true(w->signer > 0);
	(void)close(ends[1]);
	(void)close(plan);
	w->keeper = ends[0];
	(void)snprintf(w->path, sizeof(w->path), "/tmp/bawn-signer-%d", (int)getpid());
	(void)unlink(w->path);
	int box = listen_at(w->path);

	assert_int_equal(
		channel_send(w->keeper, MESSAGE_SSH_SOCKET, (struct span){NULL, 0}, &box, 1), 0);
	(void)close(box);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	int status = -1;

	/* It ends with the keeper, and well. */
	(void)close(w->keeper);
	assert_int_equal(waitpid(w->signer, &status, 0), w->signer);
	assert_int_equal(status, 0);
	fd_close(&w->agent);
	(void)unlink(w->path);
	for (size_t i = 0; i < HOST_COUNT; i++)
		EVP_PKEY_free(w->hosts[i].pkey);
	EVP_PKEY_free(w->user[0].pkey);
	EVP_PKEY_free(w->user[1].pkey);
	buf_fini(&w->passed);
	buf_fini(&w->answer);
	free(w);
	return 0;
}

static int box_connect(const struct world *w)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", w->path);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void serve_event(struct world *w, struct span body)
{
	struct error e = ERROR_INIT;
	struct message_event m;
	struct event *to = &w->events[w->event_count++];

	assert_in_range(w->event_count, 1, EVENTS_MAX);
	assert_int_equal(message_decode(body, &message_event_schema, &m, NULL, &e), 0);
	assert_int_equal(m.kind, MESSAGE_EVENT_SIGN);
	*to = (struct event){.allowed = m.allowed, .count = m.count, .port = m.port};
	(void)snprintf(to->host, sizeof(to->host), "%s", m.host);
	(void)snprintf(to->reason, sizeof(to->reason), "%s", m.reason);
}

static void serve_connect(struct world *w, struct span body)
{
	struct error e = ERROR_INIT;
	struct message_job m;
	int ends[2];

	assert_int_equal(message_decode(body, &message_job_schema, &m, NULL, &e), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	fd_close(&w->agent);
	w->agent = ends[0];
	w->connects++;
	/* Somebody who does not ask: an answer for him is nobody's. */
	struct message_job other = {.job = m.job + 1000};

	assert_int_equal(message_send(w->keeper, MESSAGE_SSH_CONNECTED, &message_job_schema, &other,
				      NULL, 0),
			 0);
	assert_int_equal(message_send(w->keeper, MESSAGE_SSH_CONNECTED, &message_job_schema, &m,
				      &ends[1], w->has_agent ? 1 : 0),
			 0);
	(void)close(ends[1]);
}

static void serve_keeper(struct world *w)
{
	static uint8_t bytes[4 + CHANNEL_BYTES_MAX];
	ssize_t n = recv(w->keeper, bytes, sizeof(bytes), 0);

	assert_true(n >= 4);
	struct span body = {bytes + 4, (size_t)n - 4};

	if (bytes[0] == MESSAGE_EVENT)
		serve_event(w, body);
	else if (bytes[0] == MESSAGE_SSH_CONNECT)
		serve_connect(w, body);
	else
		fail_msg("message %d", bytes[0]);
}

static void serve_agent(struct world *w)
{
	static char bytes[SSH_AGENT_MESSAGE_MAX + 4];
	ssize_t n = recv(w->agent, bytes, sizeof(bytes), 0);

	if (n <= 0) {
		fd_close(&w->agent);
		return;
	}
	buf_clear(&w->passed);
	buf_put(&w->passed, bytes, (size_t)n);
	w->asked++;
	assert_int_equal(send(w->agent, w->answer.ptr, w->answer.len, MSG_NOSIGNAL),
			 (ssize_t)w->answer.len);
}

/* Serves the others until the box has an answer, without its length; empty: it was sent away. */
static struct span box_answer(struct world *w, int box)
{
	static uint8_t bytes[SSH_AGENT_MESSAGE_MAX + 4];
	size_t len = 0, want = 0;

	for (;;) {
		struct pollfd ready[] = {
			{w->keeper, POLLIN, 0}, {w->agent, POLLIN, 0}, {box, POLLIN, 0}};

		if (poll(ready, BAWN_ARRAY_SIZE(ready), PATIENCE_MS) <= 0)
			fail_msg("no answer");
		if (ready[0].revents) {
			serve_keeper(w);
		} else if (ready[1].revents) {
			serve_agent(w);
		} else {
			ssize_t n = recv(box, bytes + len, sizeof(bytes) - len, 0);

			if (n <= 0)
				return (struct span){NULL, 0};
			len += (size_t)n;
			enum feed fed = ssh_agent_frame((struct span){bytes, len}, &want);

			assert_int_not_equal(fed, FEED_BAD);
			if (fed == FEED_DONE) {
				assert_int_equal(len, want);
				return (struct span){bytes + 4, len - 4};
			}
		}
	}
}

static struct span ask(struct world *w, int box, struct span message)
{
	_cleanup_buf_ struct buf frame = BUF_INIT(SSH_AGENT_MESSAGE_MAX + 4);

	ssh_put_string(&frame, message);
	assert_int_equal(send(box, frame.ptr, frame.len, MSG_NOSIGNAL), (ssize_t)frame.len);
	return box_answer(w, box);
}

/* --- what is asked --------------------------------------------------------------------- */

static void put_byte(struct buf *b, uint8_t byte)
{
	buf_put(b, &byte, 1);
}

static void agent_says(struct world *w, struct span message)
{
	buf_clear(&w->answer);
	ssh_put_string(&w->answer, message);
}

static struct span bind_by(struct world *w, int box, const struct pair *host,
			   const struct pair *signer, struct span session, bool forwarding)
{
	_cleanup_buf_ struct buf b = BUF_INIT(1024);

	put_byte(&b, EXTENSION);
	ssh_put_string(&b, SPAN_LITERAL("session-bind@openssh.com"));
	ssh_put_string(&b, host->blob);
	ssh_put_string(&b, session);
	put_signature(&b, signer, session);
	put_byte(&b, forwarding);
	agent_says(w, SPAN_LITERAL("\6"));
	return ask(w, box, buf_span(&b));
}

static void bind_host(struct world *w, int box, size_t host, struct span session)
{
	struct span got = bind_by(w, box, &w->hosts[host], &w->hosts[host], session, false);

	assert_int_equal(got.len, 1);
	assert_int_equal(got.ptr[0], SSH_AGENT_SUCCESS);
}

/* `named`: the host's key in the login; NULL: it names none. */
static void put_login(struct buf *b, struct span session, const struct pair *key,
		      const struct pair *named)
{
	ssh_put_string(b, session);
	put_byte(b, 50);
	ssh_put_string(b, SPAN_LITERAL("git"));
	ssh_put_string(b, SPAN_LITERAL("ssh-connection"));
	ssh_put_string(b, span_of_str(named ? hostbound : "publickey"));
	put_byte(b, 1);
	ssh_put_string(b, SPAN_LITERAL("ssh-ed25519"));
	ssh_put_string(b, key ? key->blob : (struct span){NULL, 0});
	if (named)
		ssh_put_string(b, named->blob);
}

static void put_sign(struct buf *b, const struct pair *key, struct span data)
{
	put_byte(b, SIGN);
	ssh_put_string(b, key ? key->blob : (struct span){NULL, 0});
	ssh_put_string(b, data);
	buf_put(b, "\0\0\0\0", 4);
}

/* Asks for a signature; whether the agent was asked for that very thing, and its answer came. */
static bool is_signed(struct world *w, int box, const struct pair *with, struct span data)
{
	_cleanup_buf_ struct buf b = BUF_INIT(4096), frame = BUF_INIT(4096);
	size_t asked = w->asked, told = w->event_count;
	static const uint8_t good[] = {SIGNED, 0, 0, 0, 3, 's', 'i', 'g'};

	agent_says(w, (struct span){good, sizeof(good)});
	put_sign(&b, with, data);
	ssh_put_string(&frame, buf_span(&b));
	struct span got = ask(w, box, buf_span(&b));
	bool passed = w->asked > asked;

	if (passed) {
		assert_int_equal(w->asked, asked + 1);
		assert_true(span_equal(buf_span(&w->passed), buf_span(&frame)));
		assert_true(span_equal(got, (struct span){good, sizeof(good)}));
		assert_int_equal(w->event_count, told + 1);
		assert_true(w->events[told].allowed);
		assert_string_equal(w->events[told].reason, "a login with a key of your agent");
	} else {
		assert_int_equal(got.len, 1);
		assert_int_equal(got.ptr[0], SSH_AGENT_FAILURE);
	}
	return passed;
}

static const struct event *last_event(const struct world *w)
{
	assert_true(w->event_count > 0);
	return &w->events[w->event_count - 1];
}

static void assert_refused(struct world *w, struct span got, const char *host, uint64_t port,
			   const char *reason)
{
	assert_int_equal(got.len, 1);
	assert_int_equal(got.ptr[0], SSH_AGENT_FAILURE);
	assert_false(last_event(w)->allowed);
	assert_string_equal(last_event(w)->host, host);
	assert_int_equal(last_event(w)->port, port);
	assert_string_equal(last_event(w)->reason, reason);
}

/* --- binding --------------------------------------------------------------------------- */

static void test_binds(void **state)
{
	struct world *w = *state;
	const struct span session = SPAN_LITERAL("session one");
	int box = box_connect(w);

	assert_refused(w, bind_by(w, box, &w->hosts[STRANGER], &w->hosts[STRANGER], session, false),
		       "your ssh agent", 0, no_host);
	assert_refused(w, bind_by(w, box, &w->hosts[PLAIN], &w->hosts[PICKY], session, false),
		       "plain.test", 22, "the host's signature over the session is not good");
	assert_refused(w, bind_by(w, box, &w->hosts[PICKY], &w->hosts[PICKY], session, true),
		       "picky.test", 23, "the agent is not forwarded to other hosts");
	/* None of these has bound it, and the agent has not heard of any. */
	assert_int_equal(w->connects, 0);
	assert_int_equal(w->asked, 0);
	bind_host(w, box, LOOSE, session);
	assert_int_equal(w->connects, 1);
	assert_int_equal(w->asked, 1);
	assert_refused(w, bind_by(w, box, &w->hosts[PLAIN], &w->hosts[PLAIN], session, false),
		       "plain.test", 22, second_host);
	assert_refused(w, bind_by(w, box, &w->hosts[LOOSE], &w->hosts[LOOSE], session, false),
		       "loose.test", 24, second_host);
	(void)close(box);
}

/* An agent that is too old to know of it says no: it was checked here. */
static void test_binds_with_an_old_agent(void **state)
{
	struct world *w = *state;
	const struct span session = SPAN_LITERAL("session");
	_cleanup_buf_ struct buf b = BUF_INIT(1024);
	int box = box_connect(w);

	put_byte(&b, EXTENSION);
	ssh_put_string(&b, SPAN_LITERAL("session-bind@openssh.com"));
	ssh_put_string(&b, w->hosts[PLAIN].blob);
	ssh_put_string(&b, session);
	put_signature(&b, &w->hosts[PLAIN], session);
	put_byte(&b, 0);
	agent_says(w, SPAN_LITERAL("\5"));
	struct span got = ask(w, box, buf_span(&b));

	assert_int_equal(got.len, 1);
	assert_int_equal(got.ptr[0], SSH_AGENT_SUCCESS);
	(void)close(box);
}

static void test_longest_session(void **state)
{
	static const uint8_t bytes[SSH_AGENT_SESSION_MAX + 1] = {1, 2, 3, [63] = 9, 7};
	struct world *w = *state;
	_cleanup_buf_ struct buf login = BUF_INIT(1024), cut = BUF_INIT(1024);
	const struct pair *host = &w->hosts[PLAIN];
	int box = box_connect(w);

	bind_host(w, box, PLAIN, (struct span){bytes, SSH_AGENT_SESSION_MAX});
	put_login(&login, (struct span){bytes, SSH_AGENT_SESSION_MAX}, &w->user[0], host);
	put_login(&cut, (struct span){bytes, SSH_AGENT_SESSION_MAX - 1}, &w->user[0], host);
	assert_true(is_signed(w, box, &w->user[0], buf_span(&login)));
	assert_false(is_signed(w, box, &w->user[0], buf_span(&cut)));
	(void)close(box);
	/* What is longer is no hash: it is no request at all. */
	box = box_connect(w);
	assert_int_equal(
		bind_by(w, box, host, host, (struct span){bytes, sizeof(bytes)}, false).len, 0);
	(void)close(box);
}

/* --- signing --------------------------------------------------------------------------- */

static void test_logins(void **state)
{
	enum { NOBODY = -1, OTHER_SESSION = 1, OTHER_KEY = 2 };
	static const struct {
		int bound, named; /* hosts */
		size_t with;      /* of the user's */
		unsigned int odd;
		const char *why; /* NULL: it is signed */
	} rows[] = {
		{PLAIN, PLAIN, 0, 0, NULL},
		{PLAIN, PLAIN, 1, 0, NULL},
		{PLAIN, NOBODY, 0, 0, not_named},
		{PLAIN, PICKY, 0, 0, "a login that names other keys than it is bound to"},
		{PLAIN, STRANGER, 0, 0, "a login that names other keys than it is bound to"},
		{PLAIN, PLAIN, 0, OTHER_KEY, "a login that names other keys than it is bound to"},
		{PLAIN, PLAIN, 0, OTHER_SESSION,
		 "a login in another session than the one it is bound to"},
		{PICKY, PICKY, 0, 0, NULL},
		{PICKY, PICKY, 1, 0, other_key},
		{PICKY, NOBODY, 0, 0, not_named},
		{PICKY, NOBODY, 1, 0, other_key},
		{LOOSE, LOOSE, 0, 0, NULL},
		{LOOSE, NOBODY, 0, 0, NULL},
		{LOOSE, NOBODY, 0, OTHER_SESSION,
		 "a login in another session than the one it is bound to"},
		{LOOSE, PLAIN, 0, 0, "a login that names other keys than it is bound to"},
		/* The first rule's key only where the host is named, the second's anywhere. */
		{TWICE, TWICE, 0, 0, NULL},
		{TWICE, NOBODY, 0, 0, not_named},
		{TWICE, TWICE, 1, 0, NULL},
		{TWICE, NOBODY, 1, 0, NULL},
	};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		const struct span session = SPAN_LITERAL("the session");
		const struct pair *key = &w->user[rows[i].with];
		_cleanup_buf_ struct buf login = BUF_INIT(1024);
		int box = box_connect(w);

		w->event_count = 0;
		bind_host(w, box, (size_t)rows[i].bound, session);
		put_login(&login,
			  rows[i].odd & OTHER_SESSION ? SPAN_LITERAL("the sessioN") : session, key,
			  rows[i].named == NOBODY ? NULL : &w->hosts[rows[i].named]);
		bool done = is_signed(w, box, rows[i].odd & OTHER_KEY ? &w->user[1] : key,
				      buf_span(&login));

		if (done != !rows[i].why)
			fail_msg("row %zu: signed %d", i, done);
		/* Refusals of one kind are counted from one row to the next; told is the first. */
		if (w->event_count > 0)
			assert_int_equal(last_event(w)->allowed, done);
		if (w->event_count > 0 && !done)
			assert_string_equal(last_event(w)->reason, rows[i].why);
		(void)close(box);
	}
}

static void test_nothing_but_logins(void **state)
{
	struct world *w = *state;
	const struct span session = SPAN_LITERAL("session");
	static const uint8_t others[] = {0, 1, 9, 17, 18, 19, 20, 22, 23, 25, 26, 255};
	_cleanup_buf_ struct buf login = BUF_INIT(1024);
	int box = box_connect(w);

	put_login(&login, session, &w->user[0], &w->hosts[PLAIN]);
	assert_false(is_signed(w, box, &w->user[0], buf_span(&login)));
	assert_string_equal(last_event(w)->reason, not_bound);
	assert_string_equal(last_event(w)->host, "your ssh agent");
	bind_host(w, box, PLAIN, session);
	assert_false(is_signed(w, box, &w->user[0], SPAN_LITERAL("SSHSIG\0\0\0\3git\0\0\0\0")));
	assert_string_equal(last_event(w)->reason, "something else than a login was to be signed");
	size_t asked = w->asked;

	for (size_t i = 0; i < sizeof(others); i++) {
		struct span got = ask(w, box, (struct span){&others[i], 1});

		assert_int_equal(got.len, 1);
		assert_int_equal(got.ptr[0], SSH_AGENT_FAILURE);
	}
	assert_int_equal(w->asked, asked);
	/* And after all that it still signs what it may. */
	assert_true(is_signed(w, box, &w->user[0], buf_span(&login)));
	(void)close(box);
}

/* --- lists ----------------------------------------------------------------------------- */

static void test_lists(void **state)
{
	static const struct {
		int host;
		bool has[2];
	} rows[] = {
		{PLAIN, {true, true}},
		{PICKY, {true, false}},
		{TWICE, {true, true}},
	};
	static const uint8_t list[] = {LIST}, none[] = {LISTED, 0, 0, 0, 0};
	struct world *w = *state;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		_cleanup_buf_ struct buf all = BUF_INIT(1024), want = BUF_INIT(1024);
		int box = box_connect(w);
		size_t asked = w->asked;

		/* Not before it is known for whom; and then without words beside. */
		assert_true(span_equal(ask(w, box, (struct span){list, 1}),
				       (struct span){none, sizeof(none)}));
		assert_int_equal(w->asked, asked);
		bind_host(w, box, (size_t)rows[i].host, SPAN_LITERAL("session"));
		buf_put(&all, "\14\0\0\0\2", 5);
		put_byte(&want, LISTED);
		buf_put(&want, "\0\0\0", 3);
		put_byte(&want, (uint8_t)(rows[i].has[0] + rows[i].has[1]));
		for (size_t k = 0; k < 2; k++) {
			ssh_put_string(&all, w->user[k].blob);
			ssh_put_string(&all, SPAN_LITERAL("somebody@laptop"));
			if (!rows[i].has[k])
				continue;
			ssh_put_string(&want, w->user[k].blob);
			ssh_put_string(&want, SPAN_LITERAL(""));
		}
		agent_says(w, buf_span(&all));
		assert_true(span_equal(ask(w, box, (struct span){list, 1}), buf_span(&want)));
		agent_says(w, SPAN_LITERAL("\14\0\0\0\7"));
		struct span got = ask(w, box, (struct span){list, 1});

		assert_int_equal(got.len, 1);
		assert_int_equal(got.ptr[0], SSH_AGENT_FAILURE);
		(void)close(box);
	}
}

/* --- telling --------------------------------------------------------------------------- */

static void test_refusals_are_counted(void **state)
{
	struct world *w = *state;
	const struct span session = SPAN_LITERAL("session");
	int box = box_connect(w);

	for (int i = 1; i <= 100; i++) {
		w->event_count = 0;
		(void)bind_by(w, box, &w->hosts[STRANGER], &w->hosts[STRANGER], session, false);
		bool told = i == 1 || i == 10 || i == 100;

		assert_int_equal(w->event_count, told);
		if (told)
			assert_int_equal(last_event(w)->count, i);
		if (i != 50)
			continue;
		/* Another host, or another reason, is told for itself. */
		(void)bind_by(w, box, &w->hosts[PLAIN], &w->hosts[STRANGER], session, false);
		assert_int_equal(last_event(w)->count, 1);
		(void)bind_by(w, box, &w->hosts[PICKY], &w->hosts[STRANGER], session, false);
		(void)bind_by(w, box, &w->hosts[PICKY], &w->hosts[PICKY], session, true);
		assert_int_equal(w->event_count, 3);
	}
	(void)close(box);
}

static void test_no_agent(void **state)
{
	struct world *w = *state;
	const struct span session = SPAN_LITERAL("session");
	int box = box_connect(w);

	w->has_agent = false;
	assert_refused(w, bind_by(w, box, &w->hosts[PLAIN], &w->hosts[PLAIN], session, false),
		       "plain.test", 22, "your ssh agent does not answer");
	/* The connection can still be used, and asks again. */
	w->has_agent = true;
	_cleanup_buf_ struct buf login = BUF_INIT(1024);

	put_login(&login, session, &w->user[0], &w->hosts[PLAIN]);
	assert_true(is_signed(w, box, &w->user[0], buf_span(&login)));
	assert_int_equal(w->connects, 2);
	(void)close(box);
}

/* --- what is sent away ----------------------------------------------------------------- */

static void test_one_request_at_a_time(void **state)
{
	static const uint8_t two[] = {0, 0, 0, 1, LIST, 0, 0, 0, 1, LIST};
	static const uint8_t none[] = {LISTED, 0, 0, 0, 0};
	struct world *w = *state;
	int box = box_connect(w);

	assert_int_equal(send(box, two, 5, 0), 5);
	assert_true(span_equal(box_answer(w, box), (struct span){none, sizeof(none)}));
	/* In parts it is one as well. */
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(send(box, two + i, 1, 0), 1);
		(void)usleep(2000);
	}
	assert_true(span_equal(box_answer(w, box), (struct span){none, sizeof(none)}));
	assert_int_equal(send(box, two, sizeof(two), 0), sizeof(two));
	assert_int_equal(box_answer(w, box).len, 0);
	(void)close(box);
	/* One that is longer than any. */
	box = box_connect(w);
	assert_int_equal(send(box, "\0\1\0\1", 4, 0), 4);
	assert_int_equal(box_answer(w, box).len, 0);
	(void)close(box);
	/* One of a kind that is served, and cut. */
	box = box_connect(w);
	assert_int_equal(ask(w, box, SPAN_LITERAL("\15\0\0\0\5ab")).len, 0);
	(void)close(box);
}

static void test_agents_that_say_too_much(void **state)
{
	struct world *w = *state;
	const struct span session = SPAN_LITERAL("session");
	_cleanup_buf_ struct buf login = BUF_INIT(1024), sign = BUF_INIT(2048);
	int box = box_connect(w);

	put_login(&login, session, &w->user[0], &w->hosts[PLAIN]);
	put_sign(&sign, &w->user[0], buf_span(&login));
	bind_host(w, box, PLAIN, session);
	agent_says(w, SPAN_LITERAL("\16sig"));
	ssh_put_string(&w->answer, SPAN_LITERAL("\16again"));
	assert_int_equal(ask(w, box, buf_span(&sign)).len, 0);
	(void)close(box);
	box = box_connect(w);
	bind_host(w, box, PLAIN, session);
	assert_int_equal(send(w->agent, "\0\0\0\1\5", 5, MSG_NOSIGNAL), 5);
	assert_int_equal(box_answer(w, box).len, 0);
	(void)close(box);
}

static void test_peers(void **state)
{
	static const uint8_t list[] = {LIST};
	struct world *w = *state;
	int boxes[PEERS_MAX];

	for (size_t i = 0; i < PEERS_MAX; i++) {
		boxes[i] = box_connect(w);
		assert_int_equal(ask(w, boxes[i], (struct span){list, 1}).len, 5);
	}
	/* One more than there are places; and then one goes. */
	int box = box_connect(w);

	assert_int_equal(box_answer(w, box).len, 0);
	(void)close(box);
	(void)close(boxes[3]);
	(void)usleep(20000);
	box = box_connect(w);
	assert_int_equal(ask(w, box, (struct span){list, 1}).len, 5);
	(void)close(box);
	/* Each has its own host: what one is bound to the next is not. */
	const struct span session = SPAN_LITERAL("session");
	_cleanup_buf_ struct buf login = BUF_INIT(1024);

	put_login(&login, session, &w->user[0], &w->hosts[PLAIN]);
	bind_host(w, boxes[0], PLAIN, session);
	assert_false(is_signed(w, boxes[1], &w->user[0], buf_span(&login)));
	assert_true(is_signed(w, boxes[0], &w->user[0], buf_span(&login)));
	for (size_t i = 0; i < PEERS_MAX; i++)
		if (i != 3)
			(void)close(boxes[i]);
}

int main(void)
{
#define ONE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ONE(test_binds),
		ONE(test_binds_with_an_old_agent),
		ONE(test_longest_session),
		ONE(test_logins),
		ONE(test_nothing_but_logins),
		ONE(test_lists),
		ONE(test_refusals_are_counted),
		ONE(test_no_agent),
		ONE(test_one_request_at_a_time),
		ONE(test_agents_that_say_too_much),
		ONE(test_peers),
	};
#undef ONE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
