/* SPDX-License-Identifier: Apache-2.0 */
#include "listening.h"

#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	LISTENING_BYTES = 8 << 20, /* of the table: 16384 connections have two lines each */
	LISTENING_STATE = 0x0a,    /* TCP_LISTEN */
	LISTENING_COUNTS = 4096,
};

/* The tables of a box's TCP sockets, where the kernel counts them, and how many are the gate's: one. */
static const struct {
	const char *table, *counts, *key;
	unsigned long gate;
} listening_tables[] = {
	{"tcp", "sockstat", "TCP: inuse ", 0},
	{"tcp6", "sockstat6", "TCP6: inuse ", 1},
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

unsigned long listening_count(const char *counts, const char *key)
{
	const char *at = strstr(counts, key);

	return at ? strtoul(at + strlen(key), NULL, 10) : ULONG_MAX;
}

/* Whether the box has a TCP socket that is not the gate's.  To read a table takes the kernel a look at
 * every place of the machine's own, a third of a millisecond; the count costs nothing. */
static bool listening_has_more(unsigned long long box, size_t which)
{
	char path[64], counts[LISTENING_COUNTS];

	(void)snprintf(path, sizeof(path), "/proc/%llu/net/%s", box,
		       listening_tables[which].counts);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, counts, sizeof(counts) - 1);

	if (n < 0)
		return true;
	counts[n] = '\0';
	return listening_count(counts, listening_tables[which].key) > listening_tables[which].gate;
}

void listening_read(const struct session *s, struct listening *ret)
{
	ret->count = 0;
	if (!s->plan || s->state.box == 0 || s->state.plain || !s->state.gate)
		return;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(listening_tables); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(LISTENING_BYTES);
		unsigned long long box = s->state.box;
		char path[64];

		(void)snprintf(path, sizeof(path), "/proc/%llu/net/%s", box,
			       listening_tables[i].table);
		if (listening_has_more(box, i) && fd_read_file_at(AT_FDCWD, path, &text) == 0)
			listening_parse(buf_str(&text), ret);
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
