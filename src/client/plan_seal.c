/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_seal.h"

#include "fd.h"

#include <fcntl.h>
#include <sys/mman.h>

int plan_seal(const struct plan *plan, struct error *e)
{
	_cleanup_buf_ struct buf b = BUF_INIT(PLAN_BYTES_MAX);
	int r = plan_encode(plan, &b);
	_cleanup_fd_ int fd = memfd_create("bawn-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (r == 0 && fd < 0)
		r = -errno;
	if (r == 0)
		r = fd_write_all(fd, b.ptr, b.len);
	if (r == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		r = -errno;
	return r < 0 ? error_sys(e, r, "sealing the plan") : TAKE_FD(fd);
}
