/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-resolver: looks names up, as the user's machine does (his resolver, his
 * VPN, his hosts file), and nothing else.  The gate asks on descriptor 3.
 *
 * getaddrinfo blocks, so each name has a child of its own, a few at a time; a
 * child answers on the same channel (a message is one packet, so answers never
 * mix) and ends.  Linked dynamically, unlike the rest of bawn, because glibc
 * finds its name services that way.
 *
 * May: read what name services read, and talk to them.  Must not: write a file,
 * start a program, look into another process, gain rights, see what the names are for.
 * Name services are foreign code, so its filter lists what such code does anywhere: files
 * to read, sockets, children; and not what would make it more than a reader.
 */
#include "channel.h"
#include "fd.h"
#include "landlock.h"
#include "message.h"
#include "process.h"
#include "profile.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	RESOLVER_CHANNEL = 3,
	RESOLVER_CHILDREN = 8,
	RESOLVER_SECONDS = 10,
	RESOLVER_BYTES = 32 * 16, /* of addresses in one answer */
};

struct resolver {
	struct channel channel;
	int children;
};

static void resolver_add(struct buf *into, const struct addrinfo *a)
{
	uint8_t bytes[16] = {[10] = 0xff, [11] = 0xff};

	if (a->ai_family == AF_INET) {
		struct sockaddr_in in;

		memcpy(&in, a->ai_addr, sizeof(in));
		memcpy(bytes + 12, &in.sin_addr, 4);
	} else if (a->ai_family == AF_INET6) {
		struct sockaddr_in6 in6;

		memcpy(&in6, a->ai_addr, sizeof(in6));
		memcpy(bytes, &in6.sin6_addr, 16);
	} else {
		return;
	}
	buf_put(into, bytes, sizeof(bytes));
}

/* In a child: looks up, answers, ends. */
static _Noreturn void resolver_answer(const struct message_resolve *question)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	_cleanup_buf_ struct buf addresses = BUF_INIT(RESOLVER_BYTES);
	struct message_resolved answer = {.id = question->id};

	(void)alarm(RESOLVER_SECONDS);
	int r = getaddrinfo(question->name, NULL, &hints, &found);

	for (struct addrinfo *a = found; a && buf_error(&addresses) == 0; a = a->ai_next)
		resolver_add(&addresses, a);
	answer.failure = r < 0 ? (uint64_t)-r : (uint64_t)r;
	answer.addresses = buf_span(&addresses);
	(void)message_send(RESOLVER_CHANNEL, MESSAGE_RESOLVED, &message_resolved_schema, &answer,
			   NULL, 0);
	_exit(0);
}

static void resolver_reap(struct resolver *r, bool wait)
{
	while (r->children > 0 && waitpid(-1, NULL, wait ? 0 : WNOHANG) > 0) {
		r->children--;
		wait = false;
	}
}

static int resolver_on_resolve(void *context, struct channel_packet *packet, struct error *e)
{
	struct resolver *r = context;
	struct message_resolve question;
	int ret = message_decode(packet->body, &message_resolve_schema, &question, NULL, e);

	if (ret < 0)
		return ret;
	resolver_reap(r, r->children >= RESOLVER_CHILDREN);
	pid_t pid = fork();

	if (pid == 0)
		resolver_answer(&question);
	if (pid > 0)
		r->children++;
	return 0;
}

static const struct channel_rule resolver_rules[] = {
	{MESSAGE_RESOLVE, "RESOLVE", 512, 0, 0, 1u << 0, resolver_on_resolve},
};

/* Reading what name services read; writing nothing, anywhere. */
static int resolver_confine_files(void)
{
	static const char *const readable[] = {"/etc", "/usr", "/lib", "/lib64", "/run",
					       "/var", "/opt", "/nix", "/proc",  "/dev"};
	int abi = landlock_abi();
	int r = 0;

	if (abi < 0)
		return 0;
	_cleanup_fd_ int ruleset = landlock_new(abi, false);

	if (ruleset < 0)
		return ruleset;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(readable); i++) {
		_cleanup_fd_ int fd = open(readable[i], O_PATH | O_CLOEXEC);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) < 0)
			continue;
		r = landlock_grant(ruleset, abi, fd, S_ISDIR(st.st_mode), LANDLOCK_GRANT_READ);
		if (r < 0)
			return r;
	}
	return landlock_restrict(ruleset);
}

static int resolver_confine(void)
{
	int r = process_no_new_privs();

	if (r == 0)
		r = process_not_dumpable();
	if (r == 0)
		r = resolver_confine_files();
	if (r == 0)
		r = process_filter(profile_bpf(PROFILE_RESOLVER));
	/* On a kernel without filters the gate ends, unless that was asked for by name. */
	return r == -ENOSYS || r == -EINVAL ? 0 : r;
}

int main(void)
{
	struct resolver r = {.channel = {.fd = RESOLVER_CHANNEL,
					 .rules = resolver_rules,
					 .rule_count = BAWN_ARRAY_SIZE(resolver_rules)}};
	struct error e = ERROR_INIT;

	r.channel.context = &r;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)setsid();
	if (fd_set_cloexec(RESOLVER_CHANNEL, true) < 0 || resolver_confine() < 0)
		return 1;
	while (channel_receive(&r.channel, &e) > 0)
		resolver_reap(&r, false);
	return 0;
}
