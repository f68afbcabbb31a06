/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps covers in their places.
 *
 * Some files in a folder that the box sees as it is must not be read (PLAN_MOUNT_HIDE) or written
 * (role "held", or a folder that is shown read-only within one that is not).  A mount on that very
 * file covers it.  (The folders above it are mounts too, prepare/direct.h: the box cannot move it
 * to another name.)  When a program outside replaces or removes the file, the kernel removes the
 * mount with it, and the box can open what is there now.
 *
 * An overlay has its own names, and a cover stays.  But the box sees a name that a program outside
 * makes after the session began.  And when a program outside renames a folder, the box can find it
 * by the new name too; when it does, the kernel removes the folder from its first name, with the
 * cover on it, and what is then made under the first name is open.  Nobody knows when the box
 * looks, so the cover cannot be kept: the box ends as soon as a program outside renames a folder on
 * the way to something hidden, or a hidden folder itself.
 *
 * A hidden file may get another name too: an editor keeps the old one as a backup.  We cover the
 * new name like the first one, and hide it until the session ends (covers_outside.c).  The kernel
 * does not tell us the name of a new hard link: then the box ends.
 *
 * Something hidden may be mounted a second time in what the box sees.  The kernel removes the cover
 * there as well, and the removed thing takes no new cover: then the box ends.
 *
 * So a child of the recorder enters the box's mount namespace, with the power to mount there, and
 * listens (inotify) to the folders on the way to every cover.  As soon as one of the names appears,
 * it lays the cover on what is there now; only then does it look whether a process of the box was
 * quicker and holds the uncovered thing.  This order is best because one mount takes less time than
 * stopping every thread of the box, and from then on no other process gets in.
 *
 *	recorder			child
 *	covers_start			waits
 *	covers_enter: pid 1 of the box	enters, lays what is missing, listens, says READY
 *	covers_wait, at the first exec
 *	covers_sync			SYNCED: it has worked through all that it heard until then
 *	covers_look			looks at one cover
 *					PUT: it laid a cover again
 *					ALSO: it covers one more name
 *					HELD: a process of the box has it open, so the box ends
 *					LOST: it cannot lay it, so the box ends
 *
 * The child is not one of the box's processes: none of those can see, stop or end it.  When it ends
 * by itself, the box ends.  It installs its own filter (PROFILE_COVERS) before it looks at anything
 * that the box has shaped.
 *
 * There is a gap between the moment when the kernel removes a cover and the moment when the child
 * lays it again (docs/THREAT-MODEL.md says how long).  So the recorder listens to the same
 * folders.  Before it lets a call of the box go on, it looks whether one of the names has appeared;
 * then the call waits until the child is done.  And it always refuses what a program asks for by
 * name (watch_covered.c).
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

/* inotify events of a hidden file, or of a folder on the way: it was renamed, or got a new link. */
#define COVERS_OBJECT (IN_MOVE_SELF | IN_ATTRIB)

enum {
	COVERS_FOLDERS_MAX = 8192, /* folders that are listened to at once */
	COVERS_ALSO_MAX = 64,      /* names that hidden files get while the session runs */
};

enum cover_kind {
	COVER_HIDE,  /* an empty thing that nobody may read */
	COVER_READ,  /* the same thing, read-only */
	COVER_WRITE, /* the same thing: a folder that the box cannot move away, with covers in it */
};

/* A call of the box that is about to make or remove what is at a cover's place.  When its thread
 * makes another call, or after a while, we look whether it did (watch_covered.c). */
struct cover_call {
	pid_t thread; /* 0: there is no such call */
	bool makes;
	bool itself;        /* it names the cover's own path, not a folder above it */
	int64_t since;      /* watch_clock */
	struct statx stood; /* what it is about to remove */
};

struct cover {
	const char *target;            /* absolute, in the box */
	const struct plan_mount *from; /* the mount that it is in; nothing outside removes it */
	size_t base;                   /* length of this mount's path in target */
	bool layered;                  /* that mount is an overlay */
	enum cover_kind kind;
	bool late; /* it was not there when the session began; if the box makes it, it is the box's
		    * own */
	/* For a late one; only the recorder uses these. */
	struct cover_call call;
	unsigned int vain; /* calls that made nothing */
};

/* Messages: the recorder sends a pid or a number, the child sends a report. */
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

/* What the child sends. */
struct covers_report {
	uint32_t word;  /* enum covers_word */
	uint32_t index; /* of the cover; ALSO: of the new one; SYNCED: the question's number */
	int32_t error;  /* FAILED and LOST: -errno */
	int32_t pid;    /* HELD: the pid as the box sees it */
	char name[16];  /* HELD: the name of that process */
};

struct covers_to {
	struct loop *loop;
	/* Gets ALSO, PUT, HELD and LOST; FAILED when the child ends. */
	int (*report)(void *context, const struct covers_report *report);
	void (*forget)(void *context); /* called in the child: wipes what is not for it; or NULL */
	void *context;
};

struct covers {
	struct covers_to to;
	const struct plan *plan;
	struct cover *items;    /* in the order in which they are laid */
	size_t count;           /* 0: there are no covers, and no child */
	size_t planned;         /* of them; after those, names that came while it ran */
	char (*also)[PATH_MAX]; /* paths of those, which the child writes.  Shared with it */
	bool unfiltered;        /* the user chose to run without filters */
	bool *own;              /* of each: the box made what is there.  Shared with the child */
	int channel;
	struct loop_handle handle;
	pid_t pid;
	int pidfd;
	bool entered, ready;
	int heard; /* the recorder's inotify for the same folders; -1: none */
	uint32_t asked, answered;
};

#define COVERS_INIT ((struct covers){.channel = -1, .pidfd = -1, .heard = -1})

/* Finds the plan's covers, and starts the child when there are some. */
int covers_start(struct covers *c, const struct plan *plan, const struct covers_to *to,
		 struct error *e);

/* Tells the child to enter the box.  A second call does nothing. */
int covers_enter(struct covers *c, pid_t first);

/* Waits until the child has laid all covers and listens. */
int covers_wait(struct covers *c, struct error *e);

/* Before a call of the box goes on: waits until the child has seen to what happened to the covers'
 * names.  0, or -errno when the child does not do that any more. */
int covers_sync(struct covers *c);

/* Whether an inotify event is about one of the names in the cover's path. */
bool cover_is_about(const struct cover *c, const struct inotify_event *event);

/* The cover at path or above it; or NULL. */
const struct cover *covers_over(const struct covers *c, const char *path);

/* The mount through which the box sees this path of its own; or NULL. */
const struct plan_mount *covers_shown_by(const struct covers *c, const char *path);

/* Hides one more path: the next one in `also`.  -E2BIG: there are too many.  -ENOENT: the box does
 * not see it. */
int covers_also(struct covers *c);

/* Tells the child that the box did not make what is there: it must be covered.  0 or -errno. */
int covers_look(struct covers *c, size_t index);

/* The box has ended: ends the child. */
void covers_end(struct covers *c);

/* The child's whole work: covers_keep.c. */
_Noreturn void covers_keep(struct covers *c, int channel, int events);

#endif
