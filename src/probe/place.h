/* SPDX-License-Identifier: Apache-2.0 */
/* Where a row's `text` leads on this machine. */
#ifndef BAWN_PLACE_H
#define BAWN_PLACE_H

#include "facts.h"

#include <limits.h>

/*
 * "~/x" lies in the fact `home`, "@key" is the value of that fact, all else is absolute as it
 * stands.  False when the fact is missing.
 */
bool place_path(const struct facts *facts, const char *text, char into[PATH_MAX]);

#endif
