/* SPDX-License-Identifier: Apache-2.0 */
#include "history_confine.h"

#include "elsewhere.h"
#include "fd.h"
#include "history_output.h"
#include "host.h"
#include "landlock.h"
#include "process.h"
#include "profile.h"
#include "record_folder.h"
#include "session_names.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFINE_BYTES_MAX = 1 << 20 };

static int confine_grant(int ruleset, int abi, const char *path, enum landlock_grant grant)
{
	_cleanup_fd_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	/* What does not exist needs no grant. */
	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	int r = landlock_grant(ruleset, abi, fd, S_ISDIR(st.st_mode), grant);

	/* A pipe or a socket through /proc/self/fd: Landlock does not restrict those. */
	return r == -EBADFD ? 0 : r;
}

/* When the folder does not exist yet, we write nothing in it. */
static int confine_grant_records(int ruleset, int abi)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(CONFINE_BYTES_MAX);
	struct host host;
	struct error e = ERROR_INIT; /* whoever opens it later says what is wrong with it */
	int r = host_gather_user(&arena, &host, &e);
	_cleanup_fd_ int records = r < 0 ? r : record_folder_open(&host, false, &arena, &e);

	return records < 0 ? 0 : landlock_grant(ruleset, abi, records, true, LANDLOCK_GRANT_WRITE);
}

static int confine_files(void)
{
	int abi = landlock_abi();

	if (abi < 0)
		return 0;
	_cleanup_fd_ int ruleset = landlock_new(abi, true);
	int r = ruleset < 0 ? ruleset : confine_grant(ruleset, abi, "/", LANDLOCK_GRANT_READ);

	if (r == 0)
		r = confine_grant_records(ruleset, abi);
	return r < 0 ? r : landlock_restrict(ruleset);
}

enum { CONFINE_NAMES = 64 };

/* A label stands for the session's own name, which its record has. */
static const char *confine_own_name(const char *state, const char *typed)
{
	static char names[CONFINE_NAMES][LAYERS_NAME_MAX + 1]; /* as long as the process */
	static size_t count;

	if (count == CONFINE_NAMES || session_label_read(state, typed, names[count]) < 0)
		return typed;
	return names[count++];
}

static void confine_names(struct invocation *i)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(1 << 20);
	struct error ignored = ERROR_INIT;
	struct host host;

	if (host_gather_user(&arena, &host, &ignored) < 0)
		return;
	for (size_t n = 0; n < i->value_count; n++)
		if (i->values[n].id == OPTION_SESSION)
			i->values[n].value = confine_own_name(host.state_dir, i->values[n].value);
	if (!strstr(i->verb->usage, "[SESSION") && !str_equal(i->verb->name, "record"))
		return;
	for (int n = 0; n < i->argument_count; n++)
		i->arguments[n] =
			(char *)(uintptr_t)confine_own_name(host.state_dir, i->arguments[n]);
}

int history_confine(struct invocation *i, struct error *e)
{
	confine_names(i);
	if (str_equal(i->verb->name, "record") && str_equal(i->arguments[0], "send"))
		return 0;
	int r = history_output_prepare(i, e);

	if (r < 0)
		return r;
	r = process_no_new_privs();
	if (r == 0)
		r = process_not_dumpable();
	if (r == 0)
		r = confine_files();
	if (r < 0)
		return error_sys(e, r, "cannot confine myself");
	return elsewhere_filter(profile_bpf(PROFILE_READER), e);
}
