/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts that every box has, in order: programs, a small /etc, /proc,
 * /dev, private /tmp and /run, the private home.  build_named.c adds what the user
 * gives.
 */
#include "build_parts.h"

#include "fnv.h"
#include "str.h"

/* Enough for sockets and lock files. */
enum { BUILD_RUNTIME_SIZE = 16 << 20 };

static void build_system(struct build *b, const struct host_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct host_object *o = &list->items[i];

		*build_add_mount(b) = (struct plan_mount){
			.kind = o->link ? PLAN_MOUNT_LINK : PLAN_MOUNT_BIND,
			.access = PLAN_ACCESS_READ,
			.target = o->name,
			.source = o->link ? o->link : o->path,
			.role = "system",
			.origin = o->origin,
		};
	}
}

static struct plan_mount *build_own(struct build *b, enum plan_mount_kind kind,
				    enum plan_access access, const char *target)
{
	struct plan_mount *m = build_add_mount(b);

	*m = (struct plan_mount){
		.kind = kind,
		.access = access,
		.target = target,
		.role = "private",
		.origin = "default",
	};
	return m;
}

/* Whether something of the user will be mounted beneath path. */
static bool build_is_wanted_beneath(const struct build *b, const char *path)
{
	const struct host_list *const lists[] = {&b->host->tools, &b->host->named};

	if (str_path_beneath(b->host->workspace.path, path) ||
	    str_path_beneath(b->host->home, path))
		return true;
	for (size_t l = 0; l < BAWN_ARRAY_SIZE(lists); l++)
		for (size_t i = 0; i < lists[l]->count; i++) {
			const struct host_object *o = &lists[l]->items[i];

			if (o->path &&
			    (str_path_beneath(o->path, path) || str_path_beneath(o->name, path)))
				return true;
		}
	return false;
}

/* The root of a system, with its own /etc, /usr and /var.  Its layers are named later. */
static void build_root(struct build *b)
{
	struct plan_mount *m = build_grow(b, BUILD_LIST(b->plan.root));

	*m = (struct plan_mount){
		.kind = PLAN_MOUNT_BIND,
		.access = PLAN_ACCESS_WRITE,
		.target = "/",
		.source = b->host->stands_on.path,
		.dev = b->host->stands_on.dev,
		.ino = b->host->stands_on.ino,
		.role = "system",
		.origin = b->host->stands_on.origin,
	};
}

static void build_private(struct build *b)
{
	const struct policy_number *size = &b->policy->tmp_size;
	uint64_t tmp = size->set ? size->value : 0;
	bool own_root = b->plan.root.count > 0;
	struct plan_mount *m;

	(void)build_own(b, PLAN_MOUNT_PROC, PLAN_ACCESS_READ, "/proc");
	m = build_own(b, PLAN_MOUNT_DEV, PLAN_ACCESS_WRITE, "/dev");
	m->size = tmp; /* of its shm */
	m = build_own(b, PLAN_MOUNT_TMPFS, PLAN_ACCESS_WRITE, "/tmp");
	m->size = tmp;
	if (size->origin)
		m->origin = size->origin;
	m = build_own(b, own_root ? PLAN_MOUNT_TMPFS : PLAN_MOUNT_DIR,
		      own_root ? PLAN_ACCESS_WRITE : PLAN_ACCESS_READ, "/run");
	if (own_root)
		m->size = tmp && tmp < BUILD_RUNTIME_SIZE ? tmp : BUILD_RUNTIME_SIZE;
	m = build_own(b, PLAN_MOUNT_TMPFS, PLAN_ACCESS_WRITE,
		      build_printf(b, "/run/user/%llu", (unsigned long long)b->host->uid));
	m->size = tmp && tmp < BUILD_RUNTIME_SIZE ? tmp : BUILD_RUNTIME_SIZE;
	if (own_root)
		return;
	/* A link costs no mount, and nothing can be mounted beneath one. */
	if (build_is_wanted_beneath(b, "/var/tmp")) {
		m = build_own(b, PLAN_MOUNT_TMPFS, PLAN_ACCESS_WRITE, "/var/tmp");
		m->size = tmp;
	} else {
		m = build_own(b, PLAN_MOUNT_LINK, PLAN_ACCESS_READ, "/var/tmp");
		m->source = "/tmp";
	}
	m = build_own(b, PLAN_MOUNT_LINK, PLAN_ACCESS_READ, "/var/run");
	m->source = "/run";
	m = build_own(b, PLAN_MOUNT_LINK, PLAN_ACCESS_READ, "/etc/mtab");
	m->source = "/proc/self/mounts";
}

