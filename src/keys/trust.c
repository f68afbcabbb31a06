/* SPDX-License-Identifier: Apache-2.0 */
#include "trust.h"

#include "jks.h"
#include "pem.h"

#include <stdio.h>

static void trust_write_bundle(struct span host, struct span certificate, struct buf *into)
{
	buf_put(into, host.ptr, host.len);
	if (host.len > 0 && host.ptr[host.len - 1] != '\n')
		buf_put_char(into, '\n');
	pem_put(into, certificate);
}

static void trust_write_java(struct span host, struct span certificate, uint64_t now_ms,
			     struct buf *into)
{
	_cleanup_buf_ struct buf der = BUF_INIT(TRUST_BYTES_MAX);
	unsigned int count = 0;
	char alias[32];
	struct jks j;
	int r;

	jks_begin(&j, into, now_ms);
	jks_add(&j, "bawn-session", certificate);
	/* Skip a malformed certificate, as Java does. */
	while (buf_clear(&der), (r = pem_next(&host, &der)) != 0) {
		if (r < 0)
			continue;
		(void)snprintf(alias, sizeof(alias), "host-%u", ++count);
		jks_add(&j, alias, buf_span(&der));
	}
	jks_commit(&j);
}

/* Chromium and Chrome from 131 on take an administrator's authorities from a policy. */
static void trust_write_chromium(struct span certificate, struct buf *into)
{
	buf_put_str(into, "{\"CACertificates\":[\"");
	pem_put_base64(into, certificate);
	buf_put_str(into, "\"]}\n");
}

int trust_write(enum plan_trust format, struct span host, struct span certificate, uint64_t now_ms,
		struct buf *into)
{
	switch (format) {
	case PLAN_TRUST_BUNDLE:
		trust_write_bundle(host, certificate, into);
		break;
	case PLAN_TRUST_JAVA:
		trust_write_java(host, certificate, now_ms, into);
		break;
	case PLAN_TRUST_CHROMIUM:
		trust_write_chromium(certificate, into);
		break;
	case PLAN_TRUST_COUNT:
		return -EINVAL;
	}
	return buf_error(into);
}
