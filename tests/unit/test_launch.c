/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A box's network and its launcher, in namespaces of the test's own.  What the plan names leads to
 * the gate's sockets, whatever else is tried is refused at once; and whoever comes out of the launch
 * has nothing left of what it gave up.
 */
#include "cmocka_lead.h"

#include "box_lead.h"

#include "capture.h"
#include "channel.h"
#include "fd.h"
#include "feature.h"
#include "landlock.h"
#include "launch.h"
#include "message_box.h"
#include "profile.h"
#include "str.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum { SOON_MS = 5000, DESCRIPTORS = 64 };

static void loopback(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	_cleanup_fd_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0);
}

/* --- where connections lead ------------------------------------------------------------ */

static struct sockaddr_in6 address(const char *text, uint16_t port)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	char mapped[64];

	(void)snprintf(mapped, sizeof(mapped), "%s%s", strchr(text, ':') ? "" : "::ffff:", text);
	CHECK(inet_pton(AF_INET6, mapped, &a.sin6_addr) == 1);
	return a;
}

/* A connection of a program: its end, or -errno; one that waits for an answer is an error, too. */
static int reach(const char *text, uint16_t port)
{
	struct sockaddr_in6 to = address(text, port);
	_cleanup_fd_ int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(int);
	int code = 0;

	CHECK(fd >= 0);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return TAKE_FD(fd);
	if (errno != EINPROGRESS)
		return -errno;
	if (poll(&p, 1, SOON_MS) != 1)
		return -ETIMEDOUT;
	CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) == 0);
	return code ? -code : TAKE_FD(fd);
}

/* It arrives at a listener, which learns where it wanted to go. */
static void leads(const struct capture *c, const char *text, uint16_t port)
{
	struct sockaddr_in6 to = address(text, port), own = {0};
	socklen_t len = sizeof(own);
	_cleanup_fd_ int fd = reach(text, port);
	int got = -1;

	if (fd < 0)
		(void)fprintf(stderr, "%s port %u\n", text, port);
	CHECK(fd >= 0);
	for (size_t i = 0; got < 0 && i < c->count; i++)
		got = accept4(c->listeners[i], NULL, NULL, SOCK_CLOEXEC);
	CHECK(got >= 0 && getsockname(got, (struct sockaddr *)&own, &len) == 0);
	CHECK(own.sin6_port == to.sin6_port);
	CHECK(memcmp(&own.sin6_addr, &to.sin6_addr, sizeof(own.sin6_addr)) == 0);
	(void)close(got);
}

static void refused(const char *text, uint16_t port)
{
	int r = reach(text, port);

	if (r != -ECONNREFUSED && r != -ENETUNREACH && r != -EHOSTUNREACH)
		(void)fprintf(stderr, "%s port %u: %d\n", text, port, r);
	CHECK(r == -ECONNREFUSED || r == -ENETUNREACH || r == -EHOSTUNREACH);
}

/* A datagram; 1: the gate's socket has it. */
static int ask(const struct capture *c, const char *text, uint16_t port)
{
	struct sockaddr_in6 to = address(text, port);
	_cleanup_fd_ int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char word[8];

	CHECK(fd >= 0);
	(void)sendto(fd, "word", 4, 0, (struct sockaddr *)&to, sizeof(to));
	return recv(c->dns, word, sizeof(word), 0) == 4;
}

struct named {
	struct plan plan;
	struct plan_rule rules[4];
	struct plan_ports ports;
	uint8_t bytes[4][16];
};

static void name_address(struct named *n, const char *text, enum plan_action action)
{
	size_t i = n->plan.network.count++;
	struct sockaddr_in6 a = address(text, 1);

	memcpy(n->bytes[i], &a.sin6_addr, 16);
	n->rules[i] = (struct plan_rule){.action = action,
					 .host = text,
					 .address = {n->bytes[i], 16},
					 .key = "",
					 .bundle = "",
					 .origin = ""};
	n->rules[i].ports.items = &n->ports;
	n->rules[i].ports.count = 1;
	n->plan.network.items = n->rules;
}

