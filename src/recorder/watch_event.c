/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the events of the watch.  Members are in the order of enum note_field. */
#include "watch_parts.h"

#include "event.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	WATCH_ESCAPED = 6, /* bytes that one byte may become in an event */
	WATCH_SAID_MAX = 1024,
	WATCH_NAMED_MAX = 16,                      /* for one execution */
	WATCH_EMPTY = 2,                           /* bytes of an empty argument */
	WATCH_EVENT_ROOM = FRAME_EVENT_MAX - 1024, /* without the folder, which comes last */
};

static struct buf *watch_event_begin(struct watch *w, enum note_kind kind, const char *op,
				     const char *how)
{
	struct buf *event = event_begin(w->to.writer, kind);

	event_put_word(event, NOTE_FIELD_OP, op);
	event_put_word(event, NOTE_FIELD_HOW, how);
	return event;
}

static void watch_put_who(struct buf *event, uint64_t exec, pid_t pid)
{
	if (exec)
		event_put_number(event, NOTE_FIELD_EXEC, exec);
	event_put_number(event, NOTE_FIELD_PID, (uint64_t)pid);
}

/* Puts at most `most` bytes of a path; returns how many are missing. */
static uint64_t watch_put_cut(struct buf *event, enum note_field field, const char *path,
			      size_t len, size_t most)
{
	size_t kept = len < most ? len : most;

	if (len)
		event_put_text(event, field, (struct span){(const uint8_t *)path, kept});
	return len - kept;
}

/* Puts as much of a path as an event has room for; returns how many bytes are missing. */
static uint64_t watch_put_path(struct buf *event, enum note_field field, const char *path,
			       size_t len)
{
	return watch_put_cut(event, field, path, len, NOTE_TEXT_MAX);
}

/* Puts a path of a file event.  If nothing happened, it need not be whole: a program can ask for
 * invented names at no cost, but they take much room in the record. */
static uint64_t watch_put_file(struct buf *event, bool refused, enum note_field field,
			       const char *path, size_t len)
{
	return watch_put_cut(event, field, path, len, refused ? WATCH_REFUSED_MAX : NOTE_TEXT_MAX);
}

static void watch_put_verdict(struct buf *event, bool refused, bool failed)
{
	if (refused || failed)
		event_put_word(event, NOTE_FIELD_VERDICT, refused ? "refused" : "failed");
}

/* --- files ---------------------------------------------------------------------------- */

/* Who made a file is who made or wrote it first: what is written again and again counts once. */
static void watch_made(struct watch *w, uint64_t exec, struct span path)
{
	if (path.len && !(touched_effects(w->to.touched, path) & TOUCHED_MADE))
		who_made_add(w->to.made, exec, path);
}

/* For the comparison with the disk at the end. */
static void watch_touch(struct watch *w, uint64_t exec, enum watch_touch touch)
{
	const struct watch_call *c = &w->call;
	struct touched *t = w->to.touched;
	struct watch_names names;

	if (!t || c->path_len == 0)
		return;
	watch_names(w, &names);
	const struct span path = names.path, to = names.to;

	switch (touch) {
	case WATCH_TOUCH_NOT:
		break;
	case WATCH_TOUCH_MADE:
		watch_made(w, exec, path);
		touched_add(t, path, TOUCHED_MADE);
		break;
	case WATCH_TOUCH_META:
		touched_add(t, path, TOUCHED_META);
		break;
	case WATCH_TOUCH_TIMES:
		touched_add(t, path, TOUCHED_TIMES);
		break;
	case WATCH_TOUCH_GONE:
		touched_add(t, path, TOUCHED_GONE);
		break;
	case WATCH_TOUCH_RENAMED:
		watch_made(w, exec, to);
		if (to.len)
			touched_renamed(t, path, to);
		if (to.len && (c->flags & RENAME_EXCHANGE))
			touched_renamed(t, to, path);
		break;
	case WATCH_TOUCH_LINKED:
		watch_made(w, exec, to);
		touched_add(t, path, TOUCHED_META);
		if (to.len)
			touched_add(t, to, TOUCHED_MADE);
		/* Who writes by the new name writes the old one too. */
		if (to.len)
			touched_linked(t, to, path);
		break;
	case WATCH_TOUCH_SYMLINKED:
		watch_made(w, exec, path);
		touched_add(t, path, TOUCHED_MADE);
		touched_linked(t, path, to);
		break;
	}
}

