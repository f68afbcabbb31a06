/* SPDX-License-Identifier: Apache-2.0 */
#include "system_make.h"

#include "fd.h"
#include "str.h"
#include "system_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The devices and /proc that maintainer scripts expect.  mmdebstrap would mount its own, but for
 * that one id is not enough.  These mounts end with the namespace. */
#define SYSTEM_MAKE_HOOK                                     \
	"--extract-hook=mkdir -p \"$1/dev\" \"$1/proc\" && " \
	"mount --rbind /proc \"$1/proc\" && "                \
	"for d in null zero full random urandom tty; do "    \
	": >\"$1/dev/$d\" && mount --bind \"/dev/$d\" \"$1/dev/$d\" || exit 1; done"

struct system_source system_source_parse(const char *text)
{
	const char *rest = NULL;

	if (str_equal(text, "debian"))
		return (struct system_source){SYSTEM_DEBIAN, ""};
	if ((rest = str_after(text, "debian:")))
		return (struct system_source){SYSTEM_DEBIAN, rest};
	if ((rest = str_after(text, "oci:")))
		return (struct system_source){SYSTEM_OCI, rest};
	if (str_after(text, "docker://"))
		return (struct system_source){SYSTEM_DOCKER, text};
	return (struct system_source){SYSTEM_PATH, text};
}

/* --- the kinds of sources ------------------------------------------------------------- */

/* VERSION_CODENAME of this machine if it is a Debian, else "stable". */
static void system_suite(char *into, size_t size)
{
	_cleanup_buf_ struct buf text = BUF_INIT(16 << 10);
	const char *key = "\nVERSION_CODENAME=";
	const char *found = NULL;

	(void)snprintf(into, size, "stable");
	if (fd_read_file_at(AT_FDCWD, "/etc/os-release", &text) == 0 &&
	    (strstr(buf_str(&text), "\nID=debian\n") || str_after(buf_str(&text), "ID=debian\n")))
		found = strstr(buf_str(&text), key);
	if (!found)
		return;
	found += strlen(key);
	size_t len = strspn(found, "abcdefghijklmnopqrstuvwxyz");

	if (len > 0 && len < size)
		(void)snprintf(into, size, "%.*s", (int)len, found);
}

const char *system_source_spell(const char *source, char ret[SYSTEM_SOURCE_MAX])
{
	char suite[64];

	if (!str_equal(source, "debian"))
		return source;
	system_suite(suite, sizeof(suite));
	(void)snprintf(ret, SYSTEM_SOURCE_MAX, "debian:%s", suite);
	return ret;
}

int system_source_of_name(const char *name, char ret_source[SYSTEM_SOURCE_MAX])
{
	static const char *const suites[] = {"bullseye",  "bookworm",     "trixie",  "forky",
					     "duke",      "sid",          "stable",  "testing",
					     "oldstable", "oldoldstable", "unstable"};

	if (str_equal(name, "debian")) {
		(void)system_source_spell(name, ret_source);
		return 0;
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(suites); i++)
		if (str_equal(name, suites[i])) {
			(void)snprintf(ret_source, SYSTEM_SOURCE_MAX, "debian:%s", name);
			return 0;
		}
	return -EINVAL;
}

static int system_make_debian(const struct system_new *n, const char *root, const char *what,
			      const struct system_how *how, struct error *e)
{
	struct system_run run = {.made = n, .watch = how->watch, .as_root = true};
	bool line = str_after(what, "deb ") != NULL;
	char suite[64];

	system_suite(suite, sizeof(suite));
	system_run_word(&run, "mmdebstrap");
	system_run_word(&run, "--mode=root"); /* root of the namespace in which it starts */
	system_run_word(&run, "--variant=apt");
	system_run_word(&run, "--format=directory");
	system_run_word(&run, "--skip=chroot/mount");
	system_run_word(&run, "--aptopt=APT::Sandbox::User \"root\"");
	if (how->quiet)
		system_run_word(&run, "--quiet");
	system_run_word(&run, SYSTEM_MAKE_HOOK);
	system_run_word(&run, "--");
	system_run_word(&run, *what && !line ? what : suite);
	system_run_word(&run, root);
	if (line)
		system_run_word(&run, what);
	return system_run(&run, e);
}

/* Unpacks into a folder within a folder: a layer can ask to remove what is above its root, and
 * umoci 0.4.7 does that. */
