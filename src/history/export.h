/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a record in the words of others: OTLP (OpenTelemetry's logs as JSON) and OCSF.  The
 * tables here say what becomes what, and docs/EXPORT.md says the same.
 *
 * Each event is translated by itself, so that the result is the same whenever and wherever it is
 * made.  No field is dropped: what the other format has no place for keeps the record's own name,
 * and an event that this bawn cannot read goes along as it is written.
 *
 * Bytes of the agent: as a string if they are UTF-8, else as bytesValue (OTLP), or escaped and with
 * the whole event beside them in raw_data (OCSF).  The sentence for a person is always escaped, so
 * that it can be shown anywhere.
 */
#ifndef BAWN_EXPORT_H
#define BAWN_EXPORT_H

#include "event_read.h"
#include "json.h"
#include "otlp_settings.h"

#define EXPORT_OCSF_VERSION "1.6.0"

/* Whose events these are, how we describe them, and room to work in. */
struct export
{
	const char *session;                  /* its folder, whose name never changes */
	const char *host;                     /* this machine */
	const struct otlp_settings *settings; /* service and attributes */
	struct event event;                   /* the one at hand */
	struct buf sentence, name;            /* of that event */
	uint8_t scratch[FRAME_EVENT_MAX];
};

/* NULL: no memory.  What it points to stays the caller's. */
struct export *export_new(const char *session, const char *host,
			  const struct otlp_settings *settings);
void export_free(struct export **x);
#define _cleanup_export_ _cleanup_(export_free)

/* Like event_read; an event that cannot be read gets no fields, and goes along as it is written. */
void export_read(const struct frame *f, struct event *ret);

/* The time of an event, in nanoseconds since 1970; 0 when it has none. */
int64_t export_time(const struct event *ev);

/* --- the tables ----------------------------------------------------------------------- */

/* The objects that a class of OCSF has, beside those that all have. */
enum export_object {
	EXPORT_ACTOR = 1 << 0,    /* actor and device */
	EXPORT_PROCESS = 1 << 1,  /* process: the object of the event */
	EXPORT_FILE = 1 << 2,     /* file */
	EXPORT_KERNEL = 1 << 3,   /* kernel: a system call */
	EXPORT_ENDPOINT = 1 << 4, /* src_endpoint and dst_endpoint */
	EXPORT_HTTP = 1 << 5,     /* http_request, http_response */
	EXPORT_QUERY = 1 << 6,    /* query, of DNS */
	EXPORT_API = 1 << 7,      /* api: a secret is used */
	EXPORT_APP = 1 << 8,      /* app: bawn itself */
	EXPORT_FINDING = 1 << 9,  /* finding_info */
	EXPORT_USER = 1 << 10,    /* user, session and privileges */
	EXPORT_ENTITY = 1 << 11,  /* entity */
};

struct export_class {
	uint16_t uid;
	const char *name;
	unsigned int objects; /* set of enum export_object */
};

enum { EXPORT_ACTIVITY_OTHER = 99 };

/* One row for a kind and an operation; op NULL is any other operation of that kind. */
struct export_row {
	const char *kind, *op;
	uint16_t class;
	uint8_t activity;     /* for OCSF */
	uint8_t severity;     /* for OTLP, when nothing was refused: 9, 13 or 17 */
	const char *sentence; /* {field}; [this is left out when its field is not there] */
};

/* The attribute for a field; kind NULL: any kind that has no row of its own. */
struct export_attribute {
	const char *kind;
	enum note_field field;
	const char *name;
	bool octal; /* written as text, in octal */
};

extern const struct export_row export_rows[];
extern const size_t export_row_count;
extern const struct export_attribute export_attributes[];
extern const size_t export_attribute_count;

/* Never NULL: the last row of the table is for anything. */
const struct export_row *export_row_of(const struct event *ev);
const struct export_class *export_class_of(const struct export_row *row);
const struct export_attribute *export_attribute_of(const struct event *ev, enum note_field field);

/* Whether it has members that our tables do not know: then it goes along as it is written. */
static inline bool export_is_strange(const struct export_row *row, const struct event *ev)
{
	return ev->has == 0 || ev->kind == NOTE_SEAL || !row->kind;
}

enum { EXPORT_INFO = 9, EXPORT_WARN = 13, EXPORT_ERROR = 17 };
unsigned int export_severity(const struct export_row *row, const struct event *ev);

/* Makes x->sentence: printable text, whatever names the agent gave its files. */
void export_sentence(struct export *x, const struct export_row *row, const struct event *ev);

/* A list's items, for a person or one by one; it uses x's scratch. */
struct event_items export_items(struct export *x, const struct event *ev, enum note_field field);

/* --- the formats ---------------------------------------------------------------------- */

/* An ExportLogsServiceRequest: begin, events, end. */
struct export_otlp {
	struct json json;
	struct export *x;
};

void export_otlp_begin(struct export_otlp *o, struct buf *out, struct export *x);
void export_otlp_event(struct export_otlp *o, const struct frame *f, const struct event *ev);
void export_otlp_end(struct export_otlp *o);

/* Puts one object, without a newline. */
void export_ocsf_event(struct buf *out, struct export *x, const struct frame *f,
		       const struct event *ev);

#endif
