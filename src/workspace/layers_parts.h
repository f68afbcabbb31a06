/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the layers share: layers.c keeps them, layer.c is about one, layers_text.c reads
 * and writes the text. */
#ifndef BAWN_LAYERS_PARTS_H
#define BAWN_LAYERS_PARTS_H

#include "buf.h"
#include "layers.h"

enum { LAYERS_TEXT_MAX = 16 << 10 };

/* A folder in another one, made when it is missing and create says so. */
int layers_dir(int dir, const char *name, bool create);

/* A small file of ours, whole. */
int layers_read_text(int dir, const char *name, struct buf *into);
/* Writes one, whole or not at all, also when the power goes. */
int layers_replace(int dir, const char *name, struct span text);

bool layers_is_id(const char *id);
int layers_random(char ret_id[LAYER_ID_LEN + 1]);

/* "KEY ID ID ID" and a new line. */
void stack_put(struct buf *into, const char *key, const struct stack *s);

/* "ID ID ID", each once; the text is cut up. */
int stack_parse(char *text, struct stack *ret);

void layers_session_put(struct buf *into, const struct layers_session *s);
void layers_snapshot_put(struct buf *into, const struct layers_snapshot *s);

#endif
