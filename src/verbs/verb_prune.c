/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn prune`: removes what bawn keeps, by the user's rule for how long and how much (`keep` of
 * config.yaml, or --older-than and --keep-size).  A size becomes an age as well: the age of the
 * oldest item that may stay.  Everything that may go (prune.h) and is older goes, of any kind.
 */
#include "bawn_verbs.h"
#include "elsewhere.h"
#include "fd.h"
#include "home_store.h"
#include "host.h"
#include "json.h"
#include "prepare.h"
#include "prompt.h"
#include "prune.h"
#include "room.h"
#include "text.h"
#include "verbs.h"
#include "words.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PRUNE_ARENA_MAX = 8 << 20, PRUNE_OUT_MAX = 4 << 20, PRUNE_DAY = 86400 };

/* The words for one and for many of each kind. */
static const char *const prune_words[PRUNE_KIND_COUNT][2] = {
	[PRUNE_APPLY] = {"apply that could be undone", "applies that could be undone"},
	[PRUNE_DIRECT] = {"direct session that could be undone",
			  "direct sessions that could be undone"},
	[PRUNE_SNAPSHOT] = {"snapshot that bawn made", "snapshots that bawn made"},
	[PRUNE_RECORD] = {"record", "records"},
};
static const char *const prune_keys[PRUNE_KIND_COUNT] = {
	[PRUNE_APPLY] = "applies",
	[PRUNE_DIRECT] = "direct",
	[PRUNE_SNAPSHOT] = "snapshots",
	[PRUNE_RECORD] = "records",
};

struct prune_verb {
	const struct invocation *i;
	struct arena arena;
	struct host host;
	struct text out;
	struct prompt prompt;
	struct prune_list list;
	bool has_age, has_size, done;
	uint64_t age, size; /* seconds, bytes */
	const char *origin; /* where the rule comes from */
	int64_t now, before;
	int64_t day;    /* what is older goes for its age, the rest before `before` for its size */
	uint64_t total; /* all bytes that bawn keeps */
	struct {
		size_t count;
		uint64_t bytes;
	} goes[PRUNE_KIND_COUNT];
	uint64_t freed;
	struct error e;
};

/* --- the rule ----------------------------------------------------------------------------- */

/* Reads the rule: the options, or else the user's file. */
static int prune_read_rule(struct prune_verb *p)
{
	struct prepare_keep keep;
	int r = invocation_amount(p->i, OPTION_OLDER_THAN, AMOUNT_AGE, &p->has_age, &p->age, &p->e);

	if (r == 0)
		r = invocation_amount(p->i, OPTION_KEEP_SIZE, AMOUNT_SIZE, &p->has_size, &p->size,
				      &p->e);
	p->origin = "the command line";
	if (r < 0 || p->has_age || p->has_size)
		return r;
	r = prepare_keep(&p->arena, &keep, &p->e);
	if (r < 0)
		return r;
	p->has_age = keep.days.set;
	p->age = keep.days.value * PRUNE_DAY;
	p->has_size = keep.size.set;
	p->size = keep.size.value;
	p->origin = p->has_age ? keep.days.origin : p->has_size ? keep.size.origin : "";
	if (p->has_age || p->has_size)
		return 0;
	r = error_set(&p->e, -EINVAL, "nothing says how long, or how much, bawn shall keep");
	error_next(&p->e,
		   "Put 'keep:' with 'days: 90' or 'size: 10G' beneath it into %s, or say "
		   "--older-than 90d or --keep-size 10G.",
		   keep.config);
	return r;
}

/* --- what goes ---------------------------------------------------------------------------- */

static int prune_by_age(const void *a, const void *b)
{
	const struct prune_item *x = a, *y = b;

	return x->when < y->when ? -1 : x->when > y->when;
}

/* bawn keeps more than it may: the oldest go until it does not. */
static void prune_fit(struct prune_verb *p)
{
	uint64_t left = p->total;

	for (size_t i = 0; i < p->list.count; i++) {
		const struct prune_item *item = &p->list.items[i];

		if (left <= p->size)
			break;
		left -= item->bytes < left ? item->bytes : left;
		if (item->when + 1 > p->before)
			p->before = item->when + 1;
	}
}

static int prune_choose(struct prune_verb *p, int state)
{
	int r = prune_look(state, p->host.state_dir, p->before, &p->list, &p->e);

	if (r < 0)
		return r;
	if (p->list.count > 1)
		qsort(p->list.items, p->list.count, sizeof(*p->list.items), prune_by_age);
	return 0;
}

static void prune_count(struct prune_verb *p)
{
	for (size_t i = 0; i < p->list.count && p->list.items[i].when < p->before; i++) {
		const struct prune_item *item = &p->list.items[i];

		p->goes[item->kind].count++;
		p->goes[item->kind].bytes += item->bytes;
		p->freed += item->bytes;
	}
}

static int prune_find(struct prune_verb *p, int state)
{
	p->day = p->before = p->has_age && p->age < (uint64_t)p->now ? p->now - (int64_t)p->age : 0;
	int r = prune_choose(p, state);

	if (r < 0)
		return r;
	p->total = room_beneath(openat(state, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (p->has_size)
		prune_fit(p);
	/* If a direct session goes, its record may go, too. */
	if (p->before != p->day) {
		prune_list_fini(&p->list);
		r = prune_choose(p, state);
	}
	if (r == 0)
		prune_count(p);
	return r;
}

/* --- words -------------------------------------------------------------------------------- */

static void prune_show(const struct prune_verb *p)
{
	_cleanup_buf_ struct buf out = BUF_INIT(PRUNE_OUT_MAX);

	buf_put_str(&out, "bawn keeps ");
	room_put_size(&out, p->total);
	buf_put_str(&out, ".");
	if (p->freed > 0 || p->list.count > 0) {
		buf_put_str(&out, " Older than ");
		words_when(&out, p->before, false);
		buf_put_str(&out, ", by ");
		text_escape(&out, span_of_str(p->origin));
		buf_put_str(&out, ":");
	}
	buf_put_char(&out, '\n');
	bool any = false;

	for (size_t k = 0; k < PRUNE_KIND_COUNT; k++) {
		if (p->goes[k].count == 0)
			continue;
		any = true;
		buf_putf(&out, "  %zu %s, ", p->goes[k].count,
			 prune_words[k][p->goes[k].count != 1]);
		room_put_size(&out, p->goes[k].bytes);
		buf_put_char(&out, '\n');
	}
	if (!any)
		buf_put_str(&out, "  nothing that may go\n");
	if (p->list.waiting || p->list.running)
		buf_putf(&out, "What waits (%zu) and what runs (%zu) stays, with its records.\n",
			 p->list.waiting, p->list.running);
	/* What is afar (afar.h) is counted in what goes, and not in the total. */
	uint64_t left = p->total - (p->freed < p->total ? p->freed : p->total);

	if (p->has_size && left > p->size) {
		buf_put_str(&out, "That leaves ");
		room_put_size(&out, left);
		buf_put_str(&out, ": the rest is what waits, runs or has a name, and private "
				  "homes.\n");
	}
	text_write(&p->out, &out);
}

static void prune_json(const struct prune_verb *p)
{
	_cleanup_buf_ struct buf out = BUF_INIT(PRUNE_OUT_MAX);
	struct json j = JSON_INIT(&out, true);

	json_open(&j, '{');
	json_key_u64(&j, "kept", p->total);
	json_key_u64(&j, "before", (uint64_t)p->before);
	for (size_t k = 0; k < PRUNE_KIND_COUNT; k++) {
		json_key(&j, prune_keys[k]);
		json_open(&j, '{');
		json_key_u64(&j, "count", p->goes[k].count);
		json_key_u64(&j, "bytes", p->goes[k].bytes);
		json_close(&j, '}');
	}
	json_key_u64(&j, "bytes", p->freed);
	json_key_u64(&j, "waiting", p->list.waiting);
	json_key_u64(&j, "running", p->list.running);
	json_key_bool(&j, "removed", p->done);
	json_close(&j, '}');
	text_write(&p->out, &out);
}

/* --- removing ----------------------------------------------------------------------------- */

/* bawn-history writes it into the ledger, so that `record verify` says who removed it. */
static int prune_records_before(struct prune_verb *p, int64_t moment, const char *why)
{
	_cleanup_buf_ struct buf said = BUF_INIT(PRUNE_OUT_MAX);
	char before[48];

	(void)snprintf(before, sizeof(before), "@%" PRId64 "%s", moment, why);
	const char *const words[] = {"bawn", "record", "prune", "--older-than", before, NULL};
	int status = elsewhere_read("bawn-history", words, false, &said);

	if (status == EXIT_OK)
		return 0;
	return status < 0 ? error_sys(&p->e, status, "removing records")
			  : error_set(&p->e, -EIO, "not all records could be removed");
}

static int prune_do(struct prune_verb *p, int state)
{
	int r = prune_workspaces(state, p->host.state_dir, p->before, &p->e);

	if (r == 0 && p->goes[PRUNE_RECORD].count > 0 && p->day > 0)
		r = prune_records_before(p, p->day, "");
	if (r == 0 && p->goes[PRUNE_RECORD].count > 0 && p->before > p->day)
		r = prune_records_before(p, p->before, ":size");
	p->done = r == 0;
	if (r == 0 && !invocation_has(p->i, OPTION_JSON)) {
		_cleanup_buf_ struct buf out = BUF_INIT(256);

		room_put_size(&out, p->freed);
		text_printf(&p->out, "Removed; %s came back.\n", buf_str(&out));
	}
	return r;
}

static int prune_run(struct prune_verb *p)
{
	int r = host_gather_user(&p->arena, &p->host, &p->e);

	if (r == 0)
		r = prune_read_rule(p);
	if (r < 0)
		return r;
	_cleanup_fd_ int state = home_store_state(&p->host, false, &p->arena, &p->e);

	if (state == -ENOENT) {
		if (invocation_has(p->i, OPTION_JSON))
			prune_json(p);
		else
			text_printf(&p->out, "bawn keeps nothing.\n");
		return EXIT_OK;
	}
	r = state < 0 ? state : prompt_open_for(p->i, &p->prompt, &p->e);
	if (r == 0)
		r = prune_find(p, state);
	if (r < 0)
		return r;
	bool json = invocation_has(p->i, OPTION_JSON);

	if (!json)
		prune_show(p);
	bool any = false;

	for (size_t k = 0; k < PRUNE_KIND_COUNT; k++)
		any = any || p->goes[k].count > 0;
	if (any && !invocation_has(p->i, OPTION_DRY_RUN)) {
		if (p->prompt.tty >= 0 &&
		    prompt_key(&p->prompt, "Remove it? It cannot be undone. [y/N]", "ny",
			       "y  remove it\nn  keep it") != 'y') {
			text_printf(&p->out, "Nothing was removed.\n");
			return EXIT_FOUND;
		}
		r = prune_do(p, state);
	}
	if (r == 0 && json)
		prune_json(p);
	return r;
}

int verb_prune(const struct invocation *i)
{
	struct prune_verb p = {.i = i,
			       .arena = ARENA_INIT(PRUNE_ARENA_MAX),
			       .out = text_open(STDOUT_FILENO),
			       .prompt = PROMPT_INIT,
			       .now = (int64_t)time(NULL)};
	int r = prune_run(&p);

	if (r < 0)
		verb_complain(&p.e);
	prompt_close(&p.prompt);
	prune_list_fini(&p.list);
	arena_fini(&p.arena);
	return r < 0 ? EXIT_BAWN : r;
}
