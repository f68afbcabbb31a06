/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services of the host: sockets by path and by abstract name, System V and
 * POSIX objects.  A read-only mount does not help here: connect() works on
 * it, so a socket must not be there at all.
 *
 * The control of a well-known socket is that its name exists outside; the control does
 * not connect to it, so that no service notices.
 */
#include "attempt.h"
#include "fd.h"
#include "own.h"
#include "str.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* An '@' in front makes the name abstract; 0 when it does not fit. */
static socklen_t services_address(const char *name, struct sockaddr_un *a)
{
	size_t len = strlen(name);

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (len == 0 || len >= sizeof(a->sun_path))
		return 0;
	memcpy(a->sun_path, name, len);
	if (name[0] == '@') {
		a->sun_path[0] = '\0';
		return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	}
	return sizeof(*a);
}

/* Tries all types of socket. */
static int services_connect(const char *name)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	struct sockaddr_un a;
	socklen_t len = services_address(name, &a);
	int r = PROBE_UNABLE;

	for (size_t i = 0; len && i < BAWN_ARRAY_SIZE(types); i++) {
		_cleanup_fd_ int fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0 && errno == ESOCKTNOSUPPORT)
			continue; /* a box that shows folders has no datagram sockets */
		if (fd < 0)
			return PROBE_UNABLE;
		r = attempt_result(connect(fd, (const struct sockaddr *)&a, len));
		if (r == PROBE_DONE || r == -EAGAIN) /* a full queue is a server too */
			return PROBE_DONE;
		/* Another type: a path gives EPROTOTYPE, an abstract name ECONNREFUSED. */
		if (r != -EPROTOTYPE && r != -ECONNREFUSED)
			return r;
	}
	return r;
}

/* text as in facts_path; an abstract name only as a fact. */
static int services_attempt(struct probe_run *run)
{
	char path[PATH_MAX];

	if (!facts_path(run->facts, run->probe->text, path))
		return PROBE_UNABLE;
	return services_connect(path);
}

static int services_control_there(struct probe_run *run)
{
	char path[PATH_MAX];
	struct stat st;

	if (!facts_path(run->facts, run->probe->text, path))
		return PROBE_ABSENT;
	if (stat(path, &st) < 0)
		return -errno;
	return S_ISSOCK(st.st_mode) || S_ISDIR(st.st_mode) ? PROBE_DONE : PROBE_ABSENT;
}

/* Every socket that the host's kernel lists, one after the other. */
static int services_every(struct probe_run *run)
{
	size_t tried = 0;
	const char *name;

	while ((name = facts_nth(run->facts, "socket", tried))) {
		tried++;
		if (services_connect(name) != PROBE_DONE)
			continue;
		probe_note(run, "%.150s answered", name);
		return PROBE_DONE;
	}
	probe_note(run, "%zu tried", tried);
	return tried > 0 ? PROBE_HELD : PROBE_UNABLE;
}

/* Connects only to the fixture's own socket. */
static int services_control_every(struct probe_run *run)
{
	const char *own = facts_get(run->facts, "socket.path");

	return own ? services_connect(own) : PROBE_UNABLE;
}

static int services_memory(struct probe_run *run)
{
	return attempt_result(shmget((key_t)own_number(run, "ipc.key"), 0, 0));
}

static int services_semaphores(struct probe_run *run)
{
	return attempt_result(semget((key_t)own_number(run, "ipc.key"), 0, 0));
}

static int services_messages(struct probe_run *run)
{
	return attempt_result(msgget((key_t)own_number(run, "ipc.key"), 0));
}

static int services_memory_by_id(struct probe_run *run)
{
	struct shmid_ds info;

	return attempt_result(shmctl((int)own_number(run, "ipc.shm"), IPC_STAT, &info));
}

static int services_queue(struct probe_run *run)
{
	const char *name = facts_get(run->facts, "mqueue");

	if (!name)
		return PROBE_UNABLE;
	mqd_t queue = mq_open(name, O_RDONLY);

	if (queue == (mqd_t)-1)
		return -errno;
	(void)mq_close(queue);
	return PROBE_DONE;
}

#define OWN(corpus, label, fact, held, refusal, what)                                          \
	{                                                                                      \
		.id = (corpus), .name = "socket-" label, .sentence = (what),                   \
		.promise = PROBE_NETWORK, .layers = (held), .attempt = services_attempt,       \
		.want = {(refusal)}, .also = {-EACCES, -EPERM}, .control = PROBE_CONTROL_SAME, \
		.text = (fact)                                                                 \
	}
#define THERE(corpus, label, path, what)                                                          \
	{                                                                                         \
		.id = (corpus), .name = "service-" label, .sentence = what " cannot be reached.", \
		.promise = PROBE_NETWORK, .layers = PROBE_LAYER(MOUNT_NS),                        \
		.attempt = services_attempt, .want = {-ENOENT}, .also = {-EACCES},                \
		.control = PROBE_CONTROL_OWN, .control_fn = services_control_there,               \
		.flags = PROBE_MAY_LACK, .text = (path)                                           \
	}
#define IPC(label, fn, refusal, what)                                                              \
	{                                                                                          \
		.id = "RX-02", .name = "ipc-" label, .sentence = (what), .promise = PROBE_MACHINE, \
		.layers = PROBE_LAYER(IPC_NS), .attempt = (fn), .want = {(refusal)},               \
		.control = PROBE_CONTROL_SAME, .flags = PROBE_MAY_LACK                             \
	}
