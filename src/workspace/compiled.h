/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled Python: a file that Python made from a source, and makes again when it is missing.
 *
 *	a/__pycache__/b.cpython-311.pyc		from a/b.py, which Python asks for first: without it
 *						this one is never loaded
 *	a/b.pyc					from a/b.py; loaded by itself where that is missing
 */
#ifndef BAWN_COMPILED_H
#define BAWN_COMPILED_H

#include "base.h"

#include <limits.h>

/* The name is that of a compiled file; *ret: the path of its source. */
bool compiled_source(const char *path, char ret[PATH_MAX]);

/* It is in a folder __pycache__. */
bool compiled_is_cached(const char *path);

#endif
