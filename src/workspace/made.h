/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that tools make and nobody writes by hand, by their names and by what is in them.  One
 * place says which they are: for what is one thing (hold_whole.c), for programs in them
 * (hold_ignored.c) and for what is one line on a screen (folding.c).
 */
#ifndef BAWN_MADE_H
#define BAWN_MADE_H

#include "changes.h"
#include "made_name.h"

/* The folder is a virtual environment, as the view has it: by pyvenv.cfg or conda-meta, and bin; by
 * a name that only such a folder has (.venv, .tox/NAME); by a name that one often has, and a Python
 * or an activate in bin. */
bool made_is_venv(const struct view *v, const char *dir);

/* What such a folder has at its top: `rest` is the path in it. */
bool made_is_venvs(const char *rest);

#endif
