/* SPDX-License-Identifier: Apache-2.0 */
#include "host_run.h"

#include "channel.h"
#include "fd.h"
#include "helper.h"
#include "message_control.h"
#include "plan_read.h"
#include "process.h"
#include "record_folder.h"
#include "recording.h"
#include "text.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void host_become_command(const struct plan *plan)
{
	char **argv = calloc(plan->argv.count + 1, sizeof(char *));
	struct text err = text_open(STDERR_FILENO);

	(void)clearenv();
	for (size_t i = 0; i < plan->env.count; i++)
		(void)setenv(plan->env.items[i].name, plan->env.items[i].value, 1);
	if (!argv)
		_exit(125);
	for (size_t i = 0; i < plan->argv.count; i++)
		argv[i] = (char *)(uintptr_t)plan->argv.items[i].text;
	(void)umask(process_user_mask());
	if (chdir(plan->cwd) == 0)
		(void)execvp(plan->argv.items[0].text, argv);
	int code = errno;

	text_printf(&err, "bawn: %s: %s\n", plan->argv.items[0].text, error_words(code));
	_exit(code == ENOENT ? 127 : 126);
}

/* The folder that the recorder is in. */
static int host_programs(struct error *e)
{
	char path[PATH_MAX];
	int r = helper_path("bawn-recorder", path, sizeof(path));

	if (r == 0) {
		*strrchr(path, '/') = '\0';
		r = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		r = r < 0 ? -errno : r;
	}
	if (r < 0) {
		(void)error_sys(e, r, "starting bawn-recorder");
		error_next(e, "`bawn doctor` says which parts of bawn are missing.");
	}
	return r;
}

/* What the keeper does in a box's session. */
static int host_begin_record(struct recording *recording, const struct plan *plan,
			     const struct record_folder *folder, struct error *e)
{
	_cleanup_fd_ int sealed = plan_seal(plan, e);
	_cleanup_fd_ int programs = sealed < 0 ? sealed : host_programs(e);
	_cleanup_buf_ struct buf body = BUF_INIT(512);
	const struct message_record m = {.name = folder->session, .folder = folder->name};
	struct channel_packet packet = {.fd_count = 2};

	if (programs < 0)
		return programs;
	schema_encode(&body, &message_record_schema, &m);
	packet.body = buf_span(&body);
	packet.fds[0] = fcntl(folder->all, F_DUPFD_CLOEXEC, 3);
	packet.fds[1] = fcntl(folder->own, F_DUPFD_CLOEXEC, 3);
	int r = packet.fds[0] < 0 || packet.fds[1] < 0 ? error_sys(e, -errno, "keeping a record")
						       : recording_take(recording, &packet, e);

	if (r == 0)
		r = recording_start(recording, programs, sealed, e);
	/* There is no gate that could use it. */
	fd_close(&recording->gate);
	return r < 0 ? r : recording_wait(recording, e);
}

/* Runs the command without a box.  bawn calls this UNSAFE everywhere. */
static int host_wait(const struct plan *plan, int *ret_status, struct error *e)
{
	pid_t pid = fork();

	if (pid < 0)
		return error_sys(e, -errno, "starting the command");
	if (pid == 0)
		host_become_command(plan);
	/* Keyboard signals reach it by themselves: it is in our group. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	while (waitpid(pid, ret_status, 0) < 0)
		if (errno != EINTR)
			return error_sys(e, -errno, "waiting for the command");
	return 0;
}

int host_run(const struct plan *plan, const struct record_folder *record, int *ret_status,
	     struct error *e)
{
	struct recording recording = RECORDING_INIT;
	int r = record ? host_begin_record(&recording, plan, record, e) : 0;

	if (r == 0)
		r = host_wait(plan, ret_status, e);
	const uint64_t status = (uint64_t)(unsigned int)*ret_status;
	struct error end = ERROR_INIT;

	recording_end(&recording, r == 0 ? &status : NULL, NULL, &end);
	if (r == 0 && end.code != 0) {
		*e = end;
		r = end.code;
	}
	return r;
}
