/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"

#include "flow_state.h"
#include "upstream_proxy.h"

#include <stdio.h>
#include <sys/socket.h>

enum { UPSTREAM_READ = 512 };

int upstream_init(struct upstream_link *l, const struct plan *plan, struct made_up *names)
{
	struct name name;

	if (plan->proxies.count == 0)
		return 0;
	const struct plan_proxy *proxy = &plan->proxies.items[0];

	if (proxy->address.len == sizeof(l->address.bytes)) {
		memcpy(l->address.bytes, proxy->address.ptr, sizeof(l->address.bytes));
	} else {
		if (name_parse(span_of_str(proxy->host), &name) < 0)
			return -EINVAL;
		l->name = made_up_get(names, &name);
		if (!l->name)
			return -ENOMEM;
	}
	l->proxy = proxy;
	return 0;
}

static void upstream_on_login(void *context, const struct key_ask_answer *answer)
{
	struct upstream_link *l = context;

	if (!answer->refused && answer->value->value.len <= sizeof(l->login) &&
	    tunnel_login_is_good(answer->value->value)) {
		l->login_len = answer->value->value.len;
		memcpy(l->login, answer->value->value.ptr, l->login_len);
		l->known = true;
	}
	l->refused = !l->known;
}

void upstream_ask(struct upstream_link *l, struct key_ask_link *keys)
{
	if (l->proxy && l->proxy->login && !l->known && l->asked.id == 0)
		key_ask_login(keys, &l->asked, upstream_on_login, l);
}

static struct authority upstream_target(const struct flow *f)
{
	struct authority to = {.is_address = !f->name, .port = f->port, .address = f->address};

	if (f->name)
		to.name = f->name->name;
	return to;
}

bool upstream_leads(const struct upstream_link *l, const struct flow *f)
{
	const struct authority to = upstream_target(f);

	return l->proxy &&
	       upstream_proxy_leads(l->proxy, &to, f->schemes == 1u << PLAN_SCHEME_HTTP);
}

bool upstream_is_ready(const struct upstream_link *l)
{
	return !l->proxy->login || l->known || l->refused;
}

struct upstream *upstream_new(const struct upstream_link *l, const struct flow *f)
{
	struct upstream *u = calloc(1, sizeof(*u));
	const struct authority to = upstream_target(f);

	if (!u)
		return NULL;
	/* The buf has its full size from the start, so it never moves. */
	u->out = (struct buf){u->room, 0, sizeof(u->room), TUNNEL_ASK_MAX, 0};
	tunnel_begin(&u->tunnel,
		     l->proxy->kind == PLAN_PROXY_SOCKS5 ? TUNNEL_SOCKS5 : TUNNEL_CONNECT, &to,
		     (struct span){l->login, l->login_len}, &u->out);
	return u;
}

void upstream_free(struct upstream *u)
{
	if (!u)
		return;
	/* It may hold the login. */
	explicit_bzero(u, sizeof(*u));
	free(u);
}

void upstream_forget(struct upstream_link *l)
{
	explicit_bzero(l->login, sizeof(l->login));
	l->login_len = 0;
	l->known = false;
}

/* --- words ---------------------------------------------------------------------------- */

void upstream_why(const struct upstream_link *l, const char *what, const char *more,
		  char why[UPSTREAM_WHY_SIZE])
{
	(void)snprintf(why, UPSTREAM_WHY_SIZE, "the proxy %.40s:%u %s%s", l->proxy->host,
		       (unsigned int)l->proxy->port, what, more);
}

static void upstream_explain(const struct upstream_link *l, const struct tunnel *t,
			     char why[UPSTREAM_WHY_SIZE])
{
	char status[48];

	(void)snprintf(status, sizeof(status), " (it says %u)", t->status);
	switch (t->failure) {
	case TUNNEL_NOT_A_PROXY:
		upstream_why(l, "does not answer as one", "; is it http:// or socks5://?", why);
		break;
	case TUNNEL_LOGIN:
		if (!l->proxy->login)
			upstream_why(l, "wants a login",
				     ": https_proxy=http://USER:PASSWORD@HOST:PORT", why);
		else if (l->refused)
			upstream_why(l, "wants a login", ", which keys did not give", why);
		else
			upstream_why(l, "does not take the login", " of your https_proxy", why);
		break;
	case TUNNEL_OTHER_LOGIN:
		upstream_why(l, "wants a login of a kind", " that bawn does not speak (not Basic)",
			     why);
		break;
	case TUNNEL_FORBIDDEN:
		upstream_why(l, "does not let it through", status, why);
		break;
	case TUNNEL_UNREACHED:
		upstream_why(l, "cannot reach it", status, why);
		break;
	case TUNNEL_REFUSED:
	case TUNNEL_FINE:
		upstream_why(l, "says no", status, why);
		break;
	}
}

/* --- the talk ------------------------------------------------------------------------- */

static int upstream_say(struct upstream *u, int fd)
{
	if (buf_error(&u->out))
		return buf_error(&u->out);
	if (u->out.len == 0)
		return 0;
	ssize_t n = send(fd, u->out.ptr, u->out.len, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	memmove(u->out.ptr, u->out.ptr + n, u->out.len - (size_t)n);
	explicit_bzero(u->out.ptr + u->out.len - (size_t)n, (size_t)n);
	u->out.len -= (size_t)n;
	return 0;
}

enum feed upstream_talk(const struct upstream_link *l, struct upstream *u, int fd,
			uint32_t *ret_events, char why[UPSTREAM_WHY_SIZE])
{
	uint8_t bytes[UPSTREAM_READ];
	enum feed said = FEED_MORE;

	while (said == FEED_MORE) {
		size_t used = 0;
		int r = upstream_say(u, fd);
		/* Peek first: bytes after the answer stay in the socket. */
		ssize_t n = r < 0 ? r : recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);

		if (r == 0 && n < 0 && errno == EAGAIN) {
			*ret_events = u->out.len > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN;
			return FEED_MORE;
		}
		if (n < 0) {
			upstream_why(l, "broke off: ", error_words(r < 0 ? r : -errno), why);
			return FEED_BAD;
		}
		if (n == 0) {
			upstream_why(l, "ended the connection", " without an answer", why);
			return FEED_BAD;
		}
		said = tunnel_feed(&u->tunnel, (struct span){bytes, (size_t)n}, &used, &u->out);
		if (recv(fd, bytes, used, 0) != (ssize_t)used) {
			upstream_why(l, "broke off", "", why);
			return FEED_BAD;
		}
	}
	if (said == FEED_BAD)
		upstream_explain(l, &u->tunnel, why);
	return said;
}
