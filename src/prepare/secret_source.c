/* SPDX-License-Identifier: Apache-2.0 */
#include "secret_source.h"

#include "fd.h"
#include "outside.h"
#include "secret_store.h"
#include "secrets.h"
#include "str.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	SOURCE_ARENA = 256 << 10,
	SOURCE_MILLISECONDS = 60000, /* the user may have to touch a key, or type a word */
	SOURCE_WORDS_MAX = 64,
};

/* --- words --- */

int secret_split(const char *command, struct arena *arena, const char *const **ret_argv,
		 struct error *e)
{
	const char **argv = arena_alloc(arena, (SOURCE_WORDS_MAX + 1) * sizeof(*argv));
	char *out = arena_alloc(arena, strlen(command) + 1);
	const char *c = command;
	size_t count = 0;

	if (!argv || !out)
		return error_set(e, -ENOMEM, "no memory for a command");
	while (*(c += strspn(c, " \t"))) {
		char quote = 0;

		if (count == SOURCE_WORDS_MAX)
			return error_set(e, -EINVAL, "the command has more than %d words",
					 SOURCE_WORDS_MAX);
		argv[count++] = out;
		for (; *c && (quote || (*c != ' ' && *c != '\t')); c++) {
			if (quote ? *c == quote : *c == '\'' || *c == '"')
				quote = quote ? 0 : *c;
			else if (*c == '\\' && quote != '\'' && c[1])
				*out++ = *++c;
			else
				*out++ = *c;
		}
		if (quote)
			return error_set(e, -EINVAL, "the command has a quote that is not closed");
		*out++ = '\0';
		/* We have room for the command and one NUL: each blank between words gives room for
		 * one more. */
		if (*c)
			c++;
	}
	if (count == 0 || argv[0][0] == '\0')
		return error_set(e, -EINVAL, "the command has no words");
	*ret_argv = argv;
	return 0;
}

/* --- programs --- */

/* Whether only root or the user can have changed it.  Root is the owner of "/", also when that is
 * another number. */
static bool source_is_safe(const struct host *h, const struct stat *st)
{
	struct stat top;
	uid_t root = stat("/", &top) == 0 ? top.st_uid : 0;

	return (st->st_uid == 0 || st->st_uid == root || st->st_uid == h->uid) &&
	       (st->st_mode & 022) == 0;
}

static bool source_program_is_safe(const struct host *h, const char *path, struct arena *arena)
{
	char *folder = arena_str(arena, path);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	_cleanup_free_ char *real = realpath(path, NULL);
	struct stat st;

	if (!slash || !real || (h->workspace.path && str_path_beneath(real, h->workspace.path)))
		return false;
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || access(path, X_OK) < 0 ||
	    !source_is_safe(h, &st))
		return false;
	slash[slash == folder ? 1 : 0] = '\0';
	/* In a folder that others can write (/tmp) they cannot change our files, but can add new
	 * names. */
	return stat(folder, &st) == 0 && source_is_safe(h, &st);
}

const char *secret_program(const struct host *h, const char *name, struct arena *arena,
			   struct error *e)
{
	const char *path = host_env(h->environ, "PATH");
	bool seen = false;

	if (name[0] == '/') {
		if (source_program_is_safe(h, name, arena))
			return name;
		seen = access(name, X_OK) == 0;
	}
	for (path = path && !strchr(name, '/') ? path : ""; *path;) {
		size_t len = strcspn(path, ":");
		const char *found = path[0] == '/'
					    ? arena_printf(arena, "%.*s/%s", (int)len, path, name)
					    : NULL;

		if (found && source_program_is_safe(h, found, arena))
			return found;
		seen = seen || (found && access(found, X_OK) == 0);
		path += len;
		path += *path == ':';
	}
	if (seen)
		(void)error_set(e, -EPERM,
				"%s can be written by others, or lies in the workspace: it is not "
				"run",
				name);
	else
		(void)error_set(e, -ENOENT, "there is no program %s on your PATH", name);
	return NULL;
}

/* --- sources --- */

static int source_command(const struct host *h, const char *command, struct buf *into,
			  struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(SOURCE_ARENA);
	const char *const *argv = NULL;
	int status = 0;
	int r = secret_split(command, &arena, &argv, e);

	if (r < 0 || !argv)
		return r;
	const char *program = secret_program(h, argv[0], &arena, e);

	if (!program)
		return e->code;
	((const char **)(uintptr_t)argv)[0] = program;
	r = outside_run(argv, SOURCE_MILLISECONDS, into, &status, e);
	if (r == 0 && status != 0)
		r = error_set(e, -EIO, "the command %.64s ended with %d", argv[0], status);
	return r;
}

static int source_file(const struct host *h, const char *written, struct buf *into, struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(SOURCE_ARENA);
	const char *below = str_after(written, "~/");
	const char *path = below ? arena_printf(&arena, "%s/%s", h->home, below) : written;
	_cleanup_fd_ int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	struct stat st;

	if (fd < 0)
		return error_sys(e, path ? -errno : -ENOMEM, "cannot open %s", written);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return error_set(e, -EINVAL, "%s is not a regular file", written);
	int r = fd_read_all(fd, into);

	if (r == -EMSGSIZE)
		return error_set(e, r, "%s is longer than a secret can be", written);
	return r < 0 ? error_sys(e, r, "cannot read %s", written) : 0;
}

/* For kind aws each part has its own variable. */
static int source_env(const struct host *h, const struct policy_secret *s, struct buf *into,
		      struct error *e)
{
	bool aws = s->kind == PLAN_SECRET_AWS;
	size_t count = aws ? s->variables.count : 1;

