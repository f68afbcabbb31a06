/* SPDX-License-Identifier: Apache-2.0 */
/* Shows what undo takes back, what it leaves and why, for a person and as JSON. */
#include "undo_parts.h"

#include "basis.h"
#include "json.h"
#include "land_undo.h"
#include "session_names.h"
#include "str.h"
#include "words.h"

#include <stdio.h>

enum { UNDO_SHOWN_MAX = 40, UNDO_WORDS = 20 };

static const char *undo_words(const struct land_step *s, bool redo)
{
	if (s->before.type == OBJECT_ABSENT)
		return redo ? "added again" : "restored";
	if (s->after.type == OBJECT_ABSENT)
		return "removed";
	if (!basis_same_content(&s->before, &s->after))
		return redo ? "as applied" : "restored";
	if (!basis_same(&s->before, &s->after))
		return "gets its mode back";
	return s->before.type == OBJECT_FILE && s->before.mtime == s->after.mtime
		       ? "gets its links back"
		       : "gets its time back";
}

/* A folder of which only the time goes back needs no words, nor does an object that stays. */
static bool undo_is_quiet(const struct land_step *s)
{
	return (s->before.type == OBJECT_DIR || git_is_in_objects(s->path)) &&
	       basis_same(&s->before, &s->after);
}

bool undo_is_valued(const struct undo *u, size_t i)
{
	return u->valued[i] && !u->left[i] && !u->changed[i];
}

/* Step i of all, as it is done; NULL: it is not. */
static const struct land_step *undo_done(const struct undo *u, size_t *next, size_t i)
{
	if (undo_is_valued(u, i))
		return &u->all[i];
	return *next < u->count && u->from[*next] == i ? &u->steps[(*next)++] : NULL;
}

size_t undo_count(const struct undo *u)
{
	size_t count = 0, next = 0;

	for (size_t i = 0; i < u->all_count; i++) {
		const struct land_step *s = undo_done(u, &next, i);

		count += s && !undo_is_quiet(s);
	}
	return count + (undo_has_top(u) && u->direct.top.has_mode);
}

void undo_put_title(const struct undo *u, struct buf *into)
{
	char shown[LAYERS_NAME_MAX + 1];

	buf_put_str(into, u->redo ? "To apply again" : "To undo");
	if (u->is_direct) {
		session_label_shown(u->review.places.state, u->session.name, shown);
		buf_putf(into, ", of the direct session %s, begun ", shown);
		words_when(into, u->session.began / 1000000000, false);
	} else if (u->kept) {
		buf_put_str(into, u->redo ? ", undone " : ", applied ");
		words_when(into, land_undo_journal(u->kept)->stamp / 1000000000, false);
	}
	buf_put_char(into, ':');
}

void undo_show(const struct undo *u, bool changed, const char *title)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	struct show_objects objects = {.count = 0};
	size_t shown = 0, next = 0;

	for (size_t i = 0; i < u->all_count; i++) {
		const struct land_step *s = changed ? &u->all[i] : undo_done(u, &next, i);

		if (!s || (changed ? !u->changed[i] : undo_is_quiet(s)))
			continue;
		/* Their names are sums of content: nobody reads them one by one. */
		if (!changed && change_is_git_object(&(struct change){.path = s->path})) {
			if (s->before.type == OBJECT_FILE || s->after.type == OBJECT_FILE)
				show_objects_add(&objects, s->path);
			continue;
		}
		if (++shown > UNDO_SHOWN_MAX)
			continue;
		const char *words = undo_words(s, u->redo);

		buf_putf(&out, "  %-*s", changed ? 0 : UNDO_WORDS, changed ? "" : words);
		text_escape(&out, span_of_str(s->path));
		buf_put_char(&out, '\n');
	}
	if (shown > UNDO_SHOWN_MAX)
		buf_putf(&out, "  ... and %zu more\n", shown - UNDO_SHOWN_MAX);
	if (objects.count) {
		buf_putf(&out, "  %-*s", UNDO_WORDS, "git");
		show_objects_put(&out, &objects);
		buf_put_char(&out, '\n');
	}
	for (size_t i = 0; !changed && undo_opens(u) && i < u->direct.opening_count; i++) {
		if (++shown > UNDO_SHOWN_MAX)
			continue;
		buf_putf(&out, "  %-*s", UNDO_WORDS, "is opened first");
		text_escape(&out, span_of_str(u->direct.opening[i].path));
		buf_put_char(&out, '\n');
	}
	if (!changed && undo_has_top(u) && u->direct.top.has_mode && ++shown <= UNDO_SHOWN_MAX)
		buf_putf(&out, "  %-*s.\n", UNDO_WORDS, "gets its mode back");
	if (!changed && u->objects.count && !u->redo) {
		buf_putf(&out, "  %-*s", UNDO_WORDS, "stays");
		show_objects_put(&out, &u->objects);
		buf_put_str(&out, ": 'git gc' tidies up\n");
	}
	if (shown + objects.count) {
		text_styled(&u->out, changed ? TEXT_BAD : TEXT_STRONG, "%s\n", title);
		text_write(&u->out, &out);
	}
}

