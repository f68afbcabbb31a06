/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libyaml's events into a tree.  A policy decides what an agent may do, so what
 * could be read in two ways is refused instead of being read in one of them:
 * anchors, aliases, tags, directives, a second document, a key twice, line
 * breaks that an editor does not show.  What the file may cost is bounded
 * before (bytes) and while (nodes, depth) it is read.
 *
 * Invariants: the characters are well-formed UTF-8 before libyaml sees one;
 * every error names the place; the stack never holds more than TREE_DEPTH_MAX.
 */
#include "yaml_tree.h"

#include "str.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

struct tree_frame {
	struct tree_node *node;
	struct tree_node **tail; /* where the next child goes */
};

struct tree_reader {
	const char *name;
	struct span text;
	struct arena *arena;
	struct error *e;
	struct tree_node *root;
	struct tree_node *pending; /* has its key, waits for its value */
	struct tree_frame stack[TREE_DEPTH_MAX];
	size_t depth;
	size_t nodes;
	size_t documents;
};

static int tree_error(const struct tree_reader *t, size_t line, size_t column, const char *fmt, ...)
	BAWN_PRINTF(4, 5);

static int tree_error(const struct tree_reader *t, size_t line, size_t column, const char *fmt, ...)
{
	char sentence[320];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	return error_set(t->e, -EINVAL, "%s:%zu:%zu: %s", t->name, line, column, sentence);
}

static int tree_error_at(const struct tree_reader *t, yaml_mark_t at, const char *sentence)
{
	return tree_error(t, at.line + 1, at.column + 1, "%s", sentence);
}

static int tree_no_memory(const struct tree_reader *t)
{
	return error_set(t->e, -ENOMEM, "%s: no memory to read it", t->name);
}

bool tree_text_is_plain(struct span s)
{
	while (s.len > 0) {
		uint32_t cp = 0;
		size_t len = text_utf8(s, &cp);

		if (len == 0 || text_is_hidden(cp))
			return false;
		s.ptr += len;
		s.len -= len;
	}
	return true;
}

/*
 * libyaml ends a line at NEL, LS, PS and a lone CR; most editors do not.  So what a person sees
 * as part of a comment could be a key for us.  These are refused with the
 * other control characters.
 */
static bool tree_character_is_allowed(uint32_t cp, struct span rest)
{
	if (cp == '\r')
		return rest.len > 0 && rest.ptr[0] == '\n';
	if (cp == '\n' || cp == '\t')
		return true;
	return cp >= 0x20 && !(cp >= 0x7f && cp <= 0x9f) && !(cp >= 0xd800 && cp <= 0xdfff) &&
	       cp != 0x2028 && cp != 0x2029;
}

static int tree_check_characters(const struct tree_reader *t)
{
	struct span s = t->text;
	size_t line = 1;
	size_t column = 1;

	if (s.len > TREE_TEXT_MAX)
		return error_set(t->e, -EFBIG, "%s: the file is larger than %d KiB", t->name,
				 TREE_TEXT_MAX >> 10);
	while (s.len > 0) {
		uint32_t cp = 0;
		size_t len = text_utf8(s, &cp);

		if (len == 0)
			return tree_error(t, line, column, "byte 0x%02x is not valid UTF-8",
					  s.ptr[0]);
		s.ptr += len;
		s.len -= len;
		if (!tree_character_is_allowed(cp, s))
			return tree_error(t, line, column,
					  "control character U+%04X is not allowed here", cp);
		column++;
		if (cp == '\n') {
			line++;
			column = 1;
		}
	}
	return 0;
}

static struct tree_node *tree_top(const struct tree_reader *t)
{
	return t->depth > 0 ? t->stack[t->depth - 1].node : NULL;
}

/* Keys and values both count. */
static int tree_count(struct tree_reader *t, yaml_mark_t at)
{
	if (++t->nodes > TREE_NODES_MAX)
		return tree_error(t, at.line + 1, at.column + 1,
				  "the file has more than %d keys and values", TREE_NODES_MAX);
	return 0;
}

/* A fresh node, the next child of the top; the root when there is none. */
static int tree_node_new(struct tree_reader *t, struct tree_node **ret_node)
{
	struct tree_node *n = arena_alloc(t->arena, sizeof(*n));

	if (!n)
		return tree_no_memory(t);
	if (t->depth > 0) {
		struct tree_frame *frame = &t->stack[t->depth - 1];

		*frame->tail = n;
		frame->tail = &n->next;
	} else {
		t->root = n;
	}
	*ret_node = n;
	return 0;
}

/* The node of a value that begins at `at`: that of its key, or a fresh one. */
static int tree_value(struct tree_reader *t, enum tree_kind kind, yaml_mark_t at,
		      struct tree_node **ret_node)
{
	struct tree_node *n = TAKE_PTR(t->pending);
	int r = tree_count(t, at);

	if (r == 0 && !n)
		r = tree_node_new(t, &n);
	if (r < 0)
		return r;
	n->kind = kind;
	n->line = at.line + 1;
	n->column = at.column + 1;
	*ret_node = n;
	return 0;
}

static bool tree_wants_key(const struct tree_reader *t)
{
	const struct tree_node *top = tree_top(t);

	return top && top->kind == TREE_MAP && !t->pending;
}

static int tree_key(struct tree_reader *t, const char *key, yaml_mark_t at)
{
	int r = tree_count(t, at);

	if (r < 0)
		return r;
	for (const struct tree_node *c = tree_top(t)->children; c; c = c->next)
		if (str_equal(c->key, key))
			return tree_error(t, at.line + 1, at.column + 1,
					  "%.64s stands here twice; the first is at line %zu", key,
					  c->key_line);
	r = tree_node_new(t, &t->pending);
	if (r < 0)
		return r;
	t->pending->key = key;
	t->pending->key_line = at.line + 1;
	t->pending->key_column = at.column + 1;
	return 0;
}

