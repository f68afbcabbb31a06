/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of bawn-review: a workspace and a session of it (first_lead.h) with one layer, which the
 * test writes as a box would, and a home in which nothing is.
 */
#ifndef BAWN_TEST_REVIEW_LEAD_H
#define BAWN_TEST_REVIEW_LEAD_H

#include "first_lead.h"

#include "basis.h"
#include "review.h"

#include <sys/sysmacros.h>
#include <sys/xattr.h>

struct review_lead {
	struct first_lead lead;
	struct review review;
	struct basis basis;
	int up; /* of the layer */
	char home[80], nothing[sizeof("GIT_CONFIG_SYSTEM=/dev/null")];
	char *environ[2];
};

static inline void review_lead_open(struct review_lead *w)
{
	struct layers_session *s = &w->review.session;
	char id[LAYER_ID_LEN + 1];
	struct error e = ERROR_INIT;

	lead_open(&w->lead);
	w->basis = BASIS_INIT;
	w->review = REVIEW_INIT;
	w->review.layers = w->lead.layers;
	w->review.tree = w->lead.tree;
	(void)snprintf(w->home, sizeof(w->home), "%s/home", w->lead.path);
	(void)snprintf(w->nothing, sizeof(w->nothing), "GIT_CONFIG_SYSTEM=/dev/null");
	w->environ[0] = w->nothing;
	assert_int_equal(mkdir(w->home, 0755), 0);
	assert_int_equal(setenv("HOME", w->home, 1), 0);
	assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
	assert_int_equal(unsetenv("XDG_STATE_HOME"), 0);
	w->review.host.home = w->home;
	w->review.host.environ = w->environ;
	(void)snprintf(s->name, sizeof(s->name), "%s", LEAD_SESSION);
	assert_int_equal(layers_new(&w->lead.layers, id, &e), 0);
	assert_int_equal(stack_push(&s->project, id), 0);
	assert_int_equal(layers_dress(&w->lead.layers, id, w->lead.tree), 0);
	_cleanup_fd_ int up = layers_open_up(&w->lead.layers, id);

	w->up = openat(up, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(w->up >= 0);
	s->began = INT64_MAX; /* nobody has changed anything since */
}

static inline void review_lead_close(struct review_lead *w)
{
	basis_fini(&w->basis);
	(void)close(w->up);
	lead_close(&w->lead);
}

/* The folders on the way to a path. */
static inline void way_at(int dir, const char *path)
{
	char folder[PATH_MAX];

	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		assert_true(mkdirat(dir, folder, 0755) == 0 || errno == EEXIST);
	}
}

static inline void file_at(int dir, const char *path, const char *text)
{
	way_at(dir, path);
	put_at(dir, path, text);
}

static inline void whiteout_in(const struct review_lead *w, const char *path)
{
	way_at(w->up, path);
	assert_int_equal(mknodat(w->up, path, S_IFCHR, makedev(0, 0)), 0);
}

/* overlayfs made the layer's file from the one beneath. */
static inline void copied_in(const struct review_lead *w, const char *path)
{
	_cleanup_fd_ int fd = openat(w->up, path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fsetxattr(fd, "user.overlay.origin", "x", 1, 0), 0);
}

/* What the session departed from: this file, or none; its content is kept.  See
 * origins_written. */
static inline void origin_is(struct review_lead *w, const char *path, const char *text,
			     uint32_t mode)
{
	struct object o = {.type = OBJECT_ABSENT, .layer = -1};

	if (text) {
		put_at(w->lead.session, "scratch", text);
		_cleanup_fd_ int fd = openat(w->lead.session, "scratch", O_RDONLY | O_CLOEXEC);

		o = (struct object){.type = OBJECT_FILE, .mode = mode, .layer = -1};
		assert_int_equal(changes_hash(fd, o.digest, &o.size), 0);
		o.hashed = true;
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_int_equal(basis_keep(w->lead.session, &o, fd), 0);
	}
	assert_int_equal(basis_set(&w->basis, path, &o), 0);
}

/* Once all of them are said. */
static inline void origins_written(const struct review_lead *w)
{
	struct error e = ERROR_INIT;

	assert_int_equal(basis_write(w->lead.session, &w->basis, &e), 0);
}

#endif
