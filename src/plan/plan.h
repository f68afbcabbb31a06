/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: what a box is, as data.  bawn makes it once from policy, facts and
 * flags; no process changes it.  `bawn explain` shows it, the launcher applies it, the
 * record has its hash.  Nothing is enforced that is not here; nothing is here
 * that is not enforced or refused.
 *
 * It travels as PLAN_MAGIC and the bytes of plan_schema (schema.h) in a sealed
 * memfd.  The launcher needs libc, schema.c and plan.c to read it, no library.
 */
#ifndef BAWN_PLAN_H
#define BAWN_PLAN_H

#include "schema.h"

#define PLAN_MAGIC "bawn-plan-1\n"

enum {
	PLAN_BYTES_MAX = 4 << 20,
	PLAN_MOUNTS_MAX = 512,
	PLAN_MOUNT_LAYERS_MAX = 64,
	PLAN_ARENA_MAX = 8 << 20,
	PLAN_RULES_MAX = 4096,
	PLAN_AUTHORITIES_MAX = 4,
	PLAN_RULE_PORTS_MAX = 8,  /* ports and ranges of one rule, or of one binding of a secret */
	PLAN_RULE_WORDS_MAX = 64, /* methods, or paths, of one of these */
	PLAN_SECRETS_MAX = 64,
	PLAN_PARAMETER_MAX = 64,   /* bytes of its name */
	PLAN_BINDINGS_MAX = 64,    /* of one secret */
	PLAN_SECRET_PARTS_MAX = 3, /* of one secret */
	PLAN_PROXY_LOGIN =
		PLAN_SECRETS_MAX, /* instead of a secret's index in messages: the proxy's login */
	PLAN_DIRECT_MAX = 256,    /* hosts that the gate reaches without the proxy */
	PLAN_PLACEHOLDER_MIN = 8, /* bytes; a shorter one looks like other text */
	PLAN_PLACEHOLDER_MAX = 8192,
};

/*
 * Whether this build has a gate, which opens what the rules for the network allow.  Without one
 * bawn reads, checks and shows the rules, and the network stays closed.
 */
#define PLAN_GATE_PRESENT 1

/* Where the gate answers inside: DNS at 53, CONNECT at 3128, SOCKS5 at 1080. */
#define PLAN_GATE_ADDRESS "10.255.255.53"

/* The session's CRL, which every leaf names; the gate answers it itself, at port 80. */
#define PLAN_CRL_PATH "/bawn.crl"
#define PLAN_CRL_URL "http://" PLAN_GATE_ADDRESS PLAN_CRL_PATH

enum plan_backend { PLAN_BACKEND_NAMESPACE, PLAN_BACKEND_HOST };

/*
 * The layers of protection between the agent and the machine (a layer of a workspace is something
 * else: overlayfs).  bawn checks each before the start.  A missing one stops the start, unless the
 * user named it to go without (`without`).  An ablation build can switch off any.
 */
enum plan_layer {
	PLAN_LAYER_USER_NS,   /* own user namespace: no authority over the host's objects */
	PLAN_LAYER_MOUNT_NS,  /* root built from nothing */
	PLAN_LAYER_PID_NS,    /* own process tree and /proc */
	PLAN_LAYER_NET_NS,    /* no interface but an own loopback */
	PLAN_LAYER_IPC_NS,    /* own System V and POSIX queues */
	PLAN_LAYER_UTS_NS,    /* own host name */
	PLAN_LAYER_CGROUP_NS, /* own view of cgroups */
	PLAN_LAYER_LANDLOCK,  /* the same files as the mounts show, checked again by object */
	PLAN_LAYER_SECCOMP,   /* system calls by allow list */
	PLAN_LAYER_CAPS,      /* no capabilities, empty bounding set */
	PLAN_LAYER_NO_NEW_PRIVS,
	PLAN_LAYER_NESTED_OFF, /* no namespaces inside the box: the kernel's own counters at 0 */
	PLAN_LAYER_FDS,        /* no inherited descriptors */
	PLAN_LAYER_TTY,        /* own terminal and session */
	PLAN_LAYER_ENV,        /* environment by allow list */
	PLAN_LAYER_HIDE_INIT,  /* pid 1 and the keeper are not dumpable */
	PLAN_LAYER_LIMITS,     /* rlimits */
	PLAN_LAYER_RECORD,     /* what happens is recorded */
	PLAN_LAYER_COUNT,
};

