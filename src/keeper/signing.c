/* SPDX-License-Identifier: Apache-2.0 */
#include "signing.h"

#include "fd.h"
#include "message.h"

enum { SIGNING_SERVING };

static int signing_on_event(void *context, struct channel_packet *packet, struct error *e)
{
	struct signing *s = context;

	return s->to.on_event(s->to.context, packet, e);
}

static int signing_on_connect(void *context, struct channel_packet *packet, struct error *e)
{
	struct signing *s = context;

	return s->to.on_connect(s->to.context, packet, e);
}

static const struct channel_rule signing_rules[] = {
	{MESSAGE_EVENT, "EVENT", 4096, 0, 0, 1u << SIGNING_SERVING, signing_on_event},
	{MESSAGE_SSH_CONNECT, "SSH_CONNECT", 16, 0, 0, 1u << SIGNING_SERVING, signing_on_connect},
};

static int signing_on_channel(void *context, uint32_t events)
{
	struct signing *s = context;

	(void)events;
	if (!channel_serve(&s->channel)) {
		loop_remove(s->loop, &s->handle);
		fd_close(&s->channel.fd);
	}
	return 0;
}

int signing_start(struct signing *s, int programs, int plan_fd, struct loop *loop,
		  const struct signing_to *to, struct error *e)
{
	int r = make_signer(programs, plan_fd, &s->made, &s->channel.fd, e);

	if (r < 0)
		return r;
	s->channel.rules = signing_rules;
	s->channel.rule_count = BAWN_ARRAY_SIZE(signing_rules);
	s->channel.state = SIGNING_SERVING;
	s->channel.context = s;
	s->loop = loop;
	s->to = *to;
	r = loop_add(loop, s->channel.fd, EPOLLIN, signing_on_channel, s, &s->handle);
	return r < 0 ? error_sys(e, r, "watching the signer") : 0;
}

int signing_pass(struct signing *s, uint32_t type, const struct channel_packet *packet)
{
	if (s->channel.fd < 0)
		return 0;
	return channel_if_there(
		channel_send(s->channel.fd, type, packet->body, packet->fds, packet->fd_count));
}

void signing_end(struct signing *s)
{
	fd_close(&s->channel.fd);
	make_end(&s->made);
}
