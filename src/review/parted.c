/* SPDX-License-Identifier: Apache-2.0 */
#include "parted.h"

#include "fd.h"
#include "folder_notes.h"
#include "open.h"
#include "str.h"
#include "text.h"

#include <fcntl.h>
#include <unistd.h>

void parted_note(const struct review *r, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct error e = ERROR_INIT;
	char folder[PATH_MAX];

	if (!str_equal(name, ".git") && !str_equal(name, ".bawn.yaml"))
		return;
	int n = snprintf(folder, sizeof(folder), "%s/%.*s", r->layers.workspace,
			 slash ? (int)(slash - path) : 0, path);

	if (n < 0 || (size_t)n >= sizeof(folder))
		return;
	if (!slash)
		folder[n - 1] = '\0';
	/* It went with the folder, or something else stands there. */
	_cleanup_fd_ int there = open_no_links(folder, O_PATH | O_DIRECTORY);

	if (there < 0 || folder_note_add(r->host.state_dir, folder, FOLDER_OWN, &e) == 0)
		return;
	struct text err = text_open(STDERR_FILENO);

	text_printf(&err, "bawn: %s\n", e.text);
}
