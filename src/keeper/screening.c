/* SPDX-License-Identifier: Apache-2.0 */
#include "screening.h"

#include "fd.h"

enum { SCREENING_SERVING };

static int screening_on_painted(void *context, struct channel_packet *packet, struct error *e)
{
	struct screening *s = context;

	(void)e;
	master_on_painted(s->master, packet->body);
	return 0;
}

static int screening_on_input(void *context, struct channel_packet *packet, struct error *e)
{
	struct screening *s = context;

	(void)e;
	master_answer(s->master, packet->body);
	return 0;
}

static const struct channel_rule screening_rules[] = {
	{MESSAGE_PAINTED, "PAINTED", MESSAGE_DATA_MAX, 0, 0, 1u << SCREENING_SERVING,
	 screening_on_painted},
	{MESSAGE_INPUT, "INPUT", 256, 0, 0, 1u << SCREENING_SERVING, screening_on_input},
};

void screening_lose(struct screening *s)
{
	if (s->channel.fd < 0)
		return;
	master_forget(s->master, &s->view);
	loop_remove(s->loop, &s->view.handle);
	fd_close(&s->channel.fd);
	master_lose_screen(s->master);
}

static int screening_on_channel(void *context, uint32_t events)
{
	struct screening *s = context;

	/* What master.c wants to hear of is EPOLLIN and more; a piece that has no room yet comes first. */
	if (s->hushed && !(events & (EPOLLHUP | EPOLLERR))) {
		(void)loop_set_events(s->loop, s->view.handle, 0);
		return 0;
	}
	if (s->resize_waits && (events & EPOLLOUT))
		screening_resize(s, s->rows, s->columns);
	if ((events & EPOLLOUT) && !(events & (EPOLLHUP | EPOLLERR | EPOLLIN)))
		master_on_room(s->master, &s->view);
	else if (!channel_serve(&s->channel))
		screening_lose(s);
	return 0;
}

int screening_start(struct screening *s, int programs, struct loop *loop, struct master *master,
		    struct error *e)
{
	int r = make_screen(programs, &s->made, &s->channel.fd, e);

	if (r < 0)
		return r;
	s->loop = loop;
	s->master = master;
	s->channel.rules = screening_rules;
	s->channel.rule_count = BAWN_ARRAY_SIZE(screening_rules);
	s->channel.state = SCREENING_SERVING;
	s->channel.context = s;
	s->view = (struct master_view){.fd = s->channel.fd, .screen = true, .watches = true};
	r = fd_set_nonblock(s->channel.fd, true);
	if (r == 0)
		r = loop_add(loop, s->channel.fd, EPOLLIN, screening_on_channel, s,
			     &s->view.handle);
	if (r == 0)
		r = master_show(master, &s->view, false);
	return r < 0 ? error_sys(e, r, "watching the screen") : 0;
}

void screening_resize(struct screening *s, uint64_t rows, uint64_t columns)
{
	const struct message_resize m = {.rows = rows, .columns = columns};

	s->rows = rows;
	s->columns = columns;
	if (s->channel.fd < 0)
		return;
	int r = message_send(s->channel.fd, MESSAGE_RESIZE, &message_resize_schema, &m, NULL, 0);

	s->resize_waits = s->view.more = r == -EAGAIN;
}

void screening_hush(struct screening *s, bool hush)
{
	s->hushed = hush;
	if (s->channel.fd >= 0 && hush)
		(void)loop_set_events(s->loop, s->view.handle, 0);
}

int screening_paint(struct screening *s)
{
	return s->channel.fd < 0 ? -ENOTCONN
				 : channel_send(s->channel.fd, MESSAGE_PAINT,
						(struct span){NULL, 0}, NULL, 0);
}

void screening_end(struct screening *s)
{
	screening_lose(s);
	make_end(&s->made);
}
