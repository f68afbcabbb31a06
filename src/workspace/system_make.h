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
 * mmdebstrap, umoci, cp and tar run confined (system_run.h): with no id but the user's own, which
 * is why no subordinate ids are needed and why all that they make is the user's, and with nothing
 * to write but the folder of the system.  skopeo fetches with the user's network and credentials.
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
	SYSTEM_PATH, /* a folder or an archive: to be looked at */
};

struct system_source {
	enum system_source_kind kind;
	const char *what; /* behind "debian:"; the reference; the path */
};

/* Points into text. */
struct system_source system_source_parse(const char *text);

struct system_how {
	bool quiet;                       /* the tools say less */
	const struct system_watch *watch; /* or NULL */
};

/* Fills n's root/.  What the tools say goes to standard error. */
int system_make(const struct system_new *n, const char *source, const struct system_how *how,
		struct error *e);

#endif
