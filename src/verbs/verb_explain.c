/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn explain`: the plan that the launcher would get, in plain words or, with --json, whole.
 * Everything comes from the plan; we start nothing and make nothing on the disk. */
#include "bawn_verbs.h"
#include "fd.h"
#include "feature.h"
#include "help.h"
#include "overlay.h"
#include "prepare.h"
#include "str.h"
#include "text.h"
#include "verbs.h"
#include "withheld.h"
#include "words.h"
#include "words_network.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum {
	EXPLAIN_BYTES_MAX = 32 << 20,
	EXPLAIN_INDENT = 2,
	EXPLAIN_COLUMN = 26, /* where descriptions begin */
	EXPLAIN_WIDTH_MAX = 100,
};

struct explain {
	const struct text *text;
	const struct plan *plan;
	size_t width;
	bool any;  /* the section has a line */
	bool afar; /* overlayfs cannot use the filesystem where changes are kept */
};

static void explain_section(struct explain *x, const char *title)
{
	text_styled(x->text, TEXT_STRONG, "%s%s\n", x->any ? "\n" : "", title);
	x->any = true;
}

/* Prints words, wrapped.  They are escaped already. */
static void explain_say(const struct explain *x, enum text_style style, const char *words)
{
	_cleanup_buf_ struct buf line = BUF_INIT(EXPLAIN_BYTES_MAX);

	help_wrap(&line, words, EXPLAIN_INDENT, x->width);
	text_printf(x->text, "%*s", EXPLAIN_INDENT, "");
	text_styled(x->text, style, "%s", buf_str(&line));
	text_printf(x->text, "\n");
}

/* Prints the name on the left, and what it is on the right; both are escaped. */
static void explain_item(const struct explain *x, const char *left, const char *right)
{
	_cleanup_buf_ struct buf line = BUF_INIT(EXPLAIN_BYTES_MAX);
	size_t len = strlen(left) + EXPLAIN_INDENT;

	if (len + 2 > EXPLAIN_COLUMN) {
		text_printf(x->text, "%*s%s\n", EXPLAIN_INDENT, "", left);
		buf_putf(&line, "%*s", EXPLAIN_COLUMN, "");
	} else {
		buf_putf(&line, "%*s%-*s", EXPLAIN_INDENT, "", EXPLAIN_COLUMN - EXPLAIN_INDENT,
			 left);
	}
	help_wrap(&line, right, EXPLAIN_COLUMN, x->width);
	text_printf(x->text, "%s\n", buf_str(&line));
}

static void explain_path(const struct explain *x, const char *path, const char *what,
			 const char *origin)
{
	_cleanup_buf_ struct buf left = BUF_INIT(EXPLAIN_BYTES_MAX);
	_cleanup_buf_ struct buf right = BUF_INIT(EXPLAIN_BYTES_MAX);

	words_path(&left, x->plan, path);
	buf_put_str(&right, what);
	if (origin && *origin && !str_equal(origin, "default")) {
		buf_put_str(&right, right.len ? " (" : "(");
		words_text(&right, x->plan, origin);
		buf_put_char(&right, ')');
	}
	explain_item(x, buf_str(&left), buf_str(&right));
}

static bool explain_is(const struct plan_mount *m, const char *role, enum plan_access access)
{
	return str_equal(m->role, role) && m->access == access;
}

/* Who is the author of commits that are made inside. */
static void explain_git(struct explain *x)
{
	const struct plan *p = x->plan;
	_cleanup_buf_ struct buf words = BUF_INIT(EXPLAIN_BYTES_MAX);

	if (!*p->git_name && !*p->git_email)
		return;
	buf_put_str(&words, "commits as ");
	text_escape(&words, span_of_str(*p->git_name ? p->git_name : "(no name)"));
	buf_put_str(&words, " <");
	text_escape(&words, span_of_str(*p->git_email ? p->git_email : "no address"));
	buf_put_char(&words, '>');
	explain_path(x, "git", buf_str(&words), p->git_origin);
}

/* Where the command starts.  In a subfolder of a repository the repository is the workspace. */
static void explain_cwd(struct explain *x)
{
	const struct plan *p = x->plan;
	_cleanup_buf_ struct buf words = BUF_INIT(EXPLAIN_BYTES_MAX);

	text_escape(&words, span_of_str(p->cwd));
	if (!str_equal(p->cwd, p->workspace)) {
		buf_put_str(&words, "; the workspace is ");
		words_path(&words, p, p->workspace);
	}
	explain_item(x, "in", buf_str(&words));
}

static void explain_runs(struct explain *x)
{
	const struct plan *p = x->plan;
	_cleanup_buf_ struct buf words = BUF_INIT(EXPLAIN_BYTES_MAX);
	_cleanup_buf_ struct buf gone = BUF_INIT(EXPLAIN_BYTES_MAX);

	explain_section(x, "Runs");
	if (p->backend == PLAN_BACKEND_HOST) {
		buf_put_str(&words,
			    "UNSAFE: there is no box. It runs on this machine, as you, and can "
			    "do all that you can do (backend host, ");
		words_text(&words, p, p->backend_origin);
		buf_put_str(&words, ").");
		explain_say(x, TEXT_BAD, buf_str(&words));
		buf_clear(&words);
	}
	for (size_t i = 0; i < p->argv.count; i++) {
		if (i > 0)
			buf_put_char(&words, ' ');
		text_escape(&words, span_of_str(p->argv.items[i].text));
	}
	explain_item(x, "command", buf_str(&words));
	explain_cwd(x);
	if (p->backend != PLAN_BACKEND_HOST)
		explain_path(x, "backend", "namespace: a box of the kernel's own namespaces",
			     p->backend_origin);
	if (p->preset[0])
		explain_item(x, "preset", p->preset);
	if (p->backend != PLAN_BACKEND_HOST)
		explain_git(x);
	words_gone_without(&gone, p);
	if (gone.len > 0 && p->backend != PLAN_BACKEND_HOST) {
		buf_clear(&words);
		buf_putf(&words, "WEAKER: without %s", buf_str(&gone));
		for (size_t i = 0; i < p->without.count; i++) {
			buf_put_str(&words, i ? ", " : " (");
			words_text(&words, p, p->without.items[i].origin);
		}
		buf_put_str(&words, p->without.count ? ")." : " (BAWN_ABLATE).");
		explain_say(x, TEXT_BAD, buf_str(&words));
	}
}

/* Direct mode: what is read-only, and what that does not stop. */
static void explain_held(struct explain *x)
{
	const struct plan *p = x->plan;
	_cleanup_buf_ struct buf names = BUF_INIT(EXPLAIN_BYTES_MAX);

	if (p->workspace_mode != PLAN_MODE_DIRECT || p->workspace_access != PLAN_ACCESS_WRITE)
		return;
	for (size_t i = 0; i < p->mounts.count; i++)
		if (explain_is(&p->mounts.items[i], "held", PLAN_ACCESS_READ)) {
			buf_put_str(&names, names.len ? ", " : "but not ");
			text_escape(&names, span_of_str(p->mounts.items[i].target +
							strlen(p->workspace) + 1));
		}
	buf_put_str(&names, names.len ? ": your own commands would run them. "
				      : "Nothing at its top is there that your own commands would "
					"run. ");
	buf_put_str(&names, "Direct mode does not stop new files of that kind, or those in folders "
			    "below, from being made: they are named when the session ends, and "
			    "can have been run by then. In review mode nothing lands before you "
			    "have seen it.");
	if (plan_goes_without(p, PLAN_LAYER_RECORD) || plan_goes_without(p, PLAN_LAYER_SECCOMP))
		buf_put_str(&names, " Without the record nobody sees to it that what is protected "
				    "or hidden stays so when programs outside replace it: then the "
				    "box can write and read it.");
	explain_item(x, "", buf_str(&names));
}

/* Prints the rules of one level, in one line; nothing if there are none. */
static void explain_level(const struct explain *x, const struct hold_rules *rules,
			  enum hold_level level, const char *left, const char *lead)
{
	_cleanup_buf_ struct buf names = BUF_INIT(EXPLAIN_BYTES_MAX);

	for (size_t i = 0; i < hold_rules_count(rules); i++)
		if (hold_rules_at(rules, i).level == level &&
		    (x->plan->hold_paths.count > 0 ||
		     !str_equal(hold_rules_at(rules, i).name, HOLD_OWN)))
			buf_putf(&names, "%s%s", names.len ? ", " : lead,
				 hold_rules_at(rules, i).name);
	if (names.len > 0)
		explain_item(x, left, buf_str(&names));
}

/* What happens to changes that would run something later. */
static void explain_holds(struct explain *x)
{
	const struct plan *p = x->plan;
	_cleanup_buf_ struct buf paths = BUF_INIT(EXPLAIN_BYTES_MAX);
	_cleanup_(hold_rules_free) struct hold_rules *rules = NULL;
	struct error e = ERROR_INIT;

	if (p->workspace_access != PLAN_ACCESS_WRITE || p->backend == PLAN_BACKEND_HOST ||
	    prepare_holds(p, &rules, &e) < 0)
		return;
	bool direct = p->workspace_mode == PLAN_MODE_DIRECT;

	explain_section(x, direct ? "Pointed out, because your own commands would run it"
				  : "Held back, because your own commands would run it");
	explain_level(x, rules, HOLD_HOLD, direct ? "at the end" : "held",
		      direct ? "it has landed by then: " : "until you release it by name: ");
	explain_level(x, rules, HOLD_LEAVE, direct ? "by bawn diff" : "left out",
		      direct ? "also: " : "does not land, and nothing waits for it: ");
	explain_level(x, rules, HOLD_FLAG, direct ? "by bawn diff" : "flagged",
		      direct ? "also: " : "lands, and is pointed out: ");
	explain_level(x, rules, HOLD_NOT, "not looked for", "by your policy: ");
	for (size_t i = 0; i < p->hold_paths.count; i++) {
		buf_put_str(&paths, i ? ", " : "");
		text_escape(&paths, span_of_str(p->hold_paths.items[i].text));
	}
	if (paths.len > 0)
		explain_item(x, direct ? "and yours" : "also held", buf_str(&paths));
}

static void explain_writes(struct explain *x)
{
	const struct plan *p = x->plan;

	explain_section(x, "Can write");
	for (size_t i = 0; i < p->mounts.count; i++) {
		const struct plan_mount *m = &p->mounts.items[i];

		if (explain_is(m, "workspace", PLAN_ACCESS_WRITE))
			explain_path(x, m->target,
				     p->workspace_mode == PLAN_MODE_REVIEW
					     ? "the workspace; writes are kept apart and land when "
					       "you apply them"
					     : "the workspace; writes land at once",
				     p->workspace_mode_origin);
		else if (explain_is(m, "named", PLAN_ACCESS_WRITE))
			explain_path(x, m->target, "writes land at once", m->origin);
		else if (str_equal(m->role, PLAN_REPOSITORY))
			explain_path(x, m->target,
				     "the repository of this worktree; commits are kept apart and "
				     "land when you apply them",
				     m->origin);
	}
	explain_held(x);
	if (x->afar && p->workspace_mode == PLAN_MODE_REVIEW &&
	    p->workspace_access == PLAN_ACCESS_WRITE)
		explain_item(x, "in memory",
			     "what a session writes to the workspace stands in /dev/shm while it "
			     "runs, because the filesystem of the state folder holds no layers; it "
			     "is kept on disk when the session ends");
	explain_path(x, p->home,
		     x->afar ? "a home of the box's own, kept for this workspace: a plain folder, "
			       "which snapshots leave out"
			     : "a home of the box's own, kept for this workspace",
		     NULL);
	if (p->root.count > 0) {
		_cleanup_buf_ struct buf what = BUF_INIT(EXPLAIN_BYTES_MAX);

		buf_putf(&what, "the system %s, as its root; what is changed of it %s",
			 p->stands_on,
			 p->system_keep ? "is kept for this workspace" : "is gone at the end");
		explain_path(x, "/", buf_str(&what), p->root.items[0].origin);
	}
	for (size_t i = 0; i < p->mounts.count; i++) {
		const struct plan_mount *m = &p->mounts.items[i];
		_cleanup_buf_ struct buf what = BUF_INIT(EXPLAIN_BYTES_MAX);

		if (m->kind == PLAN_MOUNT_TMPFS) {
			buf_put_str(&what, "private, gone at the end");
			if (m->size > 0) {
				buf_put_str(&what, "; at most ");
				words_size(&what, m->size);
			}
			explain_path(x, m->target, buf_str(&what), m->origin);
		}
	}
}

/* Prints many targets of one role as one line: "/usr /bin /lib". */
static void explain_fold(const struct explain *x, const char *prefix, const char *what)
{
	_cleanup_buf_ struct buf names = BUF_INIT(EXPLAIN_BYTES_MAX);
	size_t count = 0;

	for (size_t i = 0; i < x->plan->mounts.count; i++) {
		const struct plan_mount *m = &x->plan->mounts.items[i];
		bool etc = str_path_beneath(m->target, "/etc");

		if (!str_equal(m->role, "system") || etc != str_equal(prefix, "/etc"))
			continue;
		if (names.len > 0)
			buf_put_char(&names, ' ');
		text_escape(&names, span_of_str(etc ? m->target + strlen("/etc/") : m->target));
		count++;
	}
	if (count == 0)
		return;
	_cleanup_buf_ struct buf line = BUF_INIT(EXPLAIN_BYTES_MAX);
	buf_putf(&line, "%s: %s", what, buf_str(&names));
	explain_item(x, prefix, buf_str(&line));
}

static void explain_reads(struct explain *x)
{
	const struct plan *p = x->plan;

	explain_section(x, "Can read");
	for (size_t i = 0; i < p->mounts.count; i++) {
		const struct plan_mount *m = &p->mounts.items[i];

		if (explain_is(m, "workspace", PLAN_ACCESS_READ))
			explain_path(x, m->target, "the workspace", p->workspace_origin);
		else if (explain_is(m, "named", PLAN_ACCESS_READ))
			explain_path(x, m->target, "named", m->origin);
		else if (explain_is(m, "exposed", PLAN_ACCESS_READ))
			explain_path(x, m->target, "a private place of yours", m->origin);
		else if (explain_is(m, "tool", PLAN_ACCESS_READ))
			explain_path(x, m->target, "your tools", m->origin);
	}
	explain_fold(x, "system", "its programs and libraries");
	explain_fold(x, "/etc", "of the host's, only");
	explain_item(x, "",
		     p->root.count > 0 ? "made up: hosts, hostname, resolv.conf"
				       : "made up: passwd, group, hosts, hostname, machine-id, "
					 "nsswitch.conf, resolv.conf");
	explain_item(x, "/proc, /dev",
		     "of its own: its own processes; null, zero, full, random, "
		     "urandom, tty, pts, shm");
}

static void explain_runs_what(struct explain *x)
{
	explain_section(x, "Can run");
	explain_say(x, TEXT_PLAIN,
		    x->plan->root.count > 0
			    ? "Whatever it can read or write. It is called root, and is you, with "
			      "no further rights: a change of owner or user is answered as done, "
			      "and is not."
			    : "Whatever it can read or write, as you and with no further rights.");
	if (x->plan->debug) {
		_cleanup_buf_ struct buf words = BUF_INIT(EXPLAIN_BYTES_MAX);

		buf_put_str(&words, "Programs in the box can trace each other (");
		words_text(&words, x->plan, x->plan->debug_origin);
		buf_put_str(&words, ").");
		explain_say(x, TEXT_PLAIN, buf_str(&words));
	}
}

static void explain_rule(void *context, const char *left, const char *right)
{
	explain_item(context, left, right);
}

static void explain_reaches(struct explain *x)
{
	const struct plan *p = x->plan;
	bool filtered = plan_goes_without(p, PLAN_LAYER_NET_NS);
	bool open = PLAN_GATE_PRESENT && !filtered && words_reaches(p);

	explain_section(x, "Can reach");
	if (filtered)
		explain_say(x, TEXT_BAD,
			    "WEAKER: nothing, but by the system call filter alone: there is no "
			    "network namespace behind it, and no loopback of its own.");
	else if (!open)
		explain_say(x, TEXT_PLAIN,
			    "Nothing: the network is closed. It has a loopback of its own.");
	if (!PLAN_GATE_PRESENT && p->network.count > 0)
		explain_say(x, TEXT_WARN,
			    "These rules were read, but this build does not open the network yet:");
	else if (filtered && p->network.count > 0)
		explain_say(x, TEXT_WARN, "So these rules open nothing:");
	words_network(p, explain_rule, x);
	if (open && p->proxies.count > 0) {
		_cleanup_buf_ struct buf by = BUF_INIT(EXPLAIN_BYTES_MAX);

		words_proxy(&by, p, true);
		explain_item(x, "by a proxy", buf_str(&by));
	}
	if (open && feature_check(FEATURE_NF_TABLES) < 0)
		explain_say(
			x, TEXT_WARN,
			"This kernel has no nf_tables: only connections to the ports that a rule "
			"names, and to 80 and 443, reach the gate. Other ports are refused, also "
			"to rules that are added while it runs.");
	if (open)
		explain_say(
			x, TEXT_PLAIN,
			"Nothing else: what no rule allows is refused, and its name is not even "
			"looked up. It has a loopback of its own.");
}

static void explain_hidden(struct explain *x)
{
	const struct plan *p = x->plan;
	_cleanup_buf_ struct buf places = BUF_INIT(EXPLAIN_BYTES_MAX);

	explain_section(x, "Cannot see");
	for (size_t i = 0; i < p->notes.count; i++) {
		const struct plan_note *n = &p->notes.items[i];

		if (n->kind != PLAN_NOTE_HIDDEN)
			continue;
		if (!str_equal(n->why, "private place")) {
			explain_path(x, n->what, n->why, n->origin);
			continue;
		}
		if (places.len > 0)
			buf_put_str(&places, ", ");
		words_path(&places, p, n->what);
	}
	if (places.len > 0)
		explain_item(x, "private places", buf_str(&places));
	explain_item(x, "the rest",
		     "everything that is not named here: your other files and projects, "
		     "other users, devices, sockets and processes of the host");
}

/* Only names: the values stay outside. */
static void explain_withheld(struct explain *x)
{
	_cleanup_buf_ struct buf names = BUF_INIT(EXPLAIN_BYTES_MAX);
	_cleanup_buf_ struct buf words = BUF_INIT(EXPLAIN_BYTES_MAX);
	size_t count = withheld_names(x->plan, environ, &names);

	if (count == 0)
		return;
	buf_putf(&words, "%zu of yours withheld: %s.", count, buf_str(&names));
	explain_say(x, TEXT_PLAIN, buf_str(&words));
	explain_say(x, TEXT_PLAIN,
		    "To pass one: --env NAME. A key that the box may use and not see: bawn secret "
		    "add NAME --from-env NAME.");
}

static void explain_environment(struct explain *x)
{
	const struct plan *p = x->plan;
	_cleanup_buf_ struct buf names = BUF_INIT(EXPLAIN_BYTES_MAX);

	explain_section(x, "Environment");
	buf_putf(&names, "%zu variables:", p->env.count);
	for (size_t i = 0; i < p->env.count; i++) {
		buf_put_char(&names, ' ');
		text_escape(&names, span_of_str(p->env.items[i].name));
	}
	explain_say(x, TEXT_PLAIN, buf_str(&names));
	explain_withheld(x);
	for (size_t i = 0; i < p->env.count; i++)
		if (!str_equal(p->env.items[i].origin, "default") &&
		    !str_equal(p->env.items[i].origin, "host"))
			explain_path(x, p->env.items[i].name, "", p->env.items[i].origin);
}

static void explain_secrets(struct explain *x)
{
	_cleanup_buf_ struct buf open = BUF_INIT(EXPLAIN_BYTES_MAX);
	_cleanup_buf_ struct buf words = BUF_INIT(EXPLAIN_BYTES_MAX);

	explain_section(x, "Secrets");
	words_open_secrets(&open, x->plan);
	for (size_t i = 0; i < x->plan->secrets.count; i++) {
		buf_clear(&words);
		words_secret(&words, x->plan, &x->plan->secrets.items[i]);
		explain_item(x, x->plan->secrets.items[i].name, buf_str(&words));
	}
	if (x->plan->secrets.count > 0)
		explain_say(x, TEXT_PLAIN,
			    "Their values are never inside: they are put in outside, at these "
			    "places and at no others.");
	bool none = open.len == 0 && x->plan->secrets.count == 0;

	for (size_t i = 0; i < x->plan->notes.count; i++) {
		const struct plan_note *n = &x->plan->notes.items[i];
		const char *name = str_after(n->what, "the secret ");

		if (n->kind != PLAN_NOTE_NOT_GIVEN || !name)
			continue;
		buf_clear(&words);
		buf_put_str(&words, "not in this box: ");
		words_text(&words, x->plan, n->why);
		explain_item(x, name, buf_str(&words));
		none = false;
	}
	if (none)
		explain_say(x, TEXT_PLAIN, "None.");
	if (open.len == 0)
		return;
	buf_clear(&words);
	buf_putf(&words, "The agent can read what was named: %s.", buf_str(&open));
	explain_say(x, TEXT_WARN, buf_str(&words));
}

/* What of the whole box is not limited. */
static void explain_no_limit(struct explain *x)
{
	bool memory = false;
	bool processors = false;

	for (size_t i = 0; i < x->plan->limits.count; i++) {
		memory = memory || x->plan->limits.items[i].kind == PLAN_LIMIT_BOX_MEMORY;
		processors = processors || x->plan->limits.items[i].kind == PLAN_LIMIT_BOX_CPU;
	}
	if (x->plan->limits.count == 0)
		explain_say(x, TEXT_PLAIN, "None.");
	else if (!memory || !processors)
		explain_say(x, TEXT_PLAIN,
			    memory ? "No limit on all its processor time together."
			    : processors
				    ? "No limit on all its memory together."
				    : "No limit on all its memory or processor time together.");
}

static void explain_limits(struct explain *x)
{
	const struct plan *p = x->plan;

	explain_section(x, "Limits");
	for (size_t i = 0; i < p->limits.count; i++) {
		_cleanup_buf_ struct buf value = BUF_INIT(EXPLAIN_BYTES_MAX);

		words_limit(&value, &p->limits.items[i]);
		explain_path(x, plan_limit_words[p->limits.items[i].kind], buf_str(&value),
			     p->limits.items[i].origin);
	}
	explain_no_limit(x);
}

static void explain_terminal(struct explain *x)
{
	const struct plan *p = x->plan;

	explain_section(x, "Your terminal");
	explain_say(x, TEXT_PLAIN,
		    "Gets text, colours, cursor and keyboard modes of the box, and links to hosts "
		    "that the rules allow. Its clipboard, title, printer and all else stay yours.");
	for (size_t i = 0; i < p->terminal.count; i++)
		explain_path(x, plan_terminal_words[p->terminal.items[i].what], "allowed",
			     p->terminal.items[i].origin);
}

static void explain_protects(struct explain *x)
{
	explain_section(x, "What protects it");
	for (unsigned int layer = 0; layer < PLAN_LAYER_COUNT; layer++)
		if (!plan_goes_without(x->plan, (enum plan_layer)layer))
			explain_item(x, plan_layer_words[layer],
				     words_layer((enum plan_layer)layer));
}

static void explain_does_not(struct explain *x)
{
	const struct plan *p = x->plan;

	explain_section(x, "What does not");
	explain_item(x, "kernel bugs", "this backend shares the kernel with you");
	explain_item(x, "side channels", "timing, load, caches");
	if (p->workspace_access == PLAN_ACCESS_WRITE)
		explain_item(
			x, "the workspace",
			p->workspace_mode == PLAN_MODE_REVIEW
				? "what you apply is code that you will run: holds know what "
				  "tools run by themselves, not whether a source file is good; "
				  "read it first"
				: "writes land at once: look at what changed before you run, "
				  "build or commit it");
	explain_item(x, "the record",
		     "it is yours: whoever acts as you outside the box can remove it, though not "
		     "change it unnoticed (bawn record anchor)");
}

static void explain_notes(struct explain *x, enum plan_note_kind kind, const char *title)
{
	bool first = true;

	for (size_t i = 0; i < x->plan->notes.count; i++) {
		const struct plan_note *n = &x->plan->notes.items[i];
		_cleanup_buf_ struct buf words = BUF_INIT(EXPLAIN_BYTES_MAX);

		if (n->kind != kind)
			continue;
		if (first)
			explain_section(x, title);
		first = false;
		words_text(&words, x->plan, n->what);
		buf_put_str(&words, ": ");
		words_text(&words, x->plan, n->why);
		buf_put_str(&words, " (");
		words_text(&words, x->plan, n->origin);
		buf_put_char(&words, ')');
		explain_say(x, kind == PLAN_NOTE_WARNING ? TEXT_WARN : TEXT_PLAIN, buf_str(&words));
	}
}

static void explain_origins(struct explain *x)
{
	const struct plan *p = x->plan;
	const struct {
		const char *what, *origin;
	} values[] = {
		{"backend", p->backend_origin},
		{"workspace access", p->workspace_origin},
		{"debug", p->debug_origin},
		{"recorded reads", p->record_origin},
	};

	explain_section(x, "Origins");
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(values); i++) {
		_cleanup_buf_ struct buf origin = BUF_INIT(EXPLAIN_BYTES_MAX);

		words_text(&origin, p, values[i].origin ? values[i].origin : "default");
		explain_item(x, values[i].what, buf_str(&origin));
	}
	explain_say(x, TEXT_FAINT,
		    "What names no origin above is built in. The whole plan: bawn "
		    "explain --json.");
}

static void explain_host(struct explain *x)
{
	explain_section(x, "Can write, read, run and reach");
	explain_say(x, TEXT_BAD,
		    "Everything that you can. Nothing is hidden from it, nothing is "
		    "closed, nothing is recorded.");
	explain_environment(x);
	explain_limits(x);
	explain_section(x, "What protects it");
	explain_say(x, TEXT_BAD, "Nothing.");
}

static void explain_plan(const struct text *text, const struct plan *plan, bool afar)
{
	size_t width = text->width > EXPLAIN_WIDTH_MAX ? EXPLAIN_WIDTH_MAX : (size_t)text->width;
	struct explain x = {
		.text = text, .plan = plan, .width = width < 40 ? 40 : width, .afar = afar};

	explain_runs(&x);
	if (plan->backend == PLAN_BACKEND_HOST) {
		explain_host(&x);
	} else {
		explain_writes(&x);
		explain_holds(&x);
		explain_reads(&x);
		explain_runs_what(&x);
		explain_reaches(&x);
		explain_hidden(&x);
		explain_environment(&x);
		explain_secrets(&x);
		explain_limits(&x);
		explain_terminal(&x);
		explain_protects(&x);
		explain_does_not(&x);
	}
	explain_notes(&x, PLAN_NOTE_PUBLISHED, "Published");
	explain_notes(&x, PLAN_NOTE_WARNING, "Warnings");
	explain_notes(&x, PLAN_NOTE_NOT_GIVEN, "Not given");
	explain_origins(&x);
}

static int explain_json(const struct text *text, const struct plan *plan)
{
	_cleanup_buf_ struct buf out = BUF_INIT(EXPLAIN_BYTES_MAX);
	struct json j = JSON_INIT(&out, true);

	schema_json(&j, &plan_schema, plan);
	if (buf_error(&out))
		return buf_error(&out);
	text_write(text, &out);
	return 0;
}

/*
 * overlayfs cannot use the folder where changes are kept, or the nearest one above that is there.
 */
static bool explain_is_afar(const struct layers *l)
{
	char at[PATH_MAX];

	(void)snprintf(at, sizeof(at), "%s", l->path);
	while (at[0] == '/' && at[1]) {
		_cleanup_fd_ int fd = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			return !overlay_can_hold(fd);
		*strrchr(at, '/') = '\0';
	}
	return false;
}

int verb_explain(const struct invocation *i)
{
	_cleanup_prepared_ struct prepared prepared = PREPARED_INIT;
	struct text text = text_open(STDOUT_FILENO);
	struct error e = ERROR_INIT;

	int r = prepare_plan(i, i->argument_count > 0 ? i->arguments : NULL, false, &prepared, &e);
	if (r == 0 && invocation_has(i, OPTION_JSON)) {
		r = explain_json(&text, prepared.plan);
		if (r < 0)
			(void)error_sys(&e, r, "cannot write the plan as JSON");
	} else if (r == 0) {
		explain_plan(&text, prepared.plan, explain_is_afar(&prepared.layers));
	}
	if (r < 0)
		verb_complain(&e);
	return r < 0 ? EXIT_BAWN : EXIT_OK;
}
