/* SPDX-License-Identifier: Apache-2.0 */
#include "bawn_verbs.h"

static const struct verb_act bawn_verbs[] = {
	{"allow", verb_allow},
	{"attach", verb_attach},
	{"completion", verb_completion},
	{"deny", verb_deny},
	{"doctor", verb_doctor},
	{"enter", verb_enter},
	{"exec", verb_exec},
	{"explain", verb_explain},
	{"help", verb_help},
	{"ls", verb_sessions},
	{"man", verb_man},
	{"policy", verb_policy},
	{"prune", verb_prune},
	{"run", verb_run},
	{"secret", verb_secret},
	{"sessions", verb_sessions},
	{"shell", verb_shell},
	{"verify", verb_verify},
	{"version", verb_version},
	{"why", verb_why},
};

const struct elsewhere_program bawn_program = {"bawn", NULL, bawn_verbs,
					       BAWN_ARRAY_SIZE(bawn_verbs)};
