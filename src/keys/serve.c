/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the descriptors to the loop.  What is read from files (the plan, the
 * host's authorities) is read first; then the process gives up files for good;
 * only then is a key made or a value received.
 */
#include "keys.h"

#include "fd.h"
#include "message_keys.h"
#include "plan_read.h"
#include "process.h"
#include "profile.h"
#include "trust.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { SERVE_KEEPER = 3, SERVE_PLAN, SERVE_GATE, SERVE_CLIENT, SERVE_AUTHORITIES };

/* The trust files that the plan names, still empty, in the order of their formats. */
struct serve_files {
	int fds[PLAN_TRUST_COUNT];
	enum plan_trust formats[PLAN_TRUST_COUNT];
	size_t count;
};

static int serve_open_files(const struct plan *plan, struct serve_files *files)
{
	for (unsigned int i = 0; i < PLAN_TRUST_COUNT; i++) {
		if (!plan_has_trust(plan, i))
			continue;
		int fd = memfd_create("bawn-trust", MFD_CLOEXEC | MFD_ALLOW_SEALING);

		if (fd < 0)
			return -errno;
		files->formats[files->count] = i;
		files->fds[files->count++] = fd;
	}
	return 0;
}

/* Reads the plan's authorities, one PEM file after the other. */
static int serve_read_authorities(const struct plan *plan, struct buf *into)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->authorities.count; i++) {
		int fd = SERVE_AUTHORITIES + (int)i;

		/* The offset may be anywhere: start at the beginning. */
		if (lseek(fd, 0, SEEK_SET) < 0)
			r = -errno;
		if (r == 0)
			r = fd_read_all(fd, into);
		if (into->len > 0 && into->ptr[into->len - 1] != '\n')
			buf_put_char(into, '\n');
		(void)close(fd);
	}
	return r < 0 ? r : buf_error(into);
}

static int serve_send_files(struct serve_files *files, struct span host, struct span certificate)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	uint64_t now_ms = (uint64_t)time(NULL) * 1000;
	int r = 0;

	for (size_t i = 0; r == 0 && i < files->count; i++) {
		_cleanup_buf_ struct buf bytes = BUF_INIT(TRUST_BYTES_MAX);

		r = trust_write(files->formats[i], host, certificate, now_ms, &bytes);
		if (r == 0)
			r = fd_write_all(files->fds[i], bytes.ptr, bytes.len);
		if (r == 0 && fcntl(files->fds[i], F_ADD_SEALS, seals) < 0)
			r = -errno;
	}
	if (r == 0)
		r = channel_send(SERVE_KEEPER, MESSAGE_TRUST, (struct span){NULL, 0}, files->fds,
				 files->count);
	for (size_t i = 0; i < files->count; i++)
		fd_close(&files->fds[i]);
	return r;
}

static int serve_fail(const struct error *e)
{
	const struct message_failed m = {(uint64_t)(e->code < 0 ? -e->code : EIO), e->text,
					 e->next};

	(void)message_send(SERVE_KEEPER, MESSAGE_FAILED, &message_failed_schema, &m, NULL, 0);
	return 1;
}

/* --- the loop ------------------------------------------------------------------------- */

static int serve_on_keeper(void *context, uint32_t events)
{
	(void)context;
	(void)events;
	return -ECONNRESET; /* the keeper is gone, or sent something, which it never does */
}

static int serve_on_gate(void *context, uint32_t events)
{
	struct error e = ERROR_INIT;
	int r = keys_receive_gate(context, &e);

	(void)events;
	/* The gate is gone or broken: end, and give out nothing more. */
	return r <= 0 && r != -EAGAIN ? -ECONNRESET : 0;
}

static int serve_on_client(void *context, uint32_t events)
{
	struct error e = ERROR_INIT;
	int r = keys_receive_client(context, &e);

	(void)events;
	return r < 0 && r != -EAGAIN ? -ECONNRESET : 0;
}

static int serve_on_timer(void *context, uint32_t events)
{
	struct keys *k = context;
	uint64_t ticks = 0;

	(void)events;
	(void)!read(k->timer, &ticks, sizeof(ticks));
	keys_expire(k, (uint64_t)time(NULL));
	return 0;
}

static int serve_watch(struct keys *k, int timer)
{
	k->timer = timer;
	int r = loop_add(&k->loop, SERVE_KEEPER, EPOLLIN, serve_on_keeper, k, &k->keeper_handle);

	if (r == 0)
		r = loop_add(&k->loop, SERVE_GATE, EPOLLIN, serve_on_gate, k, &k->gate_handle);
	if (r == 0)
		r = loop_add(&k->loop, SERVE_CLIENT, EPOLLIN, serve_on_client, k,
			     &k->client_handle);
	return r < 0 ? r : loop_add(&k->loop, timer, EPOLLIN, serve_on_timer, k, &k->timer_handle);
}

/* Sends AUTHORITY, the first message to the gate. */
static int serve_introduce(const struct ca *a)
{
	const struct message_authority m = {.certificate = ca_certificate(a), .crl = ca_crl(a)};

	return message_send(SERVE_GATE, MESSAGE_AUTHORITY, &message_authority_schema, &m, NULL, 0);
}

static int serve_start(const struct plan *plan, struct serve_files *files, struct span host,
		       struct ca **ret_ca, struct error *e)
{
	int r = ca_new(plan, ret_ca, e);

	if (r < 0)
		return r;
	r = serve_send_files(files, host, ca_certificate(*ret_ca));
	if (r == 0)
		r = serve_introduce(*ret_ca);
	return r < 0 ? error_sys(e, r, "making the trust files") : 0;
}

int keys_run(void)
{
	static struct keys k;
	const struct plan *plan = &plan_none;
	static struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	struct buf host = BUF_INIT(TRUST_BYTES_MAX);
	struct serve_files files = {.count = 0};
	struct ca *ca = NULL;
	struct error e = ERROR_INIT;
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	int r = locked_value_init(&e);

	if (r == 0)
		r = plan_read(SERVE_PLAN, &plan, &arena, &e);
	if (r < 0)
		return serve_fail(&e);
	(void)close(SERVE_PLAN);
	r = serve_read_authorities(plan, &host);
	if (r == 0)
		r = serve_open_files(plan, &files);
	struct loop loop;

	if (r == 0)
		r = timer < 0 ? -errno : loop_init(&loop);
	/* Give up files now, before any secret byte has come. */
	if (r == 0)
		r = process_confine(plan_goes_without(plan, PLAN_LAYER_SECCOMP)
					    ? (struct span){NULL, 0}
					    : profile_bpf(PROFILE_KEYS));
	if (r < 0) {
		(void)error_sys(&e, r, "starting keys");
		return serve_fail(&e);
	}
	if (serve_start(plan, &files, buf_span(&host), &ca, &e) < 0)
		return serve_fail(&e);
	buf_fini(&host);
	keys_init(&k, plan, ca, SERVE_KEEPER, SERVE_GATE, SERVE_CLIENT);
	k.loop = loop;
	if (serve_watch(&k, timer) < 0)
		return 1;
	process_forget_start();
	(void)loop_run(&k.loop);
	keys_fini(&k);
	return 0;
}
