/* SPDX-License-Identifier: Apache-2.0 */
#include "listening.h"

#include "fd.h"

#include <fcntl.h>
#include <stdio.h>

enum {
	LISTENING_BYTES = 256 << 10, /* of the table, in which those that listen come first */
	LISTENING_STATE = 0x0a,      /* TCP_LISTEN */
};

static void listening_add(struct listening *l, uint16_t port)
{
	size_t at = 0;

	while (at < l->count && l->ports[at] < port)
		at++;
	if (l->count == LISTENING_MAX || (at < l->count && l->ports[at] == port))
		return;
	memmove(&l->ports[at + 1], &l->ports[at], (l->count - at) * sizeof(l->ports[0]));
	l->ports[at] = port;
	l->count++;
}

void listening_parse(const char *table, struct listening *into)
{
	for (const char *line = table; line && *line; line = strchr(line, '\n')) {
		unsigned int port = 0, state = 0;
		char row[128];

		line += *line == '\n';
		/* What lies behind the row is not read again for each. */
		(void)snprintf(row, sizeof(row), "%.*s", (int)strcspn(line, "\n"), line);
		/* "   0: 0100007F:0BB8 00000000:0000 0A ..."
		 * NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
		if (sscanf(row, " %*u: %*32[0-9A-F]:%4x %*32[0-9A-F]:%*4x %2x", &port, &state) ==
			    2 &&
		    state == LISTENING_STATE && port >= LISTENING_FIRST)
			listening_add(into, (uint16_t)port);
	}
}

void listening_read(const struct session *s, struct listening *ret)
{
	static const char *const tables[] = {"tcp", "tcp6"};
	static char text[LISTENING_BYTES];

	ret->count = 0;
	if (s->fd < 0 || s->state.box == 0 || s->state.plain || !s->state.gate)
		return;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(tables); i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "/proc/%llu/net/%s",
			       (unsigned long long)s->state.box, tables[i]);
		if (fd_read_first_at(AT_FDCWD, path, text, sizeof(text)) > 0)
			listening_parse(text, ret);
	}
}

void listening_words(const struct listening *l, const char *session, struct buf *into)
{
	size_t count = 0;

	while (count < l->count && l->ports[count] < LISTENING_CHOSEN)
		count++;
	if (count == 0)
		return;
	buf_put_str(into, count == 1 ? "a server listens on port " : "servers listen on ports ");
	for (size_t i = 0; i < count; i++)
		buf_putf(into, "%s%u", i > 0 ? ", " : "", l->ports[i]);
	buf_putf(into, " inside: bawn open %s ", session);
	if (count == 1)
		buf_putf(into, "%u", l->ports[0]);
	else
		buf_put_str(into, "PORT");
}

void listening_say(const char *session, const struct text *to)
{
	_cleanup_session_ struct session s = {.fd = -1};
	_cleanup_buf_ struct buf words = BUF_INIT(4096);
	struct listening l = {.count = 0};
	struct error e = ERROR_INIT;

	if (session_find(session, &s, &e) == 0)
		listening_read(&s, &l);
	listening_words(&l, session, &words);
	if (words.len > 0)
		text_printf(to, "bawn: %s\n", buf_str(&words));
}
