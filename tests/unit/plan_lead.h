/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of processes that are handed a plan: one in a memfd that cannot change. */
#ifndef BAWN_TEST_PLAN_LEAD_H
#define BAWN_TEST_PLAN_LEAD_H

#include "fd.h"
#include "plan.h"

#include <fcntl.h>
#include <sys/mman.h>

static inline int plan_sealed(const struct plan *p)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(PLAN_BYTES_MAX);
	int fd = memfd_create("plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(plan_encode(p, &bytes), 0);
	assert_int_equal(fd_write_all(fd, bytes.ptr, bytes.len), 0);
	assert_int_equal(
		fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE),
		0);
	return fd;
}

#endif
