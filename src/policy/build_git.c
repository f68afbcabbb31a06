/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git in the box knows of the user: the name and e-mail address, and for hosts at which
 * a secret works, its placeholder as the password.  They are in a made-up file that git reads as
 * the system's settings, so that those of the repository and of the box's own home win over it.
 *
 * No other setting of the user goes into the box: no signing, no helpers, no aliases.
 */
#include "build_parts.h"

#include "str.h"

#define BUILD_GIT_SYSTEM "/etc/gitconfig"
#define BUILD_GIT_OWN "/run/bawn/gitconfig"

enum { BUILD_GIT_MAX = 256 << 10, BUILD_GIT_PASSWORDS_MAX = 64 << 10 };

static bool build_git_is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

static void build_git_refuse(struct build *b, const char *what, const char *origin)
{
	build_note(b, PLAN_NOTE_NOT_GIVEN, what, "it has a control character", origin);
}

/* A value as git's settings write it. */
static void build_git_quote(struct buf *into, const char *text)
{
	buf_put_char(into, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_put_char(into, '\\');
		buf_put_char(into, *text);
	}
	buf_put_char(into, '"');
}

/* The value of a setting that may go into the box; NULL for none. */
static const char *build_git_value(const struct build *b, enum host_git_key key)
{
	const char *text = b->host->git.values[key].text;

	return text && *text && build_git_is_plain(text) ? text : NULL;
}

/* The value of the user's environment that may go into the box; NULL for none. */
static const char *build_git_variable(const struct build *b, enum host_git_key key)
{
	const char *name = host_git_keys[key].variable;
	const char *text = name ? host_env(b->host->environ, name) : NULL;

	return text && *text && build_git_is_plain(text) ? text : NULL;
}

static void build_git_settings(struct build *b, struct buf *into)
{
	for (unsigned int key = 0; key < HOST_GIT_KEY_COUNT; key++) {
		const struct host_git_value *v = &b->host->git.values[key];
		const char *text = build_git_value(b, key);

		if (v->text && !build_git_is_plain(v->text))
			build_git_refuse(
				b, build_printf(b, "the git setting %s", host_git_keys[key].name),
				v->origin);
		if (!text)
			continue;
		buf_putf(into, "[%s]\n\t%s = ", host_git_keys[key].section, host_git_keys[key].key);
		build_git_quote(into, text);
		buf_put_char(into, '\n');
	}
}

/* The first of several values that is set; its origin too. */
static const char *build_git_first(struct build *b, enum host_git_key own, enum host_git_key user)
{
	const char *text = build_git_variable(b, own);

	if (text) {
		b->plan.git_origin = host_git_keys[own].variable;
		return text;
	}
	text = build_git_value(b, own);
	if (!text) {
		own = user;
		text = build_git_value(b, own);
	}
	if (text)
		b->plan.git_origin = b->host->git.values[own].origin;
	return text ? text : "";
}

/* Whether the box shows the host's own settings, or may: then ours are in another file, which
 * includes them. */
static bool build_git_is_taken(const struct build *b)
{
	const struct plan_mount *over = build_mount_over(b, BUILD_GIT_SYSTEM);

	return b->plan.root.count > 0 || (over && str_equal(over->target, BUILD_GIT_SYSTEM));
}

/* --- passwords ------------------------------------------------------------------------ */

/* The name that goes with a token: hosts look at the token alone, or want one of these. */
static const char *build_git_user(const struct plan_secret *s, const char *host)
{
	if (strstr(host, "gitlab") || str_after(s->name, "GITLAB_"))
		return "oauth2";
	return strstr(host, "bitbucket") ? "x-token-auth" : "x-access-token";
}

/* Whether the text is safe between a shell's quotes. */
static bool build_git_is_word(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._~+/=:,-";

	return *text && text[strspn(text, plain)] == '\0';
}

