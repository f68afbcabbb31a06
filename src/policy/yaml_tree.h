/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy file as a small tree.  It accepts only the part of YAML that can be read in
 * one way: mappings, lists and one-line scalars.  Scalars have no types here:
 * each is its characters, and the grammar says what they mean.
 */
#ifndef BAWN_YAML_TREE_H
#define BAWN_YAML_TREE_H

#include "arena.h"
#include "error.h"
#include "span.h"

enum {
	TREE_TEXT_MAX = 64 << 10, /* bytes of one file */
	TREE_NODES_MAX = 4096,    /* keys and values of one file */
	TREE_DEPTH_MAX = 8,
};

enum tree_kind { TREE_SCALAR, TREE_LIST, TREE_MAP };

/* A value; beneath a mapping also its key.  Lines and columns count from 1. */
struct tree_node {
	enum tree_kind kind;
	size_t line, column;
	const char *key; /* NULL in a list and at the root */
	size_t key_line, key_column;
	const char *text; /* of a scalar */
	bool empty;       /* a scalar that was left out, as in "key:" */
	struct tree_node *children;
	struct tree_node *next;
};

/*
 * Reads one file.  The root is a mapping, or NULL when the file says nothing.
 * name stands in front of every error: "name:line:column: sentence".
 */
int tree_parse(const char *name, struct span text, struct arena *arena,
	       const struct tree_node **ret_root, struct error *e);

/* One line of visible characters: no control, no bidi override, nothing invisible. */
bool tree_text_is_plain(struct span text);

#endif
