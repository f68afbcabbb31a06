/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn forward` and `bawn open`: a server in the box of a session that runs, reached from this machine, for as long as
 * the command runs and the session does.
 */
#include "bawn_verbs.h"
#include "clean_path.h"
#include "fd.h"
#include "forward.h"
#include "message_box.h"
#include "session_talk.h"
#include "text.h"
#include "verbs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct forwarding {
	struct arena arena;
	struct loop loop;
	struct session session;
	struct channel keeper; /* which tells of the session's end */
	struct loop_handle keeper_handle;
	struct forward forward;
};

static void forwarding_fini(struct forwarding *g)
{
	forward_close(&g->forward);
	loop_remove(&g->loop, &g->keeper_handle);
	session_fini(&g->session);
	loop_fini(&g->loop);
	arena_fini(&g->arena);
}

/* --- the session's end ---------------------------------------------------------------- */

static int forwarding_on_exited(void *context, struct channel_packet *packet, struct error *e)
{
	struct forwarding *g = context;

	(void)packet;
	(void)e;
	loop_stop(&g->loop);
	return 0;
}

/* Too many wait for its end: connections will tell. */
static int forwarding_on_failed(void *context, struct channel_packet *packet, struct error *e)
{
	struct forwarding *g = context;

	(void)packet;
	(void)e;
	loop_remove(&g->loop, &g->keeper_handle);
	return 0;
}

static const struct channel_rule forwarding_rules[] = {
	{MESSAGE_EXITED, "EXITED", 16, 0, 0, 1u << 0, forwarding_on_exited},
	{MESSAGE_FAILED, "FAILED", 4096, 0, 0, 1u << 0, forwarding_on_failed},
};

static int forwarding_on_keeper(void *context, uint32_t events)
{
	struct forwarding *g = context;

	(void)events;
	if (!channel_serve(&g->keeper))
		loop_stop(&g->loop);
	return 0;
}

static int forwarding_wait(struct forwarding *g, struct error *e)
{
	g->keeper = (struct channel){.fd = g->session.fd,
				     .rules = forwarding_rules,
				     .rule_count = BAWN_ARRAY_SIZE(forwarding_rules),
				     .context = g};
	int r = channel_send(g->keeper.fd, MESSAGE_WAIT, (struct span){NULL, 0}, NULL, 0);

	if (r == 0)
		r = loop_add(&g->loop, g->keeper.fd, EPOLLIN, forwarding_on_keeper, g,
			     &g->keeper_handle);
	return r < 0 ? error_sys(e, r, "asking the session %s", g->session.shown) : 0;
}

/* --- the verbs ------------------------------------------------------------------------ */

static void forwarding_say(const struct forwarding *g, const struct published *port)
{
	struct text out = text_open(STDOUT_FILENO);

	text_printf(&out, "http://%s leads to port %u in %s%s. Ctrl-C ends it.\n", g->forward.at,
		    port->inside, g->session.shown, forward_why(&g->forward));
	if (port->everywhere)
		text_printf(&out, "Other machines that reach this address can connect, too.\n");
}

/* The person's browser is no part of the session: it is started as a desktop starts it, and not waited for.
 * It is no program that the session wrote, either, and does not start where the session writes. */
static void forwarding_browse(const struct forwarding *g)
{
	_cleanup_free_ char *path =
		clean_path_now(g->session.plan ? g->session.plan->workspace : NULL);
	char url[FORWARD_TEXT_MAX + 16], program[PATH_MAX];
	char *const argv[] = {(char[]){"xdg-open"}, url, NULL};
	pid_t child = -1;
	int status = 0;

	(void)snprintf(url, sizeof(url), "http://%s/", g->forward.at);
	if (path && clean_path_find(path, argv[0], program) && (child = fork()) == 0) {
		if (setenv("PATH", path, 1) == 0 && chdir("/") == 0)
			(void)execv(program, argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
		struct text err = text_open(STDERR_FILENO);

		text_printf(&err, "bawn: xdg-open did not open it; open %s in your browser\n", url);
	}
}

/* Finds the session, and listens for it. */
static int forwarding_open(struct forwarding *g, const char *name, const struct published *port,
			   struct error *e)
{
	char here[PATH_MAX];
	struct host host;
	int r = host_gather_user(&g->arena, &host, e);

	if (r < 0)
		return r;
	const struct session_places places = session_places_of(&host);

	r = session_choose(&places, name, getcwd(here, sizeof(here)), &g->session, e);
	if (r == 0)
		r = forwarding_wait(g, e);
	return r < 0 ? r : forward_open(&g->forward, &g->loop, &places, g->session.shown, port, e);
}

static int forward_until_end(const struct invocation *i, bool browse)
{
	_cleanup_(forwarding_fini) struct forwarding g = {.arena = ARENA_INIT(1 << 20),
							  .loop = {.epoll = -1, .kept = -1},
							  .session = {.fd = -1},
							  .forward = FORWARD_INIT};
	size_t last = i->argument_count - 1;
	struct published port;
	struct error e = ERROR_INIT;
	int r = published_parse(i->arguments[last], &port, &e);

	if (r == 0 && (r = loop_init(&g.loop)) < 0)
		(void)error_sys(&e, r, "starting");
	if (r == 0)
		r = forwarding_open(&g, last > 0 ? i->arguments[0] : NULL, &port, &e);
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	forwarding_say(&g, &port);
	if (browse)
		forwarding_browse(&g);
	(void)loop_run(&g.loop);
	struct text err = text_open(STDERR_FILENO);

	text_printf(&err, "bawn: the session %s has ended\n", g.session.shown);
	return 0;
}

int verb_forward(const struct invocation *i)
{
	return forward_until_end(i, false);
}

int verb_open(const struct invocation *i)
{
	return forward_until_end(i, true);
}
