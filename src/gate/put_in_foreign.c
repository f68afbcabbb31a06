/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign credentials: credentials in a request to a host where a secret is bound that are no
 * secret of the plan.  Best effort, by three signs:
 *
 *	- a name that credentials are known to travel under, in fields, the query and forms;
 *	- a name that says key, token, secret and the like, with a value that looks like one;
 *	- in any field, and in the path, a word that begins as known keys do.
 *
 * Names are compared as the most lenient servers do: without case, with '-' and '.' as '_', and
 * without the "[]" of a list.
 *
 * A cookie is one too, unless the host set it itself in this session: then the host knows it
 * already.
 */
#include "put_in_parts.h"

#include "credential.h"
#include "encode.h"
#include "http_field.h"
#include "shape.h"

#include <openssl/sha.h>
#include <strings.h>

static const char *const fields[] = {
	"authorization",
	"proxy_authorization",
	"x_api_key",
	"api_key",
	"apikey",
	"x_apikey",
	"x_auth_token",
	"x_access_token",
	"x_token",
	"x_goog_api_key",
	"x_gitlab_token",
	"private_token",
	"job_token",
	"deploy_token",
	"x_amz_security_token",
	"x_functions_key",
	"dd_api_key",
	"dd_application_key",
	"x_figma_token",
	"x_vault_token",
	"x_shopify_access_token",
	"x_github_token",
	"x_api_token",
	"ocp_apim_subscription_key",
	"x_honeycomb_team",
	"x_postmark_server_token",
	"x_rapidapi_key",
	"xi_api_key",
	"x_auth_key",
	"cf_access_client_secret",
	"x_authorization",
	"x_session_token",
	"x_tfe_token",
};

static const char *const parameters[] = {
	"key",
	"api_key",
	"apikey",
	"access_token",
	"auth_token",
	"token",
	"auth",
	"private_token",
	"job_token",
	"client_secret",
	"secret",
	"password",
	"sig",
	"signature",
	"x_amz_signature",
	"x_amz_credential",
	"x_amz_security_token",
	"x_goog_signature",
	"x_goog_credential",
	"awsaccesskeyid",
	"oauth_token",
	"refresh_token",
	"sas",
	"id_token",
	"session",
	"sessionid",
	"jwt",
};

/* A name with one of these parts is no credential. */
static const char *const harmless[] = {"page",  "next",  "continu",   "cursor",    "sync",
				       "csrf",  "xsrf",  "idempoten", "cache",     "max",
				       "limit", "count", "upload",    "surrogate", "websocket"};

/* Anywhere in a name, and as one of its words. */
static const char *const telling_parts[] = {"token",   "secret",     "passw",     "apikey",
					    "authkey", "credential", "accesskey", "privatekey"};
static const char *const telling_words[] = {"key", "auth", "pass",   "pwd",          "jwt",
					    "sig", "pat",  "bearer", "authorization"};

/* A name as it is compared: cut to this length, lower case, with '_' between words. */
struct plain_name {
	char text[64];
};

static struct plain_name plain_name(struct span name)
{
	struct plain_name plain = {{0}};
	size_t len = 0;

	for (size_t i = 0; i < name.len && len + 1 < sizeof(plain.text); i++) {
		uint8_t c = name.ptr[i];

		if (c == '[' || c == '\0')
			break;
		if ((c == '+' || c == ' ') && len == 0)
			continue;
		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		plain.text[len++] = strchr("-. +", c) ? '_' : (char)c;
	}
	return plain;
}

static bool is_one_of(const struct plain_name *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name->text, list[i]) == 0)
			return true;
	return false;
}

static bool has_one_of(const struct plain_name *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(name->text, list[i]))
			return true;
	return false;
}

