/* SPDX-License-Identifier: Apache-2.0 */
#include "known_hosts.h"

#include "encode.h"
#include "outside.h"
#include "plan.h"
#include "str.h"

#include <unistd.h>

#define KNOWN_HOSTS_SYSTEM "/etc/ssh/ssh_known_hosts"

enum {
	KNOWN_HOSTS_MAX = 256 << 10, /* bytes about one host */
	KNOWN_HOSTS_KEY_MAX = 8 << 10,
	KNOWN_HOSTS_KEYS_MAX = 64, /* for all hosts */
	KNOWN_HOSTS_MS = 5000,
};

/* The next word of a line; the line then begins behind it.  Empty at its end. */
static struct span known_hosts_word(struct span *line)
{
	size_t start = 0, end = 0;

	while (start < line->len && (line->ptr[start] == ' ' || line->ptr[start] == '\t'))
		start++;
	end = start;
	while (end < line->len && line->ptr[end] != ' ' && line->ptr[end] != '\t' &&
	       line->ptr[end] != '\r')
		end++;
	struct span word = {line->ptr + start, end - start};

	*line = (struct span){line->ptr + end, line->len - end};
	return word;
}

/* The key of one line of a list, and whether the line revokes it; -ENOENT: it has none. */
static int known_hosts_parse(const char *text, size_t len, struct arena *arena,
			     struct span *ret_key, bool *ret_revoked)
{
	struct span line = {(const uint8_t *)text, len};
	struct span first = known_hosts_word(&line);
	bool revoked = span_equal(first, SPAN_LITERAL("@revoked"));
	uint8_t key[KNOWN_HOSTS_KEY_MAX];

	/* A comment, or an authority: we do not check what it signs. */
	if (first.len == 0 || first.ptr[0] == '#' || (first.ptr[0] == '@' && !revoked))
		return -ENOENT;
	if (revoked)
		(void)known_hosts_word(&line);
	(void)known_hosts_word(&line);
	ssize_t n = decode_base64(known_hosts_word(&line), key, sizeof(key));

	if (n <= 0)
		return -ENOENT;
	uint8_t *copy = arena_alloc(arena, (size_t)n);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, key, (size_t)n);
	*ret_key = (struct span){copy, (size_t)n};
	*ret_revoked = revoked;
	return 0;
}

static int known_hosts_add(struct host *h, const struct plan_ssh_key *key, struct arena *arena)
{
	for (size_t i = 0; i < h->ssh_key_count; i++)
		if (span_equal(h->ssh_keys[i].key, key->key) &&
		    str_equal(h->ssh_keys[i].host, key->host) && h->ssh_keys[i].port == key->port)
			return 0;
	if (!h->ssh_keys)
		h->ssh_keys = arena_alloc(arena, KNOWN_HOSTS_KEYS_MAX * sizeof(*h->ssh_keys));
	if (!h->ssh_keys)
		return -ENOMEM;
	if (h->ssh_key_count < KNOWN_HOSTS_KEYS_MAX)
		h->ssh_keys[h->ssh_key_count++] = *key;
	return 0;
}

/* Takes the lines about one host; a key that any line revokes is not taken. */
static int known_hosts_take(struct host *h, const struct buf *lines, struct plan_ssh_key key,
			    struct arena *arena)
{
	size_t first = h->ssh_key_count;

	for (int pass = 0; pass < 2; pass++)
		for (size_t at = 0, len = 0; at < lines->len; at += len + 1) {
			const char *end = memchr(lines->ptr + at, '\n', lines->len - at);
			bool revoked = false;

			len = end ? (size_t)(end - lines->ptr) - at : lines->len - at;
			int r = known_hosts_parse(lines->ptr + at, len, arena, &key.key, &revoked);

			if (r == -ENOMEM)
				return r;
			if (r < 0 || revoked != (pass == 1))
				continue;
			if (!revoked && known_hosts_add(h, &key, arena) < 0)
				return -ENOMEM;
			for (size_t i = first; revoked && i < h->ssh_key_count; i++)
				if (span_equal(h->ssh_keys[i].key, key.key))
					h->ssh_keys[i--] = h->ssh_keys[--h->ssh_key_count];
		}
	return 0;
}

int known_hosts_read(struct host *h, const char *host, uint64_t port, const char *origin,
		     struct arena *arena, struct error *e)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(KNOWN_HOSTS_MAX);
	const char *name =
		port == 22 ? host
			   : arena_printf(arena, "[%s]:%llu", host, (unsigned long long)port);
	const char *const files[] = {arena_printf(arena, "%s/.ssh/known_hosts", h->home),
				     KNOWN_HOSTS_SYSTEM};
	int r = name && files[0] ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(files); i++) {
		const char *const argv[] = {"ssh-keygen", "-F", name, "-f", files[i], NULL};
		int status = 0;

		/* It exits with 1 when it finds nothing; we know that from its silence. */
		if (access(files[i], R_OK) == 0)
			r = outside_run(argv, KNOWN_HOSTS_MS, &lines, &status, e);
	}
	if (r < 0)
		return e->code ? r : error_sys(e, r, "reading the keys of %s", host);
	r = known_hosts_take(h, &lines,
			     (struct plan_ssh_key){.host = host, .port = port, .origin = origin},
			     arena);
	return r < 0 ? error_sys(e, r, "reading the keys of %s", host) : 0;
}
