/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include "credential.h"
#include "secret.h"
#include "str.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static const char *const words_of_layer[PLAN_LAYER_COUNT] = {
	[PLAN_LAYER_USER_NS] = "no authority over anything of the host",
	[PLAN_LAYER_MOUNT_NS] = "a root built from nothing; the rest does not exist",
	[PLAN_LAYER_PID_NS] = "processes of its own; no others can be seen",
	[PLAN_LAYER_NET_NS] = "no network but a loopback of its own",
	[PLAN_LAYER_IPC_NS] = "message queues and shared memory of its own",
	[PLAN_LAYER_UTS_NS] = "a host name of its own",
	[PLAN_LAYER_CGROUP_NS] = "no view of the host's control groups",
	[PLAN_LAYER_LANDLOCK] = "every access to a file is checked again, by object",
	[PLAN_LAYER_SECCOMP] = "system calls by allow list",
	[PLAN_LAYER_CAPS] = "no capabilities, and none to be had",
	[PLAN_LAYER_NO_NEW_PRIVS] = "no program gains rights by being run",
	[PLAN_LAYER_NESTED_OFF] = "no namespaces inside the box",
	[PLAN_LAYER_FDS] = "no file of the caller stays open inside",
	[PLAN_LAYER_TTY] = "a terminal of its own: nothing can be typed into yours",
	[PLAN_LAYER_ENV] = "the environment by allow list",
	[PLAN_LAYER_HIDE_INIT] = "process 1 of the box cannot be looked into",
	[PLAN_LAYER_LIMITS] = "the limits above",
	[PLAN_LAYER_RECORD] = "what happens is recorded, outside and sealed",
};

void words_path(struct buf *into, const struct plan *plan, const char *path)
{
	if (plan->home && str_path_beneath(path, plan->home)) {
		buf_put_char(into, '~');
		path += strlen(plan->home);
	}
	text_escape(into, span_of_str(path));
}

void words_text(struct buf *into, const struct plan *plan, const char *text)
{
	size_t len = strlen(plan->home);

	for (;;) {
		const char *home = len ? strstr(text, plan->home) : NULL;

		/* A path that only begins like the home is another one. */
		while (home && home[len] != '/' && home[len] != '\0' && home[len] != ' ')
			home = strstr(home + 1, plan->home);
		if (!home)
			break;
		text_escape(into, (struct span){(const uint8_t *)text, (size_t)(home - text)});
		buf_put_char(into, '~');
		text = home + len;
	}
	text_escape(into, span_of_str(text));
}