/* The role of the .git of a repository of which the workspace is a linked worktree.  A session has a
 * layer over the folder that it is in, with nothing in it but .git. */
#define PLAN_REPOSITORY "repository"

/* Where programs of the box ask for a snapshot, and where they see earlier ones, if the plan has
 * it. */
#define PLAN_ASK_SOCKET "/run/bawn/ask"
#define PLAN_SNAPSHOTS "/run/bawn/snapshots"

/* With --worktree a script goes to the worktree before the user's command: /bin/sh, the script, and
 * what it needs, so many words in all. */
#define PLAN_WORKTREE_SCRIPT "/run/bawn/enter"
enum { PLAN_WORKTREE_BEFORE = 8 };

enum plan_mount_kind {
	PLAN_MOUNT_BIND,   /* source, as it is on the host, mounted at target; with layers above it
			    * where the mount names some (plan_mount_has_layers) */
	PLAN_MOUNT_TMPFS,  /* empty, private, at most size bytes */
	PLAN_MOUNT_PROC,   /* the box's own processes */
	PLAN_MOUNT_DEV,    /* null zero full random urandom tty, own devpts, own shm */
	PLAN_MOUNT_DIR,    /* an empty directory of the box's own root, read-only */
	PLAN_MOUNT_FILE,   /* a made-up file with content `data`, read-only */
	PLAN_MOUNT_LINK,   /* a symbolic link to source */
	PLAN_MOUNT_HIDE,   /* an empty, read-only, unreadable thing over an existing target */
	PLAN_MOUNT_TRUST,  /* a file that keys makes: source is its format, plan_trust_words */
	PLAN_MOUNT_SOCKET, /* a listening socket: of role "ask" the keeper's (PLAN_ASK_SOCKET), else
			    * the signer's (`ssh_keys`) */
};

/* The files that tell programs in the box to trust the session's CA. */
enum plan_trust {
	PLAN_TRUST_BUNDLE,   /* PEM: the host's authorities and the session's */
	PLAN_TRUST_JAVA,     /* the same as a Java key store */
	PLAN_TRUST_CHROMIUM, /* managed policy of Chromium and Chrome: the session's alone */
	PLAN_TRUST_COUNT,
};

enum plan_access {
	PLAN_ACCESS_NONE,
	PLAN_ACCESS_READ,  /* read and run */
	PLAN_ACCESS_WRITE, /* read, run and write */
};

struct plan_string {
	const char *text;
};

struct plan_mount {
	unsigned int kind;   /* enum plan_mount_kind */
	unsigned int access; /* enum plan_access; what Landlock says again */
	const char *target;  /* absolute and normal, inside */
	const char *source;  /* bind: absolute, outside; link: the link's text; trust: the format */
	uint64_t dev;        /* bind: the object that was meant, checked when mounted; */
	uint64_t ino;        /*   ino 0 means not checked (system directories) */
	uint64_t size;       /* tmpfs: bytes */
	struct span data;    /* file: its content */
	/* bind: overlayfs.  Sealed layers above the source, lowest first (absolute paths, outside),
	 * and the folder with up/ and work/ that gets what the box writes; "": read-only. */
	LIST_OF(const struct plan_string) layers;
	const char *upper;
	const char *role;   /* "system", "tool", "home", "workspace", "named", "exposed"... */
	const char *origin; /* file:line, flag or "default" that asked for it */
};

/* Where the box's writes to the workspace go.  A later mode gives the box more. */
enum plan_mode {
	PLAN_MODE_REVIEW, /* it is kept apart until applied */
	PLAN_MODE_DIRECT, /* it lands at once */
	PLAN_MODE_COUNT,
};