static int watch_write_vain(struct watch *w, const struct watch_vain *of)
{
	struct buf *event = watch_event_begin(w, NOTE_GAP, "vain", "kernel");

	event_put_number(event, NOTE_FIELD_COUNT_OF, of->left);
	if (of->exec)
		event_put_number(event, NOTE_FIELD_EXEC, of->exec);
	event_put_text(event, NOTE_FIELD_REASON,
		       SPAN_LITERAL("attempts on names that lead to nothing, too many in a second "
				    "to be named"));
	return writer_end(w->to.writer);
}

int watch_event_vain(struct watch *w)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < w->vains.count; i++)
		if (w->vains.of[i].left)
			r = watch_write_vain(w, &w->vains.of[i]);
	w->vains.count = 0;
	return r;
}

/* Begins an event about a path, up to who did it.  1: it is a repeat, and was counted.  Or
 * -errno. */
static int watch_begin_file(struct watch *w, const struct watch_process *p,
			    const struct watch_file *f, struct span path, struct span to,
			    struct buf **ret_event)
{
	const struct watch_fold_entry what = {.exec = p->exec,
					      .pid = p->pid,
					      .kind = NOTE_FILE,
					      .op = f->op,
					      .refused = f->refused,
					      .failed = f->failed};
	int r = watch_fold_add(&w->fold, &what, path, to);

	if (r != 0)
		return r;
	*ret_event = watch_event_begin(w, NOTE_FILE, f->op, "reported");
	watch_put_verdict(*ret_event, f->refused, f->failed);
	watch_put_who(*ret_event, p->exec, p->pid);
	return 0;
}

int watch_event_file(struct watch *w, const struct watch_process *p, const struct watch_file *f)
{
	const struct watch_call *c = &w->call;
	struct buf *event = NULL;

	if (!f->refused && !f->failed)
		watch_touch(w, p->exec, f->touch);
	if (f->refused)
		wishes_add(w->to.wishes, MESSAGE_WANTED_FILE, p->exec,
			   (struct span){(const uint8_t *)c->path, c->path_len});
	int r = watch_begin_file(w, p, f, (struct span){(const uint8_t *)c->path, c->path_len},
				 (struct span){(const uint8_t *)c->to, c->to_len}, &event);

	if (r != 0)
		return r < 0 ? r : 0;
	bool vain = f->refused || f->failed || c->missing;
	uint64_t cut = watch_put_file(event, vain, NOTE_FIELD_PATH, c->path, c->path_len);

	cut += watch_put_file(event, vain, NOTE_FIELD_TO, c->to, c->to_len);
	(void)watch_put_cut(event, NOTE_FIELD_SAID, c->said, c->said_len, WATCH_SAID_MAX);
	if (cut)
		event_put_number(event, NOTE_FIELD_CUT, cut);
	if (f->has_mode)
		event_put_number(event, NOTE_FIELD_MODE, c->mode & 07777777);
	if (f->has_flags)
		event_put_number(event, NOTE_FIELD_FLAGS, c->flags);
	event_put_word(event, NOTE_FIELD_REASON, c->reason);
	return writer_end(w->to.writer);
}

static int watch_event_named(struct watch *w, const struct watch_process *p, struct span path)
{
	const struct watch_file named = {.op = "named", .refused = true};
	struct buf *event = NULL;
	int r = watch_begin_file(w, p, &named, path, (struct span){NULL, 0}, &event);

	if (r != 0)
		return r < 0 ? r : 0;
	(void)watch_put_path(event, NOTE_FIELD_PATH, (const char *)path.ptr, path.len);
	return writer_end(w->to.writer);
}

/* --- refused calls -------------------------------------------------------------------- */

static int watch_write_call(struct watch *w, const struct watch_fold_entry *e, const char *name,
			    uint64_t count)
{
	struct buf *event = watch_event_begin(w, NOTE_CALL, NULL, "kernel");

	event_put_word(event, NOTE_FIELD_VERDICT, "refused");
	if (count)
		event_put_number(event, NOTE_FIELD_COUNT_OF, count);
	watch_put_who(event, e->exec, e->pid);
	event_put_word(event, NOTE_FIELD_CALLED, name);
	return writer_end(w->to.writer);
}

int watch_event_call(struct watch *w, const struct watch_process *p, const char *name, int number)
{
	const struct watch_fold_entry what = {.exec = p ? p->exec : 0,
					      .pid = p ? p->pid : 0,
					      .kind = NOTE_CALL,
					      .op = "",
					      .refused = true};
	char text[24];

	if (!name)
		(void)snprintf(text, sizeof(text), "%d", number);
	else
		(void)snprintf(text, sizeof(text), "%s", name);
	wishes_add(w->to.wishes, MESSAGE_WANTED_CALL, what.exec, span_of_str(text));
	int r = watch_fold_add(&w->fold, &what, span_of_str(text), (struct span){NULL, 0});

	return r != 0 ? (r < 0 ? r : 0) : watch_write_call(w, &what, text, 0);
}

