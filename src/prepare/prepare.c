/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a command line to a plan, in one pass:
 *
 *	facts of the host -> policy files -> flags -> one policy -> what its paths
 *	lead to -> the private home -> the plan -> its mount points
 *
 * Which files we trust: the user's configuration when it is the user's or root's and nobody else
 * can write it; the administrator's ceiling when it is root's; the repository's file only to
 * narrow, and we open it as what it is, a file that anyone may have written.  A file that exists
 * and cannot be read as it must is an error: it may have said "no".
 *
 * It makes nothing on the host outside bawn's own state directory.
 */
#include "prepare.h"

#include "advice.h"
#include "box_limits.h"
#include "build.h"
#include "config.h"
#include "fd.h"
#include "direct.h"
#include "git_identity.h"
#include "hidden_git.h"
#include "hidden_names.h"
#include "home_store.h"
#include "host.h"
#include "known_hosts.h"
#include "open.h"
#include "outside.h"
#include "policy.h"
#include "profile.h"
#include "secret_store.h"
#include "str.h"
#include "systems.h"
#include "upstream_proxy.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREPARE_CEILING "/etc/bawn/policy.yaml"

enum { PREPARE_FILE_MAX = 64 << 10, PREPARE_SOURCES_MAX = 4 };

struct prepare {
	const struct invocation *invocation;
	struct arena *arena;
	struct error *e;
	struct host host;
	struct policy_source sources[PREPARE_SOURCES_MAX];
	size_t source_count;
	struct policy_flag *flags;
	size_t flag_count;
	struct mirrors mirrors;
};

void prepared_fini(struct prepared *p)
{
	if (!p)
		return;
	arena_fini(&p->arena);
	layers_close(&p->layers);
	p->plan = &plan_none;
}

/* Reads an opened policy file and adds it as a layer of the policy. */
static int prepare_add_source(struct prepare *p, enum policy_layer layer, const char *name, int fd)
{
	_cleanup_buf_ struct buf text = BUF_INIT(PREPARE_FILE_MAX);
	int r = fd_read_all(fd, &text);

	if (r == -EMSGSIZE)
		return error_set(p->e, r, "%s is larger than %d KiB", name, PREPARE_FILE_MAX >> 10);
	if (r < 0)
		return error_sys(p->e, r, "cannot read %s", name);
	const char *kept = arena_strn(p->arena, buf_str(&text), text.len);
	const char *shown = arena_str(p->arena, name);
	if (!kept || !shown)
		return error_sys(p->e, -ENOMEM, "cannot read %s", name);
	p->sources[p->source_count++] = (struct policy_source){
		.layer = layer,
		.name = shown,
		.text = {(const uint8_t *)kept, text.len},
	};
	return 0;
}

/* Refuses a file that we cannot trust: it must be regular, belong to `owner` or root, and only its
 * owner may write it. */
static int prepare_check_owner(struct prepare *p, int fd, const char *name, uint64_t owner)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return error_sys(p->e, -errno, "cannot look at %s", name);
	if (!S_ISREG(st.st_mode))
		return error_set(p->e, -EINVAL, "%s is not a regular file", name);
	if (st.st_uid != owner && st.st_uid != 0) {
		r = error_set(p->e, -EPERM, "%s belongs to user %u: what it says is not taken",
			      name, st.st_uid);
		error_next(p->e, "Make it %s, or take it away.",
			   owner == 0 ? "root's" : "your own");
		return r;
	}
	if ((st.st_mode & 022) != 0) {
		r = error_set(p->e, -EPERM,
			      "%s can be written by others (mode %04o): what it says is not taken",
			      name, st.st_mode & 07777);
		error_next(p->e, "chmod go-w %s", name);
		return r;
	}
	return 0;
}

static int prepare_read_trusted(struct prepare *p, enum policy_layer layer, const char *name,
				uint64_t owner)
{
	_cleanup_fd_ int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(p->e, -errno, "cannot open %s", name);
	int r = prepare_check_owner(p, fd, name, owner);

	return r < 0 ? r : prepare_add_source(p, layer, name, fd);
}

/* Refuses a folder into which others could put something else. */
static int prepare_check_folder(struct prepare *p, const char *folder, const char *name)
{
	if (!host_others_replace(&p->host, folder))
		return 0;
	int r = error_set(p->e, -EPERM, "%s can be written by others: what %s says is not taken",
			  folder, name);

	error_next(p->e, "chmod go-w %s", folder);
	return r;
}

