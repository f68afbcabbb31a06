/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of the network measurements.
 *
 *	net serve ADDRESS [CERTIFICATE KEY]
 *	net client HOST HTTP-PORT [PROXY-HOST:PORT [CREDENTIALS]]
 *
 * The server is one process and one loop: plain bytes and HTTP, each on ports of its own.
 *
 *	7001	echoes what comes
 *	7002	reads eight bytes, a count, and sends that many
 *	7003	reads a count and that many bytes, and sends one byte
 *	8080	HTTP: GET /N answers N bytes, POST takes its body
 *	8081	the same, so that a second rule can be measured
 *	8443	HTTP in TLS, GET only; with a certificate
 *
 * The client reads commands from its standard input and answers each with one line,
 * so that one that sits in a box for the whole run can take turns with others:
 *
 *	connect N	median and least ns of: connect, one byte there, one back
 *	trip N		... of one byte there and back on one connection
 *	get N		... of a GET on one connection
 *	fresh N		... of a GET on a connection of its own
 *	secure N	... of a GET in TLS, on one connection
 *	handshake N	... of a GET in TLS, on a connection of its own, nothing resumed
 *	down N, up N	bytes per second of N bytes, plain
 *	fetch N, post N	bytes per second of N bytes, HTTP
 *	rate C MS	GETs per second over C connections
 *	hold N		opens N connections, one byte each way; they stay until `drop`
 *
 * With a proxy, plain bytes go by CONNECT and HTTP in the form that names the host;
 * credentials are in base64, as the proxy wants them.
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
#include <openssl/ssl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	PORT_ECHO = 7001,
	PORT_SOURCE = 7002,
	PORT_SINK = 7003,
	PORT_HTTP = 8080,
	PORT_HTTP_TOO = 8081,
	PORT_TLS = 8443,
	HEAD_MAX = 1024,
	CHUNK = 256 << 10,
	SAMPLES_MAX = 100000,
	RATE_MAX = 1024,
	HOLD_MAX = 20000,
};

static uint8_t chunk[CHUNK];

/* The number behind the first occurrence of word; 0 without one. */
static uint64_t number_after(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

/* --- the server ----------------------------------------------------------------------- */

struct server {
	struct loop loop;
	SSL_CTX *tls; /* NULL: no certificate, no TLS */
};

struct listener {
	struct server *server;
	int fd;
	uint16_t port;
	struct loop_handle handle;
};

struct peer {
	struct server *server;
	int fd;
	uint16_t port;
	struct loop_handle handle;
	uint64_t to_read, to_send; /* bytes that need no look */
	bool answer_due;           /* once to_read is 0 */
	SSL *tls;
	size_t len;
	char head[HEAD_MAX];
};

static void peer_free(struct peer *p)
{
	SSL_free(p->tls);
	loop_remove(&p->server->loop, &p->handle);
	fd_close(&p->fd);
	free(p);
}

/* What is due goes out: true while the connection stands. */
static bool peer_send(struct peer *p)
{
	while (p->to_send > 0) {
		size_t len = p->to_send < CHUNK ? (size_t)p->to_send : CHUNK;
		ssize_t n = send(p->fd, chunk, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return false;
		p->to_send -= (uint64_t)n;
	}
	return loop_set_events(&p->server->loop, p->handle, p->to_send ? EPOLLOUT : EPOLLIN) == 0;
}

static bool peer_http_answer(struct peer *p, uint64_t body)
{
	char head[128];
	int len = snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %llu\r\n\r\n",
			   (unsigned long long)body);

	/* Head and a small body in one packet, as real servers do. */
	if (body + (uint64_t)len <= sizeof(head)) {
		memset(head + len, 'x', (size_t)body);
		return send(p->fd, head, (size_t)len + body, MSG_NOSIGNAL) > 0;
	}
	p->to_send = body;
	return send(p->fd, head, (size_t)len, MSG_NOSIGNAL | MSG_MORE) == len && peer_send(p);
}

/* A head is complete when its empty line is there; what is behind it is body. */
static bool peer_http(struct peer *p)
{
	p->head[p->len] = '\0';
	char *end = strstr(p->head, "\r\n\r\n");

	if (!end)
		return p->len < HEAD_MAX - 1;
	size_t behind = p->len - (size_t)(end + 4 - p->head);

	p->len = 0;
	if (p->head[0] == 'G') {
		const char *path = strchr(p->head, ' ');
		const char *host = path ? strstr(path, "//") : NULL;

		/* GET http://host/N, as a proxy may leave it, or GET /N */
		if (host && host < strchr(path + 1, '\r'))
			path = strchr(host + 2, '/');
		else
			path = path ? strchr(path, '/') : NULL;
		return path && peer_http_answer(p, number_after(path, "/"));
	}
	uint64_t body = number_after(p->head, "Content-Length: ");

	p->to_read = body - (behind < body ? behind : body);
	p->answer_due = p->to_read > 0;
	return p->answer_due || peer_http_answer(p, 2);
}

static bool peer_counted(struct peer *p)
{
	uint64_t count;

	if (p->len < sizeof(count))
		return true;
	memcpy(&count, p->head, sizeof(count));
	size_t behind = p->len - sizeof(count);

	p->len = 0;
	if (p->port == PORT_SOURCE) {
		p->to_send = count;
		return peer_send(p);
	}
	p->to_read = count - behind;
	p->answer_due = true;
	return true;
}

static bool peer_pass_over(struct peer *p)
{
	ssize_t n = recv(p->fd, chunk, CHUNK, 0);

	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	p->to_read -= (uint64_t)n < p->to_read ? (uint64_t)n : p->to_read;
	if (p->to_read > 0 || !p->answer_due)
		return true;
	p->answer_due = false;
	if (p->port != PORT_SINK)
		return peer_http_answer(p, 2);
	return send(p->fd, "x", 1, MSG_NOSIGNAL) == 1;
}

/* A handshake, then one GET after the other; answers are small and go out at once. */
static bool peer_tls(struct peer *p)
{
	int n = SSL_read(p->tls, p->head + p->len, (int)(HEAD_MAX - 1 - p->len));

	if (n <= 0)
		return SSL_get_error(p->tls, n) == SSL_ERROR_WANT_READ;
	p->len += (size_t)n;
	p->head[p->len] = '\0';
	if (!strstr(p->head, "\r\n\r\n"))
		return p->len < HEAD_MAX - 1;
	uint64_t body = number_after(p->head, "/");
	char answer[256];
	int len =
		snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nContent-Length: %llu\r\n\r\n",
			 (unsigned long long)body);

	p->len = 0;
	if (body + (uint64_t)len > sizeof(answer))
		return false;
	memset(answer + len, 'x', (size_t)body);
	return SSL_write(p->tls, answer, len + (int)body) == len + (int)body;
}

