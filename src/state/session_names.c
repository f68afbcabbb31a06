/* SPDX-License-Identifier: Apache-2.0 */
#include "session_names.h"

#include "array.h"
#include "dir.h"
#include "fd.h"
#include "open.h"
#include "store.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what may be one ------------------------------------------------------------------ */

/* Words that mean something else where a session is named (src/history/history.h). */
static const char *const names_words[] = {"all", "last", "none", "today", "yesterday"};

static bool names_is_word(const char *name)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(names_words); i++)
		if (str_equal(name, names_words[i]))
			return true;
	return store_is_verb(name);
}

static const char *names_fault(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t len = strlen(name);
	const char *dash = strrchr(name, '-');

	if (len < 2 || len >= SESSION_NAME_MAX)
		return "it has 2 to 31 letters";
	if (strspn(name, plain) != len)
		return "it is made of a to z, 0 to 9 and '-'";
	if (name[0] < 'a' || name[0] > 'z' || name[len - 1] == '-')
		return "it begins with a letter, and ends with a letter or a digit";
	if (dash && strspn(dash + 1, "0123456789") == strlen(dash + 1))
		return "what follows its last '-' must not be a number alone";
	return names_is_word(name) ? "this word means something else to bawn" : NULL;
}

int session_names_check(const char *name, struct error *e)
{
	const char *fault = names_fault(name);

	if (!fault)
		return 0;
	(void)error_set(e, -EINVAL, "a session cannot be called '%.64s': %s", name, fault);
	error_next(e, "For example: api, fix-login or try2.");
	return -EINVAL;
}

/* --- labels --------------------------------------------------------------------------- */

static int names_open_labels(const char *state, bool create)
{
	_cleanup_fd_ int base = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (base < 0)
		return -errno;
	if (create && mkdirat(base, "names", 0700) < 0 && errno != EEXIST)
		return -errno;
	return open_beneath(base, "names", O_RDONLY | O_DIRECTORY, 0);
}

static int names_read_label(int labels, const char *label, char ret_name[LAYERS_NAME_MAX + 1])
{
	ssize_t n = readlinkat(labels, label, ret_name, LAYERS_NAME_MAX);

	ret_name[n < 0 ? 0 : n] = '\0';
	return n < 0 ? -ENOENT : layers_is_name(ret_name) ? 0 : -ENOENT;
}

int session_label_read(const char *state, const char *label, char ret_name[LAYERS_NAME_MAX + 1])
{
	struct error ignored = ERROR_INIT;
	_cleanup_fd_ int labels = session_names_check(label, &ignored) < 0
					  ? -ENOENT
					  : names_open_labels(state, false);

	return labels < 0 ? -ENOENT : names_read_label(labels, label, ret_name);
}

/* Calls found for each label with its session. */
static int names_each_label(const char *state,
			    int (*found)(void *context, int labels, const char *label,
					 const char *name),
			    void *context)
{
	int r = 0;
	_cleanup_dir_ DIR *dir = dir_read(names_open_labels(state, false), &r);

	for (const struct dirent *d; r >= 0 && (d = dir_next(dir, NULL));) {
		char name[LAYERS_NAME_MAX + 1];
		struct error ignored = ERROR_INIT;

		if (session_names_check(d->d_name, &ignored) == 0 &&
		    names_read_label(dirfd(dir), d->d_name, name) == 0)
			r = found(context, dirfd(dir), d->d_name, name);
	}
	return r == -ENOENT ? 0 : r;
}

struct names_label {
	const char *name;
	char *ret;
};

static int names_on_label(void *context, int labels, const char *label, const char *name)
{
	const struct names_label *l = context;

	(void)labels;
	if (str_equal(name, l->name))
		(void)snprintf(l->ret, SESSION_NAME_MAX, "%s", label);
	return 0;
}

void session_label_of(const char *state, const char *name, char ret_label[SESSION_NAME_MAX])
{
	struct names_label l = {name, ret_label};

	ret_label[0] = '\0';
	(void)names_each_label(state, names_on_label, &l);
}

void session_label_shown(const char *state, const char *name, char ret[LAYERS_NAME_MAX + 1])
{
	char label[SESSION_NAME_MAX];

	session_label_of(state, name, label);
	(void)snprintf(ret, LAYERS_NAME_MAX + 1, "%s", label[0] ? label : name);
}

