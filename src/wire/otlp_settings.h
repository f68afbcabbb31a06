/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the record is sent as it grows, and how: what the user's environment says in the
 * variables of OpenTelemetry.
 *
 *	OTEL_EXPORTER_OTLP_LOGS_ENDPOINT	the whole address
 *	OTEL_EXPORTER_OTLP_ENDPOINT		its beginning; /v1/logs is put behind it
 *	OTEL_EXPORTER_OTLP_[LOGS_]HEADERS	name=value,... with %XX in the values
 *	OTEL_EXPORTER_OTLP_[LOGS_]TIMEOUT	milliseconds for one request, 10000
 *	OTEL_EXPORTER_OTLP_[LOGS_]COMPRESSION	gzip or none
 *	OTEL_EXPORTER_OTLP_[LOGS_]PROTOCOL	http/json; nothing else is spoken
 *	OTEL_EXPORTER_OTLP_[LOGS_]CERTIFICATE	a file of authorities, instead of the system's
 *	OTEL_LOGS_EXPORTER			otlp; anything else: nothing is sent
 *	OTEL_SDK_DISABLED			true: nothing is sent
 *	OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES	what the records are said to be of
 *
 * The one with LOGS_ wins over the other.  An empty variable counts as unset.  A value that
 * cannot be used as it is written is refused with the variable's name, never guessed: these
 * variables say where the record of a session goes.
 */
#ifndef BAWN_OTLP_SETTINGS_H
#define BAWN_OTLP_SETTINGS_H

#include "arena.h"
#include "authority.h"
#include "error.h"

enum {
	OTLP_TIMEOUT_MS = 10000,
	OTLP_TIMEOUT_MAX_MS = 600000,
	OTLP_PAIRS_MAX = 64,
	OTLP_SETTINGS_BYTES = 256 << 10,
};

/* A header or an attribute. */
struct otlp_pair {
	const char *name, *value;
};

struct otlp_pairs {
	size_t count;
	struct otlp_pair items[OTLP_PAIRS_MAX];
};

struct otlp_settings {
	struct arena arena;
	bool on;               /* somewhere to send to is named */
	bool tls;              /* https */
	bool gzip;             /* of what is sent */
	struct authority at;   /* with its port */
	const char *host;      /* to look up: a name or an address without brackets */
	const char *authority; /* as in Host */
	const char *path;
	uint64_t timeout_ms;
	const char *certificate; /* NULL: the system's authorities */
	const char *service;     /* NULL: none is named */
	struct otlp_pairs headers, attributes;
};

#define OTLP_SETTINGS_INIT ((struct otlp_settings){.arena = ARENA_INIT(OTLP_SETTINGS_BYTES)})

/* Whether anything is to be sent at all, before the rest is read. */
bool otlp_settings_wanted(char *const *environment);

/* environment: "NAME=value", up to NULL. */
int otlp_settings_read(struct otlp_settings *s, char *const *environment, struct error *e);

/* Only the attributes and the service's name, for an export into a file. */
int otlp_settings_read_resource(struct otlp_settings *s, char *const *environment, struct error *e);

void otlp_settings_fini(struct otlp_settings *s);
#define _cleanup_otlp_settings_ _cleanup_(otlp_settings_fini)

#endif