struct plan_env {
	const char *name;
	const char *value;
	const char *origin;
};

enum plan_limit_kind {
	PLAN_LIMIT_PROCESSES,  /* RLIMIT_NPROC, counted in the box's own user namespace */
	PLAN_LIMIT_OPEN_FILES, /* RLIMIT_NOFILE, per process */
	PLAN_LIMIT_FILE_SIZE,  /* RLIMIT_FSIZE, bytes, per file */
	PLAN_LIMIT_MEMORY,     /* RLIMIT_DATA, bytes, per process */
	PLAN_LIMIT_CPU_TIME,   /* RLIMIT_CPU, seconds, per process */
	PLAN_LIMIT_WALL_TIME,  /* seconds, whole session, kept by the keeper */
	PLAN_LIMIT_IDLE_TIME,  /* seconds without a sign of life, likewise (src/keeper/lasting.h) */
	PLAN_LIMIT_OUTPUT,    /* bytes that its commands write to terminals and streams, likewise */
	PLAN_LIMIT_NETWORK,   /* bytes both ways, whole session, kept by the gate */
	PLAN_LIMIT_LAYERS,    /* bytes of its layers; it pauses (src/keeper/filling.h) */
	PLAN_LIMIT_RECORD,    /* bytes of its record, likewise */
	PLAN_LIMIT_DISK_FREE, /* bytes that stay free on their disk: with less it pauses */
	/* Of the whole box, kept by its cgroup (src/host/box_limits.h). */
	PLAN_LIMIT_BOX_MEMORY,      /* bytes */
	PLAN_LIMIT_BOX_MEMORY_SOFT, /* bytes; above it the kernel slows the box down */
	PLAN_LIMIT_BOX_CPU,         /* percent of one processor */
	PLAN_LIMIT_BOX_CPU_WEIGHT,  /* its share beside others; theirs is 100 */
	PLAN_LIMIT_BOX_IO_WEIGHT,   /* likewise, of busy disks */
	PLAN_LIMIT_COUNT,
};

struct plan_limit {
	unsigned int kind; /* enum plan_limit_kind; at most one entry each; absent = not limited */
	uint64_t value;
	const char *origin;
};

struct plan_without {
	unsigned int layer; /* enum plan_layer */
	const char *origin;
};

/* A later action gives the box more. */
enum plan_action {
	PLAN_ACTION_DENY,
	PLAN_ACTION_ASK, /* refused until the user answers */
	PLAN_ACTION_ALLOW,
};

/* What may be spoken.  BY_PORT: http on 80, tcp on a few (plan_scheme_of_port), else tls. */
enum plan_scheme {
	PLAN_SCHEME_BY_PORT,
	PLAN_SCHEME_TLS,  /* the name in its first bytes is checked; the rest passes unopened */
	PLAN_SCHEME_HTTP, /* plain; the name of every request is checked */
	PLAN_SCHEME_TCP,  /* bytes, whatever they are */
	PLAN_SCHEME_COUNT,
};

struct plan_ports {
	uint64_t from, to; /* 1 to 65535, from <= to */
};

/*
 * One rule for the network.  The host is a canonical name, "*." and one (names beneath it, never
 * it itself), or an address; of the ceiling also "*": any name, and in a deny anything at all.
 */
struct plan_rule {
	unsigned int action; /* enum plan_action */
	const char *host;
	struct span address; /* 16 bytes, v4 mapped; empty when the host is a name */
	LIST_OF(const struct plan_ports)
	ports;               /* never empty; all of them for a deny without ports */
	bool ports_named;    /* the rule itself names them: no default, not a bundle's */
	unsigned int scheme; /* enum plan_scheme */
	bool private;        /* its addresses may lie in refused ranges */
	LIST_OF(const struct plan_string)
	methods; /* upper case; GET stands for HEAD too; empty: any */
	LIST_OF(const struct plan_string) paths; /* globs (http_path.h); empty: any */
	bool passthrough;   /* TLS stays closed there, and no secret is put in */
	bool websocket;     /* a request may become a WebSocket */
	bool credentials;   /* credentials that are no secret of the plan may be sent there */
	bool mask;          /* a placeholder in a body is blotted out there, not refused */
	bool sign;          /* the user's ssh agent signs logins there */
	bool unbound;       /* also logins whose signed data does not name the host */
	const char *key;    /* fingerprint of the one key to sign with; "": any */
	bool ceiling;       /* the administrator's: another rule allows only what these allow too */
	const char *bundle; /* the bundle that it came with, "" for none */
	const char *origin;
};

