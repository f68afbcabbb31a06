/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the user's own settings as text: lines, pairs, addresses.  Enough of INI and TOML for the
 * few keys that name a mirror; what we do not understand does not go inside.
 */
#include "mirror_parts.h"

#include "agents_file.h"
#include "credential.h"
#include "encode.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIRROR_PART_MAX = 4096 }; /* bytes of an address */

const char *mirror_printf(struct mirror *m, const char *fmt, ...)
{
	va_list args, again;

	va_start(args, fmt);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, fmt, args);
	char *kept = n < 0 ? NULL : arena_alloc(m->arena, (size_t)n + 1);

	if (kept)
		(void)vsnprintf(kept, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(args);
	m->no_memory = m->no_memory || !kept;
	return kept ? kept : "";
}

const char *mirror_read(struct mirror *m, const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MIRROR_FILE_MAX);
	const char *below = str_after(path, "~/");
	const char *full = below ? mirror_printf(m, "%s/%s", m->host->home, below) : path;
	_cleanup_free_ char *real = realpath(full, NULL);
	struct stat st;

	if (!real)
		return NULL;
	/* We do not believe a file that an agent may have written. */
	if (agents_file(m->host, m->policy, real)) {
		mirror_note(m, mirror_printf(m, "a mirror that %s names", path),
			    "the session can write that file", path);
		return NULL;
	}
	_cleanup_fd_ int fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (st.st_uid != m->host->uid && st.st_uid != 0) || (st.st_mode & 022) != 0 ||
	    fd_read_all(fd, &text) < 0)
		return NULL;
	const char *kept = arena_str(m->arena, buf_str(&text));

	m->no_memory = m->no_memory || !kept;
	return kept;
}

const char *mirror_line(struct mirror *m, const char **at)
{
	if (!*at || !**at)
		return NULL;
	size_t len = strcspn(*at, "\n");
	const char *begin = *at, *end = begin + len;

	*at = *end ? end + 1 : end;
	while (begin < end && strchr(" \t\r", *begin))
		begin++;
	while (end > begin && strchr(" \t\r", end[-1]))
		end--;
	const char *line = arena_strn(m->arena, begin, (size_t)(end - begin));

	m->no_memory = m->no_memory || !line;
	return line;
}

bool mirror_pair(struct mirror *m, const char *line, const char **ret_key, const char **ret_value)
{
	const char *equals = strchr(line, '=');

	if (*line == '#' || *line == ';' || !equals || equals == line)
		return false;
	const char *key_end = equals, *value = equals + 1;

	while (key_end > line && strchr(" \t", key_end[-1]))
		key_end--;
	value += strspn(value, " \t");
	size_t len = strlen(value);

	/* "..." or '...', and in TOML perhaps a comment after it. */
	if (*value == '"' || *value == '\'') {
		const char *close = strchr(value + 1, *value);

		if (!close)
			return false;
		len = (size_t)(close - value) - 1;
		value++;
	}
	*ret_key = arena_strn(m->arena, line, (size_t)(key_end - line));
	*ret_value = arena_strn(m->arena, value, len);
	m->no_memory = m->no_memory || !*ret_key || !*ret_value;
	return *ret_key && *ret_value;
}

const char *mirror_expand(struct mirror *m, const char *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(MIRROR_FILE_MAX);

	while (*text) {
		const char *name = str_after(text, "${");
		const char *end = name ? strchr(name, '}') : NULL;

		if (!end) {
			buf_put_char(&out, *text++);
			continue;
		}
		const char *value = host_env(m->host->environ,
					     mirror_printf(m, "%.*s", (int)(end - name), name));

		buf_put_str(&out, value ? value : "");
		text = end + 1;
	}
	return buf_error(&out) ? "" : mirror_printf(m, "%s", buf_str(&out));
}

static const char *mirror_decode(struct mirror *m, const char *text, size_t len)
{
	uint8_t bytes[MIRROR_PART_MAX];
	ssize_t n = len < sizeof(bytes) ? decode_percent((struct span){(const uint8_t *)text, len},
							 bytes, sizeof(bytes))
					: -E2BIG;

	return n < 0 ? NULL : arena_strn(m->arena, (const char *)bytes, (size_t)n);
}

/* Whether the path has a token in it, as some do. */
static bool mirror_path_tells(struct mirror *m, const char *path)
{
	while (*(path += strspn(path, "/"))) {
		size_t len = strcspn(path, "/");

		if (credential_in_value(mirror_printf(m, "%.*s", (int)len, path)))
			return true;
		path += len;
	}
	return false;
}

bool mirror_url_parse(struct mirror *m, const char *text, struct mirror_url *ret)
{
	const char *rest = str_after(text, "sparse+") ? str_after(text, "sparse+") : text;
	bool plain = str_after(rest, "http://") != NULL;

	*ret = (struct mirror_url){.plain = plain};
	if (!plain && !str_after(rest, "https://"))
		return false;
	rest += plain ? strlen("http://") : strlen("https://");
	ret->before = mirror_printf(m, "%.*s", (int)(rest - text), text);
	size_t len = strcspn(rest, "/?#");
	const char *at = memrchr(rest, '@', len);

	if (at) {
		const char *colon = memchr(rest, ':', (size_t)(at - rest));

		ret->user = mirror_decode(m, rest, (size_t)((colon ? colon : at) - rest));
		ret->password = colon ? mirror_decode(m, colon + 1, (size_t)(at - colon) - 1) : "";
		if (!ret->user || !ret->password)
			return false;
		len -= (size_t)(at - rest) + 1;
		rest = at + 1;
	}
	/* No character that has a meaning in a file or a variable. */
	for (const char *c = rest; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr("\"'\\`${}?#=@;,|<>&", *c))
			return false;
	if (authority_parse((struct span){(const uint8_t *)rest, len}, &ret->at) < 0 ||
	    ret->at.is_address || mirror_path_tells(m, rest + len))
		return false;
	if (ret->at.port == 0)
		ret->at.port = plain ? 80 : 443;
	ret->after = rest;
	ret->path = rest[len] == '/' ? rest + len : "/";
	ret->clean = mirror_printf(m, "%s%s", ret->before, rest);
	return true;
}

void mirror_netrc(struct mirror *m, struct mirror_url *url)
{
	const char *text = url->user ? NULL : mirror_read(m, "~/.netrc");
	const char *key = NULL;
	bool mine = false;
	const char *user = NULL, *password = NULL;

	while (text && *(text += strspn(text, " \t\r\n"))) {
		size_t len = strcspn(text, " \t\r\n");
		const char *word = mirror_printf(m, "%.*s", (int)len, text);

		text += len;
		if (key && str_equal(key, "machine")) {
			if (mine)
				break;
			mine = str_equal(word, url->at.name.text);
		} else if (key && mine && str_equal(key, "login")) {
			user = word;
		} else if (key && mine && str_equal(key, "password")) {
			password = word;
		}
		key = key ? NULL
		      : str_equal(word, "machine") || str_equal(word, "login") ||
				      str_equal(word, "password")
			      ? word
			      : NULL;
	}
	if (mine && user && password) {
		url->user = user;
		url->password = password;
	}
}
