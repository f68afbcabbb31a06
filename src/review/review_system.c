/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn system create|ls|rm`: root filesystems that a box can have as its base. */
#include "review.h"

#include "clock.h"
#include "fd.h"
#include "home_store.h"
#include "json.h"
#include "str.h"
#include "system_make.h"
#include "systems.h"
#include "text.h"
#include "tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
	SYSTEM_BYTES_MAX = 4 << 20,
	SYSTEM_NAME_WIDTH = 16,
	SYSTEM_SIZE_WIDTH = 10,
	SYSTEM_PROGRESS_PART = 20, /* measuring takes at most one of so many parts of the time */
};

struct review_systems {
	struct arena arena;
	struct host host;
	int state;
	struct systems systems;
};

static void review_systems_fini(struct review_systems *r)
{
	systems_close(&r->systems);
	fd_close(&r->state);
	arena_fini(&r->arena);
}

/* systems.dir stays -1 if there is none yet. */
static int review_systems_open(bool create, struct review_systems *ret, struct error *e)
{
	*ret = (struct review_systems){
		.arena = ARENA_INIT(SYSTEM_BYTES_MAX), .state = -1, .systems = SYSTEMS_INIT};
	int r = host_gather_user(&ret->arena, &ret->host, e);

	if (r < 0)
		return r;
	ret->state = home_store_state(&ret->host, create, &ret->arena, e);
	r = ret->state < 0
		    ? ret->state
		    : systems_open(ret->state, ret->host.state_dir, create, &ret->systems, e);
	return r == -ENOENT && !create ? 0 : r;
}

/* --- who uses a system --------------------------------------------------------------------- */

struct system_use {
	const char *name;
	struct buf words; /* lines, for a person */
	const struct layers *at;
	struct json *json; /* or NULL */
	size_t running, stopped, kept;
};

static void system_use_add(struct system_use *u, const char *what, const char *name)
{
	if (u->json) {
		json_open(u->json, '{');
		json_key_str(u->json, "kind", what);
		if (*name)
			json_key_str(u->json, "name", name);
		json_key_str(u->json, "workspace", u->at->workspace);
		json_close(u->json, '}');
	}
	buf_putf(&u->words, "    %s%s%s in %s\n", what, *name ? " " : "", name, u->at->workspace);
}

static int system_use_session(void *context, const struct layers_session *s)
{
	struct system_use *u = context;

	if (!str_equal(s->stands_on, u->name))
		return 0;
	bool runs = layers_session_runs(u->at, s->name);

	u->running += runs ? 1 : 0;
	u->stopped += runs ? 0 : 1;
	system_use_add(u, runs ? "running session" : "session", s->name);
	return 0;
}

static int system_use_snapshot(void *context, const struct layers_snapshot *s)
{
	struct system_use *u = context;

	if (str_equal(s->stands_on, u->name)) {
		u->stopped++;
		system_use_add(u, "snapshot", s->name);
	}
	return 0;
}

static int system_use_workspace(void *context, const struct layers *l)
{
	struct system_use *u = context;
	struct error e = ERROR_INIT;
	struct stack kept;

	u->at = l;
	if (layers_kept_read(l, u->name, &kept, &e) == 0 && kept.count > 0) {
		u->kept++;
		system_use_add(u, "what is kept", "");
	}
	int r = layers_each_session(l, system_use_session, u, &e);

	return r < 0 ? r : layers_each_snapshot(l, system_use_snapshot, u, &e);
}

static int system_use_find(const struct review_systems *r, struct system_use *u, struct error *e)
{
	return layers_each_workspace(r->state, r->host.state_dir, system_use_workspace, u, e);
}

/* --- ls ------------------------------------------------------------------------------- */

struct system_list {
	const struct review_systems *systems;
	struct text out;
	struct json *json;
	struct error *e;
	size_t count;
};

static void system_size(char *into, size_t size, uint64_t bytes)
{
	if (bytes >= 1ull << 30)
		(void)snprintf(into, size, "%.1f GiB", (double)bytes / (double)(1ull << 30));
	else
		(void)snprintf(into, size, "%.1f MiB", (double)bytes / (double)(1ull << 20));
}

static void system_date(char *into, size_t size, int64_t made)
{
	time_t seconds = (time_t)(made / 1000000000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || strftime(into, size, "%Y-%m-%d", &tm) == 0)
		(void)snprintf(into, size, "?");
}

static const char *system_state_words(enum system_state state)
{
	switch (state) {
	case SYSTEM_MADE:
		return "made";
	case SYSTEM_BEING_MADE:
		return "being made";
	case SYSTEM_UNFINISHED:
		return "unfinished";
	case SYSTEM_UNREADABLE:
		return "unreadable";
	}
	return "?";
}

static void system_list_strange(const struct system_list *l, const char *name,
				enum system_state state)
{
	text_styled(&l->out, TEXT_STRONG, "%-*s", SYSTEM_NAME_WIDTH, name);
	text_styled(&l->out, TEXT_WARN, "  %s", system_state_words(state));
	if (state == SYSTEM_BEING_MADE)
		text_printf(&l->out, "\n");
	else
		text_printf(&l->out, ": 'bawn system rm %s' removes it\n", name);
}

static int system_list_one(void *context, const struct system_about *about, enum system_state state)
{
	struct system_list *l = context;
	struct system_use use = {
		.name = about->name, .words = BUF_INIT(SYSTEM_BYTES_MAX), .json = l->json};
	char size[32];
	char date[32];
	int r;

	l->count++;
	if (!l->json && state != SYSTEM_MADE) {
		system_list_strange(l, about->name, state);
		return 0;
	}
	if (l->json) {
		json_open(l->json, '{');
		json_key_str(l->json, "name", about->name);
		json_key_str(l->json, "state", system_state_words(state));
		json_key_str(l->json, "from", about->from);
		json_key_u64(l->json, "made", (uint64_t)about->made / 1000000000);
		json_key_u64(l->json, "bytes", about->bytes);
		json_key_u64(l->json, "files", about->files);
		json_key(l->json, "used_by");
		json_open(l->json, '[');
		r = system_use_find(l->systems, &use, l->e);
		json_close(l->json, ']');
		json_close(l->json, '}');
	} else {
		r = system_use_find(l->systems, &use, l->e);
		system_size(size, sizeof(size), about->bytes);
		system_date(date, sizeof(date), about->made);
		text_styled(&l->out, TEXT_STRONG, "%-*s", SYSTEM_NAME_WIDTH, about->name);
		text_printf(&l->out, "  %*s  %s  %s\n%s", SYSTEM_SIZE_WIDTH, size, date,
			    about->from, buf_str(&use.words));
	}
	buf_fini(&use.words);
	return r;
}

static int system_ls(const struct invocation *i, struct error *e)
{
	_cleanup_(review_systems_fini) struct review_systems r;
	_cleanup_buf_ struct buf out = BUF_INIT(SYSTEM_BYTES_MAX);
	struct json json = JSON_INIT(&out, true);
	struct system_list list = {.systems = &r,
				   .out = text_open(STDOUT_FILENO),
				   .json = invocation_has(i, OPTION_JSON) ? &json : NULL,
				   .e = e};
	int code = review_systems_open(false, &r, e);

	if (list.json)
		json_open(&json, '[');
	if (code == 0 && r.systems.dir >= 0)
		code = systems_each(&r.systems, system_list_one, &list, e);
	if (code < 0)
		return code;
	if (list.json) {
		json_close(&json, ']');
		text_write(&list.out, &out);
	} else if (list.count == 0) {
		text_printf(&list.out, "there is no system; 'bawn system create NAME' makes one\n");
	}
	return 0;
}

/* --- create --------------------------------------------------------------------------- */

/* One line at the terminal, which we write over again; all of it is our text. */
struct system_progress {
	struct text err;
	int64_t began;
	int64_t next; /* measuring a large tree takes time, so we do not do it too often */
	bool shown;
};

static void system_progress_tick(void *context, const struct system_new *n)
{
	_cleanup_buf_ struct buf line = BUF_INIT(256);
	struct system_progress *p = context;
	int64_t now = clock_ms(CLOCK_MONOTONIC);
	uint64_t bytes = 0;
	uint64_t files = 0;
	char size[32];

	if (now < p->next || tree_measure(n->dir, &bytes, &files) < 0)
		return;
	int64_t then = clock_ms(CLOCK_MONOTONIC);

	p->next = then + SYSTEM_PROGRESS_PART * (then - now);
	system_size(size, sizeof(size), bytes);
	buf_putf(&line, "\rbawn: %s, %" PRIu64 " files, %" PRId64 " s\033[K", size, files,
		 (then - p->began) / 1000);
	text_write(&p->err, &line);
	p->shown = true;
}

static void system_progress_end(struct system_progress *p)
{
	_cleanup_buf_ struct buf line = BUF_INIT(16);

	buf_putf(&line, "\r\033[K");
	if (p->shown)
		text_write(&p->err, &line);
	p->shown = false;
}

/* What it is made from: --from, or what its name says.  NULL: neither says it. */
static const char *system_from(const struct invocation *i, const char *name,
			       char spelled[SYSTEM_SOURCE_MAX], struct error *e)
{
	const char *from = invocation_value(i, OPTION_FROM);

	if (from)
		return system_source_spell(from, spelled);
	if (system_source_of_name(name, spelled) == 0)
		return spelled;
	(void)error_set(e, -EINVAL, "nothing says what the system %.64s is to be made from", name);
	error_next(e,
		   "'bawn system create %.64s --from debian' makes it from Debian; 'bawn help "
		   "system' names the other sources.",
		   name);
	return NULL;
}

static int system_create(const struct invocation *i, const char *name, struct error *e)
{
	_cleanup_(review_systems_fini) struct review_systems r;
	char spelled[SYSTEM_SOURCE_MAX];
	const char *from = system_from(i, name, spelled, e);
	bool quiet = invocation_has(i, OPTION_QUIET);
	struct system_progress progress = {.err = text_open(STDERR_FILENO)};
	const struct system_watch watch = {system_progress_tick, &progress};
	/* Debian's tools show their progress themselves. */
	bool told = quiet || !progress.err.tty ||
		    (from && system_source_parse(from).kind == SYSTEM_DEBIAN);
	const struct system_how how = {.quiet = quiet, .watch = told ? NULL : &watch};
	struct system_new new = SYSTEM_NEW_INIT;
	struct system_about about = {.made = 0};
	char size[32];
	int code = review_systems_open(from != NULL, &r, e);

	if (!from)
		return -EINVAL;
	if (code == 0 && (strlen(from) > SYSTEMS_FROM_MAX || strchr(from, '\n')))
		code = error_set(e, -EINVAL,
				 "the source of a system is one line of at most %d "
				 "bytes",
				 SYSTEMS_FROM_MAX);
	if (code == 0)
		code = systems_begin(&r.systems, name, &new, e);
	if (code < 0)
		return code;
	progress.began = clock_ms(CLOCK_MONOTONIC);
	if (!quiet)
		text_printf(&progress.err, "bawn: making the system %s from %s\n", name, from);
	code = system_make(&new, from, &how, e);
	system_progress_end(&progress);
	if (code == 0)
		code = systems_commit(&r.systems, &new, from, clock_ms(CLOCK_REALTIME) * 1000000,
				      &about, e);
	systems_abort(&r.systems, &new);
	if (code < 0 || quiet)
		return code;
	system_size(size, sizeof(size), about.bytes);
	text_printf(&progress.err,
		    "bawn: the system %s is made: %s, %" PRIu64 " files, %.1f s\n"
		    "bawn: a box on it: bawn run --system %s -- COMMAND\n",
		    name, size, about.files,
		    (double)(clock_ms(CLOCK_MONOTONIC) - progress.began) / 1e3, name);
	return 0;
}

/* --- rm ------------------------------------------------------------------------------- */

/* Sessions and kept layers upon the system cannot be used without it: asks first, and refuses while
 * a box runs on it. */
static int system_may_go(const struct invocation *i, const struct system_use *u, struct error *e)
{
	struct text err = text_open(STDERR_FILENO);

	if (u->running > 0) {
		(void)error_set(e, -EBUSY, "a session that runs stands on the system %s", u->name);
		error_next(e, "'bawn system ls' names it.");
		return -EBUSY;
	}
	if (u->stopped + u->kept == 0 || invocation_has(i, OPTION_YES))
		return 0;
	text_printf(&err, "bawn: the system %s is used by\n%s", u->name, buf_str(&u->words));
	(void)error_set(e, -EBUSY, "nothing was removed: what they installed is lost without it");
	error_next(e, "'bawn system rm --yes %s' removes it all the same.", u->name);
	return -EBUSY;
}

/* Removes what workspaces have kept upon it. */
static int system_forget_kept(void *context, const struct layers *l)
{
	const char *name = context;
	const struct stack none = {.count = 0};
	struct error e = ERROR_INIT;
	_cleanup_fd_ int lock = layers_lock(l, &e);
	int r = lock < 0 ? lock : layers_kept_write(l, name, &none, &e);

	return r < 0 ? r : layers_collect(l, &e);
}

static int system_rm(const struct invocation *i, const char *name, struct error *e)
{
	_cleanup_(review_systems_fini) struct review_systems r;
	struct system_use use = {.name = name, .words = BUF_INIT(SYSTEM_BYTES_MAX)};
	int code = review_systems_open(false, &r, e);

	if (code == 0)
		code = system_use_find(&r, &use, e);
	if (code == 0)
		code = system_may_go(i, &use, e);
	if (code == 0)
		code = r.systems.dir < 0 ? -ENOENT : systems_remove(&r.systems, name, e);
	if (code == -ENOENT) {
		code = error_set(e, -ENOENT, "there is no system %s", name);
		error_next(e, "'bawn system ls' says which there are.");
	}
	if (code == 0 && use.kept > 0)
		code = layers_each_workspace(r.state, r.host.state_dir, system_forget_kept,
					     (char *)(uintptr_t)name, e);
	buf_fini(&use.words);
	return code;
}

int review_system(const struct invocation *i)
{
	const char *what = i->arguments[0];
	const char *name = i->argument_count > 1 ? i->arguments[1] : NULL;
	struct error e = ERROR_INIT;
	int r;

	if (str_equal(what, "ls") == (name != NULL)) {
		(void)error_set(&e, -EINVAL, "'bawn system %s' takes %s", what,
				name ? "no name" : "the name of a system");
		verb_complain(&e);
		return EXIT_USAGE;
	}
	if (str_equal(what, "ls"))
		r = system_ls(i, &e);
	else
		r = str_equal(what, "create") ? system_create(i, name, &e) : system_rm(i, name, &e);
	if (r == 0)
		return EXIT_OK;
	verb_complain(&e);
	return r == -EBUSY ? EXIT_FOUND : EXIT_BAWN;
}
