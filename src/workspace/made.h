/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that tools make and nobody writes by hand, by their names and by what is in them.  Three
 * files ask here: hold_whole.c for what lands as one thing, hold_ignored.c for programs in them,
 * folding.c for what is one line on a screen.
 */
#ifndef BAWN_MADE_H
#define BAWN_MADE_H

#include "changes.h"
#include "made_name.h"

/*
 * The folder is a virtual environment in this view: it has pyvenv.cfg or conda-meta, and bin; or it
 * has a name that only such a folder has (.venv, .tox/NAME); or it has a name that one often has,
 * and a Python or an activate in bin.
 */
bool made_is_venv(const struct view *v, const char *dir);

/* A virtual environment has this at its top: `rest` is the path in the folder. */
bool made_is_venvs(const char *rest);

#endif
