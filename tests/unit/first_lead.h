/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of what is made of first versions: a workspace, the folder of a session, and entries
 * as the recorder writes them, each from what stands in the workspace at that moment.  In
 * /var/tmp, for a tmpfs has user attributes only on newer kernels.
 */
#ifndef BAWN_TEST_FIRST_LEAD_H
#define BAWN_TEST_FIRST_LEAD_H

#include "tree_lead.h"

#include "changes.h"
#include "clock.h"
#include "first.h"
#include "layers.h"
#include "tree.h"

#include <stdio.h>
#include <sys/stat.h>

#define LEAD_SESSION "one"

struct first_lead {
	char path[64];
	int tree, session, first, data;
	struct layers layers;
	struct first_index index;
	uint64_t at; /* end of data */
};

static inline void lead_open(struct first_lead *l)
{
	char workspace[80], state[80];
	struct error e = ERROR_INIT;

	*l = (struct first_lead){.layers = LAYERS_INIT};
	(void)snprintf(l->path, sizeof(l->path), "/var/tmp/bawn-first-XXXXXX");
	assert_non_null(mkdtemp(l->path));
	(void)snprintf(workspace, sizeof(workspace), "%s/work", l->path);
	(void)snprintf(state, sizeof(state), "%s/state", l->path);
	assert_int_equal(mkdir(workspace, 0755), 0);
	assert_int_equal(mkdir(state, 0700), 0);
	_cleanup_fd_ int all = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(layers_open(all, state, workspace, true, &l->layers, &e), 0);
	l->tree = open(workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	l->session = layers_session_dir(&l->layers, LEAD_SESSION, true);
	assert_true(l->tree >= 0 && l->session >= 0);
	assert_int_equal(mkdirat(l->session, "first", 0700), 0);
	l->first = openat(l->session, "first", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(first_index_open(&l->index, l->first), 0);
	l->data = openat(l->first, "data", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(l->data >= 0);
}

static inline void lead_close(struct first_lead *l)
{
	first_index_close(&l->index);
	layers_close(&l->layers);
	(void)close(l->tree);
	(void)close(l->session);
	(void)close(l->first);
	(void)close(l->data);
	_cleanup_fd_ int parent = open("/var/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(tree_remove(parent, l->path + strlen("/var/tmp/")), 0);
}

/* What stands at a path, as an entry; path and text are the caller's. */
static inline struct first_entry lead_look(const struct first_lead *l, const char *path,
					   char text[PATH_MAX])
{
	struct first_entry e = {.flags = FIRST_DIRECT, .path = path, .text = text};
	struct stat st;

	text[0] = '\0';
	if (fstatat(l->tree, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return e;
	e.kind = S_ISREG(st.st_mode)   ? FIRST_FILE
		 : S_ISDIR(st.st_mode) ? FIRST_DIR
		 : S_ISLNK(st.st_mode) ? FIRST_LINK
				       : FIRST_OTHER;
	e.mode = st.st_mode & 07777;
	e.links = (uint32_t)st.st_nlink;
	e.size = (uint64_t)st.st_size;
	e.dev = st.st_dev;
	e.ino = st.st_ino;
	e.mtime = CLOCK_NS(st.st_mtim);
	e.ctime = CLOCK_NS(st.st_ctim);
	if (e.kind == FIRST_FILE && e.links > 1)
		e.born = first_born(l->tree, path);
	if (e.kind == FIRST_LINK) {
		ssize_t n = readlinkat(l->tree, path, text, PATH_MAX - 1);

		assert_true(n > 0);
		text[n] = '\0';
	}
	return e;
}

static inline void lead_put(struct first_lead *l, const struct first_entry *e)
{
	assert_int_equal(first_index_put(&l->index, e, FIRST_INDEX_MAX), FIRST_WHY_NOT);
}

static inline void lead_hash(const struct first_lead *l, struct first_entry *e)
{
	_cleanup_fd_ int fd = openat(l->tree, e->path, O_RDONLY | O_CLOEXEC);
	uint64_t size = 0;

	if (fd >= 0 && changes_hash(fd, e->digest, &size) == 0)
		e->flags |= FIRST_HASHED;
}

/* Before something is changed.  Of a file its content is kept. */
static inline void lead_keep(struct first_lead *l, const char *path)
{
	char text[PATH_MAX], bytes[4096];
	struct first_entry e = lead_look(l, path, text);

	if (e.kind == FIRST_FILE) {
		_cleanup_fd_ int fd = openat(l->tree, path, O_RDONLY | O_CLOEXEC);
		ssize_t n = read(fd, bytes, sizeof(bytes));

		assert_int_equal(n, e.size);
		assert_int_equal(pwrite(l->data, bytes, (size_t)n, (off_t)l->at), n);
		e.at = l->at;
		e.flags |= FIRST_PACKED;
		l->at += e.size;
		lead_hash(l, &e);
	}
	lead_put(l, &e);
}

/* Before nothing but its mode or its times are changed, or those of what is in a folder. */
static inline void lead_keep_meta(struct first_lead *l, const char *path)
{
	char text[PATH_MAX];
	struct first_entry e = lead_look(l, path, text);

	e.flags |= FIRST_META;
	lead_put(l, &e);
}

/* A folder is about to be renamed. */
static inline void lead_move(struct first_lead *l, const char *from, const char *to, bool exchange)
{
	char text[PATH_MAX];
	struct first_entry e = lead_look(l, from, text);

	e.kind = FIRST_MOVED;
	e.text = to;
	e.flags |= exchange ? FIRST_EXCHANGED : 0;
	lead_put(l, &e);
	assert_int_equal(renameat2(l->tree, from, l->tree, to, exchange ? 2 : 0), 0);
}

/* How the session leaves it. */
static inline void lead_leave(struct first_lead *l, const char *path)
{
	char text[PATH_MAX];
	struct first_entry e = lead_look(l, path, text);

	e.flags |= FIRST_END;
	if (e.kind == FIRST_FILE)
		lead_hash(l, &e);
	lead_put(l, &e);
}

#endif
