/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries bytes between a descriptor of our caller and a pipe of the box, one way, until
 * the first ends.  The box never has the caller's descriptor: it cannot open it again for the other
 * direction through /proc, change its flags, or cut the file.
 *
 * Inward, where possible, no byte is lost that the command does not read: in
 * `producer | while read x; do bawn run -- command; done` the loop goes on after the last byte
 * that the command read.
 *
 *	a pipe		its buffers are shown to the box with tee(2), and stay where they are.  What
 *			the box has read is taken out of the caller's pipe afterwards.  Nothing is
 *			copied.  The price: two boxes that read one pipe at the same time both
 *			see its bytes.
 *	a file		is read at an offset of our own; at the end its offset is set behind what
 *			the box has read.
 *	anything else	(a socket, a device, with --stdio a terminal) is read as the box's pipe has
 *			room: up to 128 KiB that were read and not taken are lost
 *
 * Outward a pipe gets the box's buffers by splice(2); everything else is written to.
 */
#ifndef BAWN_PUMP_H
#define BAWN_PUMP_H

#include "loop.h"

enum pump_kind { PUMP_PIPE, PUMP_FILE, PUMP_SOCKET, PUMP_OTHER };

struct pump {
	struct loop *loop;
	bool inward;
	enum pump_kind kind; /* of the caller's descriptor */
	int from, to;        /* one is the caller's; the other is our end of the box's pipe */
	bool from_waits;     /* epoll can wait for them; regular files are always ready */
	bool to_waits;
	bool eof;  /* from has ended */
	bool done; /* nothing goes through any more, and our end is closed */
	int error; /* why the caller's descriptor could not be written; 0: it could, or was closed
		    */
	struct loop_handle reader, writer;

	/* Outward to a terminal: called with what was read, gives what is written instead. */
	struct span (*filter)(void *context, struct span read);
	void *filter_context;
	const uint8_t *filtered;

	/* What was read and not written; a pipe needs none. */
	uint8_t *bytes;
	size_t at, len;

	/* Inward: what the box has not read yet. */
	off_t offset;   /* PUMP_FILE: where we read next */
	off_t began;    /* and where we began: we never set it back before that */
	size_t shown;   /* PUMP_PIPE: bytes that are in the box's pipe and still in the caller's */
	int scratch[2]; /* a pipe of ours */
	int null;       /* /dev/null */
	int meter;      /* the box's pipe after the end, to count what is left there */
	int room;       /* of the caller's pipe */
	bool bulk;      /* the box's has as much */
	int clock;
	bool looking; /* the clock runs */
	long look_ns;
	struct loop_handle look;

	uint64_t *left; /* outward: bytes that may still go through, of several pumps; or NULL */

	void (*on_done)(void *context);                             /* may be NULL */
	void (*on_bytes)(void *context, bool inward, size_t count); /* went through; may be NULL */
	void *context;
};

/* The pump is the caller's and must stay where it is.  own: our end of the box's pipe, which
 * becomes the pump's also when this fails. */
int pump_start(struct pump *p, struct loop *loop, int theirs, int own, bool inward);

/* Inward: takes out of the caller's descriptor what the box has read, and no more. */
void pump_settle(struct pump *p);
void pump_stop(struct pump *p);

#endif
