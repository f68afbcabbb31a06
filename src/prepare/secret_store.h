/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `bawn secret` keeps, in bawn's own state directory, which no box sees:
 *
 *	STATE/secrets.yaml	the sections, as `secrets:` of a policy file; no values
 *	STATE/secrets/NAME	a value that no keyring took, 0600 in a folder that is 0700
 *	STATE/placeholder.key	32 random bytes, from which placeholders are made
 *
 * Each is written beside its name, synced, and moved into its place: it is there complete or as it
 * was before.  The program secret-tool asks the keyring for a value and gives it one; it reads the
 * value on its standard input: never as an argument.
 */
#ifndef BAWN_SECRET_STORE_H
#define BAWN_SECRET_STORE_H

#include "error.h"
#include "host.h"
#include "policy.h"

enum { SECRET_KEY_SIZE = 32 };

/* The path of the sections: "STATE/secrets.yaml". */
const char *secret_store_path(const struct host *h, struct arena *arena);

/* Reads the present sections, without the rest of the policy. */
int secret_store_list(const struct host *h, struct arena *arena, struct policy *ret_policy,
		      struct error *e);

/* secret_store_put adds a section, or replaces one of the same name.  secret_store_remove removes
 * one; -ENOENT: there is none. */
int secret_store_put(const struct host *h, const struct policy_secret *secret, struct arena *arena,
		     struct error *e);
int secret_store_remove(const struct host *h, const char *name, struct arena *arena,
			struct error *e);

/* Whether there is a keyring that answers. */
bool secret_keyring_works(const struct host *h, struct arena *arena);

/* Values.  `from` is POLICY_FROM_STORE or POLICY_FROM_KEYRING.  -ENOENT: there is none. */
int secret_value_put(const struct host *h, unsigned int from, const char *name, struct span value,
		     struct arena *arena, struct error *e);
int secret_value_get(const struct host *h, unsigned int from, const char *name, struct buf *into,
		     struct arena *arena, struct error *e);
int secret_value_remove(const struct host *h, unsigned int from, const char *name,
			struct arena *arena, struct error *e);

/* The key for placeholders.  When there is none, it is made if create is true, else *ret_key is
 * empty. */
int secret_store_key(const struct host *h, bool create, struct arena *arena, struct span *ret_key,
		     struct error *e);

#endif
