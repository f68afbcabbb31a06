/* SPDX-License-Identifier: Apache-2.0 */
#include "pager.h"

#include "clean_path.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The one pager of this process, as there is one standard output. */
static struct {
	pid_t pid; /* 0: there is none */
	struct text text;
} pager_own;

/* The command, for a shell; NULL: there is none, or the user wants none. */
static const char *pager_command(const char *path)
{
	const char *own = getenv("PAGER"), *term = getenv("TERM");
	char file[PATH_MAX];

	if (!term || str_equal(term, "dumb"))
		return NULL;
	if (own)
		return *own && !str_equal(own, "cat") ? own : NULL;
	return clean_path_find(path, "less", file) ? "less" : NULL;
}

static void pager_become(const char *command, const char *path, int input)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (setenv("PATH", path, 1) == 0 && setenv("LESS", "FRX", 0) == 0 &&
	    setenv("LV", "-c", 0) == 0 && dup2(input, STDIN_FILENO) >= 0 && chdir("/") == 0)
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static bool pager_is_wanted(const struct invocation *i)
{
	return str_equal(i->verb->name, "diff") && !invocation_has(i, OPTION_NO_PAGER) &&
	       !invocation_has(i, OPTION_JSON) && !invocation_has(i, OPTION_TOOL) &&
	       isatty(STDOUT_FILENO) == 1;
}

/* The folder of the option, or the one where we are. */
bool pager_here(const struct invocation *i, char ret[PATH_MAX])
{
	const char *named = invocation_value(i, OPTION_WORKSPACE);

	return named ? realpath(named, ret) != NULL : getcwd(ret, PATH_MAX) != NULL;
}

void pager_begin(const struct invocation *i)
{
	char here[PATH_MAX];
	int ends[2];
	bool wanted = pager_is_wanted(i) && pager_here(i, here);
	_cleanup_free_ char *clean = wanted ? clean_path_now(here) : NULL;
	const char *command = clean ? pager_command(clean) : NULL;

	if (!command || pipe2(ends, O_CLOEXEC) < 0)
		return;
	const struct text text = text_open(STDOUT_FILENO);
	pid_t pid = fork();

	if (pid == 0)
		pager_become(command, clean, ends[0]);
	(void)close(ends[0]);
	if (pid > 0 && dup2(ends[1], STDOUT_FILENO) >= 0) {
		pager_own.pid = pid;
		pager_own.text = text;
		/* Leaving the pager early is no error; and a key for the pager is not for us. */
		(void)signal(SIGPIPE, SIG_IGN);
		(void)signal(SIGINT, SIG_IGN);
	}
	(void)close(ends[1]);
}

struct text pager_text(void)
{
	return pager_own.pid ? pager_own.text : text_open(STDOUT_FILENO);
}

void pager_end(void)
{
	if (pager_own.pid == 0)
		return;
	(void)close(STDOUT_FILENO);
	while (waitpid(pager_own.pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	pager_own.pid = 0;
}
