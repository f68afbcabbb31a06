/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `bawn secret` keeps, in bawn's own state directory, out of every box's sight:
 *
 *	STATE/secrets.yaml	the sections, as `secrets:` of a policy file; no values
 *	STATE/secrets/NAME	a value that no keyring took, 0600 in a folder that is 0700
 *	STATE/placeholder.key	32 bytes at random, from which placeholders are made
 *
 * Each is written beside its name, synced, and moved into its place: it is there whole or as it
 * was before.  A value is asked of and given to the keyring by the program secret-tool, which
 * takes it on its standard input: never as an argument.
 */
#ifndef BAWN_SECRET_STORE_H
#define BAWN_SECRET_STORE_H

#include "error.h"
#include "host.h"
#include "policy.h"

enum { SECRET_KEY_SIZE = 32 };

/* Where the sections are: "STATE/secrets.yaml". */
const char *secret_store_path(const struct host *h, struct arena *arena);

/* The sections that are there now, without the rest of the policy. */
int secret_store_list(const struct host *h, struct arena *arena, struct policy *ret_policy,
		      struct error *e);

/* Puts a section in, or in place of one of the same name; or takes one out: -ENOENT. */
int secret_store_put(const struct host *h, const struct policy_secret *secret, struct arena *arena,
		     struct error *e);
int secret_store_remove(const struct host *h, const char *name, struct arena *arena,
			struct error *e);

/* Whether there is a keyring that can be asked. */
bool secret_keyring_works(const struct host *h, struct arena *arena);

/* Values.  `from` is POLICY_FROM_STORE or POLICY_FROM_KEYRING.  None is -ENOENT. */
int secret_value_put(const struct host *h, unsigned int from, const char *name, struct span value,
		     struct arena *arena, struct error *e);
int secret_value_get(const struct host *h, unsigned int from, const char *name, struct buf *into,
		     struct arena *arena, struct error *e);
int secret_value_remove(const struct host *h, unsigned int from, const char *name,
			struct arena *arena, struct error *e);

/* The key for placeholders; made when it is missing and may be, else empty. */
int secret_store_key(const struct host *h, bool create, struct arena *arena, struct span *ret_key,
		     struct error *e);

#endif
