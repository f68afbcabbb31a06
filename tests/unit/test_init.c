/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pid 1 of a box, by the messages of its keeper: what it starts has the plan's words and environment
 * and the descriptors that came along, and no other; what becomes of it is told once; what makes no
 * sense ends it.  A box that holds still keeps signals for later.
 */
#include "cmocka_lead.h"

#include "box_lead.h"

#include "channel.h"
#include "fd.h"
#include "init.h"
#include "message_box.h"
#include "message_control.h"
#include "mounts.h"
#include "str.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>

enum { PROBES = 77, JOBS = 48, TEXT = 4096, SOON_MS = 20000 };

/* The keeper's end. */
struct keeper {
	struct channel channel;
	struct plan plan;
	pid_t init;
	/* Of what came last. */
	uint32_t type;
	struct message_job job;
	struct message_paused paused;
	int terminal;
};

static int on_job(void *context, struct channel_packet *packet, struct error *e)
{
	struct keeper *k = context;

	if (packet->fd_count > 0)
		k->terminal = TAKE_FD(packet->fds[0]);
	return message_decode(packet->body, &message_job_schema, &k->job, NULL, e);
}

#define ON_JOB(name)                                                                        \
	static int on_##name(void *context, struct channel_packet *packet, struct error *e) \
	{                                                                                   \
		((struct keeper *)context)->type = MESSAGE_##name;                          \
		return on_job(context, packet, e);                                          \
	}

ON_JOB(READY)
ON_JOB(EXITED)
ON_JOB(STOPPED)
ON_JOB(TERMINAL)

static int on_paused(void *context, struct channel_packet *packet, struct error *e)
{
	static struct arena arena = ARENA_INIT(1 << 16);
	struct keeper *k = context;

	k->type = MESSAGE_PAUSED;
	return message_decode(packet->body, &message_paused_schema, &k->paused, &arena, e);
}

static const struct channel_rule rules[] = {
	{MESSAGE_READY, "READY", 16, 0, 0, 1, on_READY},
	{MESSAGE_EXITED, "EXITED", 16, 0, 0, 1, on_EXITED},
	{MESSAGE_STOPPED, "STOPPED", 16, 0, 0, 1, on_STOPPED},
	{MESSAGE_TERMINAL, "TERMINAL", 16, 1, 1, 1, on_TERMINAL},
	{MESSAGE_PAUSED, "PAUSED", CHANNEL_BYTES_MAX, 0, 0, 1, on_paused},
};

/* The next message is this, about this job. */
static void expect(struct keeper *k, uint32_t type, uint64_t job, uint64_t value)
{
	struct pollfd p = {.fd = k->channel.fd, .events = POLLIN};
	struct error e = ERROR_INIT;

	k->type = 0;
	CHECK(poll(&p, 1, SOON_MS) == 1);
	CHECK_NUMBER(channel_receive(&k->channel, &e), 1);
	CHECK_NUMBER(k->type, type);
	if (type == MESSAGE_PAUSED)
		return;
	CHECK_NUMBER(k->job.job, job);
	CHECK_NUMBER(k->job.value, value);
}

static void begin(struct keeper *k)
{
	static const struct plan_env env[] = {{"PATH", "/usr/bin:/bin", ""},
					      {"ONE", "two words", ""}};
	static const struct plan_string argv[] = {{"sh"}, {"-c"}, {"exit 7"}};
	int ends[2];

	*k = (struct keeper){.terminal = -1};
	k->plan.cwd = "/var";
	k->plan.env.items = (struct plan_env *)(uintptr_t)env;
	k->plan.env.count = BAWN_ARRAY_SIZE(env);
	k->plan.argv.items = (struct plan_string *)(uintptr_t)argv;
	k->plan.argv.count = BAWN_ARRAY_SIZE(argv);
	CHECK(channel_pair(ends) == 0);
	/* Of processes of its own, as in a box: to hold still it stops all others. */
	k->init = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	CHECK(k->init >= 0);
	if (k->init == 0) {
		int processes = mounts_new("proc", NULL, 0, MOUNT_ATTR_RDONLY);

		CHECK(processes >= 0);
		(void)close(ends[0]);
		_exit(init_run(&k->plan, ends[1], processes, PROBES));
	}
	(void)close(ends[1]);
	k->channel = (struct channel){
		.fd = ends[0], .rules = rules, .rule_count = BAWN_ARRAY_SIZE(rules), .context = k};
	expect(k, MESSAGE_READY, 0, PROBES);
}

