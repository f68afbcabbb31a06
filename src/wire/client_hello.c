/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of steps.  Each step wants a number of bytes.  When it has them all, its
 * function reads them and names the next step.  So it does not matter how the bytes
 * were cut.  No step may want more than is left of the message or extension that it is
 * in: only go() checks that.
 */
#include "client_hello.h"

enum {
	RECORD_HANDSHAKE = 22,
	RECORD_MAX = 1 << 14,
	MESSAGE_CLIENT_HELLO = 1,
	VERSION_TLS10 = 0x0301,
	VERSION_TLS12 = 0x0303, /* and of TLS 1.3, which says so in an extension */
	RANDOM_SIZE = 32,
	SESSION_ID_MAX = 32,
	EXTENSION_SERVER_NAME = 0,
	EXTENSION_ALPN = 16,
	EXTENSION_ECH = 0xfe0d,
	NAME_TYPE_HOST = 0,
	ECH_OUTER = 0,
};

enum step {
	STEP_START, /* of an all-zero struct */
	STEP_MESSAGE,
	STEP_VERSION,
	STEP_RANDOM,
	STEP_SESSION_SIZE,
	STEP_SESSION,
	STEP_CIPHERS_SIZE,
	STEP_CIPHERS,
	STEP_COMPRESSIONS_SIZE,
	STEP_COMPRESSIONS,
	STEP_EXTENSIONS_SIZE,
	STEP_EXTENSION,
	STEP_OTHER, /* an extension's body, or what is left of it */
	STEP_NAMES_SIZE,
	STEP_NAME_SIZE,
	STEP_NAME,
	STEP_PROTOCOLS_SIZE,
	STEP_PROTOCOL_SIZE,
	STEP_PROTOCOL,
	STEP_ECH_TYPE,
};

enum how { SKIP, NUMBER, KEEP };

static void bad(struct client_hello *h, const char *why)
{
	h->state = FEED_BAD;
	h->why = why;
}

/* Enters a step, if the message or extension that it is in has so many bytes left. */
static void go(struct client_hello *h, enum step step, uint32_t want)
{
	bool in_extension = step > STEP_EXTENSION;

	if (want > h->body_left || (in_extension && want > h->extension_left)) {
		bad(h, "a length in the ClientHello reaches past its end");
		return;
	}
	h->step = (uint8_t)step;
	h->want = want;
	h->got = 0;
	h->number = 0;
}

/* After an extension: the next one, or the end. */
static void go_extension(struct client_hello *h)
{
	if (h->body_left == 0)
		h->state = FEED_DONE;
	else
		go(h, STEP_EXTENSION, 4);
}

static void on_start(struct client_hello *h)
{
	h->body_left = 4;
	go(h, STEP_MESSAGE, 4);
}

static void on_message(struct client_hello *h)
{
	uint32_t size = h->number & 0xffffff;

	if (h->number >> 24 != MESSAGE_CLIENT_HELLO) {
		bad(h, "the first TLS message is not a ClientHello");
		return;
	}
	if (size > CLIENT_HELLO_MAX) {
		bad(h, "the ClientHello is larger than 64 KiB");
		return;
	}
	h->body_left = size;
	go(h, STEP_VERSION, 2);
}

static void on_version(struct client_hello *h)
{
	if (h->number < VERSION_TLS10 || h->number > VERSION_TLS12)
		bad(h, "the ClientHello has an unknown version");
	else
		go(h, STEP_RANDOM, RANDOM_SIZE);
}

static void on_random(struct client_hello *h)
{
	go(h, STEP_SESSION_SIZE, 1);
}

static void on_session_size(struct client_hello *h)
{
	if (h->number > SESSION_ID_MAX)
		bad(h, "the session id is longer than 32 bytes");
	else
		go(h, STEP_SESSION, h->number);
}

static void on_session(struct client_hello *h)
{
	go(h, STEP_CIPHERS_SIZE, 2);
}

static void on_ciphers_size(struct client_hello *h)
{
	if (h->number < 2 || h->number % 2 != 0)
		bad(h, "the list of cipher suites has an impossible length");
	else
		go(h, STEP_CIPHERS, h->number);
}

static void on_ciphers(struct client_hello *h)
{
	go(h, STEP_COMPRESSIONS_SIZE, 1);
}

