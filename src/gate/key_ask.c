/* SPDX-License-Identifier: Apache-2.0 */
#include "key_ask.h"

#include "clock.h"
#include "fd.h"

#include <stdio.h>
#include <time.h>

enum {
	KEY_ASK_CRL_MAX = 64 << 10,
	KEY_ASK_AUTHORITIES_MAX = 8 << 20, /* bytes of PEM */
	KEY_ASK_LEAF_SPARE = 3600, /* seconds before its end when a leaf is not used any more */
};

static const char key_ask_gone[] = "the process that keeps the keys is gone";

/* --- questions ------------------------------------------------------------------------ */

void key_ask_drop(struct key_ask *a)
{
	if (a->id == 0)
		return;
	*a->link = a->next;
	if (a->next)
		a->next->link = a->link;
	a->id = 0;
}

static void key_ask_tell(struct key_ask *a, const struct key_ask_answer *answer)
{
	key_ask_fn fn = a->fn;
	void *context = a->context;

	key_ask_drop(a);
	fn(context, answer);
}

static struct key_ask *key_ask_find(struct key_ask_link *l, uint64_t id)
{
	struct key_ask *a = l->asked;

	while (a && a->id != id)
		a = a->next;
	return id != 0 ? a : NULL;
}

static void key_ask_put(struct key_ask_link *l, struct key_ask *a, key_ask_fn fn, void *context)
{
	key_ask_drop(a);
	a->id = ++l->next_id;
	a->fn = fn;
	a->context = context;
	a->link = &l->asked;
	a->next = l->asked;
	if (a->next)
		a->next->link = &a->next;
	l->asked = a;
}

static void key_ask_send(struct key_ask_link *l, struct key_ask *a, enum message_type type,
			 const struct schema *schema, const void *message)
{
	const struct key_ask_answer refused = {.refused = l->channel.fd < 0 ? key_ask_gone
									    : "keys is too busy"};

	if (l->channel.fd < 0 || message_send(l->channel.fd, type, schema, message, NULL, 0) < 0)
		key_ask_tell(a, &refused);
}

const struct tls_leaf *key_ask_cached(struct key_ask_link *l, const char *name)
{
	uint64_t now = (uint64_t)clock_s(CLOCK_REALTIME);

	for (size_t i = 0; i < l->leaf_count; i++)
		if (strcmp(l->leaves[i].name, name) == 0 && now < l->leaves[i].expires)
			return l->leaves[i].leaf;
	return NULL;
}

void key_ask_leaf(struct key_ask_link *l, struct key_ask *a, const char *name, key_ask_fn fn,
		  void *context)
{
	key_ask_put(l, a, fn, context);
	(void)snprintf(a->name, sizeof(a->name), "%s", name);
	const struct message_leaf m = {.id = a->id, .name = a->name};

	key_ask_send(l, a, MESSAGE_LEAF, &message_leaf_schema, &m);
}

void key_ask_release(struct key_ask_link *l, struct key_ask *a, struct message_release *m,
		     key_ask_fn fn, void *context)
{
	key_ask_put(l, a, fn, context);
	m->id = a->id;
	key_ask_send(l, a, MESSAGE_RELEASE, &message_release_schema, m);
}

void key_ask_again(struct key_ask_link *l, struct key_ask *a, uint64_t index, uint64_t former,
		   key_ask_fn fn, void *context)
{
	key_ask_put(l, a, fn, context);
	const struct message_again m = {.id = a->id, .index = index, .former = former};

	key_ask_send(l, a, MESSAGE_AGAIN, &message_again_schema, &m);
}

void key_ask_sign(struct key_ask_link *l, struct key_ask *a, struct message_sign *m, key_ask_fn fn,
		  void *context)
{
	key_ask_put(l, a, fn, context);
	m->id = a->id;
	key_ask_send(l, a, MESSAGE_SIGN, &message_sign_schema, m);
}

void key_ask_login(struct key_ask_link *l, struct key_ask *a, key_ask_fn fn, void *context)
{
	key_ask_put(l, a, fn, context);
	const struct message_login m = {.id = a->id};

	key_ask_send(l, a, MESSAGE_LOGIN, &message_login_schema, &m);
}

/* --- answers -------------------------------------------------------------------------- */

static int key_ask_on_authority(void *context, struct channel_packet *packet, struct error *e)
{
	struct key_ask_link *l = context;
	struct message_authority m;
	int r = message_decode(packet->body, &message_authority_schema, &m, NULL, e);

	if (r < 0)
		return r;
	buf_clear(&l->crl);
	buf_put(&l->crl, m.crl.ptr, m.crl.len);
	return buf_error(&l->crl);
}