/* --- servers -------------------------------------------------------------------------- */

int watch_event_listens(struct watch *w, const struct watch_process *p, uint16_t port)
{
	struct buf *event = watch_event_begin(w, NOTE_NETWORK, "listen", "reported");

	watch_put_who(event, p->exec, p->pid);
	event_put_word(event, NOTE_FIELD_HOST, "localhost");
	event_put_number(event, NOTE_FIELD_PORT, port);
	return writer_end(w->to.writer);
}

/* --- repeats -------------------------------------------------------------------------- */

int watch_event_repeats(void *context, const struct watch_fold_entry *e)
{
	struct watch *w = context;

	if (e->kind == NOTE_CALL)
		return watch_write_call(w, e, e->text, e->repeats);
	struct buf *event = watch_event_begin(w, (enum note_kind)e->kind, e->op, "reported");

	bool vain = e->refused || e->failed;

	watch_put_verdict(event, e->refused, e->failed);
	event_put_number(event, NOTE_FIELD_COUNT_OF, e->repeats);
	watch_put_who(event, e->exec, e->pid);
	uint64_t cut = watch_put_file(event, vain, NOTE_FIELD_PATH, e->text, e->path_len);

	cut += watch_put_file(event, vain, NOTE_FIELD_TO, e->text + e->path_len + 1, e->to_len);
	if (cut)
		event_put_number(event, NOTE_FIELD_CUT, cut);
	return writer_end(w->to.writer);
}

/* --- processes ------------------------------------------------------------------------ */

/* Puts as many arguments as there is room for: whole ones, and the beginning of the first that does
 * not fit.  Returns how many bytes are missing. */
static uint64_t watch_put_argv(struct buf *event, const struct buf *argv, size_t room)
{
	uint64_t cut = 0;
	const char *end = argv->ptr + argv->len;

	if (argv->len == 0)
		return 0;
	event_put_list_begin(event, NOTE_FIELD_ARGV);
	for (const char *at = argv->ptr; at < end;) {
		size_t len = strnlen(at, (size_t)(end - at));
		struct span word = {(const uint8_t *)at, len};
		/* Room for a comma, and for the end of the list. */
		size_t used = event->len + 2, left = used < room ? room - used : 0;

		word.len = cut ? 0 : frame_value_fits(word, left);
		if (cut == 0 && (word.len > 0 || (len == 0 && left > WATCH_EMPTY)))
			event_put_list_item(event, word);
		else
			word.len = 0, cut++;
		cut += len - word.len;
		at += len + 1;
	}
	event_put_list_end(event);
	return cut;
}

static int watch_write_exec(struct watch *w, const struct watch_process *p, const char *op,
			    uint64_t parent)
{
	const struct watch_exec *x = p->asked;
	struct buf *event = watch_event_begin(w, NOTE_PROCESS, op, "reported");

	if (p->exec)
		event_put_number(event, NOTE_FIELD_EXEC, p->exec);
	if (parent)
		event_put_number(event, NOTE_FIELD_PARENT, parent);
	event_put_number(event, NOTE_FIELD_PID, (uint64_t)p->pid);
	uint64_t cut =
		x->cut + watch_put_path(event, NOTE_FIELD_PATH, buf_str(&x->path), x->path.len);

	cut += watch_put_argv(event, &x->argv, WATCH_EVENT_ROOM - WATCH_ESCAPED * x->cwd.len);
	if (cut)
		event_put_number(event, NOTE_FIELD_CUT, cut);
	(void)watch_put_path(event, NOTE_FIELD_CWD, buf_str(&x->cwd), x->cwd.len);
	event_put_word(event, NOTE_FIELD_REASON, x->reason);
	return writer_end(w->to.writer);
}

/*
 * Which withheld files a program was told of: arguments that are paths of files outside which the
 * box does not show.  We do not watch every way to ask for a file (a folder that is listed, what is
 * beneath an open one, what a compiler looks for); but a command that names the file to a program
 * is seen here.  All we know is that it was named, and `named` says no more.
 */

/* The path in an argument; "--file=PATH" too. */
static const char *watch_named_path(const char *argument)
{
	const char *value = argument[0] == '-' ? strchr(argument, '=') : NULL;

	return value ? value + 1 : argument[0] == '-' ? "" : argument;
}

static bool watch_named_is_withheld(struct watch *w, const char *path)
{
	enum watch_place place = watch_map_find(&w->map, path).place;

	return (place == WATCH_PLACE_HIDDEN || place == WATCH_PLACE_HOME) &&
	       watch_is_withheld(w, path);
}

