/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a system's root filesystem, with tools of the host and the rights of the user alone.
 *
 * A source is
 *
 *	debian			Debian, of this machine's release when it is one, else stable
 *	debian:SUITE		of another release
 *	debian:deb ...		from a line as in sources.list
 *	oci:DIR[:TAG]		an image, as skopeo and others keep it in a folder
 *	docker://NAME		an image of a registry
 *	FOLDER, FILE		a copy of a folder; what is in a tar archive
 *
 * mmdebstrap, cp and tar run in a user namespace of their own where the user is root, with no other
 * id, and the changes of owner that they make are pretended (PROFILE_MAKER).  That is why no
 * subordinate ids are needed, and why all that they make is the user's.
 */
#ifndef BAWN_SYSTEM_MAKE_H
#define BAWN_SYSTEM_MAKE_H

#include "error.h"
#include "systems.h"

enum system_source_kind {
	SYSTEM_DEBIAN,
	SYSTEM_OCI,
	SYSTEM_DOCKER,
	SYSTEM_PATH, /* a folder or an archive: to be looked at */
};

struct system_source {
	enum system_source_kind kind;
	const char *what; /* behind "debian:"; the reference; the path */
};

/* Points into text. */
struct system_source system_source_parse(const char *text);

/* The programs that are needed for it, each with its Debian package. */
struct system_tool {
	const char *name, *package, *what; /* what it makes */
};
enum { SYSTEM_TOOL_COUNT = 3 };
extern const struct system_tool system_tools[SYSTEM_TOOL_COUNT];

/* Where a program is; false: nowhere. */
bool system_tool_find(const char *name, char *into, size_t size);

/* Fills n's root/.  What the tools say goes to standard error, unless quiet. */
int system_make(const struct system_new *n, const char *source, bool quiet, struct error *e);

#endif
