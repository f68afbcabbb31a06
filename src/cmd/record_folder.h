/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of all records, STATE/record: 0700, and out of every box's sight. */
#ifndef BAWN_RECORD_FOLDER_H
#define BAWN_RECORD_FOLDER_H

#include "error.h"
#include "host.h"

/* For reading, so that it can be synced; -ENOENT when it is not there and may not be made. */
int record_folder_open(const struct host *h, bool create, struct arena *arena, struct error *e);

#endif
