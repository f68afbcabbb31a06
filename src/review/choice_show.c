/* SPDX-License-Identifier: Apache-2.0 */
#include "choice_show.h"

#include "encode.h"
#include "help.h"
#include "leave_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SHOWN_MAX = 40, SHOWN_WORDS = 8, SHOWN_INDENT = 4 };

static const char *const choice_words[] = {
	[CHOICE_LANDS] = "lands",     [CHOICE_SETTLED] = "settled",   [CHOICE_LEFT] = "left",
	[CHOICE_OURS] = "ours",       [CHOICE_CONFLICT] = "conflict", [CHOICE_HELD] = "held",
	[CHOICE_DROPPED] = "dropped", [CHOICE_KEPT] = "kept",         [CHOICE_LEAVE] = "left-out",
};

static void put_path(struct buf *into, const char *path, bool is_dir)
{
	char shown[REVIEW_PATH_SHOWN];

	text_escape(into, span_of_str(review_shown_path(path, shown)));
	if (is_dir)
		buf_put_char(into, '/');
}

void choice_put_line(struct buf *into, const struct choice *x)
{
	const struct change *c = x->change;
	bool dir = c->after.type == OBJECT_DIR ||
		   (c->after.type == OBJECT_ABSENT && c->before.type == OBJECT_DIR);

	buf_putf(into, "%-*s ", SHOWN_WORDS, change_kind_words[c->kind]);
	if (c->from) {
		put_path(into, c->from, dir);
		buf_put_str(into, " -> ");
	}
	put_path(into, c->path, dir);
	if (c->kind == CHANGE_CHANGED && c->before.type != c->after.type)
		buf_putf(into, "  (was a %s)", object_type_words[c->before.type]);
	if (c->kind == CHANGE_MODE ||
	    (c->before.type == OBJECT_FILE && c->after.type == OBJECT_FILE &&
	     (c->before.mode & 0777) != (x->lands.mode & 0777)))
		buf_putf(into, "  %04o -> %04o", c->before.mode & 0777, x->lands.mode & 0777);
	if (c->kind == CHANGE_ADDED && c->after.type == OBJECT_FILE && x->lands.mode & 0111)
		buf_put_str(into, "  (executable)");
	if (x->counted && x->added)
		buf_putf(into, "  +%zu", x->added);
	if (x->counted && x->removed)
		buf_putf(into, "%s-%zu", x->added ? " " : "  ", x->removed);
	if (x->partial)
		buf_put_str(into, "  (in part)");
	if (x->decided)
		buf_putf(into, "  (%s)", x->decided);
	if (x->released)
		buf_put_str(into, "  (released)");
	if (c->without)
		buf_putf(into, "  (without %s)", c->without);
}

void brought_put(struct buf *into, const struct brought *b)
{
	buf_put_str(into, b->removed ? "removes " : "brings ");
	put_path(into, b->path, false);
	buf_putf(into, " (%s)", b->rule);
	if (!b->seen) {
		if ((b->mode & S_IFMT) == S_IFLNK)
			buf_put_str(into, ", a link,");
		else if (b->mode & 0111)
			buf_put_str(into, ", executable,");
		buf_putf(into, " in the version of %s%.7s",
			 b->commit[0] ? "the commit " : "the index", b->commit);
	}
	if (b->released) {
		buf_put_str(into, b->yours ? " (your folder has it)" : " (released)");
		return;
	}
	buf_put_str(into, "; --release ");
	put_path(into, b->path, false);
	if (!b->seen)
		buf_putf(into, "@%.*s", BROUGHT_SHORT, b->removed ? BROUGHT_REMOVED : b->object);
}

void brought_put_json(struct json *j, const struct change *c)
{
	if (c->with)
		json_key_str(j, "with", c->with);
	if (c->brings_count == 0)
		return;
	json_key(j, "brings");
	json_open(j, '[');
	for (size_t i = 0; i < c->brings_count; i++) {
		const struct brought *b = &c->brings[i];

		json_open(j, '{');
		json_key_str(j, "path", b->path);
		json_key_str(j, "rule", b->rule);
		json_key_str(j, "why", b->why);
		if (b->commit[0])
			json_key_str(j, "commit", b->commit);
		if (b->object[0])
			json_key_str(j, "object", b->object);
		json_key_bool(j, "seen", b->seen);
		json_key_bool(j, "removed", b->removed);
		json_close(j, '}');
	}
	json_close(j, ']');
}

