/* SPDX-License-Identifier: Apache-2.0 */
#include "keys.h"

#include "fd.h"
#include "message_keys.h"
#include "secrets.h"
#include "sign.h"
#include "str.h"
#include "tunnel.h"

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { KEYS_SERVING };

static uint64_t keys_now(void)
{
	return (uint64_t)time(NULL);
}

static int keys_refuse(const struct keys *k, uint64_t id, uint64_t index, const char *reason)
{
	const struct message_refused m = {.id = id, .index = index, .reason = reason};

	return message_send(k->gate.fd, MESSAGE_REFUSED, &message_refused_schema, &m, NULL, 0);
}

/* --- questions of the gate ------------------------------------------------------------ */

/* RELEASE and SIGN begin alike; fields that RELEASE lacks are empty. */
static int keys_decode(const struct keys *k, uint32_t type, struct span body,
		       struct message_sign *ret_question, struct error *e)
{
	struct message_release m;
	struct message_login login;
	int r = 0;

	if (type == MESSAGE_LOGIN) {
		r = message_decode(body, &message_login_schema, &login, NULL, e);
		if (r == 0 && !plan_has_login(k->plan))
			r = error_set(e, -EPROTO, "a question for a login that the plan has not");
		if (r == 0)
			*ret_question =
				(struct message_sign){.id = login.id, .index = PLAN_PROXY_LOGIN};
		return r;
	}
	if (type == MESSAGE_SIGN) {
		r = message_decode(body, &message_sign_schema, ret_question, NULL, e);
	} else {
		r = message_decode(body, &message_release_schema, &m, NULL, e);
		if (r == 0)
			*ret_question = (struct message_sign){.id = m.id,
							      .index = m.index,
							      .host = m.host,
							      .port = m.port,
							      .scheme = m.scheme,
							      .method = m.method,
							      .path = m.path,
							      .sure = m.sure};
	}
	if (r < 0)
		return r;
	if (ret_question->index >= k->plan->secrets.count)
		return error_set(e, -EPROTO, "a question about a secret that the plan has not");
	return 0;
}

/* Whether the secret is bound to this very name, not by a wildcard. */
static bool keys_names(const struct plan_secret *secret, const struct name *host)
{
	for (size_t i = 0; i < secret->bindings.count; i++)
		if (str_equal(secret->bindings.items[i].host, host->text))
			return true;
	return false;
}

/* NULL: the plan allows it.  Else why not. */
static const char *keys_judge(const struct keys *k, uint32_t type, const struct message_sign *m)
{
	/* The login is for the gate itself, which sends it only to the proxy. */
	if (type == MESSAGE_LOGIN)
		return NULL;
	const struct plan_secret *secret = &k->plan->secrets.items[m->index];
	struct secrets_place at = {.port = (uint16_t)m->port,
				   .scheme = m->scheme,
				   .method = span_of_str(m->method),
				   .path = span_of_str(m->path),
				   .sure = (size_t)m->sure};

	if (name_parse(span_of_str(m->host), &at.host) < 0 || m->port > UINT16_MAX)
		return "it is bound to names, and this is none";
	const char *why = secrets_refuse(secret, &at);

	if (!why && type == MESSAGE_SIGN && secret->kind != PLAN_SECRET_AWS)
		why = "it signs nothing";
	if (!why && type == MESSAGE_SIGN)
		why = sign_refuse(m, (int64_t)keys_now());
	if (!why && type == MESSAGE_SIGN && sign_gives_keys(m->service, at.host.text) &&
	    !keys_names(secret, &at.host))
		why = "this service answers with new keys, which nobody could take out; to allow "
		      "it, name its host in hosts";
	return why;
}

/* Sends the gate a value, without the part that only signs. */
static int keys_give_one(struct keys *k, const struct message_sign *question,
			 const struct locked_value *value)
{
	bool aws = question->index != PLAN_PROXY_LOGIN &&
		   k->plan->secrets.items[question->index].kind == PLAN_SECRET_AWS;
	struct locked_value shown = {NULL, 0, 0};
	struct message_value m = {.id = question->id,
				  .index = question->index,
				  .expires = value->expires,
				  .formers = k->former_count[question->index],
				  .value = locked_value_span(value)};
	int r = 0;

	if (aws) {
		const struct plan_secret *secret = &k->plan->secrets.items[question->index];
		struct span id = secrets_part(secret, locked_value_span(value), PLAN_SECRET_AWS_ID);
		struct span token =
			secrets_part(secret, locked_value_span(value), PLAN_SECRET_AWS_TOKEN);

		/* As large as the whole value, so that the other parts fit. */
		r = locked_value_set(&shown, locked_value_span(value), 0);
		if (r == 0) {
			memcpy(shown.ptr, id.ptr, id.len);
			memcpy(shown.ptr + id.len, "\n\n", 2);
			memcpy(shown.ptr + id.len + 2, token.ptr, token.len);
			m.value = (struct span){shown.ptr, id.len + 2 + token.len};
		}
	}
	k->given[question->index] = true;
	if (r == 0)
		r = message_send_secret(k->gate.fd, MESSAGE_VALUE, &message_value_schema, &m);
	else
		r = keys_refuse(k, question->id, question->index, "there is no room for it");
	locked_value_wipe(&shown);
	return r;
}

