/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BAWN_TEST_POLICY_WITHIN_H
#define BAWN_TEST_POLICY_WITHIN_H

#include "policy.h"

/* a gives nothing that b does not give: what a repository or a ceiling may turn b into. */
bool policy_is_within(const struct policy *a, const struct policy *b);

#endif
