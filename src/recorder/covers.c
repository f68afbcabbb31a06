/* SPDX-License-Identifier: Apache-2.0 */
#include "covers.h"

#include "channel.h"
#include "fd.h"
#include "inotify_limit.h"
#include "str.h"

#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COVERS_PATIENCE_MS = 20000, COVERS_BYTES = 16 << 10 };

/* --- which covers there are ----------------------------------------------------------- */

static bool covers_is_bare(const struct plan_mount *m)
{
	return m->kind == PLAN_MOUNT_BIND && !plan_mount_has_layers(m);
}

/* Whether mount m takes away something that the folder around it gives. */
static bool covers_is_cover(const struct plan_mount *m, const struct plan_mount *above)
{
	if (above && plan_mount_has_layers(above))
		return m->kind == PLAN_MOUNT_HIDE;
	if (!above || !covers_is_bare(above))
		return false;
	return m->kind == PLAN_MOUNT_HIDE ||
	       (covers_is_bare(m) && (str_equal(m->role, "held") || str_equal(m->role, "fixed") ||
				      m->access < above->access));
}

/* A cover in what m shows.  We look it up from the first mount on the way, whose place the host
 * cannot change. */
static struct cover covers_in(const struct plan *plan, const struct plan_mount *m,
			      const char *target, enum cover_kind kind)
{
	const struct plan_mount *at = m;

	while (at && covers_is_bare(at)) {
		m = at;
		at = plan_mount_above(plan, m);
	}
	return (struct cover){.target = target,
			      .from = m,
			      .base = strlen(m->target),
			      .layered = plan_mount_has_layers(m),
			      .kind = kind};
}

static struct cover *covers_at(const struct covers *c, const char *target)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].target && str_equal(c->items[i].target, target))
			return &c->items[i];
	return NULL;
}

static int covers_find(struct covers *c, const struct plan *plan)
{
	c->items = calloc(plan->mounts.count + plan->direct_late.count + COVERS_ALSO_MAX,
			  sizeof(*c->items));
	if (!c->items)
		return -ENOMEM;
	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];
		const struct plan_mount *above = plan_mount_above(plan, m);

		if (!covers_is_cover(m, above))
			continue;
		struct cover *same = covers_at(c, m->target);

		if (!same)
			same = &c->items[c->count++];
		/* Of two mounts at one place the box sees the later. */
		*same = covers_in(plan, above, m->target,
				  m->kind == PLAN_MOUNT_HIDE       ? COVER_HIDE
				  : m->access == PLAN_ACCESS_WRITE ? COVER_WRITE
								   : COVER_READ);
	}
	return 0;
}

