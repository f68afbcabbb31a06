/* SPDX-License-Identifier: Apache-2.0 */
/* The presets, bundles and known secrets as presets.py wrote them into the build, sorted by name.
 */
#ifndef BAWN_PRESETS_H
#define BAWN_PRESETS_H

#include "policy.h"

extern const struct policy_source presets[];
extern const size_t preset_count;
extern const char *const preset_names[]; /* NULL-terminated */

extern const struct policy_source bundles[];
extern const size_t bundle_count;
extern const char *const bundle_names[];

extern const struct policy_source secrets[];
extern const size_t secret_count;
extern const char *const secret_names[];

#endif