static int system_unpack(const struct system_new *n, const char *image,
			 const struct system_how *how, struct error *e)
{
	struct system_run run = {.made = n, .watch = how->watch, .as_root = true};
	char rootfs[PATH_MAX + 16];

	(void)snprintf(rootfs, sizeof(rootfs), "%s/unpacked/root", n->path);
	if (mkdirat(n->dir, "unpacked", 0700) < 0)
		return error_sys(e, -errno, "cannot make %s/unpacked", n->path);
	system_run_word(&run, "umoci");
	if (how->quiet)
		system_run_word(&run, "--log=error");
	system_run_word(&run, "raw"); /* without its list of all files, which nobody needs */
	system_run_word(&run, "unpack");
	system_run_word(&run, "--rootless"); /* no id but ours */
	system_run_word(&run, "--image");
	system_run_word(&run, image);
	system_run_word(&run, rootfs);
	int r = system_run(&run, e);

	if (r < 0)
		return r;
	if (unlinkat(n->dir, "root", AT_REMOVEDIR) < 0 ||
	    renameat(n->dir, "unpacked/root", n->dir, "root") < 0)
		return error_sys(e, -errno, "cannot take %s", rootfs);
	return 0;
}

static int system_make_oci(const struct system_new *n, const char *what,
			   const struct system_how *how, struct error *e)
{
	char image[PATH_MAX + 16];
	char folder[PATH_MAX];
	const char *colon = strrchr(what, ':');
	bool tag = colon && !strchr(colon, '/');
	size_t len = tag ? (size_t)(colon - what) : strlen(what);
	struct stat st;

	if (len == 0 || len >= sizeof(folder))
		return error_set(e, -EINVAL, "oci: names a folder, and a tag: oci:DIR[:TAG]");
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)len, what);
	if (stat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
		return error_sys(e, -ENOTDIR, "cannot read the image in %s", folder);
	(void)snprintf(image, sizeof(image), "%s:%s", folder, tag ? colon + 1 : "latest");
	return system_unpack(n, image, how, e);
}

static int system_make_docker(const struct system_new *n, const char *what,
			      const struct system_how *how, struct error *e)
{
	struct system_run run = {.made = n, .watch = how->watch};
	char image[PATH_MAX + 32];
	char place[PATH_MAX + 64];

	(void)snprintf(image, sizeof(image), "%s/image:latest", n->path);
	(void)snprintf(place, sizeof(place), "oci:%s", image);
	system_run_word(&run, "skopeo");
	system_run_word(&run, "copy");
	if (how->quiet)
		system_run_word(&run, "--quiet");
	system_run_word(&run, what);
	system_run_word(&run, place);
	int r = system_run(&run, e);

	return r < 0 ? r : system_unpack(n, image, how, e);
}

static int system_make_path(const struct system_new *n, const char *root, const char *path,
			    const struct system_how *how, struct error *e)
{
	struct system_run run = {.made = n, .watch = how->watch, .as_root = true};
	char real[PATH_MAX];
	char all[PATH_MAX + 2];
	struct stat st;

	/* Make the path absolute, so that it cannot be an option. */
	if (!realpath(path, real) || stat(real, &st) < 0) {
		int code = error_sys(e, -errno, "cannot make a system from '%s'", path);

		error_next(e, "--from takes debian, debian:SUITE, oci:DIR[:TAG], docker://NAME, a "
			      "folder or a tar archive.");
		return code;
	}
	if (S_ISDIR(st.st_mode)) {
		(void)snprintf(all, sizeof(all), "%s/.", real);
		system_run_word(&run, "cp");
		system_run_word(&run, "--archive");
		system_run_word(&run, "--reflink=auto");
		system_run_word(&run, all);
		system_run_word(&run, root);
	} else if (S_ISREG(st.st_mode)) {
		system_run_word(&run, "tar");
		system_run_word(&run, "--extract");
		system_run_word(&run, "--preserve-permissions");
		system_run_word(&run, "--exclude=./dev/*"); /* the box has its own devices */
		system_run_word(&run, "--exclude=dev/*");
		system_run_word(&run, "--directory");
		system_run_word(&run, root);
		system_run_word(&run, "--file");
		system_run_word(&run, real);
	} else {
		return error_set(e, -EINVAL, "%s is neither a folder nor an archive", path);
	}
	return system_run(&run, e);
}

int system_make(const struct system_new *n, const char *source, const struct system_how *how,
		struct error *e)
{
	struct system_source s = system_source_parse(source);
	char root[PATH_MAX + 8];

	(void)snprintf(root, sizeof(root), "%s/root", n->path);
	switch (s.kind) {
	case SYSTEM_DEBIAN:
		return system_make_debian(n, root, s.what, how, e);
	case SYSTEM_OCI:
		return system_make_oci(n, s.what, how, e);
	case SYSTEM_DOCKER:
		return system_make_docker(n, s.what, how, e);
	case SYSTEM_PATH:
		return system_make_path(n, root, s.what, how, e);
	}
	return -EINVAL;
}
