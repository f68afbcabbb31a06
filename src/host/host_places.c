/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which folders are never a workspace, because the agent could read and write everything in them:
 * the root, the home, folders around the home, places of the system, private places, and bawn's own
 * folders.
 */
#include "host_parts.h"

#include "str.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
	const char *path;
	bool below; /* neither is anything beneath it */
} host_not_workspace[] = {
	{"/", false},
	{"/bin", true},
	{"/boot", true},
	{"/dev", true},
	{"/etc", true},
	{"/gnu", true},
	{"/home", false},
	{"/lib", true},
	{"/lib32", true},
	{"/lib64", true},
	{"/libx32", true},
	{"/lost+found", true},
	{"/media", false},
	{"/mnt", false},
	{"/nix", true},
	{"/opt", false},
	{"/proc", true},
	{"/root", false},
	{"/run", false},
	{"/run/user", false},
	{"/sbin", true},
	{"/snap", true},
	{"/srv", false},
	{"/sys", true},
	{"/tmp", false},
	{"/usr", false},
	{"/usr/bin", true},
	{"/usr/games", true},
	{"/usr/include", true},
	{"/usr/lib", true},
	{"/usr/lib32", true},
	{"/usr/lib64", true},
	{"/usr/libexec", true},
	{"/usr/libx32", true},
	{"/usr/local", false},
	{"/usr/local/bin", true},
	{"/usr/local/etc", true},
	{"/usr/local/include", true},
	{"/usr/local/lib", true},
	{"/usr/local/lib64", true},
	{"/usr/local/libexec", true},
	{"/usr/local/sbin", true},
	{"/usr/local/share", true},
	{"/usr/local/src", false},
	{"/usr/sbin", true},
	{"/usr/share", true},
	{"/usr/src", false},
	{"/var", false},
	{"/var/backups", true},
	{"/var/cache", false},
	{"/var/home", false},
	{"/var/lib", false},
	{"/var/local", false},
	{"/var/log", true},
	{"/var/mail", true},
	{"/var/opt", false},
	{"/var/spool", true},
	{"/var/tmp", false},
	{"/var/www", false},
};

static int host_refuse(struct error *e, const char *path, const char *why)
{
	int r = error_set(e, -EPERM, "%s cannot be the workspace: %s", path, why);

	error_next(e, "Go to the folder of one project, or name it with --workspace DIR.");
	return r;
}

bool host_is_system_place(const char *path)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(host_not_workspace); i++)
		if (host_not_workspace[i].below ? str_path_beneath(path, host_not_workspace[i].path)
						: str_equal(path, host_not_workspace[i].path))
			return true;
	return false;
}

int host_check_workspace(const struct host *h, const char *path, struct error *e)
{
	char runtime[48];

	for (size_t i = 0; i < h->homes.count; i++)
		if (str_equal(path, h->homes.items[i].path))
			return host_refuse(e, path,
					   "it is your home, with everything private in it");
	if (host_holds_home(h, path))
		return host_refuse(e, path, "your home lies in it");
	(void)snprintf(runtime, sizeof(runtime), "/run/user/%" PRIu64, h->uid);
	if (str_equal(path, runtime) ||
	    (!str_path_beneath(path, h->home) && host_is_system_place(path)))
		return host_refuse(e, path, "it is a place of the system");
	if (host_is_private(h, path))
		return host_refuse(e, path, "it is a private place of your home");
	if (host_holds_private(h, path))
		return host_refuse(e, path, "private places of your home lie in it");
	if (str_path_beneath(path, h->state_dir) || str_path_beneath(h->state_dir, path))
		return host_refuse(e, path, "bawn keeps its own state there");
	if (str_path_beneath(path, h->config_dir) || str_path_beneath(h->config_dir, path))
		return host_refuse(e, path, "bawn keeps its configuration there");
	for (size_t i = 0; i < h->guarded.count; i++)
		if (str_path_beneath(path, h->guarded.items[i].path) ||
		    str_path_beneath(h->guarded.items[i].path, path))
			return host_refuse(e, path, "bawn keeps its own files there");
	return 0;
}
