/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of layers share: layers.c keeps them, layer.c is about one, layers_text.c reads
 * and writes their text. */
#ifndef BAWN_LAYERS_PARTS_H
#define BAWN_LAYERS_PARTS_H

#include "buf.h"
#include "layers.h"

enum { LAYERS_TEXT_MAX = 16 << 10 };

/* Opens a folder in another one; makes it if it is missing and `create` is true. */
int layers_dir(int dir, const char *name, bool create);

/* Reads a small file of ours, whole. */
int layers_read_text(int dir, const char *name, struct buf *into);
/* Writes a file, whole or not at all, also when the power goes. */
int layers_replace(int dir, const char *name, struct span text);

bool layers_is_id(const char *id);
int layers_random(char ret_id[LAYER_ID_LEN + 1]);

/* Writes "KEY ID ID ID" and a new line. */
void stack_put(struct buf *into, const char *key, const struct stack *s);

/* Reads "ID ID ID", each once.  It changes the text. */
int stack_parse(char *text, struct stack *ret);

void layers_session_put(struct buf *into, const struct layers_session *s);
void layers_snapshot_put(struct buf *into, const struct layers_snapshot *s);

#endif
