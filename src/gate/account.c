/* SPDX-License-Identifier: Apache-2.0 */
#include "account.h"

#include "fd.h"
#include "fnv.h"
#include "message.h"

enum { ACCOUNT_OPEN };

static const uint64_t ACCOUNT_NEVER = UINT64_MAX;

/* The body of a NOTES. */
struct account_packet {
	struct account_packet *next;
	size_t len;
	uint8_t bytes[ACCOUNT_PACKET];
};

struct account_known {
	struct account_known *next; /* in its bucket */
	uint64_t id, generation, what;
	uint32_t hash;
	uint16_t port;
	char host[];
};

struct account {
	struct channel channel;
	struct loop *loop;
	struct loop_handle handle;
	struct fold *fold;
	struct buf scratch;                  /* a note */
	struct account_packet *first, *last; /* to be sent */
	struct account_packet *spare;
	size_t packets;
	uint64_t dropped;     /* notes that found no place since the last gap note */
	uint64_t id, durable; /* of the last note with a number; of the last that the disk has */
	struct account_wait *waits;
	size_t known_count;
	struct account_known *known[ACCOUNT_DECIDED_BUCKETS];
};

/* --- packets -------------------------------------------------------------------------- */

static struct account_packet *account_new_packet(struct account *a)
{
	struct account_packet *p = a->spare ? TAKE_PTR(a->spare) : malloc(sizeof(*p));

	if (!p)
		return NULL;
	p->next = NULL;
	p->len = 0;
	if (a->last)
		a->last->next = p;
	else
		a->first = p;
	a->last = p;
	a->packets++;
	return p;
}

static bool account_append(struct account *a, const struct note *n)
{
	struct account_packet *p = a->last;

	buf_clear(&a->scratch);
	note_encode(&a->scratch, n);
	if (buf_error(&a->scratch))
		return false;
	if (!p || p->len + a->scratch.len > ACCOUNT_PACKET)
		p = a->packets < ACCOUNT_PACKETS ? account_new_packet(a) : NULL;
	if (!p)
		return false;
	memcpy(p->bytes + p->len, a->scratch.ptr, a->scratch.len);
	p->len += a->scratch.len;
	return true;
}

/* Adds a gap note at the place where notes are missing. */
static bool account_append_gap(struct account *a)
{
	struct note n;

	if (a->dropped == 0)
		return true;
	note_begin(&n, NOTE_GAP, "");
	note_number(&n, NOTE_FIELD_COUNT_OF, a->dropped);
	note_word(&n, NOTE_FIELD_REASON, "the gate had no room for them while the record was slow");
	if (!account_append(a, &n))
		return false;
	a->dropped = 0;
	return true;
}

static bool account_write(struct account *a, const struct note *n)
{
	bool written = account_append_gap(a) && account_append(a, n);

	a->dropped += !written;
	return written;
}

static void account_on_fold(void *context, const struct note *n)
{
	(void)account_write(context, n);
}

static void account_drop_first(struct account *a)
{
	struct account_packet *p = a->first;

	a->first = p->next;
	if (!a->first)
		a->last = NULL;
	a->packets--;
	if (a->spare)
		free(p);
	else
		a->spare = p;
}

bool account_is_out(const struct account *a)
{
	return !a || (!a->first && a->dropped == 0);
}

