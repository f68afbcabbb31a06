/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the parts of a plan in words: the same on every screen. */
#ifndef BAWN_WORDS_H
#define BAWN_WORDS_H

#include "buf.h"
#include "plan.h"

/* Appends path, escaped, with the home as "~". */
void words_path(struct buf *into, const struct plan *plan, const char *path);

/* Appends a note's or value's text, escaped, with each mention of the home's path as "~". */
void words_text(struct buf *into, const struct plan *plan, const char *text);

/* "2 GiB", "512 MiB", "300 bytes". */
void words_size(struct buf *into, uint64_t bytes);

/* A moment by the user's clock: "2026-11-15 08:45", with the second if that is wanted. */
void words_when(struct buf *into, int64_t at, bool second);

/* "2 hours", "90 seconds". */
void words_duration(struct buf *into, uint64_t seconds);

/* "3 hours", "0 seconds": how long ago that was, in seconds since 1970. */
void words_age(struct buf *into, uint64_t since);

/* A limit's value, in the unit of its kind. */
void words_limit(struct buf *into, const struct plan_limit *limit);

/* One line of plain words about a layer that is on. */
const char *words_layer(enum plan_layer layer);

/*
 * "GITHUB_TOKEN (--env), ~/.npmrc (--read)": what looks like a secret and is in the box because
 * somebody named it; empty when there is none.
 */
void words_open_secrets(struct buf *into, const struct plan *plan);

/* Where a secret is used, where its value is, and where the box has its placeholder. */
void words_secret(struct buf *into, const struct plan *plan, const struct plan_secret *s);

/* "landlock, seccomp": the layers that the box goes without; empty when there are none. */
void words_gone_without(struct buf *into, const struct plan *plan);

#endif
