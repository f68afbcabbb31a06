/* SPDX-License-Identifier: Apache-2.0 */
/* What a box writes to its terminal, as bawn-screen reads it: any bytes, any cuts, any sizes. */
#include "screen.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf b = BUF_INIT(SCREEN_PICTURE_MAX);
	char answers[256];

	if (size < 4)
		return 0;
	struct screen *s = screen_new(data[0] % 64, data[1] % 128);

	if (!s)
		return 0;
	size_t cut = 4 + data[2] % (size - 3);

	screen_feed(s, (struct span){data + 4, cut - 4});
	screen_resize(s, data[3] % 64, data[0] % 128);
	screen_feed(s, (struct span){data + cut, size - cut});
	(void)screen_take_answers(s, answers, sizeof(answers));
	screen_paint(s, &b);
	/* A picture is never cut. */
	if (buf_error(&b))
		abort();
	screen_free(s);
	return 0;
}
