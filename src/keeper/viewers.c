/* SPDX-License-Identifier: Apache-2.0 */
#include "viewers.h"

#include "fd.h"

enum { VIEWERS_SERVING };

void viewers_init(struct viewers *v, struct loop *loop, struct master *master,
		  int (*go_on)(void *context, uint64_t foreground), void *context)
{
	v->loop = loop;
	v->master = master;
	v->go_on = go_on;
	v->context = context;
	for (size_t i = 0; i < VIEWERS_MAX; i++)
		v->viewers[i] = (struct viewer){.all = v, .channel = {.fd = -1}};
}

static void viewers_drop(struct viewer *viewer)
{
	struct viewers *v = viewer->all;

	master_forget(v->master, &viewer->view);
	loop_remove(v->loop, &viewer->view.handle);
	fd_close(&viewer->channel.fd);
	/* Nobody else would let the command go on. */
	if (viewer->told)
		(void)v->go_on(v->context, 1);
	viewer->told = false;
}

bool viewers_lose(struct viewers *v, const struct master_view *view)
{
	for (size_t i = 0; i < VIEWERS_MAX; i++)
		if (&v->viewers[i].view == view) {
			viewers_drop(&v->viewers[i]);
			return true;
		}
	return false;
}

/* --- what a viewer says ----------------------------------------------------------------- */

static int viewers_on_input(void *context, struct channel_packet *packet, struct error *e)
{
	struct viewer *viewer = context;

	(void)e;
	master_type(viewer->all->master, &viewer->view, packet->body);
	return 0;
}

static int viewers_on_resize(void *context, struct channel_packet *packet, struct error *e)
{
	struct viewer *viewer = context;
	struct message_resize m;
	int r = message_decode(packet->body, &message_resize_schema, &m, NULL, e);

	if (r == 0)
		master_resize(viewer->all->master, &viewer->view, m.rows, m.columns);
	return r;
}

static int viewers_on_continue(void *context, struct channel_packet *packet, struct error *e)
{
	struct viewer *viewer = context;
	struct message_job m;
	int r = message_decode(packet->body, &message_job_schema, &m, NULL, e);

	if (r < 0 || !viewer->told)
		return r;
	viewer->told = false;
	return viewer->all->go_on(viewer->all->context, m.value);
}

static const struct channel_rule viewers_rules[] = {
	{MESSAGE_INPUT, "INPUT", MESSAGE_DATA_MAX, 0, 0, 1u << VIEWERS_SERVING, viewers_on_input},
	{MESSAGE_RESIZE, "RESIZE", 24, 0, 0, 1u << VIEWERS_SERVING, viewers_on_resize},
	{MESSAGE_CONTINUE, "CONTINUE", 16, 0, 0, 1u << VIEWERS_SERVING, viewers_on_continue},
};

static int viewers_on_channel(void *context, uint32_t events)
{
	struct viewer *viewer = context;

	if ((events & EPOLLOUT) && !(events & (EPOLLHUP | EPOLLERR | EPOLLIN)))
		master_on_room(viewer->all->master, &viewer->view);
	else if (!channel_serve(&viewer->channel))
		viewers_drop(viewer);
	return 0;
}

/* --- coming and going ------------------------------------------------------------------- */

int viewers_add(struct viewers *v, int fd, struct loop_handle handle, struct span body,
		struct error *e)
{
	struct message_attach m;
	struct viewer *free_one = NULL;
	int r = message_decode(body, &message_attach_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (!v->master->expected)
		return error_set(e, -ENOTTY,
				 "this session has no terminal: there is nothing to see");
	for (size_t i = 0; !free_one && i < VIEWERS_MAX; i++)
		if (v->viewers[i].channel.fd < 0)
			free_one = &v->viewers[i];
	if (!free_one)
		return error_set(e, -EUSERS, "%d others are attached to this session", VIEWERS_MAX);
	free_one->channel = (struct channel){.fd = fd,
					     .rules = viewers_rules,
					     .rule_count = BAWN_ARRAY_SIZE(viewers_rules),
					     .state = VIEWERS_SERVING,
					     .context = free_one};
	free_one->view = (struct master_view){.fd = fd,
					      .handle = handle,
					      .watches = m.watches,
					      .rows = m.rows,
					      .columns = m.columns};
	loop_rebind(v->loop, handle, viewers_on_channel, free_one);
	/* The size first: the picture is of a screen that fits. */
	if (!m.watches)
		master_type(v->master, &free_one->view, (struct span){NULL, 0});
	(void)master_show(v->master, &free_one->view, true);
	return 0;
}

bool viewers_on_stopped(struct viewers *v, const struct master_view *view, struct span body)
{
	for (size_t i = 0; i < VIEWERS_MAX; i++) {
		struct viewer *viewer = &v->viewers[i];

		if (&viewer->view != view || viewer->channel.fd < 0)
			continue;
		viewer->told =
			channel_send(viewer->channel.fd, MESSAGE_STOPPED, body, NULL, 0) == 0;
		return viewer->told;
	}
	return false;
}

void viewers_end(struct viewers *v, uint32_t type, struct span body)
{
	for (size_t i = 0; i < VIEWERS_MAX; i++)
		if (v->viewers[i].channel.fd >= 0)
			(void)channel_send(v->viewers[i].channel.fd, type, body, NULL, 0);
}

size_t viewers_count(const struct viewers *v)
{
	size_t count = 0;

	for (size_t i = 0; i < VIEWERS_MAX; i++)
		count += v->viewers[i].channel.fd >= 0;
	return count;
}
