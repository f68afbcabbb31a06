/* SPDX-License-Identifier: Apache-2.0 */
/* A process keys without the process: its channels' other ends are ours. */
#ifndef BAWN_TEST_KEYS_WORLD_H
#define BAWN_TEST_KEYS_WORLD_H

#include "fd.h"
#include "keys.h"

#include <sys/socket.h>
#include <unistd.h>

#define KEYS_LIST(array)                        \
	{                                       \
		(array), BAWN_ARRAY_SIZE(array) \
	}
#define KEYS_CANARY "canary-7f3a91c2d4e8"
#define KEYS_AWS_ID "AKIACANARY0000000001"
#define KEYS_AWS_KEY "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define KEYS_AWS_TOKEN "token-canary-1"

static struct plan_ports keys_ports[] = {{443, 443}};
static struct plan_string keys_methods[] = {{"GET"}};
static struct plan_string keys_paths[] = {{"/v1/**"}};
static struct plan_binding keys_api[] = {{.host = "api.example",
					  .ports = KEYS_LIST(keys_ports),
					  .scheme = PLAN_SCHEME_TLS,
					  .methods = KEYS_LIST(keys_methods),
					  .paths = KEYS_LIST(keys_paths)}};
#define KEYS_STS_HOST "sts.north.cloud.example"
static struct plan_binding keys_cloud[] = {
	{.host = "*.cloud.example", .ports = KEYS_LIST(keys_ports), .scheme = PLAN_SCHEME_TLS},
	{.host = KEYS_STS_HOST, .ports = KEYS_LIST(keys_ports), .scheme = PLAN_SCHEME_TLS}};
static struct plan_secret keys_secrets[] = {
	{.name = "plain", .kind = PLAN_SECRET_PLAIN, .bindings = KEYS_LIST(keys_api)},
	{.name = "aws", .kind = PLAN_SECRET_AWS, .bindings = KEYS_LIST(keys_cloud)},
};
static const struct plan keys_plan = {.secrets = KEYS_LIST(keys_secrets)};

struct keys_world {
	struct keys keys;
	int gate, client; /* our ends */
};

/* The CA is made once: it is most of the time that a run takes. */
static inline struct ca *keys_world_ca(void)
{
	static struct ca *ca;
	struct error e = ERROR_INIT;

	if (!ca)
		(void)ca_new(&keys_plan, &ca, &e);
	return ca;
}

static inline void keys_world_init(struct keys_world *w)
{
	int gate[2] = {-1, -1}, client[2] = {-1, -1};

	if (channel_pair(gate) < 0 || channel_pair(client) < 0)
		abort();
	w->gate = gate[0];
	w->client = client[0];
	keys_init(&w->keys, &keys_plan, keys_world_ca(), -1, gate[1], client[1]);
	(void)fd_set_nonblock(gate[0], true);
	(void)fd_set_nonblock(client[0], true);
	(void)fd_set_nonblock(gate[1], true);
	(void)fd_set_nonblock(client[1], true);
	if (loop_init(&w->keys.loop) < 0)
		abort();
}

static inline void keys_world_fini(struct keys_world *w)
{
	keys_fini(&w->keys);
	loop_fini(&w->keys.loop);
	fd_close(&w->keys.gate.fd);
	fd_close(&w->keys.client.fd);
	fd_close(&w->gate);
	fd_close(&w->client);
}

/* What was sent to us: its type, 0 for nothing; *ret_body points into a buffer of its own. */
static inline uint32_t keys_world_receive(int fd, struct span *ret_body)
{
	static uint8_t bytes[4 + CHANNEL_BYTES_MAX];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 4)
		return 0;
	*ret_body = (struct span){bytes + 4, (size_t)n - 4};
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
}

#endif
