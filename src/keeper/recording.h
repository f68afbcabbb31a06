/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper's side of the recorder:
 *
 *	recording_take	 RECORD came from the client: the folders
 *	recording_start	 starts the recorder first: it begins the record while the keeper
 *			 makes the box
 *	recording_wait	 waits until the record has the session's begin: nothing runs before
 *	recording_serve	 from now on the box ends when the recorder ends
 *	recording_end	 the box has ended: waits until the record is complete
 *
 * In a session without a record every call here does nothing.
 */
#ifndef BAWN_RECORDING_H
#define BAWN_RECORDING_H

#include "channel.h"
#include "loop.h"
#include "make.h"
#include "message_box.h"
#include "message_gate.h"
#include "message_control.h"
#include "note.h"

struct recording {
	struct make_result made;
	struct channel channel; /* fd -1: there is none */
	struct loop *loop;
	struct loop_handle handle;
	int folders[4]; /* of all records, of this one, of first versions where they are kept, and
			 * of those of a repository; until the recorder has them */
	size_t folder_count;
	int gate;          /* the gate's end, until it has it */
	struct buf record; /* the message RECORD */
	bool ready, done;
	uint64_t asked, recorded; /* ids of notes */
	struct error failure;
	void (*on_gone)(void *context, const struct error *why);
	void (*on_event)(void *context, struct span event); /* shows a message_event */
	void (*on_recorded)(void *context, uint64_t id); /* the disk has the notes up to this one */
	void *recorded_context;
	void *context;
};

#define RECORDING_INIT                                   \
	((struct recording){.made = {0, -1},             \
			    .channel = {.fd = -1},       \
			    .folders = {-1, -1, -1, -1}, \
			    .gate = -1,                  \
			    .record = BUF_INIT(512)})

int recording_take(struct recording *r, struct channel_packet *packet, struct error *e);
int recording_start(struct recording *r, int programs, int plan_fd, struct error *e);
int recording_wait(struct recording *r, struct error *e);
int recording_serve(struct recording *r, struct loop *loop,
		    void (*on_gone)(void *context, const struct error *why), void *context);

/* Passes the listener of the box's filter on to the recorder. */
int recording_watch(struct recording *r, struct channel_packet *packet);

/* Notes that the box is made, and how many probes held. */
void recording_ready(struct recording *r, const struct plan *plan, uint64_t probes);

/* Sends a note of the keeper, or one made from an event of another process. */
void recording_note(struct recording *r, const struct note *n);
void recording_event(struct recording *r, const struct message_event *event);

/* A person does this to the session from outside of it: exec, attach, send, pause, resume, stop, kill. */
void recording_outside(struct recording *r, const char *what);

/* A process went on during a pause, again and again, and init ended it. */
void recording_restless(struct recording *r);

/* Somebody outside connected to a port of the box (TAKEN), or nobody took the connection.  Returns the
 * number that on_recorded tells when the disk has it; 0: nobody has to wait. */
uint64_t recording_taken(struct recording *r, const struct message_job *taken);

/* Records other rules and who wanted them; on the disk when this returns 0. */
int recording_change(struct recording *r, const struct message_change *change, int plan,
		     struct error *e);

/* A note that is on the disk when this returns 0. */
int recording_decide(struct recording *r, struct note *n, struct error *e);

/* What the one who waits for the end has said. */
enum recording_haste {
	RECORDING_WAITS,
	RECORDING_GONE,   /* nobody waits any more */
	RECORDING_CALLED, /* it was told to end: a signal */
};

/* Who waits for the end: its descriptor is readable when it says something. */
struct recording_waiter {
	int fd;
	enum recording_haste (*on_word)(void *context);
	void *context;
};

/* status: of the command, as wait(2) says it; NULL when bawn ended it.  waiter: may be NULL.
 * When the waiter is in haste, the record gets RECORDING_HASTE seconds to end, and is then left
 * as it is. */
void recording_end(struct recording *r, const uint64_t *status,
		   const struct recording_waiter *waiter, struct error *e);

#endif
