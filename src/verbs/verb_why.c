/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn why`, by the shape of the question (why_shape.h).  Only the record knows an event, so
 * bawn-history answers.  For a path we tell what the plan says, and what was recorded there.
 *
 * `bawn why HOST`: what a session decides about a host and by which rule, how often it has refused
 * it, and what would change that.  Without a session, what the policy files say.  rules_decide
 * gives the verdict, by the rules that are valid now.
 */
#include "bawn_verbs.h"
#include "authority.h"
#include "elsewhere.h"
#include "help.h"
#include "host.h"
#include "json.h"
#include "message_control.h"
#include "prepare.h"
#include "rules.h"
#include "session_talk.h"
#include "str.h"
#include "text.h"
#include "words.h"
#include "why_path.h"
#include "why_shape.h"
#include "words_network.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WHY_BYTES_MAX = 64 << 10, WHY_JSON_MAX = 8 << 20, WHY_PORT = 443, WHY_INDENT = 9 };

struct why {
	const struct invocation *invocation;
	struct arena arena;
	struct host host;
	struct session session;
	bool live;
	struct prepared files; /* used if there is no session */
	const struct plan *plan;
	struct rules *rules;
	struct text out;
	struct json *json; /* or NULL: print words */
	struct error e;
};

struct why_answer {
	struct authority authority;
	char name[NAME_TEXT_MAX + 8]; /* without its port */
	uint16_t port;
	bool asked; /* the user named the port, or the scheme */
	struct rules_verdict verdict;
	struct message_counted refused;
	char command[NAME_TEXT_MAX + 16]; /* for `bawn allow`; "": that would not help */
};

/* --- asking --- */

static int why_read(struct why *w, const char *text, struct why_answer *ret)
{
	const char *tls = str_after(text, "https://");
	const char *http = str_after(text, "http://");
	const char *host = tls ? tls : http ? http : text;
	size_t len = tls || http ? strcspn(host, "/?#") : strlen(host);
	char address[ADDRESS_TEXT_SIZE];

	memset(ret, 0, sizeof(*ret));
	if (authority_parse((struct span){(const uint8_t *)host, len}, &ret->authority) < 0)
		return error_set(&w->e, -EINVAL, "%s is no host that can be asked for", text);
	ret->port = ret->authority.port ? ret->authority.port : http ? 80 : WHY_PORT;
	ret->asked = ret->authority.port || tls || http;
	address_format(&ret->authority.address, address);
	(void)snprintf(ret->name, sizeof(ret->name), "%s",
		       ret->authority.is_address ? address : ret->authority.name.text);
	return 0;
}

/* Makes an argument of `bawn allow` from the line. */
static void why_command(struct why_answer *a)
{
	const char *host = str_after(a->verdict.allow_line, "- allow: ");
	size_t len = host ? strlen(host) : 0;

	if (len > 1 && host[0] == '"') {
		host++;
		len -= 2;
	}
	(void)snprintf(a->command, sizeof(a->command), "%.*s", (int)len, len ? host : "");
}

/* The port at which a session that is over was refused this host last; 0: none is known. */
static uint64_t why_recorded_port(const struct why *w, const char *host)
{
	const char *session = w->live ? w->session.name : NULL;
	const char *words[] = {"bawn",      "log",     "--json", "--kind", "network",
			       "--verdict", "refused", "--host", host,     "--last",
			       "1",         session,   NULL};
	_cleanup_buf_ struct buf said = BUF_INIT(WHY_JSON_MAX);
	static const char key[] = "\"port\":";
	uint64_t port = 0;

	if (elsewhere_read("bawn-history", words, true, &said) != EXIT_OK)
		return 0;
	/* In JSON every quote in a text is escaped. */
	const char *at = strstr(buf_str(&said), key);

	if (at)
		port = strtoull(at + strlen(key), NULL, 10);
	return port <= UINT16_MAX ? port : 0;
}

/* Without a port we answer for the one that was refused; where none was, for https. */
static int why_ask(struct why *w, struct why_answer *a)
{
	uint64_t port = 0;
	int r = 0;

	a->refused.reason = "";
	/* If the gate is gone, its counts are gone, too. */
	if (w->live && w->session.state.gate)
		r = session_count(&w->session, a->name, a->authority.port, &a->refused, &w->e);
	if (r < 0)
		return r;
	if (!a->asked)
		port = a->refused.port ? a->refused.port : why_recorded_port(w, a->name);
	if (port > 0)
		a->port = (uint16_t)port;
	struct rules_question q = {.name = a->authority.name,
				   .literal = a->authority.is_address,
				   .address = a->authority.address,
				   .port = a->port};

	rules_decide(w->rules, &q, &a->verdict);
	why_command(a);
	return 0;
}

/* --- words --- */

static void why_line(const struct why *w, const char *words)
{
	_cleanup_buf_ struct buf line = BUF_INIT(WHY_BYTES_MAX);

	help_wrap(&line, words, WHY_INDENT, (size_t)w->out.width);
	text_printf(&w->out, "%*s%s\n", WHY_INDENT, "", buf_str(&line));
}

static void why_print_rule(const struct why *w, const struct rules_verdict *v, bool literal)
{
	_cleanup_buf_ struct buf words = BUF_INIT(WHY_BYTES_MAX);

	text_escape(&words, span_of_str(v->reason));
	if (v->rule) {
		buf_put_str(&words, " (");
		words_text(&words, w->plan, v->rule->origin);
		if (v->rule->bundle[0])
			buf_putf(&words, ", use %s", v->rule->bundle);
		buf_put_char(&words, ')');
	}
	if (v->action == PLAN_ACTION_ALLOW)
		buf_putf(&words, ": %s%s", words_schemes(v->schemes),
			 v->private ? ", private addresses too" : "");
	if (v->action == PLAN_ACTION_ALLOW && v->open)
		buf_put_str(&words, ", each request decided on its own");
	if (v->action == PLAN_ACTION_ALLOW && !v->private && !literal)
		buf_put_str(&words, ", at addresses of the public network");
	why_line(w, buf_str(&words));
}

static void why_print_count(const struct why *w, const struct why_answer *a)
{
	const struct message_counted *c = &a->refused;
	uint64_t now = (uint64_t)time(NULL);
	uint64_t all = c->questions + c->connections;
	_cleanup_buf_ struct buf words = BUF_INIT(WHY_BYTES_MAX);

	if (w->live && !w->session.state.gate)
		why_line(w, "but the gate of this session is gone, and with it the network");
	if (w->live && w->session.state.plain)
		why_line(w, "this kernel has no nf_tables: only ports that a rule named when the "
			    "session started are open, and 80 and 443");
	if (!w->live || all == 0)
		return;
	buf_putf(&words, "refused %" PRIu64 " time%s", all, all == 1 ? "" : "s");
	if (c->connections == 0)
		buf_put_str(&words, ", when its name was asked for");
	else if (c->questions > 0)
		buf_putf(&words, " (%" PRIu64 " when its name was asked for)", c->questions);
	buf_put_str(&words, ", last ");
	words_duration(&words, now > c->last ? now - c->last : 0);
	buf_put_str(&words, " ago");
	if (!str_equal(c->reason, a->verdict.reason)) {
		buf_put_str(&words, ": ");
		text_escape(&words, span_of_str(c->reason));
	}
	why_line(w, buf_str(&words));
}

static void why_print_way(const struct why *w, const struct why_answer *a)
{
	const struct rules_verdict *v = &a->verdict;
	bool named = invocation_has(w->invocation, OPTION_SESSION);
	_cleanup_buf_ struct buf config = BUF_INIT(WHY_BYTES_MAX);

	buf_putf(&config, "to allow it%s, put under network: in ", a->command[0] ? " always" : "");
	words_text(&config, w->plan, w->host.config_dir);
	buf_put_str(&config, "/config.yaml:");
	if (v->allow_line[0]) {
		if (a->command[0] && w->live)
			text_printf(&w->out, "%*sto allow it now: bawn allow %s%s%s%s\n",
				    WHY_INDENT, "", named ? "--session " : "",
				    named ? w->session.shown : "", named ? " " : "", a->command);
		why_line(w, buf_str(&config));
		text_printf(&w->out, "%*s%s\n", WHY_INDENT + 4, "", v->allow_line);
		if (a->command[0])
			text_printf(&w->out, "%*sor let bawn do it: bawn allow --for always %s\n",
				    WHY_INDENT, "", a->command);
	} else if (v->rule && v->rule->ceiling) {
		why_line(w, "no rule of yours allows it; ask the administrator");
	} else if (v->rule && str_after(v->rule->origin, "bawn ")) {
		text_printf(&w->out, "%*sto take that back:  bawn allow %s\n", WHY_INDENT, "",
			    a->name);
	} else if (v->rule) {
		why_line(
			w,
			w->live ? "to allow it, take that rule out or change it, then: bawn policy "
				  "reload"
				: "to allow it, take that rule out or change it");
	}
}

/* We know where a name leads only when a program connects to it, not here. */
static void why_print_private(const struct why *w, const struct rules_verdict *v)
{
	if (!v->private_line[0])
		return;
	why_line(w, v->action == PLAN_ACTION_ALLOW
			    ? "where it is on this machine or its networks, it is refused without:"
			    : "where it is on this machine or its networks, only this allows it:");
	text_printf(&w->out, "%*s%s\n", WHY_INDENT + 4, "", v->private_line);
}

static void why_print(const struct why *w, const struct why_answer *a)
{
	bool allowed = a->verdict.action == PLAN_ACTION_ALLOW;
	bool bracket = a->authority.is_address && !address_is_v4(&a->authority.address);

	text_styled(&w->out, allowed ? TEXT_GOOD : TEXT_BAD, "%-*s", WHY_INDENT,
		    allowed ? "allowed" : "denied");
	text_printf(&w->out, bracket ? "[%s]:%u" : "%s:%u", a->name, a->port);
	if (w->live)
		text_printf(&w->out, "  (session %s)\n", w->session.shown);
	else
		text_printf(&w->out, "  (by your files; no session is running)\n");
	if (!a->asked && a->port != WHY_PORT)
		why_line(w, "for the port that was refused last; HOST:PORT asks for another");
	why_print_rule(w, &a->verdict, a->authority.is_address);
	why_print_count(w, a);
	if (!allowed)
		why_print_way(w, a);
	why_print_private(w, &a->verdict);
}

static void why_json(struct json *j, const struct why *w, const struct why_answer *a)
{
	const struct rules_verdict *v = &a->verdict;

	json_open(j, '{');
	json_key_str(j, "host", a->name);
	json_key_u64(j, "port", a->port);
	json_key_str(j, "session", w->live ? w->session.name : "");
	words_verdict(j, v);
	json_key_str(j, "allow_line", v->allow_line);
	json_key_bool(j, "private", v->private);
	json_key_str(j, "private_line", v->private_line);
	json_key(j, "allow_command");
	json_open(j, '[');
	for (size_t i = 0; a->command[0] && i < 3; i++)
		json_str(j, i == 0 ? "bawn" : i == 1 ? "allow" : a->command);
	json_close(j, ']');
	json_key(j, "refused");
	json_open(j, '{');
	json_key_u64(j, "questions", a->refused.questions);
	json_key_u64(j, "connections", a->refused.connections);
	json_key_u64(j, "last", a->refused.last);
	json_key_str(j, "reason", a->refused.reason);
	json_close(j, '}');
	json_close(j, '}');
}

/* --- the verb --- */

/* Finds the session that is asked about, and its plan; -ENOENT: there is none. */
static int why_choose(struct why *w)
{
	const char *name = invocation_value(w->invocation, OPTION_SESSION);
	char cwd[PATH_MAX];
	int r = host_gather_user(&w->arena, &w->host, &w->e);

	if (r < 0)
		return r;
	struct session_places places = session_places_of(&w->host);

	r = session_choose(&places, name, getcwd(cwd, sizeof(cwd)) ? cwd : NULL, &w->session,
			   &w->e);
	w->plan = w->session.plan;
	return r;
}

/* Reads the session's rules; without a session, those of the files. */
static int why_find(struct why *w)
{
	int r = why_choose(w);

	w->live = r == 0;
	if (r == -ENOENT && !invocation_has(w->invocation, OPTION_SESSION)) {
		w->e = ERROR_INIT;
		r = prepare_rules(w->invocation, &w->files, &w->e);
		w->plan = w->files.plan;
	}
	return r < 0 ? r : rules_of_plan(w->plan, &w->rules, &w->e);
}

static int why_each(struct why *w, bool *ret_all)
{
	for (int n = 0; n < w->invocation->argument_count; n++) {
		struct why_answer a;
		int r = why_read(w, w->invocation->arguments[n], &a);

		if (r == 0)
			r = why_ask(w, &a);
		if (r < 0)
			return r;
		*ret_all = *ret_all && a.verdict.action == PLAN_ACTION_ALLOW;
		if (w->json)
			why_json(w->json, w, &a);
		else
			why_print(w, &a);
	}
	return 0;
}

/* --- paths --- */

/*
 * Finds the session that runs in this folder, or in that of the first path; -ENOENT: there is none.
 */
static int why_choose_here(struct why *w)
{
	char at[PATH_MAX];

	if (invocation_has(w->invocation, OPTION_SESSION))
		return why_choose(w);
	int r = host_gather_user(&w->arena, &w->host, &w->e);

	if (r < 0)
		return r;
	struct session_places places = session_places_of(&w->host);

	r = getcwd(at, sizeof(at)) ? session_choose_at(&places, at, &w->session, &w->e) : -ENOENT;
	for (int n = 0; r == -ENOENT && n < w->invocation->argument_count; n++) {
		if (why_shape(w->invocation->arguments[n]) == WHY_EVENT ||
		    why_shape_path(w->invocation->arguments[n], at, sizeof(at)) < 0)
			continue;
		w->e = ERROR_INIT;
		r = session_choose_at(&places, at, &w->session, &w->e);
		break;
	}
	w->plan = w->session.plan;
	return r;
}

/* Finds the plan of the running session; without one, makes the one that the files would make. */
static int why_find_plan(struct why *w, char *ret_where, size_t size)
{
	int r = why_choose_here(w);

	(void)snprintf(ret_where, size, "session %s", r == 0 ? w->session.shown : "");
	if (r == -ENOENT) {
		w->e = ERROR_INIT;
		r = prepare_plan(w->invocation, NULL, false, &w->files, &w->e);
		w->plan = w->files.plan;
		(void)snprintf(ret_where, size, "by your files, for this folder");
	}
	return r;
}

static struct why *why_new(const struct invocation *i)
{
	struct why *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->invocation = i;
	w->arena = ARENA_INIT(1 << 20);
	w->session.fd = -1;
	w->out = text_open(STDOUT_FILENO);
	return w;
}

static void why_free(struct why *w)
{
	rules_free(w->rules);
	session_fini(&w->session);
	prepared_fini(&w->files);
	arena_fini(&w->arena);
	free(w);
}

/* If no plan can be made, says so; the record is asked all the same. */
static void why_print_paths(const struct invocation *i)
{
	char where[128], path[PATH_MAX];
	struct why *w = why_new(i);

	if (!w)
		return;
	int r = why_find_plan(w, where, sizeof(where));

	for (int n = 0; r == 0 && n < i->argument_count; n++) {
		if (why_shape(i->arguments[n]) == WHY_EVENT)
			continue;
		r = why_shape_path(i->arguments[n], path, sizeof(path));
		if (r == 0)
			why_path_print(&w->out, w->plan, path, where);
	}
	if (r < 0)
		verb_complain(&w->e);
	why_free(w);
}

/* What the record says of one path or event: the one value in bawn-history's array, or nothing.
 * Returns the exit code of bawn-history, or -errno. */
static int why_ask_record(const struct invocation *i, const char *typed, bool quiet,
			  struct buf *text, struct span *ret)
{
	const char *session = invocation_value(i, OPTION_SESSION);
	const char *words[8] = {"bawn", "why", "--json"};
	size_t n = 3;

	if (session) {
		words[n++] = "--session";
		words[n++] = session;
	}
	words[n++] = "--";
	words[n] = typed;
	int status = elsewhere_read("bawn-history", words, quiet, text);
	const char *open = status == 0 ? strchr(buf_str(text), '[') : NULL;
	const char *close = open ? strrchr(open, ']') : NULL;

	*ret = (struct span){NULL, 0};
	if (close) {
		open += 1 + strspn(open + 1, " \n");
		while (close > open && strchr(" \n", close[-1]))
			close--;
		*ret = (struct span){(const uint8_t *)open, (size_t)(close - open)};
	}
	return status;
}

/* Prints one array: for each path what the plan and the record say, for each event what the record
 * says. */
static int why_json_elsewhere(const struct invocation *i)
{
	_cleanup_buf_ struct buf out = BUF_INIT(WHY_JSON_MAX);
	struct json j = JSON_INIT(&out, true);
	char where[128], path[PATH_MAX];
	struct why *w = why_new(i);
	int r = w ? why_find_plan(w, where, sizeof(where)) : -ENOMEM;
	int status = EXIT_OK;

	json_open(&j, '[');
	for (int n = 0; r == 0 && status == EXIT_OK && n < i->argument_count; n++) {
		_cleanup_buf_ struct buf text = BUF_INIT(WHY_JSON_MAX);
		bool is_path = why_shape(i->arguments[n]) != WHY_EVENT;
		struct span said;
		int code = why_ask_record(i, i->arguments[n], is_path, &text, &said);

		if (!is_path) {
			status = code == EXIT_OK ? EXIT_OK : EXIT_BAWN;
			json_raw(&j, said);
			continue;
		}
		r = why_shape_path(i->arguments[n], path, sizeof(path));
		json_open(&j, '{');
		if (r == 0)
			why_path_json(&j, w->plan, path);
		json_key(&j, "record");
		json_raw(&j, said.len ? said : span_of_str("null"));
		json_close(&j, '}');
	}
	json_close(&j, ']');
	if (r < 0 && w)
		verb_complain(&w->e);
	else if (status == EXIT_OK)
		text_write(&w->out, &out);
	if (w)
		why_free(w);
	return r < 0 ? EXIT_BAWN : status;
}

/* The word has the shape of a host, but the last session of this folder made a file of that name:
 * the file is meant.  Only its record knows the file before it has landed. */
static bool why_is_made(const struct invocation *i, const char *typed)
{
	_cleanup_buf_ struct buf text = BUF_INIT(WHY_JSON_MAX);
	char path[PATH_MAX];
	struct span said;

	if (strpbrk(typed, "/:*[") || snprintf(path, sizeof(path), "./%s", typed) >= PATH_MAX)
		return false;
	return why_ask_record(i, path, true, &text, &said) == 0 &&
	       strstr(buf_str(&text), "\"what\": \"changed\"");
}

static enum why_shape why_shape_here(const struct invocation *i, const char *typed)
{
	enum why_shape shape = why_shape(typed);

	return shape == WHY_HOST && why_is_made(i, typed) ? WHY_PATH : shape;
}

/* Answers for events and paths, and returns the exit code; -1: these are hosts. */
static int why_elsewhere(const struct invocation *i)
{
	int hosts = 0, paths = 0;

	for (int n = 0; n < i->argument_count; n++) {
		enum why_shape shape = why_shape_here(i, i->arguments[n]);

		hosts += shape == WHY_HOST;
		paths += shape == WHY_PATH;
	}
	if (hosts == i->argument_count)
		return -1;
	if (hosts > 0) {
		struct error e = ERROR_INIT;

		(void)error_set(
			&e, -EINVAL,
			"ask about hosts in one command, and about events or paths in another");
		verb_complain(&e);
		return EXIT_USAGE;
	}
	if (paths > 0 && invocation_has(i, OPTION_JSON))
		return why_json_elsewhere(i);
	if (paths > 0)
		why_print_paths(i);
	return elsewhere_run(i, "bawn-history");
}

int verb_why(const struct invocation *i)
{
	int elsewhere = why_elsewhere(i);

	if (elsewhere >= 0)
		return elsewhere;
	_cleanup_buf_ struct buf out = BUF_INIT(WHY_BYTES_MAX);
	struct json j = JSON_INIT(&out, true);
	struct why *w = why_new(i);
	bool all = true;

	if (!w)
		return EXIT_BAWN;
	w->json = invocation_has(i, OPTION_JSON) ? &j : NULL;
	json_open(&j, '[');
	int r = why_find(w);

	if (r == 0)
		r = why_each(w, &all);
	json_close(&j, ']');
	if (r == 0 && w->json)
		text_write(&w->out, &out);
	if (r < 0)
		verb_complain(&w->e);
	why_free(w);
	return r < 0 ? EXIT_BAWN : all ? EXIT_OK : EXIT_FOUND;
}
