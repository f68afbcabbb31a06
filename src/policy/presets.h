/* SPDX-License-Identifier: Apache-2.0 */
/* The presets as presets.py wrote them into the build, sorted by name. */
#ifndef BAWN_PRESETS_H
#define BAWN_PRESETS_H

#include "policy.h"

extern const struct policy_source presets[];
extern const size_t preset_count;
extern const char *const preset_names[]; /* NULL-terminated */

#endif
