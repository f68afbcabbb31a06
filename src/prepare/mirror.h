/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mirrors: where the user's package managers fetch from.  Only for a bundle that is used
 * (`use: npm`), and only from the user's own settings outside; what lies in the workspace or in a
 * folder that is given for writing is the agent's to write (agents_file.h), and is seen inside as it
 * is.
 *
 *	npm	npm_config_registry, ~/.npmrc		npm, pnpm, yarn, bun
 *	pypi	PIP_INDEX_URL, UV_DEFAULT_INDEX, UV_INDEX_URL, pip.conf, uv.toml
 *	go	GOPROXY and its kin, go/env
 *	crates	~/.cargo/config.toml and credentials.toml
 *	maven	~/.m2/settings.xml: a mirror of central, or of all
 *	apt	/etc/apt/sources.list, sources.list.d: no settings are carried
 *
 * Of a mirror
 *	- its host takes the place of the bundle's hosts, with the same methods;
 *	- its address goes inside without its login, in variables and made-up files;
 *	- its login becomes a secret that is bound to that host: inside is a placeholder.
 */
#ifndef BAWN_MIRROR_H
#define BAWN_MIRROR_H

#include "host.h"
#include "policy.h"

/* The login of a mirror, which no plan has. */
struct mirror_value {
	const char *name; /* of its secret */
	const char *value;
};

struct mirrors {
	LIST_OF(struct mirror_value) values;
};

/* Changes the policy where the user has mirrors for a bundle of it; what it gives for writing was
 * looked up. */
int mirrors_apply(struct policy *policy, const struct host *host, struct arena *arena,
		  struct mirrors *ret, struct error *e);

#endif