/* Whether a name says that a credential may be there. */
static bool is_telling(const struct plain_name *name)
{
	if (has_one_of(name, harmless, BAWN_ARRAY_SIZE(harmless)))
		return false;
	for (const char *word = name->text; *word;) {
		struct plain_name one = {{0}};
		size_t n = strcspn(word, "_");

		memcpy(one.text, word, n);
		if (is_one_of(&one, telling_words, BAWN_ARRAY_SIZE(telling_words)))
			return true;
		word += n;
		word += strspn(word, "_");
	}
	return has_one_of(name, telling_parts, BAWN_ARRAY_SIZE(telling_parts));
}

/* Whether some secret of this host goes into this field. */
static bool is_bound_field(const struct put_in *p, const struct secrets_place *at, struct span name)
{
	for (size_t i = 0; i < p->book->count; i++) {
		const struct plan_secret *s = &p->book->secrets[i];

		if (!secrets_is_bound(s, &at->host, at->port))
			continue;
		for (size_t k = 0; k < s->headers.count; k++)
			if (http_same_word(name, s->headers.items[k].text))
				return true;
	}
	return false;
}

/* A word that is long and random, or begins as keys do. */
static bool looks_like_one(struct span word)
{
	char text[256];

	if (word.len >= sizeof(text) || (word.len > 0 && memchr(word.ptr, '\0', word.len)))
		return true;
	memcpy(text, word.ptr, word.len);
	text[word.len] = '\0';
	bool looks = credential_in_value(text);

	explicit_bzero(text, sizeof(text));
	return looks;
}

/* Whether a word begins as known keys do.  "eyJ" does not count: any JSON in base64 begins so. */
static bool begins_as_one(struct span word)
{
	return shape_known(word) > 0 && memcmp(word.ptr, "eyJ", 3) != 0 && looks_like_one(word);
}

/* Whether text, without the placeholders in it, has a word that looks like a credential. */
static bool has_more(const struct put_in *p, struct span text, const char *separators,
		     bool (*looks)(struct span word))
{
	struct finder_hit hit = {0};
	size_t from = 0;

	while (from < text.len) {
		bool found = finder_next(p->book->finder, text, from, true, &hit) == FINDER_FOUND;
		size_t end = found ? hit.at : text.len;

		for (size_t begin = from, at = from; at <= end; at++) {
			if (at < end && !strchr(separators, text.ptr[at]))
				continue;
			if (looks((struct span){text.ptr + begin, at - begin}))
				return true;
			begin = at + 1;
		}
		from = found ? hit.at + hit.len : text.len;
	}
	return false;
}

static bool has_placeholder(const struct put_in *p, struct span text)
{
	struct finder_hit hit;

	return finder_next(p->book->finder, text, 0, true, &hit) == FINDER_FOUND;
}

static int refuse(struct put_in *p, const char *what, struct span name)
{
	put_in_refuse(p, "",
		      "the request carries a credential of its own (%s %.*s) to a host where a"
		      " secret is bound",
		      what, name.len > 64 ? 64 : (int)name.len, (const char *)name.ptr);
	return -EPERM;
}

/* ---- cookies ---- */

static void digest(struct span host, struct span cookie, uint8_t into[16])
{
	uint8_t text[512], full[SHA256_DIGEST_LENGTH];
	size_t len = 0;

	/* host, NUL, cookie; of a long cookie its digest. */
	memcpy(text, host.ptr, host.len);
	len += host.len;
	text[len++] = '\0';
	(void)SHA256(cookie.ptr, cookie.len, text + len);
	len += SHA256_DIGEST_LENGTH;
	(void)SHA256(text, len, full);
	memcpy(into, full, 16);
}

static struct span take_until(struct span *s, uint8_t c)
{
	const uint8_t *at = s->len > 0 ? memchr(s->ptr, c, s->len) : NULL;
	struct span part = {s->ptr, at ? (size_t)(at - s->ptr) : s->len};
	size_t skip = part.len + (at != NULL);

	*s = (struct span){s->ptr + skip, s->len - skip};
	return part;
}

