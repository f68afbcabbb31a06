/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn-resolver: looks names up, as the user's machine does (its resolver, its
 * VPN, its hosts file), and nothing else.  The gate asks on descriptor 3.
 *
 * getaddrinfo blocks, so each name has a child of its own, a few at a time; a
 * child answers on the same channel (a message is one packet, so answers never
 * mix) and ends.  It also says which of the addresses are this machine's own, or of a network
 * that it is in: it looks when it answers, so that holds however the network changes.  Linked
 * dynamically, unlike the rest of bawn, because glibc finds its name services that way.
 *
 * May: read what name services read, and talk to them.  Must not: write a file,
 * start a program, look into another process, gain rights, see what the names are for.
 * Name services are foreign code, so its filter allows what such code usually does: read files,
 * use sockets, make children; and nothing more.
 */
#include "channel.h"
#include "fd.h"
#include "landlock.h"
#include "message_gate.h"
#include "process.h"
#include "profile.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
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

/* The address as 16 bytes, v4 as v4-mapped.  fill: the bytes before a v4 one, 0xff for a mask.
 * False: neither v4 nor v6. */
static bool resolver_bytes(const struct sockaddr *a, uint8_t fill, uint8_t ret[16])
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (a->sa_family == AF_INET) {
		memset(ret, fill, 10);
		memset(ret + 10, 0xff, 2);
		memcpy(&in, a, sizeof(in));
		memcpy(ret + 12, &in.sin_addr, 4);
	} else if (a->sa_family == AF_INET6) {
		memcpy(&in6, a, sizeof(in6));
		memcpy(ret, &in6.sin6_addr, 16);
	}
	return a->sa_family == AF_INET || a->sa_family == AF_INET6;
}

static void resolver_add(struct buf *into, const struct addrinfo *a)
{
	uint8_t bytes[16];

	if (resolver_bytes(a->ai_addr, 0, bytes))
		buf_put(into, bytes, sizeof(bytes));
}

/*
 * Whether an address is the interface's own or in its network.  The network of a
 * point-to-point tunnel does not count: it says nothing about what is near.
 */
static bool resolver_is_near(const struct ifaddrs *i, const uint8_t address[16])
{
	uint8_t own[16], mask[16];
	bool all = true, network = true;

	if (!i->ifa_addr || !resolver_bytes(i->ifa_addr, 0, own))
		return false;
	if (!i->ifa_netmask || (i->ifa_flags & IFF_POINTOPOINT) ||
	    !resolver_bytes(i->ifa_netmask, 0xff, mask))
		memset(mask, 0xff, sizeof(mask));
	for (size_t n = 0; n < sizeof(own); n++) {
		all = all && own[n] == address[n];
		network = network && ((own[n] ^ address[n]) & mask[n]) == 0;
	}
	return all || network;
}

/* Bit i: whether the ith address is near. */
static uint64_t resolver_near(struct span addresses)
{
	struct ifaddrs *all = NULL;
	uint64_t near = 0;

	/* We know nothing, so all count as near. */
	if (getifaddrs(&all) < 0)
		return UINT64_MAX;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next)
		for (size_t n = 0; n < addresses.len / 16; n++)
			if (resolver_is_near(i, addresses.ptr + n * 16))
				near |= (uint64_t)1 << n;
	freeifaddrs(all);
	return near;
}

/*
 * Switches search domains off.  A name with a search domain of this machine added is
 * another name, which no rule allows and which a name server would see.  (A dot at its
 * end would do the same for DNS, but hosts files and other name services would not find it.)
 */
static void resolver_no_search(void)
{
	if (res_init() == 0)
		_res.options &= ~(unsigned long)(RES_DEFNAMES | RES_DNSRCH);
}

/* In a child: looks up, answers, ends. */
static _Noreturn void resolver_answer(const struct message_resolve *question)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	_cleanup_buf_ struct buf addresses = BUF_INIT(RESOLVER_BYTES);
	struct message_resolved answer = {.id = question->id};

	(void)alarm(RESOLVER_SECONDS);
	resolver_no_search();
	int r = getaddrinfo(question->name, NULL, &hints, &found);

	for (struct addrinfo *a = found; a && buf_error(&addresses) == 0; a = a->ai_next)
		resolver_add(&addresses, a);
	answer.failure = r < 0 ? (uint64_t)-r : (uint64_t)r;
	answer.addresses = buf_span(&addresses);
	answer.near = resolver_near(answer.addresses);
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

/* Allows reading what name services read, and no writing anywhere. */
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
	/* Without filters in the kernel the gate ends anyway, unless the user goes without them. */
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
