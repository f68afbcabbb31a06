/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether something looks like a credential, by its name and by its value.  In doubt
 * the answer is yes: a variable that is wrongly kept out costs the user one --env NAME;
 * one that is wrongly passed gives the agent a key.
 */
#ifndef BAWN_CREDENTIAL_H
#define BAWN_CREDENTIAL_H

#include "base.h"

/* GITHUB_TOKEN, AWS_PROFILE, DB_PASSWORD, stripeSecret. */
bool credential_in_name(const char *name);

/* ghp_..., a private key, a URL with a password, twenty or more letters and digits at random. */
bool credential_in_value(const char *value);

#endif
