/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build-time program: assembles the filters of profile_table.h into classic BPF
 * and prints them as C.  libseccomp gives the numbers of the calls; the program
 * itself is ours, because the kernel runs a filter once per system call number
 * when it is installed, and that is most of what a filter costs at start.
 * libseccomp can neither join neighbouring numbers into one range nor compare
 * one argument twice; a binary search over ranges takes about 8 steps where its
 * tree takes 18 (tests/bench/seccomp prints both).
 *
 * Layout of a program:
 *
 *	load arch;   not ours -> kill
 *	load number; x32 bit  -> kill (x86-64)
 *	binary search over ranges of numbers; each leaf is
 *		return allow | return ENOSYS | the rules of one call
 *
 * A tree node is `if number >= middle goto right`, the left half follows it.
 *
 * A watched box (profile_watch.h) has the same program, but each refused or watched call becomes a
 * notification.
 *
 * With the argument "numbers" it prints what profile_judge.c needs of the same table instead: the
 * calls by their number, since only libseccomp knows those.
 */
#include "profile_table.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NUMBERS = 1024, /* more than the kernel has */
	CODE_MAX = 4096,
	LEAF_REFUSE = -1,
	LEAF_ALLOW = -2, /* else: index of the call's first rule */
	LEAF_NOTIFY = -3,
	LEAF_QUIET = -4, /* ENOSYS at once, also in a watched box */
	LEAF_PRETEND = -5,
	/* and above: an open, its row among the watched */
	LEAF_OPEN = sizeof(profile_rules) / sizeof(profile_rules[0]),
	/* and above: watched if this argument is NULL */
	LEAF_TIMES = LEAF_OPEN + sizeof(profile_watched) / sizeof(profile_watched[0]),
	FAR = 255, /* the longest conditional jump */
};

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#define X32_BIT 0x40000000u
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#define X32_BIT 0u
#else
#error "bawn has no system call numbers for this architecture yet"
#endif

struct range {
	unsigned int first;
	int leaf;
};

struct program {
	struct sock_filter code[CODE_MAX];
	unsigned int len;
	struct range ranges[NUMBERS + 1];
	unsigned int range_count;
	int in;
	enum profile_watch watch;
	bool pretends; /* profile_pretended */
	bool open;     /* calls that no table names are allowed */
};

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "profile_gen: %s\n", what);
	exit(1);
}

static unsigned int emit(struct program *p, unsigned int code, unsigned int jt, unsigned int jf,
			 unsigned int k)
{
	if (p->len == CODE_MAX)
		die("program too long");
	p->code[p->len] =
		(struct sock_filter){(unsigned short)code, (unsigned char)jt, (unsigned char)jf, k};
	return p->len++;
}

static void emit_answer(struct program *p, unsigned int answer)
{
	(void)emit(p, BPF_RET | BPF_K, 0, 0, answer);
}

static void emit_return(struct program *p, int action)
{
	emit_answer(p, action == 0 ? SECCOMP_RET_ALLOW
		       : p->watch  ? SECCOMP_RET_USER_NOTIF
				   : SECCOMP_RET_ERRNO | (unsigned int)action);
}

/* Both architectures are little endian: the upper half comes second. */
static void emit_load_half(struct program *p, int argument, int upper)
{
	(void)emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0,
		   (unsigned int)offsetof(struct seccomp_data, args) + 8u * (unsigned int)argument +
			   (upper ? 4u : 0u));
}

static void emit_load(struct program *p, int argument)
{
	emit_load_half(p, argument, 0);
}

/* An open that can change something is watched; one that reads, if reads are watched; an open of a
 * folder or with O_PATH is not. */
