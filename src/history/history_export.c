/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn record export`: one session's events in another format (export.h), event by event, so that
 * a record of any size needs little memory.  `bawn record send` starts bawn-otlp, which can look up
 * names.
 */
#include "history.h"
#include "history_output.h"
#include "history_record.h"

#include "audit.h"
#include "export.h"
#include "fd.h"
#include "helper.h"
#include "str.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum {
	EXPORT_FLUSH = 256 << 10, /* bytes after which we write */
	EXPORT_BATCH = 512,       /* log records in a line of OTLP */
	EXPORT_OUT_MAX = 64 << 20,
};

struct history_export {
	struct export *x;
	struct buf out;
	int fd;
	struct export_otlp otlp;
	size_t batch; /* log records in the current line */
};

/* --- formats -------------------------------------------------------------------------- */

static void export_jsonl(struct history_export *a, const struct frame *f)
{
	buf_put(&a->out, f->event.ptr, f->event.len);
	buf_put_char(&a->out, '\n');
}

static void export_ocsf(struct history_export *a, const struct frame *f)
{
	export_ocsf_event(&a->out, a->x, f, &a->x->event);
	buf_put_char(&a->out, '\n');
}

static void export_otlp_finish(struct history_export *a)
{
	if (a->batch == 0)
		return;
	export_otlp_end(&a->otlp);
	buf_put_char(&a->out, '\n');
	a->batch = 0;
}

static void export_otlp(struct history_export *a, const struct frame *f)
{
	if (a->batch == EXPORT_BATCH)
		export_otlp_finish(a);
	if (a->batch++ == 0)
		export_otlp_begin(&a->otlp, &a->out, a->x);
	export_otlp_event(&a->otlp, f, &a->x->event);
}

struct export_format {
	const char *name;
	void (*put)(struct history_export *a, const struct frame *f);
	void (*finish)(struct history_export *a); /* NULL: there is nothing to finish at the end */
	bool reads;                               /* it needs the event, not only its bytes */
};

static const struct export_format export_formats[] = {
	{"jsonl", export_jsonl, NULL, false},
	{"otlp", export_otlp, export_otlp_finish, true},
	{"ocsf", export_ocsf, NULL, true},
};

static const struct export_format *export_format_of(const char *name, struct error *e)
{
	for (size_t i = 0; name && i < BAWN_ARRAY_SIZE(export_formats); i++)
		if (str_equal(export_formats[i].name, name))
			return &export_formats[i];
	(void)error_set(e, -EINVAL,
			name ? "%s is no format of an export" : "an export wants a format", name);
	error_next(e, "Use --format jsonl, --format otlp or --format ocsf.");
	return NULL;
}

/* --- the verbs ------------------------------------------------------------------------ */

static int export_flush(struct history_export *a, struct error *e)
{
	int r = buf_error(&a->out);

	if (r == 0)
		r = fd_write_all(a->fd, buf_str(&a->out), a->out.len);
	buf_clear(&a->out);
	return r < 0 ? error_sys(e, r, "writing the export") : 0;
}

static int export_session(struct history_export *a, const struct export_format *format,
			  struct store_cursor *c, uint64_t *ret_number, struct error *e)
{
	struct frame f;
	enum feed said;
	int r = 0;

	while (r == 0 && (said = store_next(c, &f)) == FEED_DONE) {
		if (f.seq == 1 && frame_number_member(&f, "number", ret_number) < 0)
			*ret_number = 0;
		if (format->reads)
			export_read(&f, &a->x->event);
		format->put(a, &f);
		if (a->out.len >= EXPORT_FLUSH)
			r = export_flush(a, e);
	}
	if (format->finish)
		format->finish(a);
	if (r == 0)
		r = export_flush(a, e);
	if (r == 0 && said == FEED_BAD) {
		(void)error_set(e, -EBADMSG, "the record ends early: %s", c->why);
		error_next(e, "'bawn record verify' says more.");
		return -EBADMSG;
	}
	return r;
}

static int export_run(const struct history *ask, const struct store_session *session,
		      const struct export_format *format, struct error *e)
{
	_cleanup_otlp_settings_ struct otlp_settings settings = OTLP_SETTINGS_INIT;
	_cleanup_store_cursor_ struct store_cursor cursor = STORE_CURSOR_INIT;
	_cleanup_export_ struct export *x = NULL;
	_cleanup_audit_ struct audit ledger = {.count = 0};
	char host[256] = "";
	int r = otlp_settings_read_resource(&settings, environ, e);

	if (r == 0)
		r = store_cursor_open(&ask->store, session, &cursor, e);
	if (r < 0)
		return r;
	if (gethostname(host, sizeof(host) - 1) < 0 || host[0] == '\0')
		(void)snprintf(host, sizeof(host), "localhost");
	x = export_new(session->folder, host, &settings);
	if (!x)
		return error_set(e, -ENOMEM, "no memory");
	struct history_export a = {
		.x = x, .fd = history_output_fd(), .out = BUF_INIT(EXPORT_OUT_MAX)};
	/* A session that runs now may end while we read it. */
	bool over = !store_is_running(&ask->store, session);
	uint64_t number = 0;

	r = export_session(&a, format, &cursor, &number, e);
	if (r == 0 && over)
		r = audit_vouch(&ledger, &ask->store, session, number, cursor.seq, cursor.head, e);
	buf_fini(&a.out);
	return history_output_close(r, e);
}

int record_export(const struct history *a, const struct invocation *i, struct error *e)
{
	const struct export_format *format =
		export_format_of(invocation_value(i, OPTION_FORMAT), e);

	if (!format)
		return EXIT_USAGE;
	if (i->argument_count > 2) {
		(void)error_set(e, -EINVAL, "an export is of one session");
		return EXIT_USAGE;
	}
	const struct store_session *s =
		store_find(&a->store, i->argument_count > 1 ? i->arguments[1] : "last", e);

	return s ? export_run(a, s, format, e) : e->code;
}

int record_send(const struct history *a, const struct invocation *i, struct error *e)
{
	char path[PATH_MAX];
	int r = helper_path("bawn-otlp", path, sizeof(path));

	if (i->argument_count > 2) {
		(void)error_set(e, -EINVAL, "name one session, or none for all that is left");
		return EXIT_USAGE;
	}
	if (!a->host.state_dir || a->store.dir < 0)
		return error_set(e, -ENOENT, "nothing was recorded yet");
	if (r == 0) {
		(void)execl(path, "bawn-otlp", "send", a->host.state_dir, i->arguments[1], NULL);
		r = -errno;
	}
	return error_sys(e, r, "starting bawn-otlp, which sends records");
}
