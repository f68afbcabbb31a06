/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_read.h"

#include "fd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PLAN_SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

int plan_seal(const struct plan *plan, struct error *e)
{
	_cleanup_buf_ struct buf b = BUF_INIT(PLAN_BYTES_MAX);
	int r = plan_encode(plan, &b);
	_cleanup_fd_ int fd = memfd_create("bawn-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (r == 0 && fd < 0)
		r = -errno;
	if (r == 0)
		r = fd_write_all(fd, b.ptr, b.len);
	if (r == 0 && fcntl(fd, F_ADD_SEALS, PLAN_SEALS) < 0)
		r = -errno;
	return r < 0 ? error_sys(e, r, "sealing the plan") : TAKE_FD(fd);
}

int plan_map(int fd, struct span *ret_bytes, struct error *e)
{
	struct stat st;
	int have = fcntl(fd, F_GET_SEALS);

	/* All four, or it is not a plan. */
	if (fstat(fd, &st) < 0 || have < 0 || (have & PLAN_SEALS) != PLAN_SEALS)
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
