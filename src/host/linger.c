/* SPDX-License-Identifier: Apache-2.0 */
#include "linger.h"

#include "buf.h"
#include "dir.h"
#include "fd.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

enum { LINGER_FILES_MAX = 64, LINGER_BYTES_MAX = 256 << 10 };

/* --- logind's files ------------------------------------------------------------------- */

static struct span linger_trim(struct span s)
{
	while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
		s = span_skip(s, 1);
	while (s.len > 0 && strchr(" \t\r", s.ptr[s.len - 1]))
		s.len--;
	return s;
}

/* What follows KEY= in a line. */
static bool linger_value(struct span line, const char *key, struct span *ret)
{
	size_t len = strlen(key);

	if (line.len < len || memcmp(line.ptr, key, len) != 0)
		return false;
	line = linger_trim(span_skip(line, len));
	if (line.len == 0 || line.ptr[0] != '=')
		return false;
	*ret = linger_trim(span_skip(line, 1));
	return true;
}

static bool linger_is_yes(struct span value)
{
	static const char *const words[] = {"1", "yes", "y", "true", "t", "on"};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(words); i++)
		if (value.len == strlen(words[i]) &&
		    strncasecmp((const char *)value.ptr, words[i], value.len) == 0)
			return true;
	return false;
}

/* Names with blanks between them. */
static bool linger_has_user(struct span value, const char *user)
{
	size_t len = strlen(user);

	while (value.len > 0) {
		size_t n = 0;

		while (n < value.len && value.ptr[n] != ' ' && value.ptr[n] != '\t')
			n++;
		if (n == len && memcmp(value.ptr, user, len) == 0)
			return true;
		value = linger_trim(span_skip(value, n));
	}
	return false;
}

static void linger_read_line(struct span line, const char *user, bool shipped,
			     struct linger_conf *conf)
{
	struct span value;
	bool comment = line.len > 0 && line.ptr[0] == '#';

	if (comment && !(shipped && conf->kills < 0))
		return;
	line = comment ? linger_trim(span_skip(line, 1)) : line;
	if (linger_value(line, "KillUserProcesses", &value))
		conf->kills = linger_is_yes(value);
	if (comment)
		return;
	if (linger_value(line, "KillOnlyUsers", &value)) {
		conf->only = value.len > 0;
		conf->in_only = linger_has_user(value, user);
	}
	if (linger_value(line, "KillExcludeUsers", &value))
		conf->excluded = linger_has_user(value, user);
}

void linger_read_conf(struct span text, const char *user, bool shipped, struct linger_conf *conf)
{
	while (text.len > 0) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		size_t n = end ? (size_t)(end - text.ptr) : text.len;

		linger_read_line(linger_trim((struct span){text.ptr, n}), user, shipped, conf);
		text = span_skip(text, end ? n + 1 : n);
	}
}

/* --- what becomes of it --------------------------------------------------------------- */

enum linger_end linger_judge(const struct linger_facts *f)
{
	const struct linger_conf *c = &f->conf;
	const char *manager = strstr(f->cgroup, "/user@");

	if (!f->systemd || f->lingers)
		return LINGER_STAYS;
	if (manager && strstr(manager, ".service"))
		return LINGER_ENDS_WITH_MANAGER;
	if (!strstr(f->cgroup, "/session-") || c->excluded || (c->only && !c->in_only))
		return LINGER_STAYS;
	/* systemd's own default is yes. */
	return c->kills == 0 ? LINGER_STAYS : LINGER_ENDS_WITH_LOGIN;
}

const char *linger_words(enum linger_end end)
{
	switch (end) {
	case LINGER_ENDS_WITH_LOGIN:
		return "logging out ends your sessions: systemd-logind kills what a login leaves";
	case LINGER_ENDS_WITH_MANAGER:
		return "your last logout ends your sessions: they run beneath your systemd, which "
		       "ends then";
	case LINGER_STAYS:
		break;
	}
	return NULL;
}

/* --- this machine --------------------------------------------------------------------- */

/* From the weakest to the strongest; a file in a stronger place hides one of its name. */
static const char *const linger_places[] = {"usr/lib/systemd", "usr/local/lib/systemd",
					    "run/systemd", "etc/systemd"};

struct linger_files {
	char names[LINGER_FILES_MAX][NAME_MAX + 1];
	size_t count;
};

static int linger_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int linger_read(const char *root, const char *place, const char *name, struct buf *into)
{
	char path[PATH_MAX];

	buf_clear(into);
	(void)snprintf(path, sizeof(path), "%s/%s/%s", root, place, name);
	return fd_read_file_at(AT_FDCWD, path, into);
}

static void linger_list(const char *root, struct linger_files *files)
{
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(linger_places); i++) {
		char path[PATH_MAX];

		(void)snprintf(path, sizeof(path), "%s/%s/logind.conf.d", root, linger_places[i]);
		_cleanup_dir_ DIR *dir = dir_open(AT_FDCWD, path, NULL);

		for (const struct dirent *d; (d = dir_next(dir, NULL));) {
			const char *dot = strrchr(d->d_name, '.');
			bool there = !dot || !str_equal(dot, ".conf");

			for (size_t n = 0; n < files->count; n++)
				there = there || str_equal(files->names[n], d->d_name);
			if (!there && files->count < LINGER_FILES_MAX)
				(void)snprintf(files->names[files->count++], NAME_MAX + 1, "%s",
					       d->d_name);
		}
	}
	if (files->count > 1)
		qsort(files->names, files->count, sizeof(files->names[0]), linger_compare);
}

static void linger_gather(const char *root, const char *user, struct linger_conf *conf)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LINGER_BYTES_MAX);
	_cleanup_free_ struct linger_files *files = calloc(1, sizeof(*files));
	int r = -ENOENT;

	for (size_t i = BAWN_ARRAY_SIZE(linger_places); r < 0 && i > 0; i--)
		r = linger_read(root, linger_places[i - 1], "logind.conf", &text);
	if (r == 0)
		linger_read_conf(buf_span(&text), user, true, conf);
	if (files)
		linger_list(root, files);
	for (size_t n = 0; files && n < files->count; n++) {
		char name[NAME_MAX + sizeof("logind.conf.d/")];

		(void)snprintf(name, sizeof(name), "logind.conf.d/%s", files->names[n]);
		r = -ENOENT;
		for (size_t i = BAWN_ARRAY_SIZE(linger_places); r < 0 && i > 0; i--)
			r = linger_read(root, linger_places[i - 1], name, &text);
		if (r == 0)
			linger_read_conf(buf_span(&text), user, false, conf);
	}
}

enum linger_end linger_look(const char *root, const char *user, bool is_root)
{
	_cleanup_buf_ struct buf cgroup = BUF_INIT(LINGER_BYTES_MAX);
	struct linger_facts f = {.conf = LINGER_CONF_INIT(is_root)};
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/run/systemd/system", root);
	f.systemd = access(path, F_OK) == 0;
	if (!f.systemd)
		return LINGER_STAYS;
	(void)snprintf(path, sizeof(path), "%s/var/lib/systemd/linger/%s", root, user);
	f.lingers = access(path, F_OK) == 0;
	(void)linger_read(root, "proc/self", "cgroup", &cgroup);
	f.cgroup = buf_str(&cgroup);
	linger_gather(root, user, &f.conf);
	return linger_judge(&f);
}
