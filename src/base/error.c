/* SPDX-License-Identifier: Apache-2.0 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

BAWN_PRINTF(3, 0)
static void error_vset(struct error *e, int code, const char *fmt, va_list ap)
{
	e->code = code;
	e->next[0] = '\0';
	(void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
}

int error_set(struct error *e, int code, const char *fmt, ...)
{
	if (e) {
		va_list ap;

		va_start(ap, fmt);
		error_vset(e, code, fmt, ap);
		va_end(ap);
	}
	return code;
}

int error_sys(struct error *e, int code, const char *fmt, ...)
{
	if (e) {
		va_list ap;
		size_t len;

		va_start(ap, fmt);
		error_vset(e, code, fmt, ap);
		va_end(ap);
		len = strlen(e->text);
		(void)snprintf(e->text + len, sizeof(e->text) - len, ": %s", error_words(code));
	}
	return code;
}

void error_next(struct error *e, const char *fmt, ...)
{
	if (e) {
		va_list ap;

		va_start(ap, fmt);
		(void)vsnprintf(e->next, sizeof(e->next), fmt, ap);
		va_end(ap);
	}
}

const char *error_words(int code)
{
	const char *words = strerrordesc_np(code < 0 ? -code : code);

	return words ? words : "unknown error";
}

const char *error_name(int code)
{
	const char *name = strerrorname_np(code < 0 ? -code : code);

	return name ? name : "E?";
}
