/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder of one session: all that somebody may want to know later goes through it.
 *
 *	state NEW	waits for RECORD: opens the ledger and the first segment, and enters
 *			the session's begin; READY when it is written
 *	state SERVING	turns notes of keeper and gate, and what the box's filter reports,
 *			into events; answers with RECORDED those that a sender waits for
 *	(end)		FLUSH, or the keeper is gone: the box has ended.  Enters the end
 *			here and in the ledger; DONE
 *
 * May: open the record's files, look into the box's processes.  Must not: start a program, touch
 * the network.  Landlock cannot confine it, because a process in a domain may not look into
 * processes outside it; its filter does.
 *
 * It does not wait for the disk itself (syncer.h), except at the begin, at the end and when a
 * segment is full.  When it cannot write it ends: FAILED, and the keeper ends the box.
 */
#ifndef BAWN_RECORDER_H
#define BAWN_RECORDER_H

/* Descriptors: the keeper's channel, the sealed plan, the gate's channel or -1.  Returns the exit
 * status. */
int recorder_run(int keeper, int plan, int gate);

#endif