static void emit_open(struct program *p, const struct profile_watched *w)
{
	bool names = p->watch == PROFILE_WATCH_NAMES;
	bool beneath = names && w->dir >= 0;
	unsigned int skip = beneath ? 3 : 1; /* instructions to skip, to the answers */

	emit_load(p, w->flags);
	if (p->watch == PROFILE_WATCH_CHANGES) {
		(void)emit(p, BPF_JMP | BPF_JSET | BPF_K, 0, 1, PROFILE_OPEN_CHANGES);
	} else {
		(void)emit(p, BPF_JMP | BPF_JSET | BPF_K, skip, 0, PROFILE_OPEN_CHANGES);
		(void)emit(p, BPF_JMP | BPF_JSET | BPF_K, skip, 0,
			   PROFILE_OPEN_BARE | (names ? PROFILE_OPEN_SEEKS : 0));
	}
	if (beneath) {
		emit_load(p, w->dir);
		(void)emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned int)PROFILE_AT_FDCWD);
	}
	emit_answer(p, SECCOMP_RET_USER_NOTIF);
	emit_answer(p, SECCOMP_RET_ALLOW);
}

/* The lower half of the pointer is enough: for a pointer with a lower half of 0 the filter only
 * asks without need. */
static void emit_times(struct program *p, int times)
{
	emit_load(p, times);
	(void)emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	emit_answer(p, SECCOMP_RET_USER_NOTIF);
	emit_answer(p, SECCOMP_RET_ALLOW);
}

/* One rule: each condition that fails skips to the end of the rule. */
static void emit_rule(struct program *p, const struct profile_rule *rule)
{
	unsigned int misses[3];
	unsigned int miss_count = 0;

	for (unsigned int i = 0; i < 3 && rule->when[i].mask != 0; i++) {
		const struct profile_condition *c = &rule->when[i];

		emit_load_half(p, c->argument, c->upper);
		if (!c->any && c->mask != 0xffffffffu)
			(void)emit(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, c->mask);
		misses[miss_count++] = c->any ? emit(p, BPF_JMP | BPF_JSET | BPF_K, 0, 0, c->mask)
					      : emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, c->value);
	}
	emit_return(p, rule->action);
	for (unsigned int i = 0; i < miss_count; i++)
		p->code[misses[i]].jf = (unsigned char)(p->len - misses[i] - 1);
}

/* The next rule of the same call in this program; NULL: none, or the program never reaches it. */
static const struct profile_rule *next_rule(const struct program *p,
					    const struct profile_rule *first,
					    const struct profile_rule *last)
{
	const struct profile_rule *end =
		profile_rules + sizeof(profile_rules) / sizeof(profile_rules[0]);

	if (last && last->when[0].mask == 0)
		return NULL; /* this rule always matches */
	for (const struct profile_rule *r = last ? last + 1 : first;
	     r < end && strcmp(r->call, first->call) == 0; r++)
		if ((r->in & p->in) && (r->action != PROFILE_ASK || p->watch))
			return r;
	return NULL;
}

static void emit_rules(struct program *p, const struct profile_rule *first)
{
	bool asks = p->watch != PROFILE_WATCH_NOTHING;

	for (const struct profile_rule *r = NULL; asks && (r = next_rule(p, first, r));)
		asks = r->action != 0;
	/* The recorder gets both refused and watched calls, and applies the rules. */
	if (asks) {
		emit_answer(p, SECCOMP_RET_USER_NOTIF);
		return;
	}
	for (const struct profile_rule *r = NULL; (r = next_rule(p, first, r));)
		emit_rule(p, r);
}

static void emit_leaf(struct program *p, int leaf)
{
	if (leaf == LEAF_REFUSE) {
		emit_return(p, ENOSYS);
	} else if (leaf == LEAF_ALLOW) {
		emit_return(p, 0);
	} else if (leaf == LEAF_NOTIFY) {
		emit_answer(p, SECCOMP_RET_USER_NOTIF);
	} else if (leaf == LEAF_QUIET) {
		emit_answer(p, SECCOMP_RET_ERRNO | ENOSYS);
	} else if (leaf == LEAF_PRETEND) {
		emit_answer(p, SECCOMP_RET_ERRNO);
	} else if (leaf >= LEAF_TIMES) {
		emit_times(p, leaf - LEAF_TIMES);
	} else if (leaf >= LEAF_OPEN) {
		emit_open(p, &profile_watched[leaf - LEAF_OPEN]);
	} else {
		emit_rules(p, &profile_rules[leaf]);
		if (p->code[p->len - 1].code != (BPF_RET | BPF_K))
			die("rules do not end in a return");
	}
}

