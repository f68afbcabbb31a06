/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_confine.h"

#include "fd.h"
#include "landlock.h"
#include "process.h"
#include "profile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int confine_grant(int ruleset, int abi, const char *path)
{
	_cleanup_fd_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	/* What is not there need not be allowed. */
	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	return landlock_grant(ruleset, abi, fd, S_ISDIR(st.st_mode), LANDLOCK_GRANT_READ);
}

static int confine_files(int sent, int records, const char *certificate)
{
	static const char *const readable[] = {"/etc", "/usr", "/lib", "/lib64", "/run",
					       "/var", "/opt", "/nix", "/proc",  "/dev"};
	int abi = landlock_abi();

	if (abi < 0)
		return 0;
	_cleanup_fd_ int ruleset = landlock_new(abi, false);
	int r = ruleset < 0 ? ruleset : 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(readable); i++)
		r = confine_grant(ruleset, abi, readable[i]);
	if (r == 0 && certificate)
		r = confine_grant(ruleset, abi, certificate);
	if (r == 0)
		r = landlock_grant(ruleset, abi, records, true, LANDLOCK_GRANT_READ);
	if (r == 0)
		r = landlock_grant(ruleset, abi, sent, true, LANDLOCK_GRANT_WRITE);
	return r < 0 ? r : landlock_restrict(ruleset);
}

int otlp_confine(int sent, int records, const char *certificate)
{
	int r = process_no_new_privs();

	if (r == 0)
		r = process_not_dumpable();
	if (r == 0)
		r = confine_files(sent, records, certificate);
	if (r == 0)
		r = process_filter(profile_bpf(PROFILE_SENDER));
	/* On a kernel without filters there is no session to send the record of, unless that was
	 * asked for by name. */
	return r == -ENOSYS || r == -EINVAL ? 0 : r;
}
