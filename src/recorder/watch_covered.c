/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch's part in covers (covers.h).  It refuses covered things by name, as the kernel would
 * with the cover on, because a program outside may remove the cover at this very moment.  And it
 * turns what the child that keeps the covers reports into events, or ends the box.
 *
 * The caller's memory may say something else when the call goes on.  So this is no boundary: it
 * stops honest callers, and leaves the others a few microseconds.
 */
#include "watch_parts.h"

#include "dir.h"
#include "event.h"
#include "fd.h"
#include "open.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static void covered_end(struct watch *w, struct error *why)
{
	error_next(why, "The session was ended. Replace, rename and link such files and folders "
			"when no session shows them.");
	if (!w->ending)
		w->to.end(w->to.context, why);
	w->ending = true;
}

static void covered_unanswered(struct watch *w, int error)
{
	struct error e = ERROR_INIT;

	(void)error_sys(&e, error,
			"the process that covers hidden and protected files does not answer");
	covered_end(w, &e);
}

static bool covered_is_there(struct watch *w, const char *path)
{
	_cleanup_fd_ int fd = watch_open_path(w, path);

	return fd >= 0 || fd == -ELOOP;
}

bool watch_makes_new(const struct watch_call *c, const struct watch_file *f)
{
	if (f->touch == WATCH_TOUCH_MADE && f->has_flags)
		return (c->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	return f->touch == WATCH_TOUCH_SYMLINKED || f->touch == WATCH_TOUCH_LINKED ||
	       str_equal(f->op, "mkdir") || str_equal(f->op, "mknod");
}

static bool covered_makes(const struct watch_call *c, const struct watch_file *f)
{
	return watch_makes_new(c, f) || f->touch == WATCH_TOUCH_RENAMED ||
	       (f->touch == WATCH_TOUCH_MADE && f->has_flags && (c->flags & O_CREAT));
}

/* The errno for a call on this path; 0: it may go on.  made: the call may make something at this
 * path. */
static int covered_judge(struct watch *w, const struct watch_file *f, const char *path, bool made)
{
	const struct cover *over = covers_over(&w->covers, path);
	bool itself = over && str_equal(path, over->target);
	bool moves = f->touch == WATCH_TOUCH_GONE || f->touch == WATCH_TOUCH_RENAMED;
	bool makes = made && covered_makes(&w->call, f);

	if (!over || (f->touch == WATCH_TOUCH_NOT && over->kind != COVER_HIDE))
		return 0;
	/* The session may make it while it is not there, and then it is its own. */
	if (over->late &&
	    (w->covers.own[over - w->covers.items] || !covered_is_there(w, over->target)))
		return 0;
	if (over->kind == COVER_WRITE && !(itself && (moves || makes)))
		return 0;
	bool meta = f->touch == WATCH_TOUCH_META || f->touch == WATCH_TOUCH_TIMES;
	int error = over->kind == COVER_HIDE && !meta ? EACCES : EROFS;

	/* Nothing beneath a hidden thing is seen, so the answer says nothing about it. */
	if (!covered_is_there(w, over->kind == COVER_HIDE ? over->target : path))
		return makes ? error : ENOENT;
	if (itself && moves)
		return EBUSY;
	return makes && itself && watch_makes_new(&w->call, f) ? EEXIST : error;
}

/* --- what the session makes ----------------------------------------------------------- */

/*
 * When something was not there at the start and the session makes it, it is the session's own.  We
 * must decide that before the call goes on, and the call may fail.  So we look again: when the same
 * thread makes another call, because then this one is over, or after COVERED_PATIENCE_MS.  We do
 * not believe a call that is certain to fail, and after COVERED_VAIN_MAX failures we believe none:
 * else a box that tries in vain all the time would own what the user makes meanwhile.
 */
enum { COVERED_PATIENCE_MS = 500, COVERED_MS = 1000000, COVERED_VAIN_MAX = 3 };

static bool covered_stat(struct watch *w, const char *path, struct statx *ret)
{
	_cleanup_fd_ int fd = watch_open_path(w, path);

	return fd >= 0 && statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT,
				STATX_BASIC_STATS | STATX_BTIME, ret) == 0;
}

static bool covered_is_same(const struct statx *a, const struct statx *b)
{
	const struct statx_timestamp *was =
		a->stx_mask & STATX_BTIME ? &a->stx_btime : &a->stx_ctime;
	const struct statx_timestamp *is =
		b->stx_mask & STATX_BTIME ? &b->stx_btime : &b->stx_ctime;

	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor && was->tv_sec == is->tv_sec &&
	       was->tv_nsec == is->tv_nsec;
}

static bool covered_has_entries(struct watch *w, const char *path)
{
	int root = watch_root_open(&w->root, &w->processes);

	return root >= 0 &&
	       dir_is_empty(open_in_root_plain(root, path, O_RDONLY | O_DIRECTORY)) == 0;
}