/* It ends by itself, and says nothing more. */
static void end(struct keeper *k)
{
	struct error e = ERROR_INIT;
	int status = -1;

	CHECK_NUMBER(channel_receive(&k->channel, &e), 0);
	CHECK(waitpid(k->init, &status, 0) == k->init);
	CHECK_NUMBER(status, 0);
	(void)close(k->channel.fd);
}

static void leave(struct keeper *k)
{
	int status = -1;

	(void)close(k->channel.fd);
	CHECK(waitpid(k->init, &status, 0) == k->init);
	CHECK_NUMBER(status, 0);
}

static void send_job(const struct keeper *k, uint32_t type, uint64_t job, uint64_t value)
{
	const struct message_job m = {job, value};

	CHECK_NUMBER(message_send(k->channel.fd, type, &message_job_schema, &m, NULL, 0), 0);
}

static void spawn(const struct keeper *k, const struct message_spawn *m, const int *fds,
		  size_t count)
{
	struct message_spawn whole = *m;

	whole.cwd = m->cwd ? m->cwd : "";
	CHECK_NUMBER(message_send(k->channel.fd, MESSAGE_SPAWN, &message_spawn_schema, &whole, fds,
				  count),
		     0);
}

/* A command by words, whose output comes back. */
static void run(const struct keeper *k, uint64_t job, const char *command, int output)
{
	struct plan_string words[] = {{"sh"}, {"-c"}, {command}};
	struct message_spawn m = {.job = job, .gives = output >= 0 ? 2 : 0};

	m.argv.items = words;
	m.argv.count = BAWN_ARRAY_SIZE(words);
	spawn(k, &m, &output, output >= 0 ? 1 : 0);
}

static void read_text(int fd, char text[TEXT])
{
	size_t have = 0;
	ssize_t n = 1;

	while (n > 0 && have < TEXT - 1) {
		n = read(fd, text + have, TEXT - 1 - have);
		have += n > 0 ? (size_t)n : 0;
	}
	text[have] = '\0';
	for (size_t i = 0; i < have; i++)
		text[i] = text[i] == '\0' ? '|' : text[i];
}

/* --- what is started ------------------------------------------------------------------- */

static void act_commands(void *context)
{
	struct keeper k;
	struct message_spawn none = {.job = 1};
	char text[TEXT];
	int ends[2];

	(void)context;
	begin(&k);
	spawn(&k, &none, NULL, 0); /* the plan's own */
	expect(&k, MESSAGE_EXITED, 1, 7 << 8);
	run(&k, 1, "exit 0", -1); /* the number is free again */
	expect(&k, MESSAGE_EXITED, 1, 0);
	run(&k, 2, "kill -6 $$", -1);
	expect(&k, MESSAGE_EXITED, 2, SIGABRT);
	struct plan_string no_such[] = {{"no-such-program"}};
	struct message_spawn m = {.job = 3};

	m.argv.items = no_such;
	m.argv.count = 1;
	spawn(&k, &m, NULL, 0);
	expect(&k, MESSAGE_EXITED, 3, 127 << 8);
	no_such[0].text = "/etc";
	spawn(&k, &m, NULL, 0);
	expect(&k, MESSAGE_EXITED, 3, 126 << 8);
	m.cwd = "/no/such/folder";
	spawn(&k, &m, NULL, 0);
	expect(&k, MESSAGE_EXITED, 3, 125 << 8);
	/* The environment is the plan's, all of it and nothing else. */
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	struct plan_string env[] = {{"env"}, {"-0"}};

	m = (struct message_spawn){.job = 4, .gives = 2};
	m.argv.items = env;
	m.argv.count = 2;
	spawn(&k, &m, &ends[1], 1);
	expect(&k, MESSAGE_EXITED, 4, 0);
	run(&k, 5, "pwd; echo /proc/self/fd/*; readlink /proc/self/fd/0 /proc/self/fd/2", ends[1]);
	expect(&k, MESSAGE_EXITED, 5, 0);
	(void)close(ends[1]);
	read_text(ends[0], text);
	(void)close(ends[0]);
	CHECK(strcmp(text, "PATH=/usr/bin:/bin|ONE=two words|/var\n"
			   "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n"
			   "/dev/null\n/dev/null\n") == 0);
	leave(&k);
}

