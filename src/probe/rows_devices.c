/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: /dev has a short list and no more, and none can be made.  The
 * control opens a device with O_PATH, which every user may do and which
 * calls no driver.
 */
#include "attempt.h"
#include "dir.h"
#include "own.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *const devices_given[] = {
	"null", "zero", "full", "random", "urandom", "tty",    "ptmx",
	"pts",  "shm",  "fd",   "stdin",  "stdout",  "stderr",
};

static int devices_list(struct probe_run *run)
{
	_cleanup_dir_ DIR *dir = dir_open(AT_FDCWD, "/dev", NULL);
	int outcome = dir ? PROBE_HELD : PROBE_UNABLE;

	for (const struct dirent *entry; outcome == PROBE_HELD && (entry = dir_next(dir, NULL));) {
		size_t i = 0;

		while (i < BAWN_ARRAY_SIZE(devices_given) &&
		       !str_equal(entry->d_name, devices_given[i]))
			i++;
		if (i == BAWN_ARRAY_SIZE(devices_given)) {
			probe_note(run, "/dev/%.150s is there", entry->d_name);
			outcome = PROBE_DONE;
		}
	}
	return outcome;
}

/* number is the device, args[0] its kind; made in the box's own /tmp and removed again. */
static int devices_make(struct probe_run *run)
{
	char path[64];
	mode_t kind = (mode_t)run->probe->args[0].number;

	(void)snprintf(path, sizeof(path), "/tmp/bawn-probe-%d", getpid());
	if (mknod(path, kind | 0600, (dev_t)run->probe->number) < 0)
		return -errno;
	(void)unlink(path);
	return PROBE_DONE;
}

enum { DEVICES_MODE, DEVICES_TIMES, DEVICES_OWNER };

/* Sets the value that is there already: if it succeeds, only the ctime changes. */
static int devices_set(int what, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, st.st_mtim};

	switch (what) {
	case DEVICES_MODE:
		return attempt_result(chmod(path, st.st_mode & 07777));
	case DEVICES_TIMES:
		return attempt_result(utimensat(AT_FDCWD, path, times, 0));
	default:
		return attempt_result(chown(path, (uid_t)-1, (gid_t)-1));
	}
}

/* The devices are the host's own, so a change inside would be a change outside. */
static int devices_change(struct probe_run *run)
{
	static const char *const shown[] = {"/dev/null",   "/dev/zero",    "/dev/full",
					    "/dev/random", "/dev/urandom", "/dev/tty"};
	int outcome = PROBE_UNABLE;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(shown); i++) {
		outcome = devices_set((int)run->probe->number, shown[i]);
		if (!probe_in_set(run->probe->want, outcome)) {
			probe_note(run, "%s", shown[i]);
			break;
		}
	}
	return outcome;
}

static int devices_control_change(struct probe_run *run)
{
	char path[PATH_MAX];

	if (!own_path(run, "twin", "file", path))
		return PROBE_UNABLE;
	return devices_set((int)run->probe->number, path);
}

#define CHANGE(label, which, more, what)                                                \
	{                                                                               \
		.id = "KS-06", .name = "device-" label, .sentence = (what),             \
		.promise = PROBE_MACHINE, .layers = PROBE_LAYER(MOUNT_NS),              \
		.attempt = devices_change, .want = {-EROFS}, .also = {-EPERM, -EACCES}, \
		.control = PROBE_CONTROL_OWN, .control_fn = devices_control_change,     \
		.flags = (more), .number = (which)                                      \
	}
#define ABSENT(label, path, what)                                                          \
	{                                                                                  \
		.id = "KS-06", .name = "device-" label, .sentence = (what),                \
		.promise = PROBE_MACHINE, .layers = PROBE_LAYER(MOUNT_NS),                 \
		.attempt = attempt_open, .want = {-ENOENT}, .control = PROBE_CONTROL_SAME, \
		.flags = PROBE_MAY_LACK, .text = (path), .number = O_PATH                  \
	}
#define MAKE(label, kind, major_number, minor_number, what)                                       \
	{                                                                                         \
		.id = "KS-06", .name = "make-" label, .sentence = (what),                         \
		.promise = PROBE_MACHINE, .layers = PROBE_LAYER(LANDLOCK) | PROBE_LAYER(USER_NS), \
		.attempt = devices_make, .want = {-EACCES}, .also = {-EPERM},                     \
		.control = PROBE_CONTROL_SAME, .flags = PROBE_MAY_LACK,                           \
		.number = (long)((major_number) << 8 | (minor_number)), .args = {                 \
			PROBE_ARG(kind)                                                           \
		}                                                                                 \
	}

