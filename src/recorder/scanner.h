/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child of the recorder for work that takes long and is not urgent: the first look at the
 * workspace (manifest.h) and the digests of the programs that run.  It has the lowest priority that
 * there is, for processor and disk: what the session itself does goes first.
 *
 * The recorder forks it once it serves, under the recorder's filter.  The child keeps its channel
 * and the folders that it walks.  It writes the manifests into memory that both share.  The
 * recorder asks for a digest with a descriptor of the file, and does not ask twice for the same
 * file (the same device, inode, size and times).  The digest is that of the program that ran:
 * nobody can write to a file while it runs, and if its ctime says that it was changed between that
 * and the end of the reading, there is none.  The recorder reads a small and new file at once,
 * before the program goes on: many such programs are gone a moment later.
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
	SCANNER_FILES_MAX = 4096,   /* different files whose digest we ask for in a session */
	SCANNER_WAITING_MAX = 64,   /* files that we hold open until it is their turn */
	SCANNER_PATIENCE_MS = 2000, /* for the digests that are left at the end */
	SCANNER_REST_MS = 1000,     /* after so long without a question it ends */
	SCANNER_ENDED_MAX = 4,
	SCANNER_BYTES_MAX = 1 << 30, /* bytes; a larger file has no digest */
	SCANNER_AT_ONCE = 256 << 10, /* bytes; a new file up to this size is read at once */
	SCANNER_AT_ONCE_KNOWN = 64,  /* of these, that we do not read again */
	SCANNER_TICK_MS = 25,        /* a tick of the clock of files is at most 10 ms */
	SCANNER_DEATHS_MAX = 3,      /* after so many deaths with a question open we ask no more */
};

/* A file whose digest we asked for. */
struct scanner_file {
	struct digests_key key;
	int fd;     /* -1 once it is answered */
	char *path; /* NULL once it is answered */
};

struct scanner_digest {
	const char *path;
	uint64_t device, inode;
	struct hash digest;
	int result;      /* 0; -ESTALE: it was changed since it ran; -EFBIG; or another -errno */
	bool remembered; /* an earlier session read it, not this one (digests.h) */
};

/* Who gets the scanner's answers. */
struct scanner_to {
	struct loop *loop; /* NULL: answers are only read at the end */
	int (*on_digest)(void *context, const struct scanner_digest *digest);
	void (*forget)(void *context); /* called in the child: wipes what is not for it; or NULL */
	void *context;
};

/* A child that is ending and that we have not waited for yet; pid 0: none. */
struct scanner_ended {
	pid_t pid;
	int pidfd;
	struct loop_handle handle;
};

struct scanner {
	int fd, pidfd; /* -1: there is none */
	pid_t pid;
	bool awake; /* it was started; until then questions wait */
	struct scanner_to to;
	struct digests known; /* from earlier sessions */
	struct loop_handle handle;
	struct scanner_file *files;
	size_t count, sent, answered;
	unsigned int deaths; /* children that left a question unanswered */
	struct scanner_ended ended[SCANNER_ENDED_MAX];
	uint64_t left_out; /* files that were too many */
	int64_t since;     /* when it began: files that changed later are new */
	struct digests_key at_once[SCANNER_AT_ONCE_KNOWN];
	size_t at_once_next;
};

#define SCANNER_INIT ((struct scanner){.fd = -1, .pidfd = -1, .known = DIGESTS_INIT})

/* From now on questions can come; records: the folder of `digests`, or -1. */
void scanner_init(struct scanner *s, int records, const struct scanner_to *to);

/* Forks.  The child walks `before` and those after it; NULL: none.  0 or -errno. */
int scanner_start(struct scanner *s, struct manifest *before);

/* Asks for the digest of the program behind fd: an open file, not O_PATH.  Takes fd, and copies the
 * path.  The answer comes by on_digest, sooner or later. */
void scanner_digest(struct scanner *s, int fd, struct span path);

/*
 * Tells the child to end and does not wait for it: on a busy machine that may take long.  What it
 * has written of the manifest stays (manifest_freeze).  Takes missing digests here and now, for at
 * most SCANNER_PATIENCE_MS.
 */
void scanner_end(struct scanner *s);

#endif
