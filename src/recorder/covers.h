/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping covers on.
 *
 * What the box must not read (PLAN_MOUNT_HIDE) or write (role "held", or a folder that is shown
 * read-only within one that is not) in a folder which is shown as it is, is covered by a mount on
 * that very file.  (The folders above it are mounts too, prepare/direct.h: the box cannot move it to
 * another name.)  When a program outside replaces or removes the file, the kernel takes the mount
 * away with it, and what stands there now is open.
 *
 * In an overlay names are its own, and a cover stays.  But a name that was not there when the
 * session began, and is made outside later, is shown as soon as the box looks.  And a folder that a
 * program outside gives another name is found by that name too, and when the box looks it up there,
 * the kernel takes it away from the first one, with the cover on it; what is made anew under the
 * first name is open.  A cover cannot be kept on then, since nobody knows when the box looks: the
 * box ends as soon as a folder on the way to what is hidden, or a hidden one, gets another name
 * outside.
 *
 * A hidden file may get another name too: an editor keeps the old one as a backup.  Its new name is
 * covered like the first one, and is hidden until the session ends (covers_outside.c).  The name of
 * a hard link is not told by anybody: then the box ends.
 *
 * Something hidden may be mounted a second time in what the box sees.  The kernel takes the cover away
 * there as well, and what is left is gone everywhere else and takes no cover: then the box ends.
 *
 * So a child of the recorder enters the box's mount namespace, with the power to mount there, and
 * listens (inotify) to the folders on the way to every cover.  As soon as one of the names appears,
 * the cover is laid on what is there now; only then it is looked whether a process of the box was
 * quicker and holds what was open.  In this order, because one mount takes less time than stopping
 * every thread of the box, and from then on nobody else comes in.
 *
 *	recorder			child
 *	covers_start			waits
 *	covers_enter: pid 1 of the box	enters, lays what is missing, listens, says READY
 *	covers_wait, at the first exec
 *	covers_sync			SYNCED: what was heard until then is done
 *	covers_look			looks at one cover
 *					PUT: a cover was laid again
 *					ALSO: one more name is covered
 *					HELD: a process of the box has it open, so the box ends
 *					LOST: it cannot be laid, so the box ends
 *
 * The child stands outside the box's processes: nobody there can see, stop or end it.  When it
 * ends by itself, so does the box.  It has a filter of its own (PROFILE_COVERS) before it looks at
 * anything that the box has shaped.
 *
 * Between the moment when the kernel takes a cover away and the one when it is laid again there is
 * time (docs/THREAT-MODEL.md says how much).  So the recorder listens to the same folders.  Before
 * it lets a call of the box go on it looks whether one of the names has appeared; then the call
 * waits until the child is done.  And what a program asks for by name it refuses at any time
 * (watch_covered.c).
 */
#ifndef BAWN_COVERS_H
#define BAWN_COVERS_H

#include "error.h"
#include "loop.h"
#include "plan.h"

#include <limits.h>
#include <linux/stat.h>
#include <sys/inotify.h>
#include <sys/types.h>

/* What is heard of a hidden file, or of a folder on the way: it has another name, or one more. */
#define COVERS_OBJECT (IN_MOVE_SELF | IN_ATTRIB)

enum {
	COVERS_FOLDERS_MAX = 8192, /* that are listened to at once */
	COVERS_ALSO_MAX = 64,      /* names that hidden files get while the session runs */
};

enum cover_kind {
	COVER_HIDE,  /* something empty that nobody may read */
	COVER_READ,  /* itself, read-only */
	COVER_WRITE, /* itself: a folder that the box cannot move away, with covers in it */
};

/* A call of the box that is about to make what is at a cover's place, or to take it away.  Whether
 * it did is looked at when its thread makes another, or after a while (watch_covered.c). */
struct cover_call {
	pid_t thread; /* 0: there is none */
	bool makes;
	bool itself;        /* it names the cover's own path, not a folder above it */
	int64_t since;      /* watch_clock */
	struct statx stood; /* what it takes away */
};

struct cover {
	const char *target;            /* absolute, in the box */
	const struct plan_mount *from; /* in which it lies, and which nothing outside takes away */
	size_t base;                   /* bytes of target that are this mount */
	bool layered;                  /* it is an overlay */
	enum cover_kind kind;
	bool late; /* it was not there when the session began: made by the box it is the box's own
		    */
	/* Of a late one, and the recorder's alone. */
	struct cover_call call;
	unsigned int vain; /* calls that made nothing */
};

/* Messages: from the recorder with a pid or a number, from the child a report. */
enum { COVERS_ENTER = 1, COVERS_SYNC, COVERS_LOOK, COVERS_REPORT };

enum covers_word {
	COVERS_READY,
	COVERS_FAILED,
	COVERS_SYNCED,
	COVERS_ALSO,
	COVERS_PUT,
	COVERS_HELD,
	COVERS_LOST
};

/* From the child. */
struct covers_report {
	uint32_t word;  /* enum covers_word */
	uint32_t index; /* of the cover; of ALSO: of the new one; of SYNCED: which asking is
			   answered */
	int32_t error;  /* of FAILED and LOST: -errno */
	int32_t pid;    /* of HELD: as the box sees it */
	char name[16];  /* and its name */
};

struct covers_to {
	struct loop *loop;
	/* ALSO, PUT, HELD and LOST; FAILED with the child's end. */
	int (*report)(void *context, const struct covers_report *report);
	void (*forget)(void *context); /* in the child: wipes what is not for it; or NULL */
	void *context;
};

struct covers {
	struct covers_to to;
	const struct plan *plan;
	struct cover *items;    /* in the order in which they are laid */
	size_t count;           /* 0: there is nothing to keep, and no child */
	size_t planned;         /* of them; behind those, names that came while the session ran, */
	char (*also)[PATH_MAX]; /* which the child writes here.  Shared with it */
	bool unfiltered;        /* the user chose to go without filters */
	bool *own;              /* of each: the box made it.  Shared with the child */
	int channel;
	struct loop_handle handle;
	pid_t pid;
	int pidfd;
	bool entered, ready;
	int heard; /* the same as the child listens to, for us; -1 */
	uint32_t asked, answered;
};

#define COVERS_INIT ((struct covers){.channel = -1, .pidfd = -1, .heard = -1})

/* Finds the plan's covers, and starts the child where there are some. */
int covers_start(struct covers *c, const struct plan *plan, const struct covers_to *to,
		 struct error *e);

/* The box is there; a second time nothing happens. */
int covers_enter(struct covers *c, pid_t first);

/* Until all are laid and listened to. */
int covers_wait(struct covers *c, struct error *e);

/* Before a call of the box goes on: what has happened to the covers' names is seen to.  0, or
 * -errno when nobody does that any more. */
int covers_sync(struct covers *c);

/* Whether an event of inotify is about one of its names. */
bool cover_is_about(const struct cover *c, const struct inotify_event *event);

/* The cover at or above path; NULL. */
const struct cover *covers_over(const struct covers *c, const char *path);

/* The mount through which the box sees this path of its own; NULL. */
const struct plan_mount *covers_shown_by(const struct covers *c, const char *path);

/* One more is hidden, whose path is the next one in `also`.  -E2BIG: there are too many; -ENOENT:
 * the box does not see it. */
int covers_also(struct covers *c);

/* What stands there is not the box's own after all: it is covered.  0 or -errno. */
int covers_look(struct covers *c, size_t index);

/* The box has ended, so the child does. */
void covers_end(struct covers *c);

/* The child: covers_keep.c. */
_Noreturn void covers_keep(struct covers *c, int channel, int events);

#endif
