/* SPDX-License-Identifier: Apache-2.0 */
#include "keyring.h"

#include "fd.h"
#include "message.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEYRING_STARTING, KEYRING_SERVING };
enum { KEYRING_PATIENCE = 20 }; /* seconds, for a machine that is very busy */

static int keyring_on_trust(void *context, struct channel_packet *packet, struct error *e)
{
	struct keyring *k = context;

	(void)e;
	for (size_t i = 0; i < packet->fd_count; i++)
		k->trust[k->trust_count++] = TAKE_FD(packet->fds[i]);
	k->channel.state = KEYRING_SERVING;
	return 0;
}

static int keyring_on_failed(void *context, struct channel_packet *packet, struct error *e)
{
	(void)context;
	return message_take_failed(packet->body, e);
}

static const struct channel_rule keyring_rules[] = {
	{MESSAGE_TRUST, "TRUST", 0, 0, PLAN_TRUST_COUNT, 1u << KEYRING_STARTING, keyring_on_trust},
	{MESSAGE_FAILED, "FAILED", 4096, 0, 0, 1u << KEYRING_STARTING, keyring_on_failed},
};

/* A file of authorities, regular and readable for this user: its descriptor, or -errno. */
static int keyring_open(const char *path, struct error *e)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(e, -errno, "reading the authorities in %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(e, -EINVAL, "%s is no file of authorities", path);
	return TAKE_FD(fd);
}

/* Opens the files once for each of the two readers: a shared open file has one shared offset. */
static int keyring_open_all(const struct plan *plan, int *fds, size_t *count, struct error *e)
{
	for (size_t i = 0; i < plan->authorities.count; i++) {
		fds[*count] = keyring_open(plan->authorities.items[i].text, e);
		if (fds[*count] < 0)
			return fds[*count];
		(*count)++;
	}
	return 0;
}

static void keyring_close(int *fds, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		fd_close(&fds[i]);
	*count = 0;
}

int keyring_start(struct keyring *k, const struct plan *plan, int programs, int plan_fd, int values,
		  struct error *e)
{
	struct make_keys_fds fds = {.plan = plan_fd, .values = values};
	int r = keyring_open_all(plan, k->authorities, &k->authority_count, e);

	if (r == 0)
		r = keyring_open_all(plan, fds.authorities, &fds.authority_count, e);
	if (r == 0)
		r = make_keys(programs, &fds, &k->made, &k->channel.fd, &k->gate, e);
	keyring_close(fds.authorities, &fds.authority_count);
	k->channel.rules = keyring_rules;
	k->channel.rule_count = BAWN_ARRAY_SIZE(keyring_rules);
	k->channel.state = KEYRING_STARTING;
	k->channel.context = k;
	return r;
}

int keyring_meet(struct keyring *k, int gate, struct error *e)
{
	int fds[1 + PLAN_AUTHORITIES_MAX] = {k->gate};

	memcpy(fds + 1, k->authorities, k->authority_count * sizeof(fds[0]));
	int r = channel_send(gate, MESSAGE_KEYS, (struct span){NULL, 0}, fds,
			     1 + k->authority_count);

	fd_close(&k->gate);
	keyring_close(k->authorities, &k->authority_count);
	/* A gate that has ended is no error here: we learn it from its channel. */
	return r < 0 && r != -EPIPE && r != -ECONNRESET
		       ? error_sys(e, r, "making gate and keys known to each other")
		       : 0;
}

int keyring_trust(struct keyring *k, const struct plan *plan, struct error *e)
{
	const struct timespec patience = {.tv_sec = KEYRING_PATIENCE};
	struct pollfd ready = {.fd = k->channel.fd, .events = POLLIN};
	size_t wanted = 0;
	int r = ppoll(&ready, 1, &patience, NULL) > 0 ? channel_receive(&k->channel, e) : -ETIME;

	for (unsigned int i = 0; i < PLAN_TRUST_COUNT; i++)
		wanted += plan_has_trust(plan, i) ? 1 : 0;
	if (r == 0 || r == -ETIME)
		return error_set(e, r == 0 ? -ECONNRESET : r,
				 "keys, which makes the session's certificates, did not start");
	if (r == 1 && k->trust_count != wanted)
		return error_set(e, -EPROTO, "keys made %zu trust files of %zu", k->trust_count,
				 wanted);
	return r < 0 ? r : 0;
}

static int keyring_on_channel(void *context, uint32_t events)
{
	struct keyring *k = context;

	(void)events;
	/* Keys is gone, or sent a message that is not permitted any more. */
	loop_remove(k->loop, &k->handle);
	keyring_end(k);
	k->on_gone(k->context);
	return 0;
}

int keyring_watch(struct keyring *k, struct loop *loop, void (*on_gone)(void *), void *context)
{
	k->loop = loop;
	k->on_gone = on_gone;
	k->context = context;
	keyring_close(k->trust, &k->trust_count); /* the box has them */
	return loop_add(loop, k->channel.fd, EPOLLIN, keyring_on_channel, k, &k->handle);
}

void keyring_end(struct keyring *k)
{
	keyring_close(k->authorities, &k->authority_count);
	keyring_close(k->trust, &k->trust_count);
	fd_close(&k->gate);
	fd_close(&k->channel.fd);
	make_end(&k->made);
}