/* Writes a helper that answers "get" for one place, and ignores "store" and "erase". */
static void build_git_helper(struct build *b, const struct plan_secret *s,
			     const struct plan_binding *at, uint64_t port, struct buf *into)
{
	bool tls = at->scheme == PLAN_SCHEME_TLS;

	buf_putf(into, "[credential \"http%s://%s", tls ? "s" : "", at->host);
	if (port != (tls ? 443 : 80))
		buf_putf(into, ":%llu", (unsigned long long)port);
	buf_put_str(into, "\"]\n\thelper = ");
	build_git_quote(into,
			build_printf(b,
				     "!f() { test \"$1\" != get || printf "
				     "'username=%s\\npassword=%s\\n'; }; f",
				     build_git_user(s, at->host), s->parts.items[0].placeholder));
	buf_put_char(into, '\n');
}

/* Hosts of an API have no repositories. */
static bool build_git_may_be_at(const struct plan_binding *at)
{
	return !str_after(at->host, "api.") && !str_after(at->host, "uploads.") &&
	       build_git_is_word(at->host + strspn(at->host, "*"));
}

const char *build_git_password(struct build *b, const struct plan_secret *s)
{
	_cleanup_buf_ struct buf text = BUF_INIT(BUILD_GIT_PASSWORDS_MAX);

	if (s->kind == PLAN_SECRET_AWS || !s->in_authorization || s->parts.count != 1 ||
	    !build_git_is_word(s->parts.items[0].placeholder))
		return NULL;
	for (size_t i = 0; i < s->bindings.count; i++)
		for (size_t n = 0; n < s->bindings.items[i].ports.count; n++) {
			const struct plan_ports *ports = &s->bindings.items[i].ports.items[n];

			if (ports->from == ports->to && build_git_may_be_at(&s->bindings.items[i]))
				build_git_helper(b, s, &s->bindings.items[i], ports->from, &text);
		}
	size_t before = b->git_passwords ? strlen(b->git_passwords) : 0;

	/* Too many places for one file: git asks for the password, as it does without bawn. */
	if (text.len == 0 || buf_error(&text) || before + text.len > BUILD_GIT_PASSWORDS_MAX)
		return NULL;
	b->git_passwords =
		build_printf(b, "%s%s", b->git_passwords ? b->git_passwords : "", buf_str(&text));
	return build_git_is_taken(b) ? BUILD_GIT_OWN : BUILD_GIT_SYSTEM;
}

/* --- all of it ------------------------------------------------------------------------ */

void build_git(struct build *b)
{
	_cleanup_buf_ struct buf text = BUF_INIT(BUILD_GIT_MAX);
	struct plan *p = &b->plan;

	p->git_name = p->git_email = p->git_origin = "";
	if (p->backend == PLAN_BACKEND_HOST)
		return;
	if (b->host->git.bad)
		build_note(b, PLAN_NOTE_NOT_GIVEN, "your settings of git",
			   build_printf(b, "not all of them can be read: %s", b->host->git.why),
			   b->host->git.bad);
	p->git_email = build_git_first(b, HOST_GIT_AUTHOR_EMAIL, HOST_GIT_EMAIL);
	p->git_name = build_git_first(b, HOST_GIT_AUTHOR_NAME, HOST_GIT_NAME);
	build_git_settings(b, &text);
	if (b->git_passwords)
		buf_put_str(&text, b->git_passwords);
	b->no_memory |= buf_error(&text) != 0;
	if (text.len == 0)
		return;
	bool taken = build_git_is_taken(b);

	b->git_config = taken ? BUILD_GIT_OWN : BUILD_GIT_SYSTEM;
	build_file(b, b->git_config,
		   build_printf(b, "# Made up by bawn.\n%s%s",
				taken ? "[include]\n\tpath = " BUILD_GIT_SYSTEM "\n" : "",
				buf_str(&text)));
}

void build_git_env(struct build *b)
{
	for (unsigned int key = 0; key < HOST_GIT_KEY_COUNT; key++) {
		const char *name = host_git_keys[key].variable;
		const char *own = name ? host_env(b->host->environ, name) : NULL;

		if (own && !build_git_is_plain(own))
			build_git_refuse(b, build_printf(b, "variable %s", name), "default");
		else if (own)
			build_env_put(b, name, own, "default");
	}
	/* Some builds of git look for the system's settings at another path. */
	if (b->git_config)
		build_env_put(b, "GIT_CONFIG_SYSTEM", b->git_config, "default");
}
