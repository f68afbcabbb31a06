/* SPDX-License-Identifier: Apache-2.0 */
#include "secret_store.h"

#include "fd.h"
#include "home_store.h"
#include "json.h"
#include "name.h"
#include "open.h"
#include "outside.h"
#include "secret.h"
#include "secret_source.h"
#include "str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STORE_SECTIONS_MAX = 64 << 10,
	STORE_KEYRING_MILLISECONDS = 60000, /* it may ask to be unlocked */
};

#define STORE_SECTIONS "secrets.yaml"
#define STORE_VALUES "secrets"
#define STORE_KEY "placeholder.key"

const char *secret_store_path(const struct host *h, struct arena *arena)
{
	return arena_printf(arena, "%s/" STORE_SECTIONS, h->state_dir);
}

/* --- files --- */

/* Opens the state directory, or the folder of values beneath it, for reading, so that it can be
 * synced: the descriptor, or -errno.  For -ENOENT there is no sentence in e. */
static int store_folder(const struct host *h, bool values, bool create, struct arena *arena,
			struct error *e)
{
	_cleanup_fd_ int state = home_store_state(h, create, arena, e);

	if (state < 0)
		return state;
	if (values && create && mkdirat(state, STORE_VALUES, 0700) < 0 && errno != EEXIST)
		return error_sys(e, -errno, "cannot make %s/" STORE_VALUES, h->state_dir);
	int fd = open_beneath(state, values ? STORE_VALUES : ".", O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 && fd != -ENOENT ? error_sys(e, fd, "cannot open %s", h->state_dir) : fd;
}

/* Writes a file, which is then complete or as it was before. */
static int store_write(int dir, const char *name, struct span bytes, struct error *e)
{
	char beside[96];

	(void)snprintf(beside, sizeof(beside), ".%s.new", name);
	int r = fd_replace_at(dir, name, beside, bytes, 0600);

	if (r == 0 && fsync(dir) < 0)
		r = -errno;
	return r < 0 ? error_sys(e, r, "cannot write %s", name) : 0;
}

/* Reads a file that must be the user's own, and that nobody else may read. */
static int store_read(const struct host *h, int dir, const char *name, struct buf *into,
		      struct error *e)
{
	_cleanup_fd_ int fd = open_beneath(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;

	if (fd == -ENOENT)
		return error_set(e, fd, "there is no %s among the stored secrets", name);
	if (fd < 0)
		return error_sys(e, fd, "cannot open %s", name);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != h->uid ||
	    (st.st_mode & 077) != 0)
		return error_set(e, -EPERM, "%s/" STORE_VALUES "/%s is not yours alone to read",
				 h->state_dir, name);
	int r = fd_read_all(fd, into);

	return r < 0 ? error_sys(e, r, "cannot read %s", name) : 0;
}

/* --- the key --- */

int secret_store_key(const struct host *h, bool create, struct arena *arena, struct span *ret_key,
		     struct error *e)
{
	_cleanup_fd_ int dir = store_folder(h, false, create, arena, e);
	char *bytes = arena_alloc(arena, SECRET_KEY_SIZE + 1);
	struct buf b = {bytes, 0, SECRET_KEY_SIZE + 1, SECRET_KEY_SIZE, 0};

	*ret_key = (struct span){NULL, 0};
	if (dir == -ENOENT && !create)
		return 0;
	if (dir < 0)
		return dir;
	if (!bytes)
		return error_set(e, -ENOMEM, "no memory for a key");
	if (flock(dir, LOCK_EX) < 0)
		return error_sys(e, -errno, "cannot lock %s", h->state_dir);
	struct error why = ERROR_INIT;
	int r = store_read(h, dir, STORE_KEY, &b, &why);