static void act_capture(void *context)
{
	static const char *const v4[] = {"203.0.113.7", "198.18.0.1", "198.19.255.254",
					 "10.255.255.53"};
	static const char *const other4[] = {"203.0.113.8",    "203.0.113.6", "203.0.113.9",
					     "198.17.255.255", "198.20.0.0",  "10.255.254.1",
					     "192.0.2.1"};
	static const char *const v6[] = {"2001:db8::7", "fd5a::1", "fd5a:ffff::2"};
	static const char *const other6[] = {"2001:db8::6", "2001:db8:0:1::7", "fd5b::1", "fd59::1",
					     "2001:db8::8"};
	struct named n = {.ports = {7777, 7778}};
	struct capture c = CAPTURE_INIT;
	struct error e = ERROR_INIT;

	(void)context;
	loopback();
	name_address(&n, "203.0.113.7", PLAN_ACTION_ALLOW);
	name_address(&n, "203.0.113.9", PLAN_ACTION_DENY);
	name_address(&n, "2001:db8::7", PLAN_ACTION_ALLOW);
	name_address(&n, "2001:db8::8", PLAN_ACTION_ASK);
	CHECK_NUMBER(capture_open(&n.plan, &c, &e), 0);
	CHECK(c.dns >= 0 && c.count >= 1);
	CHECK(c.plain == (c.rules < 0) && (!c.plain || c.count == 7));
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(v4); i++) {
		leads(&c, v4[i], 7777);
		leads(&c, v4[i], 443);
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(v6); i++) {
		leads(&c, v6[i], 7778);
		leads(&c, v6[i], 80);
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(other4); i++) {
		refused(other4[i], 443);
		refused(other4[i], 7777);
		CHECK_NUMBER(ask(&c, other4[i], 443), 0);
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(other6); i++) {
		refused(other6[i], 443);
		CHECK_NUMBER(ask(&c, other6[i], 443), 0);
	}
	/* DNS, and nothing else by datagrams. */
	CHECK_NUMBER(ask(&c, "10.255.255.53", 53), 1);
	CHECK_NUMBER(ask(&c, "203.0.113.7", 54), 0);
	if (!c.plain) {
		CHECK_NUMBER(ask(&c, "192.0.2.1", 53), 1);
		CHECK_NUMBER(ask(&c, "2001:db8::1", 53), 1);
		leads(&c, "192.0.2.1", 53);
	}
	/* The box's own services are its own. */
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(5555)};
	_cleanup_fd_ int server = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	CHECK(bind(server, (struct sockaddr *)&any, sizeof(any)) == 0 && listen(server, 5) == 0);
	for (int v = 0; v < 2; v++) {
		_cleanup_fd_ int fd = reach(v ? "::1" : "127.0.0.1", 5555);
		_cleanup_fd_ int got = accept4(server, NULL, NULL, SOCK_CLOEXEC);

		CHECK(fd >= 0 && got >= 0);
	}
	refused("127.0.0.1", 5556);
	capture_close(&c);
	CHECK(c.dns == -1 && c.log == -1 && c.rules == -1 && c.count == 0);
}

static void test_capture(void **state)
{
	(void)state;
	in_namespaces(CLONE_NEWNET, true, act_capture, NULL);
}

static void act_capture_taken(void *context)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(53)};
	struct named n = {.ports = {1, 1}};
	struct capture c = CAPTURE_INIT;
	struct error e = ERROR_INIT;
	bool tcp = *(bool *)context;
	int fd = socket(AF_INET6, (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);

	loopback();
	any.sin6_port = htons(tcp ? 1 : 53);
	CHECK(bind(fd, (struct sockaddr *)&any, sizeof(any)) == 0 && (!tcp || listen(fd, 1) == 0));
	CHECK_NUMBER(capture_open(&n.plan, &c, &e), -EADDRINUSE);
	CHECK_NUMBER(e.code, -EADDRINUSE);
	CHECK(c.dns == -1 && c.count == 0);
}

/* What cannot be had ends the launch. */
static void test_capture_taken(void **state)
{
	(void)state;
	for (int tcp = 0; tcp < 2; tcp++) {
		bool which = tcp;

		in_namespaces(CLONE_NEWNET, true, act_capture_taken, &which);
	}
}