bool choice_goes_with(const struct choice *x)
{
	return x->change->with && !x->change->moved;
}

size_t choices_held(const struct choices *c, size_t *ret_with)
{
	size_t count = 0;

	*ret_with = 0;
	for (size_t i = 0; i < c->count; i++) {
		const struct choice *x = &c->items[i];

		if (x->state != CHOICE_HELD)
			continue;
		if (!choice_goes_with(x))
			count++;
		else if (folding_is_file(x->change) &&
			 (x->change->part || !folding_is_gits(x->change)))
			++*ret_with;
	}
	return count;
}

void choice_put_reason(const struct text *t, struct buf *into, const struct choice *x)
{
	const char *why = x->why ? x->why : x->change->why;
	_cleanup_buf_ struct buf words = BUF_INIT(64 << 10);

	if (!why || (x->state == CHOICE_LANDS && x->change->group != CHANGE_FLAGGED))
		return;
	text_escape(&words, span_of_str(why));
	buf_putf(into, "%*s", SHOWN_INDENT, "");
	/* What is not a terminal has no right edge. */
	help_wrap(into, buf_str(&words), SHOWN_INDENT, t->tty ? (size_t)t->width : SIZE_MAX);
	buf_put_char(into, '\n');
	for (size_t i = 0; x->state != CHOICE_LANDS && i < x->change->brings_count; i++) {
		const struct brought *b = &x->change->brings[i];

		if (i == SHOWN_MAX) {
			buf_putf(into, "%*sand %zu more; 'bawn diff' lists them all\n",
				 SHOWN_INDENT, "", x->change->brings_count - i);
			break;
		}
		buf_putf(into, "%*s", SHOWN_INDENT, "");
		brought_put(into, b);
		buf_put_char(into, '\n');
	}
}

/* Length of the path of the folder of objects. */
static size_t show_objects_len(const char *path)
{
	const char *rest = git_rest(path);

	return rest ? (size_t)(rest - path) + strlen("objects") : strlen(path);
}

void show_objects_add(struct show_objects *o, const char *path)
{
	size_t len = show_objects_len(path);

	if (o->count++ == 0)
		o->path = path;
	else if (show_objects_len(o->path) != len || memcmp(o->path, path, len) != 0)
		o->elsewhere = true;
}

void show_objects_put(struct buf *into, const struct show_objects *o)
{
	buf_putf(into, "%zu object%s in ", o->count, o->count == 1 ? "" : "s");
	text_escape(into, (struct span){(const uint8_t *)o->path, show_objects_len(o->path)});
	if (o->elsewhere)
		buf_put_str(into, " and those of other repositories");
}

/* Shows the changes of one state that does not land, up to a number. */
static void show_group(const struct text *t, const struct choices *c, enum choice_state state,
		       enum text_style style, const char *title)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	struct show_objects objects = {.count = 0};
	size_t count = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct choice *x = &c->items[i];

		if (x->state != state || (state == CHOICE_HELD && choice_goes_with(x)))
			continue;
		/* Their names are sums of content: nobody reads them one by one. */
		if (state == CHOICE_KEPT && choice_is_git_object(x->change->path)) {
			if (x->change->after.type == OBJECT_FILE ||
			    x->change->before.type == OBJECT_FILE)
				show_objects_add(&objects, x->change->path);
			continue;
		}
		if (++count > SHOWN_MAX)
			continue;
		buf_put_str(&out, "  ");
		choice_put_line(&out, x);
		buf_put_char(&out, '\n');
		choice_put_reason(t, &out, x);
		if (state == CHOICE_HELD)
			choices_put_with(&out, c, x);
	}
	if (count > SHOWN_MAX)
		buf_putf(&out, "  ... and %zu more; 'bawn diff --stat' lists them all\n",
			 count - SHOWN_MAX);
	if (objects.count) {
		buf_put_str(&out, "  git      ");
		show_objects_put(&out, &objects);
		buf_put_str(&out, ", which the session removed or changed\n");
	}
	if (count == 0 && objects.count == 0)
		return;
	text_styled(t, style, "%s\n", title);
	text_write(t, &out);
}

