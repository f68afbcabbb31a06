/* SPDX-License-Identifier: Apache-2.0 */
#include "which.h"

#include "fd.h"
#include "layering.h"
#include "prompt.h"
#include "review.h"
#include "session_names.h"
#include "settle.h"
#include "shared.h"
#include "str.h"
#include "waiting.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A session in the list. */
struct which_one {
	struct layers_session session;
	char command[256]; /* its last command, escaped; "": not known */
};

enum { WHICH_LISTED = 8 }; /* how many of the newest we list */

struct which {
	const struct review *review;
	struct which_one listed[WHICH_LISTED]; /* the newest first */
	size_t count;                          /* how many there are in all, listed or not */
};

enum { WHICH_NAME = 16, WHICH_SINCE = 12, WHICH_BEFORE = 5, WHICH_BYTES_MAX = 1 << 20 };

static void which_add(struct which *w, const struct layers_session *s)
{
	size_t at = w->count < WHICH_LISTED ? w->count : WHICH_LISTED;

	w->count++;
	while (at > 0 && w->listed[at - 1].session.began < s->began)
		at--;
	if (at == WHICH_LISTED)
		return;
	memmove(&w->listed[at + 1], &w->listed[at], (WHICH_LISTED - 1 - at) * sizeof(w->listed[0]));
	w->listed[at].session = *s;
	layering_command(&w->review->layers, s->name, w->listed[at].command,
			 sizeof(w->listed[at].command));
}

/* Puts "1 calm-otter 3 minutes make test", and how much it changed on the next line. */
static void which_put_one(struct buf *into, const struct which_one *one, const struct review *r,
			  size_t number, size_t width)
{
	const struct layers *l = &r->layers;
	char shown[LAYERS_NAME_MAX + 1];
	_cleanup_buf_ struct buf age = BUF_INIT(64);
	const int64_t at = one->session.ended ? one->session.ended : one->session.began;
	const size_t used = WHICH_BEFORE + WHICH_NAME + WHICH_SINCE;

	session_label_shown(r->places.state, one->session.name, shown);
	words_age(&age, (uint64_t)(at / 1000000000));
	buf_putf(into, "  %zu  %-*s%-*s", number, WHICH_NAME, shown, WHICH_SINCE, buf_str(&age));
	size_t from = into->len;

	if (one->command[0] == '\0' && one->session.from[0])
		buf_putf(into, "from the snapshot %s", one->session.from);
	else
		buf_put_str(into, one->command);
	text_cut(into, from, width > used + 20 ? width - used : 20);
	buf_putf(into, "\n%*s", WHICH_BEFORE, "");
	(void)waiting_count(l, &one->session, into);
	buf_put_str(into, " changed\n");
}

static void which_put(struct buf *into, const struct which *w, size_t width)
{
	for (size_t i = 0; i < w->count && i < WHICH_LISTED; i++)
		which_put_one(into, &w->listed[i], w->review, i + 1, width);
	if (w->count > WHICH_LISTED)
		buf_putf(into, "  and %zu older: bawn sessions\n", w->count - WHICH_LISTED);
}

/* --- asking ------------------------------------------------------------------------------ */

/* Takes sessions of review mode that wait and are of this folder. */
static int which_consider(void *context, const struct layers_session *s)
{
	struct which *w = context;

	if (s->mode == LAYERS_REVIEW && !shared_has_worktree(&w->review->layers, s) &&
	    layers_session_waits(&w->review->layers, s) && layers_session_is_of(s, w->review->tree))
		which_add(w, s);
	return 0;
}

static bool which_is_asked(const struct invocation *i)
{
	const char *verb = i->verb->name;

	return (str_equal(verb, "diff") || str_equal(verb, "apply") ||
		str_equal(verb, "discard")) &&
	       !invocation_has(i, OPTION_SESSION) && !invocation_has(i, OPTION_JSON) &&
	       !invocation_has(i, OPTION_BETWEEN) && !invocation_has(i, OPTION_HOW_MANY);
}

/* Returns the number of the chosen one, from 1 on; 0: none; -ENXIO: there is no terminal, and the
 * list was shown. */
static int which_prompt(const struct invocation *i, const struct which *w)
{
	_cleanup_buf_ struct buf list = BUF_INIT(WHICH_BYTES_MAX);
	_cleanup_prompt_ struct prompt prompt = PROMPT_INIT;
	struct text err = text_open(STDERR_FILENO);
	struct error e = ERROR_INIT;
	char keys[WHICH_LISTED + 2] = "q", question[64];
	const size_t count = w->count < WHICH_LISTED ? w->count : WHICH_LISTED;

	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !invocation_has(i, OPTION_YES))
		(void)prompt_open(&prompt, &e);
	if (prompt.tty < 0) {
		which_put(&list, w, (size_t)err.width);
		text_write(&err, &list);
		return -ENXIO;
	}
	for (size_t n = 0; n < count; n++)
		keys[n + 1] = (char)('1' + n);
	which_put(&list, w, (size_t)prompt.text.width);
	text_printf(&prompt.text, "%zu sessions have changes in %s:\n", w->count,
		    w->review->layers.workspace);
	text_write(&prompt.text, &list);
	(void)snprintf(question, sizeof(question), "Which one? [1-%zu, q]", count);
	char key =
		prompt_key(&prompt, question, keys, "a number chooses a session\nq  none of them");

	return key == 'q' ? 0 : key - '0';
}

static int which_take(struct invocation *i, const char *name)
{
	static char chosen[LAYERS_NAME_MAX + 1]; /* must live as long as the invocation */
	struct invocation_value *values =
		realloc(i->values, (i->value_count + 1) * sizeof(*i->values));

	if (!values)
		return -ENOMEM;
	i->values = values;
	(void)snprintf(chosen, sizeof(chosen), "%s", name);
	values[i->value_count++] = (struct invocation_value){OPTION_SESSION, chosen};
	return 0;
}

bool which_ask(struct invocation *i)
{
	if (!which_is_asked(i))
		return true;
	_cleanup_review_ struct review review = REVIEW_INIT;
	_cleanup_free_ struct which *w = calloc(1, sizeof(*w));
	struct error e = ERROR_INIT;

	if (w)
		w->review = &review;
	/* If we cannot ask, the verb itself says what is wrong. */
	if (!w || review_look(i, &review, &e) < 0 ||
	    layers_each_session(&review.layers, which_consider, w, &e) < 0 || w->count < 2)
		return true;
	int number = which_prompt(i, w);

	return number < 0 || (number > 0 && which_take(i, w->listed[number - 1].session.name) == 0);
}

int which_settle(struct invocation *i, struct error *e)
{
	static char name[LAYERS_NAME_MAX + 1];
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	const char *typed = invocation_value(i, OPTION_SESSION);
	struct error own = ERROR_INIT;
	struct host host;

	if (!typed || host_gather_user(&arena, &host, &own) < 0)
		return 0;
	const struct session_places places = session_places_of(&host);
	int r = session_names_find(&places, typed, SESSION_KEPT,
				   invocation_has(i, OPTION_YES) ? SESSION_TYPED_WHOLE
								 : SESSION_TYPED_BEGINNING,
				   name, &own);

	/* Of one that is not there the verb itself says more. */
	const bool unclear = r == -ENOTUNIQ || (r == -ENOENT && own.next[0]);

	if (unclear)
		*e = own;
	for (size_t n = 0; r == 0 && n < i->value_count; n++)
		if (i->values[n].id == OPTION_SESSION)
			i->values[n].value = name;
	return unclear ? r : 0;
}