static int keys_give_value(struct keys *k, const struct message_sign *question)
{
	return keys_give_one(k, question, &k->values[question->index]);
}

static int keys_give_signature(const struct keys *k, const struct message_sign *question)
{
	const struct plan_secret *secret = &k->plan->secrets.items[question->index];
	struct span key = secrets_part(secret, locked_value_span(&k->values[question->index]),
				       PLAN_SECRET_AWS_KEY);
	uint8_t signature[SIGN_BYTES];

	if (sign_aws(key, question->date, question->region, question->service, question->text,
		     signature) < 0)
		return keys_refuse(k, question->id, question->index, "it could not be signed");
	const struct message_signature m = {.id = question->id,
					    .signature = {signature, sizeof(signature)}};

	return message_send(k->gate.fd, MESSAGE_SIGNATURE, &message_signature_schema, &m, NULL, 0);
}

/* --- questions that wait -------------------------------------------------------------- */

static int keys_start_clock(const struct keys *k, bool on)
{
	const struct itimerspec tick = {.it_value.tv_sec = on ? 1 : 0,
					.it_interval.tv_sec = on ? 1 : 0};

	return k->timer >= 0 && timerfd_settime(k->timer, 0, &tick, NULL) < 0 ? -errno : 0;
}

static void keys_lose_client(struct keys *k)
{
	loop_remove(&k->loop, &k->client_handle);
	fd_close(&k->client.fd);
}

/* Asks the client for a value, once for all questions that wait for it. */
static int keys_need(struct keys *k, uint64_t index)
{
	const struct message_need m = {.index = index};

	if (k->client.fd < 0)
		return -ENOTCONN;
	if (k->awaited[index])
		return 0;
	int r = message_send(k->client.fd, MESSAGE_NEED, &message_need_schema, &m, NULL, 0);

	k->awaited[index] = r == 0;
	return r;
}

static int keys_wait(struct keys *k, uint32_t type, const struct message_sign *question,
		     struct span body)
{
	struct keys_waiting *free_one = NULL;

	for (size_t i = 0; !free_one && i < KEYS_WAITING_MAX; i++)
		if (k->waiting[i].type == 0)
			free_one = &k->waiting[i];
	uint8_t *copy = free_one ? malloc(body.len) : NULL;

	if (!copy)
		return keys_refuse(k, question->id, question->index,
				   "too many requests wait for its value");
	if (keys_need(k, question->index) < 0) {
		free(copy);
		return keys_refuse(k, question->id, question->index,
				   "its value is not here, and nobody is there to ask for it");
	}
	memcpy(copy, body.ptr, body.len);
	*free_one = (struct keys_waiting){.type = type,
					  .index = question->index,
					  .until = keys_now() + KEYS_PATIENCE,
					  .body = copy,
					  .len = body.len};
	return keys_start_clock(k, true);
}

static int keys_answer(struct keys *k, uint32_t type, struct span body, struct error *e)
{
	struct message_sign m = {.id = 0};
	int r = keys_decode(k, type, body, &m, e);

	if (r < 0)
		return r;
	const char *why = keys_judge(k, type, &m);

	if (why)
		return keys_refuse(k, m.id, m.index, why);
	if (!locked_value_is_good(&k->values[m.index], keys_now()))
		return keys_wait(k, type, &m, body);
	return type == MESSAGE_SIGN ? keys_give_signature(k, &m) : keys_give_value(k, &m);
}

/* Ends a question that waited: answers it with the new value, or refuses it with a reason. */
static int keys_end_waiting(struct keys *k, struct keys_waiting *w, const char *reason)
{
	_cleanup_free_ uint8_t *body = w->body;
	struct span bytes = {body, w->len};
	uint32_t type = w->type;
	struct error e = ERROR_INIT;
	struct message_sign m = {.id = 0};

	*w = (struct keys_waiting){.type = 0};
	if (!reason)
		return keys_answer(k, type, bytes, &e);
	int r = keys_decode(k, type, bytes, &m, &e);

	return r < 0 ? r : keys_refuse(k, m.id, m.index, reason);
}