/* Checks its folder and the one above; and each folder that has a link on the way to it, or that a
 * link leads through. */
static int prepare_check_folders(struct prepare *p, const char *name)
{
	const struct host_list *ways = &p->host.ways;
	const char *folder = p->host.config_dir;
	int r = 0;

	for (int i = 0; r == 0 && folder && *folder && i < 2; i++) {
		r = prepare_check_folder(p, folder, name);
		folder = arena_strn(p->arena, folder, (size_t)(strrchr(folder, '/') - folder));
	}
	for (size_t i = 0; r == 0 && i < ways->count; i++) {
		const char *path = ways->items[i].path;

		folder = arena_strn(p->arena, path, (size_t)(strrchr(path, '/') - path));
		if (folder && *folder)
			r = prepare_check_folder(p, folder, name);
	}
	return r;
}

static int prepare_read_user(struct prepare *p)
{
	const char *name = arena_printf(p->arena, "%s/config.yaml", p->host.config_dir);
	size_t before = p->source_count;

	if (!name)
		return error_sys(p->e, -ENOMEM, "cannot read your configuration");
	int r = prepare_read_trusted(p, POLICY_USER, name, p->host.uid);

	if (r < 0 || p->source_count == before)
		return r;
	r = prepare_check_folders(p, name);
	if (r < 0)
		return r;
	/* A link may keep it in a folder of dot files: the box must not write that one either. */
	r = host_name(&p->host, name, p->arena, p->e);
	if (r < 0)
		return r;
	const struct host_object *file = host_named(&p->host, name);
	if (!file || !file->path)
		return error_set(p->e, -ENOENT, "%s went away while it was read", name);
	r = host_guard_file(&p->host, file, p->arena);
	return r < 0 ? error_sys(p->e, r, "cannot read your configuration") : 0;
}

/* Reads the repository's own file, from the workspace that we hold, without following a link or
 * waiting. */
static int prepare_read_repository(struct prepare *p)
{
	const struct host_object *w = &p->host.workspace;
	_cleanup_fd_ int workspace = open_no_links(w->path, O_PATH | O_DIRECTORY);
	char name[PATH_MAX + 16];
	struct stat st;

	if (workspace < 0)
		return error_sys(p->e, workspace, "cannot open the workspace %s", w->path);
	if (fstat(workspace, &st) < 0 || st.st_dev != w->dev || st.st_ino != w->ino)
		return error_set(p->e, -ESTALE, "the workspace %s changed while it was looked at",
				 w->path);
	(void)snprintf(name, sizeof(name), "%s/.bawn.yaml", w->path);
	_cleanup_fd_ int fd =
		open_beneath(workspace, ".bawn.yaml", O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd == -ENOENT)
		return 0;
	if (fd == -ELOOP)
		return error_set(p->e, fd, "%s is a symbolic link, and is not followed", name);
	if (fd < 0)
		return error_sys(p->e, fd, "cannot open %s", name);
	if (fstat(fd, &st) < 0)
		return error_sys(p->e, -errno, "cannot look at %s", name);
	if (!S_ISREG(st.st_mode))
		return error_set(p->e, -EINVAL, "%s is not a regular file", name);
	return prepare_add_source(p, POLICY_REPOSITORY, name, fd);
}

/* Reads what `bawn secret` keeps; only the user can have written it. */
static int prepare_read_store(struct prepare *p)
{
	const char *name = secret_store_path(&p->host, p->arena);

	return name ? prepare_read_trusted(p, POLICY_STORE, name, p->host.uid)
		    : error_sys(p->e, -ENOMEM, "cannot read your secrets");
}

static int prepare_read_files(struct prepare *p)
{
	outside_keep_from(p->host.workspace.path);
	int r = prepare_read_user(p);

	if (r == 0)
		r = prepare_read_store(p);
	if (r == 0)
		r = prepare_read_repository(p);
	return r < 0 ? r : prepare_read_trusted(p, POLICY_CEILING, PREPARE_CEILING, 0);
}

