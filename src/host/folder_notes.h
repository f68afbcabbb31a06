/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bawn remembers of folders, outside of every box, so that nothing that a session did makes a
 * later one wider without the user's word.  Each is a file of STATE/folders, called INODE-MARK.WHAT;
 * MARK is when the folder was made, so that it is known by whatever path it has.
 *
 *	written	sessions could write in it
 *	own	it was a workspace by itself, or had a .git or a .bawn.yaml that a session took away:
 *		no repository around takes its place
 *	unseen	and nobody looks afterwards at what they took away there (--write)
 *	alone	the user was asked about the repository around it, and said no
 *	taken	the user took it
 *	git	"INODE MARK PATH": its .git is the user's own, which was there before any session
 *		could write in the folder, or which the user took.  PATH: the folder's own then
 *
 * A .git may be a session's where sessions could write in its folder, or in one around that.  Such
 * a repository takes no folder in it as its own.
 */
#ifndef BAWN_FOLDER_NOTES_H
#define BAWN_FOLDER_NOTES_H

#include "base.h"
#include "error.h"

enum folder_note {
	FOLDER_WRITTEN = 1 << 0,
	FOLDER_OWN = 1 << 1,
	FOLDER_ALONE = 1 << 2,
	FOLDER_UNSEEN = 1 << 3,
	FOLDER_TAKEN = 1 << 4,
};

/* What is known of a folder: bits of enum folder_note; 0 also where nothing can be read. */
unsigned int folder_notes(const char *state, const char *path);

/* What is known of any folder around it. */
unsigned int folder_notes_around(const char *state, const char *path);

/* Whether the .git of the folder `top` is the user's own. */
bool folder_is_users(const char *state, const char *top);

/* Before a session that can write there.  `git`: it has a repository now, which is the user's where
 * nobody else could have made it. */
int folder_note_written(const char *state, const char *path, bool git,
			struct error *e) BAWN_MUST_USE;
int folder_note_add(const char *state, const char *path, unsigned int notes,
		    struct error *e) BAWN_MUST_USE;

/* The user takes the repository `top` as the workspace of what lies in it, `path` above all. */
int folder_note_taken(const char *state, const char *top, const char *path,
		      struct error *e) BAWN_MUST_USE;

#endif
