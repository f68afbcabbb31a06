/* SPDX-License-Identifier: Apache-2.0 */
/* The system call filters, assembled at build time from profile_table.h. */
#ifndef BAWN_PROFILE_H
#define BAWN_PROFILE_H

#include "span.h"

enum profile_kind {
	PROFILE_BOX,
	PROFILE_BOX_DEBUG,
	PROFILE_BOX_CLOSED, /* goes without a network namespace: no internet sockets at all */
	PROFILE_KEEPER,
	PROFILE_GATE,
	PROFILE_SIGNER,
	PROFILE_KEYS,
	PROFILE_RESOLVER,
	PROFILE_RECORDER,
};

/* An array of struct sock_filter, as bytes. */
struct span profile_bpf(enum profile_kind kind);

#endif