/* Makes a path absolute that the user typed in a shell; "~/..." stays. */
static const char *prepare_path(struct prepare *p, const char *typed)
{
	char resolved[PATH_MAX];
	char cwd[PATH_MAX];

	if (typed[0] == '~' || (typed[0] == '/' && !strstr(typed, "..")))
		return typed;
	/* Only the file system knows where ".." leads. */
	if (strstr(typed, "..") && realpath(typed, resolved))
		return arena_str(p->arena, resolved);
	if (typed[0] == '/' || !getcwd(cwd, sizeof(cwd)))
		return typed;
	return arena_printf(p->arena, "%s/%s", cwd, typed);
}

static void prepare_add_flag(struct prepare *p, const char *key, const char *value,
			     const char *origin)
{
	p->flags[p->flag_count++] =
		(struct policy_flag){.key = key, .value = value, .origin = origin};
}

/* A service of this machine, as a rule names it.  NULL: it is no port. */
static const char *prepare_host_port(struct prepare *p, const char *typed)
{
	uint64_t port = 0;
	bool good = str_parse_u64(typed, &port) == 0 && port > 0 && port <= UINT16_MAX;

	if (!good)
		(void)error_set(p->e, -EINVAL,
				"--host-port takes a port of this machine, 1 to 65535, not %.64s",
				*typed ? typed : "empty");
	return good ? arena_printf(p->arena, PLAN_OWN_MACHINE ":%u", (unsigned int)port) : NULL;
}

/* Turns one option into its policy key and value. */
static int prepare_flag(struct prepare *p, const struct invocation_value *v)
{
	const struct option *o = &options[v->id];
	const char *key = o->key;
	const char *value = v->value;
	const char *origin = arena_printf(p->arena, "--%s", o->name);

	switch ((unsigned int)v->id) {
	case OPTION_READ_ONLY:
		value = "read";
		break;
	case OPTION_DEBUG:
	case OPTION_KEEP_SYSTEM:
		value = "true";
		break;
	case OPTION_DIRECT:
	case OPTION_REVIEW:
		value = o->name;
		break;
	case OPTION_READ:
	case OPTION_WRITE:
	case OPTION_HIDE:
		value = prepare_path(p, value);
		break;
	case OPTION_ALLOW:
	case OPTION_DENY:
	case OPTION_USE:
	case OPTION_SSH:
		key = arena_printf(p->arena, "network.%s", o->name);
		break;
	case OPTION_HOST_PORT:
		key = "network.allow";
		value = prepare_host_port(p, value);
		if (!value)
			return p->e->code ? p->e->code : error_sys(p->e, -ENOMEM, "--host-port");
		break;
	case OPTION_ENV:
		key = strchr(value, '=') ? "env.set" : "env.pass";
		break;
	case OPTION_LIMIT: {
		const char *equals = strchr(value, '=');

		if (!equals)
			return error_set(p->e, -EINVAL, "--limit takes NAME=VALUE, not %s", value);
		key = arena_printf(p->arena, "limits.%.*s", (int)(equals - value), value);
		value = equals + 1;
		break;
	}
	default:
		break;
	}
	if (!key || !value || !origin)
		return error_sys(p->e, -ENOMEM, "cannot read the options");
	prepare_add_flag(p, key, value, origin);
	return 0;
}

