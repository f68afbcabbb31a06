/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a record's folder: for who reads records (store.h), and for who makes room and needs
 * nothing of what is in them. */
#include "store.h"

#include "str.h"

#include <time.h>

/* "20261115-084532" as seconds; -1 when it is none. */
static int64_t store_stamp(const char *text)
{
	static const char shape[] = "00000000-000000";
	int digits[STORE_STAMP];

	for (size_t i = 0; i < STORE_STAMP; i++) {
		if (shape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
			return -1;
		digits[i] = text[i] - '0';
	}
	struct tm t = {
		.tm_year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3] - 1900,
		.tm_mon = digits[4] * 10 + digits[5] - 1,
		.tm_mday = digits[6] * 10 + digits[7],
		.tm_hour = digits[9] * 10 + digits[10],
		.tm_min = digits[11] * 10 + digits[12],
		.tm_sec = digits[13] * 10 + digits[14],
	};

	return (int64_t)timegm(&t);
}

bool store_parse_folder(const char *folder, struct store_session *ret)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t len = strlen(folder);

	if (len < STORE_STAMP + 2 || len >= STORE_FOLDER_SIZE || folder[STORE_STAMP] != '-' ||
	    strspn(folder, plain) != len)
		return false;
	int64_t start = store_stamp(folder);

	if (start < 0)
		return false;
	if (!ret)
		return true;
	memset(ret, 0, sizeof(*ret));
	ret->start = start;
	memcpy(ret->folder, folder, len);
	memcpy(ret->name, folder + STORE_STAMP + 1, len - STORE_STAMP - 1);
	/* The number that tells two of one second apart is no part of the name. */
	char *dash = strrchr(ret->name, '-');

	if (dash && dash[1] && strspn(dash + 1, "0123456789") == strlen(dash + 1))
		*dash = '\0';
	return true;
}

bool store_is_verb(const char *name)
{
	static const char *const verbs[] = {"apply", "attach", "discard",  "exec",      "fork",
					    "host",  "prune",  "redo",     "restore",   "rm",
					    "run",   "shell",  "snapshot", "snapshots", "system",
					    "undo",  "verify"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(verbs); i++)
		if (str_equal(name, verbs[i]))
			return true;
	return false;
}

bool store_is_session(const struct store_session *session)
{
	return !store_is_verb(session->name);
}
