/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the box sees of the system: all of its program directories, and of /etc the few things
 * without which ordinary programs fail or look foreign.
 *
 * Each entry of /etc that is no link costs a mount at every start, so what programs do not need is
 * not here.  Never here: anything that names other users or hosts, keys (ssl/private), or
 * configuration that often has a password (npmrc, pip.conf, apt/auth.conf, wgetrc).
 */
#include "host_parts.h"

#include "dir.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>

static const char *const host_system_dirs[] = {
	"/usr",    "/bin", "/sbin", "/lib", "/lib32", "/lib64",
	"/libx32", "/opt", "/nix",  "/gnu", "/snap",
};

static const char *const host_etc_names[] = {
	/* finding programs and libraries */
	"alternatives",
	"ld.so.cache",
	"ld.so.conf",
	"ld.so.conf.d",
	/* the authorities that TLS trusts; never the private keys beside them */
	"ssl/certs",
	"ssl/cert.pem",
	"ssl/openssl.cnf",
	"ca-certificates/extracted",
	"crypto-policies",
	"pki/ca-trust",
	"pki/java",
	"pki/tls/certs",
	"pki/tls/cert.pem",
	"pki/tls/openssl.cnf",
	/* what this system is, and its time zone */
	"os-release",
	"lsb-release",
	"localtime",
	"timezone",
	/* shells */
	"bash.bashrc",
	"bashrc",
	"inputrc",
	"profile",
	"profile.d",
	"zsh",
	"zshrc",
	/* how names are looked up: every program that does reads these */
	"gai.conf",
	"host.conf",
	/* names for numbers */
	"mime.types",
	"protocols",
	"services",
	/* single tools that stop or complain without these */
	"chromium.d",
	"fonts",
	"gitconfig",
	"groff",
	"java",
	"manpath.config",
	"maven",
	"nanorc",
	"vim",
	"xml",
};

enum { HOST_JVM_MAX = 64 };

/* A link into something that the box sees anyway stays a link, which costs no mount. */
static bool host_link_holds(const char *text)
{
	static const char *const into[] = {
		"/usr/", "../usr/", "/nix/", "/gnu/", "/etc/alternatives/", "usr/"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(into); i++)
		if (str_after(text, into[i]))
			return true;
	return false;
}

static int host_add_system(struct host_list *list, const char *path, struct arena *arena)
{
	const char *name = arena_str(arena, path);
	struct host_object object = {.name = name, .path = name};
	struct stat st;

	if (!name)
		return -ENOMEM;
	/* One call is enough for most.  We leave out the identity: only root can change these. */
	if (lstat(path, &st) < 0)
		return 0;
	object.is_dir = S_ISDIR(st.st_mode);
	object.is_file = S_ISREG(st.st_mode);
	if (S_ISLNK(st.st_mode)) {
		object.link = host_link_text(path, arena);
		if (!object.link)
			return 0;
	}
	/* If it leads elsewhere, or a folder on the way may be a link, we look closer. */
	if (object.link ? !host_link_holds(object.link) : strrchr(path, '/') - path > 4) {
		int r = host_look(path, arena, &object);

		if (r < 0)
			return r == -ENOMEM ? r : 0;
		object.link = NULL;
		object.dev = object.ino = 0;
	}
	object.origin = "default";
	return host_list_add(list, arena, &object);
}

/* Debian keeps the settings of each Java in /etc/java-VERSION-openjdk. */
static int host_find_java(struct host *h, struct arena *arena)
{
	_cleanup_dir_ DIR *dir = dir_open(AT_FDCWD, "/usr/lib/jvm", NULL);
	const struct dirent *entry;
	int r = 0;

	for (int i = 0; r == 0 && i < HOST_JVM_MAX && (entry = dir_next(dir, NULL)); i++) {
		const char *end = strstr(entry->d_name, "-openjdk-");
		if (!end || !str_after(entry->d_name, "java-"))
			continue;
		const char *path = arena_printf(arena, "/etc/%.*s-openjdk",
						(int)(end - entry->d_name), entry->d_name);
		bool known = false;
		for (size_t n = 0; path && n < h->etc.count; n++)
			known = known || str_equal(h->etc.items[n].name, path);
		if (!known)
			r = path ? host_add_system(&h->etc, path, arena) : -ENOMEM;
	}
	return r;
}

int host_find_system(struct host *h, struct arena *arena)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(host_system_dirs); i++)
		r = host_add_system(&h->programs, host_system_dirs[i], arena);
	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(host_etc_names); i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "/etc/%s", host_etc_names[i]);
		r = host_add_system(&h->etc, path, arena);
	}
	/* openSUSE keeps the trusted certificates here and links to them. */
	if (r == 0)
		r = host_add_system(&h->etc, "/var/lib/ca-certificates", arena);
	return r < 0 ? r : host_find_java(h, arena);
}