static int prepare_flags(struct prepare *p)
{
	const struct invocation *i = p->invocation;

	p->flags = arena_alloc(p->arena, (i->value_count + 1) * sizeof(*p->flags));
	if (!p->flags)
		return error_sys(p->e, -ENOMEM, "cannot read the options");
	if (i->verb && str_equal(i->verb->name, "shell") && !invocation_has(i, OPTION_PRESET))
		prepare_add_flag(p, "preset", "shell", "bawn shell");
	for (size_t n = 0; n < i->value_count; n++) {
		if (!options[i->values[n].id].key)
			continue;
		int r = prepare_flag(p, &i->values[n]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The agent that the user's environment names, if its socket is the user's; else NULL. */
static const char *prepare_ssh_agent(const struct host *h)
{
	const char *path = host_env(h->environ, "SSH_AUTH_SOCK");
	struct stat st;

	return path && path[0] == '/' && stat(path, &st) == 0 && S_ISSOCK(st.st_mode) &&
			       st.st_uid == h->uid
		       ? path
		       : NULL;
}

/* Looks up the keys of the hosts at which the user's agent may sign: for each single port that a
 * rule names. */
static int prepare_ssh(struct prepare *p, const struct policy *policy)
{
	for (size_t i = 0; i < policy->network.count; i++) {
		const struct plan_rule *rule = &policy->network.items[i];

		if (!rule->sign || rule->ceiling)
			continue;
		p->host.ssh_agent = prepare_ssh_agent(&p->host);
		for (size_t n = 0; p->host.ssh_agent && n < rule->ports.count; n++) {
			int r = rule->ports.items[n].from != rule->ports.items[n].to
					? 0
					: known_hosts_read(&p->host, rule->host,
							   rule->ports.items[n].from, rule->origin,
							   p->arena, p->e);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Whether the plan will need the list of authorities that this machine trusts. */
static bool prepare_opens(const struct policy *policy)
{
	for (size_t i = 0; i < policy->network.count; i++)
		if (plan_rule_opens(&policy->network.items[i]))
			return true;
	return policy->secrets.count > 0;
}

static int prepare_on_workspace(void *context, const struct layers *l)
{
	struct prepare *p = context;
	const struct host_object o = {.path = arena_str(p->arena, l->workspace)};

	return o.path ? host_list_add(&p->host.worked, p->arena, &o) : -ENOMEM;
}

/* When a name that the user gave is a link, it matters who may have made it. */
static int prepare_worked(struct prepare *p)
{
	const struct host_list *named = &p->host.named;
	bool links = false;

	for (size_t i = 0; i < named->count; i++)
		links = links || (named->items[i].path &&
				  !str_equal(named->items[i].name, named->items[i].path));
	if (!links)
		return 0;
	_cleanup_fd_ int state = home_store_state(&p->host, false, p->arena, p->e);

	if (state == -ENOENT)
		return 0;
	return state < 0 ? state
			 : layers_each_workspace(state, p->host.state_dir, prepare_on_workspace, p,
						 p->e);
}

/* An agent may have written what is granted for writing.  We must know those folders before we read
 * the user's own files outside. */
static int prepare_look_write(struct prepare *p, const struct policy *policy)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < policy->write.count; i++)
		r = host_name(&p->host, policy->write.items[i].path, p->arena, p->e);
	return r;
}

/* Looks up, once, what the policy's paths lead to, so that making the plan asks the host
 * nothing. */
static int prepare_look(struct prepare *p, const struct policy *policy)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < policy->read.count; i++)
		r = host_name(&p->host, policy->read.items[i].path, p->arena, p->e);
	if (r == 0)
		r = prepare_look_write(p, policy);
	/* We look up what a repository names only where the user shows something: a lookup tells
	 * the name to whoever serves the place. */
	for (size_t i = 0; r == 0 && i < policy->hide.count; i++)
		if (policy->hide.items[i].repository)
			r = host_name_within(&p->host, policy->hide.items[i].path, p->arena, p->e);
	for (size_t i = 0; r == 0 && i < policy->hide.count; i++)
		if (!policy->hide.items[i].repository)
			r = host_name(&p->host, policy->hide.items[i].path, p->arena, p->e);
	for (size_t i = 0; r == 0 && i < policy->secrets.count; i++)
		if (policy->secrets.items[i].from == POLICY_FROM_FILE)
			r = host_name(&p->host, policy->secrets.items[i].from_text, p->arena, p->e);
	return r < 0 ? r : prepare_worked(p);
}

/* Which limits this machine cannot keep.  Only a limit of the whole box makes us look. */
static void prepare_limits(struct prepare *p, const struct policy *policy)
{
	unsigned int wanted = 0;
	int why = 0;

	for (unsigned int i = 0; i < PLAN_LIMIT_COUNT; i++)
		wanted |= policy->limits[i].set ? box_limits_controller(i) : 0;
	if (!wanted || policy->backend == PLAN_BACKEND_HOST)
		return;
	unsigned int can =
		box_limits_look(wanted, host_env(p->host.environ, "XDG_RUNTIME_DIR"), &why);

	for (unsigned int i = 0; i < PLAN_LIMIT_COUNT; i++)
		if (box_limits_controller(i) & ~can)
			p->host.limit_missing[i] = box_limits_why(why);
}

#if BAWN_ABLATION
/* Switches the layer `environment` off: the box gets all variables of this process. */
static int prepare_ablate_env(struct prepare *p, struct plan *plan)
{
	size_t count = 0;

	while (p->host.environ[count])
		count++;
	struct plan_env *all =
		arena_alloc(p->arena, (plan->env.count + count) * sizeof(*plan->env.items));

	if (!all)
		return error_sys(p->e, -ENOMEM, "cannot read BAWN_ABLATE");
	if (plan->env.count > 0)
		memcpy(all, plan->env.items, plan->env.count * sizeof(*all));
	plan->env.items = all;
	for (size_t i = 0; i < count; i++) {
		const char *entry = p->host.environ[i];
		const char *name = arena_strn(p->arena, entry, strcspn(entry, "="));

		if (!name || !strchr(entry, '='))
			continue;
		all[plan->env.count++] = (struct plan_env){
			.name = name, .value = strchr(entry, '=') + 1, .origin = "BAWN_ABLATE"};
	}
	return 0;
}

/* Tests only: BAWN_ABLATE="layer,layer" switches layers off, to show what each one stops. */
static int prepare_ablate(struct prepare *p, struct plan *plan)
{
	const char *at = getenv("BAWN_ABLATE");

	if (!at || !*at)
		return 0;
	struct plan_without *layers = arena_alloc(p->arena, PLAN_LAYER_COUNT * sizeof(*layers));

	plan->ablate.items = layers;
	if (!layers)
		return error_sys(p->e, -ENOMEM, "cannot read BAWN_ABLATE");
	while (*at) {
		size_t len = strcspn(at, ",");
		unsigned int layer = 0;

		while (layer < PLAN_LAYER_COUNT && (strlen(plan_layer_words[layer]) != len ||
						    strncmp(plan_layer_words[layer], at, len) != 0))
			layer++;
		if (layer == PLAN_LAYER_COUNT || plan->ablate.count == PLAN_LAYER_COUNT)
			return error_set(p->e, -EINVAL, "BAWN_ABLATE: no layer %.*s", (int)len, at);
		layers[plan->ablate.count++] =
			(struct plan_without){.layer = layer, .origin = "BAWN_ABLATE"};
		at += len;
		at += *at == ',';
	}
	for (size_t i = 0; i < plan->ablate.count; i++)
		if (plan->ablate.items[i].layer == PLAN_LAYER_ENV)
			return prepare_ablate_env(p, plan);
	return 0;
}
#else
static int prepare_ablate(struct prepare *p, struct plan *plan)
{
	(void)p;
	(void)plan;
	return 0;
}
#endif

static bool prepare_chose_without(const struct plan *plan, enum plan_layer layer)
{
	for (size_t i = 0; i < plan->without.count; i++)
		if (plan->without.items[i].layer == layer)
			return true;
	return false;
}

/*
 * How much the filter asks the recorder about.  If nothing is granted and nothing is marked, only a
 * read that fails can be of interest; then programs that walk through a tree, folder by folder
 * (grep, find), do not wait for the recorder.
 */
static enum profile_watch prepare_watch(const struct plan *plan)
{
	if (plan_goes_without(plan, PLAN_LAYER_RECORD))
		return PROFILE_WATCH_NOTHING;
	if (plan->record_reads == PLAN_READS_NONE)
		return PROFILE_WATCH_CHANGES;
	if (plan->record_reads == PLAN_READS_ALL || plan->record_marks.count > 0)
		return PROFILE_WATCH_READS;
	const struct plan_mount *work = plan_mount_of(plan, "workspace");

	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		if (str_equal(m->role, "named") || str_equal(m->role, "exposed"))
			return PROFILE_WATCH_READS;
		/* Its cover may be off for a moment (recorder/covers.h): then the recorder refuses
		 * it by name, in whatever way a program opens it. */
		if (m->kind == PLAN_MOUNT_HIDE && work && str_path_beneath(m->target, work->target))
			return PROFILE_WATCH_READS;
	}
	return PROFILE_WATCH_NAMES;
}

/* Chooses the filter.  Without a network namespace only the filter closes the network. */
static int prepare_seccomp(struct plan *plan, struct error *e)
{
	bool closed = prepare_chose_without(plan, PLAN_LAYER_NET_NS);

	if (plan->backend == PLAN_BACKEND_HOST)
		return 0;
	if (closed && prepare_chose_without(plan, PLAN_LAYER_SECCOMP)) {
		(void)error_set(e, -EINVAL,
				"without both net-namespace and seccomp nothing would close the "
				"network");
		error_next(e, "Keep one of them, or choose no box by name: --backend host.");
		return -EINVAL;
	}
	bool own_root = plan->root.count > 0;

	if (closed && own_root)
		return error_set(e, -EINVAL, "--system is not for a box without net-namespace");
	enum profile_kind kind = closed                    ? PROFILE_BOX_CLOSED
				 : own_root && plan->debug ? PROFILE_BOX_SYSTEM_DEBUG
				 : own_root                ? PROFILE_BOX_SYSTEM
				 : plan->debug             ? PROFILE_BOX_DEBUG
							   : PROFILE_BOX;
	enum profile_watch watch = prepare_watch(plan);

	plan->seccomp = profile_watched_bpf(kind, watch);
	plan->seccomp_profile = profile_name(kind, watch);
	return 0;
}

int prepare_holds(const struct plan *plan, struct hold_rules **ret, struct error *e)
{
	size_t count = plan->hold_rules.count + plan->hold_paths.count;
	_cleanup_free_ const char **words = calloc(count + 1, sizeof(*words));

	if (!words)
		return error_sys(e, -ENOMEM, "cannot read the list of holds");
	for (size_t i = 0; i < plan->hold_rules.count; i++)
		words[i] = plan->hold_rules.items[i].text;
	for (size_t i = 0; i < plan->hold_paths.count; i++)
		words[plan->hold_rules.count + i] = plan->hold_paths.items[i].text;
	const struct hold_tuning tuning = {
		.tuned = words,
		.tuned_count = plan->hold_rules.count,
		.paths = words + plan->hold_rules.count,
		.path_count = plan->hold_paths.count,
	};

	return hold_rules_new(&tuning, ret, e);
}

static int prepare_direct(struct prepare *p, struct plan *plan)
{
	struct hold_rules *rules = NULL;
	int r = direct_protect_repository(plan, &p->host, p->arena, p->e);

	if (r < 0)
		return r;
	if (plan->workspace_access != PLAN_ACCESS_WRITE || plan->workspace_mode != PLAN_MODE_DIRECT)
		return direct_fix(plan, p->arena, p->e);
	r = prepare_holds(plan, &rules, p->e);

	if (r == 0)
		r = direct_protect(plan, &p->host, rules, p->arena, p->e);
	if (r == 0)
		r = direct_refuse_aliases(plan, &p->host, p->arena, p->e);
	if (r == 0)
		r = direct_fix(plan, p->arena, p->e);
	hold_rules_free(&rules);
	return r;
}

/* The length of STATE in STATE/workspaces/NAME. */
static size_t prepare_state_len(const char *path)
{
	size_t len = strlen(path);

	for (int parts = 0; parts < 2; parts++)
		while (len > 0 && path[--len] != '/')
			continue;
	return len;
}

/* Finds the system of --system, beside the layers, whose path has no link in it. */
static int prepare_system(struct prepare *p, const struct layers *layers)
{
	const char *name = invocation_value(p->invocation, OPTION_SYSTEM);
	_cleanup_systems_ struct systems systems = SYSTEMS_INIT;
	struct system_about about;
	struct stat st;
	int r = -ENOENT;

	if (!name)
		return 0;
	const char *state = arena_strn(p->arena, layers->path, prepare_state_len(layers->path));
	const char *root = state ? arena_printf(p->arena, "%s/systems/%s/root", state, name) : NULL;

	if (!root)
		return error_sys(p->e, -ENOMEM, "cannot find the system %s", name);
	_cleanup_fd_ int dir = open_no_links(state, O_PATH | O_DIRECTORY);

	if (dir >= 0)
		r = systems_open(dir, state, false, &systems, p->e);
	if (r == 0)
		r = systems_read(&systems, name, &about, p->e);
	if (r == -ENOENT) {
		r = error_set(p->e, -ENOENT, "there is no system %s", name);
		error_next(p->e,
			   "'bawn system ls' says which there are, 'bawn system create %s' "
			   "makes it.",
			   name);
	}
	if (r < 0)
		return r;
	_cleanup_fd_ int fd = open_no_links(root, O_PATH | O_DIRECTORY);

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(p->e, fd < 0 ? fd : -errno, "cannot open the system %s", name);
	p->host.stands_on = (struct host_object){.name = name,
						 .path = root,
						 .dev = st.st_dev,
						 .ino = st.st_ino,
						 .is_dir = true,
						 .origin = "--system"};
	return 0;
}

/* An empty plan to fill; or NULL.  Others get it as const and cannot change it. */
static struct plan *prepare_draft(struct prepare *p)
{
	struct plan *draft = arena_alloc(p->arena, sizeof(*draft));

	if (!draft) {
		(void)error_sys(p->e, -ENOMEM, "cannot make the plan");
		return NULL;
	}
	memset(draft, 0, sizeof(*draft));
	return draft;
}

/* Finds the proxy of the user's network; hosts that are allowed later use it, too.  Its login stays
 * outside. */
static int prepare_proxy(struct prepare *p, const struct policy *policy, struct prepared *made,
			 struct plan *draft)
{
	struct upstream_proxy *found = arena_alloc(p->arena, sizeof(*found));
	struct error why = ERROR_INIT;
	bool there = false;

	if (!found)
		return error_sys(p->e, -ENOMEM, "cannot read your proxy");
	if (policy->backend == PLAN_BACKEND_HOST || prepare_chose_without(draft, PLAN_LAYER_NET_NS))
		return 0;
	int r = upstream_proxy_find(policy->proxy, policy->proxy_origin, p->host.environ, p->arena,
				    found, &there, &why);

	/* While the box can reach nothing, nobody needs it. */
	if (r < 0 && policy->network.count == 0)
		return 0;
	if (r < 0)
		*p->e = why;
	if (r < 0 || !there)
		return r;
	draft->proxies.items = &found->proxy;
	draft->proxies.count = 1;
	made->sources.proxy_login = found->login;
	return 0;
}

static int prepare_build(struct prepare *p, const struct policy *policy, char *const *argv,
			 bool create, struct prepared *made)
{
	bool boxed = policy->backend != PLAN_BACKEND_HOST;
	struct plan *draft = prepare_draft(p);
	struct host_object store = {.path = ""};
	int r = draft ? 0 : p->e->code;

	if (r == 0 && boxed)
		r = home_store_open(&p->host, create, p->arena, &made->layers, &store, p->e);
	if (r == 0 && boxed)
		r = prepare_system(p, &made->layers);
	if (r == 0 && boxed && policy->secrets.count > 0)
		r = secret_store_key(&p->host, create, p->arena, &p->host.placeholder_key, p->e);
	if (r == 0 && boxed)
		r = git_identity_read(&p->host, policy, p->arena, p->e);
	if (r == 0)
		r = plan_build(policy, &p->host, (const char *const *)argv, &store, p->arena, draft,
			       p->e);
	if (r == 0 && boxed)
		r = hidden_names(draft, policy, &p->host, p->arena, p->e);
	if (r == 0 && boxed && hidden_git(draft, p->arena) < 0)
		r = error_set(p->e, -ENOMEM, "no memory to look at git's index");
	if (r == 0)
		r = publish_read(p->invocation, p->arena, draft, &made->publish, p->e);
	if (r == 0 && boxed)
		r = prepare_direct(p, draft);
	if (r == 0)
		r = prepare_proxy(p, policy, made, draft);
	if (r == 0)
		r = prepare_ablate(p, draft);
	if (r == 0)
		r = prepare_seccomp(draft, p->e);
	made->plan = draft;
	return r;
}

/* Merges everything that files and options say. */
static int prepare_policy(struct prepare *p, struct policy *ret_policy)
{
	const struct invocation *i = p->invocation;
	int r = host_gather(invocation_value(i, OPTION_WORKSPACE), p->arena, &p->host, p->e);

	if (r == -ENOSYS)
		(void)advice_missing_feature(FEATURE_OPENAT2, r, p->e);
	if (r == 0)
		r = prepare_read_files(p);
	if (r == 0)
		r = prepare_flags(p);
	if (r == 0)
		r = policy_merge(p->sources, p->source_count, p->flags, p->flag_count, p->arena,
				 ret_policy, p->e);
	/* Without a box every tool has its own settings. */
	if (r == 0 && ret_policy->backend != PLAN_BACKEND_HOST) {
		r = prepare_look_write(p, ret_policy);
		if (r == 0)
			r = mirrors_apply(ret_policy, &p->host, p->arena, &p->mirrors, p->e);
	}
	return r;
}

static int prepare_places(struct prepare *p, struct prepared *made)
{
	made->config = arena_printf(p->arena, "%s/config.yaml", p->host.config_dir);
	made->places = session_places_of(&p->host);
	made->sources.host = p->host;
	made->sources.mirrors.items = p->mirrors.values.items;
	made->sources.mirrors.count = p->mirrors.values.count;
	return made->config ? 0 : error_sys(p->e, -ENOMEM, "cannot read your configuration");
}

int prepare_rules(const struct invocation *i, struct prepared *ret_prepared, struct error *e)
{
	_cleanup_prepared_ struct prepared made = {.arena = ARENA_INIT(PLAN_ARENA_MAX),
						   .layers = LAYERS_INIT};
	struct prepare p = {.invocation = i, .arena = &made.arena, .e = e};
	struct policy policy;

	memset(&policy, 0, sizeof(policy));
	int r = prepare_policy(&p, &policy);

	if (r < 0)
		return r;
	struct plan *draft = prepare_draft(&p);

	if (!draft)
		return e->code;
	draft->backend = policy.backend;
	draft->backend_origin = policy.backend_origin;
	draft->home = p.host.home;
	draft->workspace = p.host.workspace.path;
	draft->without.items = policy.without.items;
	draft->without.count = policy.without.count;
	draft->network.items = policy.network.items;
	draft->network.count = policy.network.count;
	if (plan_holds(&policy, &made.arena, draft) < 0)
		return error_sys(e, -ENOMEM, "cannot read the list of holds");
	draft->notes.items = policy.notes.items;
	draft->notes.count = policy.notes.count;
	made.plan = draft;
	made.sources.secrets.items = policy.secrets.items;
	made.sources.secrets.count = policy.secrets.count;
	if (prepare_places(&p, &made) < 0)
		return -ENOMEM;
	*ret_prepared = made;
	made.arena = ARENA_INIT(0);
	made.layers = LAYERS_INIT;
	return 0;
}

int prepare_keep(struct arena *arena, struct prepare_keep *ret, struct error *e)
{
	struct prepare p = {.arena = arena, .e = e};
	struct policy policy;

	memset(&policy, 0, sizeof(policy));
	int r = host_gather_user(arena, &p.host, e);

	if (r == 0)
		r = prepare_read_user(&p);
	if (r == 0)
		r = policy_merge(p.sources, p.source_count, NULL, 0, arena, &policy, e);
	if (r < 0)
		return r;
	*ret = (struct prepare_keep){
		.days = policy.keep_days,
		.size = policy.keep_size,
		.config = arena_printf(arena, "%s/config.yaml", p.host.config_dir),
	};
	return ret->config ? 0 : error_sys(e, -ENOMEM, "cannot read your configuration");
}

int prepare_plan(const struct invocation *i, char *const *argv, bool create,
		 struct prepared *ret_prepared, struct error *e)
{
	_cleanup_prepared_ struct prepared made = {.arena = ARENA_INIT(PLAN_ARENA_MAX),
						   .layers = LAYERS_INIT};
	struct prepare p = {.invocation = i, .arena = &made.arena, .e = e};
	struct policy policy;

	memset(&policy, 0, sizeof(policy));
	int r = prepare_policy(&p, &policy);

	if (r == 0)
		r = prepare_look(&p, &policy);
	if (r == 0)
		r = prepare_ssh(&p, &policy);
	if (r == 0 && prepare_opens(&policy))
		r = host_gather_trust(&p.host, p.arena, p.e);
	prepare_limits(&p, &policy);
	if (r == 0)
		r = prepare_build(&p, &policy, argv, create, &made);
	if (r == 0)
		r = prepare_places(&p, &made);
	if (r < 0)
		return r;
	made.sources.secrets.items = policy.secrets.items;
	made.sources.secrets.count = policy.secrets.count;
	*ret_prepared = made;
	made.arena = ARENA_INIT(0);
	made.layers = LAYERS_INIT;
	return 0;
}
