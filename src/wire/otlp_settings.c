/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_settings.h"

#include "encode.h"
#include "http_field.h"
#include "str.h"
#include "text.h"

#include <stdio.h>
#include <strings.h>

enum { OTLP_URL_MAX = 4096, OTLP_NAME_SIZE = 64 };

/* --- the environment ------------------------------------------------------------------ */

/* NULL when it is not there, or empty. */
static const char *otlp_variable(char *const *environment, const char *name)
{
	for (; *environment; environment++) {
		const char *rest = str_after(*environment, name);

		if (rest && rest[0] == '=')
			return rest[1] ? rest + 1 : NULL;
	}
	return NULL;
}

/* The value of OTEL_EXPORTER_OTLP_LOGS_X or else OTEL_EXPORTER_OTLP_X; ret_name is which. */
static const char *otlp_setting(char *const *environment, const char *what,
				char ret_name[OTLP_NAME_SIZE])
{
	static const char *const before[] = {"OTEL_EXPORTER_OTLP_LOGS_", "OTEL_EXPORTER_OTLP_"};
	const char *value = NULL;

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(before) && !value; i++) {
		(void)snprintf(ret_name, OTLP_NAME_SIZE, "%s%s", before[i], what);
		value = otlp_variable(environment, ret_name);
	}
	return value;
}

bool otlp_settings_wanted(char *const *environment)
{
	char name[OTLP_NAME_SIZE];
	const char *disabled = otlp_variable(environment, "OTEL_SDK_DISABLED");
	const char *exporter = otlp_variable(environment, "OTEL_LOGS_EXPORTER");

	if ((disabled && strcasecmp(disabled, "true") == 0) ||
	    (exporter && !str_equal(exporter, "otlp")))
		return false;
	return otlp_setting(environment, "ENDPOINT", name) != NULL;
}

/* --- where to ------------------------------------------------------------------------- */

static bool otlp_path_is_good(const char *path)
{
	for (; *path; path++)
		if (!http_is_target_byte((uint8_t)*path))
			return false;
	return true;
}

static bool otlp_set_host(struct otlp_settings *s, const char *text, size_t len)
{
	char address[ADDRESS_TEXT_SIZE];

	if (authority_parse((struct span){(const uint8_t *)text, len}, &s->at) < 0)
		return false;
	s->authority = arena_strn(&s->arena, text, len);
	if (s->at.port == 0)
		s->at.port = s->tls ? 443 : 80;
	if (s->at.is_address) {
		address_format(&s->at.address, address);
		s->host = arena_str(&s->arena, address);
	} else {
		s->host = arena_str(&s->arena, s->at.name.text);
	}
	return s->host && s->authority;
}

/* whole: the address is complete, not only its beginning. */
static int otlp_set_endpoint(struct otlp_settings *s, const char *name, const char *url, bool whole,
			     struct error *e)
{
	const char *rest = str_after(url, "https://");
	size_t all = strlen(url);

	s->tls = rest != NULL;
	if (!rest)
		rest = str_after(url, "http://");
	if (!rest)
		return error_set(e, -EINVAL, "%s has to begin with http:// or https://", name);
	size_t len = strcspn(rest, "/?#");
	const char *path = rest + len;

	if (memchr(rest, '@', len))
		return error_set(e, -EINVAL,
				 "%s has a user or a password in it; credentials belong "
				 "into OTEL_EXPORTER_OTLP_HEADERS",
				 name);
	if (all > OTLP_URL_MAX || !otlp_set_host(s, rest, len) || !otlp_path_is_good(path) ||
	    (*path && *path != '/') || (!whole && strchr(path, '?')))
		return error_set(e, -EINVAL, "%s is no address that can be sent to", name);
	size_t plain = strlen(path);

	while (!whole && plain > 0 && path[plain - 1] == '/')
		plain--;
	s->path = whole ? arena_str(&s->arena, *path ? path : "/")
			: arena_printf(&s->arena, "%.*s/v1/logs", (int)plain, path);
	return s->path ? 0 : -ENOMEM;
}

/* --- lists ---------------------------------------------------------------------------- */

static bool otlp_pair_is_header(const struct otlp_pair *p)
{
	static const char *const ours[] = {"host",
					   "content-length",
					   "content-type",
					   "content-encoding",
					   "transfer-encoding",
					   "connection"};

	if (!http_is_token(span_of_str(p->name)))
		return false;
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(ours); i++)
		if (strcasecmp(p->name, ours[i]) == 0)
			return false;
	for (const char *c = p->value; *c; c++)
		if (!http_is_value_byte((uint8_t)*c))
			return false;
	return true;
}

static bool otlp_pair_is_attribute(const struct otlp_pair *p)
{
	struct span s = span_of_str(p->value);
	uint32_t cp;

	for (const char *c = p->name; *c; c++)
		if (*c <= ' ' || *c > '~')
			return false;
	while (s.len > 0) {
		size_t len = text_utf8(s, &cp);

		if (len == 0)
			return false;
		s = span_skip(s, len);
	}
	return p->name[0] != '\0';
}