	for (size_t i = 0; i < count; i++) {
		const char *name = aws ? s->variables.items[i].text : s->from_text;
		const char *value = host_env(h->environ, name);

		if ((!value || !*value) && i < PLAN_SECRET_AWS_TOKEN)
			return error_set(e, -ENOENT, "your variable %s is not set", name);
		if (!value || !*value)
			break;
		if (i > 0)
			buf_put_char(into, '\n');
		buf_put_str(into, value);
	}
	return 0;
}

/* --- the value --- */

static void source_cut_newline(struct buf *b)
{
	if (b->len > 0 && b->ptr[b->len - 1] == '\n')
		b->len--;
	if (b->len > 0 && b->ptr[b->len - 1] == '\r')
		b->len--;
	if (b->ptr)
		b->ptr[b->len] = '\0';
}

/*
 * Turns "export NAME=VALUE" lines, as `aws configure export-credentials --format env` prints them,
 * into the lines of the parts; in place, because each is shorter than before.
 */
static void source_aws_lines(const struct policy_secret *s, struct buf *b)
{
	static char lines[PLAN_PLACEHOLDER_MAX + 1];
	size_t len = 0;

	if (!b->ptr || !strchr(b->ptr, '=') || s->kind != PLAN_SECRET_AWS)
		return;
	for (size_t i = 0; i < s->variables.count; i++) {
		const char *name = s->variables.items[i].text;
		size_t name_len = strlen(name);

		for (const char *at = b->ptr; (at = strstr(at, name)); at += name_len) {
			size_t n = at[name_len] == '=' ? strcspn(at + name_len + 1, "\r\n") : 0;

			if (n == 0 || len + n + 1 >= sizeof(lines))
				continue;
			if (len > 0)
				lines[len++] = '\n';
			memcpy(lines + len, at + name_len + 1, n);
			len += n;
			break;
		}
	}
	if (len > 0 && len <= b->len) {
		memcpy(b->ptr, lines, len);
		explicit_bzero(b->ptr + len, b->len - len);
		b->len = len;
	}
	explicit_bzero(lines, sizeof(lines));
}

static int source_fetch(const struct host *h, const struct policy_secret *s, struct buf *into,
			struct error *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT(SOURCE_ARENA);
	int r = 0;

	switch (s->from) {
	case POLICY_FROM_ENV:
		return source_env(h, s, into, e);
	case POLICY_FROM_FILE:
		return source_file(h, s->from_text, into, e);
	case POLICY_FROM_COMMAND:
		return source_command(h, s->from_text, into, e);
	case POLICY_FROM_SETTINGS:
		return error_set(e, -ENOENT, "it is in %s", s->from_text);
	default:
		r = secret_value_get(h, s->from, s->name, into, &arena, e);
		if (r < 0)
			error_next(e, "bawn secret add %s puts it there.", s->name);
		return r;
	}
}

int secret_value_read(const struct host *h, const struct policy_secret *s, struct buf *into,
		      uint64_t *ret_expires, struct error *e)
{
	uint64_t now = (uint64_t)time(NULL);

	*ret_expires = s->expires;
	if (s->expires != 0 && s->expires <= now) {
		(void)error_set(e, -EKEYEXPIRED, "it has expired");
		error_next(e, "bawn secret add %s takes a new one.", s->name);
		return -EKEYEXPIRED;
	}
	int r = source_fetch(h, s, into, e);

	if (r == 0 && buf_error(into))
		r = error_set(e, buf_error(into), "it is too long");
	if (r < 0)
		return r;
	source_cut_newline(into);
	source_aws_lines(s, into);
	const char *wrong = secrets_check_value(s->kind, buf_span(into));

	if (wrong)
		return error_set(e, -EINVAL, "%s", wrong);
	if (s->refresh != 0 && (*ret_expires == 0 || now + s->refresh < *ret_expires))
		*ret_expires = now + s->refresh;
	return 0;
}

int secret_source_read(void *context, const struct plan_secret *secret, struct buf *into,
		       uint64_t *ret_expires, struct error *e)
{
	const struct secret_sources *sources = context;
	const struct policy_secret *s = NULL;

	if (!secret) {
		*ret_expires = 0;
		buf_put_str(into, sources->proxy_login ? sources->proxy_login : "");
		return sources->proxy_login ? 0 : error_set(e, -ENOENT, "nothing says what it is");
	}
	for (size_t i = 0; i < sources->secrets.count; i++)
		if (str_equal(sources->secrets.items[i].name, secret->name))
			s = &sources->secrets.items[i];
	if (!s)
		return error_set(e, -ENOENT, "nothing says where it is");
	int r = 0;

	if (s->from == POLICY_FROM_SETTINGS) {
		*ret_expires = 0;
		r = -ENOENT;
		for (size_t i = 0; r < 0 && i < sources->mirrors.count; i++)
			if (str_equal(sources->mirrors.items[i].name, s->name)) {
				buf_put_str(into, sources->mirrors.items[i].value);
				r = 0;
			}
		if (r < 0)
			return error_set(e, r, "it was not read");
	} else {
		r = secret_value_read(&sources->host, s, into, ret_expires, e);
	}
	for (size_t i = 0; r == 0 && i < secret->parts.count; i++)
		if (span_equal(secrets_part(secret, buf_span(into), i),
			       span_of_str(secret->parts.items[i].placeholder)))
			r = error_set(e, -EINVAL, "its value is its own placeholder");
	return r;
}
