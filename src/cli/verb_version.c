/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn version`, `bawn --version`. */
#include "config.h"
#include "help.h"
#include "json.h"

int verb_version(const struct invocation *i)
{
	_cleanup_buf_ struct buf b = BUF_INIT(HELP_BYTES_MAX);

	if (invocation_has(i, OPTION_JSON)) {
		struct json j = JSON_INIT(&b, true);

		json_open(&j, '{');
		json_key_str(&j, "version", BAWN_VERSION);
		json_close(&j, '}');
	} else {
		buf_put_str(&b, "bawn " BAWN_VERSION "\n");
	}
	return help_print(&b);
}
