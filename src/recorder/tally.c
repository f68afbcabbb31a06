/* SPDX-License-Identifier: Apache-2.0 */
#include "tally.h"

#include <stdio.h>

enum {
	TALLY_MAX = 256,
	TALLY_NAMES = 4096, /* executions that are remembered, by their number */
	TALLY_PROGRAM = 32,
	TALLY_TEXT = 256,
};

struct tally_entry {
	enum message_wanted what;
	char program[TALLY_PROGRAM];
	char name[TALLY_TEXT];
	uint64_t count;
};

struct tally_name {
	uint64_t exec;
	char program[TALLY_PROGRAM];
};

struct tally {
	struct tally_entry entries[TALLY_MAX];
	size_t count;
	uint64_t beyond[MESSAGE_WANTED_COUNT];
	struct tally_name names[TALLY_NAMES];
};

struct tally *tally_new(void)
{
	return calloc(1, sizeof(struct tally));
}

void tally_free(struct tally *t)
{
	free(t);
}

static void tally_text(char *into, size_t size, struct span text)
{
	size_t len = text.len < size - 1 ? text.len : size - 1;
	const void *end = len ? memchr(text.ptr, '\0', len) : NULL;

	if (end)
		len = (size_t)((const uint8_t *)end - text.ptr);
	if (len)
		memcpy(into, text.ptr, len);
	into[len] = '\0';
}

void tally_name(struct tally *t, uint64_t exec, struct span path)
{
	if (!t || exec == 0)
		return;
	struct tally_name *n = &t->names[exec % TALLY_NAMES];
	size_t from = path.len;

	while (from > 0 && path.ptr[from - 1] != '/')
		from--;
	n->exec = exec;
	tally_text(n->program, sizeof(n->program), span_skip(path, from));
}

static const char *tally_program(const struct tally *t, uint64_t exec)
{
	const struct tally_name *n = &t->names[exec % TALLY_NAMES];

	return exec && n->exec == exec ? n->program : "";
}

void tally_add(struct tally *t, enum message_wanted what, uint64_t exec, struct span name)
{
	char text[TALLY_TEXT];

	if (!t)
		return;
	const char *program = tally_program(t, exec);

	tally_text(text, sizeof(text), name);
	for (size_t i = 0; i < t->count; i++) {
		struct tally_entry *e = &t->entries[i];

		if (e->what == what && strcmp(e->name, text) == 0 &&
		    strcmp(e->program, program) == 0) {
			e->count++;
			return;
		}
	}
	if (t->count == TALLY_MAX) {
		t->beyond[what]++;
		return;
	}
	struct tally_entry *e = &t->entries[t->count++];

	e->what = what;
	e->count = 1;
	memcpy(e->name, text, sizeof(text));
	(void)snprintf(e->program, sizeof(e->program), "%s", program);
}

bool tally_has(const struct tally *t, enum message_wanted what, struct span name)
{
	char text[TALLY_TEXT];

	tally_text(text, sizeof(text), name);
	for (size_t i = 0; t && i < t->count; i++)
		if (t->entries[i].what == what && strcmp(t->entries[i].name, text) == 0)
			return true;
	return false;
}

void tally_tell(const struct tally *t,
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
