/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper: one per session, outside the box. */
#ifndef BAWN_KEEPER_H
#define BAWN_KEEPER_H

/* Serves the client at the other end of `channel` until the session ends; `programs` is
 * the open folder of bawn's other programs.  Returns the exit code. */
int keeper_run(int channel, int programs);

#endif
