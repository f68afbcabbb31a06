/* SPDX-License-Identifier: Apache-2.0 */
#include "elsewhere.h"

#include "fd.h"
#include "help.h"
#include "helper.h"
#include "parse.h"
#include "process.h"
#include "str.h"
#include "text.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ELSEWHERE_WORDS_MAX = 16 };

int elsewhere_run(const struct invocation *i, const char *program)
{
	struct error e = ERROR_INIT;
	char path[PATH_MAX];
	int r = helper_path(program, path, sizeof(path));

	if (r == 0) {
		(void)execv(path, i->words);
		r = -errno;
	}
	(void)error_sys(&e, r, "cannot start %s, which does this verb", program);
	error_next(&e, "It belongs beside bawn, or in libexec/bawn; 'bawn doctor' says more.");
	verb_complain(&e);
	return EXIT_BAWN;
}

static int elsewhere_spawn(const char *path, char *const *argv, bool quiet, int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0)
		return -r;
	r = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (r == 0 && quiet)
		r = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
						     0);
	if (r == 0)
		r = posix_spawn(ret_pid, path, &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int elsewhere_read(const char *program, const char *const *words, bool quiet, struct buf *into)
{
	char *argv[ELSEWHERE_WORDS_MAX + 1] = {NULL};
	char path[PATH_MAX];
	int ends[2], status = 0;
	pid_t pid = 0;
	int r = helper_path(program, path, sizeof(path));

	for (size_t i = 0; i < ELSEWHERE_WORDS_MAX && words[i]; i++)
		argv[i] = (char *)(uintptr_t)words[i];
	if (r < 0)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	_cleanup_fd_ int from = ends[0];

	r = elsewhere_spawn(path, argv, quiet, ends[1], &pid);
	(void)close(ends[1]);
	if (r < 0)
		return r;
	r = fd_read_all(from, into);
	/* If we have not read all, its writes then fail. */
	fd_close(&from);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return r < 0 ? r : WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_BAWN;
}

int elsewhere_filter(struct span bpf, struct error *e)
{
	int r = process_no_new_privs();

	if (r == 0)
		r = process_filter(bpf);
	return r < 0 && r != -ENOSYS && r != -EINVAL ? error_sys(e, r, "cannot confine myself") : 0;
}

int elsewhere_or_here(struct invocation *i, const struct elsewhere_program *own)
{
	struct error e = ERROR_INIT;

	for (size_t n = 0; n < own->count; n++)
		if (str_equal(own->verbs[n].name, i->verb->name)) {
			int r = own->confine ? own->confine(i, &e) : 0;

			if (r == 0)
				return own->verbs[n].run(i);
			if (r == -ECANCELED)
				return EXIT_FOUND;
			verb_complain(&e);
			return EXIT_BAWN;
		}
	if (i->verb->program && !str_equal(i->verb->program, own->name))
		return elsewhere_run(i, i->verb->program);
	(void)error_set(&e, -EINVAL, "'bawn %s' is not a verb of %s", i->verb->name, own->name);
	verb_complain(&e);
	return EXIT_USAGE;
}

int elsewhere_main(int argc, char **argv, const struct elsewhere_program *own)
{
	_cleanup_invocation_ struct invocation i = {.verb = NULL};
	int status = EXIT_OK;

	if (help_or_run(argc, argv, &i, &status))
		status = elsewhere_or_here(&i, own);
	return text_end(status, EXIT_BAWN);
}