static void test_commands(void **state)
{
	(void)state;
	in_box(act_commands, NULL);
}

/* As many at a time as there is room for; the one too many is told, and the others go on. */
static void act_many(void *context)
{
	struct keeper k;

	(void)context;
	begin(&k);
	for (uint64_t job = 1; job <= JOBS; job++)
		run(&k, job, "exec sleep 100", -1);
	run(&k, JOBS + 1, "exit 0", -1);
	expect(&k, MESSAGE_EXITED, JOBS + 1, 0x10000u | EAGAIN);
	for (uint64_t job = JOBS; job > 0; job--) {
		send_job(&k, MESSAGE_SIGNAL, job, SIGKILL);
		expect(&k, MESSAGE_EXITED, job, SIGKILL);
	}
	run(&k, JOBS + 1, "exit 3", -1);
	expect(&k, MESSAGE_EXITED, JOBS + 1, 3 << 8);
	leave(&k);
}

static void test_many(void **state)
{
	(void)state;
	in_box(act_many, NULL);
}

/* What makes no sense ends it. */
static void act_senseless(void *context)
{
	static const struct {
		uint64_t job, gives;
		size_t fds;
	} rows[] = {{0, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 3, 1}, {1, 1, 2}, {1, 16, 1}, {1, 17, 1}};
	const int fds[] = {0, 0};
	struct keeper k;

	(void)context;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(rows); i++) {
		struct message_spawn m = {.job = rows[i].job, .gives = rows[i].gives};

		begin(&k);
		spawn(&k, &m, fds, rows[i].fds);
		end(&k);
	}
	begin(&k);
	run(&k, 1, "exec sleep 100", -1);
	run(&k, 1, "exit 0", -1);
	end(&k);
	begin(&k);
	send_job(&k, MESSAGE_READY, 0, 0);
	end(&k);
}

static void test_senseless(void **state)
{
	(void)state;
	in_box(act_senseless, NULL);
}

/* --- signals and stops ----------------------------------------------------------------- */

static void act_signals(void *context)
{
	struct keeper k;
	char c;
	int ends[2];

	(void)context;
	begin(&k);
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	run(&k, 1, "trap 'exit 9' TERM; trap 'echo c' CONT; echo b; while :; do sleep 0.02; done",
	    ends[1]);
	CHECK(read(ends[0], &c, 1) == 1 && c == 'b' && read(ends[0], &c, 1) == 1);
	send_job(&k, MESSAGE_SIGNAL, 2, SIGTERM); /* nobody */
	send_job(&k, MESSAGE_SIGNAL, 1, 0);       /* no signal */
	send_job(&k, MESSAGE_SIGNAL, 1, 0xff);    /* there is none */
	send_job(&k, MESSAGE_SIGNAL, 1, SIGSTOP);
	expect(&k, MESSAGE_STOPPED, 1, SIGSTOP);
	send_job(&k, MESSAGE_CONTINUE, 1, 0);
	CHECK(read(ends[0], &c, 1) == 1 && c == 'c' && read(ends[0], &c, 1) == 1);
	send_job(&k, MESSAGE_SIGNAL, 1, SIGTERM);
	expect(&k, MESSAGE_EXITED, 1, 9 << 8);
	/* To all of the group, where that is said. */
	run(&k, 2, "sleep 100 & echo b; wait; exit 5", ends[1]);
	CHECK(read(ends[0], &c, 1) == 1 && c == 'b');
	send_job(&k, MESSAGE_SIGNAL, 2, 0x100 | SIGKILL);
	expect(&k, MESSAGE_EXITED, 2, SIGKILL);
	(void)close(ends[1]);
	/* Nobody of the group has the pipe any more. */
	while (read(ends[0], &c, 1) == 1)
		CHECK(c == '\n');
	(void)close(ends[0]);
	leave(&k);
}

