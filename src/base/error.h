/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error is a number for the program and a sentence for a person: what
 * failed, on which object, why; and, where we know it, what to do next.  It
 * lives on the caller's stack and allocates nothing, so it works after fork
 * and when memory is gone.
 */
#ifndef BAWN_ERROR_H
#define BAWN_ERROR_H

#include "base.h"

struct error {
	int code;       /* negative errno, 0 when unset */
	char text[640]; /* the sentence */
	char next[512]; /* what to do; may be empty */
};

#define ERROR_INIT ((struct error){.code = 0, .text = "", .next = ""})

/* Fills e (NULL is allowed) and returns code, so that `return error_set(...)` reads well. */
int error_set(struct error *e, int code, const char *fmt, ...) BAWN_PRINTF(3, 4);

/* As error_set, with ": " and the words for code at the end. */
int error_sys(struct error *e, int code, const char *fmt, ...) BAWN_PRINTF(3, 4);

/* Says what to do next; keeps code and text. */
void error_next(struct error *e, const char *fmt, ...) BAWN_PRINTF(2, 3);

/* Short words for an errno that do not depend on the locale. */
const char *error_words(int code);

/* The errno's own name, "EPERM"; "E?" when unknown. */
const char *error_name(int code);

#endif