/* Shows refs of the session that land by another name. */
static void show_beside(const struct text *t, const struct choices *c)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	size_t count = 0;

	for (size_t i = 0; i < c->beside_count; i++) {
		if (!choice_beside_lands(c, &c->beside[i]) || ++count > SHOWN_MAX)
			continue;
		buf_putf(&out, "  %-*s ", SHOWN_WORDS, change_kind_words[CHANGE_ADDED]);
		put_path(&out, c->beside[i].path, false);
		buf_put_str(&out, "  (the session's, beside yours)\n");
	}
	if (count > SHOWN_MAX)
		buf_putf(&out, "  ... and %zu more refs of the session's\n", count - SHOWN_MAX);
	text_write(t, &out);
}

/* Shows what stays with a session that has a branch of its own: what it did not commit, by its
 * names.  Nobody would look for it among git's files. */
static void show_left(const struct text *t, const struct choices *c)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	size_t left = 0, on_branch = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct choice *x = &c->items[i];

		if (!choice_is_pending(c, x))
			continue;
		/* The branch has it, and does not land itself: its own line says why. */
		if (x->committed) {
			on_branch += folding_is_file(x->change) && !git_dir_of(x->change->path);
			continue;
		}
		if (++left > SHOWN_MAX)
			continue;
		buf_put_str(&out, "  ");
		choice_put_line(&out, &c->items[i]);
		buf_put_char(&out, '\n');
	}
	if (on_branch)
		text_styled(t, TEXT_WARN,
			    "%zu file%s on the branch %s, which does not land now, and stay%s with "
			    "the session.\n",
			    on_branch, on_branch == 1 ? " is" : "s are", c->review->session.branch,
			    on_branch == 1 ? "s" : "");
	if (left == 0)
		return;
	if (left > SHOWN_MAX)
		buf_putf(&out, "  ... and %zu more; 'bawn diff --stat' lists them all\n",
			 left - SHOWN_MAX);
	text_styled(
		t, TEXT_WARN,
		"Not on the branch %s, and stays with the session; 'bawn apply PATH' lands it:\n",
		c->review->session.branch);
	text_write(t, &out);
}

static bool show_leave_away(const void *context, size_t i)
{
	const struct choices *c = context;

	return c->items[i].state != CHOICE_LEAVE;
}

static void show_leave(const struct text *t, const struct choices *c)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	leave_put(&out, &c->changes, show_leave_away, c);
	text_write(t, &out);
}

/* What is left for later; of a file of which some hunks land, the others. */
static void show_pending(const struct text *t, const struct choices *c, const struct buf *left)
{
	size_t rest = 0;

	for (size_t i = 0; i < c->count; i++)
		rest += c->items[i].state == CHOICE_LANDS && c->items[i].partial;
	if (left->len == 0 && rest == 0)
		return;
	text_printf(t, "Not now, and pending still: %s", buf_str(left));
	if (rest)
		text_printf(t, "%sthe rest of %zu file%s", left->len ? ", and " : "", rest,
			    rest == 1 ? "" : "s");
	text_printf(t, ".\n");
}

