/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A probe is an attempt from inside the box that must fail, with a control: the
 * same action outside, where nothing forbids it, must succeed.  Without the
 * control a refusal proves nothing; it could be a broken attempt.
 *
 * One row of a table is one probe.  The rows are in rows_*.c, grouped as the
 * threat corpus is; table.c lists them all.  The same row serves three
 * readers: bawn-probe runs its attempt inside the box, `bawn verify` runs its
 * control outside and compares, and init runs the few rows of rows_start.c
 * before the first command of every session.
 *
 * Invariants:
 *   - an attempt that would succeed does no harm: it works on objects of its
 *     own or with arguments that stop short of an effect;
 *   - an attempt never prints and never exits: it returns an outcome;
 *   - nothing is sent from the host's own network to any address but loopback.
 */
#ifndef BAWN_PROBE_H
#define BAWN_PROBE_H

#include "base.h"
#include "facts.h"
#include "plan.h"

/* The promises of docs/THREAT-MODEL.md that a box can be asked about. */
enum probe_promise {
	PROBE_FILES,
	PROBE_LATER,
	PROBE_SECRETS,
	PROBE_NETWORK,
	PROBE_RECORD,
	PROBE_MACHINE,
	PROBE_WEAKENING,
	PROBE_PROMISE_COUNT,
};

/*
 * The outcome of an attempt.  A negative one is the kernel's own errno; 0 and
 * above is one of these.
 */
enum probe_outcome {
	PROBE_DONE,   /* it worked */
	PROBE_ABSENT, /* what it looked for is not there */
	PROBE_OWN,    /* it worked, on an object that is the box's own */
	PROBE_HELD,   /* the state is as promised, or the limit held */
	PROBE_KILLED, /* the kernel ended it with SIGSYS */
	PROBE_DIED,   /* another signal ended it */
	PROBE_HUNG,   /* it did not come back in time */
	PROBE_UNABLE, /* it could not be tried */
	PROBE_OUTCOME_COUNT,
};

enum probe_control {
	PROBE_CONTROL_NONE,    /* there is none; no_control says why */
	PROBE_CONTROL_SAME,    /* the attempt itself, outside: must be PROBE_DONE */
	PROBE_CONTROL_DIFFERS, /* the attempt itself, outside: must not meet the refusal that is
				  expected inside (a system call that reaches the kernel) */
	PROBE_CONTROL_OWN,     /* control_fn, outside: must be PROBE_DONE */
};

enum {
	PROBE_IN_NAMESPACES = 1 << 0, /* the control runs in user, mount, net, ipc and uts
					 namespaces of its own, where it has authority */
	PROBE_MAY_LACK = 1 << 1,      /* the object is the host's: if it is not there, or the user
					 may not reach it either, there is no control here */
	PROBE_AFTER = 1 << 2,         /* the control runs after the box */
	PROBE_DEBUG = 1 << 3,         /* the plan's `debug` allows this */
	PROBE_PATH = 1 << 4,          /* text is a path outside; a plan that shows it gives it */
	PROBE_VARIABLE = 1 << 5,      /* text is a variable; a plan that sets it gives it */
	PROBE_RETURNS_FD = 1 << 6,    /* the call would return a descriptor */
	PROBE_EXHIBIT = 1 << 7,       /* needs a folder that verify asks to be shown */
	PROBE_DEBUG_ALSO = 1 << 8,    /* with the plan's `debug` the answers of `also` count */
	PROBE_ADDRESS = 1 << 9,       /* text is an address; a plan that allows it gives it */
	PROBE_SYSTEM = 1 << 10,       /* a plan with a system of its own gives this, of that one */
	PROBE_SYSTEM_ALSO = 1 << 11,  /* on such a system the answers of `also` count */
};

enum {
	PROBE_NOTE_MAX = 200,
	PROBE_WANT_MAX = 4,
	PROBE_DEADLINE_MS = 2000,
	PROBE_PATIENCE_MS = 20000
};

struct probe;

/* The input of an attempt, and its note about what it saw. */
struct probe_run {
	const struct probe *probe;
	const struct facts *facts; /* NULL at start-up */
	char note[PROBE_NOTE_MAX]; /* for a person; may be empty */
};

typedef int probe_fn(struct probe_run *run);

/* An argument as a system call has it. */
union probe_arg {
	long number;
	const void *pointer;
};

struct probe {
	const char *id;       /* of the corpus, "KS-03" */
	const char *name;     /* unique, "call-bpf" */
	const char *sentence; /* what it proves, for a person */
	enum probe_promise promise;
	enum probe_control control;
	unsigned int flags;
	unsigned int layers; /* set of PROBE_LAYER(): layers that refuse it, alone or together */
	probe_fn *attempt;
	int want[PROBE_WANT_MAX]; /* the exact refusals with every layer on; 0 ends */
	int also[PROBE_WANT_MAX]; /* still a refusal when a layer is off; 0 ends */
	probe_fn *control_fn;
	const char *no_control;
	int patience_ms; /* of the second try; 0: PROBE_PATIENCE_MS */
	/* For attempts that many rows share. */
	const char *text;
	long number;
	union probe_arg args[6];
};

#define PROBE_LAYER(name) (1u << PLAN_LAYER_##name)
#define PROBE_ARG(value)          \
	{                         \
		.number = (value) \
	}
#define PROBE_POINTER(value)       \
	{                          \
		.pointer = (value) \
	}

struct probe_group {
	const struct probe *rows;
	size_t count;
};

#define PROBE_GROUP(array)                      \
	{                                       \
		(array), BAWN_ARRAY_SIZE(array) \
	}

extern const struct probe_group probe_rows_start, probe_rows_process, probe_rows_proc,
	probe_rows_calls, probe_rows_sockets, probe_rows_namespaces, probe_rows_terminal,
	probe_rows_devices, probe_rows_places, probe_rows_readonly, probe_rows_network,
	probe_rows_gate, probe_rows_services, probe_rows_variables, probe_rows_state;

size_t probe_count(void);
const struct probe *probe_at(size_t index); /* NULL past the end */

extern const char *const probe_promise_words[PROBE_PROMISE_COUNT];
extern const char *const probe_promise_titles[PROBE_PROMISE_COUNT];

/* "done", "absent" ... or the errno's name; into holds at least 24 bytes. */
const char *probe_outcome_word(int outcome, char *into, size_t size);

/* The reverse; -EINVAL when word is none. */
int probe_outcome_parse(const char *word, int *ret_outcome);

bool probe_in_set(const int *set, int outcome);

/* Writes what was seen; the printer escapes it. */
void probe_note(struct probe_run *run, const char *fmt, ...) BAWN_PRINTF(2, 3);

#endif