/* Memory that we share with the child. */
static void *covers_share(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int covers_find_late(struct covers *c, const struct plan *plan)
{
	const struct plan_mount *work = plan_mount_of(plan, "workspace");

	for (size_t i = 0; work && covers_is_bare(work) && i < plan->direct_late.count; i++) {
		const char *target = plan->direct_late.items[i].text;
		const char *name = strrchr(target, '/');

		if (!str_path_beneath(target, work->target) || covers_at(c, target) || !name)
			continue;
		c->items[c->count] = covers_in(plan, work, target,
					       str_equal(name, "/.git") ? COVER_WRITE : COVER_READ);
		c->items[c->count++].late = true;
	}
	c->planned = c->count;
	if (c->count == 0)
		return 0;
	c->own = covers_share(c->count * sizeof(*c->own));
	c->also = covers_share(COVERS_ALSO_MAX * sizeof(*c->also));
	return c->own && c->also ? 0 : -ENOMEM;
}

const struct cover *covers_over(const struct covers *c, const char *path)
{
	const struct cover *over = NULL;

	for (size_t i = 0; i < c->count; i++)
		if (str_path_beneath(path, c->items[i].target) &&
		    (!over || strlen(c->items[i].target) >= strlen(over->target)))
			over = &c->items[i];
	return over;
}

const struct plan_mount *covers_shown_by(const struct covers *c, const char *path)
{
	const struct plan_mount *by = NULL;

	for (size_t i = 0; i < c->plan->mounts.count; i++) {
		const struct plan_mount *m = &c->plan->mounts.items[i];

		if (str_path_beneath(path, m->target) &&
		    (!by || strlen(m->target) >= strlen(by->target)))
			by = m;
	}
	return by;
}

int covers_also(struct covers *c)
{
	size_t slot = c->count - c->planned;

	if (slot >= COVERS_ALSO_MAX)
		return -E2BIG;
	c->also[slot][PATH_MAX - 1] = '\0';
	const struct plan_mount *by = covers_shown_by(c, c->also[slot]);

	if (!by)
		return -ENOENT;
	c->items[c->count++] = covers_in(c->plan, by, c->also[slot], COVER_HIDE);
	return 0;
}

/* --- the child ------------------------------------------------------------------------ */

static int covers_on_report(void *context, struct channel_packet *packet, struct error *e)
{
	struct covers *c = context;
	struct covers_report report;

	if (packet->body.len != sizeof(report))
		return error_set(e, -EPROTO, "this is not a report");
	memcpy(&report, packet->body.ptr, sizeof(report));
	report.name[sizeof(report.name) - 1] = '\0';
	if (report.word == COVERS_ALSO && (report.index != c->count || covers_also(c) < 0))
		return error_set(e, -EPROTO, "a report without a name");
	if (report.index >= c->count && report.word > COVERS_SYNCED)
		return error_set(e, -EPROTO, "a report about an unknown cover");
	switch ((enum covers_word)report.word) {
	case COVERS_READY:
		c->ready = true;
		return 0;
	case COVERS_FAILED:
		return error_sys(e, report.error ? report.error : -EPROTO,
				 "keeping %s covered while programs outside change it",
				 c->items[report.index < c->count ? report.index : 0].target);
	case COVERS_SYNCED:
		c->answered = report.index;
		return 0;
	case COVERS_ALSO:
	case COVERS_PUT:
	case COVERS_HELD:
	case COVERS_LOST:
		return c->to.report(c->to.context, &report);
	}
	return error_set(e, -EPROTO, "this is not a report");
}

/* 1: a report came.  0: the child is gone.  -EAGAIN: none yet.  Or another -errno with a
 * sentence. */
static int covers_receive(struct covers *c, struct error *e)
{
	static const struct channel_rule rules[] = {
		{COVERS_REPORT, "REPORT", sizeof(struct covers_report), 0, 0, 1u << 0,
		 covers_on_report},
	};
	struct channel channel = {.fd = c->channel, .rules = rules, .rule_count = 1, .context = c};

	return channel_receive(&channel, e);
}

/* Reads a report.  When the child is gone nobody keeps the covers: the box has to end. */
static int covers_on_channel(void *context, uint32_t events)
{
	struct covers *c = context;
	struct error e = ERROR_INIT;
	int r = covers_receive(c, &e);
	const struct covers_report lost = {.word = COVERS_FAILED, .error = r < 0 ? r : -EPIPE};

	(void)events;
	if (r > 0 || r == -EAGAIN)
		return 0;
	loop_remove(c->to.loop, &c->handle);
	return c->to.report(c->to.context, &lost);
}

static int covers_fork(struct covers *c, struct error *e)
{
	/* Opened outside: it counts towards the user's limit, and not towards the box's. */
	_cleanup_fd_ int events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	int ends[2];

	c->heard = events < 0 ? -1 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (c->heard < 0) {
		(void)error_sys(e, -errno, "listening to the folders of %s", c->items[0].target);
		error_next(e,
			   "What is hidden or protected there could not be kept so. End a "
			   "session or another program that listens to files. " INOTIFY_LIMIT_NEXT);
		return e->code;
	}
	int r = channel_pair(ends);

	if (r < 0)
		return error_sys(e, r, "keeping covers on");
	c->pid = fork();
	if (c->pid == 0) {
		if (c->to.forget)
			c->to.forget(c->to.context);
		covers_keep(c, ends[1], events);
	}
	r = c->pid < 0 ? -errno : 0;
	c->pidfd = r < 0 ? -1 : (int)syscall(SYS_pidfd_open, c->pid, 0);
	(void)close(ends[1]);
	c->channel = ends[0];
	/* covers_sync may have read what the loop tells us about. */
	if (r == 0)
		r = fd_set_nonblock(c->channel, true);
	if (r == 0)
		r = loop_add(c->to.loop, c->channel, EPOLLIN, covers_on_channel, c, &c->handle);
	return r < 0 ? error_sys(e, r, "keeping covers on") : 0;
}

int covers_start(struct covers *c, const struct plan *plan, const struct covers_to *to,
		 struct error *e)
{
	*c = COVERS_INIT;
	c->to = *to;
	c->plan = plan;
	c->unfiltered = plan_goes_without(plan, PLAN_LAYER_SECCOMP);
	int r = covers_find(c, plan);

	if (r == 0)
		r = covers_find_late(c, plan);
	if (r < 0)
		return error_sys(e, r, "keeping covers on");
	return c->count > 0 ? covers_fork(c, e) : 0;
}

int covers_enter(struct covers *c, pid_t first)
{
	if (c->channel < 0 || c->entered)
		return 0;
	c->entered = true;
	return channel_if_there(channel_send(c->channel, COVERS_ENTER,
					     (struct span){(const uint8_t *)&first, sizeof(first)},
					     NULL, 0));
}

bool cover_is_about(const struct cover *c, const struct inotify_event *event)
{
	size_t len = event->len ? strlen(event->name) : 0;

	if (event->mask & IN_Q_OVERFLOW)
		return true;
	for (const char *at = c->target + c->base; len > 0 && *at == '/';) {
		size_t n = strcspn(at + 1, "/");

		if (n == len && memcmp(at + 1, event->name, n) == 0)
			return true;
		at += 1 + n;
	}
	return false;
}

static bool covers_has_heard(const struct covers *c)
{
	static _Alignas(struct inotify_event) char bytes[COVERS_BYTES];
	bool about = false;
	ssize_t n;

	while ((n = read(c->heard, bytes, sizeof(bytes))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(bytes + at);

			at += (ssize_t)(sizeof(*event) + event->len);
			about |= event->mask & COVERS_OBJECT;
			for (size_t i = 0; !about && i < c->count; i++)
				about = cover_is_about(&c->items[i], event);
		}
	return about;
}

int covers_sync(struct covers *c)
{
	struct pollfd answer = {.fd = c->channel, .events = POLLIN};
	const uint32_t id = c->asked + 1;
	struct error e = ERROR_INIT;

	if (c->channel < 0 || !c->ready || !covers_has_heard(c))
		return 0;
	int r = channel_send(c->channel, COVERS_SYNC,
			     (struct span){(const uint8_t *)&id, sizeof(id)}, NULL, 0);

	for (c->asked = id; r >= 0 && c->answered != id;) {
		if (poll(&answer, 1, COVERS_PATIENCE_MS) <= 0)
			return -ETIMEDOUT;
		r = covers_receive(c, &e);
		r = r == 0 ? -EPIPE : r == -EAGAIN ? 1 : r;
	}
	return r < 0 ? r : 0;
}

int covers_look(struct covers *c, size_t index)
{
	const uint32_t number = (uint32_t)index;

	if (c->channel < 0 || !c->ready)
		return 0;
	return channel_if_there(
		channel_send(c->channel, COVERS_LOOK,
			     (struct span){(const uint8_t *)&number, sizeof(number)}, NULL, 0));
}

int covers_wait(struct covers *c, struct error *e)
{
	struct pollfd answer = {.fd = c->channel, .events = POLLIN};
	int r = 1;

	while (c->channel >= 0 && !c->ready && r > 0) {
		if (poll(&answer, 1, COVERS_PATIENCE_MS) <= 0)
			return error_set(e, -ETIMEDOUT,
					 "the process that covers hidden and protected files does "
					 "not answer");
		r = covers_receive(c, e);
		r = r == -EAGAIN ? 1 : r;
	}
	if (r < 0)
		error_next(e,
			   "Without it the box does not start. It is needed only when something is "
			   "hidden, and with --direct, --read or --write.");
	return r < 0    ? r
	       : r == 0 ? error_set(e, -EPIPE,
				    "the process that covers hidden and protected files has ended")
			: 0;
}

void covers_end(struct covers *c)
{
	if (c->channel >= 0)
		loop_remove(c->to.loop, &c->handle);
	fd_close(&c->channel);
	fd_close(&c->heard);
	if (c->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
	if (c->pid > 0)
		(void)waitpid(c->pid, NULL, 0);
	fd_close(&c->pidfd);
	c->pid = 0;
	if (c->own)
		(void)munmap(c->own, c->planned * sizeof(*c->own));
	if (c->also)
		(void)munmap(c->also, COVERS_ALSO_MAX * sizeof(*c->also));
	c->own = NULL;
	c->also = NULL;
	free(c->items);
	c->items = NULL;
	c->count = 0;
}
