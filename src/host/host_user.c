/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who the user is: name, home, shell, and bawn's own two folders.
 *
 * bawn is linked statically and cannot ask the name service: it reads /etc/passwd, and if the user
 * is not there (a directory service), it uses the environment.  Name, home and shell go into the
 * made-up /etc/passwd of the box, so none may have a character that would begin a new field or line
 * there.
 */
#include "host_parts.h"

#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOST_PASSWD_MAX = 1 << 20, HOST_USER_MAX = 64 };

struct host_passwd {
	const char *user, *home, *shell; /* NULL when not found */
};

/* The field that begins at *at, which then moves behind it; fields end in ':' or at end. */
static struct span host_passwd_field(const char **at, const char *end)
{
	const char *start = *at;
	const char *colon = memchr(start, ':', (size_t)(end - start));
	const char *stop = colon ? colon : end;

	*at = colon ? colon + 1 : end;
	return (struct span){(const uint8_t *)start, (size_t)(stop - start)};
}

/* Reads a line name:password:uid:gid:comment:home:shell; false: it is of another user. */
static bool host_passwd_line(const char *line, const char *end, uint64_t uid, struct arena *arena,
			     struct host_passwd *ret)
{
	struct span field[7];
	char number[24];
	uint64_t value;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(field); i++)
		field[i] = host_passwd_field(&line, end);
	if (field[2].len == 0 || field[2].len >= sizeof(number))
		return false;
	memcpy(number, field[2].ptr, field[2].len);
	number[field[2].len] = '\0';
	if (str_parse_u64(number, &value) < 0 || value != uid)
		return false;
	ret->user = arena_strn(arena, (const char *)field[0].ptr, field[0].len);
	ret->home = arena_strn(arena, (const char *)field[5].ptr, field[5].len);
	ret->shell = arena_strn(arena, (const char *)field[6].ptr, field[6].len);
	return true;
}

static struct host_passwd host_passwd_find(uint64_t uid, struct arena *arena)
{
	_cleanup_buf_ struct buf text = BUF_INIT(HOST_PASSWD_MAX);
	struct host_passwd found = {NULL, NULL, NULL};

	/* If we cannot read it, we use the environment. */
	if (fd_read_file_at(AT_FDCWD, "/etc/passwd", &text) < 0)
		return found;
	const char *at = buf_str(&text);
	const char *end = at + text.len;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		if (host_passwd_line(at, stop, uid, arena, &found))
			break;
		at = stop + 1;
	}
	return found;
}

static bool host_user_is_plain(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-";
	size_t len = name ? strlen(name) : 0;

	return len > 0 && len <= HOST_USER_MAX && name[0] != '-' && strspn(name, plain) == len;
}

/* Whether the text can be a field of passwd. */
static bool host_field_is_plain(const char *s)
{
	for (; *s; s++)
		if (*s == ':' || (unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	return true;
}

static bool host_shell_is_usable(const char *shell)
{
	return shell && str_path_is_normal(shell) && host_field_is_plain(shell) &&
	       !str_ends_with(shell, "/nologin") && !str_ends_with(shell, "/false") &&
	       access(shell, X_OK) == 0;
}

static int host_find_home(struct host *h, const char *listed, struct arena *arena, struct error *e)
{
	const char *const places[] = {host_env(h->environ, "HOME"), listed};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(places); i++) {
		struct host_object object;
		int r = places[i] ? host_look(places[i], arena, &object) : -ENOENT;

		if (r == -ENOSYS)
			return error_sys(e, r, "cannot look at %s", places[i]);
		if (r < 0 || !object.is_dir)
			continue;
		if (str_equal(object.path, "/") || !host_field_is_plain(object.path)) {
			r = error_set(e, -EINVAL, "your home cannot be %s", object.path);

			error_next(e, "Set HOME to a folder of your own.");
			return r;
		}
		h->home = object.path;
		h->home_name = object.name;
		return host_list_add(&h->homes, arena, &object) < 0
			       ? error_sys(e, -ENOMEM, "cannot look at your home")
			       : 0;
	}
	int r = error_set(e, -ENOENT, "you have no home: HOME is %s, and there is no such folder",
			  places[0] ? places[0] : "not set");
	error_next(e, "Set HOME to a folder of your own.");
	return r;
}

bool host_holds_home(const struct host *h, const char *path)
{
	for (size_t i = 0; i < h->homes.count; i++)
		if (str_path_beneath(h->homes.items[i].path, path))
			return true;
	return false;
}

/* HOME says where a program looks for its files; it does not say what is private. */
static int host_add_home(struct host *h, const char *path, struct arena *arena)
{
	struct host_object object;
	int r = path ? host_look(path, arena, &object) : -ENOENT;

	if (r < 0 || !object.is_dir || str_equal(object.path, "/"))
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < h->homes.count; i++)
		if (str_equal(h->homes.items[i].path, object.path))
			return 0;
	return host_list_add(&h->homes, arena, &object);
}

