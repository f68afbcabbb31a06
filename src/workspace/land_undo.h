/* SPDX-License-Identifier: Apache-2.0 */
/* What a landing needs to know of what it undoes. */
#ifndef BAWN_LAND_UNDO_H
#define BAWN_LAND_UNDO_H

#include "journal.h"
#include "land.h"

/* The folder in which step i's object is called i, and the list. */
int land_undo_dir(const struct land_undo *u);
const struct journal *land_undo_journal(const struct land_undo *u);

#endif