/* Ends all questions that wait for this secret; UINT64_MAX: for any. */
static int keys_end_all(struct keys *k, uint64_t index, const char *reason)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < KEYS_WAITING_MAX; i++)
		if (k->waiting[i].type != 0 &&
		    (index == UINT64_MAX || k->waiting[i].index == index))
			r = keys_end_waiting(k, &k->waiting[i], reason);
	return r;
}

void keys_expire(struct keys *k, uint64_t now)
{
	bool more = false;

	for (size_t i = 0; i < KEYS_WAITING_MAX; i++) {
		if (k->waiting[i].type != 0 && k->waiting[i].until <= now)
			(void)keys_end_waiting(k, &k->waiting[i], "its value did not come in time");
		more = more || k->waiting[i].type != 0;
	}
	if (!more)
		(void)keys_start_clock(k, false);
}

/* --- the tables ----------------------------------------------------------------------- */

static int keys_on_leaf(void *context, struct channel_packet *packet, struct error *e)
{
	struct keys *k = context;
	struct ca_leaf leaf;
	struct error why = ERROR_INIT;
	struct message_leaf m;
	int r = message_decode(packet->body, &message_leaf_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (ca_leaf(k->ca, m.name, &leaf, &why) < 0)
		return keys_refuse(k, m.id, 0, why.text);
	const struct message_certificate made = {.id = m.id,
						 .certificate = leaf.certificate,
						 .key = leaf.key,
						 .expires = leaf.expires};

	return message_send_secret(k->gate.fd, MESSAGE_CERTIFICATE, &message_certificate_schema,
				   &made);
}

static int keys_on_release(void *context, struct channel_packet *packet, struct error *e)
{
	return keys_answer(context, MESSAGE_RELEASE, packet->body, e);
}

/* The gate has had this value; keys checked the place then.  The value may have expired since. */
static int keys_on_again(void *context, struct channel_packet *packet, struct error *e)
{
	struct keys *k = context;
	struct message_again m;
	int r = message_decode(packet->body, &message_again_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (m.index >= k->plan->secrets.count)
		return error_set(e, -EPROTO, "a question about a secret that the plan has not");
	if (!k->given[m.index] || locked_value_span(&k->values[m.index]).len == 0 ||
	    m.former > k->former_count[m.index])
		return keys_refuse(k, m.id, m.index, "it was not released before");
	return keys_give_one(k, &(struct message_sign){.id = m.id, .index = m.index},
			     m.former == 0 ? &k->values[m.index]
					   : &k->formers[m.index][m.former - 1]);
}

static int keys_on_login(void *context, struct channel_packet *packet, struct error *e)
{
	return keys_answer(context, MESSAGE_LOGIN, packet->body, e);
}

static int keys_on_sign(void *context, struct channel_packet *packet, struct error *e)
{
	return keys_answer(context, MESSAGE_SIGN, packet->body, e);
}

/* The client may only answer what it was asked for. */
static int keys_take_turn(struct keys *k, uint64_t index, struct error *e)
{
	bool there = index < k->plan->secrets.count ||
		     (index == PLAN_PROXY_LOGIN && plan_has_login(k->plan));

	if (!there || !k->awaited[index])
		return error_set(e, -EPROTO, "an answer that nobody asked for");
	k->awaited[index] = false;
	return 0;
}

/* Forgets the oldest earlier value of one secret, or of any if it has none.  False: there is
 * none. */
static bool keys_forget_former(struct keys *k, uint64_t index)
{
	for (size_t i = 0; k->former_count[index] == 0 && i <= PLAN_SECRETS_MAX; i++)
		if (k->former_count[i] > 0)
			index = i;
	if (k->former_count[index] == 0)
		return false;
	locked_value_wipe(&k->formers[index][--k->former_count[index]]);
	return true;
}

/*
 * Replaces a value.  A value that the gate has had may come back in an answer later, so keys
 * keeps up to KEYS_FORMERS_MAX earlier values of a secret, as far as there is room.  The current
 * value comes first.
 */
static int keys_change_value(struct keys *k, const struct message_value *m)
{
	struct locked_value *now = &k->values[m->index], next = {NULL, 0, 0};

	while (locked_value_set(&next, m->value, m->expires) < 0)
		if (!keys_forget_former(k, m->index))
			return -ENOMEM;
	if (k->given[m->index] && now->ptr && !span_equal(locked_value_span(now), m->value)) {
		struct locked_value *formers = k->formers[m->index];

		if (k->former_count[m->index] == KEYS_FORMERS_MAX)
			(void)keys_forget_former(k, m->index);
		memmove(formers + 1, formers, k->former_count[m->index]++ * sizeof(*formers));
		formers[0] = *now;
		*now = (struct locked_value){NULL, 0, 0};
	}
	locked_value_wipe(now);
	*now = next;
	return 0;
}

static int keys_on_value(void *context, struct channel_packet *packet, struct error *e)
{
	struct keys *k = context;
	struct message_value m;
	int r = message_decode(packet->body, &message_value_schema, &m, NULL, e);

	if (r == 0)
		r = keys_take_turn(k, m.index, e);
	if (r < 0)
		return r;
	bool login = m.index == PLAN_PROXY_LOGIN;

	if (login ? !tunnel_login_is_good(m.value)
		  : secrets_check_value(k->plan->secrets.items[m.index].kind, m.value) != NULL)
		return keys_end_all(k, m.index, "its value is none that it can have");
	/* The new value has expired already.  Refuse this question, so that it does not ask for
	 * ever. */
	if (m.expires != 0 && m.expires <= keys_now())
		return keys_end_all(k, m.index, "its value has expired");
	if (keys_change_value(k, &m) < 0)
		return keys_end_all(k, m.index, "there is no room for it");
	return keys_end_all(k, m.index, NULL);
}

static int keys_on_refused(void *context, struct channel_packet *packet, struct error *e)
{
	struct keys *k = context;
	struct message_refused m;
	int r = message_decode(packet->body, &message_refused_schema, &m, NULL, e);

	if (r == 0)
		r = keys_take_turn(k, m.index, e);
	if (r < 0)
		return r;
	return keys_end_all(k, m.index, m.reason);
}

static const struct channel_rule keys_gate_rules[] = {
	{MESSAGE_LEAF, "LEAF", 512, 0, 0, 1u << KEYS_SERVING, keys_on_leaf},
	{MESSAGE_RELEASE, "RELEASE", CHANNEL_BYTES_MAX, 0, 0, 1u << KEYS_SERVING, keys_on_release},
	{MESSAGE_AGAIN, "AGAIN", 64, 0, 0, 1u << KEYS_SERVING, keys_on_again},
	{MESSAGE_LOGIN, "LOGIN", 8, 0, 0, 1u << KEYS_SERVING, keys_on_login},
	{MESSAGE_SIGN, "SIGN", CHANNEL_BYTES_MAX, 0, 0, 1u << KEYS_SERVING, keys_on_sign},
};

static const struct channel_rule keys_client_rules[] = {
	{MESSAGE_VALUE, "VALUE", MESSAGE_VALUE_MAX + 64, 0, 0, 1u << KEYS_SERVING, keys_on_value},
	{MESSAGE_REFUSED, "REFUSED", 1024, 0, 0, 1u << KEYS_SERVING, keys_on_refused},
};

int keys_receive_gate(struct keys *k, struct error *e)
{
	return channel_receive(&k->gate, e);
}

int keys_receive_client(struct keys *k, struct error *e)
{
	int r = channel_receive(&k->client, e);

	/* Without a client keys cannot ask for values; those that it has stay in use. */
	if (r == 0) {
		keys_lose_client(k);
		r = keys_end_all(k, UINT64_MAX,
				 "its value is not here, and nobody is there to ask for it");
	}
	return r;
}

void keys_init(struct keys *k, const struct plan *plan, struct ca *ca, int keeper, int gate,
	       int client)
{
	memset(k, 0, sizeof(*k));
	k->timer = -1;
	k->plan = plan;
	k->ca = ca;
	/* The keeper sends no messages, so the table is empty. */
	k->keeper = (struct channel){.fd = keeper, .state = KEYS_SERVING, .context = k};
	k->gate = (struct channel){.fd = gate,
				   .rules = keys_gate_rules,
				   .rule_count = BAWN_ARRAY_SIZE(keys_gate_rules),
				   .state = KEYS_SERVING,
				   .context = k};
	k->client = (struct channel){.fd = client,
				     .rules = keys_client_rules,
				     .rule_count = BAWN_ARRAY_SIZE(keys_client_rules),
				     .state = KEYS_SERVING,
				     .context = k,
				     .secret = true};
	for (size_t i = 0; i < plan->secrets.count; i++)
		k->awaited[i] = true;
	k->awaited[PLAN_PROXY_LOGIN] = plan_has_login(plan);
}

void keys_fini(struct keys *k)
{
	for (size_t i = 0; i <= PLAN_SECRETS_MAX; i++) {
		locked_value_wipe(&k->values[i]);
		while (k->former_count[i] > 0)
			(void)keys_forget_former(k, i);
	}
	for (size_t i = 0; i < KEYS_WAITING_MAX; i++)
		free(k->waiting[i].body);
}