/*
 * A secret: a value that works only at the hosts it is bound to, and that is never in the plan.
 * The box has a placeholder for each part of the value instead.
 */
enum plan_secret_kind {
	PLAN_SECRET_PLAIN, /* one part */
	PLAN_SECRET_BASIC, /* one part: the password of HTTP Basic, and nowhere else put in */
	PLAN_SECRET_AWS,   /* parts: key id, secret key (signs, is never sent), session token */
	PLAN_SECRET_KIND_COUNT,
};

/* The parts of a value of kind aws; the value has them as lines, the token may be missing. */
enum plan_secret_aws_part { PLAN_SECRET_AWS_ID, PLAN_SECRET_AWS_KEY, PLAN_SECRET_AWS_TOKEN };

struct plan_secret_part {
	const char *placeholder;
	LIST_OF(const struct plan_string) variables; /* inside, with its placeholder */
};

/* Where a secret may go.  Host, port, scheme, method and path must all match. */
struct plan_binding {
	const char *host;                       /* a canonical name, or "*." and one; no address */
	LIST_OF(const struct plan_ports) ports; /* never empty */
	unsigned int scheme;                    /* PLAN_SCHEME_TLS or PLAN_SCHEME_HTTP */
	LIST_OF(const struct plan_string) methods; /* as in a rule */
	LIST_OF(const struct plan_string) paths;
};

struct plan_secret {
	const char *name;
	unsigned int kind;                            /* enum plan_secret_kind */
	LIST_OF(const struct plan_secret_part) parts; /* never empty */
	LIST_OF(const struct plan_binding) bindings;  /* never empty */
	bool in_authorization;                        /* Bearer, token, Basic */
	LIST_OF(const struct plan_string)
	headers; /* lower case; fields that are the value, or have it
		  */
	bool in_query, in_body, in_websocket;
	LIST_OF(const struct plan_string)
	parameters; /* of query and body, that have the value; none: anywhere */
	LIST_OF(const struct plan_string) files; /* inside, made up, that have a placeholder */
	const char *source;                      /* where the value is, in words; never the value */
	const char *origin;
};

/*
 * A key of a host for which the user's ssh agent may sign a login.  A plan with such keys gives the
 * box a socket that leads to the signer.
 */
struct plan_ssh_key {
	const char *host;
	uint64_t port;
	struct span key; /* as ssh writes it: its kind, then its numbers */
	/* of the rule that named the host */
	bool unbound;
	const char *login_key; /* its `key` */
	const char *origin;
};

/*
 * The proxy by which the gate reaches what rules allow.  Its login is not here: keys has it
 * (PLAN_PROXY_LOGIN).
 */
enum plan_proxy_kind { PLAN_PROXY_CONNECT, PLAN_PROXY_SOCKS5, PLAN_PROXY_KIND_COUNT };

struct plan_proxy {
	unsigned int kind;   /* enum plan_proxy_kind */
	const char *host;    /* a canonical name, or an address in words */
	struct span address; /* 16 bytes, v4 mapped; empty when the host is a name */
	uint64_t port;
	bool login;
	bool plain; /* for ports of plain HTTP alone */
	LIST_OF(const struct plan_string)
	direct; /* not by it: names with all beneath, addresses, networks, "*"; perhaps :PORT */
	const char *origin;
};

