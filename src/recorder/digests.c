/* SPDX-License-Identifier: Apache-2.0 */
#include "digests.h"

#include "clock.h"
#include "fd.h"
#include "fnv.h"
#include "open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint64_t digests_check(const struct digests_entry *entry)
{
	return fnv64_bytes(FNV64_START, entry, offsetof(struct digests_entry, check));
}

/* Reads entries up to the first one whose check is wrong. */
static void digests_load(struct digests *d, size_t count)
{
	size_t size = count * sizeof(*d->entries);

	d->entries = count ? malloc(size) : NULL;
	d->taken = count ? calloc(count, sizeof(*d->taken)) : NULL;
	if (!d->entries || !d->taken || pread(d->fd, d->entries, size, 0) != (ssize_t)size)
		return;
	while (d->count < count &&
	       d->entries[d->count].check == digests_check(&d->entries[d->count]))
		d->count++;
}

void digests_open(struct digests *d, int dir)
{
	struct stat st;

	*d = DIGESTS_INIT;
	d->fd = open_file(dir, "digests", O_RDWR | O_APPEND | O_CREAT, 0600);
	if (d->fd < 0 || fstat(d->fd, &st) < 0)
		return;
	size_t count = (size_t)st.st_size / sizeof(*d->entries);

	if (count <= DIGESTS_MAX)
		digests_load(d, count);
	/* Too many entries, or a damaged end: cut it off. */
	if ((d->count * sizeof(*d->entries) != (size_t)st.st_size || count > DIGESTS_MAX) &&
	    ftruncate(d->fd, (off_t)(d->count * sizeof(*d->entries))) < 0)
		fd_close(&d->fd);
}

void digests_close(struct digests *d)
{
	free(d->entries);
	free(d->taken);
	fd_close(&d->fd);
	*d = DIGESTS_INIT;
}

int digests_take(struct digests *d, const struct digests_key *key, struct hash *ret)
{
	for (size_t i = d->count; i > 0; i--) {
		if (!digests_is(&d->entries[i - 1].key, key))
			continue;
		if (d->taken[i - 1])
			return 0;
		d->taken[i - 1] = true;
		*ret = d->entries[i - 1].digest;
		return 1;
	}
	return -ENOENT;
}

void digests_add(struct digests *d, const struct digests_key *key, const struct hash *digest)
{
	struct digests_entry entry = {.key = *key, .digest = *digest};

	if (d->fd < 0 || key->ctime / CLOCK_SECOND + DIGESTS_AGE_S > clock_s(CLOCK_REALTIME))
		return;
	entry.check = digests_check(&entry);
	/* One write: so the entries of two sessions do not mix. */
	if (write(d->fd, &entry, sizeof(entry)) != (ssize_t)sizeof(entry))
		fd_close(&d->fd);
}
