/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel refused at connect, told. */
#ifndef BAWN_REJECTED_H
#define BAWN_REJECTED_H

#include "base.h"

int rejected_on_log(void *context, uint32_t events);

#endif
