/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest.h"

#include "clock.h"
#include "dir.h"
#include "fd.h"
#include "open.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *const manifest_reason_words[MANIFEST_REASON_COUNT] = {
	[MANIFEST_DENIED] = "may not be read",
	[MANIFEST_VANISHED] = "changed while it was looked at",
	[MANIFEST_MOUNT] = "has another filesystem mounted on it",
	[MANIFEST_DEEP] = "is too deep",
	[MANIFEST_FULL] = "has more than can be compared",
	[MANIFEST_FAILED] = "could not be read",
};

enum {
	MANIFEST_HEAD_SIZE = 4096,
	MANIFEST_DENTS = 64 << 10,
};

static const size_t manifest_entries_size =
	(size_t)MANIFEST_ENTRIES_MAX * sizeof(struct manifest_entry);

int manifest_init(struct manifest *m, int root, int64_t since)
{
	size_t size = MANIFEST_HEAD_SIZE + manifest_entries_size + MANIFEST_NAMES_MAX;
	struct statx st;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	memset(m, 0, sizeof(*m));
	if (memory == MAP_FAILED)
		return -errno;
	if (statx(root, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) < 0) {
		int code = -errno;

		(void)munmap(memory, size);
		return code;
	}
	m->head = (struct manifest_head *)(void *)memory;
	m->entries = (struct manifest_entry *)(void *)(memory + MANIFEST_HEAD_SIZE);
	m->names = memory + MANIFEST_HEAD_SIZE + manifest_entries_size;
	m->root = root;
	m->since = since;
	m->entries[0] = (struct manifest_entry){.inode = st.stx_ino,
						.mode = st.stx_mode,
						.mtime = CLOCK_NS(st.stx_mtime),
						.ctime = CLOCK_NS(st.stx_ctime)};
	m->head->names = 1;
	m->head->count = 1;
	return 0;
}

void manifest_freeze(struct manifest *m)
{
	/* In this order: all names of the directories before `next` are counted, and what is
	 * counted was written. */
	uint32_t next = __atomic_load_n(&m->head->next, __ATOMIC_ACQUIRE);
	uint32_t count = __atomic_load_n(&m->head->count, __ATOMIC_ACQUIRE);

	m->frozen = *m->head;
	m->frozen.next = next;
	m->frozen.count = count;
	m->shared = m->head;
	m->head = &m->frozen;
}

void manifest_fini(struct manifest *m)
{
	struct manifest_head *memory = m->shared ? m->shared : m->head;

	if (memory)
		(void)munmap(memory,
			     MANIFEST_HEAD_SIZE + manifest_entries_size + MANIFEST_NAMES_MAX);
	memset(m, 0, sizeof(*m));
}

struct span manifest_link(const struct manifest *m, const struct manifest_entry *e)
{
	if (!S_ISLNK(e->mode))
		return (struct span){NULL, 0};
	return (struct span){(const uint8_t *)m->names + e->name + e->name_len + 1, e->size};
}

/* --- paths ---------------------------------------------------------------------------- */

/* The entries from the tree down to this one, itself last: how many; -1: more than `most`. */
static int manifest_chain(const struct manifest *m, uint32_t index, int most, uint32_t *ret)
{
	int depth = 0;

	for (uint32_t i = index; i != 0; i = m->entries[i].parent)
		if (depth++ == most)
			return -1;
	for (int at = depth; at > 0; index = m->entries[index].parent)
		ret[--at] = index;
	return depth;
}

void manifest_path(const struct manifest *m, uint32_t index, struct buf *into)
{
	/* One more: the deepest directory that we open has names in it. */
	uint32_t chain[MANIFEST_DEPTH_MAX + 1];
	int depth = manifest_chain(m, index, MANIFEST_DEPTH_MAX + 1, chain);

	for (int i = 0; i < depth; i++) {
		const struct manifest_entry *e = &m->entries[chain[i]];

		if (i > 0)
			buf_put_char(into, '/');
		buf_put(into, m->names + e->name, e->name_len);
	}
}

/* --- one directory -------------------------------------------------------------------- */

