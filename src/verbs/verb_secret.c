/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn secret`: add, ls, rm, test.  We make a section of a policy file of the command line and
 * read it as one, so that there is one grammar and one set of defaults.
 *
 * A value is in this process only until it is stored, in one buffer that is wiped.  Nothing here
 * prints one.
 */
#include "bawn_verbs.h"
#include "authority.h"
#include "fd.h"
#include "help.h"
#include "http_head.h"
#include "http_path.h"
#include "json.h"
#include "message_keys.h"
#include "build.h"
#include "prepare.h"
#include "refused_hosts.h"
#include "secret.h"
#include "secret_source.h"
#include "secret_store.h"
#include "secrets.h"
#include "shape.h"
#include "str.h"
#include "text.h"
#include "verbs.h"

#include <fcntl.h>
#include <stdio.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum {
	SECRET_TEXT_MAX = 64 << 10,
	SECRET_COLUMN = 26,
	SECRET_CANCEL = 3, /* what Ctrl-C types while it makes no signal */
};

/* The one place for a value.  It never grows, so it never moves. */
static char secret_bytes[MESSAGE_VALUE_MAX + 1];

static struct buf secret_buf(void)
{
	return (struct buf){secret_bytes, 0, sizeof(secret_bytes), MESSAGE_VALUE_MAX, 0};
}

static void secret_wipe(struct buf *b)
{
	(void)b;
	explicit_bzero(secret_bytes, sizeof(secret_bytes));
}
#define _cleanup_secret_ _cleanup_(secret_wipe)

struct secret_verb {
	const struct invocation *i;
	const char *name;
	struct text out, err;
	struct arena arena;
	struct host host;
	struct error e;
};

static void secret_fini(struct secret_verb *v)
{
	arena_fini(&v->arena);
}

/* --- add: the section --- */

static void secret_json_options(struct json *j, const struct invocation *i, enum option_id id,
				const char *key)
{
	if (!invocation_has(i, id))
		return;
	json_key(j, key);
	json_open(j, '[');
	for (size_t n = 0; n < i->value_count; n++)
		if (i->values[n].id == id) {
			const char *plain = str_after(i->values[n].value, "http://");

			json_str(j, id == OPTION_HOST && plain ? plain : i->values[n].value);
		}
	json_close(j, ']');
}

/* PATH alone is a file with the placeholder and nothing else. */
static void secret_json_files(struct json *j, struct secret_verb *v)
{
	const struct invocation *i = v->i;

	if (!invocation_has(i, OPTION_FILE))
		return;
	json_key(j, "files");
	json_open(j, '{');
	for (size_t n = 0; n < i->value_count; n++) {
		if (i->values[n].id != OPTION_FILE)
			continue;
		const char *value = i->values[n].value;
		const char *equals = strchr(value, '=');
		const char *path = arena_strn(&v->arena, value,
					      equals ? (size_t)(equals - value) : strlen(value));

		json_key_str(j, path ? path : "", equals ? equals + 1 : "{}");
	}
	json_close(j, '}');
}

static void secret_json_from(struct json *j, const struct invocation *i)
{
	static const struct {
		enum option_id id;
		enum policy_from from;
	} sources[] = {{OPTION_FROM_ENV, POLICY_FROM_ENV},
		       {OPTION_FROM_FILE, POLICY_FROM_FILE},
		       {OPTION_FROM_COMMAND, POLICY_FROM_COMMAND}};

	for (size_t n = 0; n < BAWN_ARRAY_SIZE(sources); n++) {
		if (!invocation_has(i, sources[n].id))
			continue;
		json_key(j, "from");
		json_open(j, '{');
		json_key_str(j, policy_from_words[sources[n].from],
			     invocation_value(i, sources[n].id));
		json_close(j, '}');
		return;
	}
}

static bool secret_is_plain_http(const struct invocation *i)
{
	for (size_t n = 0; n < i->value_count; n++)
		if (i->values[n].id == OPTION_HOST && str_after(i->values[n].value, "http://"))
			return true;
	return false;
}

/* Reads "30d" from now on, or a time. */
static int secret_expires(struct secret_verb *v, uint64_t *ret_seconds)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	const char *text = invocation_value(v->i, OPTION_EXPIRES);
	size_t len = strlen(text);
	char *digits = arena_strn(&v->arena, text, len - 1);
	uint64_t number = 0;

	for (size_t n = 0; digits && n < BAWN_ARRAY_SIZE(units); n++)
		if (text[len - 1] == units[n].unit && str_parse_u64(digits, &number) == 0 &&
		    number > 0 && number < 1000000) {
			*ret_seconds = (uint64_t)time(NULL) + number * units[n].seconds;
			return 0;
		}
	if (secret_parse_time(text, ret_seconds) < 0)
		return error_set(&v->e, -EINVAL,
				 "--expires takes 2027-01-31, 2027-01-31T12:00:00Z or 30d, not %s",
				 text);
	if (*ret_seconds <= (uint64_t)time(NULL))
		return error_set(&v->e, -EINVAL, "%s is past", text);
	return 0;
}

static int secret_write_section(struct secret_verb *v, struct buf *into)
{
	const struct invocation *i = v->i;
	struct json j = JSON_INIT(into, false);
	uint64_t expires = 0;
	int r = invocation_has(i, OPTION_EXPIRES) ? secret_expires(v, &expires) : 0;

	if (r < 0)
		return r;
	json_open(&j, '{');
	json_key(&j, "secrets");
	json_open(&j, '{');
	json_key(&j, v->name);
	json_open(&j, '{');
	secret_json_options(&j, i, OPTION_HOST, "hosts");
	if (secret_is_plain_http(i))
		json_key_str(&j, "scheme", "http");
	secret_json_options(&j, i, OPTION_METHOD, "methods");
	secret_json_options(&j, i, OPTION_PATH, "paths");
	secret_json_options(&j, i, OPTION_HEADER, "headers");
	/* If the user names a header and nothing else, only the header is meant. */
	if (invocation_has(i, OPTION_HEADER) && !invocation_has(i, OPTION_IN)) {
		json_key(&j, "in");
		json_open(&j, '[');
		json_close(&j, ']');
	}
	secret_json_options(&j, i, OPTION_IN, "in");
	if (invocation_has(i, OPTION_KIND))
		json_key_str(&j, "kind", invocation_value(i, OPTION_KIND));
	if (invocation_has(i, OPTION_VARIABLE)) {
		secret_json_options(&j, i, OPTION_VARIABLE, "env");
	} else if (!policy_known_secret(v->name) && !invocation_has(i, OPTION_FILE) &&
		   !strchr(v->name, '-')) {
		json_key(&j, "env");
		json_open(&j, '[');
		json_str(&j, v->name);
		json_close(&j, ']');
	}
	secret_json_files(&j, v);
	secret_json_from(&j, i);
	if (expires)
		json_key_u64(&j, "expires", expires);
	if (invocation_has(i, OPTION_REFRESH))
		json_key_str(&j, "refresh", invocation_value(i, OPTION_REFRESH));
	json_close(&j, '}');
	json_close(&j, '}');
	json_close(&j, '}');
	return buf_error(into);
}

/* Removes the place from the error: the grammar names one in a text that nobody wrote. */
static void secret_strip_place(struct error *e)
{
	const char *at = str_after(e->text, "secret:");
	char text[sizeof(e->text)];

	while (at && *at && (strchr("0123456789:", *at)))
		at++;
	if (!at)
		return;
	(void)snprintf(text, sizeof(text), "%s", at + (*at == ' '));
	(void)snprintf(e->text, sizeof(e->text), "%s", text);
}

static int secret_section(struct secret_verb *v, struct policy_secret *ret_secret)
{
	_cleanup_buf_ struct buf text = BUF_INIT(SECRET_TEXT_MAX);
	struct policy policy;
	int r = secret_write_section(v, &text);

	if (r < 0)
		return v->e.code ? r : error_set(&v->e, r, "that is too much to say");
	const char *kept = arena_str(&v->arena, buf_str(&text));
	const struct policy_source source = {POLICY_STORE, "secret", span_of_str(kept)};

	if (!kept)
		return error_set(&v->e, -ENOMEM, "no memory");
	r = policy_merge(&source, 1, NULL, 0, &v->arena, &policy, &v->e);
	if (r < 0) {
		secret_strip_place(&v->e);
		if (!policy_known_secret(v->name) && !invocation_has(v->i, OPTION_HOST))
			error_next(&v->e, "Name them: bawn secret add %s --host HOST", v->name);
		return r;
	}
	*ret_secret = policy.secrets.items[0];
	return 0;
}

/* --- add: the value --- */

/* Reads a line that is not shown while it is typed.  It asks only after the terminal has stopped
 * echoing. */
static int secret_read_terminal(struct secret_verb *v, int fd, const char *what, struct buf *into)
{
	struct termios before;
	struct termios quiet;
	char c = 0;
	ssize_t n = 0;

	if (tcgetattr(fd, &before) < 0)
		return -errno;
	quiet = before;
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL | ISIG);
	/* This ends the line, so that we see it at once. */
	quiet.c_cc[VEOL] = SECRET_CANCEL;
	if (tcsetattr(fd, TCSAFLUSH, &quiet) < 0)
		return -errno;
	text_printf(&v->err, "%s for %s, not shown: ", what, v->name);
	while ((n = read(fd, &c, 1)) == 1 && c != '\n' && c != SECRET_CANCEL)
		buf_put_char(into, c);
	int r = n < 0 ? -errno : n == 1 && c == SECRET_CANCEL ? -ECANCELED : buf_error(into);

	c = 0;
	(void)tcsetattr(fd, TCSAFLUSH, &before);
	text_printf(&v->err, "\n");
	return r;
}

/* Reads from the terminal if there is one to ask at, else from standard input. */
static int secret_ask(struct secret_verb *v, const struct policy_secret *s, struct buf *into)
{
	static const char *const parts[] = {"Key id", "Secret key", "Session token (or nothing)"};
	bool aws = s->kind == PLAN_SECRET_AWS;
	_cleanup_fd_ int tty = -1;
	int r = 0;

	if (!isatty(STDIN_FILENO)) {
		r = fd_read_all(STDIN_FILENO, into);
		while (r == 0 && into->len > 0 && strchr("\r\n", into->ptr[into->len - 1]))
			into->len--;
		return r < 0 ? error_sys(&v->e, r, "cannot read the value from standard input") : 0;
	}
	tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (tty < 0)
		return error_sys(&v->e, -errno, "there is no terminal to ask at");
	for (size_t i = 0; r == 0 && i < (aws ? BAWN_ARRAY_SIZE(parts) : 1); i++) {
		size_t before = into->len;

		if (i > 0)
			buf_put_char(into, '\n');
		r = secret_read_terminal(v, tty, aws ? parts[i] : "Value", into);
		/* Without a token there is no third line. */
		if (i > 0 && into->len == before + 1)
			into->len = before;
	}
	if (r == -ECANCELED)
		return error_set(&v->e, r, "nothing was kept");
	return r < 0 ? error_sys(&v->e, r, "cannot read the value") : 0;
}

/* Notes the shape of its parts. */
static int secret_shapes(struct secret_verb *v, struct policy_secret *s, struct span value)
{
	const struct plan_secret kind = {.kind = s->kind};
	struct plan_string *items = arena_alloc(&v->arena, PLAN_SECRET_PARTS_MAX * sizeof(*items));
	size_t count = 0;

	for (; items && count < PLAN_SECRET_PARTS_MAX; count++) {
		struct span part = secrets_part(&kind, value, count);
		_cleanup_buf_ struct buf shape = BUF_INIT(SECRET_TEXT_MAX);

		if (part.len == 0)
			break;
		shape_of(part, &shape);
		items[count].text = arena_str(&v->arena, buf_str(&shape));
		if (!items[count].text || shape_check(buf_span(&shape)))
			items[count].text = SHAPE_UNKNOWN;
	}
	if (!items)
		return error_set(&v->e, -ENOMEM, "no memory");
	s->shapes.items = items;
	s->shapes.count = count;
	return 0;
}

static int secret_keep(struct secret_verb *v, struct policy_secret *s, struct buf *value)
{
	struct span ignored;
	int r = secret_shapes(v, s, buf_span(value));

	if (r == 0 && s->from == POLICY_FROM_STORE) {
		if (secret_keyring_works(&v->host, &v->arena))
			s->from = POLICY_FROM_KEYRING;
		r = secret_value_put(&v->host, s->from, s->name, buf_span(value), &v->arena, &v->e);
	}
	if (r == 0)
		r = secret_store_key(&v->host, true, &v->arena, &ignored, &v->e);
	return r < 0 ? r : secret_store_put(&v->host, s, &v->arena, &v->e);
}

static const char *secret_source_words(const struct policy_secret *s, struct arena *arena)
{
	static const char *const words[] = {
		[POLICY_FROM_STORE] = "a file of bawn's own",
		[POLICY_FROM_KEYRING] = "your keyring",
		[POLICY_FROM_ENV] = "your variable ",
		[POLICY_FROM_FILE] = "the file ",
		[POLICY_FROM_COMMAND] = "the command ",
	};
	const char *text = arena_printf(arena, "%s%s", words[s->from], s->from_text);

	return text ? text : words[s->from];
}

/* A secret opens nothing by itself: if no rule leads to its host, says so, with the words to type.
 * p is NULL: the rules cannot be read here. */
static void secret_say_no_rule(const struct text *t, const char *lead, const struct prepared *p,
			       const struct policy_secret *s)
{
	_cleanup_(refused_hosts_fini) struct refused_hosts known = REFUSED_HOSTS_INIT;
	const struct plan_binding *at = s->bindings.count ? &s->bindings.items[0] : NULL;
	_cleanup_buf_ struct buf host = BUF_INIT(SECRET_TEXT_MAX);

	if (!at || (p && plan_rule_to(p->plan->network.items, p->plan->network.count, s)))
		return;
	refused_hosts_read(&known);
	uint64_t port = at->ports.count ? at->ports.items[0].from : 443;
	const char *bundle = refused_hosts_bundle(&known, at->host, port);
	const char *quote = !bundle && at->host[0] == '*' ? "'" : "";

	buf_putf(&host, "%s", at->host);
	if (port != 443 && port != 80)
		buf_putf(&host, ":%llu", (unsigned long long)port);
	text_printf(t, "%s%s: bawn run %s %s%s%s\n", lead,
		    p ? "no rule leads there, so no box has it"
		      : "it opens nothing by itself; a rule has to lead there",
		    bundle ? "--use" : "--allow", quote, bundle ? bundle : buf_str(&host), quote);
}

/* Asks the rules of this folder, if it can be a workspace. */
static void secret_add_rules(struct secret_verb *v, const struct policy_secret *s)
{
	_cleanup_prepared_ struct prepared prepared = PREPARED_INIT;
	struct error ignored = ERROR_INIT;
	const struct invocation plain = {.verb = v->i->verb};
	bool known = prepare_rules(&plain, &prepared, &ignored) == 0;

	secret_say_no_rule(&v->err, "bawn: ", known ? &prepared : NULL, s);
}

static int secret_add(struct secret_verb *v)
{
	_cleanup_secret_ struct buf value = secret_buf();
	struct policy_secret s;
	uint64_t expires = 0;
	int sources = invocation_has(v->i, OPTION_FROM_ENV) +
		      invocation_has(v->i, OPTION_FROM_FILE) +
		      invocation_has(v->i, OPTION_FROM_COMMAND);

	memset(&s, 0, sizeof(s));
	if (sources > 1)
		return error_set(&v->e, -EINVAL, "a value has one source; name one --from-...");
	int r = secret_section(v, &s);

	if (r < 0)
		return r;
	r = s.from == POLICY_FROM_STORE ? secret_ask(v, &s, &value)
					: secret_value_read(&v->host, &s, &value, &expires, &v->e);
	if (r < 0)
		return r;
	const char *wrong = secrets_check_value(s.kind, buf_span(&value));

	if (wrong)
		return error_set(&v->e, -EINVAL, "the value cannot be used: %s", wrong);
	r = secret_keep(v, &s, &value);
	if (r < 0)
		return r;
	_cleanup_buf_ struct buf places = BUF_INIT(SECRET_TEXT_MAX);

	for (size_t i = 0; i < s.bindings.count; i++) {
		buf_put_str(&places, i ? ", " : "");
		secret_show_binding(&s.bindings.items[i], &places);
	}
	text_printf(&v->err, "bawn: %s works at %s; its value: %s\n", s.name, buf_str(&places),
		    secret_source_words(&s, &v->arena));
	secret_add_rules(v, &s);
	return 0;
}

/* --- ls --- */

static void secret_put_places(const struct policy_secret *s, struct buf *into)
{
	const bool in[] = {s->in_authorization, s->in_query, s->in_body, s->in_websocket};
	const char *lead = " in ";

	for (size_t i = 0; i < s->bindings.count; i++) {
		buf_put_str(into, i ? ", " : "");
		secret_show_binding(&s->bindings.items[i], into);
	}
	for (size_t i = 0; i < SECRET_IN_COUNT; i++)
		if (in[i]) {
			buf_putf(into, "%s%s", lead, secret_in_words[i]);
			lead = ", ";
		}
	for (size_t i = 0; i < s->headers.count; i++) {
		buf_putf(into, "%s%s", lead, s->headers.items[i].text);
		lead = ", ";
	}
	for (size_t i = 0; i < s->parameters.count; i++)
		buf_putf(into, "%s%s=", i ? ", " : " as ", s->parameters.items[i].text);
}

static void secret_put_time(uint64_t seconds, struct buf *into)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	char text[32];

	if (gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%MZ", &tm) > 0)
		buf_put_str(into, text);
}

static void secret_print(struct secret_verb *v, const struct policy_secret *s)
{
	_cleanup_buf_ struct buf words = BUF_INIT(SECRET_TEXT_MAX);
	_cleanup_buf_ struct buf line = BUF_INIT(SECRET_TEXT_MAX);

	secret_put_places(s, &words);
	buf_putf(&words, "; from %s", secret_source_words(s, &v->arena));
	for (size_t i = 0; i < s->variables.count; i++)
		buf_putf(&words, "%s%s", i ? ", " : "; inside as ", s->variables.items[i].text);
	for (size_t i = 0; i < s->files.count; i++)
		buf_putf(&words, "; inside in %s", s->files.items[i].path);
	if (s->expires) {
		buf_put_str(&words, s->expires <= (uint64_t)time(NULL) ? "; EXPIRED " : "; until ");
		secret_put_time(s->expires, &words);
	}
	buf_putf(&words, " (%s)", s->origin);
	if (strlen(s->name) + 2 > SECRET_COLUMN)
		buf_putf(&line, "%s\n%*s", s->name, SECRET_COLUMN, "");
	else
		buf_putf(&line, "%-*s", SECRET_COLUMN, s->name);
	help_wrap(&line, buf_str(&words), SECRET_COLUMN, (size_t)v->out.width);
	text_printf(&v->out, "%s\n", buf_str(&line));
}

static void secret_json_strings(struct json *j, const char *key, const struct plan_string *items,
				size_t count)
{
	json_key(j, key);
	json_open(j, '[');
	for (size_t i = 0; i < count; i++)
		json_str(j, items[i].text);
	json_close(j, ']');
}

static void secret_print_json(struct secret_verb *v, const struct policy_secret *s, struct json *j)
{
	json_open(j, '{');
	json_key_str(j, "name", s->name);
	json_key_str(j, "kind", plan_secret_words[s->kind]);
	json_key(j, "places");
	json_open(j, '[');
	for (size_t i = 0; i < s->bindings.count; i++) {
		_cleanup_buf_ struct buf place = BUF_INIT(SECRET_TEXT_MAX);

		secret_show_binding(&s->bindings.items[i], &place);
		json_str(j, buf_str(&place));
	}
	json_close(j, ']');
	json_key_bool(j, "authorization", s->in_authorization);
	json_key_bool(j, "query", s->in_query);
	json_key_bool(j, "body", s->in_body);
	json_key_bool(j, "websocket", s->in_websocket);
	secret_json_strings(j, "headers", s->headers.items, s->headers.count);
	secret_json_strings(j, "parameters", s->parameters.items, s->parameters.count);
	secret_json_strings(j, "variables", s->variables.items, s->variables.count);
	json_key_str(j, "from", policy_from_words[s->from]);
	json_key_str(j, "source", secret_source_words(s, &v->arena));
	json_key_u64(j, "expires", s->expires);
	json_key_u64(j, "refresh", s->refresh);
	json_key_str(j, "origin", s->origin);
	json_close(j, '}');
}

static int secret_ls(struct secret_verb *v, const struct prepared *p)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	struct json j = JSON_INIT(&out, true);
	bool json = invocation_has(v->i, OPTION_JSON);

	json_open(&j, '[');
	for (size_t i = 0; i < p->sources.secrets.count; i++) {
		if (json)
			secret_print_json(v, &p->sources.secrets.items[i], &j);
		else
			secret_print(v, &p->sources.secrets.items[i]);
	}
	json_close(&j, ']');
	buf_put_char(&out, '\n');
	if (json)
		text_write(&v->out, &out);
	else if (p->sources.secrets.count == 0)
		text_printf(&v->out, "No secrets. bawn secret add NAME keeps one.\n");
	return EXIT_OK;
}

/* --- rm --- */

static int secret_rm(struct secret_verb *v)
{
	struct policy stored;
	unsigned int from = POLICY_FROM_COUNT;
	int r = secret_store_list(&v->host, &v->arena, &stored, &v->e);

	for (size_t i = 0; r == 0 && i < stored.secrets.count; i++)
		if (str_equal(stored.secrets.items[i].name, v->name))
			from = stored.secrets.items[i].from;
	if (r == 0 && from == POLICY_FROM_COUNT) {
		(void)error_set(&v->e, -ENOENT, "there is no stored secret %s", v->name);
		error_next(&v->e, "'bawn secret ls' shows them, and which file they are from.");
		return -ENOENT;
	}
	/* Remove the value first: a section without a value is seen, a value without a section is
	 * not. */
	if (r == 0 && from < POLICY_FROM_ENV) {
		r = secret_value_remove(&v->host, from, v->name, &v->arena, &v->e);
		r = r == -ENOENT ? 0 : r;
	}
	if (r == 0)
		r = secret_store_remove(&v->host, v->name, &v->arena, &v->e);
	if (r == 0)
		text_printf(&v->out, "removed  %s\n", v->name);
	return r;
}

/* --- test --- */

/* A request, and why its secret is not put in; NULL: it is. */
struct secret_tried {
	const char *url, *method, *why; /* url NULL: none was asked for */
};

/* NULL: it would be put in. */
static const char *secret_test_url(const struct policy_secret *s, const char *url,
				   const char *method, uint8_t *bytes)
{
	const char *tls = str_after(url, "https://");
	const char *rest = tls ? tls : str_after(url, "http://");
	struct secrets_place at = {.scheme = tls ? PLAN_SCHEME_TLS : PLAN_SCHEME_HTTP,
				   .method = span_of_str(method)};
	const struct plan_secret secret = {.name = s->name,
					   .bindings = {s->bindings.items, s->bindings.count}};
	struct authority a;
	struct http_path path;
	const char *why = NULL;

	if (!rest)
		return "this is no URL of http or https";
	size_t len = strcspn(rest, "/?#");

	if (authority_parse((struct span){(const uint8_t *)rest, len}, &a) < 0 || a.is_address)
		return "a secret is bound to names, and this URL has none";
	if (http_path_read(span_of_str(rest[len] == '/' ? rest + len : "/"), bytes, &path, &why) <
	    0)
		return why;
	at.host = a.name;
	at.port = a.port ? a.port : tls ? 443 : HTTP_PORT;
	at.path = path.path;
	at.sure = path.sure;
	return secrets_refuse(&secret, &at);
}

/* How long a part of a secret's value is, and how it looks; 0: it has no such part. */
static size_t secret_part_shape(const struct policy_secret *s, struct span value, size_t at,
				struct buf *shape)
{
	const struct plan_secret kind = {.kind = s->kind};
	struct span part = secrets_part(&kind, value, at);

	if (part.len > 0)
		shape_of(part, shape);
	return part.len;
}

static void secret_test_print(struct secret_verb *v, const struct policy_secret *s,
			      struct span value)
{
	secret_print(v, s);
	for (size_t i = 0; i < PLAN_SECRET_PARTS_MAX; i++) {
		_cleanup_buf_ struct buf shape = BUF_INIT(SECRET_TEXT_MAX);
		size_t len = secret_part_shape(s, value, i, &shape);

		if (len > 0)
			text_printf(&v->out, "%-*s%zu bytes, of the shape %s\n", SECRET_COLUMN,
				    i ? "" : "value", len, buf_str(&shape));
	}
}

/* What ls --json says of it, how its value looks, whether a rule leads there, and the URL's answer. */
static void secret_test_json(struct secret_verb *v, const struct policy_secret *s,
			     struct span value, bool reached, const struct secret_tried *tried)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	struct json j = JSON_INIT(&out, true);

	json_open(&j, '{');
	json_key(&j, "secret");
	secret_print_json(v, s, &j);
	json_key(&j, "value");
	json_open(&j, '[');
	for (size_t i = 0; i < PLAN_SECRET_PARTS_MAX; i++) {
		_cleanup_buf_ struct buf shape = BUF_INIT(SECRET_TEXT_MAX);
		size_t len = secret_part_shape(s, value, i, &shape);

		if (len == 0)
			continue;
		json_open(&j, '{');
		json_key_u64(&j, "bytes", len);
		json_key_str(&j, "shape", buf_str(&shape));
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_key_bool(&j, "rule_leads_there", reached);
	if (tried->url) {
		json_key(&j, "request");
		json_open(&j, '{');
		json_key_str(&j, "method", tried->method);
		json_key_str(&j, "url", tried->url);
		json_key_bool(&j, "put_in", !tried->why);
		if (tried->why)
			json_key_str(&j, "why", tried->why);
		json_close(&j, '}');
	}
	json_close(&j, '}');
	buf_put_char(&out, '\n');
	text_write(&v->out, &out);
}

static int secret_test(struct secret_verb *v, const struct prepared *p)
{
	_cleanup_secret_ struct buf value = secret_buf();
	const struct policy_secret *s = NULL;
	const char *url = v->i->argument_count > 2 ? v->i->arguments[2] : NULL;
	const char *asked = invocation_value(v->i, OPTION_METHOD);
	struct secret_tried tried = {.url = url, .method = asked ? asked : "GET"};
	uint8_t *bytes = arena_alloc(&v->arena, url ? strlen(url) + 1 : 1);
	uint64_t expires = 0;

	for (size_t i = 0; i < p->sources.secrets.count; i++)
		if (str_equal(p->sources.secrets.items[i].name, v->name))
			s = &p->sources.secrets.items[i];
	if (!s)
		return error_set(&v->e, -ENOENT, "there is no secret %s", v->name);
	if (!bytes)
		return error_set(&v->e, -ENOMEM, "no memory");
	int r = secret_value_read(&p->sources.host, s, &value, &expires, &v->e);

	if (r < 0)
		return r;
	tried.why = url ? secret_test_url(s, url, tried.method, bytes) : NULL;
	if (invocation_has(v->i, OPTION_JSON)) {
		secret_test_json(v, s, buf_span(&value),
				 plan_rule_to(p->plan->network.items, p->plan->network.count, s),
				 &tried);
		return tried.why ? EXIT_FOUND : EXIT_OK;
	}
	secret_test_print(v, s, buf_span(&value));
	char lead[SECRET_COLUMN + 1];

	(void)snprintf(lead, sizeof(lead), "%-*s", SECRET_COLUMN, "in a box");
	secret_say_no_rule(&v->out, lead, p, s);
	if (!url)
		return 0;
	text_styled(&v->out, tried.why ? TEXT_BAD : TEXT_GOOD, "%-*s", SECRET_COLUMN,
		    tried.why ? "refused" : "put in");
	text_printf(&v->out, "%s %s%s%s\n", tried.method, url, tried.why ? ": " : "",
		    tried.why ? tried.why : "");
	return tried.why ? EXIT_FOUND : EXIT_OK;
}

/* --- the verb --- */

static int secret_complain(struct secret_verb *v, int r)
{
	verb_complain(&v->e);
	return r == -EINVAL ? EXIT_USAGE : r == -ENOENT ? EXIT_FOUND : EXIT_BAWN;
}

/* For all words but add: reads the whole policy, so that a file's secrets are there, too. */
static int secret_with_policy(struct secret_verb *v,
			      int (*word)(struct secret_verb *v, const struct prepared *p))
{
	_cleanup_prepared_ struct prepared prepared = PREPARED_INIT;

	if (prepare_rules(v->i, &prepared, &v->e) < 0) {
		verb_complain(&v->e);
		return EXIT_BAWN;
	}
	int r = word(v, &prepared);

	return r < 0 ? secret_complain(v, r) : r;
}

static int secret_count_arguments(struct secret_verb *v, const char *word)
{
	int most = str_equal(word, "test") ? 3 : str_equal(word, "ls") ? 1 : 2;

	if (v->i->argument_count > most)
		(void)error_set(&v->e, -EINVAL,
				"'%s' is one argument too many for 'bawn secret %s'",
				v->i->arguments[most], word);
	else if (most > 1 && !v->name)
		(void)error_set(&v->e, -EINVAL, "'bawn secret %s' needs a NAME", word);
	else if (v->name && !secret_name_is_good(v->name))
		(void)error_set(&v->e, -EINVAL,
				"%.64s is no name for a secret: letters, digits, _ and -", v->name);
	else
		return 0;
	error_next(&v->e, "Usage: bawn %s %s", v->i->verb->name, v->i->verb->usage);
	return v->e.code;
}

int verb_secret(const struct invocation *i)
{
	_cleanup_(secret_fini) struct secret_verb v = {
		.i = i,
		.name = i->argument_count > 1 ? i->arguments[1] : NULL,
		.out = text_open(STDOUT_FILENO),
		.err = text_open(STDERR_FILENO),
		.arena = ARENA_INIT(PLAN_ARENA_MAX),
		.e = ERROR_INIT,
	};
	const char *word = i->arguments[0];
	int r = secret_count_arguments(&v, word);

	if (r < 0)
		return secret_complain(&v, r);
	if (str_equal(word, "ls"))
		return secret_with_policy(&v, secret_ls);
	if (str_equal(word, "test"))
		return secret_with_policy(&v, secret_test);
	r = host_gather_user(&v.arena, &v.host, &v.e);
	/* A program of this folder does not count as one of the user's. */
	_cleanup_free_ char *here = realpath(".", NULL);

	v.host.workspace.path = here;
	if (r == 0)
		r = str_equal(word, "add") ? secret_add(&v) : secret_rm(&v);
	return r < 0 ? secret_complain(&v, r) : EXIT_OK;
}
