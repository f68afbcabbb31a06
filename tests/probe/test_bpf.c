/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system call filters, run by an interpreter of classic BPF for every number
 * from 0 to 600 on three architectures, and compared with what the table says.
 * The table is read here a second time, in the plainest way there is: rule by
 * rule, from the top.  A fault in the search tree, a jump or a mask shows as a
 * difference.
 */
#include "../unit/cmocka_lead.h"

#include "base.h"
#include "profile.h"
#include "profile_table.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>

enum { NUMBERS = 601, RUNS_MAX = 4096 };

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#define X32_BIT 0x40000000u
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#define X32_BIT 0u
#endif

struct profile {
	const char *name;
	enum profile_kind kind;
	int in;
	enum profile_watch watch;
};

static const struct profile profiles[] = {
	{"box", PROFILE_BOX, IN_BOX, 0},
	{"box-debug", PROFILE_BOX_DEBUG, IN_DEBUG, 0},
	{"box-closed", PROFILE_BOX_CLOSED, IN_CLOSED, 0},
	{"keeper", PROFILE_KEEPER, IN_KEEPER, 0},
	{"gate", PROFILE_GATE, IN_GATE, 0},
	{"signer", PROFILE_SIGNER, IN_SIGNER, 0},
	{"keys", PROFILE_KEYS, IN_KEYS, 0},
	{"resolver", PROFILE_RESOLVER, IN_RESOLVER, 0},
	{"box+changes", PROFILE_BOX, IN_BOX, PROFILE_WATCH_CHANGES},
	{"box+names", PROFILE_BOX, IN_BOX, PROFILE_WATCH_NAMES},
	{"box+reads", PROFILE_BOX, IN_BOX, PROFILE_WATCH_READS},
	{"box-debug+changes", PROFILE_BOX_DEBUG, IN_DEBUG, PROFILE_WATCH_CHANGES},
	{"box-debug+names", PROFILE_BOX_DEBUG, IN_DEBUG, PROFILE_WATCH_NAMES},
	{"box-debug+reads", PROFILE_BOX_DEBUG, IN_DEBUG, PROFILE_WATCH_READS},
	{"box-closed+changes", PROFILE_BOX_CLOSED, IN_CLOSED, PROFILE_WATCH_CHANGES},
	{"box-closed+names", PROFILE_BOX_CLOSED, IN_CLOSED, PROFILE_WATCH_NAMES},
	{"box-closed+reads", PROFILE_BOX_CLOSED, IN_CLOSED, PROFILE_WATCH_READS},
	{"box-system", PROFILE_BOX_SYSTEM, IN_BOX, 0},
	{"box-system+changes", PROFILE_BOX_SYSTEM, IN_BOX, PROFILE_WATCH_CHANGES},
	{"box-system+names", PROFILE_BOX_SYSTEM, IN_BOX, PROFILE_WATCH_NAMES},
	{"box-system+reads", PROFILE_BOX_SYSTEM, IN_BOX, PROFILE_WATCH_READS},
	{"box-system-debug", PROFILE_BOX_SYSTEM_DEBUG, IN_DEBUG, 0},
	{"box-system-debug+reads", PROFILE_BOX_SYSTEM_DEBUG, IN_DEBUG, PROFILE_WATCH_READS},
	{"maker", PROFILE_MAKER, 0, 0},
	{"recorder", PROFILE_RECORDER, IN_RECORDER, 0},
	{"sender", PROFILE_SENDER, IN_SENDER, 0},
	{"covers", PROFILE_COVERS, IN_COVERS, 0},
	{"syncer", PROFILE_SYNCER, IN_SYNCER, 0},
	{"screen", PROFILE_SCREEN, IN_SCREEN, 0},
	{"reader", PROFILE_READER, IN_READER, 0},
	{"review", PROFILE_REVIEW, IN_REVIEW, 0},
};

static struct span program_of(const struct profile *p)
{
	return p->watch ? profile_watched_bpf(p->kind, p->watch) : profile_bpf(p->kind);
}

/* --- the interpreter ------------------------------------------------------------------ */

static uint32_t load(const struct seccomp_data *data, uint32_t offset)
{
	uint32_t value = 0;

	if (offset > sizeof(*data) - 4 || offset % 4 != 0)
		fail_msg("load at %u", offset);
	memcpy(&value, (const char *)data + offset, 4);
	return value;
}

static uint32_t interpret(struct span program, const struct seccomp_data *data)
{
	const struct sock_filter *code = (const struct sock_filter *)(const void *)program.ptr;
	uint32_t count = (uint32_t)(program.len / sizeof(*code));
	uint32_t a = 0;

	for (uint32_t at = 0, steps = 0; steps < RUNS_MAX; at++, steps++) {
		if (at >= count)
			fail_msg("the program runs past its end");
		const struct sock_filter *c = &code[at];
		bool jump = false;

		switch (c->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = load(data, c->k);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= c->k;
			continue;
		case BPF_RET | BPF_K:
			return c->k;
		case BPF_JMP | BPF_JA:
			at += c->k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			jump = a == c->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			jump = a >= c->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			jump = a > c->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			jump = (a & c->k) != 0;
			break;
		default:
			fail_msg("instruction %u has the unknown code 0x%x", at, c->code);
		}
		at += jump ? c->jt : c->jf;
	}
	fail_msg("the program does not end");
	return 0;
}

/* --- the table, read plainly ---------------------------------------------------------- */

static int number_of(const char *name, int fallback)
{
	int n = seccomp_syscall_resolve_name(name);

	return n >= 0 ? n : fallback;
}

