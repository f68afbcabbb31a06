/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a session: what was refused, by program, each with the narrowest way to allow it.
 *
 *	bawn: refused, by program:
 *	  curl        example.net: no rule names this host
 *	  npm, node   a.example.org, 5 times: no rule names this host; --allow a.example.org
 *	              github.com: bawn run --use github-read
 *	  strace      looking into programs (ptrace): bawn run --debug
 *	  as usual    2 hosts of telemetry, 12 files
 *	  More: 'bawn why HOST' or 'bawn log --verdict refused'.
 *
 * Whoever acts in the box chooses which names are there.  So a host that one program tried once
 * gets no text to copy, and no line ever allows two hosts.  What programs usually ask for
 * (share/usual.tsv) is only counted.
 */
#include "refused.h"

#include "buf.h"
#include "help.h"
#include "refused_hosts.h"
#include "str.h"
#include "usual.h"
#include "why_path.h"
#include "words.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	SUMMARY_ROWS = 14, /* most rows; the others are counted */
	SUMMARY_LABEL = 12,
	SUMMARY_LABEL_MAX = 30,
	SUMMARY_PROGRAMS = 3, /* most programs that are named for one thing */
	SUMMARY_FILES = 3,    /* most files of one program */
	SUMMARY_BYTES = 64 << 10,
};

struct summary {
	const struct refused *refused;
	const struct plan *plan;
	const struct text *text;
	struct refused_hosts known;
	size_t rows;
	uint64_t more; /* how many found no row */
	char label[SUMMARY_LABEL_MAX + 1];
	size_t telemetry, files, calls; /* as usual */
	bool hosts;                     /* a host has a row */
};

/* Prints a row.  Of rows with the same label only the first one has it. */
static void summary_row(struct summary *s, const char *label, const char *words)
{
	_cleanup_buf_ struct buf line = BUF_INIT(SUMMARY_BYTES);
	size_t len = strlen(label);

	if (s->rows == SUMMARY_ROWS) {
		s->more++;
		return;
	}
	if (s->rows++ == 0)
		text_printf(s->text, "bawn: refused, by program:\n");
	if (len > 0 && str_equal(s->label, label)) {
		label = "";
		len = 0;
	} else {
		(void)snprintf(s->label, sizeof(s->label), "%s", label);
	}
	/* If it is no terminal, a row is one line, so that it can be searched. */
	help_wrap(&line, words, SUMMARY_LABEL + 2,
		  s->text->tty ? (size_t)s->text->width : SUMMARY_BYTES);
	if (len > SUMMARY_LABEL - 2)
		text_printf(s->text, "  %s\n  %*s%s\n", label, SUMMARY_LABEL, "", buf_str(&line));
	else
		text_printf(s->text, "  %-*s%s\n", SUMMARY_LABEL, label, buf_str(&line));
}

/* --- who ------------------------------------------------------------------------------- */

/* Puts "npm, node".  Returns how many programs there are. */
static size_t summary_programs(const struct summary *s, const char *host,
			       char label[SUMMARY_LABEL_MAX + 1])
{
	_cleanup_buf_ struct buf names = BUF_INIT(SUMMARY_BYTES);
	size_t count = 0;

	for (size_t i = 0; i < s->refused->wanted_count; i++) {
		const struct refused_wanted *w = &s->refused->wanted[i];

		if (w->what != MESSAGE_WANTED_HOST || !w->program[0] || !str_equal(w->name, host))
			continue;
		if (count++ < SUMMARY_PROGRAMS) {
			buf_put_str(&names, names.len ? ", " : "");
			text_name(&names, span_of_str(w->program));
		}
	}
	(void)snprintf(label, SUMMARY_LABEL_MAX + 1, "%s",
		       names.len ? buf_str(&names) : "a program");
	return count;
}

/* Puts one program as a label.  The box chose its name, so it is escaped. */
static void summary_label(const char *program, char label[SUMMARY_LABEL_MAX + 1])
{
	_cleanup_buf_ struct buf name = BUF_INIT(SUMMARY_BYTES);

	text_name(&name, span_of_str(program));
	(void)snprintf(label, SUMMARY_LABEL_MAX + 1, "%s", *program ? buf_str(&name) : "a program");
}

/* The program is the command, or one that was refused something. */
static bool summary_runs(const struct summary *s, const char *program)
{
	const char *command = s->plan->argv.count ? s->plan->argv.items[0].text : "";
	const char *slash = strrchr(command, '/');

	if (str_equal(slash ? slash + 1 : command, program))
		return true;
	for (size_t i = 0; i < s->refused->wanted_count; i++)
		if (str_equal(s->refused->wanted[i].program, program))
			return true;
	return false;
}

