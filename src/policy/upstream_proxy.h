/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy of the user's network: which it is, and what is reached without it.  Pure: the
 * environment comes in as words.
 *
 * Names, in this order, the first that is set and not empty (as curl has it, small letters first):
 *
 *	https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY	for everything
 *	http_proxy (small letters alone)		where none of these is set: for plain HTTP
 *	no_proxy, NO_PROXY				what is not reached by it
 */
#ifndef BAWN_UPSTREAM_PROXY_H
#define BAWN_UPSTREAM_PROXY_H

#include "authority.h"
#include "plan.h"

/* A proxy as a plan has it, and its login, which is never in a plan. */
struct upstream_proxy {
	struct plan_proxy proxy;
	const char *login; /* user:password, decoded; NULL: none */
};

/*
 * http://[LOGIN@]HOST[:PORT][/], socks5:// or socks5h://; without a scheme it is http.  Ports that
 * are left out are 1080.  An error has a sentence without the login.
 */
int upstream_proxy_parse(const char *url, const char *origin, struct arena *arena,
			 struct upstream_proxy *ret, struct error *e);

/* Reads a list with commas and blanks; leaves out entries that it cannot read. */
int upstream_proxy_direct(const char *no_proxy, struct arena *arena, struct plan_proxy *into);

/*
 * Finds the proxy from `written`, the policy's key, and the environment.  `written` is
 * "environment", "none", or an address without login; then the login of the environment counts
 * if it names the same proxy.  *ret_there: whether there is one.
 */
int upstream_proxy_find(const char *written, const char *written_origin, char *const *variables,
			struct arena *arena, struct upstream_proxy *ret, bool *ret_there,
			struct error *e);

/* Whether a host is reached by the proxy.  This machine itself never is. */
bool upstream_proxy_leads(const struct plan_proxy *proxy, const struct authority *to, bool plain);

#endif
