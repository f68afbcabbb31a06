/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers are laid by every way that a kernel may want, many of them too; and not where they would
 * be broken ones.
 */
#include "cmocka_lead.h"

#include "mount_lead.h"

#include "feature.h"
#include "mounts.h"
#include "overlay.h"

#include <sys/stat.h>
#include <sys/wait.h>

int umount2(const char *target, int flags);

enum { MANY = 65, DETACH = 2 };

static char base[64];

static int setup_all(void **state)
{
	(void)state;
	enter_mounts();
	(void)snprintf(base, sizeof(base), "/var/tmp/bawn-overlay-XXXXXX");
	assert_non_null(mkdtemp(base));
	return 0;
}

static int teardown_all(void **state)
{
	(void)state;
	pid_t pid = fork();

	if (pid == 0) {
		(void)execl("/bin/sh", "sh", "-c",
			    "chmod -R u+rwx \"$0\" 2>/dev/null; rm -rf \"$0\"", base, (char *)NULL);
		_exit(127);
	}
	return waitpid(pid, NULL, 0) < 0;
}

static int open_part(int dir, const char *name)
{
	if (mkdirat(dir, name, 0700) < 0)
		assert_int_equal(errno, EEXIST);
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* A layer of this name, with a file of its own name in it. */
static int open_layer(const char *name)
{
	int dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int layer = open_part(dir, name);
	int up = open_part(layer, "up");

	(void)close(open_part(layer, "work"));
	put_at(up, name, name);
	(void)close(up);
	(void)close(dir);
	return layer;
}

/* All of them are seen. */
static void test_many(void **state)
{
	int beneath[MANY];
	char name[16];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "l%d", i);
		int layer = open_layer(name);

		beneath[i] = open_part(layer, "up");
		(void)close(layer);
	}
	int layer = open_layer("top");
	int top = overlay_new(beneath, MANY, layer, "up", MOUNT_ATTR_NOSUID);

	assert_true(top >= 0);
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "l%d", i);
		assert_int_equal(faccessat(top, name, F_OK, 0), 0);
	}
	assert_int_equal(mkdirat(top, "new", 0700), 0);
	int up = open_part(layer, "up");

	assert_int_equal(faccessat(up, "new", F_OK, 0), 0);
	(void)close(up);
	(void)close(top);
	(void)close(layer);
	for (int i = 0; i < MANY; i++)
		(void)close(beneath[i]);
}

/* A layer has both its parts. */
static void test_half_a_layer(void **state)
{
	int dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int layer = open_part(dir, "half"), beneath = open_part(dir, "beneath");

	(void)state;
	assert_int_equal(overlay_new(&beneath, 1, layer, "up", 0), -ENOENT);
	(void)close(open_part(layer, "up"));
	assert_int_equal(overlay_new(&beneath, 1, layer, "up", 0), -ENOENT);
	assert_int_equal(unlinkat(layer, "up", AT_REMOVEDIR), 0);
	(void)close(open_part(layer, "work"));
	assert_int_equal(overlay_new(&beneath, 1, layer, "up", 0), -ENOENT);
	(void)close(open_part(layer, "up"));
	int top = overlay_new(&beneath, 1, layer, "up", 0);

	assert_true(top >= 0);
	(void)close(top);
	(void)close(beneath);
	(void)close(layer);
	(void)close(dir);
}

/* As one string, longer than fsconfig() takes: every kernel can do that. */
static void test_by_page(void **state)
{
	char options[4096];
	size_t at = (size_t)snprintf(options, sizeof(options), "userxattr,lowerdir=");

	(void)state;
	for (int i = 0; i < MANY; i++)
		at += (size_t)snprintf(options + at, sizeof(options) - at, "%s%s/l%d/up",
				       i ? ":" : "", base, i);
	assert_true(at > 512);
	int before = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	int top = mounts_new_by_page("overlay", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_RDONLY);

	assert_true(top >= 0);
	assert_int_equal(faccessat(top, "l64", F_OK, 0), 0);
	assert_int_equal(mkdirat(top, "new", 0700), -1);
	/* And /proc is what it was. */
	assert_int_equal(access("/proc/self/status", F_OK), 0);
	assert_int_equal(mounts_new_by_page("overlay", "lowerdir=/none/such", 0), -ENOENT);
	assert_int_equal(access("/proc/self/status", F_OK), 0);
	(void)close(before);
	(void)close(top);
}

/* overlayfs would mount, and fail later: there are no attributes, as on a tmpfs before 6.6. */
static void test_no_attributes(void **state)
{
	char path[128];
	const char *advice = NULL;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/ram", base);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(lead_mount("none", path, "ramfs", 0, "mode=0700"), 0);
	int layer = open_layer("ram");
	int beneath = open_part(layer, "up");

	assert_int_equal(overlay_new(&beneath, 1, layer, "up", 0), -EOPNOTSUPP);
	/* The control: to be read it can be laid. */
	int other = open_part(layer, "work");
	const int both[] = {beneath, other};
	int top = overlay_new(both, 2, -1, "up", 0);

	assert_true(top >= 0);
	(void)close(top);
	assert_int_equal(feature_layers(path, &advice), -EOPNOTSUPP);
	assert_non_null(strstr(advice, "tmpfs"));
	(void)close(beneath);
	(void)close(other);
	(void)close(layer);
	assert_int_equal(umount2(path, DETACH), 0);
}

/* What doctor tries leaves nothing, whether it worked or not. */
static void test_tried(void **state)
{
	const char *advice = NULL;
	char path[128];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/tried", base);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(feature_layers(path, &advice), 0);
	assert_string_equal(advice, "");
	assert_int_equal(rmdir(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),    cmocka_unit_test(test_half_a_layer),
		cmocka_unit_test(test_by_page), cmocka_unit_test(test_no_attributes),
		cmocka_unit_test(test_tried),
	};

	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