static const struct probe rows[] = {
	{
		.id = "KS-06",
		.name = "dev-list",
		.sentence = "/dev holds null, zero, full, random, urandom, tty, own terminals and "
			    "own shared memory; nothing else.",
		.promise = PROBE_MACHINE,
		.layers = PROBE_LAYER(MOUNT_NS),
		.attempt = devices_list,
		.want = {PROBE_HELD},
		.also = {-EACCES},
		.control = PROBE_CONTROL_SAME,
		.flags = PROBE_MAY_LACK,
	},
	ABSENT("mem", "/dev/mem", "The machine's memory is not a device in the box."),
	ABSENT("kmsg", "/dev/kmsg", "The kernel's log is not a device in the box."),
	ABSENT("port", "/dev/port", "I/O ports are not a device in the box."),
	ABSENT("fuse", "/dev/fuse", "There is no FUSE in the box."),
	ABSENT("kvm", "/dev/kvm", "There is no virtual machine monitor in the box."),
	ABSENT("tun", "/dev/net/tun", "There are no tunnels in the box."),
	ABSENT("vhost-net", "/dev/vhost-net", "There is no vhost network in the box."),
	ABSENT("vhost-vsock", "/dev/vhost-vsock", "There is no vhost vsock in the box."),
	ABSENT("vsock", "/dev/vsock", "There is no vsock device in the box."),
	ABSENT("loop-control", "/dev/loop-control", "No loop device can be asked for."),
	ABSENT("loop0", "/dev/loop0", "There is no loop device in the box."),
	ABSENT("mapper", "/dev/mapper/control", "There is no device mapper in the box."),
	ABSENT("sda", "/dev/sda", "There is no disk in the box."),
	ABSENT("vda", "/dev/vda", "There is no virtual disk in the box."),
	ABSENT("nvme0", "/dev/nvme0n1", "There is no NVMe disk in the box."),
	ABSENT("tty0", "/dev/tty0", "There is no console terminal in the box."),
	ABSENT("tty1", "/dev/tty1", "There is no first console terminal in the box."),
	ABSENT("console", "/dev/console", "There is no system console in the box."),
	ABSENT("vcs", "/dev/vcs", "The console's screen cannot be read."),
	ABSENT("ttys0", "/dev/ttyS0", "There is no serial line in the box."),
	ABSENT("hwrng", "/dev/hwrng", "There is no hardware random device in the box."),
	ABSENT("btrfs", "/dev/btrfs-control", "btrfs cannot be controlled."),
	ABSENT("uinput", "/dev/uinput", "No input device can be made up."),
	ABSENT("input", "/dev/input", "Keyboard and mouse cannot be read."),
	ABSENT("dri", "/dev/dri", "There is no graphics device in the box."),
	ABSENT("snd", "/dev/snd", "There is no sound device in the box."),
	ABSENT("video0", "/dev/video0", "There is no camera in the box."),
	ABSENT("usb", "/dev/bus/usb", "There are no USB devices in the box."),
	ABSENT("rtc", "/dev/rtc", "There is no clock device in the box."),
	ABSENT("cpu-latency", "/dev/cpu_dma_latency", "Power management cannot be steered."),
	ABSENT("autofs", "/dev/autofs", "There is no automounter in the box."),
	ABSENT("ppp", "/dev/ppp", "There is no PPP device in the box."),
	CHANGE("mode", DEVICES_MODE, 0, "The mode of a device cannot be changed."),
	CHANGE("times", DEVICES_TIMES, 0, "The times of a device cannot be changed."),
	/* On a system the filter pretends it. */
	CHANGE("owner", DEVICES_OWNER, PROBE_SYSTEM, "The owner of a device cannot be changed."),
	MAKE("mem", S_IFCHR, 1, 1, "A device for the machine's memory cannot be made."),
	MAKE("kmsg", S_IFCHR, 1, 11, "A device for the kernel's log cannot be made."),
	MAKE("fuse", S_IFCHR, 10, 229, "A FUSE device cannot be made."),
	MAKE("kvm", S_IFCHR, 10, 232, "A KVM device cannot be made."),
	MAKE("tun", S_IFCHR, 10, 200, "A tunnel device cannot be made."),
	MAKE("tty0", S_IFCHR, 4, 0, "A console device cannot be made."),
	MAKE("loop0", S_IFBLK, 7, 0, "A loop device cannot be made."),
	MAKE("disk", S_IFBLK, 8, 0, "A disk device cannot be made."),
};

const struct probe_group probe_rows_devices = PROBE_GROUP(rows);
