/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminals.  The requests go to a pseudo terminal that the attempt made for
 * itself, so that one that passes does no harm.  They show that
 * the filter refuses them, for any terminal.
 */
#include "attempt.h"
#include "own.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char terminal_byte = 'x';
static int terminal_discipline;    /* N_TTY, which it has already */
static char terminal_question = 6; /* TIOCL_GETSHIFTSTATE */

/* Makes the system call itself, without glibc's ioctl. */
static int terminal_request(struct probe_run *run)
{
	int master = -1;
	int slave = -1;
	int r = own_terminal(&master, &slave);

	if (r < 0) {
		probe_note(run, "no terminal: %s", error_name(r));
		return PROBE_UNABLE;
	}
	r = syscall(SYS_ioctl, slave, run->probe->number, run->probe->args[0].number) < 0
		    ? -errno
		    : PROBE_DONE;
	(void)close(slave);
	(void)close(master);
	return r;
}

/* bawn-probe tried /dev/tty before it left its first session. */
static int terminal_controlling(struct probe_run *run)
{
	const char *inside = facts_get(run->facts, "inside.tty");
	int outcome = PROBE_UNABLE;

	if (inside)
		return probe_outcome_parse(inside, &outcome) < 0 ? PROBE_UNABLE : outcome;
	int master = -1;
	int slave = -1;

	if (own_terminal(&master, &slave) < 0)
		return PROBE_UNABLE;
	outcome = attempt_fd(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
	(void)close(slave);
	(void)close(master);
	return outcome;
}

/* A session whose leader is outside shows as 0. */
static int terminal_session(struct probe_run *run)
{
	const char *inside = facts_get(run->facts, "inside.session");

	if (!inside)
		return PROBE_UNABLE;
	return inside[0] == '0' ? PROBE_DONE : PROBE_HELD;
}

/* The control: a child in a process namespace of its own, in our session, sees 0. */
static int terminal_control_session(struct probe_run *run)
{
	int status = 0;

	(void)run;
	if (unshare(CLONE_NEWPID) < 0)
		return -errno;
	pid_t pid = fork();

	if (pid == 0)
		_exit(getsid(0) == 0 ? 0 : 1);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return PROBE_UNABLE;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PROBE_DONE : PROBE_ABSENT;
}

static int terminal_host_pts(struct probe_run *run)
{
	char path[64];
	long number = own_number(run, "pts");

	if (number < 0)
		return PROBE_UNABLE;
	(void)snprintf(path, sizeof(path), "/dev/pts/%ld", number);
	return attempt_fd(open(path, O_RDWR | O_NOCTTY | O_CLOEXEC));
}

#define REQUEST(label, nr, argument, what)                                                       \
	{                                                                                        \
		.id = "TT-02", .name = "ioctl-" label, .sentence = (what),                       \
		.promise = PROBE_MACHINE, .layers = PROBE_LAYER(SECCOMP),                        \
		.attempt = terminal_request, .want = {-EPERM}, .control = PROBE_CONTROL_DIFFERS, \
		.number = (nr), .args = {                                                        \
			PROBE_POINTER(argument)                                                  \
		}                                                                                \
	}
#define PUSH(label, nr, what)                                                                      \
	{                                                                                          \
		.id = "TT-01", .name = "ioctl-" label, .sentence = (what), .promise = PROBE_LATER, \
		.layers = PROBE_LAYER(SECCOMP), .attempt = terminal_request, .want = {-EPERM},     \
		.also = {-EIO}, .control = PROBE_CONTROL_SAME, .flags = PROBE_MAY_LACK,            \
		.number = (nr), .args = {                                                          \
			PROBE_POINTER(&terminal_byte)                                              \
		}                                                                                  \
	}

static const struct probe rows[] = {
	PUSH("tiocsti", TIOCSTI, "No keystroke can be pushed into a terminal."),
	PUSH("tiocsti-high-bits", TIOCSTI | 1L << 32,
	     "Garbage in the upper half of a request does not hide a keystroke."),
	PUSH("tiocsti-top-bit", (long)(TIOCSTI | 1UL << 63),
	     "A negative request does not hide a keystroke."),
	REQUEST("tioclinux", TIOCLINUX, &terminal_question, "The console cannot be pasted into."),
	REQUEST("tioclinux-high-bits", TIOCLINUX | 1L << 33, &terminal_question,
		"Garbage in the upper half of a request does not hide a paste."),
	REQUEST("tiocsetd", TIOCSETD, &terminal_discipline, "No line discipline can be loaded."),
	REQUEST("tiocslcktrmios", 0x5457, NULL, "Terminal settings cannot be locked."),
	REQUEST("kdskbent", 0x4b47, NULL, "The keyboard map cannot be changed."),
	REQUEST("kdskbsent", 0x4b49, NULL, "The function keys cannot be changed."),
	REQUEST("kdgkbent", 0x4b46, NULL, "The keyboard map cannot be read."),
	REQUEST("kdskbmode", 0x4b45, NULL, "The keyboard mode cannot be changed."),
	REQUEST("kdskbdiacr", 0x4b4b, NULL, "The keyboard's accents cannot be changed."),
	REQUEST("kdsetkeycode", 0x4b4d, NULL, "Key codes cannot be changed."),
	REQUEST("kdsetmode", 0x4b3a, NULL, "The console's mode cannot be changed."),
	REQUEST("kdsetled", 0x4b32, NULL, "The keyboard's lights cannot be set."),
	REQUEST("kdmktone", 0x4b30, NULL, "The console makes no tone."),
	REQUEST("kiocsound", 0x4b2f, NULL, "The console makes no sound."),
	REQUEST("kdaddio", 0x4b34, NULL, "The console gives no I/O ports."),
	REQUEST("kdenabio", 0x4b36, NULL, "The console opens no I/O."),
	REQUEST("pio-font", 0x4b61, NULL, "The console's font cannot be changed."),
	REQUEST("kdfontop", 0x4b72, NULL, "The console's fonts cannot be reached."),
	REQUEST("vt-openqry", 0x5600, NULL, "No free console can be asked for."),
	REQUEST("vt-getmode", 0x5601, NULL, "The console's switching cannot be asked."),
	REQUEST("vt-setmode", 0x5602, NULL, "The console's switching cannot be taken over."),
	REQUEST("vt-getstate", 0x5603, NULL, "The console's state cannot be read."),
	REQUEST("vt-reldisp", 0x5605, NULL, "The display cannot be released."),
	REQUEST("vt-activate", 0x5606, NULL, "The console cannot be switched."),
	REQUEST("vt-disallocate", 0x5608, NULL, "A console cannot be freed."),
	REQUEST("vt-resize", 0x5609, NULL, "The console cannot be resized."),
	REQUEST("vt-lockswitch", 0x560b, NULL, "The console cannot be locked."),
	{
		.id = "TT-02",
		.name = "ioctl-tioccons",
		.sentence = "The console's output cannot be taken.",
		.promise = PROBE_MACHINE,
		.layers = PROBE_LAYER(SECCOMP) | PROBE_LAYER(CAPS),
		.attempt = terminal_request,
		.want = {-EPERM},
		.no_control = "the kernel gives the same answer to every user, and as root it "
			      "would take the console",
		.number = TIOCCONS,
	},
	{
		.id = "TT-01",
		.name = "no-terminal",
		.sentence = "A command without a terminal cannot reach the user's.",
		.promise = PROBE_LATER,
		.layers = PROBE_LAYER(TTY),
		.attempt = terminal_controlling,
		.want = {-ENXIO},
		.control = PROBE_CONTROL_SAME,
	},
	{
		.id = "TT-01",
		.name = "own-session",
		.sentence = "The box has a session of its own.",
		.promise = PROBE_LATER,
		.layers = PROBE_LAYER(TTY),
		.attempt = terminal_session,
		.want = {PROBE_HELD},
		.control = PROBE_CONTROL_OWN,
		.control_fn = terminal_control_session,
		.flags = PROBE_IN_NAMESPACES,
	},
	{
		.id = "TT-03",
		.name = "host-pts",
		.sentence = "A terminal of the host has no name in the box.",
		.promise = PROBE_LATER,
		.layers = PROBE_LAYER(MOUNT_NS) | PROBE_LAYER(LANDLOCK),
		.attempt = terminal_host_pts,
		.want = {-ENOENT},
		.also = {-EACCES},
		.control = PROBE_CONTROL_SAME,
	},
};

const struct probe_group probe_rows_terminal = PROBE_GROUP(rows);
