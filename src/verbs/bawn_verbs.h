/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of bawn's own verbs.  Each returns the exit code. */
#ifndef BAWN_BAWN_VERBS_H
#define BAWN_BAWN_VERBS_H

#include "elsewhere.h"

extern const struct elsewhere_program bawn_program;

int verb_run(const struct invocation *i);
int verb_shell(const struct invocation *i);
int verb_exec(const struct invocation *i);
int verb_enter(const struct invocation *i);
int verb_attach(const struct invocation *i);
int verb_stop(const struct invocation *i);
int verb_kill(const struct invocation *i);
int verb_wait(const struct invocation *i);
int verb_pause(const struct invocation *i);
int verb_resume(const struct invocation *i);
int verb_rename(const struct invocation *i);
int verb_rm(const struct invocation *i);
int verb_send(const struct invocation *i);
int verb_forward(const struct invocation *i);
int verb_open(const struct invocation *i);
int verb_explain(const struct invocation *i);
int verb_verify(const struct invocation *i);
int verb_doctor(const struct invocation *i);
int verb_sessions(const struct invocation *i);
int verb_allow(const struct invocation *i);
int verb_deny(const struct invocation *i);
int verb_why(const struct invocation *i);
int verb_policy(const struct invocation *i);
int verb_prune(const struct invocation *i);
int verb_secret(const struct invocation *i);

/* The session that is meant: of --session, or the word before "--", which need not be one; NULL: no
 * name.  *ret_words: how many of the arguments that took. */
const char *verb_session_before(const struct invocation *i, int *ret_words);

/* Ends as the command with this wait status did: by its signal, or returns its exit code. */
int verb_end_like(int status);

/* Reads --detach-key; *ret_key: its byte, -1 for none. */
int verb_detach_key(const struct invocation *i, int *ret_key, struct error *e);

#endif
