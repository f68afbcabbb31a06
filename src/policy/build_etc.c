/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of /etc that are made up: true enough for programs to work, and
 * silent about the machine's other users, its name, its identity and its
 * network.
 */
#include "build_parts.h"

#include "fnv.h"

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

/* The same for each run in a workspace, and nobody else's: from the name of its home store. */
static const char *build_machine_id(struct build *b)
{
	const char *name = b->home_store->path;

	return build_printf(
		b, "%016llx%016llx\n",
		(unsigned long long)fnv64_bytes(FNV64_START, name, strlen(name)),
		(unsigned long long)fnv64_bytes(0x9ae16a3b2f90404full, name, strlen(name)));
}

/* What a system has of its own, and its packages change. */
static void build_etc_of_system(struct build *b)
{
	build_file(b, "/etc/passwd", build_passwd(b));
	build_file(b, "/etc/group", build_group(b));
	build_file(b, "/etc/machine-id", build_machine_id(b));
	build_file(b, "/etc/nsswitch.conf",
		   "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n"
		   "protocols: files\nservices: files\nrpc: files\nethers: files\n");
}

void build_etc(struct build *b)
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