/* Whether the removal is certain to fail. git tries it with each folder from which it removed
 * something. */
static bool covered_cannot_go(struct watch *w, const struct watch_file *f)
{
	const char *path = w->call.path;
	struct statx st;

	if (f->touch != WATCH_TOUCH_GONE || !covered_stat(w, path, &st))
		return false;
	bool folder = S_ISDIR(st.stx_mode), rmdir = str_equal(f->op, "rmdir");

	return folder != rmdir || (folder && covered_has_entries(w, path));
}

static int covered_settle(struct watch *w, size_t i)
{
	struct cover *c = &w->covers.items[i];
	struct statx now;
	bool there = covered_stat(w, c->target, &now);

	if (!c->call.makes) {
		if (there && covered_is_same(&c->call.stood, &now))
			w->covers.own[i] = true;
	} else if (!covered_is_there(w, c->target)) {
		w->covers.own[i] = false;
		c->vain += c->call.itself;
	}
	bool looks = c->call.makes && !w->covers.own[i];

	c->call.thread = 0;
	/* Somebody outside may have made it at this very moment. */
	return looks ? covers_look(&w->covers, i) : 0;
}

static void covered_note_gone(struct watch *w, const struct watch_file *f, pid_t thread)
{
	if (covered_cannot_go(w, f))
		return;
	for (size_t i = 0; i < w->covers.count; i++) {
		struct cover *c = &w->covers.items[i];
		struct cover_call call = {.thread = thread, .since = w->now};

		if (!c->late || !w->covers.own[i] || !str_path_beneath(c->target, w->call.path))
			continue;
		if (c->call.thread && c->call.makes)
			(void)covered_settle(w, i);
		w->covers.own[i] = false;
		c->call = covered_stat(w, c->target, &call.stood)
				  ? call
				  : (struct cover_call){.thread = 0};
		w->covered_calls = true;
	}
}

/* Whether the folder of this path is there. */
static bool covered_has_folder(struct watch *w, const char *path)
{
	char above[WATCH_PATH_MAX];
	const char *slash = strrchr(path, '/');
	int n = snprintf(above, sizeof(above), "%.*s", slash ? (int)(slash - path) : 0, path);

	return n <= 0 || (size_t)n >= sizeof(above) || covered_is_there(w, above);
}

static void covered_note_made(struct watch *w, const struct watch_file *f, const char *made,
			      pid_t thread)
{
	/* A folder comes with what is in it. */
	bool whole = f->touch == WATCH_TOUCH_RENAMED;

	if (!covered_has_folder(w, made) ||
	    ((whole || f->touch == WATCH_TOUCH_LINKED) && !covered_is_there(w, w->call.path)))
		return;
	for (size_t i = 0; i < w->covers.count; i++) {
		struct cover *c = &w->covers.items[i];
		bool itself = str_equal(c->target, made);

		if (!c->late || c->vain >= COVERED_VAIN_MAX ||
		    !(itself || (whole && str_path_beneath(c->target, made))))
			continue;
		w->covers.own[i] = true;
		w->covered_calls = true;
		if (!c->call.thread || !c->call.makes)
			c->call = (struct cover_call){
				.thread = thread, .makes = true, .itself = itself, .since = w->now};
	}
}

static void covered_note(struct watch *w, const struct watch_file *f, pid_t thread)
{
	const struct watch_call *c = &w->call;
	bool moves = f->touch == WATCH_TOUCH_GONE || f->touch == WATCH_TOUCH_RENAMED;
	const char *made = c->to_len > 0 && f->touch != WATCH_TOUCH_SYMLINKED ? c->to : c->path;

	if (moves)
		covered_note_gone(w, f, thread);
	if (covered_makes(c, f) && !covered_is_there(w, made))
		covered_note_made(w, f, made, thread);
}

bool watch_covered_settle(struct watch *w, pid_t thread)
{
	bool more = false;
	int r = 0;

	for (size_t i = 0; w->covered_calls && r == 0 && i < w->covers.count; i++) {
		const struct cover_call *call = &w->covers.items[i].call;

		if (!call->thread)
			continue;
		if (call->thread == thread ||
		    w->now - call->since >= (int64_t)COVERED_PATIENCE_MS * COVERED_MS)
			r = covered_settle(w, i);
		else
			more = true;
	}
	w->covered_calls = more;
	if (r < 0)
		covered_unanswered(w, r);
	return more;
}

/* --- a call --------------------------------------------------------------------------- */

