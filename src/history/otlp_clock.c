/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_clock.h"

#include "clock.h"

#include <limits.h>
#include <poll.h>
#include <time.h>

int64_t otlp_clock_now(void)
{
	return clock_ms(CLOCK_BOOTTIME);
}

int otlp_clock_wait(struct otlp_clock *c, int fd, short events, int64_t deadline)
{
	for (;;) {
		int64_t now = otlp_clock_now();
		bool last = c->ends != 0 && c->ends < deadline;
		int64_t left = (last ? c->ends : deadline) - now;
		struct pollfd fds[2] = {{.fd = fd, .events = events},
					{.fd = c->ends ? -1 : c->owner, .events = POLLIN}};

		if (left <= 0)
			return last ? -ECANCELED : -ETIMEDOUT;
		int n = poll(fds, 2, left < INT_MAX ? (int)left : INT_MAX);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n <= 0)
			continue;
		if (fds[1].revents) {
			c->ends = otlp_clock_now() + OTLP_LAST_MS;
			if (fd < 0)
				return 0;
		}
		if (fds[0].revents)
			return 1;
	}
}
