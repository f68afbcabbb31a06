/* SPDX-License-Identifier: Apache-2.0 */
/* docs/RECORD.md has every kind and every field of src/plan/note.h, in its order, and no other. */
#include "cmocka_lead.h"

#include "audit.h"
#include "fd.h"
#include "note.h"

#include <fcntl.h>

static const char *source_root;

static void read_document(struct buf *into)
{
	_cleanup_fd_ int root = open(source_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(root >= 0);
	if (fd_read_file_at(root, "docs/RECORD.md", into) < 0)
		fail_msg("docs/RECORD.md cannot be read");
}

/* The lines between a heading and the next; a string. */
static char *part(struct buf *doc, const char *heading)
{
	char *start = strstr(doc->ptr, heading);

	assert_non_null(start);
	char *end = strstr(start + strlen(heading), "\n#");

	assert_non_null(end);
	*end = '\0';
	return start;
}

/* This is the next row that begins like a name; where it ends. */
static char *next_row(char *at, const char *row)
{
	char *found = strstr(at, "\n| `");

	if (!found || strncmp(found + 1, row, strlen(row)) != 0)
		fail_msg("the next row is not '%s' but: %.60s", row, found ? found + 1 : "none");
	return found + 1;
}

static void test_kinds(void **state)
{
	_cleanup_buf_ struct buf doc = BUF_INIT(1 << 20);
	char row[128];

	(void)state;
	read_document(&doc);
	char *at = part(&doc, "\n### Kinds\n");

	for (size_t i = 0; i < NOTE_KIND_COUNT; i++) {
		(void)snprintf(row, sizeof(row), "| `%s` | ", note_kinds[i]);
		at = next_row(at, row);
	}
	assert_null(strstr(at, "\n| `"));
}

static void test_fields(void **state)
{
	static const char *const types[] = {[NOTE_TYPE_TEXT] = "text",
					    [NOTE_TYPE_WORD] = "word",
					    [NOTE_TYPE_NUMBER] = "number",
					    [NOTE_TYPE_LIST] = "list"};
	_cleanup_buf_ struct buf doc = BUF_INIT(1 << 20);
	char row[128];

	(void)state;
	read_document(&doc);
	char *at = part(&doc, "\n### Fields\n");

	for (size_t i = 0; i < NOTE_FIELD_COUNT; i++) {
		(void)snprintf(row, sizeof(row), "| `%s` | %s | ", note_fields[i].name,
			       types[note_fields[i].type]);
		at = next_row(at, row);
	}
	assert_null(strstr(at, "\n| `"));
}

static void test_answers(void **state)
{
	_cleanup_buf_ struct buf doc = BUF_INIT(1 << 20);
	char row[64];

	(void)state;
	read_document(&doc);
	char *at = part(&doc, "\n## What verify says\n");

	for (size_t i = 0; i < AUDIT_STATE_COUNT; i++) {
		(void)snprintf(row, sizeof(row), "\n| `%s`", audit_words[i]);
		assert_non_null(strstr(at, row));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_answers),
	};

	source_root = argc > 1 ? argv[1] : ".";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