/* --- hosts ----------------------------------------------------------------------------- */

/* What --allow needs to allow it; empty: no such word would help. */
static void summary_flag(const struct refused_item *item, char *text, size_t size)
{
	const char *host = str_after(item->line, "- allow: ");
	size_t len = host ? strlen(host) : 0;

	if (len > 1 && host[0] == '"') {
		host++;
		len -= 2;
	}
	(void)snprintf(text, size, "%.*s", (int)len, len ? host : "");
}

/* A bare address: nobody can see whose it is, so we do not offer to allow it. */
static bool summary_is_address(const char *host)
{
	return strchr(host, ':') || host[strspn(host, "0123456789.")] == '\0';
}

/* A rule names it, and it leads to this machine or its networks. */
static bool summary_is_private(const struct refused_item *item)
{
	return str_after(item->reason, MESSAGE_REASON_PRIVATE) != NULL;
}

static const char *summary_bundle(const struct summary *s, const struct refused_item *item)
{
	bool host = item->kind == MESSAGE_EVENT_DNS || item->kind == MESSAGE_EVENT_CONNECT;

	/* No rule names it, so a bundle or a rule would open it. */
	return host && item->line[0] && !summary_is_private(item)
		       ? refused_hosts_bundle(&s->known, item->host, item->port)
		       : NULL;
}

/* It was not refused: nobody could reach it, it went on without what was masked, or it is a limit. */
static bool summary_is_apart(const struct refused_item *item)
{
	return item->kind == MESSAGE_EVENT_LIMIT ||
	       str_after(item->reason, MESSAGE_REASON_NO_ADDRESS) ||
	       str_equal(item->reason, MESSAGE_REASON_MASKED);
}

static void summary_item(struct summary *s, const struct refused_item *item)
{
	_cleanup_buf_ struct buf words = BUF_INIT(SUMMARY_BYTES);
	const char *bundle = summary_bundle(s, item);
	char label[SUMMARY_LABEL_MAX + 1], name[320], flag[320], question[320];
	size_t programs = summary_programs(s, item->host, label);

	refused_name(item, name, sizeof(name));
	refused_question(item, question, sizeof(question));
	summary_flag(item, flag, sizeof(flag));
	text_escape(&words, span_of_str(name));
	if (item->count > 1)
		buf_putf(&words, ", %" PRIu64 " times", item->count);
	buf_put_str(&words, ": ");
	if (bundle)
		buf_putf(&words, "bawn run --use %s", bundle);
	else
		text_escape(&words, span_of_str(item->reason));
	if (item->origin[0]) {
		buf_put_str(&words, " (");
		words_text(&words, s->plan, item->origin);
		buf_put_char(&words, ')');
	}
	/* It would reach the user's own network: the user has to write that line. */
	if (summary_is_private(item)) {
		buf_put_str(&words, "; a rule with private: true opens it: bawn why ");
		text_escape(&words, span_of_str(question));
	}
	if (!bundle && flag[0] && !summary_is_address(item->host) &&
	    (item->count > 1 || programs > 1)) {
		buf_put_str(&words, "; --allow ");
		text_escape(&words, span_of_str(flag));
	}
	summary_row(s, label, buf_str(&words));
	s->hosts = true;
}

/* Puts the items by program: those of the same label together, in the order of the first. */
static void summary_items(struct summary *s)
{
	const struct refused *r = s->refused;
	char label[SUMMARY_LABEL_MAX + 1], other[SUMMARY_LABEL_MAX + 1];
	_cleanup_free_ bool *done = calloc(r->count + 1, sizeof(*done));

	for (size_t i = 0; done && i < r->count; i++) {
		if (refused_hosts_is_telemetry(r->items[i].host)) {
			s->telemetry++;
			done[i] = true;
		}
		done[i] = done[i] || summary_is_apart(&r->items[i]);
		if (done[i])
			continue;
		(void)summary_programs(s, r->items[i].host, label);
		for (size_t n = i; n < r->count; n++) {
			(void)summary_programs(s, r->items[n].host, other);
			if (done[n] || !str_equal(label, other) || summary_is_apart(&r->items[n]) ||
			    refused_hosts_is_telemetry(r->items[n].host))
				continue;
			summary_item(s, &r->items[n]);
			done[n] = true;
		}
	}
	s->more += r->left_out;
}

/* --- files ----------------------------------------------------------------------------- */