	if (r == -ENOENT && !create)
		return 0;
	if (r < 0 && r != -ENOENT)
		*e = why;
	if (r == -ENOENT || (r == 0 && b.len != SECRET_KEY_SIZE)) {
		if (getrandom(bytes, SECRET_KEY_SIZE, 0) != SECRET_KEY_SIZE)
			return error_sys(e, -errno, "cannot make a key");
		b.len = SECRET_KEY_SIZE;
		r = store_write(dir, STORE_KEY, buf_span(&b), e);
	}
	if (r == 0)
		*ret_key = (struct span){(const uint8_t *)bytes, SECRET_KEY_SIZE};
	return r;
}

/* --- sections --- */

static void store_json_list(struct json *j, const char *key, const struct plan_string *items,
			    size_t count)
{
	if (count == 0)
		return;
	json_key(j, key);
	json_open(j, '[');
	for (size_t i = 0; i < count; i++)
		json_str(j, items[i].text);
	json_close(j, ']');
}

/* All hosts of a section have the same scheme, methods and paths: the reader made them so. */
static void store_json_places(struct json *j, const struct policy_secret *s)
{
	const struct plan_binding *first = s->bindings.items;

	json_key(j, "hosts");
	json_open(j, '[');
	for (size_t i = 0; i < s->bindings.count; i++) {
		const struct plan_binding *b = &s->bindings.items[i];
		char text[NAME_TEXT_MAX + 16];

		(void)snprintf(text, sizeof(text), "%s:%llu", b->host,
			       (unsigned long long)b->ports.items[0].from);
		json_str(j, text);
	}
	json_close(j, ']');
	if (first->scheme == PLAN_SCHEME_HTTP)
		json_key_str(j, "scheme", plan_scheme_words[first->scheme]);
	store_json_list(j, "methods", first->methods.items, first->methods.count);
	store_json_list(j, "paths", first->paths.items, first->paths.count);
}

static void store_json_in(struct json *j, const struct policy_secret *s)
{
	const bool in[] = {s->in_authorization, s->in_query, s->in_body, s->in_websocket};

	json_key(j, "in");
	json_open(j, '[');
	for (size_t i = 0; i < SECRET_IN_COUNT; i++)
		if (in[i])
			json_str(j, secret_in_words[i]);
	json_close(j, ']');
	json_key(j, "headers");
	json_open(j, '[');
	for (size_t i = 0; i < s->headers.count; i++)
		json_str(j, s->headers.items[i].text);
	json_close(j, ']');
	store_json_list(j, "parameters", s->parameters.items, s->parameters.count);
}

static void store_json_section(struct json *j, const struct policy_secret *s)
{
	json_key(j, s->name);
	json_open(j, '{');
	json_key_str(j, "kind", plan_secret_words[s->kind]);
	store_json_places(j, s);
	store_json_in(j, s);
	json_key(j, "env");
	json_open(j, '[');
	for (size_t i = 0; i < s->variables.count; i++)
		json_str(j, s->variables.items[i].text);
	json_close(j, ']');
	if (s->files.count > 0) {
		json_key(j, "files");
		json_open(j, '{');
		for (size_t i = 0; i < s->files.count; i++)
			json_key_str(j, s->files.items[i].path, s->files.items[i].text);
		json_close(j, '}');
	}
	json_key(j, "from");
	if (s->from < POLICY_FROM_ENV) {
		json_str(j, policy_from_words[s->from]);
	} else {
		json_open(j, '{');
		json_key_str(j, policy_from_words[s->from], s->from_text);
		json_close(j, '}');
	}
	if (s->expires)
		json_key_u64(j, "expires", s->expires);
	if (s->refresh) {
		char text[32];

		(void)snprintf(text, sizeof(text), "%llus", (unsigned long long)s->refresh);
		json_key_str(j, "refresh", text);
	}
	store_json_list(j, "shape", s->shapes.items, s->shapes.count);
	json_close(j, '}');
}

/* Reads the sections from an open folder; without a file there are none. */
static int store_sections(const struct host *h, int dir, struct arena *arena,
			  struct policy *ret_policy, struct error *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT(STORE_SECTIONS_MAX);
	struct policy_source source = {.layer = POLICY_STORE};
	int r = store_read(h, dir, STORE_SECTIONS, &text, e);

	if (r == -ENOENT)
		r = 0;
	if (r < 0)
		return r;
	const char *kept = arena_strn(arena, buf_str(&text), text.len);

	source.name = secret_store_path(h, arena);
	if (!kept || !source.name)
		return error_set(e, -ENOMEM, "no memory for the secrets");
	source.text = (struct span){(const uint8_t *)kept, text.len};
	return policy_merge(&source, 1, NULL, 0, arena, ret_policy, e);
}

int secret_store_list(const struct host *h, struct arena *arena, struct policy *ret_policy,
		      struct error *e)
{
	_cleanup_fd_ int dir = store_folder(h, false, false, arena, e);

