/* SPDX-License-Identifier: Apache-2.0 */
/* share/usual.tsv: what programs usually ask for, and the calls for which there is a way out. */
#ifndef BAWN_USUAL_H
#define BAWN_USUAL_H

#include "base.h"

enum usual_kind { USUAL_TELEMETRY, USUAL_FILE, USUAL_OWN, USUAL_DEBUG, USUAL_NAMESPACE };

struct usual {
	enum usual_kind kind;
	const char *name;
	const char *whose; /* for USUAL_OWN: only this program */
};

extern const struct usual usual[];
extern const size_t usual_count;

#endif