static bool rule_matches(const struct profile_rule *rule, const struct seccomp_data *data)
{
	for (int i = 0; i < 3 && rule->when[i].mask != 0; i++) {
		const struct profile_condition *c = &rule->when[i];
		uint32_t argument =
			(uint32_t)(data->args[c->argument] >> (c->upper ? 32 : 0)) & c->mask;

		if (c->any ? argument == 0 : argument != c->value)
			return false;
	}
	return true;
}

/* An argument that the condition holds for; any: of the bits that it asks for, these. */
static void meet(struct seccomp_data *data, const struct profile_condition *c, uint32_t any)
{
	data->args[c->argument] = (uint64_t)(c->any ? any : c->value) << (c->upper ? 32 : 0);
}

/* By native number: what it is in the table.  Resolved once; the test asks very often. */
static int call_row[1024], first_rule[1024], watched_row[1024];
static bool is_quiet[1024], is_pretended[1024];

static int resolve(void **state)
{
	(void)state;
	for (int i = 0; i < 1024; i++)
		call_row[i] = first_rule[i] = watched_row[i] = -1;
	for (int i = 0; i < (int)BAWN_ARRAY_SIZE(profile_watched); i++) {
		int n = number_of(profile_watched[i].call, profile_watched[i].number);

		if (n >= 0)
			watched_row[n] = i;
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(profile_quiet); i++)
		is_quiet[number_of(profile_quiet[i], 0)] = true;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(profile_pretended); i++)
		is_pretended[number_of(profile_pretended[i], 1023)] = true;
	for (int i = 0; i < (int)BAWN_ARRAY_SIZE(profile_calls); i++) {
		int n = number_of(profile_calls[i].name, profile_calls[i].number);

		if (n >= 0)
			call_row[n] = i;
	}
	for (int i = (int)BAWN_ARRAY_SIZE(profile_rules) - 1; i >= 0; i--) {
		int n = number_of(profile_rules[i].call, -1);

		if (n >= 0)
			first_rule[n] = i;
	}
	return 0;
}

static bool pretends(const struct profile *p)
{
	return p->kind == PROFILE_BOX_SYSTEM || p->kind == PROFILE_BOX_SYSTEM_DEBUG ||
	       p->kind == PROFILE_MAKER;
}

static uint32_t unwatched(const struct profile *p, const struct seccomp_data *data)
{
	uint32_t nr = (uint32_t)data->nr;

	if (data->arch != NATIVE || (X32_BIT && (nr & X32_BIT)))
		return SECCOMP_RET_KILL_PROCESS;
	if (pretends(p) && nr < 1024 && is_pretended[nr])
		return SECCOMP_RET_ERRNO;
	if (p->kind == PROFILE_MAKER)
		return SECCOMP_RET_ALLOW;
	if (nr >= 1024)
		return SECCOMP_RET_ERRNO | ENOSYS;
	if (call_row[nr] >= 0 && (profile_calls[call_row[nr]].in & p->in))
		return SECCOMP_RET_ALLOW;
	for (int i = first_rule[nr]; i >= 0 && i < (int)BAWN_ARRAY_SIZE(profile_rules); i++) {
		const struct profile_rule *rule = &profile_rules[i];

		if (strcmp(rule->call, profile_rules[first_rule[nr]].call) != 0)
			break;
		if ((rule->in & p->in) && rule_matches(rule, data))
			return rule->action && rule->action != PROFILE_ASK
				       ? SECCOMP_RET_ERRNO | (uint32_t)rule->action
				       : SECCOMP_RET_ALLOW;
	}
	return SECCOMP_RET_ERRNO | ENOSYS;
}

static bool is_watched(const struct profile *p, const struct seccomp_data *data)
{
	uint32_t nr = (uint32_t)data->nr;
	const struct profile_watched *w =
		nr < 1024 && watched_row[nr] >= 0 ? &profile_watched[watched_row[nr]] : NULL;

	if (w && w->seen == PROFILE_SEEN_TIMES)
		return (uint32_t)data->args[w->mode] == 0;
	/* Of unix sockets those whose messages name where they go. */
	if (w && w->seen == PROFILE_SEEN_DATAGRAM)
		return (uint32_t)data->args[0] == AF_UNIX &&
		       ((data->args[1] & 0xf) == SOCK_DGRAM || (data->args[1] & 0xf) == SOCK_RAW);
	if (!w || w->seen != PROFILE_SEEN_OPEN || w->flags < 0)
		return w != NULL;
	uint32_t flags = (uint32_t)data->args[w->flags];

	if (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)))
		return true;
	if (p->watch == PROFILE_WATCH_CHANGES || (flags & (O_DIRECTORY | O_PATH)))
		return false;
	if (p->watch == PROFILE_WATCH_READS)
		return true;
	return !(flags & O_NOCTTY) &&
	       (strcmp(w->call, "open") == 0 || (int)data->args[0] == AT_FDCWD);
}

/* A watched box: what was refused is asked about, and what is watched. */
static uint32_t expected(const struct profile *p, const struct seccomp_data *data)
{
	uint32_t plain = unwatched(p, data);
	uint32_t nr = (uint32_t)data->nr;

	if (!p->watch || plain == SECCOMP_RET_KILL_PROCESS || plain == SECCOMP_RET_ERRNO)
		return plain;
	if (plain != SECCOMP_RET_ALLOW)
		return nr < 1024 && is_quiet[nr] ? plain : SECCOMP_RET_USER_NOTIF;
	return is_watched(p, data) ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
}

/*
 * What the recorder answers is what the filter without a watch would have said: the errno of a
 * refused call, and only a watched one goes on.
 */