static void on_compressions_size(struct client_hello *h)
{
	if (h->number < 1)
		bad(h, "the list of compressions is empty");
	else
		go(h, STEP_COMPRESSIONS, h->number);
}

static void on_compressions(struct client_hello *h)
{
	if (h->body_left == 0) /* an old client without extensions: it names no server */
		h->state = FEED_DONE;
	else
		go(h, STEP_EXTENSIONS_SIZE, 2);
}

static void on_extensions_size(struct client_hello *h)
{
	if (h->number != h->body_left)
		bad(h, "the extensions do not end where the ClientHello does");
	else
		go_extension(h);
}

/* Remembers the type of an extension; false: the ClientHello had it before. */
static bool extension_add(struct client_hello *h, uint16_t type)
{
	for (size_t i = 0; i < h->extension_count; i++)
		if (h->extensions[i] == type)
			return false;
	h->extensions[h->extension_count++] = type;
	return true;
}

static void on_extension(struct client_hello *h)
{
	uint16_t type = (uint16_t)(h->number >> 16), size = (uint16_t)h->number;

	if (h->extension_count == CLIENT_HELLO_EXTENSIONS_MAX) {
		bad(h, "the ClientHello has more than 128 extensions");
		return;
	}
	if (!extension_add(h, type)) {
		bad(h, "an extension of the ClientHello stands twice");
		return;
	}
	h->extension_left = size;
	switch (type) {
	case EXTENSION_SERVER_NAME:
		go(h, STEP_NAMES_SIZE, 2);
		break;
	case EXTENSION_ALPN:
		go(h, STEP_PROTOCOLS_SIZE, 2);
		break;
	case EXTENSION_ECH:
		go(h, STEP_ECH_TYPE, 1);
		break;
	default:
		go(h, STEP_OTHER, size);
	}
}

static void on_names_size(struct client_hello *h)
{
	if (h->number != h->extension_left)
		bad(h, "the list of server names does not end where its extension does");
	else
		go(h, STEP_NAME_SIZE, 3);
}

static void on_name_size(struct client_hello *h)
{
	uint32_t size = h->number & 0xffff;

	if (h->number >> 16 != NAME_TYPE_HOST)
		bad(h, "the server name is of an unknown kind");
	else if (size < h->extension_left)
		bad(h, "the ClientHello has more than one server name");
	else if (size > NAME_TEXT_MAX + 1) /* one trailing dot */
		bad(h, "the server name is not a host name");
	else
		go(h, STEP_NAME, size);
}

static void on_name(struct client_hello *h)
{
	int r = name_parse((struct span){h->raw, h->got}, &h->name);

	if (r == -EADDRNOTAVAIL)
		bad(h, "the server name is a literal address");
	else if (r < 0)
		bad(h, "the server name is not a host name");
	else
		go_extension(h);
}

static void on_protocols_size(struct client_hello *h)
{
	if (h->number != h->extension_left)
		bad(h, "the list of protocols does not end where its extension does");
	else
		go(h, STEP_PROTOCOL_SIZE, 1);
}

static void on_protocol_size(struct client_hello *h)
{
	if (h->number == 0)
		bad(h, "the name of a protocol is empty");
	else
		go(h, STEP_PROTOCOL, h->number);
}

static void on_protocol(struct client_hello *h)
{
	struct span protocol = {h->raw, h->got};

	if (span_equal(protocol, SPAN_LITERAL("h2")))
		h->alpn |= CLIENT_HELLO_H2;
	else if (span_equal(protocol, SPAN_LITERAL("http/1.1")))
		h->alpn |= CLIENT_HELLO_HTTP11;
	else
		h->alpn |= CLIENT_HELLO_OTHER;
	if (h->extension_left > 0)
		go(h, STEP_PROTOCOL_SIZE, 1);
	else
		go_extension(h);
}

static void on_ech_type(struct client_hello *h)
{
	h->ech = true;
	if (h->number != ECH_OUTER) /* the inner kind only ever travels encrypted */
		bad(h, "the ECH extension is not of the outer kind");
	else
		go(h, STEP_OTHER, h->extension_left);
}

