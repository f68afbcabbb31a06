/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between the processes of a session.  Bodies are schema.h structs, but for INPUT
 * and OUTPUT, whose body is the bytes, and NOTES (note.h).  The structs are in one header for
 * each group: message_box.h, message_gate.h, message_keys.h, message_control.h.
 *
 *	client -> keeper   START     plan memfd; keys' end of the channel for values, where the
 *	                             plan needs keys; then the given descriptors
 *	                   INPUT, RESIZE, SIGNAL, CONTINUE
 *	keeper -> client   FAILED | READY, then OUTPUT, STOPPED, EXITED (the last one)
 *
 *	keeper -> init     SPAWN     the given descriptors
 *	                   SIGNAL, CONTINUE
 *	init -> keeper     CAPTURE (the gate's sockets), FAILED | READY, then per job
 *	                   TERMINAL (the pty's master), STOPPED, EXITED
 *
 *	keeper -> gate     CAPTURE   the sockets
 *	                   FLUSH     send the events that are left, then DONE
 *	gate -> keeper     EVENT, DONE
 *	gate -> resolver   RESOLVE
 *	resolver -> gate   RESOLVED
 *	keeper -> client   EVENT
 *
 *	keeper -> gate     KEYS      its end of the channel to keys, then the plan's authorities
 *	keys -> keeper     TRUST     the trust files that the plan names, sealed; or FAILED
 *	keeper -> init     TRUST     the same, passed on: the launcher waits for it before SPAWN
 *	keys -> gate       AUTHORITY once, first
 *	gate -> keys       LEAF      back CERTIFICATE | REFUSED
 *	                   RELEASE   back VALUE | REFUSED
 *	                   AGAIN     a value that was released before; back VALUE | REFUSED
 *	                   SIGN      back SIGNATURE | REFUSED
 *	                   LOGIN     the login of the user's proxy; back VALUE | REFUSED
 *	client -> keys     VALUE     each secret of the plan, then whenever asked
 *	                   REFUSED   there is no value
 *	keys -> client     NEED      a value that has expired
 *
 *	init -> keeper     SSH_SOCKET	 the box's socket of the ssh agent
 *	keeper -> signer   the same, and SSH_CONNECTED
 *	signer -> keeper   EVENT, SSH_CONNECT	 the signer wants a connection to the user's agent
 *	keeper -> client   SSH_CONNECT
 *	client -> keeper   SSH_CONNECTED	 the connection; no descriptor: the client could not connect
 *
 * VALUE carries a secret: it is sent by message_send_secret, and its channels are `secret`, so
 * that neither end keeps a copy of the packet.
 *
 *	client -> keeper   CONTROL   before START: the session's name; its socket and folder
 *	peer -> keeper     STATUS, CHANGE (a plan with other rules), COUNT
 *	keeper -> peer     STATE (the plan), CHANGED, COUNTED, FAILED
 *	keeper -> gate     RULES (that plan), COUNT
 *	gate -> keeper     CHANGED, COUNTED
 *
 *	peer -> keeper     PAUSE     (1) stops every process of the box, (0) lets them go on.  The
 *	                             pause also ends when the peer is gone, or has not said PAUSE
 *	                             again for a while
 *	keeper -> peer     PAUSED, FAILED
 *	keeper -> init     PAUSE     back PAUSED; (0) has no answer; (2) asks whether nothing ran
 *	                             since
 *
 *	init -> keeper     RESTLESS  this process went on during a pause, and was ended
 *
 *	init -> keeper     ASK_SOCKET  where programs of the box ask for a snapshot (asked.h)
 *	keeper -> client   ASK       make a snapshot of this name
 *	client -> keeper   ASKED     whether it is made
 *
 *	keeper -> client   RESOLVER  start a resolver with this channel: the rules now allow names
 *
 *	client -> keeper   RECORD    before START: the session's name in the records; the folder of
 *	                             all records, that of this one
 *	keeper -> recorder RECORD    the same
 *	init -> keeper     WATCH     the listener of the box's filter; passed on to the recorder
 *	keeper, gate -> recorder   NOTES     what happened (note.h)
 *	recorder -> keeper, gate   RECORDED  the disk has the notes up to this one
 *	keeper -> recorder FLUSH     the box has ended: compare with the disk, seal; back DONE
 *	recorder -> keeper EVENT     the keeper passes it on to the client, which shows it
 *	recorder -> keeper UNCOVERED end the box: it reached something that is hidden from it or
 *	                             protected.  The body is that of FAILED
 *	recorder -> keeper READY     the event that begins the session is in the record
 *	                   FAILED    there is no record
 *
 *	client -> keeper   LIMITS    before START, where the box has a cgroup: its folder, the file
 *	                             that takes processes, and those that tell of reached limits
 *
 *	client -> keeper   ROOM      before START, where layers or record are limited: a pipe that says
 *	                             again and again how large they are (struct message_room)
 *
 *	keeper -> init     USED      where a limit counts it: back USED, with the milliseconds of
 *	                             processor time that the box has had so far
 *	keeper -> gate     USED      the same; back USED, with the bytes that went through it
 *	client -> keeper   CARRIED   its streams carried something: bytes that the box wrote
 *
 *	peer -> keeper     SPAWN     another command for the box; from then on as between client and
 *	                             keeper (joined.h)
 *	                   ATTACH    the peer sees the session's terminal, and may type there
 *	                             (viewers.h)
 *	                   END       the session ends: 0 it is asked to, 1 at once
 *	                   INPUT     typed into its terminal, by somebody who does not see it
 *	                   WAIT      answered with EXITED or FAILED when it has ended
 *	                   HOLD      as PAUSE, until HOLD 0 says otherwise; back PAUSED or FAILED
 *	peer -> keeper     REACH     sockets of the box's network, for one connection from outside; back
 *	                             REACHED with them, or FAILED
 *	                   TAKEN     whether a server in the box took it; back TAKEN when the record has
 *	                             it, and not before may a byte pass
 *	                   SPEND     so many bytes are to pass; back SPENT: so many of them may
 *	keeper -> init     REACH     the same; back REACHED
 *	keeper -> gate     SPEND     the same; back SPENT
 *	client -> keeper   DETACH    it sees the terminal no more, and goes on as process `value`
 *	keeper -> screen   OUTPUT, RESIZE, PAINT
 *	screen -> keeper   PAINTED   the picture, in pieces, the last of which is empty; INPUT: what a
 *	                             terminal would answer
 *
 * A peer is any command of the same user, at the socket of a session.
 */
#ifndef BAWN_MESSAGE_H
#define BAWN_MESSAGE_H

#include "channel.h"
#include "plan.h"

enum message_type {
	MESSAGE_START = 1,
	MESSAGE_SPAWN,
	MESSAGE_INPUT,
	MESSAGE_OUTPUT,
	MESSAGE_RESIZE,
	MESSAGE_SIGNAL,
	MESSAGE_CONTINUE,
	MESSAGE_READY,
	MESSAGE_FAILED,
	MESSAGE_TERMINAL,
	MESSAGE_STOPPED,
	MESSAGE_EXITED,
	MESSAGE_CAPTURE,
	MESSAGE_FLUSH,
	MESSAGE_DONE,
	MESSAGE_EVENT,
	MESSAGE_RESOLVE,
	MESSAGE_RESOLVED,
	MESSAGE_KEYS,
	MESSAGE_TRUST,
	MESSAGE_AUTHORITY,
	MESSAGE_LEAF,
	MESSAGE_CERTIFICATE,
	MESSAGE_RELEASE,
	MESSAGE_VALUE,
	MESSAGE_REFUSED,
	MESSAGE_SIGN,
	MESSAGE_SIGNATURE,
	MESSAGE_NEED,
	MESSAGE_SSH_SOCKET,
	MESSAGE_SSH_CONNECT,
	MESSAGE_SSH_CONNECTED,
	MESSAGE_CONTROL,
	MESSAGE_STATUS,
	MESSAGE_STATE,
	MESSAGE_CHANGE,
	MESSAGE_CHANGED,
	MESSAGE_RULES,
	MESSAGE_COUNT,
	MESSAGE_COUNTED,
	MESSAGE_RESOLVER,
	MESSAGE_RECORD,
	MESSAGE_WATCH,
	MESSAGE_NOTES,
	MESSAGE_RECORDED,
	MESSAGE_PAUSE,
	MESSAGE_PAUSED,
	MESSAGE_ASK_SOCKET,
	MESSAGE_ASK,
	MESSAGE_ASKED,
	MESSAGE_AGAIN,
	MESSAGE_UNCOVERED,
	MESSAGE_LOGIN,
	MESSAGE_ATTACH,
	MESSAGE_DETACH,
	MESSAGE_PAINT,
	MESSAGE_PAINTED,
	MESSAGE_END,
	MESSAGE_WAIT,
	MESSAGE_HOLD,
	MESSAGE_REACH,
	MESSAGE_REACHED,
	MESSAGE_RESTLESS,
	MESSAGE_LIMITS,
	MESSAGE_USED,
	MESSAGE_CARRIED,
	MESSAGE_ROOM,
	MESSAGE_TAKEN,
	MESSAGE_SPEND,
	MESSAGE_SPENT,
};

struct message_failed {
	uint64_t code; /* errno */
	const char *text;
	const char *next;
};

extern const struct schema message_failed_schema;

/* Decodes the whole body; bytes after it are an error. */
int message_decode(struct span body, const struct schema *s, void *object, struct arena *arena,
		   struct error *e);

/* A FAILED: what the peer said, with its code, its sentence and what to do. */
int message_decode_failed(struct span body, struct error *ret_failure, struct error *e);

/* The peer's failure becomes ours: its code, and its words in e. */
int message_take_failed(struct span body, struct error *e);

/* Encodes and sends; 0 or -errno, as channel_send. */
int message_send(int fd, enum message_type type, const struct schema *s, const void *object,
		 const int *fds, size_t fd_count);

/* The same for a secret: encodes it in one place and wipes that, so that no copy stays. */
int message_send_secret(int fd, enum message_type type, const struct schema *s, const void *object);

#endif
