/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of the measurements of HTTPS.
 *
 *	https serve ADDRESS CERTIFICATE KEY SECRET
 *	https client HOST PORT [PROXY-HOST:PORT [CREDENTIALS]]
 *
 * The server is one process and one loop, at 8443 and 8444: GET /N answers N bytes, POST takes
 * its body.  A request with an Authorization that is not SECRET's is answered with 401, so
 * that whoever measures with a secret knows that the real one arrived.
 *
 * The client trusts what its environment says (SSL_CERT_FILE), sends TOKEN of its
 * environment as a bearer's where there is one, reads commands and answers each with
 * one line:
 *
 *	hand N		median and least ns of: connect, handshake, a GET
 *	get N		... of a GET on one connection
 *	fetch N, post N	bytes per second of N bytes
 *	rate C MS	GETs per second over C connections
 *	hold N		opens N connections, one GET each; they stay until `drop`
 */
#include "ends.h"
#include "base.h"
#include "fd.h"
#include "loop.h"
#include "str.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	HEAD_MAX = 4096,
	CHUNK = 64 << 10,
	SAMPLES_MAX = 100000,
	RATE_MAX = 1024,
	HOLD_MAX = 20000,
};

static char chunk[CHUNK];

/* The number behind the first occurrence of word, in any case; 0 without one. */
static uint64_t number_after(const char *text, const char *word)
{
	const char *at = strcasestr(text, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

/* --- the server ----------------------------------------------------------------------- */

struct server {
	struct loop loop;
	SSL_CTX *tls;
	const char *secret;
};

struct listener {
	struct server *server;
	int fd;
	struct loop_handle handle;
};

struct peer {
	struct server *server;
	int fd;
	SSL *ssl;
	struct loop_handle handle;
	uint64_t to_read, to_send;
	bool answer_due;
	size_t len;
	char head[HEAD_MAX];
};

static void peer_free(struct peer *p)
{
	loop_remove(&p->server->loop, &p->handle);
	SSL_free(p->ssl);
	fd_close(&p->fd);
	free(p);
}

/* 1: go on, 0: not now, -1: it is over. */
static int peer_state(struct peer *p, int r)
{
	int e = SSL_get_error(p->ssl, r);

	return e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

static int peer_send(struct peer *p)
{
	while (p->to_send > 0) {
		size_t len = p->to_send < CHUNK ? (size_t)p->to_send : CHUNK;
		int n = SSL_write(p->ssl, chunk, (int)len);

		if (n <= 0) {
			(void)loop_set_events(&p->server->loop, p->handle, EPOLLIN | EPOLLOUT);
			return peer_state(p, n);
		}
		p->to_send -= (uint64_t)n;
	}
	return loop_set_events(&p->server->loop, p->handle, EPOLLIN) < 0 ? -1 : 1;
}

static int peer_answer(struct peer *p, const char *status, uint64_t body)
{
	static char head[256 + 16384];
	int len = snprintf(head, 256, "HTTP/1.1 %s\r\nContent-Length: %llu\r\n\r\n", status,
			   (unsigned long long)body);
	size_t with = body < 16000 ? (size_t)body : 16000;

	/* Head and body in one record, as real servers do. */
	memset(head + len, 'x', with);
	p->to_send = body - with;
	if (SSL_write(p->ssl, head, len + (int)with) <= 0)
		return -1;
	return peer_send(p);
}

static bool peer_is_allowed(const struct peer *p)
{
	const char *at = strcasestr(p->head, "\r\nauthorization: ");

	return !at || str_after(at + 17, "Bearer ") == NULL ||
	       str_after(at + 17 + 7, p->server->secret) != NULL;
}

static int peer_request(struct peer *p)
{
	p->head[p->len] = '\0';
	char *end = strstr(p->head, "\r\n\r\n");

	if (!end)
		return p->len < HEAD_MAX - 1 ? 1 : -1;
	size_t behind = p->len - (size_t)(end + 4 - p->head);
	bool allowed = peer_is_allowed(p);

	end[2] = '\0';
	p->len = 0;
	if (!allowed)
		return peer_answer(p, "401 Unauthorized", 0);
	if (p->head[0] == 'G')
		return peer_answer(p, "200 OK", number_after(p->head, " /"));
	uint64_t body = number_after(p->head, "\r\nContent-Length: ");

	p->to_read = body - (behind < body ? behind : body);
	p->answer_due = p->to_read > 0;
	return p->answer_due ? 1 : peer_answer(p, "200 OK", 2);
}

static int peer_read(struct peer *p)
{
	char *into = p->to_read > 0 ? chunk : p->head + p->len;
	size_t room = p->to_read > 0 ? CHUNK : HEAD_MAX - 1 - p->len;
	int n = SSL_read(p->ssl, into, (int)room);

	if (n <= 0)
		return peer_state(p, n);
	if (p->to_read == 0) {
		p->len += (size_t)n;
		return peer_request(p);
	}
	p->to_read -= (uint64_t)n < p->to_read ? (uint64_t)n : p->to_read;
	if (p->to_read > 0 || !p->answer_due)
		return 1;
	p->answer_due = false;
	return peer_answer(p, "200 OK", 2);
}

static int peer_on(void *context, uint32_t events)
{
	struct peer *p = context;
	int r = p->to_send > 0 && (events & EPOLLOUT) ? peer_send(p) : 1;

	while (r > 0 && p->to_send == 0)
		r = peer_read(p);
	ERR_clear_error();
	if (r < 0)
		peer_free(p);
	return 0;
}

static int listener_on(void *context, uint32_t events)
{
	struct listener *l = context;

	(void)events;
	for (;;) {
		int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return 0;
		struct peer *p = calloc(1, sizeof(*p));

		if (!p) {
			(void)close(fd);
			continue;
		}
		set_nodelay(fd);
		p->server = l->server;
		p->fd = fd;
		p->ssl = SSL_new(l->server->tls);
		if (!p->ssl || SSL_set_fd(p->ssl, fd) != 1 ||
		    loop_add(&l->server->loop, fd, EPOLLIN, peer_on, p, &p->handle) < 0) {
			peer_free(p);
			continue;
		}
		SSL_set_accept_state(p->ssl);
	}
}

static int serve(char **argv)
{
	static const uint16_t ports[] = {8443, 8444};
	static struct listener listeners[BAWN_ARRAY_SIZE(ports)];
	static struct server s;

	s.tls = SSL_CTX_new(TLS_server_method());
	s.secret = argv[5];
	if (loop_init(&s.loop) < 0 || !s.tls ||
	    SSL_CTX_use_certificate_chain_file(s.tls, argv[3]) != 1 ||
	    SSL_CTX_use_PrivateKey_file(s.tls, argv[4], SSL_FILETYPE_PEM) != 1) {
		ERR_print_errors_fp(stderr);
		return 1;
	}
	(void)SSL_CTX_set_mode(s.tls, SSL_MODE_ENABLE_PARTIAL_WRITE |
					      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					      SSL_MODE_RELEASE_BUFFERS);
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ports); i++) {
		struct listener *l = &listeners[i];
		struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(ports[i])};
		int on = 1;

		l->server = &s;
		l->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (inet_pton(AF_INET, argv[2], &at.sin_addr) != 1 ||
		    setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		    bind(l->fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
		    listen(l->fd, 4096) < 0 ||
		    loop_add(&s.loop, l->fd, EPOLLIN, listener_on, l, &l->handle) < 0) {
			perror("https: serve");
			return 1;
		}
	}
	(void)puts("serving");
	(void)fflush(stdout);
	return loop_run(&s.loop) < 0;
}

/* --- the client ----------------------------------------------------------------------- */

struct link {
	int fd;
	SSL *ssl;
};

struct client {
	char *host;
	uint16_t port;
	bool proxied;
	char credentials[512], token[512]; /* header lines, or nothing */
	SSL_CTX *tls;
	struct sockaddr_storage to;
	socklen_t to_len;
	struct link held[HOLD_MAX];
	size_t held_count;
	uint64_t samples[SAMPLES_MAX];
};

static void hang_up(struct link *l)
{
	struct linger reset = {.l_onoff = 1, .l_linger = 0};

	if (l->fd >= 0)
		(void)setsockopt(l->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	SSL_free(l->ssl);
	l->ssl = NULL;
	fd_close(&l->fd);
}

static bool tunnel(struct client *c, int fd)
{
	char text[2048];
	int n = snprintf(text, sizeof(text), "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n%s\r\n",
			 c->host, c->port, c->host, c->port, c->credentials);
	size_t len = 0;

	if (send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
		return false;
	/* Byte by byte: what follows is TLS. */
	while (len < sizeof(text) - 1 && recv(fd, text + len, 1, 0) == 1) {
		text[++len] = '\0';
		if (len >= 4 && str_equal(text + len - 4, "\r\n\r\n"))
			return strncmp(text + 9, "200", 3) == 0;
	}
	return false;
}

static bool dial(struct client *c, struct link *ret)
{
	struct link l = {.fd = socket(c->to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};

	if (l.fd < 0 || connect(l.fd, (struct sockaddr *)&c->to, c->to_len) < 0) {
		perror("https: connect");
		hang_up(&l);
		return false;
	}
	set_nodelay(l.fd);
	l.ssl = SSL_new(c->tls);
	if ((c->proxied && !tunnel(c, l.fd)) || !l.ssl || SSL_set_fd(l.ssl, l.fd) != 1 ||
	    SSL_set_tlsext_host_name(l.ssl, c->host) != 1 || SSL_set1_host(l.ssl, c->host) != 1 ||
	    SSL_connect(l.ssl) != 1) {
		ERR_print_errors_fp(stderr);
		hang_up(&l);
		return false;
	}
	*ret = l;
	return true;
}

/* Reads until a head has ended; the bytes of body that came with it, or -1. */
static ssize_t read_head(struct link *l, uint64_t *ret_body)
{
	static char head[40000];
	size_t len = 0;

	for (;;) {
		int n = SSL_read(l->ssl, head + len, (int)(sizeof(head) - 1 - len));

		if (n <= 0)
			return -1;
		len += (size_t)n;
		head[len] = '\0';
		const char *end = strstr(head, "\r\n\r\n");

		if (!end)
			continue;
		if (strncmp(head + 9, "200", 3) != 0) {
			(void)fprintf(stderr, "https: %.600s\n", head);
			return -1;
		}
		*ret_body = number_after(head, "\r\nContent-Length: ");
		return (ssize_t)(head + len - (end + 4));
	}
}

static bool read_bytes(struct link *l, uint64_t count)
{
	while (count > 0) {
		int n = SSL_read(l->ssl, chunk, count < CHUNK ? (int)count : CHUNK);

		if (n <= 0)
			return false;
		count -= (uint64_t)n;
	}
	return true;
}

static bool write_bytes(struct link *l, uint64_t count)
{
	while (count > 0) {
		int n = SSL_write(l->ssl, chunk, count < CHUNK ? (int)count : CHUNK);

		if (n <= 0)
			return false;
		count -= (uint64_t)n;
	}
	return true;
}

static bool ask(const struct client *c, struct link *l, const char *method, uint64_t n,
		uint64_t body)
{
	char text[2048], length[64] = "";

	if (body)
		(void)snprintf(length, sizeof(length), "Content-Length: %llu\r\n",
			       (unsigned long long)body);
	int len = snprintf(text, sizeof(text), "%s /%llu HTTP/1.1\r\nHost: %s:%u\r\n%s%s\r\n",
			   method, (unsigned long long)n, c->host, c->port, c->token, length);

	return SSL_write(l->ssl, text, len) == len;
}

static bool answered(struct link *l)
{
	uint64_t length = 0;
	ssize_t there = read_head(l, &length);

	return there >= 0 && read_bytes(l, length - (uint64_t)there);
}

static bool get(const struct client *c, struct link *l, const char *method, uint64_t n,
		uint64_t body)
{
	return ask(c, l, method, n, body) && (!body || write_bytes(l, body)) && answered(l);
}

static bool latency(struct client *c, bool fresh, uint64_t count)
{
	struct link l = {.fd = -1};
	bool good = count > 0 && count <= SAMPLES_MAX && dial(c, &l) && get(c, &l, "GET", 64, 0);

	for (uint64_t i = 0; good && i < count; i++) {
		if (fresh)
			hang_up(&l);
		uint64_t start = now();

		good = (!fresh || dial(c, &l)) && get(c, &l, "GET", 64, 0);
		c->samples[i] = now() - start;
	}
	hang_up(&l);
	if (!good)
		return false;
	qsort(c->samples, count, sizeof(c->samples[0]), by_size);
	(void)printf("%llu %llu\n", (unsigned long long)c->samples[count / 2],
		     (unsigned long long)c->samples[0]);
	return true;
}

static void print_rate(uint64_t count, uint64_t ns)
{
	(void)printf("%llu\n", (unsigned long long)((double)count * 1e9 / (double)ns));
}

static bool bulk(struct client *c, bool up, uint64_t count)
{
	struct link l = {.fd = -1};
	bool good = dial(c, &l) && get(c, &l, "GET", 64, 0);
	uint64_t start = now();

	good = good && (up ? get(c, &l, "POST", 0, count) : get(c, &l, "GET", count, 0));
	if (good)
		print_rate(count, now() - start);
	hang_up(&l);
	return good;
}

static bool rate_run(struct client *c, struct link *links, int epoll, uint64_t connections,
		     uint64_t ms)
{
	struct epoll_event events[64];
	uint64_t count = 0, start = now(), end = start + ms * 1000000;
	bool good = true;

	for (uint64_t i = 0; good && i < connections; i++)
		good = ask(c, &links[i], "GET", 64, 0);
	while (good && now() < end) {
		int n = epoll_wait(epoll, events, BAWN_ARRAY_SIZE(events), 2000);

		good = n > 0;
		for (int i = 0; good && i < n; i++) {
			struct link *l = events[i].data.ptr;

			good = answered(l) && ask(c, l, "GET", 64, 0);
			count++;
		}
	}
	if (good)
		print_rate(count, now() - start);
	return good;
}

static bool rate(struct client *c, uint64_t connections, uint64_t ms)
{
	static struct link links[RATE_MAX];
	_cleanup_fd_ int epoll = epoll_create1(EPOLL_CLOEXEC);
	bool good = connections > 0 && connections <= RATE_MAX;
	uint64_t opened = 0;

	while (good && opened < connections) {
		struct link *l = &links[opened];
		struct epoll_event ev = {.events = EPOLLIN, .data.ptr = l};

		*l = (struct link){.fd = -1};
		good = dial(c, l) && get(c, l, "GET", 64, 0) &&
		       epoll_ctl(epoll, EPOLL_CTL_ADD, l->fd, &ev) == 0;
		opened++;
	}
	good = good && rate_run(c, links, epoll, connections, ms);
	for (uint64_t i = 0; i < opened; i++)
		hang_up(&links[i]);
	return good;
}

static bool hold(struct client *c, uint64_t count)
{
	while (c->held_count < count && c->held_count < HOLD_MAX) {
		struct link *l = &c->held[c->held_count];

		if (!dial(c, l) || !get(c, l, "GET", 64, 0))
			break;
		c->held_count++;
	}
	(void)printf("%zu\n", c->held_count);
	return true;
}

static bool drop(struct client *c)
{
	while (c->held_count > 0)
		hang_up(&c->held[--c->held_count]);
	(void)puts("0");
	return true;
}

static bool command(struct client *c, char *line)
{
	char *words[3] = {line, NULL, NULL};
	uint64_t n = 0, ms = 0;

	line[strcspn(line, "\n")] = '\0';
	for (int i = 1; i < 3 && words[i - 1]; i++) {
		words[i] = strchr(words[i - 1], ' ');
		if (words[i])
			*words[i]++ = '\0';
	}
	if ((words[1] && str_parse_u64(words[1], &n) < 0) ||
	    (words[2] && str_parse_u64(words[2], &ms) < 0))
		return false;
	if (str_equal(line, "hand") || str_equal(line, "get"))
		return latency(c, line[0] == 'h', n);
	if (str_equal(line, "rate"))
		return rate(c, n, ms);
	if (str_equal(line, "hold"))
		return hold(c, n);
	if (str_equal(line, "drop"))
		return drop(c);
	return bulk(c, str_equal(line, "post"), n);
}

static bool resolve(struct client *c, const char *host, const char *port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_INET};
	struct addrinfo *found = NULL;
	int r = getaddrinfo(host, port, &hints, &found);

	if (r != 0) {
		(void)fprintf(stderr, "https: %s: %s\n", host, gai_strerror(r));
		return false;
	}
	memcpy(&c->to, found->ai_addr, found->ai_addrlen);
	c->to_len = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static bool trust(struct client *c)
{
	const char *token = getenv("TOKEN");

	if (token)
		(void)snprintf(c->token, sizeof(c->token), "Authorization: Bearer %s\r\n", token);
	c->tls = SSL_CTX_new(TLS_client_method());
	if (!c->tls)
		return false;
	SSL_CTX_set_verify(c->tls, SSL_VERIFY_PEER, NULL);
	return SSL_CTX_set_default_verify_paths(c->tls) == 1;
}

static int be_client(int argc, char **argv)
{
	static struct client c;
	uint64_t port = 0;
	char line[128];

	c.host = argv[2];
	if (str_parse_u64(argv[3], &port) < 0 || !trust(&c))
		return 2;
	c.port = (uint16_t)port;
	if (argc == 6 && argv[5][0])
		(void)snprintf(c.credentials, sizeof(c.credentials),
			       "Proxy-Authorization: Basic %s\r\n", argv[5]);
	char *colon = argc >= 5 ? strrchr(argv[4], ':') : NULL;

	if (argc >= 5 && !colon)
		return 2;
	if (colon)
		*colon = '\0';
	c.proxied = argc >= 5;
	if (!resolve(&c, colon ? argv[4] : c.host, colon ? colon + 1 : argv[3]))
		return 1;
	(void)puts("ready");
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		ERR_clear_error();
		if (!command(&c, line))
			(void)puts("failed");
		(void)fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	raise_descriptors();
	(void)signal(SIGPIPE, SIG_IGN);
	if (argc == 6 && str_equal(argv[1], "serve"))
		return serve(argv);
	if (argc >= 4 && argc <= 6 && str_equal(argv[1], "client"))
		return be_client(argc, argv);
	(void)fputs("usage: https serve ADDRESS CERTIFICATE KEY SECRET | "
		    "https client HOST PORT [PROXY-HOST:PORT [CREDENTIALS]]\n",
		    stderr);
	return 2;
}
