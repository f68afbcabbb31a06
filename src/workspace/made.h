/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that tools make and nobody writes by hand, by their names and by what is in them.  Three
 * files ask here: hold_whole.c for what lands as one thing, hold_ignored.c for programs in them,
 * folding.c for what is one line on a screen.
 */
#ifndef BAWN_MADE_H
#define BAWN_MADE_H

#include "changes.h"

enum made_kind {
	MADE_NOT,
	MADE_CACHE,  /* no person writes to it, and no tool runs what is in it */
	MADE_LOADED, /* no person writes to it, and tools run or load what is in it */
	MADE_OFTEN,  /* a person may write to it as well: build, dist */
};

/* By the name alone: the last part of a path, `len` bytes long. */
enum made_kind made_by_name(const char *name, size_t len);

/* The name is one that people and tools give to a virtual environment: .venv, venv, .tox/NAME. */
bool made_is_venv_name(const char *dir, size_t len);

/*
 * The folder is a virtual environment in this view: it has pyvenv.cfg or conda-meta, and bin; or it
 * has a name that only such a folder has (.venv, .tox/NAME); or it has a name that one often has,
 * and a Python or an activate in bin.
 */
bool made_is_venv(const struct view *v, const char *dir);

/* A virtual environment has this at its top: `rest` is the path in the folder. */
bool made_is_venvs(const char *rest);

#endif
