/* SPDX-License-Identifier: Apache-2.0 */
#include "handover.h"

#include "fd.h"
#include "message_keys.h"

#include <unistd.h>

enum { HANDOVER_SERVING };

/* Reads one value and sends it.  The buf never grows, so it never moves; it is wiped. */
static int handover_send_one(struct handover *v, uint64_t index, struct error *e)
{
	static char bytes[MESSAGE_VALUE_MAX + 1];
	struct buf b = {bytes, 0, sizeof(bytes), MESSAGE_VALUE_MAX, 0};
	struct message_value m = {.index = index};
	const struct plan_secret *secret =
		index == PLAN_PROXY_LOGIN ? NULL : &v->plan->secrets.items[index];
	int r = v->read ? v->read(v->context, secret, &b, &m.expires, e)
			: error_set(e, -ENOENT, "there is nowhere to read it from");

	if (r == 0 && buf_error(&b))
		r = error_set(e, buf_error(&b), "it is too long");
	m.value = buf_span(&b);
	if (r == 0) {
		r = message_send_secret(v->channel.fd, MESSAGE_VALUE, &message_value_schema, &m);
		/* Keys may have ended a moment ago; the keeper reports that. */
		r = channel_if_there(r);
		if (r < 0 && r != -EAGAIN)
			(void)error_sys(e, r, "sending it");
	}
	explicit_bzero(bytes, sizeof(bytes));
	return r;
}

int handover_open(struct handover *v, const struct plan *plan, handover_fn read, void *context,
		  int *ret_keys, struct error *e)
{
	int ends[2];

	*v = HANDOVER_INIT;
	*ret_keys = -1;
	if (!plan_needs_keys(plan))
		return 0;
	int r = channel_pair(ends);

	if (r < 0)
		return error_sys(e, r, "making a channel for secrets");
	v->plan = plan;
	v->read = read;
	v->context = context;
	v->channel = (struct channel){
		.fd = ends[0], .state = HANDOVER_SERVING, .context = v, .secret = true};
	*ret_keys = ends[1];
	return 0;
}

int handover_send(struct handover *v, bool wait, struct error *e)
{
	if (v->channel.fd < 0)
		return 0;
	int r = fd_set_nonblock(v->channel.fd, !wait);

	for (; r == 0 && v->next < v->plan->secrets.count; v->next++) {
		struct error why = ERROR_INIT;

		r = handover_send_one(v, v->next, &why);
		if (r == -EAGAIN && why.code == 0)
			return 0;
		if (r < 0) {
			(void)error_set(e, r, "the secret %s: %s",
					v->plan->secrets.items[v->next].name, why.text);
			error_next(e, "%s", why.next);
			return r;
		}
	}
	if (r == 0 && plan_has_login(v->plan) && !v->login_sent) {
		struct error why = ERROR_INIT;

		r = handover_send_one(v, PLAN_PROXY_LOGIN, &why);
		if (r == -EAGAIN && why.code == 0)
			return 0;
		if (r < 0)
			return error_set(e, r, "the login of the proxy: %s", why.text);
		v->login_sent = true;
	}
	return r < 0 ? error_sys(e, r, "sending the secrets") : 0;
}

static int handover_on_need(void *context, struct channel_packet *packet, struct error *e)
{
	struct handover *v = context;
	struct error why = ERROR_INIT;
	struct message_need m;
	int r = message_decode(packet->body, &message_need_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (m.index >= v->plan->secrets.count &&
	    !(m.index == PLAN_PROXY_LOGIN && plan_has_login(v->plan)))
		return error_set(e, -EPROTO, "keys asks for a secret that the plan has not");
	if (handover_send_one(v, m.index, &why) == 0)
		return 0;
	const struct message_refused no = {.index = m.index, .reason = why.text};

	r = message_send(v->channel.fd, MESSAGE_REFUSED, &message_refused_schema, &no, NULL, 0);
	return channel_if_there(r);
}

static const struct channel_rule handover_rules[] = {
	{MESSAGE_NEED, "NEED", 8, 0, 0, 1u << HANDOVER_SERVING, handover_on_need},
};

static int handover_on_channel(void *context, uint32_t events)
{
	struct handover *v = context;

	(void)events;
	/* Keys is gone: the session goes on, and says so by an event. */
	if (!channel_serve(&v->channel)) {
		loop_remove(v->loop, &v->handle);
		fd_close(&v->channel.fd);
	}
	return 0;
}

int handover_watch(struct handover *v, struct loop *loop)
{
	if (v->channel.fd < 0)
		return 0;
	v->loop = loop;
	v->channel.rules = handover_rules;
	v->channel.rule_count = BAWN_ARRAY_SIZE(handover_rules);
	return loop_add(loop, v->channel.fd, EPOLLIN, handover_on_channel, v, &v->handle);
}

void handover_close(struct handover *v)
{
	if (v->loop)
		loop_remove(v->loop, &v->handle);
	fd_close(&v->channel.fd);
}