static void compare_judgement(const struct profile *p, const struct seccomp_data *data,
			      uint32_t got)
{
	uint32_t plain = interpret(profile_bpf(p->kind), data);
	uint64_t args[6];

	for (int i = 0; i < 6; i++)
		args[i] = data->args[i];
	struct profile_answer a = profile_judge(p->kind, p->watch, data->nr, args);

	if (got == SECCOMP_RET_USER_NOTIF && plain == SECCOMP_RET_ALLOW) {
		assert_int_equal(a.verdict, PROFILE_WATCHED);
		assert_non_null(a.watched);
	} else if (got == SECCOMP_RET_USER_NOTIF) {
		assert_int_equal(a.verdict, PROFILE_REFUSED);
		assert_int_equal(SECCOMP_RET_ERRNO | (uint32_t)a.error, plain);
		assert_null(a.watched);
	} else if (got == SECCOMP_RET_ALLOW) {
		assert_int_equal(a.verdict, PROFILE_ALLOWED);
	} else if (got == SECCOMP_RET_ERRNO) {
		assert_int_equal(a.verdict, PROFILE_PRETENDED);
	}
}

static size_t compared;

static void compare(const struct profile *p, const struct seccomp_data *data)
{
	uint32_t want = expected(p, data);
	uint32_t got = interpret(program_of(p), data);

	compared++;
	if (p->watch)
		compare_judgement(p, data, got);
	if (got != want)
		fail_msg("%s: number 0x%x, arch 0x%x, arguments %llx %llx %llx: the filter says "
			 "0x%x, the table 0x%x",
			 p->name, (unsigned int)data->nr, data->arch,
			 (unsigned long long)data->args[0], (unsigned long long)data->args[1],
			 (unsigned long long)data->args[2], got, want);
}

/* --- tests ---------------------------------------------------------------------------- */

static const uint64_t garbage[] = {0, 1ull << 32, 1ull << 63, 0xffffffff00000000ull,
				   0x123456789abull << 32};

static void the_program_is_one_the_kernel_takes(void **state)
{
	(void)state;
	for (size_t p = 0; p < BAWN_ARRAY_SIZE(profiles); p++) {
		struct span program = program_of(&profiles[p]);
		const struct sock_filter *code =
			(const struct sock_filter *)(const void *)program.ptr;
		size_t count = program.len / sizeof(*code);

		assert_true(count > 0 && count <= BPF_MAXINSNS);
		assert_int_equal(program.len % sizeof(*code), 0);
		assert_int_equal(code[count - 1].code, BPF_RET | BPF_K);
		for (size_t i = 0; i < count; i++) {
			size_t room = count - i - 1;

			if (BPF_CLASS(code[i].code) != BPF_JMP)
				continue;
			if (code[i].code == (BPF_JMP | BPF_JA))
				assert_true(code[i].k < room);
			else
				assert_true(code[i].jt < room && code[i].jf < room);
		}
	}
}

static void every_number_on_every_architecture(void **state)
{
	static const uint32_t archs[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386,    AUDIT_ARCH_AARCH64,
					 AUDIT_ARCH_ARM,    AUDIT_ARCH_RISCV64, 0,
					 0xffffffffu};
	static const uint32_t bits[] = {0, 0x40000000u, 0x80000000u, 0xc0000000u, 0x20000000u};
	static const uint64_t arguments[] = {0, 1, ~0ull, 0x7e020000, 0x10000000, 0xffffffff};

	(void)state;
	for (size_t p = 0; p < BAWN_ARRAY_SIZE(profiles); p++)
		for (size_t a = 0; a < BAWN_ARRAY_SIZE(archs); a++)
			for (size_t b = 0; b < BAWN_ARRAY_SIZE(bits); b++)
				for (uint32_t nr = 0; nr < NUMBERS; nr++)
					for (size_t v = 0; v < BAWN_ARRAY_SIZE(arguments); v++) {
						struct seccomp_data data = {
							.nr = (int)(nr | bits[b]),
							.arch = archs[a]};

						for (int i = 0; i < 6; i++)
							data.args[i] = arguments[v];
						compare(&profiles[p], &data);
					}
}

/* For each rule: arguments that meet it, that miss it by one bit, and garbage above. */
static void every_rule_at_its_edges(void **state)
{
	(void)state;
	for (size_t p = 0; p < BAWN_ARRAY_SIZE(profiles); p++)
		for (size_t r = 0; r < BAWN_ARRAY_SIZE(profile_rules); r++) {
			const struct profile_rule *rule = &profile_rules[r];
			struct seccomp_data data = {.nr = number_of(rule->call, -1),
						    .arch = NATIVE};

			for (int i = 0; i < 3 && rule->when[i].mask; i++)
				meet(&data, &rule->when[i],
				     rule->when[i].mask & -rule->when[i].mask);
			compare(&profiles[p], &data);
			for (size_t g = 0; g < BAWN_ARRAY_SIZE(garbage); g++)
				for (int bit = 0; bit < 64; bit++)
					for (int i = 0; i < 3; i++) {
						struct seccomp_data near = data;

						near.args[i] ^= 1ull << bit;
						for (int n = 0; n < 6; n++)
							near.args[n] ^= garbage[g];
						compare(&profiles[p], &near);
					}
		}
}

static void every_socket(void **state)
{
	static const uint32_t protocols[] = {0,  1,  2,   4,   6,   9,   12,  15,  16,
					     17, 58, 115, 132, 136, 255, 256, 262, 0xffffffffu};
	struct seccomp_data data = {.nr = number_of("socket", -1), .arch = NATIVE};

	(void)state;
	for (size_t p = 0; p < BAWN_ARRAY_SIZE(profiles); p++)
		for (uint32_t family = 0; family < 64; family++)
			for (uint32_t type = 0; type < 16; type++)
				for (size_t n = 0; n < BAWN_ARRAY_SIZE(protocols); n++)
					for (size_t g = 0; g < BAWN_ARRAY_SIZE(garbage); g++) {
						data.args[0] = family | garbage[g];
						data.args[1] = type | 02004000 | garbage[g];
						data.args[2] = protocols[n] | garbage[g];
						compare(&profiles[p], &data);
					}
}

