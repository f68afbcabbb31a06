/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bawn exec` and `bawn enter`: another command, or a shell, in the box of a session that runs.
 *
 * The session's keeper lets the box's init start it, which has no more rights than the agent: the
 * command is in the same box, under the same rules and in the same record.
 */
#include "bawn_verbs.h"
#include "client.h"
#include "fd.h"
#include "message_box.h"
#include "session_talk.h"
#include "str.h"
#include "verbs.h"

#include <limits.h>
#include <unistd.h>

struct exec {
	struct arena arena;
	struct session session;
	struct message_spawn what;
	struct client_options how;
	struct error e;
};

static void exec_fini(struct exec *x)
{
	session_fini(&x->session);
	arena_fini(&x->arena);
}

/* This folder, if the box has it as it is outside; else "": where the session began. */
static const char *exec_folder(struct exec *x)
{
	char here[PATH_MAX];

	if (!getcwd(here, sizeof(here)) || !str_path_beneath(here, x->session.plan->workspace))
		return "";
	const char *kept = arena_str(&x->arena, here);

	return kept ? kept : "";
}

static int exec_words(struct exec *x, char *const *argv)
{
	size_t count = 0;

	while (argv[count])
		count++;
	struct plan_string *words = arena_alloc(&x->arena, count * sizeof(*words));

	if (!words)
		return error_sys(&x->e, -ENOMEM, "reading the command");
	for (size_t i = 0; i < count; i++)
		words[i] = (struct plan_string){.text = argv[i]};
	x->what.argv.items = words;
	x->what.argv.count = count;
	return 0;
}

/* The shell that `bawn shell` would open there. */
static const char *exec_shell(const struct plan *plan)
{
	for (size_t i = 0; i < plan->env.count; i++)
		if (str_equal(plan->env.items[i].name, "SHELL"))
			return plan->env.items[i].value;
	return "/bin/sh";
}

static int exec_in(const struct invocation *i, const char *name, char *const *argv)
{
	_cleanup_(exec_fini) struct exec x = {
		.arena = ARENA_INIT(1 << 20), .session = {.fd = -1}, .e = ERROR_INIT};
	int status = 0;

	x.how = CLIENT_OPTIONS_INIT;
	x.how.stdio = invocation_has(i, OPTION_STDIO);
	int r = session_find(name, &x.session, &x.e);

	if (r == 0) {
		x.what.cwd = exec_folder(&x);
		x.how.plan = x.session.plan;
		const char *const shell[] = {exec_shell(x.session.plan), NULL};

		r = exec_words(&x, argv ? argv : (char *const *)(uintptr_t)shell);
		if (r == 0)
			r = client_join(TAKE_FD(x.session.fd), &x.what, &x.how, &status, &x.e);
	}
	if (r < 0) {
		verb_complain(&x.e);
		return EXIT_BAWN;
	}
	return verb_end_like(status);
}

int verb_exec(const struct invocation *i)
{
	int words;
	const char *name = verb_session_before(i, &words);

	return exec_in(i, name, i->arguments + words);
}

int verb_enter(const struct invocation *i)
{
	return exec_in(i, i->argument_count ? i->arguments[0] : NULL, NULL);
}