static void emit_tree(struct program *p, unsigned int low, unsigned int high)
{
	if (high - low == 1) {
		emit_leaf(p, p->ranges[low].leaf);
		return;
	}
	unsigned int middle = low + (high - low) / 2;
	/* if number >= first of the right half, jump over the left half */
	unsigned int node = emit(p, BPF_JMP | BPF_JGE | BPF_K, 0, 1, p->ranges[middle].first);
	unsigned int far = emit(p, BPF_JMP | BPF_JA, 0, 0, 0);

	emit_tree(p, low, middle);
	unsigned int distance = p->len - far - 1;

	if (distance + 1 <= FAR) {
		/* The conditional jump reaches far enough: remove the long jump. */
		memmove(&p->code[far], &p->code[far + 1], (p->len - far - 1) * sizeof(p->code[0]));
		p->len--;
		p->code[node].jt = (unsigned char)distance;
		p->code[node].jf = 0;
	} else {
		p->code[far].k = distance;
	}
	emit_tree(p, middle, high);
}

static int number_of(const char *name, int fallback)
{
	int n = seccomp_syscall_resolve_name(name);

	return n >= 0 ? n : fallback;
}

/* Marks the watched calls, among the allowed and the refused. */
static void find_watched(int leaf[NUMBERS])
{
	for (size_t i = 0; i < sizeof(profile_watched) / sizeof(profile_watched[0]); i++) {
		const struct profile_watched *w = &profile_watched[i];
		int n = number_of(w->call, w->number);

		if (n >= NUMBERS)
			die(w->call);
		if (n < 0 || leaf[n] >= 0)
			continue; /* PROFILE_ASK in its rules says when */
		if (leaf[n] != LEAF_ALLOW)
			die(w->call);
		leaf[n] = w->seen == PROFILE_SEEN_OPEN && w->flags >= 0 ? LEAF_OPEN + (int)i
			  : w->seen == PROFILE_SEEN_TIMES               ? LEAF_TIMES + w->mode
									: LEAF_NOTIFY;
	}
	for (size_t i = 0; i < sizeof(profile_quiet) / sizeof(profile_quiet[0]); i++) {
		int n = number_of(profile_quiet[i], -1);

		if (n >= NUMBERS || (n >= 0 && leaf[n] != LEAF_REFUSE))
			die(profile_quiet[i]);
		if (n >= 0)
			leaf[n] = LEAF_QUIET;
	}
}

static void find_pretended(int leaf[NUMBERS])
{
	for (size_t i = 0; i < sizeof(profile_pretended) / sizeof(profile_pretended[0]); i++) {
		int n = number_of(profile_pretended[i], -1);

		if (n >= NUMBERS)
			die(profile_pretended[i]);
		if (n >= 0)
			leaf[n] = LEAF_PRETEND;
	}
}