/* The program is `whose`: "vim", also as vim.basic; "python3", also as python3.11. */
static bool summary_is_program(const char *program, const char *whose)
{
	const char *rest = str_after(program, whose);

	return rest && (*rest == '\0' || *rest == '.');
}

/* It is one of the user's own files, and not one that programs look for at each start. */
static bool summary_file_matters(const struct summary *s, const struct refused_wanted *w)
{
	const char *path = w->name;
	const char *home = s->plan->home;
	size_t len = strlen(home);

	if (!str_path_beneath(path, home))
		return str_path_beneath(path, "/home") || str_path_beneath(path, "/root") ||
		       str_path_beneath(path, s->plan->workspace);
	for (size_t i = 0; i < usual_count; i++) {
		const char *name = str_after(usual[i].name, "~/");
		size_t n = name ? strlen(name) : 0;

		if (usual[i].kind == USUAL_OWN && !summary_is_program(w->program, usual[i].whose))
			continue;
		if ((usual[i].kind == USUAL_FILE || usual[i].kind == USUAL_OWN) && name &&
		    path[len] == '/' && strncmp(path + len + 1, name, n) == 0 &&
		    (path[len + 1 + n] == '/' || path[len + 1 + n] == '\0'))
			return false;
	}
	return path[len] == '/';
}

static void summary_files_of(struct summary *s, size_t first, bool *done)
{
	const struct refused *r = s->refused;
	_cleanup_buf_ struct buf words = BUF_INIT(SUMMARY_BYTES);
	const char *program = r->wanted[first].program;
	char label[SUMMARY_LABEL_MAX + 1];
	bool readable = why_path_is_readable(s->plan, r->wanted[first].name);
	size_t count = 0;

	for (size_t i = first; i < r->wanted_count; i++) {
		const struct refused_wanted *w = &r->wanted[i];

		if (done[i] || w->what != MESSAGE_WANTED_FILE || !str_equal(w->program, program) ||
		    !summary_file_matters(s, w) ||
		    why_path_is_readable(s->plan, w->name) != readable)
			continue;
		done[i] = true;
		if (count++ < SUMMARY_FILES) {
			buf_put_str(&words, words.len ? ", " : "");
			words_path(&words, s->plan, w->name);
		}
	}
	if (count > SUMMARY_FILES)
		buf_putf(&words, " and %zu more", count - SUMMARY_FILES);
	buf_put_str(&words, readable     ? ": read-only here"
			    : count == 1 ? ": a file that the box is not shown"
					 : ": files that the box is not shown");
	summary_label(program, label);
	summary_row(s, label, buf_str(&words));
}

/* --- system calls ----------------------------------------------------------------------- */

static bool summary_call_is(const char *call, enum usual_kind kind)
{
	for (size_t i = 0; i < usual_count; i++)
		if (usual[i].kind == kind && str_equal(usual[i].name, call))
			return true;
	return false;
}

/* How to run the program without its own sandbox. */
static const char *summary_without_sandbox(const struct summary *s, const char *program)
{
	if (summary_runs(s, "codex"))
		return "codex --dangerously-bypass-approvals-and-sandbox";
	if (str_after(program, "chrom") || str_equal(program, "electron"))
		return "--no-sandbox, a flag of its own";
	return "switch that off in its own settings";
}

static void summary_calls_of(struct summary *s, size_t first, enum usual_kind kind, bool *done)
{
	const struct refused *r = s->refused;
	_cleanup_buf_ struct buf words = BUF_INIT(SUMMARY_BYTES);
	const char *program = r->wanted[first].program;
	char label[SUMMARY_LABEL_MAX + 1];

	buf_put_str(&words, kind == USUAL_DEBUG ? "looking into other programs ("
						: "a sandbox of its own (");
	for (size_t i = first; i < r->wanted_count; i++) {
		const struct refused_wanted *w = &r->wanted[i];

		if (done[i] || w->what != MESSAGE_WANTED_CALL || !str_equal(w->program, program) ||
		    !summary_call_is(w->name, kind))
			continue;
		buf_put_str(&words, i == first ? "" : ", ");
		text_escape(&words, span_of_str(w->name));
		done[i] = true;
	}
	if (kind == USUAL_DEBUG)
		buf_put_str(&words, "): bawn run --debug");
	else
		buf_putf(&words, "): it is in one already; %s",
			 summary_without_sandbox(s, program));
	summary_label(program, label);
	summary_row(s, label, buf_str(&words));
}

