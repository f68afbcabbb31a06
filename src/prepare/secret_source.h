/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the values of secrets come from, outside: the store, the keyring, a variable, a file, a
 * command.  A command runs without a shell, in /, with no input, for a minute at most; only root
 * and the user can have put its program in its place.
 */
#ifndef BAWN_SECRET_SOURCE_H
#define BAWN_SECRET_SOURCE_H

#include "error.h"
#include "host.h"
#include "mirror.h"
#include "policy.h"

/* The secrets that the plan has, and where their values are. */
struct secret_sources {
	LIST_OF(const struct policy_secret) secrets;
	LIST_OF(const struct mirror_value) mirrors; /* values of POLICY_FROM_SETTINGS */
	const char *proxy_login;                    /* user:password; NULL: none */
	struct host host; /* only uid, home, state_dir, workspace, environ */
};

/* Splits a command into words as a shell does, with quotes and backslashes; it expands nothing.
 * The list ends in NULL.  -EINVAL: a quote is not closed, or there is no word. */
int secret_split(const char *command, struct arena *arena, const char *const **ret_argv,
		 struct error *e);

/*
 * The program of that name on PATH, or an absolute path: a regular file that only root or the user
 * can write, in a folder like that, outside the workspace.  NULL and an error when there is none.
 */
const char *secret_program(const struct host *h, const char *name, struct arena *arena,
			   struct error *e);

/* Reads the value as it is now, without the newline at its end, and checks it.  `into` does not
 * grow. */
int secret_value_read(const struct host *h, const struct policy_secret *secret, struct buf *into,
		      uint64_t *ret_expires, struct error *e);

/* The same for a secret of the plan, or with NULL for the proxy's login; context is a struct
 * secret_sources.  Fits handover_fn. */
int secret_source_read(void *context, const struct plan_secret *secret, struct buf *into,
		       uint64_t *ret_expires, struct error *e);

#endif