static void test_signals(void **state)
{
	(void)state;
	in_box(act_signals, NULL);
}

/* --- a terminal ------------------------------------------------------------------------ */

static void read_until(int fd, const char *word)
{
	char text[TEXT];
	size_t have = 0;

	for (;;) {
		ssize_t n = read(fd, text + have, sizeof(text) - 1 - have);

		CHECK(n > 0);
		have += (size_t)n;
		text[have] = '\0';
		if (strstr(text, word))
			return;
	}
}

static void act_terminal(void *context)
{
	struct plan_string words[] = {{"sh"},
				      {"-c"},
				      {"trap 'exit 9' TERM; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && "
				       "echo $(stty size) || echo no;"
				       " read line; while :; do sleep 0.02; done"}};
	struct message_spawn m = {
		.job = 1, .terminal = true, .foreground = true, .rows = 11, .columns = 22};
	struct winsize size;
	struct keeper k;

	(void)context;
	m.argv.items = words;
	m.argv.count = BAWN_ARRAY_SIZE(words);
	begin(&k);
	spawn(&k, &m, NULL, 0);
	expect(&k, MESSAGE_TERMINAL, 1, 0);
	CHECK(k.terminal >= 0 && ioctl(k.terminal, TIOCGWINSZ, &size) == 0);
	CHECK(size.ws_row == 11 && size.ws_col == 22);
	read_until(k.terminal, "11 22");
	/* What is typed stops the command, not init or the leader; and it is told. */
	CHECK(write(k.terminal, "\x1a", 1) == 1);
	expect(&k, MESSAGE_STOPPED, 1, SIGTSTP);
	send_job(&k, MESSAGE_CONTINUE, 1, 1);
	CHECK(write(k.terminal, "line\n", 5) == 5);
	send_job(&k, MESSAGE_SIGNAL, 1, SIGTERM);
	expect(&k, MESSAGE_EXITED, 1, 9 << 8);
	(void)close(k.terminal);
	leave(&k);
}

static void test_terminal(void **state)
{
	(void)state;
	in_box(act_terminal, NULL);
}

/* --- holding still --------------------------------------------------------------------- */

static void act_pause(void *context)
{
	struct keeper k;
	char c;
	int ends[2];

	(void)context;
	begin(&k);
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	run(&k, 1, "trap 'echo t; exit 9' TERM; echo b; while :; do sleep 0.02; done", ends[1]);
	run(&k, 2, "exec sleep 100", -1);
	CHECK(read(ends[0], &c, 1) == 1 && c == 'b' && read(ends[0], &c, 1) == 1);
	send_job(&k, MESSAGE_PAUSE, 5, 1);
	expect(&k, MESSAGE_PAUSED, 0, 0);
	CHECK_NUMBER(k.paused.id, 5);
	CHECK_NUMBER(k.paused.failure, 0);
	CHECK(k.paused.count >= 2);
	/* Kept for later, once; a kill is not. */
	send_job(&k, MESSAGE_SIGNAL, 1, SIGTERM);
	send_job(&k, MESSAGE_SIGNAL, 1, SIGTERM);
	send_job(&k, MESSAGE_PAUSE, 5, MESSAGE_PAUSE_HELD);
	expect(&k, MESSAGE_PAUSED, 0, 0);
	CHECK_NUMBER(k.paused.failure, 0);
	send_job(&k, MESSAGE_SIGNAL, 2, SIGKILL);
	expect(&k, MESSAGE_EXITED, 2, SIGKILL);
	send_job(&k, MESSAGE_PAUSE, 5, 0);
	expect(&k, MESSAGE_EXITED, 1, 9 << 8);
	CHECK(read(ends[0], &c, 1) == 1 && c == 't');
	leave(&k);
}

static void test_pause(void **state)
{
	(void)state;
	in_box(act_pause, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),  cmocka_unit_test(test_many),
		cmocka_unit_test(test_senseless), cmocka_unit_test(test_signals),
		cmocka_unit_test(test_terminal),  cmocka_unit_test(test_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