/* --- the launcher ---------------------------------------------------------------------- */

struct start {
	struct plan plan;
	struct plan_mount mounts[4];
	struct plan_limit limits[5];
	int keep; /* where the channel is */
};

static int on_capture(void *context, struct channel_packet *packet, struct error *e)
{
	struct message_capture m;
	int r = message_decode(packet->body, &message_capture_schema, &m, NULL, e);

	CHECK_NUMBER(r, 0);
	CHECK(m.dns && packet->fd_count == (size_t)(1 + m.log + m.rules) + m.listeners);
	CHECK(m.listeners >= 1);
	*(int *)context += 1;
	return 0;
}

/* The keeper: gets the box's network, once, and then sees the end. */
static void keep_channel(int fd)
{
	static const struct channel_rule rules[] = {
		{MESSAGE_CAPTURE, "CAPTURE", 64, 1, CHANNEL_FDS_MAX, 1, on_capture}};
	struct error e = ERROR_INIT;
	int count = 0;
	struct channel c = {.fd = fd, .rules = rules, .rule_count = 1, .context = &count};

	while (channel_receive(&c, &e) == 1)
		continue;
	CHECK_NUMBER(e.code, 0);
	CHECK_NUMBER(count, 1);
	_exit(0);
}

static void check_status(const char *line)
{
	char text[8192];
	_cleanup_fd_ int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	CHECK(n > 0);
	text[n] = '\0';
	if (!strstr(text, line))
		(void)fprintf(stderr, "not there: %s", line);
	CHECK(strstr(text, line));
}

static void check_limit(int resource, uint64_t value)
{
	struct rlimit now;

	CHECK(getrlimit((__rlimit_resource_t)resource, &now) == 0);
	CHECK_NUMBER((long long)now.rlim_max, (long long)value);
	CHECK_NUMBER((long long)now.rlim_cur, (long long)value);
}

static void act_launch(void *context)
{
	struct start *s = context;
	struct error e = ERROR_INIT;
	struct rlimit before;
	int processes = -1;
	int ends[2];
	char name[64];

	CHECK(channel_pair(ends) == 0);
	pid_t keeper = fork();

	CHECK(keeper >= 0);
	if (keeper == 0) {
		(void)close(ends[0]);
		keep_channel(ends[1]);
	}
	(void)close(ends[1]);
	/* Some of those that nobody closed. */
	for (int i = 0; i < DESCRIPTORS; i++)
		(void)open("/", O_RDONLY | O_DIRECTORY); /* NOLINT(android-cloexec-open) */
	CHECK(s->keep == ends[0] || dup2(ends[0], s->keep) == s->keep);
	CHECK(getrlimit(RLIMIT_SIGPENDING, &before) == 0);
	(void)umask(027);
	CHECK_NUMBER(launch(&s->plan, s->keep, &processes, &e), 0);
	CHECK_NUMBER(e.code, 0);
	/* As the plan says. */
	CHECK(gethostname(name, sizeof(name)) == 0 && str_equal(name, "the-box"));
	CHECK_NUMBER(getuid(), (long long)s->plan.uid);
	CHECK_NUMBER(umask(022), 027);
	check_limit(RLIMIT_FSIZE, 1 << 20);
	check_limit(RLIMIT_CPU, 600);
	check_limit(RLIMIT_CORE, 0);
	check_limit(RLIMIT_RTPRIO, 0);
	if (before.rlim_max != RLIM_INFINITY)
		check_limit(RLIMIT_SIGPENDING, before.rlim_max / 2);
	/* Nothing is left of what was given up. */
	check_status("\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
		     "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n"
		     "CapAmb:\t0000000000000000\n");
	check_status("\nNoNewPrivs:\t1\n");
	check_status("\nSeccomp:\t2\n");
	CHECK_NUMBER(prctl(PR_GET_DUMPABLE, 0ul, 0ul, 0ul, 0ul), 0);
	CHECK(unshare(CLONE_NEWUSER) < 0);
	CHECK(access("/var", F_OK) < 0);
	CHECK_NUMBER(processes, s->keep + 1);
	for (int fd = 3; fd < DESCRIPTORS + 32; fd++)
		CHECK((fcntl(fd, F_GETFD) >= 0) == (fd == s->keep || fd == processes));
	CHECK(faccessat(processes, "1/status", F_OK, 0) == 0);
	(void)close(s->keep);
	int status = -1;

	CHECK(waitpid(keeper, &status, 0) == keeper);
	CHECK_NUMBER(status, 0);
}

