/* SPDX-License-Identifier: Apache-2.0 */
#include "mountinfo.h"

#include "array.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdlib.h>

enum { MOUNTINFO_FIELDS = 5 };

/* The table has blanks, newlines and backslashes as three octal digits. */
static void mountinfo_unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; to++) {
		if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] && at[3]) {
			*to = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
			at += 4;
		} else {
			*to = *at++;
		}
	}
	*to = '\0';
}

/* ID PARENT MAJOR:MINOR ROOT POINT ... */
static bool mountinfo_line(char *line, struct mountinfo *ret)
{
	char *field[MOUNTINFO_FIELDS];
	char *rest = line;

	for (size_t i = 0; i < MOUNTINFO_FIELDS; i++)
		if (!(field[i] = strsep(&rest, " ")))
			return false;
	char *colon = strchr(field[2], ':');

	if (!colon)
		return false;
	mountinfo_unescape(field[3]);
	mountinfo_unescape(field[4]);
	*ret = (struct mountinfo){.id = strtoull(field[0], NULL, 10),
				  .device = strtoull(field[2], NULL, 10) << 32 |
					    strtoull(colon + 1, NULL, 10),
				  .root = field[3],
				  .point = field[4]};
	return true;
}

int mountinfo_read(struct buf *text, struct mountinfo **ret, size_t *ret_count)
{
	_cleanup_free_ struct mountinfo *all = NULL;
	size_t count = 0;
	int r = fd_read_file_at(AT_FDCWD, "/proc/self/mountinfo", text);
	char *rest = text->ptr;

	for (char *line; r == 0 && rest && (line = strsep(&rest, "\n"));) {
		if (!ARRAY_GROW(all, count))
			r = -ENOMEM;
		else
			count += mountinfo_line(line, &all[count]);
	}
	*ret = r < 0 ? NULL : TAKE_PTR(all);
	*ret_count = r < 0 ? 0 : count;
	return r;
}

void mountinfo_beneath(const char *folder, struct buf *into)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MOUNTINFO_BYTES);
	struct mountinfo *found = NULL;
	size_t count = 0;

	(void)mountinfo_read(&text, &found, &count);
	_cleanup_free_ struct mountinfo *all = found;

	for (size_t i = 0; i < count; i++)
		if (str_path_beneath(all[i].point, folder) && !str_equal(all[i].point, folder)) {
			buf_put(into, all[i].point, strlen(all[i].point));
			return;
		}
}