/* Each flag of an open alone, with O_CLOEXEC, and every pair; in every argument. */
static void every_open(void **state)
{
	static const char *const calls[] = {"open", "openat", "openat2", "creat"};

	(void)state;
	for (size_t p = 0; p < BAWN_ARRAY_SIZE(profiles); p++)
		for (size_t c = 0; c < BAWN_ARRAY_SIZE(calls); c++)
			for (int a = 0; a < 32; a++)
				for (int b = 0; b < 32; b++) {
					struct seccomp_data data = {.nr = number_of(calls[c], -1),
								    .arch = NATIVE};

					for (int i = 0; i < 6; i++)
						data.args[i] = (1u << a | 1u << b | O_CLOEXEC) |
							       garbage[(a + b) % 5];
					compare(&profiles[p], &data);
					data.args[0] = (uint32_t)AT_FDCWD | garbage[(a + b) % 5];
					compare(&profiles[p], &data);
				}
}

/* What the two readings of the table could both get wrong. */
static void what_must_be_asked_about(void **state)
{
	static const struct {
		const char *call;
		uint64_t args[4];
		uint32_t changes, reads;
	} cases[] = {
		{"openat",
		 {(uint32_t)AT_FDCWD, 0, O_RDONLY},
		 SECCOMP_RET_ALLOW,
		 SECCOMP_RET_USER_NOTIF},
		{"execve", {0}, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_USER_NOTIF},
		{"unlinkat", {0}, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_USER_NOTIF},
		{"openat", {0, 0, O_RDONLY}, SECCOMP_RET_ALLOW, SECCOMP_RET_USER_NOTIF},
		{"openat", {0, 0, O_RDWR}, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_USER_NOTIF},
		{"openat", {0, 0, O_CREAT}, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_USER_NOTIF},
		{"openat", {0, 0, O_TRUNC}, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_USER_NOTIF},
		{"openat",
		 {0, 0, O_TMPFILE | O_RDWR},
		 SECCOMP_RET_USER_NOTIF,
		 SECCOMP_RET_USER_NOTIF},
		{"openat", {0, 0, O_DIRECTORY}, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW},
		{"openat", {0, 0, O_PATH}, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW},
		{"openat2", {0}, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_USER_NOTIF},
		{"utimensat", {0, 0, 0}, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_USER_NOTIF},
		{"utimensat", {0, 0, 4096}, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW},
		{"mount", {0}, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_USER_NOTIF},
		{"seccomp", {1, 8}, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_USER_NOTIF},
		{"clone3", {0}, SECCOMP_RET_ERRNO | ENOSYS, SECCOMP_RET_ERRNO | ENOSYS},
		{"read", {0}, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW},
		{"sendmsg", {0}, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		struct seccomp_data data = {.nr = number_of(cases[i].call, -1), .arch = NATIVE};

		memcpy(data.args, cases[i].args, sizeof(cases[i].args));
		assert_int_equal(
			interpret(profile_watched_bpf(PROFILE_BOX, PROFILE_WATCH_CHANGES), &data),
			cases[i].changes);
		assert_int_equal(
			interpret(profile_watched_bpf(PROFILE_BOX, PROFILE_WATCH_READS), &data),
			cases[i].reads);
	}
	/* What is looked for beneath an open folder is asked about only where all reads are. */
	struct seccomp_data beneath = {.nr = number_of("openat", -1), .arch = NATIVE, .args = {5}};
	struct seccomp_data here = {
		.nr = number_of("openat", -1), .arch = NATIVE, .args = {(uint32_t)AT_FDCWD}};
	struct span names = profile_watched_bpf(PROFILE_BOX, PROFILE_WATCH_NAMES);

	assert_int_equal(interpret(names, &beneath), SECCOMP_RET_ALLOW);
	assert_int_equal(interpret(names, &here), SECCOMP_RET_USER_NOTIF);
	/* So is what compilers look for; and what changes something is asked about in any way. */
	here.args[2] = O_RDONLY | O_NOCTTY;
	assert_int_equal(interpret(names, &here), SECCOMP_RET_ALLOW);
	assert_int_equal(interpret(profile_watched_bpf(PROFILE_BOX, PROFILE_WATCH_READS), &here),
			 SECCOMP_RET_USER_NOTIF);
	here.args[2] = O_RDWR | O_NOCTTY;
	assert_int_equal(interpret(names, &here), SECCOMP_RET_USER_NOTIF);
	beneath.args[2] = O_RDWR;
	assert_int_equal(interpret(names, &beneath), SECCOMP_RET_USER_NOTIF);
	/* Another architecture's call ends the process here too. */
	struct seccomp_data foreign = {.nr = 0, .arch = AUDIT_ARCH_I386};

	assert_int_equal(interpret(profile_watched_bpf(PROFILE_BOX, PROFILE_WATCH_READS), &foreign),
			 SECCOMP_RET_KILL_PROCESS);
}

static void a_profile_is_found_by_its_name(void **state)
{
	(void)state;
	for (size_t p = 0; p < BAWN_ARRAY_SIZE(profiles); p++) {
		enum profile_kind kind = PROFILE_KEYS;
		enum profile_watch watch = PROFILE_WATCH_COUNT;

		if (profile_watched_bpf(profiles[p].kind, profiles[p].watch).len == 0)
			continue;
		assert_string_equal(profile_name(profiles[p].kind, profiles[p].watch),
				    profiles[p].name);
		assert_int_equal(profile_by_name(profiles[p].name, &kind, &watch), 0);
		assert_int_equal(kind, profiles[p].kind);
		assert_int_equal(watch, profiles[p].watch);
	}
	enum profile_kind kind;
	enum profile_watch watch;

	assert_int_equal(profile_by_name("box+", &kind, &watch), -ENOENT);
}

static void every_ioctl(void **state)
{
	struct seccomp_data data = {.nr = number_of("ioctl", -1), .arch = NATIVE};

	(void)state;
	for (size_t p = 0; p < BAWN_ARRAY_SIZE(profiles); p++)
		for (uint32_t request = 0; request < 0x10000;
		     request += request < 0x4a00 || request >= 0x5a00 ? 7 : 1)
			for (size_t g = 0; g < BAWN_ARRAY_SIZE(garbage); g++) {
				data.args[1] = request | garbage[g];
				compare(&profiles[p], &data);
			}
}

static void every_fcntl(void **state)
{
	struct seccomp_data data = {.nr = number_of("fcntl", -1), .arch = NATIVE};

	(void)state;
	for (size_t p = 0; p < BAWN_ARRAY_SIZE(profiles); p++)
		for (uint32_t command = 0; command < 2048; command++)
			for (size_t g = 0; g < BAWN_ARRAY_SIZE(garbage); g++) {
				data.args[1] = command | garbage[g];
				compare(&profiles[p], &data);
			}
}

/*
 * A test that cannot fail is none: every constant and every jump of the filter, changed by one
 * bit, must be found out by what is compared above.  A few changes mean nothing (two numbers of
 * the same fate beside each other), so not quite all.
 */
static bool is_found_out(const struct profile *p, struct span program)
{
	static const uint64_t arguments[] = {
		0, 1, ~0ull, 0x10000000, O_DIRECTORY, O_DIRECTORY | 1, (uint32_t)AT_FDCWD};

	for (uint32_t nr = 0; nr < NUMBERS; nr++)
		for (size_t v = 0; v < BAWN_ARRAY_SIZE(arguments); v++) {
			struct seccomp_data data = {.nr = (int)nr, .arch = NATIVE};

			for (int i = 0; i < 6; i++)
				data.args[i] = arguments[v];
			if (interpret(program, &data) != expected(p, &data))
				return true;
		}
	for (size_t r = 0; r < BAWN_ARRAY_SIZE(profile_rules); r++) {
		const struct profile_rule *rule = &profile_rules[r];
		struct seccomp_data data = {.nr = number_of(rule->call, -1), .arch = NATIVE};

		for (int i = 0; i < 3 && rule->when[i].mask; i++)
			meet(&data, &rule->when[i], rule->when[i].mask);
		for (int bit = -1; bit < 96; bit++) {
			struct seccomp_data near = data;

			if (bit >= 0)
				near.args[bit / 32] ^= 1ull << bit % 32;
			if (interpret(program, &near) != expected(p, &near))
				return true;
		}
	}
	struct seccomp_data foreign = {.nr = 0, .arch = AUDIT_ARCH_I386};
	struct seccomp_data x32 = {.nr = (int)X32_BIT, .arch = NATIVE};

	return interpret(program, &foreign) != expected(p, &foreign) ||
	       interpret(program, &x32) != expected(p, &x32);
}

static void find_out_changes(const struct profile *p)
{
	struct span whole = program_of(p);
	static struct sock_filter code[BPF_MAXINSNS];
	struct span changed = {(const uint8_t *)code, whole.len};
	size_t tried = 0;
	size_t missed = 0;

	memcpy(code, whole.ptr, whole.len);
	assert_false(is_found_out(p, changed));
	for (size_t i = 0; i < whole.len / sizeof(*code); i++) {
		struct sock_filter was = code[i];
		bool returns = BPF_CLASS(was.code) == BPF_RET;

		/* An answer becomes an allowance, any other constant is off by one bit. */
		if (BPF_CLASS(was.code) == BPF_LD || was.code == (BPF_JMP | BPF_JA))
			continue;
		code[i].k = !returns                     ? was.k ^ 1
			    : was.k == SECCOMP_RET_ALLOW ? SECCOMP_RET_ERRNO | EPERM
							 : SECCOMP_RET_ALLOW;
		tried++;
		missed += !is_found_out(p, changed);
		code[i] = was;
	}
	(void)printf("# %s: %zu changes tried, %zu of no consequence\n", p->name, tried, missed);
	assert_true(tried > 100);
	/* Of a watched box, which of two rules refuses is the recorder's to know. */
	assert_true(missed * (p->watch ? 16 : 50) <= tried);
}

static void a_changed_filter_is_found_out(void **state)
{
	(void)state;
	for (size_t p = 0; p < BAWN_ARRAY_SIZE(profiles); p++)
		if (profiles[p].kind == PROFILE_BOX)
			find_out_changes(&profiles[p]);
}

/* What a comparison of two readings of one table cannot show: that the table means it. */
static void what_must_never_pass(void **state)
{
	static const struct {
		const char *call;
		uint64_t args[5];
		uint32_t answer;
	} cases[] = {
		{"mount", {0}, ENOSYS},
		{"bpf", {0}, ENOSYS},
		{"io_uring_setup", {0}, ENOSYS},
		{"ptrace", {0}, ENOSYS},
		{"unshare", {0x10000000}, ENOSYS},
		{"setns", {0}, ENOSYS},
		{"clone3", {0}, ENOSYS},
		{"keyctl", {0}, ENOSYS},
		{"open_by_handle_at", {0}, ENOSYS},
		{"clone", {0x10000000 | 17}, EPERM},
		{"clone", {0x10000000 | 17 | 1ull << 40}, EPERM},
		/* a thread with descriptors, or a folder, of its own */
		{"clone", {0x10900}, EPERM},
		{"clone", {0x10b00}, EPERM},
		{"clone", {0x10d00}, EPERM},
		{"clone", {0x10d00 | 1ull << 41}, EPERM},
		{"unshare", {0x400}, ENOSYS},
		{"unshare", {0x200}, ENOSYS},
		{"close_range", {3, 4, 2}, ENOSYS},
		{"close_range", {3, 4, 6 | 1ull << 33}, ENOSYS},
		{"socket", {40, 1, 0}, EAFNOSUPPORT},
		{"socket", {17, 3, 0}, EAFNOSUPPORT},
		{"socket", {2, 3, 1}, EPERM},
		{"socket", {2, 3 | 02000000, 1}, EPERM},
		{"socket", {16, 3, 9}, EPROTONOSUPPORT},
		{"socket", {16, 3, 12}, EPERM},
		{"ioctl", {0, 0x5412}, EPERM},
		{"ioctl", {0, 0x5412 | 1ull << 32}, EPERM},
		{"ioctl", {0, 0x541c | 1ull << 63}, EPERM},
		{"ioctl", {0, 0x40086602}, ENOTTY}, /* FS_IOC_SETFLAGS */
		{"ioctl", {0, 0x40086602 | 1ull << 32}, ENOTTY},
		{"ioctl", {0, 0x40087602}, ENOTTY}, /* FS_IOC_SETVERSION */
		{"ioctl", {0, 0x401c5820}, ENOTTY}, /* FS_IOC_FSSETXATTR */
		{"ioctl", {0, 0xc0045877}, ENOTTY}, /* FIFREEZE */
		{"ioctl", {0, 0xc0185879}, ENOTTY}, /* FITRIM */
		{"ioctl", {0, 0x40806685}, ENOTTY}, /* FS_IOC_ENABLE_VERITY */
		{"ioctl", {0, 0x800c6613}, ENOTTY}, /* FS_IOC_SET_ENCRYPTION_POLICY */
		{"ioctl", {0, 0x50009401}, ENOTTY}, /* BTRFS_IOC_SNAP_CREATE */
		{"ioctl", {0, 0x50009417}, ENOTTY}, /* BTRFS_IOC_SNAP_CREATE_V2 */
		{"ioctl", {0, 0x50009418}, ENOTTY}, /* BTRFS_IOC_SUBVOL_CREATE_V2 */
		{"ioctl", {0, 0x40047211}, ENOTTY}, /* FAT_IOCTL_SET_ATTRIBUTES */
		{"prctl", {35, 14}, EPERM},         /* PR_SET_MM, PR_SET_MM_MAP */
		{"prctl", {35 | 1ull << 32, 14}, EPERM},
		{"prlimit64", {1, 7}, EPERM},
		{"prlimit64", {1 | 1ull << 32, 7}, EPERM},
		{"sched_setaffinity", {1}, EPERM},
		{"sched_setattr", {1}, EPERM},
		{"sched_setparam", {1}, EPERM},
		{"sched_setscheduler", {1}, EPERM},
		{"setpriority", {0, 1}, EPERM},
		{"setpriority", {2, 0}, EPERM},
		{"ioprio_set", {1, 1}, EPERM},
		{"ioprio_set", {3, 0}, EPERM},
		{"seccomp", {1, 8}, EPERM},
		{"fcntl", {3, 1024, 0}, EINVAL},
		{"fcntl", {3, 1024 | 1ull << 32, 2}, EINVAL},
		{"fcntl", {3, 1026, 0x80000004}, EINVAL},
		{"fcntl", {3, 1040}, EINVAL},
		{"mknod", {0, 0x21a4, 0}, EACCES}, /* S_IFCHR */
		{"mknodat", {0, 0, 0x21a4 | 1ull << 32}, EACCES},
		{"renameat2", {0, 0, 0, 0, 4}, EINVAL}, /* RENAME_WHITEOUT */
		{"renameat2", {0, 0, 0, 0, 5 | 1ull << 32}, EINVAL},
		{"personality", {0x0400000}, EPERM},
		{"personality", {0x0040000}, EPERM},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		struct seccomp_data data = {.nr = number_of(cases[i].call, -1), .arch = NATIVE};

		memcpy(data.args, cases[i].args, sizeof(cases[i].args));
		assert_int_equal(interpret(profile_bpf(PROFILE_BOX), &data),
				 SECCOMP_RET_ERRNO | cases[i].answer);
	}
}

/* Of bawn's own processes, what none of them needs: neither programs, nor others' processes. */
static void what_bawn_itself_must_not_do(void **state)
{
	static const struct {
		enum profile_kind kind;
		const char *call;
		uint64_t args[5];
		uint32_t answer; /* 0: it is allowed */
	} cases[] = {
		{PROFILE_RESOLVER, "pidfd_send_signal", {3, 9}, ENOSYS},
		{PROFILE_SENDER, "pidfd_send_signal", {3, 9}, ENOSYS},
		{PROFILE_GATE, "pidfd_send_signal", {3, 9}, ENOSYS},
		{PROFILE_SIGNER, "pidfd_send_signal", {3, 9}, ENOSYS},
		{PROFILE_KEEPER, "pidfd_send_signal", {3, 9}, 0},
		{PROFILE_KEEPER, "pidfd_send_signal", {3, 18}, 0},
		{PROFILE_KEEPER, "pidfd_send_signal", {3, 19}, EPERM},
		{PROFILE_RECORDER, "pidfd_send_signal", {3, 9}, 0},
		{PROFILE_RECORDER, "pidfd_send_signal", {3, 18}, EPERM},
		{PROFILE_RESOLVER, "fcntl", {3, 8, 1}, EPERM},   /* F_SETOWN */
		{PROFILE_SENDER, "fcntl", {3, 15}, EPERM},       /* F_SETOWN_EX */
		{PROFILE_RESOLVER, "fcntl", {3, 10, 9}, EPERM},  /* F_SETSIG */
		{PROFILE_RESOLVER, "ioctl", {3, 0x8901}, EPERM}, /* FIOSETOWN */
		{PROFILE_SENDER, "ioctl", {3, 0x8902}, EPERM},   /* SIOCSPGRP */
		{PROFILE_SYNCER, "fdatasync", {3}, 0},
		{PROFILE_SYNCER, "openat", {0}, ENOSYS},
		{PROFILE_SYNCER, "write", {3}, ENOSYS},
		{PROFILE_SYNCER, "mmap", {0}, ENOSYS},
		{PROFILE_SYNCER, "socket", {1, 1}, ENOSYS},
		{PROFILE_SCREEN, "sendmsg", {3}, 0},
		{PROFILE_SCREEN, "openat", {0}, ENOSYS},
		{PROFILE_SCREEN, "write", {3}, ENOSYS},
		{PROFILE_SCREEN, "socket", {1, 1}, ENOSYS},
		{PROFILE_SCREEN, "execve", {0}, ENOSYS},
		{PROFILE_READER, "execve", {0}, ENOSYS},
		{PROFILE_READER, "clone", {17}, ENOSYS},
		{PROFILE_READER, "socket", {1, 1}, ENOSYS},
		{PROFILE_READER, "kill", {1, 9}, ENOSYS},
		{PROFILE_READER, "ptrace", {0}, ENOSYS},
		{PROFILE_READER, "ioctl", {0, 0x5412}, EPERM},
		{PROFILE_READER, "ioctl", {0, 0x40049409}, ENOTTY},
		{PROFILE_READER, "prlimit64", {7, 7}, EPERM},
		{PROFILE_REVIEW, "execve", {0}, ENOSYS},
		{PROFILE_REVIEW, "execveat", {0}, ENOSYS},
		{PROFILE_REVIEW, "clone", {PROFILE_FORK}, 0},
		{PROFILE_REVIEW, "clone", {PROFILE_FORK | 0x10000000}, EPERM},
		{PROFILE_REVIEW, "unshare", {0x10000000}, 0},
		{PROFILE_REVIEW, "unshare", {0x10020000}, EPERM},
		{PROFILE_REVIEW, "mount", {0}, ENOSYS},
		{PROFILE_REVIEW, "socket", {2, 1}, EAFNOSUPPORT},
		{PROFILE_REVIEW, "kill", {7, 15}, EPERM},
		{PROFILE_REVIEW, "kill", {7, 9}, 0},
		{PROFILE_REVIEW, "kill", {0, 9}, EPERM},
		{PROFILE_REVIEW, "kill", {0xffffffff, 9}, EPERM},
		{PROFILE_REVIEW, "kill", {0xfffffff9, 9}, EPERM},
		{PROFILE_REVIEW, "ptrace", {0}, ENOSYS},
		{PROFILE_REVIEW, "process_vm_readv", {0}, ENOSYS},
		{PROFILE_REVIEW, "mknodat", {3, 0, 0x2180, 0}, 0},
		{PROFILE_REVIEW, "mknodat", {3, 0, 0x2180, 0x103}, EPERM},
		{PROFILE_REVIEW, "mknodat", {3, 0, 0x6180, 0x700}, EPERM},
		{PROFILE_REVIEW, "prctl", {35}, EPERM},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		struct seccomp_data data = {.nr = number_of(cases[i].call, -1), .arch = NATIVE};
		uint32_t want =
			cases[i].answer ? SECCOMP_RET_ERRNO | cases[i].answer : SECCOMP_RET_ALLOW;

		memcpy(data.args, cases[i].args, sizeof(cases[i].args));
		if (interpret(profile_bpf(cases[i].kind), &data) != want)
			fail_msg("case %zu, %s: 0x%x", i, cases[i].call,
				 interpret(profile_bpf(cases[i].kind), &data));
	}
}

/* Where one user is everybody: told that it was done, in every kind of such a box, and nowhere
 * else. */
static void a_system_pretends_that_owners_change(void **state)
{
	static const char *const calls[] = {"chown",    "fchown",   "lchown",    "fchownat",
					    "setuid",   "setgid",   "setresuid", "setresgid",
					    "setreuid", "setregid", "setgroups", "capset"};

	(void)state;
	for (size_t p = 0; p < BAWN_ARRAY_SIZE(profiles); p++)
		for (size_t i = 0; i < BAWN_ARRAY_SIZE(calls); i++) {
			struct seccomp_data data = {.nr = number_of(calls[i], -1), .arch = NATIVE};
			uint32_t got = interpret(program_of(&profiles[p]), &data);

			if (data.nr >= 0 && pretends(&profiles[p]))
				assert_int_equal(got, SECCOMP_RET_ERRNO);
			else
				assert_int_not_equal(got, SECCOMP_RET_ERRNO);
		}
}

/* A box without a network namespace: no network by the filter alone. */
static void a_closed_box_has_no_internet_sockets(void **state)
{
	static const uint32_t families[] = {2, 10, 16};

	(void)state;
	for (size_t f = 0; f < BAWN_ARRAY_SIZE(families); f++)
		for (uint32_t type = 0; type < 16; type++)
			for (uint32_t protocol = 0; protocol < 300; protocol++) {
				struct seccomp_data data = {
					.nr = number_of("socket", -1),
					.arch = NATIVE,
					.args = {families[f], type | 02004000, protocol}};

				assert_int_equal(interpret(profile_bpf(PROFILE_BOX_CLOSED), &data),
						 SECCOMP_RET_ERRNO | EPERM);
			}
}

/* Who keeps covers on has rights over the box's mounts and processes: it looks, mounts on what it
 * holds, and does nothing else. */
static void who_keeps_covers_only_looks_and_mounts(void **state)
{
	static const struct {
		const char *call;
		uint64_t args[5];
		bool passes;
	} cases[] = {
		{"openat", {0, 0, O_RDONLY | O_CLOEXEC}, true},
		{"openat", {0, 0, O_PATH | O_DIRECTORY}, true},
		{"openat", {0, 0, O_WRONLY}, false},
		{"openat", {0, 0, O_RDWR | O_CREAT}, false},
		{"openat", {0, 0, O_TRUNC | 1ull << 40}, false},
		{"openat2", {0}, true},
		{"inotify_add_watch", {0}, true},
		{"sendmsg", {0}, true},
		{"open_tree", {0, 0, 0x89001}, true},
		{"open_tree", {0, 0, 0x88001}, false},
		{"open_tree", {0, 0, 0x9000}, false},
		{"mount_setattr", {0, 0, 0x9000}, true},
		{"mount_setattr", {0, 0, 0x8000}, false},
		{"move_mount", {0, 0, 0, 0, 0x44}, true},
		{"move_mount", {0, 0, 0, 0, 0x04}, false},
		{"move_mount", {0, 0, 0, 0, 0x244}, false}, /* MOVE_MOUNT_BENEATH */
		{"socket", {1, 1, 0}, false},
		{"socket", {2, 1, 0}, false},
		{"connect", {0}, false},
		{"execve", {0}, false},
		{"clone", {0x01200011}, false},
		{"clone3", {0}, false},
		{"setns", {0}, false},
		{"unshare", {0}, false},
		{"mount", {0}, false},
		{"umount2", {0}, false},
		{"pivot_root", {0}, false},
		{"fsopen", {0}, false},
		{"ptrace", {0}, false},
		{"process_vm_readv", {0}, false},
		{"process_vm_writev", {0}, false},
		{"pidfd_getfd", {0}, false},
		{"kill", {0}, false},
		{"unlinkat", {0}, false},
		{"renameat2", {0}, false},
		{"mkdirat", {0}, false},
		{"fchmod", {0}, false},
		{"pwrite64", {0}, false},
		{"ftruncate", {0}, false},
		{"ioctl", {0, 0x40049409}, false},
		{"prctl", {4, 1}, false},
		{"capset", {0}, false},
		{"bpf", {0}, false},
		{"keyctl", {0}, false},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		struct seccomp_data data = {.nr = number_of(cases[i].call, -1), .arch = NATIVE};

		memcpy(data.args, cases[i].args, sizeof(cases[i].args));
		bool passes = interpret(profile_bpf(PROFILE_COVERS), &data) == SECCOMP_RET_ALLOW;

		if (passes != cases[i].passes)
			fail_msg("%s, case %zu", cases[i].call, i);
	}
}

static void what_must_pass(void **state)
{
	static const struct {
		const char *call;
		uint64_t args[5];
	} cases[] = {
		{"read", {0}},           {"openat", {0}},
		{"execve", {0}},         {"clone", {17}},
		{"clone", {0x01200011}}, {"socket", {1, 2, 0}},
		{"clone", {0x3d0f00}},   {"clone", {0x50f00}},
		{"clone", {0x4111}},     {"clone", {0x511}},
		{"socket", {2, 1, 6}},   {"socket", {10, 2, 17}},
		{"socket", {16, 3, 0}},  {"ioctl", {0, 0x5401}},
		{"seccomp", {1, 0}},     {"personality", {0xffffffff}},
		{"futex", {0}},          {"landlock_restrict_self", {0}},
		{"fcntl", {0, 0, 3}},    {"fcntl", {0, 6}},
		{"fcntl", {0, 1025}},    {"fcntl", {0, 1030, 3}},
		{"fcntl", {0, 1033, 8}}, {"fcntl", {0, 38}},
		{"prlimit64", {0, 7}},   {"prctl", {15}},
		{"ioctl", {0, 0x5421}},  {"ioctl", {0, 0x40049409}},
		{"ioctl", {0, 0x8912}},  {"ioctl", {0, 0x80086601}},
		{"setpriority", {0, 0}}, {"sched_setaffinity", {0}},
		{"mknod", {0, 0x11a4}},  {"mknodat", {0, 0, 0xc1a4}},
		{"mknod", {0, 0644}},    {"renameat2", {0, 0, 0, 0, 3}},
	};

	(void)state;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(cases); i++) {
		struct seccomp_data data = {.nr = number_of(cases[i].call, -1), .arch = NATIVE};

		memcpy(data.args, cases[i].args, sizeof(cases[i].args));
		assert_int_equal(interpret(profile_bpf(PROFILE_BOX), &data), SECCOMP_RET_ALLOW);
	}
	(void)printf("# %zu comparisons\n", compared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_is_one_the_kernel_takes),
		cmocka_unit_test(every_number_on_every_architecture),
		cmocka_unit_test(every_rule_at_its_edges),
		cmocka_unit_test(every_socket),
		cmocka_unit_test(every_ioctl),
		cmocka_unit_test(every_fcntl),
		cmocka_unit_test(every_open),
		cmocka_unit_test(what_must_be_asked_about),
		cmocka_unit_test(a_profile_is_found_by_its_name),
		cmocka_unit_test(a_changed_filter_is_found_out),
		cmocka_unit_test(what_must_never_pass),
		cmocka_unit_test(what_bawn_itself_must_not_do),
		cmocka_unit_test(a_system_pretends_that_owners_change),
		cmocka_unit_test(a_closed_box_has_no_internet_sockets),
		cmocka_unit_test(who_keeps_covers_only_looks_and_mounts),
		cmocka_unit_test(what_must_pass),
	};

	return cmocka_run_group_tests(tests, resolve, NULL);
}