/* An answer that nobody waits for is no error: the asker has gone. */
static int key_ask_on_certificate(void *context, struct channel_packet *packet, struct error *e)
{
	struct key_ask_link *l = context;
	struct message_certificate m;
	int r = message_decode(packet->body, &message_certificate_schema, &m, NULL, e);
	struct key_ask *a = r == 0 ? key_ask_find(l, m.id) : NULL;

	if (r < 0 || !a)
		return r;
	struct tls_leaf *leaf = tls_leaf_new(m.certificate, m.key);

	if (!leaf)
		return error_set(e, -EPROTO, "a leaf that is none");
	size_t at =
		l->leaf_count < KEY_ASK_LEAVES ? l->leaf_count++ : l->next_leaf++ % KEY_ASK_LEAVES;
	struct key_ask_leaf *kept = &l->leaves[at];

	tls_leaf_free(kept->leaf);
	kept->leaf = leaf;
	kept->expires = m.expires > KEY_ASK_LEAF_SPARE ? m.expires - KEY_ASK_LEAF_SPARE : 0;
	(void)snprintf(kept->name, sizeof(kept->name), "%s", a->name);
	key_ask_tell(a, &(struct key_ask_answer){.leaf = leaf});
	return 0;
}

static int key_ask_on_value(void *context, struct channel_packet *packet, struct error *e)
{
	struct message_value m;
	int r = message_decode(packet->body, &message_value_schema, &m, NULL, e);
	struct key_ask *a = r == 0 ? key_ask_find(context, m.id) : NULL;

	if (a)
		key_ask_tell(a, &(struct key_ask_answer){.value = &m});
	return r;
}

static int key_ask_on_signature(void *context, struct channel_packet *packet, struct error *e)
{
	struct message_signature m;
	int r = message_decode(packet->body, &message_signature_schema, &m, NULL, e);
	struct key_ask *a = r == 0 ? key_ask_find(context, m.id) : NULL;

	if (a)
		key_ask_tell(a, &(struct key_ask_answer){.signature = m.signature});
	return r;
}

static int key_ask_on_refused(void *context, struct channel_packet *packet, struct error *e)
{
	struct message_refused m;
	int r = message_decode(packet->body, &message_refused_schema, &m, NULL, e);
	struct key_ask *a = r == 0 ? key_ask_find(context, m.id) : NULL;

	if (a)
		key_ask_tell(a, &(struct key_ask_answer){.refused = m.reason});
	return r;
}

enum { KEY_ASK_OPEN };

static const struct channel_rule key_ask_rules[] = {
	{MESSAGE_AUTHORITY, "AUTHORITY", CHANNEL_BYTES_MAX, 0, 0, 1u << KEY_ASK_OPEN,
	 key_ask_on_authority},
	{MESSAGE_CERTIFICATE, "CERTIFICATE", 16 << 10, 0, 0, 1u << KEY_ASK_OPEN,
	 key_ask_on_certificate},
	{MESSAGE_VALUE, "VALUE", MESSAGE_VALUE_MAX + 64, 0, 0, 1u << KEY_ASK_OPEN,
	 key_ask_on_value},
	{MESSAGE_SIGNATURE, "SIGNATURE", 256, 0, 0, 1u << KEY_ASK_OPEN, key_ask_on_signature},
	{MESSAGE_REFUSED, "REFUSED", 1024, 0, 0, 1u << KEY_ASK_OPEN, key_ask_on_refused},
};

static int key_ask_on_channel(void *context, uint32_t events)
{
	struct key_ask_link *l = context;

	(void)events;
	if (channel_serve(&l->channel))
		return 0;
	/* Keys is gone: refuse all that needs it.  The leaves that we have serve to answer so. */
	loop_remove(l->loop, &l->handle);
	fd_close(&l->channel.fd);
	while (l->asked)
		key_ask_tell(l->asked, &(struct key_ask_answer){.refused = key_ask_gone});
	return 0;
}

int key_ask_open(struct key_ask_link *l, struct loop *loop, int *fds, size_t count)
{
	if (l->channel.fd >= 0 || count == 0 || count - 1 > PLAN_AUTHORITIES_MAX)
		return -EPROTO;
	l->loop = loop;
	l->crl = BUF_INIT(KEY_ASK_CRL_MAX);
	l->channel = (struct channel){.fd = TAKE_FD(fds[0]),
				      .rules = key_ask_rules,
				      .rule_count = BAWN_ARRAY_SIZE(key_ask_rules),
				      .state = KEY_ASK_OPEN,
				      .secret = true,
				      .context = l};
	for (size_t i = 1; i < count; i++)
		l->authorities[l->authority_count++] = TAKE_FD(fds[i]);
	int r = fd_set_nonblock(l->channel.fd, true);

	return r < 0 ? r
		     : loop_add(loop, l->channel.fd, EPOLLIN, key_ask_on_channel, l, &l->handle);
}

/* --- what all TLS shares -------------------------------------------------------------- */

struct tls_world *key_ask_world(struct key_ask_link *l)
{
	struct buf pem[PLAN_AUTHORITIES_MAX];
	struct span all[PLAN_AUTHORITIES_MAX];

	if (l->world)
		return l->world;
	for (size_t i = 0; i < l->authority_count; i++) {
		pem[i] = BUF_INIT(KEY_ASK_AUTHORITIES_MAX);
		(void)fd_read_all(l->authorities[i], &pem[i]);
		fd_close(&l->authorities[i]);
		all[i] = buf_span(&pem[i]);
	}
	(void)tls_world_new(all, l->authority_count, &l->world);
	for (size_t i = 0; i < l->authority_count; i++)
		buf_fini(&pem[i]);
	l->authority_count = 0;
	return l->world;
}