void undo_show_stands(const struct undo *u)
{
	for (size_t i = 0; !u->json && i < u->all_count; i++)
		if (u->stands[i])
			text_printf(&u->out,
				    "%s stays: it is checked out. Once you are on another branch "
				    "'bawn undo %s' takes it back.\n",
				    u->all[i].path, u->all[i].path);
}

void undo_show_skipped(const struct undo *u)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	size_t count = u->direct.skipped_count;

	for (size_t i = 0; i < count && i < UNDO_SHOWN_MAX; i++) {
		buf_put_str(&out, "  ");
		text_escape(&out, span_of_str(u->direct.skipped[i].path));
		buf_putf(&out, "  %s\n", u->direct.skipped[i].why);
	}
	if (count > UNDO_SHOWN_MAX)
		buf_putf(&out, "  ... and %zu more\n", count - UNDO_SHOWN_MAX);
	if (count == 0 || u->json)
		return;
	text_styled(&u->out, TEXT_WARN, "Left as they are:\n");
	text_write(&u->out, &out);
}

void undo_show_unseen(const struct undo *u)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	size_t shown = 0;

	for (size_t i = 0; !u->json && i < u->unseen_count; i++) {
		const struct undo_unseen *x = &u->unseen[i];
		bool last = i + 1 == u->unseen_count || !str_equal(x->session, x[1].session);

		if (++shown <= UNDO_SHOWN_MAX) {
			buf_put_str(&out, "  ");
			text_escape(&out, span_of_str(x->path));
			buf_putf(&out, "  %s\n", x->why);
		}
		if (!last)
			continue;
		if (shown > UNDO_SHOWN_MAX)
			buf_putf(&out, "  ... and %zu more\n", shown - UNDO_SHOWN_MAX);
		text_styled(&u->out, TEXT_WARN,
			    "Changed while %s ran, by it unseen or by somebody else:\n",
			    x->session);
		text_write(&u->out, &out);
		buf_clear(&out);
		shown = 0;
	}
	if (u->unseen_more && !u->json)
		text_styled(&u->out, TEXT_WARN, "%zu more were changed so.\n", u->unseen_more);
}

void undo_show_running(const struct undo *u)
{
	if (*u->running && !u->json)
		text_styled(&u->out, TEXT_WARN,
			    "The direct session %s is at work here: what it changes is not undone "
			    "before it has ended.\n",
			    u->running);
}

/* We do not know all that this session changed. */
bool undo_is_unread(const struct undo *u)
{
	return u->is_direct && u->direct.first.unread > 0;
}

void undo_show_unread(const struct undo *u)
{
	if (undo_is_unread(u) && !u->json)
		text_styled(&u->out, TEXT_WARN,
			    "Some of what was kept of %s cannot be read: what it changed then is "
			    "not known, and stays.\n",
			    u->session.name);
}

void undo_put_json(const struct undo *u)
{
	_cleanup_buf_ struct buf out = BUF_INIT(256 << 20);
	struct json j = JSON_INIT(&out, true);

	json_open(&j, '{');
	json_key_str(&j, "workspace", u->review.layers.workspace);
	json_key_bool(&j, "undone", u->done);
	json_key_u64(&j, "changed_since", u->changed_count);
	json_key(&j, "paths");
	json_open(&j, '[');
	for (size_t i = 0; i < u->all_count; i++) {
		if (u->left[i] ||
		    (git_is_in_objects(u->all[i].path) && u->all[i].after.type == OBJECT_ABSENT))
			continue;
		json_open(&j, '{');
		json_key_str(&j, "path", u->all[i].path);
		json_key_str(&j, "what", undo_words(&u->all[i], u->redo));
		json_key_bool(&j, "changed_since", u->changed[i]);
		json_close(&j, '}');
	}
	if (undo_has_top(u)) {
		json_open(&j, '{');
		json_key_str(&j, "path", ".");
		json_key_str(&j, "what",
			     u->direct.top.has_mode ? "gets its mode back" : "gets its time back");
		json_key_bool(&j, "changed_since", false);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_key(&j, "skipped");
	json_open(&j, '[');
	for (size_t i = 0; i < u->direct.skipped_count; i++) {
		json_open(&j, '{');
		json_key_str(&j, "path", u->direct.skipped[i].path);
		json_key_str(&j, "why", u->direct.skipped[i].why);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_key(&j, "unseen");
	json_open(&j, '[');
	for (size_t i = 0; i < u->unseen_count; i++) {
		json_open(&j, '{');
		json_key_str(&j, "session", u->unseen[i].session);
		json_key_str(&j, "path", u->unseen[i].path);
		json_key_str(&j, "why", u->unseen[i].why);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	if (u->unseen_more)
		json_key_u64(&j, "unseen_more", u->unseen_more);
	json_key_bool(&j, "unread", undo_is_unread(u));
	if (*u->running)
		json_key_str(&j, "running", u->running);
	json_close(&j, '}');
	buf_put_char(&out, '\n');
	text_write(&u->out, &out);
}