int account_turn(struct account *a)
{
	bool full = false;

	if (!a)
		return 0;
	while (!full && !account_is_out(a)) {
		/* Something was dropped, and there is room again. */
		if (!a->first && !account_append_gap(a))
			return -ENOMEM;
		int r = channel_send(a->channel.fd, MESSAGE_NOTES,
				     (struct span){a->first->bytes, a->first->len}, NULL, 0);

		if (r < 0 && r != -EAGAIN)
			return r;
		full = r == -EAGAIN;
		if (!full)
			account_drop_first(a);
	}
	loop_hold(a->loop, full);
	return loop_set_events(a->loop, a->handle, full ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* --- notes ---------------------------------------------------------------------------- */

void account_put(struct account *a, const struct note *n, const struct fold_more *more, int64_t now)
{
	static const struct fold_more nothing;

	if (a)
		fold_put(a->fold, n, more ? more : &nothing, now);
}

bool account_again(struct account *a, const struct note *n, const struct fold_more *more)
{
	return a && fold_again(a->fold, n, more);
}

void account_flush(struct account *a)
{
	if (a)
		fold_flush(a->fold);
}

/* --- decisions ------------------------------------------------------------------------ */

static uint32_t account_hash(const struct account_decision *d)
{
	uint32_t h = fnv_mix(fnv_mix(FNV_START, d->port), (uint32_t)d->what);

	return fnv_bytes(h, d->host, strlen(d->host));
}

static struct account_known *account_find(const struct account *a, const struct account_decision *d,
					  uint32_t hash)
{
	struct account_known *k = a->known[hash % ACCOUNT_DECIDED_BUCKETS];

	while (k && (k->hash != hash || k->what != d->what || k->port != d->port ||
		     strcmp(k->host, d->host) != 0))
		k = k->next;
	return k;
}

static void account_forget_all(struct account *a)
{
	for (size_t i = 0; i < ACCOUNT_DECIDED_BUCKETS; i++)
		while (a->known[i]) {
			struct account_known *k = a->known[i];

			a->known[i] = k->next;
			free(k);
		}
	a->known_count = 0;
}

static void account_remember(struct account *a, const struct account_decision *d, uint64_t id)
{
	uint32_t hash = account_hash(d);
	struct account_known *k = account_find(a, d, hash);
	size_t len = strlen(d->host) + 1;

	if (!k && a->known_count == ACCOUNT_DECIDED_MAX)
		account_forget_all(a);
	if (!k) {
		k = malloc(sizeof(*k) + len);
		if (!k)
			return;
		struct account_known **bucket = &a->known[hash % ACCOUNT_DECIDED_BUCKETS];

		*k = (struct account_known){
			.next = *bucket, .what = d->what, .hash = hash, .port = d->port};
		memcpy(k->host, d->host, len);
		*bucket = k;
		a->known_count++;
	}
	k->id = id;
	k->generation = d->generation;
}

uint64_t account_decided(const struct account *a, const struct account_decision *d)
{
	const struct account_known *k = a ? account_find(a, d, account_hash(d)) : NULL;

	return k && k->generation == d->generation ? k->id : 0;
}

uint64_t account_decide(struct account *a, const struct account_decision *d, struct note *n)
{
	if (!a)
		return 0;
	n->m.id = ++a->id;
	/* RECORDED with a number covers all lower ones.  So nobody may wait for a number that
	 * was not sent. */
	if (!account_write(a, n))
		return ACCOUNT_NEVER;
	account_remember(a, d, a->id);
	return a->id;
}

bool account_has(const struct account *a, uint64_t id)
{
	return !a || id <= a->durable;
}

void account_drop(struct account_wait *w)
{
	if (!w->link)
		return;
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	w->next = NULL;
	w->link = NULL;
}

static void account_link(struct account_wait **head, struct account_wait *w)
{
	w->link = head;
	w->next = *head;
	if (w->next)
		w->next->link = &w->next;
	*head = w;
}

void account_wait(struct account *a, struct account_wait *w, uint64_t id, int64_t now,
		  void (*fn)(void *context, bool recorded), void *context)
{
	account_drop(w);
	w->id = id;
	w->until = now + ACCOUNT_WAIT_MS;
	w->fn = fn;
	w->context = context;
	account_link(&a->waits, w);
}

/* Calls those whose note is on the disk, or (recorded is false) whose time is over. */
static void account_tell(struct account *a, bool recorded, int64_t now)
{
	struct account_wait *due = NULL, *next = NULL;

	/* Move them to a list of their own first: a callback may begin a new wait or drop
	 * another's. */
	for (struct account_wait *w = a->waits; w; w = next) {
		next = w->next;
		if (recorded ? w->id > a->durable : now < w->until)
			continue;
		account_drop(w);
		account_link(&due, w);
	}
	while (due) {
		struct account_wait *w = due;

		account_drop(w);
		w->fn(w->context, recorded);
	}
}

bool account_on_time(struct account *a, int64_t now)
{
	if (!a)
		return false;
	account_tell(a, false, now);
	bool folding = fold_on_time(a->fold, now);

	return folding || a->waits;
}

/* --- the channel ---------------------------------------------------------------------- */

static int account_on_recorded(void *context, struct channel_packet *packet, struct error *e)
{
	struct account *a = context;
	struct message_recorded m;
	int r = message_decode(packet->body, &message_recorded_schema, &m, NULL, e);

	if (r < 0)
		return r;
	if (m.id > a->id)
		return error_set(e, -EPROTO, "a note was recorded that was not sent");
	if (m.id > a->durable)
		a->durable = m.id;
	account_tell(a, true, 0);
	return 0;
}

static const struct channel_rule account_rules[] = {
	{MESSAGE_RECORDED, "RECORDED", 16, 0, 0, 1u << ACCOUNT_OPEN, account_on_recorded},
};

static int account_on_channel(void *context, uint32_t events)
{
	struct account *a = context;
	bool speaks = events & (EPOLLIN | EPOLLHUP | EPOLLERR);

	/* No network without a record. */
	return !speaks || channel_serve(&a->channel) ? 0 : -ECONNRESET;
}

struct account *account_new(int fd, struct loop *loop)
{
	struct account *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->loop = loop;
	a->scratch = BUF_INIT(ACCOUNT_PACKET);
	a->channel = (struct channel){.fd = fd,
				      .rules = account_rules,
				      .rule_count = BAWN_ARRAY_SIZE(account_rules),
				      .state = ACCOUNT_OPEN,
				      .context = a};
	a->fold = fold_new(account_on_fold, a);
	if (!a->fold || fd_set_nonblock(fd, true) < 0 ||
	    loop_add(loop, fd, EPOLLIN, account_on_channel, a, &a->handle) < 0 ||
	    loop_keep(loop, a->handle) < 0) {
		account_free(a);
		return NULL;
	}
	return a;
}

void account_free(struct account *a)
{
	if (!a)
		return;
	if (a->handle.generation != 0)
		loop_remove(a->loop, &a->handle);
	while (a->first)
		account_drop_first(a);
	free(a->spare);
	account_forget_all(a);
	fold_free(a->fold);
	buf_fini(&a->scratch);
	free(a);
}