/* Opens the directory again, by its names: the descriptor, or -errno. */
static int manifest_open(const struct manifest *m, uint32_t index)
{
	static char path[MANIFEST_PATH_MAX];
	uint32_t chain[MANIFEST_DEPTH_MAX];
	int depth = manifest_chain(m, index, MANIFEST_DEPTH_MAX, chain);
	size_t len = 0;

	if (depth < 0)
		return -ENAMETOOLONG;
	for (int i = 0; i < depth; i++) {
		const struct manifest_entry *e = &m->entries[chain[i]];

		if (len > 0)
			path[len++] = '/';
		memcpy(path + len, m->names + e->name, e->name_len);
		len += e->name_len;
	}
	path[len] = '\0';
	return open_deep(m->root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
}

static bool manifest_has_room(const struct manifest *m, size_t bytes)
{
	return m->head->count < MANIFEST_ENTRIES_MAX &&
	       bytes <= MANIFEST_NAMES_MAX - m->head->names;
}

/* Writes the text of a link after its name; its length may have changed since. */
static void manifest_take_link(struct manifest *m, int dir, struct manifest_entry *e)
{
	char *text = m->names + m->head->names;
	size_t room = MANIFEST_NAMES_MAX - m->head->names - 1;
	ssize_t n = readlinkat(dir, m->names + e->name, text, room < 4096 ? room : 4096);

	e->size = n > 0 ? (uint64_t)n : 0;
	text[e->size] = 0;
	m->head->names += (uint32_t)e->size + 1;
}

/* Adds one name of a directory.  False: there is no room. */
static bool manifest_take(struct manifest *m, int dir, uint32_t parent, const char *name)
{
	struct statx st;
	size_t len = strlen(name);

	if (!manifest_has_room(m, len + 1 + 4096 + 1)) {
		m->head->entries_left_out++;
		return false;
	}
	/* It is gone already, or we may not look at it: leave it out. */
	if (statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		  STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
		return true;
	struct manifest_entry *e = &m->entries[m->head->count];
	uint8_t flags = 0;

	if (st.stx_mask & STATX_BTIME && CLOCK_NS(st.stx_btime) > m->since)
		flags |= MANIFEST_BORN;
	if (S_ISDIR(st.stx_mode) && st.stx_attributes & STATX_ATTR_MOUNT_ROOT)
		flags |= MANIFEST_OTHER;
	*e = (struct manifest_entry){
		.inode = st.stx_ino,
		.size = st.stx_size,
		.mtime = CLOCK_NS(st.stx_mtime),
		.ctime = CLOCK_NS(st.stx_ctime),
		.parent = parent,
		.name = m->head->names,
		.mode = st.stx_mode,
		.uid = st.stx_uid,
		.gid = st.stx_gid,
		.name_len = (uint16_t)len,
		.flags = flags,
		.links = st.stx_nlink > 1 ? 2 : 1,
	};
	memcpy(m->names + e->name, name, len + 1);
	m->head->names += (uint32_t)len + 1;
	if (S_ISLNK(st.stx_mode))
		manifest_take_link(m, dir, e);
	__atomic_store_n(&m->head->count, m->head->count + 1, __ATOMIC_RELEASE);
	return true;
}

/* Adds all names: 0, or -errno; the names that were added stay. */
static int manifest_take_names(struct manifest *m, int dir, uint32_t parent)
{
	static _Alignas(uint64_t) char bytes[MANIFEST_DENTS];

	for (;;) {
		long n = syscall(SYS_getdents64, dir, bytes, sizeof(bytes));

		if (n <= 0)
			return n == 0 ? 0 : -EIO;
		for (long at = 0; at < n;) {
			const struct dirent64 *d = (const struct dirent64 *)(void *)(bytes + at);

			at += d->d_reclen;
			if (!dir_is_dots(d->d_name) && !manifest_take(m, dir, parent, d->d_name))
				return -ENOSPC;
		}
	}
}

static enum manifest_reason manifest_reason_of(int code)
{
	switch (code) {
	case -EACCES:
	case -EPERM:
		return MANIFEST_DENIED;
	case -ENAMETOOLONG:
		return MANIFEST_DEEP;
	case -ENOSPC:
		return MANIFEST_FULL;
	case -ENOENT:
	case -ENOTDIR:
	case -ELOOP:
	case -ESTALE:
	case -EAGAIN:
	case -EXDEV:
		return MANIFEST_VANISHED;
	default:
		return MANIFEST_FAILED;
	}
}

static int manifest_read_directory(struct manifest *m, uint32_t index)
{
	_cleanup_fd_ int dir = manifest_open(m, index);
	struct stat st;

	if (dir < 0)
		return dir;
	if (fstat(dir, &st) < 0 || st.st_ino != m->entries[index].inode)
		return -ESTALE;
	int r = manifest_take_names(m, dir, index);

	if (r < 0)
		return r;
	/* We look afterwards, so that a change during the reading counts. */
	if (fstat(dir, &st) < 0)
		return -errno;
	if (CLOCK_NS(st.st_mtim) > m->since)
		m->entries[index].flags |= MANIFEST_LATE;
	m->entries[index].flags |= MANIFEST_READ;
	return 0;
}

bool manifest_is_known(const struct manifest *m, uint32_t index)
{
	unsigned int flags = m->entries[index].flags;

	return index < m->head->next && flags & MANIFEST_READ && !(flags & MANIFEST_LATE);
}

bool manifest_step(struct manifest *m)
{
	while (m->head->next < m->head->count && !S_ISDIR(m->entries[m->head->next].mode))
		m->head->next++;
	if (m->head->next == m->head->count) {
		m->head->done = true;
		return false;
	}
	uint32_t index = m->head->next;

	if (m->entries[index].flags & MANIFEST_OTHER) {
		m->head->unread[MANIFEST_MOUNT]++;
	} else {
		int r = manifest_read_directory(m, index);

		if (r < 0)
			m->head->unread[manifest_reason_of(r)]++;
	}
	__atomic_store_n(&m->head->next, index + 1, __ATOMIC_RELEASE);
	return true;
}
