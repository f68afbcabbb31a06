/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets of the host that are in its file tree, as the kernel lists them.  A server answers
 * through a read-only view of its folder, and this kernel's Landlock cannot stop that.  The
 * recorder makes every connection to a path itself, and only to the box's own sockets
 * (src/recorder/watch_connect.h).  Here we also cover those that we find by name, because a
 * datagram needs no connection.  We do not find one that is made later, was moved, or is bound by a
 * relative name.
 */
#include "host_parts.h"

#include "buf.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>

enum { HOST_SOCKETS_MAX = 1024, HOST_SOCKETS_BYTES = 4 << 20 };

/* The box never sees these; most sockets are here. */
static const char *const host_sockets_elsewhere[] = {"/run", "/var/run", "/dev", "/proc"};

static bool host_socket_counts(const struct host *h, const char *path)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(host_sockets_elsewhere); i++)
		if (str_path_beneath(path, host_sockets_elsewhere[i]))
			return false;
	/* Each connection of a server is a line with its name. */
	for (size_t i = 0; i < h->sockets.count; i++)
		if (str_equal(h->sockets.items[i].origin, path))
			return false;
	return h->sockets.count < HOST_SOCKETS_MAX;
}

/* Adds what the name leads to, if a socket is still there. */
static int host_add_socket(struct host *h, const char *name, struct arena *arena)
{
	struct host_object o;
	int r = host_look(name, arena, &o);

	if (r < 0 || o.is_dir || o.is_file)
		return r == -ENOMEM ? r : 0;
	o.origin = arena_str(arena, name);
	o.name = o.path;
	return o.origin ? host_list_add(&h->sockets, arena, &o) : -ENOMEM;
}

int host_find_sockets(struct host *h, struct arena *arena)
{
	_cleanup_buf_ struct buf table = BUF_INIT(HOST_SOCKETS_BYTES);

	/* If the table is too long, we read as much as fits. */
	(void)fd_read_file_at(AT_FDCWD, "/proc/net/unix", &table);
	for (char *line = table.ptr; line && *line;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		/* Seven columns, none of them with a slash, then the name. */
		const char *name = strchr(line, '/');

		if (name && name > line && name[-1] == ' ' && host_socket_counts(h, name)) {
			int r = host_add_socket(h, name, arena);

			if (r < 0)
				return r;
		}
		line = end ? end + 1 : NULL;
	}
	return 0;
}