	memset(ret_policy, 0, sizeof(*ret_policy));
	if (dir == -ENOENT)
		return 0;
	return dir < 0 ? dir : store_sections(h, dir, arena, ret_policy, e);
}

/* Writes the present sections with `put`, which replaces one of the same name, or without
 * `gone`. */
static int store_change(const struct host *h, const struct policy_secret *put, const char *gone,
			struct arena *arena, struct error *e)
{
	_cleanup_fd_ int dir = store_folder(h, false, put != NULL, arena, e);
	_cleanup_buf_ struct buf out = BUF_INIT(STORE_SECTIONS_MAX);
	struct json j = JSON_INIT(&out, true);
	struct policy policy;
	bool found = false;

	if (dir < 0)
		return dir == -ENOENT ? -ENOENT : dir;
	if (flock(dir, LOCK_EX) < 0)
		return error_sys(e, -errno, "cannot lock %s", h->state_dir);
	memset(&policy, 0, sizeof(policy));
	int r = store_sections(h, dir, arena, &policy, e);

	if (r < 0)
		return r;
	buf_put_str(&out, "# Written by bawn secret.  There are no values here.\n");
	json_open(&j, '{');
	json_key(&j, "secrets");
	json_open(&j, '{');
	for (size_t i = 0; i < policy.secrets.count; i++) {
		const struct policy_secret *s = &policy.secrets.items[i];
		bool same = str_equal(s->name, put ? put->name : gone);

		found = found || same;
		if (!same || put)
			store_json_section(&j, same ? put : s);
	}
	if (put && !found)
		store_json_section(&j, put);
	json_close(&j, '}');
	json_close(&j, '}');
	buf_put_char(&out, '\n');
	if (!put && !found)
		return -ENOENT;
	if (buf_error(&out))
		return error_set(e, buf_error(&out), "there are too many secrets");
	/* If we could not read it again, all secrets would be lost. */
	const struct policy_source again = {POLICY_STORE, STORE_SECTIONS, buf_span(&out)};

	r = policy_merge(&again, 1, NULL, 0, arena, &policy, e);
	return r < 0 ? r : store_write(dir, STORE_SECTIONS, buf_span(&out), e);
}

int secret_store_put(const struct host *h, const struct policy_secret *secret, struct arena *arena,
		     struct error *e)
{
	return store_change(h, secret, NULL, arena, e);
}

int secret_store_remove(const struct host *h, const char *name, struct arena *arena,
			struct error *e)
{
	return store_change(h, NULL, name, arena, e);
}

/* --- the keyring --- */

static int store_keyring(const struct host *h, const char *const *words, struct span input,
			 struct buf *into, struct arena *arena, struct error *e)
{
	const char *argv[16] = {secret_program(h, "secret-tool", arena, e)};
	int status = 0;

	if (!argv[0])
		return e->code;
	for (size_t i = 0; words[i] && i + 2 < BAWN_ARRAY_SIZE(argv); i++)
		argv[i + 1] = words[i];
	int r = outside_run_with(argv, STORE_KEYRING_MILLISECONDS, input, into, &status, e);