/* Whether host is domain or below it.  A domain of one label has no hosts. */
static bool is_beneath(struct span host, struct span domain)
{
	if (domain.len == 0 || domain.len > host.len || !memchr(domain.ptr, '.', domain.len))
		return false;
	for (size_t i = 0; i < domain.len; i++)
		if ((domain.ptr[i] | 0x20) != (host.ptr[host.len - domain.len + i] | 0x20))
			return false;
	return domain.len == host.len || host.ptr[host.len - domain.len - 1] == '.';
}

/* The Domain of a Set-Cookie if this host may set it; else the host. */
static struct span cookie_domain(struct span attributes, struct span host)
{
	while (attributes.len > 0) {
		struct span one = http_trim(take_until(&attributes, ';'));
		struct span name = http_trim(take_until(&one, '='));
		struct span value = http_trim(one);

		if (!http_same_word(name, "domain"))
			continue;
		if (value.len > 0 && value.ptr[0] == '.')
			value = (struct span){value.ptr + 1, value.len - 1};
		if (is_beneath(host, value))
			return (struct span){host.ptr + host.len - value.len, value.len};
	}
	return host;
}

void put_in_note_cookies(struct put_in_book *book, const struct name *host,
			 const struct http_message *m)
{
	struct span name = {(const uint8_t *)host->text, host->len};

	if (book->count == 0 || host->len == 0)
		return;
	for (size_t i = 0; i < m->field_count; i++) {
		struct span rest = m->fields[i].value;

		if (!http_same_word(m->fields[i].name, "set-cookie"))
			continue;
		struct span cookie = http_trim(take_until(&rest, ';'));

		digest(cookie_domain(rest, name), cookie, book->cookies[book->cookie_next]);
		book->cookie_next = (book->cookie_next + 1) % PUT_IN_COOKIES;
	}
}

static bool is_known_cookie(const struct put_in_book *book, struct span host, struct span cookie)
{
	while (host.len > 0) {
		uint8_t wanted[16];

		digest(host, cookie, wanted);
		for (size_t i = 0; i < PUT_IN_COOKIES; i++)
			if (memcmp(book->cookies[i], wanted, sizeof(wanted)) == 0)
				return true;
		(void)take_until(&host, '.');
	}
	return false;
}

static int check_cookies(struct put_in *p, const struct secrets_place *at, struct span value)
{
	struct span host = {(const uint8_t *)at->host.text, at->host.len};

	while (value.len > 0) {
		struct span cookie = http_trim(take_until(&value, ';'));

		if (cookie.len > 0 && !has_placeholder(p, cookie) &&
		    !is_known_cookie(p->book, host, cookie))
			return refuse(p, "the field", SPAN_LITERAL("cookie"));
	}
	return 0;
}

/* ---- fields, the query and forms ---- */

static const char separators[] = " ,;=:\t\"";

/* Checks a field that only carries credentials: it may have a value of ours and nothing else. */
static int check_known_field(struct put_in *p, const struct http_message_field *f)
{
	struct span rest, text;

	if (f->value.len == 0)
		return 0;
	if (put_in_is_basic(f->value, &rest)) {
		int r = put_in_decode_basic(p, rest, &text);

		if (r == -ENOMEM)
			return r;
		return r < 0 || !has_placeholder(p, text) || has_more(p, text, ":", looks_like_one)
			       ? refuse(p, "the field", f->name)
			       : 0;
	}
	return !has_placeholder(p, f->value) || has_more(p, f->value, separators, looks_like_one)
		       ? refuse(p, "the field", f->name)
		       : 0;
}

