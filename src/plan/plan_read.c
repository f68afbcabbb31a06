/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_read.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

int plan_map(int fd, struct span *ret_bytes, struct error *e)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct stat st;
	int have = fcntl(fd, F_GET_SEALS);

	/* All four, or it is not a plan. */
	if (fstat(fd, &st) < 0 || have < 0 || (have & seals) != seals)
		return error_set(e, -EPERM, "the plan is not sealed");
	if (st.st_size <= 0 || st.st_size > PLAN_BYTES_MAX)
		return error_set(e, -EFBIG, "the plan has an impossible size");
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (bytes == MAP_FAILED)
		return error_sys(e, -errno, "reading the plan");
	*ret_bytes = (struct span){bytes, (size_t)st.st_size};
	return 0;
}

int plan_read(int fd, const struct plan **ret_plan, struct arena *arena, struct error *e)
{
	struct span bytes = {NULL, 0};
	int r = plan_map(fd, &bytes, e);

	return r < 0 ? r : plan_decode(bytes, ret_plan, arena, e);
}