static void start_init(struct start *s)
{
	static const struct plan_limit limits[] = {{PLAN_LIMIT_FILE_SIZE, 1 << 20, ""},
						   {PLAN_LIMIT_CPU_TIME, 600, ""}};

	*s = (struct start){.keep = 3};
	s->plan.uid = s->plan.host_uid = getuid();
	s->plan.gid = s->plan.host_gid = getgid();
	s->plan.hostname = "the-box";
	s->plan.seccomp_profile = "box";
	s->plan.seccomp = profile_bpf(PROFILE_BOX);
	s->plan.limits.items = s->limits;
	memcpy(s->limits, limits, sizeof(limits));
	s->plan.limits.count = BAWN_ARRAY_SIZE(limits);
	s->plan.mounts.items = s->mounts;
	s->plan.mounts.count = 3;
	for (size_t i = 0; i < 3; i++)
		s->mounts[i] = (struct plan_mount){
			.source = "", .upper = "", .role = "", .origin = "", .size = 1 << 20};
	s->mounts[0].kind = PLAN_MOUNT_DEV;
	s->mounts[0].target = "/dev";
	s->mounts[1].kind = PLAN_MOUNT_PROC;
	s->mounts[1].access = PLAN_ACCESS_READ;
	s->mounts[1].target = "/proc";
	s->mounts[2].kind = PLAN_MOUNT_TMPFS;
	s->mounts[2].access = PLAN_ACCESS_WRITE;
	s->mounts[2].target = "/tmp";
}

enum { ALL = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS };

static void test_launch(void **state)
{
	static struct start s;
	static const int keeps[] = {3, 4, 9};

	(void)state;
	if (landlock_abi() < 1)
		skip();
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(keeps); i++) {
		start_init(&s);
		s.keep = keeps[i];
		in_namespaces(ALL, false, act_launch, &s);
	}
}

static void act_launch_fails(void *context)
{
	struct start *s = context;
	struct error e = ERROR_INIT;
	int processes = -1;
	int ends[2];

	CHECK(channel_pair(ends) == 0);
	int r = launch(&s->plan, ends[0], &processes, &e);

	CHECK(r < 0);
	CHECK_NUMBER(e.code, r);
}

/* What cannot be applied ends it: a filter that is none, a root that cannot be made. */
static void test_launch_fails(void **state)
{
	static struct start s;

	(void)state;
	if (landlock_abi() < 1)
		skip();
	start_init(&s);
	s.plan.seccomp.len = 0;
	in_namespaces(ALL, false, act_launch_fails, &s);
	start_init(&s);
	s.plan.seccomp.len -= 1;
	in_namespaces(ALL, false, act_launch_fails, &s);
	start_init(&s);
	s.mounts[3] = s.mounts[2];
	s.mounts[3].kind = PLAN_MOUNT_BIND;
	s.mounts[3].source = "/no/such/folder";
	s.mounts[3].target = "/there";
	s.plan.mounts.count = 4;
	in_namespaces(ALL, false, act_launch_fails, &s);
}

/* By the kernel's own number. */
static void test_pid_max(void **state)
{
	struct utsname name;
	char *end = NULL;

	(void)state;
	assert_int_equal(uname(&name), 0);
	long major = strtol(name.release, &end, 10);

	assert_int_equal(*end, '.');
	long minor = strtol(end + 1, NULL, 10);

	assert_int_equal(feature_has_own_pid_max(), major > 6 || (major == 6 && minor >= 14));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture), cmocka_unit_test(test_capture_taken),
		cmocka_unit_test(test_launch),  cmocka_unit_test(test_launch_fails),
		cmocka_unit_test(test_pid_max),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
