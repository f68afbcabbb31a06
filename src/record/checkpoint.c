/* SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint.h"

#include "encode.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <sys/random.h>

enum { CHECKPOINT_ED25519 = 1 }; /* the kind of key, as signed-note numbers them */

#define CHECKPOINT_DASH "\xe2\x80\x94"
#define CHECKPOINT_PRIVATE "PRIVATE+KEY+"

/* --- reading -------------------------------------------------------------------------- */

bool checkpoint_is_name(struct span name)
{
	for (size_t i = 0; i < name.len; i++)
		if (name.ptr[i] <= ' ' || name.ptr[i] >= 0x7f || name.ptr[i] == '+')
			return false;
	return name.len > 0 && name.len <= CHECKPOINT_NAME_MAX;
}

/* A line without its newline; false when there is none. */
static bool checkpoint_line(struct reader *r, struct span *ret)
{
	const uint8_t *end = reader_left(r) ? memchr(r->at, '\n', reader_left(r)) : NULL;

	if (!end)
		return false;
	*ret = reader_take(r, (size_t)(end - r->at));
	r->at++;
	return true;
}

static bool checkpoint_number(struct span text, uint64_t *ret)
{
	uint64_t value = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9' || value > INT64_MAX / 10 - 1)
			return false;
		value = value * 10 + (uint64_t)(text.ptr[i] - '0');
	}
	*ret = value;
	return text.len > 0 && (text.ptr[0] != '0' || text.len == 1);
}

/* Exactly size bytes, with padding. */
static bool checkpoint_base64(struct span text, uint8_t *into, size_t size)
{
	return text.len == ENCODE_BASE64_LEN(size) &&
	       decode_base64(text, into, size) == (ssize_t)size;
}

/* Whether a signature of this name counts for the log: the name is the origin or a prefix of its
 * path. */
static bool checkpoint_speaks_for(struct span name, struct span origin)
{
	return name.len <= origin.len && memcmp(name.ptr, origin.ptr, name.len) == 0 &&
	       (name.len == origin.len || origin.ptr[name.len] == '/');
}

static const char *checkpoint_signature(struct span line, struct checkpoint *c)
{
	static const struct span dash = SPAN_LITERAL(CHECKPOINT_DASH " ");
	uint8_t bytes[CHECKPOINT_ID_SIZE + CHECKPOINT_SIGNATURE_SIZE];

	if (line.len < dash.len || memcmp(line.ptr, dash.ptr, dash.len) != 0)
		return "a line that is no signature";
	line = span_skip(line, dash.len);
	const uint8_t *space = line.len ? memchr(line.ptr, ' ', line.len) : NULL;

	if (!space)
		return "a signature without a name";
	struct span name = {line.ptr, (size_t)(space - line.ptr)};
	struct span text = span_skip(line, name.len + 1);

	if (!checkpoint_is_name(name))
		return "a signature with a name that is none";
	/* Skip the signatures of others, for example witnesses. */
	if (!checkpoint_speaks_for(name, c->origin))
		return NULL;
	if (c->is_signed)
		return "two signatures of one name";
	if (!checkpoint_base64(text, bytes, sizeof(bytes)))
		return "a signature that is not Ed25519's";
	c->is_signed = true;
	c->signer = name;
	memcpy(c->id, bytes, sizeof(c->id));
	memcpy(c->signature, bytes + sizeof(c->id), sizeof(c->signature));
	return NULL;
}

