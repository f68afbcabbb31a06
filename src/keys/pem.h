/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificates of a PEM file, one after another.  The reader is strict between the
 * lines BEGIN CERTIFICATE and END CERTIFICATE (base64 of whole groups, in lines), and
 * ignores everything else in the file.
 */
#ifndef BAWN_PEM_H
#define BAWN_PEM_H

#include "buf.h"
#include "span.h"

/*
 * Appends the next certificate of *rest to `into`, as DER, and moves *rest behind it.
 * 1: there was one; 0: no more; -EBADMSG: one that is not well-formed, which is passed over.
 */
int pem_next(struct span *rest, struct buf *into);

/* Appends a certificate as PEM. */
void pem_put(struct buf *into, struct span der);

/* Appends base64, without line ends. */
void pem_put_base64(struct buf *into, struct span bytes);

#endif