static int names_add_label(void *context, int labels, const char *label, const char *name)
{
	struct session_labels *l = context;

	(void)labels;
	if (!ARRAY_GROW(l->items, l->count))
		return -ENOMEM;
	struct session_known *to = &l->items[l->count++];

	*to = (struct session_known){.where = 0};
	(void)snprintf(to->name, sizeof(to->name), "%s", name);
	(void)snprintf(to->label, sizeof(to->label), "%s", label);
	return 0;
}

static int names_compare(const void *a, const void *b)
{
	return strcmp(((const struct session_known *)a)->name,
		      ((const struct session_known *)b)->name);
}

void session_labels_get(const char *state, struct session_labels *ret)
{
	*ret = (struct session_labels){NULL, 0};
	(void)names_each_label(state, names_add_label, ret);
	if (ret->count > 1)
		qsort(ret->items, ret->count, sizeof(*ret->items), names_compare);
}

const char *session_labels_find(const struct session_labels *l, const char *name)
{
	struct session_known key = {.where = 0};

	(void)snprintf(key.name, sizeof(key.name), "%s", name);
	const struct session_known *at =
		l->count ? bsearch(&key, l->items, l->count, sizeof(key), names_compare) : NULL;

	return at ? at->label : "";
}

void session_labels_fini(struct session_labels *l)
{
	free(l->items);
	*l = (struct session_labels){NULL, 0};
}