const char *checkpoint_parse(struct span note, struct checkpoint *ret)
{
	struct reader r = reader_of(note);
	struct span line = {NULL, 0};
	const char *why = NULL;

	memset(ret, 0, sizeof(*ret));
	if (note.len > CHECKPOINT_MAX)
		return "it is too long";
	if (!checkpoint_line(&r, &ret->origin) || !checkpoint_is_name(ret->origin))
		return "it does not begin with the name of a log";
	if (!checkpoint_line(&r, &line) || !checkpoint_number(line, &ret->size))
		return "its second line is no number";
	if (!checkpoint_line(&r, &line) || !checkpoint_base64(line, ret->root.bytes, HASH_SIZE))
		return "its third line is no hash";
	ret->text = (struct span){note.ptr, (size_t)(r.at - note.ptr)};
	if (!checkpoint_line(&r, &line) || line.len > 0)
		return "no empty line follows the hash";
	for (int i = 0; !why && reader_left(&r) > 0; i++) {
		if (i == CHECKPOINT_LINES_MAX)
			return "it has too many signatures";
		if (!checkpoint_line(&r, &line))
			return "its last line has no end";
		why = checkpoint_signature(line, ret);
	}
	return !why && !ret->is_signed ? "it is not signed by its log" : why;
}

/* --- the key -------------------------------------------------------------------------- */

void checkpoint_key_fini(struct checkpoint_key *k)
{
	explicit_bzero(k, sizeof(*k));
}

/* The public half and the id, from name and seed. */
static int checkpoint_key_fill(struct checkpoint_key *k)
{
	static const uint8_t kind[] = {'\n', CHECKPOINT_ED25519};
	size_t size = sizeof(k->public);
	EVP_PKEY *key =
		EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, k->seed, sizeof(k->seed));
	bool good = key && EVP_PKEY_get_raw_public_key(key, k->public, &size) == 1 &&
		    size == sizeof(k->public);
	_cleanup_buf_ struct buf named = BUF_INIT(512);
	struct hash h;

	EVP_PKEY_free(key);
	buf_put_str(&named, k->name);
	buf_put(&named, kind, sizeof(kind));
	buf_put(&named, k->public, sizeof(k->public));
	if (!good || buf_error(&named))
		return -EIO;
	hash_of(buf_span(&named), &h);
	memcpy(k->id, h.bytes, sizeof(k->id));
	return 0;
}

int checkpoint_key_make(const char *name, struct checkpoint_key *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!checkpoint_is_name(span_of_str(name)))
		return -EINVAL;
	(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	if (getrandom(ret->seed, sizeof(ret->seed), 0) != sizeof(ret->seed))
		return -EIO;
	return checkpoint_key_fill(ret);
}

/* Appends ID+base64(kind, key), after a name. */
static void checkpoint_key_put(struct buf *into, const struct checkpoint_key *k, const uint8_t *key)
{
	uint8_t typed[1 + CHECKPOINT_KEY_SIZE] = {CHECKPOINT_ED25519};

	memcpy(typed + 1, key, CHECKPOINT_KEY_SIZE);
	buf_put_str(into, k->name);
	buf_put_char(into, '+');
	encode_hex(into, (struct span){k->id, sizeof(k->id)});
	buf_put_char(into, '+');
	encode_base64(into, (struct span){typed, sizeof(typed)});
	explicit_bzero(typed, sizeof(typed));
}

void checkpoint_key_format(struct buf *into, const struct checkpoint_key *k)
{
	buf_put_str(into, CHECKPOINT_PRIVATE);
	checkpoint_key_put(into, k, k->seed);
	buf_put_char(into, '\n');
}

void checkpoint_key_public(struct buf *into, const struct checkpoint_key *k)
{
	checkpoint_key_put(into, k, k->public);
}

