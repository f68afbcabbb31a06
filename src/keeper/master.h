/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The master of a job's terminal, which stands outside the box: what the box writes goes as OUTPUT to
 * everybody who sees the terminal, and what they send is typed.
 *
 *	who started it	is waited for while nobody else sees the terminal: while he is slow it is not
 *			read, so its writers wait and nothing is lost
 *	anybody else	who is slow misses output, and is given a picture of the screen when he has
 *			room again: nobody holds the others up
 *	the screen	(bawn-screen) has every byte, and is always waited for
 *	none		the terminal is read for the screen alone
 *
 * Who typed last drives: the terminal has the size of his.  What is typed before the box has its
 * terminal waits for it; a program that does not read its keyboard loses what is typed past the
 * buffer's end, as with any terminal.
 */
#ifndef BAWN_MASTER_H
#define BAWN_MASTER_H

#include "buf.h"
#include "error.h"
#include "loop.h"
#include "message_box.h"

enum { MASTER_VIEWS = 16 };

/* Somebody who sees the terminal.  It is its owner's, and stays where it is. */
struct master_view {
	int fd;                    /* its channel */
	struct loop_handle handle; /* who watches that, with EPOLLIN */
	bool screen;               /* bawn-screen: it is given every byte */
	bool watches;              /* types nothing */
	bool waited;               /* for, while nobody else is there */
	bool more;                 /* its owner has something to send, too */
	bool pending;              /* has not taken the output that was read last */
	bool behind;               /* has missed output, and wants a picture */
	bool lost;
	uint64_t rows, columns; /* of its own terminal; 0: not known */
};

struct master;

struct master_to {
	/* A view is gone: its owner forgets it (master_forget).  The master may be gone then. */
	void (*on_gone)(void *context, struct master_view *view);
	/* The terminal has another size now; or NULL. */
	void (*on_size)(void *context, uint64_t rows, uint64_t columns);
	/* A picture is wanted: master_on_painted brings it.  -EAGAIN: not now, and the screen's room is
	 * told; any other: there is none. */
	int (*paint)(void *context);
	/* No more pieces of a picture, or go on. */
	void (*hush)(void *context, bool hush);
	/* The box wrote so many bytes, or (0) something was typed. */
	void (*on_bytes)(void *context, size_t count);
	void *context;
};

struct master {
	struct loop *loop;
	int fd; /* -1: none, or none any more */
	struct loop_handle handle;
	bool had_one;
	bool expected;                 /* the job has a terminal, here already or not */
	char output[MESSAGE_DATA_MAX]; /* read from the terminal, not yet taken by all */
	size_t output_len;
	struct buf input; /* for the terminal, not yet taken by it */
	struct master_view *views[MASTER_VIEWS];
	size_t view_count;
	struct master_view *driver;   /* who typed last; or NULL */
	struct master_view *painting; /* its picture is being made: the terminal is not read */
	bool paint_waits;             /* the screen has no room to be asked */
	size_t owed;                  /* pictures on their way for nobody any more */
	char piece[MESSAGE_DATA_MAX]; /* of a picture, which had no room */
	size_t piece_len;
	struct master_to to;
};

void master_init(struct master *m, struct loop *loop, const struct master_to *to);

/* One more who sees the terminal.  late: it begins with a picture.  -EUSERS: there are too many. */
int master_show(struct master *m, struct master_view *view, bool late);
void master_forget(struct master *m, struct master_view *view);

/* Who is there and can type; NULL: nobody.  The driver comes first. */
struct master_view *master_viewer(const struct master *m);

/* Takes the box's terminal, the descriptor also when this fails. */
int master_take(struct master *m, int fd, struct error *e);

/* A view types, or says how large its own terminal is. */
void master_type(struct master *m, struct master_view *view, struct span bytes);
void master_resize(struct master *m, struct master_view *view, uint64_t rows, uint64_t columns);

/* Typed by somebody who does not see the terminal. */
void master_put(struct master *m, struct span bytes);

/* What a terminal answers to a question of the box: typed when nobody else is there to answer. */
void master_answer(struct master *m, struct span bytes);

/* A view can take more.  It may be gone then. */
void master_on_room(struct master *m, struct master_view *view);

/* A piece of the picture; the last is empty. */
void master_on_painted(struct master *m, struct span piece);

/* There is no screen any more: who waits for a picture does not get one. */
void master_lose_screen(struct master *m);

/* What was written until now is on its way, as far as it is taken. */
void master_settle(struct master *m);

/* The job has ended: takes what is left in the terminal, as far as it is taken.  True when nothing
 * is left. */
bool master_drain(struct master *m);

#endif
