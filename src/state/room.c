/* SPDX-License-Identifier: Apache-2.0 */
#include "room.h"

#include "clock.h"
#include "dir.h"
#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM_DEPTH_MAX = 128, ROOM_LOOK = 256 };

struct room_walk {
	int64_t until; /* nanoseconds; 0: no limit */
	uint64_t bytes, looked;
	bool more;
};

static bool room_is_late(struct room_walk *w)
{
	if (w->until && w->looked++ % ROOM_LOOK == 0 && clock_ns(CLOCK_MONOTONIC) > w->until)
		w->more = true;
	return w->more;
}

/* Closes the folder.  A file with several names adds a share of its size at each name, so that it
 * counts once in all. */
static void room_walk(struct room_walk *w, int folder, int depth)
{
	_cleanup_dir_ DIR *dir = dir_read(folder, NULL);

	for (const struct dirent *d; !room_is_late(w) && (d = dir_next(dir, NULL));) {
		struct stat st;

		if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		uint64_t bytes = (uint64_t)st.st_blocks * 512;

		if (!S_ISDIR(st.st_mode)) {
			w->bytes += bytes / (st.st_nlink ? st.st_nlink : 1);
			continue;
		}
		w->bytes += bytes;
		int below = depth < ROOM_DEPTH_MAX
				    ? openat(dirfd(dir), d->d_name,
					     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
				    : -1;

		if (below >= 0)
			room_walk(w, below, depth + 1);
	}
}

uint64_t room_beneath(int folder)
{
	struct room_walk w = {.until = 0};

	if (folder >= 0)
		room_walk(&w, folder, 0);
	return w.bytes;
}

static uint64_t room_part(struct room_walk *w, int state, const char *name)
{
	uint64_t before = w->bytes;
	int part = openat(state, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (part >= 0)
		room_walk(w, part, 0);
	return w->bytes - before;
}

void room_measure(const char *state_dir, struct room *ret)
{
	_cleanup_fd_ int state =
		state_dir ? open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	struct room_walk w = {.until = clock_ns(CLOCK_MONOTONIC) +
				       (int64_t)ROOM_PATIENCE_MS * 1000000};

	*ret = (struct room){.all = 0};
	if (state < 0)
		return;
	ret->records = room_part(&w, state, "record");
	ret->systems = room_part(&w, state, "systems");
	ret->workspaces = room_part(&w, state, "workspaces");
	ret->all = w.bytes;
	ret->more = w.more;
}

void room_put_size(struct buf *into, uint64_t bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	size_t unit = 0;
	uint64_t tenths = bytes > UINT64_MAX / 10 ? UINT64_MAX : bytes * 10;

	while (tenths >= 10000 && unit + 1 < BAWN_ARRAY_SIZE(units)) {
		tenths /= 1000;
		unit++;
	}
	if (unit == 0)
		buf_putf(into, "%" PRIu64 " B", bytes);
	else
		buf_putf(into, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, units[unit]);
}

void room_put(struct buf *into, const struct room *room)
{
	if (room->more)
		buf_put_str(into, "more than ");
	room_put_size(into, room->all);
	buf_put_str(into, ": records ");
	room_put_size(into, room->records);
	buf_put_str(into, ", layers and homes ");
	room_put_size(into, room->workspaces);
	if (room->systems > 0) {
		buf_put_str(into, ", systems ");
		room_put_size(into, room->systems);
	}
}

void room_json(struct json *j, const struct room *room)
{
	json_open(j, '{');
	json_key_u64(j, "all", room->all);
	json_key_u64(j, "records", room->records);
	json_key_u64(j, "workspaces", room->workspaces);
	json_key_u64(j, "systems", room->systems);
	json_key_bool(j, "more", room->more);
	json_close(j, '}');
}
