/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a system's root filesystem, with tools of the host and no other rights than the user's.
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
 * mmdebstrap, umoci, cp and tar run confined (system_run.h).  They have no id but the user's own,
 * so no subordinate ids are needed, and all that they make belongs to the user.  They can write
 * only to the folder of the system.  skopeo fetches with the user's network and credentials.
 */
#ifndef BAWN_SYSTEM_MAKE_H
#define BAWN_SYSTEM_MAKE_H

#include "error.h"
#include "system_run.h"
#include "systems.h"

enum system_source_kind {
	SYSTEM_DEBIAN,
	SYSTEM_OCI,
	SYSTEM_DOCKER,
	SYSTEM_PATH, /* a folder or an archive: we have to look */
};

struct system_source {
	enum system_source_kind kind;
	const char *what; /* what follows "debian:"; the reference; the path */
};

/* The result points into text. */
struct system_source system_source_parse(const char *text);

enum { SYSTEM_SOURCE_MAX = 80 };

/*
 * What a system of this name is made from where the user did not say: "debian" and the name of a
 * Debian release say it themselves.  Of another name nobody knows what it should be: -EINVAL.
 */
int system_source_of_name(const char *name, char ret_source[SYSTEM_SOURCE_MAX]);

/* "debian" with the release that it means, as debian:bookworm; all others as they are. */
const char *system_source_spell(const char *source, char ret[SYSTEM_SOURCE_MAX]);

struct system_how {
	bool quiet;                       /* the tools say less */
	const struct system_watch *watch; /* or NULL */
};

/* Fills n's root/.  The output of the tools goes to standard error. */
int system_make(const struct system_new *n, const char *source, const struct system_how *how,
		struct error *e);

#endif