static int watch_named(struct watch *w, const struct watch_process *p, const struct watch_exec *x)
{
	const char *cwd = buf_str(&x->cwd); /* "": not known */
	const char *at = buf_str(&x->argv);
	const char *end = at + x->argv.len;
	size_t found = 0;
	int r = 0;

	if (w->to.plan->record_reads == PLAN_READS_NONE)
		return 0;
	for (at += strlen(at) + 1; r == 0 && at < end && found < WATCH_NAMED_MAX;
	     at += strlen(at) + 1) {
		char path[WATCH_PATH_MAX];
		const char *said = watch_named_path(at);
		bool known = *said == '/' || (*said && *cwd);
		size_t len = known ? watch_path_join(cwd, said, path, sizeof(path)) : 0;

		if (len == 0 || !watch_named_is_withheld(w, path))
			continue;
		found++;
		r = watch_event_named(w, p, (struct span){(const uint8_t *)path, len});
	}
	return r;
}

int watch_event_exec(struct watch *w, struct watch_process *p)
{
	uint64_t parent = watch_process_execed(&w->processes, p);
	int r = watch_write_exec(w, p, "exec", parent);

	wishes_name(w->to.wishes, p->exec,
		    (struct span){(const uint8_t *)buf_str(&p->asked->path), p->asked->path.len});
	who_made_name(w->to.made, p->exec, buf_span(&p->asked->path), buf_span(&p->asked->argv));

	if (r == 0)
		r = watch_named(w, p, p->asked);
	watch_exec_free(p->asked);
	p->asked = NULL;
	return r;
}

int watch_event_tried(struct watch *w, struct watch_process *p)
{
	int r = watch_write_exec(w, p, "tried", 0);

	watch_exec_free(p->asked);
	p->asked = NULL;
	return r;
}

int watch_event_ran(struct watch *w, struct watch_process *p)
{
	char path[WATCH_PATH_MAX];
	ssize_t n = watch_thread_link(p->pid, "exe", path, sizeof(path));
	struct watch_look look;
	struct stat st;

	const char *reason = n == -ESTALE ? WATCH_ADRIFT : NULL;

	if ((n <= 0 && !reason) || watch_process_stat(p, "exe", &st) < 0 ||
	    watch_process_look(p, &look) < 0)
		return 0;
	watch_process_mark(p, look.stack, &st);
	struct buf *event = watch_event_begin(w, NOTE_PROCESS, "ran", "kernel");

	n = n > 0 ? n : 0; /* it has no name */
	watch_put_who(event, p->exec, p->pid);
	(void)watch_put_path(event, NOTE_FIELD_PATH, path, (size_t)n);
	event_put_number(event, NOTE_FIELD_DEVICE, st.st_dev);
	event_put_number(event, NOTE_FIELD_INODE, st.st_ino);
	event_put_word(event, NOTE_FIELD_REASON, reason);
	int r = writer_end(w->to.writer);

	if (r == 0 && w->to.ran)
		w->to.ran(w->to.context, p->pid, (struct span){(const uint8_t *)path, (size_t)n});
	return r;
}

int watch_event_missed(struct watch *w, uint64_t count)
{
	struct buf *event = watch_event_begin(w, NOTE_GAP, "ends", "kernel");

	event_put_number(event, NOTE_FIELD_COUNT_OF, count);
	event_put_text(
		event, NOTE_FIELD_REASON,
		SPAN_LITERAL("more processes than the recorder may have open files: what they "
			     "do is recorded, how and when exactly they end is not"));
	return writer_end(w->to.writer);
}

int watch_event_crowd(struct watch *w)
{
	struct buf *event = watch_event_begin(w, NOTE_LIMIT, "reached", "kernel");

	event_put_word(event, NOTE_FIELD_VERDICT, "refused");
	event_put_text(event, NOTE_FIELD_HOST, SPAN_LITERAL("processes"));
	event_put_text(event, NOTE_FIELD_REASON, SPAN_LITERAL(WATCH_CROWDED));
	return writer_end(w->to.writer);
}

int watch_event_exit(struct watch *w, const struct watch_process *p, int status)
{
	int r = watch_fold_flush(&w->fold, p->exec);

	if (r < 0)
		return r;
	struct buf *event = watch_event_begin(w, NOTE_PROCESS, "exit", "kernel");

	watch_put_who(event, p->exec, p->pid);
	if (status >= 0 && WIFSIGNALED(status))
		event_put_number(event, NOTE_FIELD_SIGNAL, (uint64_t)WTERMSIG(status));
	else if (status >= 0)
		event_put_number(event, NOTE_FIELD_EXIT, (uint64_t)WEXITSTATUS(status));
	return writer_end(w->to.writer);
}