int watch_covered(struct watch *w, struct watch_file *f, pid_t thread, bool *wanted)
{
	struct watch_call *c = &w->call;
	bool two = f->touch == WATCH_TOUCH_RENAMED || f->touch == WATCH_TOUCH_LINKED;
	bool reads = f->touch == WATCH_TOUCH_NOT && w->watch == PROFILE_WATCH_READS;

	/* When nobody wants to know of reads, a read may get what is there when the kernel
	 * looks. */
	if (w->covers.count == 0 || !(*wanted || reads) || c->unsure || c->nameless ||
	    c->path_len == 0)
		return 0;
	/* A hard link leaves its source as it is; and nobody can link a hidden file. */
	int error = f->touch == WATCH_TOUCH_LINKED ? 0 : covered_judge(w, f, c->path, !two);

	if (error == 0 && two && c->to_len > 0)
		error = covered_judge(w, f, c->to, true);
	if (error && !f->refused) {
		f->refused = true;
		c->reason = "it is protected";
	}
	*wanted |= error && error != ENOENT;
	if (error == 0 && !f->refused)
		covered_note(w, f, thread);
	return error;
}

/* --- the child that keeps them on ----------------------------------------------------- */

static int covered_event(struct watch *w, const char *op, const char *path, const char *reason)
{
	struct buf *event = event_begin(w->to.writer, NOTE_TAMPER);

	event_put_word(event, NOTE_FIELD_OP, op);
	event_put_word(event, NOTE_FIELD_HOW, "kernel");
	if (*path)
		event_put_text(event, NOTE_FIELD_PATH, span_of_str(path));
	event_put_text(event, NOTE_FIELD_REASON, span_of_str(reason));
	int r = writer_end(w->to.writer);

	return r < 0 ? r : w->to.wrote(w->to.context);
}

static const char *covered_lost_words(int error)
{
	return error == -ESTALE   ? "a folder on the way to it was renamed outside"
	       : error == -EMLINK ? "it was linked outside"
				  : error_words(error);
}

static void covered_lost(const char *path, const char *was, int error, struct error *why)
{
	if (error == -ESTALE)
		(void)error_set(why, -EPERM,
				"%s is hidden, and a folder on the way to it got another name "
				"outside",
				path);
	else if (error == -EMLINK)
		(void)error_set(why, -EPERM,
				"%s is hidden, and got a second name outside (a hard link), by "
				"which the box may see it",
				path);
	else
		(void)error_sys(why, error < 0 ? error : -EPERM,
				"%s is %s, was made or replaced outside, and cannot be covered",
				path, was);
}

static int covered_on_report(void *context, const struct covers_report *report)
{
	struct watch *w = context;
	struct error why = ERROR_INIT;
	const struct cover *c =
		report->index < w->covers.count ? &w->covers.items[report->index] : NULL;
	const char *path = c ? c->target : "";
	const char *was = c && c->kind == COVER_HIDE ? "hidden" : "protected";
	int r = 0;

	switch ((enum covers_word)report->word) {
	case COVERS_ALSO:
		return covered_event(w, "covered", path, "what is hidden got this name outside");
	case COVERS_PUT:
		return covered_event(w, "covered", path, "it was made or replaced outside");
	case COVERS_HELD:
		(void)error_set(&why, -EPERM,
				"%s is %s, was made or replaced outside, and process %d (%s) of "
				"the box opened it before it was covered",
				path, was, (int)report->pid, report->name);
		r = covered_event(w, "held", path, "a process of the box has it open");
		break;
	case COVERS_LOST:
		covered_lost(path, was, report->error, &why);
		r = covered_event(w, "uncovered", path, covered_lost_words(report->error));
		break;
	case COVERS_READY:
	case COVERS_SYNCED:
	case COVERS_FAILED:
		(void)error_set(&why, -EPIPE,
				"the process that covers hidden and protected files has ended");
		r = covered_event(w, "unkept", "", why.text);
		break;
	}
	covered_end(w, &why);
	return r;
}

static void covered_forget(void *context)
{
	const struct watch *w = context;

	if (w->to.forget)
		w->to.forget(w->to.context);
}

int watch_covers_start(struct watch *w, struct error *e)
{
	const struct covers_to to = {.loop = w->to.loop,
				     .report = covered_on_report,
				     .forget = covered_forget,
				     .context = w};

	/* A box without its own mounts has no covers. */
	return plan_goes_without(w->to.plan, PLAN_LAYER_MOUNT_NS)
		       ? 0
		       : covers_start(&w->covers, w->to.plan, &to, e);
}

void watch_covers_sync(struct watch *w)
{
	int r = w->ending ? 0 : covers_sync(&w->covers);

	if (r < 0)
		covered_unanswered(w, r);
}

bool watch_covers_wait(struct watch *w)
{
	struct error e = ERROR_INIT;

	if (covers_wait(&w->covers, &e) == 0)
		return true;
	if (!w->ending)
		w->to.end(w->to.context, &e);
	w->ending = true;
	return false;
}
