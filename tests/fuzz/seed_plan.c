/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeds for fuzz_plan: plans that are valid by today's schema, made at build
 * time so that they stay valid when it grows.  Writes one into each file given;
 * fails when one does not decode.
 */
#include "fd.h"
#include "plan.h"

#include <fcntl.h>
#include <stdio.h>

#define LIST(array)                             \
	{                                       \
		(array), BAWN_ARRAY_SIZE(array) \
	}

static struct plan_string argv_true[] = {{"true"}};
static struct plan_string argv_long[] = {{"/bin/sh"}, {"-c"}, {"echo \"$0\""}, {""}};
static struct plan_mount mounts[] = {
	{.kind = PLAN_MOUNT_DIR, .target = "/etc", .role = "system", .origin = "default"},
	{.kind = PLAN_MOUNT_BIND,
	 .access = PLAN_ACCESS_READ,
	 .target = "/usr",
	 .source = "/usr",
	 .role = "system",
	 .origin = "default"},
	{.kind = PLAN_MOUNT_BIND,
	 .access = PLAN_ACCESS_WRITE,
	 .target = "/home/u/src",
	 .source = "/home/u/src",
	 .dev = 1,
	 .ino = UINT64_MAX,
	 .role = "workspace",
	 .origin = "config.yaml:3"},
	{.kind = PLAN_MOUNT_TMPFS, .target = "/tmp", .size = 1 << 20, .role = "tmp"},
	{.kind = PLAN_MOUNT_PROC, .target = "/proc"},
	{.kind = PLAN_MOUNT_DEV, .target = "/dev"},
	{.kind = PLAN_MOUNT_FILE,
	 .target = "/etc/hosts",
	 .data = SPAN_LITERAL("127.0.0.1 localhost\n")},
	{.kind = PLAN_MOUNT_LINK, .target = "/bin", .source = "usr/bin"},
	{.kind = PLAN_MOUNT_HIDE, .target = "/home/u/src/keys", .origin = ".bawn.yaml:2"},
	{.kind = PLAN_MOUNT_TRUST, .target = "/etc/ssl/certs/java/cacerts", .source = "java"},
};
static struct plan_string authorities[] = {{"/etc/ssl/certs/ca-certificates.crt"}};
static struct plan_env env[] = {{"HOME", "/home/u", "default"}, {"EMPTY", "", "--env"}};
static struct plan_limit limits[] = {{PLAN_LIMIT_PROCESSES, 1024, "default"},
				     {PLAN_LIMIT_WALL_TIME, UINT64_MAX, "--limit"}};
static struct plan_without without[] = {{PLAN_LAYER_LANDLOCK, "config.yaml:9"}};
static struct plan_ports ports[] = {{443, 443}, {8000, 8010}};
static const uint8_t address[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
static struct plan_string methods[] = {{"GET"}, {"POST"}};
static struct plan_string paths[] = {{"/v1/**"}, {"/a/*/b%2A"}};
static struct plan_string headers[] = {{"x-api-key"}};
static struct plan_string variables[] = {{"EXAMPLE_TOKEN"}, {"EX_TOKEN"}};
static struct plan_secret_part parts[] = {{"sk-placeholder", LIST(variables)}};
static struct plan_secret_part aws_parts[] = {{.placeholder = "AKIAPLACEHOLDER"},
					      {.placeholder = "secret-key-placeholder"}};
static struct plan_binding bindings[] = {
	{.host = "api.example.org",
	 .ports = LIST(ports),
	 .scheme = PLAN_SCHEME_TLS,
	 .methods = LIST(methods),
	 .paths = LIST(paths)},
	{.host = "*.example.test", .ports = LIST(ports), .scheme = PLAN_SCHEME_HTTP}};
static struct plan_secret secrets[] = {{.name = "EXAMPLE",
					.parts = LIST(parts),
					.bindings = LIST(bindings),
					.in_authorization = true,
					.headers = LIST(headers),
					.in_query = true,
					.files = LIST(variables),
					.source = "stored in a file",
					.origin = "config.yaml:8"},
				       {.name = "AWS",
					.kind = PLAN_SECRET_AWS,
					.parts = LIST(aws_parts),
					.bindings = LIST(bindings)}};
static struct plan_rule network[] = {
	{.action = PLAN_ACTION_ALLOW,
	 .host = "*.example.org",
	 .ports = LIST(ports),
	 .ports_named = true,
	 .scheme = PLAN_SCHEME_TCP,
	 .private = true,
	 .methods = LIST(methods),
	 .paths = LIST(paths),
	 .websocket = true,
	 .credentials = true,
	 .origin = "config.yaml:5"},
	{.action = PLAN_ACTION_ASK,
	 .host = "[2001:db8::1]",
	 .address = {address, sizeof(address)},
	 .ports = LIST(ports),
	 .bundle = "npm",
	 .origin = "--use"},
	{.action = PLAN_ACTION_DENY, .host = "*", .ports = LIST(ports), .ceiling = true},
};
static struct plan_note notes[] = {
	{PLAN_NOTE_NOT_GIVEN, "files.write: /etc", "a repository's file may only narrow",
	 ".bawn.yaml:4", false, false},
	{PLAN_NOTE_HIDDEN, "~/.ssh", "private", "default", false, false},
};
static const uint8_t filter[16];

static const struct plan plans[] = {
	{.argv = LIST(argv_true), .cwd = "/"},
	{
		.backend = PLAN_BACKEND_HOST,
		.backend_origin = "--backend",
		.workspace = "/home/u/src",
		.workspace_access = PLAN_ACCESS_WRITE,
		.cwd = "/home/u/src",
		.argv = LIST(argv_long),
		.env = LIST(env),
	},
	{
		.backend_origin = "default",
		.preset = "shell",
		.workspace = "/home/u/src",
		.workspace_access = PLAN_ACCESS_READ,
		.workspace_origin = "config.yaml:3",
		.trusted = true,
		.home = "/home/u",
		.home_store = "/home/u/.local/state/bawn/workspaces/0/home",
		.cwd = "/home/u/src/a",
		.argv = LIST(argv_long),
		.uid = 1000,
		.gid = UINT64_MAX,
		.user = "u",
		.hostname = "box",
		.debug = true,
		.debug_origin = "--debug",
		.mounts = LIST(mounts),
		.env = LIST(env),
		.limits = LIST(limits),
		.without = LIST(without),
		.ablate = LIST(without),
		.network = LIST(network),
		.authorities = LIST(authorities),
		.secrets = LIST(secrets),
		.notes = LIST(notes),
		.seccomp_profile = "agent",
		.seccomp = {filter, sizeof(filter)},
	},
};

static int write_seed(const struct plan *plan, const char *path)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(PLAN_BYTES_MAX);
	_cleanup_arena_ struct arena arena = ARENA_INIT(PLAN_ARENA_MAX);
	struct error e = ERROR_INIT;
	const struct plan *decoded = NULL;
	int r = plan_encode(plan, &bytes);

	if (r == 0)
		r = plan_decode(buf_span(&bytes), &decoded, &arena, &e);
	if (r < 0) {
		(void)fprintf(stderr, "%s is no plan: %s\n", path, e.text);
		return r;
	}
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	return fd < 0 ? -errno : fd_write_all(fd, bytes.ptr, bytes.len);
}

int main(int argc, char **argv)
{
	if (argc != 1 + (int)BAWN_ARRAY_SIZE(plans))
		return 2;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(plans); i++)
		if (write_seed(&plans[i], argv[i + 1]) < 0)
			return 1;
	return 0;
}
