/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn restore`: makes a session, and the home that it had, again what they were. */
#include "review_snapshots.h"

#include "decision.h"
#include "fd.h"
#include "json.h"
#include "prompt.h"
#include "settle.h"
#include "snapshot.h"
#include "str.h"
#include "text.h"
#include "words.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Another session that runs, and has its home open. */
struct restore_others {
	const struct layers *layers;
	const char *but;
	char runs[LAYERS_NAME_MAX + 1];
};

static int restore_look(void *context, const struct layers_session *s)
{
	struct restore_others *o = context;

	if (o->runs[0] || s->from[0] || str_equal(s->name, o->but))
		return 0;
	_cleanup_fd_ int hold = layers_session_hold(o->layers, s->name);

	if (hold == -EBUSY)
		memcpy(o->runs, s->name, sizeof(o->runs));
	return hold < 0 && hold != -EBUSY && hold != -ENOENT ? hold : 0;
}

/* 0: no; 1: yes; or -errno. */
static int restore_ask(const struct layers_snapshot *s, struct error *e)
{
	_cleanup_prompt_ struct prompt p = PROMPT_INIT;
	_cleanup_buf_ struct buf question = BUF_INIT(512);
	int code = prompt_open(&p, e);

	if (code < 0)
		return code;
	buf_putf(&question, "Take %s and the home of this folder back to %s, made ", s->session,
		 s->name);
	words_age(&question, (uint64_t)(s->made / 1000000000));
	buf_put_str(&question, " ago? [y/N]");
	return prompt_key(&p, buf_str(&question), "ny",
			  "y  do it; what is there now is kept as a snapshot, and can be restored\n"
			  "n  nothing is done") == 'y';
}

static void restore_print(const struct invocation *i, const struct layers_snapshot *to,
			  const struct layers_snapshot *before, const struct restore_others *o,
			  bool direct)
{
	struct text out = text_open(STDOUT_FILENO);
	struct text err = text_open(STDERR_FILENO);

	if (invocation_has(i, OPTION_JSON)) {
		_cleanup_buf_ struct buf b = BUF_INIT(1 << 16);
		struct json j = JSON_INIT(&b, true);

		json_open(&j, '{');
		json_key_str(&j, "session", to->session);
		json_key_str(&j, "restored", to->name);
		json_key_str(&j, "before", before->name);
		json_key_bool(&j, "home", !o->runs[0]);
		json_close(&j, '}');
		buf_put_char(&b, '\n');
		text_write(&out, &b);
		return;
	}
	text_printf(&err, "bawn: %s is as it was in %s; 'bawn restore %s' takes this back\n",
		    to->session, to->name, before->name);
	if (o->runs[0])
		text_printf(&err, "bawn: the home was left as it is: %s runs and uses it\n",
			    o->runs);
	if (direct)
		text_printf(&err, "bawn: what it wrote here had landed at once: 'bawn undo' takes "
				  "that back\n");
}

static int restore_do(struct review *r, const struct invocation *i,
		      const struct layers_snapshot *to, struct layers_snapshot *ret_before,
		      struct restore_others *ret_others, bool *ret_direct, struct error *e)
{
	_cleanup_fd_ int lock = -1;
	_cleanup_fd_ int hold = -1;
	_cleanup_decision_ struct decision decision = DECISION_INIT;
	struct layers_session s;
	struct error ignored = ERROR_INIT;
	struct layers_snapshot again;
	int code = review_hold_stopped(r, to->session, &lock, &hold, e);

	if (code == 0)
		code = review_read_snapshot(r, to->name, &again, e);
	*ret_others = (struct restore_others){.layers = &r->layers, .but = to->session};
	if (code == 0)
		code = layers_each_session(&r->layers, restore_look, ret_others, e);
	if (code < 0 && e->code == 0)
		(void)error_sys(e, code, "cannot ask which sessions of %s run",
				r->layers.workspace);
	*ret_direct = layers_session_read(&r->layers, to->session, &s, &ignored) == 0 &&
		      s.mode == LAYERS_DIRECT;
	if (code == 0)
		code = decision_about(r, i, "restore", to, &decision, e);
	if (code == 0)
		code = snapshot_restore(&r->layers, to, !ret_others->runs[0], ret_before, e);
	/* It is restored; what cannot be removed now is removed another time. */
	if (code == 0)
		(void)layers_collect(&r->layers, &ignored);
	(void)decision_close(&decision, code < 0 ? EXIT_BAWN : EXIT_OK, &ignored);
	return code;
}

int review_restore(const struct invocation *i)
{
	_cleanup_review_ struct review r = {.layers = LAYERS_INIT, .tree = -1};
	struct layers_snapshot to = {.name = ""}, before = {.name = ""};
	struct restore_others others = {.runs = ""};
	struct error e = ERROR_INIT;
	bool direct = false;
	int code = review_open(i, REVIEW_NOTHING, &r, &e);

	if (code == 0)
		code = review_pick_snapshot(&r, i, true, &to, &e);
	int yes = code < 0 || invocation_has(i, OPTION_YES) ? 1 : restore_ask(&to, &e);

	if (yes == 0)
		return EXIT_FOUND;
	if (code == 0 && yes < 0)
		code = yes;
	mode_t mask = umask(0);

	if (code == 0)
		code = restore_do(&r, i, &to, &before, &others, &direct, &e);
	(void)umask(mask);
	if (code < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	restore_print(i, &to, &before, &others, direct);
	return EXIT_OK;
}
