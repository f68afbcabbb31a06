/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bawn-otlp gives up before it reads a record or talks to anybody: it can read what name
 * services and OpenSSL read and the records, write nothing but STATE/sent, and start no program.
 */
#ifndef BAWN_OTLP_CONFINE_H
#define BAWN_OTLP_CONFINE_H

/* certificate: one more file to read; NULL: none.  0 or -errno. */
int otlp_confine(int sent, int records, const char *certificate);

#endif
