/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket of a session: where other commands of the same user ask
 * what it is, and change the rules of its network while it runs.
 *
 * The client made the socket, in a folder of the user's own; the keeper accepts.
 * A peer must have our uid (SO_PEERCRED; root may look into anyone's session),
 * and is served by a table like any other channel:
 *
 *	STATUS	    brings the version that the peer speaks; answered with STATE and the plan
 *		    as it is now, or to one of another version with FAILED
 *	CHANGE	    brings a plan, sealed; its rules go to the gate, and CHANGED
 *		    follows when the gate applies them.  One at a time, and only made from
 *		    the rules in force: a peer that was too slow asks again
 *	COUNT	    how often the gate refused something
 *	PAUSE	    stops every process of the box (src/box/pause.h), until the peer says
 *		    otherwise, is gone, or has not said PAUSE again for CONTROL_PAUSE_MS, so that
 *		    a peer that hangs cannot stop a session for good.  Several peers may pause; the
 *		    box goes on when the last one lets go.  A peer that lets go learns whether
 *		    nothing ran during its pause
 *
 *	SPAWN	    starts another command in the box, which is this peer's from then on
 *		    (joined.h); then the peer is no longer one of ours
 *	END	    the session ends
 *	INPUT	    is typed into its terminal
 *	WAIT	    is told how it ended
 *	HOLD	    as PAUSE, and it holds whether the peer stays or goes
 *	ATTACH	    shows the peer the session's terminal (viewers.h); likewise
 *	REACH	    gets sockets of the box's network (src/client/forward.h)
 *	TAKEN	    says what came of them; answered when the record has it
 *	SPEND	    asks the gate whether bytes of such a connection may pass
 *
 * Nobody can hold the keeper up: peers are few, one that has been silent makes room for a new
 * one, nothing waits for a peer to read, and one that does not is gone.  Nobody is sent away
 * while he is served: then who comes waits.
 */
#ifndef BAWN_CONTROL_H
#define BAWN_CONTROL_H

#include "address.h"
#include "board.h"
#include "channel.h"
#include "loop.h"
#include "message_box.h"
#include "message_gate.h"
#include "message_control.h"
#include "recording.h"

enum {
	CONTROL_PEERS = 64,
	CONTROL_SILENT_MS = 250,  /* how long a peer keeps its place that has said nothing */
	CONTROL_SPOKEN_MS = 5000, /* and one that has, after its last message */
	CONTROL_ROOM_MS = 50,     /* until we look for room again */
	CONTROL_NAME_MAX = 64,
	CONTROL_ADDRESSES_MAX = 256,
	CONTROL_PAUSE_MS = 30000,
};

enum control_pause {
	CONTROL_GOES,
	CONTROL_STOPPING, /* init has been asked, and has not answered */
	CONTROL_PAUSED,
};

struct control;

struct control_peer {
	struct control *control;
	struct channel channel; /* fd -1: nobody */
	struct loop_handle handle;
	int64_t stays;    /* until then it keeps its place (clock_ms) */
	uint64_t waiting; /* for the gate's or init's answer of this id; 0: for none */
	int64_t pauses;   /* the box, until then (clock_ms); 0: does not */
	bool pause_waits; /* for the box to be still */
	bool pause_ends;  /* waits to be told that it was */
	bool waits;       /* for the session's end */
	uint64_t note;    /* waits until the disk has this note; 0: for none */
	/* SPAWN, which came while the box was held still: it is served when that goes on. */
	struct buf spawn;
	int spawn_fds[3];
	size_t spawn_fd_count;
	bool spawn_waits;
};

struct control {
	struct loop *loop;
	const struct channel *gate; /* its fd is -1 when there is none */
	/* Shows an event in the session itself. */
	void (*tell)(void *context, const struct message_event *event);
	/* Records a change with its plan, before it is made.  If that fails, the change is not
	 * made. */
	int (*decide)(void *context, const struct message_change *change, int plan,
		      struct error *e);
	/* Sends init PAUSE with this value, for the pause of that number. */
	int (*pause)(void *context, uint64_t id, unsigned int value);
	/* Another command for the box, somebody who attaches: 0, and the peer's descriptor and its
	 * place in the loop are the receiver's; or -errno. */
	int (*join)(void *context, int fd, struct loop_handle handle,
		    const struct channel_packet *packet, struct error *e);
	int (*attach)(void *context, int fd, struct loop_handle handle,
		      const struct channel_packet *packet, struct error *e);
	/* The session is held still until somebody lets it go on, or goes on: for the record. */
	void (*holds)(void *context, bool still);
	/* Sends init a message. */
	int (*to_init)(void *context, uint32_t type, struct span body, const int *fds,
		       size_t fd_count);
	struct recording *recording; /* has connections from outside */
	/* The session ends, now or when its command has had a moment. */
	int (*end)(void *context, bool now);
	/* Somebody types without seeing the terminal. */
	int (*type)(void *context, struct span bytes);
	/* What a peer is told of who sees the terminal. */
	void (*look)(void *context, struct message_session *session);
	void *context;
	uid_t uid; /* ours */

	bool metered; /* the plan limits the bytes of the network */
	struct message_session session;
	int board; /* says this (control_on_turn); -1: there is none */
	bool ends; /* somebody asked it to */
	struct message_session shown;
	const struct plan *brief;
	char name[CONTROL_NAME_MAX];
	int listener, folder; /* -1: no other command can reach the session; the folder is a lock */
	int layers;           /* the lock of its layers, held as long as we live; or -1 */
	int shared;           /* that of its repository's, likewise */
	struct loop_handle listener_handle;
	int plan;    /* in force, sealed */
	int capture; /* netlink of nf_tables in the box; -1: there is none */
	struct address opened[CONTROL_ADDRESSES_MAX]; /* by us, while the session ran */
	size_t opened_count;

	struct control_peer peers[CONTROL_PEERS];
	uint64_t next; /* id */
	bool full;     /* the listener is not heard */
	int room_timer;
	struct loop_handle room_handle;

	enum control_pause pause_state;
	uint64_t pause_id, pause_count;
	int pause_timer;
	struct loop_handle pause_handle;

	bool names;          /* a rule that came allows some */
	struct {             /* the change that is with the gate */
		uint64_t id; /* 0: none */
		int plan;
		bool allowed, names;
		char what[320], reason[64];
	} change;
};

/* Call this first.  Nothing is open yet. */
void control_init(struct control *c, struct loop *loop, const struct channel *gate,
		  void (*tell)(void *context, const struct message_event *event), void *context);

/* CONTROL came: takes its descriptors: listener, folder, and the lock of the layers if it is
 * there. */
int control_open(struct control *c, struct channel_packet *packet, struct error *e);

/*
 * The kernel refuses connections of the box to addresses that no rule named at its start.  With
 * this socket, opened in the box's namespace, others can be let through to the gate.
 */
void control_take_capture(struct control *c, int netlink);

/* There is no nf_tables: tells peers that ask, and (opens) shows it in the session. */
void control_say_plain(struct control *c, bool opens);

/* Serves peers from now on, and owns the plan. */
int control_start(struct control *c, int plan, const struct plan *brief, struct error *e);

/* Holds the session still as HOLD does, for a limit of this name, a literal.  0 or -errno. */
int control_hold(struct control *c, const char *why);

/* The gate's answers. */
int control_on_changed(struct control *c, struct span body, struct error *e);
int control_on_counted(struct control *c, struct span body, struct error *e);
int control_on_spent(struct control *c, struct span body, struct error *e);

/* Init's answers. */
int control_on_paused(struct control *c, struct span body, struct error *e);
int control_on_reached(struct control *c, struct channel_packet *packet, struct error *e);

/* The session is over: EXITED or FAILED, for those who wait for it. */
void control_end(struct control *c, uint32_t type, struct span body);

/* The gate is gone: nobody waits for it any more. */
void control_lose_gate(struct control *c);

#endif
