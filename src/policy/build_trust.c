/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How programs in the box come to trust the session's CA, so that an opened connection
 * looks to them like any other.  Programs look at different places, so bawn serves all
 * known ones:
 *
 *	the system's own bundle, over the file that is there: curl, git, wget, Go, Rust's
 *	native roots, OpenSSL, GnuTLS, .NET
 *	variables that name the same file, for what brings its own list: Node, Bun, Deno,
 *	Python's requests and pip, the tools of clouds
 *	Java's key store, over the one that is there
 *	a policy of Chromium and Chrome
 *
 * The files always have the host's list and the CA.  They exist only in a box whose plan
 * opens something.
 */
#include "build_parts.h"

#include "str.h"

/* NULL: the bundle. */
static const struct {
	const char *name, *value;
} build_trust_variables[] = {
	{"AWS_CA_BUNDLE", NULL},
	{"CARGO_HTTP_CAINFO", NULL},
	{"CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", NULL},
	{"CODEX_CA_CERTIFICATE", NULL},
	{"CURL_CA_BUNDLE", NULL},
	{"DENO_CERT", NULL},
	{"GIT_SSL_CAINFO", NULL},
	{"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", NULL},
	{"NIX_SSL_CERT_FILE", NULL},
	{"NODE_EXTRA_CA_CERTS", NULL},
	{"NODE_USE_SYSTEM_CA", "1"},
	{"PIP_CERT", NULL},
	{"REQUESTS_CA_BUNDLE", NULL},
	{"SSL_CERT_FILE", NULL},
};

static bool build_trust_is(const struct host_object *o, const char *format)
{
	return str_equal(o->origin, format);
}

static void build_trust_mount(struct build *b, const char *target, const char *format)
{
	*build_add_mount(b) = (struct plan_mount){
		.kind = PLAN_MOUNT_TRUST,
		.access = PLAN_ACCESS_READ,
		.target = target,
		.source = format,
		.role = "trust",
		.origin = "default",
	};
}

static void build_trust_authority(struct build *b, const char *path)
{
	struct plan_string *authority = build_grow(b, BUILD_LIST(b->plan.authorities));

	authority->text = path;
}

/* Mounts over the existing files.  The gate itself trusts the first bundle. */
static void build_trust_places(struct build *b)
{
	for (size_t i = 0; i < b->host->trust.count; i++) {
		const struct host_object *o = &b->host->trust.items[i];
		bool bundle = build_trust_is(o, "bundle");

		if (bundle && b->plan.authorities.count == 0)
			build_trust_authority(b, o->path);
		if ((bundle || build_trust_is(o, "java")) && build_shows(b, o->path)) {
			build_trust_mount(b, o->path, o->origin);
			if (bundle && !b->trust_bundle)
				b->trust_bundle = o->path;
		} else if (b->plan.root.count > 0) {
			continue;
		} else if (build_trust_is(o, "chromium")) {
			build_trust_mount(b, "/etc/chromium/policies/managed/bawn.json",
					  "chromium");
		} else if (build_trust_is(o, "chrome")) {
			build_trust_mount(b, "/etc/opt/chrome/policies/managed/bawn.json",
					  "chromium");
		}
	}
	for (size_t i = 0; i < b->host->trust.count; i++)
		if (build_trust_is(&b->host->trust.items[i], "own"))
			build_trust_authority(b, b->host->trust.items[i].path);
}

int build_trust(struct build *b)
{
	if (!plan_needs_keys(&b->plan))
		return 0;
	build_trust_places(b);
	if (b->plan.authorities.count == 0) {
		(void)error_set(b->e, -ENOENT,
				"the plan opens connections, and this machine has no list of "
				"certificate authorities to verify them by");
		error_next(b->e, "Install it; the package is called ca-certificates everywhere.");
		return -ENOENT;
	}
	/* The box shows no list: put one at OpenSSL's default path, if that is free. */
	if (!b->trust_bundle) {
		bool own_root = b->plan.root.count > 0;

		b->trust_bundle = own_root || build_mount_over(b, "/etc/ssl/cert.pem")
					  ? "/run/bawn/authorities.pem"
					  : "/etc/ssl/cert.pem";
		build_trust_mount(b, b->trust_bundle, "bundle");
		/* Packages of a system write its list, and apt reads no variable. */
		if (own_root)
			build_file(b, "/etc/apt/apt.conf.d/99bawn",
				   build_printf(b, "Acquire::https::CAInfo \"%s\";\n",
						b->trust_bundle));
	}
	return 0;
}

/* Tells the user that a variable has another value than the user's. */
static void build_trust_note(struct build *b, const char *name, const char *value)
{
	const char *why = "connections are opened, so programs must trust this session's "
			  "certificates: the box's own list is named there";
	const char *own = host_env(b->host->environ, name);

	for (size_t i = 0; i < b->policy->env_set.count; i++)
		if (str_equal(b->policy->env_set.items[i].name, name)) {
			build_note(b, PLAN_NOTE_NOT_GIVEN, build_printf(b, "variable %s", name),
				   why, b->policy->env_set.items[i].origin);
			return;
		}
	if (own && !str_equal(own, value))
		build_note(b, PLAN_NOTE_NOT_GIVEN, build_printf(b, "variable %s", name), why,
			   "default");
}

void build_trust_env(struct build *b)
{
	for (size_t i = 0; b->trust_bundle && i < BAWN_ARRAY_SIZE(build_trust_variables); i++) {
		const char *name = build_trust_variables[i].name;
		const char *value = build_trust_variables[i].value ? build_trust_variables[i].value
								   : b->trust_bundle;

		build_trust_note(b, name, value);
		build_env_put(b, name, value, "default");
	}
}