static void summary_wanted(struct summary *s)
{
	const struct refused *r = s->refused;
	_cleanup_free_ bool *done = calloc(r->wanted_count + 1, sizeof(*done));

	for (size_t i = 0; done && i < r->wanted_count; i++) {
		const struct refused_wanted *w = &r->wanted[i];

		if (done[i] || w->what == MESSAGE_WANTED_HOST)
			continue;
		if (w->what == MESSAGE_WANTED_FILE && summary_file_matters(s, w))
			summary_files_of(s, i, done);
		else if (w->what == MESSAGE_WANTED_FILE)
			s->files++;
		else if (summary_call_is(w->name, USUAL_DEBUG))
			summary_calls_of(s, i, USUAL_DEBUG, done);
		else if (summary_call_is(w->name, USUAL_NAMESPACE))
			summary_calls_of(s, i, USUAL_NAMESPACE, done);
		else
			s->calls++;
	}
	s->files += r->unwanted[MESSAGE_WANTED_FILE];
	s->calls += r->unwanted[MESSAGE_WANTED_CALL];
}

/* --- what else -------------------------------------------------------------------------- */

static void summary_count(struct buf *into, size_t count, const char *one, const char *many)
{
	if (count > 0)
		buf_putf(into, "%s%zu %s", into->len ? ", " : "", count, count == 1 ? one : many);
}

/* Files and calls alone are no news: there are some in every session. */
static void summary_usual(struct summary *s)
{
	_cleanup_buf_ struct buf words = BUF_INIT(SUMMARY_BYTES);

	if (s->rows == 0 && s->telemetry == 0)
		return;
	summary_count(&words, s->telemetry, "host of telemetry", "hosts of telemetry");
	summary_count(&words, s->files, "file", "files");
	summary_count(&words, s->calls, "system call", "system calls");
	if (words.len == 0)
		return;
	if (s->rows == 0)
		text_printf(s->text, "bawn: refused, as usual: %s\n", buf_str(&words));
	else
		text_printf(s->text, "  %-*s%s\n", SUMMARY_LABEL, "as usual", buf_str(&words));
}

/* Prints names that were not refused, in one line. */
static void summary_apart(const struct summary *s, bool masked, const char *lead)
{
	_cleanup_buf_ struct buf words = BUF_INIT(SUMMARY_BYTES);
	const struct refused *r = s->refused;
	char name[320];

	for (size_t i = 0; i < r->count; i++) {
		const struct refused_item *item = &r->items[i];

		if (!summary_is_apart(item) || item->kind == MESSAGE_EVENT_LIMIT ||
		    masked != str_equal(item->reason, MESSAGE_REASON_MASKED))
			continue;
		refused_name(item, name, sizeof(name));
		buf_put_str(&words, words.len ? ", " : "");
		text_escape(&words, span_of_str(name));
		if (masked && item->count > 1)
			buf_putf(&words, " (%" PRIu64 " times)", item->count);
	}
	if (words.len > 0)
		text_printf(s->text, "bawn: %s: %s\n", lead, buf_str(&words));
}

static void summary_limits(const struct refused *r, const struct text *t)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct refused_item *item = &r->items[i];

		if (item->kind != MESSAGE_EVENT_LIMIT)
			continue;
		text_styled(t, TEXT_WARN, "bawn: the limit %s was reached", item->host);
		if (item->count > 1)
			text_styled(t, TEXT_WARN, ", %" PRIu64 " times", item->count);
		text_styled(t, TEXT_WARN, ": %s\n", item->reason);
	}
}

static void summary_changes(const struct refused *r, const struct text *t)
{
	if (r->change_count == 0)
		return;
	text_printf(t, "bawn: changed while it ran:\n");
	for (size_t i = 0; i < r->change_count; i++)
		text_printf(t, "  %s\n", r->changes[i]);
	if (r->changes_left_out > 0)
		text_printf(t, "  and %" PRIu64 " times more\n", r->changes_left_out);
}

void refused_summary(const struct refused *r, const struct plan *plan, const struct text *t)
{
	struct summary s = {.refused = r, .plan = plan, .text = t, .known = REFUSED_HOSTS_INIT};

	summary_changes(r, t);
	summary_limits(r, t);
	if (r->count == 0 && r->wanted_count == 0)
		return;
	if (r->count > 0)
		refused_hosts_read(&s.known);
	summary_items(&s);
	summary_wanted(&s);
	if (s.more > 0)
		text_printf(t, "  and %" PRIu64 " more\n", s.more);
	summary_usual(&s);
	if (s.hosts)
		text_printf(t, "  More: 'bawn why HOST' or 'bawn log --verdict refused'.\n");
	summary_apart(&s, false, "could not be looked up (DNS)");
	summary_apart(&s, true, "masked, the placeholder of a secret in a request's body");
	refused_hosts_fini(&s.known);
}
