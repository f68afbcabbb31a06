/* SPDX-License-Identifier: Apache-2.0 */
/* What a refused program is told, and the user; and how often. */
#ifndef BAWN_REFUSAL_H
#define BAWN_REFUSAL_H

#include "buf.h"
#include "dns.h"
#include "message_control.h"
#include "message_gate.h"
#include "rules.h"

struct gate;

void refusal_note(struct gate *g, enum message_event_kind kind, const char *host, uint16_t port,
		  const struct rules_verdict *v);
void refusal_question(struct gate *g, const struct dns_question *q);
void refusal_flush(struct gate *g);
/* How often host was refused, at this port or (0) at any. */
void refusal_sum(const struct gate *g, const char *host, uint64_t port,
		 struct message_counted *ret_sum);
void refusal_limit(struct gate *g, const char *what);
void refusal_spent(const struct gate *g, struct rules_verdict *ret_verdict);
/* A secret was put in: shown once and then counted, like a refusal. */
void refusal_use(struct gate *g, const char *secret, const char *where, uint16_t port);
/* Appends the words for the program.  what: the request, "" for a connection. */
void refusal_text(struct buf *body, const struct rules_verdict *v, const char *what,
		  const char *host, uint16_t port);
/* Sends a program that speaks TLS a plain alert. */
void refusal_alert(int fd);
/* Writes an answer of HTTP/1 with that text.  Returns its length; 0: it does not fit. */
size_t refusal_page(const struct rules_verdict *v, const char *host, uint16_t port, char *into,
		    size_t size);

#endif
