/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what a system is: what is read can be written, and is then read as the same. */
#include "../lib/cut.h"
#include "systems.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)2 * SYSTEMS_ABOUT_MAX);
	struct system_about about;
	struct system_about again;

	if (systems_parse((struct span){data, size}, &about) < 0)
		return 0;
	CUT_MUST(layers_is_name(about.name));
	systems_print(&text, &about);
	CUT_MUST(buf_error(&text) == 0);
	CUT_MUST(systems_parse(buf_span(&text), &again) == 0);
	CUT_MUST(memcmp(&about, &again, sizeof(about)) == 0);
	return 0;
}