/* Which reads are in the record.  A later word records fewer. */
enum plan_reads {
	PLAN_READS_ALL,
	PLAN_READS_OUTSIDE, /* files that were granted, marked, or are not shown */
	PLAN_READS_NONE,
	PLAN_READS_COUNT,
};

/* What a program of the box may do with the user's terminal besides showing text there
 * (src/client/terminal_filter.h). */
enum plan_terminal {
	PLAN_TERMINAL_CLIPBOARD,
	PLAN_TERMINAL_TITLE,
	PLAN_TERMINAL_NOTICES,
	PLAN_TERMINAL_COLOURS,
	PLAN_TERMINAL_IMAGES,
	PLAN_TERMINAL_COUNT,
};

struct plan_terminal_allowed {
	unsigned int what; /* enum plan_terminal */
	const char *origin;
};

/* Something that was asked for and not given, or given and worth a warning. */
enum plan_note_kind {
	PLAN_NOTE_NOT_GIVEN,
	PLAN_NOTE_WARNING,
	PLAN_NOTE_HIDDEN,
	PLAN_NOTE_PUBLISHED
};

struct plan_note {
	unsigned int kind;
	const char *what;
	const char *why;
	const char *origin;
	bool said;   /* bawn prints it before the command starts; it is not in the plan's bytes */
	bool softly; /* likewise, but not with --quiet */
};

/* Its makers (src/policy, src/prepare) fill it; all others have it as `const struct plan *`, and
 * the items of its lists are const for everybody. */
struct plan {
	unsigned int backend; /* enum plan_backend */
	const char *backend_origin;
	const char *preset; /* name of the agent preset, "" for none */
	const char *workspace;
	unsigned int workspace_access; /* enum plan_access */
	const char *workspace_origin;
	unsigned int workspace_mode; /* enum plan_mode; of a workspace that can be written */
	const char *workspace_mode_origin;
	bool trusted;
	const char *home;       /* inside; the user's own home path */
	const char *home_store; /* outside; what is mounted there */
	const char *cwd;
	LIST_OF(const struct plan_string) argv;
	uint64_t uid, gid;           /* inside */
	uint64_t host_uid, host_gid; /* the same, outside: the only ids that the box has */
	const char *user;
	const char *hostname;
	const char *stands_on; /* the system that the box stands on; "": the host's */
	bool system_keep;      /* what is changed of it stays, for this workspace */
	LIST_OF(const struct plan_mount) root; /* its root, at "/"; at most one, of a system */
	bool debug;                            /* ptrace inside the box */
	const char *debug_origin;
	LIST_OF(const struct plan_mount) mounts; /* in the order they are made */
	LIST_OF(const struct plan_env) env;
	LIST_OF(const struct plan_limit) limits;
	LIST_OF(const struct plan_without) without;
	LIST_OF(const struct plan_without)
	ablate; /* honoured by ablation builds only, refused by others */
	LIST_OF(const struct plan_rule) network;  /* empty: nothing can be reached */
	LIST_OF(const struct plan_proxy) proxies; /* at most one */
	LIST_OF(const struct plan_string)
	authorities;                               /* outside: PEM files, whom the gate believes */
	LIST_OF(const struct plan_secret) secrets; /* messages name them by their place here */
	LIST_OF(const struct plan_ssh_key)
	ssh_keys;              /* of all hosts that rules name for ssh, as known outside */
	const char *ssh_agent; /* outside: the socket of the user's agent; "" for none */
	/* Name and address for commits of git in the box; "": none.  The made-up settings have
	 * them. */
	const char *git_name, *git_email;
	const char *git_origin;
	unsigned int record_reads; /* enum plan_reads */
	const char *record_origin;
	LIST_OF(const struct plan_string) record_marks; /* paths inside whose reading is recorded */
	/* Absolute paths in the workspace that direct mode protects and that do not exist yet.
	 * When somebody outside makes one while the session runs, it is protected, too. */
	LIST_OF(const struct plan_string) direct_late;
	LIST_OF(const struct plan_string) hold_rules; /* RULE=LEVEL, where the user changed it */
	LIST_OF(const struct plan_string) hold_paths; /* patterns of paths that are held as well */
	LIST_OF(const struct plan_terminal_allowed) terminal;
	LIST_OF(const struct plan_note) notes;
	const char *seccomp_profile;
	struct span seccomp; /* BPF: array of struct sock_filter */
};

