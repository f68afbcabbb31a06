/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder of one session: whatever is to be known later passes through here.
 *
 *	state NEW	waits for RECORD: opens the ledger and the first segment, and enters
 *			the session's begin; READY when it is written
 *	state SERVING	notes of keeper and gate become events, and what the box's filter
 *			reports; those that somebody waits for are answered by RECORDED
 *	(end)		FLUSH, or the keeper is gone: the box has ended.  Its end is entered
 *			here and in the ledger; DONE
 *
 * May: open the record's files, look into the box's processes.  Must not: start a program,
 * touch the network.  Landlock cannot hold it, for who is in a domain may not look into
 * processes outside it; its filter does.
 *
 * It does not wait for the disk itself (syncer.h), but at the begin, the end and when a segment
 * is full.  What cannot be written ends it: FAILED, and the keeper ends the box.
 */
#ifndef BAWN_RECORDER_H
#define BAWN_RECORDER_H

/* Descriptors: the keeper's channel, the sealed plan, the gate's channel or -1. */
int recorder_run(int keeper, int plan, int gate);

#endif