static int check_field(struct put_in *p, const struct secrets_place *at,
		       const struct http_message_field *f)
{
	const struct plain_name name = plain_name(f->name);

	if (http_same_word(f->name, "cookie"))
		return check_cookies(p, at, f->value);
	/* Its signature is made anew. */
	if (p->signs && http_same_word(f->name, "authorization"))
		return 0;
	if (is_one_of(&name, fields, BAWN_ARRAY_SIZE(fields)) || is_bound_field(p, at, f->name))
		return check_known_field(p, f);
	return has_more(p, f->value, separators, is_telling(&name) ? looks_like_one : begins_as_one)
		       ? refuse(p, "the field", f->name)
		       : 0;
}

/* Checks a parameter of a query or a form: whether this value may have this name. */
static int check_parameter(struct put_in *p, struct span written, struct span value)
{
	uint8_t decoded[64];
	ssize_t n = decode_percent(written, decoded, sizeof(decoded));

	/* A name that is too long is no known one; a broken escape passes as it is. */
	if (n < 0 || value.len == 0 || has_placeholder(p, value))
		return 0;
	const struct plain_name name = plain_name((struct span){decoded, (size_t)n});

	/* The parameters of a presigned request are signed anew. */
	if (p->signs && strncmp(name.text, "x_amz_", 6) == 0)
		return 0;
	if (is_one_of(&name, parameters, BAWN_ARRAY_SIZE(parameters)) ||
	    (is_telling(&name) && looks_like_one(value)))
		return refuse(p, "the parameter", written);
	return 0;
}

/* Whether some server takes this as a separator of parameters. */
static bool is_parting(uint8_t c)
{
	return c == '&' || c == ';' || c == '?';
}

static int check_query(struct put_in *p, struct span query)
{
	int r = 0;

	while (r == 0 && query.len > 0) {
		size_t len = 0;

		while (len < query.len && !is_parting(query.ptr[len]))
			len++;
		struct span one = {query.ptr, len};
		struct span name = take_until(&one, '=');

		r = check_parameter(p, name, one);
		query = span_skip(query, len < query.len ? len + 1 : len);
	}
	return r;
}

/* Checks a form that comes in pieces.  Keeps as much of a parameter as it needs to judge it. */
int put_in_check_form(struct put_in *p, struct span in, bool end)
{
	struct put_in_form *f = &p->form;

	for (size_t i = 0; i < in.len || (end && i == in.len); i++) {
		bool over = i == in.len || in.ptr[i] == '&' || in.ptr[i] == ';';

		if (over) {
			int r = check_parameter(p, (struct span){f->name, f->name_len},
						(struct span){f->value, f->value_len});

			if (r < 0)
				return r;
			f->name_len = f->value_len = 0;
			f->in_value = false;
		} else if (!f->in_value && in.ptr[i] == '=') {
			f->in_value = true;
		} else if (f->in_value && f->value_len < sizeof(f->value)) {
			f->value[f->value_len++] = in.ptr[i];
		} else if (!f->in_value && f->name_len < sizeof(f->name)) {
			f->name[f->name_len++] = in.ptr[i];
		}
	}
	return 0;
}

static bool says_form(struct span type)
{
	static const char form[] = "x-www-form-urlencoded";

	for (size_t at = 0; at + sizeof(form) - 1 <= type.len; at++)
		if (strncasecmp((const char *)type.ptr + at, form, sizeof(form) - 1) == 0)
			return true;
	return false;
}

static bool is_form(const struct http_message *m)
{
	for (size_t i = 0; i < m->field_count; i++)
		if (http_same_word(m->fields[i].name, "content-type") &&
		    says_form(m->fields[i].value))
			return true;
	return false;
}

int put_in_check_foreign(struct put_in *p, const struct http_message *m,
			 const struct secrets_place *at)
{
	const struct put_in_target target = put_in_split(m->target);
	int r = has_more(p, target.path, "/", begins_as_one)
			? refuse(p, "in", SPAN_LITERAL("the path"))
			: check_query(p, target.query);

	for (size_t i = 0; r == 0 && i < m->field_count; i++)
		r = check_field(p, at, &m->fields[i]);
	p->form.looked_at = is_form(m);
	return r;
}
