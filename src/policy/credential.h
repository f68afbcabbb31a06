/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What looks like a credential, by its name and by its value.  Rules that err
 * on the safe side: a variable held back wrongly costs the user one --env NAME,
 * one let through wrongly is a key in the hands of the agent.
 */
#ifndef BAWN_CREDENTIAL_H
#define BAWN_CREDENTIAL_H

#include "base.h"

/* GITHUB_TOKEN, AWS_PROFILE, DB_PASSWORD, stripeSecret. */
bool credential_in_name(const char *name);

/* ghp_..., a private key, a URL with a password, twenty or more letters and digits at random. */
bool credential_in_value(const char *value);

#endif
