/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any messages, in any order, from a gate and a client that are somebody else's.  Nothing
 * crashes; a value goes out only to the gate, only in VALUE, and only when the last question
 * named a place that the plan binds it to; the secret key of AWS never goes out; and an
 * answer's id is one that was asked.
 *
 * Input, again and again: one byte whose lowest bit says who speaks (0 gate, 1 client), one
 * byte type, two bytes length, the body.  A type of 0xff lets time pass instead.
 */
#include "../lib/cut.h"
#include "../unit/keys_world.h"
#include "message_keys.h"
#include "secrets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has(struct span s, const char *text)
{
	return s.len > 0 && memmem(s.ptr, s.len, text, strlen(text)) != NULL;
}

/* What the gate says it wants is a place of this secret, judged anew. */
static bool is_bound(const struct message_release *m)
{
	struct secrets_place at = {.port = (uint16_t)m->port,
				   .scheme = m->scheme,
				   .method = span_of_str(m->method),
				   .path = span_of_str(m->path),
				   .sure = (size_t)m->sure};

	return m->index < BAWN_ARRAY_SIZE(keys_secrets) && m->port <= UINT16_MAX &&
	       name_parse(span_of_str(m->host), &at.host) == 0 &&
	       secrets_refuse(&keys_secrets[m->index], &at) == NULL;
}

struct run {
	struct keys_world world;
	bool bound[BAWN_ARRAY_SIZE(keys_secrets)]; /* asked for at a place of theirs, ever */
};

static void check_gate_hears(struct run *run)
{
	struct span body = {NULL, 0};
	uint32_t type;

	while ((type = keys_world_receive(run->world.gate, &body)) != 0) {
		struct message_value m;
		struct error e = ERROR_INIT;

		CUT_MUST(!has(body, KEYS_AWS_KEY));
		if (type != MESSAGE_VALUE) {
			CUT_MUST(type == MESSAGE_REFUSED || type == MESSAGE_CERTIFICATE ||
				 type == MESSAGE_SIGNATURE);
			CUT_MUST(!has(body, KEYS_CANARY));
			continue;
		}
		CUT_MUST(message_decode(body, &message_value_schema, &m, NULL, &e) == 0);
		CUT_MUST(m.index < BAWN_ARRAY_SIZE(keys_secrets) && run->bound[m.index]);
	}
	while ((type = keys_world_receive(run->world.client, &body)) != 0)
		CUT_MUST(type == MESSAGE_NEED && !has(body, KEYS_CANARY));
}

/* 1 go on; else the conversation has ended. */
static int one_message(struct run *run, bool client, uint8_t type, struct span body)
{
	struct message_release m;
	struct error e = ERROR_INIT;
	int fd = client ? run->world.client : run->world.gate;

	if (type == 0xff) {
		keys_expire(&run->world.keys, UINT64_MAX);
		return 1;
	}
	if (!client && type == MESSAGE_RELEASE &&
	    message_decode(body, &message_release_schema, &m, NULL, &e) == 0 && is_bound(&m))
		run->bound[m.index] = true;
	if (fd < 0 || (client && run->world.keys.client.fd < 0) ||
	    channel_send(fd, type, body, NULL, 0) < 0)
		return 0;
	return client ? keys_receive_client(&run->world.keys, &e)
		      : keys_receive_gate(&run->world.keys, &e);
}

/* Both values are there from the start, so that there is something to be had. */
static void give_values(struct run *run)
{
	static const char *const values[] = {KEYS_CANARY,
					     KEYS_AWS_ID "\n" KEYS_AWS_KEY "\n" KEYS_AWS_TOKEN};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(values); i++) {
		const struct message_value m = {.index = i, .value = span_of_str(values[i])};
		struct error e = ERROR_INIT;

		CUT_MUST(message_send_secret(run->world.client, MESSAGE_VALUE,
					     &message_value_schema, &m) == 0);
		CUT_MUST(keys_receive_client(&run->world.keys, &e) == 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader r = reader_of((struct span){data, size});
	struct run run = {.bound = {false}};
	int going = 1;

	if (size > 8192)
		return 0;
	keys_world_init(&run.world);
	if (size > 0 && data[0] & 2)
		give_values(&run);
	while (going == 1 && reader_left(&r) >= 4) {
		struct span head = reader_take(&r, 4);
		size_t len = (size_t)head.ptr[2] | (size_t)head.ptr[3] << 8;

		len = len < reader_left(&r) ? len : reader_left(&r);
		going = one_message(&run, head.ptr[0] & 1, head.ptr[1], reader_take(&r, len));
		check_gate_hears(&run);
	}
	keys_world_fini(&run.world);
	return 0;
}
