/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to a collector, kept open from request to request: HTTP/1.1, in TLS when its
 * address says https; then the certificate is verified with the system's authorities or the user's
 * file.  Every step has a deadline.  We read what a collector answers as strictly as the gate reads
 * answers, and keep no more than OTLP_ANSWER_MAX of it.
 */
#ifndef BAWN_OTLP_WIRE_H
#define BAWN_OTLP_WIRE_H

#include "buf.h"
#include "error.h"
#include "otlp_clock.h"
#include "otlp_settings.h"

struct tls;
struct tls_world;

enum { OTLP_ANSWER_MAX = 256 << 10 };

struct otlp_wire {
	const struct otlp_settings *settings;
	struct otlp_clock *clock;
	struct tls_world *world; /* made when it is first needed */
	struct tls *tls;
	int fd; /* -1: not connected */
	struct buf in, out, packed;
	size_t read; /* bytes of `in` that an answer has used */
};

struct otlp_answer {
	unsigned int status;
	int64_t retry_after_ms; /* -1: it does not say */
	struct buf body;
};

#define OTLP_ANSWER_INIT ((struct otlp_answer){.body = BUF_INIT(OTLP_ANSWER_MAX)})

void otlp_wire_init(struct otlp_wire *w, const struct otlp_settings *settings,
		    struct otlp_clock *clock);
void otlp_wire_fini(struct otlp_wire *w);

/*
 * Sends one body and reads the answer.  0: it answered, with whatever status.  Else we could not
 * reach it, or it did not answer in time: -errno and why; -EBADMSG: what answers there is no
 * collector; -EKEYREJECTED: it is not who it should be.
 */
int otlp_wire_post(struct otlp_wire *w, struct span body, struct otlp_answer *ret, struct error *e);

/* Retry-After in milliseconds, from seconds or a date; -1 when it is neither. */
int64_t otlp_retry_after(struct span value, int64_t now_seconds);

#endif
