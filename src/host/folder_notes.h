/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bawn remembers of folders, outside of every box, so that nothing that a session did gives a
 * later one a larger workspace without the user's word.  Each note is a file of STATE/folders,
 * called INODE-MARK.WHAT; MARK is when the folder was made, so that we know it by whatever path it
 * has.
 *
 *	written	sessions could write in it
 *	own	it was a workspace by itself, or had a .git or a .bawn.yaml that a session removed:
 *		no repository around it takes its place
 *	unseen	and nobody looks afterwards at what they removed there (--write)
 *	alone	we asked the user about the repository around it, and the user said no
 *	taken	the user took it
 *	git	"INODE MARK PATH": its .git is the user's own, which was there before any session
 *		could write in the folder, or which the user took.  PATH: the folder's path then
 *
 * If sessions could write in a folder, or in one around it, a session may have made its .git.  Such
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

/* What is known of a folder: bits of enum folder_note.  All bits when the notes are there but
 * cannot be read; 0 when there are none. */
unsigned int folder_notes(const char *state, const char *path);

/* What is known of any folder around it. */
unsigned int folder_notes_around(const char *state, const char *path);

/* Whether the .git of the folder `top` is the user's own. */
bool folder_is_users(const char *state, const char *top);

/* Call it before a session that can write there.  `git`: it has a repository now, which is the
 * user's if nobody else could have made it. */
int folder_note_written(const char *state, const char *path, bool git,
			struct error *e) BAWN_MUST_USE;
int folder_note_add(const char *state, const char *path, unsigned int notes,
		    struct error *e) BAWN_MUST_USE;

/* The user takes the repository `top` as the workspace for what is in it, first of all for
 * `path`. */
int folder_note_taken(const char *state, const char *top, const char *path,
		      struct error *e) BAWN_MUST_USE;

#endif
