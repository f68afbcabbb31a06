/* SPDX-License-Identifier: Apache-2.0 */
#include "listening.h"

#include "fd.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	LISTENING_BYTES = 128 << 10, /* of a table: 800 listeners */
	LISTENING_PIECE = 4096,
	LISTENING_STATE = 0x0a, /* TCP_LISTEN */
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

/* "   0: 0100007F:0BB8 00000000:0000 0A ...".  False: it is no row. */
static bool listening_row(const char *line, unsigned int *port, unsigned int *state)
{
	char row[128];

	/* What lies behind the row is not read again for each. */
	(void)snprintf(row, sizeof(row), "%.*s", (int)strcspn(line, "\n"), line);
	/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
	return sscanf(row, " %*u: %*32[0-9A-F]:%4x %*32[0-9A-F]:%*4x %2x", port, state) == 2;
}

void listening_parse(const char *table, struct listening *into)
{
	for (const char *line = table; line && *line; line = strchr(line, '\n')) {
		unsigned int port = 0, state = 0;

		line += *line == '\n';
		if (listening_row(line, &port, &state) && state == LISTENING_STATE &&
		    port >= LISTENING_FIRST)
			listening_add(into, (uint16_t)port);
	}
}

/* Whether the last whole row is of no listener: then none follows. */
static bool listening_is_over(const struct buf *text)
{
	unsigned int port = 0, state = LISTENING_STATE;
	const char *from = buf_str(text);
	const char *end = memrchr(from, '\n', text->len);
	const char *line = end ? memrchr(from, '\n', (size_t)(end - from)) : NULL;

	return line && listening_row(line + 1, &port, &state) && state != LISTENING_STATE;
}

/*
 * Reads a table as far as it is of listeners.  The kernel has them before the connections, of which a
 * box may have a hundred thousand; and it gives a page at a time.  Of very many listeners some are
 * left out.
 */
static void listening_read_table(const char *path, struct listening *into)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_buf_ struct buf text = BUF_INIT(LISTENING_BYTES + LISTENING_PIECE);
	char piece[LISTENING_PIECE];
	ssize_t n;

	while (fd >= 0 && text.len < LISTENING_BYTES && !listening_is_over(&text) &&
	       (n = read(fd, piece, sizeof(piece))) > 0)
		buf_put(&text, piece, (size_t)n);
	listening_parse(buf_str(&text), into);
}

unsigned long listening_count(const char *counts, const char *key)
{
	const char *at = strstr(counts, key);

	return at ? strtoul(at + strlen(key), NULL, 10) : ULONG_MAX;
}

/* How many sockets of the box a table is about.  The table itself is costly: behind the listeners the
 * kernel goes through the connections of the whole machine. */
static unsigned long listening_in_use(unsigned long long box, const char *counts, const char *word)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LISTENING_PIECE);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%llu/net/%s", box, counts);
	return fd_read_file_at(AT_FDCWD, path, &text) < 0 ? ULONG_MAX
							  : listening_count(buf_str(&text), word);
}

void listening_read(const struct session *s, struct listening *ret)
{
	/* The gate has one listener of its own, for both families where there are both. */
	static const struct {
		const char *name, *counts, *word;
		unsigned long own;
	} tables[] = {{"tcp", "sockstat", "TCP: inuse ", 0},
		      {"tcp6", "sockstat6", "TCP6: inuse ", 1}};

	ret->count = 0;
	if (!s->plan || s->state.box == 0 || s->state.plain || !s->state.gate)
		return;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(tables); i++) {
		const unsigned long long box = s->state.box;
		char path[64];

		if (listening_in_use(box, tables[i].counts, tables[i].word) <= tables[i].own)
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%llu/net/%s", box, tables[i].name);
		listening_read_table(path, ret);
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
