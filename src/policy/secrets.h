/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a secret may be put in.  Pure.  The gate calls it before it asks for a value, and
 * keys calls it again before it releases the value.
 */
#ifndef BAWN_SECRETS_H
#define BAWN_SECRETS_H

#include "name.h"
#include "plan.h"

/* One request, as the gate has decided to send it. */
struct secrets_place {
	struct name host; /* the name that was dialled; all zeros for a bare address */
	uint16_t port;
	unsigned int scheme; /* PLAN_SCHEME_TLS or PLAN_SCHEME_HTTP */
	struct span method;
	struct span path; /* as http_path.h gives it, without the query */
	size_t sure;      /* how many bytes of the path all servers read alike */
};

/* Whether some secret is bound at this host and port, for some scheme, method and path. */
bool secrets_bound(const struct plan_secret *items, size_t count, const struct name *host,
		   uint16_t port);

/* Whether this secret is, for some scheme, method and path. */
bool secrets_is_bound(const struct plan_secret *secret, const struct name *host, uint16_t port);

/*
 * A host that got a value at one port can tell it at another.  So what is about answers asks for
 * the host alone: whether some secret is bound there, and whether some binding of this secret there
 * names no paths.
 */
bool secrets_bound_host(const struct plan_secret *items, size_t count, const struct name *host);
bool secrets_is_anywhere(const struct plan_secret *secret, const struct name *host);

/* NULL: it may be put in there.  Else why not, in a few words that name nothing of the value. */
const char *secrets_refuse(const struct plan_secret *secret, const struct secrets_place *at);

/*
 * The part of a value, without copying.  Of kind aws the value is lines, one for each part in
 * the order of enum plan_secret_aws_part; of the others it is one part.  Empty: it has none.
 */
struct span secrets_part(const struct plan_secret *secret, struct span value, size_t part);

/* NULL: a value that a secret of this kind can have.  Else what is wrong with it. */
const char *secrets_check_value(unsigned int kind, struct span value);

#endif