/* One "name=value", blanks around either. */
static bool otlp_read_pair(struct otlp_settings *s, struct span text, struct otlp_pair *ret)
{
	const uint8_t *equals = text.len ? memchr(text.ptr, '=', text.len) : NULL;

	if (!equals)
		return false;
	size_t at = (size_t)(equals - text.ptr);
	struct span name = http_trim((struct span){text.ptr, at});
	struct span value = http_trim(span_skip(text, at + 1));
	char *plain = arena_alloc(&s->arena, value.len + 1);
	ssize_t len = plain ? decode_percent(value, (uint8_t *)plain, value.len) : -ENOMEM;

	if (len < 0 || memchr(plain, '\0', (size_t)len))
		return false;
	plain[len] = '\0';
	*ret = (struct otlp_pair){arena_strn(&s->arena, (const char *)name.ptr, name.len), plain};
	return ret->name != NULL;
}

static int otlp_read_pairs(struct otlp_settings *s, const char *variable, const char *text,
			   bool (*is_good)(const struct otlp_pair *), struct otlp_pairs *ret,
			   struct error *e)
{
	while (text && *text) {
		size_t len = strcspn(text, ",");
		struct span one = http_trim((struct span){(const uint8_t *)text, len});
		struct otlp_pair pair;

		text += len + (text[len] == ',');
		if (one.len == 0)
			continue;
		if (ret->count == OTLP_PAIRS_MAX)
			return error_set(e, -E2BIG, "%s has more than %d entries", variable,
					 OTLP_PAIRS_MAX);
		/* The value may be a credential: it is not shown. */
		if (!otlp_read_pair(s, one, &pair) || !is_good(&pair))
			return error_set(e, -EINVAL, "entry %zu of %s is not one that can be sent",
					 ret->count + 1, variable);
		ret->items[ret->count++] = pair;
	}
	return 0;
}

int otlp_settings_read_resource(struct otlp_settings *s, char *const *environment, struct error *e)
{
	static const char name[] = "OTEL_RESOURCE_ATTRIBUTES";
	const char *service = otlp_variable(environment, "OTEL_SERVICE_NAME");
	const struct otlp_pair named = {"service.name", service ? service : ""};

	if (!otlp_pair_is_attribute(&named))
		return error_set(e, -EINVAL, "OTEL_SERVICE_NAME is not text");
	int r = otlp_read_pairs(s, name, otlp_variable(environment, name), otlp_pair_is_attribute,
				&s->attributes, e);

	if (r < 0 || !service)
		return r;
	s->service = arena_str(&s->arena, service);
	return s->service ? 0 : -ENOMEM;
}

/* --- the rest ------------------------------------------------------------------------- */

static int otlp_read_how(struct otlp_settings *s, char *const *environment, struct error *e)
{
	char name[OTLP_NAME_SIZE];
	const char *value = otlp_setting(environment, "PROTOCOL", name);

	if (value && !str_equal(value, "http/json")) {
		(void)error_set(e, -EPROTONOSUPPORT, "%s is %s, and bawn speaks http/json only",
				name, value);
		error_next(e, "Set OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/json and "
			      "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT, or unset them all.");
		return -EPROTONOSUPPORT;
	}
	value = otlp_setting(environment, "COMPRESSION", name);
	s->gzip = value && str_equal(value, "gzip");
	if (value && !s->gzip && !str_equal(value, "none"))
		return error_set(e, -EINVAL, "%s is %s; it can be gzip or none", name, value);
	value = otlp_setting(environment, "TIMEOUT", name);
	s->timeout_ms = OTLP_TIMEOUT_MS;
	if (value && (str_parse_u64(value, &s->timeout_ms) < 0 || s->timeout_ms == 0 ||
		      s->timeout_ms > OTLP_TIMEOUT_MAX_MS))
		return error_set(e, -EINVAL, "%s is %s; it is a number of milliseconds, up to %d",
				 name, value, OTLP_TIMEOUT_MAX_MS);
	if (otlp_setting(environment, "CLIENT_CERTIFICATE", name) ||
	    otlp_setting(environment, "CLIENT_KEY", name))
		return error_set(e, -EOPNOTSUPP,
				 "%s is set, and bawn has no certificate of its own", name);
	return 0;
}

int otlp_settings_read(struct otlp_settings *s, char *const *environment, struct error *e)
{
	char name[OTLP_NAME_SIZE];

	s->on = otlp_settings_wanted(environment);
	if (!s->on)
		return 0;
	const char *value = otlp_setting(environment, "ENDPOINT", name);
	int r = otlp_set_endpoint(s, name, value, strstr(name, "LOGS_") != NULL, e);

	if (r == 0)
		r = otlp_read_how(s, environment, e);
	if (r == 0) {
		value = otlp_setting(environment, "HEADERS", name);
		r = otlp_read_pairs(s, name, value, otlp_pair_is_header, &s->headers, e);
	}
	if (r == 0)
		r = otlp_settings_read_resource(s, environment, e);
	value = otlp_setting(environment, "CERTIFICATE", name);
	if (r == 0 && value && !(s->certificate = arena_str(&s->arena, value)))
		r = -ENOMEM;
	if (r == -ENOMEM)
		return error_set(e, r, "the variables of OpenTelemetry are too long");
	return r;
}

void otlp_settings_fini(struct otlp_settings *s)
{
	arena_fini(&s->arena);
}
