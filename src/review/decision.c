/* SPDX-License-Identifier: Apache-2.0 */
#include "decision.h"

#include "config.h"
#include "encode.h"
#include "event.h"
#include "fd.h"
#include "hash.h"
#include "home_store.h"
#include "ledger.h"

#include <stdio.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	DECISION_FORMAT = 1,
	DECISION_WORDS_MAX = 4096,
	DECISION_EVENT = 512, /* bytes of an event without its path */
	DECISION_END = 64 << 10,
};

static void decision_put_command(struct buf *event, const struct invocation *i)
{
	size_t room = DECISION_WORDS_MAX;

	event_put_list_begin(event, NOTE_FIELD_ARGV);
	for (char **word = i->words; word && *word; word++) {
		struct span s = span_of_str(*word);

		if (s.len >= room)
			break;
		room -= s.len;
		event_put_list_item(event, s);
	}
	event_put_list_end(event);
}

static int decision_begin(struct decision *d, const struct review *r, const struct invocation *i)
{
	struct buf *event = event_begin(&d->writer, NOTE_SESSION);

	event_put_word(event, NOTE_FIELD_OP, "begin");
	event_put_word(event, NOTE_FIELD_HOW, "kernel");
	decision_put_command(event, i);
	event_put_text(event, NOTE_FIELD_NAME, span_of_str(i->verb->name));
	event_put_number(event, NOTE_FIELD_NUMBER, d->number);
	event_put_word(event, NOTE_FIELD_VERSION, BAWN_VERSION);
	event_put_number(event, NOTE_FIELD_FORMAT, DECISION_FORMAT);
	event_put_text(event, NOTE_FIELD_WORKSPACE, span_of_str(r->layers.workspace));
	event_put_word(event, NOTE_FIELD_ACCESS, layers_mode_words[r->session.mode]);
	return writer_end(&d->writer);
}

int decision_open(const struct review *r, const struct invocation *i, struct decision *ret,
		  struct error *e)
{
	struct hash key;

	*ret = DECISION_INIT;
	/* A command that makes room must not fail because there is none. */
	home_store_make_room(&r->host);
	int code = record_folder_make(r->host.state_dir, i->verb->name, &ret->folder, e);

	if (code < 0)
		return code;
	if (flock(ret->folder.own, LOCK_EX) < 0)
		return error_sys(e, -errno, "locking the record");
	ret->ledger = ledger_open(ret->folder.all, e);
	code = ret->ledger < 0 ? ret->ledger
			       : ledger_begin(ret->folder.all, ret->ledger, ret->folder.name,
					      &ret->number, &key, e);
	if (code < 0)
		return code;
	/* Nothing else writes meanwhile: it takes only the room that it needs. */
	code = logfile_first(&ret->logfile, ret->folder.own, false);
	if (code == 0) {
		writer_init(&ret->writer, ret->logfile.fd, &key);
		/* Wait for the disk once, when everything is written. */
		ret->writer.deferred = true;
		ret->open = true;
		code = decision_begin(ret, r, i);
	}
	explicit_bzero(&key, sizeof(key));
	return code < 0 ? error_sys(e, code, "beginning a record of this") : 0;
}

int decision_note(struct decision *d, const struct note *n)
{
	int r = event_write(&d->writer, &n->m);

	/* Leave a full segment complete, as the recorder does. */
	if (r == 0 && logfile_is_full(&d->logfile, &d->writer)) {
		r = writer_commit(&d->writer);
		if (r == 0)
			r = logfile_next(&d->logfile, d->folder.own, &d->writer);
	}
	return r;
}

int decision_path(struct decision *d, const struct decision_path *p)
{
	struct note n;
	char hex[HASH_HEX + 1] = "";

	if (p->object && p->object->hashed)
		*encode_hex_at(hex, p->object->digest, SHA256_SIZE) = '\0';
	note_begin(&n, p->kind, p->op);
	note_text(&n, NOTE_FIELD_PATH, span_of_str(p->path));
	if (p->to)
		note_text(&n, NOTE_FIELD_TO, span_of_str(p->to));
	note_word(&n, NOTE_FIELD_DIGEST, hex);
	if (p->object && p->object->type != OBJECT_ABSENT && p->object->type != OBJECT_LINK)
		note_number(&n, NOTE_FIELD_MODE, p->object->mode & 0777);
	if (p->rule)
		note_text(&n, NOTE_FIELD_RULE, span_of_str(p->rule));
	if (p->reason)
		note_text(&n, NOTE_FIELD_REASON, span_of_str(p->reason));
	if (p->origin)
		note_text(&n, NOTE_FIELD_ORIGIN, span_of_str(p->origin));
	return decision_note(d, &n);
}

bool decision_has_room(const struct decision *d, size_t count, uint64_t bytes)
{
	struct statvfs s;

	/* A byte may be escaped; and the end has to be written, too. */
	return fstatvfs(d->folder.own, &s) < 0 ||
	       s.f_bavail * s.f_frsize > count * DECISION_EVENT + 2 * bytes + DECISION_END;
}

int decision_about(const struct review *r, const struct invocation *i, const char *op,
		   const struct layers_snapshot *s, struct decision *ret, struct error *e)
{
	struct note n;
	int code = decision_open(r, i, ret, e);

	if (code < 0)
		return code;
	note_begin(&n, NOTE_APPLY, op);
	note_text(&n, NOTE_FIELD_NAME, span_of_str(s->session));
	note_text(&n, NOTE_FIELD_TO, span_of_str(s->name));
	note_text(&n, NOTE_FIELD_WORKSPACE, span_of_str(r->layers.workspace));
	code = decision_note(ret, &n);
	return code < 0 ? error_sys(e, code, "writing a record of this") : 0;
}

int decision_settle(struct decision *d, struct error *e)
{
	int r = writer_commit(&d->writer);

	if (r == 0 && (fsync(d->folder.own) < 0 || fsync(d->folder.all) < 0))
		r = -errno;
	if (r < 0) {
		(void)error_sys(e, r, "writing a record of this");
		error_next(e, "Nothing was changed. Make room where your records are.");
	}
	return r;
}

int decision_close(struct decision *d, int status, struct error *e)
{
	if (!d->open)
		return 0;
	struct buf *event = event_begin(&d->writer, NOTE_SESSION);

	event_put_word(event, NOTE_FIELD_OP, "end");
	event_put_word(event, NOTE_FIELD_HOW, "kernel");
	event_put_number(event, NOTE_FIELD_EXIT, (uint64_t)status);
	event_put_number(event, NOTE_FIELD_EVENTS, d->writer.seq + 1);
	int r = writer_end(&d->writer);

	if (r == 0)
		r = writer_commit(&d->writer);
	if (r < 0)
		return error_sys(e, r, "writing the end of the record");
	logfile_last(&d->logfile, &d->writer);
	struct ledger_end end = {.session = d->folder.name,
				 .number = d->number,
				 .events = d->writer.seq,
				 .head = d->writer.prev};

	merkle_root(&d->writer.tree, &end.root);
	r = ledger_enter_end(d->ledger, &end, e);
	decision_fini(d);
	return r;
}

void decision_fini(struct decision *d)
{
	if (d->open)
		writer_fini(&d->writer);
	d->open = false;
	fd_close(&d->logfile.fd);
	fd_close(&d->ledger);
	record_folder_fini(&d->folder);
}
