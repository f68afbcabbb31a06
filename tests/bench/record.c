/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the record costs: events written with chain, tree and seals, and the same read back
 * by verify.  Processor time, so that others on the machine do not count.
 *
 *	record [EVENTS]
 */
#include "seal.h"
#include "verify.h"
#include "writer.h"

#include "fd.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int write_all(int fd, unsigned long events)
{
	static const char path[] = "/home/someone/src/project/node_modules/some-package/lib/a.js";
	struct hash key = {{7}};
	struct writer w;
	int r = 0;

	writer_init(&w, fd, &key);
	struct buf *first = writer_begin(&w, "session");

	frame_put_bytes(first, "op", SPAN_LITERAL("begin"));
	frame_put_u64(first, "number", 0);
	r = writer_end(&w);
	for (unsigned long i = 0; r == 0 && i < events; i++) {
		struct buf *event = writer_begin(&w, "file");

		frame_put_bytes(event, "known", SPAN_LITERAL("kernel"));
		frame_put_u64(event, "actor", i / 50);
		frame_put_u64(event, "pid", 1000 + i % 7);
		frame_put_bytes(event, "op", SPAN_LITERAL("write"));
		frame_put_bytes(event, "path", SPAN_LITERAL(path));
		frame_put_bytes(event, "verdict", SPAN_LITERAL("allow"));
		r = writer_end(&w);
	}
	frame_put_bytes(writer_begin(&w, "session"), "op", SPAN_LITERAL("end"));
	if (r == 0)
		r = writer_end(&w);
	if (r == 0)
		r = writer_commit(&w);
	writer_fini(&w);
	return r;
}

int main(int argc, char **argv)
{
	unsigned long events = argc > 1 ? strtoul(argv[1], NULL, 10) : 200000;
	struct hash key = {{7}};
	struct verify_result result;
	struct stat st;
	int fd = memfd_create("record", MFD_CLOEXEC);

	if (fd < 0)
		return 1;
	double start = now();

	if (write_all(fd, events) < 0 || fstat(fd, &st) < 0)
		return 1;
	double written = now();
	uint8_t *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (bytes == MAP_FAILED)
		return 1;
	/* Once unmeasured: the pages of the mapping are made. */
	verify_frames((struct span){bytes, (size_t)st.st_size}, &key, &result);
	double again = now();

	verify_frames((struct span){bytes, (size_t)st.st_size}, &key, &result);
	double verified = now();

	(void)printf("written   %8.0f events/s, %.0f bytes each\n",
		     (double)events / (written - start), (double)st.st_size / (double)events);
	(void)printf("verified  %8.0f MB/s, %s\n", (double)st.st_size / 1e6 / (verified - again),
		     result.state == VERIFY_WHOLE ? "whole" : "NOT WHOLE");
	return result.state == VERIFY_WHOLE ? 0 : 1;
}
