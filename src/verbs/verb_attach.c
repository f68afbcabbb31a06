/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn attach`: shows the terminal of a running session as it is now, and types into it. */
#include "bawn_verbs.h"
#include "client.h"
#include "fd.h"
#include "session_talk.h"
#include "str.h"
#include "text.h"
#include "verbs.h"

#include <ctype.h>
#include <strings.h>
#include <unistd.h>

int verb_detach_key(const struct invocation *i, int *ret_key, struct error *e)
{
	const char *word = invocation_value(i, OPTION_DETACH_KEY);

	*ret_key = CLIENT_DETACH_KEY;
	if (!word)
		return 0;
	if (str_equal(word, "none")) {
		*ret_key = -1;
		return 0;
	}
	/* ctrl-a, C-a or ^A */
	const char *letter = strncasecmp(word, "ctrl-", 5) == 0 ? word + 5
			     : strncasecmp(word, "c-", 2) == 0  ? word + 2
			     : word[0] == '^'                   ? word + 1
								: "";
	int key = toupper((unsigned char)letter[0]);

	if (key < '@' || key > '_' || letter[1]) {
		(void)error_set(e, -EINVAL, "--detach-key is ctrl-LETTER or none, not %s", word);
		error_next(e, "For example: --detach-key ctrl-q");
		return e->code;
	}
	*ret_key = key - 64;
	return 0;
}

/* attach needs one terminal for its input and its output. */
static int attach_check(struct error *e)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return 0;
	(void)error_set(e, -ENOTTY, "bawn attach needs a terminal");
	error_next(e, "'bawn log --follow' shows what a session does, without one.");
	return e->code;
}

int verb_attach(const struct invocation *i)
{
	_cleanup_session_ struct session session = {.fd = -1};
	struct client_options how = CLIENT_OPTIONS_INIT;
	struct text err = text_open(STDERR_FILENO);
	struct error e = ERROR_INIT;
	bool left = false;
	int status = 0;
	int r = verb_detach_key(i, &how.detach_key, &e);

	if (r == 0)
		r = attach_check(&e);
	if (r == 0)
		r = session_find(i->argument_count ? i->arguments[0] : NULL, &session, &e);
	how.plan = session.plan;
	if (r == 0 && session.state.held)
		text_printf(&err,
			    "bawn: %s is paused%s%s: what you type waits there until 'bawn resume "
			    "%s'\n",
			    session.shown, session.why[0] ? " by the limit " : "", session.why,
			    session.shown);
	if (r == 0)
		r = client_attach(TAKE_FD(session.fd), invocation_has(i, OPTION_WATCH), &how, &left,
				  &status, &e);
	if (r < 0) {
		verb_complain(&e);
		return EXIT_BAWN;
	}
	if (left) {
		client_say_detached(session.shown);
		return verb_end_like(status);
	}
	text_printf(&err,
		    "bawn: the session %s has ended. What it changed: bawn diff --session %s\n",
		    session.shown, session.shown);
	return verb_end_like(status);
}
