/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One secret of `secrets:`, from the text to struct policy_secret; and the two
 * comparisons of its places that a repository and a ceiling need (secret_places.c).
 */
#ifndef BAWN_SECRET_H
#define BAWN_SECRET_H

#include "yaml_tree.h"
#include "value.h"

enum secret_key {
	SECRET_HOSTS,
	SECRET_SCHEME,
	SECRET_METHODS,
	SECRET_PATHS,
	SECRET_KIND,
	SECRET_HEADERS,
	SECRET_PARAMETERS,
	SECRET_IN,
	SECRET_ENV,
	SECRET_FILES,
	SECRET_FROM,
	SECRET_EXPIRES,
	SECRET_REFRESH,
	SECRET_SHAPE,
	SECRET_KEY_COUNT,
};

/* Where it may be put in, as `in` names it. */
enum secret_place {
	SECRET_IN_AUTHORIZATION,
	SECRET_IN_QUERY,
	SECRET_IN_BODY,
	SECRET_IN_WEBSOCKET,
	SECRET_IN_COUNT,
};
extern const char *const secret_in_words[]; /* NULL-terminated */

/* One section. */
struct secret_said {
	struct policy_secret secret;
	uint32_t said; /* set of 1u << enum secret_key, without what is known by the name */
	LIST_OF(const struct plan_string) methods, paths;
};

/* A name for a secret: letters, digits, _ and -, at most 64, and a letter or _ first. */
bool secret_name_is_good(const char *name);

/* A date, a date and a time in UTC, or seconds since 1970.  0 or -EINVAL. */
int secret_parse_time(const char *text, uint64_t *ret_seconds);

/* One section of a file; n is its value, with its name as key.  Added to value. */
int secret_read(const struct value_site *s, const struct tree_node *n, struct grammar_value *value);

/*
 * What is left of a secret's places when a repository names fewer; -ENOMEM, or the number of
 * bindings that are left.  ret_beyond: something that it named was not there before.
 */
int secret_narrow(const struct policy_secret *secret, const struct secret_said *by,
		  struct arena *arena, struct plan_binding **ret_bindings, bool *ret_beyond);

/* Whether every place of inner is a place of one of the outer ones. */
bool secret_is_given(const struct plan_binding *outer, size_t count,
		     const struct plan_binding *inner);

/* "api.example.org", "*.example.org:8443 GET, POST /v1/..."; of a binding, in one line. */
void secret_show_binding(const struct plan_binding *b, struct buf *into);

#endif
