/* SPDX-License-Identifier: Apache-2.0 */
#include "wishes.h"

#include <stdio.h>

enum {
	WISHES_MAX = 256,
	WISHES_NAMES = 4096, /* executions that we remember, by their number */
	WISHES_PROGRAM = 32,
	WISHES_TEXT = 256,
};

struct wishes_entry {
	enum message_wanted what;
	char program[WISHES_PROGRAM];
	char name[WISHES_TEXT];
	uint64_t count;
};

struct wishes_name {
	uint64_t exec;
	char program[WISHES_PROGRAM];
};

struct wishes {
	struct wishes_entry entries[WISHES_MAX];
	size_t count;
	uint64_t beyond[MESSAGE_WANTED_COUNT];
	struct wishes_name names[WISHES_NAMES];
};

struct wishes *wishes_new(void)
{
	return calloc(1, sizeof(struct wishes));
}

void wishes_free(struct wishes *t)
{
	free(t);
}

static void wishes_text(char *into, size_t size, struct span text)
{
	size_t len = text.len < size - 1 ? text.len : size - 1;
	const void *end = len ? memchr(text.ptr, '\0', len) : NULL;

	if (end)
		len = (size_t)((const uint8_t *)end - text.ptr);
	if (len)
		memcpy(into, text.ptr, len);
	into[len] = '\0';
}

void wishes_name(struct wishes *t, uint64_t exec, struct span path)
{
	if (!t || exec == 0)
		return;
	struct wishes_name *n = &t->names[exec % WISHES_NAMES];
	size_t from = path.len;

	while (from > 0 && path.ptr[from - 1] != '/')
		from--;
	n->exec = exec;
	wishes_text(n->program, sizeof(n->program), span_skip(path, from));
}

static const char *wishes_program(const struct wishes *t, uint64_t exec)
{
	const struct wishes_name *n = &t->names[exec % WISHES_NAMES];

	return exec && n->exec == exec ? n->program : "";
}

void wishes_add(struct wishes *t, enum message_wanted what, uint64_t exec, struct span name)
{
	char text[WISHES_TEXT];

	if (!t)
		return;
	const char *program = wishes_program(t, exec);

	wishes_text(text, sizeof(text), name);
	for (size_t i = 0; i < t->count; i++) {
		struct wishes_entry *e = &t->entries[i];

		if (e->what == what && strcmp(e->name, text) == 0 &&
		    strcmp(e->program, program) == 0) {
			e->count++;
			return;
		}
	}
	if (t->count == WISHES_MAX) {
		t->beyond[what]++;
		return;
	}
	struct wishes_entry *e = &t->entries[t->count++];

	e->what = what;
	e->count = 1;
	memcpy(e->name, text, sizeof(text));
	(void)snprintf(e->program, sizeof(e->program), "%s", program);
}

bool wishes_has(const struct wishes *t, enum message_wanted what, struct span name)
{
	char text[WISHES_TEXT];

	wishes_text(text, sizeof(text), name);
	for (size_t i = 0; t && i < t->count; i++)
		if (t->entries[i].what == what && strcmp(t->entries[i].name, text) == 0)
			return true;
	return false;
}

void wishes_tell(const struct wishes *t,
		 void (*tell)(void *context, const struct message_event *event), void *context)
{
	struct message_event m = {.kind = MESSAGE_EVENT_WANTED, .line = ""};

	for (size_t i = 0; t && i < t->count; i++) {
		m.host = t->entries[i].name;
		m.origin = t->entries[i].program;
		m.reason = message_wanted_words[t->entries[i].what];
		m.count = t->entries[i].count;
		tell(context, &m);
	}
	for (unsigned int what = 0; t && what < MESSAGE_WANTED_COUNT; what++) {
		m.host = m.origin = "";
		m.reason = message_wanted_words[what];
		m.count = t->beyond[what];
		if (m.count > 0)
			tell(context, &m);
	}
}
