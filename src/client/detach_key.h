/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the key that detaches in what a terminal sends, whichever way it spells it:
 *
 *	1c			Ctrl-\ as a byte
 *	ESC [ 92 ; 5 u		where the program asked for kitty's keyboard reports; with Caps or Num
 *				Lock (64, 128) in the modifier, and :1 or :2 for pressed and repeated
 *	ESC [ 27 ; 5 ; 92 ~	where it asked for xterm's modifyOtherKeys
 *
 * Bytes may come in any pieces.  What is pasted (ESC [ 200 ~ to ESC [ 201 ~) is no key.  The same
 * key, let go (:3), is found as well and says nothing.
 */
#ifndef BAWN_DETACH_KEY_H
#define BAWN_DETACH_KEY_H

#include "base.h"

enum { DETACH_KEY_PENDING = 32 };

struct detach_key {
	int key;                             /* the byte: a control letter; -1: none detaches */
	uint8_t pending[DETACH_KEY_PENDING]; /* the beginning of a sequence */
	size_t pending_count;
	bool pasted;
};

#define DETACH_KEY_INIT(k) ((struct detach_key){.key = (k)})

/*
 * Looks at bytes[0..count) after all that came before.  *ret_before: how many of them are not of the
 * key, which is all where it is not there.  Nothing is held back: of a key whose report came in pieces
 * the box was given the first ones.  True: the key was typed, and what follows it was not looked at.
 */
bool detach_key_feed(struct detach_key *d, const uint8_t *bytes, size_t count, size_t *ret_before);

#endif