/* /home -> var/home and the like, where the box has nothing of its own in the way. */
static void build_links(struct build *b)
{
	for (size_t i = 0; i < b->host->links.count; i++) {
		const struct host_object *o = &b->host->links.items[i];
		const struct plan_mount *over = build_mount_over(b, o->name);
		bool in_the_way = over && over->kind != PLAN_MOUNT_TMPFS;

		for (size_t n = 0; n < b->plan.mounts.count; n++)
			in_the_way = in_the_way ||
				     str_path_beneath(b->plan.mounts.items[n].target, o->name);
		if (in_the_way || build_is_wanted_beneath(b, o->name))
			continue;
		*build_add_mount(b) = (struct plan_mount){
			.kind = PLAN_MOUNT_LINK,
			.access = PLAN_ACCESS_READ,
			.target = o->name,
			.source = o->link,
			.role = "link",
			.origin = "default",
		};
	}
}

/* --- /etc ----------------------------------------------------------------------------- */

/* The files of /etc that are made up: true enough for programs to work, and silent about the
 * machine's other users, its name, its identity and its network. */

/* Root and nobody are always there: files of others show as nobody's. */
static const char *build_passwd(struct build *b)
{
	const struct plan *p = &b->plan;
	const char *root = p->uid ? "root:x:0:0:root:/root:/usr/sbin/nologin\n" : "";
	const char *nobody = p->uid != 65534 ? "nobody:x:65534:65534:nobody:/nonexistent:"
					       "/usr/sbin/nologin\n"
					     : "";

	return build_printf(b, "%s%s:x:%llu:%llu:%s:%s:%s\n%s", root, p->user,
			    (unsigned long long)p->uid, (unsigned long long)p->gid, p->user,
			    p->home, build_shell(b), nobody);
}

static const char *build_group(struct build *b)
{
	const struct plan *p = &b->plan;

	return build_printf(b, "%s%s:x:%llu:\n%s", p->gid ? "root:x:0:\n" : "", p->user,
			    (unsigned long long)p->gid,
			    p->gid != 65534 ? "nogroup:x:65534:\n" : "");
}

/* The same id for each run in a workspace, and for no other: made from the name of its home
 * store. */
static const char *build_machine_id(struct build *b)
{
	const char *name = b->home_store->path;

	return build_printf(
		b, "%016llx%016llx\n",
		(unsigned long long)fnv64_bytes(FNV64_START, name, strlen(name)),
		(unsigned long long)fnv64_bytes(0x9ae16a3b2f90404full, name, strlen(name)));
}

/* The files of /etc that a system has itself and that its packages change. */
static void build_etc_of_system(struct build *b)
{
	build_file(b, "/etc/passwd", build_passwd(b));
	build_file(b, "/etc/group", build_group(b));
	build_file(b, "/etc/machine-id", build_machine_id(b));
	build_file(b, "/etc/nsswitch.conf",
		   "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n"
		   "protocols: files\nservices: files\nrpc: files\nethers: files\n");
}

static void build_etc(struct build *b)
{
	if (b->plan.root.count == 0)
		build_etc_of_system(b);
	build_file(b, "/etc/hosts", "127.0.0.1 localhost bawn\n::1 localhost bawn\n");
	build_file(b, "/etc/hostname", "bawn\n");
	build_file(b, "/etc/resolv.conf",
		   PLAN_GATE_PRESENT ? "# bawn's gate answers here.\nnameserver " PLAN_GATE_ADDRESS
				       "\n"
				       "options timeout:1 attempts:5\n"
				     : "# The network is closed: there is nobody to ask.\n");
}

/* --- all of it ------------------------------------------------------------------------ */

int build_mounts(struct build *b)
{
	if (b->host->stands_on.path) {
		build_root(b);
		build_private(b);
	} else {
		build_system(b, &b->host->programs);
		build_system(b, &b->host->etc);
		build_private(b);
		build_links(b);
	}
	*build_add_mount(b) = (struct plan_mount){
		.kind = PLAN_MOUNT_BIND,
		.access = PLAN_ACCESS_WRITE,
		.target = b->host->home,
		.source = b->home_store->path,
		.dev = b->home_store->dev,
		.ino = b->home_store->ino,
		.role = "home",
		.origin = "default",
	};
	int r = build_named(b);

	if (r < 0)
		return r;
	build_etc(b);
	return build_hides(b);
}