void choices_show(const struct text *t, const struct choices *c, bool asks)
{
	_cleanup_buf_ struct buf sum = BUF_INIT(64 << 10), left = BUF_INIT(64 << 10);
	_cleanup_buf_ struct buf lands = BUF_INIT(4 << 20);

	choices_put_sum(&sum, c);
	choices_put_tally(&left, c, CHOICE_LEFT);
	choices_put_landing(t, &lands, c);
	if (choices_in(c, CHOICE_LANDS))
		text_styled(t, TEXT_STRONG, "%s: %s\n", c->review->shown, buf_str(&sum));
	if (c->busy)
		text_styled(t, TEXT_WARN,
			    "You are in the middle of %s here, begun after the session: git's own "
			    "notes on it stay as they are.\n",
			    c->busy);
	text_write(t, &lands);
	show_beside(t, c);
	show_group(t, c, CHOICE_KEPT, TEXT_PLAIN, "Stays as you have it:");
	show_group(t, c, CHOICE_OURS, TEXT_PLAIN, "Yours stays, and the session's is kept apart:");
	show_group(t, c, CHOICE_DROPPED, TEXT_WARN, "Never lands:");
	if (!asks)
		show_group(t, c, CHOICE_HELD, TEXT_WARN,
			   "Held, and left out; each lands with --release PATH:");
	show_group(t, c, CHOICE_CONFLICT, TEXT_BAD, "In conflict:");
	show_leave(t, c);
	if (c->review->session.branch[0])
		show_left(t, c);
	else
		show_pending(t, c, &left);
}

static void json_object(struct json *j, const char *key, const struct object *o)
{
	char hex[2 * SHA256_SIZE + 1] = "";

	json_key(j, key);
	json_open(j, '{');
	json_key_str(j, "type", object_type_words[o->type]);
	if (o->type == OBJECT_FILE || o->type == OBJECT_DIR) {
		char mode[8];

		(void)snprintf(mode, sizeof(mode), "%04o", o->mode & 07777);
		json_key_str(j, "mode", mode);
	}
	if (o->type == OBJECT_FILE)
		json_key_u64(j, "size", o->size);
	if (o->hashed) {
		*encode_hex_at(hex, o->digest, SHA256_SIZE) = '\0';
		json_key_str(j, "sha256", hex);
	}
	json_close(j, '}');
}

void choices_put_json(struct json *j, const struct choices *c)
{
	json_open(j, '[');
	for (size_t i = 0; i < c->count; i++) {
		const struct choice *x = &c->items[i];
		const char *why = x->why ? x->why : x->change->why;

		if (x->state == CHOICE_SETTLED)
			continue;
		json_open(j, '{');
		json_key_str(j, "path", x->change->path);
		if (x->change->from)
			json_key_str(j, "from", x->change->from);
		json_key_str(j, "kind", change_kind_words[x->change->kind]);
		json_key_str(j, "state", choice_words[x->state]);
		json_key_str(j, "group", change_group_words[x->change->group]);
		if (x->change->rule)
			json_key_str(j, "rule", x->change->rule);
		if (why)
			json_key_str(j, "why", why);
		brought_put_json(j, x->change);
		if (x->change->without)
			json_key_str(j, "without", x->change->without);
		if (x->decided)
			json_key_str(j, "decided", x->decided);
		if (x->released)
			json_key_bool(j, "released", true);
		if (x->partial || (x->state == CHOICE_KEPT && x->rest))
			json_key_bool(j, "partial", true);
		if (x->counted) {
			json_key_u64(j, "added", x->added);
			json_key_u64(j, "removed", x->removed);
		}
		json_object(j, "before", &x->change->before);
		json_object(j, "after", x->state == CHOICE_LANDS ? &x->lands : &x->change->after);
		json_close(j, '}');
	}
	for (size_t i = 0; i < c->beside_count; i++) {
		if (!choice_beside_lands(c, &c->beside[i]))
			continue;
		json_open(j, '{');
		json_key_str(j, "path", c->beside[i].path);
		json_key_str(j, "kind", change_kind_words[CHANGE_ADDED]);
		json_key_str(j, "state", choice_words[CHOICE_LANDS]);
		json_key_str(j, "group", change_group_words[CHANGE_ORDINARY]);
		json_key_str(j, "beside", c->items[c->beside[i].of].change->path);
		json_object(j, "before", &c->beside[i].before);
		json_object(j, "after", &c->beside[i].lands);
		json_close(j, '}');
	}
	json_close(j, ']');
}
