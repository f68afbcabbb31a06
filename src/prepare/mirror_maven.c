/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maven's settings are XML, and we look only for this: a <mirror> of central or of all, and the
 * <server> of the same id.  This is a file of its own because nothing else here is XML.
 */
#include "mirror_parts.h"

#include "credential.h"
#include "str.h"

#define MIRROR_MAVEN "~/.m2/settings.xml"

/* What is between <name> and </name>, from *at on; *at moves behind it.  NULL: no more. */
static const char *maven_element(struct mirror *m, const char **at, const char *name)
{
	const char *open = mirror_printf(m, "<%s>", name), *close = mirror_printf(m, "</%s>", name);
	const char *begin = strstr(*at, open);
	const char *end = begin ? strstr(begin, close) : NULL;

	if (!end)
		return NULL;
	begin += strlen(open);
	*at = end + strlen(close);
	while (begin < end && strchr(" \t\r\n", *begin))
		begin++;
	while (end > begin && strchr(" \t\r\n", end[-1]))
		end--;
	const char *text = arena_strn(m->arena, begin, (size_t)(end - begin));

	m->no_memory = m->no_memory || !text;
	return text;
}

/* The first child of that name in an element; "" for none. */
static const char *maven_child(struct mirror *m, const char *element, const char *name)
{
	const char *text = maven_element(m, &element, name);

	return text ? text : "";
}

/* Reads the file without its comments. */
static const char *maven_read(struct mirror *m)
{
	const char *text = mirror_read(m, MIRROR_MAVEN);
	char *kept = text ? arena_str(m->arena, text) : NULL;

	for (char *at = kept ? strstr(kept, "<!--") : NULL; at; at = strstr(at, "<!--")) {
		char *end = strstr(at, "-->");

		if (!end) {
			*at = '\0';
			break;
		}
		memset(at, ' ', (size_t)(end + 3 - at));
	}
	return kept;
}

/* Whether the text has nothing that means something in XML or in a placeholder's text. */
static bool maven_is_plain(const char *text)
{
	return *text && !strpbrk(text, "<>&\"'{}\\");
}

static bool maven_is_of_all(const char *of)
{
	while (*of) {
		size_t len = strcspn(of, ", ");

		if ((len == 1 && *of == '*') || (len == 7 && strncmp(of, "central", 7) == 0) ||
		    (len == 10 && strncmp(of, "external:*", 10) == 0))
			return true;
		of += len;
		of += strspn(of, ", ");
	}
	return false;
}

/* Replaces ${env.NAME} by the user's environment. */
static const char *maven_expand(struct mirror *m, const char *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(MIRROR_FILE_MAX);

	for (const char *name; *text;) {
		name = str_after(text, "${env.");
		if (name)
			buf_put_str(&out, "${");
		else
			buf_put_char(&out, *text);
		text = name ? name : text + 1;
	}
	return buf_error(&out) ? "" : mirror_expand(m, buf_str(&out));
}

/* Why a login cannot go inside; NULL: it can. */
static const char *maven_refuses(const char *user, const char *password)
{
	const char *open = strchr(password, '{');

	if (open && strchr(open, '}'))
		return "its password is encrypted by Maven";
	if (!maven_is_plain(user))
		return "its user has a letter that XML or a placeholder means otherwise";
	if (credential_in_value(user))
		return "its user looks like a credential";
	return *password ? NULL : "it has no password";
}

/* The login for this id: returns its user, and *ret_password; NULL: none. */
static const char *maven_login(struct mirror *m, const struct mirror_url *url, const char *text,
			       const char *id, const char **ret_password)
{
	for (const char *server; (server = maven_element(m, &text, "server"));) {
		const char *user = maven_expand(m, maven_child(m, server, "username"));

		*ret_password = maven_expand(m, maven_child(m, server, "password"));
		if (!str_equal(maven_child(m, server, "id"), id) || (!*user && !**ret_password))
			continue;
		const char *why = maven_refuses(user, *ret_password);

		if (!why)
			return user;
		mirror_note_login(m, url, why, MIRROR_MAVEN);
		return NULL;
	}
	if (url->user)
		mirror_note_login(m, url, mirror_in_address, MIRROR_MAVEN);
	return NULL;
}

static void maven_carry(struct mirror *m, const char *text, const char *mirror, const char *id)
{
	const char *of = maven_child(m, mirror, "mirrorOf"), *password = NULL;
	struct mirror_url url;

	if (!mirror_url_parse(m, maven_child(m, mirror, "url"), &url) || !maven_is_plain(of) ||
	    !maven_is_plain(id)) {
		mirror_note(m, "the mirror of maven", "its address cannot be carried",
			    MIRROR_MAVEN);
		return;
	}
	const char *user = maven_login(m, &url, text, id, &password);
	const struct mirror_folders folders = mirror_folders_of(m, &url);
	struct policy_secret *s =
		user ? mirror_secret(m, &url, &folders, password, true, MIRROR_MAVEN) : NULL;
	const char *server = s ? mirror_printf(m,
					       "<servers><server><id>%s</id><username>%s</username>"
					       "<password>{}</password></server></servers>",
					       id, user)
			       : "";
	const char *made = mirror_printf(m,
					 "<settings>%s<mirrors><mirror><id>%s</id><url>%s</url>"
					 "<mirrorOf>%s</mirrorOf></mirror></mirrors></settings>",
					 server, id, url.clean, of);

	mirror_allow(m, &url, MIRROR_MAVEN, true);
	if (s)
		mirror_secret_file(m, s, MIRROR_MAVEN, made);
	else
		mirror_file(m, mirror_printf(m, "%s/.m2/settings.xml", m->host->home), made);
}

void mirror_maven(struct mirror *m)
{
	const char *text = maven_read(m);
	const char *at = text;

	for (const char *mirror; at && (mirror = maven_element(m, &at, "mirror"));)
		if (maven_is_of_all(maven_child(m, mirror, "mirrorOf"))) {
			maven_carry(m, text, mirror, maven_child(m, mirror, "id"));
			return;
		}
}
