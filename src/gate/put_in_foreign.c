/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign credentials: what a request carries to a host where a secret is bound, and no
 * secret put there.  Looked for by the names that credentials travel under, in fields and in
 * the query; and, beside a placeholder, by what looks like one ("Basic" with a key of its own
 * for the user).
 *
 * A cookie is one too, unless the host set it itself in this session: then it says nothing
 * that the host did not know.
 */
#include "put_in_parts.h"

#include "credential.h"
#include "encode.h"
#include "http_field.h"

#include <openssl/sha.h>

static const char *const fields[] = {
	"authorization",
	"proxy-authorization",
	"x-api-key",
	"api-key",
	"apikey",
	"x-apikey",
	"x-auth-token",
	"x-access-token",
	"x-token",
	"x-goog-api-key",
	"x-gitlab-token",
	"private-token",
	"job-token",
	"deploy-token",
	"x-amz-security-token",
	"x-functions-key",
	"dd-api-key",
	"dd-application-key",
	"x-figma-token",
	"x-vault-token",
	"x-shopify-access-token",
	"x-github-token",
	"x-api-token",
	"ocp-apim-subscription-key",
	"x-honeycomb-team",
	"x-postmark-server-token",
	"x-rapidapi-key",
	"xi-api-key",
	"x-auth-key",
	"cf-access-client-secret",
	"x-authorization",
	"x-session-token",
	"x-tfe-token",
};

static const char *const parameters[] = {
	"key",
	"api_key",
	"api-key",
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
	"x-amz-signature",
	"x-amz-credential",
	"x-amz-security-token",
	"x-goog-signature",
	"x-goog-credential",
	"awsaccesskeyid",
	"oauth_token",
	"refresh_token",
	"sas",
	"id_token",
	"session",
	"sessionid",
	"jwt",
};

static bool is_one_of(struct span name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (http_same_word(name, list[i]))
			return true;
	return false;
}

/* A field that some secret of this host goes into. */
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

/* Whether text, without the placeholders in it, has something that looks like a credential. */
static bool has_more(const struct put_in *p, struct span text, const char *separators)
{
	struct finder_hit hit = {0};
	size_t from = 0;

	while (from < text.len) {
		bool found = finder_next(p->book->finder, text, from, true, &hit) == FINDER_FOUND;
		size_t end = found ? hit.at : text.len;

		for (size_t begin = from, at = from; at <= end; at++) {
			if (at < end && !strchr(separators, text.ptr[at]))
				continue;
			if (looks_like_one((struct span){text.ptr + begin, at - begin}))
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

	/* host, NUL, cookie; a long cookie by its own digest first. */
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

/* host is domain, or lies beneath it; a domain of one label holds nobody. */
static bool is_beneath(struct span host, struct span domain)
{
	if (domain.len == 0 || domain.len > host.len || !memchr(domain.ptr, '.', domain.len))
		return false;
	for (size_t i = 0; i < domain.len; i++)
		if ((domain.ptr[i] | 0x20) != (host.ptr[host.len - domain.len + i] | 0x20))
			return false;
	return domain.len == host.len || host.ptr[host.len - domain.len - 1] == '.';
}

/* The Domain of a Set-Cookie, as far as this host may speak for it; else the host. */
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

/* ---- fields and query ---- */

static int check_field(struct put_in *p, const struct secrets_place *at,
		       const struct http_message_field *f)
{
	struct span rest, text;

	if (http_same_word(f->name, "cookie"))
		return check_cookies(p, at, f->value);
	/* Its signature is made anew. */
	if (p->signs && http_same_word(f->name, "authorization"))
		return 0;
	if (!is_one_of(f->name, fields, BAWN_ARRAY_SIZE(fields)) && !is_bound_field(p, at, f->name))
		return 0;
	if (f->value.len == 0)
		return 0;
	if (put_in_is_basic(f->value, &rest)) {
		int r = put_in_decode_basic(p, rest, &text);

		if (r == -ENOMEM)
			return r;
		return r < 0 || !has_placeholder(p, text) || has_more(p, text, ":")
			       ? refuse(p, "the field", f->name)
			       : 0;
	}
	return !has_placeholder(p, f->value) || has_more(p, f->value, " ,;=:\t\"")
		       ? refuse(p, "the field", f->name)
		       : 0;
}

static int check_query(struct put_in *p, struct span query)
{
	while (query.len > 0) {
		struct span one = take_until(&query, '&');
		struct span name = take_until(&one, '=');
		uint8_t decoded[64];
		ssize_t n = decode_percent(name, decoded, sizeof(decoded));

		if (n < 0) /* a long name is none of ours; a broken escape is not for us to mend */
			continue;
		/* Those of a presigned request are part of what is signed anew. */
		if (p->signs && n > 6 && http_same_word((struct span){decoded, 6}, "x-amz-"))
			continue;
		if (one.len > 0 && !has_placeholder(p, one) &&
		    is_one_of((struct span){decoded, (size_t)n}, parameters,
			      BAWN_ARRAY_SIZE(parameters)))
			return refuse(p, "the parameter", name);
	}
	return 0;
}

int put_in_check_foreign(struct put_in *p, const struct http_message *m,
			 const struct secrets_place *at)
{
	int r = check_query(p, put_in_split(m->target).query);

	for (size_t i = 0; r == 0 && i < m->field_count; i++)
		r = check_field(p, at, &m->fields[i]);
	return r;
}
