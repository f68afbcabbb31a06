/* SPDX-License-Identifier: Apache-2.0 */
#include "bawn_verbs.h"

static const struct verb_act bawn_verbs[] = {
	{"allow", verb_allow},       {"attach", verb_attach},   {"completion", verb_completion},
	{"deny", verb_deny},         {"doctor", verb_doctor},   {"enter", verb_enter},
	{"exec", verb_exec},         {"explain", verb_explain}, {"forward", verb_forward},
	{"help", verb_help},         {"kill", verb_kill},       {"ls", verb_sessions},
	{"man", verb_man},           {"open", verb_open},       {"pause", verb_pause},
	{"policy", verb_policy},     {"prune", verb_prune},     {"ps", verb_sessions},
	{"rename", verb_rename},     {"resume", verb_resume},   {"rm", verb_rm},
	{"run", verb_run},           {"secret", verb_secret},   {"send", verb_send},
	{"sessions", verb_sessions}, {"shell", verb_shell},     {"stop", verb_stop},
	{"verify", verb_verify},     {"version", verb_version}, {"wait", verb_wait},
	{"why", verb_why},
};

const struct elsewhere_program bawn_program = {"bawn", NULL, bawn_verbs,
					       BAWN_ARRAY_SIZE(bawn_verbs)};
