/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that tools make, by their names alone.  It stands by itself because the recorder asks it as
 * well (who_made.h), which reads no layers; what is in a folder is asked of made.h.
 */
#ifndef BAWN_MADE_NAME_H
#define BAWN_MADE_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum made_kind {
	MADE_NOT,
	MADE_CACHE,  /* no person writes to it, and no tool runs what is in it */
	MADE_LOADED, /* no person writes to it, and tools run or load what is in it */
	MADE_OFTEN,  /* a person may write to it as well: build, dist */
};

/* Of the last part of a path, which has `len` bytes. */
enum made_kind made_by_name(const char *name, size_t len);

/* What people and tools call a virtual environment: .venv, venv, .tox/NAME; and what nothing else is
 * called. */
bool made_is_venv_name(const char *dir, size_t len);
bool made_is_venv_only(const char *dir, size_t len);

#endif
