/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether the host with this key signed these bytes.  It knows the kinds of key that sshd
 * makes: Ed25519, ECDSA on the three NIST curves, RSA with SHA-2 (2048 bits or more).
 */
#ifndef BAWN_HOST_KEY_H
#define BAWN_HOST_KEY_H

#include "span.h"

/* 0: yes.  -EKEYREJECTED: no.  -EOPNOTSUPP: another kind of key.  -EBADMSG: malformed. */
int host_key_verify(struct span key, struct span data, struct span signature) BAWN_MUST_USE;

#endif
