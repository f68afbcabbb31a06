/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into every program of bawn: `bawn doctor` reads the version of the
 * others in their files, without running them.
 */
#include "config.h"
#include "helper.h"

static const char mark[] __attribute__((used, retain)) = HELPER_MARK BAWN_VERSION;