#define MOUNTS PROBE_LAYER(MOUNT_NS)
#define NAMES (PROBE_LAYER(NET_NS) | PROBE_LAYER(LANDLOCK))

static const struct probe rows[] = {
	OWN("SK-01", "path", "@socket.path", MOUNTS, -ENOENT,
	    "A socket of the host cannot be reached by its path."),
	OWN("SK-07", "datagram", "@socket.datagram", MOUNTS, -ENOENT,
	    "A datagram socket of the host cannot be reached by its path."),
	OWN("SK-01", "packets", "@socket.packets", MOUNTS, -ENOENT,
	    "A packet socket of the host cannot be reached by its path."),
	OWN("SK-05", "abstract", "@socket.abstract", NAMES, -ECONNREFUSED,
	    "An abstract socket of the host cannot be reached."),
	OWN("SK-05", "abstract-datagram", "@socket.abstract-datagram", NAMES, -ECONNREFUSED,
	    "An abstract datagram socket of the host cannot be reached."),
	OWN("SK-04", "abstract-display", "@socket.abstract-display", NAMES, -ECONNREFUSED,
	    "A display's abstract socket cannot be reached."),
	{
		.id = "SK-06",
		.name = "socket-shown",
		.sentence = "A socket in a folder that is shown read-only cannot be reached.",
		.promise = PROBE_NETWORK,
		.layers = MOUNTS,
		.attempt = services_attempt,
		.want = {-ECONNREFUSED, -EACCES, -ENOENT},
		.control = PROBE_CONTROL_SAME,
		.flags = PROBE_EXHIBIT,
		.text = "@socket.shown",
	},
	{
		.id = "SK-04",
		.name = "socket-runtime",
		.sentence = "A socket in the user's runtime folder cannot be reached.",
		.promise = PROBE_NETWORK,
		.layers = MOUNTS,
		.attempt = services_attempt,
		.want = {-ENOENT},
		.also = {-EACCES},
		.control = PROBE_CONTROL_SAME,
		.flags = PROBE_MAY_LACK,
		.text = "@socket.runtime",
	},
	{
		.id = "SK-01",
		.name = "socket-every",
		.sentence = "No socket that the host's kernel lists answers from inside.",
		.promise = PROBE_NETWORK,
		.layers = MOUNTS,
		.attempt = services_every,
		.want = {PROBE_HELD},
		.control = PROBE_CONTROL_OWN,
		.control_fn = services_control_every,
	},
	THERE("SK-01", "docker", "/var/run/docker.sock", "Docker"),
	THERE("SK-01", "docker-run", "/run/docker.sock", "Docker (/run)"),
	THERE("SK-01", "docker-rootless", "@service.docker", "The user's own Docker"),
	THERE("SK-01", "podman", "/run/podman/podman.sock", "Podman"),
	THERE("SK-01", "podman-user", "@service.podman", "The user's own Podman"),
	THERE("SK-01", "containerd", "/run/containerd/containerd.sock", "containerd"),
	THERE("SK-01", "crio", "/run/crio/crio.sock", "CRI-O"),
	THERE("SK-01", "libvirt", "/run/libvirt/libvirt-sock", "libvirt"),
	THERE("SK-01", "lxd", "/var/snap/lxd/common/lxd/unix.socket", "LXD"),
	THERE("SK-01", "snapd", "/run/snapd.socket", "snapd"),
	THERE("SK-02", "system-bus", "/run/dbus/system_bus_socket", "The system bus"),
	THERE("SK-02", "session-bus", "@service.bus", "The session bus"),
	THERE("SK-02", "systemd", "/run/systemd/private", "The system manager"),
	THERE("SK-02", "systemd-user", "@service.systemd", "The user's service manager"),
	THERE("SK-02", "journal", "/run/systemd/journal/socket", "The journal"),
	THERE("SK-02", "udev", "/run/udev/control", "The device manager"),
	THERE("SK-02", "nscd", "/run/nscd/socket", "The name service cache"),
	THERE("SK-03", "ssh-agent", "@service.ssh-agent", "The SSH agent"),
	THERE("SK-03", "gpg-agent", "@service.gpg-agent", "The PGP agent"),
	THERE("SK-03", "keyring", "@service.keyring", "The keyring"),
	THERE("SK-03", "gvfs", "@service.gvfs", "The desktop's virtual filesystem"),
	THERE("SK-04", "x11", "/tmp/.X11-unix/X0", "The X display"),
	THERE("SK-04", "wayland", "@service.wayland", "The Wayland display"),
	THERE("SK-04", "pipewire", "@service.pipewire", "Sound and screen sharing"),
	THERE("SK-04", "pulse", "@service.pulse", "Sound"),
	THERE("SK-04", "tmux", "@service.tmux", "tmux"),
	THERE("SK-04", "vscode", "@service.vscode", "The editor"),
	THERE("SK-04", "emacs", "@service.emacs", "Emacs"),
	IPC("shm", services_memory, -ENOENT, "The host's shared memory has no key in the box."),
	IPC("shm-id", services_memory_by_id, -EINVAL,
	    "The host's shared memory has no number in the box."),
	IPC("sem", services_semaphores, -ENOENT, "The host's semaphores are not in the box."),
	IPC("msg", services_messages, -ENOENT, "The host's message queues are not in the box."),
	IPC("mqueue", services_queue, -ENOENT, "The host's POSIX queues are not in the box."),
};

const struct probe_group probe_rows_services = PROBE_GROUP(rows);