/* An empty plan, for code that runs before there is one. */
extern const struct plan plan_none;

extern const struct schema plan_schema;
extern const struct schema plan_brief_schema; /* what a list of sessions shows (board.h) */
extern const char *const plan_layer_words[PLAN_LAYER_COUNT];
extern const char *const plan_limit_words[PLAN_LIMIT_COUNT];
extern const char *const plan_backend_words[2];
extern const char *const plan_access_words[3];
extern const char *const plan_action_words[3];
extern const char *const plan_terminal_words[PLAN_TERMINAL_COUNT];
extern const char *const plan_scheme_words[PLAN_SCHEME_COUNT];
extern const char *const plan_secret_words[PLAN_SECRET_KIND_COUNT];
extern const struct schema plan_rule_schema;

/*
 * The name by which the box reaches services of this machine: those at the ports that rules for this
 * very name allow, at 127.0.0.1 or else ::1, and nothing else of the machine.  The gate knows it; no
 * name service is asked.
 */
#define PLAN_OWN_MACHINE "host.bawn"

/* Whether a canonical name, or the host of a rule, is that one. */
bool plan_is_own_machine(const char *host);

/* Whether the rule allows a name, and name services know its addresses. */
bool plan_rule_is_looked_up(const struct plan_rule *rule);

/* The scheme that PLAN_SCHEME_BY_PORT means at a port; never PLAN_SCHEME_BY_PORT itself. */
enum plan_scheme plan_scheme_of_port(uint64_t port);

/* The ports at which plan_scheme_of_port does not say TLS. */
struct plan_usual_port {
	uint16_t port;
	unsigned int scheme;
};
enum { PLAN_USUAL_PORT_COUNT = 5 };
extern const struct plan_usual_port plan_usual_ports[PLAN_USUAL_PORT_COUNT];

/* Whether the rule is about requests, so that the gate has to open TLS to decide. */
bool plan_rule_opens(const struct plan_rule *rule);

/* Whether the session needs the process keys: the gate may have to open TLS, or there is a
 * secret or the login of a proxy. */
bool plan_needs_keys(const struct plan *p);

/* Whether the plan has a proxy with a login. */
bool plan_has_login(const struct plan *p);

/* The format that a TRUST mount names: enum plan_trust, or -1. */
int plan_trust_of(const struct plan_mount *m);

/* Whether a bind is an overlay. */
bool plan_mount_has_layers(const struct plan_mount *m);

/* What of a layer is laid over the source: "up", or what is below it. */
const char *plan_mount_up(const struct plan_mount *m);

/* The workspace, when the box may write it; or NULL. */
const struct plan_mount *plan_writable_workspace(const struct plan *p);

/* The mount that has this role ("workspace", "home"), or NULL. */
const struct plan_mount *plan_mount_of(const struct plan *p, const char *role);

/* The mount in which m's mount point lies: the deepest; of two at one place the later.  NULL:
 * our own root. */
const struct plan_mount *plan_mount_above(const struct plan *p, const struct plan_mount *m);

/* Whether some mount of the plan is of this format. */
bool plan_has_trust(const struct plan *p, enum plan_trust format);

bool plan_goes_without(const struct plan *p, enum plan_layer layer); /* without or ablate */

/* The limit of this kind, or NULL. */
const struct plan_limit *plan_limit_of(const struct plan *p, unsigned int kind);

int plan_encode(const struct plan *p, struct buf *into);

/* Makes the plan in the arena.  It points into bytes and arena; both must outlive it.  Checks
 * everything that a launcher relies on: magic, types, normal absolute targets, order of mounts. */
int plan_decode(struct span bytes, const struct plan **ret_plan, struct arena *arena,
		struct error *e);

#endif