int checkpoint_key_parse(struct span line, struct checkpoint_key *ret)
{
	static const struct span lead = SPAN_LITERAL(CHECKPOINT_PRIVATE);
	uint8_t typed[1 + CHECKPOINT_KEY_SIZE];
	_cleanup_buf_ struct buf again = BUF_INIT(1024);

	memset(ret, 0, sizeof(*ret));
	if (line.len <= lead.len || memcmp(line.ptr, lead.ptr, lead.len) != 0)
		return -EBADMSG;
	struct span rest = span_skip(line, lead.len);
	const uint8_t *plus = memchr(rest.ptr, '+', rest.len);
	size_t name = plus ? (size_t)(plus - rest.ptr) : 0;
	/* +ID+, the key and a newline. */
	size_t tail = 2 + 2 * (size_t)CHECKPOINT_ID_SIZE + ENCODE_BASE64_LEN(sizeof(typed)) + 1;

	if (!checkpoint_is_name((struct span){rest.ptr, name}) || rest.len != name + tail)
		return -EBADMSG;
	struct span text = span_skip(rest, name + 2 + 2 * (size_t)CHECKPOINT_ID_SIZE);

	text.len--;
	if (!checkpoint_base64(text, typed, sizeof(typed)) || typed[0] != CHECKPOINT_ED25519)
		return -EBADMSG;
	memcpy(ret->name, rest.ptr, name);
	memcpy(ret->seed, typed + 1, sizeof(ret->seed));
	explicit_bzero(typed, sizeof(typed));
	int r = checkpoint_key_fill(ret);

	/* Accept one spelling only, and the right id. */
	if (r == 0)
		checkpoint_key_format(&again, ret);
	if (r == 0 && (buf_error(&again) || !span_equal(buf_span(&again), line)))
		r = -EBADMSG;
	if (again.ptr)
		explicit_bzero(again.ptr, again.cap);
	return r;
}

/* --- signing -------------------------------------------------------------------------- */

void checkpoint_put_text(struct buf *into, struct span origin, uint64_t size,
			 const struct hash *root)
{
	buf_put(into, origin.ptr, origin.len);
	buf_putf(into, "\n%llu\n", (unsigned long long)size);
	encode_base64(into, (struct span){root->bytes, HASH_SIZE});
	buf_put_char(into, '\n');
}

static int checkpoint_make_signature(const struct checkpoint_key *k, struct span text,
				     uint8_t ret[CHECKPOINT_SIGNATURE_SIZE])
{
	size_t size = CHECKPOINT_SIGNATURE_SIZE;
	EVP_PKEY *key =
		EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, k->seed, sizeof(k->seed));
	EVP_MD_CTX *context = key ? EVP_MD_CTX_new() : NULL;
	bool good = context && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
		    EVP_DigestSign(context, ret, &size, text.ptr, text.len) == 1 &&
		    size == CHECKPOINT_SIGNATURE_SIZE;

	EVP_MD_CTX_free(context);
	EVP_PKEY_free(key);
	return good ? 0 : -EIO;
}

int checkpoint_sign(struct buf *into, const struct checkpoint_key *k, struct span origin,
		    uint64_t size, const struct hash *root)
{
	uint8_t bytes[CHECKPOINT_ID_SIZE + CHECKPOINT_SIGNATURE_SIZE];
	_cleanup_buf_ struct buf text = BUF_INIT(CHECKPOINT_MAX);

	if (!checkpoint_is_name(origin))
		return -EINVAL;
	checkpoint_put_text(&text, origin, size, root);
	if (buf_error(&text))
		return buf_error(&text);
	memcpy(bytes, k->id, sizeof(k->id));
	int r = checkpoint_make_signature(k, buf_span(&text), bytes + sizeof(k->id));

	if (r < 0)
		return r;
	buf_put(into, text.ptr, text.len);
	buf_putf(into, "\n" CHECKPOINT_DASH " %s ", k->name);
	encode_base64(into, (struct span){bytes, sizeof(bytes)});
	buf_put_char(into, '\n');
	return buf_error(into);
}

bool checkpoint_is_by(const struct checkpoint *c, const struct checkpoint_key *k)
{
	if (!c->is_signed || memcmp(c->id, k->id, sizeof(k->id)) != 0 ||
	    !span_equal(c->signer, span_of_str(k->name)))
		return false;
	EVP_PKEY *key =
		EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, k->public, sizeof(k->public));
	EVP_MD_CTX *context = key ? EVP_MD_CTX_new() : NULL;
	bool good = context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
		    EVP_DigestVerify(context, c->signature, sizeof(c->signature), c->text.ptr,
				     c->text.len) == 1;

	EVP_MD_CTX_free(context);
	EVP_PKEY_free(key);
	return good;
}