static int peer_on(void *context, uint32_t events)
{
	struct peer *p = context;
	bool alive = true;

	if (p->tls) {
		alive = peer_tls(p);
	} else if (events & EPOLLOUT) {
		alive = peer_send(p);
	} else if (p->to_read > 0) {
		alive = peer_pass_over(p);
	} else {
		ssize_t n = recv(p->fd, p->head + p->len, HEAD_MAX - 1 - p->len, 0);

		alive = n > 0 || (n < 0 && errno == EAGAIN);
		if (n > 0 && p->port == PORT_ECHO) {
			alive = send(p->fd, p->head, (size_t)n, MSG_NOSIGNAL) == n;
		} else if (n > 0) {
			p->len += (size_t)n;
			alive = p->port >= PORT_HTTP ? peer_http(p) : peer_counted(p);
		}
	}
	if (!alive)
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
		p->port = l->port;
		if (p->port == PORT_TLS) {
			p->tls = SSL_new(l->server->tls);
			if (p->tls && SSL_set_fd(p->tls, fd) == 1)
				SSL_set_accept_state(p->tls);
		}
		if (loop_add(&l->server->loop, fd, EPOLLIN, peer_on, p, &p->handle) < 0)
			peer_free(p);
	}
}

static SSL_CTX *serve_tls(const char *certificate, const char *key)
{
	SSL_CTX *tls = SSL_CTX_new(TLS_server_method());

	if (!tls || SSL_CTX_use_certificate_chain_file(tls, certificate) != 1 ||
	    SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_set_num_tickets(tls, 0) != 1) {
		SSL_CTX_free(tls);
		return NULL;
	}
	return tls;
}

static int serve(const char *address, const char *certificate, const char *key)
{
	static const uint16_t ports[] = {PORT_ECHO, PORT_SOURCE,   PORT_SINK,
					 PORT_HTTP, PORT_HTTP_TOO, PORT_TLS};
	static struct listener listeners[BAWN_ARRAY_SIZE(ports)];
	static struct server s;

	if (loop_init(&s.loop) < 0)
		return 1;
	if (certificate) {
		s.tls = serve_tls(certificate, key);
		if (!s.tls)
			return 1;
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ports) - (certificate ? 0 : 1); i++) {
		struct listener *l = &listeners[i];
		struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(ports[i])};
		int on = 1;

		l->server = &s;
		l->port = ports[i];
		l->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (inet_pton(AF_INET, address, &at.sin_addr) != 1 ||
		    setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		    bind(l->fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
		    listen(l->fd, 4096) < 0 ||
		    loop_add(&s.loop, l->fd, EPOLLIN, listener_on, l, &l->handle) < 0) {
			perror("net: serve");
			return 1;
		}
	}
	(void)puts("serving");
	(void)fflush(stdout);
	return loop_run(&s.loop) < 0;
}

