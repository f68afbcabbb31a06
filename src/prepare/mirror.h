/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mirrors: where the user's package managers fetch from.  Only for a bundle that is used (`use:
 * npm`), and only from the user's own settings outside.  An agent may have written what is in the
 * workspace or in a folder that is granted for writing (agents_file.h): we do not read that, and
 * the box sees it as it is.
 *
 *	npm	npm_config_registry, ~/.npmrc		npm, pnpm, yarn, bun
 *	pypi	PIP_INDEX_URL, UV_DEFAULT_INDEX, UV_INDEX_URL, pip.conf, uv.toml
 *	go	GOPROXY and its kin, go/env
 *	crates	~/.cargo/config.toml and credentials.toml
 *	maven	~/.m2/settings.xml: a mirror of central, or of all
 *	apt	/etc/apt/sources.list, sources.list.d: no settings go inside
 *
 * For a mirror
 *	- its host takes the place of the bundle's hosts, with the same methods;
 *	- its address goes inside without its login, in variables and made-up files;
 *	- its login becomes a secret that is bound to that host, and to its path there: inside is a
 *	  placeholder.
 */
#ifndef BAWN_MIRROR_H
#define BAWN_MIRROR_H

#include "host.h"
#include "policy.h"

/* The login of a mirror; no plan has it. */
struct mirror_value {
	const char *name; /* of its secret */
	const char *value;
};

struct mirrors {
	LIST_OF(struct mirror_value) values;
};

/* Changes the policy when the user has mirrors for a bundle of it.  Call it when the folders that
 * the policy grants for writing were looked up. */
int mirrors_apply(struct policy *policy, const struct host *host, struct arena *arena,
		  struct mirrors *ret, struct error *e);

#endif
