/* SPDX-License-Identifier: Apache-2.0 */
#include "makers.h"

#include "fnv.h"
#include "str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAKERS_BUCKETS = 1024 };

struct makers_program {
	char name[MAKERS_NAME_MAX + 1];
	uint64_t count;
};

struct makers_folder {
	char *path;
	size_t len;
	struct makers_program programs[MAKERS_PROGRAMS];
	size_t program_count;
	uint64_t rest; /* of programs that are not told apart */
	uint32_t next; /* in its bucket: counted from 1 */
};

struct makers {
	struct makers_folder folders[MAKERS_FOLDERS_MAX];
	size_t count;
	uint32_t buckets[MAKERS_BUCKETS];
};

/* In zeroed memory: most of its pages are never touched. */
struct makers *makers_new(void)
{
	return calloc(1, sizeof(struct makers));
}

void makers_free(struct makers *m)
{
	for (size_t i = 0; m && i < m->count; i++)
		free(m->folders[i].path);
	free(m);
}

/* It can stand in a line. */
static bool makers_is_plain(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] < 0x20 || s.ptr[i] == 0x7f)
			return false;
	return true;
}

static uint32_t makers_bucket(struct span folder)
{
	return fnv_bytes(FNV_START, folder.ptr, folder.len) % MAKERS_BUCKETS;
}

static const struct makers_folder *makers_find(const struct makers *m, struct span folder)
{
	for (uint32_t n = m ? m->buckets[makers_bucket(folder)] : 0; n > 0;
	     n = m->folders[n - 1].next) {
		const struct makers_folder *f = &m->folders[n - 1];

		if (f->len == folder.len && memcmp(f->path, folder.ptr, folder.len) == 0)
			return f;
	}
	return NULL;
}

static struct makers_folder *makers_enter(struct makers *m, struct span folder)
{
	const struct makers_folder *known = makers_find(m, folder);

	if (known)
		return &m->folders[known - m->folders];
	if (m->count == MAKERS_FOLDERS_MAX || folder.len == 0 || folder.len > MAKERS_PATH_MAX ||
	    !makers_is_plain(folder))
		return NULL;
	struct makers_folder f = {.path = malloc(folder.len), .len = folder.len};
	uint32_t *bucket = &m->buckets[makers_bucket(folder)];

	if (!f.path)
		return NULL;
	memcpy(f.path, folder.ptr, folder.len);
	f.next = *bucket;
	m->folders[m->count++] = f;
	*bucket = (uint32_t)m->count;
	return &m->folders[m->count - 1];
}

static bool makers_is_called(const struct makers_program *p, struct span name)
{
	return strlen(p->name) == name.len && memcmp(p->name, name.ptr, name.len) == 0;
}

void makers_add(struct makers *m, struct span folder, struct span program, uint64_t count)
{
	struct makers_folder *f = m ? makers_enter(m, folder) : NULL;

	if (!f)
		return;
	/* So many that they cannot be added are not made by anybody. */
	count = count < UINT32_MAX ? count : UINT32_MAX;
	for (size_t i = 0; i < f->program_count; i++)
		if (makers_is_called(&f->programs[i], program)) {
			f->programs[i].count += count;
			return;
		}
	if (program.len == 0 || program.len > MAKERS_NAME_MAX || !makers_is_plain(program) ||
	    f->program_count == MAKERS_PROGRAMS) {
		f->rest += count;
		return;
	}
	struct makers_program *p = &f->programs[f->program_count++];

	memcpy(p->name, program.ptr, program.len);
	p->count = count;
}

const char *makers_most(const struct makers *m, struct span folder, uint64_t files,
			bool *ret_others)
{
	const struct makers_folder *f = makers_find(m, folder);
	const struct makers_program *most = NULL;
	uint64_t rest = f ? f->rest : 0, known = rest;

	for (size_t i = 0; f && i < f->program_count; i++) {
		known += f->programs[i].count;
		if (!most || f->programs[i].count > most->count)
			most = &f->programs[i];
	}
	rest += files > known ? files - known : 0;
	if (!most || rest >= most->count)
		return NULL;
	*ret_others = rest > 0 || f->program_count > 1;
	return most->name;
}

void makers_put(const struct makers *m, struct buf *into)
{
	for (size_t i = 0; m && i < m->count; i++) {
		const struct makers_folder *f = &m->folders[i];

		for (size_t k = 0; k < f->program_count; k++)
			buf_putf(into, "%" PRIu64 "\t%s\t%.*s\n", f->programs[k].count,
				 f->programs[k].name, (int)f->len, f->path);
		if (f->rest)
			buf_putf(into, "%" PRIu64 "\t\t%.*s\n", f->rest, (int)f->len, f->path);
	}
}

/* What stands before the next `end`, which is passed; false: there is none. */
static bool makers_field(struct span *rest, char end, struct span *ret)
{
	const uint8_t *at = rest->len ? memchr(rest->ptr, end, rest->len) : NULL;

	if (!at)
		return false;
	*ret = (struct span){rest->ptr, (size_t)(at - rest->ptr)};
	*rest = span_skip(*rest, ret->len + 1);
	return true;
}

static bool makers_number(struct span s, uint64_t *ret)
{
	char text[24];

	if (s.len >= sizeof(text))
		return false;
	memcpy(text, s.ptr, s.len);
	text[s.len] = '\0';
	return str_parse_u64(text, ret) == 0;
}

void makers_take(struct makers *m, struct span lines)
{
	struct span line, count, program;
	uint64_t number = 0;

	while (makers_field(&lines, '\n', &line))
		if (makers_field(&line, '\t', &count) && makers_field(&line, '\t', &program) &&
		    makers_number(count, &number))
			makers_add(m, line, program, number);
}