/* --- the client ----------------------------------------------------------------------- */

struct client {
	const char *host;
	uint16_t http_port;
	bool proxied;
	char credentials[512];      /* a header line, or nothing */
	struct sockaddr_storage to; /* the host, or the proxy */
	socklen_t to_len;
	int held[HOLD_MAX];
	size_t held_count;
	SSL_CTX *tls;
	SSL *kept_tls;
	uint64_t samples[SAMPLES_MAX];
};

static bool send_all(int fd, const void *ptr, size_t len)
{
	return send(fd, ptr, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Reads until a head has ended; the bytes of body that came with it, or -1. */
static ssize_t read_head(int fd, uint64_t *ret_body)
{
	static char head[16384];
	size_t len = 0;

	for (;;) {
		ssize_t n = recv(fd, head + len, sizeof(head) - 1 - len, 0);

		if (n <= 0)
			return -1;
		len += (size_t)n;
		head[len] = '\0';
		const char *end = strstr(head, "\r\n\r\n");

		if (!end)
			continue;
		if (strncmp(head + 9, "200", 3) != 0) {
			(void)fprintf(stderr, "net: %.400s\n", head);
			return -1;
		}
		*ret_body = number_after(head, "ontent-Length: ");
		if (*ret_body == 0)
			*ret_body = number_after(head, "ontent-length: ");
		return (ssize_t)(head + len - (end + 4));
	}
}

/* A connection to the server's port (plain: through CONNECT where there is a proxy), or -1. */
static int dial(struct client *c, uint16_t port, bool http)
{
	struct sockaddr_storage to = c->to;
	_cleanup_fd_ int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t body = 0;
	char text[1024];

	if (!c->proxied && to.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&to)->sin6_port = htons(port);
	else if (!c->proxied)
		((struct sockaddr_in *)&to)->sin_port = htons(port);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, c->to_len) < 0) {
		perror("net: connect");
		return -1;
	}
	set_nodelay(fd);
	if (!c->proxied || http)
		return TAKE_FD(fd);
	int n = snprintf(text, sizeof(text), "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n%s\r\n",
			 c->host, port, c->host, port, c->credentials);

	if (!send_all(fd, text, (size_t)n) || read_head(fd, &body) != 0)
		return -1;
	return TAKE_FD(fd);
}

static size_t request(const struct client *c, const char *method, uint64_t n, uint64_t body,
		      char *into, size_t size)
{
	char where[160] = "", length[64] = "";

	if (c->proxied)
		(void)snprintf(where, sizeof(where), "http://%s:%u", c->host, c->http_port);
	if (body)
		(void)snprintf(length, sizeof(length), "Content-Length: %llu\r\n",
			       (unsigned long long)body);
	int len = snprintf(into, size, "%s %s/%llu HTTP/1.1\r\nHost: %s:%u\r\n%s%s\r\n", method,
			   where, (unsigned long long)n, c->host, c->http_port, c->credentials,
			   length);

	return len > 0 ? (size_t)len : 0;
}

static bool read_bytes(int fd, uint64_t count)
{
	while (count > 0) {
		ssize_t n = recv(fd, chunk, count < CHUNK ? (size_t)count : CHUNK, 0);

		if (n <= 0)
			return false;
		count -= (uint64_t)n;
	}
	return true;
}

