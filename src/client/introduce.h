/* SPDX-License-Identifier: Apache-2.0 */
/* What a new keeper is told before its session starts: where other commands find it, and its record. */
#ifndef BAWN_INTRODUCE_H
#define BAWN_INTRODUCE_H

#include "client.h"

/* The keeper serves the session's control socket, and holds its locks with us. */
int introduce_session(const struct client_options *options, int channel);
int introduce_record(const struct client_options *options, int channel);

#endif