/* What no value may carry. */
static int tree_check_properties(const struct tree_reader *t, yaml_mark_t at,
				 const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor)
		return tree_error_at(t, at,
				     "anchors (&name) are not used here; write the value out");
	if (tag)
		return tree_error_at(t, at, "tags (!name) are not used here; leave it out");
	return 0;
}

static int tree_on_scalar(struct tree_reader *t, const yaml_event_t *ev)
{
	const char *value = (const char *)ev->data.scalar.value;
	size_t len = ev->data.scalar.length;
	yaml_mark_t at = ev->start_mark;
	struct tree_node *n = NULL;
	int r = tree_check_properties(t, at, ev->data.scalar.anchor, ev->data.scalar.tag);

	if (r < 0)
		return r;
	if (!tree_text_is_plain((struct span){(const uint8_t *)value, len}))
		return tree_error_at(t, at,
				     "a key or value is one line, without control or invisible "
				     "characters");
	char *text = arena_strn(t->arena, value, len);

	if (!text)
		return tree_no_memory(t);
	if (tree_wants_key(t))
		return tree_key(t, text, at);
	r = tree_value(t, TREE_SCALAR, at, &n);
	if (r < 0)
		return r;
	n->text = text;
	n->empty = len == 0 && ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return 0;
}

static int tree_on_open(struct tree_reader *t, enum tree_kind kind, yaml_mark_t at,
			const yaml_char_t *anchor, const yaml_char_t *tag)
{
	struct tree_node *n = NULL;
	int r = tree_check_properties(t, at, anchor, tag);

	if (r < 0)
		return r;
	if (tree_wants_key(t))
		return tree_error_at(t, at, "a key is a single word, not a list or a section");
	if (t->depth == TREE_DEPTH_MAX)
		return tree_error(t, at.line + 1, at.column + 1,
				  "the file is nested deeper than %d levels", TREE_DEPTH_MAX);
	r = tree_value(t, kind, at, &n);
	if (r < 0)
		return r;
	t->stack[t->depth++] = (struct tree_frame){n, &n->children};
	return 0;
}

static int tree_on_document(struct tree_reader *t, const yaml_event_t *ev)
{
	if (ev->data.document_start.version_directive ||
	    ev->data.document_start.tag_directives.start !=
		    ev->data.document_start.tag_directives.end)
		return tree_error_at(t, ev->start_mark,
				     "directives (%YAML, %TAG) are not used here; leave them out");
	if (++t->documents > 1)
		return tree_error_at(t, ev->start_mark,
				     "the file holds more than one document; one is possible");
	return 0;
}

static int tree_on_event(struct tree_reader *t, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		return tree_on_document(t, ev);
	case YAML_ALIAS_EVENT:
		return tree_error_at(t, ev->start_mark,
				     "aliases (*name) are not used here; write the value out");
	case YAML_SCALAR_EVENT:
		return tree_on_scalar(t, ev);
	case YAML_SEQUENCE_START_EVENT:
		return tree_on_open(t, TREE_LIST, ev->start_mark, ev->data.sequence_start.anchor,
				    ev->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return tree_on_open(t, TREE_MAP, ev->start_mark, ev->data.mapping_start.anchor,
				    ev->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		t->depth--;
		return 0;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		return 0;
	}
	return tree_error_at(t, ev->start_mark, "this is not valid YAML");
}

static int tree_parser_error(const struct tree_reader *t, const yaml_parser_t *p)
{
	if (p->error == YAML_MEMORY_ERROR)
		return tree_no_memory(t);
	if (p->problem_mark.index < t->text.len && t->text.ptr[p->problem_mark.index] == '\t')
		return tree_error(t, p->problem_mark.line + 1, p->problem_mark.column + 1,
				  "a tab stands here: indent with spaces, not tabs");
	return tree_error(t, p->problem_mark.line + 1, p->problem_mark.column + 1,
			  "this is not valid YAML: %s", p->problem ? p->problem : "unreadable");
}

static int tree_read_events(struct tree_reader *t)
{
	_cleanup_(yaml_parser_delete) yaml_parser_t parser;

	memset(&parser, 0, sizeof(parser));
	if (!yaml_parser_initialize(&parser))
		return tree_no_memory(t);
	/* Set the encoding: else libyaml would also accept UTF-16. */
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, t->text.ptr, t->text.len);
	for (bool more = true; more;) {
		_cleanup_(yaml_event_delete) yaml_event_t event;

		memset(&event, 0, sizeof(event));
		if (!yaml_parser_parse(&parser, &event))
			return tree_parser_error(t, &parser);
		int r = tree_on_event(t, &event);

		if (r < 0)
			return r;
		more = event.type != YAML_STREAM_END_EVENT;
	}
	return 0;
}

int tree_parse(const char *name, struct span text, struct arena *arena,
	       const struct tree_node **ret_root, struct error *e)
{
	/* An empty span may come without a pointer; libyaml wants one. */
	struct span bytes = text.len > 0 ? text : SPAN_LITERAL("");
	struct tree_reader t = {.name = name, .text = bytes, .arena = arena, .e = e};
	int r = tree_check_characters(&t);

	if (r < 0)
		return r;
	r = tree_read_events(&t);
	if (r < 0)
		return r;
	if (t.root && t.root->kind != TREE_MAP && !t.root->empty)
		return tree_error(&t, t.root->line, t.root->column,
				  "the file must hold keys and values, as in \"tools: false\"");
	*ret_root = t.root && t.root->kind == TREE_MAP ? t.root : NULL;
	return 0;
}