static bool write_bytes(int fd, uint64_t count)
{
	while (count > 0) {
		ssize_t n = send(fd, chunk, count < CHUNK ? (size_t)count : CHUNK, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		count -= (uint64_t)n;
	}
	return true;
}

static bool get(const struct client *c, int fd, const char *method, uint64_t n, uint64_t body)
{
	char text[1024];
	size_t len = request(c, method, n, body, text, sizeof(text));
	uint64_t length = 0;

	if (!send_all(fd, text, len) || (body && !write_bytes(fd, body)))
		return false;
	ssize_t there = read_head(fd, &length);

	return there >= 0 && read_bytes(fd, length - (uint64_t)there);
}

static bool trip(int fd)
{
	char byte = 'x';

	return send_all(fd, &byte, 1) && recv(fd, &byte, 1, 0) == 1;
}

/* A connection to where HTTP is spoken in TLS, its handshake done; NULL: there is none. */
static SSL *dial_tls(struct client *c)
{
	_cleanup_fd_ int fd = dial(c, PORT_TLS, false);

	if (!c->tls)
		c->tls = SSL_CTX_new(TLS_client_method());
	SSL *tls = fd >= 0 && c->tls ? SSL_new(c->tls) : NULL;
	char name[256];

	(void)snprintf(name, sizeof(name), "%s", c->host);
	if (!tls || SSL_set_fd(tls, fd) != 1 || SSL_set_tlsext_host_name(tls, name) != 1 ||
	    SSL_connect(tls) != 1) {
		SSL_free(tls);
		return NULL;
	}
	(void)TAKE_FD(fd);
	return tls;
}

static void hang_up(SSL *tls)
{
	struct linger reset = {.l_onoff = 1, .l_linger = 0};
	int fd = tls ? SSL_get_fd(tls) : -1;

	SSL_free(tls);
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	fd_close(&fd);
}

static bool get_tls(const struct client *c, SSL *tls)
{
	char text[512];
	int len = snprintf(text, sizeof(text), "GET /64 HTTP/1.1\r\nHost: %s:%d\r\n\r\n", c->host,
			   PORT_TLS);

	if (SSL_write(tls, text, len) != len)
		return false;
	for (int have = 0; have < (int)sizeof(text) - 1;) {
		int n = SSL_read(tls, text + have, (int)sizeof(text) - 1 - have);

		if (n <= 0)
			return false;
		have += n;
		text[have] = '\0';
		const char *end = strstr(text, "\r\n\r\n");

		if (end && text + have - (end + 4) >= 64)
			return true;
	}
	return false;
}

static bool sample_tls(struct client *c, bool one)
{
	SSL *tls = one ? c->kept_tls : NULL;

	if (!tls)
		tls = dial_tls(c);
	if (one)
		c->kept_tls = tls;
	bool good = tls && get_tls(c, tls);

	if (!one)
		hang_up(tls);
	return good;
}

/* One sample of a latency; kept is the connection of those that need only one. */
static bool sample(struct client *c, char what, int *kept)
{
	if (what == 's' || what == 'h')
		return sample_tls(c, what == 's');
	bool http = what == 'g' || what == 'f';
	uint16_t port = http ? c->http_port : PORT_ECHO;
	bool one = what == 't' || what == 'g';
	_cleanup_fd_ int fresh = -1;

	if (!one || *kept < 0) {
		fresh = dial(c, port, http);
		if (fresh < 0)
			return false;
		if (one)
			*kept = TAKE_FD(fresh);
	}
	int fd = one ? *kept : fresh;
	/*
	 * Ended by a reset: with thousands of ends that linger, finding a free port would be
	 * what is measured.
	 */
	struct linger reset = {.l_onoff = 1, .l_linger = 0};

	if (!one)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	return http ? get(c, fd, "GET", 64, 0) : trip(fd);
}

static bool latency(struct client *c, char what, uint64_t count)
{
	_cleanup_fd_ int kept = -1;

	if (count == 0 || count > SAMPLES_MAX || !sample(c, what, &kept))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t start = now();

		if (!sample(c, what, &kept))
			return false;
		c->samples[i] = now() - start;
	}
	hang_up(c->kept_tls);
	c->kept_tls = NULL;
	qsort(c->samples, count, sizeof(c->samples[0]), by_size);
	(void)printf("%llu %llu\n", (unsigned long long)c->samples[count / 2],
		     (unsigned long long)c->samples[0]);
	return true;
}

static void print_rate(uint64_t count, uint64_t ns)
{
	(void)printf("%llu\n", (unsigned long long)((double)count * 1e9 / (double)ns));
}

static bool bulk(struct client *c, const char *what, uint64_t count)
{
	bool http = str_equal(what, "fetch") || str_equal(what, "post");
	uint16_t port = str_equal(what, "down") ? PORT_SOURCE : http ? c->http_port : PORT_SINK;
	_cleanup_fd_ int fd = dial(c, port, http);
	uint64_t start = now();
	bool good = fd >= 0;

	if (!good)
		return false;
	if (str_equal(what, "fetch"))
		good = get(c, fd, "GET", count, 0);
	else if (str_equal(what, "post"))
		good = get(c, fd, "POST", 0, count);
	else if (str_equal(what, "down"))
		good = send_all(fd, &count, sizeof(count)) && read_bytes(fd, count);
	else
		good = send_all(fd, &count, sizeof(count)) && write_bytes(fd, count) &&
		       read_bytes(fd, 1);
	if (good)
		print_rate(count, now() - start);
	return good;
}