void words_size(struct buf *into, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	while (unit + 1 < BAWN_ARRAY_SIZE(units) && bytes >= 1024 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	buf_putf(into, "%" PRIu64 " %s", bytes, units[unit]);
}

void words_when(struct buf *into, int64_t at, bool second)
{
	time_t seconds = (time_t)at;
	char clock[40] = "";
	struct tm t;

	memset(&t, 0, sizeof(t));
	(void)localtime_r(&seconds, &t);
	(void)strftime(clock, sizeof(clock), second ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M", &t);
	buf_put_str(into, clock);
}

void words_duration(struct buf *into, uint64_t seconds)
{
	static const struct {
		uint64_t seconds;
		const char *one;
	} units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
	size_t unit = 0;

	while (seconds == 0 ? units[unit].seconds != 1 : seconds % units[unit].seconds != 0)
		unit++;
	seconds /= units[unit].seconds;
	buf_putf(into, "%" PRIu64 " %s%s", seconds, units[unit].one, seconds == 1 ? "" : "s");
}

void words_limit(struct buf *into, const struct plan_limit *limit)
{
	switch ((enum plan_limit_kind)limit->kind) {
	case PLAN_LIMIT_FILE_SIZE:
	case PLAN_LIMIT_MEMORY:
	case PLAN_LIMIT_OUTPUT:
	case PLAN_LIMIT_NETWORK:
	case PLAN_LIMIT_LAYERS:
	case PLAN_LIMIT_RECORD:
	case PLAN_LIMIT_DISK_FREE:
	case PLAN_LIMIT_BOX_MEMORY:
	case PLAN_LIMIT_BOX_MEMORY_SOFT:
		words_size(into, limit->value);
		return;
	case PLAN_LIMIT_CPU_TIME:
	case PLAN_LIMIT_WALL_TIME:
	case PLAN_LIMIT_IDLE_TIME:
		words_duration(into, limit->value);
		return;
	case PLAN_LIMIT_PROCESSES:
	case PLAN_LIMIT_OPEN_FILES:
	case PLAN_LIMIT_BOX_CPU:
	case PLAN_LIMIT_BOX_CPU_WEIGHT:
	case PLAN_LIMIT_BOX_IO_WEIGHT:
	case PLAN_LIMIT_COUNT:
		break;
	}
	buf_putf(into, "%" PRIu64, limit->value);
}

const char *words_layer(enum plan_layer layer)
{
	return words_of_layer[layer];
}

void words_open_secrets(struct buf *into, const struct plan *plan)
{
	const char *comma = "";

	for (size_t i = 0; i < plan->env.count; i++) {
		const struct plan_env *v = &plan->env.items[i];

		if (str_equal(v->origin, "default") || str_equal(v->origin, "host") ||
		    str_after(v->origin, "placeholder of ") ||
		    !(credential_in_name(v->name) || credential_in_value(v->value)))
			continue;
		buf_put_str(into, comma);
		text_escape(into, span_of_str(v->name));
		buf_put_str(into, " (");
		words_text(into, plan, v->origin);
		buf_put_char(into, ')');
		comma = ", ";
	}
	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *m = &plan->mounts.items[i];

		if (!str_equal(m->role, "exposed"))
			continue;
		buf_put_str(into, comma);
		words_path(into, plan, m->target);
		buf_put_str(into, " (");
		words_text(into, plan, m->origin);
		buf_put_char(into, ')');
		comma = ", ";
	}
}

void words_secret(struct buf *into, const struct plan *plan, const struct plan_secret *s)
{
	const struct {
		bool on;
		const char *word;
	} in[] = {{s->in_authorization, "authorization"},
		  {s->in_query, "query"},
		  {s->in_body, "body"},
		  {s->in_websocket, "websocket"}};
	const char *lead = " in ";

	for (size_t i = 0; i < s->bindings.count; i++) {
		buf_put_str(into, i ? ", " : "");
		secret_show_binding(&s->bindings.items[i], into);
	}
	for (size_t i = 0; i < BAWN_ARRAY_SIZE(in); i++)
		if (in[i].on) {
			buf_putf(into, "%s%s", lead, in[i].word);
			lead = ", ";
		}
	for (size_t i = 0; i < s->headers.count; i++) {
		buf_putf(into, "%s%s", lead, s->headers.items[i].text);
		lead = ", ";
	}
	for (size_t i = 0; i < s->parameters.count; i++)
		buf_putf(into, "%s%s=", i ? ", " : " as ", s->parameters.items[i].text);
	if (s->kind != PLAN_SECRET_PLAIN)
		buf_putf(into, ", %s", plan_secret_words[s->kind]);
	buf_put_str(into, "; its value: ");
	words_text(into, plan, s->source);
	lead = "; a placeholder in ";
	for (size_t i = 0; i < s->parts.count; i++)
		for (size_t n = 0; n < s->parts.items[i].variables.count; n++) {
			buf_putf(into, "%s%s", lead, s->parts.items[i].variables.items[n].text);
			lead = ", ";
		}
	for (size_t i = 0; i < s->files.count; i++) {
		buf_put_str(into, lead);
		words_path(into, plan, s->files.items[i].text);
		lead = ", ";
	}
	buf_put_str(into, " (");
	words_text(into, plan, s->origin);
	buf_put_char(into, ')');
}

void words_gone_without(struct buf *into, const struct plan *plan)
{
	const char *comma = "";

	for (unsigned int layer = 0; layer < PLAN_LAYER_COUNT; layer++)
		if (plan_goes_without(plan, (enum plan_layer)layer)) {
			buf_putf(into, "%s%s", comma, plan_layer_words[layer]);
			comma = ", ";
		}
}

void words_age(struct buf *into, uint64_t since)
{
	uint64_t now = (uint64_t)time(NULL);
	uint64_t seconds = now > since ? now - since : 0;
	static const struct {
		uint64_t seconds;
		const char *word;
	} units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}};

	for (size_t i = 0; i < BAWN_ARRAY_SIZE(units); i++)
		if (seconds >= units[i].seconds) {
			uint64_t n = seconds / units[i].seconds;

			buf_putf(into, "%" PRIu64 " %s%s", n, units[i].word, n == 1 ? "" : "s");
			return;
		}
	buf_putf(into, "%" PRIu64 " second%s", seconds, seconds == 1 ? "" : "s");
}