static const struct {
	enum how how;
	void (*on)(struct client_hello *h);
} steps[] = {
	[STEP_START] = {SKIP, on_start},
	[STEP_MESSAGE] = {NUMBER, on_message},
	[STEP_VERSION] = {NUMBER, on_version},
	[STEP_RANDOM] = {SKIP, on_random},
	[STEP_SESSION_SIZE] = {NUMBER, on_session_size},
	[STEP_SESSION] = {SKIP, on_session},
	[STEP_CIPHERS_SIZE] = {NUMBER, on_ciphers_size},
	[STEP_CIPHERS] = {SKIP, on_ciphers},
	[STEP_COMPRESSIONS_SIZE] = {NUMBER, on_compressions_size},
	[STEP_COMPRESSIONS] = {SKIP, on_compressions},
	[STEP_EXTENSIONS_SIZE] = {NUMBER, on_extensions_size},
	[STEP_EXTENSION] = {NUMBER, on_extension},
	[STEP_OTHER] = {SKIP, go_extension},
	[STEP_NAMES_SIZE] = {NUMBER, on_names_size},
	[STEP_NAME_SIZE] = {NUMBER, on_name_size},
	[STEP_NAME] = {KEEP, on_name},
	[STEP_PROTOCOLS_SIZE] = {NUMBER, on_protocols_size},
	[STEP_PROTOCOL_SIZE] = {NUMBER, on_protocol_size},
	[STEP_PROTOCOL] = {KEEP, on_protocol},
	[STEP_ECH_TYPE] = {NUMBER, on_ech_type},
};

/* Takes bytes of the message for the current step, at most what it still wants.  How many. */
static size_t take(struct client_hello *h, struct span in)
{
	size_t n = in.len < h->want - h->got ? in.len : h->want - h->got;

	if (steps[h->step].how == NUMBER)
		for (size_t i = 0; i < n; i++)
			h->number = h->number << 8 | in.ptr[i];
	else if (steps[h->step].how == KEEP && n > 0)
		memcpy(h->raw + h->got, in.ptr, n); /* KEEP steps want 255 at most */
	h->got += (uint32_t)n;
	h->body_left -= (uint32_t)n;
	if (h->step > STEP_EXTENSION)
		h->extension_left -= (uint32_t)n;
	return n;
}

/* Feeds bytes of one record's body; returns how many belong to the message. */
static size_t feed_message(struct client_hello *h, struct span in)
{
	size_t used = 0;

	while (h->state == FEED_MORE && (used < in.len || h->got == h->want)) {
		used += take(h, (struct span){in.ptr + used, in.len - used});
		if (h->got == h->want)
			steps[h->step].on(h);
	}
	return used;
}

static void on_record(struct client_hello *h)
{
	const uint8_t *r = h->record;
	unsigned int size = (unsigned int)r[3] << 8 | r[4];

	if (r[1] != 3)
		bad(h, "the bytes are not TLS: a record has an unknown version");
	else if (size == 0 || size > RECORD_MAX)
		bad(h, "a TLS record has an impossible length");
	else if (h->wire + size > CLIENT_HELLO_MAX)
		bad(h, "the ClientHello is larger than 64 KiB");
	h->record_left = (uint16_t)size;
}

static void on_record_byte(struct client_hello *h, uint8_t byte)
{
	h->wire++;
	h->record[h->record_have++] = byte;
	if (h->record_have == 1 && byte != RECORD_HANDSHAKE)
		bad(h, byte & 0x80 && h->wire == 1 ? "the hello has the form of SSL 2"
						   : "the bytes are not a TLS handshake");
	else if (h->record_have == sizeof(h->record))
		on_record(h);
}

enum feed client_hello_feed(struct client_hello *h, struct span in, size_t *ret_used)
{
	size_t used = 0;

	while (h->state == FEED_MORE && used < in.len) {
		if (h->record_left == 0) {
			on_record_byte(h, in.ptr[used++]);
			continue;
		}
		size_t left = in.len - used;
		size_t n = left < h->record_left ? left : h->record_left;

		n = feed_message(h, (struct span){in.ptr + used, n});
		used += n;
		h->wire += (uint32_t)n;
		h->record_left = (uint16_t)(h->record_left - n);
		if (h->record_left == 0)
			h->record_have = 0;
		else if (h->state == FEED_DONE)
			bad(h, "other bytes follow the ClientHello in its record");
	}
	if (ret_used)
		*ret_used = used;
	return h->state;
}
