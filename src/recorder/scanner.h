/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child of the recorder for what takes long and is not urgent: the first look at the workspace
 * (manifest.h) and the digests of the programs that run.  It has the lowest priority that there
 * is, for processor and disk: what the session itself does goes first.
 *
 * It is forked from the recorder once that is serving, under the recorder's filter, and keeps its
 * channel and the folders that it walks.  The manifests are written into memory that both share.  A
 * digest is asked for with a descriptor of the file; asked again for the same file
 * (device, inode, size and times are the same) it is not taken twice.  It is that of the program
 * that ran: nobody writes to a file while it runs, and what its ctime says was changed between that
 * and the end of the reading has none.  What is small and new is read at once, before the program
 * goes on: of many such programs nothing is left a moment later.
 *
 * With nothing left to do it ends, and the next digest starts another one.  When the recorder is
 * gone its channel says so, and it ends, too.
 */
#ifndef BAWN_SCANNER_H
#define BAWN_SCANNER_H

#include "digests.h"
#include "hash.h"
#include "loop.h"
#include "manifest.h"

enum {
	SCANNER_FILES_MAX = 4096,   /* different files whose digest is asked for in a session */
	SCANNER_WAITING_MAX = 64,   /* of these, that are held open until it is their turn */
	SCANNER_PATIENCE_MS = 2000, /* for the digests that are left at the end */
	SCANNER_REST_MS = 1000,     /* without a question it ends */
	SCANNER_ENDED_MAX = 4,
	SCANNER_BYTES_MAX = 1 << 30, /* of a file; one that is larger has no digest */
	SCANNER_AT_ONCE = 256 << 10, /* of a file that is new: it is not put off */
	SCANNER_AT_ONCE_KNOWN = 64,  /* of these, that are not read again */
	SCANNER_TICK_MS = 25,        /* a tick of the clock of files is 10 at the most */
	SCANNER_DEATHS_MAX = 3,      /* with one: then no more are asked */
};

/* A file whose digest was asked for. */
struct scanner_file {
	struct digests_key key;
	int fd;     /* until it is answered; then -1 */
	char *path; /* the same */
};

struct scanner_digest {
	const char *path;
	uint64_t device, inode;
	struct hash digest;
	int result;      /* 0, -ESTALE: it was changed since it ran, -EFBIG, or another -errno */
	bool remembered; /* not read now, but by an earlier session (digests.h) */
};

/* Whom the scanner answers. */
struct scanner_to {
	struct loop *loop; /* NULL: answers are only taken at the end */
	int (*on_digest)(void *context, const struct scanner_digest *digest);
	void (*forget)(void *context); /* in the child: wipes what is not for it; or NULL */
	void *context;
};

/* A child that has yet to be taken leave of; its pid is 0 where there is none. */
struct scanner_ended {
	pid_t pid;
	int pidfd;
	struct loop_handle handle;
};

struct scanner {
	int fd, pidfd; /* -1: there is none */
	pid_t pid;
	bool awake; /* was started; until then questions wait */
	struct scanner_to to;
	struct digests known; /* from earlier sessions */
	struct loop_handle handle;
	struct scanner_file *files;
	size_t count, sent, answered;
	unsigned int deaths; /* that left a question unanswered */
	struct scanner_ended ended[SCANNER_ENDED_MAX];
	uint64_t left_out; /* that were too many */
	int64_t since;     /* when it began: what is changed later is new */
	struct digests_key at_once[SCANNER_AT_ONCE_KNOWN];
	size_t at_once_next;
};

#define SCANNER_INIT ((struct scanner){.fd = -1, .pidfd = -1, .known = DIGESTS_INIT})

/* Questions can come from now on; records: the folder of `digests`, or -1. */
void scanner_init(struct scanner *s, int records, const struct scanner_to *to);

/* Forks.  `before`, and those behind it, are walked by the child; NULL: none.  0 or -errno. */
int scanner_start(struct scanner *s, struct manifest *before);

/* Asks for the digest of the program behind fd, which is taken (as the path is copied): an open
 * file, not O_PATH.  The answer comes by on_digest, sooner or later. */
void scanner_digest(struct scanner *s, int fd, struct span path);

/*
 * The child is told to go and not waited for: on a busy machine its turn to end may be long in
 * coming.  What it has written of the manifest stays (manifest_freeze).  Digests that are missing
 * are taken here and now, for at most SCANNER_PATIENCE_MS.
 */
void scanner_end(struct scanner *s);

#endif
