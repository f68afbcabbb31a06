/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The authorities that this machine trusts: the files with their certificates, and the places where
 * programs look for them.  Used only for a plan that opens connections.
 */
#include "host_parts.h"

#include "str.h"

#include <stdio.h>

/* Where the distributions have it; several names may lead to one file. */
static const struct {
	const char *path, *format;
} host_trust_places[] = {
	{"/etc/ssl/certs/ca-certificates.crt", "bundle"}, /* Debian, Arch, NixOS, Alpine */
	{"/etc/pki/tls/certs/ca-bundle.crt", "bundle"},   /* Fedora, RHEL */
	{"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "bundle"},
	{"/etc/ssl/ca-bundle.pem", "bundle"}, /* openSUSE */
	{"/etc/ssl/cert.pem", "bundle"},
	{"/usr/lib/ssl/cert.pem", "bundle"}, /* OpenSSL's own, on Debian */
	{"/etc/ssl/certs/java/cacerts", "java"},
	{"/etc/pki/java/cacerts", "java"},
	{"/usr/bin/chromium", "chromium"},
	{"/usr/bin/google-chrome", "chrome"},
};

/* What an administrator adds: the gate and the box trust these, too. */
#define HOST_TRUST_OWN "/etc/bawn/authorities.pem"

static int host_add_trust(struct host *h, const char *path, const char *format, struct arena *arena)
{
	struct host_object object = {.name = NULL};
	int r = host_look(path, arena, &object);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < h->trust.count; i++)
		if (str_equal(h->trust.items[i].path, object.path))
			return 0;
	object.origin = format;
	return object.is_file ? host_list_add(&h->trust, arena, &object) : 0;
}

int host_gather_trust(struct host *h, struct arena *arena, struct error *e)
{
	const char *java = host_env(h->environ, "JAVA_HOME");
	int r = 0;

	for (size_t i = 0; r == 0 && i < BAWN_ARRAY_SIZE(host_trust_places); i++)
		r = host_add_trust(h, host_trust_places[i].path, host_trust_places[i].format,
				   arena);
	if (r == 0)
		r = host_add_trust(h, HOST_TRUST_OWN, "own", arena);
	/* A Java of the user has its own store. */
	if (r == 0 && java && java[0] == '/') {
		const char *store = arena_printf(arena, "%s/lib/security/cacerts", java);

		r = store ? host_add_trust(h, store, "java", arena) : -ENOMEM;
	}
	return r < 0 ? error_sys(e, r, "looking for the machine's certificate authorities") : 0;
}