	return r == 0 && status != 0 ? -ENOENT : r;
}

bool secret_keyring_works(const struct host *h, struct arena *arena)
{
	static const char *const words[] = {"lookup", "service", "bawn", "secret", "", NULL};
	const char *bus = host_env(h->environ, "DBUS_SESSION_BUS_ADDRESS");
	_cleanup_buf_ struct buf out = BUF_INIT(4096);
	const char *argv[8] = {NULL};
	struct error e = ERROR_INIT;
	int status = 0;

	if (!bus || !*bus)
		return false;
	argv[0] = secret_program(h, "secret-tool", arena, &e);
	for (size_t i = 0; words[i]; i++)
		argv[i + 1] = words[i];
	/* When it finds nothing, it exits with 1 and prints nothing; without a keyring it
	 * complains. */
	return argv[0] && outside_quiet(argv, STORE_KEYRING_MILLISECONDS, &out, &status, &e) == 0 &&
	       status == 1 && out.len == 0;
}

/* --- values --- */

int secret_value_put(const struct host *h, unsigned int from, const char *name, struct span value,
		     struct arena *arena, struct error *e)
{
	if (from == POLICY_FROM_KEYRING) {
		const char *label = arena_printf(arena, "bawn: %s", name);
		const char *const words[] = {"store",   "--label", label ? label : "bawn",
					     "service", "bawn",    "secret",
					     name,      NULL};
		_cleanup_buf_ struct buf out = BUF_INIT(4096);
		int r = store_keyring(h, words, value, &out, arena, e);

		return r == -ENOENT && e->code == 0
			       ? error_set(e, -EIO, "the keyring did not take %s", name)
			       : r;
	}
	_cleanup_fd_ int dir = store_folder(h, true, true, arena, e);

	if (dir < 0)
		return dir;
	if (flock(dir, LOCK_EX) < 0)
		return error_sys(e, -errno, "cannot lock %s", h->state_dir);
	return store_write(dir, name, value, e);
}

int secret_value_get(const struct host *h, unsigned int from, const char *name, struct buf *into,
		     struct arena *arena, struct error *e)
{
	if (from == POLICY_FROM_KEYRING) {
		const char *const words[] = {"lookup", "service", "bawn", "secret", name, NULL};
		int r = store_keyring(h, words, (struct span){NULL, 0}, into, arena, e);

		return r == -ENOENT && e->code == 0
			       ? error_set(e, r, "the keyring has no %s, or is locked", name)
			       : r;
	}
	_cleanup_fd_ int dir = store_folder(h, true, false, arena, e);

	if (dir < 0)
		return dir == -ENOENT ? error_set(e, dir, "there are no stored secrets") : dir;
	return store_read(h, dir, name, into, e);
}

/* Overwrites the bytes of a file first; if the file system kept a copy, that stays. */
int secret_value_remove(const struct host *h, unsigned int from, const char *name,
			struct arena *arena, struct error *e)
{
	static const char zeros[1024];

	if (from == POLICY_FROM_KEYRING) {
		const char *const words[] = {"clear", "service", "bawn", "secret", name, NULL};
		_cleanup_buf_ struct buf out = BUF_INIT(4096);

		return store_keyring(h, words, (struct span){NULL, 0}, &out, arena, e);
	}
	_cleanup_fd_ int dir = store_folder(h, true, false, arena, e);

	if (dir < 0)
		return dir;
	_cleanup_fd_ int fd = open_beneath(dir, name, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1)
		for (off_t left = st.st_size; left > 0; left -= (off_t)sizeof(zeros))
			(void)fd_write_all(fd, zeros,
					   left < (off_t)sizeof(zeros) ? (size_t)left
								       : sizeof(zeros));
	if (fd >= 0)
		(void)fsync(fd);
	if (unlinkat(dir, name, 0) < 0)
		return errno == ENOENT ? -ENOENT : error_sys(e, -errno, "cannot remove %s", name);
	return fsync(dir) < 0 ? error_sys(e, -errno, "cannot remove %s", name) : 0;
}