static int names_drop_label(void *context, int labels, const char *label, const char *name)
{
	const struct names_label *l = context;

	if (str_equal(name, l->name) && !str_equal(label, l->ret) &&
	    unlinkat(labels, label, 0) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int session_label_give(const char *state, const char *name, const char *label, struct error *e)
{
	char kept[SESSION_NAME_MAX];
	struct names_label l = {name, kept};
	_cleanup_fd_ int labels = *label ? names_open_labels(state, true) : -1;
	int r = *label && labels < 0 ? labels : 0;

	(void)snprintf(kept, sizeof(kept), "%s", label);
	if (r == 0 && *label) {
		(void)unlinkat(labels, ".new", 0);
		if (symlinkat(name, labels, ".new") < 0 ||
		    renameat(labels, ".new", labels, label) < 0)
			r = -errno;
	}
	if (r == 0)
		r = names_each_label(state, names_drop_label, &l);
	return r < 0 ? error_sys(e, r, "naming the session %s in %s/names", name, state) : 0;
}

/* --- all of them ---------------------------------------------------------------------- */

void session_names_fini(struct session_names *n)
{
	free(n->items);
	*n = (struct session_names){NULL, 0};
}

struct names_found {
	struct session_names *names;
	unsigned int where;
	struct error *e;
};

static int names_add(struct names_found *f, const char *name)
{
	struct session_names *n = f->names;

	if (!layers_is_name(name))
		return 0;
	if (!ARRAY_GROW(n->items, n->count))
		return -ENOMEM;
	n->items[n->count] = (struct session_known){.where = f->where};
	(void)snprintf(n->items[n->count++].name, sizeof(n->items->name), "%s", name);
	return 0;
}

static int names_on_running(void *context, const char *name)
{
	return names_add(context, name);
}

static int names_on_kept(void *context, const struct layers_session *s)
{
	return names_add(context, s->name);
}

/* What cannot be read of one hides none of the others. */
static int names_on_workspace(void *context, const struct layers *l)
{
	struct names_found *f = context;
	struct error ignored = ERROR_INIT;
	int r = layers_each_session(l, names_on_kept, f, &ignored);

	return r == -ENOMEM ? r : 0;
}

static int names_add_kept(struct names_found *f, const char *state_path)
{
	_cleanup_fd_ int state = open(state_path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return state < 0 ? 0
			 : layers_each_workspace(state, state_path, names_on_workspace, f, f->e);
}

static int names_add_recorded(struct names_found *f, const char *state_path)
{
	_cleanup_fd_ int state = open(state_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = 0;
	_cleanup_dir_ DIR *dir =
		state < 0 ? NULL
			  : dir_read(open_beneath(state, "record", O_RDONLY | O_DIRECTORY, 0), &r);

	for (const struct dirent *d; dir && r >= 0 && (d = dir_next(dir, NULL));) {
		struct store_session session;

		if (store_parse_folder(d->d_name, &session) && store_is_session(&session))
			r = names_add(f, session.name);
	}
	return r == -ENOENT ? 0 : r;
}

/* One for each name. */
static void names_join(struct session_names *n)
{
	size_t count = 0;

	if (n->count > 1)
		qsort(n->items, n->count, sizeof(*n->items), names_compare);
	for (size_t i = 0; i < n->count; i++) {
		if (count > 0 && str_equal(n->items[count - 1].name, n->items[i].name))
			n->items[count - 1].where |= n->items[i].where;
		else
			n->items[count++] = n->items[i];
	}
	n->count = count;
}

static int names_take_label(void *context, int labels, const char *label, const char *name)
{
	struct session_names *n = context;
	struct session_known key = {.where = 0};

	(void)labels;
	(void)snprintf(key.name, sizeof(key.name), "%s", name);
	struct session_known *at =
		n->count ? bsearch(&key, n->items, n->count, sizeof(key), names_compare) : NULL;

	if (at)
		(void)snprintf(at->label, sizeof(at->label), "%s", label);
	return 0;
}

int session_names_get(const struct session_places *places, unsigned int where,
		      struct session_names *ret, struct error *e)
{
	struct session_names n = {NULL, 0};
	struct names_found f = {.names = &n, .e = e};
	int r = 0;

	f.where = SESSION_RUNS;
	if (where & SESSION_RUNS)
		r = session_store_each(places, names_on_running, &f, e);
	f.where = SESSION_KEPT;
	if (r == 0 && (where & SESSION_KEPT))
		r = names_add_kept(&f, places->state);
	f.where = SESSION_RECORDED;
	if (r == 0 && (where & SESSION_RECORDED))
		r = names_add_recorded(&f, places->state);
	if (r == 0) {
		names_join(&n);
		r = names_each_label(places->state, names_take_label, &n);
	}
	if (r < 0) {
		session_names_fini(&n);
		return e->code ? r : error_sys(e, r, "looking for sessions");
	}
	*ret = n;
	return 0;
}

/* --- which one ------------------------------------------------------------------------ */

enum session_typed session_typed_now(void)
{
	return isatty(STDERR_FILENO) ? SESSION_TYPED_BEGINNING : SESSION_TYPED_WHOLE;
}

static const struct session_known *names_whole(const struct session_names *n, const char *typed)
{
	for (size_t i = 0; i < n->count; i++)
		if (str_equal(n->items[i].name, typed))
			return &n->items[i];
	for (size_t i = 0; i < n->count; i++)
		if (n->items[i].label[0] && str_equal(n->items[i].label, typed))
			return &n->items[i];
	return NULL;
}

static const char *names_begun(const struct session_known *at, const char *typed)
{
	return str_after(at->name, typed)    ? at->name
	       : str_after(at->label, typed) ? at->label
					     : NULL;
}

const struct session_known *session_names_match(const struct session_names *n, const char *typed,
						enum session_typed how, struct error *e)
{
	const struct session_known *found = names_whole(n, typed);

	if (found)
		return found;
	for (size_t i = 0; typed[0] && i < n->count; i++) {
		const struct session_known *at = &n->items[i];

		if (!names_begun(at, typed))
			continue;
		if (found) {
			(void)error_set(e, -ENOTUNIQ, "'%s' may be %s or %s", typed,
					names_begun(found, typed), names_begun(at, typed));
			error_next(e, "Say more of it.");
			return NULL;
		}
		found = at;
	}
	if (found && how == SESSION_TYPED_BEGINNING)
		return found;
	(void)error_set(e, -ENOENT, "there is no session %s", typed);
	if (found)
		error_next(e, "%s begins so: in a script and with --yes, say the whole name.",
			   names_begun(found, typed));
	return NULL;
}

int session_names_find(const struct session_places *places, const char *typed, unsigned int where,
		       enum session_typed how, char ret_name[LAYERS_NAME_MAX + 1], struct error *e)
{
	_cleanup_session_names_ struct session_names names = {NULL, 0}, all = {NULL, 0};
	int r = session_names_get(places, where, &names, e);
	const struct session_known *found = r < 0 ? NULL : names_whole(&names, typed);

	if (r < 0)
		return r;
	if (!found && where != SESSION_ANYWHERE) {
		r = session_names_get(places, SESSION_ANYWHERE, &all, e);
		if (r < 0)
			return r;
		if (names_whole(&all, typed))
			return error_set(e, -ENOENT, "there is no session %s", typed);
	}
	if (!found)
		found = session_names_match(&names, typed, how, e);
	if (!found)
		return e->code;
	(void)snprintf(ret_name, LAYERS_NAME_MAX + 1, "%s", found->name);
	return 0;
}