static int host_find_homes(struct host *h, const char *listed, struct arena *arena)
{
	const char *sudo = host_env(h->environ, "SUDO_UID");
	uint64_t uid;
	int r = host_add_home(h, listed, arena);

	if (r == 0 && sudo && str_parse_u64(sudo, &uid) == 0)
		r = host_add_home(h, host_passwd_find(uid, arena).home, arena);
	if (r == 0)
		r = host_find_mounts(h, arena);
	if (r == 0)
		r = host_add_again(h, &h->homes, 0, false, arena);
	for (size_t i = 0; r == 0 && i < h->homes.count; i++)
		r = host_know(h, h->homes.items[i].path, arena);
	return r;
}

bool host_others_replace(const struct host *h, const char *folder)
{
	struct stat st;

	if (stat(folder, &st) < 0 || (st.st_mode & S_ISVTX))
		return false;
	/* We assume that nobody else is in the user's own group. */
	return (st.st_mode & 02) != 0 || ((st.st_mode & 020) != 0 && st.st_gid != h->gid);
}

/* $variable/bawn when it is absolute, as the XDG rules say, else ~/fallback/bawn. */
static const char *host_own_dir(const struct host *h, const char *variable, const char *fallback,
				struct arena *arena)
{
	const char *base = host_env(h->environ, variable);

	if (base && str_path_is_normal(base) && !str_equal(base, "/"))
		return arena_printf(arena, "%s/bawn", host_rehome(h, base, arena));
	return arena_printf(arena, "%s/%s/bawn", h->home, fallback);
}

/* The folder; NULL when it is not the user's own, or others can write it. */
static const char *host_find_runtime(const struct host *h, struct arena *arena)
{
	const char *base = host_env(h->environ, "XDG_RUNTIME_DIR");
	struct stat st;

	if (!base || !str_path_is_normal(base) || str_equal(base, "/") || stat(base, &st) < 0 ||
	    !S_ISDIR(st.st_mode) || st.st_uid != h->uid || (st.st_mode & 022) != 0)
		return NULL;
	return arena_printf(arena, "%s/bawn", base);
}

int host_find_user(struct host *h, struct arena *arena, struct error *e)
{
	struct host_passwd listed = host_passwd_find(h->uid, arena);
	int r = host_find_home(h, listed.home, arena, e);

	if (r < 0)
		return r;
	if (host_find_homes(h, listed.home, arena) < 0)
		return error_sys(e, -ENOMEM, "cannot look at your home");
	const char *named = host_env(h->environ, "USER");
	h->user = host_user_is_plain(listed.user) ? listed.user
		  : host_user_is_plain(named)     ? named
						  : "user";
	const char *shell = host_env(h->environ, "SHELL");
	h->shell = host_shell_is_usable(shell)          ? shell
		   : host_shell_is_usable(listed.shell) ? listed.shell
							: "/bin/sh";
	h->config_dir = host_own_dir(h, "XDG_CONFIG_HOME", ".config", arena);
	h->state_dir = host_own_dir(h, "XDG_STATE_HOME", ".local/state", arena);
	h->runtime_dir = host_find_runtime(h, arena);
	if (!h->config_dir || !h->state_dir || host_know(h, h->config_dir, arena) < 0 ||
	    host_know(h, h->state_dir, arena) < 0)
		return error_sys(e, -ENOMEM, "cannot look at your home");
	return 0;
}