static void find_ranges(struct program *p)
{
	int leaf[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		leaf[i] = p->open ? LEAF_ALLOW : LEAF_REFUSE;
	for (size_t i = 0; i < sizeof(profile_calls) / sizeof(profile_calls[0]); i++) {
		const struct profile_call *c = &profile_calls[i];
		int n = number_of(c->name, c->number);

		if (!(c->in & p->in) || n < 0)
			continue; /* not on this architecture, such as open() on arm64 */
		if (n >= NUMBERS || leaf[n] != LEAF_REFUSE)
			die(c->name);
		leaf[n] = LEAF_ALLOW;
	}
	for (int i = (int)(sizeof(profile_rules) / sizeof(profile_rules[0])) - 1; i >= 0; i--) {
		int n = number_of(profile_rules[i].call, -1);

		if (!(profile_rules[i].in & p->in) || n < 0)
			continue;
		if (n >= NUMBERS || leaf[n] == LEAF_ALLOW)
			die(profile_rules[i].call);
		leaf[n] = i; /* the loop goes backwards, so this ends at the call's first rule */
	}
	if (p->watch)
		find_watched(leaf);
	if (p->pretends)
		find_pretended(leaf);
	for (unsigned int i = 0; i < NUMBERS; i++)
		if (i == 0 || leaf[i] != leaf[i - 1] || leaf[i] >= 0)
			p->ranges[p->range_count++] = (struct range){i, leaf[i]};
}

static void assemble_watched(const char *name, int in, enum profile_watch watch, bool pretends)
{
	static struct program p;

	memset(&p, 0, sizeof(p));
	p.in = in;
	p.watch = watch;
	p.pretends = pretends;
	p.open = in == 0;
	find_ranges(&p);
	(void)emit(&p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
	(void)emit(&p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, OUR_ARCH);
	(void)emit(&p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
	(void)emit(&p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	if (X32_BIT) {
		(void)emit(&p, BPF_JMP | BPF_JSET | BPF_K, 0, 1, X32_BIT);
		(void)emit(&p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
	}
	emit_tree(&p, 0, p.range_count);

	(void)printf("/* %u ranges, %u instructions */\n", p.range_count, p.len);
	(void)printf("static const struct sock_filter %s[] = {\n", name);
	for (unsigned int i = 0; i < p.len; i++)
		(void)printf("\t{0x%02x, %u, %u, 0x%08x},\n", p.code[i].code, p.code[i].jt,
			     p.code[i].jf, p.code[i].k);
	(void)printf("};\n\n");
}

static void assemble(const char *name, int in)
{
	assemble_watched(name, in, PROFILE_WATCH_NOTHING, false);
}

static void assemble_box(const char *name, int in, bool pretends)
{
	static const char *const more[PROFILE_WATCH_COUNT] = {"bpf", "changes_bpf", "names_bpf",
							      "reads_bpf"};
	char whole[64];

	for (int watch = 0; watch < PROFILE_WATCH_COUNT; watch++) {
		(void)snprintf(whole, sizeof(whole), "profile_%s_%s", name, more[watch]);
		assemble_watched(whole, in, (enum profile_watch)watch, pretends);
	}
}

/* By number: the call's name, and where it stands in the tables; -1 nowhere. */
static void print_numbers(void)
{
	(void)printf("static const struct profile_number profile_numbers[] = {\n");
	for (int n = 0; n < NUMBERS; n++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, n);
		const char *known = name;
		int call = -1, rule = -1, watched = -1;

		for (size_t i = 0; i < sizeof(profile_calls) / sizeof(profile_calls[0]); i++)
			if (number_of(profile_calls[i].name, profile_calls[i].number) == n) {
				call = (int)i;
				known = profile_calls[i].name;
			}
		for (int i = (int)(sizeof(profile_rules) / sizeof(profile_rules[0])) - 1; i >= 0;
		     i--)
			if (number_of(profile_rules[i].call, -1) == n)
				rule = i;
		for (size_t i = 0; i < sizeof(profile_watched) / sizeof(profile_watched[0]); i++)
			if (number_of(profile_watched[i].call, profile_watched[i].number) == n)
				watched = (int)i;
		if (known)
			(void)printf("\t[%d] = {\"%s\", %d, %d, %d},\n", n, known, call, rule,
				     watched);
		free(name);
	}
	(void)printf("};\n");
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "numbers") == 0) {
		print_numbers();
		return 0;
	}
	(void)printf("/* Made by profile_gen from profile_table.h; do not edit. */\n"
		     "#include <linux/filter.h>\n\n");
	assemble_box("box", IN_BOX, false);
	assemble_box("box_debug", IN_DEBUG, false);
	assemble_box("box_closed", IN_CLOSED, false);
	assemble_box("box_system", IN_BOX, true);
	assemble_box("box_system_debug", IN_DEBUG, true);
	assemble("profile_keeper_bpf", IN_KEEPER);
	assemble("profile_gate_bpf", IN_GATE);
	assemble("profile_signer_bpf", IN_SIGNER);
	assemble("profile_keys_bpf", IN_KEYS);
	assemble("profile_resolver_bpf", IN_RESOLVER);
	assemble("profile_recorder_bpf", IN_RECORDER);
	assemble("profile_sender_bpf", IN_SENDER);
	assemble("profile_covers_bpf", IN_COVERS);
	assemble("profile_syncer_bpf", IN_SYNCER);
	assemble("profile_screen_bpf", IN_SCREEN);
	assemble("profile_reader_bpf", IN_READER);
	assemble("profile_review_bpf", IN_REVIEW);
	assemble_watched("profile_maker_bpf", 0, PROFILE_WATCH_NOTHING, true);
	return 0;
}
