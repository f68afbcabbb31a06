/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether what a user left running is ended when he logs out.  systemd-logind does so on some systems:
 * it kills what is left in the scope of a login (KillUserProcesses), and it stops the user's own
 * manager, with all that runs beneath that, after the last logout; unless the user lingers.  All of
 * it is read from files, and nobody is asked.
 */
#ifndef BAWN_LINGER_H
#define BAWN_LINGER_H

#include "base.h"
#include "span.h"

enum linger_end {
	LINGER_STAYS, /* or nothing here ends it */
	LINGER_ENDS_WITH_LOGIN,
	LINGER_ENDS_WITH_MANAGER, /* it runs beneath the user's own manager (user@1000.service) */
};

/* What logind's files say.  The last word counts. */
struct linger_conf {
	int kills;     /* KillUserProcesses: 1, 0, or -1 where nobody says */
	bool only;     /* KillOnlyUsers names somebody */
	bool in_only;  /* him */
	bool excluded; /* KillExcludeUsers names him; without a word that is root */
};

struct linger_facts {
	bool systemd;       /* it runs this machine */
	bool lingers;       /* /var/lib/systemd/linger/USER */
	const char *cgroup; /* /proc/self/cgroup */
	struct linger_conf conf;
};

#define LINGER_CONF_INIT(user_is_root) \
	((struct linger_conf){.kills = -1, .excluded = (user_is_root)})

/* One file of logind's configuration.  shipped: what it has commented out is what holds by itself. */
void linger_read_conf(struct span text, const char *user, bool shipped, struct linger_conf *conf);

enum linger_end linger_judge(const struct linger_facts *facts);

/* The same of this machine; root is "" but for tests. */
enum linger_end linger_look(const char *root, const char *user, bool is_root);

/* For a person: what happens, and what to do; NULL where nothing does. */
const char *linger_words(enum linger_end end);
#define LINGER_NEXT "'loginctl enable-linger' keeps detached sessions when you log out."

#endif