/* Each connection has one request under way; answers are counted by their 64 bytes and a head. */
static bool rate(struct client *c, uint64_t connections, uint64_t ms)
{
	int fds[RATE_MAX];
	struct epoll_event ev, events[64];
	_cleanup_fd_ int epoll = epoll_create1(EPOLL_CLOEXEC);
	char text[1024];
	size_t len = request(c, "GET", 64, 0, text, sizeof(text));
	uint64_t count = 0;
	bool good = connections > 0 && connections <= RATE_MAX;
	uint64_t opened = 0;

	while (good && opened < connections) {
		ev = (struct epoll_event){.events = EPOLLIN,
					  .data.fd = dial(c, c->http_port, true)};
		good = ev.data.fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, ev.data.fd, &ev) == 0 &&
		       get(c, ev.data.fd, "GET", 64, 0);
		if (ev.data.fd >= 0)
			fds[opened++] = ev.data.fd;
	}
	for (uint64_t i = 0; good && i < connections; i++)
		good = send_all(fds[i], text, len);
	uint64_t start = now(), end = start + ms * 1000000;

	while (good && now() < end) {
		int n = epoll_wait(epoll, events, BAWN_ARRAY_SIZE(events), 1000);

		good = n > 0;
		for (int i = 0; good && i < n; i++) {
			uint64_t body = 0;
			ssize_t there = read_head(events[i].data.fd, &body);

			good = there >= 0 &&
			       read_bytes(events[i].data.fd, body - (uint64_t)there) &&
			       send_all(events[i].data.fd, text, len);
			count++;
		}
	}
	if (good)
		print_rate(count, now() - start);
	for (uint64_t i = 0; i < opened; i++)
		fd_close(&fds[i]);
	return good;
}

static bool hold(struct client *c, uint64_t count)
{
	while (c->held_count < count && c->held_count < HOLD_MAX) {
		int fd = dial(c, PORT_ECHO, false);

		if (fd < 0)
			break;
		c->held[c->held_count++] = fd;
		if (!trip(fd))
			break;
	}
	(void)printf("%zu\n", c->held_count);
	return true;
}

static bool drop(struct client *c)
{
	while (c->held_count > 0)
		fd_close(&c->held[--c->held_count]);
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
	if (str_equal(line, "connect") || str_equal(line, "trip") || str_equal(line, "get") ||
	    str_equal(line, "fresh") || str_equal(line, "secure") || str_equal(line, "handshake"))
		return latency(c, line[0], n);
	if (str_equal(line, "rate"))
		return rate(c, n, ms);
	if (str_equal(line, "hold"))
		return hold(c, n);
	if (str_equal(line, "drop"))
		return drop(c);
	return bulk(c, line, n);
}

static bool resolve(struct client *c, const char *host, const char *port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_INET};
	struct addrinfo *found = NULL;
	int r = getaddrinfo(host, port, &hints, &found);

	if (r != 0) {
		(void)fprintf(stderr, "net: %s: %s\n", host, gai_strerror(r));
		return false;
	}
	memcpy(&c->to, found->ai_addr, found->ai_addrlen);
	c->to_len = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static int be_client(int argc, char **argv)
{
	static struct client c;
	uint64_t port = 0;
	char line[128];

	c.host = argv[2];
	if (str_parse_u64(argv[3], &port) < 0)
		return 2;
	c.http_port = (uint16_t)port;
	if (argc == 6)
		(void)snprintf(c.credentials, sizeof(c.credentials),
			       "Proxy-Authorization: Basic %s\r\n", argv[5]);
	if (argc >= 5) {
		char *colon = strrchr(argv[4], ':');

		if (!colon)
			return 2;
		*colon = '\0';
		c.proxied = true;
		if (!resolve(&c, argv[4], colon + 1))
			return 1;
	} else if (!resolve(&c, c.host, argv[3])) {
		return 1;
	}
	(void)puts("ready");
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (!command(&c, line))
			(void)puts("failed");
		(void)fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	raise_descriptors();
	if ((argc == 3 || argc == 5) && str_equal(argv[1], "serve"))
		return serve(argv[2], argc == 5 ? argv[3] : NULL, argc == 5 ? argv[4] : NULL);
	if (argc >= 4 && argc <= 6 && str_equal(argv[1], "client"))
		return be_client(argc, argv);
	(void)fputs("usage: net serve ADDRESS [CERTIFICATE KEY] | net client HOST HTTP-PORT "
		    "[PROXY-HOST:PORT "
		    "[CREDENTIALS]]\n",
		    stderr);
	return 2;
}
